"""The loop over steps, and what to hand over when a run ends early."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.steps import MOST, CompiledSteps, Taken, origin_of
from nonsmooth.exceptions import BudgetSpent, Interrupted, NonsmoothError, SimulationFailed, SolverFailed, TimeSpent
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.progress import stage
from nonsmooth.run.checkpoints import RunKeeper, incomplete
from nonsmooth.run.reach import beyond_reach
from nonsmooth.solvers.chain import Chain
from nonsmooth.step.control import StepControl
from nonsmooth.step.deformation_range import check_deformations
from nonsmooth.trajectory import Recorder, Trajectory
from nonsmooth.trajectory.early import breakdown, interruption, last, made

__all__ = ["Budget", "TimeLoop"]

#: calls of other solvers than the first one in the parts of a step, after which only the first is tried
PATIENCE = 1000
#: the method of a scheme's text, which solves what is left to no solver
TEXT = "NewtonOfScheme"


class Budget:
    """A progress that ends runs beyond a budget, whose time begins with the first step.

    Parameters
    ----------
    tell : progress of the user
    steps, seconds : of the user's budget; seconds of all runs of a call together
    most : steps beyond which steps of this length are given up
    afforded : unless the run, from t_start, needs no more steps than these at its pace so far
    before : seconds that other runs of the call took
    """

    def __init__(
        self, tell: Callable[[float, float, int], None] | None, steps: int | None, seconds: float | None,
        most: int | None = None, afforded: int = 0, t_start: float = 0.0, before: float = 0.0,
    ) -> None:  # fmt: skip
        self.tell, self.steps, self.seconds, self.most = tell, steps, seconds, most
        self.afforded, self.t_start, self.before = afforded, t_start, before
        self.clock: float | None = None

    def begin(self) -> None:
        """The time begins now: what was done before, such as compiling, does not count."""
        self.clock = time.monotonic()
        if self.before:  # a run of few steps is asked at its end only
            self.in_time()

    @property
    def taken(self) -> float:
        """Seconds that this run and those before took."""
        return self.before + (0.0 if self.clock is None else time.monotonic() - self.clock)

    @property
    def progress(self) -> Callable[[float, float, int], None] | None:
        """What a run calls; as cheap as none where there is no budget."""
        free = self.steps is None and self.seconds is None and self.most is None
        return self.tell if free else self._progress

    def in_time(self) -> None:
        """Raise TimeSpent if the time of the user's budget is spent."""
        if self.seconds is not None and self.taken > self.seconds:
            raise TimeSpent(f"the budget of {self.seconds:g} s is spent.")

    def _progress(self, t: float, t_end: float, steps: int) -> None:
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
    """One run: its loop, and what to hand over when it ends early.

    Steps are taken ahead, as many as they certify; one that is not certified is rescued, or ends the run.
    """

    def __init__(
        self, compile: Callable[[], CompiledSteps], chain: Chain, control: StepControl, recorder: Recorder,
        system: System, values: Array, t_end: float, progress: Callable[[float, float, int], None] | None,
        keeper: RunKeeper | None = None, max_steps: int | None = None, begin: Callable[[], None] = lambda: None,
        in_time: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._begin, self._in_time, self._compile, self._max_steps = begin, in_time, compile, max_steps
        self.keeper, self._compiled = keeper, cast(CompiledSteps | None, None)
        self._stands: dict[str, Any] | None = None  # after the last step, for a checkpoint
        self.chain, self.control, self.recorder = chain, control, recorder
        self.system, self.values, self.t_end, self.progress = system, values, t_end, progress
        self.steps = 0
        self.clock = time.perf_counter()

    @property
    def compiled(self) -> CompiledSteps:
        """The steps, compiled when the run begins."""
        if self._compiled is None:
            self._compiled = self._compile()
            self._compiled.use(self.chain)
            self._compiled.outside.in_time = self._in_time
            self.recorder.viewer = self._compiled.viewer
            self.clock = time.perf_counter()
        return self._compiled

    def trajectory(self, first: State) -> Trajectory:
        """The loop."""
        origin = origin_of(first)
        state = first
        try:
            steps = self.compiled
            if self.keeper is not None and self.keeper.held is not None:
                state = self._go_on(self.keeper.held, origin)
            else:
                begun = steps.start(first)
                if begun is None:
                    raise SolverFailed(steps.failure(first))
                state = begun
                self.recorder.start(state, steps.impact)
            self._begin()
            self._keep(state)
            while state.t < self.t_end:
                state, certain = self._ahead(state, origin)
                if not certain:
                    raise SolverFailed(steps.failure(state))
                self._keep(state)
                if self.progress is not None:
                    self.progress(state.t, self.t_end, self.steps)
            return last(lambda: self._finished(state, "finished"), self.steps)
        except Interrupted:
            raise
        except SolverFailed as error:
            state = self._whole(state)
            if isinstance(error, BudgetSpent):
                message = f"After {self.steps} steps, at t = {state.t:.9g} s, {error}"
            else:
                hint = self._hint(state, first.t)
                message = f"Step {self.steps + 1}, from t = {state.t:.9g} s, failed: {error}{hint}"
            trajectory = made(lambda: self._finished(state, f"failed: {message}"))
            raise SimulationFailed(message, trajectory=trajectory, cause=error) from error
        except KeyboardInterrupt:
            state = self._whole(state)
            message = interruption(state.t, self.t_end, self.steps)
            raise Interrupted(message, trajectory=made(lambda: self._finished(state, "interrupted"))) from None
        except Exception as error:
            state = self._whole(state)
            if self.steps == 0 and isinstance(error, NonsmoothError):
                raise  # input that cannot be used
            message = breakdown(error, state.t, self.steps)
            trajectory = made(lambda: self._finished(state, f"failed: {message}"))
            raise SimulationFailed(message, trajectory=trajectory, cause=error) from error

    def _ahead(self, state: State, origin: float) -> tuple[State, bool]:
        """The state after certified steps, and whether the next step is one of these too."""
        left = MOST if self._max_steps is None else max(1, self._max_steps - self.steps)
        self.chain.others_left = None
        taken = self.compiled.advance(state, origin, left)
        self._take(taken)
        if not taken.whole and taken.count < left:
            self.chain.others_left = PATIENCE
            rescued = self.compiled.rescue(taken.end, origin)
            if rescued is not None:
                # without a budget the step would be taken in these parts, so that with one none of them is
                if rescued.count > left - taken.count:
                    raise BudgetSpent(f"the budget of {self._max_steps} steps is spent.")
                return self._take(rescued), True
        return taken.end, taken.whole

    def _take(self, taken: Taken) -> State:
        """Record steps; the state after them."""
        if taken.count:
            self.recorder.extend(taken.rows, taken.end)
        self.steps += taken.count
        return taken.end

    def _go_on(self, held: Mapping[str, Any], origin: float) -> State:
        """Take over how a run stood at its checkpoint."""
        assert self.keeper is not None
        try:
            state, seconds = held["state"], float(held["seconds"])
            self.recorder.hold(held["recorder"], state)
            self.chain.hold(held["chain"])
            if held["compiled"] is not None:
                self.compiled.hold(held["compiled"], state, origin)
            self.steps = len(self.recorder) - 1
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise incomplete(self.keeper.checkpoint.path, error) from error
        self.clock -= seconds
        return cast(State, state)

    def _keep(self, state: State) -> None:
        """Note how the run stands after a step, and write it where an interval has passed."""
        if self.keeper is None:
            return
        self._stands = {
            "state": state, "chain": self.chain.held(), "rows": len(self.recorder),
            "compiled": self.compiled.held(state),
        }  # fmt: skip
        if self.keeper.due():
            self._save()

    def _save(self) -> None:
        if self.keeper is not None and self._stands is not None:
            begin = time.perf_counter()
            try:
                rows = self.recorder.held(self._stands["rows"])
            except MemoryError as error:
                self.keeper.checkpoint.refuse(error)
                return
            self.keeper.save({**self._stands, "recorder": rows, "seconds": begin - self.clock})
            self.clock += time.perf_counter() - begin  # which is no computing

    def _whole(self, state: State) -> State:
        """Where the run stands, wherever it was stopped."""
        reached = self.recorder.whole()
        self.steps = max(len(self.recorder) - 1, 0)
        return state if reached is None else reached

    def _finished(self, state: State, status: str) -> Trajectory:
        if self.recorder.whole() is None:
            self.recorder.start(state, None)
        self._save()
        counts = {"steps": self.steps, "shortened": 0} | self.chain.counts
        own = {} if self._compiled is None else self._compiled.counts
        for name, count in own.items():
            counts[name] = counts.get(name, 0) + count
        if own.get("solves"):
            self.chain.called[TEXT] = own["solves"]
        observe = None if self._compiled is None else self._compiled.observe
        seconds = time.perf_counter() - self.clock
        with stage("tables"):
            trajectory = self.recorder.finish(counts, seconds, status, observe)
        check_deformations(self.system, trajectory.t, trajectory.q.array, trajectory.v.array)
        return trajectory

    def _hint(self, state: State, begin: float) -> str:
        """What the residual alone does not tell: a load that is not a number, a driver that cannot be followed."""
        for t in (state.t, self.control.next_time(state.t, state.t, self.t_end)):
            force = self.system.numeric.h(t, state.q, state.v, self.values)[0]
            bad = np.flatnonzero(~np.isfinite(force))
            if bad.size:
                name = self.system.v_names[bad[0]]
                return f' The applied force along "{name}" is {force[bad[0]]} at t = {t:.9g} s; check the loads.'
        return beyond_reach(self.system, self.values, state, begin, self.t_end)
