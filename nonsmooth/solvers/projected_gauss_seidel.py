"""Projected Gauss-Seidel: one contact after the other, each exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, QP, FrictionContact, Program, Solution, lcp_from_qp
from nonsmooth.settings import settings
from nonsmooth.solvers.kernels import Told
from nonsmooth.solvers.normalised import normalised_contact, unanswered

__all__ = ["ProjectedGaussSeidel"]

EVERY = 10


@settings
class ProjectedGaussSeidel:
    """Solve each contact exactly for given impulses of all others, in repeated symmetric sweeps over all contacts.

    Robust and slow: the error decreases by a constant factor per sweep, which is close to one if heavy bodies rest on
    light ones or contacts are redundant. A QP is solved through the LCP of its multipliers.

    Parameters
    ----------
    max_sweeps : int
        Largest number of sweeps.

    Notes
    -----
    Bilateral rows are eliminated first, since joints would slow down the convergence. In space a sliding contact is the
    root of a scalar function, computed to round-off. The method converges for symmetric positive definite A without
    friction; with friction it converges in practice, without proof.

    References
    ----------
    Jourdan, Alart, Jean, Comput. Methods Appl. Mech. Eng. 155 (1998), 31-47.
    """

    max_sweeps: int = 10000

    tolerance: ClassVar[float] = 1e-10

    def fits(self, program: Program) -> bool:
        """Any QP or FrictionContact; an LCP with a positive diagonal on its complementary rows."""
        if isinstance(program, LCP):
            return bool((program.A.diagonal()[program.bilateral :] > 0.0).all())
        return isinstance(program, (QP, FrictionContact))

    def setup(self) -> ProjectedGaussSeidelSession:
        """Load the compiled kernel."""
        from nonsmooth.solvers.kernels.friction import sweep

        return ProjectedGaussSeidelSession(Told(sweep, "ProjectedGaussSeidel"), self.max_sweeps)


class ProjectedGaussSeidelSession:
    """`ProjectedGaussSeidel` session without internal state: the warm start is the guess's impulses."""

    def __init__(self, kernel: Callable[..., Any], max_sweeps: int) -> None:
        self._kernel = kernel
        self._max_sweeps = max_sweeps

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        """Solve an LCP, a QP or a FrictionContact."""
        if isinstance(program, QP):
            return self._solve_qp(program, guess)
        if not isinstance(program, (LCP, FrictionContact)):
            raise InputError(f"ProjectedGaussSeidel takes a QP, LCP or FrictionContact, got {type(program).__name__}.")
        try:
            scaled = normalised_contact(program)
        except ValueError as error:
            return unanswered(program, str(error), "ProjectedGaussSeidel")
        e, z = scaled.e, scaled.start(guess)
        A, b = scaled.A, scaled.b
        if e:
            eliminated = np.linalg.lstsq(A[:e, :e], np.column_stack((A[:e, e:], b[:e])), rcond=1e-12)[0]
            reduced = np.column_stack((A[e:, e:], b[e:])) - A[e:, :e] @ eliminated
            A, b = np.ascontiguousarray(reduced[:, :-1]), np.ascontiguousarray(reduced[:, -1])
        target = 0.1 * ProjectedGaussSeidel.tolerance
        contacts = np.ascontiguousarray(z[e:])
        sweeps, _ = self._kernel(A, b, scaled.mu, scaled.d, 0, contacts, self._max_sweeps, EVERY, target)
        z[e:] = contacts
        if e:
            z[:e] = -eliminated @ np.append(contacts, 1.0)
        complaint = "max_iter" if sweeps >= self._max_sweeps else "stopped"
        return scaled.solution(z, sweeps, "ProjectedGaussSeidel", ProjectedGaussSeidel.tolerance, complaint)

    def _solve_qp(self, qp: QP, guess: Solution | None) -> Solution:
        def failed(reason: str) -> Solution:
            return Solution(np.full(qp.f.size, np.nan), np.zeros(qp.b.size), reason, 0, "ProjectedGaussSeidel")

        with np.errstate(all="ignore"):  # numbers that are not finite remain so and are rejected by the residual
            try:
                lcp, recover = lcp_from_qp(qp)
            except InputError as error:
                return failed(str(error))
        answer = self.solve(lcp, guess)
        if not np.isfinite(answer.y).all():
            return failed(answer.status)
        x: Array = recover(answer.y)
        solution = Solution(x, answer.y, "solved", answer.iterations, "ProjectedGaussSeidel", answer.active)
        residual = qp.residual(solution)
        if residual <= ProjectedGaussSeidel.tolerance:
            return solution
        status = f"stopped after {answer.iterations} sweeps: residual {residual:.1e}"
        return Solution(x, answer.y, status, answer.iterations, "ProjectedGaussSeidel", answer.active)
