"""QPs, and contact as conic programs, by solvers of other packages: OSQP, those of CasADi's wheel, Clarabel."""

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SolverMissing
from nonsmooth.programs import LCP, QP, ConeQP, FrictionContact, Program, Session, Solution
from nonsmooth.settings import settings, shown
from nonsmooth.solvers.polish import binding_rows, polished_contact, polished_qp
from nonsmooth.solvers.session import (
    Algorithm,
    NormalisedContact,
    NormalisedQP,
    SolverSession,
    Unsolvable,
    normalised,
    normalised_contact,
)

# ---- OSQP

LOOSEST = 1e-9
#: iterations after which OSQP may adapt its step size; with 0 it decides by the time that factorisations take
INTERVAL = 50
#: status of OSQP
SOLVED = 1


@settings
class Osqp(Algorithm):
    """Operator splitting on the QP in normalised unknowns.

    InputError for an eps out of range.

    Parameters
    ----------
    eps : float
        OSQP's absolute and relative tolerance [-], in (0, 1e-9]. Its default, 1e-3, gives *wrong* results for contact:
        an error of 8.8 rad/s of 150 rad/s for a slider-crank.
    max_iterations : int
    polish : bool
        Solve the equations of the active rows afterwards, kept only if the residual decreases. It refines a good
        solution and does not replace a small `eps`.

    References
    ----------
    Stellato, Banjac, Goulart, Bemporad, Boyd, Math. Program. Comput. 12 (2020), 637-672.
    """

    eps: float = 1e-10
    max_iterations: int = 20000
    polish: bool = True

    programs = (QP,)
    taken = "a QP"

    def __post_init__(self) -> None:
        if not 0.0 < self.eps <= LOOSEST:
            raise InputError(
                f"Osqp(eps={self.eps:g}) would give wrong motions: at its default tolerances OSQP is wrong, a "
                f"slider-crank was off by 8.8 rad/s on 150. Accepted is 0 < eps <= {LOOSEST:g}; leave it out for 1e-10."
            )

    @property
    def tolerance(self) -> float:
        """Guaranteed residual [-]; large without polish, since OSQP weights rows together, the residual separately."""
        return 10.0 * self.eps if self.polish else 1e-2

    def setup(self) -> Session:
        return OsqpSession(self)


