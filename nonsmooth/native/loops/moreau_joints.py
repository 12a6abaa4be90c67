"""Moreau and Jean's step of a mechanism with ideal joints: passes until they close, as in RATTLE."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.moreau_free import moreau_forces
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.substitution import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def parabola(record, history):  # type: ignore[no-untyped-def]
    """The value that follows the last three."""
    return 3.0 * (ld(record, history) - ld(record, history + 1)) + ld(record, history + 2)


@njit(**OPT)
def cubic(record, history):  # type: ignore[no-untyped-def]
    """The value that follows the last four."""
    outer, inner = ld(record, history) + ld(record, history + 2), ld(record, history + 1)
    return 4.0 * outer - 6.0 * inner - ld(record, history + 3)


@njit(**OPT)
def remember(record, history, value, count):  # type: ignore[no-untyped-def]
    """Put a value before the last ones, so many in all."""
    for k in range(count - 1, 0, -1):
        st(record, history + k, ld(record, history + k - 1))
    st(record, history, value)


@njit(**OPT)
def moreau_guess(A, f, theta, some):  # type: ignore[no-untyped-def]
    """U, and what joints at the end push from, of impulses that go on as before."""
    u, base, pushed, lasting = more(A, f, U), f + 8 * BASE, more(A, f, PUSH), True
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, P_A, cubic(row, HISTORY_J))
        st(row, WAS_OPEN, ld(row, LEFT_OPEN))
    add_kick(A, f, f + 8 * V, base)
    push_joints(A, f, start_row(f), P_A, base)
    clear_bodies(A, pushed)
    if some:
        first = f + lc(A, GAPS)
        for k in range(lc(A, N_GAPS)):
            gap = first + GAP_STEP * k
            if li(gap, ACTIVE):
                if ld(gap, P_N) > 0.0 and ld(gap, HISTORY_N + 2) > 0.0:
                    st(gap, P_N, parabola(gap, HISTORY_N))
                    st(gap, P_T, parabola(gap, HISTORY_T))
                else:
                    st(gap, P_N, 0.0)
                    st(gap, P_T, 0.0)
                    lasting = False
        push_contacts(A, f, 0, pushed)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        sum4(u + b, base + b, theta - 1.0, more(A, f + b, KICK))
        gain4(u + b, theta, pushed + b)
    return lasting


@njit(**OPT)
def correct_start(A, f, close):  # type: ignore[no-untyped-def]
    """Impulses at the start that take SHIFT_J from the rates of the joints at the end; U and BASE follow.

    Iterates with the symmetric matrix of one of both times, up to `close`.
    """
    change, x, u, base = f + 8 * WORK, f + lc(A, RHS_A), more(A, f, U), f + 8 * BASE
    start, end = start_row(f), end_row(f)
    clear_bodies(A, change)
    for _ in range(CORRECTIONS):
        if joint_rates(A, f, end, change, x) <= close:
            break
        answer_joints(A, f, start, x, P_A, change)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        add4(u + b, u + b, change + b)
        add4(base + b, base + b, change + b)


@njit(**OPT)
def misfits(A, f, dt):  # type: ignore[no-untyped-def]
    """SHIFT_J = g / dt; the largest."""
    first, side, worst, total, per = f + lc(A, ROWS), end_row(f), 0.0, 0.0, 1.0 / dt
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        y = ld(row + side, ROW_G) * per
        st(row, SHIFT_J, y)
        st(row, LEFT_OPEN, y)
        worst = max(worst, abs(y))
        total += y
    return worst if math.isfinite(total) else math.inf


@njit(**OPT)
def force_change(A, f, t0, dt, theta):  # type: ignore[no-untyped-def]
    """Forces at the point where U leads; U and BASE follow. Their change, in the metric of the masses."""
    u, base, kick, work, size = more(A, f, U), f + 8 * BASE, more(A, f, KICK), f + 8 * WORK, 0.0
    copy_bodies(A, kick, work)
    moreau_forces(A, f, t0, dt, theta, u, NEARBY)
    kick_of(A, f, dt)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        difference4(work + b, kick + b, work + b)
        add4(base + b, base + b, work + b)
        gain4(u + b, theta, work + b)
        size += weighted4(work + b, work + b, f + b + 8 * MASS)
    return math.sqrt(size)


@njit(**OPT)
def contact_change(A, f, theta):  # type: ignore[no-untyped-def]
    """What contacts push has changed: U follows, WORK is by how much; in the metric of the masses."""
    u, pushed, work, size = more(A, f, U), more(A, f, PUSH), f + 8 * WORK, 0.0
    clear_bodies(A, work)
    push_contacts(A, f, 0, work)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        difference4(pushed + b, work + b, pushed + b)
        gain4(u + b, theta, pushed + b)
        size += weighted4(pushed + b, pushed + b, f + b + 8 * MASS)
        swap4(pushed + b, work + b)
    return theta * math.sqrt(size)


@njit(**OPT)
def follow_contacts(A, f, theta):  # type: ignore[no-untyped-def]
    """SHIFT_J = what contacts have changed of the joints' rates at the end, by WORK."""
    first, side, work = f + lc(A, ROWS), end_row(f), f + 8 * WORK
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, SHIFT_J, theta * along(row + DIRECTION + side, work + lc(row, ROW_A), work + lc(row, ROW_B)))


@njit(**OPT)
def motion_size(A, f):  # type: ignore[no-untyped-def]
    """Velocity and kick in the metric of the masses; the heaviest of those."""
    v, heaviest, moving, kicked = f + 8 * V, 0.0, 0.0, 0.0
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        mass, kick = f + b + 8 * MASS, more(A, f + b, KICK)
        heaviest = max(heaviest, largest4(mass))
        moving += weighted4(v + b, v + b, mass)
        kicked += weighted4(kick, kick, mass)
    return math.sqrt(moving) + math.sqrt(kicked), heaviest


