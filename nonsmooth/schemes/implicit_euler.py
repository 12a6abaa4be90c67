"""Gauss' principle of least constraint by implicit Euler, at constant steps: the one text of it.

    M (v+ - v) = dt h(t+, q+, v+) + W(q+) P,       q+ = q moved by v+ for dt
    g(t+, q+) = 0 of joints,                       0 <= g_N(q+)  ⟂  P_N >= 0

with Coulomb's law between P_T and the slip W_T(q+)' v+: equations (10)-(14) of Chaturvedi, Sandu and Sandu. Joints and
gaps close at the end of the step in positions; impacts are plastic.

A step is passes with u, the velocity at the end that the pass before found: evaluate forces, directions and gaps where u
leads; linearise joints and gaps there; solve; and take the velocities that follow. They end where u no longer changes;
then residuals are evaluated afresh, and the step is committed.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import dot, largest, normal_axis, weighed, zeros_like
from nonsmooth.schemes import landing
from nonsmooth.schemes.half_kick import ACCEPTABLE, NOISE, SETTLED, settle, stand_at_end, unseen
from nonsmooth.schemes.landing import plausible
from nonsmooth.schemes.mechanism import (
    CLOSED_RATE,
    DONE,
    FULL,
    UNCERTAIN,
    balance,
    load,
    mode_of,
    press,
    rates_after,
    rates_before,
    rates_of_way,
    touches,
)
from nonsmooth.schemes.moreau_jean import next_time
from nonsmooth.schemes.program import (
    INFINITE,
    PROXIMAL,
    TINY,
    agree,
    couple,
    factor_joints,
    no_motion,
    pose_contact,
    solve,
    weigh,
)
from nonsmooth.schemes.rattle import react

#: passes of a step
PASSES = 100


# ---- a pass


@kernel
def guess(system):
    """Where u begins, as the step before suggests; which contacts are in the program from the start."""
    share = system.dt / system.last_dt
    for body in system.bodies:
        body.u = body.v + share * body.gained
    for joint in system.joints:
        joint.P = joint.P_near = zeros_like(joint.P)
    for contact in system.contacts:
        contact.P_before = contact.P
        contact.on = 1 if contact.P[0] > 0.0 else 0


@kernel
def stand(system):
    """Forces, gaps, joints and their directions where u leads; what closes there is in the program from now on."""
    stand_at_end(system, system.dt)
    load(system)
    for contact in system.contacts:
        if contact.g <= 0.0:
            contact.on = 1


@kernel
def pose(system):
    """The program: rates without impulses, and those that close joints and gaps, linearised where u leads."""
    dt = system.dt
    for body in system.bodies:
        body.v_next = body.v + weighed(dt * body.force, body.inverse_mass)
    factor_joints(system)
    for joint in system.joints:
        joint.b0 = rates_after(joint) - rates_of_way(joint) + joint.g / dt
    if system.ridge > 0.0:
        agree(system)
    for contact in system.contacts:
        if contact.on:
            weigh(contact)
            couple(contact)
            way = rates_of_way(contact)
            contact.shift = (contact.g / dt - way[0]) * normal_axis(way)
            pose_contact(contact, rates_after(contact) + contact.shift, system.proximal)


@piece
def iterate(system):
    """Passes until u no longer changes; whether it does not."""
    before, dt = 0.0, system.dt
    for k in range(PASSES):
        stand(system)
        pose(system)
        if not solve(system):
            return False
        change, size = settle(system)
        system.passes += 1
        if not change + size < INFINITE:
            return False
        noise = system.noise / dt
        enough = ACCEPTABLE * (size + TINY) + NOISE * noise + unseen(system) / dt
        if change <= SETTLED * size + noise or (k > 0 and change >= before and change <= enough):
            return True
        before = change
    return False


# ---- the end of a step


@kernel
def contact_error(system, contact):
    """Natural maps of gap and impulse and, with friction, of Coulomb's law, each by a size of its own."""
    push, slip = (1.0 / contact.y_scale) * contact.P, rates_after(contact)
    N = normal_axis(push)
    error = abs(min(contact.g / contact.scale, push[0]))
    rubs = push - push[0] * N
    pushed = rubs - (system.longest / contact.scale) * (slip - slip[0] * N)
    length, reach = math.sqrt(dot(pushed, pushed)), contact.friction * max(push[0], 0.0)
    if length > reach:
        pushed = (reach / length) * pushed
    return max(error, largest(abs(rubs - pushed)))


@kernel
def judge(system):
    """Residuals of the step, from forces, gaps and directions evaluated afresh where it ends, and from all impulses."""
    stand_at_end(system, system.dt)
    load(system)
    worst, law, natural = 0.0, 0.0, 0.0
    for body in system.bodies:
        body.total = body.terms = zeros_like(body.total)
    for joint in system.joints:
        press(joint, joint.a.along, joint.b.along)
        worst = max(worst, largest(abs(joint.g)) / (system.reach + TINY))
    for contact in system.contacts:
        press(contact, contact.a.along, contact.b.along)
        law = max(law, contact_error(system, contact))
        natural = max(natural, abs(min(contact.g / contact.scale, contact.P[0] / contact.y_scale)))
    system.residual, system.law, system.complementarity = max(worst, balance(system)), law, natural
    return max(system.residual, law) <= system.certified and plausible(system)


