"""Changes of velocity at the end of an event-locating step: its second half, and the impact.

    M (v+ - v) = W P,    W_g' v+ = -g_t,    0 <= gamma_N+ + e min(gamma_N, 0)  ⟂  P_N >= 0,  Coulomb's law

on the contacts in the program, with directions at the end of the step. By Poisson's law an impact is two of them:
compression with e = 0, whose impulses are P_c, and expansion with e = 0 and P_N >= e P_c in the place of P_N >= 0.
"""

from nonsmooth.compile.kernels import has_incremental_laws, has_other_laws, kernel, piece
from nonsmooth.compile.records.values import zeros_like
from nonsmooth.step.along_impulse import follow
from nonsmooth.step.impact_fields import INCREMENTAL
from nonsmooth.step.mechanism import (
    add_impulses,
    apply_all_impulses,
    body_residual,
    joint_residual,
    law_residual,
    law_shift,
    leave_out_impacts,
    rates_after,
    rebound,
    touches,
    zero_rate,
)
from nonsmooth.step.program import assemble_contact, make_consistent, solve


@kernel
def law_of_rates(system):
    """Residual of the laws at v_next."""
    worst = 0.0
    for contact in system.contacts:
        if contact.on:
            least = contact.least if has_other_laws(system) and system.phase_of_impact else 0.0
            worst = max(worst, law_residual(system, contact, rates_after(contact), least))
    return worst


@piece
def solve_velocities(system):
    """v_next changed by impulses of joints and of the contacts that are on; whether they were found."""
    for joint in system.joints:
        joint.P_near = joint.P
        joint.b0 = rates_after(joint) + joint.rate
    if system.ridge > 0.0:
        make_consistent(system)
    for contact in system.contacts:
        if contact.on:
            assemble_contact(contact, rates_after(contact) + contact.velocity_offset, system.proximal)
    if not solve(system):
        return False
    apply_all_impulses(system)
    return True


@kernel
def change_velocity(system):
    """From v_next, by impulses of joints and of the contacts that are on; whether they were found. Bodies' `left` is
    the velocity before; `velocity_offset` of contacts is what their laws add to the rates."""
    for contact in system.contacts:
        contact.P = zeros_like(contact.P)
    return change_velocity_from(system)


@piece
def change_velocity_from(system):
    """Change v_next, from the present impulses of contacts, as `change_velocity` does."""
    for body in system.bodies:
        body.left = body.v_next
    for joint in system.joints:
        joint.P = zeros_like(joint.P)
    rounds = 3 if system.ridge > 0.0 or system.proximal > 0.0 else 1
    for _ in range(rounds):
        for body in system.bodies:
            body.v_next = body.left
        if not solve_velocities(system):
            return False
    return True


@kernel
def certify_change(system):
    """Residuals of a change of velocity, of which there may be several in an impact."""
    system.residual, system.law = max(system.residual, change_residual(system)), max(system.law, law_of_rates(system))


@piece
def expand(system):
    """From v_next, by normal impulses of at least `least` of the contacts that are on; whether they were found."""
    system.phase_of_impact = 1
    for contact in system.contacts:
        contact.velocity_offset = zeros_like(contact.P)
    found = change_velocity(system)
    certify_change(system)
    system.phase_of_impact = 0
    return found


@piece
def expand_within(system):
    """The expansion of contacts that closed within the step, which was their compression; whether it is found."""
    returned = 0.0
    for contact in system.contacts:
        contact.least *= contact.first[0] + contact.second[0]
        returned = max(returned, contact.least)
    if not returned > 0.0:
        return True
    if not expand(system):
        return False
    for joint in system.joints:
        joint.P_b += joint.P
    for contact in system.contacts:
        contact.second += contact.P if contact.on else zeros_like(contact.P)
    return True


