"""Output of commands: tables or one JSON object; figures, datasets and pages of studies."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rich.console import Console, RenderableType
from rich.table import Table

from nonsmooth.exceptions import Interrupted
from nonsmooth.files import plain, write_figure
from nonsmooth.progress import stage, timings
from nonsmooth.settings import kebab
from nonsmooth.studies.files import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.cli.inputs import Mechanism
    from nonsmooth.cli.options import Shown
    from nonsmooth.trajectory import Columns, Trajectory

#: counts of repeated steps, with their names in tables
REPEATED = {"divided": "steps in parts", "chained": "steps by the chain of solvers"}
CERTIFIED = {"gap_violation": "m", "joint_violation": "m or rad"}  # units of residuals in a certificate that have one
WORD = 16  # characters of the longest word that stays whole, as numbers do
#: shares of the largest value that a quantity has in a run, and that any of its unit has, below which a value is 0
SHARE_OF_OWN, SHARE_OF_UNIT = 1e-12, 1e-14

R = TypeVar("R")


def show(*parts: RenderableType) -> None:
    """Print tables and lines on standard output; a table that must not fold is printed in parts that fit."""
    console = Console(highlight=False, markup=False)
    for part in parts:
        for fitting in _parts(part, console) if isinstance(part, Table) else [part]:
            console.print(fitting)


def _parts(table: Table, console: Console) -> list[RenderableType]:
    """Tables one below the other, each with the first column and as many others as fit, folded between words."""
    columns = [[str(column.header), *(str(cell) for cell in column.cells)] for column in table.columns]
    widths = [max(len(line) for text in texts for line in text.splitlines() or [""]) for texts in columns]
    words = [[min(len(one), WORD) for text in texts for one in text.split()] for texts in columns]
    least = [full if column.no_wrap else max(found, default=1)
             for column, full, found in zip(table.columns, widths, words, strict=True)]  # fmt: skip
    groups: list[list[int]] = [[0]]
    for i in range(1, len(widths)):
        if len(groups[-1]) > 1 and sum(least[k] + 2 for k in (*groups[-1], i)) - 2 > console.width:
            groups.append([0])
        groups[-1].append(i)
    parts: list[RenderableType] = []
    for group in groups:
        heads, *rows = zip(*(columns[i] for i in group), strict=True)
        one = table if len(groups) == 1 else table_of(*heads, rows=rows, whole=table.columns[-1].no_wrap)
        fitted = {i: widths[i] for i in group}
        while sum(fitted.values()) + 2 * (len(group) - 1) > console.width:
            foldable = [i for i in group if fitted[i] > least[i]]
            if not foldable:
                break
            fitted[max(foldable, key=lambda i: (fitted[i], i))] -= 1
        for column, i in zip(one.columns, group, strict=True):
            column.width = None if one.columns[-1].no_wrap else fitted[i]
        parts += [one] if group is groups[0] else ["", one]
    return parts


def summary(trajectory: Trajectory, mechanism: Mechanism) -> dict[str, Any]:
    """The object that `run --json` prints: plain numbers under the contract's keys."""
    scheme = str(trajectory.manifest["settings"]["stepper"])
    requested, called = re.search(r"solver=(\w+)", scheme), dict(trajectory.manifest.get("called", {}))
    solver = kebab(requested.group(1)) if requested else None
    if "implicit" in trajectory.counts:  # by default, where contact is compliant
        solver = "dop853"
    if called and requested and requested.group(1) not in called:
        solver = kebab(next(iter(called)))
    certificate = dataclasses.asdict(trajectory.certificate)
    energy = certificate.pop("energy")
    return {
        "problem": mechanism.name, "stepper": kebab(scheme.partition("(")[0]), "solver": solver,
        "called": {kebab(name): count for name, count in called.items()},
        "engine": trajectory.manifest.get("engine", "compiled"),
        "steps": trajectory.counts.get("steps", len(trajectory.t) - 1),
        "failures": int(trajectory.status.startswith("failed")), "wall_seconds": trajectory.wall_seconds,
        "verdict": dataclasses.asdict(trajectory.verdict), "certificate": certificate, "energy": energy,
        "counts": dict(trajectory.counts), "final": {name: trajectory.q[name][-1] for name in trajectory.q.names},
        "impulse": {name: trajectory.P_N[name].sum() for name in trajectory.P_N.names},
    }  # fmt: skip


