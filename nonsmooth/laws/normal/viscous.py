"""Damping that is independent of the approach velocity: Kelvin-Voigt, Anagnostopoulos, the IMPACT function of ADAMS."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated

import casadi as ca

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Expression
from nonsmooth.laws.normal.elastic import DampedLaw, ElasticLaw
from nonsmooth.quantities import Quantity

Damping = Annotated[float, Quantity("N s/m", nonnegative=True)]


@dataclass(frozen=True, kw_only=True)
class KelvinVoigt(DampedLaw):
    """A spring and a viscous damper in parallel. ::

        F = K delta + C delta'

    The force jumps to C delta'- at the beginning of contact and is tensile before separation, as published. The
    restitution of a free impact of a mass m is then, with zeta = C / (2 sqrt(K m)), ::

        e = exp(-pi zeta / sqrt(1 - zeta^2)),  zeta < 1;    e = 0,  zeta >= 1: overdamped, no separation

    and if tension is cut off, and the surfaces separate when the force vanishes, for zeta < 1 ::

        e = exp(-zeta/w (pi - atan(2 zeta w / (1 - 2 zeta^2)))),  w = sqrt(1 - zeta^2),  atan from 0 to pi

    Parameters
    ----------
    stiffness, exponent : K [N/m], > 0, or an `ElasticLaw`; n [-], > 0, 1 where omitted
        The closed forms are valid for n = 1 only, and not with an `ElasticLaw`.
    damping : C [N s/m], >= 0
    tensile : whether the force may pull

    >>> KelvinVoigt(stiffness=1e6, damping=50.0).numbers()
    {'stiffness': 1000000.0, 'damping': 50.0}
    """

    damping: Damping
    tensile: bool = field(default=True)  # type: ignore[misc]

    usual_exponent = 1.0

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        return {**super().coefficients(p), "viscosity": p.damping}

    def force(self, depth: Expression, rate: Expression, approach: Expression, k: SimpleNamespace) -> Expression:
        return self.elastic(depth, k) + k.viscosity * rate


@dataclass(frozen=True, kw_only=True)
class Anagnostopoulos(DampedLaw):
    """Kelvin and Voigt's law with a damper that delivers a given restitution. ::

        F = K delta + C delta',    C = 2 xi sqrt(K m),    xi = -ln(e) / sqrt(pi^2 + ln(e)^2)

    A free impact of the effective mass m has the restitution e exactly, provided that the force may be tensile. For
    another mass the restitution differs; in a mechanism the effective mass depends on the configuration. InputError for
    an `ElasticLaw`, or an exponent other than 1: the law is linear.

    Parameters
    ----------
    stiffness, restitution : K [N/m], > 0; e [-], 0 < e <= 1
    effective_mass : m [kg], > 0
        1/m is the sum of the inverse masses of two free bodies; in a mechanism, the inverse of the contact's Delassus
        number.
    tensile : whether the force may pull

    References
    ----------
    Anagnostopoulos, S. A. (1988), Pounding of buildings in series during earthquakes, Earthq. Eng. Struct. Dyn. 16,
    443-456.

    >>> law = Anagnostopoulos(stiffness=1e6, restitution=0.5, effective_mass=1.0)
    >>> round(law.coefficients(SimpleNamespace(**law.numbers()))["viscosity"], 3)
    430.908
    """

    restitution: Annotated[float, Quantity("-", positive=True, at_most=1.0)]
    effective_mass: Annotated[float, Quantity("kg", positive=True)]
    tensile: bool = field(default=True)  # type: ignore[misc]

    usual_exponent = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.stiffness, ElasticLaw) or self.exponent not in (None, 1):
            raise InputError(
                "Anagnostopoulos: the law is linear: give its stiffness as a number [N/m] and no exponent, got "
                f"stiffness={self.stiffness!r}, exponent={self.exponent!r}."
            )
        super().__post_init__()

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        logarithm = ca.log(p.restitution)
        share = -logarithm / ca.sqrt(math.pi**2 + logarithm**2)
        return {**super().coefficients(p), "viscosity": 2 * share * ca.sqrt(p.stiffness * p.effective_mass)}

    def force(self, depth: Expression, rate: Expression, approach: Expression, k: SimpleNamespace) -> Expression:
        return self.elastic(depth, k) + k.viscosity * rate


@dataclass(frozen=True, kw_only=True)
class AdamsImpact(DampedLaw):
    """The IMPACT function of ADAMS: the damping coefficient increases with depth, so that the force does not jump. ::

        F = K delta^n + C s^2 (3 - 2 s) delta' >= 0,    s = min(delta / d, 1)

    The restitution depends on K, C, d, the mass and the velocity; we know of no closed form.

    Parameters
    ----------
    stiffness, exponent : K [N/m^n], > 0, or an `ElasticLaw`; n [-], > 0, 1.5 where omitted
    damping : C [N s/m], >= 0
    full_depth : d [m], > 0, penetration from which the damping coefficient is C

    >>> law = AdamsImpact(stiffness=1e8, damping=1e3, full_depth=1e-4)
    >>> law.force(0.5e-4, 1.0, 1.0, SimpleNamespace(stiffness=0.0, viscosity=1e3, full_depth=1e-4))
    500.0
    """

    damping: Damping
    full_depth: Annotated[float, Quantity("m", positive=True)]

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        return {**super().coefficients(p), "viscosity": p.damping, "full_depth": p.full_depth}

    def force(self, depth: Expression, rate: Expression, approach: Expression, k: SimpleNamespace) -> Expression:
        s = ca.fmin(depth / k.full_depth, 1)
        return self.elastic(depth, k) + k.viscosity * s**2 * (3 - 2 * s) * rate
