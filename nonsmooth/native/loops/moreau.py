"""Moreau and Jean's scheme, ideal joints as in RATTLE."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.gauss import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.table import *


@njit(**OPT)
def go_on(P, history, width, i):  # type: ignore[no-untyped-def]
    """P_i by the parabola through its last three values."""
    st(P, i, 3.0 * (ld(history, 0) - ld(history, width)) + ld(history, 2 * width))


@njit(**OPT)
def remember(A, f, P):  # type: ignore[no-untyped-def]
    """The impulses of a step without impacts, P those of joints, before those of the two steps before it."""
    history, rows, gaps = f + lc(A, HISTORY), lc(A, N_ROWS), lc(A, N_GAPS)
    width = rows + 2 * gaps
    for k in range(2 * width - 1, -1, -1):
        st(history, k + width, ld(history, k))
    copy(f + lc(A, P_N), history, gaps)
    copy(f + lc(A, P_T), history + 8 * gaps, gaps)
    copy(P, history + 16 * gaps, rows)


@njit(**OPT)
def moreau_contacts(A, f, dt):  # type: ignore[no-untyped-def]
    """Gaps at q moved by v for dt/2: which are closed, what the laws add to their rates, the modes to begin with."""
    q, v, out, options = f + lc(A, Q), f + lc(A, V), f + lc(A, OUT_C1), f + lc(A, OPTIONS)
    some = False
    move(A, q, v, dt / 2, f + lc(A, QM))
    place(A, f + lc(A, QM), f + lc(A, ZM))
    contacts_at(A, f, f + lc(A, ZM), v, out)
    for i in range(lc(A, N_GAPS)):
        a, b = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
        if ld(out + lc(lc(A, GAP_G), i), 0) <= ld(options, O_CLOSED_GAP) * ld(f + lc(A, SCALE), i):
            rate = along(out + lc(lc(A, GAP_N), i), a, b, v)
            st(f + lc(A, S_MINUS), i, rate)
            si(f + lc(A, ACTIVE), i, 1)
            some = True
            st(f + lc(A, SHIFT_N), i, rebound(A, f, i, rate))
            slip = 0.0
            if rate < 0.0 and lc(A, ROUGH):
                slip = ld(f + lc(A, TANGENTIAL), i) * along(out + lc(lc(A, GAP_T), i), a, b, v)
            st(f + lc(A, SHIFT_T), i, slip)
        else:
            si(f + lc(A, ACTIVE), i, 0)
            st(f + lc(A, P_N), i, 0.0)
            st(f + lc(A, P_T), i, 0.0)
    recall_modes(A, f)
    return some


@njit(**OPT)
def moreau_forces(A, f, t0, dt, theta, u):  # type: ignore[no-untyped-def]
    if lc(A, VARYING):
        move(A, f + lc(A, Q), u, theta * dt, f + lc(A, QM))
        place(A, f + lc(A, QM), f + lc(A, ZM))
        forces_at(A, f, t0 + theta * dt, f + lc(A, ZM), u)
    kick_of(A, f, dt)


@njit(**OPT)
def moreau_free(A, f, t0, dt, theta, some):  # type: ignore[no-untyped-def]
    """The passes of a mechanism without joints: forces at the point theta, contacts as one program."""
    n = 3 * lc(A, N_BODIES) + 3
    v, u, vp, base, kick = f + lc(A, V), f + lc(A, U), f + lc(A, VP), f + lc(A, BASE), f + lc(A, KICK)
    mass, before = f + lc(A, MASS), math.inf
    copy(v, u, n)
    for k in range(PASSES):
        moreau_forces(A, f, t0, dt, theta, u)
        change = size = 0.0
        for j in range(n):
            new = ld(v, j) + ld(kick, j)
            change += ld(mass, j) * (new - ld(base, j)) ** 2
            size += ld(mass, j) * (ld(v, j) ** 2 + ld(kick, j) ** 2)
            st(base, j, new)
        change = math.sqrt(change) / max(math.sqrt(size), TINY)
        if k > 0 and (change <= 1e-16 or (change >= before and change <= 1e-11)):
            return True
        before = change if k > 0 else math.inf
        if some:
            if not call_solve(lc(A, SOLVE), A, f, f + lc(A, OUT_J1), f + lc(A, OUT_C1), base, f + lc(A, P_B), vp):
                return False
        else:
            copy(base, vp, n)
        for j in range(n):
            st(u, j, ld(v, j) + theta * (ld(vp, j) - ld(v, j)))
        if not lc(A, VARYING):
            return True
    return False


@njit(**OPT)
def moreau_guess(A, f, theta, some):  # type: ignore[no-untyped-def]
    """u, and what joints at the end push from, of impulses that go on as before; whether those of contacts do."""
    n, v, u, base, rows = 3 * lc(A, N_BODIES) + 3, f + lc(A, V), f + lc(A, U), f + lc(A, BASE), lc(A, N_ROWS)
    kick, pushed, history, gaps = f + lc(A, KICK), f + lc(A, PUSH), f + lc(A, HISTORY), lc(A, N_GAPS)
    N, T, width, lasting = f + lc(A, P_N), f + lc(A, P_T), rows + 2 * gaps, True
    for r in range(rows):
        go_on(f + lc(A, P_A), history + 8 * (2 * gaps + r), width, r)
    for k in range(n):
        st(base, k, ld(v, k) + ld(kick, k))
    push_joints(A, f, f + lc(A, OUT_J0), f + lc(A, P_A), base)
    clear(pushed, n)
    if some:
        for i in range(gaps):
            if li(f + lc(A, ACTIVE), i):
                if ld(N, i) > 0.0 and ld(history, i + 2 * width) > 0.0:
                    go_on(N, history + 8 * i, width, i)
                    go_on(T, history + 8 * (gaps + i), width, i)
                else:
                    st(N, i, 0.0)
                    st(T, i, 0.0)
                    lasting = False
        push_contacts(A, f, f + lc(A, OUT_C1), N, T, pushed)
    for k in range(n):
        st(u, k, ld(base, k) - (1.0 - theta) * ld(kick, k) + theta * ld(pushed, k))
    return lasting


@njit(**OPT)
def correct_start(A, f, close):  # type: ignore[no-untyped-def]
    """Impulses at the start that take SHIFT_J from the rates of the joints at the end; u and what is pushed follow.

    Iterates with the symmetric matrix of one of both times, up to `close`.
    """
    change, n, x = f + lc(A, WORK), 3 * lc(A, N_BODIES) + 3, f + lc(A, RHS_A)
    u, base = f + lc(A, U), f + lc(A, BASE)
    clear(change, n)
    for _ in range(CORRECTIONS):
        joint_rates(A, f, f + lc(A, OUT_J1), change, f + lc(A, SHIFT_J), x)
        worst = 0.0
        for k in range(lc(A, N_JOINT_BLOCKS)):
            s = lc(lc(A, B_SLOT), k)
            for i in range(s, s + lc(lc(A, B_COUNT), k)):
                worst = max(worst, abs(ld(x, i)))
        if worst <= close:
            break
        substitute(A, f, lc(A, N_JOINT_BLOCKS), f + lc(A, LU), x)
        take_joint_impulses(A, f, x, f + lc(A, P_A), True)
        push_joint_slots(A, f, f + lc(A, OUT_J0), x, change)
    for k in range(3, n):
        d = ld(change, k)
        st(u, k, ld(u, k) + d)
        st(base, k, ld(base, k) + d)


@njit(**OPT)
def misfits(A, f, dt):  # type: ignore[no-untyped-def]
    """SHIFT_J = g / dt; the largest."""
    J1, shift, worst = f + lc(A, OUT_J1), f + lc(A, SHIFT_J), 0.0
    for r in range(lc(A, N_ROWS)):
        y = ld(J1 + lc(lc(A, ROW_G), r), 0) / dt
        st(shift, r, y)
        worst = max(worst, abs(y))
        if not math.isfinite(y):
            return math.inf
    return worst


@njit(**OPT)
def moreau_joints(A, f, t0, t1, theta, some):  # type: ignore[no-untyped-def]
    """The passes of a mechanism with joints, as in RATTLE; whether they came to an end.

    Impulses at the start close the joints at the end. They are corrected with the matrix of the joints as it was
    factored last, whose directions differ by what a step turns: by that much each pass contracts. Velocities at the
    end are solved for with the directions there, once the joints have closed; where contacts answer, they move u in
    turn, until nothing moves by more than round-off.
    """
    n, rows, dt = 3 * lc(A, N_BODIES) + 3, lc(A, N_ROWS), t1 - t0
    q, v, u, base, mass = f + lc(A, Q), f + lc(A, V), f + lc(A, U), f + lc(A, BASE), f + lc(A, MASS)
    J1, out_c, shift, z1 = f + lc(A, OUT_J1), f + lc(A, OUT_C1), f + lc(A, SHIFT_J), f + lc(A, Z1)
    kick, pushed, work = f + lc(A, KICK), f + lc(A, PUSH), f + lc(A, WORK)
    moreau_forces(A, f, t0, dt, theta, v)
    reach = heaviest = moving = kicked = 0.0
    for k in range(3, n):
        m = ld(mass, k)
        reach, heaviest = max(reach, abs(ld(q, k))), max(heaviest, m)
        moving += m * ld(v, k) ** 2
        kicked += m * ld(kick, k) ** 2
    size = math.sqrt(moving) + math.sqrt(kicked)
    if not math.isfinite(size):
        return False
    shut = 4 * 2.2e-16 * reach / dt
    close = 2e-14 * size + shut * math.sqrt(heaviest)
    lasting = moreau_guess(A, f, theta, some)
    before, forced, last = math.inf, 0.0, math.inf
    for k in range(PASSES):
        si(f + lc(A, COUNTERS), K_PASSES, li(f + lc(A, COUNTERS), K_PASSES) + 1)
        if k > 0 and lc(A, VARYING):
            copy(kick, work, n)
            moreau_forces(A, f, t0, dt, theta, u)
            forced = 0.0
            for j in range(3, n):
                d = ld(kick, j) - ld(work, j)
                st(base, j, ld(base, j) + d)
                st(u, j, ld(u, j) + theta * d)
                forced += ld(mass, j) * d * d
            forced = math.sqrt(forced)
        move(A, q, u, dt, f + lc(A, Q1))
        place(A, f + lc(A, Q1), z1)
        joints_at(A, f, t1, z1, u, J1)
        open_by = misfits(A, f, dt)
        if not open_by + forced < math.inf:
            return False
        still = forced <= close
        settled = still and (open_by <= shut or (open_by >= before and open_by <= 8 * shut))
        if not settled:
            before = open_by
            correct_start(A, f, shut / 4)
            if not some or lasting and k == 0:
                continue
        factor_joints(A, f, J1)
        for r in range(rows):
            st(shift, r, ld(J1 + lc(lc(A, ROW_T), r), 0))
        if not call_solve(lc(A, SOLVE), A, f, J1, out_c, base, f + lc(A, P_B), f + lc(A, VP)):
            return False
        if not some:
            return True
        # contacts answer: u moves, and joints follow at once as far as their directions at the end tell
        clear(work, n)
        push_contacts(A, f, out_c, f + lc(A, P_N), f + lc(A, P_T), work)
        turned = 0.0
        for j in range(3, n):
            d = theta * (ld(work, j) - ld(pushed, j))
            turned += ld(mass, j) * d * d
            st(u, j, ld(u, j) + d)
            st(pushed, j, ld(work, j))
            st(work, j, d)
        turned = math.sqrt(turned)
        if settled and (turned <= close or (turned >= last and turned <= 1e-11 * size)):
            return True
        last, before = turned, math.inf
        for b in range(lc(A, N_JOINT_BLOCKS)):
            m, first, J = lc(lc(A, B_COUNT), b), lc(lc(A, B_FIRST), b), J1 + lc(lc(A, B_OUT), b)
            for i in range(m):
                st(shift, first + i, along(J + 8 * m + 48 * i, lc(lc(A, B_A), b), lc(lc(A, B_B), b), work))
        correct_start(A, f, shut / 4)
    return False


def moreau_step(A, f, t1):  # type: ignore[no-untyped-def]
    """One step of Moreau and Jean's scheme to t1."""
    t0, theta = ld(f + lc(A, TIME), 1), ld(f + lc(A, OPTIONS), O_THETA)
    dt, rows = t1 - t0, lc(A, N_ROWS)
    some = moreau_contacts(A, f, dt) if lc(A, N_GAPS) else False
    if rows:
        if not moreau_joints(A, f, t0, t1, theta, some):
            return UNCERTAIN
    else:
        if not moreau_free(A, f, t0, dt, theta, some):
            return UNCERTAIN
        move(A, f + lc(A, Q), f + lc(A, U), dt, f + lc(A, Q1))
    return moreau_record(A, f, t0, t1, some)


