"""Coulomb friction compiled by numba: residual, sweeps over all contacts, semismooth Newton.

Every function takes the data of a `nonsmooth.programs.FrictionContact` (A, b, mu, d, e): d rows per contact, the
normal one first, after e bilateral rows. With d = 1 it is a mixed LCP, and mu is ignored. The diagonal entries of A
should be one or zero (`nonsmooth.solvers.session`), so that impulses and velocities have the same unit.
"""

import numpy as np
from numba import njit

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs.base import CAP, FLOOR, TINY
from nonsmooth.solvers.kernels.active_set import _factor, _solve
from nonsmooth.solvers.kernels.one_contact import solve_contact

ALART_CURNIER, FISCHER_BURMEISTER, CONE = 0, 1, 2  # formulations; the last without de Saxcé's correction: `ConeQP`
ROUND_OFF = 1e-15
HALVINGS = 8
MEMORY = 5  # previous merits, the largest of which is the bound of a nonmonotone line search
PATIENCE = 10  # Newton steps without progress after which an attempt ends
SWEEPS = 20
RIDGES = (1e-11, 1e-8, 1e-5)  # added to the unit diagonal of the Jacobian; the equations are those of A
SMOOTHING = 1e-20
LAPACK = 40  # rows from which a LAPACK call is faster


@njit(cache=True)
def residual(A: Array, b: Array, mu: Array, d: int, e: int, z: Array, u: Array) -> float:
    """Fill u = A z + b; return the residual of `nonsmooth.programs.FrictionContact` (d > 1) or `LCP` (d = 1)."""
    m = b.size
    scales = np.empty(m)
    energy = 0.0
    for i in range(m):
        asked = i < e or (i - e) % d > 0 or b[i] < 0.0
        if A[i, i] != 0.0 and asked:
            energy += b[i] ** 2 / abs(A[i, i])
    for i in range(m):
        value, terms = b[i], 0.0
        for j in range(m):
            term = A[i, j] * z[j]
            value += term
            terms += abs(term)
        u[i] = value
        size = np.sqrt(abs(A[i, i]) * energy)
        scales[i] = min(terms, CAP * size) + abs(b[i])
        if d > 1:
            scales[i] = max(scales[i], FLOOR * size)
        if not np.isfinite(value):
            return np.inf
    worst = 0.0
    for i in range(e):
        if u[i] != 0.0:
            worst = max(worst, abs(u[i]) / max(scales[i], TINY))
    for k in range(mu.size):
        i = e + k * d
        value = min(u[i], abs(A[i, i]) * z[i])
        if value != 0.0:
            worst = max(worst, abs(value) / max(scales[i], TINY))
        if d > 1:
            unit, square, scale = 0.0, 0.0, 0.0
            for j in range(i + 1, i + d):
                unit = max(unit, abs(A[j, j]))
                scale += scales[j] ** 2
            for j in range(i + 1, i + d):
                square += (unit * z[j] - u[j]) ** 2
            radius, length = mu[k] * unit * max(z[i], 0.0), np.sqrt(square)
            factor = radius / length if length > radius else 1.0
            square = 0.0
            for j in range(i + 1, i + d):
                square += (unit * z[j] - factor * (unit * z[j] - u[j])) ** 2
            if square != 0.0:
                worst = max(worst, np.sqrt(square) / max(np.sqrt(scale), TINY))
    return worst


@njit(cache=True)
def sweep(
    A: Array, b: Array, mu: Array, d: int, e: int, z: Array, limit: int, every: int, tolerance: float
) -> tuple[int, float]:
    """Symmetric nonlinear Gauss-Seidel sweeps, each contact solved exactly for the impulses of all others; z in place.
    Number of sweeps, and the residual, evaluated after every `every` sweeps."""
    m = b.size
    P, q, u = np.zeros(d), np.zeros(d), np.zeros(m)
    contacts = mu.size
    error = residual(A, b, mu, d, e, z, u)
    for iteration in range(1, limit + 1):
        for number in range(e + contacts):
            index = number if iteration % 2 else e + contacts - 1 - number
            if index < e:
                if A[index, index] > 0.0:
                    value = b[index]
                    for j in range(m):
                        value += A[index, j] * z[j]
                    z[index] -= value / A[index, index]
                continue
            k = index - e
            i = e + k * d
            for r in range(d):
                value = b[i + r]
                for j in range(i):
                    value += A[i + r, j] * z[j]
                for j in range(i + d, m):
                    value += A[i + r, j] * z[j]
                q[r] = value
            P[:] = z[i : i + d]
            solve_contact(A, i, d, mu[k], q, P)
            z[i : i + d] = P
        if iteration % every == 0 or iteration == limit:
            error = residual(A, b, mu, d, e, z, u)
            if error <= tolerance or not np.isfinite(error):
                return iteration, error
    return limit, error


