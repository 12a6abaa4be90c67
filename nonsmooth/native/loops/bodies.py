"""Bodies and elements: placements, forces, and impulses along directions.

Body 0 is the ground, of zero inverse mass. Vectors of bodies are named by the address of their field, f + 8 FIELD;
that of the body at offset b stands b further on. What joints and gaps are at the start of a step and at its end stands
at two sides of their records, which change places from step to step.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.memory import *
from nonsmooth.native.table import *


@njit(**OPT)
def sine_cosine(x):  # type: ignore[no-untyped-def]
    """sin and cos to an error of 1e-16; the same bits on every machine, and inlined."""
    if not abs(x) < 1e6:
        return math.sin(x), math.cos(x)
    n = math.floor(x * 0.6366197723675814 + 0.5)
    y = ((x - n * 1.57079632673412561417) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21
    z = y * y
    s = y + y * z * (
        -1.66666666666666324348e-01
        + z
        * (
            8.33333333332248946124e-03
            + z
            * (
                -1.98412698298579493134e-04
                + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))
            )
        )
    )
    half = 0.5 * z
    w = 1.0 - half
    tail = z * (
        4.16666666666666019037e-02
        + z
        * (
            -1.38888888888741095749e-03
            + z
            * (
                2.48015872894767294178e-05
                + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))
            )
        )
    )
    c = w + (((1.0 - w) - half) + z * tail)
    k = int(n) & 3
    if k == 0:
        return s, c
    if k == 1:
        return c, -s
    if k == 2:
        return -s, -c
    return -c, s


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
def start_z(f):  # type: ignore[no-untyped-def]
    """The field of placements at the step's start."""
    return f + 8 * Z0 + (8 * (Z1 - Z0)) * li(f, PARITY)


@njit(**OPT)
def end_z(f):  # type: ignore[no-untyped-def]
    return f + 8 * Z1 - (8 * (Z1 - Z0)) * li(f, PARITY)


@njit(**OPT)
def place(A, q, z):  # type: ignore[no-untyped-def]
    """(x, y, cos, sin) of all bodies; the ground's stands there already."""
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        sine, cosine = sine_cosine(ld(q + b, 2))
        st4(z + b, ld(q + b, 0), ld(q + b, 1), cosine, sine)


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
def evaluate(A, f, first, last, z, v, side):  # type: ignore[no-untyped-def]
    """Run the kernels of groups first..last; `side` is added to where they write."""
    for g in range(first, last):
        group = lc(A, GROUPS) + 8 * GROUP * g
        call_evaluate(
            lc(group, G_EVALUATE), lc(group, G_SIZE), lc(group, G_PLACES), f + 8 * TIME, z, v, f + lc(group, G_W),
            f + side,
        )  # fmt: skip


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
    copy_bodies(A, f + 8 * CONSTANT_FORCE, f + 8 * FORCE)
    if lc(A, VARYING):
        st(f, TIME, t)
        evaluate(A, f, lc(A, FORCE_0), lc(A, FORCE_1), z, v, 0)
        scatter_forces(A, f, lc(A, FORCE_0), lc(A, FORCE_1), f + 8 * FORCE)


@njit(**OPT)
def kick_of(A, f, dt):  # type: ignore[no-untyped-def]
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        product4(f + b + 8 * KICK, dt, f + b + 8 * INVERSE, f + b + 8 * FORCE)


@njit(**OPT)
def push_joints(A, f, side, P, v):  # type: ignore[no-untyped-def]
    """v += M^-1 W_g P with the joints' directions at `side`, P a field of rows."""
    inverse, first = f + 8 * INVERSE, f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        a, b = lc(row, ROW_A), lc(row, ROW_B)
        push(row + DIRECTION + side, ld(row, P), inverse + a, inverse + b, v + a, v + b)


@njit(**OPT)
def push_contacts(A, f, side, v):  # type: ignore[no-untyped-def]
    """v += M^-1 (W_N P_N + W_T P_T)."""
    inverse, rough, first = f + 8 * INVERSE, lc(A, ROUGH), f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        a, b, N, T = lc(gap, GAP_A), lc(gap, GAP_B), ld(gap, P_N), ld(gap, P_T)
        if N != 0.0:
            push(gap + NORMAL + side, N, inverse + a, inverse + b, v + a, v + b)
        if rough and T != 0.0:
            push(gap + TANGENT + side, T, inverse + a, inverse + b, v + a, v + b)
