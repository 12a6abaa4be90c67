"""Friction laws that ask for the force that would hold them: contacts held together, with the joints closed.

As in `nonsmooth.steppers.compliant_equations`: first all of them are held at once, then each for itself against what
the others' laws allow. Bodies' field WORK holds accelerations.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from numba import njit

from nonsmooth.native.compliant_table import *
from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.substitution import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def law_of(A, k):  # type: ignore[no-untyped-def]
    """The record of a gap's law."""
    return lc(A, I_LAWS) + 8 * LAW * k


@njit(**OPT)
def ask_law(A, f, k):  # type: ignore[no-untyped-def]
    """The answers of a gap's law to what stands in its record."""
    law = law_of(A, k)
    call_evaluate(lc(law, L_EVALUATE), 1, lc(law, L_PLACES), f + 8 * TIME, f, f, f + lc(law, L_W), f)


@njit(**OPT)
def close_rates(A, f, v, shifted):  # type: ignore[no-untyped-def]
    """Accelerations v as the joints leave them, whose second derivatives hold DRIFT besides where `shifted`."""
    if not lc(A, N_ROWS):
        return
    x = f + lc(A, RHS_A)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row, a, b = f + lc(block, B_FIRST), v + lc(block, B_A), v + lc(block, B_B)
        for i in range(2):
            here = row + ROW_STEP * i
            st(x, 2 * k + i, -(along(here + DIRECTION, a, b) + (ld(here, DRIFT) if shifted else 0.0)))
    substitute_joints(A, f, x)
    push_joint_slots(A, f, 0, x, v)


@njit(**OPT)
def held_gaps(A, f):  # type: ignore[no-untyped-def]
    """Lists the gaps that touch and ask; how many."""
    held, first, n = f + lc(A, I_HELD), f + lc(A, GAPS), 0
    for k in range(lc(A, N_GAPS)):
        if lc(law_of(A, k), L_HOLDS) and ld(first + GAP_STEP * k, TOUCHES) > 0.0:
            si(held, n, k)
            n += 1
    return n


@njit(**OPT)
def slip_at(A, f, k, v):  # type: ignore[no-untyped-def]
    """The rate of a gap's slip by v."""
    gap = f + lc(A, GAPS) + GAP_STEP * k
    return along(gap + SLIDE, v + lc(gap, GAP_A), v + lc(gap, GAP_B))


@njit(**OPT)
def responses(A, f, held, n, W):  # type: ignore[no-untyped-def]
    """W (n, n): the slips' response to forces along the tangents."""
    inverse, work, first = f + 8 * INVERSE, f + 8 * WORK, f + lc(A, GAPS)
    for i in range(n):
        gap = first + GAP_STEP * li(held, i)
        a, b = lc(gap, GAP_A), lc(gap, GAP_B)
        clear_bodies(A, work)
        push(gap + SLIDE, 1.0, inverse + a, inverse + b, work + a, work + b)
        close_rates(A, f, work, False)
        for j in range(n):
            st(W, n * i + j, slip_at(A, f, li(held, j), work))


@njit(**OPT)
def solve_held(W, S, x, n):  # type: ignore[no-untyped-def]
    """Solve W x = x, whose diagonal is raised by a share of itself; S is room for the factors."""
    for i in range(n):
        for j in range(n):
            st(S, n * i + j, ld(W, n * i + j) * (1.0 + SHARED if i == j else 1.0))
    for k in range(n):
        for i in range(k + 1, n):
            factor = ld(S, n * i + k) / ld(S, n * k + k)
            for j in range(k + 1, n):
                st(S, n * i + j, ld(S, n * i + j) - factor * ld(S, n * k + j))
            st(x, i, ld(x, i) - factor * ld(x, k))
    for k in range(n - 1, -1, -1):
        value = ld(x, k)
        for j in range(k + 1, n):
            value -= ld(S, n * k + j) * ld(x, j)
        st(x, k, value / ld(S, n * k + k))


@njit(**OPT)
def hold(A, f):  # type: ignore[no-untyped-def]
    """Friction of the contacts that ask what would hold them, added to FORCE, which has all others already."""
    n = held_gaps(A, f)
    if n == 0:
        return
    size, work, force, first = lc(A, N_GAPS), f + 8 * WORK, f + 8 * FORCE, f + lc(A, GAPS)
    held = f + lc(A, I_HELD)
    free, found, W, S = held + 8 * size, held + 16 * size, held + 24 * size, held + 24 * size + 8 * size * size
    clear4(work + GROUND)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        product4(work + b, 1.0, f + b + 8 * INVERSE, force + b)
    close_rates(A, f, work, True)
    for i in range(n):
        k = li(held, i)
        rate = slip_at(A, f, k, work) + ld(first + GAP_STEP * k, SLIDE_DRIFT)
        st(free, i, rate)
        st(found, i, -rate)
    responses(A, f, held, n, W)
    solve_held(W, S, found, n)
    for i in range(n):
        gap = first + GAP_STEP * li(held, i)
        st(gap, HOLDING, ld(found, i))
        ask_law(A, f, li(held, i))
        st(found, i, ld(gap, FORCE_T))
    for i in range(n):
        others = 0.0
        for j in range(n):
            if j != i:
                others += ld(W, n * i + j) * ld(found, j)
        gap = first + GAP_STEP * li(held, i)
        st(gap, HOLDING, -(ld(free, i) + others) / ld(W, n * i + i))
        ask_law(A, f, li(held, i))
        push_by(gap + SLIDE, ld(gap, FORCE_T), force + lc(gap, GAP_A), force + lc(gap, GAP_B))
