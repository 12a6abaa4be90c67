"""Semismooth Newton on the natural map or on Fischer and Burmeister's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, FrictionContact, Program, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.kernels import Told
from nonsmooth.solvers.normalised import normalised_contact, unanswered

__all__ = ["SemismoothNewton"]

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

    def setup(self) -> SemismoothNewtonSession:
        """Load the compiled kernel."""
        from nonsmooth.solvers.kernels.friction import newton

        return SemismoothNewtonSession(Told(newton, "SemismoothNewton"), self)


class SemismoothNewtonSession:
    """`SemismoothNewton` session without internal state."""

    def __init__(self, kernel: Callable[..., Any], settings: SemismoothNewton) -> None:
        self._kernel = kernel
        self._settings = settings

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        """Solve an LCP or a FrictionContact."""
        if not isinstance(program, (LCP, FrictionContact)):
            raise InputError(f"SemismoothNewton takes an LCP or a FrictionContact, got {type(program).__name__}.")
        try:
            scaled = normalised_contact(program)
        except ValueError as error:
            return unanswered(program, str(error), "SemismoothNewton")
        kind, limit = FORMULATIONS.index(self._settings.formulation), self._settings.max_iterations
        z, iterations, _ = self._kernel(
            kind, scaled.A, scaled.b, scaled.mu, scaled.d, scaled.e, scaled.start(guess), limit, ROUNDS, self._target
        )
        complaint = "max_iter" if iterations >= limit else "stagnated after the last sweeps"
        return scaled.solution(z, iterations, "SemismoothNewton", SemismoothNewton.tolerance, complaint)

    @property
    def _target(self) -> float:
        """Below the tolerance, since the residual of the program is rounded differently."""
        return 0.1 * SemismoothNewton.tolerance
