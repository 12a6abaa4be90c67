"""Joints with clearance: sets of contacts between two bodies.

Between round parts c is the radial clearance and e the vector, in the ground frame, from the centre of the
outer part to that of the inner one, perpendicular to the axis where there is one. The gap is c - |e|; the equations use
``(c^2 - e.e) / (2 c)``, which has the same root and the same slope there, and is smooth where the centres coincide; its
direction is -e/c, a unit vector at contact. The outer part belongs to body a, the inner one to body b.

Points and axes are given in the frames of the bodies; of two parts of different length the shorter one, named by
`ends`, bounds the engagement. For clearance in some directions only, ideal constraints are added in the others, such as
`ParallelAxes` for axes.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.contacts import ENDS, NOWHERE, Contact, Touches, around, check_points, rim_labels
from nonsmooth.model.drawing import Bearing, Guide, Primitive, vector
from nonsmooth.model.elements import ORIGIN, SPACE, _PlanarOrSpatial
from nonsmooth.model.frames import SpatialPlacement, cross, unit
from nonsmooth.model.joints import (
    BodyRef,
    Cylindrical,
    Direction,
    Joint,
    ParallelAxes,
    PointOnLine,
    Prismatic,
    Revolute,
    Spherical,
    _OfTwo,
)  # fmt: skip
from nonsmooth.quantities import Point, PositiveLength, Quantity
from nonsmooth.settings import shown

SIDES = (("low", -1), ("high", 1))
#: walls of a rectangular guide: across the height, then across the width
WALLS = ("height_low", "height_high", "width_low", "width_high")


def distance(e: ca.SX) -> ca.SX:
    """abs(e), with finite derivatives where the centres coincide."""
    return ca.sqrt(ca.fmax(ca.dot(e, e), NOWHERE**2))


class Section(NamedTuple):
    """One gap: that of the equations, the distance, and for each of both the point and the normal from a towards b."""

    gap: ca.SX
    true_gap: ca.SX
    touch: tuple[ca.SX, ca.SX]
    true_touch: tuple[ca.SX, ca.SX]


def circle(centre: ca.SX, e: ca.SX, clearance: ca.SX, arm: ca.SX, side: int) -> Section:
    """A round section of the inner part if `side` is +1, of the outer one if -1: its centre, and its radius `arm`; e
    leads from the outer part's centre to the inner one's."""
    length, smooth = distance(e), e / clearance
    outward, half = e / length, (length - clearance) / 2  # the true point lies half way between overlapping surfaces
    gap = (clearance**2 - ca.dot(e, e)) / (2 * clearance)
    touches = (centre + arm * smooth, -smooth), (centre + (arm - side * half) * outward, -outward)
    return Section(gap, clearance - length, *touches)


def centres(a: Any, b: Any, p: SimpleNamespace) -> Section:
    """The section of a ball in a socket, or of a journal in a bearing of the plane."""
    centre = b.point(p.at_b)
    return circle(centre, centre - a.point(p.at_a), p.clearance, getattr(p, "radius", 0.0), 1)


def plane(gap: ca.SX, point: ca.SX, normal: ca.SX) -> Section:
    """A point of one body opposite a plane of the other, whose unit normal points from a towards b."""
    return Section(gap, gap, (point, normal), (point, normal))


def sections(length: Any, parallel: bool) -> tuple[Any, ...]:
    """Places along the axis of the circles of a journal of `length` [m], from its middle [m]."""
    return (0.0,) if parallel else tuple(sign * length / 2 for _, sign in ENDS)


def end_circles(
    a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace, ends: str, offsets: Sequence[ca.SX]
) -> list[Section]:
    """Sections of the part named by `ends` at `offsets` [m] along its axis; e is perpendicular to the other's axis."""
    radius = getattr(p, "radius", 0.0)
    circles = []
    for offset in offsets:
        if ends == "journal":
            centre, axis = b.point(p.at_b + offset * unit(p.axis_b)), a.rotate(unit(p.axis_a))
            e, arm, side = centre - a.point(p.at_a), radius, 1
        else:
            centre, axis = a.point(p.at_a + offset * unit(p.axis_a)), b.rotate(unit(p.axis_b))
            e, arm, side = b.point(p.at_b) - centre, radius + p.clearance, -1
        circles.append(circle(centre, e - ca.dot(axis, e) * axis, p.clearance, arm, side))
    return circles


