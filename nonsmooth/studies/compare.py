"""Comparison of rigid and compliant contact for one mechanism, by the same metrics, and of costs at equal error.

Forces are compared as means over windows of time, which average the impulses of rigid impacts as well; a persistent
contact and an impact without duration are both contact intervals, see `nonsmooth.diagnostics`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import agreement, contact_intervals, contact_share, dissipated, impacts, mean_forces
from nonsmooth.diagnostics.contacts import INTERVALS, first_impulse
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.model import Model
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, handing_over, telling, whom
from nonsmooth.settings import is_one, require
from nonsmooth.step.control import step_control
from nonsmooth.studies.arguments import built, check_build
from nonsmooth.studies.beyond import RATE, complete, horizon_of, lines_of, remarks_of, statistics_of
from nonsmooth.studies.cases import (
    GRID,
    Accurate,
    Case,
    Cost,
    Motion,
    Trial,
    checked_cases,
    coarsest,
    cost_of,
    early_end,
    evaluations,
    mean_deviation,
    motion_times,
    rigid_cases,
    scaled_distance,
)
from nonsmooth.studies.files import Result, doubts, variable
from nonsmooth.studies.long_run import PRECISION, Statistics
from nonsmooth.studies.shown import Chosen, chosen, numbers_of
from nonsmooth.studies.shown import lines_of as rows_of
from nonsmooth.trajectory import Trajectory
from nonsmooth.trajectory.dataset import texts
from nonsmooth.trajectory.peaks import largest_forces
from nonsmooth.trajectory.verdict import clearances

#: time [s] for a motion that is sensitive before its end, and the least of it for its statistics
WHOLE, LEAST = 40.0, 20.0
#: metrics by case
_Cases = Mapping[str, Mapping[str, Any]]
#: those that are errors of a run
ERRORS = ("own_error", "position_error", "force_error")
#: metric -> unit and meaning
METRICS = {
    "verdict": ("-", "whether the run can be trusted, by the accurate solution with its own contact law"),
    "position_error": ("-", "largest difference of a coordinate from that solution, over the smallest clearance"),
    "force_error": ("-", "largest difference of a contact's peak force from it, over the largest peak force"),
    "distance": ("-", "largest mean deviation of a coordinate from the reference, relative to its range"),
    "deviation": ("m or rad", "mean deviation of each coordinate from the reference"),
    "own_error": ("-", "distance to the accurate solution with the case's own contact law"),
    "penetration": ("m", "deepest overlap of two surfaces"),
    "overlap": ("-", "deepest overlap of each contact over its clearance or backlash, if it has one"),
    "impulse": ("N s", "normal impulse of each contact"),
    "peak_force": ("N", "largest force, of rigid contact the largest mean of a step without impacts"),
    "window_force": ("N", "largest mean force in a window, rigid impacts included"),
    "impacts": ("-", "contacts that begin faster than the threshold"),
    "first_impact": ("s", "when the first impact begins"),
    "first_impulse": ("N s", "its impulse without that of finite forces, see `diagnostics.impact_impulse`"),
    "first_approach": ("m/s", "speed at which it begins"),
    "first_separation": ("m/s", "speed at which it ends"),
    "contact_share": ("-", "share of the time in which each contact is closed"),
    "agreement": ("-", "share of the time in which the case and the reference case agree on open or closed"),
    "loss": ("J", "energy dissipated by cause"),
    "wall": ("s", "time of the run as given"),
    "steps": ("-", "its steps"),
    "evaluations": ("-", "its evaluations of the equations of motion and programs solved"),
    "equal_error": ("-", "the coarsest run whose own error meets the target, and its cost"),
}
#: numbers of whole runs in the main rows of the table
TITLES = {
    "distance": "distance to the reference", "own_error": "own error",
    "position_error": "  largest, over the clearance", "force_error": "  of peak forces",
    "penetration": "deepest overlap", "overlap": "  over the clearance", "impacts": "impacts",
    "first_impact": "first impact", "first_approach": "  speed of approach",
    "first_separation": "  speed of separation", "first_impulse": "  impulse",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """Result of `compare`.

    Parameters
    ----------
    cases : as given
    table
        ``table[label][metric]``: a number, or a mapping from contacts, coordinates or causes to numbers; see `METRICS`.
    runs : the trajectories, by label
    reference, truth : label of the reference case, and its accurate solution, with which the cases are compared
    between, modes
        Distances of the runs to each other [-], and shares of time in which their contact modes agree [-]; both
        (cases, cases).
    edges, forces : bounds of the windows [s], and mean normal forces in them [N] (cases, windows, contacts)
    settings : end, target, windows, thresholds, and the origin of the accurate solutions
    accurate : metrics of the accurate solutions of the cases, with their own contact laws, and their runs
    failed : cases left out because their run, or their accurate solution, ended early, with the reason
    statistics
        Of a motion that is sensitive before the end that was requested: what is known of it beyond, by label; the rest
        is compared until its horizon.
    show : coordinates, contacts, components of reactions and measures that table and figure show; else the usual ones
    """

    cases: tuple[Case, ...]
    table: Mapping[str, Mapping[str, Any]]
    runs: Mapping[str, Trajectory]
    reference: str
    truth: Motion = field(repr=False)
    between: Array = field(repr=False)
    modes: Array = field(repr=False)
    edges: Array = field(repr=False)
    forces: Array = field(repr=False)
    settings: Mapping[str, Any]
    accurate: tuple[Mapping[str, Mapping[str, Any]], Mapping[str, Trajectory]] = field(repr=False)
    failed: Mapping[str, str] = field(default_factory=dict)
    statistics: Mapping[str, Statistics] = field(default_factory=dict)
    show: Chosen = field(default_factory=Chosen)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(case.label for case in self.cases)

    @property
    def shown_contacts(self) -> tuple[str, ...]:
        """The contacts to show: by default of each joint the one with the largest impulse in the reference."""
        if self.show != Chosen():
            return self.show.contacts
        impulse, found = self.table[self.reference]["impulse"], dict[str, str]()
        for name in impulse:
            joint = name.partition(".")[0]
            found[joint] = max(found.get(joint, name), name, key=lambda one: impulse[one])
        return tuple(found.values())

    @cached_property
    def shown(self) -> dict[str, list[float]]:
        """Numbers of the cases, by title with unit: those of what is shown."""
        return self._shown(self.table, self.runs)

    def _shown(self, table: _Cases, runs: Mapping[str, Trajectory]) -> dict[str, list[float]]:
        what, window = replace(self.show, contacts=self.shown_contacts), float(self.edges[1] - self.edges[0])
        return numbers_of({label: what.numbers(runs[label], table[label], window) for label in self.labels})

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.labels)}; against {self.reference}; print it for its table>"

    def __str__(self) -> str:
        """The table that `nonsmooth compare` prints."""

        def short(value: float | str) -> str:
            return str(value) if isinstance(value, int | str) else f"{value:.4g}" if np.isfinite(value) else "-"

        cells = [["", *self.labels], *([title, *map(short, values)] for title, values in self.lines())]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([*table, *self.remarks()])

    def remarks(self) -> list[str]:
        """Remarks below the table: runs that are not accurate, and those that ended early; what statistics say."""
        left = {label: reason for label, reason in self.failed.items() if label not in self.runs}
        found = doubts({label: run.verdict for label, run in self.runs.items()}, left)
        if "horizon [s]" in self.settings:
            without = {label: reason for label, reason in self.failed.items() if label in self.runs}
            found += remarks_of(self.statistics, without, self.reference, float(self.edges[-1]))
        if len(self.cases) > 1:
            rows, end = "; ".join(self.differing()) or "none", f"{self.edges[-1]:.3g} s"
            found.append(f"Rows in which a case differs from {self.reference}, until {end}, beyond own errors: {rows}.")
        return found

    def differing(self) -> list[str]:
        """Titles of rows in which a case differs from the reference by more than the errors of both runs: what they
        differ by from the accurate solutions with their own contact laws."""
        first, found, above = self.labels.index(self.reference), list[str](), ""
        rows = zip(self._of_motion(self.table, self.runs), self._of_motion(*self.accurate), strict=True)
        for (title, values), (_, exact) in rows:
            name = title.partition(" [")[0]
            below = name.startswith("  ")
            above = above if below else name.partition(":")[0]
            x, solved = np.array(values, float), np.array(exact, float)
            with np.errstate(invalid="ignore"):  # of numbers that are not known
                error, lacks = np.abs(x - solved), np.isnan(x) & np.isnan(solved)
                apart = (np.abs(x - x[first]) > error + error[first]) | (lacks != lacks[first])
            if np.any(apart) and not np.all(np.isnan(solved)):
                found.append(f"{above}: {name.strip()}" if below else name)
        return found

    def lines(self) -> list[tuple[str, list[Any]]]:
        """Main rows of the table, a number per case; of each joint the contact with the largest impulse in the
        reference."""
        rows, target = [self.table[label] for label in self.labels], self.settings["target of the own error [-]"]
        lines = [("verdict", [row["verdict"] for row in rows]), *self._of_motion(self.table, self.runs)]
        lines += [("time of the run [s]", [row["wall"] for row in rows]), ("  steps", [row["steps"] for row in rows])]
        if target > 0:
            titles = {"wall": f"at own error {target:g}: time [s]", "steps": "  steps", "evaluations": "  evaluations"}
            lines += [(title, [row["equal_error"][name] for row in rows]) for name, title in titles.items()]
        lines += lines_of(self.statistics, self.labels)
        if self.statistics:
            title = f"  time for ± {100 * PRECISION:g} % of the energy lost [s]"
            lines.append((title, [self._seconds(label) for label in self.labels]))
        return lines

    def _of_motion(self, table: _Cases, runs: Mapping[str, Trajectory]) -> list[tuple[str, list[Any]]]:
        """Those that are numbers of motions, of these metrics and runs by case."""

        def largest(value: Any) -> Any:
            known = [x for x in value.values() if not math.isnan(x)] if isinstance(value, Mapping) else [value]
            return max(known, default=math.nan)

        rows = [table[label] for label in self.labels]
        lines = [
            (f"{title} [{METRICS[name][0]}]", [largest(row[name]) for row in rows]) for name, title in TITLES.items()
        ]
        lines += rows_of(self._shown(table, runs))
        lines.append(("open or closed as the reference [-]", [row["agreement"] for row in rows]))
        lost = [cause for cause in rows[0]["loss"] if any(self.table[label]["loss"][cause] for label in self.labels)]
        return lines + [(f"energy lost, {cause} [J]", [row["loss"][cause] for row in rows]) for cause in lost]

    def _seconds(self, label: str) -> float:
        """Time [s] that a case takes for a given precision of the energy lost, by its own interval."""
        if label not in self.statistics:
            return math.nan
        found, rate = self.statistics[label], self.statistics[label][RATE]
        wide = (rate.high - rate.low) / 2 / rate.value if rate.value else math.nan
        return found.seconds * (wide / PRECISION) ** 2

    def plain(self) -> dict[str, Any]:
        """Plain data, as `nonsmooth compare --json` prints it: the table, what was chosen, statistics."""
        known = {label: {"statistics": found.plain()} for label, found in self.statistics.items()}
        if self.show != Chosen():
            for i, label in enumerate(self.labels):
                known.setdefault(label, {})["shown"] = {name: row[i] for name, row in self.shown.items()}
        return {label: {**self.table[label], **known.get(label, {})} for label in self.labels}

    def rows(self) -> list[dict[str, Any]]:
        """One flat mapping per case: ``{"case": label, "distance": ..., "impulse.guide.left_lower": ...}``."""
        rows: list[dict[str, Any]] = [{"case": label} for label in self.labels]
        for row in rows:
            for name, value in self.table[row["case"]].items():
                mapped = isinstance(value, Mapping)
                row |= {f"{name}.{key}": part for key, part in value.items()} if mapped else {name: value}
        return rows

    def _tables(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Metrics by case, motions and impulses on a grid, all contact intervals."""
        first = self.runs[self.labels[0]]
        t = np.linspace(self.edges[0], self.edges[-1], GRID // 2 + 1)
        moving = [self.truth, *(Motion.of_run(run) for run in self.runs.values())]
        names = {
            "case": self.labels, "other": self.labels, "motion": ["reference", *self.labels],
            "coordinate": first.q.names, "contact": first.gap.names, "cause": list(self.table[self.labels[0]]["loss"]),
        }  # fmt: skip
        coordinates: dict[str, Any] = {name: (name, texts(values)) for name, values in names.items()}
        coordinates |= {
            "unit": variable("coordinate", first.q.unit_list), "time": variable("time", t, "s"),
            "window_start": variable("window", self.edges[:-1], "s"),
            "window_end": variable("window", self.edges[1:], "s"),
        }  # fmt: skip
        data: dict[str, Any] = {}
        for metric, (unit, meaning) in METRICS.items():
            values = [self.table[label][metric] for label in self.labels]
            if metric == "equal_error":
                for name in ("error", "wall", "steps", "evaluations", "setting"):
                    column = np.array([value[name] for value in values], None if name == "setting" else float)
                    data[f"equal_error_{name}"] = variable("case", column, "s" if name == "wall" else unit, meaning)
            elif isinstance(values[0], Mapping):
                over = {"deviation": "coordinate", "loss": "cause"}.get(metric, "contact")
                table = np.array([list(value.values()) for value in values], float)
                data[metric] = variable(("case", over), table, unit, meaning)
            else:
                kind = None if isinstance(values[0], str) else float
                data[metric] = variable("case", np.array(values, kind), unit, meaning)
        data["shown"] = variable(("title", "case"), list(self.shown.values()), meaning="what was chosen to be shown")
        coordinates["title"] = ("title", texts(self.shown))
        data["between"] = variable(("case", "other"), self.between, "-", "distance of two cases")
        data["modes"] = variable(("case", "other"), self.modes, "-", "agreement of contact modes")
        data["force"] = variable(("case", "window", "contact"), self.forces, "N", "mean normal force in each window")
        data["position"] = variable(("motion", "time", "coordinate"), [one.positions(t) for one in moving], "m or rad")
        data["impulse_so_far"] = variable(
            ("motion", "time", "contact"), [one.impulses(t) for one in moving], "N s", "normal impulse since the start"
        )
        touches = {label: contact_intervals(run) for label, run in self.runs.items()}
        data["touch_case"] = ("touch", texts([label for label, rows in touches.items() for _ in rows]))
        for name, unit in INTERVALS.items():
            column = np.concatenate([rows[name] for rows in touches.values()])
            data[f"touch_{name}"] = ("touch", column if unit else texts(column), {"units": unit or "-"})
        data["verdict_text"] = variable("case", [str(run.verdict) for run in self.runs.values()])
        facts = {"title": "rigid and compliant contact compared", "reference": self.reference}
        if self.failed:
            facts["left out"] = "; ".join(f"{label} {reason}" for label, reason in self.failed.items())
        return data, coordinates, facts | {name: str(value) for name, value in self.settings.items()}


@telling
def compare(
    build: Callable[[Any], Model | System], cases: Sequence[Case], *, t_end: float, rigid: Sequence[Any] = (),
    reference: str | None = None, windows: int = 20, target: float = 1e-4, slowest: float = 0.01, repeats: int = 3,
    patience: float = 10.0, seconds: float | None = None, show: Sequence[Any] = (), progress: Progress = None,
) -> Comparison:  # fmt: skip
    """Run one mechanism with several contact laws and steppers, and evaluate the same metrics.

    The distance of two motions is the time mean of the absolute difference of a coordinate, divided by its range in the
    reference, maximised over the coordinates ::

        max_i  1/(T s_i) int_0^T |q_i - r_i| dt,      s_i = max r_i - min r_i

    InputError for labels that repeat, an unknown reference, mechanisms with different contacts, or a number out of
    range; SimulationFailed if the reference fails.

    Parameters
    ----------
    build : a function of the contact law that returns a model or a system, such as ``model.with_contact``
    cases : at least one `Case`, with different labels
    t_end : [s]
    rigid
        Further schemes of the first rigid case, by name with solver, as ``["gauss-mpcc:ipopt-mpcc", "gauss-qp:osqp"]``,
        or as steppers. Their steps are `Landing` between the bounds of that case, constant ones a tenth as long.
    reference : label, optional
        The case whose reference solution is used for all; the first one by default. It is the exact solution if the
        case has one, otherwise that of the same contact law with tolerances near round-off.
    windows
        Number of equal windows of time over which forces are averaged.
    target : [-]
        Own error of a case, by the same distance, at which costs are compared; 0 omits this comparison. Of a sensitive
        motion costs are compared at equal intervals of the energy lost instead.
    slowest : [-]
        Contacts are impacts if their approach velocity exceeds this share of the largest one in the reference case.
    repeats
        Number of repetitions of fast runs, the fastest of which is the cost.
    patience : [s]
        A setting is not refined further if a run takes longer.
    seconds : [s]
        Time for the statistics of all cases, of a motion that is sensitive before its end; by default what the runs
        before leave of 40 s, and 20 s at least.
    show
        Coordinates, contacts, joints, components of reactions, or measures that table and figure show, as pin.x,
        peak-force:pin, or a function of a run; by default of each joint the contact with the largest impulse, and the
        coordinate that differs most.
    progress : callable (what, share), or True for words on one line, optional, called before each part of the work

    Notes
    -----
    The verdict of a run is that of its difference to the accurate solution with its own contact law: *accurate* within
    1 % of the smallest clearance and of the largest peak force, *sensitive* where it follows that as long as runs with
    tolerances near round-off follow each other. A case whose run or accurate solution ends early is left out, with the
    reason in `failed`.

    Examples
    --------
    >>> from nonsmooth import Compliant, CompliantDae, ErrorControl, EventDriven, Rigid
    >>> from nonsmooth.laws import Flores
    >>> from nonsmooth_problems import slider_rod
    >>> dt = ErrorControl(1e-7, 1e-9, 1e-6, 1e-3)
    >>> law = Compliant(Flores(stiffness=1e12, restitution=0.5, calibrated=True))
    >>> cases = [Case("rigid", Rigid(restitution=0.5, friction=0.0), EventDriven(), dt)]
    >>> cases.append(Case("compliant", law, CompliantDae(), dt))
    >>> found = compare(lambda contact: slider_rod(case=1, contact=contact), cases, t_end=0.005, target=0)
    >>> for case, numbers in found.table.items():
    ...     print(f"{case}: {numbers['first_impulse']:.4f} N s, {1e9 * numbers['penetration']:.0f} nm deep")
    rigid: 0.0525 N s, 0 nm deep
    compliant: 0.0513 N s, 653 nm deep
    """
    begun, cases = time.monotonic(), checked_cases(cases, "compare")
    if rigid:
        place = [i for i, case in enumerate(cases) if isinstance(case.contact, Rigid)]
        if not place:
            raise InputError("rigid gives further schemes of a rigid case, but no case has Rigid contact.")
        others = rigid_cases(cases[place[0]], rigid)
        cases = checked_cases((*cases[: place[-1] + 1], *others, *cases[place[-1] + 1 :]), "compare")
    labels = [case.label for case in cases]
    one = reference is None or is_one(reference, labels)
    require(one, f"reference must be one of the cases, {', '.join(labels)}", reference)
    bounds = (("windows", windows, 1), ("target", target, 0.0), ("slowest", slowest, 0.0), ("repeats", repeats, 1))
    for name, value, low in bounds:
        require(low <= value < float("inf"), f"{name} must be a number >= {low:g}", value)
    check_build(build)
    reference = reference or labels[0]
    tell = whom(progress)
    trials = {case.label: Trial(case, built(build, case.contact), t_end) for case in cases}
    first = trials[cases[0].label].system
    for label, trial in trials.items():
        if trial.system.contact_names != first.contact_names or trial.system.q_names != first.q_names:
            which = f'"{cases[0].label}" and "{label}"'
            raise InputError(f"Cases {which} are different mechanisms: their coordinates or contacts differ.")
    shown = chosen(show, first)
    tell(f"{reference}: accurate solution", 0.0)
    truth_of = trials[reference].accurate()
    if truth_of.parted == math.inf:
        found = _compared(cases, trials, truth_of, reference, windows, target, slowest, repeats, patience, tell)
        return replace(found, show=shown)
    horizon = horizon_of(truth_of, trials[reference].run())
    sooner = {label: replace(trial, t_end=horizon) for label, trial in trials.items()}
    alone = lambda what, share: tell(what, 0.3 * share)  # noqa: E731
    found = _compared(cases, sooner, None, reference, windows, 0.0, slowest, repeats, patience, alone, truth_of.parted)
    tell("statistics", 0.3)
    left = max(WHOLE - (time.monotonic() - begun), LEAST) if seconds is None else seconds
    statistics, without = statistics_of({label: trials[label] for label in found.labels}, left)
    tell("done", 1.0)
    settings = {**found.settings, "requested t_end [s]": t_end, "horizon [s]": horizon}
    failed = {**found.failed, **without}
    found = replace(found, statistics=statistics, settings=settings, failed=failed, show=shown)
    return complete(found, without)


def _compared(
    cases: tuple[Case, ...], trials: Mapping[str, Trial], truth_of: Accurate | None, reference: str, windows: int,
    target: float, slowest: float, repeats: int, patience: float, tell: Any, parted: float = math.inf,
) -> Comparison:  # fmt: skip
    """The comparison of cases until the end of their trials, with the accurate solution of the reference if known; of a
    motion that depends on round-off from `parted` [s] on."""
    t_end, parts = trials[reference].t_end, 3 * len(cases)
    runs: dict[str, Trajectory] = {}
    failed: dict[str, str] = {}
    remedy = "`result` of this error has their trajectories by case; take fewer cases, or target=0 without costs"
    with handing_over(runs, len(cases), "cases", lambda: dict(runs), remedy):
        for i, (label, trial) in enumerate(trials.items()):
            tell(f"{label}: run", i / parts)
            try:
                runs[label] = trial.run()
            except SimulationFailed as failure:
                if label == reference:
                    raise
                failed[label] = early_end(failure)
        known: dict[str, Accurate] = {} if truth_of is None else {reference: truth_of}
        for i, (label, run) in enumerate(runs.items()):
            tell(f"{label}: accurate solution", (len(cases) + i) / parts)
            same = (one for one in known.values() if one.trial.alike(trials[label].case))
            try:
                own = next(same, None) or trials[label].accurate()
                known[label] = replace(own, parted=min(own.parted, parted))
            except SimulationFailed as failure:
                if label == reference:
                    raise
                failed[label] = f"has no accurate solution, which {early_end(failure)}"
            else:
                runs[label] = replace(run, verdict=known[label].verdict(run))
    cases = tuple(case for case in cases if case.label in known)
    runs = {case.label: runs[case.label] for case in cases}
    grid, truth, scale = trials[reference].grid(), known[reference].motion, known[reference].scale
    edges = np.linspace(grid[0], t_end, windows + 1)
    threshold = slowest * float(np.nanmax(contact_intervals(runs[reference])["approach"], initial=0.0))
    table, solved = {}, {}
    for i, case in enumerate(cases):
        run, trial, own = runs[case.label], trials[case.label], known[case.label]
        tell(f"{case.label}: cost at equal error", (2 * len(cases) + i) / parts)
        found = coarsest(trial, own, target, patience) if target > 0 else None
        cost = Cost() if found is None else cost_of(trial, *found, own.error(found[1]), repeats)
        numbers = measured(run, known[reference], edges, threshold) | {
            "verdict": run.verdict.kind, "position_error": run.verdict.position, "force_error": run.verdict.force,
            "own_error": own.error(run), "wall": cost_of(trial, step_control(case.dt), run, 0.0, repeats).wall,
            "agreement": agreement(run, runs[reference]), "equal_error": asdict(cost),
        }  # fmt: skip
        table[case.label] = {name: numbers[name] for name in METRICS}
        solved[case.label] = measured(own.run, known[reference], edges, threshold) | dict.fromkeys(ERRORS, math.nan)
        solved[case.label]["agreement"] = agreement(own.run, known[reference].run)
    tell("done", 1.0)
    motions = [Motion.of_run(runs[case.label]) for case in cases]
    settings = {
        "t_end [s]": float(t_end), "target of the own error [-]": float(target), "windows": int(windows),
        "slowest impact [m/s]": threshold,
        "scale of coordinates [m or rad]": dict(zip(truth.names, scale.tolist(), strict=True)),
        "truth": {case.label: "exact" if case.exact is not None else "converged" for case in cases},
    }  # fmt: skip
    return Comparison(
        cases=cases, table=table, runs=runs, reference=reference, truth=truth,
        between=np.array([[scaled_distance(a, b, motion_times(grid, a, b), scale) for b in motions] for a in motions]),
        modes=np.array([[agreement(a, b) for b in runs.values()] for a in runs.values()]), edges=edges,
        forces=np.stack([mean_forces(run, edges) for run in runs.values()]), settings=settings, failed=failed,
        accurate=(solved, {label: known[label].run for label in solved}),
    )  # fmt: skip


def measured(run: Trajectory, accurate: Accurate, edges: Array, threshold: float) -> dict[str, Any]:
    """The metrics of a run by itself and by an accurate solution; windows and impacts as of `compare`."""
    motion, truth = Motion.of_run(run), accurate.motion
    deviation = mean_deviation(motion, truth, motion_times(accurate.trial.grid(), motion, truth))
    contacts = run.gap.names
    touches = contact_intervals(run)
    hits = touches[touches["approach"] > 0.0]
    first = hits[0] if len(hits) else dict.fromkeys(("start", "approach", "separation"), math.nan)
    forces = mean_forces(run, edges)
    depths = np.array([0.0 + np.max(touches["depth"][touches["contact"] == one], initial=0.0) for one in contacts])
    assert run.origin is not None
    sizes = clearances(run.origin.system, run.origin.parameters)
    return {
        "distance": float(np.max(deviation / accurate.scale, initial=0.0)),
        "deviation": dict(zip(run.q.names, deviation.tolist(), strict=True)),
        "penetration": max(float(np.max(depths, initial=0.0)), run.certificate.gap_violation),
        "overlap": dict(zip(contacts, (depths / sizes).tolist(), strict=True)),
        "impulse": dict(zip(contacts, run.P_N.array.sum(axis=0).tolist(), strict=True)),
        "peak_force": dict(zip(contacts, largest_forces(run).tolist(), strict=True)),
        "window_force": dict(zip(contacts, forces.max(axis=0).tolist(), strict=True)),
        "impacts": len(impacts(run, threshold)), "first_impact": float(first["start"]),
        "first_impulse": first_impulse(run), "first_approach": float(first["approach"]),
        "first_separation": float(first["separation"]), "contact_share": contact_share(run), "loss": dissipated(run),
        "steps": len(run.t) - 1, "evaluations": evaluations(run),
    }  # fmt: skip
