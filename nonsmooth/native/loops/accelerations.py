"""Accelerations of generalized-alpha: the smooth ones, contacts left aside, and the motion that they lead to."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit, types

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@vector("aaxaxaxa")
def sum_of_four4(w, b, target, v, r, x, s, y, t, z):  # type: ignore[no-untyped-def]
    """target = v + r x + s y + t z."""
    kick = b.fadd(b.fmul(w.all(r), w.load(x)), b.fmul(w.all(s), w.load(y)))
    w.store(b.fadd(w.load(v), b.fadd(kick, b.fmul(w.all(t), w.load(z)))), target)


@vector("aaa", types.float64)
def apart4(w, b, x, y, weight):  # type: ignore[no-untyped-def]
    """Sum of (x - y)^2 weight."""
    difference = b.fsub(w.load(x), w.load(y))
    return w.total(b.fmul(b.fmul(difference, difference), w.load(weight)))


@vector("aaaxaxa")
def sizes4(w, b, target, x, y, s, a, r, c):  # type: ignore[no-untyped-def]
    """target = |x| + |y| + |s a| + |r c|."""
    kicks = b.fadd(w.size(b.fmul(w.all(s), w.load(a))), w.size(b.fmul(w.all(r), w.load(c))))
    w.store(b.fadd(b.fadd(w.size(w.load(x)), w.size(w.load(y))), kicks), target)


@vector("aaaaxaxa")
def jump4(w, b, target, mass, after, before, s, x, r, y):  # type: ignore[no-untyped-def]
    """target = M (after - before - s x - r y)."""
    kick = b.fadd(b.fmul(w.all(s), w.load(x)), b.fmul(w.all(r), w.load(y)))
    w.store(b.fmul(w.load(mass), b.fsub(b.fsub(w.load(after), w.load(before)), kick)), target)


@njit(**OPT)
def pseudo_weights(f):  # type: ignore[no-untyped-def]
    """What the old pseudo-acceleration, and the old and new smooth ones, weigh in the new pseudo-acceleration."""
    radius = ld(f, OPTIONS + O_RADIUS)
    alpha_m, alpha_f = (2.0 * radius - 1.0) / (radius + 1.0), radius / (radius + 1.0)
    return -alpha_m / (1.0 - alpha_m), alpha_f / (1.0 - alpha_m), (1.0 - alpha_f) / (1.0 - alpha_m)


@njit(**OPT)
def newmark_weights(f):  # type: ignore[no-untyped-def]
    """gamma and beta."""
    radius = ld(f, OPTIONS + O_RADIUS)
    gamma = 0.5 + radius / (radius + 1.0) - (2.0 * radius - 1.0) / (radius + 1.0)
    return gamma, (gamma + 0.5) * (gamma + 0.5) / 4.0


@njit(**OPT)
def follow_accelerations(A, f, dt, old, new, target):  # type: ignore[no-untyped-def]
    """target = v + dt (old a + new a1) of the old pseudo-acceleration a and the new one a1."""
    of_pseudo, of_old, of_new = pseudo_weights(f)
    r, s, t = dt * (old + new * of_pseudo), dt * new * of_old, dt * new * of_new
    for k in range(1, lc(A, N_BODIES) + 1):
        b = f + GROUND + BODY_STEP * k
        x, y, z = more(A, b, PSEUDO), more(A, b, SMOOTH), more(A, b, SMOOTH_1)
        sum_of_four4(target + GROUND + BODY_STEP * k, b + 8 * V, r, x, s, y, t, z)


@njit(**OPT)
def length(A, f, v):  # type: ignore[no-untyped-def]
    """|v| in the metric of the masses."""
    size = 0.0
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        size += weighted4(v + b, v + b, f + b + 8 * MASS)
    return math.sqrt(size)


@njit(**OPT)
def add_bodies(A, target, x):  # type: ignore[no-untyped-def]
    """target += x."""
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        add4(target + b, target + b, x + b)


@njit(**OPT)
def kicks(A, f):  # type: ignore[no-untyped-def]
    """|M^-1 h| in the metric of the masses, of the forces that were evaluated last."""
    size = 0.0
    for k in range(1, lc(A, N_BODIES) + 1):
        b = f + GROUND + BODY_STEP * k
        size += weighted4(b + 8 * FORCE, b + 8 * FORCE, b + 8 * INVERSE)
    return math.sqrt(size)


@njit(**OPT)
def apart(A, f, x, y):  # type: ignore[no-untyped-def]
    """|x - y| in the metric of the masses."""
    size = 0.0
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        size += apart4(x + b, y + b, f + b + 8 * MASS)
    return math.sqrt(size)


@vector("aaxaa")
def mix4(w, b, target, answer, s, last, x):  # type: ignore[no-untyped-def]
    """target = answer - s (answer - last); last = answer; x = answer - what target was."""
    found, before = w.load(answer), w.load(target)
    w.store(b.fsub(found, b.fmul(w.all(s), b.fsub(found, w.load(last)))), target)
    w.store(found, last)
    w.store(b.fsub(found, before), x)


@vector("aaaa", types.float64)
def bent4(w, b, answer, x, change, weight):  # type: ignore[no-untyped-def]
    """Sum of r (r - change) weight, r = answer - x."""
    r = b.fsub(w.load(answer), w.load(x))
    return w.total(b.fmul(b.fmul(r, b.fsub(r, w.load(change))), w.load(weight)))


@vector("aaaa", types.float64)
def bend4(w, b, answer, x, change, weight):  # type: ignore[no-untyped-def]
    """Sum of (r - change)^2 weight, r = answer - x."""
    r = b.fsub(b.fsub(w.load(answer), w.load(x)), w.load(change))
    return w.total(b.fmul(b.fmul(r, r), w.load(weight)))


@njit(**OPT)
def take_answer(A, f, answer, x, field, secant):  # type: ignore[no-untyped-def]
    """x becomes the answer to it or, with `secant`, where that and the answer before suggest; how far both are apart.

    `field` is that of the answer before, its change follows.
    """
    last, change, size = more(A, f, field), more(A, f, field) + 32, apart(A, f, answer, x)
    share = 0.0
    if secant:
        above = below = 0.0
        for k in range(1, lc(A, N_BODIES) + 1):
            b = GROUND + BODY_STEP * k
            above += bent4(answer + b, x + b, change + b, f + b + 8 * MASS)
            below += bend4(answer + b, x + b, change + b, f + b + 8 * MASS)
        share = min(max(above / max(below, TINY), LEAST_SHARE), MOST_SHARE)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        mix4(x + b, answer + b, share, last + b, change + b)
    return size


@njit(**OPT)
def smooth_accelerations(A, f, t, z, v, side, secant):  # type: ignore[no-untyped-def]
    """SMOOTH_1 and LAM_1: M b = h + W_g lam, W_g' b + drift = 0 at placements z and velocities v; how b has changed.

    The joints' directions stand at `side`, and their matrix is factored. They begin with LAM_1.
    """
    work, x = f + 8 * WORK, f + lc(A, RHS_A)
    forces_at(A, f, t, z, v)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * k
        product4(work + b, 1.0, f + b + 8 * INVERSE, f + b + 8 * FORCE)
    if lc(A, N_ROWS):
        st(f, TIME, t)
        evaluate(A, f, lc(A, DRIFT_0), lc(A, DRIFT_1), z, v, side)
        first = f + lc(A, ROWS)
        for k in range(lc(A, N_ROWS)):
            row = first + ROW_STEP * k
            st(row, SHIFT_J, ld(row + side, ROW_DRIFT))
        push_joints(A, f, side, LAM_1, work)
        joint_rates(A, f, side, work, x)
        answer_joints(A, f, side, x, LAM_1, work)
    return take_answer(A, f, work, more(A, f, SMOOTH_1), B_ANSWER, secant)


@njit(**OPT)
def first_accelerations(A, f):  # type: ignore[no-untyped-def]
    """Those of the state, where no step has left any; whether they were found."""
    side, first, rows = start_row(f), f + lc(A, ROWS), lc(A, N_ROWS)
    for k in range(rows):
        st(first + ROW_STEP * k, LAM_1, 0.0)
    clear_bodies(A, more(A, f, SMOOTH_1))
    for _ in range(2):  # the second time takes round-off away
        smooth_accelerations(A, f, ld(f, TIME + 1), start_z(A, f), f + 8 * V, side, False)
    if li(f, RAISED) or not math.isfinite(length(A, f, more(A, f, SMOOTH_1))):
        return False
    copy_bodies(A, more(A, f, SMOOTH_1), more(A, f, SMOOTH))
    copy_bodies(A, more(A, f, SMOOTH_1), more(A, f, PSEUDO))
    for k in range(rows):
        row = first + ROW_STEP * k
        st(row, LAM, ld(row, LAM_1))
    si(f, KNOWN, 1)
    return True
