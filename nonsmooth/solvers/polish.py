"""From an approximate solution to one at round-off: identify the active rows, and solve equations on them."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs import MPCC, QP, ConeQP, FrictionContact, Solution
from nonsmooth.solvers.kernels import TimedKernel
from nonsmooth.solvers.session import NormalisedContact, normalised_contact

Mask = NDArray[np.bool_]
REFINEMENTS = 3
ROUNDS = 10
NEWTON_STEPS = 12
ROUND_OFF = 1e-15
POLISHED = 1e-12
#: scaled distance within which a bound, or the gap of a pair that is not binding, is treated as exact
NEAR = 1e-5
#: share of the largest pivot above which equations are independent, by a margin
INDEPENDENT = 1e-9
#: a contact sticks if its tangential impulse is inside the disk by this share
SAME_MODE = 1e-6


def polished_qp(qp: QP, solution: Solution) -> Solution:
    """Newton's method on the optimality conditions of the active rows, kept only if the residual decreases:
    `solution.active`, or those whose multiplier exceeds their slack, updated from the result (primal-dual active set)
    until it is at round-off; of redundant rows the least-squares solution."""
    active = solution.active if solution.active is not None else binding_rows(qp, solution)
    best, error, rough = solution, qp.residual(solution), solution
    for _ in range(ROUNDS):
        rough, rough_error = _on_rows(qp, rough, active)
        if rough_error < error:
            best, error = replace(rough, y=_nonnegative(rough.y, qp.equalities)), rough_error
        following = binding_rows(qp, rough)
        if error <= POLISHED or np.array_equal(following, active):
            break
        active = following
    return best


def _on_rows(qp: QP, solution: Solution, active: Mask) -> tuple[Solution, float]:
    """Solve H x + f = A^T y, A x = b on the active rows, with refinement; and the residual with y >= 0 enforced."""
    n, scale_x = qp.f.size, 1.0 / np.sqrt(np.maximum(qp.H.diagonal(), np.finfo(float).tiny))
    rows = qp.A[active] * scale_x
    scale_rows = np.linalg.norm(rows, axis=1)
    scale_rows[scale_rows == 0.0] = 1.0
    rows = rows / scale_rows[:, None]
    matrix = np.zeros((n + len(rows), n + len(rows)))
    matrix[:n, :n] = qp.H * scale_x * scale_x[:, None]
    matrix[:n, n:], matrix[n:, :n] = -rows.T, rows

    best, error = solution, np.inf
    x, y = solution.x, np.where(active, solution.y, 0.0)
    for _ in range(REFINEMENTS):
        defect = np.concatenate((scale_x * (y @ qp.A - qp.H @ x - qp.f), (qp.b - qp.A @ x)[active] / scale_rows))
        if not np.isfinite(defect).all():
            break
        step = np.linalg.lstsq(matrix, defect, rcond=1e-13)[0]
        x, y = x + scale_x * step[:n], y.copy()
        y[active] += step[n:] / scale_rows
        trial = replace(solution, x=x, y=y, active=active)
        trial_error = qp.residual(replace(trial, y=_nonnegative(y, qp.equalities)))
        if trial_error >= error:
            break
        best, error = trial, trial_error
        if error <= ROUND_OFF:
            break
    return best, error


def binding_rows(qp: QP, solution: Solution) -> Mask:
    """Equalities, and the inequalities whose multiplier, in the unit of the row, exceeds the slack."""
    weight = qp.A**2 @ (1.0 / np.maximum(qp.H.diagonal(), np.finfo(float).tiny))
    active = solution.y * weight > qp.A @ solution.x - qp.b
    active[: qp.equalities] = True
    return active


def _nonnegative(y: Array, equalities: int) -> Array:
    y = y.copy()
    y[equalities:] = np.maximum(y[equalities:], 0.0)
    return y


def polished_contact(scaled: NormalisedContact, z: Array) -> Array:
    """Semismooth Newton steps from normalised impulses, kept only if the residual decreases; z without numba."""
    try:
        from nonsmooth.solvers.kernels.friction import ALART_CURNIER, CONE, newton
    except ImportError:
        return z
    kind = CONE if isinstance(scaled.program, ConeQP) else ALART_CURNIER
    numbers = scaled.A, scaled.b, scaled.mu, scaled.d, scaled.e
    trial, _, _ = TimedKernel(newton, "polishing")(kind, *numbers, z, NEWTON_STEPS, 0, 0.1 * POLISHED)
    return trial if scaled.residual(trial) < scaled.residual(z) else z


def refined_friction(program: FrictionContact, z: Array) -> Array:
    """Impulses of a nearly exact solution, refined to round-off with the same modes, kept only if the residual
    decreases. Newton's method solves u = 0 on bilateral rows, P = 0 where a contact is open, else u_N = 0 and u_T = 0
    or, slipping, P_T = mu P_N y / |y| with y = P_T - u_T in the unit of P_T, with steps of least norm, which find the
    nearest of equivalent impulses."""
    scaled = normalised_contact(program)
    point = z / scaled.scale
    P = scaled.contact_rows(point)
    closed = P[:, 0] > 0.0
    sticks = closed & (np.linalg.norm(P[:, 1:], axis=1) < (1.0 - SAME_MODE) * scaled.mu * P[:, 0])
    best, error, failures = z, program.residual(Solution(z, z, "", 0, "")), 0
    e, d, A = scaled.e, scaled.d, scaled.A
    for _ in range(NEWTON_STEPS):
        if error <= ROUND_OFF or failures == 2:
            break
        u = A @ point + scaled.b
        F, J = u.copy(), A.copy()  # the equations and their Jacobian
        for k, mu in enumerate(scaled.mu):
            N, T = e + d * k, slice(e + d * k + 1, e + d * (k + 1))
            if not closed[k] or mu == 0.0:
                rows = T if closed[k] else slice(N, T.stop)
                F[rows], J[rows] = point[rows], np.eye(z.size)[rows]
            elif not sticks[k]:
                y = point[T] - u[T]
                length = float(np.linalg.norm(y)) or 1.0
                n, own = y / length, np.eye(z.size)[T]
                turns = mu * point[N] / length * (np.eye(d - 1) - np.outer(n, n))
                F[T] = point[T] - mu * point[N] * n
                J[T] = own - turns @ (own - A[T])
                J[T, N] -= mu * n
        if not (np.isfinite(F).all() and np.isfinite(J).all()):
            break
        point = point - np.linalg.lstsq(J, F, rcond=1e-13)[0]
        following = scaled.within_cones(point.copy()) * scaled.scale
        found = program.residual(Solution(following, following, "", 0, ""))
        failures = 0 if found < error else failures + 1
        if found < error:
            best, error = following, found
    return best


def polished_mpcc(mpcc: MPCC, solution: Solution) -> Solution:
    """Semismooth Newton method on the equations, the pairs and active bounds, kept only if the residual decreases. A
    pair with gap < multiplier (scaled) has zero gap, another one zero multiplier. Bounds of x and gaps of pairs that
    are not binding are imposed if near: several together by least squares, and one by one if that is not exact."""
    best, error = solution, mpcc.residual(solution)
    for pinned, touching in _held(mpcc, solution):
        trial, trial_error = _newton(mpcc, solution, pinned, touching)
        # the residual does not contain the distance of an optimised unknown from its limit; the polished point is
        # exactly there
        if trial_error < error or (not mpcc.determined and trial_error <= POLISHED):
            best, error = trial, trial_error
            if error <= POLISHED:
                break
    return best


def _held(mpcc: MPCC, solution: Solution) -> Iterator[tuple[Mask, Mask]]:
    """Candidate sets of active bounds of x and gaps without a multiplier, the most likely first."""
    G = mpcc.structure.values(solution.x, solution.y, mpcc.p)[3]
    distance = np.minimum(solution.x - mpcc.lower, mpcc.upper - solution.x) / mpcc.x_scale
    pinned = mpcc.free & (distance < NEAR)
    touching = ~mpcc.binding & np.isfinite(mpcc.G_scale) & (G / mpcc.G_scale < NEAR)
    yield pinned, touching
    if np.count_nonzero(pinned) + np.count_nonzero(touching) > 1:
        none_pinned, none_touching = np.zeros_like(pinned), np.zeros_like(touching)
        for j in np.flatnonzero(pinned):
            yield np.arange(pinned.size) == j, none_touching
        for i in np.flatnonzero(touching):
            yield none_pinned, np.arange(touching.size) == i


def _newton(mpcc: MPCC, solution: Solution, pinned: Mask, touching: Mask) -> tuple[Solution, float]:
    to_lower = solution.x - mpcc.lower < mpcc.upper - solution.x
    x = np.where(pinned, np.where(to_lower, mpcc.lower, mpcc.upper), solution.x)
    y, moving = solution.y, mpcc.free & ~pinned
    best, error, failures = solution, np.inf, 0
    for _ in range(NEWTON_STEPS):
        c, G, c_x, c_y, G_x, G_y = mpcc.structure.jacobians(x, y, mpcc.p)
        with np.errstate(invalid="ignore"):  # a diverged iterate has no active bounds, and its residual rejects it
            closed = mpcc.binding & (G / mpcc.G_scale < y / mpcc.y_scale)
        y = np.where(closed, y, 0.0)
        held = closed | touching
        # y changes if a pair opens, and with it c and G
        matrix = np.block([[c_x[:, moving], c_y[:, closed]], [G_x[np.ix_(held, moving)], G_y[np.ix_(held, closed)]]])
        c, G = mpcc.structure.values(x, y, mpcc.p)[1::2]
        matrix = matrix * np.concatenate((mpcc.x_scale[moving], mpcc.y_scale[closed]))
        size = np.abs(matrix).max(axis=1, initial=0.0)
        size[size == 0.0] = 1.0
        defect = -np.concatenate((c, G[held])) / size
        if not (np.isfinite(matrix).all() and np.isfinite(defect).all()):
            break
        step, last = _least(matrix / size[:, None], defect), error <= POLISHED
        x, y = x.copy(), y.copy()
        x[moving] += step[: np.count_nonzero(moving)] * mpcc.x_scale[moving]
        y[closed] += step[np.count_nonzero(moving) :] * mpcc.y_scale[closed]
        trial = replace(solution, x=x, y=y, active=closed)
        trial_error = mpcc.residual(trial)
        failures = 0 if trial_error < error else failures + 1
        if trial_error < error:
            best, error = trial, trial_error
        if error <= ROUND_OFF or failures == 2 or last:
            break
    return best, error


def _least(matrix: Array, defect: Array) -> Array:
    """The solution of linear equations; of dependent ones that of least squares and least norm."""
    if matrix.shape[0] == matrix.shape[1]:
        Q, R = np.linalg.qr(matrix)
        pivots = np.abs(R.diagonal())
        if np.all(pivots > INDEPENDENT * np.max(pivots, initial=0.0)):
            return np.asarray(np.linalg.solve(R, Q.T @ defect))
    lengths = np.linalg.norm(matrix, axis=0)
    lengths[lengths == 0.0] = 1.0  # columns of one length: else equations with small coefficients count as dependent
    return np.asarray(np.linalg.lstsq(matrix / lengths, defect, rcond=1e-12)[0] / lengths)
