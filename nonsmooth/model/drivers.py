"""Prescribed motion: constraints that depend on time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import casadi as ca
import numpy as np

from nonsmooth.model import frames as primitive
from nonsmooth.model.drawing import Drive, Primitive, Turn, vector
from nonsmooth.model.elements import ORIGIN, SPACE
from nonsmooth.model.joints import IDENTITY, POINT, TURNS, Direction, Orientation, _OfParts, same_orientation
from nonsmooth.model.signals import Signal, evaluate_signal
from nonsmooth.quantities import Point, Quantity
from nonsmooth.settings import shown

COORDINATES = ("angle", "x", "y", "z", "distance", "displacement")
Position = tuple[float, float, float] | Callable[[Any], Any]
Quaternion = tuple[float, float, float, float] | Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class PrescribedMotion(_OfParts):
    """Driver: one coordinate of b relative to a follows a function of time.

    ``angle``: sin(theta_b - theta_a - motion(t)) = 0 [rad]; ``x``, ``y`` or ``z``: that component, in the frame of a,
    of the vector from the point `at_a` to the point `at_b`, minus motion(t) = 0 [m]; ``distance``: the length L of this
    vector d, ``(d . d - L(t)^2) / (2 L(t)) = 0`` [m]; ``displacement``: its component along `axis_a`, minus motion(t)
    = 0 [m]. Its reaction is the driving force or torque on b. A start at a kink of the motion, such as the first time
    of a table, has the velocity after it.

    It is spatial if an axis or a point with three components is given. The angle is then that about `axis_a` from the
    orientation `quaternion` of b relative to a, positive by the right-hand rule; the axis is constrained by a
    `Revolute` or `Cylindrical` joint. Any number of turns is possible, since only sine and cosine of the motion enter.

    Parameters
    ----------
    coordinate : "angle", "x", "y", "z", "distance" or "displacement"
    motion : number, callable of t [s] -> [rad] or [m], or Table
        A callable is called once, with symbolic time. A distance is > 0.
    at_a, at_b : [m], not for "angle"
    axis_a : [-], optional, for "angle" in space and "displacement": the axis in the frame of a, of any length
    quaternion : [-], optional
        For "angle" in space: (w, x, y, z) of b relative to a at angle zero; parallel frames if
        omitted.

    >>> PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: 150.0 * t).rows
    (('angle', 'rad'),)
    """

    coordinate: Literal["angle", "x", "y", "z", "distance", "displacement"] = field(kw_only=True)
    motion: Annotated[Signal, Quantity("rad or m")] = field(kw_only=True)
    at_a: Point = ORIGIN
    at_b: Point = ORIGIN
    axis_a: Direction | None = None
    quaternion: Orientation | None = None
    in_space = "axis_a, or points of three components"

    def __post_init__(self) -> None:
        if self.coordinate not in COORDINATES:
            *others, last = (f'"{one}"' for one in COORDINATES)
            raise self.error(f"coordinate must be {', '.join(others)} or {last}, got {shown(self.coordinate)}.")
        if self.axis_a is None and self.coordinate == "displacement":
            raise self.error("a displacement needs its axis; give axis_a.")
        if self.axis_a is not None and self.coordinate not in ("angle", "displacement"):
            raise self.error(f'axis_a is for "angle" and "displacement", not for "{self.coordinate}"; leave it out.')
        if self.quaternion is not None and (self.coordinate != "angle" or self.axis_a is None):
            raise self.error("quaternion is for an angle about axis_a; leave it out.")
        self._fill_origin()
        super().__post_init__()

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        if self.coordinate == "distance" and not numbers.get("motion", 1.0) > 0.0:
            raise self.error(f"a distance must be positive, got motion {shown(numbers['motion'])} m.")

    @property
    def dimensions(self) -> tuple[int, ...]:  # type: ignore[override]
        points = (self.at_a, self.at_b)
        spatial = self.axis_a is not None or self.coordinate == "z" or any(np.shape(point) == (3,) for point in points)
        return (3,) if spatial else (2,)

    def quantity(self, label: str) -> Quantity:
        return Quantity(self.rows[0][1]) if label == "motion" else super().quantity(label)

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:  # type: ignore[override]
        return ((self.coordinate, "rad" if self.coordinate == "angle" else "m"),)

    def _values(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> list[ca.SX | tuple[ca.SX, ca.SX]]:
        target = evaluate_signal(self.name, "motion", self.motion, t, 1) if callable(self.motion) else p.motion
        if self.coordinate == "distance":
            return [primitive.distance(a, b, p.at_a, p.at_b, target)]
        if self.coordinate == "angle":
            if self.axis_a is None:
                sine, cosine = primitive.planar_angle(a, b, target)
            else:
                turned = primitive.twist_about(a, b, p.axis_a, getattr(p, "quaternion", IDENTITY))
                sine, cosine = primitive.less(*turned, target)
            return [(sine, ca.atan2(sine, cosine))]
        if self.coordinate == "displacement":
            return [primitive.offset_along(a, b, p.at_a, p.at_b, p.axis_a) - target]
        return [a.unrotate(b.point(p.at_b) - a.point(p.at_a))["xyz".index(self.coordinate)] - target]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Turn(b, a, vector(getattr(p, "axis_a", ()))),) if self.coordinate == "angle" else (Drive(a, b),)


@dataclass(frozen=True, eq=False)
class PrescribedPose(_OfParts):
    """Driver in space: a point of b and its orientation follow functions of time (6 rows).

    ``R_a' (r_b + R_b s_b - r_a - R_a s_a) - position(t) = 0`` [m], in the frame of a, and ``sin(phi) n = 0`` [rad] of
    the rotation (phi, n) by which b deviates from the orientation `quaternion`, in the frame of b. If it moves the tool
    of a robot along a path, the robot's joints solve the inverse kinematics; the reaction is the force and the torque
    that the path requires.

    Parameters
    ----------
    position : three numbers, or a callable of t [s] that returns three [m]
        Position of the point `at_b` relative to the point `at_a`, in the frame of a. A callable is called once, with
        symbolic time.
    quaternion : four numbers of norm 1, or a callable of t [s] that returns four
        (w, x, y, z), orientation of b relative to a. The result of a callable is divided by its norm, which must not
        vanish.
    at_a, at_b : [m]

    >>> path = lambda t: (0.2 * ca.cos(t), 0.2 * ca.sin(t), -1.45)
    >>> len(PrescribedPose("path", "ground", "platform", position=path).rows)
    6
    """

    position: Annotated[Position, Quantity("m")] = field(kw_only=True)
    quaternion: Annotated[Quaternion, Quantity("-", labels=("w", "x", "y", "z"))] = field(
        default=IDENTITY, kw_only=True
    )
    at_a: Point = SPACE
    at_b: Point = SPACE
    dimensions = (3,)
    rows = POINT + TURNS

    def _values(self, t: ca.SX, a: Any, b: Any, p: SimpleNamespace) -> list[ca.SX | tuple[ca.SX, ca.SX]]:
        position, quaternion = (
            evaluate_signal(self.name, name, value, t, size) if callable(value) else getattr(p, name)
            for name, value, size in (("position", self.position, 3), ("quaternion", self.quaternion, 4))
        )  # fmt: skip
        offset = a.unrotate(b.point(p.at_b) - a.point(p.at_a)) - position
        return [offset, same_orientation(primitive.relative_orientation(a, b, quaternion))]

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (Drive(*self.spots(p)),)
