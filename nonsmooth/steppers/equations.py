"""The discrete equations of one step, in symbols, as an MPCC structure.

Unknowns x = (dt, u, P_g) and y = P_N; parameters (t, q, v, p, longest dt). Two schemes:

*Implicit Euler* (eq. (10)-(14) of Chaturvedi, Sandu, Sandu), u = v⁺ ::

    M (u - v) = dt h(t⁺, q⁺, u) + W_N(q⁺) P_N + W_g(q⁺) P_g,    q⁺ = q moved by u for dt
    g(t⁺, q⁺) = 0,    0 <= g_N(q⁺)  ⟂  P_N >= 0

*Half kick*, the first half of a second-order step whose second half is a velocity program (see `velocity`): u is the
velocity at mid-step ::

    M (u - v) = dt/2 h(t_m, q_m, u) + W_N(q) P_N + W_g(q) P_g,    q_m, q⁺ = q moved by u for dt/2, dt

With no contact and no joint both halves together are the implicit midpoint rule; with joints they are RATTLE with
midpoint forces: symmetric, hence of second order, and without drift of joints, of the norm of quaternions, or of
quadratic invariants.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from nonsmooth.evaluation import Array, Evaluator
from nonsmooth.model.system import System
from nonsmooth.programs import MPCCStructure
from nonsmooth.programs.base import TINY

__all__ = ["HALF_KICK", "IMPLICIT_EULER", "StepEquations"]

IMPLICIT_EULER, HALF_KICK = "implicit-euler", "half-kick"
#: share of the whole motion, in the mass metric, below which a row of the equations is not scaled by its own terms
FLOOR = 1e-3


def _length(M: ca.SX, v: ca.SX) -> ca.SX:
    return ca.sqrt(ca.dot(v, M @ v))


class StepEquations:
    """Discrete equations of a `scheme` on a system, evaluated as one buffered function."""

    def __init__(self, system: System, scheme: str) -> None:
        self.system = system
        self.scheme = scheme
        nv, ng, nc = system.nv, system.ng, system.nc
        t, q, v = ca.SX.sym("t"), ca.SX.sym("q", system.nq), ca.SX.sym("v", nv)
        p, longest = ca.SX.sym("p", len(system.parameters)), ca.SX.sym("longest")
        dt, u = ca.SX.sym("dt"), ca.SX.sym("u", nv)
        P_g, P_N = ca.SX.sym("P_g", ng), ca.SX.sym("P_N", nc)
        q_end = system.advance(q, u, dt)
        if scheme == IMPLICIT_EULER:
            kick, t_h, q_h, t_W, q_W = dt, t + dt, q_end, t + dt, q_end
        else:
            kick, t_h, q_h, t_W, q_W = dt / 2, t + dt / 2, system.advance(q, u, dt / 2), t, q
        M, h = system.M(q_h, p), system.h(t_h, q_h, u, p)
        W_N, W_g = system.W_N(q_W, p), system.W_g(t_W, q_W, p)
        momentum = M @ (u - v) - kick * h - W_N @ P_N - W_g @ P_g
        terms = ca.fabs(M) @ (ca.fabs(u) + ca.fabs(v)) + kick * ca.fabs(h)
        terms += ca.fabs(W_N) @ ca.fabs(P_N) + ca.fabs(W_g) @ ca.fabs(P_g)
        # a row at rest in a moving mechanism has nothing but round-off; weigh it against the whole motion
        terms += (
            FLOOR * ca.sqrt(ca.diag(M)) * (_length(M, u) + _length(M, v) + kick * ca.sqrt(ca.dot(h, ca.solve(M, h))))
        )
        moved = W_N @ P_N
        self._q_end, self._inverse_factor = q_end, system.inverse_factor(p)
        self.structure = MPCCStructure(
            x=ca.vertcat(dt, u, P_g),
            y=P_N,
            p=ca.vertcat(t, q, v, p, longest),
            objective=self._objective(M, moved, dt / longest),
            equalities=ca.vertcat(momentum, system.g(t + dt, q_end, p)),
            complements=system.g_N(q_end, p),
            # a joint's misfit is a difference of positions of the order of 1 m or 1 rad
            equality_terms=ca.vertcat(terms, ca.SX.ones(ng)),
            x_names=("dt", *system.v_names, *system.constraint_names),
            y_names=system.contact_names,
            equality_names=(*(f"motion of {name}" for name in system.v_names), *system.constraint_names),
        )

    def _objective(self, M: ca.SX, impulse: ca.SX, share: ca.SX) -> ca.SX:
        if self.scheme == HALF_KICK:
            return -share  # landing: the longest step; a constant where dt is fixed
        return ca.dot(impulse, ca.solve(M, impulse)) / 2  # Gauss: least deviation from the free motion

    @cached_property
    def linearised(self) -> Evaluator:
        """The convex program of one pass, (x, y, p) -> errors, G, H, f, A, b, norms, deviation, q⁺.

        In the mass metric, x_qp = L' du with M = L L': H the symmetric part of the derivative of the momentum rows, f
        the rows with the impulses taken out, A and b the joints' and all gaps' rows divided by dt and by their
        `norms`, so that multipliers are impulses times norms. `errors` are the scaled residuals of the equalities at
        the iterate, `deviation` the Frobenius norm of H - 1.
        """
        s, nv = self.structure, self.system.nv
        dt, u, P_g = s.x[0], s.x[1 : 1 + nv], s.x[1 + nv :]
        momentum, joints = s.equalities[:nv], s.equalities[nv:]
        inverse = self._inverse_factor
        derivative = inverse @ ca.jacobian(momentum, u) @ inverse.T
        H = (derivative + derivative.T) / 2
        directions = ca.jacobian(ca.vertcat(joints, s.complements), u) / dt
        f = inverse @ (momentum + directions.T @ ca.vertcat(P_g, s.y))
        rows = directions @ inverse.T
        norms = ca.sqrt(ca.sum2(rows**2))
        norms = ca.if_else(norms > 0, norms, 1)
        errors = ca.fabs(s.equalities) / ca.fmax(s.equality_terms, TINY)
        b = -ca.vertcat(joints, s.complements) / dt / norms
        deviation = ca.norm_fro(H - ca.SX.eye(nv))
        outputs = [errors, s.complements, H, f, rows / ca.repmat(norms, 1, nv), b, norms, deviation, self._q_end]
        names = ["errors", "G", "H", "f", "A", "b", "norms", "deviation", "q"]
        function = ca.Function("linearised", [s.x, s.y, s.p], outputs, ["x", "y", "p"], names)
        return Evaluator(function, matrices=["H", "A"])

    def parameters(self, t: float, q: Array, v: Array, p: Array, longest: float) -> Array:
        """The program's parameter vector; `longest` [s] is the length that the objective counts as 1."""
        return np.concatenate(([t], q, v, p, [longest]))

    def split(self, x: Array) -> tuple[float, Array, Array]:
        """dt, u, P_g of the unknowns x."""
        nv = self.system.nv
        return float(x[0]), x[1 : 1 + nv], x[1 + nv :]
