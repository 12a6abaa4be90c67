"""The nonsmooth generalised-alpha scheme, compiled and uncompiled.

The acceleration b is that without contacts, it determines the pseudo-acceleration a, and the motion computed from these
is corrected in positions by S and in velocities by P:

    M b+ = h(t+, q+, v+) + W_g lam,    W_g' b+ + bias = 0
    (1 - alpha_m) a+ + alpha_m a = (1 - alpha_f) b+ + alpha_f b
    q+ = q moved by u for dt,   M (u - v - dt (1/2 - beta) a - dt beta a+) = W(q+) S + D_T P_T / 2
    M (v+ - v - dt (1 - gamma) a - dt gamma a+) = D P
    g(t+, q+) = 0,          0 <= g_N(q+)  ⟂  S_N >= 0
    W_g' v+ = -g_t,         0 <= gamma_N+ + e min(gamma_N, 0)  ⟂  P_N >= 0  on contacts closed at q+

with Coulomb's law between P_T and gamma_T+ + e_T gamma_T. D are the means of the directions at both ends of the step
or, where a contact closes in it or turns far, those at its end.

An iteration of a step solves for the displacement (a frictionless program of nearby contacts), evaluates the mechanism
at its end, solves for velocities (a program of the contacts closed there) and for accelerations, each with the latest
values of the others. Slow convergence is accelerated by secants. Then residuals are evaluated and the step accepted.
"""

import math

from nonsmooth.compile.kernels import by_modes, kernel, piece
from nonsmooth.records.values import normal_axis, products, weighed, zeros_like
from nonsmooth.schemes.accelerations import accelerate, extrapolate_velocities, newmark_weights
from nonsmooth.schemes.alpha_deformation import (
    add_drag,
    balance,
    begin_accelerations,
    factor_at_end,
    start_accelerations,
)
from nonsmooth.schemes.alpha_end import (
    between,
    check_residuals,
    find_velocities,
    separate_impact,
    start_next_step,
    write_row,
)
from nonsmooth.schemes.first_half import place_at_end, restore_directions
from nonsmooth.schemes.grid import run_of
from nonsmooth.schemes.joint_forces import CORRECTIONS
from nonsmooth.schemes.mechanism import (
    apply_all_impulses,
    law_shift,
    leaves_rest,
    rates_after,
    rates_before,
    rates_of_u,
    squared_length,
    start_contacts,
    start_joints,
    tangential,
    touches,
    zero_rate,
)
from nonsmooth.schemes.motion import inverse_mass
from nonsmooth.schemes.program import (
    INFINITE,
    assemble_contact,
    assemble_couplings,
    assemble_diagonal,
    factor_joints,
    make_consistent,
    solve,
)
from nonsmooth.schemes.secants import change_of_u, extrapolate_u
from nonsmooth.schemes.turning import turning_of
from nonsmooth.tolerances import CLOSED_GAP, DONE, PROXIMAL, TINY, UNCERTAIN
from nonsmooth.tolerances.generalized_alpha import ACCEPTABLE, CONVERGED, PASSES, STALLED, TURNED

#: relative change of the motion that ends the passes at once; a larger one does if they converge so quickly that less
#: than this is left
FINEST = 1e-15
#: passes without gain that stop them, passes that are many; from which pass on it is noted which contacts close, and
#: after which one these stay closed
STUCK, LATE, NOTING, BINDING = 3, 40, 12, 24
#: a pass that leaves more than this share of the change is followed by secants, from so many passes on; with flexible
#: bodies, where passes converge at several rates and one secant for all slows them down, from so many
SLOW, SECANT, SECANT_OF_MODES = 0.1, 3, 12


# ---- displacements


@kernel
def save_impulses(bond):
    bond.kept = bond.P
    bond.P = bond.S


@kernel
def restore_impulses(bond):
    bond.S = bond.P
    bond.P = bond.kept


@kernel
def assemble_displacement(system):
    """Its program, linearised at the end of the motion by u: joints closed and no gap negative, without friction."""
    per_dt = 1.0 / system.dt
    add_drag(system)
    for joint in system.joints:
        save_impulses(joint)
        joint.P_near = joint.P
        joint.b0 = rates_after(joint) - rates_of_u(joint) + per_dt * joint.g
    if system.ridge > 0.0:
        make_consistent(system)
    for contact in system.contacts:
        save_impulses(contact)
        contact.kept_friction, contact.friction = contact.friction, 0.0
        contact.on = contact.near
        if contact.on:
            assemble_diagonal(contact)
            assemble_couplings(contact)
            free = rates_after(contact) - rates_of_u(contact)
            assemble_contact(contact, (free[0] + per_dt * contact.g) * normal_axis(free), system.proximal)


