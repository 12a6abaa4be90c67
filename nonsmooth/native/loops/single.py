"""The matrix of gaps without friction, in mechanisms without ideal joints: symmetric, and of one row for each gap.

As in `matrix`, of which it is the part that is left, blocks being numbers.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from numba import njit

from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.substitution import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def fill_single(A, f, side, v, x):  # type: ignore[no-untyped-def]
    """Diagonal of the gaps that are not open, whether some are; x = -(R . v + shift), what their impulses change."""
    inverse, on, D, diagonal, some = f + 8 * INVERSE, f + lc(A, ON), f + lc(A, LU), f + lc(A, DIAGONAL), False
    for k in range(lc(A, N_BLOCKS)):
        block = block_at(A, k)
        gap, a, b = f + lc(block, B_FIRST), lc(block, B_A), lc(block, B_B)
        mode = li(gap, MODE)
        si(on, k, mode)
        if mode != OPEN:
            N = gap + NORMAL + side
            own = mobility(N, N, inverse + a, inverse + b)
            st(D, k, own)
            st(diagonal, k, own)
            st(x, k, -(along(N, v + a, v + b) + ld(gap, SHIFT_N)))
            some = True
    return some


@njit(**OPT)
def couple_single(A, f, side):  # type: ignore[no-untyped-def]
    """Fill the matrix below its diagonal; `side` of the gaps."""
    inverse, on, e = f + 8 * INVERSE, f + lc(A, ON), lc(A, COUPLINGS)
    for k in range(lc(A, N_BLOCKS)):
        many = lc(block_at(A, k), B_COUPLINGS)
        if li(on, k):
            for i in range(many):
                c = e + 8 * COUPLING * i
                if li(on, lc(c, C_COLUMN)):
                    lower, body = f + lc(c, C_LOWER), lc(c, C_BODY)
                    N, K = f + lc(c, C_ROW_FIRST) + side, f + lc(c, C_COLUMN_FIRST) + side
                    before = ld(lower, 0) if lc(c, C_ADDS) else 0.0
                    st(lower, 0, before + weighted4(N, K, inverse + body))
        e += 8 * COUPLING * many


@njit(**OPT)
def eliminate_single(A, f):  # type: ignore[no-untyped-def]
    """Factor it; returns whether a diagonal had to be raised."""
    on, D, diagonal, raised = f + lc(A, ON), f + lc(A, LU), f + lc(A, DIAGONAL), False
    for k in range(lc(A, N_BLOCKS)):
        if not li(on, k):
            continue
        block, pivot, size = factor_at(A, k), ld(D, k), ld(diagonal, k)
        if not pivot > EMPTIED * size:
            pivot, raised = ridged(pivot, size), True
        inverse = 1.0 / pivot
        st(D, k, inverse)
        first, every, targets = lc(block, F_ENTRY), lc(block, F_ENTRIES), lc(block, F_TARGET)
        for i in range(every):
            e = first + 8 * ENTRY * i
            if li(on, lc(e, E_BLOCK)):
                lower = ld(f + lc(e, E_LOWER), 0)
                st(f + lc(e, E_UPPER), 0, lower * inverse)
                for j in range(i + 1):
                    g = first + 8 * ENTRY * j
                    if li(on, lc(g, E_BLOCK)):
                        target = f + lc(targets, every * i + j)
                        st(target, 0, ld(target, 0) - lower * ld(f + lc(g, E_UPPER), 0))
    return raised


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
def take_single_impulses(A, f, side, x, v, add):  # type: ignore[no-untyped-def]
    """Impulses P_N, which v += M^-1 N' x follows; `add` for a change of them."""
    on, inverse = f + lc(A, ON), f + 8 * INVERSE
    for k in range(lc(A, N_BLOCKS)):
        block = block_at(A, k)
        gap, a, b = f + lc(block, B_FIRST), lc(block, B_A), lc(block, B_B)
        if li(on, k):
            P = ld(x, k)
            st(gap, P_N, ld(gap, P_N) + P if add else P)
            push(gap + NORMAL + side, P, inverse + a, inverse + b, v + a, v + b)
        elif not add:
            st(gap, P_N, 0.0)
        st(gap, P_T, 0.0)
