"""Flexible bodies: a floating frame of reference with small deformations, as a sum of modes.

The frame follows the mean motion (Tisserand's axes: the deformation has no momentum in it, and no moment of momentum
about the undeformed body). The rigid coordinates are those of a rigid body, with the mean frame in its place and the
mass centre as its origin; to them come the amplitudes eta of modes of unit modal mass [m kg^1/2].

Inertia changes with deformation. With the angular velocity omega of the mean frame, in it, the kinetic energy is ::

    T = m/2 r'^2 + 1/2 omega' J(eta) omega + omega . H(eta) eta' + 1/2 eta'^2

with the inertia J of the deformed body, of second order in eta, and the coupling H, see `nonsmooth.flexible.Inertia`.
The velocities of the system are those in which this is ``v' M v / 2`` with the constant M of the undeformed body,
v = (r', sigma, w), see `FloatingFrame`.

A node at X from the mass centre, with the translations Phi and rotations Psi of the modes there, has the placement ::

    r + R (X + Phi eta + u2),    R C(Psi eta + psi2),    C(theta) = (1 + a^)(1 - a^)^-1,  a = theta / 2

with Cayley's map C, a rotation for any theta, and the rotation by theta to the second power of it; in the plane angles
add. Its twist is the derivative of this placement. u2 and psi2, of second order in eta, are what the body moves by as
its beams shorten in bending, see `nonsmooth.flexible.Shortening`. Left out are terms of third order in the energy.
With modes without ``changes`` J is constant and H zero.

References
----------
Shabana, A. A., Dynamics of Multibody Systems, 4th ed. (2013), chapters 5 and 6.
Schwertassek, R., Wallrapp, O., Dynamik flexibler Mehrkoerpersysteme (1999), on shortening.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.flexible.modes import Inertia, Modes, Shortening
from nonsmooth.model.bodies import Body, Node, PlanarBody, SpatialBody
from nonsmooth.model.elements import Element
from nonsmooth.model.frames import Placement, PlanarPlacement, SpatialPlacement, rotation_matrix
from nonsmooth.quantities import Quantity, Unit
from nonsmooth.settings import require, shown

#: modes that a body can have, as many as labels of their parameters
MOST = 999
#: share of the largest entry of a matrix of integrals below which entries are round-off
ROUND_OFF = 1e-10


class FloatingFrame:
    """Floating frame of a body with these modes, that turns about these axes: z in the plane, x, y, z in space.

    Steppers take a constant mass matrix. It is found by other velocities (sigma, w), as an angular velocity takes the
    place of the rates of angles::

        eta' = (1 + B' Z B) w,    omega = R^-1 (R_0 sigma - B eta'),    J = R' R,  B = R'^-1 H,  S S' = 1 - B B',
        Z = S'^-1 (1 + S)^-1

    with Cholesky's factors R (R_0 of the undeformed body) and S. For H' J^-1 H = B' B, and N = 1 + B' Z B has
    ``N N' = (1 - B' B)^-1``; so that ``T = 1/2 sigma' J0 sigma + 1/2 w' w``. Without deformation sigma is omega and w
    eta'. The momenta are ``dT/d(omega) = R' R_0 sigma``, the moment of momentum, and ``dT/d(eta') = eta' + H' omega``.

    Hamel's equations: with u = (omega, eta') = V(eta) v and momenta P = dT/du ::

        M v' = V' (-omega x P_omega, -d(P . V v)/d(eta) + forces on eta) + V_dot' P

    References
    ----------
    Hamel, G. (1904), Die Lagrange-Eulerschen Gleichungen der Mechanik, Z. Math. Phys. 50, 1-57.
    Junkins, J. L., Schaub, H. (1997), An instantaneous eigenstructure quasivelocity formulation for nonlinear multibody
    dynamics, J. Astronaut. Sci. 45, 279-295.
    """

    def __init__(self, modes: Modes, axes: tuple[int, ...]) -> None:
        self.modes, self.axes, self.size = modes, list(axes), len(axes)
        self.inertia = np.asarray(modes.inertia)[np.ix_(self.axes, self.axes)]
        #: whether inertia changes with deformation
        self.changing = modes.changes is not None
        self.undeformed = np.linalg.cholesky(self.inertia).T if self.changing else np.eye(self.size)
        self._unscaled = ca.DM(np.linalg.inv(self.undeformed).T)

    def velocities(self, eta: Any, sigma: Any, w: Any) -> tuple[Any, Any]:
        """omega, eta'."""
        if not self.changing:
            return sigma, w
        R, B = self._factors(eta)
        rate = _scaled(B, w)
        return ca.mtimes(_inverse(R), ca.mtimes(ca.DM(self.undeformed), sigma) - ca.mtimes(B, rate)), rate

    def by_velocities(self, eta: Any, by_omega: Any, by_rate: Any) -> Any:
        """Derivative (k, .) by (sigma, w) of what has these derivatives by omega and eta'."""
        if not self.changing:
            return ca.horzcat(by_omega, by_rate)
        R, B = self._factors(eta)
        turned = ca.mtimes(by_omega, _inverse(R))
        by_w = _scaled(B, (by_rate - ca.mtimes(turned, B)).T, transposed=True).T
        return ca.horzcat(ca.mtimes(turned, ca.DM(self.undeformed)), by_w)

    def started(self, eta: Array, omega: Array, rate: Array) -> tuple[Array, Array]:
        """sigma, w of omega, eta'."""
        if not self.changing:
            return omega, rate
        R, B = (np.array(one) for one in self._factors(ca.DM(eta)))
        moved = B @ rate
        sigma = np.linalg.solve(self.undeformed, R @ omega + moved)
        # N^-1 = N' (1 - B' B)
        w = _scaled(ca.DM(B), ca.DM(rate - B.T @ moved), transposed=True)
        return sigma, np.array(w).ravel()

    def moment(self, eta: Any, moment: Any) -> Any:
        """Moment of momentum about the mass centre, in the frame, from that of the undeformed body, J0 sigma."""
        if not self.changing:
            return moment
        return ca.mtimes(self._factors(eta)[0].T, ca.mtimes(self._unscaled, moment))

    def forces(self, eta: ca.SX, sigma: ca.SX, w: ca.SX, moment: ca.SX, elastic: Any) -> ca.SX:
        """h of the turning and of the modes, inertia forces included; `elastic` is -K eta - D eta' of the rates eta'.
        `moment` is J0 sigma with the inertia of the parameters, also where that of the modes is another."""
        if not self.changing:
            turning = ca.SX.zeros(1) if self.size == 1 else -ca.cross(sigma, moment)
            return ca.vertcat(turning, elastic(w))
        R, B = self._factors(eta)
        rate = _scaled(B, w)
        omega = ca.mtimes(_inverse(R), ca.mtimes(ca.DM(self.undeformed), sigma) - ca.mtimes(B, rate))
        s = ca.mtimes(self._unscaled, moment)
        momenta = ca.vertcat(ca.mtimes(R.T, s), rate + ca.mtimes(B.T, s - ca.mtimes(B, rate)))
        turning = ca.SX.zeros(1) if self.size == 1 else -ca.cross(omega, momenta[:3])
        P, v = ca.SX.sym("P", momenta.numel()), ca.vertcat(sigma, w)
        along = ca.dot(P, ca.vertcat(omega, rate))
        slope = ca.gradient(along, eta)
        total = ca.vertcat(turning, elastic(rate) - ca.substitute(slope, P, momenta))
        rates = ca.SX.sym("rates", eta.numel())
        changing = ca.gradient(ca.dot(slope, rates), v)
        changing = ca.substitute(changing, ca.vertcat(P, rates), ca.vertcat(momenta, rate))
        return ca.substitute(ca.gradient(along, v), P, total) + changing

    def _factors(self, eta: Any) -> tuple[Any, Any]:
        """R with J = R' R, and B = R'^-1 H."""
        assert self.modes.changes is not None
        x, J = self.modes.changes, type(eta)(ca.DM(self.inertia))
        rows = []
        for i, a in enumerate(self.axes):
            rows.append(ca.DM(x.turning[a : a + 1]) + ca.mtimes(eta.T, sparse(x.coupling[a])))
            for j, b in enumerate(self.axes[: i + 1]):
                change = ca.mtimes(sparse(x.first[a, b]), eta) + ca.dot(eta, ca.mtimes(sparse(x.second[a, b]), eta))
                J[i, j] += change
                if i != j:
                    J[j, i] += change
        R = ca.chol(J)
        return R, ca.mtimes(_inverse(R).T, ca.vertcat(*rows))


