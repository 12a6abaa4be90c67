"""One sentence on whether a motion can be trusted.

A certificate verifies each step; whether the steps were short enough is shown by a finer run (`nonsmooth.trust`). This
module evaluates the signs of error that a single run shows, among them contacts that close and open between two rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import TimeSpent
from nonsmooth.model.checks import CLOSED
from nonsmooth.model.corners import SAMPLES
from nonsmooth.model.system import System
from nonsmooth.progress import in_time
from nonsmooth.trajectory.certificate import Certificate
from nonsmooth.trajectory.columns import AT_ONCE, SparseOverride, any_of_each, bounds, where

#: a `Trajectory`, whose module imports this one
Run = TypeVar("Run", bound=Any)
Index = NDArray[np.intp]

#: share of the energy lost (or of LEAST of the kinetic energy or of the work of drivers, if larger) that may be missing
#: from the balance
UNBALANCED, LEAST = 0.05, 1e-3
#: share of the energies below which a remainder is round-off
ROUND_OFF = 1e-9
#: share of the programs solved by another solver than the chosen one
RESCUED = 0.01
#: complementarity error (natural map) above which the contact law is violated
INCOMPLEMENTARY = 1e-4
#: residual of the equations of a step above which they are not solved
UNSOLVED = 1e-8
#: displacement, as a share of the size of the mechanism, below which it is round-off, and the same of what the largest
#: velocity would move in a mean step: the mechanism rests
REST, STILL = 1e-12, 1e-9
#: longest way of the velocities of a run, as a share of its displacement, that does not explain it: positions jump
JUMPED = 1e-6
#: overlap of rigid contacts, as a share of the clearance, from which a run is not called finished
OVERLAP = 1.0
#: the same, from which its step is too long. Of 108 runs of `MoreauJean` with steps from far too long to short, those
#: within 1 % of the motion overlap by less than 0.9 %, those within 10 % by less than 4.6 %, docs/trust.md
DEEP = 0.05
#: largest contact impulse beside the momentum of the mechanism, and of its weight, from which impulses cancel, as of
#: bodies that jam, and their round-off moves these
CANCEL = 1e8
#: opening of a joint, as a share of the reference length, from which steps are too long, or the position of a driver
#: jumps. Only `MoreauJean(joints="midpoint")` leaves joints open by more than round-off: of 107 runs of 18 ready
#: problems with 50 to 15000 steps those within 1 % of the motion by 0.81 % at most, those within 10 % by 0.05 %
OPEN = 0.05
#: without contact: share of the largest displacement that is the reference length
MOVED = 1e-3

#: overlap between two rows, as a share of the clearance, from which a contact is missed, and in a step without any
#: impulse, in which polynomials between rows are accurate
MISSED, FREE = 1e-3, 1e-6
#: how often an interval between two rows is divided, most of those that are, and intervals whose bounds are evaluated
#: together
DIVISIONS, MOST, INTERVALS = 40, 20_000, 2**16
#: what to do about signs of error
ADVICE = "shorten the steps, or let them be chosen by omitting dt"
#: verdict on a run without a sign of error, not all of whose steps have rows
NOT_EVALUATED = (
    "no sign of error, but contacts that begin and end between two steps were not looked for, since not all rows are "
    "kept; record=1 looks for them, and check=True (--check) compares with a finer run"
)


@dataclass(frozen=True)
class Verdict:
    """Whether the motion can be trusted, why not, and what to do.

    Parameters
    ----------
    kind : str
        ``"accurate"``: a finer run (and a second method) agrees to the requested accuracy. ``"sensitive"``: it does
        until `horizon`; later motion depends on round-off. ``"not accurate"``: it does not, or the run itself shows
        signs of error. ``"methods disagree"``: two methods converge to different motions or forces.
        ``"not checked"``: no sign of error, but no finer run either. ``"incomplete"``: the run ended early.
    text : str, the verdict as a sentence
    position : [-]
        Largest difference from the coarser or finer run, as a share of the smallest clearance; NaN if not measured.
    force : [-], difference of the peak force, as a share of it
    horizon : [s], time until which position and force are valid; infinite if they are to the end
    parted : [s], first time at which the two runs differ by a tenth of the clearance; infinite if they never do
    signs : tuple of str
        Signs of error of the run itself: overlap, open joints, energy, programs solved by other solvers.
    not_unique : int
        Rows at which other contact forces would give the same motion (see `nonsmooth.trust.undetermined_forces`),
        where the run was compared with a finer one.
    """

    kind: str
    text: str
    position: float = math.nan
    force: float = math.nan
    horizon: float = math.inf
    parted: float = math.inf
    signs: tuple[str, ...] = ()
    not_unique: int = 0

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Verdict:
        """From the result of `dataclasses.asdict`."""
        return cls(**{**plain, "signs": tuple(plain["signs"])})

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


#: the verdict on a trajectory that was not made by a run
UNKNOWN = Verdict("not checked", "no verdict was recorded")


def first_verdict(
    system: System, parameters: Array, certificate: Certificate, *, t: Array, q: Array, v: Array, gap: Array,
    energy: Mapping[str, Array], counts: Mapping[str, Any], status: str, impulse: float = 0.0,
) -> tuple[str, Verdict]:  # fmt: skip
    """Status and verdict from the rows of a single run, its largest contact impulse, and the status of the time loop. A
    run that reached its end is untrusted unless its numbers are finite, the equations of its steps are solved, and no
    rigid contact overlaps by more than its clearance."""
    c, broken, deep = certificate, list[str](), list[str]()  # signs that a run is not a motion, and of deep overlaps
    residuals = c.gap_violation, c.joint_violation, c.complementarity, c.motion_residual
    fastest = np.maximum(*map(np.abs, bounds(v)))
    if not (all(map(math.isfinite, residuals)) and np.all(np.isfinite(fastest))):
        broken = ["numbers that are not finite"]
    elif c.motion_residual > UNSOLVED:
        broken = [f"the equations of a step are violated (residual {c.motion_residual:.1g})"]
    elif system.nc and not system.compliant:  # compliant contacts overlap by definition
        clearances = system.elementwise.gap_sizes(parameters)
        if c.gap_violation > DEEP * float(np.min(clearances)):
            overlaps = -np.min(gap, axis=0) / clearances
            i = int(np.argmax(overlaps))
            overlap, name = float(overlaps[i]), f'contact "{system.contact_names[i]}"'
            size = system.elementwise.size_words(i, parameters)
            if overlap > OVERLAP:
                broken = [f"{name} overlaps by {overlap:.2g} times its {size}"]
            elif overlap > DEEP:
                deep = [f"{name} overlaps by {100 * overlap:.2g} % of its {size}"]
    open_ = _open_constraint(system, parameters, c, t, q)

    def rests() -> bool:
        """Whether energies are round-off: displacements are, or velocities, since a driver's position jumps."""
        moved, size = displacement(system, parameters, q)
        way = float(np.max(fastest * system.gyration(parameters), initial=0.0)) * float(t[-1] - t[0])
        return way <= STILL * size * max(len(t) - 1, 1) if moved <= REST * size else way <= JUMPED * moved

    mass = sum(value for name, value in zip(system.parameters, parameters, strict=True) if name.endswith(".mass"))
    momentum = float(mass * (np.max(fastest, initial=0.0) + 10.0 * (t[-1] - t[0])))
    jammed = [f"contact impulses of {impulse:.1g} N s cancel"] if impulse > CANCEL * momentum > 0.0 else []

    signs = (*broken, *deep, *open_, *jammed, *_signs_of_sums(c, energy, counts, rests))
    if status != "finished":
        return status, Verdict("incomplete", "the run ended early", signs=signs)
    if broken:
        status = f"untrusted: {broken[0]}"
    if signs:
        return status, Verdict("not accurate", f"{'; '.join(signs)}; {ADVICE}", signs=signs)
    return status, Verdict("not checked", "no sign of error; check=True (--check) compares with a finer run")


