"""`nonsmooth study step-size | sweep | tolerance | bifurcation`: commands and options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nonsmooth.cli.options import (
    AsJson,
    CaseName,
    Drawing,
    Output,
    Page,
    ProblemName,
    ProblemOrScript,
    RunsEnd,
    SchemeWords,
    Words,
)
from nonsmooth.cli.words import Quiet, duration, hushed

__all__ = ["studies"]

studies = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="markdown")

End = Annotated[
    float | None,
    typer.Option(
        "--t-end", parser=duration, metavar="TIME", help="End of the runs; required unless a file contains it."
    ),
]
StepperName = Annotated[
    str | None, typer.Option("--stepper", help="Scheme, as in `nonsmooth run`.", show_default="gauss-qp")
]
SolverName = Annotated[str | None, typer.Option("--solver", help="Solver instead of the stepper's default.")]
Dt = Annotated[float | None, typer.Option("--dt", parser=duration, metavar="TIME", help="Constant step.")]
DtMin = Annotated[
    float | None,
    typer.Option("--dt-min", parser=duration, metavar="TIME", help="With --dt-max, steps end exactly at impacts."),
]
DtMax = Annotated[float | None, typer.Option("--dt-max", parser=duration, metavar="TIME", help="Longest step.")]
Rtol = Annotated[float | None, typer.Option("--rtol", help="Relative error per step, with --atol and both bounds.")]
Atol = Annotated[float | None, typer.Option("--atol", help="Absolute error per step, in SI units.")]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Processes, or threads of a batch.", show_default="one per core")
]
Scheduler = Annotated[
    str | None, typer.Option("--scheduler", metavar="tcp://HOST:PORT", help="A Dask cluster instead of processes.")
]
DISTRIBUTION = "NAME=LOW:HIGH, NAME=LOW:HIGH:log, or NAME=normal:MEAN:SD, cut at three SD"


@studies.command("step-size")
def step_size(
    problem: ProblemOrScript,
    case: CaseName = None,
    t_end: RunsEnd = None,
    steppers: Annotated[
        list[str] | None,
        typer.Option(
            "--stepper",
            metavar="NAME[:SOLVER][:landing]",
            help="Scheme, repeatable, as gauss-mpcc:ipopt-mpcc:landing; landing: steps end exactly at impacts.",
            show_default="gauss-qp, moreau-jean, generalized-alpha, gauss-qp:landing, event-driven",
        ),
    ] = None,
    dt: Annotated[
        float | None, typer.Option("--dt", parser=duration, metavar="TIME", help="Coarsest constant step.")
    ] = None,
    dt_max: Annotated[
        float | None,
        typer.Option("--dt-max", parser=duration, metavar="TIME", help="Coarsest largest step of NAME:landing."),
    ] = None,
    dt_min: Annotated[
        float,
        typer.Option("--dt-min", parser=duration, metavar="TIME", help="Shortest flight that NAME:landing resolves."),
    ] = 1e-6,
    levels: Annotated[int, typer.Option("--levels", help="Levels, each with steps half as long.")] = 5,
    jitter: Annotated[int, typer.Option("--jitter", help="Constant steps per level, the worst of which is taken.")] = 8,
    reference: Annotated[str, typer.Option("--reference", help="best, exact, event-driven or self.")] = "best",
    settings: Words = None,
    workers: Workers = None,
    output: Output = None,
    figure: Drawing = None,
    page: Page = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Errors, gap violation, energy and cost of steppers over the step size, with fitted orders."""
    from nonsmooth.cli.step_size import StepSizeRequest, carry_out_step_size

    request = StepSizeRequest(
        problem, case, t_end, tuple(steppers or ()), dt, dt_min, dt_max, levels, jitter, reference,
        tuple(settings or ()),
    )  # fmt: skip
    with hushed(quiet, as_json):
        return carry_out_step_size(request, workers=workers, output=output, figure=figure, page=page, as_json=as_json)


