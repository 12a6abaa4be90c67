"""One run of the compiled loop of compliant contact: its memory, its rows, and its state in the model's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.model.state import State
from nonsmooth.native import compliant_table as c
from nonsmooth.native import entries
from nonsmooth.native import table as n
from nonsmooth.native.compliant_layout import CompliantLayout
from nonsmooth.native.held import check_counts, taken, words
from nonsmooth.native.layout import aligned
from nonsmooth.native.session import _room

__all__ = ["CompliantColumns", "CompliantSession", "Integration"]

#: arrays like y of which the next row is made
ARRAYS = (
    c.I_Y, c.I_OLD, c.I_ORIGIN, c.I_TRIAL, c.I_AT, c.I_STATE, c.I_INTEGRALS, c.I_GAINED, c.I_SUMS,
)  # fmt: skip
#: running numbers that are no settings
RUNNING = (
    c.R_T, c.R_T_OLD, c.R_LENGTH, c.R_FIRST, c.R_BITS, c.R_ROW_T, c.R_IMPULSE, c.R_STORED, c.R_PIECE, c.R_END,
    c.R_EVENT, c.R_EVENT_GAP, c.R_ROW, c.R_ROWS, c.R_RESTART, c.R_EVALUATIONS,
)  # fmt: skip


@dataclass(frozen=True)
class Integration:
    """What the loop is told besides the mechanism.

    Parameters
    ----------
    atol : (q, v, bristles) absolute tolerances, as the integrator holds them
    rtol : [-], likewise
    longest : [s], of a step
    tolerance : [m, rad] of coordinates; joints further off start the integrator anew
    touched : share of a gap's size that counts as touching
    feedback : Baumgarte's (alpha, beta) [1/s], or None for projection
    options : further numbers by ``table.O_...``
    """

    atol: Array
    rtol: float
    longest: float
    tolerance: float
    touched: float
    feedback: tuple[float, float] | None
    options: Mapping[int, float]


class CompliantColumns:
    """Recorded rows."""

    def __init__(self, layout: CompliantLayout, capacity: int) -> None:
        self.layout = layout
        self.rows = _room(capacity, int(layout.table[n.ROW_WIDTH]))
        self.table = np.zeros(n.N_REC, dtype=np.int64)
        self._register()

    def _register(self) -> None:
        self.table[n.REC_ROWS], self.table[n.REC_CAPACITY] = self.rows.ctypes.data, len(self.rows)

    def part(self, name: str, count: int) -> Array:
        """A part of so many rows, as a view."""
        first, size = self.layout.parts[name]
        return self.rows[:count, first : first + size]

    def modes(self, count: int) -> NDArray[np.int8]:
        """Contact modes of so many rows."""
        packed = np.ascontiguousarray(self.part("mode", count)).view(np.int8)
        return packed.reshape(count, -1)[:, : self.layout.nc]

    def grow(self) -> None:
        """Twice the room."""
        larger = np.concatenate([self.rows, np.empty_like(self.rows)])
        try:  # compiled code must not be left with an array that is gone
            self.rows = larger
        finally:
            self._register()


class CompliantSession:
    """The memory of one run of a mechanism with given parameters.

    Parameters
    ----------
    layout : of the mechanism
    values : parameters in order, and behind them the constants of the laws
    integration
    record : rows are kept every so many
    capacity : rows to make room for at first
    """

    def __init__(
        self, layout: CompliantLayout, values: Array, integration: Integration, *, record: int = 1,
        capacity: int = 1000,
    ) -> None:  # fmt: skip
        self.layout, self.table = layout, layout.table.copy()
        self.table[n.RECORD] = record
        entries.ready_compliant()
        self.table[c.I_RATES] = entries.unit("compliant-rates").address
        self.memory = aligned(layout.template)
        layout.fill(self.memory, values, integration.options)
        self.columns = CompliantColumns(layout, capacity + 2)
        self.A, self.f, self.rec = (array.ctypes.data for array in (self.table, self.memory, self.columns.table))
        running = int(self.table[c.I_RUNNING]) // 8
        self.numbers = self.memory[running : running + c.N_RUNNING]
        self.integers = self.numbers.view(np.int64)
        self.extremes = layout.array(self.memory, c.I_EXTREMES, 0, 8 * c.EXTREMES * layout.nc).reshape(-1, 3, 2)
        self._tell(integration)

    def _tell(self, integration: Integration) -> None:
        self.layout.array(self.memory, c.I_ATOL, 0, 8 * integration.atol.size)[:] = integration.atol
        feedback = integration.feedback or (0.0, 0.0)
        for where, value in (
            (c.R_RTOL, integration.rtol), (c.R_LONGEST, integration.longest), (c.R_TOLERANCE, integration.tolerance),
            (c.R_TOUCHED, integration.touched), (c.R_ALPHA, feedback[0]), (c.R_BETA, feedback[1]),
        ):  # fmt: skip
            self.numbers[where] = value
        self.integers[c.R_FEEDBACK] = integration.feedback is not None
        self.integers[c.R_PROJECTED] = integration.feedback is None and self.layout.ng > 0
        self.forget_extremes()

    # ---------------------------------------------------------------------------------------------------------- start

    def start(self, state: State) -> None:
        """Begin at a state: its motion, what its contacts and the scheme remember, and row 0."""
        entries.compliant_run(self.A, self.f, self.rec, -np.inf, 0)  # compiled before the clock runs
        self.start_bare(state)
        hint = state.stepper_memory.get("dt")
        self.numbers[c.R_FIRST] = 0.0 if hint is None else float(hint[0])

    def start_bare(self, state: State) -> None:
        """A state as row 0, with what its contacts remember, and nothing more."""
        entries.prepare(self.A, self.f)
        self.place(state)
        entries.compliant_look(self.A, self.f)
        self._remember(state)
        entries.compliant_keep(self.A, self.f, self.rec, 1)

    def place(self, state: State) -> None:
        """Put the motion of a state, and its bristles, into the memory."""
        self.numbers[c.R_ROW_T] = state.t
        motion = self.layout.array(self.memory, c.I_STATE, 0, self._place(c.I_NORMAL))
        bristles = state.law_memory.get("bristles", np.zeros(motion.size - state.q.size - state.v.size))
        motion[:] = np.concatenate([state.q, state.v, bristles])

    def _place(self, which: int) -> int:
        """Where a part of y stands, in bytes."""
        return int(self.table[which])

    def _field(self, which: int) -> Array:
        return self.layout.gap_field(self.memory, which)

    def _remember(self, state: State) -> None:
        """Which contacts touch, their speeds of approach, stored energy and the scale of impulses."""
        remembered = state.law_memory
        if "touching" in remembered:
            self._touch(remembered)
        else:
            touching = self._field(n.TRUE) <= self.numbers[c.R_TOUCHED] * self._field(n.SCALE)
            rates = self._field(c.OPENING)
            self._field(c.TOUCHES)[:] = touching
            self._field(c.APPROACH)[:] = np.where(touching, np.maximum(-rates, 0.0), 0.0)
        scale = state.stepper_memory.get("impulse_scale")
        self.numbers[c.R_IMPULSE] = self._impulse_scale(state.v) if scale is None else float(scale[0])

    def _touch(self, remembered: Mapping[str, Array]) -> None:
        self._field(c.TOUCHES)[:] = np.asarray(remembered["touching"]) > 0.5
        self._field(c.APPROACH)[:] = remembered["approach"]
        self.numbers[c.R_STORED] = float(np.sum(remembered.get("stored", 0.0)))

    def _impulse_scale(self, v: Array) -> float:
        """A typical impulse [N s], as in `steppers.compliant`."""
        mass, force = (self.layout.body_field(self.memory, where).ravel() for where in (n.MASS, n.FORCE))
        kick = self.numbers[c.R_LONGEST] * np.sqrt(force @ (force / mass))
        return float(np.sqrt(np.mean(mass)) * (np.sqrt(v @ (mass * v)) + kick)) or 1.0

    # ------------------------------------------------------------------------------------------------------------ run

    def advance(self, t_end: float, rows: int) -> int:
        """Up to so many rows; DONE, FULL or UNCERTAIN as in `table`."""
        return int(entries.compliant_run(self.A, self.f, self.rec, float(t_end), rows))

    def accept(self, state: State, gained: Array, scalars: tuple[float, float, float]) -> None:
        """Take over a row that somebody else made: its end, what integrals have gained, and its numbers.

        These are its residual, its complementarity, and the length of the integrator's step.
        """
        if self.counter(n.K_ROWS) >= len(self.columns.rows):
            self.columns.grow()
        self.place(state)
        self._field(c.TOUCHES)[:] = np.asarray(state.law_memory["touching"]) > 0.5
        self._field(c.APPROACH)[:] = state.law_memory["approach"]
        self.layout.array(self.memory, c.I_GAINED, self._place(c.I_NORMAL))[:] = gained
        self.memory[n.SCALARS + n.RESIDUAL], self.memory[n.SCALARS + n.COMPLEMENTARITY] = scalars[:2]
        self.numbers[c.R_PIECE] = scalars[2]
        entries.compliant_keep(self.A, self.f, self.rec, 0)

    def held(self) -> dict[str, Any]:
        """For a checkpoint: records of the memory, as integers, the integrator's numbers, and the rows so far."""
        return {
            "memory": self.memory.view(np.int64)[words(self.layout)],
            "numbers": self.memory.view(np.int64)[self._integrator()],
            "rows": self.columns.rows[: self.counter(n.K_ROWS)],
        }  # fmt: skip

    def _integrator(self) -> NDArray[np.intp]:
        """Which words hold the integrator's arrays and running numbers; tolerances and settings are not among them."""
        table, width, nc = self.table, int(self.table[c.I_WIDTH]), self.layout.nc
        running = int(table[c.I_RUNNING]) // 8
        spans = [(where, width) for where in ARRAYS]
        spans += [(c.I_STAGES, c.ALL_STAGES * width), (c.I_DENSE, c.POWERS * width)]
        spans += [(c.I_SEEN, 4 * nc), (c.I_EXTREMES, c.EXTREMES * nc)]
        parts = [np.arange(size) + int(table[where]) // 8 for where, size in spans]
        return np.concatenate([*parts, running + np.array(RUNNING)])

    def hold(self, held: Mapping[str, Any]) -> None:
        """Go on from a checkpoint; ValueError where it is none of such a run."""
        entries.prepare(self.A, self.f)
        places, own = words(self.layout), self._integrator()
        memory, numbers = (taken(held[name], (found.size,), np.int64)
                           for name, found in (("memory", places), ("numbers", own)))  # fmt: skip
        rows = taken(held["rows"], (None, int(self.table[n.ROW_WIDTH])))
        whole = np.zeros(self.layout.size, dtype=np.int64)
        whole[places], whole[own] = memory, numbers
        counts = {"steps": int(whole[n.COUNTERS + n.K_STEPS]), "rows": int(whole[n.COUNTERS + n.K_ROWS]),
                  "since": int(whole[n.COUNTERS + n.K_SINCE])}  # fmt: skip
        check_counts(counts, int(whole[n.PARITY]), int(self.table[n.RECORD]), len(rows))
        running = whole[int(self.table[c.I_RUNNING]) // 8 :]
        event, row, last = (int(running[k]) for k in (c.R_EVENT_GAP, c.R_ROW, c.R_ROWS))
        if not (-1 <= event < self.layout.nc and 0 <= row <= last + 1 and last <= int(self.table[c.I_SAMPLES])):
            raise ValueError("its event or its next row is not within the piece")
        while len(self.columns.rows) < len(rows) + 2:
            self.columns.grow()
        self.columns.rows[: len(rows)] = rows
        self.memory.view(np.int64)[places], self.memory.view(np.int64)[own] = memory, numbers

    def finish(self) -> None:
        """Write what is left of a row."""
        if self.counter(n.K_SINCE):
            if self.counter(n.K_ROWS) >= len(self.columns.rows):
                self.columns.grow()
            entries.compliant_last(self.A, self.f, self.rec)

    def state(self) -> State:
        """The motion at the last row, what contacts remember, and what the next step does."""
        y, nv = self.layout.array(self.memory, c.I_STATE), 3 * len(self.layout.bodies)
        bristles = y[2 * nv : self._place(c.I_NORMAL) // 8]
        laws = {
            "touching": self._field(c.TOUCHES).copy(), "approach": self._field(c.APPROACH).copy(),
            "bristles": bristles.copy(), "stored": self.numbers[[c.R_STORED]],
        }  # fmt: skip
        memory = {"impulse_scale": self.numbers[[c.R_IMPULSE]]}
        if self.numbers[c.R_PIECE] > 0.0:
            memory["dt"] = self.numbers[[c.R_PIECE]]
        return State(self.time, y[:nv].copy(), y[nv : 2 * nv].copy(), laws, memory)

    @property
    def time(self) -> float:
        """Of the last row."""
        return float(self.numbers[c.R_ROW_T])

    @property
    def evaluations(self) -> int:
        """Of the equations of motion by the integrator."""
        return int(self.integers[c.R_EVALUATIONS])

    def counter(self, which: int) -> int:
        """A count of the run, ``table.K_...``."""
        return int(self.layout.header(self.memory, n.COUNTERS + which, 1).view(np.int64)[0])

    def worst(self) -> Array:
        """The worst of all rows so far: gap, joint, complementarity, residual."""
        return self.layout.header(self.memory, n.WORST, n.N_WORST).copy()

    def forget_extremes(self) -> None:
        """Forces, depths and speeds of approach (nc, 3, least and largest) count from now on."""
        self.extremes[:] = np.inf, -np.inf
