"""Gauss' principle of least constraint by implicit Euler with constant steps.

    M (v+ - v) = dt h(t+, q+, v+) + W(q+) P,       q+ = q moved by v+ for dt
    g(t+, q+) = 0 of joints,                       0 <= g_N(q+)  ⟂  P_N >= 0

with Coulomb's law between P_T and the slip W_T(q+)' v+: equations (10)-(14) of Chaturvedi, Sandu and Sandu. Joints and
gaps close at the end of the step in positions; impacts are plastic.

A step iterates on u, the velocity at its end: forces, gaps and directions at q moved by u for dt; the linearised
program; velocities; until u no longer changes or residuals are small enough. The normal of a contact turns with the
motion that its own impulse changes, by the fraction P dt / (m c) of the change in a clearance c; a secant through two
iterations compensates for that, and `turning` where it does not.
"""

from nonsmooth.compile.kernels import has_other_laws, kernel, piece
from nonsmooth.compile.records.values import dot, largest, last_axis, normal_axis, weighed, zeros_like
from nonsmooth.schemes.gauss import landing
from nonsmooth.schemes.gauss.first_half import UNSEEN, advance_outside, is_done, update_velocities
from nonsmooth.schemes.gauss.tolerances import CONVERGED, PASSES, PROMISING, SETTLED
from nonsmooth.step.convergence import begin_passes, extrapolate_u, note_change, secant_of_step
from nonsmooth.step.deformation import begin_implicit, further_passes, implicit_force
from nonsmooth.step.grid import run_of, step_of
from nonsmooth.step.impact_fields import CONVEX
from nonsmooth.step.joint_forces import close_joints
from nonsmooth.step.mechanism import (
    add_impulses,
    apply_all_impulses,
    complementarity_error,
    evaluate_loads,
    leaves_rest,
    momentum_residual,
    on_disc,
    place_at_end,
    rates_after,
    rates_before,
    rates_of_u,
    squared_length,
    start_contacts,
    tangential,
    touches,
)
from nonsmooth.step.motion import inverse_mass, moved, plausible
from nonsmooth.step.program import (
    INFINITE,
    assemble_contact,
    factor_joints,
    least_impulses,
    make_consistent,
    phase,
    solve,
)
from nonsmooth.step.rows import write_impact, write_row
from nonsmooth.step.tolerances import CLOSED_GAP, CLOSED_RATE, ON_GRID, TINY
from nonsmooth.step.turning import attempt_with, turning_of
from nonsmooth.step.velocity_change import rates_left


@kernel
def evaluate_end(system):
    """Forces, joints and contacts after the motion by u; contacts that overlap there join the program, but not by
    round-off: where others already hold the body, they would make the rows redundant."""
    place_at_end(system, system.dt)
    evaluate_loads(system)
    for contact in system.contacts:
        if contact.g < -UNSEEN * contact.scale:
            contact.on = 1


@kernel
def gap_error(contact):
    """Complementarity of the gap and the impulse of a contact."""
    return complementarity_error(contact.g, contact.scale, contact.P[0], contact.impulse_scale)


@kernel
def contact_error(system, contact):
    """Residual of gap and impulse and of Coulomb's law, or of both edges of the cone if friction is associated."""
    P, mu, rates = contact.P, contact.friction, rates_after(contact)
    if has_other_laws(system) and phase(system) == CONVEX:
        slip, share = dot(last_axis(P), rates), dot(last_axis(P), P) / (mu if mu > 0.0 else 1.0)
        gap, opened = contact.g / contact.scale, system.longest * mu * slip / contact.scale
        per_impulse = 0.5 / contact.impulse_scale
        forward = abs(min(gap + opened, per_impulse * (P[0] + share)))
        return max(forward, abs(min(gap - opened, per_impulse * (P[0] - share))))
    scaled = (1.0 / contact.impulse_scale) * P
    friction = tangential(scaled)
    asked = friction - (system.longest / contact.scale) * tangential(rates)
    asked = on_disc(asked, mu * max(scaled[0], 0.0))
    return max(gap_error(contact), largest(abs(friction - asked)))


@piece
def check_residuals(system):
    """Residuals of the step at its end, from all its impulses; those of the last pass if it changed u by round-off."""
    worst, law, natural = 0.0, 0.0, 0.0
    for body in system.bodies:
        body.total = body.terms = zeros_like(body.total)
    for joint in system.joints:
        add_impulses(joint, joint.a.directions, joint.b.directions)
        worst = max(worst, largest(abs(joint.g)) / (system.reach + TINY))
    for contact in system.contacts:
        add_impulses(contact, contact.a.directions, contact.b.directions)
        law, natural = max(law, contact_error(system, contact)), max(natural, gap_error(contact))
    system.residual, system.complementarity = max(momentum_residual(system), max(worst, law)), natural
    return system.residual <= system.certified and plausible(system, system.longest)


