"""Checks of a start: finite loads, closed joints, no overlap, independent constraints; and assembly of open joints."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import ModelError
from nonsmooth.model.state import State
from nonsmooth.model.system import System, check_finite

__all__ = ["check_start", "closed_start"]

#: misfit of joints [m or rad] and of their rates [m/s or rad/s] below which a start counts as closed
CLOSED = 1e-9
#: overlap of a contact at the start that is taken for round-off, as a share of its clearance
OVERLAP = 1e-9
#: pivot, relative to the largest, below which a constraint counts as redundant
RANK = 1e-9
ASSEMBLY_ITERATIONS = 50


def check_start(system: System, state: State, parameters: Array) -> None:
    """Raise ModelError unless a run can start from `state`."""
    n = system.numeric
    t, q, v, p = state.t, state.q, state.v, parameters
    check_finite("The coordinate", q, system.names.q)
    check_finite("The velocity", v, system.names.v)
    check_finite("The applied force along", n.h(t, q, v, p)[0], system.names.v)
    _check_independent(system, state, parameters)
    misfit = n.closure(t, q, p)[0]
    _check_closed(system, misfit, "is open by", system.names.constraint_units)
    rate = n.W_g(t, q, p)[0].T @ v + n.g_t(t, q, p)[0]
    _check_closed(system, rate, "moves at", tuple(f"{unit}/s" for unit in system.names.constraint_units))
    gaps = n.distance(q, p)[0]
    scale = n.contact_law(p)[2]
    overlap = np.flatnonzero(gaps < -OVERLAP * scale)
    if overlap.size:
        worst = overlap[np.argmin(gaps[overlap])]
        raise ModelError(
            f'The contact "{system.contact_names[worst]}" overlaps by {-gaps[worst]:.6g} m at the start; '
            "move the bodies apart or enlarge the clearance."
        )


def _check_closed(system: System, values: Array, verb: str, units: tuple[str, ...]) -> None:
    open_rows = np.flatnonzero(np.abs(values) > CLOSED)
    if open_rows.size:
        worst = open_rows[np.argmax(np.abs(values[open_rows]))]
        raise ModelError(
            f'The constraint "{system.constraint_names[worst]}" {verb} {values[worst]:.6g} {units[worst]} at the start; '
            "correct the start, or let build(assemble=True) close the joints."
        )


def _weighted_directions(system: System, state: State, parameters: Array) -> Array:
    """L^-1 W_g with M = L L', columns of norm 1."""
    n = system.numeric
    factor = np.linalg.cholesky(n.M(state.q, parameters)[0])
    directions = scipy.linalg.solve_triangular(factor, n.W_g(state.t, state.q, parameters)[0], lower=True)
    return directions / np.maximum(np.linalg.norm(directions, axis=0), np.finfo(float).tiny)


def _check_independent(system: System, state: State, parameters: Array) -> None:
    if system.ng == 0:
        return
    _, pivots, order = scipy.linalg.qr(_weighted_directions(system, state, parameters), mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(pivots))
    rank = int(np.count_nonzero(diagonal > RANK * diagonal[0]))
    if rank < system.ng:
        names = ", ".join(f'"{system.constraint_names[i]}"' for i in sorted(order[rank:]))
        raise ModelError(
            f"{system.ng - rank} of {system.ng} constraints are redundant at the start: {names} follow(s) from the others. "
            "Remove them, or replace a joint by one with fewer rows."
        )


def closed_start(system: System, state: State, parameters: Array) -> State:
    """The nearest start, in the mass metric, with closed joints and consistent velocities (Newton's method)."""
    n, t, q, p = system.numeric, state.t, state.q.copy(), parameters
    for _ in range(ASSEMBLY_ITERATIONS):
        g = n.g(t, q, p)[0]
        if np.max(np.abs(n.closure(t, q, p)[0]), initial=0.0) <= 1e-14:
            break
        q = n.advance(q, _least_change(system, t, q, p, -g), 1.0)[0]
    misfit = n.closure(t, q, p)[0]
    if not np.max(np.abs(misfit), initial=0.0) <= CLOSED:
        worst = int(np.argmax(np.abs(misfit)))
        raise ModelError(
            f'The joints cannot be assembled from this start: "{system.constraint_names[worst]}" stays open by '
            f"{misfit[worst]:.6g}. Start nearer to a closed configuration or check the lengths."
        )
    rate = n.W_g(t, q, p)[0].T @ state.v + n.g_t(t, q, p)[0]
    return State(t, q, state.v + _least_change(system, t, q, p, -rate))


def _least_change(system: System, t: float, q: Array, p: Array, wanted: Array) -> Array:
    """u of least kinetic energy with W_g' u = wanted (least squares where that is impossible)."""
    n = system.numeric
    W = n.W_g(t, q, p)[0]
    moved = np.linalg.solve(n.M(q, p)[0], W)
    return moved @ np.linalg.lstsq(W.T @ moved, wanted, rcond=1e-12)[0]
