"""What Coulomb friction must do, whatever the stepper: stick, slide, stop, lose energy, and not invent answers.

The steppers are those of `nonsmooth.steppers` that take rigid contact: a new one fails here until SCHEMES says how it
is run.
"""

from __future__ import annotations

from math import atan, cos, sin

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import Landing, Rigid, SimulationFailed, simulate, steppers
from nonsmooth.step.control import ErrorControl
from nonsmooth_problems import block_on_incline, painleve_rod, stick_slip_oscillator
from nonsmooth_problems.block_on_incline import GRAVITY, MASS
from nonsmooth_problems.painleve_rod import HALF_LENGTH, PainleveRod

#: how each stepper takes a step of about dt: what `simulate` gets as dt
SCHEMES = {
    "event-driven": lambda dt: ErrorControl(rtol=1e-10, atol=1e-12, dt_min=1e-6, dt_max=dt),
    "gauss-mpcc": lambda dt: Landing(1e-6, dt),
    "gauss-qp": lambda dt: Landing(1e-6, dt),
    "generalized-alpha": lambda dt: dt,
    "moreau-jean": lambda dt: dt,
}
STEPPERS = [name for name in steppers.names() if steppers.by_name(name).contact is Rigid]
#: IPOPT takes milliseconds a step, and solves the equations of gauss-qp: the longer runs of gauss-mpcc are slow ones
SLOW_EVENTS = [pytest.param(name, marks=[pytest.mark.slow] if name == "event-driven" else []) for name in STEPPERS]
IPOPT_SLOW = [pytest.param(name, marks=[pytest.mark.slow] if name == "gauss-mpcc" else []) for name in STEPPERS]


def run(name, problem, t_end, dt, *, record=1, **arguments):
    assert name in SCHEMES, f"{name} is a new stepper: say in SCHEMES how it takes its step"
    system = problem(**arguments).build()
    trajectory = simulate(system, steppers.by_name(name)(), t_end=t_end, dt=SCHEMES[name](dt), record=record)
    assert trajectory.certificate.motion_residual <= 1e-9
    assert trajectory.certificate.complementarity <= 1e-9
    return trajectory


def worst_error(trajectory, exact):
    sample = exact.sample(trajectory.t)
    return max(float(np.max(np.abs(trajectory.q[name] - sample.q[name]))) for name in sample.q)


def total_energy(trajectory):
    return trajectory.energy["kinetic"] + trajectory.energy["potential"]


# Stick


def drift_of_a_stuck_block(name, steps, friction, restitution=0.0):
    contact = Rigid(restitution=restitution, friction=friction)
    trajectory = run(name, block_on_incline, steps * 1e-3, 1e-3, record=50, angle=0.3, speed=0.0, contact=contact)
    assert trajectory.counts["steps"] >= steps
    sum_N = trajectory.P_N["left"].sum() + trajectory.P_N["right"].sum()
    sum_T = trajectory.P_T["left"].sum() + trajectory.P_T["right"].sum()
    weight = MASS * GRAVITY * trajectory.t[-1]
    assert (sum_N, sum_T) == (pytest.approx(weight * cos(0.3), rel=1e-9), pytest.approx(weight * sin(0.3), rel=1e-9))
    return np.max(np.abs(trajectory.q.array - trajectory.q.array[0]))


@pytest.mark.parametrize("name", IPOPT_SLOW)
def test_stick_stays_stuck(name):
    """Below the friction angle, 0.381 rad here, on a corner each: nothing creeps."""
    assert drift_of_a_stuck_block(name, 200 if name == "gauss-mpcc" else 1000, 0.4) <= 1e-14


@pytest.mark.slow
@pytest.mark.parametrize(("name", "steps"), [("moreau-jean", 100_000), ("gauss-qp", 20_000), ("event-driven", 5_000)])
def test_stick_stays_stuck_for_long(name, steps):
    assert drift_of_a_stuck_block(name, steps, 0.4) <= 1e-14


@pytest.mark.parametrize("name", SLOW_EVENTS)
def test_stick_stays_stuck_close_to_the_friction_angle_and_with_restitution(name):
    assert drift_of_a_stuck_block(name, 50, np.tan(0.3) * (1 + 1e-6), restitution=0.5) <= 1e-14


# Slide


