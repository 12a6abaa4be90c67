"""Exciting motions: optimal Fourier series within bounds, from many initial guesses.

With the stacked regressor W of the base parameters, whose forces are measured with equal noise, ``(W' W)^-1`` is the
covariance of the estimate up to the variance of the noise. Series are parametrised by the directions in which they
start and end at rest, so that these conditions hold exactly; derivatives of the criteria are exact.
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array, Callback
from nonsmooth.exceptions import InputError
from nonsmooth.identification.base import BaseParameters, Saved, base_parameters
from nonsmooth.identification.drive_motion import Fourier, basis, conditions
from nonsmooth.identification.regressor import Regressor
from nonsmooth.model.forces import Force, Gravity
from nonsmooth.progress import Progress, telling, whom
from nonsmooth.settings import settings, shown

#: what is minimised: -log det W'W, trace of its inverse, -log of its least eigenvalue, log of the condition number of W
CRITERIA = ("D", "A", "E", "condition")
FINE = 20_000  # points of the period at which bounds are checked in the end
#: points per harmonic at which the criterion is evaluated, bounds are imposed, and extremes are searched
RESOLVED, COARSE, FINE_SEARCH = 24, 6, 100
#: share of a bound from which an extreme is imposed; number of searches for extremes; admissible excess
NEAR, EXCHANGES, EXCESS = 0.9, 3, 5e-3
TOLERANCE, STEP = 1e-3, 1e-6  # of IPOPT's conditions of optimality; step of central differences


@dataclass(frozen=True)
class Bounds:
    """Largest magnitudes of the motion of each drive.

    InputError if a bound is not positive, or they are not equally many.

    Parameters
    ----------
    position, velocity, acceleration : one number > 0 per drive [rad or m, per s, per s^2]
    force : [N m] or [N], optional, of the driving forces, by the parameters as built
    clear : callable, optional
        Function of positions (n, drives) that returns (n, k) values, each >= 0 where nothing collides. Its derivatives
        are central differences.
    """

    position: tuple[float, ...]
    velocity: tuple[float, ...]
    acceleration: tuple[float, ...]
    force: tuple[float, ...] | None = None
    clear: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        given = [self.position, self.velocity, self.acceleration, *([] if self.force is None else [self.force])]
        if len({len(one) for one in given}) != 1 or not all(x > 0 for one in given for x in one):
            raise InputError(f"Bounds: one positive number per drive for each kind, got {shown(given)}.")

    @property
    def table(self) -> Array:
        """(3, drives): of coordinates, velocities, accelerations."""
        return np.array([self.position, self.velocity, self.acceleration], dtype=float)

    def share(self, motion: Fourier, points: int = FINE) -> Array:
        """Largest share of each bound that a motion reaches (3, drives), at so many points of the period."""
        return np.array([np.max(np.abs(one), axis=0) for one in motion.states(motion.times(points))]) / self.table


@settings
class Excite:
    """Settings of `excite`.

    Parameters
    ----------
    criterion : "D", "A", "E" or "condition", D does not depend on the units of the parameters; the others do
    harmonics : N
    samples : equidistant, over one period, at which forces are measured and bounds are imposed
    starts : number of random starts
    iterations : of each start at most
    seed
    """

    criterion: str = "D"
    harmonics: int = 5
    samples: int = 400
    starts: int = 8
    iterations: int = 150
    seed: int = 0

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise InputError(f"Excite: criterion must be one of {', '.join(CRITERIA)}, got {shown(self.criterion)}.")
        if self.harmonics < 3 or self.samples < 4 * self.harmonics or self.starts < 1:
            raise InputError(
                "Excite: harmonics must be at least 3, samples at least 4 times as many, and starts at least 1, got "
                f"{self.harmonics}, {self.samples}, {self.starts}."
            )


@dataclass(frozen=True, eq=False)
class Excitation(Saved):
    """Result of `excite`.

    Parameters
    ----------
    motion : the series
    measures : "log det", "condition", "smallest", as `criteria` gives them
    reached : values of the criterion of all starts, best first
    share : largest share of each bound (3, drives)
    bounds, base, settings : of the search
    seconds : of computing
    """

    motion: Fourier
    measures: dict[str, float]
    reached: tuple[float, ...]
    share: Array
    bounds: Bounds
    base: BaseParameters
    drives: tuple[str, ...]
    settings: Excite
    seconds: float

    def __str__(self) -> str:
        lines = [
            f"log det W'W = {self.measures['log det']:.3f}, cond W = {self.measures['condition']:.4g}, "
            f"{len(self.reached)} starts in {self.seconds:.1f} s",
            "| drive | q | q' | q'' | share of the bound |",
            "|---|---|---|---|---|",
        ]
        for d, name in enumerate(self.drives):
            numbers = " | ".join(f"{x:.4g}" for x in self.share[:, d] * self.bounds.table[:, d])
            lines.append(f"| {name} | {numbers} | {', '.join(f'{x:.1%}' for x in self.share[:, d])} |")
        return "\n".join(lines)

    def as_dictionary(self) -> dict[str, Any]:
        return {
            "omega": self.motion.omega, "period": self.motion.period, "drives": list(self.drives),
            "coefficients": self.motion.coefficients.tolist(), **self.measures, "reached": list(self.reached),
            "share of bounds": self.share.tolist(), "seconds": self.seconds,
        }  # fmt: skip


def criteria(W: Array) -> dict[str, float]:
    """``log det W'W``, condition number of W, and its smallest singular value, of a regressor (..., parameters)."""
    s = np.linalg.svd(W.reshape(-1, W.shape[-1]), compute_uv=False)
    return {"log det": float(2 * np.sum(np.log(s))), "condition": float(s[0] / s[-1]), "smallest": float(s[-1])}


