"""Motion between rows: its order, quaternions, impacts in between, and what lies outside."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    InputError,
    Model,
    PlanarBody,
    Revolute,
    SpatialBody,
    simulate,
)
from nonsmooth.trajectory import trajectory
from nonsmooth.trajectory.instants import Coordinates, hermite
from nonsmooth_problems import bouncing_ball

G = 9.81


def pendulum():
    bar = PlanarBody("bar", mass=1.0, inertia=0.1, position=(1.0, 0.0))
    pin = Revolute("pin", "ground", "bar", at_b=(-1.0, 0.0))
    return Model([Ground(), bar, pin, Gravity(acceleration=(0.0, -G))]).build()


def spinning_body():
    body = SpatialBody("body", mass=1.0, inertia=(1e-3, 2e-3, 3e-3), angular_velocity=(3.0, 8.0, 2.0))
    return Model([Ground(), body, Gravity(acceleration=(0.0, 0.0, -G))]).build()


def steps_of(system, t_end, dt):
    """A run whose steps all have one length: its tolerance is loose for it, its error that of order 8."""
    control = ErrorControl(rtol=1e-3, atol=1e-3, dt_min=1e-6, dt_max=dt)
    return simulate(system, EventDriven("dop853"), t_end=t_end, dt=control)


@pytest.mark.parametrize(("system", "t_end"), [(pendulum(), 1.0), (spinning_body(), 0.5)], ids=["plane", "space"])
@pytest.mark.parametrize(("order", "of_v"), [(6, 5), (4, 3)])
def test_the_error_between_rows_falls_with_the_stated_order(system, t_end, order, of_v):
    exact = simulate(system, EventDriven("dop853"), t_end=t_end, dt=ErrorControl(1e-13, 1e-14, 1e-6, t_end / 400))
    t = np.linspace(0.1, 0.9, 97) * t_end
    reference, errors = exact.at(t), []
    for count in (20, 40):
        # rows of the exact run: the polynomial's error alone
        run = steps_of(system, t_end, t_end / count)
        found = run.at(t, order=order)
        errors.append(
            [np.abs(found.q.array - reference.q.array).max(), np.abs(found.v.array - reference.v.array).max()]
        )
    fall = np.log2(np.divide(*errors))
    # 40 steps are far enough from round-off, and the run's own error, of order 8, falls faster
    assert fall[0] == pytest.approx(order, abs=0.5)
    assert fall[1] == pytest.approx(of_v, abs=0.5)


def test_quaternions_between_rows_have_norm_1():
    run = steps_of(spinning_body(), 0.5, 0.05)
    q = run.at(np.linspace(0.0, 0.5, 101)).q
    many, one = run.at(np.linspace(0.0, 0.5, 101)), run.at(0.25)
    assert repr(many) == f"States(101 times, 0 to 0.5 s: {q} and {many.v})" and repr(one).startswith("States(1 time, ")
    norms = sum(q[f"body.q{part}"] ** 2 for part in "wxyz")
    assert norms == pytest.approx(1.0, abs=1e-15)


def test_rates_of_quaternions_agree_with_the_mechanism():
    system, rng = spinning_body(), np.random.default_rng(5)
    q, v, a = rng.normal(size=(4, 7)), rng.normal(size=(4, 6)), rng.normal(size=(4, 6))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    turn = Coordinates(system.q_names, system.v_names)
    rates, h = turn.rates(q, v), 1e-6
    assert rates == pytest.approx(np.array([system.B(x).full() @ y for x, y in zip(q, v, strict=True)]), abs=1e-15)
    ahead, back = turn.rates(q + h * rates, v + h * a), turn.rates(q - h * rates, v - h * a)
    # central differences of step 1e-6
    assert turn.second_rates(q, v, a) == pytest.approx((ahead - back) / (2 * h), abs=1e-9)
    grown = np.array([1.0] * 3 + [2.0] * 4)  # a quaternion of another norm says the same
    assert turn.closed(grown * q, grown * rates)[1] == pytest.approx(v, abs=1e-14)


def test_polynomials_are_exact_up_to_their_degree():
    s, h = np.array([0.0, 0.3, 1.0]), np.full(3, 0.4)
    for degree, parts in ((3, 2), (5, 3)):
        curve = np.polynomial.Polynomial(np.arange(1.0, degree + 2))
        ends = [tuple(np.full((3, 1), curve.deriv(k)(t)) for k in range(parts)) for t in (0.0, 0.4)]
        value, rate = hermite(s, h, (ends[0], ends[1]))
        assert value[:, 0] == pytest.approx(curve(0.4 * s), rel=1e-13)
        assert rate[:, 0] == pytest.approx(curve.deriv()(0.4 * s), rel=1e-12)


@pytest.mark.parametrize("order", [4, 6])
def test_an_impact_between_two_times_is_respected(order):
    """Drop from h, e = 0.9: flights are parabolas, which polynomials of either order give exactly."""
    run = simulate(bouncing_ball().build(), EventDriven(), t_end=0.9, dt=ErrorControl(1e-8, 1e-10, 1e-6, 0.3))
    t1 = run.impacts["t"][0]
    t = np.linspace(0.0, 0.9, 181)
    found = run.at(t, order=order)
    speed = 0.9 * G * t1
    height = np.where(t < t1, -G * t**2 / 2 + G * t1**2 / 2, speed * (t - t1) - G * (t - t1) ** 2 / 2)
    ground = run.at(t1, order=order).q["ball.y"]
    assert found.q["ball.y"] - ground == pytest.approx(height, abs=1e-12)
    assert found.v["ball.y"] == pytest.approx(np.where(t < t1, -G * t, speed - G * (t - t1)), abs=1e-12)


def test_rows_come_back_as_they_are():
    run = simulate(bouncing_ball().build(), EventDriven(), t_end=0.9, dt=ErrorControl(1e-8, 1e-10, 1e-6, 0.3))
    assert np.array_equal(run.at(run.t).q.array, run.q.array)
    assert np.array_equal(run.at(run.t).v.array, run.v.array)
    assert np.array_equal(run.at(run.t, side="left").v.array, run.left.v.array)


def test_times_outside_and_unknown_words_are_refused(monkeypatch):
    """Before accelerations are compiled, which takes seconds."""
    monkeypatch.setattr(trajectory, "Motions", None)
    run = steps_of(pendulum(), 0.2, 0.05)
    for wrong in (-1e-9, 0.2000001, np.nan, [0.1, 0.3], "now", [[0.1]]):
        with pytest.raises(InputError, match="t must be times from 0.0 to 0.2"):
            run.at(wrong)
    with pytest.raises(InputError, match='side must be "right" or "left"'):
        run.at(0.1, side="before")
    with pytest.raises(InputError, match="order must be 6 or 4"):
        run.at(0.1, order=5)


def test_a_run_with_rows_left_out_says_where_it_does_not_know():
    run = simulate(
        bouncing_ball().build(), EventDriven(), t_end=0.9, dt=ErrorControl(1e-8, 1e-10, 1e-6, 0.01), record=7
    )
    t1 = run.impacts["t"][0]
    with pytest.raises(InputError, match="an impact lies between the adjacent ones; run it with record=1"):
        run.at(t1 + 1e-4)
    assert run.at(run.t[1]).q["ball.y"] == run.q["ball.y"][1]