@kernel
def leave_out_impact(system):
    """Velocities `left` without the impulses of impacts and what joints answer to them, which are the end of the step;
    what the impact changes in the kinetic energy is its loss."""
    for body in system.bodies:
        body.jump = zeros_like(body.v)
    for contact in system.contacts:
        contact.impact = contact.has_impact * contact.P
        contact.a.body.jump += contact.impact @ contact.a.response
        contact.b.body.jump += contact.impact @ contact.b.response
    for joint in system.joints:
        joint.velocity_offset = zeros_like(joint.P)
    close_joints(system)
    for joint in system.joints:
        joint.answer, joint.P_b = joint.P, joint.P_b - joint.P
        joint.P = joint.P_b + joint.answer
    for body in system.bodies:
        body.left = body.v_next - body.jump
    for contact in system.contacts:
        contact.before = rates_left(contact)


@kernel
def finish_row(system):
    """Write the row of the step. The impulse of an impact is spread over the step that closes the gap and the next; it
    stops an approach, but not that of a contact that lasts, whose direction turns by as much."""
    work, loss, struck = 0.0, 0.0, False
    for joint in system.joints:
        work -= dot(joint.P, joint.rate)
    for contact in system.contacts:
        a, b, closing = contact.a, contact.b, -contact.start_rate
        contact.after, contact.on = rates_after(contact), 1 if touches(contact) else 0
        terms = (abs(contact.start_a) @ abs(a.body.v) + abs(contact.start_b) @ abs(b.body.v))[0]
        lasts = contact.P_before[0] > 0.0 and closing <= abs(rates_before(contact)[0] + closing)
        approaches = closing > CLOSED_RATE * (terms + contact.scale / system.longest) and not lasts
        strikes = approaches or not contact.start_g <= CLOSED_GAP * contact.scale
        contact.has_impact = 1 if contact.P[0] > 0.0 and strikes else 0
        if contact.has_impact:
            struck = True
        else:
            slip = 0.5 * (contact.start_rates + contact.after)
            loss -= dot(contact.P, tangential(slip))
    for body in system.bodies:
        body.q = body.at = moved(body, body.q, body.u, system.dt)
    if struck:
        leave_out_impact(system)
    write_row(system, system.t_next, work, loss, False)
    if struck:
        write_impact(system)


@kernel
def accept(system):
    """Accept the step: its end is the start of the next one."""
    least_impulses(system)
    for joint in system.joints:
        joint.P_a = joint.answer = zeros_like(joint.P)
        joint.P_b = joint.P
    finish_row(system)
    system.t, system.last_dt, struck = system.t_next, system.dt, 0
    for contact in system.contacts:
        struck += contact.has_impact
        if contact.closed and not contact.on:
            contact.left_at = system.t
        contact.closed, contact.start_rate, contact.start_rates = contact.on, contact.after[0], contact.after
    start_contacts(system)
    for body in system.bodies:
        # the change of velocity by an impact is not extrapolated
        gained = zeros_like(body.v) if struck else body.v_next - body.v
        second = gained - body.delta_v
        body.delta_v, body.delta2_v, body.delta3_v = gained, second, second - body.delta2_v
        body.v = body.v_next
    if struck:
        system.secant = 0.0
    system.steps += 1


#: round-off of gaps, as a share of coordinates
ROUNDED = 1e-15
#: square of the ratio of a difference to the one before up to which it is extrapolated
SMOOTH = 1e-2


# ---- an iteration


@kernel
def guess(system):
    """Initial u, extrapolated while differences decrease with the degree; the program begins with closed contacts."""
    share = system.dt / system.last_dt
    begin_implicit(system, system.dt)
    first, second, third = 0.0, 0.0, 0.0
    for body in system.bodies:
        body.u = body.v + share * body.delta_v
        first += squared_length(body.delta_v, body.mass)
        second += squared_length(body.delta2_v, body.mass)
        third += squared_length(body.delta3_v, body.mass)
    if second < SMOOTH * first and abs(share - 1.0) < ON_GRID:
        with_third = 1.0 if third < SMOOTH * second else 0.0
        for body in system.bodies:
            body.u += body.delta2_v + with_third * body.delta3_v
    for joint in system.joints:
        joint.P = joint.P_near = zeros_like(joint.P)
    for contact in system.contacts:
        closed = contact.start_g <= CLOSED_GAP * contact.scale or phase(system) == CONVEX
        contact.P_before, contact.on = contact.P, 1 if closed else 0
        contact.is_persistent = 1 if abs(contact.start_g) <= UNSEEN * contact.scale else 0
        contact.P = contact.on * contact.P


