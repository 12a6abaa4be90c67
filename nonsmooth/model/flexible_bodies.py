"""Flexible bodies: a floating frame of reference with small deformations, as a sum of modes.

The frame follows the mean motion (Tisserand's axes: the deformation has no momentum and no moment of momentum in it),
so that for small deformations the mass matrix is constant, and block-diagonal: mass, inertia, ones for the modes. The
rigid coordinates are those of a rigid body, with the mean frame in its place; to them come the amplitudes eta of modes
of unit modal mass [m kg^1/2]. With the velocities v = (velocity, angular velocity, eta') the kinetic energy is
``v' M v / 2``, that of the undeformed body and of the modes, and the forces on itself are ::

    gyroscopic terms of the rigid body,    -omega_k^2 eta_k - D_k eta_k'

Energy, momentum and moment of momentum of this model are kept by its equations of motion, not approximately: applied
forces act at the deformed places.

A node at X from the mass centre, with the translations Phi and rotations Psi of the modes there, has the placement ::

    r + R (X + Phi eta),    R C(Psi eta),    C(theta) = (1 + a^)(1 - a^)^-1,  a = theta / 2

with Cayley's map C, a rotation for any theta, and the rotation by theta to the second power of it; in the plane the
angle is that of the frame plus Psi eta. Its twist is the derivative of this placement.

What is left out is of the order of the deformation over the length: change of inertia by deformation, thus the
centrifugal and Coriolis forces of the frame on the modes, and with that the stretching of a spinning rod, of the order
of (spin / frequency)^2.

``stiffening=True`` adds the geometric stiffness of slender parts: what axial forces, of the modes that carry them and
of the centrifugal forces of the undeformed body, add to the stiffness of bending. The part of the modes has a
potential, cubic in eta and thus for small deformations only; the power of the centrifugal part, whose reaction on the
spin is of second order in eta and left out, is booked as that of loads. `MoreauJean` takes both explicitly, unlike the
stiffness of the modes.

References
----------
Shabana, A. A., Dynamics of Multibody Systems, 4th ed. (2013), chapters 5 and 6.
Likins, P. W. (1967), Modal method for analysis of free rotations of spacecraft, AIAA J. 5, 1304-1308.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any

import casadi as ca
import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.flexible.modes import Geometric, Modes
from nonsmooth.model.bodies import Body, Node, PlanarBody, SpatialBody
from nonsmooth.model.elements import Element
from nonsmooth.model.frames import Placement, PlanarPlacement, SpatialPlacement, rotation_matrix
from nonsmooth.quantities import Quantity, Unit

__all__ = ["FlexibleBody", "PlanarFlexibleBody", "SpatialFlexibleBody"]

#: modes that a body can have, as many as labels of their parameters
MOST = 999
NUMBERS = tuple(str(i + 1) for i in range(MOST))


@dataclass(frozen=True, eq=False)
class FlexibleBody(Body):
    """Base of flexible bodies, with what plane and space have in common.

    ``mass``, ``inertia``, ``frequency`` and ``damping`` are parameters of the system, taken from the modes.
    """

    modes: Modes
    stiffening: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Set the parameters from the modes, and the columns of the amplitudes."""
        modes = self.modes
        if not isinstance(modes, Modes):
            raise self.error(f"modes must be Modes, as modes(beam(...)) returns them, got {modes!r}.")
        if self.dimensions == (2,):
            modes = modes.in_plane()
        count = modes.count
        if self.stiffening and modes.geometric is None:
            raise self.error("stiffening takes modes with geometric stiffness, which these do not have.")
        if not 1 <= count <= MOST:
            raise self.error(f"it takes 1 to {MOST} modes, got {count}; a body without modes is a rigid one.")
        J = np.asarray(modes.inertia, dtype=float)
        entries = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        inertia = float(J[2, 2]) if self.dimensions == (2,) else tuple(float(x) for x in entries)
        for name, value in (
            ("modes", modes),
            ("mass", float(modes.mass)),
            ("inertia", inertia),
            ("frequency", tuple(float(x) for x in modes.frequencies)),
            ("damping", tuple(float(x) for x in modes.damping)),
        ):
            object.__setattr__(self, name, value)
        self._count_columns(count)
        super().__post_init__()
        self.start()

    def _count_columns(self, count: int) -> None:
        """Set the columns, those of a rigid body and of the amplitudes."""
        q, v = (tuple((f"eta{i + 1}", unit) for i in range(count)) for unit in ("m kg^1/2", "m kg^1/2/s"))
        object.__setattr__(self, "q_columns", type(self).q_columns + q)
        object.__setattr__(self, "v_columns", type(self).v_columns + v)

    @property
    def count(self) -> int:
        """Number of modes."""
        return self.modes.count

    def places(self) -> Mapping[str, Array]:
        return dict(zip(self.modes.names, self.modes.places, strict=True))

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> Element:
        given = {field: value for field, value in data["modes"].items() if field not in ("kind", "geometric")}
        m = len(given["frequencies"])
        given["stresses"] = np.reshape(given["stresses"], (len(given["stations"]), len(given["components"]), m))
        given["stations"] = np.reshape(given["stations"], (-1, 3))
        given |= {field: tuple(given[field]) for field in ("names", "components")}
        element = super().restored({**data, "modes": Modes(**given)})
        assert isinstance(element, FlexibleBody)
        element._count_columns(m)
        return element

    def node(self, name: str) -> Node:
        """The frame at a node, which stands where a body stands in any element.

        Raises
        ------
        ModelError
            If there is no such node.
        """
        if name not in self.nodes:
            raise self.error(f'it has no node "{name}"; its nodes are {", ".join(self.nodes)}.')
        return Node(f"{self.name}.{name}", self)

    def _amplitudes(self, values: Array | None, what: str) -> Array:
        found = np.zeros(self.count) if values is None else np.asarray(values, dtype=float)
        if found.shape != (self.count,) or not np.all(np.isfinite(found)):
            raise self.error(f"{what} must be {self.count} finite numbers, one for each mode, got {values!r}.")
        return found

    def inner_forces(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        eta, rate = q[-self.count :], v[-self.count :]
        force = -(p.frequency**2) * eta - p.damping * rate
        if self.stiffening:
            bent = self._stretched(eta)
            by_stretch = ca.vertcat(*(ca.dot(eta, one) for one in bent)) / 2 + ca.mtimes(ca.horzcat(*bent), eta)
            force = force - by_stretch - self._centrifugal(v) @ eta
        return ca.vertcat(self.gyroscopic(v, p), force)

    def stored_energy(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        eta = q[-self.count :]
        energy = ca.sumsqr(p.frequency * eta) / 2
        if self.stiffening:
            energy += ca.dot(eta, ca.vertcat(*(ca.dot(eta, one) for one in self._stretched(eta)))) / 2
        return energy

    def powers(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
        eta, rate = q[-self.count :], v[-self.count :]
        given = -ca.dot(rate, self._centrifugal(v) @ eta) if self.stiffening else ca.SX(0)
        return given, -ca.dot(p.damping, rate**2)

    @property
    def _geometric(self) -> Geometric:
        assert self.modes.geometric is not None
        return self.modes.geometric

    def _stretched(self, eta: ca.SX) -> list[ca.SX]:
        """S_k eta by mode, with the stiffness S_k of bending by the axial forces of mode k."""
        return [ca.sparsify(ca.DM(one)) @ eta for one in self._geometric.stretch]

    def _centrifugal(self, v: ca.SX) -> ca.SX:
        """Stiffness (m, m) by the centrifugal forces of the spin."""
        omega, spin = self._spin(v), self._geometric.spin
        stiffness = ca.SX(self.count, self.count)
        for a, one in omega.items():
            for b, other in omega.items():
                stiffness += one * other * ca.sparsify(ca.DM(spin[a, b]))
        return stiffness

    def _spin(self, v: ca.SX) -> dict[int, ca.SX]:
        """Components of the angular velocity of the mean frame, in it, by axis."""
        raise self.error("it has no coordinates.")

    def linear_forces(self, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
        rigid = ca.SX.zeros(len(self.v_columns) - self.count)
        return ca.vertcat(rigid, p.frequency**2), ca.vertcat(rigid, p.damping)


@dataclass(frozen=True, eq=False)
class PlanarFlexibleBody(FlexibleBody):
    """Flexible body in the plane: q = (x, y, angle, eta), of its mean frame and its modes.

    M = diag(m, m, J, 1, ..., 1), see the notes of `nonsmooth.model.flexible_bodies` for the model and its limits.

    Parameters
    ----------
    modes : Modes
        Of a free body in axes of its mean motion; motions of its nodes out of the plane x-y are left aside.
    position, angle : [m], [rad]
        Of the mean frame at the start, whose origin is the mass centre.
    velocity, angular_velocity : [m/s], [rad/s]
        At the start.
    deformation, deformation_rate : (m,), optional
        Amplitudes of the modes [m kg^1/2] and their rates at the start; zero by default.
    stiffening : bool
        Whether axial and centrifugal forces change the stiffness of bending; for modes with geometric stiffness.

    Raises
    ------
    ModelError
        If a number is not finite, or the modes do not fit.

    >>> from nonsmooth.flexible import Material, Rectangle, beam, modes
    >>> steel = Material(youngs=2.1e11, shear=8e10, density=7850.0)
    >>> rod = beam((0, 0, 0), (0.3, 0, 0), section=Rectangle(0.01, 0.02), material=steel, names={"crank": 0, "pin": 1})
    >>> body = PlanarFlexibleBody("rod", modes(rod, interface=("crank", "pin"), keep=2, damping=0.01))
    >>> body.node("pin").name
    'rod.pin'
    """

    position: Annotated[tuple[float, float], Unit("m")] = (0.0, 0.0)
    angle: Annotated[float, Unit("rad")] = 0.0
    velocity: Annotated[tuple[float, float], Unit("m/s")] = (0.0, 0.0)
    angular_velocity: Annotated[float, Unit("rad/s")] = 0.0
    deformation: Array | None = None
    deformation_rate: Array | None = None
    mass: Annotated[float, Quantity("kg", positive=True)] = field(init=False)
    inertia: Annotated[float, Quantity("kg m^2", positive=True)] = field(init=False)
    frequency: Annotated[tuple[float, ...], Quantity("rad/s", nonnegative=True, labels=NUMBERS)] = field(init=False)
    damping: Annotated[tuple[float, ...], Quantity("1/s", nonnegative=True, labels=NUMBERS)] = field(init=False)

    dimensions = (2,)
    q_columns = PlanarBody.q_columns
    v_columns = PlanarBody.v_columns

    @property
    def _rigid(self) -> PlanarBody:
        return PlanarBody(
            self.name, self.mass, self.inertia, self.position, self.angle, self.velocity, self.angular_velocity
        )

    def start(self) -> tuple[Array, Array]:
        q, v = self._rigid.start()
        eta = self._amplitudes(self.deformation, "deformation")
        return np.append(q, eta), np.append(v, self._amplitudes(self.deformation_rate, "deformation_rate"))

    def placement(self, q: ca.SX, v: ca.SX) -> Placement:
        return self._rigid.placement(q[:3], v[:3])

    def angle_of(self, q: ca.SX) -> ca.SX:
        return q[2]

    def node_placement(self, node: str, q: ca.SX, v: ca.SX) -> tuple[Placement, ca.SX]:
        i, frame = self.modes.node(node), self.placement(q, v)
        Phi, Psi = self.modes.translations[i, :2], self.modes.rotations[i, 2:3]
        local, rate = self.modes.places[i, :2] + ca.mtimes(Phi, q[3:]), ca.mtimes(Phi, v[3:])
        angle = q[2] + ca.mtimes(Psi, q[3:])
        z = ca.vertcat(frame.point(local), ca.cos(angle), ca.sin(angle))
        velocity = frame.point_velocity(local) + frame.rotate(rate)
        return PlanarPlacement(z, ca.vertcat(velocity, v[2] + ca.mtimes(Psi, v[3:]))), angle

    def kinematics(self, q: ca.SX) -> ca.SX:
        return ca.SX.eye(q.numel())

    def advance(self, q: ca.SX, u: ca.SX, dt: ca.SX) -> ca.SX:
        return q + dt * u

    def _spin(self, v: ca.SX) -> dict[int, ca.SX]:
        return {2: v[2]}

    def mass_matrix(self, p: SimpleNamespace) -> ca.SX:
        return ca.diag(ca.vertcat(p.mass, p.mass, p.inertia, ca.SX.ones(self.count)))

    def gyroscopic(self, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        return ca.SX.zeros(3)


@dataclass(frozen=True, eq=False)
class SpatialFlexibleBody(FlexibleBody):
    """Flexible body in space: q = (r, quaternion, eta), v = (velocity global, omega in the mean frame, eta').

    M = diag(m, m, m, J, 1, ..., 1), see the notes of `nonsmooth.model.flexible_bodies` for the model and its limits.

    Parameters
    ----------
    modes : Modes
        Of a free body in axes of its mean motion.
    position : [m]
        Of the mean frame at the start, whose origin is the mass centre.
    quaternion : [-]
        (w, x, y, z) at the start, of norm 1 within 1e-6; normalised.
    velocity : [m/s]
        Global.
    angular_velocity : [rad/s]
        In the mean frame.
    deformation, deformation_rate : (m,), optional
        Amplitudes of the modes [m kg^1/2] and their rates at the start; zero by default.
    stiffening : bool
        Whether axial and centrifugal forces change the stiffness of bending; for modes with geometric stiffness.

    Raises
    ------
    ModelError
        If a number is not finite, the quaternion not of norm 1, or the modes do not fit.

    >>> from nonsmooth.flexible import Material, Rectangle, beam, modes
    >>> steel = Material(youngs=2.1e11, shear=8e10, density=7850.0)
    >>> rod = beam((0, 0, 0), (0.3, 0, 0), section=Rectangle(0.01, 0.02), material=steel, names={"crank": 0, "pin": 1})
    >>> body = SpatialFlexibleBody("rod", modes(rod, interface=("crank", "pin"), keep=2, damping=0.01))
    >>> body.node("pin").name
    'rod.pin'
    """

    position: Annotated[tuple[float, float, float], Unit("m")] = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    velocity: Annotated[tuple[float, float, float], Unit("m/s")] = (0.0, 0.0, 0.0)
    angular_velocity: Annotated[tuple[float, float, float], Unit("rad/s")] = (0.0, 0.0, 0.0)
    deformation: Array | None = None
    deformation_rate: Array | None = None
    mass: Annotated[float, Quantity("kg", positive=True)] = field(init=False)
    inertia: Annotated[
        tuple[float, ...], Quantity("kg m^2", labels=("xx", "yy", "zz", "xy", "xz", "yz"))
    ] = field(init=False)  # fmt: skip
    frequency: Annotated[tuple[float, ...], Quantity("rad/s", nonnegative=True, labels=NUMBERS)] = field(init=False)
    damping: Annotated[tuple[float, ...], Quantity("1/s", nonnegative=True, labels=NUMBERS)] = field(init=False)

    dimensions = (3,)
    q_columns = SpatialBody.q_columns
    v_columns = SpatialBody.v_columns

    @property
    def _rigid(self) -> SpatialBody:
        return SpatialBody(
            self.name, self.mass, self.inertia, self.position, self.quaternion, self.velocity, self.angular_velocity
        )

    def start(self) -> tuple[Array, Array]:
        q, v = self._rigid.start()
        eta = self._amplitudes(self.deformation, "deformation")
        return np.append(q, eta), np.append(v, self._amplitudes(self.deformation_rate, "deformation_rate"))

    def placement(self, q: ca.SX, v: ca.SX) -> Placement:
        return self._rigid.placement(q[:7], v[:6])

    def node_placement(self, node: str, q: ca.SX, v: ca.SX) -> tuple[Placement, ca.SX]:
        i, frame = self.modes.node(node), self.placement(q, v)
        assert isinstance(frame, SpatialPlacement)
        Phi, Psi = self.modes.translations[i], self.modes.rotations[i]
        local, rate = self.modes.places[i] + ca.mtimes(Phi, q[7:]), ca.mtimes(Phi, v[6:])
        a, a_rate = ca.mtimes(Psi, q[7:]) / 2, ca.mtimes(Psi, v[6:]) / 2
        turned = rotation_matrix(ca.vertcat(1, a))  # Cayley's map of twice a
        z = ca.vertcat(frame.point(local), ca.vec(frame.rotation @ turned))
        velocity = frame.point_velocity(local) + frame.rotate(rate)
        spin = turned.T @ v[3:6] + 2 * (a_rate - ca.cross(a, a_rate)) / (1 + ca.sumsqr(a))
        return SpatialPlacement(z, ca.vertcat(velocity, spin)), ca.SX(0, 1)

    def kinematics(self, q: ca.SX) -> ca.SX:
        return ca.diagcat(self._rigid.kinematics(q[:7]), ca.SX.eye(self.count))

    def advance(self, q: ca.SX, u: ca.SX, dt: ca.SX) -> ca.SX:
        return ca.vertcat(self._rigid.advance(q[:7], u[:6], dt), q[7:] + dt * u[6:])

    def _spin(self, v: ca.SX) -> dict[int, ca.SX]:
        return {0: v[3], 1: v[4], 2: v[5]}

    def mass_matrix(self, p: SimpleNamespace) -> ca.SX:
        return ca.diagcat(self._rigid.mass_matrix(p), ca.SX.eye(self.count))

    def gyroscopic(self, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        return self._rigid.gyroscopic(v[:6], p)
