"""Scatter of an output due to tolerances of parts: yield, quantiles, shares of the inputs, and admissible clearances.

Two levels: *kinematic*, positions of a mechanism whose clearances are vectors (`nonsmooth.studies.kinematic`), and
*dynamic*, a run of each product, with half the step as well on request: a product is not accurate where the two outputs
differ by more than `accuracy` times the limit, or contacts overlap.

The statement about a scale of the clearances' distributions is: with a confidence gamma, the output is within its limit
for at least a fraction p of all mechanisms, by the bound of Clopper and Pearson, whatever the distribution. Scales are
tested from the smallest, each with its own runs, up to the first that fails: the confidence is that of the largest.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.model.fits import Fit, Scatter, looks_stated, stated
from nonsmooth.progress import Progress, telling
from nonsmooth.quantities import in_si, in_unit, parts_of
from nonsmooth.settings import is_number, is_one, require
from nonsmooth.step.control import StepControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import check_count, check_share, mapping, numbers
from nonsmooth.studies.designs import drawn, quantiles, words
from nonsmooth.studies.failure import Failure, failure_probability, share_bounds
from nonsmooth.studies.files import Result, variable
from nonsmooth.studies.metrics import metrics_of
from nonsmooth.studies.outputs import LEVELS, DynamicLevel, KinematicLevel, check_sensitivity, name_of, shares
from nonsmooth.studies.sweep import Mechanism, system_of, unit_of_varied

if TYPE_CHECKING:
    import xarray

#: default scales; that of fits and tolerances, which are what drawings say
FACTORS = tuple(round(0.1 * i, 1) for i in range(1, 11))
AS_DRAWN = (1.0,)
QUANTILES = (0.5, 0.95, 0.99)  # quantiles that commands print
#: what helps where runs failed, or are not accurate
SHORTER = "Shorten the steps, or leave them out to have them chosen for each run."
#: reason of a run that gives no number without an error of its own
LOST = "its metric gives no number, or its run with half the step failed"
#: base of the sample of Sobol' indices at the kinematic and at the dynamic level
BASES = {"kinematic": 1024, "dynamic": 64}


@dataclass(frozen=True)
class Quantile:
    """The `share`-quantile of the output, with bounds of two order statistics; infinite where there are too few."""

    share: float
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Tolerance(Result):
    """Result of `tolerance`.

    Products that failed or are not accurate count as beyond the limit in lower bounds, and as within it in upper ones.

    Parameters
    ----------
    metric, unit : of the output
    limit : largest accepted output
    coverage, confidence : p and gamma [-]
    names : inputs: scaled clearances, then others (m,)
    scaled : the names of the clearances
    factors : scales, rising (k,)
    widest : upper end of each clearance at each scale [m] (k, clearances)
    inputs, outputs : of each run (k, n, m) and (k, n); infinite for a failed run
    how : the distributions, in words
    level : "dynamic" or "kinematic"
    doubtful, coarse
        Which products are not accurate (k, n), and their outputs with the whole step; `outputs` are those with half of
        it. None without verdict.
    accuracy : largest accepted difference of the two, as a share of the limit
    shares : indices of Sobol', see `sensitivity`; None unless requested
    failures : probabilities of failure at the last scale, by the requested methods
    bands
        At the kinematic level half widths of the deviation to first order: root sum of squares ("rss"), worst case
        ("worst").
    failed, reason : which runs failed, or products cannot be assembled (k, n); why the first of them did
    """

    metric: str
    unit: str
    limit: float
    coverage: float
    confidence: float
    names: tuple[str, ...]
    scaled: tuple[str, ...]
    factors: Array
    widest: Array
    inputs: Array = field(repr=False)
    outputs: Array = field(repr=False)
    how: str
    level: str
    doubtful: NDArray[np.bool_] | None = field(repr=False)
    coarse: Array | None = field(repr=False)
    accuracy: float
    shares: xarray.Dataset | None = field(repr=False)
    failures: tuple[Failure, ...]
    bands: Mapping[str, float]
    failed: NDArray[np.bool_] = field(repr=False)
    reason: str

    @property
    def as_drawn(self) -> bool:
        """Whether the only scale is 1: the products are those of the drawing, and the result is their yield."""
        return self.factors.tolist() == [1.0]

    @property
    def products(self) -> int:
        """Products per scale."""
        return int(self.outputs.shape[1])

    @property
    def unsure(self) -> NDArray[np.bool_]:
        """Products that are not accurate (k, n)."""
        return np.zeros(self.outputs.shape, dtype=bool) if self.doubtful is None else self.doubtful

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Runs that failed, whose outputs are not known (k, n)."""
        return self.failed if self.level == "dynamic" else np.zeros_like(self.failed)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Runs that failed or are not accurate (k, n)."""
        return self.unsure | self.lost

    @cached_property
    def share(self) -> Array:
        """Share of the runs within the limit, of those that did not fail, at each scale (k,) [-]; NaN if all did."""
        known = (~self.lost).sum(axis=1)
        return np.where(known, (self.outputs <= self.limit).sum(axis=1) / np.maximum(known, 1), np.nan)

    @cached_property
    def share_bound(self) -> Array:
        """Lower bound with confidence of the share within the limit at each scale (k,) [-]."""
        return self._share_bounds((self.outputs <= self.limit) & ~self.unsure)

    @property
    def best(self) -> Array:
        """`share_bound` if all runs of which nothing is known were within the limit (k,)."""
        return self._share_bounds((self.outputs <= self.limit) | self.unknown)

    def _share_bounds(self, within: NDArray[np.bool_]) -> Array:
        return np.array([share_bound(int(k), self.products, self.confidence) for k in within.sum(axis=1)])

    @cached_property
    def bound(self) -> Array:
        """Upper bound of the output's p-quantile with confidence (k,), infinite if too few runs did not fail."""
        return np.array([quantile_bound(row, self.coverage, self.confidence) for row in self.outputs])

    @property
    def bound_best(self) -> Array:
        """`bound` if all failed runs were below all others (k,)."""
        values = np.where(self.lost, -np.inf, self.outputs)
        return np.array([quantile_bound(row, self.coverage, self.confidence) for row in values])

    @property
    def passed(self) -> int:
        """Number of accepted scales, from the smallest."""
        return passing(self.share_bound, self.coverage)

    @property
    def failures_at(self) -> NDArray[np.int_]:
        """Number of runs that failed, or products that cannot be assembled, at each scale (k,)."""
        return np.asarray(self.failed.sum(axis=1))

    @property
    def failure_statement(self) -> str:
        """How many runs failed, and why the first did; empty if none did."""
        count = int(self.failures_at.sum())
        what = "runs failed" if self.level == "dynamic" else "products cannot be assembled"
        first = f", the first: {self.reason}" if self.reason else ""
        return f"{count} of {self.outputs.size} {what}{first}" if count else ""

    @property
    def medians(self) -> tuple[Array, Array]:
        """Median of the outputs at each scale (k,), with failed runs below all others, and above them."""
        return np.median(np.where(self.lost, -np.inf, self.outputs), axis=1), np.median(self.outputs, axis=1)

    def yield_at(self, scale: int = -1) -> tuple[float, float, float]:
        """`share` of products within the limit at a scale, the last by default, and its bounds with the confidence."""
        within, unknown, n = self.outputs[scale] <= self.limit, self.unknown[scale], self.products
        low = share_bounds(int((within & ~unknown).sum()), n, self.confidence)[0]
        high = share_bounds(int((within | unknown).sum()), n, self.confidence)[1]
        return float(self.share[scale]), low, high

    def quantile(self, share: float, scale: int = -1) -> Quantile:
        """A quantile of the outputs of the runs that did not fail, NaN if all did, with bounds of all."""
        from scipy.stats import binom

        values, unknown, n = self.outputs[scale], self.unknown[scale], self.products
        known = values[~self.lost[scale]]
        error = (1.0 - self.confidence) / 2
        ranks = int(binom.ppf(error, n, share)), int(binom.ppf(1.0 - error, n, share)) + 1
        low = float(np.sort(np.where(unknown, -np.inf, values))[ranks[0] - 1]) if ranks[0] else -math.inf
        high = float(np.sort(np.where(unknown, np.inf, values))[ranks[1] - 1]) if ranks[1] <= n else math.inf
        return Quantile(share, float(np.quantile(known, share, method="higher")) if known.size else math.nan, low, high)

    @property
    def yield_statement(self) -> str:
        """The yield at the last scale in a sentence, and what it leaves open."""
        share, low, high = self.yield_at()
        lost, unsure = int(self.lost[-1].sum()), int(self.unsure[-1].sum())
        broken = int(self.failed[-1].sum()) - lost
        text = (
            f"{100 * share:.4g} % of {self.products - lost} products keep {self._kept}; with a confidence of "
            f"{100 * self.confidence:g} % the yield is between {100 * low:.4g} % and {100 * high:.4g} %."
        )
        if broken:
            text += f" {broken} cannot be assembled, and count as beyond the limit."
        if lost:
            text += f" The runs of {lost} of all {self.products} failed, and count as bounds. {self._advice}"
        if unsure:
            text += f" {unsure} are not accurate to {100 * self.accuracy:g} % of the limit, and count as bounds."
        elif self.doubtful is not None and not lost:
            text += f" All are accurate to {100 * self.accuracy:g} % of the limit."
        return text

    @property
    def largest(self) -> dict[str, float]:
        """Largest admissible value of each clearance; NaN if even the smallest scale is not accepted."""
        values = self.widest[self.passed - 1] if self.passed else np.full(len(self.scaled), math.nan)
        return dict(zip(self.scaled, values.tolist(), strict=True))

    @property
    def statement(self) -> str:
        """The result in a sentence."""
        if self.as_drawn:
            return self.yield_statement
        names, passed, possible = self.scaled, self.passed, passing(self.best, self.coverage)
        ends = [", ".join(f"{name} up to {x:.4g} m" for name, x in zip(names, row, strict=True)) for row in self.widest]
        sure, undecided = f"{100 * self.confidence:g} %", ""
        keep = f"{100 * self.coverage:g} % of the mechanisms keep {self._kept}"
        if possible > passed:  # but for runs of which nothing is known
            lost, unsure = int(self.lost[passed].sum()), int((self.unsure & ~self.lost)[passed].sum())
            counts = [f"{lost} failed"] if lost else []
            counts += [f"{unsure} not accurate to {100 * self.accuracy:g} % of the limit"] if unsure else []
            undecided = (
                f" Of {self.products} runs at the scale {self.factors[passed]:g}, {' and '.join(counts)}: were all "
                f"such runs within the limit, {ends[possible - 1]} would be accepted. {self._advice}"
            )
        if not passed:
            smallest = f"at the smallest scale, {self.factors[0]:g}."
            if undecided:
                return f"Whether, with a confidence of {sure}, {keep} cannot be said, not even {smallest}{undecided}"
            return f"With a confidence of {sure}, {keep} not even {smallest}"
        more = f"{self.factors[passed - 1]:g} times the stated distributions"
        more += "" if passed < len(self.factors) else ", the largest that was tried"
        return f"With a confidence of {sure}, at least {keep} if made with {ends[passed - 1]}, {more}.{undecided}"

    @property
    def _kept(self) -> str:
        """The metric and its limit, and what the metric leaves out."""
        kept = f"{self.metric} within {self.limit:g} {self.unit}".rstrip(" -")
        without = self.metric.partition(":")[0] == "peak-force"
        return kept + (" (without impacts, which force-over-1ms includes)" if without else "")

    @property
    def _advice(self) -> str:
        """Advice against runs that failed or are not accurate."""
        stepped = not self.reason or self.reason == LOST or self.reason.startswith(SimulationFailed.__name__)
        return SHORTER if stepped else "Mend what made them fail."

    def plain(self) -> dict[str, Any]:
        """Plain data, as `nonsmooth study tolerance --json` prints it."""
        return {
            "metric": self.metric, "limit": self.limit, "coverage": self.coverage, "confidence": self.confidence,
            "largest": self.largest, "factor": float(self.factors[self.passed - 1]) if self.passed else math.nan,
            "statement": self.statement, "factors": self.factors.tolist(), "runs": self.products,
            "share": self.share.tolist(), "share_bound": self.share_bound.tolist(), "bound": self.bound.tolist(),
            "share_bound_best": self.best.tolist(), "bound_best": self.bound_best.tolist(),
            "failed": self.failures_at.tolist(), "reason": self.reason, "level": self.level,
            "yield": dict(zip(("share", "low", "high"), self.yield_at(), strict=True)),
            "yield_statement": self.yield_statement, "not_accurate": self.unsure.sum(axis=1).tolist(),
            "quantiles": [vars(self.quantile(share)) for share in QUANTILES], "bands": dict(self.bands),
            "failures": [one.plain() for one in self.failures],
        }  # fmt: skip

    def _tables(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Over scale and run; the result is an attribute."""
        each = ("factor", "run")
        data: dict[str, Any] = {
            "output": variable(each, self.outputs, self.unit, self.metric),
            "share": variable("factor", self.share, "-", "share of the runs within the limit, of those that ended"),
            "share_bound": variable("factor", self.share_bound, "-", "its lower confidence bound, failed runs beyond"),
            "share_bound_best": variable("factor", self.best, "-", "the same with failed runs within the limit"),
            "failed_runs": variable("factor", self.failures_at, meaning="number of failed runs"),
            "bound": variable("factor", self.bound, self.unit, "upper bound of the output's quantile"),
            **{name: (each, self.inputs[:, :, i]) for i, name in enumerate(self.names)},
            "failed": variable(each, self.failed, meaning="whether the run failed; its output is infinite"),
        }
        if self.doubtful is not None:
            data["not_accurate"] = variable(each, self.doubtful, meaning="whether the run is not accurate")
        if self.coarse is not None:
            data["output_whole_step"] = variable(each, self.coarse, self.unit)
        for key, values in (self.shares.data_vars if self.shares is not None else {}).items():
            data[f"share_{key}"] = ("input", values.values, values.attrs)
        coordinates: dict[str, Any] = {"factor": ("factor", self.factors)}
        for i, name in enumerate(self.scaled):
            coordinates[f"largest_{name}"] = variable("factor", self.widest[:, i], "m")
        if self.shares is not None:
            coordinates["input"] = [str(name) for name in self.shares["input"].values]
        facts = {
            "title": "tolerance study", "limit": self.limit, "coverage": self.coverage, "confidence": self.confidence,
            "distributions": self.how, "result": self.statement, "level": self.level, "yield": self.yield_statement,
            "failures": self.failure_statement, **{f"failure_{one.method}": one.probability for one in self.failures},
        }  # fmt: skip
        return data, coordinates, facts


@telling
def tolerance(
    mechanism: Mechanism, stepper: Stepper | None, metric: str | Callable[[Any], float], *, limit: float | str,
    clearances: Mapping[str, Any] | None = None, others: Mapping[str, Any] | None = None,
    factors: Sequence[float] | Array | None = None, runs: int = 400, coverage: float = 0.95, confidence: float = 0.95,
    seed: int = 0, t_end: float | None = None, dt: float | StepControl | None = None, level: str = "dynamic",
    pose: Mapping[str, Any] | None = None, directions: Mapping[str, Any] | None = None, verdict: bool = False,
    accuracy: float = 0.01, sensitivity: bool = False, failure: Sequence[str] = (),
    parameters: Mapping[str, float] | None = None, arguments: Mapping[str, Any] | None = None,
    output: str | os.PathLike[str] | None = None, executor: Any = None,
    progress: Progress = None,
) -> Tolerance:  # fmt: skip
    """Distribution of an output from those of clearances and dimensions: yield, and the largest clearances within a limit.

    InputError for numbers out of range, an infinite clearance that is scaled, too few runs for a statement, or
    arguments of the other level.

    Parameters
    ----------
    mechanism, stepper, dt, parameters, arguments, executor, progress
        As for `sweep`. The kinematic level takes neither stepper nor step.
    metric
        The output: a name or a function of a trajectory that gives one number. ``"deviation:slider.x"`` is the distance
        of a coordinate, at the end of the run or at the poses, from that of the mechanism without clearance and with
        nominal dimensions; the kinematic level takes this metric only.
    limit : the most that is accepted of it
    clearances
        Distribution of each at scale 1, as for `sample`, a fit, or its text ``"20 H7/g6"``. If neither these nor `others`
        are given: the fits and toleranced dimensions of the model.
    others
        Distributions of parameters that are not scaled: dimensions, friction, restitution, masses; also with units,
        ``"120 ±0.03 mm"``, ``("119 mm", "121 mm")``, or ``"±30 um"`` about the number of the model.
    factors
        Scales s of the clearances, increasing; s times a draw is used. By default 0.1 to 1, and 1 alone for fits.
    runs
        Independent products per scale. If none is beyond the limit, a share of 0.95 with confidence 0.95 requires 59.
    coverage, confidence : p and gamma of the statement, see the module's documentation
    seed
        The same seed gives the same runs.
    t_end : [s]
        End of the runs; at the kinematic level the time at which drivers are evaluated.
    level : "dynamic", or "kinematic": contact without motion, in milliseconds
    pose, directions : at the kinematic level, see `Kinematics`
    verdict
        Whether products that are not accurate count as bounds: with given steps by a second run with half the step,
        with chosen ones by the runs that they are compared with anyway.
    accuracy
        Largest accepted difference of the two runs, as a share of the limit.
    sensitivity : whether shares of the output's variance are computed, see `sensitivity`
    failure : at the kinematic level, methods of `failure_probability`, at the last scale
    output : path, optional, the sweep's dataset, which makes the study resumable
    """  # noqa: E501
    require(is_one(level, LEVELS), f"level must be one of {', '.join(LEVELS)}", level)
    limit = limit_of(mechanism, metric, limit, arguments)
    check_count("runs", runs)
    check_share("coverage", coverage)
    check_share("confidence", confidence)
    require(is_number(accuracy) and accuracy > 0.0, "accuracy must be positive, a share of the limit", accuracy)
    needed = math.ceil(math.log(1.0 - confidence) / math.log(coverage))
    if runs < needed:
        raise InputError(
            f"{runs} runs per scale cannot show a share of {coverage:g} with a confidence of {confidence:g}, even if "
            f"all keep the limit; take {needed} or more."
        )
    if name_of(metric).startswith("deviation:") and not limit > 0.0:
        raise InputError(f"limit of {metric} must be positive, since a deviation is a distance, got {limit:g}.")
    kinematic, arguments = level == "kinematic", mapping("arguments", arguments)
    clearances, others = (
        with_units(mechanism, given, arguments, parameters)
        for given in (mapping("clearances", clearances), mapping("others", others))
    )
    if not clearances and not others:
        found = system_of(mechanism, arguments).toleranced(parameters)
        clearances = {name: one for name, one in found.items() if isinstance(one, Fit)}
        others = {name: one for name, one in found.items() if name not in clearances}
    usual = AS_DRAWN if all(isinstance(one, Scatter) for one in clearances.values()) else FACTORS
    scales = numbers("factors", usual if factors is None else factors)
    if not (len(scales) and np.all(np.diff(scales) > 0) and scales[0] > 0):
        raise InputError(f"factors must be positive numbers that rise, got {scales.tolist()}.")
    if not clearances and not others:
        missing = "the distribution of at least one clearance, or a fit or a toleranced dimension in the model"
        raise InputError(f'A tolerance study needs {missing}, as clearance="20 H7/g6".')
    for name, one in clearances.items():
        if not isinstance(one, Scatter) and hasattr(one, "support") and not np.isfinite(one.support()[1]):
            raise InputError(f'The distribution of "{name}" has no upper end; cut it, as by scipy.stats.truncnorm.')
    products: KinematicLevel | DynamicLevel
    both: dict[str, Any] = {"t_end": t_end, "dt": dt, "verdict": verdict, "parameters": parameters}
    both |= {"arguments": arguments, "output": output}
    if kinematic:
        products = KinematicLevel(mechanism, stepper, metric, pose=pose, directions=directions, **both)
        others = others | products.kinematics.random_directions
    else:
        if pose or directions or failure:
            raise InputError('pose, directions and failure are for the kinematic level; give level="kinematic".')
        runner: dict[str, Any] = {"executor": executor, "progress": progress}
        products = DynamicLevel(mechanism, stepper, metric, limit=limit, accuracy=accuracy, **both, **runner)
    distributions = {**clearances, **others}
    if sensitivity:
        check_sensitivity(distributions)
    names, how = tuple(distributions), words(distributions)
    stretch = np.where(np.arange(len(names)) < len(clearances), scales[:, None], 1.0)
    shares_of = [np.random.default_rng((seed, i)).random((runs, len(names))) for i in range(len(scales))]
    inputs = np.stack([drawn(distributions, share) * row for share, row in zip(shares_of, stretch, strict=True)])
    made = products.outputs(names, inputs.reshape(-1, len(names)), f"tolerance study, seed {seed}: {how}")
    values, verdicts = made.values.reshape(len(scales), runs), list[Any]((made.doubtful, made.coarse))
    doubtful, coarse = (None if one is None else one.reshape(values.shape) for one in verdicts)
    failed = np.isnan(values)
    ends = np.array([one.upper if isinstance(one, Scatter) else float(quantiles(name, one, 1.0))
                     for name, one in clearances.items()])  # fmt: skip
    last = {name: _Scaled(one, scales[-1]) if name in clearances and scales[-1] != 1.0 else one
            for name, one in distributions.items()}  # fmt: skip
    what, known = name_of(metric), partial(products.plain, names)
    sizes = shares(known, last, what, base=BASES[level], seed=seed) if sensitivity else None
    failures, bands = [], {}
    if isinstance(products, KinematicLevel):
        bands = products.kinematics.bands(distributions)
        options: dict[str, Any] = {"two_sided": True, "confidence": confidence, "seed": seed}
        signed = partial(products.kinematics.deviations, names)
        failures = [failure_probability(signed, last, limit, method=method, **options) for method in failure]
    return Tolerance(
        metric=what, unit=made.unit, limit=float(limit), coverage=float(coverage), confidence=float(confidence),
        names=names, scaled=tuple(clearances), factors=scales, widest=scales[:, None] * ends, inputs=inputs,
        outputs=np.where(failed, np.inf, values), how=how, level=level, doubtful=doubtful, coarse=coarse,
        accuracy=float(accuracy), shares=sizes, failures=tuple(failures), bands=bands, failed=failed,
        reason=(made.reason or LOST) if failed.any() and not kinematic else "",
    )  # fmt: skip


def limit_of(mechanism: Mechanism, metric: Any, limit: float | str, arguments: Any) -> float:
    """A limit, of which a text is read in the unit of the metric; InputError for what is no number."""
    if isinstance(limit, str):
        of = metric.replace("deviation:", "final:", 1) if isinstance(metric, str) else metric
        (accepted,) = metrics_of([of], system_of(mechanism, mapping("arguments", arguments)))
        limit = in_si("limit", limit, accepted.unit or "-")
    require(is_number(limit), "limit must be a finite number, in the unit of the metric", limit)
    return float(limit)


def with_units(
    mechanism: Mechanism, given: Mapping[str, Any], arguments: dict[str, Any], parameters: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Distributions by name, of which texts are read in the units of the parameters."""
    if not any(isinstance(part, str) for one in given.values() for part in parts_of(one)):
        return dict(given)
    system, found = system_of(mechanism, arguments), dict[str, Any]()
    known = dict(zip(system.parameters, system.parameter_vector(parameters).tolist(), strict=True))
    for name, one in given.items():
        unit = unit_of_varied(mechanism, system, arguments, name) or "-"
        is_stated = isinstance(one, str) and looks_stated(one)
        number = partial(in_unit, unit=unit)
        found[name] = stated(one, number, known.get(name)) if is_stated else in_si(f'"{name}"', one, unit)
    return found


@dataclass(frozen=True)
class _Scaled:
    one: Any
    factor: float

    def ppf(self, q: Any) -> Array:
        return self.factor * quantiles("", self.one, q)


def share_bound(within: int, runs: int, confidence: float) -> float:
    """Lower bound of Clopper and Pearson of a share, with `within` successes in `runs` trials."""
    from scipy.stats import beta

    return 0.0 if within == 0 else float(beta.ppf(1.0 - confidence, within, runs - within + 1))


def quantile_bound(values: Array, coverage: float, confidence: float) -> float:
    """Upper bound of the `coverage`-quantile: an order statistic, infinite where there are too few values."""
    from scipy.stats import binom

    n = len(values)
    ranks = np.arange(1, n + 1)
    enough = ranks[binom.cdf(ranks - 1, n, coverage) >= confidence]
    return float(np.sort(values)[enough[0] - 1]) if enough.size else math.inf


def passing(bounds: Array, coverage: float) -> int:
    """Number of scales that pass before the first that does not."""
    failed = np.flatnonzero(bounds < coverage)
    return int(failed[0]) if failed.size else len(bounds)
