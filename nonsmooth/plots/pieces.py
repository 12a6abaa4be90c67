"""The pieces of a drawing: lines, faces, balls, marks and arrows, made once from the primitives of elements.

A sketch, an animation and a page draw the same pieces. Each stands in a frame, in which it does not change, so that it
is moved by its frame alone. In the plane and in space they are made alike, but for what faces the viewer.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model import drawing as primitive
from nonsmooth.model.drawing import MarkShape, Spot
from nonsmooth.model.shapes import FACES
from nonsmooth.plots.drawing import BLOCK, SQUARE, Drawing, Drawn
from nonsmooth.plots.frames import At, Between, Block, Face, Frame, Journal, Sleeve, Tunnel, basis, hull, outlines

Shape = Literal["line", "faces", "solid", "ball", "mark", "arrow", "curve"]
GAP = np.full((1, 3), np.nan)  # what stands between polylines that are one piece
SIGNS = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3, indexing="ij")).reshape(3, -1).T
#: a path along all edges of a block, whose corners are numbered with the last axis fastest
EDGES = (0, 1, 3, 2, 0, 4, 5, 7, 6, 4, 5, 1, 3, 7, 6, 2)
ROUND = 24  # corners of a circle
#: colours of what is of no body; no body has such a name
INK, FAINT, GROUND, LOOSE, PAPER = "*ink", "*faint", "*ground", "*loose", "*paper"
DASHES = (8.0, 2.0, 1.0, 2.0)
TRIAD = ("#C0392B", "#1E8449", "#2471A3")


def hull_faces(points: Array) -> list[tuple[int, ...]]:
    """Corners of faces of the convex hull of points (k, 3): one polygon where they lie in a plane, none on a line."""
    from scipy.spatial import ConvexHull

    spread = points - points.mean(axis=0)
    _, extent, axes = np.linalg.svd(spread, full_matrices=False)
    if len(points) < 3 or extent[1] < 1e-6 * extent[0]:
        return []
    if len(points) == 3 or extent[2] < 1e-6 * extent[0]:
        return [tuple(ConvexHull(spread @ axes[:2].T).vertices.tolist())]
    return [tuple(face) for face in ConvexHull(points).simplices.tolist()]


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a drawing at points (k, d) in a frame; NaNs are gaps between polylines.

    Shapes are ``line``: polylines; ``faces`` and ``solid``: polygons, these of a shape that is lit; ``ball``: an
    ellipsoid, or a circle, with the points as semi-axes; ``mark``: a symbol at the first point; ``arrow``: from the
    first point to the second; ``curve``: the beams of a flexible body. Colours are a body, whose colour it has, a
    colour, or ``*ink``, ``*faint``, ``*ground``, ``*loose`` of contacts, ``*paper``.
    """

    shape: Shape
    frame: Frame
    points: Array
    colour: str
    of: str  # the body or the element that is drawn
    inside: str = ""  # colour of the inside of a ball or a mark, where it is another one
    width: float = 1.2  # of lines [pt]; the diameter of marks
    fill: float = 0.0  # opacity of areas
    alpha: float = 1.0  # opacity of lines
    dash: tuple[float, ...] = ()
    layer: float = 0.0  # a higher one is in front; in space so many units of symbols nearer, beyond 9 in any case
    faces: tuple[tuple[int, ...], ...] = ()  # indices of the corners of polygons
    marker: MarkShape | Literal["dot", "centre"] = "dot"
    convex: bool = False  # of a shape whose faces are seen from one side
    bare: bool = False  # of a body with shapes, drawn only where these are not wanted


@dataclass(frozen=True, eq=False)
class Named:
    """The place of the name of a body or of an element."""

    name: str
    frame: Frame
    point: Array
    colour: str
    bold: bool = False


def pieces(drawing: Drawing) -> tuple[list[Piece], list[Named]]:
    """All of a mechanism but fields, which stand in a corner of the picture; and places of names."""
    maker = _Maker(drawing)
    for body in drawing.placed.bodies:
        maker.body(body)
    for part in drawing.parts:
        maker.element(part)
    return maker.pieces, maker.names


