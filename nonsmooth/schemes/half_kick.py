"""The first half of an event-locating step: Gauss' principle for a trial step size.

    M (u - v) = dt/2 h + W(q) P,       q+ = q moved by u for dt,   g(q+) = 0,   0 <= g_N(q+)  ⟂  P_N >= 0

on the contacts in the program, with forces h at the midpoint of the step. A trial does not change its initial data, so
that another step size can be tried.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import largest, normal_axis, weighed, zeros_like
from nonsmooth.schemes.mechanism import (
    body_error,
    evaluate_all,
    length,
    load,
    move_all,
    press,
    rates_after,
    rates_of_way,
    stand,
)
from nonsmooth.schemes.program import INFINITE, agree, couple, factor_joints, pose_contact, solve, weigh
from nonsmooth.schemes.secants import change_of_u, go_on
from nonsmooth.schemes.velocity_change import law_of_rates
from nonsmooth.tolerances import TINY
from nonsmooth.tolerances.gauss import ACCEPTABLE

#: iterations of a momentum update at most, and relative change of u that ends them: a located gap, from which the step
#: size follows, is more accurate than the end of a step of constant size has to be
PASSES, SETTLED = 60, 1e-15
#: multiple of the round-off of joints that suffices as a change of u if iterations no longer reduce it
NOISE = 1e3
#: share of its clearance that is a gap's round-off
UNSEEN = 1e-12


@kernel
def look_back(bond, a, b):
    """Restore the directions at the start of the step."""
    bond.a.along, bond.b.along = a, b


@kernel
def kick(system, dt):
    """Forces at the midpoint of the motion by u for dt; velocities after their impulse of half a step."""
    stand(system, 0.5 * dt)
    load(system)
    for body in system.bodies:
        body.v_next = body.v + weighed((0.5 * dt) * body.force, body.inverse_mass)


@kernel
def stand_at_end(system, dt):
    """Gaps, joints and their directions after the motion by u for dt."""
    stand(system, dt)
    evaluate_all(system.surfaces)
    evaluate_all(system.constraints)


@kernel
def pose_start(system, dt, first):
    """The program of the half step: impulses along the directions at the start close the active gaps at its end."""
    for joint in system.joints:
        look_back(joint, joint.along_a, joint.along_b)
        joint.shift = joint.g / dt - rates_of_way(joint)
    if first:
        factor_joints(system)
    for joint in system.joints:
        joint.b0 = rates_after(joint) + joint.shift
    if system.ridge > 0.0:
        agree(system)
    for contact in system.contacts:
        if contact.on:
            look_back(contact, contact.start_a, contact.start_b)
            weigh(contact)
            couple(contact)
            way = rates_of_way(contact)
            contact.shift = (contact.g / dt - way[0]) * normal_axis(way)
            pose_contact(contact, rates_after(contact) + contact.shift, system.proximal)


@kernel
def settle(system, dt):
    """Velocities from the impulses, in which forces act for dt; their distance from u in the mass metric, and the share
    of the secant."""
    for joint in system.joints:
        joint.P_near = joint.P
    move_all(system)
    size = 0.0
    for body in system.bodies:
        kick = weighed(dt * body.force, body.inverse_mass)
        size += length(body.v_next, body.mass) + length(body.v, body.mass) + length(kick, body.mass)
    system.size = math.sqrt(size)
    return change_of_u(system)


@kernel
def unseen(system):
    """Round-off of the gaps of loaded contacts as velocities, times the step."""
    worst = 0.0
    for contact in system.contacts:
        if contact.on:
            worst = max(worst, UNSEEN * contact.scale / math.sqrt(contact.W[0][0]))
    return worst


@piece
def half_kick(system, dt):
    """u, and gaps at the end of the motion by u for dt; whether the iteration converged, which begins with the present
    u."""
    before = 0.0
    for joint in system.joints:
        joint.P = joint.P_near = zeros_like(joint.P)
    for k in range(PASSES):
        kick(system, dt)
        stand_at_end(system, dt)
        pose_start(system, dt, k == 0)
        if not solve(system):
            return False
        change, share = settle(system, 0.5 * dt)
        size = system.size
        system.passes += 1
        if not change + size < INFINITE:
            return False
        noise = system.noise / dt
        enough = ACCEPTABLE * (size + TINY) + NOISE * noise + unseen(system) / dt
        done = change <= SETTLED * size + noise or (k > 0 and change >= before and change <= enough)
        # the set of loaded contacts among redundant ones changes from iteration to iteration
        go_on(system, share if k > 0 and system.proximal == 0.0 and not done else 0.0)
        if done:
            system.law_start = law_of_rates(system)
            stand_at_end(system, dt)
            return True
        before = change
    return False


@kernel
def half_balance(system, dt):
    """Residual of the momentum balance of the first half, with forces evaluated again, and of the joint positions."""
    worst = 0.0
    for body in system.bodies:
        body.total = body.terms = zeros_like(body.total)
    for joint in system.joints:
        press(joint, joint.along_a, joint.along_b)
        worst = max(worst, largest(abs(joint.g)) / (system.reach + TINY))
    for contact in system.contacts:
        if contact.on:
            press(contact, contact.start_a, contact.start_b)
    for body in system.bodies:
        half = (0.5 * dt) * body.force
        body.terms += abs(half)
        worst = max(worst, body_error(system, body, body.v, body.u, half + body.total))
    return worst
