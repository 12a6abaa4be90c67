"""Units of the arguments of a function that builds a mechanism, by what they become in it."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.signals import TimeFunction
from nonsmooth.quantities import declarations, field_units, own_unit, parts_of
from nonsmooth.settings import is_number


class TracedFloat(float):
    """A number that elements, laws and functions of time keep as the object that it is."""


def trace_argument(function: Callable[..., Any], arguments: Mapping[str, Any], name: str) -> dict[str, str]:
    """The numbers of elements that one of the arguments is, with their units, ``{"pin.clearance": "m"}``.

    Only what is the argument itself counts, not what is computed from it, even if it is equal: the mass of a rod of
    1 kg/m is equal to its length.
    """
    number = TracedFloat(arguments[name])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = function(**{**arguments, name: number})
            return {f"{element.name}.{field}": unit for element in made.elements
                    for field, unit in _units(element, number)}  # fmt: skip
    except Exception:  # a user's function, which may refuse the number: it does when it is called with it
        return {}


def unit_of_argument(function: Callable[..., Any], arguments: Mapping[str, Any], name: str) -> str:
    """The unit of an argument: of its stated origin, or of what it becomes, ``m or kg``; empty if neither is known."""
    stated = getattr(function, "provenance", {})
    if name in stated:
        return str(stated[name].unit)
    units = trace_argument(function, arguments, name) if is_number(arguments.get(name)) else {}
    return " or ".join(dict.fromkeys(units.values()))


def _units(element: Element, number: TracedFloat) -> Iterator[tuple[str, str]]:
    """Fields of an element, or of its contact law, in which the number is, with their units."""
    owners: list[Any] = [element, *(element.contact.parts() if isinstance(element, Contact) else ())]
    for owner in owners:
        kind: Any = type(owner)
        for field, declared in field_units(kind).items():
            unit = owner.quantity(field).unit if field in declarations(kind) else declared
            yield from ((field, one) for one in _of(getattr(owner, field), number, unit))


def _of(value: Any, number: TracedFloat, unit: str) -> Iterator[str]:
    """The unit of the number where it is in a value of this unit."""
    for part in parts_of(value):
        if part is number:
            yield unit
        elif isinstance(part, TimeFunction):
            for field, declared in field_units(type(part)).items():
                yield from _of(getattr(part, field), number, own_unit(declared, unit))
