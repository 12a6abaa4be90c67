"""`nonsmooth identify excite|estimate|fit`: commands for the functions of `nonsmooth.identification`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from nonsmooth.cli.options import AsJson, Drawing, DtMax, DtMin, ProblemName, seconds
from nonsmooth.exceptions import InputError
from nonsmooth.stages import stage

__all__ = ["identify"]

identify = typer.Typer(
    help="Identification of parameters: exciting motions, estimates, and fits to measured motion.",
    pretty_exceptions_enable=False,
)

Drives = Annotated[
    list[str] | None,
    typer.Option(
        "--drive", metavar="NAME", help="A PrescribedMotion; repeatable, in the order of the data. All if omitted."
    ),
]
Friction = Annotated[
    list[str] | None,
    typer.Option("--friction", help="Friction of the drives to identify: viscous, coulomb, offset, rotor; repeatable."),
]
Words = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Argument of the problem; repeatable.")
]
Data = Annotated[
    Path, typer.Option("--data", metavar="FILE.csv", help="Measured data; names of columns may have units, as t [ms].")
]


@identify.command("excite")
def excite_command(
    problem: ProblemName,
    omega: Annotated[float, typer.Option("--omega", help="Fundamental frequency [rad/s].")],
    position: Annotated[str, typer.Option("--position", help="Largest coordinates, one per drive: 1.2,1.0.")],
    velocity: Annotated[str, typer.Option("--velocity", help="Largest velocities.")],
    acceleration: Annotated[str, typer.Option("--acceleration", help="Largest accelerations.")],
    drives: Drives = None,
    friction: Friction = None,
    criterion: Annotated[str, typer.Option("--criterion", help="D, A, E or condition.")] = "D",
    harmonics: Annotated[int, typer.Option("--harmonics", help="Harmonics of the series.")] = 5,
    samples: Annotated[int, typer.Option("--samples", help="Samples of a period.")] = 400,
    starts: Annotated[int, typer.Option("--starts", help="Random starts.")] = 8,
    seed: Annotated[int, typer.Option("--seed", help="Of the starts.")] = 0,
    noise: Annotated[
        float, typer.Option("--noise", help="Noise of the forces, as a share of their peaks, for the forecast.")
    ] = 0.01,
    workers: Annotated[int | None, typer.Option("--workers", help="Processes.", show_default="one per core")] = None,
    settings: Words = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Motion to write (.csv): t, and q, v, a of drives.")
    ] = None,
    example: Annotated[
        Path | None,
        typer.Option("--example", help="Simulated measurement of the motion with this noise (.csv), to try estimate."),
    ] = None,
    figure: Drawing = None,
    as_json: AsJson = False,
) -> int:
    """Find the periodic motion within bounds that excites the parameters best, and forecast their accuracy."""
    from nonsmooth.cli import report
    from nonsmooth.cli.progress import study_bar
    from nonsmooth.identification import Bounds, Excite, excite, forecast, simulated
    from nonsmooth.identification.base import as_dictionary

    _check(figure, output)
    _check(None, example, "--example")
    bounds = Bounds(
        _numbers("--position", position), _numbers("--velocity", velocity), _numbers("--acceleration", acceleration)
    )
    Y = _regressor(problem, settings, drives, friction)
    chosen = Excite(criterion=criterion, harmonics=harmonics, samples=samples, starts=starts, seed=seed)
    with study_bar() as progress:
        found = excite(Y, bounds, omega, settings=chosen, workers=workers, progress=progress)
    told = forecast(Y, found.motion, noise=noise, samples=samples, base=found.base)
    if output is not None:
        _write_motion(found.motion, Y.drives, samples, output)
    if example is not None:
        simulated(Y, found.motion, noise=noise, samples=samples, seed=seed).to_csv(example)
    _draw(figure, lambda plots: plots.excitation(found))
    if as_json:
        base = as_dictionary(found.base)
        relative = dict(zip(told.names, told.relative.tolist(), strict=True))
        report.print_object(
            {**found.as_dictionary(), "base": base, "deviation": relative, "hopeless": list(told.hopeless)}
        )
        return 0
    words = f"with {noise:g} of the peak as noise:"
    parts = [*_tables(str(found)), "", str(found.base), "", words, *_tables(str(told))]
    report.show(*parts, *_written(output, example, figure))
    return 0


@identify.command("estimate")
def estimate_command(
    problem: ProblemName,
    data: Data,
    drives: Drives = None,
    friction: Friction = None,
    method: Annotated[
        str, typer.Option("--method", help='"least squares", weighted, huber or consistent.')
    ] = "weighted",
    cutoff: Annotated[
        float | None, typer.Option("--cutoff", help="Filter [Hz], where data have no velocities and accelerations.")
    ] = None,
    joints: Annotated[
        list[str] | None,
        typer.Option(
            "--joint",
            metavar="JOINT=DRIVE",
            help="Journal with clearance whose mu R is identified as well; repeatable.",
        ),
    ] = None,
    slowest: Annotated[
        float, typer.Option("--slowest", help="Share of the largest speed below which forces are omitted.")
    ] = 0.0,
    settings: Words = None,
    figure: Drawing = None,
    as_json: AsJson = False,
) -> int:
    """Estimate parameters from measured motion and forces: columns t, DRIVE.q, DRIVE.force, optional .v and .a."""
    from nonsmooth.cli import report
    from nonsmooth.identification import Measurement, estimate

    _check(figure, None)
    Y = _regressor(problem, settings, drives, friction)
    measured = Measurement.from_csv(data, Y.drives)
    if cutoff is not None:
        measured = measured.filtered(cutoff)
    pairs = {}
    for word in joints or ():
        joint, equals, drive = word.partition("=")
        if not equals:
            raise InputError(f"--joint takes JOINT=DRIVE, as joint1=motor1, got {word!r}.")
        pairs[joint] = drive
    found = estimate(Y, measured, method=method, joints=pairs or None, slowest=slowest)  # type: ignore[arg-type]
    _draw(figure, lambda plots: plots.identified(found))
    if as_json:
        report.print_object(found.as_dictionary())
        return 0
    report.show(str(found.base), "", *_tables(str(found)), *_written(figure))
    return 0


@identify.command("fit")
def fit_command(
    problem: ProblemName,
    data: Data,
    parameters: Annotated[
        list[str], typer.Option("--parameter", metavar="NAME=LOW:HIGH", help="Parameter and its range; repeatable.")
    ],
    noise: Annotated[
        list[str],
        typer.Option(
            "--noise",
            metavar="COLUMN=SIGMA",
            help="Standard deviation of a column, in SI units or with one, as 0.03 deg; repeatable.",
        ),
    ],
    dt: Annotated[float | None, seconds("--dt", "Constant step; it, or --dt-min and --dt-max, is required.")] = None,
    dt_min: DtMin = None,
    dt_max: DtMax = None,
    stepper: Annotated[str | None, typer.Option("--stepper", help="As of `nonsmooth run`.")] = None,
    until: Annotated[float | None, seconds("--until", "Part of the motion that is used.")] = None,
    starts: Annotated[int, typer.Option("--starts", help="Number of initial guesses.")] = 96,
    seed: Annotated[int, typer.Option("--seed", help="Of the starts.")] = 0,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", metavar="FILE.json", help="File for intermediate results, from which the search continues."
        ),
    ] = None,
    settings: Words = None,
    figure: Drawing = None,
    as_json: AsJson = False,
) -> int:
    """Fit clearance, friction, restitution and other parameters to measured motion: columns t and coordinates."""
    from nonsmooth.cli import report
    from nonsmooth.cli.inputs import Request
    from nonsmooth.cli.progress import study_bar
    from nonsmooth.identification import FitMotion, fit_motion

    _check(figure, None)
    request = Request(
        problem=problem, settings=tuple(settings or ()), stepper=stepper, dt=dt, dt_min=dt_min, dt_max=dt_max
    )
    control, scheme = request.step(), request.scheme()
    if control is None or scheme is None:
        raise InputError("A fit needs its step: give --dt, or --dt-min and --dt-max.")
    mechanism = _mechanism(problem, settings)
    ranges = {}
    for word in parameters:
        name, _, text = word.partition("=")
        ends = text.split(":")
        if len(ends) != 2:
            raise InputError(f"--parameter takes NAME=LOW:HIGH, got {word!r}.")
        ranges[name] = (_bound(mechanism, name, ends[0]), _bound(mechanism, name, ends[1]))
    motion = _motion_data(data, noise, mechanism)
    with study_bar() as progress:
        found = fit_motion(
            mechanism, scheme, motion, ranges, dt=control, settings=FitMotion(starts=starts, seed=seed), until=until,
            resume=resume, progress=progress,
        )  # fmt: skip
    _draw(figure, lambda plots: plots.fitted(found))
    if as_json:
        report.print_object(found.as_dictionary())
        return 0
    report.show(*_tables(str(found)), *_written(figure))
    return 0


def _mechanism(problem: str, settings: Sequence[str] | None) -> Any:
    """The built system of a problem or file."""
    from nonsmooth.cli.inputs import Request

    made = Request(problem=problem, settings=tuple(settings or ())).mechanism()
    if made.parameters:
        raise InputError(
            f"--set {next(iter(made.parameters))}: identify takes arguments of the problem, not parameters."
        )
    return made.system


def _regressor(
    problem: str, settings: Sequence[str] | None, drives: Sequence[str] | None, friction: Sequence[str] | None
) -> Any:
    from nonsmooth.identification import regressor
    from nonsmooth.model.drivers import PrescribedMotion

    system = _mechanism(problem, settings)
    found = [element.name for element in system.elements if isinstance(element, PrescribedMotion)]
    return regressor(system, drives or found, friction=tuple(friction or ()))


def _bound(system: Any, name: str, text: str) -> float:
    """An end of the range of a parameter, a number in SI units or one with a unit."""
    if _is_number(text):
        return float(text)
    return float(system.parameter_vector({name: text})[list(system.parameters).index(name)])


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(word) for word in text.split(","))
    except ValueError:
        raise InputError(f'{option} takes numbers with "," between them, got {text!r}.') from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _motion_data(path: Path, noise: Sequence[str], system: Any) -> Any:
    """Columns of a file whose noise is named."""
    import dataclasses

    from nonsmooth.identification import MotionData
    from nonsmooth.measured import read_table
    from nonsmooth.units import Wrong, in_unit

    units = dict(zip(system.q_names, system.names.q_units, strict=True))
    units |= {f"v:{name}": unit for name, unit in zip(system.v_names, system.names.v_units, strict=True)}
    levels, read = {}, read_table(path)
    # a table of `nonsmooth export` has heads such as "q:crank.angle [rad]"
    read = dataclasses.replace(read, names=tuple(name.removeprefix("q:") for name in read.names))
    for word in noise:
        name, equals, text = word.partition("=")
        if not equals:
            raise InputError(f"--noise takes COLUMN=SIGMA, got {word!r}.")
        if name not in units:
            raise InputError(f'"{name}" is no column of the mechanism; it has {", ".join(list(units)[:12])}, ...')
        try:
            levels[name] = float(text) if _is_number(text) else in_unit(text, units[name])
        except Wrong as error:
            raise InputError(f"--noise {name} {error}.") from None
    columns = {name: read.column(name, units[name]) for name in levels}
    return MotionData(read.times(), columns, levels)


def _write_motion(motion: Any, drives: Sequence[str], samples: int, path: Path) -> None:
    import numpy as np

    t = motion.times(samples)
    table = np.column_stack([t, *motion.states(t)])
    header = ",".join(["t", *(f"{drive}.{what}" for what in "qva" for drive in drives)])
    np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%.17g")


def _check(figure: Path | None, output: Path | None, option: str = "--output") -> None:
    from nonsmooth.cli.inputs import FIGURE_FORMATS, check_writable

    check_writable("--figure", figure, FIGURE_FORMATS)
    check_writable(option, output, (".csv",))


def _draw(figure: Path | None, draw: Callable[[Any], Any]) -> None:
    if figure is None:
        return
    os.environ.setdefault("MPLBACKEND", "agg")
    from nonsmooth.files import write_figure
    from nonsmooth.plots import identification

    with stage("drawing", figure.name):
        write_figure(draw(identification), figure)


def _tables(text: str) -> list[Any]:
    """Lines, and tables in place of those with bars."""
    from rich.table import Table

    parts: list[Any] = []
    table: Table | None = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            table = None
            parts.append(line)
        elif table is None:
            table = Table(*cells, box=None, pad_edge=False)
            parts.append(table)
        elif set(line) - set("|-"):
            table.add_row(*cells)
    return parts


def _written(*paths: Path | None) -> list[str]:
    return [f"written: {path}" for path in paths if path is not None]
