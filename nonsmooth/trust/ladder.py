"""A sequence of runs with ever finer steps, until two runs agree. Each refinement level is called a rung."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nonsmooth.exceptions import Interrupted, SimulationFailed, SolverFailed, TimeSpent
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.schemes.gauss.gauss_mpcc import GaussMPCC
from nonsmooth.schemes.gauss.gauss_qp import GaussQP
from nonsmooth.step.control import (
    COARSE,
    QUARTER,
    ROWS,
    SHORTER,
    TENTH,
    ConstantStep,
    ErrorControl,
    Landing,
    StepControl,
)
from nonsmooth.trajectory import Trajectory
from nonsmooth.trust.difference import Difference

__all__ = ["Climb", "Rung", "Run", "climb", "rungs"]

#: tolerance and longest step (share of the run) of the first rung of a method with error control, and the factors of
#: each further rung. The longest step decreases as well: if it alone determined the steps, two runs with the same error
#: would agree
RTOL, LONGEST = COARSE, 1 / ROWS
#: absolute over relative tolerance; time within which impacts are simultaneous, [s] or share of the run
ABSOLUTE, TOGETHER, TOGETHER_SHARE = 1e-2, 1e-6, 1e-5
#: first step of time stepping (share of the run), and the factor of each further rung
FIRST = 1 / 500
#: number of rungs
RUNGS = 6
#: least number of runs of time stepping: two runs with the longest steps may agree by chance
ASKED = 3
#: a run that takes more than this multiple of the least number of steps makes no progress and is abandoned
CRAWLING = 30
#: factor of the time for which a finer run is valid beyond which its error is not that of a sensitive motion
LONGER = 2.0
#: steps that a run with error control may take if it advances as fast as it began: as many as the finest time stepping
AFFORDED = 512_000
#: failures of rungs after which a method is abandoned
FAILURES = 2


@dataclass(frozen=True)
class Rung:
    """A scheme with its steps, and the number of steps at which it is abandoned, unless these advance so fast that it
    needs no more than `afforded`: as with a natural frequency that is high beside the length of the run, where others
    would take as many."""

    stepper: Any
    control: StepControl
    most: int | None = None
    afforded: int = 0


#: runs a rung; raises SimulationFailed
Run = Callable[[Rung], Trajectory]


@dataclass(eq=False)
class Climb:
    """The result of a sequence of rungs.

    Parameters
    ----------
    best, coarser
        The finest run that ended and the one before it, None if none did.
    difference, before
        Of these two, and of the two before them; None if there are not as many.
    failure
        The last run that failed.
    tried
        Settings, steps and outcome of each run, for the manifest.
    """

    ladder: Sequence[Rung] = ()
    best: Trajectory | None = None
    coarser: Trajectory | None = None
    difference: Difference | None = None
    before: Difference | None = None
    failure: SimulationFailed | None = None
    tried: list[str] = field(default_factory=list)
    agreed: bool = False

    def extends(self, start: float) -> bool:
        """Whether the last finer run was valid for a multiple of the time of the one before it, as where errors grow
        with a power of time. Those of sensitive motions grow exponentially: each refinement adds the same time."""
        if self.before is None or self.difference is None:
            return False
        return self.difference.lost - start > LONGER * (self.before.lost - start)

    @property
    def late(self) -> bool:
        """Whether the last run that failed did so since the time of the whole call is spent."""
        return self.failure is not None and isinstance(self.failure.cause, TimeSpent)

    @property
    def settled(self) -> bool:
        """Whether two runs agree, or show from when on the motion cannot be predicted."""
        return self.agreed or (self.difference is not None and self.difference.parted < math.inf)


def rungs(stepper: Any, length: float) -> list[Rung]:
    """The rungs of a stepper for a run of this length [s]."""
    if isinstance(stepper, EventDriven | CompliantDae):
        controls: list[StepControl] = []
        for level in range(RUNGS):
            rtol, longest = RTOL * TENTH**level, length * LONGEST * SHORTER**level
            together = min(TOGETHER, TOGETHER_SHARE * length)
            controls.append(ErrorControl(float(f"{rtol:.1g}"), float(f"{ABSOLUTE * rtol:.1g}"), together, longest))
        return [
            Rung(stepper, one, int(CRAWLING / LONGEST / SHORTER**level), AFFORDED) for level, one in enumerate(controls)
        ]
    found = []
    for level in range(RUNGS):
        dt = length * FIRST * QUARTER**level
        lands = isinstance(stepper, GaussQP | GaussMPCC)
        control = Landing(min(TOGETHER, dt / 100), dt) if lands else ConstantStep(dt)
        found.append(Rung(stepper, control, int(CRAWLING / FIRST / QUARTER**level)))
    return found


def climb(
    run: Run, ladder: Sequence[Rung], compared: Callable[[Trajectory, Trajectory], Difference], accuracy: float
) -> Climb:
    """Refine the steps until two runs agree to `accuracy` and the finer one shows no sign of error.

    Raises
    ------
    Interrupted
        On Ctrl-C, with the last complete run, or with the rows of the first so far.
    """
    found, failures, ended = Climb(ladder), 0, 0
    for rung in ladder:
        said = f"{type(rung.stepper).__name__}, {rung.control}"
        try:
            one = run(rung)
        except SimulationFailed as failure:
            if not isinstance(failure.cause, SolverFailed):  # finer steps are no remedy
                raise
            found.failure, failures = _without_frames(failure), failures + 1
            found.tried.append(f"{said}: failed at t = {failure.trajectory.t[-1]:.6g} s")
        except Interrupted as interruption:
            if found.best is None:
                raise
            message = f"{interruption} The previous run, of lower accuracy, is complete and returned."
            raise Interrupted(message, trajectory=found.best) from None
        else:
            found.tried.append(f"{said}: {len(one.t) - 1} steps")
            found.coarser, found.best = found.best, one
            found.before = found.difference
            found.difference = None if found.coarser is None else compared(found.coarser, one)
            ended += 1
            by_error = isinstance(rung.control, ErrorControl)
            if found.difference is not None:
                if (by_error or ended >= ASKED) and found.difference.within(accuracy) and not one.verdict.signs:
                    found.agreed = True
                    break
        if failures >= FAILURES or found.late:
            break
    return found


def _without_frames(failure: SimulationFailed) -> SimulationFailed:
    """To keep a failure: frames of its tracebacks refer to it, to the mechanism and to the run."""
    error: BaseException | None = failure
    while error is not None:
        error = error.with_traceback(None).__context__
    return failure
