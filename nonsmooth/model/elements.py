"""The common base of all elements: a name, numbers with units and ranges, and symbols for those numbers.

Numbers that an element declares as a `Quantity` become parameters of the system, ``"element.field"``: inputs of every
compiled function, so that a sweep over them does not rebuild anything. Vectors become one parameter per component,
``"element.field_x"``.
"""

import contextlib
import dataclasses
import math
import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from types import NoneType, SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import casadi as ca
import numpy as np

from nonsmooth.exceptions import InputError, ModelError
from nonsmooth.model.drawing import Primitive, Spot, vector
from nonsmooth.model.fits import Fit, Scatter, Toleranced, looks_stated, stated
from nonsmooth.model.signals import TimeFunction, wrong_arguments
from nonsmooth.quantities import (
    AXES,
    Declared,
    Quantity,
    Wrong,
    converted,
    declarations,
    field_units,
    in_unit,
    is_numeric,
    parts_of,
)  # fmt: skip
from nonsmooth.settings import Called, floats, require, shown, wrong_flag

#: defaults of points: the origin of the body, with two or three components; in space
ORIGIN: tuple[float, ...] = (0.0, 0.0)
SPACE = (0.0, 0.0, 0.0)
#: deviation of a quaternion's norm from 1 that is treated as rounding of its digits
NORM = 1e-6
NO_FIT = '{} takes no fit, which states a clearance; give a number, or "0.12 ±3e-5".'


