"""Moreau and Jean's scheme, by the equations of `MoreauJean`: joints are closed at the end of the step in positions and
velocities by impulses P_a at its start and P_b at its end, as in RATTLE; or, if the system requests it, by one impulse
along their directions at the midpoint, see `midpoint`."""

import math

from nonsmooth.compile.kernels import has_other_laws, is_flexible, kernel, piece
from nonsmooth.compile.records.values import dot, total, weighed, zeros_like
from nonsmooth.schemes.moreau_jean import midpoint
from nonsmooth.schemes.moreau_jean.impacts import (
    add_impact,
    end_of,
    separate_impact,
    solve_impact,
    sum_contact_impulses,
)
from nonsmooth.schemes.moreau_jean.moment_arms import keep_directions, update_moment_arms
from nonsmooth.schemes.moreau_jean.projection import place, project
from nonsmooth.step import rattle
from nonsmooth.step.deformation import begin_implicit, end_implicit, further_passes, implicit_force
from nonsmooth.step.grid import run_of, step_of
from nonsmooth.step.mechanism import (
    add_impulses,
    apply_all_impulses,
    complementarity_error,
    evaluate_all,
    evaluate_loads,
    law_residual,
    law_shift,
    leaves_rest,
    momentum_residual,
    place_by_u,
    place_by_v,
    rates_after,
    rates_before,
    set_impulse_scales,
    squared_length,
    tangential,
    touches,
)
from nonsmooth.step.motion import inverse_mass, squares
from nonsmooth.step.program import (
    INFINITE,
    assemble_couplings,
    assemble_diagonal,
    factor_joints,
    least_impulses,
    set_free,
    solve,
)
from nonsmooth.step.rows import write_impact, write_row
from nonsmooth.step.tolerances import CLOSED_JOINTS, DONE, EPSILON, TINY, UNCERTAIN
from nonsmooth.step.trend import expected, record_impulses, start_again
from nonsmooth.step.turning import begin_rounds, next_trial

#: iterations of a step at most
PASSES = 100
#: of Newton's method: change of u, as a share of the velocities, along which loads are compared; error of the change of
#: u in a pass, as a share of it; rounds of a pass at most
NUDGE, NEARLY, ROUNDS = 1e-7, 1e-3, 30
#: change of the velocity from iteration to iteration, as a share of its size, that ends them: round-off
CONVERGED = 1e-14
#: residuals of a step up to which no further pass is taken where joints are closed to round-off in positions, and the
#: change of the velocity by the last pass, as a share of its size, from which on they are evaluated
SETTLED, PROMISING = 1e-11, 1e-7
#: constraint violation, as a share of coordinates, up to which the matrix of joints at a position serves the program at
#: the one where they are closed
NEAR = 1e-14

# ---- before the program


@kernel
def evaluate_contacts(system):
    """Determine the contacts that are closed at the midpoint, and the terms of the impact laws."""
    begin_implicit(system, system.theta * system.dt)
    place_by_v(system, 0.5 * system.dt)
    evaluate_all(system.surfaces)
    if system.midpoint:
        midpoint.evaluate(system)
    # contacts of a step are plastic where another law than Newton's is applied between steps
    plastic = has_other_laws(system) and system.law_of_impact > 0
    for contact in system.contacts:
        contact.P_before, contact.start_g = contact.P, contact.g
        if touches(contact):
            assemble_diagonal(contact)
            assemble_couplings(contact)
            contact.before = rates_before(contact)
            contact.velocity_offset = law_shift(contact, contact.before, contact.before[0] < 0.0)
            if plastic:
                contact.velocity_offset = zeros_like(contact.velocity_offset)
            contact.on = 1
        else:
            contact.on = 0
            contact.P = contact.before = contact.after = zeros_like(contact.P)


@kernel
def is_direct(system):
    """Whether one program is the step, since nothing in it depends on u."""
    return not system.varying and system.proximal == 0.0 and (system.midpoint or not len(system.joints))