@njit(cache=True)
def _alart_curnier(A: Array, mu: Array, d: int, e: int, z: Array, u: Array, F: Array, J: Array) -> None:
    """F = z - proj(z - u) on half-line and disk of radius mu (P_N - u_N), and an element J of its Jacobian."""
    F[:e], J[:e] = u[:e], A[:e]
    for k in range(mu.size):
        i = e + k * d
        closed = z[i] - u[i] > 0.0
        F[i], J[i] = u[i], A[i]
        if not closed:
            F[i], J[i] = z[i], 0.0
            J[i, i] = 1.0
        square = 0.0
        for r in range(i + 1, i + d):
            square += (z[r] - u[r]) ** 2
        length, radius = np.sqrt(square), mu[k] * max(z[i] - u[i], 0.0)
        for r in range(i + 1, i + d):
            if radius == 0.0:
                F[r] = z[r]
                J[r, :] = 0.0
                J[r, r] = 1.0
            elif length <= radius:
                F[r] = u[r]
                J[r, :] = A[r, :]
            else:
                F[r] = z[r] - radius * (z[r] - u[r]) / length
                n_r = (z[r] - u[r]) / length
                J[r] = mu[k] * n_r * A[i] + radius / length * A[r]
                for s in range(i + 1, i + d):
                    n_s = (z[s] - u[s]) / length
                    J[r] -= radius / length * n_r * n_s * A[s]
                    J[r, s] += radius / length * n_r * n_s
                J[r, r] += 1.0 - radius / length
                J[r, i] -= mu[k] * n_r


@njit(cache=True)
def _fischer_burmeister(
    A: Array, mu: Array, d: int, e: int, z: Array, u: Array, F: Array, J: Array, correction: float
) -> None:
    """F = x + y - (x^2 + y^2)^(1/2) in the Jordan algebra of the cone, and its Jacobian, with x = (mu P_N, P_T) and y =
    (u_N + correction mu |u_T|, mu u_T); P_N and u_N alone where mu = 0."""
    x, y, v, w = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    X, Y, inverse = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    F[:e], J[:e] = u[:e], A[:e]
    for k in range(mu.size):
        i = e + k * d
        if d == 1 or mu[k] == 0.0:
            root = np.sqrt(z[i] ** 2 + u[i] ** 2 + SMOOTHING)
            F[i] = z[i] + u[i] - root
            J[i, :] = (1.0 - u[i] / root) * A[i, :]
            J[i, i] += 1.0 - z[i] / root
            for r in range(i + 1, i + d):
                F[r] = z[r]
                J[r, :] = 0.0
                J[r, r] = 1.0
            continue
        slip = 0.0
        for r in range(1, d):
            x[r], y[r] = z[i + r], mu[k] * u[i + r]
            slip += u[i + r] ** 2
        slip = np.sqrt(slip)
        x[0], y[0] = mu[k] * z[i], u[i] + correction * mu[k] * slip
        w[0] = SMOOTHING
        for r in range(d):
            w[0] += x[r] ** 2 + y[r] ** 2
        length = 0.0
        for r in range(1, d):
            w[r] = 2.0 * (x[0] * x[r] + y[0] * y[r])
            length += w[r] ** 2
        length = np.sqrt(length)
        small, large = np.sqrt(max(w[0] - length, SMOOTHING)), np.sqrt(w[0] + length)
        v[0] = 0.5 * (large + small)
        for r in range(1, d):
            v[r] = 0.5 * (large - small) * w[r] / max(length, TINY)
        for r in range(d):
            F[i + r] = x[r] + y[r] - v[r]
        # inverse of the arrow matrix of v, whose determinant is (small large) v_0^(d - 2)
        determinant = small * large
        inverse[0, 0] = v[0] / determinant
        for r in range(1, d):
            inverse[0, r] = inverse[r, 0] = -v[r] / determinant
            for s in range(1, d):
                inverse[r, s] = v[r] * v[s] / (determinant * v[0]) + (1.0 / v[0] if r == s else 0.0)
        for r in range(d):
            for s in range(d):
                X[r, s] = Y[r, s] = 1.0 if r == s else 0.0
                X[r, s] -= inverse[r, s] * x[0]
                Y[r, s] -= inverse[r, s] * y[0]
                if s == 0:
                    for j in range(1, d):
                        X[r, s] -= inverse[r, j] * x[j]
                        Y[r, s] -= inverse[r, j] * y[j]
                else:
                    X[r, s] -= inverse[r, 0] * x[s]
                    Y[r, s] -= inverse[r, 0] * y[s]
        for r in range(d):
            J[i + r] = Y[r, 0] * A[i]
            for s in range(1, d):
                factor = mu[k] * (Y[r, s] + (correction * Y[r, 0] * u[i + s] / slip if slip > 0.0 else 0.0))
                J[i + r] += factor * A[i + s]
            J[i + r, i] += mu[k] * X[r, 0]
            for s in range(1, d):
                J[i + r, i + s] += X[r, s]


