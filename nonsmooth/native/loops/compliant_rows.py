"""Rows of a run with compliant contact: projected onto the joints, judged, and what they leave for the next."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.compliant_table import *
from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.compliant import *
from nonsmooth.native.loops.dop853 import running
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.rows import *
from nonsmooth.native.loops.substitution import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def take_misfit(A, f, v, target):  # type: ignore[no-untyped-def]
    """target += M^-1 W x with the x that takes W' v + SHIFT_J to zero; their matrix was factored last."""
    x = f + lc(A, RHS_A)
    joint_rates(A, f, 0, v, x)
    substitute_joints(A, f, x)
    push_joint_slots(A, f, 0, x, target)


@njit(**OPT)
def close_joints(A, f):  # type: ignore[no-untyped-def]
    """The nearest Q and V, in the metric of the masses, with the joints closed; whether it was found."""
    z, v, still, first, before, worst = more(A, f, Z0), f + 8 * V, more(A, f, S_LEFT), f + lc(A, ROWS), math.inf, 0.0
    clear_bodies(A, still)
    for _ in range(PROJECTIONS):
        place(A, f + 8 * Q, z)
        evaluate(A, f, lc(A, JOINT_0), lc(A, JOINT_1), z, v, 0)
        worst, total = 0.0, 0.0
        for k in range(lc(A, N_ROWS)):
            row = first + ROW_STEP * k
            g = ld(row, ROW_G)
            st(row, SHIFT_J, g)
            worst, total = max(worst, abs(g)), total + g
        if not math.isfinite(total):
            return False
        if worst <= CLOSED_JOINT or not worst < before / 4:
            break
        before = worst
        factor_joints(A, f, 0)
        take_misfit(A, f, still, f + 8 * Q)
    explicit_rates(A, f, 0)
    factor_joints(A, f, 0)
    take_misfit(A, f, v, v)
    clear4(f + GROUND + 8 * Q)
    clear4(v + GROUND)
    return True


@njit(**OPT)
def motion_error(A, f):  # type: ignore[no-untyped-def]
    """Worst scaled residual of the equations of motion and of the joints' second derivatives."""
    rows, terms, zero, a = f + 8 * WORK, f + 8 * BASE, more(A, f, S_LEFT), more(A, f, U)
    moving = applied = 0.0
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        mass, force = f + b + 8 * MASS, f + b + 8 * FORCE
        clear4(zero + b)
        momentum4(rows + b, terms + b, mass, zero + b, a + b, 1.0, more(A, f + b, KICK))
        moving += weighted4(a + b, a + b, mass)
        applied += weighted4(force, force, f + b + 8 * INVERSE)
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        x, y, N, T = lc(gap, GAP_A), lc(gap, GAP_B), ld(gap, FORCE_N), ld(gap, FORCE_T)
        take_off(gap + 8 * TRUE_RATE, N, gap + SLIDE, T, rows + x, rows + y, terms + x, terms + y)
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        x, y, J = lc(row, ROW_A), lc(row, ROW_B), row + DIRECTION
        take_off(J, ld(row, MULTIPLIER), J, 0.0, rows + x, rows + y, terms + x, terms + y)
    floor, worst = ld(f, OPTIONS + O_FLOOR) * (math.sqrt(moving) + math.sqrt(applied)), 0.0
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        worst = max(worst, worst4(rows + b, terms + b, floor, more(A, f + b, ROOT_MASS)))
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        x, y, J = lc(row, ROW_A), lc(row, ROW_B), row + DIRECTION
        size = math.sqrt(mobility(J, J, f + 8 * INVERSE + x, f + 8 * INVERSE + y))
        worst = max(worst, rate_error(J, a + x, a + y, ld(row, DRIFT), floor * size))
    clear4(rows + GROUND)
    clear4(terms + GROUND)
    return worst if math.isfinite(moving) else math.inf


@njit(**OPT)
def note_extreme(extremes, which, x):  # type: ignore[no-untyped-def]
    """Widen a range by a number."""
    st(extremes, which, min(ld(extremes, which), x))
    st(extremes, which + 1, max(ld(extremes, which + 1), x))


