"""Free contacts in space: spheres, ellipsoids, boxes and cylinders on planes and on each other.

`PointPlane` is defined in `nonsmooth.model.contacts`, since it exists in the plane as well. Body a has the plane, its
normal n pointing to the free side. Points, axes and normals are given in the frames of the bodies.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated

import casadi as ca

from nonsmooth.model.clearances import ENDS, NOWHERE, rim_labels
from nonsmooth.model.contacts import FreeContact, Touches, _RoundPair, check_points
from nonsmooth.model.drawing import Box, Cylinder, Ellipsoid, Primitive, Round, Wall, vector
from nonsmooth.model.elements import SPACE
from nonsmooth.model.frames import SpatialPlacement, rotation_matrix, tangents
from nonsmooth.model.joints import IDENTITY, Direction, Orientation
from nonsmooth.model.rows import unit
from nonsmooth.quantities import Point, PositiveLength, Quantity

#: by corner of a box the sides on which it lies
CORNERS = tuple(itertools.product((("low", -1), ("high", 1)), repeat=3))


@dataclass(frozen=True, eq=False)
class _OnPlane(FreeContact):
    """Base of contacts of a surface of b with a plane of a."""

    normal: Direction = field(kw_only=True)
    at_a: Point = field(default=SPACE, kw_only=True)
    at_b: Point = field(default=SPACE, kw_only=True)

    dimensions = (3,)

    def _normal(self, a: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        return a.rotate(unit(p.normal))

    def _points(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> list[ca.SX]:
        """Lowest points of the surface, in the ground frame."""
        raise TypeError(f"{type(self).__name__} has no points.")

    def gaps(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> ca.SX:
        normal, wall = self._normal(a, p), a.point(p.at_a)
        return ca.vertcat(*(ca.dot(normal, point - wall) for point in self._points(a, b, p)))

    def touches(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Touches:
        normal = self._normal(a, p)
        return [(point, normal) for point in self._points(a, b, p)]


@dataclass(frozen=True, eq=False)
class SpherePlane(_OnPlane):
    """A sphere of body b above a plane of body a: ``g_N = n^T (r_centre - r_plane) - radius``.

    Parameters
    ----------
    a, b : body with the plane, body with the sphere
    radius : [m], > 0
    normal : n [-]
        Of the plane, towards the free side, in the frame of a, of any length.
    at_a : [m]
        A point of the plane, in the frame of a.
    at_b : [m]
        Centre of the sphere, in the frame of b.
    size : [m], > 0
        Typical gap, for tolerances only: gaps below 1e-8 of it count as closed.
    contact : the contact law

    Raises
    ------
    ModelError
        If a number is out of its range, or the normal is zero.

    >>> from nonsmooth import Rigid
    >>> rough = Rigid(restitution=0.0, friction=0.3)
    >>> SpherePlane("floor", "ground", "ball", radius=0.1, normal=(0, 0, 1), contact=rough).gap_names()
    ('floor',)
    """

    radius: PositiveLength = field(kw_only=True)

    def _points(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> list[ca.SX]:
        return [b.point(p.at_b) - p.radius * self._normal(a, p)]

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        return {"radius": p.radius, "effective_radius": p.radius}

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        wall, centre = self.spots(p)
        return (Round(centre, p.radius), Wall(wall, vector(p.normal), near=centre, radius=p.radius))


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
    semi_axes : [m], each > 0
        Half of the ellipsoid's lengths along its x, y and z axis.
    quaternion : [-]
        Orientation of the ellipsoid's axes in the frame of b; by default they are parallel.
    normal, at_a : as in `SpherePlane`
    at_b : [m]
        Centre of the ellipsoid, in the frame of b.
    size : [m], > 0
        Typical gap, for tolerances only.
    contact : the contact law

    Raises
    ------
    ModelError
        If a number is out of its range, the normal is zero, or the quaternion is not of norm 1.

    >>> from nonsmooth import Rigid
    >>> EllipsoidPlane("floor", "ground", "stone", semi_axes=(0.2, 0.03, 0.02), normal=(0, 0, 1),
    ...                contact=Rigid(restitution=0.0, friction=0.8)).gap_names()
    ('floor',)
    """

    semi_axes: Annotated[tuple[float, float, float], Quantity("m", positive=True)] = field(kw_only=True)
    quaternion: Orientation = field(default=IDENTITY, kw_only=True)

    def _points(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> list[ca.SX]:
        own = rotation_matrix(p.quaternion)
        scaled = p.semi_axes * (own.T @ b.unrotate(self._normal(a, p)))  # of the length m . D m, never zero
        return [b.point(p.at_b - own @ (p.semi_axes * scaled) / ca.norm_2(scaled))]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        wall, centre = self.spots(p)
        semi_axes, own = vector(p.semi_axes), rotation_matrix(ca.DM(p.quaternion))
        axes = tuple(vector(length * own[:, i]) for i, length in enumerate(semi_axes))
        return (Ellipsoid(centre, axes), Wall(wall, vector(p.normal), near=centre, radius=max(semi_axes)))


@dataclass(frozen=True, eq=False)
class SphereSphere(_RoundPair):
    """Two spheres outside each other: ``g_N = |r_b - r_a| - radius_a - radius_b``.

    A ball in a socket is a `SphericalClearance`.

    Parameters
    ----------
    radius_a, radius_b : [m], > 0
    at_a, at_b : [m]
        Centres, in the frames of the bodies.
    size : [m], > 0
        Typical gap, for tolerances only.
    contact : the contact law
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
    edges : [m], each > 0
        Lengths of the edges along the x, y and z axis of b.
    normal, at_a : as in `SpherePlane`
    at_b : [m]
        Centre of the box, in the frame of b.
    size : [m], > 0
        Typical gap, for tolerances only.
    contact : the contact law
    """

    edges: Annotated[tuple[float, float, float], Quantity("m", positive=True)] = field(kw_only=True)

    gap_labels = tuple("_".join(side for side, _ in corner) for corner in CORNERS)

    def _points(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> list[ca.SX]:
        corners = (ca.vertcat(*(sign * p.edges[i] / 2 for i, (_, sign) in enumerate(corner))) for corner in CORNERS)
        return [b.point(p.at_b + corner) for corner in corners]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        wall, centre = self.spots(p)
        return (Box(centre, vector(p.edges)), Wall(wall, vector(p.normal), near=centre))


@dataclass(frozen=True, eq=False)
class CylinderPlane(_OnPlane):
    """A cylinder of body b above a plane of body a, by points on the rims of its two ends.

    `points` points are fixed on each rim, so that the cylinder can stand on its ends as well as lie; it rolls like a
    prism with this number of edges, whose axis rises and falls by ``radius (1 - cos(pi / points))``, 29 % of the radius
    for 4 points, 0.5 % for 32. With ``points=0`` there are two gaps, of the lowest point of each rim::

        g_N = n . (r_end - r_plane) - radius sqrt(1 - (n . u)^2)

    with u the axis: exact for a rolling cylinder, and smooth unless it stands upright, where a rim has no lowest point.
    Labels are ``back`` and ``front`` for the ends on the negative and the positive side of the axis, with the number of
    the point.

    Parameters
    ----------
    a, b : body with the plane, body with the cylinder
    radius, length : [m], > 0
    axis : u [-]
        Of the cylinder, in the frame of b, of any length.
    points : 0, or >= 3
        On each rim.
    normal, at_a : as in `SpherePlane`
    at_b : [m]
        Centre of the cylinder, in the frame of b.
    size : [m], > 0
        Typical gap, for tolerances only.
    contact : the contact law

    Raises
    ------
    ModelError
        If a number is out of its range, a direction is zero, or the number of points is 1, 2 or negative.
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

    def _points(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> list[ca.SX]:
        axis = unit(p.axis)
        ends = [p.at_b + sign * p.length / 2 * axis for _, sign in ENDS]
        if self.points == 0:
            normal, along = self._normal(a, p), b.rotate(axis)
            across = normal - ca.dot(normal, along) * along
            length = ca.sqrt(ca.fmax(ca.dot(across, across), NOWHERE**2))  # of an upright cylinder: no direction
            return [b.point(end) - p.radius * across / length for end in ends]
        t1, t2 = tangents(axis)
        angles = [2 * math.pi * i / self.points for i in range(self.points)]
        return [b.point(end + p.radius * (math.cos(x) * t1 + math.sin(x) * t2)) for end in ends for x in angles]

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        """Geometry of a rolling cylinder, with half of its length at each end; points have none."""
        if self.points:
            return {}
        return {"radius": p.radius, "effective_radius": p.radius, "length": p.length / 2}

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        wall, centre = self.spots(p)
        cylinder = Cylinder(centre, vector(p.axis), p.radius, p.length)
        return (cylinder, Wall(wall, vector(p.normal), near=centre, radius=p.radius))
