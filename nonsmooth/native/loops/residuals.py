"""What a step is judged by, and what laws and joints report."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.table import *


@njit(**OPT)
def law_error(A, f, out, v):  # type: ignore[no-untyped-def]
    """Natural map of Signorini's and Coulomb's laws over the active gaps, each scaled by its terms."""
    worst, inverse, rough = 0.0, f + lc(A, INVERSE), lc(A, ROUGH)
    active, N, T = f + lc(A, ACTIVE), f + lc(A, P_N), f + lc(A, P_T)
    normal, tangential, friction = f + lc(A, SHIFT_N), f + lc(A, SHIFT_T), f + lc(A, FRICTION)
    for i in range(lc(A, N_GAPS)):
        if not li(active, i):
            continue
        a, b, J = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), out + lc(lc(A, GAP_N), i)
        own = mobility(J, a, b, inverse) * ld(N, i)
        rate = along(J, a, b, v) + ld(normal, i)
        error = abs(min(rate, own))
        if error != 0.0:
            terms = along_sizes(J, a, b, v) + abs(ld(normal, i)) + abs(own)
            worst = max(worst, error / max(terms, TINY))
        if rough and ld(friction, i) > 0.0:
            D = out + lc(lc(A, GAP_T), i)
            own = mobility(D, a, b, inverse)
            slip, reach = along(D, a, b, v) + ld(tangential, i), own * ld(friction, i) * max(ld(N, i), 0.0)
            force = own * ld(T, i)
            error = abs(force - min(max(force - slip, -reach), reach))
            if error != 0.0:
                terms = along_sizes(D, a, b, v) + abs(ld(tangential, i)) + abs(force) + reach
                worst = max(worst, error / max(terms, TINY))
        if not math.isfinite(rate):
            return math.inf
    return worst


@njit(**OPT)
def mode_of(A, f, i, closed, N, T):  # type: ignore[no-untyped-def]
    """Contact mode as recorded: open, closed, sticking, slipping."""
    if not closed:
        return 0
    mu = ld(f + lc(A, FRICTION), i)
    if not (mu > 0.0 and N > 0.0):
        return 1
    return 2 if abs(T) < mu * N * (1.0 - ld(f + lc(A, OPTIONS), O_EDGE)) else 3


@njit(**OPT)
def zero_rate(A, f, i, J, v):  # type: ignore[no-untyped-def]
    """Rate of gap i below which it counts as zero."""
    options = f + lc(A, OPTIONS)
    terms = along_sizes(J, lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), v)
    return ld(options, O_CLOSED_RATE) * (terms + ld(f + lc(A, SCALE), i) / ld(options, O_LONGEST))


@njit(**OPT)
def rebound(A, f, i, rate):  # type: ignore[no-untyped-def]
    """e gamma of a gap that approaches faster than its threshold."""
    if -rate > ld(f + lc(A, THRESHOLD), i):
        return ld(f + lc(A, RESTITUTION), i) * min(rate, 0.0)
    return 0.0


@njit(**OPT)
def reactions(A, f, out, z, P, weight, result):  # type: ignore[no-untyped-def]
    """result += weight times force and torque of each joint on its second body."""
    for k in range(lc(A, N_JOINTS)):
        b, first = lc(lc(A, JOINT_B), k), lc(lc(A, JOINT_FIRST), k)
        x = y = torque = 0.0
        for r in range(first, first + lc(lc(A, JOINT_ROWS), k)):
            J, p = out + lc(lc(A, ROW_J), r), ld(P, r)
            x += ld(J, 3) * p
            y += ld(J, 4) * p
            torque += ld(J, 5) * p
        at = f + lc(lc(A, JOINT_POINT), k)
        cosine, sine = ld(z, 4 * b + 2), ld(z, 4 * b + 3)
        arm_x, arm_y = cosine * ld(at, 0) - sine * ld(at, 1), sine * ld(at, 0) + cosine * ld(at, 1)
        st(result, 3 * k, ld(result, 3 * k) + weight * x)
        st(result, 3 * k + 1, ld(result, 3 * k + 1) + weight * y)
        st(result, 3 * k + 2, ld(result, 3 * k + 2) + weight * (torque - (arm_x * y - arm_y * x)))


@njit(**OPT)
def momentum_error(A, f, v0, v1, dt, out_c, N, T, out_a, P_a, out_b, P_b):  # type: ignore[no-untyped-def]
    """Scaled residual of M (v1 - v0) = dt h + impulses; rows and terms gather in WORK and BASE, `size` is returned."""
    n = 3 * lc(A, N_BODIES) + 3
    mass, force = f + lc(A, MASS), f + lc(A, FORCE)
    rows, terms = f + lc(A, WORK), f + lc(A, BASE)
    inverse = f + lc(A, INVERSE)
    kinetic_0 = kinetic_1 = kicked = 0.0
    for k in range(n):
        m, a, b, h = ld(mass, k), ld(v0, k), ld(v1, k), dt * ld(force, k)
        st(rows, k, m * (b - a) - h)
        st(terms, k, m * (abs(a) + abs(b)) + abs(h))
        kinetic_0 += m * a * a
        kinetic_1 += m * b * b
        kicked += ld(inverse, k) * h * h
    for r in range(lc(A, N_ROWS)):
        a, b = 3 * lc(lc(A, ROW_A), r), 3 * lc(lc(A, ROW_B), r)
        J, K, p, s = out_a + lc(lc(A, ROW_J), r), out_b + lc(lc(A, ROW_J), r), ld(P_a, r), ld(P_b, r)
        for d in range(3):
            x, y = ld(J, d) * p, ld(K, d) * s
            st(rows, a + d, ld(rows, a + d) - x - y)
            st(terms, a + d, ld(terms, a + d) + abs(x) + abs(y))
            x, y = ld(J, 3 + d) * p, ld(K, 3 + d) * s
            st(rows, b + d, ld(rows, b + d) - x - y)
            st(terms, b + d, ld(terms, b + d) + abs(x) + abs(y))
    rough = lc(A, ROUGH)
    for i in range(lc(A, N_GAPS)):
        p = ld(N, i)
        s = ld(T, i) if rough else 0.0
        if p == 0.0 and s == 0.0:
            continue
        a, b = 3 * lc(lc(A, GAP_A), i), 3 * lc(lc(A, GAP_B), i)
        J, K = out_c + lc(lc(A, GAP_N), i), out_c + lc(lc(A, GAP_T), i)
        for d in range(3):
            x = ld(J, d) * p
            y = ld(K, d) * s if rough else 0.0
            st(rows, a + d, ld(rows, a + d) - x - y)
            st(terms, a + d, ld(terms, a + d) + abs(x) + abs(y))
            x = ld(J, 3 + d) * p
            y = ld(K, 3 + d) * s if rough else 0.0
            st(rows, b + d, ld(rows, b + d) - x - y)
            st(terms, b + d, ld(terms, b + d) + abs(x) + abs(y))
    size = math.sqrt(kinetic_0) + math.sqrt(kinetic_1) + math.sqrt(kicked)
    floor, worst, root = ld(f + lc(A, OPTIONS), O_FLOOR) * size, 0.0, f + lc(A, ROOT_MASS)
    for k in range(3, n):
        error, scale = abs(ld(rows, k)), max(ld(terms, k) + floor * ld(root, k), TINY)
        if not error <= worst * scale:
            worst = error / scale
    return worst, size
