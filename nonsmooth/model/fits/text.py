"""Fits and toleranced dimensions as they are written in files, on the command line and in Python."""

from __future__ import annotations

import re
from collections.abc import Callable

from nonsmooth.exceptions import InputError
from nonsmooth.model.fits.fit import AT, Fit
from nonsmooth.model.fits.scatter import DISTRIBUTIONS
from nonsmooth.model.fits.toleranced import Toleranced

__all__ = ["looks_stated", "stated"]

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
#: two words of letters and a grade, with a slash between
CLASSES = re.compile(r"([A-Za-z]{1,3}\s*\d+)\s*/\s*([A-Za-z]{1,3}\s*\d+)")
SIGN = re.compile(r"±|\+/-|\+-")


def looks_stated(text: str) -> bool:
    """Whether a text is meant as a fit or as a toleranced dimension.

    >>> looks_stated("20 H7/g6"), looks_stated("0.12 ±3e-5"), looks_stated("2 N s/m")
    (True, True, False)
    """
    return CLASSES.search(text) is not None or SIGN.search(text) is not None


def stated(text: str, number: Callable[[str], float] | None = None) -> Fit | Toleranced:
    """The fit or the toleranced dimension that a text states.

    Parameters
    ----------
    text
        ``"20 H7/g6"``: nominal size in mm and fit, optionally followed by min, mean, max or a radial clearance [m], and
        by a distribution; or ``"0.12 ±3e-5"``, in SI units, also with ``+-``, optionally with a distribution.
    number
        Reads texts such as ``"120 mm"``, of the nominal dimension and the tolerance, in place of SI numbers.

    Raises
    ------
    InputError
        For another text, in one sentence with an example or the nearest that is accepted.

    >>> stated("20 H7/g6 max")
    Fit(0.02, 'H7', 'g6', at='max')
    >>> stated("0.12 +-3e-5 uniform")
    Toleranced(0.12, 3e-05, distribution='uniform')
    """
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
        if number is None or re.fullmatch(NUMBER, tolerance):
            values = float(nominal), float(tolerance)
        else:
            unit = tolerance.lstrip("0123456789.eE+-").strip() if re.fullmatch(NUMBER, nominal) else ""
            values = number(f"{nominal} {unit}".strip()), number(tolerance)
    except ValueError:
        raise InputError(
            f'"{text}" is no toleranced dimension; write the nominal number and its tolerance in SI units, as '
            '"0.12 ±3e-5".'
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
