"""Integrators of SciPy and of SUNDIALS on the compiled equations of motion of a run with compliant contact.

Compiled code calls `OutsideIntegrator.answer` where its own integrator would take a step; the integrator calls the
compiled rates. y are entries of the blocks of the records in use: those under error control (positions as their change
since the integrator has begun, velocities, internal states of friction), then integrals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.records.memory import Memory
from nonsmooth.engine.external_solver import Callbacks
from nonsmooth.programs.initial_value import InitialValue
from nonsmooth.schemes.compliant.fields import BEGIN, LOOK, STEP
from nonsmooth.schemes.compliant.layout import CompliantLayout
from nonsmooth.solvers.initial_value import Integrator
from nonsmooth.step.control import ErrorControl
from nonsmooth.step.integration_fields import ALL, INNER, TERMS

__all__ = ["CompiledRates", "OutsideIntegrator", "rates_of_blocks"]

#: difference of a number for a derivative by it: a share of it, and at least its tolerance or this [m]
SHARE, LEAST = 1.5e-8, 1e-13


def rates_of_blocks(memory: Memory) -> Array:
    """Rates of all blocks (blocks, width), a view of what the compiled function writes."""
    values = memory.of["Stage"]["value"].reshape(len(memory.of["StateBlock"]), ALL[1] + TERMS[1], -1)
    return np.asarray(values[:, INNER[1]])


class CompiledRates:
    """dy/dt of the compiled equations of one run, of `size` entries, of which `core` are under error control."""

    def __init__(
        self, memory: Memory, layout: CompliantLayout, rates: Callable[[int], int], outside: Callbacks
    ) -> None:  # fmt: skip
        self._run, self._root = memory.of["Integration"], memory.address("Integration")
        self._rates, self._outside, blocks = rates, outside, memory.of["StateBlock"]
        self._tried, self._found = blocks["tried"], rates_of_blocks(memory)
        # entries of blocks in use (blocks, width), in their order
        motion = [0, 1, 2] if layout.shape.dimension == 2 else [0, 1, 2, 4, 5, 6]
        steering, contacts, joints = layout.steering(memory), len(memory.of["Overlap"]), len(memory.of["Reaction"])
        integrals = [list(range(layout.shape.rows))] * contacts + [motion] * joints
        integrals += [[0, 1, 2, 3], [0, 1]]  # works of contacts, of loads
        self._used = np.zeros(self._tried.shape, dtype=bool)
        for block, entries in zip(self._used, [*steering, *integrals], strict=True):
            block[entries] = True
        self.core, self.size = sum(map(len, steering)), int(self._used.sum())
        self.tolerance = blocks["tolerance"][self._used][: self.core]
        self._least = np.maximum(self.tolerance, LEAST)

    @property
    def tried(self) -> Array:
        """y at which blocks stand."""
        return np.asarray(self._tried[self._used])

    def put(self, y: Array | float) -> None:
        """Let blocks stand at y."""
        self._tried[self._used] = y

    def __call__(self, t: float, y: Array) -> Array:
        """dy/dt."""
        self._outside.in_time()
        self.put(y)
        self._run["request_time"] = t
        self._rates(self._root)
        return np.asarray(self._found[self._used])

    def jacobian(self, t: float, y: Array) -> Array:
        """Derivative of the rates by y as difference quotients; they do not depend on integrals."""
        before = self(t, y)
        J = np.zeros((y.size, y.size))
        moved = y.copy()
        for j, least in enumerate(self._least):
            moved[j] = y[j] + max(SHARE * abs(y[j]), least)
            J[:, j] = (self(t, moved) - before) / (moved[j] - y[j])
            moved[j] = y[j]
        return J


class OutsideIntegrator:
    """The integration of one run."""

    def __init__(
        self, rates: CompiledRates, integrator: Integrator, control: ErrorControl, memory: Memory
    ) -> None:  # fmt: skip
        self.rates, self.run = rates, memory.of["Integration"]
        # what the session owns does not own the session: see tests/test_reference_cycles.py
        problem = InitialValue(rates, rates.jacobian, rates.core, rates.size, rates.tolerance, control.rtol)
        self.session = integrator.integrate(problem)

    def answer(self) -> None:
        """Do what compiled code requests; SolverFailed if the integrator stops."""
        run, what, t = self.run, self.run["request"][0], float(self.run["request_time"][0])
        if what == BEGIN:
            longest, first, until = (float(run[name][0]) for name in ("longest", "first", "limit"))
            self.session.restart(t, self.rates.tried, longest, first if first > 0.0 else None, until)
        elif what == STEP:
            self.piece = self.session.advance()
            run["t_start"], run["t"] = self.piece.t0, self.piece.t1
        else:
            y: Array | float = np.nan  # no row is accepted where the integrator fails
            try:
                y = self.piece.sketch(t) if what == LOOK else self.piece.at(t)
            finally:
                self.rates.put(y)

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.piece = self.session.restore(saved)