def displacement(system: System, parameters: Array, q: Array) -> tuple[float, float]:
    """The largest displacement, rotations times the largest radius of gyration, and the size of the mechanism [m]."""
    lengths = np.array([unit == "m" for unit in system.names.q_units], dtype=bool)
    radius = float(np.max(system.gyration(parameters)[system.angular], initial=0.0))
    least, largest = bounds(q)
    spread, far = largest - least, np.maximum(largest, -least)
    moved = max(np.max(spread[lengths], initial=0.0), radius * np.max(spread[~lengths], initial=0.0))
    return float(moved), max(float(np.max(far[lengths], initial=0.0)), radius)


def reference_length(system: System, parameters: Array, q: Array) -> tuple[float, str]:
    """The length [m] to which errors of positions are relative, and its name: the smallest clearance, if any."""
    if system.nc:
        sizes = system.elementwise.gap_sizes(parameters)
        i = int(np.argmin(sizes))
        words = system.elementwise.size_words(i, parameters)
        free = f'the {words} of contact "{system.contact_names[i]}"'
        return float(sizes[i]), "the smallest clearance" if words == "clearance" else free
    moved, size = displacement(system, parameters, q)
    if moved <= REST * size:
        return MOVED * size, "a thousandth of the largest coordinate, of a mechanism that rests"
    return MOVED * moved, "a thousandth of the largest displacement"


