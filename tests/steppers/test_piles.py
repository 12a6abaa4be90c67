"""Piles of discs: many contacts at one body, whose impulses, with friction, are not unique."""

from itertools import combinations
from math import pi, sqrt

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    CircleCircle,
    CirclePlane,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
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


def contact_impulses(trajectory) -> float:
    """Upward impulse [N s] of floor and walls in the last step; along walls it is friction's."""
    names = [name for name in trajectory.P_N.names if name.startswith("floor")]
    floor = sum(float(trajectory.P_N[name][-1]) for name in names)
    # tangents are normals turned by -90 degrees: down along the left wall, up along the right one
    return floor + float(trajectory.P_T["right"][-1]) - float(trajectory.P_T["left"][-1])


STEPPERS = pytest.mark.parametrize(
    ("stepper", "dt"),
    [
        (MoreauJean(), 1e-3),
        (GaussQP(), 1e-3),
        (GaussQP(), Landing(1e-6, 1e-3)),
        (GeneralizedAlpha(), 1e-3),
        (GaussMPCC(), 1e-3),
        (GaussMPCC(), Landing(1e-6, 1e-3)),
    ],
    ids=["MoreauJean", "GaussQP", "GaussQP landing", "GeneralizedAlpha", "GaussMPCC", "GaussMPCC landing"],
)


@pytest.mark.exact("discs and walls touch to the last bit")
@STEPPERS
@pytest.mark.parametrize("rows", some([2, 5, pytest.param(9, marks=pytest.mark.slow)], 2))
def test_a_pile_between_walls_rests(rows, stepper, dt):
    """15 discs have 45 coordinates and 74 rows of contacts (45 discs 135 and 238), whose impulses are not unique."""
    trajectory = simulate(pile(rows, 0.5, walls=True), stepper, t_end=0.01, dt=dt)
    # places are round-off of metres
    assert moved(trajectory) <= 1e-14
    assert trajectory.certificate.motion_residual <= 1e-9
    # round-off of 74 rows (2e-14) as a share of their own terms, at least a thousandth of the motion's
    assert trajectory.certificate.complementarity <= 2e-11
    # what walls hold by friction is not unique, but all of it is the weight, by round-off of the certificate
    impulses = contact_impulses(trajectory)
    assert impulses == pytest.approx(rows * (rows + 1) / 2 * G * 1e-3, rel=1e-8)


@pytest.mark.exact("discs and walls touch to the last bit")
@pytest.mark.parametrize("friction", [0.3, 0.5])
@pytest.mark.parametrize(
    ("stepper", "dt"),
    [(MoreauJean(), 1e-3), (GaussQP(), 1e-3), (GaussQP(), Landing(1e-6, 1e-3)), (GeneralizedAlpha(), 1e-3)],
    ids=["MoreauJean", "GaussQP", "GaussQP landing", "GeneralizedAlpha"],
)
def test_steps_hold_a_pile_at_rest(stepper, dt, friction):
    """Gaps of 1e-17 m contradict each other among 74 rows of contacts, and must not be closed; a few of 100 steps may
    be taken in parts or by other solvers."""
    trajectory = simulate(pile(5, friction, walls=True), stepper, t_end=0.1, dt=dt)
    assert moved(trajectory) <= 1e-13
    assert trajectory.counts["divided"] + trajectory.counts["chained"] <= 10


@STEPPERS
@pytest.mark.exact("the last bits decide between two solutions")
@pytest.mark.parametrize("rows", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_a_pile_that_can_rest_does(rows, stepper, dt):
    """Without walls a pile of discs stands by friction 0.5 or slides apart, both by Coulomb's law: it stands."""
    trajectory = simulate(pile(rows, 0.5, walls=False), stepper, t_end=0.01, dt=dt)
    assert moved(trajectory) <= 1e-14


@STEPPERS
def test_a_pile_that_cannot_rest_slides(stepper, dt):
    """Friction 0.2 is below tan(15 deg), what a triangle of three discs needs to stand; the top falls at once.

    The three discs fall symmetrically, as one degree of freedom, so that all schemes agree to their first order.
    """
    trajectory = simulate(pile(2, 0.2, walls=False), stepper, t_end=0.01, dt=dt)
    assert trajectory.v["d1_0.y"][-1] < -1e-3
    reference = simulate(pile(2, 0.2, walls=False), MoreauJean(), t_end=0.01, dt=1e-5)
    assert trajectory.v["d1_0.y"][-1] == pytest.approx(reference.v["d1_0.y"][-1], rel=2e-2)
