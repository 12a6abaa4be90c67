"""Contact modes over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.diagnostics.modes import CONTACT_MODES, Timeline
from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import display
from nonsmooth.plots.style import COLOURS, FAINT, SIZE, dress, legend, own_axes, quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OPEN = "#E8E8E8"
#: of open or free, and of the modes after it
FILLS = (OPEN, COLOURS[0], COLOURS[4], COLOURS[1], COLOURS[3])
#: narrow, so that fills are told apart without colour as well
HATCHES = ("", "", "////", "\\\\\\\\", "xxxx")


def _look(mode: int) -> dict[str, Any]:
    """Of a bar; beyond the fills that there are they come again, with other hatches."""
    turn, place = divmod(mode - 1, len(FILLS) - 1)
    fill, hatch = (1 + place, 1 + (place + turn) % (len(HATCHES) - 1)) if mode else (0, 0)
    return {"facecolor": FILLS[fill], "hatch": HATCHES[hatch], "edgecolor": "white", "linewidth": 0.0}


def mode_bars(timelines: Timeline | Sequence[Timeline], *, ax: Axes | None = None) -> Axes:
    """A bar over time for each contact or joint, filled by its mode, with the share of each mode in the legend.

    Parameters
    ----------
    timelines
        From `nonsmooth.diagnostics.mode_timeline`: all of contacts, or all of sliders in guides.
    ax
        Axes to draw into; a figure of their own where omitted.

    Raises
    ------
    InputError
        For none, for no time, or for modes of two kinds.
    """
    lines = [timelines] if isinstance(timelines, Timeline) else list(timelines)
    if not lines or not all(len(line) for line in lines):
        raise InputError("There is no time to draw; give timelines of runs with steps.")
    modes = lines[0].modes
    if any(line.modes != modes for line in lines):
        raise InputError("Contacts and sliders have modes of different kinds; draw them into axes of their own.")
    axis = own_axes(ax, 6.4, 1.15 + 0.32 * len(lines))
    span = max(line.end[-1] for line in lines) - min(line.start[0] for line in lines)
    unit, factor = display("s", float(span))
    from matplotlib.patches import Patch

    used = sorted({int(mode) for line in lines for mode in line.mode})
    for place, line in enumerate(reversed(lines)):
        for mode in used:
            of = line.mode == mode
            bars = np.column_stack([line.start[of], (line.end - line.start)[of]]) / factor
            axis.broken_barh(bars.tolist(), (place - 0.36, 0.72), **_look(mode))
    first = lines[0]
    shares = first.shares() if len(lines) == 1 else {}
    labels = {mode: modes[mode] + (f" {_percent(shares[modes[mode]])}" if shares else "") for mode in used}
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


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "< 1 %"
