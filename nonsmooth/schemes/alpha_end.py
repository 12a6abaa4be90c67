"""The end of a step of generalised alpha: its residuals, the impact in it, and its row."""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import dot, largest, normal_axis, trace, weighed, zeros_like
from nonsmooth.schemes import rattle
from nonsmooth.schemes.accelerations import extrapolate_velocities, newmark_weights
from nonsmooth.schemes.joint_forces import write_answer
from nonsmooth.schemes.mechanism import (
    add_impulses,
    body_residual,
    joint_residual,
    law_residual,
    leave_out_impacts,
    mode_of,
    rates_after,
    rebound,
    start_contacts,
    start_joints,
    tangential,
)
from nonsmooth.schemes.motion import inverse_mass
from nonsmooth.schemes.program import motionless_component
from nonsmooth.schemes.velocity_change import solve_velocities
from nonsmooth.tolerances import FLOOR, PRESSING, TINY

# ---- impulses of the step


@kernel
def between(system, at_start, at_end):
    """Directions of the step's impulses."""
    return 0.5 * (at_start + at_end) if system.mean else at_end


@kernel
def add_step_impulses(bond, start_a, start_b, system):
    """Impulses of a bond, along the directions of the step, among those on its bodies."""
    add_impulses(bond, between(system, start_a, bond.a.along), between(system, start_b, bond.b.along))


# ---- velocities


@piece
def find_velocities(system):
    """v_next from the accelerations, by impulses of joints and of the contacts that are on; whether they were found."""
    gamma, _ = newmark_weights(system)
    extrapolate_velocities(system, 1.0 - gamma, gamma)
    for body in system.bodies:
        body.v_next += weighed(body.lag, inverse_mass(body))
    return solve_velocities(system)


# ---- residuals


@kernel
def momentum_error(system, body, after, old, new):
    """Of the balance from v to `after`, with the pseudo-accelerations weighed and the impulses in `total`."""
    first, second = weighed(old * body.pseudo, body.mass), weighed(new * body.pseudo_next, body.mass)
    body.terms += system.dt * (abs(first) + abs(second))
    return body_residual(system, body, body.v, after, system.dt * (first + second) + body.total)


@kernel
def velocity_error(system):
    """Of v+, from all impulses."""
    gamma, _ = newmark_weights(system)
    worst = 0.0
    for body in system.bodies:
        body.total = body.terms = zeros_like(body.total)
    for joint in system.joints:
        add_step_impulses(joint, joint.along_a, joint.along_b, system)
    for contact in system.contacts:
        if contact.on:
            add_step_impulses(contact, contact.start_a, contact.start_b, system)
    for body in system.bodies:
        worst = max(worst, momentum_error(system, body, body.v_next, 1.0 - gamma, gamma))
    return worst


@kernel
def displacement_error(system):
    """Of u."""
    _, beta = newmark_weights(system)
    worst = 0.0
    for body in system.bodies:
        body.total, body.terms = body.drag, abs(body.drag)
    for joint in system.joints:
        add_displacement_impulses(joint)
    for contact in system.contacts:
        add_displacement_impulses(contact)
    for body in system.bodies:
        worst = max(worst, momentum_error(system, body, body.u, 0.5 - beta, beta))
    return worst


@kernel
def add_displacement_impulses(bond):
    """Impulses S of a bond among those on its bodies."""
    P = bond.P
    bond.P = bond.S
    add_impulses(bond, bond.a.along, bond.b.along)
    bond.P = P


@kernel
def smooth_error(system):
    """Of the accelerations without contacts, as velocities over the step."""
    dt, worst = system.dt, 0.0
    for body in system.bodies:
        body.total = dt * body.force
        body.terms = abs(body.total)
    for joint in system.joints:
        for_a, for_b = (dt * joint.lam_next) @ joint.a.along, (dt * joint.lam_next) @ joint.b.along
        joint.a.body.total += for_a
        joint.b.body.total += for_b
        joint.a.body.terms += abs(for_a)
        joint.b.body.terms += abs(for_b)
    for body in system.bodies:
        worst = max(worst, body_residual(system, body, zeros_like(body.v), dt * body.smooth_next, body.total))
    return worst


