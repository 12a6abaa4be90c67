"""Joints with clearance: sets of contacts between two bodies.

Between round parts in space c is the radial clearance and e the vector, in the ground frame, from the centre of the
outer part to that of the inner one, perpendicular to the axis where there is one. The gap is c - |e|; the equations use
``(c^2 - e.e) / (2 c)``, which has the same root and the same slope there, and is smooth where the centres coincide; its
direction is -e/c, a unit vector at contact. The outer part belongs to body a, the inner one to body b.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import casadi as ca

from nonsmooth.model.contacts import Contact, Touches, check_points
from nonsmooth.model.drawing import Bearing, Guide, Primitive, vector
from nonsmooth.model.elements import ORIGIN, _PlanarOrSpatial
from nonsmooth.model.frames import PlanarPlacement, SpatialPlacement, tangents
from nonsmooth.model.joints import BodyRef, Direction, Joint, ParallelAxes, Prismatic, Revolute, Spherical
from nonsmooth.model.rows import unit
from nonsmooth.quantities import Point, PositiveLength, Quantity

#: distance of centres [m] below which a line of centres has no direction
NOWHERE = 1e-30
ENDS = (("back", -1), ("front", 1))


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
    """A round section of one part in the other.

    Parameters
    ----------
    centre : (3,) [m]
        Of the section, in the ground frame, on the axis of the part that it belongs to.
    e : (3,) [m]
        From the outer part's centre to the inner one's.
    arm : [m]
        Radius of the part to which the section belongs: distance of its surface from `centre`, along e.
    side : +1 or -1
        +1 if the section belongs to the inner part, -1 if to the outer one.
    """
    length, smooth = distance(e), e / clearance
    outward, half = e / length, (length - clearance) / 2  # the true point lies half way between overlapping surfaces
    gap = (clearance**2 - ca.dot(e, e)) / (2 * clearance)
    touches = (centre + arm * smooth, -smooth), (centre + (arm - side * half) * outward, -outward)
    return Section(gap, clearance - length, *touches)


def plane(gap: ca.SX, point: ca.SX, normal: ca.SX) -> Section:
    """A point of one body opposite a plane of the other, whose unit normal points from a towards b."""
    return Section(gap, gap, (point, normal), (point, normal))


def sections(length: Any, parallel: bool) -> tuple[Any, ...]:
    """Where along the axis the circles of a journal of `length` [m] are, from its middle [m]."""
    return (0.0,) if parallel else tuple(sign * length / 2 for _, sign in ENDS)


def end_circles(
    a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace, ends: str, offsets: Sequence[ca.SX]
) -> list[Section]:
    """Sections of a journal of b in a sleeve of a at `offsets` [m] along the axis of the part that bounds them.

    With ``ends="journal"`` they belong to the journal and e is perpendicular to the sleeve's axis, with "sleeve" they
    belong to the sleeve and e is perpendicular to the journal's axis.
    """
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


def collars(
    a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace, ends: str, radius: ca.SX, points: int
) -> list[Section]:
    """Rim points of the part of length L that bounds the engagement, opposite two collars of the other part.

    The collars are at L/2 + s from the other part's centre. There are `points` points on each rim of this radius, or
    for 0 points the centre of each end; the back end is first.
    """
    of_journal = ends == "journal"
    rim, at_rim, axis_rim = (b, p.at_b, p.axis_b) if of_journal else (a, p.at_a, p.axis_a)
    other, at_other, axis_other = (a, p.at_a, p.axis_a) if of_journal else (b, p.at_b, p.axis_b)
    along, axis = unit(axis_rim), other.rotate(unit(axis_other))
    around = [ca.DM.zeros(3)]
    if points:
        t1, t2 = tangents(along)
        angles = [2 * math.pi * i / points for i in range(points)]
        around = [radius * (math.cos(angle) * t1 + math.sin(angle) * t2) for angle in angles]
    planes = []
    for _, sign in ENDS:
        for offset in around:
            point = rim.point(at_rim + sign * p.length / 2 * along + offset)
            gap = p.length / 2 + p.axial_clearance - sign * ca.dot(axis, point - other.point(at_other))
            planes.append(plane(gap, point, -sign * axis if of_journal else sign * axis))
    return planes


def rim_labels(points: int, prefix: str = "") -> tuple[str, ...]:
    """Labels of rim points, back end first; of the ends alone for 0 points."""
    if not points:
        return tuple(f"{prefix}{end}" for end, _ in ENDS)
    return tuple(f"{prefix}{end}_{i + 1}" for end, _ in ENDS for i in range(points))


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
            raise self.error(f'ends must be "{accepted[0]}" or "{accepted[1]}", the shorter part, got {ends!r}.')


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
class _Round(_BySections):
    """Base of clearances between round parts: the outer one belongs to body a, the inner one to body b."""

    a: BodyRef
    b: BodyRef
    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    radius: PositiveLength | None = field(default=None, kw_only=True)

    body_fields = ("a", "b")
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

    With e the vector from the bearing's centre to the journal's, the gap is c - |e|. The equations use
    ``g_N = (c^2 - e.e) / (2c)``, which has the same zero and there the same slope, differs by (c - |e|)^2 / (2c), and
    is smooth where the centres coincide.

    In space (with axes) the joint also has axial clearance s. Its gaps are those of the two circles at the ends of the
    engaged length L, ``radial_back`` and ``radial_front``, as in `CylindricalClearance` and with the validity stated
    there, and those of `points` points on the rim of each end to a collar of the other part, ``axial_back_1``, ...::

        g_N = L/2 + s -+ u . (r_point - r_centre)      with u the axis of the part that has the collars

    ``back`` and ``front`` are the ends of the shorter part on the negative and the positive side of its axis.

    The points are fixed on the rim, since a disc parallel to a plane has no lowest point; between them the rim extends
    beyond the polygon by ``radius (1 - cos(pi / points))`` times the tilt. Without collars, use `CylindricalClearance`.
    One law applies to all gaps, with the geometry of the journal in its bearing.

    With ``parallel=True`` one circle, ``radial``, and the centres of the two ends, ``axial_back`` and ``axial_front``,
    remain, for axes that are kept parallel by ``parallel_axes()``, an ideal joint to be added to the clearance.
    Friction at a collar then acts on the axis and has no moment about it.

    Parameters
    ----------
    clearance : c [m], > 0
        Difference of the radii.
    contact : the contact law
    at_a, at_b : [m]
        Centre of the bearing in the frame of a, of the journal in the frame of b.
    radius : [m], optional
        Radius of the journal; required for friction and cylindrical laws, and in space for the rims unless
        `collar_radius` is given.
    length : [m], optional
        Length of the bearing, for cylindrical laws; required in space, the length of the shorter part.
    axis_a, axis_b : [-], optional
        Axes of the bearing in the frame of a and of the journal in the frame of b, of any length, in the same sense;
        with them the joint is spatial.
    axial_clearance : s [m], > 0
        Axial clearance on each side; in space only, and required there.
    collar_radius : [m], > 0, optional
        Radius of the rims that touch the collars; `radius` if omitted. In space only.
    points : >= 3
        Number of points on each rim. In space only.
    ends : "journal" or "sleeve"
        The shorter part, to which circles and rims belong; the other one has the collars. In space only.
    parallel : bool
        Whether the axes are kept parallel by ideal constraints. In space only.

    Raises
    ------
    ModelError
        If a number is out of range, there is friction but no radius, or planar and spatial fields are mixed.
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

    def _sections(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Sequence[Section]:
        radius = getattr(p, "collar_radius", getattr(p, "radius", 0.0))
        circles = end_circles(a, b, p, self.ends, sections(p.length, self.parallel))
        return [*circles, *collars(a, b, p, self.ends, radius, 0 if self.parallel else self.points)]

    def _eccentricity(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return b.point(p.at_b) - a.point(p.at_a)

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        if self.spatial:
            return super().gaps(a, b, p)
        e = self._eccentricity(a, b, p)
        return (p.clearance**2 - ca.dot(e, e)) / (2 * p.clearance)

    def true_gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return super().true_gaps(a, b, p) if self.spatial else p.clearance - distance(self._eccentricity(a, b, p))

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
        e = self._eccentricity(a, b, p) / p.clearance
        gap, radius = self.gaps(a, b, p), getattr(p, "radius", 0.0)
        return self._slip(e, radius + gap, radius + p.clearance - gap, a, b, p)

    def true_slip(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        """At one point half way between the surfaces, so that friction conserves angular momentum."""
        if self.spatial:
            return super().true_slip(a, b, p)
        e = self._eccentricity(a, b, p)
        length, radius = distance(e), getattr(p, "radius", 0.0)
        half = (length - p.clearance) / 2
        return self._slip(e / length, radius - half, radius + p.clearance + half, a, b, p)

    def _slip(
        self, n: ca.SX, arm_b: ca.SX, arm_a: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace
    ) -> ca.SX:
        """Slip of points on the line of centres, `arm_b` from the journal's and `arm_a` from the bearing's centre."""
        centres = b.point_velocity(p.at_b) - a.point_velocity(p.at_a)
        return (n[0] * centres[1] - n[1] * centres[0]) + arm_b * b.twist[2] - arm_a * a.twist[2]


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
    length : 2a [m], > 0
        Length of the slider, along its own x axis.
    height : H [m], >= 0
        Height of the slider; the walls are at H/2 + c from the axis.
    clearance : c [m], > 0
        Clearance on each side of the centred, aligned slider.
    contact : the contact law
    at_guide, at_slider : [m]
        A point of the guide's axis in the frame of the guide, the slider's centre in its own frame.
    direction : [rad]
        Angle of the guide's axis in the frame of the guide.
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

    def gaps(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        cosine, sine = ca.cos(p.direction), ca.sin(p.direction)
        offset = a.unrotate(b.point(p.at_slider) - a.point(p.at_guide))
        axis = a.unrotate(ca.vertcat(b.cosine, b.sine))
        y = cosine * offset[1] - sine * offset[0]
        tilt_sine = cosine * axis[1] - sine * axis[0]
        tilt_cosine = cosine * axis[0] + sine * axis[1]
        left, right = y - p.length / 2 * tilt_sine, y + p.length / 2 * tilt_sine
        room = p.clearance - p.height / 2 * (tilt_cosine - 1)
        return ca.vertcat(room + left, room - left, room + right, room - right)

    def slip(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        """Along the guide's axis, at the slider's corners."""
        axis = a.rotate(ca.vertcat(ca.cos(p.direction), ca.sin(p.direction)))
        half, top = p.length / 2, p.height / 2
        slips = []
        for x, y in ((-half, -top), (-half, top), (half, -top), (half, top)):
            corner = p.at_slider + ca.vertcat(x, y)
            arm = b.point(corner) - a.position
            under = a.twist[:2] + a.twist[2] * ca.vertcat(-arm[1], arm[0])
            slips.append(ca.dot(axis, b.point_velocity(corner) - under))
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
