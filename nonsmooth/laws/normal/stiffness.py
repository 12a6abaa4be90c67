"""Elastic forces of point contacts from two materials and a radius."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from types import SimpleNamespace
from typing import Annotated, ClassVar

import casadi as ca

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Expression, Law
from nonsmooth.laws.normal.elastic import ElasticLaw
from nonsmooth.quantities import InUnits, Quantity, declarations

__all__ = ["HertzStiffness", "Material", "MaterialPair", "RoundedStiffness", "contact_modulus", "slowest_wave"]

Modulus = Annotated[float, Quantity("Pa", positive=True)]
PoissonRatio = Annotated[float, Quantity("-", nonnegative=True, at_most=0.5)]


@dataclass(frozen=True)
class Material(metaclass=InUnits):
    """An elastic, isotropic material.

    Parameters
    ----------
    young : E [Pa], > 0
    poisson : nu [-], 0 <= nu <= 0.5
    density : rho [kg/m^3], > 0, optional
        Only for limits of velocity; not a parameter of the system.

    Raises
    ------
    InputError
        For a number out of range.

    >>> Material(2.07e11, 0.3)
    Material(young=207000000000.0, poisson=0.3, density=None)
    """

    young: Modulus
    poisson: PoissonRatio
    density: Annotated[float | None, Quantity("kg/m^3", positive=True)] = None

    def __post_init__(self) -> None:
        for name, declared in declarations(type(self)).items():
            value = getattr(self, name)
            if name == "density" and value is None:
                continue
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not declared.quantity.accepts(float(value)):
                raise InputError(f"Material: {name} must be {declared.quantity.accepted}, got {value!r}.")


@dataclass(frozen=True)
class MaterialPair(Law):
    """Base of laws that need the materials of both surfaces.

    Their numbers become parameters of the system: ``young_a``, ``poisson_a``, ``young_b``, ``poisson_b``.

    Parameters
    ----------
    a, b : Material
        Of the contact's bodies a and b.
    """

    a: Material
    b: Material
    young_a: Modulus = field(init=False, repr=False, compare=False)
    poisson_a: PoissonRatio = field(init=False, repr=False, compare=False)
    young_b: Modulus = field(init=False, repr=False, compare=False)
    poisson_b: PoissonRatio = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for side, material in (("a", self.a), ("b", self.b)):
            if not isinstance(material, Material):
                raise InputError(
                    f"{type(self).__name__}: {side} must be a Material, as Material(2.07e11, 0.3), got {material!r}."
                )
            object.__setattr__(self, f"young_{side}", material.young)
            object.__setattr__(self, f"poisson_{side}", material.poisson)
        super().__post_init__()


def contact_modulus(p: SimpleNamespace) -> Expression:
    """E* [Pa] of a pair: ``1/E* = (1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b``."""
    return 1 / ((1 - p.poisson_a**2) / p.young_a + (1 - p.poisson_b**2) / p.young_b)


def slowest_wave(law: object, p: SimpleNamespace) -> float | None:
    """``sqrt(E/rho)`` [m/s], the smaller one of a pair of materials; None if no density is given."""
    if not isinstance(law, MaterialPair):
        return None
    pair = ((p.young_a, law.a.density), (p.young_b, law.b.density))
    return min((math.sqrt(young / density) for young, density in pair if density), default=None)


@dataclass(frozen=True)
class HertzStiffness(MaterialPair, ElasticLaw):
    """Hertz' force of a point contact of two materials. ::

        F = 4/3 E* sqrt(R) delta^1.5,    1/E* = (1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b

    R is the contact's effective radius: R_a R_b / (R_a + R_b) of two convex surfaces, the radius itself on a plane,
    R_i R_j / (R_i - R_j) of a journal R_j in a bearing R_i. It is valid for spheres, quasi-static contact and a contact
    area that is small compared with R. For cylinders, for which it is often used (also by Lankarani and Nikravesh), it
    has no theoretical basis: the force would be proportional to the length, which does not occur here.

    Parameters
    ----------
    a, b : Material

    References
    ----------
    Hertz, H. (1881), Ueber die Berührung fester elastischer Körper, J. reine angew. Math. 92, 156-171.

    >>> steel = Material(2.07e11, 0.3)
    >>> HertzStiffness(steel, steel).numbers()
    {'young_a': 207000000000.0, 'poisson_a': 0.3, 'young_b': 207000000000.0, 'poisson_b': 0.3}
    """

    geometry: ClassVar[tuple[str, ...]] = ("effective_radius",)

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        return {"stiffness": 4 / 3 * contact_modulus(p) * ca.sqrt(p.effective_radius)}

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        return k.stiffness * depth**1.5


@dataclass(frozen=True)
class RoundedStiffness(HertzStiffness):
    """Hertz' force of a rounded corner: ``F = 4/3 E* sqrt(r) delta^1.5``, for any geometry of the contact.

    For point contacts without a radius, such as those of a `PrismaticClearance` or a `PointPlane`.

    Parameters
    ----------
    a, b : Material
    rounding : r [m], > 0
        Radius of the corner; the surface opposite is flat.

    >>> steel = Material(2.07e11, 0.3)
    >>> RoundedStiffness(steel, steel, rounding=1e-3).needs()
    ()
    """

    rounding: Annotated[float, Quantity("m", positive=True)] = field(kw_only=True)

    geometry = ()

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        return {"stiffness": 4 / 3 * contact_modulus(p) * ca.sqrt(p.rounding)}