@piece
def solve_displacement(system):
    """v_next, the motion of the displacement; whether its program was solved."""
    _, beta = newmark_weights(system)
    extrapolate_velocities(system, 0.5 - beta, beta)
    if system.turns:
        for body in system.bodies:
            body.v_next += weighed(body.turning, inverse_mass(body))
    assemble_displacement(system)
    found = solve(system)
    apply_all_impulses(system)
    for joint in system.joints:
        restore_impulses(joint)
    for contact in system.contacts:
        restore_impulses(contact)
        contact.friction = contact.kept_friction
    return found


@kernel
def solve_with_turning(system):
    """The same, from the impulses of the pass before."""
    for joint in system.joints:
        joint.S = joint.held
    for contact in system.contacts:
        contact.S = contact.held
    return solve_displacement(system)


find_turning = turning_of(solve_with_turning)


@kernel
def hold_impulses(system, k):
    """Impulses of displacements are those whose directions turn; in the first program none that are only a guess."""
    for joint in system.joints:
        joint.held = joint.S
    for contact in system.contacts:
        contact.held = (1.0 if k > 1 else 0.0) * contact.S


@piece
def displace(system, k, along_secants):
    """Whether the program was solved, and the change of u, in pass k."""
    if system.turns:
        hold_impulses(system, k)
        found = find_turning(system)
    else:
        found = solve_displacement(system)
    change, share = change_of_u(system)
    extrapolate_u(system, share if along_secants else 0.0)
    return found, change


# ---- velocities


@kernel
def turned(contact):
    """Whether its normal turns so far in the step that the mean of both directions is meaningless."""
    a, b, start_a, start_b = contact.a, contact.b, contact.start_a, contact.start_b
    both = products(start_a, a.moves) + products(start_b, b.moves)
    first = products(start_a, weighed(start_a, inverse_mass(a.body)))
    first += products(start_b, weighed(start_b, inverse_mass(b.body)))
    return both[0][0] < TURNED * math.sqrt(first[0][0] * contact.W[0][0])


@kernel
def close_contacts(system, k):
    """Which contacts are closed at the end, as pass k sees it, and along which directions impulses are."""
    system.mean = 1
    for contact in system.contacts:
        stays = k > BINDING and contact.bound != 0
        contact.on = 1 if touches(contact) or contact.S[0] > 0.0 or stays else 0
        if contact.on:
            contact.near, contact.bound = 1, 1 if k > NOTING else 0
            assemble_diagonal(contact)
            if contact.lasts == 0 or turned(contact):
                system.mean = 0
        else:
            contact.P = zeros_like(contact.P)


@kernel
def update_impulse_terms(system):
    """Further effects of impulses in the next iteration; returns their change, as velocities."""
    for body in system.bodies:
        body.total, body.jump = body.drag, body.lag
        body.drag = body.lag = zeros_like(body.drag)
    for joint in system.joints:
        half = (0.5 if system.mean else 0.0) * joint.P
        joint.a.body.lag += half @ (joint.along_a - joint.a.along)
        joint.b.body.lag += half @ (joint.along_b - joint.b.along)
    for contact in system.contacts:
        if contact.on:
            a, b, P = contact.a, contact.b, contact.P
            half, half_T = (0.5 if system.mean else 0.0) * P, 0.5 * tangential(P)
            a.body.lag += half @ (contact.start_a - a.along)
            b.body.lag += half @ (contact.start_b - b.along)
            a.body.drag += half_T @ between(system, contact.start_a, a.along)
            b.body.drag += half_T @ between(system, contact.start_b, b.along)
    change = 0.0
    for body in system.bodies:
        change += squared_length(weighed(body.drag - body.total, inverse_mass(body)), body.mass)
        change += squared_length(weighed(body.lag - body.jump, inverse_mass(body)), body.mass)
    return math.sqrt(change)


# ---- passes


@kernel
def one_pass(system, k, along_secants):
    """Whether its programs were solved, and the relative change of the motion."""
    dt, change = system.dt, 0.0
    if k > 0:
        found, change = displace(system, k, along_secants)
        if not found:
            return False, 0.0
    place_at_end(system, dt)
    factor_at_end(system)
    close_contacts(system, k)
    if not find_velocities(system):
        return False, 0.0
    faster = update_impulse_terms(system)
    begin_accelerations(system)
    faster += dt * accelerate(system, along_secants)
    between_passes, before, after, smooth, kick = 0.0, 0.0, 0.0, 0.0, 0.0
    for body in system.bodies:
        between_passes += squared_length(body.v_next - body.reached, body.mass)
        before += squared_length(body.v, body.mass)
        after += squared_length(body.v_next, body.mass)
        smooth += squared_length(body.smooth_next, body.mass)
        kick += squared_length(weighed(body.force, inverse_mass(body)), body.mass)
        body.reached = body.v_next
    system.passes += 1
    size = math.sqrt(before) + math.sqrt(after) + dt * math.sqrt(smooth)
    system.size, faster = size, faster + math.sqrt(between_passes)
    # joints and gaps are limited by the round-off of positions; at rest, velocities are differences of impulses
    moved = change / max(size, max(system.noise / (dt * CONVERGED), TINY))
    return True, moved + faster / max(size + dt * math.sqrt(kick), TINY)


