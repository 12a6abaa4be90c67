"""Moreau and Jean's scheme: the one text of it.

With u the velocity that carries the positions, q+ = q moved by u for dt, and forces at the point theta of the step,

    M (u - v)  = theta (dt h + W P) + W_g(q) P_a,            g(t+, q+) = 0
    M (v+ - u) = (1 - theta) (dt h + W P) + W_g(q+) P_b,     W_g(q+)' v+ = -g_t
    0 <= gamma_N+ + e min(gamma_N-, 0)  ⟂  P_N >= 0,  Coulomb's law between P_T and gamma_T+ + e_T gamma_T-

on the contacts that are closed where bodies stand in the middle of the step by their velocity v, with directions W
there. Joints close at the end of the step in positions and velocities, as in RATTLE; or, where the system says so, by
one impulse along their directions in the middle of the step, see `midpoint`.

A step is: look at contacts; passes of (load, joints, pose, solve, take) until u no longer changes; judge; commit.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import dot, normal_axis, weighed, zeros_like
from nonsmooth.schemes import midpoint, rattle
from nonsmooth.schemes.mechanism import (
    DONE,
    FULL,
    UNCERTAIN,
    balance,
    evaluate_all,
    law_error,
    law_shift,
    length,
    load,
    mode_of,
    move,
    natural_map,
    press,
    rates_after,
    rates_before,
    stand,
    stand_before,
    touches,
    zero_rate,
)
from nonsmooth.schemes.motion import moved
from nonsmooth.schemes.program import INFINITE, PROXIMAL, TINY, answer_of_joints, couple, pose_contact, solve, weigh

#: passes of a step
PASSES = 50
#: change of the velocity from pass to pass, as a share of its size, that ends them
CONVERGED = 1e-14
#: and that may end them where they no longer reduce it
ACCEPTABLE = 1e-11
#: an impulse of at most so many times that of the step before is that of a contact that lasts, not of an impact
LASTING = 2.0


# ---- before the program


@kernel
def look(system):
    """Which contacts are closed in the middle of the step, and what the laws add to their rates."""
    stand_before(system, 0.5 * system.dt)
    evaluate_all(system.surfaces)
    if system.midpoint:
        midpoint.look(system)
    for contact in system.contacts:
        contact.P_before = contact.P
        if touches(contact):
            weigh(contact)
            couple(contact)
            contact.before = rates_before(contact)
            contact.shift = law_shift(contact)
            contact.on = 1
        else:
            contact.on = 0
            contact.P = contact.before = contact.after = zeros_like(contact.P)


@kernel
def guess(system):
    """The velocity that carries positions, and impulses, as the step before suggests them."""
    share = system.theta * system.dt / system.last_dt
    for body in system.bodies:
        body.u = body.v + share * body.gained
        body.push = body.hold = zeros_like(body.push)
    for joint in system.joints:
        joint.P = joint.P_near = zeros_like(joint.P)
        joint.P_a_before = joint.P_a
        rattle.hold(joint, joint.P_a)
    for contact in system.contacts:
        if contact.on:
            contact.a.body.push += contact.P @ contact.a.along
            contact.b.body.push += contact.P @ contact.b.along


@kernel
def take_forces(system):
    """Forces at the point theta of the step, along u."""
    if system.varying:
        if system.midpoint:
            stand_before(system, system.theta * system.dt)
        else:
            stand(system, system.theta * system.dt)
    load(system)


@kernel
def pose(system):
    """The program: rates without the impulses of contacts and of joints at the end, and the laws linearised."""
    dt = system.dt
    for body in system.bodies:
        body.v_next = body.v + weighed(dt * body.force + body.hold, body.inverse_mass)
    if system.midpoint:
        midpoint.pose(system)
    else:
        rattle.pose(system)
    for contact in system.contacts:
        if contact.on:
            if len(system.joints):
                couple(contact)
            if system.proximal > 0.0:
                weigh(contact)
            pose_contact(contact, rates_after(contact) + contact.shift, system.proximal)


# ---- after it


@kernel
def take(system):
    """Velocities that follow the impulses; by how much u has changed, as a share of the size of velocities."""
    dt, change, size, settled = system.dt, 0.0, 0.0, 0.0
    for body in system.bodies:
        body.total = zeros_like(body.total)
    for joint in system.joints:
        joint.P_near = joint.P
        move(joint, joint.P)
    for contact in system.contacts:
        if contact.on:
            move(contact, contact.P)
            contact.a.body.total += contact.P @ contact.a.along
            contact.b.body.total += contact.P @ contact.b.along
    largest_kick, before, after = 0.0, 0.0, 0.0
    for body in system.bodies:
        by_forces = weighed(dt * body.force, body.inverse_mass)
        other = weighed(body.total - body.push, body.inverse_mass)
        body.push = body.total
        if system.midpoint:
            u = 0.5 * (body.v + body.v_next)
        else:
            by_contacts = weighed(body.push, body.inverse_mass)
            u = body.v + system.theta * (by_forces + by_contacts) + weighed(body.hold, body.inverse_mass)
        change += length(u - body.u, body.mass)
        settled += length(other, body.mass)
        largest_kick += length(by_forces, body.mass)
        before += length(body.v, body.mass)
        after += length(body.v_next, body.mass)
        body.u = u
    system.size = math.sqrt(before) + math.sqrt(after) + math.sqrt(largest_kick)
    size = system.size + system.noise / (dt * CONVERGED)
    return (math.sqrt(change) + math.sqrt(settled)) / max(size, TINY)


@kernel
def one_pass(system):
    """Whether the program was solved, and how much u has changed."""
    take_forces(system)
    if not system.midpoint and len(system.joints):
        rattle.close(system)
    pose(system)
    if not solve(system):
        return False, 0.0
    system.passes += 1
    return True, take(system)


@kernel
def iterate(system):
    """Passes until u no longer changes; whether it does not."""
    before = 0.0
    for k in range(PASSES):
        solved, change = one_pass(system)
        if not (solved and change + system.size < INFINITE):
            return False
        if not (system.varying or len(system.joints)):
            return True
        if change <= CONVERGED or (k > 0 and change >= before and change <= ACCEPTABLE):
            return True
        before = change
    return False


# ---- the end of a step


@kernel
def judge(system):
    """Residuals of the step, from forces and joints evaluated afresh and from all impulses."""
    take_forces(system)
    for body in system.bodies:
        body.total, body.terms = body.hold, abs(body.hold)
    worst, law, natural = 0.0, 0.0, 0.0
    if len(system.joints):
        worst = midpoint.error(system) if system.midpoint else rattle.error(system)
    for joint in system.joints:
        press(joint, joint.a.along, joint.b.along)
    for contact in system.contacts:
        if contact.on:
            press(contact, contact.a.along, contact.b.along)
            contact.after = rates_after(contact)
            law = max(law, law_error(contact))
            natural = max(natural, natural_map(system, contact))
    system.residual, system.law, system.complementarity = max(worst, balance(system)), law, natural
    return system.residual <= system.certified and law <= system.certified


@kernel
def strike(system):
    """Which contacts have an impact in the step; v_left, the velocity before it, and what joints answer."""
    struck = False
    for body in system.bodies:
        body.sizes = abs(body.v)
    for contact in system.contacts:
        # one that has pressed as hard before lasts, and approaches because its direction turns
        lasts = contact.P[0] > 0.0 and contact.P[0] <= LASTING * contact.P_before[0]
        if contact.on and not lasts and contact.before[0] < -zero_rate(system, contact):
            struck = True
    for body in system.bodies:
        body.left = body.v_next
    for joint in system.joints:
        joint.answer = zeros_like(joint.answer)
    for contact in system.contacts:
        contact.struck = 1 if struck and contact.on and contact.P[0] > 0.0 else 0
    if struck:
        part_with(system)
    return struck


@kernel
def part_with(system):
    """v_left without the impulses of contacts, which are those of an impact, and without what joints answer to them."""
    for body in system.bodies:
        body.jump = weighed(body.push, body.inverse_mass)
        body.left = body.v_next - body.jump
    for joint in system.joints:
        joint.b0 = joint.a.along @ joint.a.body.jump + joint.b.along @ joint.b.body.jump
    answer_of_joints(system)
    for joint in system.joints:
        joint.answer = joint.y
        joint.a.body.left -= joint.y @ joint.a.moves
        joint.b.body.left -= joint.y @ joint.b.moves


@kernel
def keep(system):
    """Row of the step."""
    dt, k = system.dt, system.steps
    n, m, r = len(system.bodies), len(system.contacts), len(system.reactions)
    row = system.step_rows[k]
    row.t, row.dt = system.t_next, dt
    row.residual, row.complementarity = system.residual, system.complementarity
    row.work_drivers = row.work_drivers_impact = 0.0
    for i in range(r):
        of, one = system.reaction_rows[k * r + i], system.reactions[i]
        if system.midpoint:
            midpoint.react(system, one, of)
        else:
            rattle.react(system, one, of)
    for joint in system.joints:
        row.work_drivers -= dot(joint.P_a, joint.rate_start) + dot(joint.P_b + joint.answer, joint.rate)
        row.work_drivers_impact -= dot(joint.answer, joint.rate)
    loss = 0.0
    for i in range(m):
        contact, of = system.contacts[i], system.contact_rows[k * m + i]
        of.P, of.impact, of.mode = contact.P, contact.struck * contact.P, mode_of(contact)
        of.before, of.after = contact.before[0], contact.after[0]
        if contact.on and not contact.struck:
            slip = 0.5 * (contact.before + contact.after)
            loss -= dot(contact.P, slip - slip[0] * normal_axis(slip))
    row.loss_friction = loss
    for i in range(n):
        body, at = system.bodies[i], system.body_rows[k * n + i]
        at.q, at.v, at.v_left = body.q, body.v, body.left


@kernel
def commit(system):
    """The step is done: its end is the start of the next one."""
    strike(system)
    if system.ridge > 0.0:
        rattle.least(system)
    for joint in system.joints:
        joint.P_b = joint.P - joint.answer
    for body in system.bodies:
        body.gained = body.v_next - body.v
        body.start = body.q
        if system.midpoint:
            body.q = moved(moved(body.q, body.v, 0.5 * system.dt), body.v_next, 0.5 * system.dt)
        else:
            body.q = moved(body.q, body.u, system.dt)
        body.v = body.v_next
    keep(system)
    if system.midpoint:
        midpoint.hand_on(system)
    else:
        rattle.hand_on(system)
    system.t, system.last_dt = system.t_next, system.dt
    system.steps += 1


@piece
def attempt(system):
    """A step of length dt; whether it is certified."""
    look(system)
    guess(system)
    return iterate(system) and judge(system)


@kernel
def give_up(system):
    """As before the attempt."""
    for contact in system.contacts:
        contact.P, contact.on = contact.P_before, 0
    for joint in system.joints:
        joint.P_a = joint.P_a_before
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


@kernel
def next_time(system):
    """On the grid of steps; the last one is cut at the end of the run."""
    t, dt = system.t, system.longest
    end = system.origin + (math.floor((t - system.origin) / dt + 1e-6) + 1.0) * dt
    return end if end < system.t_end - 1e-9 * dt else system.t_end


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


def begin(system):
    """What joints remember of a step before the start."""
    system.dt = system.longest
    if system.midpoint:
        midpoint.begin(system)
    else:
        rattle.begin(system)
    return DONE
