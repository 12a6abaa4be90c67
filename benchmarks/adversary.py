"""Attacks on verdicts, by events much shorter than a run and forces that do not exist.

``python -m benchmarks.adversary`` draws seeded cases with a closed form: a blow on a free body as a `Table`, as a
condition on time or as a smooth function; a bar whose tip meets a peg once per turn; a disc that passes another one,
perhaps grazing it; a rod that slides on its tip and a brake, with or without a consistent contact force. Blows, pegs,
passing balls and rods are drawn in space too, and blows, pegs and passing bodies with compliant contact, in the plane
and in space; these are compared with an independent integration of the contact. Further kinds are fragments: a body
that is hammered in guides of many gaps, driven by a pulse times its velocity, or pushed in periodic windows of time; a
bar that spins fast and drifts to a wall; and others. A *combination* is a model of several of them that do not touch,
in drawn units, about a drawn origin and in a drawn direction. Two equal discs exchange their velocities between walls;
equal boxes rest on each other; the peak force of a ball that falls may have an error of 1.5 times the one that is
claimed. A case is *right* if its result has an error below 1 % and its verdict is clean (accurate), *cautious* if only
the former, *said* if the error is larger and the verdict is not clean, and a *clean lie* if it is.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from rich.console import Console
from rich.table import Table as Rows
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from nonsmooth import (
    CircleCircle,
    CirclePlane,
    Compliant,
    CompliantDae,
    ErrorControl,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Load,
    Model,
    MoreauJean,
    PlanarBody,
    PointBox,
    PointForce,
    PointPlane,
    Prismatic,
    PrismaticClearance,
    Revolute,
    Rigid,
    SimulationFailed,
    SpatialBody,
    SpatialPrismaticClearance,
    SphereSphere,
    Spherical,
    Table,
    Torque,
    Trajectory,
    simulate,
)
from nonsmooth.laws import Flores, Hertz, HuntCrossley, KelvinVoigt, LankaraniNikravesh
from nonsmooth.solvers import Radau

#: error below which a result is right
RIGHT = 0.01
#: longest step of independent integrations, as a share of the time in which a body moves by the depth of its contact
SHORT = 0.02
#: seconds after which a run is given up
PATIENCE = 20.0
#: calls: name, stepper and steps of a run of 1 s with `check=True`; without them they are chosen
CALLS: tuple[tuple[str, Any, Any], ...] = (
    ("default", None, None),
    ("GaussQP, Landing(1e-6, 1e-3)", GaussQP(), Landing(1e-6, 1e-3)),
    ("MoreauJean, 1e-3", MoreauJean(), 1e-3),
    ("GeneralizedAlpha, 1e-3", GeneralizedAlpha(), 1e-3),
)
#: the same for compliant contact
COMPLIANT: tuple[tuple[str, Any, Any], ...] = (
    ("default", None, None),
    ("CompliantDae, 1e-6", CompliantDae(), ErrorControl(1e-6)),
    ("CompliantDae with Radau, 1e-6", CompliantDae(solver=Radau()), ErrorControl(1e-6)),
)


@dataclass(frozen=True)
class Case:
    """A mechanism, the length of its run [s], and the error of a run, 1 being as large as the result itself."""

    model: Model
    t_end: float
    error: Callable[[Trajectory], float]


def _blow(force: Callable[[Any], Any], at: float, mass: float) -> Case:
    """A blow of 1 N s at a time on a free body."""
    body = PlanarBody("b", mass=mass, inertia=1.0)
    model = Model([Ground(), body, PointForce("blow", "b", force=lambda t: (force(t), 0.0))])

    def error(run: Trajectory) -> float:
        v, x = float(run.v["b.x"][-1]), float(run.q["b.x"][-1])
        return max(abs(v * mass - 1.0), abs(x * mass / (1.0 - at) - 1.0))

    return Case(model, 1.0, error)


def _drawn(random: np.random.Generator) -> tuple[float, float, float]:
    """Time, half width and mass."""
    return random.uniform(0.2, 0.8), 10.0 ** random.uniform(-7.0, -1.5), 10.0 ** random.uniform(-1.0, 1.0)


def _smooth(random: np.random.Generator, at: float, width: float) -> Callable[[Any], Any]:
    """A smooth function of time whose integral is 1, in one of several forms."""
    forms: tuple[Callable[[Any], Any], ...] = (
        lambda t: np.exp(-(((t - at) / width) ** 2)) / (width * np.sqrt(np.pi)),
        lambda t: 0.5 / (width * np.cosh((t - at) / width) ** 2),
        lambda t: (np.tanh((t - at) / width + 1.0) - np.tanh((t - at) / width - 1.0)) / (4.0 * width),
        lambda t: (
            np.exp((np.cos(2.0 * np.pi * (t - at)) - 1.0) / (2.0 * np.pi * width) ** 2) / (width * np.sqrt(2.0 * np.pi))
        ),
        lambda t: 2.0 / (np.pi * width * (1.0 + ((t - at) / width) ** 2) ** 2),
    )
    return forms[random.integers(len(forms))]


def table(random: np.random.Generator) -> Case:
    """A triangle through nodes of a table."""
    at, width, mass = _drawn(random)
    blow = Table(times=(0.0, at - width, at, at + width, 1.0), values=(0.0, 0.0, 1.0 / width, 0.0, 0.0))
    return _blow(blow, at, mass)


def condition(random: np.random.Generator) -> Case:
    """A constant force for a short time, by a condition on time in one of several forms."""
    at, width, mass = _drawn(random)
    forms: tuple[Callable[[Any], Any], ...] = (
        lambda t: ca.fabs(t - at) < width,
        lambda t: (t - at) ** 2 < width**2,
        lambda t: ca.logic_and(t >= at - width, t < at + width),
    )
    holds = forms[random.integers(len(forms))]
    return _blow(lambda t: ca.if_else(holds(t), 0.5 / width, 0.0), at, mass)


def smooth(random: np.random.Generator) -> Case:
    """A smooth force."""
    at, width, mass = _drawn(random)
    return _blow(_smooth(random, at, width), at, mass)


def peg(random: np.random.Generator) -> Case:
    """A bar that turns about a pin, whose tip meets a small peg and turns back, elastically."""
    radius, speed = 10.0 ** random.uniform(-6.5, -1.5), 10.0 ** random.uniform(0.5, 2.0)
    angle, offset = random.uniform(0.5, 3.0), random.uniform(0.2, 1.2)
    at = 1.0 + offset * radius
    law = Rigid(restitution=1.0, friction=0.0)
    begun = {"velocity": (0.0, 0.5 * speed), "angular_velocity": speed}
    model = Model([
        Ground(),
        PlanarBody("p", mass=1.0, inertia=1 / 12, position=(0.5, 0.0), **begun),
        Revolute("j", "ground", "p", at_b=(-0.5, 0.0)),
        CircleCircle(
            "c", "ground", "p", at_a=(at * np.cos(angle), at * np.sin(angle)), at_b=(0.5, 0.0), radius_a=radius,
            radius_b=radius, contact=law,
        ),
    ])  # fmt: skip
    half = np.arccos((1.0 + at**2 - 4.0 * radius**2) / (2.0 * at))
    times = (angle - half) / speed + np.arange(100) * (2.0 * np.pi - 2.0 * half) / speed
    times = times[times < 1.0]

    def error(run: Trajectory) -> float:
        found = np.unique(run.impacts["t"])
        if found.size != times.size:
            return 1.0
        return float(np.max(np.abs(found - times), initial=0.0)) * speed / (2.0 * np.pi)

    return Case(model, 1.0, error)


def grazing(random: np.random.Generator) -> Case:
    """A fast disc that passes a fixed one and is deflected elastically, or passes by."""
    radius, speed, at = 10.0 ** random.uniform(-3.0, -1.0), 10.0 ** random.uniform(0.0, 3.0), random.uniform(0.1, 0.9)
    sine = random.uniform(0.3, 1.1)
    body = PlanarBody(
        "p", mass=1.0, inertia=0.5 * radius**2, position=(-at * speed, 2.0 * radius * sine), velocity=(speed, 0.0)
    )
    law = Rigid(restitution=1.0, friction=0.0)
    model = Model([Ground(), body, CircleCircle("c", "ground", "p", radius_a=radius, radius_b=radius, contact=law)])
    turn = 0.0 if sine >= 1.0 else np.pi - 2.0 * np.arcsin(sine)

    def error(run: Trajectory) -> float:
        v = np.array([run.v["p.x"][-1], run.v["p.y"][-1]]) / speed
        return float(np.linalg.norm(v - (np.cos(turn), np.sin(turn))))

    return Case(model, 1.0, error)


def rod(random: np.random.Generator) -> Case:
    """A rod that slides on its tip: the contact force at once, which does not exist in Painleve's paradox."""
    angle, friction, speed = random.uniform(0.6, 1.4), random.uniform(0.1, 2.0), random.uniform(1.0, 5.0)
    law = Rigid(restitution=0.0, friction=friction)
    body = PlanarBody("b", mass=1.0, inertia=1 / 3, position=(0.0, np.sin(angle)), angle=angle, velocity=(-speed, 0.0))
    tip = PointPlane("tip", "ground", "b", at_b=(-1.0, 0.0), contact=law)
    model = Model([Ground(), body, tip, Gravity(acceleration=(0.0, -10.0))])
    cosine, sine = np.cos(angle), np.sin(angle)
    # gap acceleration: inverse mass times force, less gravity
    inverse = 1.0 + 3.0 * cosine * (cosine - friction * sine)
    return Case(model, 0.01, _force_at_once("tip", 10.0 / inverse))


