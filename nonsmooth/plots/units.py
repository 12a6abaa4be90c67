"""Units in which figures show values, and numbers as figures write them."""

import math

import numpy as np

from nonsmooth.exceptions import InputError

#: prefixes of display units, and units that take them
PREFIXES = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6}
BASES = ("m", "m/s", "rad", "rad/s", "N", "N m", "N s", "N m s", "J", "s", "m kg^1/2", "m kg^1/2/s")


def scale(unit: str) -> tuple[str, float]:
    """SI unit and factor of a display unit.

    >>> scale("um")
    ('m', 1e-06)
    """
    if unit in ("", "1"):
        return "1", 1.0
    if unit in ("deg", "deg/s"):
        return unit.replace("deg", "rad"), np.pi / 180.0
    for prefix, factor in PREFIXES.items():
        if unit.startswith(prefix) and unit[len(prefix) :] in BASES:
            return unit[len(prefix) :], factor
    raise InputError(
        f"Unknown unit {unit!r}; write one of {', '.join(BASES)}, with a prefix of p, n, u, m, k, M or none, or deg."
    )


def readable(unit: str, peak: float) -> str:
    """Display unit in which `peak` reads between about 0.5 and 500; the SI unit for what is only round-off.

    >>> readable("m", 1e-5)
    'um'
    """
    fitting = [prefix for prefix, factor in PREFIXES.items() if peak >= 0.5 * factor]
    return fitting[-1] + unit if fitting and unit in BASES and np.isfinite(peak) else unit


def display(unit: str, peak: float) -> tuple[str, float]:
    """Display unit in which a peak reads well, and its factor.

    >>> display("m", 1e-5), display("kg", 1e-5)
    (('um', 1e-06), ('kg', 1.0))
    """
    shown = readable(unit, peak)
    return shown, scale(shown)[1] if shown != unit else 1.0


def round_length(most: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above `most`.

    >>> round_length(0.37), round_length(5.0)
    (0.2, 5.0)
    """
    power = 10.0 ** math.floor(math.log10(most))
    digit = max(digit for digit in (1, 2, 5) if digit * power <= most * (1 + 1e-12))
    return float(f"{digit * power:.6g}")


def shown_unit(unit: str) -> str:
    """A unit as it is written in a figure.

    >>> shown_unit("um"), shown_unit("deg")
    ('µm', '°')
    """
    return f"\N{MICRO SIGN}{unit[1:]}" if unit.startswith("u") else unit.replace("deg", "°")


def quantity(name: str, unit: str) -> str:
    """Label of an axis: name and unit.

    >>> quantity("slider.x", "mm")
    'slider.x [mm]'
    """
    return f"{name} [{shown_unit(unit)}]"


def power(value: float, digits: int = 1) -> str:
    """2.5e-4 in mathematical type, with at most so many decimals."""
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    lead = "" if float(mantissa) == 1.0 else rf"{float(mantissa):g}{{\cdot}}"
    return rf"${lead}10^{{{int(exponent)}}}$"
