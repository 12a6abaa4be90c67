"""`nonsmooth study sweep`, `tolerance`, `bifurcation`, and studies that measure each run of a sweep: many values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from nonsmooth import studies
from nonsmooth.cli.inputs import Request, units_of, varied
from nonsmooth.cli.options import Design, Number, Processes, Runs, Seconds, Written, progress_bar
from nonsmooth.cli.report import conclude, table_of
from nonsmooth.cli.values import by_name, distribution_of, example_values, number_of, only_one, settings_from, values_of
from nonsmooth.exceptions import InputError
from nonsmooth.schemes.moreau_jean.settings import MoreauJean
from nonsmooth.studies.files import FACTS, FAILED, EveryRunFailed
from nonsmooth.studies.metrics import metrics_of
from nonsmooth.studies.outputs import DEVIATION
from nonsmooth.studies.sweep import repeated, sensitive
from nonsmooth.studies.tolerance import QUANTILES, Tolerance

if TYPE_CHECKING:
    import xarray

    from nonsmooth.step.control import StepControl

MOST = 40  # runs of a sweep of which every one is printed; of more, so many of both ends
#: remarks without --verdict, on given and on chosen steps
GIVEN = "The error of the runs is not estimated; give --verdict, which repeats each with half the step."
CHOSEN = (
    "The steps of each run were chosen for accuracy. Runs that are still not accurate count like the others here; with "
    "--verdict they count as unknown, which takes no further runs."
)
#: reasons for products beyond the worst case
BEYOND = "since normal distributions are not cut at the limits, by terms of second order, or by other inputs"
SAME = 1e-3  # share of the range of all points within which points are regarded as equal


def sweep(*, metrics: tuple[str, ...], design: Design, runs: Runs, processes: Processes, written: Written) -> int:
    """Run a mechanism for many values of parameters or arguments; an interrupted sweep is continued.

    Parameters
    ----------
    metrics : --metric NAME
        Such as peak-impulse or final:crank.angle; repeatable.
    """
    examples = example_values((*design.grids, *design.lists, *design.samples))
    request = Request(**vars(runs), check=design.check, examples=examples)
    units = units_of(lambda: request.completed().mechanism())
    given = {"--grid": design.grids, "--list": design.lists, "--sample": design.samples}
    option = only_one("A sweep", given)
    named = by_name(option, given[option], distribution_of if design.samples else values_of, units)
    if design.samples:
        made = studies.sample(named, design.runs, method=design.method, seed=design.seed)
    else:
        made = (studies.grid if design.grids else studies.points)(named)
    request = request.completed()
    dt, stepper = request.step(), request.scheme()
    mechanism, arguments, parameters, name = varied(request, made.names)
    with progress_bar() as progress, warnings.catch_warnings(action="ignore", category=EveryRunFailed):
        found = studies.sweep(
            mechanism, stepper, made, t_end=request.end, dt=dt, metrics=metrics, parameters=parameters,
            arguments=arguments, check=request.check, output=design.output, progress=progress, **vars(processes),
        )  # fmt: skip
    messages, ended = found["message"].values.ravel(), found["status"].values.ravel() == FAILED
    failed, said = ([str(one) for one in messages[some] if one] for some in (ended, ~ended))
    lost = f"{len(failed)} of {len(made)} runs failed, the first: {failed[0]}" if failed else "no run failed"
    kinds, counts = np.unique(found["verdict"].values.ravel().astype(str), return_counts=True)
    verdicts = ", ".join(f"{count} {kind}" for kind, count in zip(kinds, counts, strict=True))
    unchecked = "not checked" in kinds
    hint = " (--check repeats each run with finer steps)" if unchecked else ""
    if unchecked:
        numbers = [str(key) for key in found.data_vars if key not in FACTS and found[key].size == len(made)]
        outputs = {key: np.ravel(found[key]) for key in numbers}
        unsafe = repeated(mechanism, made.names, made.values, metrics, outputs, request.end, parameters, arguments)
    else:
        until = found["valid_until"].values
        unsafe = sensitive(np.where(found["verdict"].values == "sensitive", until, np.inf), f"{len(made)} runs")
    metrics_found, rows = [str(name) for name in found.data_vars if name not in FACTS], []
    for metric in metrics_found:
        values = found[metric].values
        known = values[np.isfinite(values)]
        numbers = [f"{f(known):.6g}" for f in (np.min, np.mean, np.max)] if known.size else ["-"] * 3
        rows.append((metric, str(found[metric].attrs.get("units", "")), *numbers))
    remarks = [f"{len(said)} of {len(made)} runs with a remark, the first: {said[0]}"] if said else []
    summary = table_of("metric", "unit", "least", "mean", "largest", rows=rows)
    # what was varied, over the runs alone, and the metrics that give one number per run
    names = [str(key) for key in found.coords if key != "run"]
    flat = found if "run" in found.dims else found.stack(run=names).reset_index("run")
    scalars = [key for key in metrics_found if flat[key].ndim == 1]
    title = f"{name}: {'sweep' if isinstance(metrics, tuple) else next(iter(metrics))}"
    conclude(
        written, title, [_runs(found, flat, names, scalars), "", summary, "", f"{lost}; verdicts: {verdicts}{hint}",
                          *remarks, *([unsafe] if unsafe else [])],
        lambda: {
            "problem": name,
            "parameters": {key: flat[key].values.tolist() for key in names},
            "metrics": {key: flat[key].values.tolist() for key in scalars},
            "verdict": flat["verdict"].values.astype(str).tolist(),
            **({"doubt": unsafe} if unsafe else {}),
            "failed": len(failed), "messages": sorted({*failed, *said}),
        },
        head=f"{name}: {made!r}", figure=lambda plots: plots.sweep(found),
    )  # fmt: skip
    return 1 if len(failed) == len(made) else 0


def _runs(found: xarray.Dataset, flat: xarray.Dataset, names: list[str], metrics: list[str]) -> Table:
    """One line per run: what was varied, and the metrics; of many runs the first and the last."""
    heads = [f"{key}\n[{found[key].attrs.get('units', '-') or '-'}]" for key in metrics]
    varied = [f"{key}\n[{unit}]" if (unit := found[key].attrs.get("units")) else key for key in names]
    table = table_of("run", *varied, *heads, "verdict", whole=True)
    count = flat.sizes["run"]
    shown = list(range(count)) if count <= MOST else [*range(MOST // 2), *range(count - MOST // 2, count)]
    for k, i in enumerate(shown):
        if k and i > shown[k - 1] + 1:
            table.add_row("...", *[""] * len(names + metrics), "")
        cells = []
        for value in (flat[key].values[i] for key in (*names, *metrics)):
            number = not isinstance(value, (str, np.str_))
            cells.append((f"{value:.6g}" if np.isfinite(value) else "-") if number else str(value))
        table.add_row(str(i + 1), *cells, str(flat["verdict"].values[i]))
    return table


def tolerance(
    *, metric: str, limit: Number, clearances: tuple[str, ...] = (), others: tuple[str, ...] = (),
    level: str = "dynamic", poses: tuple[str, ...] = (), directions: tuple[str, ...] = (), verdict: bool = False,
    factors: str | None = None, run: Runs, processes: Processes, written: Written, **study: Any,
) -> None:  # fmt: skip
    """Yield, distribution and causes of an output due to tolerances and clearances, and the largest clearances.

    Parameters
    ----------
    metric : NAME
        The output, such as amplitude:slider.angle.
    limit
        Largest output that is accepted, in SI units or with its unit, as 0.02mm.
    clearances : --clearance NAME=DISTRIBUTION, default: fits of the model
        Scaled: NAME=LOW:HIGH, NAME=LOW:HIGH:log, or NAME=normal:MEAN:SD, cut at three SD, or a fit such as
        "20 H7/g6"; repeatable.
    others : --sample NAME=DISTRIBUTION, default: toleranced dimensions of the model
        Another uncertain parameter, not scaled, also "0.12 ±3e-5"; repeatable.
    level
        dynamic, or kinematic: clearances as vectors, without runs.
    poses : --pose NAME=VALUE
        Kinematic level: a coordinate that is held, also LOW:HIGH:N or V1,V2; repeatable.
    directions : --direction NAME=load|any|ANGLE, default: load
        Kinematic level: where the clearance of a joint points; repeatable.
    verdict
        Runs that are not accurate count as bounds; those of given steps are repeated with half the step.
    failure : METHOD
        Kinematic level: probability of failure by monte-carlo, form, importance or subset; repeatable.
    coverage
        Share of mechanisms that must be within the limit.
    confidence
        Confidence of that statement.
    factors : LOW:HIGH:N, default: 0.1:1:10, and 1 for fits
        Scales of the clearances, from the smallest.
    runs
        Runs per scale.
    sensitivity
        Share of the output's variance due to each input (SALib).
    """
    kinematic, request = level == "kinematic", Request(**vars(run), examples=example_values((*clearances, *others)))
    request = (replace(request, t_end=run.t_end or 0.0) if kinematic else request).completed()
    units = units_of(request.mechanism)
    scaled = by_name("--clearance", clearances, distribution_of, units)
    sampled = by_name("--sample", others, distribution_of, units)
    mechanism, arguments, parameters, name = varied(request, (*scaled, *sampled))

    def unit_of_metric() -> str | None:
        try:
            return metrics_of([metric.replace(DEVIATION, "final:", 1)], request.mechanism().system)[0].unit
        except InputError:  # the study will say what is wrong with its name
            return None

    if kinematic and verdict:
        raise InputError("--verdict is for the dynamic level: the kinematic level has no runs.")
    simulated: dict[str, Any] = {"t_end": run.t_end}
    if not kinematic:
        simulated = {"t_end": request.end, "dt": request.step(), **vars(processes)}
    with progress_bar() as progress:
        found = studies.tolerance(
            mechanism, None if kinematic else request.scheme(), metric,
            limit=number_of("--limit", limit, unit_of_metric), clearances=scaled, others=sampled,
            factors=None if factors is None else values_of("--factors", factors), level=level,
            pose=by_name("--pose", poses, values_of, unit_of_column(request)),
            directions=by_name("--direction", directions, _direction), verdict=verdict,
            parameters=parameters, arguments=arguments, progress=progress, **study, **simulated,
        )  # fmt: skip
    unsafe = ""
    if not kinematic:
        values, outputs = found.inputs.reshape(-1, len(found.names)), {metric: found.outputs.ravel()}
        known = ["steps" if DEVIATION in metric else metric]
        unsafe = repeated(mechanism, found.names, values, known, outputs, request.end, parameters, arguments)
    parts: list[Any] = [f"{name}: {found.how}", "", _scales(found)]
    if found.as_drawn:
        parts = [f"{name}, {found.level} level: {found.how}", "", *_yield(found)]
    parts += [part for text in (unsafe, found.statement, found.failure_statement) if text for part in ("", text)]
    if not (kinematic or verdict):
        parts += ["", CHOSEN if simulated["dt"] is None else GIVEN]
    shares: dict[str, Any] = {}
    if found.shares is not None:
        numbers = (found.shares[key].values.tolist() for key in ("input", "first", "total"))
        shares = {str(key): (alone, together) for key, alone, together in zip(*numbers, strict=True)}
        rows = [(key, *(f"{share:.3f}" for share in both)) for key, both in shares.items()]
        parts += ["", "share of the output's variance", table_of("input", "alone [-]", "with others [-]", rows=rows)]
    conclude(
        written, f"{name}: tolerance", parts,
        lambda: found.plain() | ({"doubt": unsafe} if unsafe else {}) | ({"sensitivity": shares} if shares else {}),
        figure=lambda plots: plots.tolerance(found), save=found.save,
    )  # fmt: skip


def unit_of_column(request: Request) -> Callable[[str], str | None]:
    """The unit of a coordinate or, as v:NAME, of a velocity; None of others."""

    def unit(name: str) -> str | None:
        names = request.mechanism().system.names
        velocities = zip((f"v:{one}" for one in names.v), names.v_units, strict=True)
        return {**dict(zip(names.q, names.q_units, strict=True)), **dict(velocities)}.get(name.removeprefix("q:"))

    return unit


def _direction(option: str, text: str, _: Any) -> Any:
    """Direction of a clearance: load, any, an angle, or three components."""
    if text in ("load", "any"):
        return text
    parts = text.split(",")
    return number_of(option, text, lambda: "rad") if len(parts) == 1 else tuple(number_of(option, x) for x in parts)


def _yield(found: Tolerance) -> list[Any]:
    """Quantiles with bounds, probabilities of failure, and bands of one scale."""
    sure = f"to ({100 * found.confidence:g} %)"
    rows = [
        (f"{100 * one.share:g} %", *(f"{x:.5g}" for x in (one.value, one.low, one.high)))
        for one in map(found.quantile, QUANTILES)
    ]
    parts: list[Any] = [table_of(f"quantile of {found.metric}", f"[{found.unit or '-'}]", "from", sure, rows=rows), ""]
    if found.failures:
        table = table_of("probability of failure", "method", "beta", "from", sure)
        for failure in found.failures:
            bounds = ["", ""] if failure.low == failure.high else [f"{failure.low:.4g}", f"{failure.high:.4g}"]
            table.add_row(f"{failure.probability:.6g}", failure.method, f"{failure.beta:.4f}", *bounds)
        parts += [table, ""]
    if found.bands:
        rss, worst = (f"±{found.bands[name]:.5g} {found.unit}" for name in ("rss", "worst"))
        beyond = int((found.outputs[-1] > found.bands["worst"]).sum())
        more = f"; beyond it: {beyond} of {found.products} products, {BEYOND}" if beyond else ""
        worst += " about the nominal with all fits and toleranced dimensions at a limit"
        parts += [f"to first order: root sum of squares {rss} (3 sigma about the mean), worst case {worst}{more}", ""]
    return parts


def _scales(found: Tolerance) -> Table:
    share = f"share bound, {100 * found.confidence:g} %"
    quantile = f"bound of the {100 * found.coverage:g} % quantile [{found.unit or '-'}]"
    ends = [f"{name} up to [m]" for name in found.scaled]
    failed = ["failed"] if found.failures_at.any() else []
    table = table_of("scale", *ends, "median", quantile, *failed, "within", share, "", whole=True)
    median, said = found.medians, (found.bound_best, found.bound)
    for i, factor in enumerate(found.factors):
        numbers = [_between(low[i], high[i], ".4g") for low, high in (median, said)]
        lost = [str(found.failures_at[i])] if failed else []
        shares = (f"{found.share[i]:.3f}", _between(found.share_bound[i], found.best[i], ".3f"))
        widest = (f"{x:.4g}" for x in found.widest[i])
        table.add_row(f"{factor:.3g}", *widest, *numbers, *lost, *shares, "passed" if i < found.passed else "")
    return table


def _between(low: float, high: float, form: str) -> str:
    """A number that failed runs leave open between two, infinite where they leave it open without an end."""
    one, other = f"{low:{form}}", f"{high:{form}}"
    return one if one == other else f"{one} to {other}"


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
    executor : default: one process per core
        Number of processes, or tcp://HOST:PORT of a Dask scheduler.
    """
    request = Request(**vars(runs), usual="moreau-jean", examples=example_values([over]))
    if request.problem.endswith(".toml"):  # the file completes the scheme, and for crossings end and step as well
        from nonsmooth.declarative import read

        stated = replace(request, declaration=read(request.problem)).completed_by_file()
        if crossing is None:
            kept: dict[str, Any] = {one: getattr(stated, one) for one in ("declaration", "stepper", "solver")}
            stated = replace(request, **kept)
        request = stated
    [(name, values)] = by_name("--over", [over], values_of, units_of(request.mechanism)).items()
    only_one("A section", {"--period": period, "--drive": drive, "--crossing": crossing})
    section: studies.PerPeriod | studies.Crossings
    if crossing is None:
        section = studies.PerPeriod(drive or period or 0.0, _steps(request, steps, after), transient, points)
    else:
        if steps is not None:
            raise InputError("--steps is per period of a drive; with --crossing give --dt, or --dt-min and --dt-max.")
        if request.t_end is None or after is None:
            raise InputError("--crossing needs --t-end, and --after, before which crossings are left out.")
        [(where, value)] = by_name("--crossing", [crossing], number_of, unit_of_column(request)).items()
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
    with progress_bar() as bar, warnings.catch_warnings(action="ignore", category=EveryRunFailed):

        def progress(share: float) -> None:
            if bar is not None:
                bar(f"{round(share * len(values))} of {len(values)} values", share)

        found = studies.bifurcation(long, values, progress=progress, **vars(processes), **labels)
    failed = len(found.failures) == len(values)
    if same is None:
        every = np.concatenate(found.points)
        same = SAME * float(np.ptp(every)) if every.size else 0.0
    conclude(
        written, f"{problem}: bifurcation", _motions(found, problem, same),
        lambda: {
            "problem": problem, "parameter": found.parameter, "unit": found.unit, "quantity": found.quantity,
            "quantity_unit": found.quantity_unit, "values": found.values.tolist(),
            "points": [points.tolist() for points in found.points], "periods": found.periods(same).tolist(),
            "same": same,
            "failures": {f"{value:g}": message for value, message in found.failures.items()},
            "wall_seconds": found.wall_seconds,
        },
        figure=None if failed else lambda plots: plots.bifurcation_diagram(found).figure, save=found.save,
    )  # fmt: skip
    return 1 if failed else 0


def _steps(request: Request, steps: int | None, after: float | None) -> Any:
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


def _motions(found: studies.Bifurcation, name: str, same: float) -> list[Any]:
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
    equal = f"points within {same:.3g} {found.quantity_unit or '-'} are regarded as equal"
    if np.any(ran & (periods == 0)):
        equal += (
            "; a motion that is not periodic is shown by its attractor, of which points are samples, not predictions"
        )
    return [head, "", table, "", equal, lost, f"{found.wall_seconds:.3g} s"]
