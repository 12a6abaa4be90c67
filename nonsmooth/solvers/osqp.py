"""OSQP, set up once per shape of program and then updated."""

from dataclasses import replace
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SolverMissing
from nonsmooth.programs import QP, Program, Session, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.normalised import NormalisedQP, normalised
from nonsmooth.solvers.polish import binding_rows, polished_qp
from nonsmooth.solvers.session import SolverSession

LOOSEST = 1e-9
#: iterations after which OSQP may adapt its step size; with 0 it decides by the time that factorisations take
INTERVAL = 50
#: status of OSQP
SOLVED = 1


@settings
class Osqp:
    """Operator splitting on the QP in normalised unknowns.

    Parameters
    ----------
    eps : float
        OSQP's absolute and relative tolerance [-], in (0, 1e-9]. Its default, 1e-3, gives *wrong* results for contact:
        an error of 8.8 rad/s of 150 rad/s for a slider-crank.
    max_iterations : int
    polish : bool
        Solve the equations of the active rows afterwards, kept only if the residual decreases. It refines a good
        solution and does not replace a small `eps`.

    Raises
    ------
    InputError
        For an eps out of range.

    References
    ----------
    Stellato, Banjac, Goulart, Bemporad, Boyd, Math. Program. Comput. 12 (2020), 637-672.
    """

    eps: float = 1e-10
    max_iterations: int = 20000
    polish: bool = True

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

    def fits(self, program: Program) -> bool:
        """Any QP."""
        return isinstance(program, QP)

    def setup(self) -> Session:
        """Load OSQP.

        Raises
        ------
        SolverMissing
            If osqp is not installed.
        """
        return OsqpSession(self)


class OsqpSession(SolverSession):
    """`Osqp` session: one workspace per shape."""

    programs, taken = (QP,), "a QP"

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

    def held(self) -> list[list[Any]]:
        """For a checkpoint: what the next program of each shape begins with."""
        return [[*shape, rho, x, y] for shape, (rho, x, y) in self._last.items()]

    def hold(self, held: list[list[Any]]) -> None:
        """Continue from a checkpoint."""
        self._last = {(int(m), int(n)): (float(rho), np.array(x), np.array(y)) for m, n, rho, x, y in held}

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
        x, y = scaled.x(result.x), scaled.signed_y(-result.y)
        solution = Solution(x, y, str(result.info.status), int(result.info.iter), "Osqp")
        if not (scaled.f.any() or scaled.b.any()):  # no residual relative to the data may be left of a warm start
            solution = replace(solution, x=np.zeros_like(x), y=np.zeros_like(y))
        elif self._settings.polish:
            solution = polished_qp(program, solution)
        return replace(solution, active=binding_rows(program, solution))

    def _prepared(self, scaled: NormalisedQP) -> Any:
        """A workspace with this program; an updated one if the shape is known."""
        shape = scaled.A.shape
        upper = scaled.upper
        if shape in self._workspaces:
            workspace = self._workspaces[shape]
            workspace.update(q=scaled.f, Ax=scaled.A.ravel(order="F"), l=scaled.b, u=upper)
            return workspace
        m, n = shape
        # zeros of A are stored, so that later programs of the shape fit the pattern
        entries = scaled.A.ravel(order="F"), np.tile(np.arange(m), n), np.arange(n + 1) * m
        workspace = self._workspaces[shape] = self._new()
        workspace.setup(
            self._sparse(np.eye(n)), scaled.f, self._sparse(entries, shape=shape), scaled.b, upper,
            verbose=False, polishing=False, scaling=0, eps_abs=self._settings.eps, eps_rel=self._settings.eps,
            max_iter=self._settings.max_iterations, adaptive_rho_interval=INTERVAL,
            **({"rho": self._last[shape][0]} if shape in self._last else {}),
        )  # fmt: skip
        return workspace
