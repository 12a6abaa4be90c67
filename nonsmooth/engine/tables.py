"""Rows of compiled steps as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.engine.layout import Layout
from nonsmooth.engine.rows import Rows
from nonsmooth.evaluation import Array
from nonsmooth.records.memory import Memory
from nonsmooth.records.schema import dtype, offset

__all__ = ["Tables"]

#: numbers of a step that compiled steps record; without a `WorkRow` works of loads and of damping are not known, and no
#: energy is stored
KNOWN = ("dt", "residual", "complementarity", "work_drivers", "loss_friction")
UNKNOWN, STORED = ("work_loads", "loss_damping"), ("loss_contact", "stored")

#: bytes of rows, and rows, for which there is room at most behind those that are read
ROOM, MOST = 2**26, 2**14

#: bodies above which motions are written body by body
MANY = 16

#: derived quantities of a row, and those before its impact where velocities jump
VIEWS = ("closure", "potential", "kinetic", "power", "damping")
VIEWS_LEFT = ("kinetic_left", "power_left", "damping_left")


class _Columns:
    """Where the tables of a mechanism stand: of each the schema of its records, and its columns among their numbers."""

    def __init__(self, layout: Layout) -> None:
        self.shape, contacts = layout.shape, layout.contacts
        bodies, reactions = len(layout.bodies), len(layout.whole["reactions"])
        slips = list(range(1, self.shape.dimension)) if self.shape.rows > 1 else []
        wrench = ([0, 1], [0]) if self.shape.dimension == 2 else ([0, 1, 2], [0, 1, 2])
        #: numbers of the records of one row
        self.sizes = {
            schema: each * dtype(schema, self.shape).itemsize // 8
            for schema, each in (
                ("BodyRow", bodies), ("ContactRow", len(contacts)), ("ReactionRow", reactions), ("StepRow", 1),
                ("ContactView", len(contacts)), ("View", 1),
            )
        }  # fmt: skip
        one, joints = np.zeros(1, dtype=np.intp), np.arange(reactions)
        mean, of_impact = (list(zip(pair, wrench, strict=True)) for pair in (("force", "torque"), ("impulse", "twist")))
        #: of each table the schema of its records, and its columns among the numbers of a row
        self.rows = self._found({
            "P_N": ("ContactRow", contacts, [("P", [0])]), "P_T": ("ContactRow", contacts, [("P", slips)]),
            "reaction": ("ReactionRow", joints, mean), **{name: ("StepRow", one, [(name, [0])]) for name in KNOWN},
        })  # fmt: skip
        #: the same of the rows at which velocities jump
        self.jumps = self._found({
            "P_N_impact": ("ContactRow", contacts, [("impact", [0])]),
            "P_T_impact": ("ContactRow", contacts, [("impact", slips)]),
            "gamma_minus": ("ContactRow", contacts, [("before", [0])]),
            "gamma_plus": ("ContactRow", contacts, [("after", [0])]),
            "reaction_impact": ("ReactionRow", joints, of_impact),
            "work_drivers_impact": ("StepRow", one, [("work_drivers_impact", [0])]),
        })  # fmt: skip
        size, self.bodies = dtype("BodyRow", self.shape).itemsize // 8, bodies
        #: of motions of many bodies, which are the same numbers of each of them
        self.spans: dict[str, slice] = {}
        for name, of in (("q", layout.q_places), ("v", layout.v_places), ("v_left", layout.v_places)):
            which, component = np.divmod(of, self.shape.width)
            first, own = offset("BodyRow", self.shape, name) // 8, component.size // bodies
            stands = "BodyRow", which * size + first + component
            if name == "v_left":
                self.jumps[name] = stands
                continue
            self.rows[name] = stands
            if bodies > MANY and np.array_equal(component, np.tile(np.arange(own), bodies)):
                self.spans[name] = slice(first, first + own)
        #: derived quantities of a row, and those before the jump of one
        self.views, self.views_left = (
            self._found(
                {name: ("ContactView", contacts, [(name, [0])]) for name in of_contacts}
                | {name: ("View", one, [(name, [0])]) for name in of_all}
            )
            for of_contacts, of_all in ((("gap", "rate"), VIEWS), (("rate_left",), VIEWS_LEFT))
        )

        #: columns of each table; impulses that records do not have are zero
        self.widths = {name: of.size for name, (_, of) in self.rows.items() if name not in KNOWN}
        #: tangential components of all contacts
        self.tangents = self.widths["P_T"] = (self.shape.dimension - 1) * contacts.size
        #: whether contacts of records are those of the mechanism in turn
        self.in_turn = np.array_equal(contacts, np.arange(contacts.size))
        #: of a row of all tables
        self.bytes = 8 * (sum(self.widths.values()) + len(contacts) + len((*KNOWN, *UNKNOWN, *STORED)) + 1)

    def room(self, count: int) -> dict[str, NDArray[Any]]:
        """Tables for so many rows of steps, with the values of what their records do not have."""
        tables: dict[str, NDArray[Any]] = {
            name: np.empty((count, width)) if self.rows[name][1].size else np.zeros((count, width))
            for name, width in self.widths.items()
        }
        tables |= {name: np.empty(count) for name in ("t", *KNOWN)}
        tables |= {name: np.full(count, np.nan) for name in UNKNOWN} | {name: np.zeros(count) for name in STORED}
        return tables | {"mode": np.empty((count, self.widths["P_N"]), dtype=np.int8)}

    def _found(self, tables: Mapping[str, Any]) -> dict[str, tuple[str, NDArray[np.intp]]]:
        found = {}
        for name, (schema, records, fields) in tables.items():
            size = dtype(schema, self.shape).itemsize // 8
            places = [offset(schema, self.shape, field) // 8 + i for field, of in fields for i in of]
            found[name] = schema, np.add.outer(records * size, np.array(places, dtype=np.intp)).ravel()
        return found


class Tables:
    """Tables of the rows in a memory.

    Parameters
    ----------
    memory
    layout : of the mechanism
    """

    def __init__(self, memory: Memory, layout: Layout) -> None:
        if layout.columns is None:
            layout.columns = _Columns(layout)
        self.memory, self.contacts, self._columns = memory, layout.contacts, layout.columns
        self._room: dict[str, NDArray[Any]] = {}
        self._last = self._room_for = 0
        self._none: dict[str, NDArray[Any]] | None = None  # of rows at none of which velocities jump
        count = len(memory.of["StepRow"])
        #: rows of each schema as numbers (rows, numbers of a row)
        self._numbers: dict[str, Array] = {
            schema: memory.raw[memory.start[schema] :][: 8 * count * size].view(np.float64).reshape(count, size)
            for schema, size in self._columns.sizes.items()
        }

    def read(self, count: int, further: float = 0.0) -> Rows:
        """So many rows, as a `Recorder` keeps them, behind those of the call before; `further` rows may follow."""
        if self._last + count > self._room_for:
            first = 1 - min(self._last, 1)  # the row of the start has its place before those of all steps
            rows_of_room = first + count + int(min(further, ROOM // self._columns.bytes, MOST))
            self._room = self._columns.room(rows_of_room)
            self._room_for, self._last = rows_of_room, first
        rows = Rows(self._room, self._last, self._last + count, self._jumps(count))
        self._last += count
        for name, (schema, of) in self._columns.rows.items():
            if of.size:
                self._numbers[schema][:count].take(of, axis=1, out=rows[name].reshape(count, of.size), mode="clip")
        works = self.memory.of.get("WorkRow")
        if works is not None:
            for name in (*UNKNOWN, *STORED):
                rows[name][:] = works[name][:count]
        mode = self.memory.of["ContactRow"]["mode"][: count * self.contacts.size].reshape(count, self.contacts.size)
        rows["mode"][:] = mode if self._columns.in_turn else mode.take(self.contacts, axis=1)
        rows["t"][:] = self.memory.of["StepRow"]["t"][:count]
        return rows

    def _jumps(self, count: int) -> dict[str, NDArray[Any]]:
        """Tables of the rows at which velocities jump, of so many."""
        row = np.flatnonzero(self.memory.of["StepRow"]["jumps"][:count])
        if not row.size and self._none is not None:
            return self._none
        found: dict[str, NDArray[Any]] = {"row": row}
        for name, (schema, of) in self._columns.jumps.items():
            found[name] = self._numbers[schema][row].take(of, axis=1)
        if not found["P_T_impact"].size:
            found["P_T_impact"] = np.zeros((row.size, self._columns.tangents))
        found["work_drivers_impact"] = found["work_drivers_impact"][:, 0]
        if not row.size:
            self._none = found
        return found

    def motion(self, count: int) -> tuple[Array, Array]:
        """Positions and velocities of so many rows."""
        rows, of = self._numbers["BodyRow"][:count], self._columns.rows
        return rows.take(of["q"][1], axis=1), rows.take(of["v"][1], axis=1)

    def write_motion(self, t: Array, q: Array, v: Array, row: NDArray[np.intp], v_left: Array) -> None:
        """Rows of motion whose derived quantities are to be evaluated, and the velocities before jumps at some."""
        rows, views = self._numbers["BodyRow"][: len(q)], self.memory.of["View"]
        for name, values in (("q", q), ("v", v)):
            span = self._columns.spans.get(name)
            if span is None:
                rows[:, self._columns.rows[name][1]] = values
            else:
                by_body = len(q), self._columns.bodies, -1
                rows.reshape(by_body)[:, :, span] = values.reshape(by_body)
        rows[row[:, None], self._columns.jumps["v_left"][1]] = v_left
        views["t"][: t.size], views["jumps"][: t.size] = t, 0.0
        views["jumps"][row] = 1.0

    def views(self, count: int, jumps: int) -> dict[str, NDArray[Any]]:
        """Tables for derived quantities of so many rows: those of contacts (count, contacts), `VIEWS` (count,); and for
        those before jumps at so many of them."""
        sizes = {name: of.size for name, (_, of) in self._columns.views.items()}
        found = {name: np.empty((count, size) if name not in VIEWS else count) for name, size in sizes.items()}
        return found | {
            name: np.empty((jumps, of.size) if name not in VIEWS_LEFT else jumps)
            for name, (_, of) in self._columns.views_left.items()
        }

    def read_views(
        self, found: Mapping[str, NDArray[Any]], first: int, count: int, row: NDArray[np.intp], jump: int
    ) -> None:  # fmt: skip
        """Write derived quantities of so many rows into such tables, from row `first` on, and before the jumps at `row`
        of them from jump number `jump` on."""
        for name, (schema, of) in self._columns.views.items():
            rows, into = self._numbers[schema][:count], found[name][first : first + count]
            rows.take(of, axis=1, out=into.reshape(count, of.size), mode="clip")
        for name, (schema, of) in self._columns.views_left.items():
            into = found[name][jump : jump + row.size]
            into[...] = self._numbers[schema][row].take(of, axis=1).reshape(into.shape)
