"""Couplings of two bodies by gears, racks, threads, belts and ropes: ideal, or with backlash.

A coupling is one displacement [m], that of teeth or of a belt at the pitch circles, or along a thread, which is zero
in an ideal one and within half of the backlash otherwise. It counts the turns of both bodies, a thread by its
displacement, so that nothing drifts over any number of them, and acts at the pitch point: bearings receive the force
of the teeth, and an axle may be carried along, as in a planetary gear. The pressure angle, which adds a force along
the line of centres, is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar

import casadi as ca

from nonsmooth.model.contacts import Contact, FreeContact
from nonsmooth.model.drawing import Line, Primitive, Round, Slide, Touch, vector
from nonsmooth.model.elements import ORIGIN, SPACE, Element
from nonsmooth.model.frames import PlanarPlacement, cross
from nonsmooth.model.joints import IDENTITY, Angle, Direction, Joint, Orientation, _OfTwo, thread
from nonsmooth.quantities import Point, PositiveLength, Quantity


@dataclass(frozen=True, eq=False)
class _Coupled(Element):
    """Base of what a coupling is, without the law of its displacement."""

    turns = True

    def displacement(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        """Displacement of the coupling [m]."""
        raise TypeError(f"{type(self).__name__} couples nothing.")


@dataclass(frozen=True, eq=False)
class _Ideal(_Coupled, Joint):
    """Base of couplings whose displacement is zero."""

    rows = (("mesh", "m"),)

    def constraint(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return self.displacement(a, b, p)


@dataclass(frozen=True, eq=False)
class _Loose(_Coupled, _OfTwo, Contact):
    """Base of couplings with backlash."""

    backlash: PositiveLength = field(kw_only=True)
    gap_labels = ("low", "high")
    size_label, slides = "backlash", False
    coupling: ClassVar[type[_Ideal]]

    def ideal(self) -> Joint:
        """The coupling without backlash that replaces it, with the same name, bodies and numbers."""
        own = (one.name for one in fields(self.coupling))
        return self.coupling(**{name: getattr(self, name) for name in own})

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        moved = self.displacement(a, b, p)
        return ca.vertcat(p.backlash / 2 + moved, p.backlash / 2 - moved)


@dataclass(frozen=True, eq=False)
class _Wheels(_Coupled):
    """Base of couplings of two wheels: radii, centres, and a position in which they mesh."""

    radius_a: PositiveLength = field(kw_only=True)
    radius_b: PositiveLength = field(kw_only=True)
    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    angle_a: Angle = field(default=0.0, kw_only=True)
    angle_b: Angle = field(default=0.0, kw_only=True)
    direction: Angle = field(default=0.0, kw_only=True)

    def _turned(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace, sign: int) -> ca.SX:
        """``r_a turn_a + sign r_b turn_b`` [m]."""
        return p.radius_a * (a.angle - p.angle_a) + sign * p.radius_b * (b.angle - p.angle_b)

    def _off(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace, angle: Any) -> ca.SX:
        """Angle of the line of centres from the direction `angle`, within a half turn."""
        along, line = ca.vertcat(ca.cos(angle), ca.sin(angle)), b.point(p.at_b) - a.point(p.at_a)
        return ca.atan2(cross(along, line), ca.dot(along, line))

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Round(a, p.radius_a), Round(b, p.radius_b))


@dataclass(frozen=True, eq=False)
class _Gears(_Wheels):
    """Base of pairs of gears."""

    internal: bool = field(default=False, kw_only=True)

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        if self.internal and numbers["radius_a"] == numbers["radius_b"]:
            raise self.error("a ring and the gear in it must have different radii; for a ratio of 1 use a Belt.")

    def displacement(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        sign = -1 if self.internal else 1
        apart = p.radius_a + sign * p.radius_b
        return -apart * self._off(a, b, p, p.direction + self._turned(a, b, p, sign) / apart)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        apart = p.radius_a + (-p.radius_b if self.internal else p.radius_b)
        a, b = self.spots(p)
        return (*super().drawing(p), Touch(a, b, p.radius_a / apart))


@dataclass(frozen=True, eq=False)
class GearPair(_Gears, _Ideal):
    """Ideal pair of gears (1 row, [m]): their pitch circles roll on each other.

    ``r_a turn_a + r_b turn_b - (r_a + r_b) turn = 0``, with the angles of both bodies and of the line from the centre
    of a to that of b, each from its value in a position in which the teeth mesh, over any number of turns. A ring and
    a gear in it have ``- r_b`` in place of ``r_b``. Only the ratio of the radii, as of numbers of teeth, and their
    unit, that of the reaction, matter: ``run.reaction["gears.torque"]`` is the torque on b. Each gear keeps its own
    bearing, in the ground or in an arm.

    Parameters
    ----------
    a, b : the bodies with the gears, in the plane
    radius_a, radius_b : r_a, r_b [m], > 0, of the pitch circles
    at_a, at_b : [m], centres of the gears in the frames of their bodies; they must not coincide
    angle_a, angle_b, direction : [rad]
        Angles of the bodies, and of the line of centres in the ground frame, in a position in which the teeth mesh,
        such as that of the start.
    internal : whether one is a ring, which has the larger radius

    Raises
    ------
    ModelError
        For a ring and a gear of the same radius; by ``build()`` if the start is not such a position.

    >>> GearPair("gears", "pinion", "wheel", radius_a=0.02, radius_b=0.06).rows
    (('mesh', 'm'),)
    """


@dataclass(frozen=True, eq=False)
class GearBacklash(_Gears, _Loose):
    """Pair of gears with backlash: their pitch circles are within half of it of those of a `GearPair`, two gaps.

    ``g_low = j/2 + s``, ``g_high = j/2 - s`` with the backlash j and the left-hand side s of the row of a `GearPair`,
    positive where a is ahead. A law with the stiffness of the teeth at the pitch circle makes them elastic.

    Parameters
    ----------
    a, b, radius_a, radius_b, at_a, at_b, angle_a, angle_b, direction, internal : as in `GearPair`
    backlash : j [m], > 0, by which a tooth can move along the pitch circle in all
    contact : the contact law, without friction

    >>> from nonsmooth import Rigid
    >>> hard = Rigid(restitution=0.3, friction=0.0)
    >>> GearBacklash("gears", "a", "b", radius_a=0.02, radius_b=0.06, backlash=1e-4, contact=hard).gap_names()
    ('gears.low', 'gears.high')
    """

    coupling = GearPair


@dataclass(frozen=True, eq=False)
class Belt(_Wheels, _Ideal):
    """Ideal toothed belt or chain on two pulleys (1 row, [m]): ``r_a turn_a - r_b turn_b - (r_a - r_b) turn = 0``.

    Angles are as in `GearPair`; a crossed belt has ``- r_b`` in place of ``r_b``. Torques are exact; bearings receive
    the tension only across the line of centres, since that along it depends on the tension at rest. The line of
    centres stays within a half turn of `direction`.

    Parameters
    ----------
    a, b, radius_a, radius_b, at_a, at_b, angle_a, angle_b, direction : as in `GearPair`, of the pulleys
    crossed : whether the pulleys turn in opposite directions
    """

    crossed: bool = field(default=False, kw_only=True)

    def displacement(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        sign = 1 if self.crossed else -1
        turned = (p.radius_a + sign * p.radius_b) * self._off(a, b, p, p.direction)
        return self._turned(a, b, p, sign) - turned

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (*super().drawing(p), Line(a, b, dotted=True))


@dataclass(frozen=True, eq=False)
class _OnRack(_Coupled):
    """Base of pinions on racks."""

    radius: PositiveLength = field(kw_only=True)
    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    direction: Angle = field(default=0.0, kw_only=True)
    angle: Angle = field(default=0.0, kw_only=True)

    def displacement(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        along = a.rotate(ca.vertcat(ca.cos(p.direction), ca.sin(p.direction)))
        return ca.dot(along, b.point(p.at_b) - a.point(p.at_a)) + p.radius * (b.angle - a.angle - p.angle)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Round(b, p.radius), Line(a, b, dotted=True))


@dataclass(frozen=True, eq=False)
class RackPinion(_OnRack, _Ideal):
    """Ideal rack and pinion (1 row, [m]): the pitch circle of b rolls on a straight line of a, ``s + r turn = 0``.

    s is the component, along the rack, of the vector from the point `at_a` to the centre of the pinion, which lies to
    the left of the rack's direction; turn is the angle of b against a, less `angle`, over any number of turns. The
    rack slides in its guide under a pinion in a bearing, or lies in the ground under one that travels.

    Parameters
    ----------
    a, b : the bodies with the rack and with the pinion, in the plane
    radius : r [m], > 0, of the pitch circle of the pinion
    at_a : [m], point of the rack opposite the pinion where its angle is `angle`, in the frame of a
    at_b : [m], centre of the pinion, in the frame of b
    direction : [rad], angle of the rack in the frame of a; the pinion lies at 90 degrees to it
    angle : [rad], of b against a at displacement zero
    """


@dataclass(frozen=True, eq=False)
class RackBacklash(_OnRack, _Loose):
    """Rack and pinion with backlash: ``g_low = j/2 + s``, ``g_high = j/2 - s`` with s, the row of a `RackPinion`.

    Parameters
    ----------
    a, b, radius, at_a, at_b, direction, angle : as in `RackPinion`
    backlash : j [m], > 0, by which the rack can move in all while the pinion is held
    contact : the contact law, without friction
    """

    coupling = RackPinion


@dataclass(frozen=True, eq=False)
class _Threaded(_Coupled):
    """Base of threads of a screw a and a nut b, in space."""

    axis_a: Direction = field(kw_only=True)
    pitch: Annotated[float, Quantity("m")] = field(kw_only=True)
    at_a: Point = field(default=SPACE, kw_only=True)
    at_b: Point = field(default=SPACE, kw_only=True)
    quaternion: Orientation = field(default=IDENTITY, kw_only=True)
    dimensions, turns = (3,), False

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        if not abs(numbers["pitch"]) > 2 * numbers.get("backlash", 0.0):
            raise self.error("pitch must be more than twice as long as the backlash, and not zero.")

    def displacement(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return thread(a, b, p)[1]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Slide(a, b, vector(p.axis_a), round=True),)


@dataclass(frozen=True, eq=False)
class Thread(_Threaded, _Ideal):
    """Ideal thread (1 row, [m]): with each right-handed turn about its axis b moves along it by a pitch.

    ``h sin(d / h - psi) = 0``, the last row of a `Screw`, where the bodies have bearings of their own, such as a screw
    in a `Revolute` joint and a nut in a `Prismatic` one.

    Parameters
    ----------
    a, b, at_a, at_b, axis_a, pitch, quaternion : as in `Screw`
    """

    rows = (("thread", "m"),)

    def constraint(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return thread(a, b, p)[0]

    def violation(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return self.displacement(a, b, p)


@dataclass(frozen=True, eq=False)
class ThreadBacklash(_Threaded, _Loose):
    """Thread with axial play: ``g_low = j/2 + s``, ``g_high = j/2 - s``, s the displacement of b beyond its turn.

    ``s = d - h psi`` for any number of turns, up to whole pitches, which the screw cannot jump, with the displacement d
    along the axis, the angle psi of b relative to a, and h = pitch/(2 pi). Between the same two bodies a `Cylindrical`
    joint and this are a `Screw` with play.

    Parameters
    ----------
    a, b, at_a, at_b, axis_a, pitch, quaternion : as in `Screw`
    backlash : j [m], > 0 and below half of the pitch, by which the nut can move in all while nothing turns
    contact : the contact law, without friction
    """

    coupling = Thread


@dataclass(frozen=True, eq=False)
class Rope(FreeContact):
    """Rope without mass over pulleys in the ground, from a point of a to one of b: ``g_N = L - l_a - l_b`` [m].

    l_a is the distance from the point `at_a` to `via_a`, where the rope leaves it for a pulley, l_b that to `via_b`,
    and L the length without the part between the pulleys. The rope pulls both points with the same force where it is
    taut, and does not push; the pulleys have neither inertia nor friction nor radius. Rigid it is inextensible; a
    compliant law gives it its stiffness. Planar, or spatial if its points have three components.

    Parameters
    ----------
    a, b : bodies at its ends, which stay apart from the pulleys
    via_a, via_b : [m], points in the ground frame; the same one for a single pulley
    length : L [m], > 0
    at_a, at_b : [m], ends of the rope in the frames of the bodies
    size : [m], > 0, typical slack, for tolerances only: gaps below 1e-8 of it count as closed
    contact : the contact law, without friction

    >>> from nonsmooth import Rigid
    >>> plastic = Rigid(restitution=0.0, friction=0.0)
    >>> Rope("rope", "block", "weight", via_a=(1.0, 0.0), via_b=(1.0, 0.0), length=1.5, contact=plastic).gap_names()
    ('rope',)
    """

    via_a: Point = field(kw_only=True)
    via_b: Point = field(kw_only=True)
    length: PositiveLength = field(kw_only=True)
    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    slides = False

    def __post_init__(self) -> None:
        self._fill_origin()
        super().__post_init__()

    @property
    def dimensions(self) -> tuple[int, ...]:  # type: ignore[override]
        return (len(self.via_a),)

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return p.length - ca.norm_2(a.point(p.at_a) - p.via_a) - ca.norm_2(b.point(p.at_b) - p.via_b)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Line(a, b, dotted=True),)