@njit(**OPT)
def switch(A, f, t):  # type: ignore[no-untyped-def]
    """Note which surfaces have parted and which have met; whether any have."""
    r, first, changed = running(A, f), f + lc(A, GAPS), False
    at_event = li(r, R_EVENT_GAP) >= 0 and t == ld(r, R_EVENT)
    for k in range(lc(A, N_GAPS)):
        gap, law, extremes = first + GAP_STEP * k, law_of(A, k), f + lc(A, I_EXTREMES) + 8 * EXTREMES * k
        touched, g, rate = ld(gap, TOUCHES) > 0.0, ld(gap, TRUE), ld(gap, OPENING)
        level = ld(r, R_TOUCHED) * ld(gap, SCALE)
        if touched:
            note_extreme(extremes, X_FORCE, ld(gap, FORCE_N))
            note_extreme(extremes, X_DEPTH, max(-g, 0.0))
        lost, met = touched and g > level and rate > 0.0, not touched and g < -level
        if at_event:
            near = abs(g) <= level
            lost, met = lost or (touched and near and rate > 0.0), met or (not touched and near and rate < 0.0)
            if li(r, R_EVENT_GAP) == k:  # in any case: projected joints move its gap by the integrator's error
                lost, met = touched, not touched
        if not (lost or met):
            continue
        changed = True
        st(gap, TOUCHES, 1.0 if met else 0.0)
        st(gap, APPROACH, max(-rate, 0.0) if met else 0.0)
        clear(gap + 8 * BRISTLE, lc(law, L_BRISTLES))
        if met:
            note_extreme(extremes, X_APPROACH, ld(gap, APPROACH))
    return changed


@njit(**OPT)
def keep_motion(A, f):  # type: ignore[no-untyped-def]
    """STATE = coordinates, velocities and bristles as they stand in bodies and gaps."""
    bodies, state, first = lc(A, N_BODIES), f + lc(A, I_STATE), f + lc(A, GAPS)
    for k in range(bodies):
        body = f + GROUND + BODY_STEP * (k + 1)
        copy(body + 8 * Q, state + 24 * k, 3)
        copy(body + 8 * V, state + 24 * (bodies + k), 3)
    for k in range(lc(A, N_GAPS)):
        gap, law = first + GAP_STEP * k, law_of(A, k)
        copy(gap + 8 * BRISTLE, state + lc(law, L_FIRST), lc(law, L_BRISTLES))


@njit(**OPT)
def natural_map(A, f):  # type: ignore[no-untyped-def]
    """The worst of gap and impulse of a contact, the lesser of both, each in its unit."""
    r, first, impulses, worst = running(A, f), f + lc(A, GAPS), f + lc(A, I_GAINED) + lc(A, I_NORMAL), 0.0
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        both = min(max(ld(gap, TRUE), 0.0) / ld(gap, SCALE), abs(ld(impulses, k)) / ld(r, R_IMPULSE))
        worst = max(worst, both)
    return worst


