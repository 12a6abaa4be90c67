"""How a run of compiled loops stands, for checkpoints: the records of its memory and its tables, without any address.

Compiled code trusts the places that its memory and its tables name. None of them is taken from a checkpoint, and the
few integers that are, are looked at first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.native import table as n

__all__ = ["check_counts", "room_for", "taken", "words"]

#: rows that memory is made for at first, at most
MOST = 1_100_000


def words(layout: Any) -> NDArray[np.intp]:
    """Which words of a run's memory a checkpoint holds: the records, but for places in memory and settings."""
    mask = np.zeros(layout.size, dtype=bool)
    joints = int(layout.table[n.JOINTS]) // 8
    mask[: joints + n.JOINT * len(layout.joints)] = True
    places = np.arange(layout.size)
    mask[n.ROW_AHEAD] = False
    mask[n.OPTIONS : n.OPTIONS + n.N_OPTIONS] = False
    for field in (n.GAP_A, n.GAP_B, n.WANTS_BEFORE):
        mask[layout.gap_field(places, field)] = False
    for field in (n.ROW_A, n.ROW_B):
        mask[layout.row_field(places, field)] = False
    mask[layout.joint_field(places, n.JOINT_B).ravel()] = False  # with JOINT_FIRST and JOINT_PAIRS behind it
    return np.flatnonzero(mask)


def taken(array: Any, shape: tuple[int | None, ...], kind: type = np.float64) -> NDArray[Any]:
    """A table of a checkpoint, of this shape, None being any length.

    Raises
    ------
    ValueError
        If it is another.
    """
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != len(shape):
        raise ValueError("a table is missing or of another kind")
    if any(size is not None and size != found for size, found in zip(shape, array.shape, strict=True)):
        raise ValueError(f"a table is of shape {array.shape}, not {shape}")
    return array


def room_for(stated: Sequence[int], used: Sequence[int]) -> list[int]:
    """Lengths of tables as they were, since steps are interrupted where these are full; ValueError if none grew so."""
    room = [int(size) for size in stated]
    if len(room) != len(used) or any(not n <= size <= 4 * n + MOST for size, n in zip(room, used, strict=False)):
        raise ValueError(f"tables of {room} rows are not those of such a run")
    return room


def check_counts(counts: Mapping[str, int], parity: int, record: int, rows: int) -> None:
    """Raise ValueError unless the integers of a memory fit its tables."""
    if parity not in (0, 1):
        raise ValueError(f"a step has no side {parity}")
    if counts["rows"] != rows or rows < 1:
        raise ValueError(f"it counts {counts['rows']} rows and holds {rows}")
    if not 0 <= counts["since"] < record or counts["steps"] < 0:
        raise ValueError("its steps are not counted")
