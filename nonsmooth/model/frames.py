"""Placement of a body: position, orientation and twist, as symbols.

Elements receive placements and never coordinates. A placement is a vector z, (x, y, cos, sin) in the plane and
(r, columns of R) in space, with a twist v, (vx, vy, omega) in the plane and (velocity, omega in the body frame) in
space. The tangent map T(z) with z' = T(z) v converts derivatives with respect to z into Jacobians with respect to v; no
trigonometric functions are evaluated.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np


def cross(a: Any, b: Any) -> ca.SX:
    """Planar cross product ``a_x b_y - a_y b_x``."""
    return a[0] * b[1] - a[1] * b[0]


@dataclass(frozen=True, eq=False)
class _Placement:
    """Base of placements: z and twist."""

    z: ca.SX
    twist: ca.SX

    #: components of vectors
    size: ClassVar[int]

    @property
    def position(self) -> ca.SX:
        return self.z[: self.size]

    @property
    def velocity(self) -> ca.SX:
        """Velocity [m/s] of the origin, ground frame."""
        return self.twist[: self.size]

    def point(self: Any, local: Any) -> ca.SX:
        """Global position of a body point."""
        return self.position + self.rotate(local)


@dataclass(frozen=True, eq=False)
class PlanarPlacement(_Placement):
    """z = (x, y, cos, sin) and twist (vx, vy, omega) of a planar frame.

    The placements of loads have the angle, including full turns, as a fifth entry of z.
    """

    size = 2

    @property
    def cosine(self) -> ca.SX:
        return self.z[2]

    @property
    def sine(self) -> ca.SX:
        return self.z[3]

    @property
    def angle(self) -> ca.SX:
        """Angle [rad], not wrapped; of the placements of loads only."""
        if self.z.numel() < 5:
            raise TypeError("the angle of a body is available in loads only; use its cosine and sine.")
        return self.z[4]

    @property
    def angular_velocity(self) -> ca.SX:
        """Angular velocity [rad/s] about the normal of the plane."""
        return self.twist[2]

    def rotate(self, local: Any) -> ca.SX:
        """Global components of a vector given in the body frame."""
        c, s = self.cosine, self.sine
        return ca.vertcat(c * local[0] - s * local[1], s * local[0] + c * local[1])

    def unrotate(self, vector: Any) -> ca.SX:
        """Components in the body frame of a global vector."""
        c, s = self.cosine, self.sine
        return ca.vertcat(c * vector[0] + s * vector[1], -s * vector[0] + c * vector[1])

    def point_velocity(self, local: Any) -> ca.SX:
        """Global velocity of a body point."""
        return self._velocity(self.rotate(local))

    def velocity_at(self, point: Any) -> ca.SX:
        """Global velocity of the body point that is at a global point."""
        return self._velocity(point - self.position)

    def _velocity(self, arm: ca.SX) -> ca.SX:
        return self.twist[:2] + self.twist[2] * ca.vertcat(-arm[1], arm[0])

    def generalized_force(self, force: Any, at: Any) -> ca.SX:
        """Force vector (3,) of a global `force` that acts at the body point `at`."""
        return ca.vertcat(force[0], force[1], cross(self.rotate(at), force))

    def generalized_torque(self, torque: Any) -> ca.SX:
        """Force vector (3,) of a `torque` about the normal of the plane."""
        return ca.vertcat(0, 0, torque)

    def tangent(self) -> ca.SX:
        """T(z) (4, 3) with z' = T(z) v; (5, 3) with the angle."""
        zero, one = ca.SX(0), ca.SX(1)
        rows = [[one, zero, zero], [zero, one, zero], [zero, zero, -self.sine], [zero, zero, self.cosine]]
        return ca.blockcat([*rows, [zero, zero, one]][: self.z.numel()])


