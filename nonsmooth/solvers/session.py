"""The frame of solver sessions: which programs they take, and what they return for one that cannot be solved."""

from typing import Any, ClassVar

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.programs import QP, FrictionContact, Solution
from nonsmooth.solvers.kernels import TimedKernel


class Unsolvable(ValueError):
    """A program that no algorithm can be applied to, such as one with numbers that are not finite."""


class SolverSession:
    """Base of sessions; a subclass defines `_solve` for the programs that it takes.

    Parameters
    ----------
    settings
        Of the solver, whose class names the solver in solutions and messages.
    kernel : callable, optional
        Compiled function of the solver.
    """

    #: classes of programs, dimensions of those with friction, and both in words
    programs: ClassVar[Any]
    dimensions: ClassVar[tuple[int, ...]] = (2, 3)
    taken: ClassVar[str]

    def __init__(self, settings: Any, kernel: Any = None) -> None:
        self._settings, self._name = settings, type(settings).__name__
        self._kernel = TimedKernel(kernel, self._name)

    def solve(self, program: Any, guess: Solution | None = None) -> Solution:
        """Solve a program as well as possible; the status of the solution says why it could not be solved.

        Raises
        ------
        InputError
            For a program of another kind.
        """
        if not isinstance(program, self.programs):
            raise InputError(f"{self._name} takes {self.taken}, got {type(program).__name__}.")
        if isinstance(program, FrictionContact) and program.dimension not in self.dimensions:
            plane = " in the plane" if program.dimension == 2 else ""
            raise InputError(f"{self._name} takes {self.taken}, got {type(program).__name__}{plane}.")
        try:
            return self._solve(program, guess)
        except Unsolvable as error:
            x = np.full(program.f.size if isinstance(program, QP) else program.b.size, np.nan)
            y = np.zeros(program.b.size) if isinstance(program, QP) else x
            return Solution(x, y, str(error), 0, self._name)

    def _solve(self, program: Any, guess: Solution | None) -> Solution:
        raise NotImplementedError
