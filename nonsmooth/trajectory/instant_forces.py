"""Accelerations and forces at a state of a run: with rigid contact by the complementarity problem of the event-driven
stepper, with compliant contact by the laws, whose approach velocities are those at the beginning of contacts."""

import weakref
from collections.abc import Callable
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.schemes.compliant.steps import CompliantForces
from nonsmooth.schemes.compliant.tolerances import TOUCHED
from nonsmooth.schemes.event_driven.steps import EventInstants
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.step.tolerances import CLOSED, OPEN, SLIPPING, STICKING
from nonsmooth.trajectory.dense import Forces, RowMotion, places

Mask = NDArray[np.bool_]

#: share of the sum of its terms up to which a gap velocity or slip of a persistent contact may be the error of a step
HELD = 1e-3
#: share of the contact's size up to which a gap may be the constraint drift of a persistent contact
DRIFT = 1e-2
#: share of the sum of its terms up to which a slip begins or ends
VANISHING = 1e-8
#: share of the typical gap up to which the first row in contact is at the surface
ENTERED = 1e-6
#: relative and absolute [m] tolerance of states of bristles
RTOL, ATOL = 1e-8, 1e-14
NONE = np.zeros(0)


class RigidLaw:
    """Forces along a run with rigid contacts, or with none.

    A contact is persistent between two rows if it was closed in the run, and at both rows its gap is below a hundredth
    of its size and its gap velocity below a thousandth of the sum of its terms; it sticks if the same is true of the
    slip. The state is projected onto joints and persistent contacts, in the mass metric. The complementarity problem in
    accelerations then determines the modes of these contacts and of all others with zero gap and gap velocity.
    """

    def __init__(self, run: Any, origin: Any) -> None:
        self.rows, self.q, self.v, self.left = run.t, run.q.array, run.v.array, run.left.v.array
        longest = float(np.max(np.diff(run.t), initial=0.0)) or 1.0
        self.m = Mechanism(origin.system, origin.parameters, longest)
        self.phases = EventInstants(origin.system, origin.parameters, longest)
        # where a row has the mode of the motion after it, one with an impact has that of the impact
        self.mode, self.lag, self.lam_N = run.mode.array, 0 if run.modes_follow else 1, run.lam_N.array
        self.impact = np.isin(run.t, run.impacts["t"])

    def forces(self, t: float, q: Array, v: Array, step: int) -> Forces:
        """Forces at a state of the motion that follows on row `step`."""
        m = self.m
        held, stuck, chord = self._persistent(step)
        if held.any() or m.system.ng:
            mode = np.where(held, np.where(m.friction > 0, np.where(stuck, STICKING, SLIPPING), CLOSED), OPEN)
            q, v = self.phases.projected(t, q, v, mode.astype(np.int8))
        x, terms = m.at(t, q), np.abs(v)
        touching = x.g_N <= self.phases.closed_gap
        moving = m.leaving(x.W_N, v, terms) | m.approaching(x.W_N, v, terms)
        signs: dict[int, Array] = {}  # directions of vanishing slips, where slipping begins or ends: those of the chord
        if chord is not None:
            small = VANISHING * (m.largest(np.abs(x.W_T).T @ np.abs(v)) + m.scale / m.longest)
            still = held & ~stuck & (m.friction > 0) & (m.length(x.W_T.T @ v) <= small) & (m.length(chord) > small)
            signs = {int(i): m.unit(chord)[m.along(np.array([i]))] for i in np.flatnonzero(still)}
        found = self.phases.found(t, q, v, held | (touching & ~moving), signs)
        lam_g = m.least(t, found.q, found.lam_g)
        return Forces(found.a, lam_g, m.reaction(t, found.q, lam_g), found.lam_N, found.lam_T, found.mode)

    def _persistent(self, step: int) -> tuple[Mask, Mask, Array | None]:
        """Persistent and sticking contacts in the motion between a row and the next one; the sum of the slips of both
        rows."""
        m, last = self.m, len(self.rows) - 1
        none = np.zeros(m.system.nc, dtype=bool)
        if m.system.nc == 0 or step < 0:
            return none, none, None
        mode = self.mode[min(step + self.lag, last)]
        held, stuck = mode != OPEN, mode == STICKING
        # the motion after the impact shows which contacts remain closed
        if self.lag == 0 and self.impact[step] and step < last:
            held = self.lam_N[step + 1] > 0.0
            stuck = held.copy()
        slips = []
        ends = [(step, self.v)] + ([(step + 1, self.left)] if step < last else [])
        for row, velocities in ends if held.any() else []:
            at, v = m.at(float(self.rows[row]), self.q[row]), velocities[row]
            floor = m.scale / m.longest
            held &= np.abs(at.g_N) <= DRIFT * m.scale
            held &= np.abs(at.W_N.T @ v) <= HELD * (np.abs(at.W_N).T @ np.abs(v)) + 1e-10 * floor
            slips.append(at.W_T.T @ v)
            stuck &= m.length(slips[-1]) <= HELD * m.largest(np.abs(at.W_T).T @ np.abs(v)) + 1e-10 * floor
        return held, held & stuck, slips[0] + slips[1] if len(slips) == 2 else None


