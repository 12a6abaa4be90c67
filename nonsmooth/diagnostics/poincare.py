"""Sections of a motion: its states where a quantity crosses a value, or once per period."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.motion import RATES, Pieces, pieces, sampled
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Columns, Trajectory

DIRECTIONS = ("rising", "falling", "both")
#: share of a step within which a crossing is at the step's row
AT_ROW = 1e-9
#: share of a period within which a time is identified with a row
SAME = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Section:
    """States of a motion at chosen times.

    Parameters
    ----------
    t
        Times (n,) [s].
    q, v, v_left
        Coordinates, and velocities after and before an impact that happens to be there; elsewhere both are the same.
    direction
        +1 where the quantity rises through the value, -1 where it falls (n,); 0 of a stroboscope.
    """

    t: Array
    q: Columns
    v: Columns
    v_left: Columns
    direction: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f", t = {self.t[0]:.6g} to {self.t[-1]:.6g} s" if len(self.t) else ""
        return f"<Section: {len(self.t)} points{span}; coordinates {', '.join(self.q.names)}>"


def poincare(
    trajectory: Trajectory,
    name: str,
    value: float = 0.0,
    *,
    kind: str = "q",
    direction: str = "both",
    period: float | None = None,
    after: float | None = None,
) -> Section:
    """States where a quantity crosses a value.

    Between rows the quantity follows `pieces`: cubic Hermite interpolants of coordinates and gaps. A velocity or gap
    velocity that jumps past the value crosses it at the impact, once. A start at the value is not a crossing.

    Parameters
    ----------
    name
        Of a coordinate, velocity, gap or rate of a gap.
    value : in the quantity's unit
    kind : "q", "v", "gap" or "gap_rate"
    direction : "rising", "falling" or "both"
    period : in the quantity's unit, optional
        The value is repeated with this period: ``2 * pi`` for a rotating crank.
    after : [s], optional
        Omit earlier crossings, such as those of a transient.

    Raises
    ------
    InputError
        For an unknown kind, name or direction, or a period that is not positive.

    >>> from nonsmooth import EventDriven, ErrorControl, simulate
    >>> from nonsmooth_problems import bouncing_ball
    >>> control = ErrorControl(rtol=1e-8, atol=1e-10, dt_min=1e-6, dt_max=1e-2)
    >>> run = simulate(bouncing_ball().build(), EventDriven(), t_end=1.0, dt=control)
    >>> tops = poincare(run, "ball.y", kind="v", direction="falling")
    >>> len(tops), float(abs(tops.v["ball.y"]).max()) < 1e-9
    (1, True)
    """
    if direction not in DIRECTIONS:
        raise InputError(f"direction must be one of {', '.join(DIRECTIONS)}, got {direction!r}.")
    if period is not None and not (np.isfinite(period) and period > 0):
        raise InputError(f"period must be a positive number, got {period!r}.")
    if not np.isfinite(value):
        raise InputError(f"value must be a finite number, got {value!r}.")
    course = pieces(trajectory, kind, name)
    crossings = _crossings_within_steps(course, value, period)
    if kind in RATES:
        crossings += _crossings_at_jumps(course, value, period)
    signs = {"rising": (1,), "falling": (-1,), "both": (1, -1)}[direction]
    start = -np.inf if after is None else after
    chosen = [(t, sign) for t, sign in sorted(crossings) if sign in signs and t >= start]
    t = np.array([t for t, _ in chosen])
    return _section(trajectory, t, np.array([sign for _, sign in chosen], dtype=np.int8))


def stroboscope(trajectory: Trajectory, period: float, *, phase: float = 0.0, after: float | None = None) -> Section:
    """States once per period: at ``t_0 + (phase + k) period`` with the run's first time t_0, k = 0, 1, ...

    Parameters
    ----------
    period : [s]
    phase : [-]
        In periods.
    after : [s], optional
        Omit earlier times, such as those of a transient.

    Raises
    ------
    InputError
        If the period is not positive.
    """
    if not (np.isfinite(period) and period > 0):
        raise InputError(f"period must be a positive number of seconds, got {period!r}.")
    rows = trajectory.t
    last = int(np.floor((rows[-1] - rows[0]) / period - phase + SAME))
    t = rows[0] + (phase + np.arange(max(0, int(np.ceil(-phase - SAME))), last + 1)) * period
    if after is not None:
        t = t[t >= after - SAME * period]
    nearest = rows[np.clip(np.searchsorted(rows, t), 1, max(len(rows) - 1, 1)) - [[1], [0]]] if len(rows) > 1 else rows
    for candidate in np.atleast_2d(nearest):
        t = np.where(np.abs(candidate - t) <= SAME * period, candidate, t)
    return _section(trajectory, t, np.zeros(len(t), np.int8))


def _section(trajectory: Trajectory, t: Array, direction: NDArray[np.int8]) -> Section:
    right, left = sampled(trajectory, "v", t, "right"), sampled(trajectory, "v", t, "left")
    return Section(t, sampled(trajectory, "q", t), right, left, direction)


def _crossings_within_steps(course: Pieces, value: float, period: float | None) -> list[tuple[float, int]]:
    """Crossings inside steps, their ends included: time, and +1 or -1."""
    a, b, c, d = course.coefficients.T
    control = np.column_stack([a, a + b / 3, a + 2 * b / 3 + c / 3, a + b + c + d])  # the hull of the cubic
    low, high = control.min(axis=1), control.max(axis=1)
    span = np.inf if period is None else period
    first = np.zeros(len(low)) if period is None else np.ceil((low - value) / span)
    level = value + first * (0.0 if period is None else span)
    found: list[tuple[float, int]] = []
    for k in np.flatnonzero((low <= level) & (level <= high)).tolist():
        # the cubic is monotone between the ends of the step and the roots of its slope b + 2 c s + 3 d s^2
        _, b, c, d = course.coefficients[k]
        roots = np.roots([3 * d, 2 * c, b]) if d or c else np.zeros(0)
        real = roots[np.isreal(roots)].real
        ends = np.unique(np.concatenate([[0.0, 1.0], real[(real > 0.0) & (real < 1.0)]]))
        heights = course.at(np.full(len(ends), k), ends)
        for wanted in _levels(low[k], high[k], value, period):
            for s, e, x, y in zip(ends[:-1], ends[1:], heights[:-1], heights[1:], strict=True):
                if (x < wanted) == (y < wanted):
                    continue
                share = _root(course.coefficients[k], wanted, float(s), float(e))
                share = 0.0 if share < AT_ROW else 1.0 if share > 1 - AT_ROW else share
                if k == 0 and share == 0.0:  # the run starts there
                    continue
                t = course.t[k + 1] if share == 1.0 else course.t[k] + share * (course.t[k + 1] - course.t[k])
                found.append((float(t), 1 if y > x else -1))
    return found


def _crossings_at_jumps(course: Pieces, value: float, period: float | None) -> list[tuple[float, int]]:
    """Crossings by jumps at rows, which lie between the end of one piece and the start of the next."""
    starts, ends = course.coefficients[:, 0], course.coefficients.sum(axis=1)
    before, after = np.append(course.first, ends), np.append(starts, course.last)
    found = []
    for k in np.flatnonzero(before != after).tolist():
        x, y = float(before[k]), float(after[k])
        for wanted in _levels(min(x, y), max(x, y), value, period):
            if (x < wanted) != (y < wanted):
                found.append((float(course.t[k]), 1 if y > x else -1))
    return found


def _levels(low: float, high: float, value: float, period: float | None) -> list[float]:
    """The values between two bounds."""
    if period is None:
        return [value] if low <= value <= high else []
    first, last = int(np.ceil((low - value) / period)), int(np.floor((high - value) / period))
    return [value + i * period for i in range(first, last + 1)]


def _root(coefficients: Array, wanted: float, start: float, end: float) -> float:
    """Share of a step, between two where the cubic is monotone, at which it has the wanted value."""
    a, b, c, d = map(float, coefficients)

    def excess(s: float) -> float:
        return a - wanted + s * (b + s * (c + s * d))

    if excess(start) * excess(end) >= 0.0:  # one of the ends is the root
        return start if abs(excess(start)) <= abs(excess(end)) else end
    from scipy.optimize import brentq

    return float(brentq(excess, start, end, xtol=1e-15))
