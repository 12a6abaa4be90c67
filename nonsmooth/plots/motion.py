"""Small multiples of a run over time, with impacts, measured data and the exact solution where there are any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.plots.labels import display, quantity, scale
from nonsmooth.plots.panel import (
    GRID,
    AnyPanel,
    Exact,
    Line,
    Measured,
    Panel,
    View,
    as_panel,
    chosen_panels,
    dense,
    limits,
    meaning,
    through_jumps,
    units_of,
)
from nonsmooth.plots.style import COLOURS, FAINT, INK, dress, legend, legend_lines, new_figure
from nonsmooth.settings import checked
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

WIDTHS = (2.2, 1.4, 0.8)  # later lines are thinner, so that coincident ones all show
EXACT_STYLE: dict[str, Any] = {"color": "black", "lw": 0.6, "ls": (0, (4, 3))}
MEASURED_STYLE: dict[str, Any] = {"color": INK, "marker": "o", "ls": "", "ms": 3.2, "mfc": "white", "mew": 0.7}
ROW_STYLE: dict[str, Any] = {"color": FAINT, "marker": ".", "ls": "", "ms": 5, "mew": 0.0}
FEW = 120  # rows up to which each is a dot, since the line between them is an interpolant
NARROW = 4.5  # width [inch] below which panels stand in one column
TICK_STYLE: dict[str, Any] = {"color": INK, "marker": 2, "ls": "", "ms": 4, "mew": 0.6}  # 2 stands on its point
CROWD_STYLE: dict[str, Any] = {"facecolor": INK, "edgecolor": "none", "alpha": 0.35}
APART, HEIGHT = 1 / 120, 0.035  # of ticks that can be distinguished, and of bars; shares of the panel
FLAT = 1e-6  # a panel whose values differ by less, in its display unit, is drawn flat instead of magnifying round-off


@checked
def motion(trajectory: Trajectory, panels: Iterable[AnyPanel] | None = None, exact: Exact | None = None) -> Figure:
    """Draw the panels; by default coordinates with the largest motion, and forces in contacts and joints.

    See `panels` for the parameters.
    """
    return draw_panels(trajectory, tuple(panels or ()) or chosen_panels(trajectory), exact)


@checked
def panels(trajectory: Trajectory, panels: Iterable[AnyPanel], exact: Exact | None = None) -> Figure:
    """Draw the panels as small multiples over a common time axis.

    Rows are dots if there are few. Between two rows the line of a coordinate, or of a function of coordinates, is the
    cubic Hermite interpolant with the velocity's right limit at the start of the step and its left limit at the end, if
    the velocity has the coordinate's name and there is no impact inside the step; quaternions, and steps of implicit
    Euler, are interpolated linearly. Velocities, gaps, impulses and energies are interpolated linearly between both
    limits, which jump at a row; mean forces are constant over their step. Impacts are ticks at the bottom of each
    panel. A legend is placed above the first panel that requires it. InputError for an unknown kind, name or unit, a
    unit that does not fit, and for an exact solution of another form.

    Parameters
    ----------
    trajectory : the run
    panels : `Panel` objects or plain tuples ``(title, unit, series)``
    exact
        The exact solution of the same problem, drawn as a thin dashed line over the run: an object with
        ``sample(t, side)``, which gives quantities under the trajectory's names, and ``events``, the times of its
        jumps.
    """
    return draw_panels(trajectory, tuple(panels), exact)


@checked
def energy(trajectory: Trajectory) -> Figure:
    """The energy balance: energies and work, losses, and the remainder."""
    return draw_panels(trajectory, energy_panels(trajectory), None)


def energy_panels(trajectory: Trajectory) -> tuple[Panel, ...]:
    losses = [name for name in trajectory.energy.names if name.startswith("loss_")]
    return (
        Panel("Energy", "", (("energy", "kinetic", "kinetic"), ("energy", "potential", "potential"))),
        Panel("Work", "", (("energy", "work_loads", "loads"), ("energy", "work_drivers", "drivers"))),
        Panel("Losses", "", tuple(("energy", name, name.removeprefix("loss_")) for name in losses)),
        Panel("Remainder", "", (("energy", "remainder", "remainder"),)),
    )


def draw_panels(
    trajectory: Trajectory, chosen: Sequence[AnyPanel], exact: Exact | None, *, columns: int = 0, share: bool = False,
    measured: Measured | None = None, width: float | None = None, window: tuple[float, float] | None = None,
    page: SubFigure | None = None,
) -> Figure:  # fmt: skip
    """Lay the panels out in columns, filled row by row, in a figure of a width [inch] or in a part of one.

    With `share` a column has one vertical scale; a window (from, to) [s] shows a part of the run.
    """
    from matplotlib.figure import Figure

    panels = [as_panel(entry) for entry in chosen]
    if not panels:
        raise InputError("There is nothing to draw: give at least one Panel.")
    if exact is not None and not (hasattr(exact, "sample") and hasattr(exact, "events")):
        wrong = f"exact must be a solution with sample(t, side) and events, got {type(exact).__name__}"
        raise InputError(f"{wrong}; call the problem's `exact` with the problem's arguments.")
    count = columns or column_count(len(panels), width)
    wide = width or (page.bbox.width / page.dpi if page is not None else 5.0 if count == 1 else 3.6 * count)
    above = _legend_rows(panels, count, wide)
    place: Figure | SubFigure = page or new_figure(wide, panels_height(panels, count, wide))
    axes = place.subplots(len(above), count, squeeze=False, sharex=True, sharey="col" if share else False).ravel()
    span = window or (float(trajectory.t[0]), float(trajectory.t[-1]))
    time_unit, _ = display("s", span[1] - span[0])
    views = limits(trajectory), dense(trajectory)
    units = []
    for i, (axis, panel) in enumerate(zip(axes, panels, strict=False)):
        lines, unit = _draw(axis, trajectory, panel, exact, time_unit, views, measured, span)
        units.append(unit)
        axis.margins(y=0.08)
        rows = above[i // count][i % count]
        # with the last panel of a column all of its row have times, so that none seems to lack them
        timed = i >= max(len(panels) - count, 0) // count * count
        across, up = quantity("time", time_unit) if timed else "", quantity(meaning(lines, unit), unit).strip()
        dress(axis, panel.title, across, up, above=max(above[i // count]))
        if timed:
            axis.tick_params(labelbottom=True)
        if rows:
            legend(
                axis, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=-(-len(lines) // rows), markerscale=0.0,
                borderpad=0.15,
            )  # fmt: skip
        if window is not None:
            _fit_height(axis)
    if not share:
        _flatten(list(axes[: len(panels)]), units)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    _explain(place, trajectory, exact, measured, span)
    place.align_ylabels(list(axes[: len(panels)]))
    return place if isinstance(place, Figure) else place.figure.figure


def column_count(panels: int, width: float | None) -> int:
    """Columns of so many panels in a figure of a width [inch]."""
    return 1 if panels <= 2 or (width is not None and width < NARROW) else 2


def panels_height(panels: Sequence[Panel], count: int, width: float) -> float:
    """Height [inch] that these panels take in so many columns of a figure of a width [inch]."""
    above = _legend_rows(panels, count, width)
    return 1.75 * len(above) + 0.15 * sum(map(max, above)) + 0.45


def _legend_rows(panels: Sequence[Panel], count: int, width: float) -> list[list[int]]:
    """Lines of the legends over panels, for each row of these: none over one line, or over those of a panel before."""
    labels = [tuple(entry[-1] for entry in panel.series) for panel in panels]
    rows = [legend_lines(names, width / count) if len(names) > 1 and names not in labels[:i] else 0
            for i, names in enumerate(labels)]  # fmt: skip
    return [rows[i : i + count] for i in range(0, len(panels), count)]


def _draw(
    axis: Axes, trajectory: Trajectory, panel: Panel, exact: Exact | None, time_unit: str,
    views: tuple[tuple[View, View], tuple[View, View]], measured: Measured | None, span: tuple[float, float],
) -> tuple[list[Line], str]:  # fmt: skip
    """Draw the panel's lines, measured points in their colours, and impacts; returns lines and display unit."""
    at_rows, between = views
    lines = [Line.of(entry, panel) for entry in panel.series]
    curves, own = [], []
    for line in lines:
        own.append(line.unit(trajectory))  # raises the error for an unknown name
        left, right = between if line.kind == "q" or line.function else at_rows  # a function may be of coordinates
        curves.append(through_jumps(right.t, line.value(left), line.value(right)))
    unit = panel.unit
    if not unit:
        units = {*own} - {None}
        if len(units) != 1:
            what = ", ".join(sorted(map(str, units))) or "functions only"
            raise InputError(f"One panel cannot find a unit for {what}; give its unit, or split the panel.")
        unit, _ = display(str(*units), max(float(np.nanmax(np.abs(y), initial=0.0)) for _, y in curves))
    base, factor = scale(unit)
    for line, known in zip(lines, own, strict=True):
        if known not in (None, base):
            raise InputError(f'Panel "{panel.title}": {line.label} is in {known}, which cannot be shown in {unit}.')
    _, time_factor = scale(time_unit)
    marker = "." if len(trajectory.t) <= FEW else ""
    for i, (line, (t, y)) in enumerate(zip(lines, curves, strict=True)):
        colour, width = COLOURS[i % len(COLOURS)], WIDTHS[min(i, len(WIDTHS) - 1)] if len(lines) > 1 else WIDTHS[1]
        axis.plot(
            t / time_factor, y / factor, color=colour, lw=width, marker=marker, ms=width + 3.0, mew=0.0,
            markevery=(np.searchsorted(t, trajectory.t)[:, None] + [0, 1]).ravel().tolist(), label=line.label,
            solid_joinstyle="round", zorder=2 + i,
        )  # fmt: skip
        if exact is not None:
            events = np.asarray(exact.events, float)
            times = np.union1d(np.linspace(0.0, trajectory.t[-1], GRID), events[events <= trajectory.t[-1]])
            sides = [exact.sample(times, "left"), exact.sample(times, "right")]
            if line.function is not None or line.name in getattr(sides[0], line.kind, {}):
                times, true = through_jumps(times, *map(line.value, sides))
                axis.plot(times / time_factor, true / factor, **EXACT_STYLE, zorder=20)
        values = measured.columns.get((line.kind, line.name)) if measured is not None else None
        if measured is not None and values is not None:
            axis.plot(measured.t / time_factor, values / factor, **(MEASURED_STYLE | {"mec": colour}), zorder=30)
    first, last = span[0] / time_factor, span[1] / time_factor
    impacts, names = trajectory.impacts, [line.name for line in lines if line.kind in ("gap", "lam_N", "impulse")]
    if len(names) == len(lines):
        impacts = impacts[np.isin(impacts["contact"], names)]
    struck = np.unique(impacts["t"]) / time_factor
    _draw_impacts(axis, struck[(first <= struck) & (struck <= last)], last - first)
    if last > first:
        axis.set_xlim(first, last)
    return lines, unit


