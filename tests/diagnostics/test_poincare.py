"""Sections against motions whose crossings are known."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, Ground, Model, PlanarBody, PrescribedMotion, Revolute, simulate
from nonsmooth.diagnostics import poincare, stroboscope
from nonsmooth.exceptions import InputError
from nonsmooth_problems import bouncing_ball

CONTROL = ErrorControl(rtol=1e-10, atol=1e-12, dt_min=1e-6, dt_max=0.05)
SPEED = 7.0


@pytest.fixture(scope="module")
def crank():
    """An arm of 0.1 m that turns at constant speed."""
    model = Model([Ground(), PlanarBody("arm", mass=1.0, inertia=1e-3, position=(0.1, 0.0), velocity=(0.0, 0.1 * SPEED),
                                        angular_velocity=SPEED)])  # fmt: skip
    model.add(Revolute("shaft", "ground", "arm", at_b=(-0.1, 0.0)))
    model.add(PrescribedMotion("motor", "ground", "arm", coordinate="angle", motion=lambda t: SPEED * t))
    return simulate(model.build(), EventDriven(), t_end=4.3, dt=CONTROL)


@pytest.fixture(scope="module")
def ball():
    return simulate(bouncing_ball().build(), EventDriven(), t_end=1.0, dt=CONTROL)


def test_each_turn_of_a_crank_is_crossed_once(crank):
    found = poincare(crank, "arm.angle", 0.25, period=2 * np.pi)
    times = (0.25 + 2 * np.pi * np.arange(5)) / SPEED
    np.testing.assert_allclose(found.t, times[times < 4.3], atol=1e-9)
    assert set(found.direction.tolist()) == {1}
    np.testing.assert_allclose(found.q["arm.x"], 0.1 * np.cos(0.25), atol=1e-8)
    np.testing.assert_allclose(found.v["arm.y"], 0.1 * SPEED * np.cos(0.25), atol=1e-6)


def test_directions_and_the_start(crank):
    # y = r sin(7 t) rises through 0 at whole turns, of which the start is none, and falls at half turns
    turns = np.pi / SPEED * np.arange(1, 11)
    both = poincare(crank, "arm.y")
    np.testing.assert_allclose(both.t, turns[turns < 4.3], atol=1e-8)
    np.testing.assert_array_equal(both.direction, [-1, 1, -1, 1, -1, 1, -1, 1, -1])
    for word, first in (("falling", 0), ("rising", 1)):
        np.testing.assert_array_equal(poincare(crank, "arm.y", direction=word).t, both.t[first::2])
    late = poincare(crank, "arm.y", after=2.0)
    np.testing.assert_array_equal(late.t, both.t[both.t >= 2.0])


def test_a_speed_that_jumps_past_the_value_crosses_at_the_impact(ball):
    found = poincare(ball, "ball.y", kind="v", direction="rising")
    np.testing.assert_array_equal(found.t, ball.impacts["t"])
    np.testing.assert_allclose(found.v_left["ball.y"], ball.impacts["gamma_minus"], atol=1e-12)
    np.testing.assert_allclose(found.v["ball.y"], ball.impacts["gamma_plus"], atol=1e-12)
    tops = poincare(ball, "floor", kind="gap_rate", direction="falling")
    exact = bouncing_ball.exact()
    # speed is zero where it falls, half way between two impacts
    np.testing.assert_allclose(exact.sample(tops.t).v["ball.y"], 0.0, atol=1e-7)
    # a jump crosses the levels on its way, each once
    many = poincare(ball, "ball.y", 0.5, kind="v", period=1.0, direction="rising")
    before, after = ball.impacts["gamma_minus"][0], ball.impacts["gamma_plus"][0]
    first = many.t == ball.impacts["t"][0]
    assert first.sum() == np.floor(after - 0.5) - np.ceil(before - 0.5) + 1


def test_a_cubic_that_turns_back_inside_a_step_crosses_twice(ball):
    top = poincare(ball, "ball.y", kind="v", direction="falling")
    low = ball.q["ball.y"].min() + 1e-9
    assert len(poincare(ball, "ball.y", low)) == 2 * len(ball.impacts)
    height = float(top.q["ball.y"][-1])
    twice = poincare(ball, "ball.y", height - 1e-9, after=float(ball.impacts["t"][0]))
    assert len(twice) == 2 and twice.direction.tolist() == [1, -1]


def test_a_stroboscope_takes_rows_that_lie_on_the_period(crank):
    period = 2 * np.pi / SPEED
    found = stroboscope(crank, period, phase=0.5)
    np.testing.assert_allclose(found.t, (0.5 + np.arange(5)) * period, rtol=1e-12)
    np.testing.assert_allclose(found.q["arm.x"], -0.1, atol=1e-8)
    assert len(stroboscope(crank, 0.43)) == 11 and len(stroboscope(crank, 0.43, after=2.15)) == 6
    assert not found.direction.any() and "5 points" in repr(found)


def test_bad_arguments_are_named(crank):
    with pytest.raises(InputError, match="direction must be one of rising, falling, both, got 'up'"):
        poincare(crank, "arm.x", direction="up")
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="period must be a positive number"):
            poincare(crank, "arm.x", period=bad)
        with pytest.raises(InputError, match="period must be a positive number of seconds"):
            stroboscope(crank, bad)
    with pytest.raises(InputError, match="value must be a finite number"):
        poincare(crank, "arm.x", np.inf)
    assert len(poincare(crank, "arm.x", 5.0)) == 0
