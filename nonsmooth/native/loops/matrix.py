"""Block elimination on the graph of joints and contacts.

Rows of one element make a *block*; blocks of joints come first in the order of elimination. Their part of the matrix is
symmetric, and factored once for given directions; what changes with the active set comes after it.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.table import *


@njit(**OPT)
def add_row(A, f, s, J, a, b, D, weight, inverse):  # type: ignore[no-untyped-def]
    """Fill slot s: R = J, C = M^-1 (J + weight D)."""
    rows, pushes = f + lc(A, R) + 48 * s, f + lc(A, C) + 48 * s
    for d in range(3):
        x, y = ld(J, d), ld(J, 3 + d)
        st(rows, d, x)
        st(rows, 3 + d, y)
        if weight != 0.0:
            x += weight * ld(D, d)
            y += weight * ld(D, 3 + d)
        st(pushes, d, ld(inverse, 3 * a + d) * x)
        st(pushes, 3 + d, ld(inverse, 3 * b + d) * y)


@njit(**OPT)
def fill_contact_rows(A, f, out):  # type: ignore[no-untyped-def]
    """Rows of the gaps that are not open, how many; identity is 2 gap + (0 normal, 1 tangential)."""
    inverse, count, identity = f + lc(A, INVERSE), f + lc(A, COUNT), f + lc(A, IDENTITY)
    mode, friction, total = f + lc(A, MODE), f + lc(A, FRICTION), 0
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
        n = 0
        for i in range(first, first + lc(lc(A, B_COUNT), k)):
            m = li(mode, i)
            if m == OPEN:
                continue
            a, b = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
            J, D, weight = out + lc(lc(A, GAP_N), i), out + lc(lc(A, GAP_T), i), 0.0
            if m == FORWARD:
                weight = ld(friction, i)
            elif m == BACKWARD:
                weight = -ld(friction, i)
            add_row(A, f, s + n, J, a, b, D, weight, inverse)
            si(identity, s + n, 2 * i)
            n += 1
            if m == STICK and ld(friction, i) > 0.0:
                add_row(A, f, s + n, D, a, b, D, 0.0, inverse)
                si(identity, s + n, 2 * i + 1)
                n += 1
        si(count, k, n)
        total += n
    return total


@njit(**OPT)
def dot(x, y):  # type: ignore[no-untyped-def]
    return ld(x, 0) * ld(y, 0) + ld(x, 1) * ld(y, 1) + ld(x, 2) * ld(y, 2)


@njit(**OPT)
def dot_weighted(x, y, w):  # type: ignore[no-untyped-def]
    return ld(x, 0) * ld(y, 0) * ld(w, 0) + ld(x, 1) * ld(y, 1) * ld(w, 1) + ld(x, 2) * ld(y, 2) * ld(w, 2)


@njit(**OPT)
def couple_joints(A, f, out, lu):  # type: ignore[no-untyped-def]
    """Fill J M^-1 J' of the joints: diagonal blocks, and of the others those below."""
    inverse, diagonal = f + lc(A, INVERSE), f + lc(A, DIAGONAL)
    for k in range(lc(A, N_JOINT_LU)):
        st(lu, k, 0.0)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        n, D, s = lc(lc(A, B_COUNT), k), lu + 8 * lc(lc(A, B_DIAGONAL), k), lc(lc(A, B_SLOT), k)
        J = out + lc(lc(A, B_OUT), k) + 8 * n
        wa, wb = inverse + 24 * lc(lc(A, B_A), k), inverse + 24 * lc(lc(A, B_B), k)
        if n == 2:
            J2 = J + 48
            x, y = dot_weighted(J, J, wa), dot_weighted(J + 24, J + 24, wb)
            st(D, 0, x + y)
            st(diagonal, s, x + y)
            x, y = dot_weighted(J, J2, wa), dot_weighted(J + 24, J2 + 24, wb)
            st(D, 1, x + y)
            st(D, 2, x + y)
            x, y = dot_weighted(J2, J2, wa), dot_weighted(J2 + 24, J2 + 24, wb)
            st(D, 3, x + y)
            st(diagonal, s + 1, x + y)
            continue
        for i in range(n):
            for j in range(i + 1):
                x = dot_weighted(J + 48 * i, J + 48 * j, wa) + dot_weighted(J + 48 * i + 24, J + 48 * j + 24, wb)
                st(D, i * n + j, x)
                st(D, j * n + i, x)
            st(diagonal, s + i, ld(D, i * n + i))
    for e in range(lc(A, N_JOINT_COUPLINGS)):
        i, j = lc(lc(A, C_ROW), e), lc(lc(A, C_COLUMN), e)
        ni, nj, w = lc(lc(A, B_COUNT), i), lc(lc(A, B_COUNT), j), inverse + 24 * lc(lc(A, C_BODY), e)
        Ji = out + lc(lc(A, B_OUT), i) + 8 * ni + 8 * lc(lc(A, C_ROW_SIDE), e)
        Jj = out + lc(lc(A, B_OUT), j) + 8 * nj + 8 * lc(lc(A, C_COLUMN_SIDE), e)
        lower = lu + 8 * lc(lc(A, C_LOWER), e)
        if ni == 2 and nj == 2:
            st(lower, 0, ld(lower, 0) + dot_weighted(Ji, Jj, w))
            st(lower, 1, ld(lower, 1) + dot_weighted(Ji, Jj + 48, w))
            st(lower, 2, ld(lower, 2) + dot_weighted(Ji + 48, Jj, w))
            st(lower, 3, ld(lower, 3) + dot_weighted(Ji + 48, Jj + 48, w))
            continue
        for x in range(ni):
            for y in range(nj):
                st(lower, x * nj + y, ld(lower, x * nj + y) + dot_weighted(Ji + 48 * x, Jj + 48 * y, w))


