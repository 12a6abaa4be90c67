"""Peaks of smooth contact forces, whose rows are means over steps and hence too low."""

import math
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array

#: degree of the polynomial through the impulses at the ends of the steps around the largest mean force
DEGREE = 5
#: of the difference from polynomials of two degrees less, which counts as an error
SHARE = 0.25
#: share of the largest mean force in a step from which on a contact may have the largest force
HIGH = 0.5


def peak_force(t: Array, impulse: Array) -> tuple[float, float]:
    """The largest force [N] in one contact, and an estimate of its error [N], from impulses (n,) at ends of its steps.
    It is the largest rate of the polynomial through the impulses around the step with the largest mean force, and at
    least that; its error the difference from polynomials that leave out an impulse at either end, and at least a
    quarter of that from those which leave out two: by chance the first may agree."""
    means = np.diff(impulse) / np.diff(t)
    k, steps = int(np.argmax(means)), min(DEGREE, len(t) - 1)
    first = min(max(k - steps // 2, 0), len(t) - 1 - steps)

    def largest(first: int, last: int) -> float:
        length = t[last] - t[first]
        x = (t[first : last + 1] - t[first]) / length
        terms = np.linalg.solve(np.vander(x, increasing=True), impulse[first : last + 1] - impulse[first])
        force = np.polyder(terms[::-1])
        low, high = x[max(k - 1 - first, 0)], x[min(k + 2, last) - first]
        flat = np.roots(np.polyder(force))
        flat = flat.real[(np.abs(flat.imag) < 1e-9) & (flat.real > low) & (flat.real < high)]
        return max(float(np.max(np.polyval(force, [low, high, *flat]))) / length, float(means[k]))

    peak = largest(first, first + steps)
    apart = [
        share * abs(peak - largest(first + a, first + steps - b))
        for a, b, share in ((0, 1, 1.0), (1, 0, 1.0), (0, 2, SHARE), (1, 1, SHARE), (2, 0, SHARE))
        if first + a <= k < first + steps - b and (share == 1.0 or steps > 3)
    ]
    return peak, max(apart, default=float(means[k]))


def largest_forces(run: Any) -> Array:
    """Largest force (nc,) [N] of each contact; of rigid contact the largest mean of a step, without impacts."""
    return compliant_peaks(run)[0] if run.compliant else np.max(run.lam_N.array, axis=0, initial=0.0)


def compliant_peaks(run: Any, until: float = math.inf) -> tuple[Array, Array]:
    """Largest forces (nc,) [N] of compliant contacts up to a time, and estimates of their errors (nc,) [N]."""
    last = int(np.searchsorted(run.t, until, side="right"))
    t, means = run.t[:last], run.lam_N.array[1:last]
    found = np.zeros((2, means.shape[1]))
    for i, force in enumerate(means.T):
        closed = np.flatnonzero(np.diff(np.concatenate([[False], force > 0.0, [False]])))
        impulse = np.concatenate([[0.0], np.cumsum(force * np.diff(t))])
        for a, b in zip(closed[::2], closed[1::2], strict=True):
            if force[a:b].max() >= HIGH * force.max():
                found[:, i] = max(tuple(found[:, i]), peak_force(t[a : b + 1], impulse[a : b + 1]))
    return found[0], found[1]
