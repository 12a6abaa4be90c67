"""Rows, energies, and what is seen of each step."""

# ruff: noqa: F403, F405

from __future__ import annotations

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def powers(A, f, z, v):  # type: ignore[no-untyped-def]
    """Power of loads and of dampers, at velocities v."""
    if lc(A, VARYING):
        evaluate(A, f, lc(A, FORCE_0), lc(A, FORCE_1), z, v, 0)
    return load_powers(A, f, v)


@njit(**OPT)
def potential(A, f, z, v):  # type: ignore[no-untyped-def]
    value = 0.0
    for g in range(lc(A, STATIC_0), lc(A, STATIC_1)):
        group = lc(A, GROUPS) + 8 * GROUP * g
        if lc(group, G_STORED) == 2:  # gravity
            places = lc(group, G_PLACES)
            for i in range(lc(group, G_SIZE)):
                at, out = z + lc(places, 3 * i), f + lc(places, 3 * i + 2)
                value -= ld(out, 0) * ld(at, 0) + ld(out, 1) * ld(at, 1)
    evaluate(A, f, lc(A, POTENTIAL_0), lc(A, POTENTIAL_1), z, v, 0)
    for g in range(lc(A, POTENTIAL_0), lc(A, POTENTIAL_1)):
        group = lc(A, GROUPS) + 8 * GROUP * g
        places = lc(group, G_PLACES)
        for i in range(lc(group, G_SIZE)):
            value += ld(f + lc(places, 3 * i + 2), 0)
    return value


@njit(**OPT)
def kinetic(A, f, v):  # type: ignore[no-untyped-def]
    x = 0.0
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        x += weighted4(v + b, v + b, f + 8 * MASS + b)
    return x / 2


@njit(**OPT)
def worst_numbers(f):  # type: ignore[no-untyped-def]
    for x, k in ((COMPLEMENTARITY, W_COMPLEMENTARITY), (RESIDUAL, W_RESIDUAL)):
        if not ld(f, SCALARS + x) <= ld(f, WORST + k):
            st(f, WORST + k, ld(f, SCALARS + x))


@njit(**OPT)
def worst_places(A, f, z, v):  # type: ignore[no-untyped-def]
    """The run's worst true gap and misfit of joints, with those at placements z; true gaps were evaluated there."""
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if not -ld(gap, TRUE) <= ld(f, WORST + W_GAP):
            st(f, WORST + W_GAP, -ld(gap, TRUE))
    if lc(A, N_ROWS):
        evaluate(A, f, lc(A, CLOSURE_0), lc(A, CLOSURE_1), z, v, 0)
        first = f + lc(A, ROWS)
        for k in range(lc(A, N_ROWS)):
            row = first + ROW_STEP * k
            misfit = abs(ld(row, MISFIT))
            if not misfit <= ld(f, WORST + W_JOINT):
                st(f, WORST + W_JOINT, misfit)


@njit(**OPT)
def observe(A, f, t, dt, q, left, v):  # type: ignore[no-untyped-def]
    """True gaps, misfits of joints and, unless only ends are kept, energies of a row; worst values and sums go on.

    `left` are the velocities before its impacts, the same address as `v` where there are none.
    """
    z, totals, scalars = more(A, f, ZM), f + 8 * TOTALS, f + 8 * SCALARS
    st(f, TIME, t)
    place(A, q, z)
    evaluate(A, f, lc(A, SURFACE_0), lc(A, SURFACE_1), z, v, 0)
    worst_places(A, f, z, v)
    if lc(A, BRIEF):
        return
    right = kinetic(A, f, v)
    loads, damping = powers(A, f, z, v)
    before, loads_left, damping_left = right, loads, damping
    if left != v:
        before = kinetic(A, f, left)
        loads_left, damping_left = powers(A, f, z, left)
        st(totals, T_IMPACTS, ld(totals, T_IMPACTS) + (before - right + ld(scalars, WORK_DRIVERS_IMPACT)))
    st(totals, T_LOADS, ld(totals, T_LOADS) + dt * (ld(f, LAST_POWER) + loads_left) / 2)
    st(totals, T_DAMPING, ld(totals, T_DAMPING) - dt * (ld(f, LAST_POWER + 1) + damping_left) / 2)
    st(f, LAST_POWER, loads)
    st(f, LAST_POWER + 1, damping)
    st(totals, T_DRIVERS, ld(totals, T_DRIVERS) + ld(scalars, WORK_DRIVERS))
    st(totals, T_FRICTION, ld(totals, T_FRICTION) + ld(scalars, LOSS_FRICTION))
    st(f, ENERGY, right)
    st(f, ENERGY + 1, potential(A, f, z, v))


