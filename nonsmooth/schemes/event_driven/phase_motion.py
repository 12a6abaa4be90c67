"""Smooth motion between events, in which the modes of all contacts are known.

With D the directions of joints, closed gaps and sticking slips, and F those of their forces, in which a contact that
slips in the direction s has W_N - mu W_T s,

    M a = h + F lam,    D' a + bias = 0

Forces are P of joints and contacts here, and accelerations `jump`. Positions and velocities are projected onto the same
rows in the metric of masses. The matrix is eliminated block by block, as that of a program.

A step of it is that of a Runge-Kutta pair. Stage 0 is the start of the step, `end` its projected end. Works are states
of the same pair, which depend on the others only.
"""

import math

from nonsmooth.compile.kernels import is_planar, kernel, piece, solved_outside
from nonsmooth.compile.records.values import (
    angular,
    dot,
    identity,
    larger_of,
    largest,
    linear,
    normal_axis,
    outer,
    rigid_motion,
    trace,
    weighed,
    zeros_like,
)
from nonsmooth.schemes.event_driven.fields import FORCES, GAPS, RAISED, SQUARES, VELOCITIES
from nonsmooth.schemes.event_driven.tolerances import PASSES
from nonsmooth.step.joint_forces import reaction_of
from nonsmooth.step.mechanism import (
    body_residual,
    evaluate_all,
    evaluate_loads,
    norm,
    powers_of_loads,
    rates_of_jump,
    rates_of_u,
    squared_length,
    tangential,
    terms_of,
)
from nonsmooth.step.motion import moved, placed, rates_of_position, see
from nonsmooth.step.program import (
    INFINITE,
    assemble_couplings,
    assemble_diagonal,
    backward,
    backward_to_joints,
    block,
    eliminate,
    factor_joints,
    forward,
    forward_contact,
    motionless_component,
    reduce_to_contacts,
)
from nonsmooth.step.runge_kutta import A, B, C, E, F, blended, weight_within
from nonsmooth.step.tolerances import EPSILON, FLOOR, GAINING, OPEN, PROJECTED, SLIPPING, STICKING, TINY

#: of contacts whose forces are not unique: share of the diagonal that makes the least ones so, and corrections, each of
#: which leaves about this share of the error
LEAST, CORRECTIONS = 1e-6, 8
#: further corrections where rows of joints are redundant, whose diagonal is raised by less: each leaves 1e-4 at worst
REDUNDANT = 2

balanced_outside = solved_outside("balances")  # (run): P and `jump`, as by `respond_in_phase`


@kernel
def normalised(q):
    """A position, in space with a quaternion of norm 1."""
    if is_planar(q):
        return q
    p = angular(q)
    return rigid_motion(q, linear(q), (1.0 / math.sqrt(dot(p, p))) * p)


# ---- rows of the phase


@kernel
def linearise_phase(touch, within, what):
    """Rows of a closed contact: its gap stays closed, it sticks, or has friction -mu P_N along its slip."""
    contact = touch.contact
    P, W = contact.P, contact.W
    N, one = normal_axis(P), identity(P)
    if touch.mode == STICKING and what != GAPS:
        contact.G, contact.pivot = one, within
        return
    normal = outer(N, N)
    H = one - normal
    if touch.mode == SLIPPING and what == FORCES:
        H += contact.friction * outer(touch.directions, N)
    contact.G, contact.pivot = normal, normal @ within + max(trace(W) - W[0][0], W[0][0]) * H


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
        if len(system.joints):
            reduce_to_contacts(system)
        for touch in run.touches:
            contact = touch.contact
            if contact.on:
                linearise_phase(touch, block(system, contact), what)
                if run.shared == RAISED:
                    raise_diagonal(run, touch, what)
                contact.y = zeros_like(contact.y)
                eliminate(system, contact)
                worst = max(worst, reduced(contact))
    run.dependence = worst