@dataclass(frozen=True, eq=False)
class SpatialPlacement(_Placement):
    """z = (r, columns of R) and twist (velocity global, angular velocity in the body frame) of a spatial frame."""

    size = 3

    @property
    def rotation(self) -> ca.SX:
        return ca.reshape(self.z[3:], 3, 3)

    @property
    def angular_velocity(self) -> ca.SX:
        """Angular velocity (3,) [rad/s], ground frame."""
        return self.rotate(self.twist[3:])

    def rotate(self, local: Any) -> ca.SX:
        return self.rotation @ local

    def unrotate(self, vector: Any) -> ca.SX:
        return self.rotation.T @ vector

    def point_velocity(self, local: Any) -> ca.SX:
        return self.twist[:3] + self.rotate(ca.cross(self.twist[3:], local))

    def velocity_at(self, point: Any) -> ca.SX:
        return self.twist[:3] + ca.cross(self.angular_velocity, point - self.position)

    def generalized_force(self, force: Any, at: Any) -> ca.SX:
        """Force vector (6,) of a global `force` that acts at the body point `at`."""
        return ca.vertcat(force, ca.cross(at, self.unrotate(force)))

    def generalized_torque(self, torque: Any) -> ca.SX:
        """Force vector (6,) of a global `torque`."""
        return ca.vertcat(ca.SX.zeros(3), self.unrotate(torque))

    def tangent(self) -> ca.SX:
        """T(z) (12, 6) with z' = T(z) v, from R' = R skew(omega)."""
        columns = [ca.vec(self.rotation @ ca.skew(ca.SX.eye(3)[:, i])) for i in range(3)]
        return ca.diagcat(ca.SX.eye(3), ca.horzcat(*columns))


Placement = PlanarPlacement | SpatialPlacement


def rotation_matrix(quaternion: Any) -> ca.SX:
    """R (3, 3) of a nonzero quaternion (w, x, y, z), divided by its norm."""
    w, x, y, z = (quaternion[i] for i in range(4))
    entries = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return ca.blockcat(entries) / (w * w + x * x + y * y + z * z)


def ground_placement(dimension: int) -> Placement:
    """The inertial frame, at rest."""
    if dimension == 2:
        return PlanarPlacement(ca.SX([0, 0, 1, 0]), ca.SX.zeros(3))
    return SpatialPlacement(ca.vertcat(ca.SX.zeros(3), ca.vec(ca.SX.eye(3))), ca.SX.zeros(6))


def placement_like(dimension: int, name: str, *, turns: bool = False) -> Placement:
    """A placement of symbols, the argument of an element function; in the plane with the angle if `turns`."""
    if dimension == 2:
        return PlanarPlacement(ca.SX.sym(f"z_{name}", 5 if turns else 4), ca.SX.sym(f"v_{name}", 3))
    return SpatialPlacement(ca.SX.sym(f"z_{name}", 12), ca.SX.sym(f"v_{name}", 6))


#: columns e1, e2, e3: the first body's axes turned by irrational angles, so that no axis or diagonal lies at -e3
BASIS = np.linalg.qr(np.array([[0.6180, -0.7321, 0.2361], [0.4142, 0.6458, 0.7071], [-0.3028, -0.1623, 0.8284]]))[0]


def tangents(normal: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Two unit vectors perpendicular to a unit `normal` and to each other, in the frame in which it is given.

    >>> n = np.array([0.6, 0.0, 0.8])
    >>> t1, t2 = (np.array(ca.DM(t)).ravel() for t in tangents(ca.DM(n)))
    >>> bool(max(abs(t1 @ n), abs(t2 @ n), abs(t1 @ t2), abs(t1 @ t1 - 1)) < 1e-15)
    True
    """
    e1, e2, pole = (ca.DM(BASIS[:, i]) for i in range(3))
    mean = (normal + pole) / (1 + ca.dot(normal, pole))
    return e1 - ca.dot(normal, e1) * mean, e2 - ca.dot(normal, e2) * mean


def slip_at(point: ca.SX, normal: ca.SX, a: Placement, b: Placement) -> ca.SX:
    """Velocity of b relative to a at a `point` of the ground frame, along the tangents of `normal`.

    In the plane along the normal turned by -90 degrees.
    """
    relative = b.velocity_at(point) - a.velocity_at(point)
    if isinstance(a, PlanarPlacement):
        return ca.dot(ca.vertcat(normal[1], -normal[0]), relative)
    relative = a.unrotate(relative)
    return ca.vertcat(*(ca.dot(t, relative) for t in tangents(a.unrotate(normal))))
