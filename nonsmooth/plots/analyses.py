"""Figures of analyses: phase portraits, sections, spectra, bifurcations, contact modes, and impacts as a table."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.contacts import impacts
from nonsmooth.diagnostics.long_term import Section, Spectrum
from nonsmooth.diagnostics.modes import CONTACT_MODES, Timeline
from nonsmooth.diagnostics.motion import columns, pieces, window_of
from nonsmooth.exceptions import InputError
from nonsmooth.plots.labels import display, quantity, shown_unit, spoken
from nonsmooth.plots.style import COLOURS, FAINT, INK, SIZE, dress, legend, mark_failed, own_axes
from nonsmooth.settings import checked, shown
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from nonsmooth.studies.bifurcation import Bifurcation

POINTS, PER_STEP = 6000, 20  # points of a path in all, as far as rows are fewer, and at most in one step
ROUND_OFF = 1e-9  # share of the largest rate by which both limits differ though there is no impact
#: kind of a phase portrait -> that of the rate, and what stands before the name
PORTRAITS = {"q": ("v", ""), "gap": ("gap_rate", "gap, ")}
DOTS: dict[str, Any] = {"ls": "", "marker": "o", "color": INK, "mew": 0.0}
LOWEST = 1e-6  # share of the highest line of a spectrum below which lines are not shown
#: what stands before the name of a quantity of a kind
WORDS = {"v": "velocity of ", "gap": "gap of ", "gap_rate": "rate of the gap of ", "lam_N": "normal force of "}
MANY = 20_000  # points of a bifurcation diagram from which they are drawn as small and as faint as they get
#: fills and hatches of the bars of open or free, and of the modes after it
FILLS = ("#E8E8E8", COLOURS[0], COLOURS[4], COLOURS[1], COLOURS[3])
HATCHES = ("", "", "////", "\\\\\\\\", "xxxx")  # narrow, so that fills are told apart without colour as well
#: column of `nonsmooth.diagnostics.impacts`, heading, base unit
COLUMNS = (
    ("start", "time", "s"), ("contact", "contact", ""), ("approach", "approach", "m/s"),
    ("separation", "separation", "m/s"), ("impulse", "impulse", "N s"),
)  # fmt: skip
SPACE, SMALLEST = 1.2, 4.0  # space between two columns, in type sizes, and the smallest type [pt]


@checked
def phase_portrait(
    trajectory: Trajectory, name: str, *, kind: str = "q", span: tuple[float, float] | None = None,
    section: Section | None = None, ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """The path of a coordinate, or of a gap, and its velocity.

    Between rows both follow `nonsmooth.diagnostics.pieces`. The rate's jumps at impacts are dashed lines. InputError
    for an unknown name, a coordinate without a rate of its name, or a span outside the run.

    Parameters
    ----------
    trajectory : the run
    name : of a coordinate, or with ``kind="gap"`` of a contact
    kind : "q" or "gap"
    span : (from, to) [s], optional, part of the run, as without its transient
    section : points of a section of the same run, drawn on the path; of coordinates only
    ax : axes to draw into; a figure of their own where omitted, with a legend
    """
    if kind not in PORTRAITS:
        raise InputError(f"A phase portrait is drawn of a q or a gap, got kind={shown(kind)}.")
    rate, word = PORTRAITS[kind]
    if name not in getattr(trajectory, rate):
        getattr(trajectory, kind)[name]
        raise InputError(f"{name} has no rate of its name, so it has no phase portrait.")
    axis = own_axes(ax, 4.2, 3.6)
    if len(trajectory.t) < 2:
        raise InputError("A run without a step has no path to draw.")
    first, last = window_of(trajectory, span, "span")
    rows = np.concatenate([[first], trajectory.t[(trajectory.t > first) & (trajectory.t < last)], [last]])
    count = int(np.clip(POINTS // max(len(rows) - 1, 1), 1, PER_STEP))
    inner = rows[:-1, None] + np.diff(rows)[:, None] * np.arange(1, count) / count
    start, end, inner = rows[:-1, None], rows[1:, None], inner.reshape(len(rows) - 1, -1)

    def along(what: str) -> tuple[Array, str, float]:
        """Each step a row: right limit at its start, points inside, left limit at its end; display unit and factor."""
        course = pieces(trajectory, what, name)
        middle = course(inner.ravel()).reshape(inner.shape)
        values = np.hstack([course(start.ravel())[:, None], middle, course(end.ravel(), "left")[:, None]])
        unit, factor = display(columns(trajectory, what).units(name), np.max(np.abs(values)))
        return values / factor, unit, factor

    (x, x_unit, x_scale), (y, y_unit, y_scale) = along(kind), along(rate)
    jump = np.flatnonzero(np.abs(y[:-1, -1] - y[1:, 0]) > ROUND_OFF * np.max(np.abs(y)))
    gap = np.where(np.isin(np.arange(len(x)), jump), np.nan, 0.0)[:, None]
    axis.plot(
        np.hstack([x, x[:, -1:] + gap]).ravel(), np.hstack([y, y[:, -1:] + gap]).ravel(), color=COLOURS[0], lw=0.8,
        label="motion", zorder=2,
    )  # fmt: skip
    if jump.size:
        none = np.full(len(jump), np.nan)
        across = (np.column_stack([column[jump, -1], column[jump + 1, 0], none]).ravel() for column in (x, y))
        axis.plot(*across, color=COLOURS[1], lw=0.6, ls=(0, (3, 2)), label="impact", zorder=3)
    if section is not None:
        axis.plot(section.q[name] / x_scale, section.v[name] / y_scale, label="section", ms=3.5, zorder=5, **DOTS)
    from matplotlib.ticker import MaxNLocator

    label = word + name
    dress(axis, f"Phase portrait, {label}", quantity(label, x_unit), quantity("its velocity", y_unit))
    axis.xaxis.set_major_locator(MaxNLocator(5))
    if ax is None and (jump.size or section is not None):
        legend(axis, loc="upper right", bbox_to_anchor=(1.0, 1.09), ncols=3)
    return axis


@checked
def poincare_section(section: Section, name: str, other: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Points of a section: a coordinate and its velocity, or two coordinates.

    InputError for an unknown coordinate, or a section without points.

    Parameters
    ----------
    section : from `nonsmooth.diagnostics.poincare` or `stroboscope`
    name : coordinate of the horizontal axis
    other : coordinate of the vertical axis; the velocity of `name` where omitted
    ax : axes to draw into; a figure of their own where omitted
    """
    if not len(section):
        raise InputError("The section has no points; choose another value, or a longer run.")
    axis = own_axes(ax, 4.2, 3.6)
    columns, of, label = (section.v, name, "its velocity") if other is None else (section.q, other, other)
    x, y = section.q[name], columns[of]
    x_unit, x_scale = display(section.q.units(name), np.max(np.abs(x)))
    y_unit, y_scale = display(columns.units(of), np.max(np.abs(y)))
    axis.plot(x / x_scale, y / y_scale, ms=3.0 if len(section) < 500 else 1.6, zorder=5, **DOTS)
    axis.margins(0.08)
    dress(axis, f"Poincaré section, {len(section)} points", quantity(name, x_unit), quantity(label, y_unit))
    return axis