@njit(**OPT)
def write_compliant_row(A, f, rec):  # type: ignore[no-untyped-def]
    """Time, motion, impulses, gaps, rates, modes, impulses of joints, energies and works, of the last steps.

    The start, row 0, has no modes: no step ends there.
    """
    r, gaps, count, first = running(A, f), lc(A, N_GAPS), li(f, COUNTERS + K_ROWS), f + lc(A, GAPS)
    row, sums = li(rec, REC_ROWS) + 8 * lc(A, ROW_WIDTH) * count, f + lc(A, I_SUMS)
    st(row, 0, ld(r, R_ROW_T))
    at = pack(A, f + 8 * V, pack(A, f + 8 * Q, row + 8))
    copy(sums + lc(A, I_NORMAL), at, 2 * gaps)
    for k in range(gaps):
        gap = first + GAP_STEP * k
        st(at, 2 * gaps + k, ld(gap, TRUE))
        st(at, 3 * gaps + k, ld(gap, OPENING))
        sb(at + 32 * gaps, k, lc(law_of(A, k), L_MODE) if count > 0 and ld(gap, TOUCHES) > 0.0 else 0)
    at += 32 * gaps + 8 * ((gaps + 7) // 8)
    copy(sums + lc(A, I_REACTION), at, 3 * lc(A, N_JOINTS))
    at += 24 * lc(A, N_JOINTS)
    v = f + 8 * V
    st(at, 0, kinetic(A, f, v))
    st(at, 1, potential(A, f, more(A, f, Z0), v) + ld(r, R_STORED))
    copy(sums + lc(A, I_WORK), at + 16, N_WORKS)
    clear(sums, lc(A, I_WORK) // 8)
    si(f, COUNTERS + K_ROWS, count + 1)
    si(f, COUNTERS + K_SINCE, 0)


@njit(**OPT)
def keep_row(A, f, rec, t):  # type: ignore[no-untyped-def]
    """Count a row whose motion and gaps stand in bodies and gaps, and what it has GAINED; write every so-many-th."""
    r, gained, sums = running(A, f), f + lc(A, I_GAINED), f + lc(A, I_SUMS)
    add_up(gained + lc(A, I_NORMAL), sums + lc(A, I_NORMAL), lc(A, I_SIZE) - lc(A, I_NORMAL) // 8, 1.0)
    st(r, R_STORED, ld(r, R_STORED) + ld(gained + lc(A, I_WORK), 0))
    st(r, R_ROW_T, t)
    st(f, TIME + 1, t)
    keep_motion(A, f)
    worst_numbers(f)
    worst_places(A, f, more(A, f, Z0), f + 8 * V)
    si(f, COUNTERS + K_STEPS, li(f, COUNTERS + K_STEPS) + 1)
    si(f, COUNTERS + K_SINCE, li(f, COUNTERS + K_SINCE) + 1)
    if li(f, COUNTERS + K_SINCE) == lc(A, RECORD):
        write_compliant_row(A, f, rec)


@njit(**OPT)
def gain(A, f):  # type: ignore[no-untyped-def]
    """GAINED = what integrals at AT have gained since the last row."""
    at, last, gained, first = f + lc(A, I_AT), f + lc(A, I_INTEGRALS), f + lc(A, I_GAINED), lc(A, I_NORMAL) // 8
    for k in range(first, lc(A, I_SIZE)):
        st(gained, k, ld(at, k) - ld(last, k))


@njit(**OPT)
def row_at(A, f, rec, t):  # type: ignore[no-untyped-def]
    """The row at t, whose y stands at AT; whether it is certified. Nothing is kept of one that is not."""
    r, first, far = running(A, f), lc(A, I_NORMAL) // 8, 0.0
    spread(A, f, f + lc(A, I_AT), f + lc(A, I_ORIGIN))
    st(f, TIME, t)
    if li(r, R_PROJECTED):
        copy_bodies(A, f + 8 * Q, more(A, f, QM))
        if not close_joints(A, f):
            return False
        for k in range(1, lc(A, N_BODIES) + 1):
            b = f + GROUND + BODY_STEP * k
            difference4(more(A, b, QM), b + 8 * Q, more(A, b, QM))
            far = max(far, largest4(more(A, b, QM)))
    call_solve(lc(A, I_RATES), A, f, 0, 0)
    gain(A, f)
    error = motion_error(A, f)
    if not error <= ld(f, OPTIONS + O_CERTIFIED):
        return False
    st(f, SCALARS + RESIDUAL, error)
    st(f, SCALARS + COMPLEMENTARITY, natural_map(A, f))
    copy(f + lc(A, I_AT) + 8 * first, f + lc(A, I_INTEGRALS) + 8 * first, lc(A, I_SIZE) - first)
    st(r, R_PIECE, ld(r, R_T) - ld(r, R_T_OLD))
    restart = far > DRIFTED * ld(r, R_TOLERANCE)
    if switch(A, f, t) or restart:
        si(r, R_RESTART, 1)
    keep_row(A, f, rec, t)
    return True


@njit(**OPT)
def compliant_look(A, f):  # type: ignore[no-untyped-def]
    """Gaps, their rates, and applied forces, FORCE, at STATE."""
    spread(A, f, f + lc(A, I_STATE), f + lc(A, I_INTEGRALS))  # whose coordinates are 0: STATE counts from nothing
    st(f, TIME, ld(running(A, f), R_ROW_T))
    contacts_of(A, f)
    applied_forces(A, f)
    return 0


@njit(**OPT)
def compliant_keep(A, f, rec, first):  # type: ignore[no-untyped-def]
    """The row at STATE: the start, `first`, or one that somebody else found, with its time, scalars and GAINED."""
    compliant_look(A, f)
    if first:
        st(f, TIME + 1, ld(f, TIME))
        worst_places(A, f, more(A, f, Z0), f + 8 * V)
        write_compliant_row(A, f, rec)
    else:
        keep_row(A, f, rec, ld(f, TIME))
    si(running(A, f), R_RESTART, 1)
    return 0


@njit(**OPT)
def compliant_last(A, f, rec):  # type: ignore[no-untyped-def]
    """What is left since the last recorded row."""
    compliant_look(A, f)
    write_compliant_row(A, f, rec)
    return 0
