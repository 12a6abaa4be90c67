"""What the two Gauss steppers share: checks, constant steps by implicit Euler, landing, bookkeeping.

A landing step from (t, q, v), where the contacts `closed` press (gap and rate zero):

1. *Half kick* of the largest length, up to the limit, for which every open gap stays >= 0; complementarity binds only
   closed contacts. It ends at the limit or exactly where a gap closes.
2. *Second half*: M (v_left - u) = dt/2 h + W(q⁺) P with W_N' v_left >= 0 on the contacts still closed.
3. *Impact*, if a closed contact approaches: the law gamma⁺ >= -e gamma⁻ on all closed contacts together.

A contact that comes back less than dt_min after it left, as at the end of ever faster bounces, is not landed on: the
step is then a half kick of dt_min in which all contacts bind, with plastic impact, and carries the run over the
accumulation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import MPCC, Program, Solution
from nonsmooth.step_control import ConstantStep, Landing, StepControl
from nonsmooth.steppers.base import CLOSED, OPEN, Ask, Step, Stepping
from nonsmooth.steppers.equations import HALF_KICK, IMPLICIT_EULER, StepEquations
from nonsmooth.steppers.landing import LANDED, locate_landing
from nonsmooth.steppers.mechanism import CLOSED_GAP, CLOSED_RATE, Mechanism
from nonsmooth.steppers.velocity import change_velocity, strike

__all__ = ["Advance", "GaussFormulation"]

Mask = NDArray[np.bool_]
MEMORIES = ("closed", "left_at", "P_N", "x_scale", "y_scale")


@dataclass(frozen=True, eq=False)
class Advance:
    """Solved discrete equations of one length: velocity u, where it leads, impulses, the equations' scaled residual."""

    dt: float
    u: Array
    q: Array
    P_g: Array
    P_N: Array
    residual: float
    solution: Solution


@dataclass(frozen=True, eq=False)
class Impulses:
    """Impulses of a step along the directions at its start, at its end, and of the impact at its end."""

    start: Array
    end: Array
    impact: Array

    @property
    def total(self) -> Array:
        return self.start + self.end + self.impact


