"""Nonsmooth generalized-alpha: displacements, then velocities, then smooth accelerations, pass by pass.

Joints and gaps stand at both sides, start and end of the step. What a pass takes from the one before shrinks with dt,
so that passes end where nothing changes by more than round-off.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.accelerations import *
from nonsmooth.native.loops.alpha_record import *
from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def alpha_origin(A, f):  # type: ignore[no-untyped-def]
    """What the start of the step says of each gap: laws, units, whether it strikes if it is closed at the end.

    Impulses of lasting contacts are what the passes begin with.
    """
    v, side, inverse, longest = f + 8 * V, start_gap(f), f + 8 * INVERSE, ld(f, OPTIONS + O_LONGEST)
    least, lasting, first = least_mobility(A, f), True, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        a, b, J, D = lc(gap, GAP_A), lc(gap, GAP_B), gap + NORMAL + side, gap + TANGENT + side
        rate, zero = along(J, v + a, v + b), zero_rate(f, gap, J, v)
        steady = touching(f, gap, side) and -zero <= rate <= zero
        si(gap, STRUCK, 0 if steady else 1)
        si(gap, BOUND, 0)
        st(gap, S_MINUS, rate)
        st(gap, LAW_N, rebound(gap, rate))
        slip = lc(A, ROUGH) and rate < -zero
        st(gap, LAW_T, ld(gap, TANGENTIAL) * along(D, v + a, v + b) if slip else 0.0)
        mobile = max(mobility(J, J, inverse + a, inverse + b), least)
        st(gap, PER_Y, longest * mobile * ld(gap, PER_SCALE))
        si(gap, ACTIVE, 1 if steady else 0)
        recall_mode(A, gap)
        si(gap, KEPT_MODE, li(gap, MODE))
        si(gap, S_N_MODE, STICK if li(gap, MODE) != OPEN else OPEN)
        if not steady or 0.0 < ld(gap, P_N) <= ld(gap, S_PNI):
            lasting &= ld(gap, P_N) == 0.0
            st(gap, P_N, 0.0)
            st(gap, P_T, 0.0)
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, LAM_1, ld(row, LAM))
        if not lasting:
            st(row, P_B, 0.0)
    si(f, MEAN, 1)
    copy_bodies(A, more(A, f, SMOOTH), more(A, f, SMOOTH_1))
    copy_bodies(A, v, more(A, f, LAST_V))


@njit(**OPT)
def drag(A, f, u):  # type: ignore[no-untyped-def]
    """u = M^-1 W_T P_T / 2, what friction displaces: along the mean directions of both sides or those at the end."""
    clear_bodies(A, u)
    if not lc(A, ROUGH):
        return
    inverse, first, start, end = f + 8 * INVERSE, f + lc(A, GAPS), start_gap(f), end_gap(f)
    before = 0.25 if li(f, MEAN) else 0.0
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        T = ld(gap, P_T)
        if T != 0.0:
            a, b, D, E = lc(gap, GAP_A), lc(gap, GAP_B), gap + TANGENT + start, gap + TANGENT + end
            push_both(D, before * T, E, (0.5 - before) * T, inverse + a, inverse + b, u + a, u + b)


@njit(**OPT)
def set_velocities_aside(A, f):  # type: ignore[no-untyped-def]
    """Impulses and modes of the gaps, and impulses of joints, to where the displacement's program leaves them."""
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(gap, OLD_FRICTION, ld(gap, FRICTION))
        st(gap, OLD_N, ld(gap, P_N))
        st(gap, OLD_T, ld(gap, P_T))
        st(gap, FRICTION, 0.0)
        si(gap, ACTIVE, 1)
        si(gap, MODE, li(gap, S_N_MODE))
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, KEPT, ld(row, P_B))


@njit(**OPT)
def take_displacement(A, f):  # type: ignore[no-untyped-def]
    """Impulses S and their modes, and those of velocities back."""
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(gap, S_N, ld(gap, P_N))
        si(gap, S_N_MODE, li(gap, MODE))
        st(gap, FRICTION, ld(gap, OLD_FRICTION))
        st(gap, P_N, ld(gap, OLD_N))
        st(gap, P_T, ld(gap, OLD_T))
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, S_J, ld(row, P_B))
        st(row, P_B, ld(row, KEPT))


