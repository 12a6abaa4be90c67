"""A panel over time: lines of a kind and a name, or functions of a run, in one unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import Curve, readable, scale, units_of
from nonsmooth.trajectory import Trajectory

Series = tuple[str, str, str] | tuple[Callable[[Any], Array], str]


@dataclass(frozen=True)
class Panel:
    """Contents of a panel. A problem, which does not import plots, declares it as a plain tuple.

    Parameters
    ----------
    title
        Heading.
    unit
        Display unit: an SI unit, with a prefix (``"um"``, ``"mm/s"``), or ``"deg"``; ``""`` picks a readable one.
    series
        Lines as ``(kind, name, label)`` with a kind of `q`, `v`, `gap`, `lam_N`, `impulse` (of a contact since the
        start), `reaction`, `energy`; or as ``(function, label)``, where the function receives an object with these as
        mappings from names to arrays, and returns SI values.

    >>> Panel("Height", "um", (("q", "slider.y", "centre"),)).title
    'Height'
    """

    title: str
    unit: str
    series: tuple[Series, ...]


AnyPanel = Panel | tuple[str, str, tuple[Series, ...]]

#: what an axis shows, by kind and SI unit; by unit alone where it is a function of several quantities
MEANINGS = {
    ("q", "m kg^1/2"): "modal amplitude", ("v", "m kg^1/2/s"): "rate of modal amplitude",
    ("q", "m"): "position", ("q", "rad"): "angle", ("q", "1"): "orientation", ("q", "-"): "orientation",
    ("v", "m/s"): "velocity", ("v", "rad/s"): "angular velocity",
    ("gap", "m"): "gap", ("lam_N", "N"): "contact force", ("impulse", "N s"): "impulse",
    ("reaction", "N"): "joint force", ("reaction", "N m"): "joint torque", ("energy", "J"): "energy",
    ("", "m"): "length", ("", "rad"): "angle", ("", "m/s"): "velocity", ("", "rad/s"): "angular velocity",
    ("", "N"): "force", ("", "N m"): "torque", ("", "N s"): "impulse", ("", "J"): "energy", ("", "s"): "time",
}  # fmt: skip


def as_panel(entry: AnyPanel) -> Panel:
    if isinstance(entry, Panel):
        return entry
    if isinstance(entry, (tuple, list)) and len(entry) == 3:
        return Panel(*entry)
    raise InputError(f"A panel is Panel(title, unit, series), or a tuple of the three, got {entry!r}.")


@dataclass(frozen=True)
class Line:
    """One entry of a panel's series."""

    kind: str
    name: str
    label: str
    function: Callable[[Any], Array] | None = None

    @classmethod
    def of(cls, entry: Series, panel: Panel) -> Line:
        if len(entry) == 3:
            return cls(*entry)
        if len(entry) == 2 and callable(entry[0]):
            return cls("", "", entry[1], entry[0])
        raise InputError(f'Panel "{panel.title}": a series is (kind, name, label) or (function, label), got {entry!r}.')

    @property
    def curved(self) -> bool:
        """Whether it is interpolated between rows: a coordinate, or a function, which may be of coordinates."""
        return self.kind == "q" or self.function is not None

    def unit(self, trajectory: Trajectory) -> str | None:
        return None if self.function else units_of(trajectory, self.kind, self.name)

    def value(self, view: Any) -> Array:
        if self.function:
            return np.asarray(self.function(view), float)
        result: Array = getattr(view, self.kind)[self.name]
        return result

    def known(self, sample: Any) -> Array | None:
        """The value, or None where an exact solution does not have this quantity."""
        if self.function is None and self.name not in getattr(sample, self.kind, {}):
            return None
        return self.value(sample)


def common_unit(trajectory: Trajectory, series: Sequence[Line], curves: Sequence[Curve]) -> str:
    units = {line.unit(trajectory) for line in series} - {None}
    if len(units) != 1:
        what = ", ".join(sorted(str(unit) for unit in units)) or "functions only"
        raise InputError(f"One panel cannot find a unit for {what}; give its unit, or split the panel.")
    peak = max(float(np.nanmax(np.abs(curve.y), initial=0.0)) for curve in curves)
    return readable(str(units.pop()), peak)


def meaning(lines: Sequence[Line], unit: str) -> str:
    """What the axis of these lines shows in a display unit, in words; empty where no word fits.

    >>> meaning([Line("lam_N", "pin", "pin")], "kN"), meaning([Line("q", "crank.angle", "crank")], "deg")
    ('contact force', 'angle')
    """
    kinds = {line.kind for line in lines if line.kind}
    base = scale(unit)[0]
    return MEANINGS.get((kinds.pop() if len(kinds) == 1 else "", base), MEANINGS.get(("", base), ""))
