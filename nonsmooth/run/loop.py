"""The loop over steps, compiled or not, and what to hand over when a run ends early."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from nonsmooth.engine.held import held as compiled_held
from nonsmooth.engine.held import hold
from nonsmooth.engine.steps import MOST, CompiledSteps, Taken
from nonsmooth.evaluation import Array
from nonsmooth.exceptions import BudgetSpent, Interrupted, NonsmoothError, SimulationFailed, SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.run.checkpoints import RunKeeper, incomplete
from nonsmooth.solvers.chain import Chain
from nonsmooth.stages import stage
from nonsmooth.step_control import StepControl
from nonsmooth.steppers.base import Formulation, Remembering, Step
from nonsmooth.steppers.deformation import check_deformations
from nonsmooth.trajectory import Recorder, Trajectory
from nonsmooth.trajectory.early import breakdown, interruption, last, made

__all__ = ["Budget", "TimeLoop"]

#: how often the length of a failed step is halved before the run stops
HALVINGS = 4
#: seconds after which a step, halved ones included, has no other solver asked than the first one
PATIENCE = 30.0
#: most steps that the formulation takes before compiled steps are tried again, as for piles of many discs
LEFT_TO_PYTHON = 64


class Budget:
    """A progress that ends runs beyond a budget, whose time begins with the first step.

    Parameters
    ----------
    tell : progress of the user
    steps, seconds : of the user's budget
    most : steps beyond which steps of this length are given up
    """

    def __init__(
        self, tell: Callable[[float, float, int], None] | None, steps: int | None, seconds: float | None,
        most: int | None = None,
    ) -> None:  # fmt: skip
        self.tell, self.steps, self.seconds, self.most = tell, steps, seconds, most
        self.begin()

    def begin(self) -> None:
        """The time begins now: what was done before, such as compiling, does not count."""
        self.clock = time.monotonic()

    @property
    def progress(self) -> Callable[[float, float, int], None] | None:
        """What a run calls; as cheap as none where there is no budget."""
        free = self.steps is None and self.seconds is None and self.most is None
        return self.tell if free else self._progress

    def in_time(self) -> None:
        """Raise BudgetSpent if the time of the user's budget is spent."""
        if self.seconds is not None and time.monotonic() - self.clock > self.seconds:
            raise BudgetSpent(f"the budget of {self.seconds:g} s is spent.")

    def _progress(self, t: float, t_end: float, steps: int) -> None:
        if self.tell is not None:
            self.tell(t, t_end, steps)
        if t >= t_end:
            return
        if self.steps is not None and steps >= self.steps:
            raise BudgetSpent(f"the budget of {self.steps} steps is spent.")
        self.in_time()
        if self.most is not None and steps >= self.most:
            raise SolverFailed(f"{self.most} steps, after which such steps are given up, have not reached the end.")


