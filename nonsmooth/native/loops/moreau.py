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
from nonsmooth.native.loops.rows import row_of_gaps
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def moreau_contacts(A, f, first, last):  # type: ignore[no-untyped-def]
    """Gaps first..last where bodies stand: which are closed, what the laws add to their rates, the modes to begin with.

    Whether some are closed, and whether the mode of one of these is to be open.
    """
    v, some, opening, rough = f + 8 * V, False, False, lc(A, ROUGH)
    for k in range(first, last):
        gap = f + lc(A, GAPS) + GAP_STEP * k
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
    stand(A, f, f + 8 * V, dt / 2, 0, lc(A, N_TOUCHED))
    contacts_at(A, f, f + 8 * ZM, f + 8 * V, 0)
    return moreau_contacts(A, f, 0, lc(A, N_GAPS))[0]


@njit(**OPT)
def moreau_portions(A, f, dt):  # type: ignore[no-untyped-def]
    """The same of several portions, one after the other; AHEAD with BASE, VP and the matrix of gaps."""
    v, some, opening, ahead, coupling = f + 8 * V, False, False, lc(A, AHEAD), lc(A, COUPLINGS)
    portion, body = lc(A, PORTIONS) + 8 * PORTION * lc(A, N_PORTIONS), lc(A, N_BODIES)
    touched, gap, group = lc(A, N_TOUCHED), lc(A, N_GAPS), lc(A, CONTACT_1)
    for _ in range(lc(A, N_PORTIONS)):
        portion -= 8 * PORTION
        stand(A, f, v, dt / 2, lc(portion, P_TOUCHED), touched)
        evaluate(A, f, lc(portion, P_GROUPS), group, f + 8 * ZM, v, 0)
        closed, to_open = moreau_contacts(A, f, lc(portion, P_GAPS), gap)
        some |= closed
        opening |= to_open
        if ahead:
            kick_bodies(A, f, dt, lc(portion, P_BODIES), body)
            coupling = fill_rows(A, f, 0, f + 8 * BASE, f + lc(A, X), lc(portion, P_GAPS), gap, coupling)
        touched, gap, group = lc(portion, P_TOUCHED), lc(portion, P_GAPS), lc(portion, P_GROUPS)
        body = lc(portion, P_BODIES)
    if ahead:
        si(f, FILLED, SOME_OPEN if opening else ALL_CLOSED)
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
            return UNCERTAIN
        return moreau_record(A, f, t0, t1, some, SOLVED if some else UNSOLVED)
    ended, status = moreau_free(A, f, t0, dt, theta, some), UNCERTAIN
    if ended != UNSOLVED:
        if lc(A, PROJECTED):
            move_free(A, f, dt, theta, f + 8 * Q1)
        status = moreau_record(A, f, t0, t1, some, ended if some and ended != STEADY_STATE else UNSOLVED)
    if status != DONE:
        clear_bodies(A, f + 8 * GAINED)  # where the passes led, from which the next step must not begin
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
        difference4(f + b + 8 * S_LEFT, f + b + 8 * VP, jump + b)
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
    return rate < 0.0 and not lasting and rate < -zero_rate(f, gap, gap + NORMAL, f + 8 * V)


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
    gap, row = f + lc(A, GAPS) + GAP_STEP * g, li(f, ROW_AHEAD)
    follow_single(A, f, g, 0, f + lc(A, X), v, False)
    if row:
        at = row_of_gaps(A, row)
        st(at, g, ld(gap, P_N))
        sb(at + 8 * lc(A, N_GAPS), g, mode_of(f, gap, li(gap, ACTIVE)))


@njit(**OPT)
def settle_body(A, f, b, dt):  # type: ignore[no-untyped-def]
    """A body that is judged moves to the end of the step, and into its row; WORK and BASE keep where it was."""
    q, v, vp, row = f + b + 8 * Q, f + b + 8 * V, f + b + 8 * VP, li(f, ROW_AHEAD)
    copy4(q, f + b + 8 * WORK)
    copy4(v, f + b + 8 * BASE)
    led4(q, q, dt, ld(f, OPTIONS + O_THETA), v, vp)
    copy4(vp, v)
    if row:
        at = row + 8 + 24 * ((b - GROUND) // BODY_STEP - 1)
        copy4(q, at)
        copy4(v, at + 24 * lc(A, N_BODIES))


@njit(**OPT)
def unsettle(A, f, last):  # type: ignore[no-untyped-def]
    """Bodies up to the last one stand where they were."""
    b = GROUND
    while b < last:
        b += BODY_STEP
        copy4(f + b + 8 * WORK, f + b + 8 * Q)
        copy4(f + b + 8 * BASE, f + b + 8 * V)


@njit(**OPT)
def settle_rest(A, f, t1, dt, settled):  # type: ignore[no-untyped-def]
    """The bodies after those that are settled; the row is written where these were all."""
    row, last = li(f, ROW_AHEAD), GROUND + BODY_STEP * lc(A, N_BODIES)
    if row and settled == last:
        body = f + GROUND + BODY_STEP
        st(row, 1 + 3 * lc(A, N_BODIES), ld(body, V))  # where zeros of vectors fell that were written later
        st(row_of_gaps(A, row), 0, ld(f + lc(A, GAPS), P_N))
        si(f, WRITTEN, 1)
    advance_free(A, f, t1, dt, ld(f, OPTIONS + O_THETA), settled)


#: of a step of this scheme: as `momentum_error`, whether a contact strikes, the largest natural map, loss by friction,
#: and which bodies have settled
moreau_error = momentum_of(moreau_gap, follow_gap, settle_body)


@njit(**OPT)
def moreau_record(A, f, t0, t1, some, solved):  # type: ignore[no-untyped-def]
    """Certificate of the step, what it leaves for its row, and the state at its end.

    `solved` is how a program ended whose answer is yet to be judged, UNSOLVED if there was none.
    """
    dt, v, vp, start, end = t1 - t0, f + 8 * V, f + 8 * VP, start_row(f), end_row(f)
    certified, rows = ld(f, OPTIONS + O_CERTIFIED), lc(A, N_ROWS)
    error, size, law, striking, natural, loss, settled = moreau_error(A, f, v, vp, dt, 0, end, start, solved)
    joint_error, work = moreau_joint_error(A, f, size)
    error = max(error, joint_error)
    if law > certified or not (error <= certified and math.isfinite(size)):
        unsettle(A, f, settled)
        return UNCERTAIN
    if striking or rows:
        moreau_impulses(A, f, striking)
    struck_work = 0.0
    if rows and not lc(A, BRIEF):
        reactions(A, f, start, start_z(f), P_A, 1.0 / dt, S_REACTION, False)
        reactions(A, f, end, end_z(f), P_B, 1.0 / dt, S_REACTION, True)
    si(f, HIT, 1 if striking else 0)
    if striking and not lc(A, BRIEF):
        struck_work = moreau_impact(A, f, end, end_z(f), dt)
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
