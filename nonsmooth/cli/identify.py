"""`nonsmooth identify excite | estimate | fit`: the functions of `nonsmooth.identification`."""

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth import identification
from nonsmooth.cli.files import check_writable
from nonsmooth.cli.inputs import Mechanism, Request, units_of
from nonsmooth.cli.options import Executor, Identified, Problem, Scheme, Seconds, Shown, progress_bar
from nonsmooth.cli.report import conclude, table_of
from nonsmooth.cli.values import by_name, number_of
from nonsmooth.exceptions import InputError
from nonsmooth.files.csv_data import read_table
from nonsmooth.model.drivers import PrescribedMotion


def excite(
    *, omega: float, position: str, velocity: str, acceleration: str, of: Identified, criterion: str = "D",
    harmonics: int = 5, samples: int = 400, starts: int = 8, seed: int = 0, noise: float = 0.01,
    executor: Executor | None = None, output: Path | None = None, example: Path | None = None, shown: Shown,
) -> None:  # fmt: skip
    """Find the periodic motion within bounds that excites the parameters best, and forecast their accuracy.

    Parameters
    ----------
    omega
        Fundamental frequency [rad/s].
    position
        Largest coordinates, one per drive, also with units: 1.2,60deg.
    velocity
        Largest velocities, as 0.5,30deg/s.
    acceleration
        Largest accelerations.
    criterion
        D, A, E or condition.
    harmonics
        Harmonics of the series.
    samples
        Samples of a period.
    starts
        Random starts.
    seed
        Of the starts.
    noise
        Noise of the forces, as a share of their peaks, for the forecast.
    executor : default: one process per core
        Number of processes, or tcp://HOST:PORT of a Dask scheduler.
    output
        Motion to write (.csv): t, and q, v, a of drives.
    example
        Simulated measurement of the motion with this noise (.csv), to try estimate.
    """
    check_writable("--output", output, (".csv",))
    check_writable("--example", example, (".csv",))
    Y = _regressor(of)
    bounds = identification.Bounds(
        _one_per_drive("--position", position, Y, ""), _one_per_drive("--velocity", velocity, Y, "/s"),
        _one_per_drive("--acceleration", acceleration, Y, "/s^2"),
    )  # fmt: skip
    chosen = identification.Excite(criterion=criterion, harmonics=harmonics, samples=samples, starts=starts, seed=seed)
    with progress_bar() as progress:
        found = identification.excite(Y, bounds, omega, settings=chosen, executor=executor, progress=progress)
    forecast = identification.forecast(Y, found.motion, noise=noise, samples=samples, base=found.base)
    if output is not None:
        t = found.motion.times(samples)
        header = ",".join(["t", *(f"{drive}.{what}" for what in "qva" for drive in Y.drives)])
        table = np.column_stack([t, *found.motion.states(t)])
        np.savetxt(output, table, delimiter=",", header=header, comments="", fmt="%.17g")
    if example is not None:
        identification.simulated(Y, found.motion, noise=noise, samples=samples, seed=seed).to_csv(example)
    noisy = f"with {noise:g} of the peak as noise:"
    conclude(
        shown, f"{of.problem}: excitation",
        [*_tables(str(found)), "", str(found.base), "", noisy, *_tables(str(forecast))],
        lambda: {
            **found.as_dictionary(), "base": identification.base.as_dictionary(found.base),
            "deviation": dict(zip(forecast.names, forecast.relative.tolist(), strict=True)),
            "hopeless": list(forecast.hopeless),
        },
        figure=lambda plots: plots.excitation(found), files=(output, example),
    )  # fmt: skip


def estimate(
    *, data: Path, of: Identified, method: str = "weighted", cutoff: float | None = None,
    joints: tuple[str, ...] = (), slowest: float = 0.0, shown: Shown,
) -> None:  # fmt: skip
    """Estimate parameters from measured motion and forces: columns t, DRIVE.q, DRIVE.force, optional .v and .a.

    Parameters
    ----------
    data : FILE.csv
        Measured data; names of columns may have units, as t [ms].
    method
        "least squares", weighted, huber or consistent.
    cutoff
        Filter [Hz], where data have no velocities and accelerations.
    joints : --joint JOINT=DRIVE
        Journal with clearance whose mu R is identified as well; repeatable.
    slowest
        Share of the largest speed below which forces are omitted.
    """
    Y = _regressor(of)
    measured = identification.Measurement.from_csv(data, Y.drives)
    if cutoff is not None:
        measured = measured.filtered(cutoff)
    pairs = by_name("--joint", joints, lambda option, text, unit: text, form="JOINT=DRIVE, as joint1=motor1")
    how: Any = {"method": method, "joints": pairs or None, "slowest": slowest}
    found = identification.estimate(Y, measured, **how)
    conclude(
        shown, f"{of.problem}: identification", [str(found.base), "", *_tables(str(found))], found.as_dictionary,
        figure=lambda plots: plots.identified(found),
    )  # fmt: skip


