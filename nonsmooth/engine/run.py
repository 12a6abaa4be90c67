"""A run of compiled code: its memory, the rows that it writes, and the state from which it goes on."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.objects import entry
from nonsmooth.compile.records.memory import Memory
from nonsmooth.engine.external_solver import Callbacks
from nonsmooth.engine.layout import STOPS, Layout
from nonsmooth.engine.rows import at_rows
from nonsmooth.engine.sampling import Sampling
from nonsmooth.engine.saved_state import Numbers, internal_states, varying
from nonsmooth.engine.tables import Tables, Viewer
from nonsmooth.model.corners import before, divided
from nonsmooth.model.state import InternalStates, State
from nonsmooth.model.system import Observe, System
from nonsmooth.solvers.chain import Chain
from nonsmooth.step.control import StepControl
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.tolerances import UNCERTAIN

#: seconds of compiled stepping between two checks of Ctrl-C, progress and budget
CHUNK = 0.1
#: rows that memory has room for: bytes of all, and their number at least and at most
ROOM, FEWEST, MOST = 2**21, 16, 2**14


@dataclass(frozen=True, eq=False)
class StepBatch:
    """Accepted steps, their rows as a `Recorder` keeps them, the state after them; `whole` if the next did not fail."""

    count: int
    rows: Mapping[str, NDArray[Any]]
    end: State
    whole: bool


def origin_of(state: State) -> float:
    """Start of the grid of steps [s], which a run that goes on keeps."""
    return float(state.memory["System.origin"][0]) if "System.origin" in state.memory else state.t


class Run:
    """A run of a scheme on one system: takes steps, many per call, and restores the states from which it goes on.

    What schemes differ in is for subclasses: `rules`, `start`, `rescue`, `failure`, `counts` and `_begin_at`.
    """

    #: the schema of the record that `run` takes
    root = "System"
    #: of solvers outside the compiled text; set before the first step
    chain: Chain | None = None
    #: the row of the impact at the start of the run, if there is one
    impact: Mapping[str, NDArray[Any]] | None = None
    #: least number of steps between two corners of loads and drivers
    parts = 1
    #: start of the run, corners of its loads and drivers with the times that divide it further, and times just before
    #: corners, where loads have their left limits
    _corners: tuple[float, Array, Array] | None = None
    #: the entry point that takes steps
    _run: Any
    #: longest step, where it is stated [s]
    longest = math.inf

    def __init__(self, system: System, scheme: Scheme, layout: Layout, values: Array, t_end: float) -> None:
        self.system, self.scheme, self.layout, self.values, self._t_end = system, scheme, layout, values, t_end
        self.tangents = system.dimension - 1
        per_row = 8 * (3 * system.nq + 8 * system.nc + 2 * system.nr + 12)
        self.rows = min(max(ROOM // per_row, FEWEST), MOST)
        self.memory: Memory = layout.filled(values)
        self.tables = Tables(self.memory, layout, self.rows)
        self._whole = self.memory.of["System"]
        self._at: State | None = None
        self.states = internal_states(layout, self.memory, scheme.state)
        self._chunk = 64
        self.outside = Callbacks()
        self.sampling = Sampling(system, values) if system.controllers else None
        #: evaluates rows when no more steps are taken
        self.observe = self.viewer() if self.sampling else Viewer(layout, self.memory)

    @staticmethod
    def rules(system: System, stepper: Any, control: StepControl, values: Array) -> dict[str, Any]:
        """Stated rules and tolerances of a run."""
        raise NotImplementedError

    def use(self, chain: Chain) -> None:
        """Take the solvers of a run."""
        self.chain = chain

    def start(self, state: State) -> State | None:
        """The start of a run with the data of its first step, after the impact there; None if it is not certified."""
        raise NotImplementedError

    def rescue(self, state: State, origin: float) -> StepBatch | None:
        """A step that is not certified as it is; None if in no way, or where schemes shorten their steps themselves."""
        return None

    def failure(self, state: State) -> str:
        """Reason why the step from a state is not certified."""
        raise NotImplementedError

    @property
    def counts(self) -> dict[str, int]:
        """Counts of what was done in the run, by name."""
        raise NotImplementedError

    def _begin_at(self, state: State, origin: float) -> int:
        """Write a state with its internal states into the records; `DONE` if a run can begin there."""
        raise NotImplementedError

    def advance(self, state: State, origin: float, most: int = MOST) -> StepBatch:
        """Steps from a state on, for about a tenth of a second and at most so many, up to one that is not certified."""
        done, certain = self.run(state, origin, most)
        self._at = end = self._state() if done else state
        return StepBatch(done, self._worked(self.tables.read(done), state, origin) if done else {}, end, certain)

    def run(self, state: State, origin: float, most: int = MOST) -> tuple[int, bool]:
        """Take steps whose rows are not read yet; their number, and whether the next step is certified too. Called
        again with the same state, it goes on from where it has come to."""
        if state is not self._at:
            self.put_controllers(state)
            self._begin_at(state, origin)
            self._at = state
        if self.sampling is not None and self.sampling.pass_instants(*self._motion()):
            self._hold()
        self._put_stops(float(self._whole["t"][0]), origin)
        self._whole["steps"] = 0
        self.tables.reach(min(self._chunk, most), self._left())
        clock = time.perf_counter()
        status = self._run(self._address, min(self._chunk, self.rows, most))
        seconds, done = time.perf_counter() - clock, int(self._whole["steps"][0])
        if not done:
            self._raise()
        if seconds < CHUNK / 2:
            more = next(factor for factor in (64, 8, 2) if factor == 2 or 2 * factor * seconds < CHUNK)
            self._chunk = min(more * self._chunk, self.rows)
        elif seconds > CHUNK:
            self._chunk = max(1, int(done * CHUNK / seconds))
        return done, status != UNCERTAIN

    def put_controllers(self, state: State) -> None:
        """Let sampled controllers begin at a state."""
        if self.sampling is not None:
            self.sampling.begin(state)
            self._hold()

    def _hold(self) -> None:
        """Write the outputs of controllers, parameters of their loads, into the records."""
        assert self.sampling is not None
        self.layout.fill(self.memory, self.values, set(self.sampling.places.tolist()))

    def _worked(self, rows: dict[str, NDArray[Any]], start: State, origin: float) -> dict[str, NDArray[Any]]:
        """Rows with the work of loads in steps that begin or end at a corner, where the trapezoidal rule is not valid:
        by the power in the middle of the step at the mean velocity."""
        corners = self._corners_from(origin)
        if not corners.size:
            return rows
        t, begins = rows["t"], np.append(start.t, rows["t"][:-1])
        corners = corners[np.searchsorted(corners, start.t) : np.searchsorted(corners, t[-1], side="right")]
        k = np.flatnonzero((np.isin(begins, corners) | np.isin(t, corners)) & np.isnan(rows["work_loads"]))
        if k.size:
            q, v = (np.vstack([getattr(start, name), rows[name]]) for name in ("q", "v"))
            v_left = at_rows(rows, "v_left", k)
            middle = 0.5 * (begins[k] + t[k]), 0.5 * (q[k] + q[k + 1]), 0.5 * (v[k] + v_left)
            rows["work_loads"][k] = (t[k] - begins[k]) * self.system.energies(*middle, self.values)["power_loads"]
        return rows

    def _put_stops(self, t: float, origin: float) -> None:
        """The next corners of loads and drivers, at which steps end; a run pauses at the last one that has room."""
        corners = self._corners_from(origin)
        if not corners.size:
            return
        k = int(np.searchsorted(corners, t))
        some, stops = corners[k : k + STOPS], self.memory.of["Stop"]
        stops["t"] = stops["before"] = np.inf
        assert self._corners is not None
        stops["t"][: some.size], stops["before"][: some.size] = some, self._corners[2][k : k + STOPS]
        self._whole["stop"] = self._whole["renewed"] = 0
        self._whole["t_end"] = self._t_end if k + STOPS >= corners.size else some[-1]
        if self.sampling is not None:
            after = corners[np.searchsorted(corners, t, side="right") :][:1]
            self._whole["t_end"] = min(self._t_end, *after.tolist(), math.inf)

    def _corners_from(self, origin: float) -> Array:
        """Corners of a run that began at `origin`, computed once: threads take steps at the same time."""
        if self._corners is None or self._corners[0] != origin:
            found = self.system.corners(origin, self._t_end, self.values, closed=True)
            if self.sampling is not None:
                found = self.sampling.instants(origin, self._t_end, found)
            times = divided(found, origin, self.parts, self.longest)
            self._corners = origin, times, np.where(np.isin(times, found), before(times), times)
        return self._corners[1]

    def _left(self) -> float:
        """Steps to the end of the run, if all are the longest; and two."""
        return max((self._t_end - self._time()) / self.longest, 0.0) + 2.0

    def _raise(self) -> None:
        """Raise what ended a call of a solver outside."""
        raised, self.outside.raised = self.outside.raised, None
        if raised is not None:
            raise raised

    def viewer(self) -> Observe:
        """Evaluates rows while steps go on: in a memory of its own."""
        if self.sampling is None:
            return Viewer(self.layout, self.layout.filled(self.values))
        without = self.values.copy()
        without[self.sampling.places] = 0.0
        return self.sampling.seen(Viewer(self.layout, self.layout.filled(without)))

    def _entry(self, name: str, integers: int = 0) -> Any:
        return entry(self.scheme.text, name, self.root, self.layout.shape, integers)

    def _state(self) -> State:
        """The state after the last step, with the internal states for the next one."""
        memory = self.states.of(self.memory)
        return State(*self._motion(), memory if self.sampling is None else self.sampling.kept(memory))

    def _motion(self) -> tuple[float, Array, Array]:
        """Time, coordinates and velocities after the last step."""
        return self._time(), self.layout.packed(self.memory, "q"), self.layout.packed(self.memory, "v")

    def _time(self) -> float:
        """Time of the records [s]."""
        return float(self._whole["t"][0])

    def snapshot(self, state: State) -> dict[str, Any] | None:
        """Data for the next step from a state, for a checkpoint; None before the first one. `there`: the records are at
        the state, as they are but after a rescued step."""
        if self._at is None and not any(self.counts.values()):
            return None
        records = self._varying.of(self.memory).numbers
        found = {"there": self._at is state, "records": records, "outside": self.snapshot_outside()}
        return found if self.sampling is None else found | {"outputs": self.sampling.snapshot()}

    def restore(self, saved: Mapping[str, Any], state: State, origin: float) -> None:
        """Resume from a checkpoint at a state, on a grid that begins at `origin`; ValueError if it does not fit."""
        self.put_controllers(state)
        self._begin_at(state, origin)
        records = InternalStates(self._varying.fields, np.asarray(saved["records"], dtype=float))
        self._varying.put(self.memory, records)
        if saved["outside"] is not None:
            self.restore_outside(saved["outside"])
            self._varying.put(self.memory, records)  # what resumes outside may use them
        if self.sampling is not None:
            self.sampling.restore(saved["outputs"])
        self._at = state if saved["there"] else None

    def snapshot_outside(self) -> dict[str, Any] | None:
        """Data that Python has kept for the next step, for a checkpoint; None if nothing."""
        return None

    def restore_outside(self, saved: Mapping[str, Any]) -> None:
        """Resume with these data."""

    @functools.cached_property
    def _varying(self) -> Numbers:
        return varying(self.layout, self.memory)

    @functools.cached_property
    def _address(self) -> int:
        """Address of the record that `run` takes."""
        return self.memory.address(self.root)