def brake(random: np.random.Generator) -> Case:
    """A block that slides under an arm, which is pressed against it and jams if friction times the height of its pin
    exceeds the distance of its tip: the contact force at once, which does not exist then."""
    lever, height = random.uniform(0.05, 1.0, size=2)
    speed, mass, torque = random.uniform(0.5, 5.0), 10.0 ** random.uniform(-1.0, 1.0), random.uniform(1.0, 10.0)
    friction = random.uniform(0.2, 2.0) * lever / height
    law = Rigid(restitution=0.0, friction=friction)
    model = Model([
        Ground(),
        PlanarBody("block", mass=mass, inertia=1.0, velocity=(speed, 0.0)),
        PlanarBody("arm", mass=0.3, inertia=0.1, position=(0.0, height)),
        Prismatic("slide", "ground", "block"),
        Revolute("pin", "ground", "arm", at_a=(0.0, height)),
        Torque("press", "arm", torque=torque),
        PointPlane("tip", "block", "arm", at_b=(-lever, -height), contact=law),
    ])  # fmt: skip
    return Case(model, 1e-4, _force_at_once("tip", torque / (lever - friction * height)))


def rod_in_space(random: np.random.Generator) -> Case:
    """The same as a rod, of a body with its moment of inertia about all axes, in any direction."""
    angle, friction, speed = random.uniform(0.6, 1.4), random.uniform(0.1, 2.0), random.uniform(1.0, 5.0)
    heading, cosine, sine = random.uniform(0.0, 6.0), np.cos(angle), np.sin(angle)
    way = np.array([np.cos(heading), np.sin(heading)])
    law = Rigid(restitution=0.0, friction=friction)
    body = SpatialBody("b", mass=1.0, inertia=(1 / 3,) * 3, position=(0, 0, sine), velocity=(*(-speed * way), 0.0))
    tip = PointPlane("tip", "ground", "b", normal=(0, 0, 1), at_b=(*(-cosine * way), -sine), contact=law)
    model = Model([Ground(), body, tip, Gravity(acceleration=(0.0, 0.0, -10.0))])
    inverse = 1.0 + 3.0 * cosine * (cosine - friction * sine)
    return Case(model, 0.01, _force_at_once("tip", 10.0 / inverse))