@njit(**OPT)
def close_positions(A, f, dt, secant):  # type: ignore[no-untyped-def]
    """U of BASE and friction: joints closed and gaps not negative at the end, linearised where U led last; its change.

    Infinite where no active set was found.
    """
    u, base, dragging, side, per = more(A, f, U), f + 8 * BASE, more(A, f, DRAG), end_row(f), 1.0 / dt
    drag(A, f, dragging)
    add_bodies(A, base, dragging)
    set_velocities_aside(A, f)
    linear_joints(A, f, u, side, per)
    side, first = end_gap(f), f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        rate = along(gap + NORMAL + side, u + lc(gap, GAP_A), u + lc(gap, GAP_B))
        st(gap, SHIFT_N, ld(gap + side, GAP_G) * per - rate)
        st(gap, SHIFT_T, 0.0)
    found = call_solve(lc(A, SOLVE), A, f, end_row(f), side)
    take_displacement(A, f)
    if not found:
        return math.inf
    return take_answer(A, f, f + 8 * VP, u, U_ANSWER, secant)


@njit(**OPT)
def turned(f, gap):  # type: ignore[no-untyped-def]
    """Whether the normal turns so far in the step that the mean of both is none."""
    J, K, inverse = gap + NORMAL + start_gap(f), gap + NORMAL + end_gap(f), f + 8 * INVERSE
    x, y = inverse + lc(gap, GAP_A), inverse + lc(gap, GAP_B)
    return mobility(J, K, x, y) < TURNED * math.sqrt(mobility(J, J, x, y) * mobility(K, K, x, y))


@njit(**OPT)
def closed_gaps(A, f, k):  # type: ignore[no-untyped-def]
    """Which gaps are closed at the end, with the laws of their rates; MEAN is whether all of them last.

    One that closes in pass k stays closed where many passes have not settled whether it does.
    """
    side, first, mean = end_gap(f), f + lc(A, GAPS), 1
    for i in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * i
        closed = touching(f, gap, side) or ld(gap, S_N) > 0.0 or (k > BINDING and li(gap, BOUND) != 0)
        st(gap, SHIFT_N, ld(gap, LAW_N))
        st(gap, SHIFT_T, ld(gap, LAW_T))
        if closed:
            si(gap, BOUND, 1 if k > SETTLING else 0)
            si(gap, ACTIVE, 1)
            si(gap, MODE, li(gap, KEPT_MODE))
            if li(gap, STRUCK) or turned(f, gap):
                mean = 0
        else:
            si(gap, ACTIVE, 0)
            si(gap, MODE, OPEN)
            st(gap, P_N, 0.0)
            st(gap, P_T, 0.0)
    si(f, MEAN, mean)


@njit(**OPT)
def lag(A, f, v):  # type: ignore[no-untyped-def]
    """v = M^-1 (D - W) P: D the mean directions of both sides, or W, those at the end."""
    clear_bodies(A, v)
    if not li(f, MEAN):
        return
    inverse, start, end, first = f + 8 * INVERSE, start_row(f), end_row(f), f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        a, b, J, K = lc(row, ROW_A), lc(row, ROW_B), row + DIRECTION + start, row + DIRECTION + end
        half = ld(row, P_B) / 2
        push_both(J, half, K, -half, inverse + a, inverse + b, v + a, v + b)
    start, end, first, rough = start_gap(f), end_gap(f), f + lc(A, GAPS), lc(A, ROUGH)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        a, b, N, T = lc(gap, GAP_A), lc(gap, GAP_B), ld(gap, P_N) / 2, ld(gap, P_T) / 2
        if N != 0.0:
            J, K = gap + NORMAL + start, gap + NORMAL + end
            push_both(J, N, K, -N, inverse + a, inverse + b, v + a, v + b)
        if rough and T != 0.0:
            J, K = gap + TANGENT + start, gap + TANGENT + end
            push_both(J, T, K, -T, inverse + a, inverse + b, v + a, v + b)