@kernel
def acceleration_error(system, joint):
    """Second derivative of a joint's rows at the end, contacts left aside, as a rate over the step."""
    dt, a, b = system.dt, joint.a, joint.b
    by_a, by_b, bend = dt * a.body.smooth_next, dt * b.body.smooth_next, dt * joint.bend
    terms = abs(a.along) @ abs(by_a) + abs(b.along) @ abs(by_b) + abs(bend)
    floor = FLOOR * math.sqrt(trace(joint.W)) * system.size
    return largest(abs(a.along @ by_a + b.along @ by_b + bend)) / max(largest(terms) + floor, TINY)


@kernel
def natural_map(system, contact):
    """min(gap, impulse) of the displacement and min(velocity, impulse) of closed contacts, each with its own scale."""
    per_scale = 1.0 / contact.scale
    per_impulse = system.longest * contact.W[0][0] * per_scale
    found = abs(min(contact.g * per_scale, contact.S[0] * per_impulse))
    if contact.on:
        rate = contact.after[0] + rebound(contact, contact.before[0])
        found = max(found, abs(min(rate * system.dt * per_scale, contact.P[0] * per_impulse)))
    return found


@kernel
def check_residuals(system):
    """Residuals of the step, from forces and directions at its end and from all impulses; whether it is certified."""
    worst, law, natural = max(max(velocity_error(system), displacement_error(system)), smooth_error(system)), 0.0, 0.0
    for joint in system.joints:
        worst = max(worst, joint_residual(system, joint, -joint.rate), acceleration_error(system, joint))
        worst = max(worst, largest(abs(joint.g)) / (system.reach + TINY))
    for contact in system.contacts:
        contact.after = rates_after(contact)
        if contact.on:
            law = max(law, law_residual(system, contact, contact.after))
        natural = max(natural, natural_map(system, contact))
    system.residual, system.law, system.complementarity = worst, law, natural
    return max(max(worst, law), natural) <= system.certified


# ---- the impact


@piece
def separate_impact(system):
    """v_left, the velocity at the end without the impact in the step, and the impulses of the impact.

    Contacts that close, or that approach or open at the start, have impacts. Persistent ones may transmit them: their
    own impulses are those of a step without the others, the remainder is that of the impact. Whether it was found.
    """
    strikes, lasting = False, False
    for contact in system.contacts:
        contact.struck = 1 if contact.on and not contact.lasts else 0
        if contact.struck and contact.P[0] > 0.0:
            strikes = True
        if contact.on and contact.lasts:
            lasting = True
        contact.impact = contact.struck * contact.P
    for joint in system.joints:
        joint.answer = zeros_like(joint.answer)
    for body in system.bodies:
        body.left = body.v_next
    if strikes and lasting:
        return leave_out_impacting(system)
    if strikes:
        leave_out_impacts(system)
    return True


@kernel
def leave_out_impacting(system):
    """Velocities at the end again, with lasting contacts alone."""
    gamma, _ = newmark_weights(system)
    for body in system.bodies:
        body.reached = body.v_next
    extrapolate_velocities(system, 1.0 - gamma, gamma)
    for joint in system.joints:
        joint.kept = joint.P
    for contact in system.contacts:
        contact.kept = contact.P
        if contact.struck:
            contact.on, contact.P = 0, zeros_like(contact.P)
    found = solve_velocities(system)
    for body in system.bodies:
        body.left, body.v_next = body.v_next, body.reached
    for joint in system.joints:
        joint.answer, joint.P = joint.kept - joint.P, joint.kept
    for contact in system.contacts:
        if contact.struck:
            contact.on = 1
        contact.impact, contact.P = contact.kept - contact.P, contact.kept
    return found


@kernel
def is_in_impact(contact):
    """Whether the contact is involved in an impact."""
    return contact.impact[0] > (PRESSING * contact.P[0] if contact.lasts else 0.0)


