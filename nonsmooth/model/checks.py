"""Checks of an initial state: finite loads, satisfied joints, constraints without contradictions, no overlap."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import ModelError
from nonsmooth.model.bodies import Ground
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.evaluate import ConstraintRows
from nonsmooth.model.forces import Damper, Force, Spring
from nonsmooth.model.redundancy import Directions, Redundant, weighted
from nonsmooth.model.signals import signal_values
from nonsmooth.model.state import State
from nonsmooth.model.system import System, check_finite

#: constraint violation [m or rad] and its rate [m/s or rad/s] below which an initial state counts as consistent
CLOSED = 1e-9
#: overlap of a contact at the start that is treated as round-off, as a share of its clearance
OVERLAP = 1e-9
#: admissible initial overlap of compliant surfaces, as a share of the clearance
GIVING = 1.0
#: overlap that other parameters may add to that at the end of a run, as a share of the clearance: a contact that is
#: closed overlaps with a slightly smaller one; from this overlap on a step is called too long, see `verdict`
ADDED = 0.05


def check_start(system: System, state: State, parameters: Array) -> None:
    """Raise ModelError unless a run can start from `state`, or continue from it if it is the end of another run."""
    gap = None if state.gap is None else state.gap.tobytes()
    start = state.t, state.q.tobytes(), state.v.tobytes(), parameters.tobytes(), bool(state.memory), gap
    if system.admissible.get("start") == start:  # with which most runs begin
        return
    e = system.elementwise
    t, q, v, p = state.t, state.q, state.v, parameters
    units = system.names.constraint_units
    check_finite("The coordinate", q, system.names.q)
    check_finite("The velocity", v, system.names.v)
    at = e.placed(q, v, p)
    for one in system.elements:
        smooth = isinstance(one, Spring) and one.free_length is None
        if isinstance(one, Damper | Spring) and not smooth and e.coincide(one, at, p):
            raise one.error(
                "its two ends lie at the same point at the start, where its force has no direction; move at_a or at_b."
            )
    force = e.force(t, at, p)
    if not np.all(np.isfinite(force)):
        _check_signals(system, t)
        loads = [one for one in system.elements if isinstance(one, Force)]
        undefined: list[int] = []
        for group, found in e.forces(t, at, p):
            for values in found[1:]:
                undefined += group.members[~np.isfinite(values).all(axis=1)].tolist()
        if undefined:
            raise loads[min(undefined)].error(
                "its force is not finite at the start; check its law there, and the start."
            )
        check_finite("The applied force along", force, system.names.v)
    if system.ng:
        rows, residual = e.constraints(t, at, p)
        rates = rates_of(rows, at.velocities)
        check_motion(system, t, residual + rates)
        _check_closed(system, residual, "is open by", units, at=(t, p))
        directions = weighted(rows, at.masses, e.first_rows)
        _check_rank(system, state, p, directions)
    # a continued run keeps the errors of its scheme: joint rates of implicit Euler, overlaps of velocity schemes
    gaps = e.gaps(at, p)
    if state.memory:
        _check_added(system, gaps, state, p)
    else:
        if system.ng:
            check_rates(system, directions, rates)
        overlap = np.flatnonzero(overlapping(system, gaps, p))
        if overlap.size:
            worst = overlap[np.argmin(gaps[overlap])]
            name = system.contact_names[worst]
            loose = {one.name for one in system.elements if isinstance(one, Clearance)}
            centre = ', or let build(assemble="centred") place it in the middle'
            raise ModelError(
                f'The contact "{name}" overlaps by {-gaps[worst]:.6g} m at the start; move the bodies apart or enlarge '
                f"the clearance{centre if state is system.start and name.partition('.')[0] in loose else ''}."
            )
    system.admissible["start"] = start


def _check_added(system: System, gaps: Array, state: State, parameters: Array) -> None:
    """Raise ModelError if contacts overlap since parameters are not those of the run that ended at this state."""
    if state.gap is None or state.gap.shape != gaps.shape:  # of another mechanism
        return
    allowed = ADDED if system.compliance is None else GIVING
    added = np.minimum(state.gap, 0.0) - gaps - allowed * system.elementwise.gap_sizes(parameters)
    if np.any(added > 0.0):
        worst = int(np.argmax(added))
        raise ModelError(
            f'The contact "{system.contact_names[worst]}" overlaps by {-gaps[worst]:.6g} m at the start: its gap was '
            f"{state.gap[worst]:.6g} m at the end of the run that continues, with other parameters or coordinates; "
            "enlarge the clearance, or continue where the contact is open with both."
        )


def overlapping(system: System, gaps: Array, parameters: Array) -> NDArray[np.bool_]:
    """Gaps that are not admissible at a start; (nc,) or, for many sets of parameters, (runs, nc)."""
    allowed = OVERLAP if system.compliance is None else GIVING
    return ~(gaps >= -allowed * system.elementwise.gap_sizes(parameters))


def _check_signals(system: System, t: float) -> None:
    """Raise ModelError that names the load or motion whose value at t is not finite."""
    for element in system.elements:
        for field in dataclasses.fields(element):
            signal = getattr(element, field.name)
            if callable(signal) and element.of_time(field.name):
                values = signal_values(element.name, field.name, signal, t)
                if not np.all(np.isfinite(values)):
                    value = values[0] if values.size == 1 else tuple(values.tolist())
                    later = signal_values(element.name, field.name, signal, t + 1.0)
                    hint = " Functions of the module math are nan of symbolic time; take those of casadi or numpy."
                    always = bool(np.any(np.isnan(values) & np.isnan(later)))
                    raise element.error(
                        f"{field.name} is {value} at t = {t:g} s; it must be finite there.{hint if always else ''}"
                    )


def rates_of(rows: ConstraintRows, velocities: Array) -> Array:
    """Time derivatives of the joint constraints, dg/dt."""
    return np.asarray(np.sum(rows.J_a * velocities[rows.a] + rows.J_b * velocities[rows.b], axis=1) + rows.explicit)


def check_motion(system: System, t: float, values: Array) -> None:
    """Raise ModelError that names a driver whose motion or its rate is not finite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        _check_signals(system, t)
        raise ModelError(
            f'The rate of the constraint "{system.constraint_names[bad[0]]}" is not finite at t = {t:g} s; '
            "prescribe a motion whose first derivative is finite there."
        )