@checked
def amplitudes(
    found: Spectrum, *, base: float | None = None, highest: float | None = None, ax: Axes | None = None
) -> Axes:
    """Amplitude spectrum on a logarithmic scale, the mean left out.

    InputError if there is nothing but the mean.

    Parameters
    ----------
    found : from `nonsmooth.diagnostics.spectrum`
    base : [Hz], optional, a frequency whose multiples are marked, as that of the drive
    highest : [Hz], optional, end of the axis; half the rate of samples where omitted
    ax : axes to draw into; a figure of their own where omitted
    """
    f, A = found.frequency[1:], found.amplitude[1:]
    if not np.any(A > 0):
        raise InputError(f"{found.name} is constant; its spectrum contains only the mean.")
    axis = own_axes(ax, 5.6, 3.2)
    end = float(f[-1]) if highest is None else highest
    if base is not None:
        for multiple in np.arange(base, min(end, 60 * base) * (1 + 1e-9), base):
            axis.axvline(multiple, color=FAINT, lw=0.5, ls=(0, (2, 3)), zorder=1)
    axis.semilogy(f, np.maximum(A, LOWEST * A.max()), color=COLOURS[0], lw=0.8, zorder=3)
    axis.set_xlim(0.0, end)
    axis.set_ylim(max(LOWEST * A.max(), float(A[f <= end].min()) / 2), 2.5 * A.max())
    title = f"Spectrum, {WORDS.get(found.kind, '')}{found.name}"
    # with room above for a note, which has none beside the title in a narrow panel
    dress(axis, title, quantity("frequency", "Hz"), quantity("amplitude", found.unit), above=1)
    note = "no window" if found.window == "boxcar" else f"{found.window} window"
    note += f", lines {1 / found.duration:.3g} Hz apart"
    note += "" if base is None else f"; dashed: multiples of {base:.4g} Hz"
    axis.text(0.0, 1.02, note, transform=axis.transAxes, ha="left", va="bottom", fontsize=SIZE - 1, color=FAINT)
    return axis


