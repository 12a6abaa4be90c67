"""Steps that end where a gap closes: a half kick with positions, a second half in velocities, the impact at the end.

The scheme is that of `nonsmooth.steppers.gauss`, landing found as in `nonsmooth.steppers.landing`. In the half kick
impulses act along the directions at the start of the step, in its second half and in impacts along those at its end.
"""

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
def touching(f, gap, side):  # type: ignore[no-untyped-def]
    """Whether a gap counts as closed."""
    return ld(gap + side, GAP_G) <= ld(f, OPTIONS + O_CLOSED_GAP) * ld(gap, SCALE)


# -------------------------------------------------------------------------------------------------- when a gap closes


@njit(**OPT)
def turns(a, b, c):  # type: ignore[no-untyped-def]
    """Where on (0, 1) a cubic with the coefficients a, b, c of s, s^2, s^3 turns, in order; 1 where it does not."""
    discriminant = b * b - 3.0 * c * a
    if not discriminant >= 0.0:
        return 1.0, 1.0
    w = -(b + math.copysign(math.sqrt(discriminant), b))
    x = w / (3.0 * c) if c != 0.0 else 1.0
    y = a / w if w != 0.0 else 1.0
    x, y = x if 0.0 < x < 1.0 else 1.0, y if 0.0 < y < 1.0 else 1.0
    return min(x, y), max(x, y)


@njit(**OPT)
def cubic_at(s, start, a, b, c):  # type: ignore[no-untyped-def]
    return start + s * (a + s * (b + s * c))


@njit(**OPT)
def first_root(start, a, b, c):  # type: ignore[no-untyped-def]
    """The first s in (0, 1] where a cubic changes its sign; infinite if there is none."""
    x, y = turns(a, b, c)
    below, low = start <= 0.0, 0.0
    for k in range(3):
        high = x if k == 0 else (y if k == 1 else 1.0)
        if (cubic_at(high, start, a, b, c) <= 0.0) == below:
            low = high
            continue
        s = (low + high) / 2.0
        for _ in range(60):
            value, slope = cubic_at(s, start, a, b, c), a + s * (2.0 * b + s * 3.0 * c)
            if (value <= 0.0) == below:
                low = s
            else:
                high = s
            new = s - value / slope
            if not low < new < high:
                new = (low + high) / 2.0
            if abs(new - s) <= 1e-15:
                break
            s = new
        return s
    return math.inf


@njit(**OPT)
def end_rate(f, gap, side):  # type: ignore[no-untyped-def]
    """Rate of change of a gap at the end of a half kick with its length."""
    J, a, b = gap + NORMAL + side, lc(gap, GAP_A), lc(gap, GAP_B)
    u, v = f + 8 * U, f + 8 * V
    return 2.0 * along(J, u + a, u + b) - along(J, v + a, v + b)


@njit(**OPT)
def first_closing(A, f, dt):  # type: ignore[no-untyped-def]
    """When within the half kick the first gap closes that is open at its start, by cubics; which one, 0 if none."""
    before, after, v, first = start_gap(f), end_gap(f), f + 8 * V, f + lc(A, GAPS)
    soonest, found = math.inf, 0
    # a landing at the very end leaves gaps of round-off, which are no news
    share = 1e-2 * ld(f, OPTIONS + O_CLOSED_GAP)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if ld(gap, CLOSED) > 0.0:
            continue
        level, g0, g1 = -share * ld(gap, SCALE), ld(gap + before, GAP_G), ld(gap + after, GAP_G)
        leaving = g0 <= -level
        start = 0.0 if leaving else g0
        a = along(gap + NORMAL + before, v + lc(gap, GAP_A), v + lc(gap, GAP_B)) * dt
        slope, rise = end_rate(f, gap, after) * dt, g1 - start
        b, c = 3.0 * rise - 2.0 * a - slope, a + slope - 2.0 * rise
        x, y = turns(a, b, c)
        lowest = min(cubic_at(1.0, start, a, b, c), cubic_at(x, start, a, b, c), cubic_at(y, start, a, b, c))
        if not lowest < level:
            continue
        root = first_root(a, b, c, 0.0) if leaving else first_root(start, a, b, c)
        if root * dt < soonest:
            soonest, found = root * dt, gap
    return soonest, found


