"""`nonsmooth run`: check the input, simulate with a progress bar, save the result, report; resume from a checkpoint."""

import contextlib
import dataclasses
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from nonsmooth.cli import report
from nonsmooth.cli.files import FIGURE_FORMATS, PAGE_FORMATS, check_writable, exact_solution
from nonsmooth.cli.inputs import Mechanism, Request
from nonsmooth.cli.options import KINDS, MANY, Law, Problem, Runs, Seconds, Written, progress_bar
from nonsmooth.cli.plot import usual_figure
from nonsmooth.exceptions import TOO_LITTLE, InputError, Interrupted, SimulationFailed, lacks_memory
from nonsmooth.files import write_figure
from nonsmooth.progress import Advance, stage, timings
from nonsmooth.run.checkpoints import EVERY, stored
from nonsmooth.run.simulate import ACCURACY, simulate
from nonsmooth.step.control import StepControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.trajectory import Trajectory

OUTPUTS = ("output", "figure", "animation", "report")  # files to be written, by their options
#: fields of a request that are options, and stored in checkpoints
OPTIONS = [one for one in dataclasses.fields(Request) if one.compare]


class CheckpointPath(os.PathLike[str]):
    """The path of a checkpoint, with the options of the run, which are stored in it."""

    def __init__(self, path: Path, request: str) -> None:
        self.path, self.request = path, request

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)