class CompliantLaw:
    """Forces along a run with compliant contacts.

    The approach velocity is that of the row at the beginning of contact, as in `CompliantDae`; a continued run begins
    with the internal states at the end of the previous one. States of bristles are not recorded in rows; they are
    integrated along the motion between rows from the beginning of contact.

    Raises
    ------
    InputError
        For a run without the rows at the beginning of contacts.
    """

    def __init__(self, run: Any, origin: Any) -> None:
        system = origin.system
        compliance = system.compliance
        assert compliance is not None
        self.rows, self.owner = RowMotion(run), compliance.owner  # not the run, which keeps its laws
        self.first = origin.memory.get("Overlap.bristle_row", np.zeros(len(compliance.bristles)))
        self.equations = CompliantForces(system, origin.parameters)
        size = system.numeric.contact_law(origin.parameters)[3]
        self.touching, self.approach = _contacts_of_rows(run, origin, size)
        self.closed = [CLOSED if law.friction is None else SLIPPING for law in compliance.laws]

    def forces(self, t: float, q: Array, v: Array, step: int) -> Forces:
        """Forces at a state of the motion after row `step`."""
        step = max(step, 0)
        touching = self.touching[step]
        found = self.equations.at(t, q, v, touching, self.approach[step], self.bristles(t, step))
        mode = np.where(touching > 0.5, self.closed, OPEN).astype(np.int8)
        return Forces(found.a, found.lam_g, found.reaction, found.F_N, found.F_T, mode)

    def bristles(self, t: float, step: int) -> Array:
        """Internal states (nz,) of friction laws at a time after row `step`."""
        if not self.first.size:
            return self.first
        return next(state for begin, state in reversed(self._spans) if begin <= step)(t)

    @cached_property
    def _spans(self) -> list[tuple[int, Callable[[float], Array]]]:
        """For each interval of rows with the same closed contacts its first row, and the bristles' states as functions
        of time."""
        from scipy.integrate import solve_ivp

        # the integrator refers to itself, and must not own functions of CasADi
        t, touching, z, this = self.rows.t, self.touching, self.first, weakref.proxy(self)
        changes = np.flatnonzero((touching[1:] != touching[:-1]).any(axis=1)) + 1
        spans: list[tuple[int, Callable[[float], Array]]] = []
        for begin, end in pairwise([0, *changes.tolist(), len(t) - 1]):
            if begin > 0:
                z = np.where((touching[begin] != touching[begin - 1])[self.owner], 0.0, z)
            if end == begin or not touching[begin][self.owner].any():
                spans.append((begin, partial(_constant, z)))
                continue
            rates, longest = partial(_bristle_rates, this, begin), float(np.max(np.diff(t[begin : end + 1])))
            found = solve_ivp(
                rates, (t[begin], t[end]), z, "LSODA", dense_output=True, rtol=RTOL, atol=ATOL, max_step=longest
            )
            if not found.success:
                raise SolverFailed(f"bristles after t = {t[begin]:.9g} s cannot be integrated: {found.message}")
            spans.append((begin, found.sol))
            z = found.y[:, -1]
        return spans


def _constant(z: Array, t: float) -> Array:
    return z


def _bristle_rates(law: CompliantLaw, begin: int, t: float, z: Array) -> Array:
    """Rates (nz,) of the bristles in an interval that begins at a row, from the motion of order 4 between rows."""
    q, v = law.rows.states(places(law.rows.t, NONE, min(t, float(law.rows.t[-1])), "right"), 4)
    return law.equations.at(t, q[0], v[0], law.touching[begin], law.approach[begin], z).bristle_rates


def _contacts_of_rows(run: Any, origin: Any, size: Array) -> tuple[NDArray[np.float64], Array]:
    """Closed contacts (n, nc), 1 or 0, and their approach velocities (n, nc), in the motion after each row."""
    gaps, rates = run.gap.array, run.gap_rate.array
    touching = (run.mode.array != OPEN).astype(float)
    approach = np.zeros_like(touching)
    touching[0] = origin.memory.get("Overlap.touches", (gaps[0] <= TOUCHED * size).astype(float))
    approach[0] = origin.memory.get("Overlap.approach", np.where(touching[0] > 0.5, np.maximum(-rates[0], 0.0), 0.0))
    for row in range(1, len(touching)):
        met = (touching[row] > 0.5) & (touching[row - 1] < 0.5)
        deep = np.flatnonzero(met & (np.abs(gaps[row]) > ENTERED * size))
        if deep.size:
            raise InputError(
                f"The run keeps some rows only, and not that at which {run.gap.names[deep[0]]} touched before t = "
                f"{run.t[row]:.9g} s, whose speed of approach its law needs; run it with record=1."
            )
        lasting = np.where(touching[row] > 0.5, approach[row - 1], 0.0)
        approach[row] = np.where(met, np.maximum(-rates[row], 0.0), lasting)
    return touching, approach
