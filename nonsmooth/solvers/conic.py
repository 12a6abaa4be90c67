"""Clarabel through cvxpy: slow, independent of all other solvers, the last one of the chain."""

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import SolverMissing
from nonsmooth.programs import LCP, QP, ConeQP, FrictionContact, Program, Session, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.normalised import NormalisedContact, normalised, normalised_contact
from nonsmooth.solvers.polish import binding_rows, polished_contact, polished_qp
from nonsmooth.solvers.session import SolverSession, Unsolvable

TOLERANCES = (1e-12, 1e-9, 1e-7)
#: largest number of conic programs for de Saxcé's correction, and the residual at which it has converged
CORRECTIONS = 50
CONVERGED = 1e-6


@settings
class Conic:
    """Interior-point cross-check of a QP, of an LCP with symmetric positive semidefinite matrix, and of friction.

    The LCP is min 1/2 z^T A z + b^T z with z_i >= 0 on its complementary rows. A FrictionContact is a sequence of such
    programs on Coulomb's cones (`ConeQP`), each with mu |u_T| of the one before added to b_N (de Saxcé): the correction
    converges in 7 to 9 of them in a mechanism, in 10 to 20 in dense problems, and may diverge for large mu. Newton
    steps then remove the remaining error; without numba they are omitted.

    References
    ----------
    Goulart, Chen, Clarabel: an interior-point solver for conic programs with quadratic objectives, arXiv:2405.12762;
    de Saxcé, Feng, Math. Comput. Modelling 28 (1998), 225-245; Acary, Cadoux, Lemaréchal, Malick, ZAMM 91 (2011),
    155-175 (the fixed point).
    """

    tolerance: ClassVar[float] = 1e-9

    def fits(self, program: Program) -> bool:
        """Any QP, FrictionContact or ConeQP; an LCP with symmetric positive semidefinite A."""
        if isinstance(program, LCP):
            return _factor(program.A) is not None
        return isinstance(program, (QP, FrictionContact, ConeQP))

    def setup(self) -> Session:
        """Load cvxpy and Clarabel.

        Raises
        ------
        SolverMissing
            If one of them is not installed.
        """
        return ConicSession(self)


