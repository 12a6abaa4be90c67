"""The ball on a turntable against its exact motion, and the exact motion against the laws it follows from."""

from __future__ import annotations

from math import hypot, pi

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, MoreauJean, Rigid, simulate
from nonsmooth.exceptions import InputError
from nonsmooth_problems import turntable_ball
from nonsmooth_problems.turntable_ball import GRAVITY, KAPPA, MASS, RADIUS, TurntableBall

ACCURATE = EventDriven(order="dop853")
FINE = ErrorControl(1e-12, 1e-12, 1e-9, 0.05)


def test_a_circle_takes_three_and_a_half_turns_of_the_table():
    exact = turntable_ball.exact()
    assert exact.turning == pytest.approx(2.0, rel=1e-15)
    period = 3.5 * 2 * pi / 7.0
    r = exact.path(np.linspace(0.0, period, 50))[0]
    np.testing.assert_allclose(r[-1], r[0], atol=1e-15)
    assert exact.centre == pytest.approx((0.1, 0.0), abs=1e-16)
    np.testing.assert_allclose(np.hypot(r[:, 0] - 0.1, r[:, 1]), 0.1, rtol=1e-14)


def test_it_rolls_and_obeys_the_balances():
    """Differences over 1e-5 s: squares of it times the frequency cubed are 1e-9, round-off is 1e-16/1e-5."""
    exact = TurntableBall(5.0, (0.3, -0.1), (0.2, 0.4))
    t, h = np.linspace(0.1, 2.0, 7), 1e-5
    r, v, omega = exact.path(t)
    (_, before, spun), (_, after, spins) = exact.path(t - h), exact.path(t + h)
    n = np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(v - RADIUS * np.cross(omega, n), 5.0 * np.cross(n, r), atol=1e-14)
    force = MASS * (after - before) / (2 * h)
    moment = KAPPA * MASS * RADIUS**2 * (spins - spun) / (2 * h)
    np.testing.assert_allclose(np.cross(-RADIUS * n, force), moment, atol=1e-10)
    needed = np.linalg.norm(force, axis=1) / (MASS * GRAVITY)
    np.testing.assert_allclose(needed, exact.friction_needed, rtol=1e-8)
    assert exact.friction_needed == pytest.approx(2 / 7 * 5.0 * hypot(0.2, 0.4) / GRAVITY)


def test_a_run_follows_the_exact_motion():
    """Half a circle: places within 1e-11 m of 0.1 m; orientations, after 16 rad of rolling, within 1e-10."""
    run = simulate(turntable_ball().build(), ACCURATE, t_end=pi / 2, dt=FINE)
    exact = turntable_ball.exact().sample(run.t)
    for name in exact.q:
        np.testing.assert_allclose(run.q[name], exact.q[name], atol=1e-11 if name[-2:] in (".x", ".y", ".z") else 1e-10)
    for name in exact.v:
        np.testing.assert_allclose(run.v[name], exact.v[name], atol=1e-8)
    force = run.contact_force["floor"][1:]
    np.testing.assert_allclose(force[:, 2], MASS * GRAVITY, rtol=1e-11)
    friction = turntable_ball.exact().friction_needed * MASS * GRAVITY
    # means over steps, of components along tangents of the table: against these the force turns by 2 - 7 rad/s
    turned = 5.0 * np.diff(run.t)
    chord = friction * np.sinc(turned / 2 / pi)
    np.testing.assert_allclose(np.hypot(*force[:, :2].T), chord, atol=1e-9)


def test_moreau_jean_converges_with_order_one():
    exact = turntable_ball.exact().sample(0.2)
    errors = []
    for dt in (2e-3, 1e-3):
        run = simulate(turntable_ball().build(), MoreauJean(), t_end=0.2, dt=dt)
        errors.append(hypot(run.q["ball.x"][-1] - exact.q["ball.x"], run.q["ball.y"][-1] - exact.q["ball.y"]))
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)
    assert errors[1] < 1e-4


def test_with_little_friction_it_slides_outwards():
    """The exact motion needs a friction of 0.041. Below it the contact slides, with the whole of friction."""
    with pytest.raises(InputError, match="rolls only with friction above 0.040"):
        turntable_ball.exact(contact=Rigid(restitution=0.0, friction=0.03))
    system = turntable_ball(contact=Rigid(restitution=0.0, friction=0.03)).build()
    run = simulate(system, ACCURATE, t_end=0.5, dt=ErrorControl(1e-9, 1e-11, 1e-9, 0.05))
    force = run.contact_force["floor"]
    assert np.hypot(force[1, 0], force[1, 1]) == pytest.approx(0.03 * MASS * GRAVITY, rel=1e-4)
    rolled = turntable_ball.exact().sample(0.5)
    assert hypot(run.q["ball.x"][-1], run.q["ball.y"][-1]) > hypot(rolled.q["ball.x"], rolled.q["ball.y"]) + 1e-4


def test_bad_values_are_named():
    with pytest.raises(InputError, match="speed must be a positive number of rad/s, got 0.0"):
        turntable_ball(speed=0.0)
    with pytest.raises(InputError, match="position and velocity must be finite"):
        turntable_ball(x=float("nan"))
