"""Numbers with a unit and a range, declared as annotated fields of elements and laws.

A field ``mass: Annotated[float, Quantity("kg", positive=True)]`` becomes a parameter of the system: an input of every
compiled function.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from nonsmooth.settings import Called
from nonsmooth.units import Wrong, has_unit, in_own_unit, in_unit, open_unit

__all__ = [
    "AXES", "VALUE", "Declared", "InUnits", "Length", "Point", "PositiveLength", "Quantity", "Stated",
    "Text", "Unit", "converted", "declarations", "field_units", "own_unit", "parts_of",
]  # fmt: skip

AXES = ("x", "y", "z")
#: unit of a field whose dimension is that of what the object is given for, as the motion of a driver
VALUE = "value"


@dataclass(frozen=True)
class Quantity:
    """A field that becomes a parameter: its unit, whether it must be > 0 or >= 0, and the most that it may be."""

    unit: str
    positive: bool = False
    nonnegative: bool = False
    labels: tuple[str, ...] = AXES
    at_most: float = math.inf

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
class Unit:
    """The unit of a field that becomes no parameter, such as a body's start.

    >>> Angle = Annotated[float, Unit("rad")]
    """

    unit: str


@dataclass(frozen=True)
class Text:
    """What a field of text holds, in words, such as ``formula``."""

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
            words.append(f"a tuple of components, each {self.quantity.accepted}")
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
    """The quantities that the fields of a class declare, by field."""
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
    """The units of the fields of a class that have one, by field."""
    found = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        units = [part.unit for part in _parts(hint) if isinstance(part, Quantity | Unit)]
        if units:
            found[name] = units[0]
    return found


def own_unit(declared: str, unit: str) -> str:
    """The unit of a field of a function of time that is the value of a field in `unit`, possibly ``rad or m``."""
    if VALUE not in declared:
        return declared
    return " or ".join(declared.replace(VALUE, one) for one in unit.split(" or "))


class Stated(float):
    """A number in SI units that was given as a text with a unit, which it keeps.

    It is the number in every other respect, and is taken over by ``dataclasses.replace``.
    """

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
    """The type of dataclasses whose numbers may be given as strings with a unit, such as ``"1e9 N/m^1.5"``.

    Strings become numbers in SI units before the class checks them. A unit that depends on other fields, as ``N/m^n``
    does, must be that of the object's `quantity`. One in `VALUE` is known where the object is used: numbers of such
    fields are `Stated`, so that their dimension is checked there.
    """

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

            return converted(value, read) if name in units else value

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
