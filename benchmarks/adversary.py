"""Attacks on verdicts, by events much shorter than a run and forces that do not exist.

``python -m benchmarks.adversary`` draws seeded cases with a closed form: a blow on a free body as a `Table`, as a
condition on time or as a smooth function; a bar whose tip meets a peg once per turn; a disc that passes another one,
perhaps grazing it; a rod that slides on its tip and a brake, with or without a consistent contact force. Blows, pegs,
passing balls and rods are drawn in space too, and blows, pegs and passing bodies with compliant contact, in the plane
and in space; these are compared with an independent integration of the contact. A case is *right* if its result has an
error below 1 % and its verdict is clean (accurate), *cautious* if only the former, *said* if the error is larger and
the verdict is not clean, and a *clean lie* if it is. Ten minutes.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from rich.console import Console
from rich.table import Table as Rows
from scipy.integrate import solve_ivp

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
    Model,
    MoreauJean,
    PlanarBody,
    PointForce,
    PointPlane,
    Prismatic,
    Revolute,
    Rigid,
    SimulationFailed,
    SpatialBody,
    SphereSphere,
    Spherical,
    Table,
    Torque,
    Trajectory,
    simulate,
)
from nonsmooth.laws import Hertz
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
)  # fmt: skip
COMPLIANT_KINDS = tuple(_kind(draw, dimension, True) for draw in (_blown, _pegged, _passing) for dimension in (2, 3))
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
