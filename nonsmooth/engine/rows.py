"""Rows of compiled steps by name, in arrays in which the rows that follow have room."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows", "joined"]


class Rows(dict[str, NDArray[Any]]):
    """Rows from `first` to before `last` of tables with more rows."""

    def __init__(self, room: Mapping[str, NDArray[Any]], first: int, last: int) -> None:
        super().__init__({name: values[first:last] for name, values in room.items()})
        self.room, self.first, self.last = room, first, last

    def follows(self, other: Mapping[str, NDArray[Any]]) -> bool:
        """Whether its rows stand right behind the others."""
        return isinstance(other, Rows) and other.room is self.room and other.last == self.first


def joined(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Tables one after the other; without a copy where they stand so already, and the row of the start has its place
    before them."""
    start, *steps = parts
    if not steps:
        return dict(start)
    if isinstance(steps[0], Rows) and len(start["t"]) == steps[0].first == 1:
        for name, values in start.items():
            steps[0].room[name][:1] = values
        start = Rows(steps[0].room, 0, 1)
    last = steps[-1]
    follow = all(isinstance(b, Rows) and b.follows(a) for a, b in itertools.pairwise((start, *steps)))
    if follow and isinstance(start, Rows) and isinstance(last, Rows):
        return Rows(start.room, start.first, last.last)
    return {name: np.concatenate([part[name] for part in (start, *steps)]) for name in start}
