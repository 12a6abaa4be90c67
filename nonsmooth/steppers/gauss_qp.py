"""The convex reduction: a sequence of strictly convex QPs with linearised gaps, until the nonlinear gaps are
satisfied."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import QP, FrictionContact, Program, Solution, near_impulses
from nonsmooth.settings import settings
from nonsmooth.step_control import ConstantStep, StepControl
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.equations import Advance
from nonsmooth.steppers.gauss import GaussFormulation, check_gauss
from nonsmooth.steppers.mechanism import MOST_AMPLIFIED
from nonsmooth.steppers.resting import resting_answer, starts_at_rest
from nonsmooth.steppers.tightness import gap_round_off, tight_clearance
from nonsmooth.tolerances.gauss import ACCEPTABLE, CONVERGED, PASSES, TURN

__all__ = ["GaussQP"]

#: iterations in which De Saxce's correction must converge; later ones formulate Coulomb's law as one program
CORRECTIONS = 25
#: iterations after which it may end at the round-off of gaps, for clearances near the round-off of coordinates
SETTLING = 10


@settings
class GaussQP:
    """Each step is a sequence of convex quadratic programs, usually one.

    With the gaps linearised at the iterate the step is
    ``min 1/2 dx' H dx + f' dx  s.t.  g_N + G_u dx >= 0``, whose multipliers are the impulses. H is the symmetric part
    of the derivative of the equations of motion, so it contains the curvature of the gaps under the impulses; f
    contains the remaining terms. The iterations end when the nonlinear equations with the true gaps are satisfied to
    round-off: the scheme is that of `GaussMPCC`, solved differently. Constant steps are implicit Euler, of first order
    and plastic; with ``Landing(dt_min, dt_max)`` the step size is determined by root finding.

    With friction each contact has two rows, the edges of the dual cone. The convex program alone would open the gap by
    dt mu |slip| (the relaxation of Anitescu and Tasora, unsuitable for clearances of micrometres); De Saxce's
    correction adds mu |slip| of the iterate, so that the iteration converges to Coulomb's law. If it does not converge
    because normal and tangential directions are strongly coupled, the step is formulated as friction problems.

    Parameters
    ----------
    solver : settings of a solver of QPs, optional
        ``ActiveSet()`` by default.
    fallback : bool
        Whether other solvers are tried in turn where the residual of the first one's solution is too large.

    cone : "coulomb" or "convex"
        "convex" omits De Saxce's correction: the friction of Anitescu and Tasora, for comparison only, with a constant
        step. Gaps then remain open by dt mu |slip|: with a clearance of 10 um, dt = 1e-3 and mu = 0.1 a slider is in
        contact with opposite walls at 0.1 m/s. The complementarity error in the certificate shows it.

    Notes
    -----
    Restitution requires `Landing`. In space, where the cone has no edges, each iteration is a friction problem.

    References
    ----------
    De Saxce, G., Feng, Z.-Q. (1998), The bipotential method, Math. Comput. Modelling 28, 225-245.
    """

    solver: Any = None
    fallback: bool = True
    cone: str = "coulomb"

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "ActiveSet"
    compiled: ClassVar[str] = "steps.CompiledSteps"
    programs: ClassVar[tuple[type, ...]] = (QP,)

    def __post_init__(self) -> None:
        if self.cone not in ("coulomb", "convex"):
            raise InputError(f'GaussQP: cone must be "coulomb" or "convex", got {self.cone!r}.')

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps, or laws of contacts, that the scheme does not support."""
        if self.cone == "convex" and not isinstance(control, ConstantStep):
            raise InputError(f'GaussQP(cone="convex") takes a constant step, got {control}; give dt as a number.')
        if self.cone == "convex" and system.dimension == 3:
            raise InputError('GaussQP(cone="convex") exists in the plane only; take cone="coulomb".')
        check_gauss(system, parameters, control, "GaussQP")

    def formulate(self, system: System, parameters: Array, control: StepControl, solver: Any) -> GaussQPFormulation:
        """The scheme on one system."""
        self.check(system, parameters, control)
        formulation = GaussQPFormulation(system, parameters, control, solver)
        formulation.convex = self.cone == "convex"
        return formulation


