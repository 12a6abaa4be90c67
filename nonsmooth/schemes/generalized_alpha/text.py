"""The nonsmooth generalised-alpha scheme, by the equations of `GeneralizedAlpha`.

The acceleration b is that without contacts, it determines the pseudo-acceleration a, and the motion computed from these
is corrected in positions by S and in velocities by P. Directions of P are the means of those at both ends of the step
or, where a contact closes in it or turns far, those at its end, as are all of S.

An iteration solves for the displacement (a frictionless program of nearby contacts), evaluates the mechanism at its
end, solves for velocities (a program of the contacts closed there) and for accelerations, each with the latest values
of the others. Secants accelerate slow convergence.

Passes are implicit in the stiff forces of deformation of flexible bodies, -K eta - D eta' of the amplitudes eta of
modes of mass one; passes between b, u and v+ would not converge else. With c = dt beta and c' = dt gamma times the
weight of the new b in the pseudo-acceleration, u contains c b and v+ contains c' b, which are taken along:

    accelerations:   (M + dt c K + c' D) b+ = h(u, v+) + W_g lam + dt K (u - u_0) + D c' b

with the u_0 of this step without b, and the b of v+. In the program of displacements impulses S change u as if b had
responded to them,

    E = M^-1 (1 - dt c K / (M + dt c K + c' D))

so that impulses of joints in it are S_g + c times the change of lam, and S_g is then found from W_g' b + bias = 0, with
bias the convective accelerations of joints. Impulses of the program of velocities act on the true masses. At
convergence all are the equations of the scheme. K and D are diagonal, and zero for rigid bodies.
"""

import math

from nonsmooth.compile.kernels import is_flexible, kernel, piece
from nonsmooth.compile.records.values import dot, largest, normal_axis, products, trace, weighed, zeros_like
from nonsmooth.step import rattle
from nonsmooth.step.convergence import (
    begin_passes,
    change_of_u,
    extrapolate_u,
    extrapolated,
    note_change,
    secant_share,
    secant_terms,
)
from nonsmooth.step.deformation import end_implicit
from nonsmooth.step.grid import run_of
from nonsmooth.step.joint_forces import CORRECTIONS, respond_to_jump
from nonsmooth.step.mechanism import (
    add_impulses,
    apply_all_impulses,
    body_residual,
    complementarity_error,
    evaluate_all,
    evaluate_loads,
    joint_residual,
    law_residual,
    law_shift,
    leave_out_impacts,
    leaves_rest,
    place_at_end,
    rates_after,
    rates_before,
    rates_of_jump,
    rates_of_u,
    rebound,
    restore_directions,
    squared_length,
    start_contacts,
    start_joints,
    tangential,
    terms_of,
    touches,
    zero_rate,
)
from nonsmooth.step.motion import inverse_mass
from nonsmooth.step.program import (
    INFINITE,
    assemble_contact,
    assemble_diagonal,
    factor_joints,
    make_consistent,
    motionless_component,
    solve,
    solve_joints,
)
from nonsmooth.step.rows import write_impact, write_row
from nonsmooth.step.tolerances import CLOSED_GAP, DONE, FLOOR, PRESSING, PROXIMAL, TINY, UNCERTAIN
from nonsmooth.step.turning import attempt_with, turning_of
from nonsmooth.step.velocity_change import solve_velocities

#: iterations of a step at most
PASSES = 50
#: relative change of the motion per iteration at which a step is solved
CONVERGED = 1e-13
#: residuals of a step up to which no further iteration is made, and the relative change from which on they are
#: evaluated
SETTLED, PROMISING = 1e-12, 1e-7
#: relative change at which it may end if iterations no longer reduce it, where joints amplify round-off
ACCEPTABLE = 1e-11
#: the same after many iterations, if stiff springs amplify round-off
STALLED = 1e-9
#: least cosine, in the mass metric, between the normals at both ends of a step for which their mean is used
TURNED = 0.5
#: relative change of the motion that ends the passes at once; a larger one does if they converge so quickly that less
#: than this is left
FINEST = 1e-15
#: passes without gain that stop them, passes that are many; from which pass on it is noted which contacts close, and
#: after which one these stay closed
STUCK, LATE, NOTING, BINDING = 3, 40, 12, 24
#: a pass that leaves more than this share of the change is followed by secants, from so many passes on
SLOW, SECANT = 0.1, 3


