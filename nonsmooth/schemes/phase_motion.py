"""Smooth motion between events, in which the modes of all contacts are known.

With D the directions of joints, closed gaps and sticking slips, and F those of their forces, in which a contact that
slips in the direction s has W_N - mu W_T s,

    M a = h + F lam,    D' a + bias = 0

Forces are P of joints and contacts here, and accelerations `jump`. Positions and velocities are projected onto the same
rows in the metric of masses. The matrix is eliminated block by block, as that of a program.
"""

import math

from nonsmooth.compile.kernels import by_dimension, kernel, piece, solved_outside
from nonsmooth.records.values import (
    angular,
    dot,
    identity,
    largest,
    linear,
    normal_axis,
    outer,
    rigid_motion,
    trace,
    weighed,
    zeros_like,
)
from nonsmooth.schemes.mechanism import evaluate_all, evaluate_loads, norm, rates_of_jump, rates_of_u, tangential
from nonsmooth.schemes.motion import moved, placed
from nonsmooth.schemes.program import (
    INFINITE,
    assemble_couplings,
    assemble_diagonal,
    backward,
    eliminate,
    factor_joints,
    forward,
    motionless_component,
)
from nonsmooth.tolerances import GAINING, OPEN, PROJECTED, SLIPPING, STICKING, TINY
from nonsmooth.tolerances.event_driven import PASSES

#: level of the rows of closed contacts: gaps, velocities, accelerations with their forces
GAPS, VELOCITIES, FORCES = 0, 1, 2
#: of contacts whose forces are not unique: share of the diagonal that makes the least ones so, and corrections, each of
#: which leaves about this share of the error
LEAST, CORRECTIONS = 1e-6, 8
#: further corrections where rows of joints are redundant, whose diagonal is raised by less: each leaves 1e-4 at worst
REDUNDANT = 2
#: forces of the phase: unique; the least ones, by a raised diagonal, or by least squares outside of this text; those
#: nearest to a reference
UNIQUE, RAISED, SQUARES, REFERRED = 0, 1, 2, 3

balanced_outside = solved_outside("balances")  # (run): P and `jump`, as by `respond_in_phase`


@kernel
def normalised_in_plane(q):
    return q


@kernel
def normalised_in_space(q):
    p = angular(q)
    return rigid_motion(q, linear(q), (1.0 / math.sqrt(dot(p, p))) * p)


normalised = by_dimension(normalised_in_plane, normalised_in_space)  # (q): with a quaternion of norm 1


# ---- rows of the phase


@kernel
def linearise_phase(touch, what):
    """Rows of a closed contact: its gap stays closed, it sticks, or has friction -mu P_N along its slip."""
    contact = touch.contact
    P, W = contact.P, contact.W
    N, one = normal_axis(P), identity(P)
    if touch.mode == STICKING and what != GAPS:
        contact.G, contact.pivot = one, W
        return
    normal = outer(N, N)
    H = one - normal
    if touch.mode == SLIPPING and what == FORCES:
        H += contact.friction * outer(touch.along, N)
    contact.G, contact.pivot = normal, normal @ W + max(trace(W) - W[0][0], W[0][0]) * H


@kernel
def raise_diagonal(run, touch, what):
    """Raise the diagonal, so that of forces that act alike the least ones are found: in units in which a direction has
    length 1 in the metric of masses, those of contacts that stick in proportion to their cones."""
    contact, most = touch.contact, 1.0
    for other in run.touches:
        if other.mode == STICKING:
            most = max(most, other.share * other.share)
    N, one = normal_axis(contact.P), identity(contact.P)
    diagonal = (LEAST * most) * (contact.W * one)
    normal = outer(N, N)
    raised = diagonal @ normal
    if touch.mode == STICKING and what != GAPS:
        raised += (1.0 / (touch.share * touch.share)) * (diagonal @ (one - normal))
    contact.pivot = contact.pivot + raised


@kernel
def reduced(bond):
    """Largest ratio of a diagonal entry of its Delassus block to what the bonds before it leave of it."""
    ratios = abs(bond.W * bond.pivot * identity(bond.P))
    return largest(ratios) if trace(ratios) < INFINITE else INFINITE  # also where they are not numbers


