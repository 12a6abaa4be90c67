"""The matrix of gaps without friction, in mechanisms without ideal joints: symmetric, and of one row for each gap.

As in `matrix`, of which it is the part that is left, blocks being numbers.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import copy_bodies
from nonsmooth.native.loops.matrix import block_at, ridged
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.substitution import factor_at
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def fill_rows(A, f, side, v, x, first, last, e):  # type: ignore[no-untyped-def]
    """The rows of gaps first..last that are not open, of the matrix up to its diagonal and of x = -(R . v + shift).

    Their couplings, to gaps before, begin at e. LIMITS are of impulses beyond which a gap strikes.
    """
    inverse, on, D, diagonal = f + 8 * INVERSE, f + lc(A, ON), f + lc(A, LU), f + lc(A, DIAGONAL)
    numbers, limits = lc(A, GAP_BLOCKS), f + lc(A, LIMITS)
    for g in range(first, last):
        number, gap = numbers + 8 * NUMBER * g, f + lc(A, GAPS) + GAP_STEP * g
        k, many, mode = lc(number, GAP_BLOCK), lc(number, GAP_COUPLINGS), li(gap, MODE)
        si(on, k, mode)
        if mode != OPEN:
            N, a, b = gap + NORMAL + side, lc(gap, GAP_A), lc(gap, GAP_B)
            own = mobility(N, N, inverse + a, inverse + b)
            st(D, k, own)
            st(diagonal, k, own)
            st(x, k, -(along(N, v + a, v + b) + ld(gap, SHIFT_N)))
            limit = LASTING * ld(gap, BEFORE_N)
            st(limits, k, limit if ld(gap, S_MINUS) < 0.0 else math.inf)
            for i in range(many):
                c = e + 8 * SHORT_COUPLING * i
                if li(on, lc(c, C_COLUMN)):
                    lower, row = f + lc(c, C_LOWER), f + lc(c, C_ROW_FIRST) + side
                    before = ld(lower, 0) if lc(c, C_ADDS) else 0.0
                    both = weighted4(row, f + lc(c, C_COLUMN_FIRST) + side, inverse + lc(c, C_BODY))
                    st(lower, 0, before + both)
        e += 8 * SHORT_COUPLING * many


@njit(**OPT)
def eliminate_single(A, f, x):  # type: ignore[no-untyped-def]
    """Factor it, and substitute forwards; returns whether a diagonal had to be raised."""
    on, D, diagonal, raised = f + lc(A, ON), f + lc(A, LU), f + lc(A, DIAGONAL), False
    for k in range(lc(A, N_BLOCKS)):
        if not li(on, k):
            continue
        block, pivot, size, y = factor_at(A, k), ld(D, k), ld(diagonal, k), ld(x, k)
        if not pivot > EMPTIED * size:
            pivot, raised = ridged(pivot, size), True
        inverse = 1.0 / pivot
        st(D, k, inverse)
        st(x, k, y * inverse)
        first, every, targets = lc(block, F_ENTRY), lc(block, F_ENTRIES), lc(block, F_TARGET)
        for i in range(every):
            e = first + 8 * ENTRY * i
            other = lc(e, E_BLOCK)
            if li(on, other):
                lower = ld(f + lc(e, E_LOWER), 0)
                upper = lower * inverse
                st(f + lc(e, E_LOWER), 1, upper)
                st(x, other, ld(x, other) - upper * y)
                for j in range(i):
                    g = first + 8 * ENTRY * j
                    if li(on, lc(g, E_BLOCK)):
                        target = f + lc(targets, every * i + j)
                        st(target, 0, ld(target, 0) - lower * ld(f + lc(g, E_LOWER), 1))
                st(D, other, ld(D, other) - lower * upper)
    return raised


@njit(**OPT)
def forward_single(A, f, x):  # type: ignore[no-untyped-def]
    """Substitute forwards once more."""
    on, D = f + lc(A, ON), f + lc(A, LU)
    for k in range(lc(A, N_BLOCKS)):
        if li(on, k):
            block, y = factor_at(A, k), ld(x, k)
            st(x, k, y * ld(D, k))
            e = lc(block, F_ENTRY)
            for _ in range(lc(block, F_ENTRIES)):
                other = lc(e, E_BLOCK)
                if li(on, other):
                    st(x, other, ld(x, other) - ld(f + lc(e, E_LOWER), 1) * y)
                e += 8 * ENTRY


@njit(**OPT)
def back_single(A, f, x):  # type: ignore[no-untyped-def]
    """Substitute backwards; whether no impulse is negative, and whether all go on from the step before."""
    on, limits, pressing, going_on = f + lc(A, ON), f + lc(A, LIMITS), True, True
    for k in range(lc(A, N_BLOCKS) - 1, -1, -1):
        if li(on, k):
            factor, P = factor_at(A, k), ld(x, k)
            e = lc(factor, F_ENTRY)
            for _ in range(lc(factor, F_ENTRIES)):
                other = lc(e, E_BLOCK)
                if li(on, other):
                    P -= ld(f + lc(e, E_LOWER), 1) * ld(x, other)
                e += 8 * ENTRY
            st(x, k, P)
            if P < 0.0:
                pressing = False
            if not 0.0 < P <= ld(limits, k):
                going_on = False
    return pressing, going_on


@njit(**OPT)
def follow_single(A, f, g, side, x, v, add):  # type: ignore[no-untyped-def]
    """Impulse P_N of gap g, which v += M^-1 N' x follows; `add` for a change of it."""
    k, gap, inverse = lc(lc(A, GAP_BLOCKS) + 8 * NUMBER * g, GAP_BLOCK), f + lc(A, GAPS) + GAP_STEP * g, f + 8 * INVERSE
    if li(f + lc(A, ON), k):
        P, a, b = ld(x, k), lc(gap, GAP_A), lc(gap, GAP_B)
        st(gap, P_N, ld(gap, P_N) + P if add else P)
        push(gap + NORMAL + side, P, inverse + a, inverse + b, v + a, v + b)
    elif not add:
        st(gap, P_N, 0.0)
    st(gap, P_T, 0.0)


