"""Projection of the end of a step of Moreau and Jean: the nearest position in the mass metric at which joints are
closed and no gap is negative, by a sequence of programs in linearised gaps and joints, without friction."""

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.compile.records.values import normal_axis, zeros_like
from nonsmooth.schemes.moreau_jean.moment_arms import update_moment_arms
from nonsmooth.step.deformation import begin_implicit, end_implicit
from nonsmooth.step.mechanism import apply_all_impulses, evaluate_all, place_by_u, place_by_v
from nonsmooth.step.motion import moved, placed, see
from nonsmooth.step.program import assemble_contact, assemble_diagonal, factor_joints, make_consistent, solve

#: programs at most, and penetration, in clearances, that is accepted after them
PROGRAMS, PENETRATED = 100, 1e-12


@kernel
def place(system):
    """Place bodies at the projected positions."""
    see(system, system.t + system.dt)
    for body in system.bodies:
        body.at = body.projected
        body.z = placed(body.at)


@kernel
def overlaps(system):
    """Whether a gap is negative by more than the tolerance."""
    for contact in system.contacts:
        if contact.g < -PENETRATED * contact.scale:
            return True
    return False


@kernel
def restore_step(system):
    """Restore what the step has found, with directions as they were."""
    for body in system.bodies:
        body.v_next = body.reached
    for joint in system.joints:
        joint.P = joint.P_near = joint.kept
    for contact in system.contacts:
        contact.P, contact.friction, contact.on = contact.kept, contact.kept_friction, contact.near
    begin_implicit(system, system.theta * system.dt)
    place_by_v(system, 0.5 * system.dt)
    evaluate_all(system.surfaces)
    for contact in system.contacts:
        assemble_diagonal(contact)
    update_moment_arms(system)
    if len(system.joints):
        place_by_u(system, system.dt)
        evaluate_all(system.constraints)
        factor_joints(system)


@piece
def displace(system):
    """Solve one program and move the bodies; whether it was solved."""
    for body in system.bodies:
        body.v_next = zeros_like(body.v_next)
    for joint in system.joints:
        joint.P = joint.P_near = zeros_like(joint.P)
        joint.b0 = joint.g
    if system.ridge > 0.0:
        make_consistent(system)
    for contact in system.contacts:
        contact.P = zeros_like(contact.P)
        assemble_contact(contact, contact.g * normal_axis(contact.P), system.proximal)
    if not solve(system):
        return False
    apply_all_impulses(system)
    for body in system.bodies:
        body.projected = moved(body, body.projected, body.v_next, 1.0)
    return True


@piece
def project(system):
    """Positions at the end of the step, `projected`; whether all programs were solved and no gap is negative."""
    for body in system.bodies:
        body.projected = moved(body, body.q, body.u, system.dt)
    place(system)
    evaluate_all(system.surfaces)
    found = not overlaps(system)
    for body in system.bodies:
        body.reached = body.v_next
    for joint in system.joints:
        joint.kept = joint.P
    for contact in system.contacts:
        contact.kept, contact.kept_friction, contact.near = contact.P, contact.friction, contact.on
        contact.friction, contact.on = 0.0, 1
    end_implicit(system)
    for _ in range(PROGRAMS):
        if found:
            break
        evaluate_all(system.constraints)
        factor_joints(system)
        if not displace(system):
            break
        place(system)
        evaluate_all(system.surfaces)
        found = not overlaps(system)
    restore_step(system)
    return found
