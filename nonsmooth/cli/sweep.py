"""`nonsmooth study sweep` and `study tolerance`: designs from options, and output."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from nonsmooth.cli.files import PythonFile
from nonsmooth.cli.inputs import Request, unit_behind
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report_page import conclude
from nonsmooth.exceptions import InputError
from nonsmooth.fits import looks_stated, stated
from nonsmooth.units import Wrong, in_unit

if TYPE_CHECKING:
    import xarray

    from nonsmooth.cli.study import Swept, Tolerance
    from nonsmooth.studies.designs import Design
    from nonsmooth.studies.tolerance import Tolerance as Found

__all__ = ["carry_out_sweep", "carry_out_tolerance", "design_of", "distribution_of", "units_of"]

#: where a normal distribution is cut, in standard deviations
CUT = 3.0
#: runs of which every one is printed; of more, so many of both ends
MOST = 40


def no_units(name: str) -> str:
    """The unit of a name that has none."""
    return "-"


def units_of(request: Request) -> Callable[[str], str | None]:
    """The unit of a parameter or an argument by its name, None where nothing states it."""
    made = functools.cache(lambda: request.completed().mechanism())  # for numbers with a unit alone

    def unit(name: str) -> str | None:
        known = made()
        if name in known.system.parameters:
            element, _, label = name.partition(".")
            return next(one.quantity(label).unit for one in known.system.elements if one.name == element)
        origin = None if known.problem is None else known.problem.provenance.get(name)
        return None if origin is None else origin.unit

    return unit


def design_of(
    grids: Sequence[str], lists: Sequence[str], samples: Sequence[str], runs: int, method: str, seed: int,
    units: Callable[[str], str | None] = no_units,
) -> Design:  # fmt: skip
    """The requested design.

    >>> design_of(["guide.clearance=1e-6:1e-4:3:log", "slider.mass=4,5"], [], [], 1, "sobol", 0)
    Design(6 runs over guide.clearance, slider.mass; grid of 3 x 2)
    """
    from nonsmooth.studies.designs import grid, points, sample

    kinds = {"--grid": grids, "--list": lists, "--sample": samples}
    used = [option for option, words in kinds.items() if words]
    if len(used) != 1:
        raise InputError(f"A sweep takes one of --grid, --list and --sample, got {' and '.join(used) or 'none'}.")
    words = [_named(used[0], word) for word in kinds[used[0]]]
    if grids:
        return grid({name: _values("--grid", name, text, units) for name, text in words})
    if lists:
        return points({name: _values("--list", name, text, units) for name, text in words})
    sampled = {name: distribution_of("--sample", name, text, units) for name, text in words}
    return sample(sampled, runs, method=method, seed=seed)


def distribution_of(option: str, name: str, text: str, units: Callable[[str], str | None] = no_units) -> Any:
    """``low:high``, ``low:high:log``, ``normal:mean:sd``, which is cut at three standard deviations, or a fit.

    >>> distribution_of("--sample", "c", "1e-6:1e-4:log")
    (1e-06, 0.0001, 'log')
    """
    if looks_stated(text):
        return stated(text)
    option = f"{option} {name}"

    def number(part: str) -> float:
        return _number(option, part, name, units)

    parts = text.split(":")
    if parts[0] == "normal" and len(parts) == 3:
        from scipy.stats import truncnorm

        mean, sd = (number(part) for part in parts[1:])
        if not sd > 0:
            raise InputError(f"{option}: a standard deviation is positive, got {sd:g}.")
        return truncnorm(-CUT, CUT, loc=mean, scale=sd)
    if len(parts) == 3 and parts[2] == "log":
        return number(parts[0]), number(parts[1]), "log"
    if len(parts) == 2:
        return number(parts[0]), number(parts[1])
    raise InputError(f"{option}={text}: write LOW:HIGH, LOW:HIGH:log, normal:MEAN:SD, or a fit, 20 H7/g6.")


def carry_out_sweep(asked: Swept) -> int:
    """Sweep, write the requested files, and print a summary; 1 if every run failed."""
    request = asked.request(usual="gauss-qp", check=asked.check_runs)
    design = design_of(asked.grids, asked.lists, asked.samples, asked.runs, asked.method, asked.seed, units_of(request))
    request = request.completed()
    dt, stepper = request.step(), request.scheme()
    mechanism, arguments, parameters, name = _mechanism(request, design.names)

    from nonsmooth.studies.sweep import sweep

    with study_bar() as progress:
        found = sweep(
            mechanism, stepper, design, t_end=request.end, dt=dt, metrics=_measured(asked),
            parameters=parameters, arguments=arguments, check=request.check, output=asked.output,
            workers=asked.workers, scheduler=asked.scheduler, progress=progress,
        )  # fmt: skip
    failed = [str(message) for message in found["message"].values.ravel() if message]
    lost = f"{len(failed)} of {len(design)} runs failed, the first: {failed[0]}" if failed else "no run failed"
    lost = f"{lost}; {_verdicts(found)}"
    conclude(
        asked, f"{name}: {asked.measure or 'sweep'}", [_value_table(found), "", _sweep_table(found), "", lost],
        lambda: _plain(found, name, failed), head=f"{name}: {design!r}", draw=lambda plots: plots.sweep(found),
    )  # fmt: skip
    return 1 if len(failed) == len(design) else 0


def _measured(asked: Swept) -> Any:
    """The metrics that are given, or the function of a study with its options."""
    if not asked.measure:
        return list(getattr(asked, "metrics", ()))
    module = importlib.import_module(f"nonsmooth.studies.measures.{asked.measure}")
    options = {name: getattr(asked, name) for name in asked.options}
    return {asked.measure: functools.partial(getattr(module, asked.measure), **options)}


def _verdicts(found: xarray.Dataset) -> str:
    """How many runs have which verdict."""
    kinds, counts = np.unique(found["verdict"].values.ravel().astype(str), return_counts=True)
    said = ", ".join(f"{count} {kind}" for kind, count in zip(kinds, counts, strict=True))
    hint = " (--check repeats each run with finer steps)" if "not checked" in kinds else ""
    return f"verdicts: {said}{hint}"


def _sweep_table(found: xarray.Dataset) -> Table:
    table = Table("metric", "unit", "least", "mean", "largest", box=None, pad_edge=False)
    for metric in _metrics(found):
        values = found[metric].values
        known = values[np.isfinite(values)]
        numbers = [f"{f(known):.6g}" for f in (np.min, np.mean, np.max)] if known.size else ["-"] * 3
        table.add_row(metric, str(found[metric].attrs.get("units", "")), *numbers)
    return table


def _value_table(found: xarray.Dataset) -> Table:
    """One line per run: what was varied, and the metrics; of many runs the first and the last."""
    names = [str(key) for key in found.coords if key != "run"]
    flat = found if "run" in found.dims else found.stack(run=names).reset_index("run")
    metrics = [key for key in _metrics(found) if flat[key].ndim == 1]
    heads = [f"{key}\n[{found[key].attrs.get('units', '-') or '-'}]" for key in metrics]
    table = Table("run", *names, *heads, "verdict", box=None, pad_edge=False)
    for column in table.columns:
        column.no_wrap = True
    count = flat.sizes["run"]
    shown = list(range(count)) if count <= MOST else [*range(MOST // 2), *range(count - MOST // 2, count)]
    for k, i in enumerate(shown):
        if k and i > shown[k - 1] + 1:
            table.add_row("...", *[""] * len(names + metrics), "")
        values = [flat[key].values[i] for key in (*names, *metrics)]
        table.add_row(str(i + 1), *(_written(value) for value in values), str(flat["verdict"].values[i]))
    return table


def _written(value: Any) -> str:
    """A number of a run; a dash where the run failed."""
    if isinstance(value, (str, np.str_)):
        return str(value)
    return f"{value:.6g}" if np.isfinite(value) else "-"


def carry_out_tolerance(asked: Tolerance) -> int:
    """Run the tolerance study, write the requested files, and print the result."""
    kinematic, end, request = asked.level == "kinematic", asked.t_end, asked.request(usual="gauss-qp")
    request = (dataclasses.replace(request, t_end=end or 0.0) if kinematic else request).completed()
    units = units_of(request)
    clearances, others = (
        {name: distribution_of(option, name, text, units) for name, text in (_named(option, word) for word in words)}
        for option, words in (("--clearance", asked.clearances), ("--sample", asked.others))
    )
    mechanism, arguments, parameters, name = _mechanism(request, (*clearances, *others))

    from nonsmooth.studies.tolerance import tolerance

    poses = {key: _values("--pose", key, text) for key, text in (_named("--pose", word) for word in asked.poses)}
    common: dict[str, Any] = {"t_end": end, "pose": poses, "directions": _directions(asked.directions)}
    if not kinematic:
        common |= {
            "t_end": request.end, "dt": request.step(), "verdict": asked.verdict,
            "workers": asked.workers, "scheduler": asked.scheduler,
        }  # fmt: skip
    elif asked.verdict:
        raise InputError("--verdict is for the dynamic level: the kinematic level has no runs.")
    with study_bar() as progress:
        found = tolerance(
            mechanism, None if kinematic else request.scheme(), asked.metric, limit=asked.limit, clearances=clearances,
            others=others, runs=asked.runs, coverage=asked.coverage, confidence=asked.confidence, seed=asked.seed,
            factors=None if asked.factors is None else _values("--factors", "factors", asked.factors),
            level=asked.level, accuracy=asked.accuracy, sensitivity=asked.sensitivity, failure=asked.failure,
            parameters=parameters, arguments=arguments, progress=progress, **common,
        )  # fmt: skip
    parts: list[Any] = [f"{name}: {found.how}", "", _tolerance_table(found), "", found.statement]
    if found.as_drawn:
        parts = [f"{name}, {found.level} level: {found.how}", "", *_yield_tables(found), found.yield_statement]
    if not (kinematic or asked.verdict):
        parts += ["", "the error of the runs is not estimated (--verdict repeats each with half the step)"]
    if found.shares is not None:
        parts += ["", "share of the output's variance", _index_table(found.shares)]
    shares = {} if found.shares is None else {"sensitivity": _indices(found.shares)}
    conclude(
        asked, f"{name}: tolerance", parts, lambda: found.plain() | shares,
        draw=lambda plots: plots.tolerance(found), save=found.save,
    )  # fmt: skip
    return 0


def _directions(words: Sequence[str]) -> dict[str, Any]:
    """Directions of clearances: load, any, an angle, or three components."""
    found: dict[str, Any] = {}
    for name, text in (_named("--direction", word) for word in words):
        numbers = [] if text in ("load", "any") else [_number(f"--direction {name}", part) for part in text.split(",")]
        found[name] = text if not numbers else numbers[0] if len(numbers) == 1 else tuple(numbers)
    return found


def _yield_tables(found: Found) -> list[Any]:
    """Quantiles with bounds, probabilities of failure, and bands of one scale."""
    from nonsmooth.studies.tolerance import QUANTILES

    sure = f"{100 * found.confidence:g} %"
    table = Table(
        f"quantile of {found.metric}", f"[{found.unit or '-'}]", "from", f"to ({sure})", box=None, pad_edge=False
    )
    for one in map(found.quantile, QUANTILES):
        table.add_row(f"{100 * one.share:g} %", *(f"{x:.5g}" for x in (one.value, one.low, one.high)))
    parts: list[Any] = [table, ""]
    if found.failures:
        table = Table("probability of failure", "method", "beta", "from", f"to ({sure})", box=None, pad_edge=False)
        for failure in found.failures:
            bounds = ["", ""] if failure.low == failure.high else [f"{failure.low:.4g}", f"{failure.high:.4g}"]
            table.add_row(f"{failure.probability:.6g}", failure.method, f"{failure.beta:.4f}", *bounds)
        parts += [table, ""]
    if found.bands:
        rss, worst = found.bands["rss"], found.bands["worst"]
        parts += [
            f"to first order: root sum of squares ±{rss:.5g} {found.unit}, worst case ±{worst:.5g} {found.unit}",
            "",
        ]
    return parts


def _index_table(indices: xarray.Dataset) -> Table:
    table = Table("input", "alone [-]", "with others [-]", box=None, pad_edge=False)
    for key, (alone, together) in _indices(indices).items():
        table.add_row(key, f"{alone:.3f}", f"{together:.3f}")
    return table


def _mechanism(request: Request, varied: Sequence[str]) -> tuple[Any, dict[str, Any], dict[str, float], str]:
    """The swept mechanism: a problem or a Python file with its arguments, which can vary as well, or a system."""
    known = request.mechanism()
    parameters = {key: value for key, value in known.parameters.items() if key not in varied}
    if known.problem is None and request.problem.endswith(".py") and any("." not in name for name in varied):
        return PythonFile(Path(request.problem)), dict(known.arguments), parameters, known.name
    if known.problem is None:
        return known.system, {}, parameters, known.name
    return known.problem, dict(known.arguments), parameters, known.name


def _named(option: str, word: str) -> tuple[str, str]:
    name, equals, text = word.partition("=")
    if not (name and equals and text):
        raise InputError(f"{option} {word}: write NAME=VALUES, such as guide.clearance=1e-6:1e-4:20:log.")
    return name, text


def _values(option: str, name: str, text: str, units: Callable[[str], str | None] = no_units) -> list[float]:
    """``low:high:n``, ``low:high:n:log`` or values with commas between, also with units."""
    option = f"{option} {name}"

    def number(part: str) -> float:
        return _number(option, part, name, units)

    parts = text.split(":")
    if len(parts) == 1:
        return [number(part) for part in text.split(",")]
    if len(parts) not in (3, 4) or len(parts) == 4 and parts[3] != "log":
        raise InputError(f"{option}={text}: write LOW:HIGH:N, LOW:HIGH:N:log or V1,V2,...")
    low, high, count = number(parts[0]), number(parts[1]), _number(option, parts[2])
    if not (count >= 1 and count == int(count)):
        raise InputError(f"{option}={text}: N must be a whole number of values, at least 1.")
    if len(parts) == 4:
        if not (low > 0 and high > 0):
            raise InputError(f"{option}={text}: log needs positive bounds.")
        return [float(x) for x in np.geomspace(low, high, int(count))]
    return [float(x) for x in np.linspace(low, high, int(count))]


def _number(option: str, text: str, name: str = "", units: Callable[[str], str | None] = no_units) -> float:
    behind = unit_behind(text)
    if behind is not None:
        try:
            return in_unit(text, units(name) or behind)
        except Wrong as error:
            raise InputError(f"{option} {error}.") from None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{option}: {text!r} is not a finite number.")
    return value


def _metrics(found: xarray.Dataset) -> list[str]:
    from nonsmooth.studies.kept import FACTS

    return [str(name) for name in found.data_vars if name not in FACTS]


def _plain(found: xarray.Dataset, name: str, failed: list[str]) -> dict[str, Any]:
    names = [str(key) for key in found.coords if key != "run"]
    flat = found if "run" in found.dims else found.stack(run=names).reset_index("run")
    return {
        "problem": name,
        "parameters": {key: flat[key].values.tolist() for key in names},
        "metrics": {key: flat[key].values.tolist() for key in _metrics(found) if flat[key].ndim == 1},
        "verdict": flat["verdict"].values.astype(str).tolist(),
        "failed": len(failed),
        "messages": sorted(set(failed)),
    }


def _tolerance_table(found: Found) -> Table:
    share = f"share bound, {100 * found.confidence:g} %"
    quantile = f"bound of the {100 * found.coverage:g} % quantile [{found.unit or '-'}]"
    ends = [f"{name} up to [m]" for name in found.scaled]
    table = Table("scale", *ends, "median", quantile, "within", share, "", box=None, pad_edge=False)
    for column in table.columns:
        column.no_wrap = True
    for i, factor in enumerate(found.factors):
        table.add_row(
            f"{factor:.3g}",
            *(f"{x:.4g}" for x in found.widest[i]),
            f"{np.median(found.outputs[i]):.4g}",
            f"{found.bound[i]:.4g}",
            f"{found.share[i]:.3f}",
            f"{found.share_bound[i]:.3f}",
            "passed" if i < found.passed else "",
        )
    return table


def _indices(found: xarray.Dataset) -> dict[str, tuple[float, float]]:
    names = [str(name) for name in found["input"].values]
    return {
        name: (float(first), float(total))
        for name, first, total in zip(names, found["first"].values, found["total"].values, strict=True)
    }