@piece
def factor_phase(run, what):
    """The block LU of joints and closed contacts, and how dependent their rows are; of joints only if not `current`."""
    system, worst = run.system, 0.0
    if not run.current:
        factor_joints(system)
    for joint in system.joints:
        worst = max(worst, reduced(joint))
    if run.closed:
        for touch in run.touches:
            contact = touch.contact
            contact.on = 0 if touch.mode == OPEN else 1
            if contact.on:
                assemble_diagonal(contact)
                assemble_couplings(contact)
                linearise_phase(touch, what)
                if run.shared == RAISED:
                    raise_diagonal(run, touch, what)
                contact.y = zeros_like(contact.y)
                eliminate(contact)
                worst = max(worst, reduced(contact))
    run.dependence = worst


@piece
def respond_in_phase(run):
    """Add the effect of joints and closed contacts to the changes `jump`, so that their rates are minus `shift`.

    Their impulses or forces are added to P.
    """
    system = run.system
    joints, contacts = system.joints, system.contacts
    for joint in joints:
        joint.y = -(rates_of_jump(joint) + joint.shift)
        forward(joint)
    if run.closed:
        for contact in contacts:
            if contact.on:
                contact.y = -(contact.G @ (rates_of_jump(contact) + contact.shift))
                forward(contact)
        for k in range(len(contacts) - 1, -1, -1):
            contact = contacts[k]
            if contact.on:
                backward(contact)
                contact.P = contact.P + contact.y
                contact.a.body.jump += contact.y @ contact.a.moves
                contact.b.body.jump += contact.y @ contact.b.moves
    for k in range(len(joints) - 1, -1, -1):
        joint = joints[k]
        backward(joint)
        joint.P = joint.P + joint.y
        joint.a.body.jump += joint.y @ joint.a.moves
        joint.b.body.jump += joint.y @ joint.b.moves


@piece
def respond(run, what, passes):
    """Forces or impulses of the rows of the phase, from none, and their effect on `jump`; whether they were found."""
    release_all(run)
    if run.shared >= SQUARES:
        for joint in run.system.joints:
            assemble_diagonal(joint)
        for touch in run.touches:
            if touch.mode != OPEN:
                assemble_diagonal(touch.contact)
        run.level, run.current = what, 0  # there is no block LU of joints
        return balanced_outside(run) == 1
    factor_phase(run, what)
    for _ in range(CORRECTIONS if run.shared else passes + REDUNDANT if run.system.ridge > 0.0 else passes):
        respond_in_phase(run)
    return True


@kernel
def release_all(run):
    """No forces yet."""
    system = run.system
    system.ground.jump = zeros_like(system.ground.jump)  # which values that are not finite would have changed
    for joint in system.joints:
        joint.P = zeros_like(joint.P)
    for contact in system.contacts:
        contact.P = zeros_like(contact.P)


@piece
def take_least(system):
    """Of the equivalent forces of joints with redundant rows, those of least norm."""
    for joint in system.joints:
        joint.y = joint.P
    for _ in range(2):
        motionless_component(system)
    for joint in system.joints:
        joint.P = joint.P - joint.y


@kernel
def count_closed(run):
    """How many contacts are closed in the phase; the others are in no program."""
    run.closed = 0
    for touch in run.touches:
        touch.contact.on = 0 if touch.mode == OPEN else 1
        run.closed += touch.contact.on


# ---- projection


@kernel
def find_gaps(run):
    """The worst constraint residual, with those of joints and closed contacts in `shift`."""
    system, worst, total = run.system, 0.0, 0.0
    for body in system.bodies:
        body.z, body.jump = placed(body.at), zeros_like(body.jump)
    evaluate_all(system.constraints)
    for joint in system.joints:
        joint.shift = joint.g
        worst, total = max(worst, largest(abs(joint.g))), total + dot(joint.g, joint.g)
    if run.closed:
        evaluate_all(system.surfaces)
        for contact in system.contacts:
            if contact.on:
                contact.shift = contact.g * normal_axis(contact.P)
                worst, total = max(worst, abs(contact.g)), total + contact.g * contact.g
    return worst if total < INFINITE else math.inf


