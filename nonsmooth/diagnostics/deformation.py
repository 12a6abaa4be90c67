"""Deformation of the flexible bodies of a run: positions of their nodes, and stresses."""

from __future__ import annotations

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.flexible_bodies import FlexibleBody, restored_flexible
from nonsmooth.trajectory import Trajectory

__all__ = ["flexible_body", "node_positions", "stresses"]


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
    body = _body(trajectory, name)
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
    found = _body(trajectory, body)
    eta = np.array([trajectory.q[f"{body}.eta{i + 1}"] for i in range(found.count)])
    return np.asarray(np.einsum("kcm,mn->nkc", found.modes.stresses, eta))


def flexible_body(trajectory: Trajectory, name: str) -> FlexibleBody | None:
    """The flexible body of that name, from the run's manifest; None for any other name."""
    found = (one for one in trajectory.manifest["model"]["elements"] if one["name"] == name)
    return next((restored_flexible(one) for one in found), None)


def _body(trajectory: Trajectory, name: str) -> FlexibleBody:
    body = flexible_body(trajectory, name)
    if body is None:
        names = (one["name"] for one in trajectory.manifest["model"]["elements"])
        known = ", ".join(one for one in names if flexible_body(trajectory, one) is not None) or "none"
        raise InputError(f'The run has no flexible body "{name}"; it has {known}.')
    return body