@njit(cache=True)
def _equations(
    kind: int, A: Array, b: Array, mu: Array, d: int, e: int, z: Array, u: Array, F: Array, J: Array
) -> float:
    """Fill u, F and J; return the merit |F|^2."""
    for i in range(b.size):
        u[i] = b[i]
        for j in range(b.size):
            u[i] += A[i, j] * z[j]
    if kind == ALART_CURNIER:
        _alart_curnier(A, mu, d, e, z, u, F, J)
    else:
        _fischer_burmeister(A, mu, d, e, z, u, F, J, 0.0 if kind == CONE else 1.0)
    merit = 0.0
    for i in range(b.size):
        merit += F[i] ** 2
    return merit


@njit(cache=True)
def _descend(
    kind: int, A: Array, b: Array, mu: Array, d: int, e: int, z: Array, limit: int, ridge: float, tolerance: float
) -> tuple[int, float]:
    """Damped Newton steps from z until there is no progress; z becomes the best iterate. Returns steps and error."""
    m = b.size
    best, u, F, direction, trial = z.copy(), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    J, lu, pivots, rows = np.zeros((m, m)), np.zeros((m, m)), np.zeros(m, np.int64), np.arange(m)
    recent = np.zeros(MEMORY)
    merit = _equations(kind, A, b, mu, d, e, z, u, F, J)
    recent[:] = merit
    error, stagnation, steps = np.inf, 0, 0
    while True:
        found = np.sqrt(merit) if kind == CONE else residual(A, b, mu, d, e, z, u)
        stagnation = 0 if found < 0.5 * error else stagnation + 1
        if found < error:
            error = found
            best[:] = z
        if error <= ROUND_OFF or (error <= tolerance and stagnation) or stagnation >= PATIENCE or steps == limit:
            break
        steps += 1
        for i in range(m):
            J[i, i] += ridge
        if m >= LAPACK:
            direction[:] = np.linalg.solve(J, F)
        else:
            direction[:] = F
            _factor(J, rows, m, 0.0, lu, pivots)
            _solve(lu, pivots, m, direction)
        step, accepted = 1.0, False
        for _ in range(HALVINGS):
            trial[:] = z - step * direction
            merit = _equations(kind, A, b, mu, d, e, trial, u, F, J)
            if merit < recent.max() or merit == 0.0:
                accepted = True
                break
            step *= 0.5
        if not accepted:
            break
        z[:] = trial
        recent[steps % MEMORY] = merit
    z[:] = best
    return steps, error


@njit(cache=True)
def newton(
    kind: int, A: Array, b: Array, mu: Array, d: int, e: int, start: Array, limit: int, rounds: int, tolerance: float
) -> tuple[Array, int, float]:
    """Semismooth Newton on the equations of `kind`. A step is halved until |F|^2 is below the largest of its last
    `MEMORY` values; `PATIENCE` steps without progress end an attempt, of which up to `rounds` begin after Gauss-Seidel
    sweeps, twice as many each time. Best iterate, number of Newton steps, residual; for `CONE` |F|, which is
    equivalent, as b is of order one."""
    z, best = start.copy(), start.copy()
    iterations, error = _descend(kind, A, b, mu, d, e, best, limit, RIDGES[0], tolerance)
    for attempt in range(rounds):
        if error <= tolerance or iterations >= limit:
            break
        z[:] = best
        sweep(A, b, mu, d, e, z, SWEEPS * 2**attempt, SWEEPS, tolerance)
        ridge = RIDGES[(attempt + 1) % len(RIDGES)]
        steps, found = _descend(kind, A, b, mu, d, e, z, limit - iterations, ridge, tolerance)
        iterations += steps
        if found < error:
            error = found
            best[:] = z
    return best, iterations, error