@checked
def bifurcation_diagram(found: Bifurcation, *, ax: Axes | None = None) -> Axes:
    """Points of the section over the parameter; values whose run failed are ticks at the foot.

    InputError if no value has points.

    Parameters
    ----------
    found : from `nonsmooth.studies.bifurcation`
    ax : axes to draw into; a new figure by default
    """
    counts = [len(points) for points in found.points]
    if not any(counts):
        raise InputError("No value has points; see the failures.")
    axis = own_axes(ax, 6.4, 3.8)
    x, y = np.repeat(found.values, counts), np.concatenate(found.points)
    x_unit, x_scale = display(found.unit, float(np.max(np.abs(x))))
    y_unit, y_scale = display(found.quantity_unit, float(np.max(np.abs(y))))
    share = min(len(x) / MANY, 1.0)
    axis.plot(x / x_scale, y / y_scale, ms=2.2 - 1.5 * share, alpha=0.9 - 0.45 * share, rasterized=True, **DOTS)
    if found.failures:
        mark_failed(axis, np.array(sorted(found.failures)) / x_scale, loc="upper right", bbox_to_anchor=(1.0, 1.09))
    axis.margins(x=0.01, y=0.05)
    title = f"Bifurcation diagram, {max(counts)} points at {len(found.values)} values"
    dress(axis, title, quantity(spoken(found.parameter), x_unit), quantity(found.quantity, y_unit))
    return axis


def _look(mode: int) -> dict[str, Any]:
    """Style of a mode's bars: beyond the fills that there are they come again, with other hatches."""
    turn, place = divmod(mode - 1, len(FILLS) - 1)
    fill, hatch = (1 + place, 1 + (place + turn) % (len(HATCHES) - 1)) if mode else (0, 0)
    return {"facecolor": FILLS[fill], "hatch": HATCHES[hatch], "edgecolor": "white", "linewidth": 0.0}


@checked
def mode_bars(timelines: Timeline | Sequence[Timeline], *, ax: Axes | None = None) -> Axes:
    """A bar over time for each contact or joint, filled by its mode, with the share of each mode in the legend.

    InputError for none, for no time, or for modes of two kinds.

    Parameters
    ----------
    timelines : from `nonsmooth.diagnostics.mode_timeline`: all of contacts, or all of sliders in guides
    ax : axes to draw into; a figure of their own where omitted
    """
    lines = [timelines] if isinstance(timelines, Timeline) else list(timelines)
    if not lines or not all(len(line) for line in lines):
        raise InputError("There is no time to draw; give timelines of runs with steps.")
    from matplotlib.patches import Patch

    first, modes = lines[0], lines[0].modes
    if any(line.modes != modes for line in lines):
        raise InputError("Contacts and sliders have modes of different kinds; draw them into axes of their own.")
    axis = own_axes(ax, 6.4, 1.15 + 0.32 * len(lines))
    unit, factor = display("s", float(max(line.end[-1] for line in lines) - min(line.start[0] for line in lines)))
    used = sorted({int(mode) for line in lines for mode in line.mode})
    for place, line in enumerate(reversed(lines)):
        for mode in used:
            of = line.mode == mode
            bars = np.column_stack([line.start[of], (line.end - line.start)[of]]) / factor
            axis.broken_barh(bars.tolist(), (place - 0.36, 0.72), **_look(mode))
    labels = {mode: modes[mode] for mode in used}
    for mode in used if len(lines) == 1 else ():
        share = first.shares()[modes[mode]]
        labels[mode] += f" {100 * share:.0f} %" if share >= 0.01 else " < 1 %"
    handles = [Patch(label=label, **_look(mode)) for mode, label in labels.items()]
    axis.set_xlim(first.start[0] / factor, first.end[-1] / factor)
    axis.set_ylim(-0.6, len(lines) - 0.4)
    title = "Contact modes" if modes == CONTACT_MODES else "Modes of the slider in its guide"
    dress(axis, title, quantity("time", unit), "", above=1)
    axis.set_yticks(range(len(lines)), [line.name for line in reversed(lines)])
    axis.tick_params(axis="y", length=0, labelsize=SIZE)
    axis.grid(False, axis="y")
    axis.spines["left"].set_visible(False)
    axis.spines["bottom"].set_color(FAINT)
    legend(axis, handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(handles))
    return axis


