"""Small multiples of a run over time, with the exact solution where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import Curve, Exact, View, dense, exact_curve, limits, readable, scale, units_of
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Panel", "energy", "motion", "panels"]

# Okabe and Ito's colours, told apart with every kind of colour vision
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
WIDTHS = (2.2, 1.4, 0.8)  # later lines are thinner, so that coincident ones all show
INK, FAINT = "#222222", "#8A8A8A"
TICK_UP = 2  # matplotlib's marker of a tick that stands on its point
EXACT_STYLE: dict[str, Any] = {"color": "black", "lw": 0.6, "ls": (0, (4, 3))}
IMPACT_STYLE: dict[str, Any] = {"color": INK, "marker": TICK_UP, "ls": "", "ms": 4, "mew": 0.6}
ROW_STYLE: dict[str, Any] = {"color": FAINT, "marker": ".", "ls": "", "ms": 5, "mew": 0.0}
FEW = 120  # rows up to which each is a dot, since the line between them is an interpolant
SIZE = 8.0  # of the type [pt]
FLAT = 1e-6  # a panel whose values differ by less, in its display unit, is drawn flat instead of magnifying round-off

Series = tuple[str, str, str] | tuple[Callable[[Any], Array], str]


@dataclass(frozen=True)
class Panel:
    """What one panel shows. A problem, which does not import plots, declares it as the plain tuple of the three.

    Parameters
    ----------
    title
        Heading.
    unit
        Display unit: an SI unit, with a prefix (``"um"``, ``"mm/s"``), or ``"deg"``; ``""`` picks a readable one.
    series
        Lines as ``(kind, name, label)`` with a kind of `q`, `v`, `gap`, `lam_N`, `impulse` (of a contact since the
        start), `reaction`, `energy`; or as ``(function, label)``, where the function receives an object with these as
        mappings from names to arrays, and returns SI values.

    >>> Panel("Height", "um", (("q", "slider.y", "centre"),)).title
    'Height'
    """

    title: str
    unit: str
    series: tuple[Series, ...]


AnyPanel = Panel | tuple[str, str, tuple[Series, ...]]


def motion(trajectory: Trajectory, panels: Iterable[AnyPanel] | None = None, exact: Exact | None = None) -> Figure:
    """Draw the panels; without any, every coordinate and every velocity of each body.

    See `panels` for the parameters.
    """
    return draw_panels(trajectory, tuple(panels or ()) or _default_panels(trajectory), exact)


def panels(trajectory: Trajectory, panels: Iterable[AnyPanel], exact: Exact | None = None) -> Figure:
    """Draw the panels as small multiples over a common time axis.

    Rows are dots, as long as they are few. Between two rows the line of a coordinate, or of a function of coordinates,
    is the cubic Hermite interpolant with the velocity's right limit at the step's start and its left limit at the end,
    where the velocity has the coordinate's name and the step has no impact inside; quaternions, and steps of implicit
    Euler, are straight. Velocities, gaps, impulses and energies are straight between both limits, which jump at a row;
    mean forces are constant over the step they belong to. Impacts are ticks at the foot of each panel. A legend stands
    over the first panel that needs it.

    Parameters
    ----------
    trajectory
        The run.
    panels
        What to draw: `Panel` objects or plain tuples ``(title, unit, series)``.
    exact
        The exact solution of the same problem, drawn as a thin dashed line over the run: an object with
        ``sample(t, side)``, which gives quantities under the trajectory's names, and ``events``, the times of its
        jumps.

    Raises
    ------
    InputError
        For an unknown kind, name or unit, a unit that does not fit, and for an exact solution of another form.
    """
    return draw_panels(trajectory, tuple(panels), exact)


def energy(trajectory: Trajectory) -> Figure:
    """The energy balance: energies and work, losses, and the remainder."""
    losses = [name for name in trajectory.energy.names if name.startswith("loss_")]
    chosen = (
        Panel("Energy", "", (("energy", "kinetic", "kinetic"), ("energy", "potential", "potential"))),
        Panel("Work", "", (("energy", "work_loads", "loads"), ("energy", "work_drivers", "drivers"))),
        Panel("Losses", "", tuple(("energy", name, name.removeprefix("loss_")) for name in losses)),
        Panel("Remainder", "", (("energy", "remainder", "remainder"),)),
    )
    return draw_panels(trajectory, chosen, None)


def draw_panels(
    trajectory: Trajectory, chosen: Sequence[AnyPanel], exact: Exact | None, *, columns: int = 0, share: bool = False
) -> Figure:
    """Lay the panels out in columns, filled row by row; with `share`, a column has one vertical scale."""
    from matplotlib.figure import Figure

    panels = [_panel(entry) for entry in chosen]
    if not panels:
        raise InputError("There is nothing to draw: give at least one Panel.")
    if exact is not None and not (hasattr(exact, "sample") and hasattr(exact, "events")):
        raise InputError(
            f"exact must be a solution with sample(t, side) and events, got {type(exact).__name__}; "
            "call the problem's `exact` with the problem's arguments."
        )
    count = columns or (1 if len(panels) <= 2 else 2)
    labels = [tuple(entry[-1] for entry in panel.series) for panel in panels]
    legends = [len(names) > 1 and names not in labels[:i] for i, names in enumerate(labels)]
    above = [any(legends[i : i + count]) for i in range(0, len(panels), count)]  # in each row of panels
    width, height = (5.0 if count == 1 else 3.6 * count), 1.75 * len(above) + 0.15 * sum(above) + 0.45
    figure = Figure(figsize=(width, height), dpi=200, layout="constrained")
    axes = figure.subplots(len(above), count, squeeze=False, sharex=True, sharey="col" if share else False).ravel()
    time_unit = readable("s", float(trajectory.t[-1] - trajectory.t[0]))
    views = limits(trajectory), dense(trajectory)
    units = []
    for i, (axis, panel) in enumerate(zip(axes, panels, strict=False)):
        units.append(_draw(axis, trajectory, panel, exact, time_unit, views))
        _dress(axis, panel, units[i], legends[i], above[i // count])
    if not share:
        _flatten(list(axes[: len(panels)]), units)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[max(len(panels) - count, 0) : len(panels)]:
        axis.set_xlabel(f"time [{_label(time_unit)}]", fontsize=SIZE, color=INK)
        axis.tick_params(labelbottom=True)
    _explain(figure, trajectory, exact)
    figure.align_ylabels(list(axes[: len(panels)]))
    return figure


def _panel(entry: AnyPanel) -> Panel:
    if isinstance(entry, Panel):
        return entry
    if isinstance(entry, (tuple, list)) and len(entry) == 3:
        return Panel(*entry)
    raise InputError(f"A panel is Panel(title, unit, series), or a tuple of the three, got {entry!r}.")


Views = tuple[tuple[View, View], tuple[View, View]]


def _draw(axis: Axes, trajectory: Trajectory, panel: Panel, exact: Exact | None, time_unit: str, views: Views) -> str:
    """Draw the panel's lines; returns the display unit."""
    at_rows, between = views
    lines = [_Line.of(entry, panel) for entry in panel.series]
    curves = []
    for line in lines:
        line.unit(trajectory)  # which knows what to say of an unknown name
        left, right = between if line.curved else at_rows
        curves.append(Curve.through(right.t, line.value(left), line.value(right)))
    unit = panel.unit or _common_unit(trajectory, lines, curves)
    base, factor = scale(unit)
    for line in lines:
        if line.unit(trajectory) not in (None, base):
            own = line.unit(trajectory)
            raise InputError(f'Panel "{panel.title}": {line.label} is in {own}, which cannot be shown in {unit}.')
    _, time_factor = scale(time_unit)
    marker = "." if len(trajectory.t) <= FEW else ""
    for i, (line, curve) in enumerate(zip(lines, curves, strict=True)):
        colour, width = COLOURS[i % len(COLOURS)], WIDTHS[min(i, len(WIDTHS) - 1)] if len(lines) > 1 else WIDTHS[1]
        axis.plot(
            curve.t / time_factor, curve.y / factor, color=colour, lw=width, marker=marker, ms=width + 3.0, mew=0.0,
            markevery=curve.at(trajectory.t), label=line.label, solid_joinstyle="round", zorder=2 + i,
        )  # fmt: skip
        truth = exact_curve(exact, float(trajectory.t[-1]), line.known) if exact is not None else None
        if truth is not None:
            axis.plot(truth.t / time_factor, truth.y / factor, **EXACT_STYLE, zorder=20)
    ticks = _impact_times(trajectory, lines) / time_factor
    if ticks.size:  # an empty line has no extent, with which the layout gives up
        axis.plot(ticks, np.zeros_like(ticks), **IMPACT_STYLE, transform=axis.get_xaxis_transform(), zorder=1)
    if trajectory.t[-1] > trajectory.t[0]:
        axis.set_xlim(trajectory.t[0] / time_factor, trajectory.t[-1] / time_factor)
    return unit


