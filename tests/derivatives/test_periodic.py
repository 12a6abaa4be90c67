"""Periodic motions by shooting, and their Floquet multipliers, against closed forms and differences of runs."""

from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    Harmonic,
    InputError,
    Model,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Rigid,
    SpatialBody,
    simulate,
)
from nonsmooth.derivatives import periodic_orbit
from nonsmooth_problems import slider_crank_revolute

G, E, PERIOD, AMPLITUDE = 9.81, 0.7, 0.1, 1.5e-3


def juggler(height, speed, phase):
    """A ball on a table that moves up and down; at the start the table is at rest."""
    model = Model([Ground(), Gravity(acceleration=(0.0, -G))])
    motion = Harmonic(amplitude=AMPLITUDE, period=PERIOD, phase=phase)
    model.add(PlanarBody("table", mass=1.0, inertia=1.0, position=(0.0, motion(0.0)), velocity=(0.0, 0.0)))
    model.add(Prismatic("guide", "ground", "table", direction=np.pi / 2))
    model.add(PrescribedMotion("drive", "ground", "table", coordinate="y", motion=motion))
    model.add(PlanarBody("ball", mass=1.0, inertia=1.0, position=(0.0, height), velocity=(0.0, speed)))
    model.add(PointPlane("floor", "table", "ball", contact=Rigid(restitution=E, friction=0.0)))
    return model


@pytest.mark.parametrize("stable", [True, False])
def test_a_ball_that_is_juggled_by_a_table(stable):
    """It flies for a period and lands with g T / 2 on a table that rises with (1 - e) / (1 + e) g T / 2 and an
    acceleration a, one of two. By the matrices of flight and impact, the multipliers have the product e^2 and the sum
    (1 + e)^2 (1 + a / g) - 2 e; with a > 0 the motion is unstable. All others are 1, of motions sideways and turns."""
    omega, rise = 2 * np.pi / PERIOD, (1 - E) / (1 + E) * G * PERIOD / 2
    landing = np.arccos(rise / (AMPLITUDE * omega)) * (1 if stable else -1)  # phase of the table
    a = -AMPLITUDE * omega**2 * np.sin(landing)
    # half a period after the landing the ball is at its highest
    phase = landing + np.pi
    height = AMPLITUDE * np.sin(landing) + G * (PERIOD / 2) ** 2 / 2
    model = juggler(height + 2e-5, 1e-4, phase)
    orbit = periodic_orbit(model.build(assemble=model.assemble()), period=PERIOD)
    trace = (1 + E) ** 2 * (1 + a / G) - 2 * E
    own = np.roots([1.0, -trace, E**2])
    found = [one for one in orbit.multipliers if abs(one - 1.0) > 1e-6]
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(own), rtol=1e-7)
    assert orbit.residual <= 1e-10 and orbit.run.q["ball.y"][0] == pytest.approx(height, rel=1e-9)
    assert bool(np.max(np.abs(own)) < 1.0) == stable
