"""Gaps, gap velocities, energies and powers of recorded rows, evaluated in compiled code."""

from __future__ import annotations

from nonsmooth.compile.objects import entry
from nonsmooth.engine.layout import Layout
from nonsmooth.engine.tables import Tables
from nonsmooth.evaluation import Array
from nonsmooth.model.seen import Seen
from nonsmooth.records.memory import Memory

__all__ = ["Viewer"]


class Viewer:
    """Evaluates rows in a memory, whose own rows and positions it overwrites.

    Parameters
    ----------
    layout : of the mechanism
    memory : with its parameters
    tables : of this memory
    rows : number of rows that the memory has room for
    """

    def __init__(self, layout: Layout, memory: Memory, tables: Tables, rows: int) -> None:
        self.layout, self.memory, self.tables, self.rows = layout, memory, tables, rows
        self._observe = entry("nonsmooth.schemes.observation", "observe", "System", layout.shape, 1)

    def __call__(self, t: Array, q: Array, v_left: Array, v: Array) -> Seen:
        """Of rows at times (n,), with positions (n, nq) and velocities (n, nv) before and after impacts."""
        found = self.tables.views(t.size)
        for k in range(0, t.size, self.rows):
            part = slice(k, k + self.rows)
            self._evaluate(t[part], q[part], v_left[part], v[part])
            self.tables.read_views(found, k, t[part].size)
        right = {"kinetic": "kinetic", "potential": "potential", "power_loads": "power", "power_damping": "damping"}
        left = right | {name: f"{right[name]}_left" for name in right if name != "potential"}
        energies = ({name: found[which] for name, which in side.items()} for side in (left, right))
        return Seen(found["gap"], found["rate_left"], found["rate"], found["closure"], *energies)

    def _evaluate(self, t: Array, q: Array, v_left: Array, v: Array) -> None:
        self.tables.write_motion(q, v, v_left)
        self.memory.of["View"]["t"][: t.size] = t
        self._observe(self.memory.address("System"), t.size)
