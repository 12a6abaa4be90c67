"""Flexible bodies: a floating frame of reference with small deformations, as a sum of modes.

The frame follows the mean motion (Tisserand's axes: the deformation has no momentum in it, and no moment of momentum
about the undeformed body). The rigid coordinates are those of a rigid body, with the mean frame in its place and the
mass centre as its origin; to them come the amplitudes eta of modes of unit modal mass [m kg^1/2].

Inertia changes with deformation. With the angular velocity omega of the mean frame, in it, the kinetic energy is ::

    T = m/2 r'^2 + 1/2 omega' J(eta) omega + omega . H(eta) eta' + 1/2 eta'^2

with the inertia J of the deformed body, of second order in eta, and the coupling H, see `nonsmooth.flexible.Inertia`.
The velocities of the system are those in which this is ``v' M v / 2`` with the constant M of the undeformed body,
v = (r', sigma, w), see `nonsmooth.model.floating_frame`: sigma is the angular velocity and w the rates of the modes but
for terms of the order of the deformation. The forces on itself have all gyroscopic, centrifugal and Coriolis forces.
Energy, momentum and moment of momentum are kept by the equations themselves, not approximately: applied forces act at
the deformed places.

A node at X from the mass centre, with the translations Phi and rotations Psi of the modes there, has the placement ::

    r + R (X + Phi eta + u2),    R C(Psi eta + psi2),    C(theta) = (1 + a^)(1 - a^)^-1,  a = theta / 2

with Cayley's map C, a rotation for any theta, and the rotation by theta to the second power of it; in the plane angles
add. Its twist is the derivative of this placement. u2 and psi2, of second order in eta, are what the body moves by as
its beams shorten in bending, see `nonsmooth.flexible.Shortening`. With them axial forces act on bending, of joints and
loads at the nodes and of inertia: geometric stiffness, in forces that have a potential or are inertia forces.

Left out are terms of third order in the energy, thus the kinetic energy of the rates of u2. With modes without
``changes`` J is constant and H zero.

References
----------
Shabana, A. A., Dynamics of Multibody Systems, 4th ed. (2013), chapters 5 and 6.
Schwertassek, R., Wallrapp, O., Dynamik flexibler Mehrkoerpersysteme (1999), on shortening.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any

import casadi as ca

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.bodies import PlanarBody, SpatialBody
from nonsmooth.model.flexible_body import MOST, FlexibleBody
from nonsmooth.model.frames import PlanarPlacement, SpatialPlacement, rotation_matrix
from nonsmooth.quantities import Quantity, Unit

__all__ = ["FlexibleBody", "PlanarFlexibleBody", "SpatialFlexibleBody", "restored_flexible"]

#: labels of the parameters of modes
NUMBERS = tuple(str(i + 1) for i in range(MOST))


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

    axes = (2,)

    def start(self) -> tuple[Array, Array]:
        return self._started(self._rigid.start(), self.deformation, self.deformation_rate)

    def angle_of(self, q: ca.SX) -> ca.SX:
        return q[2]

    def _framed(self, node: str, q: ca.SX, velocity: Any, omega: Any, rate: Any) -> tuple[Any, ca.SX]:
        frame = self._rigid.placement(q[:3], ca.vertcat(velocity, omega))
        if not node:
            return frame, q[2]
        moved, by_moving, turned, by_turning = self._by_node(node, slice(2), slice(2, 3), q[3:])
        local, angle = self.modes.places[self.modes.node(node), :2] + moved, q[2] + turned
        z = ca.vertcat(frame.point(local), ca.cos(angle), ca.sin(angle))
        moving = frame.point_velocity(local) + frame.rotate(ca.mtimes(by_moving, rate))
        return PlanarPlacement(z, ca.vertcat(moving, omega + ca.mtimes(by_turning, rate))), angle

    def _moment(self, sigma: ca.SX, p: SimpleNamespace) -> ca.SX:
        return p.inertia * sigma

    def _rates(self, q: ca.SX, velocity: Any, omega: Any, rate: Any) -> ca.SX:
        return ca.vertcat(velocity, omega, rate)

    def advance(self, q: ca.SX, u: ca.SX, dt: ca.SX) -> ca.SX:
        return q + dt * ca.vertcat(*self._velocities(self._middle(q, u, dt), u))

    def mass_matrix(self, p: SimpleNamespace) -> ca.SX:
        return ca.diag(ca.vertcat(p.mass, p.mass, p.inertia, ca.SX.ones(self.count)))


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

    axes = (0, 1, 2)

    def start(self) -> tuple[Array, Array]:
        return self._started(self._rigid.start(), self.deformation, self.deformation_rate)

    def _framed(self, node: str, q: ca.SX, velocity: Any, omega: Any, rate: Any) -> tuple[Any, ca.SX]:
        frame = self._rigid.placement(q[:7], ca.vertcat(velocity, omega))
        assert isinstance(frame, SpatialPlacement)
        if not node:
            return frame, ca.SX(0, 1)
        moved, by_moving, turned, by_turning = self._by_node(node, slice(3), slice(3), q[7:])
        local, a, a_rate = self.modes.places[self.modes.node(node)] + moved, turned / 2, ca.mtimes(by_turning, rate) / 2
        R = rotation_matrix(ca.vertcat(1, a))  # Cayley's map of twice a
        z = ca.vertcat(frame.point(local), ca.vec(frame.rotation @ R))
        moving = frame.point_velocity(local) + frame.rotate(ca.mtimes(by_moving, rate))
        spin = R.T @ omega + 2 * (a_rate - ca.cross(a, a_rate)) / (1 + ca.sumsqr(a))
        return SpatialPlacement(z, ca.vertcat(moving, spin)), ca.SX(0, 1)

    def _moment(self, sigma: ca.SX, p: SimpleNamespace) -> ca.SX:
        return self._rigid.mass_matrix(p)[3:, 3:] @ sigma

    def _rates(self, q: ca.SX, velocity: Any, omega: Any, rate: Any) -> ca.SX:
        return ca.vertcat(self._rigid.kinematics(q[:7]) @ ca.vertcat(velocity, omega), rate)

    def advance(self, q: ca.SX, u: ca.SX, dt: ca.SX) -> ca.SX:
        velocity, omega, rate = self._velocities(self._middle(q, u, dt), u)
        return ca.vertcat(self._rigid.advance(q[:7], ca.vertcat(velocity, omega), dt), q[7:] + dt * rate)

    def mass_matrix(self, p: SimpleNamespace) -> ca.SX:
        return ca.diagcat(self._rigid.mass_matrix(p), ca.SX.eye(self.count))


def restored_flexible(data: Mapping[str, Any]) -> FlexibleBody | None:
    """The flexible body of an element's description; None for another element."""
    for kind in (PlanarFlexibleBody, SpatialFlexibleBody):
        if data["kind"] == kind.__name__:
            body = kind.restored(data)
            assert isinstance(body, FlexibleBody)
            return body
    return None
