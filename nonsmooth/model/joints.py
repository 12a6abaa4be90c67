"""Ideal joints, of the plane, of space, and of both.

A joint imposes g(t, q) = 0; its force on the bodies is W_g lambda_g. Rows are smooth functions of placements: angles
enter through the sine of their difference. A joint of both is spatial if its axis or its quaternion is given.

Each joint consists of parts, the primitive rows of `nonsmooth.model.frames`. Most parts are also joints by themselves,
so that other joints can be composed of several between the same two bodies. Axes, normals and points are given in the
frames of the bodies. A reaction is the force on the second body, and the torque about `application_point`, its point
`at_b`, both in the ground frame.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, NamedTuple

import casadi as ca

from nonsmooth.model import frames as primitive
from nonsmooth.model.bodies import Body, Ground, Node
from nonsmooth.model.drawing import Axle, Line, Mark, Primitive, Slide, Spot, Symbol, Wall, vector
from nonsmooth.model.elements import ORIGIN, SPACE, Element, _PlanarOrSpatial
from nonsmooth.model.frames import rotation_matrix
from nonsmooth.quantities import Point, PositiveLength, Quantity

Angle = Annotated[float, Quantity("rad")]
#: a vector along an axis or a normal, of any length but zero
Direction = Annotated[tuple[float, float, float], Quantity("-")]
#: (w, x, y, z), scalar part first, of norm 1
Orientation = Annotated[tuple[float, float, float, float], Quantity("-", labels=("w", "x", "y", "z"))]
BodyRef = Body | Ground | Node | str
Row = tuple[str, str]
#: of two placements and the parameters
Of = Callable[[Any, Any, SimpleNamespace], ca.SX | tuple[ca.SX, ca.SX]]

POINT: tuple[Row, ...] = (("x", "m"), ("y", "m"), ("z", "m"))
OFFSETS: tuple[Row, ...] = (("offset_1", "m"), ("offset_2", "m"))
TILTS: tuple[Row, ...] = (("tilt_1", "rad"), ("tilt_2", "rad"))
TURNS: tuple[Row, ...] = (("turn_x", "rad"), ("turn_y", "rad"), ("turn_z", "rad"))
#: the quaternion of parallel frames
IDENTITY = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class _OfTwo(Element):
    """Base of elements between two bodies."""

    a: BodyRef
    b: BodyRef
    body_fields: ClassVar[tuple[str, ...]] = ("a", "b")


@dataclass(frozen=True, eq=False)
class Joint(_OfTwo):
    """Base of bilateral constraints between two bodies, drivers included."""

    dimensions = (2,)
    #: label and unit of each row
    rows: ClassVar[tuple[Row, ...]] = ()
    #: its symbol in drawings, see `drawing`
    symbol: ClassVar[Symbol] = "joint"

    def constraint(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """g of two placements, one entry per row; zero if the joint is closed."""
        raise TypeError(f"{type(self).__name__} imposes no constraint.")

    def violation(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """The reported constraint violation; differs from `constraint` if that has a second root."""
        return self.constraint(t, a, b, p)

    def application_point(self, p: SimpleNamespace) -> ca.SX:
        """Point of the second body, in its frame, at which the reaction is reported: `at_b`, or the origin."""
        return getattr(p, "at_b", ca.SX.zeros(self.dimensions[0]))

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """Its symbol at its points, with its axes, its plane ``normal_a``, and the direction ``slide_b`` of a slide."""
        a, b = self.spots(p)
        if not b.at:
            b = Spot(b.body, vector(ca.evalf(ca.SX(self.application_point(p)))))
        axes = [vector(getattr(p, field, ())) for field in ("axis_a", "axis_b")]
        if self.symbol == "slide" or self.symbol == "sleeve":
            along = axes[0] or (math.cos(p.direction), math.sin(p.direction))
            return (Slide(a, b, along, round=self.symbol == "sleeve"),)
        if self.symbol == "rod":
            return (Line(a, b), Mark(a, a, "ball"), Mark(b, b, "ball"))
        found: list[Primitive] = [Mark(a, b, self.symbol)]
        found += [Axle(spot, axis) for spot, axis in zip((a, b), axes, strict=True) if axis]
        found += [Wall(a, vector(p.normal_a), near=b)] if hasattr(p, "normal_a") else []
        found += [Slide(b, a, vector(p.slide_b), round=True)] if hasattr(p, "slide_b") else []
        return tuple(found)


class Part(NamedTuple):
    """Rows with their labels and units, and their values: the constraint, with its residual if that is another."""

    rows: tuple[Row, ...]
    values: Of


def _across(a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
    """Offset of the point of b from a line of a in the plane."""
    offset = a.unrotate(b.point(p.at_b) - a.point(p.at_a))
    return ca.cos(p.direction) * offset[1] - ca.sin(p.direction) * offset[0]


def thread(a: Any, b: Any, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
    """h sin(d / h - psi), and h (d / h - psi)."""
    h = p.pitch / (2 * ca.pi)
    S, C = primitive.twist_about(a, b, p.axis_a, p.quaternion)
    angle = primitive.offset_along(a, b, p.at_a, p.at_b, p.axis_a) / h
    sine, cosine = C * ca.sin(angle) - S * ca.cos(angle), C * ca.cos(angle) + S * ca.sin(angle)
    return h * sine, h * ca.atan2(sine, cosine)


def _angle(sine: ca.SX, cosine: ca.SX) -> tuple[ca.SX, ca.SX]:
    return sine, ca.atan2(sine, cosine)


def same_orientation(E: ca.SX) -> tuple[ca.SX, ca.SX]:
    """``sin(phi) n = 0`` of the rotation E by phi about n; its residual is phi n."""
    return primitive.turn(E), primitive.rotation_vector(E)


COINCIDENT = Part(POINT, lambda a, b, p: b.point(p.at_b) - a.point(p.at_a))
COINCIDENT_IN_PLANE = Part(POINT[:2], COINCIDENT.values)
IN_PLANE = Part((("height", "m"),), lambda a, b, p: primitive.offset_along(a, b, p.at_a, p.at_b, p.normal_a))
ON_LINE = Part(OFFSETS, lambda a, b, p: primitive.point_on_line(a, b, p.at_a, p.at_b, p.axis_a))
#: the sine of the deviation from it
RIGHT_ANGLE = Part(
    (("right_angle", "rad"),),
    lambda a, b, p: ca.dot(a.rotate(primitive.unit(p.axis_a)), b.rotate(primitive.unit(p.axis_b))),
)
PARALLEL = Part(TILTS, lambda a, b, p: primitive.parallel_axes(a, b, p.axis_a, p.axis_b))
#: the sine of the angle, in space sin(phi) n, by which b deviates from its orientation relative to a
SAME_ANGLE = Part((("angle", "rad"),), lambda a, b, p: _angle(*primitive.planar_angle(a, b, p.angle)))
SAME = Part(
    TURNS, lambda a, b, p: same_orientation(primitive.relative_orientation(a, b, getattr(p, "quaternion", IDENTITY)))
)


@dataclass(frozen=True, eq=False)
class _OfParts(Joint):
    """Base of joints that consist of parts, in space and in the plane."""

    parts: ClassVar[tuple[Part, ...]] = ()
    in_plane: ClassVar[tuple[Part, ...]] = ()
    dimensions = (3,)

    def _own(self) -> tuple[Part, ...]:
        return self.parts if self.dimensions == (3,) else self.in_plane

    def _values(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> list[ca.SX | tuple[ca.SX, ca.SX]]:
        """The constraint of each part, with its residual if that is another."""
        return [part.values(a, b, p) for part in self._own()]

    @property
    def rows(self) -> tuple[Row, ...]:  # type: ignore[override]
        return tuple(row for part in self._own() for row in part.rows)

    def constraint(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(*(one[0] if isinstance(one, tuple) else one for one in self._values(t, a, b, p)))

    def violation(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(*(one[1] if isinstance(one, tuple) else one for one in self._values(t, a, b, p)))


@dataclass(frozen=True, eq=False)
class Revolute(_PlanarOrSpatial, _OfParts):
    """Ideal pin: two points coincide, ``r_b + A_b s_b - r_a - A_a s_a = 0`` (2 rows, [m], ground frame).

    In space (with axes) 5 rows: 3 of the points, and two of the sine of the tilt of the axis of b relative to that of
    a, ``t_i . A_a' A_b n_b = 0`` [rad], with the transversals t_1, t_2 of the axis of a.

    Parameters
    ----------
    at_a, at_b : s_a, s_b [m], the pin in the frame of each body
    axis_a, axis_b : n_a, n_b [-], optional
        The axis in the frame of each body, of any length; given, the joint is spatial.

    >>> Revolute("pin", "crank", "rod", at_a=(0.05, 0.0), at_b=(-0.06, 0.0)).body_names()
    ('crank', 'rod')
    >>> len(Revolute("hinge", "ground", "door", axis_a=(0, 0, 1), axis_b=(0, 0, 1)).rows)
    5
    """

    at_a: Point = ORIGIN
    at_b: Point = ORIGIN
    axis_a: Direction | None = None
    axis_b: Direction | None = None
    symbol = "pin"
    in_space = "axis_a and axis_b"
    parts = (COINCIDENT, PARALLEL)
    in_plane = (COINCIDENT_IN_PLANE,)


@dataclass(frozen=True, eq=False)
class Prismatic(_PlanarOrSpatial, _OfParts):
    """Ideal slide: a point of b stays on a line of a, and the angle of b relative to a is constant.

    ``n . A_a' (r_b + A_b s_b - r_a - A_a s_a) = 0`` [m] with n normal to the axis in the frame of a,
    ``sin(theta_b - theta_a - angle) = 0`` [rad].

    In space (with `axis_a`) 5 rows: the offsets of the point along the two transversals of the axis [m], and ``sin(phi)
    n = 0`` [rad] of the rotation (phi, n) by which b deviates from its orientation relative to a, in the frame of b.

    Parameters
    ----------
    direction : [rad], angle of the axis in the frame of a; in the plane only
    at_a, at_b : s_a, s_b [m], a point of the line, the point that slides on it
    angle : [rad], angle of b against a; in the plane only
    axis_a : [-], optional, the axis in the frame of a, of any length; given, the joint is spatial
    quaternion : [-], optional
        (w, x, y, z), orientation of b against a; without it that in which both frames are parallel. In space only.
    """

    direction: Angle = 0.0
    at_a: Point = ORIGIN
    at_b: Point = ORIGIN
    angle: Angle = 0.0
    axis_a: Direction | None = None
    quaternion: Orientation | None = None
    symbol = "slide"
    in_space = "axis_a"
    parts = (ON_LINE, SAME)
    in_plane = (Part((("normal", "m"),), _across), SAME_ANGLE)

    def __post_init__(self) -> None:
        if self.axis_a is None and self.quaternion is not None:
            raise self.error("quaternion is given without axis_a; give axis_a in space, angle in the plane.")
        if self.axis_a is not None and (self.direction != 0.0 or self.angle != 0.0):
            raise self.error("direction and angle are for planar models; with axis_a give quaternion instead.")
        super().__post_init__()


@dataclass(frozen=True, eq=False)
class PointOnLine(_PlanarOrSpatial, _OfParts):
    """Pin in a slot: a point of b stays on a line of a, along which and about which it moves freely.

    In the plane 1 row, ``n . A_a' (r_b + A_b s_b - r_a - A_a s_a) = 0`` [m] with n normal to the line in the frame of
    a. In space (with `axis_a`) 2 rows [m]: the offsets of the point along the two transversals of the line. The line
    has no ends.

    Parameters
    ----------
    at_a, at_b : s_a, s_b [m], a point of the line, the point that stays on it
    direction : [rad], angle of the line in the frame of a; in the plane only
    axis_a : [-], optional, direction of the line in the frame of a, of any length; given, the joint is spatial

    >>> PointOnLine("slot", "ground", "pin", direction=0.5).rows
    (('offset', 'm'),)
    """

    at_a: Point = ORIGIN
    at_b: Point = ORIGIN
    direction: Angle = field(default=0.0, kw_only=True)
    axis_a: Direction | None = field(default=None, kw_only=True)
    symbol = "sleeve"
    in_space, only_in_plane = "axis_a", ("direction",)
    parts = (ON_LINE,)
    in_plane = (Part((("offset", "m"),), _across),)


@dataclass(frozen=True, eq=False)
class Fixed(_PlanarOrSpatial, _OfParts):
    """Weld: a point of b and its angle are fixed in a (3 rows: [m], [m], ground frame; [rad]).

    In space (with a quaternion) 6 rows: 3 of the points, and ``sin(phi) n = 0`` [rad] of the rotation (phi, n) by which
    b deviates from this orientation relative to a, in the frame of b.

    Parameters
    ----------
    at_a, at_b : s_a, s_b [m], the welded point in the frame of each body
    angle : [rad], angle of b against a; in the plane only
    quaternion : [-], optional, (w, x, y, z), orientation of b against a; given, the joint is spatial
    """

    at_a: Point = ORIGIN
    at_b: Point = ORIGIN
    angle: Angle = 0.0
    quaternion: Orientation | None = None
    in_space, only_in_plane = "quaternion", ("angle",)
    parts = (COINCIDENT, SAME)
    in_plane = (COINCIDENT_IN_PLANE, SAME_ANGLE)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Mark(a, b, "weld" if self.spatial else "pin"),)


@dataclass(frozen=True, eq=False)
class _Pointed(_OfParts):
    """Base of spatial joints at a point of each body."""

    at_a: Point = SPACE
    at_b: Point = SPACE


@dataclass(frozen=True, eq=False)
class Spherical(_Pointed):
    """Ball in a socket: two points coincide, ``r_b + R_b s_b - r_a - R_a s_a = 0`` (3 rows, [m], ground frame).

    Parameters
    ----------
    at_a, at_b : s_a, s_b [m], the centre in the frame of each body

    >>> [label for label, unit in Spherical("ball", "ground", "top").rows]
    ['x', 'y', 'z']
    """

    symbol = "ball"
    parts = (COINCIDENT,)


@dataclass(frozen=True, eq=False)
class PointInPlane(_Pointed):
    """A point of b stays in a plane of a (1 row, [m]).

    Parameters
    ----------
    at_a, at_b : [m], a point of the plane, the point that stays in it
    normal_a : [-], normal of the plane in the frame of a, of any length
    """

    normal_a: Direction = field(kw_only=True)
    symbol = "ball"
    parts = (IN_PLANE,)


@dataclass(frozen=True, eq=False)
class Distance(_Pointed):
    """Massless rod between two points: ``(d^T d - L^2) / (2 L) = 0`` (1 row, [m]); its elongation is reported.

    Parameters
    ----------
    at_a, at_b : [m], the ends in the frame of each body
    length : L [m], > 0
    """

    length: PositiveLength = field(kw_only=True)
    symbol = "rod"
    parts = (Part((("length", "m"),), lambda a, b, p: primitive.distance(a, b, p.at_a, p.at_b, p.length)),)


@dataclass(frozen=True, eq=False)
class _OfAxes(_OfParts):
    """Base of spatial joints of an axis of each body."""

    axis_a: Direction = field(kw_only=True)
    axis_b: Direction = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class PerpendicularAxes(_OfAxes):
    """An axis of b stays perpendicular to one of a: the sine of the deviation, ``n_a^T n_b = 0`` (1 row, [rad]).

    Parameters
    ----------
    axis_a, axis_b : [-], the axes in the frame of each body, of any length
    """

    parts = (RIGHT_ANGLE,)


@dataclass(frozen=True, eq=False)
class ParallelAxes(_OfAxes):
    """An axis of b stays parallel to one of a, and points the same way (2 rows, [rad]).

    ``t_i . R_a' R_b n_b = 0`` with the transversals t_1, t_2 of n_a; the tilt in [0, pi] is reported by components.

    Parameters
    ----------
    axis_a, axis_b : n_a, n_b [-], the axes in the frame of each body, of any length
    """

    parts = (PARALLEL,)


@dataclass(frozen=True, eq=False)
class NoTwist(_OfParts):
    """b does not twist about an axis of a, for any tilt of this axis (1 row, [rad]).

    The rotation of b from its reference orientation against a is one about an axis perpendicular to `axis_a`, by less
    than a half turn: ``axial(E) . u = 0``. With a `Spherical` joint it is a joint of constant velocity.

    Parameters
    ----------
    axis_a : [-], the axis in the frame of a, of any length
    quaternion : [-], (w, x, y, z), reference orientation of b against a
    """

    axis_a: Direction = field(kw_only=True)
    quaternion: Orientation = field(default=IDENTITY, kw_only=True)
    parts = (Part((("twist", "rad"),), lambda a, b, p: _angle(*primitive.twist_about(a, b, p.axis_a, p.quaternion))),)


@dataclass(frozen=True, eq=False)
class SameOrientation(_OfParts):
    """The orientation of b relative to a is constant; translations are free (3 rows, [rad]).

    ``sin(phi) n = 0`` for the rotation (phi, n) by which b deviates from it, in the frame of b; phi n is reported.

    Parameters
    ----------
    quaternion : [-], (w, x, y, z), orientation of b against a
    """

    quaternion: Orientation = field(default=IDENTITY, kw_only=True)
    parts = (SAME,)


@dataclass(frozen=True, eq=False)
class Universal(_OfAxes, _Pointed):
    """Universal joint (Cardan, Hooke): a cross whose arms lie along an axis of a and a perpendicular one of b (4 rows).

    The points coincide [m], and ``n_a . n_b = 0`` [rad].

    Parameters
    ----------
    at_a, at_b : [m], the centre of the cross in the frame of each body
    axis_a, axis_b : n_a, n_b [-], the arms of the cross in the frame of each body, of any length
    """

    symbol = "ball"
    parts = (COINCIDENT, RIGHT_ANGLE)


@dataclass(frozen=True, eq=False)
class Cylindrical(_OfAxes, _Pointed):
    """b turns about an axis of a and slides along it (4 rows): a point on a line [m], and parallel axes [rad].

    Parameters
    ----------
    at_a, at_b : [m], a point of the axis in the frame of each body
    axis_a, axis_b : [-], the axis in the frame of each body, of any length
    """

    symbol = "sleeve"
    parts = (ON_LINE, PARALLEL)


@dataclass(frozen=True, eq=False)
class Screw(_Pointed):
    """b turns about an axis of a and moves along it by a pitch per turn (5 rows).

    The rows of a `Cylindrical` joint, and with the displacement d along the axis and the angle psi of b relative to a
    ``h sin(d / h - psi) = 0`` [m], h = pitch/(2 pi). Any number of turns is counted by the displacement; the constraint
    is also satisfied at a distance of a whole pitch, which the screw cannot reach without turning.

    Parameters
    ----------
    at_a, at_b : [m], points of the axis that coincide at angle zero
    axis_a : [-], the axis in the frame of a, of any length
    pitch : [m], displacement along `axis_a` per right-handed turn about it, not zero; < 0 for a left-handed thread
    quaternion : [-], (w, x, y, z), orientation of b against a at displacement zero
    """

    axis_a: Direction = field(kw_only=True)
    pitch: Annotated[float, Quantity("m")] = field(kw_only=True)
    quaternion: Orientation = field(default=IDENTITY, kw_only=True)
    symbol = "sleeve"
    parts = (
        ON_LINE,
        Part(
            TILTS,
            lambda a, b, p: primitive.parallel_axes(
                a, b, p.axis_a, rotation_matrix(p.quaternion).T @ primitive.unit(p.axis_a)
            ),
        ),
        Part((("thread", "m"),), thread),
    )

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        if numbers["pitch"] == 0.0:
            raise self.error("pitch must not be zero; a screw of pitch zero is a Revolute joint.")


@dataclass(frozen=True, eq=False)
class Planar(_Pointed):
    """b moves in a plane of a and turns about its normal (3 rows): a point in a plane [m], and parallel normals [rad].

    Parameters
    ----------
    at_a, at_b : [m], a point of the plane in the frame of each body
    normal_a, normal_b : [-], the normal of the plane in the frame of each body, of any length
    """

    normal_a: Direction = field(kw_only=True)
    normal_b: Direction = field(kw_only=True)
    parts = (IN_PLANE, Part(TILTS, lambda a, b, p: primitive.parallel_axes(a, b, p.normal_a, p.normal_b)))


@dataclass(frozen=True, eq=False)
class UniversalPrismatic(_OfAxes, _Pointed):
    """Universal joint whose second part slides along an axis of its own (3 rows), as the leg of a parallel robot.

    The centre of the cross, fixed in a, stays on a line of b [m], and the arms are perpendicular, ``n_a . n_b = 0``
    [rad]. The reaction is reported at the point `at_b` of this line.

    Parameters
    ----------
    at_a, at_b : [m], the centre of the cross in the frame of a, a point of the line in that of b
    axis_a, axis_b : n_a, n_b [-], the arms of the cross in the frame of each body, of any length
    slide_b : [-], direction in which b slides, in its own frame, of any length
    """

    slide_b: Direction = field(kw_only=True)
    symbol = "ball"
    parts = (Part(OFFSETS, lambda a, b, p: primitive.point_on_line(b, a, p.at_b, p.at_a, p.slide_b)), RIGHT_ANGLE)
