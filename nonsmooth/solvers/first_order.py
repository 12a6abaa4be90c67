"""First-order methods, whose error decreases by a factor per iteration: Gauss-Seidel, and splitting on cones."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, QP, ConeQP, FrictionContact, Program, Session, Solution, lcp_from_qp
from nonsmooth.programs.base import TINY
from nonsmooth.programs.projections import SecondOrderCone
from nonsmooth.settings import settings
from nonsmooth.solvers.polish import polished_contact
from nonsmooth.solvers.session import Algorithm, SolverSession, Unsolvable, normalised_contact

#: Gauss-Seidel sweeps, and iterations of ADMM, between two evaluations of the residual
SWEEPS, ITERATIONS = 10, 25


@settings
class ProjectedGaussSeidel(Algorithm):
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
    programs = (LCP, QP, FrictionContact)
    taken = "a QP, LCP or FrictionContact"

    def fits(self, program: Program) -> bool:
        """Any QP or FrictionContact; an LCP with a positive diagonal on its complementary rows."""
        if isinstance(program, LCP):
            return bool((program.A.diagonal()[program.bilateral :] > 0.0).all())
        return super().fits(program)

    def setup(self) -> Session:
        from nonsmooth.solvers.kernels.friction import sweep

        return ProjectedGaussSeidelSession(self, sweep)


class ProjectedGaussSeidelSession(SolverSession):
    """`ProjectedGaussSeidel` session without internal state: the warm start is the guess's impulses."""

    def _solve(self, program: LCP | QP | FrictionContact, guess: Solution | None) -> Solution:
        if isinstance(program, QP):
            with np.errstate(all="ignore"):  # numbers that are not finite remain so and are rejected by the residual
                try:
                    lcp, recover = lcp_from_qp(program)
                except InputError as error:
                    raise Unsolvable(str(error)) from error
            answer = self.solve(lcp, guess)
            if not np.isfinite(answer.y).all():
                raise Unsolvable(answer.status)
            solution = replace(answer, x=recover(answer.y), status="solved")
            residual = program.residual(solution)
            if residual <= ProjectedGaussSeidel.tolerance:
                return solution
            return replace(solution, status=f"stopped after {answer.iterations} sweeps: residual {residual:.1e}")
        scaled, limit = normalised_contact(program), self._settings.max_sweeps
        e, z = scaled.e, scaled.start(guess)
        A, b = scaled.A, scaled.b
        if e:
            eliminated = np.linalg.lstsq(A[:e, :e], np.column_stack((A[:e, e:], b[:e])), rcond=1e-12)[0]
            reduced = np.column_stack((A[e:, e:], b[e:])) - A[e:, :e] @ eliminated
            A, b = np.ascontiguousarray(reduced[:, :-1]), np.ascontiguousarray(reduced[:, -1])
        contacts = np.ascontiguousarray(z[e:])
        target = 0.1 * ProjectedGaussSeidel.tolerance
        sweeps, _ = self._kernel(A, b, scaled.mu, scaled.d, 0, contacts, limit, SWEEPS, target)
        z[e:] = contacts
        if e:
            z[:e] = -eliminated @ np.append(contacts, 1.0)
        return scaled.solution(z, sweeps, self._settings, "max_iter" if sweeps >= limit else "stopped")


# ---- ADMM

RELAXATION = 1.6
PENALTY, PENALTIES = 0.1, (1e-6, 1e4)  # initial penalty, and its range; A has a unit diagonal
IMBALANCE = 5.0  # ratio of primal and dual residual at which the penalty changes
HANDED_OVER = 1e-3  # residual at which Newton's method is tried
POLISHED = 1e-12


@settings
class Admm(Algorithm):
    """Operator splitting: one copy of z satisfies the equations of motion, the other lies in the cones; both converge.

    An iteration is a product with one inverse matrix and a projection on each cone, whatever the rank of A. De Saxcé's
    correction mu |u_T| is updated in every iteration, so that the limit satisfies Coulomb's law; without it (`ConeQP`)
    the method always converges.

    Parameters
    ----------
    max_iterations : int
    polish : bool
        Try a few semismooth Newton steps each time the residual has decreased to a tenth, and keep them only if they
        are certified. Omitted without numba.

    References
    ----------
    Boyd et al., Found. Trends Mach. Learn. 3 (2011), 1-122; Carpentier, Montaut, Le Lidec, From compliant to rigid
    contact simulation: a unified and efficient approach, Robotics: Science and Systems (2024).
    """

    max_iterations: int = 5000
    polish: bool = True

    tolerance: ClassVar[float] = 1e-9
    programs = (FrictionContact, ConeQP)
    taken = "a FrictionContact or a ConeQP"

    def setup(self) -> Session:
        return AdmmSession(self)


class AdmmSession(SolverSession):
    """`Admm` session without internal state: the warm start is the guess's impulses."""

    def _solve(self, program: FrictionContact | ConeQP, guess: Solution | None) -> Solution:
        """x solves the equations, z lies in the cones, y = -(u + correction), until the residual is below tolerance."""
        scaled = normalised_contact(program)
        m, cone = scaled.b.size, SecondOrderCone(scaled.mu)
        target = 0.1 * Admm.tolerance
        z = scaled.start(guess)
        y = -(scaled.A @ z + scaled.b)
        best, error, tried = z, np.inf, HANDED_OVER
        penalty = PENALTY
        inverse = np.linalg.inv(scaled.A + penalty * np.eye(m))
        iteration = 0
        for iteration in range(1, self._settings.max_iterations + 1):
            right = penalty * z - y - scaled.b
            if isinstance(program, FrictionContact):
                slip = np.linalg.norm(scaled.contact_rows(y)[:, 1:], axis=1)
                scaled.contact_rows(right)[:, 0] -= scaled.mu * slip
            x = inverse @ right
            relaxed = RELAXATION * x + (1.0 - RELAXATION) * z
            point = relaxed + y / penalty
            before, z = z, point.copy()
            scaled.contact_rows(z)[:] = cone.project(scaled.contact_rows(point))
            y = penalty * (point - z)
            if iteration % ITERATIONS:
                continue
            found = scaled.residual(z)
            if found < error:
                best, error = z, found
            if self._settings.polish and error <= 0.1 * tried:
                tried, polished = error, polished_contact(scaled, best)
                if scaled.residual(polished) <= POLISHED:
                    best = polished
                    break
            if error <= target or not np.isfinite(found):
                break
            primal, dual = float(np.linalg.norm(x - z)), penalty * float(np.linalg.norm(z - before))
            if primal > IMBALANCE * dual or dual > IMBALANCE * primal:
                penalty = float(np.clip(penalty * np.sqrt(primal / max(dual, TINY)), *PENALTIES))
                inverse = np.linalg.inv(scaled.A + penalty * np.eye(m))
        return scaled.solution(best, iteration, self._settings, "max_iter")
