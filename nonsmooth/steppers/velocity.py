"""Velocity changes at one instant: the second half of a step, and impacts.

``min 1/2 |v⁺ - v|_M^2  s.t.  W_g' v⁺ = -g_t,  W_N' v⁺ >= bound`` on closed contacts, Gauss' principle for impulses: its
multipliers are the impulses, M (v⁺ - v) = W_g P_g + W_N P_N. It is posed in x = L' v with M = L L' and rows of norm 1.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.programs import QP, Solution
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.equations import FLOOR
from nonsmooth.steppers.mechanism import Mechanism

__all__ = ["VelocityChange", "change_velocity", "strike"]


class VelocityChange(NamedTuple):
    """Velocity after, impulses of joints and of all contacts (zero where open), scaled residual of the equations."""

    v: Array
    P_g: Array
    P_N: Array
    residual: float


def change_velocity(
    m: Mechanism, t: float, q: Array, v: Array, closed: NDArray[np.bool_], bound: Array
) -> Generator[Ask, Solution, VelocityChange]:
    """The nearest velocity that the joints and the `closed` contacts allow, with W_N' v⁺ >= `bound` [m/s]."""
    _, W_N, _, W_g, g_t = m.at(t, q)
    ng, P_N = W_g.shape[1], np.zeros(closed.size)
    index = np.flatnonzero(closed)
    directions = np.concatenate([W_g, W_N[:, index]], axis=1)
    if directions.shape[1] == 0:
        return VelocityChange(v, np.zeros(0), P_N, 0.0)
    rows, norms = m.metric.rows(directions)
    wanted = np.concatenate([-g_t, bound[index]]) - directions.T @ v
    names = m.names[:ng] + tuple(m.names[ng + i] for i in index)
    program = QP(np.eye(v.size), np.zeros(v.size), rows, wanted / norms, ng, names)
    guess = Solution(np.zeros(v.size), np.zeros(norms.size), "guess", 0, "guess", np.ones(norms.size, dtype=bool))
    solution = yield program, guess
    impulses = solution.y / norms
    impulses[ng:] = np.maximum(impulses[ng:], 0.0)
    P_N[index] = impulses[ng:]
    v_plus = v + m.metric.change(directions @ impulses)
    return VelocityChange(v_plus, impulses[:ng], P_N, _residual(m, t, q, v, v_plus, impulses[:ng], P_N))


def strike(
    m: Mechanism, t: float, q: Array, v: Array, closed: NDArray[np.bool_], terms: Array
) -> Generator[Ask, Solution, VelocityChange]:
    """The impact on closed contacts, if one approaches, by Newton's law; `terms` are the sizes that v is a sum of."""
    W_N = m.at(t, q).W_N
    if not np.any(closed & m.approaching(W_N, v, terms)):
        return VelocityChange(v, np.zeros(m.system.ng), np.zeros(closed.size), 0.0)
    bound = -m.restitution * np.minimum(W_N.T @ v, 0.0)
    return (yield from change_velocity(m, t, q, v, closed, bound))


def _residual(m: Mechanism, t: float, q: Array, v: Array, v_plus: Array, P_g: Array, P_N: Array) -> float:
    """Scaled residual of M (v⁺ - v) = W_g P_g + W_N P_N and W_g' v⁺ + g_t = 0."""
    (_, W_N, _, W_g, g_t), M = m.at(t, q), m.metric.M
    rows = M @ (v_plus - v) - W_g @ P_g - W_N @ P_N
    terms = np.abs(M) @ (np.abs(v_plus) + np.abs(v)) + np.abs(W_g) @ np.abs(P_g) + np.abs(W_N) @ P_N
    size = m.metric.length(v) + m.metric.length(v_plus)
    terms += FLOOR * np.sqrt(np.diag(M)) * size
    joints = W_g.T @ v_plus + g_t
    joint_terms = np.abs(W_g).T @ (np.abs(v_plus) + np.abs(v)) + np.abs(g_t)
    joint_terms += FLOOR * m.metric.rows(W_g)[1] * size
    values, scales = np.concatenate([rows, joints]), np.concatenate([terms, joint_terms])
    return float(np.max(np.abs(values) / np.maximum(scales, np.finfo(float).tiny)))
