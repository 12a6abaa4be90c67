"""What drawings state: ISO 286 fits, from which clearances follow, and dimensions with a tolerance."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.exceptions import InputError
from nonsmooth.model import iso286
from nonsmooth.model.iso286 import LOOSE, Limits, check_size, parts_of
from nonsmooth.settings import is_number, require, shown

#: how products scatter: normal with T = 6 sigma; that, cut at the limits; uniform; one half at each limit
DISTRIBUTIONS = ("normal", "truncated", "uniform", "worst")
#: a tolerance T is this many standard deviations of a part
SIGMAS = 6.0


class Scatter(ABC, float):
    """A number, used as such in a model, with the limits and the distribution from which studies draw products."""

    lower: float  #: limit
    upper: float  #: limit
    sd: float  #: standard deviation of the normal distribution, whose mean is in the middle of the limits
    distribution: str  #: "normal", "truncated" (at the limits), "uniform", or "worst" (either limit, equally probable)
    #: for messages
    kind: ClassVar[str] = "dimension"

    @property
    @abstractmethod
    def text(self) -> str:
        """As it is written in files and on the command line."""

    @abstractmethod
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments of which it is made."""

    def __repr__(self) -> str:
        given, named = self.__getnewargs_ex__()
        more = [f"{name}={value!r}" for name, value in named.items() if value not in ("mean", "normal")]
        return f"{type(self).__name__}({', '.join([*map(repr, given), *more])})"

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
            raise InputError(
                f"The distribution of a {self.kind} must be one of {names}, got {shown(self.distribution)}."
            )

    @property
    def words(self) -> str:
        """The distribution in words, for tables."""
        return {
            "normal": f"normal, sd {self.sd:.4g}", "truncated": f"normal, sd {self.sd:.4g}, cut at the limits",
            "uniform": "uniform between the limits", "worst": "at one of the limits",
        }[self.distribution]  # fmt: skip


class Toleranced(Scatter):
    """A dimension ``nominal +- tolerance``: the nominal number, wherever a number is taken.

    InputError for a tolerance that is not positive, or an unknown distribution.

    Parameters
    ----------
    nominal : in SI units
    tolerance : largest deviation, > 0, in the same unit; T is twice as large
    distribution : how products scatter, see `Scatter`

    >>> length = Toleranced(0.12, 3e-5)
    >>> float(length), length.lower, round(length.sd, 12), length.text
    (0.12, 0.11997, 1e-05, '0.12 ±3e-05')
    """

    tolerance: float

    def __new__(cls, nominal: float, tolerance: float, *, distribution: str = "normal") -> "Toleranced":
        for name, value in (("nominal", nominal), ("tolerance", tolerance)):
            require(is_number(value), f"Toleranced: {name} must be a finite number in SI units", value)
        require(tolerance > 0.0, "Toleranced: tolerance must be positive, as Toleranced(0.12, 3e-5)", tolerance)
        made = super().__new__(cls, nominal)
        made.tolerance, made.distribution = float(tolerance), distribution
        made.lower, made.upper = float(nominal) - made.tolerance, float(nominal) + made.tolerance
        made.sd = 2.0 * made.tolerance / SIGMAS
        made.check_distribution()
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (float(self), self.tolerance), {"distribution": self.distribution}

    @property
    def text(self) -> str:
        distribution = "" if self.distribution == "normal" else f" {self.distribution}"
        return f"{float(self)!r} ±{self.tolerance!r}{distribution}"


AT = ("min", "mean", "max")
WORDS = {"min": "least", "mean": "mean", "max": "largest"}
#: relative difference below which a number is taken for a limit that was written with fewer digits
SAME = 1e-6
UM = 1e-6


