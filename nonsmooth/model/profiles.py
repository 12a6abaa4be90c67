"""Smooth prescribed motions: profiles from rest to rest, and splines through points."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.lookup import lookup
from nonsmooth.exceptions import ModelError
from nonsmooth.model.signals import TimeFunction, checked_points, looks_up
from nonsmooth.quantities import Unit
from nonsmooth.settings import is_number, shown

#: what each shape takes, unless it takes the duration
LIMITS = {"trapezoidal": ("speed", "acceleration"), "s-curve": ("speed", "acceleration", "jerk"), "cosine": ("speed",)}


def _cubics(t: Any, begins: Array, rows: Array) -> Any:
    """Value at t of a cubic in each interval: `rows` (n, 4) of powers of the time since the interval's begin (n,)."""
    if isinstance(t, ca.SX | ca.MX):
        if looks_up.get():
            begin, *row = ca.vertsplit(lookup([*begins, begins[-1] + 1.0], *rows.T)(t))
            return _horner(t - begin, row)
        begun = [1.0, *(t >= one for one in begins[1:]), 0.0]
        return sum(
            ca.if_else(begun[i] - begun[i + 1], _horner(t - begins[i], rows[i]), 0.0) for i in range(len(begins))
        )
    i = max(int(np.searchsorted(begins, t, side="right")) - 1, 0)
    return float(_horner(t - begins[i], rows[i]))


def _horner(s: Any, row: Iterable[Any]) -> Any:
    a, b, c, d = row
    return a + s * (b + s * (c + s * d))


@dataclass(frozen=True)
class MotionProfile(TimeFunction):
    """From rest to rest over a distance, as fast as limits permit or within a duration; optionally there and back.

    ``trapezoidal``: constant acceleration, constant speed, constant deceleration. ``s-curve``: the acceleration is
    itself a trapezoid, of constant jerk. ``cosine``: ``start + distance/2 (1 - cos(pi s))``, s from 0 to 1, with
    acceleration at both ends. A distance that is too short for a limit does not reach it. Within a given duration T a
    trapezoid accelerates for T/3, an s-curve in the same time without a part of constant acceleration, so that the
    speed is 1.5 distance/T. Runs end a step where a part of the motion ends.

    ModelError unless the duration, or all limits of the shape, are given and positive, and the distance is not zero.

    Parameters
    ----------
    distance : in the unit of the motion, negative to move backwards
    speed, acceleration, jerk : limits, > 0, in this unit per s, s^2, s^3: all three of an s-curve, speed and
        acceleration of a trapezoid, the speed of a cosine
    duration : of the motion [s], > 0, in place of limits
    begin : time at which it begins [s], until which it rests
    start : value before
    dwell : rest after which it moves back [s], >= 0; without it stays
    shape : "trapezoidal", "s-curve" or "cosine"; an s-curve if a jerk is given, else trapezoidal

    >>> move = MotionProfile(0.3, speed=0.5, acceleration=2.0)
    >>> move.duration_of_stroke, move(0.25), move(9.0)
    (0.85, 0.0625, 0.3)
    """

    distance: Annotated[float, Unit("value")]
    speed: Annotated[float | None, Unit("value/s")] = None
    acceleration: Annotated[float | None, Unit("value/s^2")] = None
    jerk: Annotated[float | None, Unit("value/s^3")] = None
    duration: Annotated[float | None, Unit("s")] = None
    begin: Annotated[float, Unit("s")] = 0.0
    start: Annotated[float, Unit("value")] = 0.0
    dwell: Annotated[float | None, Unit("s")] = None
    shape: Literal["trapezoidal", "s-curve", "cosine"] | None = None

    def __post_init__(self) -> None:
        if self.shape is None:
            object.__setattr__(self, "shape", "trapezoidal" if self.jerk is None else "s-curve")
        if not (isinstance(self.shape, str) and self.shape in LIMITS):
            raise ModelError(f'MotionProfile: shape is "trapezoidal", "s-curve" or "cosine", got {shown(self.shape)}.')
        self._check_finite("distance", "begin", "start")
        if self.distance == 0.0:
            raise ModelError("MotionProfile: distance must not be zero.")
        if not (self.dwell is None or (is_number(self.dwell) and self.dwell >= 0.0)):
            raise ModelError(f"MotionProfile: dwell must be a time in s that is not negative, got {shown(self.dwell)}.")
        names = [one for one in ("speed", "acceleration", "jerk", "duration") if getattr(self, one) is not None]
        for name in names:
            if not (is_number(getattr(self, name)) and getattr(self, name) > 0.0):
                raise ModelError(f"MotionProfile: {name} must be a positive number, got {shown(getattr(self, name))}.")
        if tuple(names) not in (("duration",), LIMITS[self.shape]):
            raise ModelError(
                f"MotionProfile: the shape {self.shape} takes duration, or {' and '.join(LIMITS[self.shape])}, got "
                f"{' and '.join(names) or 'none of them'}."
            )

    @cached_property
    def _times(self) -> tuple[float, float, float]:
        """Times [s] of a ramp of the speed, of a part of constant jerk in it, and at constant speed."""
        d, v, a, j = abs(self.distance), self.speed, self.acceleration, self.jerk
        if self.shape == "cosine":
            return 0.0, 0.0, np.pi * d / (2.0 * v) if v else self.duration  # type: ignore[return-value]
        if self.duration is not None:
            return self.duration / 3, self.duration / 6 if self.shape == "s-curve" else 0.0, self.duration / 3
        assert v is not None and a is not None
        if j is None:
            v = min(v, (d * a) ** 0.5)
            return v / a, 0.0, max(d / v - v / a, 0.0)
        # without a part at constant speed: with and without one of constant acceleration
        top = a / 2 * (((a / j) ** 2 + 4 * d / a) ** 0.5 - a / j)
        v = min(v, top if top >= a**2 / j else (d**2 * j / 4) ** (1 / 3))
        part = min(a / j, (v / j) ** 0.5)
        ramp = v / (j * part) + part
        return ramp, part, max(d / v - ramp, 0.0)

    @property
    def duration_of_stroke(self) -> float:
        """Time from rest to rest [s], of one way."""
        return 2 * self._times[0] + self._times[2]

    @cached_property
    def _stroke(self) -> tuple[Array, Array]:
        """Times since the start of a stroke (n,) and cubics (n, 4), rest before and after included."""
        ramp, part, cruise = self._times
        v = self.distance / (ramp + cruise)
        a = v / (ramp - part)
        # length, speed, acceleration and jerk of each part
        if part:
            j, gain = a / part, a * part / 2
            up = [(part, 0.0, 0.0, j), (ramp - 2 * part, gain, a, 0.0), (part, v - gain, a, -j)]
            down = [(part, v, 0.0, -j), (ramp - 2 * part, v - gain, -a, 0.0), (part, gain, -a, j)]
        else:
            up, down = [(ramp, 0.0, a, 0.0)], [(ramp, v, -a, 0.0)]
        t, x, begins, rows = 0.0, 0.0, [-1.0], [(0.0, 0.0, 0.0, 0.0)]
        for length, speed, acceleration, jerk in (*up, (cruise, v, 0.0, 0.0), *down):
            if length > 1e-12 * self.duration_of_stroke:  # not round-off alone
                begins.append(t)
                rows.append((x, speed, acceleration / 2, jerk / 6))
                t, x = t + length, _horner(length, rows[-1])
        return np.array([*begins, t]), np.array([*rows, (self.distance, 0.0, 0.0, 0.0)])

    def _once(self, t: Any, begin: float) -> Any:
        if self.shape != "cosine":
            begins, rows = self._stroke
            return _cubics(t, begin + begins, rows)
        end = begin + self.duration_of_stroke
        moved = self.distance / 2 * (1 - ca.cos(np.pi / self.duration_of_stroke * (t - begin)))
        if not isinstance(t, ca.SX | ca.MX):
            return self.distance if t >= end else float(moved) if t >= begin else 0.0
        return ca.if_else(t >= end, self.distance, ca.if_else(t >= begin, moved, 0.0))

    def __call__(self, t: Any) -> Any:
        value = self.start + self._once(t, self.begin)
        if self.dwell is not None:
            value = value - self._once(t, self.begin + self.duration_of_stroke + self.dwell)
        return value


