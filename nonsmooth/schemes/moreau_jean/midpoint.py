"""Joints closed by one impulse along their directions at the midpoint of a step, with a residual of third order.

    W_g' v+ + g_t = -g/dt - 3/8 dt (k + 11/18 (k - k0)),    k = 2 (W_g' v + g_t - s) / (dt + dt0)

all at the midpoint configuration, q moved by v for dt/2; s are the constraint velocities of the previous step at its
own midpoint, k0 its k, dt0 its length.
"""

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.compile.records.values import zeros_like
from nonsmooth.step.mechanism import evaluate_all, joint_residual, place_by_v, rates_after, rates_before
from nonsmooth.step.program import factor_joints, make_consistent, motionless_component

#: extrapolation of the second derivatives of joints, in steps, for which steady rotation conserves energy
LEAD = 11.0 / 18.0


@kernel
def evaluate(system):
    """The required velocities at the end; bodies are at the midpoint."""
    evaluate_all(system.constraints)
    dt, last = system.dt, system.last_dt
    for joint in system.joints:
        joint.bias_acceleration = (2.0 / (dt + last)) * (rates_before(joint) + joint.rate - joint.left)
        lead = LEAD * (dt / last) * (joint.bias_acceleration - joint.previous_bias_acceleration)
        joint.velocity_offset = joint.rate + joint.g / dt + (0.375 * dt) * (joint.bias_acceleration + lead)
    factor_joints(system)


@kernel
def assemble(system):
    """Their rows of the program."""
    for joint in system.joints:
        joint.b0 = rates_after(joint) + joint.velocity_offset
    if system.ridge > 0.0:
        make_consistent(system)


@piece
def contradiction(system):
    """The component of the rates' residual that no impulse changes, in y."""
    for joint in system.joints:
        joint.y = rates_after(joint) + joint.velocity_offset
    motionless_component(system)


@kernel
def error(system):
    """Residual of the rates; of redundant rows without their inconsistent component, which no velocity satisfies."""
    worst = 0.0
    if system.ridge > 0.0:
        contradiction(system)
    for joint in system.joints:
        asked = joint.y - joint.velocity_offset if system.ridge > 0.0 else -joint.velocity_offset
        worst = max(worst, joint_residual(system, joint, asked))
    return worst


@kernel
def start_next_step(system):
    """Keep the data for the next step."""
    for joint in system.joints:
        joint.left, joint.previous_bias_acceleration = joint.rate - joint.velocity_offset, joint.bias_acceleration


@kernel
def begin(system):
    """Initial values, as if from a previous step."""
    dt = system.dt
    place_by_v(system, -0.5 * dt)
    evaluate_all(system.constraints)
    for joint in system.joints:
        joint.left = rates_before(joint) + joint.rate
        joint.P_a = joint.rate_start = zeros_like(joint.P_a)
    place_by_v(system, 0.5 * dt)
    evaluate_all(system.constraints)
    for joint in system.joints:
        joint.previous_bias_acceleration = (1.0 / dt) * (rates_before(joint) + joint.rate - joint.left)
