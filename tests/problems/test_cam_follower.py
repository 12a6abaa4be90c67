"""The cam and its follower: lift-off in closed form, flight and return by equations of their own, in both worlds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from nonsmooth import CompliantDae, ErrorControl, EventDriven, InputError, MoreauJean, Rigid, simulate
from nonsmooth_problems import cam_follower
from nonsmooth_problems.cam_follower import COMPLIANT, lift_off_angle, lift_off_speed

R, E, ROLLER = 30e-3, 10e-3, 10e-3
STIFFNESS, PRELOAD, GRAVITY = 1000.0, 20.0, 9.81
MASS = {"flat": 0.2, "roller": 0.25}
TIGHT = ErrorControl(rtol=1e-11, atol=1e-13, dt_min=1e-7, dt_max=1e-3)


def height(angle, follower):
    """Of the follower on the cam [m]: its face, or the roller's axle."""
    if follower == "flat":
        return R + E * np.sin(angle)
    return E * np.sin(angle) + np.sqrt((R + ROLLER) ** 2 - (E * np.cos(angle)) ** 2)


def load(angle, speed, follower):
    """Vertical force of the cam on a follower that stays on it [N]: by differences, good to 1e-5."""
    h = 1e-4
    bend = (height(angle + h, follower) - 2 * height(angle, follower) + height(angle - h, follower)) / h**2
    spring = PRELOAD + STIFFNESS * (height(angle, follower) - height(-np.pi / 2, follower))
    return MASS[follower] * (GRAVITY + speed**2 * bend) + spring


@pytest.mark.parametrize("follower", MASS)
def test_the_lift_off_speed_by_the_least_load(follower):
    """At that speed the least load over a turn is 0, and it is found at the top."""
    speed = lift_off_speed(follower)
    least = minimize_scalar(lambda angle: load(angle, speed, follower), (0.5, 1.5, 2.5), tol=1e-6)
    assert least.x == pytest.approx(np.pi / 2, abs=1e-2)
    assert least.fun == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("follower", MASS)
def test_it_leaves_above_that_speed_and_not_below(follower):
    for share, leaves in ((0.999, False), (1.001, True)):
        speed = share * lift_off_speed(follower)
        run = simulate(
            cam_follower(follower=follower, speed=speed).build(), EventDriven(), t_end=2 * np.pi / speed, dt=TIGHT
        )
        assert np.any(run.mode["face"][1:] == 0) == leaves == bool(len(run.impacts))
        assert run.certificate.gap_violation <= 1e-12 and abs(run.certificate.energy.remainder) <= 1e-11


@pytest.mark.parametrize("follower", MASS)
def test_the_load_on_a_slow_cam(follower):
    """Rows hold mean forces: the load in the middle of a step, to second order in it."""
    speed = 0.8 * lift_off_speed(follower)
    control = ErrorControl(rtol=1e-11, atol=1e-13, dt_min=1e-7, dt_max=1e-4)
    run = simulate(
        cam_follower(follower=follower, speed=speed).build(), EventDriven(), t_end=2 * np.pi / speed, dt=control
    )
    angle = (run.q["cam.angle"][1:] + run.q["cam.angle"][:-1]) / 2
    expected = load(angle, speed, follower)
    if follower == "roller":  # along the line of centres
        expected = expected / np.sqrt(1.0 - (E * np.cos(angle) / (R + ROLLER)) ** 2)
    np.testing.assert_allclose(run.lam_N["face"][1:], expected, rtol=0, atol=2e-3)
    lifted = run.q["follower.y"] - [height(one, follower) for one in run.q["cam.angle"]]
    assert np.max(np.abs(lifted)) <= 1e-12


