"""Kinematics of the 3-UPRU+UP polishing robot: positions of its bodies as its tool follows a circle, in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

import casadi as ca

from nonsmooth_problems.robot_poses import Pose, Poses, axes, unit

__all__ = ["LEGS", "Circle", "Dimensions", "Motion"]

#: place of each leg on base and platform [rad]
LEGS = {"1": 4 * pi / 3, "2": 2 * pi / 3, "3": 0.0}
#: first axis of the universal joint in the middle, in the base
MIDDLE = (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m]: radii of base and platform, lengths of cylinder, telescopic rod and rotating rod."""

    base: float
    platform: float
    cylinder: float
    rod: float
    tip: float


@dataclass(frozen=True)
class Circle:
    """Path of the platform's centre: ``(x + r cos(a + v t / r), y + r sin(a + v t / r), z)`` [m] at the speed v [m/s].

    a is the `angle` [rad] at the start.
    """

    x: float
    y: float
    z: float
    radius: float
    speed: float
    angle: float = 0.0

    def __call__(self, t: Any) -> Any:
        angle = self.angle + self.speed / self.radius * t
        return ca.vertcat(self.x + self.radius * ca.cos(angle), self.y + self.radius * ca.sin(angle), self.z)


@dataclass(frozen=True)
class Motion:
    """Places, axes, poses and lengths of legs, with the base's centre as origin and z upwards.

    The platform hangs below the base. Its z axis points at the base's centre, and its x axis is perpendicular to the
    base's y axis: that is what the joint in the middle, UP, leaves of a rotation. The z axes of the bodies of a leg
    point up along it; their x axes are perpendicular to the tangent of the joint's circle at their universal joint.
    """

    dimensions: Dimensions
    path: Callable[[Any], Any]

    def radial(self, leg: str, radius: float) -> tuple[float, float, float]:
        """Centre of a universal joint [m] in the frame of base or platform."""
        return (radius * cos(LEGS[leg]), radius * sin(LEGS[leg]), 0.0)

    def tangent(self, leg: str) -> tuple[float, float, float]:
        """Axis of the universal joint of a leg in the frame of base or platform."""
        return (-sin(LEGS[leg]), cos(LEGS[leg]), 0.0)

    def platform(self, t: Any) -> Pose:
        """Of the platform, whose centre follows the path."""
        r = self.path(t)
        return Pose(r, axes(-r, ca.DM(MIDDLE)))

    def leg(self, leg: str, t: Any) -> Any:
        """Vector [m] from the platform's joint of a leg to the base's."""
        platform = self.platform(t)
        lower = platform.r + platform.R @ ca.DM(self.radial(leg, self.dimensions.platform))
        return ca.DM(self.radial(leg, self.dimensions.base)) - lower

    def length(self, leg: str) -> Callable[[Any], Any]:
        """Distance [m] of the joints of a leg as a function of time, which its drive imposes."""
        return lambda t: ca.norm_2(self.leg(leg, t))

    def poses(self, t: ca.SX) -> Poses:
        """Of all bodies, the slide of the joint in the middle included."""
        sizes, platform = self.dimensions, self.platform(t)
        found = {"platform": platform, "slide": Pose(ca.SX.zeros(3), platform.R)}
        for leg in LEGS:
            along = unit(self.leg(leg, t))
            upper = ca.DM(self.radial(leg, sizes.base))
            lower = upper - self.leg(leg, t)
            on_base = axes(along, ca.DM(self.tangent(leg)))
            on_platform = axes(along, platform.R @ ca.DM(self.tangent(leg)))
            found[f"cylinder{leg}"] = Pose(upper - sizes.cylinder / 2 * along, on_base)
            found[f"rod{leg}"] = Pose(lower + (sizes.tip + sizes.rod / 2) * along, on_base)
            found[f"tip{leg}"] = Pose(lower + sizes.tip / 2 * along, on_platform)
        return found
