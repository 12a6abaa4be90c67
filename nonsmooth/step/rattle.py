"""Joints closed at the end of a step in positions and velocities, by impulses along the directions at both ends.

Impulses P_a at the start satisfy g(q+) = 0, and impulses P at the end the velocity constraints there. Both are computed
with the same matrix, W_g(q+)' M^-1 W_g(q+), factored in the first iteration of the step and kept for the others, as in
the chord method. What it leaves of a correction of P_a, since W_g(q+)' M^-1 W_g(q) is another one, is corrected at once
if it is visible. Where a step passes a singular position they diverge along directions that are nearly lost and change
their sign: P_a is then found outside, with W_g(q+)' M^-1 W_g(q).
"""

from nonsmooth.compile.kernels import is_flexible, kernel, piece, solved_outside
from nonsmooth.compile.records.values import largest, weighed, zeros_like
from nonsmooth.step.deformation import implicit_force
from nonsmooth.step.mechanism import (
    apply_impulses,
    evaluate_all,
    joint_residual,
    place_by_u,
    rates_after,
    rates_of_jump,
    rates_of_u,
    start_joints,
)
from nonsmooth.step.motion import inverse_mass
from nonsmooth.step.program import factor_joints, least_impulses, motionless_component, solve_joints
from nonsmooth.step.tolerances import CLOSED_JOINTS
from nonsmooth.step.trend import record_impulses, start_again


@kernel
def add_start_impulses(joint, P):
    """Impulses P along the directions at the start, on its bodies."""
    joint.a.body.joint_impulse += P @ joint.directions_a
    joint.b.body.joint_impulse += P @ joint.directions_b


close_outside = solved_outside("close")


@kernel
def keeps_factors(system):
    """Whether passes keep the matrix of the first one: rows are not redundant, and bodies are rigid."""
    return not is_flexible(system) and not system.midpoint and system.ridge == 0.0


@kernel
def evaluate(system):
    """Joints at the end of the motion by u."""
    place_by_u(system, system.dt)
    evaluate_all(system.constraints)


@kernel
def error(system):
    """Residual of the rates at the end of the motion by u."""
    worst = 0.0
    for joint in system.joints:
        worst = max(worst, joint_residual(system, joint, -joint.rate))
    return worst


@kernel
def largest_violation(system):
    """Largest constraint violation there, as a share of coordinates."""
    worst = 0.0
    for joint in system.joints:
        size = system.reach + largest(abs(joint.a.body.at)) + largest(abs(joint.b.body.at))
        worst = max(worst, largest(abs(joint.g)) / size)
    return worst


@piece
def solve_along_start(system):
    """Impulses y along the directions at the start that change rates at the end by -b0: by the matrix of the directions
    there, once more if positions would change by more than round-off."""
    solve_joints(system)
    worst = 0.0
    for joint in system.joints:
        worst = max(worst, largest(abs(joint.b0)))
    if not (keeps_factors(system) and system.dt * worst > CLOSED_JOINTS * system.reach):
        return
    system.ground.jump = zeros_like(system.ground.jump)
    for body in system.bodies:
        body.jump = zeros_like(body.jump)
    for joint in system.joints:
        a, b, y, joint.u = joint.a, joint.b, joint.y, joint.y
        a.body.jump += weighed(y @ joint.directions_a, inverse_mass(a.body))
        b.body.jump += weighed(y @ joint.directions_b, inverse_mass(b.body))
    for joint in system.joints:
        joint.b0 = joint.b0 + rates_of_jump(joint)
    solve_joints(system)
    for joint in system.joints:
        joint.y = joint.y + joint.u


@piece
def close(system):
    """Impulses at the start for g = 0 at the end, q moved by u, linearised there, by the matrix at hand."""
    dt = system.dt
    for body in system.bodies:
        by_others = system.theta * (dt * implicit_force(body, system.theta * dt) + body.contact_impulse)
        body.v_next = body.v + weighed(by_others + body.joint_impulse, inverse_mass(body))
    for joint in system.joints:
        joint.b0 = rates_after(joint) - rates_of_u(joint) + joint.g / dt
    if system.close == 0:
        solve_along_start(system)
    else:
        close_outside(system)
    for joint in system.joints:
        joint.P_a += joint.y
        add_start_impulses(joint, joint.y)


@piece
def correct_impulses(system):
    """Correct the impulses at both ends for the change by contacts, body.jump, which would violate joints."""
    for joint in system.joints:
        a, b = joint.a, joint.b
        moved_a, moved_b = weighed(a.body.jump, inverse_mass(a.body)), weighed(b.body.jump, inverse_mass(b.body))
        joint.b0 = system.theta * (a.directions @ moved_a + b.directions @ moved_b)
    solve_along_start(system)
    for joint in system.joints:
        joint.P_a += joint.y
        joint.P = joint.P - joint.y
        add_start_impulses(joint, joint.y)
        a, b, y = joint.a, joint.b, joint.y
        a.body.v_next += weighed(y @ joint.directions_a, inverse_mass(a.body)) - y @ a.response
        b.body.v_next += weighed(y @ joint.directions_b, inverse_mass(b.body)) - y @ b.response


@kernel
def assemble(system, kept):
    """Rows of joints in the program: rates at the end without impulses there; `kept`: less those that P has already.
    With flexible bodies impulses of contacts have their effect at an instant."""
    if is_flexible(system):
        for joint in system.joints:
            joint.b0 = rates_after(joint) + joint.rate + rates_of_jump(joint)
    else:
        for joint in system.joints:
            joint.base = joint.P if kept else zeros_like(joint.P)
        if kept:
            for joint in system.joints:
                a, b = joint.a, joint.b
                a.body.v_next += weighed(joint.base @ a.directions, inverse_mass(a.body))
                b.body.v_next += weighed(joint.base @ b.directions, inverse_mass(b.body))
                joint.P = zeros_like(joint.P)
            for contact in system.contacts:
                if contact.on:
                    apply_impulses(contact, contact.P)
        for joint in system.joints:
            joint.b0 = rates_after(joint) + joint.rate
        if kept:
            for contact in system.contacts:
                if contact.on:
                    apply_impulses(contact, -contact.P)
                    for coupling in contact.couplings:
                        coupling.other.b0 -= contact.P @ coupling.W


@kernel
def exchange_directions(joint):
    """Directions at the end of the step with those at its start."""
    a, b = joint.a.directions, joint.b.directions
    joint.a.directions, joint.b.directions = joint.directions_a, joint.directions_b
    joint.directions_a, joint.directions_b = a, b


@piece
def choose_least_impulses(system):
    """Replace the impulses at both ends by the equivalent ones of least norm, if rows are redundant."""
    if not system.ridge > 0.0:
        return
    least_impulses(system)
    for joint in system.joints:
        exchange_directions(joint)
    factor_joints(system)
    for joint in system.joints:
        joint.y = joint.P_a
    motionless_component(system)
    for joint in system.joints:
        joint.P_a = joint.P_a - joint.y
        exchange_directions(joint)


@kernel
def start_next_step(system, struck):
    """The end of a step is the start of the next one."""
    start_joints(system)
    for joint in system.joints:
        if struck:
            start_again(joint.trend, joint.trend.last)
        else:
            record_impulses(joint.trend, joint.P_a)


@kernel
def begin(system):
    """Directions at the start of a run."""
    for body in system.bodies:
        body.u = body.v
    place_by_u(system, 0.0)
    evaluate_all(system.constraints)
    start_joints(system)
