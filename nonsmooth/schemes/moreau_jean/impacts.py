"""Impacts in steps of Moreau and Jean's scheme: by Newton's law which impulses of a step are theirs, and the velocity
without them; by other laws impacts between steps, which need impulses separate from those of forces.

Steps are plastic then. At the end of each, the contacts whose gap would close within half a step take part in an
impact, with directions there, if one of them approaches that has not merely lasted through the step: the turning of a
direction is no approach.
"""

from nonsmooth.compile.kernels import has_other_laws, kernel, piece
from nonsmooth.compile.records.values import dot, weighed, zeros_like
from nonsmooth.schemes.moreau_jean.moment_arms import keep_directions, update_moment_arms
from nonsmooth.step.deformation import end_implicit
from nonsmooth.step.impact_fields import INCREMENTAL
from nonsmooth.step.joint_forces import reaction_of
from nonsmooth.step.mechanism import (
    evaluate_all,
    joint_residual,
    leave_out,
    mode_of,
    place_by_u,
    place_by_v,
    rates_after,
    rates_of_jump,
    round_off,
    squared_length,
    terms_of,
    touches,
    zero_rate,
)
from nonsmooth.step.motion import inverse_mass, moved, placed, see
from nonsmooth.step.program import assemble_diagonal, factor_joints
from nonsmooth.step.rows import (
    add_work,
    mark_jump,
    write_contact,
    write_contact_impact,
    write_impact_reaction,
    write_jump,
    write_motion,
)
from nonsmooth.step.trend import start_again
from nonsmooth.step.velocity_change import impact

#: an impulse of at most this multiple of that of the previous step belongs to a persistent contact, not to an impact
LASTING = 2.0


@kernel
def sum_contact_impulses(system):
    """Impulses of contacts on bodies; returns their change in the mass metric."""
    change = 0.0
    for body in system.bodies:
        body.total = zeros_like(body.total)
    for contact in system.contacts:
        if contact.on:
            contact.a.body.total += contact.P @ contact.a.directions
            contact.b.body.total += contact.P @ contact.b.directions
    for body in system.bodies:
        body.jump = body.total - body.contact_impulse
        change += squared_length(weighed(body.jump, inverse_mass(body)), body.mass)
        body.contact_impulse = body.total
    return change


@kernel
def separate_impact(system):
    """Whether the step has an impact by Newton's law; then v_left, the velocity before it, and the impulses of joints.
    A contact with a similar impulse in the previous step is persistent, and has none."""
    struck = False
    if has_other_laws(system) and system.law_of_impact > 0:  # impacts are between steps
        return False
    for contact in system.contacts:
        lasts = contact.P[0] > 0.0 and contact.P[0] <= LASTING * contact.P_before[0]
        if contact.on and not lasts and contact.before[0] < 0.0:
            terms = terms_of(contact, contact.a.body.v, contact.b.body.v)
            if contact.before[0] < -round_off(system, contact, terms[0]):
                struck = True
    if struck:
        factor_joints(system)  # with directions at the end
        sum_contact_impulses(system)
        leave_out(system)
    return struck


# ---- between steps


@kernel
def end_of(system, body):
    """Position of a body at the end of the step."""
    if system.midpoint:
        return moved(body, moved(body, body.q, body.v, 0.5 * system.dt), body.v_next, 0.5 * system.dt)
    return body.projected if system.projected else moved(body, body.q, body.u, system.dt)


@kernel
def place_at_end(system, further):
    """Bodies at the end of the step, moved by their velocities there for some time more."""
    see(system, system.t_next)
    for body in system.bodies:
        body.at = moved(body, end_of(system, body), body.v_next, further)
        body.z = placed(body.at)
    evaluate_all(system.surfaces)


@kernel
def save_step(system):
    """Keep what the step has found."""
    for joint in system.joints:
        joint.kept = joint.P
    for one in system.impacts:
        contact = one.contact
        one.kept, one.kept_on = contact.P, contact.on
    if not system.balanced:  # whose moment arms are derived from directions that are kept already
        keep_directions(system)


