"""Rigid contact: Signorini's condition, an impact law after Newton, Poisson, Routh or Stronge, Coulomb friction."""

import math
from dataclasses import dataclass
from typing import Annotated

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Law
from nonsmooth.quantities import Quantity, Unit
from nonsmooth.settings import is_number, require, shown

#: impact laws by name, and those that integrate along the impulse
LAWS = {"newton": "Newton", "poisson": "Poisson", "routh": "Routh", "stronge": "Stronge"}
INCREMENTAL = ("routh", "stronge")


@dataclass(frozen=True, kw_only=True)
class Rigid(Law):
    """Unilateral rigid contact.

    Contact forces are pure reactions, ``0 <= g_N  ⟂  lambda_N >= 0``, and Coulomb's law holds between forces and slip.
    An impact on closed contacts obeys Newton's law in Moreau's form, with Coulomb's between P_T and gamma_T⁺ + e_T
    gamma_T⁻ ::

        0 <= gamma_N⁺ + e min(gamma_N⁻, 0)  ⟂  P_N >= 0

    or Poisson's in the form of Glocker and Pfeiffer: compression by impulses P_c until no contact approaches, at
    gamma_c, then expansion by P_e >= e P_c, with Coulomb's law in each phase ::

        0 <= gamma_N,c  ⟂  P_N,c >= 0,               |P_T,c| <= mu P_N,c, against gamma_T,c
        0 <= gamma_N⁺   ⟂  P_N,e - e P_N,c >= 0,     |P_T,e| <= mu P_N,e, against gamma_T⁺

    In both, friction opposes the slip velocity at the end of the impact or phase. Routh's and Stronge's laws integrate
    along the normal impulse: friction opposes the instantaneous slip velocity, which may vanish or reverse, until
    expansion has returned the fraction e of the impulse of compression, or e^2 of its work ::

        dgamma = G dP,   dP_T = -mu dP_N sgn(gamma_T), or |dP_T| <= mu dP_N where it sticks
        Routh: P_N,e = e P_N,c          Stronge: W_e = -e^2 W_c,  dW = gamma_N dP_N

    InputError if a coefficient is not a number in its range, or another law than Newton's is given tangential
    restitution.

    Parameters
    ----------
    restitution : e [-], 0 <= e <= 1
        Newton: ratio of separation to approach velocity; Poisson and Routh: of the normal impulses of expansion
        and compression; Stronge: root of the ratio of their works. Schemes that enforce gaps at position level with a
        constant step are plastic by construction and reject any other value than 0.
    friction : mu [-], >= 0
        Friction opposes slip with mu times the normal force, and is at most that while the contact sticks.
    tangential : e_T [-], 0 <= e_T <= 1
        Ratio of the reversed slip velocity after an impact to that before it, if the contact sticks during the impact.
        Newton's law only.
    threshold : [m/s], >= 0
        Approach velocity up to which an impact is plastic; 0 for none. No parameter of the system.
    impact : "newton", "poisson", "routh" or "stronge"
        No parameter of the system, and the same for all contacts of a mechanism.
        All laws except Newton's require impacts that are separate from forces: in `EventDriven`, in the Gauss steppers
        with `Landing`, and in `MoreauJean`, which then applies them between its steps.

    Notes
    -----
    In eccentric impacts with friction, Newton's law may increase the energy. Poisson's does not, if e is the same at
    all contacts and no joint is driven: with G the Delassus matrix ::

        T⁺ - T⁻ <= -(1 + e) sum mu P_N,c |gamma_T,c| - (1 - e^2)/2 P_c' G P_c

    since (P_e - e P_c)' gamma⁺ <= 0: P_N,e beyond e P_N,c acts at zero gap velocity, and of all friction impulses
    within mu P_N,e, of which e P_T,c is one, P_T,e dissipates most. Stronge's law dissipates at each contact the work
    of friction and (1 - e^2) |W_c|, for any coefficients of the others; where slip stops or reverses, it is the limit
    of stiff compliant contact with hysteresis.

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
        for name, most, words in (
            ("restitution", 1.0, "a number in [0, 1]"),
            ("threshold", math.inf, "a finite speed >= 0 in m/s"),
            ("tangential", 1.0, "a number in [0, 1]"),
            ("friction", math.inf, "a finite number >= 0"),
        ):
            value = getattr(self, name)
            require(is_number(value) and 0.0 <= value <= most, f"Rigid: {name} must be {words}", value)
        if not isinstance(self.impact, str) or self.impact not in LAWS:
            names = ", ".join(f'"{name}"' for name in LAWS)
            raise InputError(f"Rigid: impact must be one of {names}, got {shown(self.impact)}.")
        if self.impact != "newton" and self.tangential > 0:
            given = f"tangential = {self.tangential:g}; set it to 0."
            raise InputError(f'Rigid: impact="{self.impact}" has no tangential restitution, got {given}')
