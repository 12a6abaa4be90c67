"""The active set: modes of gaps and the impulses that go with them.

Modes: 0 open, 1 closed (sticking, where it has friction), 2 and 3 slipping, pushed along and against the tangent.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.table import *


@njit(**OPT)
def recall_modes(A, f):  # type: ignore[no-untyped-def]
    """Modes of the last impulses, so that a run goes on to the same bits from its impulses alone."""
    mode, N, T = f + lc(A, MODE), f + lc(A, P_N), f + lc(A, P_T)
    active, friction = f + lc(A, ACTIVE), f + lc(A, FRICTION)
    for i in range(lc(A, N_GAPS)):
        m = OPEN
        if li(active, i) and ld(N, i) > 0.0:
            m = STICK
            mu = ld(friction, i)
            if mu > 0.0 and abs(ld(T, i)) >= mu * ld(N, i) * (1.0 - 1e-12):
                m = FORWARD if ld(T, i) > 0.0 else BACKWARD
        si(mode, i, m)


@njit(**OPT)
def joint_rates(A, f, out, v, shift, x):  # type: ignore[no-untyped-def]
    """x = -(J v + shift), what the impulses of the joints have to change; `shift` by row."""
    for k in range(lc(A, N_JOINT_BLOCKS)):
        n, s, first = lc(lc(A, B_COUNT), k), lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
        a, b, J = lc(lc(A, B_A), k), lc(lc(A, B_B), k), out + lc(lc(A, B_OUT), k) + 8 * n
        for i in range(n):
            st(x, s + i, -(along(J + 48 * i, a, b, v) + ld(shift, first + i)))


@njit(**OPT)
def contact_rates(A, f, out, v, x):  # type: ignore[no-untyped-def]
    """As `joint_rates`, of the rows of contacts."""
    count, identity = f + lc(A, COUNT), f + lc(A, IDENTITY)
    normal, tangential = f + lc(A, SHIFT_N), f + lc(A, SHIFT_T)
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        s = lc(lc(A, B_SLOT), k)
        for i in range(li(count, k)):
            g = li(identity, s + i) >> 1
            a, b = lc(lc(A, GAP_A), g), lc(lc(A, GAP_B), g)
            if li(identity, s + i) & 1:
                st(x, s + i, -(along(out + lc(lc(A, GAP_T), g), a, b, v) + ld(tangential, g)))
            else:
                st(x, s + i, -(along(out + lc(lc(A, GAP_N), g), a, b, v) + ld(normal, g)))


@njit(**OPT)
def take_joint_impulses(A, f, x, impulses, add):  # type: ignore[no-untyped-def]
    """Slots to impulses by row; `add` for a change of them."""
    for k in range(lc(A, N_JOINT_BLOCKS)):
        s, first = x + 8 * lc(lc(A, B_SLOT), k), impulses + 8 * lc(lc(A, B_FIRST), k)
        for i in range(lc(lc(A, B_COUNT), k)):
            st(first, i, ld(first, i) + ld(s, i) if add else ld(s, i))


@njit(**OPT)
def take_contact_impulses(A, f, x, add):  # type: ignore[no-untyped-def]
    """Slots to P_N and P_T; `add` for a change of them."""
    count, identity = f + lc(A, COUNT), f + lc(A, IDENTITY)
    N, T, mode, friction = f + lc(A, P_N), f + lc(A, P_T), f + lc(A, MODE), f + lc(A, FRICTION)
    if not add:
        for i in range(lc(A, N_GAPS)):
            st(N, i, 0.0)
            st(T, i, 0.0)
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        s = lc(lc(A, B_SLOT), k)
        for i in range(li(count, k)):
            g = li(identity, s + i) >> 1
            if li(identity, s + i) & 1:
                st(T, g, ld(T, g) + ld(x, s + i))
            else:
                st(N, g, ld(N, g) + ld(x, s + i))
                if li(mode, g) == FORWARD:
                    st(T, g, ld(friction, g) * ld(N, g))
                elif li(mode, g) == BACKWARD:
                    st(T, g, -ld(friction, g) * ld(N, g))


@njit(**OPT)
def push_joint_slots(A, f, out, x, v):  # type: ignore[no-untyped-def]
    """v += M^-1 J' x over the joints' slots."""
    inverse = f + lc(A, INVERSE)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        n, s, a, b = lc(lc(A, B_COUNT), k), x + 8 * lc(lc(A, B_SLOT), k), lc(lc(A, B_A), k), lc(lc(A, B_B), k)
        push_block(out + lc(lc(A, B_OUT), k) + 8 * n, n, a, b, s, inverse, v)


@njit(**OPT)
def push_block(J, n, a, b, x, inverse, v):  # type: ignore[no-untyped-def]
    va, vb, wa, wb = v + 24 * a, v + 24 * b, inverse + 24 * a, inverse + 24 * b
    if n == 2:
        y, z = ld(x, 0), ld(x, 1)
        for d in range(3):
            st(va, d, ld(va, d) + ld(wa, d) * (ld(J, d) * y + ld(J, 6 + d) * z))
            st(vb, d, ld(vb, d) + ld(wb, d) * (ld(J, 3 + d) * y + ld(J, 9 + d) * z))
        return
    for i in range(n):
        y = ld(x, i)
        for d in range(3):
            st(va, d, ld(va, d) + ld(wa, d) * ld(J, 6 * i + d) * y)
            st(vb, d, ld(vb, d) + ld(wb, d) * ld(J, 6 * i + 3 + d) * y)


@njit(**OPT)
def push_contact_slots(A, f, x, v):  # type: ignore[no-untyped-def]
    """v += C x over the slots of contacts."""
    count, pushes = f + lc(A, COUNT), f + lc(A, C)
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        s, va, vb = lc(lc(A, B_SLOT), k), v + 24 * lc(lc(A, B_A), k), v + 24 * lc(lc(A, B_B), k)
        for i in range(li(count, k)):
            p, Cs = ld(x, s + i), pushes + 48 * (s + i)
            for d in range(3):
                st(va, d, ld(va, d) + ld(Cs, d) * p)
                st(vb, d, ld(vb, d) + ld(Cs, 3 + d) * p)


@njit(**OPT)
def wanted_mode(A, f, out, v, i):  # type: ignore[no-untyped-def]
    """The mode of gap i by the projections of Alart and Curnier, exact since its mode's equations hold."""
    m, mu = li(f + lc(A, MODE), i), ld(f + lc(A, FRICTION), i)
    a, b = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
    J, inverse = out + lc(lc(A, GAP_N), i), f + lc(A, INVERSE)
    reach = 0.0
    if m == OPEN:
        rate = along(J, a, b, v) + ld(f + lc(A, SHIFT_N), i)
        if rate >= 0.0:
            return OPEN
        terms = along_sizes(J, a, b, v) + abs(ld(f + lc(A, SHIFT_N), i))
        if rate >= -SIGN * terms:
            return OPEN
        if mu == 0.0:
            return STICK
        reach = -mu * rate / max(mobility(J, a, b, inverse), TINY)
    else:
        P = ld(f + lc(A, P_N), i)
        if P < 0.0:
            return OPEN
        if mu == 0.0:
            return STICK
        reach = mu * P
    D = out + lc(lc(A, GAP_T), i)
    force = ld(f + lc(A, P_T), i)
    if m != STICK:
        slip = along(D, a, b, v) + ld(f + lc(A, SHIFT_T), i)
        if m != OPEN:
            if (slip <= 0.0) == (m == FORWARD) or slip == 0.0:
                return m
            if abs(slip) <= SIGN * (along_sizes(D, a, b, v) + abs(ld(f + lc(A, SHIFT_T), i))):
                return m
        force -= slip / max(mobility(D, a, b, inverse), TINY)
    if abs(force) <= reach:
        return STICK
    return FORWARD if force > 0.0 else BACKWARD


