"""The difference of two runs of one mechanism, as fractions of clearance and peak force."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import coordinates
from nonsmooth.model.system import System
from nonsmooth.trajectory import Trajectory
from nonsmooth.trajectory.verdict import reference_length

__all__ = ["Difference", "Scale", "difference", "peak_forces", "scale_of"]

#: points in time at which positions are compared
GRID = 4000
#: length of the window of a peak force, as a share of the run
WINDOW = 1 / 200
#: difference, as a share of the clearance, from which two runs are considered to have separated
PARTED = 0.1


@dataclass(frozen=True)
class Scale:
    """The length to which errors of positions are relative.

    Parameters
    ----------
    length : [m]
    name : what it is, for sentences: "the clearance"
    """

    length: float
    name: str


@dataclass(frozen=True)
class Difference:
    """The difference of two runs.

    Parameters
    ----------
    position : [-]
        Largest difference of a coordinate, angles times the radius of gyration of their body, over the scale.
    force : [-]
        Largest difference of a contact's peak force (largest mean over any window of 1/200 of the run, impacts
        included), over the largest peak of the finer run; 0 without contact.
    parted, lost : [s]
        First time at which they differ by a tenth of the scale, and by more than the requested accuracy; infinite if
        they never do.
    """

    position: float
    force: float
    parted: float
    lost: float

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
    apart = _apart(coarse, fine, radii, t) / scale.length
    window = WINDOW * (float(fine.t[-1]) - start)
    peaks = [peak_forces(run, window, end) for run in (coarse, fine)]
    largest = float(np.max(peaks[1], initial=0.0))
    force = float(np.max(np.abs(peaks[0] - peaks[1]), initial=0.0)) / largest if largest > 0.0 else 0.0
    parted, lost = (next(iter(t[~(apart <= limit)]), math.inf) for limit in (PARTED, accuracy))
    return Difference(float(np.max(apart)), force, float(parted), float(lost))


def _apart(a: Trajectory, b: Trajectory, radii: Array, t: Array) -> Array:
    """Largest difference (len(t),) [m] of a coordinate."""
    one, other = coordinates(a, t), coordinates(b, t)
    index = {name: i for i, name in enumerate(a.q.names)}
    largest = np.zeros(len(t))
    by_name = dict(zip(a.v.names, radii, strict=True))
    for name, radius in by_name.items():
        body, _, label = name.rpartition(".")
        if name in index:
            i = index[name]
            largest = np.maximum(largest, radius * np.abs(one[:, i] - other[:, i]))
        elif label == "wx":
            entries = [index[f"{body}.q{entry}"] for entry in "wxyz"]
            turned = _turned(one[:, entries], other[:, entries])
            lengths = np.array([by_name[f"{body}.w{axis}"] for axis in "xyz"])
            largest = np.maximum(largest, np.max(np.abs(turned) * lengths, axis=1))
    return largest


def _turned(one: Array, other: Array) -> Array:
    """Twice the vector part (n, 3) of ``conj(one) other``: the rotation between them [rad] where it is small."""
    w, v = one[:, :1], one[:, 1:]
    w_, v_ = other[:, :1], other[:, 1:]
    vector = w * v_ - w_ * v - np.cross(v, v_)
    return np.asarray(2.0 * vector)


def peak_forces(run: Trajectory, window: float, until: float = math.inf) -> Array:
    """Largest mean normal force (nc,) [N] of each contact over any window [s] of this length, impacts included."""
    if not run.gap.names or len(run.t) < 2:
        return np.zeros(len(run.gap.names))
    t, total = run.t, run.P_N.array
    smooth = np.zeros_like(total)
    smooth[1:] = run.lam_N.array[1:] * np.diff(t)[:, None]
    flowing, jumps = np.cumsum(smooth, axis=0), np.cumsum(total - smooth, axis=0)
    begins = np.unique(np.clip(np.concatenate([t, t - window]), t[0], max(t[0], min(t[-1], until) - window)))
    ends = np.minimum(begins + window, t[-1])
    # impacts at either end of the window are included
    before, after = np.searchsorted(t, begins, side="left") - 1, np.searchsorted(t, ends, side="right") - 1
    peaks = np.zeros(total.shape[1])
    for i in range(total.shape[1]):
        flow = np.interp(ends, t, flowing[:, i]) - np.interp(begins, t, flowing[:, i])
        impulses = jumps[after, i] - np.where(before >= 0, jumps[np.maximum(before, 0), i], 0.0)
        peaks[i] = np.max(flow + impulses) / window
    return peaks
