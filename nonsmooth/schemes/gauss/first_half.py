"""The first half of an event-locating step: Gauss' principle for a trial step size.

    M (u - v) = dt/2 h + W(q) P,       q+ = q moved by u for dt,   g(q+) = 0,   0 <= g_N(q+)  ⟂  P_N >= 0

on the contacts in the program, with forces h at the midpoint of the step. A trial does not change its initial data, so
that another step size can be tried.

The equations may be solved outside, all at once, as `GaussMPCC` does: the text then evaluates the solution, and its
residuals certify it like its own.
"""

import math

from nonsmooth.compile.kernels import is_flexible, kernel, piece, solved_outside
from nonsmooth.compile.records.values import largest, normal_axis, products, weighed, zeros_like
from nonsmooth.step.deformation import begin_implicit, further_passes, implicit_force
from nonsmooth.step.mechanism import (
    add_impulses,
    apply_all_impulses,
    body_residual,
    evaluate_all,
    evaluate_loads,
    place_by_u,
    rates_after,
    rates_of_u,
    squared_length,
)
from nonsmooth.step.motion import inverse_mass, plausible
from nonsmooth.step.program import (
    INFINITE,
    assemble_contact,
    assemble_couplings,
    assemble_diagonal,
    factor_joints,
    make_consistent,
    solve,
)
from nonsmooth.step.secants import change_of_u, extrapolate_u
from nonsmooth.step.tolerances import EPSILON, TINY
from nonsmooth.step.velocity_change import law_of_rates

#: iterations of a momentum update at most, and relative change of u that ends them: a located gap, from which the step
#: size follows, is more accurate than the end of a step of constant size has to be
PASSES, SETTLED = 60, 1e-15
#: relative change of u up to which what is left is expected from how it has shrunk
SMALL = 1e-12
#: multiple of the round-off of joints that suffices as a change of u if iterations no longer reduce it
NOISE = 1e3
#: share of its clearance that is a gap's round-off
UNSEEN = 1e-12


@kernel
def restore_directions(bond, a, b):
    """Restore the directions at the start of the step."""
    bond.a.directions, bond.b.directions = a, b


@kernel
def apply_forces(system, dt):
    """Forces at the midpoint of the motion by u for dt; velocities after their impulse of half a step."""
    place_by_u(system, 0.5 * dt)
    evaluate_loads(system)
    for body in system.bodies:
        body.v_next = body.v + weighed((0.5 * dt) * implicit_force(body, 0.5 * dt), inverse_mass(body))


@kernel
def place_at_end(system, dt):
    """Gaps, joints and their directions after the motion by u for dt."""
    place_by_u(system, dt)
    evaluate_all(system.surfaces)
    evaluate_all(system.constraints)


@kernel
def assemble_first_half(system, dt, first):
    """The program of the half step: impulses along the directions at the start close the active gaps at its end."""
    for joint in system.joints:
        restore_directions(joint, joint.directions_a, joint.directions_b)
        joint.velocity_offset = joint.g / dt - rates_of_u(joint)
    if first:
        factor_joints(system)
    for joint in system.joints:
        joint.b0 = rates_after(joint) + joint.velocity_offset
    if system.ridge > 0.0:
        make_consistent(system)
    for contact in system.contacts:
        if contact.on:
            restore_directions(contact, contact.start_a, contact.start_b)
            assemble_diagonal(contact)
            assemble_couplings(contact)
            way = rates_of_u(contact)
            # a gap within the round-off of positions contradicts itself among redundant contacts
            gap = contact.g if abs(contact.g) > 2.0 * EPSILON * system.reach else 0.0
            contact.velocity_offset = (gap / dt - way[0]) * normal_axis(way)
            assemble_contact(contact, rates_after(contact) + contact.velocity_offset, system.proximal)


@kernel
def update_velocities(system, dt):
    """Velocities from the impulses, in which forces act for dt; their distance from u in the mass metric, and the share
    of the secant."""
    for joint in system.joints:
        joint.P_near = joint.P
    apply_all_impulses(system)
    size = 0.0
    for body in system.bodies:
        kick = weighed(dt * body.force, inverse_mass(body))
        size += (
            squared_length(body.v_next, body.mass) + squared_length(body.v, body.mass) + squared_length(kick, body.mass)
        )
    system.size = math.sqrt(size)
    return change_of_u(system)


