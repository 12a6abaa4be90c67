"""A smooth phase of motion, from its start on: no end is given, events and rows are the stepper's business."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import casadi as ca

from nonsmooth.evaluation import Array

__all__ = ["InitialValue"]


class Expressions(Protocol):
    """CasADi symbols t, y, d and dy/dt, and the index-1 form with accelerations and forces as unknowns."""

    t: ca.SX
    y: ca.SX
    d: ca.SX
    rates: ca.SX

    def algebraic(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Rates, unknowns, equations that vanish."""
        ...


@dataclass(frozen=True, eq=False)
class InitialValue:
    """``dy/dt = f(t, y, d)`` with constants d, of whose entries the first `core` are held to tolerances.

    The rest are integrals, of which f does not depend.

    Parameters
    ----------
    expressions
        What f is made of.
    rates, jacobian, unknowns
        Callables (t, y, d) that give a tuple with dy/dt (n,), its derivative by y (n, n), and the unknowns of the
        algebraic form.
    places, core, size
        How many entries are coordinates, are controlled, and are there at all.
    atol, rtol
        The error of entry i is held below ``atol[i] + rtol |y[i]|``, for coordinates with their change since the start
        in place of y: penetrations are small beside places. atol is (core,).
    """

    expressions: Expressions
    rates: Callable[..., tuple[Array, ...]]
    jacobian: Callable[..., tuple[Array, ...]]
    unknowns: Callable[..., tuple[Array, ...]]
    places: int
    core: int
    size: int
    atol: Array
    rtol: float
