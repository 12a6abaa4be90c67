"""Motion of the bodies of a robot as expressions of time, and the consistent start that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array

__all__ = ["Pose", "axes", "evaluated", "quaternion_of", "starts", "unit"]

Poses = Mapping[str, "Pose"]


@dataclass(frozen=True)
class Pose:
    """Position r (3,) [m] of the centre of mass and rotation matrix R (3, 3) of a body, expressions of time."""

    r: Any
    R: Any


def unit(vector: Any) -> Any:
    """The unit vector along a nonzero vector."""
    return vector / ca.norm_2(vector)


def axes(z: Any, across: Any) -> ca.SX:
    """R (3, 3) of a frame with the z axis along `z`, and the x axis along ``across x z``, perpendicular to both."""
    third = unit(z)
    first = unit(ca.cross(across, third))
    return ca.horzcat(first, ca.cross(third, first), third)


def quaternion_of(R: Array) -> tuple[float, float, float, float]:
    """(w, x, y, z) with w >= 0 of a rotation matrix (3, 3), from the largest of its components."""
    w, x, y, z = _quaternion(np.asarray(R, dtype=float))
    sign = -1.0 if w < 0.0 else 1.0
    return float(sign * w), float(sign * x), float(sign * y), float(sign * z)


def _quaternion(R: Array) -> Array:
    trace = float(np.trace(R))
    squares = np.array([1 + trace, *(1 + 2 * R[i, i] - trace for i in range(3))])
    axial = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    products = np.empty((4, 4))  # four times the products of the components
    products[1:, 1:] = R + R.T
    products[0, 1:] = products[1:, 0] = axial
    products[range(4), range(4)] = squares
    column = products[int(np.argmax(squares))]
    found: Array = column / np.linalg.norm(column)
    return found


def evaluated(t: ca.SX, poses: Poses, times: Array) -> dict[str, tuple[Array, Array, Array, Array]]:
    """By body positions (n, 3) [m], rotations (n, 3, 3), velocities (n, 3) [m/s] and angular velocities (n, 3) [rad/s].

    The latter are in the frame of the body, from R' dR/dt = skew(omega).

    Parameters
    ----------
    t
        The symbol that the poses are expressions of.
    times : (n,) [s]
    """
    found = {}
    for name, pose in poses.items():
        r, R = ca.SX(pose.r), ca.SX(pose.R)
        spin = R.T @ ca.reshape(ca.jacobian(ca.vec(R), t), 3, 3)
        omega = 0.5 * ca.vertcat(spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1])
        all_of = ca.Function("pose", [t], [ca.vertcat(r, ca.vec(R.T), ca.jacobian(r, t), omega)])
        rows = np.array([np.array(all_of(float(time))).ravel() for time in np.atleast_1d(times)])
        found[name] = rows[:, :3], rows[:, 3:12].reshape(-1, 3, 3), rows[:, 12:15], rows[:, 15:]
    return found


def starts(t: ca.SX, poses: Poses) -> dict[str, dict[str, Any]]:
    """By body `position`, `quaternion`, `velocity` and `angular_velocity` at t = 0, as a `SpatialBody` takes them."""
    found = {}
    for name, (r, R, velocity, omega) in evaluated(t, poses, np.zeros(1)).items():
        found[name] = {
            "position": tuple(map(float, r[0])),
            "quaternion": quaternion_of(R[0]),
            "velocity": tuple(map(float, velocity[0])),
            "angular_velocity": tuple(map(float, omega[0])),
        }
    return found
