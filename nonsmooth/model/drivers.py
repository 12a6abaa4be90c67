"""Prescribed motion: constraints that depend on time."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Literal

import casadi as ca

from nonsmooth.model.drawing import Drive, Primitive, Turn
from nonsmooth.model.frames import PlanarPlacement
from nonsmooth.model.joints import Joint, _misfit, _sine
from nonsmooth.model.signals import Signal, evaluate_signal
from nonsmooth.quantities import Point, Quantity

__all__ = ["PrescribedMotion"]


@dataclass(frozen=True, eq=False)
class PrescribedMotion(Joint):
    """Driver: one relative coordinate of b against a follows a function of time.

    ``angle``: sin(theta_b - theta_a - motion(t)) = 0 [rad]; ``x`` or ``y``: that component, in the frame of a, of the
    vector from the point `at_a` to the point `at_b`, minus motion(t) = 0 [m]. Its reaction is the driving force or
    torque on b.

    Parameters
    ----------
    coordinate : "angle", "x" or "y"
    motion : number, callable of t [s] -> [rad] or [m], or Table
        A callable is called once, with symbolic time.
    at_a, at_b : [m]
        For "x" and "y".

    >>> PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: 150.0 * t).rows
    (('angle', 'rad'),)
    """

    coordinate: Literal["angle", "x", "y"] = field(kw_only=True)
    motion: Annotated[Signal, Quantity("rad or m")] = field(kw_only=True)
    at_a: Point = (0.0, 0.0)
    at_b: Point = (0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coordinate not in ("angle", "x", "y"):
            raise self.error(f'coordinate must be "angle", "x" or "y", got {self.coordinate!r}.')

    def quantity(self, label: str) -> Quantity:
        return Quantity(self.rows[0][1]) if label == "motion" else super().quantity(label)

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:  # type: ignore[override]
        return ((self.coordinate, "rad" if self.coordinate == "angle" else "m"),)

    def _target(self, t: ca.SX, p: SimpleNamespace) -> ca.SX:
        if callable(self.motion):
            return evaluate_signal(self.name, "motion", self.motion, t, 1)
        return p.motion

    def _offset(self, t: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        offset = a.unrotate(b.point(p.at_b) - a.point(p.at_a))
        return offset[0 if self.coordinate == "x" else 1] - self._target(t, p)

    def constraint(self, t: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return _sine(a, b, self._target(t, p)) if self.coordinate == "angle" else self._offset(t, a, b, p)

    def closure(self, t: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return _misfit(a, b, self._target(t, p)) if self.coordinate == "angle" else self._offset(t, a, b, p)

    def application_point(self, p: SimpleNamespace) -> ca.SX:
        return p.at_b

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Turn(b, a),) if self.coordinate == "angle" else (Drive(a, b),)