@kernel
def strikes(system, contact):
    """Whether its impulse is that of an impact, spread over the step that closes the gap and the next.

    It stops an approach; but not in a contact that lasts, whose direction turns by as much.
    """
    a, b, closing = contact.a, contact.b, -contact.start_rate
    if not contact.start_g <= landing.CLOSED_GAP * contact.scale:
        return True
    terms = (abs(contact.start_a) @ abs(a.body.v) + abs(contact.start_b) @ abs(b.body.v))[0]
    turned = abs(rates_before(contact)[0] - contact.start_rate)
    lasts = contact.P_before[0] > 0.0 and closing <= turned
    return closing > CLOSED_RATE * (terms + contact.scale / system.longest) and not lasts


@kernel
def keep(system):
    """Row of the step."""
    k, n, m, r = system.steps, len(system.bodies), len(system.contacts), len(system.reactions)
    row = system.step_rows[k]
    row.t, row.dt = system.t_next, system.dt
    row.residual, row.complementarity = max(system.residual, system.law), system.complementarity
    row.work_drivers = row.work_drivers_impact = 0.0
    for i in range(r):
        react(system, system.reactions[i], system.reaction_rows[k * r + i])
    for joint in system.joints:
        row.work_drivers -= dot(joint.P_b, joint.rate)
    loss = 0.0
    for i in range(m):
        contact, of = system.contacts[i], system.contact_rows[k * m + i]
        contact.after = rates_after(contact)
        contact.struck = 1 if contact.P[0] > 0.0 and strikes(system, contact) else 0
        contact.on = 1 if touches(contact) else 0
        of.P, of.impact, of.mode = contact.P, contact.struck * contact.P, mode_of(contact)
        of.before, of.after = contact.start_rate, contact.after[0]
        if not contact.struck:
            slip = 0.5 * (contact.start_rates + contact.after)
            loss -= dot(contact.P, slip - slip[0] * normal_axis(slip))
    row.loss_friction = loss
    for i in range(n):
        body, at = system.bodies[i], system.body_rows[k * n + i]
        at.q, at.v, at.v_left = body.at, body.v_next, body.v_next


@kernel
def latch(system):
    """What the next step begins with: contacts that are closed, gaps and rates."""
    for contact in system.contacts:
        if contact.closed and not contact.on:
            contact.left_at = system.t
        contact.closed = contact.on
        contact.start_a, contact.start_b = contact.a.along, contact.b.along
        contact.start_g, contact.start_rate, contact.start_rates = contact.g, contact.after[0], contact.after


@kernel
def commit(system):
    """The step is done: its end is the start of the next one."""
    if system.ridge > 0.0:  # of impulses that act alike the least
        for joint in system.joints:
            joint.y = joint.P
        no_motion(system)
        for joint in system.joints:
            joint.P = joint.P - joint.y
    for joint in system.joints:
        joint.P_a, joint.P_b, joint.answer = zeros_like(joint.P), joint.P, zeros_like(joint.P)
    for body in system.bodies:
        body.start = body.q
    keep(system)
    system.t, system.last_dt = system.t_next, system.dt
    latch(system)
    struck = 0
    for contact in system.contacts:
        struck += contact.struck
    for body in system.bodies:
        # what an impact has changed the next step does not
        body.gained = zeros_like(body.v) if struck else body.v_next - body.v
        body.q, body.v = body.at, body.v_next
    system.steps += 1


# ---- a step


@piece
def attempt(system):
    """A step of length dt; whether it is certified."""
    guess(system)
    return iterate(system) and judge(system)


@kernel
def give_up(system):
    """As before the attempt."""
    for contact in system.contacts:
        contact.P, contact.on = contact.P_before, 0
    for body in system.bodies:
        body.v_next = body.u = body.v
    system.ground.v_next = zeros_like(system.ground.v_next)  # which what is not finite would change


@kernel
def step(system):
    """One step; it is not committed where it is not certified, also not near the impulses of the pass before."""
    if not attempt(system):
        give_up(system)
        if system.proximal > 0.0 or not len(system.contacts):
            return UNCERTAIN
        system.proximal = PROXIMAL
        if not attempt(system):
            give_up(system)
            system.proximal = 0.0
            return UNCERTAIN
    commit(system)
    return DONE


def run(system, steps):
    """Up to so many steps; stops where rows are full, or where a step is not certified, its start left as it was."""
    for _ in range(steps):
        if not system.t < system.t_end:
            return DONE
        if system.steps >= len(system.step_rows):
            return FULL
        system.t_next = next_time(system)
        system.dt = system.t_next - system.t
        status = step(system)
        if status != DONE:
            return status
    return DONE


begin = landing.begin
