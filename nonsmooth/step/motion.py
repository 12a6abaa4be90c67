"""Placements of bodies and effects of impulses on them, in the plane and in space."""

from nonsmooth.compile.kernels import code_of_body, is_flexible, is_planar, kernel, sine_cosine
from nonsmooth.compile.records.values import (
    angular,
    cross,
    dot,
    linear,
    rigid_motion,
    stacked,
    vector,
    weighed,
    zeros_like,
)
from nonsmooth.step.tolerances import TURN


@kernel
def see(system, t):
    """Evaluate elements at time t from now on; at the end of a step that ends at a corner, in their left limit."""
    system.now, system.seen = t, min(t, system.bound)


# ---- placements


@kernel
def turned(p, w):
    """Twice the rate of a quaternion, of an angular velocity in the frame of the body."""
    return vector(
        -(p[1] * w[0]) - p[2] * w[1] - p[3] * w[2],
        p[0] * w[0] - p[3] * w[1] + p[2] * w[2],
        p[3] * w[0] + p[0] * w[1] - p[1] * w[2],
        -(p[2] * w[0]) + p[1] * w[1] + p[0] * w[2],
    )


@kernel
def placed(q):
    """The placement at a position: in space its columns are those of a quaternion that is divided by its norm."""
    if is_planar(q):
        sine, cosine = sine_cosine(q[2])
        return vector(q[0], q[1], cosine, sine)
    p = angular(q)
    p = (1.0 / dot(p, p)) ** 0.5 * p
    w, x, y, z = p[0], p[1], p[2], p[3]
    return stacked(
        linear(q),
        vector(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y), 0.0),
        vector(2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x), 0.0),
        vector(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y), 0.0),
    )


move_flexibly, rate_flexibly = code_of_body("mover"), code_of_body("rater")


@kernel
def rates_of_position(body, q, v):
    """Derivative of the position of a body: in space of its quaternion as well."""
    if is_flexible(body):
        if body.rater != 0:
            body.begun, body.going = q, v
            rate_flexibly(body)
            return body.moved
    return v if is_planar(q) else rigid_motion(v, linear(v), 0.5 * turned(angular(q), angular(v)))


@kernel
def moved(body, q, v, dt):
    """A position of a body moved by v for dt, in space turned by Cayley's map."""
    if is_flexible(body):
        if body.mover != 0:
            body.begun, body.going, body.lasting = q, v, dt
            move_flexibly(body)
            return body.moved
    if is_planar(q):
        return q + dt * v
    p, w = angular(q), angular(v)
    quarter = 0.25 * dt
    turn = quarter * quarter * dot(w, w)
    # a change, whose round-off is as small as itself
    change = (2.0 / (1.0 + turn)) * (quarter * turned(p, w) - turn * p)
    return rigid_motion(q + dt * v, linear(q) + dt * linear(v), p + change)


@kernel
def spin(v):
    """Magnitude of the angular velocity."""
    if is_planar(v):
        return abs(v[2])
    w = angular(v)
    return dot(w, w) ** 0.5


@kernel
def plausible(system, dt):
    """Whether no body turns by more than `TURN` against its motion before within dt: in long steps the iteration may
    converge to positions in which joints are assembled in another way."""
    for body in system.bodies:
        if not spin(body.u - body.v) * dt <= TURN:
            return False
    return True


# ---- masses and forces


@kernel
def inverse_mass(body):
    """Inverse mass of a body; of a flexible one that of its present step, see `deformation`."""
    return body.implicit if is_flexible(body) else body.inverse_mass


@kernel
def gyration(v, mass):
    """Gyroscopic torque -omega x (J omega), as a force of the body."""
    if is_planar(v):
        return zeros_like(v)
    omega = angular(v)
    return rigid_motion(zeros_like(v), zeros_like(omega), -cross(omega, angular(weighed(v, mass))))


@kernel
def force_of(push):
    """Force or impulse of a force of a body."""
    return vector(push[0], push[1], 0.0, 0.0) if is_planar(push) else linear(push)


@kernel
def torque_of(push, z, point):
    """Torque of a force of a body about a point of the body at placement z, in the ground frame."""
    if is_planar(push):
        x, y = z[2] * point[0] - z[3] * point[1], z[3] * point[0] + z[2] * point[1]
        return vector(push[2] - (x * push[1] - y * push[0]), 0.0, 0.0, 0.0)
    m, lever = angular(push), point[0] * z[1] + point[1] * z[2] + point[2] * z[3]
    return m[0] * z[1] + m[1] * z[2] + m[2] * z[3] - cross(lever, linear(push))


@kernel
def moment_of(wrench):
    """Torque of a wrench."""
    return vector(wrench[2], 0.0, 0.0, 0.0) if is_planar(wrench) else angular(wrench)


@kernel
def energy_product(x, y, mass):
    """x' M y"""
    return dot(weighed(x, mass), y)


@kernel
def squares(x, mass):
    """Terms of x' M x, one for each coordinate."""
    return x * weighed(x, mass)
