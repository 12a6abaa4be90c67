"""The bar that tells how large a drawing is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from nonsmooth.plots.curves import display
from nonsmooth.plots.style import FAINT, SIZE, shown_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: share of the picture's width that the bar takes at most; distance from the corner and height of its ends [pt]
SHARE, CORNER, END = 0.2, 7.0, 4.0


def round_length(most: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above `most`.

    >>> round_length(0.37), round_length(5.0)
    (0.2, 5.0)
    """
    power = 10.0 ** math.floor(math.log10(most))
    digit = max(digit for digit in (1, 2, 5) if digit * power <= most * (1 + 1e-12))
    return float(f"{digit * power:.6g}")


def draw_scale(axes: Axes, metre: float, *, note: str = "") -> None:
    """Draw the bar in the lower left corner, its length above it.

    Parameters
    ----------
    axes
        Axes of the drawing, which are placed already.
    metre
        How long a metre is in the picture [pixel].
    note
        What else is said of sizes, behind it.
    """
    from matplotlib.lines import Line2D

    box, point = axes.bbox, axes.figure.dpi / 72
    length = round_length(SHARE * box.width / metre)
    wide = length * metre
    x = box.x0 + CORNER * point
    y = box.y0 + CORNER * point
    to_axes = axes.transAxes.inverted()
    ends = [(x, y + END / 2 * point), (x, y), (x + wide, y), (x + wide, y + END / 2 * point)]
    x_line, y_line = zip(*map(to_axes.transform, ends), strict=True)
    axes.add_artist(Line2D(x_line, y_line, color=FAINT, lw=0.8, transform=axes.transAxes, zorder=8))
    unit, factor = display("m", length)
    text = f"{length / factor:g} {shown_unit(unit)}"
    style: dict[str, Any] = {"fontsize": SIZE - 1, "color": FAINT, "transform": axes.transAxes, "zorder": 8}
    middle, end = to_axes.transform([(x + wide / 2, y + 2 * point), (x + wide + 5 * point, y)]).tolist()
    axes.text(middle[0], middle[1], text, ha="center", va="bottom", **style)
    if note:
        axes.text(end[0], end[1], note, ha="left", va="baseline", **style)
