"""Numbers, lists and distributions from the words of options, also with units; mechanisms with varied numbers."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nonsmooth.cli.files import PythonFile
from nonsmooth.cli.inputs import Mechanism, Request
from nonsmooth.exceptions import InputError
from nonsmooth.model.fits import looks_stated, stated
from nonsmooth.model.given import unit_of_argument
from nonsmooth.quantities import Wrong, has_unit, in_own_unit, in_unit

#: where a normal distribution is cut, in standard deviations
CUT = 3.0


def units_of(mechanism: Callable[[], Mechanism]) -> Callable[[str], str | None]:
    """The unit of a parameter or an argument by its name, None where nothing states it."""
    made = functools.cache(mechanism)  # for numbers with a unit alone

    @functools.cache
    def unit(name: str) -> str | None:
        known = made()
        if name in known.system.parameters or known.make is None:
            return known.system.unit_of(name) or None
        default = getattr(inspect.signature(known.make).parameters.get(name), "default", None)
        default = in_own_unit(default) if isinstance(default, str) and has_unit(default) else default
        function = known.make.model if isinstance(known.make, PythonFile) else known.make
        return unit_of_argument(function, {name: default, **known.arguments}, name) or None

    return unit


def by_name(
    option: str, words: Sequence[str], read: Callable[..., Any], units: Callable[[str], str | None] | None = None,
    form: str = "NAME=VALUES, such as guide.clearance=1e-6:1e-4:20:log",
) -> dict[str, Any]:  # fmt: skip
    """What is read of the words ``NAME=TEXT`` of an option, given its name, the text, and the unit of the name."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not (name and equals and text):
            raise InputError(f"{option} {word}: write {form}.")
        if name in found:
            raise InputError(f"{option} {name} is given twice, the second time as {text}: give it once.")
        found[name] = read(f"{option} {name}", text, no_unit if units is None else functools.partial(units, name))
    return found


def example_values(words: Sequence[str]) -> dict[str, str]:
    """A value of each ``NAME=TEXT`` that some run takes, as it is written: of a range the upper end.

    >>> example_values(["mass=0kg:0.3kg:5", "speed=normal:2:0.1", "length=0.1,0.2"])
    {'mass': '0.3kg', 'speed': '2', 'length': '0.1'}
    """
    texts = {name: text for name, _, text in (word.partition("=") for word in words)}
    return {
        name: text if looks_stated(text) else text.split(":")[1] if ":" in text else text.split(",")[0]
        for name, text in texts.items()
    }


def no_unit() -> str:
    """The unit of a number that has none."""
    return "-"


def number_of(option: str, text: str, unit: Callable[[], str | None] = no_unit) -> float:
    """A finite number, also with a unit of the dimension of `unit`."""
    wanted = unit() if has_unit(text) else ""  # an InputError of it is a ValueError
    try:
        value = float(text) if wanted == "" else in_own_unit(text) if wanted is None else in_unit(text, wanted)
    except Wrong as error:
        raise InputError(f"{option} {error}.") from None
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{option}: {text!r} is not a finite number.")
    return value


def values_of(option: str, text: str, unit: Callable[[], str | None] = no_unit) -> list[float]:
    """``low:high:n``, ``low:high:n:log`` or values with commas between, also with units."""
    parts = text.split(":")
    if len(parts) == 1:
        return [number_of(option, part, unit) for part in text.split(",")]
    if len(parts) not in (3, 4) or len(parts) == 4 and parts[3] != "log":
        raise InputError(f"{option}={text}: write LOW:HIGH:N, LOW:HIGH:N:log or V1,V2,...")
    low, high = (number_of(option, part, unit) for part in parts[:2])
    count = number_of(option, parts[2])
    if not (count >= 1 and count == int(count)):
        raise InputError(f"{option}={text}: N must be a whole number of values, at least 1.")
    if len(parts) == 4 and not (low > 0 and high > 0):
        raise InputError(f"{option}={text}: log needs positive bounds.")
    spaced = np.geomspace if len(parts) == 4 else np.linspace
    return [float(x) for x in spaced(low, high, int(count))]


def distribution_of(option: str, text: str, unit: Callable[[], str | None] = no_unit) -> Any:
    """``low:high``, ``low:high:log``, ``normal:mean:sd``, which is cut at three standard deviations, or a fit.

    >>> distribution_of("--sample c", "1e-6:1e-4:log")
    (1e-06, 0.0001, 'log')
    """
    if looks_stated(text):
        return stated(text)
    parts = text.split(":")
    if parts[0] == "normal" and len(parts) == 3:
        from scipy.stats import truncnorm

        mean, sd = (number_of(option, part, unit) for part in parts[1:])
        if not sd > 0:
            raise InputError(f"{option}: a standard deviation is positive, got {sd:g}.")
        return truncnorm(-CUT, CUT, loc=mean, scale=sd)
    if len(parts) == 2 or parts[2:] == ["log"]:
        return (*(number_of(option, part, unit) for part in parts[:2]), *parts[2:])
    raise InputError(f"{option}={text}: write LOW:HIGH, LOW:HIGH:log, normal:MEAN:SD, or a fit, 20 H7/g6.")


def varied(request: Request, names: Sequence[str]) -> tuple[Any, dict[str, Any], dict[str, float], str]:
    """A mechanism whose numbers of these names vary, its arguments and parameters, and its name.

    It is a problem or a Python file, whose arguments can vary as well, or a system.
    """
    known = request.mechanism()
    parameters = {key: value for key, value in known.parameters.items() if key not in names}
    made: Any = known.make if known.problem is not None or any("." not in name for name in names) else None
    arguments = {} if made is None else dict(known.arguments)
    return known.system if made is None else made, arguments, parameters, known.name
