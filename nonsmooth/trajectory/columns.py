"""Named columns of one array."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.exceptions import InputError
from nonsmooth.files import Pieces, forget_pages

__all__ = ["Columns", "UnknownName", "any_of_each", "bounds", "where"]

#: rows of which something is computed at once
AT_ONCE = 1 << 17
#: columns up to which NumPy goes faster through columns than through rows
NARROW = 16
#: columns up to which an array is turned to have long rows, and numbers of those that are made of several short ones
SHORT, LONG = 8, 1024


class UnknownName(InputError, KeyError):
    """A column that does not exist; also a KeyError, as of any mapping."""

    __str__ = Exception.__str__  # KeyError would quote the sentence


class Columns(Mapping[str, NDArray[Any]]):
    """Named columns of one array; a mapping from names to read-only views.

    Parameters
    ----------
    what
        What a column is, for messages: ``"coordinate"``.
    names
        Names of the columns (k,).
    array
        Rows by columns (n, k), or (n, k, m) where each column is a vector in each row; `Pieces` are computed when they
        are first read.
    units
        Unit of each column (k,).

    >>> import numpy as np
    >>> y = Columns("coordinate", ("slider.x", "slider.y"), np.eye(2), ("m", "m"))
    >>> y["slider.y"]
    array([0., 1.])
    """

    def __init__(self, what: str, names: Sequence[str], array: NDArray[Any] | Pieces, units: Sequence[str]) -> None:
        self.what, self.names, self.unit_list = what, tuple(names), tuple(units)
        self.table = array if isinstance(array, Pieces) else _frozen(array)
        self._order = _order(self.names)
        sizes = {len(self._order), len(self.unit_list), len(self.names), *array.shape[1:2]}
        if len(array.shape) not in (2, 3) or len(sizes) > 1:
            raise InputError(f"{len(self.names)} {what} names do not fit an array of shape {array.shape}.")

    @cached_property
    def array(self) -> NDArray[Any]:
        """All columns, read-only."""
        return _frozen(self.table.whole()) if isinstance(self.table, Pieces) else self.table

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.array[:, self._index(name)]

    def __contains__(self, name: object) -> bool:  # that of mappings looks for similar names first
        return name in self._order

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def units(self, name: str) -> str:
        """Unit of a column."""
        return self.unit_list[self._index(name)]

    def peaks(self) -> dict[str, float]:
        """Largest absolute value of each column, 0 without rows."""
        peaks = np.zeros(len(self.names))
        for k in range(0, self.table.shape[0], AT_ONCE):
            part = np.abs(self.table[k : k + AT_ONCE])
            peaks = np.maximum(peaks, np.max(part.reshape(*part.shape[:2], -1), axis=(0, 2), initial=0.0))
            forget_pages(*self.table.sources if isinstance(self.table, Pieces) else (self.table,))
        return dict(zip(self.names, peaks.tolist(), strict=True))

    def _ipython_key_completions_(self) -> list[str]:
        """Names that IPython and Jupyter offer behind ``[``."""
        return list(self.names)

    def __repr__(self) -> str:
        labels = ", ".join(f"{name} [{unit}]" for name, unit in zip(self.names, self.unit_list, strict=True))
        return f"Columns({self.table.shape[0]} rows: {labels or 'no columns'})"

    def _index(self, name: str) -> int:
        if not isinstance(name, str) or name not in self._order:
            parts = [known for known in self.names if known.startswith(f"{name}.")]
            close = parts or difflib.get_close_matches(str(name), self.names, n=3)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise UnknownName(f"There is no {self.what} {name!r}.{hint} There are: {', '.join(self.names) or 'none'}.")
        return self._order[name]


@lru_cache(maxsize=64)
def _order(names: tuple[str, ...]) -> Mapping[str, int]:
    """Positions of names, which many tables of many runs have."""
    return {name: i for i, name in enumerate(names)}


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    found = array.view()
    found.flags.writeable = False
    return found


def bounds(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The least and the largest number of each column (k,) of an array (n, k), of which little is in memory at once."""
    least, largest = array[0].copy(), array[0].copy()
    for k in range(0, len(array), AT_ONCE):
        below, above = _bounds(array[k : k + AT_ONCE])
        least, largest = np.minimum(least, below), np.maximum(largest, above)
        forget_pages(array)
    return least, largest


def _bounds(part: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same by long rows, which NumPy compares far faster than short ones."""
    n, k = part.shape
    if k < SHORT:
        columns = np.ascontiguousarray(part.T)
        return np.min(columns, axis=1), np.max(columns, axis=1)
    together = max(LONG // k, 1)
    whole = n // together * together
    if not whole:
        return np.min(part, axis=0), np.max(part, axis=0)
    rows, rest = part[:whole].reshape(-1, together, k), part[whole:]
    below, above = np.min(rows, axis=0), np.max(rows, axis=0)
    return np.min(np.concatenate([below, rest]), axis=0), np.max(np.concatenate([above, rest]), axis=0)


def any_of_each(found: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether any column of each row of a table (n, k) is true; of narrow tables far faster than `numpy.any`."""
    width = found.shape[1]
    if width in (1, 2, 4, 8) and found.flags.c_contiguous:  # as one number each
        return np.asarray(found.reshape(-1).view(f"u{width}") != 0)
    if width > NARROW:
        return np.asarray(np.any(found, axis=1))
    rows = np.zeros(len(found), dtype=bool)
    for column in found.T:
        rows |= column
    return rows


def where(found: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of a table (n, k) in which it is true; of narrow tables far faster than `numpy.nonzero`."""
    row, column = np.divmod(np.flatnonzero(found), max(found.shape[1], 1))
    return row, column
