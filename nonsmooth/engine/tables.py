"""Rows of compiled steps as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.engine.layout import Layout
from nonsmooth.evaluation import Array
from nonsmooth.records.memory import Memory
from nonsmooth.records.schema import dtype, offset

__all__ = ["Tables"]

#: numbers of a step that compiled steps record; without a `WorkRow` works of loads and of damping are not known, and no
#: energy is stored
KNOWN = ("dt", "residual", "complementarity", "work_drivers", "work_drivers_impact", "loss_friction")
UNKNOWN, STORED = ("work_loads", "loss_damping"), ("loss_contact", "stored")

#: derived quantities of a row, with the velocities before its impacts where they depend on these
VIEWS = (
    "closure", "potential", "kinetic", "power", "damping", "kinetic_left", "power_left", "damping_left",
)  # fmt: skip


class Tables:
    """Tables of the rows in a memory.

    Parameters
    ----------
    memory
    layout : of the mechanism
    """

    def __init__(self, memory: Memory, layout: Layout) -> None:
        self.memory, self.shape, contacts = memory, memory.shape, layout.contacts
        tangents, plane = self.shape.dimension - 1, self.shape.dimension == 2
        bodies, reactions = len(memory.of["Body"]) - 1, len(memory.of["Reaction"])
        slips = list(range(1, 1 + tangents)) if self.shape.rows > 1 else []
        wrench = ([0, 1], [0]) if plane else ([0, 1, 2], [0, 1, 2])
        self._contacts, self._tangents = contacts, tangents
        self._each = {
            "BodyRow": bodies, "ContactRow": len(contacts), "ReactionRow": reactions, "StepRow": 1,
            "ContactView": len(contacts), "View": 1,
        }  # fmt: skip
        contact = self._contacts
        impulses = {
            "P_N": ("ContactRow", contact, [("P", [0])]), "P_N_impact": ("ContactRow", contact, [("impact", [0])]),
            "P_T": ("ContactRow", contact, [("P", slips)]), "P_T_impact": ("ContactRow", contact, [("impact", slips)]),
            "gamma_minus": ("ContactRow", contact, [("before", [0])]),
            "gamma_plus": ("ContactRow", contact, [("after", [0])]),
        }  # fmt: skip
        reaction = {
            name: ("ReactionRow", np.arange(reactions), list(zip(pair, wrench, strict=True)))
            for name, pair in (("reaction", ("force", "torque")), ("reaction_impact", ("impulse", "twist")))
        }
        one = np.zeros(1, dtype=np.intp)
        numbers = {name: ("StepRow", one, [(name, [0])]) for name in KNOWN}
        self._rows = self._found(impulses | reaction | numbers)
        size = dtype("BodyRow", self.shape).itemsize // 8
        for name, of in (("q", layout.q_places), ("v", layout.v_places), ("v_left", layout.v_places)):
            which, component = np.divmod(of, self.shape.width)
            self._rows[name] = "BodyRow", which * size + offset("BodyRow", self.shape, name) // 8 + component
        seen = {name: ("ContactView", contact, [(name, [0])]) for name in ("gap", "rate", "rate_left")}
        self._views = self._found(seen | {name: ("View", one, [(name, [0])]) for name in VIEWS})

    def _found(self, tables: Mapping[str, Any]) -> dict[str, tuple[str, NDArray[np.intp]]]:
        """Of tables the schema of their records, and columns among the numbers of these, record after record."""
        found = {}
        for name, (schema, records, fields) in tables.items():
            size = dtype(schema, self.shape).itemsize // 8
            places = [offset(schema, self.shape, field) // 8 + i for field, of in fields for i in of]
            found[name] = schema, np.add.outer(records * size, np.array(places, dtype=np.intp)).ravel()
        return found

    def _read(self, columns: Mapping[str, tuple[str, NDArray[np.intp]]], count: int) -> dict[str, NDArray[Any]]:
        numbers = {schema: self._numbers(schema, count) for schema in self._each}
        return {name: numbers[schema].take(of, axis=1) for name, (schema, of) in columns.items()}

    def _numbers(self, schema: str, count: int) -> Array:
        """Rows of a schema as numbers (count, numbers of a row)."""
        size, start = dtype(schema, self.shape).itemsize * self._each[schema], self.memory.start[schema]
        return self.memory.raw[start : start + count * size].view(np.float64).reshape(count, size // 8)

    def read(self, count: int) -> dict[str, NDArray[Any]]:
        """So many rows, as a `Recorder` keeps them."""
        rows = self._read(self._rows, count)
        rows |= {name: rows[name][:, 0] for name in KNOWN}
        works = self.memory.of.get("WorkRow")
        if works is None:
            rows |= {name: np.full(count, np.nan) for name in UNKNOWN} | {name: np.zeros(count) for name in STORED}
        else:
            rows |= {name: works[name][:count].copy() for name in (*UNKNOWN, *STORED)}
        for name in ("P_T", "P_T_impact") if self.shape.rows == 1 else ():  # impulses that the records do not have
            rows[name] = np.zeros((count, self._tangents * self._contacts.size))
        mode = self.memory.of["ContactRow"]["mode"][: count * self._contacts.size].reshape(count, -1)
        rows["mode"] = mode.take(self._contacts, axis=1).astype(np.int8)
        rows["t"] = self.memory.of["StepRow"]["t"][:count].copy()
        return rows

    def motion(self, count: int) -> tuple[Array, Array]:
        """Positions and velocities of so many rows."""
        rows = self._numbers("BodyRow", count)
        return rows.take(self._rows["q"][1], axis=1), rows.take(self._rows["v"][1], axis=1)

    def write_motion(self, q: Array, v: Array, v_left: Array) -> None:
        """Rows of motion whose derived quantities are to be evaluated."""
        rows = self._numbers("BodyRow", len(q))
        for name, values in (("q", q), ("v", v), ("v_left", v_left)):
            rows[:, self._rows[name][1]] = values

    def views(self, count: int) -> dict[str, NDArray[Any]]:
        """Derived quantities of so many rows: those of contacts (count, contacts), `VIEWS` (count,)."""
        found = self._read(self._views, count)
        return found | {name: found[name][:, 0] for name in VIEWS}
