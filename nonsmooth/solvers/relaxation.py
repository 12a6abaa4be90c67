"""Relaxations of a complementarity pair 0 <= a _|_ b >= 0 for smooth solvers, as frozen objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from nonsmooth.exceptions import InputError

__all__ = ["NONE", "RELAXATIONS", "Relaxation", "relaxation_named"]


@dataclass(frozen=True)
class Relaxation:
    """A smooth replacement of a pair, in terms of the scaled gap a, the scaled multiplier b and a parameter s.

    Parameters
    ----------
    name : str
    row : callable
        (a, b, s) -> expression of the pair's constraint row.
    lower, upper : float
        Bounds of that row.
    penalty : callable
        (a, b, s) -> term added to the objective.
    signs : bool
        Whether a >= 0 and b >= 0 must be imposed as well.
    sequence : callable
        epsilon -> the values of s, solved one after the other until the pairs are complementary.
    polish : bool
        Whether the solution is refined by Newton's method on the active pairs.
    push : float
        Relative distance by which IPOPT moves the initial guess from its bounds.
    barrier : float
        IPOPT's first barrier parameter: small where pairs are equations, since bounds are then reached by few unknowns.
    scaled : bool
        Whether unknowns and rows are scaled instead of in SI units.
    """

    name: str
    row: Callable[[ca.SX, ca.SX, ca.SX], ca.SX]
    lower: float
    upper: float
    penalty: Callable[[ca.SX, ca.SX, ca.SX], ca.SX]
    signs: bool
    sequence: Callable[[float], tuple[float, ...]]
    polish: bool = True
    push: float = 1e-2
    barrier: float = 0.1
    scaled: bool = True


def _nothing(a: ca.SX, b: ca.SX, s: ca.SX) -> ca.SX:
    return ca.SX.zeros(a.numel())


def _product(a: ca.SX, b: ca.SX, s: ca.SX) -> ca.SX:
    return a * b


FISCHER_BURMEISTER = Relaxation(
    "fischer-burmeister",
    row=lambda a, b, s: a + b - ca.sqrt(a**2 + b**2 + 2 * s**2),  # zero <=> a, b > 0 and a b = s^2
    lower=0.0,
    upper=0.0,
    penalty=_nothing,
    signs=False,
    sequence=lambda epsilon: (epsilon,),
    push=1e-9,
    barrier=1e-8,
)
SCHOLTES = Relaxation(
    "scholtes",
    row=lambda a, b, s: a * b / s,
    lower=-float("inf"),
    upper=1.0,
    penalty=_nothing,
    signs=True,
    sequence=lambda epsilon: (*(s for s in (1e-2, 1e-5, 1e-8) if s > epsilon**2), epsilon**2),
)
L1_PENALTY = Relaxation(
    "l1",
    row=_nothing,
    lower=-float("inf"),
    upper=float("inf"),
    penalty=lambda a, b, s: s * a * b,
    signs=True,
    sequence=lambda epsilon: (1.0, 1e2, 1e4),
)
LITERAL = Relaxation(
    "literal",
    row=_product,
    lower=0.0,
    upper=0.0,
    penalty=_nothing,
    signs=True,
    sequence=lambda epsilon: (0.0,),
    polish=False,
    push=1e-16,  # the published method starts with zero multipliers
    scaled=False,
)

#: pairs for a solver that treats complementarity itself
NONE = Relaxation(
    "none",
    row=_nothing,
    lower=-float("inf"),
    upper=float("inf"),
    penalty=_nothing,
    signs=True,
    sequence=lambda epsilon: (0.0,),
)

RELAXATIONS = {r.name: r for r in (FISCHER_BURMEISTER, SCHOLTES, L1_PENALTY, LITERAL)}


def relaxation_named(name: str) -> Relaxation:
    """The relaxation of that name.

    Raises
    ------
    InputError
        If there is none.
    """
    if name not in RELAXATIONS:
        raise InputError(f"There is no relaxation {name!r}; there are {', '.join(RELAXATIONS)}.")
    return RELAXATIONS[name]
