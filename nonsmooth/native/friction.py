"""Coulomb friction compiled by numba: one contact exactly, sweeps over all, semismooth Newton, modes in turn.

Every function takes the numbers of a `nonsmooth.programs.FrictionContact` (A, b, mu, d, e): d rows per contact, the
normal one first, after e bilateral rows. With d = 1 it is a mixed LCP, and mu is of no account. A should have a unit
diagonal where it is not zero (`nonsmooth.solvers.normalised`), so that impulses and velocities have one unit.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.native.active_set import _factor, _solve
from nonsmooth.programs.base import TINY
from nonsmooth.programs.lcp import CAP
from nonsmooth.programs.qp import FLOOR

Rows = NDArray[np.int64]

__all__ = [
    "ALART_CURNIER",
    "CONE",
    "FISCHER_BURMEISTER",
    "enumerate_modes",
    "newton",
    "residual",
    "sweep",
]

ALART_CURNIER, FISCHER_BURMEISTER, CONE = 0, 1, 2  # formulations; the last without de Saxcé's correction: `ConeQP`
ROUND_OFF = 1e-15
HALVINGS = 8
MEMORY = 5  # merits among which the largest need only be undercut
PATIENCE = 10  # Newton steps without progress after which a descent ends
SWEEPS = 20
RIDGES = (1e-11, 1e-8, 1e-5)  # added to the unit diagonal of the Jacobian; the equations stay those of A
SMOOTHING = 1e-20
LAPACK = 40  # rows from which the call of LAPACK pays
OPEN, STICK, FORWARD, BACKWARD = 0, 1, 2, 3  # modes; a closed row of an LCP sticks


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
def _contact(A: Array, i: int, d: int, mu: float, q: Array, P: Array) -> None:
    """One contact exactly: P with u = A_ii P + q, where A_ii is the block of d rows at i.

    u_N = 0 leaves S P_T + c = -x P_T, x >= 0 with S the Schur complement: x = 0 sticks, and else x is a root of
    |P_T(x)| - mu P_N(x), which is positive at 0 and negative for large x, so that there always is one.
    """
    P[:] = 0.0
    a = A[i, i]
    if q[0] >= 0.0 or a <= 0.0:
        return
    if d == 1 or mu == 0.0:
        P[0] = -q[0] / a
        return
    S_1 = A[i + 1, i + 1] - A[i + 1, i] * A[i, i + 1] / a
    c_1, w_1 = q[1] - A[i + 1, i] * q[0] / a, A[i, i + 1]
    if d == 2:
        P_T = -c_1 / S_1 if S_1 > 1e-14 * A[i + 1, i + 1] else -np.sign(c_1) * np.inf
        if c_1 == 0.0:
            P_T = 0.0
        P[0] = -(q[0] + w_1 * P_T) / a if np.isfinite(P_T) else 0.0
        if not abs(P_T) <= mu * P[0]:
            P[0] = -q[0] / (a - np.sign(c_1) * mu * w_1)
            P_T = -np.sign(c_1) * mu * P[0]
        P[1] = P_T
        return
    S_2 = A[i + 2, i + 2] - A[i + 2, i] * A[i, i + 2] / a
    S_12 = A[i + 1, i + 2] - A[i + 1, i] * A[i, i + 2] / a
    c_2, w_2 = q[2] - A[i + 2, i] * q[0] / a, A[i, i + 2]
    angle = 0.5 * np.arctan2(2.0 * S_12, S_1 - S_2)  # principal axes of S
    C, s = np.cos(angle), np.sin(angle)
    S_1, S_2 = (
        C * C * S_1 + 2.0 * C * s * S_12 + s * s * S_2,
        s * s * S_1 - 2.0 * C * s * S_12 + C * C * S_2,
    )
    tiny = 1e-14 * (A[i + 1, i + 1] + A[i + 2, i + 2])
    S_1, S_2 = max(S_1, tiny), max(S_2, tiny)
    c_1, c_2 = C * c_1 + s * c_2, C * c_2 - s * c_1
    w_1, w_2 = C * w_1 + s * w_2, C * w_2 - s * w_1
    x, low = 0.0, 0.0
    high = (np.hypot(c_1, c_2) * (a + mu * np.hypot(w_1, w_2))) / (mu * -q[0])
    p_1 = p_2 = P_N = 0.0
    for iteration in range(200):
        p_1, p_2 = -c_1 / (S_1 + x), -c_2 / (S_2 + x)
        length, P_N = np.hypot(p_1, p_2), -(q[0] + w_1 * p_1 + w_2 * p_2) / a
        value = length - mu * P_N
        if (iteration == 0 and value <= 0.0) or value == 0.0:
            break
        if value > 0.0:
            low = x
        else:
            high = x
        slope_1, slope_2 = -p_1 / (S_1 + x), -p_2 / (S_2 + x)
        slope = (p_1 * slope_1 + p_2 * slope_2) / max(length, TINY) + mu * (w_1 * slope_1 + w_2 * slope_2) / a
        before = x
        x = x - value / slope if slope < 0.0 else high
        if not low < x < high:
            x = 0.5 * (low + high)
        if abs(x - before) <= 1e-16 * (x + S_2) or high - low <= 1e-16 * high:
            break
    P[0] = max(P_N, 0.0)
    length = np.hypot(p_1, p_2)
    if length > mu * P[0]:
        p_1, p_2 = p_1 * mu * P[0] / length, p_2 * mu * P[0] / length
    P[1], P[2] = C * p_1 - s * p_2, s * p_1 + C * p_2


@njit(cache=True)
def sweep(
    A: Array, b: Array, mu: Array, d: int, e: int, z: Array, limit: int, every: int, tolerance: float
) -> tuple[int, float]:
    """Nonlinear Gauss-Seidel, to and fro: solve each contact exactly for the impulses of all others; z in place.

    Returns the number of sweeps and the residual, which is looked at `every` so many of them.
    """
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
            _contact(A, i, d, mu[k], q, P)
            for r in range(d):
                z[i + r] = P[r]
        if iteration % every == 0 or iteration == limit:
            error = residual(A, b, mu, d, e, z, u)
            if error <= tolerance or not np.isfinite(error):
                return iteration, error
    return limit, error


@njit(cache=True)
def _alart_curnier(A: Array, mu: Array, d: int, e: int, z: Array, u: Array, F: Array, J: Array, jacobian: bool) -> None:
    """F = z - proj(z - u) on half-line and disk of radius mu (P_N - u_N), and an element J of its Jacobian."""
    m = z.size
    for i in range(e):
        F[i] = u[i]
        if jacobian:
            J[i, :] = A[i, :]
    for k in range(mu.size):
        i = e + k * d
        closed = z[i] - u[i] > 0.0
        F[i] = u[i] if closed else z[i]
        if jacobian:
            for j in range(m):
                J[i, j] = A[i, j] if closed else 0.0
            if not closed:
                J[i, i] = 1.0
        square = 0.0
        for r in range(i + 1, i + d):
            square += (z[r] - u[r]) ** 2
        length, radius = np.sqrt(square), mu[k] * max(z[i] - u[i], 0.0)
        for r in range(i + 1, i + d):
            if radius == 0.0:
                F[r] = z[r]
                if jacobian:
                    J[r, :] = 0.0
                    J[r, r] = 1.0
            elif length <= radius:
                F[r] = u[r]
                if jacobian:
                    J[r, :] = A[r, :]
            else:
                F[r] = z[r] - radius * (z[r] - u[r]) / length
                if jacobian:
                    n_r = (z[r] - u[r]) / length
                    for j in range(m):
                        J[r, j] = mu[k] * n_r * A[i, j] + radius / length * A[r, j]
                    for s in range(i + 1, i + d):
                        n_s = (z[s] - u[s]) / length
                        for j in range(m):
                            J[r, j] -= radius / length * n_r * n_s * A[s, j]
                        J[r, s] += radius / length * n_r * n_s
                    J[r, r] += 1.0 - radius / length
                    J[r, i] -= mu[k] * n_r


@njit(cache=True)
def _fischer_burmeister(
    A: Array, mu: Array, d: int, e: int, z: Array, u: Array, F: Array, J: Array, jacobian: bool, correction: float
) -> None:
    """F = x + y - (x^2 + y^2)^(1/2) in the Jordan algebra of the cone, and its Jacobian.

    x = (mu P_N, P_T) and y = (u_N + correction mu |u_T|, mu u_T); P_N and u_N alone where mu = 0.
    """
    m = z.size
    x, y, v, w = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    X, Y, inverse = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    for i in range(e):
        F[i] = u[i]
        if jacobian:
            J[i, :] = A[i, :]
    for k in range(mu.size):
        i = e + k * d
        if d == 1 or mu[k] == 0.0:
            root = np.sqrt(z[i] ** 2 + u[i] ** 2 + SMOOTHING)
            F[i] = z[i] + u[i] - root
            if jacobian:
                J[i, :] = (1.0 - u[i] / root) * A[i, :]
                J[i, i] += 1.0 - z[i] / root
            for r in range(i + 1, i + d):
                F[r] = z[r]
                if jacobian:
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
        if not jacobian:
            continue
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
            for j in range(m):
                value = Y[r, 0] * A[i, j]
                for s in range(1, d):
                    factor = mu[k] * (Y[r, s] + (correction * Y[r, 0] * u[i + s] / slip if slip > 0.0 else 0.0))
                    value += factor * A[i + s, j]
                J[i + r, j] = value
            J[i + r, i] += mu[k] * X[r, 0]
            for s in range(1, d):
                J[i + r, i + s] += X[r, s]


@njit(cache=True)
def _equations(
    kind: int, A: Array, b: Array, mu: Array, d: int, e: int, z: Array, u: Array, F: Array, J: Array, jacobian: bool
) -> float:
    """Fill u and F, and J where asked for; return the merit |F|^2."""
    for i in range(b.size):
        u[i] = b[i]
        for j in range(b.size):
            u[i] += A[i, j] * z[j]
    if kind == ALART_CURNIER:
        _alart_curnier(A, mu, d, e, z, u, F, J, jacobian)
    else:
        _fischer_burmeister(A, mu, d, e, z, u, F, J, jacobian, 0.0 if kind == CONE else 1.0)
    merit = 0.0
    for i in range(b.size):
        merit += F[i] ** 2
    return merit


@njit(cache=True)
def _descend(
    kind: int, A: Array, b: Array, mu: Array, d: int, e: int, z: Array, limit: int, ridge: float, tolerance: float
) -> tuple[int, float]:
    """Damped Newton steps from z until no progress; z becomes the best point met. Returns steps and error."""
    m = b.size
    best, u, F, direction, trial = z.copy(), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    J, lu, pivots, rows = np.zeros((m, m)), np.zeros((m, m)), np.zeros(m, np.int64), np.arange(m)
    recent = np.zeros(MEMORY)
    merit = _equations(kind, A, b, mu, d, e, z, u, F, J, True)
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
            for i in range(m):
                trial[i] = z[i] - step * direction[i]
            merit = _equations(kind, A, b, mu, d, e, trial, u, F, J, False)
            if merit < recent.max() or merit == 0.0:
                accepted = True
                break
            step *= 0.5
        if not accepted:
            break
        z[:] = trial
        merit = _equations(kind, A, b, mu, d, e, z, u, F, J, True)
        recent[steps % MEMORY] = merit
    z[:] = best
    return steps, error


@njit(cache=True)
def newton(
    kind: int, A: Array, b: Array, mu: Array, d: int, e: int, start: Array, limit: int, rounds: int, tolerance: float
) -> tuple[Array, int, float]:
    """Semismooth Newton on the equations of `kind`: `ALART_CURNIER`, `FISCHER_BURMEISTER` or `CONE`.

    A step is halved until it undercuts the largest of the last `MEMORY` merits |F|^2; `PATIENCE` steps without progress
    end a descent. Up to `rounds` times it begins anew where Gauss-Seidel sweeps, `SWEEPS` and twice as many each time,
    lead from the best point.

    Returns
    -------
    z : array
        The best point met.
    iterations : int
        Newton steps.
    error : float
        Its residual; for `CONE` |F|, which is as good a measure, b being of size one.
    """
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


@njit(cache=True)
def enumerate_modes(
    A: Array, b: Array, mu: Array, d: int, e: int, start: Rows, tolerance: float
) -> tuple[Array, int, float]:
    """Modes of all contacts in turn, those nearest to `start` first, until the equations of one give a certified point.

    Modes of a contact are `OPEN`, `STICK` and, in the plane, `FORWARD` and `BACKWARD` for u_T > 0 and u_T < 0.

    Returns
    -------
    z : array
        The best point met.
    iterations : int
        Combinations tried.
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
                    sensible = False  # without friction all closed modes are one
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
