"""Comparison of a problem with its source: known facts, and published cases with rigid and compliant contact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.diagnostics import contact_intervals, contact_share
from nonsmooth.exceptions import InputError
from nonsmooth.progress import Progress, telling, whom
from nonsmooth.run.simulate import simulate
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.step.control import ErrorControl, StepControl
from nonsmooth.studies.files import Result, doubts, variable
from nonsmooth.studies.trial import ACCURACY
from nonsmooth.studies.views import Twin, View, view_of, window_means
from nonsmooth.trajectory import Trajectory, Verdict
from nonsmooth.trust import verdict_against

if TYPE_CHECKING:
    import xarray

    from nonsmooth.model.registry import Problem, Published
    from nonsmooth.step.scheme import Stepper

Setting = tuple["Stepper", "float | StepControl"]

#: stepper and step for rigid and for compliant contact
KINDS: dict[str, Setting] = {
    "rigid": (EventDriven(), ErrorControl(rtol=1e-9, atol=1e-11, dt_min=1e-6, dt_max=1e-2)),
    "compliant": (CompliantDae(), ErrorControl(rtol=1e-8, atol=1e-10, dt_min=1e-6, dt_max=1e-2)),
}
#: points of the ideal twin over the run
POINTS = 600
#: points at which the largest magnitude of the ideal twin is sought
FINE = 20000
#: compliant contacts shorter than this share of the run are impacts, whose impulses compare with rigid ones
SHORT = 0.01
#: additional numbers of each run, with units; its errors are those of its verdict, from a run with finer steps
FACTS = {
    "first contact": "s", "first impulse": "mN s", "largest impulse": "mN s", "contact share": "%",
    "own error of positions, of c": "%", "own error of peak forces": "%",
}  # fmt: skip
SIZES = {
    "deg": np.pi / 180,
    "deg/s": np.pi / 180,
    "deg/s^2": np.pi / 180,
    "mN s": 1e-3,
    "%": 0.01,
    "mm": 1e-3,
    "um": 1e-6,
}


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
    runs, twins : trajectories by (case, kind of contact), each with its verdict; ideal twins by case
    panels : panels, as in `nonsmooth.model.registry.Published`
    settings : steppers, steps, and sampling rates of the measures
    facts
        For each known number ``measured``, ``expected``, ``tolerance``, ``unit``, ``note`` and whether it ``agrees``,
        by its name.
    """

    problem: str
    table: Mapping[str, Mapping[str, Mapping[str, float]]]
    printed: Mapping[str, Mapping[str, float]]
    units: Mapping[str, str]
    runs: Mapping[tuple[str, str], Trajectory]
    twins: Mapping[str, Twin]
    panels: tuple[Any, ...]
    settings: Mapping[str, Any]
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(kind for _, kind in self.runs))

    def verdict(self, case: str, kind: str) -> Verdict:
        """Whether a run can be trusted, by a run with finer steps or an accurate one of another kind."""
        return self.runs[case, kind].verdict

    def remarks(self) -> list[str]:
        """What the table says of runs that are not accurate."""
        return doubts({f"{case}, {kind}": run.verdict for (case, kind), run in self.runs.items()})

    def view(self, case: str, kind: str, of: str = "run") -> View:
        """Series of a run, of its ``"ideal"`` twin at the same times, or the ``"error"``."""
        run, twin = self.runs[case, kind], self.twins[case]
        if of == "ideal":
            return twin.between(run.t)
        view = view_of(run, {name: entry["value"] for name, entry in run.manifest["parameters"].items()})
        return view.less(twin.between(run.t)) if of == "error" else view

    def rows(self) -> Iterator[dict[str, Any]]:
        """One mapping per case and measure: ``case``, ``measure``, ``unit``, ``published``, each kind of contact."""
        for case, kinds in self.table.items():
            for measure in next(iter(kinds.values())):
                found = {kind: numbers[measure] for kind, numbers in kinds.items()}
                yield {"case": case, "measure": measure, "unit": self.units[measure],
                       "published": self.printed[case].get(measure), **found}  # fmt: skip

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Rows of the printed table as texts, of each case its verdicts first."""
        case = None
        for row in self.rows():
            if row["case"] != case:
                case = row["case"]
                yield case, "verdict", "", "", *(self.verdict(case, kind).kind for kind in self.kinds)
            printed = "" if row["published"] is None else f"{row['published']:g}"
            found = ("" if np.isnan(row[kind]) else f"{row[kind]:.4g}" for kind in self.kinds)
            yield row["case"], row["measure"], row["unit"], printed, *found

    def __str__(self) -> str:
        lines = self._fact_lines()
        if not self.runs:
            return "\n".join(lines)
        lines += [
            f"| case | measure | unit | published | {' | '.join(self.kinds)} |",
            "|---" * (4 + len(self.kinds)) + "|",
        ]
        lines += [f"| {' | '.join(cells)} |" for cells in self.cells()]
        return "\n".join([*lines, "", *self.remarks()]).rstrip()

    def _fact_lines(self) -> list[str]:
        if not self.facts:
            return []
        lines = ["| fact | unit | expected | tolerance | measured |", "|---|---|---|---|---|"]
        for name, fact in self.facts.items():
            numbers = f"{fact['expected']:g} | {fact['tolerance']:g} | {fact['measured']:.4g}"
            lines.append(f"| {name} | {fact['unit']} | {numbers} |")
        return [*lines, ""] if self.runs else lines

    def to_dataset(self) -> xarray.Dataset:
        """As an `xarray.Dataset` over case, ``contact`` (its kind) and measure; units are a coordinate."""
        import xarray

        cases, kinds, measures = list(self.table), list(self.kinds), list(self.units)
        missing = float("nan")
        found: Any = [[[self.table[case][kind].get(m, missing) for m in measures] for kind in kinds] for case in cases]
        printed: Any = [[self.printed[case].get(m, missing) for m in measures] for case in cases]
        shape = len(cases), len(kinds), len(measures)  # also where no case was run
        found, printed = np.reshape(found, shape), np.reshape(printed, shape[::2])
        said = [str(self.verdict(case, kind)) for case in cases for kind in kinds]
        data: dict[str, Any] = {
            "measured": variable(("case", "contact", "measure"), found, meaning="largest magnitude of a run"),
            "published": variable(("case", "measure"), printed, meaning="printed in the source"),
            "verdict": variable(("case", "contact"), np.reshape(np.array(said, dtype=object), shape[:2])),
        }
        coordinates = {"case": cases, "contact": kinds, "measure": measures,
                       "unit": ("measure", [self.units[m] for m in measures])}  # fmt: skip
        if self.facts:
            coordinates |= {
                "fact": list(self.facts),
                "fact_unit": ("fact", [one["unit"] for one in self.facts.values()]),
            }
            data |= {
                f"fact_{what}": variable("fact", [float(one[what]) for one in self.facts.values()], meaning=words)
                for what, words in (("measured", "measured"), ("expected", "known"), ("tolerance", "of the agreement"))
            }
        settings = {name: str(value) for name, value in self.settings.items()}
        return xarray.Dataset(data, coordinates, {"title": self.problem} | settings)


@telling
def published(
    problem: Problem,
    cases: Iterable[str] | None = None,
    *,
    kinds: Mapping[str, Setting] | None = None,
    measures: Iterable[str] | None = None,
    progress: Progress = None,
    **arguments: Any,
) -> PublishedRuns:
    """Measure the known facts of a problem, run the cases of its source, and measure the quantities printed there.

    Errors are relative to the mechanism with ideal joints (ideal twin) at the same times. Without a sampling rate the
    maximum of a measure is taken over all rows. Accelerations, and forces derived from them, are instantaneous values
    on either side of each row. They do not exist at rigid impacts and describe the motion between impacts, while
    impulses and measures with a window include impacts. Each run is repeated with finer steps, for its verdict; where
    the published data say so, it is compared with another run of the case instead, if this one is accurate.

    Parameters
    ----------
    problem : with `published` data
    cases : names of cases; by default all, or none of a problem with facts
    kinds
        Stepper and step of each kind of contact, ``{"rigid": (MoreauJean(), 1e-3)}``; rigid and compliant by default.
    measures
        Names of measures to evaluate; all by default. Accelerations may take longer than the run, since they require
        the solution of a complementarity problem at each row.
    progress : callable (what, share), or True for words on one line, optional
        Called before each run.
    arguments : arguments of the problem, instead of those of the published data

    Raises
    ------
    InputError
        For a problem without published data, an unknown case, kind of contact or measure.
    SimulationFailed
        If a run fails.

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
        if name not in known:
            raise InputError(f"The published {what}s of {problem.name} are {', '.join(known)}, got {name!r}.")
    data = replace(data, measures=tuple(every[name] for name in names))
    common = {**data.arguments, **arguments}
    facts = _measured_facts(data, progress)
    t_end = data.duration(**common)
    runs: dict[tuple[str, str], Trajectory] = {}
    twins: dict[str, Twin] = {}
    made: dict[str, Twin] = {}
    table: dict[str, dict[str, dict[str, float]]] = {}
    for i, case in enumerate(chosen):
        own = {**common, **data.cases[case]}
        ideal = {**own, **data.ideal}
        if repr(ideal) not in made:
            made[repr(ideal)] = _twin(problem, ideal, t_end)
        twins[case] = made[repr(ideal)]
        table[case] = {}
        for j, (kind, (stepper, dt)) in enumerate(kinds.items()):
            whom(progress)(f"case {case}, {kind}", (i + j / len(kinds)) / len(chosen))
            system = problem(**own, **data.kinds[kind]).build()
            other = runs.get((case, data.beside.get(kind, "")))
            judge = other if other is not None and other.verdict.kind == "accurate" else None
            run = simulate(system, stepper, t_end=t_end, dt=dt, check=judge is None)
            if judge is not None:
                values = system.parameter_vector({})
                run = replace(run, verdict=verdict_against(run, judge, system, values, accuracy=ACCURACY))
            runs[case, kind] = run
            table[case][kind] = _measured(data, case, run, twins[case], t_end)
    whom(progress)("done", 1.0)
    units = {measure.name: measure.unit for measure in data.measures} | FACTS
    return PublishedRuns(
        problem=" ".join([problem.name, *(f"{name}={value}" for name, value in common.items())]),
        table=table,
        printed={case: data.figures[case] for case in chosen},
        units=units,
        runs=runs,
        twins=twins,
        panels=data.panels,
        settings={
            "t_end [s]": t_end,
            "steppers": {kind: f"{stepper!r}, {dt!r}" for kind, (stepper, dt) in kinds.items()},
            "samples per second": {one.name: one.rate for one in data.measures if one.rate is not None},
        },
        facts=facts,
    )


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


