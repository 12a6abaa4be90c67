"""Runs: up to many steps of one mechanism, and many runs one after the other."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math
from typing import Any

from numba import njit, types

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.gauss import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.moreau import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.rows import *
from nonsmooth.native.table import *


@njit(**OPT)
def prepare(A, f):  # type: ignore[no-untyped-def]
    """What depends on parameters alone, the forces that never vary, and the points of reactions."""
    for g in range(lc(A, N_GROUPS)):
        call_prepare(lc(lc(A, G_PREPARE), g), lc(lc(A, G_SIZE), g), f + lc(lc(A, G_P), g), f + lc(lc(A, G_W), g))
    for z in (f + lc(A, Z0), f + lc(A, Z1), f + lc(A, ZM)):
        clear(z, 2)
        st(z, 2, 1.0)
        st(z, 3, 0.0)
    force = f + lc(A, CONSTANT_FORCE)
    clear(force, 3 * lc(A, N_BODIES) + 3)
    evaluate(A, f, lc(A, STATIC_0), lc(A, STATIC_1), f + lc(A, Z0), f + lc(A, V), f)
    scatter_forces(A, f, lc(A, STATIC_0), lc(A, STATIC_1), force)
    evaluate(A, f, lc(A, CLOSURE_0), lc(A, CLOSURE_1), f + lc(A, Z0), f + lc(A, V), f)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        si(f + lc(A, COUNT), k, lc(lc(A, B_COUNT), k))


@njit(**OPT)
def at_state(A, f):  # type: ignore[no-untyped-def]
    """Placements, joints, contacts and forces at the state that stands in the memory."""
    t, z, v = ld(f + lc(A, TIME), 1), f + lc(A, Z0), f + lc(A, V)
    place(A, f + lc(A, Q), z)
    joints_at(A, f, t, z, v, f + lc(A, OUT_J0))
    contacts_at(A, f, z, v, f + lc(A, OUT_C0))
    forces_at(A, f, t, z, v)
    factor_joints(A, f, f + lc(A, OUT_J0))


@njit(**OPT)
def contact_sizes(A, f):  # type: ignore[no-untyped-def]
    """Impulses that move each gap by its clearance within the longest step, from the directions at the state."""
    inverse, least, longest = f + lc(A, INVERSE), math.inf, ld(f + lc(A, OPTIONS), O_LONGEST)
    for k in range(3, 3 * lc(A, N_BODIES) + 3):
        least = min(least, ld(inverse, k))
    for i in range(lc(A, N_GAPS)):
        J = f + lc(A, OUT_C0) + lc(lc(A, GAP_N), i)
        weight = max(mobility(J, lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), inverse), least)
        st(f + lc(A, Y_SCALE), i, ld(f + lc(A, SCALE), i) / (longest * weight))


@njit(**OPT)
def run(A, f, rec, origin, dt, t_end, steps):  # type: ignore[no-untyped-def]
    """Up to `steps` steps on the grid origin + k dt; stops where a step is not certified, its start left as it was."""
    at_state(A, f)
    counters = f + lc(A, COUNTERS)
    gaps, rows = lc(A, N_GAPS), lc(A, N_ROWS)
    for _ in range(steps):
        t = ld(f + lc(A, TIME), 1)
        if not t < t_end:
            return DONE
        if li(counters, K_ROWS) >= li(rec, REC_CAPACITY):
            return FULL
        if li(rec, REC_IMPACT_COUNT) + gaps > li(rec, REC_IMPACT_CAPACITY):
            return FULL
        if li(rec, REC_STRUCK_COUNT) >= li(rec, REC_STRUCK_CAPACITY):
            return FULL
        end = origin + (math.floor((t - origin) / dt + 1e-6) + 1.0) * dt
        if end >= t_end - 1e-9 * dt:
            end = t_end
        copy(f + lc(A, P_N), f + lc(A, BEFORE), gaps)
        copy(f + lc(A, P_T), f + lc(A, BEFORE) + 8 * gaps, gaps)
        copy(f + lc(A, P_A), f + lc(A, BEFORE) + 16 * gaps, rows)
        copy(f + lc(A, P_B), f + lc(A, BEFORE) + 16 * gaps + 8 * rows, rows)
        if call_step(lc(A, STEP), A, f, end) != DONE:
            copy(f + lc(A, BEFORE), f + lc(A, P_N), gaps)
            copy(f + lc(A, BEFORE) + 8 * gaps, f + lc(A, P_T), gaps)
            copy(f + lc(A, BEFORE) + 16 * gaps, f + lc(A, P_A), rows)
            copy(f + lc(A, BEFORE) + 16 * gaps + 8 * rows, f + lc(A, P_B), rows)
            return UNCERTAIN
        call_finish(lc(A, FINISH), A, f, rec)
    return DONE


@njit(**OPT)
def closed_start(A, f):  # type: ignore[no-untyped-def]
    """Whether joints are closed and gaps do not overlap at the state, by the tolerances of a single run's start."""
    z, v = f + lc(A, Z0), f + lc(A, V)
    evaluate(A, f, lc(A, SURFACE_0), lc(A, SURFACE_1), z, v, f)
    evaluate(A, f, lc(A, CLOSURE_0), lc(A, CLOSURE_1), z, v, f)
    for i in range(lc(A, N_GAPS)):
        if not ld(f + lc(lc(A, GAP_D), i), 0) >= -1e-9 * ld(f + lc(A, SCALE), i):
            return False
    for r in range(lc(A, N_ROWS)):
        J, a, b = f + lc(A, OUT_J0) + lc(lc(A, ROW_J), r), lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r)
        rate = along(J, a, b, v) + ld(f + lc(A, OUT_J0) + lc(lc(A, ROW_T), r), 0)
        if not (abs(ld(f + lc(lc(A, ROW_C), r), 0)) <= 1e-9 and abs(rate) <= 1e-9):
            return False
    return True


