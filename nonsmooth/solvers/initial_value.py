"""Integrators of initial-value problems: SciPy's, and SUNDIALS' through CasADi.

========  ======================================================  ===============
`Dop853`  explicit Runge-Kutta of order 8                         SciPy
`Radau`   implicit Runge-Kutta of order 5, for stiff contacts     SciPy
`Bdf`     variable order, implicit                                SciPy
`Lsoda`   switches between Adams and BDF by itself                SciPy (ODEPACK)
`Cvodes`  variable order, implicit; many steps per compiled call  SUNDIALS
`Idas`    the same on the differential-algebraic system           SUNDIALS
========  ======================================================  ===============

A session is restarted when the equations change, and returns one piece of the solution after the other.
"""

from __future__ import annotations

import copy
import math
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import casadi as ca
import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.programs.initial_value import InitialValue
from nonsmooth.settings import settings

__all__ = ["Bdf", "Cvodes", "Dop853", "Idas", "Integrator", "Lsoda", "Piece", "Radau"]

#: absolute tolerance of states without step size control
FREE = 1e300
#: smallest relative tolerance accepted by SciPy
FINEST = 2.3e-14
#: points per call of a SUNDIALS integrator
GRID = 32


@dataclass(frozen=True, eq=False)
class Piece:
    """The solution from t0 to t1; `at(t)` (n,) at any time within, `sketch(t)` an inexpensive approximation."""

    t0: float
    t1: float
    at: Callable[[float], Array]
    sketch: Callable[[float], Array]


class Session(Protocol):
    """A running integration."""

    #: evaluations of the rates so far
    evaluations: int

    def restart(
        self, t: float, y: Array, d: Array, longest: float, first: float | None, until: float = ...
    ) -> None: ...

    def advance(self) -> Piece: ...

    def held(self) -> dict[str, Any]:
        """For a checkpoint: the state of the integration after its last piece."""
        ...

    def hold(self, held: Mapping[str, Any], d: Array) -> Piece:
        """Continue from a checkpoint, with the last piece."""
        ...


@settings
class Integrator:
    """Base of integrators."""

    #: not used: integrators do not solve programs
    tolerance: ClassVar[float] = math.inf

    def fits(self, program: object) -> bool:
        """False: integrators do not solve optimisation or complementarity problems."""
        return False

    def setup(self) -> Any:
        raise TypeError(f"{type(self).__name__} solves no programs.")

    def integrate(self, problem: InitialValue) -> Session:
        """A session on a problem."""
        raise TypeError(f"{type(self).__name__} integrates nothing.")


@settings
class _Scipy(Integrator):
    """Base of SciPy's integrators."""

    method: ClassVar[str]
    implicit: ClassVar[bool] = True

    def integrate(self, problem: InitialValue) -> Session:
        import scipy.integrate

        return _ScipySession(problem, getattr(scipy.integrate, self.method), self.implicit)


@settings
class Dop853(_Scipy):
    """Dormand and Prince's explicit pair of order 8, for contacts that must be resolved in time.

    Its steps are compiled. Their size is limited by the stiffness and damping of the contacts; error control keeps it
    below this limit, also for contacts at rest.

    >>> Dop853()
    Dop853()
    """

    method = "DOP853"
    implicit = False


@settings
class Radau(_Scipy):
    """Radau IIA of order 5, for stiff and overdamped contacts."""

    method = "Radau"


@settings
class Bdf(_Scipy):
    """Backward differentiation of order 1 to 5."""

    method = "BDF"


@settings
class Lsoda(_Scipy):
    """Switches automatically between Adams methods and backward differentiation for stiff phases."""

    method = "LSODA"


@settings
class Cvodes(Integrator):
    """SUNDIALS' CVODES through CasADi, with exact sparse Jacobians: each contact interval is one compiled call."""

    def integrate(self, problem: InitialValue) -> Session:
        return _CasadiSession(problem, "cvodes")


@settings
class Idas(Integrator):
    """SUNDIALS' IDAS through CasADi, on the accelerations and joint forces as unknowns of an index-1 system."""

    def integrate(self, problem: InitialValue) -> Session:
        return _CasadiSession(problem, "idas")


