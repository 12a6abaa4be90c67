"""Programs for velocities at one instant: the second half of a step, and impacts.

``min 1/2 |v⁺ - v|_M^2  s.t.  W_g' v⁺ = -g_t,  W_N' v⁺ >= bound`` on closed contacts, Gauss' principle for impulses: its multipliers are the
impulses, M (v⁺ - v) = W_g P_g + W_N P_N. It is posed in x = L' v with M = L L' and rows of norm 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.programs import QP, Solution

__all__ = ["MassMetric", "VelocityProgram"]


class MassMetric:
    """x = L' v, in which the kinetic energy is |x|^2 / 2."""

    def __init__(self, M: Array) -> None:
        self.M = M
        self.factor = np.linalg.cholesky(M)
        self.inverse = np.linalg.inv(self.factor)

    def rows(self, W: Array) -> tuple[Array, Array]:
        """Unit rows of W' in the metric and their norms (1 for a zero row)."""
        rows = (self.inverse @ W).T
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        norms[norms == 0.0] = 1.0
        return rows / norms[:, None], norms


class VelocityProgram:
    """The QP of a velocity change on closed contacts, and the way back to velocities and impulses.

    Parameters
    ----------
    metric : MassMetric
    v : (nv,) velocity before
    W_g, rate_g : (nv, ng), (ng,) joints, with W_g' v⁺ = rate_g
    W_N, bound : (nv, nc), (nc,) all contacts, with W_N' v⁺ >= bound where `closed`
    closed : (nc,) bool
    """

    def __init__(
        self, metric: MassMetric, v: Array, W_g: Array, rate_g: Array, W_N: Array, bound: Array,
        closed: NDArray[np.bool_], names: tuple[str, ...],
    ) -> None:  # fmt: skip
        self.metric, self.v, self.closed = metric, v, closed
        self.ng, self.nc = W_g.shape[1], W_N.shape[1]
        index = np.flatnonzero(closed)
        self.index = index
        directions = np.concatenate([W_g, W_N[:, index]], axis=1)
        self.directions = directions
        rows, self.norms = metric.rows(directions)
        wanted = np.concatenate([rate_g, bound[index]]) - directions.T @ v
        n = v.size
        labels = names[: self.ng] + tuple(names[self.ng + i] for i in index)
        self.program = QP(np.eye(n), np.zeros(n), rows, wanted / self.norms, self.ng, labels)

    @property
    def trivial(self) -> bool:
        """Whether nothing constrains the velocity."""
        return self.directions.shape[1] == 0

    def guess(self, active: NDArray[np.bool_]) -> Solution:
        """Warm start: the contacts that are expected to press."""
        rows = np.concatenate([np.ones(self.ng, dtype=bool), active[self.index]])
        return Solution(np.zeros(self.v.size), np.zeros(rows.size), "guess", 0, "guess", rows)

    def recover(self, solution: Solution) -> tuple[Array, Array, Array]:
        """Velocity after, impulses of joints, impulses of all contacts (zero where open)."""
        impulses = solution.y / self.norms
        impulses[self.ng :] = np.maximum(impulses[self.ng :], 0.0)
        P_N = np.zeros(self.nc)
        P_N[self.index] = impulses[self.ng :]
        change = self.metric.inverse.T @ (self.metric.inverse @ (self.directions @ impulses))
        return self.v + change, impulses[: self.ng], P_N
