"""What a step of generalized-alpha is judged by, and what it leaves for its row and for the next one."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.accelerations import *
from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.gauss import advance
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def take_joints_off(A, f, side, P, weight):  # type: ignore[no-untyped-def]
    """WORK -= weight W_g P, whose sizes BASE gains; P a field of rows."""
    rows, terms, first = f + 8 * WORK, f + 8 * BASE, f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        a, b, J = lc(row, ROW_A), lc(row, ROW_B), row + DIRECTION + side
        take_off(J, weight * ld(row, P), J, 0.0, rows + a, rows + b, terms + a, terms + b)


@njit(**OPT)
def take_gaps_off(A, f, side, normal, weight_n, weight_t):  # type: ignore[no-untyped-def]
    """WORK -= W_N `normal` and W_T P_T, weighted, whose sizes BASE gains; `normal` a field of gaps."""
    rows, terms, rough, first = f + 8 * WORK, f + 8 * BASE, lc(A, ROUGH), f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        N, T = weight_n * ld(gap, normal), weight_t * ld(gap, P_T)
        if N != 0.0 or T != 0.0:
            a, b, J = lc(gap, GAP_A), lc(gap, GAP_B), gap + NORMAL + side
            take_off(J, N, gap + TANGENT + side if rough else J, T, rows + a, rows + b, terms + a, terms + b)


@njit(**OPT)
def start_rows(A, f, w, s, r):  # type: ignore[no-untyped-def]
    """WORK = M (w - v - s a - r a1), BASE its terms, PARTS their sizes as velocities."""
    parts = more(A, f, PARTS)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        own, after, sizes = f + b, w + b, parts + b
        v, a, a1, mass = own + 8 * V, more(A, own, PSEUDO), more(A, own, PSEUDO_1), own + 8 * MASS
        jump4(own + 8 * WORK, mass, after, v, s, a, r, a1)
        sizes4(sizes, after, v, s, a, r, a1)
        product4(own + 8 * BASE, 1.0, mass, sizes)


@njit(**OPT)
def smooth_error(A, f, size, dt):  # type: ignore[no-untyped-def]
    """Residual of M b = h + W_g lam."""
    rows, terms, b1 = f + 8 * WORK, f + 8 * BASE, more(A, f, SMOOTH_1)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        momentum4(rows + b, terms + b, f + b + 8 * MASS, f + GROUND + 8 * V, b1 + b, 1.0, f + b + 8 * FORCE)
    take_joints_off(A, f, end_row(f), LAM_1, 1.0)
    return worst_row(A, f, ld(f, OPTIONS + O_FLOOR) * (length(A, f, b1) + size / dt), GROUND)


@njit(**OPT)
def joints_error(A, f, size, dt):  # type: ignore[no-untyped-def]
    """Residual of the joints' accelerations and rates, and what is left of g; PARTS are the sizes of velocities."""
    vp, b1, parts, side = f + 8 * VP, more(A, f, SMOOTH_1), more(A, f, PARTS), end_row(f)
    diagonals = f + lc(A, DIAGONAL)
    floor, worst, faster = ld(f, OPTIONS + O_FLOOR), 0.0, length(A, f, b1) + size / dt
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row, a, b, norms = f + lc(block, B_FIRST), lc(block, B_A), lc(block, B_B), diagonals + PAIR * k
        for i in range(2):
            J, norm, explicit = row + DIRECTION + side, floor * math.sqrt(ld(norms, i)), ld(row + side, ROW_RATE)
            error = rate_error(J, b1 + a, b1 + b, ld(row + side, ROW_DRIFT), norm * faster)
            terms = along_sizes(J, parts + a, parts + b) + abs(explicit) + norm * size
            rate = abs(along(J, vp + a, vp + b) + explicit) / max(terms, TINY)
            worst = max(worst, error, rate, abs(ld(row + side, ROW_G)))
            row += ROW_STEP
    return worst