@njit(**OPT)
def write_view(A, f, rec, row, left, v):  # type: ignore[no-untyped-def]
    """What `observe` found, into a row of the record."""
    gaps, gap = lc(A, N_GAPS), f + lc(A, GAPS)
    for i in range(row * gaps, row * gaps + gaps):
        a, b, J = lc(gap, GAP_A), lc(gap, GAP_B), gap + 8 * TRUE_RATE
        rate = along(J, v + a, v + b)
        st(li(rec, REC_GAP), i, ld(gap, TRUE))
        st(li(rec, REC_RATE), i, rate)
        st(li(rec, REC_RATE_LEFT), i, along(J, left + a, left + b) if left != v else rate)
        gap += GAP_STEP
    # the energies, and the totals that follow them in the memory
    copy(f + 8 * ENERGY, li(rec, REC_ENERGY) + 8 * (2 + N_TOTALS) * row, 2 + N_TOTALS)


@njit(**OPT)
def pack(A, source, target):  # type: ignore[no-untyped-def]
    """A field of bodies, three doubles each; returns where it ends.

    The zero of the last vector is stored there too: what follows has to be written afterwards.
    """
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        copy4(source + b, target)
        target += 24
    return target


@njit(**OPT)
def row_of_gaps(A, row):  # type: ignore[no-untyped-def]
    """Where a row has its first normal impulse."""
    return row + 8 + 48 * lc(A, N_BODIES)


@njit(**OPT)
def pack_motion(A, f, target):  # type: ignore[no-untyped-def]
    """Q and V, as `pack` would do one after the other."""
    velocities = target + 24 * lc(A, N_BODIES)
    at, b = velocities, f + GROUND + BODY_STEP
    for _ in range(lc(A, N_BODIES)):
        copy4(b + 8 * Q, target)
        copy4(b + 8 * V, at)
        target += 24
        at += 24
        b += BODY_STEP
    st(velocities, 0, ld(f + GROUND + BODY_STEP, V))  # the zero of the last coordinates fell on it


@njit(**OPT)
def unpack(A, source, target):  # type: ignore[no-untyped-def]
    """What `pack` packed, and the ground's zero; returns where it ends."""
    clear4(target + GROUND)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        st3(target + b, ld(source, 0), ld(source, 1), ld(source, 2))
        source += 24
    return source


@njit(**OPT)
def observe_rows(A, f, rec, first, last, struck):  # type: ignore[no-untyped-def]
    """`observe` over recorded rows, where each step has one; `struck` counts those with impacts before, and after."""
    width = lc(A, ROW_WIDTH)
    q, v, left, scalars = more(A, f, QM), f + 8 * BASE, f + 8 * WORK, f + 8 * SCALARS
    for i in range(first, last):
        row = li(rec, REC_ROWS) + 8 * width * i
        unpack(A, unpack(A, row + 8, q), v)
        t = ld(row, 0)
        dt = t - ld(row - 8 * width, 0) if i > 0 else 0.0
        st(scalars, WORK_DRIVERS, ld(row, width - 2))
        st(scalars, LOSS_FRICTION, ld(row, width - 1))
        hit = li(rec, REC_STRUCK) + 8 * lc(A, STRUCK_WIDTH) * struck
        at = v
        if struck < li(rec, REC_STRUCK_COUNT) and ld(hit, 0) == i:
            unpack(A, hit + 16, left)
            st(scalars, WORK_DRIVERS_IMPACT, ld(hit, 1))
            at = left
            struck += 1
        observe(A, f, t, dt, q, at, v)
        write_view(A, f, rec, i, at, v)
    return struck


