"""The common base of programs and solvers: solution, solver, session, and the program with its residual."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array

__all__ = ["TINY", "Program", "Session", "Solution", "Solver", "largest", "worst_row"]

#: guards the division by a scale that is zero because all of its terms are: 0 / TINY = 0
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a solver; accepted only if `Program.residual`, evaluated independently, is below tolerance.

    Parameters
    ----------
    x : Array
        Primal unknowns of the program.
    y : Array
        Multipliers or complementary unknowns, one per row or pair.
    status : str
        Status of the solver, "solved", "max_iter", ...
    iterations : int
        Count of the solver: pivots, Newton steps, sweeps.
    solver : str
        Class name of the solver's settings.
    active : array of bool, optional
        Active rows or pairs; a warm start for the next program of the same shape.
    """

    x: Array
    y: Array
    status: str
    iterations: int
    solver: str
    active: NDArray[np.bool_] | None = None


@runtime_checkable
class Program(Protocol):
    """Data of a mathematical program, and the residual of a solution."""

    def residual(self, solution: Solution) -> float:
        """Largest scaled violation of the program's conditions [-]; infinite where a number is not finite."""
        ...

    def worst(self, solution: Solution) -> tuple[str, float]:
        """Name of the row that gives the residual, and its value."""
        ...


class Session(Protocol):
    """A solver session: workspaces and factorisations, reused from program to program."""

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        """Solve as well as possible. If a program cannot be solved, return the last iterate without an exception."""
        ...


class Solver(Protocol):
    """Settings of one algorithm: a frozen dataclass. `tolerance` is the residual that it guarantees for programs that
    it fits."""

    @property
    def tolerance(self) -> float: ...

    def fits(self, program: Program) -> bool:
        """Whether the algorithm applies to this program."""
        ...

    def setup(self) -> Session:
        """Create a session.

        Raises
        ------
        SolverMissing
            If the library that the solver needs is not installed.
        """
        ...


def worst_row(values: Array, names: Sequence[str]) -> tuple[str, float]:
    """Name and value of the largest entry, where nan counts as infinite; ("nothing", 0) of no rows.

    >>> worst_row(np.array([0.0, np.nan]), ["a", "b"])
    ('b', inf)
    """
    if values.size == 0:
        return "nothing", 0.0
    i = int(np.argmax(values))  # argmax stops at the first nan
    value = float(values[i])
    return names[i], value if np.isfinite(value) else float("inf")


def largest(values: Array) -> float:
    """The value of `worst_row` without its name."""
    if values.size == 0:
        return 0.0
    value = float(values.max())
    return value if math.isfinite(value) else math.inf
