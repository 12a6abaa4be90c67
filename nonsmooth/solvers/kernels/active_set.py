"""The kernels of the active set, compiled by numba: mixed linear complementarity problems and programs reduced to them.

Most systems have a few rows; the factorisations are written out, since a LAPACK call costs more than the elimination
itself. Inner loops run along rows, which the compiler vectorises, so that larger systems are solved efficiently too.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs.base import CAP, TINY

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

SIGN = 1e-13  # a row or multiplier this far below zero, relative to its terms, counts as zero
ROUND_OFF = 1e-15
ALL_AT_ONCE = 12  # iterations without progress in which all rows of wrong sign change together
REGULARISATIONS = (1e-10, 1e-7, 1e-4)
REFINEMENTS = 40
LOST = 1e-13  # relative difference between a row of A x - b and the LCP's w above which digits have been lost


@njit(cache=True)
def _factor(A: Array, rows: Rows, k: int, delta: float, lu: Array, pivots: Rows) -> None:
    """LU factorisation with row pivoting of A[rows, rows], its diagonal multiplied by 1 + delta."""
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
    """Principal pivoting on the LCP (A + delta D, b - delta D base); returns iterations, negative if not converged."""
    m = b.size
    rows, pivots, wrong = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.bool_)
    lu, d = np.empty((m, m)), np.empty(m)
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
    """Solve w = A z + b with w_i = 0 for i < bilateral and w_i >= 0, z_i >= 0, w_i z_i = 0 for the other rows.

    Block principal pivoting: all rows of wrong sign change together, and after `ALL_AT_ONCE` iterations without
    progress only the last of them (Murty's rule, finite for a P-matrix). The diagonal is multiplied by 1 + delta, which
    makes a positive semidefinite matrix (redundant contacts) positive definite; proximal-point refinement z <- LCP(A +
    delta D, b - delta D z) removes this perturbation. Rows expected to be active are a warm start. Returned are z, w
    and active rows of the iterate of least residual, with z >= 0 exactly, the number of factorisations, and the
    residual. Portugal, Judice, Vicente, Math. Comp. 63 (1994), 625-643; Murty, Linear Algebra Appl. 7 (1974), 65-108.
    """
    m = b.size
    z, w, base = np.zeros(m), np.zeros(m), np.zeros(m)
    trial, trial_w, state, binding = np.zeros(m), np.zeros(m), np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    error, iterations = np.inf, 0
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


@njit(cache=True)
def quadratic_program(
    H: Array, f: Array, A: Array, b: Array, equalities: int, active: Mask, max_iterations: int
) -> tuple[Array, Array, Mask, int, float, bool]:
    """Solve a QP by the LCP of its multipliers, see `lcp_from_qp`: x = H^-1 (A'y - f), the results of `mixed_lcp`, and
    whether an ill-conditioned H has lost digits; iterations = -1 and x is NaN if H is not positive definite."""
    n, m = f.size, b.size
    x = np.empty(n)
    U, scales = H.copy(), np.empty(n)  # H = U'U, and 1 / diagonal of U
    Y, free = np.empty((n, m)), f.copy()  # U'^-1 A' and U'^-1 f
    for i in range(n):
        x[i] = np.nan
        for j in range(m):
            Y[i, j] = A[j, i]
    for c in range(n):
        if not U[c, c] > 0.0:
            return x, np.zeros(m), active, -1, np.inf, False
        scales[c] = 1.0 / np.sqrt(U[c, c])
        for j in range(c, n):
            U[c, j] *= scales[c]
        for j in range(m):
            Y[c, j] *= scales[c]
        free[c] *= scales[c]
        for i in range(c + 1, n):
            factor = U[c, i]
            for j in range(i, n):
                U[i, j] -= factor * U[c, j]
            for j in range(m):
                Y[i, j] -= factor * Y[c, j]
            free[i] -= factor * free[c]
    delassus, rates = np.zeros((m, m)), np.empty(m)
    for i in range(m):
        rates[i] = -b[i]
    for c in range(n):
        for i in range(m):
            factor = Y[c, i]
            rates[i] -= factor * free[c]
            for j in range(m):
                delassus[i, j] += factor * Y[c, j]
    y, w, binding, iterations, error = mixed_lcp(delassus, rates, equalities, active, max_iterations)
    for i in range(n - 1, -1, -1):
        value = -free[i]
        for j in range(m):
            value += Y[i, j] * y[j]
        for j in range(i + 1, n):
            value -= U[i, j] * x[j]
        x[i] = value * scales[i]
    lost = False
    for i in range(m):
        slack = -b[i]
        for j in range(n):
            slack += A[i, j] * x[j]
        lost = lost or abs(slack - w[i]) > LOST * (abs(rates[i]) + abs(b[i]))
    return x, y, binding, iterations, error, lost


@njit(cache=True)
def newton_step(
    c: Array, G: Array, c_x: Array, c_y: Array, G_x: Array, G_y: Array, x: Array, y: Array,
    free: Mask, pairs: Mask, G_scale: Array, y_scale: Array, active: Mask, max_iterations: int,
) -> tuple[Array, Array, Mask, bool]:  # fmt: skip
    """Solve c + c_x dx + c_y dy = 0 and 0 <= G + G_x dx + G_y dy ⟂ y + dy >= 0, with as many free x as equations, and y
    zero of pairs other than `pairs`: new x, y and closed pairs, begun with `active`, and whether c_x is square and
    regular."""
    moving, binding = np.flatnonzero(free), np.flatnonzero(pairs)
    n, m = moving.size, binding.size
    new_x, new_y, new_active = x.copy(), np.zeros(y.size), np.zeros(y.size, np.bool_)
    if c.size != n:
        return new_x, new_y, new_active, False
    # dx = -(offset + slope Y) with Y the new multipliers of the pairs: c_y dy = c_y Y - c_y y
    R, lu, pivots, column = np.empty((n, 1 + m)), np.empty((n, n)), np.empty(n, np.int64), c.copy()
    for j in range(y.size):
        column -= c_y[:, j] * y[j]
    R[:, 0], R[:, 1:] = column, c_y[:, binding]
    _factor(np.ascontiguousarray(c_x[:, moving]), np.arange(n), n, 0.0, lu, pivots)
    for i in range(n):
        if lu[i, i] == 0.0:
            return new_x, new_y, new_active, False
    for j in range(1 + m):
        column[:] = R[:, j]
        _solve(lu, pivots, n, column)
        R[:, j] = column
    A, b, row = np.empty((m, m)), np.empty(m), np.empty(1 + m)
    for k in range(m):
        pair = binding[k]
        row[0], row[1:] = G[pair], G_y[pair][binding]
        for j in range(y.size):
            row[0] -= G_y[pair, j] * y[j]
        for i in range(n):
            row -= G_x[pair, moving[i]] * R[i]
        b[k] = row[0] / G_scale[pair]
        A[k] = row[1:] * y_scale[binding] / G_scale[pair]
    z, _, closed, _, _ = mixed_lcp(A, b, 0, active[binding], max_iterations)
    for k in range(m):
        new_y[binding[k]] = z[k] * y_scale[binding[k]]
        new_active[binding[k]] = closed[k]
    for i in range(n):
        new_x[moving[i]] -= R[i, 0]
        for k in range(m):
            new_x[moving[i]] -= R[i, 1 + k] * new_y[binding[k]]
    return new_x, new_y, new_active, True
