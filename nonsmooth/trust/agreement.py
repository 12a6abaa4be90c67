"""The verdict on a run by another run of the same mechanism: a finer one, or an accurate one of another method.

Positions are compared as fractions of the clearance, peak forces as fractions of the largest. Forces that grow as one
over the length of the step belong to impulses without a collision, as in Painleve's paradox.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import coordinates
from nonsmooth.model.system import System
from nonsmooth.solvers.chain import CERTIFIED
from nonsmooth.step.control import ErrorControl, StepControl
from nonsmooth.trajectory import Trajectory, Verdict
from nonsmooth.trajectory.columns import ForceAxes
from nonsmooth.trajectory.decimation import Jump
from nonsmooth.trajectory.peaks import compliant_peaks
from nonsmooth.trajectory.verdict import ADVICE, reference_length
from nonsmooth.trust.uniqueness import undetermined_forces

#: points in time at which positions are compared
GRID = 4000
#: length of the window of a peak force, as a share of the run
WINDOW = 1 / 200
#: error of a peak force in tolerances of the steps, which two runs may share
SEVERAL = 5.0
#: difference, as a share of the clearance, from which two runs are considered to have separated
PARTED = 0.1
#: relative difference of the impulses of two steps of different length that are one and the same, and ratio of their
#: lengths at most
SAME, SHORTER = 0.1, 0.7
#: horizon as a share of the time at which runs separate
PREDICTABLE = 0.8
#: decades of a difference, up to the accuracy, in which it grows exponentially: the last is reached within this
#: multiple of the time of the first, a power of time above six, and takes no more than this share of the time between.
#: Where it grows as a power of the time since an event, up to the square, the last decade takes 0.7 of it or more
DECADES, EXPONENTIAL, LAST = 3, 3.0, 0.68
#: what is said of a sensitive motion after its horizon
LATER = "later motion depends on round-off{growth}; use its statistics: long_run, or nonsmooth study statistics"
#: times at most that a horizon is tried, each compared at instants of its own
PASSES = 4


@dataclass(frozen=True)
class Scale:
    """The length [m] to which errors of positions are relative, and its name for sentences, as "the clearance"."""

    length: float
    name: str


@dataclass(frozen=True)
class Difference:
    """The difference of two runs.

    Parameters
    ----------
    position : largest difference of a coordinate over the scale [-], angles times the radius of gyration of the body
    force : largest difference of a contact's peak force over the largest peak of the finer run [-]; 0 without contact.
        Of rigid contact the largest mean over any window of 1/200 of the run, impacts included; of compliant contact
        the largest force, with the error of its interpolation
    parted, lost : first time [s] of a difference of a tenth of the scale, and of one above accuracy; infinite if never
    of_pairs : whether `force` is of the force between each pair of bodies, not of each contact
    rate : of the exponential growth [1/s] of the difference until the accuracy is lost; 0 if it is not shown to be one
    """

    position: float
    force: float
    parted: float
    lost: float
    of_pairs: bool = False
    rate: float = 0.0

    def within(self, accuracy: float) -> bool:
        """Whether position and force are."""
        return self.position <= accuracy and self.force <= accuracy


def scale_of(system: System, values: Array, run: Trajectory) -> Scale:
    """The reference length of a run."""
    return Scale(*reference_length(system, values, run.q.array))


def difference(
    coarse: Trajectory, fine: Trajectory, radii: Array, scale: Scale, *, accuracy: float,
    until: float = math.inf,
) -> Difference:  # fmt: skip
    """The difference of a run and a finer one, from the start to `until` [s] or the end of the shorter one."""
    start, end = float(fine.t[0]), min(float(coarse.t[-1]), float(fine.t[-1]), until)
    t = np.linspace(start, end, GRID + 1)
    largest = np.zeros(len(t))  # difference [m] of a coordinate
    one, other = coordinates(coarse, t), coordinates(fine, t)
    index, by_name = {name: i for i, name in enumerate(coarse.q.names)}, dict(zip(coarse.v.names, radii, strict=True))
    for name, radius in by_name.items():
        body, _, label = name.rpartition(".")
        if name in index:
            i = index[name]
            largest = np.maximum(largest, radius * np.abs(one[:, i] - other[:, i]))
        elif label == "wx":
            entries = [index[f"{body}.q{entry}"] for entry in "wxyz"]
            w, u, w_, u_ = one[:, entries[:1]], one[:, entries[1:]], other[:, entries[:1]], other[:, entries[1:]]
            # twice the vector part of conj(one) other, the rotation between them [rad] where it is small
            turned = 2.0 * (w * u_ - w_ * u - np.cross(u, u_))
            lengths = np.array([by_name[f"{body}.w{axis}"] for axis in "xyz"])
            largest = np.maximum(largest, np.max(np.abs(turned) * lengths, axis=1))
    apart = largest / scale.length
    if coarse.compliant and fine.compliant:
        (peaks, _), (finer, error) = compliant_peaks(coarse, end), compliant_peaks(fine, end)
    else:
        window = WINDOW * (float(fine.t[-1]) - start)
        peaks, finer = peak_forces(coarse, window, end), peak_forces(fine, window, end)
        error = np.zeros_like(finer)
    force = _share(peaks, finer, error)
    parted, lost = (next(iter(t[~(apart <= limit)]), math.inf) for limit in (PARTED, accuracy))
    return Difference(float(np.max(apart)), force, float(parted), float(lost), rate=_rate(t, apart, accuracy))


def _rate(t: Array, apart: Array, accuracy: float) -> float:
    """The rate of `Difference` of these at times t (n,), 0 if it is not resolved or does not show."""
    at = [next(iter(t[~(apart <= accuracy * 10.0**k)]), math.inf) for k in range(-DECADES, 1)]
    lasts = at[-1] - at[0]
    if not (lasts < math.inf and at[-1] - t[0] <= EXPONENTIAL * (at[0] - t[0]) and at[-1] - at[-2] <= LAST * lasts):
        return 0.0
    return float(DECADES * math.log(10.0) / lasts) if lasts > 2 * DECADES * (t[1] - t[0]) else 0.0


def _share(peaks: Array, finer: Array, error: Array | float = 0.0) -> float:
    """The largest difference of peaks, over the largest of the finer run."""
    peak = float(np.max(finer, initial=0.0))
    return float(np.max(np.abs(peaks - finer) + error, initial=0.0)) / peak if peak > 0.0 else 0.0


def peak_forces(run: Trajectory, window: float, until: float = math.inf) -> Array:
    """Largest mean normal force (nc,) [N] of each contact over any window [s] of this length, impacts included."""
    return _peaks(run, run.P_N.array, run.lam_N.array, window, until)


def peak_resultants(run: Trajectory, window: float, until: float = math.inf) -> Array:
    """Largest means [N] over any window [s] of this length, impacts included, of the components in the ground frame of
    the force between each pair of bodies in contact, which the motion determines where it does not those of contacts.
    """
    assert run.origin is not None
    system, pairs = run.origin.system, [element.body_names() for element in run.origin.system.contact_elements]
    impulses = ForceAxes(system, run.origin.parameters, run.q.array, run.P_N.array, run.P_T.array).rows(0, len(run.t))
    # the force on the second body of a contact is the opposite of that on the first
    distinct = dict.fromkeys(tuple(sorted(pair)) for pair in pairs)
    of_pair = np.array([[(pair == one) - (pair[::-1] == one) for pair in pairs] for one in distinct], dtype=float)
    total, force = (
        np.einsum("pc,ncd->npd", of_pair, one).reshape(len(run.t), -1) for one in (impulses, run.contact_force.array)
    )
    return _peaks(run, total, force, window, until)


def _peaks(run: Trajectory, total: Array, force: Array, window: float, until: float) -> Array:
    """Largest size of the mean of each column over any window, of the impulses of steps and of their smooth forces."""
    t = run.t
    if not total.shape[1] or len(t) < 2:
        return np.zeros(total.shape[1])
    smooth = np.zeros_like(total)
    smooth[1:] = force[1:] * np.diff(t)[:, None]
    flowing, jumps = np.cumsum(smooth, axis=0), np.cumsum(total - smooth, axis=0)
    begins = np.unique(np.clip(np.concatenate([t, t - window]), t[0], max(t[0], min(t[-1], until) - window)))
    ends = np.minimum(begins + window, t[-1])
    # impacts at either end of the window are included
    before, after = np.searchsorted(t, begins, side="left") - 1, np.searchsorted(t, ends, side="right") - 1
    peaks = np.zeros(total.shape[1])
    for i in range(total.shape[1]):
        flow = np.interp(ends, t, flowing[:, i]) - np.interp(begins, t, flowing[:, i])
        impulses = jumps[after, i] - np.where(before >= 0, jumps[np.maximum(before, 0), i], 0.0)
        peaks[i] = np.max(np.abs(flow + impulses)) / window
    return peaks


def impulsive_force(coarse: Trajectory, fine: Trajectory) -> Jump | None:
    """The first jump of the finer run, or the contact of its largest force if a longer step has the same impulse."""
    if fine.jumps.size:
        return Jump.first(fine.jumps)
    if min(len(coarse.t), len(fine.t)) < 2 or not fine.gap.names:
        return None
    largest = []  # end and length of the step with the largest mean force of each contact, and this force, each (nc,)
    for run in (coarse, fine):
        force, dt = run.lam_N.array[1:], np.diff(run.t)
        k = np.argmax(force, axis=0)
        largest.append((run.t[1:][k], dt[k], force[k, np.arange(force.shape[1])]))
    (t_1, dt_1, force_1), (t_2, dt_2, force_2) = largest
    impulse_1, impulse_2 = dt_1 * force_1, dt_2 * force_2
    same = (np.abs(impulse_1 - impulse_2) <= SAME * impulse_2) & (np.abs(t_1 - t_2) <= dt_1 + dt_2)
    # a solver's round-off is a force as well; momentum is twice the kinetic energy over the velocity, or more
    speed = max((np.max(np.abs(fine.v[name])) for name in fine.v.names if fine.v.units(name) == "m/s"), default=0.0)
    noise = CERTIFIED * 2.0 * np.max(fine.energy["kinetic"]) / speed if speed > 0.0 else 0.0
    found = np.flatnonzero(same & (dt_2 <= SHORTER * dt_1) & (impulse_2 > noise))
    if not found.size:
        return None
    i = int(found[np.argmax(force_2[found])])
    return Jump(fine.gap.names[i], float(t_2[i]), float(impulse_2[i]), (float(force_1[i]), float(force_2[i])))


class Agreement:
    """Compares runs of one mechanism and states the verdict."""

    #: of the last comparison
    scale: Scale

    def __init__(self, system: System, values: Array, accuracy: float) -> None:
        self.system, self.values, self.accuracy = system, values, accuracy
        self.radii = system.gyration(values)

    def difference(self, coarse: Trajectory, fine: Trajectory, until: float = math.inf) -> Difference:
        self.scale = scale_of(self.system, self.values, fine)
        return difference(coarse, fine, self.radii, self.scale, accuracy=self.accuracy, until=until)

    def of_unique(self, coarse: Trajectory, fine: Trajectory, control: StepControl) -> Difference:
        """The difference of what the motion determines: where positions agree, and peak forces do not since the load
        of several contacts is shared arbitrarily, of the forces of pairs of bodies. Peaks of compliant contact are not
        called more accurate than the integration of the run (`control`): they may agree by chance."""
        found = self.difference(coarse, fine)
        if fine.compliant and isinstance(control, ErrorControl) and found.force > 0.0:
            found = replace(found, force=max(found.force, SEVERAL * control.rtol))
        if found.position <= self.accuracy < found.force and undetermined_forces(fine).shares_load:
            window = WINDOW * float(fine.t[-1] - fine.t[0])
            peaks, finer = (peak_resultants(run, window, float(coarse.t[-1])) for run in (coarse, fine))
            return replace(found, force=_share(peaks, finer), of_pairs=True)
        return found

    def verdict(
        self, coarse: Trajectory, fine: Trajectory, found: Difference, remedy: str, signs: tuple[str, ...], *,
        sensitive: bool,
    ) -> Verdict:  # fmt: skip
        """The verdict on the run with these signs of error; `sensitive`: only sensitive motions still separate."""
        size = found.position, found.force
        impulsive = None if self.system.compliant or found.of_pairs else impulsive_force(coarse, fine)
        if found.within(self.accuracy) and not signs and impulsive is not None:
            text = f"{impulsive.text}; {self._words(found)}"
            return Verdict("not accurate", text, *size, -math.inf, signs=(impulsive.text,))
        if found.within(self.accuracy) and not signs:
            return Verdict("accurate", f"{self._words(found)}, to the end", *size)
        start = float(fine.t[0])
        horizon = min(start + PREDICTABLE * (found.parted - start), found.lost)
        if start < horizon < math.inf and not signs:
            for _ in range(PASSES):
                until = self.difference(coarse, fine, horizon)
                if until.position <= self.accuracy:
                    break
                horizon = until.lost - (horizon - start) / GRID  # the instant before
            words = self._words(until)
            if until.force <= self.accuracy and sensitive:
                growth = f", differences grow tenfold in {math.log(10.0) / found.rate:.2g} s" if found.rate else ""
                text = f"trust until t = {horizon:.3g} s ({words}); {LATER.format(growth=growth)}"
                return Verdict("sensitive", text, until.position, until.force, horizon, found.parted)
            if until.force <= self.accuracy:
                text = f"only until t = {horizon:.3g} s, {words}; {remedy}"
                return Verdict("not accurate", text, *size, horizon, found.parted)
        parts = []
        if found.position > self.accuracy:
            parts.append(f"positions uncertain by {percent(found.position)} of {self.scale.name}")
        if found.force > self.accuracy:
            parts.append(f"peak force uncertain by {percent(found.force)}")
        text = "; ".join((*signs, f"{' and '.join(parts) or 'differences are small'}, {remedy}"))
        return Verdict("not accurate", text, *size, -math.inf, found.parted, signs)

    def _words(self, found: Difference) -> str:
        words = f"positions within {percent(found.position)} of {self.scale.name}"
        force = "force between bodies" if found.of_pairs else "force"
        return words + (f", peak {force} within {percent(found.force)}" if self.system.nc else "")


def percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def verdict_against(
    run: Trajectory, accurate: Trajectory, system: System, values: Array, *, accuracy: float, parted: float = math.inf
) -> Verdict:
    """The verdict on a run by an accurate run of the same mechanism, which may be one of another method.

    Parameters
    ----------
    accuracy : [-], as of `simulate`: of positions relative to the smallest clearance, and of peak forces to the largest
    parted : time [s] at which two accurate runs differ by a tenth of the clearance: a run that follows them as far is
        sensitive, not inaccurate; infinite if they never do, and each difference is an error of the run
    """
    if run.verdict.kind == "incomplete":
        return run.verdict
    compare = Agreement(system, values, accuracy)
    found = compare.difference(run, accurate)
    if run.verdict.signs:
        return replace(run.verdict, position=found.position, force=found.force, parted=found.parted)
    begin, signs = float(run.t[0]), accurate.verdict.signs
    follows = parted < math.inf and found.parted - begin >= PREDICTABLE * (parted - begin)
    return compare.verdict(run, accurate, found, ADVICE, signs, sensitive=follows)