def _force_at_once(contact: str, force: float) -> Callable[[Trajectory], float]:
    """Of a contact in the first step; if it is not positive there is none, and whatever is certified is a lie."""
    return lambda run: float(abs(run.lam_N[contact][1] / force - 1.0)) if force > 0.0 else 1.0


# ------------------------------------------------------------------------------------------- in space, and compliant


def _frame(random: np.random.Generator, dimension: int) -> Any:
    """Two orthonormal vectors, in any directions in space."""
    if dimension == 2:
        return np.eye(2)
    return np.linalg.qr(random.normal(size=(3, 3)))[0].T[:2]


def _blown(random: np.random.Generator, dimension: int, compliant: bool) -> Case:
    """A blow of 1 N s on a free body in some direction, as one of the forms of the kinds above."""
    at, width, mass = _drawn(random)
    way = _frame(random, dimension)[0]
    forms: tuple[Callable[[Any], Any], ...] = (
        Table(times=(0.0, at - width, at, at + width, 1.0), values=(0.0, 0.0, 1.0 / width, 0.0, 0.0)),
        lambda t: ca.if_else(ca.fabs(t - at) < width, 0.5 / width, 0.0),
        _smooth(random, at, width),
    )
    force = forms[random.integers(len(forms))]
    load = PointForce("blow", "b", force=lambda t: tuple(float(entry) * force(t) for entry in way))
    if dimension == 2:
        parts: list[Any] = [Ground(), PlanarBody("b", mass=mass, inertia=1.0), load]
        far: Any = CirclePlane("far", "ground", "b", radius=0.1, at_a=(0.0, -99.0), contact=_hertz(1e5))
    else:
        parts = [Ground(), SpatialBody("b", mass=mass, inertia=(1.0, 1.0, 1.0)), load]
        far = SphereSphere("far", "ground", "b", radius_a=1.0, radius_b=1.0, at_a=(0, 0, 99.0), contact=_hertz(1e5))
    if compliant:
        parts.append(far)

    def error(run: Trajectory) -> float:
        v, x = (_vector(table, "b", dimension) @ way * mass for table in (run.v, run.q))
        return float(max(abs(v - 1.0), abs(x / (1.0 - at) - 1.0)))

    return Case(Model(parts), 1.0, error)


def _vector(table: Any, body: str, dimension: int) -> Any:
    """Position or velocity of a body at the end."""
    return np.array([table[f"{body}.{axis}"][-1] for axis in "xyz"[:dimension]])


def _hertz(stiffness: float) -> Compliant:
    return Compliant(Hertz(stiffness=stiffness))


def _pair(dimension: int, at_a: Any, at_b: Any, radius: float, law: Any) -> Any:
    pair = CircleCircle if dimension == 2 else SphereSphere
    at = {"at_a": tuple(map(float, at_a)), "at_b": tuple(map(float, at_b))}
    return pair("c", "ground", "p", radius_a=radius, radius_b=radius, contact=law, **at)


def _body(dimension: int, inertia: float, position: Any, velocity: Any, spin: Any) -> Any:
    if dimension == 2:
        return PlanarBody(
            "p", mass=1.0, inertia=inertia, position=tuple(position), velocity=tuple(velocity),
            angular_velocity=float(spin),
        )  # fmt: skip
    return SpatialBody(
        "p", mass=1.0, inertia=(inertia,) * 3, position=tuple(position), velocity=tuple(velocity),
        angular_velocity=tuple(spin),
    )  # fmt: skip


def _passing(random: np.random.Generator, dimension: int, compliant: bool) -> Case:
    """A fast disc or ball that passes a fixed one and is deflected elastically, or passes by."""
    radius, speed, at = 10.0 ** random.uniform(-3.0, -1.0), 10.0 ** random.uniform(0.0, 3.0), random.uniform(0.1, 0.9)
    sine, depth = random.uniform(0.3, 1.1), radius * 10.0 ** random.uniform(-3.0, -1.0)
    along, across = _frame(random, dimension)
    stiffness = 1.25 * speed**2 / depth**2.5
    law = _hertz(stiffness) if compliant else Rigid(restitution=1.0, friction=0.0)
    begin = np.array([-at * speed, 2.0 * radius * sine])
    spin = 0.0 if dimension == 2 else np.zeros(3)
    body = _body(dimension, radius**2, begin @ (along, across), speed * along, spin)
    model = Model([Ground(), body, _pair(dimension, np.zeros(dimension), np.zeros(dimension), radius, law)])
    v = np.array([speed, 0.0])
    if sine < 1.0 and not compliant:
        turn = np.pi - 2.0 * np.arcsin(sine)
        v = speed * np.array([np.cos(turn), np.sin(turn)])
    elif sine < 1.0:
        met = np.array([-2.0 * radius * np.sqrt(1.0 - sine**2), 2.0 * radius * sine])
        v = _scattered(met, v, 2.0 * radius, stiffness, SHORT * depth / speed)

    def error(run: Trajectory) -> float:
        return float(np.linalg.norm(_vector(run.v, "p", dimension) - v @ (along, across))) / speed

    return Case(model, 1.0, error)


