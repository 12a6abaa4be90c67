"""Enumeration of all modes of a few contacts, the most likely first."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, FrictionContact, Program, Session, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.normalised import NormalisedContact, normalised_contact
from nonsmooth.solvers.session import SolverSession

OPEN, STICK, FORWARD, BACKWARD = range(4)


@settings
class ModeEnumeration:
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

    def fits(self, program: Program) -> bool:
        """A FrictionContact in the plane or an LCP, small enough."""
        if isinstance(program, LCP):
            return bool(2 ** (program.b.size - program.bilateral) <= self.max_modes)
        planar = isinstance(program, FrictionContact) and program.dimension == 2
        return planar and 4**program.contacts <= self.max_modes  # type: ignore[attr-defined]

    def setup(self) -> Session:
        """Load the compiled kernel."""
        from nonsmooth.solvers.kernels.mode_enumeration import enumerate_modes

        return ModeEnumerationSession(self, enumerate_modes)


class ModeEnumerationSession(SolverSession):
    """`ModeEnumeration` session without internal state: the initial modes are those of the guess."""

    programs = (object,)

    def _solve(self, program: LCP | FrictionContact, guess: Solution | None) -> Solution:
        if not self._settings.fits(program):
            raise InputError(
                f"{self._settings} takes an LCP or a FrictionContact in the plane with at most that many modes."
            )
        scaled = normalised_contact(program)
        # below the tolerance, since the residual of the program is rounded differently
        target = 0.1 * ModeEnumeration.tolerance
        start = _modes(scaled, guess)
        z, tried, _ = self._kernel(scaled.A, scaled.b, scaled.mu, scaled.d, scaled.e, start, target)
        return scaled.solution(z, tried, self._settings, "no mode is certified")


def _modes(scaled: NormalisedContact, guess: Solution | None) -> NDArray[np.int64]:
    """Modes of the guess; without one all contacts stick, frictionless ones slip."""
    modes = np.full(scaled.mu.size, STICK)
    if guess is not None and guess.active is not None and guess.active.shape == scaled.b.shape:
        active = guess.active[scaled.e :].reshape(-1, scaled.d)
        modes[~active[:, 0]] = OPEN
        if scaled.d == 2 and guess.x.shape == scaled.b.shape:
            slips = active[:, 0] & ~active[:, 1]
            modes[slips] = np.where(scaled.contact_rows(guess.x)[slips, 1] > 0.0, FORWARD, BACKWARD)
    if scaled.d == 2:
        modes[(scaled.mu == 0.0) & (modes != OPEN)] = FORWARD
    return modes
