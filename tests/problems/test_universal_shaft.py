"""The universal joint against its closed form."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest
from loops import some

from nonsmooth import ErrorControl, EventDriven, MoreauJean, simulate
from nonsmooth.exceptions import InputError
from nonsmooth_problems import universal_shaft
from nonsmooth_problems.universal_shaft import INERTIA, UniversalShaft

ACCURATE = EventDriven(order="dop853")
FINE = ErrorControl(1e-12, 1e-12, 1e-9, 0.02)


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("bend", some([0.2, 0.6, -1.1], 3))
def test_a_run_follows_the_exact_motion(bend, cross):
    """Three turns. Constraints alone determine the motion, so that errors are those of their projection."""
    run = simulate(universal_shaft(bend=bend, cross=cross).build(), ACCURATE, t_end=0.6 * pi, dt=FINE)
    exact = universal_shaft.exact(bend=bend, cross=cross).sample(run.t)
    for name in exact.q:
        np.testing.assert_allclose(run.q[name], exact.q[name], atol=1e-12)
    for name in exact.v:
        np.testing.assert_allclose(run.v[name], exact.v[name], atol=1e-11)


def test_the_speed_follows_the_formula_of_textbooks():
    """w cos(beta)/(1 - sin^2(beta) cos^2(theta)) with theta from where the driver's arm lies in the shafts' plane."""
    run = simulate(universal_shaft(speed=5.0, bend=0.7).build(), ACCURATE, t_end=3.0, dt=FINE)
    theta = 5.0 * run.t - pi / 2
    expected = 5.0 * cos(0.7) / (1 - sin(0.7) ** 2 * np.cos(theta) ** 2)
    assert run.v["driven.wx"] == pytest.approx(expected, abs=1e-9)


def test_the_angle_has_the_rate_and_the_acceleration():
    """Differences over 1e-5 s, of an angle of up to 30 rad and a rate of up to 12 rad/s."""
    exact, t, h = UniversalShaft(10.0, 0.6), np.linspace(0.0, 3.0, 40), 1e-5
    np.testing.assert_allclose((exact.angle(t + h) - exact.angle(t - h)) / (2 * h), exact.rate(t), atol=1e-7)
    np.testing.assert_allclose((exact.rate(t + h) - exact.rate(t - h)) / (2 * h), exact.acceleration(t), atol=1e-6)
    assert exact.angle(2 * pi) == pytest.approx(20 * pi, rel=1e-15)  # as many turns as the driving shaft
    assert (exact.rate(0.0), exact.rate(pi / 20)) == (pytest.approx(10 * cos(0.6)), pytest.approx(10 / cos(0.6)))


def test_the_motor_does_the_work_that_the_driven_shaft_takes():
    """Mean torque times the constant speed is the change of the kinetic energy over the step, without loss."""
    system = universal_shaft().build()
    run = simulate(system, ACCURATE, t_end=0.7, dt=FINE)
    kinetic = system.energies(run.t, run.q.array, run.v.array, system.parameter_values)["kinetic"]
    work = run.reaction["motor.torque_x"][1:] * 10.0 * np.diff(run.t)
    np.testing.assert_allclose(work, np.diff(kinetic), atol=1e-11)
    exact = universal_shaft.exact()
    np.testing.assert_allclose(np.diff(kinetic), np.diff(INERTIA[0] * exact.rate(run.t) ** 2 / 2), atol=1e-13)
    t = np.linspace(0.0, 0.6, 20)
    np.testing.assert_allclose(exact.torque(t) * 10.0, INERTIA[0] * exact.rate(t) * exact.acceleration(t), rtol=1e-14)


def test_moreau_jean_holds_the_shafts_together():
    """First order: a step of 1 ms, 10 mrad of the driving shaft, leaves a velocity error below one per cent."""
    run = simulate(universal_shaft().build(), MoreauJean(), t_end=0.2, dt=1e-3)
    exact = universal_shaft.exact().sample(run.t)
    assert run.certificate.joint_violation < 1e-9
    np.testing.assert_allclose(run.v["driven.wx"], exact.v["driven.wx"], rtol=0.01)


def test_bad_values_are_named():
    with pytest.raises(InputError, match="speed must be a finite number of rad/s, not zero, got 0.0"):
        universal_shaft(speed=0.0)
    with pytest.raises(InputError, match="bend must lie in"):
        universal_shaft(bend=1.6)
