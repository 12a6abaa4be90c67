"""The state of a run: everything that the next step needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nonsmooth.evaluation import Array

__all__ = ["State"]


@dataclass(frozen=True, eq=False)
class State:
    """Time, coordinates, velocities, and the memories of law and stepper.

    ``t`` [s]; ``q`` (nq,), ``v`` (nv,) right limits. ``law_memory`` holds what a contact law remembers,
    ``stepper_memory`` what a stepper does (closed contacts, impulses for warm starts), so that a run continues to the
    same bits.
    """

    t: float
    q: Array
    v: Array
    law_memory: Mapping[str, Array] = field(default_factory=dict)
    stepper_memory: Mapping[str, Array] = field(default_factory=dict)
