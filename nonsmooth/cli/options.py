"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nonsmooth.cli.words import completed, duration

__all__ = [
    "AsJson", "CaseName", "Drawing", "Output", "Page", "ProblemName", "ProblemOrScript", "RunsEnd", "SchemeWords",
    "Words",
]  # fmt: skip

ProblemName = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM|FILE",
        help="A ready problem, or a file as `nonsmooth run` takes it.",
        autocompletion=completed("problem"),
    ),
]
ProblemOrScript = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM|FILE",
        help="A ready problem, a TOML file, or a Python file with `build()`.",
        autocompletion=completed("problem"),
    ),
]
CaseName = Annotated[str | None, typer.Option("--case", help="Case of the problem.")]
RunsEnd = Annotated[float | None, typer.Option("--t-end", parser=duration, metavar="TIME", help="End of the runs.")]
Words = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Argument of the problem, or element.parameter; repeatable."),
]
SchemeWords = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Argument of the problem, element.parameter, solver.field or stepper.field; repeatable.",
    ),
]
Output = Annotated[Path | None, typer.Option("--output", help="Dataset to write (NetCDF, .nc).")]
Drawing = Annotated[Path | None, typer.Option("--figure", help="Figure to write (.png, .pdf, .svg).")]
Page = Annotated[Path | None, typer.Option("--report", help="Page to write (.html).")]
AsJson = Annotated[bool, typer.Option("--json", help="Write a single JSON object to standard output.")]
