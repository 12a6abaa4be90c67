"""Enumeration of the modes of a few contacts in the plane, compiled by numba; data as in `kernels.friction`."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.solvers.kernels.active_set import _factor, _solve
from nonsmooth.solvers.kernels.friction import residual

Rows = NDArray[np.int64]
OPEN, STICK, FORWARD, BACKWARD = 0, 1, 2, 3  # modes; STICK stands for a closed row of an LCP


@njit(cache=True)
def enumerate_modes(
    A: Array, b: Array, mu: Array, d: int, e: int, start: Rows, tolerance: float
) -> tuple[Array, int, float]:
    """Enumerate the modes of all contacts, those nearest to `start` first, until the residual test is passed.

    Modes of a contact are `OPEN`, `STICK` and, in the plane, `FORWARD` and `BACKWARD` for u_T > 0 and u_T < 0.

    Returns
    -------
    z : array
        The point of least residual.
    iterations : int
        Number of combinations tried.
    error : float
        Its residual.
    """
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
            for i in range(e):
                rows[i] = i
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
