"""The rule for the longest step, a clearance divided by the speed of its joint: errors as a share of the clearance."""

from __future__ import annotations

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
    PlanarBody,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Rigid,
    simulate,
)
from nonsmooth_problems import slider_crank_translational


def coasting():
    """A free slider-crank with a loose crank pin: 60 rad/s at a radius of 40 mm."""
    crank = PlanarBody("crank", 0.25, 9e-5, (0.02, 0), angular_velocity=60.0)
    rod, law = PlanarBody("rod", 0.18, 2.2e-4, (0.095, 0)), Rigid(restitution=0.35, friction=0.0)
    model = Model(
        [
            Ground("frame"), crank, rod, PlanarBody("piston", 0.32, 6e-5, (0.15, 0)), Gravity(acceleration=(0, -9.81)),
            Revolute("main", "frame", crank, at_b=(-0.02, 0)), Revolute("wrist", rod, "piston", at_a=(0.055, 0)),
            RevoluteClearance("pin", crank, rod, at_a=(0.02, 0), at_b=(-0.055, 0), clearance=4e-4, contact=law),
            Prismatic("bore", "frame", "piston"),
        ],
        assemble="centred",
    )  # fmt: skip
    return model, 4e-4, 60.0 * 0.04


def guided():
    """Its guide is loose, by 1 mm; the slider moves with up to 11.1 m/s."""
    return slider_crank_translational(), 1e-3, 11.1


@pytest.mark.parametrize("make", [coasting, guided])
def test_error_at_steps_of_a_clearance_divided_by_the_speed(make):
    """A few per cent of the clearance, a tenth of that at a quarter of the step, wrong at four times the step. The
    reference has errors below 1e-5 of the clearance."""
    model, clearance, speed = make()
    system, t = model.build(), np.linspace(0.0, 0.03, 200)
    places = [name for name in system.q_names if name.endswith((".x", ".y"))]

    def positions(stepper, dt):
        at = simulate(system, stepper, t_end=0.03, dt=dt).at(t, order=4)
        return np.array([at.q[name] for name in places])

    exact = positions(EventDriven(), ErrorControl(1e-10))

    def error(share):
        steps = Landing(1e-6, share * clearance / speed)
        return float(np.max(np.abs(positions(GaussQP(), steps) - exact))) / clearance

    long, rule, short = error(4.0), error(1.0), error(0.25)
    assert long > 0.2 and 0.005 < rule < 0.04 and short < 0.1 * rule
