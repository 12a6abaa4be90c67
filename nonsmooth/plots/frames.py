"""Frames in which pieces of a drawing stand, outlines and faces, and where contacts push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple, Self

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.contacts import Contact
from nonsmooth.model.drawing import Bearing, Guide, Primitive, Solid, Spot, Touch, Vector, Wall
from nonsmooth.model.frames import placement_like
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.plots.drawing import BEARING, BLOCK, Drawing, Drawn, Placed

if TYPE_CHECKING:
    from matplotlib.path import Path

MOST = 0.8  # share of the radius of a bearing that its magnified clearance takes at most
ROUND = np.linspace(0.0, 2 * np.pi, 37)
#: corners of a slider in a planar guide in the order of its gaps: end (-1 left) and side (-1 lower)
CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])


class View(NamedTuple):
    """Magnification of clearances, size of symbols [m], unit vector to the viewer (unused in the plane)."""

    factor: float
    unit: float
    toward: Array


class Placing(NamedTuple):
    """Origins (n, d) and axes (n, d, d), these as columns."""

    origin: Array
    axes: Array

    def points(self, local: Array) -> Array:
        """Ground places (n, k, d) of points (k, d), or (n, k, d), of the frame."""
        return np.asarray(self.origin[:, None] + local @ self.axes.transpose(0, 2, 1))


@dataclass(frozen=True)
class Frame:
    def place(self, placed: Placed, view: View) -> Placing:
        """Place of the frame in all pictures."""
        raise NotImplementedError


@dataclass(frozen=True)
class At(Frame):
    """At a spot, with the axes of its body, or of another one."""

    spot: Spot
    axes: str | None = None

    def place(self, placed: Placed, view: View) -> Placing:
        return Placing(placed.spot(self.spot), placed.rotation(self.spot.body if self.axes is None else self.axes))


@dataclass(frozen=True)
class Between(Frame):
    """From a to b along its first axis; the second is a unit vector across, to the right as seen by the viewer."""

    a: Spot
    b: Spot | Frame  # or the middle of a frame, as of a journal where it is drawn

    def place(self, placed: Placed, view: View) -> Placing:
        start = placed.spot(self.a)
        line = (placed.spot(self.b) if isinstance(self.b, Spot) else self.b.place(placed, view).origin) - start
        across = line[:, ::-1] * [1.0, -1.0] if placed.dimension == 2 else np.cross(line, view.toward)
        none = [np.zeros_like(line)] * (placed.dimension - 2)
        return Placing(start, np.stack([line, units(across), *none], axis=2))


@dataclass(frozen=True)
class _Round(Frame):
    """Base of sleeves and journals: axes of both bodies, the first along them in space, and half the length."""

    a: Spot
    b: Spot
    clearance: float
    radius: float
    length: float
    axes_a: tuple[Vector, ...]
    axes_b: tuple[Vector, ...]
    long: bool  # a cylinder, rather than a ball or a circle

    @classmethod
    def of(cls, one: Bearing, dimension: int) -> _Round:
        if not one.axis_a:
            own = _rows(np.eye(dimension))
            return cls(one.a, one.b, one.clearance, one.radius if dimension == 3 else 0.0, 0.0, own, own, False)
        axes_a, axes_b = _rows(basis(one.axis_a)), _rows(basis(one.axis_b))
        return cls(one.a, one.b, one.clearance, one.radius, one.length, axes_a, axes_b, True)

    def outer(self, view: View) -> float:
        """Radius that the bearing is drawn with."""
        return max(BEARING * view.unit, self.radius, view.factor * self.clearance / MOST)


class Sleeve(_Round):
    """A bearing or a socket, whose radius is one unit; along its axis, where it has one, half its length is."""

    def place(self, placed: Placed, view: View) -> Placing:
        outer = self.outer(view)
        half = max(self.length, 1.2 * outer) / 2 if self.long else outer
        scale = np.array([half, *[outer] * (placed.dimension - 1)])
        return Placing(placed.spot(self.a), placed.axes(self.a.body, self.axes_a) * scale)


class Journal(_Round):
    """A journal or a ball, whose radius is one unit; along its axis, where it has one, half its length is."""

    def place(self, placed: Placed, view: View) -> Placing:
        outer = self.outer(view)
        inner = outer - view.factor * self.clearance
        at, offset = placed.spot(self.a), placed.spot(self.b) - placed.spot(self.a)
        own = placed.axes(self.b.body, self.axes_b)
        if not self.long:
            return Placing(at + view.factor * offset, inner * own)
        n = placed.axes(self.a.body, self.axes_a)[:, :, 0]
        reach = 1.25 * max(self.length, 1.2 * outer) / 2 - self.length / 2
        ends = []
        for side in (-1.0, 1.0):
            end = offset + side * self.length / 2 * own[:, :, 0]
            x = np.sum(end * n, axis=1, keepdims=True)
            ends.append((x + side * reach) * n + view.factor * (end - x * n))
        axes = np.stack([(ends[1] - ends[0]) / 2, inner * own[:, :, 1], inner * own[:, :, 2]], axis=2)
        return Placing(at + (ends[0] + ends[1]) / 2, axes)


@dataclass(frozen=True)
class _Straight(Frame):
    """Base of guides and sliders: axes of length, height and width of both bodies, half sizes and clearances [m]."""

    a: Spot
    b: Spot
    axes_a: tuple[Vector, ...]
    axes_b: tuple[Vector, ...]
    sizes: Vector
    plays: Vector

    @classmethod
    def of(cls, one: Guide, dimension: int) -> Self:
        pairs = (np.array([one.along, one.across]), np.array([one.along_b, one.across_b]))
        axes_a, axes_b = (_rows(pair if dimension == 2 else np.vstack([pair, np.cross(*pair)])) for pair in pairs)
        sizes = (one.length / 2, one.height / 2, one.width / 2)[:dimension]
        plays = (0.0, one.clearance, one.side_clearance or one.clearance)[:dimension]
        return cls(one.a, one.b, axes_a, axes_b, sizes, plays)

    def drawn(self, view: View) -> Array:
        """Half sizes with which the slider is drawn."""
        return np.maximum(self.sizes, [0.0, *[BLOCK * view.unit] * (len(self.sizes) - 1)])


class Tunnel(_Straight):
    """The walls of a guide at -1 and 1 of all axes but the first, along which the unit is a metre."""

    def place(self, placed: Placed, view: View) -> Placing:
        scale = self.drawn(view) + view.factor * np.array(self.plays)
        return Placing(placed.spot(self.a), placed.axes(self.a.body, self.axes_a) * [1.0, *scale[1:]])


@dataclass(frozen=True)
class Face(_Straight):
    """A wall of a guide in the plane: its middle, and unit vectors along it and out of the guide."""

    side: float = 1.0  # or -1

    def place(self, placed: Placed, view: View) -> Placing:
        axes = placed.axes(self.a.body, self.axes_a) * [1.0, self.side]
        return Placing(placed.spot(self.a) + (self.drawn(view)[1] + view.factor * self.plays[1]) * axes[:, :, 1], axes)


class Block(_Straight):
    """A slider in a guide, with its corners at -1 and 1 of all axes."""

    def place(self, placed: Placed, view: View) -> Placing:
        guide, own = placed.axes(self.a.body, self.axes_a), placed.axes(self.b.body, self.axes_b)
        factor = np.array([1.0, *[view.factor] * (len(self.sizes) - 1)])
        # gaps of planar guides are those of the slider's axis, with walls as far away as its height
        sizes = np.array(self.sizes) * ([1.0, 0.0] if placed.dimension == 2 else 1.0)
        turned = np.einsum("nji,njk->nik", guide, own) * sizes - np.diag(sizes)
        centre = np.einsum("nji,nj->ni", guide, placed.spot(self.b) - placed.spot(self.a))
        local = np.diag(self.drawn(view)) + factor[:, None] * turned
        origin = placed.spot(self.a) + np.einsum("nij,nj->ni", guide, factor * centre)
        return Placing(origin, np.einsum("nij,njk->nik", guide, local))


def basis(along: Vector | Array) -> Array:
    """Unit vectors (3, 3) as rows: along the given one, and two perpendicular to it and to each other."""
    first = np.asarray(along, float) / np.linalg.norm(along)
    second = units(np.cross(first, np.eye(3)[int(np.argmin(np.abs(first)))]))
    return np.array([first, second, np.cross(first, second)])


def units(vectors: Array) -> Array:
    """Unit vectors along vectors, zero where these are."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, size, out=np.zeros_like(vectors), where=size > 0)


