"""Outlines and faces: circles and heads of arrows at n times at once, hulls, areas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.drawing import Solid
from nonsmooth.plots.frames import units

if TYPE_CHECKING:
    from matplotlib.path import Path

ROUND = np.linspace(0.0, 2 * np.pi, 37)


def circle(centre: Array, first: Array, second: Array) -> Array:
    """Ellipses (n, 37, 3) about centres (n, 3) with these semi-axes (n, 3)."""
    turned = np.cos(ROUND)[None, :, None] * first[:, None] + np.sin(ROUND)[None, :, None] * second[:, None]
    return np.asarray(centre[:, None] + turned)


def head(tip: Array, vector: Array, toward: Array, length: float) -> Array:
    """Heads (..., 3, d) of arrows with a tip, as triangles that face the viewer; points where an arrow is shorter
    than a thousandth of `length`."""
    size = np.linalg.norm(vector, axis=-1, keepdims=True)
    seen = size > 1e-3 * length
    unit = np.where(seen, vector / np.where(seen, size, 1.0), 0.0)
    across = unit[..., ::-1] * [1.0, -1.0] if unit.shape[-1] == 2 else units(np.cross(unit, toward))
    reach = np.minimum(length, 0.6 * size)
    return np.stack([tip, tip - reach * (unit - 0.35 * across), tip - reach * (unit + 0.35 * across)], axis=-2)


def hull_faces(points: Array) -> list[Array]:
    """Faces of the convex hull of points (k, 3), as indices of their corners: one polygon where they lie in a plane,
    none where they lie on a line."""
    from scipy.spatial import ConvexHull

    spread = points - points.mean(axis=0)
    _, extent, axes = np.linalg.svd(spread, full_matrices=False)
    if len(points) < 3 or extent[1] < 1e-6 * extent[0]:
        return []
    if len(points) == 3 or extent[2] < 1e-6 * extent[0]:
        return [np.asarray(ConvexHull(spread @ axes[:2].T).vertices)]
    return list(np.asarray(ConvexHull(points).simplices))


def hull(points: Array) -> Array:
    """Corners of the convex hull of points (k, 2), counter-clockwise; the two ends of points on a line."""
    from scipy.spatial import ConvexHull, QhullError

    spread = points - points.mean(axis=0)
    _, extent, axes = np.linalg.svd(spread, full_matrices=False)
    if len(points) == 2 or extent[1] < 1e-6 * extent[0]:
        order = np.argsort(spread @ axes[0])
        return points[order[[0, -1]]]
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:
        return points


def outlines(one: Solid) -> list[Array]:
    """Polygons (k, 2) that together cover a shape as it is seen along z, in the frame of its body."""
    return [hull(one.seen[0])] if one.convex else list(one.seen)


def region(polygons: Sequence[Array]) -> Path:
    """Polygons (k, 2) as one area."""
    from matplotlib.path import Path

    corners = [np.vstack([one, one[:1]]) for one in polygons]
    codes = [[Path.MOVETO, *[Path.LINETO] * (len(one) - 2), Path.CLOSEPOLY] for one in corners]
    return Path(np.concatenate(corners), np.concatenate(codes))