@kernel
def pseudo_weights(system):
    """Weights of the old pseudo-acceleration and of both accelerations in the new one (Chung and Hulbert)."""
    rho = system.radius
    alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    return -alpha_m / (1.0 - alpha_m), alpha_f / (1.0 - alpha_m), (1.0 - alpha_f) / (1.0 - alpha_m)


@kernel
def newmark_weights(system):
    """gamma and beta."""
    gamma = 0.5 + (1.0 - system.radius) / (system.radius + 1.0)
    return gamma, 0.25 * (gamma + 0.5) * (gamma + 0.5)


@kernel
def update_pseudo_accelerations(system):
    """Those at the end, from the accelerations there."""
    of_pseudo, of_old, of_new = pseudo_weights(system)
    for body in system.bodies:
        body.pseudo_acceleration_next = (
            of_pseudo * body.pseudo_acceleration + of_old * body.smooth + of_new * body.acceleration_next
        )


@kernel
def extrapolate_velocities(system, old, new):
    """v_next from the old and new pseudo-accelerations with these weights."""
    update_pseudo_accelerations(system)
    for body in system.bodies:
        body.v_next = body.v + system.dt * (old * body.pseudo_acceleration + new * body.pseudo_acceleration_next)


@kernel
def evaluate_at_end(system):
    """Forces and convective accelerations at the end, with velocities v_next."""
    for body in system.bodies:
        body.saved_u, body.u = body.u, body.v_next
    evaluate_loads(system)
    evaluate_all(system.biases)
    for body in system.bodies:
        body.u = body.saved_u


@piece
def accelerate(system, along_secants):
    """Accelerations and joint forces at the end without contacts; the change of the accelerations."""
    evaluate_at_end(system)
    for body in system.bodies:
        force = body.force + body.joint_impulse if is_flexible(body) else body.force
        body.jump = weighed(force, inverse_mass(body))
    for joint in system.joints:
        joint.a.body.jump += joint.lam_next @ joint.a.response
        joint.b.body.jump += joint.lam_next @ joint.b.response
    for joint in system.joints:
        joint.b0 = rates_of_jump(joint) + joint.bias_acceleration
    respond_to_jump(system)
    change, above, below = 0.0, 0.0, 0.0
    for joint in system.joints:
        joint.lam_next += joint.y
    for body in system.bodies:
        off = body.jump - body.acceleration_next
        change += squared_length(off, body.mass)
        up, down = secant_terms(body.smooth_found, off, body.mass)
        above, below = above + up, below + down
    share = secant_share(above, below) if along_secants else 0.0
    for body in system.bodies:
        body.acceleration_next = extrapolated(body.smooth_found, body.jump, body.jump - body.acceleration_next, share)
    return math.sqrt(change)


# ---- impulses of the step


@kernel
def between(system, at_start, at_end):
    """Directions of the step's impulses."""
    return 0.5 * (at_start + at_end) if system.mean else at_end


# ---- velocities


@piece
def find_velocities(system):
    """v_next from the accelerations, by impulses of joints and of the contacts that are on; whether they were found."""
    gamma, _ = newmark_weights(system)
    extrapolate_velocities(system, 1.0 - gamma, gamma)
    for body in system.bodies:
        body.v_next += weighed(body.direction_correction, inverse_mass(body))
    return solve_velocities(system)


# ---- residuals


@kernel
def momentum_error(system, body, after, old, new):
    """Error of the balance from v to `after`, with the pseudo-accelerations weighed and the impulses in `total`."""
    first, second = (
        weighed(old * body.pseudo_acceleration, body.mass),
        weighed(new * body.pseudo_acceleration_next, body.mass),
    )
    body.terms += system.dt * (abs(first) + abs(second))
    return body_residual(system, body, body.v, after, system.dt * (first + second) + body.total)


