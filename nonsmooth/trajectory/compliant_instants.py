"""Accelerations and forces with compliant contact: the laws at a state, with the speeds of approach that they latch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.steppers.base import CLOSED, OPEN, SLIPPING
from nonsmooth.steppers.compliant import TOUCHED
from nonsmooth.steppers.compliant_equations import CompliantEquations
from nonsmooth.trajectory.instants import Forces, Origin

if TYPE_CHECKING:
    from nonsmooth.trajectory.trajectory import Trajectory

__all__ = ["CompliantLaw"]

#: share of the typical gap up to which a contact stands at its surface where it is first seen touching
ENTERED = 1e-6


class CompliantLaw:
    """Forces along a run with compliant contacts.

    The speed of approach is that of the row at which the surfaces met, as `CompliantDae` latches it; a run that goes on
    with another begins with the memories of its end.

    Raises
    ------
    InputError
        For friction with bristles, whose states no row keeps, and for a run whose rows leave out where surfaces met.
    """

    def __init__(self, run: Trajectory, origin: Origin) -> None:
        system = origin.system
        compliance = system.compliance
        assert compliance is not None
        if compliance.bristles:
            raise InputError(
                f"The states of bristles, such as {compliance.bristles[0]}, are kept at the end of a run only; forces "
                "at an instant need a law of friction without them."
            )
        self.equations = CompliantEquations(system)
        self.layout = self.equations.layout
        self.known = np.concatenate([origin.parameters, self.equations.constants(origin.parameters)])
        self.rest = np.zeros(self.layout.size - self.layout.nq - self.layout.nv)
        size = system.numeric.contact_law(origin.parameters)[3]
        self.touching, self.approach = _latched(run, origin, size)
        self.closed = [CLOSED if law.friction is None else SLIPPING for law in compliance.laws]

    def forces(self, t: float, q: Array, v: Array, step: int) -> Forces:
        """At a state of the motion that follows on row `step`."""
        step, part = max(step, 0), self.layout.parts
        touching = self.touching[step]
        d = np.concatenate([self.known, touching, self.approach[step]])
        y = np.concatenate([q, v, self.rest])
        rates = self.equations.ode(t, y, d)[0]
        mode = np.where(touching > 0.5, self.closed, OPEN).astype(np.int8)
        a, F_N, F_T, reaction = (rates[part[name]] for name in ("v", "P_N", "P_T", "reaction"))
        return Forces(a, self.equations.constraint_forces(t, y, d)[0], reaction, F_N, F_T, mode)


def _latched(run: Trajectory, origin: Origin, size: Array) -> tuple[NDArray[np.float64], Array]:
    """Which contacts touch (n, nc), 1 or 0, and their speeds of approach (n, nc), in the motion after each row."""
    gaps, rates = run.gap.array, run.gap_rate.array
    touching = (run.mode.array != OPEN).astype(float)
    approach = np.zeros_like(touching)
    memory = {} if origin.start is None else origin.start.law_memory
    touching[0] = memory.get("touching", (gaps[0] <= TOUCHED * size).astype(float))
    approach[0] = memory.get("approach", np.where(touching[0] > 0.5, np.maximum(-rates[0], 0.0), 0.0))
    for row in range(1, len(touching)):
        met = (touching[row] > 0.5) & (touching[row - 1] < 0.5)
        deep = np.flatnonzero(met & (np.abs(gaps[row]) > ENTERED * size))
        if deep.size:
            raise InputError(
                f"The run keeps some rows only, and not that at which {run.gap.names[deep[0]]} touched before t = "
                f"{run.t[row]:.9g} s, whose speed of approach its law needs; run it with record=1."
            )
        lasting = np.where(touching[row] > 0.5, approach[row - 1], 0.0)
        approach[row] = np.where(met, np.maximum(-rates[row], 0.0), lasting)
    return touching, approach
