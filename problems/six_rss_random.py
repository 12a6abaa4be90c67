"""The random clearance vectors of the 6-RSS robot's paper: statistics of a process that is not a motion.

The paper draws a new vector for each joint at each time step, independent of the forces and of the previous step. The
joint then has no velocity, the journal passes through its bearing, and all rates computed from differences grow as the
step size decreases. This is not physical; it is computed to compare the printed figures with the results of the printed
equations. The physical robot with clearance is the problem `six_rss`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth_problems.six_rss_elastic import DT, DURATION, elastic
from nonsmooth_problems.six_rss_structure import Structure

__all__ = ["RandomStatistics", "displacement", "paper_random", "virtual_lengths"]

#: standard deviation of the radial vector in the shafts, as a share of the clearance; mean 0. Not in the paper
SPREAD = 1.0 / 3.0


@dataclass(frozen=True, eq=False)
class RandomStatistics:
    """Statistics over seeds, not physical. Each array has shape (seeds, 6): x, y, z, about x, y, z of the platform.

    Parameters
    ----------
    displacement, velocity, acceleration
        Largest displacement [m, rad], mean magnitude of velocity [m/s, rad/s], largest acceleration [m/s^2, rad/s^2]
        of the elastic motion, the links having their virtual lengths in masses and stiffnesses, eq. (34).
    displaced, moved, accelerated
        The same of the platform if the virtual lengths displace it as rigid links would; rates are difference
        quotients over one step, and depend on it as 1 / dt and 1 / dt^2.
    """

    displacement: Array
    velocity: Array
    acceleration: Array
    displaced: Array
    moved: Array
    accelerated: Array


def virtual_lengths(seeds: int, clearance: float, structure: Structure, i: int, random: np.random.Generator) -> Array:
    """Virtual lengths (6, 2, seeds) [m] of cranks and rods, eq. (5), (9), (13) and (33) of the paper.

    The radial vector of a shaft has a direction uniform in the plane across it, and a normally distributed length,
    truncated at the clearance; its component along the crank is the crank's virtual length. The vector of a ball has
    the length ``clearance rand`` and the angles ``pi rand`` and ``2 pi rand``, so that directions near z are more
    likely; the components of both balls along a rod are its virtual length. Axial vectors of the shafts are
    perpendicular to the cranks.
    """
    length = np.abs(random.normal(0.0, SPREAD * clearance, (6, seeds)))
    while np.any(beyond := length > clearance):
        length[beyond] = np.abs(random.normal(0.0, SPREAD * clearance, np.count_nonzero(beyond)))
    crank = length * np.cos(2.0 * np.pi * random.random((6, seeds)))
    size = clearance * random.random((2, 6, seeds))
    polar, around = np.pi * random.random((2, 6, seeds)), 2.0 * np.pi * random.random((2, 6, seeds))
    balls = size * np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)])
    return np.stack([crank, np.einsum("cels,lc->ls", balls, structure.along[i, :, 1])], axis=1)


def displacement(structure: Structure, i: int, virtual: Array) -> Array:
    """Displacement and rotation (6, s) of the platform that rigid links of these lengths give it, to first order.

    Along each rod ``e . (u + theta x b) = rod + e . crank``: the velocity equation of the closed loop.
    """
    e = structure.along[i, :, 1]
    rows = np.hstack([e, np.cross(structure.arms[i], e)])
    along = virtual[:, 1] + virtual[:, 0] * np.einsum("lc,lc->l", e, structure.along[i, :, 0])[:, None]
    return np.linalg.solve(rows, along)


def paper_random(
    *,
    clearance: float,
    seeds: int = 100,
    seed: int = 0,
    gravity: float = 0.0,
    duration: float = DURATION,
    dt: float = DT,
) -> RandomStatistics:
    """Statistics of the elastic robot with random clearance vectors as in the paper. Not physical.

    Contact forces, which the paper adds, are zero: a vector never leaves the clearance.

    Parameters
    ----------
    clearance : [m]
        In shafts and balls, > 0.
    seeds
        How many independent sequences are drawn.
    seed
        Of the first.
    gravity : [m/s^2]
    duration, dt : [s]

    Raises
    ------
    InputError
        For a clearance or number of seeds that is not positive.

    >>> found = paper_random(clearance=0.25e-3, seeds=3, duration=0.01)
    >>> found.displacement.shape
    (3, 6)
    """
    if not clearance > 0.0 or seeds < 1:
        raise InputError(f"paper_random needs a clearance > 0 and at least one seed, got {clearance} m and {seeds}.")
    random = np.random.default_rng(seed)
    displaced: list[Array] = []

    def virtual(structure: Structure, i: int) -> Array:
        found = virtual_lengths(seeds, clearance, structure, i, random)
        displaced.append(displacement(structure, i, found))
        return found

    run = elastic(gravity=gravity, duration=duration, dt=dt, virtual=virtual)
    rigid = np.swapaxes(np.array(displaced), 1, 2)
    moved = np.diff(rigid, axis=0) / dt
    return RandomStatistics(
        displacement=run.largest, velocity=np.mean(np.abs(run.v), axis=0), acceleration=np.max(np.abs(run.a), axis=0),
        displaced=np.max(np.abs(rigid), axis=0), moved=np.mean(np.abs(moved), axis=0),
        accelerated=np.max(np.abs(np.diff(moved, axis=0)), axis=0) / dt,
    )  # fmt: skip
