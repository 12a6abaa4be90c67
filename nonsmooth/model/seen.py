"""Gaps, gap velocities, constraint violations and energies of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array

if TYPE_CHECKING:
    from nonsmooth.model.system import System


@dataclass(frozen=True, eq=False)
class Seen:
    """For n rows, at m of which velocities jump: true gaps (n, nc) [m], their velocities after impacts, the largest
    constraint violation (n,), and the energies of `System.energies` after impacts, each (n,); before the m jumps gap
    velocities (m, nc), and the energies that depend on velocities, each (m,).
    """

    gap: Array
    rate: Array
    closure: Array
    energies: Mapping[str, Array]
    rate_left: Array
    energies_left: Mapping[str, Array]


#: (t, q, v, row, v_left) of n rows, at the m rows `row` of which velocities jump from v_left (m, nv)
Observe = Callable[[Array, Array, Array, NDArray[np.intp], Array], Seen]


def observed_by(system: System, parameters: Array) -> Observe:
    """Evaluated with the functions of the system."""
    return partial(_observe, system, parameters)


def _observe(
    system: System, parameters: Array, t: Array, q: Array, v: Array, row: NDArray[np.intp], v_left: Array
) -> Seen:  # fmt: skip
    closure = np.max(np.abs(system.joint_violation(t, q, parameters)), axis=1, initial=0.0)
    left = system.energies(t[row], q[row], v_left, parameters)
    return Seen(
        system.true_gaps(q, parameters), system.gap_rates(q, v, parameters), closure,
        system.energies(t, q, v, parameters), system.gap_rates(q[row], v_left, parameters),
        {name: values for name, values in left.items() if name != "potential"},
    )  # fmt: skip
