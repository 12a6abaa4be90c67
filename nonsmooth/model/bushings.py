"""Bushings: elastic coupling of two bodies in all directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any

import casadi as ca
import numpy as np

from nonsmooth.model import rows as primitive
from nonsmooth.model.drawing import Mark, Primitive
from nonsmooth.model.forces import Force, gradient
from nonsmooth.model.frames import Placement, PlanarPlacement, rotation_matrix
from nonsmooth.model.joints import IDENTITY, BodyRef, Orientation, check_directions
from nonsmooth.quantities import Point, Quantity

__all__ = ["Bushing"]

#: number of entries above the diagonal, row by row: 3 in the plane, 15 in space
ENTRIES = tuple(str(i + 1) for i in range(15))
#: share of the largest eigenvalue by which the smallest one may be negative due to rounding
ROUNDING = 1e-12

Vector = Annotated[tuple[float, ...], Quantity("N/m", nonnegative=True)]
Rotational = Annotated[float | tuple[float, ...], Quantity("N m/rad", nonnegative=True)]
Coupling = Annotated[tuple[float, ...], Quantity("N/m or N or N m/rad", labels=ENTRIES)]


@dataclass(frozen=True, eq=False)
class Bushing(Force):
    """Elastic and viscous connection of two frames: ``F = -K s - C s'`` with the deformation s.

    s contains the displacement of the point of b from the point of a, in the frame of a [m], and the rotation of b from
    its orientation free of load [rad]: in the plane s = (x, y, angle), in space s = (x, y, z, phi n) with the rotation
    vector phi n in the frame of a. K and C are symmetric 3x3 or 6x6 matrices. The force vectors are ``J' F`` with the
    Jacobian J of s, ``s' = J v``: the elastic part is minus the gradient of ``s' K s / 2`` exactly, and the power of
    damping is ``-s'' C s'`` exactly, however large the deformations are. It is intended for small rotations and defined
    up to a half turn, beyond which the angle changes its sign.

    Parameters
    ----------
    at_a, at_b : [m]
        The points, in the frame of each body.
    stiffness : [N/m]
        Diagonal of K for displacements along the axes of a, two numbers in the plane, three in space.
    rotational_stiffness : [N m/rad]
        Diagonal of K for rotations about the axes of a: a number in the plane, three in space.
    coupling : optional
        Entries of K above the diagonal, row by row: 3 in the plane, 15 in space; [N/m], [N] and [N m/rad].
    damping, rotational_damping, damping_coupling : optional
        The same for C, [N s/m], [N m s/rad]; no damping if omitted.
    angle : [rad]
        Angle of b relative to a at which the bushing is free of load; in the plane only.
    quaternion : [-], optional
        (w, x, y, z), this orientation in space; parallel frames if omitted.

    Raises
    ------
    ModelError
        If a number is not finite or out of range, numbers of plane and space are mixed, or K or C has a negative
        eigenvalue.

    >>> Bushing("mount", "ground", "engine", stiffness=(2e5, 2e5), rotational_stiffness=300.0).body_names()
    ('ground', 'engine')
    """

    a: BodyRef
    b: BodyRef
    at_a: Point = field(default=(), kw_only=True)
    at_b: Point = field(default=(), kw_only=True)
    stiffness: Vector = field(kw_only=True)
    rotational_stiffness: Rotational = field(kw_only=True)
    coupling: Coupling | None = field(default=None, kw_only=True)
    damping: Annotated[tuple[float, ...], Quantity("N s/m", nonnegative=True)] | None = field(
        default=None, kw_only=True
    )
    rotational_damping: Annotated[float | tuple[float, ...], Quantity("N m s/rad", nonnegative=True)] | None = field(
        default=None, kw_only=True
    )
    damping_coupling: Annotated[tuple[float, ...], Quantity("N s/m or N s or N m s/rad", labels=ENTRIES)] | None = (
        field(default=None, kw_only=True)
    )
    angle: Annotated[float, Quantity("rad")] = field(default=0.0, kw_only=True)
    quaternion: Orientation | None = field(default=None, kw_only=True)

    body_fields = ("a", "b")
    dissipative = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimensions == (3,) and self.angle != 0.0:
            raise self.error("angle is for planar models; in space give quaternion instead.")
        if self.dimensions == (2,) and self.quaternion is not None:
            raise self.error("quaternion is for spatial models; in the plane give angle instead.")

    @property
    def dimensions(self) -> tuple[int, ...]:  # type: ignore[override]
        return (3,) if len(self.stiffness) == 3 else (2,)

    @property
    def conservative(self) -> bool:
        return True

    @property
    def mixed(self) -> bool:
        fields = ("damping", "rotational_damping", "damping_coupling")
        return any(getattr(self, field) is not None for field in fields)

    def check_together(self, numbers: Mapping[str, float]) -> None:
        """Raise ModelError if numbers of plane and space are mixed, or a matrix has a negative eigenvalue."""
        check_directions(self, numbers)
        size = sum(label.startswith("stiffness_") for label in numbers)
        if size not in (2, 3):
            raise self.error(f"stiffness takes 2 numbers in the plane and 3 in space, got {size}.")
        lengths = {"stiffness": size, "rotational_stiffness": 2 * size - 3, "coupling": 3 if size == 2 else 15}
        lengths |= {"damping": size, "rotational_damping": 2 * size - 3, "damping_coupling": lengths["coupling"]}
        parts: dict[str, list[float]] = {}
        for name, length in lengths.items():
            found = [value for label, value in numbers.items() if label == name or label.rpartition("_")[0] == name]
            if found and len(found) != length:
                word = {2: "the plane", 3: "space"}[size]
                raise self.error(f"{name} takes {length} number(s) in {word}, like stiffness, got {len(found)}.")
            parts[name] = found or [0.0] * length
        for matrix, names in (("stiffness", tuple(lengths)[:3]), ("damping", tuple(lengths)[3:])):
            moments = np.array(ca.DM(_matrix(*(ca.DM(parts[name]) for name in names))))
            eigenvalues = np.linalg.eigvalsh(moments)
            if eigenvalues[0] < -ROUNDING * eigenvalues[-1]:
                raise self.error(
                    f"the matrix of {matrix} must have no negative eigenvalue, got {eigenvalues[0]:.6g}; "
                    "make the coupling smaller."
                )

    def _deformation(self, bodies: tuple[Any, ...], p: SimpleNamespace) -> ca.SX:
        """s (3,) or (6,)."""
        a, b = bodies
        origin = ca.SX.zeros(a.position.numel())
        offset = a.unrotate(b.point(getattr(p, "at_b", origin)) - a.point(getattr(p, "at_a", origin)))
        if isinstance(a, PlanarPlacement):
            sine, cosine = a.cosine * b.sine - a.sine * b.cosine, a.cosine * b.cosine + a.sine * b.sine
            s, c = ca.sin(p.angle), ca.cos(p.angle)
            return ca.vertcat(offset, ca.atan2(sine * c - cosine * s, cosine * c + sine * s))
        rest = rotation_matrix(getattr(p, "quaternion", IDENTITY))
        return ca.vertcat(offset, primitive.rotation_vector(a.rotation.T @ b.rotation @ rest.T))

    def potential(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> ca.SX:
        s = self._deformation(bodies, p)
        return ca.dot(s, self._matrix(p, "stiffness", "coupling") @ s) / 2

    def nonconservative(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        s = self._deformation(bodies, p)
        directions = [ca.jacobian(s, body.z) @ body.tangent() for body in bodies]
        rate = sum((J @ body.twist for J, body in zip(directions, bodies, strict=True)), ca.SX.zeros(s.numel()))
        force = -(self._matrix(p, "damping", "damping_coupling") @ rate)
        return tuple(J.T @ force for J in directions)

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        elastic = gradient(self.potential(bodies, p), bodies)
        if not self.mixed:
            return elastic
        return tuple(x + y for x, y in zip(elastic, self.nonconservative(t, bodies, p), strict=True))

    @staticmethod
    def _matrix(p: SimpleNamespace, name: str, coupling: str) -> ca.SX:
        """K or C; omitted entries are zero."""
        size = p.stiffness.numel()
        about, pairs = 2 * size - 3, 3 if size == 2 else 15
        names = ((name, size), (f"rotational_{name}", about), (coupling, pairs))
        return _matrix(*(getattr(p, field, ca.SX.zeros(count)) for field, count in names))

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Mark(a, b, "joint"),)


def _matrix(along: Any, about: Any, coupling: Any) -> Any:
    """The symmetric matrix of two parts of its diagonal and its entries above, row by row."""
    diagonal = ca.vertcat(along, about)
    size, entries = diagonal.numel(), iter(ca.vertsplit(coupling))
    matrix = ca.diag(diagonal)
    for i in range(size):
        for j in range(i + 1, size):
            matrix[i, j] = matrix[j, i] = next(entries)
    return matrix
