"""The half kick of a step that lands: positions, with impulses along the directions at its start.

It moves bodies by U = V + half of the forces' kick + impulses for its whole length; at its end joints are closed, and
so are the gaps that press.
"""

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
def extrapolated(record, history):  # type: ignore[no-untyped-def]
    """The value that follows one whose differences, first and second, stand behind it."""
    return ld(record, history) + ld(record, history + 1) + ld(record, history + 2)


@njit(**OPT)
def note(record, history, value, lasts):  # type: ignore[no-untyped-def]
    """Put a value and its differences in place of the last one's, none where it does not last."""
    first = value - ld(record, history) if lasts else 0.0
    second = first - ld(record, history + 1) if lasts and ld(record, history + 1) != 0.0 else 0.0
    st(record, history, value)
    st(record, history + 1, first)
    st(record, history + 2, second)


@njit(**OPT)
def landing_guess(A, f, dt):  # type: ignore[no-untyped-def]
    """Modes and impulses to begin a half kick with; whether any contact is closed, and what counts as closed [m]."""
    some, reach, turned, first = False, 0.0, 0.0, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        closed = ld(gap, CLOSED) > 0.0
        si(gap, ACTIVE, 1 if closed else 0)
        some |= closed
        recall_mode(A, gap)
        pressing = li(gap, MODE) != OPEN
        st(gap, P_N, dt * extrapolated(gap, HISTORY_N) if pressing else 0.0)
        st(gap, P_T, dt * extrapolated(gap, HISTORY_T) if pressing else 0.0)
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, P_A, 0.0)
        st(row, P_B, dt * extrapolated(row, HISTORY_J))
    for k in range(1, lc(A, N_BODIES) + 1):
        q = f + GROUND + BODY_STEP * k + 8 * Q
        reach, turned = max(reach, abs(ld(q, 0)), abs(ld(q, 1))), max(turned, abs(ld(q, 2)))
    # round-off of places, and of angles at levers as long as the mechanism
    return some, 2.2e-16 * reach * (1.0 + turned)


@njit(**OPT)
def scale_impulses(A, f, factor):  # type: ignore[no-untyped-def]
    """Those of a half kick to begin one of another length with."""
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(gap, P_N, factor * ld(gap, P_N))
        st(gap, P_T, factor * ld(gap, P_T))
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, P_B, factor * ld(row, P_B))


@njit(**OPT)
def forget_impulses(A, f):  # type: ignore[no-untyped-def]
    """Begin a half kick with open contacts and no impulses."""
    still_ground(A, f)
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(gap, P_N, 0.0)
        st(gap, P_T, 0.0)
        si(gap, MODE, OPEN)
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        st(first + ROW_STEP * k, P_B, 0.0)


@njit(**OPT)
def middle_forces(A, f, t, dt):  # type: ignore[no-untyped-def]
    """Forces in the middle of a half kick by U, which follows; their change, and the size of both, by the masses."""
    u, kick, work, change, size = more(A, f, U), more(A, f, KICK), f + 8 * WORK, 0.0, 0.0
    move(A, f + 8 * Q, u, dt / 2, more(A, f, QM))
    place(A, more(A, f, QM), more(A, f, ZM))
    forces_at(A, f, t + dt / 2, more(A, f, ZM), u)
    copy_bodies(A, kick, work)
    kick_of(A, f, dt / 2)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        mass = f + b + 8 * MASS
        difference4(work + b, kick + b, work + b)
        add4(u + b, u + b, work + b)
        change += weighted4(work + b, work + b, mass)
        size += weighted4(kick + b, kick + b, mass) + weighted4(u + b, u + b, mass)
    return math.sqrt(change), math.sqrt(size)


@njit(**OPT)
def misfit(A, f, some):  # type: ignore[no-untyped-def]
    """By how much joints, and the gaps that bind, are not where they should be at the end: in m, and scaled."""
    worst, side, first = 0.0, end_row(f), f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        g = abs(ld(first + ROW_STEP * k + side, ROW_G))
        if not g <= worst:
            worst = g
    scaled = worst
    if some:
        side, first = end_gap(f), f + lc(A, GAPS)
        for k in range(lc(A, N_GAPS)):
            gap = first + GAP_STEP * k
            if li(gap, ACTIVE):
                g = ld(gap + side, GAP_G)
                g = -g if li(gap, MODE) == OPEN else abs(g)
                if not g <= worst:
                    worst = g
                scaled = max(scaled, g / ld(gap, SCALE))
    return worst, scaled