def sparse(matrix: Array) -> ca.DM:
    """A matrix (a row from a vector) without the entries that are round-off of its largest."""
    matrix = np.atleast_2d(matrix)
    least = ROUND_OFF * np.max(np.abs(matrix), initial=0.0)
    return ca.sparsify(ca.DM(np.where(np.abs(matrix) > least, matrix, 0.0)))


def _scaled(B: Any, w: Any, transposed: bool = False) -> Any:
    """N w = w + B' Z B w, or N' w, with ``N N' = (1 - B' B)^-1``."""
    one = ca.DM.eye(B.size1())
    S = ca.chol(one - ca.mtimes(B, B.T)).T
    first, second = _inverse((one + S).T).T, _inverse(S.T)  # (1 + S)^-1, S'^-1
    Z = ca.mtimes(second, first)
    return w + ca.mtimes(B.T, ca.mtimes(Z.T if transposed else Z, ca.mtimes(B, w)))


def _inverse(upper: Any) -> Any:
    """Inverse of an upper triangular matrix of one or three rows."""
    n, found = upper.size1(), ca.diag(1 / ca.diag(upper))
    for j in range(n):
        for i in range(j - 1, -1, -1):
            found[i, j] = -sum(upper[i, k] * found[k, j] for k in range(i + 1, j + 1)) * found[i, i]
    return found