@njit(**OPT)
def moreau_impact(A, f):  # type: ignore[no-untyped-def]
    """Velocities before the impact: without struck contacts and what joints answer to them, left in SHIFT_J."""
    n, jump, out = 3 * lc(A, N_BODIES) + 3, f + lc(A, WORK), f + lc(A, OUT_C1)
    clear(jump, n)
    push_contacts(A, f, out, f + lc(A, P_N), f + lc(A, P_T), jump)
    if lc(A, N_ROWS):
        J1, x, lu, blocks = f + lc(A, OUT_J1), f + lc(A, RHS_A), f + lc(A, LU), lc(A, N_JOINT_BLOCKS)
        clear(f + lc(A, SHIFT_J), lc(A, N_ROWS))
        for _ in range(2):
            for k in range(blocks):
                s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
                for i in range(lc(lc(A, B_COUNT), k)):
                    r = first + i
                    J = J1 + lc(lc(A, ROW_J), r)
                    st(x, s + i, -along(J, lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r), jump))
            substitute(A, f, blocks, lu, x)
            for k in range(blocks):
                s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
                for i in range(lc(lc(A, B_COUNT), k)):
                    r = first + i
                    J, a, b = J1 + lc(lc(A, ROW_J), r), lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r)
                    push(J, a, b, ld(x, s + i), f + lc(A, INVERSE), jump)
                    st(f + lc(A, SHIFT_J), r, ld(f + lc(A, SHIFT_J), r) + ld(x, s + i))
    left, vp = f + lc(A, S_LEFT), f + lc(A, VP)
    for k in range(n):
        st(left, k, ld(vp, k) - ld(jump, k))