def _scattered(x: Any, v: Any, reach: float, stiffness: float, step: float) -> Any:
    """Velocity of a body of mass 1 after its contact with a fixed centre, which it meets at x with v."""

    def rates(_: float, y: Any) -> Any:
        far = np.linalg.norm(y[:2])
        return np.concatenate([y[2:], stiffness * max(reach - far, 0.0) ** 1.5 * y[:2] / far])

    def leaves(_: float, y: Any) -> float:
        return float(np.linalg.norm(y[:2]) - reach * (1.0 + 1e-12))

    leaves.terminal, leaves.direction = True, 1.0  # type: ignore[attr-defined]
    most = 10.0 * reach / float(np.linalg.norm(v))
    found = solve_ivp(rates, (0.0, most), [*x, *v], "DOP853", rtol=1e-10, atol=1e-14, events=leaves, max_step=step)
    return found.y[2:, -1]


def _pegged(random: np.random.Generator, dimension: int, compliant: bool) -> Case:
    """A bar that turns about a pin or a ball joint, whose tip meets a small peg and turns back, elastically."""
    radius, speed = 10.0 ** random.uniform(-4.5, -2.5), 10.0 ** random.uniform(0.5, 2.0)
    angle, offset = random.uniform(0.5, 3.0), random.uniform(0.2, 1.2)
    along, across = _frame(random, dimension)
    at, depth = 1.0 + offset * radius, radius * 10.0 ** random.uniform(-3.0, -1.0)
    stiffness = 1.25 * (speed**2 / 3.0) / depth**2.5
    law = _hertz(stiffness) if compliant else Rigid(restitution=1.0, friction=0.0)
    spin = speed if dimension == 2 else speed * np.cross(along, across)
    joint = Revolute if dimension == 2 else Spherical
    peg = at * (np.cos(angle) * along + np.sin(angle) * across)
    model = Model([
        Ground(),
        _body(dimension, 1 / 12, 0.5 * along, 0.5 * speed * across, spin),
        joint("j", "ground", "p", at_b=tuple(-0.5 * along)),
        _pair(dimension, peg, 0.5 * along, radius, law),
    ])  # fmt: skip
    half = float(np.arccos((1.0 + at**2 - 4.0 * radius**2) / (2.0 * at)))
    contact = _turning_back(half, speed, at, 2.0 * radius, stiffness, SHORT * depth / speed) if compliant else None
    turned = angle + _turned(half, speed, (angle - half) / speed, contact)
    end = 0.5 * (np.cos(turned) * along + np.sin(turned) * across)

    def error(run: Trajectory) -> float:
        return float(np.linalg.norm(_vector(run.q, "p", dimension) - end)) / 0.5

    return Case(model, 1.0, error)


def _turning_back(half: float, speed: float, at: float, reach: float, stiffness: float, step: float) -> Any:
    """Angle from the peg of a bar that meets it from below, as a function of time until it is free again."""

    def rates(_: float, y: Any) -> Any:
        far = np.sqrt((at - 1.0) ** 2 + 4.0 * at * np.sin(0.5 * y[0]) ** 2)  # without cancellation
        push = stiffness * max(reach - far, 0.0) ** 1.5
        return [y[1], 3.0 * push * at * np.sin(y[0]) / far]

    def leaves(_: float, y: Any) -> float:
        return float(-y[0] - half * (1.0 + 1e-12))

    leaves.terminal, leaves.direction = True, 1.0  # type: ignore[attr-defined]
    return solve_ivp(
        rates, (0.0, 10.0 * half / speed), [-half, speed], "DOP853", rtol=1e-10, atol=1e-15, events=leaves,
        max_step=step, dense_output=True,
    )  # fmt: skip


def _turned(half: float, speed: float, first: float, contact: Any) -> float:
    """Angle from the peg at 1 s, with the first contact at a time, if each contact turns the motion back."""
    lasts, free, t, below = (
        0.0 if contact is None else float(contact.t[-1]),
        (2.0 * np.pi - 2.0 * half) / speed,
        first,
        True,
    )
    if t > 1.0:
        return -half - speed * (t - 1.0)
    while t + lasts + free <= 1.0:
        t, below = t + lasts + free, not below
    side = 1.0 if below else -1.0
    if t + lasts > 1.0:
        return float(side * contact.sol(1.0 - t)[0])
    return side * (-half - speed * (1.0 - t - lasts))


# --------------------------------------------------------------------------------------- fragments and combinations


#: a force of time of about 1 N s in 1 s, and the times between which it is smooth
Pulse = tuple[Callable[[Any], Any], Any]


def _triangles(random: np.random.Generator) -> Pulse:
    """Up to 20 triangles through nodes of a table."""
    number = int(random.integers(1, 20))
    width = 10.0 ** random.uniform(-7.0, -1.5) / number
    middles = 0.1 + 0.8 * (np.arange(number) + random.uniform(0.2, 0.8, number)) / number
    times = np.array([0.0, *np.ravel(middles[:, None] + width * np.array([-1.0, 0.0, 1.0])), 1.0])
    values = np.zeros(times.size)
    values[2:-1:3] = random.uniform(0.2, 1.8, number) / (number * width)
    return Table(times=tuple(times), values=tuple(values)), times


