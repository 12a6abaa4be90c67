"""Rows, energies, and what is seen of each step."""

# ruff: noqa: F403, F405

from __future__ import annotations

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.table import *


@njit(**OPT)
def powers(A, f, z, v):  # type: ignore[no-untyped-def]
    """Power of loads and of dampers, at velocities v."""
    loads = damping = 0.0
    if lc(A, VARYING):
        evaluate(A, f, lc(A, FORCE_0), lc(A, FORCE_1), z, v, f)
    for g in range(lc(A, STATIC_0), lc(A, FORCE_1)):
        stored = lc(lc(A, G_STORED), g)
        if stored:
            continue
        a, b, stride, out = lc(lc(A, G_A), g), lc(lc(A, G_B), g), lc(lc(A, G_STRIDE), g), f + lc(lc(A, G_OUT), g)
        power = 0.0
        for i in range(lc(lc(A, G_SIZE), g)):
            x, y = li(a, i), li(b, i)
            for d in range(3):
                power += ld(out, stride * i + d) * ld(v, 3 * x + d) + ld(out, stride * i + 3 + d) * ld(v, 3 * y + d)
        if lc(lc(A, G_DAMPING), g):
            damping += power
        else:
            loads += power
    return loads, damping


@njit(**OPT)
def potential(A, f, z, v):  # type: ignore[no-untyped-def]
    value = 0.0
    for g in range(lc(A, STATIC_0), lc(A, STATIC_1)):
        if lc(lc(A, G_STORED), g) == 2:  # gravity
            a, stride, out = lc(lc(A, G_A), g), lc(lc(A, G_STRIDE), g), f + lc(lc(A, G_OUT), g)
            for i in range(lc(lc(A, G_SIZE), g)):
                b = li(a, i)
                value -= ld(out, stride * i) * ld(z, 4 * b) + ld(out, stride * i + 1) * ld(z, 4 * b + 1)
    evaluate(A, f, lc(A, POTENTIAL_0), lc(A, POTENTIAL_1), z, v, f)
    for g in range(lc(A, POTENTIAL_0), lc(A, POTENTIAL_1)):
        out = f + lc(lc(A, G_OUT), g)
        for i in range(lc(lc(A, G_SIZE), g)):
            value += ld(out, i)
    return value


@njit(**OPT)
def kinetic(A, f, v):  # type: ignore[no-untyped-def]
    x = 0.0
    for k in range(3, 3 * lc(A, N_BODIES) + 3):
        x += ld(f + lc(A, MASS), k) * ld(v, k) ** 2
    return x / 2


@njit(**OPT)
def worst_numbers(scalars, worst):  # type: ignore[no-untyped-def]
    for x, k in ((COMPLEMENTARITY, W_COMPLEMENTARITY), (RESIDUAL, W_RESIDUAL)):
        if not ld(scalars, x) <= ld(worst, k):
            st(worst, k, ld(scalars, x))


@njit(**OPT)
def observe(A, f, t, dt, q, left, v):  # type: ignore[no-untyped-def]
    """True gaps, misfits of joints and energies of a row; sums and worst values of the run go on.

    `left` are the velocities before its impacts, the same address as `v` where there are none.
    """
    z, worst, totals, energy, last = (
        f + lc(A, ZM), f + lc(A, WORST), f + lc(A, TOTALS), f + lc(A, S_ENERGY), f + lc(A, LAST_POWER),
    )  # fmt: skip
    scalars = f + lc(A, S_SCALARS)
    st(f + lc(A, TIME), 0, t)
    place(A, q, z)
    evaluate(A, f, lc(A, SURFACE_0), lc(A, SURFACE_1), z, v, f)
    for i in range(lc(A, N_GAPS)):
        gap = ld(f + lc(lc(A, GAP_D), i), 0)
        if not -gap <= ld(worst, W_GAP):
            st(worst, W_GAP, -gap)
    if lc(A, N_ROWS):
        evaluate(A, f, lc(A, CLOSURE_0), lc(A, CLOSURE_1), z, v, f)
        for r in range(lc(A, N_ROWS)):
            misfit = abs(ld(f + lc(lc(A, ROW_C), r), 0))
            if not misfit <= ld(worst, W_JOINT):
                st(worst, W_JOINT, misfit)
    right = kinetic(A, f, v)
    loads, damping = powers(A, f, z, v)
    before, loads_left, damping_left = right, loads, damping
    if left != v:
        before = kinetic(A, f, left)
        loads_left, damping_left = powers(A, f, z, left)
        st(totals, T_IMPACTS, ld(totals, T_IMPACTS) + (before - right + ld(scalars, WORK_DRIVERS_IMPACT)))
    st(totals, T_LOADS, ld(totals, T_LOADS) + dt * (ld(last, 0) + loads_left) / 2)
    st(totals, T_DAMPING, ld(totals, T_DAMPING) - dt * (ld(last, 1) + damping_left) / 2)
    st(last, 0, loads)
    st(last, 1, damping)
    st(totals, T_DRIVERS, ld(totals, T_DRIVERS) + ld(scalars, WORK_DRIVERS))
    st(totals, T_FRICTION, ld(totals, T_FRICTION) + ld(scalars, LOSS_FRICTION))
    st(energy, 0, right)
    st(energy, 1, potential(A, f, z, v))
    copy(totals, energy + 16, N_TOTALS)


