"""Substitution with the factors that `matrix` or `single` has left: forwards and backwards over the blocks."""

# ruff: noqa: F403, F405

from __future__ import annotations

from typing import Any

from numba import njit

from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.squares import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def apply_one(target, x, y):  # type: ignore[no-untyped-def]
    """target = x y, numbers."""
    st(target, 0, ld(x, 0) * ld(y, 0))


@njit(**OPT)
def less_applied_one(target, x, y):  # type: ignore[no-untyped-def]
    """target -= x y, numbers."""
    st(target, 0, ld(target, 0) - ld(x, 0) * ld(y, 0))


@njit(**OPT)
def factor_at(A, k):  # type: ignore[no-untyped-def]
    """The block as it is eliminated."""
    return lc(A, FACTORS) + 8 * FACTOR * k


def _substitution(step: int, apply: Any, less: Any, less_turned: Any) -> Any:
    """Solves in place for the slots of joints, whose numbers stand `step` bytes on from block to block."""

    @njit(**OPT)
    def substitute_blocks(A, f, x):  # type: ignore[no-untyped-def]
        D, s, blocks = f + lc(A, LU), x, lc(A, N_JOINT_BLOCKS)
        for k in range(blocks):
            block = factor_at(A, k)
            e = lc(block, F_ENTRY)
            for _ in range(lc(block, F_JOINT_ENTRIES)):
                less_turned(x + step * lc(e, E_BLOCK), f + lc(e, E_UPPER), s)
                e += 8 * ENTRY
            apply(s, D, s)
            D += SQUARE
            s += step
        for k in range(blocks - 1, -1, -1):
            s -= step
            block = factor_at(A, k)
            e = lc(block, F_ENTRY)
            for _ in range(lc(block, F_JOINT_ENTRIES)):
                less(s, f + lc(e, E_UPPER), x + step * lc(e, E_BLOCK))
                e += 8 * ENTRY

    return substitute_blocks


#: of one right-hand side, and of two, whose numbers stand in pairs
substitute_joints = _substitution(PAIR, apply_two, less_applied_two, less_turned_applied_two)
substitute_two = _substitution(SQUARE, product_two, less_product_two, less_turned_two)


def _substitution_of_active(step: int, square: int, apply: Any, less: Any) -> Any:
    """The same of all blocks that are active, `square` being the bytes of one of the matrix."""

    @njit(**OPT)
    def substitute_active(A, f, x):  # type: ignore[no-untyped-def]
        on, blocks, D = f + lc(A, ON), lc(A, N_BLOCKS), f + lc(A, LU)
        for k in range(blocks):
            if li(on, k):
                block, s = factor_at(A, k), x + step * k
                apply(s, D + square * k, s)
                e = lc(block, F_ENTRY)
                for _ in range(lc(block, F_ENTRIES)):
                    j = lc(e, E_BLOCK)
                    if li(on, j):
                        less(x + step * j, f + lc(e, E_LOWER), s)
                    e += 8 * ENTRY
        for k in range(blocks - 1, -1, -1):
            if li(on, k):
                block, s = factor_at(A, k), x + step * k
                e = lc(block, F_ENTRY)
                for _ in range(lc(block, F_ENTRIES)):
                    j = lc(e, E_BLOCK)
                    if li(on, j):
                        less(s, f + lc(e, E_UPPER), x + step * j)
                    e += 8 * ENTRY

    return substitute_active


#: of pairs of rows, and of single ones
substitute = _substitution_of_active(PAIR, SQUARE, apply_two, less_applied_two)
substitute_single = _substitution_of_active(8, 8, apply_one, less_applied_one)
