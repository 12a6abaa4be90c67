"""The convex reduction: gaps linearised, one strictly convex QP after another until the true gaps close."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import QP, Program, Solution
from nonsmooth.step_control import StepControl
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.gauss import Advance, GaussFormulation

__all__ = ["GaussQP"]

PASSES = 50
#: scaled residual of the nonlinear equations at which the sequence ends at once
CONVERGED = 1e-13
#: and at which it may end when a pass no longer improves it
ACCEPTABLE = 1e-11


@dataclass(frozen=True)
class GaussQP:
    """Each step is a sequence of convex quadratic programs, usually one.

    With the gaps linearised at the iterate the step is
    ``min 1/2 dx' H dx + f' dx  s.t.  g_N + G_u dx >= 0``, whose multipliers are the impulses. H is the symmetric part
    of the derivative of the equations of motion, so it holds the curvature of the gaps under the impulses; f corrects
    for what is left out. The passes end when the nonlinear equations with the true gaps hold to round-off: the scheme
    is the same as that of `GaussMPCC`, solved another way. Constant steps are implicit Euler, first order and
    plastic; with
    ``Landing(dt_min, dt_max)`` the length is found by roots.

    Parameters
    ----------
    solver : settings of a solver of QPs, optional
        None for ``ActiveSet()``.
    fallback : bool
        Whether the chain of other solvers may take over where the first one's answer is not certified.

    Notes
    -----
    Frictionless. Restitution needs landing.
    """

    solver: Any = None
    fallback: bool = True

    default_solver: ClassVar[str] = "ActiveSet"

    def formulate(self, system: System, parameters: Array, control: StepControl, solver: Any) -> GaussQPFormulation:
        """The scheme on one system."""
        return GaussQPFormulation(system, parameters, control, solver)


class GaussQPFormulation(GaussFormulation):
    """Poses convex programs until the nonlinear equations hold."""

    accepted_solvers = 'give GaussQP ActiveSet(), Osqp(), Conic() or CasadiQP("daqp")'

    def typical_program(self) -> Program:
        """A QP with one row."""
        return QP(np.eye(1), np.zeros(1), np.ones((1, 1)), np.zeros(1))

    def advance(
        self, state: State, dt: float, binding: NDArray[np.bool_], guess: Advance | None = None
    ) -> Generator[Ask, Solution, Advance]:
        """Successive QPs at given length."""
        m, memory, ng, nv = self.mechanism, state.stepper_memory, self.system.ng, self.system.nv
        parameters = self.equations.parameters(state.t, state.q, state.v, m.p, m.longest)
        if guess is None:
            u, P_g, P_N = state.v, np.zeros(ng), np.where(binding, memory["P_N"], 0.0)
            active = memory["closed"] > 0
        else:
            u, P_g, P_N = guess.u, guess.P_g, guess.P_N
            active = P_N > 0
        index = np.concatenate([np.arange(ng), ng + np.flatnonzero(binding)])
        names = tuple(m.names[i] for i in index)
        rows = np.concatenate([np.ones(ng, dtype=bool), active])[index]
        solution = Solution(np.zeros(nv), np.zeros(rows.size), "guess", 0, "guess", rows)
        best: Advance | None = None
        for k in range(PASSES + 1):
            x = np.concatenate(([dt], u, P_g))
            errors, G, H, f, A, b, norms, deviation, q = self.equations.linearised(x, P_N, parameters)
            error = float(errors.max())
            if not np.isfinite(error):
                raise SolverFailed(f"the equations of motion are not finite at dt = {dt:.6g} s.")
            if k > 0:
                natural = np.abs(np.minimum(G / m.scale, P_N / memory["y_scale"]))[binding]
                residual = max(error, float(natural.max(initial=0.0)))
                stalled = best is not None and residual >= best.residual
                if best is None or residual < best.residual:
                    best = Advance(dt, u, q, P_g, P_N, residual, solution)
                if best.residual <= CONVERGED or (stalled and best.residual <= ACCEPTABLE):
                    return best
            # the mass alone where the curvature takes away definiteness
            if deviation[0] > 0.5 and np.linalg.eigvalsh(H)[0] < 1e-3:
                H = np.eye(nv)
            solution = yield QP(H, f, A[index], b[index], ng, names), solution
            u = u + m.metric.velocity(solution.x)
            impulses = np.zeros(norms.size)
            impulses[index] = solution.y / norms[index]
            P_g, P_N = impulses[:ng], np.maximum(impulses[ng:], 0.0)
        assert best is not None
        raise SolverFailed(
            f"the linearised gaps did not close in {PASSES} passes at dt = {dt:.6g} s "
            f"(scaled residual {best.residual:.3g}); a shorter step may be needed."
        )