@dataclass(frozen=True, eq=False)
class FlexibleBody(Body):
    """Base of flexible bodies, whose mass, inertia, frequency and damping are parameters taken from the modes."""

    modes: Modes

    #: axes about which the body turns
    axes: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        """Set the parameters from the modes, and the columns of the amplitudes."""
        modes = self.modes
        require(isinstance(modes, Modes), "modes must be Modes, as modes(beam(...)) returns them", modes, self.error)
        if self.dimensions == (2,):
            modes = modes.in_plane()
        count = modes.count
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

    def _count_columns(self, count: int) -> None:
        """Set the columns, those of a rigid body and of the amplitudes."""
        q, v = (tuple((f"eta{i + 1}", unit) for i in range(count)) for unit in ("m kg^1/2", "m kg^1/2/s"))
        object.__setattr__(self, "q_columns", type(self).q_columns + q)
        object.__setattr__(self, "v_columns", type(self).v_columns + v)

    @property
    def count(self) -> int:
        return self.modes.count

    def places(self) -> Mapping[str, Array]:
        return dict(zip(self.modes.names, self.modes.places, strict=True))

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> Element:
        given = {name: value for name, value in data["modes"].items() if name != "kind"}
        for key, kind in (("changes", Inertia), ("shortening", Shortening)):
            arrays = given.get(key)  # not in runs of versions without
            if arrays is not None:
                given[key] = kind(**{name: np.asarray(one) for name, one in arrays.items() if name != "kind"})
        given.pop("geometric", None)  # of runs of versions before
        m = len(given["frequencies"])
        given["stresses"] = np.reshape(given["stresses"], (len(given["stations"]), len(given["components"]), m))
        given["stations"] = np.reshape(given["stations"], (-1, 3))
        given |= {field: tuple(given[field]) for field in ("names", "components")}
        element = super().restored({**data, "modes": Modes(**given)})
        assert isinstance(element, FlexibleBody)
        element._count_columns(m)
        return element

    def node(self, name: str) -> Node:
        """The frame at a node, which stands where a body stands in any element; ModelError if there is no such node."""
        if name not in self.nodes:
            raise self.error(f'it has no node "{name}"; its nodes are {", ".join(self.nodes)}.')
        return Node(f"{self.name}.{name}", self)

    @cached_property
    def frame(self) -> FloatingFrame:
        """Kinematics and inertia of the body."""
        return FloatingFrame(self.modes, self.axes)

    def _parts(self, q: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """eta, sigma, w."""
        return q[-self.count :], v[-self.count - len(self.axes) : -self.count], v[-self.count :]

    @property
    def _rigid(self) -> PlanarBody | SpatialBody:
        """The rigid body with its inertia and start."""
        raise self.error("it has no coordinates.")

    def _moment(self, sigma: ca.SX, p: SimpleNamespace) -> ca.SX:
        """J0 sigma, of the undeformed body with the inertia of the parameters."""
        return self._rigid.mass_matrix(p)[self.dimensions[0] :, self.dimensions[0] :] @ sigma

    def inner_forces(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        eta, sigma, w = self._parts(q, v)
        stretched = -(p.frequency**2) * eta
        forces = self.frame.forces(eta, sigma, w, self._moment(sigma, p), lambda rate: stretched - p.damping * rate)
        return ca.vertcat(ca.SX.zeros(self.dimensions[0]), forces)

    def stored_energy(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        return ca.sumsqr(p.frequency * q[-self.count :]) / 2

    def powers(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
        return ca.SX(0), -ca.dot(p.damping, self.frame.velocities(*self._parts(q, v))[1] ** 2)

    def moment(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        """Moment of momentum about the mass centre, in the axes of the mean frame [kg m^2/s]."""
        eta, sigma, _ = self._parts(q, v)
        return self.frame.moment(eta, self._moment(sigma, p))

    def start(self) -> tuple[Array, Array]:
        n, (q, v), amplitudes = len(self.axes), self._rigid.start(), []
        for what in ("deformation", "deformation_rate"):
            values = getattr(self, what)
            found = np.zeros(self.count) if values is None else np.asarray(values, dtype=float)
            if found.shape != (self.count,) or not np.all(np.isfinite(found)):
                raise self.error(f"{what} must be {self.count} finite numbers, one for each mode, got {shown(values)}.")
            amplitudes.append(found)
        eta, rate = amplitudes
        return np.append(q, eta), np.concatenate([v[:-n], *self.frame.started(eta, v[-n:], rate)])

    def placement(self, q: ca.SX, v: ca.SX) -> Placement:
        return self._framed("", q, *self._velocities(q, v))[0]

    def node_placement(self, node: str, q: ca.SX, v: ca.SX) -> tuple[Placement, ca.SX]:
        return self._framed(node, q, *self._velocities(q, v))

    def twist_map(self, node: str, q: ca.SX, v: ca.SX) -> ca.SX:
        return self._by_velocities(lambda *u: self._framed(node, q, *u)[0].twist, q)

    def kinematics(self, q: ca.SX) -> ca.SX:
        B = self._rigid.kinematics(q[: -self.count])
        return self._by_velocities(lambda velocity, omega, rate: ca.vertcat(B @ ca.vertcat(velocity, omega), rate), q)

    def advance(self, q: ca.SX, u: ca.SX, dt: ca.SX) -> ca.SX:
        eta, sigma, w = self._parts(q, u)
        middle = eta + dt / 2 * w
        # the implicit midpoint rule by two iterations, each of which reduces the error by the square of the deflection
        # over the length
        for _ in range(2 if self.frame.changing else 0):
            middle = eta + dt / 2 * self.frame.velocities(middle, sigma, w)[1]
        velocity, omega, rate = self._velocities(ca.vertcat(q[: -self.count], middle), u)
        rigid = self._rigid.advance(q[: -self.count], ca.vertcat(velocity, omega), dt)
        return ca.vertcat(rigid, q[-self.count :] + dt * rate)

    def mass_matrix(self, p: SimpleNamespace) -> ca.SX:
        return ca.diagcat(self._rigid.mass_matrix(p), ca.SX.eye(self.count))

    def _velocities(self, q: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Velocity of the mass centre, angular velocity of the frame, rates of the modes."""
        return v[: self.dimensions[0]], *self.frame.velocities(*self._parts(q, v))

    def _by_velocities(self, moved: Callable[..., ca.SX], q: ca.SX) -> ca.SX:
        """Derivative by v of a linear function of velocity, angular velocity and rates of the modes."""
        sizes = {"velocity": self.dimensions[0], "omega": len(self.axes), "rate": self.count}
        u = [ca.SX.sym(name, size) for name, size in sizes.items()]
        value = moved(*u)
        by_velocity, by_omega, by_rate = (ca.jacobian(value, one) for one in u)
        return ca.horzcat(by_velocity, self.frame.by_velocities(q[-self.count :], by_omega, by_rate))

    def _framed(self, node: str, q: ca.SX, velocity: Any, omega: Any, rate: Any) -> tuple[Any, ca.SX]:
        """Placement and angle of a node, or of the mean frame by an empty name."""
        raise self.error("it has no coordinates.")

    def _by_node(self, node: str, moving: slice, turning: slice, eta: ca.SX) -> list[ca.SX]:
        """Displacement and rotation of a node along these axes, each with its derivative (k, m) by the amplitudes."""
        i, modes, x, found = self.modes.node(node), self.modes, self.modes.shortening, []
        for of, along in (("translations", moving), ("rotations", turning)):
            derivative = ca.DM(getattr(modes, of)[i, along])
            moved = ca.mtimes(derivative, eta)
            if x is not None:
                per_node = (np.tensordot(one, x.bending, 1) for one in getattr(x, of)[i, along])
                added = ca.vertcat(*(ca.mtimes(eta.T, sparse(one)) for one in per_node))
                moved, derivative = moved + ca.mtimes(added, eta) / 2, derivative + added
            found += [moved, derivative]
        return found

    def linear_forces(self, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
        rigid = ca.SX.zeros(len(self.v_columns) - self.count)
        return ca.vertcat(rigid, p.frequency**2), ca.vertcat(rigid, p.damping)


#: labels of the parameters of modes
NUMBERS = tuple(str(i + 1) for i in range(MOST))


@dataclass(frozen=True, eq=False)
class PlanarFlexibleBody(FlexibleBody):
    """Flexible body in the plane: q = (x, y, angle, eta), of its mean frame and its modes.

    M = diag(m, m, J, 1, ..., 1), see the notes of `nonsmooth.model.flexible_bodies` for the model and its limits.

    Parameters
    ----------
    modes : Modes, of a free body in axes of its mean motion; motions of its nodes out of the plane x-y are left aside
    position, angle : [m], [rad], of the mean frame at the start, whose origin is the mass centre
    velocity, angular_velocity : [m/s], [rad/s], at the start
    deformation, deformation_rate : (m,), optional
        Amplitudes of the modes [m kg^1/2] and their rates at the start; zero by default.

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
    axes = (2,)
    q_columns = PlanarBody.q_columns
    v_columns = PlanarBody.v_columns

    @property
    def _rigid(self) -> PlanarBody:
        return PlanarBody(
            self.name, self.mass, self.inertia, self.position, self.angle, self.velocity, self.angular_velocity
        )

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


@dataclass(frozen=True, eq=False)
class SpatialFlexibleBody(FlexibleBody):
    """Flexible body in space: q = (r, quaternion, eta), v = (velocity global, omega in the mean frame, eta').

    M = diag(m, m, m, J, 1, ..., 1), see the notes of `nonsmooth.model.flexible_bodies` for the model and its limits.

    Parameters
    ----------
    modes, position, deformation, deformation_rate : as in `PlanarFlexibleBody`
    quaternion : [-], (w, x, y, z) at the start, of norm 1 within 1e-6; normalised
    velocity, angular_velocity : [m/s], global; [rad/s], in the mean frame
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
    axes = (0, 1, 2)
    q_columns = SpatialBody.q_columns
    v_columns = SpatialBody.v_columns

    @property
    def _rigid(self) -> SpatialBody:
        return SpatialBody(
            self.name, self.mass, self.inertia, self.position, self.quaternion, self.velocity, self.angular_velocity
        )

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


def restored_flexible(data: Mapping[str, Any]) -> FlexibleBody | None:
    """The flexible body of an element's description; None for another element."""
    for kind in (PlanarFlexibleBody, SpatialFlexibleBody):
        if data["kind"] == kind.__name__:
            body = kind.restored(data)
            assert isinstance(body, FlexibleBody)
            return body
    return None