@piece
def respond_in_phase(run):
    """Add the effect of joints and closed contacts to the changes `jump`: their rates become minus `velocity_offset`.

    Their impulses or forces are added to P.
    """
    system = run.system
    joints, contacts = system.joints, system.contacts
    for joint in joints:
        joint.y = -(rates_of_jump(joint) + joint.velocity_offset)
        forward(joint)
    if run.closed:
        for contact in contacts:
            if contact.on:
                contact.y = -(contact.G @ (rates_of_jump(contact) + contact.velocity_offset))
                forward_contact(contact)
        for k in range(len(contacts) - 1, -1, -1):
            contact = contacts[k]
            if contact.on:
                backward(contact)
                backward_to_joints(contact, contact.y)
                contact.P = contact.P + contact.y
                contact.a.body.jump += contact.y @ contact.a.response
                contact.b.body.jump += contact.y @ contact.b.response
    for k in range(len(joints) - 1, -1, -1):
        joint = joints[k]
        backward_to_joints(joint, joint.y)
        joint.P = joint.P + joint.y
        joint.a.body.jump += joint.y @ joint.a.response
        joint.b.body.jump += joint.y @ joint.b.response


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
    """Take, of the equivalent forces of joints with redundant rows, those of least norm."""
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
    """The worst constraint residual, with those of joints and closed contacts in `velocity_offset`."""
    system, worst, total = run.system, 0.0, 0.0
    for body in system.bodies:
        body.z, body.jump = placed(body.at), zeros_like(body.jump)
    evaluate_all(system.constraints)
    for joint in system.joints:
        joint.velocity_offset = joint.g
        worst, total = max(worst, largest(abs(joint.g))), total + dot(joint.g, joint.g)
    if run.closed:
        evaluate_all(system.surfaces)
        for contact in system.contacts:
            if contact.on:
                contact.velocity_offset = contact.g * normal_axis(contact.P)
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
        joint.velocity_offset = rates_of_u(joint) + joint.rate
    for contact in system.contacts:
        contact.velocity_offset = rates_of_u(contact)
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
    contact = touch.contact
    terms = terms_of(contact, contact.a.body.u, contact.b.body.u)
    least = run.slip_atol + run.slip_rtol * (largest(tangential(terms)) + contact.scale / run.system.longest)
    return norm(slip) > least


@piece
def turn_slip(run, touch):
    """The direction against which friction acts at the present positions.

    In the plane it keeps its sign until the slip vanishes, which ends the phase. In space it is that of the slip; a
    step ends where this has turned by a right angle, beyond which its mirror image continues the equations smoothly.
    """
    touch.directions = touch.direction
    if touch.mode == SLIPPING and run.slip_atol > 0.0:
        slip = tangential(rates_of_u(touch.contact))
        ahead = dot(slip, touch.direction)
        if has_direction(run, touch, slip):
            if ahead < 0.0:
                slip -= (2.0 * ahead) * touch.direction
            touch.directions = (1.0 / max(norm(slip), TINY)) * slip


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
            touch.contact.velocity_offset = touch.bias
    for joint in system.joints:
        joint.velocity_offset = joint.bias_acceleration
    for body in system.bodies:
        body.jump = weighed(body.force, body.inverse_mass)
    run.dependence = 0.0
    if len(system.joints) or run.closed:
        respond(run, FORCES, 2)  # twice, since round-off would accelerate a body with small inertia
        if system.ridge > 0.0 and run.shared < SQUARES:
            take_least(system)
            for joint in system.joints:  # what is taken has hardly any effect
                joint.a.body.jump -= joint.y @ joint.a.response
                joint.b.body.jump -= joint.y @ joint.b.response
            respond_in_phase(run)
    else:
        release_all(run)
    run.current = 0


@piece
def place_at(run, instant):
    """Positions and velocities of bodies at an instant."""
    see(run.system, instant.t)
    for k in range(len(instant.bodies)):
        body, of = run.system.bodies[k], instant.bodies[k]
        body.at, body.u = of.q, of.v
        body.z = placed(of.q)


@kernel
def add_forces(bond):
    """Add the forces of a bond to those on its bodies, and the magnitudes of the forces of each row."""
    P, size, a, b = bond.P, abs(bond.P), bond.a, bond.b
    a.body.total += P @ a.directions
    b.body.total += P @ b.directions
    a.body.terms += size @ abs(a.directions)
    b.body.terms += size @ abs(b.directions)


@piece
def error_of_motion(run, instant):
    """Worst residual of the equations of motion, as a share of their terms."""
    system, worst = run.system, 0.0
    system.size = instant.moving + instant.applied
    for body in system.bodies:
        body.total, body.terms = body.force, abs(body.force)
    for joint in system.joints:
        add_forces(joint)
    if run.closed:
        for contact in system.contacts:
            if contact.on:
                add_forces(contact)
    for body in system.bodies:
        worst = max(worst, body_residual(system, body, zeros_like(body.jump), body.jump, body.total))
    return worst


