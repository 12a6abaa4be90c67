"""What runs of compiled loops have in common: chunks of steps, between which Python looks at what a user may want."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from nonsmooth.checkpoints import RunKeeper, incomplete
from nonsmooth.evaluation import Array
from nonsmooth.exceptions import Interrupted, NonsmoothError, SimulationFailed, SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.step_control import StepControl
from nonsmooth.steppers.base import Remembering, Step, Stepper
from nonsmooth.trajectory import Trajectory
from nonsmooth.trajectory.early import breakdown, interruption, last, made

__all__ = ["CompiledRun", "PythonRun"]

#: steps between two looks at Ctrl-C, the progress and the memory: at first, at least, and times the number of bodies. A
#: step may differ in its last bits where it is the first of a chunk, which therefore must not depend on the clock
FIRST_CHUNK, LEAST_CHUNK, CHUNK = 64, 128, 16384


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
        python: Callable[[], PythonRun], keeper: RunKeeper | None = None,
    ) -> None:  # fmt: skip
        self.keeper, self._saved, self.chunk = keeper, False, FIRST_CHUNK
        self.pending: dict[str, Any] | None = None  # how the Python engine stands before a step of it that is due
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
            if self.keeper is not None and self.keeper.held is not None:
                self._go_on(self.keeper.held)
            else:
                self._begin()
                self.clock = time.perf_counter()
            self._loop()
            return last(lambda: self._so_far("finished"), self.steps)
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
        elif not self._saved:
            self._save()
            self._saved = True
        return self._finished(status)

    @property
    def steps(self) -> int:
        """Accepted so far."""
        from nonsmooth.native.table import K_STEPS

        return int(self.session.counter(K_STEPS))

    def _loop(self) -> None:
        from nonsmooth.native import table as n

        most = max(LEAST_CHUNK, CHUNK // max(len(self.session.layout.bodies), 1))
        while self.session.time < self.t_end:
            status = self._advance(self.chunk) if self.pending is None else n.UNCERTAIN
            if status == n.FULL:
                self._grow()
            elif status == n.UNCERTAIN:
                self.pending = self._python_held()
                self._python_step()
                self.pending = None
            else:
                self.chunk = min(2 * self.chunk, most)
            if self.keeper is not None and self.keeper.due():
                self._save()
            if self.progress is not None:
                self.progress(self.session.time, self.t_end, self.steps)

    def _held(self) -> dict[str, Any]:
        """How the run stands, for a checkpoint."""
        return {
            "session": self.session.held(), "python": self.pending or self._python_held(),
            "pending": self.pending is not None, "python_steps": self.python_steps,
            "seconds": time.perf_counter() - self.clock, "chunk": self.chunk,
        }  # fmt: skip

    def _python_held(self) -> dict[str, Any]:
        python = self.python
        if python is None:
            return {"made": False}
        memory = python.formulation.held() if isinstance(python.formulation, Remembering) else None
        return {"made": True, "chain": python.chain.held(), "shortened": python.shortened, "formulation": memory}

    def _go_on(self, held: Mapping[str, Any]) -> None:
        """Take over how a run stood at its checkpoint."""
        assert self.keeper is not None
        try:
            self.session.hold(held["session"])
            self.chunk = min(max(int(held["chunk"]), 1), CHUNK)
            self.python_steps, seconds, known = int(held["python_steps"]), float(held["seconds"]), held["python"]
            if known["made"]:
                python = self._make_ready()
                python.chain.hold(known["chain"])
                python.shortened = int(known["shortened"])
                if isinstance(python.formulation, Remembering):
                    python.formulation.hold(known["formulation"], self.state())
            self.pending = self._python_held() if held["pending"] else None
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise incomplete(self.keeper.checkpoint.path, error) from error
        self.clock = time.perf_counter() - seconds

    def _save(self) -> None:
        """Write how the run stands."""
        if self.keeper is not None:
            begin = time.perf_counter()
            self.keeper.save(self._held())
            self.clock += time.perf_counter() - begin  # which is no computing

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
    def _make_ready(self) -> PythonRun:
        """The Python engine, as the first step that it takes finds it."""

    @abstractmethod
    def _python_step(self) -> None:
        """The next step by the Python formulation."""

    @abstractmethod
    def state(self) -> State:
        """Where the run stands."""

    @abstractmethod
    def _finished(self, status: str) -> Trajectory:
        """What was recorded."""