class OsqpSession(SolverSession):
    """`Osqp` session: one workspace per shape, set up once and then updated."""

    def __init__(self, settings: Osqp) -> None:
        try:
            import osqp
            import scipy.sparse
        except ImportError as error:
            raise SolverMissing("Osqp needs osqp and scipy: pip install osqp.") from error
        super().__init__(settings)
        self._new, self._sparse = osqp.OSQP, scipy.sparse.csc_matrix
        self._workspaces: dict[tuple[int, int], Any] = {}
        #: the step size of each shape's workspace, and unknowns and multipliers of its last program
        self._last: dict[tuple[int, int], tuple[float, Array, Array]] = {}

    def snapshot(self) -> list[list[Any]]:
        """For a checkpoint: what the next program of each shape begins with."""
        return [[*shape, rho, x, y] for shape, (rho, x, y) in self._last.items()]

    def restore(self, saved: list[list[Any]]) -> None:
        """Continue from a checkpoint."""
        self._last = {(int(m), int(n)): (float(rho), np.array(x), np.array(y)) for m, n, rho, x, y in saved}

    def _solve(self, program: QP, guess: Solution | None) -> Solution:
        scaled = normalised(program)
        workspace, shape = self._prepared(scaled), scaled.A.shape
        if guess is not None:
            u, multipliers = scaled.guess(guess)
            workspace.warm_start(x=u, y=-multipliers)
        elif shape in self._last:  # explicitly, since a run that goes on has no other memory
            workspace.warm_start(*self._last[shape][1:])
        result = workspace.solve(raise_error=False)
        if result.info.status_val != SOLVED and shape in self._last:  # the last program may be far from this one
            self._last.pop(shape)
            self._workspaces.pop(shape)
            workspace = self._prepared(scaled)
            result = workspace.solve(raise_error=False)
        # only the workspace's own settings tell the step size that it has adapted
        if np.isfinite(result.x).all() and np.isfinite(result.y).all():
            self._last[shape] = float(workspace._solver.get_settings().rho), result.x.copy(), result.y.copy()
        else:
            self._last.pop(shape, None)
            self._workspaces.pop(shape)
        solution = scaled.solution(result.x, -result.y, str(result.info.status), int(result.info.iter), "Osqp")
        if not (scaled.f.any() or scaled.b.any()):  # no residual relative to the data may be left of a warm start
            solution = replace(solution, x=np.zeros_like(solution.x), y=np.zeros_like(solution.y))
        elif self._settings.polish:
            solution = polished_qp(program, solution)
        return replace(solution, active=binding_rows(program, solution))

    def _prepared(self, scaled: NormalisedQP) -> Any:
        """A workspace with this program; an updated one if the shape is known."""
        shape = m, n = scaled.A.shape
        if shape in self._workspaces:
            workspace = self._workspaces[shape]
            workspace.update(q=scaled.f, Ax=scaled.A.ravel(order="F"), l=scaled.b, u=scaled.upper)
            return workspace
        # zeros of A are stored, so that later programs of the shape fit the pattern
        entries = scaled.A.ravel(order="F"), np.tile(np.arange(m), n), np.arange(n + 1) * m
        workspace = self._workspaces[shape] = self._new()
        workspace.setup(
            self._sparse(np.eye(n)), scaled.f, self._sparse(entries, shape=shape), scaled.b, scaled.upper,
            verbose=False, polishing=False, scaling=0, eps_abs=self._settings.eps, eps_rel=self._settings.eps,
            max_iter=self._settings.max_iterations, adaptive_rho_interval=INTERVAL,
            **({"rho": self._last[shape][0]} if shape in self._last else {}),
        )  # fmt: skip
        return workspace


# ---- CasADi

PLUGINS: dict[str, dict[str, Any]] = {
    "daqp": {"daqp": {"primal_tol": 1e-10, "dual_tol": 1e-12}},
    "qrqp": {"print_iter": False, "print_header": False, "print_info": False},
}
#: regularisation of the dual, whose rows have length one, since redundant rows make it singular
REGULARISATION = 1e-11
#: runs of qrqp on the dual; the second one was required for 1 of 1000 random programs, a third one for none
RUNS = 5


@settings
class CasadiQP(Algorithm):
    """A QP solver of `casadi.conic`, applied to the QP in normalised unknowns, then polished; for verification.

    InputError for another plugin. HiGHS is not supported: loading CasADi's copy breaks cvxpy's in the same process.

    Parameters
    ----------
    plugin : str
        "daqp" (dual active set) or "qrqp" (primal-dual active set, sparse QR). qrqp cycles on 2 % of random programs
        with 1 to 20 rows, in which more rows than unknowns are active at one point, for any order of the rows. The dual
        program is then solved, whose only constraints are the signs of the multipliers.
    """

    plugin: str = "daqp"

    tolerance: ClassVar[float] = 1e-10
    programs = (QP,)
    taken = "a QP"

    def __post_init__(self) -> None:
        if self.plugin not in PLUGINS:
            raise InputError(f"CasadiQP has no plugin {shown(self.plugin)}; it takes {' or '.join(PLUGINS)}.")

    def setup(self) -> Session:
        if not ca.has_conic(self.plugin):
            raise SolverMissing(f"This build of CasADi has no {self.plugin}: install CasADi from its wheel (pip).")
        return CasadiQPSession(self)


