"""Named columns of one array, and arrays of a run that are computed from its other ones when they are read.

In a row without an impact velocities and gap velocities do not jump, mean forces are the impulses divided by the length
of the step, and joints transmit no impulse of an impact; only the other rows of these tables are kept. The remainder of
the energy balance is a sum of the other energies. Values are the same bits as those of the row's own evaluation.
"""

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.files import Pieces, forget_pages
from nonsmooth.model.system import System
from nonsmooth.settings import shown
from nonsmooth.trajectory.certificate import ENERGIES, remainder

#: rows of which something is computed at once
AT_ONCE = 1 << 17
#: columns up to which NumPy goes faster through columns than through rows
NARROW = 16
#: columns up to which an array is turned to have long rows, and numbers of those that are made of several short ones
SHORT, LONG = 8, 1024
#: columns of the table of impacts besides the contact, with their units
IMPACT_COLUMNS = {"t": "s", "P_N": "N s", "P_T": "N s", "gamma_minus": "m/s", "gamma_plus": "m/s"}
#: energies of which the remainder follows
KEPT_ENERGIES = ENERGIES[:-1]


class UnknownName(InputError, KeyError, IndexError):
    """A column, or an element, that does not exist; also a KeyError, as of any mapping, and an IndexError of arrays."""

    __str__ = Exception.__str__  # KeyError would quote the sentence


