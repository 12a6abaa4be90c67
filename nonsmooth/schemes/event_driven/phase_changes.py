"""From one phase to the next: impacts, rebounds that end in rest, and the modes of closed contacts.

Both are programs in the directions at the present positions, with x a velocity or an acceleration and z impulses or
forces:

    M (x+ - x) = W z,   W_g' x+ + c_g = 0,   0 <= W_N' x+ + c_N  ⟂  z_N >= 0,   Coulomb's law of z_T and W_T' x+ + c_T

In an impact c_N is Newton's rebound; in accelerations c is what positions and velocities alone add to the rates. A slip
with a direction is given a rate along it that is larger than any other one, so that it keeps this direction. A rebound
that is too short is suppressed: the impact is repeated without it. Impacts by other laws than Newton's, see
`velocity_change`, and those without a window of simultaneity, one after the other, are several such programs.
"""

import math

from nonsmooth.compile.kernels import kernel, piece, solved_outside
from nonsmooth.compile.records.values import dot, largest, trace, weighed, zeros_like
from nonsmooth.schemes.event_driven import phase_motion
from nonsmooth.schemes.event_driven.fields import RAISED, SQUARES, UNIQUE, VELOCITIES
from nonsmooth.schemes.event_driven.phase_events import margin
from nonsmooth.schemes.event_driven.tolerances import LANDED, LOWEST, PASSES
from nonsmooth.step.impact_fields import INCREMENTAL
from nonsmooth.step.impact_tolerances import DIED, ROUNDS
from nonsmooth.step.joint_forces import reaction_of
from nonsmooth.step.mechanism import (
    apply_impulses,
    evaluate_all,
    joint_residual,
    law_shift,
    norm,
    rates_after,
    rates_of_u,
    round_off,
    squared_length,
    tangential,
    terms_of,
)
from nonsmooth.step.program import factor_joints, solve_joints
from nonsmooth.step.tolerances import CLOSED, FLOOR, OPEN, SLIPPING, STICKING, TINY
from nonsmooth.step.velocity_change import (
    change_residual,
    change_velocity,
    impact,
    law_of_rates,
)

#: share of the sum of its terms below which an acceleration is regarded as zero, and of the largest normal force below
#: which a contact is unloaded
ZERO = 1e-9
#: the same of a contact whose force has just vanished: its normal has the round-off of positions, relative to the
#: clearance. One that does close again, more slowly, does so in the next step.
RETURNING = 1e-7
#: share of the sum of its terms below which a slip at an event vanishes
STILL = 1e-10
#: share of the friction cone's radius by which the force of a sticking contact may be outside
OUTSIDE = 1e-9
#: separation of the accelerations of slipping contacts from those of contacts that may stick, and trials for it, each
#: by this factor larger
APART, TRIALS = 1e3, 3
#: ratio by which other rows may reduce the mobility of a row, until rows count as dependent. Of rows of norm 1 this is
#: the inverse square of the distance of one from the span of the others, 1e-6; in the Delassus operator the square of
#: less would be lost in round-off.
DEPENDENT = 1e12

#: share of the largest normal force by which forces of dependent contacts may be tensile or leave their cones
ADMISSIBLE = 1e-9
#: residual of the laws of contacts whose rows contradict joints by less than a slip that counts
CONTRADICTED = 1e-8

shared_outside = solved_outside("shares")  # (run): `reference` of forces, REFERRED in `shared` if there is one
cleared_outside = solved_outside("clears")  # (run): `at` without overlaps


# ---- programs


@piece
def solve_response(run):
    """x+ from x, both in `v_next`; whether the program is solved and certified."""
    system = run.system
    before = size_after(system)
    if is_answered(run, before) and law_of_rates(system) <= system.certified:
        return True
    solver, system.solver = system.solver, run.answers
    system.ground.v_next = zeros_like(system.ground.v_next)  # which values that are not finite would have changed
    for body in system.bodies:
        body.v_next = body.left
    found = is_answered(run, before)  # and certified as a program, whose laws are scaled as a whole
    system.solver = solver
    if found:
        return True
    close_joints(system)
    if balances(run, True, before) and law_of_rates(system) <= CONTRADICTED:
        return True
    for body in system.bodies:
        body.v_next = body.left
    return is_answered(run, before) and law_of_rates(system) <= CONTRADICTED


