"""Bodies and elements: placements, forces, and impulses along directions.

Body 0 is the ground, of zero inverse mass. Vectors of bodies are named by the address of their field, f + 8 FIELD, or
`more`; that of the body at offset b stands b further on. What joints and gaps are at the start of a step and at its end
stands at two sides of their records, which change places from step to step.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from numba import njit

from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.trigonometry import place4, sine_cosine
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def more(A, f, field):  # type: ignore[no-untyped-def]
    """A field of bodies that stands in their further records; of the body at offset b where f + b is given."""
    return f + lc(A, MORE) + lc(A, MORE_STEP) * (field // BODY - 1) + 8 * (field % BODY)


@njit(**OPT)
def start_row(f):  # type: ignore[no-untyped-def]
    """Where rows of joints have the step's start."""
    return ROW_SIDE * li(f, PARITY)


@njit(**OPT)
def end_row(f):  # type: ignore[no-untyped-def]
    return ROW_SIDE - ROW_SIDE * li(f, PARITY)


@njit(**OPT)
def start_gap(f):  # type: ignore[no-untyped-def]
    """Where gaps have the step's start, in schemes that look at it."""
    return GAP_SIDE * li(f, PARITY)


@njit(**OPT)
def end_gap(f):  # type: ignore[no-untyped-def]
    return GAP_SIDE - GAP_SIDE * li(f, PARITY)


@njit(**OPT)
def start_z(A, f):  # type: ignore[no-untyped-def]
    """The field of placements at the step's start."""
    return more(A, f, Z0) + (8 * (Z1 - Z0)) * li(f, PARITY)


@njit(**OPT)
def end_z(A, f):  # type: ignore[no-untyped-def]
    return more(A, f, Z1) - (8 * (Z1 - Z0)) * li(f, PARITY)


@njit(**OPT)
def place_one(q, z):  # type: ignore[no-untyped-def]
    sine, cosine = sine_cosine(ld(q, 2))
    st4(z, ld(q, 0), ld(q, 1), cosine, sine)


@njit(**OPT)
def place_next(bodies, i, count, q, z):  # type: ignore[no-untyped-def]
    """(x, y, cos, sin) of the i-th of so many bodies, whose offsets stand at an address, and of the next three."""
    a, b = lc(bodies, i), lc(bodies, min(i + 1, count - 1))
    c, d = lc(bodies, min(i + 2, count - 1)), lc(bodies, min(i + 3, count - 1))
    if not place4(q + a, q + b, q + c, q + d, z + a, z + b, z + c, z + d):
        for x in (a, b, c, d):
            place_one(q + x, z + x)


@njit(**OPT)
def place(A, q, z):  # type: ignore[no-untyped-def]
    """All bodies; the ground stands there already."""
    bodies, count = lc(A, EVERY), lc(A, N_BODIES)
    if count == 1:
        place_one(q + lc(bodies, 0), z + lc(bodies, 0))
        return
    for i in range(0, count, 4):
        place_next(bodies, i, count, q, z)


@njit(**OPT)
def stand(A, f, u, dt, q, z, first, last):  # type: ignore[no-untyped-def]
    """q of Q moved by u for dt, and z, of some of the bodies that contacts and varying forces ask for.

    Where q is not asked for afterwards, both may stand at the same place.
    """
    bodies = lc(A, TOUCHED)
    if last == first + 1:
        b = lc(bodies, first)
        sum4(q + b, f + b + 8 * Q, dt, u + b)
        place_one(q + b, z + b)
        return
    for i in range(first, last, 4):
        for k in range(i, min(i + 4, last)):
            b = lc(bodies, k)
            sum4(q + b, f + b + 8 * Q, dt, u + b)
        place_next(bodies, i, last, q, z)


@njit(**OPT)
def stand_near(A, f, u, dt):  # type: ignore[no-untyped-def]
    """As `stand`, where bodies stand already but for a little: a small turn changes sine and cosine by its series."""
    bodies = lc(A, TOUCHED)
    for k in range(lc(A, N_TOUCHED)):
        b = f + lc(bodies, k)
        q, z, angle = more(A, b, QM), more(A, b, ZM), ld(more(A, b, QM), 2)
        sum4(q, b + 8 * Q, dt, u + lc(bodies, k))
        turn, cosine, sine = ld(q, 2) - angle, ld(z, 2), ld(z, 3)
        if abs(turn) <= LITTLE:
            half = turn / 2
            st4(z, ld(q, 0), ld(q, 1), cosine - turn * (sine + half * cosine), sine + turn * (cosine - half * sine))
        else:
            place_one(q, z)


@njit(**OPT)
def move(A, q, u, dt, q1):  # type: ignore[no-untyped-def]
    """q moved by u for dt."""
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        sum4(q1 + b, q + b, dt, u + b)


@njit(**OPT)
def copy_bodies(A, source, target):  # type: ignore[no-untyped-def]
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        copy4(source + b, target + b)