def flight(speed):
    """Angle at which a flat follower leaves, time of its return, and the speed at which it strikes.

    In flight the follower is a mass on a spring.
    """
    left = lift_off_angle(speed)
    start, omega = (left + np.pi / 2) / speed, np.sqrt(STIFFNESS / MASS["flat"])
    middle = R - E - (PRELOAD + MASS["flat"] * GRAVITY) / STIFFNESS
    y, v = height(left, "flat") - middle, E * speed * np.cos(left)

    def gap(t):
        free = middle + y * np.cos(omega * t) + v / omega * np.sin(omega * t)
        return free - height(left + speed * t, "flat")

    landing = brentq(gap, 1e-3, np.pi / omega, xtol=1e-16)
    rate = v * np.cos(omega * landing) - y * omega * np.sin(omega * landing)
    return left, start, start + landing, rate - E * speed * np.cos(left + speed * landing)


@pytest.mark.parametrize("speed", [160.0, 180.0, 220.0])
def test_flight_and_return(speed):
    left, start, back, rate = flight(speed)
    run = simulate(cam_follower(speed=speed).build(), EventDriven(order="dop853"), t_end=back + 1e-4, dt=TIGHT)
    row = 1 + int(np.flatnonzero(run.mode["face"][1:] == 0)[0])
    assert run.q["cam.angle"][row] == pytest.approx(left, abs=1e-9)
    assert run.t[row] == pytest.approx(start, abs=1e-11)
    assert run.impacts["t"][0] == pytest.approx(back, abs=1e-12)
    assert run.impacts["gamma_minus"][0] == pytest.approx(rate, abs=1e-9)
    assert run.impacts["gamma_plus"][0] == pytest.approx(-0.5 * rate, rel=1e-9)


def test_compliant_surfaces_part_and_meet_near_by():
    """They press 1 um into each other and give back none of it before the load is gone: see `Compliant` on rest."""
    speed = 180.0
    left, start, back, rate = flight(speed)
    control = ErrorControl(rtol=1e-9, atol=1e-9, dt_min=1e-7, dt_max=1e-4)
    run = simulate(cam_follower(contact=COMPLIANT).build(), CompliantDae(), t_end=back + 1e-4, dt=control)
    force, touching = run.lam_N["face"], run.mode["face"] > 0
    unloaded = run.t[1:][(force[1:] <= 1e-3) & (run.t[1:] > 5e-3)][0]
    assert unloaded == pytest.approx(start, abs=2e-5)
    parted = np.flatnonzero(~touching[1:] & touching[:-1])[0] + 1
    assert start < run.t[parted] < start + 1e-3
    met = np.flatnonzero(touching[1:] & ~touching[:-1] & (run.t[1:] > 1e-3))[0] + 1
    assert run.t[met] == pytest.approx(back, abs=5e-6)
    assert run.gap_rate["face"][met] == pytest.approx(rate, rel=2e-3)
    early = (run.t > 2e-3) & (run.t < 8e-3)
    np.testing.assert_allclose(force[early], load(speed * run.t[early] - np.pi / 2, speed, "flat"), rtol=0, atol=1.0)


def test_a_roller_that_sticks_turns():
    """With friction the roller, which starts at rest, takes up the speed of the cam's surface."""
    system = cam_follower(contact=Rigid(restitution=0.0, friction=0.3), follower="roller", speed=50.0).build()
    turn = 2 * np.pi / 50.0
    run = simulate(system, MoreauJean(), t_end=0.02 + turn, dt=turn / 250)
    # the cam's disk turns at 50 rad/s about a centre that moves with the shaft: 3 : 1 on average
    assert np.mean(run.v["roller.angle"][-250:]) == pytest.approx(-3 * 50.0, rel=0.1)
    smooth = simulate(cam_follower(follower="roller", speed=50.0).build(), EventDriven(), t_end=0.01, dt=TIGHT)
    assert np.max(np.abs(smooth.v["roller.angle"])) <= 1e-12


def test_arguments():
    assert np.isnan(lift_off_angle(100.0)) and np.isnan(lift_off_angle(1.0))
    with pytest.raises(InputError, match='follower must be "flat" or "roller", got \'knife\''):
        cam_follower(follower="knife")
