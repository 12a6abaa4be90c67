"""Impacts integrated along the normal impulse, after Routh, Keller and Stronge: slip may stop or reverse within them.

During the impact the velocities gamma = (gamma_N, gamma_T) change by G dP, with dP_N,i = w_i ds along a common
parameter s >= 0 and friction against the instantaneous slip ::

    dP_T = -mu dP_N sgn(gamma_T)                      while it slips
    |dP_T| <= mu dP_N with dgamma_T = 0, else slip    where it does not

so that in the plane all relations are linear in s between the break points at which a slip vanishes, compression ends,
or expansion ends. By Stronge's law expansion returns the share e^2 of the work of compression, W_r = -e^2 W_c with dW =
gamma_N dP_N, by Routh's law the share e of its impulse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.steppers.mechanism import DEPENDENT, Mechanism
from nonsmooth.tolerances.impacts import ALIKE, CORNERS, DIED, ROUNDS, ZERO

__all__ = ["Course", "Rounds", "course", "rounds"]

Mask = NDArray[np.bool_]

#: largest residual of an accepted round
ACCEPTED = 1e-10


class Course(NamedTuple):
    """Impulses and velocities at the break points of an impact, each (points, contacts, 2): normal, tangential."""

    P: Array
    rates: Array

    def work(self) -> tuple[Array, Array]:
        """Normal work in compression (<= 0) and in expansion of each contact, exact between break points."""
        push = np.diff(self.P[:, :, 0], axis=0)
        work = push * (self.rates[1:, :, 0] + self.rates[:-1, :, 0]) / 2
        return np.minimum(work, 0.0).sum(axis=0), np.maximum(work, 0.0).sum(axis=0)

    def stopping(self) -> Array:
        """Normal impulse of each contact in compression."""
        middle = (self.rates[1:, :, 0] + self.rates[:-1, :, 0]) / 2
        return np.asarray((np.diff(self.P[:, :, 0], axis=0) * (middle < 0)).sum(axis=0))

    def residual(self, G: Array, mu: Array, e: Array, *, kinetic: bool) -> float:
        """Largest scaled violation [-] of momentum balance, Coulomb's law in each interval, restitution and energy,
        from the break points.

        Velocities are relative to the largest velocity involved, impulses to the largest impulse.
        """
        P, rates = (x.reshape(len(x), -1) for x in self)
        d_N, d_T = np.diff(self.P[:, :, 0], axis=0), np.diff(self.P[:, :, 1], axis=0)
        slip = (self.rates[1:, :, 1] + self.rates[:-1, :, 1]) / 2
        speed = np.max(np.abs(rates), initial=0.0) + np.max(np.abs(G) @ np.abs(P[-1]), initial=0.0)
        size = np.max(np.abs(P), initial=0.0)
        if size == 0.0:
            return 0.0
        balance = np.max(np.abs(rates - rates[0] - P @ G.T)) / speed
        cone = np.max(np.maximum(np.abs(d_T) - mu * d_N, -d_N)) / size
        # if it slips: friction on the edge of the cone, against the slip
        off_edge = np.abs(mu * d_N * np.sign(slip) + d_T)
        sliding = np.max(np.minimum(off_edge / size, np.abs(slip) / speed))
        taken, given = self.work()
        law = np.abs(given + e**2 * taken) / (size * speed)
        if kinetic:
            law = np.abs(P[-1, 0::2] - (1 + e) * self.stopping()) / size
        energy = max(float(P[-1] @ (rates[0] + rates[-1])) / 2, 0.0) / (size * speed)
        return float(max(balance, cone, sliding, np.max(law), energy))


def course(G: Array, gamma: Array, mu: Array, e: Array, *, kinetic: bool = False) -> Course:
    """The simultaneous impact of approaching contacts.

    Each receives normal impulse in proportion to its approach velocity, as equally stiff contacts do initially, until
    its expansion ends; for a single contact the proportion is irrelevant.

    Parameters
    ----------
    G : (2 k, 2 k) [1/kg]
        Delassus matrix of normal and tangential velocities, contact by contact, with ideal joints eliminated.
    gamma : (2 k,) [m/s]
        Velocities before the impact, all normal ones negative.
    mu, e : (k,) [-]
    kinetic : bool
        Poisson's restitution, of impulses, instead of Stronge's, of energies.

    Raises
    ------
    SolverFailed
        If the impact does not end: singular G, or several contacts that jam by friction.

    Notes
    -----
    A single contact has at most three phases: slip as before, stick, and reversed slip. If friction drives it into the
    surface, mu |G_NT| > G_NN, the approach velocity increases until the slip stops, and then decreases: with positive
    definite G the impact of a single contact always ends. With Stronge's restitution the energy decreases by friction
    and by (1 - e^2) of the work of compression; with Poisson's, expansion may do more work than compression absorbed if
    the slip stops.

    >>> ball = course(np.diag([0.5, 1.0]), np.array([-2.0, 0.0]), np.zeros(1), np.array([0.5]))
    >>> ball.P[-1], ball.rates[-1]
    (array([[6., 0.]]), array([[1., 0.]]))
    """
    k = mu.size
    weight = -gamma[0::2] / np.max(-gamma[0::2])
    P, rates, stored = np.zeros((k, 2)), gamma.reshape(k, 2).copy(), np.zeros(k)
    pressing = np.ones(k, dtype=bool)
    corners = [(P.copy(), rates.copy())]
    for _ in range(CORNERS * k):
        d = np.zeros((k, 2))
        d[:, 0] = weight * pressing
        change, d, sticks = _friction(G, d, mu, rates[:, 1], pressing)
        compressing = pressing & ((rates[:, 0] < 0) | ((rates[:, 0] == 0) & (change[:, 0] < 0)))
        # the first break point
        lengths = np.full((3, k), np.inf)
        turning = pressing & ~sticks & (rates[:, 1] * change[:, 1] < 0)
        lengths[0, turning] = -rates[turning, 1] / change[turning, 1]
        stopping = pressing & (rates[:, 0] * change[:, 0] < 0)
        lengths[1, stopping] = -rates[stopping, 0] / change[stopping, 0]
        for i in np.flatnonzero(pressing & ~compressing):
            lengths[2, i] = _given_back(stored[i], d[i, 0], rates[i, 0], change[i, 0], e[i], kinetic)
        length = float(np.min(lengths))
        if not np.isfinite(length):
            break
        work = d[:, 0] * length * (rates[:, 0] + change[:, 0] * length / 2)
        P += length * d
        rates += length * change
        ends = lengths <= length * (1 + ALIKE)
        rates[ends[0], 1] = 0.0
        rates[ends[1], 0] = 0.0
        rates[sticks, 1] = 0.0
        if kinetic:
            stored += np.where(compressing, e, -1.0) * d[:, 0] * length
        else:
            stored -= np.where(compressing, e**2, 1.0) * work
        over = ends[2] | (ends[1] & compressing & (e == 0.0))
        stored[over], pressing = 0.0, pressing & ~over
        if length > 0:
            corners.append((P.copy(), rates.copy()))
        if not pressing.any():
            return Course(*(np.array(x) for x in zip(*corners, strict=True)))
    raise SolverFailed(
        "the integration of an impact along its impulse does not end: contacts jam by friction, or joints prevent "
        "their separation; use impact='poisson', which does not integrate along the impulse."
    )


def _given_back(stored: float, push: float, rate: float, change: float, e: float, kinetic: bool) -> float:
    """Length after which the expansion of a contact ends."""
    if e == 0.0 or stored <= 0.0:
        return 0.0
    if kinetic:
        return stored / push
    # push (rate s + change s^2 / 2) = stored
    root = rate * rate + 2 * change * stored / push
    if root < 0.0 or rate + np.sqrt(root) == 0.0:
        return np.inf
    return float(2 * stored / push / (rate + np.sqrt(root)))


def _friction(G: Array, d: Array, mu: Array, slip: Array, pressing: Mask) -> tuple[Array, Array, Mask]:
    """Changes of the velocities, directions with friction against slip, and sticking contacts."""
    k = mu.size
    d[:, 1] = -np.sign(slip) * mu * d[:, 0]
    still = np.flatnonzero(pressing & (slip == 0))
    sticks = np.zeros(k, dtype=bool)
    if still.size:
        rows = 2 * still + 1
        reach, A = mu[still] * d[still, 0], G[np.ix_(rows, rows)]
        driven = G[rows] @ d.ravel()
        d[still, 1], held = _holding(A, driven, reach)
        sticks[still] = held
    change = (G @ d.ravel()).reshape(k, 2)
    terms = (np.abs(G) @ np.abs(d).ravel()).reshape(k, 2)
    change[np.abs(change) <= ZERO * terms] = 0.0
    change[sticks, 1] = 0.0
    return change, d, sticks


def _holding(A: Array, b: Array, reach: Array) -> tuple[Array, Mask]:
    """Friction x of contacts without slip: A x + b = 0 if |x| <= reach admits it, else on the edge against it.

    By least-index pivoting, which is finite for positive definite A.
    """
    n = b.size
    edge = np.zeros(n)
    for _ in range(3 ** min(n, 8) * 4):
        free = edge == 0
        x = edge * reach
        if free.any():
            inner = A[np.ix_(free, free)]
            x[free] = np.linalg.lstsq(inner, -(b + A @ x)[free], rcond=1e-12)[0]
        u = A @ x + b
        small = ZERO * (np.abs(A) @ np.abs(x) + np.abs(b))
        wrong = np.where(free, np.abs(x) > reach * (1 + ZERO), u * edge > small)
        # a slip that does not depend on its own friction
        loose = free & (np.abs(u) > small) & (np.diag(A) <= ZERO * np.max(np.abs(A), initial=0.0))
        wrong = wrong & ~loose
        if not wrong.any():
            return x, free
        i = int(np.argmax(wrong))
        edge[i] = np.sign(x[i]) if free[i] else 0.0
    raise SolverFailed("friction of an impact has no consistent modes of sticking and slipping.")


class Rounds(NamedTuple):
    """Velocity after the rounds of an impact, impulses, worst residual, and contacts that still approach, if any."""

    v: Array
    P_g: Array
    P_N: Array
    P_T: Array
    residual: float
    rattling: Mask


def rounds(
    m: Mechanism,
    directions: tuple[Array, Array, Array],
    v: Array,
    closed: Mask,
    restitution: Array,
    *,
    together: bool = True,
) -> Rounds:
    """The impact of `closed` contacts of a mechanism, in rounds until none approaches.

    In a round the approaching contacts impact simultaneously, each until its expansion ends; others take no part, and
    impact in the next round if this one makes them approach. Impacts are thus transmitted from contact to contact, as
    in Newton's cradle. A sequence whose approach velocities have decayed to `DIED` of the first is ended by a plastic
    impact.

    Parameters
    ----------
    directions : (W_g, W_N, W_T) of joints and of all contacts
    restitution : (nc,), zero below the threshold velocity
    together : bool
        False: only the contact with the largest approach velocity impacts.

    Raises
    ------
    SolverFailed
        If a round does not end, or its residual is above `ACCEPTED`.
    """
    W_g, W_N, W_T = directions
    metric, start, residual, first = m.metric, v, 0.0, 0.0
    unit, norms = metric.rows(W_g)
    left, singular, _ = np.linalg.svd(unit.T, full_matrices=False)
    basis = left[:, singular > DEPENDENT]
    P = np.zeros((W_N.shape[1], 2))
    touched, rattling = np.zeros_like(closed), np.zeros_like(closed)
    for k in range(ROUNDS):
        approaching = closed & m.approaching(W_N, v, np.abs(start) + np.abs(v))
        if not approaching.any():
            break
        speed = np.where(approaching, -(W_N.T @ v), 0.0)
        first, touched = max(first, float(np.max(speed))), touched | approaching
        if k == ROUNDS - 1 or np.max(speed) < DIED * first:
            rattling = touched
            break
        index = np.flatnonzero(approaching) if together else np.array([np.argmax(speed)])
        D = np.stack([W_N[:, index], W_T[:, index]], axis=2).reshape(v.size, -1)
        Y = metric.inverse @ D
        Y -= basis @ (basis.T @ Y)
        G, mu = Y.T @ Y, m.friction[index]
        e = np.where(speed[index] > m.threshold[index], restitution[index], 0.0)
        found = course(G, D.T @ v, mu, e, kinetic=m.impact == "routh")
        residual = max(residual, found.residual(G, mu, e, kinetic=m.impact == "routh"))
        if residual > ACCEPTED:
            raise SolverFailed(f"the integration of an impact along its impulse has the residual {residual:.3g}.")
        P[index] += found.P[-1]
        v = v + metric.velocity(Y @ found.P[-1].ravel())
    answered = metric.factor.T @ (v - start) - metric.inverse @ (W_N @ P[:, 0] + W_T @ P[:, 1])
    P_g = np.linalg.lstsq(unit.T, answered, rcond=DEPENDENT)[0] / norms
    return Rounds(v, P_g, P[:, 0], P[:, 1], residual, rattling)
