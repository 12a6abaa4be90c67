"""Clearances near the round-off of coordinates, or far below the displacement of a step."""

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.clearances import Clearance
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.step.tolerances import EPSILON

#: share of a clearance up to which gaps may be round-off
MOST_ROUND_OFF = 1e-7
#: displacement in a step, in clearances, above which messages name the clearance
TIGHT = 1e2


def gap_round_off(scale: Array, q: Array) -> float:
    """Round-off of the coordinates q as a share of the smallest clearance or contact size, `MOST_ROUND_OFF` at most."""
    if scale.size == 0:
        return 0.0
    return float(min(MOST_ROUND_OFF, 2 * EPSILON * np.max(np.abs(q), initial=0.0) / np.min(scale)))


def tight_clearance(m: Mechanism, t: float, q: Array, v: Array, dt: float) -> str:
    """A sentence, after a blank, on the clearance that is smallest relative to the displacement in a step, along the
    gap and by its change since a concentric journal has no direction; "" where none exceeds `TIGHT` clearances."""
    at, change = m.at(t, q), dt * m.metric.change(m.force(t, q, v))
    kinds = m.system.contact_elements
    moved = dt * np.abs(at.W_N).T @ (np.abs(v) + np.abs(change)) / m.scale
    gaps = m.system.true_gaps(np.array([q, m.moved(q, v + change, dt)]), m.p)
    moved = np.maximum(moved, np.abs(gaps[1] - gaps[0]) / m.scale)
    moved[[not isinstance(kind, Clearance) for kind in kinds]] = 0.0
    if not np.max(moved, initial=0.0) > TIGHT:
        return ""
    i = int(np.argmax(moved))
    return (
        f" With its velocities and loads at the start of the step, '{m.system.contact_names[i]}' would move by "
        f"{moved[i]:.2g} times its clearance ({m.scale[i]:.3g} m) in a step of {dt:.3g} s. Shorten the step; where "
        "these velocities are far above those of the mechanism, steps before were too long already: shorten all. If so "
        "small a clearance does not matter, use its ideal joint (Model.ideal)."
    )
