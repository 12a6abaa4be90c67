"""Outputs of products at the two levels of a tolerance study."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.system import System
from nonsmooth.progress import Progress
from nonsmooth.settings import shown
from nonsmooth.step.control import StepControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import mapping
from nonsmooth.studies.designs import Design
from nonsmooth.studies.kinematic import Kinematics
from nonsmooth.studies.sweep import HALF, Mechanism, sweep, system_of
from nonsmooth.trajectory.verdict import DEEP

LEVELS = ("dynamic", "kinematic")
#: the metric of both levels, followed by a coordinate
DEVIATION = "deviation:"


def name_of(metric: Any) -> str:
    """A metric in words: its name, or that of its function."""
    return metric if isinstance(metric, str) else getattr(metric, "__name__", "output")


def deviating(metric: Any) -> str:
    """The coordinate of a metric of the kinematic level; InputError for another metric."""
    if not (isinstance(metric, str) and metric.startswith(DEVIATION)):
        raise InputError(
            f'The metric of the kinematic level is the deviation of a coordinate, as "{DEVIATION}slider.x", got '
            f"{shown(metric)}; others are for the dynamic level."
        )
    return metric.removeprefix(DEVIATION)


@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs of products (n,), NaN for those that failed; where they have verdicts, which are not accurate.

    `reason` is the sentence of the first run that failed.
    """

    values: Array
    unit: str
    doubtful: NDArray[np.bool_] | None = None
    coarse: Array | None = None
    reason: str = ""


class KinematicLevel:
    """Deviations of a coordinate by `Kinematics`."""

    def __init__(
        self, mechanism: Mechanism, stepper: Any, metric: Any, *, t_end: float | None, dt: Any,
        pose: Mapping[str, Any] | None, directions: Mapping[str, Any] | None, verdict: bool,
        parameters: Mapping[str, Any] | None, arguments: Mapping[str, Any] | None, output: Any,
    ) -> None:  # fmt: skip
        given = {"stepper": stepper, "dt": dt, "verdict": verdict or None, "output": output}
        for name, value in given.items():
            if value is not None:
                raise InputError(f"The kinematic level has no runs, so that {name} has no effect; leave it out.")
        system = system_of(mechanism, mapping("arguments", arguments))
        self.kinematics = Kinematics(
            system, deviating(metric), pose=pose, t=None if pose else t_end, directions=directions,
            parameters=parameters,
        )  # fmt: skip
        names = self.kinematics.system.names
        self.unit = names.q_units[names.q.index(self.kinematics.coordinate)]

    def outputs(self, names: Sequence[str], values: Array, how: str) -> Outputs:
        return Outputs(self.plain(names)(values), self.unit)

    def plain(self, names: Sequence[str]) -> Callable[[Array], Array]:
        """Inputs (n, k) -> outputs (n,)."""
        return lambda values: np.max(np.abs(self.kinematics.deviations(names, values)), axis=1)

    def signed(self, names: Sequence[str]) -> Callable[[Array], Array]:
        """Inputs (n, k) -> signed outputs (n, m), smooth."""
        return lambda values: self.kinematics.deviations(names, values)

    def bands(self, distributions: Mapping[str, Any]) -> dict[str, float]:
        """Half widths of the output to first order."""
        return self.kinematics.bands(distributions)


