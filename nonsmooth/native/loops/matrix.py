"""Block elimination on the graph of joints and contacts.

Rows of one element make a *block*; blocks of joints come first in the order of elimination. Their part of the matrix is
symmetric, and factored once for given directions; what changes with the active set comes after it.

A contact's row has a test direction R, its rate being R . v, and a push C: R and M^-1 R' are the same where it is
closed, C tilts by friction where it slips.
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
def fill_contact_rows(A, f, side, v, x):  # type: ignore[no-untyped-def]
    """Slots of the gaps that are not open, how many; x = -(R . v + shift), what their impulses have to change."""
    inverse, total = f + 8 * INVERSE, 0
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        block, n = block_at(A, k), 0
        slot, gap, s = f + lc(block, B_SLOT), f + lc(block, B_FIRST), x + lc(block, B_X)
        a, b = inverse + lc(block, B_A), inverse + lc(block, B_B)
        v_a, v_b = v + lc(block, B_A), v + lc(block, B_B)
        for _ in range(lc(block, B_COUNT)):
            mode = li(gap, MODE)
            if mode != OPEN:
                R, D, mu = gap + NORMAL + side, gap + TANGENT + side, ld(gap, FRICTION)
                si(slot, S_ROW, R)
                si(slot, S_GAP, gap)
                si(slot, S_TANGENTIAL, 0)
                if mode >= FORWARD:
                    weigh(slot + S_PUSH, R, mu if mode == FORWARD else -mu, D, a, b)
                else:
                    weigh(slot + S_PUSH, R, 0.0, R, a, b)
                st(s, n, -(along(R, v_a, v_b) + ld(gap, SHIFT_N)))
                slot += SLOT_STEP
                n += 1
                if mode == STICK and mu > 0.0:
                    si(slot, S_ROW, D)
                    si(slot, S_GAP, gap)
                    si(slot, S_TANGENTIAL, 1)
                    weigh(slot + S_PUSH, D, 0.0, D, a, b)
                    st(s, n, -(along(D, v_a, v_b) + ld(gap, SHIFT_T)))
                    slot += SLOT_STEP
                    n += 1
            gap += GAP_STEP
        si(f + lc(A, COUNT), k, n)
        total += n
    return total


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
def couple_contacts(A, f, side):  # type: ignore[no-untyped-def]
    """Fill the blocks R_i . C_j of the matrix that have a contact's row or column; `side` of the joints."""
    inverse, counts, diagonals = f + 8 * INVERSE, f + lc(A, COUNT), f + lc(A, DIAGONAL)
    joint_blocks = lc(A, N_JOINT_BLOCKS)
    clear(f + lc(A, LU) + 8 * lc(A, N_JOINT_LU), lc(A, N_LU) - lc(A, N_JOINT_LU))
    for k in range(joint_blocks, lc(A, N_BLOCKS)):
        block, n = block_at(A, k), li(counts, k)
        w, D, diagonal, slot = (
            lc(block, B_SIZE), f + lc(block, B_DIAGONAL), diagonals + lc(block, B_X), f + lc(block, B_SLOT),
        )  # fmt: skip
        for x in range(n):
            R = li(slot + SLOT_STEP * x, S_ROW)
            for y in range(n):
                C = slot + SLOT_STEP * y + S_PUSH
                st(D, x * w + y, along(R, C, C + 32))
            st(diagonal, x, abs(ld(D, x * w + x)))
    first = lc(A, COUPLINGS)
    for k in range(lc(A, N_JOINT_COUPLINGS), lc(A, N_COUPLINGS)):
        e = first + 8 * COUPLING * k
        i, j = lc(e, C_ROW), lc(e, C_COLUMN)
        ni, nj = li(counts, i), li(counts, j)
        if ni == 0 or nj == 0:
            continue
        row, column, a, b = block_at(A, i), block_at(A, j), lc(e, C_ROW_SIDE), lc(e, C_COLUMN_SIDE)
        slot_i, lower, upper = f + lc(row, B_SLOT), f + lc(e, C_LOWER), f + lc(e, C_UPPER)
        high, width = lc(row, B_SIZE), lc(column, B_SIZE)
        if j < joint_blocks:
            K, w = f + lc(column, B_FIRST) + DIRECTION + side + b, inverse + lc(e, C_BODY)
            for x in range(ni):
                slot = slot_i + SLOT_STEP * x
                R, C = li(slot, S_ROW) + a, slot + S_PUSH + a
                for y in range(nj):
                    at = K + ROW_STEP * y
                    st(lower, x * width + y, ld(lower, x * width + y) + weighted4(R, at, w))
                    st(upper, y * high + x, ld(upper, y * high + x) + dot4(at, C))
            continue
        slot_j = f + lc(column, B_SLOT)
        for x in range(ni):
            slot = slot_i + SLOT_STEP * x
            R, C = li(slot, S_ROW) + a, slot + S_PUSH + a
            for y in range(nj):
                other = slot_j + SLOT_STEP * y
                st(lower, x * width + y, ld(lower, x * width + y) + dot4(R, other + S_PUSH + b))
                st(upper, y * high + x, ld(upper, y * high + x) + dot4(li(other, S_ROW) + b, C))


