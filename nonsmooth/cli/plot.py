"""`nonsmooth plot` and `nonsmooth export`: figures and tables of runs that were saved."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.cli.inputs import FIGURE_FORMATS, check_writable
from nonsmooth.exceptions import InputError
from nonsmooth.files import write_figure
from nonsmooth.stages import stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.plots.curves import Exact
    from nonsmooth.trajectory import Trajectory

__all__ = ["carry_out_export", "carry_out_plot", "exact_of", "usual_figure"]


def usual_figure(
    trajectory: Trajectory, exact: Any = None, panels: Sequence[Any] | None = None, **options: Any
) -> Figure:
    """The panels that a ready problem states; the overview of any other mechanism."""
    os.environ.setdefault("MPLBACKEND", "agg")
    from nonsmooth import plots

    stated = tuple(panels or ()) or _panels_of(trajectory)
    return plots.figure(trajectory, *stated, exact=exact, **options)


def _panels_of(trajectory: Trajectory) -> tuple[Any, ...]:
    """Of the ready problem that the run is of, as far as it is installed; none for another mechanism."""
    name = trajectory.manifest.get("model", {}).get("problem")
    if not name:
        return ()
    from nonsmooth.registry import get_problem

    try:
        return tuple(get_problem(name).panels)
    except InputError:
        return ()


def exact_of(trajectory: Trajectory) -> Exact | None:
    """The exact solution of a saved run, where its ready problem has one for what is in the file."""
    model = trajectory.manifest.get("model", {})
    name, arguments = model.get("problem"), model.get("arguments", {})
    if not name or not isinstance(arguments, dict):
        return None
    from nonsmooth.registry import get_problem

    try:
        problem = get_problem(name)
        if problem.exact is None or not _as_declared(arguments, problem.__signature__):
            return None
        system = problem(**arguments).build()
        exact: Exact = problem.exact(**arguments)
    except InputError:  # another version of the problem, or it has no exact solution for these arguments
        return None
    values = [trajectory.manifest["parameters"].get(one, {}).get("value") for one in system.parameters]
    same = json.loads(json.dumps(system.description)) == model and values == system.parameter_values.tolist()
    start = system.start
    return exact if same and trajectory.t[0] == start.t and (trajectory.q.array[0] == start.q).all() else None


def _as_declared(arguments: dict[str, Any], signature: inspect.Signature) -> bool:
    """Whether arguments out of a file have the kinds of the problem's defaults."""
    for name, value in arguments.items():
        default = getattr(signature.parameters.get(name), "default", None)
        number = isinstance(default, (int, float)) and isinstance(value, (int, float))
        if not number and not isinstance(value, type(default)):
            return False
    return True


def carry_out_plot(
    run: Path,
    panels: Sequence[str],
    *,
    output: Path | None,
    width: str | None,
    measured: Path | None,
    window: tuple[float | None, float | None],
    listed: bool,
) -> int:
    """Draw a saved run and print its difference from measured data."""
    output = output or Path(f"{run.stem}.png")
    if not listed:
        check_writable("--output", output, FIGURE_FORMATS)
    from nonsmooth.cli.report import show
    from nonsmooth.trajectory import Trajectory

    trajectory = Trajectory.load(run)
    if listed:
        show(*_names(trajectory))
        return 0
    with stage("drawing", output.name):
        return _drawn(trajectory, run, panels, output, width, measured, window)


def _drawn(
    trajectory: Trajectory, run: Path, panels: Sequence[str], output: Path, width: str | None, measured: Path | None,
    window: tuple[float | None, float | None],
) -> int:  # fmt: skip
    """See `carry_out_plot`."""
    os.environ.setdefault("MPLBACKEND", "agg")
    from nonsmooth import plots

    first, last = window
    span = None
    if first is not None or last is not None:
        begin, end = float(trajectory.t[0]), float(trajectory.t[-1])
        span = (begin if first is None else first, end if last is None else last)
    data = None if measured is None else plots.read_measured(measured, trajectory)
    options: dict[str, Any] = {"exact": exact_of(trajectory), "width": width, "measured": data, "window": span}
    drawn = plots.figure(trajectory, *panels, **options) if panels else usual_figure(trajectory, **options)
    if width is not None:
        drawn.set_dpi(300)  # resolution required by journals
    write_figure(drawn, output)
    if data is not None:
        for (kind, name), difference in data.differences(trajectory).items():
            unit = plots.unit_of(trajectory, kind, name)
            print(f"{kind}:{name}: root mean square of run minus data {difference:.4g} {unit}")
    print(f"{output} shows {run}.")
    return 0


def _names(trajectory: Trajectory) -> list[Any]:
    """The names accepted by `--panel` for this run."""
    from rich.table import Table

    from nonsmooth import plots
    from nonsmooth.plots.figure import WORDS

    table = Table("--panel", "unit", box=None, pad_edge=False)
    for kind, name, unit in plots.quantities(trajectory):
        table.add_row(f"{kind}:{name}", unit)
    words = Table("--panel", "what it draws", box=None, pad_edge=False)
    for word, meaning in WORDS.items():
        words.add_row(word, meaning)
    return [words, "", table]


def carry_out_export(run: Path, output: Path | None, kinds: Sequence[str]) -> int:
    """Write a saved run as a CSV or MAT file."""
    output = output or Path(f"{run.stem}.csv")
    check_writable("--output", output, (".csv", ".mat"))
    from nonsmooth.trajectory import Trajectory

    trajectory = Trajectory.load(run)
    if output.suffix.lower() == ".mat":
        trajectory.to_mat(output, kinds or None)
        print(f"{output} has {len(trajectory.t)} rows, names and units beside them, and the table of contacts.")
        return 0
    trajectory.to_csv(output, kinds or None)
    rows = len(trajectory.contacts) if list(kinds) == ["contacts"] else len(trajectory.t)
    print(f"{output} has {rows} rows; the first line has names and units.")
    return 0