@studies.command("sweep")
def sweep(
    problem: ProblemName,
    metrics: Annotated[
        list[str],
        typer.Option("--metric", metavar="NAME", help="Such as peak-impulse or final:crank.angle; repeatable."),
    ],
    t_end: End = None,
    grids: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="NAME=LOW:HIGH:N",
            help="Or NAME=LOW:HIGH:N:log, NAME=V1,V2; all combinations; repeatable.",
        ),
    ] = None,
    lists: Annotated[
        list[str] | None,
        typer.Option(
            "--list", metavar="NAME=V1,V2,...", help="The first values together, then the second; repeatable."
        ),
    ] = None,
    samples: Annotated[
        list[str] | None, typer.Option("--sample", metavar="NAME=DISTRIBUTION", help=f"{DISTRIBUTION}; repeatable.")
    ] = None,
    runs: Annotated[int, typer.Option("--runs", help="Runs of --sample.")] = 256,
    method: Annotated[str, typer.Option("--method", help="sobol, halton, latin or random, of --sample.")] = "sobol",
    seed: Annotated[int, typer.Option("--seed", help="Of --sample.")] = 0,
    case: CaseName = None,
    stepper: StepperName = None,
    solver: SolverName = None,
    dt: Dt = None,
    dt_min: DtMin = None,
    dt_max: DtMax = None,
    rtol: Rtol = None,
    atol: Atol = None,
    check: Annotated[bool, typer.Option("--check", help="Repeat each run with finer steps, for its verdict.")] = False,
    settings: SchemeWords = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Dataset to write (NetCDF, .nc); makes the sweep resumable.")
    ] = None,
    figure: Drawing = None,
    page: Page = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Run a mechanism for many values of parameters or arguments; an interrupted sweep is continued."""
    from nonsmooth.cli.inputs import Request
    from nonsmooth.cli.sweep import carry_out_sweep, design_of, units_of

    request = Request(
        problem, case, tuple(settings or ()), stepper, solver, t_end, dt, dt_min, dt_max, rtol, atol,
        usual="gauss-qp", check=check,
    )  # fmt: skip
    design = design_of(grids or (), lists or (), samples or (), runs, method, seed, units_of(request))
    with hushed(quiet, as_json):
        return carry_out_sweep(
            request, design, metrics, workers=workers, scheduler=scheduler, output=output, figure=figure, page=page,
            as_json=as_json,
        )  # fmt: skip


@studies.command("tolerance")
def tolerance(
    problem: ProblemName,
    metric: Annotated[
        str, typer.Option("--metric", metavar="NAME", help="The output, such as amplitude:slider.angle.")
    ],
    limit: Annotated[float, typer.Option("--limit", help="Largest output that is accepted, in SI units.")],
    clearances: Annotated[
        list[str] | None,
        typer.Option(
            "--clearance",
            metavar="NAME=DISTRIBUTION",
            help=f'Scaled: {DISTRIBUTION}, or a fit such as "20 H7/g6"; repeatable.',
            show_default="fits of the model",
        ),
    ] = None,
    t_end: End = None,
    others: Annotated[
        list[str] | None,
        typer.Option(
            "--sample",
            metavar="NAME=DISTRIBUTION",
            help='Another uncertain parameter, not scaled, also "0.12 ±3e-5"; repeatable.',
            show_default="toleranced dimensions of the model",
        ),
    ] = None,
    level: Annotated[
        str, typer.Option("--level", help="dynamic, or kinematic: clearances as vectors, without runs.")
    ] = "dynamic",
    poses: Annotated[
        list[str] | None,
        typer.Option(
            "--pose",
            metavar="NAME=VALUE",
            help="Kinematic level: a coordinate that is held, also LOW:HIGH:N or V1,V2; repeatable.",
        ),
    ] = None,
    directions: Annotated[
        list[str] | None,
        typer.Option(
            "--direction",
            metavar="NAME=load|any|ANGLE",
            help="Kinematic level: where the clearance of a joint points; repeatable.",
            show_default="load",
        ),
    ] = None,
    verdict: Annotated[
        bool,
        typer.Option("--verdict", help="Run each product again with half the step; what differs counts as bounds."),
    ] = False,
    accuracy: Annotated[
        float, typer.Option("--accuracy", help="Largest accepted difference of the two, as a share of the limit.")
    ] = 0.01,
    failure: Annotated[
        list[str] | None,
        typer.Option(
            "--failure",
            metavar="METHOD",
            help="Kinematic level: probability of failure by monte-carlo, form, importance or subset; repeatable.",
        ),
    ] = None,
    coverage: Annotated[
        float, typer.Option("--coverage", help="Share of mechanisms that must be within the limit.")
    ] = 0.95,
    confidence: Annotated[float, typer.Option("--confidence", help="Confidence of that statement.")] = 0.95,
    factors: Annotated[
        str | None,
        typer.Option(
            "--factors",
            metavar="LOW:HIGH:N",
            help="Scales of the clearances, from the smallest.",
            show_default="0.1:1:10, and 1 for fits",
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", help="Runs per scale.")] = 400,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample.")] = 0,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Share of the output's variance due to each input (SALib).")
    ] = False,
    case: CaseName = None,
    stepper: StepperName = None,
    solver: SolverName = None,
    dt: Dt = None,
    dt_min: DtMin = None,
    dt_max: DtMax = None,
    rtol: Rtol = None,
    atol: Atol = None,
    settings: SchemeWords = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    output: Output = None,
    figure: Drawing = None,
    page: Page = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Yield, distribution and causes of an output due to tolerances and clearances, and the largest clearances."""
    from nonsmooth.cli.inputs import Request
    from nonsmooth.cli.sweep import ToleranceRequest, carry_out_tolerance

    request = Request(
        problem, case, tuple(settings or ()), stepper, solver, t_end, dt, dt_min, dt_max, rtol, atol,
        usual="gauss-qp",
    )  # fmt: skip
    asked = ToleranceRequest(
        metric, limit, tuple(clearances or ()), tuple(others or ()), coverage, confidence, factors, runs, seed,
        sensitivity, level, tuple(poses or ()), tuple(directions or ()), verdict, accuracy, tuple(failure or ()),
    )  # fmt: skip
    with hushed(quiet, as_json):
        return carry_out_tolerance(
            request,
            asked,
            workers=workers,
            scheduler=scheduler,
            output=output,
            figure=figure,
            page=page,
            as_json=as_json,
        )


