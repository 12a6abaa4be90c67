"""The active set: modes of gaps and the impulses that go with them.

Modes: 0 open, 1 closed (sticking, where it has friction), 2 and 3 slipping, pushed along and against the tangent.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from typing import Any

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.single import *
from nonsmooth.native.loops.substitution import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def recall_mode(A, gap):  # type: ignore[no-untyped-def]
    """Mode of a gap's last impulses, which it returns, so that a run goes on to the same bits from these alone."""
    m, N, T = OPEN, ld(gap, P_N), ld(gap, P_T)
    if li(gap, ACTIVE) and N > 0.0:
        m, reach = STICK, ld(gap, FRICTION) * N if lc(A, ROUGH) else 0.0
        if reach > 0.0 and abs(T) >= reach * (1.0 - 1e-12):
            m = FORWARD if T > 0.0 else BACKWARD
    si(gap, MODE, m)
    return m


@njit(**OPT)
def lengthening(f, dt):  # type: ignore[no-untyped-def]
    """By how much a step is longer than the last: impulses under constant loads are, if only by round-off."""
    last = ld(f, LAST_DT)
    return dt / last if last > 0.0 else 1.0


@njit(**OPT)
def at_rest(gap, guess, p, start):  # type: ignore[no-untyped-def]
    """The impulse of a lasting contact but for what stopped the rate, or the way, that it had at the start.

    Unless that is taken off, the next step would start the contact again. `guess` left GUESS_OFF of it, p nothing.
    """
    off = ld(gap, GUESS_OFF)
    if p == guess or not abs(start) < abs(off) or not start * off > 0.0:
        return p
    return guess + (p - guess) * (1.0 - start / off)


@njit(**OPT)
def joint_rates(A, f, side, v, x):  # type: ignore[no-untyped-def]
    """x = -(J v + SHIFT_J), what the impulses of the joints have to change; the largest."""
    worst = 0.0
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row, a, b = f + lc(block, B_FIRST), v + lc(block, B_A), v + lc(block, B_B)
        J, r = row + DIRECTION + side, row + 8 * SHIFT_J
        worst = max(worst, rates_of_two(x, J, J + ROW_STEP, a, b, r, r + ROW_STEP))
        x += PAIR
    return worst


@njit(**OPT)
def gap_rates(A, f, v, x):  # type: ignore[no-untyped-def]
    """As `joint_rates`, of the blocks of gaps that are not open."""
    on, slot = f + lc(A, ON), f + lc(A, SLOTS)
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        if li(on, k):
            block = block_at(A, k)
            gap, a, b, T = f + lc(block, B_FIRST), v + lc(block, B_A), v + lc(block, B_B), li(slot, S_TANGENT)
            shift = T if T == f + 8 * NOTHING else gap + 8 * SHIFT_T
            rates_of_two(x + PAIR * k, li(slot, S_NORMAL), T, a, b, gap + 8 * SHIFT_N, shift)
        slot += SLOT_STEP


@njit(**OPT)
def take_joint_impulses(A, f, side, x, P, v, add):  # type: ignore[no-untyped-def]
    """Slots to impulses, a field of rows, which v += M^-1 J' x follows; `add` for a change of them."""
    inverse = f + 8 * INVERSE
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        row, a, b, p, q = f + lc(block, B_FIRST), lc(block, B_A), lc(block, B_B), ld(x, 0), ld(x, 1)
        other, J = row + ROW_STEP, row + DIRECTION + side
        st(row, P, ld(row, P) + p if add else p)
        st(other, P, ld(other, P) + q if add else q)
        push_both(J, p, J + ROW_STEP, q, inverse + a, inverse + b, v + a, v + b)
        x += PAIR


@njit(**OPT)
def take_gap_impulses(A, f, x, v, add):  # type: ignore[no-untyped-def]
    """Impulses P_N and P_T, which v follows; `add` for a change of them."""
    on, slot, inverse = f + lc(A, ON), f + lc(A, SLOTS), f + 8 * INVERSE
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        block = block_at(A, k)
        gap, a, b = f + lc(block, B_FIRST), lc(block, B_A), lc(block, B_B)
        if not add:
            st(gap, P_N, 0.0)
            st(gap, P_T, 0.0)
        if li(on, k):
            p, q, m = ld(x, 2 * k), ld(x, 2 * k + 1), li(gap, MODE)
            N, T = ld(gap, P_N) + p, ld(gap, P_T) + q
            st(gap, P_N, N)
            if m >= FORWARD:
                T = ld(gap, FRICTION) * (N if m == FORWARD else -N)
            st(gap, P_T, T)
            push_both(li(slot, S_PUSH), p, li(slot, S_TANGENT), q, inverse + a, inverse + b, v + a, v + b)
        slot += SLOT_STEP


@njit(**OPT)
def push_joint_slots(A, f, side, x, v):  # type: ignore[no-untyped-def]
    """v += M^-1 J' x over the joints' slots."""
    inverse = f + 8 * INVERSE
    for k in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, k)
        J, a, b = f + lc(block, B_FIRST) + DIRECTION + side, lc(block, B_A), lc(block, B_B)
        push_both(J, ld(x, 0), J + ROW_STEP, ld(x, 1), inverse + a, inverse + b, v + a, v + b)
        x += PAIR


