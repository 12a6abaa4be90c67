"""The convex sets behind contact laws. Residuals and solvers project with the same formula.

Each set takes arrays of many contacts at once, a vector along the last axis. The projection p of x is the nearest
point: (x - p) . (y - p) <= 0 for every y of the set; `contains` tells of each whether it is out by at most a tolerance.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class HalfLine:
    """Numbers x >= 0, entry by entry.

    >>> HalfLine().project(np.array([-1.0, 2.0]))
    array([0., 2.])
    """

    def project(self, x: Array) -> Array:
        return np.maximum(x, 0.0)

    def contains(self, x: Array, tolerance: float = 0.0) -> Mask:
        return np.asarray(x >= -tolerance)


@dataclass(frozen=True, eq=False)
class Box:
    """Numbers lower <= x <= upper, entry by entry; bounds may be infinite.

    >>> Box(np.array([-1.0, 0.0]), np.array([1.0, np.inf])).project(np.array([-2.0, 5.0]))
    array([-1.,  5.])
    """

    lower: Array | float
    upper: Array | float

    def project(self, x: Array) -> Array:
        return np.minimum(np.maximum(x, self.lower), self.upper)

    def contains(self, x: Array, tolerance: float = 0.0) -> Mask:
        return np.asarray((x >= self.lower - tolerance) & (x <= self.upper + tolerance))


@dataclass(frozen=True, eq=False)
class Disk:
    """Vectors x with |x| <= radius, one radius per vector; an interval where vectors have one entry.

    >>> Disk(np.array([1.0, 10.0])).project(np.array([[3.0, 4.0], [3.0, 4.0]]))
    array([[0.6, 0.8],
           [3. , 4. ]])
    """

    radius: Array | float

    def project(self, x: Array) -> Array:
        length = np.linalg.norm(x, axis=-1)
        outside = length > self.radius
        return x * np.where(outside, self.radius / np.where(outside, length, 1.0), 1.0)[..., None]

    def contains(self, x: Array, tolerance: float = 0.0) -> Mask:
        return np.asarray(np.linalg.norm(x, axis=-1) <= self.radius + tolerance)


@dataclass(frozen=True, eq=False)
class SecondOrderCone:
    """Coulomb's cone |x_T| <= mu x_N of vectors (x_N, x_T); a wedge where x_T has one entry, a half-line for mu = 0.

    Its dual cone, in which the velocities (u_N + mu |u_T|, u_T) of de Saxcé lie, is mu |u_T| <= u_N.

    >>> SecondOrderCone(np.array([1.0])).project(np.array([[0.0, 2.0, 0.0]]))
    array([[1., 1., 0.]])
    """

    mu: Array | float

    def project(self, x: Array) -> Array:
        normal, tangential = x[..., 0], x[..., 1:]
        length = np.linalg.norm(tangential, axis=-1)
        # x itself, a point of the surface, or the tip
        inside, tip = length <= self.mu * normal, self.mu * length <= -normal
        surface = np.maximum((normal + self.mu * length) / (1.0 + np.square(self.mu)), 0.0)
        factor = np.where(inside, 1.0, self.mu * surface / np.where(length > 0.0, length, 1.0))
        projected = np.concatenate((np.where(inside, normal, surface)[..., None], tangential * factor[..., None]), -1)
        return np.where((tip & ~inside)[..., None], 0.0, projected)

    def contains(self, x: Array, tolerance: float = 0.0) -> Mask:
        length = np.linalg.norm(x[..., 1:], axis=-1)
        return np.asarray((length <= self.mu * x[..., 0] + tolerance) & (x[..., 0] >= -tolerance))
