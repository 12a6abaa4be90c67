"""Sampled controllers: their loads against closed forms and a program of their own, and runs that are continued."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    ModelError,
    MoreauJean,
    PlanarBody,
    Play,
    Prismatic,
    Revolute,
    Rigid,
    SampledController,
    SimulationFailed,
    SpatialBody,
    Trajectory,
    read_model,
    simulate,
    simulate_batch,
    write_model,
)
from nonsmooth.derivatives import sensitivities

T, INERTIA = 1e-3, 0.02
PD = {"torque": "Kp * (0.5 - angle) - Kd * (angle - last) / 1e-3", "states": {"last": "angle"}}
PD |= {"parameters": {"Kp": 2.0, "Kd": 0.05}, "period": T}
TIGHT = ErrorControl(1e-10, 1e-12)


def turntable(**law):
    arm = PlanarBody("arm", mass=1.0, inertia=INERTIA)
    motor = SampledController("motor", "ground", arm, **law)
    return Model([Ground(), arm, Revolute("pin", "ground", arm), motor], silence=["no-gravity"])


def held(samples: int, delay: int = 0) -> float:
    """The angle of the turntable, whose torque is constant within each period."""
    angle, rate, last, torques = 0.0, 0.0, 0.0, [0.0] * delay
    for _ in range(samples):
        torques.append(2.0 * (0.5 - angle) - 0.05 * (angle - last) / T)
        last, acceleration = angle, torques.pop(0) / INERTIA
        angle, rate = angle + rate * T + 0.5 * acceleration * T**2, rate + acceleration * T
    return angle


@pytest.mark.parametrize(
    ("stepper", "dt"),
    [
        (EventDriven(), TIGHT), (MoreauJean(), T), (MoreauJean(), 3e-4), (GaussQP(), Landing(1e-6, T)),
        (GeneralizedAlpha(), T),
    ],
)  # fmt: skip
def test_all_schemes_of_second_order_are_exact_between_samples(stepper, dt):
    """To round-off, whether steps divide the period or not; the work of the motor is its kinetic energy."""
    run = simulate(turntable(**PD).build(), stepper, t_end=0.1, dt=dt)
    assert run.q["arm.angle"][-1] == pytest.approx(held(100), rel=1e-12)
    work = run.energy["work_loads"][-1]
    assert work == pytest.approx(0.5 * INERTIA * run.v["arm.angle"][-1] ** 2, rel=1e-9)


def test_schemes_of_first_order_agree_with_each_other():
    """Implicit Euler's steps by an optimiser and by the method of the text, with the same torque."""
    runs = [simulate(turntable(**PD).build(), one(), t_end=0.02, dt=T) for one in (GaussQP, GaussMPCC)]
    assert runs[0].q["arm.angle"][-1] == pytest.approx(runs[1].q["arm.angle"][-1], rel=1e-9)


def test_an_output_comes_after_its_delay():
    run = simulate(turntable(**PD, delay="2 ms").build(), GaussQP(), t_end=0.1, dt=Landing(1e-6, T))
    assert run.q["arm.angle"][-1] == pytest.approx(held(100, delay=2), rel=1e-12)


def test_saturation_and_step_bound_the_output():
    """A torque of 0.26 N m, of which the converter makes 0.3 N m, then at most 0.15 N m."""
    for bounds, torque in (({"step": 0.1}, 0.3), ({"step": 0.1, "saturation": 0.15}, 0.15)):
        run = simulate(turntable(torque="0.26", period=T, **bounds).build(), MoreauJean(), t_end=0.1, dt=T)
        assert run.q["arm.angle"][-1] == pytest.approx(0.5 * torque / INERTIA * 0.1**2, rel=1e-12)


def test_controllers_in_space_turn_about_an_axis_or_push_along_one():
    """A body about an oblique axis, and a weight on a slide that an integral part holds: 9.81 N of 1 kg."""
    axis = (1.0, 2.0, 2.0)
    wheel = SpatialBody("wheel", mass=1.0, inertia=(INERTIA,) * 3, position=(0.0, 0.0, 0.0))
    motor = SampledController("motor", "ground", wheel, axis_a=axis, **PD)
    model = Model(
        [Ground(), wheel, Revolute("pin", "ground", wheel, axis_a=axis, axis_b=axis), motor], silence=["no-gravity"]
    )
    run = simulate(model.build(), EventDriven(), t_end=0.1, dt=TIGHT)
    assert 2 * math.acos(run.q["wheel.qw"][-1]) == pytest.approx(held(100), rel=1e-7)  # of acos near one
    weight = SpatialBody("weight", mass=1.0, inertia=(INERTIA,) * 3, position=(0.0, 0.0, 0.0))
    hoist = SampledController(
        "hoist", "ground", weight, force=("0", "0", "-400 * z - 40 * vz + 2 * sum"), period=T,
        states={"sum": "sum - z"}, held=(0.0, 0.0, 9.0),
    )  # fmt: skip
    slide = Prismatic("slide", "ground", weight, axis_a=(0.0, 0.0, 1.0))
    model = Model([Ground(), weight, slide, hoist, Gravity(acceleration=(0.0, 0.0, -9.81))])
    run = simulate(model.build(), MoreauJean(), t_end=3.0, dt=T)
    assert abs(run.q["weight.z"][-1]) < 1e-6 and abs(run.v["weight.z"][-1]) < 1e-6