def _rows(axes: Array) -> tuple[Vector, ...]:
    return tuple(tuple(map(float, axis)) for axis in axes)


def circle(centre: Array, first: Array, second: Array) -> Array:
    """Ellipses (n, 37, 3) about centres (n, 3) with these semi-axes (n, 3)."""
    turned = np.cos(ROUND)[None, :, None] * first[:, None] + np.sin(ROUND)[None, :, None] * second[:, None]
    return np.asarray(centre[:, None] + turned)


def head(tip: Array, vector: Array, toward: Array, length: float) -> Array:
    """Heads (..., 3, d) of arrows with a tip, as triangles that face the viewer; points where arrows nearly vanish."""
    size = np.linalg.norm(vector, axis=-1, keepdims=True)
    seen = size > 1e-3 * length
    unit = np.where(seen, vector / np.where(seen, size, 1.0), 0.0)
    across = unit[..., ::-1] * [1.0, -1.0] if unit.shape[-1] == 2 else units(np.cross(unit, toward))
    reach = np.minimum(length, 0.6 * size)
    return np.stack([tip, tip - reach * (unit - 0.35 * across), tip - reach * (unit + 0.35 * across)], axis=-2)


def hull(points: Array) -> Array:
    """Corners of the convex hull of points (k, 2), counter-clockwise; the two ends of points on a line."""
    from scipy.spatial import ConvexHull, QhullError

    spread = points - points.mean(axis=0)
    _, extent, axes = np.linalg.svd(spread, full_matrices=False)
    if len(points) == 2 or extent[1] < 1e-6 * extent[0]:
        return points[np.argsort(spread @ axes[0])[[0, -1]]]
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