@kernel
def note_contacts(run, instant):
    """Gaps, forces and rates of contacts; the power of friction."""
    power = 0.0
    for k in range(len(instant.contacts)):
        touch, of = run.touches[k], instant.contacts[k]
        contact = touch.contact
        of.gap, of.rates, of.P = contact.g, rates_of_u(contact), contact.P
        of.bias_acceleration = rates_of_jump(contact) + touch.bias
        of.terms = terms_of(contact, contact.a.body.u, contact.b.body.u)
        of.mobility = contact.W[0][0]
        power += dot(of.P, tangential(of.rates))
    instant.friction = power


@piece
def note(run, instant, whole):
    """Store the motion computed by `accelerate`."""
    system, applied, moving, driven = run.system, 0.0, 0.0, 0.0
    instant.t = system.now
    for k in range(len(instant.bodies)):
        body, of = system.bodies[k], instant.bodies[k]
        of.q, of.v, of.a, of.force = body.at, body.u, body.jump, body.force
        of.rate = rates_of_position(body, body.at, body.u)
        applied += squared_length(weighed(body.force, body.inverse_mass), body.mass)
        moving += squared_length(body.jump, body.mass)
    instant.applied, instant.moving = math.sqrt(applied), math.sqrt(moving)
    if whole or run.closed:
        note_contacts(run, instant)
    else:
        instant.friction = 0.0
        for of in instant.contacts:
            of.P = zeros_like(of.P)
    for joint in system.joints:
        driven -= dot(joint.P, joint.rate)
        joint.y = joint.P
    for k in range(len(instant.reactions)):
        of = instant.reactions[k]
        of.force, of.torque = reaction_of(system.reactions[k])
    instant.drivers = driven
    instant.loads, instant.damping = powers_of_loads(run)
    instant.residual = error_of_motion(run, instant)


@piece
def copy(one, other):
    """Copy the data of another instant."""
    one.t, one.applied, one.moving = other.t, other.applied, other.moving
    one.loads, one.damping, one.drivers, one.friction = other.loads, other.damping, other.drivers, other.friction
    one.residual = other.residual
    for k in range(len(one.bodies)):
        a, b = one.bodies[k], other.bodies[k]
        a.q, a.v, a.rate, a.a, a.force = b.q, b.v, b.rate, b.a, b.force
    for k in range(len(one.contacts)):
        c, d = one.contacts[k], other.contacts[k]
        c.gap, c.rates, c.terms = d.gap, d.rates, d.terms
        c.bias_acceleration, c.P, c.mobility = d.bias_acceleration, d.P, d.mobility
    for k in range(len(one.reactions)):
        e, f = one.reactions[k], other.reactions[k]
        e.force, e.torque = f.force, f.torque


@piece
def closure_of(run, dt):
    """Rates of joints, closed gaps and sticking slips relative to the sums of their terms, the velocity changes of the
    step included."""
    system, moving, applied, worst = run.system, 0.0, 0.0, 0.0
    for body in system.bodies:
        moving += squared_length(body.u, body.mass)
        applied += squared_length(weighed(body.force, body.inverse_mass), body.mass)
    size = math.sqrt(moving) + dt * math.sqrt(applied)
    for joint in system.joints:
        rates = rates_of_u(joint) + joint.rate
        terms = terms_with_loads(joint, dt) + abs(joint.rate) + FLOOR * math.sqrt(trace(joint.W)) * size + TINY
        worst = max(worst, largest(abs(rates) / terms))
    if run.closed:
        for touch in run.touches:
            contact = touch.contact
            if contact.on:
                rates = rates_of_u(contact)
                terms = terms_with_loads(contact, dt) + FLOOR * math.sqrt(trace(contact.W)) * size
                least = max(EPSILON * contact.scale / dt, TINY)  # a rate that changes a gap by less is zero
                shares = abs(rates) / larger_of(terms, zeros_like(terms) + least)
                sticks = touch.mode == STICKING and has_direction(run, touch, tangential(rates))
                worst = max(worst, largest(shares) if sticks else shares[0])
    return worst


@kernel
def terms_with_loads(bond, dt):
    a, b = bond.a.body, bond.b.body
    of_a = abs(a.u) + abs(weighed(dt * a.force, a.inverse_mass))
    of_b = abs(b.u) + abs(weighed(dt * b.force, b.inverse_mass))
    return terms_of(bond, of_a, of_b)


