"""`nonsmooth study bifurcation`: options, sections for each value, and output."""

from dataclasses import replace
from typing import Any

import numpy as np

from nonsmooth import studies
from nonsmooth.cli.inputs import Request, units_of, varied
from nonsmooth.cli.options import Processes, Runs, Seconds, Written
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report import conclude, table_of
from nonsmooth.cli.values import by_name, example_values, number_of, settings_from, values_of
from nonsmooth.declarative import read
from nonsmooth.exceptions import InputError
from nonsmooth.schemes.moreau_jean.settings import MoreauJean
from nonsmooth.step.control import StepControl
from nonsmooth.studies import Bifurcation

#: share of the range of all points within which points are regarded as equal
SAME = 1e-3


def bifurcation(
    *, over: str, of: str, drive: str | None = None, period: Seconds | None = None, steps: int | None = None,
    transient: int = 84, points: int = 16, crossing: str | None = None, direction: str = "rising",
    turn: float | None = None, after: Seconds | None = None, same: float | None = None, runs: Runs,
    processes: Processes, written: Written,
) -> int:  # fmt: skip
    """Long-term motion over a parameter: points of a section for each value.

    Parameters
    ----------
    over : NAME=LOW:HIGH:N
        Values of a parameter, such as pin.clearance, or of an argument, such as crank_speed; also NAME=LOW:HIGH:N:log
        or NAME=V1,V2.
    of : NAME
        Quantity of the points: slider.x, or its velocity v:slider.x.
    drive : NAME
        One point per turn of a drive, whose speed in rad/s is this argument or parameter.
    period
        One point per period.
    steps
        Constant steps per period.
    transient
        Periods before the first point.
    points
        Points of each value.
    crossing : NAME=VALUE
        One point wherever a coordinate has this value, or v:NAME, gap:NAME, gap_rate:NAME.
    direction
        Of --crossing: rising, falling or both.
    turn
        Of --crossing: cross the value plus any multiple of this, as 6.283185307179586.
    t_end
        End of the runs of --crossing.
    after
        Earlier crossings are omitted.
    same : default: a thousandth of the range of all points
        Distance within which points are regarded as equal, to detect periodic motions.
    stepper : default: moreau-jean with --set stepper.projection=combined
        One of {steppers}.
    workers : default: one per core
        Processes.
    """
    request = replace(_completed(runs, crossing), examples=example_values([over]))
    [(name, values)] = by_name("--over", [over], values_of, units_of(request.mechanism)).items()
    kinds = {"--period": period, "--drive": drive, "--crossing": crossing}
    used = [option for option, value in kinds.items() if value is not None]
    if len(used) != 1:
        raise InputError(
            f"A section takes one of --period, --drive and --crossing, got {' and '.join(used) or 'none'}."
        )
    section: studies.PerPeriod | studies.Crossings
    if crossing is None:
        section = studies.PerPeriod(drive or period or 0.0, _steps(request, steps, after), transient, points)
    else:
        if steps is not None:
            raise InputError("--steps is per period of a drive; with --crossing give --dt, or --dt-min and --dt-max.")
        if request.t_end is None or after is None:
            raise InputError("--crossing needs --t-end, and --after, before which crossings are left out.")
        [(where, value)] = by_name("--crossing", [crossing], number_of).items()
        kind, colon, rest = where.partition(":")
        section = studies.Crossings(
            rest if colon else kind, value, request.t_end, _given(request), after,
            kind if colon else "q", direction, turn,
        )  # fmt: skip
    stepper = request.scheme(stepped=True)
    assert stepper is not None
    plain = request.stepper is None and not any(word.startswith("stepper.projection") for word in request.settings)
    if plain and isinstance(stepper, MoreauJean):
        stepper = replace(stepper, projection="combined")  # which long runs require
    mechanism, arguments, parameters, problem = varied(request, [name])
    if name in settings_from(request.settings).arguments:
        raise InputError(f"{name} is given by --over and by --set: give it once.")
    long = studies.LongRun(mechanism, name, of, stepper, section, parameters, arguments)
    labels: dict[str, Any] = long.labels(values[0])
    with study_bar() as bar:

        def progress(share: float) -> None:
            if bar is not None:
                bar(f"{round(share * len(values))} of {len(values)} values", share)

        found = studies.bifurcation(long, values, progress=progress, **vars(processes), **labels)
    failed = len(found.failures) == len(values)
    if same is None:
        every = np.concatenate(found.points)
        same = SAME * float(np.ptp(every)) if every.size else 0.0
    conclude(
        written, f"{problem}: bifurcation", _report(found, problem, same), lambda: _plain(found, problem, same),
        figure=None if failed else lambda plots: plots.bifurcation_diagram(found).figure, save=found.save,
    )  # fmt: skip
    return 1 if failed else 0


