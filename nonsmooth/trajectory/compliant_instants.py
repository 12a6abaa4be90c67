"""Accelerations and forces with compliant contact: the laws at a state, with their stored approach velocities."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.schemes.compliant.forces import CompliantForces
from nonsmooth.schemes.compliant.tolerances import TOUCHED
from nonsmooth.step.tolerances import CLOSED, OPEN, SLIPPING
from nonsmooth.trajectory.dense import between, coordinates_of, places
from nonsmooth.trajectory.origin import Forces, Origin, Run

__all__ = ["CompliantLaw"]

#: share of the typical gap up to which the first row in contact is at the surface
ENTERED = 1e-6
#: relative and absolute [m] tolerance of states of bristles
RTOL, ATOL = 1e-8, 1e-14
NONE = np.zeros(0)


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

    def __init__(self, run: Run, origin: Origin) -> None:
        system = origin.system
        compliance = system.compliance
        assert compliance is not None
        # not the run, which keeps its laws
        self.t, self.q, self.v = run.t, run.q.array, {"right": run.v.array, "left": run.left.v.array}
        self.owner = compliance.owner
        self.coordinates = coordinates_of(run)
        self.first = origin.memory.get("Overlap.bristle_row", np.zeros(len(compliance.bristles)))
        self.equations = CompliantForces(system, origin.parameters)
        size = system.numeric.contact_law(origin.parameters)[3]
        self.touching, self.approach = _latched(run, origin, size)
        self.closed = [CLOSED if law.friction is None else SLIPPING for law in compliance.laws]

    def forces(self, t: float, q: Array, v: Array, step: int) -> Forces:
        """Forces at a state of the motion after row `step`."""
        step = max(step, 0)
        touching = self.touching[step]
        found = self.equations.at(t, q, v, touching, self.approach[step], self._bristles(t, step))
        mode = np.where(touching > 0.5, self.closed, OPEN).astype(np.int8)
        return Forces(found.a, found.lam_g, found.reaction, found.F_N, found.F_T, mode)

    def _bristles(self, t: float, step: int) -> Array:
        """States of the bristles (nz,) in the motion after row `step`."""
        if not self.first.size:
            return self.first
        begin, state = next((begin, state) for begin, state in reversed(self._spans) if begin <= step)
        return state(t)

    @cached_property
    def _spans(self) -> list[tuple[int, Callable[[float], Array]]]:
        """For each interval of rows with the same closed contacts its first row, and the bristles' states as functions
        of time."""
        from scipy.integrate import solve_ivp

        # the integrator refers to itself, and must not own functions of CasADi
        t, touching, z, this = self.t, self.touching, self.first, weakref.proxy(self)
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


def _bristle_rates(law: CompliantLaw, begin: int, t: float, z: Array) -> Array:
    """Rates (nz,) of the bristles in an interval that begins at a row, from the motion of order 4 between rows."""
    at = places(law.t, NONE, min(t, float(law.t[-1])), "right")
    q, v = between(at, 4, law.t, law.q, law.v, law.coordinates, None)
    return law.equations.at(t, q[0], v[0], law.touching[begin], law.approach[begin], z).bristle_rates


def _constant(z: Array, t: float) -> Array:
    return z


def _latched(run: Run, origin: Origin, size: Array) -> tuple[NDArray[np.float64], Array]:
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
