"""Block elimination on the graph of joints and gaps.

Two rows make a *block*, those of a joint or of a gap; blocks of joints come first in the order of elimination. Their
part of the matrix is symmetric and factored once for given directions; what changes with the active set comes later.

A gap's rows are its normal and, where it sticks, its tangential one. Its impulses push along the same directions, but
the normal one along a tilted direction where it slips.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.squares import *
from nonsmooth.native.loops.substitution import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def block_at(A, k):  # type: ignore[no-untyped-def]
    return lc(A, BLOCKS) + 8 * BLOCK * k


@njit(**OPT)
def couple_joints(A, f, side):  # type: ignore[no-untyped-def]
    """Fill J M^-1 J' of the joints: diagonal blocks, and of the others those below."""
    inverse, D, diagonal = f + 8 * INVERSE, f + lc(A, LU), f + lc(A, DIAGONAL)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        J = f + lc(block, B_FIRST) + DIRECTION + side
        mobility_two(D, diagonal, J, J + ROW_STEP, inverse + lc(block, B_A), inverse + lc(block, B_B))
        D += SQUARE
        diagonal += PAIR
    e = lc(A, COUPLINGS)
    for _ in range(lc(A, N_JOINT_COUPLINGS)):
        J, K = f + lc(e, C_ROW_FIRST) + side, f + lc(e, C_COLUMN_FIRST) + side
        lower, weight = f + lc(e, C_LOWER), inverse + lc(e, C_BODY)
        if lc(e, C_ADDS):
            couple_two_more(lower, J, J + ROW_STEP, K, K + ROW_STEP, weight)
        else:
            couple_two(lower, J, J + ROW_STEP, K, K + ROW_STEP, weight)
        e += 8 * COUPLING


@njit(**OPT)
def fill_gaps(A, f, side, v, x):  # type: ignore[no-untyped-def]
    """Diagonal blocks of the gaps that are not open, whether some are; x = -(R . v + shift), what impulses change."""
    inverse, on, nothing, some = f + 8 * INVERSE, f + lc(A, ON), f + 8 * NOTHING, False
    D, diagonal, slot = f + lc(A, LU), f + lc(A, DIAGONAL), f + lc(A, SLOTS)
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        block = block_at(A, k)
        gap, a, b = f + lc(block, B_FIRST), lc(block, B_A), lc(block, B_B)
        mode = li(gap, MODE)
        si(on, k, 1 if mode != OPEN else 0)
        if mode != OPEN:
            N, T, push_along, shift, mu = gap + NORMAL + side, nothing, gap + NORMAL + side, nothing, ld(gap, FRICTION)
            if mode >= FORWARD:
                push_along = slot + S_TILTED
                tilt(push_along, N, mu if mode == FORWARD else -mu, gap + TANGENT + side)
            elif mu > 0.0:
                T, shift = gap + TANGENT + side, gap + 8 * SHIFT_T
            si(slot, S_NORMAL, N)
            si(slot, S_TANGENT, T)
            si(slot, S_PUSH, push_along)
            tilted_mobility_two(D + SQUARE * k, diagonal + PAIR * k, N, T, push_along, inverse + a, inverse + b)
            rates_of_two(x + PAIR * k, N, T, v + a, v + b, gap + 8 * SHIFT_N, shift)
            some = True
        slot += SLOT_STEP
    return some


@njit(**OPT)
def couple_gaps(A, f, side):  # type: ignore[no-untyped-def]
    """Fill the blocks of the matrix below and above the diagonal that have a gap's row; `side` of the joints."""
    inverse, on, joint_blocks, slots = f + 8 * INVERSE, f + lc(A, ON), lc(A, N_JOINT_BLOCKS), f + lc(A, SLOTS)
    e, slot = lc(A, COUPLINGS) + 8 * COUPLING * lc(A, N_JOINT_COUPLINGS), slots
    for k in range(joint_blocks, lc(A, N_BLOCKS)):
        many = lc(block_at(A, k), B_COUPLINGS)
        if li(on, k):
            for i in range(many):
                c = e + 8 * COUPLING * i
                j = lc(c, C_COLUMN)
                if not li(on, j):
                    continue
                body, lower, a = lc(c, C_BODY), f + lc(c, C_LOWER), lc(c, C_ROW_SIDE)
                upper = lower + SQUARE
                if body == GROUND:
                    clear4(lower)
                    clear4(upper)
                    continue
                J, w = f + lc(c, C_COLUMN_FIRST) + side, inverse + body
                K = J + ROW_STEP
                L = J
                if j >= joint_blocks:
                    other, b = slots + SLOT_STEP * (j - joint_blocks), lc(c, C_COLUMN_SIDE)
                    J, K, L = li(other, S_NORMAL) + b, li(other, S_TANGENT) + b, li(other, S_PUSH) + b
                N, T, P = li(slot, S_NORMAL) + a, li(slot, S_TANGENT) + a, li(slot, S_PUSH) + a
                if lc(c, C_ADDS):
                    couple_two_more(lower, N, T, L, K, w)
                    couple_two_more(upper, J, K, P, T, w)
                else:
                    couple_two(lower, N, T, L, K, w)
                    couple_two(upper, J, K, P, T, w)
        e += 8 * COUPLING * many
        slot += SLOT_STEP


