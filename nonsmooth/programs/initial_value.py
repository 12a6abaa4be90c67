"""A smooth phase of motion from its start, without a given end; events and rows are determined by the stepper."""

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
    """``dy/dt = f(t, y, d)`` with constants d; the first `core` entries of y are subject to error control.

    The others are integrals, on which f does not depend.

    Parameters
    ----------
    expressions
        The expressions of f, or None where it is known by its values alone.
    rates, jacobian, unknowns
        Callables (t, y, d) that give a tuple with dy/dt (n,), its derivative by y (n, n), and the unknowns of the
        algebraic form, None as well.
    places, core, size
        Numbers of coordinates, of entries with error control, and of all entries.
    atol, rtol
        The error of entry i is kept below ``atol[i] + rtol |y[i]|``, for coordinates with their change since the start
        instead of y, since penetrations are small compared with coordinates. atol is (core,).
    """

    expressions: Expressions | None
    rates: Callable[..., tuple[Array, ...]]
    jacobian: Callable[..., tuple[Array, ...]]
    unknowns: Callable[..., tuple[Array, ...]] | None
    places: int
    core: int
    size: int
    atol: Array
    rtol: float