@studies.command("bifurcation")
def bifurcation(
    problem: ProblemName,
    over: Annotated[
        str,
        typer.Option(
            "--over",
            metavar="NAME=LOW:HIGH:N",
            help="Values of a parameter, such as pin.clearance, or of an argument, such as crank_speed; also "
            "NAME=LOW:HIGH:N:log or NAME=V1,V2.",
        ),
    ],
    of: Annotated[
        str, typer.Option("--of", metavar="NAME", help="Quantity of the points: slider.x, or its velocity v:slider.x.")
    ],
    drive: Annotated[
        str | None,
        typer.Option(
            "--drive",
            metavar="NAME",
            help="One point per turn of a drive, whose speed in rad/s is this argument or parameter.",
        ),
    ] = None,
    period: Annotated[
        float | None, typer.Option("--period", parser=duration, metavar="TIME", help="One point per period.")
    ] = None,
    steps: Annotated[int | None, typer.Option("--steps", help="Constant steps per period.")] = None,
    transient: Annotated[int, typer.Option("--transient", help="Periods before the first point.")] = 84,
    points: Annotated[int, typer.Option("--points", help="Points of each value.")] = 16,
    crossing: Annotated[
        str | None,
        typer.Option(
            "--crossing",
            metavar="NAME=VALUE",
            help="One point wherever a coordinate has this value, or v:NAME, gap:NAME, gap_rate:NAME.",
        ),
    ] = None,
    direction: Annotated[str, typer.Option("--direction", help="Of --crossing: rising, falling or both.")] = "rising",
    turn: Annotated[
        float | None,
        typer.Option("--turn", help="Of --crossing: cross the value plus any multiple of this, as 6.283185307179586."),
    ] = None,
    t_end: Annotated[
        float | None, typer.Option("--t-end", parser=duration, metavar="TIME", help="End of the runs of --crossing.")
    ] = None,
    after: Annotated[
        float | None,
        typer.Option("--after", parser=duration, metavar="TIME", help="Earlier crossings are omitted."),
    ] = None,
    same: Annotated[
        float | None,
        typer.Option(
            "--same",
            help="Distance within which points are regarded as equal, to detect periodic motions.",
            show_default="a thousandth of the range of all points",
        ),
    ] = None,
    case: CaseName = None,
    stepper: Annotated[
        str | None,
        typer.Option(
            "--stepper",
            help="Scheme, as in `nonsmooth run`.",
            show_default="moreau-jean with --set stepper.projection=combined",
        ),
    ] = None,
    solver: SolverName = None,
    dt: Dt = None,
    dt_min: DtMin = None,
    dt_max: DtMax = None,
    rtol: Rtol = None,
    atol: Atol = None,
    settings: SchemeWords = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Processes.", show_default="one per core")] = None,
    scheduler: Scheduler = None,
    output: Output = None,
    figure: Drawing = None,
    page: Page = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Long-term motion over a parameter: points of a section for each value."""
    from nonsmooth.cli.bifurcation import BifurcationRequest, carry_out_bifurcation
    from nonsmooth.cli.inputs import Request

    request = Request(
        problem, case, tuple(settings or ()), stepper, solver, t_end, dt, dt_min, dt_max, rtol, atol,
        usual="moreau-jean",
    )  # fmt: skip
    asked = BifurcationRequest(
        over, of, period, drive, steps, transient, points, crossing, direction, turn, after, same
    )
    with hushed(quiet, as_json):
        return carry_out_bifurcation(
            request,
            asked,
            workers=workers,
            scheduler=scheduler,
            output=output,
            figure=figure,
            page=page,
            as_json=as_json,
        )
