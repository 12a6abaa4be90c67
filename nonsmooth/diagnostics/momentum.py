"""Momentum of the bodies of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.deformation import flexible_body
from nonsmooth.trajectory import Trajectory

__all__ = ["Momentum", "momentum"]

#: kinds of bodies
PLANAR, SPATIAL = ("PlanarBody", "PlanarFlexibleBody"), ("SpatialBody", "SpatialFlexibleBody")


@dataclass(frozen=True, eq=False)
class Momentum:
    """Of each body and in all, at the rows (right limits at impacts).

    Parameters
    ----------
    bodies
        Names (nb,).
    linear
        m v of each body (n, nb, d) [kg m/s] in d dimensions, global frame.
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
            own[:, i : i + 1] = _of_deformed(trajectory, body, own[:, i : i + 1])
        return Momentum(bodies, linear, own + mass * (x * w - y * u))
    spin = [_spin(trajectory, body, _inertia(value, body)) for body in bodies]
    return Momentum(bodies, linear, np.stack(spin, axis=1) + np.cross(r, linear))


def _inertia(value: Mapping[str, float], body: str) -> Array:
    """The inertia matrix (3, 3) [kg m^2] of a spatial body, from its three or six parameters."""
    labels = ("xx", "yy", "zz", "xy", "xz", "yz")
    xx, yy, zz, xy, xz, yz = (value.get(f"{body}.inertia_{label}", 0.0) for label in labels)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _of_deformed(trajectory: Trajectory, body: str, moments: Array) -> Array:
    """Moments of momentum (n, 1 or 3) about the mass centre, in the frame, from those of undeformed bodies."""
    flexible = flexible_body(trajectory, body)
    if flexible is None:
        return moments
    eta = np.array([trajectory.q[f"{body}.eta{i + 1}"] for i in range(flexible.count)])
    symbols = ca.SX.sym("eta", flexible.count), ca.SX.sym("moment", moments.shape[1])
    moment = ca.Function("moment", [*symbols], [flexible.frame.moment(*symbols)])
    return np.asarray(moment(eta, moments.T)).T


def _spin(trajectory: Trajectory, body: str, inertia: Array) -> Array:
    """R J omega (n, 3) [kg m^2/s], the angular momentum about the centre of mass in the global frame."""
    omega = np.column_stack([trajectory.v[f"{body}.w{axis}"] for axis in "xyz"])
    own = _of_deformed(trajectory, body, omega @ inertia)
    w = trajectory.q[f"{body}.qw"][:, None]
    u = np.column_stack([trajectory.q[f"{body}.q{axis}"] for axis in "xyz"])
    # the rotation of a vector by a quaternion of norm n, over n^2, as a placement has it
    turned = (w * w - (u * u).sum(axis=1, keepdims=True)) * own + 2 * w * np.cross(u, own)
    turned += 2 * u * (u * own).sum(axis=1, keepdims=True)
    return np.asarray(turned / (w * w + (u * u).sum(axis=1, keepdims=True)))
