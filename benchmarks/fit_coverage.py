"""How often the 95 % intervals of fits of motion contain the truth: seeded data of three mechanisms.

    python -m benchmarks.fit_coverage 67                # sets per mechanism; half an hour on one core
    python -m benchmarks.fit_coverage 67 ball pendulum  # these alone

For each mechanism: sets whose estimate lies in its own intervals, sets whose interval contains the truth by parameter,
and sets whose sum of squares is within 1 % of that of a search that begins at the truth; what misses is listed by seed.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from nonsmooth import (
    CirclePlane,
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    PlanarBody,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Rigid,
    simulate,
)
from nonsmooth.identification import FitMotion, MotionData, fit_motion
from nonsmooth.identification.fit_motion import _Fit, levenberg_marquardt

GRAVITY = Gravity(acceleration=(0.0, -9.81))


def crank() -> tuple[Any, ...]:
    """Free slider-crank with a loose crank pin, of which the crank's angle is measured."""
    a, b, w = 0.05, 0.12, 20.0
    pin = {"clearance": 2e-4, "radius": 0.01, "contact": Rigid(restitution=0.5, friction=0.05)}
    crank = PlanarBody("crank", 0.3, 1e-4, position=(a / 2, 0), velocity=(0, w * a / 2), angular_velocity=w)
    rod = PlanarBody("rod", 0.21, 2.5e-4, position=(a + b / 2, 0), velocity=(0, w * a / 2), angular_velocity=-w * a / b)
    model = Model(
        [
            Ground(), crank, rod, PlanarBody("piston", 0.14, 5e-5, position=(a + b, 0)), GRAVITY,
            Revolute("main", "ground", crank, at_b=(-a / 2, 0)), Prismatic("bore", "ground", "piston"),
            RevoluteClearance("pin", crank, rod, at_a=(a / 2, 0), at_b=(-b / 2, 0), **pin),
            Revolute("wrist", rod, "piston", at_a=(b / 2, 0)),
        ]
    )  # fmt: skip
    ranges = {"pin.clearance": (5e-5, 5e-4), "pin.restitution": (0.1, 0.9), "pin.friction": (1e-3, 0.2)}
    return model.build(), ranges, ("crank.angle",), 5e-4, np.arange(0, 0.06, 2e-4), Landing(1e-6, 2e-4)


def ball() -> tuple[Any, ...]:
    """A disc that bounces forwards on a rough floor."""
    law = Rigid(restitution=0.7, friction=0.1)
    disc = PlanarBody("ball", 1.0, 4e-3, position=(0, 0.5), velocity=(1.0, 0.0))
    model = Model([Ground(), disc, CirclePlane("floor", "ground", disc, radius=0.1, contact=law), GRAVITY])
    ranges = {"floor.restitution": (0.3, 0.95), "floor.friction": (0.02, 0.2)}
    return model.build(), ranges, ("ball.x", "ball.y"), 5e-4, np.arange(0, 1.0, 5e-3), Landing(1e-6, 5e-3)


def pendulum() -> tuple[Any, ...]:
    """A pendulum in a loose bearing."""
    law = Rigid(restitution=0.4, friction=0.1)
    bar = PlanarBody("bar", 1.0, 0.02, position=(0.2, 0.0))
    pin = RevoluteClearance("pin", "ground", bar, at_b=(-0.2, 0.0), clearance=3e-4, radius=0.02, contact=law)
    ranges = {"pin.clearance": (1e-4, 1e-3), "pin.restitution": (0.05, 0.9), "pin.friction": (0.01, 0.3)}
    names = ("bar.x", "bar.y", "bar.angle")
    return (
        Model([Ground(), bar, pin, GRAVITY]).build(), ranges, names, 5e-5, np.arange(0, 0.15, 5e-4),
        Landing(1e-6, 5e-4),
    )  # fmt: skip


def measured(make: Any, sets: int) -> None:
    system, ranges, names, noise, t, step = make()
    own, near, covered = 0, 0, np.zeros(len(ranges), dtype=int)
    for seed in range(sets):
        random = np.random.default_rng(seed)
        low, high = np.log(np.array(list(ranges.values()))).T
        truth = np.exp(low + (0.2 + 0.6 * random.random(len(low))) * (high - low))
        known = dict(zip(ranges, truth.tolist(), strict=True))
        run = simulate(system, GaussQP(), t_end=float(t[-1]) + 1e-9, dt=step, parameters=known)
        at = run.at(t, order=4)
        columns = {one: at.q[one] + noise * random.normal(size=t.size) for one in names}
        data, chosen = MotionData(t, columns, dict.fromkeys(names, noise)), FitMotion(starts=24, seed=seed)
        found = fit_motion(system, GaussQP(), data, ranges, dt=step, settings=chosen)
        ends = np.array([found.profiles[one].interval for one in ranges])
        inside = bool(np.all((ends[:, 0] <= found.values) & (found.values <= ends[:, 1])))
        own += inside
        covered += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        one = _Fit(system, GaussQP(), data, ranges, step, chosen, None, None, None)
        _, cost = levenberg_marquardt(one.residual, np.log(truth), one.low, one.high, iterations=30)
        near += found.cost <= 1.01 * cost
        if not inside or found.cost > 1.01 * cost:
            print(f"  {make.__name__}, seed {seed}: {found.values}, intervals {ends.tolist()}, truth {truth}")
            print(f"    cost {found.cost:.6g}, from the truth {cost:.6g}", flush=True)
        if seed % 5 == 4 or seed == sets - 1:
            shares = ", ".join(f"{name} {count}" for name, count in zip(ranges, covered, strict=True))
            said = f"{seed + 1} of {sets} sets, estimate inside {own}, truth inside: {shares}, minimum found {near}"
            print(f"{make.__name__}: {said}", flush=True)


if __name__ == "__main__":
    for make in (crank, ball, pendulum):
        if make.__name__ in (sys.argv[2:] or [make.__name__]):
            measured(make, int(sys.argv[1]) if len(sys.argv) > 1 else 67)