# ---- backlash

J1, J2, PLAY, KP, KD, ANGLE, STEP, MOST, DELAY = 1e-3, 4e-3, 0.02, 5.0, 0.2, 1e-3, 5e-3, 1.0, 3e-4


def servo():
    """A motor that turns a load through a loose coupling, by the angle of the load, in counts of an encoder."""
    rotor, load = (PlanarBody(name, mass=1.0, inertia=J, angle=0.1) for name, J in (("rotor", J1), ("load", J2)))
    key = Play("key", "load", "rotor", play=PLAY, radius=0.02, contact=Rigid(restitution=0.0, friction=0.0))
    motor = SampledController(
        "motor", "ground", "rotor", sensor="load", torque="-Kp * angle - Kd * (angle - last) / 1e-3",
        states={"last": "angle"}, parameters={"Kp": KP, "Kd": KD}, period="1 ms", delay=DELAY,
        resolution={"angle": ANGLE}, step=STEP, saturation=MOST,
    )  # fmt: skip
    pins = [Revolute(f"{name}_pin", "ground", name) for name in ("rotor", "load")]
    return Model([Ground(), rotor, load, *pins, key, motor], silence=["no-gravity"])


def angles_of_load(samples: int) -> np.ndarray:
    """The angle of the load at samples, from quadratics between outputs, impacts and separations."""
    th1, w1, th2, w2, side, last, held = 0.1, 0.0, 0.1, 0.0, 0, 0.0, 0.0
    found = []
    for _ in range(samples):
        found.append(th2)
        count = ANGLE * math.floor(th2 / ANGLE + 0.5)
        wanted = -KP * count - KD * (count - last) / T
        output, last = min(max(STEP * math.floor(wanted / STEP + 0.5), -MOST), MOST), count
        for left, torque in ((DELAY, held), (T - DELAY, output)):
            if side * torque < 0.0:
                side = 0
            while left > 0.0:
                h, hit = (left, 0) if side else first_impact(th1 - th2, w1 - w2, torque / J1, left)
                a1, a2 = (torque / (J1 + J2),) * 2 if side else (torque / J1, 0.0)
                th1, w1 = th1 + w1 * h + 0.5 * a1 * h**2, w1 + a1 * h
                th2, w2, left = th2 + w2 * h + 0.5 * a2 * h**2, w2 + a2 * h, left - h
                if hit:  # plastic; they stay together where the torque presses
                    w1 = w2 = (J1 * w1 + J2 * w2) / (J1 + J2)
                    th1, side = th2 + hit * PLAY, hit if hit * torque >= 0.0 else 0
        held = output
    return np.array(found)


def first_impact(angle: float, rate: float, acceleration: float, left: float) -> tuple[float, int]:
    """Time until ``side (angle + rate h + acceleration h^2 / 2) = play``, and the side; 0 if not before `left`."""
    found = left, 0
    for side in (1, -1):
        for root in np.roots([0.5 * side * acceleration, side * rate, side * angle - PLAY]):
            outward = side * (rate + acceleration * root.real) > 0.0
            if not root.imag and 1e-15 < root.real < found[0] and outward:
                found = float(root.real), side
    return found


def measured(t: np.ndarray, angle: np.ndarray) -> tuple[float, float]:
    """Amplitude and mean period of the last oscillations, by zeros of the line between samples."""
    up = np.flatnonzero((angle[:-1] < 0.0) & (angle[1:] >= 0.0))[-5:]
    zeros = t[up] - angle[up] * (t[up + 1] - t[up]) / (angle[up + 1] - angle[up])
    last = angle[up[0] : up[-1]]
    return 0.5 * (last.max() - last.min()), (zeros[-1] - zeros[0]) / 4


