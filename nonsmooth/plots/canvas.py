"""The page of a drawing: its size, the place of its axes, and names, scale and notes on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.plots.labels import Label, write_names
from nonsmooth.plots.scale_bar import draw_scale
from nonsmooth.plots.scene import Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: of the page: largest and least size, margin, room for notes, least width with these [inch]
LARGEST, LEAST, MARGIN, NOTES, WIDE = np.array([6.4, 6.0]), np.array([4.2, 2.4]), 0.45, 0.42, 5.6


def new_axes(dimension: int, dpi: int) -> Any:
    """Axes of the plane or of space in a figure of their own."""
    from matplotlib.figure import Figure

    options: dict[str, Any] = {"projection": "3d", "proj_type": "ortho"} if dimension == 3 else {}
    return Figure(figsize=tuple(LARGEST), dpi=dpi).add_axes((0.0, 0.0, 1.0, 1.0), **options)


def fit(scene: Scene, notes: bool) -> None:
    """Size of the page and scale such that everything is seen, equal along all axes."""
    points = scene.points()
    spans = np.ptp(np.column_stack([points @ scene.right, points @ scene.up]), axis=0)
    scale = float(np.min((LARGEST - 2 * MARGIN) / np.maximum(spans, 1e-9 * scene.drawing.size)))
    least, foot = (np.maximum(LEAST, [WIDE, 0.0]), NOTES) if notes else (LEAST, 0.0)
    page = np.maximum(scale * spans + 2 * MARGIN, least) + [0.0, foot]
    scene.axes.figure.set_size_inches(*page)
    if scene.flat:
        scene.axes.set_position((0.0, foot / page[1], 1.0, 1.0 - foot / page[1]))
        fill(scene, MARGIN)
    else:
        _place(scene, points, page, foot)


def fill(scene: Scene, margin: float) -> None:
    """Limits with which a drawing in the plane, with a margin [inch], fills its axes, which are placed already."""
    axes, points = scene.axes, scene.points()
    low, high = points.min(axis=0), points.max(axis=0)
    sides = np.array([axes.bbox.width, axes.bbox.height]) / axes.figure.dpi
    metre = float(np.min((sides - 2 * margin) / np.maximum(high - low, 1e-9 * scene.drawing.size)))
    for put, middle, side in zip((axes.set_xlim, axes.set_ylim), (low + high) / 2, sides, strict=True):
        put(middle - side / metre / 2, middle + side / metre / 2)


def _place(scene: Scene, points: Array, page: Array, foot: float) -> None:
    """Axes of space such that these points fill the page above its foot; beyond their own square nothing is drawn."""
    axes, side, shift, zoom = scene.axes, 3 * page.max(), np.zeros(2), 1.0
    low, high = points.min(axis=0), points.max(axis=0)
    high = np.maximum(high, low + 1e-3 * scene.drawing.size)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.view_init(*scene.angles, vertical_axis="xyz"[scene.drawing.vertical])
    room = page - 2 * MARGIN - [0.0, foot]
    for _ in range(3):  # the second time the scale is right, so that the middle can be found
        axes.set_box_aspect(high - low, zoom=zoom)
        axes.set_position((*(((page - side) / 2 + shift) / page), *(side / page)))
        seen = pixels(scene, points) / axes.figure.dpi
        if not shift.any():
            zoom *= float(np.min(room / np.maximum(np.ptp(seen, axis=0), 1e-9)))
        shift = shift + (page + [0.0, foot]) / 2 - (seen.min(axis=0) + seen.max(axis=0)) / 2


def pixels(scene: Scene, points: Array) -> Array:
    """Where points (k, d) are on the page (k, 2) [pixel]."""
    if not scene.flat:
        from mpl_toolkits.mplot3d.proj3d import proj_transform

        scene.axes.apply_aspect()
        points = np.column_stack(proj_transform(*points.T, scene.axes.get_proj())[:2])
    return np.asarray(scene.axes.transData.transform(points))


def write_on(scene: Scene) -> None:
    """Write the names, the scale, and what is magnified, on a page that is fitted."""
    figure: Figure = scene.axes.figure.figure
    axes, strokes, labels = scene.axes, scene.ahead, scene.labels
    if not scene.flat:  # on axes of their own, in pixels
        width, height = figure.get_size_inches() * figure.dpi
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(0.0, width), ylim=(0.0, height))
        axes.set_axis_off()
        strokes = [pixels(scene, line) for line in (*(course[0] for course in scene.courses[1:]), *scene.ahead)]
        labels = [Label(one.text, pixels(scene, one.at[None])[0], one.colour, one.bold) for one in labels]
    if scene.drawing.sized:
        ends = pixels(scene, np.array([0.0 * scene.right, scene.drawing.size * scene.right]))
        draw_scale(axes, float(np.linalg.norm(ends[1] - ends[0])) / scene.drawing.size, note=scene.note())
    write_names(figure, axes, labels, strokes)
