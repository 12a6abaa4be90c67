"""Checks of a start: finite loads, closed joints, no overlap, independent constraints; and assembly of open joints."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import scipy.linalg

from nonsmooth.evaluation import Array, Evaluator
from nonsmooth.exceptions import ModelError
from nonsmooth.model.signals import signal_values
from nonsmooth.model.state import State
from nonsmooth.model.system import System, check_finite

__all__ = ["check_start", "closed_start"]

#: misfit of joints [m or rad] and of their rates [m/s or rad/s] below which a start counts as closed
CLOSED = 1e-9
#: overlap of a contact at the start that is taken for round-off, as a share of its clearance
OVERLAP = 1e-9
#: overlap of compliant surfaces that can be meant, as a share of the clearance
GIVING = 1.0
#: share of a constraint's direction, besides what the others span, below which it counts as redundant
RANK = 1e-9
#: misfit [m or rad] at which assembly is content: round-off of lengths of the order of 1 m
ASSEMBLED = 1e-14
ASSEMBLY_ITERATIONS = 50
#: shortest share of a Newton step that assembly tries before it gives up
SHORTEST_SHARE = 1e-4


def check_start(system: System, state: State, parameters: Array) -> None:
    """Raise ModelError unless a run can start from `state`, or go on from it if it is the end of another."""
    n = system.numeric
    t, q, v, p = state.t, state.q, state.v, parameters
    units = system.names.constraint_units
    check_finite("The coordinate", q, system.names.q)
    check_finite("The velocity", v, system.names.v)
    force = n.h(t, q, v, p)[0]
    if not np.all(np.isfinite(force)):
        _check_signals(system, t)
        check_finite("The applied force along", force, system.names.v)
    _check_motion(system, state, parameters)
    _check_closed(system, n.closure(t, q, p)[0], "is open by", units)
    _check_independent(system, state, parameters)
    if state.stepper_memory:  # a run goes on as it was: implicit Euler leaves joint rates, velocity schemes overlaps
        return
    _check_closed(system, _rates(system, state, parameters), "moves at", tuple(f"{unit}/s" for unit in units))
    gaps = n.distance(q, p)[0]
    allowed = OVERLAP if system.compliance is None else GIVING
    overlap = np.flatnonzero(~(gaps >= -allowed * n.contact_law(p)[3]))
    if overlap.size:
        worst = overlap[np.argmin(gaps[overlap])]
        raise ModelError(
            f'The contact "{system.contact_names[worst]}" overlaps by {-gaps[worst]:.6g} m at the start; '
            "move the bodies apart or enlarge the clearance."
        )


def _check_signals(system: System, t: float) -> None:
    """Raise ModelError that names the load or motion whose value at t is not finite."""
    for element in system.elements:
        for field in dataclasses.fields(element):
            signal = getattr(element, field.name)
            if callable(signal):
                values = signal_values(element.name, field.name, signal, t)
                if not np.all(np.isfinite(values)):
                    value = values[0] if values.size == 1 else tuple(values.tolist())
                    raise element.error(f"{field.name} is {value} at t = {t:g} s; it must be finite there.")


def _rates(system: System, state: State, parameters: Array) -> Array:
    """Rates of the joints, dg/dt."""
    n, t, q, p = system.numeric, state.t, state.q, parameters
    rates: Array = n.W_g(t, q, p)[0].T @ state.v + n.g_t(t, q, p)[0]
    return rates


def _check_motion(system: System, state: State, parameters: Array) -> None:
    """Raise ModelError that names a driver whose motion or its rate is not finite."""
    misfit = system.numeric.closure(state.t, state.q, parameters)[0]
    bad = np.flatnonzero(~np.isfinite(misfit + _rates(system, state, parameters)))
    if bad.size:
        _check_signals(system, state.t)
        raise ModelError(
            f'The rate of the constraint "{system.constraint_names[bad[0]]}" is not finite at t = {state.t:g} s; '
            "prescribe a motion whose first derivative is finite there."
        )


def _check_closed(system: System, values: Array, verb: str, units: tuple[str, ...]) -> None:
    open_rows = np.flatnonzero(np.abs(values) > CLOSED)
    if open_rows.size:
        worst = open_rows[np.argmax(np.abs(values[open_rows]))]
        raise ModelError(
            f'The constraint "{system.constraint_names[worst]}" {verb} {values[worst]:.6g} {units[worst]} at the '
            "start; correct the start, or let build(assemble=True) do so."
        )


def _weighted_directions(system: System, q: Array, parameters: Array, W: Array) -> tuple[Array, Array, Array]:
    """L^-1 W with M = L L', its columns scaled to norm 1, their norms (1 for a zero column), and L."""
    factor = np.asarray(np.linalg.cholesky(system.numeric.M(q, parameters)[0]), dtype=np.float64)
    directions = scipy.linalg.solve_triangular(factor, W, lower=True)
    norms: Array = np.linalg.norm(directions, axis=0)
    norms[norms == 0.0] = 1.0
    return directions / norms, norms, factor


