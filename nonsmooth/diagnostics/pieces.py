"""Quantities of a run as polynomials between its rows, with both limits at the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.motion import bow, rate_of, steps_without_impact_inside
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Columns, Trajectory

__all__ = ["KINDS", "Pieces", "pieces", "sampled", "unit_of"]

#: kinds of quantities that have pieces
KINDS = ("q", "v", "gap", "gap_rate")
#: the kind that is another one's rate
RATES = {"v": "q", "gap_rate": "gap"}

Side = Literal["left", "right"]


@dataclass(frozen=True, eq=False)
class Pieces:
    """A polynomial of degree 3 for each step, in the share s of its length, and the limits outside.

    Parameters
    ----------
    t
        Rows (n,) [s].
    coefficients
        Of 1, s, s^2, s^3 (n - 1, 4).
    first, last
        Left limit at the first row, right limit at the last one.
    """

    t: Array
    coefficients: Array
    first: float
    last: float

    def __call__(self, t: Array, side: Side = "right") -> Array:
        """One-sided limits (len(t),) at times, of which those outside the run count as its start or end."""
        t = np.clip(np.asarray(t, float), self.t[0], self.t[-1])
        if len(self.t) < 2:
            return np.full(len(t), self.first if side == "left" else self.last)
        k = np.clip(np.searchsorted(self.t, t, side=side) - 1, 0, len(self.t) - 2)
        values = self.at(k, (t - self.t[k]) / (self.t[k + 1] - self.t[k]))
        if side == "left":
            values[t == self.t[0]] = self.first
        else:
            values[t == self.t[-1]] = self.last
        return values

    def at(self, k: NDArray[np.intp], s: Array) -> Array:
        """Values at the shares s of the lengths of steps k."""
        a, b, c, d = self.coefficients[k].T
        return np.asarray(a + s * (b + s * (c + s * d)))


def pieces(trajectory: Trajectory, kind: str, name: str) -> Pieces:
    """A coordinate, velocity, gap or rate of a gap between the rows.

    Coordinates and gaps follow the cubic Hermite interpolant of their values and of their rate's right limit at the
    start and left limit at the end of each step, rates its derivative; that of a quaternion follows from the angular
    velocity. Interpolation is linear for angular velocities in space, and for all quantities if values and rates do not
    belong to one smooth motion: across an impact inside a step (with rows omitted by `record`) and in steps of implicit
    Euler.

    Parameters
    ----------
    kind : "q", "v", "gap" or "gap_rate"

    Raises
    ------
    InputError
        For an unknown kind or name.
    """
    values = columns(trajectory, kind)[name]
    before, after = values[:-1], values[1:]
    first, last = float(values[0]), float(values[-1])
    if kind in RATES:
        left = getattr(trajectory.left, kind)[name]
        after, first = left[1:], float(left[0])
    none = np.zeros(len(before))
    straight = np.column_stack([before, after - before, none, none])
    base = RATES.get(kind, kind)
    rates = _rates(trajectory, base, name)
    if len(values) < 2 or rates is None:
        return Pieces(trajectory.t, straight, first, last)
    dt, x = np.diff(trajectory.t), getattr(trajectory, base)[name]
    bulge = bow(np.diff(x), dt, *rates, steps_without_impact_inside(trajectory))
    # bulge(s) = s (1 - s) ((1 - s) rise + s fall), of which a quarter and three quarters tell rise and fall
    k = np.arange(len(dt))
    low, high = bulge(k, np.full(len(dt), 0.25)) * 16 / 3, bulge(k, np.full(len(dt), 0.75)) * 16 / 3
    rise, fall = (3 * low - high) / 2, (3 * high - low) / 2
    cubic = np.column_stack([x[:-1], np.diff(x) + rise, fall - 2 * rise, rise - fall])
    if kind == base:
        return Pieces(trajectory.t, cubic, first, last)
    smooth = (rise != 0.0) | (fall != 0.0)
    slope = np.column_stack([cubic[:, 1], 2 * cubic[:, 2], 3 * cubic[:, 3], none]) / dt[:, None]
    slope[:, 0] = before  # the limits themselves, without the round-off of the chord
    return Pieces(trajectory.t, np.where(smooth[:, None], slope, straight), first, last)


def _rates(trajectory: Trajectory, base: str, name: str) -> tuple[Array, Array] | None:
    """Rate of a coordinate or gap at the start and at the end of each step, None where it is not known."""
    if name not in getattr(trajectory, base):
        return None
    if base == "q":
        right, left = rate_of(trajectory, name, "right"), rate_of(trajectory, name, "left")
    else:
        known = name in trajectory.gap_rate
        right, left = (trajectory.gap_rate[name], trajectory.left.gap_rate[name]) if known else (None, None)
    return None if right is None or left is None else (right[:-1], left[1:])


def sampled(trajectory: Trajectory, kind: str, t: Array, side: Side = "right") -> Columns:
    """All columns of a kind at any times, as of `pieces`."""
    known = columns(trajectory, kind)
    values = [pieces(trajectory, kind, name)(t, side) for name in known]
    table = np.array(values).reshape(len(known), len(t)).T
    return Columns(known.what, known.names, table, known.unit_list)


def unit_of(trajectory: Trajectory, kind: str, name: str) -> str:
    """SI unit of a quantity."""
    return columns(trajectory, kind).units(name)


def columns(trajectory: Trajectory, kind: str) -> Columns:
    """The trajectory's columns of a kind."""
    if kind not in KINDS:
        raise InputError(f"There is no kind {kind!r} of quantity here; take one of {', '.join(KINDS)}.")
    found: Columns = getattr(trajectory, kind)
    return found
