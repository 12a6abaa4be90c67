"""The memory of records, filled from dictionaries in which links are other dictionaries."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.records.schema import SCHEMAS, Inside, Link, Many, Shape, dtype

#: alignment [bytes] of the records of a schema
LINE = 64

Values = dict[str, Any]


class Content:
    """Records before memory is allocated: dictionaries, in which a link is another one and `Many` a list of them."""

    def __init__(self) -> None:
        self.of: dict[str, list[Values]] = defaultdict(list)

    def add(self, schema: str, **values: Any) -> Values:
        """Add a record; its fields may be set later."""
        self.of[schema].append(values)
        return values

    def many(self, schema: str, count: int) -> list[Values]:
        """Add this number of empty records."""
        return [self.add(schema) for _ in range(count)]


class Memory:
    """One block of memory, `raw`, with all records of a content: views `of` them, their `start` [bytes], by schema."""

    def __init__(self, content: Content, shape: Shape) -> None:
        self.shape = shape
        counts = {name: len(items) for name, items in content.of.items()}
        sizes = {name: -(-dtype(name, shape).itemsize * count // LINE) * LINE for name, count in counts.items()}
        self.start = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
        self._total = sum(sizes.values())
        kinds = {name: dtype(name, shape) for name in counts}
        ends = {name: self.start[name] + kinds[name].itemsize * count for name, count in counts.items()}
        self._records = [(name, self.start[name], ends[name], kinds[name]) for name in counts]
        self._allocate()
        self.raw[:] = 0
        self._place: dict[int, int] = {}
        for name, items in content.of.items():  # before any is filled, since links may point to each
            self._put(name, items, self.start[name] + dtype(name, shape).itemsize * np.arange(len(items)))
        for name, items in content.of.items():
            starts = self.start[name] + dtype(name, shape).itemsize * np.arange(len(items))
            self._fill(name, self.of[name], starts, items)

    def _allocate(self) -> None:
        room = np.empty(self._total + LINE, dtype=np.uint8)
        self.raw: NDArray[np.uint8] = room[-room.ctypes.data % LINE :][: self._total]
        self.of = {name: self.raw[first:last].view(kind) for name, first, last, kind in self._records}

    def copied(self) -> Memory:
        """Another block of memory with the same records."""
        other = copy.copy(self)
        other._allocate()
        other.raw[:] = self.raw
        return other

    def address(self, schema: str, k: int = 0) -> int:
        """The address of record k of a schema."""
        return int(self.raw.ctypes.data) + self.start[schema] + k * dtype(schema, self.shape).itemsize

    def place(self, item: Values) -> int:
        """Offset [bytes] of the record of a dictionary."""
        return self._place[id(item)]

    def number(self, schema: str, item: Values) -> int:
        """Index of the record of a dictionary among those of its schema."""
        return (self._place[id(item)] - self.start[schema]) // dtype(schema, self.shape).itemsize

    def _put(self, schema: str, items: Sequence[Values | None], starts: NDArray[Any]) -> None:
        """Note where records stand, and those embedded in them; None where there is no such record."""
        self._place.update({id(item): at for item, at in zip(items, starts.tolist(), strict=True) if item is not None})
        of: Any = dtype(schema, self.shape).fields
        for key, kind in SCHEMAS[schema].fields.items():
            inside = _each(items, key) if isinstance(kind, Inside) else []
            if isinstance(kind, Inside) and any(one is not None for one in inside):
                self._put(kind.of, inside, starts + of[key][1])

    def _fill(self, schema: str, records: Any, starts: NDArray[Any], items: Sequence[Values | None]) -> None:
        """Fill records, field by field, with the values of their dictionaries."""
        of: Any = dtype(schema, self.shape).fields
        for key, kind in SCHEMAS[schema].fields.items():
            values = _each(items, key)
            known = [k for k, value in enumerate(values) if value is not None]
            found = [value for value in values if value is not None]
            if not found:
                continue
            if isinstance(kind, Inside):
                self._fill(kind.of, records[key], starts + of[key][1], values)
            elif isinstance(kind, Link):
                records[key][known] = [self._place[id(value)] for value in found] - starts[known]
            elif isinstance(kind, Many):
                begins, counts = zip(*(self._many(kind, value) for value in found), strict=True)
                records[key][known] = np.column_stack([np.where(counts, begins - starts[known], 0), counts])
            else:
                records[key][known] = found

    def _many(self, kind: Many, value: int | list[Values]) -> tuple[int, int]:
        """Place of the first of the records that a record has, and their number."""
        if isinstance(value, int):
            return self.start[kind.to], value
        return (self._place[id(value[0])] if value else 0), len(value)


def _each(items: Sequence[Values | None], key: str) -> list[Any]:
    """A value of each dictionary; None where there is none."""
    return [None if item is None else item.get(key) for item in items]
