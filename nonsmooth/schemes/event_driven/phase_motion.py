"""Smooth motion between events, in which the modes of all contacts are known.

With D the directions of joints, closed gaps and sticking slips, and F those of their forces, in which a contact that
slips in the direction s has W_N - mu W_T s,

    M a = h + F lam,    D' a + bias = 0

Forces are P of joints and contacts here, and accelerations `jump`. Positions and velocities are projected onto the same
rows in the metric of masses. A step is that of a Runge-Kutta pair: stage 0 is its start, `end` its projected end. Works
are states of the same pair, which depend on the others only.
"""

import math

from nonsmooth.compile.kernels import is_planar, kernel, piece, solved_outside
from nonsmooth.compile.records.values import (
    angular,
    dot,
    first_four,
    identity,
    larger_of,
    largest,
    linear,
    normal_axis,
    outer,
    rigid_motion,
    total,
    trace,
    vector,
    weighed,
    zeros_like,
)
from nonsmooth.schemes.event_driven.fields import FORCES, GAPS, RAISED, SQUARES
from nonsmooth.schemes.event_driven.tolerances import PASSES
from nonsmooth.step import program, runge_kutta
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
from nonsmooth.step.motion import placed, rates_of_position, see
from nonsmooth.step.program import INFINITE
from nonsmooth.step.projection import projection_of
from nonsmooth.step.runge_kutta import FIRST, SECOND, A, C
from nonsmooth.step.tolerances import EPSILON, FLOOR, OPEN, SLIPPING, STICKING, TINY

#: of contacts whose forces are not unique: share of the diagonal that makes the least ones so, and corrections, each of
#: which leaves about this share of the error
LEAST, CORRECTIONS = 1e-6, 8
#: further corrections where rows of joints are redundant, whose diagonal is raised by less: each leaves 1e-4 at worst
REDUNDANT = 2
#: share of the applied forces below which the resultant is regarded as zero, and share of the velocity that the applied
#: forces cause in the longest step below which a mechanism is at rest
BALANCED = 1e-12
#: largest change of velocity, as a share of it, in a step across a singular position
KICK = 0.1
#: size of positions and velocities, or of their rates, in tolerances, below which the first step is the longest one;
#: the share of their ratio that it is otherwise, see Hairer, Norsett, Wanner (1993), II.4
IDLE, SHARE = 1e-5, 0.1

balanced_outside = solved_outside("balances")  # (run): P and `jump`, as by `respond_in_phase`
crossed_outside = solved_outside("crosses")  # (run): the motion at the end of the step, whose length is `dt`


# ---- rows of the phase


@kernel
def count_closed(run):
    """How many contacts are closed in the phase; the others are in no program."""
    run.closed = 0
    for touch in run.touches:
        touch.contact.on = 0 if touch.mode == OPEN else 1
        run.closed += touch.contact.on


@kernel
def linearise_phase(run, touch, what):
    """Rows of a closed contact: its gap stays closed, it sticks, or has friction -mu P_N along its slip. Where forces
    are not unique, the raised diagonal gives the least ones: in units in which a direction has length 1 in the metric
    of masses, those of contacts that stick in proportion to their cones."""
    contact, within, most = touch.contact, program.block(run.system, touch.contact), 1.0
    W, N, one = contact.W, normal_axis(contact.P), identity(contact.P)
    normal, sticks = outer(N, N), touch.mode == STICKING and what != GAPS
    if sticks:
        contact.G, contact.pivot = one, within
    else:
        H = one - normal
        if touch.mode == SLIPPING and what == FORCES:
            H += contact.friction * outer(touch.directions, N)
        contact.G, contact.pivot = normal, normal @ within + max(trace(W) - W[0][0], W[0][0]) * H
    if run.shared == RAISED:
        for other in run.touches:
            if other.mode == STICKING:
                most = max(most, other.share * other.share)
        diagonal = (LEAST * most) * (W * one)
        raised = diagonal @ normal
        if sticks:
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
        program.factor_joints(system)
    for joint in system.joints:
        worst = max(worst, reduced(joint))
    if run.closed:
        for touch in run.touches:
            contact = touch.contact
            contact.on = 0 if touch.mode == OPEN else 1
            if contact.on:
                program.assemble_diagonal(contact)
                program.assemble_couplings(contact)
        if len(system.joints):
            program.reduce_to_contacts(system)
        for touch in run.touches:
            contact = touch.contact
            if contact.on:
                linearise_phase(run, touch, what)
                contact.y = zeros_like(contact.y)
                program.eliminate(system, contact)
                worst = max(worst, reduced(contact))
    run.dependence = worst


