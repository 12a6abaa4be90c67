"""Statistics of long motions: rates, means, quantiles and extremes, each with its interval.

A single run of a motion that is sensitive to its initial state is one sample after its horizon. What is well defined
there are means over time, which this study estimates from independent runs, with two step sizes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import contact_intervals
from nonsmooth.exceptions import InputError, Interrupted, NonsmoothError, SimulationFailed
from nonsmooth.model.clearances import RevoluteClearance
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, telling, whom
from nonsmooth.run.arguments import check_stepper
from nonsmooth.run.simulate import simulate
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.schemes.gauss.gauss_qp import GaussQP
from nonsmooth.settings import is_number, require
from nonsmooth.step.control import TENTH, ErrorControl, StepControl, finer, step_control
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import check_count, check_known, check_processes, mapping
from nonsmooth.studies.files import Result, variable
from nonsmooth.studies.statistics.estimates import CONFIDENCE, Part, Sample, estimates, stated, transient
from nonsmooth.studies.statistics.measures import BLOCK, COUNTED, OVER, Measure, Named, period_of
from nonsmooth.studies.statistics.members import Members, Windows
from nonsmooth.studies.sweep import Mechanism, system_of
from nonsmooth.studies.workers import is_local, outcomes, width
from nonsmooth.trajectory.dataset import texts
from nonsmooth.trust.automatic import MANY, rungs

#: windows of the first runs, by which steps and times are known, and of each member before the first estimate
FIRST, BEGIN = 4, 64
#: windows of each member at least, whatever the budget
LEAST = 32
#: rows of a run between two of which it is measured
ROWS = 30_000
#: levels of steps at most, and seconds of all runs below which one process is enough
LEVELS, QUICK = 4, 4.0
#: rows of a spectrum, and what its name begins with
SPECTRAL = ("frequency", "density", "low", "high")
SPECTRUM = "spectrum:"
#: precision that is wanted and seconds that it may take where neither an end nor a precision is given
PRECISION, SECONDS = 0.05, 50.0


@dataclass(frozen=True)
class Statistic:
    """Estimate of one measure, with its interval.

    Parameters
    ----------
    name, unit, meaning : of the measure
    value : the estimate
    low, high : 95 % interval, which contains both of the following parts
    sampling : half the width due to the finite number of independent windows
    bias : half the width due to steps: what two step sizes differ by, if this is more than sampling explains
    seen : difference of two step sizes that would have been noticed; infinite if there was no second one
    offset : of the value with the steps that were given, or the first ones, from `value`, relative, and half the width
        of its interval; not numbers if no bias was seen
    windows : number of independent windows that have the same error of the mean
    verdict : a sentence
    """

    name: str
    unit: str
    meaning: str
    value: float
    low: float
    high: float
    sampling: float
    bias: float
    seen: float
    offset: tuple[float, float]
    windows: float
    verdict: str


@dataclass(frozen=True, eq=False)
class Statistics(Result):
    """Result of `long_run`: a mapping-like ``found["energy-rate"]`` to `Statistic`.

    Parameters
    ----------
    kind
        "chaotic": members have separated, so that only statistics are known; "periodic" or "predictable": they move
        alike until the end, so that values are exact but for steps; "several motions": they end in different periodic
        motions; for one motion with an end "sensitive" or "accurate".
    measures : the estimates, by name
    verdict : a sentence on all
    window, period : [s], over which measures are taken, and of the driver; None without one
    members, windows, transient : independent runs, windows of each, and windows that were left out as their transient
    steps : the stepper and the steps of each level that counts
    places : density of the journal's centre (cells, cells) by joint, share of time per cell
    samples : values of windows (n, measures), some of very many, for distributions
    spectra : frequency [Hz], power spectral density, and the ends of its 95 % interval (4, n), by name
    """

    system: str
    kind: str
    measures: Mapping[str, Statistic]
    verdict: str
    window: float
    period: float | None
    members: int
    windows: int
    transient: int
    steps: tuple[str, ...]
    seconds: float
    samples: Array
    places: Mapping[str, Array] = field(default_factory=dict)
    seed: int = 0
    spectra: Mapping[str, Array] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Statistic:
        if name not in self.measures:
            raise InputError(f'There is no measure "{name}"; there are {", ".join(self.measures)}.')
        return self.measures[name]

    def column(self, name: str) -> Array:
        """Values (n,) of a measure in windows, some of very many."""
        self[name]
        return np.asarray(self.samples[:, list(self.measures).index(name)])

    def summary(self) -> str:
        """A table as text."""
        rows = [("measure", "unit", "estimate", "95 % interval", "sampling", "bias of steps")]
        rows += [
            (one.name, one.unit, f"{one.value:.5g}", f"{one.low:.5g} to {one.high:.5g}",
             f"±{float(f'{one.sampling:.2g}'):g}", f"±{float(f'{one.bias:.2g}'):g}") for one in self.measures.values()
        ]  # fmt: skip
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, "", self.verdict])

    def plain(self) -> dict[str, Any]:
        """Plain data, as `nonsmooth study statistics --json` prints it."""
        table = {
            name: {
                "estimate": one.value, "interval": [one.low, one.high], "unit": one.unit, "sampling": one.sampling,
                "bias": one.bias, "bias_seen_above": one.seen, "offset_of_first_steps": list(one.offset),
                "independent_windows": one.windows, "meaning": one.meaning, "verdict": one.verdict,
            } for name, one in self.measures.items()
        }  # fmt: skip
        return {
            "mechanism": self.system, "kind": self.kind, "verdict": self.verdict, "measures": table,
            "window": self.window, "period": self.period, "members": self.members, "windows": self.windows,
            "transient": self.transient, "steps": list(self.steps), "seconds": self.seconds, "seed": self.seed,
            "spectra": {name: dict(zip(SPECTRAL, one.tolist(), strict=True)) for name, one in self.spectra.items()},
        }  # fmt: skip

    def _tables(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        every = list(self.measures.values())
        words = {
            "value": "estimate", "low": "lower end of the 95 % interval", "high": "upper end of it",
            "sampling": "half its width due to sampling", "bias": "half its width due to steps",
            "windows": "independent windows",
        }  # fmt: skip
        data = {
            name: variable("measure", [getattr(one, name) for one in every], None, text) for name, text in words.items()
        }
        data["samples"] = variable(("sample", "measure"), self.samples, None, "values of windows")
        for name, table in self.places.items():
            data[f"place_{name}"] = variable(
                ("across", "up"), table, "-", "share of time of the journal's centre per cell"
            )
        for name, rows in self.spectra.items():
            data[name] = variable(("of_spectrum", "frequency"), rows, None, "power spectral density with its interval")
        coordinates = {"measure": texts(self.measures), "unit": variable("measure", texts(one.unit for one in every))}
        if self.spectra:
            coordinates["of_spectrum"] = texts(SPECTRAL)
        facts = {
            "title": f"statistics of {self.system}", "verdict": self.verdict, "kind": self.kind, "window": self.window,
        }  # fmt: skip
        return data, coordinates, facts


@telling
def long_run(
    mechanism: Mechanism, stepper: Stepper | None = None, *, t_end: float | None = None,
    precision: float | None = None, dt: float | StepControl | None = None, measures: Sequence[Any] = (),
    period: float | None = None, window: float | None = None, members: int = 12, max_seconds: float | None = None,
    seed: int = 0, parameters: Mapping[str, float] | None = None, arguments: Mapping[str, Any] | None = None,
    executor: Any = None, progress: Progress = None,
) -> Statistics:  # fmt: skip
    """Estimate long-run means, quantiles and extremes of a motion, each with a 95 % interval.

    Independent runs, the members, begin alike but for a millionth of their velocities. Their transient, until they are
    stationary and have separated, is detected and left out. Each measure is a number per window of time; intervals
    follow from the members by Student's distribution, not from correlated windows. All is done with two step sizes:
    where their difference is significant, the finer one goes on with a still finer one.

    Where drivers have no period, and no window is given, measures are those of the whole motion until `t_end`, and
    intervals those of their means over motions that begin alike.

    InputError for a transient that is longer than half of the run, or a measure that does not converge;
    NonsmoothError if runs fail with all steps; Interrupted after Ctrl-C, with the statistics of shorter runs so far.

    Parameters
    ----------
    mechanism : a system, a model, or a function that returns a model
    stepper, dt : as of `simulate`; chosen if omitted
    t_end : [s]
        End of each member. If omitted, runs are extended until the precision is reached.
    precision : [-]
        Half the width of each interval as a share of the estimate, at which to stop; 0.05 if there is no end either.
    measures : list
        Names, such as ``"energy-rate"``, ``"mean-force:pin"``, ``"force-over-1ms:pin@return=10s"``, and functions of a
        trajectory that return a number; the usual ones if omitted.
    period : [s]
        Period of the driver, over which a measure is taken; found if omitted, where drivers are harmonic or turn.
    window : [s]
        Time over which a measure is taken, of a mechanism without a driver.
    members : int
        Number of independent runs with each step size, at least 4.
    max_seconds : [s]
        Time after which no further runs begin; 50 s of a whole motion, or if there is no end.
    seed : int
        Seed of the initial states.
    parameters, arguments : constant parameters of the system, and arguments of the function
    executor : as for `sweep`
    progress : callable (what, share), or True for words on one line, optional

    Notes
    -----
    The interval of a mean is Student's of the members' means; that of a quantile, a standard deviation or a return
    level follows from the jackknife that leaves out one member at a time. The transient lasts until the members have
    separated, and their mean is stationary by MSER (White 1997). Step sizes are compared by Welch's test, at 5 % for
    all measures together.

    >>> from nonsmooth_problems import slider_crank_revolute
    >>> found = long_run(slider_crank_revolute, t_end=0.6, measures=["energy-rate"], members=4, executor=1)
    >>> found.kind, bool(found["energy-rate"].low < 40.0 < found["energy-rate"].high)
    ('chaotic', True)
    """
    check_stepper(stepper)
    check_processes(executor, progress)
    check_count("members", members, 4)
    check_count("seed", seed, 0)
    times = {"t_end": t_end, "period": period, "window": window, "max_seconds": max_seconds, "precision": precision}
    for name, value in times.items():
        require(value is None or is_number(value) and value > 0.0, f"{name} must be a positive number", value)
    system, p = system_of(mechanism, mapping("arguments", arguments)), mapping("parameters", parameters)
    check_known(system, p)
    period = period_of(system) if period is None and window is None else period
    if period is not None and window is not None:
        raise InputError(f"Give period = {period:g} s of a driver, or a window without a driver, not both.")
    length = period or window
    if length is None and t_end is None:
        raise InputError(
            "The mechanism has no driver with one period: give period, or the window over which measures are taken, or "
            "t_end for the statistics of the motion until then."
        )
    if t_end is not None and t_end <= system.start.t:
        raise InputError(f"t_end must lie after the start at t = {system.start.t:g} s, got {t_end:g}.")
    listed = isinstance(measures, Sequence) and not isinstance(measures, str)
    require(listed, "measures must be a list of names and functions", measures)
    endless = t_end is None and precision is None
    runs = _Runs(
        system, stepper, None if dt is None else step_control(dt), p, tuple(measures), length, period, t_end,
        PRECISION if endless else precision,
        SECONDS if max_seconds is None and (t_end is None or length is None) else max_seconds,
        members, seed, executor, whom(progress),
    )  # fmt: skip
    return runs.result()


@dataclass(eq=False)
class _Level:
    """An ensemble with one step size."""

    number: int
    ensemble: Members
    windows: dict[int, Windows] = field(default_factory=dict)
    states: dict[int, State] = field(default_factory=dict)
    fields: dict[int, list[tuple[int, int, dict[str, Array]]]] = field(default_factory=dict)
    done: int = 0
    seconds: float = 0.0  # of one window
    failed: str = ""

    @property
    def words(self) -> str:
        return f"{type(self.ensemble.stepper).__name__}, {self.ensemble.control}"


class _Runs:
    """The ensembles of one call, which advance until the end, the precision or the budget is reached."""

    def __init__(
        self, system: System, stepper: Stepper | None, control: StepControl | None, parameters: Mapping[str, float],
        given: tuple[Any, ...], length: float | None, period: float | None, t_end: float | None,
        precision: float | None, budget: float | None, members: int, seed: int, executor: Any,
        tell: Any,
    ) -> None:  # fmt: skip
        self.clock, self.budget, self.precision = time.perf_counter(), budget, precision
        self.executor, self.tell, self.members = executor, tell, members
        start = system.start.t
        self.whole = length is None
        assert t_end is not None or length is not None
        self.window = length or (t_end or 0.0) - start
        self.most = 1 if self.whole else None if t_end is None else int((t_end - start) / self.window + 1e-9)
        if self.most is not None and not self.whole and self.most < 2 * FIRST:
            raise InputError(
                f"The run until {t_end:g} s has {self.most} windows of {self.window:g} s; give at least {2 * FIRST} of "
                "them."
            )
        named = Named(system, self.window, period)
        given = given or tuple(named.usual())
        self.spectra = [one.name for one in map(named.measure, given) if one.name.startswith(SPECTRUM)]
        if self.spectra and self.whole:
            raise InputError("A spectrum needs windows: give period or window.")
        given = tuple(one for one in given if not str(one).startswith(SPECTRUM)) or tuple(named.usual())
        self.measures = [named.measure(one) for one in given]
        names = [one.name for one in self.measures]
        if len(set(names)) < len(names):
            raise InputError(f"Measures must have different names, got {', '.join(names)}.")
        if self.whole and any(one.statistic == "return" for one in self.measures):
            raise InputError("A return level needs windows: give period or window.")
        self.functions = any(callable(one) for one in given)
        places = () if self.whole else tuple(
            one.name for one in system.elements if isinstance(one, RevoluteClearance) and not one.spatial
        )  # fmt: skip
        twin = any("deviation" in one.name for one in self.measures)
        self.ladder = [
            Members(
                system, scheme, steps, dict(parameters), given, self.window, period, places=places,
                spectra=tuple(self.spectra), twin=twin, seed=seed,
            )
            for scheme, steps in _ladder(system, stepper, control, self.window, self.whole)
        ]  # fmt: skip
        self.levels: list[_Level] = []
        self.taken = 0  # levels of the ladder so far
        self.given_up: list[str] = []
        self.rejected: tuple[_Level, list[Part]] | None = None

    @property
    def left(self) -> float:
        """Seconds of the budget."""
        return math.inf if self.budget is None else self.budget - (time.perf_counter() - self.clock)

    def next_level(self) -> bool:
        """Take up the next finer steps, those with which a first run succeeds; False if there are none.

        Its windows tell what all members share: windows per run, and what counts as an impact.
        """
        while self.taken < len(self.ladder):
            ensemble = self.ladder[self.taken]
            level = _Level(self.taken, ensemble)
            self.taken += 1
            if not self.whole:
                system, end = ensemble.system, ensemble.system.start.t + FIRST * self.window
                try:
                    run = simulate(system, ensemble.stepper, t_end=end, dt=ensemble.control,
                                   parameters=ensemble.parameters)  # fmt: skip
                except SimulationFailed as failure:
                    self.given_up.append(f"{level.words}: {failure}")
                    if self.taken == len(self.ladder) and not self.levels:
                        raise
                    continue
                # functions of a run have one value for all of its windows, so that there must be some of these
                most = min(256, (self.most or BEGIN) // 16 if self.functions else self.most or 256)
                ensemble.chunk = max(BLOCK if self.spectra else 1, min(int(FIRST * ROWS / len(run.t)), most))
                level.seconds = run.wall_seconds / FIRST
                if self.levels:
                    ensemble.slowest = self.levels[0].ensemble.slowest
                elif system.nc:
                    approach = contact_intervals(run)["approach"]
                    ensemble.slowest = COUNTED * float(np.nanmax(approach, initial=0.0))
            self.levels.append(level)
            return True
        return False

    def advance(self, windows: int, members: int) -> None:
        """Let the members of all levels have so many windows each."""
        tasks = [
            (level, k, windows - (level.done if k in level.windows else 0))
            for level in self.levels for k in range(members)
            if k not in level.windows or level.done < windows
        ]  # fmt: skip
        work = sum(level.seconds * count for level, _, count in tasks)
        quick = is_local(self.executor) and 0 < work < QUICK
        executor, ensembles = 1 if quick else self.executor, {level.number: level.ensemble for level in self.levels}
        arguments = [
            (level.number, k, level.states.get(k), level.done if k in level.windows else 0, count)
            for level, k, count in tasks
        ]
        found = outcomes(lambda number, *task: ensembles[number].advance(number, *task), arguments, executor=executor)
        for n, (number, made) in enumerate(found):
            level, k, count = tasks[number]
            level.failed = level.failed or made.failed
            if not made.failed:
                own = level.windows.get(k)
                level.windows[k] = made.windows if own is None else own.joined(made.windows)
                level.states[k], level.seconds = made.state, made.seconds / count
                kept, at = level.fields.setdefault(k, []), level.done
                for length, fields in made.fields:
                    kept.append((at, length, fields))
                    at += length
            self.tell(f"{windows} windows, {level.ensemble.control}", (n + 1) / len(tasks))
        for level in self.levels:
            level.done = windows

    # ------------------------------------------------------------------------------------------------------- result

    def result(self) -> Statistics:
        """All rounds: ever longer runs with two step sizes, finer ones where these differ."""
        self.next_level()
        self.next_level()
        windows, members = (1, min(4, self.members)) if self.whole else (min(BEGIN, self.most or BEGIN), self.members)
        if self.left < math.inf and (each := self._cost(1, members)) > 0.0:
            windows = max(min(windows, int(0.5 * self.left / each)), min(LEAST, windows))
        while True:
            self._round(windows, members)
            more = self._more(windows, members)
            if more is not None:
                windows, members = more
                continue
            if len(self.levels) < 2 or not self._differ() or not self._affords_finer(windows, members):
                return self._conclude(windows)
            coarse = self.levels.pop(0)
            self.rejected = self.rejected or (coarse, self._parts([coarse]))
            if not self.next_level():
                self.levels.insert(0, coarse)
                return self._conclude(windows)

    def _round(self, windows: int, members: int) -> None:
        """Advance; levels with failures are given up for finer ones.

        After Ctrl-C Interrupted, with what was known before if that is stationary.
        """
        while True:
            before = [(level, dict(level.windows), level.done) for level in self.levels]
            try:
                self.advance(windows, members)
            except KeyboardInterrupt:
                for level, windows_before, done in before:
                    level.windows, level.done = windows_before, done
                self.levels = [level for level in self.levels if level.windows]
                made = None
                if self.levels and self._stationary():
                    made = self._conclude(self.levels[-1].done)
                words = f"`result` of this error is of {made.windows} windows" if made else "nothing is known yet"
                message = f"Interrupted on the way to {windows} windows of each run; {words}."
                raise Interrupted(message, result=made) from None
            lost = [level for level in self.levels if level.failed]
            if not lost:
                return
            self.given_up += [f"{level.words}: {level.failed}" for level in lost]
            kept = [level for level in self.levels if not level.failed]
            self.levels = kept if kept else lost[-1:]
            if kept and not self._affords_finer(windows, members):
                return
            if not self.next_level() and not kept:
                raise NonsmoothError(f"The runs fail with all steps that were tried: {self.given_up[-1]}")
            self.levels = [level for level in self.levels if not level.failed]
            if len(self.levels) < 2:
                self.next_level()

    def _affords_finer(self, windows: int, members: int) -> bool:
        """Whether the time that is left suffices for the next finer steps."""
        return 3.0 * self.levels[-1].seconds * windows * members / width(self.executor) < self.left

    def _cost(self, windows: int, members: int) -> float:
        """Seconds that it takes to come to so many windows and members."""
        todo = (level.seconds * (windows * members - level.done * len(level.windows)) for level in self.levels)
        return sum(todo) / width(self.executor)

    def _more(self, windows: int, members: int) -> tuple[int, int] | None:
        """Windows and members of the next round; None if the precision, the end or the budget is reached."""
        if self.whole:
            wanted = windows, min(2 * members, self.members)
            return wanted if wanted != (windows, members) and self._cost(*wanted) < self.left else None
        if self.precision is not None and self._stationary():
            if all(part.half <= self.precision * abs(part.value) for part in self._parts(self.levels)):
                return None
        next_ = 2 * windows if self.precision is not None or self.most is None else self.most
        next_ = min(next_, self.most or next_)
        each = self._cost(windows + 1, members)
        if each > 0:
            next_ = min(next_, windows + int(0.9 * self.left / each)) if self.left < math.inf else next_
        return (next_, members) if next_ > windows * 1.1 or next_ == self.most != windows else None

    def _dropped(self) -> list[int]:
        """Rows that each measure takes to become stationary, at least."""
        if self.whole:
            return [0]
        samples = (Sample.of(list(level.windows.values()), 0) for level in self.levels)
        found = [transient(one.series, not (one.alike or one.repeats)) for one in samples]
        return np.max(found, axis=0).tolist()

    def _stationary(self) -> bool:
        return 2 * max(self._dropped()) <= self._rows

    @property
    def _rows(self) -> int:
        return next(iter(self.levels[-1].windows.values())).values.shape[1]

    def _samples(self, levels: Sequence[_Level]) -> list[Sample]:
        rows = max(self._dropped(), default=0)
        rows = rows if 2 * rows <= self._rows else 0
        return [Sample.of(list(level.windows.values()), rows) for level in levels]

    def _parts(self, levels: Sequence[_Level]) -> list[Part]:
        return estimates(self.measures, self._samples(levels))

    def _regular(self) -> bool:
        """Whether the members move alike until the end, or repeat one motion, perhaps with other phases."""
        if self.whole:  # motions agree in each measure, to a thousandth
            series = [one.series[:, 0] for one in self._samples(self.levels)]
            return all(bool(np.all(x.std(axis=0) <= 1e-3 * np.abs(x.mean(axis=0)))) for x in series)
        return all(one.alike or one.repeats and not one.several for one in self._samples(self.levels))

    def _differ(self) -> bool:
        """Whether the two step sizes differ by more than sampling explains, at 5 % for all measures together."""
        from scipy.stats import t

        if self._regular():
            return False
        found = []  # probabilities of differences as large as these, by Welch's test
        for a, b in zip(*(self._parts([level]) for level in self.levels[-2:]), strict=True):
            error, apart = math.hypot(a.error, b.error), abs(a.value - b.value)
            found.append(2.0 * float(t.sf(apart / error, _welch_free(a, b))) if error else float(not apart))
        return bool(np.any(np.array(found) < (1 - CONFIDENCE) / len(self.measures)))

    def _conclude(self, windows: int) -> Statistics:
        """The result; InputError if the motion is not stationary."""
        dropped = self._dropped()
        worst = int(np.argmax(dropped))
        regular = self._regular()
        if 2 * dropped[worst] > self._rows and not (regular and dropped[worst] < self._rows):
            columns = [one for each in self.measures for one in (each, each.over) if one is not None]
            raise InputError(
                f'The measure "{columns[worst].name}" is not stationary after {windows} windows, '
                f"{windows * self.window:.3g} s: its transient is longer than half of the run. Give a longer run "
                "(t_end, max_seconds); leave it out if it grows without end."
            )
        differ = len(self.levels) > 1 and self._differ()
        counted = self.levels[-1:] if differ or regular else self.levels
        samples = self._samples(counted)
        parts = self._exact(samples) if regular else estimates(self.measures, samples)
        pairs = [self._parts([level]) for level in self.levels[-2:]] if len(self.levels) > 1 else None
        found = {}
        # the first steps, with their estimates, if those that count differ from them
        biased = self.rejected or ((self.levels[-2], pairs[0]) if pairs is not None and differ else None)
        for i, (measure, part) in enumerate(zip(self.measures, parts, strict=True)):
            found[measure.name] = self._estimate(i, measure, part, pairs, biased, differ, regular)
        if self.whole:
            kind = "accurate" if regular else "sensitive"
        elif regular:
            kind = "periodic" if all(one.repeats for one in samples) else "predictable"
        else:
            kind = "several motions" if any(one.several for one in samples) else "chaotic"
        ensemble, transient = self.ladder[0], samples[0].dropped * samples[0].size
        series = samples[-1].values[:, 3].reshape(-1, samples[-1].values.shape[3])
        first = np.cumsum([0] + [1 + (one.over is not None) for one in self.measures[:-1]])
        verdict = self._verdict(kind, found, biased[0].words if biased else "", differ)
        return Statistics(
            system=self.levels[0].ensemble.system.name, kind=kind, measures=found,
            verdict=verdict, window=self.window, period=ensemble.period,
            members=sum(len(one.values) for one in samples), windows=windows, transient=transient,
            steps=tuple(level.words for level in counted), seconds=time.perf_counter() - self.clock,
            samples=series[:, first][:: max(1, len(series) // 20_000)],
            places={name: np.mean(_means(counted, name, transient), axis=0) for name in ensemble.places},
            seed=ensemble.seed,
            spectra={name: self._spectrum(name, counted, transient, regular) for name in self.spectra},
        )  # fmt: skip

    def _exact(self, samples: Sequence[Sample]) -> list[Part]:
        """Values of a motion that is predictable until the end: of whole repetitions, if it repeats itself."""
        made = [replace(one, values=one.values[:, :, -one.repeats :]) for one in samples]  # whole if it does not
        parts = estimates(self.measures, made)
        if any(sample.repeats for sample in samples) or self.whole:
            return [replace(part, error=0.0) for part in parts]
        half = made[-1].values.shape[2] // 2
        halves = [
            estimates(self.measures, [replace(made[-1], values=made[-1].values[:, :, own])])
            for own in (slice(0, half), slice(half, None))
        ]  # two halves of one motion: their difference is an error estimate, not a standard error
        spread = [abs(a.value - b.value) / 2 for a, b in zip(*halves, strict=True)]
        return [replace(part, error=0.0, predictable=own) for part, own in zip(parts, spread, strict=True)]

    def _estimate(
        self, i: int, measure: Measure, part: Part, pairs: list[list[Part]] | None,
        biased: tuple[_Level, list[Part]] | None, differ: bool, regular: bool,
    ) -> Statistic:  # fmt: skip
        """The estimate of a measure, from its part and from those of the last two step sizes."""
        from scipy.stats import t

        bias, seen, offset, said = 0.0, math.inf, (math.nan, math.nan), "; the bias of steps was not tested"
        if pairs is not None:
            a, b = pairs[0][i], pairs[1][i]
            error = math.hypot(a.error, b.error)
            seen = float(t.ppf((1 + CONFIDENCE) / 2, _welch_free(a, b))) * error if error and not regular else 0.0
            bias = abs(a.value - b.value) if regular or differ else 0.0
            said = "" if regular else f"; no bias of steps is seen, which would be above {seen:.2g}"
        if biased is not None and part.value:
            level, first = biased[0], biased[1][i]
            offset = first.value / part.value - 1.0, abs(1.96 * math.hypot(first.error, part.error) / part.value)
            if abs(offset[0]) > offset[1]:
                said = f"; {_percent(*offset)} with {level.words}"
        half = part.half + bias
        return Statistic(
            measure.name, measure.unit, measure.meaning, part.value, part.value - half, part.value + half, part.half,
            bias, seen, offset, part.effective, f"{stated(part.value, half)} {measure.unit}".rstrip() + said,
        )  # fmt: skip

    def _verdict(self, kind: str, found: Mapping[str, Statistic], first: str, differ: bool) -> str:
        every = {
            "chaotic": "the motion is sensitive to its initial state: only statistics are known beyond its horizon",
            "several motions": "members that begin alike end in different periodic motions: means depend on the start, "
            "and intervals are those of the mean over starts",
            "sensitive": "the motion is sensitive: means over motions that begin alike",
            "periodic": "the motion repeats itself: values are exact but for the error of steps",
            "predictable": "the motion is predictable until the end: values are exact but for the error of steps",
            "accurate": "the motion is predictable until the end: values are exact but for the error of steps",
        }
        parts = [every[kind]]
        wrong = [one for one in found.values() if abs(one.offset[0]) > one.offset[1]]
        if wrong:
            worst = max(wrong, key=lambda one: abs(one.offset[0]) - one.offset[1])
            parts.append(f"{first} is biased: {worst.name} {_percent(*worst.offset)}")
        if len(self.levels) < 2:
            parts.append("the bias of steps was not tested, for want of time")
        if differ:
            parts.append("finer steps still differ, so that a bias remains")
        if self.precision is not None:
            wide = [one for one in found.values() if one.high - one.low > 2 * self.precision * abs(one.value)]
            if wide:
                worst = max(wide, key=lambda one: (one.high - one.low) / abs(one.value) if one.value else math.inf)
                ratio = (worst.high - worst.low) / (2 * self.precision * abs(worst.value)) if worst.value else math.inf
                need = f"about {ratio**2:.2g} times as long a run" if ratio < math.inf else "an absolute precision"
                parts.append(f"the precision of {100 * self.precision:.2g} % is not reached: {worst.name} needs {need}")
        return "; ".join([*parts, *self.given_up])

    def _spectrum(self, name: str, levels: Sequence[_Level], dropped: int, regular: bool) -> Array:
        """Frequencies, spectral density, and the ends of its 95 % interval, by the jackknife of its logarithm."""
        from scipy.stats import t

        members = _means(levels, name, dropped)
        n = len(members)
        if n < 2:
            raise InputError(f'"{name}": members need more than {dropped + BLOCK} windows; give a longer run.')
        mean = np.mean(members, axis=0)
        apart = np.log(np.maximum((n * mean - members) / (n - 1), 1e-300))
        error = np.sqrt((n - 1) * np.var(apart, axis=0)) * (0.0 if regular else t.ppf((1 + CONFIDENCE) / 2, n - 1))
        f = np.arange(len(mean)) / (BLOCK * self.window)
        return np.stack([f, mean, mean * np.exp(-error), mean * np.exp(error)])


def _means(levels: Sequence[_Level], name: str, dropped: int) -> Array:
    """Means (members, ...) of a field after the transient, of those members that have it."""
    found = []
    for level in levels:
        for kept in level.fields.values():
            own = [
                (count, fields[name]) for begin, count, fields in kept
                if fields[name] is not None and (begin >= dropped or begin + count == level.done)
            ]  # fmt: skip
            if own:
                found.append(np.average([table for _, table in own], axis=0, weights=[count for count, _ in own]))
    return np.array(found)


def _percent(offset: float, half: float) -> str:
    """A relative offset with half the width of its interval."""
    return f"{stated(100 * abs(offset), 100 * half)} % too {'large' if offset > 0 else 'small'}"


def _welch_free(a: Part, b: Part) -> float:
    """Degrees of freedom of a difference, by Welch and Satterthwaite."""
    u, v = a.error**2, b.error**2
    return (u + v) ** 2 / (u**2 / a.free + v**2 / b.free)


def _ladder(
    system: System, stepper: Stepper | None, control: StepControl | None, window: float, whole: bool
) -> list[tuple[Stepper, StepControl]]:
    """Schemes with ever finer steps: from those given, or that suit the mechanism."""
    chosen: Any = stepper
    if chosen is None and system.compliant:
        chosen = CompliantDae()
    elif chosen is None:  # in space events are many, and forces of redundant contacts not unique
        chosen = GaussQP() if system.nc > MANY or whole and system.dimension == 3 else EventDriven()
    by_error = isinstance(chosen, EventDriven | CompliantDae)
    # no longer than the time over which peaks of forces, which are means of a step, are taken
    short = ErrorControl(1e-6, 1e-8, min(1e-6, 1e-4 * window), OVER * window)
    if control is None and by_error:
        control = rungs(EventDriven(), window)[1].control if whole else short
    elif control is None:
        control = rungs(chosen, window)[0 if whole else 1].control
    found = [(chosen, control.over(0.0, window) if isinstance(control, ErrorControl) else control)]
    for _ in range(LEVELS - 1):
        scheme, steps = found[-1]
        if len(found) == 2 and not by_error and not whole and system.nc <= MANY:
            scheme, steps = EventDriven(), short  # which gets on faster than ever shorter steps
        else:
            steps = finer(steps)
            if isinstance(steps, ErrorControl):  # impacts that are simultaneous may be what differs
                steps = replace(steps, dt_min=steps.dt_min * TENTH)
        found.append((scheme, steps))
    return found
