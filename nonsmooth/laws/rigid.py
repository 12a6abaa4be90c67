"""Rigid contact: Signorini's condition, an impact law after Newton, Poisson, Routh or Stronge, Coulomb friction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Annotated

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Law
from nonsmooth.quantities import Quantity, Unit

__all__ = ["INCREMENTAL", "LAWS", "Rigid"]

#: impact laws by name, and those that follow an impact along its impulse
LAWS = {"newton": "Newton", "poisson": "Poisson", "routh": "Routh", "stronge": "Stronge"}
INCREMENTAL = ("routh", "stronge")


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

    Both look at slip where it ends. Routh's and Stronge's laws follow it: along the normal impulse friction acts
    against the slip of the moment, which may stop, stay or turn, until expansion has given back the share e of the
    impulse of compression, or e^2 of its work ::

        dgamma = G dP,   dP_T = -mu dP_N sgn(gamma_T), or |dP_T| <= mu dP_N where it sticks
        Routh: P_N,e = e P_N,c          Stronge: W_e = -e^2 W_c,  dW = gamma_N dP_N

    Parameters
    ----------
    restitution : e [-], 0 <= e <= 1
        Newton: ratio of departing to approaching normal speed; Poisson and Routh: of the normal impulses of expansion
        and compression; Stronge: root of the ratio of their works. Schemes that enforce gaps at position level with a
        constant step are plastic (e = 0) by construction and refuse any other value.
    friction : mu [-], >= 0
        Coulomb coefficient: the friction force opposes slip with mu times the normal force, or is anything less while
        the contact sticks.
    tangential : e_T [-], 0 <= e_T <= 1
        Ratio of slip after an impact to slip before it, reversed, where the contact sticks during the impact. Newton's
        law only.
    threshold : [m/s], >= 0
        Speed of approach up to which an impact is plastic; 0 for none.
    impact : "newton", "poisson", "routh" or "stronge"
        All but Newton's need impacts that are apart from forces: in `EventDriven`, in the Gauss steppers with landing,
        and in `MoreauJean`, which then puts them between its steps. All contacts of a mechanism have the same law.

    Unlike the coefficients, threshold and impact are no parameters of the system.

    Raises
    ------
    InputError
        If a coefficient is not a number in its range, or another law than Newton's is given tangential restitution.

    Notes
    -----
    Newton's and Poisson's laws agree at a single contact without friction, and with friction where normal impulses
    cause no slip and tangential ones no approach (a disc). Where the impact is eccentric and rough, Newton's law may
    add energy. Poisson's does not, if e is the same at all contacts and no joint is driven: with G the Delassus
    matrix ::

        T⁺ - T⁻ <= -(1 + e) sum mu P_N,c |gamma_T,c| - (1 - e^2)/2 P_c' G P_c

    since (P_e - e P_c)' gamma⁺ <= 0: what P_N,e has besides e P_N,c meets no rate, and of all friction within mu P_N,e,
    of which e P_T,c is one, P_T,e dissipates most. At a single contact its impulse is Routh's, unless slip turns
    within a phase.

    Stronge's law loses at each contact what friction takes and (1 - e^2) |W_c|, whatever the coefficients of others.
    Where slip keeps its sense it is Newton's; where slip stops or turns, it is what compliant contact with hysteresis
    tends to as it becomes stiff. Contacts that approach together are one impact, in which each takes up impulse in
    proportion to its speed of approach; contacts that this drives in strike next.

    References
    ----------
    Moreau, J. J. (1988), Unilateral contact and dry friction in finite freedom dynamics, CISM 302.
    Glocker, C., Pfeiffer, F. (1995), Multiple impacts with friction in rigid multibody systems, Nonlinear Dyn. 7,
    471-497.
    Stronge, W. J. (1990), Rigid body collisions with friction, Proc. R. Soc. Lond. A 431, 169-181.
    Keller, J. B. (1986), Impact with friction, J. Appl. Mech. 53, 1-4.

    >>> Rigid(restitution=0.0, friction=0.0)
    Rigid(restitution=0.0, friction=0.0, tangential=0.0, threshold=0.0, impact='newton')
    """

    restitution: Annotated[float, Quantity("-", nonnegative=True, at_most=1.0)]
    friction: Annotated[float, Quantity("-", nonnegative=True)]
    tangential: Annotated[float, Quantity("-", nonnegative=True, at_most=1.0)] = 0.0
    threshold: Annotated[float, Unit("m/s")] = 0.0
    impact: str = "newton"

    def __post_init__(self) -> None:
        if not (isinstance(self.restitution, Real) and 0.0 <= self.restitution <= 1.0):
            raise InputError(f"Rigid: restitution must be a number in [0, 1], got {self.restitution!r}.")
        if not (isinstance(self.threshold, Real) and 0.0 <= self.threshold < math.inf):
            raise InputError(f"Rigid: threshold must be a finite speed >= 0 in m/s, got {self.threshold!r}.")
        if self.impact not in LAWS:
            names = ", ".join(f'"{name}"' for name in LAWS)
            raise InputError(f"Rigid: impact must be one of {names}, got {self.impact!r}.")
        if not (isinstance(self.tangential, Real) and 0.0 <= self.tangential <= 1.0):
            raise InputError(f"Rigid: tangential must be a number in [0, 1], got {self.tangential!r}.")
        if not (isinstance(self.friction, Real) and 0.0 <= self.friction < math.inf):
            raise InputError(f"Rigid: friction must be a finite number >= 0, got {self.friction!r}.")
        if self.impact != "newton" and self.tangential > 0:
            raise InputError(
                f'Rigid: impact="{self.impact}" has no tangential restitution, got tangential = {self.tangential:g}; '
                "set it to 0."
            )
