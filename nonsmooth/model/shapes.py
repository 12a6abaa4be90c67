"""Shapes of bodies, which are drawn and have no other effect: no mass, no contact, no parameter.

A body with shapes is drawn by them instead of by the points at which joints hold it. Places and orientations are those
in the frame of the body. In the plane a shape is drawn as it is seen along z.
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.files import path_of
from nonsmooth.model.drawing import Primitive, Solid, Spot
from nonsmooth.model.elements import Element
from nonsmooth.model.joints import IDENTITY, BodyRef
from nonsmooth.quantities import Unit, Wrong, in_unit
from nonsmooth.settings import floats, require, shown

#: triangles of a mesh, which are painted one by one in every picture, and bytes of a file, at most
MOST_TRIANGLES, MOST_BYTES = 10_000, 100_000_000
#: digits of a vertex, as a share of the extent, and bytes of a binary file's head and of each triangle
DIGITS, HEAD, RECORD = 6, 84, 50
#: a triangle of a binary file: normal, vertices, two bytes without meaning
TRIANGLE = np.dtype([("normal", "<f4", 3), ("vertices", "<f4", (3, 3)), ("rest", "<u2")])
VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)")


@dataclass(frozen=True, eq=False)
class Mesh:
    """A surface of triangles; InputError if the arrays do not fit, or there are more than 10 000 triangles.

    Parameters
    ----------
    vertices : (n, 3) [m]
    triangles : (m, 3), numbers of their vertices, from 0; counterclockwise as seen from outside
    """

    vertices: Array
    triangles: Array

    def __post_init__(self) -> None:
        try:
            vertices, given = np.asarray(self.vertices, float), np.asarray(self.triangles, float)
        except (TypeError, ValueError):
            raise InputError("A mesh takes vertices (n, 3) [m] and triangles (m, 3), arrays of numbers.") from None
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.all(np.isfinite(vertices)):
            raise InputError(f"vertices must be finite numbers (n, 3) [m], got an array of shape {vertices.shape}.")
        whole = given.ndim == 2 and given.shape[1] == 3 and bool(np.all(given == np.floor(given)))
        if not (whole and len(given) and np.all((given >= 0) & (given < len(vertices)))):
            raise InputError(f"triangles must be one or more rows of three numbers from 0 to {len(vertices) - 1}.")
        if len(given) > MOST_TRIANGLES:
            raise InputError(
                f"A mesh has at most {MOST_TRIANGLES} triangles, since each is painted in every picture, got "
                f"{len(given)}; export it more coarsely from the program that made it."
            )
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "triangles", given.astype(int))


def read_stl(path: str | os.PathLike[str], *, unit: str) -> Mesh:
    """The surface in an STL file, binary or text.

    Vertices are rounded to a millionth of the extent and those at the same place become one; triangles without area are
    left out. Normals in the file are not used. InputError if it is no STL file, or has more than 10 000 triangles.

    Parameters
    ----------
    path : of the file
    unit : of its numbers, which the file does not say, as ``"mm"``
    """
    try:
        factor = float(in_unit(f"1 {unit}", "m"))
    except Wrong:
        raise InputError(f'unit must be one of length, as "mm", got {shown(unit)}.') from None
    file = path_of(path, "The STL file")
    try:
        if file.exists() and not file.is_file():
            raise OSError(0, "it is not a regular file")
        if file.stat().st_size > MOST_BYTES:
            raise InputError(f"{path} has more than {MOST_BYTES} bytes; export it more coarsely.")
        data = Path(file).read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path} cannot be read ({reason}); give an STL file.") from error
    corners = _corners(data, str(path))
    if not (len(corners) and np.all(np.isfinite(corners))):
        raise InputError(f"{path} has no triangles, or vertices that are not finite; export it anew as STL.")
    if len(corners) > MOST_TRIANGLES:
        raise InputError(
            f"{path} has {len(corners)} triangles, more than the {MOST_TRIANGLES} that a picture of moving bodies can "
            "show; export it more coarsely, or reduce it with a mesh program."
        )
    points = factor * corners.reshape(-1, 3)
    extent = float(np.max(np.ptp(points, axis=0)))
    decimals = DIGITS - int(np.floor(np.log10(extent))) if extent > 0 else DIGITS
    vertices, index = np.unique(np.round(points, decimals) + 0.0, axis=0, return_inverse=True)
    triangles = index.reshape(-1, 3)
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    if not len(triangles):
        raise InputError(f"{path} has only triangles without area; export it anew as STL.")
    return Mesh(vertices, triangles)


def _corners(data: bytes, name: str) -> Array:
    """Vertices (m, 3, 3) of the triangles of a file."""
    if len(data) >= HEAD:
        count = int.from_bytes(data[80:84], "little")
        if len(data) == HEAD + RECORD * count:
            return np.frombuffer(data, TRIANGLE, count, HEAD)["vertices"].astype(float)
    if data.lstrip()[:5].lower() == b"solid" and b"vertex" in data:
        try:
            found = np.array(VERTEX.findall(data), dtype=float)
        except ValueError:
            found = np.zeros((1, 3))
        if len(found) % 3 == 0 and len(found) == len(re.findall(rb"\bvertex\b", data)):
            return np.asarray(found.reshape(-1, 3, 3))
    raise InputError(
        f"{shown(name)} is no STL file: it is neither text with three vertices to a triangle nor as long as a binary "
        "file with its number of triangles; export it anew as STL."
    )


#: points of a circle, and of a quarter of it
ROUND, QUARTER = 24, 6
#: corners of the six faces of a box, whose corners are numbered with the last axis fastest
FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))

Place = Annotated[tuple[float, ...], Unit("m")]
Size = Annotated[float, Unit("m")]


@dataclass(frozen=True, eq=False)
class Shape(Element):
    """Base of shapes of `body`, or of the ground, which are drawn only."""

    body: BodyRef
    body_fields = ("body",)
    #: fields that are points or edges, and fields that are positive
    places: ClassVar[tuple[str, ...]] = ()
    sizes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if "." in self.body_names()[0]:
            raise self.error(f'it belongs to a body, not to the node "{self.body_names()[0]}"; name the body.')
        for name in self.places:
            value = self._numbers(name)
            if value.shape not in ((0,), (2,), (3,)) or name in ("edges", "start", "end") and not value.size:
                raise self.error(f"{name} takes two components in the plane, three in space, got {value.tolist()}.")
        for name in self.sizes:
            value = self._numbers(name)
            if not (value.size and np.all(value > 0)) or name == "radius" and value.ndim:
                raise self.error(f"{name} must be positive [m], got {shown(getattr(self, name))}.")

    def _numbers(self, name: str) -> Array:
        """The value of a field as finite numbers."""
        value = getattr(self, name)
        try:
            found = floats(value)
            if not np.all(np.isfinite(found)):
                raise ValueError
        except (OverflowError, TypeError, ValueError):
            raise self.error(f"{name} must be finite numbers, got {shown(value)}.") from None
        return found

    def check_components(self, dimension: int) -> None:
        for name in self.places:
            self.check_length(name, dimension, omitted=True)

    def solid(self) -> Solid:
        """Solid that is drawn."""
        raise NotImplementedError(f"{type(self).__name__} has no solid.")

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (self.solid(),)

    def _solid(self, points: Array, faces: Sequence[Sequence[int]], outline: Array | None = None) -> Solid:
        """A convex solid of points (n, 3) in the frame of the body, and points (k, 2) of its outline seen along z."""
        seen = points[:, :2] if outline is None else outline
        middle, outward = points.mean(axis=0), []
        for face in faces:
            corners = points[list(face)]
            normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            inward = normal @ (corners.mean(axis=0) - middle) < 0
            outward.append(tuple(reversed(face)) if inward else tuple(face))
        return Solid(Spot(self.body_names()[0]), points, tuple(outward), (seen,), True)


@dataclass(frozen=True, eq=False)
class _Turned(Shape):
    """Base of shapes with an orientation: a turn by `angle` about z, then that of the quaternion."""

    at: Place = field(default=(), kw_only=True)
    angle: Annotated[float, Unit("rad")] = field(default=0.0, kw_only=True)
    quaternion: tuple[float, float, float, float] = field(default=IDENTITY, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._numbers("angle").ndim or self._numbers("quaternion").shape != (4,) or not any(self.quaternion):
            raise self.error(
                f"angle is a number [rad] and quaternion four numbers (w, x, y, z), not all zero, got "
                f"{self.angle!r} and {self.quaternion!r}."
            )

    def _placed(self, points: Array) -> Array:
        """Points (n, 3) turned and moved to their place in the body."""
        c, s = math.cos(self.angle), math.sin(self.angle)
        turned = points @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        w, *axis = np.array(self.quaternion) / np.linalg.norm(self.quaternion)
        twice = 2 * np.cross(axis, turned)
        return np.asarray(_spatial(self.at) + turned + w * twice + np.cross(axis, twice))


@dataclass(frozen=True, eq=False)
class BoxShape(_Turned):
    """A box; a rectangle in the plane.

    Parameters
    ----------
    edges : [m], > 0, lengths of its edges: two in the plane, three in space
    at : [m], its middle in the frame of the body; the origin if omitted
    angle, quaternion : [rad], [-], its orientation there: a turn about z, and in space a quaternion (w, x, y, z)

    >>> BoxShape("plate", "slider", edges=("40 mm", "20 mm"), at=(0.01, 0.0)).edges
    (0.04, 0.02)
    """

    edges: Place = field(kw_only=True)
    places = ("at", "edges")
    sizes = ("edges",)

    def solid(self) -> Solid:
        signs = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3, indexing="ij")).reshape(3, -1).T
        return self._solid(self._placed(signs * _spatial(self.edges)), FACES)


@dataclass(frozen=True, eq=False)
class SphereShape(Shape):
    """A sphere; a circle in the plane.

    Parameters
    ----------
    radius : [m], > 0
    at : [m], its centre in the frame of the body; the origin if omitted
    """

    radius: Size = field(kw_only=True)
    at: Place = field(default=(), kw_only=True)
    places = ("at",)
    sizes = ("radius",)

    def solid(self) -> Solid:
        centre = _spatial(self.at)
        angles = np.linspace(0.0, np.pi, 2 * QUARTER + 1)
        x, r = -self.radius * np.cos(angles), self.radius * np.sin(angles)
        points, faces = _revolved(centre, np.array([0.0, 0.0, 1.0]), x, r)
        return self._solid(points, faces, centre[:2] + self.radius * _circle(4 * ROUND))


@dataclass(frozen=True, eq=False)
class _Long(Shape):
    """Base of shapes about an axis from a start to an end."""

    radius: Size = field(kw_only=True)
    start: Place = field(kw_only=True)
    end: Place = field(kw_only=True)
    places = ("start", "end")
    sizes = ("radius",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._length() > 0:
            raise self.error(f"start and end must be two places, got {shown(self.start)} and {shown(self.end)}.")

    def _length(self) -> float:
        return float(np.linalg.norm(_spatial(self.end) - _spatial(self.start)))

    def _about(self, x: Array, r: Array) -> tuple[Array, list[tuple[int, ...]]]:
        """Points and faces of circles with places x from the start and radii r [m]."""
        start, length = _spatial(self.start), self._length()
        return _revolved(start, (_spatial(self.end) - start) / length, x, r)


@dataclass(frozen=True, eq=False)
class CylinderShape(_Long):
    """A cylinder; seen from the side in the plane.

    Parameters
    ----------
    radius : [m], > 0
    start, end : [m], middles of its ends in the frame of the body
    """

    def solid(self) -> Solid:
        points, faces = self._about(np.array([0.0, self._length()]), np.full(2, self.radius))
        return self._solid(points, [*faces, tuple(range(ROUND)), tuple(range(ROUND, 2 * ROUND))])


@dataclass(frozen=True, eq=False)
class RodShape(_Long):
    """A rod with round ends, a capsule; in the plane a bar with round ends.

    Parameters
    ----------
    radius : [m], > 0
    start, end : [m], centres of its round ends in the frame of the body
    """

    def solid(self) -> Solid:
        angles = np.linspace(0.0, np.pi / 2, QUARTER + 1)
        out, length = self.radius * np.sin(angles), self._length()
        x = np.concatenate([-self.radius * np.cos(angles), length + self.radius * np.cos(angles[::-1])])
        points, faces = self._about(x, np.concatenate([out, out[::-1]]))
        a, b = _spatial(self.start)[:2], _spatial(self.end)[:2]
        circle = self.radius * _circle(4 * ROUND)
        return self._solid(points, faces, np.concatenate([a + circle, b + circle]))


@dataclass(frozen=True, eq=False)
class PolygonShape(Shape):
    """A polygon in the plane, which may be concave.

    Parameters
    ----------
    points : (n, 2) [m], its corners in order, in the frame of the body; at least three
    """

    points: Array = field(kw_only=True)
    dimensions = (2,)

    def __post_init__(self) -> None:
        super().__post_init__()
        points = self._numbers("points")
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3:
            raise self.error(f"points must be at least three pairs (x, y) [m], got an array of shape {points.shape}.")
        object.__setattr__(self, "points", points)

    def solid(self) -> Solid:
        points = np.asarray(self.points, float)
        return Solid(Spot(self.body_names()[0]), np.pad(points, ((0, 0), (0, 1))), (), (points,))


@dataclass(frozen=True, eq=False)
class MeshShape(_Turned):
    """A surface of triangles, as of an STL file.

    Parameters
    ----------
    mesh : Mesh, its triangles, see `read_stl`
    at : [m], place of the mesh's origin in the frame of the body; the origin if omitted
    angle, quaternion : [rad], [-], its orientation there: a turn about z, and in space a quaternion (w, x, y, z)
    """

    mesh: Mesh = field(kw_only=True)
    places = ("at",)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(isinstance(self.mesh, Mesh), "mesh must be a Mesh, as read_stl returns", self.mesh, self.error)

    def check_components(self, dimension: int) -> None:
        super().check_components(dimension)
        if dimension == 2 and not self.solid().seen:
            raise self.error("its mesh is seen from its edge along z, as a line; turn it by its quaternion.")

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> Element:
        found, mesh = super().restored(data), data["mesh"]
        object.__setattr__(found, "mesh", Mesh(np.array(mesh["vertices"]), np.array(mesh["triangles"])))
        return found

    def solid(self) -> Solid:
        points, triangles = self._placed(self.mesh.vertices), np.asarray(self.mesh.triangles, np.intp)
        # Polygons that cover in the plane what the triangles cover: their boundary, each turned counterclockwise. Edges
        # that two triangles pass in opposite senses vanish; a winding number is how many triangles cover a point.
        seen = points[:, :2]
        (x1, y1), (x2, y2) = ((seen[triangles[:, i]] - seen[triangles[:, 0]]).T for i in (1, 2))
        area = x1 * y2 - x2 * y1
        turned = np.where((area < 0)[:, None], triangles[:, ::-1], triangles)[area != 0]
        start, end = turned.ravel(), np.roll(turned, -1, axis=1).ravel()
        pairs, index = np.unique(np.sort(np.column_stack([start, end]), axis=1), axis=0, return_inverse=True)
        passed = np.bincount(index.ravel(), np.where(start < end, 1, -1), len(pairs)).astype(int)
        onward: dict[int, list[int]] = {}
        for (low, high), count in zip(pairs.tolist(), passed.tolist(), strict=True):
            tail, tip = (low, high) if count > 0 else (high, low)
            onward.setdefault(tail, []).extend([tip] * abs(count))
        polygons = []
        for first, ways in onward.items():
            while ways:
                course = [first, ways.pop()]
                while course[-1] != first:
                    course.append(onward[course[-1]].pop())
                polygons.append(seen[course[:-1]])
        faces = tuple((a, b, c) for a, b, c in triangles.tolist())
        return Solid(Spot(self.body_names()[0]), points, faces, tuple(polygons))


def _spatial(given: Any) -> Array:
    """Two or three components, or none, as three."""
    values = np.asarray(given, float)
    return np.pad(values, (0, 3 - len(values)))


def _circle(count: int) -> Array:
    """Points (count, 2) of a circle of radius one."""
    around = np.linspace(0.0, 2 * np.pi, count, endpoint=False)
    return np.column_stack([np.cos(around), np.sin(around)])


def _revolved(start: Array, axis: Array, x: Array, r: Array) -> tuple[Array, list[tuple[int, ...]]]:
    """Points (n, 3) and faces of circles about an axis, with places x along it and radii r."""
    seed = np.eye(3)[int(np.argmin(np.abs(axis)))]
    u = np.cross(axis, seed)
    u /= np.linalg.norm(u)
    circle = _circle(ROUND) @ np.array([u, np.cross(axis, u)])
    points: list[Array] = []
    rings: list[NDArray[np.intp]] = []
    for along, radius in zip(x, r, strict=True):
        here = start + along * axis
        ring = here + radius * circle if radius > 1e-9 * np.max(r) else here[None]
        rings.append(np.arange(len(ring)) + sum(len(one) for one in points))
        points.append(ring)
    faces: list[tuple[int, ...]] = []
    for low, high in zip(rings[:-1], rings[1:], strict=True):
        for i in range(ROUND):
            j = (i + 1) % ROUND
            corners = (low[i % len(low)], low[j % len(low)], high[j % len(high)], high[i % len(high)])
            faces.append(tuple(dict.fromkeys(int(corner) for corner in corners)))
    return np.concatenate(points), faces