@kernel
def momentum_errors(system):
    """Largest error of v+, from all impulses, of u, and of the accelerations without contacts, as velocities."""
    gamma, beta = newmark_weights(system)
    dt, worst = system.dt, 0.0
    for body in system.bodies:
        body.total = body.terms = zeros_like(body.total)
    for joint in system.joints:
        along_a = between(system, joint.directions_a, joint.a.directions)
        add_impulses(joint, along_a, between(system, joint.directions_b, joint.b.directions))
    for contact in system.contacts:
        if contact.on:
            along_a = between(system, contact.start_a, contact.a.directions)
            add_impulses(contact, along_a, between(system, contact.start_b, contact.b.directions))
    for body in system.bodies:
        worst = max(worst, momentum_error(system, body, body.v_next, 1.0 - gamma, gamma))
    for body in system.bodies:
        body.total, body.terms = body.friction_displacement, abs(body.friction_displacement)
    for joint in system.joints:
        add_displacement_impulses(joint)
    for contact in system.contacts:
        add_displacement_impulses(contact)
    for body in system.bodies:
        worst = max(worst, momentum_error(system, body, body.u, 0.5 - beta, beta))
    for body in system.bodies:
        body.total = dt * body.force
        body.terms = abs(body.total)
    for joint in system.joints:
        for_a, for_b = (dt * joint.lam_next) @ joint.a.directions, (dt * joint.lam_next) @ joint.b.directions
        joint.a.body.total += for_a
        joint.b.body.total += for_b
        joint.a.body.terms += abs(for_a)
        joint.b.body.terms += abs(for_b)
    for body in system.bodies:
        worst = max(worst, body_residual(system, body, zeros_like(body.v), dt * body.acceleration_next, body.total))
    return worst


@kernel
def add_displacement_impulses(bond):
    """Impulses S of a bond among those on its bodies."""
    P = bond.P
    bond.P = bond.S
    add_impulses(bond, bond.a.directions, bond.b.directions)
    bond.P = P


@piece
def check_residuals(system):
    """Residuals of the step, from forces and directions at its end and from all impulses; whether it is certified."""
    update_pseudo_accelerations(system)
    dt, worst, law, natural = system.dt, momentum_errors(system), 0.0, 0.0
    for joint in system.joints:
        a, b = joint.a, joint.b
        # contacts aside, second derivatives of joints vanish at the end, here as rates over the step
        by_a, by_b = dt * a.body.acceleration_next, dt * b.body.acceleration_next
        bias = dt * joint.bias_acceleration
        off = largest(abs(a.directions @ by_a + b.directions @ by_b + bias))
        floor = FLOOR * math.sqrt(trace(joint.W)) * system.size
        off = off / max(largest(terms_of(joint, by_a, by_b) + abs(bias)) + floor, TINY)
        worst = max(worst, max(joint_residual(system, joint, -joint.rate), off))
        worst = max(worst, largest(abs(joint.g)) / (system.reach + TINY))
    for contact in system.contacts:
        contact.after = rates_after(contact)
        scale, P_scale = contact.scale, contact.scale / (system.longest * contact.W[0][0])
        natural = max(natural, complementarity_error(contact.g, scale, contact.S[0], P_scale))
        if contact.on:
            law = max(law, law_residual(system, contact, contact.after))
            rate = contact.after[0] + rebound(contact, contact.before[0])
            natural = max(natural, complementarity_error(rate * dt, scale, contact.P[0], P_scale))
    system.residual, system.law, system.complementarity = worst, law, natural
    return max(max(worst, law), natural) <= system.certified


# ---- the impact


@piece
def separate_impact(system):
    """v_left, the velocity at the end without the impact in the step, and the impulses of the impact: of contacts that
    close, or approach or open at the start. Persistent ones may transmit it: their own are those of a step without the
    others. Whether it was found."""
    strikes, lasting = False, False
    for contact in system.contacts:
        contact.has_impact = 1 if contact.on and not contact.is_persistent else 0
        if contact.has_impact and contact.P[0] > 0.0:
            strikes = True
        if contact.on and contact.is_persistent:
            lasting = True
        contact.impact = contact.has_impact * contact.P
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
        if contact.has_impact:
            contact.on, contact.P = 0, zeros_like(contact.P)
    found = solve_velocities(system)
    for body in system.bodies:
        body.left, body.v_next = body.v_next, body.reached
    for joint in system.joints:
        joint.answer, joint.P = joint.kept - joint.P, joint.kept
    for contact in system.contacts:
        if contact.has_impact:
            contact.on = 1
        contact.impact, contact.P = contact.kept - contact.P, contact.kept
    return found


