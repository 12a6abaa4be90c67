"""Coverage of the intervals of `long_run`: how many of so many seeds have the true value in their 95 % interval.

    python -m benchmarks.chaotic 200                    # seeds per case; an hour on two cores
    python -m benchmarks.chaotic 200 billiard rattle    # these alone

The mean free path of billiards is known exactly. A ball between a vibrating table and its lid is computed besides by a
program of its own, which goes from impact to impact by the closed form of the motion between two, over more than 400
times as many periods. Without a lid, as an oscillator with one stop, it comes to rest now and then, after which all
motions are one: such a motion repeats itself, if only after thousands of periods, and is no test of intervals.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import njit

from nonsmooth import CircleCircle, CirclePlane, Gravity, Ground, Model, PlanarBody, PointPlane, PrescribedMotion, Rigid
from nonsmooth.model.joints import Prismatic
from nonsmooth.model.signals import Harmonic
from nonsmooth.studies import long_run

G = 9.81
#: side of the box, and radius of the circle in its middle [m]
SIDE, RADIUS = 1.0, 0.3
#: frequency of the table [rad/s]
SHAKEN = 20 * math.pi
#: of quarters of circles in the corners [m], which leave no way between walls and circles that is free for ever
CORNER = 0.25


def billiard(circles: Sequence[tuple[tuple[float, float], float]] = (((0, 0), RADIUS),)) -> Model:
    """Sinai's billiard: a point of unit speed in a square box with circles in it, without friction or loss."""
    law, half = Rigid(restitution=1.0, friction=0.0), SIDE / 2
    walls = {"floor": (0, (0, -half)), "right": (90, (half, 0)), "roof": (180, (0, half)), "left": (270, (-half, 0))}
    velocity = math.cos(0.37), math.sin(0.37)
    model = Model(name="Sinai's billiard", silence=["no-gravity"])
    model.add(Ground())
    model.add(PlanarBody("disc", mass=1.0, inertia=1.0, position=(0.4, 0.1), velocity=velocity))
    for name, (angle, at) in walls.items():
        model.add(PointPlane(name, "ground", "disc", at_a=at, direction=math.radians(angle), contact=law))
    for i, (at, radius) in enumerate(circles):
        model.add(CircleCircle(f"circle{i}", "ground", "disc", at_a=at, radius_a=radius, radius_b=1e-12, contact=law))
    return model


def free_path(corner: float = 0.0) -> float:
    """Mean free path [m] of the billiard: pi A / P, with the area A and the perimeter P of where the point can be."""
    area = SIDE**2 - math.pi * (RADIUS**2 + corner**2)
    return math.pi * area / (4 * (SIDE - 2 * corner) + 2 * math.pi * (RADIUS + corner))


def full_billiard() -> Model:
    """The billiard with quarters of circles in its corners."""
    half = SIDE / 2
    corners = [((x, y), CORNER) for x in (-half, half) for y in (-half, half)]
    return billiard((((0, 0), RADIUS), *corners))


def table(acceleration: float, restitution: float, room: float) -> Model:
    """A ball on a table that moves up and down, with so many times the acceleration of gravity, and below a lid that
    moves with it."""
    amplitude = acceleration * G / SHAKEN**2
    motion = Harmonic(amplitude, period=2 * math.pi / SHAKEN)
    law = Rigid(restitution=restitution, friction=0.0)
    model = Model(name="ball between a table and its lid")
    model.add(Ground())
    model.add(PlanarBody("table", mass=1.0, inertia=1.0, velocity=(0.0, amplitude * SHAKEN)))
    model.add(PlanarBody("ball", mass=1.0, inertia=4e-3, position=(0.0, 0.11)))
    model.add(Gravity(acceleration=(0.0, -G)))
    model.add(Prismatic("guide", "ground", "table", direction=math.pi / 2))
    model.add(PrescribedMotion("shaker", "ground", "table", coordinate="y", motion=motion))
    model.add(CirclePlane("floor", "table", "ball", radius=0.1, contact=law))
    at = 0.0, room + 0.2
    model.add(CirclePlane("lid", "table", "ball", radius=0.1, at_a=at, direction=math.pi, contact=law))
    return model


@njit(cache=True)
def table_loss(periods: int, seed: float, acceleration: float, restitution: float, room: float) -> np.ndarray:
    """Energy lost per second [W] of the ball of 1 kg, in each of ten parts of so many periods after the first 1000."""
    w, e = SHAKEN, restitution
    A, T = acceleration * G / w**2, 2 * math.pi / w
    parts, t, y, v = np.zeros(10), 0.0, 0.01 + seed, 0.0
    end, begin = (periods + 1000) * T, 1000 * T
    while t < end:
        # the first time at which the ball is beyond the table or the lid, by steps in which it cannot return unseen
        step, s, low, high, above = T / 200, 0.0, 0.0, 0.0, 0.0
        while True:
            s += step
            above = y + v * s - G * s * s / 2 - A * math.sin(w * (t + s))
            if above < 0.0 or above > room:
                break
            low = s
        high, floor = s, above < 0.0
        for _ in range(60):
            middle = (low + high) / 2
            above = y + v * middle - G * middle * middle / 2 - A * math.sin(w * (t + middle))
            if above < 0.0 or above > room:
                high = middle
            else:
                low = middle
        t += low
        speed = A * w * math.cos(w * t)
        y, approach = A * math.sin(w * t) + (0.0 if floor else room), v - G * low - speed
        if t > begin and t < end:
            parts[int(10 * (t - begin) / (end - begin))] += (1 - e * e) * approach * approach / 2
        v = speed - e * approach
        if abs(approach) < 1e-9:
            raise ValueError("the ball comes to rest, after which all motions are one")
    return parts / ((end - begin) / 10)


def mean_of(parts: np.ndarray) -> tuple[float, float]:
    """Mean and its standard error from independent parts."""
    return float(parts.mean()), float(parts.std(ddof=1) / math.sqrt(len(parts)))


def _losses(*table: float) -> np.ndarray:
    return np.concatenate([table_loss(LONG, 1e-4 * i, *table) for i in range(4)])


#: periods of the program, over which its means are known; of the table acceleration [g], restitution, height of lid [m]
LONG, FAST, SLOW = 100_000, (4.0, 0.8, 0.01), (2.0, 0.8, 0.03)
#: of each case: mechanism, arguments of `long_run`, measure, true value with its standard error
CASES: dict[str, tuple[Callable[[], Model], dict[str, Any], str, Callable[[], tuple[float, float]]]] = {
    "billiard": (billiard, {"window": 5.0, "t_end": 300.0}, "time/impact", lambda: (free_path(), 0.0)),
    "full-billiard": (
        full_billiard, {"window": 5.0, "t_end": 300.0}, "time/impact", lambda: (free_path(CORNER), 0.0),
    ),
    "rattle": (lambda: table(*FAST), {"t_end": 20.0}, "energy-rate", lambda: mean_of(_losses(*FAST))),
    "slow-rattle": (lambda: table(*SLOW), {"t_end": 20.0}, "energy-rate", lambda: mean_of(_losses(*SLOW))),
}  # fmt: skip


def coverage(name: str, seeds: int, members: int = 8) -> str:
    """A line on how many of so many seeds, 0, 1, ..., have the true value in their interval."""
    build, arguments, measure, truth = CASES[name]
    value, error = truth()
    system, inside, widths, clock = build().build(), 0, [], time.perf_counter()
    missed = []
    for seed in range(seeds):
        found = long_run(system, measures=[measure], members=members, seed=seed, executor=1, **arguments)[measure]
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
