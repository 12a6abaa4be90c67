"""Newton's method along a smoothed path: the fallback for friction in space."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs import FrictionContact, Program, Session, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.normalised import NormalisedContact, normalised_contact
from nonsmooth.solvers.polish import polished_contact
from nonsmooth.solvers.session import SolverSession

#: Newton steps times contacts in Python, about two seconds, before compilation, which takes fifteen
UNCOMPILED = 5000
#: initial s, number of stored merits and growth of the regularisation of each path, the most successful first
PATHS = ((10.0, 20, 10.0), (10.0, 10, 30.0), (10.0, 5, 3.0), (1.0, 5, 10.0), (100.0, 5, 10.0), (1.0, 1, 3.0))


@settings
class SmoothingNewton:
    r"""Path following from a smoothed law of friction to the exact one; slower than `SemismoothNewton`, but seldom
    fails.

    Impulse and velocity of each contact, x = (mu P_N, P_T) and y = (u_N + mu \|u_T\|, mu u_T), obey x o y = s^2 e in
    the Jordan algebra of the cone instead of x o y = 0. For s > 0 this is a smooth system of equations, in which
    redundant contacts have unique impulses. s falls from ten times the velocities to zero in 10 to 20 values with a few
    Newton steps each; the solution is then refined by Newton's method on the law itself. Six paths are tried, which
    differ in the initial s and in the required decrease of |F|.

    Parameters
    ----------
    max_iterations : int
        Largest number of Newton steps on each path.

    Notes
    -----
    If friction exceeds Painleve's threshold (mu A_NT > A_NN along the slip), the path may turn back before s is zero,
    which the solver reports. In the plane, where `Lemke` ends with a solution or a proof that there is none, it is not
    available. The initial guess is always the same: a warm start would be too close to a nonsmooth point.

    References
    ----------
    Fukushima, Luo, Tseng, SIAM J. Optim. 12 (2002), 436-460; de Saxcé, Feng, Math. Comput. Modelling 28 (1998),
    225-245.
    """

    max_iterations: int = 1500

    tolerance: ClassVar[float] = 1e-12

    def fits(self, program: Program) -> bool:
        """Any FrictionContact in space."""
        return isinstance(program, FrictionContact) and program.dimension == 3

    def setup(self) -> Session:
        """Load the compiled kernel."""
        from nonsmooth.solvers.kernels.smoothing import follow, uncompiled

        return SmoothingNewtonSession(self, follow, uncompiled())


class SmoothingNewtonSession(SolverSession):
    """`SmoothingNewton` session. Compiled code is used after the work done without it exceeds the cost of
    compilation."""

    programs, dimensions, taken = (FrictionContact,), (3,), "a FrictionContact in space"

    def __init__(self, settings: SmoothingNewton, kernel: Callable[..., Any], uncompiled: Callable[..., Any]) -> None:
        super().__init__(settings, kernel)
        self._uncompiled, self._work = uncompiled, 0

    def held(self) -> int:
        """For a checkpoint: compiled code may round differently, and must be used from the same program on."""
        return self._work

    def hold(self, held: int) -> None:
        """Continue from a checkpoint."""
        self._work = int(held)

    def _solve(self, program: FrictionContact, guess: Solution | None) -> Solution:
        """The guess is not used."""
        scaled = normalised_contact(program)
        best, limit = np.zeros(scaled.b.size), self._settings.max_iterations
        error, iterations = scaled.residual(best), 0
        for path in PATHS:
            try:
                z, used = self._follow(scaled, path)
            except np.linalg.LinAlgError:  # Newton's matrix is singular: this path ends without a point
                continue
            iterations += used
            z = polished_contact(scaled, z)
            found = scaled.residual(z)
            if found < error:
                best, error = z, found
            if error <= SmoothingNewton.tolerance:
                break
        complaint = "max_iter" if iterations >= len(PATHS) * limit else "no path led to a solution"
        return scaled.solution(best, iterations, self._settings, complaint)

    def _follow(self, scaled: NormalisedContact, path: tuple[float, int, float]) -> tuple[Array, int]:
        """The end of a path and its Newton steps, in Python as long as there are few of them."""
        numbers = scaled.A, scaled.b, scaled.mu, scaled.e, np.zeros(scaled.b.size)
        limit, contacts, target = self._settings.max_iterations, scaled.mu.size, 0.1 * SmoothingNewton.tolerance
        if self._work < UNCOMPILED:
            few = min(limit, 1 + (UNCOMPILED - self._work) // max(contacts, 1))
            with np.errstate(all="ignore"):  # as in compiled code; a value that is not finite ends the path
                z, used, error = self._uncompiled(*numbers, *path, few, target)
            self._work += used * contacts
            if error <= target or used < few or few == limit:
                return z, used
        z, used, _ = self._kernel(*numbers, *path, limit, target)
        return z, used