class ConicSession(SolverSession):
    """`Conic` session: one parametrised cvxpy problem per shape."""

    programs, taken = (LCP, QP, FrictionContact, ConeQP), "a QP, LCP, FrictionContact or ConeQP"

    def __init__(self, settings: Conic) -> None:
        try:
            import clarabel
            import cvxpy
        except ImportError as error:
            raise SolverMissing("Conic needs cvxpy and clarabel: pip install cvxpy clarabel.") from error
        super().__init__(settings)
        self._cvxpy, self._clarabel = cvxpy, clarabel
        self._problems: dict[tuple[int, ...], tuple[Any, ...]] = {}

    def _solve(self, program: LCP | QP | FrictionContact | ConeQP, guess: Solution | None) -> Solution:
        """The guess gives the first correction of contact with friction only."""
        if isinstance(program, LCP):
            return self._solve_lcp(program)
        return self._solve_qp(program) if isinstance(program, QP) else self._solve_contact(program, guess)

    def _solve_qp(self, qp: QP) -> Solution:
        scaled = normalised(qp)
        u, multipliers, status, iterations = self._minimise(
            np.eye(qp.f.size), scaled.f, scaled.A, scaled.b, qp.equalities
        )
        solution = polished_qp(qp, Solution(scaled.x(u), scaled.y(multipliers), status, iterations, "Conic"))
        return replace(solution, active=binding_rows(qp, solution))

    def _solve_lcp(self, lcp: LCP) -> Solution:
        factor = _factor(lcp.A)
        if factor is None or not np.isfinite(lcp.b).all():
            raise Unsolvable("A is not symmetric positive semidefinite, or b not finite")
        scale = 1.0 / np.sqrt(np.maximum(lcp.A.diagonal(), np.finfo(float).tiny))
        scale[lcp.A.diagonal() == 0.0] = 1.0
        size = np.abs(lcp.b * scale).max(initial=0.0) or 1.0
        m, e = lcp.b.size, lcp.bilateral
        rows = np.eye(m)[e:]
        u, _, status, iterations = self._minimise(factor * scale, lcp.b * scale / size, rows, np.zeros(m - e), 0)
        z = size * scale * u
        z[e:] = np.maximum(z[e:], 0.0)
        solution = Solution(lcp.A @ z + lcp.b, z, status, iterations, "Conic")
        # least squares on the rows with z > w, kept only if the residual decreases
        active: NDArray[np.bool_] = lcp.A.diagonal() * z > solution.x
        active[:e] = True
        z = np.zeros(m)
        z[active] = np.linalg.lstsq(lcp.A[np.ix_(active, active)], -lcp.b[active], rcond=1e-13)[0]
        z[e:] = np.maximum(z[e:], 0.0)
        polished = Solution(lcp.A @ z + lcp.b, z, status, iterations, "Conic", active)
        return polished if lcp.residual(polished) < lcp.residual(solution) else solution

    def _solve_contact(self, program: FrictionContact | ConeQP, guess: Solution | None) -> Solution:
        scaled = normalised_contact(program)
        exact = isinstance(program, FrictionContact)
        z, error, iterations, word = scaled.start(guess), np.inf, 0, "max_iter"
        slip = _slip(scaled, z) if exact and guess is not None else np.zeros(scaled.mu.size)
        for _ in range(CORRECTIONS if exact else 1):
            b = scaled.b.copy()
            scaled.contact_rows(b)[:, 0] += scaled.mu * slip
            trial, word, used = self._on_cones(scaled, b)
            iterations += used
            if not np.isfinite(trial).all():
                break
            found = scaled.residual(trial)
            converged = found > 0.5 * error and error <= CONVERGED
            if found < error:
                z, error = trial, found
            if converged or error <= TOLERANCES[0]:
                break
            slip = _slip(scaled, trial)
        return scaled.solution(polished_contact(scaled, z), iterations, self._settings, word)

    def _on_cones(self, scaled: NormalisedContact, b: Array) -> tuple[Array, str, int]:
        """min 1/2 z^T A z + b^T z, contacts in their cones; without cvxpy, which would take longer than the
        solution."""
        import scipy.sparse

        m, e, d = b.size, scaled.e, scaled.d
        rows, cones = [], []
        for k, mu in enumerate(scaled.mu):
            block = np.zeros((d, m))
            block[:, e + k * d : e + (k + 1) * d] = -np.eye(d)
            block[0] *= mu if mu > 0.0 else 1.0
            rows.append(block)
            if mu > 0.0:
                cones.append(self._clarabel.SecondOrderConeT(d))
            else:
                cones += [self._clarabel.NonnegativeConeT(1), self._clarabel.ZeroConeT(d - 1)]
        settings = self._clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCES[0]
        constraints = scipy.sparse.csc_matrix(np.vstack(rows) if rows else np.zeros((0, m)))
        objective = scipy.sparse.csc_matrix(np.triu(scaled.A))
        right = np.zeros(constraints.shape[0])
        answer = self._clarabel.DefaultSolver(objective, b, constraints, right, cones, settings).solve()
        return np.array(answer.x), str(answer.status), int(answer.iterations)

    def _minimise(self, F: Array, f: Array, A: Array, b: Array, equalities: int) -> tuple[Array, Array, str, int]:
        """min 1/2 |F u|^2 + f^T u  s.t.  A u >= b, = on the first rows; also the multipliers of all rows."""
        cp = self._cvxpy
        key = (*F.shape, *A.shape, equalities)
        if key not in self._problems:
            self._problems[key] = _parametrised(cp, *key)
        problem, u, constraints, parameters = self._problems[key]
        values = (F, f, A[:equalities], b[:equalities], A[equalities:], b[equalities:])
        for parameter, value in zip(parameters, values, strict=True):
            if parameter is not None:
                parameter.value = value
        status, iterations = self._run(problem)
        if u.value is None:
            return np.full(f.size, np.nan), np.zeros(b.size), status, iterations
        # cvxpy's Lagrangian adds y (A u - b) for an equality, and subtracts it for >=
        equal, unequal = constraints
        y_e = np.zeros(0) if equal is None else -np.atleast_1d(equal.dual_value)
        y_i = np.zeros(0) if unequal is None else np.atleast_1d(unequal.dual_value)
        return u.value, np.concatenate([y_e, y_i]), status, iterations

    def _run(self, problem: Any) -> tuple[str, int]:
        """Solve as accurately as Clarabel can; if round-off stops it, cvxpy discards the iterate and raises."""
        status = "not started"
        for tolerance in TOLERANCES:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the residual decides on inaccurate solutions
                    problem.solve(
                        solver=self._cvxpy.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance
                    )
            except self._cvxpy.SolverError as error:
                status = str(error)
                continue
            return str(problem.status), int(problem.solver_stats.num_iters or 0) if problem.solver_stats else 0
        return status, 0


def _parametrised(cp: Any, r: int, n: int, m: int, _: int, e: int) -> tuple[Any, ...]:
    u = cp.Variable(n)
    F, f = cp.Parameter((r, n)), cp.Parameter(n)
    A_e, b_e = (cp.Parameter((e, n)), cp.Parameter(e)) if e else (None, None)
    A_i, b_i = (cp.Parameter((m - e, n)), cp.Parameter(m - e)) if m > e else (None, None)
    equal = A_e @ u == b_e if e else None
    unequal = A_i @ u >= b_i if m > e else None
    objective = cp.Minimize(0.5 * cp.sum_squares(F @ u) + f @ u)
    problem = cp.Problem(objective, [c for c in (equal, unequal) if c is not None])
    return problem, u, (equal, unequal), (F, f, A_e, b_e, A_i, b_i)


def _factor(A: Array) -> Array | None:
    """F with F^T F = A, or None if A is not symmetric positive semidefinite."""
    if not np.isfinite(A).all() or not np.allclose(A, A.T, rtol=1e-12, atol=1e-14 * np.abs(A).max(initial=0.0)):
        return None
    values, vectors = np.linalg.eigh(A)
    if values.min(initial=0.0) < -1e-12 * values.max(initial=0.0):
        return None
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


def _slip(scaled: NormalisedContact, z: Array) -> Array:
    """|u_T| of each contact."""
    return np.asarray(np.linalg.norm(scaled.contact_rows(scaled.A @ z + scaled.b)[:, 1:], axis=1))
