"""Views of records for uncompiled code, with the same attributes."""

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from nonsmooth.compile.records.packed import Value
from nonsmooth.compile.records.schema import (
    SCHEMAS,
    Inside,
    Link,
    Many,
    ModeTable,
    Shape,
    Table,
    VelocityTable,
    dtype,
    offset,
)


class Record:
    """One record at an address; its memory is owned, and kept alive, by the caller."""

    __slots__ = ("_at", "_memory", "_schema", "_shape")

    def __init__(self, schema: str, shape: Shape, at: int) -> None:
        kind = dtype(schema, shape)
        buffer: Any = (ctypes.c_char * kind.itemsize).from_address(at)
        memory = np.frombuffer(buffer, kind)[0]
        for name, value in (("_schema", schema), ("_shape", shape), ("_at", at), ("_memory", memory)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in SCHEMAS[self._schema].fields:
            raise AttributeError(f"{self._schema} has no field {name!r}")
        kind, value = SCHEMAS[self._schema].fields[name], self._memory[name]
        if isinstance(kind, Link):
            return Record(kind.to, self._shape, self._at + int(value))
        if isinstance(kind, Inside):
            return Record(kind.of, self._shape, self._at + offset(self._schema, self._shape, name))
        if isinstance(kind, Many):
            return Records(kind.to, self._shape, self._at + int(value[0]), int(value[1]))
        if isinstance(kind, Table):
            return TableView(kind, self._shape, *map(int, value))
        return value.item() if value.ndim == 0 else value.copy().view(Value)

    def __setattr__(self, name: str, value: Any) -> None:
        self._memory[name] = value

    def __repr__(self) -> str:
        return f"{self._schema}({', '.join(f'{name}={self._memory[name]}' for name in self._memory.dtype.names)})"


class Records:
    """Contiguous records."""

    def __init__(self, schema: str, shape: Shape, at: int, count: int) -> None:
        self.schema, self.shape, self.at, self.count = schema, shape, at, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Record:
        return Record(self.schema, self.shape, self.at + i * dtype(self.schema, self.shape).itemsize)

    def __iter__(self) -> Iterator[Record]:
        return (self[i] for i in range(self.count))


class TableView:
    """A table of rows, whose memory is kept alive by the caller."""

    def __init__(self, kind: Table, shape: Shape, at: int, step: int) -> None:
        self.kind, self.shape, self.at, self.step = kind, shape, at, step

    def __getitem__(self, index: Any) -> Any:
        places, numbers = self._numbers(index)
        if not self.kind.value(self.shape):
            return numbers[0].item()
        value = np.zeros(self.kind.value(self.shape)).view(Value)
        value[places] = numbers
        return value

    def __setitem__(self, index: Any, value: Any) -> None:
        places, numbers = self._numbers(index)
        numbers[:] = np.reshape(value, -1)[places]

    def _numbers(self, index: Any) -> tuple[list[int], Any]:
        """Components of a value, and the numbers of a row, and of a record, that they are."""
        kind, shape = self.kind, self.shape
        k, record = index if kind.column else (index, None)
        places, at = kind.stored(shape), self.at + int(k) * self.step
        if record is not None:
            at += kind.size * kind.width(shape) * getattr(record, kind.column)
            modes = record.modes if isinstance(kind, VelocityTable) and shape.modes else 0
            places = [*places, *range(shape.width - shape.modes, shape.width)[:modes]]
        if not places:  # of no bytes, there is no buffer
            return places, np.zeros(0)
        buffer: Any = (ctypes.c_char * (kind.size * len(places))).from_address(at)
        return places, np.frombuffer(buffer, np.int8 if isinstance(kind, ModeTable) else np.float64)
