"""Commands and options. What a command needs beyond this is imported when it runs, so that `--help` is quick."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from nonsmooth import steppers
from nonsmooth.exceptions import InputError, NonsmoothError, SimulationFailed, SolverFailed

__all__ = ["app", "main"]

app = typer.Typer(
    name="nonsmooth",
    help="Non-smooth multibody dynamics of mechanisms with joint clearance.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number of seconds") from None


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
def list_problems() -> None:
    """List the ready problems."""
    from nonsmooth.cli.report import problem_table, show
    from nonsmooth.registry import find_problems

    show(problem_table(find_problems()))


@app.command()
def describe(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="Name of a ready problem, as in `nonsmooth list`.")],
) -> None:
    """Show a problem's source, arguments, and values with where they come from."""
    from nonsmooth.cli.report import problem_description, show
    from nonsmooth.registry import get_problem

    show(*problem_description(get_problem(problem)))


@app.command()
def run(
    problem: Annotated[
        str,
        typer.Argument(
            metavar="PROBLEM|FILE.py", help="A ready problem, or a file that defines `model` or a function `build()`."
        ),
    ],
    t_end: Annotated[float, typer.Option("--t-end", parser=_seconds, metavar="S", help="End of the run, in seconds.")],
    case: Annotated[str | None, typer.Option("--case", help="Case of the problem.")] = None,
    stepper: Annotated[str, typer.Option("--stepper", help=f"One of {', '.join(steppers.names())}.")] = "gauss-mpcc",
    solver: Annotated[str | None, typer.Option("--solver", help="Solver in place of the stepper's default.")] = None,
    dt: Annotated[
        float | None, typer.Option("--dt", parser=_seconds, metavar="S", help="Constant step, in seconds.")
    ] = None,
    dt_min: Annotated[
        float | None,
        typer.Option(
            "--dt-min",
            parser=_seconds,
            metavar="S",
            help="Shortest step, in seconds; with --dt-max, steps land on impacts.",
        ),
    ] = None,
    dt_max: Annotated[
        float | None, typer.Option("--dt-max", parser=_seconds, metavar="S", help="Longest step, in seconds.")
    ] = None,
    rtol: Annotated[
        float | None,
        typer.Option("--rtol", help="Relative error per step, with --atol, --dt-min and --dt-max; for event-driven."),
    ] = None,
    atol: Annotated[
        float | None, typer.Option("--atol", help="Absolute error per step, in SI units; for event-driven.")
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="auto or python.")] = "auto",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Argument of the problem, element.parameter, solver.field or stepper.field; repeatable.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", help="Trajectory to write (NetCDF, .nc).")] = None,
    figure: Annotated[Path | None, typer.Option("--figure", help="Figure to write (.png, .pdf, .svg).")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Standard output holds one JSON object and nothing else.")
    ] = False,
) -> int:
    """Simulate a problem, certify the motion, and write what is asked for."""
    try:
        from nonsmooth.cli.inputs import Request
        from nonsmooth.cli.run import carry_out

        request = Request(
            problem, case, tuple(settings or ()), stepper, solver, engine, t_end, dt, dt_min, dt_max, rtol, atol
        )
        return carry_out(request, output=output, figure=figure, as_json=as_json)
    except KeyboardInterrupt:
        _say("Interrupted before the first step; nothing was written.")
        return 130


@app.command()
def doctor() -> None:
    """Show versions, available solvers, and what is missing and what that costs."""
    from nonsmooth.cli.doctor import examination
    from nonsmooth.cli.report import show

    show(*examination())


def _say(message: str) -> None:
    typer.echo(f"nonsmooth: {message}", err=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on `arguments` (default: those of the process) and return the exit code."""
    asked = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = app(args=asked, prog_name="nonsmooth", standalone_mode=False)
    except typer.TyperException as error:
        command = next((word for word in asked if word in {"list", "describe", "run", "doctor"}), None)
        message = " ".join(error.format_message().split()).rstrip(".")
        _say(f"{message}. `{' '.join(filter(None, ('nonsmooth', command, '--help')))}` shows what is accepted.")
        return 2
    except (SimulationFailed, SolverFailed) as error:
        _say(str(error))
        return 1
    except (InputError, NonsmoothError) as error:
        _say(str(error))
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return 130
    return code if isinstance(code, int) else 0
