"""Contacts of a point or a circle with a polygon of another body, convex or not.

A polygon that is not convex is covered along its edges by convex pieces, one gap each: a piece has as many successive
edges as fit, ends where the polygon is re-entrant, and reaches a layer deep behind its edges, where the first and the
last of them are continued. In a valley two gaps close, each with the normal of its own edge. With outward normals n_i
of the edges of a piece at their first corners r_i, and the corners r_k in whose cone of normals the point x lies::

    d = max(n_i . (x - r_i), |x - r_k|, l(x))

l(x) are the distances from the planes that bound the layer. Outside of the polygon the least d of all pieces is the
distance from it, d of each piece is a convex function, and where its edges and corners are nearest d is their distance.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Annotated, Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.contacts import FAR, FreeContact, Touches
from nonsmooth.model.drawing import Dot, Line, Primitive, Round, Spot
from nonsmooth.model.elements import ORIGIN
from nonsmooth.model.frames import cross, unit
from nonsmooth.quantities import Point, PositiveLength, Quantity
from nonsmooth.settings import shown

#: most corners; sine of a turn within which a corner is straight; round-off as a share of the extent; how often the
#: extent is halved at most for the depth of the layer
MOST, STRAIGHT, SAME, HALVED = 100, 1e-9, 1e-9, 14
LABELS = tuple(f"{axis}{i}" for i in range(1, MOST + 1) for axis in "xy")


@dataclass(frozen=True, eq=False)
class _OnPolygon(FreeContact):
    """Base of contacts with a polygon."""

    corners: Annotated[tuple[float, ...], Quantity("m", labels=LABELS)] = field(kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    layer: PositiveLength | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._fill_origin()
        given: Any = self.corners.tolist() if isinstance(self.corners, np.ndarray) else self.corners
        if isinstance(given, tuple | list):
            if all(isinstance(one, tuple | list | np.ndarray) for one in given):
                if any(len(one) != 2 for one in given):
                    raise self.error(f"corners must be pairs (x, y), got {shown(self.corners)}.")
                given = list(itertools.chain.from_iterable(given))
            if len(given) % 2 or not 6 <= len(given) <= len(LABELS):
                raise self.error(f"corners must be 3 to {MOST} pairs (x, y), got {len(given)} numbers.")
            object.__setattr__(self, "corners", tuple(given))
        super().__post_init__()

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        points = np.array([numbers[f"corners_{label}"] for label in LABELS[: len(self.corners)]]).reshape(-1, 2)
        if np.array_equal(points.ravel(), self.corners) and numbers.get("layer") == self.layer:
            layer, pieces = self._division
            if layer is not None and self.layer is None:
                object.__setattr__(self, "layer", layer)
            turns = [_turns(points)[first] for first, _ in pieces]  # below zero at re-entrant corners
            if not isinstance(self.contact, Rigid) and len(turns) > 1 and max(turns) >= -STRAIGHT:
                raise self.error(
                    "it cannot be covered by convex pieces that end at re-entrant corners, and a corner of two pieces "
                    "would have twice the stiffness; give it a rigid law, or give several polygons."
                )
            return
        try:
            check_polygon(points)
        except InputError as error:
            raise self.error(str(error)) from error
        if not all(_fits(points, *piece, numbers.get("layer", 0.0)) for piece in self._division[1]):
            raise self.error("with these numbers its convex pieces would be others; build the model with them.")

    @cached_property
    def _division(self) -> tuple[float | None, list[tuple[int, int]]]:
        """Depth of the layer, and first edge and number of edges of each piece."""
        points = np.array([float(x) for x in self.corners]).reshape(-1, 2)
        try:
            check_polygon(points)
            return divided(points, None if self.layer is None else float(self.layer))
        except InputError as error:
            raise self.error(str(error)) from error

    @property
    def gap_labels(self) -> tuple[str, ...]:  # type: ignore[override]
        n, pieces = len(self.corners) // 2, self._division[1]
        labels = [f"edge_{k + 1}" + (f"_to_{(k + m - 1) % n + 1}" if m > 1 else "") for k, m in pieces]
        return tuple(labels) if len(labels) > 1 else ("",)

    def _found(self, a: Any, b: Any, p: SimpleNamespace) -> list[tuple[ca.SX, ca.SX]]:
        """Distance of the point from each piece, and the normal in the frame of a; made once for the symbols p."""
        if not hasattr(p, "found"):
            x, layer = a.unrotate(b.point(p.at_b) - a.position), getattr(p, "layer", None)
            points = [p.corners[2 * i : 2 * i + 2] for i in range(len(self.corners) // 2)]
            p.found = [_nearest(x, points, *piece, layer) for piece in self._division[1]]
        found: list[tuple[ca.SX, ca.SX]] = p.found
        return found

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(*(d for d, _ in self._found(a, b, p))) - getattr(p, "radius", 0.0)

    def touches(self, a: Any, b: Any, p: SimpleNamespace) -> Touches:
        normals = [a.rotate(normal) for _, normal in self._found(a, b, p)]
        return [(b.point(p.at_b) - getattr(p, "radius", 0.0) * normal, normal) for normal in normals]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        frame, point = self.spots(p)
        corners = [Spot(frame.body, (float(x), float(y))) for x, y in np.reshape(np.array(p.corners, float), (-1, 2))]
        lines = (Line(one, other) for one, other in zip(corners, corners[1:] + corners[:1], strict=True))
        return (*lines, Round(point, p.radius) if hasattr(p, "radius") else Dot(point, corner=True))


@dataclass(frozen=True, eq=False)
class PointPolygon(_OnPolygon):
    """A point of body b outside a polygon of body a, convex or not: ratchets, cams with corners, slots, profiles.

    A convex polygon has one gap, the signed distance. Another one has a gap for each of the convex pieces that cover
    its edges, named by their edges, of which edge k begins at corner k: ``rack.edge_1_to_2``, ``rack.edge_3``. The
    distance outside, points and normals are exact; a point that has penetrated is found within the layer.

    Parameters
    ----------
    a, b : body with the polygon, body with the point
    corners : [m]
        Pairs (x, y) in the frame of a, 3 to 100, counter-clockwise; kept as one row of numbers. The parameters are
        ``corners_x1``, ``corners_y1``, ...
    at_b : [m], the point, in the frame of b
    layer : [m], > 0, optional
        Depth behind the edges of a polygon that is not convex, up to which a point in it is in contact. If omitted it
        is the largest that gives the fewest pieces.
    size, contact : as in `PointPlane`

    Raises
    ------
    ModelError
        If corners coincide, are clockwise, or edges cross or touch; if there is less material behind an edge than the
        layer; with a compliant law, if a piece must end at a corner that is not re-entrant.

    >>> hook = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]
    >>> PointPolygon("hook", "ground", "tip", corners=hook, contact=Rigid(restitution=0, friction=0)).gap_names()
    ('hook.edge_1_to_3', 'hook.edge_4_to_6')
    """


@dataclass(frozen=True, eq=False)
class CirclePolygon(_OnPolygon):
    """A circle of body b outside a polygon of body a: the gaps of a `PointPolygon`, less the radius.

    Parameters
    ----------
    a, b : body with the polygon, body with the circle
    radius : [m], > 0
    corners, layer, size, contact : as in `PointPolygon`
    at_b : [m], centre of the circle, in the frame of b

    Raises
    ------
    ModelError
        As of a `PointPolygon`.
    """

    radius: PositiveLength = field(kw_only=True)

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        return {"radius": p.radius, "effective_radius": p.radius}


def _outward(t: Any) -> Any:
    """Normal on the right of a direction; also of rows."""
    return ca.vertcat(t[1], -t[0]) if isinstance(t, ca.SX) else np.stack([t[..., 1], -t[..., 0]], axis=-1)


def _nearest(x: ca.SX, corners: Sequence[ca.SX], first: int, count: int, layer: Any) -> tuple[ca.SX, ca.SX]:
    """Distance of a point from a piece, as in the head of this file, and the normal there. The side or corner is found
    by comparisons, which have no derivatives, so that those of the distance are short."""
    n = len(corners)
    tangents = [unit(corners[(k + 1) % n] - corners[k]) for k in range(n)]
    edges = [k % n for k in range(first, first + count)]
    points, directions = [corners[k] for k in edges], [tangents[k] for k in (edges[-1], *edges)]
    if count < n:
        points = [corners[k % n] for k in range(first, first + count + 1)]
        ends = [_end(tangents[(k - 1) % n], tangents[k % n]) for k in (first, first + count)]
        start = ca.if_else(ends[0][0], -ends[0][1], tangents[first])
        directions = [start, *(tangents[k] for k in edges), ca.if_else(*ends[1], tangents[edges[-1]])]
    sides = [(point, _outward(before)) for point, before in zip(points, directions, strict=False)]
    vertices = []
    for point, before, after in zip(points, directions, directions[1:], strict=False):
        cone = ca.logic_and(ca.dot(before, x - point) > 0, ca.dot(after, x - point) < 0)
        vertices.append((point, cone))
    if count < n:
        chord = _outward(unit(points[0] - points[-1]))
        bounds = [sides[0], (points[-1], _outward(directions[-1])), (points[0] + layer * chord, chord)]
        for point, out in ((points[0], -directions[1]), (points[-1], directions[-2])):
            farthest = ca.mmax(ca.vertcat(0, *(ca.dot(out, one - point) for one in points)))
            bounds.append((point + (farthest + layer) * out, out))
        sides += bounds[1:]
        for (p, n_p), (q, n_q) in itertools.combinations(bounds, 2):  # where two lines meet
            turn, c, d, e = cross(n_p, n_q), ca.dot(n_p, n_q), ca.dot(n_p, x - p), ca.dot(n_q, x - q)
            along = ca.dot(n_q, q - p) / ca.if_else(ca.fabs(turn) > STRAIGHT, turn, 1)
            cone = ca.logic_and(ca.logic_and(d > c * e, e > c * d), ca.fabs(turn) > STRAIGHT)
            vertices.append((p + along * ca.vertcat(-n_p[1], n_p[0]), cone))
    best, place, normal, is_vertex = ca.SX(-FAR), points[0], directions[0], ca.SX(0)
    for point, out in sides:
        d = ca.dot(out, x - point)
        best, place, normal = _better(d > best, (d, point, out), (best, place, normal))
    for point, cone in vertices:
        d = ca.norm_2(x - point)
        best, place, is_vertex = _better(ca.logic_and(cone, d > best), (d, point, ca.SX(1)), (best, place, is_vertex))
    away = x - place
    length = ca.sqrt(ca.if_else(is_vertex, ca.dot(away, away), 1))  # on a side as well with derivatives
    return ca.if_else(is_vertex, length, ca.dot(normal, away)), ca.if_else(is_vertex, away / length, normal)


def _better(better: ca.SX, new: Iterable[ca.SX], old: Iterable[ca.SX]) -> list[ca.SX]:
    return [ca.if_else(better, one, other) for one, other in zip(new, old, strict=True)]


def _end(before: ca.SX, after: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Whether a corner is not re-entrant, and the direction from it into the polygon between its edges."""
    return cross(before, after) > -STRAIGHT, -unit(_outward(before) + _outward(after))