@kernel
def first_secant(system):
    return SECANT


@kernel
def first_secant_of_modes(system):
    return SECANT_OF_MODES


passes_without_secants = by_modes(first_secant, first_secant_of_modes)  # (system)


@kernel
def iterate(system):
    """Iterate until the motion no longer changes; whether this converged."""
    moved, before, least = math.inf, math.inf, math.inf
    stuck, along_secants, led = 0, False, False
    for k in range(2 * PASSES if system.turns else PASSES):
        acceptable = ACCEPTABLE if k <= LATE else STALLED
        ends = moved <= FINEST or (stuck >= STUCK and moved <= acceptable)
        slow = k > passes_without_secants(system) and (along_secants or moved > SLOW * before)
        along_secants = slow and not ends and not system.turns
        led = led or along_secants
        solved, change = one_pass(system, k, along_secants)
        if not (solved and change + system.size < INFINITE):
            return False
        if k == 0:
            continue
        before, moved = moved, change
        # what is left shrinks from pass to pass as the change does
        fine = led or moved <= FINEST or (k > 2 and moved * moved <= FINEST * before) or moved >= 0.5 * before
        if moved <= CONVERGED and fine and not along_secants:
            return True
        stuck = 0 if moved < 0.5 * least else stuck + 1
        least = min(least, moved)
        if stuck >= STUCK and moved <= acceptable and not along_secants:
            return True
    return False


@kernel
def initialise(system):
    """Persistent contacts of the step, terms of the impact laws, and initial values of the iteration."""
    for body in system.bodies:
        body.sizes = abs(body.v)
        body.u = body.reached = body.v
        body.smooth_next = body.smooth
        body.drag = body.lag = zeros_like(body.drag)
    system.mean = 1
    for joint in system.joints:
        restore_directions(joint, joint.along_a, joint.along_b)
        joint.lam_next, joint.S, joint.P_before = joint.lam, 0.5 * joint.P, joint.P
    for contact in system.contacts:
        restore_directions(contact, contact.start_a, contact.start_b)
        rate = contact.before = rates_before(contact)
        zero = zero_rate(system, contact)
        contact.shift = law_shift(contact, rate, rate[0] < -zero)
        lasts = contact.start_g <= CLOSED_GAP * contact.scale and abs(rate[0]) <= zero
        contact.lasts = contact.near = contact.on = 1 if lasts else 0
        contact.P_before, contact.bound = contact.P, 0
        contact.P = (1.0 if lasts else 0.0) * contact.P
        contact.S = 0.5 * contact.P
    update_impulse_terms(system)
    _, beta = newmark_weights(system)
    extrapolate_velocities(system, 0.5 - beta, beta)
    for body in system.bodies:
        body.u = body.v_next


# ---- a step


@piece
def attempt(system):
    """A step of length dt; whether it is certified."""
    initialise(system)
    found = iterate(system) and balance(system)
    return found and check_residuals(system) and separate_impact(system) and not leaves_rest(system)


@kernel
def restore(system):
    """Restore the state before the attempt."""
    for contact in system.contacts:
        contact.P, contact.on = contact.P_before, 0
    for joint in system.joints:
        joint.P = joint.P_before
    ground = system.ground  # which values that are not finite would change
    ground.v_next = ground.jump = zeros_like(ground.v_next)


@piece
def evaluate_start(system):
    """Directions, gaps and rates at the start of a run, or after a corner of loads, and accelerations without contacts
    there."""
    for body in system.bodies:
        body.u = body.v_next = body.v
        body.smooth_next = zeros_like(body.v)
    place_at_end(system, 0.0)
    start_joints(system)
    start_contacts(system)
    start_accelerations(system)
    factor_joints(system)
    for joint in system.joints:
        joint.lam_next = zeros_like(joint.P)
    for _ in range(CORRECTIONS if system.ridge > 0.0 else 1):
        accelerate(system, False)
    for body in system.bodies:
        body.smooth = body.pseudo = body.smooth_next
    for joint in system.joints:
        joint.lam = joint.lam_next


@kernel
def attempt_otherwise(system):
    """The step again: with, or without, the proximal term, then with directions that turn; whether it is certified."""
    restore(system)
    if not len(system.contacts):
        return False
    system.proximal = 0.0 if system.proximal > 0.0 else PROXIMAL
    if attempt(system):
        return True
    restore(system)
    system.proximal = 0.0
    if system.asks:  # about rest, which is not a matter of the iteration
        return False
    system.turns = 1
    found = attempt(system)
    system.turns = 0
    if not found:
        restore(system)
    return found


@kernel
def step(system):
    """One step, accepted only if certified."""
    if system.renewed:
        system.renewed = 0
        evaluate_start(system)
    if not (attempt(system) or attempt_otherwise(system)):
        return UNCERTAIN
    write_row(system)
    start_next_step(system)
    return DONE


run = run_of(step)


def begin(system):
    """The start of a run."""
    evaluate_start(system)
    return DONE
