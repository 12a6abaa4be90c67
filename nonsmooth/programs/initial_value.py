"""A smooth phase of motion from its start, without a given end; events and rows are determined by the stepper."""

from collections.abc import Callable
from dataclasses import dataclass

from nonsmooth.compile.casadi_call import Array


@dataclass(frozen=True, eq=False)
class InitialValue:
    """``dy/dt = f(t, y)`` (n,) by `rates`, with the `jacobian` (n, n) by y; the error of the first `core` entries is
    kept below ``atol[i] + rtol |y[i]|``, the others are integrals, on which f does not depend."""

    rates: Callable[[float, Array], Array]
    jacobian: Callable[[float, Array], Array]
    core: int
    size: int
    atol: Array
    rtol: float
