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
def gauss_errors(A, f, u, dt, row_side, gap_side, k):  # type: ignore[no-untyped-def]
    """Residual of implicit Euler's equations at the end of the step, as its Python twin defines it.

    And what of it a pass can mend, which leaves out the round-off of gaps; see `gap_off`.
    """
    worst, size, _ = momentum_error(A, f, f + 8 * V, u, dt, gap_side, row_side, -1, False)
    if not math.isfinite(size):
        return math.inf, math.inf
    first = f + lc(A, ROWS)
    for i in range(lc(A, N_ROWS)):
        worst = max(worst, abs(ld(first + ROW_STEP * i + row_side, ROW_G)))
    natural, start = 0.0, start_gap(f)
    rough, longest, first = lc(A, ROUGH), ld(f, OPTIONS + O_LONGEST), f + lc(A, GAPS)
    for i in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * i
        per_scale, per_y = ld(gap, PER_SCALE), ld(gap, PER_Y)
        push = ld(gap, P_N) * per_y
        distance = ld(gap + gap_side, GAP_G)
        natural = max(natural, abs(min(distance * per_scale, push)))
        off = gap_off(gap, start, gap_side, u, dt)
        if k == 0:
            st(gap, GUESS_OFF, off)
        st(gap, OFF, off)
        worst = max(worst, abs(min(off * per_scale, push)))
        if rough:
            slip = along(gap + TANGENT + gap_side, u + lc(gap, GAP_A), u + lc(gap, GAP_B))
            force, reach = ld(gap, P_T) * per_y, ld(gap, FRICTION) * push
            worst = max(worst, abs(force - min(max(force - slip * longest * per_scale, -reach), reach)))
    return max(worst, natural), worst


@njit(**OPT)
def gap_off(gap, start, end, u, dt):  # type: ignore[no-untyped-def]
    """A gap at the end; of one that is closed to round-off all the while, what u changes it by.

    That is known better than the gap itself, whose round-off the impulse would have to follow from step to step.
    """
    distance, noise = ld(gap + end, GAP_G), ld(gap, ROUND_OFF)
    if not abs(distance) < 2.0 * noise:
        st(gap, ROUND_OFF, 0.0)  # it does not stay closed: from now on in this step it is the gap itself that counts
        return distance
    a, b, J, K = u + lc(gap, GAP_A), u + lc(gap, GAP_B), gap + NORMAL + start, gap + NORMAL + end
    return (along(J, a, b) + along(K, a, b)) * (dt / 2)


@njit(**OPT)
def round_off(f, gap, side):  # type: ignore[no-untyped-def]
    """That of a gap that is closed at the start of the step, else 0."""
    J, q = gap + NORMAL + side, f + 8 * Q
    terms = along_sizes(J, q + lc(gap, GAP_A), q + lc(gap, GAP_B)) + abs(ld(J, 2)) + abs(ld(J, 6))
    noise = min(ROUNDED * terms, UNSEEN * ld(gap, SCALE))
    return noise if abs(ld(gap + side, GAP_G)) <= noise else 0.0


@njit(**OPT)
def gauss_start(A, f, dt):  # type: ignore[no-untyped-def]
    """U of the last step's impulses, those of striking contacts left out, and the forces at its end."""
    v, u, side, first, longer = f + 8 * V, more(A, f, U), start_gap(f), f + lc(A, GAPS), lengthening(f, dt)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        si(gap, ACTIVE, 1)
        recall_mode(A, gap)
        st(gap, ROUND_OFF, round_off(f, gap, side))
        J = gap + NORMAL + side
        rate = along(J, v + lc(gap, GAP_A), v + lc(gap, GAP_B))
        st(gap, S_MINUS, rate)
        striking = not touching(f, gap, side) or rate < 0.0 and rate < -zero_rate(f, gap, J, v)
        si(gap, STRUCK, 1 if striking else 0)
        if striking:
            st(gap, P_N, 0.0)
            st(gap, P_T, 0.0)
        else:
            st(gap, P_N, longer * ld(gap, HISTORY_N))
            st(gap, P_T, longer * ld(gap, P_T))
        st(gap, HISTORY_N, ld(gap, P_N))
    kick_of(A, f, dt)
    add_kick(A, f, v, u)
    push_contacts(A, f, side, u)
    push_joints(A, f, start_row(f), P_B, u)


