"""Base of programs and solvers: solution, solver, session, and the program with its residual."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array

#: guards the division by a scale that is zero because all of its terms are: 0 / TINY = 0
TINY = float(np.finfo(float).tiny)
#: bounds of the scale of a row or an unknown, as multiples of the size of the free motion
FLOOR, CAP = 1e-3, 10.0


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a solver; accepted only if `Program.residual`, evaluated independently, is below tolerance.

    Parameters
    ----------
    x : primal unknowns of the program
    y : multipliers or complementary unknowns, one per row or pair
    status : of the solver, "solved", "max_iter", ...
    iterations : count of the solver: pivots, Newton steps, sweeps
    solver : class name of the solver's settings
    active : rows or pairs; a warm start for the next program of the same shape
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

    def worst(self, solution: Solution) -> tuple[str, float]:
        """Name of the row that gives the residual, and its value."""


class Session(Protocol):
    """A solver session: workspaces and factorisations, reused from program to program."""

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        """Solve as well as possible. If a program cannot be solved, return the last iterate without an exception."""


class Solver(Protocol):
    """Settings of one algorithm: a frozen dataclass. `tolerance` is the residual guaranteed for programs that fit."""

    @property
    def tolerance(self) -> float: ...

    def fits(self, program: Program) -> bool:
        """Whether the algorithm applies to this program."""

    def setup(self) -> Session:
        """Create a session; raises SolverMissing if the library that the solver needs is not installed."""


class ProgramWithRows(ABC):
    """Base of programs whose residual is the largest of several scaled violations."""

    b: Array
    names: tuple[str, ...]

    @abstractmethod
    def errors(self, solution: Solution) -> Array:
        """Scaled violation of every condition [-]."""

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows."""
        return self.names or tuple(f"row {i}" for i in range(self.b.size))

    @property
    def error_names(self) -> tuple[str, ...]:
        """Names of the entries of `errors`."""
        return self.row_names

    def residual(self, solution: Solution) -> float:
        """Largest of `errors` [-]; infinite where a number is not finite."""
        errors = self.errors(solution)
        value = float(errors.max()) if errors.size else 0.0
        return value if math.isfinite(value) else math.inf

    def worst(self, solution: Solution) -> tuple[str, float]:
        """Name of the row that gives the residual, and its value; ("nothing", 0) of no rows."""
        errors = self.errors(solution)
        if errors.size == 0:
            return "nothing", 0.0
        i = int(np.argmax(errors))  # argmax stops at the first nan
        value = float(errors[i])
        return self.error_names[i], value if math.isfinite(value) else math.inf


def free_motion_scales(A: Array, b: Array, z: Array, requested: Array) -> tuple[Array, Array]:
    """Scale of each row of A z + b, the sum of the absolute values of its terms, and the size of its value in free
    motion, of which terms of z are at most CAP times: otherwise the unbounded z of a contradiction would certify it."""
    diagonal = np.abs(A.diagonal())
    requested[diagonal == 0.0] = 0.0
    size = np.sqrt(diagonal * (requested @ (requested / np.maximum(diagonal, TINY))))
    return np.minimum(np.abs(A) @ np.abs(z), CAP * size) + np.abs(b), size
