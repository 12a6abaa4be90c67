"""Rigid contact: Signorini's condition with Newton's impact law and Coulomb friction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from nonsmooth.exceptions import InputError

__all__ = ["Rigid"]


@dataclass(frozen=True, kw_only=True)
class Rigid:
    """Unilateral rigid contact.

    Contact forces are pure reactions, ``0 <= g_N  ⟂  lambda_N >= 0``, and an impact on closed contacts obeys Newton's
    law in Moreau's form, ``0 <= gamma_N⁺ + e min(gamma_N⁻, 0)  ⟂  P_N >= 0``.

    Parameters
    ----------
    restitution : e [-], 0 <= e <= 1
        Ratio of departing to approaching normal speed. Schemes that enforce gaps at position level with a constant step
        are plastic (e = 0) by construction and refuse any other value.
    friction : mu [-], >= 0
        Coulomb coefficient: the friction force opposes slip with mu times the normal force, or is anything less while
        the contact sticks.
    tangential : e_T [-], 0 <= e_T <= 1
        Ratio of slip after an impact to slip before it, reversed, where the contact sticks during the impact.
    threshold : [m/s], >= 0
        Speed of approach up to which an impact is plastic; 0 for none.
    impact : "newton" or "poisson"
        Poisson's law, frictionless, is posed by the Gauss steppers with landing: the impulses P_c that stop the
        approach are followed by at least e P_c, 0 <= P_N - (1 + e) P_c  ⟂  gamma_N⁺ >= 0. At a single contact both
        laws agree.

    Unlike the coefficients, threshold and impact are no parameters of the system.

    Raises
    ------
    InputError
        If a coefficient is not a number in its range.

    References
    ----------
    Moreau, J. J. (1988), Unilateral contact and dry friction in finite freedom dynamics, CISM 302.

    >>> Rigid(restitution=0.0, friction=0.0)
    Rigid(restitution=0.0, friction=0.0, tangential=0.0, threshold=0.0, impact='newton')
    """

    restitution: float
    friction: float
    tangential: float = 0.0
    threshold: float = 0.0
    impact: str = "newton"

    def __post_init__(self) -> None:
        if not (isinstance(self.restitution, Real) and 0.0 <= self.restitution <= 1.0):
            raise InputError(f"Rigid: restitution must be a number in [0, 1], got {self.restitution!r}.")
        if not (isinstance(self.threshold, Real) and 0.0 <= self.threshold < math.inf):
            raise InputError(f"Rigid: threshold must be a finite speed >= 0 in m/s, got {self.threshold!r}.")
        if self.impact not in ("newton", "poisson"):
            raise InputError(f'Rigid: impact must be "newton" or "poisson", got {self.impact!r}.')
        if self.impact == "poisson" and self.friction > 0:
            raise InputError(f'Rigid: impact="poisson" is frictionless, got friction = {self.friction:g}; set it to 0.')
        if not (isinstance(self.tangential, Real) and 0.0 <= self.tangential <= 1.0):
            raise InputError(f"Rigid: tangential must be a number in [0, 1], got {self.tangential!r}.")
        if not (isinstance(self.friction, Real) and 0.0 <= self.friction < math.inf):
            raise InputError(f"Rigid: friction must be a finite number >= 0, got {self.friction!r}.")
