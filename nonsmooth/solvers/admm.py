"""Alternating directions on the cone of friction, for many contacts in space."""

from typing import ClassVar

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs import ConeQP, FrictionContact, Program, Session, Solution
from nonsmooth.programs.base import TINY
from nonsmooth.programs.projections import SecondOrderCone
from nonsmooth.settings import settings
from nonsmooth.solvers.normalised import NormalisedContact, normalised_contact
from nonsmooth.solvers.polish import polished_contact
from nonsmooth.solvers.session import SolverSession

RELAXATION = 1.6
PENALTY, PENALTIES = 0.1, (1e-6, 1e4)  # initial penalty, and its range; A has a unit diagonal
EVERY = 25  # iterations between two evaluations of the residual
IMBALANCE = 5.0  # ratio of primal and dual residual at which the penalty changes
HANDED_OVER = 1e-3  # residual at which Newton's method is tried
POLISHED = 1e-12


@settings
class Admm:
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

    def fits(self, program: Program) -> bool:
        """Any FrictionContact or ConeQP."""
        return isinstance(program, (FrictionContact, ConeQP))

    def setup(self) -> Session:
        """Requires NumPy only."""
        return AdmmSession(self)


class AdmmSession(SolverSession):
    """`Admm` session without internal state: the warm start is the guess's impulses."""

    programs, taken = (FrictionContact, ConeQP), "a FrictionContact or a ConeQP"

    def _solve(self, program: FrictionContact | ConeQP, guess: Solution | None) -> Solution:
        scaled = normalised_contact(program)
        z, iterations = self._iterate(scaled, scaled.start(guess), exact=isinstance(program, FrictionContact))
        return scaled.solution(z, iterations, self._settings, "max_iter")

    def _iterate(self, scaled: NormalisedContact, start: Array, exact: bool) -> tuple[Array, int]:
        """Iterate until the residual is below tolerance: x solves the equations, z lies in the cones, y = -(u +
        correction)."""
        m, cone = scaled.b.size, SecondOrderCone(scaled.mu)
        target = 0.1 * Admm.tolerance
        z, y = start, -(scaled.A @ start + scaled.b)
        best, error, tried = z, np.inf, HANDED_OVER
        penalty = PENALTY
        inverse = np.linalg.inv(scaled.A + penalty * np.eye(m))
        for iteration in range(1, self._settings.max_iterations + 1):
            right = penalty * z - y - scaled.b
            if exact:
                slip = np.linalg.norm(scaled.contact_rows(y)[:, 1:], axis=1)
                scaled.contact_rows(right)[:, 0] -= scaled.mu * slip
            x = inverse @ right
            relaxed = RELAXATION * x + (1.0 - RELAXATION) * z
            point = relaxed + y / penalty
            before, z = z, point.copy()
            scaled.contact_rows(z)[:] = cone.project(scaled.contact_rows(point))
            y = penalty * (point - z)
            if iteration % EVERY:
                continue
            found = scaled.residual(z)
            if found < error:
                best, error = z, found
            if self._settings.polish and error <= 0.1 * tried:
                tried, polished = error, polished_contact(scaled, best)
                if scaled.residual(polished) <= POLISHED:
                    return polished, iteration
            if error <= target or not np.isfinite(found):
                return best, iteration
            primal, dual = float(np.linalg.norm(x - z)), penalty * float(np.linalg.norm(z - before))
            if primal > IMBALANCE * dual or dual > IMBALANCE * primal:
                penalty = float(np.clip(penalty * np.sqrt(primal / max(dual, TINY)), *PENALTIES))
                inverse = np.linalg.inv(scaled.A + penalty * np.eye(m))
        return best, self._settings.max_iterations
