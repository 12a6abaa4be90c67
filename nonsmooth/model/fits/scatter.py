"""Numbers that scatter between limits from product to product."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.exceptions import InputError

__all__ = ["DISTRIBUTIONS", "SIGMAS", "Scatter"]

#: how products scatter: normal with T = 6 sigma; that, cut at the limits; uniform; one half at each limit
DISTRIBUTIONS = ("normal", "truncated", "uniform", "worst")
#: a tolerance T is this many standard deviations of a part
SIGMAS = 6.0


class Scatter(ABC, float):
    """A number, used as such in a model, with the limits and the distribution from which studies draw products.

    Attributes
    ----------
    lower, upper
        Limits.
    sd
        Standard deviation of the normal distribution, whose mean is in the middle of the limits.
    distribution
        One of "normal", "truncated" (at the limits), "uniform", and "worst" (either limit, with equal probability).
    """

    lower: float
    upper: float
    sd: float
    distribution: str
    #: for messages
    kind: ClassVar[str] = "dimension"

    @property
    @abstractmethod
    def text(self) -> str:
        """As it is written in files and on the command line."""

    @property
    def middle(self) -> float:
        """Mean of the distribution."""
        return (self.lower + self.upper) / 2

    def ppf(self, q: Any) -> NDArray[np.float64]:
        """Quantiles at shares between 0 and 1, as the frozen distributions of `scipy.stats` have."""
        from scipy.stats import norm

        share = np.asarray(q, dtype=float)
        if self.distribution == "uniform":
            return np.asarray(self.lower + share * (self.upper - self.lower))
        if self.distribution == "worst":
            return np.where(share < 0.5, self.lower, self.upper)
        if self.distribution == "truncated":
            below, above = norm.cdf([self.lower, self.upper], self.middle, self.sd)
            share = below + share * (above - below)
        return np.asarray(norm.ppf(share, self.middle, self.sd))

    def support(self) -> tuple[float, float]:
        """Least and largest value of a product; infinite for the normal distribution."""
        return (-math.inf, math.inf) if self.distribution == "normal" else (self.lower, self.upper)

    def check_distribution(self) -> None:
        """Raise InputError for an unknown distribution."""
        if self.distribution not in DISTRIBUTIONS:
            names = ", ".join(DISTRIBUTIONS)
            raise InputError(f"The distribution of a {self.kind} must be one of {names}, got {self.distribution!r}.")

    @property
    def words(self) -> str:
        """The distribution in words, for tables."""
        return {
            "normal": f"normal, sd {self.sd:.4g}", "truncated": f"normal, sd {self.sd:.4g}, cut at the limits",
            "uniform": "uniform between the limits", "worst": "at one of the limits",
        }[self.distribution]  # fmt: skip