class GaussQPFormulation(GaussFormulation):
    """A sequence of convex programs until the nonlinear equations are satisfied."""

    convex = False

    accepted_solvers = 'give GaussQP ActiveSet(), Osqp(), Conic() or CasadiQP("daqp")'

    def __init__(self, system: System, parameters: Array, control: StepControl, solver: Any) -> None:
        super().__init__(system, parameters, control, solver)
        self._selected: dict[bytes, tuple[NDArray[np.intp] | slice, tuple[str, ...]]] = {}

    def typical_program(self) -> Program:
        """A QP with one row."""
        return QP(np.eye(1), np.zeros(1), np.ones((1, 1)), np.zeros(1))

    def advance(
        self, state: State, dt: float, binding: NDArray[np.bool_], guess: Advance | None = None
    ) -> Generator[Ask, Solution, Advance]:
        """Successive QPs with given step size."""
        m, memory, nv, nc = self.mechanism, state.stepper_memory, self.system.nv, self.system.nc
        ng = m.rank
        parameters = self.parameters(state, np.ones(nc))
        corrections = 0 if self.equations.disc else CORRECTIONS
        if guess is None:
            u, P_g = state.v, np.zeros(self.system.ng)
            P_N = np.where(binding, memory["P_N"], 0.0)
            P_T = np.where(m.by_tangent(binding), memory["P_T"], 0.0)
        else:
            u, P_g, P_N, P_T = guess.u, guess.P_g, guess.P_N, guess.P_T
        edges = 2 if self.rough else 1
        rows, names = self._rows(binding)
        pressing = memory["closed"] > 0 if guess is None else P_N > 0
        active = np.concatenate((np.ones(ng, dtype=bool), *(pressing,) * edges))[rows]
        solution = Solution(np.zeros(nv), np.zeros(active.size), "guess", 0, "guess", active)
        best: Advance | None = None
        several = not self.convex and int(np.count_nonzero(binding)) > 1
        rest = several and starts_at_rest(m, state.v, dt * m.free_acceleration(state))
        for k in range(PASSES + 1):
            x, y = self.unknowns(state, dt, u, P_g, P_N, P_T)
            if k > 0:
                errors, G, slip, q = self.equations.outcome(x, y, parameters)
                contact_error = self.contact_error(G, slip, P_N, P_T, memory["y_scale"], binding)
                residual = max(_finite(errors, dt), contact_error)
                stalled = best is not None and residual >= best.residual
                if best is None or residual < best.residual:
                    best = Advance(dt, u, q, P_g, P_N, P_T, residual, solution)
                if best.residual <= CONVERGED or (stalled and best.residual <= ACCEPTABLE):
                    return self._plausible(state, best)
                if stalled and k >= SETTLING and best.residual <= gap_round_off(m.scale, state.q):
                    return self._plausible(state, best)
            errors, G, slip, H, f, A, b, norms, deviation = self.equations.linearised(x, y, parameters)
            _finite(errors, dt)
            # only the mass matrix if the curvature makes it indefinite
            if deviation[0] > 0.5 and np.linalg.eigvalsh(H)[0] < 1e-3:
                H = np.eye(nv)
            as_one = self.rough and k >= corrections and not self.convex
            if as_one or (rest and k == 0):
                gap_rates = G / dt
                if not as_one:
                    gap_rates = np.where(m.touching(G), m.at(state.t, state.q).W_N.T @ u, gap_rates)
                numbers = H, f, A * norms[:, None], gap_rates, b * norms, slip, binding, (P_N, P_T)
                found = yield from self._coulomb(*numbers, rest=not as_one)
                if found is not None:
                    moved, P_g, P_N, P_T = found
                    u, P_g = u + m.metric.velocity(moved), self.joint_impulses(state, P_g)
                    continue
            if self.rough and not self.convex:
                b[ng:] -= np.tile(m.friction * np.abs(slip), 2) / norms[ng:]
            solution = yield QP(H, f, A[rows], b[rows], ng, names), solution
            u = u + m.metric.velocity(solution.x)
            impulses = np.zeros(norms.size)
            impulses[rows] = solution.y / norms[rows]
            P_g = self.joint_impulses(state, impulses[:ng])
            P_N, P_T = np.maximum(impulses[ng:], 0.0), np.zeros(self.system.nt)
            if self.rough:
                forwards, backwards = P_N[:nc], P_N[nc:]
                P_N, P_T = forwards + backwards, m.friction * (forwards - backwards)
        assert best is not None
        if best.residual <= MOST_AMPLIFIED and best.residual <= ACCEPTABLE * self._amplified(state, best):
            return self._plausible(state, best)
        raise SolverFailed(
            f"the linearised gaps did not close in {PASSES} iterations at dt = {dt:.6g} s (scaled residual "
            f"{best.residual:.3g}); a shorter step may be needed.{m.lost_rank(state.t, state.q)}"
            f"{tight_clearance(m, state.t, state.q, state.v, m.longest)}"
        )

    def _amplified(self, state: State, done: Advance) -> float:
        """Amplification of the joints' round-off in the impulses near a singular position."""
        m = self.mechanism
        return m.amplified(m.at(state.t, state.q).W_g, m.at(state.t + done.dt, done.q).W_g)

    def contact_error(
        self, G: Array, slip: Array, P_N: Array, P_T: Array, y_scale: Array, binding: NDArray[np.bool_]
    ) -> float:
        """Natural map of the law; of both edges of the cone if it is convex."""
        if not (self.convex and self.rough):
            return super().contact_error(G, slip, P_N, P_T, y_scale, binding)
        m = self.mechanism
        share = P_T / np.where(m.friction > 0, m.friction, 1.0)
        errors = [
            np.minimum((G + sign * m.longest * m.friction * slip) / m.scale, (P_N + sign * share) / (2 * y_scale))
            for sign in (1.0, -1.0)
        ]
        return float(np.max(np.abs(errors)[:, binding], initial=0.0))

    def _coulomb(
        self,
        H: Array,
        f: Array,
        rows: Array,
        gap_rates: Array,
        b: Array,
        slip: Array,
        binding: NDArray[np.bool_],
        last: tuple[Array, Array],
        rest: bool = False,
    ) -> Generator[Ask, Solution, tuple[Array, Array, Array, Array] | None]:
        """An iteration with Coulomb's law as one program: change of u in the mass metric, P_g, P_N, P_T.

        With `rest` only a solution without sliding contacts, None if there is none.
        """
        m, ng, nc = self.mechanism, self.mechanism.rank, self.system.nc
        index, normal, tangential = np.flatnonzero(binding), rows[ng : ng + nc], rows[ng + nc :]
        if not self.equations.disc:  # rows of edges
            mu = np.where(m.friction > 0, m.friction, 1.0)[:, None]
            normal, tangential = (normal + tangential) / 2, (normal - tangential) / (2 * mu)
        directions = np.concatenate([rows[:ng], m.blocks(normal.T, tangential.T, index).T])
        rates = np.concatenate([-b[:ng], m.rows(gap_rates, slip, index)])
        response = np.linalg.solve(H, np.column_stack([directions.T, f]))
        delassus = directions @ response[:, :-1]
        names = m.names[:ng] + tuple(m.names[ng + i] for i in index)
        program = FrictionContact(
            (delassus + delassus.T) / 2, rates - directions @ response[:, -1], m.friction[index],
            1 + m.tangents, ng, names,
        )  # fmt: skip
        if self.equations.disc:
            P_N, P_T = last
            # impulses of independent rows are unique and require no proximal term
            program = near_impulses(program, np.concatenate([np.zeros(ng), m.rows(P_N, P_T, index)]), skip=ng)
        answer = (yield from resting_answer(program)) if rest else (yield program, None)
        if answer is None:
            return None
        z = answer.y
        P_N, P_T = m.parted(z[ng:], index)
        return response[:, :-1] @ z - response[:, -1], z[:ng], P_N, P_T

    def _rows(self, binding: NDArray[np.bool_]) -> tuple[NDArray[np.intp] | slice, tuple[str, ...]]:
        """Rows of an iteration among those of all contacts, and their names: joints, then contacts once per edge."""
        key = binding.tobytes()
        if key not in self._selected:
            ng, every = self.mechanism.rank, self.mechanism.names[self.system.ng - self.mechanism.rank :]
            selected = np.concatenate([np.ones(ng, dtype=bool), *[binding] * (2 if self.rough else 1)])
            if self.rough:
                every = every + every[ng:]
            names = tuple(name for name, taken in zip(every, selected, strict=True) if taken)
            self._selected[key] = slice(None) if selected.all() else np.flatnonzero(selected), names
        return self._selected[key]

    def _plausible(self, state: State, done: Advance) -> Advance:
        if (np.abs(done.u - state.v) <= self.reach).all():
            return done  # for any free motion
        slowest, fastest = self.turn_limits(state)
        if np.all((slowest <= done.u) & (done.u <= fastest)):
            return done
        m = self.mechanism
        raise SolverFailed(
            f"a body rotates by more than {TURN:g} rad relative to its free motion in dt = {done.dt:.6g} s."
            f"{tight_clearance(m, state.t, state.q, state.v, m.longest)}"
        )


def _finite(errors: Array, dt: float) -> float:
    """The largest error; raises SolverFailed where one is not finite."""
    error = float(errors.max())
    if math.isfinite(error):
        return error
    raise SolverFailed(f"the equations of motion are not finite at dt = {dt:.6g} s.")
