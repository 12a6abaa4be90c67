"""Runs: up to many steps of one mechanism, and many runs one after the other."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math
from typing import Any

from numba import njit, types

from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.gauss import *
from nonsmooth.native.loops.landing import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.moreau import *
from nonsmooth.native.loops.moreau_midpoint import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.rows import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def prepare(A, f):  # type: ignore[no-untyped-def]
    """What depends on parameters alone, the forces that never vary, and the points of reactions."""
    for g in range(lc(A, N_GROUPS)):
        group = lc(A, GROUPS) + 8 * GROUP * g
        call_prepare(lc(group, G_PREPARE), lc(group, G_SIZE), f + lc(group, G_P), f + lc(group, G_W))
    z, v, force = more(A, f, Z0), f + 8 * V, more(A, f, CONSTANT_FORCE)
    clear_bodies(A, force)
    evaluate(A, f, lc(A, STATIC_0), lc(A, STATIC_1), z, v, 0)
    scatter_forces(A, f, lc(A, STATIC_0), lc(A, STATIC_1), force)
    evaluate(A, f, lc(A, CLOSURE_0), lc(A, CLOSURE_1), z, v, 0)


@njit(**OPT)
def at_state(A, f):  # type: ignore[no-untyped-def]
    """Placements, joints, contacts and forces at the state that stands in the memory; the gaps' units."""
    t, z, v, first = ld(f, TIME + 1), start_z(A, f), f + 8 * V, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(gap, PER_SCALE, 1.0 / ld(gap, SCALE))
        st(gap, PER_Y, 1.0 / ld(gap, Y_SCALE))
    still_ground(A, f)
    place(A, f + 8 * Q, z)
    joints_at(A, f, t, z, v, start_row(f))
    contacts_at(A, f, z, v, start_gap(f))
    forces_at(A, f, t, z, v)
    factor_joints(A, f, start_row(f))


@njit(**OPT)
def contact_sizes(A, f):  # type: ignore[no-untyped-def]
    """Impulses that move each gap by its clearance within the longest step, from the directions at the state."""
    inverse, least, longest = f + 8 * INVERSE, least_mobility(A, f), ld(f, OPTIONS + O_LONGEST)
    first, normal = f + lc(A, GAPS), NORMAL + start_gap(f)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        J = gap + normal
        weight = max(mobility(J, J, inverse + lc(gap, GAP_A), inverse + lc(gap, GAP_B)), least)
        st(gap, Y_SCALE, ld(gap, SCALE) / (longest * weight))


@njit(**OPT)
def copy_impulses(A, f, count, where, step, source, target):  # type: ignore[no-untyped-def]
    """Two neighbouring fields of all gaps, or of all rows of joints, to two others."""
    record = f + lc(A, where)
    for _ in range(lc(A, count)):
        copy2(record + 8 * source, record + 8 * target)
        record += step


@njit(**OPT)
def step_end(A, t, origin, dt, t_end):  # type: ignore[no-untyped-def]
    """Where a step from t ends."""
    end = origin + (math.floor((t - origin) / dt + 1e-6) + 1.0) * dt if lc(A, SCHEME) != LANDING else t + dt
    return end if end < t_end - 1e-9 * dt else t_end


@njit(**OPT)
def run(A, f, rec, origin, dt, t_end, steps):  # type: ignore[no-untyped-def]
    """Up to `steps` steps on the grid origin + k dt; stops where one is not certified, its start left as it was.

    Steps that land start where the last one ended, and are of dt at most.
    """
    at_state(A, f)
    gaps = lc(A, N_GAPS)
    for k in range(steps):
        t = ld(f, TIME + 1)
        if not t < t_end:
            return DONE
        if li(f, COUNTERS + K_ROWS) >= li(rec, REC_CAPACITY):
            return FULL
        if li(rec, REC_IMPACT_COUNT) + gaps > li(rec, REC_IMPACT_CAPACITY):
            return FULL
        if li(rec, REC_STRUCK_COUNT) >= li(rec, REC_STRUCK_CAPACITY):
            return FULL
        end = step_end(A, t, origin, dt, t_end)
        if lc(A, SCHEME) != MOREAU_JEAN and lc(A, SCHEME) != MIDPOINT:  # whose steps do so when they look at gaps
            copy_impulses(A, f, N_GAPS, GAPS, GAP_STEP, P_N, BEFORE_N)
        copy_impulses(A, f, N_ROWS, ROWS, ROW_STEP, P_A, BEFORE_A)
        if lc(A, AHEAD) and lc(A, RECORD) == 1:
            rows = li(f, COUNTERS + K_ROWS)
            si(f, ROW_AHEAD, li(rec, REC_ROWS) + 8 * lc(A, ROW_WIDTH) * rows)
            # the row before has to be that of a step, and there has to be another step
            able = 0 < k < steps - 1 and end < t_end and rows + 1 < li(rec, REC_CAPACITY)
            st(f, NEXT_DT, step_end(A, end, origin, dt, t_end) - end if able else 0.0)
        if call_step(lc(A, STEP), A, f, end) != DONE:
            copy_impulses(A, f, N_GAPS, GAPS, GAP_STEP, BEFORE_N, P_N)
            copy_impulses(A, f, N_ROWS, ROWS, ROW_STEP, BEFORE_A, P_A)
            return UNCERTAIN
        call_finish(lc(A, FINISH), A, f, rec)
    return DONE


