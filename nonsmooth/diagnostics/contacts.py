"""Contact intervals, impulses and separation, for rigid and for compliant runs.

Surfaces are in contact in a step with a contact force other than an impact. An impact of a rigid run is a contact
interval of length zero.
"""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.settings import checked, require
from nonsmooth.trajectory import Trajectory
from nonsmooth.trajectory.dataset import CONTACTS
from nonsmooth.trajectory.decimation import loaded
from nonsmooth.trajectory.peaks import peak_force

#: columns of `contact_intervals` with their units
INTERVALS = {
    "contact": "", "start": "s", "end": "s", "impulse": "N s", "force": "N", "depth": "m", "approach": "m/s",
    "separation": "m/s",
}  # fmt: skip
#: share of the fastest approach below which an impact is not counted: a sequence of bounces that ends has infinitely
#: many, and how many of the last are resolved depends on steps and units
COUNTED = 0.01
#: share of its approach by which the gap velocity of an impact changes before contacts that begin are another impact
TOGETHER = 1e-3
NO_FORCE = 1e-12  # mean force, as a share of the run's largest, that is regarded as zero


@checked
def contact_intervals(trajectory: Trajectory, contacts: Iterable[str] | None = None) -> NDArray[np.void]:
    """All contact intervals, in order of time.

    Returns
    -------
    structured array
        ``contact``; ``start`` and ``end`` [s], equal for a rigid impact; ``impulse`` [N s]; ``force`` [N], the largest,
        of a rigid contact the largest mean of a step, not a number for an impact, whose force is not finite; ``depth``
        [m], the deepest penetration at a row, refined by a parabola through its neighbours; ``approach`` [m/s] at the
        start and ``separation`` [m/s] at the end, opening > 0: not numbers if the run begins or ends in contact, nor
        the approach of a contact that constant steps left open for so few of them that its load alone caused it. A
        persistent contact immediately after an impact begins with the gap velocity after the impact.
    """
    names = trajectory.gap.names if contacts is None else tuple(contacts)
    for name in names:
        trajectory.gap[name]  # raises the error for an unknown name
    width = max(map(len, names), default=1)
    kinds = [(name, f"U{width}" if name == "contact" else "f8") for name in INTERVALS]
    rows: list[tuple[str | float, ...]] = []
    t, dt = trajectory.t, np.diff(trajectory.t)
    for name in names:
        closed = np.concatenate([[0], closed_steps(trajectory, name).astype(int), [0]])
        first, last = np.flatnonzero(np.diff(closed) == 1), np.flatnonzero(np.diff(closed) == -1)
        force, gap = trajectory.lam_N[name], trajectory.gap[name]
        before, after = trajectory.gap_rate[name], trajectory.left.gap_rate[name]
        lasts = np.append(False, loaded(after[1:, None], before[:-1, None], np.concatenate([[0.0, 0.0], dt]))[:, 0])
        for i, j in zip(first.tolist(), last.tolist(), strict=True):
            impulse, largest = float(force[i + 1 : j + 1] @ dt[i:j]), float(force[i + 1 : j + 1].max())
            if trajectory.compliant:
                largest, _ = peak_force(t[i : j + 1], np.append(0.0, np.cumsum(force[i + 1 : j + 1] * dt[i:j])))
            approach = -before[i] if i > 0 and not lasts[i] else np.nan
            separation = after[j] if j < len(t) - 1 else np.nan
            # max(-gap), with the vertex of the parabola through the deepest row and its neighbours
            k = i + int(np.argmin(gap[i : j + 1]))
            depth = -float(gap[k])
            if i < k < j:
                (a, b), (fa, fb) = (t[k - 1] - t[k], t[k + 1] - t[k]), (gap[k - 1] - gap[k], gap[k + 1] - gap[k])
                curve, slope = (fb / b - fa / a) / (b - a), (fa * b / a - fb * a / b) / (b - a)
                depth += float(slope**2 / (4 * curve)) if curve > 0 else 0.0
            rows.append((name, t[i], t[j], impulse, largest, max(depth, 0.0), approach, separation))
    hits = trajectory.impacts
    for hit in hits[np.isin(hits["contact"], names)]:
        rows.append(
            (hit["contact"], hit["t"], hit["t"], hit["P_N"], np.nan, 0.0, -hit["gamma_minus"], hit["gamma_plus"])
        )
    table = np.array(rows, dtype=kinds)
    return table[np.lexsort((table["end"], table["start"]))]


