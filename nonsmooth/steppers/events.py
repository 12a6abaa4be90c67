"""Events within a smooth step: the first one, and the step size with which the step ends at it.

==========  =========================================  =========================
landing     an open gap reaches zero                   quintic of the gap
release     a normal force goes through zero           force within the step, see `losses`
reversal    the slip of a slipping contact vanishes    cubic of the slip (in space: has turned by a right angle)
breakaway   a sticking contact reaches its cone        force within the step
==========  =========================================  =========================
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.steppers.landing import first_closing
from nonsmooth.steppers.losses import kept, losses
from nonsmooth.steppers.motion import Motion
from nonsmooth.steppers.phases import Index, Phase, Point, Trial
from nonsmooth.tolerances.event_driven import (
    ITERATIONS,
    LANDED,
    LOCATED,
    PATIENCE,
    PLACES,
    ROUND_OFF,
    SAME_TIME,
    SHARED,
)

__all__ = [
    "BREAKAWAY",
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
#: shares of the time between two roots at which polynomials of gaps are evaluated
BETWEEN = np.linspace(0.0, 1.0, 9)
#: values of quintics at places of a step from their coefficients
SCAN = PLACES[:, None] ** np.arange(6)
#: coefficients of s^3, s^4, s^5 from the differences to a parabola at the end, of value, rate and acceleration
HERMITE = np.array([[10.0, -4.0, 0.5], [-15.0, 7.0, -1.0], [6.0, -3.0, 0.5]])


class Event(NamedTuple):
    """An event expected at `time` after the start of the trial, no later than `latest`; time 0: at the start."""

    time: float
    latest: float
    kind: str
    contact: int


class Found(NamedTuple):
    """The step that ends at the event; not confirmed if the expected change of sign does not occur."""

    trial: Trial
    confirmed: bool


class Scales(NamedTuple):
    """For each contact, bounds below which gaps [m] are closed, and forces [N] and slips [m/s] zero."""

    gap: Array
    force: Array
    slip: Array


def scales(motion: Motion, point: Point, phase: Phase, gap: Array, force: Array) -> Scales:
    """At a point; `force` are least typical forces."""
    m = motion.m
    mobility = np.sum((m.metric.inverse @ point.W_N) ** 2, axis=0)
    size = m.metric.length(point.free) + m.metric.length(point.a)
    typical = size / np.sqrt(np.where(mobility > 0, mobility, np.inf)) + force
    slip = m.largest(np.abs(point.W_T).T @ np.abs(point.v)) + m.scale / m.longest
    slip = np.maximum(ROUND_OFF * slip, motion.unresolved_slip(point.W_T, point.v))
    return Scales(gap, (SHARED if phase.reference.any() else ROUND_OFF) * typical, slip)


def first_event(
    motion: Motion,
    trial: Trial,
    phase: Phase,
    scale: Scales,
    located: str | None = None,
    refuted: Container[tuple[str, int]] = (),
) -> Event | None:
    """The first event of a trial step but those `refuted`, by kind and contact; of the kind `located`, at whose event
    it ends, its inside is not looked into."""
    events = list(_closings(trial, phase, scale))
    if phase.closed.size:
        events += _reversals(motion, trial, phase, scale)
        for kind, contacts in ((RELEASE, phase.closed), (BREAKAWAY, phase.sticking)):
            lost = losses(motion, trial, phase, kind == BREAKAWAY, contacts, scale.force, kind == located)
            events += [Event(time, latest, kind, contact) for time, latest, contact in lost]
    return min((event for event in events if (event.kind, event.contact) not in refuted), default=None)


def _closings(trial: Trial, phase: Phase, scale: Scales) -> Iterator[Event]:
    """Times at which open gaps become negative, by quintics through values, rates and accelerations at both ends."""
    a, b, dt, watched = trial.start, trial.end, trial.dt, phase.open
    if not watched.size:
        return
    g0, g1 = np.maximum(a.g_N, 0.0), b.g_N
    start = np.array([g0, dt * a.gamma, dt * dt / 2 * a.gap_acceleration])
    off = np.array([g1 - start.sum(axis=0), dt * b.gamma - start[1] - 2 * start[2],
                    dt * dt * b.gap_acceleration - 2 * start[2]])  # fmt: skip
    polynomials = np.concatenate([start, HERMITE @ off])
    curves = SCAN @ polynomials[:, watched]
    for k in np.flatnonzero(np.any(curves < -scale.gap[watched], axis=0)):
        i = int(watched[k])
        share = _first_below(polynomials[:, i], float(scale.gap[i]))
        if share is not None:
            yield Event(dt * share, dt, LANDING, i)


def _first_below(polynomial: Array, tolerance: float) -> float | None:
    """The share of the step at which a polynomial, in rising powers, goes below zero by more than the tolerance before
    it comes back; 0 where it does so from the start."""
    leaving = int(polynomial[0] <= tolerance)
    roots = np.roots(polynomial[:0:-1] if leaving else polynomial[::-1])
    real = roots.real[np.abs(roots.imag) <= 1e-9 * np.abs(roots)]
    edges = [0.0, *np.sort(real[(real > 0.0) & (real < 1.0)]).tolist(), 1.0]
    for low, high in zip(edges, edges[1:], strict=False):
        between = low + (high - low) * BETWEEN
        below = np.polyval(polynomial[::-1], between) - leaving * polynomial[0] < -tolerance
        if below.any():  # an open gap without an earlier root: the root was lost to round-off
            return low if low > 0.0 or leaving else float(between[int(np.argmax(below))]) / 2
    return None


def _reversals(motion: Motion, trial: Trial, phase: Phase, scale: Scales) -> Iterator[Event]:
    if not phase.slipping.size:
        return iter(())
    a, b, s, dot = trial.start, trial.end, phase.direction, motion.m.dot
    values = (dot(s, a.slip), dot(s, a.slip_rate), dot(s, b.slip), dot(s, b.slip_rate))
    return _crossings(*values, trial.dt, phase.slipping, scale.slip, REVERSAL)


def _crossings(
    g0: Array, rate0: Array, g1: Array, rate1: Array, dt: float, watched: Index, tolerance: Array, kind: str
) -> Iterator[Event]:
    """Times at which positive quantities become negative, by their cubics."""
    if not watched.size:
        return
    # the cubic lies within the convex hull of its Bezier points
    hull = np.minimum(np.minimum(g0 + dt * rate0 / 3, g1 - dt * rate1 / 3), g1)
    for i in watched[hull[watched] < -tolerance[watched]]:
        one = slice(i, i + 1)
        found = first_closing(g0[one], rate0[one], g1[one], rate1[one], dt, watched=np.ones(1, dtype=bool),
                              tolerance=tolerance[one])  # fmt: skip
        if found is not None:
            yield Event(found[0], dt, kind, int(i))
        elif g1[i] < -tolerance[i]:  # negative from the start
            yield Event(0.0, dt, kind, int(i))


def losing(motion: Motion, point: Point, phase: Phase, kind: str) -> list[int]:
    """Contacts whose force, or whose distance to the edge of the friction cone, is negative."""
    contacts = phase.closed if kind == RELEASE else phase.sticking
    return [int(i) for i in contacts if kept(motion.m, point.lam_N, point.lam_T, kind == BREAKAWAY)[i] < 0.0]


def locate(
    motion: Motion, trial: Trial, event: Event, phase: Phase, scale: Scales, advance: Callable[[float], Trial]
) -> Found:
    """The step that ends at the event, by a safeguarded Newton or secant method on the step size."""
    i = event.contact
    tolerance = {LANDING: LANDED, REVERSAL: LOCATED * scale.slip[i]}.get(event.kind, LOCATED * scale.force[i])

    def value(point: Point) -> tuple[float, float]:
        if event.kind == LANDING:
            return float(point.g_N[i]), float(point.gamma[i])
        if event.kind == REVERSAL:
            along = motion.m.along(np.array([i]))
            s = phase.direction[along]
            return float(s @ point.slip[along]), float(s @ point.slip_rate[along])
        return float(kept(motion.m, point.lam_N, point.lam_T, event.kind == BREAKAWAY)[i]), np.nan

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
        if length in (low, high) or high - low <= SAME_TIME * max(abs(trial.start.t), known):
            break
    return Found(best, crossed)