def print_object(facts: Mapping[str, Any]) -> None:
    """Print one JSON object; a number that is not finite is null."""
    json.dump(plain(facts), sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def result(trajectory: Trajectory, mechanism: Mechanism, written: Sequence[Path]) -> list[RenderableType]:
    """The tables of a finished, failed or interrupted run, with the seconds of all that the command did, by stage."""
    with stage("reporting"):
        facts = summary(trajectory, mechanism)
        end = _end_of(trajectory, facts)
    counts, seconds, system = facts["counts"], timings(), mechanism.system
    when = "" if trajectory.status.startswith("failed") else f" at t = {trajectory.t[-1]:.9g} s"  # which it has itself
    run = grid(f"{facts['problem']}: {trajectory.status}{when}")
    run.add_row("stepper", facts["stepper"])
    if facts["called"]:
        calls = ", ".join(f"{name} {count}" for name, count in facts["called"].items())
        run.add_row("solver", f"{calls} calls, {counts.get('fallbacks', 0)} fallbacks")
    else:  # also where an integrator takes the place of a solver
        stiff = f", radau in {counts['implicit']} steps" if counts.get("implicit") else ""
        run.add_row("solver", f"{facts['solver']}{stiff}{'' if 'evaluations' in counts else ', not called'}")
    alone = " without the runs compared with it" if "accuracy" in trajectory.manifest else ""
    run.add_row("steps", f"{facts['steps']} in {facts['wall_seconds']:.3g} s{alone}")
    each = sorted(seconds.items(), key=lambda one: -one[1])
    run.add_row("seconds", f"{sum(seconds.values()):.3g}: " + ", ".join(f"{k} {v:.2g}" for k, v in each))
    if counts.get("solves") or "evaluations" not in counts:
        effort = [f"{counts[name]} {name}" for name in ("solves", "iterations", "fallbacks")]
        effort += [f"{counts[name]} {what}" for name, what in REPEATED.items() if counts.get(name)]
        run.add_row("solves", ", ".join(effort))
    else:
        run.add_row("evaluations", f"{counts['evaluations']} of the equations of motion")
    for name, value in facts["certificate"].items():
        run.add_row(name.replace("_", " "), f"{value:.3g} [{CERTIFIED.get(name, '-')}]")
    run.add_row("energy remainder", f"{facts['energy']['remainder']:.3g} [J]")
    run.add_row("verdict", str(trajectory.verdict))
    for name in system.parameters:
        if name.rpartition(".")[2] in ("stiffness", "restitution", "friction"):
            value = mechanism.parameters.get(name, system.parameters[name])
            origin = system.provenance.get(name, {})
            source = f" ({origin['kind']}, {origin['source']})" if origin.get("value") == value else ""
            run.add_row("contact", f"{name} = {value:g}{source}")
    for path in written:
        run.add_row("written", str(path))
    return [run, *end]


def _end_of(trajectory: Trajectory, facts: Mapping[str, Any]) -> list[RenderableType]:
    """Tables of the final state, and of impulses, forces and impacts of the contacts."""
    state = table_of("final state", "position", "unit", "velocity", "unit")
    units = dict(zip(trajectory.v.names, trajectory.v.unit_list, strict=True))
    velocities = dict(zip(trajectory.v.names, trajectory.v.array[-1], strict=True))
    positions, velocities = _tidied(facts["final"], trajectory.q), _tidied(velocities, trajectory.v)
    rates = {name: (f"{value:.12g}", f"[{units[name]}]") for name, value in velocities.items()}
    for body in dict.fromkeys(name.rpartition(".")[0] for name in positions):
        for name in (one for one in positions if one.rpartition(".")[0] == body):
            position = f"{positions[name]:.12g}", f"[{trajectory.q.units(name)}]"
            state.add_row(name, *position, *rates.get(name, ("", "")))
        for name in (one for one in velocities if one.rpartition(".")[0] == body and one not in positions):
            state.add_row(name, "", "", *rates[name])  # as the angular velocities of a body with a quaternion
    if not facts["impulse"]:
        return ["", state]
    from nonsmooth.diagnostics.contacts import COUNTED, impact_counts

    struck = impact_counts(trajectory)
    impulses = _tidied(facts["impulse"], trajectory.P_N)
    forces = _tidied({name: float(trajectory.lam_N[name][-1]) for name in impulses}, trajectory.lam_N)
    rows = [(name, f"{P:.12g}", f"{forces[name]:.9g}", str(struck.get(name, 0))) for name, P in impulses.items()]
    contacts = table_of("contact", "impulse [N s]", "last force [N]", "impacts", rows=rows)
    parts: list[RenderableType] = ["", state, "", contacts]
    counted, listed = sum(struck.values()), len(trajectory.impacts)
    if listed > counted:
        least = f"an approach of at least {100 * COUNTED:g} % of the fastest"
        parts.append(f"impacts: {counted} begin with {least}, of {listed} impulses in `impacts` of the run")
    return parts


def _tidied(values: Mapping[str, float], columns: Columns) -> dict[str, float]:
    """The values with round-off replaced by 0, relative to the whole columns."""
    peaks, of_unit = columns.peaks(), dict[str, float]()
    for name, peak in peaks.items():
        of_unit[columns.units(name)] = max(of_unit.get(columns.units(name), 0.0), peak)
    least = {name: max(SHARE_OF_OWN * peaks[name], SHARE_OF_UNIT * of_unit[columns.units(name)]) for name in values}
    return {name: 0.0 if abs(value) <= least[name] else value for name, value in values.items()}


def table_of(*heads: str, rows: Iterable[Sequence[str]] = (), whole: bool = False) -> Table:
    """A table whose first column stays as it is; with `whole`, all columns do, see `show`."""
    table = Table(*heads, box=None, pad_edge=False)
    for i, column in enumerate(table.columns):
        column.no_wrap, column.overflow = whole or not i, "fold"
    for row in rows:
        table.add_row(*row)
    return table


def grid(title: str) -> Table:
    """Lines of two columns below a title."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column()
    return table


def draw(path: Path, function: Callable[[Any], Figure]) -> None:
    with stage("drawing", path.name):
        from nonsmooth import plots

        write_figure(function(plots), path)


def whole_or_part(study: Callable[[], R]) -> tuple[R, list[str]]:
    """The result of a study; after Ctrl-C, if it has one, the result so far and a line that says so."""
    try:
        return study(), []
    except Interrupted as interruption:
        if not isinstance(interruption.result, Result):
            raise
        return cast("R", interruption.result), [str(interruption).replace("`result` of this error", "this")]


def conclude(
    written: Shown, title: str, shown: Sequence[Any], plain: Callable[[], Mapping[str, Any]], *, head: str = "",
    figure: Callable[[Any], Figure] | None = None, save: Callable[[Path], None] | None = None,
    runs: Mapping[str, Trajectory] | None = None, files: Sequence[Path | None] = (),
) -> None:  # fmt: skip
    """Write the requested files of a study, and print its lines and tables, or `plain`, the object of ``--json``.

    `title` is that of the page, `head` a line above; `figure` draws, given `nonsmooth.plots`; `save` writes the
    dataset, unless the study has; `runs` are shown on the page, and `files` were written by the command itself.
    """
    files = [*files, written.output, written.figure if figure is not None else None, written.page]
    if written.output is not None and save is not None:
        save(written.output)
    if written.figure is not None and figure is not None:
        draw(written.figure, figure)
    if written.page is not None:
        from nonsmooth.report import Picture, study_page, write
        from nonsmooth.report import Table as PageTable
        from nonsmooth.report.page import write_text

        parts: list[Any] = [one for one in (head, *shown) if not (isinstance(one, str) and one in ("", title))]
        for i, one in enumerate(parts):
            if isinstance(one, Table):
                columns = [[str(cell) for cell in column.cells] for column in one.columns]
                heads = tuple(str(column.header) for column in one.columns)
                parts[i] = PageTable(heads, tuple(zip(*columns, strict=True)))
        with stage("drawing", written.page.name):
            if figure is not None:
                import matplotlib

                from nonsmooth import plots

                svg = io.StringIO()
                with matplotlib.rc_context({"svg.hashsalt": "nonsmooth"}):  # the same figure gives the same text
                    figure(plots).savefig(svg, format="svg", metadata={"Date": None})
                parts.append(Picture(svg.getvalue(), f"figure of {title}"[:200]))
            if runs:
                write(runs, written.page, title=title, more=parts)
            else:
                write_text(study_page(title, parts), written.page)
    if written.as_json:
        print_object(plain())
    else:
        show(*([head, ""] if head else []), *shown, *[f"written  {path}" for path in files if path is not None])
