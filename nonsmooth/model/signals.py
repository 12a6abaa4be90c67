"""Functions of time in loads and drivers: a number, a table, or a callable that is called once with symbolic time."""

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.lookup import lookup
from nonsmooth.exceptions import ModelError
from nonsmooth.quantities import InUnits, Stated, Unit, Wrong, field_units, in_unit, own_unit, parts_of
from nonsmooth.settings import floats, is_number, require, shown

Signal = float | Callable[[Any], Any]
#: see `tables_looked_up`
looks_up: ContextVar[bool] = ContextVar("looks_up", default=False)


@dataclass(frozen=True)
class TimeFunction(metaclass=InUnits):
    """Base of functions of time that are data: they can be compared, printed, and written to a file. In the units of
    their fields, ``value`` is the unit of the load or motion. Numbers may be strings with a unit, whose dimension is
    checked where the function is used: ``Ramp("900 rpm")`` is the motion of an angle."""

    #: raised for a call that cannot be meant
    misuse: ClassVar[type[ModelError]] = ModelError
    #: meaning of a value
    gives: ClassVar[Literal["number", "vector", "quaternion"]] = "number"

    def check_units(self, unit: str) -> None:
        """Raise Wrong for a string of another dimension than this function has as a load or motion in `unit`."""
        for name, declared in field_units(type(self)).items():
            for number in parts_of(getattr(self, name)):
                if isinstance(number, Stated):
                    try:
                        in_unit(number.text, own_unit(declared, unit))
                    except Wrong as error:
                        raise Wrong(f"{type(self).__name__}: {name} {error}") from None

    def __call__(self, t: Any) -> Any:
        """The value at time t: an expression of a symbol, a number of a number."""
        raise TypeError(f"{type(self).__name__} has no values.")

    def _check_finite(self, *fields: str) -> None:
        for name in fields:
            value = getattr(self, name)
            require(is_number(value), f"{type(self).__name__}: {name} must be a finite number", value, ModelError)


@dataclass(frozen=True)
class Ramp(TimeFunction):
    """Constant rate: ``start + rate t``, such as a motor with constant speed.

    Parameters
    ----------
    rate : per second
    start : at t = 0

    >>> Ramp(rate=150.0)(0.02)
    3.0
    """

    rate: Annotated[float, Unit("value/s")]
    start: Annotated[float, Unit("value")] = 0.0

    def __post_init__(self) -> None:
        self._check_finite("rate", "start")

    def __call__(self, t: Any) -> Any:
        return self.start + self.rate * t


@dataclass(frozen=True)
class Harmonic(TimeFunction):
    """``offset + amplitude sin(2 pi t / period + phase)``.

    Parameters
    ----------
    amplitude, offset : in the unit of the load or motion
    period : [s], > 0
    phase : [rad]

    >>> Harmonic(amplitude=2.0, period=0.4)(0.1)
    2.0
    """

    amplitude: Annotated[float, Unit("value")]
    period: Annotated[float, Unit("s")]
    phase: Annotated[float, Unit("rad")] = 0.0
    offset: Annotated[float, Unit("value")] = 0.0

    def __post_init__(self) -> None:
        self._check_finite("amplitude", "period", "phase", "offset")
        require(self.period > 0, "Harmonic: period must be a positive time in s", self.period, ModelError)

    def __call__(self, t: Any) -> Any:
        return self.offset + self.amplitude * ca.sin(2 * np.pi / self.period * t + self.phase)


@dataclass(frozen=True)
class FourierSignal(TimeFunction):
    """Finite Fourier series ``offset + sum_k sine_k sin(k omega t) + cosine_k cos(k omega t)``, k = 1, 2, ...

    ModelError if a number is not finite, the frequency not positive, or the amplitudes are not equally many.

    Parameters
    ----------
    omega : fundamental frequency [rad/s], > 0
    sine, cosine : amplitudes of each harmonic, equally many, in the unit of the load or motion
    offset : in this unit

    >>> FourierSignal(omega=2.0, sine=(1.0, 0.5), cosine=(0.0, 0.25))(0.0)
    0.25
    """

    omega: Annotated[float, Unit("rad/s")]
    sine: Annotated[tuple[float, ...], Unit("value")]
    cosine: Annotated[tuple[float, ...], Unit("value")]
    offset: Annotated[float, Unit("value")] = 0.0

    def __post_init__(self) -> None:
        self._check_finite("omega", "offset")
        require(self.omega > 0, "FourierSignal: omega must be a positive frequency in rad/s", self.omega, ModelError)
        lists = all(isinstance(one, tuple | list | np.ndarray) for one in (self.sine, self.cosine))
        if not lists or len(self.sine) != len(self.cosine) or not all(map(is_number, (*self.sine, *self.cosine))):
            raise ModelError(
                "FourierSignal: sine and cosine must be equally many finite numbers, got "
                f"{self.sine!r} and {self.cosine!r}."
            )

    def __call__(self, t: Any) -> Any:
        total: Any = self.offset
        for k, (a, b) in enumerate(zip(self.sine, self.cosine, strict=True), start=1):
            total = total + a * ca.sin(k * self.omega * t) + b * ca.cos(k * self.omega * t)
        return total


