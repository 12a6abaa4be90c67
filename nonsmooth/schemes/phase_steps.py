"""One step of smooth motion: a Runge-Kutta pair, its end projected, its error, and its interior.

Stage 0 is the start of the step, `end` its projected end. Works are states of the same pair, which depend on the others
only.
"""

import math

from nonsmooth.compile.kernels import by_dimension, kernel, piece, solved_outside
from nonsmooth.records.values import dot, larger_of, largest, weighed, zeros_like
from nonsmooth.schemes.mechanism import squared_length
from nonsmooth.schemes.motion import placed, see
from nonsmooth.schemes.phase_instants import closure_of, copy, note, place_at
from nonsmooth.schemes.phase_motion import accelerate, project
from nonsmooth.schemes.program import INFINITE
from nonsmooth.schemes.runge_kutta import A, B, C, E, F, blended, weight_within
from nonsmooth.tolerances import TINY

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
    """Of positions and velocities over their tolerances, root mean square."""
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
def moves_in_plane(force, scale, most):
    return dot(force, scale)


@kernel
def moves_in_space(force, scale, most):
    return dot(force, zeros_like(force) + most)


work_of_scale = by_dimension(moves_in_plane, moves_in_space)  # (force, scale of positions, the largest one)


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
        energy += work_of_scale(force, tolerance(run, start.q, end.q), most)
    return energy


@kernel
def power(instant, k):
    """Of loads, damping, drivers, friction."""
    if k < 2:
        return instant.loads if k == 0 else instant.damping
    return instant.drivers if k == 2 else instant.friction


@piece
def error_of_work(run, dt):
    """Of works over the energy equivalent of tolerances, root mean square of those that are done."""
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
