"""Card of a compliant normal law: force loop in a free impact, delivered restitution, depth, range of validity."""

import math
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array, Evaluator
from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Limit
from nonsmooth.laws.compliant import Compliant, NormalLaw

REQUESTED = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
LONGEST = 200.0  # duration of a contact, in units of depth scale / speed, above which there is no separation
SAMPLES = 400
RELATIVE, ABSOLUTE = 1e-11, 1e-13


@dataclass(frozen=True, eq=False)
class FreeImpact:
    """A mass against a wall, without other forces: ``m delta'' = -F(delta, delta')`` from 0 and the speed of approach.

    Parameters
    ----------
    t, depth, rate, force : course of the contact [s], [m], [m/s], [N]
    restitution : [-], ratio of separation to approach velocity; 0 if the surfaces do not separate
    penetration_number : [-]
        Elastic energy at the largest depth divided by m times speed squared, 1/2 without damping. For ``F_el = K
        delta^n`` it is ``K delta_max^(n+1) / ((n+1) m v^2)``.
    """

    t: Array = field(repr=False)
    depth: Array = field(repr=False)
    rate: Array = field(repr=False)
    force: Array = field(repr=False)
    restitution: float
    penetration_number: float

    @property
    def peak_depth(self) -> float:
        return float(self.depth.max())

    @property
    def peak_force(self) -> float:
        return float(self.force.max())

    @property
    def duration(self) -> float:
        return float(self.t[-1])


@dataclass(frozen=True)
class Validity:
    """A limit of the law and the value that the impact has of its quantity."""

    limit: Limit
    value: float

    @property
    def kept(self) -> bool:
        return not self.limit.exceeded(self.value)


@dataclass(frozen=True, eq=False)
class LawCard:
    """Behaviour of a law in a free impact; `str` of it is a table, `nonsmooth.plots.law_card` a figure.

    Parameters
    ----------
    law
    speed : of approach [m/s]
    mass : effective mass [kg]
    impact : with the law's own restitution
    requested, delivered, penetration_number : [-], for each requested restitution; empty for a law without restitution
    validity : the law's limits, compared with this impact
    """

    law: NormalLaw
    speed: float
    mass: float
    impact: FreeImpact
    requested: Array
    delivered: Array
    penetration_number: Array
    validity: tuple[Validity, ...]

    def __str__(self) -> str:
        impact = self.impact
        lines = [
            f"{type(self.law).__name__}: {self.mass:g} kg at {self.speed:g} m/s",
            f"  peak depth {impact.peak_depth:.4g} m, peak force {impact.peak_force:.4g} N, "
            f"duration {impact.duration:.4g} s, restitution {impact.restitution:.4f}",
        ]
        for each in self.validity:
            word = "kept" if each.kept else f"NOT kept ({each.limit.reason})"
            lines.append(f"  {each.limit}: {each.value:.4g}, {word}")
        if self.requested.size:
            lines.append("  requested  delivered  penetration number")
            rows = zip(self.requested, self.delivered, self.penetration_number, strict=True)
            lines.extend(f"  {e:9.2f}  {delivered:9.4f}  {number:18.5f}" for e, delivered, number in rows)
        return "\n".join(lines)


def free_impact(
    law: NormalLaw, *, speed: float, mass: float, geometry: Mapping[str, float] | None = None
) -> FreeImpact:
    """Simulate one free impact.

    Integrated with DOP853 in units of the law's own depth, relative tolerance 1e-11.

    Parameters
    ----------
    law : NormalLaw
    speed : [m/s], > 0
    mass : [kg], > 0, effective mass of the contact
    geometry : geometric quantities that the law requires, by name [m]: ``{"clearance": 0.5e-3, ...}``

    Raises
    ------
    InputError
        For missing geometry, or numbers that are not positive.

    >>> from nonsmooth.laws import HuntCrossley
    >>> round(free_impact(HuntCrossley(stiffness=1e8, restitution=0.5), speed=1.0, mass=1.0).restitution, 4)
    0.663
    """
    numbers = _checked(law, speed, mass, geometry or {})
    return _Wall(law, tuple(numbers)).hit(numbers, speed, mass)


