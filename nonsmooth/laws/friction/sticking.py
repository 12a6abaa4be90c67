"""Friction that sticks: within a dead zone of slip, or by bristles whose deflection z is an internal state.

All constants of bristles are per normal force, ``F_T = -N (...)``, so that z [m] remains bounded when a contact opens
and closes. z has the sign of slip; in space it is a vector in the tangent plane, and |z| stays within the same bound.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any

import casadi as ca

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Expression, Vector
from nonsmooth.laws.compliant import FrictionLaw, length
from nonsmooth.laws.friction.regularised import Coefficient, Speed, clip
from nonsmooth.quantities import Quantity

PositiveCoefficient = Annotated[float, Quantity("-", positive=True)]


@dataclass(frozen=True, kw_only=True)
class Karnopp(FrictionLaw):
    """Karnopp's law: sliding friction, and within a dead zone the stiction force ::

        F_T = -mu_d N sgn v,                                       |v| >= D_v
        F_T = H - mu_s N v/D_v, limited to -mu_s N ... mu_s N,    |v| <  D_v

    In space v and H are vectors in the tangent plane, sgn v is v/|v|, and the bounds are on the length of the force.

    H is the stiction force, for which the slip velocity remains constant. Karnopp sets the slip within the dead zone to
    zero; here the second term reduces it to zero in a time of the order of m D_v/(mu_s N). It sticks without creep for
    abs(H) < mu_s N. It jumps at D_v, where an integrator requires small steps and a multistep method may fail. If
    several contacts of a body stick, the force of each depends on the limits of the others: where H is not exact, there
    is creep below D_v.

    Parameters
    ----------
    friction, static_friction : mu_d, mu_s [-], 0 <= mu_d <= mu_s
    stick_speed : D_v [m/s], > 0
        Half the width of the dead zone: small compared with sliding velocities, large compared with the integrator's
        tolerance.

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

    def force(self, slip: Expression, normal: Expression, bristle: Vector, stiction: Expression, k: Any) -> Expression:
        most = k.static_friction * normal
        held = clip(stiction - most * slip / k.stick_speed, -most, most)
        within = ca.fabs(slip) < k.stick_speed
        return within * held - (1 - within) * k.friction * normal * ca.sign(slip)

    def spatial_force(self, slip: Vector, normal: Expression, bristle: Vector, stiction: Vector, k: Any) -> Vector:
        most, speed = k.static_friction * normal, length(slip)
        wanted = [stiction[i] - most * slip[i] / k.stick_speed for i in range(2)]
        share, within = ca.fmin(most / length(wanted), 1), speed < k.stick_speed
        sliding = (1 - within) * k.friction * normal / speed
        return ca.vertcat(*(within * share * wanted[i] - sliding * slip[i] for i in range(2)))


@dataclass(frozen=True, kw_only=True)
class BristleLaw(FrictionLaw):
    """Base of the family: one deflection z [m]; a law defines its rate."""

    friction: PositiveCoefficient
    bristle_stiffness: Annotated[float, Quantity("1/m", positive=True)]

    bristles = (("deflection", "m"),)

    def deflection_rate(self, slip: Expression, z: Expression, k: SimpleNamespace) -> Expression:
        """z' [m/s]."""
        raise TypeError(f"{type(self).__name__} has no deflection rate.")

    def bristle_rate(self, slip: Expression, normal: Expression, bristle: Vector, k: SimpleNamespace) -> Vector:
        return ca.vertcat(self.deflection_rate(slip, bristle[0], k))

    def spatial_deflection_rate(self, slip: Vector, z: Vector, k: SimpleNamespace) -> Vector:
        """z' (2,) [m/s] for slip and z in the tangent plane, each (2,)."""
        raise TypeError(f"{type(self).__name__} has no deflection rate in space.")

    def spatial_bristle_rate(self, slip: Vector, normal: Expression, bristle: Vector, k: SimpleNamespace) -> Vector:
        return self.spatial_deflection_rate(slip, bristle, k)


