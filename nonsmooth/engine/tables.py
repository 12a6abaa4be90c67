"""Tables in which compiled steps write their rows, and those of the rows at which velocities jump; gaps, gap
velocities, energies and powers of recorded rows, evaluated in compiled code."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.objects import entry
from nonsmooth.compile.records.memory import Memory
from nonsmooth.compile.records.schema import Shape, offset
from nonsmooth.engine.layout import Layout
from nonsmooth.engine.rows import AT_JUMPS, Rows
from nonsmooth.model.system import Seen

#: numbers of a step that all schemes record; where they do not integrate works of loads and of damping, these are not
#: known, and no energy is stored
KNOWN = ("t", "dt", "residual", "complementarity", "work_drivers", "loss_friction")
UNKNOWN, STORED = ("work_loads", "loss_damping"), ("loss_contact", "stored")

#: bytes of rows, and rows, for which there is room at most behind those that are read
ROOM, MOST = 2**26, 2**16

#: rows whose gaps and energies are evaluated at once: some milliseconds of a small mechanism
AT_ONCE = 2**14

#: of an address and the bytes from each row to the next what a row further changes
FIRST = np.array([1, 0])

#: tables of which texts write parts: the first numbers of each record, and the others
PARTS = {"reaction": ("force", "torque"), "reaction_impact": ("impulse", "twist")}


class Places:
    """Places of the tables of a memory; `record` of its system is "rows" or "views"."""

    def __init__(self, memory: Memory, record: str) -> None:
        self._words = memory.raw[memory.start["System"] :].view(np.int64)
        self._shape, self._record = memory.shape, record

    def of(self, tables: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Words (n, 2) of these tables, of contiguous columns, and their values: address of the first row, stride."""
        words, which, further = _words(self._shape, self._record, tuple(tables))
        found = [(one.__array_interface__["data"][0], one.strides[0]) for one in tables.values()]
        places = np.array(found, dtype=np.int64)[which]
        places[:, 0] += further
        return words, places

    def put(self, words: NDArray[np.intp], places: NDArray[np.int64]) -> None:
        """State where such tables stand."""
        self._words[words] = places


@functools.cache
def _words(shape: Shape, record: str, names: tuple[str, ...]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Words of tables and their parts behind the beginning of the system, which table it is, and bytes to the part."""
    found = []
    for k, name in enumerate(names):
        for i, part in enumerate(PARTS.get(name, (name,))):
            word = offset("System", shape, record, part) // 8
            found.append((word, word + 1, k, 8 * i * shape.dimension))
    words = np.array(found, dtype=np.intp)
    return words[:, :2], words[:, 2], words[:, 3]


class _Widths:
    """Columns of the tables of a mechanism; None for those of one number per row."""

    def __init__(self, layout: Layout) -> None:
        dimension, nc = layout.shape.dimension, layout.contacts.size
        nv, tangents = layout.v_places.size, (dimension - 1) * nc
        of_joints = 3 * (dimension - 1) * len(layout.whole["reactions"])
        #: whether contacts have impulses besides normal ones; if not, these are zero
        self.rough = layout.shape.rows > 1
        self.rows = {"q": layout.q_places.size, "v": nv, "P_N": nc, "P_T": tangents, "reaction": of_joints}
        self.jumps = {
            "v_left": nv, "P_N_impact": nc, "P_T_impact": tangents, "gamma_minus": nc, "gamma_plus": nc,
            "reaction_impact": of_joints, "work_drivers_impact": None,
        }  # fmt: skip
        self.contacts = nc
        #: of a row of all tables
        self.bytes = 8 * (sum(self.rows.values()) + len((*KNOWN, *UNKNOWN, *STORED))) + nc

    def room(self, count: int) -> dict[str, NDArray[Any]]:
        """Tables for so many rows, with the values of what their scheme does not write."""
        found: dict[str, NDArray[Any]] = {name: empty((count, width)) for name, width in self.rows.items()}
        found |= {name: empty(count) for name in KNOWN}
        found |= {name: np.full(count, np.nan) for name in UNKNOWN} | {name: np.zeros(count) for name in STORED}
        if not self.rough:
            found["P_T"][:] = 0.0
        return found | {"mode": empty((count, self.contacts), np.int8)}


def empty(shape: int | tuple[int, ...], kind: Any = np.float64) -> NDArray[Any]:
    """A table without values; a test fills it with others."""
    return np.empty(shape, kind)


class Tables:
    """Tables of the rows of a run, which its steps write, `most` in a call."""

    def __init__(self, memory: Memory, layout: Layout, most: int) -> None:
        if layout.widths is None:
            layout.widths = _Widths(layout)
        self.widths: _Widths = layout.widths
        self._places, self._whole, self._most = Places(memory, "rows"), memory.of["System"]["rows"], most
        #: in all rows of a call, also those without a jump
        widths = self.widths.jumps.items()
        self.of_jumps = {name: empty((most, width) if width is not None else most) for name, width in widths}
        if not self.widths.rough:
            self.of_jumps["P_T_impact"][:] = 0.0
        self.of_jumps["jumps"] = empty(most)
        self._places_of_jumps = self._places.of(self.of_jumps)
        self._room: dict[str, NDArray[Any]] = {}
        self._last = self._room_for = 0
        self._none = self._at_jumps(np.zeros(0, dtype=np.intp))

    def reach(self, count: int, further: float = 0.0) -> None:
        """Let steps write the next rows, so many at most; `further` are likely to follow in all."""
        count = min(count, self._most)
        if self._last + max(1, min(count, further)) > self._room_for:
            first = 1 - min(self._last, 1)  # the row of the start has its place before those of all steps
            self._room_for = first + max(count, int(min(further, ROOM // self.widths.bytes, MOST)))
            self._room, self._last = self.widths.room(self._room_for), first
            self._places_of_room = self._places.of(self._room)
        words, places = self._places_of_room
        self._places.put(words, places + self._last * places[:, 1:] * FIRST)
        self._places.put(*self._places_of_jumps)
        self._whole["room"] = min(count, self._room_for - self._last)

    def written(self, count: int) -> Rows:
        """So many rows, as a `Recorder` keeps them, over which the next ones are written."""
        row = np.flatnonzero(self.of_jumps["jumps"][:count])
        jumps = self._at_jumps(row) if row.size else self._none
        return Rows(self._room, self._last, self._last + count, jumps)

    def read(self, count: int) -> Rows:
        """Rows that were written, behind which the next ones are."""
        rows = self.written(count)
        self._last += count
        self._whole["room"] = 0
        return rows

    def _at_jumps(self, row: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
        """Tables of the rows at which velocities jump."""
        return {name: row if name == "row" else self.of_jumps[name][row] for name in AT_JUMPS}


class Viewer:
    """Evaluates rows in a memory with its parameters, whose own positions it overwrites."""

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
