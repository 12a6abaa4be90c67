"""One run of the compiled loops: its memory, the columns it records, and its state in the terms of the model."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.model.state import State
from nonsmooth.native import entries
from nonsmooth.native import table as n
from nonsmooth.native.held import check_counts, room_for, taken, words
from nonsmooth.native.layout import Layout, aligned

__all__ = ["Columns", "Scheme", "Session"]

#: bytes of a table up to which its memory is made at once
POPULATED = 2**25


@dataclass(frozen=True)
class Scheme:
    """What a loop is told besides the mechanism: which scheme, and its numbers by name.

    `options` maps ``table.O_...`` to numbers: theta, longest step, tolerances of contact detection.
    """

    kind: int
    options: Mapping[int, float] = field(default_factory=dict)
    projected: bool = False


class Columns:
    """Recorded rows, gaps and energies of each, what rows with impacts hold besides, and the table of impacts."""

    def __init__(self, layout: Layout, capacity: int, impacts: int) -> None:
        self.layout = layout
        self.rows = _room(capacity, int(layout.table[n.ROW_WIDTH]))
        self.gaps, self.rates, self.rates_left = (np.empty((capacity, layout.nc)) for _ in range(3))
        self.energies = np.empty((capacity, 7))
        self.struck = np.empty((impacts, int(layout.table[n.STRUCK_WIDTH])))
        self.impacts = np.empty((impacts + layout.nc, 6))
        self.table = np.zeros(n.N_REC, dtype=np.int64)
        self._register()

    def _register(self) -> None:
        for where, array in (
            (n.REC_ROWS, self.rows), (n.REC_GAP, self.gaps), (n.REC_RATE, self.rates),
            (n.REC_RATE_LEFT, self.rates_left), (n.REC_ENERGY, self.energies), (n.REC_STRUCK, self.struck),
            (n.REC_IMPACTS, self.impacts),
        ):  # fmt: skip
            self.table[where] = array.ctypes.data
        self.table[n.REC_CAPACITY], self.table[n.REC_IMPACT_CAPACITY] = len(self.rows), len(self.impacts)
        self.table[n.REC_STRUCK_CAPACITY] = len(self.struck)

    def part(self, name: str, count: int) -> Array:
        """A part of so many rows, as a view."""
        first, size = self.layout.parts[name]
        return self.rows[:count, first : first + size]

    def modes(self, count: int) -> NDArray[np.int8]:
        """Contact modes of so many rows."""
        packed = np.ascontiguousarray(self.part("mode", count)).view(np.int8)
        return packed.reshape(count, -1)[:, : self.layout.nc]

    def hit(self, name: str) -> Array:
        """The same of the rows with impacts; their numbers are in `hit_rows`."""
        first, size = self.layout.parts[name]
        return self.struck[: self.table[n.REC_STRUCK_COUNT], first : first + size]

    @property
    def hit_rows(self) -> NDArray[np.int64]:
        """Numbers of the rows with impacts."""
        return self.struck[: self.table[n.REC_STRUCK_COUNT], 0].astype(np.int64)

    def make_room(self, rows: int, impacts: int, struck: int) -> None:
        """Tables, empty as yet, of so many rows."""
        layout = self.layout
        self.rows = _room(rows, int(layout.table[n.ROW_WIDTH]))
        self.gaps, self.rates, self.rates_left = (np.empty((rows, layout.nc)) for _ in range(3))
        self.energies = np.empty((rows, 7))
        self.struck, self.impacts = np.empty((struck, self.struck.shape[1])), np.empty((impacts, 6))
        self._register()

    def grow(self, rows: int) -> None:
        """Twice the room for rows, of which so many are in use, and for impacts, where the next step has none."""
        names = ["rows", "gaps", "rates", "rates_left", "energies"] if rows >= len(self.rows) else []
        if self.table[n.REC_IMPACT_COUNT] + self.layout.nc > len(self.impacts):
            names.append("impacts")
        if self.table[n.REC_STRUCK_COUNT] >= len(self.struck):
            names.append("struck")
        larger = {name: np.concatenate([getattr(self, name), np.empty_like(getattr(self, name))]) for name in names}
        try:  # where memory or patience ends, compiled code must not be left with arrays that are gone
            for name, array in larger.items():
                setattr(self, name, array)
        finally:
            self._register()


def _room(rows: int, width: int) -> Array:
    """Memory of a table; the system makes its pages at once where that is little, instead of one by one later."""
    size = 8 * rows * width
    if not (hasattr(mmap, "MAP_POPULATE") and 0 < size <= POPULATED):
        return np.empty((rows, width))
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
    return np.frombuffer(mmap.mmap(-1, size, flags=flags)).reshape(rows, width)


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
        self.layout, self.kind = layout, scheme.kind
        self.table = layout.table.copy()
        self.table[n.SCHEME], self.table[n.PROJECTED], self.table[n.RECORD] = scheme.kind, scheme.projected, record
        self.table[n.OBSERVE] = record > 1
        self.table[n.AHEAD] &= not scheme.projected
        solve = "solve" if layout.paired else "solve-single"
        entries.ready(SCHEMES[scheme.kind], solve)
        self.units = entries.unit(solve), entries.unit(SCHEMES[scheme.kind]), entries.unit("finish")
        self.table[[n.SOLVE, n.STEP, n.FINISH]] = [unit.address for unit in self.units]
        if scheme.kind in STARTS:
            self.table[n.START] = entries.address(STARTS[scheme.kind], "ii")
        self.memory = aligned(layout.template)
        layout.fill(self.memory, values, scheme.options)
        layout.gap_field(self.memory, n.LEFT_AT)[:] = -np.inf
        self.columns = Columns(layout, capacity + 2, 100)
        self.A, self.f, self.rec = (array.ctypes.data for array in (self.table, self.memory, self.columns.table))
        self.seen = self.seen_struck = 0

    def start(self, state: State, impact: Callable[[], None]) -> None:
        """Begin at a state: its motion, what it remembers of an earlier run, and row 0.

        `impact` is called to take over the impact of a start whose contacts approach, where that is not certified here.
        """
        memory = state.stepper_memory
        entries.prepare(self.A, self.f)
        self.place(state)
        entries.at_state(self.A, self.f)
        entries.contact_sizes(self.A, self.f)
        self._recall(memory)
        if self.kind != n.MOREAU_JEAN:  # alone in having impulses of joints at the start of a step
            self.layout.row_field(self.memory, n.P_A)[:] = 0.0
        latched = set(LATCHED.values()) <= set(memory)
        if self.kind == n.LANDING and not latched and entries.landing_start(self.A, self.f) == n.UNCERTAIN:
            impact()
        if self.kind == n.MIDPOINT and not set(LEFT.values()) <= set(memory):
            entries.midpoint_start(self.A, self.f)
        entries.first_row(self.A, self.f, self.rec)
        t = float(state.t)
        entries.run(self.A, self.f, self.rec, t, 1.0, t, 0)  # compiled before the clock runs
        entries.observe_rows(self.A, self.f, self.rec, 0, 0, 0)

    def start_bare(self, state: State) -> None:
        """A state as row 0, and nothing more."""
        entries.prepare(self.A, self.f)
        self.place(state)
        entries.first_row(self.A, self.f, self.rec)

    @property
    def time(self) -> float:
        """[s]"""
        return float(self.layout.header(self.memory, n.TIME, 2)[1])

    def place(self, state: State) -> None:
        """Put the motion of a state into the memory."""
        layout = self.layout
        layout.header(self.memory, n.TIME, 2)[:] = state.t
        layout.body_field(self.memory, n.Q)[:] = state.q.reshape(-1, 3)
        layout.body_field(self.memory, n.V)[:] = state.v.reshape(-1, 3)

    def state(self) -> State:
        """The motion, and what the next step remembers."""
        layout, memory = self.layout, self.memory
        remembered = {name: np.concatenate(fields) for name, fields in self._remembered().items()}
        t = float(layout.header(memory, n.TIME, 2)[1])
        q, v = (layout.body_field(memory, where).flatten() for where in (n.Q, n.V))
        return State(t, q, v, stepper_memory=remembered)

    def _recall(self, memory: Mapping[str, Array]) -> None:
        """Take over what a state remembers, as far as it is of this mechanism's size."""
        found = {}
        for name, fields in self._remembered().items():
            ends = np.cumsum([field.size for field in fields])
            if name in memory and np.shape(memory[name]) == (ends[-1],):
                found[name] = zip(fields, np.split(memory[name], ends[:-1]), strict=True)
        for parts in found.values():
            for place, values in parts:
                place[:] = values

    def _remembered(self) -> dict[str, list[Array]]:
        """What the next step needs, under its name in a state's memory: the fields that it consists of, as views."""
        gaps, rows, memory = self.layout.gap_field, self.layout.row_parts, self.memory
        names = REMEMBERED | LATCHED if self.kind in (n.GAUSS, n.LANDING) else REMEMBERED
        found = {name: [gaps(memory, where)] for where, name in names.items()}
        found["last_dt"] = [self.layout.header(memory, n.LAST_DT, 1)]
        if self.kind == n.MIDPOINT:
            return found | {name: rows(memory, where) for where, name in LEFT.items()}
        if self.kind == n.MOREAU_JEAN and not self.layout.ng:
            found["v_gained"] = list(self.layout.body_field(memory, n.GAINED).T)
        own = ((n.P_A, "P_g_start"), (n.P_B, "P_g_end"), (n.LEFT_OPEN, "g_rate"))
        found |= {name: rows(memory, where) for where, name in own}
        history = [gaps(memory, where + k) for where in (n.HISTORY_N, n.HISTORY_T) for k in range(3)]
        history += [part for k in range(4) for part in rows(memory, n.HISTORY_J + k)]
        return found | {"landing_history" if self.kind == n.LANDING else "P_history": history}

    def advance(self, origin: float, dt: float, t_end: float, steps: int) -> int:
        """Run up to so many steps on the grid; DONE, FULL or UNCERTAIN as in `table`."""
        return int(entries.run(self.A, self.f, self.rec, float(origin), float(dt), float(t_end), steps))

    def finish(self) -> None:
        """Write what is left of a row, and look at the rows that were not looked at."""
        if self.counter(n.K_SINCE):
            if self.counter(n.K_ROWS) >= self.columns.table[n.REC_CAPACITY]:
                self.columns.grow(self.counter(n.K_ROWS))
            entries.last_row(self.A, self.f, self.rec)
        self.look()

    def held(self) -> dict[str, Any]:
        """For a checkpoint: records of the memory, as integers, and the tables so far."""
        columns, rows = self.columns, self.counter(n.K_ROWS)
        impacts, struck = (int(columns.table[where]) for where in (n.REC_IMPACT_COUNT, n.REC_STRUCK_COUNT))
        seen = rows if self.table[n.RECORD] > 1 else self.seen
        return {
            "memory": self.memory.view(np.int64)[words(self.layout)], "rows": columns.rows[:rows],
            "seen": [self.seen, self.seen_struck], "gaps": columns.gaps[:seen], "rates": columns.rates[:seen],
            "rates_left": columns.rates_left[:seen], "energies": columns.energies[:seen],
            "impacts": columns.impacts[:impacts], "struck": columns.struck[:struck],
            "room": [len(columns.rows), len(columns.impacts), len(columns.struck)],
        }  # fmt: skip

    def hold(self, held: Mapping[str, Any]) -> None:
        """Go on from a checkpoint; ValueError where it is none of such a run."""
        entries.prepare(self.A, self.f)
        columns, places, nc, record = self.columns, words(self.layout), self.layout.nc, int(self.table[n.RECORD])
        memory = taken(held["memory"], (places.size,), np.int64)
        width, struck_width = (int(self.table[where]) for where in (n.ROW_WIDTH, n.STRUCK_WIDTH))
        rows, impacts = taken(held["rows"], (None, width)), taken(held["impacts"], (None, 6))
        struck, (seen, seen_struck) = taken(held["struck"], (None, struck_width)), map(int, held["seen"])
        whole = np.zeros(self.layout.size, dtype=np.int64)
        whole[places] = memory
        counts = {name: int(whole[n.COUNTERS + k]) for name, k in _COUNTED.items()}
        check_counts(counts, int(whole[n.PARITY]), record, len(rows))
        looked = len(rows) if record > 1 else seen
        if not (0 <= seen <= len(rows) and 0 <= seen_struck <= len(struck)):
            raise ValueError("more rows were looked at than there are")
        if not np.all(np.isin(impacts[:, 1], np.arange(nc))) or not np.all(np.isin(struck[:, 0], np.arange(len(rows)))):
            raise ValueError("its impacts are those of other contacts or rows")
        views = [taken(held[name], (looked, nc)) for name in ("gaps", "rates", "rates_left")]
        energies = taken(held["energies"], (looked, 7))
        columns.make_room(*room_for(held["room"], (len(rows), len(impacts), len(struck))))
        tables = columns.rows, columns.impacts, columns.struck, columns.gaps, columns.rates, columns.rates_left
        for table, known in zip((*tables, columns.energies), (rows, impacts, struck, *views, energies), strict=True):
            table[: len(known)] = known
        columns.table[[n.REC_IMPACT_COUNT, n.REC_STRUCK_COUNT]] = len(impacts), len(struck)
        self.memory.view(np.int64)[places] = memory
        self.seen, self.seen_struck = seen, seen_struck

    def accept(
        self, state: State, left: Array, gaps: Mapping[int, Array], mode: NDArray[np.int8],
        joints: Mapping[int, Array], scalars: Sequence[float], *, hit: bool, start: bool = False,
    ) -> None:  # fmt: skip
        """Take over a step that somebody else made: its end, and what it leaves for its row.

        That is velocities before its impact, fields of gaps, modes, fields of joints, and its first scalars. At the
        start, whose row is yet to come, it is no step but an impact.
        """
        layout, memory = self.layout, self.memory
        self.place(state)
        layout.header(memory, n.HIT, 1).view(np.int64)[0] = hit
        layout.header(memory, n.SCALARS, len(scalars))[:] = scalars
        layout.header(memory, n.LAST_DT, 1)[:] = scalars[n.DT]
        layout.body_field(memory, n.S_LEFT)[:] = left.reshape(-1, 3)
        layout.gap_field(memory, n.S_MODE).view(np.int64)[:] = mode
        for where, values in gaps.items():
            layout.gap_field(memory, where)[:] = values
        for where, values in joints.items():
            layout.joint_field(memory, where)[:] = values.reshape(-1, 3)
        for where in (n.P_A, n.P_B):
            layout.row_field(memory, where)[:] = 0.0
        if self.kind in OWN:
            self._recall({name: state.stepper_memory[name] for name in OWN[self.kind]})
        if not start:
            self.columns.grow(self.counter(n.K_ROWS))
            self.units[2](self.A, self.f, self.rec)

    def press(self, P_N: Array, P_T: Array) -> None:
        """Impulses of gaps, from which the next step begins."""
        fields = [(n.P_N, P_N), (n.P_T, P_T)]
        if self.kind == n.GAUSS or (self.kind == n.MOREAU_JEAN and not self.layout.ng):
            fields += [(n.HISTORY_N, P_N), (n.STEADY, np.zeros_like(P_N))]
        for where, values in fields:
            self.layout.gap_field(self.memory, where)[:] = values

    def look(self) -> None:
        """Gaps and energies of new rows, where each step has one."""
        rows = self.counter(n.K_ROWS)
        if self.table[n.RECORD] == 1 and self.seen < rows:
            self.seen_struck = entries.observe_rows(self.A, self.f, self.rec, self.seen, rows, self.seen_struck)
        self.seen = rows

    def counter(self, which: int) -> int:
        """A count of the run, ``table.K_...``."""
        return int(self.layout.header(self.memory, n.COUNTERS + which, 1).view(np.int64)[0])

    def worst(self) -> Array:
        """The worst of all steps so far: gap, joint, complementarity, residual."""
        return self.layout.header(self.memory, n.WORST, n.N_WORST).copy()


_COUNTED = {"steps": n.K_STEPS, "rows": n.K_ROWS, "since": n.K_SINCE}

#: units of `loops` by scheme
SCHEMES = {
    n.GAUSS: "gauss",
    n.MOREAU_JEAN: "moreau-jean",
    n.LANDING: "landing",
    n.MIDPOINT: "moreau-jean-midpoint",
}
#: and entries, where they begin with something of their own
STARTS = {n.LANDING: "landing_start", n.MIDPOINT: "midpoint_start"}

#: fields of gaps that the next step needs, under their names in a state's memory
REMEMBERED = {n.P_N: "P_N", n.P_T: "P_T", n.Y_SCALE: "y_scale"}
#: those that Gauss' schemes need besides
LATCHED = {n.CLOSED: "closed", n.LEFT_AT: "left_at"}
#: of joints in the middle of a step, as in `nonsmooth.steppers.moreau_jean`
LEFT = {n.RATE_LEFT: "g_rates", n.BEND_LEFT: "g_bends"}
#: what a scheme remembers of a step that its Python twin made, besides the motion
OWN = {n.MIDPOINT: tuple(LEFT.values())}
