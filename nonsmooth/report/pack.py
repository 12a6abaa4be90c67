"""Columns of numbers as one base64 text: bytes sorted by their place in the number, then deflated."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Packer:
    """Collects tables of numbers; `text` is the whole, `index` says where each begins and how it is stored.

    The kinds are ``f8`` as it is, for times; ``f4`` with a significand of 16 bits, 1.5e-5 relative, for charts; ``i4``
    whole numbers of a 2^31st of the column's range as second differences, 2.3e-10 of the range, for coordinates, since
    clearances are small compared with unwrapped angles; ``i2`` whole numbers of a 65534th of the column's range, for
    what is only drawn; ``u1`` and ``u4`` whole numbers.
    """

    def __init__(self) -> None:
        self.index: dict[str, dict[str, Any]] = {}
        self._parts: list[bytes] = []
        self._at = 0

    def add(self, name: str, table: ArrayLike, kind: str) -> None:
        """Add a table (rows, columns), or one column (rows,)."""
        given = np.asarray(table, dtype=float)
        columns = np.ascontiguousarray(np.atleast_2d(given.T))
        entry: dict[str, Any] = {"kind": kind, "shape": list(columns.shape), "at": self._at}
        if kind in ("i4", "i2"):
            numbers, low, step = _whole(columns, kind)
            entry |= {"low": low, "step": step}
        elif kind == "f4":
            bits = columns.astype("<f4").view("<u4")
            numbers = ((bits + np.uint32(0x80)) & np.uint32(0xFFFFFF00)).view("<f4")  # the nearest
        else:
            numbers = columns.astype("u1" if kind == "u1" else f"<{kind}")
        size = numbers.itemsize
        planes = numbers.view("u1").reshape(len(columns), columns.shape[1], size).transpose(0, 2, 1)
        self._parts.append(planes.tobytes())
        self._at += numbers.nbytes
        self.index[name] = entry

    def text(self) -> str:
        """All tables."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")


def _whole(columns: NDArray[Any], kind: str) -> tuple[NDArray[Any], list[float], list[float]]:
    """Whole numbers of a share of each column's range, with the columns' lowest values and these shares."""
    if not columns.shape[1]:
        return columns.astype("<u4" if kind == "i4" else "<u2"), [0.0] * len(columns), [1.0] * len(columns)
    low, span = columns.min(axis=1), np.ptp(columns, axis=1)
    step = np.where(span > 0, span, 1.0) / (2.0**31 - 2 if kind == "i4" else 65534.0)
    whole = np.rint((columns - low[:, None]) / step[:, None]).astype(np.int64)
    if kind == "i2":
        return whole.astype("<u2"), low.tolist(), step.tolist()
    twice = np.diff(whole, n=2, axis=1, prepend=np.zeros((len(whole), 2), np.int64))
    return (twice & 0xFFFFFFFF).astype("<u4"), low.tolist(), step.tolist()
