"""Solvers that determine modes: active sets, complementary pivoting, enumeration; exact once the modes are right."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, MPCC, QP, FrictionContact, Program, Session, Solution, lcp_from_friction_contact
from nonsmooth.settings import settings
from nonsmooth.solvers.kernels import TimedKernel
from nonsmooth.solvers.polish import polished_contact, polished_qp
from nonsmooth.solvers.session import Algorithm, NormalisedContact, SolverSession, normalised_contact

#: residual below which Newton's method stops
ROUND_OFF = 1e-14
NEWTON_STEPS = 50
PATIENCE = 8
INDEFINITE = "H is not positive definite, so that its dual does not exist; each mass and inertia must be positive"


@settings
class ActiveSet(Algorithm):
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
    programs = (LCP, QP, MPCC, FrictionContact)
    dimensions = (2,)
    taken = "a QP, LCP, MPCC or FrictionContact in the plane"

    def fits(self, program: Program) -> bool:
        """Any LCP or QP, any FrictionContact in the plane, and any MPCC with as many free x as equations."""
        return super().fits(program) and not (isinstance(program, MPCC) and not program.determined)

    def setup(self) -> Session:
        return ActiveSetSession(self)


class ActiveSetSession(SolverSession):
    """`ActiveSet` session without internal state: the warm start is the guess's active set."""

    def __init__(self, settings: ActiveSet) -> None:
        from nonsmooth.solvers.kernels.active_set import mixed_lcp, newton_step, quadratic_program

        super().__init__(settings)
        self._mixed_lcp, self._quadratic_program, self._newton_step = (
            TimedKernel(kernel, "ActiveSet") for kernel in (mixed_lcp, quadratic_program, newton_step)
        )

    def _solve(self, program: LCP | QP | MPCC | FrictionContact, guess: Solution | None) -> Solution:
        if isinstance(program, LCP):
            return self._solve_lcp(program, guess)
        if isinstance(program, MPCC):
            return self._solve_mpcc(program, guess)
        if isinstance(program, FrictionContact):
            return _planar_friction(normalised_contact(program), guess, self._solve_lcp, self._settings)
        H, f, A, b = (_own(array) for array in (program.H, program.f, program.A, program.b))
        start = _active(guess, b.size)
        x, y, active, iterations, error, lost = self._quadratic_program(
            H, f, A, b, program.equalities, start, self._settings.max_iterations
        )
        if iterations < 0:
            return Solution(x, y, INDEFINITE, 0, "ActiveSet")
        status = "solved" if error <= ActiveSet.tolerance else "stopped"
        solution = Solution(x, y, status, iterations, "ActiveSet", active)
        return polished_qp(program, solution) if lost and np.isfinite(x).all() else solution

    def _solve_lcp(self, lcp: LCP, guess: Solution | None) -> Solution:
        start = _active(guess, lcp.b.size)
        z, w, active, iterations, error = self._mixed_lcp(
            _own(lcp.A), _own(lcp.b), lcp.bilateral, start, self._settings.max_iterations
        )
        status = "solved" if error <= ActiveSet.tolerance else "stopped"
        return Solution(w, z, status, iterations, "ActiveSet", active)

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


# ---- friction in the plane through its exact LCP

#: regularisation of the unit diagonal until bilateral and tangential rows are independent; refinement removes its
#: effect
SHIFTS = (0.0, 1e-6, 1e-4)
REFINEMENTS = 20
PLANAR_ROUND_OFF = 1e-15
NEAR = 1e-3  # residual below which Newton steps are tried on a solution with a regularised diagonal


def _planar_friction(
    scaled: NormalisedContact, guess: Solution | None, solve: Callable[[LCP, Solution | None], Solution], solver: Any
) -> Solution:
    """Solve a FrictionContact in the plane through `lcp_from_friction_contact`, to the tolerance of `solver`; if the
    rows that it eliminates are dependent, by the proximal-point method: A + s and b - s z with z of the program
    before."""
    m, e, active = scaled.b.size, scaled.e, None
    if guess is not None and guess.active is not None and guess.active.shape == guess.x.shape == scaled.b.shape:
        # rows of the LCP whose unknown is positive: closed, slipping forward, slipping backward
        rows = scaled.contact_rows(guess.active)
        slip = np.where(rows[:, 1], 0.0, scaled.contact_rows(guess.x)[:, 1])[scaled.mu > 0.0]
        active = np.concatenate((rows[:, 0], slip > 0.0, slip < 0.0))
    best, error = np.zeros(m), np.inf
    iterations, complaint = 0, ""
    for shift in SHIFTS:
        z, stagnation = np.zeros(m), 0
        for _ in range(REFINEMENTS):
            A = scaled.A + shift * np.eye(m) if shift else scaled.A
            shifted = FrictionContact(A, scaled.b - shift * z, scaled.mu, scaled.d, e)
            try:
                lcp, recover = lcp_from_friction_contact(shifted)
            except InputError:
                break
            start = None if active is None else Solution(lcp.b, np.zeros(lcp.b.size), "", 0, "", active)
            answer = solve(lcp, start)
            iterations += answer.iterations
            if answer.status != "solved":
                complaint = complaint or answer.status.split(": residual")[0]
            if not np.isfinite(answer.y).all():
                break
            z, active = recover(answer.y), answer.active
            found = scaled.residual(z)
            if PLANAR_ROUND_OFF < found < NEAR and shift:
                z = polished_contact(scaled, z)
                found = scaled.residual(z)
            stagnation = 0 if found < 0.5 * error else stagnation + 1
            if found < error:
                best, error = z, found
            if shift == 0.0 or error <= PLANAR_ROUND_OFF or stagnation == 2:
                break
        if error <= 0.1 * solver.tolerance:
            break
    return scaled.solution(best, iterations, solver, complaint or "no solution without a regularised diagonal")


