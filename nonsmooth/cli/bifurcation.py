"""`nonsmooth study bifurcation`: options, sections for each value, and output."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from nonsmooth.cli.inputs import Request
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report_page import conclude
from nonsmooth.cli.sweep import _mechanism, _named, _number, _values, units_of
from nonsmooth.exceptions import InputError

if TYPE_CHECKING:
    from nonsmooth.cli.study import Bifurcation
    from nonsmooth.step_control import StepControl
    from nonsmooth.steppers.base import Stepper
    from nonsmooth.studies.bifurcation import Bifurcation as Found
    from nonsmooth.studies.sections import Crossings, PerPeriod

__all__ = ["carry_out_bifurcation"]

#: share of the range of all points within which points are regarded as equal
SAME = 1e-3


def _section(asked: Bifurcation, request: Request) -> PerPeriod | Crossings:
    """The requested section."""
    from nonsmooth.studies.sections import Crossings, PerPeriod

    kinds = {"--period": asked.period, "--drive": asked.drive, "--crossing": asked.crossing}
    used = [option for option, value in kinds.items() if value is not None]
    if len(used) != 1:
        raise InputError(
            f"A section takes one of --period, --drive and --crossing, got {' and '.join(used) or 'none'}."
        )
    if asked.crossing is None:
        return PerPeriod(asked.drive or asked.period or 0.0, _steps(asked, request), asked.transient, asked.points)
    if asked.steps is not None:
        raise InputError("--steps is per period of a drive; with --crossing give --dt, or --dt-min and --dt-max.")
    if request.t_end is None or asked.after is None:
        raise InputError("--crossing needs --t-end, and --after, before which crossings are left out.")
    name, value = _named("--crossing", asked.crossing)
    kind, colon, rest = name.partition(":")
    return Crossings(
        rest if colon else kind, _number("--crossing", value), request.t_end, _given(request), asked.after,
        kind if colon else "q", asked.direction, asked.turn,
    )  # fmt: skip


def _steps(asked: Bifurcation, request: Request) -> Any:
    if request.t_end is not None or asked.after is not None:
        raise InputError("--t-end and --after are for --crossing; --transient and --points count periods.")
    if asked.steps is None:
        if request.dt is not None:
            raise InputError("--dt is for --crossing: give --steps, the constant steps per period.")
        return _given(request)
    if any(value is not None for value in (request.dt, request.dt_min, request.dt_max, request.rtol, request.atol)):
        raise InputError("--steps per period excludes other steps: give one of them.")
    return asked.steps


def _given(request: Request) -> StepControl:
    """The step, which is not chosen automatically: no step makes a motion over hundreds of periods predictable."""
    step = request.step()
    if step is None:
        raise InputError(
            "no step was given: give --steps per period, --dt, or --dt-min and --dt-max; for long motions, which "
            "are not predictable, it is not chosen automatically."
        )
    return step


def carry_out_bifurcation(asked: Bifurcation) -> int:
    """Run all values, write the requested files, and print a summary; 1 if every run failed."""
    request = _completed(asked)
    varied, text = _named("--over", asked.over)
    values = _values("--over", varied, text, units_of(request))
    section, stepper = _section(asked, request), _stepper(request)
    mechanism, arguments, parameters, name = _mechanism(request, [varied])
    if varied in arguments:
        raise InputError(f"{varied} is given by --over and by --set: give it once.")

    from nonsmooth.studies.bifurcation import bifurcation
    from nonsmooth.studies.sections import LongRun

    runs = LongRun(mechanism, varied, asked.of, stepper, section, parameters, arguments)
    labels = runs.labels(values[0])
    with study_bar() as bar:

        def progress(share: float) -> None:
            if bar is not None:
                bar(f"{round(share * len(values))} of {len(values)} values", share)

        found = bifurcation(runs, values, workers=asked.workers, scheduler=asked.scheduler, progress=progress, **labels)
    failed = len(found.failures) == len(values)
    same = asked.same if asked.same is not None else SAME * _range(found)
    conclude(
        asked, f"{name}: bifurcation", _report(found, name, same), lambda: _plain(found, name, same),
        draw=None if failed else lambda plots: plots.bifurcation_diagram(found).figure, save=found.save,
    )  # fmt: skip
    return 1 if failed else 0


def _completed(asked: Bifurcation) -> Request:
    """Completed by a TOML file: its scheme, and for crossings its end and step as well."""
    request = asked.request(usual="moreau-jean")
    if not request.problem.endswith(".toml"):
        return request
    from nonsmooth.declarative import read

    stated = replace(request, declaration=read(request.problem))._stated()
    if asked.crossing is not None:
        return stated
    return replace(request, declaration=stated.declaration, stepper=stated.stepper, solver=stated.solver)


def _stepper(request: Request) -> Stepper:
    """The requested one; else Moreau-Jean with combined projection, which long runs require."""
    from nonsmooth.steppers.moreau_jean import MoreauJean

    stepper = request.scheme(stepped=True)
    assert stepper is not None
    plain = request.stepper is None and not any(word.startswith("stepper.projection") for word in request.settings)
    if plain and isinstance(stepper, MoreauJean):
        return replace(stepper, projection="combined")
    return stepper


def _range(found: Found) -> float:
    points = np.concatenate(found.points)
    return float(np.ptp(points)) if points.size else 0.0


def _plain(found: Found, name: str, same: float) -> dict[str, Any]:
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


def _report(found: Found, name: str, same: float) -> list[Any]:
    periods = found.periods(same)
    ran = np.array([len(points) > 0 for points in found.points])
    table = Table("motion", "values", f"{found.parameter} [{found.unit or '-'}]", box=None, pad_edge=False)
    table.columns[-1].no_wrap = True
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
