"""The active-set solver: principal pivoting on the linear complementarity problem behind each program."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs import LCP, MPCC, QP, FrictionContact, Program, Session, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.kernels import TimedKernel
from nonsmooth.solvers.normalised import normalised_contact
from nonsmooth.solvers.planar import planar_friction
from nonsmooth.solvers.polish import polished_qp
from nonsmooth.solvers.session import SolverSession

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

    def setup(self) -> Session:
        """Load the compiled kernels."""
        return ActiveSetSession(self)


class ActiveSetSession(SolverSession):
    """`ActiveSet` session without internal state: the warm start is the guess's active set."""

    programs, dimensions = (LCP, QP, MPCC, FrictionContact), (2,)
    taken = "a QP, LCP, MPCC or FrictionContact in the plane"

    def __init__(self, settings: ActiveSet) -> None:
        from nonsmooth.solvers.kernels.active_set import mixed_lcp, newton_step, quadratic_program

        super().__init__(settings)
        self._mixed_lcp, self._quadratic_program, self._newton_step = (
            TimedKernel(kernel, "ActiveSet") for kernel in (mixed_lcp, quadratic_program, newton_step)
        )

    def _solve(self, program: LCP | QP | MPCC | FrictionContact, guess: Solution | None) -> Solution:
        if isinstance(program, LCP):
            return self._solve_lcp(program, guess)
        if isinstance(program, QP):
            return self._solve_qp(program, guess)
        if isinstance(program, MPCC):
            return self._solve_mpcc(program, guess)
        return planar_friction(normalised_contact(program), guess, self._solve_lcp, self._settings)

    def _solve_lcp(self, lcp: LCP, guess: Solution | None) -> Solution:
        start = _active(guess, lcp.b.size)
        z, w, active, iterations, error = self._mixed_lcp(
            _own(lcp.A), _own(lcp.b), lcp.bilateral, start, self._settings.max_iterations
        )
        return Solution(w, z, _status(error), iterations, "ActiveSet", active)

    def _solve_qp(self, qp: QP, guess: Solution | None) -> Solution:
        start = _active(guess, qp.b.size)
        x, y, active, iterations, error, lost = self._quadratic_program(
            _own(qp.H), _own(qp.f), _own(qp.A), _own(qp.b), qp.equalities, start, self._settings.max_iterations
        )
        if iterations < 0:
            return Solution(x, y, INDEFINITE, 0, "ActiveSet")
        solution = Solution(x, y, _status(error), iterations, "ActiveSet", active)
        return polished_qp(qp, solution) if lost and np.isfinite(x).all() else solution

    def _solve_mpcc(self, mpcc: MPCC, guess: Solution | None) -> Solution:
        x, y = mpcc.start(guess)
        active = _active(guess, mpcc.binding.size)
        best, error = Solution(x, y, "start", 0, "ActiveSet", None if guess is None else guess.active), np.inf
        free, pairs = mpcc.free, np.array(mpcc.binding)
        stagnation, status = 0, "max_iter"
        for iteration in range(1, NEWTON_STEPS + 1):
            # equations and pairs linearised at (x, y); the last value tells whether the equations determine x
            x, y, active, solved = self._newton_step(
                *mpcc.structure.jacobians(x, y, mpcc.p), x, y, free, pairs, _own(mpcc.G_scale), _own(mpcc.y_scale),
                active, self._settings.max_iterations,
            )  # fmt: skip
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
        return replace(best, status=status, iterations=iteration)


def _own(array: Array) -> Array:
    """A copy in the memory layout that is compiled: numba compiles again for any other, including read-only arrays."""
    return np.array(array, dtype=float, order="C")


def _active(guess: Solution | None, size: int) -> NDArray[np.bool_]:
    """Active rows of a guess of the same shape."""
    if guess is None or guess.active is None or guess.active.size != size:
        return np.zeros(size, dtype=bool)
    return np.array(guess.active)


def _status(error: float) -> str:
    return "solved" if error <= ActiveSet.tolerance else "stopped"