# ------------------------------------------------------------------------------------------------------ the half kick


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
    recall_modes(A, f)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
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
    still_ground(f)
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
    u, kick, work, change, size = f + 8 * U, f + 8 * KICK, f + 8 * WORK, 0.0, 0.0
    move(A, f + 8 * Q, u, dt / 2, f + 8 * QM)
    place(A, f + 8 * QM, f + 8 * ZM)
    forces_at(A, f, t + dt / 2, f + 8 * ZM, u)
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
    x, side, start = f + lc(A, X), end_row(f), start_row(f)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row, s = f + lc(block, B_FIRST) + side, x + lc(block, B_X)
        for i in range(lc(block, B_COUNT)):
            st(s, i, -ld(row, ROW_G) / dt)
            row += ROW_STEP
    substitute(A, f, lc(A, N_JOINT_BLOCKS), x)
    take_joint_impulses(A, f, x, P_B, True)
    push_joint_slots(A, f, start, x, f + 8 * U)


@njit(**OPT)
def correct_all(A, f, dt):  # type: ignore[no-untyped-def]
    """Impulses of joints and of the gaps that bind, and U, from both linearised along the directions at the start."""
    u, row_side, gap_side, end_of_row, end_of_gap = f + 8 * U, start_row(f), start_gap(f), end_row(f), end_gap(f)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        add4(f + b + 8 * BASE, f + b + 8 * V, f + b + 8 * KICK)
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
    t0, u, z1 = ld(f, TIME + 1), f + 8 * U, end_z(f)
    kick_of(A, f, dt / 2)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        add4(u + b, f + b + 8 * V, f + b + 8 * KICK)
    push_joints(A, f, start_row(f), P_B, u)
    push_contacts(A, f, start_gap(f), u)
    before, last, forced, size = math.inf, math.inf, 0.0, 0.0
    for k in range(PASSES):
        si(f, COUNTERS + K_PASSES, li(f, COUNTERS + K_PASSES) + 1)
        if lc(A, VARYING):
            last = forced if k > 0 else math.inf
            forced, size = middle_forces(A, f, t0, dt)
        move(A, f + 8 * Q, u, dt, f + 8 * Q1)
        place(A, f + 8 * Q1, z1)
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
    u, v, side, first = f + 8 * U, f + 8 * V, start_row(f), f + lc(A, ROWS)
    longest, gap_side, after = ld(f, OPTIONS + O_LONGEST), start_gap(f), end_gap(f)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        if not abs(ld(u + b, 2) - ld(v + b, 2)) * longest <= ld(f, OPTIONS + O_TURN):
            return math.inf
    worst, _ = momentum_error(A, f, v, u, dt / 2, gap_side, side, P_A, side, P_B)
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


@njit(**OPT)
def short_flight(A, f, t1):  # type: ignore[no-untyped-def]
    """Whether a contact is back at its wall that left it less than the shortest step ago; the others are STRUCK."""
    side, shortest, crossing, first = end_gap(f), ld(f, OPTIONS + O_SHORTEST), False, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        resolved = t1 - ld(gap, LEFT_AT) >= shortest
        si(gap, STRUCK, 1 if resolved else 0)
        if not resolved and not ld(gap, CLOSED) > 0.0 and touching(f, gap, side):
            crossing = True
    return crossing


