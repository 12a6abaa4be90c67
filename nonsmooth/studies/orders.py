"""Results of `step_size`: measures over levels of steps, and fitted orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.studies.files import Result, variable

if TYPE_CHECKING:
    import xarray

#: measure -> unit and meaning; for each level the largest value of its jittered runs
MEASURES = {
    "error": ("-", "mean error over time of a gap, over the contact's clearance, of the worst contact"),
    "motion_error": ("-", "mean error over time of a coordinate, over its range, of the worst coordinate"),
    "impulse_error": ("N s", "mean error over time of the normal impulse since the start, of the worst contact"),
    "violation": ("m", "worst overlap of a gap"),
    "complementarity": ("-", "worst natural map of gaps and impulses"),
    "energy": ("J", "magnitude of what the balance of energy leaves"),
}
#: kinds of verdicts, from the best to the worst
KINDS = ("accurate", "sensitive", "not checked", "methods disagree", "not accurate", "incomplete")
#: error below which no order is fitted: round-off, and the error of the reference
FLOOR = 1e-9


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
        return {name: order(x, self.measures[name]) for name in ("error", "motion_error", "impulse_error")}

    def plain(self) -> dict[str, Any]:
        """As `nonsmooth study step-size --json` prints it."""
        named = {"landing": "dt_min", "tolerance": "rtol"}.get(self.kind)
        facts = {name: values.tolist() for name, values in self.measures.items()}
        orders = self.orders
        return (
            {"dt": self.dt.tolist()}
            | ({named: self.setting.tolist()} if named else {})
            | facts
            | {"seconds": self.seconds.tolist(), "steps": self.steps.tolist(), "failed": self.failed.tolist()}
            | {
                "order": orders["error"],
                "motion_order": orders["motion_error"],
                "reference": self.reference,
                "verdict": list(self.verdicts),
            }
        )


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

    def plain(self) -> dict[str, Any]:
        """``{label: {dt, error, violation, seconds, order, ...}}``; `Landing` over both bounds under its own label."""
        facts = {one.label: one.plain() for one in self.series}
        if self.bounds is not None:
            b = self.bounds
            facts.setdefault(b.label, {})["bounds"] = {
                name: getattr(b, name).tolist() for name in ("dt_min", "dt_max", "error", "violation", "steps")
            }
        return facts

    def to_dataset(self) -> xarray.Dataset:
        """As an `xarray.Dataset` over case and level, and over the bounds of `Landing`."""
        import xarray

        level = ("case", "level")
        data: dict[str, Any] = {
            name: variable(level, np.array([getattr(one, name) for one in self.series], float), unit, meaning)
            for name, unit, meaning in (
                ("dt", "s", "shortest step of the level, mean step of an error control"),
                ("seconds", "s", "time of the run with this step"),
                ("steps", "-", "its steps"),
                ("failed", "-", "jittered runs that failed"),
            )
        }
        for name, (unit, meaning) in MEASURES.items():
            data[name] = variable(level, np.array([one.measures[name] for one in self.series], float), unit, meaning)
        data["verdict"] = variable(level, [one.verdicts for one in self.series], "-", "of the worst run of the level")
        empty = np.full(len(self.series[0].dt), np.nan)
        for kind, name, unit in (("landing", "dt_min", "s"), ("tolerance", "rtol", "-")):
            data[name] = variable(level, [one.setting if one.kind == kind else empty for one in self.series], unit)
        for name in ("error", "motion_error", "impulse_error"):
            orders = [one.orders[name] for one in self.series]
            data[f"{name}_order"] = variable("case", orders, "-", f"fitted order of {name}")
        if self.bounds is not None:
            b = self.bounds
            over = ("bound_dt_min", "bound_dt_max")
            data |= {
                "bounds_error": variable(over, b.error, "-", MEASURES["error"][1]),
                "bounds_violation": variable(over, b.violation, "m", MEASURES["violation"][1]),
                "bounds_steps": variable(over, b.steps, "-"),
                over[0]: variable(over[0], b.dt_min, "s"),
                over[1]: variable(over[1], b.dt_max, "s"),
            }
        coordinates = {
            "case": variable("case", [one.label for one in self.series]),
            "kind": variable("case", [one.kind for one in self.series]),
            "reference": variable("case", [one.reference for one in self.series]),
        }
        facts = {name: str(value) for name, value in self.settings.items()}
        return xarray.Dataset(data, coordinates, {"title": "errors and cost over the step size"} | facts)


def order(x: Array, errors: Array) -> float:
    """p of ``error ~ x^p`` by least squares over errors above round-off; not a number for fewer than three.

    >>> order(np.array([1e-2, 1e-3, 1e-4]), np.array([1e-3, 1e-5, 1e-7]))
    2.0
    """
    known = np.isfinite(errors) & (errors > FLOOR)
    if np.count_nonzero(known) < 3:
        return float("nan")
    return round(float(np.polyfit(np.log(x[known]), np.log(errors[known]), 1)[0]), 12)
