"""The active-set solver: principal pivoting on the linear complementarity problem behind each program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError, SolverMissing
from nonsmooth.programs import LCP, MPCC, QP, FrictionContact, Program, Solution, lcp_from_qp
from nonsmooth.solvers.normalised import normalised_contact, unanswered
from nonsmooth.solvers.planar import planar_answer
from nonsmooth.solvers.polish import polished_qp

__all__ = ["ActiveSet"]

#: A refinement of the QP's answer is tried above this residual, and Newton's method stops below it.
ROUND_OFF = 1e-14
NEWTON_STEPS = 50
PATIENCE = 8


@dataclass(frozen=True)
class ActiveSet:
    """Find which rows bind, and solve equations on them; exact up to round-off, in a few microseconds.

    A QP is reduced to the LCP of its multipliers (`nonsmooth.programs.lcp_from_qp`). An MPCC whose equations determine
    x is solved by the Josephy-Newton method: linearise equations and gaps at the iterate, solve the mixed LCP of the
    pairs exactly, step fully; 2 to 5 steps near a solution, where it converges quadratically. A FrictionContact in the
    plane is reduced to its exact LCP (`nonsmooth.programs.lcp_from_friction_contact`), which need not have a
    P-matrix: there it may go round in circles, which it says and `Lemke` does not.

    Parameters
    ----------
    max_iterations : int
        Most pivots (factorisations) per LCP. Usual are 1 to 5 from a warm start; a nonsymmetric matrix of 20 rows far
        from its start may take hundreds.

    Notes
    -----
    Redundant rows are welcome: of the multipliers that share a load, those of nearly the least weighted norm are
    returned. It does not apply to an MPCC that has something to optimise (more free x than equations).
    """

    max_iterations: int = 2000

    tolerance: ClassVar[float] = 1e-12

    def fits(self, program: Program) -> bool:
        """Any LCP or QP, any FrictionContact in the plane, and any MPCC with as many free x as equations."""
        if isinstance(program, FrictionContact):
            return program.dimension == 2
        return isinstance(program, (LCP, QP)) or (isinstance(program, MPCC) and program.determined)

    def setup(self) -> ActiveSetSession:
        """Load the compiled kernel.

        Raises
        ------
        SolverMissing
            If numba is not installed.
        """
        try:
            from nonsmooth.native.active_set import mixed_lcp
        except ImportError as error:
            raise SolverMissing("ActiveSet needs numba, which cannot be imported: pip install numba.") from error
        return ActiveSetSession(mixed_lcp, self.max_iterations)


class ActiveSetSession:
    """`ActiveSet` at work. It remembers nothing: the warm start is the guess's active set."""

    def __init__(self, kernel: Callable[..., Any], max_iterations: int) -> None:
        self._kernel = kernel
        self._max_iterations = max_iterations

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        """Answer an LCP, a QP, a FrictionContact in the plane or a determined MPCC."""
        if isinstance(program, LCP):
            return self._solve_lcp(program, guess)
        if isinstance(program, QP):
            return self._solve_qp(program, guess)
        if isinstance(program, MPCC):
            return self._solve_mpcc(program, guess)
        if isinstance(program, FrictionContact) and program.dimension == 2:
            return self._solve_planar(program, guess)
        raise InputError(
            f"ActiveSet takes a QP, LCP, MPCC or FrictionContact in the plane, got {type(program).__name__}."
        )

    def _pivot(
        self, A: Array, b: Array, bilateral: int, active: NDArray[np.bool_] | None
    ) -> tuple[Array, Array, NDArray[np.bool_], int, str]:
        # copies in one layout: numba compiles anew for each other layout, read-only included
        start = np.zeros(b.size, bool) if active is None or active.size != b.size else np.array(active)
        z, w, active, iterations, error = self._kernel(
            np.array(A, order="C"), np.array(b), bilateral, start, self._max_iterations
        )
        return z, w, active, iterations, "solved" if error <= ActiveSet.tolerance else "stopped"

    def _solve_lcp(self, lcp: LCP, guess: Solution | None) -> Solution:
        z, w, active, iterations, status = self._pivot(lcp.A, lcp.b, lcp.bilateral, guess.active if guess else None)
        return Solution(w, z, status, iterations, "ActiveSet", active)

    def _solve_qp(self, qp: QP, guess: Solution | None) -> Solution:
        start = guess.active if guess else None
        with np.errstate(all="ignore"):  # numbers that are not finite come out as such and fail the certificate
            try:
                lcp, recover = lcp_from_qp(qp)
            except InputError as error:
                return Solution(np.full(qp.f.size, np.nan), np.zeros(qp.b.size), str(error), 0, "ActiveSet")
            y, w, active, iterations, status = self._pivot(lcp.A, lcp.b, lcp.bilateral, start)
            solution = Solution(recover(y), y, status, iterations, "ActiveSet", active)
            # the reduction loses digits where H is badly conditioned
            lost = np.abs(qp.A @ solution.x - qp.b - w) > 10 * ROUND_OFF * (np.abs(lcp.b) + np.abs(qp.b))
        return polished_qp(qp, solution) if lost.any() and np.isfinite(solution.x).all() else solution

    def _solve_planar(self, program: FrictionContact, guess: Solution | None) -> Solution:
        try:
            scaled = normalised_contact(program)
        except ValueError as error:
            return unanswered(program, str(error), "ActiveSet")
        return planar_answer(scaled, guess, self._solve_lcp, "ActiveSet", ActiveSet.tolerance)

    def _solve_mpcc(self, mpcc: MPCC, guess: Solution | None) -> Solution:
        best, error = _start(mpcc, guess), np.inf
        x, y, active = best.x, best.y, best.active
        stagnation, status = 0, "max_iter"
        for iteration in range(1, NEWTON_STEPS + 1):
            try:
                x, y, active = self._newton_step(mpcc, x, y, active)
            except np.linalg.LinAlgError:
                status = "singular equations: c_x has no inverse"
                break
            trial = Solution(x, y, "solved", iteration, "ActiveSet", active)
            trial_error = mpcc.residual(trial)
            stagnation = 0 if trial_error < 0.5 * error else stagnation + 1
            if trial_error < error:
                best, error = trial, trial_error
            if error <= ROUND_OFF or (stagnation and error <= ActiveSet.tolerance):
                return best
            if stagnation == PATIENCE or not np.isfinite(trial_error):
                status = "stagnated"
                break
        return Solution(best.x, best.y, status, iteration, "ActiveSet", best.active)

    def _newton_step(
        self, mpcc: MPCC, x: Array, y: Array, active: NDArray[np.bool_] | None
    ) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Solve c + c_x dx + c_y dy = 0 and the pairs, linearised at (x, y); exact if they are linear."""
        free, pairs = mpcc.free, mpcc.binding
        c, G, c_x, c_y, G_x, G_y = mpcc.structure.jacobians(x, y, mpcc.p)
        # x = x_0 + X Y with Y the new multipliers: c_y dy = c_y Y - c_y y
        solved = np.linalg.solve(c_x[:, free], np.concatenate(((c - c_y @ y)[:, None], c_y), axis=1))
        offset, slope = -solved[:, 0], -solved[:, 1:]
        scale, G_x = mpcc.G_scale[pairs], G_x[:, free]
        A = (G_x @ slope + G_y)[pairs][:, pairs] * mpcc.y_scale[pairs] / scale[:, None]
        b = (G + G_x @ offset - G_y @ y)[pairs] / scale
        z, _, binding, _, _ = self._pivot(A, b, 0, None if active is None else active[pairs])
        new_x, new_y, new_active = x.copy(), np.zeros_like(y), np.zeros(y.size, bool)
        new_y[pairs] = z * mpcc.y_scale[pairs]
        new_active[pairs] = binding
        new_x[free] += offset + slope @ new_y
        return new_x, new_y, new_active


def _start(mpcc: MPCC, guess: Solution | None) -> Solution:
    """The guess, or zeros, with fixed numbers put in place and bounds respected."""
    if guess is None:
        x, y, active = np.zeros(mpcc.lower.size), np.zeros(mpcc.binding.size), None
    else:
        x, y, active = guess.x, guess.y, guess.active
    return Solution(np.clip(x, mpcc.lower, mpcc.upper), np.where(mpcc.binding, y, 0.0), "start", 0, "ActiveSet", active)
