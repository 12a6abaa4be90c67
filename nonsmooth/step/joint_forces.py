"""Impulses or forces that satisfy the constraints of joints, by least changes of velocities or accelerations."""

from nonsmooth.compile.kernels import is_flexible, kernel, piece
from nonsmooth.compile.records.values import zeros_like
from nonsmooth.step.mechanism import rates_of_jump
from nonsmooth.step.motion import force_of, moment_of, torque_of
from nonsmooth.step.program import solve_joints

#: corrections where rows are redundant, each of which leaves the error by the ridge on the diagonal, to 1e-4 at worst
CORRECTIONS = 5


@piece
def respond_to_jump(system):
    """Impulses y of joints that change their rates by minus b0; their effect is added to `jump` of bodies."""
    solve_joints(system)
    for joint in system.joints:
        joint.a.body.jump += joint.y @ joint.a.response
        joint.b.body.jump += joint.y @ joint.b.response


@piece
def close_joints(system):
    """Add the effect of joints, factored before, to `jump`: rates become minus `velocity_offset`; P are impulses."""
    system.ground.jump = zeros_like(system.ground.jump)  # which values that are not finite would have changed
    if not len(system.joints):
        return
    for joint in system.joints:
        joint.P = zeros_like(joint.P)
    for _ in range(CORRECTIONS if system.ridge > 0.0 else 1):
        for joint in system.joints:
            joint.b0 = rates_of_jump(joint) + joint.velocity_offset
        respond_to_jump(system)
        for joint in system.joints:
            joint.P = joint.P + joint.y


@kernel
def bias(system):
    """The rates required are those of accelerations."""
    for joint in system.joints:
        joint.velocity_offset = joint.bias_acceleration


@kernel
def reaction_of(reaction):
    """Force and torque, or impulses, on the second body from those of the rows, y; in flexible bodies by wrenches."""
    if is_flexible(reaction):
        wrench = 0.0 * reaction.joints[0].wrench[0]
        for joint in reaction.joints:
            wrench += joint.y @ joint.wrench
        return force_of(wrench), moment_of(wrench)
    body = reaction.joints[0].b.body
    push = 0.0 * body.q
    for joint in reaction.joints:
        push += joint.y @ joint.b.directions
    return force_of(push), torque_of(push, body.z, reaction.point)


@kernel
def mean_reaction(system, reaction, from_start):
    """Mean force and torque of a step, of the impulses P_b at its end and, with `from_start`, P_a at its start."""
    per_dt = 1.0 / system.dt if system.dt > 0.0 else 0.0
    if is_flexible(system):
        wrench = 0.0 * reaction.joints[0].wrench[0]
        for joint in reaction.joints:
            if from_start:
                wrench += joint.P_a @ joint.wrench_start + joint.P_b @ joint.wrench
            else:
                wrench += joint.P_b @ joint.wrench
        wrench = per_dt * wrench
        return force_of(wrench), moment_of(wrench)
    body, point = reaction.joints[0].b.body, reaction.point
    at_start, at_end = 0.0 * body.q, 0.0 * body.q
    for joint in reaction.joints:
        if from_start:
            at_start += joint.P_a @ joint.directions_b
        at_end += joint.P_b @ joint.b.directions
    impulse, moment = force_of(at_end), torque_of(at_end, body.z, point)
    if from_start:
        impulse = force_of(at_start) + impulse
        moment = torque_of(at_start, reaction.start_z, point) + moment
    return per_dt * impulse, per_dt * moment