@njit(**OPT)
def ridged(pivot, size):  # type: ignore[no-untyped-def]
    """A pivot that elimination has emptied, raised."""
    pivot += RIDGE * size
    if not abs(pivot) > 1e-3 * RIDGE * size:
        pivot = RIDGE * size
    return pivot if pivot != 0.0 else 1.0


@njit(**OPT)
def determinant_two(D, w, diagonal):  # type: ignore[no-untyped-def]
    """Of a block of two rows; whether pivots that elimination has emptied were raised in it before."""
    d0, beside, size, other = ld(D, 0), ld(D, 1) * ld(D, w), ld(diagonal, 0), ld(diagonal, 1)
    determinant = d0 * ld(D, w + 1) - beside
    if d0 > EMPTIED * size and determinant > EMPTIED * other * d0:
        return determinant, False
    if not d0 > EMPTIED * size:
        d0 = ridged(d0, size)
        determinant = d0 * ld(D, w + 1) - beside
    if not determinant > EMPTIED * other * d0:
        determinant = d0 * ridged(determinant / d0, other)
        st(D, w + 1, (determinant + beside) / d0)
    st(D, 0, d0)
    return determinant, True


@njit(**OPT)
def factor_block(D, w, n, diagonal):  # type: ignore[no-untyped-def]
    """Inverse of a block of one or two rows, LU factors with inverse pivots of a larger; whether one was raised."""
    raised = False
    if n == 1:
        size, pivot = ld(diagonal, 0), ld(D, 0)
        if not pivot > EMPTIED * size:
            pivot, raised = ridged(pivot, size), True
        st(D, 0, 1.0 / pivot)
    elif n == 2:
        determinant, raised = determinant_two(D, w, diagonal)
        d0, beside, below, d1, inverse = ld(D, 0), ld(D, 1), ld(D, w), ld(D, w + 1), 1.0 / determinant
        st(D, 0, d1 * inverse)
        st(D, 1, -beside * inverse)
        st(D, w, -below * inverse)
        st(D, w + 1, d0 * inverse)
    else:
        for c in range(n):
            pivot, size = ld(D, c * w + c), ld(diagonal, c)
            if not pivot > EMPTIED * size:
                pivot, raised = ridged(pivot, size), True
            inverse = 1.0 / pivot
            st(D, c * w + c, inverse)
            for i in range(c + 1, n):
                x = ld(D, i * w + c) * inverse
                st(D, i * w + c, x)
                for j in range(c + 1, n):
                    st(D, i * w + j, ld(D, i * w + j) - x * ld(D, c * w + j))
    return raised


