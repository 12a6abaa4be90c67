"""Scatter of an output due to tolerances of parts, and the largest admissible clearance.

The statement about a scale s of the clearances' distributions is: with a confidence gamma, the output is within its
limit for at least a fraction p of all mechanisms. Let k of n independent runs be within the limit. The fraction is then
at least the bound of Clopper and Pearson, the 1 - gamma quantile of a beta distribution with k and n - k + 1; exact for
every n and every distribution. Equivalent is the order statistic whose rank r is the least with P(Binomial(n, p) < r)
>= gamma: it exceeds the p-quantile of the output with confidence gamma. Scales are tested in a fixed order, from the
smallest, each with its own runs, up to the first that fails. The confidence therefore applies to the largest accepted
scale, without a correction for the number of scales.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.settings import is_number, shown
from nonsmooth.step_control import StepControl
from nonsmooth.studies.arguments import check_count, mapping, numbers
from nonsmooth.studies.designs import Design, described, quantiles
from nonsmooth.studies.files import save_dataset
from nonsmooth.studies.sweep import Mechanism, sweep

if TYPE_CHECKING:
    import xarray

    from nonsmooth.steppers.base import Stepper

__all__ = ["Tolerance", "draws", "passing", "quantile_bound", "share_bound", "tolerance"]

#: default scales
FACTORS = tuple(round(0.1 * i, 1) for i in range(1, 11))


@dataclass(frozen=True, eq=False)
class Tolerance:
    """Result of `tolerance`.

    Parameters
    ----------
    metric, unit
        Of the output.
    limit
        Largest accepted output.
    coverage, confidence
        p and gamma [-].
    names
        Inputs: scaled clearances, then others (m,).
    scaled
        The names of the clearances.
    factors
        Scales, rising (k,).
    widest
        Upper end of each clearance at each scale [m] (k, clearances).
    inputs, outputs
        Of each run (k, n, m) and (k, n); infinite for a failed run, which counts as beyond the limit.
    share, share_bound
        Runs within the limit, and its lower bound with confidence, at each scale (k,) [-].
    bound
        Upper bound of the output's p-quantile with confidence (k,); infinite if there are too few runs.
    passed
        Number of accepted scales, from the smallest.
    how
        The distributions, in words.
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
    share: Array
    share_bound: Array
    bound: Array
    passed: int
    how: str

    @property
    def largest(self) -> dict[str, float]:
        """Largest admissible value of each clearance; NaN if even the smallest scale is not accepted."""
        values = self.widest[self.passed - 1] if self.passed else np.full(len(self.scaled), math.nan)
        return dict(zip(self.scaled, values.tolist(), strict=True))

    @property
    def statement(self) -> str:
        """The result in a sentence."""
        what = f"{self.metric} within {self.limit:g} {self.unit}".rstrip(" -")
        sure, share = f"{100 * self.confidence:g} %", f"{100 * self.coverage:g} %"
        if not self.passed:
            return (
                f"With a confidence of {sure}, {share} of the mechanisms keep {what} not even at the smallest scale, "
                f"{self.factors[0]:g}."
            )
        sizes = ", ".join(f"{name} up to {value:.4g} m" for name, value in self.largest.items())
        more = f", {self.factors[self.passed - 1]:g} times the stated distributions"
        more += "" if self.passed < len(self.factors) else ", the largest that was tried"
        return (
            f"With a confidence of {sure}, at least {share} of the mechanisms keep {what} if made with {sizes}{more}."
        )

    def plain(self) -> dict[str, Any]:
        """As `nonsmooth study tolerance --json` prints it."""
        return {
            "metric": self.metric, "limit": self.limit, "coverage": self.coverage, "confidence": self.confidence,
            "largest": self.largest, "factor": float(self.factors[self.passed - 1]) if self.passed else math.nan,
            "statement": self.statement, "factors": self.factors.tolist(), "runs": int(self.outputs.shape[1]),
            "share": self.share.tolist(), "share_bound": self.share_bound.tolist(), "bound": self.bound.tolist(),
            "failed": np.isinf(self.outputs).sum(axis=1).tolist(),
        }  # fmt: skip

    def to_dataset(self) -> xarray.Dataset:
        """As an `xarray.Dataset` over scale and run; the result is an attribute."""
        import xarray

        data: dict[str, Any] = {
            "output": (("factor", "run"), self.outputs, {"units": self.unit, "long_name": self.metric}),
            "share": ("factor", self.share, {"units": "-", "long_name": "share of the runs within the limit"}),
            "share_bound": ("factor", self.share_bound, {"units": "-", "long_name": "its lower confidence bound"}),
            "bound": ("factor", self.bound, {"units": self.unit, "long_name": "upper bound of the output's quantile"}),
        }
        data |= {name: (("factor", "run"), self.inputs[:, :, i]) for i, name in enumerate(self.names)}
        widest = {
            f"largest_{name}": ("factor", self.widest[:, i], {"units": "m"}) for i, name in enumerate(self.scaled)
        }
        facts = {
            "title": "tolerance study", "limit": self.limit, "coverage": self.coverage, "confidence": self.confidence,
            "distributions": self.how, "result": self.statement,
        }  # fmt: skip
        return xarray.Dataset(data, {"factor": ("factor", self.factors), **widest}, facts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the dataset as NetCDF.

        Raises
        ------
        InputError
            If the path cannot be written.
        """
        save_dataset(self.to_dataset(), path)


def tolerance(
    mechanism: Mechanism,
    stepper: Stepper | None,
    metric: str | Callable[[Any], float],
    *,
    limit: float,
    clearances: Mapping[str, Any],
    others: Mapping[str, Any] | None = None,
    factors: Sequence[float] | Array = FACTORS,
    runs: int = 400,
    coverage: float = 0.95,
    confidence: float = 0.95,
    seed: int = 0,
    t_end: float,
    dt: float | StepControl | None = None,
    parameters: Mapping[str, float] | None = None,
    arguments: Mapping[str, Any] | None = None,
    output: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Tolerance:
    """Distribution of an output from those of clearances, and the largest clearances for which it is within a limit.

    Parameters
    ----------
    mechanism, stepper, t_end, dt, parameters, arguments, workers, scheduler, progress
        As for `sweep`.
    metric
        The output: a name or a function of a trajectory that gives one number.
    limit
        The most that is accepted of it.
    clearances
        Distribution of each at scale 1, as for `sample`, with a finite upper end.
    others
        Distributions of parameters that are not scaled: friction, restitution, masses.
    factors
        Scales s of the clearances, increasing; s times a draw is used.
    runs
        Independent runs per scale. If none is beyond the limit, a share of 0.95 with confidence 0.95 requires 59.
    coverage, confidence
        p and gamma of the statement, see the module's documentation.
    seed
        The same seed gives the same runs.
    output : path, optional
        The sweep's dataset, which makes the study resumable.

    Raises
    ------
    InputError
        For numbers out of range, an infinite clearance, or too few runs for a statement.
    """
    factors = numbers("factors", factors)
    others, clearances = mapping("others", others), mapping("clearances", clearances)
    if not is_number(limit):
        raise InputError(f"limit must be a finite number, in the unit of the metric, got {shown(limit)}.")
    check_count("runs", runs)
    if not (len(factors) and np.all(np.diff(factors) > 0) and factors[0] > 0):
        raise InputError(f"factors must be positive numbers that rise, got {factors.tolist()}.")
    for name, value in (("coverage", coverage), ("confidence", confidence)):
        if not (is_number(value) and 0.0 < value < 1.0):
            raise InputError(f"{name} must lie between 0 and 1, got {value!r}.")
    if not clearances:
        raise InputError("A tolerance study needs the distribution of at least one clearance.")
    needed = math.ceil(math.log(1.0 - confidence) / math.log(coverage))
    if runs < needed:
        raise InputError(
            f"{runs} runs per scale cannot show a share of {coverage:g} with a confidence of {confidence:g}, even if "
            f"all keep the limit; take {needed} or more."
        )
    ends = np.array([float(quantiles(name, one, 1.0)) for name, one in clearances.items()])
    for name, one in clearances.items():
        if hasattr(one, "support") and not np.isfinite(one.support()[1]):
            raise InputError(f'The distribution of "{name}" has no upper end; cut it, as by scipy.stats.truncnorm.')
    names = (*clearances, *others)
    inputs = np.stack([
        draws({**clearances, **others}, runs, (seed, i)) * np.array([s] * len(clearances) + [1.0] * len(others))
        for i, s in enumerate(factors)
    ])  # fmt: skip
    how = ", ".join(f"{name} {described(one)}" for name, one in {**clearances, **others}.items())
    design = Design(names, inputs.reshape(-1, len(names)), (), f"tolerance study, seed {seed}: {how}")
    found = sweep(
        mechanism, stepper, design, t_end=t_end, dt=dt, metrics={"output": metric}, parameters=parameters,
        arguments=arguments, output=output, workers=workers, scheduler=scheduler, progress=progress,
    )  # fmt: skip
    if "output" not in found or found["output"].ndim != 1:
        messages = sorted(set(found["message"].values))
        raise InputError(f"The metric gives no number, or every run failed: {messages[-1] or metric!r}")
    values = np.where(np.isnan(found["output"].values), np.inf, found["output"].values).reshape(len(factors), runs)
    within = (values <= limit).sum(axis=1)
    bounds = np.array([share_bound(int(k), runs, confidence) for k in within])
    return Tolerance(
        metric=metric if isinstance(metric, str) else getattr(metric, "__name__", "output"),
        unit=str(found["output"].attrs.get("units", "")),
        limit=float(limit),
        coverage=float(coverage),
        confidence=float(confidence),
        names=names,
        scaled=tuple(clearances),
        factors=factors,
        widest=factors[:, None] * ends,
        inputs=inputs,
        outputs=values,
        share=within / runs,
        share_bound=bounds,
        bound=np.array([quantile_bound(row, coverage, confidence) for row in values]),
        passed=passing(bounds, coverage),
        how=how,
    )


def draws(distributions: Mapping[str, Any], n: int, seed: Any) -> Array:
    """`n` independent draws of each distribution (n, len(distributions))."""
    shares = np.random.default_rng(seed).random((n, len(distributions)))
    columns = [quantiles(name, one, shares[:, i]) for i, (name, one) in enumerate(distributions.items())]
    return np.array(columns).reshape(len(columns), n).T


def share_bound(within: int, runs: int, confidence: float) -> float:
    """Lower bound of Clopper and Pearson of a share, with `within` successes in `runs` trials.

    >>> round(share_bound(59, 59, 0.95), 4), share_bound(0, 59, 0.95)
    (0.9505, 0.0)
    """
    from scipy.stats import beta

    return 0.0 if within == 0 else float(beta.ppf(1.0 - confidence, within, runs - within + 1))


def quantile_bound(values: Array, coverage: float, confidence: float) -> float:
    """Upper bound of the `coverage`-quantile: an order statistic, infinite where there are too few values.

    >>> quantile_bound(np.arange(59.0), 0.95, 0.95), quantile_bound(np.arange(58.0), 0.95, 0.95)
    (58.0, inf)
    """
    from scipy.stats import binom

    n = len(values)
    ranks = np.arange(1, n + 1)
    enough = ranks[binom.cdf(ranks - 1, n, coverage) >= confidence]
    return float(np.sort(values)[enough[0] - 1]) if enough.size else math.inf


def passing(bounds: Array, coverage: float) -> int:
    """Number of scales that pass before the first that does not.

    >>> passing(np.array([0.99, 0.97, 0.90, 0.96]), 0.95)
    2
    """
    failed = np.flatnonzero(bounds < coverage)
    return int(failed[0]) if failed.size else len(bounds)
