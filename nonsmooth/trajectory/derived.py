"""Tables of a run that follow from its other tables, in all rows or in all but a few: computed when they are read.

In a row without an impact velocities and gap velocities do not jump, mean forces are the impulses divided by the length
of the step, and joints transmit no impulse of an impact; only the other rows of these tables are kept. The remainder of
the energy balance is a sum of the other energies. Values are the same bits as those of the row's own evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.files import Pieces
from nonsmooth.trajectory.certificate import ENERGIES, remainder

__all__ = ["KEPT_ENERGIES", "Energies", "Mean", "Mostly", "means"]

#: energies of which the remainder follows
KEPT_ENERGIES = ENERGIES[:-1]


def means(impulse: Array, length: Array) -> Array:
    """Mean forces (n, k) of impulses (n, k) in steps of these lengths (n,); 0 at a start."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = impulse / length[:, None]
    found[~(length > 0.0)] = 0.0
    return found


@dataclass(frozen=True, eq=False)
class Mean(Pieces):
    """Mean forces (n, k) of the impulses of steps that end at times t (n,), or have these lengths (n,)."""

    impulse: NDArray[Any]
    t: NDArray[Any]
    length: NDArray[Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.impulse.shape

    @property
    def sources(self) -> tuple[NDArray[Any], ...]:
        return self.impulse, self.t

    def rows(self, first: int, last: int) -> Array:
        if self.length is not None:
            length = self.length[first:last]
        else:
            length = np.diff(self.t[first:last], prepend=self.t[max(first - 1, 0)])
        return means(self.impulse[first:last], length)


@dataclass(frozen=True, eq=False)
class Mostly(Pieces):
    """A table (n, k) that has the values of another one but in the rows `at` (m,), in which it has `values` (m, k)."""

    usual: NDArray[Any] | Pieces
    at: NDArray[Any]
    values: NDArray[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.usual.shape

    @property
    def sources(self) -> tuple[NDArray[Any], ...]:
        usual = self.usual.sources if isinstance(self.usual, Pieces) else (self.usual,)
        return (*usual, self.at, self.values)

    def rows(self, first: int, last: int) -> Array:
        found = np.array(self.usual[first:last])
        begin, end = np.searchsorted(self.at, (first, last))
        found[self.at[begin:end] - first] = self.values[begin:end]
        return found


@dataclass(frozen=True, eq=False)
class Energies(Pieces):
    """All energies (n, energies) of those kept, each (n,), and of the energy at the start [J]."""

    kept: Mapping[str, NDArray[Any]]
    start: float

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.kept["kinetic"]), len(ENERGIES)

    @property
    def sources(self) -> tuple[NDArray[Any], ...]:
        return tuple(self.kept.values())

    def rows(self, first: int, last: int) -> Array:
        part = {name: self.kept[name][first:last] for name in KEPT_ENERGIES}
        return np.column_stack([*part.values(), remainder(part, self.start)])
