"""Explicit Runge-Kutta pairs of Dormand and Prince, with their error estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853 as _DOP853
from scipy.integrate import RK45 as _RK45

from nonsmooth.evaluation import Array

__all__ = ["TABLEAUS", "Tableau"]


@dataclass(frozen=True, eq=False)
class Tableau:
    """Coefficients of a pair with s stages.

    Parameters
    ----------
    A, B, C : (s, s), (s,), (s,)
        Stages, weights of the end, nodes.
    errors : tuple of (s + 1,)
        Weights of the stages and of the derivative at the end, whose sums are error estimates; with two, of orders 5
        and 3, they are blended as in DOP853.
    order : int
        Of the method.
    exponent : float
        Order of the error estimate in dt.
    continuous : (s + 1, 4) or (4, 16)
        Coefficients of the continuous extension: of powers of the fraction of the step, or of DOP853's polynomial.
    extra : (A, C) or None
        Further stages of that extension.

    References
    ----------
    Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), sections II.4 and II.10.
    """

    A: Array
    B: Array
    C: Array
    errors: tuple[Array, ...]
    order: int
    exponent: float
    continuous: Array
    extra: tuple[Array, Array] | None = None

    @property
    def degree(self) -> int:
        """Degree of the polynomials within a step."""
        return self.order + 2

    def error(self, slopes: Array, dt: float, scale: Array) -> float:
        """Estimated error of a step over the tolerances `scale`, root mean square.

        Parameters
        ----------
        slopes : (s + 1, n)
            Derivatives at the stages and at the end.
        """
        sizes = [float(np.sum((dt * (weights @ slopes) / scale) ** 2)) for weights in self.errors]
        fifth = sizes[0]
        if len(sizes) == 1:
            return float(np.sqrt(fifth / scale.size))
        blend = fifth + 0.01 * sizes[1]
        return 0.0 if blend == 0.0 else float(fifth / np.sqrt(blend * scale.size))

    def within(
        self, ends: tuple[Array, Array], slopes: Array, dt: float, derivative: Callable[[float, Array], Array]
    ) -> Callable[[float], Array]:
        """The solution at shares of a step, from 0 to 1, to order 4 or 7.

        Parameters
        ----------
        ends : (n,), (n,)
            At the start and at the end, which may have been projected.
        slopes : (s + 1, n)
        derivative : callable (share, (n,)) -> (n,)
            Evaluated for the three further stages of DOP853.
        """
        y, y_end = ends
        if self.extra is None:
            powers = dt * (self.continuous.T @ slopes)
            off = y_end - y - powers.sum(axis=0)  # change by the projection
            return lambda x: y + x ** np.arange(1, 5) @ powers + x * x * (3.0 - 2.0 * x) * off
        s, change = len(slopes), y_end - y
        K = np.concatenate([slopes, np.empty((len(self.extra[1]), y.size))])
        for i, (row, c) in enumerate(zip(*self.extra, strict=True), start=s):
            K[i] = derivative(float(c), y + dt * (row[:i] @ K[:i]))
        bent = np.concatenate([[dt * slopes[0] - change], [2 * change - dt * (slopes[-1] + slopes[0])],
                               dt * (self.continuous @ K)])  # fmt: skip

        def at(x: float) -> Array:
            value = np.zeros_like(y)
            for i, part in enumerate(reversed([change, *bent])):
                value = (value + part) * (x if i % 2 == 0 else 1.0 - x)
            return y + value

        return at


def _square(A: Array, stages: int) -> Array:
    full = np.zeros((stages, stages))
    full[:, : A.shape[1]] = A[:stages]
    return full


# SciPy's classes have the coefficients as public attributes, A without its empty last column in RK45. Using them avoids
# 100 numbers of 17 digits; the tests check their order conditions.
TABLEAUS = {
    "dopri5": Tableau(_square(_RK45.A, 6), _RK45.B, _RK45.C, (_RK45.E,), 5, 5.0, _RK45.P),
    "dop853": Tableau(
        _square(_DOP853.A, 12),
        _DOP853.B,
        _DOP853.C[:12],
        (_DOP853.E5, _DOP853.E3),
        8,
        8.0,
        _DOP853.D,
        (_DOP853.A_EXTRA, _DOP853.C_EXTRA),
    ),
}
