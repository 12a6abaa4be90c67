"""Gauss' least constraint with gap inequalities and complementarity, posed whole: one MPCC per step."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import MPCC, Program, Solution
from nonsmooth.step_control import StepControl
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.equations import HALF_KICK, Advance
from nonsmooth.steppers.gauss import GaussFormulation
from nonsmooth.steppers.landing import AT_THE_END, closing_within

__all__ = ["GaussMPCC"]


@dataclass(frozen=True)
class GaussMPCC:
    """Each step is a mathematical program with complementarity constraints.

    With a constant step it is eq. (14) of the paper at given length: implicit Euler,
    ``min |M^-1 W_N P_N|_M^2  s.t.  M (v⁺ - v) = dt h⁺ + W_N⁺ P_N + W_g⁺ P_g,  0 <= g_N(q⁺) ⟂ P_N >= 0``; first order,
    plastic. With ``Landing(dt_min, dt_max)`` the length is an unknown again, and well-posed: the program asks for the
    longest step in which complementarity binds only contacts closed at its start, so that it ends exactly where a gap
    closes; impacts follow as a program in velocities. Second order between impacts.

    Parameters
    ----------
    solver : settings of a solver of MPCCs, optional
        None for ``IpoptMPCC()``. Where the solver cannot optimise the length (``ActiveSet``), landing finds it by
        roots.
    fallback : bool
        Whether the chain of other solvers may take over where the first one's answer is not certified.

    Notes
    -----
    Planar friction. Restitution needs landing.

    References
    ----------
    Chaturvedi, E., Sandu, C., Sandu, A., Non-smooth dynamics formulation for planar prismatic joints with clearances,
    eq. (14).
    """

    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "IpoptMPCC"
    programs: ClassVar[tuple[type, ...]] = (MPCC,)

    def formulate(self, system: System, parameters: Array, control: StepControl, solver: Any) -> GaussMPCCFormulation:
        """The scheme on one system."""
        return GaussMPCCFormulation(system, parameters, control, solver)


class GaussMPCCFormulation(GaussFormulation):
    """Poses one MPCC per length."""

    accepted_solvers = "give GaussMPCC an IpoptMPCC(...) or ActiveSet()"

    def typical_program(self) -> Program:
        """A step of the longest length from the built start."""
        m, start = self.mechanism, self.system.start
        x_scale, y_scale = m.typical_sizes(start.t, start.q, start.v)
        start = replace(start, stepper_memory={"x_scale": x_scale, "y_scale": y_scale})
        return self.mpcc(start, m.longest, m.longest, np.ones(self.system.nc, dtype=bool))

    def advance(
        self, state: State, dt: float, binding: NDArray[np.bool_], guess: Advance | None = None
    ) -> Generator[Ask, Solution, Advance]:
        """One MPCC of given length."""
        program = self.mpcc(state, dt, dt, binding)
        if guess is None:
            start = self._free_motion(state, dt, binding)
        else:
            x = np.concatenate(([dt], guess.u, guess.P_g))
            start = replace(guess.solution, x=x, y=self.pairs(guess.P_N, guess.P_T))
        solution = yield program, start
        return self._advance(state, program, solution)

    def land(self, state: State, longest: float, closed: NDArray[np.bool_]) -> Generator[Ask, Solution, Advance]:
        """One MPCC whose objective is the length; by roots where the solver does not optimise."""
        program, m = self.mpcc(state, 0.0, longest, closed), self.mechanism
        if not self.solver.fits(program):
            return (yield from super().land(state, longest, closed))
        guess = self._free_motion(state, longest, closed)
        predicted = closing_within(m, state, self._advance(state, program, guess), closed)
        if predicted is not None:
            guess = self._free_motion(state, predicted[0], closed)
        try:
            solution = yield program, guess
        except SolverFailed:
            return (yield from super().land(state, longest, closed))
        done = self._advance(state, program, solution)
        earlier = closing_within(m, state, done, closed)
        landed = np.any(m.touching(m.at(state.t + done.dt, done.q).g_N) & ~closed)
        if (landed or done.dt == longest) and (earlier is None or earlier[0] >= done.dt * AT_THE_END):
            return done
        # the program has stopped short of the longest step, or skipped an excursion through a wall
        return (yield from super().land(state, longest, closed))

    def _advance(self, state: State, program: MPCC, solution: Solution) -> Advance:
        dt, u, P_g = self.equations.split(solution.x)
        _, c, terms, _ = self.equations.structure.values(solution.x, solution.y, program.p)
        residual = float(np.max(np.abs(c) / np.maximum(terms, np.finfo(float).tiny), initial=0.0))
        parts = solution.y.reshape(-1, self.system.nc) if self.system.nc else np.zeros((1, 0))
        P_T = parts[1] - parts[2] if self.rough else np.zeros(self.system.nc)
        return Advance(dt, u, self.mechanism.moved(state.q, u, dt), P_g, parts[0], P_T, residual, solution)

    def _active(self, state: State, binding: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Pairs that bind at the start of the step: closed contacts, their friction on the edge it was on."""
        closed, P_T = binding & (state.stepper_memory["closed"] > 0), state.stepper_memory["P_T"]
        return np.concatenate([closed, closed & (P_T > 0), closed & (P_T < 0), closed]) if self.rough else closed

    def _free_motion(self, state: State, dt: float, binding: NDArray[np.bool_]) -> Solution:
        """A guess: free motion with the impulses of the last step."""
        m = self.mechanism
        kick = dt / 2 if self.equations.scheme == HALF_KICK else dt
        P_N, P_T = (np.where(binding, state.stepper_memory[name], 0.0) for name in ("P_N", "P_T"))
        here = m.at(state.t, state.q)
        impulse = here.W_N @ P_N + here.W_T @ P_T if self.rough else here.W_N @ P_N
        u = state.v + kick * m.free_acceleration(state) + m.metric.change(impulse)
        x = np.concatenate(([dt], u, np.zeros(self.system.ng)))
        return Solution(x, self.pairs(P_N, P_T), "guess", 0, "guess", self._active(state, binding))
