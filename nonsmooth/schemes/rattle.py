"""Joints closed at the end of a step in positions and velocities, by impulses along the directions at both ends.

Impulses P_a at the start satisfy g(q+) = 0, and impulses P at the end the velocity constraints there. Both are computed
with the same matrix, W_g(q+)' M^-1 W_g(q+): the iterations of the step correct P_a until g(q+) = 0 is satisfied.
"""

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import weighed
from nonsmooth.schemes.mechanism import evaluate_all, joint_error, rates_after, rates_of_way, stand, start_joints
from nonsmooth.schemes.motion import force_of, placed, torque_of
from nonsmooth.schemes.program import answer_of_joints, factor_joints, least_impulses, no_motion
from nonsmooth.schemes.trend import break_off, note


@kernel
def hold(joint, P):
    """Impulses P along the directions at the start, on its bodies."""
    joint.a.body.hold += P @ joint.along_a
    joint.b.body.hold += P @ joint.along_b


@piece
def close(system):
    """Impulses at the start for g = 0 at the end, q moved by u, linearised there."""
    dt = system.dt
    stand(system, dt)
    evaluate_all(system.constraints)
    factor_joints(system)
    for body in system.bodies:
        by_others = system.theta * (dt * body.force + body.push)
        body.v_next = body.v + weighed(by_others + body.hold, body.inverse_mass)
    for joint in system.joints:
        joint.b0 = rates_after(joint) - rates_of_way(joint) + joint.g / dt
    answer_of_joints(system)
    for joint in system.joints:
        joint.P_a += joint.y
        hold(joint, joint.y)


@piece
def follow(system):
    """Correct the impulses at both ends for the change of the impulses of contacts, body.jump.

    Without this, g in the next iteration would differ from zero by the effect of this change.
    """
    for joint in system.joints:
        a, b = joint.a, joint.b
        moved_a, moved_b = weighed(a.body.jump, a.body.inverse_mass), weighed(b.body.jump, b.body.inverse_mass)
        joint.b0 = system.theta * (a.along @ moved_a + b.along @ moved_b)
    answer_of_joints(system)
    for joint in system.joints:
        joint.P_a += joint.y
        joint.P = joint.P - joint.y
        hold(joint, joint.y)
        a, b, y = joint.a, joint.b, joint.y
        a.body.v_next += weighed(y @ joint.along_a, a.body.inverse_mass) - y @ a.moves
        b.body.v_next += weighed(y @ joint.along_b, b.body.inverse_mass) - y @ b.moves


@kernel
def pose(system):
    """Their rows of the program, whose matrix was factored by `close`."""
    for joint in system.joints:
        joint.b0 = rates_after(joint) + joint.rate


@kernel
def error(system):
    """Residual of the rates, with directions at the end of the motion by u."""
    stand(system, system.dt)
    evaluate_all(system.constraints)
    worst = 0.0
    for joint in system.joints:
        worst = max(worst, joint_error(system, joint, -joint.rate))
    return worst


@kernel
def exchange(joint):
    """Directions at the end of the step with those at its start."""
    a, b = joint.a.along, joint.b.along
    joint.a.along, joint.b.along = joint.along_a, joint.along_b
    joint.along_a, joint.along_b = a, b


@piece
def least(system):
    """Replace the impulses at both ends by the equivalent ones of least norm, if rows are redundant."""
    if not system.ridge > 0.0:
        return
    least_impulses(system)
    for joint in system.joints:
        exchange(joint)
    factor_joints(system)
    for joint in system.joints:
        joint.y = joint.P_a
    no_motion(system)
    for joint in system.joints:
        joint.P_a = joint.P_a - joint.y
        exchange(joint)


@kernel
def react(system, reaction, row):
    """Force and torque on the second body, as means of both ends of the step; those due to an impact separately."""
    per_dt, point = 1.0 / system.dt, reaction.point
    first = reaction.joints[0]
    body = first.b.body
    at_start, at_end, of_impact = 0.0 * body.q, 0.0 * body.q, 0.0 * body.q
    for joint in reaction.joints:
        at_start += joint.P_a @ joint.along_b
        at_end += joint.P_b @ joint.b.along
        of_impact += joint.answer @ joint.b.along
    z = placed(body.q)
    row.force = per_dt * (force_of(at_start) + force_of(at_end))
    row.torque = per_dt * (torque_of(at_start, z, point) + torque_of(at_end, body.z, point))
    row.impulse, row.twist = force_of(of_impact), torque_of(of_impact, body.z, point)


@kernel
def hand_on(system, struck):
    """The end of a step is the start of the next one."""
    start_joints(system)
    for joint in system.joints:
        if struck:
            break_off(joint.trend, joint.trend.last)
        else:
            note(joint.trend, joint.P_a)


@kernel
def begin(system):
    """Directions at the start of a run."""
    for body in system.bodies:
        body.u = body.v
    stand(system, 0.0)
    evaluate_all(system.constraints)
    start_joints(system)