@dataclass(frozen=True)
class Table(TimeFunction):
    """Piecewise linear function of time through given points, constant before the first and after the last.

    ModelError if times do not increase, lengths differ, or a number is not finite.

    Parameters
    ----------
    times : [s], strictly increasing, at least two
    values : one per time

    >>> Table(times=(0.0, 1.0), values=(0.0, 50.0))(0.5)
    25.0
    """

    times: Annotated[tuple[float, ...], Unit("s")]
    values: Annotated[tuple[float, ...], Unit("value")]

    def __post_init__(self) -> None:
        times, values = checked_points("Table", self.times, self.values)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    def __call__(self, t: Any) -> Any:
        if isinstance(t, ca.SX | ca.MX):
            t, x, y = ca.fmin(ca.fmax(t, self.times[0]), self.times[-1]), self.times, self.values
            if looks_up.get():
                begin, value, slope = ca.vertsplit(lookup(x, y[:-1], np.diff(y) / np.diff(x))(t))
                return value + slope * (t - begin)
            begun = [1.0, *(t >= one for one in x[1:-1]), 0.0]
            # each part vanishes outside its interval: `casadi.pw_lin` extends steep parts, of which round-off remains
            return sum(
                ca.if_else(begun[i] - begun[i + 1], y[i] + (y[i + 1] - y[i]) / (x[i + 1] - x[i]) * (t - x[i]), 0.0)
                for i in range(len(x) - 1)
            )
        return float(np.interp(t, self.times, self.values))


@dataclass(frozen=True)
class TimeVector(TimeFunction):
    """A vector of numbers and functions of time: a force, the position of a pose; in a TOML file a list of them.

    Parameters
    ----------
    components : each a number or a callable of t [s], as `Harmonic`

    >>> TimeVector((Harmonic(0.2, period=2.0), 0.0, Ramp(0.5)))(0.5)
    (0.2, 0.0, 0.25)
    """

    components: Annotated[tuple[Signal, ...], Unit("value")]
    gives = "vector"

    def check_units(self, unit: str) -> None:
        super().check_units(unit)
        for one in self.components:
            if isinstance(one, TimeFunction):
                one.check_units(unit)

    def __post_init__(self) -> None:
        components = self.components
        if not (isinstance(components, (tuple, list)) and components):
            raise ModelError(
                f"TimeVector: components must be a list of numbers and functions, got {shown(components)}."
            )
        for i, one in enumerate(components):
            _check_signal(f"TimeVector: component {i + 1}", one, "a finite number")
        object.__setattr__(self, "components", tuple(components))

    def __call__(self, t: Any) -> Any:
        return tuple(one(t) if callable(one) else one for one in self.components)


@dataclass(frozen=True)
class AxisAngle(TimeFunction):
    """Quaternion of a rotation about a fixed axis: ``(cos(angle/2), sin(angle/2) axis/|axis|)``, scalar part first.

    Parameters
    ----------
    axis : [-], of any length but zero
    angle : number or callable of t [s] -> [rad], positive by the right-hand rule; any number of turns

    >>> [round(part, 6) for part in AxisAngle((0.0, 0.0, 2.0), Ramp(np.pi))(0.5)]
    [0.707107, 0.0, 0.0, 0.707107]
    """

    axis: tuple[float, float, float]
    angle: Annotated[Signal, Unit("rad")]
    gives = "quaternion"

    def __post_init__(self) -> None:
        parts = self.axis if isinstance(self.axis, (tuple, list)) else ()
        if not (len(parts) == 3 and all(map(is_number, parts)) and any(parts)):
            raise ModelError(
                f"AxisAngle: axis must be three finite numbers that are not all zero, got {shown(self.axis)}."
            )
        _check_signal("AxisAngle: angle", self.angle, "a finite number [rad]")
        if isinstance(self.angle, TimeFunction):
            try:
                self.angle.check_units("rad")
            except Wrong as error:
                raise ModelError(f"AxisAngle: angle: {error}.") from None
        object.__setattr__(self, "axis", tuple(map(float, parts)))

    def __call__(self, t: Any) -> Any:
        half = (self.angle(t) if callable(self.angle) else self.angle) / 2
        length = float(np.linalg.norm(self.axis))
        return (ca.cos(half), *(ca.sin(half) * (part / length) for part in self.axis))