@njit(**OPT)
def kick_to_landing(A, f, t_end):  # type: ignore[no-untyped-def]
    """The longest half kick in which no open gap closes before its end, or one over an accumulation of impacts.

    Returns where it ends, its length, infinite if it was not found, and whether it goes over an accumulation.
    """
    t0, shortest, first = ld(f, TIME + 1), ld(f, OPTIONS + O_SHORTEST), f + lc(A, GAPS)
    longest = t_end - t0
    some, shut = landing_guess(A, f, longest)
    dt = longest
    sought, landings, trials, low, high, before = 0, 0, 0, 0.0, 0.0, math.inf
    crossing, forgotten = False, False
    while True:
        t1 = t_end if dt == longest else t0 + dt
        if not half_kick(A, f, t1, dt, some, shut):
            if forgotten:
                return t1, math.inf, crossing
            forget_impulses(A, f)
            forgotten = True
            continue
        if crossing:
            return t1, dt, crossing
        new = 0.0
        if sought:
            gap, rate = ld(sought + end_gap(f), GAP_G), end_rate(f, sought, end_gap(f))
            if gap > 0.0:
                low = dt
            else:
                high = dt
            trials += 1
            newton = dt - gap / rate if rate < 0.0 else math.inf
            step = newton if low < newton < high else (low + high) / 2
            error = abs(gap) / ld(sought, SCALE)
            located = error <= LANDED or (abs(gap) >= before / 2 and (abs(gap) <= 4 * shut or error <= ACCEPTABLE))
            if not (located or step == low or step == high or trials == TRIALS):
                new, before = step, abs(gap)
        if new == 0.0:
            at, found = first_closing(A, f, dt)
            if found and not (sought and at >= dt * AT_THE_END):
                sought, trials, low, high, before, new = found, 0, 0.0, dt, math.inf, at
                landings += 1
                if landings > LANDINGS:
                    return t1, math.inf, crossing
            elif short_flight(A, f, t1):
                crossing, some, new = True, True, min(shortest, longest)
                for k in range(lc(A, N_GAPS)):
                    si(first + GAP_STEP * k, ACTIVE, 1)
            else:
                return t1, dt, crossing
        scale_impulses(A, f, new / dt)
        dt = new


# ------------------------------------------------------------------------------------------ velocities at one instant


@njit(**OPT)
def change_velocity(A, f, v, row_side, gap_side):  # type: ignore[no-untyped-def]
    """VP from v by impulses of joints and active gaps; scaled residuals of equations and of laws, inf if not found."""
    vp, inverse, first = f + 8 * VP, f + 8 * INVERSE, f + lc(A, ROWS)
    copy_bodies(A, v, f + 8 * BASE)
    if not call_solve(lc(A, SOLVE), A, f, row_side, gap_side):
        return math.inf, math.inf
    law = law_error(A, f, gap_side, vp)
    worst, size = momentum_error(A, f, v, vp, 0.0, gap_side, row_side, P_A, row_side, P_B)
    floor = ld(f, OPTIONS + O_FLOOR) * size
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        J, a, b, explicit = row + DIRECTION + row_side, lc(row, ROW_A), lc(row, ROW_B), ld(row + row_side, ROW_RATE)
        error = abs(along(J, vp + a, vp + b) + explicit)
        if error != 0.0:
            norm = math.sqrt(mobility(J, J, inverse + a, inverse + b))
            terms = along_sizes(J, vp + a, vp + b) + abs(explicit) + floor * (norm if norm > 0.0 else 1.0)
            worst = max(worst, error / max(terms, TINY))
    return worst, law


@njit(**OPT)
def strike(A, f, kicked, v, row_side, gap_side):  # type: ignore[no-untyped-def]
    """The impact of the gaps that are STRUCK, if one approaches, by Newton's law: VP, and impulses.

    v is a sum of velocities of the sizes of `kicked` and of itself. Returns whether there was an impact and its scaled
    residuals.
    """
    approaching, first = False, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        J, a, b, struck = gap + NORMAL + gap_side, v + lc(gap, GAP_A), v + lc(gap, GAP_B), li(gap, STRUCK)
        rate = along(J, a, b)
        shift = rebound(gap, rate)
        if struck and rate < 0.0 and rate < -settled_rate(f, gap, J, kicked, v):
            approaching = True
        si(gap, ACTIVE, struck)
        si(gap, MODE, STICK if struck and rate + shift < 0.0 else OPEN)
        st(gap, SHIFT_N, shift)
        if lc(A, ROUGH):
            st(gap, SHIFT_T, ld(gap, TANGENTIAL) * along(gap + TANGENT + gap_side, a, b))
    if not approaching:
        return False, 0.0, 0.0
    error, law = change_velocity(A, f, v, row_side, gap_side)
    return True, error, law