@kernel
def is_in_impact(contact):
    """Whether the contact is involved in an impact."""
    return contact.impact[0] > (PRESSING * contact.P[0] if contact.is_persistent else 0.0)


# ---- its row, and the next step


@kernel
def has_impact(system):
    """Whether a contact has closed, or has approached or opened at the start."""
    for contact in system.contacts:
        if contact.has_impact:
            return True
    return False


@kernel
def finish_row(system):
    """Write the row of the step: reactions are means over it, the impact is separate."""
    dt, strikes, work, loss = system.dt, has_impact(system), 0.0, 0.0
    for joint in system.joints:
        joint.P_a = (0.5 * dt) * joint.lam
        joint.P_b = (0.5 * dt) * joint.lam_next + joint.P - joint.answer
        rate = joint.rate if strikes else 0.5 * (joint.rate_start + joint.rate)
        smooth = dot(joint.P_a, joint.rate_start) + (0.5 * dt) * dot(joint.lam_next, joint.rate)
        work -= smooth + dot(joint.P, rate)
    if system.ridge > 0.0:
        # the equivalent joint forces at both ends and impulses of the impact of least norm
        for joint in system.joints:
            joint.y = joint.answer
        motionless_component(system)
        for joint in system.joints:
            joint.answer = joint.answer - joint.y
            joint.kept, joint.P = joint.P, joint.P_b
        rattle.choose_least_impulses(system)
        for joint in system.joints:
            joint.P_b, joint.P = joint.P, joint.kept
    for contact in system.contacts:
        if contact.on:
            a, b = contact.a, contact.b
            slip = between(system, contact.start_a, a.directions) @ (0.5 * (a.body.v + a.body.v_next))
            slip += between(system, contact.start_b, b.directions) @ (0.5 * (b.body.v + b.body.v_next))
            loss -= dot(contact.P - contact.impact, tangential(slip))
        hit = is_in_impact(contact)
        normal, share = contact.impact[0] if hit else 0.0, 1.0 if contact.has_impact or hit else 0.0
        contact.impact = normal * normal_axis(contact.P) + share * tangential(contact.P)
    write_row(system, system.t_next, work, loss, True)
    write_impact(system)


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
        body.q, body.v = body.at, body.v_next
        body.delta_acceleration = zeros_like(body.v) if strikes else body.acceleration_next - body.smooth
        body.smooth = body.acceleration_next
        body.pseudo_acceleration = body.acceleration_next if strikes else body.pseudo_acceleration_next
    system.t, system.last_dt = system.t_next, system.dt
    system.steps += 1


@kernel
def weights_of_new(system):
    """Weights c and c' of the new accelerations in displacements and velocities, as times."""
    gamma, beta = newmark_weights(system)
    _, _, of_new = pseudo_weights(system)
    return system.dt * beta * of_new, system.dt * gamma * of_new


@kernel
def sum_displacement_impulses(system):
    """In `total` of bodies, the impulses that act on displacements, along directions at the end."""
    for body in system.bodies:
        body.total = body.friction_displacement
    for joint in system.joints:
        joint.a.body.total += joint.S @ joint.a.directions
        joint.b.body.total += joint.S @ joint.b.directions
    for contact in system.contacts:
        contact.a.body.total += contact.S @ contact.a.directions
        contact.b.body.total += contact.S @ contact.b.directions


@kernel
def by_accelerations(system, body):
    """u - u_0: what of the displacement neither the step's start nor impulses, which are in `total`, explain."""
    _, beta = newmark_weights(system)
    c, _ = weights_of_new(system)
    explained = (
        body.v
        + system.dt * ((0.5 - beta) * body.pseudo_acceleration + beta * body.pseudo_acceleration_next)
        - c * body.acceleration_next
    )
    return body.u - explained - weighed(body.total, body.inverse_mass)


# ---- displacements