@njit(**OPT)
def mending_impulses(A, f):  # type: ignore[no-untyped-def]
    """MENDED: the share of the impulses at the start that closed what the step before had left open."""
    x = f + lc(A, RHS_A)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row = f + lc(block, B_FIRST)
        for i in range(2):
            st(x, 2 * k + i, ld(row, LEFT_OPEN) - ld(row, WAS_OPEN))
            row += ROW_STEP
    substitute_joints(A, f, x)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        row = f + lc(block_at(A, k), B_FIRST)
        for i in range(2):
            st(row, MENDED, ld(x, 2 * k + i))
            row += ROW_STEP


@njit(**OPT)
def end_joints(A, f, side):  # type: ignore[no-untyped-def]
    """VP and P_B of joints alone, and MENDED, which has the same matrix."""
    x, base, vp, inverse = f + lc(A, PAIRS), f + 8 * BASE, f + 8 * VP, f + 8 * INVERSE
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row, a, b = f + lc(block, B_FIRST), base + lc(block, B_A), base + lc(block, B_B)
        J, r, other = row + DIRECTION + side, row + side + 8 * ROW_RATE, row + ROW_STEP
        p, q = ld(row, LEFT_OPEN) - ld(row, WAS_OPEN), ld(other, LEFT_OPEN) - ld(other, WAS_OPEN)
        ask_two(x + SQUARE * k, J, J + ROW_STEP, a, b, r, r + ROW_STEP, p, q)
    substitute_two(A, f, x)
    copy_bodies(A, base, vp)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row, s, a, b = f + lc(block, B_FIRST), x + SQUARE * k, lc(block, B_A), lc(block, B_B)
        J, other, p, q = row + DIRECTION + side, row + ROW_STEP, ld(s, 0), ld(s, 2)
        st(row, P_B, p)
        st(row, MENDED, ld(s, 1))
        st(other, P_B, q)
        st(other, MENDED, ld(s, 3))
        push_both(J, p, J + ROW_STEP, q, inverse + a, inverse + b, vp + a, vp + b)


@njit(**OPT)
def moreau_joints(A, f, t0, t1, theta, some, standing):  # type: ignore[no-untyped-def]
    """The passes of a mechanism with joints, as in RATTLE; whether they came to an end.

    Impulses at the start close the joints at the end. They are corrected with the matrix of the joints as it was
    factored last, whose directions differ by what a step turns: by that much each pass contracts. Velocities at the
    end are solved for with the directions there, once the joints have closed; where contacts answer, they move U in
    turn, until nothing moves by more than round-off.
    """
    dt, q, v, u, z1, side = t1 - t0, f + 8 * Q, f + 8 * V, more(A, f, U), end_z(A, f), end_row(f)
    counters = f + 8 * COUNTERS
    moreau_forces(A, f, t0, dt, theta, v, standing)
    kick_of(A, f, dt)
    reach = size = close = 0.0
    for k in range(1, lc(A, N_BODIES) + 1):
        reach = max(reach, largest4(q + GROUND + BODY_STEP * k))
    shut = 4 * 2.2e-16 * reach / dt
    if some or lc(A, VARYING):
        size, heaviest = motion_size(A, f)
        close = 2e-14 * size + shut * math.sqrt(heaviest)
    lasting = moreau_guess(A, f, theta, some)
    before, forced, last = math.inf, 0.0, math.inf
    for k in range(PASSES):
        si(counters, K_PASSES, li(counters, K_PASSES) + 1)
        if lc(A, VARYING):
            forced = force_change(A, f, t0, dt, theta)
        move(A, q, u, dt, more(A, f, Q1))
        place(A, more(A, f, Q1), z1)
        joints_at(A, f, t1, z1, u, side)
        open_by = misfits(A, f, dt)
        if not open_by + forced < math.inf:
            return False
        settled = forced <= close and (open_by <= shut or (open_by >= before and open_by <= 8 * shut))
        if not settled:
            before = open_by
            correct_start(A, f, shut / 64)
            if not some or lasting and k == 0:
                continue
        factor_joints(A, f, side)
        if not some and not li(f, RAISED):
            end_joints(A, f, side)
            return True
        explicit_rates(A, f, side)
        if not call_solve(lc(A, SOLVE), A, f, side, 0):
            return False
        if not some:
            mending_impulses(A, f)
            return True
        # contacts answer: U moves, and joints follow at once as far as their directions at the end tell
        turned = contact_change(A, f, theta)
        if settled and (turned <= close or (turned >= last and turned <= 1e-11 * size)):
            mending_impulses(A, f)
            return True
        last, before = turned, math.inf
        follow_contacts(A, f, theta)
        correct_start(A, f, shut / 64)
    return False


@njit(**OPT)
def remember_joints(A, f):  # type: ignore[no-untyped-def]
    """Impulses at the start, without what they did to close what the step before had left open: that will not go on."""
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        remember(row, HISTORY_J, ld(row, P_A) - ld(row, MENDED), 4)


@njit(**OPT)
def forget_joints(A, f):  # type: ignore[no-untyped-def]
    """What failed passes have left, as at a singular position, from which the next step must not begin."""
    factor_joints(A, f, start_row(f))
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        for i in range(4):
            st(row, HISTORY_J + i, 0.0)
        st(row, LEFT_OPEN, 0.0)
        st(row, WAS_OPEN, 0.0)
