"""Dormand and Prince's pair of order 8 with its interpolant of order 7; the length of its steps, by their errors.

Stage k of a step is at row k of the coefficients; stage 12 is at the end of the step and stage 0 of the next one.
Impulses and works do not enter the step size control.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), section II.10; step control as in SciPy.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.compile.records.values import dot, larger_of
from nonsmooth.schemes.compliant.fields import ALL_STAGES, TERMS
from nonsmooth.schemes.compliant.motion import rates_at
from nonsmooth.step.program import INFINITE
from nonsmooth.step.runge_kutta import A8 as A
from nonsmooth.step.runge_kutta import C8 as C
from nonsmooth.step.runge_kutta import D8 as D
from nonsmooth.step.runge_kutta import E3, E5, blended
from nonsmooth.step.tolerances import EPSILON, SAFETY, SHRINK, TINY

#: stages of a step, without those of the interpolant
STAGES = 12
#: largest factor from one step size to the next
FASTEST = 10.0
#: square of the estimate of order five, as a share of that of order three, at least where rates have a corner: 0.007 to
#: 0.036 of it elsewhere than near its zero, in steps of 1 to 50 % of an elastic contact of Hertz
CORNER = 0.007**2
#: the same where a contact ends within the step, with a force (c - t)^(3/2): 0.05 to 0.14 elsewhere than near zeros
ENDING = 0.06**2
#: eigenvalue [-] of rates, times the length of the step, from which on stability limits that: the pair is stable up to
#: 6.1, but there steps that let errors grow alternate with others, and estimates of their eigenvalues about 4.8
STABLE = 4.5
#: least positive number
LEAST = 5e-324


@kernel
def after(t):
    """A number above t, among the next two."""
    return t + max(EPSILON * abs(t), LEAST)


# ---- a step


@kernel
def try_stage(parts, k, h):
    """Where parts are at stage k, by the stages before it: h from the start of the step on."""
    for part in parts:
        total = A[k, 0] * part.stages[0].value
        for i in range(1, k):
            if A[k, i] != 0.0:
                total += A[k, i] * part.stages[i].value
        part.tried = part.start + h * total


@kernel
def errors_of(run, h):
    """Errors over their tolerances, root mean square; a step is accepted below 1."""
    fifth, third = 0.0, 0.0
    for part in run.steering:
        five, three = E5[0] * part.stages[0].value, E3[0] * part.stages[0].value
        for i in range(1, STAGES + 1):
            value = part.stages[i].value
            five += E5[i] * value
            three += E3[i] * value
        scale = part.tolerance + run.rtol * larger_of(abs(part.start), abs(part.tried))
        five, three = five / scale, three / scale
        fifth += dot(five, five)
        third += dot(three, three)
    fifth = max(fifth, corner(run) * third)
    return h * blended(fifth, third, run.numbers)


@kernel
def corner(run):
    """The least square of the estimate of order five, as a share of that of order three: not zero if a contact begins
    at the start of the step or ends before its end, which is tried. Forces that grow or fall as the power 3/2 of time
    have a corner there, where that estimate may vanish by chance in a step that is far too long."""
    least = 0.0
    for overlap in run.overlaps:
        if overlap.touches and overlap.contact.g > 0.0:
            return ENDING
        if overlap.touches and overlap.began == run.t_start:
            least = CORNER
    return least


@piece
def try_step(run, h):
    """The stages of a step; its end is tried last. The errors.

    Rates do not depend on integrals, which are needed at the end only.
    """
    for k in range(1, STAGES):
        try_stage(run.steering, k, h)
        rates_at(run, run.t_start + C[k] * h, k)
    try_stage(run.parts, STAGES, h)
    rates_at(run, run.t_start + h, STAGES)
    return errors_of(run, h)


@kernel
def keep_end(run):
    """The trial values become the end of the step; whether they are finite."""
    size = 0.0
    for part in run.parts:
        part.end = part.tried
        size += dot(part.end, part.end)
    return size < INFINITE


@piece
def step(run):
    """A step as long as its errors allow; whether there is one."""
    run.t_start = t = run.t
    for part in run.parts:
        part.start = part.end
        part.stages[0].value = part.stages[STAGES].value
    shortest = 10.0 * (after(t) - t)
    length, rejected = max(min(run.length, run.longest), shortest), False
    while length >= shortest:
        end = t + length if t + length < run.limit else run.limit
        h = end - t
        error = try_step(run, h)
        if error < 1.0:
            factor = min(FASTEST, SAFETY * max(error, TINY) ** -0.125)
            run.length = h * (min(1.0, factor) if rejected else factor)
            run.t = end
            return keep_end(run)
        factor = SAFETY * error**-0.125
        length = h * (factor if factor > SHRINK else SHRINK)  # also where the error is no number
        rejected = True
    return False


@kernel
def is_limited_by_stability(run):
    """Whether the step just taken was as long as stability permits: by the values and rates of its last two stages,
    both at its end, whose differences are nearly along the fastest eigenvector."""
    values, rates = 0.0, 0.0
    for part in run.steering:
        apart = (A[STAGES, 0] - A[STAGES - 1, 0]) * part.stages[0].value
        for i in range(1, STAGES):
            apart += (A[STAGES, i] - A[STAGES - 1, i]) * part.stages[i].value
        apart = apart / part.tolerance
        change = (part.stages[STAGES].value - part.stages[STAGES - 1].value) / part.tolerance
        values += dot(apart, apart)
        rates += dot(change, change)
    return rates > STABLE**2 * values


# ---- within a step


@piece
def interpolate(run):
    """The terms of the interpolant."""
    h = run.t - run.t_start
    for k in range(STAGES + 1, ALL_STAGES):
        try_stage(run.steering, k, h)
        rates_at(run, run.t_start + C[k] * h, k)
    for part in run.parts:
        first, last, terms = part.stages[0].value, part.stages[STAGES].value, part.terms
        change = part.end - part.start
        terms[0].value = change
        terms[1].value = h * first - change
        terms[2].value = 2.0 * change - h * (first + last)
        for k in range(TERMS - 3):
            total = D[k, 0] * first
            for i in range(1, ALL_STAGES):
                total += D[k, i] * part.stages[i].value
            terms[3 + k].value = h * total


@kernel
def go_to(run, parts, t):
    """Parts as they are at a time within the step."""
    if t == run.t:
        for part in parts:
            part.tried = part.end
        return
    x = (t - run.t_start) / (run.t - run.t_start)
    for part in parts:
        value = 0.0 * part.start
        for k in range(TERMS):
            value = (value + part.terms[TERMS - 1 - k].value) * (1.0 - x if k & 1 else x)
        part.tried = part.start + value


# ---- the first step


@kernel
def root_mean_square(run, total):
    return math.sqrt(total / run.numbers)


@piece
def first_length(run):
    """A length to begin with, from rates at the start, at stage 12, and a little later."""
    d0, d1, d2 = 0.0, 0.0, 0.0
    for part in run.steering:
        scale, rate = part.tolerance + run.rtol * abs(part.end), part.stages[STAGES].value
        y, r = part.end / scale, rate / scale
        d0 += dot(y, y)
        d1 += dot(r, r)
    d0, d1 = root_mean_square(run, d0), root_mean_square(run, d1)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    for part in run.steering:
        part.tried = part.end + h * part.stages[STAGES].value
    rates_at(run, run.t + h, 1)
    for part in run.steering:
        scale = part.tolerance + run.rtol * abs(part.end)
        r = (part.stages[1].value - part.stages[STAGES].value) / scale
        d2 += dot(r, r)
    d2 = root_mean_square(run, d2) / h
    later = max(1e-6, 1e-3 * h) if d1 <= 1e-15 and d2 <= 1e-15 else (0.01 / max(d1, d2)) ** 0.125
    return min(min(100.0 * h, later), run.longest)
