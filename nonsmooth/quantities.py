"""Numbers with a unit and a range, declared as annotated fields of elements and laws.

A field ``mass: Annotated[float, Quantity("kg", positive=True)]`` becomes a parameter of the system: an input of every
compiled function.
"""

import dataclasses
import difflib
import functools
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from nonsmooth.exceptions import InputError
from nonsmooth.settings import Called

#: dimensions, in order
BASES = ("m", "kg", "s", "rad")
PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459")
PREFIXES = {"n": -9, "u": -6, "µ": -6, "μ": -6, "m": -3, "c": -2, "k": 3, "M": 6, "G": 9}
#: name -> value in base units, powers of these, usual prefixes
NAMES: dict[str, tuple[Fraction, tuple[int, int, int, int], str]] = {
    "m": (Fraction(1), (1, 0, 0, 0), "nuµμmck"),
    "g": (Fraction(1, 1000), (0, 1, 0, 0), "mk"),
    "t": (Fraction(1000), (0, 1, 0, 0), ""),
    "s": (Fraction(1), (0, 0, 1, 0), "nuµμm"),
    "min": (Fraction(60), (0, 0, 1, 0), ""),
    "h": (Fraction(3600), (0, 0, 1, 0), ""),
    "rad": (Fraction(1), (0, 0, 0, 1), "m"),
    "deg": (PI / 180, (0, 0, 0, 1), ""),
    "°": (PI / 180, (0, 0, 0, 1), ""),
    "rev": (2 * PI, (0, 0, 0, 1), ""),
    "rpm": (PI / 30, (0, 0, -1, 1), ""),
    "Hz": (Fraction(1), (0, 0, -1, 0), "kM"),
    "N": (Fraction(1), (1, 1, -2, 0), "mkM"),
    "Pa": (Fraction(1), (-1, 1, -2, 0), "kMG"),
    "bar": (Fraction(100_000), (-1, 1, -2, 0), ""),
    "J": (Fraction(1), (2, 1, -2, 0), "mk"),
    "W": (Fraction(1), (2, 1, -3, 0), "mk"),
    "%": (Fraction(1, 100), (0, 0, 0, 0), ""),
    "1": (Fraction(1), (0, 0, 0, 0), ""),
    "-": (Fraction(1), (0, 0, 0, 0), ""),
}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
FACTOR = re.compile(r"\s*([*·/]?)\s*([A-Za-zµμ]+|%|°|[1-])(?:\^(-?[0-9]{1,2}(?:\.[0-9]{1,3})?)|(⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}))?")


class Wrong(ValueError):
    """A value that cannot be used; the message is the rest of a sentence that begins with its key."""


@dataclass(frozen=True)
class Parsed:
    """A unit: its value in SI units and the powers of metre, kilogram, second and radian."""

    value: Fraction
    powers: tuple[Fraction, ...]


#: all names, with their prefixes
KNOWN = {name: Parsed(value, tuple(map(Fraction, powers))) for name, (value, powers, _) in NAMES.items()} | {
    prefix + name: Parsed(value * Fraction(10) ** PREFIXES[prefix], tuple(map(Fraction, powers)))
    for name, (value, powers, prefixes) in NAMES.items()
    for prefix in prefixes
}


@functools.lru_cache(1000)
def parse_unit(text: str) -> Parsed:
    """The unit named by a text; `Wrong` for an unknown name, with the most similar units, or a text of another form."""
    value, powers, end = Fraction(1), [Fraction(0)] * len(BASES), 0
    text = text.strip()
    while end < len(text):
        found = FACTOR.match(text, end)
        if found is None or end and not (found[1] or text[end].isspace()):
            raise Wrong(f'has the unit "{text}", which is not of the form "kg m^2" or "N s/m"')
        sign, name = (-1 if found[1] == "/" else 1), found[2]
        if name not in KNOWN:
            apart = [f"{name[:i]} {name[i:]}" for i in range(1, len(name)) if {name[:i], name[i:]} <= NAMES.keys()]
            close = apart[:1] or difflib.get_close_matches(name, KNOWN, n=2)
            hint = f" Did you mean {' or '.join(close)}?" if close else f" Known: {', '.join(NAMES)}, with prefixes."
            raise Wrong(f'has the unknown unit "{name}".{hint}')
        power = sign * Fraction(found[3] or (found[4] or "1").translate(SUPERSCRIPTS))
        known = KNOWN[name].value
        value *= known**power.numerator if power.denominator == 1 else Fraction(math.pow(known, power))
        powers = [p + power * q for p, q in zip(powers, KNOWN[name].powers, strict=True)]
        end = found.end()
    return Parsed(value, tuple(powers))


def open_unit(unit: str) -> bool:
    """Whether a declared unit is not fully determined, such as ``rad or m`` and ``N/m^n``."""
    return " or " in unit or "^n" in unit