def tables(signal: Any) -> Iterator[Table]:
    """The tables of a load or motion that is data."""
    if isinstance(signal, Table):
        yield signal
    elif isinstance(signal, TimeVector):
        for part in signal.components:
            yield from tables(part)
    elif isinstance(signal, AxisAngle):
        yield from tables(signal.angle)


def checked_points(kind: str, t: Any, y: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Times and values of a function through points; ModelError if times do not increase, or lengths differ."""
    try:
        times, values = floats(t), floats(y)
    except (TypeError, ValueError):
        raise ModelError(f"{kind}: times and values must be numbers, got {shown(t)} and {shown(y)}.") from None
    if times.ndim != 1 or times.size < 2 or times.shape != values.shape:
        raise ModelError(
            f"{kind}: times and values must be two sequences of one length >= 2, "
            f"got shapes {times.shape} and {values.shape}."
        )
    for name, array in (("times", times), ("values", values)):
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise ModelError(f"{kind}: {name} must be finite, got {name}[{bad[0]}] = {array[bad[0]]}.")
    back = np.flatnonzero(np.diff(times) <= 0)
    if back.size:
        pair = f"{times[back[0]]:g} followed by {times[back[0] + 1]:g}"
        raise ModelError(f"{kind}: times must increase strictly, got {pair}; for a jump leave a short ramp.")
    said = [one if isinstance(one, Stated) else float(one) for one in y]
    return tuple(map(float, times)), tuple(said)


def wrong_arguments(function: Callable[..., Any], count: int) -> str | None:
    """The arguments of a function, in words, if it cannot be called with `count` of them; None also if not known."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return f"({', '.join(signature.parameters)})" if signature.parameters else "no argument"
    return None


def _check_signal(what: str, value: Any, number: str) -> None:
    require(callable(value) or is_number(value), f"{what} must be {number} or a function of time", value, ModelError)
    given = wrong_arguments(value, 1) if callable(value) else None
    if given is not None:
        raise ModelError(f"{what} must be a function of time alone, but it takes {given}.")


@contextmanager
def tables_looked_up() -> Iterator[None]:
    """Within it, expressions of tables are a `lookup` each, which has no derivative by time."""
    before = looks_up.set(True)
    try:
        yield
    finally:
        looks_up.reset(before)


def evaluate_signal(element: str, field: str, signal: Callable[[Any], Any], t: ca.SX, size: int) -> ca.SX:
    """The expression of a callable load or motion at symbolic time, as a column of `size` entries."""
    expression = _expression(element, field, signal, t)
    if expression.shape != (size, 1):
        raise ModelError(f'"{element}": {field} must return {size} component(s), got {expression.numel()}.')
    return expression


def signal_values(element: str, field: str, signal: Callable[[Any], Any], t: float) -> Array:
    """The components of a callable load or motion at a time, finite or not."""
    symbol = ca.SX.sym("t")
    function = ca.Function("signal", [symbol], [ca.densify(_expression(element, field, signal, symbol))])
    return np.array(function(t)).ravel()


def column_of(function: Callable[..., Any], arguments: Sequence[Any]) -> ca.SX:
    """The result of a user's function of symbols, one or several numbers, as a column."""
    with warnings.catch_warnings():  # CasADi 3.8 warns of numpy functions of symbols, whose results are correct
        warnings.filterwarnings("ignore", r"\s*casadi: a numpy function", FutureWarning)
        value = function(*arguments)
    parts: Sequence[Any] = value if isinstance(value, (tuple, list)) else [value]
    return ca.SX(ca.vertcat(*(ca.SX(part) for part in parts)))


def _expression(element: str, field: str, signal: Callable[[Any], Any], t: ca.SX) -> ca.SX:
    try:
        expression = column_of(signal, [t])
    except Exception as error:
        raise ModelError(
            f'"{element}": {field} could not be evaluated with symbolic time ({type(error).__name__}: {error}). '
            "Write it with casadi or numpy functions of t and without branches, or give a Table(times, values)."
        ) from error
    others = [symbol.name() for symbol in ca.symvar(expression) if symbol.element_hash() != t.element_hash()]
    if others:
        raise ModelError(f'"{element}": {field} depends on {", ".join(others)}; it may depend on time only.')
    return expression
