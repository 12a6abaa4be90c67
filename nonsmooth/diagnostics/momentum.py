"""Momentum of the bodies of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Trajectory

__all__ = ["Momentum", "momentum"]


@dataclass(frozen=True, eq=False)
class Momentum:
    """Of each body and in all, at the rows (right limits at impacts).

    Parameters
    ----------
    bodies
        Names (nb,).
    linear
        m v of each body (n, nb, 2) [kg m/s], global frame.
    angular
        About the origin of the global frame, J w + r x m v (n, nb) [kg m^2/s].
    """

    bodies: tuple[str, ...]
    linear: Array
    angular: Array

    @property
    def total_linear(self) -> Array:
        """(n, 2) [kg m/s]."""
        return np.asarray(self.linear.sum(axis=1))

    @property
    def total_angular(self) -> Array:
        """(n,) [kg m^2/s]."""
        return np.asarray(self.angular.sum(axis=1))


def momentum(trajectory: Trajectory) -> Momentum:
    """Linear and angular momentum of a planar mechanism; masses are those of the run's manifest.

    Raises
    ------
    InputError
        For a spatial mechanism.

    Examples
    --------
    >>> from nonsmooth import Model, MoreauJean, PlanarBody, simulate
    >>> puck = PlanarBody("puck", mass=2.0, inertia=0.1, position=(0.0, 1.0), velocity=(3.0, 0.0), angular_velocity=5.0)
    >>> run = simulate(Model([puck]).build(), MoreauJean(), t_end=0.1, dt=0.1)
    >>> momentum(run).total_linear[-1].tolist(), float(momentum(run).total_angular[-1])
    ([6.0, 0.0], -5.5)
    """
    kinds = {element["name"]: element["kind"] for element in trajectory.manifest["model"]["elements"]}
    if "SpatialBody" in kinds.values():
        raise InputError("momentum takes planar mechanisms; this run has a SpatialBody.")
    bodies = tuple(name for name, kind in kinds.items() if kind == "PlanarBody")
    value = {name: entry["value"] for name, entry in trajectory.manifest["parameters"].items()}
    mass = np.array([value[f"{body}.mass"] for body in bodies])
    inertia = np.array([value[f"{body}.inertia"] for body in bodies])

    def columns(table: str, label: str) -> Array:
        named = getattr(trajectory, table)
        return np.array([named[f"{body}.{label}"] for body in bodies]).reshape(len(bodies), -1).T

    x, y = columns("q", "x"), columns("q", "y")
    u, w, spin = columns("v", "x"), columns("v", "y"), columns("v", "angle")
    linear = np.stack([mass * u, mass * w], axis=2)
    return Momentum(bodies, linear, inertia * spin + mass * (x * w - y * u))
