"""Common base of the two Gauss steppers: checks, constant steps by implicit Euler, event-locating steps, records.

An event-locating step (`Landing`) from (t, q, v), with the set `closed` of contacts whose gap and gap velocity are
zero:

1. *Momentum update of the first half* with the largest step size, up to the limit, for which every open gap is >= 0;
   complementarity is imposed for closed contacts only. It ends at the limit or exactly where a gap closes.
2. *Second half*: M (v_left - u) = dt/2 h + W(q⁺) P with W_N' v_left >= 0 on the contacts still closed.
3. *Impact*, if a closed contact approaches: Newton's law gamma⁺ >= -e gamma⁻, Poisson's in its two phases, or a law
   integrated along the impulse, for all impacting contacts together.

A contact that closes again within dt_min of opening, as in an accumulation of impacts, is not located: one step of
dt_min is taken in which all contacts are imposed, with plastic impact. It resolves the accumulation.

Impacts are simultaneous within a window: when one contact closes, each other one that would close within dt_min at its
gap velocity takes part. Otherwise round-off would decide which of two corners impacts first, and with it the motion
that follows. The window is therefore part of the model; it is recorded in the manifest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import Program, Solution
from nonsmooth.sets import Disk
from nonsmooth.step_control import ConstantStep, Landing, StepControl
from nonsmooth.steppers.base import Ask, Step, Stepping
from nonsmooth.steppers.equations import HALF_KICK, IMPLICIT_EULER, Advance, StepEquations
from nonsmooth.steppers.incremental import SHARING
from nonsmooth.steppers.landing import locate_landing
from nonsmooth.steppers.local_error import LocalError
from nonsmooth.steppers.mechanism import Configuration, Mechanism, contact_modes
from nonsmooth.steppers.resting import REST, starts_at_rest
from nonsmooth.steppers.supported import check_impact_laws, check_plastic
from nonsmooth.steppers.velocity import change_velocity, expand, strike
from nonsmooth.tolerances import CLOSED_GAP, CLOSED_RATE, SHRINK
from nonsmooth.tolerances.gauss import AT_LEAST, LANDED, TURN

__all__ = ["GaussFormulation", "check_gauss"]

Mask = NDArray[np.bool_]
MEMORIES = ("closed", "left_at", "P_N", "P_T", "x_scale", "y_scale")


@dataclass(frozen=True, eq=False)
class Impulses:
    """Impulses of a step along the directions at its start, at its end, and of the impact at its end."""

    start: Array
    end: Array
    impact: Array

    @property
    def total(self) -> Array:
        return self.start + self.end + self.impact


def check_gauss(system: System, parameters: Array, control: StepControl, name: str) -> None:
    """Raise InputError for steps, or laws of contacts, that the stepper `name` does not support."""
    if not isinstance(control, ConstantStep | Landing):
        raise InputError(f"{name} takes dt as a number of seconds or Landing(dt_min, dt_max), got {control}.")
    if isinstance(control, ConstantStep):
        check_plastic(system, parameters, name)
    else:
        check_impact_laws(system, parameters, name)


class GaussFormulation(ABC):
    """Steps of a Gauss stepper on one system; subclasses solve the equations for a given step size."""

    #: advice if a solver is not suitable
    accepted_solvers: ClassVar[str]

    def __init__(self, system: System, parameters: Array, control: StepControl, solver: Any) -> None:
        name = type(self).__name__.removesuffix("Formulation")
        check_gauss(system, parameters, control, name)
        assert isinstance(control, ConstantStep | Landing)
        self.system, self.control, self.solver = system, control, solver
        constant = isinstance(control, ConstantStep)
        longest = control.dt if isinstance(control, ConstantStep) else control.dt_max
        self.mechanism = Mechanism(system, parameters, longest)
        self.rough, self.everywhere = self.mechanism.rough, np.ones(system.nc, dtype=bool)
        self._combined: tuple[State, Array | None] | None = None
        self.reach = np.where(self.mechanism.angular, TURN / self.mechanism.longest, np.inf)
        controlled = isinstance(control, Landing) and control.error is not None
        self.local = LocalError(self.mechanism, control) if controlled else None  # type: ignore[arg-type]
        self._middle = np.zeros(system.nv)
        scheme, rank = IMPLICIT_EULER if constant else HALF_KICK, self.mechanism.rank
        self.equations = StepEquations(system, scheme, rough=self.rough, rank=rank)
        if not solver.fits(self.typical_program()):
            raise InputError(f"{name} formulates programs that {solver} does not solve; {self.accepted_solvers}.")

    def parameters(self, state: State, binding: NDArray[Any]) -> Array:
        """The parameter vector of a step's equations."""
        m = self.mechanism
        fixed = self.equations.parameters(state.t, state.q, state.v, m.p, m.longest, binding)
        C = self._combinations(state)
        return fixed if C is None else np.concatenate([fixed, C.ravel(order="F")])

    def _combinations(self, state: State) -> Array | None:
        """Combinations of the joints' rows at the start of the step; those of the last start are stored."""
        if self._combined is None or self._combined[0] is not state:
            self._combined = state, self.mechanism.combinations(state.t, state.q)
        return self._combined[1]

    def joint_impulses(self, state: State, P: Array) -> Array:
        """Impulses of all rows of the joints from those of the combinations in the equations."""
        C = self._combinations(state)
        return P if C is None else C.T @ P

    def unknowns(self, state: State, dt: float, u: Array, P_g: Array, P_N: Array, P_T: Array) -> tuple[Array, Array]:
        """The unknowns (x, y) of the step's equations at these velocities and impulses."""
        slip = self.mechanism.at(state.t, state.q).W_T.T @ u if self.equations.disc else P_T
        C = self._combinations(state)
        P = P_g if C is None else C @ P_g
        return self.equations.unknowns(dt, u, P, P_N, P_T, self.mechanism.friction, slip)

    def contact_error(self, G: Array, slip: Array, P_N: Array, P_T: Array, y_scale: Array, binding: Mask) -> float:
        """Natural map of gaps and, with friction, of Coulomb's law, for the imposed contacts."""
        m = self.mechanism
        natural = np.abs(np.minimum(G / m.scale, P_N / y_scale))
        if self.rough:
            push, reach = P_T / m.by_tangent(y_scale), m.friction * P_N / y_scale
            pushed = push - slip * m.longest / m.by_tangent(m.scale)
            if m.tangents == 1:
                law = np.abs(push - np.clip(pushed, -reach, reach))
            else:
                law = m.length(push - Disk(reach).project(pushed.reshape(-1, m.tangents)).ravel())
            natural = np.maximum(natural, law)
        return float(natural[binding].max(initial=0.0))

    @abstractmethod
    def typical_program(self) -> Program:
        """A program of the kind that `advance` solves."""

    @abstractmethod
    def advance(
        self, state: State, dt: float, binding: Mask, guess: Advance | None = None
    ) -> Generator[Ask, Solution, Advance]:
        """Solve the discrete equations for a step of length `dt`, complementarity on `binding` contacts."""

    def land(self, state: State, longest: float, closed: Mask) -> Generator[Ask, Solution, Advance]:
        """Momentum update of the first half with the largest admissible step size, by root finding."""
        return (yield from locate_landing(self.mechanism, self.advance, state, longest, closed))

    def counts(self) -> dict[str, int]:
        """Steps that were shortened for their local error."""
        return {} if self.local is None else {"rejected": self.local.rejected}

    def rules(self) -> dict[str, Any]:
        """Tolerances of contact detection."""
        rules: dict[str, Any] = {
            "gap regarded as closed / clearance": CLOSED_GAP,
            "gap velocity regarded as zero / its terms": CLOSED_RATE,
            "rest": REST,
        }
        if isinstance(self.control, Landing):
            rules["closing of a gap located to gap / clearance"] = LANDED
            rules["simultaneous impacts"] = "of closed contacts, and those with gap < dt_min times approach velocity"
            rules["contact that closes again within dt_min"] = "one step of dt_min, contacts imposed, plastic impact"
            if self.mechanism.incremental:
                rules["contacts of one impact"] = SHARING
                rules["impact within the step of dt_min"] = "has expansion by Poisson's law"
        return rules

    # ---------------------------------------------------------------------------------------------------------- start

    def start(self, state: State) -> Generator[Ask, Solution, tuple[State, Step | None]]:
        """Determine the closed contacts; if closed contacts approach at the start, the run begins with their impact."""
        if set(MEMORIES) <= set(state.stepper_memory):
            return state, None
        m, none, still = self.mechanism, np.zeros(self.system.nc), np.zeros(self.system.nt)
        x_scale, y_scale = m.typical_sizes(state.t, state.q, state.v)
        state = replace(state, stepper_memory={"x_scale": x_scale, "y_scale": y_scale, "left_at": none - np.inf})
        if isinstance(self.control, ConstantStep):
            return self._remembering(state, state, none > 0, none, still), None
        here, terms = m.at(state.t, state.q), np.abs(state.v)
        touching = m.touching(here.g_N)
        impact = yield from strike(m, state.t, state.q, state.v, touching, terms)
        pressing = touching & ~m.leaving(here.W_N, impact.v, terms)
        start = self._remembering(state, replace(state, v=impact.v), pressing, none, still)
        if not np.any(impact.P_N > 0):
            return start, None
        idle = np.zeros(self.system.ng)
        impulses = (
            Impulses(none, none, impact.P_N), Impulses(still, still, impact.P_T), Impulses(idle, idle, impact.P_g),
        )  # fmt: skip
        return start, self._record(start, start, state.v, *impulses, touching, impact.residual)

    def _remembering(
        self, before: State, end: State, pressing: Mask, P_N: Array, P_T: Array, struck: Mask | None = None
    ) -> State:
        """The end of a step with the data for the next one: loaded contacts, opening times of the others, impulses."""
        left_at = before.stepper_memory["left_at"]
        left = before.stepper_memory["closed"] > 0 if "closed" in before.stepper_memory else np.zeros_like(pressing)
        if struck is None:
            struck = self.mechanism.touching(self.mechanism.at(end.t, end.q).g_N)
        left_at = np.where((struck | left) & ~pressing, end.t, left_at)
        memory = {"closed": pressing.astype(float), "left_at": left_at, "P_N": P_N, "P_T": P_T}
        return State(end.t, end.q, end.v, end.law_memory, {**before.stepper_memory, **memory})

    # ---------------------------------------------------------------------------------------------------------- steps

    def step(self, state: State, t_end: float) -> Stepping:
        """Advance to `t_end` at most."""
        if self.local is not None:
            return (yield from self._controlled_step(state, t_end, self.local))
        if isinstance(self.control, Landing):
            return (yield from self._landing_step(state, t_end, self.control.dt_min))
        return (yield from self._euler_step(state, t_end))

    def _euler_step(self, state: State, t_end: float) -> Stepping:
        m = self.mechanism
        done = yield from self.advance(state, t_end - state.t, self.everywhere)
        touching = m.touching(m.at(t_end, done.q).g_N)
        end = State(t_end, done.q, done.u, state.law_memory)
        end = self._remembering(state, end, touching, done.P_N, done.P_T, touching)
        none, still, idle = (np.zeros(size) for size in (self.system.nc, self.system.nt, self.system.ng))
        P_N, P_T, P_g = Impulses(none, done.P_N, none), Impulses(still, done.P_T, still), Impulses(idle, done.P_g, idle)
        if done.P_N.any():
            striking = self._striking(state, end)
            P_N = Impulses(none, np.where(striking, 0.0, done.P_N), np.where(striking, done.P_N, 0.0))
            if self.rough:
                rubbing = m.by_tangent(striking)
                P_T = Impulses(still, np.where(rubbing, 0.0, done.P_T), np.where(rubbing, done.P_T, 0.0))
        return self._record(state, end, done.u, P_N, P_T, P_g, touching, done.residual)

    def _striking(self, start: State, end: State) -> Mask:
        """Contacts whose impulse is an impact, distributed over the step in which the gap closes and the next one.

        It stops an approach, unless the contact persists and its direction rotates by as much.
        """
        m, v = self.mechanism, start.v
        before, after = m.at(start.t, start.q), m.at(end.t, end.q)
        closing = -v.dot(before.W_N)
        lasting = (start.stepper_memory["P_N"] > 0) & (closing <= np.abs(v.dot(after.W_N - before.W_N)))
        return ~m.touching(before.g_N) | ((closing > m.zero_rate(before.W_N, np.abs(v))) & ~lasting)

    def _controlled_step(self, state: State, t_end: float, local: LocalError) -> Stepping:
        """An event-locating step whose local error is below its tolerance."""
        control = local.control
        planned = length = float(state.stepper_memory.get("planned", np.array([control.dt_max]))[0])
        while True:
            try:
                step = yield from self._landing_step(state, min(t_end, state.t + length), control.dt_min)
            except SolverFailed:
                if length <= control.dt_min * AT_LEAST:
                    raise
                length = max(length * SHRINK, control.dt_min)
                local.rejected += 1
                continue
            share = local.of(state, self._middle, step)
            if share <= 1.0 or step.dt <= control.dt_min * AT_LEAST:
                break
            length = local.following(step.dt, share)
            local.rejected += 1
        following = local.following(step.dt, share)
        if step.dt < length and share <= 1.0:  # it ends at an impact; the planned step size remains admissible
            following = max(following, min(planned, length))
        memory = {**step.state.stepper_memory, "planned": np.array([following])}
        return replace(step, state=replace(step.state, stepper_memory=memory))

    def _landing_step(self, state: State, t_limit: float, dt_min: float) -> Stepping:
        m, closed = self.mechanism, state.stepper_memory["closed"] > 0
        first = yield from self.land(state, t_limit - state.t, closed)
        t = self._end_time(state, first.dt, t_limit)
        resolved = t - state.stepper_memory["left_at"] >= dt_min  # flights long enough to be located
        crossing = bool(np.any(m.touching(m.at(t, first.q).g_N) & ~closed & ~resolved))
        if crossing:
            first = yield from self.advance(state, min(dt_min, t_limit - state.t), np.ones_like(closed))
            t = self._end_time(state, first.dt, t_limit)
        q, after, self._middle = first.q, m.at(t, first.q), first.u
        touching = m.touching(after.g_N)

        force = m.force(state.t + first.dt / 2, m.moved(state.q, first.u, first.dt / 2), first.u)
        kicked = first.u + m.metric.change(first.dt / 2 * force)
        held, bound = touching & closed, np.zeros(self.system.nc)
        rebounds = np.zeros_like(held)
        if crossing:  # short flights end, an impact within the same dt_min has its restitution
            held, rebound = touching, m.rebound(after.W_N.T @ state.v)
            rebounds = ~closed & resolved & touching & (rebound < 0)
            bound = np.where(rebounds & (m.impact == "newton"), -rebound, 0.0)
        rest = starts_at_rest(m, state.v, first.dt * m.free_acceleration(state))
        second = yield from change_velocity(m, t, q, kicked, held, bound, rest=rest)
        if np.any(rebounds) and m.impact != "newton":
            stopping = np.where(rebounds, first.P_N + second.P_N, 0.0)
            second = second.then((yield from expand(m, t, q, second.v, held, m.restitution * stopping)))
        # at rest velocities are differences of momentum updates, whose sizes define what is zero
        terms = np.abs(kicked) + np.abs(second.v)
        struck = touching
        if np.any(touching & ~closed):
            struck = touching | (after.g_N < -dt_min * (after.W_N.T @ second.v))
        impact = yield from strike(m, t, q, second.v, struck, terms)

        pressing = touching & ~m.leaving(after.W_N, impact.v, terms)
        end = State(t, q, impact.v, state.law_memory)
        end = self._remembering(state, end, pressing, first.P_N, first.P_T, struck)
        P_N = self._booked(closed, first.P_N, second.P_N, impact.P_N)
        P_T = self._booked(m.by_tangent(closed), first.P_T, second.P_T, impact.P_T)
        v_left, P_g = second.v, Impulses(first.P_g, second.P_g, impact.P_g)
        if crossing:
            answer, v_left = self._taken_back(after, impact.v, after.W_N @ P_N.impact + after.W_T @ P_T.impact)
            P_g = Impulses(first.P_g, second.P_g + impact.P_g - answer, answer)
        residual, law = max(first.residual, second.residual, impact.residual), max(second.law, impact.law)
        return self._record(state, end, v_left, P_N, P_T, P_g, touching, residual, law)

    @staticmethod
    def _booked(closed: Mask, first: Array, second: Array, impact: Array) -> Impulses:
        """Counts the impulse that stops a contact within its closing step as an impact."""
        fresh = np.where(closed, 0.0, first + second)
        return Impulses(np.where(closed, first, 0.0), np.where(closed, second, 0.0), impact + fresh)

    def _taken_back(self, at: Configuration, v: Array, push: Array) -> tuple[Array, Array]:
        """Impulses of joints in response to impacts with the impulse `push`, and the velocity before both, which
        satisfies the joints.

        It is the velocity at the end without them, so that all impulses that stop short flights within the step count
        as one impact.
        """
        m = self.mechanism
        moved = m.metric.change(at.W_g)
        answer = m.solved(at.W_g.T @ moved, -(moved.T @ push)) if self.system.ng else np.zeros(0)
        return answer, v - m.metric.change(push + at.W_g @ answer)

    @staticmethod
    def _end_time(state: State, dt: float, t_limit: float) -> float:
        """state.t + dt, or exactly the limit if dt extends to it."""
        return t_limit if dt == t_limit - state.t else state.t + dt

    # ------------------------------------------------------------------------------------------------------- programs

    def turn_limits(self, state: State) -> tuple[Array, Array]:
        """Bounds of u: contacts and joints rotate no body by more than `TURN` relative to its free motion.

        Gaps are periodic in angles, so that the equations have further roots, half a turn away, with very large
        impulses.
        """
        m = self.mechanism
        freely = state.v + m.longest * m.free_acceleration(state)
        return np.minimum(freely, state.v) - self.reach, np.maximum(freely, state.v) + self.reach

    # ---------------------------------------------------------------------------------------------------- bookkeeping

    def _record(
        self,
        start: State,
        end: State,
        v_left: Array,
        P_N: Impulses,
        P_T: Impulses,
        P_g: Impulses,
        touching: Mask,
        residual: float,
        law: float = 0.0,
    ) -> Step:
        m, dt = self.mechanism, end.t - start.t
        before, after = m.at(start.t, start.q), m.at(end.t, end.q)
        constant = isinstance(self.control, ConstantStep)
        pushed, rubbed = P_N.total, P_T.total
        # a contact that opens was loaded before; one that impacts within the window satisfies its law in velocities
        pressed = pushed if constant else np.where(touching, pushed, P_N.end)
        natural = np.abs(np.minimum(after.g_N / m.scale, pressed / end.stepper_memory["y_scale"]))
        reaction, reaction_impact, works = self._reactions(start, end, P_g)
        return Step(
            state=end,
            v_left=v_left,
            dt=dt,
            P_N=pushed,
            P_N_impact=P_N.impact,
            P_T=rubbed,
            P_T_impact=P_T.impact,
            mode=contact_modes(m, touching, pushed, rubbed),
            gamma_minus=start.v.dot(before.W_N) if constant else v_left.dot(after.W_N),
            gamma_plus=end.v.dot(after.W_N),
            reaction=reaction / dt if dt > 0 else reaction,
            reaction_impact=reaction_impact,
            residual=residual,
            complementarity=float(natural.max(initial=law)),
            work_drivers=sum(works),
            work_drivers_impact=works[1],
            loss_friction=self._friction_loss(start, end, v_left, P_T),
        )

    def _friction_loss(self, start: State, end: State, v_left: Array, P_T: Impulses) -> float:
        """Energy lost in sliding, without impacts: impulses times the slip at the ends along whose directions they
        act."""
        if not self.rough:
            return 0.0
        m = self.mechanism
        before = m.at(start.t, start.q).W_T.T @ start.v
        after = m.at(end.t, end.q).W_T.T @ v_left
        middle = (before + after) / 2
        if isinstance(self.control, ConstantStep):
            return -float(P_T.end @ middle)
        return -float(P_T.start @ middle + P_T.end @ middle)

    def _reactions(self, start: State, end: State, P_g: Impulses) -> tuple[Array, Array, tuple[float, float]]:
        """Impulses of joints on their second bodies and the work of drivers, without impacts and at impacts."""
        if self.system.ng == 0:
            return np.zeros(0), np.zeros(0), (0.0, 0.0)
        m = self.mechanism
        first, second, impact = (
            m.reaction(state.t, state.q, impulse)
            for state, impulse in ((start, P_g.start), (end, P_g.end), (end, P_g.impact))
        )
        after = m.at(end.t, end.q).g_t
        work = -float(P_g.start @ m.at(start.t, start.q).g_t + P_g.end @ after)
        return first + second, impact, (work, -float(P_g.impact @ after))
