"""One step of smooth motion: Dormand and Prince's pair of order 5, its end projected, its error, and its interior.

Stage 0 is the start of the step, stage 6 its projected end. Works are states of the same pair, which depend on the
others only.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), sections II.4 and II.5.
"""

import math

import numpy as np
from scipy.integrate import RK45

from nonsmooth.compile.kernels import by_dimension, kernel, piece
from nonsmooth.records.values import dot, larger_of, largest, weighed, zeros_like
from nonsmooth.schemes.event_fields import STAGES
from nonsmooth.schemes.mechanism import squared_length
from nonsmooth.schemes.motion import placed
from nonsmooth.schemes.phase_instants import closure_of, copy, note
from nonsmooth.schemes.phase_motion import accelerate, project
from nonsmooth.tolerances import TINY
from nonsmooth.tolerances.event_driven import BALANCED, FIRST, IDLE

#: of stages: weights of those before, the last one that of the end; times; error estimate; continuous extension
A = np.zeros((STAGES + 1, STAGES))
A[:STAGES, : RK45.A.shape[1]], A[STAGES] = RK45.A, RK45.B
B, C, E, P = np.array(RK45.B), np.array(RK45.C), np.array(RK45.E), np.array(RK45.P)


# ---- a step


@piece
def place_at_stage(run, k, dt):
    """Positions and velocities of stage k, from the stages before it."""
    for i in range(len(run.system.bodies)):
        body, start = run.system.bodies[i], run.stages[0].bodies[i]
        rate, a = A[k, 0] * start.rate, A[k, 0] * start.a
        for j in range(1, k):
            if A[k, j] != 0.0:
                of = run.stages[j].bodies[i]
                rate += A[k, j] * of.rate
                a += A[k, j] * of.a
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
    for k in range(1, STAGES + 1):
        copy(run.stages[k], start)
    run.stages[STAGES].t = t
    run.error = run.closure = 0.0


@piece
def advance(run, t):
    """The step from stage 0 to the time t; whether it has an end. Its error over the tolerance, in `error`."""
    system, start = run.system, run.stages[0]
    dt = run.dt = t - start.t
    if run.steady and at_rest(run, start):
        step_at_rest(run, t)
        return True
    for k in range(1, STAGES):
        place_at_stage(run, k, dt)
        system.seen = start.t + C[k] * dt
        accelerate(run, False)
        note(run, run.stages[k], False)
    place_at_stage(run, STAGES, dt)
    system.seen = t
    if not project(run):
        return False
    accelerate(run, True)
    note(run, run.stages[STAGES], True)
    run.closure = closure_of(run, dt)
    run.error = max(error_of_states(run, dt), error_of_work(run, dt))
    return True


# ---- its error


@piece
def error_of_states(run, dt):
    """Of positions and velocities over their tolerances, root mean square."""
    total = 0.0
    for i in range(len(run.system.bodies)):
        start, end = run.stages[0].bodies[i], run.stages[STAGES].bodies[i]
        rate, a = E[0] * start.rate, E[0] * start.a
        for j in range(1, STAGES + 1):
            of = run.stages[j].bodies[i]
            rate += E[j] * of.rate
            a += E[j] * of.a
        rate = (dt * rate) / tolerance(run, start.q, end.q)
        a = (dt * a) / tolerance(run, start.v, end.v)
        total += dot(rate, rate) + dot(a, a)
    return math.sqrt(total / run.numbers)


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
        start, end = run.stages[0].bodies[i], run.stages[STAGES].bodies[i]
        most = max(most, largest(tolerance(run, start.q, end.q)))
    for i in range(len(system.bodies)):
        body, start, end = system.bodies[i], run.stages[0].bodies[i], run.stages[STAGES].bodies[i]
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
    total, done = 0.0, 0
    for k in range(4):
        off, works = 0.0, 0
        for j in range(STAGES + 1):
            one = power(run.stages[j], k)
            off += E[j] * one
            works = 1 if one != 0.0 else works
        total += off * off
        done += works
    if done == 0:
        return 0.0
    return dt * math.sqrt(total / done) / energy_of_tolerance(run)


# ---- within a step


@piece
def motion_within(run, x, instant):
    """The motion at a fraction of the step, from the continuous extension of order 4."""
    system, dt, bend = run.system, run.dt, x * x * (3.0 - 2.0 * x)
    for j in range(STAGES + 1):
        run.stages[j].weight = x * (P[j, 0] + x * (P[j, 1] + x * (P[j, 2] + x * P[j, 3])))
    for i in range(len(system.bodies)):
        body, start, end = system.bodies[i], run.stages[0].bodies[i], run.stages[STAGES].bodies[i]
        rate, a, change, gain = 0.0 * start.rate, 0.0 * start.a, end.q - start.q, end.v - start.v
        for j in range(STAGES + 1):
            stage = run.stages[j]
            of = stage.bodies[i]
            rate += stage.weight * of.rate
            a += stage.weight * of.a
            if j < STAGES:
                change -= (dt * B[j]) * of.rate
                gain -= (dt * B[j]) * of.a
        body.at, body.u = start.q + dt * rate + bend * change, start.v + dt * a + bend * gain
        body.z = placed(body.at)
    system.seen = run.stages[0].t + x * dt
    accelerate(run, False)
    note(run, instant, False)


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