def _impact_times(trajectory: Trajectory, lines: list[_Line]) -> Array:
    """Of the panel's contacts, if it shows contacts only; else of all."""
    names = [line.name for line in lines if line.kind in ("gap", "lam_N", "impulse")]
    impacts = trajectory.impacts
    if len(names) == len(lines):
        impacts = impacts[np.isin(impacts["contact"], names)]
    return np.unique(impacts["t"])


def _dress(axis: Axes, panel: Panel, unit: str, legend: bool, above: bool) -> None:
    """Title, unit, grid and, if wanted, the legend, for which titles of a row with one `above` leave room."""
    axis.margins(y=0.08)
    axis.set_title(
        panel.title, loc="left", fontsize=SIZE + 0.5, fontweight="bold", color=INK, pad=16 if above else 5
    )  # fmt: skip
    axis.set_ylabel(f"[{_label(unit)}]", fontsize=SIZE, color=INK)
    axis.tick_params(labelsize=SIZE - 0.5, colors=INK, width=0.6, length=3)
    axis.yaxis.get_offset_text().set_fontsize(SIZE - 1)
    axis.grid(color="#E6E6E6", lw=0.6)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set(linewidth=0.6, color=FAINT)
    if legend:
        axis.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(panel.series), frameon=False, fontsize=SIZE - 0.5,
            markerscale=0.0,
            handlelength=1.4, columnspacing=1.2, handletextpad=0.5, borderaxespad=0.1, borderpad=0.15, labelcolor=INK,
        )  # fmt: skip


