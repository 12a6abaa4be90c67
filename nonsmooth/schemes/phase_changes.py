"""From one phase to the next: impacts, rebounds that end in rest, and the modes of closed contacts.

Both are programs in the directions at the present positions, with x a velocity or an acceleration and z impulses or
forces:

    M (x+ - x) = W z,   W_g' x+ + c_g = 0,   0 <= W_N' x+ + c_N  ⟂  z_N >= 0,   Coulomb's law of z_T and W_T' x+ + c_T

In an impact c_N is Newton's rebound; in accelerations c is what positions and velocities alone add to the rates. A slip
that has a direction is given a rate along it that is larger than any other one, so that it keeps this direction. A
rebound that is too short is suppressed: the impact is repeated without it.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import dot, largest, normal_axis, trace, weighed, zeros_like
from nonsmooth.schemes.joint_forces import reaction_of
from nonsmooth.schemes.mechanism import (
    evaluate_all,
    joint_residual,
    norm,
    rates_after,
    rates_of_u,
    squared_length,
    tangential,
)
from nonsmooth.schemes.phase_instants import note, place_at
from nonsmooth.schemes.phase_losses import admissible, may_share
from nonsmooth.schemes.phase_motion import (
    GAPS,
    VELOCITIES,
    accelerate,
    count_closed,
    evaluate_free,
    factor_phase,
    project,
)
from nonsmooth.schemes.program import factor_joints
from nonsmooth.schemes.velocity_change import change_residual, change_velocity, law_of_rates
from nonsmooth.tolerances import CLOSED, CLOSED_RATE, FLOOR, OPEN, SLIPPING, STICKING, TINY
from nonsmooth.tolerances.event_driven import APART, LANDED, LOWEST, OUTSIDE, STILL, TRIALS, ZERO

#: ratio by which other rows may reduce the mobility of a row, until rows count as dependent. Of rows of norm 1 this is
#: the inverse square of the distance of one from the span of the others, 1e-6. The Python formulation, which decomposes
#: the rows themselves, distinguishes 1e-9; in the Delassus operator its square would be lost in round-off.
DEPENDENT = 1e12


# ---- programs


@piece
def solve_response(run):
    """x+ from x, both in `v_next`; whether the program is solved and certified."""
    system, before, after, worst = run.system, 0.0, 0.0, 0.0
    for body in system.bodies:
        before += squared_length(body.v_next, body.mass)
    if not change_velocity(system):
        return False
    for body in system.bodies:
        after += squared_length(body.v_next, body.mass)
    system.size = math.sqrt(before) + math.sqrt(after)
    for joint in system.joints:
        worst = max(worst, joint_residual(system, joint, -joint.rate))
    worst = max(worst, max(change_residual(system), law_of_rates(system)))
    return worst <= system.certified


@kernel
def terms_of(bond, a, b):
    """Sums of the magnitudes of terms of a rate, of what its bodies move by."""
    return abs(bond.a.along) @ a + abs(bond.b.along) @ b


@kernel
def zero_rate(run, contact, terms):
    return CLOSED_RATE * (terms + contact.scale / run.system.longest)


# ---- an impact


@piece
def solve_impact(run, before):
    """The impact of the contacts that are `struck`, from an instant, by their law; whether there is one solution.

    Leaves the velocity after it in `reached`, impulses in `impact`, `kicks` and `work_impact`.
    """
    system = run.system
    place_at(run, before)
    evaluate_all(system.surfaces)
    evaluate_all(system.constraints)
    factor_joints(system)
    for body in system.bodies:
        body.v_next = body.u
    for touch in run.touches:
        contact = touch.contact
        contact.on, rates = touch.struck, rates_of_u(contact)
        rebound = touch.restitution * min(rates[0], 0.0) if -rates[0] > contact.threshold else 0.0
        slip = contact.tangential if rates[0] < 0.0 else 0.0
        contact.shift = rebound * normal_axis(rates) + slip * tangential(rates)
    if not solve_response(run):
        return False
    run.work_impact = 0.0
    for joint in system.joints:
        run.work_impact -= dot(joint.P, joint.rate)
    for k in range(len(run.kicks)):
        kick = run.kicks[k]
        kick.force, kick.torque = reaction_of(system.reactions[k])
    for body in system.bodies:
        body.reached = body.v_next
    for touch in run.touches:
        contact = touch.contact
        touch.impact = contact.P if touch.struck else zeros_like(contact.P)
        touch.speed = rates_after(contact)[0]
        a, b = contact.a.body, contact.b.body
        terms = terms_of(contact, abs(a.u) + abs(a.reached), abs(b.u) + abs(b.reached))
        touch.leaving = 1 if touch.speed > zero_rate(run, contact, terms[0]) else 0
        stops = touch.speed + contact.shift[0] <= zero_rate(run, contact, terms[0])
        touch.mode = CLOSED if touch.struck and (contact.P[0] > 0.0 or stops) else OPEN
    return is_unique(run)


@kernel
def is_unique(run):
    """Whether the velocity after an impact is, as far as known: without friction, or with independent normals."""
    rough = False
    for touch in run.touches:
        rough = rough or (touch.mode == CLOSED and touch.contact.friction > 0.0)
    count_closed(run)
    if rough:
        factor_phase(run, GAPS)
    return not rough or run.dependence < DEPENDENT


# ---- modes


@piece
def rate_terms(run, contact, size):
    """Terms of an acceleration along the rows of a contact, and a floor under them."""
    a, b = contact.a.body, contact.b.body
    free_a, free_b = weighed(a.force, a.inverse_mass), weighed(b.force, b.inverse_mass)
    return (
        terms_of(contact, abs(free_a) + abs(a.jump), abs(free_b) + abs(b.jump))
        + abs(contact.shift)
        + (FLOOR * (math.sqrt(trace(contact.W)) * size + contact.scale / run.system.longest**2) + TINY)
    )


@kernel
def begin_slip(run, touch):
    """The direction in which a candidate slips already, or must begin to, as given; 0 where it may stick."""
    contact = touch.contact
    touch.along = zeros_like(contact.P)
    if not touch.candidate:
        return
    if contact.friction > 0.0:
        slip, a, b = tangential(rates_of_u(contact)), contact.a.body, contact.b.body
        terms = largest(tangential(terms_of(contact, a.sizes, b.sizes))) + contact.scale / run.system.longest
        least = max(STILL * terms, run.slip_atol + run.slip_rtol * terms)
        if norm(slip) > least:
            touch.along = (1.0 / norm(slip)) * slip
    if touch.known:
        touch.along = touch.sign


@kernel
def fastest_rate(run):
    """Of all rates without forces, to separate slips by more."""
    fastest = 0.0
    for touch in run.touches:
        contact = touch.contact
        fastest = max(fastest, largest(abs(rates_after(contact) + touch.bias)))
    return max(fastest, run.smallest / run.system.longest**2)


@piece
def find_forces(run):
    """Forces on joints and candidates, P, and accelerations with them, `v_next`; whether the program is solved.

    At the present positions and velocities u.
    """
    system, solved = run.system, False
    evaluate_free(run, True)
    run.evaluations += 1
    factor_joints(system)
    for joint in system.joints:
        joint.rate_start, joint.rate = joint.rate, joint.bend
    for body in system.bodies:
        body.v_next = weighed(body.force, body.inverse_mass)
    for touch in run.touches:
        touch.contact.on = touch.candidate
        begin_slip(run, touch)
    apart = (APART if run.slip_atol == 0.0 else APART * APART) * fastest_rate(run)
    for _ in range(TRIALS):
        for touch in run.touches:
            touch.contact.shift = touch.bias + apart * touch.along
        for body in system.bodies:
            body.v_next = weighed(body.force, body.inverse_mass)
        solved = solve_response(run)
        keeps = True
        for touch in run.touches:
            rate = rates_after(touch.contact) + touch.bias
            if touch.candidate and norm(touch.along) > 0.0 and not dot(touch.along, rate) + apart > 0.0:
                keeps = False
        if keeps or not solved:
            break
        apart *= APART
    for joint in system.joints:
        joint.rate = joint.rate_start
    return solved


@piece
def choose_modes(run):
    """Modes by the forces that were found; whether a contact is closed without force."""
    system, most, size, free, idle = run.system, 0.0, 0.0, 0.0, False
    for body in system.bodies:
        body.jump = body.v_next
        size += squared_length(body.jump, body.mass)
        free += squared_length(weighed(body.force, body.inverse_mass), body.mass)
    size = math.sqrt(size) + math.sqrt(free)
    for touch in run.touches:
        if touch.candidate:
            most = max(most, touch.contact.P[0])
    for touch in run.touches:
        contact, touch.mode, touch.idle, touch.direction = touch.contact, OPEN, 0, zeros_like(touch.along)
        if touch.candidate:
            contact.shift = touch.bias
            terms, rates, P = rate_terms(run, contact, size), rates_after(contact) + touch.bias, contact.P
            loaded = P[0] > ZERO * most
            if not loaded and rates[0] <= ZERO * terms[0]:
                touch.idle, idle = 1, True
            if loaded or touch.idle:
                touch.mode = CLOSED
                if contact.friction > 0.0:
                    touch.mode = SLIPPING
                    choose_slip(touch, P, tangential(rates), ZERO * largest(tangential(terms)))
    return idle


@kernel
def choose_slip(touch, P, rate, zero):
    """Whether a contact sticks, or the direction in which it slips."""
    reach = touch.contact.friction * P[0]
    if norm(touch.along) > 0.0:
        touch.direction = touch.along
    elif norm(tangential(P)) <= reach * (1.0 + OUTSIDE) and norm(rate) <= zero:
        touch.mode, touch.share = STICKING, max(reach, TINY)
    else:
        touch.direction = (1.0 / max(norm(rate), TINY)) * rate


@piece
def find_phase(run, before):
    """Modes of the candidates at an instant, with the velocity `reached`, and the motion that begins there, in `after`;
    whether they are found.

    They are not where dependent forces are to be shared otherwise than by least squares, or where closing them makes
    others overlap.
    """
    system = run.system
    place_at(run, before)
    some, run.shared = False, 0
    for body in system.bodies:
        body.sizes = abs(body.u) + abs(body.reached)
        body.u = body.reached
    for touch in run.touches:
        touch.share, some = 0.0, some or touch.candidate == 1
        touch.mode, touch.direction = OPEN, zeros_like(touch.direction)
    if some:
        if not find_forces(run):
            return False
        idle = choose_modes(run)
        if not independent(run):
            if idle or not may_share(run):  # which contacts are idle depends on the solver
                return False
            run.shared = 1
    count_closed(run)
    if not project(run):
        return False
    accelerate(run, True)
    note(run, run.after, True)
    for touch in run.touches:
        if run.closed and touch.contact.g < -touch.closed_gap:
            return False
    return run.dependence < DEPENDENT and (not run.shared or admissible(run))


@piece
def independent(run):
    """Whether the rows of joints and of the phase are."""
    count_closed(run)
    factor_phase(run, VELOCITIES)
    return run.dependence < DEPENDENT


# ---- the phase that follows an event


@kernel
def closing_acceleration(run, k):
    """Acceleration with which a gap closes in the new phase."""
    return -run.after.contacts[k].bend[0]


@kernel
def add_low(run, height):
    """Contacts without restitution that open by the impacts of others, and close again from no height, stay closed;
    whether there are any."""
    some = False
    for k in range(len(run.touches)):
        touch, pull = run.touches[k], closing_acceleration(run, k)
        if touch.touching and touch.leaving and touch.contact.restitution == 0.0 and pull > 0.0:
            if touch.speed * touch.speed < 2.0 * height * pull:
                touch.candidate, some = 1, True
    return some


@kernel
def returns(run):
    """Whether a contact that was released closes in the new phase; then all of these are candidates."""
    some, size = False, run.after.applied + run.after.moving
    for k in range(len(run.touches)):
        touch = run.touches[k]
        if touch.released:
            touch.contact.shift = touch.bias
            zero = ZERO * rate_terms(run, touch.contact, size)[0]
            some = some or closing_acceleration(run, k) > zero
    for touch in run.touches:
        if some and touch.released:
            touch.candidate = 1
    return some


@piece
def change_phase(run, before):
    """The phase after an event without an impact; whether it is found."""
    for k in range(len(run.system.bodies)):
        run.system.bodies[k].reached = before.bodies[k].v
    for k in range(len(run.touches)):
        touch, of = run.touches[k], before.contacts[k]
        closed = touch.mode != OPEN or of.gap <= touch.closed_gap
        touch.touching = 1 if closed and not touch.released else 0
        touch.speed = of.rates[0]
        touch.leaving = 1 if touch.speed > zero_rate(run, touch.contact, of.terms[0]) else 0
        touch.candidate = touch.touching * (1 - touch.leaving)
    if not find_phase(run, before):
        return False
    if add_low(run, LANDED) and not find_phase(run, before):
        return False
    return find_phase(run, before) if returns(run) else True


@kernel
def end_short_rebounds(run):
    """Rebounds below the shortest flight, or below round-off, lose their restitution; whether there are any."""
    some = False
    for k in range(len(run.touches)):
        touch, pull = run.touches[k], closing_acceleration(run, k)
        rebounds = touch.struck and touch.leaving and touch.restitution > 0.0 and touch.mode == OPEN
        speed = touch.speed
        if rebounds and pull > 0.0 and (2.0 * speed < run.shortest * pull or speed * speed < 2.0 * LOWEST * pull):
            touch.restitution, some = 0.0, True
    return some


@piece
def change_by_impact(run, before):
    """The impact of striking contacts, and the phase after it; whether both are found."""
    for k in range(len(run.touches)):
        touch, of = run.touches[k], before.contacts[k]
        touch.before, touch.known = touch.mode, 0
        near = touch.mode != OPEN or of.gap <= touch.closed_gap
        approaches = of.rates[0] < -zero_rate(run, touch.contact, of.terms[0])
        soon = of.gap < -run.window * of.rates[0] and approaches
        touch.struck = 1 if near or soon or touch.striking else 0
        touch.restitution = touch.contact.restitution
    for _ in range(len(run.touches) + 1):
        if not solve_impact(run, before):
            return False
        for k in range(len(run.touches)):
            touch = run.touches[k]
            near = touch.before != OPEN or before.contacts[k].gap <= touch.closed_gap
            stops = touch.struck == 1 and touch.impact[0] > 0.0 and not touch.leaving
            touch.touching = 1 if near or stops else 0
            touch.candidate = touch.touching * (1 - touch.leaving)
        if not find_phase(run, before):
            return False
        if not end_short_rebounds(run):
            break
    run.impact = 1
    return find_phase(run, before) if add_low(run, LANDED) else True