@njit(**OPT)
def correct_joints(A, f, dt):  # type: ignore[no-untyped-def]
    """Impulses of the joints, and U, corrected by their misfits, with the matrix of the joints at the start."""
    x, side = f + lc(A, X), end_row(f)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row = f + lc(block, B_FIRST) + side
        for i in range(2):
            st(x, 2 * k + i, -ld(row, ROW_G) / dt)
            row += ROW_STEP
    answer_joints(A, f, start_row(f), x, P_B, more(A, f, U))


@njit(**OPT)
def correct_all(A, f, dt):  # type: ignore[no-untyped-def]
    """Impulses of joints and of the gaps that bind, and U, from both linearised along the directions at the start."""
    u, row_side, gap_side, end_of_row, end_of_gap = more(A, f, U), start_row(f), start_gap(f), end_row(f), end_gap(f)
    add_kick(A, f, f + 8 * V, f + 8 * BASE)
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        rate = along(row + DIRECTION + row_side, u + lc(row, ROW_A), u + lc(row, ROW_B))
        st(row, SHIFT_J, ld(row + end_of_row, ROW_G) / dt - rate)
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        rate = along(gap + NORMAL + gap_side, u + lc(gap, GAP_A), u + lc(gap, GAP_B))
        st(gap, SHIFT_N, ld(gap + end_of_gap, GAP_G) / dt - rate)
        st(gap, SHIFT_T, 0.0)
    if not call_solve(lc(A, SOLVE), A, f, row_side, gap_side):
        return False
    copy_bodies(A, f + 8 * VP, u)
    return True


@njit(**OPT)
def half_kick(A, f, t1, dt, some, shut):  # type: ignore[no-untyped-def]
    """U, where it leads, and the impulses of a half kick that ends at t1; whether its passes came to an end.

    Begins with the impulses that stand in the memory. `shut` [m] is what counts as closed.
    """
    t0, u, z1 = ld(f, TIME + 1), more(A, f, U), end_z(A, f)
    kick_of(A, f, dt / 2)
    add_kick(A, f, f + 8 * V, u)
    push_joints(A, f, start_row(f), P_B, u)
    push_contacts(A, f, start_gap(f), u)
    before, last, forced, size = math.inf, math.inf, 0.0, 0.0
    for k in range(PASSES):
        si(f, COUNTERS + K_PASSES, li(f, COUNTERS + K_PASSES) + 1)
        if lc(A, VARYING):
            last = forced if k > 0 else math.inf
            forced, size = middle_forces(A, f, t0, dt)
        move(A, f + 8 * Q, u, dt, more(A, f, Q1))
        place(A, more(A, f, Q1), z1)
        joints_at(A, f, t1, z1, u, end_row(f))
        if some:
            contacts_at(A, f, z1, u, end_gap(f))
        open_by, scaled = misfit(A, f, some)
        if not open_by + forced < math.inf:
            return False
        still = forced <= 1e-15 * size or (forced >= last / 2 and forced <= 1e-11 * size)
        close = open_by <= shut or (open_by >= before / 2 and open_by <= 16 * shut)
        close |= open_by >= before and scaled <= ACCEPTABLE
        if still and close and (k > 0 or not some):
            if not some:
                contacts_at(A, f, z1, u, end_gap(f))
            return True
        before = open_by if k > 0 or not some else math.inf
        if some:
            if not correct_all(A, f, dt):
                return False
        elif lc(A, N_ROWS):
            correct_joints(A, f, dt)
    return False


@njit(**OPT)
def half_kick_error(A, f, dt):  # type: ignore[no-untyped-def]
    """Residual of the half kick's equations, as its Python twin defines it; infinite where a body turns too far."""
    u, v, side, first = more(A, f, U), f + 8 * V, start_row(f), f + lc(A, ROWS)
    longest, gap_side, after = ld(f, OPTIONS + O_LONGEST), start_gap(f), end_gap(f)
    if turns_far(A, f, u, longest):
        return math.inf
    worst, _, _ = momentum_error(A, f, v, u, dt / 2, gap_side, side, -1, False)
    for k in range(lc(A, N_ROWS)):
        worst = max(worst, abs(ld(first + ROW_STEP * k + end_row(f), ROW_G)))
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if not li(gap, ACTIVE):
            continue
        scale, y = ld(gap, SCALE), ld(gap, Y_SCALE)
        push = ld(gap, P_N) / y
        worst = max(worst, abs(min(ld(gap + after, GAP_G) / scale, push)))
        if lc(A, ROUGH):
            slip = along(gap + TANGENT + gap_side, u + lc(gap, GAP_A), u + lc(gap, GAP_B))
            force, reach = ld(gap, P_T) / y, ld(gap, FRICTION) * push
            worst = max(worst, abs(force - min(max(force - slip * longest / scale, -reach), reach)))
    return worst
