"""Steps across singular positions, where directions of joints become dependent for one instant.

Near such a position the forces of joints grow like 1/sigma with the vanishing singular value sigma, and round-off in
accelerations like 1/sigma**2, so that accelerations must not be evaluated there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nonsmooth.steppers.motion import Motion
from nonsmooth.steppers.phases import Phase, Point, Trial
from nonsmooth.tolerances import TINY
from nonsmooth.tolerances.event_driven import KICK

__all__ = ["Reach", "crossed", "reach_of_singular"]

#: smallest singular value of the joints' directions below which a step crosses a singular position
CROSSING = 2e-4
#: singular value above which no singular position is near
FAR = 0.1
#: displacement of the mechanism, as a share of that value, for a difference quotient
NUDGE = 1e-2
#: largest number of iterations of such a step, and the change of velocity at which they end
CROSSINGS, SETTLED = 40, 1e-8
#: share of the largest singular value of the joints' Delassus operator below which rows are redundant everywhere
DEPENDENT = 1e-12


class Reach(NamedTuple):
    """Time [s] until joints become dependent, and length of the step that crosses this position."""

    time: float
    half: float


def reach_of_singular(motion: Motion, point: Point, phase: Phase) -> Reach:
    """Time at which the smallest singular value of the joints' directions vanishes, by linear extrapolation."""
    m, never = motion.m, Reach(np.inf, 0.0)
    if phase.closed.size:
        return never
    sizes = m.smallest(point.W_g)
    if sizes > FAR:
        return never
    ahead = sizes * NUDGE
    speed = float(np.max(np.abs(point.v), initial=0.0))
    if speed == 0.0:
        return never
    dt = ahead / speed
    falls = (sizes - m.smallest(m.at(point.t + dt, m.moved(point.q, point.v, dt)).W_g)) / dt
    return Reach(sizes / falls, CROSSING / falls) if falls > 0.0 else never


def crossed(motion: Motion, start: Point, dt: float, phase: Phase) -> Trial | None:
    """A step across a singular position of the joints without evaluations at it; None if it does not converge.

    It is a step of RATTLE, symmetric and of second order: impulses along the directions at the start satisfy the joints
    at the end, on the branch nearest to the previous motion, and impulses at the end satisfy their velocities. At both
    ends the directions are independent. With a length of 2 sigma / |sigma'|, sigma the singular value that vanishes,
    its error is of the order of sigma**3.
    """
    m, t, best = motion.m, start.t + dt, np.inf
    q, u, change = m.moved(start.q, start.v, dt), start.v, m.metric.change
    for _ in range(CROSSINGS):
        force = m.force(start.t + dt / 2, m.moved(start.q, u, dt / 2), u)
        W, _, _, g = motion.closure(t, q, m.p)
        W = W[:, : motion.ng]
        pushes = change(start.W_g)
        free = start.v + change(dt / 2 * force)
        P = np.linalg.lstsq(W.T @ pushes, W.T @ (u - free) - g / dt, rcond=DEPENDENT)[0]
        before, u = u, free + pushes @ P
        q = m.moved(start.q, u, dt)
        moved = m.metric.length(u - before) / max(m.metric.length(u), TINY)
        if moved >= best and moved < SETTLED:
            break
        best = min(best, moved)
    else:
        return None
    q, v = motion.projected(t, q, u + change(dt / 2 * force), phase)
    end = motion.at(t, q, v, phase)
    if not np.all(np.isfinite(end.a)) or m.metric.length(end.v - start.v) > KICK * m.metric.length(start.v):
        return None
    return Trial(dt, (start, end), end, 0.0, dt / 2 * motion.powers((start, end), phase).sum(axis=0))
