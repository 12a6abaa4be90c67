"""What keeps joints closed: least changes of velocities or accelerations, by impulses or forces along their rows."""

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import zeros_like
from nonsmooth.schemes.accelerations import hold_jump, rates_of_jump
from nonsmooth.schemes.program import no_motion

#: corrections where rows are redundant, each of which leaves the error by the ridge on the diagonal, to 1e-4 at worst
CORRECTIONS = 5


@piece
def close(system):
    """The changes `jump` with what joints add, so that their rates are minus `shift`; P, the impulses or forces.

    The matrix of the joints is factored.
    """
    system.ground.jump = zeros_like(system.ground.jump)  # which what is not finite would have changed
    if not len(system.joints):
        return
    for joint in system.joints:
        joint.P = zeros_like(joint.P)
    for _ in range(CORRECTIONS if system.ridge > 0.0 else 1):
        for joint in system.joints:
            joint.b0 = rates_of_jump(joint) + joint.shift
        hold_jump(system)
        for joint in system.joints:
            joint.P = joint.P + joint.y


@kernel
def bias(system):
    """The rates required are those of accelerations."""
    for joint in system.joints:
        joint.shift = joint.bend


@kernel
def least(system):
    """Of the P that act alike, where rows are redundant, the least one."""
    if not system.ridge > 0.0:
        return
    for joint in system.joints:
        joint.y = joint.P
    no_motion(system)
    for joint in system.joints:
        joint.P = joint.P - joint.y
