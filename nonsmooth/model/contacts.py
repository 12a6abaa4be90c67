"""Unilateral contacts: signed gaps between two bodies, and the slip at them.

A contact defines gaps and slip, its law is a function of scalars. Gaps are open > 0. `gaps` enters the equations and
must be smooth where contacts are closed; `true_gaps` is the distance that is reported. Both vanish together, with the
same slope. `slip` is the velocity of the second body relative to the first along the contact's tangents, linear in the
twists: one number per gap in the plane, two in space, where a contact only defines its point and normal.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Self

import casadi as ca

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.drawing import Box, Dot, Line, Primitive, Round, Spot, Touch, Wall, vector
from nonsmooth.model.elements import ORIGIN, Element, _PlanarOrSpatial
from nonsmooth.model.fits import Fit, Toleranced
from nonsmooth.model.frames import PlanarPlacement, SpatialPlacement, slip_at
from nonsmooth.model.joints import BodyRef, Direction
from nonsmooth.model.rows import unit
from nonsmooth.quantities import Point, PositiveLength, Quantity, declarations
from nonsmooth.settings import shown

#: distance from a side of a box, as a share of all sides, within which a point is on it, and depth within another one
#: up to which it may have passed through that; below all directions
EDGE, PASSED, FAR = 1e-9, 0.05, 1e300
#: for each gap the contact point in the ground frame, and the unit normal there, from a towards b
Touches = Sequence[tuple[ca.SX, ca.SX]]


@dataclass(frozen=True, eq=False)
class Contact(Element):
    """Base of unilateral contacts between two bodies."""

    contact: Rigid | Compliant = field(kw_only=True)

    dimensions = (2,)
    #: label of each gap; a single gap has the name of its joint
    gap_labels: ClassVar[tuple[str, ...]] = ("",)
    #: name of the parameter with the typical size of a gap, for tolerances
    size_label: ClassVar[str] = "size"

    def __post_init__(self) -> None:
        if not isinstance(self.contact, Rigid | Compliant):
            raise self.error(f"contact must be a law, as Rigid(restitution=..., friction=...), got {self.contact!r}.")
        super().__post_init__()
        own = Element.numbers(self)
        missing = [name for name in self.contact.needs() if name not in self.geometry(SimpleNamespace(**own))]
        if missing:
            raise self.error(
                f"its law {self.contact!r} needs {' and '.join(missing)}, which this contact does not have; "
                + ("give its radius and, if required, its length." if hasattr(self, "radius") else "use another law.")
            )

    def numbers(self) -> dict[str, float]:
        return super().numbers() | self.contact.numbers()

    def with_numbers(self, changes: Mapping[str, float]) -> Self:
        own = super().with_numbers(changes)
        return replace(own, contact=own.contact.with_numbers(changes))

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
        """Contact point and normal of each gap of a contact in space, as smooth as `gaps`."""
        raise TypeError(f"{type(self).__name__} does not define its contact points.")

    def true_touches(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Touches:
        """Contact points of overlapping surfaces; need not exist where contacts are open."""
        return self.touches(a, b, p)

    def slip(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """Tangential velocity of b relative to a at each contact [m/s]; as smooth as `gaps`.

        In the plane along the normal turned by -90 degrees.
        """
        touches = self.touches(a, b, p)
        if isinstance(a, PlanarPlacement):
            return ca.vertcat(*(_slip_at(point, ca.vertcat(n[1], -n[0]), a, b) for point, n in touches))
        return ca.vertcat(*(slip_at(point, normal, a, b) for point, normal in touches))

    def true_slip(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """Slip of overlapping surfaces; need not exist where contacts are open."""
        if not isinstance(a, SpatialPlacement):
            return self.slip(a, b, p)
        return ca.vertcat(*(slip_at(point, normal, a, b) for point, normal in self.true_touches(a, b, p)))

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """Points at which it acts on its bodies."""
        return tuple(Dot(spot, corner=True) for spot in self.spots(p))


@dataclass(frozen=True, eq=False)
class FreeContact(Contact):
    """Base of contacts between surfaces that are not paired in a joint."""

    a: BodyRef
    b: BodyRef
    size: PositiveLength = field(default=1e-2, kw_only=True)

    body_fields = ("a", "b")


#: largest number of points on a rim: between two of these it is lower by 5e-6 of its radius
MOST_POINTS = 1000


def check_points(contact: Contact, points: int, least: int) -> None:
    """Raise ModelError unless a number of points on a rim is `least`, where that is 0, or from 3 to `MOST_POINTS`."""
    whole = isinstance(points, int) and not isinstance(points, bool)
    if not whole or not (3 <= points <= MOST_POINTS or points == least):
        accepted = f"{'0 or ' if least == 0 else ''}a whole number >= 3 and <= {MOST_POINTS}"
        raise contact.error(f"points must be {accepted}, the points on a rim, got {shown(points)}.")


def _plane(a: PlanarPlacement, direction: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Tangent and normal, in the global frame, of a line at the angle `direction` in the frame of a."""
    cosine, sine = ca.cos(direction), ca.sin(direction)
    return a.rotate(ca.vertcat(cosine, sine)), a.rotate(ca.vertcat(-sine, cosine))