@njit(**OPT)
def clear_bodies(A, target):  # type: ignore[no-untyped-def]
    """Of all bodies; the ground's counts as well, since impulses on it are added up too."""
    for k in range(lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        clear4(target + b)


@njit(**OPT)
def still_ground(A, f):  # type: ignore[no-untyped-def]
    """The ground's velocities are 0, also after impulses that were not finite."""
    for field in (V, VP, BASE, WORK):
        clear4(f + GROUND + 8 * field)
    for field in (U, PUSH, S_LEFT):
        clear4(more(A, f, field) + GROUND)


@njit(**OPT)
def copy(source, target, n):  # type: ignore[no-untyped-def]
    for k in range(n):
        st(target, k, ld(source, k))


@njit(**OPT)
def clear(p, n):  # type: ignore[no-untyped-def]
    for k in range(n):
        st(p, k, 0.0)


@njit(**OPT)
def add_up(source, target, n, weight):  # type: ignore[no-untyped-def]
    for k in range(n):
        st(target, k, ld(target, k) + weight * ld(source, k))


@njit(**OPT)
def evaluate_group(A, f, g, z, v, side):  # type: ignore[no-untyped-def]
    group = lc(A, GROUPS) + 8 * GROUP * g
    call_evaluate(
        lc(group, G_EVALUATE), lc(group, G_SIZE), lc(group, G_PLACES), f + 8 * TIME, z, v, f + lc(group, G_W), f + side
    )


@njit(**OPT)
def evaluate(A, f, first, last, z, v, side):  # type: ignore[no-untyped-def]
    """Run the kernels of groups first..last; `side` is added to where they write.

    Up to four are each called from a place of their own: a processor may foresee only one function for each place.
    """
    if first < last:
        evaluate_group(A, f, first, z, v, side)
    if first + 1 < last:
        evaluate_group(A, f, first + 1, z, v, side)
    if first + 2 < last:
        evaluate_group(A, f, first + 2, z, v, side)
    for g in range(first + 3, last):
        evaluate_group(A, f, g, z, v, side)


@njit(**OPT)
def joints_at(A, f, t, z, v, side):  # type: ignore[no-untyped-def]
    st(f, TIME, t)
    evaluate(A, f, lc(A, JOINT_0), lc(A, JOINT_1), z, v, side)


@njit(**OPT)
def contacts_at(A, f, z, v, side):  # type: ignore[no-untyped-def]
    evaluate(A, f, lc(A, CONTACT_0), lc(A, CONTACT_1), z, v, side)


@njit(**OPT)
def scatter_forces(A, f, first, last, force):  # type: ignore[no-untyped-def]
    for g in range(first, last):
        group = lc(A, GROUPS) + 8 * GROUP * g
        places, size = lc(group, G_PLACES), lc(group, G_SIZE)
        for i in range(size):
            a, b, out = lc(places, 3 * i), lc(places, 3 * i + 1), f + lc(places, 3 * i + 2)
            add4(force + a, force + a, out)
            add4(force + b, force + b, out + 32)


@njit(**OPT)
def forces_at(A, f, t, z, v):  # type: ignore[no-untyped-def]
    """All applied forces; those that never vary were added up at the start of the run."""
    copy_bodies(A, more(A, f, CONSTANT_FORCE), f + 8 * FORCE)
    if lc(A, VARYING):
        st(f, TIME, t)
        evaluate(A, f, lc(A, FORCE_0), lc(A, FORCE_1), z, v, 0)
        scatter_forces(A, f, lc(A, FORCE_0), lc(A, FORCE_1), f + 8 * FORCE)


@njit(**OPT)
def kick_of(A, f, dt):  # type: ignore[no-untyped-def]
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        product4(more(A, f + b, KICK), dt, f + b + 8 * INVERSE, f + b + 8 * FORCE)


@njit(**OPT)
def add_kick(A, f, v, target):  # type: ignore[no-untyped-def]
    """target = v and the kick."""
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        add4(target + b, v + b, more(A, f + b, KICK))


@njit(**OPT)
def push_joints(A, f, side, P, v):  # type: ignore[no-untyped-def]
    """v += M^-1 W_g P with the joints' directions at `side`, P a field of rows."""
    inverse, row = f + 8 * INVERSE, f + lc(A, ROWS)
    for _ in range(lc(A, N_JOINT_BLOCKS)):
        J, a, b = row + DIRECTION + side, lc(row, ROW_A), lc(row, ROW_B)
        push_both(J, ld(row, P), J + ROW_STEP, ld(row + ROW_STEP, P), inverse + a, inverse + b, v + a, v + b)
        row += PAIR_STEP


@njit(**OPT)
def push_contacts(A, f, side, v):  # type: ignore[no-untyped-def]
    """v += M^-1 (W_N P_N + W_T P_T)."""
    inverse, first = f + 8 * INVERSE, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        N, T = ld(gap, P_N), ld(gap, P_T)
        if N != 0.0 or T != 0.0:
            a, b, J, K = lc(gap, GAP_A), lc(gap, GAP_B), gap + NORMAL + side, gap + TANGENT + side
            push_both(J, N, K, T, inverse + a, inverse + b, v + a, v + b)