class CasadiQPSession(SolverSession):
    """`CasadiQP` session: one built solver per shape."""

    def __init__(self, settings: CasadiQP) -> None:
        super().__init__(settings)
        self._built: dict[tuple[int, int], ca.Function] = {}

    def _solve(self, program: QP, guess: Solution | None) -> Solution:
        scaled = normalised(program)
        m, n = scaled.A.shape
        numbers = {"h": ca.DM.eye(n), "g": scaled.f, "a": scaled.A, "lba": scaled.b, "uba": scaled.upper}
        if guess is not None:
            u, multipliers = scaled.guess(guess)
            numbers |= {"x0": u, "lam_a0": -multipliers}
        result, status, iterations = self._run(m, n, numbers)
        if result is None:
            solution = Solution(np.full(n, np.nan), np.zeros(m), status, 0, "CasadiQP")
        else:
            u, multipliers = np.asarray(result["x"]).ravel(), -np.asarray(result["lam_a"]).ravel()
            solution = polished_qp(program, scaled.solution(u, multipliers, status, iterations, "CasadiQP"))
        if self._settings.plugin == "qrqp" and program.residual(solution) > CasadiQP.tolerance:
            # of the dual; qrqp may stop early and report success, and is then continued from its result
            iterations, lower = solution.iterations, np.zeros(m)
            lower[: scaled.equalities] = -np.inf
            H = scaled.A @ scaled.A.T + REGULARISATION * np.eye(m)
            numbers = {"h": H, "g": -scaled.b - scaled.A @ scaled.f, "lbx": lower}
            for _ in range(RUNS):
                result, status, more = self._run(0, m, numbers)
                iterations += more
                if result is None:
                    break
                z = np.maximum(np.asarray(result["x"]).ravel(), lower)
                u = z @ scaled.A - scaled.f
                trial = polished_qp(program, scaled.solution(u, z, status, iterations, "CasadiQP"))
                if not program.residual(solution) <= program.residual(trial):
                    solution = trial
                if program.residual(trial) <= CasadiQP.tolerance:
                    break
                numbers |= {"x0": z, "lam_x0": np.where(z > lower, 0.0, -1.0)}
            solution = replace(solution, iterations=iterations)
        return replace(solution, active=binding_rows(program, solution))

    def _run(self, m: int, n: int, numbers: dict[str, Any]) -> tuple[dict[str, Any] | None, str, int]:
        """The result of CasADi, or None; its status; its iterations."""
        if (m, n) not in self._built:
            shapes = {"h": ca.Sparsity.dense(n, n), "a": ca.Sparsity.dense(m, n)}
            options = {"error_on_fail": False, "print_time": False, **PLUGINS[self._settings.plugin]}
            self._built[m, n] = ca.conic("qp", self._settings.plugin, shapes, options)
        solver = self._built[m, n]
        try:
            result = solver(**numbers)
        except RuntimeError as error:
            return None, f"CasADi stopped: {error}", 0
        stats = solver.stats()
        return result, str(stats["return_status"]), max(int(stats.get("iter_count", 0)), 0)


# ---- Clarabel

TOLERANCES = (1e-12, 1e-9, 1e-7)
#: largest number of conic programs for de Saxcé's correction, and the residual at which it has converged
CORRECTIONS = 50
CONVERGED = 1e-6


@settings
class Conic(Algorithm):
    """Interior-point cross-check of a QP, of an LCP with symmetric positive semidefinite matrix, and of friction.

    By Clarabel, independent of all other solvers: QPs and LCPs through cvxpy, contact on cones directly, since cvxpy
    takes longer than their solution; the name is of the kind of program. The LCP is min 1/2 z^T A z + b^T z with z_i
    >= 0 on its complementary rows. A FrictionContact is a sequence of such programs on Coulomb's cones (`ConeQP`), each
    with mu |u_T| of the one before added to b_N (de Saxcé): the correction converges in 7 to 9 of them in a mechanism,
    in 10 to 20 in dense problems, and may diverge for large mu. Newton steps then remove the remaining error; without
    numba they are omitted.

    References
    ----------
    Goulart, Chen, Clarabel: an interior-point solver for conic programs with quadratic objectives, arXiv:2405.12762;
    de Saxcé, Feng, Math. Comput. Modelling 28 (1998), 225-245; Acary, Cadoux, Lemaréchal, Malick, ZAMM 91 (2011),
    155-175 (the fixed point).
    """

    tolerance: ClassVar[float] = 1e-9
    programs = (LCP, QP, FrictionContact, ConeQP)
    taken = "a QP, LCP, FrictionContact or ConeQP"

    def fits(self, program: Program) -> bool:
        """Any QP, FrictionContact or ConeQP; an LCP with symmetric positive semidefinite A."""
        return super().fits(program) and not (isinstance(program, LCP) and _factor(program.A) is None)

    def setup(self) -> Session:
        return ConicSession(self)


