"""Moreau and Jean's scheme, ideal joints as in RATTLE.

Contacts are looked at in the middle of the step, at side 0 of their records.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.gauss import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.moreau_free import *
from nonsmooth.native.loops.moreau_joints import *
from nonsmooth.native.loops.projection import project
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.rows import row_of_gaps, unpack
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def moreau_contacts(A, f, first, last):  # type: ignore[no-untyped-def]
    """Gaps first..last where bodies stand: which are closed, what the laws add to their rates, the modes to begin with.

    Whether some are closed, and whether the mode of one of these is to be open. Meanwhile the next portion is fetched.
    """
    v, some, opening, rough = f + 8 * V, False, False, lc(A, ROUGH)
    for k in range(first, last):
        gap = f + lc(A, GAPS) + GAP_STEP * k
        fetch(gap + TOGETHER * GAP_STEP)
        fetch(gap + TOGETHER * GAP_STEP + NORMAL)
        copy2(gap + 8 * P_N, gap + 8 * BEFORE_N)
        closed = touching(f, gap, 0)
        if closed:
            a, b = v + lc(gap, GAP_A), v + lc(gap, GAP_B)
            rate = along(gap + NORMAL, a, b)
            st(gap, S_MINUS, rate)
            si(gap, ACTIVE, 1)
            some = True
            st(gap, SHIFT_N, rebound(gap, rate))
            if rough:
                slip = ld(gap, TANGENTIAL) * along(gap + TANGENT, a, b) if rate < 0.0 else 0.0
                st(gap, SHIFT_T, slip)
        else:
            si(gap, ACTIVE, 0)
            st(gap, P_N, 0.0)
            st(gap, P_T, 0.0)
        st(gap, GUESS_OFF, 0.0)  # of a guess that is yet to be made
        mode = recall_mode(A, gap)
        opening |= closed and mode == OPEN
    return some, opening


@njit(**OPT)
def moreau_gaps(A, f, dt):  # type: ignore[no-untyped-def]
    """Gaps in the middle of the step; whether some are closed."""
    stand(A, f, f + 8 * V, dt / 2, more(A, f, QM), more(A, f, ZM), 0, lc(A, N_TOUCHED))
    contacts_at(A, f, more(A, f, ZM), f + 8 * V, 0)
    return moreau_contacts(A, f, 0, lc(A, N_GAPS))[0]


@njit(**OPT)
def look_portion(A, f, portion, dt):  # type: ignore[no-untyped-def]
    """The same of a portion; AHEAD with the kick in VP, and the matrix of gaps, bodies standing at BASE."""
    following, v, q, z, gap = portion + 8 * PORTION, f + 8 * V, more(A, f, QM), more(A, f, ZM), lc(portion, P_GAPS)
    last_gap, body, last_body = lc(following, P_GAPS), lc(portion, P_BODIES), lc(following, P_BODIES)
    if lc(A, AHEAD):
        q = z = f + 8 * BASE
        st4(z + GROUND, 0.0, 0.0, 1.0, 0.0)
    stand(A, f, v, dt / 2, q, z, lc(portion, P_TOUCHED), lc(following, P_TOUCHED))
    evaluate(A, f, lc(portion, P_GROUPS), lc(following, P_GROUPS), z, v, 0)
    closed, opening = moreau_contacts(A, f, gap, last_gap)
    if closed:
        si(f, LOOKED, SOME_CLOSED)
    if lc(A, AHEAD):
        kick_bodies(A, f, dt, body, last_body)
        fill_rows(A, f, 0, f + 8 * VP, f + lc(A, X), gap, last_gap, lc(portion, P_COUPLINGS))
        if opening:
            si(f, FILLED, SOME_OPEN)


@njit(**OPT)
def begin_look(A, f):  # type: ignore[no-untyped-def]
    """Nothing is known to be closed yet, nor open that is filled ahead."""
    si(f, LOOKED, NONE_CLOSED)
    si(f, FILLED, ALL_CLOSED if lc(A, AHEAD) else NOT_AHEAD)


@njit(**OPT)
def forget_look(f):  # type: ignore[no-untyped-def]
    """Gaps are to be looked at before the next step."""
    si(f, LOOKED, NOT_LOOKED)
    si(f, FILLED, NOT_AHEAD)


@njit(**OPT)
def moreau_portions(A, f, dt):  # type: ignore[no-untyped-def]
    """The same of several portions, one after the other, unless the step before has done so."""
    if li(f, LOOKED) == NOT_LOOKED:
        begin_look(A, f)
        portion = lc(A, PORTIONS)
        for _ in range(lc(A, N_PORTIONS)):
            look_portion(A, f, portion, dt)
            portion += 8 * PORTION
        clear4(f + 8 * BASE + GROUND)
    some = li(f, LOOKED) == SOME_CLOSED
    si(f, LOOKED, NOT_LOOKED)
    return some


def moreau_step(A, f, t1):  # type: ignore[no-untyped-def]
    """One step of Moreau and Jean's scheme to t1."""
    t0, theta = ld(f, TIME + 1), ld(f, OPTIONS + O_THETA)
    dt = t1 - t0
    gaps = lc(A, N_GAPS) > 0
    some, standing = False, THERE if gaps and theta == 0.5 else ELSEWHERE
    if gaps:
        some = moreau_portions(A, f, dt) if lc(A, N_PORTIONS) > 1 else moreau_gaps(A, f, dt)
    if lc(A, N_ROWS):
        if not moreau_joints(A, f, t0, t1, theta, some, standing):
            forget_joints(A, f)
            return UNCERTAIN
        return moreau_record(A, f, t0, t1, some, SOLVED if some else UNSOLVED)
    ended, status = moreau_free(A, f, t0, dt, theta, some), UNCERTAIN
    if ended != UNSOLVED:
        if lc(A, PROJECTED):
            move_free(A, f, dt, theta, more(A, f, Q1))
        status = moreau_record(A, f, t0, t1, some, ended if some and ended != STEADY_STATE else UNSOLVED)
    if status != DONE:
        clear_bodies(A, more(A, f, GAINED))  # where the passes led, from which the next step must not begin
    return status


