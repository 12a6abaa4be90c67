"""A QP in M-normalised unknowns, with rows of length one and a free motion of size one, and its way back.

General-purpose solvers stop at absolute tolerances: in these unknowns such a tolerance means the same for a slider of
grams and a crane, in angles and in metres.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.programs import QP, Solution

__all__ = ["NormalisedQP", "normalised"]


@dataclass(frozen=True, eq=False)
class NormalisedQP:
    """min 1/2 u^T u + f^T u  s.t.  A u >= b (the first `equalities` rows: =), where H = L L^T and

    x = size L^-T u,  y = size multiplier / row length.
    """

    f: Array
    A: Array
    b: Array
    equalities: int
    size: float
    inverse: Array
    lengths: Array

    def x(self, u: Array) -> Array:
        """Unknowns of the QP from normalised ones."""
        return self.size * (u @ self.inverse)

    def y(self, multipliers: Array) -> Array:
        """Multipliers of the QP from normalised ones."""
        return self.size * multipliers / self.lengths

    def guess(self, solution: Solution) -> tuple[Array, Array]:
        """Normalised unknowns and multipliers of an answer to the QP."""
        u = np.linalg.solve(self.inverse.T, solution.x / self.size)
        return np.asarray(u, float), solution.y * self.lengths / self.size


def normalised(qp: QP) -> NormalisedQP:
    """Normalise a QP.

    Raises
    ------
    numpy.linalg.LinAlgError
        If H is not positive definite, or a number of the QP is not finite.
    """
    if not all(np.isfinite(array).all() for array in (qp.H, qp.f, qp.A, qp.b)):
        raise np.linalg.LinAlgError("a number of the QP is not finite")
    inverse = np.linalg.inv(np.linalg.cholesky(qp.H))
    f, A = inverse @ qp.f, qp.A @ inverse.T
    lengths = np.sqrt((A**2).sum(axis=1))
    lengths[lengths == 0.0] = 1.0
    b = qp.b / lengths
    size = max(np.abs(f).max(initial=0.0), np.abs(b).max(initial=0.0)) or 1.0
    return NormalisedQP(f / size, A / lengths[:, None], b / size, qp.equalities, size, inverse, lengths)
