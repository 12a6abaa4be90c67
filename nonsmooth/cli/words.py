"""Values of options: durations with units, names for shell completion."""

from __future__ import annotations

import os
import re
from decimal import Decimal
from typing import Any

import typer

#: units of time and their length [s]
UNITS = {
    "s": Decimal(1), "ms": Decimal("1e-3"), "us": Decimal("1e-6"), "µs": Decimal("1e-6"), "μs": Decimal("1e-6"),
    "ns": Decimal("1e-9"), "min": Decimal(60), "h": Decimal(3600),
}  # fmt: skip
WRITTEN = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([a-zµμ]+)\s*")


def duration(text: str) -> float:
    """Seconds of a number, or of a number with a unit.

    >>> duration("0.02"), duration("10ms"), duration("2 us"), duration("1.5min")
    (0.02, 0.01, 2e-06, 90.0)
    """
    try:
        return float(text)
    except ValueError:
        found = WRITTEN.fullmatch(text)
    if found is None or found[2] not in UNITS:
        accepted = ", ".join(unit for unit in UNITS if unit.isascii())
        raise typer.BadParameter(
            f"{text!r} is not a number of seconds, nor a number with a unit of time ({accepted}), as in 10ms"
        )
    return float(Decimal(found[1]) * UNITS[found[2]])  # 10ms is the number nearest to .01


def completed(kind: str) -> Any:
    """A function that offers the names of a kind, for the shell's completion."""

    def offer(incomplete: str) -> list[str]:
        return [name for name in _names(kind) if name.startswith(incomplete)]

    return offer


def _names(kind: str) -> list[str]:
    if kind == "problem":
        from nonsmooth.registry import find_problems

        return [*sorted(find_problems()), *sorted(name for name in os.listdir() if name.endswith((".py", ".toml")))]
    if kind == "run":
        return sorted(name for name in os.listdir() if name.endswith(".nc"))
    if kind == "stepper":
        from nonsmooth import steppers

        return list(steppers.names())
    if kind == "solver":
        from nonsmooth import solvers

        return list(solvers.names())
    from nonsmooth import laws

    return list(laws.names("normal" if kind == "law" else "friction"))