@njit(**OPT)
def laws_error(A, f, size):  # type: ignore[no-untyped-def]
    """Natural map of Signorini's and Coulomb's laws over the closed gaps, each scaled by its terms; PARTS likewise."""
    vp, parts, side, inverse, first = f + 8 * VP, more(A, f, PARTS), end_gap(f), f + 8 * INVERSE, f + lc(A, GAPS)
    floor, worst = ld(f, OPTIONS + O_FLOOR) * size, 0.0
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if not li(gap, ACTIVE):
            continue
        a, b, J, D, N = lc(gap, GAP_A), lc(gap, GAP_B), gap + NORMAL + side, gap + TANGENT + side, ld(gap, P_N)
        mobile = mobility(J, J, inverse + a, inverse + b)
        rate, own = along(J, vp + a, vp + b) + ld(gap, LAW_N), mobile * N
        terms = along_sizes(J, parts + a, parts + b) + abs(ld(gap, LAW_N)) + abs(own) + floor * math.sqrt(mobile)
        worst = max(worst, abs(min(rate, own)) / max(terms, TINY))
        if lc(A, ROUGH) and ld(gap, FRICTION) > 0.0:
            mobile = mobility(D, D, inverse + a, inverse + b)
            slip, reach = along(D, vp + a, vp + b) + ld(gap, LAW_T), mobile * ld(gap, FRICTION) * max(N, 0.0)
            force = mobile * ld(gap, P_T)
            error = abs(force - min(max(force - slip, -reach), reach))
            terms = along_sizes(D, parts + a, parts + b) + abs(ld(gap, LAW_T)) + abs(force) + reach
            worst = max(worst, error / max(terms + floor * math.sqrt(mobile), TINY))
    return worst


@njit(**OPT)
def alpha_error(A, f, dt):  # type: ignore[no-untyped-def]
    """Scaled residual of the smooth equations, of both corrections, and of the joints, as the Python twin defines it.

    And that of the laws. PSEUDO_1 are the new pseudo-accelerations.
    """
    gamma, beta = newmark_weights(f)
    start, end, start_side, end_side, mean = start_row(f), end_row(f), start_gap(f), end_gap(f), li(f, MEAN)
    size = length(A, f, f + 8 * V) + length(A, f, f + 8 * VP) + dt * length(A, f, more(A, f, SMOOTH_1))
    floor, before = ld(f, OPTIONS + O_FLOOR) * size, 0.5 if mean else 0.0
    worst = smooth_error(A, f, size, dt)
    start_rows(A, f, more(A, f, U), dt * (0.5 - beta), dt * beta)
    take_joints_off(A, f, end, S_J, 1.0)
    take_gaps_off(A, f, end_side, S_N, 1.0, 0.5 - before / 2)
    if mean:
        take_gaps_off(A, f, start_side, S_N, 0.0, before / 2)
    worst = max(worst, worst_row(A, f, floor, GROUND))
    start_rows(A, f, f + 8 * VP, dt * (1.0 - gamma), dt * gamma)
    take_joints_off(A, f, end, P_B, 1.0 - before)
    take_gaps_off(A, f, end_side, P_N, 1.0 - before, 1.0 - before)
    if mean:
        take_joints_off(A, f, start, P_B, before)
        take_gaps_off(A, f, start_side, P_N, before, before)
    worst = max(worst, worst_row(A, f, floor, GROUND), joints_error(A, f, size, dt))
    return worst if math.isfinite(size) else math.inf, laws_error(A, f, size)


@njit(**OPT)
def alpha_impact(A, f):  # type: ignore[no-untyped-def]
    """WORK = the jump of velocities by struck contacts and what joints answer to them, left in KEPT."""
    jump, side, inverse, first = f + 8 * WORK, end_gap(f), f + 8 * INVERSE, f + lc(A, GAPS)
    clear_bodies(A, jump)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if ld(gap, S_PNI) > 0.0:
            a, b, J, D = lc(gap, GAP_A), lc(gap, GAP_B), gap + NORMAL + side, gap + TANGENT + side
            push_both(J, ld(gap, P_N), D, ld(gap, P_T), inverse + a, inverse + b, jump + a, jump + b)
    answer_impact(A, f, end_row(f), jump)