def law_card(
    law: NormalLaw, *, speed: float, mass: float, geometry: Mapping[str, float] | None = None,
    requested: tuple[float, ...] = REQUESTED,
) -> LawCard:  # fmt: skip
    """Simulate free impacts: with the law as given, and with the requested restitutions.

    See `free_impact` for the other parameters.

    Parameters
    ----------
    requested : restitutions, 0 < e <= 1; unused for a law that has none

    Examples
    --------
    >>> from nonsmooth.laws import Flores
    >>> card = law_card(Flores(stiffness=1e8, restitution=0.8), speed=1.0, mass=1.0, requested=(0.3, 0.8))
    >>> print(card)
    Flores: 1 kg at 1 m/s
      peak depth 0.0006291 m, peak force 1658 N, duration 0.00209 s, restitution 0.7885
      requested  delivered  penetration number
           0.30     0.2562             0.15632
           0.80     0.7885             0.39705
    """
    numbers = _checked(law, speed, mass, geometry or {})
    wall = _Wall(law, tuple(numbers))
    impact = wall.hit(numbers, speed, mass)
    asked = np.array(requested if "restitution" in law.numbers() else (), float)
    impacts = [wall.hit(numbers | {"restitution": float(e)}, speed, mass) for e in asked]
    p = SimpleNamespace(**numbers)
    k = SimpleNamespace(**{name: float(value) for name, value in law.coefficients(p).items()})
    known = numbers | {"approach": speed, "force": impact.peak_force, "depth": impact.peak_depth}
    return LawCard(
        law, speed, mass, impact, asked, np.array([each.restitution for each in impacts]),
        np.array([each.penetration_number for each in impacts]),
        tuple(Validity(limit, known[limit.quantity]) for limit in law.limits(p, k)),
    )  # fmt: skip


def _checked(law: NormalLaw, speed: float, mass: float, geometry: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(law, NormalLaw):
        raise InputError(f"law must be a normal law, as Flores(stiffness=1e10, restitution=0.8), got {law!r}.")
    for name, value in (("speed", speed), ("mass", mass), *geometry.items()):
        if not (isinstance(value, (int, float)) and 0 < value < math.inf):
            raise InputError(f"{name} must be a positive number, got {value!r}.")
    missing = [name for name in law.needs() if name not in geometry]
    if missing:
        raise InputError(f"{type(law).__name__} needs geometry: give {', '.join(missing)} [m].")
    return law.numbers() | {name: float(geometry[name]) for name in law.needs()}


class _Wall:
    """A law's functions of its numbers, compiled once."""

    def __init__(self, law: NormalLaw, names: tuple[str, ...]) -> None:
        self.law, self.names = law, names
        p = {name: ca.SX.sym(name) for name in names}
        constants = law.coefficients(SimpleNamespace(**p))
        k = {name: ca.SX.sym(name) for name in constants}
        depth, rate, approach = (ca.SX.sym(name) for name in ("depth", "rate", "approach"))
        still = ca.SX(0), ca.SX(0, 1), ca.SX(0)
        force, _, elastic, _ = Compliant(law).forces(depth, rate, approach, *still, SimpleNamespace(**k))
        self._coefficients = ca.Function("coefficients", [ca.vertcat(*p.values())], [ca.vertcat(*constants.values())])
        arguments = [depth, rate, approach, ca.vertcat(*k.values())]
        self._evaluate = Evaluator(ca.Function("forces", arguments, [ca.vertcat(force, elastic)]))

    def hit(self, numbers: Mapping[str, float], speed: float, mass: float) -> FreeImpact:
        """One impact; lengths in the depth at which force times depth is m v^2, speeds in that of approach."""
        from scipy.integrate import solve_ivp
        from scipy.optimize import brentq

        k = np.array(self._coefficients([numbers[name] for name in self.names]), float).ravel()
        energy = mass * speed**2
        # the integrator refers to itself, and must not own functions of CasADi
        evaluate = weakref.proxy(self._evaluate)

        def forces(depth: float, rate: float) -> Array:
            values: Array = evaluate(depth, rate, speed, k)[0]
            return values

        def excess(logarithm: float) -> float:
            depth = 10.0**logarithm
            return math.log(max(forces(depth, 0.0)[1] * depth, 1e-300) / energy)

        unit = 10.0 ** brentq(excess, -25.0, 10.0)

        def motion(_: float, y: Array) -> tuple[float, float, float]:
            force, elastic = forces(max(y[0], 0.0) * unit, y[1] * speed)
            return y[1], -force * unit / energy, elastic * y[1] * unit / energy

        def parts(_: float, y: Array) -> float:
            return float(y[0])

        parts.terminal, parts.direction = True, -1.0  # type: ignore[attr-defined]
        found = solve_ivp(
            motion, (0.0, LONGEST), (0.0, 1.0, 0.0), "DOP853", dense_output=True, events=(parts, lambda _, y: y[1]),
            rtol=RELATIVE, atol=ABSOLUTE,
        )  # fmt: skip
        parted = bool(found.t_events[0].size)
        time = np.union1d(np.linspace(0.0, found.t[-1], SAMPLES), found.t_events[1][:1])
        x, w, _ = found.sol(time)
        force = np.array([forces(max(a, 0.0) * unit, b * speed)[0] for a, b in zip(x, w, strict=True)])
        return FreeImpact(
            time * unit / speed, np.maximum(x, 0.0) * unit, w * speed, force,
            restitution=max(-float(found.y[1, -1]), 0.0) if parted else 0.0,
            penetration_number=float(found.y_events[1][0][2]) if found.y_events[1].size else float(found.y[2, -1]),
        )  # fmt: skip
