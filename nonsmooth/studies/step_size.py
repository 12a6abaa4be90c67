"""Error, gap violation, energy and cost of steppers over the step size, and their orders of convergence.

With impacts the error of one step size scatters, as it depends on the position of impacts in the grid. Only the
envelope has an order: the largest error over several jittered step sizes per level. Errors are means over time; the
largest error of a velocity that jumps does not converge at all.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, telling, whom
from nonsmooth.run.simulate import simulate
from nonsmooth.step_control import ConstantStep, ErrorControl, Landing, StepControl, step_control
from nonsmooth.studies.accurate import Accurate, accurate_of
from nonsmooth.studies.arguments import built, check_build
from nonsmooth.studies.compare import motion_times
from nonsmooth.studies.comparison import Case, checked_cases
from nonsmooth.studies.equal_error import RTOL, cost_of
from nonsmooth.studies.motions import Motion, mean_deviation, scales
from nonsmooth.studies.orders import KINDS, MEASURES, Bounds, Series, StepSizes
from nonsmooth.studies.workers import outcomes, packed, unpacked
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from nonsmooth.model.model import Model

__all__ = ["REFERENCES", "step_size"]

REFERENCES = ("best", "exact", "event-driven", "self")
#: points in time, in addition to the rows, over which errors are averaged
GRID = 1000
#: the longest step of a level over its shortest, less than the factor 2 between levels
SPREAD = 2.0**0.9
#: time [s] of a run from which it is not repeated for its cost
SLOW = 0.1
#: refinement of the last level for a reference by the same stepper
FINER = 16


@telling
def step_size(
    build: Callable[[Any], Model | System],
    cases: Sequence[Case],
    *,
    t_end: float,
    levels: int = 5,
    jitter: int = 8,
    reference: str = "best",
    bounds: tuple[Sequence[float], Sequence[float]] | None = None,
    repeats: int = 3,
    workers: int | None = 1,
    progress: Progress = None,
) -> StepSizes:
    """Run steppers with ever shorter steps and measure errors, violations and cost.

    Parameters
    ----------
    build
        A function of the contact law that returns a model or a system: ``model.with_contact``, or
        ``lambda contact: slider_rod(case=2, contact=contact)``.
    cases
        The cases, with different labels. The ``dt`` of a case is its coarsest level: a constant step or ``dt_max`` of
        `Landing`, which levels halve, or tolerances of `ErrorControl`, which they divide by ten.
    t_end : [s]
    levels
        Number of levels; 5 are four halvings.
    jitter
        Runs per level of a constant step, with steps between one and nearly two times the shortest; the largest measure
        is taken. Steps that locate the impacts are not jittered.
    reference
        Reference of errors: "exact" for the exact solution of a case; "event-driven" for its contact law with
        tolerances near round-off; "self" for the same stepper, 16 times finer than its last level, which shows the
        order but not the true error; "best" for the exact solution if there is one, else event-driven.
    bounds
        Values of ``dt_min`` and of ``dt_max`` [s], each rising, all combinations of which are run for the first case
        with `Landing`.
    repeats
        Runs of which the quickest is the cost, as long as they are quick.
    workers
        Number of processes, None for one per core. Fast runs are timed afterwards, one by one.
    progress : callable (what, share), or True for words on one line, optional

    Raises
    ------
    InputError
        For labels that repeat, numbers out of range, or a reference that a case does not have.

    Examples
    --------
    >>> from nonsmooth import GaussQP, Landing, Rigid
    >>> from nonsmooth_problems import slider_rod
    >>> plastic = Rigid(restitution=0.0, friction=0.0)
    >>> exact = slider_rod.exact(case=2)
    >>> found = step_size(
    ...     lambda contact: slider_rod(case=2, contact=contact),
    ...     [
    ...         Case("implicit Euler", plastic, GaussQP(), 1e-4, exact=exact),
    ...         Case("landing", plastic, GaussQP(), Landing(1e-6, 1e-3), exact=exact),
    ...     ],
    ...     t_end=4e-3,
    ... )
    >>> print(f"order {found['implicit Euler'].orders['error']:.2f}")
    order 0.95
    >>> bool(found["landing"].measures["error"].max() < 1e-8)  # in clearances
    True
    """
    check_build(build)
    study = _Study(build, _checked(cases, levels, jitter, reference, repeats, t_end), float(t_end), levels, reference)
    tell = whom(progress)
    tasks: list[tuple[int, StepControl]] = []
    parts: list[list[list[int]]] = []  # tasks of each level of each case
    for i, case in enumerate(study.cases):
        dt = step_control(case.dt)
        count = jitter if isinstance(dt, ConstantStep) else 1
        parts.append([])
        for level in range(levels):
            parts[i].append(list(range(len(tasks), len(tasks) + count)))
            tasks += [(i, _setting(dt, level, SPREAD ** (j / max(count - 1, 1)))) for j in range(count)]
    landed = next((i for i, case in enumerate(study.cases) if isinstance(case.dt, Landing)), None)
    pairs = [] if bounds is None else [(low, high) for low in bounds[0] for high in bounds[1]]
    if pairs and landed is None:
        raise InputError("bounds need a case with Landing.")
    tasks += [(cast(int, landed), Landing(min(low, high), high)) for low, high in pairs]
    rows: dict[int, dict[str, Any]] = {}
    # the longest first, so that processes finish together
    turns = sorted(range(len(tasks)), key=lambda k: _finest(tasks[k][1]))
    parcel = packed(study) if workers != 1 else b""
    jobs = [(parcel, *tasks[k]) for k in turns]
    found = (
        ((n, study.measured(*tasks[k])) for n, k in enumerate(turns))
        if workers == 1
        else outcomes(_measured, jobs, workers=workers, scheduler=None)
    )
    for count, (n, row) in enumerate(found):
        rows[turns[n]] = row
        tell(cases[tasks[turns[n]][0]].label, 0.85 * (count + 1) / len(tasks))
    series = []
    for i, case in enumerate(cases):
        tell(f"{case.label}: cost", 0.85 + 0.15 * i / len(cases))
        series.append(_series(study, i, [[rows[k] for k in level] for level in parts[i]], repeats))
    tell("done", 1.0)
    return StepSizes(
        tuple(series),
        _bounds(cases[cast(int, landed)].label, bounds, [rows[k] for k in range(len(tasks) - len(pairs), len(tasks))])
        if bounds is not None
        else None,
        {"t_end [s]": float(t_end), "levels": levels, "jittered runs per level": jitter, "reference": reference},
    )


@dataclass(frozen=True, eq=False)
class _Study:
    """The cases with their systems and references, which each process creates."""

    build: Callable[[Any], Model | System]
    cases: tuple[Case, ...]
    t_end: float
    levels: int
    reference: str
    made: dict[int, tuple[System, Accurate, Array, str]] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"made": {}}

    def prepared(self, i: int) -> tuple[System, Accurate, Array, str]:
        """System, accurate solution, scales of coordinates, and the origin of the reference."""
        if i not in self.made:
            case = self.cases[i]
            twin = next((k for k in self.made if self._alike(self.cases[k], case)), None)
            if twin is not None:
                self.made[i] = self.made[twin]
                return self.made[i]
            system = built(self.build, case.contact)
            kind = self.reference
            if kind == "best":
                kind = "event-driven" if case.exact is None else "exact"
            coarse = self.run(i, step_control(case.dt), system)
            if kind == "self":
                fine = _setting(step_control(case.dt), self.levels - 1, 1.0 / FINER)
                run = self.run(i, fine, system)
                truth, said = Accurate(Motion.of_run(run), run), f"the same stepper, {fine}"
            else:
                truth = accurate_of(case if kind == "exact" else replace(case, exact=None), system, coarse, self.t_end)
                said = "exact" if kind == "exact" else f"event-driven, rtol {RTOL:g}"
            scale = scales(truth.motion, np.linspace(system.start.t, self.t_end, GRID + 1))
            self.made[i] = (system, truth, scale, said)
        return self.made[i]

    def _alike(self, a: Case, b: Case) -> bool:
        return self.reference != "self" and (a.contact, a.parameters, a.exact) == (b.contact, b.parameters, b.exact)

    def run(self, i: int, setting: StepControl, system: System | None = None) -> Trajectory:
        """A case with other steps."""
        case = self.cases[i]
        system = self.prepared(i)[0] if system is None else system
        return simulate(system, case.stepper, t_end=self.t_end, dt=setting, parameters=case.parameters)

    def measured(self, i: int, setting: StepControl) -> dict[str, Any]:
        """All measures of one run; not numbers where it fails."""
        system, accurate, scale, _ = self.prepared(i)
        truth = accurate.motion
        try:
            run = self.run(i, setting)
        except SimulationFailed:
            lost: dict[str, Any] = dict.fromkeys((*MEASURES, "steps", "seconds"), math.nan)
            return lost | {"verdict": "incomplete"}
        motion = Motion.of_run(run)
        t = motion_times(np.linspace(run.t[0], self.t_end, GRID + 1), motion, truth)
        deviation = mean_deviation(motion, truth, t)
        moved = float(np.max(deviation / scale, initial=0.0))
        apart = np.abs(motion.impulses(t) - truth.impulses(t))
        c = run.certificate
        return {
            "error": self._gap_error(system, i, motion, truth, t) if system.nc else moved,
            "motion_error": moved,
            "impulse_error": float(np.max(_mean(apart, t), initial=0.0)),
            "violation": c.gap_violation,
            "complementarity": c.complementarity,
            "energy": abs(c.energy.remainder),
            "steps": float(len(run.t) - 1),
            "seconds": run.wall_seconds,
            "verdict": accurate.verdict(self.cases[i], system, run).kind,
        }

    def _gap_error(self, system: System, i: int, motion: Motion, truth: Motion, t: Array) -> float:
        values = system.parameter_vector(self.cases[i].parameters)
        gaps = [system.true_gaps(one.positions(t), values) for one in (motion, truth)]
        clearance = system.numeric.contact_law(values)[3]
        return float(np.max(_mean(np.abs(gaps[0] - gaps[1]), t) / clearance))


def _mean(values: Array, t: Array) -> Array:
    """Over time, of each column."""
    return np.asarray(np.diff(t) @ (values[1:] + values[:-1]) / 2 / (t[-1] - t[0]))


def _measured(parcel: bytes, i: int, setting: StepControl) -> dict[str, Any]:
    """Task of a worker."""
    return _unpacked(parcel).measured(i, setting)


@functools.lru_cache(maxsize=1)
def _unpacked(parcel: bytes) -> _Study:
    return cast(_Study, unpacked(parcel))


def _setting(dt: StepControl, level: int, factor: float) -> StepControl:
    """Step control of a level, its steps longer by a factor."""
    longer = factor * 0.5**level
    if isinstance(dt, ConstantStep):
        return ConstantStep(dt.dt * longer)
    if isinstance(dt, Landing):
        return Landing(min(dt.dt_min, dt.dt_max * longer), dt.dt_max * longer)
    looser = float(f"{factor * 0.1**level:.6g}")
    return replace(dt, rtol=float(f"{dt.rtol * looser:.6g}"), atol=float(f"{dt.atol * looser:.6g}"))


def _finest(dt: StepControl) -> float:
    """What runs are put in order by, the costly ones first."""
    return dt.dt if isinstance(dt, ConstantStep) else dt.dt_max if isinstance(dt, Landing) else math.sqrt(dt.rtol)


def _series(study: _Study, i: int, rows: Sequence[Sequence[Mapping[str, Any]]], repeats: int) -> Series:
    """One case: envelopes of its levels, and the cost of the shortest step of each."""
    case = study.cases[i]
    dt = step_control(case.dt)
    settings = [_setting(dt, level, 1.0) for level in range(len(rows))]
    seconds, steps = [], []
    for setting, level in zip(settings, rows, strict=True):
        steps.append(level[0]["steps"])
        seconds.append(min(row["seconds"] for row in level))  # the first of all runs compiles
        if seconds[-1] < SLOW:
            run = study.run(i, setting)
            seconds[-1] = cost_of(functools.partial(study.run, i), setting, run, 0.0, repeats).wall
    measures = {name: np.array([_largest([row[name] for row in each]) for each in rows]) for name in MEASURES}
    failed = np.array([sum(math.isnan(row["steps"]) for row in each) for each in rows])
    kind = {ConstantStep: "constant", Landing: "landing", ErrorControl: "tolerance"}[type(dt)]
    fixed: list[float] = []
    if isinstance(dt, Landing):
        fixed = [one.dt_min for one in settings if isinstance(one, Landing)]
    elif isinstance(dt, ErrorControl):
        fixed = [one.rtol for one in settings if isinstance(one, ErrorControl)]
    length = study.t_end - study.prepared(i)[0].start.t
    lengths = [length / n if isinstance(dt, ErrorControl) else _finest(s) for n, s in zip(steps, settings, strict=True)]
    return Series(
        case.label, kind, np.array(lengths), np.array(fixed), measures, np.array(seconds), np.array(steps), failed,
        study.prepared(i)[3], tuple(max((row["verdict"] for row in each), key=KINDS.index) for each in rows),
    )  # fmt: skip


def _largest(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return max(known, default=math.nan)


def _bounds(
    label: str, bounds: tuple[Sequence[float], Sequence[float]], rows: Sequence[Mapping[str, Any]]
) -> Bounds:  # fmt: skip
    shape = len(bounds[0]), len(bounds[1])
    tables = [np.array([row[name] for row in rows]).reshape(shape) for name in ("error", "violation", "steps")]
    return Bounds(label, np.array(bounds[0], float), np.array(bounds[1], float), *tables)


def _checked(
    cases: Sequence[Case], levels: int, jitter: int, reference: str, repeats: int, t_end: float
) -> tuple[Case, ...]:
    cases = checked_cases(cases)
    labels = [case.label for case in cases]
    if not cases:
        raise InputError("step_size needs at least one Case.")
    if len(set(labels)) < len(labels):
        raise InputError(f"Two cases have one label: {', '.join(labels)}; give each its own.")
    for name, value, low in (("levels", levels, 2), ("jitter", jitter, 1), ("repeats", repeats, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise InputError(f"{name} must be a whole number, at least {low}, got {value!r}.")
    if reference not in REFERENCES:
        raise InputError(f"reference must be one of {', '.join(REFERENCES)}, got {reference!r}.")
    if reference == "exact":
        for case in cases:
            if case.exact is None:
                raise InputError(f'Case "{case.label}" has no exact solution; give it one, or another reference.')
    return cases