@njit(**OPT)
def note_impacts(A, f, rec):  # type: ignore[no-untyped-def]
    """Rows of the table of impacts: t, contact, P_N, P_T, gamma-, gamma+."""
    count, gap = li(rec, REC_IMPACT_COUNT), f + lc(A, GAPS)
    for i in range(lc(A, N_GAPS)):
        if ld(gap, S_PNI) > 0.0:
            row = li(rec, REC_IMPACTS) + 48 * count
            st(row, 0, ld(f, TIME + 1))
            st(row, 1, i)
            st(row, 2, ld(gap, S_PNI))
            st(row, 3, ld(gap, P_T))
            st(row, 4, ld(gap, S_MINUS))
            st(row, 5, ld(gap, S_PLUS))
            count += 1
        gap += GAP_STEP
    si(rec, REC_IMPACT_COUNT, count)


@njit(**OPT)
def write_struck(A, f, rec, left, impulse, reaction):  # type: ignore[no-untyped-def]
    """What a row with impacts holds besides: its number, work, velocities before, impulses, reactions.

    `impulse` and `reaction` are fields of gaps and of joints; there are gaps, or nothing would have been struck.
    """
    count = li(rec, REC_STRUCK_COUNT)
    at = li(rec, REC_STRUCK) + 8 * lc(A, STRUCK_WIDTH) * count
    st(at, 0, li(f, COUNTERS + K_ROWS))
    st(at, 1, ld(f, SCALARS + WORK_DRIVERS_IMPACT))
    at, first = pack(A, left, at + 16), f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(at, 0, ld(gap, impulse))
        at += 8
    first = f + lc(A, JOINTS)
    for k in range(lc(A, N_JOINTS)):
        joint = first + JOINT_STEP * k
        copy(joint + 8 * reaction, at, 3)
        at += 24
    si(rec, REC_STRUCK_COUNT, count + 1)


