"""Where the rows of a run come from, and what finds the forces at a state of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.state import InternalStates, State
from nonsmooth.model.system import System

__all__ = ["Forces", "Law", "Origin", "Run"]

#: a trajectory, whose class stands above
Run: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Origin:
    """The origin of the rows: the mechanism, its parameters (n,), and the initial state with its internal states."""

    system: System
    parameters: Array
    start: State | None = None

    @property
    def memory(self) -> InternalStates:
        """Internal states of the initial state."""
        return InternalStates() if self.start is None else self.start.memory


class Forces(NamedTuple):
    """Accelerations (nv,), forces of joints (ng,), (nr,) and contacts (nc,), (nt,), modes (nc,) at one instant."""

    a: Array
    lam_g: Array
    reaction: Array
    lam_N: Array
    lam_T: Array
    mode: NDArray[np.int8]


class Law(Protocol):
    """Computation of accelerations and forces from a state."""

    def forces(self, t: float, q: Array, v: Array, step: int) -> Forces:
        """At a state of the motion that follows on row `step`; -1 for that before the first row."""
        ...
