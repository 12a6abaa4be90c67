"""What every element shares: a name, numbers with units and ranges, and symbols for those numbers.

Numbers that an element declares as a `Quantity` become parameters of the system, ``"element.field"``: inputs of every
compiled function, so that a sweep over them rebuilds nothing. Vectors become one parameter per component,
``"element.field_x"``.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, SimpleNamespace
from typing import Annotated, Any, ClassVar, NamedTuple, cast, get_args, get_origin, get_type_hints

import casadi as ca
import numpy as np

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


class _Declared(NamedTuple):
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
def _declarations(cls: type) -> dict[str, _Declared]:
    found = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        parts = list(_parts(hint))
        quantities = [part for part in parts if isinstance(part, Quantity)]
        if quantities:
            forms = {get_origin(part) or part for part in parts} & {float, tuple, Callable, NoneType}
            found[name] = _Declared(quantities[0], frozenset(forms))
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
        for field in self.body_fields:
            body = getattr(self, field)
            if not isinstance(body, (str, Element)):
                raise self.error(f"{field} must be a body or the name of one, got {body!r}.")
        numbers = self.numbers()
        for label, value in numbers.items():
            self.check(label, value)
        self.check_together(numbers)

    def error(self, sentence: str) -> ModelError:
        """A ModelError that begins with the kind and the name of the element."""
        return ModelError(f'{type(self).__name__} "{self.name}": {sentence}')

    def numbers(self) -> dict[str, float]:
        """The element's parameters by local name, as given."""
        numbers: dict[str, float] = {}
        for field, declared in self._declared().items():
            value = getattr(self, field)
            if value is None and NoneType in declared.forms or callable(value) and Callable in declared.forms:
                continue
            array = self._array(field, value, declared)
            if array.ndim == 0:
                numbers[field] = float(array)
                continue
            labels = declared.quantity.labels
            if array.size > len(labels):
                raise self.error(f"{field} takes at most {len(labels)} components, got {array.size}.")
            numbers.update({f"{field}_{labels[i]}": float(x) for i, x in enumerate(array)})
        return numbers

    def _declared(self) -> dict[str, _Declared]:
        return _declarations(cast(Hashable, type(self)))

    def _array(self, field: str, value: Any, declared: _Declared) -> np.ndarray:
        """The value as an array: of dimension 0 for a number, of dimension 1 for a tuple."""
        try:
            if value is None or isinstance(value, (str, bool)):
                raise TypeError
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise self.error(f"{field} must be {declared.accepted}, got {value!r}.") from None
        if not (array.ndim == 0 and float in declared.forms or array.ndim == 1 and tuple in declared.forms):
            raise self.error(f"{field} must be {declared.accepted}, got {value!r}.")
        return array

    def quantity(self, label: str) -> Quantity:
        """The declaration behind a local parameter name."""
        declared = self._declared()
        return (declared[label] if label in declared else declared[label.rpartition("_")[0]]).quantity

    def check(self, label: str, value: float) -> None:
        """Raise ModelError if `value` is not acceptable for the parameter `label`."""
        accepted = self.quantity(label)
        if not accepted.accepts(value):
            raise self.error(f"{label} must be {accepted.accepted}, got {value!r}.")

    def check_together(self, numbers: Mapping[str, float]) -> None:
        """Raise ModelError if parameters that are acceptable one by one do not go together."""

    def check_components(self, dimension: int) -> None:
        """Raise ModelError if a vector has not one component per dimension."""
        for field in dataclasses.fields(self):
            declared, value = self._declared().get(field.name), getattr(self, field.name)
            if declared is None or float in declared.forms or declared.quantity.labels != AXES or callable(value):
                continue
            if value is not None and len(value) != dimension and not (len(value) == 0 and field.default == ()):
                word = {2: "planar", 3: "spatial"}[dimension]
                raise self.error(f"{field.name} takes {dimension} components in a {word} model, got {value!r}.")

    def symbols(self, parameters: Mapping[str, ca.SX]) -> SimpleNamespace:
        """Fields of the element with numbers replaced by the parameter symbols (vectors become columns)."""
        numbers = self.numbers()
        fields: dict[str, Any] = {}
        for field, declared in self._declared().items():
            if field in numbers:
                fields[field] = parameters[f"{self.name}.{field}"]
                continue
            parts = [f"{field}_{axis}" for axis in declared.quantity.labels if f"{field}_{axis}" in numbers]
            if parts:
                fields[field] = ca.vertcat(*(parameters[f"{self.name}.{part}"] for part in parts))
        return SimpleNamespace(**fields)

    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies that the element joins, in order."""
        bodies = (getattr(self, field) for field in self.body_fields)
        return tuple(body if isinstance(body, str) else body.name for body in bodies)

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
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind": type(value).__name__} | fields
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if callable(value):
        return f"function {getattr(value, '__name__', type(value).__name__)} of time"
    return str(value)
