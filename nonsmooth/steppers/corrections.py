"""Least changes of velocity required by joints and contacts, by programs or, if the active rows are known, equations.

An iteration that takes the modes of the contacts (loaded, sticking, slipping) from the previous one solves equations
and checks the signs. If these contradict the modes, or no modes are known, a program is solved: a `QP` without
friction, a `FrictionContact` with it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array, Evaluator
from nonsmooth.programs import QP, FrictionContact, Solution, near_impulses
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.mechanism import MassMetric, Mechanism, contact_modes
from nonsmooth.steppers.resting import resting_answer
from nonsmooth.tolerances import PRESSING, SLIPPING

__all__ = ["Correction", "CorrectionRows", "Displacement", "correct_velocities"]

Mask = NDArray[np.bool_]
Correcting = Generator[Ask, Solution, "Correction"]

#: residual of equations, relative to their right-hand side, above which they are regarded as contradictory
SOLVED = 1e-11
#: relative size of the part of a row outside the span of others below which it is dependent
DEPENDENT = 1e-10
#: least curvature of the program with surfaces that are convex towards each other; 1 without curvature of the gaps
MOST_BULGE = 0.5


class Correction(NamedTuple):
    """A change of velocity and the impulses of its rows; whether these were chosen among equivalent ones."""

    change: Array
    impulses: Array
    redundant: bool = False


class CorrectionRows(NamedTuple):
    """Rows of joints, normal and tangential contact, in this order: ``at_end' change`` compared with `rates`.

    Impulses act along `directions`, which may differ from those `at_end`.
    """

    at_end: Array
    directions: Array
    rates: Array


class Displacement:
    """Displacements of a step that satisfy joints and gaps, by impulses along the directions at its end.

    ``M (u - u_free) = W(q⁺) S``, q⁺ = q moved by u for dt, ``g(t⁺, q⁺) = 0``, ``0 <= g_N(q⁺)  ⟂  S_N >= 0``, by
    sequential quadratic programming. The rotation of directions is included: if the clearance is small, the direction
    of a journal in its bearing rotates considerably within a step.
    """

    def __init__(self, m: Mechanism) -> None:
        self.mechanism = m
        system = m.system
        t, q, s = ca.SX.sym("t"), ca.SX.sym("q", system.nq), ca.SX.sym("p", m.p.size)
        S = ca.SX.sym("S", system.ng + system.nc)
        pushes = ca.horzcat(system.W_g(t, q, s), system.W_N(q, s)) @ S
        turn = ca.jacobian(pushes, q) @ system.B(q)
        self._turn = Evaluator(ca.Function("turn", [t, q, S, s], [turn], ["t", "q", "S", "p"], ["turn"]), ["turn"])

    def correct(self, t: float, dt: float, q: Array, u: Array, u_free: Array, last: Array | None) -> Correcting:
        """One program, linearised at u, which leads to q, and at the impulses `last` of the previous iteration."""
        m, at, n, ng = self.mechanism, self.mechanism.at(t, q), self.mechanism.system.nv, self.mechanism.system.ng
        joints = m.independent(at.W_g, -m.numeric.g(t, q, m.p)[0] / dt)
        n_joints = len(joints.names)
        rows, norms = m.metric.rows(np.concatenate([joints.W, at.W_N], axis=1))
        b = np.concatenate([joints.wanted, -at.g_N / dt]) / norms
        wanted = m.metric.factor.T @ (u_free - u)
        if b.size == 0:
            return Correction(u_free - u, b)
        H = np.eye(n) if last is None else self._hessian(t, dt, q, last)
        held = np.ones(b.size, dtype=bool)
        held[n_joints:] = False if last is None else last[ng:] > 0.0
        solved = np.linalg.solve(H, np.column_stack([wanted, rows[held].T]))
        free, response = solved[:, 0], solved[:, 1:]
        y = np.zeros(b.size)
        y[held] = np.linalg.lstsq(rows[held] @ response, b[held] - rows[held] @ free, rcond=DEPENDENT)[0]
        x = free + response @ y[held]
        errors = rows @ x - b
        scale = np.abs(b) + np.linalg.norm(wanted)
        wrong = np.any(y[n_joints:] < 0.0) or np.any(errors[~held] < 0.0)
        if wrong or np.any(np.abs(errors) > SOLVED * scale, where=held):
            guess = Solution(np.zeros(n), np.zeros(b.size), "guess", 0, "guess", np.ones(b.size, dtype=bool))
            solution = yield QP(H, -wanted, rows, b, n_joints, joints.names + m.system.contact_names), guess
            x, y = solution.x, np.array(solution.y)
            y[n_joints:] = np.maximum(y[n_joints:], 0.0)
        y = y / norms
        return Correction(m.metric.velocity(x), np.concatenate([joints.impulses(y[:n_joints]), y[n_joints:]]))

    def _hessian(self, t: float, dt: float, q: Array, S: Array) -> Array:
        """1 - dt times the derivative of the force directions, in the mass metric, limited such that it remains
        definite."""
        metric, n = self.mechanism.metric, self.mechanism.system.nv
        if not np.any(S[self.mechanism.system.ng :] > 0.0):
            return np.eye(n)
        turn = dt * metric.inverse @ self._turn(t, q, S, self.mechanism.p)[0] @ metric.inverse.T
        turn = (turn + turn.T) / 2
        if np.linalg.norm(turn) <= MOST_BULGE:  # no eigenvalue is larger
            return np.asarray(np.eye(n) - turn)
        values, vectors = np.linalg.eigh(turn)
        return np.eye(n) - (vectors * np.minimum(values, MOST_BULGE)) @ vectors.T


def correct_velocities(
    m: Mechanism, rows: CorrectionRows, closed: Mask, last: Array, known: bool, rest: bool = False
) -> Correcting:
    """Velocities that satisfy the joints and, at `closed` contacts, the laws of impact and friction.

    If a program is solved, the difference between directions and those at the end is evaluated with the impulses `last`
    of the previous iteration, which determine the active rows if they are `known`. `rest`: the step began at rest.
    """
    if rows.rates.size == 0:
        return Correction(np.zeros(m.system.nv), rows.rates)
    if not m.redundant:
        return (yield from _corrected(m, rows, closed, last, known, rest))
    ng = m.system.ng
    joints = m.independent(rows.at_end[:, :ng], rows.rates[:ng])
    assert joints.shares is not None
    at_end = np.concatenate([joints.W, rows.at_end[:, ng:]], axis=1)
    directions = np.concatenate([rows.directions[:, :ng] @ joints.shares, rows.directions[:, ng:]], axis=1)
    independent = CorrectionRows(at_end, directions, np.concatenate([joints.wanted, rows.rates[ng:]]))
    reduced = np.concatenate([np.linalg.lstsq(joints.shares, last[:ng])[0], last[ng:]])
    found = yield from _corrected(m, independent, closed, reduced, known, rest)
    impulses = np.concatenate([joints.impulses(found.impulses[: m.rank]), found.impulses[m.rank :]])
    return Correction(found.change, impulses, found.redundant)


def _corrected(m: Mechanism, rows: CorrectionRows, closed: Mask, last: Array, known: bool, rest: bool) -> Correcting:
    """The same, where the rows of joints are independent."""
    found = _with_modes(m, rows, closed, last) if known or not np.any(closed) else None
    if found is not None:
        return found
    ng, nc = m.rank, m.system.nc
    index = np.flatnonzero(closed)
    lag = m.metric.change((rows.directions - rows.at_end) @ last)
    rates = rows.rates - rows.at_end.T @ lag
    names = m.names[:ng] + tuple(m.system.contact_names[i] for i in index)
    rough, impulses, redundant = bool(np.any(m.friction[index] > 0)), np.zeros(rates.size), False
    tangential = ng + nc + m.tangents * index[:, None] + np.arange(m.tangents)
    pairs = np.concatenate([ng + index[:, None], tangential], axis=1).ravel() if rough else ng + index
    bound = np.concatenate([np.arange(ng), pairs])
    W, rates = rows.at_end[:, bound], rates[bound]
    if rough:
        unit, norms = m.metric.rows(W)
        delassus = (unit @ unit.T) * norms * norms[:, None]
        program = FrictionContact(delassus, -rates, m.friction[index], 1 + m.tangents, ng, names)
        rested = (yield from resting_answer(program)) if rest and not known and index.size > 1 else None
        if rested is not None:
            impulses[bound] = rested.y
            return Correction(lag + m.metric.change(rows.at_end @ impulses), impulses, True)
        warm = np.zeros(rates.size)
        # impulses of redundant rows are not unique, and iterations would not converge
        redundant = m.tangents == 1 and _dependent(unit)
        if m.tangents > 1 or redundant:
            warm = last[bound]
            program = near_impulses(program, warm)
        guess = Solution(program.b, warm, "guess", 0, "guess", np.ones(rates.size, dtype=bool))
        solution = yield program, guess
        impulses[bound] = solution.y
    else:
        impulses[bound] = yield from _quadratic(m, W, rates, names)
    return Correction(lag + m.metric.change(rows.at_end @ impulses), impulses, redundant)


def _dependent(unit: Array) -> bool:
    """Whether rows of length 1 are linearly dependent."""
    if unit.shape[0] > unit.shape[1]:
        return True
    return bool(np.linalg.svd(unit, compute_uv=False)[-1] < DEPENDENT)


def _quadratic(m: Mechanism, W: Array, rates: Array, names: tuple[str, ...]) -> Generator[Ask, Solution, Array]:
    """Impulses of the least change with W' change = rates of joints, >= of contacts, found by a QP."""
    n, ng = m.system.nv, m.rank
    rows, norms = m.metric.rows(W)
    guess = Solution(np.zeros(n), np.zeros(rates.size), "guess", 0, "guess", np.ones(rates.size, dtype=bool))
    solution = yield QP(np.eye(n), np.zeros(n), rows, rates / norms, ng, names), guess
    impulses = solution.y / norms
    impulses[ng:] = np.maximum(impulses[ng:], 0.0)
    return impulses


