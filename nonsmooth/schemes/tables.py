"""Rows of compiled steps as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.records.memory import Memory
from nonsmooth.records.schema import dtype, offset

__all__ = ["Tables"]

#: numbers of a step, in the order of a `Recorder`; works of loads and of damping it does not know, and none is stored
KNOWN = ("dt", "residual", "complementarity", "work_drivers", "work_drivers_impact", "loss_friction")
UNKNOWN, STORED = 2, 2


class Tables:
    """Tables of the rows in a memory.

    Parameters
    ----------
    memory
    contacts : (contacts,) places of contacts among the records, in the order of the model
    tangents : tangential components of a contact, 1 or 2
    """

    def __init__(self, memory: Memory, contacts: Sequence[int], tangents: int) -> None:
        self.memory, self.shape, plane = memory, memory.shape, tangents == 1
        bodies, reactions = len(memory.of["Body"]) - 1, len(memory.of["Reaction"])
        every, joints = range(bodies), range(reactions)
        self._plane = plane
        places = [0, 1, 2] if plane else [0, 1, 2, 4, 5, 6, 7]
        twists = places[: 3 if plane else 6]
        rubs = list(range(1, 1 + tangents)) if self.shape.rows > 1 else []
        motion = [("q", places), ("v", twists), ("v_left", twists)]
        contact = [("P", [0]), ("impact", [0]), ("P", rubs), ("impact", rubs)]
        wrench = ([0, 1], [0]) if plane else ([0, 1, 2], [0, 1, 2])
        self._bodies = self._columns("BodyRow", every, motion)
        self._impulses = self._columns("ContactRow", contacts, contact)
        self._rates = self._columns("ContactRow", contacts, [("before", [0]), ("after", [0])])
        pairs = (("force", "torque"), ("impulse", "twist"))
        forces = [
            self._columns("ReactionRow", [k], list(zip(pair, wrench, strict=True))) for pair in pairs for k in joints
        ]
        self._reactions = np.concatenate([np.zeros(0, dtype=np.intp), *forces])
        self._each = {"BodyRow": bodies, "ContactRow": len(contacts), "ReactionRow": reactions, "StepRow": 1}
        self._scalars = self._columns("StepRow", [0], [(name, [0]) for name in KNOWN])
        self._contacts = np.asarray(contacts, dtype=np.intp)
        # tangential impulses that the records do not have are zero
        self._missing = 0 if rubs else tangents * len(contacts)

    def _columns(self, schema: str, records: Sequence[int], fields: Sequence[tuple[str, list[int]]]) -> Any:
        """Numbers of so many records side by side: of each field in turn those of all records."""
        size = dtype(schema, self.shape).itemsize // 8
        found = [
            k * size + offset(schema, self.shape, name) // 8 + i
            for name, components in fields
            for k in records
            for i in components
        ]
        return np.array(found, dtype=np.intp)

    def _numbers(self, schema: str, count: int) -> Array:
        """Rows of a schema as numbers (count, numbers of a row)."""
        size, start = dtype(schema, self.shape).itemsize * self._each[schema], self.memory.start[schema]
        return self.memory.raw[start : start + count * size].view(np.float64).reshape(count, size // 8)

    def read(self, count: int) -> tuple[Array, Array, Array]:
        """Times, arrays side by side and scalars of so many rows, as a `Recorder` keeps them."""
        contacts, zero = self._numbers("ContactRow", count), np.zeros((count, self._missing))
        mode = self.memory.of["ContactRow"]["mode"][: count * self._contacts.size].reshape(count, -1)
        rows = [
            self._numbers("BodyRow", count)[:, self._bodies], contacts[:, self._impulses], zero, zero,
            mode[:, self._contacts], contacts[:, self._rates],
            self._numbers("ReactionRow", count)[:, self._reactions],
        ]  # fmt: skip
        unknown, stored = np.full((count, UNKNOWN), np.nan), np.zeros((count, STORED))
        scalars = [self._numbers("StepRow", count)[:, self._scalars], unknown, stored]
        times = self.memory.of["StepRow"]["t"][:count].copy()
        return times, np.concatenate(rows, axis=1), np.concatenate(scalars, axis=1)

    def motion(self, count: int) -> tuple[Array, Array]:
        """Positions and velocities of so many rows."""
        rows = self._numbers("BodyRow", count)[:, self._bodies]
        nv = self._each["BodyRow"] * (3 if self._plane else 6)
        return rows[:, : -2 * nv], rows[:, -2 * nv : -nv]

    def write_motion(self, q: Array, v: Array, v_left: Array) -> None:
        """Rows of motion whose derived quantities are to be evaluated."""
        self._numbers("BodyRow", len(q))[:, self._bodies] = np.concatenate([q, v, v_left], axis=1)
