"""Hysteresis damping: ``F = F_el(delta) (1 + chi delta' / delta'-)``. A family is a table of chi."""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, ClassVar

import casadi as ca

from nonsmooth.laws.base import Expression, Limit
from nonsmooth.laws.normal.elastic import DampedLaw, slowest_wave
from nonsmooth.quantities import Quantity


@dataclass(frozen=True, kw_only=True)
class Hertz(DampedLaw):
    """Elastic contact. ::

        F = K delta^n

    Parameters
    ----------
    stiffness, exponent : K [N/m^n], > 0, or an `ElasticLaw`; n [-], > 0, 1.5 where omitted

    References
    ----------
    Hertz, H. (1881), Ueber die Berührung fester elastischer Körper, J. reine angew. Math. 92, 156-171.

    >>> Hertz(stiffness=1e10).numbers()
    {'stiffness': 10000000000.0}
    """


@dataclass(frozen=True, kw_only=True)
class HysteresisLaw(DampedLaw):
    """Base of the family; a law defines chi as a function of the requested restitution e. ::

        F = F_el(delta) (1 + chi(e) delta' / delta'-),    F_el = K delta^n, or any other elastic force

    None of the published chi delivers the requested e. In a free impact, for any elastic force, mass and velocity, the
    delivered restitution r solves ::

        chi (1 + r) = ln((1 + chi) / (1 - chi r))

    since with u = delta'/delta'- the equation of motion is ``m delta'-^2 u du / (1 + chi u) = -F_el ddelta``: its right
    side integrates to 0 over a contact that ends at delta = 0. With `calibrated`, chi solves this equation for r = e
    and is the same for all laws of the family: with the same elastic force they are identical.

    Parameters
    ----------
    stiffness, exponent : K [N/m^n], > 0, or an `ElasticLaw`; n [-], > 0, 1.5 where omitted
    restitution : e [-], 0 < e <= 1
    calibrated : whether the law delivers the requested restitution

    Notes
    -----
    As e tends to 0, chi tends to infinity; for a plastic impact use an overdamped `KelvinVoigt`. If other forces act
    during contact, or if it begins at rest, the delivered restitution is not defined.

    >>> laws = HuntCrossley, HerbertMcWhannell, LeeWang, LankaraniNikravesh, ZhiyingQishao, Gonthier, Flores, HuGuo
    >>> [round(law(stiffness=1e10, restitution=0.9).damping(0.5), 4) for law in (*laws, GharibHurmuzlu)]
    [0.75, 1.0, 0.375, 0.5625, 1.529, 1.5, 1.6, 1.5, 2.0]
    """

    restitution: Annotated[float, Quantity("-", positive=True, at_most=1.0)]
    calibrated: bool = False

    #: range of e in which the delivered restitution is within 0.05 of e
    faithful: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def damping(self, e: Expression) -> Expression:
        """chi [-] of a restitution, as published."""
        raise TypeError("it defines no damping(e)")

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        chi = exact_chi(p.restitution) if self.calibrated else self.damping(p.restitution)
        return {**super().coefficients(p), "chi": chi}

    def force(self, depth: Expression, rate: Expression, approach: Expression, k: SimpleNamespace) -> Expression:
        return self.elastic(depth, k) * (1 + k.chi * rate / approach)

    def limits(self, p: SimpleNamespace, k: SimpleNamespace) -> tuple[Limit, ...]:
        found = super().limits(p, k)
        if self.calibrated or self.faithful == (0.0, 1.0):
            return found
        low, high = self.faithful
        reason = (
            "beyond, a free impact returns more than 0.05 off the requested restitution; calibrated=True returns it"
        )
        return (*found, Limit("restitution", low or -math.inf, high if high < 1 else math.inf, reason))


# ---- chi that delivers the requested restitution

#: D and Q below, times e^u, as power series of u: all terms are positive, so that there is no cancellation
_D_SERIES, _Q_SERIES = ([2 * (k + 1) / math.factorial(k + n) for k in range(26)] for n in (2, 3))


