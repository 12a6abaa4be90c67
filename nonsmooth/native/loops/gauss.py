"""Gauss' implicit Euler: linearised gaps and joints, until the true ones close."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.table import *


@njit(**OPT)
def gauss_errors(A, f, u, t1):  # type: ignore[no-untyped-def]
    """Residual of implicit Euler's equations at the end of the step, as its Python twin defines it."""
    dt = t1 - ld(f + lc(A, TIME), 1)
    out_j, out_c = f + lc(A, OUT_J1), f + lc(A, OUT_C1)
    N, T = f + lc(A, P_N), f + lc(A, P_T)
    worst, size = momentum_error(A, f, f + lc(A, V), u, dt, out_c, N, T, out_j, f + lc(A, P_A), out_j, f + lc(A, P_B))
    if not math.isfinite(size):
        return math.inf
    for r in range(lc(A, N_ROWS)):
        worst = max(worst, abs(ld(out_j + lc(lc(A, ROW_G), r), 0)))
    rough, longest = lc(A, ROUGH), ld(f + lc(A, OPTIONS), O_LONGEST)
    for i in range(lc(A, N_GAPS)):
        scale, y = ld(f + lc(A, SCALE), i), ld(f + lc(A, Y_SCALE), i)
        worst = max(worst, abs(min(ld(out_c + lc(lc(A, GAP_G), i), 0) / scale, ld(N, i) / y)))
        if rough:
            slip = along(out_c + lc(lc(A, GAP_T), i), lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), u)
            force, reach = ld(T, i) / y, ld(f + lc(A, FRICTION), i) * ld(N, i) / y
            worst = max(worst, abs(force - min(max(force - slip * longest / scale, -reach), reach)))
    return worst


def gauss_step(A, f, t1):  # type: ignore[no-untyped-def]
    """One step of implicit Euler to t1: linearised gaps and joints, until the true ones close."""
    gaps, rows, n = lc(A, N_GAPS), lc(A, N_ROWS), 3 * lc(A, N_BODIES) + 3
    t0 = ld(f + lc(A, TIME), 1)
    dt = t1 - t0
    q, v, u, vp, q1, z1 = f + lc(A, Q), f + lc(A, V), f + lc(A, U), f + lc(A, VP), f + lc(A, Q1), f + lc(A, Z1)
    out_j, out_c, out_c0, kick, base = (
        f + lc(A, OUT_J1),
        f + lc(A, OUT_C1),
        f + lc(A, OUT_C0),
        f + lc(A, KICK),
        f + lc(A, BASE),
    )
    N, T, P = f + lc(A, P_N), f + lc(A, P_T), f + lc(A, P_B)
    active, struck, closed_gap = f + lc(A, ACTIVE), f + lc(A, STRUCK), ld(f + lc(A, OPTIONS), O_CLOSED_GAP)
    for i in range(gaps):
        si(active, i, 1)
    recall_modes(A, f)
    for i in range(gaps):
        J = out_c0 + lc(lc(A, GAP_N), i)
        rate = along(J, lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), v)
        st(f + lc(A, S_MINUS), i, rate)
        is_open = ld(out_c0 + lc(lc(A, GAP_G), i), 0) > closed_gap * ld(f + lc(A, SCALE), i)
        striking = is_open or rate < 0.0 and rate < -zero_rate(A, f, i, J, v)
        si(struck, i, 1 if striking else 0)
        if striking:
            st(N, i, 0.0)
            st(T, i, 0.0)
    # the start: the last step's impulses go on, and the forces at its end
    kick_of(A, f, dt)
    for k in range(n):
        st(u, k, ld(v, k) + ld(kick, k))
    push_contacts(A, f, out_c0, N, T, u)
    push_joints(A, f, f + lc(A, OUT_J0), P, u)
    before, error = math.inf, math.inf
    settled = False
    for k in range(PASSES):
        move(A, q, u, dt, q1)
        place(A, q1, z1)
        joints_at(A, f, t1, z1, u, out_j)
        contacts_at(A, f, z1, u, out_c)
        if lc(A, VARYING):
            forces_at(A, f, t1, z1, u)
        before, error = error, gauss_errors(A, f, u, t1)
        if not math.isfinite(error):
            return UNCERTAIN
        if error <= 3e-15 or (k > 0 and error >= 0.5 * before and error <= 1e-11):
            settled = True
            break
        if lc(A, VARYING):
            kick_of(A, f, dt)
        for j in range(n):
            st(base, j, ld(v, j) + ld(kick, j))
        for r in range(rows):
            J, a, b = out_j + lc(lc(A, ROW_J), r), lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r)
            st(f + lc(A, SHIFT_J), r, ld(out_j + lc(lc(A, ROW_G), r), 0) / dt - along(J, a, b, u))
        for i in range(gaps):
            J, a, b = out_c + lc(lc(A, GAP_N), i), lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
            st(f + lc(A, SHIFT_N), i, ld(out_c + lc(lc(A, GAP_G), i), 0) / dt - along(J, a, b, u))
            st(f + lc(A, SHIFT_T), i, 0.0)
        if rows:
            factor_joints(A, f, out_j)
        if not call_solve(lc(A, SOLVE), A, f, out_j, out_c, base, P, vp):
            return UNCERTAIN
        copy(vp, u, n)
    if not settled:
        return UNCERTAIN
    turn = ld(f + lc(A, OPTIONS), O_TURN)
    for b in range(1, lc(A, N_BODIES) + 1):
        if abs(ld(u, 3 * b + 2) - ld(v, 3 * b + 2)) * dt > turn:
            return UNCERTAIN
    gauss_record(A, f, t1, error)
    return DONE


