"""Boxes aligned to the last digit: a corner above a corner is held by the side that faces the body."""

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointBox,
    Rigid,
    simulate,
)

SIDE = 0.1


def stack(number, *, friction, restitution=0.0, width=SIDE, height=0.0, x=0.0):
    """Equal boxes on one that is fixed, each corner of each against the box above or below."""
    law = Rigid(restitution=restitution, friction=friction)
    elements = [Ground(), Gravity(acceleration=(0.0, -9.81))]
    below, middle = "ground", SIDE / 2
    for i in range(number):
        name = f"box{i}"
        y = 1.5 * SIDE + SIDE * i + height
        elements.append(PlanarBody(name, mass=1.0, inertia=1 / 600, position=(x, y)))
        for k, side in enumerate((-0.5, 0.5)):
            sides, wide = {"width": SIDE, "height": SIDE}, {"width": width if i == 0 else SIDE, "height": SIDE}
            at, edge = (side * SIDE, -SIDE / 2), (side * wide["width"], middle + SIDE / 2)
            elements.append(PointBox(f"{name}p{k}", below, name, at_a=(0, middle), at_b=at, contact=law, **wide))
            elements.append(PointBox(f"{name}q{k}", name, below, at_b=edge, contact=law, **sides))
        below, middle = name, 0.0
    return Model(elements).build()


@pytest.mark.parametrize("number", [1, *(pytest.param(many, marks=pytest.mark.slow) for many in (2, 6))])
@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 0.0), (0.5, 0.5), (0.9, 0.0)])
def test_a_stack_rests(number, friction, restitution):
    run = simulate(stack(number, friction=friction, restitution=restitution), t_end=0.2)
    for i in range(number):  # round-off of heights up to 0.7 m
        np.testing.assert_allclose(run.q[f"box{i}.y"], 1.5 * SIDE + SIDE * i, rtol=0.0, atol=1e-14)
    assert run.verdict.position < 1e-9  # of the size of a contact, 0.01 m
    assert run.verdict.kind == "accurate"  # though loads of redundant corners are not unique


@pytest.mark.parametrize(
    ("stepper", "dt"),
    [(MoreauJean(), 1e-3), (GaussQP(), Landing(1e-6, 1e-3)), (EventDriven(), ErrorControl(1e-8, 1e-10, 1e-6, 0.01))],
)
@pytest.mark.parametrize(("width", "x"), [(SIDE, 0.0), (2 * SIDE, SIDE / 2), (0.6 * SIDE, 0.2 * SIDE)])
def test_a_box_rests_on_one_of_which_an_edge_is_aligned(stepper, dt, width, x):
    run = simulate(stack(1, friction=0.5, width=width, x=x), stepper, t_end=0.2, dt=dt)
    # the limits of closed gaps are 1e-8 of the size of a contact
    np.testing.assert_allclose(run.q["box0.y"], 1.5 * SIDE, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("stepper", "dt"), [(GaussQP(), Landing(1e-6, 1e-3)), (EventDriven(), ErrorControl(1e-8, 1e-10, 1e-6, 0.01))]
)
def test_a_box_that_falls_on_its_like_lands(stepper, dt):
    """It falls 0.09 m, bounces with e = 0.5 and comes to rest after 3 x the time of its fall, 0.406 s."""
    run = simulate(stack(1, friction=0.5, restitution=0.5, height=0.09), stepper, t_end=0.6, dt=dt)
    fall = np.sqrt(2 * 0.09 / 9.81)
    assert run.impacts["t"][0] == pytest.approx(fall, rel=1e-6)
    assert run.q["box0.y"][-1] == pytest.approx(1.5 * SIDE, abs=1e-9)
    assert abs(run.q["box0.angle"][-1]) < 1e-9
