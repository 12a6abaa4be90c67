"""What every element shares: a name, numbers with units and ranges, and symbols for those numbers.

Numbers that an element declares as a `Quantity` become parameters of the system, ``"element.field"``: inputs of every
compiled function, so that a sweep over them rebuilds nothing. Vectors become one parameter per component,
``"element.field_x"``.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import casadi as ca

from nonsmooth.exceptions import ModelError

__all__ = ["Element", "Length", "Point", "PositiveLength", "Quantity"]

AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Quantity:
    """A field that becomes a parameter: its unit, and whether it must be > 0 or >= 0."""

    unit: str
    positive: bool = False
    nonnegative: bool = False
    labels: tuple[str, ...] = AXES

    @property
    def accepted(self) -> str:
        kind = "a positive number" if self.positive else "a number >= 0" if self.nonnegative else "a finite number"
        return f"{kind} [{self.unit}]"

    def accepts(self, value: float) -> bool:
        if not math.isfinite(value):
            return False
        return value > 0 if self.positive else value >= 0 if self.nonnegative else True


Length = Annotated[float, Quantity("m")]
PositiveLength = Annotated[float, Quantity("m", positive=True)]
Point = Annotated[tuple[float, ...], Quantity("m")]


@functools.cache
def _quantities(cls: type) -> dict[str, Quantity]:
    found = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        for part in (hint, *get_args(hint)):
            if get_origin(part) is Annotated:
                found.update({name: note for note in get_args(part)[1:] if isinstance(note, Quantity)})
    return found


@dataclass(frozen=True, eq=False)
class Element:
    """Base of bodies, joints, drivers, clearances and forces: a name and declared quantities."""

    name: str

    #: fields that name the bodies the element joins, in order
    body_fields: ClassVar[tuple[str, ...]] = ()
    #: dimensions (2 planar, 3 spatial) in which the element exists
    dimensions: ClassVar[tuple[int, ...]] = (2, 3)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or "." in self.name:
            raise ModelError(f"{type(self).__name__}: a name is a non-empty word without dots, got {self.name!r}.")
        for label, value in self.numbers().items():
            self.check(label, value)

    def numbers(self) -> dict[str, float]:
        """The element's parameters by local name, as given."""
        numbers: dict[str, float] = {}
        for field, quantity in _quantities(type(self)).items():
            value = getattr(self, field)
            if value is None or callable(value):
                continue
            if isinstance(value, (int, float)):
                numbers[field] = float(value)
                continue
            try:
                components = [float(component) for component in value]
            except (TypeError, ValueError):
                raise ModelError(
                    f'{type(self).__name__} "{self.name}": {field} must be {quantity.accepted} or a tuple, got {value!r}.'
                ) from None
            if len(components) > len(quantity.labels):
                raise ModelError(
                    f'{type(self).__name__} "{self.name}": {field} takes at most {len(quantity.labels)} components, '
                    f"got {len(components)}."
                )
            numbers.update({f"{field}_{quantity.labels[i]}": x for i, x in enumerate(components)})
        return numbers

    def quantity(self, label: str) -> Quantity:
        """The declaration behind a local parameter name."""
        quantities = _quantities(type(self))
        return quantities[label] if label in quantities else quantities[label.rpartition("_")[0]]

    def check(self, label: str, value: float) -> None:
        """Raise ModelError if `value` is not acceptable for the parameter `label`."""
        quantity = self.quantity(label)
        if not quantity.accepts(value):
            raise ModelError(
                f'{type(self).__name__} "{self.name}": {label} must be {quantity.accepted}, got {value!r}. '
                f"Give a value in that range."
            )

    def symbols(self, parameters: Mapping[str, ca.SX]) -> SimpleNamespace:
        """Fields of the element with numbers replaced by the parameter symbols (vectors become columns)."""
        numbers = self.numbers()
        fields: dict[str, Any] = {}
        for field, quantity in _quantities(type(self)).items():
            if field in numbers:
                fields[field] = parameters[f"{self.name}.{field}"]
                continue
            parts = [f"{field}_{axis}" for axis in quantity.labels if f"{field}_{axis}" in numbers]
            if parts:
                fields[field] = ca.vertcat(*(parameters[f"{self.name}.{part}"] for part in parts))
        return SimpleNamespace(**fields)

    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies that the element joins, in order."""
        names = (getattr(self, field) for field in self.body_fields)
        return tuple(name if isinstance(name, str) else name.name for name in names)

    def describe(self) -> dict[str, Any]:
        """The element as plain data, for the manifest."""
        data: dict[str, Any] = {"kind": type(self).__name__, "name": self.name}
        for field in dataclasses.fields(self):
            if field.name == "name":
                continue
            value = getattr(self, field.name)
            data[field.name] = value.name if isinstance(value, Element) else _plain(value)
        return data


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"kind": type(value).__name__} | {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if callable(value):
        return f"function {getattr(value, '__name__', type(value).__name__)} of time"
    return str(value)