class ConicSession(SolverSession):
    """`Conic` session: one parametrised cvxpy problem per shape."""

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
        if isinstance(program, QP):
            qp, n, e = normalised(program), program.f.size, program.equalities
            u, multipliers, *words = self._minimise(np.eye(n), qp.f, qp.A, qp.b, e)
            solution = polished_qp(program, qp.solution(u, multipliers, *words, "Conic", signed=False))
            return replace(solution, active=binding_rows(program, solution))
        scaled = normalised_contact(program)
        exact = isinstance(program, FrictionContact)
        z, error, iterations, word = scaled.start(guess), np.inf, 0, "max_iter"
        slip = scaled.slip_speed(z) if exact and guess is not None else np.zeros(scaled.mu.size)
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
            slip = scaled.slip_speed(trial)
        return scaled.solution(polished_contact(scaled, z), iterations, self._settings, word)

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

    def _on_cones(self, scaled: NormalisedContact, b: Array) -> tuple[Array, str, int]:
        """min 1/2 z^T A z + b^T z, contacts in their cones; without cvxpy, which takes longer than the solution."""
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

    def _minimise(self, F: Array, f: Array, A: Array, b: Array, e: int) -> tuple[Array, Array, str, int]:
        """min 1/2 |F u|^2 + f^T u s.t. A u >= b, = on the first e rows; with the multipliers, as accurately as Clarabel
        can: if round-off stops it, cvxpy discards the iterate and raises."""
        cp = self._cvxpy
        (r, n), m = F.shape, b.size
        if (r, n, m, e) not in self._problems:
            u, F_, f_ = cp.Variable(n), cp.Parameter((r, n)), cp.Parameter(n)
            sides = [(cp.Parameter((rows, n)), cp.Parameter(rows)) if rows else None for rows in (e, m - e)]
            equal = sides[0][0] @ u == sides[0][1] if sides[0] else None
            unequal = sides[1][0] @ u >= sides[1][1] if sides[1] else None
            objective = cp.Minimize(0.5 * cp.sum_squares(F_ @ u) + f_ @ u)
            problem = cp.Problem(objective, [one for one in (equal, unequal) if one is not None])
            self._problems[r, n, m, e] = problem, u, F_, f_, sides, (equal, unequal)
        problem, u, F_, f_, sides, constraints = self._problems[r, n, m, e]
        F_.value, f_.value = F, f
        for side, rows in zip(sides, (slice(None, e), slice(e, None)), strict=True):
            if side is not None:
                side[0].value, side[1].value = A[rows], b[rows]
        status, iterations = "not started", 0
        for tolerance in TOLERANCES:
            accuracy = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the residual decides on inaccurate solutions
                    problem.solve(solver=cp.CLARABEL, **accuracy)
            except cp.SolverError as error:
                status = str(error)
                continue
            status, stats = str(problem.status), problem.solver_stats
            iterations = int(stats.num_iters or 0) if stats else 0
            break
        if u.value is None:
            return np.full(n, np.nan), np.zeros(m), status, iterations
        # cvxpy's Lagrangian adds y (A u - b) for an equality, and subtracts it for >=
        y = [np.zeros(0) if one is None else np.atleast_1d(one.dual_value) for one in constraints]
        return u.value, np.concatenate([-y[0], y[1]]), status, iterations


def _factor(A: Array) -> Array | None:
    """F with F^T F = A, or None if A is not symmetric positive semidefinite."""
    if not np.isfinite(A).all() or not np.allclose(A, A.T, rtol=1e-12, atol=1e-14 * np.abs(A).max(initial=0.0)):
        return None
    values, vectors = np.linalg.eigh(A)
    if values.min(initial=0.0) < -1e-12 * values.max(initial=0.0):
        return None
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
