"""The integrator of a run with compliant contact: Dormand and Prince's pair, or one outside, called by its address.

Three things are requested of one outside: to begin anew at the trial values of all parts, its next step, and all parts
at a time within that, exactly or approximately. It evaluates rates by `compliant.rates`.
"""

from nonsmooth.compile.kernels import kernel, piece, solved_outside
from nonsmooth.schemes import dormand_prince
from nonsmooth.schemes.compliant_fields import BEGIN, GO_TO, LOOK, STEP
from nonsmooth.schemes.compliant_motion import rates_at

integrate_outside = solved_outside("integrate")


@piece
def ask(run, what, t):
    """Whether the integrator outside has found what is requested."""
    run.asks, run.asked = what, t
    return integrate_outside(run) == 1


@kernel
def begin(run):
    """Begin anew at time t with the trial values; whether the integrator can."""
    if run.integrate != 0:
        return ask(run, BEGIN, run.t)
    rates_at(run, run.t, dormand_prince.STAGES)
    run.length = min(run.first, run.longest) if run.first > 0.0 else dormand_prince.first_length(run)
    return True


@kernel
def next_step(run):
    """The next step, as long as its errors allow, from t_start to t; whether there is one."""
    if run.integrate != 0:
        return ask(run, STEP, run.t)
    found = dormand_prince.step(run)
    if found:
        dormand_prince.interpolate(run)
    return found


@kernel
def go_to(run, parts, t):
    """Parts as they are at a time within the step; of an integrator outside, which may fail, all parts."""
    if run.integrate != 0:
        ask(run, GO_TO, t)
    else:
        dormand_prince.go_to(run, parts, t)


@kernel
def look(run, parts, t):
    """The same, perhaps approximately."""
    if run.integrate != 0:
        ask(run, LOOK, t)
    else:
        dormand_prince.go_to(run, parts, t)
