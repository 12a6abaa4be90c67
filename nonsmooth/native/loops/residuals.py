"""What a step is judged by, and what laws and joints report."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math
from typing import Any

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def touching(f, gap, side):  # type: ignore[no-untyped-def]
    """Whether a gap counts as closed."""
    return ld(gap + side, GAP_G) <= ld(f, OPTIONS + O_CLOSED_GAP) * ld(gap, SCALE)


@njit(**OPT)
def rate_size(J, v, terms, inverse, a, b):  # type: ignore[no-untyped-def]
    """The size of the terms of a rate, see `law_error`."""
    if terms == 0:
        return along_sizes(J, v + a, v + b)
    return moved_sizes(J, inverse + a, inverse + b, terms + a, terms + b)


@njit(**OPT)
def law_error(A, f, gap, side, v, terms):  # type: ignore[no-untyped-def]
    """Natural map of Signorini's and Coulomb's laws of an active gap, each scaled by its terms; its normal rate.

    Rates are sums of terms of the size of v, or of those that v is a sum of, whose momentum stands at `terms`, or 0.
    """
    a, b, J, N, inverse = lc(gap, GAP_A), lc(gap, GAP_B), gap + NORMAL + side, ld(gap, P_N), f + 8 * INVERSE
    own = mobility(J, J, inverse + a, inverse + b) * N
    plain = along(J, v + a, v + b)
    rate = plain + ld(gap, SHIFT_N)
    size = rate_size(J, v, terms, inverse, a, b) + abs(ld(gap, SHIFT_N)) + abs(own)
    worst = abs(min(rate, own)) / max(size, TINY)
    if lc(A, ROUGH) and ld(gap, FRICTION) > 0.0:
        D, shift = gap + TANGENT + side, ld(gap, SHIFT_T)
        own = mobility(D, D, inverse + a, inverse + b)
        slip, reach = along(D, v + a, v + b) + shift, own * ld(gap, FRICTION) * max(N, 0.0)
        force = own * ld(gap, P_T)
        error = abs(force - min(max(force - slip, -reach), reach))
        size = rate_size(D, v, terms, inverse, a, b) + abs(shift) + abs(force) + reach
        worst = max(worst, error / max(size, TINY))
    return worst if math.isfinite(rate) else math.inf, plain


@njit(**OPT)
def mode_of(f, gap, closed):  # type: ignore[no-untyped-def]
    """Contact mode as recorded: open, closed, sticking, slipping."""
    if not closed:
        return 0
    reach = ld(gap, FRICTION) * ld(gap, P_N)
    if not reach > 0.0:
        return 1
    return 2 if abs(ld(gap, P_T)) < reach * (1.0 - ld(f, OPTIONS + O_EDGE)) else 3


@njit(**OPT)
def zero_rate(f, gap, J, v):  # type: ignore[no-untyped-def]
    """Rate of a gap below which it counts as zero."""
    terms = along_sizes(J, v + lc(gap, GAP_A), v + lc(gap, GAP_B))
    return ld(f, OPTIONS + O_CLOSED_RATE) * (terms + ld(gap, SCALE) / ld(f, OPTIONS + O_LONGEST))


@njit(**OPT)
def rebound(gap, rate):  # type: ignore[no-untyped-def]
    """e gamma of a gap that approaches faster than its threshold."""
    if -rate > ld(gap, THRESHOLD):
        return ld(gap, RESTITUTION) * min(rate, 0.0)
    return 0.0


@njit(**OPT)
def rate_error(J, x, y, explicit, floor):  # type: ignore[no-untyped-def]
    """|J . (x, y) + explicit|, scaled by its terms and `floor`."""
    terms = along_sizes(J, x, y) + abs(explicit) + floor
    return abs(along(J, x, y) + explicit) / max(terms, TINY)


@njit(**OPT)
def explicit_rates(A, f, side):  # type: ignore[no-untyped-def]
    """SHIFT_J = the explicit rates of the joints."""
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, SHIFT_J, ld(row + side, ROW_RATE))


@njit(**OPT)
def driven(A, f, side, P):  # type: ignore[no-untyped-def]
    """Work of drivers by impulses of joints, a field of rows."""
    work, first = 0.0, f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        work -= ld(row, P) * ld(row + side, ROW_RATE)
    return work


@njit(**OPT)
def clear_joints(A, f, result):  # type: ignore[no-untyped-def]
    """A field of joints."""
    first = f + lc(A, JOINTS)
    for k in range(lc(A, N_JOINTS)):
        clear4(first + JOINT_STEP * k + 8 * result)


@njit(**OPT)
def reactions(A, f, side, z, P, weight, result, add):  # type: ignore[no-untyped-def]
    """result = weight times force and torque of each joint on its second body, or += that; P a field of rows."""
    first = f + lc(A, JOINTS)
    for k in range(lc(A, N_JOINTS)):
        joint = first + JOINT_STEP * k
        row, to, placement = f + lc(joint, JOINT_FIRST), joint + 8 * result, z + lc(joint, JOINT_B)
        at = row + 8 * POINT
        if not add:
            clear4(to)
        for _ in range(lc(joint, JOINT_PAIRS)):
            J, other = row + DIRECTION + side, row + ROW_STEP
            react(to, weight, J, ld(row, P), J + ROW_STEP, ld(other, P), at, placement)
            row += PAIR_STEP


@njit(**OPT)
def worst_row(A, f, floor, b):  # type: ignore[no-untyped-def]
    """The largest of WORK over its terms BASE, and over `floor` in the metric of the masses, of the bodies after b."""
    rows, terms, worst = f + 8 * WORK, f + 8 * BASE, 0.0
    while b < GROUND + BODY_STEP * lc(A, N_BODIES):
        b += BODY_STEP
        worst = max(worst, worst4(rows + b, terms + b, floor, more(A, f + b, ROOT_MASS)))
    clear4(rows + GROUND)
    clear4(terms + GROUND)
    return worst


@njit(**OPT)
def load_powers(A, f, v):  # type: ignore[no-untyped-def]
    """Power of loads and of dampers, whose forces were evaluated last, at velocities v."""
    loads = damping = 0.0
    for g in range(lc(A, STATIC_0), lc(A, FORCE_1)):
        group = lc(A, GROUPS) + 8 * GROUP * g
        if lc(group, G_STORED):
            continue
        places, power = lc(group, G_PLACES), 0.0
        for i in range(lc(group, G_SIZE)):
            power += along(f + lc(places, 3 * i + 2), v + lc(places, 3 * i), v + lc(places, 3 * i + 1))
        if lc(group, G_DAMPING):
            damping += power
        else:
            loads += power
    return loads, damping


@njit(**OPT)
def least_mobility(A, f):  # type: ignore[no-untyped-def]
    """The least of the inverse masses and inertias."""
    inverse, least = f + 8 * INVERSE, math.inf
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        least = min(least, ld(inverse + b, 0), ld(inverse + b, 1), ld(inverse + b, 2))
    return least


@njit(**OPT)
def take_off_joints(A, f, side, rows, terms):  # type: ignore[no-untyped-def]
    """rows -= J' P_B with the joints' directions at `side`, whose sizes are added to the terms."""
    row = f + lc(A, ROWS)
    for _ in range(lc(A, N_JOINT_BLOCKS)):
        J, a, b = row + DIRECTION + side, lc(row, ROW_A), lc(row, ROW_B)
        take_off(J, ld(row, P_B), J + ROW_STEP, ld(row + ROW_STEP, P_B), rows + a, rows + b, terms + a, terms + b)
        row += PAIR_STEP


@njit(**OPT)
def take_off_both(A, f, start, side, rows, terms):  # type: ignore[no-untyped-def]
    """The same of P_A with the joints' directions at `start`, and of P_B with those at `side`."""
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        a, b = lc(row, ROW_A), lc(row, ROW_B)
        J, K = row + DIRECTION + start, row + DIRECTION + side
        take_off(J, ld(row, P_A), K, ld(row, P_B), rows + a, rows + b, terms + a, terms + b)