@njit(**OPT)
def gauss_record(A, f, t1, error):  # type: ignore[no-untyped-def]
    """What the step leaves for its row, and the state at its end."""
    gaps, rows, n = lc(A, N_GAPS), lc(A, N_ROWS), 3 * lc(A, N_BODIES) + 3
    dt = t1 - ld(f + lc(A, TIME), 1)
    u, v, out_c, out_c0, out_j = f + lc(A, U), f + lc(A, V), f + lc(A, OUT_C1), f + lc(A, OUT_C0), f + lc(A, OUT_J1)
    N, T, rough = f + lc(A, P_N), f + lc(A, P_T), lc(A, ROUGH)
    natural = loss = work = 0.0
    hit = 0
    for i in range(gaps):
        a, b = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
        gap, p = ld(out_c + lc(lc(A, GAP_G), i), 0), ld(N, i)
        scale = ld(f + lc(A, SCALE), i)
        touching = gap <= ld(f + lc(A, OPTIONS), O_CLOSED_GAP) * scale
        natural = max(natural, abs(min(gap / scale, p / ld(f + lc(A, Y_SCALE), i))))
        striking = li(f + lc(A, STRUCK), i)
        if (
            striking
            and ld(f + lc(A, BEFORE), i) > 0.0
            and (ld(out_c0 + lc(lc(A, GAP_G), i), 0) <= ld(f + lc(A, OPTIONS), O_CLOSED_GAP) * scale)
        ):  # a contact that lasts, and whose direction turns
            rate, J = ld(f + lc(A, S_MINUS), i), lc(lc(A, GAP_N), i)
            if -rate <= abs(along(out_c + J, a, b, v) - rate):
                striking = 0
        st(f + lc(A, S_PNI), i, p if striking else 0.0)
        sb(f + lc(A, S_MODE), i, mode_of(A, f, i, touching, p, ld(T, i)))
        if striking and p > 0.0:
            hit = 1
            st(f + lc(A, S_PLUS), i, along(out_c + lc(lc(A, GAP_N), i), a, b, u))
        if rough and not striking:
            D, E = out_c0 + lc(lc(A, GAP_T), i), out_c + lc(lc(A, GAP_T), i)
            loss -= ld(T, i) * (along(D, a, b, v) + along(E, a, b, u)) / 2
        if ld(f + lc(A, CLOSED), i) > 0.0 and not touching:
            st(f + lc(A, LEFT_AT), i, t1)
        st(f + lc(A, CLOSED), i, 1.0 if touching else 0.0)
    if rows:
        if not lc(A, BRIEF):
            clear(f + lc(A, S_REACTION), 3 * lc(A, N_JOINTS))
            reactions(A, f, out_j, f + lc(A, Z1), f + lc(A, P_B), 1.0 / dt, f + lc(A, S_REACTION))
        for r in range(rows):
            work -= ld(f + lc(A, P_B), r) * ld(out_j + lc(lc(A, ROW_T), r), 0)
    si(f + lc(A, HIT), 0, hit)
    if hit:
        copy(u, f + lc(A, S_LEFT), n)
    scalars = f + lc(A, S_SCALARS)
    st(scalars, DT, dt)
    st(scalars, RESIDUAL, error)
    st(scalars, COMPLEMENTARITY, natural)
    st(scalars, WORK_DRIVERS, work)
    st(scalars, WORK_DRIVERS_IMPACT, 0.0)
    st(scalars, LOSS_FRICTION, loss)
    advance_state(A, f, t1, u)


@njit(**OPT)
def advance_state(A, f, t1, v1):  # type: ignore[no-untyped-def]
    n = 3 * lc(A, N_BODIES) + 3
    copy(f + lc(A, Q1), f + lc(A, Q), n)
    copy(v1, f + lc(A, V), n)
    copy(f + lc(A, Z1), f + lc(A, Z0), 4 * lc(A, N_BODIES) + 4)
    copy(f + lc(A, OUT_J1), f + lc(A, OUT_J0), (lc(A, OUT_C0) - lc(A, OUT_J1)) // 8)
    if lc(A, SCHEME) == GAUSS:
        copy(f + lc(A, OUT_C1), f + lc(A, OUT_C0), (lc(A, OUT_C1) - lc(A, OUT_C0)) // 8)
    st(f + lc(A, TIME), 1, t1)
