"""A path to the solution of a program with friction in space, followed by Newton's method; compiled by numba.

On the path impulse and velocity of each contact, x = (mu P_N, P_T) and y = (u_N + mu |u_T|, mu u_T) in the Jordan
algebra of the cone, satisfy x o y = s^2 e instead of x o y = 0: all contacts are slightly loaded and slip slightly,
redundant ones share their load, and the Jacobian is regular. s starts large and is reduced to zero.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit

from nonsmooth.compile.casadi_call import Array
from nonsmooth.solvers.kernels.friction import residual

NEWTON_STEPS = 40  # iterations at one s
FAILURES = 6  # successive failures of Newton's method, each at an s nearer to the last one at which it converged
CONVERGED = 0.1  # |F| / s at convergence
EASY = 4  # Newton steps up to which s is reduced faster next time
SLOWEST, FASTEST = 0.1, 0.03  # first and least factor of s
SMALLEST = 1e-15
HALVINGS = 12
DESCENT = 1e-4
RIDGES = (1e-13, 1e-10, 1e-2)  # added to the diagonal of the Jacobian: usually, and for short steps first and at most
SHORT = 0.3  # accepted fraction of a step below which the ridge is increased
STRONGER = 100.0  # factor of the ridge if no fraction of a step is accepted


@njit(cache=True)
def _functions(
    A: Array, b: Array, mu: Array, e: int, z: Array, s: float, u: Array, F: Array, X: Array, Y: Array
) -> None:
    """F = x + y - (x^2 + y^2 + 2 s^2 e)^(1/2), zero on the path, and its derivatives X in x and Y in y per contact.

    The smaller spectral value of the root is computed from the determinant, written as a sum of squares: a difference
    would lose all digits below the square root of round-off. Without friction F = P_N + u_N - (..)^(1/2) and P_T.
    """
    for i in range(z.size):
        u[i] = b[i]
        for j in range(z.size):
            u[i] += A[i, j] * z[j]
    w, inverse = np.zeros(3), np.zeros((3, 3))
    x, y = np.zeros(3), np.zeros(3)
    double = 2.0 * s * s
    F[:e] = u[:e]
    for k in range(mu.size):
        i = e + 3 * k
        if mu[k] == 0.0:
            root = np.sqrt(z[i] ** 2 + u[i] ** 2 + double)
            F[i] = z[i] + u[i] - root
            if z[i] + u[i] > 0.0:
                F[i] = (2.0 * z[i] * u[i] - double) / (z[i] + u[i] + root)
            F[i + 1], F[i + 2] = z[i + 1], z[i + 2]
            X[k, 0, 0], Y[k, 0, 0] = 1.0 - z[i] / root, 1.0 - u[i] / root
            continue
        slip = np.sqrt(s * s + u[i + 1] ** 2 + u[i + 2] ** 2)
        x[0], x[1], x[2] = mu[k] * z[i], z[i + 1], z[i + 2]
        y[0], y[1], y[2] = u[i] + mu[k] * slip, mu[k] * u[i + 1], mu[k] * u[i + 2]
        x_T, y_T = np.sqrt(x[1] ** 2 + x[2] ** 2), np.sqrt(y[1] ** 2 + y[2] ** 2)
        w[0] = x[0] ** 2 + x_T**2 + y[0] ** 2 + y_T**2 + double
        w[1], w[2] = 2.0 * (x[0] * x[1] + y[0] * y[1]), 2.0 * (x[0] * x[2] + y[0] * y[2])
        length = np.sqrt(w[1] ** 2 + w[2] ** 2)
        squares = (x[0] * y[0] - x[1] * y[1] - x[2] * y[2]) ** 2 + (x[1] * y[2] - x[2] * y[1]) ** 2
        squares += (x[0] * y[1] - y[0] * x[1]) ** 2 + (x[0] * y[2] - y[0] * x[2]) ** 2
        squares = 2.0 * squares + ((x[0] - x_T) * (x[0] + x_T)) ** 2 + ((y[0] - y_T) * (y[0] + y_T)) ** 2
        large = np.sqrt(w[0] + length)
        small = np.sqrt(squares + double * (2.0 * w[0] - double)) / large
        v, turned = 0.5 * (large + small), 1.0 / (large + small)
        determinant = large * small  # of the arrow matrix of the root, divided by v
        inverse[0, 0] = v / determinant
        for r in range(1, 3):
            inverse[0, r] = inverse[r, 0] = -turned * w[r] / determinant
            for c in range(1, 3):
                inverse[r, c] = turned**2 * w[r] * w[c] / (determinant * v) + (1.0 / v if r == c else 0.0)
        for r in range(3):
            F[i + r] = x[r] + y[r] - (v if r == 0 else turned * w[r])
            for c in range(3):
                X[k, r, c] = Y[k, r, c] = 1.0 if r == c else 0.0
                X[k, r, c] -= inverse[r, c] * x[0]
                Y[k, r, c] -= inverse[r, c] * y[0]
                if c > 0:
                    X[k, r, c] -= inverse[r, 0] * x[c]
                    Y[k, r, c] -= inverse[r, 0] * y[c]
            X[k, r, 0] -= inverse[r, 1] * x[1] + inverse[r, 2] * x[2]
            Y[k, r, 0] -= inverse[r, 1] * y[1] + inverse[r, 2] * y[2]
            for c in range(1, 3):  # from y to u
                Y[k, r, c] = mu[k] * (Y[k, r, c] + Y[k, r, 0] * u[i + c] / slip)
            X[k, r, 0] *= mu[k]


@njit(cache=True)
def _jacobian(A: Array, mu: Array, e: int, X: Array, Y: Array, J: Array) -> None:
    """J = X + Y A in the rows of contacts, A in bilateral rows."""
    J[:e] = A[:e]
    for k in range(mu.size):
        i = e + 3 * k
        if mu[k] == 0.0:
            J[i + 1 : i + 3] = 0.0
            J[i + 1, i + 1] = J[i + 2, i + 2] = 1.0
            J[i] = Y[k, 0, 0] * A[i]
            J[i, i] += X[k, 0, 0]
            continue
        for r in range(3):
            J[i + r] = Y[k, r, 0] * A[i] + Y[k, r, 1] * A[i + 1] + Y[k, r, 2] * A[i + 2]
            J[i + r, i : i + 3] += X[k, r]


@njit(cache=True)
def _correct(
    A: Array, b: Array, mu: Array, e: int, z: Array, s: float, memory: int, growth: float, limit: int
) -> tuple[int, bool]:
    """Newton's method at one s, z in place; number of steps, and whether it converged. A step is halved until |F|^2 is
    below the largest of its last `memory` values; short steps raise the ridge, against changes of redundant
    impulses."""
    m = b.size
    u, F, trial, J = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros((m, m))
    X, Y = np.zeros((mu.size, 3, 3)), np.zeros((mu.size, 3, 3))
    recent = np.zeros(memory)
    ridge = RIDGES[0]
    for iteration in range(min(NEWTON_STEPS, limit)):
        _functions(A, b, mu, e, z, s, u, F, X, Y)
        merit = np.sum(F**2)
        if not np.isfinite(merit):
            return iteration, False
        if merit <= (CONVERGED * s) ** 2:
            return iteration, True
        if iteration == 0:
            recent[:] = merit
        recent[iteration % memory] = merit
        _jacobian(A, mu, e, X, Y, J)
        for i in range(m):
            J[i, i] += ridge
        if not np.isfinite(J).all():
            return iteration, False
        direction = np.linalg.solve(J, F)
        share, accepted = 1.0, False
        for _ in range(HALVINGS):
            trial[:] = z - share * direction
            _functions(A, b, mu, e, trial, s, u, F, X, Y)
            if np.sum(F**2) < recent.max() * (1.0 - DESCENT * share):
                accepted = True
                break
            share *= 0.5
        if not accepted and ridge >= RIDGES[2]:
            return iteration + 1, False
        if not accepted:
            ridge = max(STRONGER * ridge, RIDGES[1])
            continue
        z[:] = trial
        if share < SHORT:
            ridge = max(growth * ridge, RIDGES[1])
        elif share == 1.0:
            ridge = max(ridge / growth, RIDGES[0])
    return min(NEWTON_STEPS, limit), False


@njit(cache=True)
def follow(
    A: Array, b: Array, mu: Array, e: int, start: Array, s: float, memory: int, growth: float, limit: int,
    tolerance: float,
) -> tuple[Array, int, float]:  # fmt: skip
    """Follow the path of a program in space, of unit diagonal, from `start` at s until the residual test is passed, or
    s cannot be reduced further; `memory` and `growth` as in `_correct`, at most `limit` Newton steps. Best iterate,
    steps, residual."""
    z, good, best, u = start.copy(), start.copy(), start.copy(), np.zeros(b.size)
    error = residual(A, b, mu, 3, e, z, u)
    factor, steps, failures = SLOWEST, 0, 0
    last = s / factor
    while error > tolerance and steps < limit and s >= SMALLEST:
        used, converged = _correct(A, b, mu, e, z, s, memory, growth, limit - steps)
        steps += used
        found = residual(A, b, mu, 3, e, z, u)
        if found < error:
            error = found
            best[:] = z
        if converged:
            good[:] = z
            last = s
            if used <= EASY:
                factor = max(FASTEST, factor**1.5)
        else:
            failures += 1
            if failures > FAILURES:
                break
            z[:] = good
            factor = np.sqrt(factor)
        s = last * factor
    return best, steps, error


def uncompiled() -> Callable[..., Any]:
    """`follow` without compilation: a hundred times slower, but available at once."""
    names = dict(globals())
    for name in ("_functions", "_jacobian", "_correct", "follow"):
        names[name] = FunctionType(globals()[name].py_func.__code__, names, name)
    return names["follow"]
