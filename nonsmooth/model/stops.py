"""Stops of one coordinate of two bodies: an angle, or a displacement along an axis, that is free within a range.

The gaps are distances of the coordinate from both ends of its range [m]; those of an angle are arcs at a radius, at
which the contact force acts. Nothing slides, so that contact laws are without friction. Rigid stops are exact; the
stiffness of a compliant law is that at the radius: a torsional stiffness k [N m/rad] is ``k / radius^2`` [N/m].
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import casadi as ca

from nonsmooth.model import frames as primitive
from nonsmooth.model.contacts import FreeContact
from nonsmooth.model.drawing import Dot, Primitive
from nonsmooth.model.elements import ORIGIN, _PlanarOrSpatial
from nonsmooth.model.frames import PlanarPlacement
from nonsmooth.model.joints import IDENTITY, Angle, Direction, Orientation
from nonsmooth.quantities import Point, PositiveLength, Quantity
from nonsmooth.settings import shown

COORDINATES = ("angle", "displacement")
Coordinate = Annotated[float, Quantity("rad or m")]


@dataclass(frozen=True, eq=False)
class _Stops(_PlanarOrSpatial, FreeContact):
    """Base of stops at both ends of the range of a coordinate."""

    coordinate: Literal["angle", "displacement"] = field(default="angle", kw_only=True)
    radius: PositiveLength | None = field(default=None, kw_only=True)
    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    direction: Angle = field(default=0.0, kw_only=True)
    axis_a: Direction | None = field(default=None, kw_only=True)
    quaternion: Orientation | None = field(default=None, kw_only=True)
    gap_labels = ("low", "high")
    in_space, only_in_plane = "axis_a", ("direction",)
    turns, slides = True, False

    def __post_init__(self) -> None:
        if self.coordinate not in COORDINATES:
            raise self.error(f'coordinate must be "angle" or "displacement", got {shown(self.coordinate)}.')
        angle = self.coordinate == "angle"
        if angle != (self.radius is not None):
            raise self.error(
                "gaps of an angle are arcs; give the radius [m] of the stops." if angle
                else "radius is for an angle; leave it out."
            )  # fmt: skip
        if self.quaternion is not None and not (angle and self.axis_a is not None):
            raise self.error("quaternion is for an angle about axis_a; leave it out.")
        super().__post_init__()

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        low, high = self._ends(SimpleNamespace(**numbers))
        if not low < high:
            raise self.error(f"low must be below high, got {low:g} and {high:g}.")
        if self.spatial and self.coordinate == "angle" and not high - low < 2 * ca.pi:
            raise self.error(
                f"the range of an angle in space is below a full turn, since spatial bodies do not count turns; got "
                f"{high - low:g} rad."
            )

    def quantity(self, label: str) -> Quantity:
        found = super().quantity(label)
        if found.unit != "rad or m":
            return found
        return Quantity("rad" if self.coordinate == "angle" else "m", positive=found.positive)

    def _ends(self, p: SimpleNamespace) -> tuple[Any, Any]:
        """Both ends of the range."""
        return p.low, p.high

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        low, high = self._ends(p)
        half, middle = (high - low) / 2, (low + high) / 2
        if self.coordinate == "displacement":
            line = b.point(p.at_b) - a.point(p.at_a)
            along = primitive.unit(p.axis_a) if self.spatial else ca.vertcat(ca.cos(p.direction), ca.sin(p.direction))
            off = ca.dot(a.rotate(along), line) - middle
        elif isinstance(a, PlanarPlacement):
            off = b.angle - a.angle - middle
        else:  # counted from the middle, so that its half turn lies outside of the range
            S, C = primitive.twist_about(a, b, p.axis_a, getattr(p, "quaternion", IDENTITY))
            off = ca.atan2(*primitive.less(S, C, middle))
        return getattr(p, "radius", 1.0) * ca.vertcat(half + off, half - off)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return tuple(Dot(spot) for spot in self.spots(p))


@dataclass(frozen=True, eq=False)
class Limits(_Stops):
    """Stops of a joint: a coordinate of b relative to a stays between `low` and `high`, two gaps.

    ``angle``: ``g_low = radius (theta - low)``, ``g_high = radius (high - theta)`` [m] with theta, the angle of b
    against a, in the plane over any number of turns, in space about `axis_a` within less than a turn. ``displacement``:
    the component along the axis of the vector from the point `at_a` to the point `at_b`, ``s - low`` and ``high - s``.
    Add the joint that leaves this coordinate free, such as a `Revolute` or a `Prismatic`. Stops of an angle exert a
    torque, the contact force of the gap times the radius; those of a displacement a force along the axis.

    Parameters
    ----------
    a, b : the two bodies of the joint
    coordinate : "angle" or "displacement"
    low, high : [rad] or [m], low < high; in space angles with high - low < 2 pi
    radius : [m], > 0, arm of the stops; for an angle only, where it must be given
    at_a, at_b : [m], points between which a displacement is measured
    direction : [rad], angle of the axis of a displacement in the frame of a; in the plane only
    axis_a : [-], optional, the axis in the frame of a, of any length; given, the stops are spatial
    quaternion : [-], optional
        For an angle in space: (w, x, y, z) of b relative to a at angle zero; parallel frames if omitted.
    size : [m], > 0, typical gap, for tolerances only: gaps below 1e-8 of it count as closed
    contact : the contact law, without friction

    Raises
    ------
    ModelError
        For a range that is empty or, of an angle in space, a full turn; a law with friction; a radius that is missing.

    >>> from nonsmooth import Rigid
    >>> hard = Rigid(restitution=0.5, friction=0.0)
    >>> Limits("stop", "ground", "door", low=0.0, high="90 deg", radius=0.8, contact=hard).gap_names()
    ('stop.low', 'stop.high')
    """

    low: Coordinate = field(kw_only=True)
    high: Coordinate = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Play(_Stops):
    """Backlash: a coordinate of b relative to a is within `play` of its middle, two gaps as of `Limits`.

    ``g_low = radius (play + theta - middle)`` and ``g_high = radius (play - theta + middle)`` [m] for an angle theta,
    over any number of turns in the plane; without radius for a displacement. It couples two rotors like a loose
    coupling or a key, each of which has its own bearing.

    Parameters
    ----------
    a, b : the two bodies
    play : [rad] or [m], > 0, to each side: half of the whole backlash; below pi for an angle in space
    middle : [rad] or [m], coordinate in the middle of the play
    coordinate, radius, at_a, at_b, direction, axis_a, quaternion, size, contact : as in `Limits`

    >>> from nonsmooth import Rigid
    >>> hard = Rigid(restitution=0.5, friction=0.0)
    >>> Play("key", "shaft", "hub", play="0.2 deg", radius=0.02, contact=hard).gap_names()
    ('key.low', 'key.high')
    """

    play: Annotated[float, Quantity("rad or m", positive=True)] = field(kw_only=True)
    middle: Coordinate = field(default=0.0, kw_only=True)

    def _ends(self, p: SimpleNamespace) -> tuple[Any, Any]:
        return p.middle - p.play, p.middle + p.play