def _open_constraint(system: System, parameters: Array, certificate: Certificate, t: Array, q: Array) -> list[str]:
    """The constraint of a joint or driver that is violated most; angles count by the largest radius of gyration."""
    most = certificate.joint_violation
    if not CLOSED < most < math.inf:
        return []
    length, name = reference_length(system, parameters, q)
    radius = float(np.max(system.gyration(parameters)[system.angular], initial=0.0))  # of the bodies that turn
    if most * max(radius, 1.0) <= OPEN * length:
        return []
    angles = np.array([unit == "rad" for unit in system.names.constraint_units])
    shares = np.where(angles, radius, 1.0) / length
    worst, said = OPEN, ""
    for k in range(0, len(t), AT_ONCE):
        times = t[k : k + AT_ONCE]
        violation = np.abs(system.joint_violation(times, q[k : k + AT_ONCE], parameters))
        row, i = np.unravel_index(int(np.argmax(violation * shares)), violation.shape)
        one, share = float(violation[row, i]), float(violation[row, i] * shares[i])
        if one > CLOSED and share > worst:
            worst, unit = share, "rad" if angles[i] else "m"
            said = (
                f'constraint "{system.constraint_names[i]}" is open by {one:.2g} {unit} at t = {times[row]:.6g} s, '
                f"{100 * share:.3g} % of {name}"
            )
    if not said and most * float(np.min(shares)) > OPEN:
        said = f"joints are open by {most:.2g} m or rad at a step that is not recorded"
    return [said] if said else []


def _signs_of_sums(
    certificate: Certificate, energy: Mapping[str, Array], counts: Mapping[str, Any], rests: Callable[[], bool]
) -> list[str]:
    """Signs of error in the contact law, the balance of energy and the programs solved by fallback solvers."""
    signs = []
    if certificate.complementarity > INCOMPLEMENTARY:
        signs.append(f"the contact law is violated (complementarity {certificate.complementarity:.1g})")
    remainder = max(float(np.max(energy["remainder"])), -float(np.min(energy["remainder"])))
    lost = sum(float(np.abs(values[-1])) for name, values in energy.items() if name.startswith("loss_"))
    kinetic, potential = (float(np.max(np.abs(energy[name]))) for name in ("kinetic", "potential"))
    exchanged = max(kinetic, float(np.ptp(energy["work_drivers"])))
    share = max(lost, LEAST * exchanged)
    if remainder > UNBALANCED * share and remainder > ROUND_OFF * (kinetic + potential) and not rests():
        moved = f" and {exchanged:.2g} J exchanged" if share > lost else ""
        signs.append(f"the energy balance has a remainder of {remainder:.2g} J, with {lost:.2g} J lost{moved}")
    solves, rescued = counts.get("solves", 0), counts.get("fallbacks", 0)
    moves = kinetic > ROUND_OFF * potential  # of a mechanism at rest another solver may solve all programs
    if moves and rescued > RESCUED * max(solves, 1) and not rests():
        signs.append(f"{rescued} of {solves} programs were solved by a fallback solver")
    return signs


