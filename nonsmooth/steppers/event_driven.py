"""Event-driven steps: smooth motion at high order, with steps that end exactly at events.

One step from (t, q, v) in a phase, which is defined by the modes of all contacts:

1. A Runge-Kutta step of the phase's index-1 system, its size from the error estimate; q and v are projected.
2. The first event within it, detected by cubics of gaps and slips and by the forces at the stages; the step is
   repeated, with a safeguarded Newton method on its size, until it ends there.
3. If a gap closes, an impact of all contacts that are closed, or close within the simultaneity window: one program by
   Newton's law, two by Poisson's, none by those that are integrated along the impulse.
4. A rebound shorter than dt_min ends an accumulation of impacts: the impact is repeated with e = 0 for it.
5. The new phase: one program in accelerations and forces on the closed contacts.

Steps without an event require no program: with known modes the equations are linear.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import QP, Solution
from nonsmooth.settings import settings
from nonsmooth.step_control import ErrorControl, StepControl
from nonsmooth.steppers.base import Ask, Step, Stepping
from nonsmooth.steppers.crossing import crossed, reach_of_singular
from nonsmooth.steppers.events import BREAKAWAY, RELEASE, Event, Scales, first_event, locate, losing, scales
from nonsmooth.steppers.mechanism import Mechanism, contact_modes
from nonsmooth.steppers.motion import Motion
from nonsmooth.steppers.phases import Phase, Point, Trial
from nonsmooth.steppers.progress import Progress
from nonsmooth.steppers.runge_kutta import TABLEAUS
from nonsmooth.steppers.supported import SHARING, check_impact_laws
from nonsmooth.steppers.transitions import Impact, Transitions
from nonsmooth.tolerances import AT_THE_END, OPEN, SAFETY, SHRINK
from nonsmooth.tolerances.event_driven import (
    CLOSED_GAP,
    EVENTS,
    GROW,
    LANDED,
    LOWEST,
    REJECTIONS,
    TOGETHER,
    WHOLE,
)

__all__ = ["EventDriven", "check_control", "stated_rules", "window_of"]

Mask = NDArray[np.bool_]


@settings
class EventDriven:
    """Smooth motion at high order between events that are located to round-off; the most accurate stepper.

    Persistent contacts are treated as joints, steps end exactly where a gap closes, and impacts satisfy the impact law
    and Coulomb's law at all closed contacts together. Requires ``dt=ErrorControl(rtol, atol, dt_min, dt_max)``; each
    step is a row.

    Parameters
    ----------
    order : "dopri5" or "dop853"
        Dormand and Prince's pair of order 5, or that of order 8 for tight tolerances.
    simultaneity : [s], >= 0, optional
        Contacts that close within this time impact simultaneously; dt_min by default. This is part of the model:
        simultaneous and successive impacts of two corners lead to different motions, however short the time between
        them. With 0 impacts are never simultaneous: contacts that close at the same time impact one after the other,
        the fastest first, and a decaying sequence of such impacts dissipates all normal velocity.
    solver : settings of a solver of QPs, and of planar friction where there is any, optional
        ``SemismoothNewton()`` by default, ``ActiveSet()`` without friction.
    fallback : bool
        Whether other solvers are tried if the residual of the solution of the first one is too large.

    Raises
    ------
    InputError
        For an invalid order or a negative window.

    Notes
    -----
    Flights shorter than dt_min are treated as rest. Rigid contact only.

    References
    ----------
    Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.4-II.6.
    Pfeiffer, Glocker (1996), Multibody Dynamics with Unilateral Contacts.

    >>> EventDriven(order="dop853")
    EventDriven(order='dop853', simultaneity=None, solver=None, fallback=True)
    """

    order: str = "dopri5"
    simultaneity: float | None = None
    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "SemismoothNewton"
    compiled: ClassVar[str] = "event_steps.EventSteps"

    def __post_init__(self) -> None:
        if self.order not in TABLEAUS:
            raise InputError(f"EventDriven: order must be one of {', '.join(TABLEAUS)}, got {self.order!r}.")
        if self.simultaneity is not None and not 0.0 <= self.simultaneity < np.inf:
            raise InputError(
                f"EventDriven: simultaneity must be a time >= 0 in seconds, or None, got {self.simultaneity!r}."
            )

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps, or laws of contacts, that the scheme does not support."""
        check_control(control)
        check_impact_laws(system, parameters, "EventDriven")