@njit(**OPT)
def ridged(pivot, size):  # type: ignore[no-untyped-def]
    """A pivot that elimination has emptied, raised."""
    pivot += RIDGE * size
    if not abs(pivot) > 1e-3 * RIDGE * size:
        pivot = RIDGE * size
    return pivot if pivot != 0.0 else 1.0


@njit(**OPT)
def determinant_two(D, diagonal):  # type: ignore[no-untyped-def]
    """Of a block; whether pivots that elimination has emptied were raised in it before."""
    d0, beside, size, other = ld(D, 0), ld(D, 1) * ld(D, 2), ld(diagonal, 0), ld(diagonal, 1)
    determinant = d0 * ld(D, 3) - beside
    if d0 > EMPTIED * size and determinant > EMPTIED * other * d0:
        return determinant, False
    if not d0 > EMPTIED * size:
        d0 = ridged(d0, size)
        determinant = d0 * ld(D, 3) - beside
    if not determinant > EMPTIED * other * d0:
        determinant = d0 * ridged(determinant / d0, other)
        st(D, 3, (determinant + beside) / d0)
    st(D, 0, d0)
    return determinant, True


@njit(**OPT)
def eliminate_joints(A, f):  # type: ignore[no-untyped-def]
    """Block LU of the joints' symmetric part in place; returns whether a diagonal had to be raised."""
    some_raised, D, diagonal = False, f + lc(A, LU), f + lc(A, DIAGONAL)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        determinant, raised = determinant_two(D, diagonal)
        per, block = 1.0 / determinant, factor_at(A, k)
        first, targets, every = lc(block, F_ENTRY), lc(block, F_TARGET), lc(block, F_ENTRIES)
        for i in range(lc(block, F_JOINT_ENTRIES)):
            e = first + 8 * ENTRY * i
            lower = f + lc(e, E_LOWER)
            eliminate_two(f + lc(targets, every * i + i), lower + SQUARE, lower, D, per)
            for j in range(i):
                less_product_two(f + lc(targets, every * i + j), lower, f + lc(first + 8 * ENTRY * j, E_LOWER) + SQUARE)
        invert_two(D, per)
        some_raised |= raised
        D += SQUARE
        diagonal += PAIR
    return some_raised


@njit(**OPT)
def factor_joints(A, f, side):  # type: ignore[no-untyped-def]
    """The joints' part of the matrix for the directions at `side`, which `solve_active` and `substitute` go on from."""
    couple_joints(A, f, side)
    si(f, RAISED, 1 if eliminate_joints(A, f) else 0)


@njit(**OPT)
def eliminate_gaps(A, f):  # type: ignore[no-untyped-def]
    """Go on with the blocks of gaps; returns whether a diagonal had to be raised."""
    on, some_raised, joint_blocks = f + lc(A, ON), False, lc(A, N_JOINT_BLOCKS)
    for k in range(lc(A, N_BLOCKS)):
        block, D = factor_at(A, k), f + lc(A, LU) + SQUARE * k
        first, joints, every = lc(block, F_ENTRY), lc(block, F_JOINT_ENTRIES), lc(block, F_ENTRIES)
        if not li(on, k):
            continue
        if k >= joint_blocks:
            determinant, raised = determinant_two(D, f + lc(A, DIAGONAL) + PAIR * k)
            invert_two(D, 1.0 / determinant)
            some_raised |= raised
        for i in range(joints, every):
            e = first + 8 * ENTRY * i
            if li(on, lc(e, E_BLOCK)):
                upper = f + lc(e, E_LOWER) + SQUARE
                product_two(upper, D, upper)
        targets = lc(block, F_TARGET)
        for i in range(every):
            e = first + 8 * ENTRY * i
            if li(on, lc(e, E_BLOCK)):
                lower = f + lc(e, E_LOWER)
                for j in range(joints if i < joints else 0, every):
                    g = first + 8 * ENTRY * j
                    if li(on, lc(g, E_BLOCK)):
                        less_product_two(f + lc(targets, every * i + j), lower, f + lc(g, E_LOWER) + SQUARE)
    return some_raised