class DynamicLevel:
    """Metrics of runs, each a second time with half the step on request."""

    def __init__(
        self, mechanism: Mechanism, stepper: Stepper | None, metric: Any, *, limit: float, t_end: float | None,
        dt: float | StepControl | None, verdict: bool, accuracy: float, parameters: Mapping[str, Any] | None,
        arguments: Mapping[str, Any] | None, output: str | os.PathLike[str] | None, workers: int | None,
        scheduler: str | None, progress: Progress,
    ) -> None:  # fmt: skip
        if t_end is None:
            raise InputError("The dynamic level needs t_end, the end of the runs [s].")
        self.mechanism, self.stepper, self.limit, self.accuracy = mechanism, stepper, limit, accuracy
        self.dt, self.verdict, self.output = dt, verdict, output
        self.arguments = mapping("arguments", arguments)
        self.parameters = mapping("parameters", parameters)
        self.nominal: float | None = None
        self.metric = metric
        if isinstance(metric, str) and metric.startswith(DEVIATION):
            coordinate = metric.removeprefix(DEVIATION)
            self.nominal = float(Kinematics(self.system, coordinate, t=t_end, parameters=self.parameters).nominal[0])
            self.metric = f"final:{coordinate}"
        self.common: dict[str, Any] = {
            "t_end": t_end, "parameters": self.parameters, "arguments": arguments, "workers": workers,
            "scheduler": scheduler, "progress": progress,
        }  # fmt: skip

    @cached_property
    def system(self) -> System:
        """The mechanism, as far as it can be built without what varies."""
        return system_of(self.mechanism, self.arguments)

    def outputs(self, names: Sequence[str], values: Array, how: str) -> Outputs:
        design = Design(tuple(names), values, (), how)
        metrics: dict[str, Any] = {"output": self.metric}
        if not self.verdict:
            found, unit, reason = self._swept(design, metrics, self.dt, self.output)
            return Outputs(found["output"], unit, reason=reason)
        if self.dt is None:  # each run is compared with finer ones until it is accurate, and says so
            errors = {"position": "position-error", "force": "force-error"}
            found, unit, reason = self._swept(design, metrics | errors, None, self.output)
            wrong = np.any([~(found[name] <= self.accuracy) for name in errors], axis=0)
            return Outputs(found["output"], unit, wrong & np.isfinite(found["output"]), reason=reason)
        if not self.system.compliant and self.system.nc:
            metrics["overlap"] = "gap-violation"
        found, unit, reason = self._swept(design, metrics, self.dt, self.output, halved=True)
        lost = np.full(len(values), np.nan)
        coarse, fine = found.get("output", lost), found.get(f"output{HALF}", lost)
        doubtful = ~(np.abs(fine - coarse) <= self.accuracy * abs(self.limit))
        if "overlap" in metrics:
            doubtful |= found.get(f"overlap{HALF}", lost) > DEEP * self._smallest(names, values)
        doubtful &= np.isfinite(fine) | np.isfinite(coarse)
        return Outputs(fine, unit, doubtful, coarse, reason)

    def plain(self, names: Sequence[str], how: str = "sensitivity", output: Any = None) -> Callable[[Array], Array]:
        """Inputs (n, k) -> outputs (n,), all of which must be known."""

        def of(values: Array) -> Array:
            design = Design(tuple(names), values, (), how)
            found, _, reason = self._swept(design, {"output": self.metric}, self.dt, output)
            failed = int(np.isnan(found["output"]).sum())
            if failed:
                why = f"failed: {reason}" if reason else "gave what is no number."
                raise InputError(f"There are no variances, since {failed} of {len(values)} runs {why}")
            return found["output"]

        return of

    def signed(self, names: Sequence[str]) -> Callable[[Array], Array]:
        raise InputError('Probabilities of failure by these methods are for level="kinematic".')

    def bands(self, distributions: Mapping[str, Any]) -> dict[str, float]:
        return {}

    def _smallest(self, names: Sequence[str], values: Array) -> Array:
        """Smallest clearance of each product (n,) [m]."""
        own = {**self.system.parameters, **self.parameters}
        joints = [f"{one.name}.clearance" for one in self.system.elements if isinstance(one, Clearance)]
        columns = [
            values[:, list(names).index(one)] if one in names else np.full(len(values), own[one]) for one in joints
        ]
        return np.min(columns, axis=0) if columns else np.full(len(values), np.inf)

    def _swept(
        self, design: Design, metrics: Mapping[str, Any], dt: Any, output: Any, halved: bool = False
    ) -> tuple[dict[str, Array], str, str]:
        """Numbers by metric, the unit of the output, and why the first run failed that did."""
        found = sweep(
            self.mechanism, self.stepper, design, dt=dt, metrics=metrics, output=output, halved=halved, **self.common
        )
        outputs = [name for name in ("output", f"output{HALF}") if name in found]
        if not outputs or any(found[name].ndim != 1 for name in outputs):
            messages = sorted(set(found["message"].values))
            raise InputError(f"The metric gives no number, or every run failed: {messages[-1] or self.metric!r}")
        known = [f"{name}{suffix}" for name in metrics for suffix in ("", HALF)]
        columns = {name: np.asarray(found[name].values, dtype=float) for name in known if name in found}
        if self.nominal is not None:
            columns |= {name: np.abs(columns[name] - self.nominal) for name in outputs}
        reason = next((str(message) for message in found["message"].values if message), "")
        return columns, str(found[outputs[0]].attrs.get("units", "")), reason
