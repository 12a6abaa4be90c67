"""Events within a smooth step: which comes first, and the length of step that ends at it.

==========  =========================================  =========================
landing     an open gap reaches zero                   cubic of the gap
release     a normal force goes through zero           force at the stages
reversal    the slip of a slipping contact vanishes    cubic of the slip (in space: has turned by a right angle)
breakaway   a sticking contact reaches its cone        force at the stages
==========  =========================================  =========================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.steppers.landing import first_closing
from nonsmooth.steppers.phases import Index, Motion, Phase, Point, Trial

__all__ = [
    "BREAKAWAY",
    "LANDED",
    "LANDING",
    "RELEASE",
    "REVERSAL",
    "Event",
    "Found",
    "Scales",
    "first_event",
    "locate",
    "losing",
    "scales",
]

LANDING, RELEASE, REVERSAL, BREAKAWAY = "landing", "release", "reversal", "breakaway"
#: gap [m] to which a landing is located
LANDED = 1e-15
#: share of its typical size to which a force or a slip is located
LOCATED = 1e-13
#: and below which its sign is round-off
ROUND_OFF = 1e-11
ITERATIONS = 40
#: share of its range in a step by which a force must be negative at an inner stage, whose order is low, to be believed
BELIEVED = 1e-3
#: evaluations without a change of sign after which an event counts as unconfirmed
PATIENCE = 6


class Event(NamedTuple):
    """An event expected at `time` after the start of the trial, no later than `latest`; time 0: at the start."""

    time: float
    latest: float
    kind: str
    contact: int


class Found(NamedTuple):
    """The step that ends at the event; not confirmed where the expected change of sign does not come."""

    trial: Trial
    confirmed: bool


class Scales(NamedTuple):
    """Below what gaps [m] count as closed, and what forces [N] and slips [m/s] count as zero, by contact."""

    gap: Array
    force: Array
    slip: Array


def scales(motion: Motion, point: Point, gap: Array, force: Array) -> Scales:
    """At a point; `force` are least typical forces."""
    m = motion.m
    mobility = np.sum((m.metric.inverse @ point.W_N) ** 2, axis=0)
    size = m.metric.length(point.free) + m.metric.length(point.a)
    typical = size / np.sqrt(np.where(mobility > 0, mobility, np.inf)) + force
    slip = m.largest(np.abs(point.W_T).T @ np.abs(point.v)) + m.scale / m.longest
    slip = np.maximum(ROUND_OFF * slip, motion.unresolved_slip(point.W_T, point.v))
    return Scales(gap, ROUND_OFF * typical, slip)


def first_event(motion: Motion, trial: Trial, phase: Phase, scale: Scales, located: str | None = None) -> Event | None:
    """The first event of a trial step; of the kind `located`, at whose event it ends, inner stages are not asked."""
    events = list(_closings(trial, phase, scale))
    if phase.closed.size:
        events += _reversals(motion, trial, phase, scale)
        events += _losses(motion, trial, phase, scale, located)
    return min(events, default=None)


def _closings(trial: Trial, phase: Phase, scale: Scales) -> Iterator[Event]:
    a, b = trial.start, trial.end
    return _crossings(a.g_N, a.gamma, b.g_N, b.gamma, trial.dt, phase.open, scale.gap, LANDING)


def _reversals(motion: Motion, trial: Trial, phase: Phase, scale: Scales) -> Iterator[Event]:
    if not phase.slipping.size:
        return iter(())
    a, b, s, dot = trial.start, trial.end, phase.direction, motion.m.dot
    values = (dot(s, a.slip), dot(s, a.slip_rate), dot(s, b.slip), dot(s, b.slip_rate))
    return _crossings(*values, trial.dt, phase.slipping, scale.slip, REVERSAL)


def _crossings(
    g0: Array, rate0: Array, g1: Array, rate1: Array, dt: float, watched: Index, tolerance: Array, kind: str
) -> Iterator[Event]:
    """Where quantities that are positive go below zero, by their cubics."""
    if not watched.size:
        return
    # the cubic lies within the hull of its Bezier points
    hull = np.minimum(np.minimum(g0 + dt * rate0 / 3, g1 - dt * rate1 / 3), g1)
    for i in watched[hull[watched] < -tolerance[watched]]:
        one = slice(i, i + 1)
        found = first_closing(g0[one], rate0[one], g1[one], rate1[one], dt, watched=np.ones(1, dtype=bool),
                              tolerance=tolerance[one])  # fmt: skip
        if found is not None:
            yield Event(found[0], dt, kind, int(i))
        elif g1[i] < -tolerance[i]:  # below zero from the very start
            yield Event(0.0, dt, kind, int(i))


def _losses(motion: Motion, trial: Trial, phase: Phase, scale: Scales, located: str | None) -> Iterator[Event]:
    """Where normal forces or margins of sticking go below zero, by their values at the stages."""
    points = [*trial.stages, trial.end]
    times = np.append(motion.tableau.C, 1.0) * trial.dt
    order = np.argsort(times, kind="stable")  # the end stays last
    times = times[order]
    for kind, contacts in ((RELEASE, phase.closed), (BREAKAWAY, phase.sticking)):
        if not contacts.size:
            continue
        values = np.array([_force_value(motion, points[k], kind)[contacts] for k in order])
        level = np.tile(-scale.force[contacts], (len(order), 1))
        level[1:-1] -= np.inf if kind == located else BELIEVED * np.max(np.abs(values), axis=0)
        below = values < level
        for column in np.flatnonzero(below.any(axis=0)):
            k = int(np.argmax(below[:, column]))
            if k == 0:
                yield Event(0.0, trial.dt, kind, int(contacts[column]))
                continue
            above = int(np.flatnonzero(values[:k, column] >= 0.0)[-1]) if np.any(values[:k, column] >= 0.0) else 0
            f0, f1 = max(float(values[above, column]), 0.0), float(values[k, column])
            low, high = float(times[above]), float(times[k])
            # never at the start itself: the value there is positive
            time = low + (high - low) * f0 / (f0 - f1)
            yield Event(time if time > 0.0 else high / 2, high, kind, int(contacts[column]))


def _force_value(motion: Motion, point: Point, kind: str) -> Array:
    """What stays positive until the event: normal forces, or their room in the friction cone."""
    if kind == RELEASE:
        return point.lam_N
    return motion.m.friction * point.lam_N - motion.m.length(point.lam_T)


def losing(motion: Motion, point: Point, phase: Phase, kind: str) -> list[int]:
    """Contacts whose force, or whose room in the friction cone, is negative."""
    contacts = phase.closed if kind == RELEASE else phase.sticking
    return [int(i) for i in contacts if _force_value(motion, point, kind)[i] < 0.0]


def locate(
    motion: Motion, trial: Trial, event: Event, phase: Phase, scale: Scales, advance: Callable[[float], Trial]
) -> Found:
    """The step that ends at the event: guarded Newton or secant on the length, each time stepped anew."""
    i = event.contact
    tolerance = {LANDING: LANDED, REVERSAL: LOCATED / ROUND_OFF * scale.slip[i]}.get(
        event.kind, LOCATED / ROUND_OFF * scale.force[i]
    )

    def value(point: Point) -> tuple[float, float]:
        if event.kind == LANDING:
            return float(point.g_N[i]), float(point.gamma[i])
        if event.kind == REVERSAL:
            along = motion.m.along(np.array([i]))
            s = phase.direction[along]
            return float(s @ point.slip[along]), float(s @ point.slip_rate[along])
        return float(_force_value(motion, point, event.kind)[i]), np.nan

    low, high, crossed = 0.0, event.latest, False
    f_low, f_high = value(trial.start)[0], np.nan
    if event.latest == trial.dt:
        f_high = value(trial.end)[0]
        crossed = f_high < 0
    length, known, best = event.time, trial.dt, trial
    side = 0
    for iteration in range(ITERATIONS):
        best = advance(length)
        f, rate = value(best.end)
        if abs(f) <= tolerance:
            return Found(best, True)
        if f > 0:
            low, f_low = length, f
            f_high = f_high / 2 if side > 0 else f_high
            side = 1
        else:
            high, f_high, crossed = length, f, True
            f_low = f_low / 2 if side < 0 else f_low
            side = -1
        if not crossed and iteration >= PATIENCE:
            return Found(best, False)
        guess = length - f / rate if rate < 0 else np.nan
        if np.isnan(rate) and f_low > 0 > f_high:  # Illinois
            guess = low + (high - low) * f_low / (f_low - f_high)
        length = guess if low < guess < high else (low + high) / 2
        if length in (low, high) or high - low <= 1e-16 * max(abs(trial.start.t), known):
            break
    return Found(best, crossed)
