"""Bifurcation diagrams: points of the long-term motion of a mechanism over a parameter."""

from __future__ import annotations

import functools
import inspect
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.long_term import DIRECTIONS, Exponent, Section, largest_exponent, poincare, stroboscope
from nonsmooth.exceptions import InputError, ModelError, SimulationFailed, SolverFailed
from nonsmooth.model.closing import closed_start
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, handing_over, telling, whom
from nonsmooth.run.simulate import simulate
from nonsmooth.settings import floats, is_number, is_one, require, shown
from nonsmooth.step.control import ConstantStep, ErrorControl, Landing, StepControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import check_count, check_known, check_processes
from nonsmooth.studies.arguments import numbers as numbers_of
from nonsmooth.studies.files import EveryRunFailed, Result, padded, variable
from nonsmooth.studies.sweep import Mechanism, system_of, unit_of_varied
from nonsmooth.studies.workers import outcomes


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
        values = f"{len(self.values)} values" + (f", {len(self.failures)} failed" if self.failures else "")
        found = f"{sum(map(len, self.points))} points, {self.wall_seconds:.3g} s"
        return f"<Bifurcation of {self.quantity} over {self.parameter}: {values}, {found}>"

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
            periods = (k for k in range(1, longest + 1) if np.all(np.abs(points[k:] - points[:-k]) <= tolerance))
            found[i] = next(periods, 0)
        return found

    def _tables(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        data = {  # points in their order in time
            "points": variable(("value", "point"), padded(self.points), self.quantity_unit, self.quantity),
            "seconds": variable("value", self.seconds, "s", "time of computing"),
            "failure": variable("value", [self.failures.get(float(x), "") for x in self.values]),
        }
        coordinates = {"value": variable("value", self.values, self.unit, self.parameter)}
        return data, coordinates, {"Conventions": "nonsmooth-bifurcation-1", "wall_seconds": self.wall_seconds}


@telling
def bifurcation(
    section: Callable[[float], Array], values: Sequence[float] | Array, *, parameter: str, unit: str, quantity: str,
    quantity_unit: str, executor: Any = None, progress: Progress = None,
) -> Bifurcation:  # fmt: skip
    """Collect the points of `section` for each value of a parameter; of one whose run fails the message.

    InputError for values that are not finite, a section that cannot be pickled, or points that are not a list of
    numbers.

    Parameters
    ----------
    section
        Value -> points (k,) of one quantity after the transient: builds or changes the mechanism, runs it, and takes a
        section, for instance by `periodic_section`.
    values : of the parameter
    parameter, unit, quantity, quantity_unit : names and units of values and points, for files and figures
    executor : optional, as for `sweep`
    progress : callable (share), or True for words on one line, optional

    >>> def orbit(r):
    ...     x = [0.3]
    ...     for _ in range(300):
    ...         x.append(r * x[-1] * (1 - x[-1]))
    ...     return np.array(x[-32:])
    >>> labels = {"parameter": "r", "unit": "-", "quantity": "x", "quantity_unit": "-", "executor": 1}
    >>> bifurcation(orbit, [2.8, 3.2, 3.5, 3.9], **labels).periods(1e-6)
    array([1, 2, 4, 0])
    """
    require(callable(section), "section must be a function", section)
    check_processes(executor, progress)
    numbers = numbers_of("values", values)
    clock, results = time.perf_counter(), dict[int, tuple[Array, float, str]]()
    tasks = [(value,) for value in numbers.tolist()]

    def finished() -> Bifurcation:
        known = sorted(results)
        found, seconds, failures = zip(*(results[i] for i in known), strict=True)
        wall, own = time.perf_counter() - clock, numbers[known]
        failed = {float(x): failure for x, failure in zip(own, failures, strict=True) if failure}
        return Bifurcation(parameter, unit, quantity, quantity_unit, own, found, np.array(seconds), wall, failed)

    remedy = "`result` of this error has them; give the other values to go on"
    with handing_over(results, len(numbers), "values", finished, remedy):
        for i, result in outcomes(functools.partial(_one, section), tasks, executor=executor):
            results[i] = result
            whom(progress)(len(results) / len(numbers))
    if all(failure for _, _, failure in results.values()):
        warnings.warn(f"all {len(numbers)} runs failed, the first: {results[0][2]}", EveryRunFailed, 3)
    return finished()


def periodic_section(
    system: System, stepper: Stepper, *, period: float, steps: int | StepControl, transient: int, points: int,
    state: State | None = None, parameters: Mapping[str, float] | None = None,
) -> Section:  # fmt: skip
    """States once per period of the drive after a transient.

    Parameters
    ----------
    period : [s], of the drive
    steps : constant steps per period, so that points are rows; or Landing or ErrorControl, between whose rows they lie
    transient, points : numbers of omitted and of recorded periods
    state, parameters : as of `nonsmooth.simulate`
    """
    require(is_number(period) and period > 0.0, "period must be a positive number of seconds", period)
    check_count("points", points)
    check_count("transient", transient, 0)
    record = 1
    if not isinstance(steps, ConstantStep | Landing | ErrorControl):
        check_count("steps", steps)
        record, steps = steps, ConstantStep(period / steps)
    if not (isinstance(system, System) and isinstance(state, State | None)):
        raise InputError(f"A section needs a System, as of build(), and a State, got {shown(system)}, {shown(state)}.")
    first = system.start.t if state is None else state.t
    t_end = first + (transient + points) * period
    run = simulate(system, stepper, t_end=t_end, dt=steps, state=state, parameters=parameters, record=record)
    return stroboscope(run, period, after=first + (transient + 0.5) * period)


def _one(section: Callable[[float], Array], value: float) -> tuple[Array, float, str]:
    """The points of one value, the time that they take [s], and the message of a run that fails."""
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


@dataclass(frozen=True)
class PerPeriod:
    """One point per period of the drive.

    Parameters
    ----------
    period : [s], or the name of a parameter or argument, the drive's speed [rad/s], whose revolution is the period
    steps : constant steps per period, so that points are rows; or Landing or ErrorControl, between whose rows they lie
    transient, points : int, numbers of omitted and of recorded periods
    """

    period: float | str
    steps: int | StepControl
    transient: int
    points: int

    def __post_init__(self) -> None:
        if not isinstance(self.period, str) and not (np.isfinite(self.period) and self.period > 0):
            raise InputError(f"period must be a positive number of seconds, got {shown(self.period)}.")
        if not (self.transient >= 0 and self.points >= 1):
            raise InputError(
                f"points must be at least 1 and transient 0, got {shown(self.points)}, {shown(self.transient)}."
            )
        if isinstance(self.steps, int) and self.steps < 1:
            raise InputError(f"steps must be at least 1 per period, got {shown(self.steps)}.")

    def take(self, system: System, stepper: Stepper, parameters: Mapping[str, float], known: dict[str, Any]) -> Section:
        """The points of one run."""
        return periodic_section(
            system, stepper, period=self.seconds(known), steps=self.steps, transient=self.transient,
            points=self.points, parameters=parameters,
        )  # fmt: skip

    def seconds(self, known: Mapping[str, Any]) -> float:
        """The period [s], by the drive's speed among known numbers where that is named."""
        if not isinstance(self.period, str):
            return float(self.period)
        speed = known.get(self.period)
        if not isinstance(speed, int | float) or isinstance(speed, bool):
            numbers = [name for name, value in known.items() if isinstance(value, int | float)]
            wrong = f'The drive\'s speed "{self.period}" is no parameter or argument with a number'
            raise InputError(f"{wrong}; there are {', '.join(numbers)}.")
        if not (np.isfinite(speed) and speed):
            raise InputError(f'The drive\'s speed "{self.period}" is {speed:g} rad/s, which has no period.')
        return float(2 * np.pi / abs(speed))


@dataclass(frozen=True)
class Crossings:
    """One point wherever a quantity crosses a value.

    Parameters
    ----------
    name, kind, value, direction, turn : as of `nonsmooth.diagnostics.poincare`, where `turn` is the period
    t_end, dt : as of `simulate`
    after : [s], earlier crossings are omitted
    """

    name: str
    value: float
    t_end: float
    dt: float | StepControl
    after: float
    kind: str = "q"
    direction: str = "rising"
    turn: float | None = None

    def __post_init__(self) -> None:
        require(is_one(self.direction, DIRECTIONS), f"direction must be one of {', '.join(DIRECTIONS)}", self.direction)
        if not 0 <= self.after < self.t_end:
            raise InputError(f"after must lie between 0 and the end, {self.t_end:g} s, got {self.after:g}.")

    def take(self, system: System, stepper: Stepper, parameters: Mapping[str, float], known: dict[str, Any]) -> Section:
        """The points of one run."""
        run = simulate(system, stepper, t_end=self.t_end, dt=self.dt, parameters=parameters)
        return poincare(
            run, self.name, self.value, kind=self.kind, direction=self.direction, period=self.turn, after=self.after
        )


@dataclass(eq=False)
class LongRun:
    """Value of a parameter -> points of one quantity after the transient.

    Parameters
    ----------
    mechanism : a system, a model, or a function that returns a model
    varied : a parameter, ``"pin.clearance"``, for which nothing is rebuilt, or an argument of the function
    quantity : a coordinate, ``"slider.x"``, or a velocity, ``"v:slider.x"``
    stepper : as of `simulate`
    section : `PerPeriod` or `Crossings`
    parameters, arguments : constant parameters of the system, and arguments of the function

    >>> import numpy as np
    >>> from nonsmooth import MoreauJean
    >>> from nonsmooth.studies import LongRun, PerPeriod, bifurcation
    >>> from nonsmooth_problems import slider_crank_revolute
    >>> section = PerPeriod("crank_speed", steps=400, transient=4, points=4)
    >>> stepper = MoreauJean(projection="combined")
    >>> run = LongRun(slider_crank_revolute, "crank_speed", "slider.x", stepper, section, arguments={"gravity": 9.81})
    >>> found = bifurcation(run, [2.0, 3.0], **run.labels(2.0), executor=1)
    >>> [len(points) for points in found.points], found.unit, found.quantity_unit
    ([4, 4], 'rad/s', 'm')
    """

    mechanism: Mechanism
    varied: str
    quantity: str
    stepper: Stepper
    section: PerPeriod | Crossings
    parameters: Mapping[str, float] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._built: tuple[Any, System] | None = None  # the argument that varies, and its system

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_built": None}

    def __call__(self, value: float) -> Array:
        """The points of a value."""
        system, changed, known = self._at(value)
        found = self.section.take(system, self.stepper, changed, known)
        kind, name = self._column(system)
        return np.asarray(getattr(found, kind)[name])

    def labels(self, value: float) -> dict[str, str]:
        """Names and units of values and points, for `bifurcation`; checks all names.

        InputError for a parameter, an argument or a quantity that does not exist.
        """
        system, changed, known = self._at(value)
        check_known(system, changed)
        kind, name = self._column(system)
        names, units = (getattr(system.names, what) for what in (kind, f"{kind}_units"))
        unit = unit_of_varied(self.mechanism, system, {**self.arguments, self.varied: value}, self.varied)
        if isinstance(self.section, PerPeriod):
            self.section.seconds(known)
        return {
            "parameter": self.varied, "unit": unit, "quantity": name if kind == "q" else f"velocity of {name}",
            "quantity_unit": units[names.index(name)],
        }  # fmt: skip

    def _at(self, value: float) -> tuple[System, dict[str, float], dict[str, Any]]:
        """The system, its changed parameters, and numbers by name: of the function and of the system."""
        own = {self.varied: value}
        argument, changed = ({}, own) if "." in self.varied else (own, {})
        if self._built is None or self._built[0] != argument:
            self._built = argument, system_of(self.mechanism, {**self.arguments, **argument})
        system, known = self._built[1], dict[str, Any]()
        if callable(self.mechanism):
            known = {one.name: one.default for one in inspect.signature(self.mechanism).parameters.values()}
        known |= {**system.parameters, **self.parameters, **self.arguments, **own}
        return system, {**self.parameters, **changed}, known

    def _column(self, system: System) -> tuple[str, str]:
        kind, colon, name = self.quantity.partition(":")
        kind, name = (kind, name) if colon else ("q", kind)
        names = system.names.q if kind == "q" else system.names.v if kind == "v" else ()
        if name not in names:
            raise InputError(
                f'There is no quantity "{self.quantity}": write a coordinate, {", ".join(system.names.q)}, or a '
                f"velocity, v:{system.names.v[0]}."
            )
        return kind, name


@telling
def lyapunov(
    system: System, stepper: Stepper, *, interval: float, intervals: int, dt: StepControl, size: float = 1e-7,
    transient: int = 0, state: State | None = None, parameters: Mapping[str, float] | None = None, seed: int = 0,
    progress: Progress = None,
) -> Exponent:  # fmt: skip
    """Largest Lyapunov exponent [1/s] from two neighbouring runs; see `nonsmooth.diagnostics.largest_exponent`.

    The distance of two states is ``sqrt(dv' M dv + (2 pi / interval)^2 du' M du)`` divided by the same for unit
    velocities, with the difference of coordinates as a displacement, dq = B(q) du: in the plane du = dq. The exponent
    does not depend on it. The first neighbour lies in a random direction that satisfies the joints.

    Neighbouring motions impact at times that differ by about their distance divided by their velocity. Steps must
    resolve this difference, which determines the growth; this requires `Landing`, `EventDriven` or compliant contact.
    With constant steps both impact in the same step, and the growth is not that of the mechanism. InputError for a
    constant step, or invalid numbers; SimulationFailed if a run fails.

    Parameters
    ----------
    system, stepper, state, parameters : as of `nonsmooth.simulate`
    interval : [s], between two renormalisations; a period of the drive, if there is one
    intervals : int, at least 32
    dt : Landing or ErrorControl
    size : [-], > 0, distance of the neighbours: m and rad and, with the mass's weight, m/s
    transient : int, number of omitted initial intervals
    seed : int, of the first direction
    progress : callable (share), or True for words on one line, optional
    """
    if isinstance(dt, (Real, ConstantStep)):
        raise InputError(
            "A Lyapunov exponent needs impacts at their own times, which a constant step rounds to its grid; "
            "give dt=Landing(...) or ErrorControl(...)."
        )
    p, start = system.parameter_vector(parameters), system.start if state is None else state
    M = system.numeric.M(start.q, p)[0]
    M = M / np.trace(M) * system.nv
    rate = 2 * np.pi / interval
    random = np.random.default_rng(seed)
    done = 0

    def distance(a: State, b: State) -> float:
        u, v = b.q - a.q, b.v - a.v
        if system.dimension == 3:  # the displacement u with b.q - a.q = B(q) u, to first order
            u = np.asarray(np.linalg.lstsq(system.numeric.B(a.q)[0], u, rcond=None)[0], dtype=np.float64)
        return float(np.sqrt(v @ M @ v + rate**2 * (u @ M @ u)))

    def neighbour(a: State, b: State | None, wanted: float) -> State:
        if b is None:
            u, v = random.standard_normal((2, system.nv))
            moved = u if system.dimension == 2 else system.numeric.B(a.q)[0] @ u
            b = closed_start(system, replace(a, q=a.q + wanted / rate * moved, v=a.v + wanted * v), p)
        share = wanted / distance(a, b)
        return replace(b, q=a.q + share * (b.q - a.q), v=a.v + share * (b.v - a.v))

    def flow(a: State) -> State:
        nonlocal done
        run = simulate(system, stepper, t_end=a.t + interval, dt=dt, state=a, parameters=parameters)
        done += 1
        whom(progress)(done / (2 * (transient + intervals)))
        return run.end

    return largest_exponent(
        flow, start, neighbour, distance, interval=interval, intervals=intervals, size=size, transient=transient
    )  # fmt: skip