class GaussFormulation(ABC):
    """Steps of a Gauss stepper on one system; subclasses say how the equations of one length are solved."""

    #: what to give where a solver does not fit
    accepted_solvers: ClassVar[str]

    def __init__(self, system: System, parameters: Array, control: StepControl, solver: Any) -> None:
        self.system, self.control, self.solver = system, control, solver
        constant = isinstance(control, ConstantStep)
        self.mechanism = Mechanism(
            system, parameters, control.dt if isinstance(control, ConstantStep) else control.dt_max
        )
        self.equations = StepEquations(system, IMPLICIT_EULER if constant else HALF_KICK)
        self._refuse(type(self).__name__.removesuffix("Formulation"))

    def _refuse(self, name: str) -> None:
        """Raise InputError for a law or a solver that the scheme does not have."""
        m = self.mechanism
        rough = np.flatnonzero(m.friction > 0)
        if rough.size:
            raise InputError(
                f'{name} is frictionless, but contact "{self.system.contact_names[rough[0]]}" has friction '
                f"{m.friction[rough[0]]:g}; set its friction to 0."
            )
        bouncy = np.flatnonzero(m.restitution > 0)
        if bouncy.size and isinstance(self.control, ConstantStep):
            raise InputError(
                f"{name} with a constant step is plastic (restitution 0) by construction, but contact "
                f'"{self.system.contact_names[bouncy[0]]}" has restitution {m.restitution[bouncy[0]]:g}; '
                "set it to 0, or use dt=Landing(dt_min, dt_max)."
            )
        if not self.solver.fits(self.typical_program()):
            raise InputError(f"{name} poses programs that {self.solver} does not solve; {self.accepted_solvers}.")

    @abstractmethod
    def typical_program(self) -> Program:
        """A program of the kind that `advance` poses."""

    @abstractmethod
    def advance(
        self, state: State, dt: float, binding: Mask, guess: Advance | None = None
    ) -> Generator[Ask, Solution, Advance]:
        """Solve the discrete equations for a step of length `dt`, complementarity on `binding` contacts."""

    def land(self, state: State, longest: float, closed: Mask) -> Generator[Ask, Solution, Advance]:
        """Half kick of the largest admissible length, by root finding on the length."""
        return (yield from locate_landing(self.mechanism, self.advance, state, longest, closed))

    def rules(self) -> dict[str, Any]:
        """Tolerances of contact detection."""
        rules: dict[str, Any] = {
            "gap that counts as closed / clearance": CLOSED_GAP,
            "gap rate that counts as zero / its terms": CLOSED_RATE,
        }
        if isinstance(self.control, Landing):
            rules["landing located to gap / clearance"] = LANDED
            rules["contact that returns within dt_min"] = "one step of dt_min, all contacts bind, plastic impact"
        return rules

    # ---------------------------------------------------------------------------------------------------------- start

    def start(self, state: State) -> Generator[Ask, Solution, tuple[State, Step | None]]:
        """Latch the closed contacts; a start with closed contacts that approach begins with their impact."""
        if set(MEMORIES) <= set(state.stepper_memory):
            return state, None
        m, none = self.mechanism, np.zeros(self.system.nc)
        x_scale, y_scale = m.typical_sizes(state.t, state.q, state.v)
        state = replace(state, stepper_memory={"x_scale": x_scale, "y_scale": y_scale, "left_at": none - np.inf})
        if isinstance(self.control, ConstantStep):
            return self._remembering(state, state, none > 0, none), None
        here, terms = m.at(state.t, state.q), np.abs(state.v)
        touching = m.touching(here.g_N)
        impact = yield from strike(m, state.t, state.q, state.v, touching, terms)
        pressing = touching & ~m.leaving(here.W_N, impact.v, terms)
        start = self._remembering(state, replace(state, v=impact.v), pressing, none)
        if not np.any(impact.P_N > 0):
            return start, None
        idle = np.zeros(self.system.ng)
        impulses = Impulses(none, none, impact.P_N), Impulses(idle, idle, impact.P_g)
        return start, self._record(start, start, state.v, *impulses, touching, impact.residual)

    def _remembering(self, before: State, end: State, pressing: Mask, P_N: Array) -> State:
        """The end of a step with what the next one needs: contacts that press, when the others left, impulses."""
        left_at = before.stepper_memory["left_at"]
        left = before.stepper_memory["closed"] > 0 if "closed" in before.stepper_memory else np.zeros_like(pressing)
        touching = self.mechanism.touching(self.mechanism.at(end.t, end.q).g_N)
        left_at = np.where((touching | left) & ~pressing, end.t, left_at)
        memory = {"closed": pressing.astype(float), "left_at": left_at, "P_N": P_N}
        return replace(end, stepper_memory={**before.stepper_memory, **memory})

    # ---------------------------------------------------------------------------------------------------------- steps

    def step(self, state: State, t_end: float) -> Stepping:
        """Advance to `t_end` at most."""
        if isinstance(self.control, Landing):
            return (yield from self._landing_step(state, t_end, self.control.dt_min))
        return (yield from self._euler_step(state, t_end))

    def _euler_step(self, state: State, t_end: float) -> Stepping:
        m = self.mechanism
        done = yield from self.advance(state, t_end - state.t, np.ones(self.system.nc, dtype=bool))
        before, after = m.at(state.t, state.q), m.at(t_end, done.q)
        # an impulse that stops an approach is an impact, spread over the step that closes the gap and the next
        striking = ~m.touching(before.g_N) | m.approaching(before.W_N, state.v, np.abs(state.v))
        impact = np.where(striking, done.P_N, 0.0)
        touching = m.touching(after.g_N)
        end = self._remembering(state, State(t_end, done.q, done.u, state.law_memory), touching, done.P_N)
        none, idle = np.zeros_like(impact), np.zeros(self.system.ng)
        impulses = Impulses(none, done.P_N - impact, impact), Impulses(idle, done.P_g, idle)
        return self._record(state, end, done.u, *impulses, touching, done.residual)

    def _landing_step(self, state: State, t_limit: float, dt_min: float) -> Stepping:
        m, closed = self.mechanism, state.stepper_memory["closed"] > 0
        longest = t_limit - state.t
        first = yield from self.land(state, longest, closed)
        returned = m.touching(m.at(self._end_time(state, first.dt, t_limit), first.q).g_N) & ~closed
        crossing = bool(np.any(returned & (state.t + first.dt - state.stepper_memory["left_at"] < dt_min)))
        if crossing:
            first = yield from self.advance(state, min(dt_min, longest), np.ones_like(closed))
        dt, q = first.dt, first.q
        t = self._end_time(state, dt, t_limit)
        after = m.at(t, q)
        touching = m.touching(after.g_N)

        force = m.force(state.t + dt / 2, m.moved(state.q, first.u, dt / 2), first.u)
        kicked = first.u + m.metric.change(dt / 2 * force)
        held = touching if crossing else touching & closed
        second = yield from change_velocity(m, t, q, kicked, held, np.zeros(self.system.nc))
        # at rest velocities are differences of kicks: these, not what is left, tell what is zero
        terms = np.abs(kicked) + np.abs(second.v)
        impact = yield from strike(m, t, q, second.v, touching, terms)

        pressing = touching & ~m.leaving(after.W_N, impact.v, terms)
        end = self._remembering(state, State(t, q, impact.v, state.law_memory), pressing, first.P_N)
        # what stops a contact within the step that closes it is an impact
        fresh = ~closed
        P_N = Impulses(
            np.where(fresh, 0.0, first.P_N),
            np.where(fresh, 0.0, second.P_N),
            impact.P_N + np.where(fresh, first.P_N + second.P_N, 0.0),
        )
        P_g = Impulses(first.P_g, second.P_g, impact.P_g)
        residual = max(first.residual, second.residual, impact.residual)
        return self._record(state, end, second.v, P_N, P_g, touching, residual)

    @staticmethod
    def _end_time(state: State, dt: float, t_limit: float) -> float:
        """state.t + dt, but exactly the limit where dt is the whole way to it."""
        return t_limit if dt == t_limit - state.t else state.t + dt

    # ------------------------------------------------------------------------------------------------------- programs

    def mpcc(self, state: State, shortest: float, longest: float, binding: Mask) -> MPCC:
        """The step as an MPCC with dt between the bounds; a trial of given length ignores gaps that do not bind."""
        m, memory = self.mechanism, state.stepper_memory
        free = np.full(self.system.nv + self.system.ng, np.inf)
        return MPCC(
            self.equations.structure,
            self.equations.parameters(state.t, state.q, state.v, m.p, m.longest),
            np.concatenate(([shortest], -free)),
            np.concatenate(([longest], free)),
            memory["x_scale"],
            memory["y_scale"],
            np.where(binding | (shortest < longest), m.scale, np.inf),
            binding,
        )

    # ---------------------------------------------------------------------------------------------------- bookkeeping

    def _record(
        self, start: State, end: State, v_left: Array, P_N: Impulses, P_g: Impulses, touching: Mask, residual: float
    ) -> Step:
        m, dt = self.mechanism, end.t - start.t
        before, after = m.at(start.t, start.q), m.at(end.t, end.q)
        constant = isinstance(self.control, ConstantStep)
        # a contact that leaves during the step has pressed at its start, not at its end
        pressed = np.where(touching, P_N.total, P_N.end + P_N.impact)
        natural = np.abs(np.minimum(after.g_N / m.scale, pressed / end.stepper_memory["y_scale"]))
        reaction, reaction_impact, works = self._reactions(start, end, P_g)
        return Step(
            state=end,
            v_left=v_left,
            dt=dt,
            P_N=P_N.total,
            P_N_impact=P_N.impact,
            P_T=np.zeros(self.system.nc),
            mode=np.where(touching, CLOSED, OPEN).astype(np.int8),
            gamma_minus=before.W_N.T @ start.v if constant else after.W_N.T @ v_left,
            gamma_plus=after.W_N.T @ end.v,
            reaction=reaction / dt if dt > 0 else reaction,
            reaction_impact=reaction_impact,
            residual=residual,
            complementarity=float(np.max(natural, initial=0.0)),
            work_drivers=sum(works),
            work_drivers_impact=works[1],
        )

    def _reactions(self, start: State, end: State, P_g: Impulses) -> tuple[Array, Array, tuple[float, float]]:
        """Impulses of joints on their second bodies and the work of drivers, both without and at impacts."""
        if self.system.ng == 0:
            return np.zeros(0), np.zeros(0), (0.0, 0.0)
        m = self.mechanism
        first, second, impact = (
            m.numeric.reaction(state.t, state.q, m.p, impulse)[0]
            for state, impulse in ((start, P_g.start), (end, P_g.end), (end, P_g.impact))
        )
        after = m.at(end.t, end.q).g_t
        work = -float(P_g.start @ m.at(start.t, start.q).g_t + P_g.end @ after)
        return first + second, impact, (work, -float(P_g.impact @ after))
