"""Commands and options. Other modules are imported when a command runs, so that `--help` is fast."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from nonsmooth import steppers
from nonsmooth.cli.comparing import comparing, comparisons
from nonsmooth.cli.identify import identify
from nonsmooth.cli.looking import looking
from nonsmooth.cli.measures import add_measures
from nonsmooth.cli.options import (
    AsJson,
    CaseName,
    Command,
    Drawing,
    DtMax,
    Page,
    ProblemName,
    SchemeWords,
    Words,
    command,
    names,
    seconds,
)
from nonsmooth.cli.progress import line
from nonsmooth.cli.signals import BEGIN, stoppable
from nonsmooth.cli.study import studies
from nonsmooth.cli.words import Quiet, completed
from nonsmooth.exceptions import InputError, NonsmoothError, NotWritten, SimulationFailed, SolverFailed
from nonsmooth.stages import collected, stage

__all__ = ["app", "main"]

#: message after Ctrl-C where nothing was computed
INTERRUPTED = "Interrupted; files written before are complete, and nothing else was written."


class Commands(TyperGroup):
    """Commands with a message after Ctrl-C."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        return _said(lambda: super(Commands, self).make_context(*given, **more))

    def invoke(self, ctx: Any) -> Any:
        return _said(lambda: super(Commands, self).invoke(ctx))


def _said(function: Callable[[], Any]) -> Any:
    """What the function returns; exit code 130 with a message after Ctrl-C."""
    try:
        return function()
    except KeyboardInterrupt:
        _say(INTERRUPTED)
        raise typer.Exit(130) from None


app = typer.Typer(
    name="nonsmooth",
    cls=Commands,
    help="Non-smooth multibody dynamics of mechanisms with joint clearance.",
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # by Rich's own markup [s] would vanish
)


def _version(wanted: bool) -> None:
    if wanted:
        from nonsmooth import __version__

        typer.echo(__version__)
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Non-smooth multibody dynamics of mechanisms with joint clearance."""


@app.command("list")
def list_problems(
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only problems that have this tag; repeatable, all must fit.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the ready problems; where output is piped, one line each: name, summary and tags between tabs."""
    from nonsmooth.cli.report import print_object, problem_table, show
    from nonsmooth.registry import find_problems

    problems = dict(sorted(find_problems().items()))
    known = sorted({one for problem in problems.values() for one in problem.tags})
    for word in tag or ():
        if word not in known:
            raise InputError(f"--tag {word}: no problem has this tag; there are {', '.join(known)}.")
    problems = {name: one for name, one in problems.items() if set(tag or ()) <= set(one.tags)}
    if as_json:
        print_object({name: {"summary": one.summary, "tags": one.tags} for name, one in problems.items()})
    elif sys.stdout.isatty():
        show(problem_table(problems))
    else:
        for name, one in problems.items():
            typer.echo(f"{name}\t{one.summary}\t{', '.join(one.tags)}")


@command(app, "describe", "describe.carry_out")
@dataclass(frozen=True, kw_only=True)
class Describe(Command):
    """Show the source of a problem, its values with their origin, bodies, joints and contacts, and draw it."""

    problem: ProblemName
    case: CaseName = None
    settings: Words = ()
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Drawing of the mechanism to write (.png, .pdf, .svg).")
    ] = None


@app.command()
def fits(
    texts: Annotated[
        list[str], typer.Argument(metavar="FIT", help='Nominal size in mm and fit, such as "20 H7/g6"; several.')
    ],
    as_json: AsJson = False,
) -> int:
    """Limits of an ISO 286 fit, and its diametral and radial clearance."""
    from nonsmooth.cli.fits import carry_out

    return carry_out(texts, as_json=as_json)


