"""The state of compiled steps for checkpoints: the values of their records, without addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.model.state import State
from nonsmooth.records.schema import SCHEMAS, Inside, Link, Many

__all__ = ["held", "hold"]


def held(steps: CompiledSteps, state: State) -> dict[str, Any] | None:
    """Data for the next step from a state; None before the first one.

    `there` tells whether the records are at the state already, as they are but after a rescued step.
    """
    if steps._at is None and not any(steps.counts.values()):
        return None
    records = {name: np.array(values) for name, values in _numbers(steps)}
    return {"there": steps._at is state, "records": records, "outside": steps.held_outside()}


def hold(steps: CompiledSteps, known: Mapping[str, Any], state: State, origin: float) -> None:
    """Resume from a checkpoint at a state, on a grid that begins at `origin`.

    Raises
    ------
    ValueError
        If it is none of such steps.
    """
    steps._put(state, origin)
    found, records = dict(_numbers(steps)), known["records"]
    if set(found) != set(records):
        raise ValueError("its records are those of other steps")
    for name, values in records.items():
        if np.shape(values) != found[name].shape or np.asarray(values).dtype != found[name].dtype:
            raise ValueError(f"the records {name[:40]} are of another size")
    for name, values in records.items():
        found[name][...] = values
    if known["outside"] is not None:
        steps.hold_outside(known["outside"])
        for name, values in records.items():  # what resumes outside may use them
            found[name][...] = values
    steps._at = state if known["there"] else None


def _numbers(steps: CompiledSteps) -> Iterator[tuple[str, Any]]:
    """Fields that change during a run, as views; rows are kept by the recorder."""
    for name, records in steps.memory.of.items():
        if not name.endswith("Row"):
            yield from _of(name, records, name)


def _of(schema: str, records: Any, name: str) -> Iterator[tuple[str, Any]]:
    for key, kind in SCHEMAS[schema].fields.items():
        if isinstance(kind, Inside):
            yield from _of(kind.of, records[key], f"{name}.{key}")
        elif not (kind.constant or isinstance(kind, Link | Many)):
            yield f"{name}.{key}", records[key]
