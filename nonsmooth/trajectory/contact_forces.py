"""Forces of contacts as vectors of the ground frame, from their parts along normals and tangents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.files import Pieces
from nonsmooth.trajectory.columns import Columns

if TYPE_CHECKING:
    from nonsmooth.model.system import System

__all__ = ["ForceAxes", "by_row", "by_tangent", "tangential_size"]


def by_tangent(P_T: Array, system: System) -> Array:
    """Rows (n, nt) as (n, nc, 2) in space; in the plane, where a contact has one tangent, as they are."""
    return P_T if system.dimension == 2 else P_T.reshape(len(P_T), system.nc, 2)


def by_row(P_T: Array) -> Array:
    """The inverse of `by_tangent`: rows (n, nt)."""
    return P_T.reshape(len(P_T), math.prod(P_T.shape[1:]))


def tangential_size(P_T: Array, system: System) -> Array:
    """Rows (n, nc): with their sign in the plane, lengths in space."""
    return P_T if system.dimension == 2 else np.linalg.norm(by_tangent(P_T, system), axis=2)


@dataclass(frozen=True, eq=False)
class ForceAxes(Pieces):
    """Vectors of contact forces, in the ground frame (n, nc, dimension) [N], computed on request.

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
    lam_N: Array | Pieces
    lam_T: Array | Pieces

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.q), self.system.nc, self.system.dimension

    @property
    def sources(self) -> tuple[Array, ...]:
        parts = [one.sources if isinstance(one, Pieces) else (one,) for one in (self.lam_N, self.lam_T)]
        return self.q, *parts[0], *parts[1]

    def forces(self) -> Columns:
        """Force on the second body of each contact."""
        return Columns("contact", self.system.contact_names, self, ["N"] * self.system.nc)

    def rows(self, first: int, last: int) -> Array:
        axes = self.system.contact_axes(self.q[first:last], self.parameters)
        lam_N, lam_T = self.lam_N[first:last], self.lam_T[first:last]
        parts = np.concatenate([lam_N[:, :, None], lam_T.reshape(*lam_N.shape, self.system.dimension - 1)], axis=2)
        return np.einsum("nck,nckd->ncd", parts, axes)
