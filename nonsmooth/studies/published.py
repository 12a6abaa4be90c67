"""Comparison of a problem with its source: known facts, and published cases with rigid and compliant contact."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import contact_intervals, contact_share, impact_impulse, mean_forces, pieces
from nonsmooth.diagnostics.contacts import first_impulse
from nonsmooth.exceptions import InputError
from nonsmooth.model.registry import Problem, Published
from nonsmooth.progress import Progress, telling, whom
from nonsmooth.run.simulate import simulate
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.settings import is_one, require, shown
from nonsmooth.step.control import ErrorControl, StepControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.cases import ACCURACY, COMPILING, evaluations
from nonsmooth.studies.files import Result, doubts, variable
from nonsmooth.trajectory import Trajectory, Verdict
from nonsmooth.trajectory.dataset import texts
from nonsmooth.trust import verdict_against

Setting = tuple[Stepper, float | StepControl]

#: stepper and step for rigid and for compliant contact
KINDS: dict[str, Setting] = {
    "rigid": (EventDriven(), ErrorControl(rtol=1e-9, atol=1e-11, dt_min=1e-6, dt_max=1e-2)),
    "compliant": (CompliantDae(), ErrorControl(rtol=1e-8, atol=1e-10, dt_min=1e-6, dt_max=1e-2)),
}
POINTS = 600  # points of the ideal twin over the run
FINE = 20000  # points at which the largest magnitude of the ideal twin is sought
#: additional numbers of each run, with units; its errors are those of its verdict, from a run with finer steps
FACTS = {
    "first contact": "s", "first impulse": "mN s", "largest impulse": "mN s", "contact share": "%",
    "own error of positions, of c": "%", "own error of peak forces": "%", "motion residual": "-", "longest step": "s",
}  # fmt: skip
COSTS = {"steps": "-", "programs and evaluations": "-", "time": "s"}  # of each run, with units
#: facts of a sensitive run until its horizon; the mark of its other numbers, and its meaning
BEFORE = {*FACTS, *COSTS} - {"largest impulse", "contact share"}
MARK = " *"
SAMPLE = (
    "* of motion beyond the horizon as well, which depends on round-off: one sample of many, no result to compare; for "
    "means with intervals use nonsmooth study statistics."
)
#: units of the sources in SI units
SIZES = dict.fromkeys(("deg", "deg/s", "deg/s^2"), np.pi / 180) | {"mN s": 1e-3, "%": 0.01, "mm": 1e-3, "um": 1e-6}


@dataclass(frozen=True, eq=False)
class View:
    """Series over time by name, at both ends of each step; the argument of the function of a `Measure`.

    Of coordinates `q`, velocities `v`, and accelerations `a` without impacts, which are computed on first use.
    """

    t: Array  # (n,) [s]
    q: Mapping[str, Array]
    v: Mapping[str, Array]
    accelerations: Callable[[], Mapping[str, Array]]
    parameters: Mapping[str, float]
    contacts: tuple[str, ...]
    F: Mapping[str, Array] = field(default_factory=dict)  #: normal forces without impacts

    @cached_property
    def a(self) -> Mapping[str, Array]:
        return self.accelerations()

    def series(self, entry: Any) -> Array:
        """The series of ``(kind, name)`` or of a function, in SI units."""
        if callable(entry):
            return np.asarray(entry(self), float)
        kind, name = entry
        return np.asarray(getattr(self, kind)[name], float)

    def less(self, other: View) -> View:
        """The difference to another view at the same times, of columns of both: a part may have clearance in one."""
        q = {name: values - other.q[name] for name, values in self.q.items() if name in other.q}
        v = {name: values - other.v[name] for name, values in self.v.items() if name in other.v}
        return replace(self, q=q, v=v, accelerations=lambda: {name: self.a[name] - other.a[name] for name in v})


class Twin:
    """The motion without clearance, which is smooth, as a view at any times."""

    def __init__(self, run: Trajectory, parameters: Mapping[str, float]) -> None:
        self.run, self.parameters = run, parameters
        self._splines: dict[str, Callable[[Array], Array]] = {}

    def values(self, kind: str, t: Array) -> Array:
        """Columns of a kind, "q", "v" or "acceleration", by cubic splines through the rows."""
        from scipy.interpolate import CubicSpline

        if kind not in self._splines:
            self._splines[kind] = CubicSpline(self.run.t, getattr(self.run, kind).array)
        return self._splines[kind](t)

    def at(self, t: Array) -> View:
        def named(kind: str) -> dict[str, Array]:
            return dict(zip(getattr(self.run, kind).names, self.values(kind, t).T, strict=True))

        return View(t, named("q"), named("v"), lambda: named("acceleration"), self.parameters, ())


def view_of(run: Trajectory, longest: float = np.inf) -> View:
    """A run at both ends of each step: right limits at its start, left limits at its end; steps beyond a length [s] at
    further times, at which coordinates and velocities are interpolated as by `pieces`, accelerations linearly."""
    dt = np.diff(run.t)
    count = np.maximum(np.ceil(dt / longest), 1.0).astype(int) + 1
    step = np.repeat(np.arange(len(dt)), count)
    share = (np.arange(len(step)) - np.repeat(np.cumsum(count) - count, count)) / np.repeat(count - 1, count)
    inside = (share > 0.0) & (share < 1.0)

    def filled(kind: Any, first: Array, last: Array, name: str) -> Array:
        values = np.where(share == 1.0, last[step], first[step])
        if inside.any():
            values[inside] = pieces(run, kind, name).at(step[inside], share[inside])
        return values

    q = {name: filled("q", values[:-1], values[1:], name) for name, values in run.q.items()}
    v = {name: filled("v", values[:-1], run.left.v[name][1:], name) for name, values in run.v.items()}

    def accelerations() -> dict[str, Array]:
        left = run.instant(run.t[1:], side="left").a
        rows = {name: (values[:-1][step], left[name][step]) for name, values in run.acceleration.items()}
        return {name: first + share * (last - first) for name, (first, last) in rows.items()}

    parameters = {name: entry["value"] for name, entry in run.manifest["parameters"].items()}
    t = np.where(share == 1.0, run.t[1:][step], run.t[:-1][step] + share * dt[step])
    F = {name: values[1:][step] for name, values in run.lam_N.items()}
    return View(t, q, v, accelerations, parameters, run.gap.names, F)


def window_means(
    run: Trajectory, twin: Twin, series: Any, of: Literal["run", "ideal", "error"], window: float
) -> Array:
    """Mean of a series in each whole window [s] of a run: finite numbers, whether contact is rigid or compliant.

    ``("a", velocity)`` are changes of the velocity, ``("F", name)`` of the run impulses of a contact or clearance, NaN
    where there is none, over the window; an impact at the edge of two windows belongs to the first one.
    """
    kind, name = series if not callable(series) else ("", "")
    if kind not in ("a", "F") or (kind == "F" and of != "run"):
        raise InputError(f'A window takes ("a", velocity) or, of the run, ("F", contact), got {shown((series, of))}.')
    edges = run.t[0] + window * np.arange(np.floor((run.t[-1] - run.t[0]) / window * (1 + 1e-12)) + 1)
    if len(edges) < 2:
        raise InputError(f"The window, {window:g} s, is longer than the run, {run.t[-1] - run.t[0]:g} s.")
    if kind == "F":
        chosen = [contact.split(".")[0] == name for contact in run.gap.names]
        return mean_forces(run, edges)[:, chosen].sum(axis=1) if any(chosen) else np.full(len(edges) - 1, np.nan)
    ours = np.zeros(len(edges) - 1)
    if of != "ideal":
        k = np.clip(np.searchsorted(run.t, edges * (1 + 1e-12), side="right") - 1, 0, len(run.t) - 2)
        right, left = run.v[name][k], run.left.v[name][k + 1]
        ours = np.diff(right + (left - right) * (edges - run.t[k]) / (run.t[k + 1] - run.t[k])) / window
    if of == "run":
        return ours
    v = twin.values("v", edges)[:, twin.run.v.names.index(name)]
    return np.asarray(np.diff(v) / np.diff(edges)) * (-1.0 if of == "error" else 1.0) + ours


@dataclass(frozen=True, eq=False)
class PublishedRuns(Result):
    """Result of `published`.

    Parameters
    ----------
    problem : name, with the arguments common to all cases
    table
        Measured numbers ``table[case][contact][measure]`` in the units of `units`; in addition to those of the source,
        `FACTS`.
    printed : the source's numbers ``printed[case][measure]``
    units : unit of each measure
    runs, twins
        Trajectories by (case, kind of contact), each with its verdict; ideal twins by case.
    panels : panels, as in `nonsmooth.model.registry.Published`
    settings : steppers, steps, and sampling rates of the measures
    facts
        For each known number ``measured``, ``expected``, ``tolerance``, ``unit``, ``note`` and whether it ``agrees``,
        by its name.
    stated : the published data
    """

    problem: str
    table: Mapping[str, Mapping[str, Mapping[str, float]]]
    printed: Mapping[str, Mapping[str, float]]
    units: Mapping[str, str]
    runs: Mapping[tuple[str, str], Trajectory]
    twins: Mapping[str, Twin]
    panels: tuple[Any, ...]
    settings: Mapping[str, Any]
    stated: Published
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(kind for _, kind in self.runs))

    def printed_of(self, case: str, series: Any, of: str) -> float | None:
        """The printed number of a series that a panel draws."""
        names = [one.name for one in self.stated.measures if (one.series, one.of, one.window) == (series, of, None)]
        return next((self.printed[case][name] for name in names if name in self.printed[case]), None)

    def verdict(self, case: str, kind: str) -> Verdict:
        """Whether a run can be trusted, by a run with finer steps or an accurate one of another kind."""
        return self.runs[case, kind].verdict

    def remarks(self) -> list[str]:
        """Remarks below the table: runs that are not accurate, and what the mark of sensitive ones means."""
        found = doubts({f"{case}, {kind}": run.verdict for (case, kind), run in self.runs.items()})
        return found + ([SAMPLE] if any(run.verdict.kind == "sensitive" for run in self.runs.values()) else [])

    def view(self, case: str, kind: str, of: str = "run", points: float = 0.0) -> View:
        """Series of a run, of its ``"ideal"`` twin at the same times, or the ``"error"``; also between the rows, at so
        many points at least."""
        run, twin = self.runs[case, kind], self.twins[case]
        own = view_of(run, (run.t[-1] - run.t[0]) / points if points else np.inf)
        return own if of == "run" else twin.at(own.t) if of == "ideal" else own.less(twin.at(own.t))

    def rows(self) -> Iterator[dict[str, Any]]:
        """One mapping per case and measure: ``case``, ``measure``, ``unit``, ``published``, each kind of contact."""
        for case, kinds in self.table.items():
            for measure in next(iter(kinds.values())):
                found = {kind: numbers[measure] for kind, numbers in kinds.items()}
                yield {"case": case, "measure": measure, "unit": self.units[measure],
                       "published": self.printed[case].get(measure), **found}  # fmt: skip

    def sentences(self) -> list[str]:
        """A sentence for each printed number, with ours and their ratios, and one for the cost of each case."""
        found = []
        for row in self.rows():
            printed, ours = row["published"], {kind: row[kind] for kind in self.kinds if np.isfinite(row[kind])}
            if printed is not None and ours:
                numbers = ", ".join(f"{value:.4g} {kind} (x {value / printed:.3g})" for kind, value in ours.items())
                number = f"{printed:g} {row['unit']}".removesuffix(" -")
                found.append(f"Case {row['case']}, {row['measure']}: the source has {number}, we have {numbers}.")
        found += [f"{measure}: {note}" for measure, note in self.stated.notes.items() if measure in self.units]
        for case, kinds in self.table.items():
            first, said = kinds[self.kinds[0]]["time"], []
            for kind in self.kinds:
                steps, calls, seconds = (kinds[kind][name] for name in COSTS)
                share = "" if kind == self.kinds[0] else f", x {seconds / first:.2g} the time"
                said.append(f"{steps:g} steps, {calls:g} programs and evaluations, {seconds:.2g} s ({kind}{share})")
            found.append(f"Case {case}, cost: {'; '.join(said)}.")
        return found + ([f"The source on its cost: {self.stated.claim}"] if self.stated.claim else [])

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Rows of the printed table as texts, of each case its verdicts first, and the horizons of sensitive motions;
        their numbers have a mark where these are of later motion as well."""
        for case, rows in itertools.groupby(self.rows(), lambda row: str(row["case"])):
            verdicts = {kind: self.verdict(case, kind) for kind in self.kinds}
            yield case, "verdict", "", "", *(one.kind for one in verdicts.values())
            mark = {kind: MARK if one.kind == "sensitive" else "" for kind, one in verdicts.items()}
            if any(mark.values()):
                horizons = (f"{one.horizon:.3g}" if mark[kind] else "" for kind, one in verdicts.items())
                yield case, "horizon", "s", "", *horizons
            for row in rows:
                printed = "" if row["published"] is None else f"{row['published']:g}"
                of_all = row["measure"] not in BEFORE
                ratio = {kind: f"\nx {row[kind] / row['published']:.3g}" if printed else "" for kind in self.kinds}
                found = ("" if np.isnan(row[kind]) else f"{row[kind]:.4g}{ratio[kind]}{mark[kind] * of_all}"
                         for kind in self.kinds)  # fmt: skip
                yield case, row["measure"], row["unit"], printed, *found

    def __str__(self) -> str:
        lines = ["| fact | unit | expected | tolerance | measured |", "|---|---|---|---|---|"] if self.facts else []
        for name, fact in self.facts.items():
            numbers = f"{fact['expected']:g} | {fact['tolerance']:g} | {fact['measured']:.4g}"
            lines.append(f"| {name} | {fact['unit']} | {numbers} |")
        if not self.runs:
            return "\n".join(lines)
        lines += [""] if lines else []
        lines += [f"| case | measure | unit | published | {' | '.join(self.kinds)} |"]
        lines += ["|---" * (4 + len(self.kinds)) + "|"]
        lines += [f"| {' | '.join(cells)} |".replace("\n", ", ") for cells in self.cells()]
        return "\n".join([*lines, "", *self.sentences(), *self.remarks()]).rstrip()

    def _tables(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Over case, ``contact`` (its kind) and measure; units are a coordinate."""
        cases, kinds, measures = list(self.table), self.kinds, list(self.units)
        found: Any = [[[self.table[case][kind].get(m, np.nan) for m in measures] for kind in kinds] for case in cases]
        printed: Any = [[self.printed[case].get(m, np.nan) for m in measures] for case in cases]
        verdicts = texts(self.verdict(case, kind) for case in cases for kind in kinds)
        shape = len(cases), len(kinds), len(measures)  # also where no case was run
        over = ("case", "contact", "measure")
        data: dict[str, Any] = {
            "measured": variable(over, np.reshape(found, shape), meaning="largest magnitude of a run"),
            "published": variable(over[::2], np.reshape(printed, shape[::2]), meaning="printed in the source"),
            "verdict": variable(over[:2], verdicts.reshape(shape[:2])),
        }
        units = [self.units[measure] for measure in measures]
        coordinates: dict[str, Any] = {
            "case": cases, "contact": list(kinds), "measure": measures, "unit": ("measure", units)
        }  # fmt: skip
        if self.facts:
            facts = self.facts.values()
            coordinates |= {"fact": list(self.facts), "fact_unit": ("fact", [one["unit"] for one in facts])}
            for name, meaning in {"measured": "measured", "expected": "known", "tolerance": "of the agreement"}.items():
                data[f"fact_{name}"] = variable("fact", [float(one[name]) for one in facts], meaning=meaning)
        settings = {name: str(value) for name, value in self.settings.items()}
        return data, coordinates, {"title": self.problem} | settings


@telling
def published(
    problem: Problem, cases: Iterable[str] | None = None, *, kinds: Mapping[str, Setting] | None = None,
    measures: Iterable[str] | None = None, progress: Progress = None, **arguments: Any
) -> PublishedRuns:  # fmt: skip
    """Measure the known facts of a problem, run the cases of its source, and measure the quantities printed there.

    Errors are relative to the mechanism with ideal joints (ideal twin) at the same times. Without a sampling rate the
    maximum of a measure is taken over all rows. Accelerations, and forces derived from them, are instantaneous values
    on either side of each row. They do not exist at rigid impacts and describe the motion between impacts, while
    impulses and measures with a window include impacts. Each run is repeated with finer steps, for its verdict; where
    the published data say so, it is compared with another run of the case instead, if this one is accurate. InputError
    for a problem without published data, an unknown case, kind of contact or measure; SimulationFailed if a run fails.

    Parameters
    ----------
    problem : with `published` data
    cases : names of cases; by default all, or none of a problem with facts
    kinds
        Stepper and step of each kind of contact, ``{"rigid": (MoreauJean(), 1e-3)}``; rigid and compliant by default.
    measures
        Names of measures to evaluate; all by default. Accelerations may take longer than the run, since they require
        the solution of a complementarity problem at each row.
    progress : callable (what, share), or True for words on one line, optional, called before each run
    arguments : of the problem, instead of those of the published data

    Examples
    --------
    >>> from nonsmooth import MoreauJean
    >>> from nonsmooth_problems import dual_manipulator
    >>> found = published(dual_manipulator, ["1"], kinds={"rigid": (MoreauJean(), 1e-3)})
    >>> f"{found.table['1']['rigid']['angle error, arm2']:.1f} deg"
    '0.5 deg'
    """
    data = problem.published
    if data is None:
        raise InputError(f"{problem.name} has no published figures.")
    chosen = (() if data.facts else tuple(data.cases)) if cases is None else tuple(cases)
    if kinds is None:
        kinds = {kind: {**KINDS, **data.settings}[kind] for kind in data.kinds}
    every = {measure.name: measure for measure in data.measures}
    names = tuple(every) if measures is None else tuple(measures)
    for what, name, known in (
        *(("case", case, data.cases) for case in chosen),
        *(("contact kind", kind, data.kinds) for kind in kinds),
        *(("measure", name, every) for name in names),
    ):
        require(is_one(name, known), f"The published {what}s of {problem.name} are {', '.join(known)}", name)
    data = replace(data, measures=tuple(every[name] for name in names))
    common = {**data.arguments, **arguments}
    facts = _measured_facts(data, progress)
    t_end = data.duration(**common)
    tell, runs = whom(progress), dict[tuple[str, str], Trajectory]()
    twins: dict[str, Twin] = {}
    made: dict[str, Twin] = {}
    control = ErrorControl(rtol=1e-12, atol=1e-14, dt_min=1e-6, dt_max=t_end / POINTS)
    table: dict[str, dict[str, dict[str, float]]] = {}
    for i, case in enumerate(chosen):
        own = {**common, **data.cases[case]}
        ideal = {**own, **data.ideal}
        if repr(ideal) not in made:
            system = problem(**ideal).build()
            smooth_run = simulate(system, EventDriven(order="dop853"), t_end=t_end, dt=control)
            made[repr(ideal)] = Twin(smooth_run, dict(system.parameters))
        twins[case] = made[repr(ideal)]
        table[case] = {}
        for j, (kind, (stepper, dt)) in enumerate(kinds.items()):
            what = f"case {case}, {kind}"
            tell(what, (i + j / len(kinds)) / len(chosen))
            system = problem(**own, **data.kinds[kind]).build()
            other = runs.get((case, data.beside.get(kind, "")))
            judge = other if other is not None and other.verdict.kind == "accurate" else None

            def advance(t: float, end: float, _: int, what: str = what, begun: float = i + j / len(kinds)) -> None:
                tell(what, (begun + t / end / len(kinds)) / len(chosen))

            run = simulate(system, stepper, t_end=t_end, dt=dt, check=judge is None, progress=progress and advance)
            if i == 0 and run.wall_seconds < COMPILING:  # the first run compiles
                again = simulate(system, stepper, t_end=t_end, dt=dt).wall_seconds
                run = replace(run, wall_seconds=min(run.wall_seconds, again))
            if judge is not None:
                values = system.parameter_vector({})
                run = replace(run, verdict=verdict_against(run, judge, system, values, accuracy=ACCURACY))
            runs[case, kind] = run
            table[case][kind] = _measured(data, case, run, twins[case], t_end)
    tell("done", 1.0)
    settings = {
        "t_end [s]": t_end, "steppers": {kind: f"{stepper!r}, {dt!r}" for kind, (stepper, dt) in kinds.items()},
        "samples per second": {one.name: one.rate for one in data.measures if one.rate is not None},
    }  # fmt: skip
    return PublishedRuns(
        " ".join([problem.name, *(f"{name}={value}" for name, value in common.items())]), table,
        {case: data.figures[case] for case in chosen}, {one.name: one.unit for one in data.measures} | FACTS | COSTS,
        runs, twins, data.panels, settings, data, facts,
    )  # fmt: skip


def _measured_facts(data: Published, progress: Progress) -> dict[str, dict[str, Any]]:
    """Known and measured values by name, and whether they agree."""
    found: dict[str, dict[str, Any]] = {}
    for i, group in enumerate(data.facts):
        whom(progress)(f"facts: {group.name}", i / len(data.facts))
        measured = group.measure()
        for fact in group.entries:
            value = float(measured[fact.name])
            agrees = abs(value - fact.expected) <= fact.tolerance
            known = {key: entry for key, entry in asdict(fact).items() if key != "name"}
            found[fact.name] = {"measured": value, **known, "agrees": agrees}
    return found


def _measured(data: Published, case: str, run: Trajectory, twin: Twin, t_end: float) -> dict[str, float]:
    """The numbers that the source prints of the case, and `FACTS`."""
    whole = view_of(run)
    fine = twin.at(np.linspace(0.0, t_end, FINE + 1))
    views = {"run": whole, "error": whole.less(twin.at(whole.t)), "ideal": fine}
    found = {}
    for measure in data.measures:
        if measure.of == "ideal" and measure.name not in data.figures[case]:
            continue
        if measure.window is not None:
            values = window_means(run, twin, measure.series, measure.of, measure.window)
        else:
            view = views[measure.of]
            values = view.series(measure.series)
            if measure.rate is not None:
                values = np.interp(np.arange(0.0, t_end + 0.5 / measure.rate, 1.0 / measure.rate), view.t, values)
        statistic = np.max if measure.statistic == "peak" else np.mean
        found[measure.name] = float(statistic(np.abs(values))) / SIZES.get(measure.unit, 1.0)
    touches = contact_intervals(run)
    touches = touches[touches["approach"] > 0.0]
    hits = np.array([impact_impulse(run, one) for one in touches])
    facts = {
        "first contact": float(touches["start"][0]) if len(touches) else np.nan,
        "first impulse": first_impulse(run),
        "largest impulse": float(np.max(hits)) if len(hits) else np.nan,
        "contact share": float(np.mean(list(contact_share(run).values()))) if run.gap.names else 0.0,
        "own error of positions, of c": run.verdict.position, "own error of peak forces": run.verdict.force,
        "motion residual": run.certificate.motion_residual, "longest step": float(np.max(np.diff(run.t))),
        "steps": len(run.t) - 1, "programs and evaluations": evaluations(run), "time": run.wall_seconds,
    }  # fmt: skip
    return found | {name: value / SIZES.get((FACTS | COSTS)[name], 1.0) for name, value in facts.items()}


def smooth(entry: Any) -> bool:
    """Whether a series has finite values at impacts: coordinates, velocities, forces without impacts, and functions
    that say so; others count as forces."""
    return getattr(entry, "smooth", False) if callable(entry) else entry[0] in ("q", "v", "F")