@kernel
def guess(system):
    """Initial guesses of u and of the impulses, extrapolated from previous steps."""
    share = system.dt / system.last_dt
    if has_other_laws(system) and system.balanced:
        keep_directions(system)
    for body in system.bodies:
        body.contact_impulse = body.joint_impulse = zeros_like(body.contact_impulse)
        body.force_before = body.force
    for joint in system.joints:
        joint.P = joint.P_near = zeros_like(joint.P)
        joint.P_a = share * expected(joint.trend)
        rattle.add_start_impulses(joint, joint.P_a)
    for contact in system.contacts:
        if contact.on:
            P = share * expected(contact.trend)
            # redundant contacts stay near their previous impulses
            contact.P = P if P[0] > 0.0 and system.proximal == 0.0 else contact.P
            contact.a.body.contact_impulse += contact.P @ contact.a.directions
            contact.b.body.contact_impulse += contact.P @ contact.b.directions
    for body in system.bodies:
        body.v_next = body.v + weighed(system.dt * body.force + body.contact_impulse, inverse_mass(body))
        body.u = body.v
        body.u = velocity_of_positions(system, body)


@kernel
def free(system):
    """Velocities at the end without the impulses of contacts and of joints there; `jump` is the difference of both for
    contacts. With flexible bodies those that the present impulses of contacts lead to: they change u, and with it the
    forces in the second part of the step, together as if the whole step were implicit."""
    dt, h = system.dt, system.theta * system.dt
    if is_flexible(system):
        if system.midpoint:
            for body in system.bodies:
                body.v_next = body.v + weighed(dt * implicit_force(body, h) + body.joint_impulse, body.implicit)
            return
        end_implicit(system)
        factor_joints(system)
        begin_implicit(system, h)
        for body in system.bodies:
            u = velocity_of_positions(system, body)
            force = body.force - weighed(u - body.u, h * body.stiffness + body.damping)
            second = (1.0 - system.theta) * (dt * force + body.contact_impulse)
            by_contacts = weighed(body.contact_impulse, body.implicit)
            body.v_next = u + weighed(second, body.inverse_mass) - by_contacts
            body.jump = by_contacts - weighed(body.contact_impulse, body.inverse_mass)
    else:
        for body in system.bodies:
            body.v_next = body.v + weighed(dt * body.force + body.joint_impulse, inverse_mass(body))


@kernel
def assemble(system, kept):
    """The program: rates without the impulses of contacts and of joints at the end, and the laws linearised."""
    free(system)
    if system.midpoint:
        midpoint.assemble(system)
    else:
        rattle.assemble(system, kept)
    for contact in system.contacts:
        if contact.on:
            if len(system.joints) and not kept:
                assemble_couplings(contact)
            if system.proximal > 0.0:
                assemble_diagonal(contact)
            set_free(contact, rates_after(contact) + contact.velocity_offset, system.proximal)


# ---- after it


@kernel
def velocity_of_positions(system, body):
    """u, with which positions are updated."""
    if system.midpoint:
        return 0.5 * (body.v + body.v_next)
    if not len(system.joints) and not is_flexible(body):
        return body.v + system.theta * (body.v_next - body.v)
    force = implicit_force(body, system.theta * system.dt)
    return body.v + weighed(
        system.theta * (system.dt * force + body.contact_impulse) + body.joint_impulse, inverse_mass(body)
    )