@njit(**OPT)
def follow_none(A, f, g, v):  # type: ignore[no-untyped-def]
    """Velocities have followed impulses already."""


@njit(**OPT)
def settle_none(A, f, portion, dt):  # type: ignore[no-untyped-def]
    """Bodies move when all are judged."""


def momentum_of(look: Any, follow: Any = follow_none, settle: Any = settle_none) -> Any:
    """Judges the momentum of a step, and what `look` finds at its gaps.

    After a program with which that is left open, v1 has to `follow` the impulses of gaps; where these go on from the
    step before, portions `settle` as soon as they are judged. The first one that has not is returned at last.
    """

    @njit(**OPT)
    def momentum_and_laws(A, f, v0, v1, dt, gap_side, row_side, start, solved):  # type: ignore[no-untyped-def]
        rows, terms, rough, first, free = f + 8 * WORK, f + 8 * BASE, lc(A, ROUGH), f + lc(A, GAPS), lc(A, N_ROWS) == 0
        b, c, settled, g, k, portion = GROUND, GROUND, lc(A, PORTIONS), 0, 0, lc(A, PORTIONS)
        kinetic_0 = kinetic_1 = kicked = law = natural = loss = worst = 0.0
        striking = False
        for _ in range(lc(A, N_PORTIONS)):
            following = portion + 8 * PORTION
            while solved >= TO_FOLLOW and g < lc(portion, P_NEXT_GAPS):
                follow(A, f, g, v1)
                g += 1
            while b < lc(portion, P_DONE_BODIES):
                b += BODY_STEP
                mass, force = f + b + 8 * MASS, f + b + 8 * FORCE
                momentum4(rows + b, terms + b, mass, v0 + b, v1 + b, dt, force)
                kinetic_0 += weighted4(v0 + b, v0 + b, mass)
                kinetic_1 += weighted4(v1 + b, v1 + b, mass)
                kicked += weighted4(force, force, f + b + 8 * INVERSE)
            to = lc(portion, P_DONE_GAPS)
            for i in range(k, to):
                fetch(first + GAP_STEP * (i + TOGETHER) + 8 * GAP_G)
                fetch(first + GAP_STEP * (i + TOGETHER) + 8 * FRICTION)
            for i in range(k, to):
                gap = first + GAP_STEP * i
                N, T = ld(gap, P_N), ld(gap, P_T)
                x, y, J = lc(gap, GAP_A), lc(gap, GAP_B), gap + NORMAL + gap_side
                if N != 0.0 or T != 0.0:
                    K = gap + TANGENT + gap_side if rough else J
                    take_off(J, N, K, T, rows + x, rows + y, terms + x, terms + y)
                error, off, strikes, lost = look(A, f, gap, gap_side, v0, v1, dt, solved)
                law, natural, loss = max(law, error), max(natural, off), loss + lost
                striking = striking or strikes
            while free and c < lc(following, P_BODIES):
                c += BODY_STEP
                worst = max(worst, worst4(rows + c, terms + c, 0.0, f + c + 8 * MASS))
            if solved == GOING_ON and worst <= SUMMED:
                settle(A, f, portion, dt)
                settled = following
            k, portion = to, following
        if start < 0:
            take_off_joints(A, f, row_side, rows, terms)
        else:
            take_off_both(A, f, start, row_side, rows, terms)
        size = math.sqrt(kinetic_0) + math.sqrt(kinetic_1) + dt * math.sqrt(kicked)
        if not (free and worst <= SUMMED):
            judged = min(worst, SUMMED) if settled > lc(A, PORTIONS) else 0.0  # at most, of those whose rows are gone
            worst = max(judged, worst_row(A, f, ld(f, OPTIONS + O_FLOOR) * size, lc(settled, P_BODIES)))
        else:
            clear4(rows + GROUND)
            clear4(terms + GROUND)
        return worst, size, law, striking, natural, loss, settled

    return momentum_and_laws