def missed_contacts(run: Any, system: System, parameters: Array) -> dict[str, float]:
    """Contacts that overlap between two rows at which they are open, or, of rigid contact, at a row between two steps
    without impulses; each with the first time [s] of this. Empty if rows are not those of all steps (``record``).

    The distance of convex bodies in uniform translation is a convex function of time, so that a gap lies above its
    tangents at two rows. Bodies that turn by an angle deviate from their translation by an eighth of it, as a share of
    their way. Where the tangents meet below zero by this bound, the interval between the rows is divided there, with
    positions from the polynomials between rows (`Trajectory.at`), until no bound or a gap itself is negative. Of more
    than `MOST` intervals those in which the bounds are lowest are divided: overlaps elsewhere are at most as deep.
    """
    if not system.nc or len(run.t) < 2 or len(run.t) - 1 < int(run.counts.get("steps", 0)):
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
        some = (open_[row, contact] & open_[row + 2, contact]) | (gap[row + 1, contact] < -MISSED * size[contact])
        for one, time in zip(contact[some].tolist(), run.t[1 + row[some]].tolist(), strict=True):
            missed.setdefault(one, time)
    k, i = _approaching_then_separating(run, system, open_[:-1] & open_[1:] & ~loaded)
    if k.size:
        least = -size[i] * np.where(forced[k], MISSED, FREE)
        which, bound = _bounds_below(run, system, k, i, least)
        if which.size > MOST:
            which = which[np.argpartition(bound / size[i[which]], MOST)[:MOST]]
        _divide(run, system, parameters, k[which], i[which], least[which], missed)
    return {system.contact_names[contact]: missed[contact] for contact in sorted(missed)}


def _approaching_then_separating(run: Any, system: System, free: NDArray[np.bool_]) -> tuple[Index, Index]:
    """Intervals and contacts, `free` in them (n - 1, nc), that close at first and open at last, and may overlap."""
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
    for first in range(0, len(run.t), INTERVALS):
        part = slice(first, first + INTERVALS + 1)
        dt = float(np.maximum(dt, np.max(np.diff(run.t[part]), initial=0.0)))
        spin = float(np.maximum(spin, np.max(np.abs(run.v.array[part, system.turning]), initial=0.0)))
    both = 2.0 * math.sqrt(3.0) * spin  # each of two bodies has up to three of these
    farthest = dt * (1.0 + 0.125 * both * dt)
    if not math.isfinite(farthest):
        farthest = math.inf
    low = farthest * (ends - right[k, i]) > np.minimum(gap[k, i], gap[k + 1, i])
    return k[low], i[low]


def _bounds_below(run: Any, system: System, k: Index, i: Index, least: Array) -> tuple[Index, Array]:
    """Intervals that begin with rows k, of contacts i, whose tangents meet below `least`, and the gaps at which."""
    v, each = run.v.array, np.arange(system.nc)
    found, lows = [np.zeros(0, dtype=np.intp)], [np.zeros(0)]
    for first in range(0, k.size, INTERVALS):
        in_time()
        part = slice(first, first + INTERVALS)
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
    run: Any, system: System, parameters: Array, k: Index, i: Index, least: Array, missed: dict[int, float]
) -> None:  # fmt: skip
    """Divide intervals that begin with rows k, of contacts i, until their gaps are open, or missed as below `least`."""
    v = run.v.array
    spans, turn = _spans(run, k, i), _turning(system, i, v[k], v[k + 1])
    for _ in range(DIVISIONS):
        in_time()
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


def signs_between_rows(run: Any, system: System, parameters: Array) -> tuple[str, ...]:
    """Signs that a load may vary faster than its samples show, where steps are longer, and that contacts are missed."""
    signs = []
    in_time()
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


