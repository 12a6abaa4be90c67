"""Event-driven steps in compiled code, many per call; accelerations and forces at states of any motion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.compiled_form import cached, is_rough, options_of
from nonsmooth.engine.external_solver import check_solver
from nonsmooth.engine.run import Run, origin_of
from nonsmooth.engine.steps import reach_of, ridge_of
from nonsmooth.exceptions import SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.schemes.event_driven import tolerances
from nonsmooth.schemes.event_driven.fields import MODES, PROJECT
from nonsmooth.schemes.event_driven.layout import EventLayout
from nonsmooth.schemes.event_driven.programs import EventPrograms
from nonsmooth.schemes.event_driven.settings import EventDriven, check_control, stated_rules, window_of
from nonsmooth.solvers.chain import CERTIFIED, Chain
from nonsmooth.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.step.control import ErrorControl, StepControl
from nonsmooth.step.impact_fields import INCREMENTAL
from nonsmooth.step.integration_fields import INNER, ORDER
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.supported import SHARING, check_impact_laws
from nonsmooth.step.tolerances import DONE, OPEN

__all__ = ["EventInstants", "EventSteps", "Instant"]

#: rules of compiled steps, for the manifest
RULES = {"programs": "semismooth Newton, else a sequence of proximal programs, else the chain of solvers"}

#: velocities regarded as zero in space [-], [m/s], for which the direction of slip is not known
RTOL, ATOL = 1e-9, 1e-12


class EventSteps(Run):
    """Steps of `EventDriven` on one system, by the text of a `scheme`, by default that of the stepper."""

    layout: EventLayout
    root = "EventRun"

    @staticmethod
    def rules(system: System, stepper: Any, control: StepControl, values: Array) -> dict[str, Any]:
        check_control(control)
        assert isinstance(control, ErrorControl)
        rules = {"contacts of one impact": SHARING} if options_of(system) >= INCREMENTAL else {}
        return rules | stated_rules(stepper, control) | RULES

    def __init__(
        self, system: System, stepper: EventDriven, control: ErrorControl, values: Array, t_end: float,
        scheme: Scheme | None = None,
    ) -> None:  # fmt: skip
        check_control(control)
        scheme, order = scheme or stepper.scheme(control), tolerances.ORDERS.index(stepper.order)
        check_solver(system, stepper, scheme, values)
        check_impact_laws(system, values, "EventDriven")
        rough, options = is_rough(system, values), options_of(system)
        make = lambda: EventLayout(system, rough=rough, order=order, options=options)  # noqa: E731
        layout = cached(system, ("events", rough, order, options), make)
        super().__init__(system, scheme, layout, values, t_end)
        self.control, self.longest, self.shortest = control, control.dt_max, control.dt_min
        self._requested = stepper.solver is not None
        self._events = self.memory.of["EventRun"]
        self.programs = EventPrograms(system, values, control, self.memory, self.layout, self.outside)
        spatial = system.dimension == 3
        restitution, _, _, scale = system.elementwise.contact_law(values)
        window = window_of(stepper, control)
        for name, value in (
            ("t_end", t_end), ("longest", control.dt_max), ("certified", CERTIFIED),
            ("ridge", ridge_of(system, values)), ("reach", reach_of(system)),
            ("law_of_impact", self.layout.law_of_impact), ("alone", window == 0.0),
        ):  # fmt: skip
            self._whole[name] = value
        for name, value in (
            ("rtol", control.rtol), ("numbers", system.nq + system.nv),
            ("slip_rtol", control.rtol if spatial else 0.0), ("slip_atol", control.atol if spatial else 0.0),
            ("shortest", control.dt_min), ("window", window), ("order", order), ("inner", INNER[order]),
            ("exponent", -1.0 / ORDER[order]),
            ("together", min(self.shortest, tolerances.TOGETHER)),
            ("steady", self.layout.timeless), ("ends", t_end),
        ):  # fmt: skip
            self._events[name] = value
        self.memory.of["StateBlock"]["tolerance"] = control.atol
        touch = self.memory.of["Touch"]
        least = np.maximum(tolerances.CLOSED_GAP * scale, tolerances.LOWEST)
        touch["least_gap"][self.layout.contacts] = touch["closed_gap"][self.layout.contacts] = least
        touch["law"][self.layout.contacts] = restitution
        self._run = self._entry("run", 1)

    # ---------------------------------------------------------------------------------------------------------- steps

    def use(self, chain: Chain) -> None:
        """Take the solvers of a run: for all its programs if one was requested, else for those left unsolved."""
        self.chain = self.programs.chain = chain
        self.programs.requested = self._requested
        if self._requested:
            self._whole["solver"] = self._events["answers"]
            self._events["answers"] = 0
            self._chunk = 1  # a program may take long

    def start(self, state: State) -> State | None:
        """The start of a run with its phase, after an impact of closed contacts that approach there."""
        if "Touch.kept_mode" in state.memory:
            return state
        self._put_motion(state, origin_of(state))
        self.tables.reach(1, self._left())
        if self._run(self.memory.address(self.root), 0) != DONE:
            self._raise()
            return None
        if self._events["impact"][0]:
            self.impact = self.tables.read(1)
        self._at = begun = self._state()
        return begun

    def failure(self, state: State) -> str:
        self._raise()
        control, t, code = self.control, state.t, int(self._events["failure"][0])
        if code == tolerances.INACCURATE:
            return (
                f"no step from t = {t:.9g} s meets rtol = {control.rtol:g}, atol = {control.atol:g}; "
                "loosen them, or check for discontinuous loads."
            )
        if code == tolerances.NO_MOTION:
            return f"the projection onto joints and closed contacts diverges at t = {t:.9g} s."
        if code == tolerances.UNLOCATED:
            return f"the first event after t = {t:.9g} s cannot be located."
        if code == tolerances.NO_MODES:
            shared = self._events["shared"][0] > 0
            cause = "the contact forces are not unique, and none of the modes tried persists beyond"
            advice = "; use MoreauJean() or GaussQP(), which do not depend on modes." if shared else "."
            return f"{cause if shared else 'no modes of the contacts are consistent at'} t = {t:.9g} s{advice}"
        if code == tolerances.SLOW and not self.outside.failure:  # what is raised outside names its cause
            smooth = f"{tolerances.STALLED / tolerances.SMOOTH:g} steps"
            advice = "Larger rtol and atol, or smoother loads, permit longer steps."
            if self.system.nc:
                smooth = f"{tolerances.STALLED} events, or {smooth},"
                advice = f"A larger dt_min ends accumulations, a larger simultaneity merges impacts. {advice}"
            lost = self.programs.mechanism.ill_conditioned(state.t, state.q)
            return f"no progress: {smooth} within dt_min = {control.dt_min:g} s.{lost or ' ' + advice}"
        if code == tolerances.SLOW:
            return self.outside.failure
        why = self.outside.failure or f"the step has a residual of {self._whole['residual'][0]:.2g}."
        if code == tolerances.UNSOLVED and not self.outside.failure:
            why = f"the phase of the contacts at t = {t:.9g} s or at the next event is not certified."
        return why + self.programs.mechanism.ill_conditioned(t, state.q)

    @property
    def counts(self) -> dict[str, int]:
        """Evaluations of accelerations and forces, programs solved, and iterations of their solver."""
        programs = {"solves": "solves", "iterations": "rounds", "shortened": "shortened"}
        found = {name: int(self._whole[which][0]) for name, which in programs.items()}
        return found | {"evaluations": int(self._events["evaluations"][0])}

    # ---------------------------------------------------------------------------------------------------------- states

    def _put_motion(self, state: State, origin: float) -> None:
        self._whole["t"], self._whole["origin"] = state.t, origin
        self.layout.put(self.memory, "q", state.q)
        self.layout.put(self.memory, "v", state.v)
        self._events["ready"] = 0

    def _begin_at(self, state: State, origin: float) -> int:
        self.states.put(self.memory, state.memory)
        self._put_motion(state, origin)
        return DONE


class Instant(NamedTuple):
    """Coordinates (nq,), accelerations (nv,), forces of joints (ng,) and of contacts (nc,), (nt,), modes (nc,)."""

    q: Array
    a: Array
    lam_g: Array
    lam_N: Array
    lam_T: Array
    mode: NDArray[np.int8]


class EventInstants(EventSteps):
    """The phase that begins at a state, as `EventDriven` finds it; loads over `longest` [s] tell what is round-off."""

    def __init__(self, system: System, values: Array, longest: float) -> None:
        stepper, control = EventDriven(simultaneity=0.0), ErrorControl(RTOL, ATOL, longest, longest)
        scheme = Scheme(text="nonsmooth.schemes.event_driven.instant_text")
        super().__init__(system, stepper, control, values, longest, scheme)
        self.use(Chain(SemismoothNewton()))

    @property
    def closed_gap(self) -> Array:
        """Gaps (nc,) regarded as closed [m]."""
        return np.asarray(self.memory.of["Touch"]["least_gap"][self.layout.contacts])

    def projected(self, t: float, q: Array, v: Array, mode: NDArray[np.int8]) -> tuple[Array, Array]:
        """The nearest q and v in the mass metric with joints and contacts of these modes closed; or SolverFailed."""
        self._put_instant(t, q, v)
        self.memory.of["Touch"]["mode"][self.layout.contacts] = mode
        self._do(PROJECT, t)
        return self.layout.packed(self.memory, "at"), self.layout.packed(self.memory, "u")

    def found(
        self, t: float, q: Array, v: Array, candidates: NDArray[np.bool_], signs: dict[int, Array]
    ) -> Instant:  # fmt: skip
        """Modes of the closed contacts that do not approach, and what follows from them, or SolverFailed; `signs` are
        known directions of slips that vanish at this instant."""
        self._put_instant(t, q, v)
        touches, contacts = self.memory.of["Touch"], self.layout.contacts
        touches["mode"], touches["candidate"], touches["known"] = OPEN, 0, 0
        touches["candidate"][contacts] = candidates
        for i, direction in signs.items():
            touches["known"][contacts[i]], touches["sign"][contacts[i], 1:] = 1, direction
        self._do(MODES, t)
        lam, (ng, nc) = self.programs.forces(), (self.system.ng, self.system.nc)
        return Instant(
            self.layout.packed(self.memory, "at"), self.layout.packed(self.memory, "jump"),
            lam[:ng], lam[ng : ng + nc], lam[ng + nc :], touches["mode"][contacts].astype(np.int8),
        )  # fmt: skip

    def _put_instant(self, t: float, q: Array, v: Array) -> None:
        self._whole["seen"] = t
        self.layout.put(self.memory, "at", q)
        self.layout.put(self.memory, "u", v)

    def _do(self, part: int, t: float) -> None:
        done = self._run(self.memory.address(self.root), part) == DONE
        self._raise()
        if not done:
            why = self.outside.failure or "the modes of its contacts are not certified."
            raise SolverFailed(f"no forces at t = {t:.9g} s: {why}")
