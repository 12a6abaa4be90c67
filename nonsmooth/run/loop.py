"""The loop over steps; whatever ends a run, its steps so far are returned."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.run import MOST, Run, StepBatch, origin_of
from nonsmooth.exceptions import (
    TOO_LITTLE,
    BudgetSpent,
    Interrupted,
    ModelError,
    NonsmoothError,
    SimulationFailed,
    SolverFailed,
    TimeSpent,
    lacks_memory,
)
from nonsmooth.model.closing import closed_pose
from nonsmooth.model.drivers import PrescribedMotion, PrescribedPose
from nonsmooth.model.model import Model
from nonsmooth.model.review import REMARKS
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.progress import asking, stage
from nonsmooth.run.checkpoints import Checkpoint, incomplete
from nonsmooth.solvers.chain import Chain
from nonsmooth.step.control import StepControl
from nonsmooth.step.deformation_range import check_deformations
from nonsmooth.trajectory import Recorder, Trajectory

#: calls of other solvers than the first one in the parts of a step, after which only the first is tried
PATIENCE = 1000
#: steps after which it is asked whether time advances, and their mean, as a share of the longest step and of the time
#: that is left, below which it does not: halved again and again, steps come down to the last digits of the time
ASKED, STANDSTILL = 1000, 1e-9
#: the method of a scheme's text, which solves what is left to no solver
TEXT = "NewtonOfScheme"
#: time after the last step at which the joints are tried, as a share of the run
AHEAD = 5e-3
#: accuracy of the time that is named, as a share of the run
LOCATED = 1e-6
#: drivers that the sentence names
NAMED = 3


@dataclass(eq=False)
class Budget:
    """Progress of a run, which ends it beyond a budget; its time begins with that of the first run of the call."""

    #: progress of the user
    tell: Callable[[float, float, int], None] | None
    #: budget of the user; seconds of all runs of a call together
    steps: int | None
    seconds: float | None
    #: steps beyond which such steps are given up, unless the run, from t_start, needs no more than those afforded at
    #: its pace so far
    most: int | None = None
    afforded: int = 0
    t_start: float = 0.0
    clock: float | None = None

    def __post_init__(self) -> None:
        self.clock = time.monotonic() if self.clock is None else self.clock

    def in_time(self) -> None:
        """Raise TimeSpent if the time of the user's budget is spent."""
        if self.seconds is not None and self.clock is not None and time.monotonic() - self.clock > self.seconds:
            raise TimeSpent(f"the budget of {self.seconds:g} s is spent.")

    def __call__(self, t: float, t_end: float, steps: int) -> None:
        """Tell of the time that so many steps have come to; BudgetSpent or SolverFailed where they may be no more."""
        if self.tell is not None:
            self.tell(t, t_end, steps)
        if t >= t_end:
            return
        if self.steps is not None and steps >= self.steps:
            raise BudgetSpent(f"the budget of {self.steps} steps is spent.")
        self.in_time()
        if self.most is not None and steps >= self.most:
            reached = (t - self.t_start) / (t_end - self.t_start)
            if self.most <= self.afforded * reached:
                self.most, self.afforded = 2 * math.ceil(self.most / reached), 0
                return
            raise SolverFailed(
                f"{self.most} steps, after which such steps are given up, have come to t = {t:.3g} s of t_end = "
                f"{t_end:g} s."
            )