def _normal(direction: float) -> tuple[float, float]:
    """Normal of a line at the angle `direction`, in the frame in which that is given."""
    return -math.sin(direction), math.cos(direction)


def _slip_at(point: ca.SX, tangent: ca.SX, a: PlanarPlacement, b: PlanarPlacement) -> ca.SX:
    """Velocity along `tangent` of b's material point at a global point, relative to a's."""

    def velocity(body: PlanarPlacement) -> ca.SX:
        arm = point - body.position
        return body.twist[:2] + body.twist[2] * ca.vertcat(-arm[1], arm[0])

    return ca.dot(tangent, velocity(b) - velocity(a))


@dataclass(frozen=True, eq=False)
class _OfPoint(_PlanarOrSpatial, FreeContact):
    """Base of contacts of a point of b, in the plane or in space."""

    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)


@dataclass(frozen=True, eq=False)
class PointPlane(_OfPoint):
    """A point of body b above a straight wall of body a: ``g_N = n^T (r_point - r_wall)``.

    In space, where the normal is given, the wall is a plane.

    Parameters
    ----------
    a, b : body with the wall, body with the point
    at_a : [m]
        A point of the wall, in the frame of a.
    direction : [rad]
        Angle of the wall's tangent in the frame of a; the normal, at 90 degrees to it, points to the free side. In the
        plane only.
    at_b : [m]
        The point, in the frame of b.
    normal : n [-], optional
        Normal towards the free side, in the frame of a, of any length; with it the contact is spatial.
    size : [m], > 0
        Typical gap, for tolerances only: gaps below 1e-8 of it count as closed.
    contact : the contact law

    Raises
    ------
    ModelError
        If a number is out of range, the normal is zero, or planar and spatial fields are mixed.
    """

    direction: Annotated[float, Quantity("rad")] = field(default=0.0, kw_only=True)
    normal: Direction | None = field(default=None, kw_only=True)

    in_space = "normal"

    def __post_init__(self) -> None:
        if self.normal is not None and self.direction != 0.0:
            raise self.error("direction is for planar models; in space give normal instead.")
        super().__post_init__()

    def numbers(self) -> dict[str, float]:
        numbers = super().numbers()
        if self.spatial:
            del numbers["direction"]
        return numbers

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        normal = a.rotate(unit(p.normal)) if self.spatial else _plane(a, p.direction)[1]
        return ca.dot(normal, b.point(p.at_b) - a.point(p.at_a))

    def slip(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        if self.spatial:
            return super().slip(a, b, p)
        return _slip_at(b.point(p.at_b), _plane(a, p.direction)[0], a, b)

    def touches(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Touches:
        return [(b.point(p.at_b), a.rotate(unit(p.normal)))]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        wall, point = self.spots(p)
        normal = vector(p.normal) if self.spatial else _normal(p.direction)
        return (Wall(wall, normal, near=point), Dot(point, corner=True))


@dataclass(frozen=True, eq=False)
class CirclePlane(FreeContact):
    """A circle of body b above a straight wall of body a: ``g_N = n^T (r_centre - r_wall) - radius``.

    Parameters
    ----------
    a, b : body with the wall, body with the circle
    radius : [m], > 0
    at_a, direction : as in `PointPlane`
    at_b : [m]
        Centre of the circle, in the frame of b.
    size : [m], > 0
        Typical gap, for tolerances only.
    contact : the contact law
    """

    radius: PositiveLength = field(kw_only=True)
    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    direction: Annotated[float, Quantity("rad")] = field(default=0.0, kw_only=True)

    def gaps(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return ca.dot(_plane(a, p.direction)[1], b.point(p.at_b) - a.point(p.at_a)) - p.radius

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        return {"radius": p.radius, "effective_radius": p.radius}

    def slip(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        tangent, normal = _plane(a, p.direction)
        return _slip_at(b.point(p.at_b) - p.radius * normal, tangent, a, b)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        wall, centre = self.spots(p)
        return (Round(centre, p.radius), Wall(wall, _normal(p.direction), near=centre, radius=p.radius))


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
    at_a, at_b : [m]
        Centres, in the frames of the bodies.
    size : [m], > 0
        Typical gap, for tolerances only.
    contact : the contact law
    """


@dataclass(frozen=True, eq=False)
class PointBox(_OfPoint):
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
    width, height, depth : [m], > 0
        Lengths along the x, y and z axis of a; with a depth the contact is spatial.
    radius : [m], >= 0
        Of a circle or ball about the point.
    at_a : [m]
        Middle of the rectangle or box, in the frame of a.
    at_b : [m]
        The point, or the centre of the circle or ball, in the frame of b.
    size : [m], > 0
        Typical gap, for tolerances only: gaps below 1e-8 of it count as closed.
    contact : the contact law

    Raises
    ------
    ModelError
        If a number is out of range, or planar and spatial fields are mixed.

    >>> stick = Rigid(restitution=0.0, friction=0.8)
    >>> PointBox("corner", "ground", "brick", width=1.0, height=0.2, at_b=(0.1, -0.05), contact=stick).gap_names()
    ('corner',)
    """

    width: PositiveLength = field(kw_only=True)
    height: PositiveLength = field(kw_only=True)
    depth: PositiveLength | None = field(default=None, kw_only=True)
    radius: Annotated[float, Quantity("m", nonnegative=True)] = field(default=0.0, kw_only=True)

    in_space = "depth"

    def _sides(self, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(p.width, p.height, p.depth) if self.spatial else ca.vertcat(p.width, p.height)

    def _nearest(self, a: Any, b: Any, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
        """Distance of the point from the surface, and the normal there, in the frame of a."""
        x = a.unrotate(b.point(p.at_b) - a.point(p.at_a))
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
        beside, faces = ca.fabs(d) < EDGE * sides, -ca.sign(x) * a.unrotate(b.rotate(p.at_b))
        on_edge = ca.logic_and(ca.sum1(beside) > 1, most < EDGE * sides)
        facing = ca.if_else(beside, faces, -FAR)
        side = ca.if_else(facing == ca.mmax(facing), 1, 0)
        side = side / ca.sum1(side)
        passed = ca.mmax(ca.if_else(ca.logic_and(faces > 0, d < -EDGE * sides), d, -FAR)) > -PASSED * sides
        along = ca.logic_and(ca.sum1(beside) == 1, ca.logic_and(ca.fabs(most) < EDGE * sides, ca.mmax(facing) < 0))
        gap = ca.if_else(ca.logic_and(along, passed), -2 * EDGE * sides, gap)
        return (
            ca.if_else(on_edge, ca.dot(side, d), gap),
            ca.if_else(on_edge, ca.sign(x) * side / ca.norm_2(side), normal),
        )

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
        corners = [Spot(middle.body, (x + i * sides[0] / 2, y + k * sides[1] / 2)) for i, k in signs]
        return (*(Line(one, other) for one, other in zip(corners, corners[1:] + corners[:1], strict=True)), body)


def with_law(elements: Iterable[Element], contact: Rigid | Compliant) -> tuple[Element, ...]:
    """The elements, with this law in all contacts."""
    return tuple(replace(one, contact=contact) if isinstance(one, Contact) else one for one in elements)
