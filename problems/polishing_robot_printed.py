"""The contact laws that the paper on the polishing robot prints: one for planes, one for lines, one for points.

The law depends on the number of corners of a wall in contact, so that the force at a given penetration is discontinuous
when another corner closes or opens: it has no potential, and a motion through such a discontinuity gains or loses
energy. It is included for comparison, and is not a physical contact model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp
from types import SimpleNamespace
from typing import Any, Literal

import casadi as ca
import numpy as np

from nonsmooth.laws.friction.regularised import SineCosine
from nonsmooth.laws.normal.cylindrical import END, LineContact
from nonsmooth.laws.normal.elastic import ElasticLaw, Material, PlaneContact, RoundedStiffness
from nonsmooth.model.clearances import SpatialPrismaticClearance
from nonsmooth.model.drawing import Primitive
from nonsmooth.model.forces import Force
from nonsmooth.model.joints import BodyRef

__all__ = ["MODES", "GuideByMode", "depth", "energies", "laws", "touching"]

Mode = Literal["plane", "line", "point"]
MODES: tuple[Mode, ...] = ("plane", "line", "point")
#: Young's modulus [Pa] of Table 3, Poisson's ratio of steel
STEEL = Material(2e11, 0.3)
CORNERS = 4


def laws(*, length: float, width: float, thickness: float, rounding: float) -> dict[str, ElasticLaw]:
    """Equations (4), (6) and (7), the last without damping, for which the paper gives no coefficient.

    Parameters
    ----------
    length, width : [m]
        Of the wall that carries the load; lines are its sides along the length. Other walls and lines take the same.
    thickness : l [m]
        Of the material behind the face.
    rounding : R [m]
        Radius of edges and corners.
    """
    return {
        "plane": PlaneContact(young=STEEL.young, area=length * width, thickness=thickness),
        "line": LineContact(STEEL, STEEL, line_length=length, edge_radius=rounding),
        "point": RoundedStiffness(STEEL, STEEL, rounding=rounding),
    }


def constants(law: ElasticLaw) -> SimpleNamespace:
    """Of a law, as numbers."""
    found = law.coefficients(SimpleNamespace(**law.numbers()))
    return SimpleNamespace(**{name: float(value) for name, value in found.items()})


def depth(law: ElasticLaw, force: float) -> float:
    """Penetration [m] at which a law gives this force [N] on the whole plane, line or point."""
    from scipy.optimize import brentq

    k = constants(law)
    high = 1e-3 if not hasattr(k, "scale") else END * exp(-END) * k.scale
    return float(brentq(lambda x: float(law.elastic(x, k)) - force, 0.0, high, xtol=1e-18, rtol=1e-12))


def touching(closed: Any) -> tuple[Any, Any, Any]:
    """For each corner of a wall, in the order of its gaps, 0 or 1: whether it belongs to a plane, a line or a point.

    Three or four of them are a plane, two adjacent ones a line; one, or two on a diagonal, are points.
    """
    count = closed[0] + closed[1] + closed[2] + closed[3]
    plane = count >= 3
    diagonal = closed[0] == closed[3]
    line = ca.logic_and(count == 2, ca.logic_not(diagonal))
    return plane, line, ca.logic_not(ca.logic_or(plane, line))


@dataclass(frozen=True, eq=False)
class GuideByMode(Force):
    """Forces between slide and guide by the law of the wall's contact mode: plane, line or point.

    Each corner of a wall whose gap is negative pushes with its share of the wall's law: a quarter of a plane, half of a
    line, the whole of a point. Friction is the paper's, eq. (3), at each corner.

    Parameters
    ----------
    guide, slider : the two bodies
    shape
        The clearance that gives gaps, corners and normals; its contact law has no part.
    by_mode
        Laws of whole planes, lines and points, see `laws`.
    friction
        None for none.
    """

    guide: BodyRef
    slider: BodyRef
    shape: SpatialPrismaticClearance = field(kw_only=True)
    by_mode: Mapping[str, ElasticLaw] = field(kw_only=True)
    friction: SineCosine | None = field(default=None, kw_only=True)

    body_fields = ("guide", "slider")
    dimensions = (3,)

    def forces(self, t: ca.SX, bodies: tuple[Any, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        guide, slider = bodies
        numbers = self._shape_numbers()
        gaps = self.shape.gaps(guide, slider, numbers)
        touches = self.shape.touches(guide, slider, numbers)
        pushes = [push for wall in range(0, len(touches), CORNERS) for push in self._wall(gaps[wall : wall + CORNERS])]
        on_guide, on_slider = ca.SX.zeros(6), ca.SX.zeros(6)
        for push, (point, normal) in zip(pushes, touches, strict=True):
            at = [body.unrotate(point - body.position) for body in (guide, slider)]
            slip = slider.point_velocity(at[1]) - guide.point_velocity(at[0])
            force = push * normal + self._drag(push, slip - ca.dot(normal, slip) * normal)
            on_guide = on_guide + guide.generalized_force(-force, at[0])
            on_slider = on_slider + slider.generalized_force(force, at[1])
        return on_guide, on_slider

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return self.shape.drawing(self._shape_numbers())

    def _shape_numbers(self) -> SimpleNamespace:
        return self.shape.symbols({f"{self.shape.name}.{name}": ca.SX(x) for name, x in self.shape.numbers().items()})

    def _wall(self, gaps: ca.SX) -> list[ca.SX]:
        """Normal forces (4) [N] of the corners of a wall."""
        depths = [ca.fmax(-gaps[i], 0) for i in range(CORNERS)]
        plane, line, _ = touching([gaps[i] < 0 for i in range(CORNERS)])
        k = {mode: constants(law) for mode, law in self.by_mode.items()}

        def push(x: ca.SX, mode: str, corners: int) -> ca.SX:
            return self.by_mode[mode].elastic(x, k[mode]) / corners

        return [
            ca.if_else(plane, push(x, "plane", 4), ca.if_else(line, push(x, "line", 2), push(x, "point", 1)))
            for x in depths
        ]

    def _drag(self, push: ca.SX, slip: ca.SX) -> ca.SX:
        """Friction (3,) [N] on the slider at a corner."""
        if self.friction is None:
            return ca.SX.zeros(3)
        speed = ca.sqrt(ca.dot(slip, slip) + 1e-60)
        return -self.friction.coefficient(speed, SimpleNamespace(**self.friction.numbers())) * push * slip / speed


def energies(by_mode: Mapping[str, ElasticLaw], force: float) -> dict[str, float]:
    """Work [J] that each law stores on its way to this force [N], by the trapezoid."""
    found = {}
    for mode, law in by_mode.items():
        x, k = np.linspace(0.0, depth(law, force), 2001), constants(law)
        found[mode] = float(np.trapezoid([float(law.elastic(one, k)) for one in x], x))
    return found
