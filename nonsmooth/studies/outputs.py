"""Outputs of products at the two levels of a tolerance study, and the shares of their variance due to each input."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, telling
from nonsmooth.settings import shown
from nonsmooth.step.control import StepControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import mapping
from nonsmooth.studies.designs import Design, drawn, words
from nonsmooth.studies.files import variable
from nonsmooth.studies.kinematic import Kinematics
from nonsmooth.studies.sweep import HALF, Mechanism, sweep, system_of
from nonsmooth.trajectory.dataset import texts
from nonsmooth.trajectory.verdict import DEEP

if TYPE_CHECKING:
    import xarray

LEVELS = ("dynamic", "kinematic")
DEVIATION = "deviation:"  # the metric of both levels, followed by a coordinate


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
    """Outputs of products (n,), NaN for those that failed, for the first of which `reason` says why."""

    values: Array
    unit: str
    doubtful: NDArray[np.bool_] | None = None  # which are not accurate
    coarse: Array | None = None
    reason: str = ""


class KinematicLevel:
    """Deviations of a coordinate by `Kinematics`."""

    def __init__(
        self, mechanism: Mechanism, stepper: Any, metric: Any, *, t_end: float | None, dt: Any,
        pose: Mapping[str, Any] | None, directions: Mapping[str, Any] | None, verdict: bool,
        parameters: Mapping[str, Any] | None, arguments: Mapping[str, Any] | None, output: Any,
    ) -> None:  # fmt: skip
        for name, value in {"stepper": stepper, "dt": dt, "verdict": verdict or None, "output": output}.items():
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
        return Outputs(self.plain(names, values), self.unit)

    def plain(self, names: Sequence[str], values: Array) -> Array:
        """Outputs (n,) of inputs (n, k)."""
        return np.asarray(np.max(np.abs(self.kinematics.deviations(names, values)), axis=1))


class DynamicLevel:
    """Metrics of runs, each a second time with half the step on request; `common` are other arguments of `sweep`."""

    def __init__(
        self, mechanism: Mechanism, stepper: Stepper | None, metric: Any, *, limit: float, t_end: float | None,
        dt: float | StepControl | None, verdict: bool, accuracy: float, parameters: Mapping[str, Any] | None,
        arguments: Mapping[str, Any] | None, output: str | os.PathLike[str] | None, **common: Any,
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
        self.common: dict[str, Any] = {"t_end": t_end, "parameters": self.parameters, "arguments": arguments} | common

    @cached_property
    def system(self) -> System:
        """The mechanism, as far as it can be built without what varies."""
        return system_of(self.mechanism, self.arguments)

    def outputs(self, names: Sequence[str], values: Array, how: str) -> Outputs:
        design, errors = Design(tuple(names), values, (), how), {"position": "position-error", "force": "force-error"}
        if not self.verdict:
            found, unit, reason = self._swept(design, {}, self.output)
            return Outputs(found["output"], unit, reason=reason)
        if self.dt is None:  # each run is compared with finer ones until it is accurate, and says so
            found, unit, reason = self._swept(design, errors, self.output)
            wrong = np.any([~(found[name] <= self.accuracy) for name in errors], axis=0)
            return Outputs(found["output"], unit, wrong & np.isfinite(found["output"]), reason=reason)
        overlap = {"overlap": "gap-violation"} if not self.system.compliant and self.system.nc > 0 else {}
        found, unit, reason = self._swept(design, overlap, self.output, halved=True)
        lost = np.full(len(values), np.nan)
        coarse, fine = found.get("output", lost), found.get(f"output{HALF}", lost)
        doubtful = ~(np.abs(fine - coarse) <= self.accuracy * abs(self.limit))
        if overlap:
            clearances = {**self.system.parameters, **self.parameters} | dict(zip(names, values.T, strict=True))
            smallest = np.full(len(values), np.inf)
            for joint in (one.name for one in self.system.elements if isinstance(one, Clearance)):
                smallest = np.minimum(smallest, clearances[f"{joint}.clearance"])
            doubtful |= found.get(f"overlap{HALF}", lost) > DEEP * smallest
        doubtful &= np.isfinite(fine) | np.isfinite(coarse)
        return Outputs(fine, unit, doubtful, coarse, reason)

    def plain(self, names: Sequence[str], values: Array, how: str = "sensitivity", output: Any = None) -> Array:
        """Outputs (n,) of inputs (n, k), all of which must be known."""
        found, _, reason = self._swept(Design(tuple(names), values, (), how), {}, output)
        failed = int(np.isnan(found["output"]).sum())
        if failed:
            why = f"failed: {reason}" if reason else "gave what is no number."
            raise InputError(f"There are no variances, since {failed} of {len(values)} runs {why}")
        return found["output"]

    def _swept(
        self, design: Design, others: Mapping[str, str], output: Any, halved: bool = False
    ) -> tuple[dict[str, Array], str, str]:
        """Numbers of the output and of other metrics, its unit, and why the first run failed that did."""
        metrics, options = {"output": self.metric, **others}, {"output": output, "halved": halved, **self.common}
        found = sweep(self.mechanism, self.stepper, design, dt=self.dt, metrics=metrics, **options)
        outputs = [name for name in ("output", f"output{HALF}") if name in found]
        if not outputs or any(found[name].ndim != 1 for name in outputs):
            messages = sorted(set(found["message"].values))
            raise InputError(f"The metric gives no number, or every run failed: {messages[-1] or self.metric!r}")
        known = [f"{name}{suffix}" for name in metrics for suffix in ("", HALF)]
        columns = {name: np.asarray(found[name].values, dtype=float) for name in known if name in found}
        if self.nominal is not None:
            columns |= {name: np.abs(columns[name] - self.nominal) for name in outputs}
        lost = ~np.isfinite(found[outputs[0]].values)
        reason = next((str(message) for message in found["message"].values[lost] if message), "")
        return columns, str(found[outputs[0]].attrs.get("units", "")), reason


@telling
def sensitivity(
    mechanism: Mechanism, stepper: Stepper | None, metric: str | Callable[[Any], float],
    distributions: Mapping[str, Any], *, t_end: float, dt: float | StepControl | None = None, base: int = 64,
    seed: int = 0, parameters: Mapping[str, float] | None = None, arguments: Mapping[str, Any] | None = None,
    output: str | os.PathLike[str] | None = None, executor: Any = None,
    progress: Progress = None,
) -> xarray.Dataset:  # fmt: skip
    """Fraction of an output's variance due to each input, alone and including interactions.

    ``first`` and ``total`` [-] over ``input``, and half the widths of their 95 % confidence intervals.
    InputError without SALib (extra ``sensitivity``), for a single input, or if a run fails.

    Parameters
    ----------
    mechanism, stepper, t_end, dt, parameters, arguments, output, executor, progress : as for `sweep`
    metric : a name or a function of a trajectory that gives one number, as for `tolerance`
    distributions : of at least two independent inputs, as for `sample`
    base : a power of two; ``base (k + 2)`` runs for k inputs
    seed : the same seed gives the same runs
    """
    level = DynamicLevel(
        mechanism, stepper, metric, limit=math.inf, t_end=t_end, dt=dt, verdict=False, accuracy=math.inf,
        parameters=parameters, arguments=arguments, output=output, executor=executor,
        progress=progress,
    )  # fmt: skip
    distributions = mapping("distributions", distributions)
    how = f"Saltelli, base {base}, seed {seed}: {words(distributions)}"
    outputs = partial(level.plain, tuple(distributions), how=how, output=output)
    return shares(outputs, distributions, name_of(metric), base=base, seed=seed)


def check_sensitivity(distributions: Mapping[str, Any]) -> None:
    """Raise InputError without SALib, or for a single input; also before a study whose runs come first."""
    try:
        import SALib  # noqa: F401
    except ImportError as error:
        raise InputError(f'Sensitivity needs the extra "sensitivity", pip install "nonsmooth[sensitivity]" ({error}).') from error  # noqa: E501  # fmt: skip
    if len(distributions) < 2:
        raise InputError("Sensitivity needs the distributions of two inputs at least.")


def shares(
    outputs: Callable[[Array], Array], distributions: Mapping[str, Any], what: str, *, base: int = 64, seed: int = 0
) -> xarray.Dataset:
    """Indices of `sensitivity` of a function of inputs (n, k), in the order of `distributions`, with outputs (n,)."""
    import xarray

    check_sensitivity(distributions)
    from SALib.analyze import sobol as analysis
    from SALib.sample import sobol as sampling

    if isinstance(base, bool) or not isinstance(base, int) or base < 2 or base & (base - 1):
        raise InputError(f"base must be a power of two, at least 2, got {shown(base)}.")
    names = list(distributions)
    problem = {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
    values = outputs(drawn(distributions, sampling.sample(problem, base, calc_second_order=False, seed=seed)))
    own = np.random.SeedSequence(seed)  # as a number, 0 would be none to SALib
    indices = analysis.analyze(problem, values, calc_second_order=False, seed=own)
    data = {
        "first": variable("input", indices["S1"], "-", "share of the variance by this input alone"),
        "first_confidence": variable("input", indices["S1_conf"], "-"),
        "total": variable("input", indices["ST"], "-", "share of the variance in which it takes part"),
        "total_confidence": variable("input", indices["ST_conf"], "-"),
    }
    facts = {"title": "indices of Sobol'", "output": what, "runs": len(values), "distributions": words(distributions)}
    return xarray.Dataset(data, {"input": ("input", texts(names))}, facts)