class Fit(Scatter):
    """The clearance of an ISO 286 fit: a number in metres, wherever a clearance is taken.

    Drawings state the **diametral** clearance, hole less shaft; joints take the **radial** one, half of it, and
    prismatic ones, whose sizes are widths, that on each side, also half of it. The number is this half. InputError for
    an unknown class, a size out of range, a fit that can interfere, or a number that is the diametral clearance or lies
    outside of the limits; each with the nearest that is accepted.

    Parameters
    ----------
    size : [m], nominal diameter, or width; up to 0.5 m
    hole, shaft : tolerance classes, as ``"H7"`` and ``"g6"``
    at : "mean", "min", "max", or a number [m]
        The clearance of the model: of parts at the middle of their tolerances, the least, the largest, or a radial
        clearance between them. Studies draw products from the distribution instead.
    distribution
        How products scatter, see `Scatter`. Normal: hole and shaft are, each with T = 6 sigma, so that
        ``sd = sqrt(T_hole^2 + T_shaft^2) / 12`` of the radial clearance.

    References
    ----------
    ISO 286-1:2010, Geometrical product specifications (GPS), ISO code system for tolerances on linear sizes, Part 1:
    Basis of tolerances, deviations and fits

    >>> fit = Fit(20e-3, "H7", "g6")
    >>> float(fit), fit.lower, fit.upper, fit.text
    (1.2e-05, 3.5e-06, 2.05e-05, '20 H7/g6')
    >>> Fit(20e-3, "H7", "p6")
    Traceback (most recent call last):
    nonsmooth.exceptions.InputError: 20 H7/p6 can interfere by up to 35 um; the nearest that cannot are 20 H7/h6 (0 to 34 um) and 20 H7/g6 (7 to 41 um).
    """  # noqa: E501

    size: float
    hole: str
    shaft: str
    at: str | float
    hole_limits: Limits
    shaft_limits: Limits
    kind = "fit"

    def __new__(
        cls, size: float, hole: str, shaft: str, *, at: str | float = "mean", distribution: str = "normal"
    ) -> "Fit":
        if not is_number(size):
            raise InputError(f'Fit: size must be the nominal diameter in metres, as Fit(20e-3, "H7", "g6"), got {shown(size)}.')  # noqa: E501  # fmt: skip
        for what, name in ((hole, "hole"), (shaft, "shaft")):
            if not isinstance(what, str):
                raise InputError(f'Fit: {name} must be a tolerance class, as "{"H7" if name == "hole" else "g6"}", got {shown(what)}.')  # noqa: E501  # fmt: skip
        nominal = _millimetres(size)
        of_hole, of_shaft = parts_of(hole, "hole"), parts_of(shaft, "shaft")
        check_size(nominal)
        outer, inner = iso286.hole(*of_hole, nominal), iso286.shaft(*of_shaft, nominal)
        least, most = outer.lower - inner.upper, outer.upper - inner.lower
        name = f"{nominal:g} {of_hole[0]}{of_hole[1]}/{of_shaft[0]}{of_shaft[1]}"
        if least < 0.0:
            near = " and ".join(_loose(of_hole, of_shaft, nominal, least))
            raise InputError(f"{name} can interfere by up to {-least:g} um; the nearest that cannot are {near}.")
        values = least / 2 * UM, (least + most) / 4 * UM, most / 2 * UM
        # without round-off and -0
        clearances = {key: float(f"{x:.12g}") + 0.0 for key, x in zip(AT, values, strict=True)}
        word = isinstance(at, str) and at in AT
        require(word or is_number(at), f'{name}: at must be "min", "mean", "max" or a radial clearance in metres', at)
        made = super().__new__(cls, clearances[at] if isinstance(at, str) else float(at))
        made.size, made.at, made.distribution = nominal * 1e-3, at, distribution
        made.hole, made.shaft = "{}{}".format(*of_hole), "{}{}".format(*of_shaft)
        made.hole_limits, made.shaft_limits = outer, inner
        made.lower, made.upper = clearances["min"], clearances["max"]
        made.sd = math.hypot(outer.upper - outer.lower, inner.upper - inner.lower) / SIGMAS / 2 * UM
        if not word:
            made.check_beside(made)
            if not made.lower * (1 - SAME) <= made <= made.upper * (1 + SAME):
                raise InputError(
                    f"{name} has radial clearances from {made.lower / UM:g} to {made.upper / UM:g} um, not "
                    f'{float(made) / UM:.6g} um; the nearest is "{"min" if made < made.lower else "max"}".'
                )
        made.check_distribution()
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.size, self.hole, self.shaft), {"at": self.at, "distribution": self.distribution}

    @property
    def diametral(self) -> tuple[float, float]:
        """Least and largest diametral clearance [m]."""
        return float(f"{2 * self.lower:.12g}"), float(f"{2 * self.upper:.12g}")

    @property
    def text(self) -> str:
        parts = [f"{_millimetres(self.size):g} {self.hole}/{self.shaft}"]
        parts += [] if self.at == "mean" else [self.at if isinstance(self.at, str) else repr(self.at)]
        return " ".join(parts + ([] if self.distribution == "normal" else [self.distribution]))

    def check_beside(self, value: float) -> None:
        """Raise InputError for a number, given in place of the fit, that is its diametral clearance."""
        name = f"{_millimetres(self.size):g} {self.hole}/{self.shaft}"
        for key, radial in zip(AT, (self.lower, self.middle, self.upper), strict=True):
            if radial and math.isclose(value, 2 * radial, rel_tol=SAME):
                raise InputError(
                    f"{float(value):g} m is the {WORDS[key]} diametral clearance of {name}, but joints take the radial "
                    f'one: give {radial:g} m, or the fit alone, as "{name}{"" if key == "mean" else f" {key}"}".'
                )