@pytest.mark.parametrize("speed", [0.0, -1.0])
@pytest.mark.parametrize("name", STEPPERS)
def test_sliding_acceleration(name, speed):
    """Above the friction angle, down the plane: constant forces, which every scheme integrates exactly."""
    trajectory = run(name, block_on_incline, 0.3, 1e-2, angle=0.5, speed=speed)
    exact = block_on_incline.exact(angle=0.5, speed=speed)
    assert worst_error(trajectory, exact) <= 1e-9
    forces = exact.sample(trajectory.t)
    for corner in ("left", "right"):
        np.testing.assert_allclose(trajectory.lam_N[corner][1:], forces.lam_N[corner][1:], rtol=1e-7)
        np.testing.assert_allclose(trajectory.P_T[corner], 0.4 * trajectory.P_N[corner], rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize("name", IPOPT_SLOW)
def test_a_block_slides_up_stops_and_sticks(name):
    """The step in which the block stops is cut nowhere by constant steps and landing: an error of dt^2 once."""
    exact = block_on_incline.exact()
    for dt in (2e-2, 5e-3):
        trajectory = run(name, block_on_incline, 0.4, dt)
        tolerance = 1e-10 if name == "event-driven" else GRAVITY * dt**2
        assert worst_error(trajectory, exact) <= tolerance
        end = np.array([trajectory.v[name][-1] for name in ("block.x", "block.y", "block.angle")])
        assert np.max(np.abs(end)) <= 1e-12
        energy = total_energy(trajectory)
        # in the step in which it stops, the block is lifted a little more than its speed allows
        rise = 0.0 if name == "event-driven" else MASS * (GRAVITY * sin(0.3) * dt) ** 2 / 8
        assert np.all(np.diff(energy) <= rise + 1e-12)
        # what is lost went into friction: mu N times the way
        ledger = trajectory.certificate.energy
        assert ledger.loss_impacts == pytest.approx(0.0, abs=1e-12)
        assert ledger.loss_friction == pytest.approx(energy[0] - energy[-1], abs=1e-12 + tolerance)


# Stick and slip


@pytest.mark.parametrize("name", IPOPT_SLOW)
def test_a_block_rides_on_the_belt_until_the_spring_wins(name):
    """It rides at the belt's speed, then swings with the amplitude V/w; a step's impulses are solved to 1e-9."""
    trajectory = run(name, stick_slip_oscillator, 1.0, 1e-2)
    exact = stick_slip_oscillator.exact()
    riding = trajectory.t < exact.events[0] - 1e-2
    np.testing.assert_allclose(trajectory.v["block.x"][riding], 0.1, rtol=1e-9)
    np.testing.assert_allclose(trajectory.q["block.y"], 0.05, rtol=1e-9)
    assert worst_error(trajectory, exact) <= (1e-8 if name == "event-driven" else 5e-4)
    assert trajectory.certificate.joint_violation <= 1e-12


def test_period_and_amplitude_of_the_swing():
    """By the events of EventDriven against 2 pi/w and V/w."""
    exact = stick_slip_oscillator.exact()
    trajectory = run("event-driven", stick_slip_oscillator, 3.0, 1e-2)
    x, v, t = (trajectory.q["block.x"] - exact.reach, trajectory.v["block.x"], trajectory.t)
    up = np.flatnonzero((v[:-1] < 0) & (v[1:] >= 0) & (t[1:] > exact.events[0]))
    turns = []
    for i in up:  # where the speed vanishes, by the angle of the swing
        angle = [np.arctan2(10.0 * x[k], -v[k]) for k in (i, i + 1)]
        turns.append(t[i] + (t[i + 1] - t[i]) * (-np.pi / 2 - angle[0]) / (angle[1] - angle[0]))
    assert len(turns) >= 3
    np.testing.assert_allclose(np.diff(turns), exact.period, rtol=1e-6)
    assert np.min(x[t > exact.events[0]]) == pytest.approx(-0.1 / 10.0, rel=1e-3)


@pytest.mark.parametrize("name", IPOPT_SLOW)
def test_swings_decay_by_twice_the_reach_and_end(name):
    """On a belt at rest: amplitudes 0.2, 0.2 - 2 X, ... until friction holds."""
    trajectory = run(name, stick_slip_oscillator, 1.1, 1e-2, belt_speed=0.0, stretch=0.2)
    exact = stick_slip_oscillator.exact(belt_speed=0.0, stretch=0.2)
    tolerance = 1e-8 if name == "event-driven" else 1e-2
    for phase in exact.phases[1:]:
        k = int(np.argmin(np.abs(trajectory.t - phase.start)))
        assert trajectory.q["block.x"][k] == pytest.approx(phase.x, abs=tolerance)
    at_rest = trajectory.t >= exact.events[-1] + 2e-2
    rest = trajectory.q["block.x"][at_rest]
    assert at_rest.sum() >= 3
    # the memory of generalized-alpha's acceleration halves with each step, and moves the block by its dt^2
    assert np.ptp(rest) <= (1e-9 if name == "generalized-alpha" else 1e-13) and abs(rest[0]) <= exact.reach
    energy = total_energy(trajectory)
    # the midpoint rule's energy is that of the spring to second order
    assert np.all(np.diff(energy) <= 1e-3 * energy[0])
    assert energy[0] - energy[-1] == pytest.approx(
        exact.reach * 100.0 * float(np.sum(np.abs(np.diff([p.x for p in exact.phases])))), rel=2e-2
    )


# Painlevé


def sliding_rod(t_end, friction=1.0):
    """Reduced equations of the rod whose tip stays on the plane and slides ahead: (x of the tip, angle, rates)."""

    def rates(_, y):
        _, turn, u, w = y
        s, c = sin(turn), cos(turn)
        normal = (GRAVITY - HALF_LENGTH * s * w * w) / (1 + 3 * c * c - 3 * friction * s * c)  # per mass
        spin = 3 * normal * (friction * s - c) / HALF_LENGTH
        centre = friction * normal
        return [u, w, centre + HALF_LENGTH * (s * spin + c * w * w), spin]

    start = [0.0, atan(2.0), -3.0, 0.0]
    run = solve_ivp(rates, (0.0, t_end), start, "DOP853", rtol=1e-12, atol=1e-14)
    x, turn, u, _ = run.y[:, -1]
    assert u < 0
    return x + HALF_LENGTH * cos(turn), HALF_LENGTH * sin(turn), turn


@pytest.mark.parametrize("name", STEPPERS)
def test_painleves_rod_slides_below_the_limit(name):
    dt = 1e-3
    trajectory = run(name, painleve_rod, 0.03, dt)
    end = [trajectory.q[f"rod.{one}"][-1] for one in ("x", "y", "angle")]
    tolerance = 1e-9 if name == "event-driven" else 3e-3 if name == "moreau-jean" else 1e-4
    assert end == pytest.approx(sliding_rod(0.03), abs=tolerance)
    # the first step finds the force of the closed form, 2.5 m g
    exact = PainleveRod(atan(2.0), 1.0, 3.0)
    assert exact.force == pytest.approx(2.5 * MASS * GRAVITY)
    assert trajectory.lam_N["tip"][1] == pytest.approx(exact.force, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("friction", [1.4, 3.0])
@pytest.mark.parametrize("name", STEPPERS)
def test_above_the_limit_painleves_rod_jams_or_the_run_stops(name, friction):
    """No forces exist there. An impulse does, and it stops the tip however short the step: that, or a clear refusal."""
    exact = PainleveRod(atan(2.0), friction, 3.0)
    assert friction > exact.limit and exact.mobility < 0
    dt = 1e-4
    try:
        trajectory = run(name, painleve_rod, 5 * dt, dt, contact=Rigid(restitution=0.0, friction=friction))
    except SimulationFailed as failure:
        assert len(failure.trajectory.t) == 1, "the steps before the paradox were certified"
        assert "t = 0 s" in str(failure)
        return
    jam, hold = exact.jam
    # within the weight's share of the first steps: the impulse is no force times dt
    first = slice(1, 3)
    assert trajectory.P_N["tip"][first].sum() == pytest.approx(jam, rel=5e-3)
    assert trajectory.P_T["tip"][first].sum() == pytest.approx(hold, rel=5e-3)
    slip = trajectory.v["rod.x"] + HALF_LENGTH * np.sin(trajectory.q["rod.angle"]) * trajectory.v["rod.angle"]
    assert np.max(np.abs(slip[2:])) <= 1e-2 * 3.0
    energy = total_energy(trajectory)
    assert np.all(np.diff(energy) <= 1e-4 * energy[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["moreau-jean"])
def test_the_jam_does_not_depend_on_the_step(name):
    jams = []
    for dt in (1e-3, 1e-4, 1e-5):
        trajectory = run(name, painleve_rod, 2 * dt, dt, contact=Rigid(restitution=0.0, friction=1.5))
        jams.append(trajectory.P_N["tip"].sum())
    jam = PainleveRod(atan(2.0), 1.5, 3.0).jam[0]
    assert np.abs(np.array(jams) - jam) == pytest.approx([0.0] * 3, abs=0.02)
    assert abs(jams[2] - jam) <= 2e-4
