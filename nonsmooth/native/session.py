"""One run of the compiled loops: its memory, the columns it records, and its state in the terms of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.model.state import State
from nonsmooth.native import loops as n
from nonsmooth.native.layout import Layout

__all__ = ["Columns", "Scheme", "Session"]


@dataclass(frozen=True)
class Scheme:
    """What a loop is told besides the mechanism: which scheme, and its numbers by name.

    `options` maps ``loops.O_...`` to numbers: theta, longest step, tolerances of contact detection.
    """

    kind: int
    options: Mapping[int, float] = field(default_factory=dict)
    projected: bool = False


class Columns:
    """Recorded rows: one table of the memory of each, gaps, energies, and the table of impacts."""

    def __init__(self, layout: Layout, capacity: int, impacts: int) -> None:
        self.layout = layout
        self.rows = np.empty((capacity, int(layout.table[n.ROW_WIDTH])))
        self.gaps, self.rates, self.rates_left = (np.empty((capacity, layout.nc)) for _ in range(3))
        self.energies = np.empty((capacity, 7))
        self.impacts = np.empty((impacts, 6))
        self.table = np.zeros(n.N_REC, dtype=np.int64)
        self._register()

    def _register(self) -> None:
        for where, array in (
            (n.REC_ROWS, self.rows), (n.REC_GAP, self.gaps), (n.REC_RATE, self.rates),
            (n.REC_RATE_LEFT, self.rates_left), (n.REC_ENERGY, self.energies), (n.REC_IMPACTS, self.impacts),
        ):  # fmt: skip
            self.table[where] = array.ctypes.data
        self.table[n.REC_CAPACITY], self.table[n.REC_IMPACT_CAPACITY] = len(self.rows), len(self.impacts)

    def part(self, where: int, count: int) -> Array:
        """What stood at `where` in the memory, in all rows, as a view."""
        first = int(self.layout.table[where] - self.layout.table[n.TIME]) // 8
        return self.rows[:, first : first + count]

    def motion(self, where: int) -> Array:
        """Coordinates or velocities of the bodies in all rows."""
        return self.part(where, 3 * len(self.layout.bodies) + 3)[:, 3:]

    def grow(self, rows: int) -> None:
        """Twice the room for rows, of which so many are in use, and for impacts, where the next step has none."""
        names = ["rows", "gaps", "rates", "rates_left", "energies"] if rows >= len(self.rows) else []
        if self.table[n.REC_IMPACT_COUNT] + self.layout.nc > len(self.impacts):
            names.append("impacts")
        for name in names:
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.empty_like(array)]))
        self._register()


class Session:
    """The memory of one run of a mechanism with given parameters.

    Parameters
    ----------
    layout : of the mechanism
    values : parameters in the order that the layout was given
    scheme
    record : rows are kept every so many steps
    capacity : rows to make room for at first
    """

    def __init__(self, layout: Layout, values: Array, scheme: Scheme, *, record: int = 1, capacity: int = 1000) -> None:
        self.layout = layout
        self.table = layout.table.copy()
        self.table[n.SCHEME], self.table[n.PROJECTED], self.table[n.RECORD] = scheme.kind, scheme.projected, record
        self.table[n.OBSERVE] = record > 1
        self.units = n.unit("solve"), n.unit(SCHEMES[scheme.kind]), n.unit("finish")
        self.table[[n.SOLVE, n.STEP, n.FINISH]] = [unit.address for unit in self.units]
        self.memory = np.zeros(layout.size)
        layout.fill(self.memory, values, scheme.options)
        self.columns = Columns(layout, capacity + 2, (100 if record > 1 else 1) + layout.nc)
        self.A, self.f, self.rec = (array.ctypes.data for array in (self.table, self.memory, self.columns.table))
        self.seen = 0

    def start(self, state: State) -> None:
        """Begin at a state: its motion, what it remembers of an earlier run, and row 0."""
        layout, memory = self.layout, state.stepper_memory
        n.prepare(self.A, self.f)
        self.place(state)
        layout.block(self.memory, n.LEFT_AT, layout.nc)[:] = -np.inf
        n.at_state(self.A, self.f)
        n.contact_sizes(self.A, self.f)
        for where, name in REMEMBERED.items():
            target = layout.block(self.memory, where, layout.ng if where in (n.P_A, n.P_B) else layout.nc)
            if name in memory and np.shape(memory[name]) == target.shape:
                target[:] = memory[name]
        layout.motion(self.memory, n.S_LEFT)[:] = state.v
        n.first_row(self.A, self.f, self.rec)
        n.run(self.A, self.f, self.rec, state.t, 1.0, state.t, 0)  # compiled before the clock runs
        n.observe_rows(self.A, self.f, self.rec, 0, 0)

    def place(self, state: State) -> None:
        """Put the motion of a state into the memory."""
        layout = self.layout
        layout.block(self.memory, n.TIME, 2)[:] = state.t
        layout.motion(self.memory, n.Q)[:] = state.q
        layout.motion(self.memory, n.V)[:] = state.v

    def state(self) -> State:
        """The motion, and what the next step remembers."""
        layout, memory = self.layout, self.memory
        remembered = {
            name: layout.block(memory, where, layout.ng if where in (n.P_A, n.P_B) else layout.nc).copy()
            for where, name in REMEMBERED.items()
        }
        t = float(layout.block(memory, n.TIME, 2)[1])
        q, v = (layout.motion(memory, where).copy() for where in (n.Q, n.V))
        return State(t, q, v, stepper_memory=remembered)

    def advance(self, origin: float, dt: float, t_end: float, steps: int) -> int:
        """Run up to so many steps on the grid; DONE, FULL or UNCERTAIN as in `loops`."""
        return int(n.run(self.A, self.f, self.rec, float(origin), float(dt), float(t_end), steps))

    def finish(self) -> None:
        """Write what is left of a row, and look at the rows that were not looked at."""
        if self.counter(n.K_SINCE):
            if self.counter(n.K_ROWS) >= self.columns.table[n.REC_CAPACITY]:
                self.columns.grow(self.counter(n.K_ROWS))
            n.last_row(self.A, self.f, self.rec)
        self.look()

    def accept(self, state: State, parts: Mapping[int, Array]) -> None:
        """Take over a step that somebody else made: its end, and by offset what it leaves for its row."""
        layout = self.layout
        self.place(state)
        for where, values in parts.items():
            start = int(layout.table[where]) // 8
            self.memory[start : start + values.size] = values
        if self.counter(n.K_ROWS) >= self.columns.table[n.REC_CAPACITY]:
            self.columns.grow(self.counter(n.K_ROWS))
        self.units[2].ctypes(self.A, self.f, self.rec)

    def look(self) -> None:
        """Gaps and energies of new rows, where each step has one."""
        rows = self.counter(n.K_ROWS)
        if self.table[n.RECORD] == 1 and self.seen < rows:
            n.observe_rows(self.A, self.f, self.rec, self.seen, rows)
        self.seen = rows

    def counter(self, which: int) -> int:
        """A count of the run, ``loops.K_...``."""
        return int(self.layout.integers(self.memory, n.COUNTERS, n.N_COUNTERS)[which])

    def worst(self) -> Array:
        """The worst of all steps so far: gap, joint, complementarity, residual."""
        return self.layout.block(self.memory, n.WORST, n.N_WORST).copy()


#: units of `loops` by scheme
SCHEMES = {n.GAUSS: "gauss", n.MOREAU_JEAN: "moreau-jean"}

#: arrays that the next step needs, under their names in a state's memory
REMEMBERED = {
    n.P_N: "P_N", n.P_T: "P_T", n.Y_SCALE: "y_scale", n.CLOSED: "closed", n.LEFT_AT: "left_at",
    n.P_A: "P_g_start", n.P_B: "P_g_end",
}  # fmt: skip
