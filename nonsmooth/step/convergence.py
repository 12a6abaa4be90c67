"""When the passes of a step end: once they change its motion by no more than round-off, or no longer reduce the change;
and secants through the last two passes, in the mass metric, that make slow ones converge."""

import math

from nonsmooth.compile.kernels import kernel
from nonsmooth.step.deformation import further_passes
from nonsmooth.step.mechanism import squared_length
from nonsmooth.step.motion import energy_product
from nonsmooth.step.tolerances import TINY

#: least and largest share of the way to the zero of the secant
LEAST, MOST = -10.0, 0.97
#: change of u, as a share of its size, that shows more than round-off
SEEN = 1e-12


@kernel
def begin_passes(system):
    c = system.convergence
    c.change = c.before = c.least = math.inf
    c.stalled = c.stuck = c.along_secants = c.led = 0
    c.further = further_passes(system)


@kernel
def note_change(system, change):
    """Note by how much a pass has changed the motion, and count those without gain."""
    c = system.convergence
    c.before, c.change = c.change, change
    c.stalled += 1 if change >= c.before else 0
    c.stuck = 0 if change < 0.5 * c.least else c.stuck + 1
    c.least = min(c.least, change)


# ---- secants


@kernel
def secant_terms(secant, off, mass):
    """Numerator and denominator of the secant's share, from the last two iterations."""
    other = off - secant.off
    return energy_product(off, other, mass), squared_length(other, mass)


@kernel
def secant_share(above, below):
    return min(max(above / max(below, TINY), LEAST), MOST)


@kernel
def extrapolated(secant, answer, off, share):
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
        change += squared_length(off, body.mass)
        up, down = secant_terms(body.u_found, off, body.mass)
        above, below = above + up, below + down
    return math.sqrt(change), secant_share(above, below)


@kernel
def secant_of_step(system, k, share):
    """The share for pass k of a step, from that of its last two passes. With J the derivative of a pass, u - u* is J's
    image from the second pass on: the initial guess is off in other directions too, so that the second pass takes the
    share of the step before."""
    if k == 1:
        return system.secant if system.secant != 0.0 else share
    above, below = 0.0, 0.0
    for body in system.bodies:
        change = (body.v_next - body.u) - body.u_found.off
        above += energy_product(body.v_next - body.u_found.answer, change, body.mass)
        below += squared_length(change, body.mass)
    if below > (SEEN * system.size) ** 2:
        system.secant = secant_share(above, below)
    return share


@kernel
def extrapolate_u(system, share):
    """u becomes v_next or, with a share, the zero of the secant through the last two iterations."""
    for body in system.bodies:
        body.u = extrapolated(body.u_found, body.v_next, body.v_next - body.u, share)
