"""`nonsmooth plot | export | cite | report`: figures, tables, references and pages of runs that were saved."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.cli.files import FIGURE_FORMATS, PAGE_FORMATS, check_writable, exact_solution
from nonsmooth.cli.options import Saved, Seconds
from nonsmooth.cli.report import show, table_of
from nonsmooth.exceptions import InputError
from nonsmooth.files import write_figure
from nonsmooth.model.registry import get_problem
from nonsmooth.progress import stage
from nonsmooth.report.citations import bibtex
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.plots.panel import Exact


def usual_figure(trajectory: Trajectory, exact: Any = None, **options: Any) -> Figure:
    """The panels of the ready problem that the run is of, as far as it is installed; the overview of any other."""
    from nonsmooth import plots

    name, panels = trajectory.manifest.get("model", {}).get("problem"), ()
    with contextlib.suppress(InputError):
        panels = get_problem(name).panels if name else ()
    return plots.figure(trajectory, *panels, exact=exact, **options)


def exact_of(trajectory: Trajectory) -> Exact | None:
    """The exact solution of a saved run, where its ready problem has one for what is in the file."""
    model = trajectory.manifest.get("model", {})
    name, arguments = model.get("problem"), model.get("arguments", {})
    if not name or not isinstance(arguments, dict):
        return None
    try:
        problem = get_problem(name)
        for argument, value in arguments.items():  # out of a file: of the kinds of the problem's defaults
            default = getattr(problem.__signature__.parameters.get(argument), "default", None)
            numbers = isinstance(default, (int, float)) and isinstance(value, (int, float))
            if not numbers and not isinstance(value, type(default)):
                return None
        if (exact := exact_solution(problem, arguments)) is None:
            return None
        system = problem(**arguments).build()
    except InputError:  # another version of the problem
        return None
    values = [trajectory.manifest["parameters"].get(one, {}).get("value") for one in system.parameters]
    same = json.loads(json.dumps(system.description)) == model and values == system.parameter_values.tolist()
    start = system.start
    return exact if same and trajectory.t[0] == start.t and (trajectory.q.array[0] == start.q).all() else None


def plot(
    run: Saved, *, panels: tuple[str, ...] = (), output: Path | None = None, width: str | None = None,
    measured: Path | None = None, begin: Seconds | None = None, end: Seconds | None = None, listed: bool = False,
) -> None:  # fmt: skip
    """Draw a saved run: any quantities, sketch, orbits, contact modes; with measured data.

    Parameters
    ----------
    panels : --panel WORD, default: the problem's own panels, or overview
        A quantity such as slider.x, v:slider.x or lam_N:pin, several with commas; or sketch, orbit:JOINT, phase:NAME,
        modes, impacts, energy, overview; repeatable.
    output : default: the run's name, .png, in the working folder
        Figure to write (.png, .pdf, .svg).
    width : W
        Width: single (90 mm), double (190 mm) or millimetres.
    measured
        Measured data to draw over the run (.csv), with a first line such as t [ms],slider.x [mm].
    begin : --from
        Start of the time interval.
    end : --to
        End of the time interval.
    listed : --list
        List what --panel takes for this run, and stop.
    """
    output = output or Path(f"{run.stem}.png")
    if not listed:
        check_writable("--output", output, FIGURE_FORMATS)
    trajectory = Trajectory.load(run)
    from nonsmooth import plots
    from nonsmooth.plots.figure import WORDS

    if listed:
        rows = [(f"{kind}:{name}", unit) for kind, name, unit in plots.quantities(trajectory)]
        tables = table_of("--panel", "what it draws", rows=WORDS.items()), table_of("--panel", "unit", rows=rows)
        return show(tables[0], "", tables[1])
    with stage("drawing", output.name):
        window = None
        if begin is not None or end is not None:
            ends = float(trajectory.t[0]), float(trajectory.t[-1])
            window = (ends[0] if begin is None else begin, ends[1] if end is None else end)
        data = None if measured is None else plots.read_measured(measured, trajectory)
        options: dict[str, Any] = {"exact": exact_of(trajectory), "width": width, "measured": data, "window": window}
        drawn = plots.figure(trajectory, *panels, **options) if panels else usual_figure(trajectory, **options)
        if width is not None:
            drawn.set_dpi(300)  # resolution required by journals
        write_figure(drawn, output)
        if data is not None:
            for (kind, name), difference in data.differences(trajectory).items():
                unit = plots.unit_of(trajectory, kind, name)
                print(f"{kind}:{name}: root mean square of run minus data {difference:.4g} {unit}")
        print(f"{output} shows {run}.")


def export(run: Saved, *, output: Path | None = None, kinds: tuple[str, ...] = ()) -> None:
    """Write a saved run as a CSV or MAT file, one line per step; or its table of contacts.

    Parameters
    ----------
    output : default: the run's name in the working folder
        Table (.csv, .mat).
    kinds : --kind KIND, default: q, v, gap, lam_N, reaction, energy
        q, v, gap, gap_rate, lam_N, P_N, P_T, mode, reaction, reaction_impact, energy; or contacts.
    """
    output = output or Path(f"{run.stem}.csv")
    check_writable("--output", output, (".csv", ".mat"))
    trajectory = Trajectory.load(run)
    if output.suffix.lower() == ".mat":
        trajectory.to_mat(output, kinds or None)
        print(f"{output} has {len(trajectory.t)} rows, names and units beside them, and the table of contacts.")
    else:
        trajectory.to_csv(output, kinds or None)
        rows = len(trajectory.contacts) if list(kinds) == ["contacts"] else len(trajectory.t)
        print(f"{output} has {rows} rows; the first line has names and units.")


def cite(run: Saved) -> None:
    """Print BibTeX for a run: scheme, solvers used, laws, problem, libraries."""
    print(bibtex(Trajectory.load(run)), end="")


def report(runs: tuple[Path, ...], *, output: Path | None = None, title: str = "", rows: int = 20_000) -> None:
    """Write a run as one HTML page: mechanism in motion, charts, contact modes, impacts, certificate.

    Parameters
    ----------
    runs : RUN.nc...
        Trajectories written by `nonsmooth run --output`.
    output : default: the first file's name in the working folder
        Page to write (.html).
    title : default: name of the mechanism
        Heading.
    rows
        Rows of each run above which rows are omitted; all impacts stay.
    """
    output = output or Path(f"{runs[0].stem}.html")
    check_writable("--output", output, PAGE_FORMATS)
    from nonsmooth.report import write

    stems = [path.stem for path in runs]  # with their folders where two have one name
    labels = [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, runs, strict=True)]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is given twice; give each file once.")
    loaded = {label: Trajectory.load(path) for label, path in zip(labels, runs, strict=True)}
    with stage("drawing", output.name):
        write(loaded if len(loaded) > 1 else next(iter(loaded.values())), output, title=title, rows=rows)
    print(f"{output} ({output.stat().st_size / 1e6:.2g} MB) opens in any browser, without a network.")
