"""Numbers, lists, distributions and settings from the words of options, also with units."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.model.fits import Scatter, looks_stated, stated
from nonsmooth.quantities import NUMBER, Wrong, has_unit, in_own_unit, in_unit, parse_unit
from nonsmooth.settings import is_number

CUT = 3.0  # where a normal distribution is cut, in standard deviations
Value = int | float | bool | str


def by_name(
    option: str, words: Sequence[str], read: Callable[..., Any], units: Callable[[str], str | None] | None = None,
    form: str = "NAME=VALUES, such as guide.clearance=1e-6:1e-4:20:log",
) -> dict[str, Any]:  # fmt: skip
    """Values by name, read from the words ``NAME=TEXT`` of an option by `read(option and name, text, unit)`."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not (name and equals and text):
            raise InputError(f"{option} {word}: write {form}.")
        if name in found:
            raise InputError(f"{option} {name} is given twice, the second time as {text}: give it once.")
        found[name] = read(f"{option} {name}", text, no_unit if units is None else functools.partial(units, name))
    return found


def only_one(what: str, given: Mapping[str, Any]) -> str:
    used = [option for option, value in given.items() if value not in (None, ())]
    if len(used) != 1:
        *first, last = given
        raise InputError(f"{what} takes one of {', '.join(first)} and {last}, got {' and '.join(used) or 'none'}.")
    return used[0]


def example_values(words: Sequence[str]) -> dict[str, str]:
    """A value of each ``NAME=TEXT`` that some run takes, as it is written: of a range the upper end."""
    texts = {name: text for name, _, text in (word.partition("=") for word in words)}
    return {
        name: text if looks_stated(text) else text.split(":")[1] if ":" in text else text.split(",")[0]
        for name, text in texts.items()
    }


def no_unit() -> str:
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
    """``low:high``, ``low:high:log``, ``normal:mean:sd``, which is cut at three standard deviations, or a fit."""
    if looks_stated(text):
        return stated(text, functools.partial(number_of, option, unit=unit))
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


@dataclass(frozen=True)
class Settings:
    """The values of ``--set``, sorted by their targets."""

    arguments: dict[str, Value] = field(default_factory=dict)
    parameters: dict[str, float] = field(default_factory=dict)
    solver: dict[str, Value] = field(default_factory=dict)
    stepper: dict[str, Value] = field(default_factory=dict)
    #: parameters that have units, whose dimensions are checked where the mechanism is known
    texts: dict[str, str] = field(default_factory=dict, repr=False)


def settings_from(words: Sequence[str]) -> Settings:
    """Sort ``name=value`` words into arguments of the problem, ``element.parameter`` numbers and scheme fields."""
    settings, seen = Settings(), set()
    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        if not (name and equals and text):
            raise InputError(f"--set {word!r} is not of the form name=value: write, for example, --set friction=0.")
        value = stated(text) if looks_stated(text) else word_value(text)
        if isinstance(value, int | float) and not isinstance(value, bool) and not is_number(value):
            raise InputError(f"--set {name}={text[:40]}: {text[:40]} is not a finite number; give a finite one.")
        if name in seen:
            raise InputError(f"--set {name} is given twice, the second time as {text}: give it once.")
        seen.add(name)
        owner, dot, entry = name.partition(".")
        if not dot:
            settings.arguments[name] = value
        elif owner in ("solver", "stepper"):
            getattr(settings, owner)[entry] = value
        elif isinstance(value, (bool, str)) and unit_behind(text) is None:
            raise InputError(
                f"--set {name}={text}: write an element's parameter as a number in SI units, as 1e-5, or with its "
                "unit, as 10um."
            )
        else:
            if isinstance(value, str):
                settings.texts[name] = value
                value = in_unit(value, unit_behind(value) or "-")
            settings.parameters[name] = value if isinstance(value, Scatter) else float(value)
    return settings


def settings_of_study(words: Sequence[str], case: str | None) -> Settings:
    """Arguments and parameters of a study that chooses its schemes itself."""
    found = settings_from(words if case is None else (*words, f"case={case}"))
    if found.solver or found.stepper:
        raise InputError("A study chooses its steppers and solvers itself; --set takes arguments and parameters.")
    return found


def unit_behind(text: str) -> str | None:
    """The unit behind a number, None for other texts."""
    number = NUMBER.match(text)
    if number is None or number.end() == len(text):
        return None
    try:
        parse_unit(text[number.end() :])
    except Wrong:
        return None
    return text[number.end() :].strip()


def word_value(text: str) -> Value:
    words: dict[str, Value] = {"true": True, "false": False}
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return words.get(text.lower(), text)