def in_unit(text: str, unit: str) -> float:
    """The value in SI units of a text such as ``"0.5 mm"``, whose dimension must be that of the declared `unit`."""
    stripped = text.strip().replace("−", "-")
    found = NUMBER.match(stripped)
    if found is None:
        raise Wrong(f'must be a number, got "{text}"')
    rest = stripped[found.end() :].strip()
    if re.match(r",\s*\d", rest):
        raise Wrong(f'"{text}" has a decimal comma; write a point')
    if not rest and _has_dimension(unit):
        raise Wrong(f'"{text}" has no unit; write a number without quotes [{unit}], or {such_as(unit)}')
    if not rest:
        raise Wrong(f'"{text}" is a number in quotes; write {text} without them')
    try:
        given = parse_unit(rest)
    except Wrong as error:
        raise Wrong(f'"{text}" {error} Write a number [{unit}], or {such_as(unit)}') from None
    if not any(_fits(given, one) for one in unit.split(" or ")):
        remedy = f"write a number [{unit}], or {such_as(unit)}" if _has_dimension(unit) else "write a plain number"
        wanted = "a number without unit" if unit == "-" else unit
        raise Wrong(f'"{text}" is of another dimension than {wanted}; {remedy}')
    number = float(found[0])
    if number == 0.0 or not math.isfinite(number):  # also that of a non-integer exponent
        return number
    try:
        return float(Fraction(found[0].replace("_", "")) * given.value)
    except OverflowError:
        return math.inf


def in_own_unit(text: str) -> float:
    """The value in SI units of a text such as ``"900 rpm"``, whatever its dimension."""
    found = NUMBER.match(text.strip().replace("−", "-"))
    own = text.strip()[found.end() :] if found is not None else ""
    try:
        parse_unit(own)
    except Wrong as error:
        raise Wrong(f'"{text}" {error} Write a number in SI units, or {such_as("rad/s")}') from None
    return in_unit(text, own or "-")


def has_unit(value: object) -> bool:
    """Whether a value is a text of a number with something behind it."""
    found = NUMBER.match(value.strip()) if isinstance(value, str) else None
    return found is not None and found.end() < len(found.string)


def is_numeric(value: object) -> bool:
    """Whether a value is a text that begins with a number."""
    return isinstance(value, str) and NUMBER.match(value.strip()) is not None


def in_si(name: str, value: Any, unit: str) -> Any:
    """A value, or its components, of which texts such as ``"10 ms"`` have become numbers in SI units; InputError, which
    begins with `name`, if one has no unit or one of another dimension. Anything else is left for other checks."""

    def number(text: str) -> float:
        try:
            return in_unit(text, unit)
        except Wrong as error:
            raise InputError(f"{name} {error}.") from None

    return converted(value, number, is_numeric)


def such_as(unit: str) -> str:
    """An example of a string in a unit, in words."""
    wanted = _powers(unit)
    for name in ("mm", "g", "ms", "deg", "rpm", "kN", "GPa", "%"):
        if [KNOWN[name].powers] == wanted[:1]:
            return f'a string such as "2 {name}"'
    example = re.sub(r"\^n", "^1.5", unit.split(" or ")[0])
    return f'a string such as "2 {example}"'


def _has_dimension(unit: str) -> bool:
    return any(power for powers in _powers(unit) for power in powers)


def _powers(unit: str) -> list[tuple[Fraction, ...]]:
    """The alternatives of a declared unit."""
    return [parse_unit(re.sub(r"\^n", "", one)).powers for one in unit.split(" or ")]


def _fits(given: Parsed, wanted: str) -> bool:
    """Whether a unit has the dimension of a declared one; ``m^n`` is any power."""
    if "^n" not in wanted:
        return given.powers == parse_unit(wanted).powers
    without = parse_unit(re.sub(r"[/ ]m\^n", "", wanted)).powers
    return given.powers[1:] == without[1:] and given.powers[0] < without[0]


AXES = ("x", "y", "z")
#: unit of a field whose dimension is that of what the object is given for, as the motion of a driver
VALUE = "value"


@dataclass(frozen=True)
class Unit:
    """The unit of a field that becomes no parameter, such as a body's start; InputError for one that is not known."""

    unit: str

    def __post_init__(self) -> None:
        names = re.sub(r"\^(n|[-+.e0-9]+)", "", self.unit.replace(VALUE, "-"))  # whatever the powers
        try:
            _powers("-" if names == "SI" else names)  # of a load's parameters, whose dimension its user knows
        except Wrong as error:
            raise InputError(f'{type(self).__name__}("{self.unit}") {error}') from None