@njit(**OPT)
def moreau_record(A, f, t0, t1, some):  # type: ignore[no-untyped-def]
    """Certificate of the step, what it leaves for its row, and the state at its end."""
    gaps, rows, dt = lc(A, N_GAPS), lc(A, N_ROWS), t1 - t0
    v, vp, out = f + lc(A, V), f + lc(A, VP), f + lc(A, OUT_C1)
    J0, J1, PA, PB = f + lc(A, OUT_J0), f + lc(A, OUT_J1), f + lc(A, P_A), f + lc(A, P_B)
    N, T, options = f + lc(A, P_N), f + lc(A, P_T), f + lc(A, OPTIONS)
    if some and law_error(A, f, out, vp) > ld(options, O_CERTIFIED):
        return UNCERTAIN
    error, size = momentum_error(A, f, v, vp, dt, out, N, T, J0, PA, J1, PB)
    inverse = f + lc(A, INVERSE)
    for r in range(rows):
        J, a, b = J1 + lc(lc(A, ROW_J), r), lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r)
        explicit = ld(J1 + lc(lc(A, ROW_T), r), 0)
        norm = math.sqrt(mobility(J, a, b, inverse))
        terms = along_sizes(J, a, b, vp) + abs(explicit) + ld(options, O_FLOOR) * (norm if norm > 0.0 else 1.0) * size
        error = max(error, abs(along(J, a, b, vp) + explicit) / max(terms, TINY))
    if not error <= ld(options, O_CERTIFIED):
        return UNCERTAIN
    striking = False
    for i in range(gaps):
        if some and li(f + lc(A, ACTIVE), i):
            rate = ld(f + lc(A, S_MINUS), i)
            lasting = 0.0 < ld(N, i) <= LASTING * ld(f + lc(A, BEFORE), i)
            if rate < 0.0 and not lasting and rate < -zero_rate(A, f, i, out + lc(lc(A, GAP_N), i), v):
                striking = True
                break
    natural = loss = work = 0.0
    rough = lc(A, ROUGH)
    for i in range(gaps):
        a, b, p, s = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), ld(N, i), ld(T, i)
        active = li(f + lc(A, ACTIVE), i)
        if active:
            rate = along(out + lc(lc(A, GAP_N), i), a, b, vp)
            st(f + lc(A, S_PLUS), i, rate)
            law = (rate + ld(f + lc(A, SHIFT_N), i)) * dt / ld(f + lc(A, SCALE), i)
            natural = max(natural, abs(min(law, p / ld(f + lc(A, Y_SCALE), i))))
            if rough and not striking:
                loss -= s * (along(out + lc(lc(A, GAP_T), i), a, b, v) + along(out + lc(lc(A, GAP_T), i), a, b, vp)) / 2
        if striking:
            st(f + lc(A, S_PNI), i, p)
        sb(f + lc(A, S_MODE), i, mode_of(A, f, i, active, p, s))
    if rows:
        for r in range(rows):
            work -= ld(PA, r) * ld(J0 + lc(lc(A, ROW_T), r), 0) + ld(PB, r) * ld(J1 + lc(lc(A, ROW_T), r), 0)
        if not lc(A, BRIEF):
            clear(f + lc(A, S_REACTION), 3 * lc(A, N_JOINTS))
            reactions(A, f, J0, f + lc(A, Z0), PA, 1.0 / dt, f + lc(A, S_REACTION))
            reactions(A, f, J1, f + lc(A, Z1), PB, 1.0 / dt, f + lc(A, S_REACTION))
    struck_work = 0.0
    si(f + lc(A, HIT), 0, 1 if striking else 0)
    if striking and not lc(A, BRIEF):
        clear(f + lc(A, S_REACTION_I), 3 * lc(A, N_JOINTS))
        moreau_impact(A, f)
        answer = f + lc(A, SHIFT_J)
        reactions(A, f, J1, f + lc(A, Z1), answer, -1.0 / dt, f + lc(A, S_REACTION))
        reactions(A, f, J1, f + lc(A, Z1), answer, 1.0, f + lc(A, S_REACTION_I))
        for r in range(rows):
            struck_work -= ld(answer, r) * ld(J1 + lc(lc(A, ROW_T), r), 0)
    scalars = f + lc(A, S_SCALARS)
    st(scalars, DT, dt)
    st(scalars, RESIDUAL, error)
    st(scalars, COMPLEMENTARITY, natural)
    st(scalars, WORK_DRIVERS, work)
    st(scalars, WORK_DRIVERS_IMPACT, struck_work)
    st(scalars, LOSS_FRICTION, loss)
    if lc(A, PROJECTED) and not project(A, f, t1):
        return UNCERTAIN
    if rows and not striking:
        remember(A, f, PA)
    advance_state(A, f, t1, vp)
    return DONE


