"""The kinds of elements of a model, by name in kebab case, including subclasses defined elsewhere; and the units of the
arguments of a function that builds a mechanism, by what they become in it."""

import importlib
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import nonsmooth.model
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.signals import TimeFunction
from nonsmooth.quantities import declarations, field_units, own_unit, parts_of
from nonsmooth.settings import is_number

T = TypeVar("T")


def element_kinds() -> dict[str, type[Element]]:
    """Every kind of element by name: ``"prescribed-motion"``, ``"prismatic"``, ..."""
    from nonsmooth.model.bodies import Body, Node
    from nonsmooth.model.flexible_bodies import FlexibleBody
    from nonsmooth.model.forces import Force
    from nonsmooth.model.joints import Joint
    from nonsmooth.model.shapes import Shape

    # a subclass of one of these is a kind if it defines the method and has a public name; the others are bases
    methods: tuple[tuple[type, str], ...] = (
        (Body, "mass_matrix"), (Joint, "constraint"), (Contact, "gaps"), (Force, "forces"), (Shape, "solid"),
    )  # fmt: skip
    names = [f"{nonsmooth.model.__name__}.{module.name}" for module in pkgutil.iter_modules(nonsmooth.model.__path__)]
    places: dict[int, int] = {}
    for module in names:
        for value in vars(importlib.import_module(module)).values():
            if getattr(value, "__module__", "") == module:  # defined there, not imported
                places[id(value)] = len(places)
    bases = {Element, Node, FlexibleBody, *(base for base, _ in methods)}
    kinds = [
        cls for cls in _below(Element) if cls not in bases and not cls.__name__.startswith("_")
        and all(getattr(cls, name) is not getattr(base, name) for base, name in methods if issubclass(cls, base))
    ]  # fmt: skip
    # in the order of the source, independent of the order of imports
    return _by_name(sorted(kinds, key=lambda cls: places.get(id(cls), len(places))))


def time_functions() -> dict[str, type[TimeFunction]]:
    """Every function of time that is data, by name: ``"axis-angle"``, ``"table"``, ..."""
    importlib.import_module("nonsmooth.model.profiles")
    return _by_name(_below(TimeFunction))


def _below(cls: type[T]) -> Iterator[type[T]]:
    for child in cls.__subclasses__():
        yield child
        yield from _below(child)


def _by_name(classes: Iterable[type[T]]) -> dict[str, type[T]]:
    """Classes by name: of two that of the package, else the one defined last, as in a repeated notebook cell."""
    found: dict[str, type[T]] = {}
    for cls in classes:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        if name not in found or not found[name].__module__.startswith("nonsmooth."):
            found[name] = cls
    return found


class TracedFloat(float):
    """A number that elements, laws and functions of time keep as the object that it is."""


def trace_argument(function: Callable[..., Any], arguments: Mapping[str, Any], name: str) -> dict[str, str]:
    """The numbers of elements that an argument is, not those computed from it, as ``{"pin.clearance": "m"}``."""
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
