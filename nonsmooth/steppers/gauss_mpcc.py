"""Gauss' least constraint with gap inequalities and complementarity, posed whole: one MPCC per step."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import MPCC, Program, Solution
from nonsmooth.step_control import StepControl
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.gauss import Advance, GaussFormulation

__all__ = ["GaussMPCC"]


@dataclass(frozen=True)
class GaussMPCC:
    """Each step is a mathematical program with complementarity constraints.

    With a constant step it is eq. (14) of the paper at given length: implicit Euler,
    ``min |M^-1 W_N P_N|_M^2  s.t.  M (v⁺ - v) = dt h⁺ + W_N⁺ P_N + W_g⁺ P_g,  0 <= g_N(q⁺) ⟂ P_N >= 0``; first order, plastic.
    With ``Landing(dt_min, dt_max)`` the length is an unknown again, and well-posed: the program asks for the longest step in
    which complementarity binds only contacts closed at its start, so that it ends exactly where a gap closes; impacts follow
    as a program in velocities. Second order between impacts.

    Parameters
    ----------
    solver : settings of a solver of MPCCs, optional
        None for ``IpoptMPCC()``. Where the solver cannot optimise the length (``ActiveSet``), landing finds it by roots.
    fallback : bool
        Whether the chain of other solvers may take over where the first one's answer is not certified.

    Notes
    -----
    Frictionless. Restitution needs landing.

    References
    ----------
    Chaturvedi, E., Sandu, C., Sandu, A., Non-smooth dynamics formulation for planar prismatic joints with clearances, eq. (14).
    """

    solver: Any = None
    fallback: bool = True

    default_solver: ClassVar[str] = "IpoptMPCC"

    def formulate(self, system: System, parameters: Array, control: StepControl, solver: Any) -> GaussMPCCFormulation:
        """The scheme on one system."""
        return GaussMPCCFormulation(system, parameters, control, solver)


class GaussMPCCFormulation(GaussFormulation):
    """Poses one MPCC per length."""

    accepted_solvers = "give GaussMPCC an IpoptMPCC(...) or ActiveSet()"

    def typical_program(self) -> Program:
        """A step of the longest length from the built start."""
        sizes = self._typical_sizes(self.system.start)
        start = replace(self.system.start, stepper_memory=sizes)
        return self.mpcc(start, self.longest, self.longest, np.ones(self.system.nc, dtype=bool))

    def advance(
        self, state: State, dt: float, binding: NDArray[np.bool_], guess: Advance | None = None
    ) -> Generator[Ask, Solution, Advance]:
        """One MPCC of given length."""
        program = self.mpcc(state, dt, dt, binding)
        start = self._guess(state, dt, binding) if guess is None else self._moved(guess, dt)
        solution = yield program, start
        return self._advance(state, program, solution)

    def land(
        self, state: State, longest: float, closed: NDArray[np.bool_]
    ) -> Generator[Ask, Solution, Advance]:
        """One MPCC whose objective is the length; by roots where the solver does not optimise."""
        program = self.mpcc(state, 0.0, longest, closed)
        if not self.solver.fits(program):
            return (yield from self.land_by_roots(state, longest, closed))
        g0, rate0 = self._start_gaps(state)
        limit = longest
        while True:
            guess = self._guess(state, limit, closed)
            predicted = self._closing(state, self._as_advance(state, guess), g0, rate0, closed)
            if predicted is not None:
                guess = self._guess(state, predicted[0], closed)
            try:
                solution = yield self.mpcc(state, 0.0, limit, closed), guess
            except SolverFailed:
                return (yield from self.land_by_roots(state, limit, closed))
            done = self._advance(state, program, solution)
            earlier = self._closing(state, done, g0, rate0, closed)
            if earlier is None or earlier[0] >= done.dt * (1 - 1e-9):
                return done
            # the length has skipped an excursion through a wall: the longest step ends before it
            return (yield from self.land_by_roots(state, done.dt, closed))

    def _advance(self, state: State, program: MPCC, solution: Solution) -> Advance:
        dt, u, P_g = self.equations.split(solution.x)
        _, c, terms, _ = self.equations.structure.values(solution.x, solution.y, program.p)
        residual = float(np.max(np.abs(c) / np.maximum(terms, np.finfo(float).tiny), initial=0.0))
        return Advance(dt, u, self.n.advance(state.q, u, dt)[0], P_g, solution.y, residual, solution)

    def _guess(self, state: State, dt: float, binding: NDArray[np.bool_]) -> Solution:
        """Free motion with the impulses of the last step."""
        kick = dt if self.equations.scheme == "implicit-euler" else dt / 2
        u = state.v + self._inverse_mass(kick * self.n.h(state.t, state.q, state.v, self.p)[0])
        P_N = np.where(binding, state.stepper_memory["P_N"], 0.0)
        u = u + self._inverse_mass(self._at(state.t, state.q).W_N @ P_N)
        x = np.concatenate(([dt], u, np.zeros(self.system.ng)))
        return Solution(x, P_N, "guess", 0, "guess", binding & (state.stepper_memory["closed"] > 0))

    def _moved(self, guess: Advance, dt: float) -> Solution:
        x = guess.solution.x.copy()
        x[0] = dt
        return Solution(x, guess.P_N, "guess", 0, "guess", guess.solution.active)

    def _as_advance(self, state: State, guess: Solution) -> Advance:
        dt, u, P_g = self.equations.split(guess.x)
        return Advance(dt, u, self.n.advance(state.q, u, dt)[0], P_g, guess.y, np.inf, guess)
