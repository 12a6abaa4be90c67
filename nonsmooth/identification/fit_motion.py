"""Clearance, friction, restitution and stiffness from measured motion: simulated motions are fitted to it.

The parameters x minimise the sum of squares of ``(simulated - measured) / noise`` over all samples. With impacts this
function has many local minima, whose number increases with the length of the motion: many initial guesses are compared
over its beginning, and the best of them are improved by the Levenberg-Marquardt method over increasing parts, as far as
the motion is predictable. While no minimum explains the data, the next of them is that farthest from those before. The
accuracy of a parameter is given by its profile likelihood, the minimum over all others at fixed values of it. A profile
that meets a lower sum of squares than that of the minimum shows that the search had stalled: it continues there, and
the profiles are computed again, so that they always belong to the minimum.
"""

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.files import write_bytes
from nonsmooth.identification.base import Saved
from nonsmooth.identification.measurement import FAILED, MotionData, simulated_columns
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, handing_over, telling, whom
from nonsmooth.quantities import in_si
from nonsmooth.settings import require, settings, shown
from nonsmooth.step.control import StepControl, finer, step_control
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import check_processes
from nonsmooth.studies.workers import outcomes, width

#: steps of differences, in the unit of the unknowns; a motion with impacts has kinks at smaller scales
STEPS = 2e-3, 2e-4, 2e-5
#: relative decrease of the sum of squares, and relative change of the unknowns, below which it counts as minimal
SETTLED, STILL = 1e-5, 1e-6
RISE = 3.841458820694124  # rise of the sum of squares at the ends of a 95 % interval, of one degree of freedom
#: shares of the predictable part over which starts are improved one after the other: the width of the valley of the
#: minimum decreases with the length, and over each part the minimum of the one before must lie in it
PARTS = (0.15, 0.2, 0.27, 0.36, 0.48, 0.64, 0.8, 1.0)
GROWING = 4  # iterations over each of them but the last
AGREE = 3  # number of starts with the same minimum, which explains the data, after which no others are improved
SAME = 0.01  # difference of sums of squares that counts as none, small beside the rise of an interval
NEAR = 1.2  # how much more than expected a rise may be, at an end of an interval and of a parabola
REFINED = 3  # evaluations at an end of an interval once it is enclosed
#: change of an estimate by shorter steps, in its deviations, from which it is remarked, and from which no interval is
#: stated
MOVED, FAR = 0.5, 1.0
NONE = "No 95 % interval is stated, since"  # how a remark begins that takes the intervals back
UNLIKELY = 5.0  # deviations of the mean square residual of noise above which it is none


def levenberg_marquardt(
    residual: Callable[[Array], Array], x: Array, low: Array, high: Array, *, iterations: int, free: Array | None = None
) -> tuple[Array, float]:
    """The minimum of the sum of squared residuals near x within bounds (n,), over unknowns that are free (all)."""
    from scipy.optimize import least_squares

    x = np.clip(np.asarray(x, dtype=float), low, high)
    moving = np.arange(len(x)) if free is None else np.flatnonzero(free)
    last: list[Any] = [None, None]

    def of(y: Array) -> Array:
        """Residuals at the unknowns that move, of the last ones without another evaluation."""
        if last[0] is None or not np.array_equal(last[0], y):
            whole = x.copy()
            whole[moving] = y
            last[:] = y.copy(), residual(whole)
        return np.asarray(last[1])

    def slopes(y: Array, step: float) -> Array:
        """One-sided differences, inwards at bounds."""
        base, columns = of(y), []
        for i in range(len(y)):
            moved = x.copy()
            moved[moving] = y
            h = step if y[i] + step <= high[moving[i]] else -step
            moved[moving[i]] += h
            columns.append((residual(moved) - base) / h)
        return np.column_stack(columns)

    y, left = x[moving], iterations
    cost = float(of(y) @ of(y))
    for step in STEPS if moving.size else ():
        found = least_squares(
            of, y, jac=lambda y, step=step: slopes(y, step), bounds=(low[moving], high[moving]), x_scale="jac",
            max_nfev=max(left, 2), ftol=SETTLED, xtol=STILL, gtol=1e-12,
        )  # fmt: skip
        y, cost, left = found.x, 2.0 * float(found.cost), left - found.nfev + 1
    x[moving] = y
    return x, cost