def _check_independent(system: System, state: State, parameters: Array) -> None:
    """Raise ModelError if a constraint's direction is spanned by those of the constraints added before it."""
    W_g = system.numeric.W_g(state.t, state.q, parameters)[0]
    directions, _, _ = _weighted_directions(system, state.q, parameters, W_g)
    kept: list[int] = []
    basis = np.zeros((system.nv, system.ng))
    redundant: dict[int, list[int]] = {}
    for i, direction in enumerate(directions.T):
        found = basis[:, : len(kept)]
        rest = direction - found @ (found.T @ direction)
        rest -= found @ (found.T @ rest)  # once more: the first pass leaves round-off of the direction's own size
        size = np.linalg.norm(rest)
        if size > RANK:
            basis[:, len(kept)] = rest / size
            kept.append(i)
        else:
            shares = np.linalg.lstsq(directions[:, kept], direction)[0]
            redundant[i] = [kept[k] for k in np.flatnonzero(np.abs(shares) > 1e-6)]
    if not redundant:
        return
    names = system.constraint_names
    listed = ", ".join(f'"{names[i]}"' for i in redundant)
    first, others = next(iter(redundant.items()))
    joints = " and ".join(dict.fromkeys(f'"{names[k].partition(".")[0]}"' for k in others))
    raise ModelError(
        f"{len(redundant)} of {system.ng} constraints are redundant at the start: {listed}. "
        + (f'"{names[first]}" follows from {joints}. ' if joints else f'"{names[first]}" moves no body. ')
        + "Remove it, replace a joint by one with fewer rows, or start elsewhere if only this position is singular."
    )


def closed_start(system: System, state: State, parameters: Array) -> State:
    """A near start with closed joints and consistent velocities, by Newton steps of least change in the mass metric."""
    n, t, q, p = system.numeric, state.t, state.q, parameters
    check_finite("The coordinate", q, system.names.q)
    check_finite("The velocity", state.v, system.names.v)
    directions = _closure_directions(system)
    misfit = n.closure(t, q, p)[0]
    _check_motion(system, state, parameters)
    for _ in range(ASSEMBLY_ITERATIONS):
        if np.max(np.abs(misfit), initial=0.0) <= ASSEMBLED:
            break
        u = _least_change(system, q, p, directions(t, q, p)[0], -misfit)
        closer = _closer(system, t, q, p, u)
        if closer is None:
            break
        q, misfit = closer, n.closure(t, closer, p)[0]
    if not np.max(np.abs(misfit), initial=0.0) <= CLOSED:
        worst = int(np.argmax(np.abs(misfit)))
        raise ModelError(
            f'The joints cannot be assembled from this start: "{system.constraint_names[worst]}" stays open by '
            f"{misfit[worst]:.6g} {system.names.constraint_units[worst]}. Check the lengths, or start nearer to a "
            "closed position."
        )
    closed = dataclasses.replace(state, q=q)
    change = _least_change(system, q, p, n.W_g(t, q, p)[0], -_rates(system, closed, parameters))
    return dataclasses.replace(closed, v=state.v + change)


def _closer(system: System, t: float, q: Array, p: Array, u: Array) -> Array | None:
    """Coordinates along the Newton step `u`, shortened until the misfit falls; None if it does not."""
    n, share = system.numeric, 1.0
    before = np.linalg.norm(n.closure(t, q, p)[0])
    while share > SHORTEST_SHARE:
        trial: Array = n.advance(q, u, share)[0]
        if np.linalg.norm(n.closure(t, trial, p)[0]) <= (1 - share / 4) * before:
            return trial
        share /= 2
    return None


def _closure_directions(system: System) -> Evaluator:
    """(t, q, p) -> W with d closure/dt = W' v: unlike W_g it serves also where the misfit of an angle is large."""
    t, q, p = ca.SX.sym("t"), ca.SX.sym("q", system.nq), ca.SX.sym("p", len(system.parameters))
    W = (ca.jacobian(system.closure(t, q, p), q) @ system.B(q)).T
    return Evaluator(ca.Function("closure_directions", [t, q, p], [W], ["t", "q", "p"], ["W"]), matrices=["W"])


def _least_change(system: System, q: Array, p: Array, W: Array, wanted: Array) -> Array:
    """u of least kinetic energy with W' u = wanted (least squares where that is impossible)."""
    directions, norms, factor = _weighted_directions(system, q, p, W)
    x = np.linalg.lstsq(directions.T, wanted / norms, rcond=1e-12)[0]
    return scipy.linalg.solve_triangular(factor, x, lower=True, trans="T")