def check_control(control: StepControl) -> None:
    """Raise InputError unless this is an `ErrorControl` whose shortest and longest steps are known."""
    if not isinstance(control, ErrorControl):
        raise InputError(
            f"EventDriven requires dt=ErrorControl(rtol, atol, dt_min, dt_max), got {control!r}; "
            "its steps are as long as the error allows."
        )
    if control.dt_min is None or control.dt_max is None:
        raise InputError(
            f"EventDriven: dt_min and dt_max of {control} depend on the length of the run; give them, or its "
            "over(t_start, t_end)."
        )


def window_of(stepper: EventDriven, control: ErrorControl) -> float:
    """Time [s] within which impacts are simultaneous."""
    return control.dt_min if stepper.simultaneity is None else float(stepper.simultaneity)


def stated_rules(stepper: EventDriven, control: ErrorControl) -> dict[str, Any]:
    """Rules and tolerances, for the manifest."""
    window = window_of(stepper, control)
    return {
        "simultaneity window [s]": window,
        "simultaneous impacts": (
            "closed ones, and open ones with g_N < window |gamma_N| that approach"
            if window > 0.0
            else "none except those at rest: one after the other, the fastest first, until the sequence has decayed"
        ),
        "rebound treated as rest": f"flight below {control.dt_min:g} s, or height below {LOWEST:g} m",
        "flight and height of a rebound": "2 gamma_N / |g_N''|, gamma_N^2 / (2 |g_N''|)",
        "forces that vanish together": f"within {min(control.dt_min, TOGETHER):g} s",
        "gap regarded as closed / size": CLOSED_GAP,
        "closing of a gap located to [m]": LANDED,
        "method between events": stepper.order,
        "shared forces": "least squares in the mass metric of those that are compressive and in their cones",
    }