@njit(**OPT)
def couple_contacts(A, f, out, lu):  # type: ignore[no-untyped-def]
    """Fill the blocks R_i . C_j of the matrix that have a contact's row or column; `out` of the joints."""
    count, rows, pushes = f + lc(A, COUNT), f + lc(A, R), f + lc(A, C)
    inverse, diagonal = f + lc(A, INVERSE), f + lc(A, DIAGONAL)
    for k in range(lc(A, N_JOINT_LU), lc(A, N_LU)):
        st(lu, k, 0.0)
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        s, w, D = lc(lc(A, B_SLOT), k), lc(lc(A, B_SIZE), k), lu + 8 * lc(lc(A, B_DIAGONAL), k)
        n, R_k, C_k = li(count, k), rows + 48 * s, pushes + 48 * s
        for x in range(n):
            for y in range(n):
                st(D, x * w + y, dot(R_k + 48 * x, C_k + 48 * y) + dot(R_k + 48 * x + 24, C_k + 48 * y + 24))
            st(diagonal, s + x, abs(ld(D, x * w + x)))
    for e in range(lc(A, N_JOINT_COUPLINGS), lc(A, N_COUPLINGS)):
        i, j = lc(lc(A, C_ROW), e), lc(lc(A, C_COLUMN), e)
        ni, nj = li(count, i), li(count, j)
        if ni == 0 or nj == 0:
            continue
        a, b = 8 * lc(lc(A, C_ROW_SIDE), e), 8 * lc(lc(A, C_COLUMN_SIDE), e)
        Ri, Ci = rows + 48 * lc(lc(A, B_SLOT), i) + a, pushes + 48 * lc(lc(A, B_SLOT), i) + a
        lower, width = lu + 8 * lc(lc(A, C_LOWER), e), lc(lc(A, B_SIZE), j)
        upper, high = lu + 8 * lc(lc(A, C_UPPER), e), lc(lc(A, B_SIZE), i)
        if j < lc(A, N_JOINT_BLOCKS):
            Rj, w = out + lc(lc(A, B_OUT), j) + 8 * nj + b, inverse + 24 * lc(lc(A, C_BODY), e)
            for x in range(ni):
                for y in range(nj):
                    value = dot_weighted(Ri + 48 * x, Rj + 48 * y, w)
                    st(lower, x * width + y, ld(lower, x * width + y) + value)
                    st(upper, y * high + x, ld(upper, y * high + x) + dot(Rj + 48 * y, Ci + 48 * x))
            continue
        Rj, Cj = rows + 48 * lc(lc(A, B_SLOT), j) + b, pushes + 48 * lc(lc(A, B_SLOT), j) + b
        if ni == 1 and nj == 1:
            st(lower, 0, ld(lower, 0) + dot(Ri, Cj))
            st(upper, 0, ld(upper, 0) + dot(Rj, Ci))
            continue
        for x in range(ni):
            for y in range(nj):
                st(lower, x * width + y, ld(lower, x * width + y) + dot(Ri + 48 * x, Cj + 48 * y))
                st(upper, y * high + x, ld(upper, y * high + x) + dot(Rj + 48 * y, Ci + 48 * x))


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


