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
    Model,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Rigid,
    simulate,
)
from nonsmooth.derivatives import periodic_orbit
from nonsmooth.derivatives.periodic import _admitted, _satisfied
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


@pytest.mark.slow
def test_an_orbit_of_period_two_of_a_loose_pin():
    """After two turns the slider-crank is where it was, after one it is not; journal and bearing stay in contact. Of
    differences of 8e-7 and 1.6e-6 m, a hundredth of the clearance, 5e-6 is what errors of runs leave."""
    system = slider_crank_revolute(contact=Rigid(restitution=0.2, friction=0.1), clearance=1e-4).build()
    turn = 2 * np.pi / (5000 * np.pi / 30)
    control = ErrorControl(1e-12, dt_max=turn / 100)
    orbit = periodic_orbit(system, period=2 * turn, transient=8, dt=control)
    assert orbit.residual <= 1e-10 and orbit.stable
    half = orbit.run.at([0.0, turn]).v
    assert abs(np.diff(half["rod.angle"])[0]) > 1.0
    sweep = orbit.sensitivities.sweep
    Z, start = _admitted(sweep), orbit.run.origin.start

    def end(change):
        x = _satisfied(sweep, np.r_[start.q, start.v] + change)
        moved = replace(start, q=x[: system.nq], v=x[system.nq :])
        run = simulate(system, EventDriven(), t_end=2 * turn, dt=control, state=moved)
        return np.r_[run.q.array[-1], run.v.array[-1]]

    wide, narrow = (np.column_stack([(end(h * z) - end(-h * z)) / (2 * h) for z in Z.T]) for h in (1.6e-6, 8e-7))
    own = np.linalg.eigvals(np.linalg.pinv(Z) @ (4 * narrow - wide) / 3)
    np.testing.assert_allclose(np.sort(own), np.sort(orbit.multipliers.real), atol=2e-5)
