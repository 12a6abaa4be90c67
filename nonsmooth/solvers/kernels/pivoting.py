"""Combinatorial methods compiled by numba: Lemke's complementary pivoting with the lexicographic ratio test, and the
enumeration of the modes of a few contacts; data as in `kernels.friction`."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.solvers.kernels.active_set import _factor, _solve
from nonsmooth.solvers.kernels.friction import residual

ENDED, RAY, LIMIT = 0, 1, 2
PIVOT = 1e-11  # a smaller entry of the tableau counts as zero
TIE = 1e-12  # ratios that differ by less are compared by the columns that follow
REFINEMENTS = 2
OPEN, STICK, FORWARD, BACKWARD = 0, 1, 2, 3  # modes; STICK stands for a closed row of an LCP


@njit(cache=True)
def _pivot(T: Array, row: int, column: int) -> None:
    T[row] /= T[row, column]
    T[row, column] = 1.0
    for i in range(T.shape[0]):
        factor = T[i, column]
        if i != row and factor != 0.0:
            T[i] -= factor * T[row]
            T[i, column] = 0.0


@njit(cache=True)
def _leaving(T: Array, candidates: NDArray[np.bool_], column: int, sign: float, basis: NDArray[np.int64]) -> int:
    """Row of the lexicographically smallest (right-hand side, columns of w) / entry; -1 if no entry has the sign."""
    m, z_0, right = T.shape[0], T.shape[1] - 2, T.shape[1] - 1
    best = -1
    for i in range(m):
        if not candidates[i] or sign * T[i, column] <= PIVOT:
            continue
        if best < 0:
            best = i
            continue
        for j in range(-1, m):
            c = right if j < 0 else j
            one, other = T[i, c] / abs(T[i, column]), T[best, c] / abs(T[best, column])
            if j < 0 and abs(one - other) <= TIE * (1.0 + abs(one)):
                if basis[best] == z_0:  # z_0 leaves the basis whenever it can, which ends the pivoting
                    break
                if basis[i] == z_0:
                    best = i
                    break
                continue
            if one < other - TIE * (1.0 + abs(other)):
                best = i
                break
            if one > other + TIE * (1.0 + abs(other)):
                break
    return best


@njit(cache=True)
def lemke(A: Array, b: Array, e: int, limit: int) -> tuple[Array, NDArray[np.bool_], int, int, float]:
    """Solve w = A z + b, w_i = 0 for i < e, 0 <= w_i _|_ z_i >= 0 for the other rows, with b of order one.

    The tableau of w - A z - c z_0 = b with c = 1 on complementary rows. The impulses of equations enter the basis first
    and remain there; then z_0 enters in the row of the most negative entry, and complements follow until z_0 leaves or
    a ray is reached. The equations of the active rows are then solved again, since a tableau accumulates round-off.
    Returned are the solution, or the last basic point, the rows whose z is in the basis, the number of pivots, the end
    (`ENDED`, `RAY` or `LIMIT`), and the residual. Cottle, Pang, Stone (1992), algorithm 4.4.5 and section 4.9.
    """
    m = b.size
    z_0, right, T = 2 * m, 2 * m + 1, np.zeros((m, 2 * m + 2))
    basis, candidates = np.arange(m), np.zeros(m, np.bool_)
    T[:, :m], T[:, m:z_0], T[:, right] = np.eye(m), -A, b
    T[e:, z_0], candidates[e:] = -1.0, True
    for j in range(e):
        row = -1
        for i in range(e):
            if basis[i] < e and (row < 0 or abs(T[i, m + j]) > abs(T[row, m + j])):
                row = i
        if row >= 0 and abs(T[row, m + j]) > PIVOT:
            _pivot(T, row, m + j)
            basis[row] = m + j

    pivots, end = 0, ENDED
    first = -1
    for i in range(e, m):
        if T[i, right] < 0.0 and (first < 0 or T[i, right] < T[first, right]):
            first = i
    if first >= 0:
        end = LIMIT
        row, entering = _leaving(T, candidates, z_0, -1.0, basis), z_0
        while pivots < limit:
            pivots += 1
            leaving = basis[row]
            _pivot(T, row, entering)
            basis[row] = entering
            if leaving == z_0:
                end = ENDED
                break
            entering = leaving + m if leaving < m else leaving - m
            row = _leaving(T, candidates, entering, 1.0, basis)
            if row < 0:
                end = RAY
                break

    z, fresh, w, active = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m, np.bool_)
    for i in range(m):
        if m <= basis[i] < 2 * m:
            active[basis[i] - m] = True
            z[basis[i] - m] = T[i, right] if basis[i] - m < e else max(T[i, right], 0.0)
    mu = np.zeros(m - e)
    error = residual(A, b, mu, 1, e, z, w)
    rows = np.flatnonzero(active)
    k = rows.size
    lu, pivot_rows, d = np.zeros((m, m)), np.zeros(m, np.int64), np.zeros(m)
    _factor(A, rows, k, 0.0, lu, pivot_rows)
    for _ in range(REFINEMENTS):
        for r in range(k):
            d[r] = -b[rows[r]]
            for j in range(m):
                d[r] -= A[rows[r], j] * fresh[j]
        _solve(lu, pivot_rows, k, d)
        for r in range(k):
            fresh[rows[r]] += d[r]
            if rows[r] >= e:
                fresh[rows[r]] = max(fresh[rows[r]], 0.0)
        found = residual(A, b, mu, 1, e, fresh, w)
        if found < error:
            error = found
            z[:] = fresh
    return z, active, pivots, end, error


@njit(cache=True)
def enumerate_modes(
    A: Array, b: Array, mu: Array, d: int, e: int, start: NDArray[np.int64], tolerance: float
) -> tuple[Array, int, float]:
    """Enumerate the modes of all contacts, those nearest to `start` first, until the residual test is passed: `OPEN`,
    `STICK` and, in the plane, `FORWARD` and `BACKWARD`. The point of least residual, the number tried, and its
    residual."""
    m, contacts, kinds = b.size, mu.size, 2 * d
    z, best, u = np.zeros(m), np.zeros(m), np.zeros(m)
    error = residual(A, b, mu, d, e, best, u)
    modes, rows, owner = np.zeros(contacts, np.int64), np.zeros(m, np.int64), np.arange(m)
    matrix, lu, right, pivots = np.zeros((m, m)), np.zeros((m, m)), np.zeros(m), np.zeros(m, np.int64)
    tried = 0
    for distance in range(contacts + 1):
        for code in range(kinds**contacts):
            rest, changed, sensible = code, 0, True
            for k in range(contacts):
                digit = rest % kinds
                rest //= kinds
                changed += digit > 0
                modes[k] = (start[k] + digit) % kinds
                if d == 2 and mu[k] == 0.0 and (modes[k] == STICK or modes[k] == BACKWARD):
                    sensible = False  # without friction all closed modes are the same
            if changed != distance or not sensible:
                continue
            tried += 1
            size = e
            rows[:e] = owner[:e]
            for k in range(contacts):
                if modes[k] != OPEN:
                    rows[size] = e + k * d
                    size += 1
                if d == 2 and modes[k] == STICK:
                    rows[size] = e + k * d + 1
                    size += 1
            for i in range(size):
                right[i] = -b[rows[i]]
                for j in range(size):
                    c = rows[j]
                    matrix[i, j] = A[rows[i], c]
                    if c >= e and (c - e) % d == 0:
                        k = (c - e) // d
                        if modes[k] >= FORWARD:
                            matrix[i, j] += (1.0 if modes[k] == BACKWARD else -1.0) * mu[k] * A[rows[i], c + 1]
            _factor(matrix, owner, size, 0.0, lu, pivots)
            _solve(lu, pivots, size, right)
            z[:] = 0.0
            for i in range(size):
                z[rows[i]] = right[i]
            for k in range(contacts):
                i = e + k * d
                z[i] = max(z[i], 0.0)
                if modes[k] >= FORWARD:
                    z[i + 1] = (1.0 if modes[k] == BACKWARD else -1.0) * mu[k] * z[i]
            found = residual(A, b, mu, d, e, z, u)
            if found < error:
                error = found
                best[:] = z
            if error <= tolerance:
                return best, tried, error
    return best, tried, error
