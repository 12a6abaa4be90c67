"""Flexible rods of the 6-RSS robot, between the clearances of their balls."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from nonsmooth.flexible.beam import beam
from nonsmooth.flexible.modes import Modes
from nonsmooth.flexible.reduction import Rayleigh, modes
from nonsmooth.model.flexible_bodies import SpatialFlexibleBody
from nonsmooth_problems.six_rss import INERTIA, VALUE
from nonsmooth_problems.six_rss_structure import ALUMINIUM, RAYLEIGH, ROD

__all__ = ["flexible_rod", "rod_modes"]

#: finite elements along a rod; the first frequency between balls is right to 1e-4
ELEMENTS = 4


@lru_cache(maxsize=1)
def rod_modes() -> Modes:
    """Modes of a rod in mean axes: static ones of its ends, and the first two of bending with the ends fixed.

    Mass and inertia are those of the rigid rod, so that what differs is due to the modes alone. Damping is the paper's.
    """
    half = VALUE["rod.length"] / 2
    shape = beam(
        (-half, 0.0, 0.0), (half, 0.0, 0.0), section=ROD, material=ALUMINIUM, elements=ELEMENTS,
        names={"knee": 0.0, "ball": 1.0},
    )  # fmt: skip
    found = modes(shape, interface=["knee", "ball"], keep=2, damping=Rayleigh(*RAYLEIGH))
    return replace(found, mass=VALUE["rod.mass"], inertia=np.diag(INERTIA["rod"]))


def flexible_rod(name: str, start: dict[str, Any]) -> SpatialFlexibleBody:
    """A rod, straight at the start."""
    return SpatialFlexibleBody(name, rod_modes(), **start)