@njit(**OPT)
def law_alone(A, f, gap, side, v0, v1, dt, solved):  # type: ignore[no-untyped-def]
    """The error of the laws at v1 where they were `solved` for; nothing strikes."""
    return law_error(A, f, gap, side, v1, f + 8 * BASE)[0] if solved and li(gap, ACTIVE) else 0.0, 0.0, False, 0.0


judge_momentum = momentum_of(law_alone)


@njit(**OPT)
def momentum_error(A, f, v0, v1, dt, gap_side, row_side, start, laws):  # type: ignore[no-untyped-def]
    """Scaled residual of M (v1 - v0) = dt h + impulses; the size of its terms, in the metric of the masses.

    And the error of the laws of contact at v1, where `laws` asks for it.

    Impulses of joints are P_B along the directions at `row_side`, and P_A along those at `start`, where that is not
    negative. Rows and their terms gather in WORK and BASE.
    """
    return judge_momentum(A, f, v0, v1, dt, gap_side, row_side, start, laws)[:3]


@njit(**OPT)
def turns_far(A, f, u, dt):  # type: ignore[no-untyped-def]
    """Whether within dt u turns a body further away from where V does than a step may."""
    v, turn = f + 8 * V, ld(f, OPTIONS + O_TURN)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        if not abs(ld(u + b, 2) - ld(v + b, 2)) * dt <= turn:
            return True
    return False


@njit(**OPT)
def leaves_rest(A, f, v1, dt, side):  # type: ignore[no-untyped-def]
    """Whether redundant contacts with friction move by the velocity v1 after a start at rest, where they may stay.

    Whether they can, the Python formulation looks into, where contacts closed at `side` have two rows too many.
    """
    enough = 3 * lc(A, N_BODIES) + 2 - lc(A, N_ROWS)
    if not lc(A, ROUGH) or 2 * lc(A, N_GAPS) < enough:
        return False
    first, closed = f + lc(A, GAPS), 0
    for k in range(lc(A, N_GAPS)):
        if touching(f, first + GAP_STEP * k, side):
            closed += 1
    if 2 * closed < enough:
        return False
    before, after, kick, v = 0.0, 0.0, 0.0, f + 8 * V
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        before += weighted4(v + b, v + b, f + b + 8 * MASS)
        after += weighted4(v1 + b, v1 + b, f + b + 8 * MASS)
        kick += weighted4(f + b + 8 * FORCE, f + b + 8 * FORCE, f + b + 8 * INVERSE)
    return before <= AT_REST * after and after > AT_REST * dt * dt * kick


@njit(**OPT)
def note_scalars(f, dt, error, natural, work, struck_work, loss):  # type: ignore[no-untyped-def]
    """What a step leaves for its row besides motion and impulses."""
    scalars = f + 8 * SCALARS
    st(scalars, DT, dt)
    st(scalars, RESIDUAL, error)
    st(scalars, COMPLEMENTARITY, natural)
    st(scalars, WORK_DRIVERS, work)
    st(scalars, WORK_DRIVERS_IMPACT, struck_work)
    st(scalars, LOSS_FRICTION, loss)