@dataclass(frozen=True, eq=False)
class Element(metaclass=Called):
    """Base of bodies, joints, drivers, clearances and forces: a name and declared quantities. ModelError for a name
    that is no word without dots, a number out of its range, a direction that is zero, a quaternion not of norm 1, a
    field that is missing, or fields of plane and space that are mixed."""

    name: str

    #: names of the fields that contain the element's bodies, in order
    body_fields: ClassVar[tuple[str, ...]] = ()
    #: raised for a call that cannot be meant
    misuse: ClassVar[type[ModelError]] = ModelError
    #: dimensions (2 planar, 3 spatial) in which the element exists
    dimensions: ClassVar[tuple[int, ...]] = (2, 3)
    #: whether the placements that it is given in the plane have angles, with full turns
    turns: ClassVar[bool] = False
    #: fields that make an element that exists in both dimensions a spatial one
    in_space: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable() or not self.name or "." in self.name:
            raise ModelError(f"{type(self).__name__}: a name is a non-empty word without dots, got {shown(self.name)}.")
        for field in self.body_fields:
            body = getattr(self, field)
            require(isinstance(body, (str, Element)), f"{field} must be a body or the name of one", body, self.error)
        wrong = wrong_flag(self)
        if wrong:
            raise self.error(wrong)
        self._read_texts()
        for one in dataclasses.fields(self):
            parts = parts_of(getattr(self, one.name))
            if one.name not in self._declared() and any(isinstance(part, Scatter) for part in parts):
                raise self.error(f"{one.name} takes no tolerance, since it is no parameter; give plain numbers.")
        numbers = self.numbers()
        for label, value in numbers.items():
            self.check(label, value)
        self.check_together(numbers)

    def _read_texts(self) -> None:
        """Numbers in SI units in place of texts such as ``"30 um"`` and ``"20 H7/g6"``; ModelError for other texts, and
        for a callable that is no function of time."""
        for field, unit in field_units(cast(Hashable, type(self))).items():
            value = getattr(self, field)
            own = self.quantity(field).unit if field in self._declared() else unit
            try:
                number = converted(value, partial(in_unit, unit=own), lambda x: is_numeric(x) and not looks_stated(x))
                for part in parts_of(value):
                    if isinstance(part, TimeFunction):
                        part.check_units(own)
            except Wrong as error:
                if isinstance(value, TimeFunction):
                    raise self.error(f"{field}: {error}.") from None
                also = "; a function of time is lambda t: ..., a Ramp, a Harmonic or a Table"
                raise self.error(f"{field} {error}{also if self.of_time(field) else ''}.") from None
            if number is not value:
                object.__setattr__(self, field, number)
        for field in self._declared():
            value = getattr(self, field)
            parts = parts_of(value)
            if any(isinstance(one, str) and looks_stated(one) for one in parts):
                try:
                    number = partial(in_unit, unit=self.quantity(field).unit)
                    read = tuple(
                        stated(one, number) if isinstance(one, str) and looks_stated(one) else one for one in parts
                    )
                except InputError as error:
                    raise self.error(f"{field}: {error}") from None
                object.__setattr__(self, field, read if isinstance(value, tuple | list) else read[0])
                parts = read
            if "clearance" not in field and any(isinstance(one, Fit) for one in parts):
                raise self.error(NO_FIT.format(field))
            given = wrong_arguments(value, 1) if self.of_time(field) and callable(value) else None
            if given is not None:
                what = field if field in ("force", "torque") else "force"
                raise self.error(
                    f"{field} must be a function of time alone, but it takes {given}; what depends on the motion is a "
                    f"Load: Load(name, a, b, {what}=lambda t, a, b, p: ...)."
                )

    def _fill_origin(self) -> None:
        """Set omitted points of its bodies to the origin, with two or three components."""
        for point in ("at_a", "at_b"):
            if getattr(self, point, None) is ORIGIN:
                object.__setattr__(self, point, (0.0,) * self.dimensions[0])

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
            array = None
            with contextlib.suppress(OverflowError, TypeError, ValueError):
                array = None if value is None else floats(value)
            single = array is not None and array.ndim == 0
            # components of points that are left out are zero
            vector = array is not None and array.ndim == 1 and (array.size > 0 or field.startswith("at"))
            if array is None or not (single and float in declared.forms or vector and tuple in declared.forms):
                raise self.error(f"{field} must be {declared.accepted}, got {shown(value)}.")
            if single:
                numbers[field] = float(array)
                continue
            labels = declared.quantity.labels
            if array.size > len(labels):
                raise self.error(f"{field} takes at most {len(labels)} components, got {array.size}.")
            numbers.update({f"{field}_{labels[i]}": float(x) for i, x in enumerate(array)})
        return numbers

    def toleranced(self) -> dict[str, Fit | Toleranced]:
        """Numbers given as fits or with a tolerance, by local name."""
        found: dict[str, Fit | Toleranced] = {}
        for field, declared in self._declared().items():
            value = getattr(self, field)
            if isinstance(value, Fit | Toleranced):
                found[field] = value
            elif isinstance(value, tuple | list):
                parts = zip(declared.quantity.labels, value, strict=False)
                found |= {f"{field}_{axis}": x for axis, x in parts if isinstance(x, Fit | Toleranced)}
        return found

    def check_stated(self, label: str, value: Any) -> None:
        """Raise ModelError for a fit of what is no clearance, or a number that is the diametral one of a fit."""
        own = self.toleranced().get(label)
        try:
            if isinstance(own, Fit) and not isinstance(value, Fit):
                own.check_beside(value)
        except InputError as error:
            raise self.error(str(error)) from None
        if isinstance(value, Fit) and "clearance" not in label:
            raise self.error(NO_FIT.format(label))

    def of_time(self, field: str) -> bool:
        """Whether a callable in this field is a function of time."""
        declared = self._declared().get(field)
        return declared is not None and Callable in declared.forms

    def _declared(self) -> dict[str, Declared]:
        return declarations(cast(Hashable, type(self)))

    def quantity(self, label: str) -> Quantity:
        """The declaration of a local parameter name."""
        declared = self._declared()
        return (declared[label] if label in declared else declared[label.rpartition("_")[0]]).quantity

    def check(self, label: str, value: float) -> None:
        """Raise ModelError if `value` is not acceptable for the parameter `label`."""
        accepted = self.quantity(label)
        if not accepted.accepts(value):
            tiny = ", which is too small to divide by" if 0.0 < value < sys.float_info.min else ""
            raise self.error(f"{label} must be {accepted.accepted}, got {shown(value)}{tiny}.")

    def check_together(self, numbers: Mapping[str, float]) -> None:
        """Raise ModelError for a direction that is zero, a quaternion not of norm 1, or inconsistent numbers."""
        for name, declared in self._declared().items():
            quantity, labels = declared.quantity, declared.quantity.labels
            parts = [numbers[f"{name}_{axis}"] for axis in labels if f"{name}_{axis}" in numbers]
            if not parts or quantity.unit != "-":
                continue
            if len(parts) != len(labels):
                raise self.error(f"{name} takes {len(labels)} components, got {len(parts)}.")
            norm = math.sqrt(math.fsum(part * part for part in parts))
            if labels == AXES and not norm > 0.0:
                raise self.error(f"{name} must be a direction, a vector that is not zero, got {tuple(parts)}.")
            if labels != AXES and not abs(norm - 1.0) <= NORM:
                raise self.error(
                    f"{name} must have norm 1 within {NORM:g}, got {tuple(parts)} of norm {norm:.9g}; divide by it."
                )

    def check_components(self, dimension: int) -> None:
        """Raise ModelError unless vectors have one component per dimension."""
        for field in dataclasses.fields(self):
            declared, value = self._declared().get(field.name), getattr(self, field.name)
            if declared is None or float in declared.forms or declared.quantity.labels != AXES or callable(value):
                continue
            if value is not None:
                self.check_length(field.name, dimension, omitted=field.default == ())

    def check_length(self, name: str, dimension: int, *, omitted: bool) -> None:
        """Raise ModelError unless a vector has one component per dimension, or none, if it may be omitted."""
        value = getattr(self, name)
        if len(value) != dimension and not (omitted and len(value) == 0):
            word = {2: "planar", 3: "spatial"}[dimension]
            raise self.error(f"{name} takes {dimension} components in a {word} model, got {shown(value)}.")

    def _fields(self, parameters: Mapping[str, Any], number: Any, column: Any) -> SimpleNamespace:
        """Fields with their parameters by full name, those of vectors joined; a field without any is omitted."""
        fields: dict[str, Any] = {}
        for field, declared in self._declared().items():
            names = (f"{self.name}.{field}_{label}" for label in declared.quantity.labels)
            parts = [parameters[name] for name in names if name in parameters]
            if f"{self.name}.{field}" in parameters:
                fields[field] = number(parameters[f"{self.name}.{field}"])
            elif parts:
                fields[field] = column(parts)
        return SimpleNamespace(**fields)

    def symbols(self, parameters: Mapping[str, ca.SX]) -> SimpleNamespace:
        """Fields of the element with numbers replaced by the parameter symbols (vectors become columns)."""
        return self._fields(parameters, lambda x: x, lambda parts: ca.vertcat(*parts))

    def values(self, parameters: Mapping[str, float]) -> SimpleNamespace:
        """Fields of the element with numbers in place of symbols: floats, and arrays for vectors."""
        return self._fields(parameters, float, lambda parts: np.array(parts, dtype=float))

    def with_numbers(self, changes: Mapping[str, float]) -> Self:
        """The element with other numbers, by local name."""
        values = vars(self.values({f"{self.name}.{label}": x for label, x in (self.numbers() | dict(changes)).items()}))
        numbers: dict[str, Any] = {}
        for field, declared in self._declared().items():
            own = {field, *(f"{field}_{one}" for one in declared.quantity.labels)}
            if own & changes.keys() and field in values:
                x = values[field]
                numbers[field] = x if isinstance(x, float) else tuple(x.tolist())
        return dataclasses.replace(self, **numbers) if numbers else self

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """Its primitives, with the parameter values p as numbers; see `nonsmooth.model.drawing`."""
        return ()

    def spots(self, p: SimpleNamespace) -> Any:
        """For each of its bodies the point ``at_<field>`` (or ``at``) at which it acts; the origin if there is none."""
        points = (getattr(p, f"at_{field}", getattr(p, "at", ())) for field in self.body_fields)
        return tuple(Spot(name, vector(at)) for name, at in zip(self.body_names(), points, strict=True))

    def body_names(self) -> tuple[str, ...]:
        """Names of the element's bodies, in order."""
        bodies = (getattr(self, field) for field in self.body_fields)
        return tuple(body if isinstance(body, str) else body.name for body in bodies)

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> "Element":
        """An element from its description; laws and functions of time remain plain data."""
        element = object.__new__(cls)
        for field, value in data.items():
            if field != "kind":
                object.__setattr__(element, field, tuple(value) if isinstance(value, list) else value)
        return element

    def describe(self) -> dict[str, Any]:
        """The element as plain data, for the manifest."""
        data: dict[str, Any] = {"kind": type(self).__name__, "name": self.name}
        for field in dataclasses.fields(self):
            if field.name == "name":
                continue
            value = getattr(self, field.name)
            data[field.name] = value.name if isinstance(value, Element) else _plain(value)
        return data


@dataclass(frozen=True, eq=False)
class _PlanarOrSpatial(Element):
    """Base of elements that exist in the plane and, where their fields `in_space` are given, in space."""

    #: numbers that are zero in space
    only_in_plane: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in self.only_in_plane if self.spatial else ():
            if getattr(self, field) != 0.0:
                raise self.error(f"{field} is for planar models; in space give {self.in_space} instead.")
        fields = self.in_space.split(" and ")
        missing = [field for field in fields if getattr(self, field) is None]
        if 0 < len(missing) < len(fields):
            given = next(field for field in fields if field not in missing)
            raise self.error(f"{given} is given without {missing[0]}; give both in space, neither in the plane.")
        self._fill_origin()
        super().__post_init__()

    @property
    def spatial(self) -> bool:
        """Whether the fields that make it spatial are given."""
        return getattr(self, self.in_space.split(" and ")[0]) is not None

    if not TYPE_CHECKING:  # a class variable of other elements

        @property
        def dimensions(self) -> tuple[int, ...]:
            return (3,) if self.spatial else (2,)


def _plain(value: Any) -> Any:
    if isinstance(value, Scatter):
        return float(value)
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
