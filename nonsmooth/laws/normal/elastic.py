"""Elastic forces, which depend on penetration only: of points and faces, from materials; bases of laws with damping."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from types import SimpleNamespace
from typing import Annotated, ClassVar

import casadi as ca

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Expression, Law, Limit, check_numbers
from nonsmooth.laws.compliant import NormalLaw
from nonsmooth.quantities import InUnits, PositiveLength, Quantity
from nonsmooth.settings import is_number, shown

Modulus = Annotated[float, Quantity("Pa", positive=True)]
PoissonRatio = Annotated[float, Quantity("-", nonnegative=True, at_most=0.5)]


@dataclass(frozen=True)
class ElasticLaw(NormalLaw):
    """Base of laws without damping; a law defines `elastic`.

    It is a contact law by itself, or the `stiffness` of another: ``Flores(stiffness=Johnson(steel, steel), ...)``.
    """


@dataclass(frozen=True, kw_only=True)
class DampedLaw(NormalLaw):
    """Base of laws with an elastic force, ``K delta^n`` or that of an `ElasticLaw`; a law defines `force`.

    InputError if the stiffness is neither, or an elastic law is given an exponent.

    Parameters
    ----------
    stiffness : K [N/m^n], > 0, or an `ElasticLaw`
    exponent : n [-], > 0, optional
        For a stiffness that is a number; 1.5 by default (Hertzian point contact), 1 for the viscous laws. It is not a
        parameter of the system, since the unit of K depends on it.
    """

    stiffness: Annotated[float | ElasticLaw, Quantity("N/m^n", positive=True)]
    exponent: float | None = None

    usual_exponent: ClassVar[float] = 1.5

    def __post_init__(self) -> None:
        name, n, stiffness = type(self).__name__, self.exponent, self.stiffness
        number = isinstance(stiffness, Real)
        if not number and not isinstance(stiffness, ElasticLaw):
            hint = "; write it with its brackets" if isinstance(stiffness, type) else ""
            raise InputError(f"{name}: stiffness must be a number or an ElasticLaw, got {shown(stiffness)}{hint}.")
        if n is not None and not number:
            form = f"{type(stiffness).__name__} has its own form, so leave exponent out"
            raise InputError(f"{name}: exponent belongs to a stiffness that is a number; {form}.")
        if n is not None and not (is_number(n) and n > 0):
            raise InputError(f"{name}: exponent must be a positive number, got {shown(n)}.")
        super().__post_init__()

    @property
    def power(self) -> float:
        """n of a stiffness that is a number."""
        return self.usual_exponent if self.exponent is None else self.exponent

    def quantity(self, label: str) -> Quantity:
        if label == "stiffness":
            return Quantity("N/m" if self.power == 1 else f"N/m^{self.power:g}", positive=True)
        return super().quantity(label)

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        if isinstance(self.stiffness, ElasticLaw):
            return self.stiffness.coefficients(p)
        return {"stiffness": p.stiffness}

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        if isinstance(self.stiffness, ElasticLaw):
            return self.stiffness.elastic(depth, k)
        return k.stiffness * depth**self.power

    def limits(self, p: SimpleNamespace, k: SimpleNamespace) -> tuple[Limit, ...]:
        return self.stiffness.limits(p, k) if isinstance(self.stiffness, ElasticLaw) else ()


@dataclass(frozen=True)
class Material(metaclass=InUnits):
    """An elastic, isotropic material.

    InputError for a number out of range.

    Parameters
    ----------
    young : E [Pa], > 0
    poisson : nu [-], 0 <= nu <= 0.5
    density : rho [kg/m^3], > 0, optional, only for limits of velocity; not a parameter of the system

    >>> Material(2.07e11, 0.3)
    Material(young=207000000000.0, poisson=0.3, density=None)
    """

    young: Modulus
    poisson: PoissonRatio
    density: Annotated[float | None, Quantity("kg/m^3", positive=True)] = None

    def __post_init__(self) -> None:
        check_numbers(self)


@dataclass(frozen=True)
class MaterialPair(Law):
    """Base of laws that need the materials of both surfaces.

    Those of the contact's bodies a and b; parameters of the system are ``young_a``, ``poisson_a``, ``young_b``,
    ``poisson_b``.

    Parameters
    ----------
    a, b : Material
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
                wanted = "a Material, as Material(2.07e11, 0.3)"
                raise InputError(f"{type(self).__name__}: {side} must be {wanted}, got {shown(material)}.")
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
    rounding : r [m], > 0, radius of the corner; the surface opposite is flat

    >>> steel = Material(2.07e11, 0.3)
    >>> RoundedStiffness(steel, steel, rounding=1e-3).needs()
    ()
    """

    rounding: PositiveLength = field(kw_only=True)

    geometry = ()

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        return {"stiffness": 4 / 3 * contact_modulus(p) * ca.sqrt(p.rounding)}


@dataclass(frozen=True, kw_only=True)
class PlaneContact(ElasticLaw):
    """Contact of two faces: a prism of the softer body under uniform strain. ::

        F = E A delta / l

    For full contact of A and strains ``delta / l`` within the elastic range of the material. A point contact that
    represents the corner of a face has its share of A.

    Parameters
    ----------
    young, area : E [Pa], A [m^2], > 0
    thickness : l [m], > 0, of the material in the direction of compression

    References
    ----------
    Zhu, S., Cheng, G., Guo, F., Pang, Y. (2025), Dynamic modeling and response analysis of an optical machining robot
    with prismatic joint clearance, Appl. Sci. 15, 3197, eq. (4).

    >>> PlaneContact(young=2e11, area=1e-4, thickness=0.02).elastic(1e-6, SimpleNamespace(stiffness=1e9))
    1000.0
    """

    young: Modulus
    area: Annotated[float, Quantity("m^2", positive=True)]
    thickness: PositiveLength

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        return {"stiffness": p.young * p.area / p.thickness}

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        return k.stiffness * depth
