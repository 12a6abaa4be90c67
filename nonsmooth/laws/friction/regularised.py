"""Friction as a function of slip only: ``F_T = -N mu(v)``, with an odd function mu. A family is a table of mu.

None of these laws sticks. Under a load F below static friction the contact creeps at the slip velocity with mu = F/N,
for small loads ``v = F / (N mu'(0))``. The slope mu'(0) makes the equations of motion stiff.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any

import casadi as ca

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Expression, Vector
from nonsmooth.laws.compliant import FrictionLaw
from nonsmooth.quantities import Quantity
from nonsmooth.settings import shown

Coefficient = Annotated[float, Quantity("-", nonnegative=True)]
Speed = Annotated[float, Quantity("m/s", positive=True)]

#: odd functions that rise from -1 to 1
SATURATIONS: dict[str, Callable[[Expression], Expression]] = {
    "erf": ca.erf,
    "tanh": ca.tanh,
    "atan": lambda x: 2 / math.pi * ca.atan(x),
    "rational": lambda x: x / (1 + ca.fabs(x)),
}


def clip(x: Expression, low: Expression = -1, high: Expression = 1) -> Expression:
    """x, limited to two bounds."""
    return ca.fmin(ca.fmax(x, low), high)


@dataclass(frozen=True, kw_only=True)
class SlipLaw(FrictionLaw):
    """Base of the family; a law defines the coefficient of friction as a function of slip."""

    friction: Coefficient

    def coefficient(self, slip: Expression, k: SimpleNamespace) -> Expression:
        """mu [-] at a slip, with the sign of the slip; the force opposes it."""
        raise TypeError("it defines no coefficient(slip, k)")

    def force(self, slip: Expression, normal: Expression, bristle: Vector, stiction: Expression, k: Any) -> Expression:
        return -normal * self.coefficient(slip, k)


@dataclass(frozen=True, kw_only=True)
class RegularisedCoulomb(SlipLaw):
    """Coulomb friction, smoothed: ``mu(v) = mu_d tanh(v / v_0)``.

    Smooth of any order, hence suitable for integrators of high order. Does not stick: creep with mu'(0) = mu_d / v_0.
    mu is 0.76 mu_d at v_0 and 0.995 mu_d at 3 v_0. For a linear ramp use `Ambrosio` with ``dead_speed=0``.

    Parameters
    ----------
    friction, slip_speed : mu_d [-], >= 0; v_0 [m/s], > 0
        v_0 is small compared with sliding velocities.

    >>> law = RegularisedCoulomb(friction=0.1, slip_speed=1e-3)
    >>> f"{law.coefficient(2e-3, law):.4f}"
    '0.0964'
    """

    slip_speed: Speed

    def coefficient(self, slip: Expression, k: SimpleNamespace) -> Expression:
        return k.friction * ca.tanh(slip / k.slip_speed)


@dataclass(frozen=True, kw_only=True)
class Threlfall(SlipLaw):
    """Threlfall's law ::

        mu(v) = mu_d (1 - exp(-3 |v|/v_0)) sgn v,   |v| <= v_0
        mu(v) = 0.95 mu_d sgn v,                    |v| > v_0

    As published it jumps by 0.02 % of mu_d at v_0, which is visible to an integrator with a tight tolerance. Sliding
    friction is 95 % of the nominal one. Does not stick: creep mu'(0) = 3 mu_d / v_0.

    Parameters
    ----------
    friction, slip_speed : mu_d [-], >= 0; v_0 [m/s], > 0

    References
    ----------
    Threlfall, D. C. (1978), The inclusion of Coulomb friction in mechanisms programs with particular reference to DRAM
    au programme DRAM, Mech. Mach. Theory 13, 475-483.

    >>> law = Threlfall(friction=1.0, slip_speed=1e-3)
    >>> f"{law.coefficient(1e-3, law):.6f}, {law.coefficient(1.001e-3, law):.6f}"
    '0.950213, 0.950000'
    """

    slip_speed: Speed

    def coefficient(self, slip: Expression, k: SimpleNamespace) -> Expression:
        # (1 - exp(-3 |x|)) sgn x, written such that its slope at 0 is correct
        half = ca.tanh(1.5 * clip(slip / k.slip_speed))
        rise = 2 * half / (1 + ca.fabs(half))
        full = ca.fabs(slip) > k.slip_speed
        return k.friction * ((1 - full) * rise + full * 0.95 * ca.sign(slip))


@dataclass(frozen=True, kw_only=True)
class Ambrosio(SlipLaw):
    """Ambrosio's modified Coulomb law: ``mu(v) = c_d mu_d sgn v``, with c_d a ramp from 0 at v_0 to 1 at v_1.

    Continuous, with kinks at v_0 and v_1. Below v_0 there is no friction: a block on an incline accelerates beyond v_0,
    to the slip velocity at which the ramp balances its weight.

    Parameters
    ----------
    friction : mu_d [-], >= 0
    dead_speed : v_0 [m/s], >= 0
        Slip up to which there is no friction; 0 for a plain linear ramp, with creep mu'(0) = mu_d / v_1.
    slip_speed : v_1 [m/s], > v_0, slip from which there is full friction

    References
    ----------
    Ambrosio, J. A. C. (2003), Impact of rigid and flexible multibody systems: deformation description and contact
    models, in Virtual Nonlinear Multibody Systems, Kluwer.

    >>> law = Ambrosio(friction=0.1, dead_speed=1e-3, slip_speed=3e-3)
    >>> [round(law.coefficient(v, law), 12) for v in (1e-3, 2e-3, -5e-3)]
    [0.0, 0.05, -0.1]
    """

    dead_speed: Annotated[float, Quantity("m/s", nonnegative=True)]
    slip_speed: Speed

    ordered = (("dead_speed", "<", "slip_speed"),)

    def coefficient(self, slip: Expression, k: SimpleNamespace) -> Expression:
        beyond = ca.fmax(slip - k.dead_speed, 0) + ca.fmin(slip + k.dead_speed, 0)
        return k.friction * clip(beyond / (k.slip_speed - k.dead_speed))


@dataclass(frozen=True, kw_only=True)
class MostaghelDavis(SlipLaw):
    """One of the four functions of Mostaghel and Davis: ``mu(v) = mu_d f(v / v_0)`` ::

        "erf"       f(x) = erf(x)              mu'(0) = 2/sqrt(pi) mu_d/v_0
        "tanh"      f(x) = tanh(x)                      mu_d/v_0
        "atan"      f(x) = (2/pi) atan(x)               2/pi mu_d/v_0
        "rational"  f(x) = x / (1 + |x|)                mu_d/v_0

    The first three are smooth, the last one once differentiable. None sticks: creep as listed. The last two approach
    mu_d slowly: at 10 v_0 they are 6 and 9 % below it. InputError if there is no function with this name.

    Parameters
    ----------
    function : "erf", "tanh", "atan" or "rational", no parameter of the system
    friction, slip_speed : mu_d [-], >= 0; v_0 [m/s], > 0
        v_0 is the inverse of the authors' alpha.

    References
    ----------
    Mostaghel, N., Davis, T. (1997), Representations of Coulomb friction for dynamic analysis, Earthq. Eng. Struct.
    Dyn. 26, 541-548.

    >>> law = MostaghelDavis(function="rational", friction=0.1, slip_speed=1e-3)
    >>> law.coefficient(1e-3, law)
    0.05
    """

    function: str
    slip_speed: Speed

    def __post_init__(self) -> None:
        if not isinstance(self.function, str) or self.function not in SATURATIONS:
            names = ", ".join(f'"{name}"' for name in SATURATIONS)
            raise InputError(f"MostaghelDavis: function must be one of {names}, got {shown(self.function)}.")
        super().__post_init__()

    def coefficient(self, slip: Expression, k: SimpleNamespace) -> Expression:
        return k.friction * SATURATIONS[self.function](slip / k.slip_speed)


@dataclass(frozen=True, kw_only=True)
class BengisuAkay(SlipLaw):
    """Bengisu and Akay's law: a parabola up to static friction, then an exponential down to dynamic friction ::

        mu(v) = mu_s (1 - (|v| - v_s)^2 / v_s^2) sgn v,                  |v| <= v_s
        mu(v) = (mu_d + (mu_s - mu_d) exp(-xi (|v| - v_s))) sgn v,       |v| > v_s

    Continuous, with a kink at v_s where mu_s > mu_d. Does not stick: creep mu'(0) = 2 mu_s / v_s. Where friction
    decreases with slip, a spring in series may cause stick-slip motion.

    Parameters
    ----------
    friction, static_friction : mu_d, mu_s [-], 0 <= mu_d <= mu_s
    static_speed, decay : v_s [m/s], xi [s/m], > 0
        v_s is the slip with the largest friction.

    References
    ----------
    Bengisu, M. T., Akay, A. (1994), Stability of friction-induced vibrations in multi-degree-of-freedom systems,
    J. Sound Vib. 171, 557-570.

    >>> law = BengisuAkay(friction=0.1, static_friction=0.15, static_speed=1e-3, decay=100.0)
    >>> [round(law.coefficient(v, law), 6) for v in (0.5e-3, 1e-3, 11e-3)]
    [0.1125, 0.15, 0.118394]
    """

    static_friction: Coefficient
    static_speed: Speed
    decay: Annotated[float, Quantity("s/m", positive=True)]

    ordered = (("friction", "<=", "static_friction"),)

    def coefficient(self, slip: Expression, k: SimpleNamespace) -> Expression:
        x = clip(slip / k.static_speed)
        fallen = 1 - ca.exp(-k.decay * ca.fmax(ca.fabs(slip) - k.static_speed, 0))
        return x * (2 - ca.fabs(x)) * (k.static_friction - (k.static_friction - k.friction) * fallen)


@dataclass(frozen=True, kw_only=True)
class Stribeck(SlipLaw):
    """Stribeck's curve with a regularised sign function ::

        mu(v) = (mu_d + (mu_s - mu_d) exp(-|v/v_s|^delta)) tanh(v / v_0) + sigma_2 v

    Does not stick: creep mu'(0) = mu_s / v_0 + sigma_2. The largest value is close to mu_s only if v_0 is small
    compared with v_s.

    Parameters
    ----------
    friction, static_friction : mu_d, mu_s [-], 0 <= mu_d <= mu_s
    slip_speed, stribeck_speed : v_0, v_s [m/s], 0 < v_0 < v_s
        Slip over which friction changes its sign, and over which it falls from static to dynamic.
    stribeck_exponent : delta [-], > 0
        2 for a Gaussian, 1 for an exponential function.
    viscous_friction : sigma_2 [s/m], >= 0, viscous force per slip and per normal force

    References
    ----------
    Marques, F. et al. (2016), A survey and comparison of several friction force models for dynamic analysis of
    multibody mechanical systems, Nonlinear Dyn. 86, 1407-1443, 10.1007/s11071-016-2999-3.

    >>> law = Stribeck(friction=0.1, static_friction=0.15, stribeck_speed=0.05, slip_speed=1e-3)
    >>> [round(law.coefficient(v, law), 6) for v in (0.0, 0.05, 1.0)]
    [0.0, 0.118394, 0.1]
    """

    static_friction: Coefficient
    stribeck_speed: Speed
    slip_speed: Speed
    stribeck_exponent: Annotated[float, Quantity("-", positive=True)] = 2.0
    viscous_friction: Annotated[float, Quantity("s/m", nonnegative=True)] = 0.0

    ordered = (("friction", "<=", "static_friction"), ("slip_speed", "<", "stribeck_speed"))

    def coefficient(self, slip: Expression, k: SimpleNamespace) -> Expression:
        # the bound keeps the derivatives of the power finite at 0
        ratio = ca.fmax(ca.fabs(slip) / k.stribeck_speed, 1e-30)
        bell = ca.exp(-(ratio**k.stribeck_exponent))
        dry = k.friction + (k.static_friction - k.friction) * bell
        return dry * ca.tanh(slip / k.slip_speed) + k.viscous_friction * slip


@dataclass(frozen=True, kw_only=True)
class BrownMcPhee(SlipLaw):
    """Brown and McPhee's law, smooth of any order ::

        F_T = -N (mu_d tanh(4 v/v_t) + (mu_s - mu_d) (v/v_t) / ((v/v_t)^2/4 + 3/4)^2) - mu_v v tanh(4 N/N_t)

    At v_t, close to its peak, mu = mu_s - (1 - tanh 4) mu_d. Does not stick: creep mu'(0) = (4 mu_d + 16/9 (mu_s -
    mu_d)) / v_t.

    Parameters
    ----------
    friction, static_friction : mu_d, mu_s [-], 0 <= mu_d <= mu_s
    static_speed : v_t [m/s], > 0, slip at which friction is static friction
    viscous_damping, viscous_load : mu_v [N s/m], >= 0; N_t [N], > 0
        Viscous force per slip velocity of a loaded contact, fully active from the normal force N_t on.

    References
    ----------
    Brown, P., McPhee, J. (2016), A continuous velocity-based friction model for dynamics and control with physically
    meaningful parameters, J. Comput. Nonlinear Dyn. 11, 054502, 10.1115/1.4033658.

    >>> law = BrownMcPhee(friction=0.1, static_friction=0.15, static_speed=1e-3)
    >>> f"{law.coefficient(1e-3, law):.6f}"
    '0.149933'
    """

    static_friction: Coefficient
    static_speed: Speed
    viscous_damping: Annotated[float, Quantity("N s/m", nonnegative=True)] = 0.0
    viscous_load: Annotated[float, Quantity("N", positive=True)] = 1.0

    ordered = (("friction", "<=", "static_friction"),)

    def coefficient(self, slip: Expression, k: SimpleNamespace) -> Expression:
        x = slip / k.static_speed
        return k.friction * ca.tanh(4 * x) + (k.static_friction - k.friction) * x / (x * x / 4 + 0.75) ** 2

    def force(self, slip: Expression, normal: Expression, bristle: Vector, stiction: Expression, k: Any) -> Expression:
        viscous = k.viscous_damping * slip * ca.tanh(4 * normal / k.viscous_load)
        return -normal * self.coefficient(slip, k) - viscous


@dataclass(frozen=True, kw_only=True)
class Bai(SlipLaw):
    """The cubic steps of ADAMS, used by Bai and Zhao: from -mu_s to mu_s within v_s, then to mu_d at v_d ::

        mu(v) = mu_s x (3 - x^2) / 2,                     x = v/v_s,                     |v| <= v_s
        mu(v) = (mu_s - (mu_s - mu_d) t^2 (3 - 2 t)) sgn v,  t = (|v| - v_s)/(v_d - v_s),  v_s <= |v| <= v_d
        mu(v) = mu_d sgn v,                                                               |v| > v_d

    Once differentiable. Does not stick: creep mu'(0) = 1.5 mu_s / v_s.

    Parameters
    ----------
    friction, static_friction : mu_d, mu_s [-], 0 <= mu_d <= mu_s
    static_speed, dynamic_speed : v_s, v_d [m/s], 0 < v_s < v_d
        Slip at which friction is static friction, and from which it is dynamic friction.

    References
    ----------
    Bai, Z. F., Zhao, J. J., Chen, J., Zhao, Y. (2018), Design optimization of dual-axis driving mechanism for satellite
    antenna with two planar revolute clearance joints, Acta Astronaut. 144, 80-89.

    >>> law = Bai(friction=0.1, static_friction=0.15, static_speed=0.1, dynamic_speed=1.0)
    >>> [round(law.force(v, 1.0, (), 0.0, law), 6) for v in (0.05, 0.1, 0.55, -2.0)]
    [-0.103125, -0.15, -0.125, 0.1]
    """

    static_friction: Coefficient
    static_speed: Speed
    dynamic_speed: Speed

    ordered = (("friction", "<=", "static_friction"), ("static_speed", "<", "dynamic_speed"))

    def coefficient(self, slip: Expression, k: SimpleNamespace) -> Expression:
        x = clip(slip / k.static_speed)
        t = clip((ca.fabs(slip) - k.static_speed) / (k.dynamic_speed - k.static_speed), 0)
        return x * (3 - x * x) / 2 * (k.static_friction - (k.static_friction - k.friction) * t * t * (3 - 2 * t))


@dataclass(frozen=True, kw_only=True)
class SineCosine(SlipLaw):
    """A sine from -mu_s to mu_s within v_s, then half a cosine to mu_d at v_d ::

        mu(v) = mu_s sin(pi/2 v/v_s),                                                          |v| <= v_s
        mu(v) = ((mu_s + mu_d)/2 + (mu_s - mu_d)/2 cos(pi (|v| - v_s)/(v_d - v_s))) sgn v,     v_s <= |v| <= v_d
        mu(v) = mu_d sgn v,                                                                    |v| > v_d

    Once differentiable. Does not stick: creep mu'(0) = pi/2 mu_s / v_s.

    Parameters
    ----------
    friction, static_friction : mu_d, mu_s [-], 0 <= mu_d <= mu_s
    static_speed, dynamic_speed : v_s, v_d [m/s], 0 < v_s < v_d
        Slip at which friction is static friction, and from which it is dynamic friction.

    References
    ----------
    Zhu, S., Cheng, G., Guo, F., Pang, Y. (2025), Dynamic modeling and response analysis of an optical machining robot
    with prismatic joint clearance, Appl. Sci. 15, 3197, eq. 3, 10.3390/app15063197. It cites Mostaghel and Davis, whose
    four functions are different.

    >>> law = SineCosine(friction=0.1, static_friction=0.15, static_speed=0.1, dynamic_speed=1.0)
    >>> [round(law.coefficient(v, law), 6) for v in (0.05, 0.1, 0.55, 2.0)]
    [0.106066, 0.15, 0.125, 0.1]
    """

    static_friction: Coefficient
    static_speed: Speed
    dynamic_speed: Speed

    ordered = (("friction", "<=", "static_friction"), ("static_speed", "<", "dynamic_speed"))

    def coefficient(self, slip: Expression, k: SimpleNamespace) -> Expression:
        x = clip(slip / k.static_speed)
        t = clip((ca.fabs(slip) - k.static_speed) / (k.dynamic_speed - k.static_speed), 0)
        fallen = (1 - ca.cos(math.pi * t)) / 2
        return ca.sin(math.pi / 2 * x) * (k.static_friction - (k.static_friction - k.friction) * fallen)
