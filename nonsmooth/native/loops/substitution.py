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


def _substitution(step: int, apply: Any, less: Any, less_turned: Any) -> Any:
    """Solves in place for the slots of joints, whose numbers stand `step` bytes on from block to block."""

    @njit(**OPT)
    def substitute_blocks(A, f, x):  # type: ignore[no-untyped-def]
        D, s, blocks = f + lc(A, LU), x, lc(A, N_JOINT_BLOCKS)
        for k in range(blocks):
            block = factor_at(A, k)
            e = lc(block, F_ENTRY)
            for _ in range(lc(block, F_JOINT_ENTRIES)):
                less_turned(x + step * lc(e, E_BLOCK), f + lc(e, E_LOWER) + SQUARE, s)
                e += 8 * ENTRY
            apply(s, D, s)
            D += SQUARE
            s += step
        for k in range(blocks - 1, -1, -1):
            s -= step
            block = factor_at(A, k)
            e = lc(block, F_ENTRY)
            for _ in range(lc(block, F_JOINT_ENTRIES)):
                less(s, f + lc(e, E_LOWER) + SQUARE, x + step * lc(e, E_BLOCK))
                e += 8 * ENTRY

    return substitute_blocks


#: of one right-hand side, and of two, whose numbers stand in pairs
substitute_joints = _substitution(PAIR, apply_two, less_applied_two, less_turned_applied_two)
substitute_two = _substitution(SQUARE, product_two, less_product_two, less_turned_two)


@njit(**OPT)
def substitute(A, f, x):  # type: ignore[no-untyped-def]
    """The same of the slots of all blocks that are active."""
    on, blocks, D = f + lc(A, ON), lc(A, N_BLOCKS), f + lc(A, LU)
    for k in range(blocks):
        if li(on, k):
            block, s = factor_at(A, k), x + PAIR * k
            apply_two(s, D + SQUARE * k, s)
            e = lc(block, F_ENTRY)
            for _ in range(lc(block, F_ENTRIES)):
                j = lc(e, E_BLOCK)
                if li(on, j):
                    less_applied_two(x + PAIR * j, f + lc(e, E_LOWER), s)
                e += 8 * ENTRY
    for k in range(blocks - 1, -1, -1):
        if li(on, k):
            block, s = factor_at(A, k), x + PAIR * k
            e = lc(block, F_ENTRY)
            for _ in range(lc(block, F_ENTRIES)):
                j = lc(e, E_BLOCK)
                if li(on, j):
                    less_applied_two(s, f + lc(e, E_LOWER) + SQUARE, x + PAIR * j)
                e += 8 * ENTRY