# ---- pieces of a polygon, by numbers


def _tangents(points: Array) -> Array:
    along = np.roll(points, -1, axis=0) - points
    return np.asarray(along / np.linalg.norm(along, axis=1)[:, None])


def _extent(points: Array) -> float:
    return float(np.max(np.ptp(points, axis=0)))


def check_polygon(points: Array) -> None:
    """Raise InputError unless corners (n, 2) are those of a simple polygon, counter-clockwise."""
    n, tiny = len(points), SAME * _extent(points)
    ends = np.roll(points, -1, axis=0)
    i, k = (one.astype(int) for one in np.triu_indices(n, 1))
    if np.any(close := np.linalg.norm(points[i] - points[k], axis=1) <= tiny):
        j = int(np.argmax(close))
        raise InputError(
            f"its corners {i[j] + 1} and {k[j] + 1} coincide; leave one of them out, and do not repeat the first."
        )
    t = _tangents(points)
    area = 0.5 * float(np.sum(points[:, 0] * ends[:, 1] - ends[:, 0] * points[:, 1]))
    back = np.sum(t * np.roll(t, 1, axis=0), axis=1) < -1.0 + STRAIGHT
    if np.any(back):
        raise InputError(f"its edges fold back at corner {int(np.argmax(back)) + 1}; leave that corner out.")
    apart = (k - i > 1) & (k - i < n - 1)
    i, k = i[apart], k[apart]
    normal = _outward(t)
    sides = [
        np.sum(normal[one] * (end - points[one]), axis=1)
        for one, other in ((i, k), (k, i))
        for end in (points[other], ends[other])
    ]
    crossing = (np.minimum(sides[0], sides[1]) <= tiny) & (np.maximum(sides[0], sides[1]) >= -tiny)
    crossing &= (np.minimum(sides[2], sides[3]) <= tiny) & (np.maximum(sides[2], sides[3]) >= -tiny)
    boxes = [(np.minimum(points[one], ends[one]), np.maximum(points[one], ends[one])) for one in (i, k)]
    crossing &= np.all((boxes[0][0] <= boxes[1][1] + tiny) & (boxes[1][0] <= boxes[0][1] + tiny), axis=1)
    if np.any(crossing):
        j = int(np.argmax(crossing))
        raise InputError(
            f"its edges {i[j] + 1} and {k[j] + 1} cross or touch; give a polygon that does not intersect itself."
        )
    if area < 0.0:
        raise InputError(
            "its corners are in clockwise order; reverse the list, since its material is on the left of the edges."
        )


