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
        axes = self.system.contact_axes(self.q, self.parameters)
        parts = np.concatenate(
            [self.lam_N[:, :, None], self.lam_T.reshape(*self.lam_N.shape, self.system.dimension - 1)], axis=2
        )
        vectors = np.einsum("nck,nckd->ncd", parts, axes)
        return Columns("contact", self.system.contact_names, vectors, ["N"] * self.system.nc)
