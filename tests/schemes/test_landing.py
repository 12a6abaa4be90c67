"""Steps that end where a gap closes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reference import violations

from nonsmooth import (
    CirclePlane,
    GaussQP,
    Gravity,
    Ground,
    Interrupted,
    Landing,
    Model,
    PlanarBody,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rigid,
    SimulationFailed,
    State,
    Trajectory,
    simulate,
)
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth_problems import (
    block_on_incline,
    bouncing_ball,
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
)

FINE = Landing(1e-6, 1e-4)


def flail() -> Model:
    """Two links that swing, the second with a round tip over a floor that it has met and strikes at once."""
    model = Model(name="flail")
    ground = model.add(Ground())
    arm = model.add(PlanarBody("arm", 1.0, 0.02, (0.25, 0.0), velocity=(0.0, -0.25), angular_velocity=-1.0))
    tip = model.add(PlanarBody("tip", 0.5, 0.01, (0.7, 0.0), velocity=(0.0, -0.7), angular_velocity=-1.0))
    model.add(Revolute("pin", ground, arm, at_b=(-0.25, 0.0)))
    model.add(Revolute("hinge", arm, tip, at_a=(0.25, 0.0), at_b=(-0.2, 0.0)))
    law = Rigid(restitution=0.6, friction=0.2)
    model.add(CirclePlane("floor", ground, tip, radius=0.1, at_a=(0.0, -0.1), contact=law))
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model


def driven_table(rate: float = 60.0) -> Model:
    """A ball on a table that a motor shakes, at so many rad/s; below 31 its bounces die out."""
    model = Model(name="table")
    ground = model.add(Ground())
    table = model.add(PlanarBody("table", 1.0, 1.0, velocity=(0.0, 0.01 * rate)))
    ball = model.add(PlanarBody("ball", 0.2, 1e-3, (0.0, 0.1)))
    model.add(Prismatic("rail", ground, table, direction=np.pi / 2))
    model.add(PrescribedMotion("motor", ground, table, coordinate="y", motion=lambda t: 0.01 * np.sin(rate * t)))
    law = Rigid(restitution=0.4, friction=0.3, tangential=0.2)
    model.add(CirclePlane("top", table, ball, radius=0.1, contact=law))
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model


#: mechanism, end, steps
CASES = {
    "guide": (slider_crank_translational(), 0.01, FINE),
    "pin": (slider_crank_revolute(), 5e-3, FINE),
    "rod": (slider_rod(case=1), 0.05, Landing(1e-6, 1e-3)),
    "flail": (flail(), 0.3, Landing(1e-4, 1e-3)),
    "table": (driven_table(), 0.5, Landing(1e-4, 1e-3)),
}


@pytest.mark.parametrize("name", CASES)
def test_steps_satisfy_the_equations(name):
    """And end where a gap closes, see `landing` of the reference."""
    model, t_end, dt = CASES[name]
    system = model.build()
    run = simulate(system, GaussQP(), t_end=t_end, dt=dt)
    assert len(run.impacts) > 0
    assert violations(run, system, GaussQP(), dt) == {}


def test_a_motor_drives_up_to_an_impact():
    """The velocity before an impact obeys joints and drives, also where short bounces end within one step of dt_min."""
    shaken = simulate(driven_table(20.0).build(), GaussQP(), t_end=0.4, dt=Landing(1e-4, 1e-3))
    assert np.min(np.abs(np.diff(shaken.t) - 1e-4)) < 1e-9  # there is such a step
    # round-off of 0.2 m/s; without the motor's reply to the ball's impulse it is 9e-5 m/s off
    assert shaken.left.v["table.y"] == pytest.approx(0.2 * np.cos(20.0 * shaken.t), abs=1e-14)
    # it is the motor that takes what stops the ball
    at = np.flatnonzero(np.isin(shaken.t, shaken.impacts["t"]))
    jump = 0.2 * (shaken.v["ball.y"] - shaken.left.v["ball.y"])[at]
    assert shaken.reaction_impact["motor.y"][at] == pytest.approx(jump, abs=1e-14)


@pytest.mark.parametrize("dt", [Landing(1e-6, 1e-3), 1e-3])
def test_a_block_comes_to_rest(dt):
    """Its two corners share friction in any way, and their slip is a difference of kicks."""
    run = simulate(block_on_incline().build(), GaussQP(), t_end=0.3, dt=dt)
    assert run.counts["fallbacks"] == run.counts["divided"] == 0
    assert np.max(np.abs(run.v.array[-1])) < 1e-12


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_bounces_accumulate(friction):
    """After e^k of the first flight's time each; beyond the last of them the ball rests, or rolls."""
    system = bouncing_ball().build()
    start = replace(system.start, v=np.array([1.0, 0.0, 0.0]))
    parameters = {"floor.restitution": 0.5, "floor.friction": friction}
    run = simulate(system, GaussQP(), t_end=3.0, dt=Landing(1e-3, 1e-2), parameters=parameters, state=start)
    t, speed = np.asarray(run.impacts["t"]), -np.asarray(run.impacts["gamma_minus"], dtype=float)
    height, g = float(run.gap.array[0, 0]), 9.81
    fall = np.sqrt(2 * height / g)
    times = fall * (1 + 2 * (1 - 0.5 ** np.arange(len(t))) / (1 - 0.5) * 0.5)
    assert len(t) > 8
    # a bounce shorter than dt_min = 1 ms is located within it
    assert t[:8] == pytest.approx(times[:8], abs=1e-12) and speed[:8] == pytest.approx(g * fall * 0.5 ** np.arange(8))
    assert run.gap_rate.array[-1] == pytest.approx(0.0, abs=1e-12)
    if friction:  # slips until it rolls
        assert run.v["ball.x"][-1] == pytest.approx(1 / (1 + 2 / 5), abs=1e-12)  # a solid ball
        assert run.v["ball.x"][-1] + 0.1 * run.v["ball.angle"][-1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("record", [1, 3])
def test_a_start_may_be_an_impact(record):
    """Newton's law for both directions, by hand."""
    system = bouncing_ball().build()
    start = system.state({"ball.y": 0.1})
    start = State(start.t, start.q, np.array([0.3, -1.0, 2.0]))
    parameters = {"floor.restitution": 0.5, "floor.friction": 0.3, "floor.tangential": 0.4}
    run = simulate(
        system, GaussQP(), t_end=0.5, dt=Landing(1e-3, 1e-2), parameters=parameters, state=start, record=record
    )
    assert run.impacts["t"][0] == 0.0
    assert run.left.v.array[0, 1] == -1.0
    assert run.v.array[0, 1] == pytest.approx(0.5, abs=1e-15)


def test_a_start_that_is_not_certified_ends_the_run(monkeypatch):
    monkeypatch.setattr(CompiledSteps, "start", lambda self, state: None)
    with pytest.raises(SimulationFailed, match="Step 1, from t = 0 s, failed: the step is not certified") as failed:
        simulate(flail().build(), GaussQP(), t_end=0.05, dt=FINE)
    assert len(failed.value.trajectory.t) == 1


def test_a_run_goes_on_to_the_same_bits(tmp_path):
    system, run = slider_crank_translational().build(), {"dt": FINE}
    first = simulate(system, GaussQP(), t_end=0.01, **run)
    first.save(tmp_path / "run.nc")
    again = Trajectory.load(tmp_path / "run.nc").end
    second, third = (simulate(system, GaussQP(), t_end=0.02, **run, state=end) for end in (first.end, again))
    assert np.array_equal(second.q.array, third.q.array)
    whole = simulate(system, GaussQP(), t_end=0.02, **run)
    assert abs(second.q.array[-1] - whole.q.array[-1]).max() < 1e-3  # the step at 0.01 is cut


def test_ctrl_c_loses_nothing():
    system = slider_rod().build()

    def stop(t, t_end, steps):
        if steps > 1000:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="after [0-9]+ steps") as stopped:
        simulate(system, GaussQP(), t_end=1.0, dt=Landing(1e-7, 1e-6), progress=stop)
    run = stopped.value.trajectory
    assert run.status == "interrupted"
    assert len(run.t) - 1 == run.counts["steps"] > 1000
