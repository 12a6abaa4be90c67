"""Moreau and Jean's step with joints in its middle: one evaluation, and one program, of joints and contacts at once.

All is looked at where the velocity leads in half of the step, at side 0 of the records of gaps and rows.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.gauss import advance_time
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.moreau import *
from nonsmooth.native.loops.moreau_free import kicked_base
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.squares import *
from nonsmooth.native.loops.substitution import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def middle_at(A, f, t, dt):  # type: ignore[no-untyped-def]
    """Placements and joints where the state leads in dt, at time t."""
    v = f + 8 * V
    stand(A, f, v, dt, more(A, f, QM), more(A, f, ZM), 0, lc(A, N_TOUCHED))
    joints_at(A, f, t, more(A, f, ZM), v, 0)


def midpoint_start(A, f):  # type: ignore[no-untyped-def]
    """Rates of the joints half a step before the state, and what they change by, as if a step had left them."""
    dt, t, v, first = ld(f, OPTIONS + O_LONGEST), ld(f, TIME + 1), f + 8 * V, f + lc(A, ROWS)
    for to, field in ((dt / 2, BEND_LEFT), (-dt / 2, RATE_LEFT)):
        middle_at(A, f, t + to, to)
        for k in range(lc(A, N_ROWS)):
            row = first + ROW_STEP * k
            rate = along(row + DIRECTION, v + lc(row, ROW_A), v + lc(row, ROW_B))
            st(row, field, rate + ld(row, ROW_RATE))
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, BEND_LEFT, (ld(row, BEND_LEFT) - ld(row, RATE_LEFT)) / dt)
    st(f, LAST_DT, dt)
    si(f, HIT, 0)
    return DONE


@njit(**OPT)
def closing_rates(A, f, dt):  # type: ignore[no-untyped-def]
    """RATE_NEXT = what closes the joints at the end, as rates in the middle; SHIFT_J as the solver takes it."""
    v, last = f + 8 * V, ld(f, LAST_DT)
    row, per, faster, weight, lead = f + lc(A, ROWS), 1.0 / dt, 2.0 / (dt + last), 0.375 * dt, LEAD * dt / last
    for _ in range(lc(A, N_JOINT_BLOCKS)):
        close_two(row, v + lc(row, ROW_A), v + lc(row, ROW_B), per, faster, weight, lead)
        row += PAIR_STEP


@njit(**OPT)
def answer_middle(A, f, some):  # type: ignore[no-untyped-def]
    """VP of BASE by joints, and by contacts where some are active; whether it was found."""
    if some or li(f, RAISED):
        return call_solve(lc(A, SOLVE), A, f, 0, 0) != 0
    base, vp, x = f + 8 * BASE, f + 8 * VP, f + lc(A, RHS_A)
    joint_rates(A, f, 0, base, x)
    substitute_joints(A, f, x)
    copy_bodies(A, base, vp)
    take_joint_impulses(A, f, 0, x, P_B, vp, False)
    return True


@njit(**OPT)
def answer_forces(A, f, t, dt, some):  # type: ignore[no-untyped-def]
    """VP under forces that vary: in passes, until those of the mean velocity no longer change it."""
    v, u, vp, before = f + 8 * V, more(A, f, U), f + 8 * VP, math.inf
    copy_bodies(A, v, u)
    for k in range(PASSES):
        forces_at(A, f, t, more(A, f, ZM), u)
        change, size = kicked_base(A, f, dt)
        change /= size
        if k > 0 and (change <= 1e-16 or (change >= before and change <= 1e-11)):
            return True
        before = change if k > 0 else math.inf
        if not answer_middle(A, f, some):
            return False
        for i in range(1, lc(A, N_BODIES) + 1):
            b = GROUND + BODY_STEP * i
            difference4(f + b + 8 * WORK, vp + b, v + b)
            sum4(u + b, v + b, 0.5, f + b + 8 * WORK)
    return False


def midpoint_step(A, f, t1):  # type: ignore[no-untyped-def]
    """One step to t1."""
    t0, v, base = ld(f, TIME + 1), f + 8 * V, f + 8 * BASE
    dt = t1 - t0
    t = t0 + dt / 2
    middle_at(A, f, t, dt / 2)
    contacts_at(A, f, more(A, f, ZM), v, 0)
    some, _ = moreau_contacts(A, f, 0, lc(A, N_GAPS))
    closing_rates(A, f, dt)
    factor_joints(A, f, 0)
    if lc(A, VARYING):
        found = answer_forces(A, f, t, dt, some)
    else:
        for i in range(1, lc(A, N_BODIES) + 1):
            b = GROUND + BODY_STEP * i
            kicked4(base + b, v + b, dt, f + b + 8 * INVERSE, f + b + 8 * FORCE)
        found = answer_middle(A, f, some)
    return midpoint_record(A, f, t1, dt, some) if found else UNCERTAIN


@njit(**OPT)
def midpoint_joint_error(A, f, size):  # type: ignore[no-untyped-def]
    """How far rates of the joints are from those that close them, each scaled by its terms; work of drivers."""
    vp, diagonals, worst, work = f + 8 * VP, f + lc(A, DIAGONAL), 0.0, 0.0
    floor = ld(f, OPTIONS + O_FLOOR) * size
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row, a, b, norms = f + lc(block, B_FIRST), vp + lc(block, B_A), vp + lc(block, B_B), diagonals + PAIR * k
        J, r = row + DIRECTION, row + 8 * SHIFT_J
        worst = max(worst, errors_of_two(J, J + ROW_STEP, a, b, r, r + ROW_STEP, norms, floor))
        work -= ld(row, P_B) * ld(row, ROW_RATE)
        work -= ld(row + ROW_STEP, P_B) * ld(row + ROW_STEP, ROW_RATE)
    return worst, work


@njit(**OPT)
def midpoint_record(A, f, t1, dt, some):  # type: ignore[no-untyped-def]
    """Certificate of the step, what it leaves for its row, and the state at its end."""
    v, vp, certified, brief = f + 8 * V, f + 8 * VP, ld(f, OPTIONS + O_CERTIFIED), lc(A, BRIEF)
    error, size, law, striking, natural, loss, _ = moreau_error(A, f, v, vp, dt, 0, 0, -1, some)
    joint_error, work = midpoint_joint_error(A, f, size)
    error = max(error, joint_error)
    sure = law <= certified and error <= certified and math.isfinite(size)
    if not sure or leaves_rest(A, f, vp, dt, 0):
        return UNCERTAIN
    if striking:
        moreau_impulses(A, f, True)
    if not brief:
        reactions(A, f, 0, more(A, f, ZM), P_B, 1.0 / dt, S_REACTION, False)
    struck_work = 0.0
    if striking and not brief:
        struck_work = moreau_impact(A, f, 0, more(A, f, ZM), dt)
    si(f, HIT, 1 if striking else 0)
    note_scalars(f, dt, error, natural, work, struck_work, 0.0 if striking else loss)
    row = f + lc(A, ROWS)
    for _ in range(lc(A, N_ROWS)):
        copy2(row + 8 * RATE_NEXT, row + 8 * RATE_LEFT)
        row += ROW_STEP
    for k in range(1, lc(A, N_BODIES) + 1):
        b = f + GROUND + BODY_STEP * k
        sum4(b + 8 * Q, more(A, b, QM), dt / 2, b + 8 * VP)
        copy4(b + 8 * VP, b + 8 * V)
    advance_time(f, t1)
    return DONE
