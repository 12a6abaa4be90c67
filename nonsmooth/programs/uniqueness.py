"""Uniqueness of the solutions of friction problems."""

from __future__ import annotations

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs.friction_contact import FrictionContact

__all__ = ["undetermined_impulses"]

#: share of the cone, and of the largest normal impulse, within which an impulse is regarded as on the edge
EDGE = 1e-6
#: singular value below which directions of effect 1 depend on each other: round-off of A, since values are squares here
NOTHING = 1e-10


def undetermined_impulses(program: FrictionContact, z: Array) -> int:
    """Number of independent changes of the impulses z of a solution that leave velocities and modes unchanged.

    Bilateral impulses, normal impulses of loaded contacts, and tangential ones inside the cone may change; on the edge
    of the cone both change together. With S their directions the number is the dimension of the null space of S^T A S.
    If it is not 0, forces are not unique, and a solution with another velocity may exist as well.

    Examples
    --------
    A block on two sticking feet: the internal stress between the feet is arbitrary.

    >>> both = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    >>> feet = FrictionContact(both, np.array([-1.0, 0.0, -1.0, 0.0]), np.full(2, 0.5), dimension=2)
    >>> undetermined_impulses(feet, np.array([1.0, 0.0, 1.0, 0.0]))
    1
    """
    e, (P_N, P_T) = program.bilateral, program.split(z)
    columns = list(np.eye(z.size)[:e])
    size = float(np.max(P_N, initial=0.0))
    for k, (N, T, mu) in enumerate(zip(P_N, P_T, program.friction, strict=True)):
        if not N > EDGE * size:
            continue
        first, length = e + program.dimension * k, float(np.linalg.norm(T))
        own = np.eye(z.size)[first : first + program.dimension]
        if mu == 0.0:
            columns.append(own[0])
        elif length < (1.0 - EDGE) * mu * N:
            columns.extend(own)
        else:
            columns.append(own[0] + mu * (T / length) @ own[1:])
    if not columns:
        return 0
    S = np.array(columns).T / np.sqrt(np.where(program.units > 0.0, program.units, 1.0))[:, None]
    A = S.T @ program.A @ S
    effect: Array = np.sqrt(np.maximum(np.diagonal(A), np.zeros(len(A))))
    effect[effect <= NOTHING * np.max(effect)] = np.inf  # no effect at all
    return int(np.sum(np.linalg.svd(A / np.outer(effect, effect), compute_uv=False) <= NOTHING))
