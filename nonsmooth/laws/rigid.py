"""Rigid contact: Signorini's condition with Newton's or Poisson's impact law and Coulomb friction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Annotated

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Law
from nonsmooth.quantities import Quantity

__all__ = ["Rigid"]


@dataclass(frozen=True, kw_only=True)
class Rigid(Law):
    """Unilateral rigid contact.

    Contact forces are pure reactions, ``0 <= g_N  ⟂  lambda_N >= 0``, and Coulomb's law holds between forces and slip.
    An impact on closed contacts obeys Newton's law in Moreau's form, with Coulomb's between P_T and gamma_T⁺ + e_T
    gamma_T⁻ ::

        0 <= gamma_N⁺ + e min(gamma_N⁻, 0)  ⟂  P_N >= 0

    or Poisson's in the form of Glocker and Pfeiffer: compression by impulses P_c until nothing approaches, at gamma_c,
    then expansion by P_e, of which at least e P_c is there, with Coulomb's law in each phase ::

        0 <= gamma_N,c  ⟂  P_N,c >= 0,               |P_T,c| <= mu P_N,c, against gamma_T,c
        0 <= gamma_N⁺   ⟂  P_N,e - e P_N,c >= 0,     |P_T,e| <= mu P_N,e, against gamma_T⁺

    Parameters
    ----------
    restitution : e [-], 0 <= e <= 1
        Newton: ratio of departing to approaching normal speed; Poisson: of the normal impulses of expansion and
        compression. Schemes that enforce gaps at position level with a constant step are plastic (e = 0) by
        construction and refuse any other value.
    friction : mu [-], >= 0
        Coulomb coefficient: the friction force opposes slip with mu times the normal force, or is anything less while
        the contact sticks.
    tangential : e_T [-], 0 <= e_T <= 1
        Ratio of slip after an impact to slip before it, reversed, where the contact sticks during the impact. Newton's
        law only.
    threshold : [m/s], >= 0
        Speed of approach up to which an impact is plastic; 0 for none.
    impact : "newton" or "poisson"
        Poisson's law is posed where impacts are programs of their own: by `EventDriven` and by the Gauss steppers with
        landing. All contacts of a mechanism have the same of the two.

    Unlike the coefficients, threshold and impact are no parameters of the system.

    Raises
    ------
    InputError
        If a coefficient is not a number in its range, or Poisson's law is given tangential restitution.

    Notes
    -----
    The two laws agree at a single contact without friction, and with friction where normal impulses cause no slip and
    tangential ones no approach (a disc). Where the impact is eccentric and rough, Newton's law may add energy.
    Poisson's does not, if e is the same at all contacts and no joint is driven: with G the Delassus matrix ::

        T⁺ - T⁻ <= -(1 + e) sum mu P_N,c |gamma_T,c| - (1 - e^2)/2 P_c' G P_c

    since (P_e - e P_c)' gamma⁺ <= 0: what P_N,e has besides e P_N,c meets no rate, and of all friction within mu P_N,e,
    of which e P_T,c is one, P_T,e dissipates most. Friction acts in each phase against the slip at its end. At a
    single contact the impulse is that of Routh's incremental theory, unless slip turns.

    References
    ----------
    Moreau, J. J. (1988), Unilateral contact and dry friction in finite freedom dynamics, CISM 302.
    Glocker, C., Pfeiffer, F. (1995), Multiple impacts with friction in rigid multibody systems, Nonlinear Dyn. 7,
    471-497.

    >>> Rigid(restitution=0.0, friction=0.0)
    Rigid(restitution=0.0, friction=0.0, tangential=0.0, threshold=0.0, impact='newton')
    """

    restitution: Annotated[float, Quantity("-", nonnegative=True, at_most=1.0)]
    friction: Annotated[float, Quantity("-", nonnegative=True)]
    tangential: Annotated[float, Quantity("-", nonnegative=True, at_most=1.0)] = 0.0
    threshold: float = 0.0
    impact: str = "newton"

    def __post_init__(self) -> None:
        if not (isinstance(self.restitution, Real) and 0.0 <= self.restitution <= 1.0):
            raise InputError(f"Rigid: restitution must be a number in [0, 1], got {self.restitution!r}.")
        if not (isinstance(self.threshold, Real) and 0.0 <= self.threshold < math.inf):
            raise InputError(f"Rigid: threshold must be a finite speed >= 0 in m/s, got {self.threshold!r}.")
        if self.impact not in ("newton", "poisson"):
            raise InputError(f'Rigid: impact must be "newton" or "poisson", got {self.impact!r}.')
        if not (isinstance(self.tangential, Real) and 0.0 <= self.tangential <= 1.0):
            raise InputError(f"Rigid: tangential must be a number in [0, 1], got {self.tangential!r}.")
        if not (isinstance(self.friction, Real) and 0.0 <= self.friction < math.inf):
            raise InputError(f"Rigid: friction must be a finite number >= 0, got {self.friction!r}.")
        if self.impact == "poisson" and self.tangential > 0:
            raise InputError(
                f'Rigid: impact="poisson" has no tangential restitution, got tangential = {self.tangential:g}; '
                "set it to 0."
            )
