"""Substitution with the factors that `matrix` has left: forwards and backwards over the blocks."""

# ruff: noqa: F403, F405

from __future__ import annotations

from typing import Any

from numba import njit

from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.squares import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def factor_at(A, k):  # type: ignore[no-untyped-def]
    """The block as it is eliminated."""
    return lc(A, FACTORS) + 8 * FACTOR * k


@njit(**OPT)
def solve_block(D, w, n, x, stride):  # type: ignore[no-untyped-def]
    """Solve in place with one factored diagonal block, for entries of x that stand `stride` apart."""
    for c in range(n):
        value = ld(x, c * stride)
        for j in range(c):
            value -= ld(D, c * w + j) * ld(x, j * stride)
        st(x, c * stride, value)
    for c in range(n - 1, -1, -1):
        value = ld(x, c * stride)
        for j in range(c + 1, n):
            value -= ld(D, c * w + j) * ld(x, j * stride)
        st(x, c * stride, value * ld(D, c * w + c))


def _substitution(step: int, apply: Any, less: Any, less_turned: Any) -> Any:
    """Solves in place for the slots of joints, whose numbers stand `step` bytes on from block to block."""

    @njit(**OPT)
    def substitute_blocks(A, f, x):  # type: ignore[no-untyped-def]
        D, s, blocks = f + lc(A, LU), x, lc(A, N_JOINT_BLOCKS)
        for k in range(blocks):
            block = factor_at(A, k)
            e = lc(block, F_ENTRY)
            for _ in range(lc(block, F_JOINT_ENTRIES)):
                less_turned(x + step // PAIR * lc(e, E_X), f + lc(e, E_UPPER), s)
                e += 8 * ENTRY
            apply(s, D, s)
            D += SQUARE
            s += step
        for k in range(blocks - 1, -1, -1):
            s -= step
            block = factor_at(A, k)
            e = lc(block, F_ENTRY)
            for _ in range(lc(block, F_JOINT_ENTRIES)):
                less(s, f + lc(e, E_UPPER), x + step // PAIR * lc(e, E_X))
                e += 8 * ENTRY

    return substitute_blocks


#: of one right-hand side, and of two, whose numbers stand in pairs
substitute_joints = _substitution(PAIR, apply_two, less_applied_two, less_turned_applied_two)
substitute_two = _substitution(SQUARE, product_two, less_product_two, less_turned_two)


@njit(**OPT)
def substitute(A, f, x):  # type: ignore[no-untyped-def]
    """Solve in place for the slots of all blocks."""
    counts, blocks = f + lc(A, COUNT), lc(A, N_BLOCKS)
    for k in range(blocks):
        n = li(counts, k)
        if n == 0:
            continue
        block = factor_at(A, k)
        D, w, s = f + lc(block, F_DIAGONAL), lc(block, F_SIZE), x + lc(block, F_X)
        first, after = lc(block, F_ENTRY), lc(block, F_ENTRIES)
        if n == 1:
            y = ld(s, 0) * ld(D, 0)
            st(s, 0, y)
            for i in range(after):
                e = first + 8 * ENTRY * i
                lower, o = f + lc(e, E_LOWER), x + lc(e, E_X)
                for r in range(li(counts, lc(e, E_BLOCK))):
                    st(o, r, ld(o, r) - ld(lower, r * w) * y)
        elif n == 2:
            y, z = ld(s, 0), ld(s, 1)
            y, z = ld(D, 0) * y + ld(D, 1) * z, ld(D, w) * y + ld(D, w + 1) * z
            st(s, 0, y)
            st(s, 1, z)
            for i in range(after):
                e = first + 8 * ENTRY * i
                lower, o = f + lc(e, E_LOWER), x + lc(e, E_X)
                for r in range(li(counts, lc(e, E_BLOCK))):
                    st(o, r, ld(o, r) - ld(lower, r * w) * y - ld(lower, r * w + 1) * z)
        else:
            solve_block(D, w, n, s, 1)
            for i in range(after):
                e = first + 8 * ENTRY * i
                lower, o = f + lc(e, E_LOWER), x + lc(e, E_X)
                for r in range(li(counts, lc(e, E_BLOCK))):
                    value = ld(o, r)
                    for j in range(n):
                        value -= ld(lower, r * w + j) * ld(s, j)
                    st(o, r, value)
    for k in range(blocks - 1, -1, -1):
        n = li(counts, k)
        if n == 0:
            continue
        block = factor_at(A, k)
        s, first = x + lc(block, F_X), lc(block, F_ENTRY)
        for i in range(lc(block, F_ENTRIES)):
            e = first + 8 * ENTRY * i
            m, wm, upper, o = li(counts, lc(e, E_BLOCK)), lc(e, E_SIZE), f + lc(e, E_UPPER), x + lc(e, E_X)
            for c in range(n):
                value = ld(s, c)
                for r in range(m):
                    value -= ld(upper, c * wm + r) * ld(o, r)
                st(s, c, value)
