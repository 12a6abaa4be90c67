"""Gaps, gap velocities, energies and powers of recorded rows, evaluated in compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.objects import entry
from nonsmooth.compile.records.memory import Memory
from nonsmooth.engine.layout import Layout
from nonsmooth.engine.tables import Places
from nonsmooth.model.system import Seen

__all__ = ["Viewer"]

#: rows that are evaluated at once: some milliseconds of a small mechanism
AT_ONCE = 2**14


class Viewer:
    """Evaluates rows in a memory, whose own positions it overwrites.

    Parameters
    ----------
    layout : of the mechanism
    memory : with its parameters
    """

    def __init__(self, layout: Layout, memory: Memory) -> None:
        self.memory, self._contacts = memory, layout.contacts.size
        self._rows, self._views = Places(memory, "rows"), Places(memory, "views")
        self._observe = entry("nonsmooth.step.observation", "observe", "System", layout.shape, 1)

    def __call__(self, t: Array, q: Array, v: Array, row: NDArray[np.intp], v_left: Array) -> Seen:
        """Gaps, rates and energies of rows at times (n,), with positions (n, nq) and velocities (n, nv) after impacts;
        at `row` (m,) of them velocities jump from `v_left` (m, nv)."""
        n, m, nc = t.size, row.size, self._contacts
        right = {name: np.empty(n) for name in ("closure", "kinetic", "potential", "power", "damping")}
        right |= {name: np.empty((n, nc)) for name in ("gap", "rate")}
        left = {f"{name}_left": np.empty(m) for name in ("kinetic", "power", "damping")}
        left["rate_left"] = np.empty((m, nc))
        jumps = np.zeros(n)
        jumps[row] = 1.0
        given = {"t": t, "q": q, "v": v, "jumps": jumps}
        given = {name: np.ascontiguousarray(values, dtype=float) for name, values in given.items()}
        v_left = np.ascontiguousarray(v_left, dtype=float)
        for k in range(0, n, AT_ONCE):
            part, before = slice(k, k + AT_ONCE), int(np.searchsorted(row, k))
            rows = {name: values[part] for name, values in given.items()} | {"v_left": v_left[before:]}
            views = {name: values[part] for name, values in right.items()}
            views |= {name: values[before:] for name, values in left.items()}
            self._rows.put(*self._rows.of(rows))
            self._views.put(*self._views.of(views))
            self._observe(self.memory.address("System"), t[part].size)
        names = {"kinetic": "kinetic", "power_loads": "power", "power_damping": "damping"}
        energies = {name: right[which] for name, which in (names | {"potential": "potential"}).items()}
        energies_left = {name: left[f"{which}_left"] for name, which in names.items()}
        return Seen(right["gap"], right["rate"], right["closure"], energies, left["rate_left"], energies_left)
