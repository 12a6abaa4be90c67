"""The QP solvers of CasADi's wheel."""

from dataclasses import replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SolverMissing
from nonsmooth.programs import QP, Program, Session, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.normalised import NormalisedQP, normalised
from nonsmooth.solvers.polish import binding_rows, polished_qp
from nonsmooth.solvers.session import SolverSession

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

    def setup(self) -> Session:
        """Load the plugin.

        Raises
        ------
        SolverMissing
            If CasADi was built without it.
        """
        if not ca.has_conic(self.plugin):
            raise SolverMissing(f"This build of CasADi has no {self.plugin}: install CasADi from its wheel (pip).")
        return CasadiQPSession(self)


class CasadiQPSession(SolverSession):
    """`CasadiQP` session: one built solver per shape."""

    programs, taken = (QP,), "a QP"

    def __init__(self, settings: CasadiQP) -> None:
        super().__init__(settings)
        self._built: dict[tuple[int, int], ca.Function] = {}

    def _solve(self, program: QP, guess: Solution | None) -> Solution:
        scaled = normalised(program)
        answer = self._primal(program, scaled, guess)
        if self._settings.plugin == "qrqp" and program.residual(answer) > CasadiQP.tolerance:
            answer = self._dual(program, scaled, answer)
        return replace(answer, active=binding_rows(program, answer))

    def _primal(self, qp: QP, scaled: NormalisedQP, guess: Solution | None) -> Solution:
        m, n = scaled.A.shape
        numbers = {"h": ca.DM.eye(n), "g": scaled.f, "a": scaled.A, "lba": scaled.b, "uba": scaled.upper}
        if guess is not None:
            u, multipliers = scaled.guess(guess)
            numbers |= {"x0": u, "lam_a0": -multipliers}
        result, status, iterations = self._run(m, n, numbers)
        if result is None:
            return Solution(np.full(n, np.nan), np.zeros(m), status, 0, "CasadiQP")
        u, multipliers = np.asarray(result["x"]).ravel(), -np.asarray(result["lam_a"]).ravel()
        return _polished(qp, scaled, u, multipliers, status, iterations)

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
            trial = _polished(qp, scaled, z @ scaled.A - scaled.f, z, status, iterations)
            if not qp.residual(best) <= qp.residual(trial):
                best = trial
            if qp.residual(trial) <= CasadiQP.tolerance:
                break
            numbers |= {"x0": z, "lam_x0": np.where(z > lower, 0.0, -1.0)}
        return replace(best, iterations=iterations)

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


def _polished(qp: QP, scaled: NormalisedQP, u: Array, multipliers: Array, status: str, iterations: int) -> Solution:
    """The polished solution from normalised unknowns."""
    return polished_qp(qp, Solution(scaled.x(u), scaled.signed_y(multipliers), status, iterations, "CasadiQP"))
