"""Gauss' implicit Euler: linearised gaps and joints, until the true ones close."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def gauss_errors(A, f, u, dt, row_side, gap_side):  # type: ignore[no-untyped-def]
    """Residual of implicit Euler's equations at the end of the step, as its Python twin defines it."""
    worst, size = momentum_error(A, f, f + 8 * V, u, dt, gap_side, row_side, P_A, row_side, P_B)
    if not math.isfinite(size):
        return math.inf
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        worst = max(worst, abs(ld(first + ROW_STEP * k + row_side, ROW_G)))
    rough, longest, first = lc(A, ROUGH), ld(f, OPTIONS + O_LONGEST), f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        per_scale, per_y = ld(gap, PER_SCALE), ld(gap, PER_Y)
        push = ld(gap, P_N) * per_y
        worst = max(worst, abs(min(ld(gap + gap_side, GAP_G) * per_scale, push)))
        if rough:
            slip = along(gap + TANGENT + gap_side, u + lc(gap, GAP_A), u + lc(gap, GAP_B))
            force, reach = ld(gap, P_T) * per_y, ld(gap, FRICTION) * push
            worst = max(worst, abs(force - min(max(force - slip * longest * per_scale, -reach), reach)))
    return worst


@njit(**OPT)
def gauss_start(A, f, dt):  # type: ignore[no-untyped-def]
    """U of the last step's impulses, those of striking contacts left out, and the forces at its end."""
    v, u, side, first = f + 8 * V, f + 8 * U, start_gap(f), f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        si(gap, ACTIVE, 1)
        recall_mode(gap)
        J = gap + NORMAL + side
        rate = along(J, v + lc(gap, GAP_A), v + lc(gap, GAP_B))
        st(gap, S_MINUS, rate)
        striking = not touching(f, gap, side) or rate < 0.0 and rate < -zero_rate(f, gap, J, v)
        si(gap, STRUCK, 1 if striking else 0)
        if striking:
            st(gap, P_N, 0.0)
            st(gap, P_T, 0.0)
    kick_of(A, f, dt)
    add_kick(A, f, v, u)
    push_contacts(A, f, side, u)
    push_joints(A, f, start_row(f), P_B, u)


def gauss_step(A, f, t1):  # type: ignore[no-untyped-def]
    """One step of implicit Euler to t1: linearised gaps and joints, until the true ones close."""
    dt, v, u, base = t1 - ld(f, TIME + 1), f + 8 * V, f + 8 * U, f + 8 * BASE
    q1, z1, row_side, gap_side = f + 8 * Q1, end_z(f), end_row(f), end_gap(f)
    gauss_start(A, f, dt)
    before, error, settled, per = math.inf, math.inf, False, 1.0 / dt
    for k in range(PASSES):
        move(A, f + 8 * Q, u, dt, q1)
        place(A, q1, z1)
        joints_at(A, f, t1, z1, u, row_side)
        contacts_at(A, f, z1, u, gap_side)
        if lc(A, VARYING):
            forces_at(A, f, t1, z1, u)
        before, error = error, gauss_errors(A, f, u, dt, row_side, gap_side)
        if not math.isfinite(error):
            return UNCERTAIN
        if error <= 3e-15 or (k > 0 and error >= 0.5 * before and error <= 1e-11):
            settled = True
            break
        if lc(A, VARYING):
            kick_of(A, f, dt)
        add_kick(A, f, v, base)
        first = f + lc(A, ROWS)
        for i in range(lc(A, N_ROWS)):
            row = first + ROW_STEP * i
            rate = along(row + DIRECTION + row_side, u + lc(row, ROW_A), u + lc(row, ROW_B))
            st(row, SHIFT_J, ld(row + row_side, ROW_G) * per - rate)
        first = f + lc(A, GAPS)
        for i in range(lc(A, N_GAPS)):
            gap = first + GAP_STEP * i
            rate = along(gap + NORMAL + gap_side, u + lc(gap, GAP_A), u + lc(gap, GAP_B))
            st(gap, SHIFT_N, ld(gap + gap_side, GAP_G) * per - rate)
            st(gap, SHIFT_T, 0.0)
        if lc(A, N_ROWS):
            factor_joints(A, f, row_side)
        if not call_solve(lc(A, SOLVE), A, f, row_side, gap_side):
            return UNCERTAIN
        copy_bodies(A, f + 8 * VP, u)
    if not settled or turns_far(A, f, u, dt):
        return UNCERTAIN
    gauss_record(A, f, t1, error)
    return DONE


@njit(**OPT)
def gauss_record(A, f, t1, error):  # type: ignore[no-untyped-def]
    """What the step leaves for its row, and the state at its end."""
    dt, u, v = t1 - ld(f, TIME + 1), f + 8 * U, f + 8 * V
    side, before, row_side, rough = end_gap(f), start_gap(f), end_row(f), lc(A, ROUGH)
    first = f + lc(A, GAPS)
    natural = loss = work = 0.0
    hit = 0
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        a, b, p, close = lc(gap, GAP_A), lc(gap, GAP_B), ld(gap, P_N), touching(f, gap, side)
        natural = max(natural, abs(min(ld(gap + side, GAP_G) * ld(gap, PER_SCALE), p * ld(gap, PER_Y))))
        striking = li(gap, STRUCK)
        if striking and ld(gap, BEFORE_N) > 0.0 and touching(f, gap, before):
            # a contact that lasts, and whose direction turns
            rate = ld(gap, S_MINUS)
            if -rate <= abs(along(gap + NORMAL + side, v + a, v + b) - rate):
                striking = 0
        st(gap, S_PNI, p if striking else 0.0)
        si(gap, S_MODE, mode_of(f, gap, close))
        if striking and p > 0.0:
            hit = 1
            st(gap, S_PLUS, along(gap + NORMAL + side, u + a, u + b))
        if rough and not striking:
            slip = along(gap + TANGENT + before, v + a, v + b) + along(gap + TANGENT + side, u + a, u + b)
            loss -= ld(gap, P_T) * slip / 2
        if ld(gap, CLOSED) > 0.0 and not close:
            st(gap, LEFT_AT, t1)
        st(gap, CLOSED, 1.0 if close else 0.0)
    if lc(A, N_ROWS):
        if not lc(A, BRIEF):
            reactions(A, f, row_side, end_z(f), P_B, 1.0 / dt, S_REACTION, False)
        work = driven(A, f, row_side, P_B)
    si(f, HIT, hit)
    if hit:
        copy_bodies(A, u, f + 8 * S_LEFT)
    note_scalars(f, dt, error, natural, work, 0.0, loss)
    advance(A, f, t1, u)


@njit(**OPT)
def advance(A, f, t1, v1):  # type: ignore[no-untyped-def]
    """The end of the step becomes the state."""
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        copy4(f + b + 8 * Q1, f + b + 8 * Q)
        copy4(v1 + b, f + b + 8 * V)
    si(f, PARITY, 1 - li(f, PARITY))
    st(f, TIME + 1, t1)
