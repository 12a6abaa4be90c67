"""Changes of velocity at the end of an event-locating step: its second half, and the impact.

    M (v+ - v) = W P,    W_g' v+ = -g_t,    0 <= gamma_N+ + e min(gamma_N, 0)  ⟂  P_N >= 0,  Coulomb's law

on the contacts in the program, with directions at the end of the step. By Poisson's law an impact is two of them:
compression with e = 0, whose impulses are P_c, and expansion with e = 0 and P_N >= e P_c in the place of P_N >= 0.
"""

from nonsmooth.compile.kernels import kernel, piece, rare
from nonsmooth.records.values import normal_axis, weighed, zeros_like
from nonsmooth.schemes.mechanism import body_error, law_error, move, press, rates_after, rebound, touches, zero_rate
from nonsmooth.schemes.program import agree, answer_of_joints, couple, pose_contact, solve, weigh


@kernel
def law_of_rates(system):
    """Residual of the laws at v_next."""
    worst = 0.0
    for contact in system.contacts:
        if contact.on:
            worst = max(worst, law_error(system, contact, contact.least if system.expands else 0.0))
    return worst


@piece
def change_velocity(system):
    """From v_next, by impulses of joints and of the contacts that are on; whether they were found.

    Bodies' `left` is the velocity before; `shift` of contacts is what their laws add to the rates.
    """
    for body in system.bodies:
        body.left = body.v_next
    rounds = 3 if system.ridge > 0.0 or system.proximal > 0.0 else 1
    for joint in system.joints:
        joint.P = joint.P_near = zeros_like(joint.P)
    for contact in system.contacts:
        contact.P = zeros_like(contact.P)
    for _ in range(rounds):
        for body in system.bodies:
            body.v_next = body.left
        for joint in system.joints:
            joint.b0 = rates_after(joint) + joint.rate
        if system.ridge > 0.0:
            agree(system)
        for contact in system.contacts:
            if contact.on:
                weigh(contact)
                couple(contact)
                pose_contact(contact, rates_after(contact) + contact.shift, system.proximal)
        if not solve(system):
            return False
        for joint in system.joints:
            joint.P_near = joint.P
            move(joint, joint.P)
        for contact in system.contacts:
            if contact.on:
                move(contact, contact.P)
    return True


@kernel
def certify(system):
    """Residuals of a change of velocity, of which there may be several in an impact."""
    system.residual, system.law = max(system.residual, balance(system)), max(system.law, law_of_rates(system))


@rare
def expand(system):
    """From v_next, by normal impulses of at least `least` of the contacts that are on; whether they were found."""
    system.expands = 1
    for contact in system.contacts:
        contact.shift = zeros_like(contact.P)
    found = change_velocity(system)
    certify(system)
    system.expands = 0
    return found


@rare
def rebound_within(system):
    """The expansion of contacts that have closed within the step, whose compression is the whole step; whether it was
    found."""
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


@rare
def impact(system):
    """The impact of the contacts that are on, from v_next; whether it was found.

    Its impulses are in `impact` of contacts and `answer` of joints, its residuals in `residual` and `law`.
    """
    system.residual = system.law = 0.0
    returns = False
    for body in system.bodies:
        body.reached = body.v_next
    for contact in system.contacts:
        if contact.on and system.law_of_impact > 0:
            returns = returns or rebound(contact, rates_after(contact)[0]) < 0.0
            contact.shift = zeros_like(contact.P)
    if not change_velocity(system):
        return False
    certify(system)
    for joint in system.joints:
        joint.answer = joint.P
    for contact in system.contacts:
        contact.impact = contact.P if contact.on else zeros_like(contact.P)
        contact.least = contact.restitution * contact.impact[0]
    if returns:  # also of contacts that approach more slowly than their threshold, but not of these alone
        if not expand(system):
            return False
        for joint in system.joints:
            joint.answer += joint.P
        for contact in system.contacts:
            contact.impact += contact.P if contact.on else zeros_like(contact.P)
    for body in system.bodies:
        body.left = body.reached
    return True


@kernel
def strikes(system):
    """Which contacts an impact is on, in `on`: closed ones, and, with one that has just closed, those that would close
    within the shortest flight. Whether one approaches; what the law adds to rates."""
    fresh, approaches = False, False
    for contact in system.contacts:
        fresh = fresh or (touches(contact) and not contact.closed)
    for contact in system.contacts:
        rate = rates_after(contact)
        closing = fresh and contact.g < -system.shortest * rate[0]
        contact.on = 1 if touches(contact) or closing else 0
        if contact.on and rate[0] < -zero_rate(system, contact):
            approaches = True
        N = normal_axis(rate)
        contact.shift = rebound(contact, rate[0]) * N + contact.tangential * (rate - rate[0] * N)
    return approaches


@kernel
def gather(system):
    """Impulses of all bonds in the program on bodies, and their sizes."""
    for body in system.bodies:
        body.total = body.terms = zeros_like(body.total)
    for joint in system.joints:
        press(joint, joint.a.along, joint.b.along)
    for contact in system.contacts:
        if contact.on:
            press(contact, contact.a.along, contact.b.along)


@kernel
def balance(system):
    """Residual of a change of velocity from `left` to v_next."""
    worst = 0.0
    gather(system)
    for body in system.bodies:
        worst = max(worst, body_error(system, body, body.left, body.v_next, body.total))
    return worst


@kernel
def rates_left(bond):
    return bond.a.along @ bond.a.body.left + bond.b.along @ bond.b.body.left


@kernel
def take_back(system):
    """Velocity before the impulse that ends short rebounds in the step, which counts as an impact, joints included."""
    for body in system.bodies:
        body.total = zeros_like(body.total)
    for contact in system.contacts:
        contact.a.body.total += contact.impact @ contact.a.along
        contact.b.body.total += contact.impact @ contact.b.along
    for body in system.bodies:
        body.jump = weighed(body.total, body.inverse_mass)
        body.left = body.v_next - body.jump
    for joint in system.joints:
        joint.b0 = joint.a.along @ joint.a.body.jump + joint.b.along @ joint.b.body.jump
    answer_of_joints(system)
    for joint in system.joints:
        joint.P_b = joint.P_b + joint.answer - joint.y
        joint.answer = joint.y
        joint.a.body.left -= joint.y @ joint.a.moves
        joint.b.body.left -= joint.y @ joint.b.moves
