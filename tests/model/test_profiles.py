"""Profiles of motions and splines, of symbols and numbers alike, and as motions of drivers."""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    Model,
    ModelError,
    ModelWarning,
    MoreauJean,
    MotionProfile,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    Revolute,
    Spline,
    Table,
    simulate,
)

J = 0.02
CONTROL = ErrorControl(1e-9, 1e-11, 1e-7, 0.05)


def course(motion, t):
    """Value, rate, acceleration and jerk (4, n) of its expression; the value is that of numbers."""
    symbol = ca.SX.sym("t")
    rows = [motion(symbol)]
    for _ in range(3):
        rows.append(ca.jacobian(rows[-1], symbol))
    found = ca.Function("course", [symbol], [ca.vertcat(*rows)])
    values = np.array(found(np.reshape(t, (1, -1))))
    np.testing.assert_allclose(values[0], [motion(one) for one in t], rtol=0.0, atol=1e-15)
    return values


#: limits, with the greatest speed, acceleration and jerk in closed form, and the time
A, V, B = 2.0, 0.5, 20.0
CASES = {
    "trapezoid": (dict(distance=0.3, speed=V, acceleration=A), (V, A, 0.0, 0.3 / V + V / A)),
    "triangle": (dict(distance=0.1, speed=V, acceleration=A), (0.2**0.5, A, 0.0, 2 * (0.1 / A) ** 0.5)),
    "s-curve": (dict(distance=0.3, speed=V, acceleration=A, jerk=B), (V, A, B, 0.3 / V + V / A + A / B)),
    # d = v (v/a + a/j) for a distance too short for the speed, d = 2 v (v/j)^(1/2) for the acceleration, too
    "without constant speed": (
        dict(distance=0.15, speed=V, acceleration=A, jerk=B),
        (0.1 * (31**0.5 - 1), A, B, 2 * (0.05 * (31**0.5 - 1) + 0.1)),
    ),
    "without constant acceleration": (
        dict(distance=0.02, speed=V, acceleration=A, jerk=B),
        ((0.02**2 * B / 4) ** (1 / 3), (0.02 * B**2 / 2) ** (1 / 3), B, 4 * (0.02 / (2 * B)) ** (1 / 3)),
    ),
    "low speed": (
        dict(distance=0.02, speed=0.05, acceleration=A, jerk=B),
        (0.05, (0.05 * B) ** 0.5, B, 0.4 + (0.05 / B) ** 0.5 * 2),
    ),
    "trapezoid in 2 s": (dict(distance=0.3, duration=2.0), (0.225, 0.3375, 0.0, 2.0)),
    "s-curve in 2 s": (dict(distance=0.3, duration=2.0, shape="s-curve"), (0.225, 0.675, 2.025, 2.0)),
    "cosine in 2 s": (
        dict(distance=0.3, duration=2.0, shape="cosine"),
        (0.3 * np.pi / 4, 0.3 * np.pi**2 / 8, 0.3 * np.pi**3 / 16, 2.0),
    ),
    "cosine": (
        dict(distance=0.3, speed=V, shape="cosine"),
        (V, 2 * V**2 / 0.3, 4 * V**3 / 0.3**2, 0.3 * np.pi / (2 * V)),
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_profile_keeps_its_limits_and_ends_at_its_distance(name: str, sign: float) -> None:
    given, (speed, acceleration, jerk, duration) = CASES[name]
    given = given | {"distance": sign * given["distance"]}
    profile = MotionProfile(**given, begin=0.2, start=1.0)
    assert profile.duration_of_stroke == pytest.approx(duration, rel=1e-14)
    t = np.linspace(0.0, duration + 0.4, 4001)
    x, v, a, j = course(profile, t)
    rest = (t < 0.2) | (t > 0.2 + duration + 1e-12)
    assert np.all(np.array([v, a, j])[:, rest] == 0.0) and np.all(x[t < 0.2] == 1.0)
    assert x[-1] == pytest.approx(1.0 + given["distance"], rel=1e-15)
    # a peak lies within half the distance of samples, within which its own rate changes it; a cosine has round ones
    fine = t[1] - t[0]
    for found, most, rate in ((v, speed, acceleration), (a, acceleration, jerk), (j, jerk, 0.0)):
        assert np.abs(found).max() == pytest.approx(most, rel=2e-6, abs=rate * fine / 2)
        assert np.abs(found).max() <= most * (1 + 1e-14)
    # the rates are those of the value: area, by the trapezoidal rule, and no jump of value and speed
    np.testing.assert_allclose(np.trapezoid(v, t), given["distance"], rtol=1e-5)
    assert np.abs(np.diff(x)).max() <= speed * fine * (1 + 1e-9)
    assert np.abs(np.diff(v)).max() <= acceleration * fine * (1 + 1e-9)
    if profile.shape == "s-curve":
        assert np.abs(np.diff(a)).max() <= jerk * fine * (1 + 1e-9)


@pytest.mark.parametrize("shape", ["trapezoidal", "s-curve", "cosine"])
def test_a_profile_with_a_dwell_moves_back_in_the_same_way(shape: str) -> None:
    there = MotionProfile(0.3, duration=0.5, begin=0.1, shape=shape)
    both = MotionProfile(0.3, duration=0.5, begin=0.1, dwell=0.2, shape=shape)
    t = np.linspace(0.0, 2.0, 501)
    expected = [there(one) + 0.0 - there(one - 0.7) for one in t]
    np.testing.assert_allclose(course(both, t)[0], expected, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(distance=0.0, duration=1.0), "distance must not be zero"),
        (dict(distance=np.inf, duration=1.0), "distance must be a finite number, got inf"),
        (dict(distance=1.0), "trapezoidal takes duration, or speed and acceleration, got none of them"),
        (dict(distance=1.0, speed=1.0), "takes duration, or speed and acceleration, got speed"),
        (dict(distance=1.0, duration=1.0, speed=1.0), "got speed and duration"),
        (dict(distance=1.0, speed=1.0, jerk=1.0), "s-curve takes duration, or speed and acceleration and jerk"),
        (dict(distance=1.0, speed=1.0, acceleration=1.0, shape="cosine"), "cosine takes duration, or speed, got speed"),
        (dict(distance=1.0, speed=-1.0, acceleration=1.0), "speed must be a positive number, got -1.0"),
        (dict(distance=1.0, duration=1.0, dwell=-1.0), "dwell must be a time in s that is not negative"),
        (dict(distance=1.0, duration=1.0, shape="quintic"), '"trapezoidal", "s-curve" or "cosine", got \'quintic\''),
        (dict(distance=1.0, duration="1 m"), 'duration "1 m" is of another dimension than s'),
    ],
)
def test_profiles_that_make_no_sense_are_refused(given: dict, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        MotionProfile(**given)


def test_a_cubic_is_its_own_spline_and_goes_on_with_its_speeds() -> None:
    times = np.array([0.0, 0.2, 0.5, 1.0, 1.3])
    spline = Spline(times, times**3 - times)
    t = np.linspace(0.0, 1.3, 27)
    x, v, a, _ = course(spline, t)
    np.testing.assert_allclose(x, t**3 - t, atol=1e-14)
    np.testing.assert_allclose(v, 3 * t**2 - 1, atol=1e-13)
    np.testing.assert_allclose(a[:-1], 6 * t[:-1], atol=1e-12)
    x, v, a, _ = course(spline, np.array([-1.0, 2.3]))
    np.testing.assert_allclose(v, [-1.0, 3 * 1.3**2 - 1], atol=1e-13)
    np.testing.assert_allclose(x, [1.0, 1.3**3 - 1.3 + v[1]], atol=1e-13)
    assert np.all(a == 0.0)


def test_a_spline_has_the_speeds_that_are_given() -> None:
    spline = Spline((0.0, 0.5, 1.0), (0.0, 1.0, 0.5), speeds=(0.0, "2 1/s"))
    assert course(spline, np.array([0.0, 1.0]))[1] == pytest.approx([0.0, 2.0], abs=1e-14)
    # continuous speed and acceleration within, by which a spline is more than a table
    before, after = course(spline, np.array([0.5 - 1e-12, 0.5])).T
    np.testing.assert_allclose(before[:3], after[:3], atol=1e-9)
    with pytest.raises(ModelError, match="speeds must be two finite numbers, got 1.0"):
        Spline((0.0, 1.0), (0.0, 1.0), speeds=1.0)
    with pytest.raises(ModelError, match="Spline: times must increase strictly, got 1 followed by 0"):
        Spline((1.0, 0.0), (1.0, 2.0))


def test_a_long_spline_is_few_operations_of_a_load() -> None:
    times = np.linspace(0.0, 3.0, 1001)
    spline = Spline(times, np.sin(times))
    load = PointForce("F", "b", force=lambda t: (spline(t), 0.0))
    system = Model([Ground(), PlanarBody("b", mass=2.0, inertia=1.0), load], silence=["no-gravity"]).build()
    assert system.functions.forces(load).n_instructions() < 100
    start = system.start
    for t in (-1.0, 0.0, 0.0015, 2.9999, 3.0, 4.0):
        force = np.array(system.h(t, start.q, start.v, system.parameter_vector())).ravel()[0]
        assert force == pytest.approx(spline(t), abs=1e-14)


def crank(motion):
    return Model([
        Ground(), PlanarBody("crank", mass=1.0, inertia=J), Revolute("pivot", "ground", "crank"),
        PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=motion),
        Gravity(acceleration=(0.0, -9.81)),
    ])  # fmt: skip


