"""Symbols of the primitives in the drawing of a mechanism in space."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.model.drawing import (
    Arrow,
    Axle,
    Bearing,
    Box,
    Coil,
    Cylinder,
    Dot,
    Drive,
    Field,
    Guide,
    Line,
    Mark,
    Primitive,
    Round,
    Slide,
    Spot,
    Touch,
    Turn,
    Wall,
)  # fmt: skip
from nonsmooth.plots.drawing import Drawn
from nonsmooth.plots.motion import FAINT, INK
from nonsmooth.plots.shapes import basis, block, coil, faces_of_block, joined, ring, tube

if TYPE_CHECKING:
    from nonsmooth.plots.space import SpatialScene

__all__ = ["LOOSE", "draw_element"]

#: of contacts and clearances
LOOSE = "#B00020"
#: marker and face of a joint's symbol
SHAPES = {"pin": ("o", "white"), "ball": ("o", INK), "weld": ("s", INK), "joint": ("D", "white")}
SIGNS = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3, indexing="ij")).reshape(3, -1).T

#: what draws a primitive: it returns where the element's name stands in the first picture (3,)
Draw = Callable[["SpatialScene", Drawn, Any], Array]


def draw_element(scene: SpatialScene, part: Drawn) -> None:
    """Draw an element's primitives, and note the place of the first for its name."""
    for one in part.primitives:
        if type(one) in DRAWINGS and (scene.loads or not one.load):
            anchor = DRAWINGS[type(one)](scene, part, one)
            scene.anchors.setdefault(part.name, anchor)


