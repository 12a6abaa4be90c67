"""Attacks on verdicts, by events much shorter than a run and forces that do not exist.

``python -m benchmarks.adversary`` draws seeded cases with a closed form: a blow on a free body as a `Table`, as a
condition on time or as a smooth function; a bar whose tip meets a peg once per turn; a disc that passes another one,
perhaps grazing it; a rod that slides on its tip, with or without a consistent contact force. A case is *right* if its
result has an error below 1 % and its verdict is clean (accurate), *cautious* if only the former, *said* if the error is
larger and the verdict is not clean, and a *clean lie* if it is. Five minutes.
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

from nonsmooth import (
    CircleCircle,
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
    Revolute,
    Rigid,
    SimulationFailed,
    Table,
    Trajectory,
    simulate,
)

#: error below which a result is right
RIGHT = 0.01
#: seconds after which a run is given up
PATIENCE = 20.0
#: calls: name, stepper and steps of a run of 1 s with `check=True`; without them they are chosen
CALLS: tuple[tuple[str, Any, Any], ...] = (
    ("default", None, None),
    ("GaussQP, Landing(1e-6, 1e-3)", GaussQP(), Landing(1e-6, 1e-3)),
    ("MoreauJean, 1e-3", MoreauJean(), 1e-3),
    ("GeneralizedAlpha, 1e-3", GeneralizedAlpha(), 1e-3),
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
    return random.uniform(0.1, 0.9), 10.0 ** random.uniform(-6.0, -2.5), 10.0 ** random.uniform(-1.0, 1.0)


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
    """A bell-shaped force."""
    at, width, mass = _drawn(random)
    return _blow(lambda t: np.exp(-(((t - at) / width) ** 2)) / (width * np.sqrt(np.pi)), at, mass)


def peg(random: np.random.Generator) -> Case:
    """A bar that turns about a pin, whose tip meets a small peg and turns back, elastically."""
    radius, speed = 10.0 ** random.uniform(-4.5, -2.5), 10.0 ** random.uniform(0.5, 2.0)
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
    force = 10.0 / inverse if inverse > 0.0 else np.nan

    def error(run: Trajectory) -> float:
        if not force > 0.0:
            return 1.0  # there is none: whatever is certified is a lie
        return float(abs(run.lam_N["tip"][1] / force - 1.0))

    return Case(model, 0.01, error)


KINDS: tuple[Callable[[np.random.Generator], Case], ...] = (table, condition, smooth, peg, grazing, rod)


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
        for name, stepper, dt in CALLS[: 1 if given.default else None]:
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
