"""Steps of Dormand and Prince's explicit Runge-Kutta pairs, of orders five and eight, and their interpolants.

Stages 0 to s - 1 are those of a step, stage s is its end, and the further ones of order eight are those of its
interpolant. With h the length of a step, k_j its slopes and x a share of it ::

    y_j  = y_0 + h sum_i A_ji k_i,      e = h sum_j E_j k_j,      c = y_end - y_0
    y(x) = y_0 + x (c + (1 - x) (h k_0 - c + x (2 c - h (k_0 + k_s) + (1 - x) h (sum_j D_1j k_j + x (..)))))

where y_end is the end after its projection, if it is projected. SciPy's classes have the coefficients as public
attributes, which avoids 200 numbers of 17 digits; tests check their order conditions.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), sections II.4 to II.6 and II.10.
"""

import math

import numpy as np
from scipy.integrate import DOP853, RK45

from nonsmooth.compile.kernels import kernel
from nonsmooth.compile.records.values import dot, larger_of
from nonsmooth.step.integration_fields import ALL, INNER, TERMS
from nonsmooth.step.motion import placed, rates_of_position

#: rows of the tableau behind those of stages: both error estimates, of which that of order five has one; difference of
#: the last two stages of order eight, both at the end of the step; terms of the interpolant from the fourth on
FIRST, SECOND, APART, FOURTH = 16, 17, 18, 19

#: weights of slopes and times of stages, by the number of the method
A, C = np.zeros((2, 23, 16)), np.zeros((2, 16))
A[0, :6, :5], A[0, 6, :6], A[0, FIRST, :7], A[0, FOURTH, :7] = RK45.A, RK45.B, RK45.E, RK45.P[:, 3]
A[1, :12, :12], A[1, 12, :12], A[1, 13:16] = DOP853.A[:12, :12], DOP853.B, DOP853.A_EXTRA
A[1, FIRST, :13], A[1, SECOND, :13], A[1, APART], A[1, FOURTH:] = DOP853.E5, DOP853.E3, A[1, 12] - A[1, 11], DOP853.D
C[0, :6], C[0, 6], C[1, :12], C[1, 12], C[1, 13:] = RK45.C, 1.0, DOP853.C[:12], 1.0, DOP853.C_EXTRA


@kernel
def weighted(block, order, row, count):
    """Sum of the first slopes of a block, with the weights of a row of the tableau."""
    total = A[order, row, 0] * block.stages[0].value
    for j in range(1, count):
        if A[order, row, j] != 0.0:
            total += A[order, row, j] * block.stages[j].value
    return total


@kernel
def try_stage(blocks, order, k, h):
    """Blocks at stage k, by the slopes of the stages before it, in a step of length h."""
    for block in blocks:
        block.tried = block.start + h * weighted(block, order, k, k)


@kernel
def place_bodies(run):
    """Bodies at the trial values of their blocks."""
    for one in run.integrated:
        body = one.body
        body.at = one.q.origin + one.q.tried
        body.z = placed(body.at)
        body.u = one.v.tried


@kernel
def note_slopes(run, k):
    """Rates of positions, and accelerations, as slopes of stage k."""
    for one in run.integrated:
        body = one.body
        one.q.stages[k].value, one.v.stages[k].value = rates_of_position(body, body.at, body.u), body.jump


@kernel
def tolerance(run, block):
    """Tolerances of the numbers of a block in the step whose end is tried."""
    return block.tolerance + run.rtol * larger_of(abs(block.start), abs(block.tried))


@kernel
def squared_errors(run, order):
    """Sums of the squares of both error estimates over their tolerances, divided by the length of the step."""
    first, second, count = 0.0, 0.0, INNER[order] + 1
    for block in run.steering:
        scale = tolerance(run, block)
        one, other = weighted(block, order, FIRST, count) / scale, weighted(block, order, SECOND, count) / scale
        first += dot(one, one)
        second += dot(other, other)
    return first, second


@kernel
def blended(first, second, count):
    """Root mean square of the error of `count` numbers, by sums of the squares of both estimates."""
    if first == 0.0 and second == 0.0:
        return 0.0
    return first / math.sqrt((first + 0.01 * second) * count)


@kernel
def sizes_at_start(run):
    """Root mean squares of the values at the start of a step and of their slopes there, over their tolerances."""
    values, slopes = 0.0, 0.0
    for block in run.steering:
        scale = block.tolerance + run.rtol * abs(block.start)
        y, slope = block.start / scale, block.stages[0].value / scale
        values += dot(y, y)
        slopes += dot(slope, slope)
    return math.sqrt(values / run.numbers), math.sqrt(slopes / run.numbers)


@kernel
def interpolate(blocks, order, h):
    """The terms of the interpolant, from the slopes of all stages."""
    for block in blocks:
        first, last, terms = block.stages[0].value, block.stages[INNER[order]].value, block.terms
        change = block.end - block.start
        terms[0].value = change
        terms[1].value = h * first - change
        terms[2].value = 2.0 * change - h * (first + last)
        for k in range(3, TERMS[order]):
            terms[k].value = h * weighted(block, order, FOURTH + k - 3, ALL[order])


@kernel
def try_within(blocks, order, x):
    """Blocks at a share x of the step."""
    for block in blocks:
        value = 0.0 * block.start
        for k in range(TERMS[order] - 1, -1, -1):
            value = (value + block.terms[k].value) * (1.0 - x if k & 1 else x)
        block.tried = block.start + value
