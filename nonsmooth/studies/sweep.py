"""Parameter sweep of one mechanism: runs are saved as they finish, and their metrics form a dataset."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, NonsmoothError
from nonsmooth.files import check_room
from nonsmooth.model.kinds import unit_of_argument
from nonsmooth.model.model import Model
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, handing_over, telling, whom
from nonsmooth.quantities import in_si
from nonsmooth.run.arguments import check_kinds, check_stepper
from nonsmooth.run.batch import simulate_batches
from nonsmooth.run.simulate import simulate
from nonsmooth.settings import require
from nonsmooth.step.control import ConstantStep, Landing, StepControl, step_control
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import check_count, check_known, check_processes, mapping
from nonsmooth.studies.designs import Design
from nonsmooth.studies.files import FAILED, FINISHED, EveryRunFailed, Outcome, SweepFolder, table
from nonsmooth.studies.kinematic import Starts
from nonsmooth.studies.metrics import Metric, Metrics, metrics_of
from nonsmooth.studies.workers import is_local, outcomes, width
from nonsmooth.trajectory import Verdict
from nonsmooth.trajectory.verdict import soft_contact

if TYPE_CHECKING:
    import xarray

HALF = "-half"  # added to the names of metrics of runs with half the step
#: number of blocks of runs per worker, the largest number of runs in a block, and in one of a batch; seconds that a
#: block of a batch takes before blocks grow no more
PIECES, LONGEST, BATCH, SOON = 25, 200, 2500, 5.0
#: seconds at most of a run that is repeated with chosen steps, and relative difference of an output that is another one
SAMPLED, OTHER = 5.0, 0.05

Mechanism = System | Model | Callable[..., Model]


@dataclass(eq=False)
class Runs:
    """Runs of the rows of a design, whose `names` are varied parameters and arguments; the rest is as for `sweep`."""

    mechanism: Mechanism
    names: tuple[str, ...]
    stepper: Stepper | None
    dt: float | StepControl | None
    t_end: float
    metrics: Metrics
    parameters: Mapping[str, float] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    halved: bool = False
    check: bool = False
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        #: steps with which each run is made, by the suffix of the names of its metrics
        self.steps: dict[str, Any] = {"": self.dt}
        if self.halved and isinstance(self.dt, Landing):
            error = None if self.dt.error is None else self.dt.error / 8  # which grows with the third power of the step
            self.steps[HALF] = Landing(self.dt.dt_min, self.dt.dt_max / 2, error)
        elif self.halved and isinstance(self.dt, ConstantStep | float | int):
            self.steps[HALF] = (self.dt.dt if isinstance(self.dt, ConstantStep) else self.dt) / 2
        elif self.halved:
            raise InputError(
                f"A verdict by half the step takes a constant step or Landing(dt_min, dt_max), got {self.dt}; leave dt "
                "out to have each run checked by finer ones."
            )
        self._built: tuple[tuple[float, ...], System, tuple[Metric, ...]] | None = None
        self._starts: Starts | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_built": None, "_starts": None}

    def built(self, row: Array) -> tuple[System, tuple[Metric, ...]]:
        """The system of a row and its metrics; rebuilt if an argument differs from that of the previous row."""
        varied = {name: float(x) for name, x in zip(self.names, row, strict=True) if "." not in name}
        key = tuple(varied.values())
        if self._built is None or self._built[0] != key:
            system = system_of(self.mechanism, {**self.arguments, **varied})
            self._built = key, system, metrics_of(self.metrics, system)
            starts = Starts(system)
            self._starts = starts if starts.moved_by((*self.names, *self.parameters)) else None
        return self._built[1:]

    def changed(self, row: Array) -> dict[str, float]:
        varied = {name: float(x) for name, x in zip(self.names, row, strict=True) if "." in name}
        return {**self.parameters, **varied}

    def outcome(self, row: Array) -> Outcome:
        """Run a row; errors become its message."""
        try:
            system, metrics = self.built(row)
            changed = self.changed(row)
            state = None if self._starts is None else self._starts.of(changed)
        except Exception as error:
            return Outcome(message=_said(error))
        values, messages, raised = dict[str, NDArray[np.float64]](), list[str](), list[str]()
        verdicts = list[Verdict]()
        for suffix, dt in self.steps.items():
            try:
                run = simulate(
                    system, self.stepper, t_end=self.t_end, dt=dt, parameters=changed, state=state, check=self.check,
                    max_seconds=self.max_seconds,
                )  # fmt: skip
            except Exception as error:
                messages.append(_said(error))
                continue
            verdicts.append(run.verdict)
            for metric in metrics:
                try:
                    values |= {f"{name}{suffix}": number for name, number in metric.of(run).items()}
                except Exception as error:
                    raised.append(f"{metric.name}{suffix}: {_said(error)}")
        if not verdicts or (raised and not values):
            return Outcome(message=(raised + messages)[0])
        known = self.check or self.stepper is None or self.dt is None
        message = "; ".join(raised) or soft_contact(run)
        return Outcome(values, message, verdicts[0].kind, verdicts[0].horizon) if known else Outcome(values, message)

    def outcomes(self, rows: Array, threads: int = 1) -> list[Outcome]:
        """Run rows as a batch if possible, else one after the other."""
        batch = self.batch(rows, threads)
        return [self.outcome(row) for row in rows] if batch is None else batch

    def batch(self, rows: Array, threads: int) -> list[Outcome] | None:
        """Outcomes of rows from `simulate_batches`; None if it does not support these runs."""
        stated = self.stepper is not None and isinstance(self.dt, float | int | ConstantStep | Landing)
        if self.check or not stated or not all("." in name for name in self.names):
            return None
        assert self.stepper is not None
        try:
            system, metrics = self.built(rows[0])
            known = [metric.batch for metric in metrics if metric.batch is not None]
            if len(known) < len(metrics):
                return None
            states: list[State] | None = None  # the same one for all
            lost: dict[int, str] = {}  # why rows have none
            if self._starts is not None:
                states = []
                for i, row in enumerate(rows):
                    try:
                        states.append(self._starts.of(self.changed(row)))
                    except NonsmoothError as error:
                        lost[i] = _said(error)
            begun = [i for i in range(len(rows)) if i not in lost]
            if not begun:
                return [Outcome(message=lost[i]) for i in range(len(rows))]
            columns: dict[str, Array] = {name: np.full(len(begun), value) for name, value in self.parameters.items()}
            columns |= dict(zip(self.names, rows[begun].T, strict=True))
            keep = sorted({name for batch in known for name in batch.keep})
            failed: dict[tuple[int, int], NonsmoothError] = {}
            found = simulate_batches(
                system, self.stepper, columns, t_end=self.t_end, steps=list(self.steps.values()), states=states,
                metrics=keep, threads=threads, failed=failed,
            )  # fmt: skip
        except NonsmoothError:
            return None
        pairs = list(zip((metric.name for metric in metrics), known, strict=True))
        values = [
            {f"{name}{suffix}": np.asarray(batch.function(ends, *batch.about), float) for name, batch in pairs}
            for suffix, ends in zip(self.steps, found, strict=True)
        ]
        made = {i: Outcome(message=message) for i, message in lost.items()}
        for k, i in enumerate(begun):
            errors = [failed.get((n, k)) for n in range(len(values))]
            if all(errors):
                made[i] = Outcome(message=_said(errors[0]))
                continue
            ended = (columns for columns, error in zip(values, errors, strict=True) if error is None)
            made[i] = Outcome({name: np.asarray(column[k]) for columns in ended for name, column in columns.items()})
        return [made[i] for i in range(len(rows))]

    def plan(self, design: Design) -> dict[str, Any]:
        """All data on which the results depend, as plain data."""
        system, metrics = self.built(design.values[0])
        model = json.dumps([system.description, dict(system.parameters)], sort_keys=True, default=str)
        return {
            "mechanism": system.name, "model": hashlib.sha256(model.encode()).hexdigest(), "design": design.how,
            "names": list(self.names),
            "values": hashlib.sha256(np.ascontiguousarray(design.values).tobytes()).hexdigest(), "runs": len(design),
            "stepper": repr(self.stepper), "dt": repr(self.dt), "t_end": float(self.t_end),
            "parameters": {name: float(value) for name, value in self.parameters.items()},
            "arguments": {name: repr(value) for name, value in self.arguments.items()},
            "metrics": [metric.fingerprint for metric in metrics], "check": self.check,
            "version": importlib.metadata.version("nonsmooth"),
        } | ({"halved": True} if self.halved else {})  # fmt: skip


@telling
def sweep(
    mechanism: Mechanism, stepper: Stepper | None, design: Design, *, t_end: float,
    dt: float | StepControl | None = None, metrics: Metrics, halved: bool = False,
    parameters: Mapping[str, float] | None = None, arguments: Mapping[str, Any] | None = None, check: bool = False,
    output: str | os.PathLike[str] | None = None, executor: Any = None,
    piece: int | None = None, progress: Progress = None,
) -> xarray.Dataset:  # fmt: skip
    """Run a mechanism once for each row of a design, and return the metrics of every run.

    InputError for names that do not exist, and for an output that contains another sweep; Interrupted after Ctrl-C,
    whose `result` has the runs of the blocks that were finished.

    Parameters
    ----------
    mechanism
        A ready problem or your own function that returns a model; a model; or a system. A design may vary parameters,
        ``"guide.clearance"``, for which nothing is rebuilt, and arguments of the function, ``"crank_speed"``.
    stepper, t_end, dt
        As for `simulate`, also with units, ``t_end="24 ms"``; None for a stepper and a step that are chosen
        automatically, with the error given by the metrics ``position-error``, ``force-error`` and ``horizon``.
    design : from `grid`, `points` or `sample`
    metrics
        Names such as ``"peak-impulse"`` or ``"final:crank.angle"``, see `nonsmooth.studies.metrics.NAMED`; functions of
        a `Trajectory` that give a number, some numbers or a mapping from names to these; or a mapping from own names to
        both.
    halved
        Whether each run is made a second time with half the step, which shows its error; metrics of it have ``-half``
        added to their names. If one of the two fails, its metrics are NaN; the run failed if both do.
    parameters, arguments : what does not vary: of the system, of the function
    check
        Repeat each run with given steps with finer ones, for its verdict, as `simulate` does; no batch is used then.
    output : path, optional
        NetCDF file to write. Runs are kept next to it, in a folder with ``.runs`` added, in blocks as they finish:
        the same call resumes after an interruption, even SIGKILL, and repeats only blocks that were not finished. The
        folder is removed when the file is complete.
    executor : optional
        Number of processes; one per core by default, 1 for this process only. Or a Dask client or the address of a Dask
        scheduler, ``"tcp://host:8786"``, whose workers have this package, or an executor of `concurrent.futures`. If
        `simulate_batch` supports the stepper, the step and all metrics (``final:...``, ``impulse``,
        ``gap-violation``, ``complementarity``), it is used with as many threads instead of processes; results are
        bitwise identical.
    piece : int, optional, number of runs in a block, which is passed to a worker and stored as a whole
    progress : callable (what, share), or True for words on one line, optional

    Returns
    -------
    xarray.Dataset
        Metrics, ``status``, ``message``, ``verdict`` and ``valid_until``, its horizon, of each run; over the parameters
        of a grid, else over ``run`` with the parameters as coordinates. A failed run has its reason as message, and NaN
        metrics; a metric that raises is NaN alone, and its error the message. The verdict is its kind, "not checked"
        without `check` where steps are given. The dataset does not depend on the machine or on the order of the runs.

    Examples
    --------
    >>> from nonsmooth import GaussQP, Landing
    >>> from nonsmooth.studies import grid, sweep
    >>> from nonsmooth_problems import slider_rod
    >>> design, metrics = grid({"guide.clearance": [1e-5, 4e-5]}), ["impacts", "fastest-approach"]
    >>> steps = Landing(1e-6, 1e-3)
    >>> found = sweep(slider_rod, GaussQP(), design, t_end=4e-3, dt=steps, metrics=metrics, executor=1)
    >>> found["fastest-approach"].values.round(6)
    array([0.014007, 0.028014])
    """
    require(isinstance(design, Design), "design must be a grid, a list or a sample, as grid({...})", design)
    check_room()
    check_stepper(stepper)
    check_kinds(parameters, None, t_end, None)
    require(t_end > 0.0, "t_end must be a positive number of seconds", t_end)
    if dt is not None:
        step_control(dt)
    check_processes(executor, progress)
    if piece is not None:
        check_count("piece", piece)
    require(output is None or isinstance(output, str | os.PathLike), "output must be the name of a file", output)
    constant = mapping("arguments", arguments)
    runs = Runs(
        mechanism, design.names, stepper, dt, t_end, metrics, mapping("parameters", parameters), constant, halved, check
    )
    system, found = runs.built(design.values[0])
    given = {name: value for name, value in runs.parameters.items() if isinstance(value, str)}
    if given:
        known = dict(zip(system.parameters, system.parameter_vector(given).tolist(), strict=True))
        runs.parameters = {**runs.parameters, **{name: known[name] for name in given}}
    check_known(system, runs.changed(design.values[0]))
    plan = runs.plan(design)
    kept = SweepFolder(None if output is None else Path(output), plan)
    if kept.whole is not None:
        return kept.whole
    done: dict[int, Outcome] = kept.read()
    tell = whom(progress)

    def report() -> None:
        lost = sum(outcome.failed for outcome in done.values())
        tell(f"{len(done)} of {len(design)} runs" + (f", {lost} failed" if lost else ""), len(done) / len(design))

    first = {name: float(x) for name, x in zip(design.names, design.values[0], strict=True) if "." not in name}
    units = {name: unit_of_varied(mechanism, system, {**constant, **first}, name) for name in design.names}
    for name in design.texts:
        in_si(f'"{name}"', design.texts[name], units[name] or "-")
    title = f"sweep of {system.name}"

    def finished() -> xarray.Dataset:
        numbers = sorted(done)
        part = Design(design.names, design.values[numbers], (), design.how)
        own = {k: done[number] for k, number in enumerate(numbers)}
        return _dataset(part, found, own, units, title, plan).assign_coords(run=numbers)

    report()
    remedy = "with output=FILE.nc (--output) the same call goes on from there"
    if output is not None:
        remedy = f"{kept.folder} has them, and the same call goes on from there"
    with handing_over(done, len(design), "runs", finished, remedy):
        for numbers, outcomes_ in _answers(runs, design, done, executor, piece):
            kept.write(numbers, outcomes_)
            done |= dict(zip(numbers, outcomes_, strict=True))
            report()
    if done and all(outcome.failed for outcome in done.values()):
        said = f"all {len(done)} runs of the {title} failed, the first: {done[min(done)].message}"
        warnings.warn(said, EveryRunFailed, stacklevel=3)
    dataset = _dataset(design, found, done, units, title, plan)
    kept.finish(dataset)
    return dataset


def _answers(
    runs: Runs, design: Design, done: Mapping[int, Outcome], executor: Any, piece: int | None
) -> Iterator[tuple[list[int], list[Outcome]]]:  # fmt: skip
    """Unfinished runs, in blocks as they finish."""
    left = [i for i in range(len(design)) if i not in done]
    count = width(executor)
    first = runs.batch(design.values[left[:1]], 1) if is_local(executor) and left else None
    if first is not None:
        yield left[:1], first
        left, length = left[1:], piece or 4 * count
        while left:  # ever longer pieces, so that little is lost where runs are slow
            begin = time.perf_counter()
            yield left[:length], runs.outcomes(design.values[left[:length]], count)
            left = left[length:]
            if piece is None and time.perf_counter() - begin < SOON:
                length = min(2 * length, BATCH)
        return
    length = piece or max(1, min(math.ceil(len(design) / (PIECES * count)), LONGEST))
    pieces = [left[i : i + length] for i in range(0, len(left), length)]
    for k, answers in outcomes(runs.outcomes, [(design.values[numbers],) for numbers in pieces], executor=executor):
        yield pieces[k], answers


def sensitive(horizons: Array, how: str) -> str:
    """A sentence on runs that are sensitive, by their horizons [s], infinite of others; empty if none is."""
    count = int(np.sum(np.isfinite(horizons)))
    if not count:
        return ""
    return (
        f"{count} of {how} {'is' if count == 1 else 'are'} sensitive before the end, the first from t = "
        f"{np.min(horizons):.3g} s on: numbers of later motion are one sample of many; for means with intervals use "
        "nonsmooth study statistics."
    )


def repeated(
    mechanism: Mechanism, names: Sequence[str], rows: Array, metrics: Metrics, outputs: Mapping[str, Array],
    t_end: float, parameters: Mapping[str, float], arguments: Mapping[str, Any],
) -> str:  # fmt: skip
    """Sentences on runs without verdicts, of which those with the least, median and largest output (n,), the first of
    some, are repeated with chosen steps, if they end in time: whether they give others, and are sensitive."""
    by = next(iter(outputs.values()), np.zeros(len(rows)))
    order = [int(i) for i in np.argsort(by, kind="stable") if np.isfinite(by[i])]
    runs = Runs(mechanism, tuple(names), None, None, t_end, metrics, parameters, arguments, max_seconds=SAMPLED)
    few = sorted({order[k] for k in (0, len(order) // 2, -1)} if order else ())
    found = {i: made for i in few if not (made := runs.outcome(rows[i])).message}
    horizons = np.array([made.horizon if made.verdict == "sensitive" else np.inf for made in found.values()])
    pairs = [(name, float(made.values[name]), float(values[i])) for name, values in outputs.items()
             for i, made in found.items() if made.verdict == "accurate" and name in made.values]  # fmt: skip
    other = [one for one in pairs if abs(one[1] - one[2]) > OTHER * max(abs(one[1]), abs(one[2]))]
    how, said = f"{len(found)} runs that were repeated with chosen steps", ""
    if other:
        name, right, given = max(other, key=lambda one: abs(one[1] - one[2]))
        said = f"Of {how} some gave another {name}, as {right:.3g} instead of {given:.3g}: shorten the steps. "
    return (said + sensitive(horizons, how)).strip()


def _said(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}"


def unit_of_varied(mechanism: Any, system: System, arguments: Mapping[str, Any], name: str) -> str:
    """The unit of a parameter or of an argument of the function that builds the system; empty if it is not known."""
    unit = system.unit_of(name) if "." in name else unit_of_argument(mechanism, arguments, name)
    return "" if " or " in unit else unit


def system_of(mechanism: Any, arguments: Mapping[str, Any]) -> System:
    """The system of a mechanism as studies take it; `arguments` of the function that builds it."""
    made = mechanism
    if not isinstance(made, System | Model):
        require(callable(made), "A study takes a System, a Model or a function that returns one", mechanism)
        made = made(**arguments)
    elif arguments:
        name = next(iter(arguments))
        raise InputError(
            f'"{name}" is no parameter ("element.parameter"), and a {type(made).__name__} has no arguments; give the '
            "function that builds it."
        )
    system = made.build() if hasattr(made, "build") else made
    if not isinstance(system, System):
        raise InputError(f"The function must return a Model, got {type(made).__name__}.")
    return system


def _dataset(
    design: Design, metrics: Sequence[Metric], done: Mapping[int, Outcome], units: Mapping[str, str],
    title: str, plan: Mapping[str, Any],
) -> xarray.Dataset:  # fmt: skip
    """All runs in the order of the design, over the parameters of a grid."""
    flat = table(range(len(design)), [done[i] for i in range(len(design))])
    known = {metric.name: metric for metric in metrics}
    for name in flat.data_vars:
        own = str(name).removesuffix(HALF)
        metric = known.get(own) or next((m for m in metrics if own.startswith(f"{m.name}.")), None)
        if metric is not None:
            unit = metric.units.get(own.removeprefix(f"{metric.name}."), metric.unit)
            flat[name].attrs |= {"units": unit, "long_name": metric.meaning}
    flat["status"].attrs["long_name"] = f"{FINISHED} or {FAILED}"
    flat["message"].attrs["long_name"] = "why the run failed, or what is said of it"
    flat["verdict"].attrs["long_name"] = "kind of the run's verdict"
    flat["valid_until"].attrs |= {"units": "s", "long_name": "its horizon, infinite to the end or if it is not known"}
    for name in list(flat.data_vars):  # lists cut to the longest one of all runs
        if flat[name].ndim == 2:
            filled = np.flatnonzero(np.isfinite(flat[name].values).any(axis=0))
            flat = flat.isel({f"{name}_item": slice(0, int(filled[-1]) + 1 if filled.size else 0)})
    if design.axes:
        import xarray

        shape = tuple(len(axis) for axis in design.axes)
        data = {
            name: ((*design.names, *one.dims[1:]), one.values.reshape(*shape, *one.shape[1:]), one.attrs)
            for name, one in flat.data_vars.items()
        }
        whole = xarray.Dataset(data, dict(zip(design.names, design.axes, strict=True)))
    else:
        columns = {name: ("run", column) for name, column in zip(design.names, design.values.T, strict=True)}
        whole = flat.assign_coords(columns)
    for name, unit in units.items():
        whole[name].attrs["units"] = unit
    whole.attrs = {"title": title, "plan": json.dumps(plan)}
    return whole
