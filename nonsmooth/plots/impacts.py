"""Impacts as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nonsmooth.diagnostics.contacts import impacts
from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import display
from nonsmooth.plots.style import FAINT, INK, SIZE, own_axes, shown_unit
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

#: column of `nonsmooth.diagnostics.impacts`, heading, base unit
COLUMNS = (
    ("start", "time", "s"),
    ("contact", "contact", ""),
    ("approach", "approach", "m/s"),
    ("separation", "separation", "m/s"),
    ("impulse", "impulse", "N s"),
)
#: space between two columns, in type sizes, and the smallest type [pt]
SPACE, SMALLEST = 1.2, 4.0


class ImpactTable(NamedTuple):
    """A table in its axes.

    Parameters
    ----------
    axes
    columns
        Texts of each column, its heading first; numbers are aligned to the right.
    """

    axes: Axes
    columns: list[list[Text]]

    def fit(self) -> None:
        """Place the columns side by side in the present width of the axes, with smaller type if they need more."""
        every = [text for column in self.columns for text in column]
        size, needed, whole = SIZE - 0.5, np.inf, self.axes.get_window_extent().width
        while needed > whole:
            for text in every:
                text.set_fontsize(size)
            widths = [max(text.get_window_extent().width for text in column) for column in self.columns]
            space = SPACE * size * self.axes.figure.dpi / 72
            needed = sum(widths) + space * (len(widths) - 1)
            if size <= SMALLEST:
                break
            size = max(SMALLEST, 0.98 * size * min(1.0, whole / needed))  # widths are not quite proportional to size
        space += max(0.0, whole - needed) / (len(widths) - 1)
        left = 0.0
        for column, width in zip(self.columns, widths, strict=True):
            right_aligned = column[0].get_horizontalalignment() == "right"
            for text in column:
                text.set_x((left + width * right_aligned) / whole)
            left += width + space


def impact_table(
    trajectory: Trajectory,
    *,
    rows: int = 12,
    slowest: float | None = None,
    contacts: Iterable[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The impacts of a run as a table, in order of time; only those with the largest impulses if there are many.

    Parameters
    ----------
    trajectory
        The run, of rigid or of compliant contact.
    rows : int
        At most.
    slowest : [m/s], optional
        Slower approaches are omitted.
    contacts
        Only of these.
    ax
        Axes to draw into; a new figure by default.

    Raises
    ------
    InputError
        If there are no impacts.
    """
    drawn = drawn_table(trajectory, rows=rows, slowest=slowest, contacts=contacts, ax=ax)
    if ax is None:
        drawn.axes.figure.draw_without_rendering()  # type: ignore[union-attr]  # so that the axes are placed
    drawn.fit()
    return drawn.axes


def drawn_table(
    trajectory: Trajectory, *, rows: int = 12, slowest: float | None = None, contacts: Iterable[str] | None = None,
    ax: Axes | None = None,
) -> ImpactTable:  # fmt: skip
    """The table of `impact_table`, to be fitted when its axes are placed."""
    table = impacts(trajectory, slowest, contacts)
    if not len(table):
        raise InputError("There are no impacts to show.")
    if rows < 1:
        raise InputError(f"rows must be at least 1, got {rows!r}.")
    chosen = table[np.sort(np.argsort(-table["impulse"], kind="stable")[:rows])]
    axis = own_axes(ax, 5.6, 0.78 + 0.21 * len(chosen))
    axis.set_axis_off()
    axis.set(xlim=(0.0, 1.0), ylim=(len(chosen) + 0.05, -1.9))
    whole = f"the {len(chosen)} largest of {len(table)}" if len(chosen) < len(table) else f"all {len(table)}"
    axis.set_title(f"Impacts, {whole}", loc="left", fontsize=SIZE + 0.5, fontweight="bold", color=INK)
    columns = []
    for name, heading, base in COLUMNS:
        values, factor, align = chosen[name], 1.0, "right" if base else "left"
        if base:
            alike = [chosen[known] for known, _, unit in COLUMNS if unit == base]
            unit, factor = display(base, float(np.nanmax(np.abs(alike), initial=0.0)))
            heading = f"{heading}\n[{shown_unit(unit)}]"
        column = [axis.text(0.0, -0.15, heading, ha=align, va="bottom", color=INK, linespacing=1.3)]
        cells = [str(value) for value in values] if not base else _digits(values / factor)
        column += [axis.text(0.0, i + 0.5, cell, ha=align, va="center", color=INK) for i, cell in enumerate(cells)]
        for text in column:
            text.set_in_layout(False)  # its place depends on that of the axes
        columns.append(column)
    axis.plot([0.0, 1.0], [0.0, 0.0], color=FAINT, lw=0.6)
    for i in range(1, len(chosen)):
        axis.plot([0.0, 1.0], [i, i], color="#E6E6E6", lw=0.5)
    return ImpactTable(axis, columns)


def _digits(values: np.ndarray) -> list[str]:
    """With as many decimals as give the largest four digits; a dash for what is not known."""
    known = np.abs(values[np.isfinite(values)])
    peak = float(known.max()) if known.size else 0.0
    decimals = int(np.clip(3 - np.floor(np.log10(peak)), 0, 6)) if peak > 0 else 1
    return [f"{value:.{decimals}f}" if np.isfinite(value) else "-" for value in values]
