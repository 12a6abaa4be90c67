"""Samples of an exact solution: its motion at given times, under the names of a trajectory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.exceptions import InputError

__all__ = ["Array", "Sample", "Side", "times"]

Array = NDArray[np.float64]
Side = Literal["left", "right"]


@dataclass(frozen=True, eq=False)
class Sample:
    """The motion at given times, under the names of a trajectory of the problem, so that plots treat both alike.

    `q` [m, rad], `v` [m/s, rad/s], `gap` [m], `lam_N` [N] and `impulse` [N s] since t = 0 map names to arrays of the
    shape of `t`.
    """

    t: Array
    q: Mapping[str, Array]
    v: Mapping[str, Array]
    gap: Mapping[str, Array]
    lam_N: Mapping[str, Array]
    impulse: Mapping[str, Array]


def times(t: ArrayLike, side: str) -> Array:
    """`t` as an array.

    Raises
    ------
    InputError
        For a time before 0 or another side than "left" and "right".

    >>> times([0, 1], "left")
    array([0., 1.])
    """
    if side not in ("left", "right"):
        raise InputError(f'side must be "left" or "right" (the limit at a jump), got {side!r}.')
    array = np.asarray(t, float)
    if np.any(~(array >= 0.0)):
        raise InputError(f"The motion starts at t = 0, but t = {np.min(array)} was requested.")
    return array