@njit(**OPT)
def settled_rate(f, gap, J, kicked, v):  # type: ignore[no-untyped-def]
    """Rate of a gap that counts as zero where v has come about by a change from `kicked`."""
    terms = along_sizes(J, v + lc(gap, GAP_A), v + lc(gap, GAP_B))
    return zero_rate(f, gap, J, kicked) + ld(f, OPTIONS + O_CLOSED_RATE) * terms


@njit(**OPT)
def driven(A, f, side, P):  # type: ignore[no-untyped-def]
    """Work of drivers by a field of impulses of joints."""
    work, first = 0.0, f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        work -= ld(row, P) * ld(row + side, ROW_RATE)
    return work


@njit(**OPT)
def second_half(A, f, crossing):  # type: ignore[no-untyped-def]
    """What the second half of a step asks of joints and of gaps, which it makes active; whether of any gap.

    KEPT, OLD_N and OLD_T are the impulses of the first half; P_A stays 0.
    """
    row_side, side, v, held, first = end_row(f), end_gap(f), f + 8 * V, False, f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, KEPT, ld(row, P_B))
        st(row, SHIFT_J, ld(row + row_side, ROW_RATE))
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        closed, shift, close = ld(gap, CLOSED) > 0.0, 0.0, touching(f, gap, side)
        holds = close and (closed or crossing)
        if crossing and holds and not closed and li(gap, STRUCK):
            # an impact that falls into the step over an accumulation rebounds
            rate = along(gap + NORMAL + side, v + lc(gap, GAP_A), v + lc(gap, GAP_B))
            shift = rebound(gap, rate)
        held |= holds
        st(gap, OLD_N, ld(gap, P_N))
        st(gap, OLD_T, ld(gap, P_T))
        si(gap, ACTIVE, 1 if holds else 0)
        if not holds:
            si(gap, MODE, OPEN)
            st(gap, P_N, 0.0)
            st(gap, P_T, 0.0)
        st(gap, SHIFT_N, shift)
        st(gap, SHIFT_T, 0.0)
    return held


@njit(**OPT)
def book_halves(A, f, dt, v, crossing):  # type: ignore[no-untyped-def]
    """Impulses of both halves, of a contact that closes within the step to its impact; which gaps are struck.

    After that OLD_N and OLD_T are those of the step without impacts, S_PNI and S_PTI those of impacts, S_END the part
    of the second half. Gaps that would close within the shortest step are struck with one that does.
    """
    side, fresh, first, shortest = end_gap(f), False, f + lc(A, GAPS), ld(f, OPTIONS + O_SHORTEST)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        closed, N, T = ld(gap, CLOSED) > 0.0, ld(gap, OLD_N), ld(gap, OLD_T)
        lasts = closed and ld(gap, HISTORY_N) > 0.0
        if not crossing:
            note(gap, HISTORY_N, N / dt, lasts)
            note(gap, HISTORY_T, T / dt, lasts)
        N, T = N + ld(gap, P_N), T + ld(gap, P_T)
        st(gap, OLD_N, N if closed else 0.0)
        st(gap, OLD_T, T if closed else 0.0)
        st(gap, S_PNI, 0.0 if closed else N)
        st(gap, S_PTI, 0.0 if closed else T)
        st(gap, S_END, ld(gap, P_N) if closed else 0.0)
        close = touching(f, gap, side)
        si(gap, STRUCK, 1 if close else 0)
        fresh |= close and not closed
    if fresh:
        for k in range(lc(A, N_GAPS)):
            gap = first + GAP_STEP * k
            rate = along(gap + NORMAL + side, v + lc(gap, GAP_A), v + lc(gap, GAP_B))
            if ld(gap + side, GAP_G) < -shortest * rate:
                si(gap, STRUCK, 1)


@njit(**OPT)
def book_impact(A, f):  # type: ignore[no-untyped-def]
    """Add impulses of an impact to those of impacts in the step."""
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(gap, S_PNI, ld(gap, S_PNI) + ld(gap, P_N))
        st(gap, S_PTI, ld(gap, S_PTI) + ld(gap, P_T))