@njit(**OPT)
def moreau_impact(A, f, side, z, dt):  # type: ignore[no-untyped-def]
    """Velocities before the impact, and reactions, part from what joints answer to struck contacts; drivers' work."""
    jump = f + 8 * WORK
    clear_bodies(A, jump)
    push_contacts(A, f, 0, jump)
    answer_impact(A, f, side, jump)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        difference4(more(A, f + b, S_LEFT), f + b + 8 * VP, jump + b)
    reactions(A, f, side, z, KEPT, -1.0 / dt, S_REACTION, True)
    reactions(A, f, side, z, KEPT, 1.0, S_REACTION_I, False)
    return driven(A, f, side, KEPT)


@njit(**OPT)
def moreau_joint_error(A, f, size):  # type: ignore[no-untyped-def]
    """Rates of the joints at the end, each scaled by its terms; work of drivers."""
    vp, start, side, diagonals = f + 8 * VP, start_row(f), end_row(f), f + lc(A, DIAGONAL)
    floor, worst, work = ld(f, OPTIONS + O_FLOOR) * size, 0.0, 0.0
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row, a, b, norms = f + lc(block, B_FIRST), vp + lc(block, B_A), vp + lc(block, B_B), diagonals + PAIR * k
        J, r = row + DIRECTION + side, row + side + 8 * ROW_RATE
        worst = max(worst, errors_of_two(J, J + ROW_STEP, a, b, r, r + ROW_STEP, norms, floor))
        for _ in range(2):
            work -= ld(row, P_A) * ld(row + start, ROW_RATE) + ld(row, P_B) * ld(row + side, ROW_RATE)
            row += ROW_STEP
    return worst, work