class _ScipySession:
    def __init__(self, problem: InitialValue, method: Any, implicit: bool) -> None:
        self.problem, self.method, self.implicit = problem, method, implicit
        self.evaluations = 0
        # the integrals reduce the root mean square of the errors
        dilution = math.sqrt(problem.core / problem.size)
        rest = problem.size - problem.core
        self.atol = np.concatenate([problem.atol * dilution, np.full(rest, FREE)])
        self.rtol = max(problem.rtol * dilution, FINEST)
        self.pieces = 0

    def restart(
        self, t: float, y: Array, d: Array, longest: float, first: float | None, until: float = math.inf
    ) -> None:  # fmt: skip
        # a solver of SciPy refers to itself; functions of CasADi that it owned would wait for the collection of garbage
        this, problem = weakref.proxy(self), weakref.proxy(self.problem)
        self.begin, self.pieces = (t, y, longest, first, until), 0
        self.origin = origin = np.zeros_like(y)
        origin[: self.problem.places] = y[: self.problem.places]

        def f(t: float, y: Array) -> Array:
            this.evaluations += 1
            return problem.rates(t, origin + y, d)[0]

        options: dict[str, Any] = {"jac": lambda t, y: problem.jacobian(t, origin + y, d)[0]} if self.implicit else {}
        step = None if first is None else min(first, longest, until - t)
        with np.errstate(all="ignore"):
            self.solver = self.method(
                f, t, y - origin, until, rtol=self.rtol, atol=self.atol, max_step=longest, first_step=step, **options
            )

    def advance(self) -> Piece:
        with np.errstate(all="ignore"):  # a trial that is not finite is rejected, or reported below
            message = self.solver.step()
        if self.solver.status == "failed":
            raise SolverFailed(f"{self.method.__name__} stopped at t = {self.solver.t:.9g} s: {message}")
        if not np.all(np.isfinite(self.solver.y)):
            raise SolverFailed(f"{self.method.__name__} is not finite at t = {self.solver.t:.9g} s.")
        self.pieces += 1
        return self._piece()

    def _piece(self) -> Piece:
        dense, origin, t1 = self.solver.dense_output(), self.origin, float(self.solver.t)
        end = origin + self.solver.y

        def at(t: float) -> Array:
            return end if t == t1 else np.asarray(origin + dense(t), dtype=float)

        return Piece(float(self.solver.t_old), t1, at, at)

    def held(self) -> dict[str, Any]:
        """The internal numbers of the solver; those of LSODA are not accessible, so that its pieces are repeated."""
        known = {} if self.method.__name__ == "LSODA" else copy.deepcopy(numbers_of(self.solver))
        return {"begin": self.begin, "pieces": self.pieces, "solver": known}

    def hold(self, held: Mapping[str, Any], d: Array) -> Piece:
        """Continue from a checkpoint."""
        t, y, longest, first, until = held["begin"]
        self.restart(float(t), y, d, float(longest), first, float(until))
        if held["solver"]:
            take_numbers(self.solver, held["solver"])
            self.pieces = int(held["pieces"])
            return self._piece()
        for _ in range(int(held["pieces"])):
            piece = self.advance()
        return piece


def numbers_of(solver: Any) -> dict[str, Any]:
    """The internal numbers of a SciPy integrator, including the solution of Radau's last step."""
    found = {name: value for name, value in vars(solver).items() if _plain(value) and name != "K"}  # of K_extended
    solution = getattr(solver, "sol", None)
    return found if solution is None else found | {"sol": dict(vars(solution))}


def _plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_plain(one) for one in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fci"
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def take_numbers(solver: Any, numbers: Mapping[str, Any]) -> None:
    """Set the internal numbers of an integrator to those of an identical one.

    Raises
    ------
    ValueError
        If they do not match.
    """
    from scipy.integrate._ivp.radau import RadauDenseOutput

    n = solver.n
    for name, value in numbers.items():
        if name == "sol" and isinstance(value, dict):
            solution = RadauDenseOutput(value["t_old"], value["t"], value["y_old"], value["Q"])
            vars(solution).update(value)
            solver.sol = solution
            continue
        before = vars(solver)[name]
        parts = value if isinstance(value, tuple) else (value,)
        if not _plain(value) or (isinstance(before, np.ndarray) and np.shape(value) != before.shape):
            raise ValueError(f"{name[:40]!r} of {type(solver).__name__} is of another size")
        if any(one.dtype.kind == "i" and not np.all((one >= 0) & (one < n)) for one in parts if np.ndim(one)):
            raise ValueError(f"{name[:40]!r} of {type(solver).__name__} has no such rows")
        if name == "K_extended":
            before[:] = value  # K is a part of it
        else:
            setattr(solver, name, value)