def _millimetres(size: float) -> float:
    """A size in mm, without the round-off of its conversion."""
    return float(f"{size * 1e3:.12g}")


def _loose(of_hole: tuple[str, int], of_shaft: tuple[str, int], nominal: float, least: float) -> list[str]:
    """The two nearest fits without interference, of the same grades: with another shaft, or, on a basic shaft, hole."""
    basic_shaft = of_shaft[0] == "h"
    found = []
    for letter in LOOSE:
        changed = ((letter.upper(), of_hole[1]), of_shaft) if basic_shaft else (of_hole, (letter, of_shaft[1]))
        try:
            outer, inner = iso286.hole(*changed[0], nominal), iso286.shaft(*changed[1], nominal)
        except InputError:  # a and b of small sizes are not defined
            continue
        low = outer.lower - inner.upper + 0.0
        if low >= 0.0:
            (a, i), (b, j) = changed
            found.append((low - least, f"{nominal:g} {a}{i}/{b}{j} ({low:g} to {outer.upper - inner.lower:g} um)"))
    if not found:  # a hole such as R7 interferes with every shaft
        return _loose(("H", of_hole[1]), of_shaft, nominal, least)
    return [text for _, text in sorted(found)[:2]]


NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
#: two words of letters and a grade, with a slash between
CLASSES = re.compile(r"([A-Za-z]{1,3}\s*\d+)\s*/\s*([A-Za-z]{1,3}\s*\d+)")
SIGN = re.compile(r"±|\+/-|\+-")


def looks_stated(text: str) -> bool:
    """Whether a text is meant as a fit or as a toleranced dimension."""
    return CLASSES.search(text) is not None or SIGN.search(text) is not None


def stated(text: str, number: Callable[[str], float] | None = None, known: float | None = None) -> Fit | Toleranced:
    """The fit or the toleranced dimension that a text states; InputError for another one. ``"20 H7/g6 max uniform"``
    has a size in mm, and may name a limit or a radial clearance [m] and a distribution; ``"0.12 ±3e-5 uniform"`` is in
    SI units, or with units, ``"120 ±0.03 mm"``, where `number` reads texts such as ``"120 mm"``; ``"±0.03 mm"`` is
    that of a `known` number."""
    found = CLASSES.search(text)
    if found is not None and not SIGN.search(text[: found.start()]):
        return _fit(text, found)
    parts = SIGN.split(text)
    if len(parts) != 2:
        raise InputError(f'"{text}" is no fit and no toleranced dimension; write "20 H7/g6" or "0.12 ±3e-5".')
    nominal, rest = parts[0].strip(), parts[1].strip()
    words = rest.split()
    distribution = words.pop() if words and words[-1] in DISTRIBUTIONS else "normal"
    tolerance = " ".join(words)
    try:
        if not nominal and known is not None:
            values = known, float(tolerance) if number is None or re.fullmatch(NUMBER, tolerance) else number(tolerance)
        elif number is None or re.fullmatch(NUMBER, tolerance):
            values = float(nominal), float(tolerance)
        else:
            unit = tolerance.lstrip("0123456789.eE+-").strip() if re.fullmatch(NUMBER, nominal) else ""
            values = number(f"{nominal} {unit}".strip()), number(tolerance)
    except ValueError:
        also = "" if number is None else ', or with a unit, as "120 ±0.03 mm"'
        raise InputError(
            f'"{text}" is no toleranced dimension; write the nominal number and its tolerance in SI units, as '
            f'"0.12 ±3e-5"{also}.'
        ) from None
    return Toleranced(*values, distribution=distribution)


def _fit(text: str, found: re.Match[str]) -> Fit:
    size = text[: found.start()].strip().removeprefix("Ø").removeprefix("⌀").removesuffix("mm").strip()
    fit = f"{found[1]}/{found[2]}"
    if not size:
        raise InputError(
            f'"{text.strip()}" has no size; write the nominal diameter in mm before the fit, as "20 {fit}".'
        )
    if not re.fullmatch(NUMBER, size):
        raise InputError(f'"{text.strip()}": the size must be a number of millimetres, as "20 {fit}", got {size!r}.')
    at: str | float = "mean"
    distribution = "normal"
    for word in text[found.end() :].split():
        if word in AT:
            at = word
        elif word in DISTRIBUTIONS:
            distribution = word
        elif re.fullmatch(NUMBER, word):
            at = float(word)
        else:
            allowed = ", ".join((*AT, *DISTRIBUTIONS))
            raise InputError(
                f'"{text.strip()}": after a fit come {allowed} or a radial clearance in metres, got {word!r}.'
            )
    return Fit(
        float(size) * 1e-3, found[1].replace(" ", ""), found[2].replace(" ", ""), at=at, distribution=distribution
    )
