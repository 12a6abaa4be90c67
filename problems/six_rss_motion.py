"""Kinematics of the 6-RSS parallel robot: positions of its bodies as its platform follows the path, in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi, radians, sin
from typing import Any

import casadi as ca

from nonsmooth_problems.robot_poses import Pose, Poses, axes, unit

__all__ = ["LEGS", "Dimensions", "Motion"]

LEGS = ("1", "2", "3", "4", "5", "6")


@dataclass(frozen=True)
class Dimensions:
    """Lengths [m] and angles [rad]: radii of base and platform, crank, rod, half angles between the joints of a pair.

    Legs 1 and 2, 3 and 4, 5 and 6 are pairs, at 0, 120 and 240 degrees.
    """

    base: float
    platform: float
    crank: float
    rod: float
    base_angle: float
    platform_angle: float


@dataclass(frozen=True)
class Motion:
    """Path of the platform, and by it angles of the cranks and poses of all bodies; z upwards, the base at z = 0.

    Position ``(0, y sin(w t), height + z sin(w t))``, orientation ``R = R_y(n2) R_x(n1)`` with n1 = n2 = turn sin(w t).

    The angle alpha of a crank counts from the horizontal upwards: its end is at ``a + k (cos alpha, 0, sin alpha) L``
    with k a rotation about z by the angle of its pair. That its distance to the platform's joint b is the rod's length
    gives ``A cos(alpha) + B sin(alpha) = C``, of whose two roots the knees point outwards with ``alpha = atan2(B, A) +
    arccos(C / sqrt(A^2 + B^2))``.

    Parameters
    ----------
    y, z : [m], amplitudes
    turn : [rad], amplitude
    height : [m]
        Of the platform at t = 0, < 0: it hangs.
    frequency : [Hz]
    """

    dimensions: Dimensions
    y: float
    z: float
    turn: float
    height: float
    frequency: float

    def platform(self, t: Any) -> Pose:
        """Of the platform on its path."""
        wave = ca.sin(2 * pi * self.frequency * t)
        n1 = n2 = self.turn * wave
        about_x = ca.blockcat([[1, 0, 0], [0, ca.cos(n1), -ca.sin(n1)], [0, ca.sin(n1), ca.cos(n1)]])
        about_y = ca.blockcat([[ca.cos(n2), 0, ca.sin(n2)], [0, 1, 0], [-ca.sin(n2), 0, ca.cos(n2)]])
        return Pose(ca.vertcat(0, self.y * wave, self.height + self.z * wave), about_y @ about_x)

    def direction(self, leg: str) -> float:
        """Angle [rad] about z of the plane in which a crank moves, that of its pair."""
        return radians(120.0 * ((int(leg) - 1) // 2))

    def outward(self, leg: str) -> tuple[float, float, float]:
        """Horizontal unit vector in the plane of a crank."""
        return (cos(self.direction(leg)), sin(self.direction(leg)), 0.0)

    def axis(self, leg: str) -> tuple[float, float, float]:
        """Axis of a crank in the base, about which alpha is positive."""
        return (sin(self.direction(leg)), -cos(self.direction(leg)), 0.0)

    def _on_circle(self, leg: str, radius: float, half: float) -> tuple[float, float, float]:
        angle = self.direction(leg) + (-half if int(leg) % 2 else half)
        return (radius * cos(angle), radius * sin(angle), 0.0)

    def base_joint(self, leg: str) -> tuple[float, float, float]:
        """Centre of a crank's shaft [m]."""
        return self._on_circle(leg, self.dimensions.base, self.dimensions.base_angle)

    def platform_joint(self, leg: str) -> tuple[float, float, float]:
        """Centre of a ball [m] in the frame of the platform."""
        return self._on_circle(leg, self.dimensions.platform, self.dimensions.platform_angle)

    def angle(self, leg: str, t: Any) -> Any:
        """alpha [rad] of a crank."""
        sizes, platform = self.dimensions, self.platform(t)
        d = platform.r + platform.R @ ca.DM(self.platform_joint(leg)) - ca.DM(self.base_joint(leg))
        A, B = ca.dot(d, ca.DM(self.outward(leg))), d[2]
        C = (ca.dot(d, d) + sizes.crank**2 - sizes.rod**2) / (2 * sizes.crank)
        return ca.atan2(B, A) + ca.acos(C / ca.sqrt(A * A + B * B))

    def motor(self, leg: str) -> Callable[[Any], Any]:
        """alpha [rad] of a crank as a function of time, which its motor imposes."""
        return lambda t: self.angle(leg, t)

    def poses(self, t: ca.SX) -> Poses:
        """Of all bodies: x axes along cranks and rods, from the base to the platform."""
        sizes, platform = self.dimensions, self.platform(t)
        found = {"platform": platform}
        for leg in LEGS:
            alpha, outward = self.angle(leg, t), ca.DM(self.outward(leg))
            arm = ca.cos(alpha) * outward + ca.sin(alpha) * ca.DM([0, 0, 1])
            axis = -ca.DM(self.axis(leg))
            knee = ca.DM(self.base_joint(leg)) + sizes.crank * arm
            along = platform.r + platform.R @ ca.DM(self.platform_joint(leg)) - knee
            found[f"crank{leg}"] = Pose(knee - sizes.crank / 2 * arm, ca.horzcat(arm, axis, ca.cross(arm, axis)))
            frame = axes(along, axis)
            found[f"rod{leg}"] = Pose(knee + sizes.rod / 2 * unit(along), ca.horzcat(frame[:, 2], frame[:, :2]))
        return found
