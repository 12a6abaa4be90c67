"""Forces of contacts as vectors of the ground frame, from their parts along normals and tangents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.trajectory.columns import Columns

if TYPE_CHECKING:
    from nonsmooth.model.system import System

__all__ = ["ForceAxes", "by_tangent", "tangential_size"]


#: rows that are evaluated at once
AT_ONCE = 16384


def by_tangent(P_T: Array, system: System) -> Array:
    """Rows (n, nt) as (n, nc, 2) in space; in the plane, where a contact has one tangent, as they are."""
    return P_T if system.dimension == 2 else P_T.reshape(len(P_T), system.nc, 2)


def tangential_size(P_T: Array, system: System) -> Array:
    """Rows (n, nc): with their sign in the plane, lengths in space."""
    return P_T if system.dimension == 2 else np.linalg.norm(by_tangent(P_T, system), axis=2)


@dataclass(frozen=True, eq=False)
class ForceAxes:
    """Data from which vectors of contact forces are computed on request.

    Parameters
    ----------
    system, parameters, q
        The mechanism, its parameters, and coordinates at the rows (n, nq).
    lam_N, lam_T
        Mean normal (n, nc) and tangential (n, nt) forces [N] of the steps that end in the rows, impacts excluded.
    """

    system: System
    parameters: Array
    q: Array
    lam_N: Array
    lam_T: Array

    def forces(self) -> Columns:
        """Force on the second body of each contact, in the ground frame (n, nc, dimension) [N]."""
        count, d = len(self.q), self.system.dimension
        vectors = np.empty((count, self.system.nc, d))
        for k in range(0, count, AT_ONCE):
            vectors[k : k + AT_ONCE] = self.vectors(slice(k, k + AT_ONCE))
        return Columns("contact", self.system.contact_names, vectors, ["N"] * self.system.nc)

    def vectors(self, rows: slice) -> Array:
        """The same of some rows, as an array."""
        axes = self.system.contact_axes(self.q[rows], self.parameters)
        lam_N, lam_T = self.lam_N[rows], self.lam_T[rows]
        parts = np.concatenate([lam_N[:, :, None], lam_T.reshape(*lam_N.shape, self.system.dimension - 1)], axis=2)
        return np.einsum("nck,nckd->ncd", parts, axes)
