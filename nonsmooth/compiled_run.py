"""What runs of compiled loops have in common: chunks of steps, between which Python looks at what a user may want."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import Interrupted, NonsmoothError, SimulationFailed, SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.step_control import StepControl
from nonsmooth.steppers.base import Step, Stepper
from nonsmooth.trajectory import Trajectory
from nonsmooth.trajectory.early import breakdown, interruption, last, made

__all__ = ["CompiledRun", "PythonRun"]

#: seconds of compiled stepping between two looks at Ctrl-C, the progress and the memory
CHUNK = 0.1


class PythonRun(Protocol):
    """The Python engine, made when a step needs it."""

    formulation: Any
    chain: Any
    shortened: int

    def _step(self, state: State, t: float) -> Step: ...

    def _hint(self, state: State) -> str: ...


class CompiledRun(ABC):
    """One run of a compiled loop, whose `session` `_begin` makes.

    Parameters
    ----------
    python : () -> the Python engine of the same run, for steps that are not certified
    """

    session: Any

    def __init__(
        self, system: System, stepper: Stepper, control: StepControl, values: Array, manifest: Mapping[str, Any], *,
        t_end: float, record: int, progress: Callable[[float, float, int], None] | None,
        python: Callable[[], PythonRun],
    ) -> None:  # fmt: skip
        self.system, self.stepper, self.control, self.values = system, stepper, control, values
        self.manifest, self.t_end, self.record, self.progress, self._make_python = (
            manifest, t_end, record, progress, python,
        )  # fmt: skip
        self.python: PythonRun | None = None
        self.python_steps = 0
        self.clock = time.perf_counter()

    def trajectory(self, first: State) -> Trajectory:
        """Run from the start to the end."""
        self.first = first
        self._prepare()
        try:
            self._begin()
            self.clock = time.perf_counter()
            self._loop()
            return last(lambda: self._finished("finished"), self.steps)
        except Interrupted:
            raise
        except SolverFailed as error:
            state = self.state()
            hint = self.python._hint(state) if self.python else ""
            message = f"Step {self.steps + 1}, from t = {state.t:.9g} s, failed: {error}{hint}"
            trajectory = made(lambda: self._so_far(f"failed: {message}"))
            raise SimulationFailed(message, trajectory=trajectory, cause=error) from error
        except KeyboardInterrupt:
            message = interruption(self.session.time, self.t_end, self.steps)
            raise Interrupted(message, trajectory=made(lambda: self._so_far("interrupted"))) from None
        except Exception as error:
            if self.steps == 0 and isinstance(error, NonsmoothError):
                raise  # input that cannot be used
            message = breakdown(error, self.session.time, self.steps)
            trajectory = made(lambda: self._so_far(f"failed: {message}"))
            raise SimulationFailed(message, trajectory=trajectory, cause=error) from error

    def _so_far(self, status: str) -> Trajectory:
        """What was recorded, of a run that ended before its first row the start."""
        from nonsmooth.native.table import K_ROWS

        if self.session.counter(K_ROWS) == 0:
            self._begin_bare()
        return self._finished(status)

    @property
    def steps(self) -> int:
        """Accepted so far."""
        from nonsmooth.native.table import K_STEPS

        return int(self.session.counter(K_STEPS))

    def _loop(self) -> None:
        from nonsmooth.native import table as n

        chunk = 64
        while self.session.time < self.t_end:
            begin, before = time.perf_counter(), self.steps
            status = self._advance(chunk)
            if status == n.FULL:
                self._grow()
            elif status == n.UNCERTAIN:
                self._python_step()
            seconds, done = time.perf_counter() - begin, self.steps - before
            if seconds < CHUNK / 2 and status == n.DONE:
                chunk *= 2
            elif seconds > CHUNK:
                chunk = max(1, int(done * CHUNK / seconds))
            if self.progress is not None:
                self.progress(self.session.time, self.t_end, self.steps)

    def _stepped(self, python: PythonRun, state: State, t: float) -> Step:
        """A step of the Python formulation to t at most, which raises where it cannot certify it either."""
        step = python._step(state, t)
        if not step.state.t > state.t:
            raise SolverFailed("the step has no length; the times of its impacts cannot be told apart.")
        self.python_steps += 1
        return step

    def _taken(self, accept: Callable[[], None], rest: Callable[[], None]) -> None:
        """Have the session take over a step, which must not stop halfway: what Ctrl-C comes into is done again.

        `accept` counts the step with its last act; `rest` can be done twice.
        """
        before = self.steps
        try:
            accept()
            rest()
        except KeyboardInterrupt:
            if self.steps == before:
                accept()
            rest()
            raise

    @abstractmethod
    def _prepare(self) -> None:
        """Make the session."""

    @abstractmethod
    def _begin(self) -> None:
        """Put the start into the session."""

    @abstractmethod
    def _begin_bare(self) -> None:
        """The start as row 0, where `_begin` did not come to its end."""

    @abstractmethod
    def _advance(self, steps: int) -> int:
        """Up to so many steps; DONE, FULL or UNCERTAIN as in `native.table`."""

    @abstractmethod
    def _grow(self) -> None:
        """Room for more rows."""

    @abstractmethod
    def _python_step(self) -> None:
        """The next step by the Python formulation."""

    @abstractmethod
    def state(self) -> State:
        """Where the run stands."""

    @abstractmethod
    def _finished(self, status: str) -> Trajectory:
        """What was recorded."""
