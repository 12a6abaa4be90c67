"""Event-driven steps in compiled code, many per call; Python repeats those that are not certified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from nonsmooth.engine.coverage import elements_why_not, is_rough, made_once
from nonsmooth.engine.event_layout import EventLayout
from nonsmooth.engine.steps import MOST, CompiledSteps, Taken
from nonsmooth.evaluation import Array
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.solvers.chain import CERTIFIED
from nonsmooth.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.step_control import ErrorControl, StepControl
from nonsmooth.steppers.base import Formulation
from nonsmooth.steppers.event_driven import EventDriven, stated_rules, window_of
from nonsmooth.tolerances import DONE, SLIPPING
from nonsmooth.tolerances.event_driven import CLOSED_GAP, LOWEST, TOGETHER

__all__ = ["EventSteps"]

#: rules of compiled steps besides those of the Python formulation, for the manifest
RULES = {
    "programs": "semismooth Newton, else a sequence of proximal programs",
    "step that is not certified": "solved by the Python formulation, and counted as a fallback",
}
#: fields of contacts after the last step, and their names in the Python formulation
PHASE = {"kept_mode": "mode", "kept_share": "share"}


def _layout_of(system: System, values: Array) -> EventLayout:
    """The compiled form of a mechanism, made once for all runs."""
    rough = is_rough(system, values)
    return made_once(system, ("events", rough), lambda: EventLayout(system, rough=rough))


class EventSteps(CompiledSteps):
    """Steps of `EventDriven` on one system.

    Parameters
    ----------
    system, stepper, control, values : as `simulate` takes them, for which `why_not` has no reason
    t_end : [s]
    """

    layout: EventLayout
    root = "EventRun"
    covers_all = False

    @staticmethod
    def why_not(system: System, stepper: Any, control: StepControl, values: Array) -> str | None:
        """Why a run has no compiled form, as a clause; None if it has one."""
        if not isinstance(control, ErrorControl):
            return f"EventDriven has no compiled loop with {type(control).__name__}"
        if stepper.order != "dopri5":
            return f'order="{stepper.order}" has no compiled loop'
        if stepper.simultaneity == 0.0:
            return "simultaneity=0 has no compiled loop"
        if stepper.solver is not None and stepper.solver != SemismoothNewton():
            return f"the solver {stepper.solver} was requested"
        if system.redundant:
            return "EventDriven with redundant rows of joints has no compiled loop"
        return elements_why_not(system, lambda: _layout_of(system, values), ("newton",))

    @staticmethod
    def rules(system: System, stepper: Any, control: StepControl, values: Array) -> dict[str, Any]:
        """Stated rules and tolerances of a run."""
        assert isinstance(control, ErrorControl)
        return stated_rules(stepper, control) | RULES

    def __init__(
        self, system: System, stepper: EventDriven, control: ErrorControl, values: Array, t_end: float
    ) -> None:  # fmt: skip
        self.system, self.scheme, self.control = system, "event_driven", control
        self._allocate(_layout_of(system, values), values)
        self._events = self.memory.of["EventRun"]
        self._configure(stepper, control, values, t_end)
        self._formulation: Any = None
        self._run = self._entry("run", 1)

    def _configure(self, stepper: EventDriven, control: ErrorControl, values: Array, t_end: float) -> None:
        system, spatial = self.system, self.system.dimension == 3
        scale = system.elementwise.contact_law(values)[3]
        self._whole["t_end"], self._whole["longest"], self._whole["certified"] = t_end, control.dt_max, CERTIFIED
        for name, value in (
            ("rtol", control.rtol), ("atol", control.atol), ("numbers", system.nq + system.nv),
            ("slip_rtol", control.rtol if spatial else 0.0), ("slip_atol", control.atol if spatial else 0.0),
            ("shortest", control.dt_min), ("window", window_of(stepper, control)),
            ("together", min(control.dt_min, TOGETHER)), ("smallest", float(np.min(scale, initial=np.inf))),
            ("steady", self.layout.timeless),
        ):  # fmt: skip
            self._events[name] = value
        self.memory.of["Touch"]["closed_gap"][self.layout.contacts] = np.maximum(CLOSED_GAP * scale, LOWEST)

    # ---------------------------------------------------------------------------------------------------------- steps

    def start(self, state: State) -> State | None:
        """The start of a run with its phase; None where the formulation is asked, as if an impact comes first."""
        if "mode" in state.stepper_memory:
            return None if "reference" not in state.stepper_memory else state
        self._put_motion(state)
        if self._run(self.memory.address(self.root), 0) != DONE:
            return None
        self._at = begun = self._state(state)
        return begun

    def accompany(self, formulate: Callable[[], Formulation]) -> Formulation:
        """The Python formulation of the same run, which continues the count of short steps."""
        self._formulation = formulate()
        self._tell_progress()
        return cast(Formulation, self._formulation)

    def run(self, state: State, origin: float, most: int = MOST) -> tuple[int, bool]:
        """Steps from a state on, for about a tenth of a second and at most so many, up to one that is not certified."""
        if self._formulation is not None:
            progress = self._formulation.progress.held()
            self._events["crawled"], self._events["counted"], self._events["counted_since"] = progress
        found = super().run(state, origin, most)
        self._tell_progress()
        return found

    def _tell_progress(self) -> None:
        if self._formulation is not None:
            counted = (float(self._events[name][0]) for name in ("crawled", "counted", "counted_since"))
            self._formulation.progress.hold(tuple(counted))

    def rescue(self, state: State, origin: float, most: int) -> Taken | None:
        """None: the Python formulation repeats a step that is not certified."""
        return None

    @property
    def counts(self) -> dict[str, int]:
        """Evaluations of accelerations and forces, programs solved, and iterations of their solver."""
        programs = {"solves": "solves", "iterations": "rounds"}
        found = {name: int(self._whole[which][0]) for name, which in programs.items()}
        return found | {"evaluations": int(self._events["evaluations"][0])}

    # ---------------------------------------------------------------------------------------------------------- states

    def _put_motion(self, state: State) -> None:
        self._whole["t"] = state.t
        self.layout.put(self.memory, "q", state.q)
        self.layout.put(self.memory, "v", state.v)
        for name in ("ready", "refused", "kept_shared"):
            self._events[name] = 0

    def _put(self, state: State, origin: float) -> int:
        """A state into the memory, with its phase."""
        self._put_motion(state)
        known, touches, contacts = state.stepper_memory, self.memory.of["Touch"], self.layout.contacts
        for name, of in PHASE.items():
            touches[name][contacts] = known[of]
        touches["kept_direction"] = 0.0
        if self.layout.shape.rows > 1:
            touches["kept_direction"][contacts, 1:] = known["direction"].reshape(-1, self.tangents)
        self.memory.of["Contact"]["y_scale"][contacts] = known["y_scale"]
        run = self._events
        run["length"] = known["dt"][0]
        if known["redundant"][0]:
            alone = self.system.ng == 0 and not np.any(known["reference"]) and not np.any(known["mode"] == SLIPPING)
            run["kept_shared" if alone else "refused"] = 1
        run["stall_since"], run["stall_count"] = known["stall"]
        return DONE

    def _state(self, before: State) -> State:
        """The state after the last step, with its phase."""
        layout, run, contacts = self.layout, self._events, self.layout.contacts
        touches = self.memory.of["Touch"][contacts]
        direction = np.zeros(self.system.nt)
        if layout.shape.rows > 1:
            direction = touches["kept_direction"][:, 1:].ravel()
        found = {of: touches[name].astype(float) for name, of in PHASE.items()} | {
            "direction": direction, "redundant": run["kept_shared"].astype(float),
            "reference": np.zeros(self.system.ng + self.system.nc + self.system.nt),
            "y_scale": self.memory.of["Contact"]["y_scale"][contacts], "dt": run["length"].copy(),
            "stall": np.array([run["stall_since"][0], run["stall_count"][0]]),
        }  # fmt: skip
        q, v = (layout.packed(self.memory, name).ravel() for name in ("q", "v"))
        return State(float(self._whole["t"][0]), q, v, before.law_memory, {**before.stepper_memory, **found})