#: share of the applied forces below which the resultant is regarded as zero, and share of the velocity that the applied
#: forces cause in the longest step below which a mechanism is at rest
BALANCED = 1e-12
#: largest change of velocity, as a share of it, in a step across a singular position
KICK = 0.1
#: size of positions and velocities, or of their rates, in tolerances, below which the first step is the longest one;
#: the share of their ratio that it is otherwise, see Hairer, Norsett, Wanner (1993), II.4
IDLE, FIRST = 1e-5, 0.1

crossed_outside = solved_outside("crosses")  # (run): the motion at the end of the step, whose length is `dt`

# ---- a step


@piece
def place_at_stage(run, k, dt):
    """Positions and velocities of stage k, from the stages before it."""
    order = run.order
    for i in range(len(run.system.bodies)):
        body, start = run.system.bodies[i], run.stages[0].bodies[i]
        rate, a = A[order, k, 0] * start.rate, A[order, k, 0] * start.a
        for j in range(1, k):
            if A[order, k, j] != 0.0:
                of = run.stages[j].bodies[i]
                rate += A[order, k, j] * of.rate
                a += A[order, k, j] * of.a
        body.at, body.u = start.q + dt * rate, start.v + dt * a
        body.z = placed(body.at)


@kernel
def at_rest(run, instant):
    """Whether the mechanism is at rest and all forces are balanced, to round-off."""
    speed = 0.0
    for k in range(len(instant.bodies)):
        speed += squared_length(instant.bodies[k].v, run.system.bodies[k].mass)
    applied = instant.applied
    return math.sqrt(speed) <= BALANCED * run.system.longest * applied and instant.moving <= BALANCED * applied


@kernel
def step_at_rest(run, t):
    """A step at rest."""
    start = run.stages[0]
    for k in range(1, run.inner + 1):
        copy(run.stages[k], start)
    run.end.t = t
    run.error = run.closure = 0.0


@kernel
def evaluate_stage(run, k, dt):
    """The motion at stage k."""
    place_at_stage(run, k, dt)
    see(run.system, run.stages[0].t + C[run.order, k] * dt)
    accelerate(run, False)
    note(run, run.stages[k], False)


@piece
def cross(run, t):
    """The step to the time t across a singular position of the joints, at which accelerations are not evaluated;
    whether there is one.

    Joints are closed at its end by impulses along their directions at its start; at both ends these are independent.
    """
    system, start, before, change = run.system, run.stages[0], 0.0, 0.0
    dt = t - start.t
    run.dt = dt
    place_at(run, start)
    if crossed_outside(run) != 1:
        return False
    see(system, t)
    if not project(run):
        return False
    accelerate(run, True)
    note(run, run.end, True)
    for k in range(len(system.bodies)):
        of, mass = start.bodies[k], system.bodies[k].mass
        before += squared_length(of.v, mass)
        change += squared_length(run.end.bodies[k].v - of.v, mass)
    run.closure, run.error, run.across = closure_of(run, dt), 0.0, 1
    return run.end.moving < INFINITE and change <= KICK * KICK * before


@piece
def advance(run, t):
    """The step from stage 0 to the time t; whether it has an end. Its error over the tolerance, in `error`."""
    system, start = run.system, run.stages[0]
    dt, run.across = t - start.t, 0
    run.dt = dt
    if run.steady and at_rest(run, start):
        step_at_rest(run, t)
        return True
    for k in range(1, run.inner):
        evaluate_stage(run, k, dt)
    place_at_stage(run, run.inner, dt)
    see(system, t)
    if not project(run):
        return False
    accelerate(run, True)
    note(run, run.end, True)
    run.closure = closure_of(run, dt)
    run.error = max(error_of_states(run, dt), error_of_work(run, dt))
    return True


# ---- its error


@piece
def error_of_states(run, dt):
    """Error of positions and velocities over their tolerances, root mean square."""
    first = error_with(run, E, dt)
    return blended(first, error_with(run, F, dt) if run.order == 1 else 0.0, run.numbers)


