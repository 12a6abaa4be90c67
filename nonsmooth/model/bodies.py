"""Bodies: coordinates, inertia, and the update of coordinates with a velocity."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, ModelError
from nonsmooth.model.elements import Element
from nonsmooth.model.frames import Placement, PlanarPlacement, SpatialPlacement, rotation_matrix
from nonsmooth.quantities import Quantity, Unit
from nonsmooth.settings import Called, floats, is_number, shown


@dataclass(frozen=True, eq=False)
class Ground(Element):
    """The inertial frame. It has no coordinates; one model has one ground."""

    name: str = "ground"


@dataclass(frozen=True, eq=False)
class Node(Element):
    """An additional frame of a body, ``"body.node"``, which joints, contacts and forces accept in place of a body."""

    body: "Body"

    def __post_init__(self) -> None:
        """No check: its name contains a dot, unlike that of other elements, and was checked by the body."""


@dataclass(frozen=True, eq=False)
class Body(Element):
    """Base of bodies with coordinates q and velocities v, q' = B(q) v. Elements act on frames: on the body itself,
    whose twist is its first velocities, and on its nodes, of twist A(q) v."""

    #: (label, unit) of each coordinate and of each velocity
    q_columns: ClassVar[tuple[tuple[str, str], ...]] = ()
    v_columns: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.start()

    def start(self) -> tuple[Array, Array]:
        """Coordinates and velocities at the start."""
        raise TypeError(f"{type(self).__name__} has no coordinates.")

    def placement(self, q: ca.SX, v: ca.SX) -> Placement:
        """Placement of the body frame, whose origin is the centre of mass."""
        raise TypeError(f"{type(self).__name__} has no coordinates.")

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of its additional frames."""
        return tuple(self.places())

    def places(self) -> Mapping[str, Array]:
        """Position (3,) [m] of each of these frames in that of the undeformed body."""
        return {}

    def node_placement(self, node: str, q: ca.SX, v: ca.SX) -> tuple[Placement, ca.SX]:
        """Placement of a node, and its angle as in `angle_of`."""
        raise self.error(f'it has no node "{node}".')

    def twist_map(self, node: str, q: ca.SX, v: ca.SX) -> ca.SX:
        """A(q) of a node, or of the body's own frame by an empty name, with the twist ``A v``."""
        placement = self.node_placement(node, q, v)[0] if node else self.placement(q, v)
        return ca.jacobian(placement.twist, v)

    def angle_of(self, q: ca.SX) -> ca.SX:
        """Angle [rad] including full turns (1,) if the coordinates contain one, else (0,)."""
        return ca.SX(0, 1)

    def kinematics(self, q: ca.SX) -> ca.SX:
        """B(q) (nq, nv)."""
        raise TypeError(f"{type(self).__name__} has no coordinates.")

    def advance(self, q: ca.SX, u: ca.SX, dt: ca.SX) -> ca.SX:
        """Coordinates after moving for `dt` with the constant velocity `u`."""
        raise TypeError(f"{type(self).__name__} has no coordinates.")

    def mass_matrix(self, p: SimpleNamespace) -> ca.SX:
        """M (nv, nv)."""
        raise TypeError(f"{type(self).__name__} has no coordinates.")

    def inner_forces(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        """Contribution of the body to the force vector h (nv,): gyroscopic terms, and forces of its deformation."""
        return ca.SX.zeros(len(self.v_columns))

    def stored_energy(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        """Potential energy [J] of its own deformation."""
        return ca.SX(0)

    def powers(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
        """Power [W] supplied to its deformation, counted as work of loads, and power of its own damping, <= 0."""
        return ca.SX(0), ca.SX(0)

    def linear_forces(self, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
        """Stiffness and damping (nv,) of the part ``-stiffness q - damping v`` of `inner_forces` that is implicit in
        steppers; zero for rigid motion."""
        return ca.SX.zeros(len(self.v_columns)), ca.SX.zeros(len(self.v_columns))


@dataclass(frozen=True, eq=False)
class PlanarBody(Body):
    """Rigid body in the plane, in absolute coordinates of its centre of mass.

    q = (x, y, angle), v = q', M = diag(m, m, J); angles count counter-clockwise and are not wrapped.

    Parameters
    ----------
    mass : m [kg], > 0
    inertia : J [kg m^2], > 0, about the centre of mass
    position, angle : [m], [rad], at the start
    velocity, angular_velocity : [m/s], [rad/s], at the start

    >>> PlanarBody("slider", mass=5.0, inertia=8e-4).start()[0]
    array([0., 0., 0.])
    """

    mass: Annotated[float, Quantity("kg", positive=True)]
    inertia: Annotated[float, Quantity("kg m^2", positive=True)]
    position: Annotated[tuple[float, float], Unit("m")] = (0.0, 0.0)
    angle: Annotated[float, Unit("rad")] = 0.0
    velocity: Annotated[tuple[float, float], Unit("m/s")] = (0.0, 0.0)
    angular_velocity: Annotated[float, Unit("rad/s")] = 0.0
    dimensions = (2,)
    q_columns = (("x", "m"), ("y", "m"), ("angle", "rad"))
    v_columns = (("x", "m/s"), ("y", "m/s"), ("angle", "rad/s"))

    def start(self) -> tuple[Array, Array]:
        q = [_vector(self, "position", 2), _number(self, "angle")]
        v = [_vector(self, "velocity", 2), _number(self, "angular_velocity")]
        return np.concatenate(q), np.concatenate(v)

    def placement(self, q: ca.SX, v: ca.SX) -> Placement:
        return PlanarPlacement(ca.vertcat(q[0], q[1], ca.cos(q[2]), ca.sin(q[2])), v)

    def angle_of(self, q: ca.SX) -> ca.SX:
        return q[2]

    def kinematics(self, q: ca.SX) -> ca.SX:
        return ca.SX.eye(3)

    def advance(self, q: ca.SX, u: ca.SX, dt: ca.SX) -> ca.SX:
        return q + dt * u

    def mass_matrix(self, p: SimpleNamespace) -> ca.SX:
        return ca.diag(ca.vertcat(p.mass, p.mass, p.inertia))


@dataclass(frozen=True, eq=False)
class SpatialBody(Body):
    """Rigid body in space, with a unit quaternion.

    q = (r, quaternion) with the scalar part first, v = (velocity global, omega in the body frame);
    r' = v_r, quaternion' = 1/2 quaternion ∘ (0, omega); M = diag(m, m, m, J) and h carries -omega x J omega.
    A step rotates the quaternion by the Cayley map of omega, which keeps its norm to round-off and agrees with the
    midpoint rule for quaternion' = B(quaternion) omega. ModelError for a number out of its range.

    Parameters
    ----------
    mass : m [kg], > 0
    inertia : [kg m^2]
        Principal moments (Jxx, Jyy, Jzz), or the whole matrix (Jxx, Jyy, Jzz, Jxy, Jxz, Jyz) in the body frame, about
        the centre of mass; positive definite. Jxy, Jxz, Jyz are the matrix's entries, ``Jxy = -∫ x y dm``.
    position : [m]
    quaternion : [-], (w, x, y, z) at the start, of norm 1 within 1e-6; normalised
    velocity : [m/s], global
    angular_velocity : [rad/s], in the body frame

    >>> SpatialBody("top", mass=1.0, inertia=(1e-3, 1e-3, 2e-3)).start()[0]
    array([0., 0., 0., 1., 0., 0., 0.])
    """

    mass: Annotated[float, Quantity("kg", positive=True)]
    inertia: Annotated[tuple[float, ...], Quantity(
        "kg m^2", labels=("xx", "yy", "zz", "xy", "xz", "yz"),
        example="(Jxx, Jyy, Jzz) or (Jxx, Jyy, Jzz, Jxy, Jxz, Jyz)",
    )]  # fmt: skip
    position: Annotated[tuple[float, float, float], Unit("m")] = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    velocity: Annotated[tuple[float, float, float], Unit("m/s")] = (0.0, 0.0, 0.0)
    angular_velocity: Annotated[tuple[float, float, float], Unit("rad/s")] = (0.0, 0.0, 0.0)
    dimensions = (3,)
    q_columns = (("x", "m"), ("y", "m"), ("z", "m"), ("qw", "1"), ("qx", "1"), ("qy", "1"), ("qz", "1"))
    v_columns = (("x", "m/s"), ("y", "m/s"), ("z", "m/s"), ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s"))

    def check_together(self, numbers: Mapping[str, float]) -> None:
        entries = [value for label, value in numbers.items() if label.startswith("inertia")]
        if len(entries) not in (3, 6):
            raise self.error(
                f"inertia takes 3 principal moments or 6 entries (Jxx, Jyy, Jzz, Jxy, Jxz, Jyz), got {len(entries)}."
            )
        smallest = np.linalg.eigvalsh(inertia_matrix(entries))[0]
        if not smallest > 0:
            raise self.error(
                f"inertia must be positive definite, but {tuple(entries)} has the eigenvalue {smallest:.6g} kg m^2."
            )

    def start(self) -> tuple[Array, Array]:
        quaternion = _vector(self, "quaternion", 4)
        norm = math.sqrt(quaternion @ quaternion)
        if abs(norm - 1.0) > 1e-6:
            raise self.error(
                f"quaternion must have norm 1 within 1e-6, got {self.quaternion!r} of norm {norm:.9g}; divide by it."
            )
        q = [_vector(self, "position", 3), quaternion / norm]
        v = [_vector(self, "velocity", 3), _vector(self, "angular_velocity", 3)]
        return np.concatenate(q), np.concatenate(v)

    def placement(self, q: ca.SX, v: ca.SX) -> Placement:
        return SpatialPlacement(ca.vertcat(q[:3], ca.vec(rotation_matrix(q[3:]))), v)

    def kinematics(self, q: ca.SX) -> ca.SX:
        return ca.diagcat(ca.SX.eye(3), 0.5 * _quaternion_rates(q[3:]))

    def advance(self, q: ca.SX, u: ca.SX, dt: ca.SX) -> ca.SX:
        omega = u[3:]
        quarter = dt / 4
        turn = quarter**2 * ca.dot(omega, omega)
        # ((1 - turn) q + 2 quarter E omega) / (1 + turn) as q plus a change, whose round-off is as small as the change
        change = 2 * (quarter * (_quaternion_rates(q[3:]) @ omega) - turn * q[3:]) / (1 + turn)
        return ca.vertcat(q[:3] + dt * u[:3], q[3:] + change)

    def mass_matrix(self, p: SimpleNamespace) -> ca.SX:
        return ca.diagcat(p.mass * ca.SX.eye(3), _inertia_matrix(p.inertia))

    def inner_forces(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        omega = v[3:]
        return ca.vertcat(ca.SX.zeros(3), -ca.cross(omega, _inertia_matrix(p.inertia) @ omega))


def _quaternion_rates(quaternion: ca.SX) -> ca.SX:
    """E (4, 3) with quaternion' = 1/2 E omega, omega in the body frame."""
    w, x, y, z = (quaternion[i] for i in range(4))
    return ca.blockcat([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])


def inertia_matrix(entries: Sequence[float]) -> Array:
    """J (3, 3) of three principal moments or six entries."""
    xx, yy, zz, xy, xz, yz = (*entries, 0.0, 0.0, 0.0)[:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float)


def _inertia_matrix(entries: ca.SX) -> ca.SX:
    xx, yy, zz = entries[0], entries[1], entries[2]
    if entries.numel() == 3:
        return ca.diag(ca.vertcat(xx, yy, zz))
    xy, xz, yz = entries[3], entries[4], entries[5]
    return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _vector(body: Element, field: str, size: int) -> Array:
    try:
        array = floats(getattr(body, field))
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise body.error(f"{field} must be {size} finite numbers, got {shown(getattr(body, field))}.")
    return array


def _number(body: Element, field: str) -> Array:
    value = getattr(body, field)
    if not (is_number(value)):
        raise body.error(f"{field} must be a finite number, got {shown(value)}.")
    return np.array([float(value)])


B = TypeVar("B", PlanarBody, SpatialBody)


@dataclass(frozen=True)
class PointMass(metaclass=Called):
    """A mass without rotational inertia, fixed to a body.

    Parameters
    ----------
    mass : m [kg], > 0
    at : [m], in the frame of the body before masses are added to it: two components in the plane, three in space
    """

    mass: float
    at: tuple[float, ...]

    def __post_init__(self) -> None:
        if not (is_number(self.mass) and self.mass > 0):
            raise ModelError(f"PointMass: mass must be a positive number [kg], got {shown(self.mass)}.")
        try:
            at = floats(self.at)
        except (TypeError, ValueError):
            at = np.array(np.nan)
        if at.shape not in ((2,), (3,)) or not np.all(np.isfinite(at)):
            raise ModelError(f"PointMass: at must be two or three finite numbers [m], got {shown(self.at)}.")


@dataclass(frozen=True)
class Loaded(Generic[B]):
    """A body with masses added to it."""

    #: the composite body, of the same name; its frame is parallel to the former one, in the common centre of mass
    body: B
    shift: tuple[float, ...]  #: the common centre of mass in the former frame [m]

    def at(self, point: Iterable[float]) -> tuple[float, ...]:
        """A point that is given in the former frame, in the frame of the composite body [m]."""
        return tuple(float(x - s) for x, s in zip(point, self.shift, strict=True))


def with_point_masses(body: B, masses: Iterable[PointMass]) -> Loaded[B]:
    """Body and masses as one rigid body: mass, centre of mass and inertia by the parallel-axis theorem.

    With the masses m_i at c_i, and the body m_0 = m at c_0 = 0, the centre of mass moves by
    ``s = sum(m_i c_i) / sum(m_i)``, and with the arms d_i = c_i - s the inertia is
    ``J + sum(m_i (d_i . d_i 1 - d_i d_i'))``. Position and velocity belong to the same rigid motion. The origin of a
    body's frame is its centre of mass, so that points of joints must be converted by ``loaded.at(point)``.

    Parameters
    ----------
    body : planar or spatial
    masses : fixed to it, with as many components as the body has dimensions

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
            raise body.error(f"masses must be PointMass objects, got {shown(one)}.")
        if len(one.at) != dimension:
            raise body.error(f"a mass at {one.at!r} has {len(one.at)} components, but the body has {dimension}.")
    m = np.array([body.mass, *(one.mass for one in masses)])
    points = np.array([np.zeros(dimension), *(np.asarray(one.at, dtype=float) for one in masses)])
    shift = m @ points / m.sum()
    arms = points - shift
    if isinstance(body, PlanarBody):
        cosine, sine = math.cos(body.angle), math.sin(body.angle)
        x, y = cosine * shift[0] - sine * shift[1], sine * shift[0] + cosine * shift[1]
        omega = body.angular_velocity
        inertia: Any = float(body.inertia + m @ (arms * arms).sum(axis=1))
        position = body.position[0] + x, body.position[1] + y
        velocity = body.velocity[0] - omega * y, body.velocity[1] + omega * x
    else:
        J = inertia_matrix(body.inertia)
        for mass, arm in zip(m, arms, strict=True):
            J += mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        inertia = tuple(float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        rotation = np.array(ca.DM(rotation_matrix(ca.DM(body.quaternion))))
        position = np.asarray(body.position) + rotation @ shift
        velocity = np.asarray(body.velocity) + rotation @ np.cross(body.angular_velocity, shift)
    moved: dict[str, Any] = {"position": tuple(map(float, position)), "velocity": tuple(map(float, velocity))}
    loaded = dataclasses.replace(body, mass=float(m.sum()), inertia=inertia, **moved)
    return Loaded(loaded, tuple(map(float, shift)))
