"""Compiled runs: mechanisms in a memory of records, the steps that schemes take there, and tables of their rows."""

import importlib
from typing import Any

__all__ = ["steps_of"]


def steps_of(stepper: Any) -> Any:
    """The class of the runs of a stepper, which it names by its class variable `compiled`: a `Run` that is made of a
    system, a stepper, step control, parameters and the end of the run."""
    module, _, name = type(stepper).compiled.rpartition(".")
    return getattr(importlib.import_module(module), name)