@njit(**OPT)
def answer_joints(A, f, side, x, P, v):  # type: ignore[no-untyped-def]
    """Impulses that change the rates of the joints by x, which they replace; P, a field of rows, and v follow.

    Their matrix is the one factored last, v is pushed along the directions at `side`.
    """
    substitute_joints(A, f, x)
    take_joint_impulses(A, f, side, x, P, v, True)


@njit(**OPT)
def answer_impact(A, f, side, jump):  # type: ignore[no-untyped-def]
    """What joints answer to a jump of velocities, which follows; their impulses stand in KEPT."""
    x, first = f + lc(A, RHS_A), f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, SHIFT_J, 0.0)
        st(row, KEPT, 0.0)
    for _ in range(2 if lc(A, N_ROWS) else 0):  # the second time takes round-off away
        joint_rates(A, f, side, jump, x)
        answer_joints(A, f, side, x, KEPT, jump)


@njit(**OPT)
def linear_joints(A, f, u, side, per):  # type: ignore[no-untyped-def]
    """SHIFT_J of joints that are linearised where u led: they close with J . v + SHIFT_J = 0; `per` is 1 / dt."""
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        rate = along(row + DIRECTION + side, u + lc(row, ROW_A), u + lc(row, ROW_B))
        st(row, SHIFT_J, ld(row + side, ROW_G) * per - rate)


@njit(**OPT)
def rate_terms(f, J, a, b, v, shift, gap):  # type: ignore[no-untyped-def]
    """Sizes of what a rate along J is a sum of: of v, of BASE that impulses have made v of, and its shift."""
    base = f + 8 * BASE
    return along_sizes(J, v + a, v + b) + along_sizes(J, base + a, base + b) + abs(ld(gap, shift))


@njit(**OPT)
def wanted_mode(f, gap, side, v):  # type: ignore[no-untyped-def]
    """The mode of a gap by the projections of Alart and Curnier, exact since its mode's equations hold."""
    m, mu, J, inverse = li(gap, MODE), ld(gap, FRICTION), gap + NORMAL + side, f + 8 * INVERSE
    a, b = lc(gap, GAP_A), lc(gap, GAP_B)
    reach = 0.0
    if m == OPEN:
        rate = along(J, v + a, v + b) + ld(gap, SHIFT_N)
        if rate >= 0.0:
            return OPEN
        if rate >= -SIGN * rate_terms(f, J, a, b, v, SHIFT_N, gap):
            return OPEN
        if mu == 0.0:
            return STICK
        reach = -mu * rate / max(mobility(J, J, inverse + a, inverse + b), TINY)
    else:
        P = ld(gap, P_N)
        if P < 0.0:
            return OPEN
        if mu == 0.0:
            return STICK
        reach = mu * P
    D, force = gap + TANGENT + side, ld(gap, P_T)
    if m != STICK:
        slip = along(D, v + a, v + b) + ld(gap, SHIFT_T)
        if m != OPEN:
            if (slip <= 0.0) == (m == FORWARD) or slip == 0.0:
                return m
            if abs(slip) <= SIGN * rate_terms(f, D, a, b, v, SHIFT_T, gap):
                return m
        force -= slip / max(mobility(D, D, inverse + a, inverse + b), TINY)
    if abs(force) <= reach:
        return STICK
    return FORWARD if force > 0.0 else BACKWARD


@njit(**OPT)
def hashed(i, round_):  # type: ignore[no-untyped-def]
    """A reproducible coin for gap i in a round."""
    x = (i * 2654435761 + round_ * 40503 + 12345) & 0xFFFFFFFF
    x = ((x >> 16) ^ x) * 73244475 & 0xFFFFFFFF
    return ((x >> 16) ^ x) & 1


@njit(**OPT)
def only_active(A, f):  # type: ignore[no-untyped-def]
    """The gap that is active, where it is the only one and has no friction; else 0."""
    first, found = f + lc(A, GAPS), 0
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if li(gap, ACTIVE):
            if found or ld(gap, FRICTION) > 0.0:
                return 0
            found = gap
    return found