@njit(**OPT)
def passed_on(A, f, dt):  # type: ignore[no-untyped-def]
    """As `alpha_impact` where contacts last that pass an impact on: what they and joints would do without the struck.

    The rest of their impulses is the impact's, in S_PNI. Returns whether that was found, and the energy that friction
    loses in the impact instead of in the step.
    """
    v, last, first, rows, end = f + 8 * VP, more(A, f, LAST_V), f + lc(A, GAPS), f + lc(A, ROWS), end_gap(f)
    gamma, _ = newmark_weights(f)
    follow_accelerations(A, f, dt, 1.0 - gamma, gamma, f + 8 * BASE)
    explicit_rates(A, f, end_row(f))
    copy_bodies(A, v, last)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(gap, OLD_N, ld(gap, P_N))
        st(gap, OLD_T, ld(gap, P_T))
        si(gap, S_N_MODE, li(gap, ACTIVE))
        if li(gap, STRUCK):
            si(gap, ACTIVE, 0)
            si(gap, MODE, OPEN)
            st(gap, P_N, 0.0)
            st(gap, P_T, 0.0)
    for k in range(lc(A, N_ROWS)):
        st(rows + ROW_STEP * k, KEPT, ld(rows + ROW_STEP * k, P_B))
    found, loss = call_solve(lc(A, SOLVE), A, f, end_row(f), end), 0.0
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        difference4(f + b + 8 * WORK, last + b, v + b)
    copy_bodies(A, last, v)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        si(gap, ACTIVE, li(gap, S_N_MODE))
        if li(gap, ACTIVE) and not li(gap, STRUCK):
            share, E, a, b = ld(gap, OLD_N) - ld(gap, P_N), gap + TANGENT + end, lc(gap, GAP_A), lc(gap, GAP_B)
            st(gap, S_PNI, share if share > PRESSING * ld(gap, OLD_N) else 0.0)
            if lc(A, ROUGH):
                slip = along(E, f + 8 * V + a, f + 8 * V + b) + along(E, v + a, v + b)
                loss -= (ld(gap, OLD_T) - ld(gap, P_T)) * slip / 2
        st(gap, P_N, ld(gap, OLD_N))
        st(gap, P_T, ld(gap, OLD_T))
    for k in range(lc(A, N_ROWS)):
        row = rows + ROW_STEP * k
        left = ld(row, P_B)
        st(row, P_B, ld(row, KEPT))
        st(row, KEPT, ld(row, P_B) - left)
    return found != 0, loss


@njit(**OPT)
def note_gaps(A, f, dt):  # type: ignore[no-untyped-def]
    """Impulses of impacts, modes and rates of gaps; natural map of the laws, loss by friction, whether any struck."""
    v, vp, start, end, rough = f + 8 * V, f + 8 * VP, start_gap(f), end_gap(f), lc(A, ROUGH)
    natural, loss, struck, first, mean = 0.0, 0.0, False, f + lc(A, GAPS), li(f, MEAN)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        a, b, p, closed, per = lc(gap, GAP_A), lc(gap, GAP_B), ld(gap, P_N), li(gap, ACTIVE), ld(gap, PER_Y)
        rate = along(gap + NORMAL + end, vp + a, vp + b)
        st(gap, S_PLUS, rate)
        st(gap, S_PNI, 0.0)
        si(gap, S_MODE, mode_of(f, gap, closed))
        per_scale = ld(gap, PER_SCALE)
        natural = max(natural, abs(min(ld(gap + end, GAP_G) * per_scale, ld(gap, S_N) * per)))
        if not closed:
            continue
        natural = max(natural, abs(min((rate + ld(gap, LAW_N)) * dt * per_scale, p * per)))
        if li(gap, STRUCK):
            struck = True
            st(gap, S_PNI, p)
        elif rough:
            D, E = gap + TANGENT + start, gap + TANGENT + end
            slip = along(E, v + a, v + b) + along(E, vp + a, vp + b)
            if mean:
                slip = (slip + along(D, v + a, v + b) + along(D, vp + a, vp + b)) / 2
            loss -= ld(gap, P_T) * slip / 2
    return natural, loss, struck