@piece
def respond_in_phase(run):
    """Add the effect of joints and closed contacts to `jump` and P: their rates become minus `velocity_offset`."""
    system = run.system
    joints, contacts = system.joints, system.contacts
    for joint in joints:
        joint.y = -(rates_of_jump(joint) + joint.velocity_offset)
        program.forward(joint)
    if run.closed:
        for contact in contacts:
            if contact.on:
                contact.y = -(contact.G @ (rates_of_jump(contact) + contact.velocity_offset))
                program.forward_contact(contact)
        for k in range(len(contacts) - 1, -1, -1):
            contact = contacts[k]
            if contact.on:
                program.backward(contact)
                program.backward_to_joints(contact, contact.y)
                contact.P = contact.P + contact.y
                contact.a.body.jump += contact.y @ contact.a.response
                contact.b.body.jump += contact.y @ contact.b.response
    for k in range(len(joints) - 1, -1, -1):
        joint = joints[k]
        program.backward_to_joints(joint, joint.y)
        joint.P = joint.P + joint.y
        joint.a.body.jump += joint.y @ joint.a.response
        joint.b.body.jump += joint.y @ joint.b.response


@kernel
def release_all(system):
    """No forces yet."""
    system.ground.jump = zeros_like(system.ground.jump)  # which values that are not finite would have changed
    for joint in system.joints:
        joint.P = zeros_like(joint.P)
    for contact in system.contacts:
        contact.P = zeros_like(contact.P)


@piece
def respond(run, what, passes=1):
    """Forces or impulses of the rows of the phase, from none, and their effect on `jump`; whether they were found."""
    release_all(run.system)
    if run.shared >= SQUARES:
        for joint in run.system.joints:
            program.assemble_diagonal(joint)
        for touch in run.touches:
            if touch.mode != OPEN:
                program.assemble_diagonal(touch.contact)
        run.level, run.current = what, 0  # there is no block LU of joints
        return balanced_outside(run) == 1
    factor_phase(run, what)
    for _ in range(CORRECTIONS if run.shared else passes + REDUNDANT if run.system.ridge > 0.0 else passes):
        respond_in_phase(run)
    return True


@piece
def take_least(system):
    """Take, of the equivalent forces of joints with redundant rows, those of least norm."""
    for joint in system.joints:
        joint.y = joint.P
    for _ in range(2):
        program.motionless_component(system)
    for joint in system.joints:
        joint.P = joint.P - joint.y


# ---- projection


@kernel
def find_gaps(run):
    """The worst gap of closed contacts, which become their `velocity_offset`, and the sum of the squares."""
    worst, squares = 0.0, 0.0
    if run.closed:
        evaluate_all(run.system.surfaces)
        for contact in run.system.contacts:
            if contact.on:
                contact.velocity_offset = contact.g * normal_axis(contact.P)
                worst, squares = max(worst, abs(contact.g)), squares + contact.g * contact.g
    return worst, squares


project_onto_rows = projection_of(PASSES, INFINITE, find_gaps, respond)


@piece
def project(run):
    """The nearest positions and velocities with joints and contacts of the phase closed; whether there are any.
    Afterwards directions, and the block LU of joints, are `current` if they are those there."""
    system, run.current = run.system, 0
    for body in system.bodies:
        if not is_planar(body.at):  # a quaternion of norm 1
            p = angular(body.at)
            body.at = rigid_motion(body.at, linear(body.at), (1.0 / math.sqrt(dot(p, p))) * p)
    if not (len(system.joints) or run.closed):
        for body in system.bodies:
            body.z = placed(body.at)
        return True
    found, current = project_onto_rows(run)
    run.current = 1 if current and run.shared < SQUARES else 0
    return found


# ---- accelerations


@kernel
def has_direction(run, touch, slip, terms):
    """Whether a slip is beyond the tolerance of velocities; in the plane its sign is known on either side of zero."""
    size = largest(tangential(terms)) + touch.contact.scale / run.system.longest
    return norm(slip) > run.slip_atol + run.slip_rtol * size


@kernel
def direction_of(run, touch, slip, terms):
    """The direction in space of a slip, against which friction acts, or that at the start of the step. A step ends
    where it has turned by a right angle, beyond which its mirror image continues the equations smoothly; in the plane
    where the slip vanishes."""
    if not has_direction(run, touch, slip, terms):
        return touch.direction
    ahead = dot(slip, touch.direction)
    if ahead < 0.0:
        slip = slip - (2.0 * ahead) * touch.direction
    return (1.0 / max(norm(slip), TINY)) * slip


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
            contact, touch.directions, touch.contact.velocity_offset = touch.contact, touch.direction, touch.bias
            if touch.mode == SLIPPING and run.slip_atol > 0.0:
                terms = terms_of(contact, contact.a.body.u, contact.b.body.u)
                touch.directions = direction_of(run, touch, tangential(rates_of_u(contact)), terms)
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
        release_all(system)
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


