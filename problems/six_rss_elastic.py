"""The 6-RSS robot with elastic cranks and rods as in its paper: small elastic motion about the motion of rigid bodies.

Kineto-elastodynamics: the platform's path determines the motion of the rigid bodies; its inertia forces load a linear
elastic structure in the configuration of the instant, whose small displacements are superposed. The elastic motion does
not act back on the rigid one. Each crank and each rod is one beam element with 18 degrees of freedom, of which natural
and imposed boundary conditions leave 9 and 12; a leg has 18 of them, and with the platform's six the robot has 96.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth_problems.six_rss import VALUE
from nonsmooth_problems.six_rss_structure import OWN, RAYLEIGH, Matrices, Structure

__all__ = ["DT", "DURATION", "ElasticMotion", "elastic", "frequencies"]

#: length and step of the paper's runs [s]; Table 3
DURATION, DT = 2.0, 1e-3
#: eigenvalues below this share of the largest are the spins of the rods, which nothing loads
SPINS = 1e-12
#: entries of the 96 coordinates that are those of each leg and the platform
OF_LEG = np.array([[*range(OWN * leg, OWN * leg + OWN), *range(6 * OWN, 6 * OWN + 6)] for leg in range(6)])


def _dense(legs: Array, platform: Array) -> Array:
    """Matrix (96, 96) of matrices of the legs (6, 21, 21) and of the platform."""
    found = np.zeros((6 * OWN + 6, 6 * OWN + 6))
    found[6 * OWN :, 6 * OWN :] = platform
    for at, leg in zip(OF_LEG, legs, strict=True):
        found[np.ix_(at, at)] += leg
    return found


def _summed(legs: Array) -> Array:
    """Forces (96, s) of forces on the legs (6, 21, s)."""
    return np.vstack([legs[:, :OWN].reshape(6 * OWN, -1), legs[:, OWN:].sum(axis=0)])


def _changed(matrix: Array, virtual: Array, x: Array) -> Array:
    """What lengths (6, 2, s) add to a matrix of the legs (3, 6, 21, 21), by x (96, s); forces (96, s)."""
    at = x[OF_LEG]
    return _summed(virtual[:, :1] * (matrix[1] @ at) + virtual[:, 1:] * (matrix[2] @ at))


def _times(matrix: Array, virtual: Array, x: Array) -> Array:
    """Matrix of the legs by x (96, s), for their lengths."""
    return _summed(matrix[0] @ x[OF_LEG]) + _changed(matrix, virtual, x)


def _solved(inverse: Any, matrix: Array, virtual: Array, force: Array) -> Array:
    """x (96, s) of ``matrix x = force``: the nominal inverse, corrected for the lengths, which change it by 1e-3.

    Raises
    ------
    InputError
        If the virtual lengths change the matrix so much that this does not converge.
    """
    x = inverse @ force
    for _ in range(30):
        before, x = x, inverse @ (force - _changed(matrix, virtual, x))
        if np.max(np.abs(x - before)) <= 1e-12 * np.max(np.abs(x)):
            return x
    raise InputError(f"The virtual lengths, up to {np.max(np.abs(virtual)):.2g} m, are too large for small changes.")


@dataclass(frozen=True, eq=False)
class ElasticMotion:
    """Elastic motion of s robots at n times; displacements and small rotations of the platform in ground axes.

    Parameters
    ----------
    t : (n,) [s]
    u, v, a : (n, s, 6) [m, rad], [m/s, rad/s], [m/s^2, rad/s^2]
        Of the platform, from its rigid motion.
    """

    t: Array
    u: Array
    v: Array
    a: Array

    @property
    def largest(self) -> Array:
        """Largest magnitudes (s, 6) of displacements [m] and rotations [rad]."""
        return np.max(np.abs(self.u), axis=0)


def elastic(
    *,
    gravity: float = VALUE["gravity"],
    duration: float = DURATION,
    dt: float = DT,
    virtual: Callable[[Structure, int], Array] | None = None,
) -> ElasticMotion:
    """Elastic motion of the robot on its path by Newmark's method with beta 1/4 and gamma 1/2.

    It starts at rest from the static deflection under the loads of t = 0. Rods may spin about their axes between their
    balls: their stiffness against this is zero, and nothing loads it.

    Parameters
    ----------
    gravity : [m/s^2]
        Along -z; the paper does not say whether it has any.
    duration, dt : [s]
    virtual : callable (structure, i), optional
        Gives what cranks and rods of s robots are longer than nominal, (6, 2, s) [m], at the time i.

    Raises
    ------
    InputError
        If the duration is not a whole number of steps.

    >>> moved = elastic(gravity=0.0, duration=0.02)
    >>> moved.u.shape
    (21, 1, 6)
    """
    steps = round(duration / dt)
    if not (steps > 0 and abs(steps * dt - duration) < 1e-9 * duration):
        raise InputError(f"The duration must be a whole number of steps, got {duration} s and a step of {dt} s.")
    structure = Structure.at(np.linspace(0.0, steps * dt, steps + 1), gravity)
    nominal = np.zeros((6, 2, 1))
    lengths = virtual or (lambda structure, i: nominal)

    def force_at(now: Matrices, longer: Array) -> Array:
        force = _summed(
            now.load[0][..., None] + np.sum(longer[:, None] * np.moveaxis(now.load[1:], 0, -1)[..., None], 2)
        )
        force[-6:] += now.platform_load[:, None]
        return force

    first, longer = Matrices.at(structure, 0), lengths(structure, 0)
    inverse = np.linalg.pinv(_dense(first.elastic[0], np.zeros((6, 6))), rcond=SPINS, hermitian=True)
    u = _solved(inverse, first.elastic, longer, force_at(first, longer))
    v, a = np.zeros_like(u), np.zeros_like(u)
    rows = [(u[-6:], v[-6:], a[-6:])]
    for i in range(1, steps + 1):
        now, longer = Matrices.at(structure, i), lengths(structure, i)
        ahead, faster = u + dt * v + dt**2 / 4.0 * a, v + dt / 2.0 * a
        force = force_at(now, longer) - _times(now.damping, longer, faster) - _times(now.stiffness, longer, ahead)
        force[-6:] -= RAYLEIGH[0] * now.platform @ faster[-6:]
        matrix = now.mass + dt / 2.0 * now.damping + dt**2 / 4.0 * now.stiffness
        inverse = np.linalg.inv(_dense(matrix[0], (1.0 + dt / 2.0 * RAYLEIGH[0]) * now.platform))
        a = _solved(inverse, matrix, longer, force)
        u, v = ahead + dt**2 / 4.0 * a, faster + dt / 2.0 * a
        rows.append((u[-6:], v[-6:], a[-6:]))
    return ElasticMotion(structure.times, *(np.swapaxes(np.array(part), 1, 2) for part in zip(*rows, strict=True)))


def frequencies(time: float = 0.0) -> Array:
    """Undamped frequencies (96,) [Hz] of the structure, ascending; six are zero, the spins of the rods."""
    from scipy.linalg import eigh

    now = Matrices.at(Structure.at(np.array([time]), 0.0), 0)
    stiffness, mass = _dense(now.elastic[0], np.zeros((6, 6))), _dense(now.mass[0], now.platform)
    found: Array = np.sqrt(np.maximum(eigh(stiffness, mass, eigvals_only=True), 0.0)) / (2.0 * np.pi)
    return found
