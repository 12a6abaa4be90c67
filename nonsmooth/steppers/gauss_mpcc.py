"""Gauss' principle of least constraint with gap inequalities and complementarity: one MPCC per step."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import MPCC, Program, Solution
from nonsmooth.settings import settings
from nonsmooth.step_control import Landing, StepControl
from nonsmooth.steppers.base import Ask, Stepping
from nonsmooth.steppers.equations import HALF_KICK, Advance
from nonsmooth.steppers.gauss import GaussFormulation
from nonsmooth.steppers.landing import closing_within
from nonsmooth.steppers.mechanism import contact_modes
from nonsmooth.steppers.resting import CERTAIN, starts_at_rest
from nonsmooth.steppers.velocity import change_velocity
from nonsmooth.tolerances import AT_THE_END, SLIPPING

__all__ = ["GaussMPCC"]

#: multiple of its scale at which a velocity causes a new scaling
OUTGROWN = 10.0


@settings
class GaussMPCC:
    """Each step is a mathematical program with complementarity constraints.

    With a constant step it is eq. (14) of the paper for a given step size: implicit Euler, ``min |M^-1 W_N P_N|_M^2
    s.t.  M (v⁺ - v) = dt h⁺ + W_N⁺ P_N + W_g⁺ P_g,  0 <= g_N(q⁺) ⟂ P_N >= 0``; first order, plastic. With
    ``Landing(dt_min, dt_max)`` the step size is an unknown again, and determined: the program determines the longest
    step in which complementarity is imposed only for contacts closed at its start, so that it ends exactly where a gap
    closes; impacts follow as a program in velocities. Second order between impacts.

    Parameters
    ----------
    solver : settings of a solver of MPCCs, optional
        ``IpoptMPCC()`` by default. If the solver does not optimise the step size (``ActiveSet``), it is determined by
        root finding.
    fallback : bool
        Whether other solvers are tried in turn where the residual of the first one's solution is too large.

    Notes
    -----
    Restitution requires `Landing`. In space friction enters by its direction, P_T = mu P_N r, see `StepEquations`.

    The contact equation of a loaded journal has two roots, the larger one on the opposite wall of its bearing. The
    larger one is rejected.

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
    """One MPCC per trial step size."""

    accepted_solvers = "give GaussMPCC an IpoptMPCC(...) or ActiveSet()"

    def __init__(self, system: System, parameters: Array, control: StepControl, solver: Any) -> None:
        super().__init__(system, parameters, control, solver)
        self.never = np.zeros(system.nc)

    def typical_program(self) -> Program:
        """A step of the largest size from the initial state of the system."""
        m, start = self.mechanism, self.system.start
        x_scale, y_scale = m.typical_sizes(start.t, start.q, start.v)
        start = replace(start, stepper_memory={"x_scale": x_scale, "y_scale": y_scale})
        return self.mpcc(start, m.longest, m.longest, np.ones(self.system.nc, dtype=bool))

    def rules(self) -> dict[str, Any]:
        """Selection of the root of the equations, and scaling of the programs."""
        rules = super().rules()
        rules["scales of the unknowns"] = (
            f"from the start; renewed if a velocity exceeds {OUTGROWN:g} times its own, or a contact first closes"
        )
        if isinstance(self.control, Landing):
            rules["root of a step"] = "the gap of a loaded contact increases with its impulse; else a shorter step"
        return rules

    def step(self, state: State, t_end: float) -> Stepping:
        """Advance to `t_end` at most."""
        return (yield from super().step(self._sized(state), t_end))

    def _sized(self, state: State) -> State:
        """The state with valid scales of the unknowns.

        A start at rest without load provides no scales, and a concentric journal no normal.
        """
        memory = state.stepper_memory
        x_scale, closed, sized = memory["x_scale"], memory["closed"], memory.get("sized", self.never)
        outgrown = np.abs(state.v) > OUTGROWN * x_scale[1 : state.v.size + 1]
        if not (outgrown.any() or (closed > sized).any()):
            return state
        x, y = self.mechanism.typical_sizes(state.t, state.q, state.v)
        y_scale = np.where(closed > sized, y, memory["y_scale"])
        sizes = {"x_scale": np.maximum(x, x_scale), "y_scale": y_scale, "sized": np.maximum(closed, sized)}
        return replace(state, stepper_memory={**memory, **sizes})

    def advance(
        self, state: State, dt: float, binding: NDArray[np.bool_], guess: Advance | None = None
    ) -> Generator[Ask, Solution, Advance]:
        """One MPCC with given step size."""
        program = self.mpcc(state, dt, dt, binding)
        if guess is None:
            resting = yield from self._rested(state, dt, program)
            if resting is not None:
                return resting
            start = self._free_motion(state, dt, binding)
        else:
            x, y = self.unknowns(state, dt, guess.u, guess.P_g, guess.P_N, guess.P_T)
            start = replace(guess.solution, x=x, y=y)
        solution = yield program, start
        done = self._advance(state, program, solution)
        if self._on_the_far_side(state, done):
            raise SolverFailed(
                f"a contact force moves a body through its clearance to the opposite wall within dt = {done.dt:.6g} s."
            )
        return done

    def land(self, state: State, longest: float, closed: NDArray[np.bool_]) -> Generator[Ask, Solution, Advance]:
        """One MPCC whose objective is the step size; by root finding if the solver does not optimise."""
        program, m = self.mpcc(state, 0.0, longest, closed), self.mechanism
        resting = yield from self._rested(state, longest, program)
        if resting is not None and closing_within(m, state, resting, closed) is None:
            return resting
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
        near = not self._on_the_far_side(state, done)
        if near and (landed or done.dt == longest) and (earlier is None or earlier[0] >= done.dt * AT_THE_END):
            return done
        # the step is shorter than possible, passes through a wall, or ends at the opposite wall
        return (yield from super().land(state, longest, closed))

    def _rested(self, state: State, dt: float, program: MPCC) -> Generator[Ask, Solution, Advance | None]:
        """The step at rest, if it begins at rest and Coulomb's law allows it (see `resting`); else None.

        Impulses of a pile are not unique, which makes interior-point methods slow. The residual of the program
        certifies the step.
        """
        m, binding = self.mechanism, program.binding[: self.system.nc]
        closed = binding & m.touching(m.at(state.t, state.q).g_N)
        acceleration, literal = m.free_acceleration(state), getattr(self.solver, "relaxation", None) == "literal"
        if literal or np.count_nonzero(closed) < 2 or not starts_at_rest(m, state.v, dt * acceleration):
            return None
        half = 0.5 if self.equations.scheme == HALF_KICK else 1.0
        pushed = state.v + half * dt * acceleration
        try:
            held = yield from change_velocity(m, state.t, state.q, pushed, closed, np.zeros(self.system.nc), rest=True)
        except SolverFailed:  # only a proposal
            return None
        x, y = self.unknowns(state, dt, held.v, held.P_g, held.P_N, held.P_T)
        found = Solution(x, y, "solved", 0, "rest")
        return self._advance(state, program, found) if program.residual(found) <= CERTAIN else None

    def _advance(self, state: State, program: MPCC, solution: Solution) -> Advance:
        dt, u, P_g, P_N, P_T = self.equations.split(solution.x, solution.y, self.mechanism.friction)
        P_g = self.joint_impulses(state, P_g)
        errors, _, _, q = self.equations.outcome(solution.x, solution.y, program.p)
        return Advance(dt, u, q, P_g, P_N, P_T, float(errors.max(initial=0.0)), solution)

    def _on_the_far_side(self, state: State, done: Advance) -> bool:
        """Whether a contact is loaded at the larger one of two roots."""
        if self.equations.scheme != HALF_KICK or not done.P_N.any():
            return False
        m = self.mechanism
        pushed, there = m.at(state.t, state.q).W_N, m.at(state.t + done.dt, done.q).W_N
        growth = np.sum((m.metric.inverse @ there) * (m.metric.inverse @ pushed), axis=0)
        return bool(np.any(growth[done.P_N > 0.0] < 0.0))

    def _active(self, state: State, binding: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Pairs that are active at the start of the step: closed contacts, and their friction on the previous edge."""
        closed, P_T = binding & (state.stepper_memory["closed"] > 0), state.stepper_memory["P_T"]
        if self.equations.disc:
            m, P_N = self.mechanism, state.stepper_memory["P_N"]
            return np.concatenate([closed, closed & (contact_modes(m, closed, P_N, P_T) == SLIPPING)])
        return np.concatenate([closed, closed & (P_T > 0), closed & (P_T < 0), closed]) if self.rough else closed

    def _free_motion(self, state: State, dt: float, binding: NDArray[np.bool_]) -> Solution:
        """A guess: free motion with the impulses of the last step."""
        m = self.mechanism
        kick = dt / 2 if self.equations.scheme == HALF_KICK else dt
        P_N = np.where(binding, state.stepper_memory["P_N"], 0.0)
        P_T = np.where(m.by_tangent(binding), state.stepper_memory["P_T"], 0.0)
        u = state.v + kick * m.free_acceleration(state)
        if P_N.any():
            here = m.at(state.t, state.q)
            u = u + m.metric.change(here.W_N.dot(P_N) + here.W_T.dot(P_T) if self.rough else here.W_N.dot(P_N))
        x, y = self.unknowns(state, dt, u, np.zeros(self.system.ng), P_N, P_T)
        return Solution(x, y, "guess", 0, "guess", self._active(state, binding))
