"""Coverage of the intervals of `long_run`: how many of so many seeds have the true value in their 95 % interval.

    python -m benchmarks.chaotic 200                    # seeds per case; an hour on two cores
    python -m benchmarks.chaotic 200 billiard table     # these alone

The mean free path of Sinai's billiard is known exactly. A ball on a vibrating table and an oscillator with a stop are
computed besides by programs of their own, which go from impact to impact by the closed form of the motion between two,
over more than 400 times as many periods.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from nonsmooth import CircleCircle, CirclePlane, Gravity, Ground, Model, PlanarBody, PointPlane, PrescribedMotion, Rigid
from nonsmooth.model.forces import Damper, PointForce, Spring
from nonsmooth.model.joints import Prismatic
from nonsmooth.model.signals import Harmonic, TimeVector
from nonsmooth.studies import long_run

G = 9.81
#: side of the box, and radius of the circle in its middle [m]
SIDE, RADIUS = 1.0, 0.3
#: of the table: frequency [rad/s], amplitude of the acceleration [g], restitution
SHAKEN, ACCELERATION, BOUNCE = 20 * math.pi, 4.0, 0.85
#: of the oscillator of unit mass and stiffness: frequency and amplitude of the force, damping, place of the stop,
#: restitution
FORCED, FORCE, DAMPING, STOP, REBOUND = 2.8, 1.0, 0.02, 0.0, 0.8


def billiard(direction: float = 0.37) -> Model:
    """Sinai's billiard: a point of unit speed in a square box with a circle in its middle, without friction or loss."""
    law, half = Rigid(restitution=1.0, friction=0.0), SIDE / 2
    walls = {"floor": (0, (0, -half)), "right": (90, (half, 0)), "roof": (180, (0, half)), "left": (270, (-half, 0))}
    velocity = math.cos(direction), math.sin(direction)
    model = Model(name="Sinai's billiard", silence=["no-gravity"])
    model.add(Ground())
    model.add(PlanarBody("disc", mass=1.0, inertia=1.0, position=(0.4, 0.1), velocity=velocity))
    for name, (angle, at) in walls.items():
        model.add(PointPlane(name, "ground", "disc", at_a=at, direction=math.radians(angle), contact=law))
    model.add(CircleCircle("circle", "ground", "disc", radius_a=RADIUS, radius_b=1e-12, contact=law))
    return model


def free_path() -> float:
    """Mean free path [m] of the billiard: pi A / P, with the area A and the perimeter P of where the point can be."""
    return math.pi * (SIDE**2 - math.pi * RADIUS**2) / (4 * SIDE + 2 * math.pi * RADIUS)


def table(acceleration: float = ACCELERATION, restitution: float = BOUNCE) -> Model:
    """A ball that bounces on a table, which moves up and down."""
    amplitude = acceleration * G / SHAKEN**2
    motion = Harmonic(amplitude, period=2 * math.pi / SHAKEN)
    law = Rigid(restitution=restitution, friction=0.0)
    model = Model(name="ball on a vibrating table")
    model.add(Ground())
    model.add(PlanarBody("table", mass=1.0, inertia=1.0, velocity=(0.0, amplitude * SHAKEN)))
    model.add(PlanarBody("ball", mass=1.0, inertia=4e-3, position=(0.0, 0.11)))
    model.add(Gravity(acceleration=(0.0, -G)))
    model.add(Prismatic("guide", "ground", "table", direction=math.pi / 2))
    model.add(PrescribedMotion("shaker", "ground", "table", coordinate="y", motion=motion))
    model.add(CirclePlane("floor", "table", "ball", radius=0.1, contact=law))
    return model


@njit(cache=True)
def table_loss(periods: int, seed: float, acceleration: float, restitution: float) -> np.ndarray:
    """Energy lost per second [W] of the ball of 1 kg, in each of ten parts of so many periods after the first 1000."""
    w, e = SHAKEN, restitution
    A, T = acceleration * G / w**2, 2 * math.pi / w
    parts, t, y, v = np.zeros(10), 0.0, 0.01 + seed, 0.0
    end, begin = (periods + 1000) * T, 1000 * T
    while t < end:
        # the first time at which the ball is below the table, by steps in which that cannot return unseen
        step, s, low = T / 200, 0.0, 0.0
        while True:
            s += step
            if y + v * s - G * s * s / 2 < A * math.sin(w * (t + s)):
                break
            low = s
        high = s
        for _ in range(60):
            middle = (low + high) / 2
            if y + v * middle - G * middle * middle / 2 < A * math.sin(w * (t + middle)):
                high = middle
            else:
                low = middle
        t += low
        floor = A * w * math.cos(w * t)
        y, approach = A * math.sin(w * t), v - G * low - floor
        if t > begin and t < end:
            parts[int(10 * (t - begin) / (end - begin))] += (1 - e * e) * approach * approach / 2
        v = floor - e * approach
    return parts / ((end - begin) / 10)