@kernel
def error_with(run, weights, dt):
    """Sum of the squares of an estimate of the errors over their tolerances."""
    total, order = 0.0, run.order
    for i in range(len(run.system.bodies)):
        start, end = run.stages[0].bodies[i], run.end.bodies[i]
        rate, a = weights[order, 0] * start.rate, weights[order, 0] * start.a
        for j in range(1, run.inner + 1):
            of = run.stages[j].bodies[i]
            rate += weights[order, j] * of.rate
            a += weights[order, j] * of.a
        rate = (dt * rate) / tolerance(run, start.q, end.q)
        a = (dt * a) / tolerance(run, start.v, end.v)
        total += dot(rate, rate) + dot(a, a)
    return total


@kernel
def tolerance(run, x, y):
    return run.rtol * larger_of(abs(x), abs(y)) + run.atol


@kernel
def energy_of_tolerance(run):
    """Energy equivalent of the tolerances of positions and velocities."""
    system, energy, most = run.system, TINY, 0.0
    for i in range(len(system.bodies)):
        start, end = run.stages[0].bodies[i], run.end.bodies[i]
        most = max(most, largest(tolerance(run, start.q, end.q)))
    for i in range(len(system.bodies)):
        body, start, end = system.bodies[i], run.stages[0].bodies[i], run.end.bodies[i]
        scale = tolerance(run, start.v, end.v)
        energy += dot(abs(weighed(abs(start.v) + abs(end.v) + scale, body.mass)), scale)
        force = abs(start.force) + abs(end.force) + abs(weighed(start.a, body.mass))
        # in space components of a quaternion and of a torque differ
        scale = tolerance(run, start.q, end.q) if is_planar(force) else zeros_like(force) + most
        energy += dot(force, scale)
    return energy


@kernel
def power(instant, k):
    """Power of loads, damping, drivers, friction."""
    if k < 2:
        return instant.loads if k == 0 else instant.damping
    return instant.drivers if k == 2 else instant.friction


@piece
def error_of_work(run, dt):
    """Error of works over the energy equivalent of tolerances, root mean square of those that are done."""
    total, other, done, order = 0.0, 0.0, 0, run.order
    for k in range(4):
        off, off_too, works = 0.0, 0.0, 0
        for j in range(run.inner + 1):
            one = power(run.stages[j], k)
            off += E[order, j] * one
            off_too += F[order, j] * one
            works = 1 if one != 0.0 else works
        total += off * off
        other += off_too * off_too
        done += works
    return 0.0 if done == 0 else dt * blended(total, other, done) / energy_of_tolerance(run)


# ---- within a step


@piece
def motion_within(run, x, instant):
    """The motion at a fraction of the step, from the continuous extension, whose further stages are evaluated."""
    system, dt, bend = run.system, run.dt, x * x * (3.0 - 2.0 * x)
    for j in range(len(run.stages)):
        run.stages[j].weight = weight_within(run.order, j, x)
    for i in range(len(system.bodies)):
        body, start, end = system.bodies[i], run.stages[0].bodies[i], run.end.bodies[i]
        rate, a = 0.0 * start.rate, 0.0 * start.a
        for stage in run.stages:
            of = stage.bodies[i]
            rate += stage.weight * of.rate
            a += stage.weight * of.a
        body.at = start.q + dt * rate + bend * (end.q - start.q)
        body.u = start.v + dt * a + bend * (end.v - start.v)
        body.z = placed(body.at)
    see(system, run.stages[0].t + x * dt)
    accelerate(run, False)
    note(run, instant, False)


@piece
def extend(run):
    """Evaluate the further stages of the continuous extension."""
    for k in range(run.inner + 1, len(run.stages)):
        evaluate_stage(run, k, run.dt)


# ---- sums over a step


@kernel
def quadrature(run, j):
    """Weight of stage j, or of the end, in a mean over the step."""
    if run.across:
        return 0.5 if j == 0 or j == run.inner else 0.0
    return B[run.order, j]


# ---- the first step


@kernel
def first_length(run, start):
    """Length of the first step, after Hairer, Norsett and Wanner."""
    y, slope = 0.0, 0.0
    for i in range(len(start.bodies)):
        of = start.bodies[i]
        q, v = tolerance(run, of.q, of.q), tolerance(run, of.v, of.v)
        y += dot(of.q / q, of.q / q) + dot(of.v / v, of.v / v)
        slope += dot(of.rate / q, of.rate / q) + dot(of.a / v, of.a / v)
    y, slope = math.sqrt(y / run.numbers), math.sqrt(slope / run.numbers)
    if min(y, slope) < IDLE:
        return run.system.longest
    return min(run.system.longest, FIRST * y / slope)