@checked
def impact_table(
    trajectory: Trajectory, *, rows: int = 12, slowest: float | None = None, contacts: Iterable[str] | None = None,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """The impacts of a run as a table, in order of time; only those with the largest impulses if there are many.

    InputError if there are no impacts.

    Parameters
    ----------
    trajectory : the run, of rigid or of compliant contact
    rows : int, at most
    slowest : [m/s], optional, slower approaches are omitted
    contacts : only of these
    ax : axes to draw into; a new figure by default
    """
    axis, columns = draw_table(trajectory, rows=rows, slowest=slowest, contacts=contacts, ax=ax)
    if ax is None:
        axis.figure.draw_without_rendering()  # type: ignore[union-attr]  # so that the axes are placed
    fit_columns(axis, columns)
    return axis


def draw_table(
    trajectory: Trajectory, *, rows: int = 12, slowest: float | None = None, contacts: Iterable[str] | None = None,
    ax: Axes | None = None,
) -> tuple[Axes, list[list[Text]]]:  # fmt: skip
    """The table of `impact_table` and its columns, headings first, for `fit_columns` when the axes are placed."""
    table = impacts(trajectory, slowest, contacts)
    if not len(table):
        raise InputError("There are no impacts to show.")
    if rows < 1:
        raise InputError(f"rows must be at least 1, got {shown(rows)}.")
    chosen = table[np.sort(np.argsort(-table["impulse"], kind="stable")[:rows])]
    axis = own_axes(ax, 5.6, 0.78 + 0.21 * len(chosen))
    axis.set_axis_off()
    axis.set(xlim=(0.0, 1.0), ylim=(len(chosen) + 0.05, -1.9))
    whole = f"the {len(chosen)} largest of {len(table)}" if len(chosen) < len(table) else f"all {len(table)}"
    axis.set_title(f"Impacts, {whole}", loc="left", fontsize=SIZE + 0.5, fontweight="bold", color=INK)
    columns = []
    for name, heading, base in COLUMNS:
        cells, align = [str(value) for value in chosen[name]], "left"
        if base:
            alike = [chosen[known] for known, _, unit in COLUMNS if unit == base]
            unit, factor = display(base, float(np.nanmax(np.abs(alike), initial=0.0)))
            heading, align = f"{heading}\n[{shown_unit(unit)}]", "right"
            values = chosen[name] / factor  # with as many decimals as give the largest four digits
            peak = float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))
            decimals = int(np.clip(3 - np.floor(np.log10(peak)), 0, 6)) if peak > 0 else 1
            cells = [f"{value:.{decimals}f}" if np.isfinite(value) else "-" for value in values]
        column = [axis.text(0.0, -0.15, heading, ha=align, va="bottom", color=INK, linespacing=1.3)]
        column += [axis.text(0.0, i + 0.5, cell, ha=align, va="center", color=INK) for i, cell in enumerate(cells)]
        for text in column:
            text.set_in_layout(False)  # its place depends on that of the axes
        columns.append(column)
    axis.plot([0.0, 1.0], [0.0, 0.0], color=FAINT, lw=0.6)
    for i in range(1, len(chosen)):
        axis.plot([0.0, 1.0], [i, i], color="#E6E6E6", lw=0.5)
    return axis, columns


def fit_columns(axes: Axes, columns: list[list[Text]]) -> None:
    """Place the columns side by side in the present width of the axes, with smaller type if they need more."""
    size, needed, whole = SIZE - 0.5, np.inf, axes.get_window_extent().width
    while needed > whole:
        for text in itertools.chain(*columns):
            text.set_fontsize(size)
        widths = [max(text.get_window_extent().width for text in column) for column in columns]
        space = SPACE * size * axes.figure.dpi / 72
        needed = sum(widths) + space * (len(widths) - 1)
        if size <= SMALLEST:
            break
        size = max(SMALLEST, 0.98 * size * min(1.0, whole / needed))  # widths are not quite proportional to size
    space += max(0.0, whole - needed) / (len(widths) - 1)
    left = 0.0
    for column, width in zip(columns, widths, strict=True):
        right_aligned = column[0].get_horizontalalignment() == "right"
        for text in column:
            text.set_x((left + width * right_aligned) / whole)
        left += width + space
