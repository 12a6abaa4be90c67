"""Names in a drawing, placed so that they cover neither each other nor the drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.plots.style import SIZE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

#: possible positions of a name: distance [pt] and direction, nearest first
SEATS = tuple(
    (reach, math.radians(turn))
    for reach in (9.0, 15.0, 23.0, 33.0, 45.0, 60.0)
    for turn in (45, 135, -45, -135, 0, 180, 90, -90, 20, 160, -20, -160, 70, 110, -70, -110)
)
#: cost of a name that stands nearer to what another one is of, in points of lines that it covers
ASTRAY = 5.0


@dataclass(frozen=True, eq=False)
class Label:
    """A name and what it is of, a place in the data of its axes, in the plane (2,)."""

    text: str
    at: Array
    colour: str
    bold: bool = False


def write_names(figure: Figure, axes: Axes, labels: Iterable[Label], strokes: Sequence[Array] = ()) -> None:
    """Write the names where they cover neither each other nor what is drawn; a thin line leads from far ones.

    Names keep off the lines of the axes, and off further polylines (k, 2).
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

    renderer = FigureCanvasAgg(figure).get_renderer()
    inch = figure.dpi / 72
    page = axes.bbox.padded(-2 * inch)
    ink = _ink(axes, strokes)
    taken: list[Bbox] = [text.get_window_extent(renderer) for text in axes.texts]
    labels = list(labels)
    anchors = [axes.transData.transform(label.at) for label in labels]
    for label, anchor in zip(labels, anchors, strict=True):
        x, y = (float(one) for one in label.at)
        style: dict[str, Any] = {"fontsize": SIZE, "color": label.colour, "ha": "center", "va": "center", "zorder": 9}
        text = axes.text(x, y, label.text, fontweight="bold" if label.bold else "normal", **style)
        text.set_in_layout(False)
        box = text.get_window_extent(renderer)
        best, least, own = anchor, math.inf, box
        for reach, turn in SEATS:
            centre = anchor + _reach(box, reach * inch, turn)
            seat = Bbox.from_bounds(centre[0] - box.width / 2, centre[1] - box.height / 2, box.width, box.height)
            roomy = seat.padded(1.5 * inch)
            covered = sum(roomy.overlaps(other) for other in taken)
            outside = not (page.x0 <= seat.x0 and page.y0 <= seat.y0 and seat.x1 <= page.x1 and seat.y1 <= page.y1)
            crossed = int(np.sum(np.all((roomy.min <= ink) & (ink <= roomy.max), axis=1)))
            apart = _distance(seat, anchor)
            nearer = any(_distance(seat, other) < apart - inch for other in anchors)
            cost = 1000.0 * covered + 500.0 * outside + min(crossed, 40) + ASTRAY * nearer + 0.15 * reach
            if cost < least:
                best, least, own = centre, cost, seat
        x, y = axes.transData.inverted().transform(best)
        text.set_position((float(x), float(y)))
        taken.append(own)
        if np.linalg.norm(best - anchor) > 26.0 * inch + box.width / 2:
            near = np.clip(anchor, own.min, own.max)
            ends = axes.transData.inverted().transform(np.array([near, anchor]))
            axes.plot(*ends.T, color=label.colour, lw=0.4, alpha=0.7, zorder=4)


def _distance(box: Bbox, point: Array) -> float:
    """From a box to a point [pixel]; 0 inside."""
    return float(np.linalg.norm(np.clip(point, box.min, box.max) - point))


def _reach(box: Any, reach: float, turn: float) -> Array:
    """From the anchor to the middle of the text, so that the text's edge is `reach` away."""
    direction = np.array([math.cos(turn), math.sin(turn)])
    return reach * direction + direction * np.array([box.width / 2, box.height / 2])


def _ink(axes: Axes, strokes: Iterable[Array]) -> Array:
    """Points on every line, arrow and outline, in pixels."""
    points = []
    paths = [line.get_transform().transform(np.column_stack(line.get_data())) for line in axes.lines]
    for data in [*paths, *(axes.transData.transform(stroke) for stroke in strokes)]:
        share = np.linspace(0.0, 1.0, 24)[:, None]
        points += [a + share * (b - a) for a, b in zip(data[:-1], data[1:], strict=True)] or [data]
    for patch in axes.patches:
        if not patch.get_fill() or tuple(patch.get_facecolor())[-1] == 0.0:
            points.append(patch.get_transform().transform(patch.get_path().interpolated(8).vertices))
    found = np.vstack(points)
    kept: Array = found[np.all(np.isfinite(found), axis=1)]
    return kept