def _steps(request: Request, steps: int | None, after: float | None) -> Any:
    """The steps of a section per period: their number per period, or the step control."""
    if request.t_end is not None or after is not None:
        raise InputError("--t-end and --after are for --crossing; --transient and --points count periods.")
    if steps is None:
        if request.dt is not None:
            raise InputError("--dt is for --crossing: give --steps, the constant steps per period.")
        return _given(request)
    if any(value is not None for value in (request.dt, request.dt_min, request.dt_max, request.rtol, request.atol)):
        raise InputError("--steps per period excludes other steps: give one of them.")
    return steps


def _given(request: Request) -> StepControl:
    """The step, which is not chosen automatically: no step makes a motion over hundreds of periods predictable."""
    step = request.step()
    if step is None:
        raise InputError(
            "no step was given: give --steps per period, --dt, or --dt-min and --dt-max; for long motions, which "
            "are not predictable, it is not chosen automatically."
        )
    return step


def _completed(runs: Runs, crossing: str | None) -> Request:
    """Completed by a TOML file: its scheme, and for crossings its end and step as well."""
    request = Request(**vars(runs), usual="moreau-jean")
    if not request.problem.endswith(".toml"):
        return request
    stated = replace(request, declaration=read(request.problem)).completed_by_file()
    if crossing is not None:
        return stated
    return replace(request, declaration=stated.declaration, stepper=stated.stepper, solver=stated.solver)


def _plain(found: Bifurcation, name: str, same: float) -> dict[str, Any]:
    return {
        "problem": name,
        "parameter": found.parameter,
        "unit": found.unit,
        "quantity": found.quantity,
        "quantity_unit": found.quantity_unit,
        "values": found.values.tolist(),
        "points": [points.tolist() for points in found.points],
        "periods": found.periods(same).tolist(),
        "same": same,
        "failures": {f"{value:g}": message for value, message in found.failures.items()},
        "wall_seconds": found.wall_seconds,
    }


def _report(found: Bifurcation, name: str, same: float) -> list[Any]:
    periods = found.periods(same)
    ran = np.array([len(points) > 0 for points in found.points])
    table = table_of("motion", "values", f"{found.parameter} [{found.unit or '-'}]", whole=True)
    for period in [*sorted({int(k) for k in periods if k}), 0]:
        chosen = found.values[ran & (periods == period)]
        if chosen.size:
            what = f"is periodic after {period}" if period else "is not periodic"
            span = f"{chosen.min():.6g} to {chosen.max():.6g}" if chosen.size > 1 else f"{chosen[0]:.6g}"
            table.add_row(what, str(chosen.size), span)
    points = sum(map(len, found.points))
    head = f"{name}: {found.quantity} over {found.parameter}, {len(found.values)} values, {points} points"
    lost = "no run failed"
    if found.failures:
        first = next(iter(found.failures.items()))
        lost = f"{len(found.failures)} of {len(found.values)} runs failed, the first at {first[0]:g}: {first[1]}"
    unit = found.quantity_unit or "-"
    return [
        head, "", table, "", f"points within {same:.3g} {unit} are regarded as equal", lost,
        f"{found.wall_seconds:.3g} s",
    ]  # fmt: skip