@kernel
def add_drag(system):
    """Add all impulses at hand to v_next, but those in the program without their effect there; its inverse masses."""
    if is_flexible(system):
        c, c_velocity = weights_of_new(system)
        for body in system.bodies:
            damped = 1.0 + c_velocity * body.damping
            body.implicit = body.inverse_mass * damped / (damped + (system.dt * c) * body.stiffness)
        factor_joints(system)
        sum_displacement_impulses(system)
        for body in system.bodies:
            in_program = weighed(body.total - body.friction_displacement, body.implicit)
            body.v_next += weighed(body.total, body.inverse_mass) - in_program
    else:
        for body in system.bodies:
            body.v_next += weighed(body.friction_displacement, inverse_mass(body))


@piece
def separate_joint_impulses(system):
    """With flexible bodies impulses S of joints, of what joints in the program changed, accelerations in part."""
    c, _ = weights_of_new(system)
    sum_displacement_impulses(system)
    for body in system.bodies:
        body.jump = by_accelerations(system, body)
    for joint in system.joints:
        joint.b0 = -rates_of_jump(joint) - c * joint.bias_acceleration
    solve_joints(system)
    for joint in system.joints:
        joint.S += joint.y


# ---- accelerations


@piece
def begin_accelerations(system):
    """With flexible bodies inverse masses, and `joint_impulse`, what of the forces of deformation is taken along."""
    c, c_velocity = weights_of_new(system)
    sum_displacement_impulses(system)
    for body in system.bodies:
        by_position, by_velocity = system.dt * body.stiffness, c_velocity * body.damping
        body.implicit = body.inverse_mass / (1.0 + c * by_position + by_velocity)
        by_u, by_v = weighed(by_accelerations(system, body), by_position), weighed(body.acceleration_next, by_velocity)
        body.joint_impulse = by_u + by_v
    factor_joints(system)


@piece
def balance_momentum(system):
    """With flexible bodies displacements once more, from accelerations and impulses of the passes, and velocities;
    whether these were found. Joints closed to their round-off in positions move single modes by more than their
    residual may be."""
    _, beta = newmark_weights(system)
    end_implicit(system)
    sum_displacement_impulses(system)
    extrapolate_velocities(system, 0.5 - beta, beta)
    for body in system.bodies:
        body.u = body.v_next + weighed(body.total, body.inverse_mass)
    place_at_end(system, system.dt)
    factor_joints(system)
    found = find_velocities(system)
    evaluate_at_end(system)
    return found


# ---- displacements


@piece
def solve_displacement(system):
    """v_next, the motion of the displacement; whether its program was solved: linearised at the end of the motion by u,
    joints closed and no gap negative, without friction. Its impulses are S, in place of P."""
    _, beta = newmark_weights(system)
    extrapolate_velocities(system, 0.5 - beta, beta)
    if system.turns:
        for body in system.bodies:
            body.v_next += weighed(body.turning, inverse_mass(body))
    per_dt = 1.0 / system.dt
    add_drag(system)
    for joint in system.joints:
        joint.kept, joint.P = joint.P, joint.S
        joint.P_near = joint.P
        joint.b0 = rates_after(joint) - rates_of_u(joint) + per_dt * joint.g
    if system.ridge > 0.0:
        make_consistent(system)
    for contact in system.contacts:
        contact.kept, contact.P = contact.P, contact.S
        contact.kept_friction, contact.friction = contact.friction, 0.0
        contact.on = contact.near
        if contact.on:
            free = rates_after(contact) - rates_of_u(contact)
            assemble_contact(contact, (free[0] + per_dt * contact.g) * normal_axis(free), system.proximal)
    found = solve(system)
    apply_all_impulses(system)
    for joint in system.joints:
        joint.S, joint.P = joint.P, joint.kept
    for contact in system.contacts:
        contact.S, contact.P, contact.friction = contact.P, contact.kept, contact.kept_friction
    return found


@kernel
def solve_with_turning(system):
    """Solve for the displacement from the impulses of the pass before."""
    for joint in system.joints:
        joint.S = joint.held
    for contact in system.contacts:
        contact.S = contact.held
    return solve_displacement(system)


find_turning = turning_of(solve_with_turning)


