"""One run: check the input, simulate with a progress bar, save the result, report."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.cli.inputs import FIGURE_FORMATS, PAGE_FORMATS, Mechanism, Request, check_writable
from nonsmooth.cli.options import Law, Problem, Runs, Seconds
from nonsmooth.cli.plot import usual_figure
from nonsmooth.cli.progress import progress_bar
from nonsmooth.cli.resume import OUTPUTS, Kept, kept_by, request_of
from nonsmooth.exceptions import InputError, Interrupted, SimulationFailed
from nonsmooth.files import write_figure
from nonsmooth.stages import spent, stage

if TYPE_CHECKING:
    from nonsmooth.step_control import StepControl
    from nonsmooth.steppers.base import Stepper
    from nonsmooth.trajectory import Trajectory

__all__ = ["run"]


def run(
    problem: Problem | None = None, *, runs: Runs, accuracy: float | None = None, check: bool = False,
    max_steps: int | None = None, max_seconds: Seconds | None = None, record: int | None = None,
    contact: str | None = None, law: Law | None = None, friction_law: str | None = None, output: Path | None = None,
    figure: Path | None = None, animation: Path | None = None, page: Path | None = None,
    checkpoint: Path | None = None, every: Seconds | None = None, resume: Path | None = None, as_json: bool = False,
    quiet: bool = False,
) -> int:  # fmt: skip
    """Simulate a problem, check the motion, and write the requested files.

    Parameters
    ----------
    stepper : default: chosen with the step; with a step gauss-qp, or compliant-dae with --contact compliant
        One of {steppers}.
    accuracy : default: 0.01
        Error of positions as a share of the smallest clearance, and of the peak force as a share of it; the step is
        chosen for it.
    check
        Repeat a run of given steps with finer ones, for its verdict.
    max_steps
        Largest number of steps; a longer run fails.
    max_seconds
        Largest computing time; a longer run fails. If steps are chosen, it applies to each run.
    record : N
        Keep every N-th row of a long run of given steps.
    contact
        rigid or compliant, instead of the problem's own.
    law
        Compliant normal law, such as flores; its numbers by --set, such as stiffness=1e10.
    friction_law
        Compliant friction law, such as ambrosio; none if omitted.
    output
        Trajectory to write (NetCDF, .nc).
    animation
        Animation of the mechanism to write (.gif, or .mp4 where ffmpeg is found).
    checkpoint
        Checkpoint file of the run (.nc); if it exists, the same run is continued.
    every : default: 60 s
        Time between two checkpoints.
    resume
        Continue the run of a checkpoint (.nc), with its options.
    """
    try:
        request = runs.request(
            problem=problem or "", accuracy=accuracy, check=check, max_steps=max_steps, max_seconds=max_seconds,
            record=record, contact=contact, law=law, friction_law=friction_law,
        )  # fmt: skip
        files = {"output": output, "figure": figure, "animation": animation, "report": page}
        return _run(request, files, checkpoint, every, resume, as_json)
    except KeyboardInterrupt:
        print("nonsmooth: Interrupted before the first step; nothing was written.", file=sys.stderr)
        return 130


def _run(
    request: Request, files: dict[str, Path | None], checkpoint: Path | None, every: float | None,
    resume: Path | None, as_json: bool,
) -> int:  # fmt: skip
    if resume is not None:
        if checkpoint is not None:
            raise InputError(f"--checkpoint {checkpoint} and --resume {resume} exclude each other: the run goes on in "
                             "the file that it is resumed from.")  # fmt: skip
        request, files = request_of(resume, request, files)
        checkpoint = resume
    elif not request.problem:
        raise InputError("Name what to run: a problem of `nonsmooth list`, a TOML file, or a Python file.")
    request = request.completed()
    kept = kept_by(request, files, checkpoint, every)
    output, figure, animation, page = (files[name] or request.written(name) for name in OUTPUTS)
    check_writable("--output", output, (".nc",))
    check_writable("--figure", figure, FIGURE_FORMATS)
    if animation is not None:
        _check_animation(animation)
    check_writable("--report", page, PAGE_FORMATS)
    dt, stepper = request.step(), request.scheme()
    mechanism = request.mechanism()

    code, message, trajectory = _simulated(request, mechanism, stepper, dt, kept)
    try:
        if output is not None or code:
            stem = f"{mechanism.name}-{'interrupted' if code == 130 else 'failed'}"
            output = output or _free_name(stem)
            code, message, output = _joined(code, message, *_saved(trajectory, output))
        wanted: list[tuple[Path | None, Callable[[Path], None]]] = [(page, trajectory.report)]
        if code == 0:
            wanted[:0] = [
                (figure, lambda path: _draw(trajectory, mechanism, path)),
                (animation, lambda path: _animate(trajectory, path)),
            ]
        written = [] if output is None else [output]
        for path, write in wanted:
            if path is not None and code != 130:
                code, message, made = _joined(code, message, *_written(write, path))
                written += [] if made is None else [made]
        if code == 130 and output is None:
            _, complaint, output = _saved(trajectory, _free_name(f"{mechanism.name}-interrupted"))
            message = f"{message} {complaint}".strip()
            written += [] if output is None else [output]
        _show(trajectory, mechanism, written, as_json=as_json)
    except KeyboardInterrupt:
        code, message = 130, f"{message} Interrupted after the last step.".strip()
    if code:
        part = "" if trajectory.status == "finished" else " so far"
        steps = trajectory.counts.get("steps", len(trajectory.t) - 1)
        so_far = f" The trajectory{part} ({steps} steps) is in {output}." if output is not None else ""
        again = "" if kept is None else f" Continue with `nonsmooth run {_named(request)}--resume {kept.path}`."
        print(f"nonsmooth: {message}{so_far}{again}", file=sys.stderr)
    return code


def _named(request: Request) -> str:
    """A Python file, which a checkpoint does not name for the user."""
    return f"{request.problem} " if request.problem.endswith(".py") else ""


def _simulated(
    request: Request, mechanism: Mechanism, stepper: Stepper | None, dt: StepControl | None, kept: Kept | None
) -> tuple[int, str, Trajectory]:
    """Exit code, messages, and the trajectory so far; KeyboardInterrupt if there is none."""
    from nonsmooth.run.checkpoints import EVERY
    from nonsmooth.run.simulate import ACCURACY, simulate

    trajectory = None
    try:
        with progress_bar() as progress:
            trajectory = simulate(
                mechanism.system,
                stepper,
                t_end=request.end,
                dt=dt,
                accuracy=ACCURACY if request.accuracy is None else request.accuracy,
                check=request.check,
                parameters=mechanism.parameters or None,
                max_steps=request.max_steps,
                max_seconds=request.max_seconds,
                record=1 if request.record is None else request.record,
                progress=progress,
                checkpoint=None if kept is None else kept.path,
                every=EVERY if kept is None else kept.every,
            )
    except SimulationFailed as failure:
        return 1, str(failure), failure.trajectory
    except Interrupted as interruption:
        return 130, str(interruption), interruption.trajectory
    except KeyboardInterrupt:
        if trajectory is None:
            raise
        return 130, "Interrupted after the last step.", trajectory
    return 0, "", trajectory


def _joined(code: int, message: str, now: int, complaint: str, path: Path | None) -> tuple[int, str, Path | None]:
    """The first exit code that is not 0, unless Ctrl-C was pressed meanwhile; all messages."""
    return now if now == 130 else code or now, f"{message} {complaint}".strip(), path


def _saved(trajectory: Trajectory, path: Path) -> tuple[int, str, Path | None]:
    """Save the trajectory, in another folder if necessary: exit code, message, path."""
    code, complaint, written = _written(trajectory.save, path)
    if code == 130:
        code, refused, written = _written(trajectory.save, path)  # otherwise the run would be lost
        code, complaint = 130, refused or complaint
    if written is not None:
        return code, complaint, written
    for folder in _spare_folders():
        if folder.resolve() != path.parent.resolve():
            spare = _free_name(f"{path.stem}-saved", folder)
            again, _, written = _written(trajectory.save, spare)
            if written is not None:
                return max(code, again), complaint, written
    return code, complaint, None


def _spare_folders() -> list[Path]:
    """Where a trajectory may be saved instead; on a full disk no folder counts as one for temporary files."""
    try:
        return [Path(), Path(tempfile.gettempdir())]
    except FileNotFoundError:
        return [Path()]


def _written(write: Callable[[Path], None], path: Path) -> tuple[int, str, Path | None]:
    """Write a file: exit code, complaint, and the path if it is there."""
    try:
        with stage("drawing", path.name) if path.suffix != ".nc" else contextlib.nullcontext():
            write(path)
    except InputError as error:
        return 1, str(error), None
    except KeyboardInterrupt:
        return 130, f"Interrupted while {path} was made.", None
    return 0, "", path


def _show(trajectory: Trajectory, mechanism: Mechanism, written: list[Path], *, as_json: bool) -> None:
    from nonsmooth.cli import report

    if as_json:
        report.print_json(trajectory, mechanism, spent())
    else:
        report.show(*report.result(trajectory, mechanism, written, spent()))


def _draw(trajectory: Trajectory, mechanism: Mechanism, path: Path) -> None:
    """Draw the problem's own panels, or the overview of a mechanism that states none, and write them."""
    panels = mechanism.problem.panels if mechanism.problem is not None else None
    write_figure(usual_figure(trajectory, _exact_solution(mechanism), panels), path)


def _check_animation(path: Path) -> None:
    """Before the run: a folder that can be written, and a format that this machine can make."""
    from nonsmooth.plots.animation import FORMATS, check_format

    check_format(path)
    check_writable("--animation", path, FORMATS)


def _animate(trajectory: Trajectory, path: Path) -> None:
    """Draw the mechanism in motion."""
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


def _free_name(stem: str, folder: Path = Path()) -> Path:
    """A file name, in the working folder unless told otherwise, that does not exist yet."""
    path, number = folder / f"{stem}.nc", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.nc"
    return path
