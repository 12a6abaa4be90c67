"""A smooth phase of motion from its start, without a given end; events and rows are determined by the stepper."""

from collections.abc import Callable
from dataclasses import dataclass

from nonsmooth.compile.casadi_call import Array


@dataclass(frozen=True, eq=False)
class InitialValue:
    """``dy/dt = f(t, y)``; the first `core` entries of y are subject to error control.

    The others are integrals, on which f does not depend.

    Parameters
    ----------
    rates, jacobian
        Callables (t, y) that give dy/dt (n,), and its derivative by y (n, n).
    core, size
        Numbers of entries with error control, and of all entries.
    atol, rtol
        The error of entry i is kept below ``atol[i] + rtol |y[i]|``. atol is (core,).
    """

    rates: Callable[[float, Array], Array]
    jacobian: Callable[[float, Array], Array]
    core: int
    size: int
    atol: Array
    rtol: float
