"""Ideal joints, and those that exist in the plane and in space.

A joint imposes g(t, q) = 0; its force on the bodies is W_g lambda_g. Rows are smooth functions of placements: angles
enter through the sine of their difference. A joint is spatial if its axis or its quaternion is given.
"""

import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar

import casadi as ca

from nonsmooth.model import rows as primitive
from nonsmooth.model.bodies import Body, Ground, Node
from nonsmooth.model.drawing import Mark, Primitive, Slide, Spot, Symbol, Vector, joint_drawing, vector
from nonsmooth.model.elements import ORIGIN, Element, _PlanarOrSpatial
from nonsmooth.model.frames import PlanarPlacement, cross
from nonsmooth.quantities import Point, Quantity

Angle = Annotated[float, Quantity("rad")]
#: a vector along an axis or a normal, of any length but zero
Direction = Annotated[tuple[float, float, float], Quantity("-")]
#: (w, x, y, z), scalar part first, of norm 1
Orientation = Annotated[tuple[float, float, float, float], Quantity("-", labels=("w", "x", "y", "z"))]
BodyRef = Body | Ground | Node | str
Row = tuple[str, str]

POINT: tuple[Row, ...] = (("x", "m"), ("y", "m"), ("z", "m"))
OFFSETS: tuple[Row, ...] = (("offset_1", "m"), ("offset_2", "m"))
TILTS: tuple[Row, ...] = (("tilt_1", "rad"), ("tilt_2", "rad"))
TURNS: tuple[Row, ...] = (("turn_x", "rad"), ("turn_y", "rad"), ("turn_z", "rad"))
#: the quaternion of parallel frames
IDENTITY = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Joint(Element):
    """Base of bilateral constraints between two bodies, drivers included."""

    a: BodyRef
    b: BodyRef

    body_fields = ("a", "b")
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
        """Its symbol at the points ``at_a`` and ``at_b``; without ``at_b``, at the application point."""
        a, b = self.spots(p)
        if not b.at:
            b = Spot(b.body, vector(ca.evalf(ca.SX(self.application_point(p)))))
        return joint_drawing(self.symbol, a, b, p)


def _sine(a: PlanarPlacement, b: PlanarPlacement, angle: ca.SX) -> ca.SX:
    """sin(theta_b - theta_a - angle)."""
    sine, cosine = _relative(a, b)
    return sine * ca.cos(angle) - cosine * ca.sin(angle)


def open_angle(a: PlanarPlacement, b: PlanarPlacement, angle: ca.SX) -> ca.SX:
    """theta_b - theta_a - angle in (-pi, pi]."""
    sine, cosine = _relative(a, b)
    return ca.atan2(_sine(a, b, angle), cosine * ca.cos(angle) + sine * ca.sin(angle))


def _relative(a: PlanarPlacement, b: PlanarPlacement) -> tuple[ca.SX, ca.SX]:
    sine = cross(ca.vertcat(a.cosine, a.sine), ca.vertcat(b.cosine, b.sine))
    return sine, a.cosine * b.cosine + a.sine * b.sine


