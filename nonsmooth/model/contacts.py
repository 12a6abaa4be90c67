"""Unilateral contacts: signed gaps between two bodies, and the slip at them; those between free surfaces.

A contact defines gaps and slip, its law is a function of scalars. Gaps are open > 0. `gaps` enters the equations and
must be smooth where contacts are closed; `true_gaps` is the distance that is reported. Both vanish together, with the
same slope. `slip` is the velocity of the second body relative to the first along the contact's tangents, linear in the
twists: one number per gap in the plane, two in space. A contact that defines its points and normals has slips there.

Points, axes and normals are given in the frames of the bodies. A plane, or a straight wall, belongs to body a; its
normal n points to the free side.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Self

import casadi as ca

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant, wrong_law
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.drawing import Box, Cylinder, Dot, Ellipsoid, Line, Primitive, Round, Spot, Touch, Wall, vector
from nonsmooth.model.elements import ORIGIN, SPACE, Element, _PlanarOrSpatial
from nonsmooth.model.fits import Fit, Toleranced
from nonsmooth.model.frames import PlanarPlacement, SpatialPlacement, rotation_matrix, slip_at, tangents, unit
from nonsmooth.model.joints import IDENTITY, Angle, Direction, Orientation, _OfTwo
from nonsmooth.quantities import Point, PositiveLength, Quantity, declarations
from nonsmooth.settings import shown

#: distance from a side of a box, as a share of all sides, within which a point is on it, and depth within another one
#: up to which it may have passed through that; below all directions
EDGE, PASSED, FAR = 1e-9, 0.05, 1e300
#: distance of centres [m] below which a line of centres has no direction
NOWHERE = 1e-30
#: largest number of points on a rim: between two of these it is lower by 5e-6 of its radius
MOST_POINTS = 1000
ENDS = (("back", -1), ("front", 1))
#: by corner of a box the sides on which it lies
CORNERS = tuple(itertools.product((("low", -1), ("high", 1)), repeat=3))
#: for each gap the contact point in the ground frame, and the unit normal there, from a towards b
Touches = Sequence[tuple[ca.SX, ca.SX]]


@dataclass(frozen=True, eq=False)
class Contact(Element):
    """Base of unilateral contacts between two bodies."""

    contact: Rigid | Compliant = field(kw_only=True)
    dimensions = (2,)
    #: label of each gap; a single gap has the name of its joint
    gap_labels: ClassVar[tuple[str, ...]] = ("",)
    #: whether its surfaces slide on each other, so that there may be friction
    slides: ClassVar[bool] = True
    #: name of the parameter with the typical size of a gap, for tolerances
    size_label: ClassVar[str] = "size"

    def __post_init__(self) -> None:
        if not isinstance(self.contact, Rigid | Compliant):
            raise self.error(
                f"contact must be a law, as Rigid(restitution=..., friction=...), {wrong_law(self.contact)}."
            )
        super().__post_init__()
        own = Element.numbers(self)
        missing = [name for name in self.contact.needs() if name not in self.geometry(SimpleNamespace(**own))]
        if missing:
            is_round = self.slides and hasattr(self, "radius")
            raise self.error(
                f"its law {shown(self.contact)} needs {' and '.join(missing)}, which this contact does not have; "
                + ("give its radius and, if required, its length." if is_round else "use another law.")
            )

    def numbers(self) -> dict[str, float]:
        return super().numbers() | self.contact.numbers()

    def with_numbers(self, changes: Mapping[str, float]) -> Self:
        own = super().with_numbers(changes)
        return replace(own, contact=own.contact.with_numbers(changes))

    def with_law(self, contact: Rigid | Compliant) -> Self:
        """The contact with this law."""
        return replace(self, contact=contact)

    def toleranced(self) -> dict[str, Fit | Toleranced]:
        of_law = ((field, getattr(part, field)) for part in self.contact.parts() for field in declarations(type(part)))
        return super().toleranced() | {field: value for field, value in of_law if isinstance(value, Toleranced)}

    def quantity(self, label: str) -> Quantity:
        return self.contact.quantity(label) if label in self.contact.numbers() else super().quantity(label)

    def symbols(self, parameters: Mapping[str, ca.SX]) -> SimpleNamespace:
        found = super().symbols(parameters)
        for label in self.contact.numbers():
            setattr(found, label, parameters[f"{self.name}.{label}"])
        return found

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        """Geometry for compliant laws: effective_radius, radius, clearance, length [m]."""
        return {}

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, ca.SX]:
        """Constants of the contact's law, by name."""
        return self.contact.coefficients(SimpleNamespace(**(vars(p) | self.geometry(p))))

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        try:
            self.contact.check_together(numbers)
        except InputError as error:
            raise self.error(str(error)) from error
        law = self.contact
        if not self.slides and (numbers["friction"] > 0.0 if isinstance(law, Rigid) else law.friction is not None):
            raise self.error("nothing slides here; give it a contact law of its own without friction.")

    def gap_names(self) -> tuple[str, ...]:
        """Full names of the gaps."""
        return tuple(f"{self.name}.{label}" if label else self.name for label in self.gap_labels)

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """g_N of the equations [m], one entry per gap."""
        raise TypeError(f"{type(self).__name__} has no gaps.")

    def true_gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """Reported signed distances [m]."""
        return self.gaps(a, b, p)

    def touches(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Touches:
        """Contact point and normal of each gap, as smooth as `gaps`."""
        raise TypeError(f"{type(self).__name__} does not define its contact points.")

    def true_touches(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Touches:
        """Contact points of overlapping surfaces; need not exist where contacts are open."""
        return self.touches(a, b, p)

    def slip(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """Tangential velocity of b relative to a at each contact [m/s]; as smooth as `gaps`."""
        if not self.slides:
            return ca.SX.zeros(len(self.gap_labels) * (1 if isinstance(a, PlanarPlacement) else 2))
        return ca.vertcat(*(slip_at(point, normal, a, b) for point, normal in self.touches(a, b, p)))

    def true_slip(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """Slip of overlapping surfaces; need not exist where contacts are open."""
        if not self.slides or not isinstance(a, SpatialPlacement):
            return self.slip(a, b, p)
        return ca.vertcat(*(slip_at(point, normal, a, b) for point, normal in self.true_touches(a, b, p)))

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """Points at which it acts on its bodies."""
        return tuple(Dot(spot, corner=True) for spot in self.spots(p))


@dataclass(frozen=True, eq=False)
class FreeContact(_OfTwo, Contact):
    """Base of contacts between surfaces that are not paired in a joint."""

    size: PositiveLength = field(default=1e-2, kw_only=True)


def check_points(contact: Contact, points: int, least: int) -> None:
    """Raise ModelError unless a number of points on a rim is `least`, where that is 0, or from 3 to `MOST_POINTS`."""
    whole = isinstance(points, int) and not isinstance(points, bool)
    if not whole or not (3 <= points <= MOST_POINTS or points == least):
        accepted = f"{'0 or ' if least == 0 else ''}a whole number >= 3 and <= {MOST_POINTS}"
        raise contact.error(f"points must be {accepted}, the points on a rim, got {shown(points)}.")


def rim_labels(points: int, prefix: str = "") -> tuple[str, ...]:
    """Labels of rim points, back end first; of the ends alone for 0 points."""
    if not points:
        return tuple(f"{prefix}{end}" for end, _ in ENDS)
    return tuple(f"{prefix}{end}_{i + 1}" for end, _ in ENDS for i in range(points))


def around(axis: ca.SX, radius: ca.SX, points: int) -> list[ca.SX]:
    """Points of a circle about a unit vector, from its middle."""
    t1, t2 = tangents(axis)
    angles = [2 * math.pi * i / points for i in range(points)]
    return [radius * (math.cos(angle) * t1 + math.sin(angle) * t2) for angle in angles]


@dataclass(frozen=True, eq=False)
class _AgainstPlane(FreeContact):
    """Base of contacts of a surface of b with a plane of a, or in the plane with a straight line of it."""

    def _normal(self, a: Any, p: SimpleNamespace) -> ca.SX:
        local = unit(p.normal) if hasattr(p, "normal") else ca.vertcat(-ca.sin(p.direction), ca.cos(p.direction))
        return a.rotate(local)

    def _points(self, a: Any, b: Any, p: SimpleNamespace) -> list[ca.SX]:
        """Lowest points of the surface, in the ground frame."""
        raise TypeError(f"{type(self).__name__} has no points.")

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        normal, wall = self._normal(a, p), a.point(p.at_a)
        return ca.vertcat(*(ca.dot(normal, point - wall) for point in self._points(a, b, p)))

    def touches(self, a: Any, b: Any, p: SimpleNamespace) -> Touches:
        normal = self._normal(a, p)
        return [(point, normal) for point in self._points(a, b, p)]

    def _wall(self, p: SimpleNamespace, radius: float = 0.0) -> Wall:
        """The drawing of the plane."""
        wall, near = self.spots(p)
        normal = vector(p.normal) if hasattr(p, "normal") else (-math.sin(p.direction), math.cos(p.direction))
        return Wall(wall, normal, near, radius)


@dataclass(frozen=True, eq=False)
class PointPlane(_PlanarOrSpatial, _AgainstPlane):
    """A point of body b above a straight wall of body a: ``g_N = n^T (r_point - r_wall)``.

    In space, where the normal is given, the wall is a plane.

    Parameters
    ----------
    a, b : body with the wall, body with the point
    at_a : [m], a point of the wall, in the frame of a
    direction : [rad]
        Angle of the wall's tangent in the frame of a; the normal, at 90 degrees to it, points to the free side. In the
        plane only.
    at_b : [m], the point, in the frame of b
    normal : n [-], optional
        Normal towards the free side, in the frame of a, of any length; with it the contact is spatial.
    size : [m], > 0, typical gap, for tolerances only: gaps below 1e-8 of it count as closed
    contact : the contact law
    """

    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    direction: Annotated[float, Quantity("rad")] = field(default=0.0, kw_only=True)
    normal: Direction | None = field(default=None, kw_only=True)
    in_space, only_in_plane = "normal", ("direction",)

    def numbers(self) -> dict[str, float]:
        return {name: value for name, value in super().numbers().items() if not (self.spatial and name == "direction")}

    def _points(self, a: Any, b: Any, p: SimpleNamespace) -> list[ca.SX]:
        return [b.point(p.at_b)]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (self._wall(p), Dot(self.spots(p)[1], corner=True))


@dataclass(frozen=True, eq=False)
class _RoundOnPlane(_AgainstPlane):
    """Base of circles and spheres on a plane."""

    def _points(self, a: Any, b: Any, p: SimpleNamespace) -> list[ca.SX]:
        return [b.point(p.at_b) - p.radius * self._normal(a, p)]

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        return {"radius": p.radius, "effective_radius": p.radius}

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (Round(self.spots(p)[1], p.radius), self._wall(p, p.radius))


@dataclass(frozen=True, eq=False)
class CirclePlane(_RoundOnPlane):
    """A circle of body b above a straight wall of body a: ``g_N = n^T (r_centre - r_wall) - radius``.

    Parameters
    ----------
    a, b : body with the wall, body with the circle
    radius : [m], > 0
    at_a, direction : as in `PointPlane`
    at_b : [m], centre of the circle, in the frame of b
    size, contact : as in `PointPlane`
    """

    radius: PositiveLength = field(kw_only=True)
    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    direction: Annotated[float, Quantity("rad")] = field(default=0.0, kw_only=True)

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.dot(self._normal(a, p), b.point(p.at_b) - a.point(p.at_a)) - p.radius


@dataclass(frozen=True, eq=False)
class _RoundPair(FreeContact):
    """Base of contacts of two circles or spheres outside each other."""

    radius_a: PositiveLength = field(kw_only=True)
    radius_b: PositiveLength = field(kw_only=True)
    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.norm_2(b.point(p.at_b) - a.point(p.at_a)) - p.radius_a - p.radius_b

    def touches(self, a: Any, b: Any, p: SimpleNamespace) -> Touches:
        normal = unit(b.point(p.at_b) - a.point(p.at_a))
        return [(a.point(p.at_a) + p.radius_a * normal, normal)]

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        return {"effective_radius": p.radius_a * p.radius_b / (p.radius_a + p.radius_b)}

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Round(a, p.radius_a), Round(b, p.radius_b), Touch(a, b, p.radius_a / (p.radius_a + p.radius_b)))


@dataclass(frozen=True, eq=False)
class CircleCircle(_RoundPair):
    """Two circles outside each other: ``g_N = |r_b - r_a| - radius_a - radius_b``.

    The tangent is the normal from a to b, turned by -90 degrees. A journal inside a bearing is a `RevoluteClearance`.

    Parameters
    ----------
    radius_a, radius_b : [m], > 0
    at_a, at_b : [m], centres, in the frames of the bodies
    size, contact : as in `PointPlane`
    """


def _unturned(turn: ca.SX | None, vector: ca.SX) -> ca.SX:
    """Components of a vector in a frame turned by a matrix."""
    return vector if turn is None else turn.T @ vector


@dataclass(frozen=True, eq=False)
class PointBox(_PlanarOrSpatial, FreeContact):
    """A point of body b, or a circle or ball about it, outside a rectangle of body a, in space a box.

    With x the point in the axes of a, from the middle of the rectangle, and s its sides ``(width, height)``, in space
    with `depth`::

        d = |x| - s / 2
        g_N = |max(d, 0)| - radius    outside
        g_N = max(d) - radius         inside

    the distance from the nearest side, edge or corner, which is exact everywhere. A wide rectangle is a finite wall or
    a table with edges; a rectangular body whose corners meet a step, and the edge of the step on the body, are one
    contact for each corner of each. Two edges of boxes that cross in space do not meet by such contacts.

    Parameters
    ----------
    a, b : body with the rectangle or box, body with the point
    width, height, depth : [m], > 0, lengths along the x, y and z axis of a; with a depth the contact is spatial
    radius : [m], >= 0, of a circle or ball about the point
    angle : [rad], optional, of the rectangle in the frame of a, in the plane only; not a parameter if omitted
    at_a : [m], middle of the rectangle or box, in the frame of a
    at_b : [m], the point, or the centre of the circle or ball, in the frame of b
    size, contact : as in `PointPlane`

    >>> stick = Rigid(restitution=0.0, friction=0.8)
    >>> PointBox("corner", "ground", "brick", width=1.0, height=0.2, at_b=(0.1, -0.05), contact=stick).gap_names()
    ('corner',)
    """

    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    width: PositiveLength = field(kw_only=True)
    height: PositiveLength = field(kw_only=True)
    depth: PositiveLength | None = field(default=None, kw_only=True)
    radius: Annotated[float, Quantity("m", nonnegative=True)] = field(default=0.0, kw_only=True)
    angle: Angle | None = field(default=None, kw_only=True)
    in_space = "depth"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spatial and self.angle is not None:
            raise self.error("angle is for planar models; a box in space is turned with its body.")

    def _sides(self, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(p.width, p.height, p.depth) if self.spatial else ca.vertcat(p.width, p.height)

    def _nearest(self, a: Any, b: Any, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
        """Distance of the point from the surface, and the normal there, in the frame of a."""
        turn = None
        if self.angle is not None:
            c, s = ca.cos(p.angle), ca.sin(p.angle)
            turn = ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c))
        x = _unturned(turn, a.unrotate(b.point(p.at_b) - a.point(p.at_a)))
        d = ca.fabs(x) - self._sides(p) / 2
        most = ca.mmax(d)
        outside, nearest = ca.fmax(d, 0), ca.if_else(d == most, 1, 0)
        # within the box as well a vector that is not zero, whose length has derivatives
        away = ca.if_else(most > 0, outside, nearest)
        length = ca.norm_2(away)
        gap, normal = ca.if_else(most > 0, length, most), ca.sign(x) * away / length
        # Boxes aligned to the last digit: on an edge round-off would decide, and a corner that passed an edge along a
        # side would never be within. The side meant is one that faces the middle of the other body.
        sides = ca.sum1(self._sides(p))
        beside, faces = ca.fabs(d) < EDGE * sides, -ca.sign(x) * _unturned(turn, a.unrotate(b.rotate(p.at_b)))
        on_edge = ca.logic_and(ca.sum1(beside) > 1, most < EDGE * sides)
        facing = ca.if_else(beside, faces, -FAR)
        side = ca.if_else(facing == ca.mmax(facing), 1, 0)
        side = side / ca.sum1(side)
        passed = ca.mmax(ca.if_else(ca.logic_and(faces > 0, d < -EDGE * sides), d, -FAR)) > -PASSED * sides
        along = ca.logic_and(ca.sum1(beside) == 1, ca.logic_and(ca.fabs(most) < EDGE * sides, ca.mmax(facing) < 0))
        gap = ca.if_else(ca.logic_and(along, passed), -2 * EDGE * sides, gap)
        normal = ca.if_else(on_edge, ca.sign(x) * side / ca.norm_2(side), normal)
        return ca.if_else(on_edge, ca.dot(side, d), gap), normal if turn is None else turn @ normal

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return self._nearest(a, b, p)[0] - p.radius

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        return {"radius": p.radius, "effective_radius": p.radius} if self.radius > 0.0 else {}

    def touches(self, a: Any, b: Any, p: SimpleNamespace) -> Touches:
        normal = a.rotate(self._nearest(a, b, p)[1])
        return [(b.point(p.at_b) - p.radius * normal, normal)]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        middle, point = self.spots(p)
        sides = vector(self._sides(p))
        body = Round(point, p.radius) if p.radius > 0.0 else Dot(point, corner=True)
        if self.spatial:
            return (Box(middle, sides), body)
        x, y = middle.at
        signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        turn = getattr(p, "angle", 0.0)
        c, s = math.cos(turn) / 2, math.sin(turn) / 2
        w, h = sides
        corners = [Spot(middle.body, (x + i * c * w - k * s * h, y + i * s * w + k * c * h)) for i, k in signs]
        return (*(Line(one, other) for one, other in zip(corners, corners[1:] + corners[:1], strict=True)), body)


@dataclass(frozen=True, eq=False)
class _OnPlane(_AgainstPlane):
    """Base of contacts of a surface of b with a plane of a in space."""

    normal: Direction = field(kw_only=True)
    at_a: Point = field(default=SPACE, kw_only=True)
    at_b: Point = field(default=SPACE, kw_only=True)
    dimensions = (3,)


@dataclass(frozen=True, eq=False)
class SpherePlane(_RoundOnPlane, _OnPlane):
    """A sphere of body b above a plane of body a: ``g_N = n^T (r_centre - r_plane) - radius``.

    Parameters
    ----------
    a, b : body with the plane, body with the sphere
    radius : [m], > 0
    normal : n [-], of the plane, towards the free side, in the frame of a, of any length
    at_a : [m], a point of the plane, in the frame of a
    at_b : [m], centre of the sphere, in the frame of b
    size, contact : as in `PointPlane`

    >>> from nonsmooth import Rigid
    >>> rough = Rigid(restitution=0.0, friction=0.3)
    >>> SpherePlane("floor", "ground", "ball", radius=0.1, normal=(0, 0, 1), contact=rough).gap_names()
    ('floor',)
    """

    radius: PositiveLength = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class EllipsoidPlane(_OnPlane):
    """An ellipsoid of body b above a plane of body a, by its point nearest to the plane.

    With D the squares of the semi-axes and m the plane's normal in the ellipsoid's axes::

        g_N = n . (r_centre - r_plane) - sqrt(m . D m)

    The contact point is ``r_centre - D m / sqrt(m . D m)``. Exact and smooth in every position. It has no radius, since
    that changes with the contact point: a compliant law is given its stiffness as a number.

    Parameters
    ----------
    a, b : body with the plane, body with the ellipsoid
    semi_axes : [m], each > 0, half of the ellipsoid's lengths along its x, y and z axis
    quaternion : [-], orientation of the ellipsoid's axes in the frame of b; by default they are parallel
    normal, at_a : as in `SpherePlane`
    at_b : [m], centre of the ellipsoid, in the frame of b
    size, contact : as in `PointPlane`
    """

    semi_axes: Annotated[tuple[float, float, float], Quantity("m", positive=True)] = field(kw_only=True)
    quaternion: Orientation = field(default=IDENTITY, kw_only=True)

    def _points(self, a: Any, b: Any, p: SimpleNamespace) -> list[ca.SX]:
        own = rotation_matrix(p.quaternion)
        scaled = p.semi_axes * (own.T @ b.unrotate(self._normal(a, p)))  # of the length m . D m, never zero
        return [b.point(p.at_b - own @ (p.semi_axes * scaled) / ca.norm_2(scaled))]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        semi_axes, own = vector(p.semi_axes), rotation_matrix(ca.DM(p.quaternion))
        axes = tuple(vector(length * own[:, i]) for i, length in enumerate(semi_axes))
        return (Ellipsoid(self.spots(p)[1], axes), self._wall(p, max(semi_axes)))


@dataclass(frozen=True, eq=False)
class SphereSphere(_RoundPair):
    """Two spheres outside each other: ``g_N = |r_b - r_a| - radius_a - radius_b``.

    Parameters are those of a `CircleCircle`. A ball in a socket is a `SphericalClearance`.
    """

    at_a: Point = field(default=SPACE, kw_only=True)
    at_b: Point = field(default=SPACE, kw_only=True)
    dimensions = (3,)


@dataclass(frozen=True, eq=False)
class BoxPlane(_OnPlane):
    """The eight corners of a box of body b above a plane of body a: ``g_N = n^T (r_corner - r_plane)``.

    The label of a corner states its side along the body's x, y and z axis, such as ``low_low_high``. A box that rests
    on a face has four closed gaps, among which the distribution of its weight is not unique.

    Parameters
    ----------
    a, b : body with the plane, body with the box
    edges : [m], each > 0, lengths of the edges along the x, y and z axis of b
    normal, at_a : as in `SpherePlane`
    at_b : [m], centre of the box, in the frame of b
    size, contact : as in `PointPlane`
    """

    edges: Annotated[tuple[float, float, float], Quantity("m", positive=True)] = field(kw_only=True)
    gap_labels = tuple("_".join(side for side, _ in corner) for corner in CORNERS)

    def _points(self, a: Any, b: Any, p: SimpleNamespace) -> list[ca.SX]:
        corners = (ca.vertcat(*(sign * p.edges[i] / 2 for i, (_, sign) in enumerate(corner))) for corner in CORNERS)
        return [b.point(p.at_b + corner) for corner in corners]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (Box(self.spots(p)[1], vector(p.edges)), self._wall(p))


@dataclass(frozen=True, eq=False)
class CylinderPlane(_OnPlane):
    """A cylinder of body b above a plane of body a, by points on the rims of its two ends.

    `points` points are fixed on each rim, so that the cylinder can stand on its ends as well as lie, but rolls like a
    prism with this number of edges. With ``points=0`` there are two gaps, of the lowest point of each rim::

        g_N = n . (r_end - r_plane) - radius sqrt(1 - (n . u)^2)

    with u the axis: exact for a rolling cylinder, and smooth unless it stands upright, where a rim has no lowest point.
    Labels are ``back`` and ``front`` for the ends on the negative and the positive side of the axis, with the number of
    the point.

    Parameters
    ----------
    a, b : body with the plane, body with the cylinder
    radius, length : [m], > 0
    axis : u [-], of the cylinder, in the frame of b, of any length
    points : 0, or >= 3, on each rim
    normal, at_a : as in `SpherePlane`
    at_b : [m], centre of the cylinder, in the frame of b
    size, contact : as in `PointPlane`
    """

    radius: PositiveLength = field(kw_only=True)
    length: PositiveLength = field(kw_only=True)
    axis: Direction = field(kw_only=True)
    points: int = field(default=8, kw_only=True)

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        check_points(self, self.points, least=0)

    @property
    def gap_labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return rim_labels(self.points)

    def _points(self, a: Any, b: Any, p: SimpleNamespace) -> list[ca.SX]:
        axis = unit(p.axis)
        ends = [p.at_b + sign * p.length / 2 * axis for _, sign in ENDS]
        if self.points == 0:
            normal, along = self._normal(a, p), b.rotate(axis)
            across = normal - ca.dot(normal, along) * along
            length = ca.sqrt(ca.fmax(ca.dot(across, across), NOWHERE**2))  # of an upright cylinder: no direction
            return [b.point(end) - p.radius * across / length for end in ends]
        return [b.point(end + offset) for end in ends for offset in around(axis, p.radius, self.points)]

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        """Geometry of a rolling cylinder, with half of its length at each end; points have none."""
        if self.points:
            return {}
        return {"radius": p.radius, "effective_radius": p.radius, "length": p.length / 2}

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (Cylinder(self.spots(p)[1], vector(p.axis), p.radius, p.length), self._wall(p, p.radius))


def with_law(elements: Iterable[Element], contact: Rigid | Compliant) -> tuple[Element, ...]:
    """The elements, with this law in all contacts."""
    return tuple(one.with_law(contact) if isinstance(one, Contact) else one for one in elements)
