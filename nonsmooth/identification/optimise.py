"""Smooth functions from NumPy in IPOPT: value and Jacobian by callbacks, curvature by its quasi-Newton updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array

Function = Callable[[Array], tuple[Array, Array]]


def minimise(values: Function, x: Array, rows: Array, *, iterations: int, tolerance: float) -> Array:
    """Minimise the first of some functions where the others are at most 1 and ``rows x <= 1``.

    Parameters
    ----------
    values : x -> functions (m,) and their Jacobian (m, n)
    x : start (n,)
    rows : (k, n)
    iterations : at most; the last iterate is returned then
    tolerance : of IPOPT's scaled conditions of optimality
    """
    size, count = len(x), len(values(x)[0])
    slopes = _Dense("slopes", [size, count], (count, size), lambda x, _: values(x)[1])
    callback = _Dense("values", [size], (count, 1), lambda x: values(x)[0], slopes)
    symbol = ca.MX.sym("x", size)
    found = callback(symbol)
    constraints = ca.DM(rows) @ symbol
    if count > 1:
        constraints = ca.vertcat(constraints, found[1:])
    options = {
        "ipopt.hessian_approximation": "limited-memory", "ipopt.max_iter": iterations, "ipopt.tol": tolerance,
        "ipopt.acceptable_tol": 10 * tolerance, "ipopt.acceptable_iter": 5, "ipopt.print_level": 0,
        "ipopt.sb": "yes", "ipopt.mu_strategy": "adaptive", "print_time": False, "error_on_fail": False,
        "ipopt.bound_relax_factor": 0.0,
    }  # fmt: skip
    solver = ca.nlpsol("excite", "ipopt", {"x": symbol, "f": found[0], "g": constraints}, options)
    result = solver(x0=x, lbg=-np.inf, ubg=1.0)
    return np.array(result["x"]).ravel()


class _Dense(ca.Callback):
    """A function of columns of these sizes that gives one table, with another one as its Jacobian."""

    def __init__(
        self, name: str, sizes: list[int], shape: tuple[int, int], function: Callable[..., Array],
        slopes: ca.Callback | None = None,
    ) -> None:  # fmt: skip
        ca.Callback.__init__(self)
        self._sizes, self._shape, self._function, self._slopes = sizes, shape, function, slopes
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self._sizes)

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self._sizes[i], 1)

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(*self._shape)

    def eval(self, arguments: Any) -> Any:
        return [ca.DM(self._function(*(np.array(one).ravel() for one in arguments)))]

    def has_jacobian(self) -> bool:
        return self._slopes is not None

    def get_jacobian(self, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
        return self._slopes
