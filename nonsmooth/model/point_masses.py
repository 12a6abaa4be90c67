"""Point masses added to a rigid body: the composite body about its centre of mass."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, ModelError
from nonsmooth.model.bodies import PlanarBody, SpatialBody
from nonsmooth.model.frames import rotation_matrix
from nonsmooth.settings import Called, floats, is_number, shown

__all__ = ["Loaded", "PointMass", "with_point_masses"]

B = TypeVar("B", PlanarBody, SpatialBody)


@dataclass(frozen=True)
class PointMass(metaclass=Called):
    """A mass without rotational inertia, fixed to a body.

    Parameters
    ----------
    mass : m [kg], > 0
    at : [m]
        In the frame of the body before masses are added to it: two components in the plane, three in space.

    Raises
    ------
    ModelError
        If a number is not finite, or the mass not positive.
    """

    mass: float
    at: tuple[float, ...]

    def __post_init__(self) -> None:
        if not (is_number(self.mass) and self.mass > 0):
            raise ModelError(f"PointMass: mass must be a positive number [kg], got {self.mass!r}.")
        try:
            at = floats(self.at)
        except (TypeError, ValueError):
            at = np.array(np.nan)
        if at.shape not in ((2,), (3,)) or not np.all(np.isfinite(at)):
            raise ModelError(f"PointMass: at must be two or three finite numbers [m], got {self.at!r}.")


@dataclass(frozen=True)
class Loaded(Generic[B]):
    """A body with masses added to it.

    Attributes
    ----------
    body : the composite body, of the same name; its frame is parallel to the former one, in the common centre of mass
    shift : the common centre of mass in the former frame [m]
    """

    body: B
    shift: tuple[float, ...]

    def at(self, point: Iterable[float]) -> tuple[float, ...]:
        """A point that is given in the former frame, in the frame of the composite body [m]."""
        return tuple(float(x - s) for x, s in zip(point, self.shift, strict=True))


def with_point_masses(body: B, masses: Iterable[PointMass]) -> Loaded[B]:
    """Body and masses as one rigid body: mass, centre of mass and inertia by the parallel-axis theorem.

    With the masses m_i at c_i, and the body m_0 = m at c_0 = 0, the centre of mass moves by
    ``s = sum(m_i c_i) / sum(m_i)``, and with the arms d_i = c_i - s the inertia is
    ``J + sum(m_i (d_i . d_i 1 - d_i d_i'))``. Position and velocity belong to the same rigid motion. The origin of a
    body's frame is its centre of mass, so that points of joints must be converted by ``loaded.at(point)``.

    A point mass is not a body: a body has an orientation, and a small body welded to another one would add coordinates,
    constraints and forces without need.

    Parameters
    ----------
    body
        Planar or spatial.
    masses
        Fixed to it.

    Raises
    ------
    ModelError
        If a mass has not as many components as the body has dimensions.

    >>> rod = PlanarBody("rod", mass=0.3, inertia=4e-4)
    >>> loaded = with_point_masses(rod, [PointMass(0.1, (0.06, 0.0))])
    >>> round(loaded.body.mass, 12), [round(x, 12) for x in loaded.at((0.06, 0.0))], round(loaded.body.inertia, 12)
    (0.4, [0.045, 0.0], 0.00067)
    """
    if not isinstance(body, PlanarBody | SpatialBody) or not isinstance(masses, Iterable):
        raise InputError(f"Point masses are given as with_point_masses(body, [PointMass(...)]), got {shown(masses)}.")
    masses, dimension = list(masses), body.dimensions[0]
    for one in masses:
        if not isinstance(one, PointMass):
            raise body.error(f"masses must be PointMass objects, got {one!r}.")
        if len(one.at) != dimension:
            raise body.error(f"a mass at {one.at!r} has {len(one.at)} components, but the body has {dimension}.")
    m = np.array([body.mass, *(one.mass for one in masses)])
    points = np.array([np.zeros(dimension), *(np.asarray(one.at, dtype=float) for one in masses)])
    shift = m @ points / m.sum()
    arms = points - shift
    moved = _planar(body, m, arms, shift) if isinstance(body, PlanarBody) else _spatial(body, m, arms, shift)
    return Loaded(moved, tuple(map(float, shift)))


def _planar(body: PlanarBody, m: Array, arms: Array, shift: Array) -> PlanarBody:
    cosine, sine = math.cos(body.angle), math.sin(body.angle)
    x, y = cosine * shift[0] - sine * shift[1], sine * shift[0] + cosine * shift[1]
    omega = body.angular_velocity
    return dataclasses.replace(
        body,
        mass=float(m.sum()),
        inertia=float(body.inertia + m @ (arms * arms).sum(axis=1)),
        position=(float(body.position[0] + x), float(body.position[1] + y)),
        velocity=(float(body.velocity[0] - omega * y), float(body.velocity[1] + omega * x)),
    )


def _spatial(body: SpatialBody, m: Array, arms: Array, shift: Array) -> SpatialBody:
    xx, yy, zz, xy, xz, yz = (*body.inertia, 0.0, 0.0, 0.0)[:6]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    for mass, arm in zip(m, arms, strict=True):
        J += mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    rotation = np.array(ca.DM(rotation_matrix(ca.DM(body.quaternion))))
    x, y, z = np.asarray(body.position) + rotation @ shift
    u, v, w = np.asarray(body.velocity) + rotation @ np.cross(body.angular_velocity, shift)
    return dataclasses.replace(
        body,
        mass=float(m.sum()),
        inertia=tuple(float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))),
        position=(float(x), float(y), float(z)),
        velocity=(float(u), float(v), float(w)),
    )
