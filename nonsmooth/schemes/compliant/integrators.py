"""The integrator of a run with compliant contact: Dormand and Prince's pair of order eight, or one outside.

Steps of the pair are as long as SciPy's; impulses and works do not enter the step size control. An integrator outside,
called by its address, takes all steps, or those of stiff phases, then an implicit one: it takes over after many steps
that stability limits, until contact begins or ends, and hands back for some time if its steps are not longer by as much
as they cost more.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), section II.10.
"""

import math

from nonsmooth.compile.kernels import kernel, piece, solved_outside
from nonsmooth.compile.records.values import dot
from nonsmooth.schemes.compliant.fields import BEGIN, STEP
from nonsmooth.schemes.compliant.motion import rates_at
from nonsmooth.schemes.compliant.tolerances import PAUSE
from nonsmooth.step import runge_kutta
from nonsmooth.step.integration_fields import ALL, INNER
from nonsmooth.step.program import INFINITE
from nonsmooth.step.runge_kutta import APART, C
from nonsmooth.step.tolerances import EPSILON, SAFETY, SHRINK, TINY

#: number of the pair of order eight, and the stage at the end of its steps
EIGHT, END = 1, INNER[1]
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
#: steps that stability limits, after which the integrator outside takes over
PATIENCE = 500
#: steps in a row that it does not limit, after which such steps count against others: at the limit both alternate
BETWEEN = 6
#: its steps are worth so many others, or it hands back after some that are shorter
WORTH, TRIALS = 40.0, 12

integrate_outside = solved_outside("integrate")


# ---- steps of the pair


@kernel
def after(t):
    """A number above t, among the next two."""
    return t + max(EPSILON * abs(t), LEAST)


@kernel
def start_step(run):
    for block in run.blocks:
        block.start = block.end
        block.stages[0].value = block.stages[END].value


@piece
def error_of_step(run, h):
    """Stages of a step, its end last; root mean square of its errors, but of integrals, over their tolerances."""
    for k in range(1, END):
        runge_kutta.try_stage(run.steering, EIGHT, k, h)
        rates_at(run, run.t_start + C[EIGHT, k] * h, k)
    runge_kutta.try_stage(run.blocks, EIGHT, END, h)
    rates_at(run, run.t_start + h, END)
    # forces that grow or fall as the power 3/2 of time have a corner where a contact begins at the start of the step or
    # ends before its end: there the estimate of order five may vanish by chance in a step that is far too long
    least = 0.0
    for overlap in run.overlaps:
        if overlap.touches and overlap.contact.g > 0.0:
            least = ENDING
        elif overlap.touches and overlap.began == run.t_start:
            least = max(least, CORNER)
    fifth, third = runge_kutta.squared_errors(run, EIGHT)
    return h * runge_kutta.blended(max(fifth, least * third), third, run.numbers)


@piece
def step(run):
    """A step as long as its errors allow, with its interpolant; whether there is one."""
    run.t_start = t = run.t
    start_step(run)
    shortest = 10.0 * (after(t) - t)
    length, rejected, size = max(min(run.length, run.longest), shortest), False, 0.0
    while length >= shortest:
        end = t + length if t + length < run.limit else run.limit
        h = end - t
        error = error_of_step(run, h)
        if error < 1.0:
            factor = min(FASTEST, SAFETY * max(error, TINY) ** -0.125)
            run.length = h * (min(1.0, factor) if rejected else factor)
            run.t = end
            for block in run.blocks:
                block.end = block.tried
                size += dot(block.end, block.end)
            if not size < INFINITE:
                return False
            for k in range(END + 1, ALL[EIGHT]):
                runge_kutta.try_stage(run.steering, EIGHT, k, h)
                rates_at(run, run.t_start + C[EIGHT, k] * h, k)
            runge_kutta.interpolate(run.blocks, EIGHT, h)
            return True
        factor = SAFETY * error**-0.125
        length = h * (factor if factor > SHRINK else SHRINK)  # also where the error is no number
        rejected = True
    return False


@piece
def first_length(run):
    """A length to begin with, from rates at the start and a little later."""
    start_step(run)
    values, slopes = runge_kutta.sizes_at_start(run)
    h = 1e-6 if values < 1e-5 or slopes < 1e-5 else 0.01 * values / slopes
    for block in run.steering:
        block.tried = block.start + h * block.stages[0].value
    rates_at(run, run.t + h, 1)
    change = 0.0
    for block in run.steering:
        scale = block.tolerance + run.rtol * abs(block.start)
        bend = (block.stages[1].value - block.stages[0].value) / scale
        change += dot(bend, bend)
    change = math.sqrt(change / run.numbers) / h
    still = slopes <= 1e-15 and change <= 1e-15
    later = max(1e-6, 1e-3 * h) if still else (0.01 / max(slopes, change)) ** 0.125
    return min(min(100.0 * h, later), run.longest)


# ---- the pair, or an integrator outside


@piece
def ask(run, what, t):
    """Whether the integrator outside has found what is requested."""
    run.request, run.request_time = what, t
    return integrate_outside(run) == 1


@kernel
def begin(run):
    """Begin anew at time t with the trial values; whether the integrator can."""
    goes_on = run.outside
    run.outside = 1 if run.integrate != 0 and (run.always or run.limited >= PATIENCE) else 0
    if run.outside:
        if not goes_on:
            run.short = 0
        return ask(run, BEGIN, run.t)
    rates_at(run, run.t, END)
    run.length = min(run.first, run.longest) if run.first > 0.0 else first_length(run)
    return True


@piece
def next_step(run):
    """The next step, as long as its errors allow, from t_start to t; whether there is one."""
    if run.outside:
        found = ask(run, STEP, run.t)
        if found and not run.always:  # begin anew without it, if its steps are short
            run.implicit += 1
            run.short = run.short + 1 if run.t - run.t_start < WORTH * run.length else 0
            if run.short == TRIALS:
                run.limited, run.restart = -PAUSE, 1
        return found
    found = step(run)
    if not found or run.integrate == 0:
        return found
    # values and rates of the last two stages, both at the end of the step, differ nearly along the fastest eigenvector
    values, rates = 0.0, 0.0
    for block in run.steering:
        apart = runge_kutta.weighted(block, EIGHT, APART, END) / block.tolerance
        change = (block.stages[END].value - block.stages[END - 1].value) / block.tolerance
        values += dot(apart, apart)
        rates += dot(change, change)
    if rates > STABLE**2 * values:  # begin anew with an integrator outside, if stability has limited many steps
        run.limited, run.free = run.limited + 1, 0
        if run.limited == PATIENCE:
            run.restart = 1
        return True
    run.free += 1
    if run.free > BETWEEN and run.limited > 0:
        run.limited -= 1
    return True


@kernel
def go_to(run, blocks, t, what):
    """Blocks at a time within the step; if so requested, approximately by an integrator outside, which may fail."""
    if run.outside:
        ask(run, what, t)
    elif t == run.t:
        for block in blocks:
            block.tried = block.end
    else:
        runge_kutta.try_within(blocks, EIGHT, (t - run.t_start) / (run.t - run.t_start))
