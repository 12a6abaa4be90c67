"""Projection of coordinates after a step of Moreau and Jean: joints closed, no negative gap."""

# ruff: noqa: F403, F405

from __future__ import annotations

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def project(A, f, t1):  # type: ignore[no-untyped-def]
    """The nearest q, in the mass metric, with closed joints and no negative gap: programs in linearised gaps."""
    q1, z1, vp, side, gaps, rows = more(A, f, Q1), end_z(A, f), f + 8 * VP, end_row(f), f + lc(A, GAPS), f + lc(A, ROWS)
    limit, jointed = ld(f, OPTIONS + O_PROJECTED), lc(A, N_ROWS) > 0
    copy_bodies(A, vp, more(A, f, U))
    for k in range(lc(A, N_GAPS)):
        gap = gaps + GAP_STEP * k
        st(gap, OLD_FRICTION, ld(gap, FRICTION))
        st(gap, OLD_N, ld(gap, P_N))
        st(gap, OLD_T, ld(gap, P_T))
        st(gap, FRICTION, 0.0)
    for k in range(lc(A, N_ROWS)):
        row = rows + ROW_STEP * k
        st(row, KEPT, ld(row, P_B))
    done = used = False
    for k in range(PASSES):
        if k > 0 or not jointed:
            place(A, q1, z1)
        contacts_at(A, f, z1, vp, 0)
        if used:
            joints_at(A, f, t1, z1, vp, side)
        done = True
        for i in range(lc(A, N_GAPS)):
            gap = gaps + GAP_STEP * i
            if ld(gap, GAP_G) < -limit * ld(gap, SCALE):
                done = False
        if done:
            break
        used = True
        for i in range(lc(A, N_GAPS)):
            gap = gaps + GAP_STEP * i
            distance = ld(gap, GAP_G)
            st(gap, SHIFT_N, distance)
            si(gap, ACTIVE, 1)
            si(gap, MODE, STICK if distance < 0.0 else OPEN)
        for i in range(lc(A, N_ROWS)):
            row = rows + ROW_STEP * i
            st(row, SHIFT_J, ld(row + side, ROW_G))
        clear_bodies(A, f + 8 * BASE)
        if jointed and k > 0:
            factor_joints(A, f, side)
        if not call_solve(lc(A, SOLVE), A, f, side, 0):
            break
        for i in range(1, lc(A, N_BODIES) + 1):
            b = GROUND + BODY_STEP * i
            add4(q1 + b, q1 + b, vp + b)
    if used and jointed:
        factor_joints(A, f, side)
    for k in range(lc(A, N_GAPS)):
        gap = gaps + GAP_STEP * k
        st(gap, FRICTION, ld(gap, OLD_FRICTION))
        st(gap, P_N, ld(gap, OLD_N))
        st(gap, P_T, ld(gap, OLD_T))
    for k in range(lc(A, N_ROWS)):
        row = rows + ROW_STEP * k
        st(row, P_B, ld(row, KEPT))
    copy_bodies(A, more(A, f, U), vp)
    return done
