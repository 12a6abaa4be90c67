"""Steps that end where a gap closes: a half kick with positions, a second half in velocities, the impact at the end.

The scheme is that of `nonsmooth.steppers.gauss`. In the half kick impulses act along the directions at the start of
the step, in its second half and in impacts along those at its end.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.closing import *
from nonsmooth.native.loops.gauss import *
from nonsmooth.native.loops.kick import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def change_velocity(A, f, v, row_side, gap_side):  # type: ignore[no-untyped-def]
    """VP from v by impulses of joints and active gaps; scaled residuals of equations and of laws, inf if not found."""
    vp, inverse, first = f + 8 * VP, f + 8 * INVERSE, f + lc(A, ROWS)
    copy_bodies(A, v, f + 8 * BASE)
    if not call_solve(lc(A, SOLVE), A, f, row_side, gap_side):
        return math.inf, math.inf
    worst, size, law = momentum_error(A, f, v, vp, 0.0, gap_side, row_side, -1, True)
    floor = ld(f, OPTIONS + O_FLOOR) * size
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        J, a, b, explicit = row + DIRECTION + row_side, lc(row, ROW_A), lc(row, ROW_B), ld(row + row_side, ROW_RATE)
        norm = math.sqrt(mobility(J, J, inverse + a, inverse + b))
        worst = max(worst, rate_error(J, vp + a, vp + b, explicit, floor * (norm if norm > 0.0 else 1.0)))
    return worst, law


@njit(**OPT)
def strike(A, f, kicked, v, row_side, gap_side):  # type: ignore[no-untyped-def]
    """The impact of the gaps that are STRUCK, if one approaches, by Newton's law: VP, and impulses.

    v is a sum of velocities of the sizes of `kicked` and of itself. Returns whether there was an impact and its scaled
    residuals.
    """
    approaching, first = False, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        J, a, b, struck = gap + NORMAL + gap_side, v + lc(gap, GAP_A), v + lc(gap, GAP_B), li(gap, STRUCK)
        rate = along(J, a, b)
        shift = rebound(gap, rate)
        if struck and rate < 0.0 and rate < -settled_rate(f, gap, J, kicked, v):
            approaching = True
        si(gap, ACTIVE, struck)
        si(gap, MODE, STICK if struck and rate + shift < 0.0 else OPEN)
        st(gap, SHIFT_N, shift)
        if lc(A, ROUGH):
            st(gap, SHIFT_T, ld(gap, TANGENTIAL) * along(gap + TANGENT + gap_side, a, b))
    if not approaching:
        return False, 0.0, 0.0
    error, law = change_velocity(A, f, v, row_side, gap_side)
    return True, error, law


@njit(**OPT)
def settled_rate(f, gap, J, kicked, v):  # type: ignore[no-untyped-def]
    """Rate of a gap that counts as zero where v has come about by a change from `kicked`."""
    terms = along_sizes(J, v + lc(gap, GAP_A), v + lc(gap, GAP_B))
    return zero_rate(f, gap, J, kicked) + ld(f, OPTIONS + O_CLOSED_RATE) * terms


@njit(**OPT)
def second_half(A, f, crossing):  # type: ignore[no-untyped-def]
    """What the second half of a step asks of joints and of gaps, which it makes active; whether of any gap.

    KEPT, OLD_N and OLD_T are the impulses of the first half; P_A stays 0.
    """
    side, v, held, first = end_gap(f), f + 8 * V, False, f + lc(A, ROWS)
    explicit_rates(A, f, end_row(f))
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, KEPT, ld(row, P_B))
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        closed, shift, close = ld(gap, CLOSED) > 0.0, 0.0, touching(f, gap, side)
        holds = close and (closed or crossing)
        if holds and not closed and li(gap, STRUCK):
            # an impact that falls into the step over an accumulation rebounds
            rate = along(gap + NORMAL + side, v + lc(gap, GAP_A), v + lc(gap, GAP_B))
            shift = rebound(gap, rate)
        held |= holds
        st(gap, OLD_N, ld(gap, P_N))
        st(gap, OLD_T, ld(gap, P_T))
        si(gap, ACTIVE, 1 if holds else 0)
        if not holds:
            si(gap, MODE, OPEN)
            st(gap, P_N, 0.0)
            st(gap, P_T, 0.0)
        st(gap, SHIFT_N, shift)
        st(gap, SHIFT_T, 0.0)
    return held


@njit(**OPT)
def book_halves(A, f, dt, v, crossing):  # type: ignore[no-untyped-def]
    """Impulses of both halves, of a contact that closes within the step to its impact; which gaps are struck.

    After that OLD_N and OLD_T are those of the step without impacts, S_PNI and S_PTI those of impacts, S_END the part
    of the second half. Gaps that would close within the shortest step are struck with one that does.
    """
    side, fresh, first, shortest = end_gap(f), False, f + lc(A, GAPS), ld(f, OPTIONS + O_SHORTEST)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        closed, N, T = ld(gap, CLOSED) > 0.0, ld(gap, OLD_N), ld(gap, OLD_T)
        lasts = closed and ld(gap, HISTORY_N) > 0.0
        if not crossing:
            note(gap, HISTORY_N, N / dt, lasts)
            note(gap, HISTORY_T, T / dt, lasts)
        N, T = N + ld(gap, P_N), T + ld(gap, P_T)
        st(gap, OLD_N, N if closed else 0.0)
        st(gap, OLD_T, T if closed else 0.0)
        st(gap, S_PNI, 0.0 if closed else N)
        st(gap, S_PTI, 0.0 if closed else T)
        st(gap, S_END, ld(gap, P_N) if closed else 0.0)
        close = touching(f, gap, side)
        si(gap, STRUCK, 1 if close else 0)
        fresh |= close and not closed
    if fresh:
        for k in range(lc(A, N_GAPS)):
            gap = first + GAP_STEP * k
            rate = along(gap + NORMAL + side, v + lc(gap, GAP_A), v + lc(gap, GAP_B))
            if ld(gap + side, GAP_G) < -shortest * rate:
                si(gap, STRUCK, 1)


@njit(**OPT)
def book_impact(A, f):  # type: ignore[no-untyped-def]
    """Add impulses of an impact to those of impacts in the step."""
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(gap, S_PNI, ld(gap, S_PNI) + ld(gap, P_N))
        st(gap, S_PTI, ld(gap, S_PTI) + ld(gap, P_T))


@njit(**OPT)
def take_back(A, f, v1, row_side, gap_side):  # type: ignore[no-untyped-def]
    """S_LEFT = v1 without the impulses of impacts and what joints reply to them, which stands in KEPT; whether any."""
    left, jump, inverse, first, some = more(A, f, S_LEFT), f + 8 * WORK, f + 8 * INVERSE, f + lc(A, GAPS), False
    clear_bodies(A, jump)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        a, b, N, T = lc(gap, GAP_A), lc(gap, GAP_B), ld(gap, S_PNI), ld(gap, S_PTI)
        if N != 0.0 or T != 0.0:
            some = True
            push(gap + NORMAL + gap_side, N, inverse + a, inverse + b, jump + a, jump + b)
            if lc(A, ROUGH):
                push(gap + TANGENT + gap_side, T, inverse + a, inverse + b, jump + a, jump + b)
    clear4(jump + GROUND)
    if some:
        if lc(A, N_ROWS):
            factor_joints(A, f, row_side)
        answer_impact(A, f, row_side, jump)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        difference4(left + b, v1 + b, jump + b)
    return some


@njit(**OPT)
def press(A, f, t, kicked, v, side):  # type: ignore[no-untyped-def]
    """Which contacts press from now on, at velocities VP, and since when the others are open."""
    vp, first = f + 8 * VP, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        J = gap + NORMAL + side
        rate, closed = along(J, vp + lc(gap, GAP_A), vp + lc(gap, GAP_B)), ld(gap, CLOSED) > 0.0
        pressing = touching(f, gap, side) and not (rate > 0.0 and rate > settled_rate(f, gap, J, kicked, v))
        if not pressing and (li(gap, STRUCK) or closed):
            st(gap, LEFT_AT, t)
        st(gap, CLOSED, 1.0 if pressing else 0.0)


@njit(**OPT)
def landing_rows(A, f, v1, left, before, side):  # type: ignore[no-untyped-def]
    """What gaps leave for the row of a step from side `before` to `side`; natural map of their laws, loss by friction.

    Velocities are V at the start, `left` and `v1` before and after the impacts at the end.
    """
    natural, loss, v, first, rough = 0.0, 0.0, f + 8 * V, f + lc(A, GAPS), lc(A, ROUGH)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        a, b, J, D = lc(gap, GAP_A), lc(gap, GAP_B), gap + NORMAL + side, gap + TANGENT + side
        close = touching(f, gap, side)
        st(gap, P_N, ld(gap, OLD_N) + ld(gap, S_PNI))
        st(gap, P_T, ld(gap, OLD_T) + ld(gap, S_PTI))
        # a contact that leaves has pressed before it did; one struck within the window obeys its law in velocities
        pressed = ld(gap, P_N) if close else ld(gap, S_END)
        natural = max(natural, abs(min(ld(gap + side, GAP_G) / ld(gap, SCALE), pressed / ld(gap, Y_SCALE))))
        si(gap, S_MODE, mode_of(f, gap, close))
        if ld(gap, S_PNI) > 0.0:
            st(gap, S_MINUS, along(J, left + a, left + b))
            st(gap, S_PLUS, along(J, v1 + a, v1 + b))
        if rough and ld(gap, OLD_T) != 0.0:
            slip = along(gap + TANGENT + before, v + a, v + b) + along(D, left + a, left + b)
            loss -= ld(gap, OLD_T) * slip / 2
    return natural, loss


def landing_step(A, f, t_end):  # type: ignore[no-untyped-def]
    """One step, to t_end at most, that ends where a gap closes."""
    kicked, left, vp, brief = more(A, f, PUSH), more(A, f, S_LEFT), f + 8 * VP, lc(A, BRIEF)
    row_side, gap_side, first, certified = end_row(f), end_gap(f), f + lc(A, ROWS), ld(f, OPTIONS + O_CERTIFIED)
    t1, length, crossing = kick_to_landing(A, f, t_end)
    dt = t1 - ld(f, TIME + 1)
    if not 0.0 < length < math.inf or not dt > 0.0:
        return UNCERTAIN
    error, law = half_kick_error(A, f, length), 0.0
    if not error <= ACCEPTABLE or leaves_rest(A, f, more(A, f, U), dt, start_gap(f)):
        return UNCERTAIN
    add_kick(A, f, more(A, f, U), kicked)
    work = driven(A, f, start_row(f), P_B)
    held = second_half(A, f, crossing)
    if lc(A, N_ROWS):
        factor_joints(A, f, row_side)
    if held or lc(A, N_ROWS):
        found, law = change_velocity(A, f, kicked, row_side, gap_side)
        error = max(error, found)
        if not (found <= certified and law <= certified) or leaves_rest(A, f, vp, dt, start_gap(f)):
            return UNCERTAIN
        work += driven(A, f, row_side, P_B)
        if not brief:
            reactions(A, f, start_row(f), start_z(A, f), KEPT, 1.0 / dt, S_REACTION, False)
            reactions(A, f, row_side, end_z(A, f), P_B, 1.0 / dt, S_REACTION, True)
        copy_bodies(A, vp, left)
    else:
        copy_bodies(A, kicked, left)
    book_halves(A, f, length, left, crossing)
    hit, found, broken = strike(A, f, kicked, left, row_side, gap_side)
    struck_work = 0.0
    if hit:
        error, law = max(error, found), max(law, broken)
        if not (found <= certified and broken <= certified):
            return UNCERTAIN
        struck_work = driven(A, f, row_side, P_B)
        work += struck_work
        book_impact(A, f)
    else:
        copy_bodies(A, left, vp)
    press(A, f, t1, kicked, left, gap_side)
    for k in range(0 if crossing else lc(A, N_ROWS)):  # forces are not what stops bounces
        row = first + ROW_STEP * k
        note(row, HISTORY_J, ld(row, KEPT) / length, not hit)
    if hit and not brief:
        reactions(A, f, row_side, end_z(A, f), P_B, 1.0, S_REACTION_I, False)
    elif crossing:
        clear_joints(A, f, S_REACTION_I)
    if crossing and take_back(A, f, vp, row_side, gap_side):
        if not brief:
            if hit:
                reactions(A, f, row_side, end_z(A, f), P_B, 1.0 / dt, S_REACTION, True)
            reactions(A, f, row_side, end_z(A, f), KEPT, -1.0 / dt, S_REACTION, True)
            reactions(A, f, row_side, end_z(A, f), KEPT, 1.0, S_REACTION_I, False)
        hit, struck_work = True, driven(A, f, row_side, KEPT)
    natural, loss = landing_rows(A, f, vp, left, start_gap(f), gap_side)
    note_scalars(f, dt, error, max(natural, law), work, struck_work, loss)
    si(f, HIT, 1 if hit else 0)
    advance(A, f, t1, vp)
    return DONE


def landing_start(A, f):  # type: ignore[no-untyped-def]
    """Latch the contacts that are closed at the state; if one approaches, their impact, as for a row of its own."""
    row_side, gap_side, v, first = start_row(f), start_gap(f), f + 8 * V, f + lc(A, GAPS)
    certified, vp, left = ld(f, OPTIONS + O_CERTIFIED), f + 8 * VP, more(A, f, S_LEFT)
    explicit_rates(A, f, row_side)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        for field in (P_N, P_T, CLOSED, OLD_N, OLD_T, S_PNI, S_PTI, S_END):
            st(gap, field, 0.0)
        si(gap, STRUCK, 1 if touching(f, gap, gap_side) else 0)
    copy_bodies(A, v, left)
    clear_bodies(A, more(A, f, PUSH))
    hit, error, law = strike(A, f, more(A, f, PUSH), left, row_side, gap_side)
    if hit and not (error <= certified and law <= certified):
        return UNCERTAIN
    if not hit:
        copy_bodies(A, left, vp)
    press(A, f, ld(f, TIME + 1), more(A, f, PUSH), left, gap_side)
    if hit:
        book_impact(A, f)
        natural, _ = landing_rows(A, f, vp, left, gap_side, gap_side)
        struck_work = driven(A, f, row_side, P_B)
        note_scalars(f, 0.0, error, natural, struck_work, struck_work, 0.0)
        reactions(A, f, row_side, start_z(A, f), P_B, 1.0, S_REACTION_I, False)
        copy_bodies(A, vp, v)
    si(f, HIT, 1 if hit else 0)
    return DONE