class _CasadiSession:
    """Intervals of length `longest` on a grid: deviations from the start of the interval, in units of their
    tolerance."""

    def __init__(self, problem: InitialValue, plugin: str) -> None:
        self.problem, self.plugin = problem, plugin
        self.evaluations = 0
        e, core = problem.expressions, problem.core
        assert e is not None
        x, s = ca.SX.sym("x", core), ca.SX.sym("s")
        start, begin, span = ca.SX.sym("start", core), ca.SX.sym("begin"), ca.SX.sym("span")
        unit = ca.DM(problem.atol)
        t, y = begin + span * s, ca.vertcat(start + unit * x, ca.DM.zeros(problem.size - core))
        parameters = ca.vertcat(start, begin, span, e.d)
        dae = {"x": x, "t": s, "p": parameters}
        rates, unknowns, equations = (e.rates, ca.SX(0, 1), ca.SX(0, 1))
        if plugin == "idas":
            rates, unknowns, equations = e.algebraic()
            dae |= {"z": unknowns}
        values = ca.Function("values", [e.t, e.y, e.d, unknowns], [rates, equations])(t, y, e.d, unknowns)
        dae |= {"ode": span * values[0][:core] / unit, "quad": span * values[0][core:]}
        if plugin == "idas":
            dae |= {"alg": values[1]}
        self._parameters = ca.Function("parameters", [start, begin, span, e.d], [parameters])
        grid = np.linspace(0.0, 1.0, GRID + 1)
        options = {"abstol": 1.0, "reltol": problem.rtol, "max_num_steps": 1_000_000}
        self._grid = ca.integrator("stretch", plugin, dae, 0.0, grid[1:].tolist(), options)
        self._one = ca.integrator("piece", plugin, dae, 0.0, 1.0, options)
        self._unit = problem.atol
        self._guess = problem.unknowns if plugin == "idas" else None

    def restart(
        self, t: float, y: Array, d: Array, longest: float, first: float | None, until: float = math.inf
    ) -> None:  # fmt: skip
        self._t, self._y, self._d, self._span = (
            t,
            y,
            d,
            min(longest, until - t) if first is None else min(longest, first, until - t),
        )
        self._longest = longest
        self._queue: list[tuple[float, Array]] = []

    def _solve(self, integrator: ca.Function, t: float, y: Array, span: float) -> Array:
        core = self.problem.core
        arguments = {"x0": np.zeros(core), "p": np.concatenate([y[:core], [t, span], self._d])}
        if self._guess is not None:
            arguments |= {"z0": self._guess(t, y, self._d)[0]}
        try:
            found = integrator(**arguments)
        except RuntimeError as error:
            raise SolverFailed(f"{self.plugin} stopped after t = {t:.9g} s: {str(error).splitlines()[-1]}") from error
        x, integrals = found["xf"].full(), found["qf"].full()
        self.evaluations += int(integrator.stats().get("nfevals", 0) or 0)
        ends = np.vstack([y[:core, None] + self._unit[:, None] * x, y[core:, None] + integrals])
        if not np.all(np.isfinite(ends)):
            raise SolverFailed(f"{self.plugin} is not finite after t = {t:.9g} s.")
        return ends

    def advance(self) -> Piece:
        if not self._queue:
            ends = self._solve(self._grid, self._t, self._y, self._span)
            times = self._t + self._span * np.arange(1, GRID + 1) / GRID
            self._queue = list(zip(times.tolist(), ends.T, strict=True))
            self._span = min(2 * self._span, self._longest)
        self._before = self._t, self._y
        self._t, self._y = self._queue.pop(0)
        return self._piece()

    def held(self) -> dict[str, Any]:
        """The remaining part of the interval."""
        return {
            "before": self._before, "here": (self._t, self._y), "longest": self._longest, "span": self._span,
            "queue": list(self._queue),
        }  # fmt: skip

    def hold(self, held: Mapping[str, Any], d: Array) -> Piece:
        """Continue from a checkpoint."""
        (self._t, self._y), self._before, self._d = held["here"], held["before"], d
        self._longest, self._span, self._queue = float(held["longest"]), float(held["span"]), list(held["queue"])
        return self._piece()

    def _piece(self) -> Piece:
        (t0, y0), (t1, y1) = self._before, (self._t, self._y)
        slope_0, slope_1 = (self.problem.rates(t, y, self._d)[0] for t, y in ((t0, y0), (t1, y1)))

        def at(t: float) -> Array:
            if t in (t0, t1):
                return y0 if t == t0 else y1
            return self._solve(self._one, t0, y0, t - t0)[:, 0]

        def sketch(t: float) -> Array:
            h = t1 - t0
            s = (t - t0) / h
            return np.asarray(
                (1 + 2 * s) * (1 - s) ** 2 * y0 + s**2 * (3 - 2 * s) * y1
                + h * s * (1 - s) * ((1 - s) * slope_0 - s * slope_1)
            )  # fmt: skip

        return Piece(t0, t1, at, sketch)