def _flatten(axes: list[Axes], units: list[str]) -> None:
    """Give panels of next to constant values a wide scale, which does not magnify round-off.

    It is the scale of the panel of the same unit that shows most; without one, two units with a single tick.
    """
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


def _explain(figure: Figure, trajectory: Trajectory, exact: Exact | None) -> None:
    from matplotlib.lines import Line2D

    marks: list[Line2D] = []
    if exact is not None:
        marks.append(Line2D([], [], label="exact solution", **EXACT_STYLE))
    if len(trajectory.t) <= FEW:
        marks.append(Line2D([], [], label="end of a step", **ROW_STYLE))
    if len(trajectory.impacts):
        marks.append(Line2D([], [], label="impact", **(IMPACT_STYLE | {"marker": "|"})))
    if marks:
        figure.legend(
            handles=marks, loc="outside lower right", ncols=3, frameon=False, fontsize=SIZE - 0.5, labelcolor=INK,
            handlelength=1.6, handletextpad=0.5, columnspacing=1.5, borderaxespad=0.2,
        )  # fmt: skip


@dataclass(frozen=True)
class _Line:
    """One entry of a panel's series."""

    kind: str
    name: str
    label: str
    function: Callable[[Any], Array] | None = None

    @classmethod
    def of(cls, entry: Series, panel: Panel) -> _Line:
        if len(entry) == 3:
            return cls(*entry)
        if len(entry) == 2 and callable(entry[0]):
            return cls("", "", entry[1], entry[0])
        raise InputError(f'Panel "{panel.title}": a series is (kind, name, label) or (function, label), got {entry!r}.')

    @property
    def curved(self) -> bool:
        """Whether it is interpolated between rows: a coordinate, or a function, which may be of coordinates."""
        return self.kind == "q" or self.function is not None

    def unit(self, trajectory: Trajectory) -> str | None:
        return None if self.function else units_of(trajectory, self.kind, self.name)

    def value(self, view: Any) -> Array:
        if self.function:
            return np.asarray(self.function(view), float)
        result: Array = getattr(view, self.kind)[self.name]
        return result

    def known(self, sample: Any) -> Array | None:
        """The value, or None where an exact solution does not have this quantity."""
        if self.function is None and self.name not in getattr(sample, self.kind, {}):
            return None
        return self.value(sample)


def _common_unit(trajectory: Trajectory, series: list[_Line], curves: list[Curve]) -> str:
    units = {line.unit(trajectory) for line in series} - {None}
    if len(units) != 1:
        what = ", ".join(sorted(str(unit) for unit in units)) or "functions only"
        raise InputError(f"One panel cannot find a unit for {what}; give its unit, or split the panel.")
    peak = max(float(np.nanmax(np.abs(curve.y), initial=0.0)) for curve in curves)
    return readable(str(units.pop()), peak)


def _label(unit: str) -> str:
    return f"\N{MICRO SIGN}{unit[1:]}" if unit.startswith("u") else unit.replace("deg", "°")


def _default_panels(trajectory: Trajectory) -> tuple[Panel, ...]:
    """Each coordinate beside its velocity; where they differ in name, as a quaternion does, all of a body together."""
    if trajectory.q.names == trajectory.v.names:
        return tuple(
            Panel(name + suffix, "", ((kind, name, name),))
            for name in trajectory.q.names
            for kind, suffix in (("q", ""), ("v", ", velocity"))
        )
    chosen: list[Panel] = []
    for kind, columns in (("q", trajectory.q), ("v", trajectory.v)):
        groups: dict[tuple[str, str], list[str]] = {}
        for name in columns.names:
            groups.setdefault((name.rpartition(".")[0], columns.units(name)), []).append(name)
        for (body, unit), names in groups.items():
            heading = HEADINGS.get(unit, unit)
            chosen.append(
                Panel(f"{body}, {heading}", "", tuple((kind, name, name.rpartition(".")[2]) for name in names))
            )
    return tuple(chosen)


HEADINGS = {
    "m": "position",
    "rad": "angle",
    "1": "orientation",
    "-": "orientation",
    "m/s": "velocity",
    "rad/s": "angular velocity",
}