@app.command()
def new(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File to write, .py or .toml; it must not exist.")],
    space: Annotated[bool, typer.Option("--space", help="A spatial instead of a planar mechanism.")] = False,
) -> None:
    """Write a commented template for a mechanism of your own."""
    from nonsmooth.cli.new import write_template

    write_template(path, space=space)
    options = "" if path.suffix == ".toml" else " --t-end 0.1"
    typer.echo(
        f"{path} is a mechanism that runs. See it with `nonsmooth describe {path} --figure sketch.png`, run it with "
        f"`nonsmooth run {path}{options}`."
    )


@command(app, "run", "run.carry_out")
@dataclass(frozen=True, kw_only=True)
class Run(Command):
    """Simulate a problem, check the motion, and write the requested files."""

    problem: Annotated[
        str | None,
        names(
            "problem",
            "PROBLEM|FILE",
            "A ready problem, a TOML file, or a Python file that defines `model` or a function `build()`.",
        ),
    ] = None
    t_end: Annotated[
        float | None, seconds("--t-end", "End of the run, such as 0.02 or 20ms; required if no file has it.")
    ] = None
    case: CaseName = None
    stepper: Annotated[
        str | None,
        typer.Option(
            "--stepper",
            help=f"One of {', '.join(steppers.names())}.",
            autocompletion=completed("stepper"),
            show_default="chosen with the step; with a step gauss-qp, or compliant-dae with --contact compliant",
        ),
    ] = None
    solver: Annotated[
        str | None,
        typer.Option("--solver", help="Solver instead of the stepper's default.", autocompletion=completed("solver")),
    ] = None
    dt: Annotated[float | None, seconds("--dt", "Constant step, such as 1e-5 or 10us.")] = None
    dt_min: Annotated[
        float | None, seconds("--dt-min", "Shortest step; with --dt-max, steps end exactly at impacts.")
    ] = None
    dt_max: DtMax = None
    rtol: Annotated[
        float | None,
        typer.Option(
            "--rtol",
            help="Relative error per step, with --atol, --dt-min and --dt-max; for event-driven and compliant-dae.",
        ),
    ] = None
    atol: Annotated[
        float | None,
        typer.Option("--atol", help="Absolute error per step, in SI units; for event-driven and compliant-dae."),
    ] = None
    accuracy: Annotated[
        float | None,
        typer.Option(
            "--accuracy",
            help="Error of positions as a share of the smallest clearance, and of the peak force as a share of it; the "
            "step is chosen for it.",
            show_default="0.01",
        ),
    ] = None
    check: Annotated[
        bool, typer.Option("--check", help="Repeat a run of given steps with finer ones, for its verdict.")
    ] = False
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", help="Largest number of steps; a longer run fails.")
    ] = None
    max_seconds: Annotated[
        float | None,
        seconds(
            "--max-seconds", "Largest computing time; a longer run fails. If steps are chosen, it applies to each run."
        ),
    ] = None
    record: Annotated[
        int | None, typer.Option("--record", help="Keep every N-th row of a long run of given steps.", metavar="N")
    ] = None
    contact: Annotated[
        str | None, typer.Option("--contact", help="rigid or compliant, instead of the problem's own.")
    ] = None
    law: Annotated[
        str | None,
        typer.Option(
            "--law",
            help="Compliant normal law, such as flores; its numbers by --set, such as stiffness=1e10.",
            autocompletion=completed("law"),
        ),
    ] = None
    friction_law: Annotated[
        str | None,
        typer.Option("--friction-law", help="Compliant friction law, such as ambrosio; none if omitted."),
    ] = None
    settings: SchemeWords = ()
    output: Annotated[Path | None, typer.Option("--output", help="Trajectory to write (NetCDF, .nc).")] = None
    figure: Drawing = None
    animation: Annotated[
        Path | None,
        typer.Option("--animation", help="Animation of the mechanism to write (.gif, or .mp4 where ffmpeg is found)."),
    ] = None
    page: Page = None
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", help="Checkpoint file of the run (.nc); if it exists, the same run is continued."),
    ] = None
    every: Annotated[float | None, seconds("--every", "Time between two checkpoints.", show_default="60 s")] = None
    resume: Annotated[
        Path | None,
        typer.Option("--resume", help="Continue the run of a checkpoint (.nc), with its options."),
    ] = None
    as_json: AsJson = False
    quiet: Quiet = False


