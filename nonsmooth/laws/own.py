"""Values of the laws of users: of a normal law at rest, which presses, and of friction, which opposes the slip."""

import math
from types import SimpleNamespace
from typing import Any

import casadi as ca

from nonsmooth.laws.base import Law

#: depths [m], and closing rates [m/s] of a contact that began at 1 m/s
DEPTHS, RATES = (0.0, 1e-9, 1e-7, 1e-5), (0.0, 0.1, -0.1)
#: slips [m/s], load [N], directions in the plane and in space, and the time [s] within which bristles begin to deflect
SLIPS, LOAD, ALONG, SHORT = (1e-4, 1e-2, 1.0, -1e-4, -1e-2, -1.0), 10.0, {1: [1.0], 2: [0.6, 0.8]}, 1e-9
#: lengths [m] of a usual geometry
CLEARANCE, LENGTH = 1e-4, 1e-2
#: shares that are round-off: of the largest normal force, as of differences near depth 0, and of the load
CANCELS, ROUND_OFF = 1e-6, 1e-15
HINT = "use casadi.sqrt and the like, instead of math.sqrt"


def own_kind(law: Law | None) -> type[Law] | None:
    """The first kind of a law and its parts that is a base, or not of this package."""
    kinds = [type(part) for part in law.parts()] if law is not None else []
    own = (one for one in kinds if one.__name__.endswith("Law") or not one.__module__.startswith("nonsmooth."))
    return next(own, None)


def wrong_normal(law: Any) -> str | None:
    """Why a normal law has forces of no contact, the end of a sentence: not finite, of no depth, or tensile at rest."""
    depth, rate, approach = map(ca.SX.sym, ("depth", "rate", "approach"))
    symbols, numbers, k = _coefficients(law)
    force, elastic = ca.SX(law.force(depth, rate, approach, k)), ca.SX(law.elastic(depth, k))
    function = ca.Function("forces", [*symbols, depth, rate, approach], [force, elastic])
    found = {(x, v): [float(one) for one in function(*numbers, x, v, 1.0)] for v in RATES for x in DEPTHS}
    for (x, v), values in found.items():
        if not all(map(math.isfinite, values)):
            return f"has a force of {sum(values):g} N at a depth of {x:g} m that grows by {v:g} m/s; {HINT}"
    if not ca.depends_on(force, depth):
        return f"has a force that does not depend on depth; {HINT}"
    least = {x: min(found[x, 0.0]) for x in (DEPTHS[-1:] if law.tensile else DEPTHS)}  # adhesion may pull at first
    x, most = min(least, key=lambda one: least[one]), max(abs(one) for values in found.values() for one in values)
    if least[x] < -CANCELS * most:
        return f"has a force of {least[x]:.3g} N at rest at a depth of {x:g} m; it must press, and be >= 0"
    return None


def wrong_friction(law: Any, tangents: int) -> str | None:
    """Why a friction law has forces of no friction, the end of a sentence: not finite, or along the slip."""
    slip, z, still = ca.SX.sym("v", tangents), ca.SX.sym("z", tangents * len(law.bristles)), ca.SX.zeros(tangents)
    symbols, numbers, k = _coefficients(law)
    planar, along = (law.force, law.bristle_rate), ca.DM(ALONG[tangents])
    of_force, of_rate = planar if tangents == 1 else (law.spatial_force, law.spatial_bristle_rate)
    outputs = [ca.SX(of_force(slip, LOAD, z, still, k)), ca.SX(of_rate(slip, LOAD, z, k))]
    function = ca.Function("friction", [*symbols, slip, z], outputs)
    for v in SLIPS:
        deflection = SHORT * function(*numbers, v * along, ca.DM.zeros(z.numel()))[1]
        value = float(ca.dot(function(*numbers, v * along, deflection)[0], along))
        if not math.isfinite(value):
            return f"has a force of {value:g} N at a slip of {v:g} m/s; {HINT}"
        if value * math.copysign(1.0, v) > ROUND_OFF * LOAD:
            return f"has a force of {value:.3g} N at a slip of {v:g} m/s: the force must oppose the slip"
    return None


def usual_values(law: Law) -> dict[str, float]:
    """A law's numbers and usual geometry."""
    return {name: CLEARANCE if name == "clearance" else LENGTH for name in law.needs()} | law.numbers()


def _coefficients(law: Law) -> tuple[list[Any], list[float], SimpleNamespace]:
    """Symbols of a law's numbers and geometry, their values, and the coefficients, which are expressions of them."""
    values = usual_values(law)
    symbols = {name: ca.SX.sym(name) for name in values}
    k = SimpleNamespace(**law.coefficients(SimpleNamespace(**symbols)))
    return list(symbols.values()), list(values.values()), k