@piece
def note(run, instant, whole):
    """Store the motion computed by `accelerate`."""
    system, applied, moving, driven, rubbed = run.system, 0.0, 0.0, 0.0, 0.0
    instant.t = system.now
    for k in range(len(instant.bodies)):
        body, of = system.bodies[k], instant.bodies[k]
        of.q, of.v, of.a, of.force = body.at, body.u, body.jump, body.force
        applied += squared_length(weighed(body.force, body.inverse_mass), body.mass)
        moving += squared_length(body.jump, body.mass)
    instant.applied, instant.moving = math.sqrt(applied), math.sqrt(moving)
    for k in range(len(instant.contacts)):
        touch, at = run.touches[k], instant.contacts[k]
        contact = touch.contact
        if whole or run.closed:
            at.gap, at.rates, at.P, at.mobility = contact.g, rates_of_u(contact), contact.P, contact.W[0][0]
            at.bias_acceleration = rates_of_jump(contact) + touch.bias
            at.terms = terms_of(contact, contact.a.body.u, contact.b.body.u)
            rubbed += dot(at.P, tangential(at.rates))
        else:
            at.P = zeros_like(at.P)
    for joint in system.joints:
        driven -= dot(joint.P, joint.rate)
        joint.y = joint.P
    for k in range(len(instant.reactions)):
        reaction = instant.reactions[k]
        reaction.force, reaction.torque = reaction_of(system.reactions[k])
    power, damping = powers_of_loads(run)
    instant.powers = vector(power, -damping, driven, -rubbed)
    instant.residual = error_of_motion(run, instant)


@piece
def copy(one, other):
    """Copy the data of another instant."""
    one.t, one.applied, one.moving, one.residual, one.powers = (
        other.t, other.applied, other.moving, other.residual, other.powers,
    )  # fmt: skip
    for k in range(len(one.bodies)):
        a, b = one.bodies[k], other.bodies[k]
        a.q, a.v, a.a, a.force = b.q, b.v, b.a, b.force
    for k in range(len(one.contacts)):
        c, d = one.contacts[k], other.contacts[k]
        c.gap, c.rates, c.terms = d.gap, d.rates, d.terms
        c.bias_acceleration, c.P, c.mobility = d.bias_acceleration, d.P, d.mobility
    for k in range(len(one.reactions)):
        e, f = one.reactions[k], other.reactions[k]
        e.force, e.torque = f.force, f.torque


@piece
def closure_of(run, dt):
    """Rates of joints, closed gaps and sticking slips relative to the sums of their terms."""
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
                slipping = terms_of(contact, contact.a.body.u, contact.b.body.u)
                terms = terms_with_loads(contact, dt) + FLOOR * math.sqrt(trace(contact.W)) * size
                least = max(EPSILON * contact.scale / dt, TINY)  # a rate that changes a gap by less is zero
                shares = abs(rates) / larger_of(terms, zeros_like(terms) + least)
                sticks = touch.mode == STICKING and has_direction(run, touch, tangential(rates), slipping)
                worst = max(worst, largest(shares) if sticks else shares[0])
    return worst


@kernel
def terms_with_loads(bond, dt):
    a, b = bond.a.body, bond.b.body
    of_a = abs(a.u) + abs(weighed(dt * a.force, a.inverse_mass))
    of_b = abs(b.u) + abs(weighed(dt * b.force, b.inverse_mass))
    return terms_of(bond, of_a, of_b)


# ---- a step


@piece
def load_start(run, instant):
    """Blocks at the motion with which a step begins."""
    for k in range(len(run.integrated)):
        one, of = run.integrated[k], instant.bodies[k]
        one.q.start, one.v.start = of.q, of.v
        one.q.stages[0].value, one.v.stages[0].value = rates_of_position(one.body, of.q, of.v), of.a
    powers = run.powers.stages[0]
    powers.value = first_four(powers.value, instant.powers)


@kernel
def note_stage(run, k, whole):
    """Store the motion computed by `accelerate` as stage k."""
    note(run, run.stages[k], whole)
    runge_kutta.note_slopes(run, k)
    powers = run.powers.stages[k]
    powers.value = first_four(powers.value, run.stages[k].powers)


@piece
def note_end(run):
    """Store it as the end of the step, and the residual of joints and closed contacts there."""
    note_stage(run, run.inner, True)
    for one in run.integrated:
        one.q.tried = one.q.end = one.body.at
        one.v.tried = one.v.end = one.body.u
    run.closure = closure_of(run, run.dt)


@kernel
def evaluate_stage(run, k):
    """The motion at stage k."""
    runge_kutta.try_stage(run.steering, run.order, k, run.dt)
    runge_kutta.place_bodies(run)
    see(run.system, run.stages[0].t + C[run.order, k] * run.dt)
    accelerate(run, False)
    note_stage(run, k, False)


