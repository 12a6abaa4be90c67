"""Elastic forces, which depend on penetration only, and the base of laws that add damping to an elastic force."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from types import SimpleNamespace
from typing import Annotated, ClassVar

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Expression, Limit
from nonsmooth.laws.compliant import NormalLaw
from nonsmooth.quantities import Quantity

__all__ = ["DampedLaw", "ElasticLaw"]


@dataclass(frozen=True)
class ElasticLaw(NormalLaw):
    """Base of laws without damping; a law defines `elastic`.

    It is a contact law by itself, or the `stiffness` of a law with damping: ``Flores(stiffness=Johnson(steel, steel),
    restitution=0.8)``.
    """

    def force(self, depth: Expression, rate: Expression, approach: Expression, k: SimpleNamespace) -> Expression:
        return self.elastic(depth, k)


@dataclass(frozen=True, kw_only=True)
class DampedLaw(NormalLaw):
    """Base of laws with an elastic force, ``K delta^n`` or that of an `ElasticLaw`; a law defines `force`.

    Parameters
    ----------
    stiffness : K [N/m^n], > 0, or an `ElasticLaw`
    exponent : n [-], > 0, optional
        For a stiffness that is a number; 1.5 by default (Hertzian point contact), 1 for the viscous laws. It is not a
        parameter of the system, since the unit of K depends on it.

    Raises
    ------
    InputError
        If the stiffness is neither, or an elastic law is given an exponent.
    """

    stiffness: Annotated[float | ElasticLaw, Quantity("N/m^n", positive=True)]
    exponent: float | None = None

    usual_exponent: ClassVar[float] = 1.5

    def __post_init__(self) -> None:
        name, n = type(self).__name__, self.exponent
        number = isinstance(self.stiffness, Real)
        if not number and not isinstance(self.stiffness, ElasticLaw):
            hint = "; write it with its brackets" if isinstance(self.stiffness, type) else ""
            raise InputError(f"{name}: stiffness must be a number or an ElasticLaw, got {self.stiffness!r}{hint}.")
        if n is not None and not number:
            raise InputError(
                f"{name}: exponent belongs to a stiffness that is a number; {type(self.stiffness).__name__} has its "
                "own form, so leave exponent out."
            )
        if n is not None and not (isinstance(n, Real) and not isinstance(n, bool) and 0 < n < math.inf):
            raise InputError(f"{name}: exponent must be a positive number, got {n!r}.")
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
        """The elastic part's; a member adds its own."""
        if isinstance(self.stiffness, ElasticLaw):
            return self.stiffness.coefficients(p)
        return {"stiffness": p.stiffness}

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        if isinstance(self.stiffness, ElasticLaw):
            return self.stiffness.elastic(depth, k)
        return k.stiffness * depth**self.power

    def limits(self, p: SimpleNamespace, k: SimpleNamespace) -> tuple[Limit, ...]:
        """The elastic part's; a member adds its own."""
        return self.stiffness.limits(p, k) if isinstance(self.stiffness, ElasticLaw) else ()
