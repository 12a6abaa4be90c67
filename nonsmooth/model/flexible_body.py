"""Base of flexible bodies: what plane and space have in common; see `nonsmooth.model.flexible_bodies` for the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.flexible.inertia import Inertia, Shortening
from nonsmooth.flexible.modes import Modes
from nonsmooth.model.bodies import Body, Node
from nonsmooth.model.elements import Element
from nonsmooth.model.floating_frame import FloatingFrame, sparse
from nonsmooth.model.frames import Placement

__all__ = ["FlexibleBody"]

#: modes that a body can have, as many as labels of their parameters
MOST = 999


@dataclass(frozen=True, eq=False)
class FlexibleBody(Body):
    """Base of flexible bodies, with what plane and space have in common.

    ``mass``, ``inertia``, ``frequency`` and ``damping`` are parameters of the system, taken from the modes.
    """

    modes: Modes

    def __post_init__(self) -> None:
        """Set the parameters from the modes, and the columns of the amplitudes."""
        modes = self.modes
        if not isinstance(modes, Modes):
            raise self.error(f"modes must be Modes, as modes(beam(...)) returns them, got {modes!r}.")
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

    #: axes about which the body turns
    axes: ClassVar[tuple[int, ...]] = ()

    @cached_property
    def frame(self) -> FloatingFrame:
        """Its kinematics and inertia."""
        return FloatingFrame(self.modes, self.axes)

    def _parts(self, q: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """eta, sigma, w."""
        n = len(self.axes)
        return q[-self.count :], v[-self.count - n : -self.count], v[-self.count :]

    def _moment(self, sigma: ca.SX, p: SimpleNamespace) -> ca.SX:
        """J0 sigma, of the undeformed body with the inertia of the parameters."""
        raise self.error("it has no coordinates.")

    def inner_forces(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        eta, sigma, w = self._parts(q, v)

        def elastic(rate: ca.SX) -> ca.SX:
            return -(p.frequency**2) * eta - p.damping * rate

        forces = self.frame.forces(eta, sigma, w, self._moment(sigma, p), elastic)
        return ca.vertcat(ca.SX.zeros(self.dimensions[0]), forces)

    def stored_energy(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        return ca.sumsqr(p.frequency * q[-self.count :]) / 2

    def powers(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
        return ca.SX(0), -ca.dot(p.damping, self.frame.velocities(*self._parts(q, v))[1] ** 2)

    def moment(self, q: ca.SX, v: ca.SX, p: SimpleNamespace) -> ca.SX:
        """Moment of momentum about the mass centre, in the axes of the mean frame [kg m^2/s]."""
        eta, sigma, _ = self._parts(q, v)
        return self.frame.moment(eta, self._moment(sigma, p))

    def _started(
        self, rigid: tuple[Array, Array], deformation: Array | None, deformation_rate: Array | None
    ) -> tuple[Array, Array]:
        """Coordinates and velocities at the start, from those of the rigid body and the amplitudes."""
        n, (q, v) = len(self.axes), rigid
        eta = self._amplitudes(deformation, "deformation")
        rate = self._amplitudes(deformation_rate, "deformation_rate")
        return np.append(q, eta), np.concatenate([v[:-n], *self.frame.started(eta, v[-n:], rate)])

    def placement(self, q: ca.SX, v: ca.SX) -> Placement:
        return self._framed("", q, *self._velocities(q, v))[0]

    def node_placement(self, node: str, q: ca.SX, v: ca.SX) -> tuple[Placement, ca.SX]:
        return self._framed(node, q, *self._velocities(q, v))

    def twist_map(self, node: str, q: ca.SX, v: ca.SX) -> ca.SX:
        u = self._symbols()
        return self._by_velocities(self._framed(node, q, *u)[0].twist, u, q)

    def kinematics(self, q: ca.SX) -> ca.SX:
        u = self._symbols()
        return self._by_velocities(self._rates(q, *u), u, q)

    def _velocities(self, q: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Velocity of the mass centre, angular velocity of the frame, rates of the modes."""
        return v[: self.dimensions[0]], *self.frame.velocities(*self._parts(q, v))

    def _symbols(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Symbols for these."""
        sizes = {"velocity": self.dimensions[0], "omega": len(self.axes), "rate": self.count}
        velocity, omega, rate = (ca.SX.sym(name, size) for name, size in sizes.items())
        return velocity, omega, rate

    def _by_velocities(self, moved: ca.SX, u: tuple[ca.SX, ca.SX, ca.SX], q: ca.SX) -> ca.SX:
        """Derivative by v of what is linear in these symbols."""
        by_velocity, by_omega, by_rate = (ca.jacobian(moved, one) for one in u)
        return ca.horzcat(by_velocity, self.frame.by_velocities(q[-self.count :], by_omega, by_rate))

    def _framed(self, node: str, q: ca.SX, velocity: Any, omega: Any, rate: Any) -> tuple[Any, ca.SX]:
        """Placement and angle of a node, or of the mean frame by an empty name."""
        raise self.error("it has no coordinates.")

    def _rates(self, q: ca.SX, velocity: Any, omega: Any, rate: Any) -> ca.SX:
        """q'."""
        raise self.error("it has no coordinates.")

    def _middle(self, q: ca.SX, u: ca.SX, dt: ca.SX) -> ca.SX:
        """q with the amplitudes in the middle of a step of constant velocity, as the implicit midpoint rule has them.

        By two iterations, each of which reduces the error by the square of the deflection over the length.
        """
        eta, sigma, w = self._parts(q, u)
        middle = eta + dt / 2 * w
        for _ in range(2 if self.frame.changing else 0):
            middle = eta + dt / 2 * self.frame.velocities(middle, sigma, w)[1]
        return ca.vertcat(q[: -self.count], middle)

    def _displaced(self, by_mode: Array, by_beam: Array | None, eta: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Displacement or rotation of a node (k,), and its derivative (k, m) by the amplitudes."""
        derivative = ca.DM(by_mode)
        moved = ca.mtimes(derivative, eta)
        if by_beam is None or self.modes.shortening is None:
            return moved, derivative
        per_node = (np.tensordot(one, self.modes.shortening.bending, 1) for one in by_beam)
        added = ca.vertcat(*(ca.mtimes(eta.T, sparse(one)) for one in per_node))
        return moved + ca.mtimes(added, eta) / 2, derivative + added

    def _by_node(self, node: str, moving: slice, turning: slice, eta: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Displacement and rotation of a node along these axes, each with its derivative by the amplitudes."""
        i, modes, x = self.modes.node(node), self.modes, self.modes.shortening
        moved = self._displaced(modes.translations[i, moving], None if x is None else x.translations[i, moving], eta)
        turned = self._displaced(modes.rotations[i, turning], None if x is None else x.rotations[i, turning], eta)
        return *moved, *turned

    def linear_forces(self, p: SimpleNamespace) -> tuple[ca.SX, ca.SX]:
        rigid = ca.SX.zeros(len(self.v_columns) - self.count)
        return ca.vertcat(rigid, p.frequency**2), ca.vertcat(rigid, p.damping)