@dataclass(frozen=True, kw_only=True)
class Dahl(BristleLaw):
    """Dahl's law: a force that depends on displacement, limited by Coulomb friction ::

        F_T = -N sigma_0 z,    z' = v |u|^alpha sgn u,    u = 1 - (sigma_0 z / mu_d) sgn v

    Per unit normal force: at constant N it is dF/dx = sigma_0 N |u|^alpha sgn u. The force does not depend on the speed
    of slip: no static friction above dynamic friction, no Stribeck effect. A constant load below mu_d N causes a
    displacement but no creep; under an oscillating load the displacement drifts. Passive at constant N; if N increases,
    so does the stored energy of the bristles. In space, with slip v and deflection z vectors ::

        z' = |v| |u|^(alpha-1) u,    u = v/|v| - sigma_0 z / mu_d

    Parameters
    ----------
    friction : mu_d [-], > 0
    bristle_stiffness : sigma_0 [1/m], > 0
        Stiffness of the contact at rest, per normal force; mu_d / sigma_0 is the displacement before sliding.
    dahl_exponent : alpha [-], >= 1
        1 in most applications. With Dahl's values below 1, for brittle surfaces, the slope of the rate would be
        infinite.

    References
    ----------
    Dahl, P. R. (1968), A solid friction model, The Aerospace Corporation, TOR-0158(3107-18)-1.

    >>> law = Dahl(friction=0.1, bristle_stiffness=1e4)
    >>> law.force(0.0, 20.0, [5e-6], 0.0, law), law.deflection_rate(1.0, 5e-6, law)
    (-1.0, 0.5)
    """

    dahl_exponent: Annotated[float, Quantity("-", positive=True)] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dahl_exponent < 1:
            raise InputError(f"Dahl: dahl_exponent must be a number >= 1 [-], got {self.dahl_exponent!r}.")

    def deflection_rate(self, slip: Expression, z: Expression, k: SimpleNamespace) -> Expression:
        u = 1 - k.bristle_stiffness * z / k.friction * ca.sign(slip)
        # the bound keeps the derivatives of the power finite at 0
        return slip * u * ca.fmax(ca.fabs(u), 1e-30) ** (k.dahl_exponent - 1)

    def force(self, slip: Expression, normal: Expression, bristle: Vector, stiction: Expression, k: Any) -> Expression:
        return -normal * k.bristle_stiffness * bristle[0]

    def spatial_deflection_rate(self, slip: Vector, z: Vector, k: SimpleNamespace) -> Vector:
        speed = length(slip)
        u = [slip[i] / speed - k.bristle_stiffness * z[i] / k.friction for i in range(2)]
        pace = speed * length(u) ** (k.dahl_exponent - 1)
        return ca.vertcat(pace * u[0], pace * u[1])

    def spatial_force(self, slip: Vector, normal: Expression, bristle: Vector, stiction: Vector, k: Any) -> Vector:
        return ca.vertcat(*(-normal * k.bristle_stiffness * bristle[i] for i in range(2)))


@dataclass(frozen=True, kw_only=True)
class LuGre(BristleLaw):
    """The LuGre law: bristles with damping, whose largest force follows Stribeck's curve ::

        F_T = -N (sigma_0 z + sigma_1 z' + sigma_2 v),    z' = v - sigma_0 |v| z / g(v)
        g(v) = mu_d + (mu_s - mu_d) exp(-(v/v_s)^2)

    Per unit normal force. At constant slip the force is -N (g(v) sgn v + sigma_2 v); at rest the contact is a spring
    sigma_0 N with a damper (sigma_1 + sigma_2) N. It sticks, except for a drift under oscillating loads. At constant N
    it is passive only for ``sigma_1^2 |v| <= 4 g(v) (sigma_1 + sigma_2)``; at higher velocities the damping of the
    bristles may supply energy. It is stiff: bristles follow slip over the displacement mu_d / sigma_0. In space the
    same equations hold for vectors v and z in the tangent plane, with the length |v| in g and in the rate.

    Parameters
    ----------
    friction, static_friction : mu_d, mu_s [-], 0 < mu_d <= mu_s
    stribeck_speed : v_s [m/s], > 0, slip over which friction decreases from static to dynamic
    bristle_stiffness : sigma_0 [1/m], > 0, per normal force; mu_s / sigma_0 is the displacement before sliding
    bristle_damping, viscous_friction : sigma_1, sigma_2 [s/m], >= 0, per normal force

    References
    ----------
    Canudas de Wit, C., Olsson, H., Astrom, K. J., Lischinsky, P. (1995), A new model for control of systems with
    friction, IEEE Trans. Autom. Control 40, 419-425.

    >>> law = LuGre(friction=0.1, static_friction=0.15, stribeck_speed=0.01, bristle_stiffness=1e4)
    >>> z = 0.1 / 1e4
    >>> f"{law.force(1.0, 10.0, [z], 0.0, law):.6f}, {law.deflection_rate(1.0, z, law):.6f}"
    '-1.000000, 0.000000'
    """

    static_friction: PositiveCoefficient
    stribeck_speed: Speed
    bristle_damping: Annotated[float, Quantity("s/m", nonnegative=True)] = 0.0
    viscous_friction: Annotated[float, Quantity("s/m", nonnegative=True)] = 0.0

    ordered = (("friction", "<=", "static_friction"),)

    def most(self, slip: Expression, k: SimpleNamespace) -> Expression:
        """g [-], force of the bristles at constant slip, per normal force."""
        return k.friction + (k.static_friction - k.friction) * ca.exp(-((slip / k.stribeck_speed) ** 2))

    def deflection_rate(self, slip: Expression, z: Expression, k: SimpleNamespace) -> Expression:
        return slip - k.bristle_stiffness * ca.fabs(slip) * z / self.most(slip, k)

    def force(self, slip: Expression, normal: Expression, bristle: Vector, stiction: Expression, k: Any) -> Expression:
        z = bristle[0]
        damping = k.bristle_damping * self.deflection_rate(slip, z, k)
        return -normal * (k.bristle_stiffness * z + damping + k.viscous_friction * slip)

    def spatial_deflection_rate(self, slip: Vector, z: Vector, k: SimpleNamespace) -> Vector:
        speed = length(slip)
        share = k.bristle_stiffness * speed / self.most(speed, k)
        return ca.vertcat(*(slip[i] - share * z[i] for i in range(2)))

    def spatial_force(self, slip: Vector, normal: Expression, bristle: Vector, stiction: Vector, k: Any) -> Vector:
        rate = self.spatial_deflection_rate(slip, bristle, k)
        stretched = [k.bristle_stiffness * bristle[i] + k.bristle_damping * rate[i] for i in range(2)]
        return ca.vertcat(*(-normal * (stretched[i] + k.viscous_friction * slip[i]) for i in range(2)))
