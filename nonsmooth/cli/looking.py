"""`nonsmooth plot | report | export | cite`: commands for saved runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nonsmooth.cli.words import completed, duration

__all__ = ["looking"]

looking = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="markdown")

Saved = Annotated[
    Path,
    typer.Argument(
        metavar="RUN.nc", help="A trajectory written by `nonsmooth run --output`.", autocompletion=completed("run")
    ),
]


@looking.command("plot")
def plot(
    run: Saved,
    panels: Annotated[
        list[str] | None,
        typer.Option(
            "--panel",
            metavar="WORD",
            help="A quantity such as slider.x, v:slider.x or lam_N:pin, several with commas; or sketch, orbit:JOINT, "
            "phase:NAME, modes, impacts, energy, overview; repeatable.",
            show_default="the problem's own panels, or overview",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            help="Figure to write (.png, .pdf, .svg).",
            show_default="the run's name, .png, in the working folder",
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option("--width", metavar="W", help="Width: single (90 mm), double (190 mm) or millimetres."),
    ] = None,
    measured: Annotated[
        Path | None,
        typer.Option(
            "--measured",
            help="Measured data to draw over the run (.csv), with a first line such as t [ms],slider.x [mm].",
        ),
    ] = None,
    begin: Annotated[
        float | None, typer.Option("--from", parser=duration, metavar="TIME", help="Start of the time interval.")
    ] = None,
    end: Annotated[
        float | None, typer.Option("--to", parser=duration, metavar="TIME", help="End of the time interval.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what --panel takes for this run, and stop.")] = False,
) -> int:
    """Draw a saved run: any quantities, sketch, orbits, contact modes; with measured data."""
    from nonsmooth.cli.plot import carry_out_plot

    return carry_out_plot(
        run, tuple(panels or ()), output=output, width=width, measured=measured, window=(begin, end), listed=listed
    )


@looking.command("export")
def export(
    run: Saved,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Table (.csv, .mat).", show_default="the run's name in the working folder"),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="q, v, gap, gap_rate, lam_N, P_N, P_T, mode, reaction, reaction_impact, energy; or contacts.",
            show_default="q, v, gap, lam_N, reaction, energy",
        ),
    ] = None,
) -> int:
    """Write a saved run as a CSV or MAT file, one line per step; or its table of contacts."""
    from nonsmooth.cli.plot import carry_out_export

    return carry_out_export(run, output, tuple(kinds or ()))


@looking.command("report")
def report_page(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN.nc...", help="Trajectories written by `nonsmooth run --output`."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", help="Page to write (.html).", show_default="the first file's name in the working folder"
        ),
    ] = None,
    title: Annotated[str, typer.Option("--title", help="Heading.", show_default="name of the mechanism")] = "",
    rows: Annotated[
        int, typer.Option("--rows", help="Rows of each run above which rows are omitted; all impacts stay.")
    ] = 20_000,
) -> int:
    """Write a run as one HTML page: mechanism in motion, charts, contact modes, impacts, certificate."""
    from nonsmooth.cli.report_page import carry_out_report

    return carry_out_report(runs, output=output, title=title, rows=rows)


@looking.command()
def cite(run: Saved) -> None:
    """Print BibTeX for a run: scheme, solvers used, laws, problem, libraries."""
    from nonsmooth.citations import bibtex
    from nonsmooth.trajectory import Trajectory

    typer.echo(bibtex(Trajectory.load(run)), nl=False)
