"""Projected Gauss-Seidel: one contact after the other, each exactly."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, QP, FrictionContact, Program, Session, Solution, lcp_from_qp
from nonsmooth.settings import settings
from nonsmooth.solvers.normalised import normalised_contact
from nonsmooth.solvers.session import SolverSession, Unsolvable

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

    def setup(self) -> Session:
        """Load the compiled kernel."""
        from nonsmooth.solvers.kernels.friction import sweep

        return ProjectedGaussSeidelSession(self, sweep)


class ProjectedGaussSeidelSession(SolverSession):
    """`ProjectedGaussSeidel` session without internal state: the warm start is the guess's impulses."""

    programs, taken = (LCP, QP, FrictionContact), "a QP, LCP or FrictionContact"

    def _solve(self, program: LCP | QP | FrictionContact, guess: Solution | None) -> Solution:
        if isinstance(program, QP):
            return self._solve_qp(program, guess)
        scaled, limit = normalised_contact(program), self._settings.max_sweeps
        e, z = scaled.e, scaled.start(guess)
        A, b = scaled.A, scaled.b
        if e:
            eliminated = np.linalg.lstsq(A[:e, :e], np.column_stack((A[:e, e:], b[:e])), rcond=1e-12)[0]
            reduced = np.column_stack((A[e:, e:], b[e:])) - A[e:, :e] @ eliminated
            A, b = np.ascontiguousarray(reduced[:, :-1]), np.ascontiguousarray(reduced[:, -1])
        contacts = np.ascontiguousarray(z[e:])
        target = 0.1 * ProjectedGaussSeidel.tolerance
        sweeps, _ = self._kernel(A, b, scaled.mu, scaled.d, 0, contacts, limit, EVERY, target)
        z[e:] = contacts
        if e:
            z[:e] = -eliminated @ np.append(contacts, 1.0)
        return scaled.solution(z, sweeps, self._settings, "max_iter" if sweeps >= limit else "stopped")

    def _solve_qp(self, qp: QP, guess: Solution | None) -> Solution:
        with np.errstate(all="ignore"):  # numbers that are not finite remain so and are rejected by the residual
            try:
                lcp, recover = lcp_from_qp(qp)
            except InputError as error:
                raise Unsolvable(str(error)) from error
        answer = self.solve(lcp, guess)
        if not np.isfinite(answer.y).all():
            raise Unsolvable(answer.status)
        solution = replace(answer, x=recover(answer.y), status="solved")
        residual = qp.residual(solution)
        if residual <= ProjectedGaussSeidel.tolerance:
            return solution
        return replace(solution, status=f"stopped after {answer.iterations} sweeps: residual {residual:.1e}")
