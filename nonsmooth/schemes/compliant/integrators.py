"""The integrator of a run with compliant contact: Dormand and Prince's pair, or one outside, called by its address.

One outside takes all steps, or those of stiff phases, an implicit one then: it takes over after many steps that
stability limits, until contact begins or ends, and hands back for some time if its steps, each of which costs as much
as many others, are not longer by as much.

Three things are requested of it: to begin anew at the trial values of all parts, its next step, and all parts at a time
within that, exactly or approximately. It evaluates rates by `compliant.rates`.
"""

from nonsmooth.compile.kernels import kernel, piece, solved_outside
from nonsmooth.schemes.compliant import dormand_prince
from nonsmooth.schemes.compliant.fields import BEGIN, GO_TO, LOOK, STEP
from nonsmooth.schemes.compliant.motion import rates_at
from nonsmooth.schemes.compliant.tolerances import PAUSE

#: steps that stability limits, after which the integrator outside takes over
PATIENCE = 500
#: steps in a row that it does not limit, after which such steps count against others: at the limit both alternate
BETWEEN = 6
#: its steps are worth so many others, or it hands back after some that are shorter
WORTH, TRIALS = 40.0, 12

integrate_outside = solved_outside("integrate")


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
    rates_at(run, run.t, dormand_prince.STAGES)
    run.length = min(run.first, run.longest) if run.first > 0.0 else dormand_prince.first_length(run)
    return True


@kernel
def next_step(run):
    """The next step, as long as its errors allow, from t_start to t; whether there is one."""
    if run.outside:
        found = ask(run, STEP, run.t)
        if found and not run.always:
            hand_back(run)
        return found
    found = dormand_prince.step(run)
    if found:
        dormand_prince.interpolate(run)
        if run.integrate != 0:
            hand_over(run)
    return found


@kernel
def hand_over(run):
    """Begin anew with the integrator outside, if stability has limited many steps."""
    if dormand_prince.is_limited_by_stability(run):
        run.limited, run.free = run.limited + 1, 0
        if run.limited == PATIENCE:
            run.restart = 1
        return
    run.free += 1
    if run.free > BETWEEN and run.limited > 0:
        run.limited -= 1


@kernel
def hand_back(run):
    """Begin anew without it, if its steps are short."""
    run.implicit += 1
    run.short = run.short + 1 if run.t - run.t_start < WORTH * run.length else 0
    if run.short == TRIALS:
        run.limited, run.restart = -PAUSE, 1


@kernel
def go_to(run, parts, t):
    """Parts as they are at a time within the step; of an integrator outside, which may fail, all parts."""
    if run.outside:
        ask(run, GO_TO, t)
    else:
        dormand_prince.go_to(run, parts, t)


@kernel
def look(run, parts, t):
    """Parts at a time within the step, perhaps approximately."""
    if run.outside:
        ask(run, LOOK, t)
    else:
        dormand_prince.go_to(run, parts, t)
