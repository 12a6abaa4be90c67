"""Times within a step at which contact forces become tensile or leave their friction cones.

The stages of a Runge-Kutta step are of low order and far apart in long steps. If the forces at the stages approach
zero, forces are evaluated along the continuous extension of the step at Chebyshev points. The polynomials through them
are searched for the first change of sign, and evaluated once more at the minimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.steppers.mechanism import Mechanism
from nonsmooth.steppers.motion import Motion
from nonsmooth.steppers.phases import Index, Phase, Point, Trial
from nonsmooth.tolerances.event_driven import FINE, NEAR, RESOLVED

__all__ = ["kept", "losses"]


def kept(m: Mechanism, lam_N: Array, lam_T: Array, breakaway: bool) -> Array:
    """Quantities (..., nc) that are positive until a contact mode ends: normal forces, or distances to the edge of the
    cone."""
    if not breakaway:
        return lam_N
    size = np.abs(lam_T) if m.tangents == 1 else np.linalg.norm(lam_T.reshape(*lam_N.shape, m.tangents), axis=-1)
    return np.asarray(m.friction * lam_N - size)


def losses(
    motion: Motion, trial: Trial, phase: Phase, breakaway: bool, contacts: Index, zero: Array, located: bool
) -> Iterator[tuple[float, float, int]]:
    """First time after the start at which a contact mode ends, an upper bound of it, and the contact; time 0: at the
    start.

    Parameters
    ----------
    breakaway
        Friction cones are checked instead of normal forces.
    contacts
        The contacts that are checked.
    zero : (nc,) [N]
        Forces that are regarded as zero.
    located
        The step ends at such an event that is already known: only its ends are evaluated.
    """
    if not contacts.size:
        return
    m, dt = motion.m, trial.dt
    inner = trial.stages[1:] if trial.slopes is not None else ()
    points = [trial.start, *inner, trial.end]
    values = kept(m, _stacked(points, "lam_N"), _stacked(points, "lam_T"), breakaway)[:, contacts]
    least, most, zero = values.min(axis=0), values.max(axis=0), zero[contacts]
    doubtful = (least < NEAR * (most - least)) & (most - least > zero) | (least < -zero)
    if not doubtful.any():
        return
    if located or not inner:
        for k in np.flatnonzero(values[-1] < -zero):
            yield _crossing(values[[0, -1], k], np.array([0.0, dt]), zero[k], int(contacts[k]))
        return
    degree = motion.tableau.degree
    nodes, fine, scan, tail = _chebyshev(degree)
    within = motion.within(trial, phase)
    known = [trial.start, *(within(x) for x in nodes[1:-1]), trial.end]
    lam_N, lam_T = _stacked(known, "lam_N"), _stacked(known, "lam_T")
    curves = kept(m, scan @ lam_N, scan @ lam_T, breakaway)[:, contacts]
    doubt = m.friction * np.abs(tail @ lam_N) + m.largest(np.abs(tail @ lam_T)) if breakaway else np.abs(tail @ lam_N)
    for k in np.flatnonzero(doubtful):
        i, curve = int(contacts[k]), curves[:, k]
        level = zero[k] + RESOLVED * float(np.max(np.abs(curve)))
        place = int(np.argmin(curve))
        if curve[place] > level + 2 * doubt[i]:
            continue
        if 0 < place < len(fine) - 1:  # the polynomial is exact at its nodes only
            there = within(float(fine[place]))
            curve = curve + np.where(np.arange(len(fine)) == place, kept(m, there.lam_N, there.lam_T, breakaway)[i]
                                     - curve[place], 0.0)  # fmt: skip
        if curve[place] < -level or curve[-1] < -zero[k] or curve[0] < -zero[k]:
            below = curve < -level
            below[[0, -1]] = curve[[0, -1]] < -zero[k]
            below[1:-1] &= curve[1:-1] < -2 * doubt[i]
            below[place] |= curve[place] < -level
            first = int(np.argmax(below))
            yield _crossing(curve[: first + 1], dt * fine[: first + 1], zero[k], i)


def _crossing(values: Array, times: Array, zero: float, contact: int) -> tuple[float, float, int]:
    """Times at which values, negative at the last of these times only, become zero; the start if they were never
    positive."""
    latest = float(times[-1])
    above = np.flatnonzero(values > zero)
    if not above.size:
        return (0.0 if values[0] <= zero else latest), latest, contact
    last = int(above[-1])
    before = values[last]
    low, high = float(times[last]), float(times[last + 1])
    time = low + (high - low) * float(before / (before - values[last + 1]))
    return time, latest, contact


def _stacked(points: list[Point], name: str) -> Array:
    return np.array([getattr(x, name) for x in points])


@cache
def _chebyshev(degree: int) -> tuple[Array, Array, Array, Array]:
    """Nodes on [0, 1], a fine grid, and the matrices from values at the nodes to values on the grid and to the last
    coefficient."""
    nodes = (1 - np.cos(np.pi * np.arange(degree + 1) / degree)) / 2
    fine = (1 - np.cos(np.pi * np.arange(degree * FINE + 1) / (degree * FINE))) / 2
    coefficients = np.linalg.inv(np.polynomial.chebyshev.chebvander(2 * nodes - 1, degree))
    scan = np.polynomial.chebyshev.chebvander(2 * fine - 1, degree) @ coefficients
    return nodes, fine, scan, coefficients[-1]
