"""The elastic structure of the 6-RSS robot: matrices of its links and loads of its rigid motion, as in its paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.flexible.beam import BeamElement, Material, Rectangle, Tube, beam_element
from nonsmooth_problems.six_rss import INERTIA, VALUE, motion
from nonsmooth_problems.six_rss_motion import LEGS

__all__ = ["CRANK", "LEG", "OWN", "RAYLEIGH", "ROD", "Links", "Matrices", "Structure", "links"]

#: of links and their sections; Table 3 of the paper
ALUMINIUM = Material(youngs=70e9, shear=26.5e9, density=2700.0)
#: 40 mm along the crank's shaft, 20 mm in the plane in which the crank moves; which is which is not in the paper
CRANK, ROD = Rectangle(0.04, 0.02), Tube(0.025, 0.010)
#: lambda_1 [1/s] and lambda_2 [s] of the damping matrix; Table 3
RAYLEIGH = (2e-3, 3e-4)
#: degrees of freedom that are left of an 18-DOF element: of a crank clamped to its shaft, without moment and torque at
#: its end, which a ball holds; of a rod between two balls
OF_CRANK, OF_ROD = [6, 7, 8, *range(9, 15)], [*range(6), *range(9, 15)]
#: coordinates of a leg: twist rate and curvatures at the shaft, displacement of the knee, rotations of the crank's end
#: and of the rod's ends; those of the platform follow
OWN, LEG = 15, 21


@dataclass(frozen=True, eq=False)
class Links:
    """Matrices of the two kinds of links in their own axes, and how they change with their length.

    Those of a length ``l + d`` are ``matrix + d change``, with the same mass; quadratic terms in d / l are left out.

    Parameters
    ----------
    mass, stiffness : (2, 18, 18) of crank and rod
    mass_change, stiffness_change : (2, 18, 18) [1/m]
    """

    mass: Array
    stiffness: Array
    mass_change: Array
    stiffness_change: Array


@lru_cache(maxsize=1)
def links() -> Links:
    """Of the paper's crank and rod."""
    made = []
    for shape, length in ((CRANK, VALUE["crank.length"]), (ROD, VALUE["rod.length"])):

        def element(change: float, shape: Any = shape, length: float = length) -> BeamElement:
            lighter = Material(ALUMINIUM.youngs, ALUMINIUM.shear, ALUMINIUM.density * length / (length + change))
            return beam_element(shape.section(lighter), lighter, length + change, 3)

        nominal, h = element(0.0), 1e-3 * length
        longer, shorter = element(h), element(-h)
        slopes = [(getattr(longer, name) - getattr(shorter, name)) / (2 * h) for name in ("mass", "stiffness")]
        made.append((nominal.mass, nominal.stiffness, *slopes))
    return Links(*(np.array(parts) for parts in zip(*made, strict=True)))


@dataclass(frozen=True, eq=False)
class _Poses:
    """Rigid motion at n times: places, rotation matrices, and their derivatives.

    Parameters
    ----------
    ends : (3, n, 6, 3, 3) [m, m/s, m/s^2]
        By derivative, time, leg: shaft, knee, ball.
    frames : (3, n, 6, 2, 3, 3)
        Rotation matrices of crank and rod, x along them.
    platform : (3, n, 3)
    turn : (3, n, 3, 3)
    """

    ends: Array
    frames: Array
    platform: Array
    turn: Array


def _poses(times: Array) -> _Poses:
    path, t = motion(), ca.SX.sym("t")
    poses, sizes = path.poses(t), path.dimensions
    platform = poses["platform"]
    parts = []
    for leg in LEGS:
        crank, rod = poses[f"crank{leg}"], poses[f"rod{leg}"]
        shaft = ca.SX(ca.DM(path.base_joint(leg)))
        knee = shaft + sizes.crank * ca.SX(crank.R)[:, 0]
        ball = platform.r + platform.R @ ca.DM(path.platform_joint(leg))
        parts += [shaft, knee, ball, ca.vec(ca.SX(crank.R).T), ca.vec(ca.SX(rod.R).T)]
    parts += [platform.r, ca.vec(platform.R.T)]
    value = ca.vertcat(*parts)
    first = ca.jacobian(value, t)
    whole = ca.Function("motion", [t], [ca.horzcat(value, ca.densify(first), ca.densify(ca.jacobian(first, t)))])
    rows = np.array(whole.map(len(times))(times[None, :])).reshape(-1, len(times), 3).transpose(2, 1, 0)
    legs = rows[:, :, : 27 * 6].reshape(3, len(times), 6, 27)
    return _Poses(
        legs[..., :9].reshape(3, -1, 6, 3, 3), legs[..., 9:].reshape(3, -1, 6, 2, 3, 3),
        rows[:, :, 162:165], rows[:, :, 165:].reshape(3, -1, 3, 3),
    )  # fmt: skip


def _skew(v: Array) -> Array:
    """Matrices (..., 3, 3) of the cross product with vectors (..., 3)."""
    x, y, z = np.moveaxis(v, -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack(row, -1) for row in ((o, -z, y), (z, o, -x), (-y, x, o))], -2)