@njit(**OPT)
def take_back(A, f, v1, side):  # type: ignore[no-untyped-def]
    """S_LEFT = v1 without the impulses of impacts on gaps; whether there were any."""
    left, inverse, first, some = f + 8 * S_LEFT, f + 8 * INVERSE, f + lc(A, GAPS), False
    copy_bodies(A, v1, left)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        a, b, N, T = lc(gap, GAP_A), lc(gap, GAP_B), ld(gap, S_PNI), ld(gap, S_PTI)
        if N != 0.0 or T != 0.0:
            some = True
            push(gap + NORMAL + side, -N, inverse + a, inverse + b, left + a, left + b)
            if lc(A, ROUGH):
                push(gap + TANGENT + side, -T, inverse + a, inverse + b, left + a, left + b)
    return some


@njit(**OPT)
def press(A, f, t, kicked, v, side):  # type: ignore[no-untyped-def]
    """Which contacts press from now on, at velocities VP, and since when the others are open."""
    vp, first = f + 8 * VP, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        J = gap + NORMAL + side
        rate, closed = along(J, vp + lc(gap, GAP_A), vp + lc(gap, GAP_B)), ld(gap, CLOSED) > 0.0
        pressing = touching(f, gap, side) and not (rate > 0.0 and rate > settled_rate(f, gap, J, kicked, v))
        if not pressing and (li(gap, STRUCK) or closed):
            st(gap, LEFT_AT, t)
        st(gap, CLOSED, 1.0 if pressing else 0.0)


@njit(**OPT)
def landing_rows(A, f, v1, left, before, side):  # type: ignore[no-untyped-def]
    """What gaps leave for the row of a step from side `before` to `side`; natural map of their laws, loss by friction.

    Velocities are V at the start, `left` and `v1` before and after the impacts at the end.
    """
    natural, loss, v, first, rough = 0.0, 0.0, f + 8 * V, f + lc(A, GAPS), lc(A, ROUGH)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        a, b, J, D = lc(gap, GAP_A), lc(gap, GAP_B), gap + NORMAL + side, gap + TANGENT + side
        close = touching(f, gap, side)
        st(gap, P_N, ld(gap, OLD_N) + ld(gap, S_PNI))
        st(gap, P_T, ld(gap, OLD_T) + ld(gap, S_PTI))
        # a contact that leaves has pressed before it did; one struck within the window obeys its law in velocities
        pressed = ld(gap, P_N) if close else ld(gap, S_END)
        natural = max(natural, abs(min(ld(gap + side, GAP_G) / ld(gap, SCALE), pressed / ld(gap, Y_SCALE))))
        si(gap, S_MODE, mode_of(f, gap, close))
        if ld(gap, S_PNI) > 0.0:
            st(gap, S_MINUS, along(J, left + a, left + b))
            st(gap, S_PLUS, along(J, v1 + a, v1 + b))
        if rough and ld(gap, OLD_T) != 0.0:
            slip = along(gap + TANGENT + before, v + a, v + b) + along(D, left + a, left + b)
            loss -= ld(gap, OLD_T) * slip / 2
    return natural, loss


@njit(**OPT)
def landing_scalars(f, dt, error, natural, work, struck_work, loss):  # type: ignore[no-untyped-def]
    scalars = f + 8 * SCALARS
    st(scalars, DT, dt)
    st(scalars, RESIDUAL, error)
    st(scalars, COMPLEMENTARITY, natural)
    st(scalars, WORK_DRIVERS, work + struck_work)
    st(scalars, WORK_DRIVERS_IMPACT, struck_work)
    st(scalars, LOSS_FRICTION, loss)


