"""From one phase to the next: impacts, rebounds that end in rest, and the modes of closed contacts.

An impact is one program in velocities for all contacts involved, with Poisson's law two; those of Routh and Stronge are
integrated along the impulse (see `incremental`). A rebound that is too short is suppressed: the impact is repeated with
e = 0 for this contact. The modes of contacts that remain closed are determined by one program in accelerations and
forces.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.programs import QP, Solution
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.incremental import rounds
from nonsmooth.steppers.losses import kept
from nonsmooth.steppers.motion import ALIKE, Motion
from nonsmooth.steppers.phases import Phase, Point
from nonsmooth.steppers.response import Response, respond
from nonsmooth.tolerances import CLOSED, FLOOR, OPEN, SLIPPING, STICKING, TINY
from nonsmooth.tolerances.event_driven import (
    ADMISSIBLE,
    APART,
    CLOSED_GAP,
    LANDED,
    LOWEST,
    OUTSIDE,
    PASSES,
    STILL,
    TRIALS,
    ZERO,
)
from nonsmooth.tolerances.impacts import DIED, ROUNDS

__all__ = ["CLOSED_GAP", "LOWEST", "Impact", "Transitions"]

Mask = NDArray[np.bool_]


class Impact(NamedTuple):
    """Velocity after, and impulses."""

    v: Array
    P_g: Array
    P_N: Array
    P_T: Array


class Transitions:
    """Impacts and changes of phase of a motion.

    Parameters
    ----------
    dt_min : [s] shortest flight that counts as one
    window : [s] within which impacts are simultaneous
    """

    def __init__(self, motion: Motion, dt_min: float, window: float) -> None:
        self.motion, self.m, self.dt_min, self.window = motion, motion.m, dt_min, window
        self.ng, self.nc, self.nt = motion.ng, motion.nc, motion.m.system.nt
        self.nd = self.ng + self.nc + self.nt
        self.none = np.zeros(self.nd)
        self.closed_gap = np.maximum(CLOSED_GAP * self.m.scale, LOWEST)

    def settled(
        self, before: Point, phase: Phase, striking: Mask, released: Mask, signs: dict[int, Array]
    ) -> Generator[Ask, Solution, tuple[Impact | None, Point, Phase]]:
        """Impact, if contacts approach, and the phase that follows."""
        m = self.m
        if not striking.any():
            touching = ((phase.mode != OPEN) | (before.g_N <= self.closed_gap)) & ~released
            leaving = m.leaving(before.W_N, before.v, np.abs(before.v))
            candidates = touching & ~leaving
            point, new = yield from self._phase(before, before.v, candidates, signs)
            low = touching & leaving & self._low(before, before.v, point)
            if low.any():
                candidates |= low
                point, new = yield from self._phase(before, before.v, candidates, signs)
            if released.any() and np.any(point.gap_acceleration[released] < -self._zero_acceleration(point)[released]):
                point, new = yield from self._phase(before, before.v, candidates | released, signs)
            return None, point, new
        active = phase.mode != OPEN
        struck = striking | active | (before.g_N <= self.closed_gap)
        struck |= (before.g_N < -self.window * before.gamma) & m.approaching(before.W_N, before.v, np.abs(before.v))
        restitution = m.restitution.copy()
        for _ in range(self.nc + 1):
            if self.window > 0.0 or m.incremental:
                impact = yield from self._impact(before, before.v, struck, restitution)
            else:
                impact = yield from self._sequence(before, active, restitution)
            terms = np.abs(before.v) + np.abs(impact.v)
            leaving = m.leaving(before.W_N, impact.v, terms)
            touching = active | (before.g_N <= self.closed_gap)
            # a contact in the window that does not rebound is treated as closed
            touching |= struck & (impact.P_N > 0) & ~leaving
            point, new = yield from self._phase(before, impact.v, touching & ~leaving, {})
            rebound = struck & leaving & (restitution > 0) & (new.mode == OPEN)
            speed, pull = before.W_N.T @ impact.v, -point.gap_acceleration
            short = (2 * speed < self.dt_min * pull) | (speed**2 < 2 * LOWEST * pull)
            resting = rebound & (pull > 0) & short
            if not resting.any():
                break
            restitution[resting] = 0.0
        low = touching & leaving & self._low(before, impact.v, point)
        if low.any():
            point, new = yield from self._phase(before, impact.v, touching & (~leaving | low), {})
        return impact, point, new

    def _low(self, before: Point, v: Array, point: Point) -> Mask:
        """Plastic contacts that open with `v` due to the impacts of others, and close again from a height below the
        location tolerance: they remain closed."""
        speed, pull = before.W_N.T @ v, -point.gap_acceleration
        return np.asarray((self.m.restitution == 0) & (pull > 0) & (speed**2 < 2 * LANDED * pull))

    def _impact(self, x: Point, v: Array, struck: Mask, restitution: Array) -> Generator[Ask, Solution, Impact]:
        """The impact law and Coulomb's law for the contacts involved: Newton's as one program, Poisson's as two."""
        m, directions, index = self.m, (x.W_g, x.W_N, x.W_T), np.flatnonzero(struck)
        gamma, slip = x.W_N.T @ v, x.W_T.T @ v
        rebound = np.where(-gamma > m.threshold, restitution * np.minimum(gamma, 0.0), 0.0)
        if m.incremental:
            *followed, _, rattling = rounds(m, directions, v, struck, restitution, together=self.window > 0.0)
            if not rattling.any():
                return Impact(*followed)
            none, still, index = np.zeros(self.nc), np.zeros(self.nt), np.flatnonzero(rattling)
            ended = yield from respond(m, followed[0], directions, (x.g_t, none, still), index)
            return Impact(ended.x, *(a + b for a, b in zip(followed[1:], ended[1:], strict=True)))
        if m.impact == "newton":
            offsets = (x.g_t, rebound, m.by_tangent(np.where(gamma < 0, m.tangential, 0.0)) * slip)
            return Impact(*(yield from respond(m, v, directions, offsets, index)))
        offsets = (x.g_t, np.zeros(self.nc), np.zeros(self.nt))
        stopped = Impact(*(yield from respond(m, v, directions, offsets, index)))
        # without a rebound, below the threshold or as rest, there is no expansion
        returned = np.where(np.any(rebound[struck] < 0), restitution, 0.0) * stopped.P_N
        if not np.any(returned > 0):
            return stopped
        pushed = stopped.v + m.metric.change(x.W_N @ returned)
        v, P_g, P_N, P_T = yield from respond(m, pushed, directions, offsets, index, returned)
        return Impact(v, stopped.P_g + P_g, stopped.P_N + returned + P_N, stopped.P_T + P_T)

    def _sequence(self, x: Point, active: Mask, restitution: Array) -> Generator[Ask, Solution, Impact]:
        """Successive impacts at one configuration, the fastest first, if no window makes them simultaneous.

        It continues a sequence of impacts that can no longer be resolved in time. It ends when no contact approaches
        or, after the sequence has decayed, by a plastic impact.
        """
        m = self.m
        touching = active | (x.g_N <= self.closed_gap)
        v, sums, first, met = x.v, [np.zeros(k) for k in (self.ng, self.nc, self.nt)], 0.0, active
        for k in range(ROUNDS):
            terms = np.abs(x.v) + np.abs(v)
            approaching = touching & m.approaching(x.W_N, v, terms)
            if not approaching.any():
                break
            gamma = np.where(approaching, x.W_N.T @ v, 0.0)
            fastest = int(np.argmin(gamma))
            first = max(first, -gamma[fastest])
            last = k == ROUNDS - 1 or -gamma[fastest] < DIED * first
            struck = touching & ~approaching & ~m.leaving(x.W_N, v, terms)
            struck[fastest] = True
            if last:
                struck = touching & (met | approaching)
            impact = yield from self._impact(x, v, struck, np.zeros_like(restitution) if last else restitution)
            v, met = impact.v, met | approaching
            sums = [total + one for total, one in zip(sums, impact[1:], strict=True)]
            if last:
                break
        return Impact(v, *sums)

    def resting(
        self, x: Point, candidates: Mask, signs: dict[int, Array]
    ) -> Generator[Ask, Solution, tuple[Point, Phase]]:
        """Modes of the closed contacts that do not approach, and the state projected onto them; `signs` contains known
        directions of slips that vanish at this instant."""
        return self._phase(x, x.v, candidates, signs)

    def _phase(
        self, x: Point, v: Array, candidates: Mask, signs: dict[int, Array]
    ) -> Generator[Ask, Solution, tuple[Point, Phase]]:
        """Modes of the candidates, and the state projected onto them."""
        m, motion, nc = self.m, self.motion, self.nc
        none = np.zeros(nc)
        mode, slip, share = np.zeros(nc, dtype=np.int8), np.zeros(self.nt), none.copy()
        free = Phase(mode, slip, none, m.redundant, self.none)
        here = motion.at(x.t, x.q, v, free)
        index = np.flatnonzero(candidates)
        if index.size:
            zero = STILL * (m.largest(np.abs(x.W_T).T @ (np.abs(v) + np.abs(x.v))) + m.scale / m.longest)
            zero = np.maximum(zero, motion.unresolved_slip(x.W_T, np.abs(v) + np.abs(x.v)))
            rough = m.friction > 0
            slips = m.by_tangent(rough & candidates & (m.length(here.slip) > zero))
            slip = np.where(slips, m.unit(here.slip), 0.0)
            for i, value in signs.items():
                slip[m.along(np.array([i]))] = value
            answer, slip_rate = yield from self._forces(here, index, slip)
            pressing = candidates & (answer.z_N > ZERO * np.max(answer.z_N, initial=0.0))
            small = self._zero_acceleration(here, answer.x)
            idle = candidates & ~pressing
            idle &= here.W_N.T @ answer.x + here.bias[self.ng : self.ng + nc] <= small
            for closed in (pressing | idle, pressing):
                mode = np.where(closed, np.where(rough, SLIPPING, CLOSED), OPEN).astype(np.int8)
                held = m.length(answer.z_T) <= m.friction * answer.z_N * (1 + OUTSIDE)
                terms = self._terms(here, here.W_T, answer.x, here.bias[self.ng + nc :])
                held &= m.length(slip_rate) <= ZERO * m.largest(terms)
                still = m.length(slip) == 0
                mode[closed & rough & still & held] = STICKING
                slip = np.where(m.by_tangent(still), m.unit(slip_rate), slip) * m.by_tangent(mode == SLIPPING)
                redundant = motion.dependent(here, mode)
                if not redundant or not idle.any():
                    break
            share = np.where(mode == STICKING, np.maximum(m.friction * answer.z_N, TINY), 0.0)
            new = Phase(mode, slip, share, redundant, self.none)
            if redundant and new.closed.size:
                new = yield from self._shared(here, new, answer)
        else:
            new = free
        q, v = motion.projected(x.t, x.q, v, new)
        if new.closed.size:
            q, v = yield from self._clear(x.t, q, v, new)
        return motion.at(x.t, q, v, new), new

    def _shared(self, here: Point, phase: Phase, answer: Response) -> Generator[Ask, Solution, Phase]:
        """Distribution of forces among contacts with dependent directions: the least equivalent forces, and if these
        are tensile or leave a friction cone, the least admissible ones.

        In space, where the cones are round, the solution itself is used instead of the latter.
        """
        motion, m = self.motion, self.m
        x = motion.at(here.t, here.q, here.v, phase)
        size = ADMISSIBLE * max(float(np.max(x.lam_N, initial=0.0)), float(np.max(answer.z_N)))
        room = kept(m, x.lam_N, x.lam_T, True)[phase.sticking]
        if np.all(x.lam_N[phase.closed] >= -size) and np.all(room >= -size):
            return phase
        if m.tangents > 1:
            held = m.by_tangent(phase.mode != OPEN)
            reference = np.concatenate([answer.z_g, answer.z_N * (phase.mode != OPEN), answer.z_T * held])
            return replace(phase, reference=reference)
        program, changes = self._least_of_admissible(x, phase)
        if program is None:
            return phase
        try:
            solution = yield program, None
        except SolverFailed:  # none are admissible in these modes: the next event follows immediately
            return phase
        return replace(phase, reference=x.lam + changes @ solution.x)

    def _least_of_admissible(self, x: Point, phase: Phase) -> tuple[QP | None, Array]:
        """The program for the least change of forces to admissible ones, in the plane, and the changes (ng + nc + nt,
        k) that it combines; None if forces are unique."""
        ng, nc, closed, sticking = self.ng, self.nc, phase.closed, phase.sticking
        rows, independent = self.motion.alike(x, phase)
        changes = np.zeros((self.nd, independent.shape[1]))
        changes[rows] = independent
        friction = self.m.friction[sticking, None]
        sides = [(changes[ng + closed], x.lam_N[closed])]
        for sign in (1.0, -1.0):
            sides.append((friction * changes[ng + sticking] - sign * changes[ng + nc + sticking],
                          friction[:, 0] * x.lam_N[sticking] - sign * x.lam_T[sticking]))  # fmt: skip
        A, b = np.concatenate([A for A, _ in sides]), -np.concatenate([room for _, room in sides])
        norms = np.linalg.norm(A, axis=1)
        turned = norms > ALIKE * np.max(norms, initial=0.0)
        if not turned.any():
            return None, changes
        names = tuple(f"shared force {i + 1}" for i in range(int(turned.sum())))
        size, norms = changes.shape[1], norms[turned]
        return QP(np.eye(size), np.zeros(size), A[turned] / norms[:, None], b[turned] / norms, 0, names), changes

    def _clear(self, t: float, q: Array, v: Array, phase: Phase) -> Generator[Ask, Solution, tuple[Array, Array]]:
        """Removes the overlaps of other contacts that result from closing a contact in the window."""
        m, motion, held, size = self.m, self.motion, phase.closed, self.m.metric.M.shape[0]
        order = np.concatenate([held, phase.open])
        names = m.names[: self.ng] + tuple(m.names[self.ng + i] for i in order)
        for _ in range(PASSES):
            W, _, g_N, g = motion.closure(t, q, m.p)
            if np.all(g_N >= -self.closed_gap):
                break
            rows, norms = m.metric.rows(np.concatenate([W[:, : self.ng], W[:, self.ng + order]], axis=1))
            b = -np.concatenate([g, g_N[order]]) / norms
            program = QP(np.eye(size), np.zeros(size), rows, b, self.ng + held.size, names)
            solution = yield program, None
            q = m.moved(q, m.metric.velocity(solution.x), 1.0)
            q, v = motion.projected(t, q, v, phase)
        return q, v

    def _forces(
        self, here: Point, index: NDArray[np.intp], slip: Array
    ) -> Generator[Ask, Solution, tuple[Response, Array]]:
        """Forces and accelerations; slipping contacts are given a slip large enough that they continue along it."""
        ng, nc = self.ng, self.nc
        c_g, c_N, c_T = here.bias[:ng], here.bias[ng : ng + nc], here.bias[ng + nc :]
        W = (here.W_g, here.W_N, here.W_T)
        known = index[self.m.length(slip)[index] != 0]
        rates = np.concatenate([W[1].T @ here.free + c_N, W[2].T @ here.free + c_T])
        # in space this also fixes the direction, with an error of the share of the remainder in this slip
        apart = APART**self.m.tangents * max(float(np.max(np.abs(rates))), self.m.scale.min() / self.m.longest**2)
        for _ in range(TRIALS):
            answer = yield from respond(self.m, here.free, W, (c_g, c_N, c_T + apart * slip), index)
            slip_rate = W[2].T @ answer.x + c_T
            if np.all(self.m.dot(slip, slip_rate)[known] + apart > 0):
                break
            apart *= APART
        return answer, slip_rate

    def _zero_acceleration(self, x: Point, a: Array | None = None) -> Array:
        ng, nc = self.ng, self.nc
        return ZERO * self._terms(x, x.W_N, x.a if a is None else a, x.bias[ng : ng + nc])

    def _terms(self, x: Point, W: Array, a: Array, bias: Array) -> Array:
        """Sizes of the terms of W' a + bias; if all vanish, of an acceleration that changes a gap by its size in
        dt_max."""
        metric = self.m.metric
        scale = self.m.scale if W.shape[1] == self.nc else self.m.by_tangent(self.m.scale)
        whole = metric.rows(W)[1] * (metric.length(x.free) + metric.length(a)) + scale / self.m.longest**2
        return np.abs(W).T @ (np.abs(x.free) + np.abs(a)) + np.abs(bias) + FLOOR * whole + TINY