@njit(**OPT)
def write_view(A, f, rec, row, left, v):  # type: ignore[no-untyped-def]
    """What `observe` found, into a row of the record."""
    gaps = lc(A, N_GAPS)
    for i in range(gaps):
        a, b, J = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), f + lc(lc(A, GAP_R), i)
        rate = along(J, a, b, v)
        st(li(rec, REC_GAP), row * gaps + i, ld(f + lc(lc(A, GAP_D), i), 0))
        st(li(rec, REC_RATE), row * gaps + i, rate)
        st(li(rec, REC_RATE_LEFT), row * gaps + i, along(J, a, b, left) if left != v else rate)
    copy(f + lc(A, S_ENERGY), li(rec, REC_ENERGY) + 56 * row, 7)


@njit(**OPT)
def observe_rows(A, f, rec, first, last, struck):  # type: ignore[no-untyped-def]
    """`observe` over recorded rows, where each step has one; `struck` counts those with impacts before, and after."""
    width, size = lc(A, ROW_WIDTH), 3 * lc(A, N_BODIES)
    q, v, left, scalars = f + lc(A, QM), f + lc(A, BASE), f + lc(A, WORK), f + lc(A, S_SCALARS)
    clear(q, 3)
    clear(v, 3)
    clear(left, 3)
    for i in range(first, last):
        row = li(rec, REC_ROWS) + 8 * width * i
        copy(row + 8, q + 24, size)
        copy(row + 8 + 8 * size, v + 24, size)
        t = ld(row, 0)
        dt = t - ld(row - 8 * width, 0) if i > 0 else 0.0
        st(scalars, WORK_DRIVERS, ld(row, width - 2))
        st(scalars, LOSS_FRICTION, ld(row, width - 1))
        hit = li(rec, REC_STRUCK) + 8 * lc(A, STRUCK_WIDTH) * struck
        at = v
        if struck < li(rec, REC_STRUCK_COUNT) and ld(hit, 0) == i:
            copy(hit + 16, left + 24, size)
            st(scalars, WORK_DRIVERS_IMPACT, ld(hit, 1))
            at = left
            struck += 1
        observe(A, f, t, dt, q, at, v)
        write_view(A, f, rec, i, at, v)
    return struck


@njit(**OPT)
def note_impacts(A, f, rec, t):  # type: ignore[no-untyped-def]
    """Rows of the table of impacts: t, contact, P_N, P_T, gamma-, gamma+."""
    table, count = li(rec, REC_IMPACTS), li(rec, REC_IMPACT_COUNT)
    for i in range(lc(A, N_GAPS)):
        p = ld(f + lc(A, S_PNI), i)
        if p > 0.0:
            row = table + 48 * count
            st(row, 0, t)
            st(row, 1, i)
            st(row, 2, p)
            st(row, 3, ld(f + lc(A, P_T), i))
            st(row, 4, ld(f + lc(A, S_MINUS), i))
            st(row, 5, ld(f + lc(A, S_PLUS), i))
            count += 1
    si(rec, REC_IMPACT_COUNT, count)


@njit(**OPT)
def write_struck(A, f, rec, row, left, impulses, reaction):  # type: ignore[no-untyped-def]
    """What a row with impacts holds besides: its number, work, velocities before, impulses, reactions."""
    gaps, joints, size = lc(A, N_GAPS), 3 * lc(A, N_JOINTS), 3 * lc(A, N_BODIES)
    count = li(rec, REC_STRUCK_COUNT)
    at = li(rec, REC_STRUCK) + 8 * lc(A, STRUCK_WIDTH) * count
    st(at, 0, row)
    st(at, 1, ld(f + lc(A, S_SCALARS), WORK_DRIVERS_IMPACT))
    copy(left + 24, at + 16, size)
    copy(impulses, at + 16 + 8 * size, gaps)
    copy(reaction, at + 16 + 8 * (size + gaps), joints)
    si(rec, REC_STRUCK_COUNT, count + 1)


