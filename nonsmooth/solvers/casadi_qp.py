"""The QP solvers that come with CasADi's wheel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.exceptions import InputError, SolverMissing
from nonsmooth.programs import QP, Program, Solution
from nonsmooth.solvers.normalised import normalised
from nonsmooth.solvers.polish import binding_rows, polished_qp

__all__ = ["CasadiQP"]

PLUGINS: dict[str, dict[str, Any]] = {
    "daqp": {"daqp": {"primal_tol": 1e-10, "dual_tol": 1e-12}},
    "qrqp": {"print_iter": False, "print_header": False, "print_info": False},
}


@dataclass(frozen=True)
class CasadiQP:
    """A QP solver behind `casadi.conic`, on the QP in normalised unknowns, then polished; a cross-check.

    Parameters
    ----------
    plugin : str
        "daqp" (dual active set) or "qrqp" (primal active set, sparse QR). qrqp cycles on 1 to 3 % of random programs
        with 1 to 20 rows, and says so; the chain then asks the next solver.

    Raises
    ------
    InputError
        For another plugin. HiGHS is left out on purpose: loading CasADi's copy breaks cvxpy's in the same process.
    """

    plugin: str = "daqp"

    def __post_init__(self) -> None:
        if self.plugin not in PLUGINS:
            raise InputError(f"CasadiQP has no plugin {self.plugin!r}; it takes {' or '.join(PLUGINS)}.")

    @property
    def tolerance(self) -> float:
        """Residual promised [-]."""
        return 1e-10

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
    """`CasadiQP` at work: one built solver per shape."""

    def __init__(self, plugin: str) -> None:
        self._plugin = plugin
        self._built: dict[tuple[int, int], ca.Function] = {}

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        """Answer a QP."""
        if not isinstance(program, QP):
            raise InputError(f"CasadiQP takes a QP, got {type(program).__name__}.")
        try:
            scaled = normalised(program)
        except np.linalg.LinAlgError as error:
            return _failed(program, str(error))
        m, n = scaled.A.shape
        upper = np.full(m, np.inf)
        upper[: scaled.equalities] = scaled.b[: scaled.equalities]
        start: dict[str, Any] = {}
        if guess is not None:
            u, multipliers = scaled.guess(guess)
            start = {"x0": u, "lam_a0": -multipliers}
        solver = self._solver(m, n)
        try:
            result = solver(h=ca.DM.eye(n), g=scaled.f, a=scaled.A, lba=scaled.b, uba=upper, **start)
        except RuntimeError as error:
            return _failed(program, f"CasADi stopped: {error}")
        stats = solver.stats()
        x = scaled.x(np.asarray(result["x"]).ravel())
        y = scaled.y(-np.asarray(result["lam_a"]).ravel())
        y[scaled.equalities :] = np.maximum(y[scaled.equalities :], 0.0)
        iterations = max(int(stats.get("iter_count", 0)), 0)
        solution = polished_qp(program, Solution(x, y, str(stats["return_status"]), iterations, "CasadiQP"))
        return replace(solution, active=binding_rows(program, solution))

    def _solver(self, m: int, n: int) -> ca.Function:
        if (m, n) not in self._built:
            shapes = {"h": ca.Sparsity.dense(n, n), "a": ca.Sparsity.dense(m, n)}
            options = {"error_on_fail": False, "print_time": False, **PLUGINS[self._plugin]}
            self._built[m, n] = ca.conic("qp", self._plugin, shapes, options)
        return self._built[m, n]


def _failed(qp: QP, status: str) -> Solution:
    return Solution(np.full(qp.f.size, np.nan), np.zeros(qp.b.size), status, 0, "CasadiQP")
