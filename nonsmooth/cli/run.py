"""One run: check, simulate with a progress bar, save whatever came of it, report."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.cli.inputs import FIGURE_FORMATS, Mechanism, Request, check_writable
from nonsmooth.cli.report_page import check_page
from nonsmooth.exceptions import InputError, Interrupted, SimulationFailed
from nonsmooth.files import write_figure

if TYPE_CHECKING:
    from nonsmooth.trajectory import Trajectory

__all__ = ["carry_out"]

Progress = Callable[[float, float, int], None]


def carry_out(
    request: Request,
    *,
    output: Path | None,
    figure: Path | None,
    as_json: bool,
    animation: Path | None = None,
    page: Path | None = None,
) -> int:
    """Run what is asked for and return the exit code."""
    request = request.completed()
    output, figure = output or request.written("output"), figure or request.written("figure")
    animation, page = animation or request.written("animation"), page or request.written("report")
    for option, path, suffixes in (("--output", output, (".nc",)), ("--figure", figure, FIGURE_FORMATS)):
        if path is not None:
            check_writable(option, path, suffixes)
    if animation is not None:
        _check_animation(animation)
    check_page("--report", page)
    dt, stepper = request.step(), request.scheme()
    mechanism = request.mechanism()

    from nonsmooth.cli import report
    from nonsmooth.simulate import ACCURACY, simulate

    code, message = 0, ""
    try:
        with _progress() as progress:
            trajectory = simulate(
                mechanism.system,
                stepper,
                t_end=request.end,
                dt=dt,
                accuracy=ACCURACY if request.accuracy is None else request.accuracy,
                check=request.check,
                parameters=mechanism.parameters or None,
                engine=request.engine or "auto",
                progress=progress,
            )
    except SimulationFailed as failure:
        code, message, trajectory = 1, str(failure), failure.trajectory
        output = output or _free_name(f"{mechanism.name}-failed")
    except Interrupted as interruption:
        code, message, trajectory = 130, str(interruption), interruption.trajectory
        output = output or _free_name(f"{mechanism.name}-interrupted")
    if output is not None and (complaint := _refused(trajectory.save, output)):
        code, message, output = code or 1, f"{message} {complaint}".strip(), None
    if figure is not None and code == 0:
        _draw(trajectory, mechanism, figure)
    if animation is not None and code == 0:
        _animate(trajectory, animation)
    if page is not None and (complaint := _refused(trajectory.report, page)):
        code, message, page = code or 1, f"{message} {complaint}".strip(), None
    drawn = (figure, animation) if code == 0 else ()
    written = [path for path in (output, *drawn, page) if path is not None]
    if as_json:
        report.print_json(trajectory, mechanism)
    else:
        report.show(*report.result(trajectory, mechanism, written))
    if code:
        kept = f" The trajectory so far ({len(trajectory.t) - 1} steps) is in {output}." if output is not None else ""
        print(f"nonsmooth: {message}{kept}", file=sys.stderr)
    return code


def _refused(write: Callable[[Path], None], path: Path) -> str:
    """Write a file; why it could not be written, or nothing."""
    try:
        write(path)
    except InputError as error:
        return str(error)
    return ""


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A progress bar on standard error where that is a terminal; otherwise nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        shown = 0.0

        def progress(t: float, t_end: float, steps: int) -> None:
            nonlocal shown
            now = time.monotonic()
            if now - shown > 0.1:
                shown = now
                bar.update(task, completed=t / t_end, description=f"t = {t:.6g} s, {steps} steps")

        yield progress


def _draw(trajectory: Trajectory, mechanism: Mechanism, path: Path) -> None:
    """Draw the problem's own panels and write them."""
    os.environ.setdefault("MPLBACKEND", "agg")
    from nonsmooth import plots

    panels = mechanism.problem.panels if mechanism.problem is not None else None
    drawing = plots.motion(trajectory, panels, exact=_exact_solution(mechanism))
    write_figure(drawing, path)


def _check_animation(path: Path) -> None:
    """Before the run: a folder that can be written, and a format that this machine can make."""
    from nonsmooth.plots.animation import FORMATS, check_format

    check_format(path)
    check_writable("--animation", path, FORMATS)


def _animate(trajectory: Trajectory, path: Path) -> None:
    """Draw the mechanism in motion."""
    os.environ.setdefault("MPLBACKEND", "agg")
    from nonsmooth import plots

    plots.animation(trajectory).save(path)


def _exact_solution(mechanism: Mechanism) -> Any:
    """The problem's exact solution where it has one for these arguments; none for changed parameters."""
    if mechanism.problem is None or mechanism.problem.exact is None or mechanism.parameters:
        return None
    try:
        return mechanism.problem.exact(**mechanism.arguments)
    except InputError:
        return None


def _free_name(stem: str) -> Path:
    """A file name in the working folder that does not exist yet."""
    path, number = Path(f"{stem}.nc"), 1
    while path.exists():
        number += 1
        path = Path(f"{stem}-{number}.nc")
    return path
