"""Integrators of initial-value problems, one piece of the solution after the other: SciPy's, and CVODES of CasADi."""

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array, Callback
from nonsmooth.exceptions import SolverFailed
from nonsmooth.programs.initial_value import InitialValue
from nonsmooth.settings import settings

#: absolute tolerance of states without step size control
FREE = 1e300
#: smallest relative tolerance accepted by SciPy
FINEST = 2.3e-14
#: pieces per call of CVODES, intervals of each between points, and deviation of a piece from the cubic through its
#: ends, as a share of its way, from which it is shortened; doubled where all deviate by less than a tenth
PIECES, INTERVALS, ROUGH = 8, 4, 3e-3
#: share of a piece within which two times are the same
SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Piece:
    """The solution from t0 to t1; `at(t)` (n,) at any time within, `sketch(t)` an inexpensive approximation."""

    t0: float
    t1: float
    at: Callable[[float], Array]
    sketch: Callable[[float], Array]


class Session(Protocol):
    """A running integration; `held` is its state after the last piece, from which `hold` continues a checkpoint."""

    def restart(self, t: float, y: Array, longest: float, first: float | None, until: float) -> None: ...
    def advance(self) -> Piece: ...
    def snapshot(self) -> dict[str, Any]: ...
    def restore(self, saved: Mapping[str, Any]) -> Piece: ...


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
    """SUNDIALS' CVODES through CasADi: backward differentiation of order 1 to 5, many steps per call."""

    def integrate(self, problem: InitialValue) -> Session:
        return _CvodesSession(problem)


class _ScipySession:
    def __init__(self, problem: InitialValue, method: Any, implicit: bool) -> None:
        self.problem, self.method, self.implicit = problem, method, implicit
        dilution = math.sqrt(problem.core / problem.size)  # the integrals reduce the root mean square of the errors
        self.atol = np.concatenate([problem.atol * dilution, np.full(problem.size - problem.core, FREE)])
        self.rtol, self.pieces = max(problem.rtol * dilution, FINEST), 0

    def restart(self, t: float, y: Array, longest: float, first: float | None, until: float) -> None:
        self.begin, self.pieces = (t, y, longest, first, until), 0
        options: dict[str, Any] = {"jac": self.problem.jacobian} if self.implicit else {}
        step = None if first is None else min(first, longest, until - t)
        with np.errstate(all="ignore"):
            self.solver = self.method(
                self.problem.rates, t, y, until, rtol=self.rtol, atol=self.atol, max_step=longest, first_step=step,
                **options,
            )  # fmt: skip

    def advance(self) -> Piece:
        name = self.method.__name__
        with np.errstate(all="ignore"):  # a trial that is not finite is rejected, or reported below
            try:
                message = self.solver.step()
            except ValueError as error:  # of what factors a Jacobian that is not finite
                raise SolverFailed(f"{name} stopped at t = {self.solver.t:.9g} s: {error}") from error
        if self.solver.status == "failed":
            raise SolverFailed(f"{name} stopped at t = {self.solver.t:.9g} s: {message}")
        if not np.all(np.isfinite(self.solver.y)):
            raise SolverFailed(f"{name} is not finite at t = {self.solver.t:.9g} s.")
        self.pieces += 1
        return self._piece()

    def _piece(self) -> Piece:
        dense, end, t1 = self.solver.dense_output(), self.solver.y, float(self.solver.t)

        def at(t: float) -> Array:
            return np.asarray(end if t == t1 else dense(t), dtype=float)

        return Piece(float(self.solver.t_old), t1, at, at)

    def snapshot(self) -> dict[str, Any]:
        """The internal numbers of the solver; those of LSODA are not accessible, so that its pieces are repeated."""
        known = {} if self.method.__name__ == "LSODA" else copy.deepcopy(numbers_of(self.solver))
        return {"begin": self.begin, "pieces": self.pieces, "solver": known}

    def restore(self, saved: Mapping[str, Any]) -> Piece:
        t, y, longest, first, until = saved["begin"]
        self.restart(float(t), y, float(longest), first, float(until))
        if not saved["solver"]:
            for _ in range(int(saved["pieces"])):
                piece = self.advance()
            return piece
        from scipy.integrate._ivp.radau import RadauDenseOutput

        known, what = vars(self.solver), type(self.solver).__name__
        for name, value in saved["solver"].items():
            if name == "sol" and isinstance(value, dict):
                solution = RadauDenseOutput(value["t_old"], value["t"], value["y_old"], value["Q"])
                vars(solution).update(value)
                self.solver.sol = solution
                continue
            parts = value if isinstance(value, tuple) else (value,)
            if not _plain(value) or (isinstance(known[name], np.ndarray) and np.shape(value) != known[name].shape):
                raise ValueError(f"{name[:40]!r} of {what} is of another size")
            rows = [one for one in parts if np.ndim(one) and one.dtype.kind == "i"]
            if not all(np.all((one >= 0) & (one < self.solver.n)) for one in rows):
                raise ValueError(f"{name[:40]!r} of {what} has no such rows")
            if name == "K_extended":
                known[name][:] = value  # K is a part of it
            else:
                setattr(self.solver, name, value)
        self.pieces = int(saved["pieces"])
        return self._piece()


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


