"""The state of a run: all data required for the next step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nonsmooth.evaluation import Array

__all__ = ["State"]


@dataclass(frozen=True, eq=False)
class State:
    """Time, coordinates, velocities, and internal states of contact laws and stepper.

    ``t`` [s]; ``q`` (nq,), ``v`` (nv,) right limits. ``law_memory`` contains the internal states of contact laws,
    ``stepper_memory`` those of the stepper (closed contacts, impulses for warm starts), so that a run continues bitwise
    identically.
    """

    t: float
    q: Array
    v: Array
    law_memory: Mapping[str, Array] = field(default_factory=dict)
    stepper_memory: Mapping[str, Array] = field(default_factory=dict)