@njit(**OPT)
def write_row(A, f, rec, normal, tangential, reaction):  # type: ignore[no-untyped-def]
    """Time, motion, impulses, modes, reactions, work of drivers and loss by friction, of a step or of several.

    `normal` and `tangential` are fields of gaps, `reaction` one of joints.
    """
    gaps, count = lc(A, N_GAPS), li(f, COUNTERS + K_ROWS)
    row = li(rec, REC_ROWS) + 8 * lc(A, ROW_WIDTH) * count
    st(row, 0, ld(f, TIME + 1))
    at, gap, rough = row_of_gaps(A, row), f + lc(A, GAPS), lc(A, ROUGH)
    modes = at + 8 * gaps * (1 + rough)
    if not li(f, WRITTEN):
        # one after the other: a vector's zero falls on what is written after it, at last on the two scalars
        pack_motion(A, f, row + 8)
        for i in range(gaps):
            st(at, i, ld(gap, normal))
            if rough:
                st(at, gaps + i, ld(gap, tangential))
            sb(modes, i, li(gap, S_MODE))
            gap += GAP_STEP
    si(f, WRITTEN, 0)
    at, first = modes + 8 * ((gaps + 7) // 8), f + lc(A, JOINTS)
    for k in range(lc(A, N_JOINTS)):
        joint = first + JOINT_STEP * k
        copy4(joint + 8 * reaction, at)
        at += 24
    st(at, 0, ld(f, SCALARS + WORK_DRIVERS))
    st(at, 1, ld(f, SCALARS + LOSS_FRICTION))
    si(f, COUNTERS + K_ROWS, count + 1)
    si(f, COUNTERS + K_SINCE, 0)


@njit(**OPT)
def write_sums(A, f, rec):  # type: ignore[no-untyped-def]
    """A row of the steps since the last one."""
    copy(f + 8 * SUM_SCALARS, f + 8 * SCALARS, N_SCALARS)
    clear(f + 8 * SUM_SCALARS, N_SCALARS)
    if ld(f, SCALARS + HITS) > 0.0:
        left = more(A, f, S_LEFT) if li(f, HIT) else f + 8 * V
        write_struck(A, f, rec, left, SUM_PNI, SUM_REACTION_I)
    write_row(A, f, rec, SUM_PN, SUM_PT, SUM_REACTION)
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        for field in (SUM_PN, SUM_PT, SUM_PNI):
            st(gap, field, 0.0)
    clear_joints(A, f, SUM_REACTION)
    clear_joints(A, f, SUM_REACTION_I)


@njit(**OPT)
def add_step(A, f, hit):  # type: ignore[no-untyped-def]
    """Reactions, scalars and impacts of a step to the sums since the last row."""
    first = f + lc(A, JOINTS)
    for k in range(lc(A, N_JOINTS)):
        joint = first + JOINT_STEP * k
        gain4(joint + 8 * SUM_REACTION, ld(f, SCALARS + DT), joint + 8 * S_REACTION)
        if hit:
            gain4(joint + 8 * SUM_REACTION_I, 1.0, joint + 8 * S_REACTION_I)
    if hit:
        first = f + lc(A, GAPS)
        for k in range(lc(A, N_GAPS)):
            gap = first + GAP_STEP * k
            st(gap, SUM_PNI, ld(gap, SUM_PNI) + ld(gap, S_PNI))
    st(f, SCALARS + HITS, hit)
    add_up(f + 8 * SCALARS, f + 8 * SUM_SCALARS, N_SCALARS, 1.0)


def finish_step(A, f, rec):  # type: ignore[no-untyped-def]
    """Count an accepted step, add it up, and write every so-many-th."""
    hit, v = li(f, HIT), f + 8 * V
    si(f, COUNTERS + K_STEPS, li(f, COUNTERS + K_STEPS) + 1)
    worst_numbers(f)
    if lc(A, RECORD) == 1:
        if hit:
            note_impacts(A, f, rec)
            write_struck(A, f, rec, more(A, f, S_LEFT), S_PNI, S_REACTION_I)
        write_row(A, f, rec, P_N, P_T, S_REACTION)
        return 0
    si(f, COUNTERS + K_SINCE, li(f, COUNTERS + K_SINCE) + 1)
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(gap, SUM_PN, ld(gap, SUM_PN) + ld(gap, P_N))
        st(gap, SUM_PT, ld(gap, SUM_PT) + ld(gap, P_T))
    left = v
    if not lc(A, BRIEF):
        add_step(A, f, hit)
        if hit:
            note_impacts(A, f, rec)
            left = more(A, f, S_LEFT)
    if lc(A, OBSERVE):
        observe(A, f, ld(f, TIME + 1), ld(f, SCALARS + DT), f + 8 * Q, left, v)
    if li(f, COUNTERS + K_SINCE) == lc(A, RECORD):
        if lc(A, OBSERVE):
            write_view(A, f, rec, li(f, COUNTERS + K_ROWS), left, v)
        write_sums(A, f, rec)
    return 0


@njit(**OPT)
def first_row(A, f, rec):  # type: ignore[no-untyped-def]
    """The start as row 0, with the impact that it begins with."""
    v, hit = f + 8 * V, li(f, HIT)
    left = more(A, f, S_LEFT) if hit else v
    if lc(A, RECORD) > 1:
        observe(A, f, ld(f, TIME + 1), 0.0, f + 8 * Q, left, v)
        write_view(A, f, rec, li(f, COUNTERS + K_ROWS), left, v)
    if hit:
        worst_numbers(f)
        note_impacts(A, f, rec)
        write_struck(A, f, rec, left, S_PNI, S_REACTION_I)
        write_row(A, f, rec, P_N, P_T, SUM_REACTION)
    else:
        write_row(A, f, rec, SUM_PN, SUM_PT, SUM_REACTION)


@njit(**OPT)
def last_row(A, f, rec):  # type: ignore[no-untyped-def]
    """What is left since the last row."""
    if lc(A, OBSERVE):
        left = more(A, f, S_LEFT) if li(f, HIT) else f + 8 * V
        write_view(A, f, rec, li(f, COUNTERS + K_ROWS), left, f + 8 * V)
    write_sums(A, f, rec)
