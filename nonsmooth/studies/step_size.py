"""Error, gap violation, energy and cost of steppers over the step size, and their orders of convergence.

With impacts the error of one step size scatters with their position in the grid, so that only the envelope has an
order: the largest error over several jittered step sizes per level. Errors are means over time; the largest error of a
velocity that jumps does not converge at all.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.model.model import Model
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, handing_over, telling, whom
from nonsmooth.settings import is_one, require
from nonsmooth.step.control import ConstantStep, ErrorControl, Landing, StepControl, step_control
from nonsmooth.studies.arguments import built, check_build, check_count, check_processes
from nonsmooth.studies.beyond import horizon_of, remarks_of
from nonsmooth.studies.cases import (
    FINEST,
    RTOL,
    Accurate,
    Case,
    Motion,
    Trial,
    checked_cases,
    cost_of,
    mean_deviation,
    mean_impulse_error,
    motion_times,
    order,
    scales,
    time_mean,
)
from nonsmooth.studies.files import Result, variable
from nonsmooth.studies.workers import outcomes
from nonsmooth.trust.automatic import calls_a_solver

#: measure -> unit and meaning; for each level the largest value of its jittered runs
MEASURES = {
    "error": ("-", "mean error over time of a gap, over the contact's clearance, of the worst contact"),
    "motion_error": ("-", "mean error over time of a coordinate, over its range, of the worst coordinate"),
    "impulse_error": ("N s", "mean error over time of the normal impulse since the start, of the worst contact"),
    "violation": ("m", "worst overlap of a gap"),
    "complementarity": ("-", "worst natural map of gaps and impulses"),
    "energy": ("J", "magnitude of what the balance of energy leaves"),
}
ERRORS = ("error", "motion_error", "impulse_error")  # measures that have an order
#: kinds of verdicts, from the best to the worst
KINDS = ("accurate", "sensitive", "not checked", "methods disagree", "not accurate", "incomplete")
FLOOR = 1e-9  # error below which no order is fitted: round-off, and the error of the reference
REFERENCES = ("best", "exact", "event-driven", "self")
GRID = 1000  # points in time, in addition to the rows, over which errors are averaged
SPREAD = 2.0**0.9  # the longest step of a level over its shortest, less than the factor 2 between levels
JITTER_CALLED = 2  # most runs per level where each step calls a solver
SLOW = 0.1  # time [s] of a run from which it is not repeated for its cost
#: what a `Series` calls a step control, and the field that it keeps of each level
KINDS_OF_STEPS: dict[type, tuple[str, str]] = {
    ConstantStep: ("constant", ""), Landing: ("landing", "dt_min"), ErrorControl: ("tolerance", "rtol"),
}  # fmt: skip
FINER = 16  # refinement of the last level for a reference by the same stepper


@dataclass(frozen=True, eq=False)
class Series:
    """One stepper over its levels.

    Parameters
    ----------
    label : of the case
    kind : "constant", "landing" or "tolerance"
    dt : shortest step of each level [s]: the constant one, ``dt_max`` of `Landing`; of an error control the mean step
    setting : the fixed bound ``dt_min`` [s] of `Landing`, or the relative tolerance of each level; empty otherwise
    measures : each (levels,), see `MEASURES`
    seconds, steps : of the run with the shortest step of each level [s]; for fast runs the least of some repetitions
    failed : number of failed jittered runs per level; they are not included in the measures
    reference : reference of the errors
    verdicts : of each level, that of its worst run: `KINDS`
    """

    label: str
    kind: str
    dt: Array
    setting: Array
    measures: Mapping[str, Array]
    seconds: Array
    steps: Array
    failed: Array
    reference: str
    verdicts: tuple[str, ...]

    @property
    def orders(self) -> dict[str, float]:
        """p of ``error ~ dt^p``, by least squares over the levels; of an error control p of ``error ~ rtol^p``."""
        x = self.setting if self.kind == "tolerance" else self.dt
        return {name: order(x, self.measures[name], least=3, above=FLOOR) for name in ERRORS}

    def plain(self) -> dict[str, Any]:
        """Plain data, as `nonsmooth study step-size --json` prints it."""
        named = {"landing": "dt_min", "tolerance": "rtol"}.get(self.kind)
        facts = {"dt": self.dt} | ({named: self.setting} if named else {}) | dict(self.measures)
        facts |= {"seconds": self.seconds, "steps": self.steps, "failed": self.failed}
        return {name: values.tolist() for name, values in facts.items()} | {
            "order": self.orders["error"], "motion_order": self.orders["motion_error"], "reference": self.reference,
            "verdict": list(self.verdicts),
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Bounds:
    """Landing over both its bounds: ``error``, ``violation``, ``steps``, each (dt_min, dt_max)."""

    label: str
    dt_min: Array
    dt_max: Array
    error: Array
    violation: Array
    steps: Array


@dataclass(frozen=True, eq=False)
class StepSizes(Result):
    """Result of `step_size`: a `Series` per case and, with `Landing`, the `Bounds`."""

    series: tuple[Series, ...]
    bounds: Bounds | None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, label: str) -> Series:
        return next(one for one in self.series if one.label == label)

    def remarks(self) -> list[str]:
        """Remarks below the table: the horizon of a sensitive motion, at which the runs end, if it is known."""
        if self.settings["reference"] == "self":
            return [
                "Whether the motion is sensitive before the end is not known: the reference is of the same stepper."
            ]
        return remarks_of({}, {}, "", self.settings["t_end [s]"]) if "requested t_end [s]" in self.settings else []

    def plain(self) -> dict[str, Any]:
        """``{label: {dt, error, violation, seconds, order, ...}}``; `Landing` over both bounds under its own label."""
        sooner = {"t_end": self.settings["t_end [s]"]} if "requested t_end [s]" in self.settings else {}
        facts = {one.label: one.plain() | sooner for one in self.series}
        if self.bounds is not None:
            tables = {name: table.tolist() for name, table in vars(self.bounds).items() if name != "label"}
            facts.setdefault(self.bounds.label, {})["bounds"] = tables
        return facts

    def _tables(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        level = ("case", "level")
        columns = {
            "dt": ("s", "shortest step of the level, mean step of an error control"),
            "seconds": ("s", "time of the run with this step"), "steps": ("-", "its steps"),
            "failed": ("-", "jittered runs that failed"),
        }  # fmt: skip
        data: dict[str, Any] = {}
        for name, words in (columns | MEASURES).items():
            rows = [one.measures.get(name, getattr(one, name, None)) for one in self.series]
            data[name] = variable(level, np.array(rows, float), *words)
        data["verdict"] = variable(level, [one.verdicts for one in self.series], "-", "of the worst run of the level")
        empty = np.full(len(self.series[0].dt), np.nan)
        for kind, name, unit in (("landing", "dt_min", "s"), ("tolerance", "rtol", "-")):
            data[name] = variable(level, [one.setting if one.kind == kind else empty for one in self.series], unit)
        for name in ERRORS:
            orders = [one.orders[name] for one in self.series]
            data[f"{name}_order"] = variable("case", orders, "-", f"fitted order of {name}")
        if self.bounds is not None:
            b, over = self.bounds, ("bound_dt_min", "bound_dt_max")
            for name in ("error", "violation"):
                data[f"bounds_{name}"] = variable(over, getattr(b, name), *MEASURES[name])
            data["bounds_steps"] = variable(over, b.steps, "-")
            data |= {f"bound_{name}": variable(f"bound_{name}", getattr(b, name), "s") for name in ("dt_min", "dt_max")}
        labels = {"case": "label", "kind": "kind", "reference": "reference"}
        coordinates = {name: variable("case", [getattr(one, of) for one in self.series]) for name, of in labels.items()}
        facts = {name: str(value) for name, value in self.settings.items()}
        return data, coordinates, {"title": "errors and cost over the step size"} | facts


@telling
def step_size(
    build: Callable[[Any], Model | System], cases: Sequence[Case], *, t_end: float, levels: int = 5, jitter: int = 8,
    reference: str = "best", bounds: tuple[Sequence[float], Sequence[float]] | None = None, repeats: int = 3,
    executor: Any = 1, progress: Progress = None,
) -> StepSizes:  # fmt: skip
    """Run steppers with ever shorter steps and measure errors, violations and cost.

    InputError for labels that repeat, numbers out of range, or a reference that a case does not have.

    Parameters
    ----------
    build : a function of the contact law that returns a model or a system, such as ``model.with_contact``
    cases
        The cases, with different labels. The ``dt`` of a case is its coarsest level: a constant step or ``dt_max`` of
        `Landing`, which levels halve, or tolerances of `ErrorControl`, which they divide by ten.
    t_end : [s]
        If the motion of a case is sensitive before, runs end at the earliest horizon: later errors have no order.
    levels
        Number of levels; 5 are four halvings.
    jitter
        Runs per level of a constant step, with steps between one and nearly two times the shortest; the largest measure
        is taken; two where each step calls a solver. Steps that locate the impacts are not jittered.
    reference
        Reference of errors: "exact" for the exact solution of a case; "event-driven" for its contact law with
        tolerances near round-off; "self" for the same stepper, 16 times finer than its last level, which shows the
        order but not the true error; "best" for the exact solution if there is one, else event-driven.
    bounds
        Values of ``dt_min`` and of ``dt_max`` [s], each rising, all combinations of which are run for the first case
        with `Landing`.
    repeats
        Runs of which the quickest is the cost, as long as they are quick.
    executor : as for `sweep`; fast runs are timed afterwards, one by one
    progress : callable (what, share), or True for words on one line, optional

    Examples
    --------
    >>> from nonsmooth import GaussQP, Landing, Rigid
    >>> from nonsmooth_problems import slider_rod
    >>> plastic = Rigid(restitution=0.0, friction=0.0)
    >>> exact = slider_rod.exact(case=2)
    >>> cases = [Case("implicit Euler", plastic, GaussQP(), 1e-4, exact=exact)]
    >>> cases.append(Case("landing", plastic, GaussQP(), Landing(1e-6, 1e-3), exact=exact))
    >>> found = step_size(lambda contact: slider_rod(case=2, contact=contact), cases, t_end=4e-3)
    >>> print(f"order {found['implicit Euler'].orders['error']:.2f}")
    order 0.95
    >>> bool(found["landing"].measures["error"].max() < 1e-8)  # in clearances
    True
    """
    check_build(build)
    cases = checked_cases(cases, "step_size")
    for name, value, least in (("levels", levels, 2), ("jitter", jitter, 1), ("repeats", repeats, 1)):
        check_count(name, value, least)
    check_processes(executor)
    require(is_one(reference, REFERENCES), f"reference must be one of {', '.join(REFERENCES)}", reference)
    without = next((case.label for case in cases if case.exact is None), None)
    if reference == "exact" and without is not None:
        raise InputError(f'Case "{without}" has no exact solution; give it one, or another reference.')
    study = _Study(build, cases, float(t_end), levels, reference)
    tell = whom(progress)
    tell("horizon", 0.0)
    horizon = min(horizon_of(study.prepared(i)[1]) for i in range(len(cases)))
    study = replace(study, t_end=horizon, made={}) if horizon < t_end else study
    tasks: list[tuple[int, StepControl]] = []
    parts: list[range] = []  # tasks of each level of each case
    for i, case in enumerate(study.cases):
        dt = step_control(case.dt)
        few = min(jitter, JITTER_CALLED) if calls_a_solver(case.stepper) else jitter
        count = few if isinstance(dt, ConstantStep) else 1
        for level in range(levels):
            parts.append(range(len(tasks), len(tasks) + count))
            tasks += [(i, _setting(dt, level, SPREAD ** (j / max(count - 1, 1)))) for j in range(count)]
    landed = next((i for i, case in enumerate(study.cases) if isinstance(case.dt, Landing)), -1)
    pairs = [] if bounds is None else [(low, high) for low in bounds[0] for high in bounds[1]]
    if pairs and landed < 0:
        raise InputError("bounds need a case with Landing.")
    tasks += [(landed, Landing(min(low, high), high)) for low, high in pairs]
    rows: dict[int, dict[str, Any]] = {}
    # the longest first, so that processes finish together
    turns = sorted(range(len(tasks)), key=lambda k: _finest(tasks[k][1]))

    def finished() -> dict[tuple[str, str], dict[str, Any]]:
        return {(cases[tasks[k][0]].label, str(tasks[k][1])): row for k, row in rows.items()}

    remedy = "`result` of this error has their numbers by case and step; take fewer cases or levels"
    with handing_over(rows, len(tasks), "runs", finished, remedy):
        for count, (n, row) in enumerate(outcomes(study.measured, [tasks[k] for k in turns], executor=executor)):
            rows[turns[n]] = row
            tell(cases[tasks[turns[n]][0]].label, 0.85 * (count + 1) / len(tasks))
    series = []
    for i, case in enumerate(cases):
        tell(f"{case.label}: cost", 0.85 + 0.15 * i / len(cases))
        own = parts[i * levels : (i + 1) * levels]
        series.append(_series(study, i, [[rows[k] for k in level] for level in own], repeats))
    tell("done", 1.0)
    over = None
    if bounds is not None:
        low, high = (np.array(column, float) for column in bounds)
        last = [rows[k] for k in range(len(tasks) - len(pairs), len(tasks))]
        tables = (np.array([row[k] for row in last]).reshape(len(low), -1) for k in ("error", "violation", "steps"))
        over = Bounds(cases[landed].label, low, high, *tables)
    settings = {"t_end [s]": study.t_end, "levels": levels, "jittered runs per level": jitter, "reference": reference}
    settings |= {"requested t_end [s]": float(t_end)} if study.t_end < t_end else {}
    return StepSizes(tuple(series), over, settings)


@dataclass(frozen=True, eq=False)
class _Study:
    """The cases with their systems and references, which each process creates."""

    build: Callable[[Any], Model | System]
    cases: tuple[Case, ...]
    t_end: float
    levels: int
    reference: str
    made: dict[int, tuple[Trial, Accurate, Array, str]] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"made": {}}

    def prepared(self, i: int) -> tuple[Trial, Accurate, Array, str]:
        """A case on its mechanism, its accurate solution, scales of coordinates, and the origin of the reference."""
        case, kind = self.cases[i], self.reference
        for known in self.made.values() if i not in self.made and kind != "self" else ():
            if known[0].alike(case):
                self.made[i] = (replace(known[0], case=case), *known[1:])
                break
        if i in self.made:
            return self.made[i]
        trial = Trial(case, built(self.build, case.contact), self.t_end)
        with contextlib.suppress(SimulationFailed):  # compiles what the measured runs need
            trial.run()
        if kind == "self":
            fine = _setting(step_control(case.dt), self.levels - 1, 1.0 / FINER)
            run = trial.run(fine)
            accurate, origin = Accurate(trial, Motion.of_run(run), run), f"the same stepper, {fine}"
        elif kind == "exact" or kind == "best" and case.exact is not None:
            accurate, origin = trial.accurate(), "exact"
        else:
            accurate = replace(trial, case=replace(case, exact=None)).accurate()
            origin = f"event-driven, rtol {RTOL:g}"
            if case.by_landing:
                origin = f"gauss-qp, landing, {FINEST} steps"
        self.made[i] = trial, accurate, scales(accurate.motion, trial.grid(GRID)), origin
        return self.made[i]

    def measured(self, i: int, setting: StepControl) -> dict[str, Any]:
        """All measures of one run; not numbers where it fails."""
        trial, accurate, scale, _ = self.prepared(i)
        truth = accurate.motion
        try:
            run = trial.run(setting)
        except SimulationFailed:
            return dict.fromkeys((*MEASURES, "steps", "seconds"), math.nan) | {"verdict": "incomplete"}
        motion = Motion.of_run(run)
        t = motion_times(trial.grid(GRID), motion, truth)
        moved = float(np.max(mean_deviation(motion, truth, t) / scale, initial=0.0))
        c, error = run.certificate, moved
        if trial.system.nc:
            values = trial.system.parameter_vector(trial.case.parameters)
            gaps = [trial.system.true_gaps(one.positions(t), values) for one in (motion, truth)]
            clearance = trial.system.numeric.contact_law(values)[3]
            error = float(np.max(time_mean(np.abs(gaps[0] - gaps[1]), t) / clearance))
        return {
            "error": error, "motion_error": moved,
            "impulse_error": float(np.max(mean_impulse_error(motion, truth, t), initial=0.0)),
            "violation": c.gap_violation, "complementarity": c.complementarity, "energy": abs(c.energy.remainder),
            "steps": float(len(run.t) - 1), "seconds": run.wall_seconds, "verdict": accurate.verdict(run).kind,
        }  # fmt: skip


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
    """Key that sorts runs by their cost, the costly ones first."""
    return dt.dt if isinstance(dt, ConstantStep) else dt.dt_max if isinstance(dt, Landing) else math.sqrt(dt.rtol)


def _series(study: _Study, i: int, rows: Sequence[Sequence[Mapping[str, Any]]], repeats: int) -> Series:
    """One case: envelopes of its levels, and the cost of the shortest step of each."""
    trial, _, _, origin = study.prepared(i)
    dt = step_control(trial.case.dt)
    settings = [_setting(dt, level, 1.0) for level in range(len(rows))]
    seconds, steps = [], []
    for setting, level in zip(settings, rows, strict=True):
        steps.append(level[0]["steps"])
        seconds.append(min(row["seconds"] for row in level))  # the first of all runs compiles
        if seconds[-1] < SLOW:
            seconds[-1] = cost_of(trial, setting, trial.run(setting), 0.0, repeats).wall
    measures = {}
    for name in MEASURES:
        known = ((row[name] for row in each if not math.isnan(row[name])) for each in rows)
        measures[name] = np.array([max(values, default=math.nan) for values in known])
    failed = np.array([sum(math.isnan(row["steps"]) for row in each) for each in rows])
    kind, own = KINDS_OF_STEPS[type(dt)]
    fixed = [getattr(one, own) for one in settings] if own else []
    length = trial.t_end - trial.system.start.t
    lengths = [length / n if isinstance(dt, ErrorControl) else _finest(s) for n, s in zip(steps, settings, strict=True)]
    return Series(
        trial.case.label, kind, np.array(lengths), np.array(fixed), measures, np.array(seconds), np.array(steps),
        failed, origin, tuple(max((row["verdict"] for row in each), key=KINDS.index) for each in rows),
    )  # fmt: skip