@njit(**OPT)
def close_velocities(A, f, dt, gamma):  # type: ignore[no-untyped-def]
    """VP: joints at their rates, closed gaps by the laws of impact and friction; its change, infinite if not found."""
    base, last, gaps, lagging, work = f + 8 * BASE, more(A, f, LAST_V), f + lc(A, GAPS), more(A, f, LAG), f + 8 * WORK
    follow_accelerations(A, f, dt, 1.0 - gamma, gamma, base)
    lag(A, f, lagging)
    add_bodies(A, base, lagging)
    explicit_rates(A, f, end_row(f))
    found = call_solve(lc(A, SOLVE), A, f, end_row(f), end_gap(f))
    for k in range(lc(A, N_GAPS)):
        gap = gaps + GAP_STEP * k
        if li(gap, ACTIVE):
            si(gap, KEPT_MODE, li(gap, MODE))
    if not found:
        return math.inf
    change = apart(A, f, f + 8 * VP, last)
    copy_bodies(A, f + 8 * VP, last)
    # what is held in all directions does not move, while impulses change
    lag(A, f, work)
    change += apart(A, f, work, lagging)
    drag(A, f, work)
    return change + apart(A, f, work, more(A, f, DRAG))


@njit(**OPT)
def places_round_off(A, f, dt):  # type: ignore[no-untyped-def]
    """What round-off of the places is as a motion: joints cannot be closed better."""
    reach = heaviest = 0.0
    for k in range(1, lc(A, N_BODIES) + 1):
        b = f + GROUND + BODY_STEP * k
        reach, heaviest = max(reach, largest4(b + 8 * Q)), max(heaviest, largest4(b + 8 * MASS))
    return EPSILON * reach * math.sqrt(heaviest) / dt


@njit(**OPT)
def alpha_passes(A, f, t1, dt):  # type: ignore[no-untyped-def]
    """The passes of a step; whether they settled."""
    gamma, beta = newmark_weights(f)
    u, v, z1, row_side, gap_side = more(A, f, U), f + 8 * VP, end_z(A, f), end_row(f), end_gap(f)
    still, start, before, moved = places_round_off(A, f, dt), length(A, f, f + 8 * V), math.inf, math.inf
    least, stuck, secant, bent = math.inf, 0, False, False
    for k in range(PASSES):
        si(f, COUNTERS + K_PASSES, li(f, COUNTERS + K_PASSES) + 1)
        follow_accelerations(A, f, dt, 0.5 - beta, beta, f + 8 * BASE)
        change, enough = 0.0, moved <= FINEST or stuck >= STUCK and moved <= (ACCEPTABLE if k <= LATE else STALLED)
        secant = k > SECANT and not enough and (secant or moved > SLOW * before)
        bent |= secant
        if k == 0:
            copy_bodies(A, f + 8 * BASE, u)
        else:
            change = close_positions(A, f, dt, secant)
        move(A, f + 8 * Q, u, dt, more(A, f, Q1))
        place(A, more(A, f, Q1), z1)
        joints_at(A, f, t1, z1, u, row_side)
        contacts_at(A, f, z1, u, gap_side)
        factor_joints(A, f, row_side)
        if k == 0:
            continue
        closed_gaps(A, f, k)
        faster = close_velocities(A, f, dt, gamma)
        faster += dt * smooth_accelerations(A, f, t1, z1, v, row_side, secant)
        if not math.isfinite(change + faster) or li(f, RAISED):
            return False
        size = length(A, f, v) + start + dt * length(A, f, more(A, f, SMOOTH_1))
        # at rest velocities are differences of kicks
        before, moved = moved, change / max(size, still / SETTLED, TINY) + faster / max(size + dt * kicks(A, f), TINY)
        # what is left shrinks from pass to pass as what has moved does, but for the first one
        fine = bent or moved <= FINEST or k > 2 and moved * moved <= FINEST * before or moved >= before / 2
        if moved <= SETTLED and not secant and fine:
            return True
        stuck = 0 if moved < least / 2 else stuck + 1
        least = min(least, moved)
        if stuck >= STUCK and not secant and moved <= (ACCEPTABLE if k <= LATE else STALLED):
            return True
    return False


def alpha_step(A, f, t1):  # type: ignore[no-untyped-def]
    """One step of generalized-alpha to t1."""
    dt = t1 - ld(f, TIME + 1)
    if not li(f, KNOWN) and not first_accelerations(A, f):
        return UNCERTAIN
    alpha_origin(A, f)
    if not alpha_passes(A, f, t1, dt):
        return UNCERTAIN
    return alpha_record(A, f, t1, dt)
