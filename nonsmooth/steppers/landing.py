"""Where an open gap closes first within a trial step.

A gap is known at both ends of the step with its rate, hence as a cubic. Its interior minimum counts as well: the sign at the
end alone misses short excursions through the wall. A contact that has just left the wall starts at zero by definition, so
its cubic is divided by s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array

__all__ = ["first_closing"]


def first_closing(
    g0: Array, rate0: Array, g1: Array, rate1: Array, dt: float, *, watched: NDArray[np.bool_], tolerance: Array
) -> tuple[float, int] | None:
    """Time after the start [s] and index of the gap that closes first, or None.

    Parameters
    ----------
    g0, rate0, g1, rate1 : (nc,) gaps [m] and rates [m/s] at the start and the end of the trial step
    dt : [s] its length
    watched : (nc,) bool, the contacts that are open, those that leave the wall at the start (g0 within `tolerance`) included
    tolerance : (nc,) [m] below which a gap counts as closed

    >>> one = np.ones(1)
    >>> time, contact = first_closing(0.5 * one, -one, -0.5 * one, -one, 1.0, watched=one > 0, tolerance=1e-9 * one)
    >>> round(time, 12), contact
    (0.5, 0)
    """
    found: tuple[float, int] | None = None
    for i in np.flatnonzero(watched):
        leaving = g0[i] <= tolerance[i]
        start = 0.0 if leaving else float(g0[i])
        # p(s) = start + a s + b s^2 + c s^3, s in [0, 1]
        a, end_slope = float(rate0[i]) * dt, float(rate1[i]) * dt
        rise = float(g1[i]) - start
        b, c = 3 * rise - 2 * a - end_slope, a + end_slope - 2 * rise
        if not _dips_below(start, a, b, c, -float(tolerance[i])):
            continue
        root = _first_root([c, b, a] if leaving else [c, b, a, start])
        if root is not None and (found is None or root * dt < found[0]):
            found = (root * dt, int(i))
    return found


def _dips_below(start: float, a: float, b: float, c: float, level: float) -> bool:
    """Whether the cubic goes below `level` on [0, 1]."""
    if start + a + b + c < level:
        return True
    discriminant = b * b - 3 * c * a
    if discriminant < 0:
        return False
    # the stable form of the roots of the derivative 3 c s^2 + 2 b s + a
    w = -(b + np.copysign(np.sqrt(discriminant), b))
    stationary = [w / (3 * c)] if c != 0 else []
    stationary += [a / w] if w != 0 else []
    return any(0 < s < 1 and start + s * (a + s * (b + s * c)) < level for s in stationary)


def _first_root(coefficients: list[float]) -> float | None:
    roots = np.roots(coefficients)
    real = roots.real[np.abs(roots.imag) <= 1e-9 * np.maximum(np.abs(roots), 1e-30)]
    inside = real[(real > 0) & (real <= 1 + 1e-12)]
    return float(inside.min()) if inside.size else None