def landing_step(A, f, t_end):  # type: ignore[no-untyped-def]
    """One step, to t_end at most, that ends where a gap closes."""
    kicked, left, vp, brief = f + 8 * PUSH, f + 8 * S_LEFT, f + 8 * VP, lc(A, BRIEF)
    row_side, gap_side, first, certified = end_row(f), end_gap(f), f + lc(A, ROWS), ld(f, OPTIONS + O_CERTIFIED)
    t1, length, crossing = kick_to_landing(A, f, t_end)
    dt = t1 - ld(f, TIME + 1)
    if not 0.0 < length < math.inf or not dt > 0.0:
        return UNCERTAIN
    error, law = half_kick_error(A, f, length), 0.0
    if not error <= ACCEPTABLE:
        return UNCERTAIN
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        add4(kicked + b, f + b + 8 * U, f + b + 8 * KICK)
    work = driven(A, f, start_row(f), P_B)
    held = second_half(A, f, crossing)
    if lc(A, N_ROWS):
        factor_joints(A, f, row_side)
    if held or lc(A, N_ROWS):
        found, law = change_velocity(A, f, kicked, row_side, gap_side)
        error = max(error, found)
        if not (found <= certified and law <= certified):
            return UNCERTAIN
        work += driven(A, f, row_side, P_B)
        if not brief:
            reactions(A, f, start_row(f), start_z(f), KEPT, 1.0 / dt, S_REACTION, False)
            reactions(A, f, row_side, end_z(f), P_B, 1.0 / dt, S_REACTION, True)
        copy_bodies(A, vp, left)
    else:
        copy_bodies(A, kicked, left)
    book_halves(A, f, length, left, crossing)
    hit, found, broken = strike(A, f, kicked, left, row_side, gap_side)
    struck_work = 0.0
    if hit:
        error, law = max(error, found), max(law, broken)
        if not (found <= certified and broken <= certified):
            return UNCERTAIN
        struck_work = driven(A, f, row_side, P_B)
        book_impact(A, f)
    else:
        copy_bodies(A, left, vp)
    press(A, f, t1, kicked, left, gap_side)
    for k in range(0 if crossing else lc(A, N_ROWS)):  # forces are not what stops bounces
        row = first + ROW_STEP * k
        note(row, HISTORY_J, ld(row, KEPT) / length, not hit)
    if hit and not brief:
        reactions(A, f, row_side, end_z(f), P_B, 1.0, S_REACTION_I, False)
    elif crossing:
        clear_joints(A, f, S_REACTION_I)
    if crossing:
        hit |= take_back(A, f, vp, gap_side)
    natural, loss = landing_rows(A, f, vp, left, start_gap(f), gap_side)
    landing_scalars(f, dt, error, max(natural, law), work, struck_work, loss)
    si(f, HIT, 1 if hit else 0)
    advance(A, f, t1, vp)
    return DONE


def landing_start(A, f):  # type: ignore[no-untyped-def]
    """Latch the contacts that are closed at the state; if one approaches, their impact, as for a row of its own."""
    row_side, gap_side, v, first = start_row(f), start_gap(f), f + 8 * V, f + lc(A, ROWS)
    certified, vp, left = ld(f, OPTIONS + O_CERTIFIED), f + 8 * VP, f + 8 * S_LEFT
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, SHIFT_J, ld(row + row_side, ROW_RATE))
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        for field in (P_N, P_T, CLOSED, OLD_N, OLD_T, S_PNI, S_PTI, S_END):
            st(gap, field, 0.0)
        si(gap, STRUCK, 1 if touching(f, gap, gap_side) else 0)
    copy_bodies(A, v, left)
    clear_bodies(A, f + 8 * PUSH)
    hit, error, law = strike(A, f, f + 8 * PUSH, left, row_side, gap_side)
    if hit and not (error <= certified and law <= certified):
        return UNCERTAIN
    if not hit:
        copy_bodies(A, left, vp)
    press(A, f, ld(f, TIME + 1), f + 8 * PUSH, left, gap_side)
    if hit:
        book_impact(A, f)
        natural, _ = landing_rows(A, f, vp, left, gap_side, gap_side)
        struck_work = driven(A, f, row_side, P_B)
        landing_scalars(f, 0.0, error, natural, 0.0, struck_work, 0.0)
        reactions(A, f, row_side, start_z(f), P_B, 1.0, S_REACTION_I, False)
        copy_bodies(A, vp, v)
    si(f, HIT, 1 if hit else 0)
    return DONE