@njit(**OPT)
def single_rates(A, f, side, v, x):  # type: ignore[no-untyped-def]
    """x = -(R . v + shift) of the gaps that are not open."""
    on = f + lc(A, ON)
    for k in range(lc(A, N_BLOCKS)):
        if li(on, k):
            block = block_at(A, k)
            gap = f + lc(block, B_FIRST)
            rate = along(gap + NORMAL + side, v + lc(block, B_A), v + lc(block, B_B))
            st(x, k, -(rate + ld(gap, SHIFT_N)))


@njit(**OPT)
def solve_single(A, f, row_side, side):  # type: ignore[no-untyped-def]
    """Impulses and VP = BASE + M^-1 W_N P_N for the modes that are given; `side` of the gaps.

    What was filled ahead has VP in place of BASE. Returns whether this is the program's answer, of which X holds the
    impulses and VP has none yet.
    """
    v, base, x, ahead, gaps = f + 8 * VP, f + 8 * BASE, f + lc(A, X), li(f, FILLED), lc(A, N_GAPS)
    si(f, FILLED, NOT_AHEAD)
    if ahead == NOT_AHEAD:
        fill_rows(A, f, side, base, x, 0, gaps, lc(A, COUPLINGS))
    raised = eliminate_single(A, f, x)
    pressing, going_on = back_single(A, f, x)
    if pressing and ahead == ALL_CLOSED and not raised:
        return GOING_ON if going_on else TO_FOLLOW
    if ahead == NOT_AHEAD:
        copy_bodies(A, base, v)
    else:
        copy_bodies(A, v, base)
    for g in range(gaps):
        follow_single(A, f, g, side, x, v, False)
    for _ in range(4 if raised else 0):
        single_rates(A, f, side, v, x)
        forward_single(A, f, x)
        back_single(A, f, x)
        for g in range(gaps):
            follow_single(A, f, g, side, x, v, True)
    return UNSOLVED
