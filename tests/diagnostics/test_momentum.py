"""Momentum of the bodies: what forces change, and what impacts keep."""

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
    PlanarBody,
    Rigid,
    SpatialBody,
    SphericalClearance,
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


def floating():
    """Two bodies that tumble, with a loose ball joint between them, which is hit 22 times."""
    return Model(
        [
            Ground(),
            SpatialBody("a", mass=1.0, inertia=(1e-3, 2e-3, 3e-3), velocity=(0.1, 0.0, 0.0),
                        angular_velocity=(1.0, 5.0, 2.0)),
            SpatialBody("b", mass=0.5, inertia=(1e-3, 1.5e-3, 2e-3), position=(0.2, 0.0, 0.0),
                        velocity=(0.1, -0.2, 0.3), angular_velocity=(-1.0, 3.0, -2.0)),
            SphericalClearance("j", "a", "b", at_a=(0.1, 0.0, 0.0), at_b=(-0.1, 0.0, 0.0), clearance=1e-3, radius=0.01,
                               contact=Rigid(restitution=0.5, friction=0.1)),
        ]
    ).build()  # fmt: skip


def test_angular_momentum_of_tumbling_bodies():
    """In space it is conserved to the accuracy of the motion, not to round-off: of second order in the steps of
    `Landing`, and to the tolerance of `EventDriven`, as docs/choosing.md says."""

    def lost(stepper, dt):
        total = momentum(simulate(floating(), stepper, t_end=0.5, dt=dt)).total_angular
        return np.abs(total - total[0]).max() / np.abs(total[0]).max()

    coarse, fine = (lost(GaussQP(), Landing(1e-6, dt)) for dt in (1e-3, 2.5e-4))
    assert 1e-9 < fine < 5e-9 and 12.0 < coarse / fine < 20.0  # 16 for second order
    assert lost(EventDriven(), ErrorControl(1e-10, 1e-12, 1e-6, 1e-2)) < 1e-11
