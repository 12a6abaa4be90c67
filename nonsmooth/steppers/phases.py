"""Smooth motion between events: which contacts press, stick or slip, and one Runge-Kutta step of that motion.

In a phase the closed contacts are joints and the equations an index-1 system. With D the directions of joints, closed
gaps and sticking slips, and F the same as force directions, where a slipping contact has W_N - mu W_T s with s the
direction of its slip, a sign in the plane and a unit vector in space ::

    M v' = h + F lam,    D' v' + drift = 0,    q' = B(q) v

Each stage solves the bordered system; after each step q and v are projected onto joints, closed gaps and zero slips in
the mass metric, which keeps the order of the method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array, Evaluator
from nonsmooth.exceptions import SolverFailed
from nonsmooth.steppers.base import OPEN, SLIPPING, STICKING
from nonsmooth.steppers.equations import FLOOR
from nonsmooth.steppers.mechanism import Mechanism
from nonsmooth.steppers.runge_kutta import Tableau

__all__ = ["PASSES", "Index", "Motion", "Phase", "Point", "Trial"]

#: singular value below which directions, of norm 1 in the mass metric, count as dependent
DEPENDENT = 1e-9
#: misfit [m], [rad] below which a projection of positions is not repeated
PROJECTED = 1e-15
PASSES = 4
TINY = float(np.finfo(float).tiny)

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Phase:
    """Modes of all contacts; the direction of each slip (nt,), zero elsewhere; where directions are dependent, the
    shares in which sticking contacts carry.

    The direction of slip is that at the start of a step. In space it turns with the slip, see `Motion.slip_directions`.
    """

    mode: NDArray[np.int8]
    direction: Array
    share: Array
    redundant: bool

    @classmethod
    def remembered(cls, memory: Mapping[str, Array]) -> Phase:
        """From a state's memory."""
        redundant = bool(memory["redundant"][0])
        return cls(memory["mode"].astype(np.int8), memory["direction"], memory["share"], redundant)

    def memory(self) -> dict[str, Array]:
        """What a state remembers."""
        redundant = np.array([float(self.redundant)])
        mode = self.mode.astype(float)
        return {"mode": mode, "direction": self.direction, "share": self.share, "redundant": redundant}

    @cached_property
    def closed(self) -> Index:
        return np.flatnonzero(self.mode != OPEN)

    @cached_property
    def open(self) -> Index:
        return np.flatnonzero(self.mode == OPEN)

    @cached_property
    def sticking(self) -> Index:
        return np.flatnonzero(self.mode == STICKING)

    @cached_property
    def slipping(self) -> Index:
        return np.flatnonzero(self.mode == SLIPPING)


@dataclass(frozen=True, eq=False)
class Point:
    """Everything about the motion at one instant."""

    t: float
    q: Array
    v: Array
    rate: Array
    a: Array
    free: Array
    lam_g: Array
    lam_N: Array
    lam_T: Array
    h: Array
    W_g: Array
    W_N: Array
    W_T: Array
    g_t: Array
    drift: Array
    g_N: Array
    gamma: Array
    slip: Array

    @cached_property
    def gap_acceleration(self) -> Array:
        ng, nc = self.W_g.shape[1], self.g_N.size
        return self.W_N.T @ self.a + self.drift[ng : ng + nc]

    @cached_property
    def slip_rate(self) -> Array:
        return self.W_T.T @ self.a + self.drift[self.W_g.shape[1] + self.g_N.size :]


@dataclass(frozen=True, eq=False)
class Trial:
    """A step of length dt: its stages, its projected end, and its error over the tolerance."""

    dt: float
    stages: tuple[Point, ...]
    end: Point
    error: float

    @property
    def start(self) -> Point:
        return self.stages[0]