@dataclass(frozen=True)
class Quantity(Unit):
    """A field that becomes a parameter: its unit, whether it must be > 0 or >= 0, and the most that it may be; an
    `example` of its components, for messages."""

    positive: bool = False
    nonnegative: bool = False
    labels: tuple[str, ...] = AXES
    at_most: float = math.inf
    example: str = ""

    @property
    def accepted(self) -> str:
        kind = "a positive number" if self.positive else "a number >= 0" if self.nonnegative else "a finite number"
        if self.at_most < math.inf:
            low = "(0" if self.positive else "[0" if self.nonnegative else "(-inf"
            kind = f"a number in {low}, {self.at_most:g}]"
        return f"{kind} [{self.unit}]"

    def accepts(self, value: float) -> bool:
        if not math.isfinite(value) or value > self.at_most:
            return False
        # the inverse of a subnormal number is not finite
        return value >= sys.float_info.min if self.positive else value >= 0 if self.nonnegative else True


@dataclass(frozen=True)
class Text:
    """Contents of a field of text, in words, such as ``formula``."""

    what: str


Length = Annotated[float, Quantity("m")]
PositiveLength = Annotated[float, Quantity("m", positive=True)]
Point = Annotated[tuple[float, ...], Quantity("m")]


class Declared(NamedTuple):
    """A quantity and the forms in which its field may be given: float, tuple, Callable, NoneType."""

    quantity: Quantity
    forms: frozenset[Any]

    @property
    def accepted(self) -> str:
        words = [self.quantity.accepted] if float in self.forms else []
        if tuple in self.forms:
            example = f", as {self.quantity.example}" if self.quantity.example else ""
            words.append(f"a tuple of components, each {self.quantity.accepted}{example}")
        if Callable in self.forms:
            words.append("a function of time")
        return ", or ".join(words)


def _parts(hint: Any) -> Iterator[Any]:
    """A type hint and all that it is made of, but not the arguments of tuples and callables."""
    yield hint
    if get_origin(hint) not in (tuple, Callable):
        for part in get_args(hint):
            yield from _parts(part)


@functools.cache
def declarations(cls: type) -> dict[str, Declared]:
    found = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        parts = list(_parts(hint))
        quantities = [part for part in parts if isinstance(part, Quantity)]
        if quantities:
            forms = {get_origin(part) or part for part in parts} & {float, tuple, Callable, NoneType}
            found[name] = Declared(quantities[0], frozenset(forms))
    return found


@functools.cache
def field_units(cls: type) -> dict[str, str]:
    hints = get_type_hints(cls, include_extras=True)
    units = {name: [one.unit for one in _parts(hints[name]) if isinstance(one, Unit)] for name in hints}
    return {name: own[0] for name, own in units.items() if own}


def own_unit(declared: str, unit: str) -> str:
    """The unit of a field of a function of time that is the value of a field in `unit`, possibly ``rad or m``."""
    if VALUE not in declared:
        return declared
    return " or ".join(declared.replace(VALUE, one) for one in unit.split(" or "))


class Stated(float):
    """A number in SI units that keeps the text with a unit as which it was given, also in ``dataclasses.replace``."""

    text: str


def parts_of(value: Any) -> tuple[Any, ...]:
    """The components of a tuple or list; the value itself where it is none."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def converted(value: Any, number: Callable[[str], Any], meant: Callable[[Any], bool] = has_unit) -> Any:
    """A value, or a tuple of values, whose texts with a unit have become what `number` makes of them."""
    parts = parts_of(value)
    if not any(map(meant, parts)):
        return value
    numbers = tuple(number(part) if meant(part) else part for part in parts)
    return numbers if isinstance(value, tuple | list) else numbers[0]


class InUnits(Called):
    """The type of dataclasses whose numbers may be strings with a unit, which become numbers in SI units at once. A
    unit that depends on other fields, as ``N/m^n``, must be that of the object's `quantity`. One in `VALUE` is known
    where the object is used: numbers of such fields are `Stated`, so that their dimension is checked there."""

    def __call__(cls, *values: Any, **fields: Any) -> Any:
        names, units = [field.name for field in dataclasses.fields(cls) if field.init], field_units(cls)  # type: ignore[arg-type]
        texts: dict[str, list[str]] = {}
        kept: dict[str, Stated] = {}

        def number(name: str, value: Any) -> Any:
            def read(text: str) -> float:
                found = cls._number(name, text, units[name])
                if VALUE in units[name]:
                    found = Stated(found)
                    found.text = text
                    if isinstance(value, str):
                        kept[name] = found
                elif open_unit(units[name]):
                    texts.setdefault(name, []).append(text)
                return found

            return converted(value, read, is_numeric) if name in units else value

        first = [number(name, value) for name, value in zip(names, values, strict=False)]
        made = super().__call__(*first, *values[len(first) :], **{name: number(name, fields[name]) for name in fields})
        for name, one in kept.items():
            if getattr(made, name) == one:  # the class may have made it a plain number
                object.__setattr__(made, name, one)
        for name, said in texts.items():
            for text in said:
                cls._number(name, text, made.quantity(name).unit)
        return made

    def _number(cls, name: str, text: str, unit: str) -> float:
        try:
            return in_own_unit(text) if VALUE in unit else in_unit(text, unit)
        except Wrong as error:
            raise cls.misuse(f"{cls.__name__}: {name} {error}.") from None
