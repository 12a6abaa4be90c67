"""The kinds of elements of a model, by name in kebab case, including subclasses defined elsewhere."""

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import nonsmooth.model
from nonsmooth.model.bodies import Body, Node
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.forces import Force
from nonsmooth.model.joints import Joint
from nonsmooth.model.shapes import Shape
from nonsmooth.model.signals import TimeFunction

T = TypeVar("T")

#: a subclass of one of these is a kind if it defines the method and has a public name; the others are bases
METHODS: tuple[tuple[type, str], ...] = (
    (Body, "mass_matrix"), (Joint, "constraint"), (Contact, "gaps"), (Force, "forces"),
    (Shape, "solid"),
)  # fmt: skip


def element_kinds() -> dict[str, type[Element]]:
    """Every kind of element.

    >>> sorted(name for name in element_kinds() if name.startswith("pr"))
    ['prescribed-motion', 'prescribed-pose', 'prismatic', 'prismatic-clearance']
    """
    names = [f"{nonsmooth.model.__name__}.{module.name}" for module in pkgutil.iter_modules(nonsmooth.model.__path__)]
    places: dict[int, int] = {}
    for module in names:
        for value in vars(importlib.import_module(module)).values():
            if getattr(value, "__module__", "") == module:  # defined there, not imported
                places[id(value)] = len(places)
    bases = {Element, Node, FlexibleBody, *(base for base, _ in METHODS)}
    kinds = [
        cls for cls in _below(Element) if cls not in bases and not cls.__name__.startswith("_")
        and all(getattr(cls, name) is not getattr(base, name) for base, name in METHODS if issubclass(cls, base))
    ]  # fmt: skip
    # in the order of the source, independent of the order of imports
    return _by_name(sorted(kinds, key=lambda cls: places.get(id(cls), len(places))))


def time_functions() -> dict[str, type[TimeFunction]]:
    """Every function of time that is data.

    >>> sorted(time_functions())
    ['axis-angle', 'fourier-signal', 'harmonic', 'ramp', 'table', 'time-vector']
    """
    return _by_name(_below(TimeFunction))


def _below(cls: type[T]) -> Iterator[type[T]]:
    for child in cls.__subclasses__():
        yield child
        yield from _below(child)


def _by_name(classes: Iterable[type[T]]) -> dict[str, type[T]]:
    """Classes by name: of two with the same name that of the package, else the one defined last, as in a repeated
    notebook cell."""
    found: dict[str, type[T]] = {}
    for cls in classes:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        if name not in found or not found[name].__module__.startswith("nonsmooth."):
            found[name] = cls
    return found
