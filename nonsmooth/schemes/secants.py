"""Secant acceleration of a fixed-point iteration, from its last two iterations, in the mass metric."""

import math

from nonsmooth.compile.kernels import kernel
from nonsmooth.schemes.mechanism import length
from nonsmooth.schemes.motion import energy_product
from nonsmooth.tolerances import TINY

#: least and largest share of the way to the zero of the secant
LEAST, MOST = -10.0, 0.97


@kernel
def bend(secant, off, mass):
    """Numerator and denominator of the secant's share, from the last two iterations."""
    other = off - secant.off
    return energy_product(off, other, mass), length(other, mass)


@kernel
def share_of(above, below):
    return min(max(above / max(below, TINY), LEAST), MOST)


@kernel
def led_on(secant, answer, off, share):
    """The new iterate or, with a factor, that of the secant."""
    found = answer
    if share != 0.0:  # else the data of the secant, perhaps of a failed step, are not used
        found = answer - share * (answer - secant.answer)
    secant.answer, secant.off = answer, off
    return found


# ---- of the iteration u -> v_next


@kernel
def change_of_u(system):
    """Distance of v_next from u, and the share of the secant."""
    change, above, below = 0.0, 0.0, 0.0
    for body in system.bodies:
        off = body.v_next - body.u
        change += length(off, body.mass)
        up, down = bend(body.u_found, off, body.mass)
        above, below = above + up, below + down
    return math.sqrt(change), share_of(above, below)


@kernel
def go_on(system, share):
    """u becomes v_next or, with a share, the zero of the secant through the last two iterations."""
    for body in system.bodies:
        body.u = led_on(body.u_found, body.v_next, body.v_next - body.u, share)