def fit(
    problem: Problem, *, data: Path, parameters: tuple[str, ...], noise: tuple[str, ...], dt: Seconds | None = None,
    dt_min: Seconds | None = None, dt_max: Seconds | None = None, stepper: Scheme | None = None,
    until: Seconds | None = None, starts: int = 96, seed: int = 0, resume: Path | None = None,
    executor: Executor = 1, settings: tuple[str, ...] = (), shown: Shown,
) -> None:  # fmt: skip
    """Fit clearance, friction, restitution and other parameters to measured motion: columns t and coordinates.

    Parameters
    ----------
    data : FILE.csv
        Measured data; names of columns may have units, as t [ms].
    parameters : --parameter NAME=LOW:HIGH
        Parameter and its range; repeatable.
    noise : COLUMN=SIGMA
        Standard deviation of a column, in SI units or with one, as 0.03 deg; repeatable.
    dt
        Constant step; it, or --dt-min and --dt-max, is required. For --dt-max take the smallest clearance divided by
        the largest speed of the joint, or less.
    stepper : default: gauss-qp
        One of {steppers}.
    until
        Part of the motion that is used.
    starts
        Number of initial guesses.
    seed
        Of the starts.
    resume : FILE.json
        File for intermediate results, from which the search continues.
    executor
        Number of processes, or tcp://HOST:PORT of a Dask scheduler.
    settings : --set NAME=VALUE
        Argument of the problem; repeatable.
    """
    request = Request(problem=problem, settings=settings, stepper=stepper, dt=dt, dt_min=dt_min, dt_max=dt_max)
    control, scheme = request.step(), request.scheme()
    if control is None or scheme is None:
        raise InputError(
            "A fit needs its step: give --dt, or --dt-min and --dt-max. As the longest step take the smallest "
            "clearance divided by the largest speed of its joint, or less: 1e-4 s for 0.2 mm at 2 m/s."
        )
    made = _mechanism(problem, settings)
    ranges = by_name("--parameter", parameters, _range, units_of(lambda: made), "NAME=LOW:HIGH")
    known = dict(zip(made.system.q_names, made.system.names.q_units, strict=True))
    known |= {f"v:{name}": unit for name, unit in zip(made.system.v_names, made.system.names.v_units, strict=True)}

    def unit(name: str) -> str:
        if name not in known:
            raise InputError(f'"{name}" is no column of the mechanism; it has {", ".join(list(known)[:12])}, ...')
        return known[name]

    levels = by_name("--noise", noise, number_of, unit, "COLUMN=SIGMA, as ball.y=1e-4")
    read = read_table(data)
    # a table of `nonsmooth export` has heads such as "q:crank.angle [rad]"
    read = dataclasses.replace(read, names=tuple(name.removeprefix("q:") for name in read.names))
    columns = {name: read.column(name, unit(name)) for name in levels}
    motion = identification.MotionData(read.times(), columns, levels)
    with progress_bar() as progress:
        found = identification.fit_motion(
            made.system, scheme, motion, ranges, dt=control, until=until, resume=resume, executor=executor,
            settings=identification.FitMotion(starts=starts, seed=seed), progress=progress,
        )  # fmt: skip
    conclude(
        shown, f"{problem}: fit", _tables(str(found)), found.as_dictionary, figure=lambda plots: plots.fitted(found)
    )


def _mechanism(problem: str, settings: tuple[str, ...]) -> Mechanism:
    """A problem or file with arguments alone."""
    made = Request(problem=problem, settings=settings).mechanism()
    if made.parameters:
        raise InputError(
            f"--set {next(iter(made.parameters))}: identify takes arguments of the problem, not parameters."
        )
    return made


def _regressor(of: Identified) -> Any:
    system = _mechanism(of.problem, of.settings).system
    found = [element.name for element in system.elements if isinstance(element, PrescribedMotion)]
    return identification.regressor(system, of.drives or found, friction=of.friction)


def _one_per_drive(option: str, text: str, Y: Any, per: str) -> tuple[float, ...]:
    """A number for each drive, also with a unit of its coordinate, or of that per time."""
    words = text.split(",")
    if len(words) != len(Y.drives):
        raise InputError(f"{option}={text}: give one number per drive, for {', '.join(Y.drives)}.")
    units = (("rad" if force == "N m" else "m") + per for force in Y.force_units)
    return tuple(number_of(option, word, partial(str, unit)) for word, unit in zip(words, units, strict=True))


def _range(option: str, text: str, unit: Callable[[], str | None]) -> tuple[float, float]:
    ends = [number_of(option, part, unit) for part in text.split(":")]
    if len(ends) != 2:
        raise InputError(f"{option}={text}: write NAME=LOW:HIGH.")
    return ends[0], ends[1]


def _tables(text: str) -> list[Any]:
    """Lines, and tables in place of those with bars."""
    parts: list[Any] = []
    table: Any = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            table = None
            parts.append(line)
        elif table is None:
            table = table_of(*cells)
            parts.append(table)
        elif set(line) - set("|-"):
            table.add_row(*cells)
    return parts