def _twin(problem: Problem, arguments: Mapping[str, Any], t_end: float) -> Twin:
    system = problem(**arguments).build()
    control = ErrorControl(rtol=1e-12, atol=1e-14, dt_min=1e-6, dt_max=t_end / POINTS)
    run = simulate(system, EventDriven(order="dop853"), t_end=t_end, dt=control)
    return Twin(run, dict(system.parameters))


def _measured(data: Published, case: str, run: Trajectory, twin: Twin, t_end: float) -> dict[str, float]:
    """The numbers that the source prints of the case, and `FACTS`."""
    whole = view_of(run, {name: entry["value"] for name, entry in run.manifest["parameters"].items()})
    fine = twin.at(np.linspace(0.0, t_end, FINE + 1))
    views = {"run": whole, "error": whole.less(twin.between(run.t)), "ideal": fine}
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
    return found | _facts(run, t_end)


def smooth(entry: Any) -> bool:
    """Whether a series has finite values at impacts: coordinates and velocities; functions count as forces."""
    return not callable(entry) and entry[0] in ("q", "v")


def _facts(run: Trajectory, t_end: float) -> dict[str, float]:
    touches = contact_intervals(run)
    touches = touches[touches["approach"] > 0.0]
    hits = (
        run.impacts["P_N"]
        if len(run.impacts)
        else touches["impulse"][touches["end"] - touches["start"] < SHORT * t_end]
    )
    nothing = float("nan")
    facts = {
        "first contact": float(touches["start"][0]) if len(touches) else nothing,
        "first impulse": float(touches["impulse"][0]) if len(touches) else nothing,
        "largest impulse": float(np.max(hits)) if len(hits) else nothing,
        "contact share": float(np.mean(list(contact_share(run).values()))) if run.gap.names else 0.0,
        "own error of positions, of c": run.verdict.position,
        "own error of peak forces": run.verdict.force,
    }
    return {name: value / SIZES.get(FACTS[name], 1.0) for name, value in facts.items()}
