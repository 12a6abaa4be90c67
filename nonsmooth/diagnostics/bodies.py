"""Momentum, deformation and energy losses of a run, from its manifest and its rows."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.flexible_bodies import FlexibleBody, restored_flexible
from nonsmooth.trajectory import Trajectory

PLANAR, SPATIAL = ("PlanarBody", "PlanarFlexibleBody"), ("SpatialBody", "SpatialFlexibleBody")  # kinds of bodies
LOSSES = ("impacts", "contact", "friction", "damping")


def dissipated(trajectory: Trajectory) -> dict[str, float]:
    """Energy [J] that the run has lost by cause.

    ``impacts`` of rigid contacts, ``contact`` for the hysteresis of compliant ones, ``friction``, and ``damping`` of
    dampers. Numerical dissipation is not included: see the remainder of `EnergyLedger`.
    """
    return {name: float(getattr(trajectory.certificate.energy, f"loss_{name}")) for name in LOSSES}


@dataclass(frozen=True, eq=False)
class Momentum:
    """Momentum of each body and in total, at the rows (right limits at impacts).

    Parameters
    ----------
    bodies : names (nb,)
    linear : m v of each body (n, nb, d) [kg m/s] in d dimensions, global frame
    angular
        About the origin of the global frame, J omega + r x m v [kg m^2/s]: (n, nb) in the plane, (n, nb, 3) in space in
        the global frame. Of flexible bodies with their deformation.
    """

    bodies: tuple[str, ...]
    linear: Array
    angular: Array

    @property
    def total_linear(self) -> Array:
        """(n, d) [kg m/s]."""
        return np.asarray(self.linear.sum(axis=1))

    @property
    def total_angular(self) -> Array:
        """(n,) [kg m^2/s] in the plane, (n, 3) in space."""
        return np.asarray(self.angular.sum(axis=1))


def momentum(trajectory: Trajectory) -> Momentum:
    """Linear and angular momentum; masses are those of the run's manifest.

    Examples
    --------
    >>> from nonsmooth import Model, MoreauJean, PlanarBody, SpatialBody, simulate
    >>> puck = PlanarBody("puck", mass=2.0, inertia=0.1, position=(0.0, 1.0), velocity=(3.0, 0.0), angular_velocity=5.0)
    >>> run = simulate(Model([puck]).build(), MoreauJean(), t_end=0.1, dt=0.1)
    >>> momentum(run).total_linear[-1].tolist(), float(momentum(run).total_angular[-1])
    ([6.0, 0.0], -5.5)
    >>> top = SpatialBody("top", mass=2.0, inertia=(0.1, 0.1, 0.2), angular_velocity=(0.0, 0.0, 5.0))
    >>> momentum(simulate(Model([top]).build(), MoreauJean(), t_end=0.1, dt=0.1)).total_angular[-1].tolist()
    [0.0, 0.0, 1.0]
    """
    kinds = {element["name"]: element["kind"] for element in trajectory.manifest["model"]["elements"]}
    bodies = tuple(name for name, kind in kinds.items() if kind in PLANAR + SPATIAL)
    value = {name: entry["value"] for name, entry in trajectory.manifest["parameters"].items()}
    mass = np.array([value[f"{body}.mass"] for body in bodies])
    spatial = any(kind in SPATIAL for kind in kinds.values())
    axes = "xyz" if spatial else "xy"

    def columns(table: str, label: str) -> Array:
        named = getattr(trajectory, table)
        return np.array([named[f"{body}.{label}"] for body in bodies]).reshape(len(bodies), -1).T

    r = np.stack([columns("q", axis) for axis in axes], axis=2)
    linear = np.stack([mass * columns("v", axis) for axis in axes], axis=2)
    if not spatial:
        inertia = np.array([value[f"{body}.inertia"] for body in bodies])
        x, y, u, w = r[..., 0], r[..., 1], columns("v", "x"), columns("v", "y")
        own = inertia * columns("v", "angle")
        for i, body in enumerate(bodies):
            own[:, i : i + 1] = _with_deformation(trajectory, body, own[:, i : i + 1])
        return Momentum(bodies, linear, own + mass * (x * w - y * u))
    spin = []  # R J omega (n, 3) about the centre of mass in the global frame
    for body in bodies:
        labels = ("xx", "yy", "zz", "xy", "xz", "yz")
        xx, yy, zz, xy, xz, yz = (value.get(f"{body}.inertia_{label}", 0.0) for label in labels)
        omega = np.column_stack([trajectory.v[f"{body}.w{axis}"] for axis in "xyz"])
        own = _with_deformation(trajectory, body, omega @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        w = trajectory.q[f"{body}.qw"][:, None]
        u = np.column_stack([trajectory.q[f"{body}.q{axis}"] for axis in "xyz"])
        # the rotation of a vector by a quaternion of norm n, over n^2, as a placement has it
        turned = (w * w - (u * u).sum(axis=1, keepdims=True)) * own + 2 * w * np.cross(u, own)
        turned += 2 * u * (u * own).sum(axis=1, keepdims=True)
        spin.append(turned / (w * w + (u * u).sum(axis=1, keepdims=True)))
    return Momentum(bodies, linear, np.stack(spin, axis=1) + np.cross(r, linear))


def _with_deformation(trajectory: Trajectory, body: str, moments: Array) -> Array:
    """Angular momenta (n, 1 or 3) about the mass centre, in the frame, from those of the undeformed body."""
    flexible = _flexible_body(trajectory, body)
    if flexible is None:
        return moments
    eta = np.array([trajectory.q[f"{body}.eta{i + 1}"] for i in range(flexible.count)])
    symbols = ca.SX.sym("eta", flexible.count), ca.SX.sym("moment", moments.shape[1])
    moment = ca.Function("moment", [*symbols], [flexible.frame.moment(*symbols)])
    return np.asarray(moment(eta, moments.T)).T


def node_positions(trajectory: Trajectory, node: str) -> Array:
    """Positions of a node ``"body.node"`` at the rows (n, d) [m], in the ground frame.

    Raises
    ------
    InputError
        If the run has no such body or node.

    >>> from nonsmooth import Model, MoreauJean, PlanarFlexibleBody, simulate
    >>> from nonsmooth.flexible import Material, Rectangle, beam, modes
    >>> steel = Material(youngs=2.1e11, shear=8e10, density=7850.0)
    >>> rod = beam((0, 0, 0), (0.3, 0, 0), section=Rectangle(0.01, 0.02), material=steel, names={"crank": 0, "pin": 1})
    >>> body = PlanarFlexibleBody("rod", modes(rod, interface=("crank", "pin"), keep=2, damping=0.01))
    >>> run = simulate(Model([body]).build(), MoreauJean(), t_end=1e-3, dt=1e-3)
    >>> node_positions(run, "rod.pin").round(6).tolist()
    [[0.15, 0.0], [0.15, 0.0]]
    """
    name, _, own = node.partition(".")
    body = _required_flexible_body(trajectory, name)
    if own not in body.nodes:
        raise InputError(f'The flexible body "{name}" has no node "{own}"; its nodes are {", ".join(body.nodes)}.')
    q, v = ca.SX.sym("q", len(body.q_columns)), ca.SX.zeros(len(body.v_columns))
    place = ca.Function("place", [q], [body.node_placement(own, q, v)[0].position])
    columns = np.array([trajectory.q[f"{name}.{label}"] for label, _ in body.q_columns])
    return np.asarray(place(columns)).T


def stresses(trajectory: Trajectory, body: str) -> Array:
    """Stresses at the stations of a flexible body's modes at the rows (n, stations, components) [Pa].

    Places and components are those of its `Modes`: ``stations`` and ``components``.

    Raises
    ------
    InputError
        If the run has no such body.
    """
    found = _required_flexible_body(trajectory, body)
    eta = np.array([trajectory.q[f"{body}.eta{i + 1}"] for i in range(found.count)])
    return np.asarray(np.einsum("kcm,mn->nkc", found.modes.stresses, eta))


def _flexible_body(trajectory: Trajectory, name: str) -> FlexibleBody | None:
    """The flexible body of that name, from the run's manifest; None for any other name."""
    found = (one for one in trajectory.manifest["model"]["elements"] if one["name"] == name)
    return next((restored_flexible(one) for one in found), None)


def _required_flexible_body(trajectory: Trajectory, name: str) -> FlexibleBody:
    body = _flexible_body(trajectory, name)
    if body is None:
        names = (one["name"] for one in trajectory.manifest["model"]["elements"])
        known = ", ".join(one for one in names if _flexible_body(trajectory, one) is not None) or "none"
        raise InputError(f'The run has no flexible body "{name}"; it has {known}.')
    return body