def _single(random: np.random.Generator) -> Pulse:
    """A constant force for a short time, or a Gaussian."""
    at, width, _ = _drawn(random)
    forms: tuple[Callable[[Any], Any], ...] = (
        lambda t: ca.if_else(ca.logic_and(t > at - width, t < at + width), 0.5 / width, 0.0),
        lambda t: np.exp(-(((t - at) / width) ** 2)) / (width * np.sqrt(np.pi)),
    )
    times = np.array([0.0, *np.clip(at + width * np.linspace(-6.0, 6.0, 25), 0.0, 1.0), 1.0])
    return forms[random.integers(len(forms))], times


def _periodic(random: np.random.Generator) -> Pulse:
    """A constant force for a part of each period, by a condition on time in one of several forms."""
    period = 10.0 ** random.uniform(-2.0, -0.5)
    on, phase = period * 10.0 ** random.uniform(-4.0, -0.3), period * random.uniform()
    forms: tuple[Callable[[Any], Any], ...] = (
        lambda t: ca.fmod(t + phase, period) < on,
        lambda t: t + phase - period * ca.floor((t + phase) / period) < on,
        lambda t: ca.floor((t + phase) / period) > ca.floor((t + phase - on) / period),
        lambda t: ca.cos(2.0 * np.pi * (t + phase - 0.5 * on) / period) > np.cos(np.pi * on / period),
    )
    holds, begin = forms[random.integers(len(forms))], np.arange(0.0, 1.0 + 2.0 * period, period) - phase
    times = np.sort(np.clip([0.0, *begin, *(begin + on), 1.0], 0.0, 1.0))
    return lambda t: ca.if_else(holds(t), period / on, 0.0), times


def _travelled(pulse: Pulse, of: Callable[[Any], Any]) -> float:
    """Integral over 1 s of a function of the impulse until then, by the midpoints of 200 intervals between times."""
    (force, times), t = pulse, ca.SX.sym("t")
    steps = np.repeat(np.diff(times) / 200.0, 200)
    middles = np.repeat(times[:-1], 200) + steps * np.tile(np.arange(200) + 0.5, times.size - 1)
    impulses = steps * np.ravel(ca.Function("force", [t], [force(t)])(middles[None]))
    return float(np.sum(of(np.cumsum(impulses) - 0.5 * impulses) * steps))


@dataclass(frozen=True)
class World:
    """Units of length and mass, an origin and two directions, in which fragments of a model are placed."""

    length: float
    mass: float
    origin: Any
    along: Any
    across: Any

    @property
    def angle(self) -> float:
        """Of the first direction, and of bodies in the plane; bodies in space have the axes of the ground."""
        return float(np.arctan2(self.along[1], self.along[0]))

    def way(self, x: float, y: float) -> Any:
        return self.length * (x * self.along + y * self.across)

    def body(self, name: str, x: float, y: float, u: float = 0.0, v: float = 0.0, spin: float = 0.0) -> Any:
        """Of a unit of mass, with a moment of inertia of 0.01 about all axes, at (x, y) with velocity (u, v)."""
        inertia = 0.01 * self.mass * self.length**2
        given: dict[str, Any] = {"mass": self.mass, "position": tuple(self.origin + self.way(x, y))}
        given["velocity"] = tuple(self.way(u, v))
        if self.origin.size == 2:
            return PlanarBody(name, inertia=inertia, angle=self.angle, angular_velocity=spin, **given)
        turns = tuple(spin * np.cross(self.along, self.across))
        return SpatialBody(name, inertia=(inertia,) * 3, angular_velocity=turns, **given)

    def force(self, name: str, x: float, y: float, of: Callable[[Any], Any] = lambda t: 1.0) -> Any:
        """On a body, constant or as a function of time."""
        vector = self.mass * self.way(x, y)
        return PointForce(f"{name} force", name, force=lambda t: tuple(float(one) * of(t) for one in vector))

    def wall(
        self, name: str, body: str, e: Any, mu: Any = 0.0, x: Any = 0.0, n: Any = (0, 1), tip: Any = (0, 0)
    ) -> Any:
        """Through (x, 0), with a normal, for a point of a body."""
        at, n, contact = self.origin + self.way(x, 0.0), self.way(*n) / self.length, Rigid(restitution=e, friction=mu)
        given: dict[str, Any] = {"at_a": tuple(at), "contact": contact, "size": 0.01 * self.length}
        if n.size == 2:
            tip = self.length * np.array(tip)
            return PointPlane(name, "ground", body, at_b=tuple(tip), direction=float(np.arctan2(-n[0], n[1])), **given)
        return PointPlane(name, "ground", body, at_b=tuple(self.way(*tip)), normal=tuple(n), **given)

    def guides(self, name: str, number: int, clearance: float) -> list[Any]:
        """Along the first direction, for one body, each of 4 gaps, in space of 16."""
        given: dict[str, Any] = {"contact": Rigid(restitution=0.0, friction=0.0), "at_guide": tuple(self.origin)}
        given |= {"length": 0.2 * self.length, "height": 0.1 * self.length, "clearance": clearance * self.length}
        kind: Any = PrismaticClearance
        if self.origin.size == 2:
            given["direction"] = self.angle
        else:
            kind, given["width"] = SpatialPrismaticClearance, 0.1 * self.length
            for one in ("guide", "slider"):
                given |= {f"axis_{one}": tuple(self.along), f"across_{one}": tuple(self.across)}
        return [kind(f"{name} guide {i}", "ground", name, **given) for i in range(number)]

    def off(self, run: Trajectory, body: str, x: float, y: float = 0.0) -> float:
        """Distance of a body at the end from where it should be."""
        error = _vector(run.q, body, self.origin.size) - self.origin - self.way(x, y)
        return float(np.linalg.norm(error)) / self.length