def _series(coefficients: list[float], u: Expression) -> Expression:
    return functools.reduce(lambda total, coefficient: total * u + coefficient, reversed(coefficients), 0.0)


def exact_chi(e: Expression) -> Expression:
    """chi of the law that delivers e: the root of ``chi (1 + e) = ln((1 + chi)/(1 - chi e))``, exactly 0 at e = 1.

    With u = chi (1 + e) and s = 1 - e the equation reads, without its double root at u = 0, ::

        u Q(u) = s D(u),    D = 2 (u - 1 + e^-u) / u^2,    Q = 2 (u - 2 + (2 + u) e^-u) / u^3

    and is solved for w = u/s by five Newton steps from w = 1/e + 2, which is exact at e = 1 and within 8 % elsewhere.
    The result has a relative error below 1e-13 for 0.01 <= e <= 0.9999; e may be a CasADi expression.

    >>> round(float(exact_chi(0.5)), 6)
    1.432751
    """
    s, w = 1 - e, 1 / e + 2
    for _ in range(5):
        u = s * w
        small, large = ca.fmin(u, 2), ca.fmax(u, 2)
        decay, vanishing = ca.exp(-small), ca.exp(-large)
        near = u < 2
        d = ca.if_else(near, decay * _series(_D_SERIES, small), 2 * (large - 1 + vanishing) / large**2)
        q = ca.if_else(near, decay * _series(_Q_SERIES, small), 2 * (large - 2 + (2 + large) * vanishing) / large**3)
        w = w - w * (w * q - d) / (w * d - 2)
    return s * w / (1 + e)


# ---- the members


@dataclass(frozen=True, kw_only=True)
class HuntCrossley(HysteresisLaw):
    """Hunt and Crossley: ``chi = 3 (1 - e) / 2``. For e near 1: for 0.5 it delivers 0.66. Parameters: `HysteresisLaw`.

    References
    ----------
    Hunt, K. H., Crossley, F. R. E. (1975), Coefficient of restitution interpreted as damping in vibroimpact, J. Appl.
    Mech. 42, 440-445.
    """

    faithful = (0.75, 1.0)

    def damping(self, e: Expression) -> Expression:
        return 3 * (1 - e) / 2


@dataclass(frozen=True, kw_only=True)
class HerbertMcWhannell(HysteresisLaw):
    """Herbert and McWhannell: ``chi = 6 (1 - e) / ((2e - 1)^2 + 3)``. For 0.5 it delivers 0.59.
    Parameters: `HysteresisLaw`.

    References
    ----------
    Herbert, R. G., McWhannell, D. C. (1977), Shape and frequency composition of pulses from an impact pair, J. Eng.
    Ind. 99.
    """

    faithful = (0.61, 1.0)

    def damping(self, e: Expression) -> Expression:
        return 6 * (1 - e) / ((2 * e - 1) ** 2 + 3)


@dataclass(frozen=True, kw_only=True)
class LeeWang(HysteresisLaw):
    """Lee and Wang: ``chi = 3 (1 - e) / 4``. It dissipates too little for all e: for 0.5 it delivers 0.80.
    Parameters: `HysteresisLaw`.

    References
    ----------
    Lee, T. W., Wang, A. C. (1983), On the dynamics of intermittent-motion mechanisms, J. Mech. Transm. Autom. Des. 105.
    """

    faithful = (0.91, 1.0)

    def damping(self, e: Expression) -> Expression:
        return 3 * (1 - e) / 4


