"""Labels of figures: units, numbers and names as they are written."""

from __future__ import annotations

import math
import re

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.settings import shown

#: prefixes of display units, and units that take them
PREFIXES = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6}
BASES = ("m", "m/s", "rad", "rad/s", "N", "N m", "N s", "N m s", "J", "s", "m kg^1/2", "m kg^1/2/s")
#: metrics whose names read as no quantity, and names of coordinates
METRICS = {
    "final": "final value", "largest": "largest value", "smallest": "smallest value", "loss": "energy lost",
    "contact-share": "share of time in contact",
}  # fmt: skip
SHORT = {"x", "y", "z", "angle"}


def scale(unit: str) -> tuple[str, float]:
    """SI unit and factor of a display unit, as ``"um"``."""
    if unit in ("", "1"):
        return "1", 1.0
    if unit in ("deg", "deg/s"):
        return unit.replace("deg", "rad"), np.pi / 180.0
    for prefix, factor in PREFIXES.items():
        if unit.startswith(prefix) and unit[len(prefix) :] in BASES:
            return unit[len(prefix) :], factor
    raise InputError(
        f"Unknown unit {shown(unit)}; write one of {', '.join(BASES)}, with prefix p, n, u, m, k, M or none, or deg."
    )


def display(unit: str, peak: float) -> tuple[str, float]:
    """Unit in which `peak` reads between about 0.5 and 500, the SI unit for what is only round-off, and its factor."""
    fitting = [prefix for prefix, factor in PREFIXES.items() if peak >= 0.499999 * factor]
    shown = fitting[-1] + unit if fitting and unit in BASES and np.isfinite(peak) else unit
    return shown, scale(shown)[1] if shown != unit else 1.0


def round_length(most: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above `most`."""
    power = 10.0 ** math.floor(math.log10(most))
    digit = max(digit for digit in (1, 2, 5) if digit * power <= most * (1 + 1e-12))
    return float(f"{digit * power:.6g}")


def shown_unit(unit: str) -> str:
    """A unit as it is written in a figure."""
    return f"\N{MICRO SIGN}{unit[1:]}" if unit.startswith("u") else unit.replace("deg", "°")


def quantity(name: str, unit: str) -> str:
    """Label of an axis: name and unit."""
    return f"{name} [{shown_unit(unit)}]"


def spoken(name: str) -> str:
    """Words for a metric or a parameter of an element; other names stay.

    >>> [spoken(name) for name in ("final:slider.x", "force-over-0.2ms:pin", "pin.clearance", "knee.at_a_x", "speed")]
    ['final value of slider.x', 'mean force over 0.2 ms of pin', 'clearance of pin', 'x of knee at a', 'speed']
    """
    word, _, of = name.partition(":")
    if over := re.fullmatch(r"force-over-?([0-9.e+-]*)([a-z]*)", word):
        word = f"mean force over {over[1] or 1} {over[2] or 'ms'}"
    elif not of and "." in word:
        of, _, word = word.rpartition(".")
        if word in SHORT:
            return name
        if place := re.fullmatch(r"at_([ab])_([xyz])", word):
            return f"{place[2]} of {of} at {place[1]}"
    words = re.sub(r"(?<=\w)[-_](?=\w)", " ", METRICS.get(word, word))
    return f"{words} of {of}" if of else words


def power(value: float, digits: int = 1) -> str:
    """2.5e-4 in mathematical type, with at most so many decimals."""
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    lead = "" if float(mantissa) == 1.0 else rf"{float(mantissa):g}{{\cdot}}"
    return rf"${lead}10^{{{int(exponent)}}}$"
