"""Steps that end where a gap closes: compiled runs against those of the Python formulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

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
    State,
    Trajectory,
    simulate,
)
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.registry import find_problems
from nonsmooth_problems import (
    block_on_incline,
    bouncing_ball,
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
)

STEPS = 100
FINE = Landing(1e-6, 1e-4)
COLUMNS = "q", "v", "gap", "gap_rate", "P_N", "P_T", "lam_N", "reaction", "reaction_impact", "energy"


def both(system, t_end, dt, **run):
    run |= {"t_end": t_end, "dt": dt}
    return tuple(simulate(system, GaussQP(), **run, engine=engine) for engine in ("native", "python"))


def changed(system, **labels):
    """Values for all contacts, by label."""
    names = [(name, label) for name in system.parameters for label in labels if name.endswith(f".{label}")]
    return {name: labels[label] for name, label in names}


def close(native, python, tolerance, floor):
    """Columns agree to `tolerance` of their scale, or of `floor`."""
    scale = np.maximum(np.max(np.abs(python), axis=0, initial=0.0), floor)
    return bool(np.all(np.abs(native - python) <= tolerance * np.maximum(scale, 1e-300)))


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


# flexible bodies stand in test_flexible.py: round-off of stiff modes decides on the lengths of their steps
MODELS = {name: problem() for name, problem in find_problems().items() if "flexible" not in problem.tags} | {
    "flail": flail(),
    "table": driven_table(),
}


@pytest.mark.parametrize("elastic", [False, True], ids=["", "elastic"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.quick(4)
def test_both_engines_give_the_same_motion(name, elastic):
    system = MODELS[name].build()
    if CompiledSteps.why_not(system, GaussQP(), FINE, system.parameter_values):
        pytest.skip("the native engine does not have this mechanism")
    run = {"parameters": changed(system, restitution=0.5, friction=0.2) if elastic else {}}
    native, python = both(system, STEPS * FINE.dt_max, FINE, **run)
    assert native.manifest["engine"] == "native"
    assert native.counts["python_steps"] == 0
    assert native.counts["steps"] == python.counts["steps"]
    assert list(native.impacts["contact"]) == list(python.impacts["contact"])
    # round-off grows as it does from a start that is moved by it; the Python engine closes joints and gaps to 1e-13
    names, start = system.q_names, system.start.q
    moved = system.state({name: value * (1 + 4e-16) for name, value in zip(names, start, strict=True)})
    again = simulate(system, GaussQP(), t_end=STEPS * FINE.dt_max, dt=FINE, engine="python", state=moved, **run)
    for table, noise in (("q", 1e-13), ("v", 1e-13 / FINE.dt_max)):
        ours, theirs, others = (getattr(run, table).array for run in (native, python, again))
        grown = np.maximum.accumulate(np.max(np.abs(others - theirs), axis=1))[:, None]
        scale = np.maximum(np.max(np.abs(theirs), axis=0), 1e-2 * np.max(np.abs(theirs)))
        assert np.all(np.abs(ours - theirs) <= 1e-12 * scale + noise + 100 * grown), table
    ours, theirs = native.certificate, python.certificate
    assert ours.gap_violation == pytest.approx(theirs.gap_violation, rel=1e-6, abs=1e-12)
    assert ours.joint_violation <= max(10 * theirs.joint_violation, 1e-14)
    assert ours.complementarity <= max(10 * theirs.complementarity, 1e-11)
    assert ours.motion_residual <= max(10 * theirs.motion_residual, 1e-11)


def same_columns(native, python, tolerance):
    assert close(native.t[:, None], python.t[:, None], tolerance, 0.0)
    for table in COLUMNS:
        ours, theirs = (getattr(run, table).array for run in (native, python))
        scale = 1e-2 * np.max(np.abs(theirs), initial=0.0)
        if table == "gap_rate":
            scale = np.max(np.abs(python.v.array))
        loose = 1e3 if table == "reaction" else 1.0  # joints know forces to round-off over dt^2
        assert close(ours, theirs, loose * tolerance, scale), table
    assert close(native.left.v.array, python.left.v.array, tolerance, 1e-2 * np.max(np.abs(python.v.array)))
    assert np.array_equal(native.mode.array, python.mode.array)
    assert list(native.impacts["contact"]) == list(python.impacts["contact"])
    fastest = np.max(np.abs(python.impacts["gamma_minus"]), initial=0.0)
    for name, floor in (("t", 0.0), ("P_N", 0.0), ("P_T", 0.0), ("gamma_minus", 0.0), ("gamma_plus", fastest)):
        ours, theirs = (np.asarray(run.impacts[name], dtype=float) for run in (native, python))
        assert close(ours[:, None], theirs[:, None], tolerance, floor), name
    ours, theirs = native.certificate.energy, python.certificate.energy
    assert ours.kinetic_start == pytest.approx(theirs.kinetic_start, rel=1e-12)
    assert ours.loss_impacts == pytest.approx(theirs.loss_impacts, rel=1e-8, abs=1e-12)
    assert ours.work_drivers == pytest.approx(theirs.work_drivers, rel=1e-8, abs=1e-12)
    assert ours.remainder == pytest.approx(theirs.remainder, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("record", [1, 3])
@pytest.mark.parametrize(
    ("model", "t_end", "dt", "tolerance"),
    [
        (slider_crank_translational(), 0.01, FINE, 1e-9),
        (slider_crank_revolute(), 5e-3, FINE, 1e-9),
        (slider_rod(case=1), 0.05, Landing(1e-6, 1e-3), 1e-9),
        (flail(), 0.3, Landing(1e-4, 1e-3), 1e-9),
        (driven_table(), 0.5, Landing(1e-4, 1e-3), 1e-8),
    ],
    ids=["guide", "pin", "rod", "flail", "table"],
)
@pytest.mark.quick(3)
def test_all_columns_agree(model, t_end, dt, tolerance, record):
    native, python = both(model.build(), t_end, dt, record=record)
    assert native.counts["python_steps"] == 0
    assert len(native.impacts) > 0
    same_columns(native, python, tolerance)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_motor_drives_up_to_an_impact(engine):
    """The velocity before an impact obeys joints and drives, also where short bounces end within one step of dt_min."""
    shaken = simulate(driven_table(20.0).build(), GaussQP(), t_end=0.4, dt=Landing(1e-4, 1e-3), engine=engine)
    assert np.min(np.abs(np.diff(shaken.t) - 1e-4)) < 1e-9  # there is such a step
    # round-off of 0.2 m/s; without the motor's reply to the ball's impulse it is 9e-5 m/s off
    assert shaken.left.v["table.y"] == pytest.approx(0.2 * np.cos(20.0 * shaken.t), abs=1e-14)
    # it is the motor that takes what stops the ball
    at = np.flatnonzero(np.isin(shaken.t, shaken.impacts["t"]))
    jump = 0.2 * (shaken.v["ball.y"] - shaken.left.v["ball.y"])[at]
    assert shaken.reaction_impact["motor.y"][at] == pytest.approx(jump, abs=1e-14)


@pytest.mark.parametrize("dt", [Landing(1e-6, 1e-3), 1e-3])
def test_a_block_that_comes_to_rest_stays_native(dt):
    """Its two corners share friction in any way, and their slip is a difference of kicks."""
    run = simulate(block_on_incline().build(), GaussQP(), t_end=0.3, dt=dt)
    assert run.counts["python_steps"] == 0
    assert np.max(np.abs(run.v.array[-1])) < 1e-12


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_bounces_accumulate(friction):
    """Beyond the last of them the ball rests, or rolls."""
    system = bouncing_ball().build()
    start = replace(system.start, v=np.array([1.0, 0.0, 0.0]))
    parameters = {"floor.restitution": 0.5, "floor.friction": friction}
    native, python = both(system, 3.0, Landing(1e-3, 1e-2), parameters=parameters, state=start)
    assert native.counts["python_steps"] == 0
    assert len(native.impacts) > 8
    assert native.gap_rate.array[-1] == pytest.approx(0.0, abs=1e-12)
    same_columns(native, python, 1e-12)


@pytest.mark.parametrize("record", [1, 3])
def test_a_start_may_be_an_impact(record):
    system = bouncing_ball().build()
    start = system.state({"ball.y": 0.1})
    start = State(start.t, start.q, np.array([0.3, -1.0, 2.0]))
    parameters = {"floor.restitution": 0.5, "floor.friction": 0.3, "floor.tangential": 0.4}
    native, python = both(system, 0.5, Landing(1e-3, 1e-2), parameters=parameters, state=start, record=record)
    assert native.impacts["t"][0] == 0.0
    assert native.left.v.array[0, 1] == -1.0
    same_columns(native, python, 1e-12)


def doubting(monkeypatch):
    """Compiled steps are taken by sevens, and each second time they are refused, with other solvers too."""
    run, calls = CompiledSteps.run, []

    def few(self, state, origin, most):
        calls.append(state.t)
        if len(calls) % 2:
            return 0, False
        self._chunk = 7
        return run(self, state, origin, most)

    monkeypatch.setattr(CompiledSteps, "run", few)
    monkeypatch.setattr(CompiledSteps, "rescue", lambda *_: None)


def test_a_step_that_is_not_certified_goes_to_python(monkeypatch):
    system = slider_crank_translational().build()
    certain = simulate(system, GaussQP(), t_end=0.01, dt=FINE)
    doubting(monkeypatch)
    doubted = simulate(system, GaussQP(), t_end=0.01, dt=FINE)
    assert doubted.counts["python_steps"] > 10
    same_columns(doubted, certain, 1e-8)


def test_a_start_that_is_not_certified_goes_to_python(monkeypatch):
    system = flail().build()
    certain = simulate(system, GaussQP(), t_end=0.05, dt=FINE)
    monkeypatch.setattr(CompiledSteps, "start", lambda self, state: None)
    doubted = simulate(system, GaussQP(), t_end=0.05, dt=FINE)
    assert doubted.counts["steps"] == certain.counts["steps"]
    same_columns(doubted, certain, 1e-9)


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


def test_python_restarts_where_native_ended():
    """The engines hand on contacts that press, and since when the others are open."""
    system = slider_crank_translational().build()
    first = simulate(system, GaussQP(), t_end=0.01, dt=FINE)
    native, python = both(system, 0.015, FINE, state=first.end)
    same_columns(native, python, 1e-8)