@checked
def impacts(
    trajectory: Trajectory, slowest: float | None = None, contacts: Iterable[str] | None = None
) -> NDArray[np.void]:
    """Contacts that begin with an approach faster than `slowest` [m/s]: impacts, rigid or compliant.

    The columns are those of `contact_intervals`. Persistent contacts that begin with an approach are included; those
    that follow an impact, which is a row of its own, are not. By default `slowest` is 1 % of the fastest approach of
    all contacts: of a sequence of bounces that comes to rest, which has infinitely many, as many are counted with each
    unit, step and scheme.
    """
    if slowest is None:
        slowest = COUNTED * float(np.nanmax(contact_intervals(trajectory)["approach"], initial=0.0))
    table = contact_intervals(trajectory, contacts)
    return table[(table["approach"] > slowest) & ~_after_impact(table)]


def impact_counts(trajectory: Trajectory) -> dict[str, int]:
    """Number of `impacts` of each contact that has any; of rigid runs from the table of impacts, without the rows."""
    if trajectory.compliant:
        names = impacts(trajectory)["contact"]
    else:
        approach = -trajectory.impacts["gamma_minus"]
        names = trajectory.impacts["contact"][approach > COUNTED * np.max(approach, initial=0.0)]
    return dict(Counter(names.tolist()))


def _after_impact(table: NDArray[np.void]) -> NDArray[np.bool_]:
    """Persistent contacts that begin with an impact of the same contact, which is a row of its own."""
    instant = table["start"] == table["end"]
    hits = set(table[["contact", "start"]][instant].tolist())
    return np.array([pair in hits for pair in table[["contact", "start"]].tolist()], dtype=bool) & ~instant


def impact_impulse(trajectory: Trajectory, interval: np.void) -> float:
    """Normal impulse [N s] of the impact with which a row of `contact_intervals` begins, rigid or compliant alike.

    Compliant contact may last on after the impact, whose force has ended, or balances the other forces, when the gap
    velocity no longer increases: at this time the impact ends, with the gap velocity gamma. Finite forces, which change
    this velocity at the rate a of just before the impact, and contacts that begin during the impact at a time s change
    it as well. Their share is taken out: by the impulse P and the gap velocity until s, or until the end ::

        P(s) / (gamma(s) - gamma(0) - a s) * (gamma - gamma(0))

    which is the impulse of the rigid impact in the limit of stiff contact. Contacts that begin before the gap velocity
    has changed by a thousandth of the approach take part in the impact. Not a number without an approach.
    """
    if not interval["approach"] > 0.0:
        return float("nan")
    if interval["start"] == interval["end"]:
        return float(interval["impulse"])
    i, change, own = _changes(trajectory, interval)
    opening = np.flatnonzero(change[1:] >= interval["approach"])
    turn = 1 + int(opening[0]) if opening.size else len(change) - 1
    falling = np.flatnonzero(np.diff(change[turn:]) < 0.0)
    last = turn + (int(falling[0]) if falling.size else len(change) - 1 - turn)
    closed = np.array([closed_steps(trajectory, name)[i : i + last] for name in trajectory.gap.names])
    began = 1 + np.flatnonzero(np.any(closed[:, 1:] & ~closed[:, :-1], axis=0))
    alone = min(began[own[began] > TOGETHER * interval["approach"]], default=last)
    force = trajectory.lam_N[str(interval["contact"])][i + 1 : i + 1 + alone]
    return float(force @ np.diff(trajectory.t)[i : i + alone] * change[last] / own[alone])


def first_impulse(trajectory: Trajectory) -> float:
    """`impact_impulse` [N s] of the first impact, the mean of the contacts of its joint that begin with it.

    Motion determines their sum alone where a body touches at several points at once. Not a number without impacts.
    """
    table = contact_intervals(trajectory)
    table = table[table["approach"] > 0.0]
    if not len(table):
        return float("nan")
    first, until = table[0], table[0]["start"]
    if first["end"] > until:
        i, _, own = _changes(trajectory, first)
        until = trajectory.t[i + int(np.argmax(own > TOGETHER * first["approach"]))]
    joint = str(first["contact"]).partition(".")[0]
    same = [one for one in table if str(one["contact"]).partition(".")[0] == joint and one["start"] <= until]
    return float(np.mean([impact_impulse(trajectory, one) for one in same]))


