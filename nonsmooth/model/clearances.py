"""Joints with clearance: sets of contacts between two bodies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, ClassVar

import casadi as ca

from nonsmooth.model.contacts import Contact
from nonsmooth.model.drawing import Bearing, Guide, Primitive
from nonsmooth.model.frames import PlanarPlacement
from nonsmooth.model.joints import BodyRef
from nonsmooth.quantities import Point, PositiveLength, Quantity

__all__ = ["Clearance", "PrismaticClearance", "RevoluteClearance"]

#: distance of centres [m] below which a line of centres has no direction
NOWHERE = 1e-30


@dataclass(frozen=True, eq=False)
class Clearance(Contact):
    """Base of joints with clearance."""

    clearance: PositiveLength = field(kw_only=True)

    size_label = "clearance"
    #: field of the joint's own size, which a clearance is less than wherever it is meant
    bearing: ClassVar[str] = ""


@dataclass(frozen=True, eq=False)
class RevoluteClearance(Clearance):
    """Journal (body b) in a bearing (body a) with radial play c.

    With e the vector from the bearing's centre to the journal's, the gap is c - |e|. The equations use
    ``g_N = (c^2 - e.e) / (2c)``, which has the same zero and there the same slope, differs by (c - |e|)^2 / (2c), and
    is smooth where the centres coincide.

    Parameters
    ----------
    clearance : c [m], > 0
        Difference of the radii.
    contact : the contact law
    at_a, at_b : [m]
        Centre of the bearing in the frame of a, of the journal in the frame of b.
    radius : [m], optional
        Radius of the journal; friction and cylindrical laws need it.
    length : [m], optional
        Length of the bearing, for cylindrical laws.
    """

    a: BodyRef
    b: BodyRef
    at_a: Point = field(default=(0.0, 0.0), kw_only=True)
    at_b: Point = field(default=(0.0, 0.0), kw_only=True)
    radius: PositiveLength | None = field(default=None, kw_only=True)
    length: PositiveLength | None = field(default=None, kw_only=True)

    body_fields = ("a", "b")
    bearing = "radius"

    def check_together(self, numbers: Mapping[str, float]) -> None:
        """Raise ModelError if there is friction but no radius, or numbers of the law do not go together."""
        super().check_together(numbers)
        friction = max(numbers.get(label, 0.0) for label in ("friction", "static_friction"))
        if friction > 0 and self.radius is None:
            raise self.error(f"friction {friction:g} acts on the journal's surface, so give its radius.")

    def _eccentricity(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return b.point(p.at_b) - a.point(p.at_a)

    def gaps(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        e = self._eccentricity(a, b, p)
        return (p.clearance**2 - ca.dot(e, e)) / (2 * p.clearance)

    def true_gaps(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return p.clearance - self._distance(self._eccentricity(a, b, p))

    @staticmethod
    def _distance(e: ca.SX) -> ca.SX:
        """|e|, with finite derivatives where the centres coincide."""
        return ca.sqrt(ca.fmax(ca.dot(e, e), NOWHERE**2))

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        """That of a cylinder in a cylinder; the effective radius is R_i R_j / (R_i - R_j)."""
        found = {"clearance": p.clearance}
        if hasattr(p, "radius"):
            found |= {"radius": p.radius, "effective_radius": p.radius * (p.radius + p.clearance) / p.clearance}
        if hasattr(p, "length"):
            found |= {"length": p.length}
        return found

    def slip(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        """Along e / c turned by 90 degrees, a unit vector at contact.

        The arms differ by e.e / c: friction keeps the angular momentum also where a scheme leaves a gap.
        """
        e = self._eccentricity(a, b, p) / p.clearance
        gap, radius = self.gaps(a, b, p), getattr(p, "radius", 0.0)
        return self._slip(e, radius + gap, radius + p.clearance - gap, a, b, p)

    def true_slip(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        """At one point half way between the surfaces, so that friction leaves the angular momentum as it is."""
        e = self._eccentricity(a, b, p)
        distance = self._distance(e)
        half = (distance - p.clearance) / 2
        radius = getattr(p, "radius", 0.0)
        return self._slip(e / distance, radius - half, radius + p.clearance + half, a, b, p)

    def _slip(
        self, n: ca.SX, arm_b: ca.SX, arm_a: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace
    ) -> ca.SX:
        """Of points on the line of centres, at `arm_b` from the journal's and `arm_a` from the bearing's centre."""
        centres = b.point_velocity(p.at_b) - a.point_velocity(p.at_a)
        return (n[0] * centres[1] - n[1] * centres[0]) + arm_b * b.twist[2] - arm_a * a.twist[2]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (Bearing(*self.spots(p), p.clearance, getattr(p, "radius", 0.0), getattr(p, "length", 0.0)),)


@dataclass(frozen=True, eq=False)
class PrismaticClearance(Clearance):
    """Slider of finite length between two parallel walls of a guide, with play c on each side.

    With y the offset of the slider's centre from the guide's axis and theta its angle to it, a the slider's half length
    and H its height, the four corners have the signed gaps ::

        lower:  c + (y -+ a sin(theta)) - (H/2)(cos(theta) - 1)        (- left end, + right end)
        upper:  c - (y -+ a sin(theta)) - (H/2)(cos(theta) - 1)

    The normal is fixed in the guide; the angle between the bodies is free, its limit, asin(c/a) for H = 0, follows from
    the gaps. They hold while both ends of the slider lie between the walls: the guide's own ends are not modelled.

    Parameters
    ----------
    guide, slider : the two bodies
    length : 2a [m], > 0
        Of the slider, along its own x axis.
    height : H [m], >= 0
        Of the slider; the walls stand H/2 + c from the axis.
    clearance : c [m], > 0
        Play on each side of the centred, aligned slider.
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
    at_guide: Point = field(default=(0.0, 0.0), kw_only=True)
    at_slider: Point = field(default=(0.0, 0.0), kw_only=True)
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

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        cosine, sine = math.cos(p.direction), math.sin(p.direction)
        return (
            Guide(
                *self.spots(p), p.length, p.height, p.clearance, along=(cosine, sine), across=(-sine, cosine),
                along_b=(1.0, 0.0), across_b=(0.0, 1.0),
            ),
        )  # fmt: skip