@njit(**OPT)
def closed_start(A, f):  # type: ignore[no-untyped-def]
    """Whether joints are closed and gaps do not overlap at the state, by the tolerances of a single run's start."""
    z, v, side = start_z(A, f), f + 8 * V, start_row(f)
    evaluate(A, f, lc(A, SURFACE_0), lc(A, SURFACE_1), z, v, 0)
    evaluate(A, f, lc(A, CLOSURE_0), lc(A, CLOSURE_1), z, v, 0)
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        if not ld(gap, TRUE) >= -1e-9 * ld(gap, SCALE):
            return False
    first = f + lc(A, ROWS)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        rate = along(row + DIRECTION + side, v + lc(row, ROW_A), v + lc(row, ROW_B)) + ld(row + side, ROW_RATE)
        if not (abs(ld(row, MISFIT)) <= 1e-9 and abs(rate) <= 1e-9):
            return False
    return True


@njit(**OPT)
def begin_scheme(A, f):  # type: ignore[no-untyped-def]
    """What the scheme begins with, an impact perhaps, whose impulses count as those of steps."""
    if lc(A, START) == 0:
        return DONE
    status = call_start(lc(A, START), A, f)
    if status == DONE and li(f, HIT):
        worst_numbers(f)
        first = f + lc(A, GAPS)
        for k in range(lc(A, N_GAPS)):
            gap = first + GAP_STEP * k
            st(gap, SUM_PN, ld(gap, SUM_PN) + ld(gap, P_N))
            st(gap, SUM_PT, ld(gap, SUM_PT) + ld(gap, P_T))
    return status


@njit(**OPT)
def run_many(  # type: ignore[no-untyped-def]
    A, f, rec, template, places, values, ends, status, first, last, dt, t_end, keep
):  # fmt: skip
    """Runs first..last, one after the other, in one run's memory.

    `template` is that memory before its parameters, `places` lists (parameters; count; targets; sources) of those,
    `values` and `ends` hold a row of parameters and of results per run; `keep` lists (count; doubles of the memory) of
    the results.
    """
    size, width, count, kept = lc(A, N_FLOATS), li(places, 0), li(places, 1), li(keep, 0)
    for k in range(first, last):
        for i in range(size):
            sw(f, i, lw(template, i))  # doubles and integers
        for i in range(count):
            st(f, li(places, 2 + i), ld(values + 8 * width * k, li(places, 2 + count + i)))
        for i in range(1, lc(A, N_BODIES) + 1):
            b = f + GROUND + BODY_STEP * i
            x, y, z = ld(b, MASS), ld(b, MASS + 1), ld(b, MASS + 2)
            st3(b + 8 * INVERSE, 1.0 / x, 1.0 / y, 1.0 / z)
            st3(more(A, b, ROOT_MASS), math.sqrt(x), math.sqrt(y), math.sqrt(z))
        prepare(A, f)
        at_state(A, f)
        contact_sizes(A, f)
        if not closed_start(A, f):
            si(status, k, OPEN_START)
            continue
        if begin_scheme(A, f) != DONE:
            si(status, k, UNCERTAIN)
            continue
        origin = ld(f, TIME + 1)
        if lc(A, OBSERVE):
            v = f + 8 * V
            observe(A, f, origin, 0.0, f + 8 * Q, v, v)
        si(status, k, run(A, f, rec, origin, dt, t_end, 4611686018427387904))
        for i in range(kept):
            st(ends + 8 * kept * k, i, ld(f, li(keep, 1 + i)))


WORD = types.int64
#: functions that others call by their address, and the kinds of their arguments
UNITS: dict[str, tuple[Any, Any]] = {
    "solve": (solve_active, WORD(*[WORD] * 4)),
    "solve-single": (solve_active_single, WORD(*[WORD] * 4)),
    "gauss": (gauss_step, WORD(WORD, WORD, types.float64)),
    "moreau-jean": (moreau_step, WORD(WORD, WORD, types.float64)),
    "moreau-jean-midpoint": (midpoint_step, WORD(WORD, WORD, types.float64)),
    "landing": (landing_step, WORD(WORD, WORD, types.float64)),
    "finish": (finish_step, WORD(WORD, WORD, WORD)),
}
