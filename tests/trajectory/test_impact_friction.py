"""Impulses of friction in the table of impacts are those of the impact, without the friction of the step before it."""

import numpy as np
import pytest

from nonsmooth import (
    CirclePlane,
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    PlanarBody,
    Rigid,
    simulate,
)


def disc():
    """It slides along a floor and strikes a wall."""
    return Model([
        Ground(),
        PlanarBody("b", mass=2.0, inertia=0.01, position=(0.0, 0.1), velocity=(3.0, 0.0), angular_velocity=80.0),
        CirclePlane("floor", "ground", "b", radius=0.1, contact=Rigid(restitution=0.0, friction=0.2)),
        CirclePlane(
            "wall", "ground", "b", at_a=(0.45, 0.0), direction=np.pi / 2, radius=0.1,
            contact=Rigid(restitution=0.5, friction=0.3),
        ),
        Gravity(acceleration=(0.0, -9.81)),
    ]).build()  # fmt: skip


@pytest.mark.parametrize(
    ("stepper", "dt"),
    [
        (EventDriven(), ErrorControl(1e-8)),
        (EventDriven(), ErrorControl(1e-8, 1e-10, 1e-6, 0.05)),
        (GaussQP(), Landing(1e-6, 1e-2)),
    ],
)
def test_impulses_are_on_their_cones(stepper, dt):
    run = simulate(disc(), stepper, t_end=0.2, dt=dt)
    impacts = run.impacts[run.impacts["t"] > 0.05]
    assert {str(name) for name in impacts["contact"]} == {"floor", "wall"}
    friction = {"floor": 0.2, "wall": 0.3}
    # both slip throughout the impact; to the accuracy of its program
    for one in impacts:
        assert abs(one["P_T"]) == pytest.approx(friction[str(one["contact"])] * one["P_N"], rel=1e-8)
