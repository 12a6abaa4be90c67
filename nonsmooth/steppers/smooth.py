"""The smooth part of the motion: accelerations of the mechanism with its joints, without contacts.

``M a = h(t, q, v) + W_g lam``,  ``W_g' a + bias(t, q, v) = 0``: linear in (a, lam), its index reduced to one.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from nonsmooth.evaluation import Array, Evaluator
from nonsmooth.model.state import State
from nonsmooth.steppers.mechanism import DEPENDENT, Mechanism
from nonsmooth.tolerances import FLOOR

__all__ = ["SmoothEquations", "Values"]


class Values(NamedTuple):
    """Rows of the equations at a point, the sums of their terms, and their derivatives."""

    rows: Array
    terms: Array
    by_position: Array
    by_velocity: Array
    by_unknowns: Array


class SmoothEquations:
    """Rows of momentum and of the joints' accelerations, as one buffered function with its derivatives.

    Derivatives by position are along velocities, ``∂/∂q B(q)``.
    """

    def __init__(self, m: Mechanism) -> None:
        self.m, self.system, self.p = m, m.system, m.p
        system, p = m.system, m.p
        t, q, v = ca.SX.sym("t"), ca.SX.sym("q", system.nq), ca.SX.sym("v", system.nv)
        a, lam, s = ca.SX.sym("a", system.nv), ca.SX.sym("lam", system.ng), ca.SX.sym("p", p.size)
        M, h, W_g = system.M(q, s), system.h(t, q, v, s), system.W_g(t, q, s)
        bias = system.bias(t, q, v, s)[: system.ng]
        rows = ca.vertcat(M @ a - h - W_g @ lam, W_g.T @ a + bias)
        size, inverse = ca.sqrt(ca.dot(a, M @ a)), system.inverse_factor(s)
        # a row at rest in a moving mechanism has nothing but round-off; weigh it against the whole motion
        momentum = (
            ca.fabs(M) @ ca.fabs(a) + ca.fabs(h) + ca.fabs(W_g) @ ca.fabs(lam) + FLOOR * ca.sqrt(ca.diag(M)) * size
        )
        joints = ca.fabs(W_g).T @ ca.fabs(a) + ca.fabs(bias) + FLOOR * ca.sqrt(ca.sum1((inverse @ W_g) ** 2)).T * size
        unknowns = ca.vertcat(a, lam)
        outputs = [
            rows,
            ca.vertcat(momentum, joints),
            ca.jacobian(rows, q) @ system.B(q),
            ca.jacobian(rows, v),
            ca.jacobian(rows, unknowns),
        ]
        names = ["rows", "terms", "by_position", "by_velocity", "by_unknowns"]
        function = ca.Function("smooth", [t, q, v, unknowns, s], outputs, ["t", "q", "v", "unknowns", "p"], names)
        self._values = Evaluator(function, matrices=names[2:])

    def at(self, t: float, q: Array, v: Array, a: Array, lam: Array) -> Values:
        """The equations at a point."""
        return Values(*self._values(t, q, v, np.concatenate([a, lam]), self.p))

    def solved(self, state: State) -> tuple[Array, Array]:
        """Accelerations and multipliers of a state."""
        nv, ng = self.system.nv, self.system.ng
        values = self.at(state.t, state.q, state.v, np.zeros(nv), np.zeros(ng))
        unknowns = self.unknowns(values.by_unknowns, -values.rows)
        return unknowns[:nv], unknowns[nv:]

    def unknowns(self, matrix: Array, rows: Array) -> Array:
        """Accelerations and multipliers (or their changes) that solve `matrix`; dependent multipliers have least
        norm."""
        if not self.m.redundant:
            return np.array(np.linalg.solve(matrix, rows), dtype=float)
        nv = self.system.nv
        # accelerations in the mass metric, multipliers in units in which their directions have norm 1 there
        norms = 1.0 / self.m.metric.rows(matrix[nv:, :nv].T)[1]
        left = np.vstack([self.m.metric.inverse @ matrix[:nv], norms[:, None] * matrix[nv:]])
        right = np.concatenate([self.m.metric.inverse @ rows[:nv], norms * rows[nv:]])
        scaled = np.hstack([left[:, :nv] @ self.m.metric.inverse.T, left[:, nv:] * norms])
        x = np.linalg.lstsq(scaled, right, rcond=DEPENDENT)[0]
        return np.concatenate([self.m.metric.inverse.T @ x[:nv], norms * x[nv:]])
