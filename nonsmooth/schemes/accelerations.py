"""Accelerations of generalised alpha, and the velocities that follow from them.

The acceleration b is that without contacts, and determines the pseudo-acceleration a:

    M b = h(t, q, v) + W_g lam,    W_g' b + bias = 0
    (1 - alpha_m) a+ + alpha_m a = (1 - alpha_f) b+ + alpha_f b

with bias the convective accelerations of the joint rows.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import weighed
from nonsmooth.schemes.joint_forces import respond_to_jump
from nonsmooth.schemes.mechanism import evaluate_all, evaluate_loads, rates_of_jump, squared_length
from nonsmooth.schemes.motion import inverse_mass
from nonsmooth.schemes.secants import extrapolated, secant_share, secant_terms


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
def extrapolate_velocities(system, old, new):
    """v_next from the old and new pseudo-accelerations with these weights."""
    of_pseudo, of_old, of_new = pseudo_weights(system)
    dt = system.dt
    for body in system.bodies:
        body.pseudo_next = of_pseudo * body.pseudo + of_old * body.smooth + of_new * body.smooth_next
        body.v_next = body.v + dt * (old * body.pseudo + new * body.pseudo_next)


@piece
def accelerate(system, along_secants):
    """Accelerations and joint forces at the end without contacts; the change of the accelerations."""
    for body in system.bodies:
        body.way, body.u = body.u, body.v_next
    evaluate_loads(system)
    evaluate_all(system.biases)
    for body in system.bodies:
        body.u = body.way
        body.jump = weighed(body.force, inverse_mass(body))
    for joint in system.joints:
        joint.a.body.jump += joint.lam_next @ joint.a.moves
        joint.b.body.jump += joint.lam_next @ joint.b.moves
    for joint in system.joints:
        joint.b0 = rates_of_jump(joint) + joint.bend
    respond_to_jump(system)
    change, above, below = 0.0, 0.0, 0.0
    for joint in system.joints:
        joint.lam_next += joint.y
    for body in system.bodies:
        off = body.jump - body.smooth_next
        change += squared_length(off, body.mass)
        up, down = secant_terms(body.smooth_found, off, body.mass)
        above, below = above + up, below + down
    share = secant_share(above, below) if along_secants else 0.0
    for body in system.bodies:
        body.smooth_next = extrapolated(body.smooth_found, body.jump, body.jump - body.smooth_next, share)
    return math.sqrt(change)
