"""Compiled runs: mechanisms in a memory of records, the steps that schemes take there, and tables of their rows."""

import importlib
from typing import Any

__all__ = ["steps_of"]


def steps_of(stepper: Any) -> Any:
    """The class of the runs of a stepper, a `Run`, which the stepper names by its class variable `compiled`."""
    module, _, name = type(stepper).compiled.rpartition(".")
    return getattr(importlib.import_module(module), name)