@dataclass(frozen=True, eq=False)
class Structure:
    """The structure at n times: transformations of its links, and the loads of its rigid motion.

    Parameters
    ----------
    times : (n,) [s]
    crank : (3, n, 6, 9, 21)
        From the coordinates of leg and platform to those of the element, in ground axes and in its own; by derivative.
    rod : (3, n, 6, 12, 21)
    platform : (n, 6, 6)
        Mass matrix of the platform in ground axes.
    accelerations : (n, 6, 2, 18)
        Of the rigid motion in the coordinates of crank and rod, less gravity.
    load : (n, 6)
        Inertia force, torque and weight of the platform.
    along : (n, 6, 2, 3)
        Directions of crank and rod.
    arms : (n, 6, 3) [m]
        From the platform's centre to its balls.
    """

    times: Array
    crank: Array
    rod: Array
    platform: Array
    accelerations: Array
    load: Array
    along: Array
    arms: Array

    @classmethod
    def at(cls, times: Array, gravity: float) -> Structure:
        """Of the robot on its path."""
        poses, n = _poses(times), len(times)
        R, weight = poses.turn, np.array([0.0, 0.0, -gravity])
        spin, change = np.swapaxes(R[0], -1, -2) @ R[1], np.swapaxes(R[0], -1, -2) @ R[2]
        omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], -1)
        # R' R'' = skew(alpha) + skew(omega)^2, whose second part is symmetric
        alpha = np.stack([change[:, k, j] - change[:, j, k] for j, k in ((1, 2), (2, 0), (0, 1))], -1) / 2.0
        J, mass = np.array(INERTIA["platform"]), VALUE["platform.mass"]
        torque = R[0] @ (J * alpha + np.cross(omega, J * omega))[..., None]
        platform = np.zeros((n, 6, 6))
        platform[:, :3, :3] = mass * np.eye(3)
        platform[:, 3:, 3:] = R[0] @ (J[:, None] * np.swapaxes(R[0], -1, -2))
        arms = poses.ends[0, :, :, 2] - poses.platform[0][:, None]
        crank, rod = _transformations(poses.frames, arms)
        load = -np.hstack([mass * (poses.platform[2] - weight), torque[..., 0]])
        accelerations = _accelerations(poses, weight)
        return cls(times, crank, rod, platform, accelerations, load, poses.frames[0][..., 0], arms)


def _transformations(frames: Array, arms: Array) -> tuple[Array, Array]:
    """Of the links; as in the paper the moment arms of the platform are not differentiated."""
    n = frames.shape[1]
    crank, rod = np.zeros((3, n, 6, 9, LEG)), np.zeros((3, n, 6, 12, LEG))
    into = np.swapaxes(frames, -1, -2)
    crank[0, :, :, :3, :3] = np.eye(3)
    crank[:, :, :, 3:6, 3:6] = crank[:, :, :, 6:9, 6:9] = into[:, :, :, 0]
    for rows, columns in ((0, 3), (3, 9), (6, 15), (9, 12)):
        rod[:, :, :, rows : rows + 3, columns : columns + 3] = into[:, :, :, 1]
    rod[:, :, :, 6:9, 18:21] = -into[:, :, :, 1] @ _skew(arms)
    return crank, rod


def _accelerations(poses: _Poses, weight: Array) -> Array:
    """Linear fields along the links; a rod between two balls is not turned about its axis."""
    n = poses.ends.shape[1]
    found = np.zeros((n, 6, 2, 18))
    for kind, length in enumerate((VALUE["crank.length"], VALUE["rod.length"])):
        ends = poses.ends[2, :, :, kind : kind + 2] - weight
        own = np.einsum("nlji,nlej->nlei", poses.frames[0][:, :, kind], ends)
        slope = (own[:, :, 1] - own[:, :, 0]) / length
        for first, end in ((0, 0), (9, 1)):
            found[:, :, kind, first : first + 3] = own[:, :, end]
            found[:, :, kind, first + 4], found[:, :, kind, first + 5] = -slope[..., 2], slope[..., 1]
    return found


@dataclass(frozen=True, eq=False)
class Matrices:
    """Matrices at one time, eq. (26) to (32) of the paper, in coordinates of leg and platform.

    Of each the nominal one, and its changes per virtual length of crank and rod [1/m].

    Parameters
    ----------
    mass, damping, stiffness : (3, 6, 21, 21)
    elastic : (3, 6, 21, 21)
        The stiffness without the small part that the moving axes add.
    load : (3, 6, 21)
    platform : (6, 6)
        What the platform adds to the mass.
    platform_load : (6,)
    """

    mass: Array
    damping: Array
    stiffness: Array
    elastic: Array
    load: Array
    platform: Array
    platform_load: Array

    @classmethod
    def at(cls, structure: Structure, i: int) -> Matrices:
        """At the time i of the structure."""
        own = links()
        mass, gyroscopic, moving, elastic = np.zeros((4, 3, 6, LEG, LEG))
        load = np.zeros((3, 6, LEG))
        for kind, (T, kept) in enumerate(((structure.crank[:, i], OF_CRANK), (structure.rod[:, i], OF_ROD))):
            back, at = np.swapaxes(T[0], -1, -2), np.ix_(kept, kept)
            for into, M, K in (
                (0, own.mass[kind], own.stiffness[kind]),
                (1 + kind, own.mass_change[kind], own.stiffness_change[kind]),
            ):
                TM = back @ M[at]
                mass[into] += TM @ T[0]
                gyroscopic[into] += 2.0 * TM @ T[1]
                moving[into] += TM @ T[2]
                elastic[into] += back @ K[at] @ T[0]
                load[into] -= (back @ (M[kept] @ structure.accelerations[i, :, kind, :, None]))[..., 0]
        damping = gyroscopic + RAYLEIGH[0] * mass + RAYLEIGH[1] * elastic
        return cls(mass, damping, moving + elastic, elastic, load, structure.platform[i], structure.load[i])