def _turns(points: Array) -> Array:
    """Sine of the turn at each corner, negative where it is re-entrant."""
    t = _tangents(points)
    before = np.roll(t, 1, axis=0)
    return np.asarray(before[:, 0] * t[:, 1] - before[:, 1] * t[:, 0])


def divided(points: Array, layer: float | None) -> tuple[float | None, list[tuple[int, int]]]:
    """Depth of the layer, and first edge and number of edges of each convex piece; InputError if there are none."""
    n, entrant = len(points), np.flatnonzero(_turns(points) < -STRAIGHT)
    if not entrant.size:
        return None, [(0, n)]
    best: tuple[float | None, list[tuple[int, int]]] = None, []
    for depth in [layer] if layer is not None else [_extent(points) * 0.5**k for k in range(1, HALVED)]:
        pieces, first = list[tuple[int, int]](), int(entrant[0])
        end = first + n
        while first < end:
            stretch = int(min((k - first - 1) % n + 1 for k in entrant))
            count = next((m for m in range(min(stretch, end - first), 0, -1) if _fits(points, first % n, m, depth)), 0)
            if not count:
                pieces = []
                break
            pieces.append((first % n, count))
            first += count
        if pieces and not (best[1] and len(best[1]) <= len(pieces)):
            best = depth, sorted(pieces)
    if not best[1]:
        given = f"a layer of {layer:g} m" if layer is not None else "a layer"
        raise InputError(
            f"its material is too thin behind an edge for {given}; give a smaller one, or a thicker polygon."
        )
    return best


