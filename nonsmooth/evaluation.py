"""Fast numerical evaluation of CasADi functions from NumPy.

A plain call ``F(array)`` converts every argument to ``DM`` and back, about 12 us. The buffered call here copies into
memory that CasADi reads directly and costs well under 1 us in addition to the function itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["Array", "Evaluator"]


class Evaluator:
    """Calls one CasADi ``Function`` with NumPy arrays.

    Outputs are a tuple of new dense arrays: vectors of shape (n,), or matrices (n, m) if the output's name is listed in
    `matrices`. Arguments are flattened column by column; scalars are accepted.

    >>> import casadi as ca
    >>> x = ca.SX.sym("x", 2)
    >>> f = ca.Function("f", [x], [x**2, ca.jacobian(x**2, x)], ["x"], ["y", "J"])
    >>> Evaluator(f, matrices=["J"])([1.0, 3.0])
    (array([1., 9.]), array([[2., 0.],
           [0., 6.]]))
    """

    def __init__(self, function: ca.Function, matrices: Iterable[str] = ()) -> None:
        self.function = function
        self._buffer, self._run = self.function.buffer()
        self._inputs = [np.zeros(function.numel_in(i)) for i in range(function.n_in())]
        for i, array in enumerate(self._inputs):
            if not function.sparsity_in(i).is_dense():
                raise TypeError(f"{function.name()} takes a sparse argument, {function.name_in(i)}.")
            self._buffer.set_arg(i, array.data)
        # entries that CasADi writes, with shape and indices of these entries; None for a dense output
        self._outputs: list[Array] = []
        self._forms: list[tuple[tuple[int, ...], Any]] = []
        named = {*matrices}
        for i, name in enumerate(function.name_out()):
            sparsity, entries = function.sparsity_out(i), np.zeros(function.nnz_out(i))
            self._buffer.set_res(i, entries.data)
            shape = sparsity.shape if name in named else (math.prod(sparsity.shape),)
            if sparsity.is_dense():
                self._outputs.append(entries.reshape(shape, order="F"))
                self._forms.append((shape, None))
            else:
                self._outputs.append(entries)
                self._forms.append((shape, np.array(sparsity.find(), dtype=np.intp)))

    def __call__(self, *arguments: Any) -> tuple[Array, ...]:
        if len(arguments) != len(self._inputs):
            raise TypeError(
                f"{self.function.name()} takes {len(self._inputs)} arguments "
                f"({', '.join(self.function.name_in())}), got {len(arguments)}."
            )
        for array, value in zip(self._inputs, arguments, strict=True):
            array[:] = value.ravel(order="F") if isinstance(value, np.ndarray) and value.ndim == 2 else value
        self._run()
        results = []
        for entries, (shape, places) in zip(self._outputs, self._forms, strict=True):
            if places is None:
                results.append(entries.copy())
            else:
                flat = np.zeros(math.prod(shape))
                flat[places] = entries
                results.append(flat.reshape(shape, order="F"))
        return tuple(results)
