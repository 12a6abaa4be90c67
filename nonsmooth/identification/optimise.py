"""Smooth functions from NumPy in IPOPT: value and Jacobian by callbacks, curvature by its quasi-Newton updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.evaluation import Array

__all__ = ["minimise"]

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
    callback = _Values(values, size, count)
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


class _Values(ca.Callback):
    """The functions, with their Jacobian as another callback."""

    def __init__(self, values: Function, size: int, count: int) -> None:
        ca.Callback.__init__(self)
        self._values, self._shape = values, (count, size)
        self.construct("values", {})

    def get_n_in(self) -> int:
        return 1

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self._shape[1], 1)

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(self._shape[0], 1)

    def eval(self, arguments: Any) -> Any:
        return [self._values(np.array(arguments[0]).ravel())[0]]

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(self, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
        self._slopes = _Slopes(self._values, self._shape, name)  # kept, since CasADi refers to it
        return self._slopes


class _Slopes(ca.Callback):
    """(x, values) -> Jacobian."""

    def __init__(self, values: Function, shape: tuple[int, int], name: str) -> None:
        ca.Callback.__init__(self)
        self._values, self._shape = values, shape
        self.construct(name, {})

    def get_n_in(self) -> int:
        return 2

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self._shape[1 - i], 1)

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(*self._shape)

    def eval(self, arguments: Any) -> Any:
        return [ca.DM(self._values(np.array(arguments[0]).ravel())[1])]
