"""Accelerations of generalised alpha, velocities from them, and the secant acceleration of the fixed-point iteration.

The acceleration b is that without contacts, and determines the pseudo-acceleration a:

    M b = h(t, q, v) + W_g lam,    W_g' b + bias = 0
    (1 - alpha_m) a+ + alpha_m a = (1 - alpha_f) b+ + alpha_f b

with bias the convective accelerations of the joint rows.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import weighed
from nonsmooth.schemes.mechanism import evaluate_all, length, load
from nonsmooth.schemes.motion import energy_product
from nonsmooth.schemes.program import answer_of_joints
from nonsmooth.tolerances import TINY

#: least and largest share of the way to where the secant of the last two passes has its zero
LEAST, MOST = -10.0, 0.97


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
def follow(system, old, new):
    """v_next that the pseudo-accelerations give, the old one and the new one weighed."""
    of_pseudo, of_old, of_new = pseudo_weights(system)
    dt = system.dt
    for body in system.bodies:
        body.pseudo_next = of_pseudo * body.pseudo + of_old * body.smooth + of_new * body.smooth_next
        body.v_next = body.v + dt * (old * body.pseudo + new * body.pseudo_next)


@kernel
def bend(secant, off, mass):
    """Of the secant through the last two passes: what its share is a quotient of."""
    other = off - secant.off
    return energy_product(off, other, mass), length(other, mass)


@kernel
def share_of(above, below):
    return min(max(above / max(below, TINY), LEAST), MOST)


@kernel
def led_on(secant, answer, off, share):
    """The new iterate or, with a factor, that of the secant."""
    found = answer
    if share != 0.0:  # else the data of the secant, perhaps of a failed step, are not used
        found = answer - share * (answer - secant.answer)
    secant.answer, secant.off = answer, off
    return found


@kernel
def rates_of_jump(bond):
    return bond.a.along @ bond.a.body.jump + bond.b.along @ bond.b.body.jump


@piece
def hold_jump(system):
    """Impulses y of joints that change their rates by minus b0; bodies' jumps with what these add."""
    answer_of_joints(system)
    for joint in system.joints:
        joint.a.body.jump += joint.y @ joint.a.moves
        joint.b.body.jump += joint.y @ joint.b.moves


@piece
def accelerate(system, along_secants):
    """Accelerations and forces of joints at the end, contacts left aside; by how much the former have changed."""
    for body in system.bodies:
        body.way, body.u = body.u, body.v_next
    load(system)
    evaluate_all(system.biases)
    for body in system.bodies:
        body.u = body.way
        body.jump = weighed(body.force, body.inverse_mass)
    for joint in system.joints:
        joint.a.body.jump += joint.lam_next @ joint.a.moves
        joint.b.body.jump += joint.lam_next @ joint.b.moves
    for joint in system.joints:
        joint.b0 = rates_of_jump(joint) + joint.bend
    hold_jump(system)
    change, above, below = 0.0, 0.0, 0.0
    for joint in system.joints:
        joint.lam_next += joint.y
    for body in system.bodies:
        off = body.jump - body.smooth_next
        change += length(off, body.mass)
        up, down = bend(body.smooth_found, off, body.mass)
        above, below = above + up, below + down
    share = share_of(above, below) if along_secants else 0.0
    for body in system.bodies:
        body.smooth_next = led_on(body.smooth_found, body.jump, body.jump - body.smooth_next, share)
    return math.sqrt(change)