@kernel
def update_velocities(system):
    """Velocities from the impulses; returns the change of u."""
    apply_all_impulses(system)
    if not system.midpoint:
        for joint in system.joints:  # of which the program found a change
            joint.P, joint.base = joint.P + joint.base, zeros_like(joint.P)
    for joint in system.joints:
        joint.P_near = joint.P
    # without joints and modes u changes where the sums of the impulses of contacts do
    further = len(system.joints) > 0 or further_passes(system) > 0
    settled = sum_contact_impulses(system) if further and not is_direct(system) else 0.0
    if settled > 0.0 and len(system.joints) and not system.midpoint and not is_flexible(system):
        rattle.correct_impulses(system)
    dt, zero = system.dt, zeros_like(system.ground.v)
    change, kicks, before, after = zero, zero, zero, zero
    for body in system.bodies:
        body.total, body.terms = body.joint_impulse, abs(body.joint_impulse)
        u = velocity_of_positions(system, body)
        change = change + squares(u - body.u, body.mass)
        kicks = kicks + squares(weighed(dt * body.force, inverse_mass(body)), body.mass)
        before = before + squares(body.v, body.mass)
        after = after + squares(body.v_next, body.mass)
        body.u = u
    system.size = math.sqrt(total(before)) + math.sqrt(total(after)) + math.sqrt(total(kicks))
    return math.sqrt(total(change)) + math.sqrt(settled)


@kernel
def evaluate_forces(system):
    """Forces at the point theta of the step along u."""
    if len(system.forces):
        if system.midpoint:
            place_by_v(system, system.theta * system.dt)
        else:
            place_by_u(system, system.theta * system.dt)
    evaluate_loads(system)
    if system.midpoint and is_flexible(system):  # forces of deformation in the middle, bodies were placed by v
        for body in system.bodies:
            body.force -= weighed(body.u - body.v, (0.5 * system.dt) * body.stiffness)


@kernel
def evaluate(system):
    """Forces at the point theta of the step along u, moment arms, and joints at the end of the motion by u."""
    if system.varying:
        evaluate_forces(system)
        update_moment_arms(system)
    if not system.midpoint and len(system.joints):
        rattle.evaluate(system)


@piece
def close_joints(system, kept):
    """Impulses of joints at the start that close them at the end; `kept`: by their matrix at hand. Without closed
    contacts, whose impulses change u as well, until they are closed to round-off or the violation is no longer less."""
    if not kept:
        factor_joints(system)
    rattle.close(system)
    if not rattle.keeps_factors(system):
        return
    for contact in system.contacts:
        if contact.on:
            return
    first = before = rattle.largest_violation(system)
    for _ in range(PASSES):
        for body in system.bodies:
            body.u = velocity_of_positions(system, body)
        if system.turns:  # with the forces of the pass
            rattle.evaluate(system)
        else:
            evaluate(system)
        off = rattle.largest_violation(system)
        if off <= EPSILON:
            break
        rattle.close(system)
        if not off < before:  # or no number
            break
        before = off
    if first > NEAR and not kept:
        factor_joints(system)


@kernel
def one_pass(system, kept):
    """Whether the program was solved, and how much u has changed; `kept`: with the matrix of joints at hand."""
    if not system.midpoint and len(system.joints):
        close_joints(system, kept)
    assemble(system, kept)
    if not solve(system):
        return False, 0.0
    system.passes += 1
    return True, update_velocities(system)


# ---- by Newton's method for stiff loads


@kernel
def evaluate_along(system):
    """Forces at u and by how much they change along `trial`: a central difference over a change of u that is a small
    share of the velocities."""
    size = 0.0
    for body in system.bodies:
        size += squared_length(body.trial, body.mass)
    nudge = NUDGE * system.size / max(math.sqrt(size), EPSILON * system.size + TINY)
    for body in system.bodies:
        body.u = body.saved_u + nudge * body.trial
    evaluate_forces(system)
    for body in system.bodies:
        body.turning, body.u = body.force, body.saved_u - nudge * body.trial
    evaluate_forces(system)
    for body in system.bodies:
        body.force = body.loads + (0.5 / nudge) * (body.turning - body.force)


