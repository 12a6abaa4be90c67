"""Ideal joints of planar mechanisms.

A joint poses g(t, q) = 0; its force on the bodies is W_g lambda_g. Rows are smooth functions of placements: angles
enter through the sine of their difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, ClassVar

import casadi as ca

from nonsmooth.model.bodies import Body, Ground
from nonsmooth.model.elements import Element
from nonsmooth.model.frames import PlanarPlacement, cross
from nonsmooth.quantities import Point, Quantity

__all__ = ["Fixed", "Joint", "Prismatic", "Revolute"]

Angle = Annotated[float, Quantity("rad")]
BodyRef = Body | Ground | str


@dataclass(frozen=True, eq=False)
class Joint(Element):
    """Base of bilateral constraints between two bodies, drivers included."""

    a: BodyRef
    b: BodyRef

    body_fields = ("a", "b")
    dimensions = (2,)
    #: label and unit of each row
    rows: ClassVar[tuple[tuple[str, str], ...]] = ()

    def constraint(self, t: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        """g, one entry per row; zero when the joint is closed."""
        raise TypeError(f"{type(self).__name__} poses no constraint.")

    def closure(self, t: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        """The misfit that is reported; differs from `constraint` where the latter has a second root."""
        return self.constraint(t, a, b, p)

    def application_point(self, p: SimpleNamespace) -> ca.SX:
        """Point of the second body, in its frame, at which the reaction is reported."""
        return ca.SX.zeros(2)


def _sine(a: PlanarPlacement, b: PlanarPlacement, angle: ca.SX) -> ca.SX:
    """sin(theta_b - theta_a - angle)."""
    sine, cosine = _relative(a, b)
    return sine * ca.cos(angle) - cosine * ca.sin(angle)


def _misfit(a: PlanarPlacement, b: PlanarPlacement, angle: ca.SX) -> ca.SX:
    """theta_b - theta_a - angle in (-pi, pi]."""
    sine, cosine = _relative(a, b)
    return ca.atan2(_sine(a, b, angle), cosine * ca.cos(angle) + sine * ca.sin(angle))


def _relative(a: PlanarPlacement, b: PlanarPlacement) -> tuple[ca.SX, ca.SX]:
    sine = cross(ca.vertcat(a.cosine, a.sine), ca.vertcat(b.cosine, b.sine))
    return sine, a.cosine * b.cosine + a.sine * b.sine


@dataclass(frozen=True, eq=False)
class Revolute(Joint):
    """Ideal pin: two points coincide, ``r_b + A_b s_b - r_a - A_a s_a = 0`` (2 rows, [m], global frame).

    Parameters
    ----------
    at_a, at_b : s_a, s_b [m]
        The pin in the frame of each body.

    >>> Revolute("pin", "crank", "rod", at_a=(0.05, 0.0), at_b=(-0.06, 0.0)).body_names()
    ('crank', 'rod')
    """

    at_a: Point = (0.0, 0.0)
    at_b: Point = (0.0, 0.0)

    rows = (("x", "m"), ("y", "m"))

    def constraint(self, t: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return b.point(p.at_b) - a.point(p.at_a)

    def application_point(self, p: SimpleNamespace) -> ca.SX:
        return p.at_b


@dataclass(frozen=True, eq=False)
class Prismatic(Joint):
    """Ideal slide: a point of b stays on a line of a, and b keeps its angle to a.

    ``n . A_a' (r_b + A_b s_b - r_a - A_a s_a) = 0`` [m] with n normal to the axis in the frame of a,
    ``sin(theta_b - theta_a - angle) = 0`` [rad].

    Parameters
    ----------
    direction : [rad]
        Angle of the axis in the frame of a.
    at_a, at_b : s_a, s_b [m]
        A point of the line, the point that slides on it.
    angle : [rad]
        Angle of b against a.
    """

    direction: Angle = 0.0
    at_a: Point = (0.0, 0.0)
    at_b: Point = (0.0, 0.0)
    angle: Angle = 0.0

    rows = (("normal", "m"), ("angle", "rad"))

    def _offset(self, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        offset = a.unrotate(b.point(p.at_b) - a.point(p.at_a))
        return ca.cos(p.direction) * offset[1] - ca.sin(p.direction) * offset[0]

    def constraint(self, t: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(self._offset(a, b, p), _sine(a, b, p.angle))

    def closure(self, t: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(self._offset(a, b, p), _misfit(a, b, p.angle))

    def application_point(self, p: SimpleNamespace) -> ca.SX:
        return p.at_b


@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """Weld: a point of b and its angle are fixed in a (3 rows: [m], [m], global frame; [rad]).

    Parameters
    ----------
    at_a, at_b : s_a, s_b [m]
        The welded point in the frame of each body.
    angle : [rad]
        Angle of b against a.
    """

    at_a: Point = (0.0, 0.0)
    at_b: Point = (0.0, 0.0)
    angle: Angle = 0.0

    rows = (("x", "m"), ("y", "m"), ("angle", "rad"))

    def constraint(self, t: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(b.point(p.at_b) - a.point(p.at_a), _sine(a, b, p.angle))

    def closure(self, t: ca.SX, a: PlanarPlacement, b: PlanarPlacement, p: SimpleNamespace) -> ca.SX:
        return ca.vertcat(b.point(p.at_b) - a.point(p.at_a), _misfit(a, b, p.angle))

    def application_point(self, p: SimpleNamespace) -> ca.SX:
        return p.at_b