@dataclass(frozen=True, eq=False)
class Clearance(Contact):
    """Base of joints with clearance."""

    clearance: PositiveLength = field(kw_only=True)
    size_label = "clearance"
    #: field with the joint's own size, which a reasonable clearance does not exceed
    bearing: ClassVar[str] = ""

    def ideal(self) -> Joint:
        """The ideal joint that replaces it, with the same name, bodies, points and axes."""
        raise TypeError(f"{type(self).__name__} has no ideal joint in its place.")

    def check_ends(self, ends: str, accepted: tuple[str, str]) -> None:
        """Raise ModelError unless `ends` names one of the two parts."""
        if ends not in accepted:
            raise self.error(f'ends must be "{accepted[0]}" or "{accepted[1]}", the shorter part, got {shown(ends)}.')


@dataclass(frozen=True, eq=False)
class _BySections(Clearance):
    """Base of clearances in space that are made of circles, and of points opposite planes."""

    def _sections(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Sequence[Section]:
        """The section of each gap."""
        raise TypeError(f"{type(self).__name__} has no sections.")

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(*(section.gap for section in self._sections(a, b, p)))

    def true_gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(*(section.true_gap for section in self._sections(a, b, p)))

    def touches(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Touches:
        return [section.touch for section in self._sections(a, b, p)]

    def true_touches(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Touches:
        return [section.true_touch for section in self._sections(a, b, p)]


@dataclass(frozen=True, eq=False)
class _Round(_OfTwo, _BySections):
    """Base of clearances between round parts: the outer one belongs to body a, the inner one to body b."""

    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    radius: PositiveLength | None = field(default=None, kw_only=True)
    bearing = "radius"

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        friction = max(numbers.get(label, 0.0) for label in ("friction", "static_friction"))
        if friction > 0 and self.radius is None:
            raise self.error(f"friction {friction:g} acts on the journal's surface, so give its radius.")

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        """Geometry of a ball in a ball, or a cylinder in a cylinder; the effective radius is R_i R_j / (R_i - R_j)."""
        found = {"clearance": p.clearance}
        if hasattr(p, "radius"):
            found |= {"radius": p.radius, "effective_radius": p.radius * (p.radius + p.clearance) / p.clearance}
        return found

    def parallel_axes(self) -> ParallelAxes:
        """The ideal constraints that keep the axes parallel in space, under the name ``<name>_axes``."""
        axes = {name: getattr(self, name) for name in ("axis_a", "axis_b")}
        if None in axes.values():
            raise self.error("parallel_axes() is for space; give axis_a and axis_b, or leave it out.")
        return ParallelAxes(f"{self.name}_axes", self.a, self.b, **axes)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        (a, b), radius = self.spots(p), getattr(p, "radius", 0.0)
        if not hasattr(p, "axis_a"):
            return (Bearing(a, b, p.clearance, radius),)
        at = sections(p.length, getattr(self, "parallel"))  # noqa: B009  (of those in space)
        axes = (vector(p.axis_a), vector(p.axis_b))
        return (Bearing(a, b, p.clearance, radius, p.length, *axes, at, getattr(self, "ends", "") == "sleeve"),)


@dataclass(frozen=True, eq=False)
class RevoluteClearance(_PlanarOrSpatial, _Round):
    """Journal (body b) in a bearing (body a) with radial clearance c.

    The gap is c - |e| with e from the bearing's centre to the journal's; the equations use
    ``g_N = (c^2 - e.e) / (2c)``, which differs by (c - |e|)^2 / (2c).

    In space (with axes) the joint also has axial clearance s. Its gaps are those of the two circles at the ends of the
    engaged length L, ``radial_back`` and ``radial_front``, as in `CylindricalClearance` and with the validity stated
    there, and those of `points` fixed points on the rim of each end to a collar of the other part, ``axial_back_1``,
    ``g_N = L/2 + s -+ u . (r_point - r_centre)`` with u the axis of the part that has the collars. ``back`` and
    ``front`` are the ends of the shorter part on the negative and the positive side of its axis. One law applies to all
    gaps, with the geometry of the journal in its bearing. Without collars, use `CylindricalClearance`.

    With ``parallel=True`` one circle, ``radial``, and the centres of the two ends, ``axial_back`` and ``axial_front``,
    remain, for axes that are kept parallel by ``parallel_axes()``, an ideal joint to be added to the clearance.
    Friction at a collar then acts on the axis and has no moment about it.

    Parameters
    ----------
    clearance, contact : c [m], > 0, difference of the radii; the contact law
    at_a, at_b : [m], centre of the bearing in the frame of a, of the journal in the frame of b
    radius : [m], optional
        Radius of the journal; required for friction and cylindrical laws, and in space for the rims unless
        `collar_radius` is given.
    length : [m], optional
        Length of the bearing, for cylindrical laws; required in space, the length of the shorter part.
    axis_a, axis_b : [-], optional
        Axes of the bearing in the frame of a and of the journal in the frame of b, of any length, in the same sense;
        with them the joint is spatial.
    axial_clearance : s [m], > 0, axial clearance on each side; in space only, and required there
    collar_radius : [m], > 0, optional, radius of the rims that touch the collars; `radius` if omitted. In space only
    points : >= 3, number of points on each rim. In space only
    ends : "journal" or "sleeve"
        The shorter part, to which circles and rims belong; the other one has the collars. In space only.
    parallel : bool, whether the axes are kept parallel by ideal constraints. In space only
    """

    length: PositiveLength | None = field(default=None, kw_only=True)
    axis_a: Direction | None = field(default=None, kw_only=True)
    axis_b: Direction | None = field(default=None, kw_only=True)
    axial_clearance: PositiveLength | None = field(default=None, kw_only=True)
    collar_radius: PositiveLength | None = field(default=None, kw_only=True)
    points: int = field(default=4, kw_only=True)
    ends: Literal["journal", "sleeve"] = field(default="journal", kw_only=True)
    parallel: bool = field(default=False, kw_only=True)
    in_space = "axis_a and axis_b"

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        self.check_ends(self.ends, ("journal", "sleeve"))
        check_points(self, self.points, least=3)
        if not self.spatial:
            if self.axial_clearance is not None or self.collar_radius is not None or self.parallel:
                raise self.error("axial_clearance, collar_radius and parallel are for space; give the axes too.")
            return
        if self.length is None or self.axial_clearance is None:
            raise self.error("in space it needs length and axial_clearance; without collars, use CylindricalClearance.")
        if not self.parallel and self.radius is None and self.collar_radius is None:
            raise self.error("its rims need a radius in space: give radius or collar_radius.")

    @property
    def gap_labels(self) -> tuple[str, ...]:  # type: ignore[override]
        if not self.spatial:
            return ("",)
        radial = ("radial",) if self.parallel else tuple(f"radial_{end}" for end, _ in ENDS)
        return radial + rim_labels(0 if self.parallel else self.points, "axial_")

    def _sections(self, a: Any, b: Any, p: SimpleNamespace) -> Sequence[Section]:
        if not self.spatial:
            return [centres(a, b, p)]
        found = end_circles(a, b, p, self.ends, sections(p.length, self.parallel))
        # rim points, or the centres of the ends, opposite collars of the other part at L/2 + s from its centre
        of_journal, radius = self.ends == "journal", getattr(p, "collar_radius", getattr(p, "radius", 0.0))
        rim, at_rim, axis_rim = (b, p.at_b, p.axis_b) if of_journal else (a, p.at_a, p.axis_a)
        other, at_other, axis_other = (a, p.at_a, p.axis_a) if of_journal else (b, p.at_b, p.axis_b)
        along, axis = unit(axis_rim), other.rotate(unit(axis_other))
        offsets = [ca.DM.zeros(3)] if self.parallel else around(along, radius, self.points)
        for _, sign in ENDS:
            for offset in offsets:
                point = rim.point(at_rim + sign * p.length / 2 * along + offset)
                gap = p.length / 2 + p.axial_clearance - sign * ca.dot(axis, point - other.point(at_other))
                found.append(plane(gap, point, -sign * axis if of_journal else sign * axis))
        return found

    def ideal(self) -> Joint:
        """`Revolute`; with ``parallel=True`` its points alone, `Spherical`, to go with `parallel_axes()`."""
        if self.parallel:
            return Spherical(self.name, self.a, self.b, self.at_a, self.at_b)
        return Revolute(self.name, self.a, self.b, self.at_a, self.at_b, self.axis_a, self.axis_b)

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        return super().geometry(p) | ({"length": p.length} if hasattr(p, "length") else {})

    def slip(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """In the plane along e / c rotated by 90 degrees, a unit vector at contact.

        The moment arms differ by e.e / c, so that friction conserves angular momentum also if a scheme leaves a gap.
        """
        if self.spatial:
            return super().slip(a, b, p)
        e = (b.point(p.at_b) - a.point(p.at_a)) / p.clearance
        gap, radius = self.gaps(a, b, p), getattr(p, "radius", 0.0)
        return self._slip(e, radius + gap, radius + p.clearance - gap, a, b, p)

    def true_slip(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """At one point half way between the surfaces, so that friction conserves angular momentum."""
        if self.spatial:
            return super().true_slip(a, b, p)
        e = b.point(p.at_b) - a.point(p.at_a)
        length, radius = distance(e), getattr(p, "radius", 0.0)
        half = (length - p.clearance) / 2
        return self._slip(e / length, radius - half, radius + p.clearance + half, a, b, p)

    @staticmethod
    def _slip(n: ca.SX, arm_b: ca.SX, arm_a: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """Slip of points on the line of centres, `arm_b` from the journal's and `arm_a` from the bearing's centre."""
        centres = b.point_velocity(p.at_b) - a.point_velocity(p.at_a)
        return cross(n, centres) + arm_b * b.twist[2] - arm_a * a.twist[2]


@dataclass(frozen=True, eq=False)
class PrismaticClearance(Clearance):
    """Slider of finite length between two parallel walls of a guide, with clearance c on each side.

    With y the offset of the slider's centre from the guide's axis and theta its angle to it, a the slider's half length
    and H its height, the four corners have the signed gaps ::

        lower:  c + (y -+ a sin(theta)) - (H/2)(cos(theta) - 1)        (- left end, + right end)
        upper:  c - (y -+ a sin(theta)) - (H/2)(cos(theta) - 1)

    The normal is fixed in the guide; the angle between the bodies is free, its limit, asin(c/a) for H = 0, follows from
    the gaps. They are valid while both ends of the slider are between the walls: the ends of the guide are not
    modelled.

    Parameters
    ----------
    guide, slider : the two bodies
    length : 2a [m], > 0, length of the slider, along its own x axis
    height : H [m], >= 0, height of the slider; the walls are at H/2 + c from the axis
    clearance : c [m], > 0, clearance on each side of the centred, aligned slider
    contact : the contact law
    at_guide, at_slider : [m]
        A point of the guide's axis in the frame of the guide, the slider's centre in its own frame.
    direction : [rad], angle of the guide's axis in the frame of the guide
    """

    guide: BodyRef
    slider: BodyRef
    length: PositiveLength = field(kw_only=True)
    height: Annotated[float, Quantity("m", nonnegative=True)] = field(default=0.0, kw_only=True)
    at_guide: Point = field(default=ORIGIN, kw_only=True)
    at_slider: Point = field(default=ORIGIN, kw_only=True)
    direction: Annotated[float, Quantity("rad")] = field(default=0.0, kw_only=True)
    body_fields = ("guide", "slider")
    bearing = "length"
    gap_labels = ("left_lower", "left_upper", "right_lower", "right_upper")

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        cosine, sine = ca.cos(p.direction), ca.sin(p.direction)
        offset = a.unrotate(b.point(p.at_slider) - a.point(p.at_guide))
        axis = a.unrotate(ca.vertcat(b.cosine, b.sine))
        y = cosine * offset[1] - sine * offset[0]
        tilt_sine = cosine * axis[1] - sine * axis[0]
        tilt_cosine = cosine * axis[0] + sine * axis[1]
        left, right = y - p.length / 2 * tilt_sine, y + p.length / 2 * tilt_sine
        room = p.clearance - p.height / 2 * (tilt_cosine - 1)
        return ca.vertcat(room + left, room - left, room + right, room - right)

    def slip(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """Along the guide's axis, at the slider's corners."""
        axis = a.rotate(ca.vertcat(ca.cos(p.direction), ca.sin(p.direction)))
        half, top = p.length / 2, p.height / 2
        slips = []
        for x, y in ((-half, -top), (-half, top), (half, -top), (half, top)):
            corner = p.at_slider + ca.vertcat(x, y)
            slips.append(ca.dot(axis, b.point_velocity(corner) - a.velocity_at(b.point(corner))))
        return ca.vertcat(*slips)

    def ideal(self) -> Prismatic:
        at = self.at_guide, self.at_slider
        return Prismatic(self.name, self.guide, self.slider, self.direction, *at, self.direction)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        (guide, slider), cosine, sine = self.spots(p), math.cos(p.direction), math.sin(p.direction)
        return (
            Guide(
                guide, slider, p.length, p.height, p.clearance, along=(cosine, sine), across=(-sine, cosine),
                along_b=(1.0, 0.0), across_b=(0.0, 1.0),
            ),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SphericalClearance(_Round):
    """Ball (body b) in a socket (body a) with radial clearance c.

    The gap is c - |e| with e from the socket's centre to the ball's; the equations use ``g_N = (c^2 - e.e) / (2c)``,
    which differs by (c - |e|)^2 / (2c). Exact for a socket that encloses the ball.

    Parameters
    ----------
    a, b : body with the socket, body with the ball
    clearance, contact : c [m], > 0, difference of the radii; the contact law
    at_a, at_b : [m], centre of the socket in the frame of a, of the ball in the frame of b
    radius : r [m], optional, radius of the ball; required for friction and Hertzian laws

    >>> from nonsmooth import Rigid
    >>> smooth = Rigid(restitution=0.0, friction=0.0)
    >>> type(SphericalClearance("ball", "rod", "arm", clearance=1e-4, contact=smooth).ideal()).__name__
    'Spherical'
    """

    at_a: Point = field(default=SPACE, kw_only=True)
    at_b: Point = field(default=SPACE, kw_only=True)
    dimensions = (3,)

    def _sections(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Sequence[Section]:
        return [centres(a, b, p)]

    def ideal(self) -> Spherical:
        return Spherical(self.name, self.a, self.b, self.at_a, self.at_b)


@dataclass(frozen=True, eq=False)
class CylindricalClearance(_Round):
    """Journal (body b) in a sleeve (body a) with radial clearance c, free to slide and to turn.

    The two circles at the ends of the engaged length L touch the other part. With e_i the offset of a circle's centre
    from the other part's axis, perpendicular to that axis, the gaps ``back`` and ``front`` are c - |e_i|. Exact for
    parallel axes; for a tilt theta the projection of the tilted circle is replaced by its circumscribed circle, so that
    the gap is too small by at most ``r theta^2 / 2 <= 2 r c^2 / L^2``. The engaged length is constant: the shorter part
    must stay within the longer one.

    With ``parallel=True`` one circle in the middle of L remains, for axes that are kept parallel by
    ``parallel_axes()``, an ideal joint to be added to the clearance.

    Parameters
    ----------
    a, b : body with the sleeve, body with the journal
    clearance : c [m], > 0, difference of the radii
    length : L [m], > 0, engaged length, that of the shorter part
    axis_a, axis_b : [-]
        Of the sleeve in the frame of a, of the journal in the frame of b; of any length, in the same sense.
    contact : the contact law
    at_a, at_b : [m], a point of the sleeve's axis, a point of the journal's; that of the shorter part is its middle
    radius : r [m], optional, radius of the journal; required for friction and cylindrical laws
    ends : "journal" or "sleeve", the shorter part, to which the circles belong
    parallel : bool, whether the axes are kept parallel by ideal constraints
    """

    at_a: Point = field(default=SPACE, kw_only=True)
    at_b: Point = field(default=SPACE, kw_only=True)
    length: PositiveLength = field(kw_only=True)
    axis_a: Direction = field(kw_only=True)
    axis_b: Direction = field(kw_only=True)
    ends: Literal["journal", "sleeve"] = field(default="journal", kw_only=True)
    parallel: bool = field(default=False, kw_only=True)
    dimensions = (3,)

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        self.check_ends(self.ends, ("journal", "sleeve"))

    @property
    def gap_labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("",) if self.parallel else tuple(end for end, _ in ENDS)

    def _sections(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Sequence[Section]:
        return end_circles(a, b, p, self.ends, sections(p.length, self.parallel))

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        """Geometry of a cylinder in a cylinder; each circle represents its share of the length."""
        return super().geometry(p) | {"length": p.length / len(self.gap_labels)}

    def ideal(self) -> Joint:
        """`Cylindrical`; with ``parallel=True`` the offsets alone, `PointOnLine`, to go with `parallel_axes()`."""
        if self.parallel:
            return PointOnLine(self.name, self.a, self.b, self.at_a, self.at_b, axis_a=self.axis_a)
        axes = {"axis_a": self.axis_a, "axis_b": self.axis_b}
        return Cylindrical(self.name, self.a, self.b, self.at_a, self.at_b, **axes)


@dataclass(frozen=True, eq=False)
class SpatialPrismaticClearance(_BySections):
    """Rectangular slide of finite length in a rectangular guide, with clearance on each of its four sides.

    Each of the eight corners of the slide, of length l along the axis, height h and width w across it, has gaps to the
    two walls that it can reach: 16 gaps. With r_i the vector from the guide's axis to the corner, y the direction of
    the height, z that of the width and sigma = -1, +1 the side ::

        height walls:  g_N = h/2 + c_h - sigma y . r_i,     width walls:  g_N = w/2 + c_w - sigma z . r_i

    Exact for any tilt while the corners stay within the guide. Labels are wall, end and side, as
    ``height_low_back_high``: the lower height wall, the back end, the upper width side; from them
    `nonsmooth.diagnostics.signatures` derives whether points, lines or planes are in contact.

    If the guide is shorter than the slide (``ends="guide"``), l is its length, and its edges touch the four faces of
    the slide, at the points opposite the edges of the aligned slide, with an error of the clearance times the tilt.
    With ``every_wall=True`` each corner has gaps to all four walls, 32 in total, for a thin slide that may turn over.

    Parameters
    ----------
    guide, slider : the two bodies
    length : l [m], > 0, of the shorter one of slide and guide
    height, width : h, w [m], > 0, of the slide
    clearance : c_h [m], > 0, on each side across the height
    side_clearance : c_w [m], > 0, optional, on each side across the width; `clearance` if omitted
    contact : the contact law
    at_guide, at_slider : [m]
        A point of the guide's axis in the frame of the guide, the slide's centre in its own frame; with
        ``ends="guide"`` the guide's centre and a point of the slide's axis.
    axis_guide, axis_slider : [-], of the length, in the frame of each body, of any length
    across_guide, across_slider : [-]
        Direction of the height, in the frame of each body; its component along the axis is ignored.
    ends : "slider" or "guide", the shorter one, to which the corners belong
    every_wall : bool, whether each corner has gaps to all four walls; with ``ends="slider"`` only
    """

    guide: BodyRef
    slider: BodyRef
    length: PositiveLength = field(kw_only=True)
    height: PositiveLength = field(kw_only=True)
    width: PositiveLength = field(kw_only=True)
    side_clearance: PositiveLength | None = field(default=None, kw_only=True)
    at_guide: Point = field(default=SPACE, kw_only=True)
    at_slider: Point = field(default=SPACE, kw_only=True)
    axis_guide: Direction = field(default=(1.0, 0.0, 0.0), kw_only=True)
    across_guide: Direction = field(default=(0.0, 1.0, 0.0), kw_only=True)
    axis_slider: Direction = field(default=(1.0, 0.0, 0.0), kw_only=True)
    across_slider: Direction = field(default=(0.0, 1.0, 0.0), kw_only=True)
    ends: Literal["slider", "guide"] = field(default="slider", kw_only=True)
    every_wall: bool = field(default=False, kw_only=True)
    body_fields = ("guide", "slider")
    dimensions = (3,)
    bearing = "length"

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        self.check_ends(self.ends, ("slider", "guide"))
        for body in self.body_fields:
            axis, across = (np.array([numbers[f"{k}_{body}_{i}"] for i in "xyz"]) for k in ("axis", "across"))
            if np.linalg.norm(np.cross(axis, across)) <= 1e-9 * np.linalg.norm(axis) * np.linalg.norm(across):
                raise self.error(f"across_{body} must not be along axis_{body}, got {tuple(across.tolist())}.")
        if self.every_wall and self.ends == "guide":
            raise self.error('every_wall=True needs corners of the slide, ends="slider".')

    def _corners(self) -> list[tuple[str, int, int, int, int]]:
        """For each gap its label, wall (0 height, 1 width), and the signs of wall, end, and side along the wall."""
        found = []
        for wall, (name, sign) in itertools.product((0, 1), SIDES):
            for (end, at_end), (side, at_side) in itertools.product(ENDS, SIDES):
                found.append((f"{('height', 'width')[wall]}_{name}_{end}_{side}", wall, sign, at_end, at_side))
        return found

    @property
    def gap_labels(self) -> tuple[str, ...]:  # type: ignore[override]
        labels = tuple(label for label, *_ in self._corners())
        return labels + tuple(f"{label}_far" for label in labels) if self.every_wall else labels

    def _sections(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Sequence[Section]:
        plays = (p.clearance, getattr(p, "side_clearance", p.clearance))
        halves, half = (p.height / 2, p.width / 2), p.length / 2
        frame_a, frame_b = (ca.horzcat(*_frame(p, body)) for body in self.body_fields)
        planes = []
        for own_side in (1, -1)[: 1 + self.every_wall]:  # -1: the corners of the opposite side
            for _, wall, sign, at_end, at_side in self._corners():
                play, reach, beside = plays[wall], halves[wall], at_side * halves[1 - wall]
                across = own_side * sign * reach if self.ends == "slider" else sign * (reach + play)
                corner = ca.vertcat(half * at_end, *((across, beside) if wall == 0 else (beside, across)))
                if self.ends == "slider":
                    normal, point = a.rotate(frame_a[:, 1 + wall]), b.point(p.at_slider + frame_b @ corner)
                    gap = reach + play - sign * ca.dot(normal, point - a.point(p.at_guide))
                else:
                    normal, point = b.rotate(frame_b[:, 1 + wall]), a.point(p.at_guide + frame_a @ corner)
                    gap = sign * ca.dot(normal, point - b.point(p.at_slider)) - reach
                planes.append(plane(gap, point, -sign * normal))
        return planes

    def ideal(self) -> Prismatic:
        """`Prismatic` along the guide's axis, with slide and guide aligned."""
        frames = [_numeric_frame(getattr(self, f"axis_{x}"), getattr(self, f"across_{x}")) for x in self.body_fields]
        R, K = frames[0] @ frames[1].T, np.empty((4, 4))
        # the quaternion is the eigenvector of Bar-Itzhack's symmetric matrix for the eigenvalue 3
        K[0, 0] = np.trace(R)
        K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
        K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
        found = np.linalg.eigh(K)[1][:, -1]
        w, x, y, z = (math.copysign(1.0, found[0]) * found).tolist()
        return Prismatic(
            self.name, self.guide, self.slider, at_a=self.at_guide, at_b=self.at_slider, axis_a=self.axis_guide,
            quaternion=(w, x, y, z),
        )  # fmt: skip

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        guide, slider = self.spots(p)
        frames = [_numeric_frame(getattr(p, f"axis_{x}"), getattr(p, f"across_{x}")) for x in self.body_fields]
        along, across, along_b, across_b = (vector(frame[:, i]) for frame in frames for i in (0, 1))
        side_clearance = getattr(p, "side_clearance", p.clearance)
        if self.ends == "guide":  # the shorter part, whose edges touch, is drawn as the block
            guide, slider, along, across, along_b, across_b = slider, guide, along_b, across_b, along, across
        return (
            Guide(guide, slider, p.length, p.height, p.clearance, along, across, along_b, across_b, p.width,
                  side_clearance),
        )  # fmt: skip


def _frame(p: SimpleNamespace, body: str) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Unit vectors of length, height and width in the frame of the body."""
    axis, across = unit(getattr(p, f"axis_{body}")), getattr(p, f"across_{body}")
    height = unit(across - ca.dot(axis, across) * axis)
    return axis, height, ca.cross(axis, height)


def _numeric_frame(axis: Direction | Array, across: Direction | Array) -> Array:
    x = np.array(axis, dtype=float) / np.linalg.norm(axis)
    y = np.array(across, dtype=float)
    y = y - (x @ y) * x
    y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])
