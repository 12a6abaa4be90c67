"""A journal in a bearing with surface roughness: stiffness of fractal asperities."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated

import casadi as ca
import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Expression, Limit
from nonsmooth.laws.normal.elastic import ElasticLaw, MaterialPair, contact_modulus
from nonsmooth.quantities import PositiveLength, Quantity
from nonsmooth.settings import shown

LOG_GAMMA = math.log(1.5)
TINY = 1e-30  # depth / dR below which the force is linear, so that its slope is finite at 0
_points, _weights = np.polynomial.legendre.leggauss(12)
NODES = [(float(x), float(w)) for x, w in zip((_points + 1) / 2, _weights / 2, strict=True)]
HARDNESS = 2.8  # of the softer material, by its yield strength
#: elastic-plastic stages of an asperity: factor and power of omega/omega_c of its force, reaching up to omega_c times
STAGES = ((2.06 / 3, 0.425, 6.0), (2.8 / 3, 0.263, 110.0))


def fractal_surface(roughness: float) -> tuple[float, float]:
    """Fractal dimension D [-] and scale G [m] of a surface of roughness Ra [m]. ::

        D = 1 + 1.54 / Ra^0.045,    G = 10^(-5.26 / Ra^0.045) mm,    Ra in um

    The fraction bar of D and the unit of G are missing in the paper; with this reading, 2 < D < 3 for Ra above 3 nm.
    Another reading of G has the exponent 0.042; both agree at 1 um. InputError for a roughness that gives no D between
    2 and 3.

    >>> fractal_surface(1e-6)
    (2.54, 5.4954...e-09)
    """
    if not (isinstance(roughness, (int, float)) and 0 < roughness < 1):
        raise InputError(f"fractal_surface: roughness must be a positive number in m, got {shown(roughness)}.")
    grown = (1e6 * roughness) ** 0.045
    dimension = 1 + 1.54 / grown
    if not 2 < dimension < 3:
        raise InputError(f"fractal_surface: roughness {roughness:g} m gives D = {dimension:.3f}, not between 2 and 3.")
    return dimension, 1e-3 * 10 ** (-5.26 / grown)


@dataclass(frozen=True)
class FractalStiffness(MaterialPair, ElasticLaw):
    """The stiffness of fractal asperities of Sun and others, integrated over the depth. ::

        F_el = ∫ K_m(A_r(delta)) ddelta,    A_r = 2 lambda R_j b sqrt(delta / (2 (dR + delta)))

        K_m = ∫ K(a) n(a) da,    n(a) = (D-1)/2 phi^((3-D)/2) a_l^((D-1)/2) a^(-(D+1)/2),    a <= a_l = m A_r

    Asperities of contact area a yield below a critical area a_c. With omega(a) their interference, R(a) = a/(pi omega)
    their radius and omega/omega_c = (a/a_c)^(2-D), their forces P and stiffnesses K are ::

        P = 4/3 E* sqrt(R) omega^1.5                          omega <    omega_c
        P = 2.06/3 H' pi R omega (omega/omega_c)^0.425        omega <  6 omega_c
        P = 2.8/3  H' pi R omega (omega/omega_c)^0.263        omega < 110 omega_c,    K = (dP/da) / (domega/da)

    Fully plastic asperities carry no load, as in the paper. K is the derivative along the family of asperities, as the
    paper's factors (4-D)/(3-D) and 17D-74 show; "236D" in h_3 is 263D, h_1 lacks E*, and the last stage, printed to
    1/100 and to 1/110, ends at 110. lambda, eq. (13), cannot be recovered from the print: it is `area_share`. H' is
    3.3/2.06 k_mu sigma_y, which makes P continuous at omega_c; at 6 omega_c it jumps by 2 %.
    As ``F = K_m delta^1.5`` has no unit of force, K_m is integrated, by Gauss quadrature; nor has ``eta M K_m`` that of
    a damping coefficient: it is omitted, and `loss_factor` gives eta. With the hysteresis of the paper:
    ``LankaraniNikravesh(stiffness=FractalStiffness(...), restitution=e)``. InputError if D is not between 2 and 3.

    Parameters
    ----------
    a, b : Material
    yield_strength : sigma_y [Pa], > 0, of the softer material
    fractal_dimension, fractal_scale : D [-], 2 < D < 3; G [m], > 0
        `fractal_surface` estimates both from the roughness.
    area_share : lambda [-], 0 < lambda <= 1
        Ratio of the real to the nominal area of contact.
    asperity_friction : mu [-], 0 <= mu <= 0.9, reduces the load at which asperities yield

    References
    ----------
    Sun, J., Han, X., Li, T., Li, S. (2021), Dynamic parameter identification of a pointing mechanism considering the
    joint clearance, Robotics 10, 36, eq. (1)-(12). Kogut, L., Etsion, I. (2002), Elastic-plastic contact analysis of a
    sphere and a rigid flat, J. Appl. Mech. 69, 657-662.

    >>> from nonsmooth.laws import Material
    >>> steel = Material(2.07e11, 0.3)
    >>> dimension, scale = fractal_surface(0.8e-6)
    >>> FractalStiffness(
    ...     steel, steel, yield_strength=3.5e8, fractal_dimension=dimension, fractal_scale=scale, area_share=0.1,
    ...     asperity_friction=0.1,
    ... ).needs()
    ('radius', 'clearance', 'length')
    """

    yield_strength: Annotated[float, Quantity("Pa", positive=True)] = field(kw_only=True)
    fractal_dimension: Annotated[float, Quantity("-", positive=True, at_most=3.0)] = field(kw_only=True)
    fractal_scale: PositiveLength = field(kw_only=True)
    area_share: Annotated[float, Quantity("-", positive=True, at_most=1.0)] = field(kw_only=True)
    asperity_friction: Annotated[float, Quantity("-", nonnegative=True, at_most=0.9)] = field(kw_only=True)

    geometry = ("radius", "clearance", "length")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 < self.fractal_dimension < 3:
            given = shown(self.fractal_dimension)
            raise InputError(f"FractalStiffness: fractal_dimension must lie between 2 and 3, got {given}.")

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        dimension, modulus = p.fractal_dimension, contact_modulus(p)
        yielding = _friction_factor(p.asperity_friction) * p.yield_strength
        spread, w0 = domain_extension(dimension) ** ((3 - dimension) / 2), _interference(p)
        critical = (  # a_c of eq. (2)
            2 ** ((3 * dimension - 11) / (2 - dimension))
            * (33 * yielding / (40 * contact_modulus(p))) ** (2 / (2 - dimension))
            * math.pi ** ((4 - dimension) / (2 - dimension))
            * LOG_GAMMA ** (1 / (dimension - 2))
            * p.fractal_scale**2
        )
        # K n = c a^(r - 1) a_l^((D-1)/2), with K = P/omega times the ratio of the powers of a in P and omega
        density, power = (dimension - 1) / 2 * spread, (3 - dimension) / 2
        found = {
            "area": 2 * p.area_share * p.radius * p.length * (3 - dimension) / (dimension - 1) / spread,
            "clearance": p.clearance,
            "rise": (dimension - 1) / 2,
            "critical": critical,
            "power_0": (2 - dimension) / 2,
            "stiffness_0": density * 4 / 3 * modulus / math.sqrt(math.pi) * (4 - dimension) / (3 - dimension),
        }
        for i, (factor, q, ends) in enumerate(STAGES, start=1):
            r = (2 - dimension) * q
            force = factor * 3.3 / 2.06 * yielding / w0 * critical**-r
            found |= {
                f"power_{i}": r,
                f"stiffness_{i}": density * force * ((dimension - 1) / 2 + r + power) / power,
                f"critical_{i}": critical * ends ** (1 / (2 - dimension)),
            }
        return found

    def stiffness(self, depth: Expression, k: SimpleNamespace) -> Expression:
        """K_m [N/m] at a depth > 0."""
        largest = k.area * ca.sqrt(depth / (2 * (k.clearance + depth)))
        total = k.stiffness_0 * _between(k.critical, ca.fmax(largest, k.critical), k.power_0)
        upper = k.critical
        for i in range(1, len(STAGES) + 1):
            lower, c, r = (getattr(k, f"{name}_{i}") for name in ("critical", "stiffness", "power"))
            total += c * _between(lower, ca.fmin(ca.fmax(largest, lower), upper), r)
            upper = lower
        return largest**k.rise * total

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        inside = ca.fmax(depth, TINY * k.clearance)
        return depth * sum(4 * x**3 * w * self.stiffness(inside * x**4, k) for x, w in NODES)

    def loss_factor(self, depth: float, *, radius: float, clearance: float, length: float) -> float:
        """eta = W_p / W_e [-]: work lost in plastic asperities by elastic energy, at a depth of a journal [m]. ::

            W_e = ∫ w(P_1, a) n da, a_c to a_l      + ∫ w(P_2, a) n da, a_6 to a_c,      w(P, a) = ∫ P domega
            W_p = ∫ w(P_3, a) n da, a_110 to a_6    + ∫ w(P_4, a) n da, 0 to a_110

        P_1 to P_3 are the loads above, P_4 = 2 pi R omega 2.8 sigma_y that of fully plastic asperities; a_6 and a_110
        are the areas at 6 and 110 omega_c, and no area exceeds a_l. As in the paper each load is integrated over omega
        from 0 at a fixed radius, as if its stage began there; w(P_2) ends at a_c, as in K_m, and not at a_l. Small
        asperities yield first, so that eta falls with the depth, and is infinite where a_l < a_6. InputError for a
        length that is not a positive number.

        Parameters
        ----------
        depth : delta [m], > 0
        radius, clearance, length : R_j, dR, b [m], > 0

        >>> from nonsmooth.laws import Material
        >>> steel, (dimension, scale) = Material(2.07e11, 0.3), fractal_surface(0.8e-6)
        >>> law = FractalStiffness(
        ...     steel, steel, yield_strength=3.5e8, fractal_dimension=dimension, fractal_scale=scale, area_share=0.1,
        ...     asperity_friction=0.1,
        ... )
        >>> [round(law.loss_factor(d, radius=10e-3, clearance=20e-6, length=20e-3), 4) for d in (1e-8, 1e-6)]
        [0.4578, 0.245]
        """
        geometry = {"radius": radius, "clearance": clearance, "length": length}
        for name, value in {"depth": depth, **geometry}.items():
            if not (isinstance(value, (int, float)) and 0 < value < math.inf):
                raise InputError(f"FractalStiffness.loss_factor: {name} must be positive [m], got {shown(value)}.")
        p = SimpleNamespace(**self.numbers(), **geometry)
        k = SimpleNamespace(**{name: float(value) for name, value in self.coefficients(p).items()})
        largest = k.area * math.sqrt(depth / (2 * (clearance + depth)))
        bend, hard = 2 - self.fractal_dimension, 3.3 / 2.06 * float(_friction_factor(p.asperity_friction))
        # w n = c a^(power - 1), without the factors that W_e and W_p share
        w0, power = float(_interference(p)), 1 + bend
        elastic = 8 / 15 * float(contact_modulus(p)) / math.sqrt(math.pi) * w0
        stored = elastic * _area_integral(k.critical, largest, power + bend / 2)
        ends = (k.critical, k.critical_1, k.critical_2)
        works = []
        for (factor, q, _), high, low in zip(STAGES, ends, ends[1:], strict=False):
            load = factor * hard * self.yield_strength / (2 + q) * k.critical ** (-bend * q)
            works.append(load * _area_integral(low, min(high, largest), power + bend * q))
        lost = works[1] + HARDNESS * self.yield_strength * min(k.critical_2, largest) ** power / power
        return lost / total if (total := stored + works[0]) > 0 else math.inf

    def limits(self, p: SimpleNamespace, k: SimpleNamespace) -> tuple[Limit, ...]:
        return (Limit("fractal_dimension", low=2.0, high=3.0, reason="no surface has another dimension"),)


def _interference(p: SimpleNamespace) -> Expression:
    """w0 of ``omega(a) = w0 a^((3-D)/2)``."""
    D = p.fractal_dimension
    return 2 ** ((11 - 3 * D) / 2) * p.fractal_scale ** (D - 2) * math.sqrt(LOG_GAMMA) * math.pi ** ((D - 3) / 2)


def _area_integral(low: float, high: float, power: float) -> float:
    """Integral of ``a^(power - 1)``, 0 for an empty range, also where the power is 0."""
    span = math.log(high / low)
    if span <= 0:
        return 0.0
    return low**power * (math.expm1(power * span) / power if power else span)


def _between(low: Expression, high: Expression, power: Expression) -> Expression:
    """Integral of ``a^(power - 1)``."""
    return (high**power - low**power) / power


def _friction_factor(mu: Expression) -> Expression:
    """k_mu: 1 - 0.228 mu up to mu = 0.3, 0.932 exp(-1.58 (mu - 0.3)) above."""
    return ca.if_else(mu <= 0.3, 1 - 0.228 * mu, 0.932 * ca.exp(-1.58 * (mu - 0.3)))


def domain_extension(dimension: Expression) -> Expression:
    """phi, by four Newton steps in ln(phi) from ``2.527/D - 0.301``, of
    ``phi^((3-D)/2) - (1 + phi^(-(D-1)/2))^((D-3)/(D-1)) = (3-D)/(D-1)``."""
    up, down = (3 - dimension) / 2, (dimension - 1) / 2
    z = 2.527 / dimension - 0.301
    for _ in range(4):
        base = 1 + ca.exp(-down * z)
        value = ca.exp(up * z) - base ** (-up / down) - up / down
        slope = up * (ca.exp(up * z) - ca.exp(-down * z) * base ** (-up / down - 1))
        z = z - value / slope
    return ca.exp(z)
