"""A journal in a bearing with a thin elastic layer: Winkler's foundation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated

import casadi as ca
import numpy as np

from nonsmooth.laws.base import Expression, Limit
from nonsmooth.laws.normal.elastic import ElasticLaw
from nonsmooth.quantities import PositiveLength, Quantity

__all__ = ["WinklerFoundation"]

TINY = 1e-30  # depth / dR below which the force is linear, so that its slope is finite at 0
_points, _weights = np.polynomial.legendre.leggauss(16)
#: nodes and weights on [0, 1] of even functions; ten figures at half the number, round-off at this one
NODES = [(float(x), float(w)) for x, w in zip(_points, _weights, strict=True) if x > 0]


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
    young : E [Pa], > 0
        Of the layer.
    poisson : nu [-], 0 <= nu <= 0.49
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
        """A tenth of the thickness."""
        return (
            Limit(
                "depth",
                high=p.thickness / 10,
                reason="above, the strain of the layer of WinklerFoundation exceeds a tenth",
            ),
        )