@telling
def excite(
    Y: Regressor, bounds: Bounds, omega: float, *, settings: Excite | None = None, base: BaseParameters | None = None,
    executor: Any = None, progress: Progress = None,
) -> Excitation:  # fmt: skip
    """Find the periodic motion of the drives from which the base parameters are estimated with the best accuracy.

    Each start is a random series, scaled to its bounds, improved by IPOPT. The best one is scaled such that every bound
    holds at 20 000 points of the period. InputError if the bounds are not of as many drives, or no start gives a
    regular regressor.

    Parameters
    ----------
    Y : `regressor` of the mechanism
    bounds
    omega : fundamental frequency [rad/s]
    settings : `Excite`
    base : the combinations of parameters; those of `base_parameters` by default
    executor : as for `nonsmooth.studies.sweep`
    progress : callable (what, share), or True for words on one line, optional
    """
    from nonsmooth.studies.arguments import check_processes
    from nonsmooth.studies.workers import outcomes

    check_processes(executor)

    chosen = settings or Excite()
    if bounds.table.shape[1] != len(Y.drives):
        raise InputError(f"Bounds are of {bounds.table.shape[1]} drive(s), the mechanism has {len(Y.drives)}.")
    begin, known, found = time.perf_counter(), base or base_parameters(Y), []
    search = _Search(Y, known, bounds, omega, chosen)
    for _, one in outcomes(search.run, [(seed,) for seed in range(chosen.starts)], executor=executor):
        found.append(one)
        whom(progress)(f"start {len(found)} of {chosen.starts}", len(found) / chosen.starts)
    found = sorted((one for one in found if np.isfinite(one[0])), key=lambda one: one[0])
    if not found:
        raise InputError("No start gives a regular regressor within the bounds; widen them or add harmonics.")
    # scaled such that the bounds hold at fine times; those of forces and collisions must hold, too
    motion = Fourier(omega, found[0][1])
    motion = Fourier(omega, motion.coefficients / max(1.0, float(np.max(bounds.share(motion))) * (1 + 1e-12)))
    t, limit = motion.times(2_000), None if bounds.force is None else np.array(bounds.force)
    for _ in range(60):
        weak = limit is None or bool(np.all(np.max(np.abs(Y.force(*motion.states(t))), axis=0) <= limit))
        if weak and (bounds.clear is None or float(np.min(bounds.clear(motion(t)))) >= 0):
            break
        motion = Fourier(omega, motion.coefficients * 0.98)
    else:
        what = "the bounds of forces and collisions"
        raise InputError(f"No scaling of the best motion keeps {what}; start where it is clear.")
    W = known.reduced(Y(*motion.states(motion.times(chosen.samples))))
    return Excitation(
        motion, criteria(W), tuple(value for value, _ in found), bounds.share(motion), bounds, known, Y.drives, chosen,
        time.perf_counter() - begin,
    )  # fmt: skip


