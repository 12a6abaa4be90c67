"""Periodic motions of drives: finite Fourier series that start and end at rest.

``q_i(t) = q_i0 + sum_k a_ik sin(k w t) + b_ik cos(k w t)``. A motion that starts and ends at q = q' = q'' = 0 satisfies
three linear conditions per drive, ``q_0 + sum b_k = 0``, ``sum k a_k = 0``, ``sum k^2 b_k = 0``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.signals import FourierSignal


@dataclass(frozen=True, eq=False)
class Fourier:
    """Motion of all drives.

    Parameters
    ----------
    omega : w [rad/s], > 0; the period is 2 pi/w
    coefficients : (drives, 1 + 2 N), of each drive q_0, a_1 ... a_N, b_1 ... b_N

    Raises
    ------
    InputError
        If omega is not positive, or the coefficients are no such table.
    """

    omega: float
    coefficients: Array

    def __post_init__(self) -> None:
        table = np.atleast_2d(np.asarray(self.coefficients, dtype=float))
        if not (np.isfinite(self.omega) and self.omega > 0):
            raise InputError(f"Fourier: omega must be a positive number of rad/s, got {self.omega!r}.")
        if table.ndim != 2 or table.shape[1] % 2 == 0 or table.shape[1] < 3 or not np.all(np.isfinite(table)):
            raise InputError(f"Fourier: coefficients must be rows of 1 + 2 N finite numbers, got shape {table.shape}.")
        object.__setattr__(self, "coefficients", table)

    @property
    def harmonics(self) -> int:
        """N."""
        return (self.coefficients.shape[1] - 1) // 2

    @property
    def period(self) -> float:
        """2 pi/w [s]."""
        return 2 * np.pi / self.omega

    def times(self, samples: int) -> Array:
        """Equidistant times over one period, the end left out since it is the start again."""
        return np.linspace(0.0, self.period, samples, endpoint=False)

    def __call__(self, t: Array, derivative: int = 0) -> Array:
        """Coordinates (n, drives) at times (n,), or their first or second derivatives."""
        values = basis(self.omega, self.harmonics, np.asarray(t, dtype=np.float64), derivative)
        found: Array = np.einsum("nk,dk->nd", values, self.coefficients)
        return found

    def states(self, t: Array) -> tuple[Array, Array, Array]:
        """Coordinates, velocities and accelerations, each (n, drives)."""
        return self(t), self(t, 1), self(t, 2)

    @cached_property
    def signals(self) -> tuple[FourierSignal, ...]:
        """One function of time for each drive."""
        N = self.harmonics
        return tuple(
            FourierSignal(self.omega, tuple(row[1 : N + 1].tolist()), tuple(row[N + 1 :].tolist()), float(row[0]))
            for row in self.coefficients
        )

    def ends(self) -> Array:
        """q, q', q'' of each drive at the start, which is the end (3, drives)."""
        scale = np.array([[1.0], [self.omega], [-(self.omega**2)]])
        return np.array(scale * (conditions(self.harmonics) @ self.coefficients.T), dtype=np.float64)

    def projected(self) -> Fourier:
        """The nearest series, by the sum of squares of the coefficients, that starts and ends at q = q' = q'' = 0."""
        C = conditions(self.harmonics)
        change = np.linalg.solve(C @ C.T, C @ self.coefficients.T)
        return Fourier(self.omega, self.coefficients - (C.T @ change).T)


def basis(omega: float, harmonics: int, t: Array, derivative: int) -> Array:
    """Values (n, 1 + 2 N) that multiply q_0, a_k, b_k in the series or its derivative."""
    k = np.arange(1, harmonics + 1) * omega
    sine, cosine = np.sin(np.outer(t, k)), np.cos(np.outer(t, k))
    sine, cosine = ((sine, cosine), (cosine, -sine), (-sine, -cosine))[derivative]
    scale = k**derivative
    constant = np.full((len(t), 1), 1.0 if derivative == 0 else 0.0)
    return np.hstack([constant, sine * scale, cosine * scale])


def conditions(harmonics: int) -> Array:
    """Rows (3, 1 + 2 N) whose products with the coefficients vanish for q = q' = q'' = 0 at the ends."""
    k = np.arange(1.0, harmonics + 1)
    zero, one = np.zeros(harmonics), np.ones(harmonics)
    return np.array([[1.0, *zero, *one], [0.0, *k, *zero], [0.0, *zero, *k**2]])


def free_directions(harmonics: int) -> Array:
    """Orthonormal columns (1 + 2 N, 2 N - 2) of all coefficients that satisfy the conditions."""
    from scipy.linalg import null_space

    return np.asarray(null_space(conditions(harmonics)), dtype=np.float64)
