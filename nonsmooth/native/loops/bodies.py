"""Bodies and elements: placements, forces, and impulses along directions.

Body 0 is the ground, of zero inverse mass. A *row* is an equation of a joint, or a gap's normal or tangential law; it
has a test vector R (its rate is R . v) and a force direction C = M^-1 (its push), each with three components for two
bodies.
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
def place(A, q, z):  # type: ignore[no-untyped-def]
    """(x, y, cos, sin) of all bodies; the ground's stands there already."""
    for b in range(1, lc(A, N_BODIES) + 1):
        sine, cosine = sine_cosine(ld(q, 3 * b + 2))
        st(z, 4 * b, ld(q, 3 * b))
        st(z, 4 * b + 1, ld(q, 3 * b + 1))
        st(z, 4 * b + 2, cosine)
        st(z, 4 * b + 3, sine)


@njit(**OPT)
def move(A, q, u, dt, q1):  # type: ignore[no-untyped-def]
    """q moved by u for dt."""
    for k in range(3, 3 * lc(A, N_BODIES) + 3):
        st(q1, k, ld(q, k) + dt * ld(u, k))


@njit(**OPT)
def copy(source, target, n):  # type: ignore[no-untyped-def]
    for k in range(n):
        st(target, k, ld(source, k))


@njit(**OPT)
def add_up(source, target, n, weight):  # type: ignore[no-untyped-def]
    for k in range(n):
        st(target, k, ld(target, k) + weight * ld(source, k))


@njit(**OPT)
def evaluate(A, f, first, last, z, v, out):  # type: ignore[no-untyped-def]
    """Run the kernels of groups first..last; `out` is added to where they write."""
    for g in range(first, last):
        call_evaluate(
            lc(lc(A, G_EVALUATE), g), lc(lc(A, G_SIZE), g), lc(lc(A, G_A), g), lc(lc(A, G_B), g), f + lc(A, TIME),
            z, v, f + lc(lc(A, G_W), g), out + lc(lc(A, G_OUT), g),
        )  # fmt: skip


@njit(**OPT)
def joints_at(A, f, t, z, v, out):  # type: ignore[no-untyped-def]
    st(f + lc(A, TIME), 0, t)
    evaluate(A, f, lc(A, JOINT_0), lc(A, JOINT_1), z, v, out)


@njit(**OPT)
def contacts_at(A, f, z, v, out):  # type: ignore[no-untyped-def]
    evaluate(A, f, lc(A, CONTACT_0), lc(A, CONTACT_1), z, v, out)


@njit(**OPT)
def scatter_forces(A, f, first, last, force):  # type: ignore[no-untyped-def]
    for g in range(first, last):
        a, b, stride = lc(lc(A, G_A), g), lc(lc(A, G_B), g), lc(lc(A, G_STRIDE), g)
        out = f + lc(lc(A, G_OUT), g)
        for i in range(lc(lc(A, G_SIZE), g)):
            x, y = li(a, i), li(b, i)
            for d in range(3):
                st(force, 3 * x + d, ld(force, 3 * x + d) + ld(out, stride * i + d))
                st(force, 3 * y + d, ld(force, 3 * y + d) + ld(out, stride * i + 3 + d))


@njit(**OPT)
def forces_at(A, f, t, z, v):  # type: ignore[no-untyped-def]
    """All applied forces; those that never vary were added up at the start of the run."""
    force = f + lc(A, FORCE)
    copy(f + lc(A, CONSTANT_FORCE), force, 3 * lc(A, N_BODIES) + 3)
    if lc(A, VARYING):
        st(f + lc(A, TIME), 0, t)
        evaluate(A, f, lc(A, FORCE_0), lc(A, FORCE_1), z, v, f)
        scatter_forces(A, f, lc(A, FORCE_0), lc(A, FORCE_1), force)


@njit(**OPT)
def kick_of(A, f, dt):  # type: ignore[no-untyped-def]
    force, inverse, kick = f + lc(A, FORCE), f + lc(A, INVERSE), f + lc(A, KICK)
    for k in range(3, 3 * lc(A, N_BODIES) + 3):
        st(kick, k, dt * ld(inverse, k) * ld(force, k))


@njit(**OPT)
def along(J, a, b, v):  # type: ignore[no-untyped-def]
    """J . v of a row's six components."""
    x = ld(J, 0) * ld(v, 3 * a) + ld(J, 1) * ld(v, 3 * a + 1) + ld(J, 2) * ld(v, 3 * a + 2)
    return x + (ld(J, 3) * ld(v, 3 * b) + ld(J, 4) * ld(v, 3 * b + 1) + ld(J, 5) * ld(v, 3 * b + 2))


@njit(**OPT)
def along_sizes(J, a, b, v):  # type: ignore[no-untyped-def]
    """|J| . |v|."""
    x = 0.0
    for d in range(3):
        x += abs(ld(J, d) * ld(v, 3 * a + d)) + abs(ld(J, 3 + d) * ld(v, 3 * b + d))
    return x


@njit(**OPT)
def mobility(J, a, b, inverse):  # type: ignore[no-untyped-def]
    """J M^-1 J'."""
    x = 0.0
    for d in range(3):
        x += ld(J, d) ** 2 * ld(inverse, 3 * a + d) + ld(J, 3 + d) ** 2 * ld(inverse, 3 * b + d)
    return x


@njit(**OPT)
def push(J, a, b, P, inverse, v):  # type: ignore[no-untyped-def]
    """v += M^-1 J' P."""
    for d in range(3):
        st(v, 3 * a + d, ld(v, 3 * a + d) + ld(inverse, 3 * a + d) * ld(J, d) * P)
        st(v, 3 * b + d, ld(v, 3 * b + d) + ld(inverse, 3 * b + d) * ld(J, 3 + d) * P)


@njit(**OPT)
def push_joints(A, f, out, P, v):  # type: ignore[no-untyped-def]
    """v += M^-1 W_g P with the joints' directions in `out`."""
    inverse = f + lc(A, INVERSE)
    for r in range(lc(A, N_ROWS)):
        p = ld(P, r)
        if p != 0.0:
            push(out + lc(lc(A, ROW_J), r), lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r), p, inverse, v)


@njit(**OPT)
def push_contacts(A, f, out, N, T, v):  # type: ignore[no-untyped-def]
    """v += M^-1 (W_N N + W_T T)."""
    inverse, rough = f + lc(A, INVERSE), lc(A, ROUGH)
    for i in range(lc(A, N_GAPS)):
        a, b = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
        p = ld(N, i)
        if p != 0.0:
            push(out + lc(lc(A, GAP_N), i), a, b, p, inverse, v)
        if rough:
            p = ld(T, i)
            if p != 0.0:
                push(out + lc(lc(A, GAP_T), i), a, b, p, inverse, v)


@njit(**OPT)
def clear(p, n):  # type: ignore[no-untyped-def]
    for k in range(n):
        st(p, k, 0.0)
