"""Contacts of a slider in its guide along a face or an edge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated

from nonsmooth.laws.base import Expression
from nonsmooth.laws.normal.cylindrical import LogarithmicLaw
from nonsmooth.laws.normal.elastic import ElasticLaw
from nonsmooth.quantities import PositiveLength, Quantity

__all__ = ["LineContact", "PlaneContact"]


@dataclass(frozen=True, kw_only=True)
class PlaneContact(ElasticLaw):
    """Contact of two faces: a prism of the softer body under uniform strain. ::

        F = E A delta / l

    For full contact of A and strains ``delta / l`` within the elastic range of the material. A point contact that
    represents the corner of a face has its share of A.

    Parameters
    ----------
    young : E [Pa], > 0
    area : A [m^2], > 0
    thickness : l [m], > 0
        Of the material in the direction of compression.

    References
    ----------
    Zhu, S., Cheng, G., Guo, F., Pang, Y. (2025), Dynamic modeling and response analysis of an optical machining robot
    with prismatic joint clearance, Appl. Sci. 15, 3197, eq. (4).

    >>> PlaneContact(young=2e11, area=1e-4, thickness=0.02).elastic(1e-6, SimpleNamespace(stiffness=1e9))
    1000.0
    """

    young: Annotated[float, Quantity("Pa", positive=True)]
    area: Annotated[float, Quantity("m^2", positive=True)]
    thickness: PositiveLength

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        return {"stiffness": p.young * p.area / p.thickness}

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        return k.stiffness * depth


@dataclass(frozen=True)
class LineContact(LogarithmicLaw):
    """Contact along a rounded edge of length l and radius R, F the total force. ::

        delta = F/(pi E* l) (1 - ln(F R / (pi E* l^3)))

    The source calls F the pressure per unit length, with which the argument of the logarithm would not be
    dimensionless. The law is `DubowskyFreudenstein` with R = R_i R_j / dR; see `LogarithmicLaw` for its range.

    Parameters
    ----------
    a, b : Material
    line_length : l [m], > 0
    edge_radius : R [m], > 0
        Equivalent radius of curvature across the line.

    References
    ----------
    Zhu, S., Cheng, G., Guo, F., Pang, Y. (2025), Dynamic modeling and response analysis of an optical machining robot
    with prismatic joint clearance, Appl. Sci. 15, 3197, eq. (6).

    >>> from nonsmooth.laws import Material
    >>> LineContact(Material(2e11, 0.3), Material(2e11, 0.3), line_length=0.06, edge_radius=1e-3).needs()
    ()
    """

    line_length: PositiveLength = field(kw_only=True)
    edge_radius: PositiveLength = field(kw_only=True)

    geometry = ()

    def scale(self, p: SimpleNamespace) -> Expression:
        return math.e * p.line_length**2 / p.edge_radius

    def length(self, p: SimpleNamespace) -> Expression:
        return p.line_length
