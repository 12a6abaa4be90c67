"""The Levenberg-Marquardt method within bounds, by SciPy, with difference quotients of decreasing steps."""

from collections.abc import Callable
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array

#: steps of differences, in the unit of the unknowns; a motion with impacts has kinks at smaller scales
STEPS = 2e-3, 2e-4, 2e-5
#: relative decrease of the sum of squares, and relative change of the unknowns, below which it counts as minimal
SETTLED, STILL = 1e-5, 1e-6


def levenberg_marquardt(
    residual: Callable[[Array], Array], x: Array, low: Array, high: Array, *, iterations: int, free: Array | None = None
) -> tuple[Array, float]:
    """The local minimum of the sum of squares of the residuals near x, and its value.

    Parameters
    ----------
    residual : x -> (m,)
    x : start (n,)
    low, high : bounds (n,)
    iterations : at most
    free : (n,) of bool, which unknowns may move; all where omitted
    """
    from scipy.optimize import least_squares

    x = np.clip(np.asarray(x, dtype=float), low, high)
    moving = np.arange(len(x)) if free is None else np.flatnonzero(free)
    last: list[Any] = [None, None]

    def of(y: Array) -> Array:
        """Residuals at the unknowns that move, of the last ones without another evaluation."""
        if last[0] is None or not np.array_equal(last[0], y):
            whole = x.copy()
            whole[moving] = y
            last[:] = y.copy(), residual(whole)
        return np.asarray(last[1])

    def slopes(y: Array, step: float) -> Array:
        """One-sided differences, inwards at bounds."""
        base, columns = of(y), []
        for i in range(len(y)):
            moved = x.copy()
            moved[moving] = y
            h = step if y[i] + step <= high[moving[i]] else -step
            moved[moving[i]] += h
            columns.append((residual(moved) - base) / h)
        return np.column_stack(columns)

    y, left = x[moving], iterations
    cost = float(of(y) @ of(y))
    for step in STEPS if moving.size else ():
        found = least_squares(
            of, y, jac=lambda y, step=step: slopes(y, step), bounds=(low[moving], high[moving]), x_scale="jac",
            max_nfev=max(left, 2), ftol=SETTLED, xtol=STILL, gtol=1e-12,
        )  # fmt: skip
        y, cost, left = found.x, 2.0 * float(found.cost), left - found.nfev + 1
    x[moving] = y
    return x, cost