def with_signs_between_rows(run: Run, system: System, parameters: Array) -> Run:
    """The run, whose verdict has these signs; a complete one is not lost for lack of memory to evaluate them."""
    try:
        signs = signs_between_rows(run, system, parameters)
    except (MemoryError, TimeSpent) as error:
        what = "time" if isinstance(error, TimeSpent) else "memory"
        signs = (f"for lack of {what} it is not known whether contacts are missed between two rows",)
    if signs:
        every = (*run.verdict.signs, *signs)
        if run.verdict.kind == "incomplete":
            return replace(run, verdict=replace(run.verdict, signs=every))
        return replace(run, verdict=Verdict("not accurate", f"{'; '.join(every)}; {ADVICE}", signs=every))
    if system.nc and len(run.t) - 1 < int(run.counts.get("steps", 0)) and run.verdict.kind == "not checked":
        return replace(run, verdict=replace(run.verdict, text=NOT_EVALUATED))
    return run


def clearances(system: System, parameters: Array) -> Array:
    """Clearance or backlash of each contact (nc,) [m]; not a number for one that has neither."""
    free = [contact.size_label == "size" for contact in system.contact_elements]
    return np.where(free, math.nan, system.elementwise.gap_sizes(parameters))


def with_soft_contact(run: Run) -> Run:
    """The run, whose verdict says what `soft_contact` does."""
    said = soft_contact(run)
    return replace(run, verdict=replace(run.verdict, text=f"{run.verdict.text}; {said}")) if said else run


def soft_contact(run: Run) -> str:
    """A sentence on the compliant contact that is pressed in farthest beyond its clearance, or ""."""
    if run.origin is None or not run.origin.system.compliant or "soft-contact" in run.origin.system.silence:
        return ""
    system, parameters = run.origin.system, run.origin.parameters
    sizes = system.elementwise.gap_sizes(parameters)
    if not run.certificate.gap_violation > np.min(sizes, initial=math.inf):
        return ""
    share = np.nan_to_num(-bounds(run.gap.array)[0] / clearances(system, parameters))
    i = int(np.argmax(share))
    if not share[i] > 1.0:
        return ""
    return (
        f'contact "{system.contact_names[i]}" is pressed in by {share[i] * sizes[i]:.2g} m, {share[i]:.2g} times its '
        f"{system.elementwise.size_words(i, parameters)}: its stiffness is too small for contact that is nearly rigid"
    )


def _spans(run: Any, k: Index, i: Index) -> Array:
    """Time, gap and gap velocity at the beginning and at the end of intervals that begin with rows k, of contacts i."""
    gap, right, left = run.gap.array, run.gap_rate.array, run.left.gap_rate.array
    return np.column_stack([run.t[k], gap[k, i], right[k, i], run.t[k + 1], gap[k + 1, i], left[k + 1, i]])


def _meeting(spans: Array, turn: Array) -> tuple[Array, Array]:
    """Times in intervals at which the tangents of gaps meet, or next to it, and lower bounds of gaps; NaN where they do
    not close and then open."""
    from nonsmooth.step.closing import SHORTEST, least_gap, meeting_of_tangents  # loads numba

    start, gap, rate, end, gap_end, rate_end = spans.T
    dt = end - start
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.clip(meeting_of_tangents(gap, rate, gap_end, rate_end, dt), SHORTEST * dt, (1.0 - SHORTEST) * dt)
        bound = least_gap(x, gap, rate, rate_end, dt, dt * turn, 0.0)
    inside = (rate < 0.0) & (rate_end > 0.0) & (start + x > start) & (start + x < end)
    return start + x, np.where(inside, bound, np.nan)


def _turning(system: System, i: Index, *velocities: Array) -> Array:
    """Largest sum of the angular speeds [rad/s] of the two bodies of contacts i (n,) at these velocities (n, nv)."""
    columns, rows = system.angular_velocities[i], np.arange(len(i))[:, None, None]
    spins = (np.where(columns < 0, 0.0, v[rows, columns]) for v in velocities)
    return np.max([np.sum(np.linalg.norm(one, axis=2), axis=1) for one in spins], axis=0)