# ---- CVODES


class _Values(Callback):
    """A function by its values; what is raised cannot pass CVODES: it is kept, and the values are NaN."""

    raised: BaseException | None = None

    def eval(self, arguments: list[ca.DM]) -> list[Any]:
        if self.raised is None:
            try:
                return super().eval(arguments)
            except BaseException as error:  # Ctrl-C as well
                self.raised = error
        return [ca.DM(one, math.nan) for one in self.outputs]


class _Interval:
    """Rates in an interval of time, of deviations from its start in units of their tolerance, per length."""

    def __init__(self, problem: InitialValue) -> None:
        self.problem, self.unit = problem, problem.atol
        self.t, self.span, self.start = 0.0, 1.0, np.zeros(problem.size)

    def values(self, s: ca.DM, x: ca.DM) -> list[Any]:
        """Rates at a share s of the interval."""
        return [self._scaled(self.problem.rates(*self._at(s, x)))]

    def derivatives(self, s: ca.DM, x: ca.DM, _: ca.DM) -> list[Any]:
        """Derivatives of the rates by s, which is not required, and by x."""
        core, size = self.problem.core, self.problem.size
        J = self.problem.jacobian(*self._at(s, x))[:, :core] * self.unit
        return [ca.DM(size, 1), self._scaled(J.T).T]

    def _at(self, s: ca.DM, x: ca.DM) -> tuple[float, Array]:
        y = self.start.copy()
        y[: self.problem.core] += self.unit * x.full().ravel()
        return self.t + self.span * float(s), y

    def _scaled(self, values: Array) -> Array:
        """Along the last axis."""
        values = self.span * values
        values[..., : self.problem.core] /= self.unit
        return values


