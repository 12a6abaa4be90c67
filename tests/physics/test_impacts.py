"""What impacts must do, whatever the stepper: times, rest after an accumulation, energy, momentum, order, one limit.

The steppers are those of `nonsmooth.steppers` that take rigid contact: a new one fails here until SCHEMES says how it
is run.
"""

from __future__ import annotations

from functools import cache
from math import pi

import numpy as np
import pytest

from nonsmooth import CircleCircle, Gravity, Ground, Landing, Model, PlanarBody, PointPlane, Rigid, simulate, steppers
from nonsmooth.step.control import ErrorControl
from nonsmooth_problems import bouncing_ball, newtons_cradle, pendulum_with_stop
from nonsmooth_problems.bouncing_ball import GRAVITY, MASS
from nonsmooth_problems.newtons_cradle import after_simultaneous_impacts, after_successive_impacts

DT_MIN = 1e-6
#: how each stepper takes a step of about dt: what `simulate` gets as dt
SCHEMES = {
    "event-driven": lambda dt: ErrorControl(rtol=1e-10, atol=1e-12, dt_min=DT_MIN, dt_max=dt),
    "gauss-mpcc": lambda dt: Landing(DT_MIN, dt),
    "gauss-qp": lambda dt: Landing(DT_MIN, dt),
    "generalized-alpha": lambda dt: dt,
    "moreau-jean": lambda dt: dt,
}
STEPPERS = [name for name in steppers.names() if steppers.by_name(name).contact is Rigid]
#: IPOPT takes milliseconds a step, and solves the equations of gauss-qp: the longer runs of gauss-mpcc are slow ones
IPOPT_SLOW = [pytest.param(name, marks=[pytest.mark.slow] if name == "gauss-mpcc" else []) for name in STEPPERS]
LANDERS = [name for name in STEPPERS if not isinstance(SCHEMES.get(name, float)(1e-3), float)]
CONSTANT = [name for name in STEPPERS if name not in LANDERS]


def run(name, problem, t_end, dt, *, record=1, **arguments):
    assert name in SCHEMES, f"{name} is a new stepper: say in SCHEMES how it takes its step"
    system = problem(**arguments).build()
    trajectory = simulate(system, steppers.by_name(name)(), t_end=t_end, dt=SCHEMES[name](dt), record=record)
    assert trajectory.certificate.motion_residual <= 1e-9
    assert trajectory.certificate.complementarity <= 1e-9
    return trajectory


@cache
def dropped(name):
    """The bouncing ball past its accumulation."""
    return run(name, bouncing_ball, 8.5, 0.05 if name in LANDERS else 0.01)


def total_energy(trajectory):
    return trajectory.energy["kinetic"] + trajectory.energy["potential"]


# Accumulation


@pytest.mark.parametrize("name", LANDERS)
def test_impact_times_down_to_the_accumulation_and_rest_after_it(name):
    """Free flight is a parabola: all landing schemes are exact until bounces are shorter than dt_min."""
    trajectory, exact = dropped(name), bouncing_ball.exact()
    times = trajectory.impacts["t"]
    known = int(np.log(DT_MIN / (2 * exact.fall)) / np.log(0.9))  # bounces longer than dt_min, 129 of them
    np.testing.assert_allclose(times[:known], exact.impact_time(np.arange(1, known + 1)), rtol=1e-11)
    np.testing.assert_allclose(
        trajectory.impacts["P_N"][:known], exact.impact_impulse(np.arange(1, known + 1)), rtol=1e-9, atol=1e-10
    )
    # what is left of the bouncing is a time of 2 dt_min/(1 - e)
    assert times[-1] == pytest.approx(exact.rest_time, abs=3 * DT_MIN / (1 - 0.9))
    assert trajectory.counts["steps"] <= 350


@pytest.mark.parametrize("name", STEPPERS)
def test_at_rest_the_floor_carries_the_weight(name):
    """No scheme stalls at the accumulation; afterwards each step's impulse is m g dt."""
    trajectory = dropped(name)
    rest = trajectory.t[:-1] > 8.3
    impulse = trajectory.P_N["floor"][1:][rest]
    np.testing.assert_allclose(impulse, MASS * GRAVITY * np.diff(trajectory.t)[rest], rtol=1e-11)
    assert np.all(np.abs(trajectory.v["ball.y"][1:][rest]) <= 1e-13)
    if name in LANDERS:
        assert trajectory.certificate.gap_violation <= 1e-14
    # all that the ball has fallen was given back
    fallen = np.sum(trajectory.P_N["floor"]) / (MASS * GRAVITY)
    assert fallen == pytest.approx(8.5, rel=1e-12)