def _changes(trajectory: Trajectory, interval: np.void) -> tuple[int, Array, Array]:
    """First row of a contact interval, and at its rows the change of the gap velocity since, whole and without that of
    finite forces [m/s]."""
    name, (i, j) = str(interval["contact"]), np.searchsorted(trajectory.t, (interval["start"], interval["end"]))
    t, after, before = trajectory.t, trajectory.gap_rate[name], trajectory.left.gap_rate[name]
    change = before[i : j + 1] + interval["approach"]
    free = (before[i] - after[i - 1]) / (t[i] - t[i - 1])
    return int(i), change, change - free * (t[i : j + 1] - t[i])


@checked
def contact_table(trajectory: Trajectory, contacts: Iterable[str] | None = None) -> NDArray[np.void]:
    """One table of all contacts, rigid and compliant alike, in order of time: `Trajectory.contacts`.

    Returns
    -------
    structured array
        ``contact``; ``kind``, "impact" of one that begins with an approach of at least 1 % of the run's fastest and
        opens again, or has no duration, else "contact"; ``start`` and ``end`` [s], equal for a rigid impact;
        ``approach`` at the start and ``separation`` at the end [m/s]; ``impulse`` [N s]; ``peak_force`` [N], of a
        rigid contact the largest mean of a step, not a number for a rigid impact, whose force is not finite; ``depth``
        [m]; ``energy`` [J] that the normal force has taken, ``-int F_N gap_rate dt``, for a rigid impact
        ``P_N (approach - separation) / 2``.
    """
    table = contact_intervals(trajectory, contacts)
    fast = COUNTED * float(np.nanmax(table["approach"], initial=0.0))
    types = {"contact": table.dtype["contact"], "kind": "U7"}
    found = np.zeros(len(table), dtype=[(name, types.get(name, "f8")) for name in CONTACTS])
    for name in CONTACTS.keys() & INTERVALS.keys():
        found[name] = table[name]
    found["peak_force"] = table["force"]
    instant = table["start"] == table["end"]
    bounce = (table["approach"] > fast) & (table["separation"] > 0.0) & ~_after_impact(table)
    found["kind"] = np.where(instant | bounce, "impact", "contact")
    work = {}  # what the normal force takes in each step (n - 1,) [J], impacts excluded
    for name in dict.fromkeys(table["contact"].tolist()):
        rate = (trajectory.gap_rate[name][:-1] + trajectory.left.gap_rate[name][1:]) / 2
        work[name] = -trajectory.lam_N[name][1:] * np.diff(trajectory.t) * rate
    for row, one in enumerate(table):
        if instant[row]:
            found["energy"][row] = one["impulse"] * (one["approach"] - one["separation"]) / 2
        else:
            i, j = np.searchsorted(trajectory.t, (one["start"], one["end"]))
            found["energy"][row] = float(work[str(one["contact"])][i:j].sum())
    return found


@checked
def contact_share(trajectory: Trajectory) -> dict[str, float]:
    """Share of the time [-] in which each contact is closed."""
    length = trajectory.t[-1] - trajectory.t[0]
    return {name: closed_time(trajectory, name) / length if length > 0 else 0.0 for name in trajectory.gap}


@checked
def closed_time(trajectory: Trajectory, contact: str) -> float:
    """Time [s] in which a contact is closed."""
    return float(np.diff(trajectory.t)[closed_steps(trajectory, contact)].sum())


