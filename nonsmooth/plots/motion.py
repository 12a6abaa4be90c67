"""Small multiples of a run over time, with the exact solution where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import Curve, Exact, exact_curve, limits, readable, scale, units_of
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Panel", "energy", "motion", "panels"]

# Okabe and Ito's colours, told apart with every kind of colour vision
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
WIDTHS = (2.2, 1.5, 0.9)  # later lines are thinner, so that coincident ones all show
INK, FAINT = "#222222", "#8A8A8A"
SIZE = 8.0  # of the type [pt]
FLAT = 1e-6  # a panel whose values differ by less, in its display unit, is drawn flat instead of magnifying round-off

Series = tuple[str, str, str] | tuple[Callable[[Any], Array], str]


@dataclass(frozen=True)
class Panel:
    """What one panel shows; plain data, so that a problem can declare its panels.

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


def motion(trajectory: Trajectory, panels: Iterable[Panel] | None = None, exact: Exact | None = None) -> Figure:
    """Draw the panels; without any, every coordinate and every velocity of each body.

    See `panels` for the parameters.
    """
    return draw_panels(trajectory, tuple(panels or ()) or _default_panels(trajectory), exact)


def panels(trajectory: Trajectory, panels: Iterable[Panel], exact: Exact | None = None) -> Figure:
    """Draw the panels as small multiples over a common time axis.

    Velocities have both limits at a jump; mean forces are constant over the step they belong to; impacts are ticks at
    the foot of each panel.

    Parameters
    ----------
    trajectory
        The run.
    panels
        What to draw.
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
    """The balance of energy: energies and work above, losses and the remainder below."""
    names = trajectory.energy.names
    losses = [name for name in names if name.startswith("loss_")]

    def series(chosen: Iterable[str]) -> tuple[Series, ...]:
        return tuple(("energy", name, name.replace("_", " ")) for name in chosen)

    above = series(["kinetic", "potential", "work_loads", "work_drivers"])
    return draw_panels(
        trajectory,
        (
            Panel("Energy and work", "", above),
            Panel("Losses", "", series(losses)),
            Panel("Remainder", "", series(["remainder"])),
        ),
        None,
    )


def draw_panels(
    trajectory: Trajectory, panels: tuple[Panel, ...], exact: Exact | None, columns: int | None = None
) -> Figure:
    """Lay the panels out in columns, filled row by row."""
    from matplotlib.figure import Figure

    if not panels:
        raise InputError("There is nothing to draw: give at least one Panel.")
    if exact is not None and not (hasattr(exact, "sample") and hasattr(exact, "events")):
        raise InputError(
            f"exact must be a solution with sample(t, side) and events, got {type(exact).__name__}; "
            "call the problem's `exact` with the problem's arguments."
        )
    count = columns or (1 if len(panels) <= 2 else 2)
    rows = -(-len(panels) // count)
    figure = Figure(figsize=(3.6 * count if count > 1 else 5.0, 1.75 * rows + 0.45), dpi=200, layout="constrained")
    axes = figure.subplots(rows, count, squeeze=False, sharex=True).ravel()
    time_unit = readable("s", float(trajectory.t[-1] - trajectory.t[0]))
    for axis, panel in zip(axes, panels, strict=False):
        _draw(axis, trajectory, panel, exact, time_unit)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    for i, axis in enumerate(axes[: len(panels)]):
        if i + count >= len(panels):
            axis.set_xlabel(f"time [{_label(time_unit)}]", fontsize=SIZE, color=INK)
            axis.tick_params(labelbottom=True)
    _explain(figure, trajectory, exact)
    figure.align_ylabels(list(axes[: len(panels)]))
    return figure


def _draw(axis: Axes, trajectory: Trajectory, panel: Panel, exact: Exact | None, time_unit: str) -> None:
    left, right = limits(trajectory)
    series = [_Line.of(entry, panel) for entry in panel.series]
    curves = [Curve.through(trajectory.t, line.value(left), line.value(right)) for line in series]
    unit = panel.unit or _common_unit(trajectory, series, curves)
    base, factor = scale(unit)
    for line in series:
        own = line.unit(trajectory)
        if own not in (None, base):
            raise InputError(f'Panel "{panel.title}": {line.label} is in {own}, which cannot be shown in {unit}.')
    _, time_factor = scale(time_unit)
    for i, (line, curve) in enumerate(zip(series, curves, strict=True)):
        colour, width = COLOURS[i % len(COLOURS)], WIDTHS[min(i, len(WIDTHS) - 1)]
        x, y = curve.t / time_factor, curve.y / factor
        axis.plot(x, y, color=colour, lw=width, label=line.label, solid_joinstyle="round", zorder=2 + i)
        truth = exact_curve(exact, float(trajectory.t[-1]), line.known) if exact is not None else None
        if truth is not None:
            axis.plot(truth.t / time_factor, truth.y / factor, color="black", lw=0.7, ls=(0, (4, 2.5)), zorder=20)
    if len(trajectory.impacts):
        ticks = np.unique(trajectory.impacts["t"]) / time_factor
        foot = axis.get_xaxis_transform()
        axis.plot(ticks, np.zeros_like(ticks), "|", color=INK, ms=5, mew=0.6, transform=foot, clip_on=False)
    _dress(axis, panel.title, unit, many=len(series) > 1)
    if trajectory.t[-1] > trajectory.t[0]:
        axis.set_xlim(trajectory.t[0] / time_factor, trajectory.t[-1] / time_factor)


def _dress(axis: Axes, title: str, unit: str, *, many: bool) -> None:
    low, high = axis.dataLim.intervaly
    axis.margins(y=0.08)
    if np.isfinite([low, high]).all() and high - low < FLAT:
        axis.set_ylim((low + high) / 2.0 - 1.0, (low + high) / 2.0 + 1.0)
    axis.set_title(title, loc="left", fontsize=SIZE + 0.5, fontweight="bold", color=INK, pad=5)
    axis.set_ylabel(f"[{_label(unit)}]", fontsize=SIZE, color=INK)
    axis.tick_params(labelsize=SIZE - 0.5, colors=INK, width=0.6, length=3)
    axis.yaxis.get_offset_text().set_fontsize(SIZE - 1)
    axis.grid(color="#E6E6E6", lw=0.6)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set(linewidth=0.6, color=FAINT)
    if many:
        axis.legend(
            loc="lower right", bbox_to_anchor=(1.01, 0.985), ncols=4, frameon=False, fontsize=SIZE - 0.5,
            handlelength=1.3, columnspacing=1.0, handletextpad=0.4, borderaxespad=0.0, labelcolor=INK,
        )  # fmt: skip


def _explain(figure: Figure, trajectory: Trajectory, exact: Exact | None) -> None:
    from matplotlib.lines import Line2D

    marks: list[Line2D] = []
    if exact is not None:
        marks.append(Line2D([], [], color="black", lw=0.7, ls=(0, (4, 2.5)), label="exact solution"))
    if len(trajectory.impacts):
        marks.append(Line2D([], [], color=INK, marker="|", ls="", ms=5, mew=0.6, label="impact"))
    if marks:
        figure.legend(
            handles=marks, loc="outside lower right", ncols=2, frameon=False, fontsize=SIZE - 0.5, labelcolor=INK,
            handletextpad=0.5, borderaxespad=0.2,
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

    def unit(self, trajectory: Trajectory) -> str | None:
        return None if self.function else units_of(trajectory, self.kind, self.name)

    def value(self, view: Any) -> Array:
        if self.function:
            return np.asarray(self.function(view), float)
        if not hasattr(view, self.kind):
            raise InputError(f"There is no kind {self.kind!r} of quantity.")
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
    """One panel for each body and unit: first the coordinates, then the velocities."""
    chosen: list[Panel] = []
    for kind, columns, word in (("q", trajectory.q, "position"), ("v", trajectory.v, "velocity")):
        groups: dict[tuple[str, str], list[str]] = {}
        for name in columns.names:
            groups.setdefault((name.rpartition(".")[0], columns.units(name)), []).append(name)
        for (body, unit), names in groups.items():
            heading = {"rad": "angle", "rad/s": "angular velocity", "1": "orientation"}.get(unit, word)
            lines = tuple((kind, name, name.rpartition(".")[2]) for name in names)
            chosen.append(Panel(f"{body} {heading}", "", lines))
    return tuple(chosen)
