"""Impacts at the bottom of a panel over time: a tick each, a bar where they are too close to be distinguished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.plots.panel import Line
from nonsmooth.plots.style import INK
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICK_UP = 2  # matplotlib's marker of a tick that stands on its point
TICK_STYLE: dict[str, Any] = {"color": INK, "marker": TICK_UP, "ls": "", "ms": 4, "mew": 0.6}
CROWD_STYLE: dict[str, Any] = {"facecolor": INK, "edgecolor": "none", "alpha": 0.35}
#: share of the panel's width at which two ticks can be distinguished, and height of a bar relative to the panel's
APART, HEIGHT = 1 / 120, 0.035


def impact_times(trajectory: Trajectory, lines: Sequence[Line]) -> Array:
    """Times [s] of the impacts of a panel's contacts, if it shows contacts only; else of all."""
    names = [line.name for line in lines if line.kind in ("gap", "lam_N", "impulse")]
    impacts = trajectory.impacts
    if len(names) == len(lines):
        impacts = impacts[np.isin(impacts["contact"], names)]
    return np.asarray(np.unique(impacts["t"]))


def crowds(t: Array, span: float) -> tuple[Array, Array]:
    """Times (n,) that stand alone, and begin and end (k, 2) of those that would merge into a block.

    >>> alone, merged = crowds(np.array([0.1, 0.5, 0.501, 0.502, 0.503]), 1.0)
    >>> alone.tolist(), merged.tolist()
    ([0.1], [[0.5, 0.503]])
    """
    if not len(t):
        return t, np.zeros((0, 2))
    groups = np.split(t, np.flatnonzero(np.diff(t) > APART * span) + 1)
    alone = [group for group in groups if len(group) < 3]  # two merge into a thicker tick
    merged = [(group[0], group[-1]) for group in groups if len(group) >= 3]
    return np.concatenate([*alone, np.zeros(0)]), np.array(merged).reshape(-1, 2)


def draw_impacts(axis: Axes, t: Array, first: float, last: float) -> None:
    """Draw impacts at times t, of which those from `first` to `last` are shown."""
    from matplotlib.patches import Rectangle

    alone, merged = crowds(t[(first <= t) & (t <= last)], last - first)
    foot = axis.get_xaxis_transform()
    if alone.size:  # an empty line has no extent, with which the layout gives up
        axis.plot(alone, np.zeros_like(alone), **TICK_STYLE, transform=foot, zorder=1)
    for begin, end in merged:
        width = max(end - begin, APART * (last - first))
        axis.add_patch(Rectangle((begin, 0.0), width, HEIGHT, transform=foot, zorder=1, **CROWD_STYLE))
