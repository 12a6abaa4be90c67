"""Columns that grow during a run: in memory, and beyond a stated size in files without a name.

A column is one array from its first row to its last, so that nothing has to be joined when the run ends, least of all
for lack of memory; a constant column is stored as one number. Rows beyond those that count are written again: what
Ctrl-C or lack of memory cuts short does no harm.
"""

import contextlib
import math
import mmap
import os
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: bytes of the tables of a run that are kept in memory; beyond them all of its columns go to files
SPILL = 512 * 2**20
#: by which a full column grows, and at least so many bytes
GROWTH, LEAST = 1.1, 2**18
#: rows that are written at once where a number that has been the same differs for the first time
AT_ONCE = 2**17


class Store:
    """Tables of equal numbers of rows, by name; the first rows given determine names, widths and types. There is room
    for the `expected` rows from the beginning, which costs nothing until it is used: without it rows cost three times
    as much, since NumPy fills what it adds to an array."""

    def __init__(self, expected: int = 0) -> None:
        self._columns: dict[str, _Column] = {}
        self._spilled = False
        self._expected = expected

    def put(self, at: int, table: Mapping[str, NDArray[Any]]) -> None:
        """Write rows from row `at` on; after MemoryError or OSError the rows before `at` stay."""
        columns = self._columns
        for name, values in table.items():
            if name not in columns:
                columns[name] = _Column(values)
        if not self._spilled and at * sum(one.row for one in columns.values() if one.differs) > SPILL:
            self._spilled = all([one.to_file(at) for one in columns.values()])
        room = 0 if self._spilled else min(self._expected, SPILL // sum(one.row for one in columns.values()))
        try:
            for name, values in table.items():
                columns[name].put(at, values, room)
        except MemoryError:
            if not room:
                raise
            self._expected = 0
            for one in columns.values():
                one.cut(at)
            self.put(at, table)

    def columns(self, rows: int) -> dict[str, NDArray[Any]]:
        """The first rows; they stay as they are, while the store grows on."""
        return {name: one.first(rows) for name, one in self._columns.items()}


class _Column:
    """One table, in memory or in a file."""

    file: Any = None  # from the beginning: Ctrl-C may come before `__init__` has ended

    def __init__(self, like: NDArray[Any]) -> None:
        self.kind, self.width = like.dtype, like.shape[1:]
        self.row = max(math.prod(self.width), 1) * like.dtype.itemsize
        self.array = np.empty((0, *self.width), self.kind)
        self.same: NDArray[Any] | None = None  # the number of all rows so far (1,)
        self.differs, self.filed = like.ndim > 1 or like.dtype.itemsize != 8, False

    def __del__(self) -> None:
        if self.file is not None:
            self.file.close()  # its map stays

    def put(self, at: int, values: NDArray[Any], room: int = 0) -> None:
        if not self.differs:
            values = np.ascontiguousarray(values)
            if at == 0:
                self.same = values[:1].copy()
            if self.same is not None:
                bits, same = values.view(np.int64), self.same.view(np.int64)
                if not (np.any(bits[-1:] != same) or np.any(bits != same)):  # mostly the last one tells
                    return
            if self.same is not None and at > 0:  # the number of all rows so far
                if not self.filed:
                    self.array = np.empty(max(at, room), self.kind)
                    self.array[:at] = self.same[0]
                else:
                    self.file = tempfile.TemporaryFile(buffering=0)
                    self._map(at)
                    for k in range(0, at, AT_ONCE):
                        self._write(k, np.full(min(AT_ONCE, at - k), self.same[0]))
            self.differs = True
        end = at + len(values)
        if at == 0 and self.file is None and end >= room:
            whole = values if values.base is None else values.base
            kept = isinstance(whole, np.ndarray) and values.flags.c_contiguous and values.flags.writeable
            if kept and whole.nbytes <= 2 * values.nbytes:  # these rows are most of the memory that they keep
                self.array = values  # without a copy: whoever has made the rows does not change them
                return
        if end > len(self.array):
            try:
                share = GROWTH if self.file is None else 1.0  # of a file little is mapped in vain
                self._grow(at, max(room, end + LEAST // self.row, int(share * len(self.array)) + LEAST // self.row))
            except MemoryError:
                self._grow(at, end)
        if self.file is None:
            self.array[at:end] = values
        else:
            self._write(at, values)

    def cut(self, rows: int) -> None:
        """Give back room in memory behind so many rows."""
        if self.file is None and self.differs and rows < len(self.array):
            with contextlib.suppress(ValueError):  # rows have been handed out
                self.array.resize((rows, *self.width))

    def first(self, rows: int) -> NDArray[Any]:
        if not self.differs and self.same is not None and self.same.size:
            return np.broadcast_to(self.same[0], (rows,))
        found = self.array[:rows]
        found.flags.writeable = False
        return found

    def to_file(self, rows: int) -> bool:
        """Into a file without a name, which vanishes with the process; False if there are no addresses for its map."""
        if not self.differs:
            self.filed = True
        if self.file is not None or rows == 0 or self.array.size == 0:
            return True
        file, array = tempfile.TemporaryFile(buffering=0), self.array
        try:
            self.file = file
            self._map(rows)
            self._write(0, array[:rows])
        except BaseException as error:
            self.file, self.array = None, array
            file.close()
            if isinstance(error, MemoryError):
                return False
            raise
        return True

    def _grow(self, rows: int, room: int) -> None:
        if self.file is None:
            if rows == 0:
                self.array = np.empty((room, *self.width), self.kind)  # of which room that is not used costs nothing
                return
            try:
                self.array.resize((room, *self.width))  # mostly without a copy
            except ValueError:  # rows have been handed out, which stay as they are
                array = np.empty((room, *self.width), self.kind)
                array[:rows] = self.array[:rows]
                self.array = array
            return
        # mapped at once: a lack of addresses shows while the rows before can still be handed over
        before = len(self.array)
        self.array = np.empty((0, *self.width), self.kind)
        try:
            self._map(room)
        except MemoryError:
            self._map(before)
            raise

    def _map(self, room: int) -> None:
        os.truncate(self.file.fileno(), room * self.row)
        try:
            mapped = mmap.mmap(self.file.fileno(), room * self.row, access=mmap.ACCESS_READ)
        except OSError as error:
            raise MemoryError(f"no room to map {room * self.row} bytes") from error
        self.array = np.frombuffer(mapped, self.kind).reshape(room, *self.width)

    def _write(self, at: int, values: NDArray[Any]) -> None:
        left = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
        self.file.seek(at * self.row)
        while left:
            left = left[self.file.write(left) :]
