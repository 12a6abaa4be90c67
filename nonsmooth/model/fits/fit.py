"""Clearances from the fits of drawings."""

from __future__ import annotations

import math
from typing import Any

from nonsmooth.exceptions import InputError
from nonsmooth.model.fits.iso286 import LOOSE, Limits, check_size, hole, parts_of, shaft
from nonsmooth.model.fits.scatter import SIGMAS, Scatter
from nonsmooth.settings import is_number, shown

__all__ = ["Fit"]

AT = ("min", "mean", "max")
WORDS = {"min": "least", "mean": "mean", "max": "largest"}
#: relative difference below which a number is taken for a limit that was written with fewer digits
SAME = 1e-6
UM = 1e-6


class Fit(Scatter):
    """The clearance of an ISO 286 fit: a number in metres, wherever a clearance is taken.

    Drawings state the **diametral** clearance, hole less shaft; joints take the **radial** one, half of it, and
    prismatic ones, whose sizes are widths, that on each side, also half of it. The number is this half.

    Parameters
    ----------
    size : [m]
        Nominal diameter, or width; up to 0.5 m.
    hole, shaft
        Tolerance classes, as ``"H7"`` and ``"g6"``.
    at : "mean", "min", "max", or a number [m]
        The clearance of the model: of parts at the middle of their tolerances, the least, the largest, or a radial
        clearance between them. Studies draw products from the distribution instead.
    distribution
        How products scatter, see `Scatter`. Normal: hole and shaft are, each with T = 6 sigma, so that
        ``sd = sqrt(T_hole^2 + T_shaft^2) / 12`` of the radial clearance.

    Raises
    ------
    InputError
        For an unknown class, a size out of range, a fit that can interfere, or a number that is the diametral clearance
        or lies outside of the limits; each with the nearest that is accepted.

    References
    ----------
    ISO 286-1:2010, Geometrical product specifications (GPS), ISO code system for tolerances on linear sizes, Part 1:
    Basis of tolerances, deviations and fits

    Examples
    --------
    >>> fit = Fit(20e-3, "H7", "g6")
    >>> float(fit), fit.lower, fit.upper
    (1.2e-05, 3.5e-06, 2.05e-05)
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
    ) -> Fit:
        if not is_number(size):
            raise InputError(f'Fit: size must be the nominal diameter in metres, as Fit(20e-3, "H7", "g6"), got {shown(size)}.')  # noqa: E501  # fmt: skip
        for what, name in ((hole, "hole"), (shaft, "shaft")):
            if not isinstance(what, str):
                raise InputError(f'Fit: {name} must be a tolerance class, as "{"H7" if name == "hole" else "g6"}", got {shown(what)}.')  # noqa: E501  # fmt: skip
        nominal = _millimetres(size)
        of_hole, of_shaft = parts_of(hole, "hole"), parts_of(shaft, "shaft")
        check_size(nominal)
        outer, inner = _limits(of_hole, of_shaft, nominal)
        least, most = outer.lower - inner.upper, outer.upper - inner.lower
        name = f"{nominal:g} {of_hole[0]}{of_hole[1]}/{of_shaft[0]}{of_shaft[1]}"
        if least < 0.0:
            near = " and ".join(_loose(of_hole, of_shaft, nominal, least))
            raise InputError(f"{name} can interfere by up to {-least:g} um; the nearest that cannot are {near}.")
        clearances = dict(zip(AT, (least / 2 * UM, (least + most) / 4 * UM, most / 2 * UM), strict=True))
        clearances = {
            key: float(f"{value:.12g}") + 0.0 for key, value in clearances.items()
        }  # without round-off and -0
        made = super().__new__(
            cls, clearances[at] if isinstance(at, str) and at in AT else _beside(name, at, clearances)
        )
        made.size, made.at, made.distribution = nominal * 1e-3, at, distribution
        made.hole, made.shaft = "{}{}".format(*of_hole), "{}{}".format(*of_shaft)
        made.hole_limits, made.shaft_limits = outer, inner
        made.lower, made.upper = clearances["min"], clearances["max"]
        made.sd = math.hypot(outer.upper - outer.lower, inner.upper - inner.lower) / SIGMAS / 2 * UM
        made.check_distribution()
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.size, self.hole, self.shaft, self.at, self.distribution)

    def __repr__(self) -> str:
        more = "" if self.at == "mean" else f", at={self.at!r}"
        more += "" if self.distribution == "normal" else f", distribution={self.distribution!r}"
        return f"Fit({self.size!r}, {self.hole!r}, {self.shaft!r}{more})"

    @property
    def diametral(self) -> tuple[float, float]:
        """Least and largest diametral clearance [m]."""
        return float(f"{2 * self.lower:.12g}"), float(f"{2 * self.upper:.12g}")

    @property
    def text(self) -> str:
        """As it is written in files and on the command line.

        >>> Fit(20e-3, "H7", "g6", at="max").text
        '20 H7/g6 max'
        """
        parts = [f"{_millimetres(self.size):g} {self.hole}/{self.shaft}"]
        parts += [] if self.at == "mean" else [self.at if isinstance(self.at, str) else repr(self.at)]
        return " ".join(parts + ([] if self.distribution == "normal" else [self.distribution]))

    def check_beside(self, value: float) -> None:
        """Raise InputError for a number, given in place of the fit, that is its diametral clearance."""
        clearances = dict(zip(AT, (self.lower, self.middle, self.upper), strict=True))
        _check_diametral(f"{_millimetres(self.size):g} {self.hole}/{self.shaft}", float(value), clearances)


def _made(size: float, hole: str, shaft: str, at: str | float, distribution: str) -> Fit:
    """What pickles and copies are made with."""
    return Fit(size, hole, shaft, at=at, distribution=distribution)


def _millimetres(size: float) -> float:
    """A size in mm, without the round-off of its conversion."""
    return float(f"{size * 1e3:.12g}")


def _limits(of_hole: tuple[str, int], of_shaft: tuple[str, int], nominal: float) -> tuple[Limits, Limits]:
    return hole(*of_hole, nominal), shaft(*of_shaft, nominal)


def _loose(of_hole: tuple[str, int], of_shaft: tuple[str, int], nominal: float, least: float) -> list[str]:
    """The two nearest fits without interference, of the same grades: with another shaft, or, on a basic shaft, hole."""
    basic_shaft = of_shaft[0] == "h"
    found = []
    for letter in LOOSE:
        changed = ((letter.upper(), of_hole[1]), of_shaft) if basic_shaft else (of_hole, (letter, of_shaft[1]))
        try:
            outer, inner = _limits(*changed, nominal)
        except InputError:  # a and b of small sizes are not defined
            continue
        low = outer.lower - inner.upper + 0.0
        if low >= 0.0:
            (a, i), (b, j) = changed
            found.append((low - least, f"{nominal:g} {a}{i}/{b}{j} ({low:g} to {outer.upper - inner.lower:g} um)"))
    if not found:  # a hole such as R7 interferes with every shaft
        return _loose(("H", of_hole[1]), of_shaft, nominal, least)
    return [text for _, text in sorted(found)[:2]]


def _beside(name: str, at: Any, clearances: dict[str, float]) -> float:
    """The radial clearance given by a number."""
    low, high = clearances["min"], clearances["max"]
    if not is_number(at):
        raise InputError(f'{name}: at must be "min", "mean", "max" or a radial clearance in metres, got {shown(at)}.')
    _check_diametral(name, float(at), clearances)
    if not low * (1 - SAME) <= at <= high * (1 + SAME):
        near = "min" if at < low else "max"
        raise InputError(
            f"{name} has radial clearances from {low / UM:g} to {high / UM:g} um, not {float(at) / UM:.6g} um; the "
            f'nearest is "{near}".'
        )
    return float(at)


def _check_diametral(name: str, value: float, clearances: dict[str, float]) -> None:
    for key, radial in clearances.items():
        if radial and math.isclose(value, 2 * radial, rel_tol=SAME):
            raise InputError(
                f"{value:g} m is the {WORDS[key]} diametral clearance of {name}, but joints take the radial one: give "
                f'{radial:g} m, or the fit alone, as "{name}{"" if key == "mean" else f" {key}"}".'
            )