class Motion:
    """Smooth motion of a mechanism, stepped by a Runge-Kutta pair."""

    def __init__(self, m: Mechanism, tableau: Tableau, rtol: float, atol: float) -> None:
        self.m, self.tableau, self.rtol, self.atol = m, tableau, rtol, atol
        self.evaluations = 0
        system = m.system
        self.ng, self.nc = system.ng, system.nc
        self.inverse_mass = m.metric.inverse.T @ m.metric.inverse
        start = [name.rpartition(".")[2] == "qw" for name in system.q_names]
        self.quaternions = [slice(i, i + 4) for i in np.flatnonzero(start)]
        t, q, v = ca.SX.sym("t"), ca.SX.sym("q", system.nq), ca.SX.sym("v", system.nv)
        p = ca.SX.sym("p", len(system.parameters))
        matrices = {"W_g": system.W_g(t, q, p), "W_N": system.W_N(q, p), "W_T": system.W_T(q, p)}
        vectors = {"g_t": system.g_t(t, q, p), "g_N": system.g_N(q, p)}
        moving = {"h": system.h(t, q, v, p), "rate": system.B(q) @ v, "drift": system.drift(t, q, v, p)}
        outputs = [*matrices.values(), *vectors.values(), *moving.values()]
        function = ca.Function("dynamics", [t, q, v, p], ca.cse(outputs), ["t", "q", "v", "p"],
                               [*matrices, *vectors, *moving])  # fmt: skip
        #: (t, q, v, p) -> W_g, W_N, W_T, g_t, g_N, h, rate, drift
        self.dynamics = Evaluator(function, matrices=matrices)
        outputs = [*matrices.values(), *vectors.values(), system.g(t, q, p)]
        function = ca.Function("closure", [t, q, p], ca.cse(outputs), ["t", "q", "p"], [*matrices, *vectors, "g"])
        #: (t, q, p) -> W_g, W_N, W_T, g_t, g_N, g
        self.closure = Evaluator(function, matrices=matrices)

    # ------------------------------------------------------------------------------------------------------- one point

    def at(self, t: float, q: Array, v: Array, phase: Phase) -> Point:
        """Accelerations and forces at a state."""
        self.evaluations += 1
        W_g, W_N, W_T, g_t, g_N, h, rate, drift = self.dynamics(t, q, v, self.m.p)
        ng, nc, closed, sticking = self.ng, self.nc, phase.closed, phase.sticking
        free = self.inverse_mass @ h
        lam_g, lam_N, lam_T, a = np.zeros(ng), np.zeros(nc), np.zeros(self.m.system.nt), free
        if ng + closed.size:
            stuck, slip = self.m.along(sticking), self.slip_directions(W_T, v, phase)
            D, F = self._directions(W_g, W_N, W_T, phase, slip)
            rows = drift[:ng]
            if closed.size:
                rows = np.concatenate([rows, drift[ng + closed], drift[ng + nc + stuck]])
            moved = self.inverse_mass @ F
            lam = self._solve(D.T @ moved, -(D.T @ free + rows), phase)
            a = free + moved @ lam
            lam_g, lam_N[closed] = lam[:ng], lam[ng : ng + closed.size]
            lam_T[stuck] = lam[ng + closed.size :]
            if phase.slipping.size:
                slipping = self.m.along(phase.slipping)
                lam_T[slipping] = -(self.m.by_tangent(self.m.friction) * slip * self.m.by_tangent(lam_N))[slipping]
        return Point(t, q, v, rate, a, free, lam_g, lam_N, lam_T, h, W_g, W_N, W_T, g_t, drift, g_N,
                     W_N.T @ v, W_T.T @ v)  # fmt: skip

    def slip_directions(self, W_T: Array, v: Array, phase: Phase) -> Array:
        """Directions (nt,) against which friction acts in this phase.

        In the plane a slipping contact keeps its sign until its slip has come to zero, which ends the phase. In space
        the direction is that of the slip itself; beyond the point where it has turned by a right angle from where the
        step began, which ends the step, the equations go on smoothly with its mirror image.
        """
        if self.m.tangents == 1 or not phase.slipping.size:
            return phase.direction
        m, slip = self.m, W_T.T @ v
        ahead = m.by_tangent(m.dot(slip, phase.direction))
        mirrored = slip + np.where(ahead < 0.0, -2.0 * ahead, 0.0) * phase.direction
        still = m.length(slip) <= self.unresolved_slip(W_T, v)
        return np.where(m.by_tangent((phase.mode == SLIPPING) & ~still), m.unit(mirrored), phase.direction)

    def unresolved_slip(self, W_T: Array, v: Array) -> Array | float:
        """Slips (nc,) [m/s] in space that velocities of this tolerance do not tell from zero; they have no direction.

        In the plane a slip passes through zero with a known sign on either side, and none is unresolved.
        """
        if self.m.tangents == 1:
            return 0.0
        return self.atol + self.rtol * (self.m.largest(np.abs(W_T).T @ np.abs(v)) + self.m.scale / self.m.longest)

    def _directions(self, W_g: Array, W_N: Array, W_T: Array, phase: Phase, slip: Array) -> tuple[Array, Array]:
        """D and F of the phase, where contacts slip along `slip`."""
        closed = phase.closed
        if not closed.size:
            return W_g, W_g
        stuck = W_T[:, self.m.along(phase.sticking)]
        normal = W_N[:, closed]
        D = np.concatenate([W_g, normal, stuck], axis=1)
        if not phase.slipping.size:
            return D, D
        rubbing = W_T * (self.m.by_tangent(self.m.friction) * slip)
        if self.m.tangents > 1:
            rubbing = rubbing.reshape(len(W_T), -1, self.m.tangents).sum(axis=2)
        normal = normal - rubbing[:, closed]
        return D, np.concatenate([W_g, normal, stuck], axis=1)

    def _solve(self, K: Array, b: Array, phase: Phase) -> Array:
        if not phase.redundant:
            try:
                return np.asarray(np.linalg.solve(K, b), dtype=float)
            except np.linalg.LinAlgError:
                pass
        scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(K)), TINY))
        column = scale.copy()
        if phase.sticking.size:  # dependent sticking contacts fill their cones together
            column[-self.m.along(phase.sticking).size :] *= self.m.by_tangent(phase.share[phase.sticking])
        scaled = scale[:, None] * K * column
        return np.asarray(column * np.linalg.lstsq(scaled, scale * b, rcond=1e-12)[0], dtype=float)

    def dependent(self, point: Point, mode: NDArray[np.int8]) -> bool:
        """Whether the directions of such a phase are dependent."""
        closed, sticking = np.flatnonzero(mode != OPEN), np.flatnonzero(mode == STICKING)
        D = np.concatenate([point.W_g, point.W_N[:, closed], point.W_T[:, self.m.along(sticking)]], axis=1)
        if D.shape[1] == 0:
            return False
        if D.shape[1] > D.shape[0]:
            return True
        return float(np.linalg.svd(self.m.metric.rows(D)[0], compute_uv=False)[-1]) < DEPENDENT

    # ------------------------------------------------------------------------------------------------------ projection

    def projected(self, t: float, q: Array, v: Array, phase: Phase) -> tuple[Array, Array]:
        """The nearest q and v, in the mass metric, with joints and closed contacts closed and sticking ones at rest."""
        for columns in self.quaternions:
            q = q.copy()
            q[columns] /= np.linalg.norm(q[columns])
        closed, p = phase.closed, self.m.p
        if self.ng + closed.size == 0:
            return q, v
        before = np.inf
        for _ in range(PASSES):
            W_g, W_N, W_T, g_t, g_N, g = self.closure(t, q, p)
            misfit = np.concatenate([g, g_N[closed]])
            worst = float(np.max(np.abs(misfit)))
            if worst <= PROJECTED or worst > before / 4:
                break
            before = worst
            D = np.concatenate([W_g, W_N[:, closed]], axis=1)
            moved = self.inverse_mass @ D
            q = self.m.moved(q, -moved @ self._least(D.T @ moved, misfit, phase), 1.0)
        if not np.isfinite(worst):
            raise SolverFailed(f"the projection onto joints and closed contacts diverges at t = {t:.9g} s.")
        D = np.concatenate([W_g, W_N[:, closed], W_T[:, self.m.along(phase.sticking)]], axis=1)
        rates = D.T @ v
        rates[: self.ng] += g_t
        moved = self.inverse_mass @ D
        return q, v - moved @ self._least(D.T @ moved, rates, phase)

    def _least(self, K: Array, b: Array, phase: Phase) -> Array:
        if not phase.redundant:
            try:
                return np.asarray(np.linalg.solve(K, b), dtype=float)
            except np.linalg.LinAlgError:
                pass
        return np.asarray(np.linalg.lstsq(K, b, rcond=1e-13)[0], dtype=float)

    # ------------------------------------------------------------------------------------------------------- one step

    def advance(self, start: Point, t_end: float, phase: Phase) -> Trial:
        """One step to `t_end`."""
        A, B, C = self.tableau.A, self.tableau.B, self.tableau.C
        dt, s = t_end - start.t, B.size
        nq = start.q.size
        y = np.concatenate([start.q, start.v])
        slopes = np.empty((s + 1, y.size))
        slopes[0, :nq], slopes[0, nq:] = start.rate, start.a
        stages = [start]
        for i in range(1, s):
            there = y + dt * (A[i, :i] @ slopes[:i])
            stage = self.at(start.t + C[i] * dt, there[:nq], there[nq:], phase)
            slopes[i, :nq], slopes[i, nq:] = stage.rate, stage.a
            stages.append(stage)
        there = y + dt * (B @ slopes[:s])
        q, v = self.projected(t_end, there[:nq], there[nq:], phase)
        end = self.at(t_end, q, v, phase)
        slopes[s, :nq], slopes[s, nq:] = end.rate, end.a
        scale = self.atol + self.rtol * np.maximum(np.abs(y), np.concatenate([np.abs(q), np.abs(v)]))
        return Trial(dt, tuple(stages), end, self.tableau.error(slopes, dt, scale))

    def first_length(self, start: Point, longest: float) -> float:
        """A length to begin with, after Hairer, Norsett, Wanner (1993), II.4."""
        y, slope = np.concatenate([start.q, start.v]), np.concatenate([start.rate, start.a])
        scale = self.atol + self.rtol * np.abs(y)
        sizes = [float(np.sqrt(np.mean((x / scale) ** 2))) for x in (y, slope)]
        if min(sizes) < 1e-5:
            return longest
        return min(longest, 0.1 * sizes[0] / sizes[1])

    def residual(self, trial: Trial, phase: Phase) -> float:
        """Scaled residual of the equations of motion at the stages and of joints and closed contacts at both levels."""
        return max(*(self._motion_residual(point) for point in (*trial.stages[1:], trial.end)),
                   self.closure_residual(trial.end, trial.dt, phase))  # fmt: skip

    def _motion_residual(self, x: Point) -> float:
        M, weight = self.m.metric.M, np.diag(self.m.metric.M)
        rows = M @ x.a - x.h - x.W_g @ x.lam_g - x.W_N @ x.lam_N - x.W_T @ x.lam_T
        terms = np.abs(M) @ np.abs(x.a) + np.abs(x.h) + np.abs(x.W_g) @ np.abs(x.lam_g)
        terms += np.abs(x.W_N) @ np.abs(x.lam_N) + np.abs(x.W_T) @ np.abs(x.lam_T)
        # a row at rest in a moving mechanism has nothing but round-off; weigh it against the whole motion
        terms += FLOOR * np.sqrt(weight) * (self.m.metric.length(x.a) + self.m.metric.length(x.free))
        return float(np.max(np.abs(rows) / np.maximum(terms, TINY)))

    def closure_residual(self, x: Point, dt: float, phase: Phase) -> float:
        """Rates of joints, closed gaps and sticking slips over the sums of their terms, kicks of the step included."""
        W = np.concatenate([x.W_g, x.W_N[:, phase.closed], x.W_T[:, self.m.along(phase.sticking)]], axis=1)
        if W.shape[1] == 0:
            return 0.0
        kick = dt * x.free
        rates, terms = W.T @ x.v, np.abs(W).T @ (np.abs(x.v) + np.abs(kick))
        rates[: self.ng] += x.g_t
        terms[: self.ng] += np.abs(x.g_t)
        terms += FLOOR * self.m.metric.rows(W)[1] * (self.m.metric.length(x.v) + self.m.metric.length(kick))
        return float(np.max(np.abs(rates) / np.maximum(terms, TINY)))
