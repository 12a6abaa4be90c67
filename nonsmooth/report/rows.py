"""Selection of the rows of a long run for a page: indispensable rows, extremes of the others, and evenly spaced
ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.modes import Timeline
from nonsmooth.trajectory import Trajectory

RowIndices = NDArray[np.intp]


def marked_rows(run: Trajectory, timelines: list[Timeline]) -> RowIndices:
    """Rows that are always kept: jumps of a velocity, impacts, changes of a contact mode."""
    starts = [line.start for line in timelines]
    changes = np.searchsorted(run.t, np.unique(np.concatenate(starts))) if starts else np.zeros(0, int)
    jumps = np.flatnonzero(np.any(run.left.v.array != run.v.array, axis=1))
    hits = np.searchsorted(run.t, np.unique(run.impacts["t"]))
    return np.unique(np.concatenate([changes, jumps, np.clip(hits, 0, len(run.t) - 1)]).astype(np.intp))


def kept_rows(t: Array, columns: Array, marked: RowIndices, most: int) -> RowIndices:
    """Rows to show, ascending.

    Parameters
    ----------
    t
        Times (n,) [s].
    columns
        Columns of charts (n, k); in every time interval the smallest and the largest value of each are kept.
    marked
        Rows that are always kept, with their neighbours.
    most
        Number of rows above which rows are omitted.
    """
    n = len(t)
    if n <= most:
        return np.arange(n)
    kept = np.zeros(n, bool)
    kept[[0, -1]] = True
    for shift in (-1, 0, 1):  # rows next to an impact show the values before and after its jump
        kept[np.clip(marked + shift, 0, n - 1)] = True
    varying = columns[:, np.ptp(columns, axis=0) > 0]
    room = max(most - int(kept.sum()), 0)
    _keep_extremes(t, varying, kept, max(room // (4 * max(varying.shape[1], 1)), 8))
    left = most - int(kept.sum())
    if left > 0:  # extremes alone leave long intervals without a row, in which interpolation is poor
        even = np.searchsorted(t, np.linspace(t[0], t[-1], left + 2)[1:-1])
        kept[even.clip(0, n - 1)] = True
    return np.flatnonzero(kept)


def _keep_extremes(t: Array, columns: Array, kept: NDArray[np.bool_], stretches: int) -> None:
    """Mark the rows of the smallest and the largest value of each column in each time interval."""
    edges = np.unique(np.searchsorted(t, np.linspace(t[0], t[-1], stretches + 1)))
    for first, last in zip(edges[:-1], edges[1:], strict=True):
        part = columns[first:last]
        kept[first + part.argmin(axis=0)] = True
        kept[first + part.argmax(axis=0)] = True


def reading_error(t: Array, columns: Array, kept: RowIndices) -> float:
    """Largest distance between a column and the line through its kept rows, over the column's range [-]."""
    if len(kept) == len(t):
        return 0.0
    worst = 0.0
    for column in columns.T:
        span = float(np.ptp(column))
        if span > 0:
            worst = max(worst, float(np.max(np.abs(np.interp(t, t[kept], column[kept]) - column))) / span)
    return worst