def _with_modes(m: Mechanism, rows: CorrectionRows, closed: Mask, last: Array) -> Correction | None:
    """The solution by equations, if the contacts have the modes of the impulses `last`; None if not."""
    ng, nc = m.rank, m.system.nc
    last_N, last_T = last[ng : ng + nc], last[ng + nc :]
    pressing = closed & (last_N > PRESSING * np.max(last_N, initial=0.0))
    slipping = pressing & (contact_modes(m, closed, last_N, last_T) == SLIPPING)
    if m.tangents > 1 and np.any(slipping):  # in space the direction of slip is an unknown, which requires a program
        return None
    sticking = m.by_tangent(pressing & ~slipping & (m.friction > 0))
    drag, directions = np.zeros(m.system.nt), np.array(rows.directions)
    if m.tangents == 1:
        drag = np.where(slipping, np.sign(last_T) * m.friction, 0.0)
        directions[:, ng : ng + nc] += drag * directions[:, ng + nc :]
    held = np.concatenate([np.ones(ng, dtype=bool), pressing, sticking])
    near = last[held] if m.rough and np.any(pressing) else None
    found = _on_equations(m.metric, rows.at_end[:, held], directions[:, held], rows.rates[held], near)
    if found is None:
        return None
    impulses = np.zeros(held.size)
    impulses[held] = found.impulses
    P_N, P_T = impulses[ng : ng + nc], impulses[ng + nc :]
    excess, zero = (rows.at_end.T @ found.change - rows.rates)[ng:], 0.0
    if found.redundant:  # unloaded contacts of a pile separate or slip by round-off only
        terms = np.abs(rows.rates) + np.abs(rows.at_end).T @ np.abs(found.change)
        zero = SOLVED * float(np.max(terms))
    agree = (
        np.all(P_N >= 0.0)
        and np.all(excess[:nc][closed & ~pressing] >= -zero)
        and np.all(m.length(P_T) <= m.friction * P_N)
        and np.all(excess[nc:] * drag <= zero)
    )
    P_T += drag * m.by_tangent(P_N)
    return Correction(found.change, impulses, found.redundant) if agree else None


def _on_equations(
    metric: MassMetric, at_end: Array, directions: Array, rates: Array, near: Array | None
) -> Correction | None:
    """The solution with all rows as equations; None if they contradict each other.

    For dependent rows that of least impulses, or of least distance from impulses `near` that satisfy Coulomb's law.
    """
    rows, norms = metric.rows(at_end)
    pushes, b = (metric.inverse @ (directions / norms)).T, rates / norms
    redundant = near is not None and rows.shape[0] > rows.shape[1]
    if not redundant:
        y, _, rank, _ = np.linalg.lstsq(rows @ pushes.T, b, rcond=DEPENDENT)
        redundant = near is not None and rank < b.size
    if near is not None and redundant:
        y = near * norms
        y = y + np.linalg.lstsq(rows @ pushes.T, b - (y @ pushes) @ rows.T, rcond=DEPENDENT)[0]
    x = y @ pushes
    if not np.all(np.abs(rows @ x - b) <= SOLVED * (np.abs(b) + np.linalg.norm(x))):
        return None
    return Correction(metric.velocity(x), y / norms, bool(redundant))
