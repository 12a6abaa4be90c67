"""Moreau and Jean's step of a mechanism without ideal joints: forces at a point within it, contacts as one program.

What rests under constant loads takes no program: its impulses are those of the step before.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math

from numba import njit

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def moreau_forces(A, f, t0, dt, theta, u, placed):  # type: ignore[no-untyped-def]
    """Forces and kick at the point theta, where bodies may stand already."""
    if lc(A, VARYING):
        if not placed:
            stand(A, f, u, theta * dt)
        forces_at(A, f, t0 + theta * dt, f + 8 * ZM, u)
    kick_of(A, f, dt)


@njit(**OPT)
def guess_steady(A, f, longer):  # type: ignore[no-untyped-def]
    """Impulses of lasting contacts as they are at rest under constant loads; whether all were so in the last step."""
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if li(gap, ACTIVE) and not li(gap, STEADY):
            return False
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if li(gap, ACTIVE):
            P, N, T = longer * ld(gap, HISTORY_N), ld(gap, P_N), ld(gap, P_T)
            st(gap, GUESS, P)
            st(gap, P_N, P)
            st(gap, P_T, T * (P / N) if N > 0.0 else 0.0)
    return True


@njit(**OPT)
def holds_steady(A, f):  # type: ignore[no-untyped-def]
    """Whether VP, of the impulses that were guessed, obeys the laws to round-off."""
    vp, first = f + 8 * VP, f + lc(A, GAPS)
    push_contacts(A, f, 0, vp)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if li(gap, ACTIVE):
            rate = along(gap + NORMAL, vp + lc(gap, GAP_A), vp + lc(gap, GAP_B))
            st(gap, GUESS_OFF, rate + ld(gap, SHIFT_N))
    return law_error(A, f, 0, vp) <= 3e-15


@njit(**OPT)
def leads_on(A, f, theta):  # type: ignore[no-untyped-def]
    """U and GAINED follow from VP; by how much U changes, in the metric of the masses."""
    v, u, vp, moved = f + 8 * V, f + 8 * U, f + 8 * VP, 0.0
    for i in range(1, lc(A, N_BODIES) + 1):
        b = GROUND + BODY_STEP * i
        gained, old = f + b + 8 * GAINED, f + b + 8 * WORK
        difference4(gained, vp + b, v + b)
        copy4(u + b, old)
        sum4(u + b, v + b, theta, gained)
        difference4(old, u + b, old)
        moved += weighted4(old, old, f + b + 8 * MASS)
    return math.sqrt(moved)


@njit(**OPT)
def moreau_free(A, f, t0, dt, theta, some):  # type: ignore[no-untyped-def]
    """The passes of a mechanism without joints: forces at the point theta, contacts as one program; how they ended."""
    v, u, vp, base, before = f + 8 * V, f + 8 * U, f + 8 * VP, f + 8 * BASE, math.inf
    varying, longer = lc(A, VARYING), lengthening(f, dt)
    steady = some and guess_steady(A, f, longer)
    if varying:
        for i in range(1, lc(A, N_BODIES) + 1):
            b = GROUND + BODY_STEP * i
            sum4(u + b, v + b, theta * longer, f + b + 8 * GAINED)
    for k in range(PASSES):
        moreau_forces(A, f, t0, dt, theta, u, False)
        change = size = 0.0
        for i in range(1, lc(A, N_BODIES) + 1):
            b = GROUND + BODY_STEP * i
            mass, kick, new = f + b + 8 * MASS, f + b + 8 * KICK, f + b + 8 * WORK
            add4(new, v + b, kick)
            if varying:
                size += weighted4(v + b, v + b, mass) + weighted4(kick, kick, mass)
                difference4(base + b, new, base + b)
                change += weighted4(base + b, base + b, mass)
            copy4(new, base + b)
        size = max(math.sqrt(size), TINY)
        change = math.sqrt(change) / size
        if k > 0 and (change <= 1e-16 or (change >= before and change <= 1e-11)):
            return STEADY_STATE if steady else SOLVED
        before = change if k > 0 else math.inf
        if not some or steady:
            copy_bodies(A, base, vp)
        if steady:
            steady = holds_steady(A, f)
        if some and not steady and not call_solve(lc(A, SOLVE), A, f, 0, 0):
            return UNSOLVED
        if not varying:
            for i in range(1, lc(A, N_BODIES) + 1):
                b = GROUND + BODY_STEP * i
                difference4(u + b, vp + b, v + b)
                sum4(u + b, v + b, theta, u + b)
        if not varying or leads_on(A, f, theta) <= 1e-15 * size:
            return STEADY_STATE if steady else SOLVED
    return UNSOLVED
