"""Rungs: one mechanism stepped ever more finely, until two runs agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nonsmooth.exceptions import Interrupted, SimulationFailed, SolverFailed
from nonsmooth.step_control import ConstantStep, ErrorControl, Landing, StepControl
from nonsmooth.steppers.compliant import CompliantDae
from nonsmooth.steppers.event_driven import EventDriven
from nonsmooth.steppers.gauss_mpcc import GaussMPCC
from nonsmooth.steppers.gauss_qp import GaussQP
from nonsmooth.trajectory import Trajectory
from nonsmooth.trust.difference import Difference

__all__ = ["Climb", "Rung", "Run", "climb", "finer", "rungs"]

#: tolerance and longest step (share of the run) of the first rung of a method with error control, and what each further
#: rung multiplies them by. The longest step falls as well: where it and not the tolerance sets the steps, two runs
#: would agree on the same mistake
RTOL, LONGEST, TENTH, SHORTER = 1e-5, 1 / 500, 0.1, 0.6
#: absolute over relative tolerance; time in which impacts count as one, [s] or share of the run
ABSOLUTE, TOGETHER, TOGETHER_SHARE = 1e-2, 1e-6, 1e-5
#: first step of time stepping (share of the run), and what each further rung multiplies it by
FIRST, QUARTER = 1 / 500, 0.25
#: rungs of error control, of time stepping in compiled and in Python loops, and of the former where it is only tried
RUNGS, COMPILED_RUNGS, PYTHON_RUNGS, QUICK_RUNGS = 6, 6, 4, 5
#: runs without which time stepping does not end: two of the longest steps may agree by chance
ASKED = 3
#: a run that takes more than so many times the fewest steps chatters or crawls, and is given up
CRAWLING = 30
#: failures of rungs after which a method is given up
FAILURES = 2


@dataclass(frozen=True)
class Rung:
    """A scheme with its steps, and the number of steps from which it is given up."""

    stepper: Any
    control: StepControl
    most: int | None = None


#: runs a rung; raises SimulationFailed
Run = Callable[[Rung], Trajectory]


@dataclass(eq=False)
class Climb:
    """What a ladder came to.

    Parameters
    ----------
    best, coarser
        The finest run that ended and the one before it, None if none did.
    difference
        Of these two; None where there are not two.
    failure
        The last run that failed.
    tried
        What was run, for the manifest: settings, steps, outcome.
    """

    best: Trajectory | None = None
    coarser: Trajectory | None = None
    difference: Difference | None = None
    failure: SimulationFailed | None = None
    tried: list[str] = field(default_factory=list)
    agreed: bool = False
    hopeful: bool = False


def rungs(stepper: Any, length: float, *, compiled: Callable[[Any, StepControl], bool]) -> list[Rung]:
    """Of a stepper, for a run of this length [s]; `compiled` tells whether steps have a compiled loop."""
    if isinstance(stepper, EventDriven | CompliantDae):
        controls: list[StepControl] = []
        for level in range(RUNGS):
            rtol, longest = RTOL * TENTH**level, length * LONGEST * SHORTER**level
            together = min(TOGETHER, TOGETHER_SHARE * length)
            controls.append(ErrorControl(float(f"{rtol:.1g}"), float(f"{ABSOLUTE * rtol:.1g}"), together, longest))
        return [Rung(stepper, one, int(CRAWLING / LONGEST / SHORTER**level)) for level, one in enumerate(controls)]
    found = _stepped(stepper, length, COMPILED_RUNGS)
    return found if compiled(stepper, found[0].control) else found[:PYTHON_RUNGS]


def quick_rungs(stepper: Any, length: float) -> list[Rung]:
    """Of time stepping that is compiled, as far as it costs less than other methods."""
    return _stepped(stepper, length, QUICK_RUNGS)


def _stepped(stepper: Any, length: float, count: int) -> list[Rung]:
    found = []
    for level in range(count):
        dt = length * FIRST * QUARTER**level
        lands = isinstance(stepper, GaussQP | GaussMPCC)
        control = Landing(min(TOGETHER, dt / 100), dt) if lands else ConstantStep(dt)
        found.append(Rung(stepper, control, int(CRAWLING / FIRST / QUARTER**level)))
    return found


def finer(control: StepControl) -> StepControl:
    """The next rung after any steps of a user's own."""
    if isinstance(control, ConstantStep):
        return ConstantStep(control.dt * QUARTER)
    if isinstance(control, Landing):
        return Landing(control.dt_min * QUARTER, control.dt_max * QUARTER)
    rtol, atol = max(control.rtol * TENTH, 1e-13), control.atol * TENTH
    return ErrorControl(rtol, atol, control.dt_min, max(control.dt_max * SHORTER, control.dt_min))


def climb(
    run: Run, ladder: Sequence[Rung], compared: Callable[[Trajectory, Trajectory], Difference], accuracy: float, *,
    hopeful: bool = False,
) -> Climb:  # fmt: skip
    """Run ever finer until two runs agree to `accuracy` and the finer one shows no sign of error.

    A `hopeful` one is given up, after a few, as soon as its runs do not approach each other quickly enough to agree on
    its last rungs.

    Raises
    ------
    Interrupted
        On Ctrl-C, with the last run that ended, or with what there is of the first.
    """
    found, failures, ended, apart = Climb(hopeful=hopeful), 0, 0, math.inf
    for level, rung in enumerate(ladder):
        said = f"{type(rung.stepper).__name__}, {rung.control}"
        try:
            one = run(rung)
        except SimulationFailed as failure:
            if not isinstance(failure.cause, SolverFailed):  # finer steps are no remedy
                raise
            found.failure, failures = failure, failures + 1
            found.tried.append(f"{said}: failed at t = {failure.trajectory.t[-1]:.6g} s")
        except Interrupted as interruption:
            if found.best is None:
                raise
            message = f"{interruption} The run before it, of lower accuracy, is complete and kept."
            raise Interrupted(message, trajectory=found.best) from None
        else:
            found.tried.append(f"{said}: {len(one.t) - 1} steps")
            found.coarser, found.best = found.best, one
            found.difference = None if found.coarser is None else compared(found.coarser, one)
            ended += 1
            enough = ended >= ASKED or isinstance(rung.control, ErrorControl)
            if found.difference is None:
                continue
            if enough and found.difference.within(accuracy) and not one.verdict.signs:
                found.agreed = True
                break
            before, apart = apart, max(found.difference.position, found.difference.force)
            if hopeful and ended > ASKED and apart * min(apart / before, 1.0) ** (len(ladder) - 1 - level) > accuracy:
                break
        if failures >= FAILURES:
            break
    return found
