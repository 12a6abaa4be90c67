"""`nonsmooth study sweep`, and the studies that measure the runs of a sweep: designs from options, and output."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from nonsmooth import studies
from nonsmooth.cli.inputs import Request, units_of, varied
from nonsmooth.cli.options import Design, Processes, Runs, Written
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report import conclude, table_of
from nonsmooth.cli.values import by_name, distribution_of, example_values, values_of
from nonsmooth.exceptions import InputError
from nonsmooth.studies.files import FACTS

if TYPE_CHECKING:
    import xarray

#: runs of which every one is printed; of more, so many of both ends
MOST = 40


def sweep(*, metrics: tuple[str, ...], design: Design, runs: Runs, processes: Processes, written: Written) -> int:
    """Run a mechanism for many values of parameters or arguments; an interrupted sweep is continued.

    Parameters
    ----------
    metrics : --metric NAME
        Such as peak-impulse or final:crank.angle; repeatable.
    """
    return swept(metrics, design, runs, processes, written)


def swept(metrics: Any, design: Design, runs: Runs, processes: Processes, written: Written) -> int:
    """Measure a mechanism by metrics, names or a function by its own; 1 if every run failed."""
    examples = example_values((*design.grids, *design.lists, *design.samples))
    request = Request(**vars(runs), check=design.check, examples=examples)
    made = _design(design, units_of(lambda: request.completed().mechanism()))
    request = request.completed()
    dt, stepper = request.step(), request.scheme()
    mechanism, arguments, parameters, name = varied(request, made.names)
    with study_bar() as progress:
        found = studies.sweep(
            mechanism, stepper, made, t_end=request.end, dt=dt, metrics=metrics, parameters=parameters,
            arguments=arguments, check=request.check, output=design.output, progress=progress, **vars(processes),
        )  # fmt: skip
    failed = [str(message) for message in found["message"].values.ravel() if message]
    lost = f"{len(failed)} of {len(made)} runs failed, the first: {failed[0]}" if failed else "no run failed"
    kinds, counts = np.unique(found["verdict"].values.ravel().astype(str), return_counts=True)
    verdicts = ", ".join(f"{count} {kind}" for kind, count in zip(kinds, counts, strict=True))
    hint = " (--check repeats each run with finer steps)" if "not checked" in kinds else ""
    rows = []
    for metric in _names(found):
        values = found[metric].values
        known = values[np.isfinite(values)]
        numbers = [f"{f(known):.6g}" for f in (np.min, np.mean, np.max)] if known.size else ["-"] * 3
        rows.append((metric, str(found[metric].attrs.get("units", "")), *numbers))
    summary = table_of("metric", "unit", "least", "mean", "largest", rows=rows)
    title = f"{name}: {next(iter(metrics)) if isinstance(metrics, dict) else 'sweep'}"
    conclude(
        written, title, [_runs(found), "", summary, "", f"{lost}; verdicts: {verdicts}{hint}"],
        lambda: _plain(found, name, failed), head=f"{name}: {made!r}", figure=lambda plots: plots.sweep(found),
    )  # fmt: skip
    return 1 if len(failed) == len(made) else 0


def _design(asked: Design, units: Callable[[str], str | None]) -> studies.Design:
    kinds = {"--grid": asked.grids, "--list": asked.lists, "--sample": asked.samples}
    used = [option for option, words in kinds.items() if words]
    if len(used) != 1:
        raise InputError(f"A sweep takes one of --grid, --list and --sample, got {' and '.join(used) or 'none'}.")
    option, words = used[0], kinds[used[0]]
    if option == "--sample":
        distributions = by_name(option, words, distribution_of, units)
        return studies.sample(distributions, asked.runs, method=asked.method, seed=asked.seed)
    return (studies.grid if option == "--grid" else studies.points)(by_name(option, words, values_of, units))


def _runs(found: xarray.Dataset) -> Table:
    """One line per run: what was varied, and the metrics; of many runs the first and the last."""
    names, flat, metrics = _columns(found)
    heads = [f"{key}\n[{found[key].attrs.get('units', '-') or '-'}]" for key in metrics]
    varied = [f"{key}\n[{unit}]" if (unit := found[key].attrs.get("units")) else key for key in names]
    table = table_of("run", *varied, *heads, "verdict", whole=True)
    count = flat.sizes["run"]
    shown = list(range(count)) if count <= MOST else [*range(MOST // 2), *range(count - MOST // 2, count)]
    for k, i in enumerate(shown):
        if k and i > shown[k - 1] + 1:
            table.add_row("...", *[""] * len(names + metrics), "")
        cells = []
        for value in (flat[key].values[i] for key in (*names, *metrics)):
            number = not isinstance(value, (str, np.str_))
            cells.append((f"{value:.6g}" if np.isfinite(value) else "-") if number else str(value))
        table.add_row(str(i + 1), *cells, str(flat["verdict"].values[i]))
    return table


def _names(found: xarray.Dataset) -> list[str]:
    return [str(name) for name in found.data_vars if name not in FACTS]


def _columns(found: xarray.Dataset) -> tuple[list[str], xarray.Dataset, list[str]]:
    """Names of the varied quantities, the dataset over runs alone, and the metrics that give one number per run."""
    names = [str(key) for key in found.coords if key != "run"]
    flat = found if "run" in found.dims else found.stack(run=names).reset_index("run")
    return names, flat, [key for key in _names(found) if flat[key].ndim == 1]


def _plain(found: xarray.Dataset, name: str, failed: list[str]) -> dict[str, Any]:
    names, flat, metrics = _columns(found)
    return {
        "problem": name,
        "parameters": {key: flat[key].values.tolist() for key in names},
        "metrics": {key: flat[key].values.tolist() for key in metrics},
        "verdict": flat["verdict"].values.astype(str).tolist(),
        "failed": len(failed),
        "messages": sorted(set(failed)),
    }