class TimeLoop:
    """One run: its loop, and what to hand over when it ends early.

    Compiled steps, where `compile` makes them, are taken ahead, as many as they certify; the formulation takes the
    others, and is made when the first one comes.
    """

    def __init__(
        self, formulate: Callable[[], Formulation], chain: Chain, control: StepControl, recorder: Recorder,
        system: System, values: Array, t_end: float, progress: Callable[[float, float, int], None] | None,
        keeper: RunKeeper | None = None, compile: Callable[[], CompiledSteps] | None = None,
        max_steps: int | None = None, begin: Callable[[], None] = lambda: None,
        in_time: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._begin, self._in_time = begin, in_time
        self.keeper, self.compiled, self.python_steps = keeper, cast(CompiledSteps | None, None), 0
        self._compile, self._max_steps = compile, max_steps
        self._stands: dict[str, Any] | None = None  # after the last step, for a checkpoint
        self._formulate, self._formulation = formulate, cast(Formulation | None, None)
        self._first: State | None = None  # of a run that compiled steps began, and the formulation has not seen
        self._remembered: Mapping[str, Any] = {}
        self.chain, self.control, self.recorder = chain, control, recorder
        self.system, self.values, self.t_end, self.progress = system, values, t_end, progress
        self.steps, self.shortened = 0, 0
        # calls of compiled steps in succession that certified none, and steps until they are called again
        self._in_vain, self._until = 0, 0
        self.clock = time.perf_counter()

    @property
    def formulation(self) -> Formulation:
        if self._formulation is None:
            made = self._formulate if self.compiled is None else partial(self.compiled.accompany, self._formulate)
            self._formulation = made()
        return self._formulation

    def _start(self, first: State) -> tuple[State, Step | Mapping[str, Any] | None]:
        """The start with what the first step needs, and the impact there, if there is one."""
        begun = None if self.compiled is None else self.compiled.start(first)
        if begun is None:
            if self.compiled is not None and not self.compiled.has_formulation:
                raise SolverFailed(self.compiled.failure(first))
            return self.chain.run(self.formulation.start(first))
        assert self.compiled is not None
        self._first = first
        return begun, self.compiled.impact

    def _known(self, state: State) -> State:
        """A state that compiled steps have reached, with what the formulation remembers besides them."""
        if self._first is not None:
            fresh = replace(self._first, stepper_memory={})
            self._first, self._remembered = None, self.chain.run(self.formulation.start(fresh))[0].stepper_memory
        return replace(state, stepper_memory={**self._remembered, **state.stepper_memory})

    def trajectory(self, first: State) -> Trajectory:
        """The loop."""
        origin = float(first.stepper_memory.get("grid_start", np.array([first.t]))[0])
        state = first
        try:
            if self._compile is not None:
                self.compiled = self._compile()
                self.compiled.use(self.chain)
                self.compiled.outside.in_time = self._in_time
                self.recorder.viewer = self.compiled.viewer
                self.clock = time.perf_counter()
            if self.keeper is not None and self.keeper.held is not None:
                state = self._go_on(self.keeper.held, first, origin)
            else:
                state, impact = self._start(first)
                state = _remembering(state, origin)
                self.recorder.start(state, impact)
            self._begin()
            self._keep(state)
            while state.t < self.t_end:
                state, certain = self._ahead(state, origin)
                if not certain:
                    if self.compiled is not None and not self.compiled.has_formulation:
                        raise SolverFailed(self.compiled.failure(state))
                    step = self._step(self._known(state), self.control.next_time(state.t, origin, self.t_end))
                    if not step.state.t > state.t:
                        raise SolverFailed("the step has no length; the times of its impacts cannot be told apart.")
                    self.recorder.append(step)
                    state = step.state
                    self.steps += 1
                    self.python_steps += 1
                self._keep(state)
                if self.progress is not None:
                    self.progress(state.t, self.t_end, self.steps)
            return last(lambda: self._finished(state, "finished"), self.steps)
        except Interrupted:
            raise
        except SolverFailed as error:
            state = self._whole(state)
            message = f"Step {self.steps + 1}, from t = {state.t:.9g} s, failed: {error}{self._hint(state)}"
            if isinstance(error, BudgetSpent):
                message = f"After {self.steps} steps, at t = {state.t:.9g} s, {error}"
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
        """The state after compiled steps, and whether the next step is one of these too."""
        if self.compiled is None:
            return state, False
        if self._until > 0:
            self._until -= 1
            return state, False
        left = MOST if self._max_steps is None else max(1, self._max_steps - self.steps)
        self.chain.until = math.inf
        taken = self.compiled.advance(state, origin, left)
        self._take(taken)
        if not taken.whole and taken.count < left:
            self.chain.until = time.monotonic() + PATIENCE
            rescued = self.compiled.rescue(taken.end, origin, left - taken.count)
            if rescued is not None:
                self._in_vain = 0
                return self._take(rescued), True
        in_vain = self.compiled.covers_all and not (taken.count or taken.whole)
        self._in_vain = self._in_vain + 1 if in_vain else 0
        if self._in_vain:
            self._until = min(2 ** (self._in_vain - 1) - 1, LEFT_TO_PYTHON)
        return taken.end, taken.whole

    def _take(self, taken: Taken) -> State:
        """Record steps; the state after them."""
        if taken.count:
            self.recorder.extend(taken.rows, taken.end)
        self.steps += taken.count
        return taken.end

    def _go_on(self, held: Mapping[str, Any], first: State, origin: float) -> State:
        """Take over how a run stood at its checkpoint."""
        assert self.keeper is not None
        try:
            state, seconds = held["state"], float(held["seconds"])
            self.recorder.hold(held["recorder"], state)
            self.chain.hold(held["chain"])
            if held["formulation"] is not None and isinstance(self.formulation, Remembering):
                self.formulation.hold(held["formulation"], state)
            self._first = None if held["formulated"] else first
            if self.compiled is not None and held["compiled"] is not None:
                hold(self.compiled, held["compiled"], state, origin)
            self.shortened, self.steps = int(held["shortened"]), len(self.recorder) - 1
            self.python_steps = int(held["python_steps"])
            self._in_vain, self._until = (int(count) for count in held["left"])
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise incomplete(self.keeper.checkpoint.path, error) from error
        self.clock -= seconds
        return cast(State, state)

    def _keep(self, state: State) -> None:
        """Note how the run stands after a step, and write it where an interval has passed."""
        if self.keeper is None:
            return
        made = self._formulation
        formulation = made.held() if isinstance(made, Remembering) else None
        self._stands = {
            "state": state, "chain": self.chain.held(), "shortened": self.shortened, "formulation": formulation,
            "formulated": made is not None,
            "rows": len(self.recorder), "python_steps": self.python_steps, "left": [self._in_vain, self._until],
            "compiled": None if self.compiled is None else compiled_held(self.compiled, state),
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

    def _step(self, state: State, t: float) -> Step:
        """A step to `t` at most; a shorter one if no solver's solution passes the residual test."""
        self.chain.until = time.monotonic() + PATIENCE
        for halving in range(HALVINGS + 1):
            try:
                return self.chain.run(self.formulation.step(state, t))
            except SolverFailed:
                if halving == HALVINGS or not self.chain.fallback:
                    raise
                self.shortened += 1
                t = state.t + (t - state.t) / 2
        raise AssertionError("unreachable")

    def _finished(self, state: State, status: str) -> Trajectory:
        if self.recorder.whole() is None:
            self.recorder.start(state, None)
        self._save()
        counts = {"steps": self.steps, "shortened": self.shortened} | self.chain.counts
        if self._formulation is not None:
            counts |= self._formulation.counts()
        if self.compiled is not None:
            for name, count in self.compiled.counts.items():
                counts[name] = counts.get(name, 0) + count
            counts["fallbacks"] += self.python_steps if self.compiled.covers_all else 0
            counts["python_steps"] = self.python_steps
        observe = None if self.compiled is None else self.compiled.observe
        seconds = time.perf_counter() - self.clock
        with stage("tables"):
            trajectory = self.recorder.finish(counts, seconds, status, observe)
        check_deformations(self.system, trajectory.t, trajectory.q.array, trajectory.v.array)
        return trajectory

    def _hint(self, state: State) -> str:
        """What the residual alone does not tell: a load that is not a number."""
        for t in (state.t, self.control.next_time(state.t, state.t, self.t_end)):
            force = self.system.numeric.h(t, state.q, state.v, self.values)[0]
            bad = np.flatnonzero(~np.isfinite(force))
            if bad.size:
                name = self.system.v_names[bad[0]]
                return f' The applied force along "{name}" is {force[bad[0]]} at t = {t:.9g} s; check the loads.'
        return ""


def _remembering(state: State, origin: float) -> State:
    """Constant steps lie on one grid, also after a restart; steps hand on memories that are not theirs."""
    return replace(state, stepper_memory={**state.stepper_memory, "grid_start": np.array([origin])})
