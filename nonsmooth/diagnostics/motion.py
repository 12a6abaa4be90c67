"""Motion between the rows of a run: cubic polynomials of coordinates, velocities and gaps, with both limits at rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Columns, Trajectory

KINDS = ("q", "v", "gap", "gap_rate")  # kinds of quantities that have pieces
RATES = {"v": "q", "gap_rate": "gap"}  # by kind of a rate the kind of the quantity
ABOUT, LAST = 5e-3, 1e-9  # relative difference of a chord's slope from the mean of the rates that is regarded as zero
ALL = slice(None)
QUATERNION = ("qw", "qx", "qy", "qz")

Side = Literal["left", "right"]


def coordinates(trajectory: Trajectory, t: Array) -> Array:
    """Coordinates (len(t), nq) [m] or [rad] at any times of the run.

    A coordinate follows the cubic Hermite interpolant of its values and of its rate's right limit at the start and left
    limit at the end of each step, see `rate_of`; for linear interpolation see `bow`.

    Parameters
    ----------
    t : times [s]; those outside the run count as its start or end
    """
    rows = trajectory.t
    if len(rows) < 2:
        return np.repeat(trajectory.q.array[:1], len(t), axis=0)
    dt = np.diff(rows)
    t = np.clip(t, rows[0], rows[-1])
    k = np.clip(np.searchsorted(rows, t, side="right") - 1, 0, len(dt) - 1)
    s = (t - rows[k]) / dt[k]
    steps, among = np.unique(k, return_inverse=True)  # those required, of a run of perhaps a million
    whole = _steps_without_impact_inside(trajectory)[steps]
    table = np.empty((len(trajectory.q), len(t)))
    for column, (name, values) in zip(table, trajectory.q.items(), strict=True):
        column[:] = values[k] + s * (values[k + 1] - values[k])
        start, end = rate_of(trajectory, name, "right", steps), rate_of(trajectory, name, "left", steps + 1)
        if start is not None and end is not None:
            moved = values[steps + 1] - values[steps]
            column += bow(moved, dt[steps], start, end, whole)(among, s)
    return table.T


def window_of(trajectory: Trajectory, given: tuple[float, float] | None, name: str = "window") -> tuple[float, float]:
    """A part of a run [s], all of it where none is given; InputError for one that is not within the run."""
    first, last = float(trajectory.t[0]), float(trajectory.t[-1])
    if given is None:
        return first, last
    if not (len(given) == 2 and first <= given[0] < given[1] <= last):
        raise InputError(f"{name} must be two times [s] within the run, {first:g} to {last:g} s, got {given!r}.")
    return float(given[0]), float(given[1])


def rate_of(trajectory: Trajectory, name: str, side: Side, rows: NDArray[np.intp] | slice = ALL) -> Array | None:
    """Rate of a coordinate at the rows (n,), or at those given, None if it does not follow from velocities.

    The velocity of the same name, q' = v; of an entry of a quaternion ``q' = q ∘ (0, omega) / 2`` with the angular
    velocity omega in the body frame.
    """
    v = trajectory.v if side == "right" else trajectory.left.v
    if name in v:
        return v[name][rows]
    body, _, label = name.rpartition(".")
    if label not in QUATERNION or f"{body}.wx" not in v:
        return None
    q = {entry: trajectory.q[f"{body}.{entry}"][rows] for entry in QUATERNION}
    a, b, c = (v[f"{body}.w{axis}"][rows] for axis in "xyz")
    rates = {
        "qw": -q["qx"] * a - q["qy"] * b - q["qz"] * c,
        "qx": q["qw"] * a - q["qz"] * b + q["qy"] * c,
        "qy": q["qz"] * a + q["qw"] * b - q["qx"] * c,
        "qz": -q["qy"] * a + q["qx"] * b + q["qw"] * c,
    }
    return np.asarray(rates[label] / 2)


def _steps_without_impact_inside(trajectory: Trajectory) -> NDArray[np.bool_]:
    """Steps (n - 1,) with no impact between their rows; rows left out by `record` leave impacts inside."""
    rows = trajectory.t
    whole = np.ones(len(rows) - 1, bool)
    inside = np.setdiff1d(trajectory.impacts["t"], rows)
    whole[np.clip(np.searchsorted(rows, inside) - 1, 0, len(rows) - 2)] = False
    return whole


def bow(
    moved: Array, dt: Array, v_start: Array, v_end: Array, whole: NDArray[np.bool_]
) -> Callable[[Any, Array], Array]:
    """Difference of the cubic Hermite interpolant and the chord of step k, in which a coordinate moves by `moved`, at
    the fraction s of its length.

    Zero if q and v do not belong to one smooth motion: in steps that are not `whole`, and in those of implicit Euler,
    which moves with its final velocity.
    """
    slope = moved / dt
    # of one smooth motion the chord's slope is about the mean of the rates; of implicit Euler it is the last one
    off, size = np.abs(slope - (v_start + v_end) / 2), np.abs(v_start) + np.abs(v_end)
    turning = (off <= ABOUT * size) & (np.abs(slope - v_end) > LAST * size)  # where the rate has an extremum
    smooth = whole & ((off <= np.abs(v_end - v_start) / 4) | turning)
    rise, fall = np.where(smooth, (v_start - slope) * dt, 0.0), np.where(smooth, (slope - v_end) * dt, 0.0)
    return lambda k, s: s * (1 - s) * ((1 - s) * rise[k] + s * fall[k])


@dataclass(frozen=True, eq=False)
class Pieces:
    """A polynomial of degree 3 for each step, in the share s of its length, and the limits outside.

    Parameters
    ----------
    t : rows (n,) [s]
    coefficients : of 1, s, s^2, s^3 (n - 1, 4)
    first, last : left limit at the first row, right limit at the last one
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
    right = left = None  # rates of the coordinate or gap
    if base == "q":
        if name in trajectory.q:
            right, left = rate_of(trajectory, name, "right"), rate_of(trajectory, name, "left")
    elif name in trajectory.gap and name in trajectory.gap_rate:
        right, left = trajectory.gap_rate[name], trajectory.left.gap_rate[name]
    if len(values) < 2 or right is None or left is None:
        return Pieces(trajectory.t, straight, first, last)
    dt, x = np.diff(trajectory.t), getattr(trajectory, base)[name]
    bulge = bow(np.diff(x), dt, right[:-1], left[1:], _steps_without_impact_inside(trajectory))
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


def sampled(trajectory: Trajectory, kind: str, t: Array, side: Side = "right") -> Columns:
    """All columns of a kind at any times, as of `pieces`."""
    known = columns(trajectory, kind)
    values = [pieces(trajectory, kind, name)(t, side) for name in known]
    table = np.array(values).reshape(len(known), len(t)).T
    return Columns(known.what, known.names, table, known.unit_list)


def columns(trajectory: Trajectory, kind: str) -> Columns:
    """The trajectory's columns of a kind of `KINDS`; InputError for another one."""
    if kind not in KINDS:
        raise InputError(f"There is no kind {kind!r} of quantity here; take one of {', '.join(KINDS)}.")
    found: Columns = getattr(trajectory, kind)
    return found
