"""Placements of bodies and effects of impulses on them, in the plane and in space."""

from nonsmooth.compile.kernels import by_dimension, code_of_body, is_flexible, kernel, sine_cosine
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
    """Elements are evaluated at time t; at the end of a step that ends at a corner, in their left limit."""
    system.now, system.seen = t, min(t, system.bound)


@kernel
def moved_in_plane(q, v, dt):
    return q + dt * v


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
def moved_in_space(q, v, dt):
    """Turned by Cayley's map, as q plus a change, whose round-off is as small as the change."""
    p, w = angular(q), angular(v)
    quarter = 0.25 * dt
    turn = quarter * quarter * dot(w, w)
    change = (2.0 / (1.0 + turn)) * (quarter * turned(p, w) - turn * p)
    return rigid_motion(q + dt * v, linear(q) + dt * linear(v), p + change)


@kernel
def placed_in_plane(q):
    sine, cosine = sine_cosine(q[2])
    return vector(q[0], q[1], cosine, sine)


@kernel
def placed_in_space(q):
    """Position and columns of the rotation, of a quaternion that is divided by its norm."""
    p = angular(q)
    p = (1.0 / dot(p, p)) ** 0.5 * p
    w, x, y, z = p[0], p[1], p[2], p[3]
    return stacked(
        linear(q),
        vector(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y), 0.0),
        vector(2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x), 0.0),
        vector(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y), 0.0),
    )


@kernel
def rates_in_plane(q, v):
    return v


@kernel
def rates_in_space(q, v):
    return rigid_motion(v, linear(v), 0.5 * turned(angular(q), angular(v)))


moved_rigidly = by_dimension(moved_in_plane, moved_in_space)  # (q, v, dt)
rates_of_rigid_position = by_dimension(rates_in_plane, rates_in_space)  # (q, v)
placed = by_dimension(placed_in_plane, placed_in_space)  # (q)


displace, rate = code_of_body("mover"), code_of_body("rater")


@kernel
def rates_of_position(body, q, v):
    if is_flexible(body):
        if body.rater == 0:
            return rates_of_rigid_position(q, v)
        body.begun, body.going = q, v
        rate(body)
        return body.moved
    return rates_of_rigid_position(q, v)


@kernel
def moved(body, q, v, dt):
    if is_flexible(body):
        if body.mover == 0:
            return moved_rigidly(q, v, dt)
        body.begun, body.going, body.lasting = q, v, dt
        displace(body)
        return body.moved
    return moved_rigidly(q, v, dt)


#: (body): inverse mass, of a flexible body that of its present step, see `deformation`


@kernel
def inverse_mass(body):
    if is_flexible(body):
        return body.implicit
    return body.inverse_mass


@kernel
def gyration_in_plane(v, mass):
    return zeros_like(v)


@kernel
def gyration_in_space(v, mass):
    """-omega x (J omega)"""
    spin = angular(v)
    return rigid_motion(zeros_like(v), zeros_like(spin), -cross(spin, angular(weighed(v, mass))))


gyration = by_dimension(gyration_in_plane, gyration_in_space)  # (v, mass)


@kernel
def spin_in_plane(v):
    return abs(v[2])


@kernel
def spin_in_space(v):
    w = angular(v)
    return dot(w, w) ** 0.5


spin = by_dimension(spin_in_plane, spin_in_space)  # (v): how fast it turns


@kernel
def plausible(system, dt):
    """Whether no body turns by more than `TURN` against its motion before within dt.

    In long steps the iteration may converge to positions in which joints are assembled in another way; shorter trials
    that begin there do not leave them.
    """
    for body in system.bodies:
        if not spin(body.u - body.v) * dt <= TURN:
            return False
    return True


@kernel
def force_in_plane(push):
    return vector(push[0], push[1], 0.0, 0.0)


@kernel
def force_in_space(push):
    return linear(push)


force_of = by_dimension(force_in_plane, force_in_space)  # (push)


@kernel
def torque_in_plane(push, z, point):
    x, y = z[2] * point[0] - z[3] * point[1], z[3] * point[0] + z[2] * point[1]
    return vector(push[2] - (x * push[1] - y * push[0]), 0.0, 0.0, 0.0)


@kernel
def torque_in_space(push, z, point):
    m, lever = angular(push), point[0] * z[1] + point[1] * z[2] + point[2] * z[3]
    return m[0] * z[1] + m[1] * z[2] + m[2] * z[3] - cross(lever, linear(push))


torque_of = by_dimension(torque_in_plane, torque_in_space)  # (push, z, point): about a point of the body, ground frame


@kernel
def moment_in_plane(wrench):
    return vector(wrench[2], 0.0, 0.0, 0.0)


@kernel
def moment_in_space(wrench):
    return angular(wrench)


moment_of = by_dimension(moment_in_plane, moment_in_space)  # (wrench): its torque


@kernel
def energy_product(x, y, mass):
    """x' M y"""
    return dot(weighed(x, mass), y)


@kernel
def squares(x, mass):
    """Terms of x' M x, one for each coordinate."""
    return x * weighed(x, mass)
