"""Pieces, events and rows of a run with compliant contact, as in `nonsmooth.steppers.compliant`."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.compliant_table import *
from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.closing import cubic_at, first_root, turns
from nonsmooth.native.loops.compliant import *
from nonsmooth.native.loops.compliant_rows import *
from nonsmooth.native.loops.dop853 import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def begin(A, f):  # type: ignore[no-untyped-def]
    """Start the integrator anew at STATE, from which its coordinates are deviations."""
    r, state, y, origin = running(A, f), f + lc(A, I_STATE), f + lc(A, I_Y), f + lc(A, I_ORIGIN)
    places, core, width = 3 * lc(A, N_BODIES), lc(A, I_CORE), lc(A, I_WIDTH)
    clear(y, width)
    copy(state, origin, places)
    copy(state + 8 * places, y + 8 * places, core - places)
    clear(f + lc(A, I_INTEGRALS), width)
    st(r, R_T, ld(r, R_ROW_T))
    rates_at(A, f, ld(r, R_T), y, stage(A, f, STAGES))
    given = ld(r, R_FIRST)
    st(r, R_LENGTH, min(given, ld(r, R_LONGEST)) if given > 0.0 else first_length(A, f))
    st(r, R_FIRST, 0.0)
    si(r, R_ROWS, 0)
    si(r, R_ROW, 1)
    si(r, R_EVENT_GAP, -1)
    si(r, R_RESTART, 0)


@njit(**OPT)
def look_at(A, f, t):  # type: ignore[no-untyped-def]
    """True gaps and their rates within the piece."""
    at_time(A, f, t, (lc(A, I_CORE) + 3) // 4)
    spread(A, f, f + lc(A, I_AT), f + lc(A, I_ORIGIN))
    contacts_of(A, f)


@njit(**OPT)
def look_between(A, f, before, after_, dt):  # type: ignore[no-untyped-def]
    """When the first gap closes, or opens if it touches, between two looks; which one, -1 if none.

    As `steppers.landing.first_closing`: gaps are cubics, and one that leaves zero is divided by s.
    """
    soonest, found, first, touched = math.inf, -1, f + lc(A, GAPS), ld(running(A, f), R_TOUCHED)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        sign, tolerance = -1.0 if ld(gap, TOUCHES) > 0.0 else 1.0, touched * ld(gap, SCALE)
        g0, rate0 = sign * ld(before, 2 * k), sign * ld(before, 2 * k + 1)
        g1, rate1 = sign * ld(after_, 2 * k), sign * ld(after_, 2 * k + 1)
        leaving = g0 <= tolerance
        start = 0.0 if leaving else g0
        a, slope, rise = rate0 * dt, rate1 * dt, g1 - start
        b, c = 3.0 * rise - 2.0 * a - slope, a + slope - 2.0 * rise
        x, y = turns(a, b, c)
        lowest = min(cubic_at(1.0, start, a, b, c), cubic_at(x, start, a, b, c), cubic_at(y, start, a, b, c))
        if not lowest < -tolerance:
            continue
        root = first_root(a, b, c, 0.0) if leaving else first_root(start, a, b, c)
        if root * dt < soonest:
            soonest, found = root * dt, k
    return soonest, found


@njit(**OPT)
def located(A, f, t0, t1, guess, k):  # type: ignore[no-untyped-def]
    """When the gap k vanishes between two looks: guarded Newton on the interpolant."""
    gap, low, high, t = f + lc(A, GAPS) + GAP_STEP * k, t0, t1, t0 + guess
    sign = -1.0 if ld(gap, TOUCHES) > 0.0 else 1.0
    for _ in range(NEWTON):
        look_at(A, f, t)
        g, rate = sign * ld(gap, TRUE), sign * ld(gap, OPENING)
        if g > 0.0:
            low = t
        else:
            high = t
        if abs(g) <= LOCATED:
            break
        newton = t - g / rate if rate < 0.0 else math.inf
        new = newton if low < newton < high else (low + high) / 2.0
        if new == low or new == high:
            break
        t = new
    return t


@njit(**OPT)
def first_event(A, f):  # type: ignore[no-untyped-def]
    """The end of the piece, or the first touch or parting within, noted as its event."""
    r, looks, gaps, seen, first = running(A, f), lc(A, I_LOOKS), lc(A, N_GAPS), f + lc(A, I_SEEN), f + lc(A, GAPS)
    start, end = ld(r, R_T_OLD), ld(r, R_T)
    apart = (end - start) / looks
    si(r, R_EVENT_GAP, -1)
    t0 = start
    for i in range(looks + 1):
        t1 = end if i == looks else i * apart + start
        look_at(A, f, t1)
        here, last = seen + 16 * gaps * (i & 1), seen + 16 * gaps * (1 - (i & 1))
        for k in range(gaps):
            gap = first + GAP_STEP * k
            st(here, 2 * k, ld(gap, TRUE))
            st(here, 2 * k + 1, ld(gap, OPENING))
        if i > 0:
            after_, k = look_between(A, f, last, here, t1 - t0)
            if k >= 0:
                t = max(located(A, f, t0, t1, after_, k), next_number(f, r + 8 * R_BITS, start))
                si(r, R_EVENT_GAP, k)
                st(r, R_EVENT, t)
                return t
        t0 = t1
    return end


@njit(**OPT)
def next_piece(A, f):  # type: ignore[no-untyped-def]
    """The integrator's next step, its first event, and how many rows it has; whether there is one."""
    r, first, some = running(A, f), f + lc(A, GAPS), False
    if not integrate(A, f):
        return False
    interpolate(A, f)
    st(r, R_END, first_event(A, f))
    for k in range(lc(A, N_GAPS)):
        some |= ld(first + GAP_STEP * k, TOUCHES) > 0.0
    si(r, R_ROW, 1)
    si(r, R_ROWS, lc(A, I_SAMPLES) if some else 1)
    return True


@njit(**OPT)
def next_row(A, f):  # type: ignore[no-untyped-def]
    """When the next row is, of this piece or of the next one; infinite where the integrator finds no step."""
    r = running(A, f)
    while True:
        if li(r, R_ROW) > li(r, R_ROWS) and not next_piece(A, f):
            return math.inf
        start, end, k, rows = ld(r, R_T_OLD), ld(r, R_END), li(r, R_ROW), li(r, R_ROWS)
        t = end if k == rows else k * ((end - start) / rows) + start
        if k == rows or start < t < end:
            return t
        si(r, R_ROW, k + 1)


@njit(**OPT)
def compliant_run(A, f, rec, t_end, rows):  # type: ignore[no-untyped-def]
    """Up to so many rows; stops before one that is not certified, and where the integrator finds no step."""
    r = running(A, f)
    for _ in range(rows):
        last = ld(r, R_ROW_T)
        if not last < t_end:
            return DONE
        if li(f, COUNTERS + K_ROWS) >= li(rec, REC_CAPACITY):
            return FULL
        if li(r, R_RESTART):
            begin(A, f)
        t = next_row(A, f)
        if t <= t_end:
            si(r, R_ROW, li(r, R_ROW) + 1)
        elif t < math.inf:
            t = t_end
        if not last < t < math.inf:
            si(r, R_RESTART, 1)
            return UNCERTAIN
        at_time(A, f, t, lc(A, I_WIDTH) // 4)
        if not row_at(A, f, rec, t):
            si(r, R_RESTART, 1)
            return UNCERTAIN
    return DONE