# Energy


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", IPOPT_SLOW)
def test_energy_never_rises_and_elastic_impacts_keep_it(name, restitution):
    """Of the ball, whose free flight every scheme keeps to round-off."""
    trajectory = run(
        name,
        bouncing_ball,
        2.0,
        0.05 if name in LANDERS else 0.01,
        contact=Rigid(restitution=restitution, friction=0.0),
    )
    energy = total_energy(trajectory)
    # a velocity-level scheme lifts a ball that is still in the floor by at most g dt^2/8 when it stops its next fall
    rise = MASS * (GRAVITY * 0.01) ** 2 / 8 if name in CONSTANT else 0.0
    assert np.all(np.diff(energy) <= rise + 1e-12 * energy[0])
    if restitution == 1.0 and name != "generalized-alpha":  # which corrects positions without regard to energy
        np.testing.assert_allclose(energy, energy[0], rtol=1e-12)


@pytest.mark.parametrize("name", IPOPT_SLOW)
def test_the_ledger_books_impacts_with_joints_as_losses(name):
    """The pin of the pendulum shares each impulse: the loss is that of the exact motion."""
    trajectory = run(name, pendulum_with_stop, 1.0, 5e-3 if name in LANDERS else 2e-3)
    exact = pendulum_with_stop.exact()
    inertia = 0.5**2 / 3.0
    lost = sum(inertia * exact.impact_rate(k) ** 2 * (1 - 0.7**2) / 2 for k in (1, 2))
    ledger = trajectory.certificate.energy
    tolerance = 3e-2 if name in CONSTANT else 5e-4
    assert ledger.loss_impacts == pytest.approx(lost, rel=tolerance)
    assert abs(ledger.remainder) <= tolerance * lost


# Momentum


def collision(friction):
    """Two discs that meet off centre, without any other force."""
    law = Rigid(restitution=0.6, friction=friction)
    return Model(
        [
            PlanarBody("a", mass=1.0, inertia=0.02, velocity=(1.0, 0.0), angular_velocity=3.0),
            PlanarBody("b", mass=2.5, inertia=0.1, position=(0.5, 0.13), velocity=(-0.4, 0.1)),
            CircleCircle("contact", "a", "b", radius_a=0.2, radius_b=0.25, contact=law),
        ]
    )


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("name", IPOPT_SLOW)
def test_a_collision_keeps_linear_and_angular_momentum(name, friction):
    trajectory = run(name, lambda: collision(friction), 0.3, 2e-3)
    q, v = trajectory.q.array, trajectory.v.array
    mass, inertia = np.array([1.0, 2.5]), np.array([0.02, 0.1])
    r, u = q.reshape(-1, 2, 3), v.reshape(-1, 2, 3)
    linear = np.einsum("i,nij->nj", mass, u[:, :, :2])
    spin = u[:, :, 2] @ inertia + (r[:, :, 0] * u[:, :, 1] - r[:, :, 1] * u[:, :, 0]) @ mass
    assert len(trajectory.impacts) >= 1 and np.ptp(u[:, 0, 0]) > 0.1
    np.testing.assert_allclose(linear, np.broadcast_to(linear[0], linear.shape), atol=1e-13)
    # constant steps strike a little away from where the discs are at the end of the step
    np.testing.assert_allclose(spin, spin[0], atol=1e-12 if name in LANDERS else 1e-2)
    energy = total_energy(trajectory)
    assert np.all(np.diff(energy) <= 1e-12) and energy[-1] < energy[0] - 1e-3


# Several at once


@pytest.mark.parametrize("name", IPOPT_SLOW)
def test_balls_in_touch_are_after_simultaneous_impacts(name):
    """Newton's law for all contacts at once: all but the striking ball leave together."""
    trajectory = run(name, newtons_cradle, 0.24, 1e-2 if name in LANDERS else 2e-3)
    speeds = np.array([trajectory.v[f"ball{i}.angle"][-1] for i in range(1, 6)])
    # the balls have swung for some milliseconds: by the cosine of a few degrees
    np.testing.assert_allclose(speeds / speeds.sum(), after_simultaneous_impacts(5, 1.0), atol=1e-2)


@pytest.mark.parametrize("name", LANDERS)
def test_impacts_of_several_contacts_are_all_listed(name):
    """The impulse is passed on: 4, 3, 2 and 1 fifths of that of the whole row."""
    impacts = run(name, newtons_cradle, 0.25, 1e-2).impacts
    assert list(impacts["contact"]) == [f"contact{i}" for i in range(1, 5)]
    assert np.ptp(impacts["t"]) == 0.0
    np.testing.assert_allclose(impacts["P_N"] / impacts["P_N"][0], [1.0, 0.75, 0.5, 0.25], rtol=1e-9)