@kernel
def gap_round_off(system):
    """Round-off of the gaps of loaded contacts as velocities, times the step."""
    worst = 0.0
    for contact in system.contacts:
        if contact.on:
            worst = max(worst, UNSEEN * contact.scale / math.sqrt(contact.W[0][0]))
    return worst


advance_outside = solved_outside("advance")


@kernel
def is_across(contact):
    """Whether it is loaded at the opposite wall of its clearance: the normal at the end opposes that at the start.

    The contact equation of a loaded journal has a second root there, with a larger impulse.
    """
    a, b = contact.a, contact.b
    growth = products(a.directions, weighed(contact.start_a, inverse_mass(a.body)))
    growth += products(b.directions, weighed(contact.start_b, inverse_mass(b.body)))
    return contact.on and contact.P[0] > 0.0 and growth[0][0] < 0.0


@kernel
def evaluate_solution(system, dt):
    """Evaluate a solution u, P of the equations that was found outside; whether it is a plausible motion."""
    begin_implicit(system, 0.5 * dt)
    apply_forces(system, dt)
    place_at_end(system, dt)
    system.across = 0
    for contact in system.contacts:
        if is_across(contact):
            system.across = 1
    if system.across:
        return False
    assemble_first_half(system, dt, True)
    change, _ = update_velocities(system, 0.5 * dt)
    system.passes += 1
    if not change + system.size < INFINITE:
        return False
    for body in system.bodies:  # over a short step what is left of the momentum balance exceeds a gap's round-off
        body.u = body.v_next
    place_at_end(system, dt)
    for contact in system.contacts:
        if contact.on:
            restore_directions(contact, contact.start_a, contact.start_b)
            gap, way = contact.g if abs(contact.g) > UNSEEN * contact.scale else 0.0, rates_of_u(contact)
            contact.velocity_offset = (gap / dt - way[0]) * normal_axis(way)
    system.law_start = law_of_rates(system)
    place_at_end(system, dt)
    return plausible(system, dt)


@piece
def solve_first_half(system, dt):
    """u, and gaps at the end of the motion by u for dt; whether the iteration, which begins with the present u,
    converged to a plausible motion."""
    if system.advance != 0:
        system.trial = dt
        return advance_outside(system) == 1 and evaluate_solution(system, dt)
    before, further = 0.0, further_passes(system)
    begin_implicit(system, 0.5 * dt)
    for joint in system.joints:
        joint.P = joint.P_near = zeros_like(joint.P)
    for k in range(PASSES):
        apply_forces(system, dt)
        place_at_end(system, dt)
        assemble_first_half(system, dt, k == 0)
        if not solve(system):
            return False
        change, share = update_velocities(system, 0.5 * dt)
        size = system.size
        system.passes += 1
        if not change + size < INFINITE:
            return False
        noise = system.noise / dt
        enough = system.acceptable * (size + TINY) + NOISE * noise + gap_round_off(system) / dt
        done = change <= SETTLED * size + noise
        if k > 0 and not is_flexible(system):  # with flexible bodies passes converge at several rates
            done = done or (change <= SMALL * size and change * change <= SETTLED * size * before)
        done = done or (k > 0 and change >= before and change <= enough)
        # the set of loaded contacts among redundant ones changes from iteration to iteration
        extrapolate_u(system, share if k > 0 and system.proximal == 0.0 and not done else 0.0)
        if done and further > 0:
            further -= 1
        elif done:
            if is_flexible(system):  # round-off of joints moves single modes by more than their residual may be
                apply_forces(system, dt)
                apply_all_impulses(system)
                for body in system.bodies:
                    body.u = body.v_next
            system.law_start = law_of_rates(system)
            place_at_end(system, dt)
            return plausible(system, dt)
        before = change
    return False


@kernel
def first_half_residual(system, dt):
    """Residual of the momentum balance of the first half, with forces evaluated again, and of the joint positions."""
    worst = 0.0
    for body in system.bodies:
        body.total = body.terms = zeros_like(body.total)
    for joint in system.joints:
        add_impulses(joint, joint.directions_a, joint.directions_b)
        worst = max(worst, largest(abs(joint.g)) / (system.reach + TINY))
    for contact in system.contacts:
        if contact.on:
            add_impulses(contact, contact.start_a, contact.start_b)
    for body in system.bodies:
        half = (0.5 * dt) * body.force
        body.terms += abs(half)
        worst = max(worst, body_residual(system, body, body.v, body.u, half + body.total))
    return worst