@piece
def close_joints(system):
    """Velocities by impulses of contacts found outside, then by joints alone, which contacts may contradict."""
    for body in system.bodies:
        body.v_next = body.left
    for contact in system.contacts:
        if contact.on:
            apply_impulses(contact, contact.P)
    for joint in system.joints:
        joint.P = zeros_like(joint.P)
    for _ in range(2):
        for joint in system.joints:
            joint.b0 = rates_after(joint) + joint.rate
        solve_joints(system)
        for joint in system.joints:
            joint.P += joint.y
            apply_impulses(joint, joint.y)


@kernel
def is_answered(run, before):
    """Whether a change from `v_next`, of the size `before`, is found by the solver of the system, and balances."""
    return balances(run, change_velocity(run.system), before)


@kernel
def balances(run, found, before):
    """Whether a change that was found, from `left` of the size `before` to `v_next`, is certified: momentum, joints."""
    system = run.system
    system.size = before + size_after(system)
    worst = change_residual(system)
    for joint in system.joints:
        worst = max(worst, joint_residual(system, joint, -joint.rate))
    return found and worst <= system.certified


@kernel
def size_after(system):
    """Length of `v_next`."""
    total = 0.0
    for body in system.bodies:
        total += squared_length(body.v_next, body.mass)
    return math.sqrt(total)


# ---- an impact


@piece
def add_kicks(run):
    """Add the impulses of joints to those of the impact."""
    system = run.system
    if system.ridge > 0.0:
        phase_motion.take_least(system)
    for joint in system.joints:
        joint.y = joint.P
    for k in range(len(run.kicks)):
        force, torque = reaction_of(system.reactions[k])
        run.kicks[k].force += force
        run.kicks[k].torque += torque


@piece
def follow_drivers(run):
    """The change of `v_next` by joints alone where velocities of drivers jump; whether it is solved. Drivers do work at
    the mean of their velocities before and after. What contacts approach then, is their impact."""
    system = run.system
    for contact in system.contacts:
        contact.on = 0
    if not is_answered(run, size_after(system)):
        return False
    for joint in system.joints:
        run.work_impact += 0.5 * dot(joint.P, rates_of_u(joint) - joint.rate)
    add_kicks(run)
    for touch in run.touches:
        touch.approach = rates_after(touch.contact)[0]
    return True


@piece
def strike(run):
    """The impact of contacts that are `has_impact`, from `v_next`, added to what was before; whether it is solved."""
    system = run.system
    for touch in run.touches:
        contact = touch.contact
        contact.on, contact.restitution, rates = touch.has_impact, touch.restitution, rates_after(contact)
        contact.velocity_offset = law_shift(contact, rates, rates[0] < 0.0)
    if system.law_of_impact == 0:
        found = solve_response(run)
    else:
        found = strike_by_law(run)
    for touch in run.touches:
        contact = touch.contact
        contact.restitution = touch.law
        if contact.on:
            touch.impact += contact.P if system.law_of_impact == 0 else contact.impact
    for joint in system.joints:
        joint.P = joint.P if system.law_of_impact == 0 else joint.answer
        run.work_impact -= dot(joint.P, joint.rate)
    add_kicks(run)
    return found


@piece
def strike_by_law(run):
    """The impact by another law than Newton's."""
    system = run.system
    system.size = 2.0 * size_after(system)
    for body in system.bodies:
        body.saved_u = body.v_next
    if is_struck(system):
        return True
    solver, system.solver = system.solver, run.answers
    system.ground.v_next = zeros_like(system.ground.v_next)  # which values that are not finite would have changed
    for body in system.bodies:
        body.v_next = body.saved_u
    for touch in run.touches:
        contact = touch.contact
        contact.on, rates = touch.has_impact, rates_after(contact)
        contact.velocity_offset = law_shift(contact, rates, rates[0] < 0.0)
    found = is_struck(system)
    system.solver = solver
    return found


@kernel
def is_struck(system):
    """Whether an impact from `v_next` is found and certified."""
    for body in system.bodies:
        body.left = body.v_next
    return impact(system) and max(system.residual, system.law) <= system.certified


@kernel
def approaches(run, contact):
    """Whether a contact approaches with `v_next`, and whether it opens: 1, -1, or 0."""
    a, b, rate = contact.a.body, contact.b.body, rates_after(contact)[0]
    terms = terms_of(contact, abs(a.u) + abs(a.v_next), abs(b.u) + abs(b.v_next))
    zero = round_off(run.system, contact, terms[0])
    return 1 if rate < -zero else -1 if rate > zero else 0


