"""Friction with sticking: within a dead zone of slip it balances the other forces instead of depending on slip."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import casadi as ca

from nonsmooth.laws.base import Expression
from nonsmooth.laws.compliant import FrictionLaw, length
from nonsmooth.laws.friction.regularised import Coefficient, Speed, clip

__all__ = ["Karnopp"]


@dataclass(frozen=True, kw_only=True)
class Karnopp(FrictionLaw):
    """Karnopp's law: sliding friction, and within a dead zone the stiction force ::

        F_T = -mu_d N sgn v,                                       |v| >= D_v
        F_T = H - mu_s N v/D_v, limited to -mu_s N ... mu_s N,    |v| <  D_v

    In space v and H are vectors in the tangent plane, sgn v is v/|v|, and the bounds are on the length of the force.

    H is the stiction force: the force along the tangent for which the slip velocity remains constant. Karnopp sets the
    slip within the dead zone to zero; here the second term reduces it to zero in a time of the order of m D_v/(mu_s N).

    It sticks without creep for abs(H) < mu_s N. It jumps at D_v, where an integrator requires small steps and a
    multistep method may fail. H requires a solution of the equations of motion with sticking contacts in every
    evaluation. If several contacts of a body stick, the force of each depends on the limits of the others: where H is
    not exact, there is creep below D_v.

    Parameters
    ----------
    friction : mu_d [-], >= 0
    static_friction : mu_s [-], >= mu_d
    stick_speed : D_v [m/s], > 0
        Half the width of the dead zone: small compared with sliding velocities, large compared with the integrator's
        tolerance.

    Raises
    ------
    InputError
        If static friction is less than dynamic friction.

    References
    ----------
    Karnopp, D. (1985), Computer simulation of stick-slip friction in mechanical dynamic systems, J. Dyn. Syst. Meas.
    Control 107, 100-103.

    A block of 10 N at rest is held against a load of 1 N, and not against one of 2 N:

    >>> law = Karnopp(friction=0.1, static_friction=0.15, stick_speed=1e-4)
    >>> [round(law.force(slip, 10.0, (), stiction, law), 12) for slip, stiction in ((0, -1), (0, -2), (1, -2))]
    [-1.0, -1.5, -1.0]
    """

    friction: Coefficient
    static_friction: Coefficient
    stick_speed: Speed

    holds = True
    ordered = (("friction", "<=", "static_friction"),)

    def force(
        self, slip: Expression, normal: Expression, bristle: Expression, stiction: Expression, k: SimpleNamespace
    ) -> Expression:
        most = k.static_friction * normal
        held = clip(stiction - most * slip / k.stick_speed, -most, most)
        within = ca.fabs(slip) < k.stick_speed
        return within * held - (1 - within) * k.friction * normal * ca.sign(slip)

    def spatial_force(
        self, slip: Expression, normal: Expression, bristle: Expression, stiction: Expression, k: SimpleNamespace
    ) -> Expression:
        most, speed = k.static_friction * normal, length(slip)
        wanted = [stiction[i] - most * slip[i] / k.stick_speed for i in range(2)]
        share, within = ca.fmin(most / length(wanted), 1), speed < k.stick_speed
        sliding = (1 - within) * k.friction * normal / speed
        return ca.vertcat(*(within * share * wanted[i] - sliding * slip[i] for i in range(2)))
