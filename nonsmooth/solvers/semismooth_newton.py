"""Semismooth Newton on the natural map or on Fischer and Burmeister's function."""

from typing import ClassVar

from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, FrictionContact, Program, Session, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.normalised import normalised_contact
from nonsmooth.solvers.session import SolverSession

FORMULATIONS = ("alart-curnier", "fischer-burmeister")
ROUNDS = 8


@settings
class SemismoothNewton:
    """Newton's method on nonsmooth equations equivalent to the contact conditions; a few steps for up to 50 contacts.

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

    Raises
    ------
    InputError
        For an unknown formulation.

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

    def __post_init__(self) -> None:
        if self.formulation not in FORMULATIONS:
            raise InputError(
                f"SemismoothNewton has no formulation {self.formulation!r}; it takes {' or '.join(FORMULATIONS)}."
            )

    def fits(self, program: Program) -> bool:
        """Any LCP or FrictionContact."""
        return isinstance(program, (LCP, FrictionContact))

    def setup(self) -> Session:
        """Load the compiled kernel."""
        from nonsmooth.solvers.kernels.friction import newton

        return SemismoothNewtonSession(self, newton)


class SemismoothNewtonSession(SolverSession):
    """`SemismoothNewton` session without internal state."""

    programs, taken = (LCP, FrictionContact), "an LCP or a FrictionContact"

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
