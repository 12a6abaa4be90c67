"""The active-set kernel: mixed linear complementarity problems of joint size, compiled by numba.

The same function serves `nonsmooth.solvers.ActiveSet` and the compiled time loop. The systems have a handful of rows,
so the factorisation is written out: a LAPACK call costs more than the elimination itself.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.programs.base import TINY
from nonsmooth.programs.lcp import CAP

__all__ = ["mixed_lcp"]

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

SIGN = 1e-13  # a row or multiplier this far below zero, relative to its terms, counts as zero
ROUND_OFF = 1e-15
ALL_AT_ONCE = 12  # rounds without progress in which all wrong rows switch together
REGULARISATIONS = (1e-10, 1e-7, 1e-4)
REFINEMENTS = 40


@njit(cache=True)
def _factor(A: Array, rows: Rows, k: int, delta: float, lu: Array, pivots: Rows) -> None:
    """LU with row pivoting of A[rows, rows] with its diagonal raised by a factor 1 + delta."""
    for i in range(k):
        for j in range(k):
            lu[i, j] = A[rows[i], rows[j]]
        lu[i, i] *= 1.0 + delta
    for c in range(k):
        p = c
        for i in range(c + 1, k):
            if abs(lu[i, c]) > abs(lu[p, c]):
                p = i
        pivots[c] = p
        if p != c:
            for j in range(k):
                lu[c, j], lu[p, j] = lu[p, j], lu[c, j]
        if lu[c, c] == 0.0:
            continue
        for i in range(c + 1, k):
            lu[i, c] /= lu[c, c]
            for j in range(c + 1, k):
                lu[i, j] -= lu[i, c] * lu[c, j]


@njit(cache=True)
def _solve(lu: Array, pivots: Rows, k: int, d: Array) -> None:
    """Solve in place; an unknown whose pivot is exactly zero stays at zero."""
    for c in range(k):
        p = pivots[c]
        if p != c:
            d[c], d[p] = d[p], d[c]
    for c in range(k):
        for i in range(c + 1, k):
            d[i] -= lu[i, c] * d[c]
    for c in range(k - 1, -1, -1):
        d[c] = d[c] / lu[c, c] if lu[c, c] != 0.0 else 0.0
        for i in range(c):
            d[i] -= lu[i, c] * d[c]


@njit(cache=True)
def _error(A: Array, b: Array, bilateral: int, z: Array, w: Array) -> float:
    """Fill w = A z + b; return the residual of `nonsmooth.programs.LCP`."""
    energy = 0.0
    for i in range(b.size):
        if A[i, i] != 0.0 and (i < bilateral or b[i] < 0.0):
            energy += b[i] ** 2 / abs(A[i, i])
    worst = 0.0
    for i in range(b.size):
        value, terms = b[i], 0.0
        for j in range(b.size):
            term = A[i, j] * z[j]
            value += term
            terms += abs(term)
        w[i] = value
        scale = min(terms, CAP * np.sqrt(abs(A[i, i]) * energy)) + abs(b[i])
        if i >= bilateral:
            value = min(value, A[i, i] * z[i])
        if not np.isfinite(value):
            return np.inf
        if value != 0.0:
            worst = max(worst, abs(value) / max(scale, TINY))
    return worst


@njit(cache=True)
def _pivot(A: Array, b: Array, bilateral: int, delta: float, base: Array, active: Mask, z: Array, limit: int) -> int:
    """Principal pivoting on the LCP (A + delta D, b - delta D base); returns the rounds, negative if not settled."""
    m = b.size
    rows = np.empty(m, np.int64)
    pivots = np.empty(m, np.int64)
    wrong = np.empty(m, np.bool_)
    lu = np.empty((m, m))
    d = np.empty(m)
    fewest, patience = m + 1, ALL_AT_ONCE
    for iteration in range(1, limit + 1):
        k = 0
        for i in range(m):
            z[i] = base[i] if active[i] else 0.0
            if active[i]:
                rows[k] = i
                k += 1
        for r in range(k):
            d[r] = -b[rows[r]]
            for j in range(m):
                d[r] -= A[rows[r], j] * z[j]
        _factor(A, rows, k, delta, lu, pivots)
        _solve(lu, pivots, k, d)
        for r in range(k):
            z[rows[r]] += d[r]

        count, last = 0, -1
        for i in range(bilateral, m):
            value, scale = b[i], abs(b[i])
            for j in range(m):
                term = A[i, j] * z[j]
                value += term
                scale += abs(term)
            value = A[i, i] * z[i] if active[i] else value - delta * A[i, i] * base[i]
            wrong[i] = value < -SIGN * scale
            if wrong[i]:
                count += 1
                last = i
        if count == 0:
            return iteration
        if count < fewest:
            fewest, patience = count, ALL_AT_ONCE
        else:
            patience -= 1
        if patience > 0:
            for i in range(bilateral, m):
                if wrong[i]:
                    active[i] = not active[i]
        else:
            active[last] = not active[last]
    return -limit


@njit(cache=True)
def mixed_lcp(
    A: Array, b: Array, bilateral: int, active: Mask, max_iterations: int
) -> tuple[Array, Array, Mask, int, float]:
    """Solve w = A z + b with w_i = 0 for i < bilateral and 0 <= w_i, z_i >= 0, w_i z_i = 0 else.

    Block principal pivoting: all rows with a wrong sign switch together, and after `ALL_AT_ONCE` rounds without
    progress only the last of them (Murty's rule, finite for a P-matrix). The diagonal is raised relatively by delta,
    which makes a positive semidefinite matrix (redundant contacts) positive definite; proximal-point refinement
    z <- LCP(A + delta D, b - delta D z) then removes what that changed, so that the answer is one of A itself.

    Parameters
    ----------
    A : float64 (m, m), C-contiguous
        P-matrix, or positive semidefinite with b in its range.
    b : float64 (m,)
    bilateral : int
        Number of leading equations.
    active : bool (m,)
        Rows believed to bind: a warm start, not changed.
    max_iterations : int
        Most factorisations in all.

    Returns
    -------
    z, w, active : arrays (m,)
        The best point met; z >= 0 exactly on complementary rows.
    iterations : int
        Factorisations.
    error : float
        Residual as `nonsmooth.programs.LCP.residual` defines it.

    References
    ----------
    Portugal, Judice, Vicente, Math. Comp. 63 (1994), 625-643; Murty, Linear Algebra Appl. 7 (1974), 65-108.
    """
    m = b.size
    z, w, base = np.zeros(m), np.zeros(m), np.zeros(m)
    trial, trial_w, state = np.zeros(m), np.zeros(m), np.zeros(m, np.bool_)
    binding = np.zeros(m, np.bool_)
    error = np.inf
    iterations = 0
    for attempt in range(len(REGULARISATIONS)):
        base[:] = 0.0
        stagnation = 0
        for i in range(m):
            state[i] = i < bilateral or active[i]
        for _ in range(REFINEMENTS):
            if iterations >= max_iterations:
                break
            used = _pivot(A, b, bilateral, REGULARISATIONS[attempt], base, state, trial, max_iterations - iterations)
            iterations += abs(used)
            for i in range(bilateral, m):
                trial[i] = max(trial[i], 0.0)
            trial_error = _error(A, b, bilateral, trial, trial_w)
            stagnation = 0 if trial_error < 0.5 * error else stagnation + 1
            if trial_error < error:
                error = trial_error
                z[:], w[:], binding[:] = trial, trial_w, state
            if used < 0 or error <= ROUND_OFF or stagnation == 2:
                break
            base[:] = trial
        if error <= SIGN:
            break
    return z, w, binding, iterations, error
