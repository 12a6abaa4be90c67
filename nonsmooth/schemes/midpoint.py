"""Joints that close by one impulse along their directions in the middle of a step, up to a misfit of the third order.

    W_g' v+ + g_t = -g/dt - 3/8 dt (k + 11/18 (k - k0)),    k = 2 (W_g' v + g_t - s) / (dt + dt0)

all where bodies stand in the middle of the step by their velocity v; s are the rates that the step before left in its
own middle, k0 its k, dt0 its length.
"""

from nonsmooth.compile.kernels import kernel
from nonsmooth.records.values import zeros_like
from nonsmooth.schemes.mechanism import evaluate_all, joint_error, rates_after, rates_before, stand_before
from nonsmooth.schemes.motion import force_of, torque_of
from nonsmooth.schemes.program import factor_joints
from nonsmooth.tolerances import LEAD


@kernel
def look(system):
    """What is asked of the rates at the end; bodies stand in the middle of the step."""
    evaluate_all(system.constraints)
    dt, last = system.dt, system.last_dt
    for joint in system.joints:
        joint.bend = (2.0 / (dt + last)) * (rates_before(joint) + joint.rate - joint.left)
        lead = LEAD * (dt / last) * (joint.bend - joint.bend_before)
        joint.shift = joint.rate + joint.g / dt + (0.375 * dt) * (joint.bend + lead)
    factor_joints(system)


@kernel
def pose(system):
    """Their rows of the program."""
    for joint in system.joints:
        joint.b0 = rates_after(joint) + joint.shift


@kernel
def error(system):
    """Residual of the rates."""
    worst = 0.0
    for joint in system.joints:
        worst = max(worst, joint_error(system, joint, -joint.shift))
    return worst


@kernel
def react(system, reaction, row):
    """Force and torque on the second body, as a mean over the step; those that answer an impact apart."""
    per_dt, point = 1.0 / system.dt, reaction.point
    body = reaction.joints[0].b.body
    smooth, of_impact = 0.0 * body.q, 0.0 * body.q
    for joint in reaction.joints:
        smooth += joint.P_b @ joint.b.along
        of_impact += joint.answer @ joint.b.along
    row.force, row.torque = per_dt * force_of(smooth), per_dt * torque_of(smooth, body.z, point)
    row.impulse, row.twist = force_of(of_impact), torque_of(of_impact, body.z, point)


@kernel
def hand_on(system):
    """What the next step asks for."""
    for joint in system.joints:
        joint.left, joint.bend_before = joint.rate - joint.shift, joint.bend


@kernel
def begin(system):
    """What a step before the start would have left."""
    dt = system.dt
    stand_before(system, -0.5 * dt)
    evaluate_all(system.constraints)
    for joint in system.joints:
        joint.left = rates_before(joint) + joint.rate
        joint.P_a = joint.rate_start = zeros_like(joint.P_a)
    stand_before(system, 0.5 * dt)
    evaluate_all(system.constraints)
    for joint in system.joints:
        joint.bend_before = (1.0 / dt) * (rates_before(joint) + joint.rate - joint.left)
