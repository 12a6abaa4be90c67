"""Bifurcation diagrams: the long-term motion of a mechanism over a parameter."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.poincare import Section, stroboscope
from nonsmooth.exceptions import InputError, ModelError, SimulationFailed, SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, telling, whom
from nonsmooth.run.simulate import simulate
from nonsmooth.settings import floats, is_number, shown
from nonsmooth.step.control import ConstantStep, ErrorControl, Landing, StepControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import check_count, check_function, check_processes
from nonsmooth.studies.arguments import numbers as numbers_of
from nonsmooth.studies.files import Result, variable
from nonsmooth.studies.kept import padded
from nonsmooth.studies.workers import outcomes

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, eq=False, repr=False)
class Bifurcation(Result):
    """Points of a section of the long-run motion for each value of a parameter.

    Parameters
    ----------
    parameter, unit : what was varied
    quantity, quantity_unit : the quantity of the points
    values : of the parameter (n,)
    points : for each value an array of points; empty where the run failed
    failures : message of each value that failed
    seconds : computing time of each value (n,) [s]; `wall_seconds` is that of all together
    """

    parameter: str
    unit: str
    quantity: str
    quantity_unit: str
    values: Array
    points: tuple[Array, ...]
    seconds: Array
    wall_seconds: float
    failures: Mapping[float, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"<Bifurcation of {self.quantity} over {self.parameter}: {len(self.values)} values{failed}, "
            f"{sum(map(len, self.points))} points, {self.wall_seconds:.3g} s>"
        )

    def periods(self, tolerance: float, most: int | None = None) -> Array:
        """Period of each section in points, within `tolerance` (n,); 0 if it is not periodic.

        Parameters
        ----------
        tolerance : in `quantity_unit`
        most : longest period considered; a quarter of the points by default
        """
        found = np.zeros(len(self.values), int)
        for i, points in enumerate(self.points):
            longest = len(points) // 4 if most is None else min(most, len(points) - 1)
            for k in range(1, longest + 1):
                if np.all(np.abs(points[k:] - points[:-k]) <= tolerance):
                    found[i] = k
                    break
        return found

    def to_dataset(self) -> xarray.Dataset:
        """Points as a table over values and order in time, filled with NaN if a value has fewer than others."""
        import xarray

        data = {
            "points": variable(("value", "point"), padded(self.points), self.quantity_unit, self.quantity),
            "seconds": variable("value", self.seconds, "s", "time of computing"),
            "failure": variable("value", [self.failures.get(float(x), "") for x in self.values]),
        }
        coordinates = {"value": variable("value", self.values, self.unit, self.parameter)}
        facts = {"Conventions": "nonsmooth-bifurcation-1", "wall_seconds": self.wall_seconds}
        return xarray.Dataset(data, coordinates, facts)


@telling
def bifurcation(
    section: Callable[[float], Array],
    values: Sequence[float] | Array,
    *,
    parameter: str,
    unit: str,
    quantity: str,
    quantity_unit: str,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress = None,
) -> Bifurcation:
    """Collect the points of `section` for each value of a parameter.

    Parameters
    ----------
    section
        Value -> points (k,) of one quantity after the transient: builds or changes the mechanism, runs it, and takes a
        section, for instance by `periodic_section`.
    values : of the parameter
    parameter, unit, quantity, quantity_unit : names and units of values and points, for files and figures
    workers : int, optional
        Number of processes; 1 for this process only, one per core by default.
    scheduler : str, optional
        Address of a Dask scheduler, instead of local processes.
    progress : callable (share), or True for words on one line, optional

    Returns
    -------
    Bifurcation
        A value whose run fails has no points, and its message in `failures`.

    Raises
    ------
    InputError
        For values that are not finite, a section that cannot be pickled, or points that are not a list of numbers.

    >>> def orbit(r):
    ...     x = [0.3]
    ...     for _ in range(300):
    ...         x.append(r * x[-1] * (1 - x[-1]))
    ...     return np.array(x[-32:])
    >>> labels = {"parameter": "r", "unit": "-", "quantity": "x", "quantity_unit": "-", "workers": 1}
    >>> bifurcation(orbit, [2.8, 3.2, 3.5, 3.9], **labels).periods(1e-6)
    array([1, 2, 4, 0])
    """
    check_function("section", section)
    check_processes(workers, scheduler, progress)
    numbers = numbers_of("values", values)
    clock = time.perf_counter()
    results: dict[int, tuple[Array, float, str]] = {}
    tasks = [(value,) for value in numbers.tolist()]
    for i, result in outcomes(functools.partial(_one, section), tasks, workers=workers, scheduler=scheduler):
        results[i] = result
        whom(progress)(len(results) / len(numbers))
    found, seconds, failures = zip(*(results[i] for i in range(len(numbers))), strict=True)
    return Bifurcation(
        parameter=parameter,
        unit=unit,
        quantity=quantity,
        quantity_unit=quantity_unit,
        values=numbers,
        points=found,
        seconds=np.array(seconds),
        wall_seconds=time.perf_counter() - clock,
        failures={float(x): failure for x, failure in zip(numbers, failures, strict=True) if failure},
    )


def periodic_section(
    system: System,
    stepper: Stepper,
    *,
    period: float,
    steps: int | StepControl,
    transient: int,
    points: int,
    state: State | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Section:
    """States once per period of the drive after a transient.

    Parameters
    ----------
    period : [s], of the drive
    steps : int, or Landing or ErrorControl
        Constant steps per period: rows coincide with whole periods, and only those are kept; with other steps points
        are interpolated between rows.
    transient : int, number of omitted periods
    points : int, number of recorded periods
    state, parameters : as of `nonsmooth.simulate`
    """
    if not (is_number(period) and period > 0.0):
        raise InputError(f"period must be a positive number of seconds, got {shown(period)}.")
    check_count("points", points)
    check_count("transient", transient, 0)
    if isinstance(steps, ConstantStep | Landing | ErrorControl):
        dt: StepControl = steps
        record = 1
    else:
        check_count("steps", steps)
        dt, record = ConstantStep(period / steps), steps
    first = system.start.t if state is None else state.t
    t_end = first + (transient + points) * period
    run = simulate(system, stepper, t_end=t_end, dt=dt, state=state, parameters=parameters, record=record)
    return stroboscope(run, period, after=first + (transient + 0.5) * period)


def _one(section: Callable[[float], Array], value: float) -> tuple[Array, float, str]:
    """The points of one value, the time that they take [s], and why there are none."""
    clock = time.perf_counter()
    try:
        found = section(value)
    except (ModelError, SimulationFailed, SolverFailed) as error:
        return np.zeros(0), time.perf_counter() - clock, str(error) or type(error).__name__
    try:
        points = floats(found)
    except (TypeError, ValueError):
        raise InputError(f"section must return a list of numbers, got {shown(found)} at {value:g}.") from None
    if points.ndim != 1:
        raise InputError(f"section must return a list of numbers, got an array of shape {points.shape} at {value:g}.")
    return points, time.perf_counter() - clock, ""