@njit(**OPT)
def ridged(pivot, size):  # type: ignore[no-untyped-def]
    """A pivot that elimination has emptied, raised."""
    pivot += RIDGE * size
    if not abs(pivot) > 1e-3 * RIDGE * size:
        pivot = RIDGE * size
    return pivot if pivot != 0.0 else 1.0


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
        d0, beside, below, d1 = ld(D, 0), ld(D, 1), ld(D, w), ld(D, w + 1)
        size, other = ld(diagonal, 0), ld(diagonal, 1)
        if not d0 > EMPTIED * size:
            d0, raised = ridged(d0, size), True
        determinant = d0 * d1 - beside * below
        if not determinant > EMPTIED * other * d0:
            determinant, raised = d0 * ridged(determinant / d0, other), True
            d1 = (determinant + beside * below) / d0
        inverse = 1.0 / determinant
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
    elif n == 2 and m == 2 and o == 2:
        l0, l1, l2, l3 = ld(lower, 0), ld(lower, 1), ld(lower, w), ld(lower, w + 1)
        u0, u1, u2, u3 = ld(upper, 0), ld(upper, 1), ld(upper, wu), ld(upper, wu + 1)
        st(target, 0, ld(target, 0) - l0 * u0 - l1 * u2)
        st(target, 1, ld(target, 1) - l0 * u1 - l1 * u3)
        st(target, wo, ld(target, wo) - l2 * u0 - l3 * u2)
        st(target, wo + 1, ld(target, wo + 1) - l2 * u1 - l3 * u3)
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
def eliminate_joints(A, f, lu):  # type: ignore[no-untyped-def]
    """Block LU of the joints' symmetric part in place; returns whether a diagonal had to be raised."""
    raised, diagonal = False, f + lc(A, DIAGONAL)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        n, D = lc(lc(A, B_COUNT), k), lu + 8 * lc(lc(A, B_DIAGONAL), k)
        if factor_block(D, n, n, diagonal + 8 * lc(lc(A, B_SLOT), k)):
            raised = True
        first, last, every = lc(lc(A, E_FIRST), k), lc(lc(A, E_JOINT_LAST), k), lc(lc(A, E_FIRST), k + 1)
        for e in range(first, last):
            m = lc(lc(A, B_COUNT), lc(lc(A, E_BLOCK), e))
            lower, upper = lu + 8 * lc(lc(A, E_LOWER), e), lu + 8 * lc(lc(A, E_UPPER), e)
            if n == 2:
                d0, beside, d1 = ld(D, 0), ld(D, 1), ld(D, 3)
                for y in range(m):
                    x, z = ld(lower, 2 * y), ld(lower, 2 * y + 1)
                    st(upper, y, d0 * x + beside * z)
                    st(upper, m + y, beside * x + d1 * z)
            elif n == 1:
                for y in range(m):
                    st(upper, y, ld(lower, y) * ld(D, 0))
            else:
                for y in range(m):
                    for j in range(n):
                        st(upper, j * m + y, ld(lower, y * n + j))
                    solve_block(D, n, n, upper + 8 * y, m)
        for e in range(first, last):
            m, lower = lc(lc(A, B_COUNT), lc(lc(A, E_BLOCK), e)), lu + 8 * lc(lc(A, E_LOWER), e)
            targets = lc(lc(A, E_UPDATE), k) + (e - first) * (every - first)
            for g in range(first, e + 1):
                o = lc(lc(A, B_COUNT), lc(lc(A, E_BLOCK), g))
                target = lu + 8 * lc(lc(A, E_TARGET), targets + g - first)
                subtract_product(target, o, lower, n, lu + 8 * lc(lc(A, E_UPPER), g), o, m, n, o)
    return raised


@njit(**OPT)
def factor_joints(A, f, out):  # type: ignore[no-untyped-def]
    """The joints' part of the matrix for the directions in `out`, which `solve_active` and `substitute` go on from."""
    couple_joints(A, f, out, f + lc(A, LU))
    si(f + lc(A, RAISED), 0, 1 if eliminate_joints(A, f, f + lc(A, LU)) else 0)


