"""The QP solvers of CasADi's wheel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SolverMissing
from nonsmooth.programs import QP, Program, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.normalised import NormalisedQP, normalised
from nonsmooth.solvers.polish import binding_rows, polished_qp

__all__ = ["CasadiQP"]

PLUGINS: dict[str, dict[str, Any]] = {
    "daqp": {"daqp": {"primal_tol": 1e-10, "dual_tol": 1e-12}},
    "qrqp": {"print_iter": False, "print_header": False, "print_info": False},
}
#: regularisation of the dual, whose rows have length one, since redundant rows make it singular
REGULARISATION = 1e-11
#: runs of qrqp on the dual; the second one was required for 1 of 1000 random programs, a third one for none
RUNS = 5


@settings
class CasadiQP:
    """A QP solver of `casadi.conic`, applied to the QP in normalised unknowns, then polished; for verification.

    Parameters
    ----------
    plugin : str
        "daqp" (dual active set) or "qrqp" (primal-dual active set, sparse QR). qrqp cycles on 2 % of random programs
        with 1 to 20 rows, in which more rows than unknowns are active at one point, for any order of the rows. The dual
        program is then solved, whose only constraints are the signs of the multipliers.

    Raises
    ------
    InputError
        For another plugin. HiGHS is not supported: loading CasADi's copy breaks cvxpy's in the same process.
    """

    plugin: str = "daqp"

    tolerance: ClassVar[float] = 1e-10

    def __post_init__(self) -> None:
        if self.plugin not in PLUGINS:
            raise InputError(f"CasadiQP has no plugin {self.plugin!r}; it takes {' or '.join(PLUGINS)}.")

    def fits(self, program: Program) -> bool:
        """Any QP."""
        return isinstance(program, QP)

    def setup(self) -> CasadiQPSession:
        """Load the plugin.

        Raises
        ------
        SolverMissing
            If CasADi was built without it.
        """
        if not ca.has_conic(self.plugin):
            raise SolverMissing(f"This build of CasADi has no {self.plugin}: install CasADi from its wheel (pip).")
        return CasadiQPSession(self.plugin)


class CasadiQPSession:
    """`CasadiQP` session: one built solver per shape."""

    def __init__(self, plugin: str) -> None:
        self._plugin = plugin
        self._built: dict[tuple[int, int], ca.Function] = {}

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        """Solve a QP."""
        if not isinstance(program, QP):
            raise InputError(f"CasadiQP takes a QP, got {type(program).__name__}.")
        try:
            scaled = normalised(program)
        except np.linalg.LinAlgError as error:
            return _failed(program, str(error))
        answer = self._primal(program, scaled, guess)
        if self._plugin == "qrqp" and program.residual(answer) > CasadiQP.tolerance:
            answer = self._dual(program, scaled, answer)
        return replace(answer, active=binding_rows(program, answer))

    def _primal(self, qp: QP, scaled: NormalisedQP, guess: Solution | None) -> Solution:
        m, n = scaled.A.shape
        upper = np.full(m, np.inf)
        upper[: scaled.equalities] = scaled.b[: scaled.equalities]
        start: dict[str, Any] = {}
        if guess is not None:
            u, multipliers = scaled.guess(guess)
            start = {"x0": u, "lam_a0": -multipliers}
        numbers = {"h": ca.DM.eye(n), "g": scaled.f, "a": scaled.A, "lba": scaled.b, "uba": upper}
        result, status, iterations = self._run(m, n, numbers | start)
        if result is None:
            return _failed(qp, status)
        u, multipliers = np.asarray(result["x"]).ravel(), -np.asarray(result["lam_a"]).ravel()
        return _answer(qp, scaled, u, multipliers, status, iterations)

    def _dual(self, qp: QP, scaled: NormalisedQP, best: Solution) -> Solution:
        """Solution of the dual; qrqp may stop early and report success, and is then continued from its result."""
        m, iterations = scaled.b.size, best.iterations
        lower = np.zeros(m)
        lower[: scaled.equalities] = -np.inf
        H = scaled.A @ scaled.A.T + REGULARISATION * np.eye(m)
        numbers = {"h": H, "g": -scaled.b - scaled.A @ scaled.f, "lbx": lower}
        for _ in range(RUNS):
            result, status, more = self._run(0, m, numbers)
            iterations += more
            if result is None:
                break
            z = np.maximum(np.asarray(result["x"]).ravel(), lower)
            trial = _answer(qp, scaled, z @ scaled.A - scaled.f, z, status, iterations)
            if not qp.residual(best) <= qp.residual(trial):
                best = trial
            if qp.residual(trial) <= CasadiQP.tolerance:
                break
            numbers |= {"x0": z, "lam_x0": np.where(z > lower, 0.0, -1.0)}
        return replace(best, iterations=iterations)

    def _run(self, m: int, n: int, numbers: dict[str, Any]) -> tuple[dict[str, Any] | None, str, int]:
        """The result of CasADi, or None; its status; its iterations."""
        solver = self._solver(m, n)
        try:
            result = solver(**numbers)
        except RuntimeError as error:
            return None, f"CasADi stopped: {error}", 0
        stats = solver.stats()
        return result, str(stats["return_status"]), max(int(stats.get("iter_count", 0)), 0)

    def _solver(self, m: int, n: int) -> ca.Function:
        if (m, n) not in self._built:
            shapes = {"h": ca.Sparsity.dense(n, n), "a": ca.Sparsity.dense(m, n)}
            options = {"error_on_fail": False, "print_time": False, **PLUGINS[self._plugin]}
            self._built[m, n] = ca.conic("qp", self._plugin, shapes, options)
        return self._built[m, n]


def _answer(qp: QP, scaled: NormalisedQP, u: Array, multipliers: Array, status: str, iterations: int) -> Solution:
    """The polished solution from normalised unknowns."""
    y = scaled.y(multipliers)
    y[scaled.equalities :] = np.maximum(y[scaled.equalities :], 0.0)
    return polished_qp(qp, Solution(scaled.x(u), y, status, iterations, "CasadiQP"))


def _failed(qp: QP, status: str) -> Solution:
    return Solution(np.full(qp.f.size, np.nan), np.zeros(qp.b.size), status, 0, "CasadiQP")