@kernel
def assemble(system):
    """The program: rates without impulses, and those that close joints and gaps, linearised at the motion by u."""
    dt = system.dt
    for body in system.bodies:
        body.v_next = body.v + weighed(dt * implicit_force(body, dt), inverse_mass(body))
        if system.turns:
            body.v_next += weighed(body.turning, inverse_mass(body))
    factor_joints(system)
    for joint in system.joints:
        joint.b0 = rates_after(joint) - rates_of_u(joint) + joint.g / dt
    if system.ridge > 0.0:
        make_consistent(system)
    for contact in system.contacts:
        if contact.on:
            gap, rates = contact.g, rates_of_u(contact)
            if contact.is_persistent:  # closed to round-off, so that its change by u is more accurate
                at_start = contact.start_a @ contact.a.body.u + contact.start_b @ contact.b.body.u
                change = 0.5 * dt * (at_start[0] + rates[0])
                if max(abs(gap), abs(change)) <= 2.0 * UNSEEN * contact.scale:
                    gap = change
                else:  # for the rest of this step: both differ by the curvature of its path
                    contact.is_persistent = 0
            contact.velocity_offset = (gap / dt - rates[0]) * normal_axis(rates)
            assemble_contact(contact, rates_after(contact) + contact.velocity_offset, system.proximal)


@kernel
def solve_with_turning(system):
    """v_next; whether the program was solved."""
    assemble(system)
    if not solve(system):
        return False
    apply_all_impulses(system)
    return True


find_turning = turning_of(solve_with_turning)


@piece
def solve_pass(system):
    """Assemble and solve the program of a pass; whether it was solved."""
    if system.turns:
        for contact in system.contacts:
            contact.held = contact.P
        found = find_turning(system)
        assemble(system)
        return found
    assemble(system)
    return solve(system)


@kernel
def evaluate_solution(system):
    """Evaluate a solution u, P of the equations that was found outside."""
    evaluate_end(system)
    assemble(system)
    change, _ = update_velocities(system, system.dt)
    for body in system.bodies:
        body.v_next = body.u
    evaluate_end(system)
    system.passes += 1
    return change + system.size < INFINITE


@piece
def iterate(system, patience):
    """Iterate until u no longer changes or residuals are small enough; whether it converged, and is certified."""
    if system.advance != 0:
        system.trial = system.dt
        solved = advance_outside(system) == 1 and evaluate_solution(system)
        return solved, solved and check_residuals(system)
    c, found = system.convergence, False
    begin_passes(system)
    for k in range(PASSES):
        evaluate_end(system)
        if found and c.change <= PROMISING * system.size and check_residuals(system) and system.residual <= SETTLED:
            return True, True
        if not solve_pass(system):
            return False, False
        change, share = update_velocities(system, system.dt)
        system.passes += 1
        if not change + system.size < INFINITE:
            return False, False
        note_change(system, change)
        done = is_done(system, system.dt, CONVERGED, patience, ROUNDED * system.reach)
        # the set of loaded contacts among redundant ones changes from iteration to iteration
        along_secants = k > 0 and system.proximal == 0.0 and not system.turns
        if along_secants:
            share = secant_of_step(system, k, share)
        along = share if along_secants and not done else 0.0
        extrapolate_u(system, along)
        if done and c.further > 0:
            c.further -= 1
        elif done:
            if change > CONVERGED * system.size or further_passes(system):
                evaluate_end(system)
            return True, check_residuals(system)
        found = along == 0.0 and c.further == 0
    return False, False


# ---- a step


@kernel
def restore(system):
    """Restore the state before the attempt, without values that are not finite."""
    for contact in system.contacts:
        contact.P, contact.on = contact.P_before, 0
    for body in system.bodies:
        body.v_next = body.u = body.v
    system.ground.v_next = zeros_like(system.ground.v_next)


@piece
def attempt(system):
    """A step of length dt; whether it is certified."""
    guess(system)
    found, certified = iterate(system, 1)
    if found and not certified and system.advance == 0:
        # a pass along a secant may leave the surface of closed joints and gaps, so that the next one changes more
        _, certified = iterate(system, 3)
    return certified and not leaves_rest(system)


run = run_of(step_of(attempt, restore, accept, attempt_with(attempt)))
#: what contacts and joints are at the start
begin = landing.begin
