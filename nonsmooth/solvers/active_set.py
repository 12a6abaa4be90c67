"""The active-set solver: principal pivoting on the linear complementarity problem behind each program."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, MPCC, QP, FrictionContact, Program, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.kernels import Told
from nonsmooth.solvers.normalised import normalised_contact, unanswered
from nonsmooth.solvers.planar import planar_answer
from nonsmooth.solvers.polish import polished_qp

__all__ = ["ActiveSet"]

Mask = NDArray[np.bool_]
#: residual below which Newton's method stops
ROUND_OFF = 1e-14
NEWTON_STEPS = 50
PATIENCE = 8
INDEFINITE = "H is not positive definite, so that its dual does not exist; each mass and inertia must be positive"


@settings
class ActiveSet:
    """Determine the active rows and solve equations on them; exact to round-off, in a few microseconds.

    A QP is reduced to the LCP of its multipliers, as by `nonsmooth.programs.lcp_from_qp`. An MPCC whose equations
    determine x is solved by the Josephy-Newton method: linearise equations and gaps at the iterate, solve the mixed LCP
    of the pairs exactly, step fully; 2 to 5 steps near a solution, where it converges quadratically. A FrictionContact
    in the plane is reduced to its exact LCP (`nonsmooth.programs.lcp_from_friction_contact`), whose matrix need not be
    a P-matrix: the method may then cycle, which it reports, while `Lemke` does not cycle.

    Parameters
    ----------
    max_iterations : int
        Largest number of pivots (factorisations) per LCP. Usually 1 to 5 from a warm start; a nonsymmetric matrix of 20
        rows may require hundreds from a poor initial guess.

    Notes
    -----
    Rows may be redundant: the multipliers returned have nearly the least weighted norm. It does not apply to an MPCC
    with an objective to be optimised (more free x than equations).
    """

    max_iterations: int = 2000

    tolerance: ClassVar[float] = 1e-12

    def fits(self, program: Program) -> bool:
        """Any LCP or QP, any FrictionContact in the plane, and any MPCC with as many free x as equations."""
        if isinstance(program, FrictionContact):
            return program.dimension == 2
        return isinstance(program, (LCP, QP)) or (isinstance(program, MPCC) and program.determined)

    def setup(self) -> ActiveSetSession:
        """Load the compiled kernels."""
        from nonsmooth.solvers.kernels import active_set as kernels

        return ActiveSetSession(kernels, self.max_iterations)


class ActiveSetSession:
    """`ActiveSet` session without internal state: the warm start is the guess's active set."""

    def __init__(self, kernels: ModuleType, max_iterations: int) -> None:
        self._kernels = kernels
        self._max_iterations = max_iterations

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        """Solve an LCP, a QP, a FrictionContact in the plane or a determined MPCC."""
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

    def _solve_lcp(self, lcp: LCP, guess: Solution | None) -> Solution:
        start = _active(guess, lcp.b.size)
        z, w, active, iterations, error = Told(self._kernels.mixed_lcp, "ActiveSet")(
            _own(lcp.A), _own(lcp.b), lcp.bilateral, start, self._max_iterations
        )
        return Solution(w, z, _status(error), iterations, "ActiveSet", active)

    def _solve_qp(self, qp: QP, guess: Solution | None) -> Solution:
        start = _active(guess, qp.b.size)
        x, y, active, iterations, error, lost = Told(self._kernels.quadratic_program, "ActiveSet")(
            _own(qp.H), _own(qp.f), _own(qp.A), _own(qp.b), qp.equalities, start, self._max_iterations
        )
        if iterations < 0:
            return Solution(x, y, INDEFINITE, 0, "ActiveSet")
        solution = Solution(x, y, _status(error), iterations, "ActiveSet", active)
        return polished_qp(qp, solution) if lost and np.isfinite(x).all() else solution

    def _solve_planar(self, program: FrictionContact, guess: Solution | None) -> Solution:
        try:
            scaled = normalised_contact(program)
        except ValueError as error:
            return unanswered(program, str(error), "ActiveSet")
        return planar_answer(scaled, guess, self._solve_lcp, "ActiveSet", ActiveSet.tolerance)

    def _solve_mpcc(self, mpcc: MPCC, guess: Solution | None) -> Solution:
        best, error = _start(mpcc, guess), np.inf
        x, y, active, free = best.x, best.y, _active(best, mpcc.binding.size), mpcc.free
        stagnation, status = 0, "max_iter"
        for iteration in range(1, NEWTON_STEPS + 1):
            x, y, active, solved = self._newton_step(mpcc, free, x, y, active)
            if not solved:
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

    def _newton_step(self, mpcc: MPCC, free: Mask, x: Array, y: Array, active: Mask) -> tuple[Array, Array, Mask, bool]:
        """Solve equations and pairs linearised at (x, y); the last value tells whether the equations determine x."""
        linearised = mpcc.structure.jacobians(x, y, mpcc.p)
        scales = _own(mpcc.G_scale), _own(mpcc.y_scale)
        new: tuple[Array, Array, Mask, bool] = Told(self._kernels.newton_step, "ActiveSet")(
            *linearised, x, y, free, np.array(mpcc.binding), *scales, active, self._max_iterations
        )
        return new


def _own(array: Array) -> Array:
    """A copy in the memory layout that is compiled: numba compiles again for any other, including read-only arrays."""
    return np.array(array, dtype=float, order="C")


def _active(guess: Solution | None, size: int) -> Mask:
    """Active rows of a guess of the same shape."""
    if guess is None or guess.active is None or guess.active.size != size:
        return np.zeros(size, dtype=bool)
    return np.array(guess.active)


def _status(error: float) -> str:
    return "solved" if error <= ActiveSet.tolerance else "stopped"


def _start(mpcc: MPCC, guess: Solution | None) -> Solution:
    """The guess, or zeros, with fixed values and within the bounds."""
    if guess is None:
        x, y, active = np.zeros(mpcc.lower.size), np.zeros(mpcc.binding.size), None
    else:
        x, y, active = guess.x, guess.y, guess.active
    x, y = np.minimum(np.maximum(x, mpcc.lower), mpcc.upper), np.where(mpcc.binding, y, 0.0)
    return Solution(x, y, "start", 0, "ActiveSet", active)
