"""The first half of an event-locating step, see `landing`: Gauss' principle for a trial step size.

A trial leaves its initial data for another one. Where the equations are solved outside, as `GaussMPCC` does, the text
evaluates the solution and its residuals.
"""

import math

from nonsmooth.compile.kernels import is_flexible, kernel, piece, solved_outside
from nonsmooth.compile.records.values import largest, normal_axis, products, weighed, zeros_like
from nonsmooth.step.convergence import begin_passes, change_of_u, extrapolate_u, note_change
from nonsmooth.step.deformation import begin_implicit, implicit_force
from nonsmooth.step.mechanism import (
    add_impulses,
    apply_all_impulses,
    body_residual,
    evaluate_loads,
    place_at_end,
    place_by_u,
    rates_after,
    rates_of_u,
    restore_directions,
    squared_length,
)
from nonsmooth.step.motion import inverse_mass, plausible
from nonsmooth.step.program import INFINITE, assemble_contact, factor_joints, make_consistent, solve
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
def apply_forces(system, dt):
    """Forces at the midpoint of the motion by u for dt; velocities after their impulse of half a step."""
    place_by_u(system, 0.5 * dt)
    evaluate_loads(system)
    for body in system.bodies:
        body.v_next = body.v + weighed((0.5 * dt) * implicit_force(body, 0.5 * dt), inverse_mass(body))


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
            way = rates_of_u(contact)
            # a gap within the round-off of positions contradicts itself among redundant contacts
            gap = contact.g if abs(contact.g) > 2.0 * EPSILON * system.reach else 0.0
            contact.velocity_offset = (gap / dt - way[0]) * normal_axis(way)
            assemble_contact(contact, rates_after(contact) + contact.velocity_offset, system.proximal)


@kernel
def update_velocities(system, dt):
    """Velocities from the impulses, forces acting for dt; their distance from u by masses, the secant's share."""
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
def is_done(system, dt, converged, patience, reach):
    """Whether the last pass has changed u by at most this share of it and the round-off of joints; or, where it no
    longer decreases, by that of loads and of gaps, which are differences of coordinates up to `reach`."""
    c, noise, gaps = system.convergence, system.noise / dt, 0.0
    for contact in system.contacts:
        if contact.on:
            gaps = max(gaps, max(UNSEEN * contact.scale, reach) / math.sqrt(contact.W[0][0]))
    enough = system.acceptable * (system.size + TINY) + NOISE * noise + gaps / dt
    stalls = c.stalled >= patience and c.change >= c.before
    return c.change <= converged * system.size + noise or (stalls and c.change <= enough)


advance_outside = solved_outside("advance")


@kernel
def evaluate_solution(system, dt):
    """Evaluate u, P found outside; whether they are a plausible motion: none if a loaded journal is at the opposite
    wall of its clearance, the second root of the contact equation, where its normal opposes that at the start."""
    begin_implicit(system, 0.5 * dt)
    apply_forces(system, dt)
    place_at_end(system, dt)
    system.across = 0
    for contact in system.contacts:
        a, b = contact.a, contact.b
        growth = products(a.directions, weighed(contact.start_a, inverse_mass(a.body)))
        growth += products(b.directions, weighed(contact.start_b, inverse_mass(b.body)))
        if contact.on and contact.P[0] > 0.0 and growth[0][0] < 0.0:
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
            gap, rates = contact.g if abs(contact.g) > UNSEEN * contact.scale else 0.0, rates_of_u(contact)
            contact.velocity_offset = (gap / dt - rates[0]) * normal_axis(rates)
    system.law_start = law_of_rates(system)
    place_at_end(system, dt)
    return plausible(system, dt)


@piece
def solve_first_half(system, dt):
    """u, and gaps after the motion by u for dt; whether the iteration converged to a plausible motion."""
    if system.advance != 0:
        system.trial = dt
        return advance_outside(system) == 1 and evaluate_solution(system, dt)
    c = system.convergence
    begin_passes(system)
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
        note_change(system, change)
        done = is_done(system, dt, SETTLED, 1, 0.0)
        if k > 0 and not is_flexible(system):  # with flexible bodies passes converge at several rates
            done = done or (change <= SMALL * size and change * change <= SETTLED * size * c.before)
        # the set of loaded contacts among redundant ones changes from iteration to iteration
        extrapolate_u(system, share if k > 0 and system.proximal == 0.0 and not done else 0.0)
        if done and c.further > 0:
            c.further -= 1
        elif done:
            if is_flexible(system):  # round-off of joints moves single modes by more than their residual may be
                apply_forces(system, dt)
                apply_all_impulses(system)
                for body in system.bodies:
                    body.u = body.v_next
            system.law_start = law_of_rates(system)
            place_at_end(system, dt)
            return plausible(system, dt)
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
