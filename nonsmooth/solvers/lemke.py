"""Lemke's method: finite complementary pivoting, which ends with a solution or on a ray."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, FrictionContact, Program, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.kernels import Told
from nonsmooth.solvers.normalised import normalised_contact, unanswered
from nonsmooth.solvers.planar import planar_answer

__all__ = ["Lemke"]

#: meaning of the end of the path, by the kernel's number
ENDS = (
    "solved",
    "ray: no complementary path leads to a solution; if A is copositive (impacts, friction), there is none",
    "max_pivots",
)


@settings
class Lemke:
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

    def fits(self, program: Program) -> bool:
        """Any LCP; a FrictionContact in the plane."""
        return isinstance(program, LCP) or (isinstance(program, FrictionContact) and program.dimension == 2)

    def setup(self) -> LemkeSession:
        """Load the compiled kernel."""
        from nonsmooth.solvers.kernels.lemke import lemke

        return LemkeSession(Told(lemke, "Lemke"), self.max_pivots)


class LemkeSession:
    """`Lemke` session without internal state."""

    def __init__(self, kernel: Callable[..., Any], max_pivots: int) -> None:
        self._kernel = kernel
        self._max_pivots = max_pivots

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        """Solve an LCP or a FrictionContact in the plane; the guess is not used: each path begins at infinity."""
        if isinstance(program, LCP):
            return self._solve_lcp(program)
        if not isinstance(program, FrictionContact) or program.dimension != 2:
            raise InputError(f"Lemke takes an LCP or a FrictionContact in the plane, got {type(program).__name__}.")
        try:
            scaled = normalised_contact(program)
        except ValueError as error:
            return unanswered(program, str(error), "Lemke")
        return planar_answer(scaled, None, lambda lcp, _: self._solve_lcp(lcp), "Lemke", Lemke.tolerance)

    def _solve_lcp(self, lcp: LCP) -> Solution:
        try:
            scaled = normalised_contact(lcp)
        except ValueError as error:
            return unanswered(lcp, str(error), "Lemke")
        z, _, pivots, end, _ = self._kernel(scaled.A, scaled.b, scaled.e, self._max_pivots)
        return scaled.solution(z, pivots, "Lemke", Lemke.tolerance, ENDS[end] if end else "lost to round-off")