@dataclass(frozen=True, eq=False)
class Revolute(_PlanarOrSpatial, Joint):
    """Ideal pin: two points coincide, ``r_b + A_b s_b - r_a - A_a s_a = 0`` (2 rows, [m], ground frame).

    In space (with axes) 5 rows: 3 of the points, and two of the sine of the tilt of the axis of b relative to that of
    a, ``t_i . A_a' A_b n_b = 0`` [rad], with the transversals t_1, t_2 of the axis of a.

    Parameters
    ----------
    at_a, at_b : s_a, s_b [m]
        The pin in the frame of each body.
    axis_a, axis_b : n_a, n_b [-], optional
        The axis in the frame of each body, of any length; given, the joint is spatial.

    Raises
    ------
    ModelError
        If a number is not finite, one axis is given without the other, or an axis is zero.

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

    @property
    def rows(self) -> tuple[Row, ...]:  # type: ignore[override]
        return POINT + TILTS if self.spatial else POINT[:2]

    def constraint(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        points = primitive.coincident_points(a, b, p.at_a, p.at_b)
        return ca.vertcat(points, primitive.parallel_axes(a, b, p.axis_a, p.axis_b)) if self.spatial else points

    def violation(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        points = primitive.coincident_points(a, b, p.at_a, p.at_b)
        return ca.vertcat(points, primitive.parallel_residual(a, b, p.axis_a, p.axis_b)) if self.spatial else points


@dataclass(frozen=True, eq=False)
class Prismatic(_PlanarOrSpatial, Joint):
    """Ideal slide: a point of b stays on a line of a, and the angle of b relative to a is constant.

    ``n . A_a' (r_b + A_b s_b - r_a - A_a s_a) = 0`` [m] with n normal to the axis in the frame of a,
    ``sin(theta_b - theta_a - angle) = 0`` [rad].

    In space (with `axis_a`) 5 rows: the offsets of the point along the two transversals of the axis [m], and ``sin(phi)
    n = 0`` [rad] of the rotation (phi, n) by which b deviates from its orientation relative to a, in the frame of b.

    Parameters
    ----------
    direction : [rad]
        Angle of the axis in the frame of a; in the plane only.
    at_a, at_b : s_a, s_b [m]
        A point of the line, the point that slides on it.
    angle : [rad]
        Angle of b against a; in the plane only.
    axis_a : [-], optional
        The axis in the frame of a, of any length; given, the joint is spatial.
    quaternion : [-], optional
        (w, x, y, z), orientation of b against a; without it that in which both frames are parallel. In space only.

    Raises
    ------
    ModelError
        If a number is not finite, the axis zero, the quaternion not of norm 1, or planar and spatial fields are mixed.
    """

    direction: Angle = 0.0
    at_a: Point = ORIGIN
    at_b: Point = ORIGIN
    angle: Angle = 0.0
    axis_a: Direction | None = None
    quaternion: Orientation | None = None

    in_space = "axis_a"

    def __post_init__(self) -> None:
        if self.axis_a is None and self.quaternion is not None:
            raise self.error("quaternion is given without axis_a; give axis_a in space, angle in the plane.")
        if self.axis_a is not None and (self.direction != 0.0 or self.angle != 0.0):
            raise self.error("direction and angle are for planar models; with axis_a give quaternion instead.")
        super().__post_init__()

    @property
    def rows(self) -> tuple[Row, ...]:  # type: ignore[override]
        return OFFSETS + TURNS if self.spatial else (("normal", "m"), ("angle", "rad"))

    def constraint(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(_offsets(self, a, b, p), _turn(self, a, b, p))

    def violation(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(_offsets(self, a, b, p), _turn_residual(self, a, b, p))

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Slide(a, b, _along(self, p)),)


@dataclass(frozen=True, eq=False)
class PointOnLine(_PlanarOrSpatial, Joint):
    """Pin in a slot: a point of b stays on a line of a, along which and about which it moves freely.

    In the plane 1 row, ``n . A_a' (r_b + A_b s_b - r_a - A_a s_a) = 0`` [m] with n normal to the line in the frame of
    a. In space (with `axis_a`) 2 rows [m]: the offsets of the point along the two transversals of the line. The line
    has no ends.

    Parameters
    ----------
    at_a, at_b : s_a, s_b [m]
        A point of the line, the point that stays on it.
    direction : [rad]
        Angle of the line in the frame of a; in the plane only.
    axis_a : [-], optional
        Direction of the line in the frame of a, of any length; given, the joint is spatial.

    Raises
    ------
    ModelError
        If a number is not finite, the axis zero, or planar and spatial fields are mixed.

    >>> PointOnLine("slot", "ground", "pin", direction=0.5).rows
    (('offset', 'm'),)
    """

    at_a: Point = ORIGIN
    at_b: Point = ORIGIN
    direction: Angle = field(default=0.0, kw_only=True)
    axis_a: Direction | None = field(default=None, kw_only=True)

    in_space = "axis_a"

    def __post_init__(self) -> None:
        if self.axis_a is not None and self.direction != 0.0:
            raise self.error("direction is for planar models; in space give axis_a instead.")
        super().__post_init__()

    @property
    def rows(self) -> tuple[Row, ...]:  # type: ignore[override]
        return OFFSETS if self.spatial else (("offset", "m"),)

    def constraint(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return _offsets(self, a, b, p)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Slide(a, b, _along(self, p), round=True),)


def _offsets(joint: Prismatic | PointOnLine, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
    """Offsets of the point of b from a line of a, across it: one in the plane, two in space."""
    if joint.spatial:
        return primitive.point_on_line(a, b, p.at_a, p.at_b, p.axis_a)
    offset = a.unrotate(b.point(p.at_b) - a.point(p.at_a))
    return ca.cos(p.direction) * offset[1] - ca.sin(p.direction) * offset[0]


def _along(joint: Prismatic | PointOnLine, p: SimpleNamespace) -> Vector:
    """Direction of the line in the frame of a."""
    return vector(p.axis_a) if joint.spatial else (math.cos(p.direction), math.sin(p.direction))


@dataclass(frozen=True, eq=False)
class Fixed(_PlanarOrSpatial, Joint):
    """Weld: a point of b and its angle are fixed in a (3 rows: [m], [m], ground frame; [rad]).

    In space (with a quaternion) 6 rows: 3 of the points, and ``sin(phi) n = 0`` [rad] of the rotation (phi, n) by which
    b deviates from this orientation relative to a, in the frame of b.

    Parameters
    ----------
    at_a, at_b : s_a, s_b [m]
        The welded point in the frame of each body.
    angle : [rad]
        Angle of b against a; in the plane only.
    quaternion : [-], optional
        (w, x, y, z), orientation of b against a; given, the joint is spatial.

    Raises
    ------
    ModelError
        If a number is not finite, the quaternion not of norm 1, or an angle is given in space.
    """

    at_a: Point = ORIGIN
    at_b: Point = ORIGIN
    angle: Angle = 0.0
    quaternion: Orientation | None = None

    in_space = "quaternion"

    def __post_init__(self) -> None:
        if self.quaternion is not None and self.angle != 0.0:
            raise self.error("angle is for planar models; in space give quaternion instead.")
        super().__post_init__()

    @property
    def rows(self) -> tuple[Row, ...]:  # type: ignore[override]
        return POINT + TURNS if self.spatial else (*POINT[:2], ("angle", "rad"))

    def constraint(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(b.point(p.at_b) - a.point(p.at_a), _turn(self, a, b, p))

    def violation(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(b.point(p.at_b) - a.point(p.at_a), _turn_residual(self, a, b, p))

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Mark(a, b, "weld" if self.spatial else "pin"),)


def _turn(joint: Prismatic | Fixed, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
    """Sine of the angle, in space sin(phi) n, by which b deviates from its orientation relative to a."""
    if not joint.spatial:
        return _sine(a, b, p.angle)
    return primitive.turn(primitive.relative_orientation(a, b, getattr(p, "quaternion", IDENTITY)))


def _turn_residual(joint: Prismatic | Fixed, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
    """This angle, in space the rotation vector."""
    if not joint.spatial:
        return open_angle(a, b, p.angle)
    return primitive.rotation_vector(primitive.relative_orientation(a, b, getattr(p, "quaternion", IDENTITY)))
