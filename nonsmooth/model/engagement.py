"""Contact geometry of round parts in space: journal or ball in its sleeve or socket, and collars at its ends.

With c the radial clearance and e the vector, in the ground frame, from the centre of the outer part to that of the
inner one, perpendicular to the axis where there is one, the gap is c - |e|. The equations use ``(c^2 - e.e) / (2 c)``,
which has the same root and the same slope there, and is smooth where the centres coincide; its direction is -e/c, a
unit vector at contact.

The outer part belongs to body a, the inner one to body b. Normals point from a towards b.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import casadi as ca

from nonsmooth.model.frames import SpatialPlacement, tangents
from nonsmooth.model.rows import unit

#: distance of centres [m] below which a line of centres has no direction
NOWHERE = 1e-30
ENDS = (("back", -1), ("front", 1))


def distance(e: ca.SX) -> ca.SX:
    """abs(e), with finite derivatives where the centres coincide."""
    return ca.sqrt(ca.fmax(ca.dot(e, e), NOWHERE**2))


@dataclass(frozen=True)
class Circle:
    """A round section of one part in the other.

    Parameters
    ----------
    centre : (3,) [m]
        Of the section, in the ground frame, on the axis of the part that it belongs to.
    e : (3,) [m]
        From the outer part's centre to the inner one's.
    clearance : c [m]
    arm : [m]
        Radius of the part to which the section belongs: distance of its surface from `centre`, along e.
    side : +1 or -1
        +1 if the section belongs to the inner part, -1 if to the outer one.
    """

    centre: ca.SX
    e: ca.SX
    clearance: ca.SX
    arm: ca.SX
    side: int

    @property
    def gap(self) -> ca.SX:
        """(c^2 - e.e) / (2 c)."""
        return (self.clearance**2 - ca.dot(self.e, self.e)) / (2 * self.clearance)

    @property
    def true_gap(self) -> ca.SX:
        """c - abs(e)."""
        return self.clearance - distance(self.e)

    @property
    def touch(self) -> tuple[ca.SX, ca.SX]:
        """Contact point and direction, smooth where the centres coincide."""
        outward = self.e / self.clearance
        return self.centre + self.arm * outward, -outward

    @property
    def true_touch(self) -> tuple[ca.SX, ca.SX]:
        """The point half way between the surfaces, which may overlap, and the unit normal."""
        length = distance(self.e)
        outward = self.e / length
        half = (length - self.clearance) / 2
        return self.centre + (self.arm - self.side * half) * outward, -outward


@dataclass(frozen=True)
class Plane:
    """A point of one body opposite a plane of the other: the gap, the point, and the unit normal from a towards b."""

    gap: ca.SX
    point: ca.SX
    normal: ca.SX

    @property
    def true_gap(self) -> ca.SX:
        return self.gap

    @property
    def touch(self) -> tuple[ca.SX, ca.SX]:
        return self.point, self.normal

    true_touch = touch


def sections(length: Any, parallel: bool) -> tuple[Any, ...]:
    """Where along the axis the circles of a journal of `length` [m] are, from its middle [m]."""
    return (0.0,) if parallel else tuple(sign * length / 2 for _, sign in ENDS)


def end_circles(
    a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace, ends: str, offsets: Sequence[ca.SX]
) -> list[Circle]:
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
        circles.append(Circle(centre, e - ca.dot(axis, e) * axis, p.clearance, arm, side))
    return circles


def collars(
    a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace, ends: str, radius: ca.SX, points: int
) -> list[Plane]:
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
            planes.append(Plane(gap, point, -sign * axis if of_journal else sign * axis))
    return planes


def rim_labels(points: int, prefix: str = "") -> tuple[str, ...]:
    """Labels of rim points, back end first; of the ends alone for 0 points."""
    if not points:
        return tuple(f"{prefix}{end}" for end, _ in ENDS)
    return tuple(f"{prefix}{end}_{i + 1}" for end, _ in ENDS for i in range(points))
