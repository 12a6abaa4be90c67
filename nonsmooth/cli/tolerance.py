"""`nonsmooth study tolerance`: distributions from options, and output."""

from dataclasses import replace
from typing import Any

from rich.table import Table

from nonsmooth import studies
from nonsmooth.cli.inputs import Request, units_of, varied
from nonsmooth.cli.options import Number, Processes, Runs, Written
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report import conclude, table_of
from nonsmooth.cli.values import by_name, distribution_of, example_values, number_of, values_of
from nonsmooth.exceptions import InputError
from nonsmooth.studies.metrics import metrics_of
from nonsmooth.studies.outputs import DEVIATION
from nonsmooth.studies.tolerance import QUANTILES, Tolerance

#: remarks without --verdict, on given and on chosen steps
GIVEN = "The error of the runs is not estimated; give --verdict, which repeats each with half the step."
CHOSEN = (
    "The steps of each run were chosen for accuracy. Runs that are still not accurate count like the others here; with "
    "--verdict they count as unknown, which takes no further runs."
)
#: reasons for products beyond the worst case
BEYOND = "since normal distributions are not cut at the limits, by terms of second order, or by other inputs"


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
    if kinematic and verdict:
        raise InputError("--verdict is for the dynamic level: the kinematic level has no runs.")
    simulated: dict[str, Any] = {"t_end": run.t_end}
    if not kinematic:
        simulated = {"t_end": request.end, "dt": request.step(), **vars(processes)}
    with study_bar() as progress:
        found = studies.tolerance(
            mechanism, None if kinematic else request.scheme(), metric,
            limit=number_of("--limit", limit, lambda: _unit(metric, request)), clearances=scaled, others=sampled,
            factors=None if factors is None else values_of("--factors", factors), level=level,
            pose=by_name("--pose", poses, values_of), directions=by_name("--direction", directions, _direction),
            verdict=verdict, parameters=parameters, arguments=arguments, progress=progress, **study, **simulated,
        )  # fmt: skip
    parts: list[Any] = [f"{name}: {found.how}", "", _scales(found), "", found.statement]
    if found.as_drawn:
        parts = [f"{name}, {found.level} level: {found.how}", "", *_yield(found), found.yield_statement]
    if found.failure_statement:
        parts += ["", found.failure_statement]
    if not (kinematic or verdict):
        parts += ["", CHOSEN if simulated["dt"] is None else GIVEN]
    shares: dict[str, Any] = {}
    if found.shares is not None:
        numbers = (found.shares[key].values.tolist() for key in ("input", "first", "total"))
        shares = {str(key): (alone, together) for key, alone, together in zip(*numbers, strict=True)}
        rows = [(key, *(f"{share:.3f}" for share in both)) for key, both in shares.items()]
        parts += ["", "share of the output's variance", table_of("input", "alone [-]", "with others [-]", rows=rows)]
    conclude(
        written, f"{name}: tolerance", parts, lambda: found.plain() | ({"sensitivity": shares} if shares else {}),
        figure=lambda plots: plots.tolerance(found), save=found.save,
    )  # fmt: skip


def _unit(metric: str, request: Request) -> str | None:
    """The unit of the output; None where the study will say what is wrong with its name."""
    try:
        return metrics_of([metric.replace(DEVIATION, "final:", 1)], request.mechanism().system)[0].unit
    except InputError:
        return None


def _direction(option: str, text: str, _: Any) -> Any:
    """Direction of a clearance: load, any, an angle, or three components."""
    if text in ("load", "any"):
        return text
    numbers = [number_of(option, part) for part in text.split(",")]
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


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
        worst += " with all fits and toleranced dimensions at a limit"
        parts += [f"to first order: root sum of squares {rss}, worst case {worst}{more}", ""]
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
