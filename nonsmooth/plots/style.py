"""Common look of figures: colours, size, type, grid, legends, ticks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.plots.labels import power
from nonsmooth.settings import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

#: of Okabe and Ito, distinguishable with every kind of colour vision
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, FAINT = "#222222", "#8A8A8A"
LOOSE = "#B00020"  # of contacts and clearances
MARKERS = ("o", "s", "^", "D", "v", "P")
SIZE = 8.0  # of the type [pt]


def new_figure(width: float, height: float, **pads: float) -> Figure:
    """A figure [inch] that lays its panels out, with these pads between them; it leaves pyplot alone."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=200, layout="constrained")
    layout: Any = figure.get_layout_engine()
    layout.set(**pads)
    return figure


def own_axes(ax: Axes | None, width: float = 5.0, height: float = 3.2) -> Axes:
    """The axes given, or those of a figure of their own."""
    if ax is not None and not hasattr(ax, "set_axis_off"):
        raise InputError(f"ax must be axes of matplotlib, got {shown(ax)}.")
    return new_figure(width, height).subplots() if ax is None else ax


def dress(axis: Axes, title: str, xlabel: str, ylabel: str, *, above: int = 0) -> None:
    """Title, labels, thin axes and a faint grid below the data; `above` lines of a legend fit under the title."""
    axis.set_title(title, loc="left", fontsize=SIZE + 0.5, fontweight="bold", color=INK, pad=6 + 11 * above)
    axis.set_xlabel(xlabel, fontsize=SIZE, color=INK)
    axis.set_ylabel(ylabel, fontsize=SIZE, color=INK)
    axis.tick_params(which="both", labelsize=SIZE - 0.5, colors=INK, width=0.6, length=3)
    axis.grid(color="#E6E6E6", lw=0.6)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set(linewidth=0.6, color=FAINT)
    for part in (axis.xaxis, axis.yaxis):
        part.get_offset_text().set_fontsize(SIZE - 1)


def legend(of: Axes | Figure | SubFigure, **options: Any) -> None:
    """A legend without a frame, above the data, or of a whole figure."""
    style = {"frameon": False, "fontsize": SIZE - 0.5, "labelcolor": INK, "handlelength": 1.4, "handletextpad": 0.5}
    of.legend(**(style | {"columnspacing": 1.2, "borderaxespad": 0.1} | options))


def legend_lines(labels: Sequence[str], width: float) -> int:
    """Lines that a legend takes over a panel of a width [inch], about: with a letter of 0.56 of the size of type."""
    needed = [0.56 * (SIZE - 0.5) / 72 * len(label) + 0.33 for label in labels]
    for count in range(1, len(labels) + 1):
        columns = np.array_split(needed, -(-len(labels) // count))
        if sum(float(column.max()) for column in columns) - 0.12 <= width - 0.55:
            return count
    return len(labels)


def mark_failed(axis: Axes, x: Array, **place: Any) -> None:
    """Ticks at the foot, where runs have failed."""
    axis.plot(
        x, np.zeros_like(x), ls="", marker="|", ms=6.5, color=COLOURS[1], clip_on=False, label="failed",
        transform=axis.get_xaxis_transform(),
    )  # fmt: skip
    legend(axis, **place)


def decades(axis: Axes, which: str, most: int = 5, plain: bool = False) -> None:
    """So many ticks at powers of ten, as powers or plain numbers; on short axes at multiples of these as well."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = axis.get_xlim() if which == "x" else axis.get_ylim()
    span = np.log10(high / low)
    stride = max(1, int(np.ceil(span / most)))
    first = (np.floor if stride == 1 else np.ceil)(np.log10(low))
    powers = 10.0 ** np.arange(first, np.ceil(np.log10(high)) + 1, stride)
    between = {0.7: (1.0, 1.5, 2.0, 3.0, 5.0, 7.0), 1.5: (1.0, 2.0, 5.0), 2.0: (1.0, 3.0)}
    ticks: Array = np.outer(powers, next((digits for end, digits in between.items() if span < end), (1.0,))).ravel()
    part = axis.xaxis if which == "x" else axis.yaxis
    part.set_major_locator(FixedLocator(ticks[(ticks >= low) & (ticks <= high)].tolist()))
    part.set_minor_locator(NullLocator())
    part.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}" if plain else power(x)))
