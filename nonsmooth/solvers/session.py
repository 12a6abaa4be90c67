"""Base of solvers: settings, sessions, and programs in normalised unknowns, in which an absolute tolerance
means the same for a slider of grams and a crane, in angles and in metres."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, QP, ContactProgram, Program, Solution
from nonsmooth.programs.projections import Disk
from nonsmooth.settings import settings
from nonsmooth.solvers.kernels import TimedKernel


class Unsolvable(ValueError):
    """A program that no algorithm can be applied to, such as one with numbers that are not finite."""


@settings
class Algorithm:
    """Base of the settings of a solver, which say what it takes."""

    #: classes of programs, dimensions of those with friction, and both in words
    programs: ClassVar[tuple[type, ...]]
    dimensions: ClassVar[tuple[int, ...]] = (2, 3)
    taken: ClassVar[str]

    def fits(self, program: Program) -> bool:
        """Whether the algorithm applies to this program."""
        planar_or_spatial = getattr(program, "dimension", self.dimensions[0])
        return isinstance(program, self.programs) and planar_or_spatial in self.dimensions


class SolverSession:
    """Base of sessions; a subclass defines `_solve(program, guess)` for the programs that its settings take."""

    _solve: Any

    def __init__(self, settings: Any, kernel: Any = None) -> None:
        self._settings, self._name = settings, type(settings).__name__
        self._kernel = TimedKernel(kernel, self._name)

    def solve(self, program: Any, guess: Solution | None = None) -> Solution:
        """Solve as well as possible, the status says why it could not; InputError for a program of another kind."""
        known = isinstance(program, self._settings.programs)
        if not (known and Algorithm.fits(self._settings, program)):
            plane = " in the plane" if known and program.dimension == 2 else ""
            raise InputError(f"{self._name} takes {self._settings.taken}, got {type(program).__name__}{plane}.")
        try:
            return self._solve(program, guess)
        except (Unsolvable, np.linalg.LinAlgError) as error:
            x = np.full(program.f.size if isinstance(program, QP) else program.b.size, np.nan)
            y = np.zeros(program.b.size) if isinstance(program, QP) else x
            return Solution(x, y, str(error), 0, self._name)


@dataclass(frozen=True, eq=False)
class NormalisedQP:
    """min 1/2 u^T u + f^T u s.t. A u >= b (the first `equalities` rows: =), with rows of length one, where H = L L^T
    and x = size L^-T u, y = size multiplier / row length."""

    f: Array
    A: Array
    b: Array
    equalities: int
    size: float
    inverse: Array
    lengths: Array

    @property
    def upper(self) -> Array:
        """Upper bounds of A u: those of equalities, else infinite."""
        upper = np.full(self.b.size, np.inf)
        upper[: self.equalities] = self.b[: self.equalities]
        return upper

    def solution(self, u: Array, multipliers: Array, *words: Any, signed: bool = True) -> Solution:
        """The solution of the QP, with status, iterations and solver; `signed`: without the signs of round-off."""
        y = self.size * multipliers / self.lengths
        if signed:
            y[self.equalities :] = np.maximum(y[self.equalities :], 0.0)
        return Solution(self.size * (u @ self.inverse), y, *words)

    def guess(self, solution: Solution) -> tuple[Array, Array]:
        """Normalised unknowns and multipliers of a solution of the QP."""
        u = np.linalg.solve(self.inverse.T, solution.x / self.size)
        return np.asarray(u, float), solution.y * self.lengths / self.size


def normalised(qp: QP) -> NormalisedQP:
    """Normalise a QP; Unsolvable if H is not positive definite, or a number of the QP is not finite."""
    if not all(np.isfinite(array).all() for array in (qp.H, qp.f, qp.A, qp.b)):
        raise Unsolvable("a number of the QP is not finite")
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(qp.H))
    except np.linalg.LinAlgError as error:
        raise Unsolvable(str(error)) from error
    f, A = inverse @ qp.f, qp.A @ inverse.T
    lengths = np.sqrt((A**2).sum(axis=1))
    lengths[lengths == 0.0] = 1.0
    b = qp.b / lengths
    size = max(np.abs(f).max(initial=0.0), np.abs(b).max(initial=0.0)) or 1.0
    return NormalisedQP(f / size, A / lengths[:, None], b / size, qp.equalities, size, inverse, lengths)


@dataclass(frozen=True, eq=False)
class NormalisedContact:
    """An LCP (d = 1) or a program with friction (d = 2, 3) whose impulses are `scale` times the normalised ones, of
    which `mu` is. The diagonal of A is one, or at most one in the weaker tangential row: both have one unit, so that
    laws keep their form."""

    program: LCP | ContactProgram
    A: Array
    b: Array
    mu: Array
    d: int
    e: int
    scale: Array

    def start(self, guess: Solution | None) -> Array:
        """Normalised impulses of a guess, or zeros."""
        if guess is None or guess.y.shape != self.b.shape or not np.isfinite(guess.y).all():
            return np.zeros(self.b.size)
        return np.asarray(guess.y / self.scale, float)

    def contact_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The rows of all contacts, (contacts, d), as a view."""
        return rows[self.e :].reshape(-1, self.d)

    def slip_speed(self, z: Array) -> Array:
        """|u_T| of each contact."""
        return np.asarray(np.linalg.norm(self.contact_rows(self.A @ z + self.b)[:, 1:], axis=1))

    def residual(self, z: Array) -> float:
        """The program's residual of normalised impulses."""
        return self.program.residual(Solution(z, z * self.scale, "", 0, ""))

    def within_cones(self, z: Array) -> Array:
        """Normalised impulses, in place, without what round-off put outside the cones."""
        P = self.contact_rows(z)
        P[:, 0] = np.maximum(P[:, 0], 0.0)
        if self.d > 1:
            P[:, 1:] = Disk(self.mu * P[:, 0]).project(P[:, 1:])
        return z

    def solution(self, z: Array, iterations: int, solver: Any, complaint: str) -> Solution:
        """A solution from normalised impulses, "solved" only if its residual is within the solver's tolerance."""
        P = self.contact_rows(self.within_cones(z))
        with np.errstate(all="ignore"):
            u = self.A @ z + self.b
            y = z * self.scale
            x = self.program.A @ y + self.program.b
        active = np.ones(z.size, bool)
        rows, U = self.contact_rows(active), self.contact_rows(u)
        rows[:, 0] = P[:, 0] > U[:, 0]
        if self.d > 1:
            sticks = np.linalg.norm(P[:, 1:] - U[:, 1:], axis=1) < self.mu * P[:, 0]
            rows[:, 1:] = (rows[:, 0] & sticks)[:, None]
        solution = Solution(x, y, "solved", iterations, type(solver).__name__, active)
        residual = self.program.residual(solution)
        if residual <= solver.tolerance:
            return solution
        return replace(solution, status=f"{complaint}: residual {residual:.1e}")


def normalised_contact(program: LCP | ContactProgram) -> NormalisedContact:
    """Normalise by the diagonal of A; Unsolvable if a number of the program is not finite."""
    d, mu, units = 1, np.zeros(program.b.size - program.bilateral), np.abs(program.A.diagonal())
    if isinstance(program, ContactProgram):
        d, mu, units = program.dimension, program.friction, program.units
    if not all(np.isfinite(array).all() for array in (program.A, program.b, mu)):
        raise Unsolvable("a number of the program is not finite")
    scale = 1.0 / np.sqrt(np.where(units > 0.0, units, 1.0))
    b = program.b * scale
    size = np.abs(b).max(initial=0.0) or 1.0
    if d > 1:
        contacts = scale[program.bilateral :].reshape(-1, d)
        mu = mu * contacts[:, 0] / contacts[:, 1]
    A = np.ascontiguousarray(program.A * scale * scale[:, None])
    return NormalisedContact(program, A, b / size, np.array(mu), d, program.bilateral, scale * size)
