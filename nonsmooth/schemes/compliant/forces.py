"""Accelerations and forces of compliant contact at any state, by the compiled equations of motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.objects import entry
from nonsmooth.model.system import System
from nonsmooth.schemes.compliant.outside_integrator import rates_of_blocks
from nonsmooth.schemes.compliant.steps import compliant_layout, ridge_of

__all__ = ["CompliantForces", "ForcesAt"]


class ForcesAt(NamedTuple):
    """Accelerations (nv,), forces of joints (ng,), (nr,) and of contacts (nc,), (nt,), rates of bristles (nz,)."""

    a: Array
    lam_g: Array
    reaction: Array
    F_N: Array
    F_T: Array
    bristle_rates: Array


class CompliantForces:
    """The equations of motion of one system.

    Parameters
    ----------
    system : System
        With compliant contacts, or with none.
    values : (n,) parameters
    """

    def __init__(self, system: System, values: Array) -> None:
        self.layout = layout = compliant_layout(system)
        self.memory = memory = layout.memory()
        layout.fill(memory, values)
        memory.of["System"]["ridge"] = ridge_of(system, values)
        self._rates = entry("nonsmooth.schemes.compliant.text", "rates", "Integration", layout.shape)
        self._overlaps, self._parts = memory.of["Overlap"], memory.of["StateBlock"]["tried"]
        self._found = rates_of_blocks(memory)
        counts, bodies = self._overlaps["bristles_count"], len(layout.bodies)
        # the part of each overlap's bristles stands behind those of bodies
        self._bristles = [(k, 2 * bodies + int(np.sum(counts[:k] > 0)), int(counts[k])) for k in layout.contacts]
        plane = layout.shape.dimension == 2
        wrenches, works = len(memory.of["Wrench"]), 2
        self._wrenches = slice(len(self._parts) - works - wrenches, len(self._parts) - works)
        self._of_wrench = [0, 1, 2] if plane else [0, 1, 2, 4, 5, 6]

    def at(self, t: float, q: Array, v: Array, touching: Array, approach: Array, bristles: Array) -> ForcesAt:
        """At a state.

        Parameters
        ----------
        t : [s]
        q, v : (nq,), (nv,)
        touching : (nc,) 1 or 0
        approach : (nc,) [m/s]
        bristles : (nz,)
        """
        layout, memory, overlaps = self.layout, self.memory, self._overlaps
        for first, places, values in ((0, layout.q_places, q), (1, layout.v_places, v)):
            motions = np.zeros((len(layout.bodies), layout.shape.width))
            motions.reshape(-1)[places] = values
            self._parts[first : 2 * len(layout.bodies) : 2] = motions
        overlaps["touches"][layout.contacts] = touching > 0.5
        overlaps["approach"][layout.contacts] = approach
        start = 0
        for _, part, count in self._bristles:
            self._parts[part, :count] = bristles[start : start + count]
            start += count
        memory.of["Integration"]["request_time"] = t
        self._rates(memory.address("Integration"))
        force = overlaps["force"][layout.contacts]
        rates = [overlaps["bristle_rate"][k, :count] for k, _, count in self._bristles]
        return ForcesAt(
            a=layout.packed(memory, "jump").ravel(), lam_g=layout.of_joints(memory, "P"),
            reaction=self._found[self._wrenches][:, self._of_wrench].ravel(),
            F_N=force[:, 0].copy(), F_T=force[:, 1:].ravel(), bristle_rates=np.concatenate([np.zeros(0), *rates]),
        )  # fmt: skip