class Touching(NamedTuple):
    """Places (n, gaps, d) of the gaps of a contact in a frame, magnified as what is drawn there; in the plane also the
    directions (n, gaps, d) of the normal forces on the second body, in the ground frame."""

    gaps: tuple[str, ...]
    frame: Frame
    local: Array
    normals: Array | None


def touching(placed: Placed, part: Drawn) -> Touching | None:
    """Places of a contact; None of other elements, and of contacts in the plane whose primitives do not tell it."""
    if not isinstance(part.element, Contact) or isinstance(part.element, JointFriction) or not part.element.slides:
        return None
    normals: Array | None = None
    if placed.dimension == 2:
        pushes = [push for one in part.primitives for push in _planar(placed, one)]
        if len(pushes) != len(part.gap_names()):
            return None
        points, normals = (np.stack(column, axis=1) for column in zip(*pushes, strict=True))
    else:
        a, b = placement_like(3, "a"), placement_like(3, "b")
        columns = {name: ca.DM(x) if isinstance(x, np.ndarray) else x for name, x in vars(part.p).items()}
        closing = [point for point, _ in part.element.touches(a, b, SimpleNamespace(**columns))]  # type: ignore[arg-type]
        function = ca.Function("touches", [a.z, b.z], [ca.vertcat(*closing)])
        places = function(*(placed.frame(body).T for body in part.element.body_names()))
        points = np.asarray(places).T.reshape(placed.count, len(closing), 3)
    gaps = part.gap_names()
    for one in part.primitives:
        if isinstance(one, Bearing):
            sleeve = Sleeve.of(one, placed.dimension)
            local = (points - placed.spot(one.a)[:, None]) @ placed.axes(one.a.body, sleeve.axes_a)
            if not sleeve.long:
                return Touching(gaps, sleeve, units(local), normals)
            along = 2 * local[..., :1] / one.length if one.length else 0.0 * local[..., :1]
            return Touching(gaps, sleeve, np.concatenate([along, units(local[..., 1:])], axis=2), normals)
        if isinstance(one, Guide):
            block = Block.of(one, placed.dimension)
            if normals is not None:
                return Touching(gaps, block, np.broadcast_to(CORNERS, points.shape), normals)
            local = (points - placed.spot(one.b)[:, None]) @ placed.axes(one.b.body, block.axes_b)
            return Touching(gaps, block, local / np.maximum(block.sizes, 1e-300), normals)
    body = part.element.body_names()[0]
    local = (points - placed.position(body)[:, None]) @ placed.rotation(body)
    return Touching(gaps, At(Spot(body)), local, normals)


def touches(drawing: Drawing) -> list[Touching]:
    """Places of all contacts of a drawing where they are known."""
    return [place for part in drawing.parts if (place := touching(drawing.placed, part)) is not None]


def _planar(placed: Placed, one: Primitive) -> list[tuple[Array, Array]]:
    """Place (n, 2) and direction (n, 2) of the push at each gap of a primitive of the plane."""
    if isinstance(one, Bearing):
        end = placed.spot(one.b)
        return [(end, -units(end - placed.spot(one.a)))]
    if isinstance(one, Guide):
        across = placed.vectors(one.a.body, one.across)
        return [(placed.spot(one.b), -side * across) for _, side in CORNERS]
    if isinstance(one, Wall):
        normal = placed.vectors(one.spot.body, one.normal)
        return [(placed.spot(one.near) - one.radius * normal, normal)]
    if isinstance(one, Touch):
        a, line = placed.spot(one.a), placed.spot(one.b) - placed.spot(one.a)
        return [(a + one.share * line, units(line))]
    return []
