"""The exact bouncing ball against decimal arithmetic and the laws it obeys."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from nonsmooth import Rigid
from nonsmooth.exceptions import InputError
from nonsmooth_problems import bouncing_ball
from nonsmooth_problems.bouncing_ball import GRAVITY, MASS, BouncingBall


def test_impact_times_in_fifty_digits():
    with localcontext() as context:
        context.prec = 50
        e, flight = Decimal("0.9"), (2 * Decimal("0.9") / Decimal("9.81")).sqrt()
        t, times = flight, []
        for _ in range(300):
            times.append(float(t))
            flight *= e
            t += 2 * flight
        rest = (2 * Decimal("0.9") / Decimal("9.81")).sqrt() * 19
    ball = bouncing_ball.exact()
    np.testing.assert_allclose(ball.impact_time(np.arange(1, 301)), times, rtol=1e-15)
    assert ball.rest_time == pytest.approx(float(rest), rel=1e-15)
    assert ball.rest_time == pytest.approx(8.1387, abs=5e-5)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9, 1.0])
def test_the_motion_between_the_impacts(restitution):
    ball = bouncing_ball.exact(contact=Rigid(restitution=restitution, friction=0.0))
    t = np.linspace(0.0, 3.0, 1001)
    here = ball.sample(t)
    assert np.all(here.gap["floor"] >= -1e-14)
    # energy is that of the bounce; each impact leaves e^2 of it
    energy = GRAVITY * here.gap["floor"] + here.v["ball.y"] ** 2 / 2
    passed = np.searchsorted(ball.events, t, side="right")
    expected = np.where(t >= ball.rest_time, 0.0, GRAVITY * 0.9 * restitution ** (2.0 * passed))
    np.testing.assert_allclose(energy, expected, atol=1e-13)
    # momentum is what gravity and the floor gave
    np.testing.assert_allclose(here.impulse["floor"], MASS * (here.v["ball.y"] + GRAVITY * t), atol=1e-13)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.9, 1.0])
def test_an_impact_has_two_limits(restitution):
    ball = BouncingBall(0.9, restitution)
    for k in range(1, 12 if restitution else 2):
        t = ball.impact_time(k)
        left, right = ball.sample(t, "left"), ball.sample(t, "right")
        assert left.v["ball.y"] == pytest.approx(-GRAVITY * ball.fall * restitution ** (k - 1), rel=1e-12)
        assert right.v["ball.y"] == pytest.approx(-restitution * left.v["ball.y"], rel=1e-12, abs=1e-14)
        assert right.impulse["floor"] - left.impulse["floor"] == pytest.approx(ball.impact_impulse(k), rel=1e-11)
        assert left.gap["floor"] == pytest.approx(0.0, abs=1e-14)


def test_rest():
    after = bouncing_ball.exact().sample(9.0)
    assert (after.v["ball.y"], after.gap["floor"], after.lam_N["floor"]) == (0.0, 0.0, MASS * GRAVITY)


def test_bad_values_are_named():
    with pytest.raises(InputError, match="height must be a positive number of metres, got 0"):
        bouncing_ball(height=0.0)
    with pytest.raises(InputError, match="height must be a positive"):
        bouncing_ball.exact(height=-1.0)
