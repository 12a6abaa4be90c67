"""The response of closed contacts and joints at one instant, in velocities (impacts) or in accelerations (forces).

With x a free velocity or acceleration, the solution x⁺ = x + M^-1 (W_g z_g + W_N z_N + W_T z_T) satisfies ::

    W_g' x⁺ + c_g = 0,    0 <= W_N' x⁺ + c_N  ⟂  z_N >= 0,    Coulomb's law between z_T and W_T' x⁺ + c_T

For impacts z are impulses and c contains the restitution; for forces c is the convective acceleration. Without friction
this is the quadratic program of Gauss' principle, with friction a `FrictionContact`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.programs import QP, FrictionContact, Solution, pushed_friction_contact
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.mechanism import Mechanism

__all__ = ["Response", "respond"]


#: share of the cone within which a tangential impulse is regarded as on its edge
SAME_MODE = 1e-7


class Response(NamedTuple):
    """x⁺, and the impulses or forces of joints and of all contacts (zero where open)."""

    x: Array
    z_g: Array
    z_N: Array
    z_T: Array


def respond(
    m: Mechanism,
    x: Array,
    directions: tuple[Array, Array, Array],
    offsets: tuple[Array, Array, Array],
    closed: NDArray[np.intp],
    push: Array | None = None,
) -> Generator[Ask, Solution, Response]:
    """The response of joints and of the contacts `closed`.

    Parameters
    ----------
    directions, offsets : (W_g, W_N, W_T), (c_g, c_N, c_T) of all joints and all contacts
    push : (nc,) normal impulses that are already included in x, without their friction: |z_T| <= mu (z_N + push)
    """
    W_g, W_N, W_T = directions
    c_g, c_N, c_T = offsets
    joints = m.independent(W_g, -c_g)
    W_g, c_g = joints.W, -joints.wanted
    ng, nc, mu = W_g.shape[1], W_N.shape[1], m.friction[closed]
    z_N, z_T = np.zeros(nc), np.zeros(W_T.shape[1])
    names = joints.names + tuple(m.system.contact_names[i] for i in closed)
    rough = bool(np.any(mu > 0))
    if rough:
        D = np.concatenate([W_g, m.blocks(W_N, W_T, closed)], axis=1)
        c = np.concatenate([c_g, m.rows(c_N, c_T, closed)])
    else:
        D = np.concatenate([W_g, W_N[:, closed]], axis=1)
        c = np.concatenate([c_g, c_N[closed]])
    if D.shape[1] == 0:
        return Response(x, np.zeros(0), z_N, z_T)
    b = D.T @ x + c
    if rough:
        Y = m.metric.inverse @ D
        contacts = FrictionContact(Y.T @ Y, b, mu, 1 + m.tangents, ng, names)
        pushed, recover = pushed_friction_contact(contacts, np.zeros(mu.size) if push is None else push[closed])
        solution = yield pushed, None
        z = recover(_refined(pushed, solution.y) if m.tangents == 1 else solution.y)
        z_N, z_T = m.parted(z[ng:], closed)
    else:
        rows, norms = m.metric.rows(D)
        none = np.zeros(x.size)
        guess = Solution(none, np.zeros(norms.size), "guess", 0, "guess", np.ones(norms.size, dtype=bool))
        solution = yield QP(np.eye(x.size), none, rows, -b / norms, ng, names), guess
        z = solution.y / norms
        z[ng:] = np.maximum(z[ng:], 0.0)
        z_N[closed] = z[ng:]
    return Response(x + m.metric.change(D @ z), joints.impulses(z[:ng]), z_N, z_T)


def _refined(program: FrictionContact, z: Array) -> Array:
    """The solution in the same modes by one linear solve, if its residual is smaller: solvers may stop at 1e-9."""
    e, mu = program.bilateral, program.friction
    u = program.A @ z + program.b
    N, T = np.arange(e, z.size, 2), np.arange(e + 1, z.size, 2)
    pushes = z[N] > 0
    room = mu * z[N] - np.abs(z[T])
    sticks = pushes & (room > SAME_MODE * mu * z[N])
    slides = np.where(pushes & ~sticks & (mu > 0), -np.sign(np.where(z[T] == 0, -u[T], z[T])), 0.0)
    rows = np.concatenate([np.arange(e), N[pushes], T[sticks]])
    force = program.A[:, rows].copy()  # the friction of slipping contacts is proportional to the normal impulse
    force[:, e : e + int(pushes.sum())] -= program.A[:, T[pushes]] * (mu * slides)[pushes]
    try:
        found = np.linalg.lstsq(force[rows], -program.b[rows], rcond=1e-13)[0]
    except np.linalg.LinAlgError:
        return z
    refined = np.zeros_like(z)
    refined[rows] = found
    refined[T] -= mu * slides * refined[N]
    before, after = (program.residual(Solution(u, answer, "", 0, "")) for answer in (z, refined))
    return refined if after < before else z
