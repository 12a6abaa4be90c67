"""Exponents of mechanisms with impacts whose exponent is known."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    CircleCircle,
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    RevoluteClearance,
    Rigid,
    simulate,
)
from nonsmooth.exceptions import InputError
from nonsmooth.studies import lyapunov

RADIUS, PUCK, FREE, SPEED = 1.0, 0.1, 0.4, 1.0
CONTROL = ErrorControl(rtol=1e-9, atol=1e-11, dt_min=1e-6, dt_max=0.1)


def billiard():
    """A puck on its way to and fro between two round posts, `FREE` apart, along the line of their centres."""
    model = Model([Ground(), PlanarBody("puck", mass=1.0, inertia=1.0, velocity=(SPEED, 0.0))])
    place, hard = FREE / 2 + RADIUS + PUCK, Rigid(restitution=1.0, friction=0.0)
    for name, x in (("right", place), ("left", -place)):
        model.add(
            CircleCircle(name, "ground", "puck", at_a=(x, 0.0), radius_a=RADIUS, radius_b=PUCK, contact=hard)
        )  # fmt: skip
    return model.build()


@pytest.mark.parametrize(
    "stepper, dt", [(EventDriven(), CONTROL), (GaussQP(), Landing(1e-6, 0.1))], ids=["events", "landing"]
)
def test_a_puck_between_two_posts(stepper, dt):
    # free flight [[1, L], [0, 1]], then reflection [[1, 0], [2/R, 1]]: the growth mu of each way solves
    # mu + 1/mu = 2 + 2 L/R
    half = 1 + FREE / (RADIUS + PUCK)
    exact = np.log(half + np.sqrt(half**2 - 1)) * SPEED / FREE
    shares = []
    found = lyapunov(
        billiard(), stepper, interval=2 * FREE / SPEED, intervals=32, transient=10, dt=dt, progress=shares.append
    )  # fmt: skip
    assert found.value == pytest.approx(exact, rel=1e-6)
    assert found.error < 1e-6 and found.largest < 1e-4
    assert shares[-1] == 1.0 and len(shares) == 84


def journal(restitution, gravity):
    model = Model([Ground(), Gravity(acceleration=(0.0, -gravity))])
    model.add(PlanarBody("journal", mass=1.0, inertia=1.0, velocity=(0.6, 0.35), position=(0.01, 0.0)))
    contact = Rigid(restitution=restitution, friction=0.0)
    model.add(RevoluteClearance("pin", "ground", "journal", clearance=0.1, radius=0.1, contact=contact))
    return model.build()


def test_elastic_bounces_in_a_circle_are_regular():
    """Neighbours part linearly in time, so the mean of the rates falls as ln(t)/t."""
    found = lyapunov(journal(1.0, 0.0), EventDriven(), interval=1.0, intervals=48, dt=CONTROL)
    total = np.cumsum(found.rates)
    assert total[-1] < np.log(1e3 * 48)
    assert found.value < 0.25
    assert total[-1] - total[23] < 1.5  # ln 2 and what a direction may add: the second half adds next to nothing


def test_constant_steps_and_spatial_systems_are_refused():
    system = journal(1.0, 0.0)
    with pytest.raises(InputError, match="needs impacts at their own times, which a constant step rounds to its grid"):
        lyapunov(system, MoreauJean(), interval=1.0, intervals=32, dt=1e-3)


def test_a_damped_oscillator_settles():
    """A damped motion: neighbours approach with half the damping over the inertia."""
    from nonsmooth import Damper, Prismatic, Spring

    model = Model([Ground(), PlanarBody("mass", mass=2.0, inertia=1.0, position=(0.7, 0.0))])
    model.add(Prismatic("rail", "ground", "mass"))
    model.add(Spring("spring", "ground", "mass", stiffness=50.0, free_length=0.5))
    model.add(Damper("damper", "ground", "mass", damping=1.2))
    period, coarse = 2 * np.pi / np.sqrt(25.0 - 0.09), ErrorControl(rtol=1e-8, atol=1e-10, dt_min=1e-6, dt_max=0.1)
    found = lyapunov(model.build(), EventDriven(), interval=period, intervals=32, transient=4, dt=coarse)
    assert found.value == pytest.approx(-1.2 / (2 * 2.0), rel=5e-5)


def test_the_reference_motion_is_the_run_itself():
    run = simulate(billiard(), EventDriven(), t_end=FREE / SPEED, dt=CONTROL)
    assert run.q["puck.y"][-1] == 0.0 and len(run.impacts) == 1