def _world(random: np.random.Generator, dimension: int) -> World:
    """A drawn one."""
    angle = random.choice([0.0, 0.5 * np.pi, np.pi, random.uniform(0.0, 6.0)])
    along, across = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    if dimension == 3:
        along, across = _frame(random, 3)
    length, mass = 10.0 ** random.uniform(-3.0, 3.0, size=2)
    origin = length * 10.0 ** random.uniform(-1.0, 2.0) * random.normal(size=dimension)
    return World(length, mass, origin, along, across)


#: elements of a mechanism in a world, of a body of this name, and the error of a run
Fragment = tuple[list[Any], Callable[[Trajectory], float]]


def _pushed(world: World, name: str, pulse: Pulse, guides: int, clearance: float, growth: float = 0.0) -> Fragment:
    """A body in guides, pushed along them by a pulse, or by its velocity times a pulse if that has a growth."""
    force, speed = pulse[0], 0.5 if growth else 0.0
    end = _travelled(pulse, (lambda impulse: 0.5 * np.exp(growth * impulse)) if growth else np.array)

    def times_velocity(t: Any, a: Any, b: Any, p: Any) -> Any:
        return tuple(growth * world.mass * force(t) * b.velocity[i] for i in range(world.origin.size))

    push: Any = Load(f"{name} force", "ground", name, force=times_velocity) if growth else None
    parts = [world.body(name, 0.0, 0.0, speed), push or world.force(name, 1.0, 0.0, force)]
    # 1 % of the way, and in guides a tenth of their clearance
    scale = min(end, 10.0 * clearance) if guides else end
    return [*parts, *world.guides(name, guides, clearance)], lambda run: world.off(run, name, end) / scale


def hammered(random: np.random.Generator, world: World, name: str) -> Fragment:
    """A body in guides of 28 or 32 gaps, pushed by short pulses."""
    pulse = (_triangles, _single)[random.integers(2)](random)
    return _pushed(world, name, pulse, 7 if world.origin.size == 2 else 2, 10.0 ** random.uniform(-5.0, -3.0))


def windows(random: np.random.Generator, world: World, name: str) -> Fragment:
    """A free body, or one in a guide, that is pushed for a part of each period."""
    return _pushed(world, name, _periodic(random), int(random.integers(2)), 1e-4)


def driven(random: np.random.Generator, world: World, name: str) -> Fragment:
    """A body in guides or none, with a force that is its velocity times a pulse."""
    pulse = (_triangles, _single, _periodic)[random.integers(3)](random)
    guides = random.choice([0, 1, 7 if world.origin.size == 2 else 2])
    return _pushed(world, name, pulse, int(guides), 1e-4, random.uniform(-3.0, 3.0))


def spinning(random: np.random.Generator, world: World, name: str) -> Fragment:
    """A bar of length 0.2 that spins and drifts to a wall, which its ends meet without friction."""
    speed, spin, turned = random.uniform(0.05, 0.5), 10.0 ** random.uniform(1.5, 4.0), random.uniform(0.0, np.pi)
    e, y = random.choice([0.5, 1.0]), 0.1 + speed * random.uniform(0.1, 0.9)
    end = np.array([np.cos(turned), np.sin(turned)]) * 0.1
    parts = [world.body(name, 0.0, y, 0.0, -speed, spin)]
    parts += [world.wall(f"{name} end {i}", name, e, tip=side * end) for i, side in enumerate((-1.0, 1.0))]
    y = _after_contacts(y, -speed, turned, spin, e)
    return parts, lambda run: world.off(run, name, 0.0, y)


def _after_contacts(y: float, v: float, turned: float, spin: float, e: float, left: float = 1.0) -> float:
    """Height of such a bar at the end."""
    step = min(2e-3 / abs(spin), 1e-4)
    times = step * np.arange(1.0, left / step)

    def gap(t: Any) -> Any:
        return y + v * t - 0.1 * np.abs(np.sin(turned + spin * t))

    below = times[gap(times) < 0.0]
    if not below.size:
        return y + v * left
    t = brentq(gap, below[0] - step, below[0], xtol=1e-16)
    arm = -0.1 * np.sign(np.sin(turned + spin * t)) * np.cos(turned + spin * t)
    impulse = -(1.0 + e) * (v + spin * arm) / (1.0 + arm**2 / 0.01)
    return _after_contacts(y + v * t, v + impulse, turned + spin * t, spin + impulse * arm / 0.01, e, left - t)


def bouncing(random: np.random.Generator, world: World, name: str) -> Fragment:
    """A point that falls on a floor of its own, and rests in the end or bounces for ever."""
    y, g, e = random.uniform(0.1, 1.0), random.uniform(1.0, 20.0), random.choice([1.0, random.uniform(0.3, 0.9)])
    parts = [world.body(name, 0.0, y), world.force(name, 0.0, -g), world.wall(f"{name} floor", name, e)]
    left, v = 1.0 - np.sqrt(2.0 * y / g), e * np.sqrt(2.0 * g * y)
    while v > 1e-9 and left > 2.0 * v / g:
        left, v = left - 2.0 * v / g, e * v
    end = y - 0.5 * g if left < 0.0 else max(v * left - 0.5 * g * left**2, 0.0)
    return parts, lambda run: world.off(run, name, 0.0, end)


