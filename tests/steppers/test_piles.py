"""Piles of discs: many contacts at one body, whose impulses, with friction, are not unique."""

from itertools import combinations
from math import pi, sqrt

import numpy as np
import pytest

from nonsmooth import (
    CircleCircle,
    CirclePlane,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Model,
    PlanarBody,
    PointPlane,
    Rigid,
    simulate,
)

R, G = 0.1, 9.81  # radius [m] of discs of 1 kg, gravity [m/s2]


def pile(rows: int, friction: float, *, walls: bool):
    """A triangle of discs that touch, `rows` of them at the bottom, with walls at the ends of the lowest row or not."""
    law = Rigid(restitution=0.0, friction=friction)
    places = {(row, i): (2 * R * i + R * row, R + row * R * sqrt(3)) for row in range(rows) for i in range(rows - row)}
    elements = [Ground(), Gravity(acceleration=(0.0, -G))]
    for (row, i), place in places.items():
        elements.append(PlanarBody(f"d{row}_{i}", mass=1.0, inertia=0.5 * R * R, position=place))
        if row == 0:
            elements.append(CirclePlane(f"floor{i}", "ground", f"d{row}_{i}", radius=R, contact=law))
    for (row, i), (above, k) in combinations(places, 2):
        if (above, k) in ((row, i + 1), (row + 1, i), (row + 1, i - 1)):
            one, other = f"d{row}_{i}", f"d{above}_{k}"
            elements.append(CircleCircle(f"{one}-{other}", one, other, radius_a=R, radius_b=R, contact=law))
    if walls:
        right, last = (2 * R * (rows - 1) + R, 0.0), f"d0_{rows - 1}"
        left = dict(at_a=(-R, 0.0), direction=-pi / 2, at_b=(-R, 0.0))
        elements.append(PointPlane("left", "ground", "d0_0", contact=law, **left))
        elements.append(PointPlane("right", "ground", last, contact=law, at_a=right, direction=pi / 2, at_b=(R, 0.0)))
    return Model(elements).build()


def moved(trajectory) -> float:
    """The farthest way [m, rad] that a disc has gone."""
    return float(np.max(np.abs(trajectory.q.array - trajectory.q.array[0])))


def weight_on_the_floor(trajectory) -> float:
    """Mean normal forces [N] on the floor, added, in the last step."""
    return sum(float(trajectory.lam_N[name][-1]) for name in trajectory.lam_N if name.startswith("floor"))


@pytest.mark.parametrize("rows", [2, 5])
def test_generalized_alpha_leaves_a_pile_between_walls_at_rest(rows):
    """15 discs have 45 coordinates and 74 rows of contacts: passes settle on impulses among many that act alike."""
    trajectory = simulate(pile(rows, 0.5, walls=True), GeneralizedAlpha(), t_end=0.01, dt=1e-3)
    # places are round-off of metres, forces of the least positive one that the walls leave to the floor
    assert moved(trajectory) <= 1e-14
    assert trajectory.certificate.motion_residual <= 1e-12
    assert trajectory.certificate.complementarity <= 1e-12