# ---- its row, and the next step


@piece
def least_forces(system):
    """If rows are redundant: the equivalent joint forces at both ends and impulses of the impact of least norm."""
    for joint in system.joints:
        joint.y = joint.answer
    motionless_component(system)
    for joint in system.joints:
        joint.answer = joint.answer - joint.y
        joint.kept, joint.P = joint.P, joint.P_b
    rattle.choose_least_impulses(system)
    for joint in system.joints:
        joint.P_b, joint.P = joint.P, joint.kept


@kernel
def has_impact(system):
    """Whether a contact has closed, or has approached or opened at the start."""
    for contact in system.contacts:
        if contact.struck:
            return True
    return False


@kernel
def write_joints(system, row):
    """Reactions as means over the step, those of the impact separately; work of drivers."""
    k, r, dt, strikes = system.steps, len(system.reactions), system.dt, has_impact(system)
    row.work_drivers = row.work_drivers_impact = 0.0
    for joint in system.joints:
        joint.P_a = (0.5 * dt) * joint.lam
        joint.P_b = (0.5 * dt) * joint.lam_next + joint.P - joint.answer
        rate = joint.rate if strikes else 0.5 * (joint.rate_start + joint.rate)
        smooth = dot(joint.P_a, joint.rate_start) + (0.5 * dt) * dot(joint.lam_next, joint.rate)
        row.work_drivers -= smooth + dot(joint.P, rate)
        row.work_drivers_impact -= dot(joint.answer, joint.rate)
    if system.ridge > 0.0:
        least_forces(system)
    for i in range(r):
        of, one = system.reaction_rows[k * r + i], system.reactions[i]
        rattle.write_reaction(system, one, of)
        write_answer(one, of, strikes)


@kernel
def write_contacts(system, row):
    """Impulses, those of the impact separately, and gap velocities; frictional loss outside impacts."""
    k, m, loss = system.steps, len(system.contacts), 0.0
    for i in range(m):
        contact, of = system.contacts[i], system.contact_rows[k * m + i]
        hit = is_in_impact(contact)
        of.P, of.mode = contact.P, mode_of(contact)
        of.before, of.after = contact.before[0], contact.after[0]
        normal = contact.impact[0] if hit else 0.0
        share = 1.0 if contact.struck or hit else 0.0
        of.impact = normal * normal_axis(contact.P) + share * tangential(contact.P)
        if contact.on:
            a, b = contact.a, contact.b
            slip = between(system, contact.start_a, a.along) @ (0.5 * (a.body.v + a.body.v_next))
            slip += between(system, contact.start_b, b.along) @ (0.5 * (b.body.v + b.body.v_next))
            loss -= dot(contact.P - contact.impact, tangential(slip))
    row.loss_friction = loss


@kernel
def write_row(system):
    """Row of the step."""
    k, n = system.steps, len(system.bodies)
    row = system.step_rows[k]
    row.t, row.dt = system.t_next, system.dt
    row.residual, row.complementarity = system.residual, system.complementarity
    write_joints(system, row)
    write_contacts(system, row)
    for i in range(n):
        body, at = system.bodies[i], system.body_rows[k * n + i]
        at.q, at.v, at.v_left = body.at, body.v_next, body.left


@kernel
def start_next_step(system):
    """The end of a step is the start of the next one; where an impact made accelerations jump, a starts anew from b."""
    strikes = has_impact(system)
    for contact in system.contacts:
        contact.P = (1.0 if contact.on and not is_in_impact(contact) else 0.0) * contact.P
    start_contacts(system)
    start_joints(system)
    for joint in system.joints:
        joint.lam = joint.lam_next
        joint.P = (0.0 if strikes else 1.0) * joint.P
    for body in system.bodies:
        body.q, body.v, body.smooth = body.at, body.v_next, body.smooth_next
        body.pseudo = body.smooth_next if strikes else body.pseudo_next
    system.t, system.last_dt = system.t_next, system.dt
    system.steps += 1