@pytest.mark.parametrize("shape", ["trapezoidal", "s-curve", "cosine"])
def test_the_torque_of_a_driver_is_inertia_times_acceleration(shape: str) -> None:
    profile = MotionProfile(1.5, duration=0.6, begin=0.1, dwell=0.1, shape=shape)
    system = crank(profile).build()
    # where a part of the motion ends, a step does
    corners = np.array(system.corners(0.0, 1.6))
    for end in (0.1, 0.7, 0.8, 1.4):
        assert np.abs(corners - end).min() < 1e-12
    run = simulate(system, EventDriven(), t_end=1.6, dt=CONTROL)
    assert len(run.impacts) == 0
    exact = course(profile, run.t)
    np.testing.assert_allclose(run.q["crank.angle"], exact[0], atol=1e-12)
    np.testing.assert_allclose(run.v["crank.angle"], exact[1], atol=1e-11)
    # mean torques of steps are J times differences of speeds; instantaneous ones J times the acceleration
    means = J * np.diff(exact[1]) / np.diff(run.t)
    np.testing.assert_allclose(run.reaction["motor.torque"][1:], means, atol=1e-8 * J * np.abs(exact[2]).max() + 1e-9)
    for t in (0.15, 0.33, 0.5, 0.95, 1.3):
        found = run.instant(t).reaction["motor.torque"][0]
        assert found == pytest.approx(J * course(profile, [t])[2, 0], rel=1e-9)


def test_a_table_of_positions_is_remarked_and_its_spline_is_not() -> None:
    """The torque of sampled angles is that of jumps of the speed within one step, of their spline the motion's own."""
    times = np.linspace(0.0, 1.0, 41)
    # two of the 39 points within are points of inflection between equal slopes
    angles = 1 - np.cos(2 * np.pi * times)
    with pytest.warns(ModelWarning, match='the motion of "motor" is a Table, whose speed jumps at 37 of its points'):
        table = crank(Table(times, angles)).build(assemble=True)
    spline = crank(Spline(times, angles, speeds=(0.0, 0.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        smooth = spline.build()
        crank(Table((0.0, 0.5, 1.0), (0.0, 0.5, 1.0))).build(assemble=True)  # straight
    most = [
        np.abs(simulate(one, MoreauJean(), t_end=1.0, dt=1e-3).reaction["motor.torque"]).max()
        for one in (smooth, table)
    ]
    # of the spline within its error, of second order in accelerations; a jump is what a sample of 25 steps changes
    assert most[0] == pytest.approx(J * 4 * np.pi**2, rel=5e-3)
    assert most[1] == pytest.approx(25 * J * 4 * np.pi**2, rel=5e-3)
