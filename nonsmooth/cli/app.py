"""Commands and options. Other modules are imported when a command runs, so that `--help` is fast."""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from nonsmooth.cli.commands import add_command, add_measures
from nonsmooth.cli.options import line
from nonsmooth.exceptions import TOO_LITTLE, NonsmoothError, NotWritten, SimulationFailed, SolverFailed, lacks_memory
from nonsmooth.progress import collect_timings, stage

#: message after Ctrl-C where nothing was computed
INTERRUPTED = "Interrupted; files written before are complete, and nothing else was written."
#: for what pydantic says of words that are no numbers
NUMBERS = {
    "Input should be a valid number, unable to parse string as a number": "a plain number in SI units is expected",
    "Input should be a valid integer, unable to parse string as an integer": "a whole number is expected",
}


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Exit code 130 with a message after Ctrl-C, of which Typer would make a blank line."""
    try:
        yield
    except KeyboardInterrupt as error:
        _say(str(error) or INTERRUPTED)
        raise typer.Exit(130) from None


class Commands(TyperGroup):
    """Commands with a message after Ctrl-C."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        with _interruptible():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:
        with _interruptible():
            return super().invoke(ctx)


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


#: module and function of each command; of a group the commands
COMMANDS: dict[str, str | dict[str, str]] = {
    "list": "describe.list_problems",
    "describe": "describe.describe",
    "fits": "fits.fits",
    "new": "files.new",
    "run": "run.run",
    "doctor": "doctor.doctor",
    "compare": "compare.compare",
    "study": {
        "rigid-limit": "compare.rigid_limit",
        "published": "compare.published",
        "step-size": "compare.step_size",
        "sweep": "sweep.sweep",
        "tolerance": "sweep.tolerance",
        "bifurcation": "sweep.bifurcation",
        "gradient": "gradient.gradient",
        "statistics": "statistics.long_run",
    },
    "identify": {"excite": "identify.excite", "estimate": "identify.estimate", "fit": "identify.fit"},
    "plot": "plot.plot",
    "export": "plot.export",
    "report": "plot.report",
    "cite": "plot.cite",
}
HELP = {
    "study": "Studies of many runs.",
    "identify": "Identification of parameters: exciting motions, estimates, and fits to measured motion.",
}

for name, what in COMMANDS.items():
    group = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="markdown")
    if name == "study":
        add_measures(group)
    for word, where in {name: what}.items() if isinstance(what, str) else what.items():
        add_command(group, word, where)
    app.add_typer(group, name=None if isinstance(what, str) else name, help=HELP.get(name))


def _say(message: str) -> None:
    typer.echo(f"nonsmooth: {message}", err=True)


def _drop_output() -> None:
    """Discard unwritten output, which the interpreter would try to write again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")


def main(arguments: Sequence[str], begin: float | None = None) -> int:
    """Run the command line and return the exit code; `begin` is when the process began, where it is this command's."""
    words = list(arguments) or ["--help"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed, as by 2>&-: no file may take its place
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
            setattr(sys, name, open(os.devnull, "r" if number == 0 else "w", encoding="utf-8"))
    if "matplotlib" not in sys.modules:
        os.environ["MPLBACKEND"] = "agg"  # figures are written to files alone
    usual, show, warned = warnings.formatwarning, warnings.showwarning, set[str]()

    def show_once(message: Warning | str, *where: Any, **more: Any) -> None:
        if str(message) not in warned:  # studies build a model several times, from several places
            warned.add(str(message))
            show(message, *where, **more)

    warnings.formatwarning = lambda message, *where, **more: f"nonsmooth: warning: {message}\n"
    warnings.showwarning = show_once
    # none where the shell asks for the rest of a word
    progress = contextlib.nullcontext() if "_NONSMOOTH_COMPLETE" in os.environ else line()
    try:
        with progress, collect_timings(), stage("preparing", "the program and its input", begin=begin):
            try:
                code = app(args=words, prog_name="nonsmooth", standalone_mode=False)
            except Exception as error:  # various ones of libraries that are loaded in between
                if lacks_memory(error) and not isinstance(error, NonsmoothError):
                    raise MemoryError from error
                raise
            sys.stdout.flush()
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        named = words[: 1 + isinstance(COMMANDS.get(words[0]), dict)] if words[0] in COMMANDS else []
        command = context.command_path if context else " ".join(["nonsmooth", *named])  # the parser has no context
        message = " ".join(error.format_message().split()).rstrip(".")
        errors = getattr(error.__cause__, "errors", None)
        if callable(errors):  # pydantic's, whose message does not contain the value
            message += f", got {errors()[0]['input']!r}"
        for theirs, ours in NUMBERS.items():
            message = message.replace(theirs, ours)
        _say(f"{message}{'' if message.endswith('?') else '.'} `{command} --help` shows what is accepted.")
        return 2
    except NonsmoothError as error:
        _say(str(error))
        return 1 if isinstance(error, NotWritten | SimulationFailed | SolverFailed) else 2
    except MemoryError:
        _say(f"{TOO_LITTLE.capitalize()}.")
        return 1
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # where the reader of the output, such as head, has ended
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
