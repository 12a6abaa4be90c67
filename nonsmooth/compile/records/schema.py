"""Schemas of records: kinds of fields with their units, and the NumPy data types that they define.

A record is an address, in compiled and in uncompiled code; its attributes are loads and stores. A link is stored as an
offset from the record that contains it, so that the memory can be copied as a whole. Tables of rows alone stand
elsewhere, by their addresses: whoever runs a text states them before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

T = TypeVar("T")


@dataclass(frozen=True)
class Shape:
    """Dimension (2 or 3), rows of a block; options (1: Poisson's law and balanced moment arms, 2: laws integrated along
    the impulse as well), and modes of a flexible body at most, padded: they determine the shapes of fields."""

    dimension: int
    rows: int
    options: int = 0
    modes: int = 0

    @property
    def width(self) -> int:
        """Length of the velocity vector of a body: an odd number of fours in the plane, an even one in space."""
        return 4 * (self.dimension - 1) + self.modes

    def __str__(self) -> str:
        options, modes = f"{self.options}o" * (self.options > 0), f"{self.modes}m" * (self.modes > 0)
        return f"{self.dimension}d{self.rows}r{options}{modes}"


# ---- kinds of fields


@dataclass(frozen=True)
class Field:
    """A field of a record: its unit, its meaning, and whether it is constant during a run."""

    unit: str = "-"
    note: str = ""
    constant: bool = False

    def shape(self, shape: Shape) -> tuple[int, ...]:
        """The shape of its array; () for a scalar."""
        return ()


class Number(Field):
    """A floating-point number."""


class Count(Field):
    """An integer."""


class Vector(Field):
    """Three components and a zero, in the plane as well as in space."""

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return (4,)


class Motion(Field):
    """A velocity, displacement or force of a body: (x, y, angle, 0) or (linear, 0, angular, 0); then of modes."""

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return (shape.width,)


class Placement(Field):
    """(x, y, cos, sin) in the plane; the position and the columns of the rotation matrix in space."""

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return (4,) if shape.dimension == 2 else (4, 4)


class Masses(Field):
    """(m, m, I, 0), in space (m, m, m, 0) and columns of the inertia matrix; then modes by fours; or their inverses."""

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return (shape.width,) if shape.dimension == 2 else (4 + shape.modes // 4, 4)


class ModalMasses(Masses):
    """Masses that only mechanisms with flexible bodies have; of others a single number, which is not used."""

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return super().shape(shape) if shape.modes else (1,)


class ModalMotion(Motion):
    """A motion that only mechanisms with flexible bodies have."""

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return super().shape(shape) if shape.modes else (1,)


class Wrenches(Field):
    """Force and torque, as a motion of a rigid body, per row of a block; of mechanisms with flexible bodies only."""

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return (shape.rows, 4 * (shape.dimension - 1)) if shape.modes else (1,)


class Rows(Field):
    """One number per row of a block."""

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return (shape.rows,)


class Block(Field):
    """A square matrix with the rows and columns of a block."""

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return (shape.rows, shape.rows)


class Directions(Field):
    """One constraint direction of a body, as a `Motion`, per row of a block."""

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return (shape.rows, shape.width)


@dataclass(frozen=True)
class Link(Field):
    """A reference to another record."""

    to: str = ""
    constant: bool = True


@dataclass(frozen=True)
class Inside(Field):
    """A record embedded in this one; links may refer to it."""

    of: str = ""
    constant: bool = True


@dataclass(frozen=True)
class Many(Field):
    """A reference to contiguous records, none in shapes of fewer rows than `least`: offset of the first, and number."""

    to: str = ""
    constant: bool = True
    least: int = 0

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return (2,)


# ---- tables of rows


@dataclass(frozen=True)
class Table(Field):
    """One number per row of a run, or per row and record, outside the memory of records: the address of the first row,
    bytes from each row to the next. In a text ``rows.t[k]``, or ``rows.gap[k, contact]``; a record states its first
    column."""

    constant: bool = True
    #: field of a record that is the number of its first column; "" if a row has one number
    column: str = ""
    #: bytes of a number
    size: ClassVar[int] = 8

    def shape(self, shape: Shape) -> tuple[int, ...]:
        return (2,)

    def value(self, shape: Shape) -> tuple[int, ...]:
        """The shape of what a text reads and writes; () for a number."""
        return ()

    def width(self, shape: Shape) -> int:
        """Columns from those of a record to those of the next one, of which `column` counts the records before it."""
        return 1

    def stored(self, shape: Shape) -> list[int]:
        """Components of the value that have columns, in their order."""
        return [0]


class ModeTable(Table):
    """An integer of a byte per contact."""

    size = 1


class TangentTable(Table):
    """Tangential components of rows of contacts."""

    def value(self, shape: Shape) -> tuple[int, ...]:
        return (shape.rows,)

    def width(self, shape: Shape) -> int:
        return shape.dimension - 1

    def stored(self, shape: Shape) -> list[int]:
        return list(range(1, shape.dimension)) if shape.rows > 1 else []


class VectorTable(Table):
    """A vector per reaction, whose columns are followed by those of another one."""

    def value(self, shape: Shape) -> tuple[int, ...]:
        return (4,)

    def width(self, shape: Shape) -> int:
        return 3 * (shape.dimension - 1)

    def stored(self, shape: Shape) -> list[int]:
        return list(range(shape.dimension))


class MomentTable(VectorTable):
    """A moment per reaction, in the plane a number."""

    def stored(self, shape: Shape) -> list[int]:
        return [0] if shape.dimension == 2 else [0, 1, 2]


class VelocityTable(Table):
    """A velocity per body, with as many modes as it has."""

    def value(self, shape: Shape) -> tuple[int, ...]:
        return (shape.width,)

    def stored(self, shape: Shape) -> list[int]:
        return [0, 1, 2] if shape.dimension == 2 else [0, 1, 2, 4, 5, 6]


class PositionTable(VelocityTable):
    """A position per body, in space with a quaternion, with as many modes as it has."""

    def stored(self, shape: Shape) -> list[int]:
        return [0, 1, 2] if shape.dimension == 2 else [0, 1, 2, 4, 5, 6, 7]


# ---- schemas


class Schema:
    """The fields of a kind of record, inherited ones first, and the schema in which each of them is defined."""

    def __init__(self, name: str, fields: dict[str, Field], extends: Schema | None) -> None:
        self.name, self.extends = name, extends
        self.fields: dict[str, Field] = {**(extends.fields if extends else {}), **fields}
        self.owner: dict[str, str] = {**(extends.owner if extends else {}), **dict.fromkeys(fields, name)}


SCHEMAS: dict[str, Schema] = {}


def record(cls: type[T]) -> type[T]:
    """Register a class whose attributes are fields as a schema; inherited fields keep their offsets."""
    fields = {name: kind for name, kind in vars(cls).items() if isinstance(kind, Field)}
    base = cls.__bases__[0]
    SCHEMAS[cls.__name__] = Schema(cls.__name__, fields, SCHEMAS[base.__name__] if base is not object else None)
    return cls


@functools.cache
def dtype(schema: str, shape: Shape) -> np.dtype[Any]:
    """The NumPy data type of a record; fields whose length is a multiple of four come first, aligned to 32 bytes."""
    of = SCHEMAS[schema]
    names: list[str] = []
    formats: list[Any] = []
    offsets: list[int] = []
    end = 0
    if of.extends:
        base = dtype(of.extends.name, shape)
        names = list(base.names or ())
        formats, offsets = ([_fields(base)[name][k] for name in names] for k in (0, 1))
        end = base.itemsize
    kinds = {name: _format(kind, shape) for name, kind in of.fields.items() if name not in names}
    for name in sorted(kinds, key=lambda name: kinds[name].itemsize % 32 != 0):
        names.append(name)
        formats.append(kinds[name])
        offsets.append(end)
        end += kinds[name].itemsize
    whole = 32 if any(kind.itemsize % 32 == 0 for kind in formats) else 8
    layout = {"names": names, "formats": formats, "offsets": offsets, "itemsize": -(-end // whole) * whole}
    return np.dtype(cast(Any, layout))


def offset(schema: str, shape: Shape, *path: str) -> int:
    """Offset [bytes] of a field from its record, along a path of embedded records."""
    total = 0
    for name in path:
        kind = SCHEMAS[schema].fields[name]
        total += _fields(dtype(schema, shape))[name][1]
        schema = kind.of if isinstance(kind, Inside) else schema
    return total


def _fields(kind: np.dtype[Any]) -> Any:
    return kind.fields


def _format(kind: Field, shape: Shape) -> np.dtype[Any]:
    if isinstance(kind, Inside):
        return dtype(kind.of, shape)
    whole: Callable[..., Any] = np.int64 if isinstance(kind, Count | Link | Many | Table) else np.float64
    return np.dtype((whole, kind.shape(shape)))
