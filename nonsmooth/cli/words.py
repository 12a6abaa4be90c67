"""Values of options: durations with units, names for shell completion."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import typer

from nonsmooth.quantities import Wrong, in_unit


def duration(text: str) -> float:
    """Seconds of a number, or of a number with a unit.

    >>> duration("0.02"), duration("10ms"), duration("2 us"), duration("1.5min")
    (0.02, 0.01, 2e-06, 90.0)
    """
    with contextlib.suppress(ValueError):
        return float(text)
    try:
        return in_unit(text, "s")
    except Wrong:
        raise typer.BadParameter(
            f"{text!r} is not a number of seconds, nor a number with a unit of time (s, ms, us, ns, min, h), as in 10ms"
        ) from None


def completed(kind: str) -> Any:
    """A function that offers the names of a kind, for the shell's completion."""

    def offer(incomplete: str) -> list[str]:
        return [name for name in _names(kind) if name.startswith(incomplete)]

    return offer


def _names(kind: str) -> list[str]:
    if kind == "problem":
        from nonsmooth.model.registry import find_problems

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
