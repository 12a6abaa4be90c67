"""Points of the long-term motion over one parameter of a mechanism, as collected by `bifurcation`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.poincare import DIRECTIONS, Section, poincare
from nonsmooth.exceptions import InputError
from nonsmooth.model.system import System
from nonsmooth.run.simulate import simulate
from nonsmooth.step.control import StepControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import check_known
from nonsmooth.studies.bifurcation import periodic_section
from nonsmooth.studies.sweep import Mechanism, system_of, unit_of_varied


@dataclass(frozen=True)
class PerPeriod:
    """One point per period of the drive.

    Parameters
    ----------
    period : [s], or the name of a parameter or argument
        A name is that of the drive's speed [rad/s], whose revolution is the period.
    steps : int, or Landing or ErrorControl
        Constant steps per period, so that points are rows; with other steps they are interpolated.
    transient, points : int, numbers of omitted and of recorded periods
    """

    period: float | str
    steps: int | StepControl
    transient: int
    points: int

    def __post_init__(self) -> None:
        if not isinstance(self.period, str) and not (np.isfinite(self.period) and self.period > 0):
            raise InputError(f"period must be a positive number of seconds, got {self.period!r}.")
        if not (self.transient >= 0 and self.points >= 1):
            raise InputError(f"points must be at least 1 and transient 0, got {self.points!r}, {self.transient!r}.")
        if isinstance(self.steps, int) and self.steps < 1:
            raise InputError(f"steps must be at least 1 per period, got {self.steps!r}.")

    def take(
        self, system: System, stepper: Stepper, parameters: Mapping[str, float], known: Mapping[str, Any]
    ) -> Section:
        """The points of one run."""
        return periodic_section(
            system, stepper, period=self._seconds(known), steps=self.steps, transient=self.transient,
            points=self.points, parameters=parameters,
        )  # fmt: skip

    def _seconds(self, known: Mapping[str, Any]) -> float:
        if not isinstance(self.period, str):
            return float(self.period)
        speed = known.get(self.period)
        if not isinstance(speed, int | float) or isinstance(speed, bool):
            numbers = [name for name, value in known.items() if isinstance(value, int | float)]
            raise InputError(
                f'The drive\'s speed "{self.period}" is no parameter or argument with a number; there are '
                f"{', '.join(numbers)}."
            )
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
        if self.direction not in DIRECTIONS:
            raise InputError(f"direction must be one of {', '.join(DIRECTIONS)}, got {self.direction!r}.")
        if not 0 <= self.after < self.t_end:
            raise InputError(f"after must lie between 0 and the end, {self.t_end:g} s, got {self.after:g}.")

    def take(
        self, system: System, stepper: Stepper, parameters: Mapping[str, float], known: Mapping[str, Any]
    ) -> Section:
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
    >>> found = bifurcation(run, [2.0, 3.0], **run.labels(2.0), workers=1)
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
        self._built: tuple[Any, System] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_built": None}

    def __call__(self, value: float) -> Array:
        """The points of a value."""
        system, changed = self._system(value), self._changed(value)
        found = self.section.take(system, self.stepper, changed, self._known(value, system))
        kind, name = self._column(system)
        return np.asarray(getattr(found, kind)[name])

    def labels(self, value: float) -> dict[str, str]:
        """What values and points are, and their units, for `bifurcation`; checks all names.

        Raises
        ------
        InputError
            For a parameter, an argument or a quantity that does not exist.
        """
        system = self._system(value)
        check_known(system, self._changed(value))
        kind, name = self._column(system)
        names, units = (getattr(system.names, what) for what in (kind, f"{kind}_units"))
        unit = unit_of_varied(self.mechanism, system, {**self.arguments, self.varied: value}, self.varied)
        if isinstance(self.section, PerPeriod):
            self.section._seconds(self._known(value, system))
        return {
            "parameter": self.varied, "unit": unit, "quantity": name if kind == "q" else f"velocity of {name}",
            "quantity_unit": units[names.index(name)],
        }  # fmt: skip

    def _system(self, value: float) -> System:
        key = None if "." in self.varied else value
        if self._built is None or self._built[0] != key:
            arguments = dict(self.arguments) | ({} if key is None else {self.varied: value})
            self._built = key, system_of(self.mechanism, arguments)
        return self._built[1]

    def _changed(self, value: float) -> dict[str, float]:
        return dict(self.parameters) | ({self.varied: value} if "." in self.varied else {})

    def _known(self, value: float, system: System) -> dict[str, Any]:
        """Numbers by name: of the function, its defaults included, and of the system."""
        own: dict[str, Any] = {}
        if callable(self.mechanism):
            own = {one.name: one.default for one in inspect.signature(self.mechanism).parameters.values()}
        return own | dict(system.parameters) | dict(self.parameters) | dict(self.arguments) | {self.varied: value}

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