class _Maker:
    """Makes pieces; sizes of symbols are in hundredths of the drawing's grain."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing, self.placed = drawing, drawing.placed
        self.flat, self.unit = drawing.dimension == 2, drawing.grain / 100
        self.pieces: list[Piece] = []
        self.names: list[Named] = []
        self.of = self.named = ""  # what is drawn, and the colour of its name
        self.bare = False

    # ------------------------------------------------------------------------------------------------------- pieces

    def add(self, shape: Shape, frame: Frame, points: Any, colour: str, **style: Any) -> None:
        """A piece of points with two or three components, of which the plane has two."""
        local = np.asarray(points, float).reshape(-1, np.shape(points)[-1])[:, : self.drawing.dimension]
        self.pieces.append(Piece(shape, frame, local, colour, self.of, bare=self.bare, **style))

    def lines(self, frame: Frame, lines: Iterable[Any], colour: str, **style: Any) -> None:
        """Polylines as one piece."""
        cut = [piece for line in lines for piece in (np.asarray(line, float), GAP[:, : np.shape(line)[-1]])]
        self.add("line", frame, np.concatenate(cut[:-1]), colour, **style)

    def outlined(self, frame: Frame, corners: Any, colour: str, fill: float, **style: Any) -> None:
        """A polygon with its edge."""
        layer = style.get("layer", 0.0)
        self.add("faces", frame, corners, colour, fill=fill, faces=(tuple(range(len(corners))),), layer=layer)
        self.add("line", frame, [*corners, corners[0]], colour, **style)

    def block(self, frame: Frame, corners: Array, colour: str, fill: float) -> None:
        """A block from its corners (8, 3)."""
        self.add("faces", frame, corners, colour, fill=fill, faces=FACES)
        self.add("line", frame, corners[list(EDGES)], colour, width=1.0)

    def tube(self, frame: Frame, axes: Array, colour: str, fill: float, width: float = 1.0, lines: int = 4) -> None:
        """A cylinder: half of it along the first of these axes (3, 3), and its radii."""
        turn = np.linspace(0.0, 2 * np.pi, ROUND + 1)
        circle = np.column_stack([np.cos(turn), np.sin(turn)]) @ axes[1:]
        low, high = circle - axes[0], circle + axes[0]
        steps = range(0, ROUND, ROUND // lines)
        self.lines(frame, [low, high, *([low[i], high[i]] for i in steps)], colour, width=width)
        sides = tuple((i, i + 1, ROUND + 2 + i, ROUND + 1 + i) for i in range(ROUND))
        self.add("faces", frame, np.concatenate([low, high]), colour, fill=fill, faces=sides)

    def hatched(self, frame: Frame, middle: Array, half: Array, inward: Array, colour: str) -> None:
        """A line in the plane from middle - half to middle + half, with strokes on its solid side."""
        length, size = float(np.linalg.norm(half)), 2.2 * self.unit
        along = half / length
        self.add("line", frame, [middle - half, middle + half], colour, width=1.3, layer=-2.0)
        feet = middle + np.arange(-length + size, length + 1e-3 * size, min(size, length / 2))[:, None] * along
        self.lines(frame, [[foot, foot + 0.6 * size * (inward - along)] for foot in feet], FAINT, width=0.7, layer=-2.0)

    def name(self, frame: Frame, point: Any = (0.0, 0.0, 0.0)) -> None:
        """Place the name of what is drawn; the first place counts."""
        if all(one.name != self.of for one in self.names):
            at = np.asarray(point, float)[: self.drawing.dimension]
            self.names.append(Named(self.of, frame, at, self.named, self.named == self.of))

    def support(self, spot: Spot) -> None:
        """A support at a point of the ground: a triangle on a hatched line, in space a plate."""
        if spot.body in self.placed.frames:
            return
        frame, w = At(spot), self.unit
        if self.flat:
            corners = w * np.array([[0.0, 0.0], [-2.5, -4.0], [2.5, -4.0]])
            self.add("faces", frame, corners, GROUND, fill=0.5, faces=((0, 1, 2),), layer=-2.0)
            self.hatched(frame, np.array([0.0, -4.0 * w]), np.array([4.0 * w, 0.0]), np.array([0.0, -1.0]), GROUND)
            return
        axes, k = np.eye(3), self.drawing.vertical
        foot = -3.0 * w * axes[k]
        self.add("line", frame, [np.zeros(3), foot], GROUND, width=1.5)
        self.outlined(frame, foot + 2.4 * w * SQUARE @ axes[[k - 1, k - 2]], GROUND, 0.5, width=0.8)

    def span(self, origin: Spot, along: Array, moving: Spot) -> tuple[float, float]:
        """Least and greatest coordinate of a spot along a unit vector through another [m]."""
        offset = self.placed.spot(moving) - self.placed.spot(origin)
        x = np.sum(offset * self.placed.vectors(origin.body, along), axis=1)
        return float(x.min()), float(x.max())

    # ------------------------------------------------------------------------------------------------------- bodies

    def body(self, body: str) -> None:
        """Draw beams, or the hull of the points that joints hold, in space with lines to these from the mass centre."""
        self.of = self.named = body
        frame, flexible, d = At(Spot(body)), self.drawing.flexible.get(body), self.drawing.dimension
        style: dict[str, Any] = {"width": 5.0, "alpha": 0.7} if self.flat else {"width": 3.0, "alpha": 0.75}
        points, known, self.bare = self.drawing.outlines[body], self.drawing.primitives, body in self.drawing.shaped
        if flexible is not None and len(flexible.places):
            self.add("curve", frame, np.zeros((0, d)), body, **style)
        elif self.flat:
            # a bar through two points, a plate through more; through none a small plate, unless it is round or slides
            seen = {one.spot.body for one in known(primitive.Round)}
            seen |= {one.b.body for one in known(primitive.Slide, primitive.Guide)}
            corners = hull(points) if len(points) > 1 else BLOCK * self.unit * SQUARE
            if len(corners) == 2:
                self.add("line", frame, corners, body, **style)
            elif len(points) > 1 or body not in seen:
                self.outlined(frame, corners, body, 0.45, width=1.5)
        elif len(points) > 1:
            # loose journals and sliders are joined where they are drawn
            loose = [one for one in known(primitive.Bearing, primitive.Guide) if one.b.body == body and any(one.b.at)]
            for one in loose:
                end = Journal.of(one, 3) if isinstance(one, primitive.Bearing) else Block.of(one, 3)
                self.add("line", Between(Spot(body), end), [np.zeros(3), np.eye(3)[0]], body, **style)
            firm = [point for point in points if point.any() and not any(np.allclose(point, one.b.at) for one in loose)]
            if firm:
                self.lines(frame, [[np.zeros(3), point] for point in firm], body, **style)
            faces = hull_faces(points)
            if faces:
                self.add("faces", frame, points, body, fill=0.25 if len(faces) == 1 else 0.1, faces=tuple(faces))
                self.lines(frame, [points[[*face, face[0]]] for face in faces], body, width=1.0, alpha=0.6)
        self.bare = False
        mark = {"width": 5.0, "marker": "centre"} if self.flat else {"width": 3.0}
        self.add("mark", frame, np.zeros((1, 3)), body, inside=body, layer=1.0, **mark)
        for axis, colour in zip(np.eye(3), TRIAD, strict=True) if not self.flat else ():
            self.add("line", frame, [np.zeros(3), 5.0 * self.unit * axis], colour, width=0.9, layer=1.0)
        self.name(frame)

    # ----------------------------------------------- primitives, each by the method of its name

    def element(self, part: Drawn) -> None:
        self.of, self.named = part.element.name, LOOSE if part.gap_names() else INK
        for one in part.primitives:
            make = getattr(self, type(one).__name__.lower(), None)
            if make is not None:
                make(one)

    def mark(self, one: primitive.Mark) -> None:
        self.support(one.a)
        inside = INK if one.shape in ("ball", "weld") and not self.flat else PAPER
        at = one.b if one.shape == "joint" or not self.flat else one.a
        self.add("mark", At(at), np.zeros((1, 3)), INK, inside=inside, width=5.5, marker=one.shape, layer=2.0)
        self.name(At(at))

    def axle(self, one: primitive.Axle) -> None:
        along = np.asarray(one.along) / np.linalg.norm(one.along) * 5.0 * self.unit
        self.add("line", At(one.spot), [-along, along], INK, width=2.2, layer=1.0)
        self.add("line", At(one.spot), [-1.8 * along, 1.8 * along], FAINT, width=0.8, dash=DASHES)
        self.name(At(one.spot))

    def slide(self, one: primitive.Slide) -> None:
        """The axis, and a block or a sleeve on it."""
        if not self.flat:
            self.support(one.a)
        w = self.unit
        x, y = np.asarray(one.along)[:2] / np.linalg.norm(one.along)
        axes = np.array([[x, y], [-y, x]]) if self.flat else basis(one.along)
        low, high = self.span(one.a, axes[0], one.b)
        if one.a.body in self.placed.frames or not self.flat:  # what carries the axis is seen to do so
            low, high = min(low, 0.0), max(high, 0.0)
        ends = [(low - 14.0 * w) * axes[0], (high + 14.0 * w) * axes[0]]
        self.add("line", At(one.a), ends, FAINT, width=1.0, dash=DASHES, layer=-2.0)
        frame = At(one.b, one.a.body)
        half = w * (np.array([7.5, 4.0]) if self.flat else np.array([5.0, 2.6, 2.6]))[:, None] * axes
        if self.flat:
            self.outlined(frame, SQUARE @ half, one.b.body, 0.45, layer=-1.0)
        elif one.round:
            self.tube(frame, half, one.b.body, 0.25)
        else:
            self.block(frame, SIGNS @ half, one.b.body, 0.25)
        self.name(At(one.a) if self.flat else frame, ends[1] if self.flat else np.zeros(3))

    def bearing(self, one: primitive.Bearing) -> None:
        self.support(one.a)
        d = self.drawing.dimension
        sleeve, journal = Sleeve.of(one, d), Journal.of(one, d)
        a, b = one.a.body, one.b.body
        if sleeve.long:
            self.tube(sleeve, np.eye(3), a, 0.12, width=1.3)
            self.tube(journal, np.eye(3), b, 0.4, width=1.2)
        elif self.flat:
            self.add("ball", sleeve, np.eye(2), a, inside=PAPER, fill=1.0, width=2.5, layer=3.0)
            self.add("ball", journal, np.eye(2), INK, inside=b, fill=0.9, width=0.8, layer=4.0)
            self.add("line", journal, [[0.0, 0.0], [1.0, 0.0]], PAPER, width=1.0, layer=4.0)
        else:
            self.add("ball", sleeve, np.eye(3), a, fill=0.08, layer=-1.0)
            self.add("ball", journal, np.eye(3), b, fill=0.5)
        self.name(At(one.a))

    def guide(self, one: primitive.Guide) -> None:
        """A slider between the walls of its guide, in space in a tunnel."""
        d = self.drawing.dimension
        tunnel, block = Tunnel.of(one, d), Block.of(one, d)
        low, high = self.span(one.a, np.asarray(one.along), one.b)
        low, high = low - 0.8 * one.length, high + 0.8 * one.length
        if self.flat:
            middle, half = np.array([(low + high) / 2, 0.0]), np.array([(high - low) / 2, 0.0])
            for side in (-1.0, 1.0):
                self.hatched(replace(Face.of(one, d), side=side), middle, half, np.array([0.0, 1.0]), INK)
            self.outlined(block, SQUARE, one.b.body, 0.45, layer=-1.0)
        else:
            self.block(block, SIGNS, one.b.body, 0.35)
            walls = SIGNS.copy()
            walls[:, 0] = np.where(SIGNS[:, 0] < 0, low, high)
            self.block(tunnel, walls, one.a.body if one.a.body in self.placed.frames else GROUND, 0.06)
        self.name(tunnel, (high, 1.0, 1.0))

    def wall(self, one: primitive.Wall) -> None:
        """A wall as far as it is faced during the motion; walls in the same plane of a body are one."""
        body, normal = one.spot.body, np.asarray(one.normal) / np.linalg.norm(one.normal)

        def plane(wall: primitive.Wall) -> tuple[Any, ...]:
            across = np.asarray(wall.normal) / np.linalg.norm(wall.normal)
            offset = float(across @ (wall.spot.at or np.zeros(len(across))))
            return wall.spot.body, *np.round(across, 9), round(offset / self.unit, 6)

        same = [wall for wall in self.drawing.primitives(primitive.Wall) if plane(wall) == plane(one)]
        frame = At(one.spot)
        if same[0] is one:
            along = np.array([[normal[1], -normal[0]]]) if self.flat else basis(normal)[1:]
            room = (6.0 if body in self.placed.frames else 14.0) * self.unit
            room = max([room, *(1.1 * wall.radius for wall in same)])
            spans = np.array([[self.span(one.spot, axis, wall.near) for axis in along] for wall in same])
            low, high = spans[..., 0].min(axis=0) - room, spans[..., 1].max(axis=0) + room
            if self.flat:
                self.hatched(frame, (low + high) / 2 * along[0], (high - low) / 2 * along[0], -normal, INK)
                self.name(frame, low * along[0])
            else:
                corners = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
                self.add("faces", frame, corners @ along, FAINT, fill=0.12, faces=((0, 1, 2, 3),), layer=-4.0)
                x, y = (np.linspace(low[i], high[i], 7) for i in range(2))
                rows = [[[a, low[1]], [a, high[1]]] for a in x] + [[[low[0], b], [high[0], b]] for b in y]
                self.lines(frame, (np.array(row) @ along for row in rows), FAINT, width=0.4, layer=-4.0)
        first = [self.placed.spot(spot)[0] for spot in (one.spot, one.near)]
        self.name(frame, self.placed.rotation(body)[0].T @ (first[1] - first[0]) - one.radius * normal)

    def dot(self, one: primitive.Dot | primitive.Touch) -> None:
        frame, at = (Between(one.a, one.b), one.share) if isinstance(one, primitive.Touch) else (At(one.spot), 0.0)
        self.add("mark", frame, [[at, 0.0, 0.0]], LOOSE, inside=LOOSE, width=3.5, layer=2.0)
        self.name(frame, (at, 0.0, 0.0))

    touch = dot

    def round(self, one: primitive.Round) -> None:
        """A circle or a sphere, with lines of its body by which its turning shows."""
        frame, body, d = At(one.spot), one.spot.body, self.drawing.dimension
        self._ellipsoid(frame, body, one.radius * np.eye(d), 0.45 if self.flat else 0.25)
        if self.flat:
            self.add("line", frame, [[0.0, 0.0], [0.0, one.radius]], body, width=1.0, layer=-1.0)
        else:
            self.name(frame)

    def ellipsoid(self, one: primitive.Ellipsoid) -> None:
        self._ellipsoid(At(one.spot), one.spot.body, np.array(one.semi_axes), 0.25)
        self.name(At(one.spot))

    def _ellipsoid(self, frame: Frame, body: str, axes: Array, fill: float) -> None:
        """An ellipsoid as it is seen, in space with ellipses in its planes of symmetry."""
        self.add("ball", frame, axes, body, inside=body, fill=fill, layer=-1.0 if self.flat else 0.0)
        turn = np.linspace(0.0, 2 * np.pi, 37)
        circle = np.column_stack([np.cos(turn), np.sin(turn)])
        if not self.flat:
            self.lines(frame, [circle @ axes[[i - 1, i]] for i in range(3)], body, width=0.7, alpha=0.8)

    def cylinder(self, one: primitive.Cylinder) -> None:
        axes = basis(one.along) * np.array([one.length / 2, one.radius, one.radius])[:, None]
        self.tube(At(one.spot), axes, one.spot.body, 0.25, lines=6)
        self.name(At(one.spot))

    def box(self, one: primitive.Box) -> None:
        self.block(At(one.spot), SIGNS * np.array(one.edges) / 2, one.spot.body, 0.25)
        self.name(At(one.spot))

    def solid(self, one: primitive.Solid) -> None:
        """A shape of a body: an area in the plane, faces in space."""
        frame, body = At(Spot(one.spot.body)), one.spot.body
        if not self.flat:
            self.add("solid", frame, one.points, body, fill=1.0, faces=one.faces, convex=one.convex, layer=-9.0)
            return
        polygons = outlines(one)
        ends = np.cumsum([len(polygon) for polygon in polygons])
        faces = tuple(tuple(range(end - len(polygon), end)) for polygon, end in zip(polygons, ends, strict=True))
        width = 1.2 if len(polygons) == 1 else 0.0
        self.add("solid", frame, np.concatenate(polygons), body, fill=0.45, width=width, faces=faces, layer=-2.0)

    def line(self, one: primitive.Line) -> None:
        dash = (1.0, 1.0) if one.dotted else ()
        ends = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
        self.add("line", Between(one.a, one.b), ends, INK, width=1.5, dash=dash, layer=1.0)
        self.name(Between(one.a, one.b), (0.5, 0.0, 0.0))

    def coil(self, one: primitive.Coil) -> None:
        share = np.concatenate([[0.0, 0.15], np.linspace(0.2, 0.8, 13), [0.85, 1.0]])
        side = np.concatenate([[0.0, 0.0], np.tile([1.0, -1.0], 7)[:13], [0.0, 0.0]]) * 2.2 * self.unit
        frame = Between(one.a, one.b)
        self.add("line", frame, np.column_stack([share, side, 0.0 * side]), INK, width=0.9, layer=1.0)
        self.name(frame, (0.5, 0.0, 0.0))

    def arrow(self, one: primitive.Arrow) -> None:
        along = np.array([*one.along, 0.0][:3]) if any(one.along) else np.array([1.0, 0.0, 0.0])
        frame = At(one.spot, None if one.fixed else "")
        start = -14.0 * self.unit * along / np.linalg.norm(along)
        self.add("arrow", frame, [start, np.zeros(3)], INK, layer=3.0)
        self.name(frame, start)

    def drive(self, one: primitive.Drive) -> None:
        frame = Between(one.a, one.b)
        length = float(np.linalg.norm(self.placed.spot(one.b)[0] - self.placed.spot(one.a)[0]))
        if length > 1e-9 * self.unit:
            self.add("arrow", frame, [[1.0, 0.0, 0.0], [1.0 + 10.0 * self.unit / length, 0.0, 0.0]], INK, layer=3.0)
        self.name(frame, (1.0, 0.0, 0.0))

    def turn(self, one: primitive.Turn) -> None:
        # at the joint of the same two bodies, else at its point of the second
        pair = None if one.a is None else (one.a.body, one.b.body)
        joints = (part.spots() for part in self.drawing.primitives() if part.outlines)
        pivot = next((spots[1] for spots in joints if tuple(spot.body for spot in spots) == pair), one.b)
        axis = one.axis if any(one.axis) else (0.0, 0.0, 1.0)
        frame = At(pivot, "" if self.flat or one.a is None else one.a.body)
        _, u, v = basis(axis) if not self.flat else (None, np.eye(3)[0], np.eye(3)[1])
        angles = np.linspace(-0.5, 0.9 * np.pi, 24)[:, None]
        arc = 7.0 * self.unit * (np.cos(angles) * u + np.sin(angles) * v)
        self.add("line", frame, arc, INK, width=1.1, layer=3.0)
        self.add("arrow", frame, arc[[-4, -1]], INK, width=1.1, layer=3.0)
        self.name(frame, arc[16])
