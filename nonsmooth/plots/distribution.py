"""Figures of the statistics of long motions: estimates with intervals, distributions, spectra, places of journals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.plots.labels import display, quantity, shown_unit
from nonsmooth.plots.style import COLOURS, FAINT, INK, SIZE, dress, legend, new_figure
from nonsmooth.settings import checked
from nonsmooth.studies.statistics.estimates import stated
from nonsmooth.studies.statistics.measures import REACH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.studies.long_run import Statistics

#: scatter of a measure, relative to its mean, below which its distribution is a point
LEAST = 1e-9
#: distributions and journals that are drawn at most, side by side, and the size of their panels [inch]
MOST, COLUMNS, WIDE, HIGH = 6, 3, 2.4, 2.2
#: letters of a measure beyond which its title has two lines
LONG = 22


@checked
def statistics(found: Statistics) -> Figure:
    """Estimates with intervals, distributions over windows of measures that vary most, spectra, places of journals."""
    scatter = {name: np.std(x) / (abs(np.mean(x)) or 1.0) for name in found.measures if len(x := found.column(name))}
    varying = sorted((name for name, x in scatter.items() if x > LEAST), key=lambda name: -scatter[name])
    places, spectra = list(found.places)[:MOST], list(found.spectra)[:MOST]
    varying = varying[: max(MOST - len(places) - len(spectra), 0)]
    count = len(varying) + len(spectra) + len(places)
    rows, table = -(-count // COLUMNS), 0.7 + 0.19 * len(found.measures)
    figure = new_figure(WIDE * COLUMNS, table + HIGH * rows, h_pad=0.06)
    if not count:
        _intervals(figure.subplots(), found)
        return figure
    parts: Any = figure.subfigures(2, 1, height_ratios=[table, HIGH * rows])
    upper, lower = parts
    _intervals(upper.subplots(), found)
    axes = lower.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axis, name in zip(axes, varying, strict=False):  # share of windows below each value, the estimate, its interval
        one, values = found[name], np.sort(found.column(name))
        unit, factor = display(one.unit, float(np.abs(values).max()))
        axis.step(values / factor, np.arange(1, len(values) + 1) / len(values), color=COLOURS[0], lw=1.2, where="post")
        axis.axvspan(one.low / factor, one.high / factor, color=COLOURS[1], alpha=0.3, lw=0)
        axis.axvline(one.value / factor, color=COLOURS[1], lw=0.9, label="estimate, 95 %")
        title = name if len(name) <= LONG else name.replace(":", ":\n")
        dress(axis, title, quantity("in one window", unit), "share of windows below [-]", above=1)
        legend(axis, loc="lower left", bbox_to_anchor=(0.0, 1.0))
        axis.set_ylim(0.0, 1.02)
    for axis, name in zip(axes[len(varying) :], spectra, strict=False):  # down to a billionth of the highest
        f, density, low, high = found.spectra[name][:, 1:]
        axis.fill_between(f, low, high, color=COLOURS[0], alpha=0.35, lw=0, label="95 %")
        axis.plot(f, density, color=COLOURS[0], lw=0.8)
        axis.set(xscale="log", yscale="log", ylim=(max(density.min(), density.max() * 1e-9) / 2, high.max() * 2))
        if found.period:
            axis.axvline(1 / found.period, color=FAINT, lw=0.8, ls=(0, (4, 3)), zorder=0, label="driver")
        dress(axis, name.replace(":", ":\n"), "frequency [Hz]", "density [per Hz]", above=1)
        legend(axis, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    for axis, name in zip(axes[len(varying) + len(spectra) :], places, strict=False):
        bar = lower.colorbar(_place(axis, found, name), ax=axis, shrink=0.8, aspect=25)
        bar.ax.set_title("over\nuniform", fontsize=SIZE - 1.5, color=INK, loc="left")
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=SIZE - 1, colors=INK, width=0.6, length=2)
    for axis in axes[count:]:
        axis.remove()
    return figure


def _intervals(axis: Axes, found: Statistics) -> None:
    """Intervals relative to their estimates, the part of sampling thick, with the numbers beside them."""
    every = list(found.measures.values())
    for i, one in enumerate(every):
        size = abs(one.value) or 1.0
        style: dict[str, Any] = {"color": COLOURS[0], "solid_capstyle": "butt"}
        axis.plot(100 * np.array([one.low - one.value, one.high - one.value]) / size, [i, i], lw=1.2, **style)
        axis.plot(100 * np.array([-1, 1]) * one.sampling / size, [i, i], lw=4.0, **style)
        axis.plot(0.0, i, "o", color="white", mec=COLOURS[0], ms=3.5, mew=0.9)
        unit, factor = display(one.unit, abs(one.value))
        half = (one.high - one.low) / 2 / factor
        said = f"{stated(one.value / factor, half)} {shown_unit(unit).replace('-', '')}"
        axis.text(1.02, i, said, transform=axis.get_yaxis_transform(), fontsize=SIZE - 0.5, va="center", color=INK)
    axis.axvline(0.0, color=FAINT, lw=0.6, zorder=0)
    axis.set_ylim(len(every) - 0.4, -0.6)
    dress(axis, "95 % intervals about the estimates", "difference from the estimate [%]", "")
    axis.margins(x=0.03)
    axis.set_yticks(range(len(every)), [one.name for one in every], fontsize=SIZE - 0.5)
    axis.grid(visible=False, axis="y")


def _place(axis: Axes, found: Statistics, name: str) -> Any:
    """Density of a journal's centre in its clearance circle, in clearances, over that of a uniform one."""
    table = found.places[name]
    cells = len(table)
    uniform = (2 * REACH / cells) ** 2 / np.pi
    edges = np.linspace(-REACH, REACH, cells + 1)
    shown = np.ma.masked_less_equal(table.T / uniform, 0.0)
    from matplotlib.colors import LogNorm

    low, high = max(float(shown.min()), float(shown.max()) * 1e-3), float(shown.max())
    mesh = axis.pcolormesh(edges, edges, shown, cmap="viridis", norm=LogNorm(low, high), lw=0, rasterized=True)
    turn = np.linspace(0.0, 2 * np.pi, 200)
    axis.plot(np.cos(turn), np.sin(turn), color="black", lw=0.6, ls=(0, (4, 3)))
    axis.set_aspect("equal")
    dress(axis, f"journal in {name}", "x in the bearing [c]", "y [c]")
    axis.grid(visible=False)
    axis.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), xticks=(-1, 0, 1), yticks=(-1, 0, 1))
    return mesh