class TimeLoop:
    """One run: steps are taken ahead, as many as they certify; one that is not certified is rescued or ends the run."""

    def __init__(
        self, compile: Callable[[], Run], chain: Chain, control: StepControl, recorder: Recorder,
        system: System, values: Array, t_end: float, budget: Budget, checkpoint: Checkpoint | None = None,
    ) -> None:  # fmt: skip
        self._compile, self._compiled, self.checkpoint = compile, cast(Run | None, None), checkpoint
        self._saved_state: dict[str, Any] | None = None  # after the last step, for a checkpoint
        self.chain, self.control, self.recorder = chain, control, recorder
        self.system, self.values, self.t_end, self.budget = system, values, t_end, budget
        self.steps = 0
        self.clock = time.perf_counter()

    def trajectory(self, first: State) -> Trajectory:
        """The run from an initial state."""
        origin, budget, state = origin_of(first), self.budget, first
        try:
            budget.in_time()
            with asking(budget.in_time):
                steps = self._compiled = self._compile()
            steps.use(self.chain)
            steps.outside.in_time = budget.in_time
            self.recorder.viewer = steps.viewer
            self.clock = time.perf_counter()
            if self.checkpoint is not None and self.checkpoint.saved_state is not None:
                state = self._restore(self.checkpoint.saved_state, steps, origin)
            else:
                steps.put_controllers(first)
                begun = steps.start(first)
                if begun is None:
                    raise SolverFailed(steps.failure(first))
                state = begun
                self.recorder.start(state, steps.impact)
            self._note(state, steps)
            asked = self.steps, state.t
            while state.t < self.t_end:
                # as many steps as are certified, within the budget
                most = MOST if budget.steps is None else max(1, budget.steps - self.steps)
                self.chain.others_left = None
                batch = steps.advance(state, origin, most)
                self._record(batch)
                # one that is not certified is taken in parts and by other solvers; without a budget it would be taken
                # in all of these parts, so that with one none of them is
                if not batch.whole:
                    rescued = None
                    if batch.count < most:
                        self.chain.others_left = PATIENCE
                        rescued = steps.rescue(batch.end, origin)
                    if rescued is None:
                        raise SolverFailed(steps.failure(batch.end))
                    if rescued.count > most - batch.count:
                        raise BudgetSpent(f"the budget of {budget.steps} steps is spent.")
                    batch = rescued
                    self._record(batch)
                state = batch.end
                self._note(state, steps)
                if self.steps - asked[0] >= ASKED:
                    mean, asked = (state.t - asked[1]) / (self.steps - asked[0]), (self.steps, state.t)
                    if mean < STANDSTILL * min(steps.longest, self.t_end - state.t):
                        raise SolverFailed(f"steps of {mean:.2g} s do not advance: {steps.failure(state)}")
                budget(state.t, self.t_end, self.steps)
            return self._finish(state, "finished")
        except Interrupted:
            raise
        except (Exception, KeyboardInterrupt) as error:
            # rows that Ctrl-C left incomplete do not count
            reached = self.recorder.whole()
            self.steps, state = max(len(self.recorder) - 1, 0), state if reached is None else reached
            if isinstance(error, KeyboardInterrupt):
                after = f"after {self.steps} steps" if self.steps else "before the first step"
                message = f"Interrupted at t = {state.t:.9g} s of {self.t_end:g} s, {after}."
                raise Interrupted(message, trajectory=self._finish(state, "interrupted")) from None
            if isinstance(error, BudgetSpent):
                message = f"After {self.steps} steps, at t = {state.t:.9g} s, {error}"
            elif isinstance(error, SolverFailed):
                hint = self._hint(state, first.t)
                message = f"Step {self.steps + 1}, from t = {state.t:.9g} s, failed: {hint or error}"
            elif self.steps == 0 and isinstance(error, NonsmoothError):
                raise  # input that cannot be used
            else:
                said = f"MemoryError: {TOO_LITTLE}" if lacks_memory(error) else f"{type(error).__name__}: {error}"
                text = " ".join(said.split()).rstrip(":. ")[:500]
                steps_ = f"{self.steps} step{'s' * (self.steps != 1)}"
                message = f"After {steps_}, at t = {state.t:.9g} s, the run was ended by {text}."
            trajectory = self._finish(state, f"failed: {message}")
            raise SimulationFailed(message, trajectory=trajectory, cause=error) from error

    def _record(self, batch: StepBatch) -> None:
        if batch.count:
            self.recorder.extend(batch.rows, batch.end)
        self.steps += batch.count

    def _restore(self, saved: Mapping[str, Any], steps: Run, origin: float) -> State:
        """Resume the run from its checkpoint; the state there."""
        assert self.checkpoint is not None
        try:
            state, seconds = saved["state"], float(saved["seconds"])
            self.recorder.restore(saved["recorder"], state)
            self.chain.restore(saved["chain"])
            if saved["compiled"] is not None:
                steps.restore(saved["compiled"], state, origin)
            self.steps = len(self.recorder) - 1
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise incomplete(self.checkpoint.path, error) from error
        self.clock -= seconds
        return cast(State, state)

    def _note(self, state: State, steps: Run) -> None:
        """Note the state of the run after a step for a checkpoint, which is written where an interval has passed."""
        if self.checkpoint is None:
            return
        self._saved_state = {
            "state": state, "chain": self.chain.snapshot(), "rows": len(self.recorder),
            "compiled": steps.snapshot(state),
        }  # fmt: skip
        if time.monotonic() - self.checkpoint.last >= self.checkpoint.pause:
            self._save()

    def _save(self) -> None:
        """Write the checkpoint of the state noted last."""
        if self.checkpoint is None or self._saved_state is None:
            return
        begin = time.perf_counter()
        try:
            rows = self.recorder.saved_state(self._saved_state["rows"])
        except MemoryError as error:
            self.checkpoint.refuse(error)
            return
        self.checkpoint.save({**self._saved_state, "recorder": rows, "seconds": begin - self.clock})
        self.clock += time.perf_counter() - begin  # which is no computing

    def _finish(self, state: State, status: str) -> Trajectory:
        """The trajectory of the steps so far; made again if Ctrl-C interrupts it, since every step would be lost."""
        for left in (2, 1, 0):
            try:
                trajectory = self._evaluated(state, status)
                break
            except KeyboardInterrupt:
                if not left:
                    raise
        if status != "finished" or left == 2:
            return trajectory
        message = f"Interrupted after the last of {self.steps} steps, while its tables were made; the run is complete."
        raise Interrupted(message, trajectory=trajectory)

    def _evaluated(self, state: State, status: str) -> Trajectory:
        if self.recorder.whole() is None:
            self.recorder.start(state, None)
        self._save()
        counts, observe = {"steps": self.steps, "shortened": 0} | self.chain.counts, None
        if self._compiled is not None:
            observe, own = self._compiled.observe, self._compiled.counts
            for name, count in own.items():
                counts[name] = counts.get(name, 0) + count
            if own.get("solves"):
                self.chain.called[TEXT] = own["solves"]
        seconds = time.perf_counter() - self.clock
        with stage("tables"):
            trajectory = self.recorder.finish(counts, seconds, status, observe)
        check_deformations(self.system, trajectory.t, trajectory.q.array, trajectory.v.array)
        return trajectory

    def _hint(self, state: State, begin: float) -> str:
        """A cause in place of the solver's words, whose advice is of no use then: a load that is not a number, a driver
        beyond reach; or ""."""
        for t in (state.t, self.control.next_time(state.t, state.t, self.t_end)):
            force = self.system.numeric.h(t, state.q, state.v, self.values)[0]
            bad = np.flatnonzero(~np.isfinite(force))
            if bad.size:
                name = self.system.v_names[bad[0]]
                return f'the applied force along "{name}" is {force[bad[0]]} at t = {t:.9g} s; check the loads.'
        return beyond_reach(self.system, self.values, state, begin, self.t_end)