@piece
def impact_along(system):
    """The impact by a law that is integrated along the impulse; decayed rounds end with a plastic impact."""
    system.residual = system.law = 0.0
    found, decayed = follow(system)
    for body in system.bodies:
        body.left = body.reached
    for joint in system.joints:
        joint.P = joint.answer
        system.residual = max(system.residual, joint_residual(system, joint, rates_left(joint)))
    for one in system.impacts:
        contact = one.contact
        contact.P, contact.on = contact.impact, one.closed
    system.residual = max(system.residual, change_residual(system))
    if found and decayed:
        for one in system.impacts:
            one.contact.on, one.contact.velocity_offset = one.touched, zeros_like(one.contact.velocity_offset)
        found = change_velocity(system)
        certify_change(system)
        for joint in system.joints:
            joint.answer += joint.P
        for one in system.impacts:
            one.contact.impact += one.contact.P if one.contact.on else zeros_like(one.contact.P)
    for one in system.impacts:
        one.contact.on = one.closed
    return found


@kernel
def impact_by_newton(system):
    """The impact of the contacts that are on, from v_next; whether it was found. Its impulses are in `impact` of
    contacts and `answer` of joints, its residuals in `residual` and `law`."""
    system.residual = system.law = 0.0
    if not change_velocity(system):
        return False
    certify_change(system)
    for joint in system.joints:
        joint.answer = joint.P
    for contact in system.contacts:
        contact.impact = contact.P if contact.on else zeros_like(contact.P)
    return True


@piece
def impact_by_poisson(system):
    """The impact by Poisson's law, in two phases."""
    returns = False
    for contact in system.contacts:
        if contact.on:
            returns = returns or rebound(contact, rates_after(contact)[0]) < 0.0
            contact.velocity_offset = zeros_like(contact.P)
    if not impact_by_newton(system):
        return False
    if not returns:  # contacts that approach more slowly than their threshold return impulses, but not these alone
        return True
    for contact in system.contacts:
        contact.least = contact.restitution * contact.impact[0]
    if not expand(system):
        return False
    for joint in system.joints:
        joint.answer += joint.P
    for contact in system.contacts:
        contact.impact += contact.P if contact.on else zeros_like(contact.P)
    return True


@kernel
def impact(system):
    """The impact by the law of the system; `left` of bodies is the velocity before it."""
    if has_other_laws(system):
        for body in system.bodies:
            body.reached = body.v_next
        if system.law_of_impact == 0:
            found = impact_by_newton(system)
        elif system.law_of_impact < INCREMENTAL:
            found = impact_by_poisson(system)
        else:
            found = has_incremental_laws(system) and impact_along(system)
        for body in system.bodies:
            body.left = body.reached
        return found
    return impact_by_newton(system)


@kernel
def select_impacting(system):
    """Contacts of the impact, in `on`: closed ones and, if one has just closed, those that would close within the
    shortest flight; terms of the impact law. Whether one approaches."""
    fresh, approaches = False, False
    for contact in system.contacts:
        fresh = fresh or (touches(contact) and not contact.closed)
    for contact in system.contacts:
        rate = rates_after(contact)
        closing = fresh and contact.g < -system.shortest * rate[0]
        contact.on = 1 if touches(contact) or closing else 0
        if contact.on and rate[0] < -zero_rate(system, contact):
            approaches = True
        contact.velocity_offset = law_shift(contact, rate, True)
    return approaches


@kernel
def change_residual(system):
    """Residual of a change of velocity from `left` to v_next."""
    worst = 0.0
    for body in system.bodies:
        body.total = body.terms = zeros_like(body.total)
    for joint in system.joints:
        add_impulses(joint, joint.a.directions, joint.b.directions)
    for contact in system.contacts:
        if contact.on:
            add_impulses(contact, contact.a.directions, contact.b.directions)
    for body in system.bodies:
        worst = max(worst, body_residual(system, body, body.left, body.v_next, body.total))
    return worst


@kernel
def rates_left(bond):
    return bond.a.directions @ bond.a.body.left + bond.b.directions @ bond.b.body.left


@kernel
def take_back(system):
    """Velocity before the impulse that ends short rebounds in the step, which counts as an impact."""
    for joint in system.joints:
        joint.P_b += joint.answer
    leave_out_impacts(system)
    for joint in system.joints:
        joint.P_b -= joint.answer