@piece
def newton_pass(system):
    """A pass with forces that are linearised at u, with M - theta dt dF/du in place of M. The change of u is found by
    rounds with M alone, see `turning`; whether programs were solved, and how much u has changed."""
    begin_rounds(system)
    for body in system.bodies:
        body.saved_u, body.loads = body.u, body.force
    for k in range(ROUNDS):
        if k > 0:
            next_trial(system, k - 1)
            evaluate_along(system)
        for body in system.bodies:
            body.u = body.saved_u + body.trial
        if not system.midpoint and len(system.joints):
            rattle.evaluate(system)
        solved, change = one_pass(system, False)
        if not (solved and change + system.size < INFINITE):
            return False, 0.0
        size, left = 0.0, 0.0
        for body in system.bodies:
            found = body.u - body.saved_u
            body.off = found - body.trial
            size, left = size + squared_length(found, body.mass), left + squared_length(body.off, body.mass)
        if math.sqrt(left) <= CONVERGED * system.size + NEARLY * math.sqrt(size):
            break
    return True, math.sqrt(size)


# ---- residuals


@kernel
def check_residuals(system):
    """Residuals of the step at u, from all its impulses; those of the last pass if it changed u by round-off."""
    worst, law, natural = 0.0, 0.0, 0.0
    if len(system.joints):
        worst = midpoint.error(system) if system.midpoint else rattle.error(system)
    for joint in system.joints:
        add_impulses(joint, joint.a.directions, joint.b.directions)
    for contact in system.contacts:
        if contact.on:
            add_impulses(contact, contact.a.directions, contact.b.directions)
            rates = contact.after = rates_after(contact)
            law = max(law, law_residual(system, contact, rates))
            travel = (rates[0] + contact.velocity_offset[0]) * system.dt
            natural = max(natural, complementarity_error(travel, contact.scale, contact.P[0], contact.impulse_scale))
    system.residual, system.law, system.complementarity = max(worst, momentum_residual(system)), law, natural
    return system.residual <= system.certified and law <= system.certified


@piece
def is_settled(system):
    """Whether joints are closed to round-off by what the last pass has found, and its residuals are small enough."""
    if rattle.largest_violation(system) > EPSILON or not check_residuals(system):
        return False
    return max(system.residual, system.law) <= SETTLED


# ---- passes


@piece
def evaluate_again(system):
    """Evaluate after a pass that has changed u by more than round-off, which is rare and hence not inlined."""
    evaluate(system)


@kernel
def iterate(system):
    """Iterate until u no longer changes or residuals are small; whether it converged, and these are known."""
    before, further, kept = 0.0, further_passes(system), False
    for k in range(PASSES):
        evaluate(system)
        if kept and len(system.joints) and before <= PROMISING * system.size and is_settled(system):
            return True, True
        solved, change = newton_pass(system) if system.turns else one_pass(system, kept)
        if not (solved and change + system.size < INFINITE):
            return False, False
        if is_direct(system):
            return True, False
        noise, off = system.noise / system.dt, CONVERGED * system.size
        enough = system.acceptable * (system.size + noise / CONVERGED)
        if system.turns:  # stiff loads magnify round-off: residuals tell whether it is small enough
            if change <= PROMISING * system.size and change >= before:
                evaluate_again(system)
                if check_residuals(system):
                    return True, True
            enough = 0.0
        if change <= off + noise or (k > 0 and change >= before and change <= enough):
            if kept and rattle.error(system) > CLOSED_JOINTS:
                kept, before = False, change
                continue
            if further == 0:
                if change > off or further_passes(system):
                    evaluate_again(system)
                return True, False
            further -= 1
        kept, before = rattle.keeps_factors(system), change
    return False, False


# ---- the end of a step


@kernel
def finish_row(system, struck):
    """Write the row of the step, and begin the next one at its end."""
    work, loss, foretold = 0.0, 0.0, not is_direct(system)
    for joint in system.joints:
        work -= dot(joint.P_a, joint.rate_start) + dot(joint.P, joint.rate)
    for contact in system.contacts:
        contact.has_impact = 1 if struck and contact.on and contact.P[0] > 0.0 else 0
        if foretold:
            if contact.on and not contact.has_impact:
                record_impulses(contact.trend, contact.P)
            else:
                start_again(contact.trend, zeros_like(contact.P))
        if contact.on and not contact.has_impact:
            slip = 0.5 * (contact.before + contact.after)
            loss -= dot(contact.P, tangential(slip))
    for body in system.bodies:
        body.at = end_of(system, body)
    write_row(system, system.t_next, work, loss, not system.midpoint)
    if struck:
        for contact in system.contacts:
            contact.impact = contact.P if contact.has_impact else zeros_like(contact.P)
        write_impact(system)
    for body in system.bodies:
        body.q, body.v = body.at, body.v_next