@pytest.mark.parametrize("name", LANDERS)
def test_balls_apart_are_struck_one_after_another(name):
    trajectory = run(name, newtons_cradle, 0.23, 1e-2, spacing=1e-4)
    assert list(trajectory.impacts["contact"]) == [f"contact{i}" for i in range(1, 5)]
    assert np.all(np.diff(trajectory.impacts["t"]) > 1e-4)
    speeds = np.array([trajectory.v[f"ball{i}.angle"][-1] for i in range(1, 6)])
    np.testing.assert_allclose(speeds / speeds.sum(), after_successive_impacts(5, 1.0), atol=1e-2)


# Order, and one limit


@pytest.mark.parametrize("name", [pytest.param("gauss-mpcc", marks=pytest.mark.slow), "gauss-qp"])
def test_landing_is_of_second_order_through_impacts(name):
    exact, errors = np.array(pendulum_with_stop.exact().impact_times[:2]), []
    for dt in (1e-2, 5e-3):
        trajectory = run(name, pendulum_with_stop, 0.9, dt)
        errors.append(np.max(np.abs(trajectory.impacts["t"] - exact)))
        assert trajectory.certificate.joint_violation <= 1e-14
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all((orders >= 1.8) & (orders <= 2.2)), orders


def test_events_are_met_at_the_tolerance():
    exact, errors = pendulum_with_stop.exact(), []
    for rtol in (1e-6, 1e-9, 1e-12):
        control = ErrorControl(rtol=rtol, atol=rtol / 100, dt_min=DT_MIN, dt_max=0.05)
        trajectory = simulate(pendulum_with_stop().build(), steppers.EventDriven(), t_end=2.0, dt=control)
        errors.append(np.max(np.abs(trajectory.impacts["t"][:4] - exact.impact_times[:4])))
        assert errors[-1] <= 50 * rtol
    assert errors[-1] <= 1e-11


def mean_error(name, dt):
    """Mean over time of the height's error, through two impacts, of a ball with e = 1/2."""
    contact = Rigid(restitution=0.5, friction=0.0)
    trajectory = run(name, bouncing_ball, 0.95, dt, contact=contact)
    exact = bouncing_ball.exact(contact=contact).sample(trajectory.t)
    error = np.abs(trajectory.q["ball.y"] - exact.q["ball.y"])
    return float(np.sum(error[1:] * np.diff(trajectory.t)) / trajectory.t[-1])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name != "moreau-jean" else []) for name in CONSTANT]
)
def test_constant_steps_are_of_first_order_through_impacts(name):
    """Where in the step an impact falls is chance: the slope is that of the worst of eight lengths near each level."""
    levels = 4e-2 / 2.0 ** np.arange(5)
    jitter = 1.0 + 0.04 * np.array([-4, -3, -2, -1, 0, 1, 2, 3]) + 0.013
    envelope = [max(mean_error(name, level * factor) for factor in jitter) for level in levels]
    slope = np.polyfit(np.log(levels), np.log(envelope), 1)[0]
    assert 0.85 <= slope <= 1.15, (slope, envelope)


#: two lengths of the step, and the mean error of the angle [rad] allowed with the second
LIMIT = {
    "event-driven": (1e-1, 1e-2, 1e-8),
    "gauss-mpcc": (2e-2, 5e-3, 4e-4),
    "gauss-qp": (2e-2, 5e-3, 4e-4),
    "generalized-alpha": (8e-3, 1e-3, 1e-2),
    "moreau-jean": (8e-3, 1e-3, 1e-2),
}


@pytest.mark.parametrize("name", STEPPERS)
def test_all_steppers_tend_to_the_same_motion(name):
    """The pendulum through two impacts, mean error over time against the exact motion."""
    assert name in LIMIT, f"{name} is a new stepper: say in LIMIT how near it comes"
    errors = []
    for dt in LIMIT[name][:2]:
        trajectory = run(name, pendulum_with_stop, 0.9, dt)
        exact = pendulum_with_stop.exact().sample(trajectory.t)
        error = np.abs(trajectory.q["rod.angle"] - exact.q["rod.angle"])
        errors.append(np.sum(error[1:] * np.diff(trajectory.t)) / 0.9)
    assert errors[1] <= LIMIT[name][2]
    assert errors[1] <= max(0.5 * errors[0], 1e-9), errors


@pytest.mark.parametrize("name", STEPPERS)
def test_contacts_push_and_never_pull(name):
    """A point that touches a ceiling falls freely."""
    model = Model([Ground(), PlanarBody("point", mass=1.0, inertia=1.0), Gravity(acceleration=(0.0, -9.81))])
    model.add(PointPlane("ceiling", "ground", "point", direction=pi, contact=Rigid(restitution=0.0, friction=0.0)))
    trajectory = run(name, lambda: model, 0.1, 1e-2)
    assert trajectory.q["point.y"][-1] == pytest.approx(-9.81 * 0.1**2 / 2, rel=1e-12)
    assert np.all(trajectory.P_N["ceiling"] == 0.0)
