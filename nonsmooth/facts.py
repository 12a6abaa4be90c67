"""Known numbers of a mechanism, and the functions that measure them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Fact", "Facts"]


@dataclass(frozen=True)
class Fact:
    """One known number of a mechanism.

    Parameters
    ----------
    name
    unit
        Display unit, ``"mm"``, ``"N"``, ``"-"`` for none.
    expected
        The known value, in this unit.
    tolerance
        Largest difference that counts as agreement, in this unit.
    note
        Origin and meaning of the number.
    """

    name: str
    unit: str
    expected: float
    tolerance: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Facts:
    """Numbers that are measured together.

    Parameters
    ----------
    name
        Their subject.
    measure
        Function without arguments that returns the numbers by name, in their units.
    entries
    """

    name: str
    measure: Callable[[], Mapping[str, float]]
    entries: tuple[Fact, ...]