def shuttling(random: np.random.Generator, world: World, name: str) -> Fragment:
    """A point between two elastic walls."""
    x, u = random.uniform(0.1, 0.9), 10.0 ** random.uniform(0.0, 2.0)
    walls = [world.wall(f"{name} wall {at}", name, 1.0, x=at, n=(1.0 - 2.0 * at, 0.0)) for at in (0, 1)]
    end = 1.0 - abs((x + u) % 2.0 - 1.0)
    return [world.body(name, x, 0.0, u), *walls], lambda run: world.off(run, name, end)


def sliding(random: np.random.Generator, world: World, name: str) -> Fragment:
    """A point that slides on a floor of its own until it sticks."""
    u, g, mu = random.uniform(0.2, 3.0), random.uniform(1.0, 20.0), random.uniform(0.05, 1.0)
    floor = world.wall(f"{name} floor", name, 0.0, mu)
    parts = [world.body(name, 0.0, 0.0, u), world.force(name, 0.0, -g), floor]
    t = min(u / (mu * g), 1.0)
    end = u * t - 0.5 * mu * g * t**2
    return parts, lambda run: world.off(run, name, end) / end


FRAGMENTS = (hammered, windows, driven, spinning, bouncing, shuttling, sliding)


def _placed(fragments: list[Fragment]) -> Case:
    """Fragments as one model, of 1 s; the error is the largest of theirs."""
    parts = [part for parts, _ in fragments for part in parts]
    return Case(Model([Ground(), *parts]), 1.0, lambda run: max(error(run) for _, error in fragments))


def _alone(fragment: Callable[..., Fragment]) -> Callable[[np.random.Generator], Case]:
    def kind(random: np.random.Generator) -> Case:
        dimension = int(random.integers(2, 4))  # SI units and the axes of the ground
        world = World(1.0, 1.0, np.zeros(dimension), *np.eye(dimension)[:2])
        return _placed([fragment(random, world, "b")])

    kind.__name__ = fragment.__name__
    return kind


def combination(random: np.random.Generator) -> Case:
    """Two to four fragments in one model, which do not touch."""
    world, number = _world(random, int(random.integers(2, 4))), int(random.integers(2, 5))
    drawn = random.integers(len(FRAGMENTS), size=number)
    worlds = [replace(world, origin=world.origin + world.way(0.0, 3.0 * i)) for i in range(number)]
    return _placed([FRAGMENTS[one](random, worlds[i], f"b{i}") for i, one in enumerate(drawn)])


# --------------------------------------------------------------------------------------------- rows, stacks and balls


def discs(random: np.random.Generator) -> Case:
    """Two equal elastic discs on a line between walls, which exchange their velocities."""
    world = replace(_world(random, 2), length=1.0, origin=np.zeros(2))
    a, b = 0.01 * np.sort(random.choice(np.arange(6, 94, 12), 2, replace=False))
    u, t_end = random.uniform(0.5, 2.0), 20.0 ** random.uniform()
    law = Rigid(restitution=1.0, friction=0.0)
    far, turn = tuple(world.way(1.0, 0.0)), world.angle + 0.5 * np.pi
    model = Model([
        Ground(),
        world.body("a", a, 0.0, u),
        world.body("b", b, 0.0),
        CirclePlane("left", "ground", "a", direction=turn - np.pi, radius=0.05, contact=law),
        CirclePlane("right", "ground", "b", at_a=far, direction=turn, radius=0.05, contact=law),
        CircleCircle("c", "a", "b", radius_a=0.05, radius_b=0.05, contact=law),
    ])  # fmt: skip
    # points of width 0 that pass through each other between walls at a distance of 0.8; the left one stays the left one
    ends = np.sort([0.8 - abs((a - 0.05 + u * t_end) % 1.6 - 0.8), b - 0.15])
    return Case(model, t_end, lambda run: max(world.off(run, "a", ends[0] + 0.05), world.off(run, "b", ends[1] + 0.15)))


def stack(random: np.random.Generator) -> Case:
    """Up to four equal boxes, which rest on a fixed one and on each other, with corners above corners."""
    side, number = 10.0 ** random.uniform(-2.0, 1.0), int(random.integers(1, 5))
    law = Rigid(restitution=random.choice([0.0, random.uniform()]), friction=random.choice([0.0, random.uniform()]))
    both = bool(random.integers(2))  # corners of the upper box only, or of both
    parts: list[Any] = [Ground(), Gravity(acceleration=(0.0, -9.81))]
    names = ("ground", *(f"box {i}" for i in range(number)))
    for i, (below, above) in enumerate(zip(names, names[1:], strict=False)):
        parts.append(PlanarBody(above, mass=1.0, inertia=side**2 / 6.0, position=(0.0, (i + 1.0) * side)))
        given = {"width": side, "height": side, "contact": law, "size": side / 10.0}
        for end, x in (("left", -0.5 * side), ("right", 0.5 * side)):
            parts.append(PointBox(f"{end} of {above}", below, above, at_b=(x, -0.5 * side), **given))
            if both:
                parts.append(PointBox(f"{end} below {above}", above, below, at_b=(x, 0.5 * side), **given))

    def error(run: Trajectory) -> float:
        return max(abs(float(run.q[f"{name}.y"][-1]) / side - i - 1.0) for i, name in enumerate(names[1:]))

    return Case(Model(parts), 0.3, error)