@piece
def strike_in_sequence(run):
    """Impacts at one instant one after the other, the fastest first; whether they are solved. They continue a sequence
    that can no longer be resolved in time, until no contact approaches or, after it has decayed, a plastic impact of
    all with an impact or an approach. Contacts that neither approach nor open take part in each of them."""
    first = 0.0
    for touch in run.touches:
        touch.met = 1 if touch.before != OPEN else 0
    for k in range(ROUNDS):
        fastest, which = 0.0, -1
        for i in range(len(run.touches)):
            touch = run.touches[i]
            rate = rates_after(touch.contact)[0]
            if touch.touching and -rate > fastest and approaches(run, touch.contact) == 1:
                fastest, which = -rate, i
        decayed = k == ROUNDS - 1 or fastest < DIED * max(first, fastest)
        for i in range(len(run.touches)):
            touch = run.touches[i]
            moves = approaches(run, touch.contact)
            if decayed:
                touch.has_impact = touch.touching if touch.met or moves == 1 else 0
            else:
                touch.has_impact = 1 if i == which or (touch.touching and moves == 0) else 0
            if touch.touching and moves == 1:
                touch.met = 1
        if fastest == 0.0:
            break
        first = max(first, fastest)
        for touch in run.touches:
            touch.kept_restitution = touch.restitution
            touch.restitution = 0.0 if decayed else touch.restitution
        found = strike(run)
        for touch in run.touches:
            touch.restitution = touch.kept_restitution
        if not found:
            return False
        if decayed:
            break
    return True


@piece
def solve_impact(run, before):
    """The impact of contacts that are `hit`, from an instant, with the velocity `reached`; whether it is solved."""
    system = run.system
    phase_motion.place_at(run, before)
    evaluate_all(system.surfaces)
    evaluate_all(system.constraints)
    factor_joints(system)
    for body in system.bodies:
        body.v_next = body.u
    for touch in run.touches:
        touch.has_impact, touch.impact = touch.hit, zeros_like(touch.impact)
    for kick in run.kicks:
        kick.force = kick.torque = zeros_like(kick.force)
    run.work_impact = 0.0
    if run.kinked and not follow_drivers(run):
        return False
    if not (strike(run) if run.window > 0.0 or system.law_of_impact >= INCREMENTAL else strike_in_sequence(run)):
        return False
    for body in system.bodies:
        body.reached = body.v_next
    for touch in run.touches:
        touch.speed = rates_after(touch.contact)[0]
        touch.leaving = 1 if approaches(run, touch.contact) == -1 else 0
    return True


# ---- modes


@piece
def rate_terms(run, contact, size):
    """Terms of an acceleration along the rows of a contact, and a floor under them."""
    a, b = contact.a.body, contact.b.body
    free_a, free_b = weighed(a.force, a.inverse_mass), weighed(b.force, b.inverse_mass)
    return (
        terms_of(contact, abs(free_a) + abs(a.jump), abs(free_b) + abs(b.jump))
        + abs(contact.velocity_offset)
        + (FLOOR * (math.sqrt(trace(contact.W)) * size + contact.scale / run.system.longest**2) + TINY)
    )


@kernel
def begin_slip(run, touch):
    """The direction in which a candidate slips already, or must begin to, as given; 0 where it may stick."""
    contact = touch.contact
    touch.directions = zeros_like(contact.P)
    if not touch.candidate:
        return
    if contact.friction > 0.0:
        slip, a, b = tangential(rates_of_u(contact)), contact.a.body, contact.b.body
        terms = largest(tangential(terms_of(contact, a.v_terms, b.v_terms))) + contact.scale / run.system.longest
        least = max(STILL * terms, run.slip_atol + run.slip_rtol * terms)
        if norm(slip) > least:
            touch.directions = (1.0 / norm(slip)) * slip
    if touch.known:
        touch.directions = touch.sign