@settings
class FitMotion:
    """Settings of `fit_motion`.

    Parameters
    ----------
    starts : points of the parameters that are compared over the beginning of the motion
    improved : how many of the best are improved at most, all of fewer starts; three with the same minimum suffice if it
        explains the data
    iterations : of each improvement
    profile : largest number of values on each side of a profile likelihood, at doubled distances; 0 for none
    seed
    """

    starts: int = 96
    improved: int = 6
    iterations: int = 15
    profile: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("starts", "improved", "iterations"):
            if getattr(self, name) < 1:
                raise InputError(f"FitMotion: {name} must be at least 1, got {shown(getattr(self, name))}.")


@dataclass(frozen=True, eq=False)
class Profile:
    """Profile likelihood of one parameter.

    Parameters
    ----------
    values, rise : of the parameter, and of the sum of squares above its minimum
    interval : of 95 %, unless `MotionFit.unstated` says why not: where the rise is that of noise at its ends; an end
        that the data do not bound is the end of the search range
    known : whether both ends are within the range
    """

    values: Array
    rise: Array
    interval: tuple[float, float]
    known: bool


@dataclass(frozen=True, eq=False)
class MotionFit(Saved):
    """Result of `fit_motion`; printed, a table.

    Parameters
    ----------
    names, values, deviation : of the parameters; deviations by the linearised motion
    profiles : by name
    cost : sum of squares at the minimum, of `samples` residuals
    until : time [s] up to which the motion was used
    others : cost and values of the other minima that were found
    runs, seconds
    correlation : of the parameters
    finer, shift : finer steps, and by how many deviations the estimate of each parameter would change with them, by the
        linearised motion; NaN if the run with them ends early
    units : of the parameters
    """

    names: tuple[str, ...]
    values: Array
    deviation: Array
    profiles: Mapping[str, Profile]
    cost: float
    samples: int
    until: float
    others: tuple[tuple[float, tuple[float, ...]], ...]
    runs: int
    seconds: float
    correlation: Array = field(default_factory=lambda: np.zeros((0, 0)))
    shift: Array = field(default_factory=lambda: np.zeros(0))
    finer: StepControl | None = None
    units: tuple[str, ...] = ()

    @property
    def explained(self) -> bool:
        """Whether the residuals can be noise of the stated size."""
        return _explained(self.cost, self.samples)

    @property
    def unstated(self) -> str:
        """Why the intervals of the profiles are none of 95 %; empty if they are."""
        if np.any(np.abs(self.shift) > FAR):
            return "the steps are too long"
        if np.any(np.isnan(self.shift)):
            return "the error of the steps is not known"
        return "" if self.explained else "the fit does not explain the data"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Objections to the estimate and its intervals: error of the steps, and residuals that are not noise."""
        found, mean = [], self.cost / self.samples
        moved = ", ".join(
            f"{name} by {shift:.1f}" for name, shift in zip(self.names, self.shift, strict=False) if abs(shift) > MOVED
        )
        if moved and np.any(np.abs(self.shift) > FAR):
            found.append(
                f"{NONE} the steps are too long: finer ones, {self.finer}, would move the "
                f"estimate, in deviations: {moved}, and even finer ones perhaps by more; choose shorter steps."
            )
        elif moved:
            found.append(
                f"Finer steps, {self.finer}, would move the estimate, in deviations: {moved}. This error is not in its "
                "intervals; choose shorter steps."
            )
        if np.any(np.isnan(self.shift)):
            found.append(f"{NONE} a run with finer steps, {self.finer}, ends early: the error of these is not known.")
        if not self.explained:
            head = "The fit does not" if not np.all(np.abs(self.shift) <= FAR) else f"{NONE} the fit does not"
            found.append(
                f"{head} explain the data: the mean square residual is {mean:.3g} where that of noise is 1. Try more "
                "starts, another seed or wider ranges: there may be a lower minimum; shorter steps; otherwise the "
                "noise is larger than stated, or the model lacks something."
            )
        return tuple(found)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Parameters that the data do not bound on both sides."""
        return tuple(name for name, one in self.profiles.items() if not one.known)

    def __str__(self) -> str:
        lines = [
            f"up to {self.until:.4g} s, {self.samples} samples, mean square residual {self.cost / self.samples:.3f}, "
            f"{self.runs} runs in {self.seconds:.1f} s",
            "| parameter | value | deviation |" + ("" if self.unstated else " 95 % interval |"),
            "|---|---|---|" + ("" if self.unstated else "---|"),
        ]
        named = zip(self.names, self.units or [""] * len(self.names), strict=True)
        shown = [f"{name} [{unit}]" if unit.strip("-") else name for name, unit in named]
        for name, head, value, deviation in zip(self.names, shown, self.values, self.deviation, strict=True):
            profile = self.profiles.get(name)
            ends = "" if profile is None else f"{profile.interval[0]:.4g} to {profile.interval[1]:.4g}"
            ends += "" if profile is None or profile.known else ", not bounded by the data"
            lines.append(f"| {head} | {value:.5g} | {deviation:.2g} |" + ("" if self.unstated else f" {ends} |"))
        return "\n".join([*lines, *("" for _ in self.remarks[:1]), *self.remarks])

    def as_dictionary(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "until": self.until, "mean square residual": self.cost / self.samples, "runs": self.runs,
            "seconds": self.seconds, "unknown": list(self.unknown), "remarks": list(self.remarks), "parameters": {},
        }  # fmt: skip
        moved = dict(zip(self.names, self.shift.tolist(), strict=False))
        for name, value, deviation in zip(self.names, self.values, self.deviation, strict=True):
            one: dict[str, Any] = {"value": float(value), "deviation": float(deviation)}
            if self.units:
                one["unit"] = self.units[self.names.index(name)]
            shift = moved.get(name, math.nan)
            one["shift"] = shift if math.isfinite(shift) else None
            if name in self.profiles:
                interval = None if self.unstated else list(self.profiles[name].interval)
                one |= {"interval": interval, "known": self.profiles[name].known}
            found["parameters"][name] = one
        return found


