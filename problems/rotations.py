"""Rotations for the starts of spatial problems, and models whose start is made consistent."""

from __future__ import annotations

from dataclasses import replace
from math import cos, hypot, sin

import numpy as np

from nonsmooth.model.bodies import SpatialBody
from nonsmooth.model.model import Model
from nonsmooth_problems.samples import Array

__all__ = ["Quaternion", "Vector", "about", "consistent", "matrix", "product", "quaternion", "vector"]

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


def vector(values: Array) -> Vector:
    """Three numbers of an array."""
    x, y, z = (float(value) for value in values)
    return x, y, z


def about(axis: str, angle: float) -> Quaternion:
    """Quaternion (w, x, y, z) of a rotation [rad] about a coordinate axis.

    >>> about("z", 0.0)
    (1.0, 0.0, 0.0, 0.0)
    """
    half = {one: sin(angle / 2.0) if one == axis else 0.0 for one in "xyz"}
    return cos(angle / 2.0), half["x"], half["y"], half["z"]


def product(a: Array, b: Array) -> Array:
    """Product (..., 4) of quaternions (..., 4): the rotation b, then a.

    >>> product(np.array(about("x", 0.3)), np.array(about("x", -0.3)))
    array([1., 0., 0., 0.])
    """
    w, x, y, z = np.moveaxis(np.asarray(a), -1, 0)
    s, i, j, k = np.moveaxis(np.asarray(b), -1, 0)
    parts = (
        w * s - x * i - y * j - z * k,
        w * i + x * s + y * k - z * j,
        w * j - x * k + y * s + z * i,
        w * k + x * j - y * i + z * s,
    )
    return np.stack(parts, axis=-1)


def matrix(q: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(np.asarray(q), -1, 0)
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def quaternion(R: Array) -> Quaternion:
    """Unit quaternion of a rotation matrix (3, 3), from the largest of its four components.

    >>> quaternion(np.diag([1.0, -1.0, -1.0]))
    (0.0, 1.0, 0.0, 0.0)
    """
    # four times the products of the components with each other; the row with the largest square is the best known
    K = np.empty((4, 4))
    trace = float(np.trace(R))
    K[0, 0] = 1.0 + trace
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[1:, 1:] = R + R.T + (1.0 - trace) * np.eye(3)
    row = K[int(np.argmax(np.diag(K)))]
    length = hypot(*row.tolist()) * (-1.0 if row[0] < 0.0 else 1.0)
    w, x, y, z = (row / length).tolist()
    return w, x, y, z


def consistent(model: Model) -> Model:
    """The model with its bodies where `Model.assemble` puts them, joints closed and velocities consistent.

    Its joints must refer to their bodies by name.
    """
    start = model.assemble().start
    closed = Model(name=model.name, provenance=model.provenance)
    q, v = 0, 0
    for element in model.elements:
        if isinstance(element, SpatialBody):
            r, turn = start.q[q : q + 3], start.q[q + 3 : q + 7]
            velocity, spin = start.v[v : v + 3], start.v[v + 3 : v + 6]
            q, v = q + 7, v + 6
            w, x, y, z = turn.tolist()
            element = replace(
                element, position=vector(r), quaternion=(w, x, y, z), velocity=vector(velocity),
                angular_velocity=vector(spin),
            )  # fmt: skip
        closed.add(element)
    return closed