@njit(**OPT)
def strikes(f, gap, p):  # type: ignore[no-untyped-def]
    """Whether an active contact strikes: it approached, and does not go on from the step before."""
    rate, lasting = ld(gap, S_MINUS), 0.0 < p <= LASTING * ld(gap, BEFORE_N)
    return not lasting and rate < 0.0 and rate < -zero_rate(f, gap, gap + NORMAL, f + 8 * V)


@njit(**OPT)
def moreau_impulses(A, f, striking):  # type: ignore[no-untyped-def]
    """Impulses of gaps are those of an impact, or such as the next step goes on from."""
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if striking:
            st(gap, S_PNI, ld(gap, P_N))
        else:
            remember(gap, HISTORY_N, ld(gap, P_N), 3)
            remember(gap, HISTORY_T, ld(gap, P_T), 3)


@njit(**OPT)
def moreau_gap(A, f, gap, side, v0, v1, dt, solved):  # type: ignore[no-untyped-def]
    """What a gap leaves for the row of a step, and where there are no joints for the next step.

    Where no program was `solved`, S_PLUS is its rate already. Returns the error of its laws, their natural map, whether
    it strikes, and its loss by friction.
    """
    active, p, law, natural, loss, struck = li(gap, ACTIVE), ld(gap, P_N), 0.0, 0.0, 0.0, False
    if active:
        a, b, rate = lc(gap, GAP_A), lc(gap, GAP_B), ld(gap, S_PLUS)
        if solved:
            law, rate = law_error(A, f, gap, side, v1, f + 8 * BASE)
            st(gap, S_PLUS, rate)
        off = (rate + ld(gap, SHIFT_N)) * dt * ld(gap, PER_SCALE)
        natural = abs(min(off, p * ld(gap, PER_Y)))
        struck = strikes(f, gap, p)
        if lc(A, ROUGH):
            D = gap + TANGENT + side
            loss = -ld(gap, P_T) * (along(D, v0 + a, v0 + b) + along(D, v1 + a, v1 + b)) / 2
    if not lc(A, N_ROWS):
        guess = ld(gap, HISTORY_N)
        rest = at_rest(gap, ld(gap, GUESS), p, ld(gap, S_MINUS) + ld(gap, SHIFT_N)) if li(gap, STEADY) else p
        st(gap, HISTORY_N, rest)
        si(gap, STEADY, 1 if active and abs(p - guess) <= 1e-9 * p else 0)
    si(gap, S_MODE, mode_of(f, gap, active))
    return law, natural, struck, loss


@njit(**OPT)
def follow_gap(A, f, g, v):  # type: ignore[no-untyped-def]
    """Impulse of gap g as the program left it among its unknowns, which v follows; into the row that is written."""
    gap = f + lc(A, GAPS) + GAP_STEP * g
    follow_single(A, f, g, 0, f + lc(A, X), v, False)
    if ld(f, NEXT_DT) > 0.0:
        at = row_of_gaps(A, li(f, ROW_AHEAD))
        st(at, g, ld(gap, P_N))
        sb(at + 8 * lc(A, N_GAPS), g, mode_of(f, gap, li(gap, ACTIVE)))


