"""Lemke's method: finite complementary pivoting, which ends with a solution or on a ray."""

from typing import ClassVar

from nonsmooth.programs import LCP, FrictionContact, Program, Session, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.normalised import normalised_contact
from nonsmooth.solvers.planar import planar_friction
from nonsmooth.solvers.session import SolverSession

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

    def setup(self) -> Session:
        """Load the compiled kernel."""
        from nonsmooth.solvers.kernels.lemke import lemke

        return LemkeSession(self, lemke)


class LemkeSession(SolverSession):
    """`Lemke` session without internal state."""

    programs, dimensions, taken = (LCP, FrictionContact), (2,), "an LCP or a FrictionContact in the plane"

    def _solve(self, program: LCP | FrictionContact, guess: Solution | None) -> Solution:
        """The guess is not used: each path begins at infinity."""
        scaled = normalised_contact(program)
        if isinstance(program, FrictionContact):
            return planar_friction(scaled, None, lambda lcp, _: self.solve(lcp), self._settings)
        z, _, pivots, end, _ = self._kernel(scaled.A, scaled.b, scaled.e, self._settings.max_pivots)
        return scaled.solution(z, pivots, self._settings, ENDS[end] if end else "lost to round-off")