class _Search:
    """One criterion as a function of the free directions x (drives, 2 N - 2), and its constraints."""

    def __init__(self, Y: Regressor, base: BaseParameters, bounds: Bounds, omega: float, chosen: Excite) -> None:
        from scipy.linalg import null_space

        self.Y, self.base, self.bounds, self.omega, self.chosen = Y, base, bounds, omega, chosen
        # orthonormal columns (1 + 2 N, 2 N - 2) of all coefficients that satisfy the conditions at the ends
        self.free = np.asarray(null_space(conditions(chosen.harmonics)), dtype=np.float64)
        # a criterion is a mean over the period: as many points as resolve the products of the series are enough
        self.shapes = self._shapes(min(chosen.samples, RESOLVED * chosen.harmonics))
        self.fine = self._shapes(FINE_SEARCH * chosen.harmonics)
        self.coarse = self._shapes(COARSE * chosen.harmonics)
        self.has_loads = any(isinstance(e, Force) and not isinstance(e, Gravity) for e in Y.system.elements)
        self._last: tuple[bytes, Array, Array] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Search, (self.Y, self.base, self.bounds, self.omega, self.chosen)

    def _shapes(self, points: int) -> list[Array]:
        """Values (points, 2 N - 2) of the directions and their two derivatives, over one period."""
        t = np.linspace(0.0, 2 * np.pi / self.omega, points, endpoint=False)
        return [basis(self.omega, self.chosen.harmonics, t, k) @ self.free for k in range(3)]

    def _rows(self, x: Array) -> Array:
        """Rows A of ``A x <= 1``: coarse points, and near extremes of this motion where they are."""
        nd, table, found = len(self.Y.drives), self.bounds.table, []
        for k, d in itertools.product(range(3), range(nd)):
            values = np.abs(self.fine[k] @ x.reshape(nd, -1)[d]) / table[k, d]
            peaks = (values >= np.roll(values, 1)) & (values >= np.roll(values, -1)) & (values > NEAR)
            found.append(np.kron(np.eye(nd)[d], np.vstack([self.coarse[k], self.fine[k][peaks]]) / table[k, d]))
        whole = np.vstack(found)
        return np.vstack([whole, -whole])

    def values(self, x: Array) -> tuple[Array, Array]:
        """The criterion, which is minimised, then what must be at most 1; and the Jacobian of all."""
        if self._last is None or self._last[0] != x.tobytes():
            states = [shape @ x.reshape(len(self.Y.drives), -1).T for shape in self.shapes]
            Y, slopes = self.Y.with_derivatives(*states)
            W, dW = self.base.reduced(Y), self.base.reduced(slopes)
            value, by_W = _criterion(self.chosen.criterion, W)
            by_state, nd = np.einsum("ndp,nkdp->nk", by_W, dW), len(self.Y.drives)
            gradient = [sum(self.shapes[k].T @ by_state[:, k * nd + d] for k in range(3)) for d in range(nd)]
            rows = [(np.array([value]), np.concatenate(gradient)[None])]
            if self.bounds.force is not None:
                rows.append(self._forces(Y, slopes, states))
            if self.bounds.clear is not None:
                rows.append(self._clearances(self.bounds.clear, states))
            self._last = x.tobytes(), np.concatenate([one for one, _ in rows]), np.vstack([two for _, two in rows])
        return self._last[1], self._last[2]

    def _pointwise(self, by_state: Array) -> Array:
        """Jacobian (n, x) of a function of each state with these derivatives (n, 3 drives)."""
        nd = len(self.Y.drives)
        parts = ([self.shapes[k] * by_state[:, k * nd + d, None] for k in range(3)] for d in range(nd))
        return np.hstack([np.sum(part, axis=0) for part in parts])

    def _forces(self, Y: Array, slopes: Array, states: list[Array]) -> tuple[Array, Array]:
        """Driving forces, both signs, as shares of their bounds; slopes of known loads are differences."""
        theta, limit = self.Y.values, np.array(self.bounds.force)
        tau, by_state = Y @ theta + self.Y.known(*states), slopes @ theta  # (n, nd), (n, 3 nd, nd)
        if self.has_loads:
            by_state = by_state + _differences(self.Y.known, states)
        rows = [self._pointwise(by_state[:, :, d] / limit[d]) for d in range(len(limit))]
        shares = (tau / limit).T.ravel()
        return np.concatenate([shares, -shares]), np.vstack([*rows, *(-row for row in rows)])

    def _clearances(self, clear: Callable[[Array], Array], states: list[Array]) -> tuple[Array, Array]:
        """1 less what must be at least 0, by central differences."""
        values = np.asarray(clear(states[0]), dtype=float).reshape(len(states[0]), -1)
        nd = len(self.Y.drives)
        slopes = _differences(lambda q, v, a: np.asarray(clear(q), dtype=float).reshape(len(q), -1), states, nd)
        rows = [self._pointwise(-slopes[:, :, k]) for k in range(values.shape[1])]
        return (1.0 - values).T.ravel(), np.vstack(rows)

    def run(self, seed: int) -> tuple[float, Array]:
        """Criterion and coefficients (drives, 1 + 2 N) reached from one start."""
        random, nd, size = np.random.default_rng([self.chosen.seed, seed]), len(self.Y.drives), self.free.shape[1]
        x = random.normal(size=(nd, size))
        x = (x / self._largest(x).max(axis=0)[:, None]).ravel() * random.uniform(0.6, 1.0)
        try:
            for _ in range(EXCHANGES):
                x = minimise(self.values, x, self._rows(x), iterations=self.chosen.iterations)
                over = float(self._largest(x).max())
                if over <= 1.0 + EXCESS:
                    break
            x = x / max(1.0, over)
            return float(self.values(x)[0][0]), x.reshape(nd, size) @ self.free.T
        except InputError:  # a position that a closed loop does not reach
            return float("inf"), np.zeros((nd, 2 * self.chosen.harmonics + 1))

    def _largest(self, x: Array) -> Array:
        by_drive = x.reshape(len(self.Y.drives), -1).T
        return np.array([np.max(np.abs(shape @ by_drive), axis=0) for shape in self.fine]) / self.bounds.table


