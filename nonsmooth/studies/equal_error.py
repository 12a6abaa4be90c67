"""Cost at equal error: each run is made as coarse as a given own error allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from nonsmooth.exceptions import SimulationFailed
from nonsmooth.step.control import ConstantStep, ErrorControl, Landing, StepControl, step_control
from nonsmooth.studies.trial import RTOL, Accurate, Trial
from nonsmooth.trajectory import Trajectory

#: factors of tolerances and of steps from one refinement to the next
TENTH, HALF = 0.1, 0.5
#: coarsest relative tolerance, shortest step as a share of the run, and how often a setting is changed
COARSEST, SHORTEST, CHANGES = 1e-2, 1e-8, 24
#: time [s] of runs beyond which none is repeated, and of the first beyond which it is not even repeated once
REPEATED, COMPILING = 1.0, 10.0


@dataclass(frozen=True)
class Cost:
    """Cost of a run; `error` [-] is its own error, `wall` [s] the least of its repetitions, `setting` its step control.

    `evaluations` counts those of the equations of motion, and programs solved where the stepper formulates programs.
    """

    setting: str
    error: float
    wall: float
    steps: int
    evaluations: int

    @classmethod
    def none(cls) -> Cost:
        """The cost if a target was not reached."""
        return cls("not reached", math.nan, math.nan, 0, 0)


def refined(dt: StepControl, level: int, length: float) -> StepControl | None:
    """A step control refined by `level`, coarsened if negative; None beyond useful limits.

    Tolerances change by factors of ten, steps by factors of two; ``dt_min`` of `Landing` changes with ``dt_max``, its
    ``error`` with the third power. With coarser tolerances the longest step increases as well.

    >>> refined(ErrorControl(1e-6, 1e-8, 1e-6, 1e-3), 1, 0.02)
    ErrorControl(rtol=1e-07, atol=1e-09, dt_min=1e-06, dt_max=0.001)
    >>> refined(Landing(1e-6, 1e-3, error=0.01), 1, 0.02)
    Landing(dt_min=5e-07, dt_max=0.0005, error=0.00125)
    """
    if isinstance(dt, ErrorControl):
        dt = dt.over(0.0, length)
        rtol = min(_round(dt.rtol * TENTH**level), COARSEST)
        longest = min(_round(dt.dt_max * HALF ** min(level, 0)), max(length / 2, dt.dt_max))
        finer = _round(dt.rtol * TENTH ** (level + 1)) < COARSEST or dt.dt_max * HALF ** (level + 1) < length / 2
        if rtol < RTOL or level < 0 and not finer:
            return None
        return replace(dt, rtol=rtol, atol=_round(dt.atol * rtol / dt.rtol), dt_max=longest)
    factor = HALF**level
    longest = (dt.dt if isinstance(dt, ConstantStep) else dt.dt_max) * factor
    if not SHORTEST * length <= longest <= length / 2:
        return None
    if isinstance(dt, ConstantStep):
        return ConstantStep(longest)
    error = None if dt.error is None else dt.error * factor**3
    return Landing(min(dt.dt_min * factor, longest), longest, error)


def _round(value: float) -> float:
    return float(f"{value:.6g}")


def coarsest(trial: Trial, accurate: Accurate, target: float, patience: float) -> tuple[StepControl, Trajectory] | None:
    """The coarsest setting, on the way from that of the case, whose error meets the target, and its run; None if there
    is none.

    A setting that meets it is made coarser until one does not, or needs more evaluations, as where long steps are
    repeated in parts; one that does not, finer until one does, or until a run takes longer than `patience` [s].
    """
    dt, length = step_control(trial.case.dt), trial.t_end - trial.system.start.t

    def attempt(level: int) -> tuple[StepControl, Trajectory | None] | None:
        setting = refined(dt, level, length)
        if setting is None:
            return None
        try:
            return setting, trial.run(setting)
        except SimulationFailed:
            return setting, None

    def met(tried: tuple[StepControl, Trajectory | None] | None) -> tuple[StepControl, Trajectory] | None:
        if tried is None or tried[1] is None or not accurate.error(tried[1]) <= target:
            return None
        return tried[0], tried[1]

    found = met(attempt(0))
    if found is not None:
        for level in range(1, CHANGES):
            coarser = met(attempt(-level))
            if coarser is None or evaluations(coarser[1]) > evaluations(found[1]):
                return found
            found = coarser
        return found
    for level in range(1, CHANGES):
        tried = attempt(level)
        if tried is None:
            return None
        found = met(tried)
        if found is not None or tried[1] is not None and tried[1].wall_seconds > patience:
            return found
    return None


def cost_of(trial: Trial, setting: StepControl, first: Trajectory, error: float, repeats: int) -> Cost:
    """Cost of a run: the least of some repetitions, the first of which is given."""
    wall = total = first.wall_seconds
    for i in range(1, repeats):
        # the first of all runs compiles; later ones are repeated as long as that is quick
        if total > (COMPILING if i == 1 else REPEATED):
            break
        again = trial.run(setting).wall_seconds
        wall, total = min(wall, again), total + again
    return Cost(repr(setting), error, wall, len(first.t) - 1, evaluations(first))


def evaluations(run: Trajectory) -> int:
    """Evaluations of the equations of motion, and programs solved."""
    return int(run.counts.get("evaluations", 0)) + int(run.counts.get("solves", 0))