class EventDrivenFormulation:
    """Event-driven steps on one system."""

    def __init__(
        self, stepper: EventDriven, system: System, parameters: Array, control: StepControl, solver: Any
    ) -> None:
        check_control(control)
        assert isinstance(control, ErrorControl) and control.dt_min is not None and control.dt_max is not None
        self.stepper, self.system, self.control = stepper, system, control
        self.window = window_of(stepper, control)
        m = self.mechanism = Mechanism(system, parameters, control.dt_max)
        check_impact_laws(system, parameters, "EventDriven")
        one = np.eye(1)
        if not (solver.fits(QP(one, one[0], one, one[0])) or solver.fits(m.friction_program())):
            raise InputError(
                f"EventDriven formulates QPs and planar friction, neither of which {solver} solves; give it "
                "ActiveSet() or SemismoothNewton()."
            )
        self.motion = Motion(m, TABLEAUS[stepper.order], control.rtol, control.atol)
        self.transitions = Transitions(self.motion, control.dt_min, self.window)
        self._last: tuple[Point, Phase] | None = None
        self.progress = Progress(self.motion, control)

    def counts(self) -> dict[str, int]:
        """Evaluations of accelerations and contact forces."""
        return {"evaluations": self.motion.evaluations}

    def rules(self) -> dict[str, Any]:
        """Stated rules and tolerances."""
        rules = {"contacts of one impact": SHARING} if self.mechanism.incremental else {}
        return rules | stated_rules(self.stepper, self.control)

    def held(self) -> dict[str, Any]:
        """The motion at the end of the last step, and the step sizes."""
        point = None if self._last is None else {one.name: getattr(self._last[0], one.name) for one in fields(Point)}
        return {"point": point, "progress": self.progress.held(), "evaluations": self.motion.evaluations}

    def hold(self, held: Mapping[str, Any], state: State) -> None:
        """Continue from a checkpoint."""
        if held["point"] is not None:
            point = Point(**{**held["point"], "q": state.q, "v": state.v})
            self._last = point, Phase.remembered(state.stepper_memory)
        self.progress.hold(held["progress"])
        self.motion.evaluations = int(held["evaluations"])

    @property
    def _together(self) -> float:
        return min(self.control.dt_min, TOGETHER)

    # ---------------------------------------------------------------------------------------------------------- start

    def start(self, state: State) -> Generator[Ask, Solution, tuple[State, Step | None]]:
        """Determine the phase; if closed contacts approach at the start, the run begins with their impact."""
        if "mode" in state.stepper_memory:
            memory = {"reference": self.transitions.none, **state.stepper_memory}  # not present in earlier releases
            return replace(state, stepper_memory=memory), None
        m, nc = self.mechanism, self.system.nc
        none = np.zeros(nc)
        free = Phase(np.zeros(nc, dtype=np.int8), np.zeros(self.system.nt), none, m.redundant, self.transitions.none)
        before = self.motion.at(state.t, state.q, state.v, free)
        y_scale = m.typical_sizes(state.t, state.q, state.v)[1]
        state = replace(state, stepper_memory={"y_scale": y_scale, "stall": np.array([state.t, 0.0])})
        striking = before.g_N <= self.transitions.closed_gap
        striking &= m.approaching(before.W_N, state.v, np.abs(state.v))
        impact, point, phase = yield from self.transitions.settled(before, free, striking, np.zeros(nc, dtype=bool), {})
        dt = self.motion.first_length(point, self.control.dt_max)
        start = self._remembering(state, point, phase, dt, False)
        if impact is None:
            return start, None
        idle = Trial(0.0, (before,), before, 0.0, np.zeros(4))
        return start, self._record(start, idle, free, phase, point, impact)

    def _remembering(self, before: State, point: Point, phase: Phase, dt: float, event: bool) -> State:
        stall = self.progress.of_events(before.stepper_memory["stall"], point, event)
        memory = {**before.stepper_memory, **phase.memory()}
        memory |= {"dt": np.array([dt]), "stall": stall}
        self._last = point, phase
        return State(point.t, point.q, point.v, before.law_memory, memory)

    # ---------------------------------------------------------------------------------------------------------- steps

    def step(self, state: State, t_end: float) -> Stepping:
        """Advance to `t_end` at most, and to the first event at most."""
        motion, point, phase = self.motion, *self._known(state)
        if self.mechanism.tangents > 1:
            phase = replace(phase, direction=motion.slip_directions(point.W_T, point.v, phase))
        for _ in range(EVENTS):
            trial, dt_next = self._accepted(point, phase, float(state.stepper_memory["dt"][0]), t_end)
            least = state.stepper_memory["y_scale"] / self.control.dt_max
            scale = scales(motion, point, phase, self.transitions.closed_gap, least)
            trial, event = self._until_event(trial, phase, scale)
            if event is None or event.time > 0.0:
                break
            # the phase contradicts the motion after it: reconsider all closed contacts
            none = np.zeros(self.system.nc, dtype=bool)
            released, signs = none.copy(), dict[int, Array]()
            if event.kind == RELEASE:
                released[event.contact] = True
            elif event.kind == BREAKAWAY:
                # forces that begin at zero have the direction of the motion after it
                loaded = point.lam_N[event.contact] > scale.force[event.contact]
                signs = self._slipping(phase)
                signs[event.contact] = self._against(point if loaded else trial.end, event.contact)
            _, point, phase = yield from self.transitions.settled(point, phase, none, released, signs)
        else:
            shared = "the contact forces are not unique, and none of the modes tried persists beyond"
            cause = shared if phase.redundant else "no modes of the contacts are consistent at"
            advice = "; use MoreauJean() or GaussQP(), which do not depend on modes." if phase.redundant else "."
            raise SolverFailed(f"{cause} t = {state.t:.9g} s{advice}")
        released, signs = self._lost(trial, phase, event)
        end = trial.end
        striking = (phase.mode == OPEN) & (end.g_N <= self.transitions.closed_gap)
        striking &= self.mechanism.approaching(end.W_N, end.v, np.abs(end.v))
        impact, after, new = None, end, phase
        if event is not None or striking.any():
            impact, after, new = yield from self.transitions.settled(end, phase, striking, released, signs)
        end_state = self._remembering(state, after, new, dt_next, after is not end)
        return self._record(end_state, trial, phase, new, after, impact)

    def _known(self, state: State) -> tuple[Point, Phase]:
        """The motion at a state and its phase, which are those at the end of the last step if the state is."""
        if self._last is not None:
            point, phase = self._last
            if point.q is state.q and point.v is state.v and point.t == state.t:
                return point, phase
        phase = Phase.remembered(state.stepper_memory)
        return self.motion.at(state.t, state.q, state.v, phase), phase

    def _accepted(self, point: Point, phase: Phase, dt: float, t_end: float) -> tuple[Trial, float]:
        """A step whose error is below tolerance, regardless of events, and the next step size."""
        longest, wanted, rejected = t_end - point.t, dt, False
        if dt > WHOLE * longest:
            dt = longest
        for _ in range(REJECTIONS):
            if rejected and self.system.ng:
                reach = reach_of_singular(self.motion, point, phase)
                if reach.half < reach.time <= 1.5 * dt + reach.half:  # end a step just before the singular position
                    dt = min(dt, reach.time - reach.half / 2)
                elif reach.time <= reach.half and point.t + 2 * reach.time <= t_end:
                    over = crossed(self.motion, point, 2 * reach.time, phase)
                    if over is not None:
                        return over, min(max(2 * reach.time, 1e-2 * wanted), self.control.dt_max)
            trial = self._advance(point, dt, phase, t_end)
            exponent = -1.0 / self.motion.tableau.exponent
            factor = min(GROW, max(SHRINK, SAFETY * trial.error**exponent)) if trial.error > 0 else GROW
            if trial.error <= 1.0:
                suggestion = trial.dt * (min(factor, 1.0) if rejected else factor)
                if dt == longest and not rejected:  # shortened by the end of the run
                    suggestion = max(suggestion, wanted)
                self.progress.of_length(trial, phase)
                return trial, min(suggestion, self.control.dt_max)
            rejected = True
            dt *= factor if np.isfinite(trial.error) else SHRINK
            if point.t + dt == point.t:
                break
        raise SolverFailed(
            f"no step from t = {point.t:.9g} s meets rtol = {self.control.rtol:g}, atol = {self.control.atol:g}; "
            "loosen them, or check for discontinuous loads."
        )

    def _advance(self, point: Point, dt: float, phase: Phase, t_end: float) -> Trial:
        return self.motion.advance(point, t_end if dt >= t_end - point.t else point.t + dt, phase)

    def _until_event(self, trial: Trial, phase: Phase, scale: Scales) -> tuple[Trial, Event | None]:
        """The step shortened to its first event, and that event."""
        happened: Event | None = None
        start, refuted = trial.start, set[tuple[str, int]]()
        for _ in range(EVENTS):
            known = happened.kind if happened is not None else None
            event = first_event(self.motion, trial, phase, scale, known, refuted)
            if event is None or (happened is not None and event.time >= trial.dt * AT_THE_END):
                return trial, happened
            if event.time <= 0.0 or start.t + event.time == start.t:
                return trial, event._replace(time=0.0)
            found = locate(
                self.motion, trial, event, phase, scale, lambda dt: self.motion.advance(start, start.t + dt, phase)
            )
            if found.trial.dt <= 0.0:
                return trial, event._replace(time=0.0)
            if found.confirmed:
                trial, happened = found.trial, event
            else:  # only the polynomial became negative
                refuted.add((event.kind, event.contact))
        raise SolverFailed(f"the first event after t = {start.t:.9g} s cannot be located.")

    def _lost(self, trial: Trial, phase: Phase, event: Event | None) -> tuple[Mask, dict[int, Array]]:
        """Contacts that open at the end of the step, and directions of slip of those that begin to slip there."""
        released, signs = np.zeros(self.system.nc, dtype=bool), dict[int, Array]()
        if event is None or event.kind not in (RELEASE, BREAKAWAY):
            return released, signs
        signs = self._slipping(phase)
        if phase.redundant:  # another distribution of the same forces may be admissible: solve the program
            return released, signs
        ahead = self.motion.advance(trial.start, trial.end.t + self._together, phase).end
        for i in {event.contact, *losing(self.motion, ahead, phase, event.kind)}:
            if event.kind == RELEASE:
                released[i] = True
            else:
                signs[i] = self._against(trial.end, i)
        return released, signs

    def _slipping(self, phase: Phase) -> dict[int, Array]:
        """Directions of contacts that slip already, however slowly."""
        return {int(i): phase.direction[self.mechanism.along(np.array([i]))] for i in phase.slipping}

    def _against(self, point: Point, contact: int) -> Array:
        """The direction in which a contact begins to slip, opposite to its friction force."""
        return -self.mechanism.unit(point.lam_T)[self.mechanism.along(np.array([contact]))]

    # ---------------------------------------------------------------------------------------------------- bookkeeping

    def _record(self, end: State, trial: Trial, phase: Phase, new: Phase, after: Point, impact: Impact | None) -> Step:
        m, nc, ng = self.mechanism, self.system.nc, self.system.ng
        left, stages, dt = trial.end, trial.stages, trial.dt
        # a step across a singular position has only its ends, an impact at the start only one point
        mean = {1: np.zeros(1), 2: np.full(2, 0.5)}.get(len(stages), self.motion.tableau.B)
        weights = dt * mean
        P_N, P_T = np.zeros(nc), np.zeros(self.system.nt)
        if phase.closed.size:
            P_N = weights @ np.array([x.lam_N for x in stages])
            P_T = weights @ np.array([x.lam_T for x in stages])
        loads, damping, drivers, friction = trial.work.tolist()
        reaction, reaction_impact, work_impact = np.zeros(0), np.zeros(0), 0.0
        if ng:
            reactions = np.array([m.reaction(x.t, x.q, x.lam_g) for x in stages])
            reaction = mean @ reactions
            reaction_impact = np.zeros_like(reaction)
        if impact is not None and ng:
            reaction_impact = m.reaction(left.t, left.q, impact.P_g)
            work_impact = -float(impact.P_g @ left.g_t)
        P_N_impact, P_T_impact = np.zeros(nc), np.zeros(self.system.nt)
        if impact is not None:
            P_N_impact, P_T_impact = impact.P_N, impact.P_T
        # as in other steppers, a rebounding contact has the mode of its impact
        mode = np.where(new.mode == OPEN, contact_modes(m, P_N_impact > 0.0, P_N_impact, P_T_impact), new.mode)
        total = P_N + P_N_impact
        # the gap of a contact in a simultaneous impact is bounded by the window
        open_ = np.where(P_N_impact > 0.0, left.g_N - np.clip(-self.window * left.gamma, 0.0, left.g_N), left.g_N)
        natural = np.abs(np.minimum(open_ / m.scale, total / end.stepper_memory["y_scale"]))
        return Step(
            state=end,
            v_left=left.v,
            dt=dt,
            P_N=total,
            P_N_impact=P_N_impact,
            P_T=P_T + P_T_impact,
            P_T_impact=P_T_impact,
            mode=mode,
            gamma_minus=left.gamma,
            gamma_plus=after.gamma,
            reaction=reaction,
            reaction_impact=reaction_impact,
            residual=self.motion.residual(trial, phase) if dt > 0 else 0.0,
            complementarity=float(np.max(natural, initial=0.0)),
            work_drivers=drivers + work_impact,
            work_drivers_impact=work_impact,
            loss_friction=-friction,
            work_loads=loads,
            loss_damping=-damping,
        )
