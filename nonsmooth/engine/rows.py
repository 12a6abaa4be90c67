"""Rows of compiled steps by name, in arrays in which the rows that follow have room.

At few rows velocities jump: only there tables of what is before a jump, and of impulses of impacts, have rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

__all__ = ["AT_JUMPS", "Rows", "cut", "following", "joined", "without_jumps"]

#: tables of the rows at which velocities jump, which are the numbers ``row`` among all rows of the same part
AT_JUMPS = (
    "row", "v_left", "P_N_impact", "P_T_impact", "gamma_minus", "gamma_plus", "reaction_impact", "work_drivers_impact",
)  # fmt: skip

Tables = Mapping[str, NDArray[Any]]


class Rows(dict[str, NDArray[Any]]):
    """Rows from `first` to before `last` of tables with more rows, and their tables `AT_JUMPS`."""

    def __init__(self, room: Tables, first: int, last: int, jumps: Tables) -> None:
        super().__init__({name: values[first:last] for name, values in room.items()})
        self.update(jumps)
        self.room, self.first, self.last = room, first, last

    def follows(self, other: Tables) -> TypeGuard[Rows]:
        """Whether its rows stand right behind the others."""
        return isinstance(other, Rows) and other.room is self.room and other.last == self.first


def following(parts: Sequence[Tables]) -> list[Tables]:
    """Tables one after the other: those that stand so already as one, and the row of the start before them."""
    found: list[Tables] = []
    for part in parts:
        last = found[-1] if found else None
        if last is None or not isinstance(part, Rows):
            found.append(part)
        elif part.follows(last):
            found[-1] = Rows(part.room, last.first, part.last, _jumps([last, part]))
        elif not isinstance(last, Rows) and len(last["t"]) == part.first == len(found) == 1:
            for name, values in part.room.items():
                values[:1] = last[name]
            found[-1] = Rows(part.room, 0, part.last, _jumps([last, part]))
        else:
            found.append(part)
    return found


def joined(parts: Sequence[Tables]) -> Tables:
    """The same as one table, for which those that stand elsewhere are copied."""
    found = following(parts)
    if len(found) == 1:
        return found[0]
    each = {name: np.concatenate([one[name] for one in found]) for name in found[0] if name not in AT_JUMPS}
    return each | _jumps(found)


def cut(table: Tables, first: int, last: int) -> Tables:
    """Rows from `first` to before `last`."""
    begin, end = np.searchsorted(table["row"], (first, last))
    found = {name: values[begin:end] if name in AT_JUMPS else values[first:last] for name, values in table.items()}
    return found | {"row": found["row"] - first}


def without_jumps(table: Tables, name: str, rows: NDArray[np.intp]) -> NDArray[Any]:
    """Requested rows (k, width) of a table of `AT_JUMPS` without values of its own at other rows: there nothing jumps.

    Velocities before a jump are then those after it, and what an impact has given is zero.
    """
    at = np.searchsorted(table["row"], rows)
    known = np.append(table["row"], -1)[at] == rows
    found = np.array(table["v"][rows]) if name == "v_left" else np.zeros((len(rows), *table[name].shape[1:]))
    found[known] = table[name][at[known]]
    return found


def _jumps(parts: Sequence[Tables]) -> dict[str, NDArray[Any]]:
    """Tables `AT_JUMPS` of parts one after the other."""
    found = {name: np.concatenate([part[name] for part in parts]) for name in AT_JUMPS}
    counts, sizes = [len(part["row"]) for part in parts], [len(part["t"]) for part in parts]
    found["row"] = found["row"] + np.repeat(np.cumsum([0, *sizes[:-1]]), counts)
    return found