@njit(**OPT)
def project(A, f, t1):  # type: ignore[no-untyped-def]
    """The nearest q, in the mass metric, with closed joints and no negative gap: programs in linearised gaps."""
    gaps, rows, n = lc(A, N_GAPS), lc(A, N_ROWS), 3 * lc(A, N_BODIES) + 3
    q1, z1, base, moved = f + lc(A, Q1), f + lc(A, Z1), f + lc(A, BASE), f + lc(A, U)
    out_c, out_j = f + lc(A, OUT_C1), f + lc(A, OUT_J1)
    limit, friction, kept = ld(f + lc(A, OPTIONS), O_PROJECTED), f + lc(A, FRICTION), f + lc(A, OLD_FRICTION)
    copy(friction, kept, gaps)
    clear(friction, gaps)
    copy(f + lc(A, P_N), f + lc(A, OLD_N), gaps)
    copy(f + lc(A, P_T), f + lc(A, OLD_T), gaps)
    copy(f + lc(A, P_B), f + lc(A, RHS_A), rows)
    done = used = False
    for k in range(PASSES):
        if k > 0 or not rows:
            place(A, q1, z1)
        contacts_at(A, f, z1, f + lc(A, VP), out_c)
        if used:
            joints_at(A, f, t1, z1, f + lc(A, VP), out_j)
        done = True
        for i in range(gaps):
            if ld(out_c + lc(lc(A, GAP_G), i), 0) < -limit * ld(f + lc(A, SCALE), i):
                done = False
        if done:
            break
        used = True
        for i in range(gaps):
            gap = ld(out_c + lc(lc(A, GAP_G), i), 0)
            st(f + lc(A, SHIFT_N), i, gap)
            si(f + lc(A, ACTIVE), i, 1)
            si(f + lc(A, MODE), i, STICK if gap < 0.0 else OPEN)
        for r in range(rows):
            st(f + lc(A, SHIFT_J), r, ld(out_j + lc(lc(A, ROW_G), r), 0))
        clear(base, n)
        if rows and k > 0:
            factor_joints(A, f, out_j)
        if not call_solve(lc(A, SOLVE), A, f, out_j, out_c, base, f + lc(A, P_B), moved):
            break
        for j in range(3, n):
            st(q1, j, ld(q1, j) + ld(moved, j))
    if used and rows:
        factor_joints(A, f, out_j)
    copy(kept, friction, gaps)
    copy(f + lc(A, OLD_N), f + lc(A, P_N), gaps)
    copy(f + lc(A, OLD_T), f + lc(A, P_T), gaps)
    copy(f + lc(A, RHS_A), f + lc(A, P_B), rows)
    return done