@njit(**OPT)
def solve_one(A, f, gap, row_side, gap_side):  # type: ignore[no-untyped-def]
    """As `solve_active`, of one gap without friction: joints answer BASE and its push in pairs, the rest is a sign.

    Not where joints leave the gap next to no mobility.
    """
    base, pushed, v, inverse = f + 8 * BASE, f + 8 * WORK, f + 8 * VP, f + 8 * INVERSE
    x, k, N = f + lc(A, PAIRS), f + lc(A, RHS), gap + NORMAL + gap_side
    a, b = lc(gap, GAP_A), lc(gap, GAP_B)
    clear_bodies(A, pushed)
    push(N, 1.0, inverse + a, inverse + b, pushed + a, pushed + b)
    for i in range(lc(A, N_JOINT_BLOCKS)):
        block = block_at(A, i)
        row, c, d = f + lc(block, B_FIRST), lc(block, B_A), lc(block, B_B)
        J, r = row + DIRECTION + row_side, row + 8 * SHIFT_J
        K = J + ROW_STEP
        p, q = along(J, pushed + c, pushed + d), along(K, pushed + c, pushed + d)
        st(k + PAIR * i, 0, p)
        st(k + PAIR * i, 1, q)
        ask_two(x + SQUARE * i, J, K, base + c, base + d, r, r + ROW_STEP, p, q)
    substitute_two(A, f, x)
    rate = along(N, base + a, base + b) + ld(gap, SHIFT_N)
    own = mobility(N, N, inverse + a, inverse + b)
    left = own
    for i in range(lc(A, N_ROWS)):
        rate += ld(k, i) * ld(x, 2 * i)
        left -= ld(k, i) * ld(x, 2 * i + 1)
    if not left > EMPTIED * own:
        return False
    P = max(-rate / left, 0.0)
    st(gap, P_N, P)
    st(gap, P_T, 0.0)
    si(gap, MODE, STICK if P > 0.0 else OPEN)
    copy_bodies(A, base, v)
    push(N, P, inverse + a, inverse + b, v + a, v + b)
    for i in range(lc(A, N_ROWS)):
        st(k, i, ld(x, 2 * i) - P * ld(x, 2 * i + 1))
    take_joint_impulses(A, f, row_side, k, P_B, v, False)
    return True


@njit(**OPT)
def solve_pairs(A, f, row_side, gap_side):  # type: ignore[no-untyped-def]
    """Impulses and VP for the modes that are given."""
    v, base, x, r = f + 8 * VP, f + 8 * BASE, f + lc(A, X), f + lc(A, RHS)
    raised, some = li(f, RAISED) != 0, fill_gaps(A, f, gap_side, base, x)
    if some:
        couple_gaps(A, f, row_side)
        raised |= eliminate_gaps(A, f)
    for repeat in range(5 if raised else 1):
        again = repeat > 0
        at, y = (v, r) if again else (base, x)
        joint_rates(A, f, row_side, at, y)
        if again:
            gap_rates(A, f, at, y)
        if some:
            substitute(A, f, y)
        else:
            substitute_joints(A, f, y)
        if not again:
            copy_bodies(A, base, v)
        take_joint_impulses(A, f, row_side, y, P_B, v, again)
        take_gap_impulses(A, f, y, v, again)
    return UNSOLVED


def _solver(answer: Any) -> Any:
    """Velocities VP = BASE + M^-1 (W_g P_B + W_N P_N + W_T P_T) that obey joints and laws; whether they were found.

    Joints: R . v + SHIFT_J = 0, their part of the matrix factored before; gaps that are active: 0 <= R . v + SHIFT_N  ⟂
    P_N >= 0 and Coulomb's law. Semismooth Newton from the modes that are given: all rows switch at once, later a
    reproducible half of them, in frictionless mechanisms at last one at a time. `answer` finds the impulses for modes,
    and whether they are the answer, which velocities are yet to follow: as what the program has ended then.
    """

    def solve(A, f, row_side, gap_side):  # type: ignore[no-untyped-def]
        counters, v, gaps, first = f + 8 * COUNTERS, f + 8 * VP, lc(A, N_GAPS), f + lc(A, GAPS)
        si(counters, K_SOLVES, li(counters, K_SOLVES) + 1)
        only = only_active(A, f) if li(f, RAISED) == 0 else 0
        if only and solve_one(A, f, only, row_side, gap_side):
            si(counters, K_ROUNDS, li(counters, K_ROUNDS) + 1)
            return SOLVED
        limit = ALL_AT_ONCE + HASHED
        if not lc(A, ROUGH):
            limit += SINGLE + gaps
        for round_ in range(limit):
            si(counters, K_ROUNDS, li(counters, K_ROUNDS) + 1)
            ended = answer(A, f, row_side, gap_side)
            if ended != UNSOLVED:
                return ended
            changes = last = 0
            for i in range(gaps):
                gap = first + GAP_STEP * i
                if li(gap, ACTIVE):
                    m = wanted_mode(f, gap, gap_side, v)
                    if m != li(gap, MODE):
                        si(gap, WANTED, m)
                        si(gap, WANTS_BEFORE, last)
                        changes += 1
                        last = gap
            if changes == 0:
                return SOLVED
            if round_ >= ALL_AT_ONCE + HASHED:
                si(counters, K_SINGLE, li(counters, K_SINGLE) + 1)
                si(last, MODE, li(last, WANTED))
                continue
            half = round_ >= ALL_AT_ONCE
            if half:
                si(counters, K_HASHED, li(counters, K_HASHED) + 1)
            while last:
                if not half or changes == 1 or hashed((last - first) // GAP_STEP, round_):
                    si(last, MODE, li(last, WANTED))
                last = li(last, WANTS_BEFORE)
        return UNSOLVED

    return solve


#: of any mechanism, and of one without joints and friction
solve_active, solve_active_single = _solver(solve_pairs), _solver(solve_single)