@dataclass(frozen=True, kw_only=True)
class LankaraniNikravesh(HysteresisLaw):
    """Lankarani and Nikravesh: ``chi = 3 (1 - e^2) / 4``. For e near 1: for 0.5 it delivers 0.73.

    For cylinders the stiffness is that of point contact, ``HertzStiffness(a, b)`` over the effective radius of the
    joint. If a material has a density, impacts faster than ``1e-5 sqrt(E/rho)``, at which metals yield, are out of
    range. Parameters: `HysteresisLaw`.

    References
    ----------
    Lankarani, H. M., Nikravesh, P. E. (1990), A contact force model with hysteresis damping for impact analysis of
    multibody systems, J. Mech. Des. 112, 369-376, doi:10.1115/1.2912617.
    """

    faithful = (0.8, 1.0)

    def damping(self, e: Expression) -> Expression:
        return 3 * (1 - e**2) / 4

    def limits(self, p: SimpleNamespace, k: SimpleNamespace) -> tuple[Limit, ...]:
        found, wave = super().limits(p, k), slowest_wave(self.stiffness, p)
        if wave is None:
            return found
        return (*found, Limit("approach", high=1e-5 * wave, reason="faster, metals yield: 1e-5 sqrt(E/rho)"))


@dataclass(frozen=True, kw_only=True)
class ZhiyingQishao(HysteresisLaw):
    """Zhiying and Qishao: ``chi = 3/4 (1 - e^2) exp(2 (1 - e))``. For 0.5 it delivers 0.48.

    The laws of `Pereira` and of `BaiZhao` were published with this chi. Parameters: `HysteresisLaw`.

    References
    ----------
    Zhiying, Q., Qishao, L. (2006); as in Machado, M., Moreira, P., Flores, P., Lankarani, H. M. (2012), Compliant
    contact force models in multibody dynamics, Mech. Mach. Theory 53, 99-121.
    """

    faithful = (0.24, 1.0)

    def damping(self, e: Expression) -> Expression:
        return 3 * (1 - e**2) / 4 * ca.exp(2 * (1 - e))


@dataclass(frozen=True, kw_only=True)
class Gonthier(HysteresisLaw):
    """Gonthier and others: ``chi = (1 - e^2) / e``, for all e within 0.04. For 0.5 it delivers 0.49.

    The published factor d/e has d from an implicit equation; this is its approximation d = 1 - e^2.
    Parameters: `HysteresisLaw`.

    References
    ----------
    Gonthier, Y., McPhee, J., Lange, C., Piedboeuf, J.-C. (2004), A regularized contact model with asymmetric damping
    and dwell-time dependent friction, Multibody Syst. Dyn. 11.
    """

    def damping(self, e: Expression) -> Expression:
        return (1 - e**2) / e


@dataclass(frozen=True, kw_only=True)
class Flores(HysteresisLaw):
    """Flores and others: ``chi = 8 (1 - e) / (5 e)``, for all e within 0.05. For 0.5 it delivers 0.47.
    Parameters: `HysteresisLaw`.

    References
    ----------
    Flores, P., Machado, M., Silva, M. T., Martins, J. M. (2011), On the continuous contact force models for soft
    materials in multibody dynamics, Multibody Syst. Dyn. 25.
    """

    def damping(self, e: Expression) -> Expression:
        return 8 * (1 - e) / (5 * e)


@dataclass(frozen=True, kw_only=True)
class HuGuo(HysteresisLaw):
    """Hu and Guo: ``chi = 3 (1 - e) / (2 e)``, for all e within 0.04. For 0.5 it delivers 0.49.
    Parameters: `HysteresisLaw`.

    References
    ----------
    Hu, S., Guo, X. (2015), A dissipative contact force model for impact analysis in multibody dynamics, Multibody Syst.
    Dyn. 35.
    """

    def damping(self, e: Expression) -> Expression:
        return 3 * (1 - e) / (2 * e)


@dataclass(frozen=True, kw_only=True)
class GharibHurmuzlu(HysteresisLaw):
    """Gharib and Hurmuzlu: ``chi = 1 / e``, for low e only: for 0.5 it delivers 0.41, and for 1 only 0.58.
    Parameters: `HysteresisLaw`.

    References
    ----------
    Gharib, M., Hurmuzlu, Y. (2012), A new contact force model for low coefficient of restitution impact, J. Appl. Mech.
    79.
    """

    faithful = (0.0, 0.4)

    def damping(self, e: Expression) -> Expression:
        return 1 / e