class Columns(NDArrayOperatorsMixin, Mapping[str, NDArray[Any]]):
    """Named columns of one array: a mapping from names to read-only views, and the array itself.

    Indices of arrays, operators, methods and functions of NumPy apply to the array (n, k), where names stand for
    columns: ``q[:, 0]``, ``q[["slider.x", "slider.y"]]``, ``q[-1, "slider.x"]``, ``q.max(axis=0)``, ``2 * q``. Only
    ``len``, ``in`` and iteration are those of the mapping, of names.

    Parameters
    ----------
    what : what a column is, for messages: ``"coordinate"``
    names : names of the columns (k,)
    array
        Rows by columns (n, k), or (n, k, m) where each column is a vector in each row; `Pieces` are computed when they
        are first read.
    units : unit of each column (k,)

    >>> import numpy as np
    >>> y = Columns("coordinate", ("slider.x", "slider.y"), np.eye(2), ("m", "m"))
    >>> y["slider.y"]
    array([0., 1.])
    >>> np.asarray(y).shape, float(y[-1, "slider.y"]), (2 * y).max(axis=0).tolist()
    ((2, 2), 1.0, [2.0, 2.0])
    """

    def __init__(self, what: str, names: Sequence[str], array: NDArray[Any] | Pieces, units: Sequence[str]) -> None:
        self.what, self.names, self.unit_list = what, tuple(names), tuple(units)
        self.table = array if isinstance(array, Pieces) else _read_only(array)
        self._order = _index_of_names(self.names)
        sizes = {len(self._order), len(self.unit_list), len(self.names), *array.shape[1:2]}
        if len(array.shape) not in (2, 3) or len(sizes) > 1:
            raise InputError(f"{len(self.names)} {what} names do not fit an array of shape {array.shape}.")

    @cached_property
    def array(self) -> NDArray[Any]:
        """All columns, read-only."""
        return _read_only(self.table.whole()) if isinstance(self.table, Pieces) else self.table

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.array[:, self._index(key)]
        if isinstance(key, list) and any(isinstance(one, str) for one in key):
            key = slice(None), key
        if isinstance(key, tuple) and len(key) > 1:
            key = (key[0], self._place(key[1]), *key[2:])
        try:
            return self.array[key]
        except IndexError as error:
            raise UnknownName(
                f"A {self.what} is chosen by name, or rows and columns of the array {self.shape} as in NumPy: {error}."
            ) from error

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.array, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        if any(isinstance(one, Columns) for one in out):  # columns are read-only
            return NotImplemented
        arrays = (one.array if isinstance(one, Columns) else one for one in inputs)
        return getattr(ufunc, method)(*arrays, **({"out": out} if out else {}), **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.array, name)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array, (n, k) or (n, k, m)."""
        return self.table.shape

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
            forget_pages(self.table)
        return dict(zip(self.names, peaks.tolist(), strict=True))

    def _ipython_key_completions_(self) -> list[str]:
        """Names that IPython and Jupyter offer behind ``[``."""
        return list(self.names)

    def __repr__(self) -> str:
        labels = ", ".join(f"{name} [{unit}]" for name, unit in zip(self.names, self.unit_list, strict=True))
        return f"Columns({self.shape[0]} rows: {labels or 'no columns'})"

    def _place(self, part: Any) -> Any:
        """Numbers of columns, where names are given."""
        if isinstance(part, list) and any(isinstance(one, str) for one in part):
            return [self._index(one) for one in part]
        return self._index(part) if isinstance(part, str) else part

    def _index(self, name: str) -> int:
        if not isinstance(name, str) or name not in self._order:
            word = name if isinstance(name, str) else ""
            parts = [known for known in self.names if known.startswith(f"{word}.")]
            close = parts or difflib.get_close_matches(word, self.names, n=3)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise UnknownName(
                f"There is no {self.what} {shown(name)}.{hint} There are: {', '.join(self.names) or 'none'}."
            )
        return self._order[name]


@dataclass(frozen=True, eq=False)
class Left:
    """Left limits of velocities and gap velocities, the only quantities that jump."""

    v: Columns
    gap_rate: Columns


@lru_cache(maxsize=64)
def _index_of_names(names: tuple[str, ...]) -> Mapping[str, int]:
    """Positions of names, which are the same in many tables of many runs."""
    return {name: i for i, name in enumerate(names)}


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    found = array.view()
    found.flags.writeable = False
    return found


def bounds(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The least and the largest number of each column (k,) of an array (n, k), of which little is in memory at once."""
    width, least, largest = array.shape[1], array[0].copy(), array[0].copy()
    together = max(LONG // max(width, 1), 1)
    for k in range(0, len(array), AT_ONCE):
        part = array[k : k + AT_ONCE]
        whole = len(part) // together * together
        if width < SHORT:  # NumPy compares long rows far faster than short ones
            columns = np.ascontiguousarray(part.T)
            below, above = np.min(columns, axis=1), np.max(columns, axis=1)
        elif whole:
            rows, rest = part[:whole].reshape(-1, together, width), part[whole:]
            below = np.min(np.concatenate([np.min(rows, axis=0), rest]), axis=0)
            above = np.max(np.concatenate([np.max(rows, axis=0), rest]), axis=0)
        else:
            below, above = np.min(part, axis=0), np.max(part, axis=0)
        least, largest = np.minimum(least, below), np.maximum(largest, above)
        forget_pages(array)
    return least, largest


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


def are_rows(at: NDArray[Any], rows: int) -> bool:
    """Whether these are ascending numbers of some of so many rows."""
    return at.ndim == 1 and not (np.any(np.diff(at, prepend=-1) < 1) or np.any(at >= rows))


def means(impulse: Array, length: Array) -> Array:
    """Mean forces (n, k) of impulses (n, k) in steps of given lengths (n,); 0 at a start."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = impulse / length[:, None]
    found[~(length > 0.0)] = 0.0
    return found


@dataclass(frozen=True, eq=False)
class MeanForces(Pieces):
    """Mean forces (n, k) of the impulses of steps that end at times t (n,), or of given lengths (n,)."""

    impulse: NDArray[Any]
    t: NDArray[Any]
    length: NDArray[Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.impulse.shape

    def rows(self, first: int, last: int) -> Array:
        if self.length is not None:
            length = self.length[first:last]
        else:
            length = np.diff(self.t[first:last], prepend=self.t[max(first - 1, 0)])
        return means(self.impulse[first:last], length)


@dataclass(frozen=True, eq=False)
class SparseOverride(Pieces):
    """A table (n, k) equal to another one except in the rows `at` (m,), in which it has `values` (m, k)."""

    usual: NDArray[Any] | Pieces
    at: NDArray[Any]
    values: NDArray[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.usual.shape

    def rows(self, first: int, last: int) -> Array:
        found = np.array(self.usual[first:last])
        begin, end = np.searchsorted(self.at, (first, last))
        found[self.at[begin:end] - first] = self.values[begin:end]
        return found


@dataclass(frozen=True, eq=False)
class Energies(Pieces):
    """All energies (n, energies) [J] from the other ones, each (n,), and from the energy at the start."""

    terms: Mapping[str, NDArray[Any]]
    start: float

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.terms["kinetic"]), len(ENERGIES)

    def rows(self, first: int, last: int) -> Array:
        part = {name: self.terms[name][first:last] for name in KEPT_ENERGIES}
        return np.column_stack([*part.values(), remainder(part, self.start)])


def by_tangent(P_T: Array, system: System) -> Array:
    """Rows (n, nt) as (n, nc, 2) in space; in the plane, where a contact has one tangent, as they are."""
    return P_T if system.dimension == 2 else P_T.reshape(len(P_T), system.nc, 2)


def by_row(P_T: Array) -> Array:
    """The inverse of `by_tangent`: rows (n, nt)."""
    return P_T.reshape(len(P_T), math.prod(P_T.shape[1:]))


@dataclass(frozen=True, eq=False)
class ForceAxes(Pieces):
    """Vectors of contact forces (n, nc, dimension) [N] in the ground frame, of lam_N (n, nc) and lam_T (n, nt)."""

    system: System
    parameters: Array
    q: Array
    lam_N: Array | Pieces
    lam_T: Array | Pieces

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.q), self.system.nc, self.system.dimension

    def forces(self) -> Columns:
        """Force on the second body of each contact."""
        return Columns("contact", self.system.contact_names, self, ["N"] * self.system.nc)

    def rows(self, first: int, last: int) -> Array:
        axes = self.system.contact_axes(self.q[first:last], self.parameters)
        lam_N, lam_T = self.lam_N[first:last], self.lam_T[first:last]
        parts = np.concatenate([lam_N[:, :, None], lam_T.reshape(*lam_N.shape, self.system.dimension - 1)], axis=2)
        return np.einsum("nck,nckd->ncd", parts, axes)


def impact_table(contacts: Sequence[str], columns: Mapping[str, Array]) -> NDArray[np.void]:
    """The table of impacts (k,) of these contacts, with the numbers of `IMPACT_COLUMNS`, each (k,)."""
    width = max(map(len, contacts), default=1)
    numbers = [(name, "f8") for name in IMPACT_COLUMNS if name != "t"]
    table = np.zeros(len(contacts), dtype=[("t", "f8"), ("contact", f"U{width}"), *numbers])
    table["contact"] = contacts
    for name, values in columns.items():
        table[name] = values
    return table
