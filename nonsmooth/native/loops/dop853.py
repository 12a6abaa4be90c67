"""Dormand and Prince's pair of order 8 with its interpolant of order 7, its steps as long as SciPy's DOP853 makes them.

The coefficients stand in the memory, row by row; stage k of a step is row k of the stages, whose row 12 holds the rates
at its end. What rides along steers no step, but counts in the mean of the errors.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math
from typing import Any

from numba import njit

from nonsmooth.native.compliant_table import *
from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@vector("axa")
def nested4(w: Vectors, b: Any, target: Any, s: Any, x: Any) -> None:
    """target = s (target + x)."""
    w.store(b.fmul(w.all(s), b.fadd(w.load(target), w.load(x))), target)


@vector("axaxa")
def weighed4(w: Vectors, b: Any, target: Any, r: Any, x: Any, s: Any, y: Any) -> None:
    """target = r x + s y."""
    w.store(b.fadd(b.fmul(w.all(r), w.load(x)), b.fmul(w.all(s), w.load(y))), target)


@vector("ax")
def scaled4(w: Vectors, b: Any, target: Any, s: Any) -> None:
    """target = s target."""
    w.store(b.fmul(w.all(s), w.load(target)), target)


@njit(**OPT)
def running(A, f):  # type: ignore[no-untyped-def]
    return f + lc(A, I_RUNNING)


@njit(**OPT)
def stage(A, f, k):  # type: ignore[no-untyped-def]
    return f + lc(A, I_STAGES) + 8 * lc(A, I_WIDTH) * k


@njit(**OPT)
def rates_at(A, f, t, y, rates):  # type: ignore[no-untyped-def]
    """rates = dy/dt at t and y."""
    st(f, TIME, t)
    call_solve(lc(A, I_RATES), A, f, y, rates)


@njit(**OPT)
def combined(A, f, coefficients, count, target, size):  # type: ignore[no-untyped-def]
    """target = the sum of so many stages times their coefficients, in the first `size` vectors of four."""
    for i in range(size):
        clear4(target + 32 * i)
    for k in range(count):
        c, rates = ld(coefficients, k), stage(A, f, k)
        if c != 0.0:
            for i in range(size):
                gain4(target + 32 * i, c, rates + 32 * i)


@njit(**OPT)
def after(A, f, y, k, h, target):  # type: ignore[no-untyped-def]
    """target = y moved by h times the stages before the k-th as it combines them."""
    size = lc(A, I_WIDTH) // 4
    combined(A, f, f + lc(A, I_METHOD) + 8 * (M_A + ALL_STAGES * k), k, target, size)
    for i in range(size):
        sum4(target + 32 * i, y + 32 * i, h, target + 32 * i)


@njit(**OPT)
def next_number(f, scratch, t):  # type: ignore[no-untyped-def]
    """The least number above t, which is finite."""
    if t == 0.0:
        return 5e-324
    st(scratch, 0, t)
    bits = lw(scratch, 0)
    sw(scratch, 0, bits + 1 if t > 0.0 else bits - 1)
    return ld(scratch, 0)


@njit(**OPT)
def error_norm(A, f, h):  # type: ignore[no-untyped-def]
    """Mean of the estimated errors of a step over their tolerances; it is accepted below 1."""
    r, method, core = running(A, f), f + lc(A, I_METHOD), lc(A, I_CORE)
    size, old, new, atol, rtol = (core + 3) // 4, f + lc(A, I_Y), f + lc(A, I_TRIAL), f + lc(A, I_ATOL), ld(r, R_RTOL)
    fifth, third = f + lc(A, I_AT), f + lc(A, I_OLD)
    combined(A, f, method + 8 * M_E5, STAGES + 1, fifth, size)
    combined(A, f, method + 8 * M_E3, STAGES + 1, third, size)
    e5 = e3 = 0.0
    for k in range(core):
        scale = ld(atol, k) + max(abs(ld(old, k)), abs(ld(new, k))) * rtol
        x, y = ld(fifth, k) / scale, ld(third, k) / scale
        e5 += x * x
        e3 += y * y
    if e5 == 0.0 and e3 == 0.0:
        return 0.0
    return abs(h) * e5 / math.sqrt((e5 + 0.01 * e3) * lc(A, I_SIZE))


@njit(**OPT)
def first_length(A, f):  # type: ignore[no-untyped-def]
    """A step to begin with, from the rates at the start, row 12 of the stages, and a little later."""
    r, core, y, trial, atol = running(A, f), lc(A, I_CORE), f + lc(A, I_Y), f + lc(A, I_TRIAL), f + lc(A, I_ATOL)
    start, later, rtol, n = stage(A, f, STAGES), stage(A, f, 1), ld(r, R_RTOL), float(lc(A, I_SIZE))
    d0 = d1 = d2 = 0.0
    for k in range(core):
        scale = ld(atol, k) + abs(ld(y, k)) * rtol
        d0 += (ld(y, k) / scale) ** 2
        d1 += (ld(start, k) / scale) ** 2
    d0, d1 = math.sqrt(d0 / n), math.sqrt(d1 / n)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    for k in range(lc(A, I_WIDTH) // 4):
        sum4(trial + 32 * k, y + 32 * k, h0, start + 32 * k)
    rates_at(A, f, ld(r, R_T) + h0, trial, later)
    for k in range(core):
        scale = ld(atol, k) + abs(ld(y, k)) * rtol
        d2 += ((ld(later, k) - ld(start, k)) / scale) ** 2
    d2 = math.sqrt(d2 / n) / h0
    h1 = max(1e-6, h0 * 1e-3) if d1 <= 1e-15 and d2 <= 1e-15 else (0.01 / max(d1, d2)) ** 0.125
    return min(100.0 * h0, h1, ld(r, R_LONGEST))


@njit(**OPT)
def try_step(A, f, t, h):  # type: ignore[no-untyped-def]
    """The stages of a step of length h from Y, of which TRIAL is the end."""
    y, trial, c = f + lc(A, I_Y), f + lc(A, I_TRIAL), f + lc(A, I_METHOD) + 8 * M_C
    for k in range(1, STAGES + 1):
        after(A, f, y, k, h, trial)
        rates_at(A, f, t + ld(c, k) * h, trial, stage(A, f, k))


@njit(**OPT)
def integrate(A, f):  # type: ignore[no-untyped-def]
    """One step; Y, T and the stages follow, OLD is where it began. Whether it was found."""
    r, y, trial, size = running(A, f), f + lc(A, I_Y), f + lc(A, I_TRIAL), lc(A, I_WIDTH) // 4
    t, rejected = ld(r, R_T), False
    shortest = 10.0 * abs(next_number(f, r + 8 * R_BITS, t) - t)
    length = max(min(ld(r, R_LENGTH), ld(r, R_LONGEST)), shortest)
    start, end = stage(A, f, 0), stage(A, f, STAGES)
    for i in range(size):
        copy4(end + 32 * i, start + 32 * i)
    while True:
        if not length >= shortest:
            return False
        new = t + length
        h = new - t
        try_step(A, f, t, h)
        error = error_norm(A, f, h)
        if error < 1.0:
            break
        factor = SAFETY * error**-0.125
        length = h * (factor if factor > SLOWEST_CHANGE else SLOWEST_CHANGE)  # also where the error is no number
        rejected = True
    factor = FASTEST_CHANGE if error == 0.0 else min(FASTEST_CHANGE, SAFETY * error**-0.125)
    st(r, R_LENGTH, h * (min(1.0, factor) if rejected else factor))
    st(r, R_T_OLD, t)
    st(r, R_T, new)
    total = 0.0
    for k in range(lc(A, I_SIZE)):
        total += ld(trial, k)
    for i in range(size):
        copy4(y + 32 * i, f + lc(A, I_OLD) + 32 * i)
        copy4(trial + 32 * i, y + 32 * i)
    return math.isfinite(total)


@njit(**OPT)
def interpolate(A, f):  # type: ignore[no-untyped-def]
    """The interpolant of the last step."""
    r, old, y, trial, size = running(A, f), f + lc(A, I_OLD), f + lc(A, I_Y), f + lc(A, I_TRIAL), lc(A, I_WIDTH) // 4
    t, dense, method = ld(r, R_T_OLD), f + lc(A, I_DENSE), f + lc(A, I_METHOD)
    h, width = ld(r, R_T) - t, 8 * lc(A, I_WIDTH)
    for k in range(STAGES + 1, ALL_STAGES):
        after(A, f, old, k, h, trial)
        rates_at(A, f, t + ld(method, M_C + k) * h, trial, stage(A, f, k))
    start, end = stage(A, f, 0), stage(A, f, STAGES)
    for i in range(size):
        first = dense + 32 * i
        difference4(first, y + 32 * i, old + 32 * i)
        weighed4(first + width, h, start + 32 * i, -1.0, first)
        add4(first + 2 * width, start + 32 * i, end + 32 * i)
        weighed4(first + 2 * width, 2.0, first, -h, first + 2 * width)
    for k in range(POWERS - 3):
        row = dense + width * (3 + k)
        combined(A, f, method + 8 * (M_D + ALL_STAGES * k), ALL_STAGES, row, size)
        for i in range(size):
            scaled4(row + 32 * i, h)


@njit(**OPT)
def at_time(A, f, t, size):  # type: ignore[no-untyped-def]
    """AT = the interpolant at t within the last step, in the first `size` vectors of four."""
    r, old, at, width = running(A, f), f + lc(A, I_OLD), f + lc(A, I_AT), 8 * lc(A, I_WIDTH)
    if t == ld(r, R_T):
        for i in range(size):
            copy4(f + lc(A, I_Y) + 32 * i, at + 32 * i)
        return
    x, last = (t - ld(r, R_T_OLD)) / (ld(r, R_T) - ld(r, R_T_OLD)), f + lc(A, I_DENSE) + width * (POWERS - 1)
    for i in range(size):
        clear4(at + 32 * i)
    for k in range(POWERS):
        s, row = 1.0 - x if k & 1 else x, last - width * k
        for i in range(size):
            nested4(at + 32 * i, s, row + 32 * i)
    for i in range(size):
        add4(at + 32 * i, at + 32 * i, old + 32 * i)