@njit(**OPT)
def subtract_product(target, wo, lower, w, upper, wu, m, n, o):  # type: ignore[no-untyped-def]
    """target (m, o) -= lower (m, n) upper (n, o)."""
    if n == 1:
        for x in range(m):
            factor = ld(lower, x * w)
            for y in range(o):
                st(target, x * wo + y, ld(target, x * wo + y) - factor * ld(upper, y))
    elif n == 2:
        for x in range(m):
            l0, l1 = ld(lower, x * w), ld(lower, x * w + 1)
            for y in range(o):
                st(target, x * wo + y, ld(target, x * wo + y) - l0 * ld(upper, y) - l1 * ld(upper, wu + y))
    else:
        for x in range(m):
            for y in range(o):
                value = ld(target, x * wo + y)
                for j in range(n):
                    value -= ld(lower, x * w + j) * ld(upper, j * wu + y)
                st(target, x * wo + y, value)


@njit(**OPT)
def eliminate_joints(A, f):  # type: ignore[no-untyped-def]
    """Block LU of the joints' symmetric part in place; returns whether a diagonal had to be raised."""
    some_raised, D, diagonal = False, f + lc(A, LU), f + lc(A, DIAGONAL)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        determinant, raised = determinant_two(D, 2, diagonal)
        per, block = 1.0 / determinant, factor_at(A, k)
        first, targets, every = lc(block, F_ENTRY), lc(block, F_TARGET), lc(block, F_ENTRIES)
        for i in range(lc(block, F_JOINT_ENTRIES)):
            e = first + 8 * ENTRY * i
            lower = f + lc(e, E_LOWER)
            eliminate_two(f + lc(targets, every * i + i), f + lc(e, E_UPPER), lower, D, per)
            for j in range(i):
                less_product_two(f + lc(targets, every * i + j), lower, f + lc(first + 8 * ENTRY * j, E_UPPER))
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
def eliminate_contacts(A, f):  # type: ignore[no-untyped-def]
    """Go on with the blocks of contacts; returns whether a diagonal had to be raised."""
    counts, raised, diagonals, joint_blocks = f + lc(A, COUNT), False, f + lc(A, DIAGONAL), lc(A, N_JOINT_BLOCKS)
    for k in range(lc(A, N_BLOCKS)):
        block, n = factor_at(A, k), li(counts, k)
        if n == 0:
            continue
        first, joints, every = lc(block, F_ENTRY), lc(block, F_JOINT_ENTRIES), lc(block, F_ENTRIES)
        D, w = f + lc(block, F_DIAGONAL), lc(block, F_SIZE)
        if k >= joint_blocks and factor_block(D, w, n, diagonals + lc(block, F_X)):
            raised = True
        for i in range(joints, every):
            e = first + 8 * ENTRY * i
            m, upper, wm = li(counts, lc(e, E_BLOCK)), f + lc(e, E_UPPER), lc(e, E_SIZE)
            if n == 1:
                inverse = ld(D, 0)
                for y in range(m):
                    st(upper, y, ld(upper, y) * inverse)
            elif n == 2:
                d0, d1, below, beside = ld(D, 0), ld(D, w + 1), ld(D, w), ld(D, 1)
                for y in range(m):
                    x, z = ld(upper, y), ld(upper, wm + y)
                    st(upper, y, d0 * x + beside * z)
                    st(upper, wm + y, below * x + d1 * z)
            else:
                for y in range(m):
                    solve_block(D, w, n, upper + 8 * y, wm)
        targets = lc(block, F_TARGET)
        for i in range(every):
            e = first + 8 * ENTRY * i
            m, lower = li(counts, lc(e, E_BLOCK)), f + lc(e, E_LOWER)
            if m == 0:
                continue
            for j in range(joints if i < joints else 0, every):
                g = first + 8 * ENTRY * j
                o = li(counts, lc(g, E_BLOCK))
                if o == 0:
                    continue
                target, upper, wo = f + lc(targets, every * i + j), f + lc(g, E_UPPER), lc(g, E_SIZE)
                if n == 1 and m == 1 and o == 1:
                    st(target, 0, ld(target, 0) - ld(lower, 0) * ld(upper, 0))
                else:
                    subtract_product(target, wo, lower, w, upper, wo, m, n, o)
    return raised