@piece
def displace(system, k):
    """Whether the program was solved, and the change of u, in pass k."""
    if system.turns:
        # directions of the impulses before it turn; in the first program those of contacts are only a guess
        for joint in system.joints:
            joint.held = joint.S
        for contact in system.contacts:
            contact.held = (1.0 if k > 1 else 0.0) * contact.S
        found = find_turning(system)
    else:
        found = solve_displacement(system)
    change, share = change_of_u(system)
    extrapolate_u(system, share if system.convergence.along_secants == 1 else 0.0)
    return found, change


# ---- velocities


@kernel
def turned(contact):
    """Whether its normal turns so far in the step that the mean of both directions is meaningless."""
    a, b, start_a, start_b = contact.a, contact.b, contact.start_a, contact.start_b
    both = products(start_a, a.response) + products(start_b, b.response)
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
            if contact.is_persistent == 0 or turned(contact):
                system.mean = 0
        else:
            contact.P = zeros_like(contact.P)


@kernel
def update_impulse_terms(system):
    """Further effects of impulses in the next iteration; returns their change, as velocities."""
    for body in system.bodies:
        body.total, body.jump = body.friction_displacement, body.direction_correction
        body.friction_displacement = body.direction_correction = zeros_like(body.friction_displacement)
    for joint in system.joints:
        half = (0.5 if system.mean else 0.0) * joint.P
        joint.a.body.direction_correction += half @ (joint.directions_a - joint.a.directions)
        joint.b.body.direction_correction += half @ (joint.directions_b - joint.b.directions)
    for contact in system.contacts:
        if contact.on:
            a, b, P = contact.a, contact.b, contact.P
            half, half_T = (0.5 if system.mean else 0.0) * P, 0.5 * tangential(P)
            a.body.direction_correction += half @ (contact.start_a - a.directions)
            b.body.direction_correction += half @ (contact.start_b - b.directions)
            a.body.friction_displacement += half_T @ between(system, contact.start_a, a.directions)
            b.body.friction_displacement += half_T @ between(system, contact.start_b, b.directions)
    change = 0.0
    for body in system.bodies:
        change += squared_length(weighed(body.friction_displacement - body.total, inverse_mass(body)), body.mass)
        change += squared_length(weighed(body.direction_correction - body.jump, inverse_mass(body)), body.mass)
    return math.sqrt(change)


# ---- passes


@kernel
def one_pass(system, k):
    """Whether its programs were solved, and the relative change of the motion."""
    dt, change = system.dt, 0.0
    if k > 0:
        found, change = displace(system, k)
        if not found:
            return False, 0.0
    place_at_end(system, dt)
    end_implicit(system)
    factor_joints(system)
    if is_flexible(system):
        separate_joint_impulses(system)
    close_contacts(system, k)
    if not find_velocities(system):
        return False, 0.0
    faster = update_impulse_terms(system)
    if is_flexible(system):
        begin_accelerations(system)
    faster += dt * accelerate(system, system.convergence.along_secants == 1)
    between_passes, before, after, smooth, kick = 0.0, 0.0, 0.0, 0.0, 0.0
    for body in system.bodies:
        between_passes += squared_length(body.v_next - body.reached, body.mass)
        before += squared_length(body.v, body.mass)
        after += squared_length(body.v_next, body.mass)
        smooth += squared_length(body.acceleration_next, body.mass)
        kick += squared_length(weighed(body.force, inverse_mass(body)), body.mass)
        body.reached = body.v_next
    system.passes += 1
    size = math.sqrt(before) + math.sqrt(after) + dt * math.sqrt(smooth)
    system.size, faster = size, faster + math.sqrt(between_passes)
    # joints and gaps are limited by the round-off of positions; at rest, velocities are differences of impulses
    moved = change / max(size, max(system.noise / (dt * CONVERGED), TINY))
    return True, moved + faster / max(size + dt * math.sqrt(kick), TINY)