def falling(random: np.random.Generator) -> Case:
    """A ball that falls on a floor: the peak force, with an error of 1.5 times the one that is claimed or less."""
    mass, height = 10.0 ** random.uniform(-1.0, 1.0), 10.0 ** random.uniform(-2.0, 1.0)
    stiffness, e, speed = 10.0 ** random.uniform(5.0, 9.0), random.uniform(0.5, 1.0), float(np.sqrt(19.62 * height))
    damping = random.uniform(0.0, 1.4) * float(np.sqrt(stiffness * mass))
    kind, loss = (
        (Hertz, 0.0),
        (HuntCrossley, 1.5 * (1.0 - e)),
        (LankaraniNikravesh, 0.75 * (1.0 - e**2)),
        (Flores, 1.6 * (1.0 - e) / e),
        (KelvinVoigt, None),
    )[random.integers(5)]
    power = 1.0 if loss is None else 1.5
    given = {"exponent": power, "damping": damping} if loss is None else {"restitution": e} if loss else {}

    def force(depth: Any, rate: Any) -> Any:
        elastic = stiffness * np.maximum(depth, 0.0) ** power
        return elastic + damping * rate if loss is None else elastic * (1.0 + loss * rate / speed)

    lasts = 3.0 * (mass * speed ** (1.0 - power) / stiffness) ** (1.0 / (1.0 + power))
    depth, rate = solve_ivp(
        lambda _, y: [y[1], 9.81 - force(*y) / mass], (0.0, lasts), [0.0, speed], "DOP853",
        np.linspace(0.0, lasts, 99_999), rtol=1e-12, atol=1e-16, max_step=3e-3 * lasts,
    ).y  # fmt: skip
    peak = float(np.max(force(depth, rate)[rate > 0.0]))
    floor = PointPlane("floor", "ground", "b", contact=Compliant(kind(stiffness=stiffness, **given)))
    ball = PlanarBody("b", mass=mass, inertia=0.004, position=(0.0, height))
    model = Model([Ground(), ball, floor, Gravity(acceleration=(0.0, -9.81))])

    def error(run: Trajectory) -> float:
        return RIGHT * abs(float(run.contacts["peak_force"][0]) / peak - 1.0) / (1.5 * run.verdict.force + 1e-8)

    return Case(model, speed / 9.81 + max(0.4 * speed / 9.81, 0.7 * lasts), error)  # beyond the peak


def _kind(draw: Callable[..., Case], dimension: int, compliant: bool) -> Callable[[np.random.Generator], Case]:
    where = ("compliant " if compliant else "") + ("in space" if dimension == 3 else "in the plane")

    def kind(random: np.random.Generator) -> Case:
        return draw(random, dimension, compliant)

    kind.__name__ = f"{draw.__name__.removeprefix('_')}, {where}"
    return kind


#: of rigid contact, and of compliant contact
RIGID_KINDS: tuple[Callable[[np.random.Generator], Case], ...] = (
    table, condition, smooth, peg, grazing, rod, brake, rod_in_space,
    *(_kind(draw, 3, False) for draw in (_blown, _pegged, _passing)),
    *(_alone(draw) for draw in FRAGMENTS), combination, discs, stack,
)  # fmt: skip
COMPLIANT_KINDS = (
    *(_kind(draw, dimension, True) for draw in (_blown, _pegged, _passing) for dimension in (2, 3)),
    falling,
)
KINDS = (*RIGID_KINDS, *COMPLIANT_KINDS)


def outcome(case: Case, stepper: Any, dt: Any) -> str:
    """Of one run."""
    steps = {} if stepper is None else {"stepper": stepper, "dt": _scaled(dt, case.t_end), "check": True}
    try:
        run = simulate(case.model.build(), t_end=case.t_end, max_seconds=PATIENCE, **steps)
    except SimulationFailed:
        return "said"
    right, clean = case.error(run) <= RIGHT, run.verdict.kind == "accurate"
    if clean:
        return "right" if right else "clean lie"
    return "cautious" if right else "said"


def _scaled(dt: Any, length: float) -> Any:
    if isinstance(dt, ErrorControl):
        return dt
    return Landing(dt.dt_min * length, dt.dt_max * length) if isinstance(dt, Landing) else dt * length


def main(arguments: list[str] | None = None) -> dict[tuple[str, str], Counter[str]]:
    """Run and print; the counts of outcomes by kind and call."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adversary", description=__doc__)
    parser.add_argument("--count", type=int, default=50, help="cases of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--default", action="store_true", help="only the call with chosen steps")
    parser.add_argument("--kind", action="append", help="only cases of this kind, which may be repeated")
    given = parser.parse_args(arguments)
    found: dict[tuple[str, str], Counter[str]] = {}
    rows = Rows("kind", "call", "right", "cautious", "said", "clean lies", box=None, pad_edge=False)
    warnings.simplefilter("ignore")
    for kind in KINDS:
        if given.kind and kind.__name__ not in given.kind:
            continue
        calls = COMPLIANT if kind in COMPLIANT_KINDS else CALLS
        for name, stepper, dt in calls[: 1 if given.default else None]:
            counts = found[kind.__name__, name] = Counter()
            for number in range(given.count):
                case = kind(np.random.default_rng([given.seed, number]))
                was = outcome(case, stepper, dt)
                counts[was] += 1
                if was == "clean lie":
                    print(f"clean lie: {kind.__name__} {number}, {name}", flush=True)
            rows.add_row(kind.__name__, name, *(str(counts[one]) for one in ("right", "cautious", "said", "clean lie")))
    Console(width=100).print(rows)
    return found


if __name__ == "__main__":
    main()
