"""Motions in the plane of a quantity and its velocity: the whole path, or a section of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.motion import pieces, unit_of, window_of
from nonsmooth.diagnostics.poincare import Section
from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import display
from nonsmooth.plots.style import COLOURS, INK, dress, legend, own_axes, quantity
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: points of a path in all, as far as rows are fewer, and at most in one step
POINTS, PER_STEP = 6000, 20
#: share of the largest rate by which both limits differ though there is no impact
ROUND_OFF = 1e-9
#: how the rate of a quantity is called
RATE = {"q": "v", "gap": "gap_rate"}
WORD = {"q": "", "gap": "gap, "}


def phase_portrait(
    trajectory: Trajectory,
    name: str,
    *,
    kind: str = "q",
    span: tuple[float, float] | None = None,
    section: Section | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The path of a coordinate, or of a gap, and its velocity.

    Between rows both follow `nonsmooth.diagnostics.pieces`. The rate's jumps at impacts are dashed lines.

    Parameters
    ----------
    trajectory
        The run.
    name
        Of a coordinate, or with ``kind="gap"`` of a contact.
    kind : "q" or "gap"
    span : (from, to) [s], optional
        Part of the run, as without its transient.
    section
        Points of a section of the same run, drawn on the path; of coordinates only.
    ax
        Axes to draw into; a figure of their own where omitted, with a legend.

    Raises
    ------
    InputError
        For an unknown name, a coordinate without a rate of its name, or a span outside the run.
    """
    if kind not in RATE:
        raise InputError(f"A phase portrait is drawn of a q or a gap, got kind={kind!r}.")
    if name not in getattr(trajectory, RATE[kind]):
        getattr(trajectory, kind)[name]
        raise InputError(f"{name} has no rate of its name, so it has no phase portrait.")
    axis = own_axes(ax, 4.2, 3.6)
    rows = _rows(trajectory, span)
    count = int(np.clip(POINTS // max(len(rows) - 1, 1), 1, PER_STEP))
    inner = rows[:-1, None] + np.diff(rows)[:, None] * np.arange(1, count) / count
    start, end, inner = rows[:-1, None], rows[1:, None], inner.reshape(len(rows) - 1, -1)

    def along(what: str) -> Array:
        """Each step a row: right limit at its start, points inside, left limit at its end."""
        course = pieces(trajectory, what, name)
        middle = course(inner.ravel()).reshape(inner.shape)
        return np.hstack([course(start.ravel())[:, None], middle, course(end.ravel(), "left")[:, None]])

    x, y = along(kind), along(RATE[kind])
    x_unit, x_scale = display(unit_of(trajectory, kind, name), _peak(x))
    y_unit, y_scale = display(unit_of(trajectory, RATE[kind], name), _peak(y))
    x, y = x / x_scale, y / y_scale
    jump = np.flatnonzero(np.abs(y[:-1, -1] - y[1:, 0]) > ROUND_OFF * np.max(np.abs(y)))
    parted = np.isin(np.arange(len(x)), jump)
    gap = np.where(parted, np.nan, 0.0)[:, None]
    axis.plot(
        np.hstack([x, x[:, -1:] + gap]).ravel(), np.hstack([y, y[:, -1:] + gap]).ravel(), color=COLOURS[0], lw=0.8,
        label="motion", zorder=2,
    )  # fmt: skip
    if jump.size:
        none = np.full(len(jump), np.nan)
        axis.plot(
            np.column_stack([x[jump, -1], x[jump + 1, 0], none]).ravel(),
            np.column_stack([y[jump, -1], y[jump + 1, 0], none]).ravel(),
            color=COLOURS[1], lw=0.6, ls=(0, (3, 2)), label="impact", zorder=3,
        )  # fmt: skip
    if section is not None:
        _points(axis, section.q[name] / x_scale, section.v[name] / y_scale, label="section", ms=3.5)
    from matplotlib.ticker import MaxNLocator

    word = WORD[kind]
    dress(axis, f"Phase portrait, {word}{name}", quantity(f"{word}{name}", x_unit), quantity("its velocity", y_unit))
    axis.xaxis.set_major_locator(MaxNLocator(5))
    if ax is None and (jump.size or section is not None):
        legend(axis, loc="upper right", bbox_to_anchor=(1.0, 1.09), ncols=3)
    return axis


def poincare_section(section: Section, name: str, other: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Points of a section: a coordinate and its velocity, or two coordinates.

    Parameters
    ----------
    section
        From `nonsmooth.diagnostics.poincare` or `stroboscope`.
    name
        Coordinate of the horizontal axis.
    other
        Coordinate of the vertical axis; the velocity of `name` where omitted.
    ax
        Axes to draw into; a figure of their own where omitted.

    Raises
    ------
    InputError
        For an unknown coordinate, or a section without points.
    """
    if not len(section):
        raise InputError("The section has no points; choose another value, or a longer run.")
    axis = own_axes(ax, 4.2, 3.6)
    if other is None:
        y, unit, label = section.v[name], section.v.units(name), "its velocity"
    else:
        y, unit, label = section.q[other], section.q.units(other), other
    x = section.q[name]
    (x_unit, x_scale), (y_unit, y_scale) = display(section.q.units(name), _peak(x)), display(unit, _peak(y))
    _points(axis, x / x_scale, y / y_scale, ms=3.0 if len(section) < 500 else 1.6)
    axis.margins(0.08)
    dress(axis, f"Poincaré section, {len(section)} points", quantity(name, x_unit), quantity(label, y_unit))
    return axis


def _points(axis: Axes, x: Array, y: Array, ms: float, **options: Any) -> None:
    axis.plot(x, y, ls="", marker="o", ms=ms, color=INK, mew=0.0, zorder=5, **options)


def _peak(values: Array) -> float:
    return float(np.max(np.abs(values)))


def _rows(trajectory: Trajectory, span: tuple[float, float] | None) -> Array:
    """Rows within the span, and its ends."""
    rows = trajectory.t
    if len(rows) < 2:
        raise InputError("A run without a step has no path to draw.")
    first, last = window_of(trajectory, span, "span")
    inside = rows[(rows > first) & (rows < last)]
    return np.concatenate([[first], inside, [last]])
