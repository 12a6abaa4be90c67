"""Gaps, gap velocities, constraint violations and energies of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.evaluation import Array

if TYPE_CHECKING:
    from nonsmooth.model.system import System

__all__ = ["Observe", "Seen", "observed_by"]


@dataclass(frozen=True, eq=False)
class Seen:
    """For n rows: true gaps (n, nc) [m], their velocities before and after impacts, the largest constraint violation
    (n,), and the energies of `System.energies` with the velocities before impacts, `left`, and after, `right`.
    """

    gap: Array
    rate_left: Array
    rate: Array
    closure: Array
    left: Mapping[str, Array]
    right: Mapping[str, Array]


#: (t, q, v_left, v) of n rows
Observe = Callable[[Array, Array, Array, Array], Seen]


def observed_by(system: System, parameters: Array) -> Observe:
    """Evaluated with the functions of the system."""
    return partial(_observe, system, parameters)


def _observe(system: System, parameters: Array, t: Array, q: Array, v_left: Array, v: Array) -> Seen:
    rate_left, rate = (system.gap_rates(q, velocities, parameters) for velocities in (v_left, v))
    left, right = (system.energies(t, q, velocities, parameters) for velocities in (v_left, v))
    closure = np.max(np.abs(system.joint_violation(t, q, parameters)), axis=1, initial=0.0)
    return Seen(system.true_gaps(q, parameters), rate_left, rate, closure, left, right)
