"""Fast numerical evaluation of CasADi functions from NumPy.

A plain call ``F(array)`` converts every argument to ``DM`` and back, about 12 us. The buffered call here copies into
memory that CasADi reads directly and costs well under 1 us besides the function itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["Array", "Evaluator"]


class Evaluator:
    """Calls one CasADi ``Function`` with NumPy arrays.

    Outputs come as a tuple of fresh dense arrays: vectors of shape (n,), but matrices (n, m), column or not, where the
    output's name is listed in `matrices`. Arguments are flattened column by column, scalars are welcome.

    >>> import casadi as ca
    >>> x = ca.SX.sym("x", 2)
    >>> f = ca.Function("f", [x], [x**2, ca.jacobian(x**2, x)], ["x"], ["y", "J"])
    >>> Evaluator(f, matrices=["J"])([1.0, 3.0])
    (array([1., 9.]), array([[2., 0.],
           [0., 6.]]))
    """

    def __init__(self, function: ca.Function, matrices: Iterable[str] = ()) -> None:
        outputs = [ca.densify(output) for output in function.call(function.sx_in())]
        self.function = ca.Function(function.name(), function.sx_in(), outputs, function.name_in(), function.name_out())
        self._buffer, self._run = self.function.buffer()
        self._inputs = [np.zeros(self.function.numel_in(i)) for i in range(self.function.n_in())]
        self._outputs = [np.zeros(self.function.numel_out(i)) for i in range(self.function.n_out())]
        flat = [name not in set(matrices) for name in self.function.name_out()]
        self._shapes = [(-1,) if flat[i] else self.function.size_out(i) for i in range(self.function.n_out())]
        for i, array in enumerate(self._inputs):
            self._buffer.set_arg(i, array.data)
        for i, array in enumerate(self._outputs):
            self._buffer.set_res(i, array.data)

    def __call__(self, *arguments: Any) -> tuple[Array, ...]:
        if len(arguments) != len(self._inputs):
            raise TypeError(
                f"{self.function.name()} takes {len(self._inputs)} arguments "
                f"({', '.join(self.function.name_in())}), got {len(arguments)}."
            )
        for array, value in zip(self._inputs, arguments, strict=True):
            array[:] = value.ravel(order="F") if isinstance(value, np.ndarray) and value.ndim == 2 else value
        self._run()
        outputs = zip(self._outputs, self._shapes, strict=True)
        return tuple([a.copy() if len(shape) == 1 else a.reshape(shape, order="F").copy() for a, shape in outputs])
