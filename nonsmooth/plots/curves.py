"""A run or an exact solution as curves in time with both limits at every jump."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Trajectory

__all__ = ["Curve", "Exact", "View", "exact_curve", "limits", "readable", "scale", "units_of"]

PREFIXES = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6}
BASES = ("m", "m/s", "rad", "rad/s", "N", "N m", "N s", "N m s", "J", "s")
GRID = 1500  # points of an exact curve, besides its jumps


class Exact(Protocol):
    """An exact solution: samples under the trajectory's names, and the times of its jumps."""

    @property
    def events(self) -> Array: ...

    def sample(self, t: Array, side: Any = "right") -> Any: ...


@dataclass(frozen=True, eq=False)
class View:
    """One-sided limits at times t, by kind and name; what a panel's function receives."""

    t: Array
    q: Mapping[str, Array]
    v: Mapping[str, Array]
    gap: Mapping[str, Array]
    lam_N: Mapping[str, Array]
    impulse: Mapping[str, Array]
    reaction: Mapping[str, Array]
    energy: Mapping[str, Array]


KINDS = ("q", "v", "gap", "lam_N", "impulse", "reaction", "energy")


@dataclass(frozen=True, eq=False)
class Curve:
    """Points of a line that runs vertically through jumps."""

    t: Array
    y: Array

    @classmethod
    def through(cls, t: Array, left: Array, right: Array) -> Curve:
        return cls(np.repeat(t, 2), np.column_stack([left, right]).ravel())


def limits(trajectory: Trajectory) -> tuple[View, View]:
    """Left and right limits at the rows. What belongs to a step, such as a mean force, is constant over it."""

    def over_steps(columns: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
        left = {name: np.concatenate([values[1:2], values[1:]]) for name, values in columns.items()}
        right = {name: np.concatenate([values[1:], values[-1:]]) for name, values in columns.items()}
        return left, right

    lam_left, lam_right = over_steps(trajectory.lam_N)
    reaction_left, reaction_right = over_steps(trajectory.reaction)
    dt = np.diff(trajectory.t, prepend=trajectory.t[0])
    total = {name: np.cumsum(values) for name, values in trajectory.P_N.items()}
    before = {name: total[name] - (trajectory.P_N[name] - trajectory.lam_N[name] * dt) for name in total}
    t, q, gap, energy = trajectory.t, trajectory.q, trajectory.gap, trajectory.energy
    energy_left = dict(energy)
    lost = np.diff(energy["loss_impacts"], prepend=0.0)
    energy_left["loss_impacts"] = energy["loss_impacts"] - lost
    energy_left["kinetic"] = energy["kinetic"] + lost
    return (
        View(t, q, trajectory.left.v, gap, lam_left, before, reaction_left, energy_left),
        View(t, q, trajectory.v, gap, lam_right, total, reaction_right, energy),
    )


def exact_curve(exact: Exact, t_end: float, value: Callable[[Any], Array | None]) -> Curve | None:
    """The exact solution of a quantity over [0, t_end], or None where it does not give it."""
    events = np.asarray(exact.events, float)
    t = np.union1d(np.linspace(0.0, t_end, GRID), events[events <= t_end])
    left, right = value(exact.sample(t, "left")), value(exact.sample(t, "right"))
    return None if left is None or right is None else Curve.through(t, left, right)


def units_of(trajectory: Trajectory, kind: str, name: str) -> str:
    """SI unit of a quantity of the trajectory."""
    if kind not in KINDS:
        raise InputError(f"There is no kind {kind!r} of quantity; a panel draws {', '.join(KINDS)}.")
    columns = trajectory.P_N if kind == "impulse" else getattr(trajectory, kind)
    unit: str = columns.units(name)
    return unit


def scale(unit: str) -> tuple[str, float]:
    """SI unit and factor of a display unit.

    >>> scale("um")
    ('m', 1e-06)
    """
    if unit in ("", "1"):
        return "1", 1.0
    if unit in ("deg", "deg/s"):
        return unit.replace("deg", "rad"), np.pi / 180.0
    for prefix, factor in PREFIXES.items():
        if unit.startswith(prefix) and unit[len(prefix) :] in BASES:
            return unit[len(prefix) :], factor
    raise InputError(
        f"Unknown unit {unit!r}; write one of {', '.join(BASES)}, with a prefix of p, n, u, m, k, M or none, or deg."
    )


def readable(unit: str, peak: float) -> str:
    """Display unit in which `peak` reads between about 0.5 and 500; the SI unit for what is only round-off.

    >>> readable("m", 1e-5)
    'um'
    """
    fitting = [prefix for prefix, factor in PREFIXES.items() if peak >= 0.5 * factor]
    return fitting[-1] + unit if fitting and unit in BASES and np.isfinite(peak) else unit
