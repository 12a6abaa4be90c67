"""Cases, metrics and result of a comparison of rigid and compliant contact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import contact_intervals
from nonsmooth.diagnostics.contacts import INTERVALS
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.run.arguments import check_stepper
from nonsmooth.settings import Called, shown
from nonsmooth.step.control import StepControl, step_control
from nonsmooth.studies.files import Result, doubts, variable
from nonsmooth.studies.motions import Motion
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    import xarray

    from nonsmooth.step.scheme import Stepper

#: points of the time grid on which motions are compared, in addition to their rows
GRID = 2000
#: metric -> unit and meaning
METRICS = {
    "verdict": ("-", "whether the run can be trusted, by the accurate solution with its own contact law"),
    "position_error": ("-", "largest difference of a coordinate from that solution, over the smallest clearance"),
    "force_error": ("-", "largest difference of a contact's peak force from it, over the largest peak force"),
    "distance": ("-", "largest mean deviation of a coordinate from the reference, relative to its range"),
    "deviation": ("m or rad", "mean deviation of each coordinate from the reference"),
    "own_error": ("-", "distance to the accurate solution with the case's own contact law"),
    "penetration": ("m", "deepest overlap of two surfaces"),
    "impulse": ("N s", "normal impulse of each contact"),
    "peak_force": ("N", "largest mean force of a step, without rigid impacts"),
    "window_force": ("N", "largest mean force in a window, rigid impacts included"),
    "impacts": ("-", "contacts that begin faster than the threshold"),
    "first_impact": ("s", "when the first contact begins"),
    "first_impulse": ("N s", "impulse of the first contact, if it ends"),
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


@dataclass(frozen=True)
class Case(metaclass=Called):
    """Contact law, stepper and step of a run.

    Parameters
    ----------
    label : its name in tables and figures
    contact : Rigid or Compliant
    stepper : a stepper that takes this contact
    dt : [s], Landing or ErrorControl
    parameters : mapping, optional
        Parameters to change, by name.
    exact : optional
        The exact solution of this case, an object with ``sample(t, side)`` and ``events``.
    """

    label: str
    contact: Rigid | Compliant
    stepper: Stepper
    dt: float | StepControl
    parameters: Mapping[str, float] | None = None
    exact: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label:
            raise InputError("A case needs a label, its name in tables and figures.")
        if not isinstance(self.contact, Rigid | Compliant):
            raise InputError(
                f'Case "{self.label}": contact must be Rigid(...) or Compliant(...), got {self.contact!r}.'
            )
        step_control(self.dt)
        check_stepper(self.stepper)


def checked_cases(cases: Any, study: str) -> tuple[Case, ...]:
    """The cases of a study, at least one, with different labels; InputError for anything else."""
    if isinstance(cases, str) or not isinstance(cases, Iterable) or not all(isinstance(one, Case) for one in cases):
        raise InputError(f"cases must be a list of Case(...), got {shown(cases)}.")
    labels = [case.label for case in cases]
    if not labels:
        raise InputError(f"{study} needs at least one Case.")
    if len(set(labels)) < len(labels):
        raise InputError(f"Two cases have one label: {', '.join(labels)}; give each its own.")
    return tuple(cases)


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
    settings : settings: end, target, windows, thresholds, and the origin of the accurate solutions
    failed : cases left out because their run, or their accurate solution, ended early, with the reason
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
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(case.label for case in self.cases)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.labels)}; against {self.reference}; print it for its table>"

    def __str__(self) -> str:
        """The table that `nonsmooth compare` prints."""
        cells = [["", *self.labels], *([title, *map(_short, values)] for title, values in self.lines())]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([*table, *self.remarks()])

    def remarks(self) -> list[str]:
        """What the table says of runs that are not accurate, and of those that ended early."""
        said = doubts({label: run.verdict for label, run in self.runs.items()})
        return [*said, *(f"{label}: left out, it {reason}" for label, reason in self.failed.items())]

    def lines(self) -> list[tuple[str, list[Any]]]:
        """Main rows of the table, a number per case; of contacts only the one with the largest impulse in the
        reference."""
        rows = [self.table[label] for label in self.labels]
        contact = max(rows[0]["impulse"], key=lambda key: self.table[self.reference]["impulse"][key])
        window = self.edges[1] - self.edges[0]
        target = self.settings["target of the own error [-]"]
        lines: list[tuple[str, list[Any]]] = [("verdict", [row["verdict"] for row in rows])]
        lines += [
            (f"{label} [{METRICS[metric][0]}]", [row[metric] for row in rows])
            for metric, label in (
                ("distance", "distance to the reference"), ("own_error", "own error"),
                ("position_error", "  largest, over the clearance"), ("force_error", "  of peak forces"),
                ("penetration", "deepest overlap"), ("impacts", "impacts"), ("first_impact", "first impact"),
                ("first_approach", "  speed of approach"), ("first_separation", "  speed of separation"),
                ("first_impulse", "  impulse"),
            )
        ]  # fmt: skip
        lines += [
            (f"{contact}: impulse [N s]", [row["impulse"][contact] for row in rows]),
            (f"  largest mean force over {window:.3g} s [N]", [row["window_force"][contact] for row in rows]),
            ("  share of time in contact [-]", [row["contact_share"][contact] for row in rows]),
            ("open or closed as the reference [-]", [row["agreement"] for row in rows]),
        ]
        lost = [(f"energy lost, {cause} [J]", [row["loss"][cause] for row in rows]) for cause in rows[0]["loss"]]
        lines += [(title, values) for title, values in lost if any(values)]
        lines += [("time of the run [s]", [row["wall"] for row in rows]), ("  steps", [row["steps"] for row in rows])]
        if target > 0:
            lines += [
                (f"at own error {target:g}: time [s]", [row["equal_error"]["wall"] for row in rows]),
                ("  steps", [row["equal_error"]["steps"] for row in rows]),
                ("  evaluations", [row["equal_error"]["evaluations"] for row in rows]),
            ]
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """One flat mapping per case: ``{"case": label, "distance": ..., "impulse.guide.left_lower": ...}``."""
        return [{"case": label} | _flat(self.table[label]) for label in self.labels]

    def to_dataset(self) -> xarray.Dataset:
        """Everything as an `xarray.Dataset`: metrics by case, motions and impulses on a grid, all contact intervals.

        Units and meanings are attributes.
        """
        import xarray

        first = self.runs[self.labels[0]]
        t = np.linspace(self.edges[0], self.edges[-1], GRID // 2 + 1)
        moving = [self.truth, *(Motion.of_run(run) for run in self.runs.values())]
        names = {
            "case": self.labels, "other": self.labels, "motion": ["reference", *self.labels],
            "coordinate": first.q.names, "contact": first.gap.names, "cause": list(self.table[self.labels[0]]["loss"]),
        }  # fmt: skip
        coordinates: dict[str, Any] = {name: (name, _strings(values)) for name, values in names.items()}
        coordinates["unit"] = variable("coordinate", first.q.unit_list)
        coordinates["time"] = variable("time", t, "s")
        coordinates["window_start"] = variable("window", self.edges[:-1], "s")
        coordinates["window_end"] = variable("window", self.edges[1:], "s")
        data: dict[str, Any] = {}
        for metric, (unit, meaning) in METRICS.items():
            values = [self.table[label][metric] for label in self.labels]
            if metric == "equal_error":
                for name in ("error", "wall", "steps", "evaluations"):
                    numbers = np.array([value[name] for value in values], float)
                    own = "s" if name == "wall" else unit
                    data[f"equal_error_{name}"] = variable("case", numbers, own, meaning)
                data["equal_error_setting"] = variable("case", [value["setting"] for value in values], unit, meaning)
            elif isinstance(values[0], Mapping):
                over = {"deviation": "coordinate", "loss": "cause"}.get(metric, "contact")
                table = np.array([list(value.values()) for value in values], float)
                data[metric] = variable(("case", over), table, unit, meaning)
            else:
                kind = None if isinstance(values[0], str) else float
                data[metric] = variable("case", np.array(values, kind), unit, meaning)
        data["between"] = variable(("case", "other"), self.between, "-", "distance of two cases")
        data["modes"] = variable(("case", "other"), self.modes, "-", "agreement of contact modes")
        data["force"] = variable(("case", "window", "contact"), self.forces, "N", "mean normal force in each window")
        data["position"] = variable(("motion", "time", "coordinate"), [one.positions(t) for one in moving], "m or rad")
        data["impulse_so_far"] = variable(
            ("motion", "time", "contact"), [one.impulses(t) for one in moving], "N s", "normal impulse since the start"
        )
        touches = {label: contact_intervals(run) for label, run in self.runs.items()}
        data["touch_case"] = ("touch", _strings([label for label, rows in touches.items() for _ in rows]))
        for name, unit in INTERVALS.items():
            column = np.concatenate([rows[name] for rows in touches.values()])
            data[f"touch_{name}"] = ("touch", column if unit else _strings(column), {"units": unit or "-"})
        data["verdict_text"] = variable("case", [str(run.verdict) for run in self.runs.values()])
        facts = {"title": "rigid and compliant contact compared", "reference": self.reference}
        facts |= (
            {"left out": "; ".join(f"{label} {reason}" for label, reason in self.failed.items())} if self.failed else {}
        )
        return xarray.Dataset(data, coordinates, facts | {name: str(value) for name, value in self.settings.items()})


def _short(value: float | str) -> str:
    if isinstance(value, int | str):
        return str(value)
    return f"{value:.4g}" if np.isfinite(value) else "-"


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        key = f"{prefix}{name}"
        flat |= _flat(value, f"{key}.") if isinstance(value, Mapping) else {key: value}
    return flat


def _strings(values: Any) -> Any:
    return np.array([str(value) for value in values], dtype=object)