def crowds(t: Array, span: float) -> tuple[Array, Array]:
    """Times (n,) that stand alone, and begin and end (k, 2) of those that would merge into a block."""
    if not len(t):
        return t, np.zeros((0, 2))
    groups = np.split(t, np.flatnonzero(np.diff(t) > APART * span) + 1)
    alone = [group for group in groups if len(group) < 3]  # two merge into a thicker tick
    merged = [(group[0], group[-1]) for group in groups if len(group) >= 3]
    return np.concatenate([*alone, np.zeros(0)]), np.array(merged).reshape(-1, 2)


def _draw_impacts(axis: Axes, t: Array, span: float) -> None:
    """Impacts at the foot of a panel: a tick each, a bar where they are too close to be distinguished."""
    from matplotlib.patches import Rectangle

    alone, merged = crowds(t, span)
    foot = axis.get_xaxis_transform()
    if alone.size:  # an empty line has no extent, with which the layout gives up
        axis.plot(alone, np.zeros_like(alone), **TICK_STYLE, transform=foot, zorder=1)
    for begin, end in merged:
        width = max(end - begin, APART * span)
        axis.add_patch(Rectangle((begin, 0.0), width, HEIGHT, transform=foot, zorder=1, **CROWD_STYLE))


def _fit_height(axis: Axes) -> None:
    """Vertical limits for what is seen of the lines between the horizontal ones."""
    first, last = axis.get_xlim()
    found = [np.zeros(0)]
    for line in (line for line in axis.lines if line.get_transform() == axis.transData):
        x, y = (np.asarray(values, float) for values in line.get_data())
        found += [y[(first <= x) & (x <= last)], np.interp([first, last], x, y)]
    values = np.concatenate(found)
    values = values[np.isfinite(values)]
    if values.size and np.ptp(values) > 0:
        room = 0.08 * float(np.ptp(values))
        axis.set_ylim(float(values.min()) - room, float(values.max()) + room)


