"""Momentum of the bodies: what forces change, and what impacts keep."""

import numpy as np
import pytest

from nonsmooth import (
    CircleCircle,
    GaussQP,
    Gravity,
    Landing,
    Model,
    PlanarBody,
    Rigid,
    simulate,
)
from nonsmooth.diagnostics import momentum


def test_an_oblique_impact_with_friction_keeps_the_momentum():
    """No force from outside: each total stays what it was, to round-off."""
    model = Model()
    model.add(
        PlanarBody("cue", mass=0.3, inertia=1e-3, position=(0.0, 0.0), velocity=(2.0, 0.1), angular_velocity=20.0)
    )
    model.add(PlanarBody("ball", mass=0.5, inertia=2e-3, position=(0.5, 0.03)))
    model.add(CircleCircle("hit", "cue", "ball", radius_a=0.05, radius_b=0.06,
                           contact=Rigid(restitution=0.5, friction=0.3)))  # fmt: skip
    run = simulate(model.build(), GaussQP(), t_end=0.5, dt=Landing(1e-6, 0.1))
    assert len(run.impacts) == 1 and abs(run.v["ball.angle"][-1]) > 0.1
    found = momentum(run)
    assert found.bodies == ("cue", "ball")
    np.testing.assert_allclose(found.total_linear, [[0.6, 0.03]] * len(run.t), atol=1e-15)
    np.testing.assert_allclose(found.total_angular, found.total_angular[0], atol=1e-15)


def test_weight_gives_what_it_should():
    model = Model([PlanarBody("stone", mass=2.0, inertia=1.0, position=(3.0, 0.0)), Gravity(acceleration=(0.0, -9.81))])
    run = simulate(model.build(), GaussQP(), t_end=0.5, dt=Landing(1e-6, 0.1))
    found = momentum(run)
    np.testing.assert_allclose(found.total_linear[:, 1], -2.0 * 9.81 * run.t, atol=1e-13)
    np.testing.assert_allclose(found.total_angular, -2.0 * 9.81 * 3.0 * run.t, atol=1e-13)


def test_parameters_of_the_run_count():
    model = Model([PlanarBody("stone", mass=2.0, inertia=1.0, velocity=(1.0, 0.0))])
    run = simulate(model.build(), GaussQP(), t_end=0.1, dt=Landing(1e-6, 0.1), parameters={"stone.mass": 5.0})
    assert momentum(run).total_linear[-1, 0] == pytest.approx(5.0)
