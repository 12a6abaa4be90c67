"""Smooth motion between events: one Runge-Kutta step with known modes of the contacts.

In a phase closed contacts are treated as joints, and the equations are an index-1 system. With D the directions of
joints, closed gaps and sticking slips, and F the corresponding force directions, in which a slipping contact has W_N -
mu W_T s with the direction s of its slip, a sign in the plane and a unit vector in space ::

    M v' = h + F lam,    D' v' + bias = 0,    q' = B(q) v,    w' = (powers of loads, damping, drivers and friction)

Each stage solves the bordered system; after each step q and v are projected onto joints, closed gaps and zero slips in
the mass metric, which keeps the order of the method. The works w are states of the same Runge-Kutta pair; they depend
on the other states only and require no further evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetrs

from nonsmooth.evaluation import Array, Evaluator
from nonsmooth.exceptions import SolverFailed
from nonsmooth.steppers.mechanism import DEPENDENT, Mechanism
from nonsmooth.steppers.phases import Index, Phase, Point, Trial
from nonsmooth.steppers.runge_kutta import Tableau
from nonsmooth.tolerances import EPSILON, FLOOR, GAINING, OPEN, PROJECTED, SLIPPING, STICKING, TINY
from nonsmooth.tolerances.event_driven import BALANCED, FIRST, IDLE, PASSES

__all__ = ["PASSES", "Motion"]

#: share of the largest singular value below which forces are equivalent
ALIKE = 1e-12


class _Plan(NamedTuple):
    """The rows of a phase among those of joints, gaps and slips, and the matrix of their forces; None if it is the
    identity."""

    rows: Index
    mixed: Array | None


class Motion:
    """Smooth motion of a mechanism, stepped by a Runge-Kutta pair."""

    def __init__(self, m: Mechanism, tableau: Tableau, rtol: float, atol: float) -> None:
        self.m, self.tableau, self.rtol, self.atol = m, tableau, rtol, atol
        self.evaluations = 0
        system = m.system
        self.ng, self.nc, self.nd = system.ng, system.nc, system.ng + system.nc + system.nt
        self.nv = system.nv
        self.masses = np.abs(m.metric.M)
        self.inverse_mass = m.metric.inverse.T @ m.metric.inverse
        start = [name.rpartition(".")[2] == "qw" for name in system.q_names]
        self.quaternions = [slice(i, i + 4) for i in np.flatnonzero(start)]
        t, q, v = ca.SX.sym("t"), ca.SX.sym("q", system.nq), ca.SX.sym("v", system.nv)
        p = ca.SX.sym("p", len(system.parameters))
        W = ca.horzcat(system.W_g(t, q, p), system.W_N(q, p), system.W_T(q, p))
        moving = [system.h(t, q, v, p), system.B(q) @ v, system.bias(t, q, v, p), system.energy(t, q, v, p)[2:]]
        where = [system.g_t(t, q, p), system.g_N(q, p)]
        # one dense vector: separate outputs cost more than the equations
        dynamics = ca.cse(ca.densify(ca.vertcat(ca.vec(W), *where, *moving)))
        self.steady = not ca.depends_on(dynamics, t)
        self.dynamics = Evaluator(ca.Function("dynamics", [t, q, v, p], [dynamics], ["t", "q", "v", "p"], ["all"]))
        sizes = [self.nv * self.nd, self.ng, self.nc, self.nv, system.nq, self.nd, 2]
        self.parts = [slice(end - size, end) for size, end in zip(sizes, np.cumsum(sizes).tolist(), strict=True)]
        outputs = [ca.densify(W), *where, system.g(t, q, p)]
        function = ca.Function("closure", [t, q, p], ca.cse(outputs), ["t", "q", "p"], ["W", "g_t", "g_N", "g"])
        #: (t, q, p) -> W, g_t, g_N, g
        self.closure = Evaluator(function, matrices=["W"])
        self._planned: tuple[Phase, _Plan] | None = None

    # ------------------------------------------------------------------------------------------------------- one point

    def at(self, t: float, q: Array, v: Array, phase: Phase) -> Point:
        """Accelerations and forces at a state."""
        self.evaluations += 1
        (everything,) = self.dynamics(t, q, v, self.m.p)
        flat, g_t, g_N, h, rate, bias, power = [everything[part] for part in self.parts]
        W = flat.reshape((self.nv, self.nd), order="F")
        free = self.inverse_mass @ h
        a, lam = self._balanced(W, v, free, bias, phase)
        return Point(t, q, v, rate, a, free, lam, h, W, g_t, bias, g_N, power)

    def _balanced(self, W: Array, v: Array, free: Array, bias: Array, phase: Phase) -> tuple[Array, Array]:
        """Accelerations, and forces (ng + nc + nt,) of joints and contacts."""
        rows, mixed = self._plan(phase)
        if not rows.size:
            return free, np.zeros(self.nd)
        if mixed is not None and self.m.tangents > 1:
            mixed = self._turned(mixed, self.slip_directions(W[:, self.ng + self.nc :], v, phase), phase)
        D = W[:, rows]
        moved = self.inverse_mass @ (D if mixed is None else W @ mixed)
        K, convective = D.T @ moved, bias[rows]
        forces = None
        if not phase.redundant:
            factors, pivots, failed = dgetrf(K)
            if not failed:
                forces = -dgetrs(factors, pivots, D.T @ free + convective)[0]
                a = free + moved @ forces
                # round-off of these forces would accelerate a body with small inertia
                change = dgetrs(factors, pivots, D.T @ a + convective)[0]
                a -= moved @ change
                forces -= change
        if forces is None:
            forces = self._least_change(K, -(D.T @ free + convective), phase, rows)
            a = free + moved @ forces
        if mixed is not None:
            return a, mixed @ forces
        lam = np.zeros(self.nd)
        lam[rows] = forces
        return a, lam

    def _plan(self, phase: Phase) -> _Plan:
        if self._planned is None or self._planned[0] is not phase:
            self._planned = phase, self._planning(phase)
        return self._planned[1]

    def _planning(self, phase: Phase) -> _Plan:
        ng, nc, closed = self.ng, self.nc, phase.closed
        if not closed.size:
            return _Plan(np.arange(ng), None)
        rows = np.concatenate([np.arange(ng), ng + closed, ng + nc + self.m.along(phase.sticking)])
        if not phase.slipping.size:
            return _Plan(rows, None)
        mixed = np.zeros((self.nd, rows.size))
        mixed[rows, np.arange(rows.size)] = 1.0
        return _Plan(rows, self._turned(mixed, phase.direction, phase))

    def _turned(self, mixed: Array, slip: Array, phase: Phase) -> Array:
        """Matrix of the forces, with friction along these directions of slip."""
        mixed = mixed.copy()
        for i in phase.slipping:
            along = self.m.along(np.array([i]))
            column = self.ng + int(np.searchsorted(phase.closed, i))
            mixed[self.ng + self.nc + along, column] = -self.m.friction[i] * slip[along]
        return mixed

    def slip_directions(self, W_T: Array, v: Array, phase: Phase) -> Array:
        """Directions (nt,) against which friction acts in this phase.

        In the plane a slipping contact keeps its sign until its slip vanishes, which ends the phase. In space the
        direction is that of the slip itself. A step ends where it has turned by a right angle since its start; beyond,
        the equations are continued smoothly with its mirror image.
        """
        if self.m.tangents == 1 or not phase.slipping.size:
            return phase.direction
        m, slip = self.m, W_T.T @ v
        ahead = m.by_tangent(m.dot(slip, phase.direction))
        mirrored = slip + np.where(ahead < 0.0, -2.0 * ahead, 0.0) * phase.direction
        still = m.length(slip) <= self.unresolved_slip(W_T, v)
        return np.where(m.by_tangent((phase.mode == SLIPPING) & ~still), m.unit(mirrored), phase.direction)

    def unresolved_slip(self, W_T: Array, v: Array) -> Array | float:
        """Spatial slips (nc,) [m/s] that are zero within the tolerance of velocities; they have no direction.

        In the plane the sign of a slip is known on either side of zero.
        """
        if self.m.tangents == 1:
            return 0.0
        return self.atol + self.rtol * (self.m.largest(np.abs(W_T).T @ np.abs(v)) + self.m.scale / self.m.longest)

    def _least_change(self, K: Array, b: Array, phase: Phase, rows: Index) -> Array:
        """Of equivalent forces, those that differ least from the phase's reference, in units of `_units`."""
        scale, unit = self._units(K, phase)
        known = phase.reference[rows]
        scaled, wanted = scale[:, None] * K * unit, scale * (b - K @ known)
        return np.asarray(known + unit * np.linalg.lstsq(scaled, wanted, rcond=ALIKE)[0], dtype=float)

    def _units(self, K: Array, phase: Phase) -> tuple[Array, Array]:
        """Scales of the rows of K, and units of the forces: those in which a direction has norm 1, for sticking
        contacts in proportion to their cones."""
        scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(K)), TINY))
        unit = scale.copy()
        if phase.sticking.size:
            unit[-self.m.along(phase.sticking).size :] *= self.m.by_tangent(phase.share[phase.sticking])
        return scale, unit

    def alike(self, point: Point, phase: Phase) -> tuple[Index, Array]:
        """Rows of the phase, and changes of their forces (rows, k) without effect on accelerations, orthonormal in
        units of `_units`, in the plane."""
        rows, mixed = self._plan(phase)
        D = point.W[:, rows]
        K = D.T @ self.inverse_mass @ (D if mixed is None else point.W @ mixed)
        scale, unit = self._units(K, phase)
        _, sizes, right = np.linalg.svd(scale[:, None] * K * unit)
        rank = int(np.sum(sizes > ALIKE * sizes[0]))
        return rows, unit[:, None] * right[rank:].T

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
        """The nearest q and v, in the mass metric, that satisfy joints, closed contacts and sticking."""
        for columns in self.quaternions:
            q = q.copy()
            q[columns] /= np.linalg.norm(q[columns])
        closed, p = phase.closed, self.m.p
        if self.ng + closed.size == 0:
            return q, v
        before, rows = np.inf, self._plan(phase).rows
        positions = rows[: self.ng + closed.size]
        for _ in range(PASSES):
            W, g_t, g_N, g = self.closure(t, q, p)
            misfit = np.concatenate([g, g_N[closed]])
            worst = float(np.max(np.abs(misfit)))
            if worst <= PROJECTED or worst > GAINING * before:
                break
            before = worst
            D = W[:, positions]
            moved = self.inverse_mass @ D
            q = self.m.moved(q, -moved @ self._least(D.T @ moved, misfit, phase), 1.0)
        if not np.isfinite(worst):
            raise SolverFailed(f"the projection onto joints and closed contacts diverges at t = {t:.9g} s.")
        D = W[:, rows]
        rates = D.T @ v
        rates[: self.ng] += g_t
        moved = self.inverse_mass @ D
        return q, v - moved @ self._least(D.T @ moved, rates, phase)

    def _least(self, K: Array, b: Array, phase: Phase) -> Array:
        if not phase.redundant:
            factors, pivots, failed = dgetrf(K)
            if not failed:
                return np.asarray(dgetrs(factors, pivots, b)[0], dtype=float)
        return np.asarray(np.linalg.lstsq(K, b, rcond=1e-13)[0], dtype=float)

    # ------------------------------------------------------------------------------------------------------- one step

    def advance(self, start: Point, t_end: float, phase: Phase) -> Trial:
        """One step to `t_end`."""
        dt = t_end - start.t
        if self.steady and self.at_rest(start):
            end = replace(start, t=t_end)
            return Trial(dt, (start, end), end, 0.0, np.zeros(4))
        A, B, C = self.tableau.A, self.tableau.B, self.tableau.C
        s, nq = B.size, start.q.size
        y = np.concatenate([start.q, start.v])
        slopes = np.empty((s + 1, y.size))
        slopes[0, :nq], slopes[0, nq:] = start.rate, start.a
        points = [start]
        for i in range(1, s):
            there = y + dt * (A[i, :i] @ slopes[:i])
            stage = self.at(start.t + C[i] * dt, there[:nq], there[nq:], phase)
            slopes[i, :nq], slopes[i, nq:] = stage.rate, stage.a
            points.append(stage)
        there = y + dt * (B @ slopes[:s])
        q, v = self.projected(t_end, there[:nq], there[nq:], phase)
        end = self.at(t_end, q, v, phase)
        slopes[s, :nq], slopes[s, nq:] = end.rate, end.a
        scale = self.atol + self.rtol * np.maximum(np.abs(y), np.concatenate([np.abs(q), np.abs(v)]))
        powers = self.powers([*points, end], phase)
        error = max(self.tableau.error(slopes, dt, scale), self._error_of_work(powers, dt, scale, start, end))
        return Trial(dt, tuple(points), end, error, dt * (B @ powers[:s]), slopes)

    def within(self, trial: Trial, phase: Phase) -> Callable[[float], Point]:
        """The motion at fractions of a Runge-Kutta step, from 0 to 1."""
        start, end, slopes, dt, nq = trial.start, trial.end, trial.slopes, trial.dt, trial.start.q.size
        assert slopes is not None

        def at(share: float, y: Array) -> Point:
            return self.at(start.t + share * dt, y[:nq], y[nq:], phase)

        def derivative(share: float, y: Array) -> Array:
            there = at(share, y)
            return np.concatenate([there.rate, there.a])

        ends = np.concatenate([start.q, start.v]), np.concatenate([end.q, end.v])
        solution = self.tableau.within(ends, slopes, dt, derivative)
        return lambda share: at(share, solution(share))

    def powers(self, points: Sequence[Point], phase: Phase) -> Array:
        """Powers [W] of loads, of damping, of drivers and of friction (len(points), 4)."""
        powers = np.zeros((len(points), 4))
        powers[:, :2] = [x.power for x in points]
        if self.ng:
            powers[:, 2] = [-x.lam_g.dot(x.g_t) for x in points]
        if phase.closed.size:
            powers[:, 3] = [x.lam_T.dot(x.slip) for x in points]
        return powers

    def _error_of_work(self, powers: Array, dt: float, scale: Array, start: Point, end: Point) -> float:
        """Estimated error of works relative to the energy equivalent of the tolerances of positions and velocities."""
        done = powers.any(axis=0)
        if not done.any():
            return 0.0
        nv, M = self.nv, self.m.metric.M
        moved = scale[:nv] if start.q.size == nv else np.full(nv, np.max(scale[:-nv]))
        momentum = self.masses @ (np.abs(start.v) + np.abs(end.v) + scale[-nv:])
        force = np.abs(start.h) + np.abs(end.h) + np.abs(M @ start.a)
        energy = float(momentum @ scale[-nv:] + force @ moved) + TINY
        return self.tableau.error(powers[:, done], dt, np.full(int(done.sum()), energy))

    def at_rest(self, x: Point) -> bool:
        """Whether the mechanism is at rest and all forces are balanced, to round-off."""
        applied, length = self.m.metric.length(x.free), self.m.metric.length
        return length(x.v) <= BALANCED * self.m.longest * applied and length(x.a) <= BALANCED * applied

    def first_length(self, start: Point, longest: float) -> float:
        """Initial step size, after Hairer, Norsett, Wanner (1993), II.4."""
        y, slope = np.concatenate([start.q, start.v]), np.concatenate([start.rate, start.a])
        scale = self.atol + self.rtol * np.abs(y)
        sizes = [float(np.sqrt(np.mean((x / scale) ** 2))) for x in (y, slope)]
        if min(sizes) < IDLE:
            return longest
        return min(longest, FIRST * sizes[0] / sizes[1])

    def residual(self, trial: Trial, phase: Phase) -> float:
        """Scaled residual of the equations of motion at the stages and of joints and closed contacts at both levels."""
        return max(self._motion_residual((*trial.stages[1:], trial.end)),
                   self.closure_residual(trial.end, trial.dt, phase))  # fmt: skip

    def _motion_residual(self, points: Sequence[Point]) -> float:
        M, weight, factor = self.m.metric.M, np.diag(self.m.metric.M), self.m.metric.factor
        a, h, free, lam, W = (np.array([getattr(x, name) for x in points]) for name in ("a", "h", "free", "lam", "W"))
        rows = a @ M - h - (W @ lam[:, :, None])[:, :, 0]
        terms = np.abs(a) @ self.masses + np.abs(h) + (np.abs(W) @ np.abs(lam)[:, :, None])[:, :, 0]
        # a row at rest in a moving mechanism has nothing but round-off; weigh it against the whole motion
        lengths = sum(np.sqrt(np.sum((part @ factor) ** 2, axis=1)) for part in (a, free))
        terms += FLOOR * np.sqrt(weight) * np.asarray(lengths)[:, None]
        return float(np.max(np.abs(rows) / np.maximum(terms, TINY)))

    def closure_residual(self, x: Point, dt: float, phase: Phase) -> float:
        """Rates of joints, closed gaps and sticking slips relative to the sums of their terms, including the velocity
        changes of the step."""
        rows = self._plan(phase).rows
        if not rows.size:
            return 0.0
        W = x.W[:, rows]
        kick = dt * x.free
        rates, terms = W.T @ x.v, np.abs(W).T @ (np.abs(x.v) + np.abs(kick))
        rates[: self.ng] += x.g_t
        terms[: self.ng] += np.abs(x.g_t)
        terms += FLOOR * self.m.metric.rows(W)[1] * (self.m.metric.length(x.v) + self.m.metric.length(kick))
        # at rest, velocities are round-off: a rate that changes a gap by less than its last digit is zero
        least = np.concatenate([np.zeros(self.ng), self.m.scale, self.m.by_tangent(self.m.scale)])[rows]
        return float(np.max(np.abs(rates) / np.maximum(terms, np.maximum(EPSILON * least / dt, TINY))))