def oscillator() -> Model:
    """A mass on a spring and a damper, with a harmonic force, that impacts on a stop."""
    law = Rigid(restitution=REBOUND, friction=0.0)
    force = TimeVector((Harmonic(FORCE, period=2 * math.pi / FORCED), 0.0))
    model = Model(name="impact oscillator", silence=["no-gravity"])
    model.add(Ground())
    model.add(PlanarBody("mass", mass=1.0, inertia=1.0, position=(-0.5, 0.0)))
    model.add(Prismatic("rail", "ground", "mass"))
    model.add(Spring("spring", "ground", "mass", stiffness=1.0))
    model.add(Damper("damper", "ground", "mass", at_a=(-10.0, 0.0), damping=2 * DAMPING))
    model.add(PointForce("drive", "mass", force=force))
    model.add(PointPlane("stop", "ground", "mass", at_a=(STOP, 0.0), direction=math.pi / 2, contact=law))
    return model


@njit(cache=True)
def oscillator_loss(periods: int, seed: float) -> np.ndarray:
    """Energy lost per second [W] at the stop, in each of ten parts of so many periods after the first 1000."""
    w, z, e, T = FORCED, DAMPING, REBOUND, 2 * math.pi / FORCED
    free = math.sqrt(1 - z * z)
    a, b = 1 - w * w, 2 * z * w  # the steady motion is P sin(w t) + Q cos(w t)
    P, Q = FORCE * a / (a * a + b * b), -FORCE * b / (a * a + b * b)
    parts, t, x, v = np.zeros(10), 0.0, -0.5 + seed, 0.0
    end, begin = (periods + 1000) * T, 1000 * T
    while t < end:
        x0 = x - P * math.sin(w * t) - Q * math.cos(w * t)
        v0 = v - P * w * math.cos(w * t) + Q * w * math.sin(w * t)
        c, d = x0, (v0 + z * x0) / free
        low, s = 0.0, 0.0
        step = T / 400
        while True:
            s += step
            decay = math.exp(-z * s)
            place = decay * (c * math.cos(free * s) + d * math.sin(free * s))
            if place + P * math.sin(w * (t + s)) + Q * math.cos(w * (t + s)) > STOP or t + s > end:
                break
            low = s
        high = s
        for _ in range(60):
            s = (low + high) / 2
            decay = math.exp(-z * s)
            place = decay * (c * math.cos(free * s) + d * math.sin(free * s))
            if place + P * math.sin(w * (t + s)) + Q * math.cos(w * (t + s)) > STOP:
                high = s
            else:
                low = s
        s = low
        decay = math.exp(-z * s)
        swing = c * math.cos(free * s) + d * math.sin(free * s)
        v = decay * (free * (d * math.cos(free * s) - c * math.sin(free * s)) - z * swing)
        t += s
        v += P * w * math.cos(w * t) - Q * w * math.sin(w * t)
        if t > begin and t < end:
            parts[int(10 * (t - begin) / (end - begin))] += (1 - e * e) * v * v / 2
        x, v = STOP, -e * v
    return parts / ((end - begin) / 10)


def mean_of(parts: np.ndarray) -> tuple[float, float]:
    """Mean and its standard error from independent parts."""
    return float(parts.mean()), float(parts.std(ddof=1) / math.sqrt(len(parts)))


#: periods of the programs, over which their means are known
LONG = 100_000
#: of each case: mechanism, arguments of `long_run`, measure, true value with its standard error
CASES: dict[str, tuple[Callable[[], Model], dict[str, Any], str, Callable[[], tuple[float, float]]]] = {
    "billiard": (billiard, {"window": 5.0, "t_end": 300.0}, "time/impact", lambda: (free_path(), 0.0)),
    "table": (
        table, {"t_end": 20.0}, "energy-rate",
        lambda: mean_of(np.concatenate([table_loss(LONG, 1e-4 * i, ACCELERATION, BOUNCE) for i in range(4)])),
    ),
    "oscillator": (
        oscillator, {"t_end": 200 * math.pi / FORCED}, "energy-rate:impacts",
        lambda: mean_of(np.concatenate([oscillator_loss(LONG, 1e-4 * i) for i in range(4)])),
    ),
}  # fmt: skip


def coverage(name: str, seeds: int, members: int = 8) -> str:
    """A line on how many of so many seeds, 0, 1, ..., have the true value in their interval."""
    build, arguments, measure, truth = CASES[name]
    value, error = truth()
    system, inside, widths, clock = build().build(), 0, [], time.perf_counter()
    missed = []
    for seed in range(seeds):
        found = long_run(system, measures=[measure], members=members, seed=seed, workers=1, **arguments)[measure]
        inside += found.low <= value <= found.high
        widths.append((found.high - found.low) / 2 / value)
        missed += [] if found.low <= value <= found.high else [seed]
    return (
        f"{name}: {measure} = {value:.6g} ± {1.96 * error:.2g}; inside {inside} of {seeds}, half width "
        f"{100 * np.mean(widths):.2g} %, missed by seeds {missed}, {time.perf_counter() - clock:.0f} s"
    )


if __name__ == "__main__":
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name in sys.argv[2:] or CASES:
        print(coverage(name, seeds), flush=True)
