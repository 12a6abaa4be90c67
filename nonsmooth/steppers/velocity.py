"""Velocity changes at one instant: the second half of a step, and impacts.

``min 1/2 |v⁺ - v|_M^2  s.t.  W_g' v⁺ = -g_t,  W_N' v⁺ >= bound`` on closed contacts, Gauss' principle for impulses: its
multipliers are the impulses, M (v⁺ - v) = W_g P_g + W_N P_N. It is formulated in x = L' v with M = L L' and rows of
norm 1.

Newton's law is one such change. Poisson's law is two: compression with bound 0, whose impulses are P_c, and expansion,
with bound 0 and given normal impulses e P_c, to which impulses are added only to prevent penetration. Routh's and
Stronge's laws are integrated along the impulse (see `incremental`).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.programs import QP, FrictionContact, Program, Solution, pushed_friction_contact
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.incremental import rounds
from nonsmooth.steppers.mechanism import Mechanism
from nonsmooth.steppers.resting import answered_at_rest
from nonsmooth.tolerances import FLOOR, TINY

__all__ = ["VelocityChange", "change_velocity", "expand", "strike"]


class VelocityChange(NamedTuple):
    """Velocity after, impulses of joints and all contacts (zero where open), scaled residuals of equations and law."""

    v: Array
    P_g: Array
    P_N: Array
    P_T: Array
    residual: float
    law: float

    def then(self, other: VelocityChange) -> VelocityChange:
        """Both changes in succession, as one."""
        P_g, P_N, P_T = (a + b for a, b in zip(self[1:4], other[1:4], strict=True))
        return VelocityChange(other.v, P_g, P_N, P_T, max(self.residual, other.residual), max(self.law, other.law))


def change_velocity(
    m: Mechanism,
    t: float,
    q: Array,
    v: Array,
    closed: NDArray[np.bool_],
    bound: Array,
    tangential: Array | None = None,
    push: Array | None = None,
    rest: bool = False,
) -> Generator[Ask, Solution, VelocityChange]:
    """The velocity after impulses of joints and `closed` contacts, with W_N' v⁺ >= `bound` and Coulomb's law.

    `tangential` [m/s] is added to the slip W_T' v⁺ in the law. `push` [N s] are normal impulses that are already
    included in v, without their friction. `rest`: the step began at rest (see `resting`). Without friction this is a
    QP, else a `FrictionContact`. All are (nc,), except `tangential` (nt,).
    """
    _, W_N, W_T, W_g, g_t = m.at(t, q)
    joints, index = m.independent(W_g, -g_t), np.flatnonzero(closed)
    ng = len(joints.names)
    P_N, P_T = np.zeros(closed.size), np.zeros(W_T.shape[1])
    rough = bool(np.any(m.friction[index] > 0))
    W = m.blocks(W_N, W_T, index) if rough else W_N[:, index]
    directions = np.concatenate([joints.W, W], axis=1)
    if directions.shape[1] == 0:
        return VelocityChange(v, np.zeros(0), P_N, P_T, 0.0, 0.0)
    names = joints.names + tuple(m.system.contact_names[i] for i in index)
    rows, norms = m.metric.rows(directions)
    if rough:
        shift = m.rows(-bound, np.zeros(W_T.shape[1]) if tangential is None else tangential, index)
        rates = directions.T @ v + np.concatenate([-joints.wanted, shift])
        delassus = (rows @ rows.T) * norms * norms[:, None]
        contacts = FrictionContact(delassus, rates, m.friction[index], 1 + m.tangents, ng, names)
        pushed, recover = pushed_friction_contact(contacts, np.zeros(index.size) if push is None else push[index])
        program: Program = pushed
        solution = yield from answered_at_rest(pushed, None, rest)
        impulses = recover(solution.y)
        P_N, P_T = m.parted(impulses[ng:], index)
    else:
        wanted = np.concatenate([joints.wanted, bound[index]]) - directions.T @ v
        program = QP(np.eye(v.size), np.zeros(v.size), rows, wanted / norms, ng, names)
        active = np.ones(norms.size, dtype=bool)
        solution = yield program, Solution(np.zeros(v.size), np.zeros(norms.size), "guess", 0, "guess", active)
        impulses = solution.y / norms
        impulses[ng:] = np.maximum(impulses[ng:], 0.0)
        P_N[index] = impulses[ng:]
    v_plus = v + m.metric.change(directions @ impulses)
    residual = _residual(m, t, q, v, v_plus, directions @ impulses)
    return VelocityChange(v_plus, joints.impulses(impulses[:ng]), P_N, P_T, residual, program.residual(solution))


def strike(
    m: Mechanism, t: float, q: Array, v: Array, closed: NDArray[np.bool_], terms: Array
) -> Generator[Ask, Solution, VelocityChange]:
    """The impact of closed contacts, if one approaches, by their law; `terms` are the sizes of the terms of v."""
    _, W_N, W_T, _, _ = m.at(t, q)
    if not np.any(closed & m.approaching(W_N, v, terms)):
        return VelocityChange(v, np.zeros(m.system.ng), np.zeros(closed.size), np.zeros(W_T.shape[1]), 0.0, 0.0)
    rebound = m.rebound(W_N.T @ v)
    if m.incremental:
        return (yield from _follow(m, t, q, v, closed))
    if m.impact == "newton":
        return (yield from change_velocity(m, t, q, v, closed, -rebound, m.by_tangent(m.tangential) * (W_T.T @ v)))
    stopped = yield from change_velocity(m, t, q, v, closed, np.zeros(closed.size))
    # the threshold applies to Poisson's law as well: no expansion without a rebound
    restitution = np.where(np.any(rebound[closed] < 0), m.restitution, 0.0)
    expanded = yield from expand(m, t, q, stopped.v, closed, restitution * stopped.P_N)
    return stopped.then(expanded)


def _follow(
    m: Mechanism, t: float, q: Array, v: Array, closed: NDArray[np.bool_]
) -> Generator[Ask, Solution, VelocityChange]:
    """The impact integrated along its impulse, in rounds; a decayed sequence ends by a plastic impact."""
    _, W_N, W_T, W_g, _ = m.at(t, q)
    found = rounds(m, (W_g, W_N, W_T), v, closed, m.restitution)
    impulse = W_g @ found.P_g + W_N @ found.P_N + W_T @ found.P_T
    # it changes no velocity of joints; what they are after a step that closes joints elsewhere is not its residual
    residual = _residual(m, t, q, v, found.v, impulse, W_g.T @ v)
    followed = VelocityChange(found.v, found.P_g, found.P_N, found.P_T, residual, found.residual)
    if not found.rattling.any():
        return followed
    ended = yield from change_velocity(m, t, q, found.v, found.rattling, np.zeros(closed.size))
    return followed.then(ended)


def expand(
    m: Mechanism, t: float, q: Array, v: Array, closed: NDArray[np.bool_], returned: Array
) -> Generator[Ask, Solution, VelocityChange]:
    """The expansion of Poisson's law from v, with normal impulses of at least `returned` (nc,) [N s]."""
    pushed = v + m.metric.change(m.at(t, q).W_N @ returned)
    freed = yield from change_velocity(m, t, q, pushed, closed, np.zeros(closed.size), push=returned)
    return freed._replace(P_N=returned + freed.P_N)


def _residual(
    m: Mechanism, t: float, q: Array, v: Array, v_plus: Array, impulse: Array, rates: Array | None = None
) -> float:
    """Scaled residual of M (v⁺ - v) = impulse, the joints' and contacts' together, and of W_g' v⁺ + g_t = 0, or of
    W_g' v⁺ = `rates`."""
    (_, _, _, W_g, g_t), M = m.at(t, q), m.metric.M
    rows = M @ (v_plus - v) - impulse
    terms = np.abs(M) @ (np.abs(v_plus) + np.abs(v)) + np.abs(impulse)
    size = m.metric.length(v) + m.metric.length(v_plus)
    terms += FLOOR * np.sqrt(np.diag(M)) * size
    joints = W_g.T @ v_plus + (g_t if rates is None else -rates)
    joint_terms = np.abs(W_g).T @ (np.abs(v_plus) + np.abs(v)) + np.abs(g_t)
    joint_terms += FLOOR * m.metric.rows(W_g)[1] * size
    values, scales = np.concatenate([rows, joints]), np.concatenate([terms, joint_terms])
    return float(np.max(np.abs(values) / np.maximum(scales, TINY)))