@checked
def agreement(a: Trajectory, b: Trajectory) -> float:
    """Share of the common time [-] in which two runs agree on a contact's being open or closed, mean of the contacts.

    InputError if the runs have different contacts.
    """
    if a.gap.names != b.gap.names:
        raise InputError(f"The runs have different contacts: {', '.join(a.gap.names)} and {', '.join(b.gap.names)}.")
    start, end = max(a.t[0], b.t[0]), min(a.t[-1], b.t[-1])
    t = np.union1d(a.t, b.t)
    t = t[(t >= start) & (t <= end)]
    if len(t) < 2 or not a.gap.names:
        return 1.0
    middle, dt = (t[:-1] + t[1:]) / 2, np.diff(t)
    shares = []
    for name in a.gap.names:
        closed = [closed_steps(run, name)[np.searchsorted(run.t, middle) - 1] for run in (a, b)]
        shares.append(float(dt[closed[0] == closed[1]].sum() / dt.sum()))
    return float(np.mean(shares))


@checked
def impulses(trajectory: Trajectory, t: Array) -> Array:
    """Normal impulse (len(t), nc) [N s] of each contact since the start, impacts at t included.

    Between rows the force is constant; in a run without impacts, as with compliant contacts, it is continuous, and the
    impulse is a monotone cubic through the rows.
    """
    rows, P_N = trajectory.t, trajectory.P_N.array
    total = np.cumsum(P_N, axis=0)
    t = np.clip(t, rows[0], rows[-1])
    if not len(trajectory.impacts) and len(rows) > 2 and P_N.shape[1]:
        from scipy.interpolate import PchipInterpolator

        return np.asarray(PchipInterpolator(rows, total)(t))
    k = np.searchsorted(rows, t, side="right") - 1
    force = np.vstack([trajectory.lam_N.array[1:], np.zeros((1, P_N.shape[1]))])
    return np.asarray(total[k] + force[k] * (t - rows[k])[:, None])


@checked
def mean_forces(trajectory: Trajectory, edges: Array) -> Array:
    """Mean normal force (len(edges) - 1, nc) [N] in each window between two edges [s]: its impulse over its length.

    A rigid impact, whose force is not finite, contributes its impulse; at the end of a window it belongs to that
    window. Rigid and compliant runs are therefore comparable.
    """
    total = impulses(trajectory, edges)
    total[0] -= trajectory.P_N.array[0] if edges[0] <= trajectory.t[0] else 0.0
    return np.asarray(np.diff(total, axis=0) / np.diff(edges)[:, None])


@checked
def largest_mean_force(trajectory: Trajectory, contact: str, duration: float = 1e-3) -> float:
    """Largest normal force [N] of a contact as a mean over a duration [s], wherever that begins: impacts included.

    The force of a rigid impact is not finite, but its impulse over a duration is, so that rigid and compliant runs,
    steps and clearances can be compared. The largest mean begins or ends at a row, since forces are constant between
    rows. A run that is shorter has its impulse over the same duration. InputError for an unknown contact, or a duration
    that is not positive.

    A ball of 1 kg falls from 10 mm and rebounds with e = 0.9: its first impulse, 0.84 N s, over 1 ms.

    >>> from nonsmooth import simulate
    >>> from nonsmooth_problems import bouncing_ball
    >>> run = simulate(bouncing_ball().build(), t_end=0.8)
    >>> hit = run.impacts["P_N"].max()
    >>> bool(abs(largest_mean_force(run, "floor") - hit / 1e-3) < 1e-6 * hit / 1e-3)
    True
    """
    require(duration > 0.0, "duration must be a time [s] > 0", duration)
    rows, P_N, force = trajectory.t, trajectory.P_N[contact], trajectory.lam_N[contact]
    force = np.concatenate([force, [0.0]])  # force[k] before row k, none after the end
    after = np.cumsum(P_N)
    before = after - np.maximum(P_N - force[:-1] * np.diff(rows, prepend=rows[0]), 0.0)
    i = np.searchsorted(rows, rows + duration, side="right") - 1
    starting = after[i] + force[i + 1] * (rows + duration - rows[i]) - before
    j = np.searchsorted(rows, rows - duration, side="left")
    ending = after - np.where(j > 0, before[j] - force[j] * (rows[j] - rows + duration), 0.0)
    return max(float(np.max(starting)), float(np.max(ending)), 0.0) / duration


def closed_steps(trajectory: Trajectory, contact: str) -> NDArray[np.bool_]:
    """Whether the contact is closed in each step (n - 1,)."""
    return np.asarray(trajectory.lam_N[contact][1:] > NO_FORCE * float(np.max(trajectory.lam_N.array, initial=0.0)))
