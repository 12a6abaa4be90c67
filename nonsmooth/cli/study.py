"""`nonsmooth study step-size | sweep | tolerance | bifurcation`: the options of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from nonsmooth.cli.options import (
    CaseName,
    Command,
    ProblemOrScript,
    Runs,
    RunsEnd,
    Words,
    Workers,
    Written,
    command,
    seconds,
)

__all__ = ["Bifurcation", "StepSize", "Sweep", "Swept", "Tolerance", "studies"]

studies = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="markdown")

DISTRIBUTION = "NAME=LOW:HIGH, NAME=LOW:HIGH:log, or NAME=normal:MEAN:SD, cut at three SD"


@dataclass(frozen=True, kw_only=True)
class Processes(Command):
    """Where the runs of a study are computed."""

    workers: Workers = None
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="tcp://HOST:PORT", help="A Dask cluster instead of processes.")
    ] = None


@command(studies, "step-size", "step_size.carry_out_step_size")
@dataclass(frozen=True, kw_only=True)
class StepSize(Written):
    """Errors, gap violation, energy and cost of steppers over the step size, with fitted orders."""

    problem: ProblemOrScript
    case: CaseName = None
    t_end: RunsEnd = None
    steppers: Annotated[
        tuple[str, ...],
        typer.Option(
            "--stepper",
            metavar="NAME[:SOLVER][:landing]",
            help="Scheme, repeatable, as gauss-mpcc:ipopt-mpcc:landing; landing: steps end exactly at impacts.",
            show_default="gauss-qp, moreau-jean, generalized-alpha, gauss-qp:landing, event-driven",
        ),
    ] = ()
    dt: Annotated[float | None, seconds("--dt", "Coarsest constant step.")] = None
    dt_max: Annotated[float | None, seconds("--dt-max", "Coarsest largest step of NAME:landing.")] = None
    dt_min: Annotated[float, seconds("--dt-min", "Shortest flight that NAME:landing resolves.")] = 1e-6
    levels: Annotated[int, typer.Option("--levels", help="Levels, each with steps half as long.")] = 5
    jitter: Annotated[int, typer.Option("--jitter", help="Constant steps per level, the worst of which is taken.")] = 8
    reference: Annotated[str, typer.Option("--reference", help="best, exact, event-driven or self.")] = "best"
    settings: Words = ()
    workers: Workers = None


@dataclass(frozen=True, kw_only=True)
class Swept(Runs, Processes, Written):
    """Values for which a mechanism is run, and what is measured."""

    #: of a file of `nonsmooth.studies.measures`, with the names of its options; else metrics are given
    measure: ClassVar[str] = ""
    options: ClassVar[tuple[str, ...]] = ()

    grids: Annotated[
        tuple[str, ...],
        typer.Option(
            "--grid",
            metavar="NAME=LOW:HIGH:N",
            help="Or NAME=LOW:HIGH:N:log, NAME=V1,V2; all combinations; repeatable.",
        ),
    ] = ()
    lists: Annotated[
        tuple[str, ...],
        typer.Option(
            "--list", metavar="NAME=V1,V2,...", help="The first values together, then the second; repeatable."
        ),
    ] = ()
    samples: Annotated[
        tuple[str, ...], typer.Option("--sample", metavar="NAME=DISTRIBUTION", help=f"{DISTRIBUTION}; repeatable.")
    ] = ()
    runs: Annotated[int, typer.Option("--runs", help="Runs of --sample.")] = 256
    method: Annotated[str, typer.Option("--method", help="sobol, halton, latin or random, of --sample.")] = "sobol"
    seed: Annotated[int, typer.Option("--seed", help="Of --sample.")] = 0
    check_runs: Annotated[bool, typer.Option("--check", help="Repeat each run with finer steps, for its verdict.")] = (
        False
    )
    output: Annotated[
        Path | None, typer.Option("--output", help="Dataset to write (NetCDF, .nc); makes the sweep resumable.")
    ] = None


@command(studies, "sweep", "sweep.carry_out_sweep")
@dataclass(frozen=True, kw_only=True)
class Sweep(Swept):
    """Run a mechanism for many values of parameters or arguments; an interrupted sweep is continued."""

    metrics: Annotated[
        tuple[str, ...],
        typer.Option("--metric", metavar="NAME", help="Such as peak-impulse or final:crank.angle; repeatable."),
    ]


@command(studies, "tolerance", "sweep.carry_out_tolerance")
@dataclass(frozen=True, kw_only=True)
class Tolerance(Runs, Processes, Written):
    """Yield, distribution and causes of an output due to tolerances and clearances, and the largest clearances."""

    metric: Annotated[str, typer.Option("--metric", metavar="NAME", help="The output, such as amplitude:slider.angle.")]
    limit: Annotated[float, typer.Option("--limit", help="Largest output that is accepted, in SI units.")]
    clearances: Annotated[
        tuple[str, ...],
        typer.Option(
            "--clearance",
            metavar="NAME=DISTRIBUTION",
            help=f'Scaled: {DISTRIBUTION}, or a fit such as "20 H7/g6"; repeatable.',
            show_default="fits of the model",
        ),
    ] = ()
    others: Annotated[
        tuple[str, ...],
        typer.Option(
            "--sample",
            metavar="NAME=DISTRIBUTION",
            help='Another uncertain parameter, not scaled, also "0.12 ±3e-5"; repeatable.',
            show_default="toleranced dimensions of the model",
        ),
    ] = ()
    level: Annotated[
        str, typer.Option("--level", help="dynamic, or kinematic: clearances as vectors, without runs.")
    ] = "dynamic"
    poses: Annotated[
        tuple[str, ...],
        typer.Option(
            "--pose",
            metavar="NAME=VALUE",
            help="Kinematic level: a coordinate that is held, also LOW:HIGH:N or V1,V2; repeatable.",
        ),
    ] = ()
    directions: Annotated[
        tuple[str, ...],
        typer.Option(
            "--direction",
            metavar="NAME=load|any|ANGLE",
            help="Kinematic level: where the clearance of a joint points; repeatable.",
            show_default="load",
        ),
    ] = ()
    verdict: Annotated[
        bool,
        typer.Option("--verdict", help="Run each product again with half the step; what differs counts as bounds."),
    ] = False
    accuracy: Annotated[
        float, typer.Option("--accuracy", help="Largest accepted difference of the two, as a share of the limit.")
    ] = 0.01
    failure: Annotated[
        tuple[str, ...],
        typer.Option(
            "--failure",
            metavar="METHOD",
            help="Kinematic level: probability of failure by monte-carlo, form, importance or subset; repeatable.",
        ),
    ] = ()
    coverage: Annotated[
        float, typer.Option("--coverage", help="Share of mechanisms that must be within the limit.")
    ] = 0.95
    confidence: Annotated[float, typer.Option("--confidence", help="Confidence of that statement.")] = 0.95
    factors: Annotated[
        str | None,
        typer.Option(
            "--factors",
            metavar="LOW:HIGH:N",
            help="Scales of the clearances, from the smallest.",
            show_default="0.1:1:10, and 1 for fits",
        ),
    ] = None
    runs: Annotated[int, typer.Option("--runs", help="Runs per scale.")] = 400
    seed: Annotated[int, typer.Option("--seed", help="Of the sample.")] = 0
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Share of the output's variance due to each input (SALib).")
    ] = False


@command(studies, "bifurcation", "bifurcation.carry_out_bifurcation")
@dataclass(frozen=True, kw_only=True)
class Bifurcation(Runs, Processes, Written):
    """Long-term motion over a parameter: points of a section for each value."""

    over: Annotated[
        str,
        typer.Option(
            "--over",
            metavar="NAME=LOW:HIGH:N",
            help="Values of a parameter, such as pin.clearance, or of an argument, such as crank_speed; also "
            "NAME=LOW:HIGH:N:log or NAME=V1,V2.",
        ),
    ]
    of: Annotated[
        str, typer.Option("--of", metavar="NAME", help="Quantity of the points: slider.x, or its velocity v:slider.x.")
    ]
    drive: Annotated[
        str | None,
        typer.Option(
            "--drive",
            metavar="NAME",
            help="One point per turn of a drive, whose speed in rad/s is this argument or parameter.",
        ),
    ] = None
    period: Annotated[float | None, seconds("--period", "One point per period.")] = None
    steps: Annotated[int | None, typer.Option("--steps", help="Constant steps per period.")] = None
    transient: Annotated[int, typer.Option("--transient", help="Periods before the first point.")] = 84
    points: Annotated[int, typer.Option("--points", help="Points of each value.")] = 16
    crossing: Annotated[
        str | None,
        typer.Option(
            "--crossing",
            metavar="NAME=VALUE",
            help="One point wherever a coordinate has this value, or v:NAME, gap:NAME, gap_rate:NAME.",
        ),
    ] = None
    direction: Annotated[str, typer.Option("--direction", help="Of --crossing: rising, falling or both.")] = "rising"
    turn: Annotated[
        float | None,
        typer.Option("--turn", help="Of --crossing: cross the value plus any multiple of this, as 6.283185307179586."),
    ] = None
    t_end: Annotated[float | None, seconds("--t-end", "End of the runs of --crossing.")] = None
    after: Annotated[float | None, seconds("--after", "Earlier crossings are omitted.")] = None
    same: Annotated[
        float | None,
        typer.Option(
            "--same",
            help="Distance within which points are regarded as equal, to detect periodic motions.",
            show_default="a thousandth of the range of all points",
        ),
    ] = None
    stepper: Annotated[
        str | None,
        typer.Option(
            "--stepper",
            help="Scheme, as in `nonsmooth run`.",
            show_default="moreau-jean with --set stepper.projection=combined",
        ),
    ] = None
    workers: Annotated[int | None, typer.Option("--workers", help="Processes.", show_default="one per core")] = None