@piece
def stay_at_rest(run, t):
    """The step to the time t if the mechanism is at rest and all forces are balanced, to round-off; whether it is."""
    start, speed = run.stages[0], 0.0
    for k in range(len(start.bodies)):
        speed += squared_length(start.bodies[k].v, run.system.bodies[k].mass)
    slow = math.sqrt(speed) <= BALANCED * run.system.longest * start.applied
    if not (slow and start.moving <= BALANCED * start.applied):
        return False
    for k in range(1, run.inner + 1):
        copy(run.stages[k], start)
    for state in run.steering:
        state.tried = state.end = state.start
        for stage in state.stages:
            stage.value = state.stages[0].value
    run.end.t = t
    run.error = run.closure = 0.0
    return True


@piece
def cross(run, t):
    """The step to the time t across a singular position of the joints, at which accelerations are not evaluated;
    whether there is one. Impulses along the directions at its start close joints at its end."""
    system, start, before, change = run.system, run.stages[0], 0.0, 0.0
    run.dt = t - start.t
    load_start(run, start)
    place_at(run, start)
    if crossed_outside(run) != 1:
        return False
    see(system, t)
    if not project(run):
        return False
    accelerate(run, True)
    note_end(run)
    for k in range(len(system.bodies)):
        of, mass = start.bodies[k], system.bodies[k].mass
        before += squared_length(of.v, mass)
        change += squared_length(run.end.bodies[k].v - of.v, mass)
    run.error, run.across = 0.0, 1
    return run.end.moving < INFINITE and change <= KICK * KICK * before


@piece
def advance(run, t):
    """The step from stage 0 to the time t; whether it has an end. Its error over the tolerance, in `error`."""
    run.dt, run.across = t - run.stages[0].t, 0
    load_start(run, run.stages[0])
    if run.steady and stay_at_rest(run, t):
        return True
    for k in range(1, run.inner):
        evaluate_stage(run, k)
    runge_kutta.try_stage(run.steering, run.order, run.inner, run.dt)
    runge_kutta.place_bodies(run)
    see(run.system, t)
    if not project(run):
        return False
    accelerate(run, True)
    note_end(run)
    first, second = runge_kutta.squared_errors(run, run.order)
    run.error = max(run.dt * runge_kutta.blended(first, second, run.numbers), error_of_work(run))
    return True


@piece
def error_of_work(run):
    """Error of works over the energy equivalent of tolerances, root mean square of those that are done."""
    powers, order, count, most, energy = run.powers, run.order, run.inner + 1, 0.0, TINY
    for one in run.integrated:
        most = max(most, largest(runge_kutta.tolerance(run, one.q)))
    for k in range(len(run.integrated)):
        one, start, end = run.integrated[k], run.stages[0].bodies[k], run.end.bodies[k]
        mass, scale = one.body.mass, runge_kutta.tolerance(run, one.v)
        energy += dot(abs(weighed(abs(start.v) + abs(end.v) + scale, mass)), scale)
        force = abs(start.force) + abs(end.force) + abs(weighed(start.a, mass))
        # in space components of a quaternion and of a torque differ
        energy += dot(force, runge_kutta.tolerance(run, one.q) if is_planar(force) else zeros_like(force) + most)
    error, other = runge_kutta.weighted(powers, order, FIRST, count), runge_kutta.weighted(powers, order, SECOND, count)
    size = zeros_like(error)
    for j in range(count):
        size += abs(powers.stages[j].value)
    done = total(size / (size + TINY))
    return run.dt * runge_kutta.blended(dot(error, error), dot(other, other), done) / energy


@kernel
def mean_weight(run, j):
    """Weight of stage j, or of the end, in a mean over the step."""
    if run.across:
        return 0.5 if j == 0 or j == run.inner else 0.0
    return A[run.order, run.inner, j]


# ---- within a step


@piece
def extend(run):
    """Evaluate the further stages of the interpolant."""
    for k in range(run.inner + 1, len(run.stages)):
        evaluate_stage(run, k)
    runge_kutta.interpolate(run.steering, run.order, run.dt)


@piece
def motion_within(run, x, instant):
    """The motion at a fraction of the step, by the interpolant, whose further stages are evaluated."""
    runge_kutta.try_within(run.steering, run.order, x)
    runge_kutta.place_bodies(run)
    see(run.system, run.stages[0].t + x * run.dt)
    accelerate(run, False)
    note(run, instant, False)


# ---- the first step


@kernel
def first_length(run, start):
    """Length of the first step, after Hairer, Norsett and Wanner."""
    load_start(run, start)
    values, slopes = runge_kutta.sizes_at_start(run)
    return run.system.longest if min(values, slopes) < IDLE else min(run.system.longest, SHARE * values / slopes)