@njit(**OPT)
def note_joints(A, f, dt, struck):  # type: ignore[no-untyped-def]
    """Force of each row at the end of the step, without impacts; work of drivers, and that within impacts."""
    start, end, work, at_impact, first = start_row(f), end_row(f), 0.0, 0.0, f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        p, own, before, after = ld(row, P_B), ld(row, KEPT), ld(row + start, ROW_RATE), ld(row + end, ROW_RATE)
        st(row, AT_END, ld(row, LAM_1) + 2.0 / dt * (p - own))
        work -= dt / 2 * (ld(row, LAM) * before + ld(row, LAM_1) * after)
        work -= p * (after if struck else (before + after) / 2)
        at_impact -= own * after
    return work, at_impact


@njit(**OPT)
def leave_accelerations(A, f, struck):  # type: ignore[no-untyped-def]
    """Accelerations and multipliers of the end to those of the state; the pseudo ones start anew after an impact."""
    b1, first = more(A, f, SMOOTH_1), f + lc(A, ROWS)
    copy_bodies(A, b1, more(A, f, SMOOTH))
    copy_bodies(A, b1 if struck else more(A, f, PSEUDO_1), more(A, f, PSEUDO))
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, LAM, ld(row, LAM_1))
        if struck:  # nothing that the next step could begin with
            st(row, P_B, 0.0)


@njit(**OPT)
def alpha_record(A, f, t1, dt):  # type: ignore[no-untyped-def]
    """Certificate of the step, what it leaves for its row, and the state at its end."""
    of_pseudo, of_old, of_new = pseudo_weights(f)
    certified, rows, hit, lasting = ld(f, OPTIONS + O_CERTIFIED), lc(A, N_ROWS), 0, False
    for k in range(1, lc(A, N_BODIES) + 1):
        b = f + GROUND + BODY_STEP * k
        a, b0, b1, new = more(A, b, PSEUDO), more(A, b, SMOOTH), more(A, b, SMOOTH_1), more(A, b, PSEUDO_1)
        sum_of_four4(new, f + GROUND + 8 * V, of_pseudo, a, of_old, b0, of_new, b1)
    error, of_laws = alpha_error(A, f, dt)
    natural, loss, struck = note_gaps(A, f, dt)
    sure = error <= certified and natural <= certified and of_laws <= certified
    if not sure or leaves_rest(A, f, f + 8 * VP, dt, start_gap(f)):
        return UNCERTAIN
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if ld(gap, S_PNI) > 0.0:
            hit = 1
        lasting |= li(gap, ACTIVE) != 0 and li(gap, STRUCK) == 0
    first = f + lc(A, ROWS)
    for k in range(rows):
        st(first + ROW_STEP * k, KEPT, 0.0)
    if hit and lasting:
        found, at_impact = passed_on(A, f, dt)
        if not found:
            return UNCERTAIN
        loss -= at_impact
    elif hit:
        alpha_impact(A, f)
    work, struck_work = note_joints(A, f, dt, struck)
    if rows and not lc(A, BRIEF):
        reactions(A, f, start_row(f), start_z(A, f), LAM, 0.5, S_REACTION, False)
        reactions(A, f, end_row(f), end_z(A, f), AT_END, 0.5, S_REACTION, True)
        if hit:
            reactions(A, f, end_row(f), end_z(A, f), KEPT, 1.0, S_REACTION_I, False)
    si(f, HIT, hit)
    if hit:
        for k in range(1, lc(A, N_BODIES) + 1):
            b = f + GROUND + BODY_STEP * k
            difference4(more(A, b, S_LEFT), b + 8 * VP, b + 8 * WORK)
    note_scalars(f, dt, error, natural, work, struck_work, loss)
    leave_accelerations(A, f, struck)
    advance(A, f, t1, f + 8 * VP)
    return DONE