def _planes(points: Array, first: int, count: int, layer: float) -> tuple[Array, Array]:
    """Normals (m, 2) and offsets (m,) of the half-planes that bound a piece."""
    n, t, turns = len(points), _tangents(points), _turns(points)
    chain = points[np.arange(first, first + count + 1) % n]
    edges = np.arange(first, first + count) % n
    normals, through, room = [*_outward(t[edges])], [*chain[:-1]], [0.0] * count
    for k, sign in ((first, -1.0), ((first + count) % n, 1.0)):
        if turns[k] >= -STRAIGHT:
            inward = -(_outward(t[k - 1]) + _outward(t[k]))
            normals.append(_outward(sign * inward / np.linalg.norm(inward)))
            through.append(points[k])
            room.append(0.0)
    chord = chain[-1] - chain[0]
    normals.append(-_outward(chord / np.linalg.norm(chord)))
    through.append(chain[0])
    room.append(layer)
    for point, direction in ((chain[0], -t[edges[0]]), (chain[-1], t[edges[-1]])):
        normals.append(direction)
        through.append(point)
        room.append(layer + max(0.0, float(np.max((chain - point) @ direction))))
    return np.array(normals), np.sum(np.array(normals) * np.array(through), axis=1) + np.array(room)


def _fits(points: Array, first: int, count: int, layer: float) -> bool:
    """Whether successive edges bound a convex piece that lies within the polygon, also with twice the layer."""
    n, tiny = len(points), SAME * _extent(points)
    if count == n:
        return bool(np.all(_turns(points) >= -STRAIGHT))
    normals, offsets = _planes(points, first, count, 2.0 * layer)
    chain = points[np.arange(first, first + count + 1) % n]
    if np.any(chain @ normals.T > offsets + tiny):
        return False
    others = np.arange(first + count, first + n) % n
    start, end = points[others] @ normals.T - offsets + tiny, points[(others + 1) % n] @ normals.T - offsets + tiny
    with np.errstate(divide="ignore", invalid="ignore"):
        share = start / (start - end)
    low = np.max(np.where(start > 0.0, np.where(end > 0.0, 2.0, share), 0.0), axis=1)
    high = np.min(np.where(end > 0.0, np.where(start > 0.0, -1.0, share), 1.0), axis=1)
    return not bool(np.any(high > low))
