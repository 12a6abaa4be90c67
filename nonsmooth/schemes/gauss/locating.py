"""The size of an event-locating step: the largest one for which no open gap closes before its end."""

import math

from nonsmooth.compile.kernels import kernel, solved_outside
from nonsmooth.schemes.gauss.first_half import apply_forces, evaluate_solution, solve_first_half
from nonsmooth.schemes.gauss.tolerances import DIPPED, LANDED, TRIALS
from nonsmooth.step.closing import bracketed, first_below
from nonsmooth.step.deformation import growth
from nonsmooth.step.mechanism import place_at_end, touches
from nonsmooth.step.tolerances import AT_THE_END


@kernel
def end_rate(contact, dt):
    """Derivative of a gap with respect to the step size; directions are those of the end."""
    a, b = contact.a, contact.b
    return (a.directions @ growth(a.body, 0.5 * dt) + b.directions @ growth(b.body, 0.5 * dt))[0]


@kernel
def first_closing(system, dt):
    """Time within dt at which the first gap closes, by cubic interpolation, and its index; infinite if none does."""
    soonest, found = math.inf, 0
    for k in range(len(system.contacts)):
        contact = system.contacts[k]
        if not contact.closed:
            end = end_rate(contact, dt)
            at = first_below(contact.start_g, contact.start_rate, contact.g, end, dt, DIPPED * contact.scale)
            if at < soonest:
                soonest, found = at, k
    return soonest, found


@kernel
def locate_closing(system, contact, at, beyond):
    """The step size at whose end a gap closes: Newton's method, bracketed."""
    low, high, dt, last = 0.0, beyond, at, beyond
    for _ in range(TRIALS):
        for body in system.bodies:  # nearly linear in it
            body.u = body.v + (dt / last) * (body.u - body.v)
        last = dt
        if not solve_first_half(system, dt):
            return math.inf
        low, high, step = bracketed(low, high, dt, contact.g, end_rate(contact, dt))
        if abs(contact.g) <= LANDED * contact.scale or step == low or step == high:
            break
        dt = step
    return dt


land_outside = solved_outside("land")


@kernel
def lands(system, longest):
    """Whether a program whose unknowns include the step size, `trial`, found the largest one up to `longest`.

    Its solution may be shorter than necessary, or beyond a gap that closes and opens again. It begins with the time at
    which the first gap closes in the motion without further impulses.
    """
    apply_forces(system, longest)
    for body in system.bodies:
        body.u = body.v_next
    place_at_end(system, longest)
    at, _ = first_closing(system, longest)
    system.dt, system.trial = longest, min(at, longest)
    for body in system.bodies:
        body.u = body.v
    if not (land_outside(system) == 1 and evaluate_solution(system, system.trial)):
        return False
    dt = system.trial
    ended = dt == longest
    for contact in system.contacts:
        ended = ended or (touches(contact) and not contact.closed)
    at, _ = first_closing(system, dt)
    return ended and not at < dt * AT_THE_END


@kernel
def locate_first_closing(system, longest):
    """The largest step size for which no open gap closes before the end; infinite if there is none."""
    if system.land != 0 and lands(system, longest):
        return system.trial
    dt = longest
    if not solve_first_half(system, dt):
        return math.inf
    for _ in range(TRIALS):
        at, k = first_closing(system, dt)
        if not at < dt * AT_THE_END:
            return dt
        dt = locate_closing(system, system.contacts[k], at, dt)
        if not dt < math.inf:
            return dt
    return math.inf
