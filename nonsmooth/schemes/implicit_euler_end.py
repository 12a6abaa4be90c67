"""The end of a step of implicit Euler: evaluation, residuals, impacts, and its row.

See `implicit_euler` for the equations.
"""

from nonsmooth.compile.kernels import by_option, kernel
from nonsmooth.records.values import dot, largest, last_axis, zeros_like
from nonsmooth.schemes.first_half import UNSEEN, place_at_end
from nonsmooth.schemes.impact_fields import CONVEX
from nonsmooth.schemes.joint_forces import write_answer
from nonsmooth.schemes.mechanism import (
    add_impulses,
    evaluate_loads,
    mode_of,
    momentum_residual,
    on_disc,
    rates_after,
    rates_before,
    start_contacts,
    tangential,
    touches,
)
from nonsmooth.schemes.motion import plausible
from nonsmooth.schemes.program import least_impulses, phase
from nonsmooth.schemes.rattle import write_reaction
from nonsmooth.tolerances import CLOSED_GAP, CLOSED_RATE, TINY


@kernel
def evaluate_end(system):
    """Forces, joints and contacts after the motion by u; contacts that overlap there join the program.

    Not those that overlap by round-off: where others already hold the body, they would make the rows redundant.
    """
    place_at_end(system, system.dt)
    evaluate_loads(system)
    for contact in system.contacts:
        if contact.g < -UNSEEN * contact.scale:
            contact.on = 1


@kernel
def map_of_gap(contact):
    """Residual of gap and impulse, each with its own scale."""
    return abs(min(contact.g / contact.scale, contact.P[0] / contact.y_scale))


@kernel
def map_of_coulomb(system, contact):
    """Residual of gap and impulse and of Coulomb's law."""
    push, slip = (1.0 / contact.y_scale) * contact.P, rates_after(contact)
    rubs = tangential(push)
    asked = rubs - (system.longest / contact.scale) * tangential(slip)
    asked = on_disc(asked, contact.friction * max(push[0], 0.0))
    return max(map_of_gap(contact), largest(abs(rubs - asked)))


@kernel
def map_of_edges(system, contact):
    """Residual of the laws: of both edges of the cone if friction is associated."""
    if phase(system) != CONVEX:
        return map_of_coulomb(system, contact)
    P, mu = contact.P, contact.friction
    slip, share = dot(last_axis(P), rates_after(contact)), dot(last_axis(P), P) / (mu if mu > 0.0 else 1.0)
    gap, opened, push = contact.g / contact.scale, system.longest * mu * slip / contact.scale, 0.5 / contact.y_scale
    forward = abs(min(gap + opened, push * (P[0] + share)))
    return max(forward, abs(min(gap - opened, push * (P[0] - share))))


map_of_laws = by_option(map_of_coulomb, map_of_edges)  # (system, contact)


@kernel
def check_residuals(system):
    """Residuals of the step, from forces, gaps and directions evaluated again at its end, and from all impulses."""
    evaluate_end(system)
    worst, law, natural = 0.0, 0.0, 0.0
    for body in system.bodies:
        body.total = body.terms = zeros_like(body.total)
    for joint in system.joints:
        add_impulses(joint, joint.a.along, joint.b.along)
        worst = max(worst, largest(abs(joint.g)) / (system.reach + TINY))
    for contact in system.contacts:
        add_impulses(contact, contact.a.along, contact.b.along)
        law, natural = max(law, map_of_laws(system, contact)), max(natural, map_of_gap(contact))
    system.residual, system.complementarity = max(momentum_residual(system), max(worst, law)), natural
    return system.residual <= system.certified and plausible(system, system.longest)


@kernel
def is_impact(system, contact):
    """Whether its impulse is that of an impact, spread over the step that closes the gap and the next.

    It stops an approach; but not in a contact that lasts, whose direction turns by as much.
    """
    a, b, closing = contact.a, contact.b, -contact.start_rate
    terms = (abs(contact.start_a) @ abs(a.body.v) + abs(contact.start_b) @ abs(b.body.v))[0]
    lasts = contact.P_before[0] > 0.0 and closing <= abs(rates_before(contact)[0] + closing)
    approaches = closing > CLOSED_RATE * (terms + contact.scale / system.longest)
    return not contact.start_g <= CLOSED_GAP * contact.scale or (approaches and not lasts)


@kernel
def write_row(system):
    """Row of the step."""
    k, n, m, r = system.steps, len(system.bodies), len(system.contacts), len(system.reactions)
    row = system.step_rows[k]
    row.t, row.dt, row.residual, row.complementarity = system.t_next, system.dt, system.residual, system.complementarity
    row.work_drivers = row.work_drivers_impact = 0.0
    for i in range(r):
        of, one = system.reaction_rows[k * r + i], system.reactions[i]
        write_reaction(system, one, of)
        write_answer(one, of, False)
    for joint in system.joints:
        row.work_drivers -= dot(joint.P, joint.rate)
    loss = 0.0
    for i in range(m):
        contact, of = system.contacts[i], system.contact_rows[k * m + i]
        contact.after, contact.on = rates_after(contact), 1 if touches(contact) else 0
        contact.struck = 1 if contact.P[0] > 0.0 and is_impact(system, contact) else 0
        of.P, of.impact, of.mode = contact.P, contact.struck * contact.P, mode_of(contact)
        of.before, of.after = contact.start_rate, contact.after[0]
        if not contact.struck:
            slip = 0.5 * (contact.start_rates + contact.after)
            loss -= dot(contact.P, tangential(slip))
    row.loss_friction = loss
    for i in range(n):
        body, at = system.bodies[i], system.body_rows[k * n + i]
        at.q, at.v, at.v_left = body.at, body.v_next, body.v_next


@kernel
def accept(system):
    """Accept the step: its end is the start of the next one."""
    least_impulses(system)
    for joint in system.joints:
        joint.P_a = joint.answer = zeros_like(joint.P)
        joint.P_b = joint.P
    write_row(system)
    system.t, system.last_dt, struck = system.t_next, system.dt, 0
    for contact in system.contacts:
        struck += contact.struck
        if contact.closed and not contact.on:
            contact.left_at = system.t
        contact.closed, contact.start_rate, contact.start_rates = contact.on, contact.after[0], contact.after
    start_contacts(system)
    for body in system.bodies:
        # the change of velocity by an impact is not extrapolated
        body.gained = zeros_like(body.v) if struck else body.v_next - body.v
        body.q, body.v = body.at, body.v_next
    system.steps += 1