@dataclass(frozen=True)
class Spline(TimeFunction):
    """Cubic spline through points: speed and acceleration are continuous, as of a motion of which samples are given.

    Outside the points it continues with the speeds at both ends. Without `speeds` the third derivative is continuous at
    the second and at the last but one point (not-a-knot).

    ModelError if times do not increase, lengths differ, or a number is not finite.

    Parameters
    ----------
    times : [s], strictly increasing, at least two
    values : one per time
    speeds : at the first and at the last point, in the unit of values per s, optional; ``(0.0, 0.0)`` from rest to rest

    >>> Spline((0.0, 1.0, 2.0), (0.0, 0.5, 2.0))(1.5)
    1.125
    """

    times: Annotated[tuple[float, ...], Unit("s")]
    values: Annotated[tuple[float, ...], Unit("value")]
    speeds: Annotated[tuple[float, float] | None, Unit("value/s")] = None

    def __post_init__(self) -> None:
        times, values = checked_points("Spline", self.times, self.values)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)
        if self.speeds is not None:
            given = self.speeds if isinstance(self.speeds, tuple | list | np.ndarray) else ()
            if not (len(given) == 2 and all(map(is_number, given))):
                raise ModelError(f"Spline: speeds must be two finite numbers, got {shown(self.speeds)}.")
            object.__setattr__(self, "speeds", tuple(given))

    @cached_property
    def _pieces(self) -> tuple[Array, Array]:
        """Begins (n + 1,) and cubics (n + 1, 4), one before the first point and one after the last included."""
        from scipy.interpolate import CubicSpline

        ends: Any = "not-a-knot" if self.speeds is None else [(1, one) for one in self.speeds]
        found = CubicSpline(self.times, self.values, bc_type=ends)
        (first, last), t = found(np.array(self.times)[[0, -1]], 1), np.array(self.times)
        before, after = (self.values[0] - first, first, 0.0, 0.0), (self.values[-1], last, 0.0, 0.0)
        return np.array([t[0] - 1.0, *t]), np.array([before, *found.c[::-1].T, after])

    def __call__(self, t: Any) -> Any:
        return _cubics(t, *self._pieces)
