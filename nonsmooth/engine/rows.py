"""Rows of compiled steps by name, in arrays in which the rows that follow have room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows", "following", "joined"]


class Rows(dict[str, NDArray[Any]]):
    """Rows from `first` to before `last` of tables with more rows."""

    def __init__(self, room: Mapping[str, NDArray[Any]], first: int, last: int) -> None:
        super().__init__({name: values[first:last] for name, values in room.items()})
        self.room, self.first, self.last = room, first, last

    def follows(self, other: Mapping[str, NDArray[Any]]) -> TypeGuard[Rows]:
        """Whether its rows stand right behind the others."""
        return isinstance(other, Rows) and other.room is self.room and other.last == self.first


def following(parts: Sequence[Mapping[str, NDArray[Any]]]) -> list[Mapping[str, NDArray[Any]]]:
    """Tables one after the other: those that stand so already as one, and the row of the start before them."""
    found: list[Mapping[str, NDArray[Any]]] = []
    for part in parts:
        last = found[-1] if found else None
        if last is None or not isinstance(part, Rows):
            found.append(part)
        elif part.follows(last):
            found[-1] = Rows(part.room, last.first, part.last)
        elif not isinstance(last, Rows) and len(last["t"]) == part.first == len(found) == 1:
            for name, values in last.items():
                part.room[name][:1] = values
            found[-1] = Rows(part.room, 0, part.last)
        else:
            found.append(part)
    return found


def joined(parts: Sequence[Mapping[str, NDArray[Any]]]) -> Mapping[str, NDArray[Any]]:
    """The same as one table, for which those that stand elsewhere are copied."""
    found = following(parts)
    return found[0] if len(found) == 1 else {name: np.concatenate([one[name] for one in found]) for name in found[0]}