@kernel
def choose_way(system, k):
    """Choose whether secants follow pass k, as where passes are slow and not done; the change that may end them."""
    c, acceptable = system.convergence, ACCEPTABLE if k <= LATE else STALLED
    ends = c.change <= FINEST or (c.stuck >= STUCK and c.change <= acceptable)
    slow = k > SECANT and (c.along_secants == 1 or c.change > SLOW * c.before)
    # passes with flexible bodies converge at several rates, where one secant for all makes them diverge
    along = not is_flexible(system) and not system.turns and slow and not ends
    c.along_secants = 1 if along else 0
    if along:
        c.led = 1
    return acceptable


@kernel
def iterate(system):
    """Iterate until the motion no longer changes, or residuals are small enough; whether the step is certified."""
    c = system.convergence
    begin_passes(system)
    for k in range(2 * PASSES if system.turns else PASSES):
        acceptable = choose_way(system, k)
        solved, change = one_pass(system, k)
        if not (solved and change + system.size < INFINITE):
            return False
        if k == 0:
            continue
        note_change(system, change)
        if c.along_secants == 1:
            continue
        # with flexible bodies residuals are those of the step once momentum is balanced
        if not is_flexible(system) and change <= PROMISING and check_residuals(system):
            noise = system.noise / max(system.dt * system.size, TINY)
            worst = max(max(system.residual, system.law), system.complementarity)
            if worst <= min(SETTLED + noise, ACCEPTABLE):
                return True
        # what is left shrinks from pass to pass as the change does
        fine = c.led == 1 or change <= FINEST or change >= 0.5 * c.before
        fine = fine or (k > 2 and change * change <= FINEST * c.before)
        if (change <= CONVERGED and fine) or (c.stuck >= STUCK and change <= acceptable):
            return (not is_flexible(system) or balance_momentum(system)) and check_residuals(system)
    return False


@kernel
def initialise(system):
    """Persistent contacts of the step, terms of the impact laws, and initial values of the iteration."""
    share = system.dt / system.last_dt
    for body in system.bodies:
        body.v_terms = abs(body.v)
        body.u = body.reached = body.v
        body.acceleration_next = body.smooth + share * body.delta_acceleration
        body.friction_displacement = body.direction_correction = zeros_like(body.friction_displacement)
    system.mean = 1
    for joint in system.joints:
        restore_directions(joint, joint.directions_a, joint.directions_b)
        joint.lam_next, joint.S, joint.P_before = joint.lam, 0.5 * joint.P, joint.P
    for contact in system.contacts:
        restore_directions(contact, contact.start_a, contact.start_b)
        rate = contact.before = rates_before(contact)
        zero = zero_rate(system, contact)
        contact.velocity_offset = law_shift(contact, rate, rate[0] < -zero)
        lasts = contact.start_g <= CLOSED_GAP * contact.scale and abs(rate[0]) <= zero
        contact.is_persistent = contact.near = contact.on = 1 if lasts else 0
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
    return iterate(system) and separate_impact(system) and not leaves_rest(system)


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
    """At the start of a run, or after a corner of loads: directions, gaps, rates, accelerations without contacts."""
    for body in system.bodies:
        body.u = body.v_next = body.v
        body.acceleration_next = zeros_like(body.v)
    place_at_end(system, 0.0)
    start_joints(system)
    start_contacts(system)
    end_implicit(system)
    if is_flexible(system):
        for body in system.bodies:
            body.joint_impulse = zeros_like(body.joint_impulse)
    factor_joints(system)
    for joint in system.joints:
        joint.lam_next = zeros_like(joint.P)
    for _ in range(CORRECTIONS if system.ridge > 0.0 else 1):
        accelerate(system, False)
    for body in system.bodies:
        body.smooth = body.pseudo_acceleration = body.acceleration_next
        body.delta_acceleration = zeros_like(body.v)
    for joint in system.joints:
        joint.lam = joint.lam_next


attempt_with_turning = attempt_with(attempt)


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
    if attempt_with_turning(system):
        return True
    restore(system)
    return False


@kernel
def step(system):
    """One step, accepted only if certified."""
    if system.renewed:
        system.renewed = 0
        evaluate_start(system)
    if not (attempt(system) or attempt_otherwise(system)):
        return UNCERTAIN
    finish_row(system)
    start_next_step(system)
    return DONE


run = run_of(step)


def begin(system):
    """The start of a run."""
    evaluate_start(system)
    return DONE
