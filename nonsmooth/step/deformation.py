"""Steps that are implicit in the forces of deformation of flexible bodies, -K eta - D eta' of the amplitudes eta of
modes of mass one: they are stiff, and an iteration with forces at q moved by u for h would not converge. With the
linear part taken along,

    M (u - v) = h f(u) + ..   becomes   (M + h D + h^2 K) (u - v) = h (f(u) + (h K + D) (u - v)) + ..

whose right-hand side changes with u only by what is not stiff. Both have the same solution. K and D are diagonal, and
zero for rigid bodies.
"""

from nonsmooth.compile.kernels import is_flexible, kernel
from nonsmooth.compile.records.values import weighed


@kernel
def begin_implicit(system, h):
    """Take the inverse masses of a step whose forces act at its point h."""
    if is_flexible(system):
        for body in system.bodies:
            body.implicit = body.inverse_mass / (1.0 + h * (body.damping + h * body.stiffness))


@kernel
def end_implicit(system):
    """Take the inverse masses of velocity changes at an instant."""
    if is_flexible(system):
        for body in system.bodies:
            body.implicit = body.inverse_mass


@kernel
def further_passes(system):
    """Passes after one that changes velocities by their round-off only: those of single modes may be smaller."""
    return 1 if is_flexible(system) else 0


@kernel
def implicit_force(body, h):
    """Force that the right-hand side has, with what is taken along of it."""
    if is_flexible(body):
        return body.force + weighed(body.u - body.v, h * body.stiffness + body.damping)
    return body.force


@kernel
def growth(body, h):
    """Derivative of the displacement 2 h u with respect to the size 2 h of the step; that of a mode, whose stiffness
    counts with h^2, does not grow as that of a body."""
    if is_flexible(body):
        change = body.u - body.v - weighed(body.u, h * h * body.stiffness)
        return body.u + weighed(weighed(change, body.mass), body.implicit)
    return 2.0 * body.u - body.v
