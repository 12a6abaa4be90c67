"""Numbers about a mechanism that are known from elsewhere, and the functions that measure them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Fact", "Facts"]


@dataclass(frozen=True)
class Fact:
    """One number about a mechanism that is known from elsewhere.

    Parameters
    ----------
    name
    unit
        Display unit, ``"mm"``, ``"N"``, ``"-"`` for none.
    expected
        What is known, in this unit.
    tolerance
        Largest difference to it that counts as agreement, in this unit.
    note
        Where the number comes from, and what it means.
    """

    name: str
    unit: str
    expected: float
    tolerance: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Facts:
    """Numbers that are found together.

    Parameters
    ----------
    name
        What they are about.
    measure
        Function without arguments that gives each number by its name, in its unit.
    entries
    """

    name: str
    measure: Callable[[], Mapping[str, float]]
    entries: tuple[Fact, ...]