# ---- Lemke's method

#: meaning of the end of the path, by the kernel's number
ENDS = (
    "solved",
    "ray: no complementary path leads to a solution; if A is copositive (impacts, friction), there is none",
    "max_pivots",
)


@settings
class Lemke(Algorithm):
    """Complementary pivoting with a covering vector of ones and the lexicographic ratio test, which cannot cycle.

    A FrictionContact in the plane goes through `lcp_from_friction_contact`, whose matrix is copositive: the method then
    ends with a solution, or on a ray, which proves that there is none. It has no warm start; the cost of a pivot is
    proportional to the square of the number of rows.

    Parameters
    ----------
    max_pivots : int
        Usually one to two times the number of rows.

    References
    ----------
    Lemke, Management Science 11 (1965), 681-689; Cottle, Pang, Stone, The Linear Complementarity Problem (1992).
    """

    max_pivots: int = 10000

    tolerance: ClassVar[float] = 1e-11
    programs = (LCP, FrictionContact)
    dimensions = (2,)
    taken = "an LCP or a FrictionContact in the plane"

    def setup(self) -> Session:
        from nonsmooth.solvers.kernels.pivoting import lemke

        return LemkeSession(self, lemke)


class LemkeSession(SolverSession):
    """`Lemke` session without internal state: each path begins at infinity, whatever the guess."""

    def _solve(self, program: LCP | FrictionContact, guess: Solution | None) -> Solution:
        scaled = normalised_contact(program)
        if isinstance(program, FrictionContact):
            return _planar_friction(scaled, None, lambda lcp, _: self.solve(lcp), self._settings)
        z, _, pivots, end, _ = self._kernel(scaled.A, scaled.b, scaled.e, self._settings.max_pivots)
        return scaled.solution(z, pivots, self._settings, ENDS[end] if end else "lost to round-off")


# ---- enumeration

OPEN, STICK, FORWARD, BACKWARD = range(4)


@settings
class ModeEnumeration(Algorithm):
    """Open, stick, slip forward or backward for every contact; open or closed for every row of an LCP.

    For given modes the conditions are linear equations. Those of the guess are tried first, then all that differ in one
    contact, in two, ..., until a solution is certified. It cannot cycle or miss a solution, but its time grows by a
    factor of four with each contact.

    Parameters
    ----------
    max_modes : int
        Largest number of combinations: 4096 are 6 contacts with friction or an LCP of 12 rows, about 2 ms.
    """

    max_modes: int = 4096

    tolerance: ClassVar[float] = 1e-12
    programs = (object,)

    def fits(self, program: Program) -> bool:
        """A FrictionContact in the plane or an LCP, small enough."""
        if isinstance(program, LCP):
            return bool(2 ** (program.b.size - program.bilateral) <= self.max_modes)
        planar = isinstance(program, FrictionContact) and program.dimension == 2
        return planar and 4**program.contacts <= self.max_modes  # type: ignore[attr-defined]

    def setup(self) -> Session:
        from nonsmooth.solvers.kernels.pivoting import enumerate_modes

        return ModeEnumerationSession(self, enumerate_modes)


class ModeEnumerationSession(SolverSession):
    """`ModeEnumeration` session without internal state."""

    def _solve(self, program: LCP | FrictionContact, guess: Solution | None) -> Solution:
        """First the modes of the guess; without one all contacts stick, frictionless ones slip."""
        if not self._settings.fits(program):
            raise InputError(
                f"{self._settings} takes an LCP or a FrictionContact in the plane with at most that many modes."
            )
        scaled = normalised_contact(program)
        modes = np.full(scaled.mu.size, STICK)
        if guess is not None and guess.active is not None and guess.active.shape == scaled.b.shape:
            active = scaled.contact_rows(guess.active)
            modes[~active[:, 0]] = OPEN
            if scaled.d == 2 and guess.x.shape == scaled.b.shape:
                slips = active[:, 0] & ~active[:, 1]
                modes[slips] = np.where(scaled.contact_rows(guess.x)[slips, 1] > 0.0, FORWARD, BACKWARD)
        if scaled.d == 2:
            modes[(scaled.mu == 0.0) & (modes != OPEN)] = FORWARD
        # below the tolerance, since the residual of the program is rounded differently
        target = 0.1 * ModeEnumeration.tolerance
        z, tried, _ = self._kernel(scaled.A, scaled.b, scaled.mu, scaled.d, scaled.e, modes, target)
        return scaled.solution(z, tried, self._settings, "no mode is certified")