def beyond_reach(system: System, values: Array, state: State, begin: float, t_end: float) -> str:
    """A sentence on drivers that the joints cannot follow beyond some time; or "". Clearances, which
    extend the reach little, are replaced by ideal joints. These must not close shortly after the last step, and must at
    a time before; the time between is located by bisection."""
    drivers = [  # with a function of time
        element.name
        for element in system.elements
        if (isinstance(element, PrescribedMotion) and callable(element.motion))
        or (isinstance(element, PrescribedPose) and (callable(element.position) or callable(element.quaternion)))
    ]
    if not drivers:
        return ""
    try:
        ideal = Model(system.elements, name=system.name, silence=REMARKS).ideal().build(assemble=True)
    except ModelError:  # without its clearances the mechanism has no motion at all
        return ""
    known = dict(zip(system.parameters, values.tolist(), strict=True))
    p = ideal.parameter_vector({name: value for name, value in known.items() if name in ideal.parameters})
    ahead = AHEAD * (t_end - begin)
    low, high = state.t, min(state.t + ahead, t_end)
    if closed_pose(ideal, high, state.q, p) is not None:
        return ""
    while (pose := closed_pose(ideal, low, state.q, p, nearby=low > begin)) is None:
        if low <= begin:
            return ""
        high, low, ahead = low, max(begin, state.t - ahead), 2 * ahead
    while high - low > LOCATED * (t_end - begin):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        found = closed_pose(ideal, middle, pose, p, nearby=True)
        if found is None:
            high = middle
        else:
            low, pose = middle, found
    listed = ", ".join(f'"{name}"' for name in drivers[:NAMED]) + (", ..." if len(drivers) > NAMED else "")
    what = f"the driver {listed} prescribes" if len(drivers) == 1 else f"the drivers {listed} prescribe"
    return (
        f"{what} a motion beyond the reach of the mechanism: its joints cannot be closed after t = {high:.6g} s. "
        "Shorten the motion or the run, or change the lengths."
    )
