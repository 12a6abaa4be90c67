"""Newton's method for steps in which the directions of loaded contacts turn with the motion: geometric stiffness.

A pass of a scheme solves for the motion x with directions W of the motion u before it. In a clearance c they turn by
dt (x - u) / c, and passes diverge where the impulses P that turn with them exceed the inertia, dt P > m c. Newton's
method, for steps that are not certified otherwise, takes the turning along, with the impulses of the pass before:

    M (x - x_0) = W(u) P + (dW/du P_before) (x - u)

This stiffness couples bodies, so that x is found by an iteration on x - u, in which the last term is a difference of
directions along it, and programs are those of the masses alone. Gaps are linear in it: it is accelerated by Anderson's
method, in the mass metric, and ends after as many rounds as directions turn, and a few.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.compile.records.values import largest, zeros_like
from nonsmooth.step.fields import DEPTH
from nonsmooth.step.mechanism import place_at_end, rates_of_jump, squared_length
from nonsmooth.step.motion import energy_product
from nonsmooth.step.tolerances import TINY

#: rounds of a pass at most; what ends them: a share of the change of the motion, and the round-off of velocities
ROUNDS, SETTLED, ROUNDED = 30, 1e-3, 1e-15
#: largest motion along which directions are compared, as a share of the clearance; share of a difference that is not in
#: the span of others below which it is their round-off
NUDGE, DEPENDENT = 1e-5, 1e-8


# ---- directions


@kernel
def add_held(system, share):
    """A share of the impulses `held` of contacts, along directions at hand, to `total` of bodies."""
    for contact in system.contacts:
        P = share * contact.held
        contact.a.body.total += P @ contact.a.directions
        contact.b.body.total += P @ contact.b.directions


@piece
def turn_directions(system):
    """`turning`, by what the impulses `held` change as their directions turn with the motion `trial`."""
    most = 0.0
    for body in system.bodies:
        body.jump, body.total = body.trial, zeros_like(body.u)
    for contact in system.contacts:
        if contact.held[0] > 0.0:
            most = max(most, largest(abs(rates_of_jump(contact))) / contact.scale)
    if most == 0.0:
        return
    nudge = NUDGE / (system.dt * most)
    add_held(system, -1.0)
    for body in system.bodies:
        body.saved_u, body.u = body.u, body.u + nudge * body.trial
    place_at_end(system, system.dt)
    add_held(system, 1.0)
    for body in system.bodies:
        body.turning, body.u = (1.0 / nudge) * body.total, body.saved_u
    place_at_end(system, system.dt)


# ---- rounds


@kernel
def share_of(system, k):
    """The component of `off` along difference k."""
    above, below = 0.0, 0.0
    for body in system.bodies:
        one = body.differences[k]
        above += energy_product(body.off, one.off, body.mass)
        below += squared_length(one.off, body.mass)
    return above / max(below, TINY)


@piece
def keep_difference(system, k):
    """Difference k is that from the round before, orthogonal to the others."""
    for body in system.bodies:
        one, last = body.differences[k], body.u_found
        one.motion, one.off = body.trial - last.answer, zeros_like(body.off)
        body.jump, body.off = body.off, body.off - last.off
    before, after = 0.0, 0.0
    for body in system.bodies:
        before += squared_length(body.off, body.mass)
    for i in range(DEPTH):
        share = share_of(system, i)
        for body in system.bodies:
            one, other = body.differences[k], body.differences[i]
            one.motion, body.off = one.motion - share * other.motion, body.off - share * other.off
    for body in system.bodies:
        after += squared_length(body.off, body.mass)
    for body in system.bodies:
        body.differences[k].off = (1.0 if after > DEPENDENT * DEPENDENT * before else 0.0) * body.off
        body.off = body.jump


@piece
def next_trial(system, k):
    """`trial` of the next round: that without `off` in the span of the differences, and what is left of `off`."""
    if k > 0:
        keep_difference(system, k % DEPTH)
    for body in system.bodies:
        body.u_found.answer, body.u_found.off = body.trial, body.off
        body.trial = body.trial + body.off
    for i in range(DEPTH):
        share = share_of(system, i)
        for body in system.bodies:
            one = body.differences[i]
            body.trial -= share * (one.motion + one.off)


@kernel
def begin_rounds(system):
    """Nothing is known of the change of the motion in a pass."""
    for body in system.bodies:
        body.trial = body.turning = zeros_like(body.u)
        for one in body.differences:
            one.motion = one.off = zeros_like(body.u)


def turning_of(solve):
    """A function (system) that finds `turning` of a pass, whose programs `solve` solves for v_next; whether all are."""

    @piece
    def find_turning(system):
        begin_rounds(system)
        for k in range(ROUNDS):
            if not solve(system):
                return False
            left, size = 0.0, 0.0
            for body in system.bodies:
                found = body.v_next - body.u
                body.off = found - body.trial
                left, size = left + squared_length(body.off, body.mass), size + squared_length(found, body.mass)
            if math.sqrt(left) <= SETTLED * math.sqrt(size) + ROUNDED * system.size:
                return True
            next_trial(system, k)
            turn_directions(system)
        return True

    return find_turning


def attempt_with(attempt):
    """A function (system) that takes the step by `attempt` with turning directions; whether it is certified."""

    @piece
    def attempt_with_turning(system):
        # rest is not a matter of the iteration, and without contacts nothing turns
        if system.rest_undecided or not len(system.contacts):
            return False
        system.turns = 1
        found = attempt(system)
        system.turns = 0
        return found

    return attempt_with_turning