@njit(**OPT)
def eliminate_contacts(A, f, lu):  # type: ignore[no-untyped-def]
    """Go on with the blocks of contacts; returns whether a diagonal had to be raised."""
    count, raised, diagonal = f + lc(A, COUNT), False, f + lc(A, DIAGONAL)
    for k in range(lc(A, N_BLOCKS)):
        first, contacts, every = lc(lc(A, E_FIRST), k), lc(lc(A, E_JOINT_LAST), k), lc(lc(A, E_FIRST), k + 1)
        n, D, w = li(count, k), lu + 8 * lc(lc(A, B_DIAGONAL), k), lc(lc(A, B_SIZE), k)
        if n == 0:
            continue
        if k >= lc(A, N_JOINT_BLOCKS) and factor_block(D, w, n, diagonal + 8 * lc(lc(A, B_SLOT), k)):
            raised = True
        for e in range(contacts, every):
            block = lc(lc(A, E_BLOCK), e)
            m, upper, wm = li(count, block), lu + 8 * lc(lc(A, E_UPPER), e), lc(lc(A, B_SIZE), block)
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
        for e in range(first, every):
            m, lower = li(count, lc(lc(A, E_BLOCK), e)), lu + 8 * lc(lc(A, E_LOWER), e)
            if m == 0:
                continue
            targets = lc(lc(A, E_UPDATE), k) + (e - first) * (every - first)
            for g in range(contacts if e < contacts else first, every):
                other = lc(lc(A, E_BLOCK), g)
                o, wo = li(count, other), lc(lc(A, B_SIZE), other)
                if o == 0:
                    continue
                target, upper = lu + 8 * lc(lc(A, E_TARGET), targets + g - first), lu + 8 * lc(lc(A, E_UPPER), g)
                if n == 1 and m == 1 and o == 1:
                    st(target, 0, ld(target, 0) - ld(lower, 0) * ld(upper, 0))
                else:
                    subtract_product(target, wo, lower, w, upper, wo, m, n, o)
    return raised


@njit(**OPT)
def substitute(A, f, blocks, lu, x):  # type: ignore[no-untyped-def]
    """Solve in place for the slots of all blocks, or of those of the joints."""
    count, whole = f + lc(A, COUNT), blocks == lc(A, N_BLOCKS)
    for k in range(blocks):
        n = li(count, k)
        if n == 0:
            continue
        D, w, s = lu + 8 * lc(lc(A, B_DIAGONAL), k), lc(lc(A, B_SIZE), k), x + 8 * lc(lc(A, B_SLOT), k)
        last = lc(lc(A, E_FIRST), k + 1) if whole else lc(lc(A, E_JOINT_LAST), k)
        if n == 1:
            y = ld(s, 0) * ld(D, 0)
            st(s, 0, y)
            for e in range(lc(lc(A, E_FIRST), k), last):
                block = lc(lc(A, E_BLOCK), e)
                lower, o = lu + 8 * lc(lc(A, E_LOWER), e), x + 8 * lc(lc(A, B_SLOT), block)
                for i in range(li(count, block)):
                    st(o, i, ld(o, i) - ld(lower, i * w) * y)
        elif n == 2:
            y, z = ld(s, 0), ld(s, 1)
            y, z = ld(D, 0) * y + ld(D, 1) * z, ld(D, w) * y + ld(D, w + 1) * z
            st(s, 0, y)
            st(s, 1, z)
            for e in range(lc(lc(A, E_FIRST), k), last):
                block = lc(lc(A, E_BLOCK), e)
                lower, o = lu + 8 * lc(lc(A, E_LOWER), e), x + 8 * lc(lc(A, B_SLOT), block)
                for i in range(li(count, block)):
                    st(o, i, ld(o, i) - ld(lower, i * w) * y - ld(lower, i * w + 1) * z)
        else:
            solve_block(D, w, n, s, 1)
            for e in range(lc(lc(A, E_FIRST), k), last):
                block = lc(lc(A, E_BLOCK), e)
                lower, o = lu + 8 * lc(lc(A, E_LOWER), e), x + 8 * lc(lc(A, B_SLOT), block)
                for i in range(li(count, block)):
                    value = ld(o, i)
                    for j in range(n):
                        value -= ld(lower, i * w + j) * ld(s, j)
                    st(o, i, value)
    for k in range(blocks - 1, -1, -1):
        n, s = li(count, k), x + 8 * lc(lc(A, B_SLOT), k)
        if n == 0:
            continue
        last = lc(lc(A, E_FIRST), k + 1) if whole else lc(lc(A, E_JOINT_LAST), k)
        for e in range(lc(lc(A, E_FIRST), k), last):
            block = lc(lc(A, E_BLOCK), e)
            m, wm = li(count, block), lc(lc(A, B_SIZE), block)
            upper, o = lu + 8 * lc(lc(A, E_UPPER), e), x + 8 * lc(lc(A, B_SLOT), block)
            for c in range(n):
                value = ld(s, c)
                for i in range(m):
                    value -= ld(upper, c * wm + i) * ld(o, i)
                st(s, c, value)