@piece
def project(run):
    """The nearest positions and velocities with joints and contacts of the phase closed; whether there are any.

    Afterwards directions, and the block LU of joints, are `current` if they are those there.
    """
    system, before = run.system, INFINITE
    run.current = 0
    for body in system.bodies:
        body.at = normalised(body.at)
    if not (len(system.joints) or run.closed):
        for body in system.bodies:
            body.z = placed(body.at)
        return True
    for _ in range(PASSES):
        worst = find_gaps(run)
        if not worst < INFINITE:
            return False
        if worst <= PROJECTED or worst > GAINING * before:
            run.current = 1
            break
        before = worst
        if not respond(run, GAPS, 1):
            return False
        for body in system.bodies:
            body.at = moved(body, body.at, body.jump, 1.0)
    stands, run.current = run.current, 0
    for body in system.bodies:
        body.jump = zeros_like(body.jump)
    for joint in system.joints:
        joint.shift = rates_of_u(joint) + joint.rate
    for contact in system.contacts:
        contact.shift = rates_of_u(contact)
    if not respond(run, VELOCITIES, 1):
        return False
    run.current = stands if run.shared < SQUARES else 0
    for body in system.bodies:
        body.u += body.jump
        body.z = placed(body.at)
    return True


# ---- accelerations


@kernel
def has_direction(run, touch, slip):
    """Whether a slip is beyond the tolerance of velocities; in the plane its sign is known on either side of zero."""
    a, b, contact = touch.contact.a, touch.contact.b, touch.contact
    terms = abs(a.along) @ abs(a.body.u) + abs(b.along) @ abs(b.body.u)
    least = run.slip_atol + run.slip_rtol * (largest(tangential(terms)) + contact.scale / run.system.longest)
    return norm(slip) > least


@piece
def turn_slip(run, touch):
    """The direction against which friction acts at the present positions.

    In the plane it keeps its sign until the slip vanishes, which ends the phase. In space it is that of the slip; a
    step ends where this has turned by a right angle, beyond which its mirror image continues the equations smoothly.
    """
    touch.along = touch.direction
    if touch.mode == SLIPPING and run.slip_atol > 0.0:
        slip = tangential(rates_of_u(touch.contact))
        ahead = dot(slip, touch.direction)
        if has_direction(run, touch, slip):
            if ahead < 0.0:
                slip -= (2.0 * ahead) * touch.direction
            touch.along = (1.0 / max(norm(slip), TINY)) * slip


@piece
def evaluate_free(run, surfaces):
    """Directions, biases and applied forces at the present positions and velocities u; of contacts only if required."""
    system = run.system
    if surfaces:
        if not (run.current and run.closed):
            evaluate_all(system.surfaces)
        evaluate_all(run.curvatures)
    if not run.current:
        evaluate_all(system.constraints)
    evaluate_all(system.biases)
    evaluate_loads(system)


@piece
def accelerate(run, whole):
    """Accelerations and forces at the present positions and velocities u; `whole`: with directions of open contacts."""
    system = run.system
    evaluate_free(run, whole or run.closed > 0)
    run.evaluations += 1
    if run.closed:
        for touch in run.touches:
            turn_slip(run, touch)
            touch.contact.shift = touch.bias
    for joint in system.joints:
        joint.shift = joint.bend
    for body in system.bodies:
        body.jump = weighed(body.force, body.inverse_mass)
    run.dependence = 0.0
    if len(system.joints) or run.closed:
        respond(run, FORCES, 2)  # twice, since round-off would accelerate a body with small inertia
        if system.ridge > 0.0 and run.shared < SQUARES:
            take_least(system)
            for joint in system.joints:  # what is taken has hardly any effect
                joint.a.body.jump -= joint.y @ joint.a.moves
                joint.b.body.jump -= joint.y @ joint.b.moves
            respond_in_phase(run)
    else:
        release_all(run)
    run.current = 0