def _support(scene: SpatialScene, spot: Spot) -> None:
    """A plate under a point that the ground holds."""
    if spot.body in scene.colours:
        return
    place, axes = scene.placed.spot(spot), np.eye(3)
    down, u, v = -0.03 * scene.size * axes[scene.vertical], axes[scene.vertical - 1], axes[scene.vertical - 2]
    half = 0.022 * scene.size
    corners = [place + down + half * (i * u + j * v) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    scene.line(np.stack([place, place + down], axis=1), color=FAINT, lw=1.5)
    scene.line(np.stack([*corners, corners[0]], axis=1), color=FAINT, lw=0.8)
    scene.faces(np.stack(corners, axis=1)[:, None], FAINT, 0.5)


def _mark(scene: SpatialScene, part: Drawn, one: Mark) -> Array:
    _support(scene, one.a)
    marker, face = SHAPES[one.shape]
    place = scene.placed.spot(one.b)
    scene.dot(place, marker=marker, ms=5.0, mfc=face, mec=INK, mew=1.0, zorder=15)
    return np.asarray(place[0])


def _axle(scene: SpatialScene, part: Drawn, one: Axle) -> Array:
    place = scene.placed.spot(one.spot)
    along, _, _ = basis(scene.placed.vectors(one.spot.body, one.along))
    reach = 0.05 * scene.size * along
    scene.line(np.stack([place - reach, place + reach], axis=1), lw=2.2, solid_capstyle="butt", zorder=14)
    scene.line(np.stack([place - 1.8 * reach, place + 1.8 * reach], axis=1), color=FAINT, lw=0.8, ls=(0, (6, 2, 1, 2)))
    return np.asarray(place[0])


def _slide(scene: SpatialScene, part: Drawn, one: Slide) -> Array:
    rail, slider = scene.placed.spot(one.a), scene.placed.spot(one.b)
    along, u, v = basis(scene.placed.vectors(one.a.body, one.along))
    x = np.sum((slider - rail) * along, axis=1)
    reach = 0.12 * scene.size
    first, last = min(float(x.min()), 0.0) - reach, max(float(x.max()), 0.0) + reach
    scene.line(np.stack([rail + first * along, rail + last * along], axis=1), color=FAINT, lw=1.0, ls=(0, (8, 2, 1, 2)))
    half, top, colour = 0.05 * scene.size, 0.025 * scene.size, scene.colour(one.b.body)
    _support(scene, one.a)
    if one.round:
        ends = slider - half * along, slider + half * along
        scene.line(tube(*ends, u, v, top), color=colour, lw=1.0)
        scene.faces(_barrel(*ends, u, v, top), colour, 0.25)
    else:
        steps = [i * half * along + j * top * u + k * top * v for i, j, k in SIGNS]
        _solid(scene, np.stack([slider + step for step in steps], axis=1), colour)
    return np.asarray(slider[0])


def _solid(scene: SpatialScene, corners: Array, colour: str, alpha: float = 0.25) -> None:
    """A block from its corners (n, 8, 3)."""
    scene.line(block(corners), color=colour, lw=1.0)
    scene.faces(faces_of_block(corners), colour, alpha)


def _barrel(start: Array, end: Array, u: Array, v: Array, radius: float) -> Array:
    """Faces (n, 18, 4, 3) of a cylinder's side."""
    low, high = ring(start, u, v, radius)[:, ::2], ring(end, u, v, radius)[:, ::2]
    return np.stack([low[:, :-1], low[:, 1:], high[:, 1:], high[:, :-1]], axis=2)


def _ball(scene: SpatialScene, centre: Array, radius: float, colour: str, alpha: float) -> None:
    """A sphere as it is seen: a disc that faces the viewer."""
    outline = ring(centre, scene.right, scene.up, radius)
    scene.faces(outline[:, None, :-1], colour, alpha)
    scene.line(outline, color=colour, lw=1.2)


def _bearing(scene: SpatialScene, part: Drawn, one: Bearing) -> Array:
    _support(scene, one.a)
    place, journal = scene.placed.spot(one.a), scene.placed.spot(one.b)
    play = scene.factor * one.clearance
    radius = max(scene.bearing_radius(one.radius), play / 0.8)
    ring_colour, colour = scene.colour(one.a.body), scene.colour(one.b.body)
    if not one.axis_a:
        e = journal - place
        _ball(scene, place, radius, ring_colour, 0.08)
        _ball(scene, place + scene.factor * e, radius - play, colour, 0.5)
        scene.shown[part.name] = lambda points: place[:, None] + radius * _units(points - place[:, None])
        return np.asarray(place[0])
    n, u, v = basis(scene.placed.vectors(one.a.body, one.axis_a))
    m, _, _ = basis(scene.placed.vectors(one.b.body, one.axis_b))
    reach = max(one.length, 1.2 * radius) / 2
    ends: list[Array] = []
    for side in (-1.0, 1.0):
        centre = journal + side * one.length / 2 * m - place
        x = np.sum(centre * n, axis=1, keepdims=True)
        lifted = x + side * (1.25 * reach - one.length / 2)
        ends.append(place + lifted * n + scene.factor * (centre - x * n))
    scene.line(tube(place - reach * n, place + reach * n, u, v, radius), color=ring_colour, lw=1.3)
    scene.faces(_barrel(place - reach * n, place + reach * n, u, v, radius), ring_colour, 0.12)
    scene.line(tube(ends[0], ends[1], u, v, radius - play), color=colour, lw=1.2)
    scene.faces(_barrel(ends[0], ends[1], u, v, radius - play), colour, 0.4)

    def shown(points: Array) -> Array:
        offset = points - place[:, None]
        x = np.sum(offset * n[:, None], axis=2, keepdims=True)
        across = _units(offset - x * n[:, None])
        stretch = 2 * reach / one.length if one.length else 1.0
        return np.asarray(place[:, None] + stretch * x * n[:, None] + radius * across)

    scene.shown[part.name] = shown
    return np.asarray(place[0])


def _units(vectors: Array) -> Array:
    """Unit vectors along vectors, zero where these are."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, size, out=np.zeros_like(vectors), where=size > 0)


def _guide(scene: SpatialScene, part: Drawn, one: Guide) -> Array:
    placed, origin = scene.placed, scene.placed.spot(one.a)
    along, across = (placed.vectors(one.a.body, axis) for axis in (one.along, one.across))
    frame = np.stack([along, across, np.cross(along, across)], axis=1)  # rows: directions of the guide
    along_b, across_b = (placed.vectors(one.b.body, axis) for axis in (one.along_b, one.across_b))
    own = np.stack([along_b, across_b, np.cross(along_b, across_b)], axis=1)
    sizes = np.array([one.length, one.height, one.width]) / 2
    drawn = np.maximum(sizes, [0.0, scene.half_height(one), scene.half_height(one)])
    plays = scene.factor * np.array([0.0, one.clearance, one.side_clearance or one.clearance])
    centre = np.einsum("nij,nj->ni", frame, placed.spot(one.b) - origin)
    arms = np.einsum("nij,nkj,mk->nmi", frame, own, SIGNS * sizes)
    ideal = SIGNS * sizes
    shown = centre[:, None] * [1.0, 0.0, 0.0] + SIGNS * drawn
    deviation = centre[:, None] * [0.0, 1.0, 1.0] + arms - ideal
    corners = shown + deviation * [1.0, scene.factor, scene.factor]
    _solid(scene, origin[:, None] + np.einsum("nij,nmi->nmj", frame, corners), scene.colour(one.b.body), 0.35)
    x = centre[:, 0]
    first, last = float(x.min()) - 0.8 * one.length, float(x.max()) + 0.8 * one.length
    walls = SIGNS * (drawn + plays)
    walls[:, 0] = np.where(SIGNS[:, 0] < 0, first, last)
    tunnel = origin[:, None] + np.einsum("nij,mi->nmj", frame, walls)
    _solid(scene, tunnel, scene.colour(one.a.body) if one.a.body in scene.colours else FAINT, 0.06)

    def moved(points: Array) -> Array:
        """Corners of the slider to those of the block that is drawn, with their magnified distances from the walls."""
        local = np.einsum("nij,nmj->nmi", frame, points - origin[:, None])
        side = np.sign(local)
        local[..., 1:] = (side * drawn + scene.factor * (local - side * sizes))[..., 1:]
        return np.asarray(origin[:, None] + np.einsum("nij,nmi->nmj", frame, local))

    scene.shown[part.name] = moved
    return np.asarray(tunnel[0, -1])


def _wall(scene: SpatialScene, part: Drawn, one: Wall) -> Array:
    placed, body = scene.placed, one.spot.body
    normal = np.array(one.normal) / np.linalg.norm(one.normal)
    _, u, v = basis(normal[None])
    base = np.array(one.spot.at or (0.0, 0.0, 0.0))
    first, same = scene.walls(one)
    reach, spots = 0.0, []
    for wall in same:
        away = np.einsum("nij,ni->nj", placed.rotation(body), placed.spot(wall.near) - placed.position(body)) - base
        spots.append(np.column_stack([away @ u[0], away @ v[0]]))
        reach = max(reach, 1.1 * wall.radius, 0.14 * scene.size if body not in scene.colours else 0.06 * scene.size)
    plane = np.concatenate(spots)
    (u0, v0), (u1, v1) = plane.min(axis=0) - reach, plane.max(axis=0) + reach
    if first:
        local = np.array([base + x * u[0] + y * v[0] for x, y in ((u0, v0), (u1, v0), (u1, v1), (u0, v1))])
        rows = [(x, v0, x, v1) for x in np.linspace(u0, u1, 7)] + [(u0, y, u1, y) for y in np.linspace(v0, v1, 7)]
        grid = [np.array([base + a * u[0] + b * v[0], base + c * u[0] + d * v[0]]) for a, b, c, d in rows]
        scene.faces(placed.points(body, local)[:, None], FAINT, 0.12)
        scene.line(joined(*(placed.points(body, line) for line in grid)), color=FAINT, lw=0.4, zorder=0)
    return np.asarray(placed.spot(one.near)[0] - one.radius * placed.vectors(body, normal)[0])


def _dot(scene: SpatialScene, part: Drawn, one: Dot) -> Array:
    place = scene.placed.spot(one.spot)
    scene.dot(place, marker="o", ms=3.5, color=LOOSE, mew=0, zorder=15)
    return np.asarray(place[0])


def _touch(scene: SpatialScene, part: Drawn, one: Touch) -> Array:
    a, b = scene.placed.spot(one.a), scene.placed.spot(one.b)
    scene.dot(a + one.share * (b - a), marker="o", ms=3.5, color=LOOSE, mew=0, zorder=15)
    return np.asarray((a + one.share * (b - a))[0])


def _round(scene: SpatialScene, part: Drawn, one: Round) -> Array:
    """A sphere, with three circles of its body by which its turning shows."""
    centre, colour = scene.placed.spot(one.spot), scene.colour(one.spot.body)
    _ball(scene, centre, one.radius, colour, 0.25)
    x, y, z = (scene.placed.vectors(one.spot.body, axis) for axis in np.eye(3))
    circles = [ring(centre, first, second, one.radius) for first, second in ((x, y), (y, z), (z, x))]
    scene.line(joined(*circles), color=colour, lw=0.7, alpha=0.8)
    return np.asarray(centre[0])


def _cylinder(scene: SpatialScene, part: Drawn, one: Cylinder) -> Array:
    centre, colour = scene.placed.spot(one.spot), scene.colour(one.spot.body)
    # perpendiculars that turn with the body, so that its turning shows
    along, u, v = (scene.placed.vectors(one.spot.body, axis[0]) for axis in basis(np.array([one.along], float)))
    ends = centre - one.length / 2 * along, centre + one.length / 2 * along
    scene.line(tube(*ends, u, v, one.radius, generators=6), color=colour, lw=1.0)
    scene.faces(_barrel(*ends, u, v, one.radius), colour, 0.25)
    return np.asarray(centre[0])


def _box(scene: SpatialScene, part: Drawn, one: Box) -> Array:
    local = SIGNS * np.array(one.edges) / 2 + np.array(one.spot.at or (0.0, 0.0, 0.0))
    _solid(scene, scene.placed.points(one.spot.body, local), scene.colour(one.spot.body))
    return np.asarray(scene.placed.spot(one.spot)[0])


def _line(scene: SpatialScene, part: Drawn, one: Line) -> Array:
    a, b = scene.placed.spot(one.a), scene.placed.spot(one.b)
    scene.line(np.stack([a, b], axis=1), lw=1.6, ls=(0, (1, 1)) if one.dotted else "-")
    return np.asarray((a + b)[0] / 2)


def _coil(scene: SpatialScene, part: Drawn, one: Coil) -> Array:
    a, b = scene.placed.spot(one.a), scene.placed.spot(one.b)
    scene.line(coil(a, b, _units(np.cross(b - a, scene.toward)), 0.02 * scene.size), lw=0.9)
    return np.asarray((a + b)[0] / 2)


def _force(scene: SpatialScene, part: Drawn, one: Arrow) -> Array:
    place, along = scene.placed.spot(one.spot), np.zeros(3)
    along[: len(one.along)] = one.along
    along = along if along.any() else np.array([1.0, 0.0, 0.0])
    direction = scene.placed.vectors(one.spot.body if one.fixed else "", along / np.linalg.norm(along))
    start = place - 0.14 * scene.size * direction
    scene.arrow(start, place, INK)
    return np.asarray(start[0])


def _drive(scene: SpatialScene, part: Drawn, one: Drive) -> Array:
    a, b = scene.placed.spot(one.a), scene.placed.spot(one.b)
    scene.arrow(b, b + 0.1 * scene.size * _units(b - a), INK)
    return np.asarray(b[0])


def _turn(scene: SpatialScene, part: Drawn, one: Turn) -> Array:
    place = scene.placed.spot(scene.drawing.pivot(one))
    axis = one.axis if any(one.axis) else (0.0, 0.0, 1.0)
    along, u, v = basis(scene.placed.vectors("" if one.a is None else one.a.body, axis))
    radius = 0.07 * scene.size
    angles = np.linspace(0.0, 1.5 * np.pi, 28)
    arc = place[:, None] + radius * (
        np.cos(angles)[None, :, None] * u[:, None] + np.sin(angles)[None, :, None] * v[:, None]
    )
    scene.line(arc, lw=1.1)
    scene.arrow(arc[:, -4], arc[:, -1], INK, lw=1.1)
    return np.asarray(arc[0, 14])


def _field(scene: SpatialScene, part: Drawn, one: Field) -> Array:
    right, up = scene.cloud @ scene.right, scene.cloud @ scene.up
    room = 0.08 * scene.size
    corner = (
        (right.max() + room) * scene.right
        + (up.max() + room) * scene.up
        + scene.cloud.mean(axis=0) @ np.outer(scene.toward, scene.toward)
    )
    start = np.broadcast_to(corner, (scene.placed.count, 3))
    if any(one.acceleration):
        direction = np.array(one.acceleration) / np.linalg.norm(one.acceleration)
        scene.arrow(start, start + 0.12 * scene.size * direction, FAINT)
    else:
        scene.dot(start, marker=".", ms=2.0, color=FAINT)
    return np.asarray(start[0])


DRAWINGS: dict[type[Primitive], Draw] = {
    Arrow: _force, Axle: _axle, Bearing: _bearing, Box: _box, Coil: _coil, Cylinder: _cylinder, Dot: _dot,
    Drive: _drive, Field: _field, Guide: _guide, Line: _line, Mark: _mark, Round: _round, Slide: _slide,
    Touch: _touch, Turn: _turn, Wall: _wall,
}  # fmt: skip