def gauss_step(A, f, t1):  # type: ignore[no-untyped-def]
    """One step of implicit Euler to t1: linearised gaps and joints, until the true ones close."""
    dt, v, u, base = t1 - ld(f, TIME + 1), f + 8 * V, more(A, f, U), f + 8 * BASE
    q1, z1, row_side, gap_side = more(A, f, Q1), end_z(A, f), end_row(f), end_gap(f)
    gauss_start(A, f, dt)
    before, off, error, settled, per = math.inf, math.inf, math.inf, False, 1.0 / dt
    for k in range(PASSES):
        move(A, f + 8 * Q, u, dt, q1)
        place(A, q1, z1)
        joints_at(A, f, t1, z1, u, row_side)
        contacts_at(A, f, z1, u, gap_side)
        if lc(A, VARYING):
            forces_at(A, f, t1, z1, u)
        before = off
        error, off = gauss_errors(A, f, u, dt, row_side, gap_side, k)
        if not math.isfinite(error):
            return UNCERTAIN
        if off <= 3e-15 or (k > 0 and off >= 0.5 * before and off <= 1e-11):
            settled = True
            break
        if lc(A, VARYING):
            kick_of(A, f, dt)
        add_kick(A, f, v, base)
        linear_joints(A, f, u, row_side, per)
        first = f + lc(A, GAPS)
        for i in range(lc(A, N_GAPS)):
            gap = first + GAP_STEP * i
            rate = along(gap + NORMAL + gap_side, u + lc(gap, GAP_A), u + lc(gap, GAP_B))
            st(gap, SHIFT_N, ld(gap, OFF) * per - rate)
            st(gap, SHIFT_T, 0.0)
        if lc(A, N_ROWS):
            factor_joints(A, f, row_side)
        if not call_solve(lc(A, SOLVE), A, f, row_side, gap_side):
            return UNCERTAIN
        copy_bodies(A, f + 8 * VP, u)
    if not settled or turns_far(A, f, u, dt) or leaves_rest(A, f, u, dt, start_gap(f)):
        return UNCERTAIN
    gauss_record(A, f, t1, error)
    return DONE


@njit(**OPT)
def gauss_record(A, f, t1, error):  # type: ignore[no-untyped-def]
    """What the step leaves for its row, and the state at its end."""
    dt, u, v = t1 - ld(f, TIME + 1), more(A, f, U), f + 8 * V
    side, before, row_side, rough = end_gap(f), start_gap(f), end_row(f), lc(A, ROUGH)
    first = f + lc(A, GAPS)
    natural = loss = work = 0.0
    hit = 0
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        a, b, p, close = lc(gap, GAP_A), lc(gap, GAP_B), ld(gap, P_N), touching(f, gap, side)
        steady = ld(gap, ROUND_OFF) > 0.0
        st(gap, HISTORY_N, at_rest(gap, ld(gap, HISTORY_N), p, ld(gap, S_MINUS) * dt) if steady else p)
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
            reactions(A, f, row_side, end_z(A, f), P_B, 1.0 / dt, S_REACTION, False)
        work = driven(A, f, row_side, P_B)
    si(f, HIT, hit)
    if hit:
        copy_bodies(A, u, more(A, f, S_LEFT))
    note_scalars(f, dt, error, natural, work, 0.0, loss)
    advance(A, f, t1, u)


@njit(**OPT)
def advance(A, f, t1, v1):  # type: ignore[no-untyped-def]
    """The end of the step becomes the state."""
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        copy4(more(A, f + b, Q1), f + b + 8 * Q)
        copy4(v1 + b, f + b + 8 * V)
    advance_time(f, t1)


@njit(**OPT)
def advance_time(f, t1):  # type: ignore[no-untyped-def]
    st(f, LAST_DT, t1 - ld(f, TIME + 1))
    si(f, PARITY, 1 - li(f, PARITY))
    st(f, TIME + 1, t1)