class _CvodesSession:
    """Pieces of length `longest` at most, some per call, each with some points within."""

    def __init__(self, problem: InitialValue) -> None:
        self.problem, core, size = problem, problem.core, problem.size
        self.interval = _Interval(problem)
        dense, none = ca.Sparsity.dense, ca.Sparsity
        inputs, blocks = [dense(1), dense(core)], [none(size, 1), dense(size, core)]
        self._jacobian = _Values("jacobian", self.interval.derivatives, [*inputs, none(size, 1)], blocks)
        self._rates = _Values("rates", self.interval.values, inputs, [dense(size)], self._jacobian)
        s, x = ca.MX.sym("s"), ca.MX.sym("x", core)
        rates = self._rates(s, x)
        dae = {"x": x, "t": s, "ode": rates[:core], "quad": rates[core:]}
        options = {
            "abstol": 1.0, "reltol": problem.rtol, "max_num_steps": 1_000_000, "show_eval_warnings": False,
            "disable_internal_warnings": True,
        }  # fmt: skip
        grid = np.linspace(0.0, 1.0, PIECES * INTERVALS + 1)[1:]
        self._grid = ca.integrator("stretch", "cvodes", dae, 0.0, grid.tolist(), options)
        self._one = ca.integrator("piece", "cvodes", dae, 0.0, 1.0, options)

    def restart(self, t: float, y: Array, longest: float, first: float | None, until: float) -> None:
        self._t, self._y, self._longest, self._until = t, y, min(longest, until - t), until
        self._length = self._longest / PIECES if first is None else min(self._longest, first)
        self._queue: list[tuple[Array, Array]] = []

    def _solve(self, integrator: ca.Function, t: float, y: Array, span: float) -> Array:
        one, core = self.interval, self.problem.core
        one.t, one.start, one.span = t, y, span
        try:
            found = integrator(x0=np.zeros(core))
        except RuntimeError as error:
            for values in (self._rates, self._jacobian):  # what has ended an evaluation
                raised, values.raised = values.raised, None
                if raised is not None:
                    raise raised from None
            raise SolverFailed(f"CVODES stopped after t = {t:.9g} s: {str(error).splitlines()[-1]}") from error
        x, integrals = found["xf"].full(), found["qf"].full()
        ends = np.vstack([y[:core, None] + one.unit[:, None] * x, y[core:, None] + integrals])
        if not np.all(np.isfinite(ends)):
            raise SolverFailed(f"CVODES is not finite after t = {t:.9g} s.")
        return ends

    def advance(self) -> Piece:
        places = INTERVALS * np.arange(PIECES)[:, None] + np.arange(INTERVALS + 1)
        while not self._queue:  # times (INTERVALS + 1,) and solution (INTERVALS + 1, n) of the next pieces
            rest = self._until - self._t  # what comes later may not be smooth
            span = min(PIECES * self._length, rest) if rest > 0.0 else PIECES * self._length
            ends = self._solve(self._grid, self._t, self._y, span)
            times = self._t + span * np.arange(PIECES * INTERVALS + 1) / (PIECES * INTERVALS)
            points = np.vstack([self._y, ends.T])[places]
            scaled = points[:, :, : self.problem.core] / self.problem.atol
            # a cubic deviates in the middle by two thirds of the fourth difference
            off = np.abs(np.diff(scaled, 4, axis=1)[:, 0]).max(axis=1) / 1.5
            rough = off / np.maximum(np.abs(scaled[:, -1] - scaled[:, 0]).max(axis=1), 1.0)
            bad = np.flatnonzero(rough > ROUGH)
            good = PIECES if not bad.size or not self._t + self._length / 2 > self._t else int(bad[0])
            if good == PIECES and np.max(rough) < 0.1 * ROUGH:
                self._length = min(2.0 * self._length, self._longest)
            elif good < PIECES:  # the deviation is of third order
                self._length *= float(np.clip(0.9 * np.cbrt(ROUGH / rough[good]), 0.05, 0.5))
            self._queue = list(zip(times[places], points, strict=True))[:good]
        self._points = self._queue.pop(0)
        self._t, self._y = float(self._points[0][-1]), self._points[1][-1]
        return self._piece()

    def snapshot(self) -> dict[str, Any]:
        return {
            "points": self._points, "longest": self._longest, "length": self._length, "until": self._until,
            "queue": list(self._queue),
        }  # fmt: skip

    def restore(self, saved: Mapping[str, Any]) -> Piece:
        self._points, self._queue = saved["points"], list(saved["queue"])
        self._longest, self._length, self._until = (float(saved[name]) for name in ("longest", "length", "until"))
        self._t, self._y = float(self._points[0][-1]), self._points[1][-1]
        return self._piece()

    def _piece(self) -> Piece:
        times, points = self._points
        (t0, t1), (y0, y1) = (float(times[0]), float(times[-1])), (points[0], points[-1])
        h = t1 - t0
        slope_0, slope_1 = (self.problem.rates(t, y) for t, y in ((t0, y0), (t1, y1)))

        def at(t: float) -> Array:
            k = int(np.argmin(np.abs(times - t)))
            if abs(times[k] - t) <= SAME * h:
                return np.asarray(points[k])
            return self._solve(self._one, t0, y0, t - t0)[:, 0]

        def sketch(t: float) -> Array:
            s = (t - t0) / h
            return np.asarray(
                (1 + 2 * s) * (1 - s) ** 2 * y0 + s**2 * (3 - 2 * s) * y1
                + h * s * (1 - s) * ((1 - s) * slope_0 - s * slope_1)
            )  # fmt: skip

        return Piece(t0, t1, at, sketch)