def _differences(function: Callable[..., Array], states: list[Array], count: int | None = None) -> Array:
    """Central differences (n, 3 drives, values) by the first `count` of coordinates, velocities, accelerations."""
    nd = states[0].shape[1]
    slopes = []
    for k in range(3 * nd):
        change = [np.zeros_like(one) for one in states]
        change[k // nd][:, k % nd] = STEP
        ahead, behind = (function(*(s + sign * c for s, c in zip(states, change, strict=True))) for sign in (1, -1))
        slopes.append((ahead - behind) / (2 * STEP) if count is None or k < count else np.zeros_like(ahead))
    return np.stack(slopes, axis=1)


def _criterion(word: str, W: Array) -> tuple[float, Array]:
    """Value and its derivative by the entries of W (n, drives, parameters)."""
    shape, flat = W.shape, W.reshape(-1, W.shape[-1])
    U, s, Vt = np.linalg.svd(flat, full_matrices=False)
    s = np.maximum(s, 1e-300)
    if word == "D":
        return float(-2 * np.sum(np.log(s))), (-2 * (U / s) @ Vt).reshape(shape)
    if word == "A":  # the logarithm of the trace, which has the same minimum and a better scale
        trace = float(np.sum(s**-2))
        return float(np.log(trace)), ((U * (-2 * s**-3 / trace)) @ Vt).reshape(shape)
    least = -np.outer(U[:, -1], Vt[-1]) / s[-1]
    if word == "E":
        return float(-2 * np.log(s[-1])), 2 * least.reshape(shape)
    return float(np.log(s[0] / s[-1])), (np.outer(U[:, 0], Vt[0]) / s[0] + least).reshape(shape)


def minimise(values: Callable[[Array], tuple[Array, Array]], x: Array, rows: Array, *, iterations: int) -> Array:
    """Minimise the first of some functions by IPOPT where the others are at most 1 and ``rows x <= 1``.

    `values` gives the functions (m,) and their Jacobian (m, n).
    """
    size, count, dense = len(x), len(values(x)[0]), ca.Sparsity.dense

    def part(k: int) -> Callable[..., list[ca.DM]]:
        return lambda x, *_: [ca.DM(values(np.array(x).ravel())[k])]

    slopes = Callback("slopes", part(1), [dense(size, 1), dense(count, 1)], [dense(count, size)])
    callback = Callback("values", part(0), [dense(size, 1)], [dense(count, 1)], slopes)
    symbol = ca.MX.sym("x", size)
    found = callback(symbol)
    constraints = ca.vertcat(ca.DM(rows) @ symbol, found[1:]) if count > 1 else ca.DM(rows) @ symbol
    options = {
        "ipopt.hessian_approximation": "limited-memory", "ipopt.max_iter": iterations, "ipopt.tol": TOLERANCE,
        "ipopt.acceptable_tol": 10 * TOLERANCE, "ipopt.acceptable_iter": 5, "ipopt.print_level": 0,
        "ipopt.sb": "yes", "ipopt.mu_strategy": "adaptive", "print_time": False, "error_on_fail": False,
        "ipopt.bound_relax_factor": 0.0,
    }  # fmt: skip
    solver = ca.nlpsol("excite", "ipopt", {"x": symbol, "f": found[0], "g": constraints}, options)
    return np.array(solver(x0=x, lbg=-np.inf, ubg=1.0)["x"]).ravel()
