"""Ideal joints of spatial mechanisms.

Each consists of the primitive rows of `nonsmooth.model.rows`. Each primitive is also a joint by itself, so that other
joints can be composed of several between the same two bodies; `Spherical` is the primitive of coincident points.
`Revolute`, `Prismatic`, `Fixed` and `PointOnLine` are defined in `nonsmooth.model.joints`, since they exist in the
plane as well.

Axes, normals and points are given in the frames of the bodies. A reaction is the force on the second body, and the
torque about `application_point`, its point `at_b`, both in the ground frame.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated

import casadi as ca

from nonsmooth.model import rows as primitive
from nonsmooth.model.elements import SPACE
from nonsmooth.model.frames import SpatialPlacement, rotation_matrix
from nonsmooth.model.joints import (
    IDENTITY,
    OFFSETS,
    POINT,
    TILTS,
    TURNS,
    Direction,
    Joint,
    Orientation,
)
from nonsmooth.quantities import Point, PositiveLength, Quantity


@dataclass(frozen=True, eq=False)
class _Pointed(Joint):
    """Base of spatial joints at a point of each body."""

    at_a: Point = SPACE
    at_b: Point = SPACE

    dimensions = (3,)


@dataclass(frozen=True, eq=False)
class Spherical(_Pointed):
    """Ball in a socket: two points coincide, ``r_b + R_b s_b - r_a - R_a s_a = 0`` (3 rows, [m], ground frame).

    Parameters
    ----------
    at_a, at_b : s_a, s_b [m]
        The centre in the frame of each body.

    >>> [label for label, unit in Spherical("ball", "ground", "top").rows]
    ['x', 'y', 'z']
    """

    symbol = "ball"
    rows = POINT

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return primitive.coincident_points(a, b, p.at_a, p.at_b)


@dataclass(frozen=True, eq=False)
class PointInPlane(_Pointed):
    """A point of b stays in a plane of a (1 row, [m]).

    Parameters
    ----------
    at_a, at_b : [m]
        A point of the plane, the point that stays in it.
    normal_a : [-]
        Normal of the plane in the frame of a, of any length.
    """

    normal_a: Direction = field(kw_only=True)

    symbol = "ball"
    rows = (("height", "m"),)

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return primitive.offset_along(a, b, p.at_a, p.at_b, p.normal_a)


@dataclass(frozen=True, eq=False)
class Distance(_Pointed):
    """Massless rod between two points: ``(d^T d - L^2) / (2 L) = 0`` (1 row, [m]); its elongation is reported.

    Parameters
    ----------
    at_a, at_b : [m]
        The ends in the frame of each body.
    length : L [m], > 0
    """

    length: PositiveLength = field(kw_only=True)

    symbol = "rod"
    rows = (("length", "m"),)

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return primitive.distance(a, b, p.at_a, p.at_b, p.length)

    def violation(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return primitive.distance_residual(a, b, p.at_a, p.at_b, p.length)


@dataclass(frozen=True, eq=False)
class PerpendicularAxes(Joint):
    """An axis of b stays perpendicular to one of a: the sine of the deviation, ``n_a^T n_b = 0`` (1 row, [rad]).

    Parameters
    ----------
    axis_a, axis_b : [-]
        The axes in the frame of each body, of any length.
    """

    axis_a: Direction = field(kw_only=True)
    axis_b: Direction = field(kw_only=True)

    dimensions = (3,)
    rows = (("right_angle", "rad"),)

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return primitive.perpendicular_axes(a, b, p.axis_a, p.axis_b)


@dataclass(frozen=True, eq=False)
class ParallelAxes(Joint):
    """An axis of b stays parallel to one of a, and points the same way (2 rows, [rad]).

    ``t_i . R_a' R_b n_b = 0`` with the transversals t_1, t_2 of n_a; the tilt in [0, pi] is reported by components.

    Parameters
    ----------
    axis_a, axis_b : n_a, n_b [-]
        The axes in the frame of each body, of any length.
    """

    axis_a: Direction = field(kw_only=True)
    axis_b: Direction = field(kw_only=True)

    dimensions = (3,)
    rows = TILTS

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return primitive.parallel_axes(a, b, p.axis_a, p.axis_b)

    def violation(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return primitive.parallel_residual(a, b, p.axis_a, p.axis_b)


@dataclass(frozen=True, eq=False)
class NoTwist(Joint):
    """b does not twist about an axis of a, for any tilt of this axis (1 row, [rad]).

    The rotation of b from its reference orientation against a is one about an axis perpendicular to `axis_a`, by less
    than a half turn: ``axial(E) . u = 0``. With a `Spherical` joint it is a joint of constant velocity.

    Parameters
    ----------
    axis_a : [-]
        The axis in the frame of a, of any length.
    quaternion : [-]
        (w, x, y, z), reference orientation of b against a.
    """

    axis_a: Direction = field(kw_only=True)
    quaternion: Orientation = field(default=IDENTITY, kw_only=True)

    dimensions = (3,)
    rows = (("twist", "rad"),)

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return primitive.twist_about(a, b, p.axis_a, p.quaternion)[0]

    def violation(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return ca.atan2(*primitive.twist_about(a, b, p.axis_a, p.quaternion))


@dataclass(frozen=True, eq=False)
class SameOrientation(Joint):
    """The orientation of b relative to a is constant; translations are free (3 rows, [rad]).

    ``sin(phi) n = 0`` for the rotation (phi, n) by which b deviates from it, in the frame of b; phi n is reported.

    Parameters
    ----------
    quaternion : [-]
        (w, x, y, z), orientation of b against a.
    """

    quaternion: Orientation = field(default=IDENTITY, kw_only=True)

    dimensions = (3,)
    rows = TURNS

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return primitive.turn(primitive.relative_orientation(a, b, p.quaternion))

    def violation(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return primitive.rotation_vector(primitive.relative_orientation(a, b, p.quaternion))


@dataclass(frozen=True, eq=False)
class Universal(_Pointed):
    """Universal joint (Cardan, Hooke): a cross whose arms lie along an axis of a and a perpendicular one of b (4 rows).

    The points coincide [m], and ``n_a . n_b = 0`` [rad].

    Parameters
    ----------
    at_a, at_b : [m]
        The centre of the cross in the frame of each body.
    axis_a, axis_b : n_a, n_b [-]
        The arms of the cross in the frame of each body, of any length.
    """

    axis_a: Direction = field(kw_only=True)
    axis_b: Direction = field(kw_only=True)

    symbol = "ball"
    rows = (*POINT, ("right_angle", "rad"))

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        points = primitive.coincident_points(a, b, p.at_a, p.at_b)
        return ca.vertcat(points, primitive.perpendicular_axes(a, b, p.axis_a, p.axis_b))


@dataclass(frozen=True, eq=False)
class Cylindrical(_Pointed):
    """b turns about an axis of a and slides along it (4 rows): a point on a line [m], and parallel axes [rad].

    Parameters
    ----------
    at_a, at_b : [m]
        A point of the axis in the frame of each body.
    axis_a, axis_b : [-]
        The axis in the frame of each body, of any length.
    """

    axis_a: Direction = field(kw_only=True)
    axis_b: Direction = field(kw_only=True)

    symbol = "sleeve"
    rows = (*OFFSETS, *TILTS)

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        offsets = primitive.point_on_line(a, b, p.at_a, p.at_b, p.axis_a)
        return ca.vertcat(offsets, primitive.parallel_axes(a, b, p.axis_a, p.axis_b))

    def violation(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        offsets = primitive.point_on_line(a, b, p.at_a, p.at_b, p.axis_a)
        return ca.vertcat(offsets, primitive.parallel_residual(a, b, p.axis_a, p.axis_b))


@dataclass(frozen=True, eq=False)
class Screw(_Pointed):
    """b turns about an axis of a and moves along it by a pitch per turn (5 rows).

    The rows of a `Cylindrical` joint, and with the displacement d along the axis and the angle psi of b relative to a
    ``h sin(d / h - psi) = 0`` [m], h = pitch/(2 pi). Any number of turns is counted by the displacement; the constraint
    is also satisfied at a distance of a whole pitch, which the screw cannot reach without turning.

    Parameters
    ----------
    at_a, at_b : [m]
        Points of the axis that coincide at angle zero.
    axis_a : [-]
        The axis in the frame of a, of any length.
    pitch : [m]
        Displacement along `axis_a` per right-handed turn about it, not zero; < 0 for a left-handed thread.
    quaternion : [-]
        (w, x, y, z), orientation of b against a at displacement zero.
    """

    axis_a: Direction = field(kw_only=True)
    pitch: Annotated[float, Quantity("m")] = field(kw_only=True)
    quaternion: Orientation = field(default=IDENTITY, kw_only=True)

    symbol = "sleeve"
    rows = (*OFFSETS, *TILTS, ("thread", "m"))

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        if numbers["pitch"] == 0.0:
            raise self.error("pitch must not be zero; a screw of pitch zero is a Revolute joint.")

    def _thread(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> tuple[ca.SX, ca.SX, ca.SX]:
        """h, and sine and cosine of d / h - psi."""
        h = p.pitch / (2 * ca.pi)
        S, C = primitive.twist_about(a, b, p.axis_a, p.quaternion)
        angle = primitive.offset_along(a, b, p.at_a, p.at_b, p.axis_a) / h
        return h, C * ca.sin(angle) - S * ca.cos(angle), C * ca.cos(angle) + S * ca.sin(angle)

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        offsets = primitive.point_on_line(a, b, p.at_a, p.at_b, p.axis_a)
        h, sine, _ = self._thread(a, b, p)
        return ca.vertcat(offsets, primitive.parallel_axes(a, b, p.axis_a, axis_in_b(p)), h * sine)

    def violation(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        offsets = primitive.point_on_line(a, b, p.at_a, p.at_b, p.axis_a)
        h, sine, cosine = self._thread(a, b, p)
        tilts = primitive.parallel_residual(a, b, p.axis_a, axis_in_b(p))
        return ca.vertcat(offsets, tilts, h * ca.atan2(sine, cosine))


@dataclass(frozen=True, eq=False)
class Planar(_Pointed):
    """b moves in a plane of a and turns about its normal (3 rows): a point in a plane [m], and parallel normals [rad].

    Parameters
    ----------
    at_a, at_b : [m]
        A point of the plane in the frame of each body.
    normal_a, normal_b : [-]
        The normal of the plane in the frame of each body, of any length.
    """

    normal_a: Direction = field(kw_only=True)
    normal_b: Direction = field(kw_only=True)

    rows = (("height", "m"), *TILTS)

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        height = primitive.offset_along(a, b, p.at_a, p.at_b, p.normal_a)
        return ca.vertcat(height, primitive.parallel_axes(a, b, p.normal_a, p.normal_b))

    def violation(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        height = primitive.offset_along(a, b, p.at_a, p.at_b, p.normal_a)
        return ca.vertcat(height, primitive.parallel_residual(a, b, p.normal_a, p.normal_b))


@dataclass(frozen=True, eq=False)
class UniversalPrismatic(_Pointed):
    """Universal joint whose second part slides along an axis of its own (3 rows), as the leg of a parallel robot.

    The centre of the cross, fixed in a, stays on a line of b [m], and the arms are perpendicular, ``n_a . n_b = 0``
    [rad]. The reaction is reported at the point `at_b` of this line.

    Parameters
    ----------
    at_a, at_b : [m]
        The centre of the cross in the frame of a, a point of the line in that of b.
    axis_a, axis_b : n_a, n_b [-]
        The arms of the cross in the frame of each body, of any length.
    slide_b : [-]
        Direction in which b slides, in its own frame, of any length.
    """

    axis_a: Direction = field(kw_only=True)
    axis_b: Direction = field(kw_only=True)
    slide_b: Direction = field(kw_only=True)

    symbol = "ball"
    rows = (*OFFSETS, ("right_angle", "rad"))

    def constraint(self, t: ca.SX, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        offsets = primitive.point_on_line(b, a, p.at_b, p.at_a, p.slide_b)
        return ca.vertcat(offsets, primitive.perpendicular_axes(a, b, p.axis_a, p.axis_b))


def axis_in_b(p: SimpleNamespace) -> ca.SX:
    """The axis in the frame of b in its reference orientation."""
    return rotation_matrix(p.quaternion).T @ primitive.unit(p.axis_a)
