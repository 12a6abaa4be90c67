"""Estimates of means, quantiles and return levels from independent members, with their intervals.

The transient lasts until the members have separated, and their mean is stationary by MSER; what is left of each member
is one independent sample. Intervals are Student's, by the jackknife that leaves out one member at a time.

White, K. P. (1997), An effective truncation heuristic for bias reduction in simulation output, Simulation 69, 323-334;
Schmeiser, B. (1982), Batch size effects in the analysis of simulation output, Operations Research 30, 556-568;
Coles, S. (2001), An introduction to statistical modeling of extreme values, Springer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.studies.statistics.measures import Measure
from nonsmooth.studies.statistics.members import Windows

#: confidence of intervals
CONFIDENCE = 0.95
#: standard errors by which the beginning of a run differs where it is a transient
DIFFERENT = 3.0
#: share of the first error of a mean, of which a later one is round-off
ROUND_OFF = 1e-9
#: blocks of which the largest values are fitted, at least and at most
LEAST_BLOCKS, BLOCKS = 20, 400
#: batches of each member
BATCHES = 16
#: spread of members, as a share of their scatter in time or of their mean, below which they move alike
ALIKE, EQUAL = 1e-2, 1e-6
#: windows after which a motion may repeat itself
PERIODS = 64


def stated(value: float, half: float) -> str:
    """A value with half the width of its interval, to two digits of this: ``38.5 ± 4.2``."""
    if not (half > 0.0 and 1e-3 <= abs(value) < 1e6):
        return f"{value:.4g} ± {half:.2g}"
    digits = 1 - math.floor(math.log10(half))
    return " ± ".join(f"{round(one, digits):.{max(digits, 0)}f}" for one in (value, half))


def truncation(x: Array) -> int:
    """Rows (n,) that are left out for the least error of the mean of the others, if they differ from these: more than
    half of them only if it is by twice as much."""
    n = len(x)
    if n < 8:
        return 0
    left = np.arange(n, 0, -1)
    sums, squares = (np.cumsum(y[::-1])[::-1] for y in (x - x.mean(), (x - x.mean()) ** 2))
    errors = (squares - sums**2 / left) / left**2
    errors = np.where(errors > ROUND_OFF * errors[0], errors, 0.0)
    for most, by in ((3 * n // 4, 2.0 * DIFFERENT), (n // 2, DIFFERENT)):
        d = int(np.argmin(errors[:most]))
        rest = x[d:]
        own = float(np.std(x)) * math.sqrt(len(rest) / effective(rest)) * math.sqrt(1 / max(d, 1) + 1 / len(rest))
        if d and abs(float(x[:d].mean() - rest.mean())) > by * own:
            return d
    return 0


def effective(x: Array) -> float:
    """The number of independent values that have the same error of the mean, by means of batches."""
    n = len(x)
    if n < 2 * BATCHES or not np.ptp(x):
        return float(n)
    length = n // BATCHES
    means = x[n - BATCHES * length :].reshape(BATCHES, length).mean(axis=1)
    ratio = length * float(np.var(means, ddof=1)) / float(np.var(x, ddof=1))
    return n / max(ratio, 1.0)


def transient(values: Array, separating: bool) -> list[int]:
    """Rows of members (members, n, columns) until each column is stationary and, if they are `separating`, the members
    have separated: more than half of the rows for a column that has not."""
    found = []
    for column in np.moveaxis(values, 2, 0):
        mean = column.mean(axis=0)
        n, rows = len(mean), truncation(mean)
        if separating:
            # until the spread is as large as in nine of ten of the last half of the rows, and as many again as it took
            # from a twentieth of this, in which what members still share is forgotten
            spread = np.abs(column - mean).mean(axis=0)
            last = float(np.quantile(spread[n // 2 :], 0.1))
            reached, little = (int(np.argmax(spread >= share * last)) for share in (1.0, 0.05))
            rows = max(rows, 2 * reached - little)
        if n >= 16:  # a mean that goes on in one direction in its last quarter as well is not stationary
            quarters = np.array_split(mean, 4)
            moved = np.diff([part.mean() for part in quarters])
            one_way = bool(np.all(moved > 0) or np.all(moved < 0))
            if one_way and abs(moved[2]) > max(2.0 * float(quarters[3].std()), EQUAL * float(np.abs(mean).max())):
                rows = n
        found.append(rows)
    return found


@dataclass(frozen=True, eq=False)
class Sample:
    """Members of one ensemble after the transient: windows (members, 4, rows, columns) of `size` each."""

    values: Array
    size: int
    dropped: int

    @classmethod
    def of(cls, members: Sequence[Windows], dropped: int) -> Sample:
        """Without the first `dropped` rows."""
        return cls(np.stack([one.values[:, dropped:] for one in members]), members[0].size, dropped)

    @property
    def series(self) -> Array:
        """Means (members, rows, columns)."""
        return self.values[:, 0]

    @property
    def alike(self) -> bool:
        """Whether members still move alike: the motion is predictable until the end."""
        last = self.series[:, -max(1, self.series.shape[1] // 4) :]
        spread = last.std(axis=0).mean(axis=0)
        scatter, mean = self.series.std(axis=(0, 1)), np.abs(self.series).mean(axis=(0, 1))
        return bool(np.all((spread <= ALIKE * scatter) | (spread <= EQUAL * mean)))

    @cached_property
    def repeats(self) -> int:
        """Windows after which the motion of each member repeats itself, 0 if it does not."""
        last = self.series[:, -2 * PERIODS :]
        scale = np.abs(last).max(axis=(0, 1)) + 1e-300
        for k in range(1, last.shape[1] // 2 + 1):
            if np.all(np.abs(last[:, k:] - last[:, :-k]) <= 10 * EQUAL * scale):
                return k
        return 0

    @property
    def several(self) -> bool:
        """Whether the members repeat themselves, but not all the same motion."""
        means = self.series[:, -(self.repeats or 1) :].mean(axis=1)
        return bool(self.repeats and np.any(np.ptp(means, axis=0) > 100 * EQUAL * np.abs(means).max(axis=0)))


@dataclass(frozen=True, eq=False)
class Part:
    """An estimate of one measure: standard error over members, with degrees of freedom; number of independent windows;
    and the error of a motion that is predictable."""

    value: float
    error: float
    free: int
    effective: float
    predictable: float = 0.0

    @property
    def half(self) -> float:
        """Half the width of its interval."""
        from scipy.stats import t

        return self.predictable + float(t.ppf((1 + CONFIDENCE) / 2, self.free)) * self.error


def estimates(measures: Sequence[Measure], samples: Sequence[Sample]) -> list[Part]:
    """Estimates of measures from the members of one ensemble or several."""
    members = [one for sample in samples for one in sample.values]
    size, found, column = samples[0].size, [], 0
    for measure in measures:
        own = [one[:, :, column] for one in members]
        over = [one[0, :, column + 1] for one in members] if measure.over is not None else None
        column += 1 + (over is not None)
        whole = _statistic(measure, own, over, size)
        left_out = [
            _statistic(measure, own[:i] + own[i + 1 :], None if over is None else over[:i] + over[i + 1 :], size)
            for i in range(len(own))
        ]
        n = len(own)
        pseudo = n * whole - (n - 1) * np.array(left_out)
        error = float(np.std(pseudo, ddof=1)) / math.sqrt(n)
        total = sum(len(x[0]) for x in own) * size
        scatter = float(np.mean([np.mean(x[1]) - np.mean(x[0]) ** 2 for x in own]))
        known = error > 0 and scatter > 0 and measure.statistic == "mean"
        independent = min(scatter / error**2, total) if known else total
        found.append(Part(float(whole), error, n - 1, float(independent)))
    return found


def _statistic(measure: Measure, own: Sequence[Array], over: Sequence[Array] | None, size: int) -> float:
    """The statistic of a measure of the windows (4, rows) of members, each with as many."""
    if measure.statistic == "mean":
        mean = float(np.mean([x[0].mean() for x in own]))
        return mean if over is None else mean / float(np.mean([x.mean() for x in over]))
    if measure.statistic == "sd":
        first, second = (np.mean([x[i].mean() for x in own]) for i in (0, 1))
        return math.sqrt(max(float(second - first**2), 0.0))
    if measure.statistic == "quantile":
        return float(np.quantile(np.concatenate([x[3] for x in own]), measure.level))
    return return_level(np.stack([x[2] for x in own]), measure.level / size)


def return_level(largest: Array, rows: float) -> float:
    """The level that is exceeded once in so many rows on average, of largest values (members, n), by the generalised
    extreme-value distribution of the largest of blocks of rows, of greatest likelihood."""
    from scipy.stats import genextreme

    members, n = largest.shape
    length = max(1, min(members * n // LEAST_BLOCKS, n // 2, -(-members * n // BLOCKS)))
    blocks = largest[:, : n // length * length].reshape(members, -1, length).max(axis=2).ravel()
    spread = float(blocks.std())
    if not spread > EQUAL * abs(float(blocks.mean())):
        return float(blocks.max())
    begin = {"loc": float(blocks.mean()) - 0.45 * spread, "scale": 0.78 * spread}  # of Gumbel's distribution
    fitted = genextreme.fit(blocks, 0.0, **begin)
    return float(genextreme.ppf((1 - 1 / rows) ** length, *fitted))
