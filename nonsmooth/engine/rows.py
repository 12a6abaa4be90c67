"""Rows of compiled steps by name, in arrays in which the rows that follow have room.

At few rows velocities jump: only there tables of what is before a jump, and of impulses of impacts, have rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

#: tables of the rows at which velocities jump, or an impulse is that of an impact although they do not, as in implicit
#: Euler's scheme; these are the numbers ``row`` among all rows of the same part
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

    def begins(self, group: Sequence[Tables]) -> bool:
        """Whether these are the first rows of a room, which has a place for the row of the start that the group is."""
        return len(group) == 1 and not isinstance(group[0], Rows) and len(group[0]["t"]) == self.first


def following(parts: Sequence[Tables]) -> list[Tables]:
    """Tables one after the other: those that stand so already as one, and the row of the start, which is copied,
    before them."""
    groups: list[list[Tables]] = []
    for part in parts:
        group = groups[-1] if groups else []
        if isinstance(part, Rows) and group and (part.follows(group[-1]) or (len(groups) == 1 and part.begins(group))):
            group.append(part)
        else:
            groups.append([part])
    found: list[Tables] = []
    for group in groups:
        first, last = group[0], group[-1]
        if len(group) == 1 or not isinstance(last, Rows):
            found.append(first)
            continue
        begin = first.first if isinstance(first, Rows) else 0
        if not isinstance(first, Rows):  # the row of the start
            for name, values in last.room.items():
                values[: len(first["t"])] = first[name]
        found.append(Rows(last.room, begin, last.last, _jumps(group)))
    return found


def joined(parts: Sequence[Tables]) -> Tables:
    """Tables one after the other as one table, for which those that stand elsewhere are copied."""
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


def at_rows(table: Tables, name: str, rows: NDArray[np.intp]) -> NDArray[Any]:
    """One of the tables `AT_JUMPS` at any rows (k, width); without a jump v is that after it, impulses are zero."""
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