@telling
def fit_motion(
    system: System, stepper: Stepper, data: MotionData,
    parameters: Mapping[str, tuple[float | str, float | str]], *,
    dt: float | StepControl, settings: FitMotion | None = None, until: float | None = None,
    resume: str | os.PathLike[str] | None = None, executor: Any = 1, progress: Progress = None,
) -> MotionFit:  # fmt: skip
    """Fit parameters of a mechanism, such as clearance, friction and restitution of a joint, to its measured motion.

    InputError for an unknown parameter, a range that is not positive, a column that the mechanism does not have, or a
    file of another search.

    Parameters
    ----------
    system : starts as the measured mechanism did
    stepper, dt : of the runs, as in `simulate`
    data : the measured motion
    parameters : name -> range (low, high), low > 0, numbers or ``"10 um"``; searched on a logarithmic scale
    settings : `FitMotion`
    until : [s], end of the part of the motion that is used; all of it by default, see `predictable_time`
    resume : file (.json) with finished starts, improvements and profiles, from which an interrupted search is continued
    executor : as for `nonsmooth.studies.sweep`, but 1 by default; any gives the same result, and more than one process
        also improve starts that may not be needed
    progress : callable (what, share), or True for words on one line, optional
    """
    check_processes(executor)
    search = _Fit(system, stepper, data, parameters, dt, settings or FitMotion(), until, resume, progress, executor)
    remedy = f"{'' if resume else 'with resume=FILE.json (--resume) '}the same call goes on from there"
    total = search.chosen.starts + search.chosen.improved + len(search.names)  # a profile each, at least
    with handing_over(search.done, total, "parts of the search", lambda: dict(search.done), remedy):
        return search.result()