@njit(**OPT)
def run_many(  # type: ignore[no-untyped-def]
    A, f, rec, template, places, values, ends, status, first, last, dt, t_end, keep
):  # fmt: skip
    """Runs first..last, one after the other, in one run's memory.

    `template` is that memory before its parameters, `places` lists (count; targets; sources) of those, `values` and
    `ends` hold a row of parameters and of results per run; `keep` lists (count; first double, doubles) of the results.
    """
    size, count, n = lc(A, N_FLOATS), li(places, 0), 3 * lc(A, N_BODIES) + 3
    width, parameters = li(keep, 1), li(keep, 2)
    for k in range(first, last):
        copy(template, f, size)
        row = values + 8 * parameters * k
        for i in range(count):
            st(f, li(places, 1 + i), ld(row, li(places, 1 + count + i)))
        for i in range(3, n):
            st(f + lc(A, INVERSE), i, 1.0 / ld(f + lc(A, MASS), i))
            st(f + lc(A, ROOT_MASS), i, math.sqrt(ld(f + lc(A, MASS), i)))
        prepare(A, f)
        at_state(A, f)
        contact_sizes(A, f)
        if not closed_start(A, f):
            si(status, k, OPEN_START)
            continue
        origin = ld(f + lc(A, TIME), 1)
        if lc(A, OBSERVE):
            v = f + lc(A, V)
            observe(A, f, origin, 0.0, f + lc(A, Q), v, v)
        si(status, k, run(A, f, rec, origin, dt, t_end, 4611686018427387904))
        target = ends + 8 * width * k
        for i in range(li(keep, 0)):
            copy(f + 8 * li(keep, 3 + 2 * i), target, li(keep, 4 + 2 * i))
            target += 8 * li(keep, 4 + 2 * i)


WORD = types.int64
#: functions that others call by their address, and the kinds of their arguments
UNITS: dict[str, tuple[Any, Any]] = {
    "solve": (solve_active, WORD(*[WORD] * 7)),
    "gauss": (gauss_step, WORD(WORD, WORD, types.float64)),
    "moreau-jean": (moreau_step, WORD(WORD, WORD, types.float64)),
    "finish": (finish_step, WORD(WORD, WORD, WORD)),
}