@njit(**OPT)
def write_row(A, f, rec, impulses, tangential, reaction):  # type: ignore[no-untyped-def]
    """Time, motion, impulses, modes, reactions, work of drivers and loss by friction, of a step or of several."""
    gaps, joints, counters, size = lc(A, N_GAPS), 3 * lc(A, N_JOINTS), f + lc(A, COUNTERS), 3 * lc(A, N_BODIES)
    k, width = li(counters, K_ROWS), lc(A, ROW_WIDTH)
    row, scalars = li(rec, REC_ROWS) + 8 * width * k, f + lc(A, S_SCALARS)
    st(row, 0, ld(f + lc(A, TIME), 1))
    copy(f + lc(A, Q) + 24, row + 8, size)
    copy(f + lc(A, V) + 24, row + 8 + 8 * size, size)
    at = row + 8 + 16 * size
    copy(impulses, at, gaps)
    at += 8 * gaps
    if lc(A, ROUGH):
        copy(tangential, at, gaps)
        at += 8 * gaps
    copy(f + lc(A, S_MODE), at, (gaps + 7) // 8)
    at += 8 * ((gaps + 7) // 8)
    copy(reaction, at, joints)
    st(row, width - 2, ld(scalars, WORK_DRIVERS))
    st(row, width - 1, ld(scalars, LOSS_FRICTION))
    si(counters, K_ROWS, k + 1)
    si(counters, K_SINCE, 0)


@njit(**OPT)
def write_sums(A, f, rec):  # type: ignore[no-untyped-def]
    """A row of the steps since the last one."""
    gaps, joints, scalars = lc(A, N_GAPS), 3 * lc(A, N_JOINTS), f + lc(A, S_SCALARS)
    sums, row = f + lc(A, SUM_SCALARS), li(f + lc(A, COUNTERS), K_ROWS)
    copy(sums, scalars, N_SCALARS)
    clear(sums, N_SCALARS)
    if ld(scalars, HITS) > 0.0:
        left = f + (lc(A, S_LEFT) if li(f + lc(A, HIT), 0) else lc(A, V))
        write_struck(A, f, rec, row, left, f + lc(A, SUM_PNI), f + lc(A, SUM_REACTION_I))
    write_row(A, f, rec, f + lc(A, SUM_PN), f + lc(A, SUM_PT), f + lc(A, SUM_REACTION))
    for where, n in ((SUM_PN, gaps), (SUM_PNI, gaps), (SUM_PT, gaps), (SUM_REACTION, joints), (SUM_REACTION_I, joints)):
        clear(f + lc(A, where), n)


def finish_step(A, f, rec):  # type: ignore[no-untyped-def]
    """Count an accepted step, add it up, and write every so-many-th."""
    counters, scalars, hit = f + lc(A, COUNTERS), f + lc(A, S_SCALARS), li(f + lc(A, HIT), 0)
    si(counters, K_STEPS, li(counters, K_STEPS) + 1)
    worst_numbers(scalars, f + lc(A, WORST))
    if lc(A, RECORD) == 1:
        if hit:
            note_impacts(A, f, rec, ld(f + lc(A, TIME), 1))
            row = li(counters, K_ROWS)
            write_struck(A, f, rec, row, f + lc(A, S_LEFT), f + lc(A, S_PNI), f + lc(A, S_REACTION_I))
        write_row(A, f, rec, f + lc(A, P_N), f + lc(A, P_T), f + lc(A, S_REACTION))
        return 0
    si(counters, K_SINCE, li(counters, K_SINCE) + 1)
    gaps, joints = lc(A, N_GAPS), 3 * lc(A, N_JOINTS)
    add_up(f + lc(A, P_N), f + lc(A, SUM_PN), gaps, 1.0)
    add_up(f + lc(A, P_T), f + lc(A, SUM_PT), gaps, 1.0)
    if not lc(A, BRIEF):
        add_up(f + lc(A, S_REACTION), f + lc(A, SUM_REACTION), joints, ld(scalars, DT))
        st(scalars, HITS, hit)
        if hit:
            add_up(f + lc(A, S_PNI), f + lc(A, SUM_PNI), gaps, 1.0)
            add_up(f + lc(A, S_REACTION_I), f + lc(A, SUM_REACTION_I), joints, 1.0)
            note_impacts(A, f, rec, ld(f + lc(A, TIME), 1))
        add_up(scalars, f + lc(A, SUM_SCALARS), N_SCALARS, 1.0)
    if lc(A, OBSERVE):
        left = f + (lc(A, S_LEFT) if hit and not lc(A, BRIEF) else lc(A, V))
        observe(A, f, ld(f + lc(A, TIME), 1), ld(scalars, DT), f + lc(A, Q), left, f + lc(A, V))
    if li(counters, K_SINCE) == lc(A, RECORD):
        if lc(A, OBSERVE):
            write_view(A, f, rec, li(counters, K_ROWS), left, f + lc(A, V))
        write_sums(A, f, rec)
    return 0


@njit(**OPT)
def first_row(A, f, rec):  # type: ignore[no-untyped-def]
    """The start as row 0."""
    if lc(A, RECORD) > 1:
        v = f + lc(A, V)
        observe(A, f, ld(f + lc(A, TIME), 1), 0.0, f + lc(A, Q), v, v)
        write_view(A, f, rec, li(f + lc(A, COUNTERS), K_ROWS), v, v)
    write_row(A, f, rec, f + lc(A, SUM_PN), f + lc(A, SUM_PT), f + lc(A, SUM_REACTION))


@njit(**OPT)
def last_row(A, f, rec):  # type: ignore[no-untyped-def]
    """What is left since the last row."""
    if lc(A, OBSERVE):
        left = f + (lc(A, S_LEFT) if li(f + lc(A, HIT), 0) else lc(A, V))
        write_view(A, f, rec, li(f + lc(A, COUNTERS), K_ROWS), left, f + lc(A, V))
    write_sums(A, f, rec)
