"""Passes of generalised alpha that are implicit in the forces of deformation of flexible bodies.

These forces, -K eta - D eta' of the amplitudes eta of modes of mass one, are stiff: passes in which accelerations b
follow from displacements u and velocities v+, and these from b, would not converge. With c = dt beta and c' = dt gamma
times the weight of the new b in the pseudo-acceleration, u contains c b and v+ contains c' b, which are taken along:

    accelerations:   (M + dt c K + c' D) b+ = h(u, v+) + W_g lam + dt K (u - u_0) + D c' b

with the u_0 of this step without b, and the b of v+. In the program of displacements impulses S change u as if b had
responded to them,

    E = M^-1 (1 - dt c K / (M + dt c K + c' D))

so that impulses of joints in it are S_g + c times the change of lam, and S_g is then found from W_g' b + bias = 0.
Impulses of the program of velocities act on the true masses, as those at an instant do. At convergence all are the
equations of the scheme. K and D are diagonal, and zero for rigid bodies.
"""

from nonsmooth.compile.kernels import by_modes, kernel, piece
from nonsmooth.records.values import weighed, zeros_like
from nonsmooth.schemes.accelerations import (
    evaluate_at_end,
    extrapolate_velocities,
    newmark_weights,
    pseudo_weights,
)
from nonsmooth.schemes.alpha_end import find_velocities
from nonsmooth.schemes.deformation import take_true_masses
from nonsmooth.schemes.first_half import place_at_end
from nonsmooth.schemes.mechanism import rates_of_jump
from nonsmooth.schemes.motion import inverse_mass
from nonsmooth.schemes.program import factor_joints, solve_joints


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
        body.total = body.drag
    for joint in system.joints:
        joint.a.body.total += joint.S @ joint.a.along
        joint.b.body.total += joint.S @ joint.b.along
    for contact in system.contacts:
        contact.a.body.total += contact.S @ contact.a.along
        contact.b.body.total += contact.S @ contact.b.along


@kernel
def by_accelerations(system, body):
    """u - u_0: what of the displacement neither the step's start nor impulses, which are in `total`, explain."""
    _, beta = newmark_weights(system)
    c, _ = weights_of_new(system)
    explained = body.v + system.dt * ((0.5 - beta) * body.pseudo + beta * body.pseudo_next) - c * body.smooth_next
    return body.u - explained - weighed(body.total, body.inverse_mass)


# ---- displacements


@kernel
def add_drag_on_rigid_bodies(system):
    for body in system.bodies:
        body.v_next += weighed(body.drag, inverse_mass(body))


@piece
def add_drag_on_flexible_bodies(system):
    """With all impulses at hand, but those that are in the program without their effect there; its inverse masses."""
    c, c_velocity = weights_of_new(system)
    for body in system.bodies:
        damped = 1.0 + c_velocity * body.damping
        body.implicit = body.inverse_mass * damped / (damped + (system.dt * c) * body.stiffness)
    factor_joints(system)
    sum_displacement_impulses(system)
    for body in system.bodies:
        in_program = weighed(body.total - body.drag, body.implicit)
        body.v_next += weighed(body.total, body.inverse_mass) - in_program


@piece
def separate_joint_impulses(system):
    """True masses; impulses S of joints, of what joints in the program changed, which accelerations did in part."""
    take_true_masses(system, 0.0)
    factor_joints(system)
    c, _ = weights_of_new(system)
    sum_displacement_impulses(system)
    for body in system.bodies:
        body.jump = by_accelerations(system, body)
    for joint in system.joints:
        joint.b0 = -rates_of_jump(joint) - c * joint.bend
    solve_joints(system)
    for joint in system.joints:
        joint.S += joint.y


# ---- accelerations


@piece
def begin_flexible_accelerations(system):
    """Their inverse masses, and `hold`, what of the forces of deformation is taken along."""
    c, c_velocity = weights_of_new(system)
    sum_displacement_impulses(system)
    for body in system.bodies:
        by_position, by_velocity = system.dt * body.stiffness, c_velocity * body.damping
        body.implicit = body.inverse_mass / (1.0 + c * by_position + by_velocity)
        body.hold = weighed(by_accelerations(system, body), by_position) + weighed(body.smooth_next, by_velocity)
    factor_joints(system)


@piece
def balance_momentum(system):
    """True masses; displacements once more, from the accelerations and impulses that the passes found, and velocities;
    whether these were found.

    Programs close joints to their round-off in positions, which as a displacement over the step moves single modes by
    more than their residual may be.
    """
    _, beta = newmark_weights(system)
    take_true_masses(system, 0.0)
    sum_displacement_impulses(system)
    extrapolate_velocities(system, 0.5 - beta, beta)
    for body in system.bodies:
        body.u = body.v_next + weighed(body.total, body.inverse_mass)
    place_at_end(system, system.dt)
    factor_joints(system)
    found = find_velocities(system)
    evaluate_at_end(system)
    return found


@kernel
def nothing(system):
    pass


@kernel
def nothing_to_balance(system):
    return True


@kernel
def hold_nothing(system):
    take_true_masses(system, 0.0)
    for body in system.bodies:
        body.hold = zeros_like(body.hold)


add_drag = by_modes(add_drag_on_rigid_bodies, add_drag_on_flexible_bodies)  # (system): to v_next, of displacements
factor_at_end = by_modes(factor_joints, separate_joint_impulses)  # (system)
begin_accelerations = by_modes(nothing, begin_flexible_accelerations)  # (system)
balance = by_modes(nothing_to_balance, balance_momentum)  # (system)
start_accelerations = by_modes(nothing, hold_nothing)  # (system): those of given positions and velocities
