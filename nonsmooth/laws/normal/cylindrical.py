"""Elastic forces along a line, for use as the `stiffness` of a law with damping: of a journal in a bearing as parallel
cylinders or on a thin layer, and of a rounded edge.

R_j is the journal's radius, dR the radial clearance, R_i = R_j + dR the bearing's radius, L the bearing's length.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, ClassVar

import casadi as ca
import numpy as np

from nonsmooth.laws.base import Expression, Limit
from nonsmooth.laws.normal.elastic import ElasticLaw, MaterialPair, contact_modulus
from nonsmooth.quantities import PositiveLength, Quantity

END = 1.05  # y at which the tangent begins: 95 % of the largest load, 20 times the stiffness at y = 2
TINY = 1e-30  # depth / S or depth / dR below which the law is linear, so that force and slope are finite at 0
_points, _weights = np.polynomial.legendre.leggauss(16)
#: nodes and weights on [0, 1] of even functions; ten figures at half the number, round-off at this one
NODES = [(float(x), float(w)) for x, w in zip(_points, _weights, strict=True) if x > 0]


@dataclass(frozen=True)
class LogarithmicLaw(MaterialPair, ElasticLaw):
    """Base of the laws of parallel cylinders in which the depth is the force times a logarithm. ::

        delta = A ln(S / A),    A = F / (pi E* L)

    A law defines the length S. At A = S/e, delta = S/e, the depth ceases to increase with the force, which is not
    physical; the law is meaningless beyond this point, which is reached at moderate loads if the clearance is small.
    The inverse is ``F = pi E* L delta / y`` with ``y - ln(y) = ln(S / delta)``, y >= 1, solved by four Newton steps
    from ``y = 1 + sqrt(2t) + t``, ``t = ln(S / delta) - 1``, to a relative error below 1e-13. From y = 1.05, 95 % of
    the largest load, the force continues along its tangent.

    Parameters
    ----------
    a, b : Material

    >>> from nonsmooth.laws import Material
    >>> steel, p = Material(2e11, 0.3), SimpleNamespace(radius=0.01, clearance=1e-3, length=0.015)
    >>> [round(law(steel, steel).scale(p), 6) for law in (Radzimovsky, DubowskyFreudenstein, Goldsmith, ESDU78035)]
    [0.003875, 0.00556, 24.711653, 0.010873]
    >>> Johnson(steel, steel).needs(), LineContact(steel, steel, line_length=0.06, edge_radius=1e-3).needs()
    (('radius', 'clearance', 'length'), ())
    """

    geometry: ClassVar[tuple[str, ...]] = ("radius", "clearance", "length")

    def scale(self, p: SimpleNamespace) -> Expression:
        """S [m]."""
        raise TypeError(f"{type(self).__name__} has no scale.")

    def length(self, p: SimpleNamespace) -> Expression:
        """L [m]."""
        return p.length

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        return {"line_stiffness": math.pi * contact_modulus(p) * self.length(p), "scale": self.scale(p)}

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        end = END * math.exp(-END) * k.scale
        within = ca.fmin(depth, end)
        t = ca.log(k.scale / ca.fmax(within, TINY * k.scale)) - 1
        y = 1 + ca.sqrt(2 * t) + t
        for _ in range(4):
            y = y * (ca.log(y) + t) / (y - 1)
        return k.line_stiffness * (within / y + ca.fmax(depth - end, 0) / (END - 1))

    def limits(self, p: SimpleNamespace, k: SimpleNamespace) -> tuple[Limit, ...]:
        name, greatest = type(self).__name__, math.exp(-END) * k.line_stiffness * k.scale
        reason = f"above, the depth of {name} ceases to increase, and the force continues along its tangent"
        return (Limit("force", high=greatest, reason=reason),)


@dataclass(frozen=True)
class Johnson(LogarithmicLaw):
    """Johnson's law of parallel cylinders, with F' = F / L. ::

        delta = F'/(pi E*) (ln(4 pi E* dR / F') - 1),    F' < 4 pi E* dR / e^2

    Parameters: `LogarithmicLaw`.

    References
    ----------
    Johnson, K. L. (1985), Contact mechanics, Cambridge University Press.
    """

    def scale(self, p: SimpleNamespace) -> Expression:
        return 4 / math.e * p.clearance


@dataclass(frozen=True)
class Radzimovsky(LogarithmicLaw):
    """Radzimovsky's law of parallel cylinders, with F' = F / L and R = R_i R_j / dR. ::

        delta = F'/(pi E*) (2/3 + ln(4 R_i / b) + ln(4 R_j / b)),    b = 1.60 sqrt(F' R / E*)

    b is the width of contact. The law was derived for external contact; here R is the radius of internal contact.
    Parameters: `LogarithmicLaw`.

    References
    ----------
    Radzimovsky, E. I. (1953), Stress distribution and strength condition of two rolling cylinders, University of
    Illinois.
    """

    def scale(self, p: SimpleNamespace) -> Expression:
        return math.exp(2 / 3) * 16 / (math.pi * 1.60**2) * p.clearance


@dataclass(frozen=True)
class DubowskyFreudenstein(LogarithmicLaw):
    """Dubowsky and Freudenstein's law, with 1/(pi E*) = sigma_i + sigma_j. ::

        delta = F/(pi E* L) (ln(pi E* L^3 dR / (F R_i R_j)) + 1)

    Parameters: `LogarithmicLaw`.

    References
    ----------
    Dubowsky, S., Freudenstein, F. (1971), Dynamic analysis of mechanical systems with clearances, part 1, J. Eng. Ind.
    93.
    """

    def scale(self, p: SimpleNamespace) -> Expression:
        return math.e * p.length**2 * p.clearance / (p.radius * (p.radius + p.clearance))


@dataclass(frozen=True)
class Goldsmith(LogarithmicLaw):
    """Goldsmith's law with m = 1, as it is usually printed, with R = R_i R_j / dR. ::

        delta = F/(pi E* L) (ln(pi E* L / (F R)) + 1),    lengths under the logarithm in metres

    The argument of the logarithm is not dimensionless, so that the result depends on the units; SI units are used. With
    L^3 instead of L it is `DubowskyFreudenstein`, which is dimensionally correct. Parameters: `LogarithmicLaw`.

    References
    ----------
    Goldsmith, W. (1960), Impact: the theory and physical behaviour of colliding solids, Arnold.
    """

    def scale(self, p: SimpleNamespace) -> Expression:
        return math.e * p.clearance / (p.radius * (p.radius + p.clearance))


@dataclass(frozen=True)
class ESDU78035(LogarithmicLaw):
    """The law of ESDU 78035, with 1/(pi E*) = sigma_i + sigma_j. ::

        delta = F/(pi E* L) (ln(4 pi E* L dR / F) + 1)

    Static, for small clearance; we know of no number for this range. Parameters: `LogarithmicLaw`.

    References
    ----------
    ESDU 78035 (1978), Contact phenomena I: stresses, deflections and contact dimensions for normally loaded
    unlubricated elastic components.
    """

    def scale(self, p: SimpleNamespace) -> Expression:
        return 4 * math.e * p.clearance


@dataclass(frozen=True)
class LineContact(LogarithmicLaw):
    """Contact along a rounded edge of length l and radius R, F the total force. ::

        delta = F/(pi E* l) (1 - ln(F R / (pi E* l^3)))

    The source calls F the pressure per unit length, with which the argument of the logarithm would not be
    dimensionless. The law is `DubowskyFreudenstein` with R = R_i R_j / dR; see `LogarithmicLaw` for its range.

    Parameters
    ----------
    a, b : Material
    line_length, edge_radius : l, R [m], > 0, R is the equivalent radius of curvature across the line

    References
    ----------
    Zhu, S., Cheng, G., Guo, F., Pang, Y. (2025), Dynamic modeling and response analysis of an optical machining robot
    with prismatic joint clearance, Appl. Sci. 15, 3197, eq. (6).
    """

    line_length: PositiveLength = field(kw_only=True)
    edge_radius: PositiveLength = field(kw_only=True)

    geometry = ()

    def scale(self, p: SimpleNamespace) -> Expression:
        return math.e * p.line_length**2 / p.edge_radius

    def length(self, p: SimpleNamespace) -> Expression:
        return p.line_length


@dataclass(frozen=True)
class Liu(MaterialPair, ElasticLaw):
    """The law of Liu and others, for conforming surfaces, explicit in depth. ::

        F = pi/2 E* L delta sqrt(delta / (2 (dR + delta)))

    From an elastic foundation with the contact's half angle of ``cos(eps) = dR / (dR + delta)``; it tends to ``F ~
    delta^1.5`` for small and to ``F ~ delta`` for large depth. We know of no range of validity of dR.

    Parameters
    ----------
    a, b : Material

    References
    ----------
    Liu, C., Zhang, K., Yang, R. (2007), The FEM analysis and approximate model for cylindrical joints with clearances,
    Mech. Mach. Theory 42, 183-197.

    >>> from nonsmooth.laws import Material
    >>> steel, k = Material(2e11, 0.3), SimpleNamespace(line_stiffness=2.0, clearance=1e-3)
    >>> [round(law(steel, steel).elastic(1e-3, k), 6) for law in (Liu, BaiZhao)]
    [0.0005, 0.000625]
    """

    geometry = ("clearance", "length")

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        return {"line_stiffness": math.pi * contact_modulus(p) * p.length, "clearance": p.clearance}

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        return k.line_stiffness / 2 * depth**1.5 / ca.sqrt(2 * (k.clearance + depth))


@dataclass(frozen=True)
class BaiZhao(Liu):
    """Bai and Zhao's hybrid law: depth times the slope of the force of `Liu`. ::

        F_el = K_n delta,    K_n = L pi E* / 8 sqrt(2 delta (3 dR + 2 delta)^2 / (dR + delta)^3)

    For small depth it is 1.5 times Liu's force, whose slope it uses as a secant. Published with the damping of
    `ZhiyingQishao`: ``ZhiyingQishao(stiffness=BaiZhao(a, b), restitution=e)``. Parameters: `Liu`.

    References
    ----------
    Bai, Z. F., Zhao, Y. (2012), Dynamic behaviour analysis of planar mechanical systems with clearance in revolute
    joints using a new hybrid contact force model, Int. J. Mech. Sci. 54, 190-205.
    """

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        c = k.clearance
        return k.line_stiffness / 8 * math.sqrt(2) * depth**1.5 * (3 * c + 2 * depth) / (c + depth) ** 1.5


@dataclass(frozen=True)
class Pereira(MaterialPair, ElasticLaw):
    """The law of Pereira and others for internal contact, fitted to Johnson's; lengths in mm, E* in MPa, F in N. ::

        F_el = (0.965 dR + 0.0965) L E* / dR delta^n,    n = Y dR^-0.005

        Y = 1.51 ln(1000 dR)^-0.151,    0.005 mm <= dR <  0.34954 mm
        Y = 0.0151 dR + 1.151,        0.34954 mm <= dR <= 10 mm

    Outside this range of dR the exponent has the value of the nearer end. Published with the damping of
    `ZhiyingQishao`: ``ZhiyingQishao(stiffness=Pereira(a, b), restitution=e)``. Parameters: `Liu`.

    References
    ----------
    Pereira, C. M., Ramalho, A. L., Ambrósio, J. A. (2011), A critical overview of internal and external cylinder
    contact force models, Nonlinear Dyn. 63, 681-697.

    >>> from nonsmooth.laws import Material
    >>> law = Pereira(Material(2e11, 0.3), Material(2e11, 0.3))
    >>> p = SimpleNamespace(**law.numbers(), clearance=0.5e-3, length=0.015)
    >>> round(float(law.coefficients(p)["exponent"]), 5)
    1.16257
    """

    geometry = ("clearance", "length")

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        c, length, modulus = 1e3 * p.clearance, 1e3 * p.length, 1e-6 * contact_modulus(p)
        fine = 1.51 * ca.log(1e3 * ca.fmin(ca.fmax(c, 0.005), 0.34954)) ** -0.151
        coarse = 0.0151 * ca.fmin(c, 10.0) + 1.151
        within = ca.fmin(ca.fmax(c, 0.005), 10.0)
        return {
            "stiffness": (0.965 * c + 0.0965) * length * modulus / c,
            "exponent": ca.if_else(c < 0.34954, fine, coarse) * within**-0.005,
        }

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        return k.stiffness * (1e3 * depth) ** k.exponent

    def limits(self, p: SimpleNamespace, k: SimpleNamespace) -> tuple[Limit, ...]:
        return (Limit("clearance", low=5e-6, high=1e-2, reason="the exponent of Pereira was fitted between these"),)


@dataclass(frozen=True, kw_only=True)
class WinklerFoundation(ElasticLaw):
    """A layer of independent springs between a rigid journal and a rigid bearing. ::

        p(theta) = (1 - nu) E / ((1 + nu)(1 - 2 nu)) u / h,    u = (dR + delta) cos(theta) - dR

        F = L R_j ∫ p cos(theta) dtheta,  |theta| < eps,    cos(eps) = dR / (dR + delta)
          = L R_j (1 - nu) E / ((1 + nu)(1 - 2 nu) h) ((dR + delta) eps - dR sin(eps))

    It is evaluated by Gauss quadrature of ``u = delta (cos(theta) - cos(eps)) / (1 - cos(eps))``, since the closed form
    suffers from cancellation for small depth. It tends to ``2/3 k dR (2 delta/dR)^1.5`` for small and to ``pi/2 k
    delta`` for large depth, k = L R_j p/u. The layer is thin compared with the arc of contact, bonded to its bearing,
    and not nearly incompressible; its strain u/h is at most a tenth.

    Parameters
    ----------
    young, poisson : E [Pa], > 0; nu [-], 0 <= nu <= 0.49
    thickness : h [m], > 0

    References
    ----------
    Johnson, K. L. (1985), Contact mechanics, Cambridge University Press, section 4.3.

    >>> WinklerFoundation(young=1e9, poisson=0.3, thickness=1e-3).needs()
    ('radius', 'clearance', 'length')
    """

    young: Annotated[float, Quantity("Pa", positive=True)]
    poisson: Annotated[float, Quantity("-", nonnegative=True, at_most=0.49)]
    thickness: PositiveLength

    geometry = ("radius", "clearance", "length")

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        modulus = (1 - p.poisson) * p.young / ((1 + p.poisson) * (1 - 2 * p.poisson))
        return {"stiffness": modulus / p.thickness * p.radius * p.length, "clearance": p.clearance}

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        inside = ca.fmax(depth, TINY * k.clearance)
        arc = 2 * ca.atan(ca.sqrt(inside / (2 * k.clearance + inside)))
        whole = ca.sin(arc / 2) ** 2
        shares = [w * ca.sin(arc * (1 + x) / 2) * ca.sin(arc * (1 - x) / 2) / whole * ca.cos(arc * x) for x, w in NODES]
        return k.stiffness * depth * 2 * arc * sum(shares)

    def limits(self, p: SimpleNamespace, k: SimpleNamespace) -> tuple[Limit, ...]:
        reason = "above, the strain of the layer of WinklerFoundation exceeds a tenth"
        return (Limit("depth", high=p.thickness / 10, reason=reason),)