@kernel
def restore_step(system):
    """Restore it, with directions as they were in the step."""
    for body in system.bodies:
        body.v_next = body.left
    for joint in system.joints:
        joint.P = joint.P_near = joint.kept
    for one in system.impacts:
        contact = one.contact
        contact.P, contact.on = one.kept, one.kept_on
        contact.a.directions, contact.b.directions = contact.start_a, contact.start_b
        assemble_diagonal(contact)
    update_moment_arms(system)
    if system.midpoint:
        place_by_v(system, 0.5 * system.dt)
    else:
        place_by_u(system, system.dt)
    evaluate_all(system.constraints)
    factor_joints(system)


@kernel
def select_impacting(system):
    """Which contacts an impact at the end of the step is on, in `on`; whether there is one."""
    place_at_end(system, 0.5 * system.dt)
    for contact in system.contacts:
        contact.on = 1 if touches(contact) else 0
    place_at_end(system, 0.0)
    for body in system.bodies:
        body.left = body.v_next
        body.v_terms = abs(body.v) + abs(body.v_next)
    found = False
    for one in system.impacts:
        contact = one.contact
        rates = rates_after(contact)
        one.before = one.after = rates
        contact.impact = zeros_like(rates)
        # the gap velocity by which its direction has turned since the middle of the step
        a, b = contact.a, contact.b
        turned = (a.directions - contact.start_a) @ a.body.v_next + (b.directions - contact.start_b) @ b.body.v_next
        lasts = one.kept_on and one.kept[0] > 0.0 and -rates[0] <= LASTING * abs(turned[0])
        if contact.on and not lasts and rates[0] < -zero_rate(system, contact):
            found = True
    return found


@piece
def solve_impact(system):
    """The impact at the end of the step, if there is one; whether it was found and is certified. Then `before` and
    `after` of impacts differ, and bodies' `jump` is their change of velocity."""
    residual, law, size = system.residual, system.law, system.complementarity
    save_step(system)
    end_implicit(system)
    for joint in system.joints:
        joint.answer = zeros_like(joint.answer)
    system.impact_at_end = 1 if select_impacting(system) else 0
    found = True
    if system.impact_at_end:
        evaluate_all(system.constraints)
        factor_joints(system)
        found = impact(system)
        if system.law_of_impact < INCREMENTAL:  # others change no velocity of joints, whatever it was
            for joint in system.joints:
                residual = max(residual, joint_residual(system, joint, -joint.rate))
        for one in system.impacts:
            one.after = rates_after(one.contact)
        for body in system.bodies:
            body.jump = body.v_next - body.left
        system.work_impact = 0.0
        for joint in system.joints:
            system.work_impact -= dot(joint.answer, joint.rate)
            joint.y = joint.answer
        for one in system.reactions:
            one.impulse, one.twist = reaction_of(one)
        residual, law = max(residual, system.residual), max(law, system.law)
        size = max(size, system.law)
    restore_step(system)
    system.residual, system.law, system.complementarity = residual, law, size
    return found and residual <= system.certified and law <= system.certified


@piece
def add_impact(system):
    """Add the impact to the row of the step that it follows, and its change of velocity to the start of the next."""
    add_work(system, system.work_impact)
    for one in system.reactions:
        write_impact_reaction(system, one, one.impulse, one.twist)
    for one in system.impacts:
        contact = one.contact
        P, on = contact.P, contact.on
        contact.P = P + contact.impact
        contact.on = 1 if on or contact.impact[0] > 0.0 else 0
        write_contact(system, contact, contact.P, mode_of(contact))
        write_contact_impact(system, contact, contact.impact, one.before[0], one.after[0])
        contact.P, contact.on = P, on
    for joint in system.joints:
        start_again(joint.trend, joint.trend.last)
        if system.midpoint:
            joint.left += rates_of_jump(joint)
    for body in system.bodies:
        write_jump(system, body, body.v)
        body.v += body.jump
        write_motion(system, body, body.q, body.v)
    mark_jump(system, system.work_impact)