def test_the_limit_cycle_of_a_sampled_controller_with_backlash():
    """1.5 s, 1 500 samples, 3 000 changes of the output: equal to 1e-11 rad, thus in each count of the encoder.

    A cycle of 98 samples is left; its amplitude and period are required within 1e-6."""
    run = simulate(servo().build(), EventDriven(), t_end=1.5, dt=TIGHT)
    t = np.arange(1501) * T
    row = np.searchsorted(run.t, t - 1e-9)
    mine, theirs = run.q["load.angle"][row], angles_of_load(1501)
    assert np.abs(mine - theirs).max() < 1e-11
    amplitude, period = measured(t, mine)
    assert (amplitude, period) == pytest.approx(measured(t, theirs), rel=1e-6)
    assert period == pytest.approx(0.098, rel=1e-6) and 0.004 < amplitude < 0.006


@pytest.mark.parametrize(
    ("stepper", "dt"),
    [
        (EventDriven(), ErrorControl(1e-7)), (MoreauJean(), 1e-4), (GaussQP(), Landing(1e-6, 1e-3)),
        (GeneralizedAlpha(), 1e-4),
    ],
)  # fmt: skip
def test_a_run_that_is_continued_is_the_same_to_the_bit(stepper, dt, tmp_path):
    """From files of states at a sample and between two, where an output waits; and from a checkpoint."""
    system = servo().build()
    whole = simulate(system, stepper, t_end=0.03, dt=dt)
    state = None
    for t_end in (float(whole.t[np.searchsorted(whole.t, 0.01005)]), 0.02):
        first = simulate(system, stepper, t_end=t_end, dt=dt, state=state)
        first.save(tmp_path / "first.nc")
        state = Trajectory.load(tmp_path / "first.nc", system).end
    if not isinstance(stepper, EventDriven):  # whose steps depend on the end of a run
        rest = simulate(system, stepper, t_end=0.03, dt=dt, state=state)
        assert np.array_equal(rest.end.q, whole.end.q) and np.array_equal(rest.end.v, whole.end.v)
    with pytest.raises(SimulationFailed):
        simulate(system, stepper, t_end=0.03, dt=dt, max_steps=60, checkpoint=tmp_path / "run.nc", every=1e-9)
    resumed = simulate(system, stepper, t_end=0.03, dt=dt, checkpoint=tmp_path / "run.nc", every=1e-9)
    for one, other in ((resumed.q, whole.q), (resumed.v, whole.v)):
        assert np.array_equal(one.array, other.array)
    assert np.array_equal(resumed.energy["work_loads"], whole.energy["work_loads"])


def test_controllers_in_files(tmp_path):
    write_model(servo(), tmp_path / "servo.toml")
    again = read_model(tmp_path / "servo.toml").build()
    runs = [simulate(one, MoreauJean(), t_end=0.05, dt=1e-4) for one in (again, servo().build())]
    assert np.array_equal(runs[0].q.array, runs[1].q.array) and runs[0].q["rotor.angle"][-1] != 0.1


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        ({"torque": lambda t, a, b, p: -b.angle}, "write it as a formula"),
        ({"torque": "1", "force": ("0", "1")}, "either torque or force"),
        ({"torque": ("0", "0", "1")}, "torque is one formula"),
        ({"torque": "1", "period": 0.0}, "period must be > 0"),
        ({"torque": "1", "delay": -1.0}, "delay >= 0"),
        ({"torque": "1", "resolution": {"omega": 1.0}}, "for angle, x, y or z, got {'omega': 1.0}"),
        ({"torque": "1", "states": {"sum": "sum + angel"}}, 'unknown name "angel"'),
        ({"torque": "sun", "states": {"sum": "sum + angle"}}, 'unknown name "sun"'),
        ({"torque": "1", "start": {"sum": 1.0}}, "finite numbers of its states"),
        ({"torque": "1", "saturation": -1.0}, "saturation must be a positive number"),
    ],
)
def test_controllers_that_cannot_be_meant(law, sentence):
    with pytest.raises(ModelError, match=sentence):
        turntable(**{"period": T, **law}).build()


def test_batches_and_derivatives_have_no_controllers():
    system = turntable(**PD).build()
    with pytest.raises(InputError, match="do not run in batches"):
        simulate_batch(system, MoreauJean(), {"motor.Kp": [1.0, 2.0]}, t_end=0.01, dt=1e-3)
    with pytest.raises(InputError, match="have no derivatives"):
        sensitivities(simulate(system, EventDriven(), t_end=0.01, dt=TIGHT), "motor.Kp")