@piece
def find_forces(run):
    """Forces P on joints and candidates at the present state, and accelerations `v_next`; whether it is solved."""
    system, solved = run.system, False
    phase_motion.evaluate_free(run, True)
    run.evaluations += 1
    factor_joints(system)
    for joint in system.joints:
        joint.rate_start, joint.rate = joint.rate, joint.bias_acceleration
    for body in system.bodies:
        body.v_next = weighed(body.force, body.inverse_mass)
    for touch in run.touches:
        touch.contact.on = touch.candidate
        begin_slip(run, touch)
    # no contact accelerates faster than by the free motion, through joints by all of it, and by what joints demand
    free, fastest = size_after(system) if len(system.joints) else 0.0, TINY
    for joint in system.joints:
        fastest = max(fastest, largest(abs(joint.rate)))
    for touch in run.touches:
        contact = touch.contact
        fastest = max(fastest, largest(abs(rates_after(contact) + touch.bias)), free * math.sqrt(trace(contact.W)))
    apart, keeps = (APART if run.slip_atol == 0.0 else APART * APART) * fastest, False
    for _ in range(TRIALS):
        for touch in run.touches:
            touch.contact.velocity_offset = touch.bias + apart * touch.directions
        for body in system.bodies:
            body.v_next = weighed(body.force, body.inverse_mass)
        solved = solve_response(run)
        keeps = True
        for touch in run.touches:
            rate = rates_after(touch.contact) + touch.bias
            slips = touch.candidate and norm(touch.directions) > 0.0
            if slips and not dot(touch.directions, rate) + 0.5 * apart > 0.0:
                keeps = False
        if keeps or not solved:
            break
        apart *= APART
    for joint in system.joints:
        joint.rate = joint.rate_start
    return solved and keeps


@piece
def choose_modes(run, with_idle):
    """Modes by the forces found; whether a contact is closed without force: such ones are open unless `with_idle`."""
    system, most, size, free, some = run.system, 0.0, 0.0, 0.0, False
    for body in system.bodies:
        body.jump = body.v_next
        size += squared_length(body.jump, body.mass)
        free += squared_length(weighed(body.force, body.inverse_mass), body.mass)
    size = math.sqrt(size) + math.sqrt(free)
    for touch in run.touches:
        if touch.candidate:
            most = max(most, touch.contact.P[0])
    for touch in run.touches:
        contact, touch.mode, touch.direction = touch.contact, OPEN, zeros_like(touch.directions)
        if not touch.candidate:
            continue
        contact.velocity_offset = touch.bias
        terms, rates, P = rate_terms(run, contact, size), rates_after(contact) + touch.bias, contact.P
        loaded = P[0] > ZERO * most
        idle = not loaded and rates[0] <= ZERO * terms[0]
        some = some or idle
        if not (loaded or (idle and with_idle)):
            continue
        touch.mode = CLOSED
        if contact.friction > 0.0:
            slip, reach = tangential(rates), contact.friction * P[0]
            inside = norm(tangential(P)) <= reach * (1.0 + OUTSIDE)
            touch.mode = SLIPPING
            if norm(touch.directions) > 0.0:
                touch.direction = touch.directions
            elif inside and norm(slip) <= ZERO * largest(tangential(terms)):
                touch.mode, touch.share = STICKING, max(reach, TINY)
            else:
                touch.direction = (1.0 / max(norm(slip), TINY)) * slip
    return some


@piece
def find_phase(run, before):
    """Modes of the candidates with the velocity `reached`, and the motion `after`; whether they are found."""
    system = run.system
    phase_motion.place_at(run, before)
    some, run.shared = False, UNIQUE
    for body in system.bodies:
        body.v_terms = abs(body.u) + abs(body.reached)
        body.u = body.reached
    for joint in system.joints:
        joint.lam = zeros_like(joint.lam)
    for touch in run.touches:
        touch.share, some = 0.0, some or touch.candidate == 1
        touch.mode, touch.direction, touch.reference = OPEN, zeros_like(touch.direction), zeros_like(touch.direction)
    if some:
        if not find_forces(run):
            return False
        idle = choose_modes(run, True)
        unique = independent(run)
        if idle and not unique:  # which contacts are idle depends on the solver
            choose_modes(run, False)
            unique = independent(run)
        if not (unique or share_forces(run)):
            return False
    phase_motion.count_closed(run)
    return begin_motion(run)


@kernel
def is_admissible(run):
    """Whether the least of dependent forces are compressive and in their cones."""
    most, found = 0.0, True
    for touch in run.touches:
        most = max(most, touch.contact.P[0])
    for touch in run.touches:
        P = touch.contact.P
        found = found and not (touch.mode != OPEN and P[0] < -ADMISSIBLE * most)
        found = found and not (touch.mode == STICKING and margin(touch.contact, P, True) < -ADMISSIBLE * most)
    return found


