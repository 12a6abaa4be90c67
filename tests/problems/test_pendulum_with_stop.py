"""The exact pendulum against SciPy's elliptic functions and an integration with events."""

from __future__ import annotations

from math import pi, sin, tan

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipkinc

from nonsmooth import Rigid
from nonsmooth.exceptions import InputError
from nonsmooth_problems import pendulum_with_stop
from nonsmooth_problems.pendulum_with_stop import GRAVITY, MASS, PendulumWithStop, _elliptic, _jacobi


def test_elliptic_functions():
    for k in (1e-3, 0.3, 0.9, 0.999):
        for phi in np.linspace(0.0, pi / 2, 11):
            assert _elliptic(phi, k) == pytest.approx(ellipkinc(phi, k * k), rel=1e-14)
        u = np.linspace(-8.0, 8.0, 41)
        for mine, theirs in zip(_jacobi(u, np.full_like(u, k)), ellipj(u, k * k)[:3], strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=2e-14)


@pytest.mark.parametrize(("angle", "stop", "e"), [(1.2, 0.2, 0.7), (1.5, 0.0, 0.8), (0.9, -0.4, 0.6), (2.0, 0.6, 1.0)])
def test_against_an_integration_with_events(angle, stop, e):
    exact = PendulumWithStop(angle, stop, e)
    w2, t, y = exact.frequency**2, 0.0, [angle, 0.0]

    def met(_, y):
        return y[0] - stop

    met.terminal, met.direction = True, -1
    for k in range(1, 5):
        run = solve_ivp(
            lambda _, y: [y[1], -w2 * np.sin(y[0])], (t, t + 5), y, "DOP853", rtol=1e-13, atol=1e-15, events=met
        )
        t, y = run.t[-1], [stop, -e * run.y[1, -1]]
        assert exact.impact_times[k - 1] == pytest.approx(t, abs=1e-10)
        assert exact.impact_rate(k) == pytest.approx(run.y[1, -1], abs=1e-10)
        assert exact.sample(exact.impact_times[k - 1]).v["rod.angle"] == pytest.approx(y[1], abs=1e-9)


def test_the_motion_keeps_its_energy_between_impacts():
    exact = pendulum_with_stop.exact()
    t = np.linspace(0.0, 2.9, 2000)
    sample = exact.sample(t)
    energy = sample.v["rod.angle"] ** 2 / 2 - exact.frequency**2 * np.cos(sample.q["rod.angle"])
    passed = np.searchsorted(exact.events, t, side="right")
    bottom = -(exact.frequency**2) * np.cos(0.2)
    expected = bottom + (exact.impact_rate(1) * 0.7**passed) ** 2 / 2
    expected[passed == 0] = -(exact.frequency**2) * np.cos(1.2)
    np.testing.assert_allclose(energy, expected, atol=1e-12)
    assert np.all(sample.gap["stop"] >= -1e-15)


def test_it_comes_to_rest_on_a_stop_above_the_lowest_point():
    exact = pendulum_with_stop.exact()
    flights = np.diff(exact.impact_times)
    assert flights[20:60] / flights[19:59] == pytest.approx([0.7] * 40, rel=1e-4)
    assert exact.rest_force == pytest.approx(MASS * GRAVITY * tan(0.2) / 2)
    rest = exact.sample(5.0)
    assert (rest.q["rod.angle"], rest.v["rod.angle"], rest.lam_N["stop"]) == (0.2, 0.0, exact.rest_force)


def test_on_a_stop_at_the_lowest_point_it_bounces_for_ever():
    exact = PendulumWithStop(1.0, 0.0, 0.5)
    assert exact.moduli[3] == pytest.approx(sin(0.5) * 0.5**3, rel=1e-15)
    assert np.diff(exact.impact_times)[-1] == pytest.approx(pi / exact.frequency, rel=1e-14)
    assert PendulumWithStop(1.0, 0.0, 0.0).rest_time == PendulumWithStop(1.0, 0.0, 0.0).impact_times[0]


def test_beyond_a_stop_on_the_other_side_it_swings_until_it_only_touches():
    plastic = PendulumWithStop(1.0, -0.3, 0.0)
    t = plastic.impact_times[0] + np.linspace(0.0, 3.0, 400)
    angle = plastic.sample(t).q["rod.angle"]
    assert np.min(angle) >= -0.3 - 1e-14 and np.max(angle) == pytest.approx(0.3, abs=1e-3)
    assert PendulumWithStop(0.2, -0.3, 0.5).impact_times == ()


def test_bad_values_are_named():
    with pytest.raises(InputError, match="stop must lie in"):
        pendulum_with_stop(stop=2.0)
    with pytest.raises(InputError, match="angle must lie between stop = 0.2 rad"):
        pendulum_with_stop(angle=0.1)
    with pytest.raises(InputError, match="frictionless, got friction = 0.1"):
        pendulum_with_stop.exact(contact=Rigid(restitution=0.5, friction=0.1))
