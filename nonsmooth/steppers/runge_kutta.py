"""Explicit Runge-Kutta pairs of Dormand and Prince, with their error estimates."""

from __future__ import annotations

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
        The error estimate falls with dt to this power.

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


def _square(A: Array, stages: int) -> Array:
    full = np.zeros((stages, stages))
    full[:, : A.shape[1]] = A[:stages]
    return full


# SciPy's classes carry the coefficients as public attributes, A without its empty last column in RK45. Taking them from
# there spares 100 numbers of 17 digits; the tests check their order conditions.
TABLEAUS = {
    "dopri5": Tableau(_square(_RK45.A, 6), _RK45.B, _RK45.C, (_RK45.E,), 5, 5.0),
    "dop853": Tableau(_square(_DOP853.A, 12), _DOP853.B, _DOP853.C[:12], (_DOP853.E5, _DOP853.E3), 8, 8.0),
}