@piece
def share_forces(run):
    """Which forces act where they are not unique: the least ones, or the least admissible; whether they are found."""
    phase_motion.count_closed(run)
    if run.closed == 0:
        return True
    slips = False
    for joint in run.system.joints:
        joint.kept = joint.P
    for touch in run.touches:
        touch.found = touch.contact.P if touch.candidate else zeros_like(touch.found)
        slips = slips or touch.mode == SLIPPING
    # a raised diagonal gives the least forces where nothing slips, and joints have no part in them
    run.shared = SQUARES if slips or len(run.system.joints) > 0 else RAISED
    phase_motion.accelerate(run, True)
    if is_admissible(run):
        return True
    run.shared = SQUARES
    phase_motion.accelerate(run, True)
    return shared_outside(run) == 1


@piece
def begin_motion(run):
    """The motion in the chosen phase, in `after`, from the nearest positions and velocities; whether there is one.
    Overlaps of open contacts, which result from closing others in the window, are removed."""
    for k in range(PASSES + 1):
        if not phase_motion.project(run):
            return False
        phase_motion.accelerate(run, True)
        overlaps = False
        for touch in run.touches:
            overlaps = overlaps or touch.contact.g < -touch.closed_gap
        if not (run.closed and overlaps) or k == PASSES:
            break
        if cleared_outside(run) != 1:
            return False
    phase_motion.note(run, run.after, True)
    return True


@piece
def independent(run):
    """Whether the rows of joints and of the phase are."""
    phase_motion.count_closed(run)
    phase_motion.factor_phase(run, VELOCITIES)
    return run.dependence < DEPENDENT


# ---- the phase that follows an event


@kernel
def add_low(run, height):
    """Keep closed the contacts without restitution that others open from no height; whether there are any."""
    some = False
    for k in range(len(run.touches)):
        touch, pull = run.touches[k], -run.after.contacts[k].bias_acceleration[0]
        if touch.touching and touch.leaving and touch.contact.restitution == 0.0 and pull > 0.0:
            if touch.speed * touch.speed < 2.0 * height * pull:
                touch.candidate, some = 1, True
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
        touch.leaving = 1 if touch.speed > round_off(run.system, touch.contact, of.terms[0]) else 0
        touch.candidate = touch.touching * (1 - touch.leaving)
    if not find_phase(run, before):
        return False
    if add_low(run, LANDED) and not find_phase(run, before):
        return False
    some, size = False, run.after.applied + run.after.moving
    for k in range(len(run.touches)):  # one that was released may close again in the new phase
        touch = run.touches[k]
        if touch.released:
            touch.contact.velocity_offset = touch.bias
            zero = RETURNING * rate_terms(run, touch.contact, size)[0]
            some = some or -run.after.contacts[k].bias_acceleration[0] > zero
    for touch in run.touches:
        if some and touch.released:
            touch.candidate = 1
    return find_phase(run, before) if some else True


@piece
def change_by_impact(run, before):
    """The impact of approaching contacts, or where drivers jump, and the phase after it; whether both are found."""
    for k in range(len(run.touches)):
        touch, of = run.touches[k], before.contacts[k]
        touch.before, touch.known = touch.mode, 0
        near = touch.mode != OPEN or of.gap <= touch.closed_gap
        approaches = of.rates[0] < -round_off(run.system, touch.contact, of.terms[0])
        soon = of.gap < -run.window * of.rates[0] and approaches
        touch.hit = touch.has_impact = 1 if near or soon else 0
        touch.restitution = touch.law
    for _ in range(len(run.touches) + 1):
        for k in range(len(run.touches)):
            touch = run.touches[k]
            touch.touching = 1 if touch.before != OPEN or before.contacts[k].gap <= touch.closed_gap else 0
        if not solve_impact(run, before):
            return False
        for touch in run.touches:  # one in the window that does not rebound is closed
            if touch.hit and touch.impact[0] > 0.0 and not touch.leaving:
                touch.touching = 1
            touch.candidate = touch.touching * (1 - touch.leaving)
        if not find_phase(run, before):
            return False
        ended = False
        for k in range(len(run.touches)):  # rebounds below the shortest flight, or below round-off, are suppressed
            touch, pull = run.touches[k], -run.after.contacts[k].bias_acceleration[0]
            rebounds = touch.hit and touch.leaving and touch.restitution > 0.0 and touch.mode == OPEN
            speed, lowest = touch.speed, max(LOWEST, run.coarse)
            if rebounds and pull > 0.0 and (2.0 * speed < run.shortest * pull or speed * speed < 2.0 * lowest * pull):
                touch.restitution, ended = 0.0, True
        if not ended:
            break
    run.impact = 1
    return find_phase(run, before) if add_low(run, LANDED) else True
