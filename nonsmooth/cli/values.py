"""Numbers, lists and distributions from the words of options, also with units; mechanisms with varied numbers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth.cli.files import PythonFile
from nonsmooth.cli.inputs import Request, unit_behind
from nonsmooth.exceptions import InputError
from nonsmooth.fits import looks_stated, stated
from nonsmooth.units import Wrong, in_unit

__all__ = ["distribution_of", "named", "number_of", "units_of", "values_of", "varied"]

#: where a normal distribution is cut, in standard deviations
CUT = 3.0


def no_units(name: str) -> str:
    """The unit of a name that has none."""
    return "-"


def units_of(request: Request) -> Callable[[str], str | None]:
    """The unit of a parameter or an argument by its name, None where nothing states it."""
    made = functools.cache(lambda: request.completed().mechanism())  # for numbers with a unit alone

    def unit(name: str) -> str | None:
        known = made()
        if name in known.system.parameters:
            element, _, label = name.partition(".")
            return next(one.quantity(label).unit for one in known.system.elements if one.name == element)
        origin = None if known.problem is None else known.problem.provenance.get(name)
        return None if origin is None else origin.unit

    return unit


def distribution_of(option: str, name: str, text: str, units: Callable[[str], str | None] = no_units) -> Any:
    """``low:high``, ``low:high:log``, ``normal:mean:sd``, which is cut at three standard deviations, or a fit.

    >>> distribution_of("--sample", "c", "1e-6:1e-4:log")
    (1e-06, 0.0001, 'log')
    """
    if looks_stated(text):
        return stated(text)
    option = f"{option} {name}"
    number = functools.partial(number_of, option, name=name, units=units)
    parts = text.split(":")
    if parts[0] == "normal" and len(parts) == 3:
        from scipy.stats import truncnorm

        mean, sd = (number(part) for part in parts[1:])
        if not sd > 0:
            raise InputError(f"{option}: a standard deviation is positive, got {sd:g}.")
        return truncnorm(-CUT, CUT, loc=mean, scale=sd)
    if len(parts) == 3 and parts[2] == "log":
        return number(parts[0]), number(parts[1]), "log"
    if len(parts) == 2:
        return number(parts[0]), number(parts[1])
    raise InputError(f"{option}={text}: write LOW:HIGH, LOW:HIGH:log, normal:MEAN:SD, or a fit, 20 H7/g6.")


def named(option: str, word: str) -> tuple[str, str]:
    name, equals, text = word.partition("=")
    if not (name and equals and text):
        raise InputError(f"{option} {word}: write NAME=VALUES, such as guide.clearance=1e-6:1e-4:20:log.")
    return name, text


def values_of(option: str, name: str, text: str, units: Callable[[str], str | None] = no_units) -> list[float]:
    """``low:high:n``, ``low:high:n:log`` or values with commas between, also with units."""
    option = f"{option} {name}"
    number = functools.partial(number_of, option, name=name, units=units)
    parts = text.split(":")
    if len(parts) == 1:
        return [number(part) for part in text.split(",")]
    if len(parts) not in (3, 4) or len(parts) == 4 and parts[3] != "log":
        raise InputError(f"{option}={text}: write LOW:HIGH:N, LOW:HIGH:N:log or V1,V2,...")
    low, high, count = number(parts[0]), number(parts[1]), number_of(option, parts[2])
    if not (count >= 1 and count == int(count)):
        raise InputError(f"{option}={text}: N must be a whole number of values, at least 1.")
    if len(parts) == 4:
        if not (low > 0 and high > 0):
            raise InputError(f"{option}={text}: log needs positive bounds.")
        return [float(x) for x in np.geomspace(low, high, int(count))]
    return [float(x) for x in np.linspace(low, high, int(count))]


def number_of(option: str, text: str, name: str = "", units: Callable[[str], str | None] = no_units) -> float:
    behind = unit_behind(text)
    if behind is not None:
        try:
            return in_unit(text, units(name) or behind)
        except Wrong as error:
            raise InputError(f"{option} {error}.") from None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{option}: {text!r} is not a finite number.")
    return value


def varied(request: Request, names: Sequence[str]) -> tuple[Any, dict[str, Any], dict[str, float], str]:
    """A mechanism whose numbers of these names vary, its arguments and parameters, and its name.

    It is a problem or a Python file, whose arguments can vary as well, or a system.
    """
    known = request.mechanism()
    parameters = {key: value for key, value in known.parameters.items() if key not in names}
    made: Any = known.problem
    if made is None and request.problem.endswith(".py") and any("." not in name for name in names):
        made = PythonFile(Path(request.problem))
    arguments = {} if made is None else dict(known.arguments)
    return known.system if made is None else made, arguments, parameters, known.name