@njit(**OPT)
def settle_portion(A, f, portion, dt):  # type: ignore[no-untyped-def]
    """Bodies that are judged move to the end of the step, and into its row, and are looked at for the next one.

    Memory of the next row is asked for, which no step has touched yet.
    """
    row, b, velocities, next_row = li(f, ROW_AHEAD), lc(portion, P_BODIES), 24 * lc(A, N_BODIES), 8 * lc(A, ROW_WIDTH)
    at, theta = row + 8 + 24 * ((b - GROUND) // BODY_STEP), ld(f, OPTIONS + O_THETA)
    while b < lc(portion + 8 * PORTION, P_BODIES):
        b += BODY_STEP
        q, v, vp = f + b + 8 * Q, f + b + 8 * V, f + b + 8 * VP
        led4(q, q, dt, theta, v, vp)
        copy4(vp, v)
        copy4(q, at)
        copy4(v, at + velocities)
        fetch(at + next_row)
        fetch(at + velocities + next_row)
        at += 24
    look_portion(A, f, portion, ld(f, NEXT_DT))


@njit(**OPT)
def unsettle(A, f):  # type: ignore[no-untyped-def]
    """Bodies stand as in the row before, and impulses before the step are those of that row."""
    row = li(f, ROW_AHEAD) - 8 * lc(A, ROW_WIDTH)
    P = unpack(A, unpack(A, row + 8, f + 8 * Q), f + 8 * V)
    for k in range(lc(A, N_GAPS)):
        st(f + lc(A, GAPS) + GAP_STEP * k, BEFORE_N, ld(P, k))
    forget_look(f)


@njit(**OPT)
def settle_rest(A, f, t1, dt, settled):  # type: ignore[no-untyped-def]
    """The bodies from the first portion on that is not settled; the row is written where all are."""
    gap, body, b = f + lc(A, GAPS), f + GROUND + BODY_STEP, lc(settled, P_BODIES)
    if ld(f, NEXT_DT) > 0.0:
        if b == GROUND + BODY_STEP * lc(A, N_BODIES):
            row = li(f, ROW_AHEAD)
            st(row, 1 + 3 * lc(A, N_BODIES), ld(body, V))  # where zeros of vectors fell that were written later
            st(row_of_gaps(A, row), 0, ld(gap, BEFORE_N))
            si(f, WRITTEN, 1)
        else:
            forget_look(f)
            for _ in range(lc(settled, P_GAPS)):
                st(gap, P_N, ld(gap, BEFORE_N))
                gap += GAP_STEP
    advance_free(A, f, t1, dt, ld(f, OPTIONS + O_THETA), b)


#: of a step of this scheme: as `momentum_error`, whether a contact strikes, the largest natural map, loss by friction,
#: and the first portion that has not settled
moreau_error = momentum_of(moreau_gap, follow_gap, settle_portion)


@njit(**OPT)
def moreau_record(A, f, t0, t1, some, solved):  # type: ignore[no-untyped-def]
    """Certificate of the step, what it leaves for its row, and the state at its end.

    `solved` is how a program ended whose answer is yet to be judged, UNSOLVED if there was none.
    """
    dt, v, vp, start, end = t1 - t0, f + 8 * V, f + 8 * VP, start_row(f), end_row(f)
    certified, rows = ld(f, OPTIONS + O_CERTIFIED), lc(A, N_ROWS)
    if solved != GOING_ON:
        st(f, NEXT_DT, 0.0)
    if ld(f, NEXT_DT) > 0.0:
        begin_look(A, f)
    elif solved == GOING_ON:
        solved = TO_FOLLOW
    error, size, law, striking, natural, loss, settled = moreau_error(A, f, v, vp, dt, 0, end, start, solved)
    joint_error, work = moreau_joint_error(A, f, size)
    error = max(error, joint_error)
    if law > certified or not (error <= certified and math.isfinite(size)) or leaves_rest(A, f, vp, dt, 0):
        if ld(f, NEXT_DT) > 0.0:
            unsettle(A, f)
        return UNCERTAIN
    if striking or rows:
        moreau_impulses(A, f, striking)
    struck_work = 0.0
    if rows and not lc(A, BRIEF):
        reactions(A, f, start, start_z(A, f), P_A, 1.0 / dt, S_REACTION, False)
        reactions(A, f, end, end_z(A, f), P_B, 1.0 / dt, S_REACTION, True)
    si(f, HIT, 1 if striking else 0)
    if striking and not lc(A, BRIEF):
        struck_work = moreau_impact(A, f, end, end_z(A, f), dt)
    note_scalars(f, dt, error, natural, work, struck_work, 0.0 if striking else loss)
    if not rows and not lc(A, PROJECTED):
        settle_rest(A, f, t1, dt, settled)
        return DONE
    if lc(A, PROJECTED) and not project(A, f, t1):
        return UNCERTAIN
    if rows and not striking:
        remember_joints(A, f)
    advance(A, f, t1, vp)
    return DONE
