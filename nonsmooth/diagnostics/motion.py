"""Coordinates between the rows of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Trajectory

__all__ = ["bow", "coordinates", "rate_of", "steps_without_impact_inside", "window_of"]

#: relative difference of a chord's slope from the mean of the rates that is regarded as zero
ABOUT, LAST = 5e-3, 1e-9
ALL = slice(None)
QUATERNION = ("qw", "qx", "qy", "qz")


def coordinates(trajectory: Trajectory, t: Array) -> Array:
    """Coordinates (len(t), nq) [m] or [rad] at any times of the run.

    A coordinate follows the cubic Hermite interpolant of its values and of its rate's right limit at the start and left
    limit at the end of each step, see `rate_of`; for linear interpolation see `bow`.

    Parameters
    ----------
    t
        Times [s]; those outside the run count as its start or end.
    """
    rows = trajectory.t
    if len(rows) < 2:
        return np.repeat(trajectory.q.array[:1], len(t), axis=0)
    dt = np.diff(rows)
    t = np.clip(t, rows[0], rows[-1])
    k = np.clip(np.searchsorted(rows, t, side="right") - 1, 0, len(dt) - 1)
    s = (t - rows[k]) / dt[k]
    steps, among = np.unique(k, return_inverse=True)  # those required, of a run of perhaps a million
    whole = steps_without_impact_inside(trajectory)[steps]
    columns = []
    for name, values in trajectory.q.items():
        column = values[k] + s * (values[k + 1] - values[k])
        start, end = rate_of(trajectory, name, "right", steps), rate_of(trajectory, name, "left", steps + 1)
        if start is not None and end is not None:
            moved = values[steps + 1] - values[steps]
            column = column + bow(moved, dt[steps], start, end, whole)(among, s)
        columns.append(column)
    return np.array(columns).reshape(len(trajectory.q), len(t)).T


def window_of(trajectory: Trajectory, given: tuple[float, float] | None, name: str = "window") -> tuple[float, float]:
    """A part of a run [s], all of it where none is given; InputError for one that is not within the run."""
    first, last = float(trajectory.t[0]), float(trajectory.t[-1])
    if given is None:
        return first, last
    if not (len(given) == 2 and first <= given[0] < given[1] <= last):
        raise InputError(f"{name} must be two times [s] within the run, {first:g} to {last:g} s, got {given!r}.")
    return float(given[0]), float(given[1])


def rate_of(
    trajectory: Trajectory, name: str, side: Literal["left", "right"], rows: NDArray[np.intp] | slice = ALL
) -> Array | None:
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


def steps_without_impact_inside(trajectory: Trajectory) -> NDArray[np.bool_]:
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
