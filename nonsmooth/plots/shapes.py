"""Shapes as polylines and faces, at n times at once: rings, tubes, blocks, coils, arrow heads, hulls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.model.drawing import Solid
from nonsmooth.model.shapes import FACES

if TYPE_CHECKING:
    from matplotlib.path import Path

__all__ = [
    "basis", "block", "coil", "faces_of_block", "head", "hull", "hull_faces", "joined", "outlines", "region", "ring",
    "star", "tube",
]  # fmt: skip

ROUND = np.linspace(0.0, 2 * np.pi, 37)
#: a path along all edges of a block, whose corners are numbered with the last axis fastest
EDGES = (0, 1, 3, 2, 0, 4, 5, 7, 6, 4, 5, 1, 3, 7, 6, 2)


def basis(along: Array) -> tuple[Array, Array, Array]:
    """Unit vectors (n, 3): along the given ones, and two perpendicular to these and to each other."""
    first = along / np.linalg.norm(along, axis=-1, keepdims=True)
    seed = np.zeros(3)
    seed[np.argmin(np.abs(first).max(axis=0))] = 1.0
    second = np.cross(first, seed)
    second = second / np.linalg.norm(second, axis=-1, keepdims=True)
    return first, second, np.cross(first, second)


def ring(centre: Array, first: Array, second: Array, radius: float) -> Array:
    """Circles (n, 37, 3) about centres (n, 3) in the plane of two unit vectors (n, 3) or (3,)."""
    u, v = np.broadcast_to(first, centre.shape), np.broadcast_to(second, centre.shape)
    turned = np.cos(ROUND)[None, :, None] * u[:, None] + np.sin(ROUND)[None, :, None] * v[:, None]
    return np.asarray(centre[:, None] + radius * turned)


def tube(start: Array, end: Array, first: Array, second: Array, radius: float, generators: int = 4) -> Array:
    """A cylinder (n, k, 3) between two centres: the circles at its ends and lines between them, one after the other."""
    low, high = ring(start, first, second, radius), ring(end, first, second, radius)
    steps = (len(ROUND) - 1) // generators
    lines = [np.stack([low[:, i], high[:, i]], axis=1) for i in range(0, len(ROUND) - 1, steps)]
    return joined(low, high, *lines)


def joined(*lines: Array) -> Array:
    """Polylines (n, k, 3) as one, with a gap after each."""
    gap = np.full((len(lines[0]), 1, 3), np.nan)
    return np.concatenate([piece for line in lines for piece in (line, gap)], axis=1)


def block(corners: Array) -> Array:
    """Edges (n, 16, 3) of a block from its corners (n, 8, 3), the last axis fastest."""
    return corners[:, EDGES]


def faces_of_block(corners: Array) -> Array:
    """Faces (n, 6, 4, 3) of a block."""
    return corners[:, FACES]


def star(centre: Array, points: Array) -> Array:
    """Lines (n, 2k, 3) from a centre (n, 3) to each of the points (n, k, 3)."""
    rays = np.stack([np.broadcast_to(centre[:, None], points.shape), points], axis=2)
    return rays.reshape(len(points), -1, 3)


def coil(start: Array, end: Array, across: Array, width: float) -> Array:
    """A spring (n, 17, d) as a zigzag of this half width along unit vectors `across` (n, d)."""
    share = np.concatenate([[0.0, 0.15], np.linspace(0.2, 0.8, 13), [0.85, 1.0]])
    side = np.concatenate([[0.0, 0.0], np.tile([1.0, -1.0], 7)[:13], [0.0, 0.0]]) * width
    return np.asarray(
        start[:, None] + share[None, :, None] * (end - start)[:, None] + side[None, :, None] * across[:, None]
    )


def head(tip: Array, vector: Array, toward: Array, length: float) -> Array:
    """Heads (..., 3, 3) of arrows with a tip, as triangles that face the viewer; points where an arrow is shorter
    than a thousandth of `length`."""
    size = np.linalg.norm(vector, axis=-1, keepdims=True)
    seen = size > 1e-3 * length
    unit = np.where(seen, vector / np.where(seen, size, 1.0), 0.0)
    across = np.cross(unit, toward)
    norm = np.linalg.norm(across, axis=-1, keepdims=True)
    across = np.divide(across, norm, out=np.zeros_like(across), where=norm > 1e-6)
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
