"""How long a half kick is at whose end a gap closes.

A gap is known at both ends with its rate, hence as a cubic; the first one that closes is met by Newton on the length,
the half kick solved anew each time. Found as in `nonsmooth.steppers.landing`.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.kick import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def turns(a, b, c):  # type: ignore[no-untyped-def]
    """Where on (0, 1) a cubic with the coefficients a, b, c of s, s^2, s^3 turns, in order; 1 where it does not."""
    discriminant = b * b - 3.0 * c * a
    if not discriminant >= 0.0:
        return 1.0, 1.0
    w = -(b + math.copysign(math.sqrt(discriminant), b))
    x = w / (3.0 * c) if c != 0.0 else 1.0
    y = a / w if w != 0.0 else 1.0
    x, y = x if 0.0 < x < 1.0 else 1.0, y if 0.0 < y < 1.0 else 1.0
    return min(x, y), max(x, y)


@njit(**OPT)
def cubic_at(s, start, a, b, c):  # type: ignore[no-untyped-def]
    return start + s * (a + s * (b + s * c))


@njit(**OPT)
def first_root(start, a, b, c):  # type: ignore[no-untyped-def]
    """The first s in (0, 1] where a cubic changes its sign; infinite if there is none."""
    x, y = turns(a, b, c)
    below, low = start <= 0.0, 0.0
    for k in range(3):
        high = x if k == 0 else (y if k == 1 else 1.0)
        if (cubic_at(high, start, a, b, c) <= 0.0) == below:
            low = high
            continue
        s = (low + high) / 2.0
        for _ in range(60):
            value, slope = cubic_at(s, start, a, b, c), a + s * (2.0 * b + s * 3.0 * c)
            if (value <= 0.0) == below:
                low = s
            else:
                high = s
            new = s - value / slope
            if not low < new < high:
                new = (low + high) / 2.0
            if abs(new - s) <= 1e-15:
                break
            s = new
        return s
    return math.inf


@njit(**OPT)
def end_rate(A, f, gap, side):  # type: ignore[no-untyped-def]
    """Rate of change of a gap at the end of a half kick with its length."""
    J, a, b = gap + NORMAL + side, lc(gap, GAP_A), lc(gap, GAP_B)
    u, v = more(A, f, U), f + 8 * V
    return 2.0 * along(J, u + a, u + b) - along(J, v + a, v + b)


@njit(**OPT)
def first_closing(A, f, dt):  # type: ignore[no-untyped-def]
    """When within the half kick the first gap closes that is open at its start, by cubics; which one, 0 if none."""
    before, after, v, first = start_gap(f), end_gap(f), f + 8 * V, f + lc(A, GAPS)
    soonest, found = math.inf, 0
    # a landing at the very end leaves gaps of round-off, which are no news
    share = 1e-2 * ld(f, OPTIONS + O_CLOSED_GAP)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if ld(gap, CLOSED) > 0.0:
            continue
        level, g0, g1 = -share * ld(gap, SCALE), ld(gap + before, GAP_G), ld(gap + after, GAP_G)
        leaving = g0 <= -level
        start = 0.0 if leaving else g0
        a = along(gap + NORMAL + before, v + lc(gap, GAP_A), v + lc(gap, GAP_B)) * dt
        slope, rise = end_rate(A, f, gap, after) * dt, g1 - start
        b, c = 3.0 * rise - 2.0 * a - slope, a + slope - 2.0 * rise
        x, y = turns(a, b, c)
        lowest = min(cubic_at(1.0, start, a, b, c), cubic_at(x, start, a, b, c), cubic_at(y, start, a, b, c))
        if not lowest < level:
            continue
        root = first_root(a, b, c, 0.0) if leaving else first_root(start, a, b, c)
        if root * dt < soonest:
            soonest, found = root * dt, gap
    return soonest, found


@njit(**OPT)
def short_flight(A, f, t1):  # type: ignore[no-untyped-def]
    """Whether a contact is back at its wall that left it less than the shortest step ago; the others are STRUCK."""
    side, shortest, crossing, first = end_gap(f), ld(f, OPTIONS + O_SHORTEST), False, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        resolved = t1 - ld(gap, LEFT_AT) >= shortest
        si(gap, STRUCK, 1 if resolved else 0)
        if not resolved and not ld(gap, CLOSED) > 0.0 and touching(f, gap, side):
            crossing = True
    return crossing


@njit(**OPT)
def kick_to_landing(A, f, t_end):  # type: ignore[no-untyped-def]
    """The longest half kick in which no open gap closes before its end, or one over an accumulation of impacts.

    Returns where it ends, its length, infinite if it was not found, and whether it goes over an accumulation.
    """
    t0, shortest, first = ld(f, TIME + 1), ld(f, OPTIONS + O_SHORTEST), f + lc(A, GAPS)
    longest = t_end - t0
    some, shut = landing_guess(A, f, longest)
    dt = longest
    sought, landings, trials, low, high, before = 0, 0, 0, 0.0, 0.0, math.inf
    crossing, forgotten = False, False
    while True:
        t1 = t_end if dt == longest else t0 + dt
        if not half_kick(A, f, t1, dt, some, shut):
            if forgotten:
                return t1, math.inf, crossing
            forget_impulses(A, f)
            forgotten = True
            continue
        if crossing:
            return t1, dt, crossing
        new = 0.0
        if sought:
            gap, rate = ld(sought + end_gap(f), GAP_G), end_rate(A, f, sought, end_gap(f))
            if gap > 0.0:
                low = dt
            else:
                high = dt
            trials += 1
            newton = dt - gap / rate if rate < 0.0 else math.inf
            step = newton if low < newton < high else (low + high) / 2
            error = abs(gap) / ld(sought, SCALE)
            located = error <= LANDED or (abs(gap) >= before / 2 and (abs(gap) <= 4 * shut or error <= ACCEPTABLE))
            if not (located or step == low or step == high or trials == TRIALS):
                new, before = step, abs(gap)
        if new == 0.0:
            at, found = first_closing(A, f, dt)
            if found and not (sought and at >= dt * AT_THE_END):
                sought, trials, low, high, before, new = found, 0, 0.0, dt, math.inf, at
                landings += 1
                if landings > LANDINGS:
                    return t1, math.inf, crossing
            elif short_flight(A, f, t1):
                crossing, some, new = True, True, min(shortest, longest)
                for k in range(lc(A, N_GAPS)):
                    si(first + GAP_STEP * k, ACTIVE, 1)
            else:
                return t1, dt, crossing
        scale_impulses(A, f, new / dt)
        dt = new
