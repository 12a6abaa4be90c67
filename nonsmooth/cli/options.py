"""Commands as dataclasses of their options, and the options that several commands take.

A field is an option as ``Annotated[type, typer.Option(...)]`` says it; a tuple is an option that is repeated. Classes
that several commands inherit are groups of options, which the help shows behind a command's own.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from nonsmooth.cli.words import Quiet, completed, duration, hushed

if TYPE_CHECKING:
    from nonsmooth.cli.inputs import Request

__all__ = [
    "AsJson", "CaseName", "Command", "Drawing", "Dt", "DtMax", "DtMin", "Output", "Page", "ProblemName",
    "ProblemOrScript", "Runs", "RunsEnd", "SchemeWords", "SolverName", "Words", "Workers", "Written", "command",
    "names", "seconds",
]  # fmt: skip


def seconds(option: str, help: str, **more: Any) -> Any:
    """An option that takes a time, also with its unit."""
    return typer.Option(option, parser=duration, metavar="TIME", help=help, **more)


def names(kind: str, metavar: str, help: str) -> Any:
    """An argument whose names the shell completes."""
    return typer.Argument(metavar=metavar, help=help, autocompletion=completed(kind))


ProblemName = Annotated[
    str, names("problem", "PROBLEM|FILE", "A ready problem, or a file as `nonsmooth run` takes it.")
]
ProblemOrScript = Annotated[
    str, names("problem", "PROBLEM|FILE", "A ready problem, a TOML file, or a Python file with `build()`.")
]
CaseName = Annotated[str | None, typer.Option("--case", help="Case of the problem.")]
RunsEnd = Annotated[float | None, seconds("--t-end", "End of the runs.")]
Words = Annotated[
    tuple[str, ...],
    typer.Option("--set", metavar="NAME=VALUE", help="Argument of the problem, or element.parameter; repeatable."),
]
ProblemWords = Annotated[
    tuple[str, ...],
    typer.Option("--set", metavar="NAME=VALUE", help="Argument of the problem, such as parameters=S1; repeatable."),
]
SchemeWords = Annotated[
    tuple[str, ...],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Argument of the problem, element.parameter, solver.field or stepper.field; repeatable.",
    ),
]
SolverName = Annotated[str | None, typer.Option("--solver", help="Solver instead of the stepper's default.")]
Dt = Annotated[float | None, seconds("--dt", "Constant step.")]
DtMin = Annotated[float | None, seconds("--dt-min", "With --dt-max, steps end exactly at impacts.")]
DtMax = Annotated[float | None, seconds("--dt-max", "Longest step.")]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Processes, or threads of a batch.", show_default="one per core")
]
Output = Annotated[Path | None, typer.Option("--output", help="Dataset to write (NetCDF, .nc).")]
Drawing = Annotated[Path | None, typer.Option("--figure", help="Figure to write (.png, .pdf, .svg).")]
Page = Annotated[Path | None, typer.Option("--report", help="Page to write (.html).")]
AsJson = Annotated[bool, typer.Option("--json", help="Write a single JSON object to standard output.")]


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command with its options; the docstring of a subclass is its help."""


@dataclass(frozen=True, kw_only=True)
class Written(Command):
    """What a study writes and prints."""

    output: Output = None
    figure: Drawing = None
    page: Page = None
    as_json: AsJson = False
    quiet: Quiet = False

    def check(self) -> None:
        """Raise InputError, before the first run, for a file that cannot be written."""
        from nonsmooth.cli.inputs import FIGURE_FORMATS, PAGE_FORMATS, check_writable

        check_writable("--report", self.page, PAGE_FORMATS)
        check_writable("--output", self.output, (".nc",))
        check_writable("--figure", self.figure, FIGURE_FORMATS)


@dataclass(frozen=True, kw_only=True)
class Runs(Command):
    """Mechanism, scheme and steps of the runs of a study."""

    problem: ProblemName
    case: CaseName = None
    t_end: Annotated[float | None, seconds("--t-end", "End of the runs; required unless a file contains it.")] = None
    stepper: Annotated[
        str | None,
        typer.Option(
            "--stepper", help="Scheme, as in `nonsmooth run`.", show_default="gauss-qp, or chosen with the step"
        ),
    ] = None
    solver: SolverName = None
    dt: Dt = None
    dt_min: DtMin = None
    dt_max: DtMax = None
    rtol: Annotated[
        float | None, typer.Option("--rtol", help="Relative error per step, with --atol and both bounds.")
    ] = None
    atol: Annotated[float | None, typer.Option("--atol", help="Absolute error per step, in SI units.")] = None
    settings: SchemeWords = ()

    def request(self, **more: Any) -> Request:
        """The run that they describe."""
        from nonsmooth.cli.inputs import Request

        return Request(**{one.name: getattr(self, one.name) for one in fields(Runs)}, **more)


Kind = TypeVar("Kind", bound=type[Command])


def command(app: typer.Typer, name: str, function: str) -> Callable[[Kind], Kind]:
    """Add the class of a command's options to the commands of `app`.

    Its own options come first, then those of its bases in their order. The function, ``"module.name"`` in this package,
    takes an instance and returns the exit code; its module is imported when the command runs.
    """

    def register(kind: Kind) -> Kind:
        hints = get_type_hints(kind, include_extras=True)
        known = {one.name: one for one in fields(kind)}
        order = [label for base in kind.__mro__ for label in base.__dict__.get("__annotations__", ()) if label in known]
        many = {label for label in known if get_origin(get_args(hints[label])[0]) is tuple}
        parameters = []
        for label in dict.fromkeys(order):
            default = inspect.Parameter.empty if known[label].default is MISSING else known[label].default
            hint = hints[label]
            if label in many:  # a list, as Typer knows it
                hint = Annotated[list[get_args(get_args(hint)[0])[0]] | None, *hint.__metadata__]  # type: ignore[misc]
                default = None if default == () else default
            parameters.append(
                inspect.Parameter(label, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
            )

        def called(**words: Any) -> int:
            asked = kind(**{key: tuple(value or ()) if key in many else value for key, value in words.items()})
            with hushed(getattr(asked, "quiet", False), getattr(asked, "as_json", False)):
                if isinstance(asked, Written):
                    asked.check()
                module, _, carry_out = function.partition(".")
                return int(getattr(importlib.import_module(f"nonsmooth.cli.{module}"), carry_out)(asked))

        called.__name__, called.__doc__ = name.replace("-", "_"), kind.__doc__
        called.__annotations__ = {one.name: one.annotation for one in parameters}
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        app.command(name)(called)
        return kind

    return register