def run(
    problem: Problem | None = None, *, runs: Runs, accuracy: float | None = None, check: bool = False,
    max_steps: int | None = None, max_seconds: Seconds | None = None, record: int | None = None,
    contact: str | None = None, law: Law | None = None, friction_law: str | None = None, written: Written,
    animation: Path | None = None, checkpoint: Path | None = None, every: Seconds | None = None,
    resume: Path | None = None,
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
        Largest time of the whole command's computing, compiling included; a longer run fails, with its steps so far.
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
        request = Request(
            **vars(runs) | {"problem": problem or ""}, accuracy=accuracy, check=check, max_steps=max_steps,
            max_seconds=max_seconds, record=record, contact=contact, law=law, friction_law=friction_law,
        )  # fmt: skip
        files = {"output": written.output, "figure": written.figure, "animation": animation, "report": written.page}
        return _run(request, files, checkpoint, every, resume, written.as_json)
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
        request, files = _stored_request(resume, request, files)
        checkpoint = resume
    elif not request.problem:
        raise InputError("Name what to run: a problem of `nonsmooth list`, a TOML file, or a Python file.")
    request = request.completed()
    checkpoint_path = None
    if checkpoint is not None:
        check_writable("--checkpoint", checkpoint, (".nc",))
        if files["output"] is not None and os.path.realpath(checkpoint) == os.path.realpath(files["output"]):
            raise InputError(f"--checkpoint and --output are both {checkpoint}: give two files.")
        options = {one.name: getattr(request, one.name) for one in OPTIONS}
        wanted = {name: None if file is None else str(file) for name, file in files.items()}
        checkpoint_path = CheckpointPath(checkpoint, json.dumps({"request": options, "files": wanted}))
    elif every is not None:
        raise InputError(f"--every {every:g} needs --checkpoint FILE.nc, the file to write so often.")
    output, figure, animation, page = (files[name] or request.written(name) for name in OUTPUTS)
    check_writable("--output", output, (".nc",))
    check_writable("--figure", figure, FIGURE_FORMATS)
    if animation is not None:
        from nonsmooth import plots
        from nonsmooth.plots.pages import FORMATS, check_format

        check_format(animation)
        check_writable("--animation", animation, FORMATS)
    check_writable("--report", page, PAGE_FORMATS)
    dt, stepper = request.step(), request.scheme()
    mechanism = request.mechanism()

    ending = _simulated(request, mechanism, stepper, dt, checkpoint_path, EVERY if every is None else every)
    trajectory = ending.trajectory
    try:
        if output is not None or ending.code:
            stem = f"{mechanism.name}-{'interrupted' if ending.code == 130 else 'failed'}"
            output = ending.save(output or _free_name(stem))
        if ending.code == 0:
            ending.write(lambda path: _draw(trajectory, mechanism, path), figure)
            ending.write(lambda path: plots.animation(trajectory).save(path), animation)
        ending.write(trajectory.report, page)
        if ending.code == 130 and output is None:
            output = ending.save(_free_name(f"{mechanism.name}-interrupted"))
        if as_json:
            with stage("reporting"):
                facts = report.summary(trajectory, mechanism)
            report.print_object({**facts, "seconds": timings()})
        else:
            report.show(*report.result(trajectory, mechanism, ending.files))
    except KeyboardInterrupt:
        ending.add(130, "Interrupted after the last step.")
    if ending.code:
        message = f"nonsmooth: {' '.join(ending.messages)}"
        if output is not None:
            part = "" if trajectory.status == "finished" else " so far"
            steps = trajectory.counts.get("steps", len(trajectory.t) - 1)
            message += f" The trajectory{part} ({steps} steps) is in {output}."
        if checkpoint_path is not None:  # which does not name a Python file
            named = f"{request.problem} " if request.problem.endswith(".py") else ""
            message += f" Continue with `nonsmooth run {named}--resume {checkpoint_path}`."
        print(message, file=sys.stderr)
    return ending.code


class Ending:
    """The trajectory of a run, exit code, messages, and files that were written."""

    def __init__(self, trajectory: Trajectory, code: int = 0, message: str = "") -> None:
        self.trajectory, self.code, self.files = trajectory, code, list[Path]()
        self.messages = [message] if message else []

    def add(self, code: int, message: str) -> None:
        """The first exit code that is not 0 remains, unless Ctrl-C was pressed meanwhile."""
        self.code = code if code == 130 else self.code or code
        self.messages += [] if message in self.messages else [message]

    def write(self, write: Callable[[Path], None], path: Path | None, *, again: bool = False) -> Path | None:
        """Write a file, if one is wanted, and not after Ctrl-C, unless `again`; its path if it is there."""
        if path is None or self.code == 130 and not again:
            return None
        try:
            with stage("drawing", path.name) if path.suffix != ".nc" else contextlib.nullcontext():
                write(path)
        except InputError as error:
            self.add(1, str(error))
        except Exception as error:  # various ones of libraries that are loaded in between
            if not lacks_memory(error):
                raise
            self.add(1, f"{path} was not made: {TOO_LITTLE}.")
        except KeyboardInterrupt:
            self.add(130, f"Interrupted while {path} was made.")
        else:
            self.files.append(path)
            return path
        return None

    def save(self, path: Path) -> Path | None:
        """Save the trajectory, again after Ctrl-C, and in another folder if necessary; otherwise the run is lost."""
        written = self.write(self.trajectory.save, path, again=True)
        if written is None and self.code == 130:
            written = self.write(self.trajectory.save, path, again=True)
        folders = [Path()]
        with contextlib.suppress(FileNotFoundError):  # on a full disk no folder counts as one for temporary files
            folders.append(Path(tempfile.gettempdir()))
        for folder in folders:
            if written is None and folder.resolve() != path.parent.resolve():
                written = self.write(self.trajectory.save, _free_name(f"{path.stem}-saved", folder), again=True)
        return written


def _simulated(
    request: Request, mechanism: Mechanism, stepper: Stepper | None, dt: StepControl | None,
    checkpoint: CheckpointPath | None, every: float,
) -> Ending:  # fmt: skip
    """The trajectory so far; KeyboardInterrupt if there is none."""
    trajectory = None
    try:
        with progress_bar(Advance) as progress:
            trajectory = simulate(
                mechanism.system, stepper, t_end=request.end, dt=dt, check=request.check,
                accuracy=ACCURACY if request.accuracy is None else request.accuracy,
                parameters=mechanism.parameters or None, max_steps=request.max_steps, max_seconds=request.max_seconds,
                record=1 if request.record is None else request.record, progress=progress,
                checkpoint=checkpoint, every=every,
            )  # fmt: skip
    except SimulationFailed as failure:
        return Ending(failure.trajectory, 1, str(failure))
    except Interrupted as interruption:
        return Ending(interruption.trajectory, 130, str(interruption))
    except KeyboardInterrupt:
        if trajectory is None:
            raise
        return Ending(trajectory, 130, "Interrupted after the last step.")
    return Ending(trajectory)


def _draw(trajectory: Trajectory, mechanism: Mechanism, path: Path) -> None:
    exact = None if mechanism.parameters else exact_solution(mechanism.problem, mechanism.arguments)
    write_figure(usual_figure(trajectory, exact), path)


def _free_name(stem: str, folder: Path = Path()) -> Path:
    names = (f"{stem}{'' if k == 1 else f'-{k}'}.nc" for k in itertools.count(1))
    return next(folder / name for name in names if not (folder / name).exists())


def _stored_request(
    path: Path, given: Request, files: dict[str, Path | None]
) -> tuple[Request, dict[str, Path | None]]:
    """The options of the run of a checkpoint, replaced by those given; a file of others names no program to run."""
    _, _, text = stored(path)
    try:
        known = json.loads(text)
        words = known["request"]
        for one in OPTIONS:  # each of the kind that options give
            kind, value = KINDS[str(one.type).removesuffix(" | None")][0], words.get(one.name, one.default)
            kinds = (int, float) if kind is float else list if kind in MANY else kind
            if not (isinstance(value, kinds) or value is None and one.default is None):
                raise TypeError(f"{one.name} = {value!r}")
        request = Request(**{**words, "settings": tuple(str(word) for word in words["settings"])})
        wanted = {name: None if known["files"].get(name) is None else Path(known["files"][name]) for name in OUTPUTS}
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} was not written by `nonsmooth run`: continue it by the call of simulate(..., checkpoint=...) "
            "that wrote it."
        ) from error
    usual = Request(problem="")
    changes = {name: value for name, value in vars(given).items() if value != getattr(usual, name)}
    if "problem" not in changes and request.problem.endswith(".py"):
        raise InputError(
            f"{path} is a run of the Python file {request.problem}, which is run only where you name it: "
            f"nonsmooth run {request.problem} --resume {path}."
        )
    for name, file in wanted.items():
        outside = file is not None and not file.resolve().is_relative_to(Path.cwd().resolve())
        if outside and files.get(name) is None:
            raise InputError(
                f"{path} asks for --{name} {file}, outside of the working folder: give --{name} again to have it "
                "there, or elsewhere."
            )
    return dataclasses.replace(request, **changes), wanted | {name: file for name, file in files.items() if file}
