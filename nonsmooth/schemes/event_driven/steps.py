"""Event-driven steps in compiled code, many per call."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.compiled_form import cached, is_rough, options_of
from nonsmooth.engine.run import Run, origin_of
from nonsmooth.engine.steps import check_solver, reach_of, ridge_of
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.schemes.event_driven.fields import INNER, ORDER
from nonsmooth.schemes.event_driven.layout import EventLayout
from nonsmooth.schemes.event_driven.programs import EventPrograms
from nonsmooth.schemes.event_driven.settings import EventDriven, check_control, stated_rules, window_of
from nonsmooth.schemes.event_driven.tolerances import (
    CLOSED_GAP,
    INACCURATE,
    LOWEST,
    NO_MODES,
    NO_MOTION,
    ORDERS,
    SLOW,
    SMOOTH,
    STALLED,
    TOGETHER,
    UNLOCATED,
    UNSOLVED,
)
from nonsmooth.solvers.chain import CERTIFIED, Chain
from nonsmooth.step.control import ErrorControl, StepControl
from nonsmooth.step.impact_fields import INCREMENTAL
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.supported import SHARING, check_impact_laws
from nonsmooth.step.tolerances import DONE

__all__ = ["EventSteps"]

#: rules of compiled steps, for the manifest
RULES = {"programs": "semismooth Newton, else a sequence of proximal programs, else the chain of solvers"}


def _layout_of(system: System, values: Array, stepper: EventDriven) -> EventLayout:
    """The compiled form of a mechanism, made once for all runs."""
    rough, order, options = is_rough(system, values), ORDERS.index(stepper.order), options_of(system)
    make = lambda: EventLayout(system, rough=rough, order=order, options=options)  # noqa: E731
    return cached(system, ("events", rough, order, options), make)


class EventSteps(Run):
    """Steps of `EventDriven` on one system.

    Parameters
    ----------
    system, stepper, control, values : as `simulate` takes them
    t_end : [s]
    """

    layout: EventLayout
    root = "EventRun"

    @staticmethod
    def scheme_of(stepper: EventDriven, control: ErrorControl) -> Scheme:
        """The text that is run, and its state."""
        return stepper.scheme(control)

    @staticmethod
    def rules(system: System, stepper: Any, control: StepControl, values: Array) -> dict[str, Any]:
        """Stated rules and tolerances of a run."""
        check_control(control)
        assert isinstance(control, ErrorControl)
        rules = {"contacts of one impact": SHARING} if options_of(system) >= INCREMENTAL else {}
        return rules | stated_rules(stepper, control) | RULES

    def __init__(
        self, system: System, stepper: EventDriven, control: ErrorControl, values: Array, t_end: float
    ) -> None:  # fmt: skip
        check_control(control)
        assert control.dt_min is not None and control.dt_max is not None
        scheme = self.scheme_of(stepper, control)
        check_solver(system, stepper, scheme, values)
        check_impact_laws(system, values, "EventDriven")
        super().__init__(system, scheme, _layout_of(system, values, stepper), values, t_end)
        self.control, self.longest, self.shortest = control, control.dt_max, control.dt_min
        self._requested = stepper.solver is not None
        self._events = self.memory.of["EventRun"]
        self.programs = EventPrograms(system, values, control, self.memory, self.layout, self.outside)
        self._configure(stepper, control, values, t_end)
        self._run = self._entry("run", 1)

    def _configure(self, stepper: EventDriven, control: ErrorControl, values: Array, t_end: float) -> None:
        system, spatial, order = self.system, self.system.dimension == 3, self.layout.order
        restitution, _, _, scale = system.elementwise.contact_law(values)
        window = window_of(stepper, control)
        for name, value in (
            ("t_end", t_end), ("longest", control.dt_max), ("certified", CERTIFIED),
            ("ridge", ridge_of(system, values)), ("reach", reach_of(system)),
            ("law_of_impact", self.layout.law_of_impact), ("alone", window == 0.0),
        ):  # fmt: skip
            self._whole[name] = value
        for name, value in (
            ("rtol", control.rtol), ("atol", control.atol), ("numbers", system.nq + system.nv),
            ("slip_rtol", control.rtol if spatial else 0.0), ("slip_atol", control.atol if spatial else 0.0),
            ("shortest", control.dt_min), ("window", window), ("order", order), ("inner", INNER[order]),
            ("exponent", -1.0 / ORDER[order]),
            ("together", min(self.shortest, TOGETHER)), ("smallest", float(np.min(scale, initial=np.inf))),
            ("steady", self.layout.timeless), ("ends", t_end), *self.programs.addresses().items(),
        ):  # fmt: skip
            self._events[name] = value
        touch = self.memory.of["Touch"]
        touch["closed_gap"][self.layout.contacts] = np.maximum(CLOSED_GAP * scale, LOWEST)
        touch["law"][self.layout.contacts] = restitution

    # ---------------------------------------------------------------------------------------------------------- steps

    def use(self, chain: Chain) -> None:
        """Take the solvers of a run: for all its programs if its solver was requested, else for those that are not
        solved otherwise."""
        self.chain = self.programs.chain = chain
        self.programs.requested = self._requested
        if self._requested:
            self._whole["solver"] = self._events["answers"]
            self._events["answers"] = 0
            self._chunk = 1  # a program may take long

    def start(self, state: State) -> State | None:
        """The start of a run with its phase, after the impact there, if closed contacts approach; None if that is not
        certified."""
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
        """Why there is no step from a state."""
        self._raise()
        control, t, code = self.control, state.t, int(self._events["failure"][0])
        if code == INACCURATE:
            return (
                f"no step from t = {t:.9g} s meets rtol = {control.rtol:g}, atol = {control.atol:g}; "
                "loosen them, or check for discontinuous loads."
            )
        if code == NO_MOTION:
            return f"the projection onto joints and closed contacts diverges at t = {t:.9g} s."
        if code == UNLOCATED:
            return f"the first event after t = {t:.9g} s cannot be located."
        if code == NO_MODES:
            shared = self._events["shared"][0] > 0
            cause = "the contact forces are not unique, and none of the modes tried persists beyond"
            advice = "; use MoreauJean() or GaussQP(), which do not depend on modes." if shared else "."
            return f"{cause if shared else 'no modes of the contacts are consistent at'} t = {t:.9g} s{advice}"
        if code == SLOW and not self.outside.failure:
            return self._stalled(state)
        if code == UNSOLVED and not self.outside.failure:
            return f"the phase of the contacts at t = {t:.9g} s or at the next event is not certified."
        return self.outside.failure or f"the step has a residual of {self._whole['residual'][0]:.2g}."

    def _stalled(self, state: State) -> str:
        smooth = f"{STALLED / SMOOTH:g} steps"
        advice = "Larger rtol and atol, or smoother loads, permit longer steps."
        if self.system.nc:
            smooth = f"{STALLED} events, or {smooth},"
            advice = f"A larger dt_min ends accumulations, a larger simultaneity merges impacts. {advice}"
        lost = self.programs.mechanism.lost_rank(state.t, state.q)
        return f"no progress: {smooth} within dt_min = {self.control.dt_min:g} s.{lost or ' ' + advice}"

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

    def _put(self, state: State, origin: float) -> int:
        """A state into the memory, with its phase."""
        self.kept.put(self.memory, state.memory)
        self._put_motion(state, origin)
        return DONE