class _Fit:
    """One search; x are the logarithms of the parameters."""

    def __init__(
        self, system: System, stepper: Stepper, data: MotionData,
        parameters: Mapping[str, tuple[float | str, float | str]],
        dt: float | StepControl, chosen: FitMotion, until: float | None, resume: str | os.PathLike[str] | None,
        progress: Progress, executor: Any,
    ) -> None:  # fmt: skip
        ranges = {}
        for name, (low, high) in parameters.items():
            system.parameter_vector({name: low})
            ends = ranges[name] = [float(in_si(name, one, system.unit_of(name))) for one in (low, high)]
            require(0 < ends[0] < ends[1], f'The range of "{name}" must be two numbers 0 < low < high', (low, high))
        if not parameters:
            raise InputError("No parameter is named; give at least one with its range.")
        self.system, self.stepper, self.dt, self.chosen = system, stepper, dt, chosen
        self.names = tuple(parameters)
        self.low, self.high = np.log(np.array(list(ranges.values()))).T
        end = float(data.t[-1]) if until is None else float(until)
        used = data.t <= end
        if np.sum(used) < 20:
            raise InputError(f"Only {np.sum(used)} sample(s) are before until = {end:.6g} s; at least 20 are needed.")
        self.steps = step_control(in_si("dt", dt, "s"), (system.start.t, end))
        columns = {name: values[used] for name, values in data.columns.items()}
        self.data = MotionData(data.t[used], columns, data.noise)
        self._say, self.runs, self.executor = whom(progress), 0, executor
        self._last: tuple[Array, Array, Array] | None = None
        self.begin = time.perf_counter()
        # parts of this very search that are done
        text = repr((self.names, self.low.tolist(), self.high.tolist(), self.chosen, self.dt, self.stepper))
        digest = hashlib.sha256(text.encode())
        for name, values in self.data.columns.items():
            digest.update(name.encode() + values.tobytes() + self.data.t.tobytes())
        self.path, self.key = None if resume is None else Path(resume), digest.hexdigest()
        self.done: dict[str, Any] = {}
        if self.path is not None and self.path.exists():
            try:
                found = json.loads(self.path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                raise InputError(f"{self.path} is no file of a search; remove it or name another.") from None
            if not isinstance(found, dict) or found.get("search") != self.key:
                raise InputError(f"{self.path} is of another search, data or range; remove it or name another.")
            self.done = found["done"]

    def _once(self, name: str, compute: Callable[[], Any]) -> Any:
        """A part of the search, computed unless it is known."""
        if name not in self.done:
            self.done[name] = compute()
            if self.path is not None:
                write_bytes(json.dumps({"search": self.key, "done": self.done}).encode(), self.path, "The search")
        return self.done[name]

    def __getstate__(self) -> dict[str, Any]:
        """For other processes, which compute single parts."""
        return self.__dict__ | {"_say": None, "path": None, "done": {}, "executor": 1}

    def _apart(self, method: str, *task: Any) -> tuple[Any, int]:
        """Outcome of a method, and its number of runs."""
        before, self.runs = self.runs, 0
        try:
            return getattr(self, method)(*task), self.runs
        finally:
            self.runs = before

    def _each(self, method: str, tasks: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
        """Names and outcomes of parts of the search, as they finish; those that are known come first."""
        left = [name for name in tasks if name not in self.done]
        yield from ((name, self.done[name]) for name in tasks if name not in left)
        work = partial(self._apart, method)
        for number, (found, runs) in outcomes(work, [tasks[name] for name in left], executor=self.executor):
            self.runs += runs
            yield left[number], self._once(left[number], lambda found=found: found)  # type: ignore[misc]

    def residual(self, x: Array, part: float = 1.0, dt: float | StepControl | None = None) -> Array:
        """Over a part of the motion, in standard deviations; with other steps than those of the fit."""
        count = max(20, round(part * len(self.data.t)))
        cut = MotionData(self.data.t[:count], {k: v[:count] for k, v in self.data.columns.items()}, self.data.noise)
        values = dict(zip(self.names, np.exp(x).tolist(), strict=True))
        self.runs += 1
        found = simulated_columns(self.system, self.stepper, cut, values, dt or self.dt, float(cut.t[-1]))
        measured = np.array([cut.columns[name] / cut.noise[name] for name in cut.columns])
        return (found - measured).ravel()

    def _beginning(self, x: Array) -> float:
        return float(np.sum(self.residual(x, PARTS[0]) ** 2))

    def _improve(self, x: Array) -> list[float]:
        """Cost and x of the minimum next to a start, over increasing parts of the motion."""
        for part in PARTS[:-1]:
            x, _ = levenberg_marquardt(partial(self.residual, part=part), x, self.low, self.high, iterations=GROWING)
        return self._finish(x)

    def _finish(self, x: Array, free: Array | None = None) -> list[float]:
        """Cost and x of the minimum next to x over the whole motion."""
        x, cost = levenberg_marquardt(
            self.residual, x, self.low, self.high, iterations=self.chosen.iterations, free=free
        )
        return [float(cost), *x.tolist()]

    def result(self) -> MotionFit:
        from scipy.stats import qmc

        points = qmc.LatinHypercube(len(self.names), rng=self.chosen.seed).random(self.chosen.starts)
        every = self.low + points * (self.high - self.low)
        costs = dict[str, float]()
        for name, cost in self._each("_beginning", {f"start {k}": (x,) for k, x in enumerate(every)}):
            costs[name] = cost
            self._say(f"start {len(costs)} of {len(every)}", 0.4 * len(costs) / len(every))
        left = sorted(range(len(every)), key=lambda k: (costs[f"start {k}"], *every[k].tolist()))
        minima: list[list[float]] = []
        tried: list[int] = []
        samples, count = len(self.data.t) * len(self.data.columns), min(self.chosen.improved, len(left))

        def following(tried: list[int]) -> int:
            """The next start: the best, or while no minimum explains the data that farthest from those tried."""
            likely = [k for k in left if k not in tried]
            if not minima or _explained(min(minima)[0], samples):
                return likely[0]
            likely = likely[: 2 * self.chosen.improved - len(tried)]
            span = self.high - self.low
            return max(likely, key=lambda k: min(float(np.linalg.norm((every[k] - every[j]) / span)) for j in tried))

        for k in range(count):
            ahead = list(tried)  # and those after it, if what is known then is what is known now
            while len(ahead) < min(k + width(self.executor), count):
                ahead.append(following(ahead))
            tried.append(ahead[k])
            if f"minimum from {tried[-1]}" not in self.done:
                dict(self._each("_improve", {f"minimum from {j}": (every[j],) for j in ahead[k:]}))
            minima.append(self.done[f"minimum from {tried[-1]}"])
            self._say(f"minimum {k + 1} of {count}", 0.4 + 0.4 * (k + 1) / count)
            lowest = min(minima)[0]
            if _explained(lowest, samples) and sum(one[0] <= lowest + SAME for one in minima) >= AGREE:
                break
        (best, *others), rounds = sorted(minima), 0
        while (better := self._profiles(best, rounds)) is not None:
            best, rounds = better, rounds + 1
        least = np.array(best[1:])
        residual, J = self._linearised(least)
        covariance = _covariance(J)
        spread = np.sqrt(np.diagonal(covariance))
        shorter = self.residual(least, dt=finer(self.steps))
        change = shorter - residual if np.max(np.abs(shorter)) < FAILED / 2 else np.full_like(shorter, np.nan)
        minimum = tuple((one[0], tuple(np.exp(one[1:]).tolist())) for one in others)
        seconds = time.perf_counter() - self.begin
        return MotionFit(
            self.names, np.exp(least), np.exp(least) * spread, self.found, best[0], samples, float(self.data.t[-1]),
            minimum, self.runs, seconds, covariance / np.outer(spread, spread), -covariance @ (J.T @ change) / spread,
            finer(self.steps), tuple(map(self.system.unit_of, self.names)),
        )  # fmt: skip

    def _profiles(self, best: list[float], rounds: int) -> list[float] | None:
        """Profiles about a minimum, kept in `found`; a lower minimum instead as soon as a profile meets one."""
        self.found: dict[str, Profile] = {}
        if not self.chosen.profile:
            return None
        covariance = _covariance(self._linearised(np.array(best[1:]))[1])
        tasks = {
            f"profile {rounds} {k} {side}": (f"profile {rounds} {k} {side}", k, best, covariance, side)
            for k in range(len(self.names)) for side in (-1, 1)
        }  # fmt: skip
        sides = dict[str, Any]()
        for name, side in self._each("_side", tasks):
            sides[name] = side
            # the first in the order of the tasks, whichever process was faster
            first = next((one for one in tasks if one not in sides or sides[one]["better"]), None)
            if first in sides:
                self._say("lower minimum found", 0.8)
                better = np.array(sides[first]["better"][1:])
                return self._once(f"minimum of round {rounds}", partial(self._finish, better))
            self._say(f"side {len(sides)} of {len(tasks)} of the profiles", 0.8 + 0.2 * len(sides) / len(tasks))
        for k, name in enumerate(self.names):
            points = dict(point for side in (-1, 1) for point in sides[f"profile {rounds} {k} {side}"]["points"])
            values = np.array(sorted(points))
            rise = np.maximum([float(points[value]) - best[0] for value in values.tolist()], 0.0)
            ends = []  # outermost values where the rise crosses that of 95 %; else the ends of the range
            for side, bound in ((-1, float(self.low[k])), (1, float(self.high[k]))):
                own = np.flatnonzero(side * (values - best[1 + k]) >= 0)[::side]  # from the minimum outwards
                inside = int(np.flatnonzero(rise[own] < RISE)[-1])
                if inside == len(own) - 1:
                    ends.append(bound)
                    continue
                i, j = own[inside], own[inside + 1]
                ends.append(_crossing(float(values[i]), float(rise[i]), float(values[j]), float(rise[j])))
            known = bool(ends[0] > self.low[k] and ends[1] < self.high[k])
            self.found[name] = Profile(np.exp(values), rise, (float(np.exp(ends[0])), float(np.exp(ends[1]))), known)
        return None

    def _linearised(self, x: Array) -> tuple[Array, Array]:
        """Residuals and their Jacobian by the logarithms, of the last x without further runs."""
        if self._last is None or not np.array_equal(self._last[0], x):
            step, base = 1e-4, self.residual(x)
            slopes = [(self.residual(x + step * e) - base) / step for e in np.eye(len(x))]
            self._last = x, base, np.column_stack(slopes)
        return self._last[1:]

    def _side(self, key: str, k: int, best: list[float], covariance: Array, side: int) -> dict[str, Any]:
        """Values and costs outwards from the minimum, until the rise is clear or the range ends; a point below the
        minimum, with which they end, as `better`."""
        least, x, bound = best[0], np.array(best[1:]), float((self.low if side < 0 else self.high)[k])
        spread = float(np.clip(np.sqrt(covariance[k, k]), 1e-5, 0.2))
        along = covariance[k] / covariance[k, k]  # the minimum over the others, linearised
        points, inner, outer, refined = {float(x[k]): best}, float(x[k]), float(x[k]), 0
        for i in range(self.chosen.profile + REFINED):
            if points[outer][0] - least < RISE:
                if outer == bound or i >= self.chosen.profile:
                    break
                inner = outer
                value = float(np.clip(x[k] + side * spread * 2.0**i, self.low[k], self.high[k]))
            elif points[outer][0] - least < NEAR * RISE or refined == REFINED:
                break
            else:
                value = _crossing(inner, points[inner][0] - least, outer, points[outer][0] - least)
                refined += 1
            first = np.clip(x + along * (value - x[k]), self.low, self.high)
            expected = least + NEAR * ((value - x[k]) / spread) ** 2
            compute = partial(self._constrained, value, k, first, np.array(points[inner][1:]), expected)
            points[value] = self._once(f"{key} {i}", compute)
            if points[value][0] < least - SAME:
                return {"points": [], "better": points[value]}
            if points[outer][0] - least < RISE or points[value][0] - least >= RISE:
                outer = value
            else:
                inner = value
        return {"points": [[value, point[0]] for value, point in points.items()], "better": None}

    def _constrained(self, value: float, k: int, first: Array, beside: Array, expected: float) -> list[float]:
        """Cost and x of the minimum at a value of parameter k: from the linearised valley, and if it is higher than
        expected there, from the point beside as well."""
        first[k] = beside[k] = value
        free = np.arange(len(first)) != k
        found = self._finish(first, free)
        return found if found[0] <= expected else min(found, self._finish(beside, free))


def _explained(cost: float, samples: int) -> bool:
    return (cost / samples - 1.0) * math.sqrt(samples / 2.0) <= UNLIKELY


def _covariance(J: Array) -> Array:
    """Covariance of the logarithms, by the linearised motion."""
    _, s, Vt = np.linalg.svd(J, full_matrices=False)
    s = np.maximum(s, 1e-8 * s[0])
    return np.asarray((Vt.T / s**2) @ Vt, dtype=np.float64)


def _crossing(inner: float, low: float, outer: float, high: float) -> float:
    """Where the rise reaches that of 95 % between two values; its root is interpolated, exact for a parabola."""
    low, high = max(low, 0.0) ** 0.5, high**0.5
    return inner + (RISE**0.5 - low) / (high - low) * (outer - inner)
