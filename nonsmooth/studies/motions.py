"""A common interface to a run and to an exact solution."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import coordinates, impulses
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Trajectory

#: range of a coordinate, relative to the largest of the same unit, below which it is regarded as fixed
FIXED = 1e-9


@dataclass(frozen=True, eq=False)
class Motion:
    """Coordinates and impulses as functions of time.

    Parameters
    ----------
    names, units : of the coordinates (nq,)
    contacts : names of the contacts (nc,)
    rows : times [s] of rows and jumps
    positions : t -> (len(t), nq) [m] or [rad]
    impulses : t -> (len(t), nc) [N s] since the start, impacts at t included
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    contacts: tuple[str, ...]
    rows: Array
    positions: Callable[[Array], Array]
    impulses: Callable[[Array], Array]

    @classmethod
    def of_run(cls, run: Trajectory) -> Self:
        """Interpolated between rows by `coordinates` and `impulses` of the diagnostics."""
        return cls(
            run.q.names, run.q.unit_list, run.gap.names, run.t,
            lambda t: coordinates(run, t), lambda t: impulses(run, t),
        )  # fmt: skip

    @classmethod
    def of_exact(cls, exact: Any, like: Trajectory) -> Self:
        """An exact solution with ``sample(t, side)`` and ``events``, in the order of a run's names.

        Raises
        ------
        InputError
            If it does not give all coordinates and impulses of the run.
        """
        start = np.array([like.t[0]])
        if not (hasattr(exact, "sample") and hasattr(exact, "events")):
            raise InputError(
                f"An exact solution has sample(t, side) and events, got {type(exact).__name__}; "
                "call the problem's `exact` with the problem's arguments."
            )
        sample = exact.sample(start)
        missing = [name for name in like.q.names if name not in sample.q]
        missing += [name for name in like.gap.names if name not in sample.impulse]
        if missing:
            raise InputError(f"The exact solution does not give {', '.join(missing)}; leave it out.")

        def table(kind: str, names: tuple[str, ...], t: Array) -> Array:
            values = getattr(exact.sample(np.asarray(t, float)), kind)
            return np.array([values[name] for name in names]).reshape(len(names), len(t)).T

        return cls(
            like.q.names, like.q.unit_list, like.gap.names, np.asarray(exact.events, float),
            lambda t: table("q", like.q.names, t), lambda t: table("impulse", like.gap.names, t),
        )  # fmt: skip


def motion_times(grid: Array, *motions: Motion) -> Array:
    """The grid and the rows of all motions within it."""
    t = np.unique(np.concatenate([grid, *(motion.rows for motion in motions)]))
    return np.asarray(t[(t >= grid[0]) & (t <= grid[-1])])


def time_mean(values: Array, t: Array) -> Array:
    """``1/T int values dt`` of each column, by the trapezoid over the times t."""
    return np.asarray(np.diff(t) @ (values[1:] + values[:-1]) / 2 / (t[-1] - t[0]))


def mean_impulse_error(a: Motion, b: Motion, t: Array) -> Array:
    """``1/T int |P_a - P_b| dt`` of the normal impulse since the start, of each contact (nc,) [N s].

    By the value in the middle between two times t, among which are those of all jumps: a jump that is shifted by dt
    contributes its height times dt / T. At such a time itself one impulse may have jumped and the other not.
    """
    middle = (t[1:] + t[:-1]) / 2
    return np.asarray(np.diff(t) @ np.abs(a.impulses(middle) - b.impulses(middle)) / (t[-1] - t[0]))


def mean_deviation(a: Motion, b: Motion, t: Array) -> Array:
    """``1/T int |q_a - q_b| dt`` of each coordinate (nq,) [m] or [rad], by the trapezoid over the times t."""
    return time_mean(np.abs(a.positions(t) - b.positions(t)), t)


def scales(motion: Motion, t: Array) -> Array:
    """Range of each coordinate (nq,) [m] or [rad]; infinite if it does not move, so that it is ignored."""
    positions = motion.positions(t)
    extent = np.asarray(positions.max(axis=0) - positions.min(axis=0))
    for unit in set(motion.units):
        same = np.array([one == unit for one in motion.units])
        largest = float(extent[same].max())
        extent[same & ((extent <= FIXED * largest) | (largest < FIXED**2))] = np.inf
    return extent


def scaled_distance(a: Motion, b: Motion, t: Array, scale: Array) -> float:
    """The largest mean deviation of a coordinate over its scale [-]."""
    return float(np.max(mean_deviation(a, b, t) / scale, initial=0.0))