def _check_closed(
    system: System, values: Array, verb: str, units: tuple[str, ...], what: str = "",
    at: tuple[float, Array] | None = None,
) -> None:  # fmt: skip
    """Raise ModelError that names the worst row, and what its driver prescribes `at` a time with these parameters."""
    open_rows = np.flatnonzero(np.abs(values) > CLOSED)
    if open_rows.size:
        worst = open_rows[np.argmax(np.abs(values[open_rows]))]
        # with clearances, joints alone could be closed by a journal that leaves its bearing
        loose = any(isinstance(element, Clearance) for element in system.elements)
        how, name = '"centred"' if loose else "True", system.constraint_names[worst]
        grounds = [one.name for one in system.elements if isinstance(one, Ground)]
        owner = next(one for one in system.elements if one.name == name.partition(".")[0])
        bodies = " and ".join(f'"{one}"' for one in owner.body_names() if one.partition(".")[0] not in grounds)
        wrong, driven = f"{what} of {bodies}" if what and bodies else "the start", ""
        if at is not None and isinstance(owner, PrescribedMotion):
            t, p = at
            given = dict(zip(system.parameters, p, strict=True)).get(f"{owner.name}.motion")
            value = signal_values(owner.name, "motion", owner.motion, t)[0] if callable(owner.motion) else given
            driven = f", where its driver prescribes {value:.6g} {owner.rows[0][1]}"
        raise ModelError(
            f'The constraint "{name}" {verb} {values[worst]:.6g} {units[worst]} at the start{driven}; '
            f"correct {wrong}, or let build(assemble={how}) do so."
        )


def check_rates(system: System, directions: Directions, rates: Array) -> None:
    """Raise ModelError if constraint velocities are not zero, and say so if no velocity can satisfy them."""
    if not np.any(np.abs(rates) > CLOSED):
        return
    found, names = directions.contradiction(rates), system.constraint_names
    if found is not None and abs(found[2]) > CLOSED:
        row, others, unmet = found
        unit = system.names.constraint_units[row]
        if not others:
            raise ModelError(
                f'The constraint "{names[row]}" moves no body and cannot follow its prescribed velocity of {unmet:.6g} '
                f"{unit}/s at the start; remove it, or make the motion constant."
            )
        listed = str(Redundant(names[row], tuple(names[k] for k in others)))
        raise ModelError(
            f"Constraints contradict each other at the start: {listed}, but their prescribed motions differ by "
            f"{abs(unmet):.6g} {unit}/s; let them agree, or remove one."
        )
    units = tuple(f"{unit}/s" for unit in system.names.constraint_units)
    _check_closed(system, rates, "moves at", units, "velocity and angular_velocity")


def _check_rank(system: System, state: State, parameters: Array, directions: Directions) -> None:
    """Raise ModelError if constraints are redundant at this state although none was when the system was built."""
    built = state.t == system.start.t and np.array_equal(state.q, system.start.q)
    # a system with known redundant constraints uses solvers that accept any rank
    if system.redundant or built and np.array_equal(parameters, system.parameter_values):
        return
    found = directions.redundant()
    if found:
        names, (row, others) = system.constraint_names, next(iter(found.items()))
        first = Redundant(names[row], tuple(names[k] for k in others))
        raise ModelError(
            f"{len(found)} of {system.ng} constraints are redundant at this start, though none is where the system was "
            f"built: {first}. Build the model at this start or with these parameters, or start elsewhere."
        )
