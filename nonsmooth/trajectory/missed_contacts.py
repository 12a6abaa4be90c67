"""Contacts that close and open between two rows of a run, and loads that vary there: signs of too long steps."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.corners import SAMPLES
from nonsmooth.model.system import System
from nonsmooth.trajectory.columns import SparseOverride, any_of_each, bounds, where
from nonsmooth.trajectory.trajectory import Trajectory
from nonsmooth.trajectory.verdict import ADVICE, Verdict

Index = NDArray[np.intp]

#: overlap between two rows, as a share of the clearance, from which a contact is missed, and in a step without any
#: impulse, in which polynomials between rows are accurate
OVERLAP, FREE = 1e-3, 1e-6
#: how often an interval between two rows is divided, most of those that are, and intervals whose bounds are evaluated
#: together
DIVISIONS, MOST, AT_ONCE = 40, 20_000, 2**16
#: verdict on a run without a sign of error, not all of whose steps have rows
NOT_EVALUATED = (
    "no sign of error, but contacts that begin and end between two steps were not looked for, since not all rows are "
    "kept; record=1 looks for them, and check=True (--check) compares with a finer run"
)


def missed_contacts(run: Trajectory, system: System, parameters: Array) -> dict[str, float]:
    """Contacts that overlap between two rows at which they are open, or, of rigid contact, at a row between two steps
    without impulses; each with the first time [s] of this.

    The distance of convex bodies in uniform translation is a convex function of time, so that a gap lies above its
    tangents at two rows. Bodies that turn by an angle deviate from their translation by an eighth of it, as a share of
    their way. Where the tangents meet below zero by this bound, the interval between the rows is divided there, with
    positions from the polynomials between rows (`Trajectory.at`), until no bound or a gap itself is negative. Of more
    than `MOST` intervals those in which the bounds are lowest are divided: overlaps elsewhere are at most as deep.

    Returns
    -------
    dict
        Empty if none is missed, or if rows are not those of all steps (``record``).
    """
    if not system.nc or len(run.t) < 2 or _omits_rows(run):
        return {}
    gap, P_N, size = run.gap.array, run.P_N.array[1:], system.elementwise.gap_sizes(parameters)
    missed: dict[int, float] = {}
    loaded, open_ = P_N > 0.0, gap > 0.0
    forced = any_of_each(loaded)
    if not (system.compliant or run.certificate.gap_violation <= FREE * np.min(size)):
        # steps of velocities overlap a little; in steps with forces another contact may turn the motion
        deep = any_of_each(gap[1:-1] < -FREE * np.min(size))
        row = np.flatnonzero(deep & ~(forced[:-1] | forced[1:]))
        deepest, contact = where(gap[1 + row] < -FREE * size)
        row = row[deepest]
        some = (open_[row, contact] & open_[row + 2, contact]) | (gap[row + 1, contact] < -OVERLAP * size[contact])
        for one, time in zip(contact[some].tolist(), run.t[1 + row[some]].tolist(), strict=True):
            missed.setdefault(one, time)
    k, i = _approaching_then_separating(run, system, open_[:-1] & open_[1:] & ~loaded)
    if k.size:
        least = -size[i] * np.where(forced[k], OVERLAP, FREE)
        which, bound = _bounds_below(run, system, k, i, least)
        if which.size > MOST:
            which = which[np.argpartition(bound / size[i[which]], MOST)[:MOST]]
        _divide(run, system, parameters, k[which], i[which], least[which], missed)
    return {system.contact_names[contact]: missed[contact] for contact in sorted(missed)}


def _omits_rows(run: Trajectory) -> bool:
    """Whether not all steps have rows."""
    return len(run.t) - 1 < int(run.counts.get("steps", 0))


def _approaching_then_separating(run: Trajectory, system: System, free: NDArray[np.bool_]) -> tuple[Index, Index]:
    """Intervals between rows, and contacts that are free in them (n - 1, nc), which close at the beginning and open at
    the end, and whose tangents may meet below zero."""
    gap, right, left = run.gap.array, run.gap_rate.array, run.left.gap_rate.table
    if isinstance(left, SparseOverride):
        opens = right > 0.0
        opens[left.at] = left.values > 0.0
        k, i = where((right[:-1] < 0.0) & opens[1:] & free)
        ends, at = right[k + 1, i], np.searchsorted(left.at, k + 1)
        jumps = np.append(left.at, -1)[at] == k + 1
        ends[jumps] = left.values[at[jumps], i[jumps]]
    else:
        every = run.left.gap_rate.array
        k, i = where((right[:-1] < 0.0) & (every[1:] > 0.0) & free)
        ends = every[k + 1, i]
    # tangents and the turning of bodies lower a gap at most by this share [s] of the change of its velocity: the
    # longest step, and of it an eighth of the largest angle that both bodies turn by within
    spin, dt = 0.0, 0.0
    for first in range(0, len(run.t), AT_ONCE):
        part = slice(first, first + AT_ONCE + 1)
        dt = float(np.maximum(dt, np.max(np.diff(run.t[part]), initial=0.0)))
        spin = float(np.maximum(spin, np.max(np.abs(run.v.array[part, system.turning]), initial=0.0)))
    both = 2.0 * math.sqrt(3.0) * spin  # each of two bodies has up to three of these
    farthest = dt * (1.0 + 0.125 * both * dt)
    if not math.isfinite(farthest):
        farthest = math.inf
    low = farthest * (ends - right[k, i]) > np.minimum(gap[k, i], gap[k + 1, i])
    return k[low], i[low]


def _bounds_below(run: Trajectory, system: System, k: Index, i: Index, least: Array) -> tuple[Index, Array]:
    """Which intervals that begin with rows k, of contacts i, have tangents that meet below `least`, and at what gap."""
    v, each = run.v.array, np.arange(system.nc)
    found, lows = [np.zeros(0, dtype=np.intp)], [np.zeros(0)]
    for first in range(0, k.size, AT_ONCE):
        part = slice(first, first + AT_ONCE)
        row, contact, lowest = k[part], i[part], least[part]
        spans = _spans(run, row, contact)
        fastest = np.maximum(*(bounds(np.abs(v[rows]))[1] for rows in (row, row + 1)))
        fastest[np.isnan(fastest)] = np.inf
        # bounds fall with the turning of bodies: most intervals are free even with the fastest one
        turn = _turning(system, each, np.broadcast_to(fastest, (system.nc, system.nv)))
        some = np.flatnonzero(_meeting(spans, turn[contact])[1] < lowest)
        bound = _meeting(spans[some], _turning(system, contact[some], v[row[some]], v[row[some] + 1]))[1]
        low = bound < lowest[some]
        found.append(first + some[low])
        lows.append(bound[low])
    return np.concatenate(found), np.concatenate(lows)


def _divide(
    run: Trajectory, system: System, parameters: Array, k: Index, i: Index, least: Array, missed: dict[int, float]
) -> None:  # fmt: skip
    """Divide intervals that begin with rows k, of contacts i, until their gaps are open, or missed as below `least`."""
    v = run.v.array
    spans, turn = _spans(run, k, i), _turning(system, i, v[k], v[k + 1])
    for _ in range(DIVISIONS):
        x, bound = _meeting(spans, turn)
        some = bound < least
        spans, turn, i, least, x = spans[some], turn[some], i[some], least[some], x[some]
        if not x.size:
            break
        states, rows = run.at(x, order=4), np.arange(x.size)
        q, v = states.q.array, states.v.array
        g, rate = system.true_gaps(q, parameters)[rows, i], system.gap_rates(q, v, parameters)[rows, i]
        for contact, time in zip(i[g < least].tolist(), x[g < least].tolist(), strict=True):
            missed[contact] = min(missed.get(contact, np.inf), time)
        middle = np.column_stack([x, g, rate])
        open_ = g >= least
        before, after = np.hstack([spans[:, :3], middle])[open_], np.hstack([middle, spans[:, 3:]])[open_]
        spans = np.vstack([before, after])
        turn, i, least = np.tile(turn[open_], 2), np.tile(i[open_], 2), np.tile(least[open_], 2)


def signs_between_rows(run: Trajectory, system: System, parameters: Array) -> tuple[str, ...]:
    """Signs that a load may vary faster than its samples show, if steps are longer than these, and that contacts are
    missed."""
    signs = []
    start, end = float(run.t[0]), float(run.t[-1])
    if end > start and system.varies_fast(start, end, parameters):
        spacing = (end - start) / SAMPLES
        if float(np.max(np.diff(run.t))) > spacing:
            signs.append(f"a load or driver may vary within {spacing:.2g} s, and steps are longer")
    missed = missed_contacts(run, system, parameters)
    if missed:
        name, t = min(missed.items(), key=lambda item: item[1])
        more = f" ({len(missed) - 1} more)" if len(missed) > 1 else ""
        signs.append(f'contact "{name}" is missed near t = {t:.6g} s{more}')
    return tuple(signs)


def with_signs_between_rows(run: Trajectory, system: System, parameters: Array) -> Trajectory:
    """The run, whose verdict has these signs; a complete one is not lost for lack of memory to evaluate them."""
    try:
        signs = signs_between_rows(run, system, parameters)
    except MemoryError:
        signs = ("for lack of memory it is not known whether contacts are missed between two rows",)
    if signs:
        every = (*run.verdict.signs, *signs)
        if run.verdict.kind == "incomplete":
            return replace(run, verdict=replace(run.verdict, signs=every))
        return replace(run, verdict=Verdict("not accurate", f"{'; '.join(every)}; {ADVICE}", signs=every))
    if system.nc and _omits_rows(run) and run.verdict.kind == "not checked":
        return replace(run, verdict=replace(run.verdict, text=NOT_EVALUATED))
    return run


def _spans(run: Trajectory, k: Index, i: Index) -> Array:
    """Time, gap and gap velocity at the beginning and at the end of intervals that begin with rows k, of contacts i."""
    gap, right, left = run.gap.array, run.gap_rate.array, run.left.gap_rate.array
    return np.column_stack([run.t[k], gap[k, i], right[k, i], run.t[k + 1], gap[k + 1, i], left[k + 1, i]])


def _meeting(spans: Array, turn: Array) -> tuple[Array, Array]:
    """Times at which the tangents of gaps meet within intervals, and lower bounds of gaps; NaN where they do not."""
    from nonsmooth.step.closing import meeting_of_tangents  # loads numba

    start, gap, rate, end, gap_end, rate_end = spans.T
    dt = end - start
    with np.errstate(divide="ignore", invalid="ignore"):
        x, bound = meeting_of_tangents(gap, rate, gap_end, rate_end, dt, dt * turn, 0.0)
    inside = (rate < 0.0) & (rate_end > 0.0) & (x > 0.0) & (x < dt) & (start + x > start) & (start + x < end)
    return start + x, np.where(inside, bound, np.nan)


def _turning(system: System, i: Index, *velocities: Array) -> Array:
    """Largest sum of the angular speeds [rad/s] of the two bodies of contacts i (n,) at these velocities (n, nv)."""
    columns, rows = system.angular_velocities[i], np.arange(len(i))[:, None, None]
    spins = (np.where(columns < 0, 0.0, v[rows, columns]) for v in velocities)
    return np.max([np.sum(np.linalg.norm(one, axis=2), axis=1) for one in spins], axis=0)
