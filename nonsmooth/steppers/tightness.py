"""Clearances near the round-off of places, or far below what a step moves: what is left of them, what to do."""

from __future__ import annotations

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.contacts import Contact
from nonsmooth.steppers.mechanism import Mechanism

__all__ = ["gap_round_off", "tight_clearance"]

#: share of a clearance up to which gaps may be round-off
MOST_NOISE = 1e-7
#: ways of a step, in clearances, above which a clearance is said to be tight
TIGHT = 1e3


def gap_round_off(m: Mechanism, q: Array) -> float:
    """What round-off of the places q is as a share of the smallest clearance or contact size, `MOST_NOISE` at most."""
    if m.scale.size == 0:
        return 0.0
    return float(min(MOST_NOISE, 2 * np.finfo(float).eps * np.max(np.abs(q), initial=0.0) / np.min(m.scale)))


def tight_clearance(m: Mechanism, t: float, q: Array, v: Array, dt: float) -> str:
    """A sentence, after a blank, on the clearance that is smallest beside the way of a step; empty where none is.

    The way is dt times the larger of the speed along the gap and the speed that loads give in the step; or, since a
    concentric journal has no direction, the change of the distance that both bring about.
    """
    at, kick = m.at(t, q), dt * m.metric.change(m.force(t, q, v))
    names, kinds = (
        m.system.contact_names,
        [e for e in m.system.elements if isinstance(e, Contact) for _ in e.gap_labels],
    )
    ways = dt * np.abs(at.W_N).T @ (np.abs(v) + np.abs(kick)) / m.scale
    gaps = m.system.true_gaps(np.array([q, m.moved(q, v + kick, dt)]), m.p)
    ways = np.maximum(ways, np.abs(gaps[1] - gaps[0]) / m.scale)
    ways[[not isinstance(kind, Clearance) for kind in kinds]] = 0.0
    if not np.max(ways, initial=0.0) > TIGHT:
        return ""
    i = int(np.argmax(ways))
    return (
        f" The clearance of '{names[i]}' ({m.scale[i]:.3g} m) is a share of {1 / ways[i]:.2g} of what a step of "
        f"{dt:.3g} s may move there; where so little clearance does not matter, take its ideal joint (Model.ideal)."
    )
