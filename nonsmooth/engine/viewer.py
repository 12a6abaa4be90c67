"""Gaps, gap velocities, energies and powers of recorded rows, evaluated in compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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

    def __call__(self, t: Array, q: Array, v: Array, row: NDArray[np.intp], v_left: Array) -> Seen:
        """Of rows at times (n,), with positions (n, nq) and velocities (n, nv) after impacts; at `row` (m,) of them
        velocities jump from `v_left` (m, nv)."""
        found = self.tables.views(t.size, row.size)
        for k in range(0, t.size, self.rows):
            part = slice(k, k + self.rows)
            first, last = np.searchsorted(row, (k, k + self.rows)).tolist()
            some = row[first:last] - k
            self.tables.write_motion(t[part], q[part], v[part], some, v_left[first:last])
            self._observe(self.memory.address("System"), t[part].size)
            self.tables.read_views(found, k, t[part].size, some, first)
        right = {"kinetic": "kinetic", "potential": "potential", "power_loads": "power", "power_damping": "damping"}
        left = {name: found[f"{which}_left"] for name, which in right.items() if name != "potential"}
        energies = {name: found[which] for name, which in right.items()}
        return Seen(found["gap"], found["rate"], found["closure"], energies, found["rate_left"], left)
