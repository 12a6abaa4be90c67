"""Checks of a start: finite loads, closed joints, no overlap, independent constraints; and assembly of open joints."""

from __future__ import annotations

import dataclasses

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import ModelError
from nonsmooth.model.directions import weighted
from nonsmooth.model.elementwise import Placed, Rows
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
#: misfit [m or rad] at which assembly is content: round-off of lengths of the order of 1 m
ASSEMBLED = 1e-14
ASSEMBLY_ITERATIONS = 50
#: shortest share of a Newton step that assembly tries before it gives up
SHORTEST_SHARE = 1e-4


def check_start(system: System, state: State, parameters: Array) -> None:
    """Raise ModelError unless a run can start from `state`, or go on from it if it is the end of another."""
    e = system.elementwise
    t, q, v, p = state.t, state.q, state.v, parameters
    units = system.names.constraint_units
    check_finite("The coordinate", q, system.names.q)
    check_finite("The velocity", v, system.names.v)
    at = e.placed(q, v, p)
    force = e.force(t, at, p)
    if not np.all(np.isfinite(force)):
        _check_signals(system, t)
        check_finite("The applied force along", force, system.names.v)
    if system.ng:
        rows, misfit = e.constraints(t, at, p)
        rates = _rates(rows, at.velocities)
        _check_motion(system, t, misfit + rates)
        _check_closed(system, misfit, "is open by", units)
        _check_independent(system, rows, at)
    if state.stepper_memory:  # a run goes on as it was: implicit Euler leaves joint rates, velocity schemes overlaps
        return
    if system.ng:
        _check_closed(system, rates, "moves at", tuple(f"{unit}/s" for unit in units))
    gaps = e.gaps(at, p)
    allowed = OVERLAP if system.compliance is None else GIVING
    overlap = np.flatnonzero(~(gaps >= -allowed * e.gap_sizes(p)))
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


def _rates(rows: Rows, velocities: Array) -> Array:
    """Rates of the joints, dg/dt."""
    turned = np.sum(rows.J_a * velocities[rows.a] + rows.J_b * velocities[rows.b], axis=1)
    rates: Array = turned + rows.explicit
    return rates


def _check_motion(system: System, t: float, values: Array) -> None:
    """Raise ModelError that names a driver whose motion or its rate is not finite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        _check_signals(system, t)
        raise ModelError(
            f'The rate of the constraint "{system.constraint_names[bad[0]]}" is not finite at t = {t:g} s; '
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


def _check_independent(system: System, rows: Rows, at: Placed) -> None:
    """Raise ModelError if a constraint's direction is spanned by those of the constraints added before it."""
    redundant = weighted(rows, at.masses, system.elementwise.first_rows).redundant()
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
    e, t, q, p = system.elementwise, state.t, state.q, parameters
    check_finite("The coordinate", q, system.names.q)
    check_finite("The velocity", state.v, system.names.v)
    if not system.ng:
        return state
    at = start = e.placed(q, state.v, p)
    rows, misfit = e.constraints(t, at, p)
    _check_motion(system, t, misfit + _rates(rows, at.velocities))
    for _ in range(ASSEMBLY_ITERATIONS):
        if np.max(np.abs(misfit), initial=0.0) <= ASSEMBLED:
            break
        u = weighted(e.closures(t, at, p), at.masses, e.first_rows).least_change(-misfit)
        closer = _closer(system, t, q, p, u, misfit)
        if closer is None:
            break
        q, at, rows, misfit = closer
    if not np.max(np.abs(misfit), initial=0.0) <= CLOSED:
        worst = int(np.argmax(np.abs(misfit)))
        raise ModelError(
            f'The joints cannot be assembled from this start: "{system.constraint_names[worst]}" stays open by '
            f"{misfit[worst]:.6g} {system.names.constraint_units[worst]}. Check the lengths, or start nearer to a "
            "closed position."
        )
    change = weighted(rows, at.masses, e.first_rows).least_change(-_rates(rows, start.velocities))
    return dataclasses.replace(state, q=q, v=state.v + change)


def _closer(
    system: System, t: float, q: Array, p: Array, u: Array, misfit: Array
) -> tuple[Array, Placed, Rows, Array] | None:
    """Coordinates along the Newton step `u`, shortened until the misfit falls, and all there; None if it does not."""
    e, share = system.elementwise, 1.0
    before = np.linalg.norm(misfit)
    while share > SHORTEST_SHARE:
        trial = e.advance(q, u, share)
        at = e.placed(trial, u, p)
        rows, found = e.constraints(t, at, p)
        if np.linalg.norm(found) <= (1 - share / 4) * before:
            return trial, at, rows, found
        share /= 2
    return None
