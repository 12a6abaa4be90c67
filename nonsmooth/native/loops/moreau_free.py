"""Moreau and Jean's step of a mechanism without ideal joints: forces at a point within it, contacts as one program.

What rests under constant loads takes no program: its impulses are those of the step before.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.gauss import advance_time
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def moreau_forces(A, f, t0, dt, theta, u, standing):  # type: ignore[no-untyped-def]
    """Forces at the point theta, where bodies stand not yet (ELSEWHERE), already, or nearly."""
    if lc(A, VARYING):
        if standing == ELSEWHERE:
            stand(A, f, u, theta * dt, more(A, f, QM), more(A, f, ZM), 0, lc(A, N_TOUCHED))
        elif standing == NEARBY:
            stand_near(A, f, u, theta * dt)
        forces_at(A, f, t0 + theta * dt, more(A, f, ZM), u)


@njit(**OPT)
def kicked_base(A, f, dt):  # type: ignore[no-untyped-def]
    """BASE = the velocity and the kick; its change, and the size of both, in the metric of the masses."""
    v, base, kick, work, change, size = f + 8 * V, f + 8 * BASE, more(A, f, KICK), f + 8 * WORK, 0.0, 0.0
    for i in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * i
        mass = f + b + 8 * MASS
        kicked_anew4(kick + b, base + b, work + b, v + b, dt, f + b + 8 * INVERSE, f + b + 8 * FORCE)
        size += weighted4(v + b, v + b, mass) + weighted4(kick + b, kick + b, mass)
        change += weighted4(work + b, work + b, mass)
    return math.sqrt(change), max(math.sqrt(size), TINY)


@njit(**OPT)
def kick_bodies(A, f, dt, first, last):  # type: ignore[no-untyped-def]
    """VP = the velocity and the kick, of bodies after the first one up to the last."""
    v, vp = f + 8 * V, f + 8 * VP
    for b in range(first + BODY_STEP, last + BODY_STEP, BODY_STEP):
        kicked4(vp + b, v + b, dt, f + b + 8 * INVERSE, f + b + 8 * FORCE)


@njit(**OPT)
def guess_steady(A, f, longer):  # type: ignore[no-untyped-def]
    """Impulses of lasting contacts as they are at rest under constant loads; whether all were so in the last step."""
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if li(gap, ACTIVE) and not li(gap, STEADY):
            return False
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if li(gap, ACTIVE):
            P, N, T = longer * ld(gap, HISTORY_N), ld(gap, P_N), ld(gap, P_T)
            st(gap, GUESS, P)
            st(gap, P_N, P)
            st(gap, P_T, T * (P / N) if N > 0.0 else 0.0)
    return True


@njit(**OPT)
def holds_steady(A, f):  # type: ignore[no-untyped-def]
    """Whether VP, of the impulses that were guessed, obeys the laws to round-off; rates of gaps with it."""
    vp, first, worst = f + 8 * VP, f + lc(A, GAPS), 0.0
    push_contacts(A, f, 0, vp)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if li(gap, ACTIVE):
            error, rate = law_error(A, f, gap, 0, vp, 0)
            st(gap, S_PLUS, rate)
            st(gap, GUESS_OFF, rate + ld(gap, SHIFT_N))
            worst = max(worst, error)
    return worst <= 3e-15


@njit(**OPT)
def leads_on(A, f, theta):  # type: ignore[no-untyped-def]
    """U and GAINED follow from VP; by how much U changes, in the metric of the masses."""
    v, u, vp, work, moved = f + 8 * V, more(A, f, U), f + 8 * VP, f + 8 * WORK, 0.0
    for i in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * i
        led_anew4(more(A, f + b, GAINED), u + b, work + b, v + b, vp + b, theta)
        moved += weighted4(work + b, work + b, f + b + 8 * MASS)
    return math.sqrt(moved)


@njit(**OPT)
def move_free(A, f, dt, theta, q1):  # type: ignore[no-untyped-def]
    """q1 = Q moved by the velocity at the point theta."""
    q, v, vp = f + 8 * Q, f + 8 * V, f + 8 * VP
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        led4(q1 + b, q + b, dt, theta, v + b, vp + b)


@njit(**OPT)
def advance_free(A, f, t1, dt, theta, b):  # type: ignore[no-untyped-def]
    """As `advance`, of the bodies after b, which have not been moved."""
    q, v, vp = f + 8 * Q, f + 8 * V, f + 8 * VP
    while b < GROUND + BODY_STEP * lc(A, N_BODIES):
        b += BODY_STEP
        led4(q + b, q + b, dt, theta, v + b, vp + b)
        copy4(vp + b, v + b)
    advance_time(f, t1)


@njit(**OPT)
def answer_base(A, f, some, steady):  # type: ignore[no-untyped-def]
    """VP, which has the kick alone, by impulses that were guessed from it and BASE, or by a program; how that ended."""
    if steady:
        if holds_steady(A, f):
            return STEADY_STATE
        copy_bodies(A, f + 8 * BASE, f + 8 * VP)
    return call_solve(lc(A, SOLVE), A, f, 0, 0) if some else SOLVED


@njit(**OPT)
def moreau_free(A, f, t0, dt, theta, some):  # type: ignore[no-untyped-def]
    """VP of a mechanism without joints, in passes where forces vary, at the point theta; how they ended."""
    v, u, before, longer = f + 8 * V, more(A, f, U), math.inf, lengthening(f, dt)
    steady = some and guess_steady(A, f, longer)
    if not lc(A, VARYING):
        if not lc(A, AHEAD):
            kick_bodies(A, f, dt, GROUND, GROUND + BODY_STEP * lc(A, N_BODIES))
        if steady or (some and not lc(A, AHEAD)):
            copy_bodies(A, f + 8 * VP, f + 8 * BASE)
        return answer_base(A, f, some, steady)
    for i in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * i
        sum4(u + b, v + b, theta * longer, more(A, f + b, GAINED))
    ended = STEADY_STATE if steady else SOLVED
    for k in range(PASSES):
        moreau_forces(A, f, t0, dt, theta, u, NEARBY if k > 0 or lc(A, N_GAPS) else ELSEWHERE)
        change, size = kicked_base(A, f, dt)
        change /= size
        if k > 0 and (change <= 1e-16 or (change >= before and change <= 1e-11)):
            return ended
        before = change if k > 0 else math.inf
        if not some or ended == STEADY_STATE:
            copy_bodies(A, f + 8 * BASE, f + 8 * VP)
        ended = answer_base(A, f, some, ended == STEADY_STATE)
        if ended == UNSOLVED or leads_on(A, f, theta) <= 1e-15 * size:
            return ended
    return UNSOLVED