@njit(**OPT)
def hashed(i, round_):  # type: ignore[no-untyped-def]
    """A reproducible coin for gap i in a round."""
    x = (i * 2654435761 + round_ * 40503 + 12345) & 0xFFFFFFFF
    x = ((x >> 16) ^ x) * 73244475 & 0xFFFFFFFF
    return ((x >> 16) ^ x) & 1


def solve_active(A, f, out_j, out_c, base, joint_impulses, v):  # type: ignore[no-untyped-def]
    """Velocities `v` = base + M^-1 (W_g P_g + W_N P_N + W_T P_T) that obey joints and laws; whether they were found.

    Joints: R . v + shift = 0, their part of the matrix factored before; gaps that are active: 0 <= R . v + shift  ⟂
    P_N >= 0 and Coulomb's law. Semismooth Newton from the modes of the last step: all rows switch at once, later a
    reproducible half of them, in frictionless mechanisms at last one at a time.
    """
    counters, lu, x, r = f + lc(A, COUNTERS), f + lc(A, LU), f + lc(A, X), f + lc(A, RHS)
    mode, wanted, active = f + lc(A, MODE), f + lc(A, WANTED), f + lc(A, ACTIVE)
    size, gaps, blocks = 3 * lc(A, N_BODIES) + 3, lc(A, N_GAPS), lc(A, N_BLOCKS)
    rows, shift = lc(A, N_ROWS), f + lc(A, SHIFT_J)
    si(counters, K_SOLVES, li(counters, K_SOLVES) + 1)
    limit = ALL_AT_ONCE + HASHED
    if not lc(A, ROUGH):
        limit += SINGLE + gaps
    for round_ in range(limit):
        si(counters, K_ROUNDS, li(counters, K_ROUNDS) + 1)
        raised, last_block = li(f + lc(A, RAISED), 0) != 0, lc(A, N_JOINT_BLOCKS)
        if fill_contact_rows(A, f, out_c):
            last_block = blocks
            couple_contacts(A, f, out_j, lu)
            raised |= eliminate_contacts(A, f, lu)
        for repeat in range(5 if raised else 1):
            again, at = repeat > 0, base if repeat == 0 else v
            y = x if repeat == 0 else r
            if rows:
                joint_rates(A, f, out_j, at, shift, y)
            if last_block == blocks:
                contact_rates(A, f, out_c, at, y)
            substitute(A, f, last_block, lu, y)
            if not again:
                copy(base, v, size)
            if rows:
                take_joint_impulses(A, f, y, joint_impulses, again)
                push_joint_slots(A, f, out_j, y, v)
            take_contact_impulses(A, f, y, again)
            push_contact_slots(A, f, y, v)
        changes, last = 0, -1
        for i in range(gaps):
            if li(active, i):
                m = wanted_mode(A, f, out_c, v, i)
                si(wanted, i, m)
                if m != li(mode, i):
                    changes += 1
                    last = i
        if changes == 0:
            return 1
        if round_ >= ALL_AT_ONCE + HASHED:
            si(counters, K_SINGLE, li(counters, K_SINGLE) + 1)
            si(mode, last, li(wanted, last))
            continue
        half = round_ >= ALL_AT_ONCE
        if half:
            si(counters, K_HASHED, li(counters, K_HASHED) + 1)
        for i in range(gaps):
            if li(active, i) and (not half or changes == 1 or hashed(i, round_)):
                si(mode, i, li(wanted, i))
    return 0
