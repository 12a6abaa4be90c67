"""Newton's method on contact conditions: on nonsmooth equations, and, as a fallback in space, along a smoothed path."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, FrictionContact, Session, Solution
from nonsmooth.settings import settings, shown
from nonsmooth.solvers.polish import polished_contact
from nonsmooth.solvers.session import Algorithm, NormalisedContact, SolverSession, normalised_contact

FORMULATIONS = ("alart-curnier", "fischer-burmeister")
ROUNDS = 8


@settings
class SemismoothNewton(Algorithm):
    """Newton's method on nonsmooth equations equivalent to the contact conditions; a few steps for up to 50 contacts.

    InputError for an unknown formulation.

    Parameters
    ----------
    formulation : str
        - "alart-curnier": z = proj(z - u) on half-lines and on the disks of radius mu (P_N - u_N). Piecewise linear in
          the plane, so that it ends after finitely many steps, in effect an active-set method.
        - "fischer-burmeister": x + y = (x^2 + y^2)^(1/2) in the Jordan algebra of the cone, x the impulse and y the
          velocity with de Saxcé's correction. It requires twice the steps, and succeeds somewhat more often for highly
          redundant contacts.
    max_iterations : int
        Largest total number of Newton steps.

    Notes
    -----
    Globalised in two ways: a step is halved until |F|^2 is below the largest of its last five values; after ten steps
    without progress, Gauss-Seidel sweeps (20, 40, ..., 2560) provide another initial guess. For redundant rows a
    regularisation of 1e-11 to 1e-5 is added to the Jacobian only. The warm start is the guess's impulses.

    References
    ----------
    Alart, Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991), 353-375; Fukushima, Luo, Tseng, SIAM J. Optim. 12
    (2002), 436-460 (the function of the cone).
    """

    formulation: str = "alart-curnier"
    max_iterations: int = 1000

    tolerance: ClassVar[float] = 1e-12
    programs = (LCP, FrictionContact)
    taken = "an LCP or a FrictionContact"

    def __post_init__(self) -> None:
        if self.formulation not in FORMULATIONS:
            raise InputError(
                f"SemismoothNewton has no formulation {shown(self.formulation)}; it takes {' or '.join(FORMULATIONS)}."
            )

    def setup(self) -> Session:
        from nonsmooth.solvers.kernels.friction import newton

        return SemismoothNewtonSession(self, newton)


class SemismoothNewtonSession(SolverSession):
    """`SemismoothNewton` session without internal state."""

    def _solve(self, program: LCP | FrictionContact, guess: Solution | None) -> Solution:
        scaled, limit = normalised_contact(program), self._settings.max_iterations
        kind = FORMULATIONS.index(self._settings.formulation)
        # below the tolerance, since the residual of the program is rounded differently
        target = 0.1 * SemismoothNewton.tolerance
        z, iterations, _ = self._kernel(
            kind, scaled.A, scaled.b, scaled.mu, scaled.d, scaled.e, scaled.start(guess), limit, ROUNDS, target
        )
        complaint = "max_iter" if iterations >= limit else "stagnated after the last sweeps"
        return scaled.solution(z, iterations, self._settings, complaint)


# ---- along a smoothed path

#: Newton steps times contacts in Python, about two seconds, before compilation, which takes fifteen
UNCOMPILED = 5000
#: initial s, number of stored merits and growth of the regularisation of each path, the most successful first
PATHS = ((10.0, 20, 10.0), (10.0, 10, 30.0), (10.0, 5, 3.0), (1.0, 5, 10.0), (100.0, 5, 10.0), (1.0, 1, 3.0))


@settings
class SmoothingNewton(Algorithm):
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
    programs = (FrictionContact,)
    dimensions = (3,)
    taken = "a FrictionContact in space"

    def setup(self) -> Session:
        from nonsmooth.solvers.kernels.smoothing import follow, uncompiled

        return SmoothingNewtonSession(self, follow, uncompiled())


class SmoothingNewtonSession(SolverSession):
    """`SmoothingNewton` session: uses compiled code once its work without it exceeds the cost of compilation."""

    def __init__(self, settings: SmoothingNewton, kernel: Callable[..., Any], uncompiled: Callable[..., Any]) -> None:
        super().__init__(settings, kernel)
        self._uncompiled, self._work = uncompiled, 0

    def snapshot(self) -> int:
        """For a checkpoint: compiled code may round differently, and must be used from the same program on."""
        return self._work

    def restore(self, saved: int) -> None:
        """Continue from a checkpoint."""
        self._work = int(saved)

    def _solve(self, program: FrictionContact, guess: Solution | None) -> Solution:
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
