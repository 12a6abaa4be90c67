"""Compiled runs: mechanisms in a memory of records, the steps that schemes take there, and tables of their rows."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonsmooth.engine.run import Run

__all__ = ["steps_of"]


def steps_of(stepper: Any) -> type[Run]:
    """The run of a stepper, which it names by its class variable `compiled`."""
    module, _, name = type(stepper).compiled.rpartition(".")
    found: type[Run] = getattr(importlib.import_module(module), name)
    return found
