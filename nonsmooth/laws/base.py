"""Common base of contact laws: parameters with units and ranges, and the geometric quantities that a law requires.

A law is a frozen dataclass. Its fields that are annotated with a `Quantity` become parameters of the system under the
name of the contact, ``"pin.stiffness"``; a field may contain another law, whose numbers are added to the same list.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, SimpleNamespace
from typing import Any, ClassVar, Self

from nonsmooth.exceptions import InputError
from nonsmooth.quantities import InUnits, Quantity, declarations
from nonsmooth.settings import is_number, shown, wrong_flag

#: a number or a CasADi expression, and a column of them
Expression = Any
Vector = Any


#: units of what laws have limits of, besides their numbers
LIMITED = {"approach": "m/s", "force": "N", "depth": "m"}


@dataclass(frozen=True)
class Limit:
    """Range of validity of a law.

    Parameters
    ----------
    quantity
        A number of the law by its field, or ``"approach"`` [m/s], ``"force"`` [N], ``"depth"`` [m] of the contact.
    low, high : bounds, in SI units
    reason : consequence outside the range, or its source; the end of a sentence
    """

    quantity: str
    low: float = -math.inf
    high: float = math.inf
    reason: str = ""

    def exceeded(self, value: float) -> bool:
        return not self.low <= value <= self.high

    def __str__(self) -> str:
        if self.low == -math.inf:
            return f"{self.quantity} <= {self.high:.4g}"
        return f"{self.quantity} >= {self.low:.4g}" + (f" and <= {self.high:.4g}" if self.high < math.inf else "")


def check_numbers(made: Any) -> None:
    """Raise InputError for the first declared quantity of a law or a material that is out of its range."""
    for name, declared in declarations(made.__class__).items():
        value = getattr(made, name)
        if isinstance(value, Law) or value is None and NoneType in declared.forms:
            continue
        number = isinstance(value, float) or is_number(value)
        if not number or not declared.quantity.accepts(float(value)):
            raise InputError(f"{type(made).__name__}: {name} must be {declared.quantity.accepted}, got {shown(value)}.")


@dataclass(frozen=True)
class Law(metaclass=InUnits):
    """Base of contact laws and of their parts.

    InputError for a number outside the range, or out of the order, that its parameter states.
    """

    #: lengths [m] that the law requires: effective_radius, radius of journal or circle, clearance, length of a bearing
    geometry: ClassVar[tuple[str, ...]] = ()
    #: pairs of numbers with "<" or "<=" between them
    ordered: ClassVar[tuple[tuple[str, str, str], ...]] = ()

    def __post_init__(self) -> None:
        check_numbers(self)
        wrong = wrong_flag(self)
        if wrong:
            raise InputError(f"{type(self).__name__}: {wrong}")
        self.check_together(self.numbers())

    def check_together(self, numbers: Mapping[str, float]) -> None:
        """Raise InputError if numbers that are valid individually are inconsistent, in the law or in a part."""
        for part in self.parts():
            for low, relation, high in part.ordered:
                a, b = numbers[low], numbers[high]
                if a > b or (a == b and relation == "<"):
                    words = "less than" if relation == "<" else "at most"
                    raise InputError(f"{type(part).__name__}: {low} must be {words} {high}, got {a:g} and {b:g}.")

    def parts(self) -> Iterator[Law]:
        """The parts of this law, itself first."""
        yield self
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Law):
                yield from value.parts()

    def with_numbers(self, changes: Mapping[str, float]) -> Self:
        """The law with other numbers, its own and those of its parts, by field."""
        numbers: dict[str, Any] = {}
        for one in dataclasses.fields(self):
            value = getattr(self, one.name)
            if isinstance(value, Law):
                numbers[one.name] = value.with_numbers(changes)
            elif one.name in changes and one.name in declarations(type(self)):
                numbers[one.name] = changes[one.name]
        return dataclasses.replace(self, **numbers)

    def numbers(self) -> dict[str, float]:
        """The numbers of the law and of its parts, by field; InputError if two parts have one of the same name."""
        numbers: dict[str, float] = {}
        for part in self.parts():
            for field in declarations(type(part)):
                value = getattr(part, field)
                if isinstance(value, Law):
                    continue
                if field in numbers:
                    raise InputError(f"{type(self).__name__}: two of its parts have a number {field!r}.")
                numbers[field] = float(value)
        return numbers

    def quantity(self, label: str) -> Quantity:
        """The declaration of a number of the law or of its parts."""
        for part in self.parts():
            declared = declarations(type(part))
            if label in declared and not isinstance(getattr(part, label), Law):
                return declared[label].quantity
        raise KeyError(label)

    def structure(self) -> tuple[Any, ...]:
        """Properties that determine the law's equations, except numbers: kind, words, flags, and kinds of its parts."""
        numbers: Mapping[str, Any] = declarations(type(self))
        entries: list[Any] = [type(self)]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Law) or field.name not in numbers:
                entries.append(value.structure() if isinstance(value, Law) else value)
        return tuple(entries)

    def needs(self) -> tuple[str, ...]:
        """Geometric quantities that the law and its parts require."""
        return tuple(dict.fromkeys(name for part in self.parts() for name in part.geometry))

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        """Constants of a run by name, from the numbers and the geometry in `p`; by default the numbers."""
        return {name: getattr(p, name) for name in self.numbers()}

    def limits(self, p: SimpleNamespace, k: SimpleNamespace) -> tuple[Limit, ...]:
        """Ranges of validity of the law; `p` and `k` are numbers and coefficients as floats."""
        return ()
