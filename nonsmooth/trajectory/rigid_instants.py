"""Accelerations and forces with rigid contact, by the complementarity problem of the event-driven stepper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.schemes.event_driven.instants import EventInstants
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.step.constrained_motion import Configuration, Mechanism
from nonsmooth.step.tolerances import CLOSED, OPEN, SLIPPING, STICKING
from nonsmooth.trajectory.origin import Forces, Origin, Run

__all__ = ["RigidLaw"]

Mask = NDArray[np.bool_]

#: share of the sum of its terms up to which a gap velocity or slip of a persistent contact may be the error of a step
HELD = 1e-3
#: share of the contact's size up to which a gap may be the constraint drift of a persistent contact
DRIFT = 1e-2
#: share of the sum of its terms up to which a slip begins or ends
VANISHING = 1e-8


class RigidLaw:
    """Forces along a run with rigid contacts, or with none.

    A contact is persistent between two rows if it was closed in the run, and at both rows its gap is below a hundredth
    of its size and its gap velocity below a thousandth of the sum of its terms; it sticks if the same is true of the
    slip. The state is projected onto joints and persistent contacts, in the mass metric. The complementarity problem in
    accelerations then determines the modes of these contacts and of all others with zero gap and gap velocity.
    """

    def __init__(self, run: Run, origin: Origin) -> None:
        self.rows, self.q, self.v, self.left = run.t, run.q.array, run.v.array, run.left.v.array
        longest = float(np.max(np.diff(run.t), initial=0.0)) or 1.0
        self.m = Mechanism(origin.system, origin.parameters, longest)
        self.phases = EventInstants(origin.system, origin.parameters, longest)
        # the mode of an event-driven row is that of its impact or, without one, of the motion after it; that of other
        # rows belongs to the step that ends there
        after = str(run.manifest["settings"]["stepper"]).startswith(EventDriven.__name__)
        self.mode, self.lag, self.lam_N = run.mode.array, 0 if after else 1, run.lam_N.array
        self.struck = np.isin(run.t, run.impacts["t"])

    def forces(self, t: float, q: Array, v: Array, step: int) -> Forces:
        """At a state of the motion that follows on row `step`."""
        m = self.m
        held, stuck, chord = self._lasting(step)
        if held.any() or m.system.ng:
            mode = np.where(held, np.where(m.friction > 0, np.where(stuck, STICKING, SLIPPING), CLOSED), OPEN)
            q, v = self.phases.projected(t, q, v, mode.astype(np.int8))
        x, terms = m.at(t, q), np.abs(v)
        touching = x.g_N <= self.phases.closed_gap
        moving = m.leaving(x.W_N, v, terms) | m.approaching(x.W_N, v, terms)
        signs = {} if chord is None else self._signs(x, v, held & ~stuck, chord)
        found = self.phases.found(t, q, v, held | (touching & ~moving), signs)
        lam_g = m.least(t, found.q, found.lam_g)
        return Forces(found.a, lam_g, m.reaction(t, found.q, lam_g), found.lam_N, found.lam_T, found.mode)

    def _signs(self, x: Configuration, v: Array, slipping: Mask, chord: Array) -> dict[int, Array]:
        """Directions of vanishing slips, where slipping begins or ends: those of the motion between the rows."""
        m = self.m
        small = VANISHING * (m.largest(np.abs(x.W_T).T @ np.abs(v)) + m.scale / m.longest)
        still = slipping & (m.friction > 0) & (m.length(x.W_T.T @ v) <= small) & (m.length(chord) > small)
        return {int(i): m.unit(chord)[m.along(np.array([i]))] for i in np.flatnonzero(still)}

    def _lasting(self, step: int) -> tuple[Mask, Mask, Array | None]:
        """Persistent and sticking contacts in the motion between a row and the next one; the sum of the slips of both
        rows."""
        m, last = self.m, len(self.rows) - 1
        none = np.zeros(m.system.nc, dtype=bool)
        if m.system.nc == 0 or step < 0:
            return none, none, None
        mode = self.mode[min(step + self.lag, last)]
        held, stuck = mode != OPEN, mode == STICKING
        # the motion after the impact shows which contacts remain closed
        if self.lag == 0 and self.struck[step] and step < last:
            held = self.lam_N[step + 1] > 0.0
            stuck = held.copy()
        slips = []
        ends = [(step, self.v)] + ([(step + 1, self.left)] if step < last else [])
        for row, velocities in ends if held.any() else []:
            at, v = m.at(float(self.rows[row]), self.q[row]), velocities[row]
            floor = m.scale / m.longest
            held &= np.abs(at.g_N) <= DRIFT * m.scale
            held &= np.abs(at.W_N.T @ v) <= HELD * (np.abs(at.W_N).T @ np.abs(v)) + 1e-10 * floor
            slips.append(at.W_T.T @ v)
            stuck &= m.length(slips[-1]) <= HELD * m.largest(np.abs(at.W_T).T @ np.abs(v)) + 1e-10 * floor
        return held, held & stuck, slips[0] + slips[1] if len(slips) == 2 else None