def _flatten(axes: list[Axes], units: list[str]) -> None:
    """Give panels of next to constant values the widest scale of their unit, or 2 units: round-off is not magnified."""
    extents = [tuple(map(float, axis.dataLim.intervaly)) for axis in axes]
    flat = [bool(np.isfinite(extent).all()) and extent[1] - extent[0] < FLAT for extent in extents]
    for i, axis in enumerate(axes):
        if not flat[i]:
            continue
        middle = round(sum(extents[i]) / 2.0, 6)
        others = [axes[j].get_ylim() for j in range(len(axes)) if units[j] == units[i] and not flat[j]]
        low, high = max(others, key=lambda limits: limits[1] - limits[0], default=(-1.0, 1.0))
        if not low <= middle <= high:
            low, high = (middle - (high - low) / 2.0, middle + (high - low) / 2.0)
        axis.set_ylim(low, high)
        if not others:
            axis.set_yticks([middle])


def _explain(
    figure: Figure | SubFigure, trajectory: Trajectory, exact: Exact | None, measured: Measured | None,
    span: tuple[float, float],
) -> None:  # fmt: skip
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks: list[Line2D | Patch] = []
    if exact is not None:
        marks.append(Line2D([], [], label="exact solution", **EXACT_STYLE))
    if len(trajectory.t) <= FEW:
        marks.append(Line2D([], [], label="end of a step", **ROW_STYLE))
    if measured is not None:
        marks.append(Line2D([], [], label="measured", **MEASURED_STYLE))
    struck = np.unique(trajectory.impacts["t"])
    alone, merged = crowds(struck[(span[0] <= struck) & (struck <= span[1])], span[1] - span[0])
    if len(alone):
        marks.append(Line2D([], [], label="impact", **(TICK_STYLE | {"marker": "|"})))
    if len(merged):
        marks.append(Patch(label="many impacts", **CROWD_STYLE))
    if marks:
        loose = {"handlelength": 1.6, "columnspacing": 1.5, "borderaxespad": 0.2}
        legend(figure, handles=marks, loc="outside lower right", ncols=4, **loose)


@checked
def contact(trajectory: Trajectory, contacts: str | Iterable[str] | None = None, exact: Exact | None = None) -> Figure:
    """Gap, mean normal force and impulse since the start of each contact: a row per contact, a scale per column.

    Gaps are interpolated linearly between rows; see `nonsmooth.plots.panels`. InputError for a run without contacts, or
    an unknown name.

    Parameters
    ----------
    trajectory : the run
    contacts : names of contacts, or one; all of them by default
    exact : the exact solution, as for `nonsmooth.plots.panels`
    """
    given = trajectory.gap.names if contacts is None else contacts
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names:
        raise InputError("There is no contact to draw.")
    _, right = limits(trajectory)
    kinds = {"gap": "gap", "lam_N": "force", "impulse": "impulse"}
    peaks = {kind: max(float(np.max(np.abs(getattr(right, kind)[name]))) for name in names) for kind in kinds}
    units = {kind: display(units_of(trajectory, kind, names[0]), peak)[0] for kind, peak in peaks.items()}
    shown = [
        Panel(f"{name}, {word}", units[kind], ((kind, name, word),)) for name in names for kind, word in kinds.items()
    ]
    return draw_panels(trajectory, shown, exact, columns=len(kinds), share=True)