@kernel
def accept(system):
    """Accept the step: its end is the start of the next one."""
    if is_flexible(system):  # with the masses of the step
        factor_joints(system)
    struck = separate_impact(system)
    if system.midpoint:
        least_impulses(system)
    else:
        rattle.choose_least_impulses(system)
    for joint in system.joints:
        joint.P_b = joint.P - joint.answer if struck else joint.P
    finish_row(system, struck)
    if system.midpoint:
        midpoint.start_next_step(system)
    else:
        if system.projected and len(system.joints):
            place(system)
            evaluate_all(system.constraints)
        rattle.start_next_step(system, struck)
    if has_other_laws(system) and system.impact_at_end:
        add_impact(system)
    system.t, system.last_dt = system.t_next, system.dt
    system.steps += 1


@piece
def attempt(system):
    """A step of length dt; whether it is certified."""
    evaluate_contacts(system)
    if not is_direct(system):
        guess(system)
    converged, checked = iterate(system)
    if not (converged and (checked or check_residuals(system))) or leaves_rest(system):
        return False
    if system.projected and not project(system):
        return False
    if has_other_laws(system) and system.law_of_impact > 0:
        return solve_impact(system)
    return True


@kernel
def restore(system):
    """Restore the state before the attempt."""
    for contact in system.contacts:
        contact.P, contact.on = contact.P_before, 0
    for joint in system.joints:
        joint.P = joint.P_near = zeros_like(joint.P)
    if not is_direct(system):
        for body in system.bodies:
            body.force = body.force_before
    system.ground.v_next = zeros_like(system.ground.v_next)  # values that are not finite would change it


@piece
def attempt_by_newton(system):
    """A step in which loads are too stiff for other passes, by Newton's method; whether it is certified."""
    if system.rest_undecided or not system.varying or not len(system.loads):
        return False
    system.turns = 1
    found = attempt(system)
    system.turns = 0
    return found


take_steps = kernel(run_of(step_of(attempt, restore, accept, attempt_by_newton)))


@piece
def impact_at_start(system):
    """The impact at the start of a run, as at the end of a step without length, with its row if there is one."""
    system.impact_at_end = 0
    if system.law_of_impact == 0:
        return DONE
    system.dt, system.t_next = 0.0, system.t
    for body in system.bodies:
        body.u = body.v_next = body.v
        body.projected = body.q
    for contact in system.contacts:
        contact.on, contact.P = 0, zeros_like(contact.P)
    for joint in system.joints:
        joint.P = joint.P_a = joint.P_b = zeros_like(joint.P)
    system.residual = system.law = system.complementarity = 0.0
    if not solve_impact(system):
        return UNCERTAIN
    if system.impact_at_end:
        finish_row(system, False)
        add_impact(system)
        for joint in system.joints:
            joint.P = zeros_like(joint.P)
    system.dt = system.longest
    return DONE


@kernel
def start_by_impact(system):
    """The impact at the start of a run, if impacts are between steps."""
    if has_other_laws(system):
        return impact_at_start(system)
    return DONE


def run(system, steps):
    """Up to this number of steps; of none, the impact at the start of a run that is not one of its steps."""
    return take_steps(system, steps) if steps > 0 else start_by_impact(system)


def begin(system):
    """Set what contacts and joints are at the start, and remember of a step before it."""
    system.dt = system.longest
    end_implicit(system)
    for body in system.bodies:
        body.force, body.joint_impulse, body.u = body.steady, zeros_like(body.joint_impulse), body.v
    place_by_u(system, 0.0)
    evaluate_all(system.surfaces)
    set_impulse_scales(system)
    if system.midpoint:
        midpoint.begin(system)
    else:
        rattle.begin(system)
    return DONE
