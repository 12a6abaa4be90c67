"""Applied forces: gravity, loads at a point, springs and dampers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import casadi as ca
import numpy as np

from nonsmooth.model import frames as primitive
from nonsmooth.model.drawing import Arrow, Coil, Dot, Field, Line, Mark, Primitive, Turn, vector
from nonsmooth.model.elements import Element, _PlanarOrSpatial
from nonsmooth.model.frames import Placement, PlanarPlacement, rotation_matrix
from nonsmooth.model.joints import IDENTITY, BodyRef, Direction, Orientation, _OfTwo
from nonsmooth.model.signals import evaluate_signal
from nonsmooth.quantities import Point, PositiveLength, Quantity
from nonsmooth.settings import shown

Components = tuple[float, ...] | Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Gravity(Element):
    """Uniform gravity on every body.

    Parameters
    ----------
    acceleration : [m/s^2], (gx, gy) in the plane, (gx, gy, gz) in space
    """

    name: str = "gravity"
    acceleration: Annotated[tuple[float, ...], Quantity("m/s^2", example="(0.0, -9.81)")] = field(kw_only=True)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (Field(vector(p.acceleration)),)


@dataclass(frozen=True, eq=False)
class Force(Element):
    """Base of forces between the bodies named in `body_fields`; in the plane placements have the angle as well."""

    turns = True
    #: whether the power of the force is counted as damping rather than as work of loads
    dissipative = False

    @property
    def conservative(self) -> bool:
        """Whether its potential energy is counted instead of its power."""
        return type(self).potential is not Force.potential and not self.dissipative

    @property
    def mixed(self) -> bool:
        """Whether it has a potential and further forces (`nonconservative`), whose power is counted separately."""
        return False

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        """Force vector on each body, in the body's velocity coordinates."""
        raise TypeError(f"{type(self).__name__} exerts no force.")

    def potential(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> ca.SX | None:
        """Potential energy [J] of a conservative force, else None."""
        return None

    def nonconservative(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        """The part of the `forces` of a mixed force that is not the negative gradient of the potential."""
        raise TypeError(f"{type(self).__name__} is not a mixed force.")

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """A dotted line between two bodies, else points."""
        spots = self.spots(p)
        return (Line(spots[0], spots[1], dotted=True),) if len(spots) == 2 else tuple(Dot(spot) for spot in spots)


def gradient(potential: ca.SX, bodies: tuple[Placement, ...]) -> tuple[ca.SX, ...]:
    """Minus the gradient of a potential: the force vector on each body, ``-T(z)' dV/dz``."""
    return tuple(-(ca.jacobian(potential, body.z) @ body.tangent()).T for body in bodies)


def _load(force: Force, what: str, t: ca.SX, p: SimpleNamespace, size: int) -> ca.SX:
    value = getattr(force, what)
    if callable(value):
        return evaluate_signal(force.name, what, value, t, size)
    load = getattr(p, what)
    if load.numel() != size:
        raise force.error(f"{what} takes {size} component(s) here, got {load.numel()}.")
    return load


@dataclass(frozen=True, eq=False)
class PointForce(Force):
    """A force at a point of one body.

    Parameters
    ----------
    force : [N], components, or a callable of t [s] that returns them
        A callable is called once, with symbolic time; it may call a `Table`.
    at : [m], point of application in the body frame
    frame : "global" or "body", frame in which the components are given

    >>> PointForce("push", "slider", force=lambda t: (50.0 * t, 0.0)).body_names()
    ('slider',)
    """

    body: BodyRef
    force: Annotated[Components, Quantity("N")] = field(kw_only=True)
    at: Point = field(default=(), kw_only=True)
    frame: Literal["global", "body"] = field(default="global", kw_only=True)
    body_fields = ("body",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.frame, str) or self.frame not in ("global", "body"):
            raise self.error(f'frame must be "global" or "body", got {shown(self.frame)}.')

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        (body,) = bodies
        size = 2 if isinstance(body, PlanarPlacement) else 3
        at = getattr(p, "at", ca.SX.zeros(size))
        force = _load(self, "force", t, p, size)
        return (body.generalized_force(body.rotate(force) if self.frame == "body" else force, at),)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """An arrow; one whose components depend on time points along x."""
        (spot,) = self.spots(p)
        return (Arrow(spot, vector(getattr(p, "force", (1.0, 0.0))), fixed=self.frame == "body"),)


@dataclass(frozen=True, eq=False)
class Torque(Force):
    """A free torque on one body, in the global frame.

    Parameters
    ----------
    torque : [N m], a number in the plane, three components in space, or a callable of t [s]
    """

    body: BodyRef
    torque: Annotated[float | Components, Quantity("N m")] = field(kw_only=True)
    body_fields = ("body",)

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        (body,) = bodies
        return (body.generalized_torque(_load(self, "torque", t, p, 1 if isinstance(body, PlanarPlacement) else 3)),)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """An arc with an arrow; one in space whose components depend on time turns about z."""
        (spot,), torque = self.spots(p), vector(getattr(p, "torque", ()))
        return (Turn(spot, axis=torque if len(torque) == 3 else ()),)


@dataclass(frozen=True, eq=False)
class LineForce(_OfTwo, Force):
    """Base of forces along the line between a point of a and a point of b."""

    at_a: Point = field(default=(), kw_only=True)
    at_b: Point = field(default=(), kw_only=True)

    def _points(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Both points in their bodies, the vector between them, and its time derivative."""
        a, b = bodies
        origin = ca.SX.zeros(a.position.numel())
        at_a, at_b = getattr(p, "at_a", origin), getattr(p, "at_b", origin)
        return at_a, at_b, b.point(at_b) - a.point(at_a), b.point_velocity(at_b) - a.point_velocity(at_a)


@dataclass(frozen=True, eq=False)
class Spring(LineForce):
    """Linear spring between two points, potential ``k (l - l0)^2 / 2``.

    Parameters
    ----------
    stiffness : k [N/m], >= 0
    free_length : l0 [m], > 0, optional
        If omitted, the free length is zero and the force is k times the distance, smooth at zero distance.
    at_a, at_b : [m], attachment points in the body frames
    """

    stiffness: Annotated[float, Quantity("N/m", nonnegative=True)] = field(kw_only=True)
    free_length: PositiveLength | None = field(default=None, kw_only=True)

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        a, b = bodies
        at_a, at_b, line, _ = self._points(bodies, p)
        pull = p.stiffness * line
        if self.free_length is not None:
            pull = pull * (1 - p.free_length / ca.norm_2(line))
        return a.generalized_force(pull, at_a), b.generalized_force(-pull, at_b)

    def potential(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> ca.SX:
        line = self._points(bodies, p)[2]
        if self.free_length is None:
            return p.stiffness * ca.dot(line, line) / 2
        return p.stiffness * (ca.norm_2(line) - p.free_length) ** 2 / 2

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (Coil(*self.spots(p)),)


@dataclass(frozen=True, eq=False)
class Damper(LineForce):
    """Linear damper along the line between two points, which must not coincide; force ``-c dl/dt``.

    Parameters
    ----------
    damping : c [N s/m], >= 0
    at_a, at_b : [m], attachment points in the body frames
    """

    damping: Annotated[float, Quantity("N s/m", nonnegative=True)] = field(kw_only=True)
    dissipative = True

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        a, b = bodies
        at_a, at_b, line, rate = self._points(bodies, p)
        pull = p.damping * (ca.dot(line, rate) / ca.dot(line, line)) * line
        return a.generalized_force(pull, at_a), b.generalized_force(-pull, at_b)


@dataclass(frozen=True, eq=False)
class _Torsion(_PlanarOrSpatial, _OfTwo, Force):
    """Base of torques about an axis: the normal of the plane, or where `axis_a` is given an axis of a in space."""

    axis_a: Direction | None = field(default=None, kw_only=True)
    in_space = "axis_a"

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Turn(b, a, vector(getattr(p, "axis_a", ()))),)


@dataclass(frozen=True, eq=False)
class TorsionSpring(_Torsion):
    """Linear torsion spring, potential ``k (theta - theta_0)^2 / 2`` with the angle theta of b relative to a.

    In the plane the angle includes full turns, so that a spring can be wound up. In space (with `axis_a`) it is the
    twist about the axis in (-pi, pi], from the orientation `quaternion` or that with parallel frames. Spatial bodies do
    not count turns: beyond a half turn the torque changes its sign, while the energy is continuous. Forces are minus
    the gradient of the potential, also if the bodies tilt relative to the axis; if a joint keeps both bodies on the
    axis, the torque about it is ``k (theta_0 - theta)``.

    Parameters
    ----------
    stiffness : k [N m/rad], >= 0
    free_angle : theta_0 [rad], angle of b relative to a at which the spring is free of load
    axis_a : [-], optional, the axis in the frame of a, of any length; with it the spring is spatial
    quaternion : [-], optional, (w, x, y, z), orientation of b relative to a at angle zero; in space only
    """

    stiffness: Annotated[float, Quantity("N m/rad", nonnegative=True)] = field(kw_only=True)
    free_angle: Annotated[float, Quantity("rad")] = field(default=0.0, kw_only=True)
    quaternion: Orientation | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.quaternion is not None and self.axis_a is None:
            raise self.error("quaternion is given without axis_a; give axis_a in space, free_angle in the plane.")
        super().__post_init__()

    def _elongation(self, bodies: tuple[Any, ...], p: SimpleNamespace) -> ca.SX:
        """theta - theta_0."""
        a, b = bodies
        if isinstance(a, PlanarPlacement):
            return b.angle - a.angle - p.free_angle
        # sine and cosine are turned by the free angle, so that the half turn is counted from where the spring is free
        S, C = primitive.twist_about(a, b, p.axis_a, getattr(p, "quaternion", IDENTITY))
        return ca.atan2(*primitive.less(S, C, p.free_angle))

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        a, b = bodies
        if isinstance(a, PlanarPlacement):
            torque = -p.stiffness * self._elongation(bodies, p)
            return a.generalized_torque(-torque), b.generalized_torque(torque)
        return gradient(self.potential(bodies, p), bodies)

    def potential(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> ca.SX:
        return p.stiffness * self._elongation(bodies, p) ** 2 / 2


@dataclass(frozen=True, eq=False)
class TorsionDamper(_Torsion):
    """Linear torsion damper, torque ``-c omega`` with the angular velocity omega of b relative to a.

    About the normal of the plane, or in space about an axis of a, ``omega = n . (omega_b - omega_a)``.

    Parameters
    ----------
    damping : c [N m s/rad], >= 0
    axis_a : [-], optional, the axis in the frame of a, of any length; with it the damper is spatial
    """

    damping: Annotated[float, Quantity("N m s/rad", nonnegative=True)] = field(kw_only=True)
    dissipative = True

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        a, b = bodies
        rate = b.angular_velocity - a.angular_velocity
        if isinstance(a, PlanarPlacement):
            torque = -p.damping * rate
        else:
            axis = a.rotate(primitive.unit(p.axis_a))
            torque = -p.damping * ca.dot(axis, rate) * axis
        return a.generalized_torque(-torque), b.generalized_torque(torque)


#: number of entries above the diagonal, row by row: 3 in the plane, 15 in space
ENTRIES = tuple(str(i + 1) for i in range(15))
#: share of the largest eigenvalue by which the smallest one may be negative due to rounding
ROUNDING = 1e-12

Vector = Annotated[tuple[float, ...], Quantity("N/m", nonnegative=True)]
Rotational = Annotated[float | tuple[float, ...], Quantity("N m/rad", nonnegative=True)]
Coupling = Annotated[tuple[float, ...], Quantity("N/m or N or N m/rad", labels=ENTRIES)]
Damping = Annotated[tuple[float, ...], Quantity("N s/m", nonnegative=True)]
RotationalDamping = Annotated[float | tuple[float, ...], Quantity("N m s/rad", nonnegative=True)]
DampingCoupling = Annotated[tuple[float, ...], Quantity("N s/m or N s or N m s/rad", labels=ENTRIES)]


@dataclass(frozen=True, eq=False)
class Bushing(_OfTwo, Force):
    """Elastic and viscous connection of two frames: ``F = -K s - C s'`` with the deformation s.

    s contains the displacement of the point of b from the point of a, in the frame of a [m], and the rotation of b from
    its orientation free of load [rad]: in the plane s = (x, y, angle), in space s = (x, y, z, phi n) with the rotation
    vector phi n in the frame of a. K and C are symmetric 3x3 or 6x6 matrices. The force vectors are ``J' F`` with the
    Jacobian J of s, ``s' = J v``: the elastic part is minus the gradient of ``s' K s / 2`` exactly, and the power of
    damping is ``-s'' C s'`` exactly, however large the deformations are. It is intended for small rotations and defined
    up to a half turn, beyond which the angle changes its sign. ModelError if K or C has a negative eigenvalue.

    Parameters
    ----------
    at_a, at_b : [m], the points, in the frame of each body
    stiffness : [N/m], diagonal of K for displacements along the axes of a, two numbers in the plane, three in space
    rotational_stiffness : [N m/rad]
        Diagonal of K for rotations about the axes of a: a number in the plane, three in space.
    coupling : optional
        Entries of K above the diagonal, row by row: 3 in the plane, 15 in space; [N/m], [N] and [N m/rad].
    damping, rotational_damping, damping_coupling : optional
        The same for C, [N s/m], [N m s/rad]; no damping if omitted.
    angle : [rad], angle of b relative to a at which the bushing is free of load; in the plane only
    quaternion : [-], optional, (w, x, y, z), this orientation in space; parallel frames if omitted

    >>> Bushing("mount", "ground", "engine", stiffness=(2e5, 2e5), rotational_stiffness=300.0).body_names()
    ('ground', 'engine')
    """

    at_a: Point = field(default=(), kw_only=True)
    at_b: Point = field(default=(), kw_only=True)
    stiffness: Vector = field(kw_only=True)
    rotational_stiffness: Rotational = field(kw_only=True)
    coupling: Coupling | None = field(default=None, kw_only=True)
    damping: Damping | None = field(default=None, kw_only=True)
    rotational_damping: RotationalDamping | None = field(default=None, kw_only=True)
    damping_coupling: DampingCoupling | None = field(default=None, kw_only=True)
    angle: Annotated[float, Quantity("rad")] = field(default=0.0, kw_only=True)
    quaternion: Orientation | None = field(default=None, kw_only=True)
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
        return any(getattr(self, field) is not None for field in ("damping", "rotational_damping", "damping_coupling"))

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        size = sum(label.startswith("stiffness_") for label in numbers)
        if size not in (2, 3):
            raise self.error(f"stiffness takes 2 numbers in the plane and 3 in space, got {size}.")
        lengths = {"stiffness": size, "rotational_stiffness": 2 * size - 3, "coupling": 3 if size == 2 else 15}
        lengths |= {"damping": size, "rotational_damping": 2 * size - 3, "damping_coupling": lengths["coupling"]}
        parts: dict[str, ca.DM] = {}
        for name, length in lengths.items():
            found = [value for label, value in numbers.items() if label == name or label.rpartition("_")[0] == name]
            if found and len(found) != length:
                word = {2: "the plane", 3: "space"}[size]
                raise self.error(f"{name} takes {length} number(s) in {word}, like stiffness, got {len(found)}.")
            parts[name] = ca.DM(found or [0.0] * length)
        for matrix, coupling in (("stiffness", "coupling"), ("damping", "damping_coupling")):
            eigenvalues = np.linalg.eigvalsh(np.array(_matrix(SimpleNamespace(**parts), matrix, coupling)))
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
            # two graphs, on which the last digits of the gradient depend
            sine, cosine = primitive.planar_angle(a, b, p.angle)[0], primitive.planar_angle(a, b, p.angle)[1]
            return ca.vertcat(offset, ca.atan2(sine, cosine))
        rest = rotation_matrix(getattr(p, "quaternion", IDENTITY))
        return ca.vertcat(offset, primitive.rotation_vector(a.rotation.T @ b.rotation @ rest.T))

    def potential(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> ca.SX:
        s = self._deformation(bodies, p)
        return ca.dot(s, _matrix(p, "stiffness", "coupling") @ s) / 2

    def nonconservative(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        s = self._deformation(bodies, p)
        directions = [ca.jacobian(s, body.z) @ body.tangent() for body in bodies]
        rate = sum((J @ body.twist for J, body in zip(directions, bodies, strict=True)), ca.SX.zeros(s.numel()))
        force = -(_matrix(p, "damping", "damping_coupling") @ rate)
        return tuple(J.T @ force for J in directions)

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        elastic = gradient(self.potential(bodies, p), bodies)
        if not self.mixed:
            return elastic
        return tuple(x + y for x, y in zip(elastic, self.nonconservative(t, bodies, p), strict=True))

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (Mark(*self.spots(p)),)


def _matrix(p: SimpleNamespace, name: str, coupling: str) -> Any:
    """K or C, symmetric, of its diagonal and its entries above, row by row; omitted entries are zero."""
    size = p.stiffness.numel()
    names = ((name, size), (f"rotational_{name}", 2 * size - 3), (coupling, 3 if size == 2 else 15))
    along, about, above = (getattr(p, field, type(p.stiffness).zeros(count)) for field, count in names)
    matrix, entries = ca.diag(ca.vertcat(along, about)), iter(ca.vertsplit(above))
    for i in range(matrix.size1()):
        for j in range(i + 1, matrix.size1()):
            matrix[i, j] = matrix[j, i] = next(entries)
    return matrix
