"""Numerical results for the 6-RSS robot with elastic links, and the printed figures against the printed equations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nonsmooth.model.registry import Fact, Facts

__all__ = ["ELASTIC_FACTS", "link_frequencies"]

#: printed in section 6 of the paper for a clearance of 0.25 mm: mean errors of velocity [mm/s], and largest errors of
#: acceleration [mm/s^2, rad/s^2]
PRINTED_VELOCITY = {"x": 1.4934, "y": 1.0358, "z": 6.1585}
PRINTED_ACCELERATION = {"x": 524.398, "y": 1087.2, "z": 2881.3, "about x": 8.414, "about y": 2.889, "about z": 23.0}
DIRECTIONS = ("x", "y", "z", "about x", "about y", "about z")
SEEDS = 100


def link_frequencies() -> tuple[float, float]:
    """First frequencies [Hz] of the crank, clamped at its shaft, and of the rod between fixed balls; one element."""
    from scipy.linalg import eigh

    from nonsmooth_problems.six_rss_structure import OF_CRANK, OF_ROD, links

    own, found = links(), []
    for kind, kept in enumerate((OF_CRANK, [i for i in OF_ROD if i not in (0, 1, 2, 3, 9, 10, 11)])):
        at = np.ix_(kept, kept)
        squares = eigh(own.stiffness[kind][at], own.mass[kind][at], eigvals_only=True)
        found.append(float(np.sqrt(squares[0])) / (2.0 * np.pi))
    return found[0], found[1]


def _structure() -> Mapping[str, float]:
    from nonsmooth_problems.six_rss_elastic import frequencies

    crank, rod = link_frequencies()
    assembled = frequencies()
    elastic = assembled[assembled > 1.0]
    named = {f"frequency {i + 1} of the robot": float(elastic[i]) for i in range(4)}
    return {
        "first frequency of a crank": crank,
        "first frequency of a rod": rod,
        "elastic coordinates": len(assembled),
        "zero frequencies": len(assembled) - len(elastic),
    } | named


def _elastic() -> Mapping[str, float]:
    from nonsmooth_problems.six_rss_elastic import elastic

    found: dict[str, float] = {}
    for words, gravity in (("no gravity", 0.0), ("gravity", 9.81)):
        largest = elastic(gravity=gravity).largest[0]
        found |= {f"elastic, {words}, {axis}": 1e3 * float(largest[i]) for i, axis in enumerate("xyz")}
        found[f"elastic, {words}, rotation"] = float(np.max(largest[3:]))
    return found


def _random() -> Mapping[str, float]:
    from nonsmooth_problems.six_rss_random import paper_random

    run = paper_random(clearance=0.25e-3, seeds=SEEDS)
    found = {f"random, mean velocity, {axis}": 1e3 * float(np.mean(run.velocity[:, i])) for i, axis in enumerate("xyz")}
    for i, axis in enumerate(DIRECTIONS):
        size = 1e3 if i < 3 else 1.0
        found[f"random, largest acceleration, {axis}"] = size * float(np.mean(run.acceleration[:, i]))
    return found | {
        f"random, rigid links, mean velocity, {axis}": 1e3 * float(np.mean(run.moved[:, i]))
        for i, axis in enumerate("xyz")
    }


def _largest(words: str, sizes: tuple[float, float, float], rotation: float) -> tuple[Fact, ...]:
    """Within 5 %, or half of the last digit where this is more."""
    note = "of the platform in 2 s"
    return (
        *(
            Fact(f"elastic, {words}, {axis}", "mm", size, max(0.05 * size, 5e-5), note)
            for axis, size in zip("xyz", sizes, strict=True)
        ),
        Fact(f"elastic, {words}, rotation", "rad", 0.0, rotation, "at most this, as known from an independent code"),
    )


NOT_PHYSICAL = f"as printed; not physical: mean of {SEEDS} seeds of random vectors, c 0.25 mm"

ELASTIC_FACTS = (
    Facts(
        "elastic structure",
        _structure,
        (
            Fact("first frequency of a crank", "Hz", 352.6, 0.35, "one 18-DOF element, clamped at the shaft"),
            Fact("first frequency of a rod", "Hz", 215.4, 0.22, "one 18-DOF element, between balls"),
            Fact("elastic coordinates", "-", 96, 0.0, "as in the paper"),
            Fact("zero frequencies", "-", 6, 0.0, "each rod spins about its axis"),
            *(
                Fact(f"frequency {i + 1} of the robot", "Hz", size, 0.01 * size, "undamped, at t = 0")
                for i, size in enumerate((74.0, 74.0, 106.0, 119.0))
            ),
        ),
    ),
    Facts(
        "elastic links",
        _elastic,
        (
            *_largest("no gravity", (0.0021, 0.0131, 0.0058), 7.5e-5),
            *_largest("gravity", (0.0028, 0.0093, 0.0279), 7.5e-5),
        ),
    ),
    Facts(
        "random clearance vectors as in the paper",
        _random,
        (
            *(
                Fact(f"random, mean velocity, {axis}", "mm/s", size, 0.1 * size, NOT_PHYSICAL)
                for axis, size in PRINTED_VELOCITY.items()
            ),
            *(
                Fact(f"random, largest acceleration, {axis}", "rad/s^2" if "about" in axis else "mm/s^2", size,
                     0.1 * size, NOT_PHYSICAL)
                for axis, size in PRINTED_ACCELERATION.items()
            ),
            *(
                Fact(f"random, rigid links, mean velocity, {axis}", "mm/s", size, 0.1 * size,
                     f"{NOT_PHYSICAL}; difference quotients over 1 ms")
                for axis, size in PRINTED_VELOCITY.items()
            ),
        ),
    ),
)  # fmt: skip
