"""What the two Gauss steppers share: constant steps by implicit Euler, landing by half kicks, impacts, bookkeeping.

A landing step from (t, q, v), where the contacts `closed` press (gap and rate zero):

1. *Half kick* of the largest length, up to the limit, for which every open gap stays >= 0; complementarity binds only closed
   contacts. It ends at the limit or exactly where a gap closes.
2. *Second half*: M (v_left - u) = dt/2 h + W(q⁺) P with W_N' v_left >= 0 on the contacts still closed.
3. *Impact*, if a closed contact approaches: the law gamma⁺ >= -e gamma⁻ on all closed contacts together.

If the gap closes before dt_min, the step is instead a half kick of dt_min in which all contacts bind, with plastic impact:
this carries the run over the accumulation of ever faster bounces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import MPCC, Program, Solution
from nonsmooth.step_control import ConstantStep, Landing, StepControl
from nonsmooth.steppers.base import CLOSED, OPEN, Ask, Step, Stepping
from nonsmooth.steppers.equations import FLOOR, HALF_KICK, IMPLICIT_EULER, StepEquations
from nonsmooth.steppers.landing import first_closing
from nonsmooth.steppers.velocity import MassMetric, VelocityProgram

__all__ = ["Advance", "GaussFormulation"]

#: share of the clearance below which a gap counts as closed
CLOSED_GAP = 1e-8
#: share of the sum of its terms below which a gap rate counts as zero
CLOSED_RATE = 1e-10
#: share of the clearance to which a landing is located
LANDED = 1e-13
LANDING_ITERATIONS = 40


class Configuration(NamedTuple):
    """Gaps, directions and the joints' explicit rates at one (t, q)."""

    g_N: Array
    W_N: Array
    W_g: Array
    g_t: Array


@dataclass(frozen=True, eq=False)
class Advance:
    """Solved discrete equations of one length: velocity u, where it leads, impulses, and the residual of the equations."""

    dt: float
    u: Array
    q: Array
    P_g: Array
    P_N: Array
    residual: float
    solution: Solution


