"""Data of the motion at one instant and over one step, with the modes of its contacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.tolerances import OPEN, SLIPPING, STICKING

__all__ = ["Index", "Phase", "Point", "Trial"]

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Phase:
    """Modes of all contacts; the direction of each slip (nt,), zero elsewhere. If directions are dependent, also the
    distribution of sticking friction, and the `reference` (ng + nc + nt,), forces of joints and contacts from which
    those of the phase differ as little as possible.

    The direction of slip is that at the start of a step. In space it follows the slip, see `Motion.slip_directions`.
    """

    mode: NDArray[np.int8]
    direction: Array
    share: Array
    redundant: bool
    reference: Array

    @classmethod
    def remembered(cls, memory: Mapping[str, Array]) -> Phase:
        """From the internal states of a state."""
        redundant = bool(memory["redundant"][0])
        return cls(memory["mode"].astype(np.int8), memory["direction"], memory["share"], redundant, memory["reference"])

    def memory(self) -> dict[str, Array]:
        """The internal states of a state."""
        return {
            "mode": self.mode.astype(float),
            "direction": self.direction,
            "share": self.share,
            "redundant": np.array([float(self.redundant)]),
            "reference": self.reference,
        }

    @cached_property
    def closed(self) -> Index:
        return np.flatnonzero(self.mode != OPEN)

    @cached_property
    def open(self) -> Index:
        return np.flatnonzero(self.mode == OPEN)

    @cached_property
    def sticking(self) -> Index:
        return np.flatnonzero(self.mode == STICKING)

    @cached_property
    def slipping(self) -> Index:
        return np.flatnonzero(self.mode == SLIPPING)


@dataclass(frozen=True, eq=False)
class Point:
    """Data of the motion at one instant.

    `W` (nv, ng + nc + nt), `bias` and the forces `lam` (ng + nc + nt,) hold joints, gaps and slips in this order;
    `power` [W] is that of loads and of damping.
    """

    t: float
    q: Array
    v: Array
    rate: Array
    a: Array
    free: Array
    lam: Array
    h: Array
    W: Array
    g_t: Array
    bias: Array
    g_N: Array
    power: Array

    @property
    def lam_g(self) -> Array:
        return self.lam[: self.g_t.size]

    @property
    def lam_N(self) -> Array:
        return self.lam[self.g_t.size : self.g_t.size + self.g_N.size]

    @property
    def lam_T(self) -> Array:
        return self.lam[self.g_t.size + self.g_N.size :]

    @property
    def W_g(self) -> Array:
        return self.W[:, : self.g_t.size]

    @property
    def W_N(self) -> Array:
        return self.W[:, self.g_t.size : self.g_t.size + self.g_N.size]

    @property
    def W_T(self) -> Array:
        return self.W[:, self.g_t.size + self.g_N.size :]

    @cached_property
    def gamma(self) -> Array:
        return np.asarray(self.W_N.T @ self.v)

    @cached_property
    def slip(self) -> Array:
        return np.asarray(self.W_T.T @ self.v)

    @cached_property
    def gap_acceleration(self) -> Array:
        ng, nc = self.g_t.size, self.g_N.size
        return self.W_N.T @ self.a + self.bias[ng : ng + nc]

    @cached_property
    def slip_rate(self) -> Array:
        return self.W_T.T @ self.a + self.bias[self.g_t.size + self.g_N.size :]


@dataclass(frozen=True, eq=False)
class Trial:
    """A step of length dt: its stages, its projected end, its error over the tolerance, and the works [J] of loads, of
    damping, of drivers and of friction in it. `slopes` are the derivatives of (q, v) at the stages and the end, where
    it is a Runge-Kutta step."""

    dt: float
    stages: tuple[Point, ...]
    end: Point
    error: float
    work: Array
    slopes: Array | None = None

    @property
    def start(self) -> Point:
        return self.stages[0]
