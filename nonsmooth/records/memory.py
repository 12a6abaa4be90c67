"""The memory of records, filled from dictionaries in which links are other dictionaries."""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.records.schema import SCHEMAS, Inside, Link, Many, Shape, dtype

__all__ = ["Content", "Memory"]

#: alignment [bytes] of the records of a schema
LINE = 64

Values = dict[str, Any]


class Content:
    """Records before memory is allocated: dictionaries, in which a link is another one and `Many` a list of them.

    `blank` is the number of records of a schema that have no initial values; all records of that schema are then blank.
    """

    def __init__(self) -> None:
        self.of: dict[str, list[Values]] = defaultdict(list)
        self.blank: dict[str, int] = {}

    def add(self, schema: str, **values: Any) -> Values:
        """Add a record; its fields may be set later."""
        self.of[schema].append(values)
        return values

    def many(self, schema: str, count: int) -> list[Values]:
        """Add this number of empty records."""
        return [self.add(schema) for _ in range(count)]


class Memory:
    """One block of memory with all records of a content.

    Attributes
    ----------
    raw : the bytes
    of : records by schema, as NumPy arrays that are views of the bytes
    start : offset [bytes] of the records of each schema
    """

    def __init__(self, content: Content, shape: Shape) -> None:
        self.shape = shape
        counts = {name: len(items) for name, items in content.of.items()} | content.blank
        sizes = {name: -(-dtype(name, shape).itemsize * count // LINE) * LINE for name, count in counts.items()}
        self.start = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
        self._counts, self._total = counts, sum(sizes.values())
        #: bytes before records that begin without values
        self._filled = min((self.start[name] for name in content.blank), default=self._total)
        self._allocate()
        self._place = {
            id(item): self.start[name] + k * dtype(name, shape).itemsize
            for name, items in content.of.items()
            for k, item in enumerate(items)
        }
        for name, items in content.of.items():  # embedded records first, since links may point to them
            for item in items:
                self._place_parts(name, item, self._place[id(item)])
        for name, items in content.of.items():
            for one, item in zip(self.of[name], items, strict=True):
                self._fill(name, one, self._place[id(item)], item)

    def _allocate(self) -> None:
        room = np.zeros(self._total + LINE, dtype=np.uint8)
        self.raw: NDArray[np.uint8] = room[-room.ctypes.data % LINE :][: self._total]
        self.of = {
            name: self.raw[self.start[name] :][: dtype(name, self.shape).itemsize * count].view(dtype(name, self.shape))
            for name, count in self._counts.items()
        }

    def copied(self) -> Memory:
        """Another block of memory with the same records; those that begin without values are empty."""
        other = copy.copy(self)
        other._allocate()
        other.raw[: self._filled] = self.raw[: self._filled]
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

    def _place_parts(self, schema: str, values: Values, at: int) -> None:
        of: Any = dtype(schema, self.shape).fields
        for key, value in values.items():
            if isinstance(SCHEMAS[schema].fields[key], Inside):
                self._place[id(value)] = at + of[key][1]

    def _fill(self, schema: str, one: Any, at: int, values: Values) -> None:
        of: Any = dtype(schema, self.shape).fields
        for key, value in values.items():
            kind = SCHEMAS[schema].fields[key]
            if isinstance(kind, Inside):
                self._fill(kind.of, one[key], at + of[key][1], value)
            elif isinstance(kind, Link):
                one[key] = self._place[id(value)] - at
            elif isinstance(kind, Many) and isinstance(value, int):
                one[key] = self.start[kind.to] - at, value
            elif isinstance(kind, Many):
                one[key] = (self._place[id(value[0])] - at if value else 0), len(value)
            else:
                one[key] = value