class GaussFormulation(ABC):
    """Steps of a Gauss stepper on one system; subclasses say how the equations of one length are solved."""

    def __init__(self, system: System, parameters: Array, control: StepControl, solver: Any) -> None:
        self.system, self.p, self.control, self.solver = system, parameters, control, solver
        self.n = system.numeric
        self.restitution, friction, self.scale = self.n.contact_law(parameters)
        name = type(self).__name__.removesuffix("Formulation")
        self._refuse(name, friction)
        self.equations = StepEquations(system, IMPLICIT_EULER if isinstance(control, ConstantStep) else HALF_KICK)
        self.names = system.constraint_names + system.contact_names
        self.metric = MassMetric(self.n.M(system.start.q, parameters)[0])
        self.closed_gap = CLOSED_GAP * self.scale
        self.longest = control.dt if isinstance(control, ConstantStep) else control.dt_max
        self._limit = np.inf
        self._met: list[tuple[float, Array, Configuration]] = []
        if not solver.fits(self.typical_program()):
            raise InputError(f"{name} poses programs that {solver} does not solve; {self.accepted_solvers}.")

    def _refuse(self, name: str, friction: Array) -> None:
        rough = np.flatnonzero(friction > 0)
        if rough.size:
            raise InputError(
                f'{name} is frictionless, but contact "{self.system.contact_names[rough[0]]}" has friction '
                f"{friction[rough[0]]:g}; set its friction to 0."
            )
        bouncy = np.flatnonzero(self.restitution > 0)
        if bouncy.size and isinstance(self.control, ConstantStep):
            raise InputError(
                f"{name} with a constant step is plastic (restitution 0) by construction, but contact "
                f'"{self.system.contact_names[bouncy[0]]}" has restitution {self.restitution[bouncy[0]]:g}; '
                "set it to 0, or use dt=Landing(dt_min, dt_max)."
            )

    accepted_solvers: ClassVar[str]

    @abstractmethod
    def typical_program(self) -> Program:
        """A program of the kind that `advance` poses."""

    @abstractmethod
    def advance(
        self, state: State, dt: float, binding: NDArray[np.bool_], guess: Advance | None = None
    ) -> Generator[Ask, Solution, Advance]:
        """Solve the discrete equations for a step of length `dt`, complementarity on `binding` contacts."""

    def land(
        self, state: State, longest: float, closed: NDArray[np.bool_]
    ) -> Generator[Ask, Solution, Advance]:
        """Half kick of the largest admissible length, by root finding on the length."""
        return (yield from self.land_by_roots(state, longest, closed))

    def rules(self) -> dict[str, Any]:
        """Tolerances of contact detection."""
        rules = {
            "gap that counts as closed / clearance": CLOSED_GAP,
            "gap rate that counts as zero / its terms": CLOSED_RATE,
        }
        if isinstance(self.control, Landing):
            rules |= {
                "landing located to gap / clearance": LANDED,
                "closing nearer than dt_min": "one step of dt_min in which all contacts bind, plastic impact",
            }
        return rules

    def _at(self, t: float, q: Array) -> Configuration:
        """The configuration, remembered for the ends of the current step."""
        for met_t, met_q, configuration in self._met:
            if met_q is q and met_t == t:
                return configuration
        configuration = Configuration(*self.n.configuration(t, q, self.p))
        self._met = [(t, q, configuration), *self._met[:1]]
        return configuration

    # ------------------------------------------------------------------ start

    def start(self, state: State) -> Generator[Ask, Solution, tuple[State, Step | None]]:
        """Latch the closed contacts; a start with closed contacts that approach begins with their impact."""
        memory = state.stepper_memory
        if {"closed", "P_N", "x_scale", "y_scale"} <= set(memory):
            return state, None
        state = replace(state, stepper_memory=self._typical_sizes(state))
        zero = np.zeros(self.system.nc)
        if isinstance(self.control, ConstantStep):
            return replace(state, stepper_memory=self._memory(state, zero > 0, zero)), None
        q, v = state.q, state.v
        here = self._at(state.t, q)
        touching = here.g_N <= self.closed_gap
        v_plus, P_g, P_N = yield from self._impact(state.t, q, v, touching, np.abs(v))
        closed = touching & ~self._leaving(here.W_N, v_plus, np.abs(v))
        start = replace(state, v=v_plus, stepper_memory=self._memory(state, closed, zero))
        if not np.any(P_N > 0):
            return replace(start, v=v), None
        none = np.zeros(self.system.ng)
        return start, self._record(start, v, 0.0, (none, none, P_g), (zero, zero, P_N), touching, 0.0)

    def _memory(self, state: State, closed: NDArray[np.bool_], P_N: Array) -> dict[str, Array]:
        return {**state.stepper_memory, "closed": closed.astype(float), "P_N": P_N}

    # ------------------------------------------------------------------ steps

    def step(self, state: State, t_end: float) -> Stepping:
        """Advance to `t_end` at most."""
        if isinstance(self.control, ConstantStep):
            return (yield from self._euler_step(state, t_end))
        return (yield from self._landing_step(state, t_end))

    def _euler_step(self, state: State, t_end: float) -> Stepping:
        everything = np.ones(self.system.nc, dtype=bool)
        done = yield from self.advance(state, t_end - state.t, everything)
        q = done.q
        before = self._at(state.t, state.q)
        # an impulse that stops an approach is an impact, spread over the step that closes the gap and the next
        striking = (before.g_N > self.closed_gap) | self._approaching(before.W_N, state.v, np.abs(state.v))
        impact = np.where(striking, done.P_N, 0.0)
        closed = self._at(t_end, q).g_N <= self.closed_gap
        end = State(t_end, q, done.u, state.law_memory, self._memory(state, closed, done.P_N))
        none = np.zeros(self.system.ng)
        return self._record(
            end, done.u, done.dt, (none, done.P_g, none), (np.zeros_like(impact), done.P_N - impact, impact), closed, done.residual,
            start=state,
        )  # fmt: skip

    def _landing_step(self, state: State, t_end: float) -> Stepping:
        assert isinstance(self.control, Landing)
        closed = state.stepper_memory["closed"] > 0
        longest, self._limit = t_end - state.t, t_end
        shortest = min(self.control.dt_min, longest)
        first = yield from self.land(state, longest, closed)
        crossing = first.dt < shortest
        if crossing:
            first = yield from self.advance(state, shortest, np.ones_like(closed))
        dt, q = first.dt, first.q
        t = self._end_time(state, dt)
        after = self._at(t, q)
        touching = after.g_N <= self.closed_gap
        held = touching if crossing else touching & closed

        q_mid = self.n.advance(state.q, first.u, dt / 2)[0]
        force = self.n.h(state.t + dt / 2, q_mid, first.u, self.p)[0]
        kicked = first.u + self._inverse_mass(dt / 2 * force)
        v_left, P_g, P_N = yield from self._velocities(t, q, kicked, held, np.zeros(self.system.nc))
        # at rest velocities are differences of kicks: these, not what is left, tell what is zero
        terms = np.abs(kicked) + np.abs(v_left)
        v_plus, P_g_impact, P_N_impact = yield from self._impact(t, q, v_left, touching, terms)
        smooth = P_N
        if crossing:  # what stops a bounce within the step is an impact
            fresh = ~closed
            P_N_impact = P_N_impact + np.where(fresh, first.P_N + P_N, 0.0)
            smooth = np.where(fresh, 0.0, P_N)
            first_P_N = np.where(fresh, 0.0, first.P_N)
        else:
            first_P_N = first.P_N
        still = touching & ~self._leaving(after.W_N, v_plus, terms)
        end = State(t, q, v_plus, state.law_memory, self._memory(state, still, first.P_N))
        residual = max(first.residual, self._velocity_residual(t, q, kicked, v_left, P_g, P_N))
        return self._record(
            end, v_left, dt, (first.P_g, P_g, P_g_impact), (first_P_N, smooth, P_N_impact), touching, residual, start=state
        )

    # ------------------------------------------------------------------ landing by root finding

    def land_by_roots(
        self, state: State, longest: float, closed: NDArray[np.bool_]
    ) -> Generator[Ask, Solution, Advance]:
        """Guarded Newton on the length: each trial solves the equations anew, each ends with a look at all other gaps."""
        g0, rate0 = self._start_gaps(state)
        trial = yield from self.advance(state, longest, closed)
        found = self._closing(state, trial, g0, rate0, closed)
        while found is not None:
            trial = yield from self._locate(state, trial, found, closed)
            earlier = self._closing(state, trial, g0, rate0, closed)
            if earlier is None or earlier[0] >= trial.dt * (1 - 1e-9):
                break
            found = earlier
        return trial

    def _locate(
        self, state: State, beyond: Advance, found: tuple[float, int], closed: NDArray[np.bool_]
    ) -> Generator[Ask, Solution, Advance]:
        estimate, i = found
        low, high = 0.0, beyond.dt
        best = beyond
        for _ in range(LANDING_ITERATIONS):
            trial = yield from self.advance(state, estimate, closed, best)
            gap, rate = (float(x[i]) for x in self._end_gaps(state, trial))
            best = trial
            if abs(gap) <= LANDED * self.scale[i] or high - low <= 4 * np.finfo(float).eps * high:
                break
            low, high = (estimate, high) if gap > 0 else (low, estimate)
            newton = estimate - gap / rate if rate < 0 else np.inf
            step = newton if low < newton < high else (low + high) / 2
            if step == estimate:
                break
            estimate = step
        return best

    def _start_gaps(self, state: State) -> tuple[Array, Array]:
        here = self._at(state.t, state.q)
        return here.g_N, here.W_N.T @ state.v

    def _end_gaps(self, state: State, trial: Advance) -> tuple[Array, Array]:
        """Gaps at the end of a half kick, and their rates of change with its length."""
        there = self._at(self._end_time(state, trial.dt), trial.q)
        return there.g_N, there.W_N.T @ (2 * trial.u - state.v)

    def _end_time(self, state: State, dt: float) -> float:
        """state.t + dt, but exactly the limit of the step where dt is the whole way to it."""
        return self._limit if dt == self._limit - state.t else state.t + dt

    def _closing(
        self, state: State, trial: Advance, g0: Array, rate0: Array, closed: NDArray[np.bool_]
    ) -> tuple[float, int] | None:
        g1, rate1 = self._end_gaps(state, trial)
        # a landing at the end of the trial itself is no news
        tolerance = np.maximum(self.closed_gap * 1e-2, 0.0)
        return first_closing(g0, rate0, g1, rate1, trial.dt, watched=~closed, tolerance=tolerance)

    # ------------------------------------------------------------------ velocities and impacts

    def _velocities(
        self, t: float, q: Array, v: Array, closed: NDArray[np.bool_], bound: Array
    ) -> Generator[Ask, Solution, tuple[Array, Array, Array]]:
        here = self._at(t, q)
        change = VelocityProgram(self.metric, v, here.W_g, -here.g_t, here.W_N, bound, closed, self.names)
        if change.trivial:
            return v, np.zeros(self.system.ng), np.zeros(self.system.nc)
        solution = yield change.program, change.guess(closed)
        return change.recover(solution)

    def _impact(
        self, t: float, q: Array, v: Array, touching: NDArray[np.bool_], terms: Array
    ) -> Generator[Ask, Solution, tuple[Array, Array, Array]]:
        W_N = self._at(t, q).W_N
        if not np.any(touching & self._approaching(W_N, v, terms)):
            return v, np.zeros(self.system.ng), np.zeros(self.system.nc)
        bound = -self.restitution * np.minimum(W_N.T @ v, 0.0)
        return (yield from self._velocities(t, q, v, touching, bound))

    def _zero_rate(self, W_N: Array, terms: Array) -> Array:
        """Gap rate that counts as zero where velocities are sums of `terms`."""
        return CLOSED_RATE * (np.abs(W_N).T @ terms + self.scale / self.longest)

    def _approaching(self, W_N: Array, v: Array, terms: Array) -> NDArray[np.bool_]:
        return W_N.T @ v < -self._zero_rate(W_N, terms)

    def _leaving(self, W_N: Array, v: Array, terms: Array) -> NDArray[np.bool_]:
        return W_N.T @ v > self._zero_rate(W_N, terms)

    def _inverse_mass(self, impulse: Array) -> Array:
        return self.metric.inverse.T @ (self.metric.inverse @ impulse)

    def _velocity_residual(self, t: float, q: Array, v: Array, v_plus: Array, P_g: Array, P_N: Array) -> float:
        """Scaled residual of M (v⁺ - v) = W_g P_g + W_N P_N and W_g' v⁺ + g_t = 0."""
        (_, W_N, W_g, rate), M = self._at(t, q), self.metric.M
        rows = M @ (v_plus - v) - W_g @ P_g - W_N @ P_N
        terms = np.abs(M) @ (np.abs(v_plus) + np.abs(v)) + np.abs(W_g) @ np.abs(P_g) + np.abs(W_N) @ np.abs(P_N)
        size = sum(float(np.linalg.norm(self.metric.factor.T @ x)) for x in (v, v_plus))
        terms = terms + FLOOR * np.sqrt(np.diag(M)) * size
        joints = W_g.T @ v_plus + rate
        joint_terms = np.abs(W_g).T @ np.abs(v_plus) + np.abs(rate)
        scaled = np.abs(np.concatenate([rows, joints])) / np.maximum(np.concatenate([terms, joint_terms]), np.finfo(float).tiny)
        return float(np.max(scaled, initial=0.0))

    # ------------------------------------------------------------------ programs

    def mpcc(self, state: State, shortest: float, longest: float, binding: NDArray[np.bool_]) -> MPCC:
        """The step as an MPCC with dt between the bounds; a trial of given length ignores gaps that do not bind."""
        watched = binding | (shortest < longest)
        x_scale, y_scale = self.scales(state)
        free = np.full(self.system.nv + self.system.ng, np.inf)
        return MPCC(
            self.equations.structure,
            self.equations.parameters(state.t, state.q, state.v, self.p, self.longest),
            np.concatenate(([shortest], -free)),
            np.concatenate(([longest], free)),
            x_scale,
            y_scale,
            np.where(watched, self.scale, np.inf),
            binding,
        )

    def scales(self, state: State) -> tuple[Array, Array]:
        """Typical sizes of the unknowns x and y of the step, as latched at the start."""
        return state.stepper_memory["x_scale"], state.stepper_memory["y_scale"]

    def _typical_sizes(self, state: State) -> dict[str, Array]:
        """Impulses that move a gap by its clearance within the longest step, and the velocities they and the loads give."""
        dt, weight = self.longest, np.diag(self.metric.M)
        _, W_N, W_g, _ = self._at(state.t, state.q)
        mobility = np.sum((self.metric.inverse @ W_N) ** 2, axis=0)
        # a concentric journal has no normal yet; no contact is heavier than the heaviest body
        y = self.scale / (dt * np.maximum(mobility, 1.0 / np.max(weight)))
        struck = np.abs(self.metric.inverse.T @ self.metric.inverse @ W_N) * y
        driven = np.abs(self._inverse_mass(dt * self.n.h(state.t, state.q, state.v, self.p)[0]))
        u = np.maximum(np.max(struck, axis=1, initial=0.0), np.maximum(driven, np.abs(state.v)))
        u[u == 0.0] = np.max(u, initial=0.0) or 1.0
        directions = np.abs(W_g)
        P_g = directions.T @ (weight * u) / np.maximum(np.sum(directions**2, axis=0), np.finfo(float).tiny)
        return {"x_scale": np.concatenate(([dt], u, P_g)), "y_scale": y}

    def failed(self, message: str, attempts: tuple[Any, ...] = ()) -> SolverFailed:
        """The error of a sequence of programs that does not converge."""
        return SolverFailed(message, attempts=attempts)

    # ------------------------------------------------------------------ bookkeeping

    def _record(
        self, end: State, v_left: Array, dt: float,
        P_g: tuple[Array, Array, Array], P_N: tuple[Array, Array, Array], closed: NDArray[np.bool_], residual: float,
        start: State | None = None,
    ) -> Step:  # fmt: skip
        """The step from its impulses: along the directions at the start, at the end, and of the impact at the end."""
        start = start or end
        before, after = self._at(start.t, start.q), self._at(end.t, end.q)
        gamma_minus = before.W_N.T @ start.v if isinstance(self.control, ConstantStep) else after.W_N.T @ v_left
        total = P_N[0] + P_N[1] + P_N[2]
        # a contact that leaves during the step has pressed at its start, not at its end
        pressed = np.where(closed, total, P_N[1] + P_N[2])
        natural = np.abs(np.minimum(after.g_N / self.scale, pressed / self.scales(start)[1]))
        reaction, reaction_impact, work = self._reactions(start, end, P_g)
        return Step(
            state=end,
            v_left=v_left,
            dt=dt,
            P_N=total,
            P_N_impact=P_N[2],
            P_T=np.zeros(self.system.nc),
            mode=np.where(closed, CLOSED, OPEN).astype(np.int8),
            gamma_minus=gamma_minus,
            gamma_plus=after.W_N.T @ end.v,
            reaction=reaction / dt if dt > 0 else reaction,
            reaction_impact=reaction_impact,
            residual=residual,
            complementarity=float(np.max(natural, initial=0.0)),
            work_drivers=work,
        )

    def _reactions(self, start: State, end: State, P_g: tuple[Array, Array, Array]) -> tuple[Array, Array, float]:
        """Impulses of joints on their second bodies, without and at impacts, and the work of drivers."""
        if self.system.ng == 0:
            return np.zeros(0), np.zeros(0), 0.0
        first, second, impact = (
            self.n.reaction(state.t, state.q, self.p, impulse)[0] for state, impulse in zip((start, end, end), P_g, strict=True)
        )
        work = -P_g[0] @ self._at(start.t, start.q).g_t - (P_g[1] + P_g[2]) @ self._at(end.t, end.q).g_t
        return first + second, impact, float(work)