study = typer.Typer(help="Studies of many runs.", pretty_exceptions_enable=False, rich_markup_mode="markdown")
app.add_typer(comparing)
app.add_typer(study, name="study")
app.add_typer(identify, name="identify")
study.add_typer(comparisons)
study.add_typer(studies)
add_measures(study)
app.add_typer(looking)


@app.command()
def doctor() -> None:
    """Show versions, available solvers, missing ones and the consequences."""
    from nonsmooth.cli.doctor import examination
    from nonsmooth.cli.report import show

    show(*examination())


def _refused(cause: BaseException | None) -> str:
    """The value rejected by pydantic, which its message does not contain."""
    errors = getattr(cause, "errors", None)
    return f", got {errors()[0]['input']!r}" if callable(errors) else ""


def _say(message: str) -> None:
    typer.echo(f"nonsmooth: {message}", err=True)


def _open_streams() -> None:
    """Streams that were closed, as by ``2>&-``, lead nowhere: no file may take the place of one."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
            setattr(sys, name, open(os.devnull, "r" if number == 0 else "w", encoding="utf-8"))


def _told() -> contextlib.AbstractContextManager[None]:
    """A line that says what is done; none where the shell asks for completions."""
    return contextlib.nullcontext() if "_NONSMOOTH_COMPLETE" in os.environ else line()


def _drop_output() -> None:
    """What was not written of the output is not tried again when the interpreter ends."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")


def _warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning in one line, without the line of the source that gives it."""
    return f"nonsmooth: warning: {message}\n"


def _once(show: Callable[..., None]) -> Callable[..., None]:
    """Each text once a command: studies build a model several times, from several places."""
    said: set[str] = set()

    def shown(message: Warning | str, *where: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            show(message, *where)

    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on `arguments` (default: those of the process) and return the exit code."""
    asked = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    _open_streams()
    if "matplotlib" not in sys.modules:
        os.environ["MPLBACKEND"] = "agg"  # figures are written to files alone
    begin = BEGIN if arguments is None else None
    usual, show = warnings.formatwarning, warnings.showwarning
    warnings.formatwarning, warnings.showwarning = _warning, _once(show)
    try:
        with stoppable(), _told(), collected(), stage("preparing", "the program and its input", begin=begin):
            code = app(args=asked, prog_name="nonsmooth", standalone_mode=False)
            sys.stdout.flush()
    except typer.TyperException as error:
        known = {"list", "describe", "new", "run", "compare", "study", "rigid-limit", "published", "doctor", "cite"}
        known |= {"report", "plot", "export", "step-size", "sweep", "tolerance", "bifurcation"}
        known |= {"identify", "excite", "estimate", "fit"}
        command = " ".join(word for word in asked[:2] if word in known) or None
        message = " ".join(error.format_message().split()).rstrip(".") + _refused(error.__cause__)
        _say(f"{message}. `{' '.join(filter(None, ('nonsmooth', command, '--help')))}` shows what is accepted.")
        return 2
    except (NotWritten, SimulationFailed, SolverFailed) as error:
        _say(str(error))
        return 1
    except (InputError, NonsmoothError) as error:
        _say(str(error))
        return 2
    except MemoryError:
        _say("The memory of this process does not suffice; free some, or raise the limit of the process.")
        return 1
    except BrokenPipeError:  # the reader of the output, such as head, has ended
        _drop_output()
        return 1
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        _say(f"A file or the output of the command cannot be used ({error.strerror or error}{where}).")
        _drop_output()
        return 1
    except (KeyboardInterrupt, typer.Abort):  # before the options are read, or after the command
        _say(INTERRUPTED)
        return 130
    finally:
        warnings.formatwarning, warnings.showwarning = usual, show
    return code if isinstance(code, int) else 0
