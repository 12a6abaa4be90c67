"""Impacts as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.diagnostics.contacts import impacts
from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import readable, scale
from nonsmooth.plots.motion import FAINT, INK, SIZE
from nonsmooth.plots.style import own_axes, shown_unit
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["impact_table"]

#: column of `nonsmooth.diagnostics.impacts`, heading, base unit
COLUMNS = (
    ("start", "time", "s"),
    ("contact", "contact", ""),
    ("approach", "approach", "m/s"),
    ("separation", "separation", "m/s"),
    ("impulse", "impulse", "N s"),
)
WIDTHS = (0.12, 0.31, 0.17, 0.22, 0.18)


def impact_table(
    trajectory: Trajectory,
    *,
    rows: int = 12,
    slowest: float = 0.0,
    contacts: Iterable[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The impacts of a run as a table, in order of time: those with the largest impulses where there are more than fit.

    Parameters
    ----------
    trajectory
        The run, of rigid or of compliant contact.
    rows : int
        At most.
    slowest : [m/s]
        Slower approaches are left out.
    contacts
        Only of these.
    ax
        Axes to draw into; a figure of their own where omitted.

    Raises
    ------
    InputError
        If there are no impacts.
    """
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
    rights = np.cumsum(WIDTHS)
    for (name, heading, base), left, right in zip(COLUMNS, rights - WIDTHS, rights, strict=True):
        values = chosen[name]
        place, align = (left + 0.03, "left") if not base else (right, "right")
        factor = 1.0
        if base:
            alike = [chosen[known] for known, _, unit in COLUMNS if unit == base]
            unit = readable(base, float(np.nanmax(np.abs(alike), initial=0.0)))
            factor = scale(unit)[1]
            heading = f"{heading}\n[{shown_unit(unit)}]"
        axis.text(place, -0.15, heading, ha=align, va="bottom", fontsize=SIZE - 0.5, color=INK, linespacing=1.3)
        cells = [str(value) for value in values] if not base else _digits(values / factor)
        for i, cell in enumerate(cells):
            axis.text(place, i + 0.5, cell, ha=align, va="center", fontsize=SIZE - 0.5, color=INK)
    axis.plot([0.0, 1.0], [0.0, 0.0], color=FAINT, lw=0.6)
    for i in range(1, len(chosen)):
        axis.plot([0.0, 1.0], [i, i], color="#E6E6E6", lw=0.5)
    return axis


def _digits(values: np.ndarray) -> list[str]:
    """With as many decimals as give the largest four digits; a dash for what is not known."""
    known = np.abs(values[np.isfinite(values)])
    peak = float(known.max()) if known.size else 0.0
    decimals = int(np.clip(3 - np.floor(np.log10(peak)), 0, 6)) if peak > 0 else 1
    return [f"{value:.{decimals}f}" if np.isfinite(value) else "-" for value in values]
