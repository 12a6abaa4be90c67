"""Many runs at once: equal to single runs bit for bit, and refused like them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    GaussQP,
    GeneralizedAlpha,
    Ground,
    InputError,
    IpoptMPCC,
    Landing,
    Model,
    ModelError,
    MoreauJean,
    PlanarBody,
    PrismaticClearance,
    Rigid,
    simulate,
    simulate_batch,
)
from nonsmooth.compile.machine import compilations
from nonsmooth_problems import (
    flexible_slider_crank,
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
    spatial_slider_crank,
)


@pytest.mark.parametrize("stepper", [GaussQP(), MoreauJean(), GeneralizedAlpha()], ids=repr)
def test_each_run_equals_the_single_run_bit_for_bit(stepper):
    system = slider_rod(case=2).build()
    values = {"guide.clearance": np.linspace(5e-6, 2e-5, 150), "slider.mass": np.linspace(4.0, 6.0, 150)}
    if not isinstance(stepper, GaussQP):
        values["guide.friction"] = np.where(np.arange(150) % 2, 0.1, 0.0)
    runs = simulate_batch(system, stepper, values, t_end="10 ms", dt="10 us", metrics=["impulse", "gap_violation"])
    assert runs.attrs["repeated_runs"] == 0
    for k in (0, 1, 77, 149):
        changes = {name: float(column[k]) for name, column in values.items()}
        single = simulate(system, stepper, t_end=0.01, dt=1e-5, parameters=changes)
        assert np.array_equal(runs["q"].values[k], single.q.array[-1])
        assert np.array_equal(runs["v"].values[k], single.v.array[-1])
        assert runs["impulse"].values[k] == pytest.approx(single.P_N.array.sum(axis=0), rel=1e-12)
        assert float(runs["gap_violation"][k]) == single.certificate.gap_violation


@pytest.mark.parametrize("joints", ["rattle", "midpoint"])
def test_runs_with_joints_equal_single_runs_bit_for_bit(joints):
    system, stepper = slider_crank_revolute().build(), MoreauJean(joints=joints)
    values = {"pin.restitution": np.linspace(0.1, 0.9, 20), "slider.mass": np.linspace(0.1, 0.2, 20)}
    run = {"t_end": 2e-3, "dt": 1e-5}
    runs = simulate_batch(system, stepper, values, **run, metrics=["impulse", "gap_violation"])
    assert runs.attrs["repeated_runs"] == 0
    for k in (0, 7, 19):
        changes = {name: float(column[k]) for name, column in values.items()}
        single = simulate(system, stepper, **run, parameters=changes)
        assert np.array_equal(runs["q"].values[k], single.q.array[-1])
        assert np.array_equal(runs["v"].values[k], single.v.array[-1])
        assert float(runs["gap_violation"][k]) == single.certificate.gap_violation


@pytest.mark.parametrize(
    "model",
    some(
        [
            slider_crank_translational,
            partial(slider_rod, case=2),
            flexible_slider_crank,
            partial(spatial_slider_crank, Rigid(restitution=0.5, friction=0.1)),
        ],
        3,
    ),
    ids=["slider-crank", "slider-rod", "flexible", "spatial"],
)
def test_any_parameter_may_vary(model):
    """Whatever it changes in the memory of a run, and nothing else: one after the other, by so little that joints
    remain closed."""
    system, metrics = model().build(), ["impulse", "gap_violation", "joint_violation", "motion_residual"]
    run = {"t_end": 2e-4, "dt": 1e-5}
    changed = 0
    for name, value in system.parameters.items():
        if name.endswith(".friction"):  # without which steps are others
            continue
        values = value + 1e-11 * np.array([0.0, 1.0, 3.0]) * max(abs(value), 1e-2)
        runs = simulate_batch(system, MoreauJean(), {name: values}, **run, metrics=metrics)
        single = simulate(system, MoreauJean(), **run, parameters={name: float(values[-1])})
        assert np.array_equal(runs["q"].values[-1], single.q.array[-1]), name
        assert np.array_equal(runs["v"].values[-1], single.v.array[-1]), name
        assert runs["impulse"].values[-1] == pytest.approx(single.P_N.array.sum(axis=0), rel=1e-12)
        for metric in metrics[1:]:
            assert float(runs[metric][-1]) == getattr(single.certificate, metric), name
        changed += not np.array_equal(runs["v"].values[0], runs["v"].values[-1])
    assert changed >= 6


@pytest.mark.parametrize(
    ("model", "t_end", "values"),
    [
        (partial(slider_rod, case=2), 0.02, {"guide.clearance": (5e-6, 2e-5), "guide.restitution": (0.0, 0.8)}),
        (slider_crank_translational, 0.02, {"guide.restitution": (0.0, 0.9), "guide.friction": (0.0, 0.1)}),
        (slider_crank_revolute, 2e-3, {"pin.restitution": (0.1, 0.9)}),
    ],
    ids=["slider-rod", "slider-crank, guide", "slider-crank, pin"],
)
def test_runs_that_land_equal_single_runs_bit_for_bit(model, t_end, values):
    """Runs with coarse steps of the pin that are not certified at once are done again, one by one."""
    columns = {name: np.linspace(*ends, 20) for name, ends in values.items()}
    run = {"t_end": t_end, "dt": Landing(1e-6, 1e-4)}
    metrics = ["impulse", "gap_violation", "complementarity"]
    system = model().build()
    runs = simulate_batch(system, GaussQP(), columns, **run, metrics=metrics)
    assert runs.attrs["dt"] == repr(run["dt"])
    assert float(runs["gap_violation"].max()) < 1e-13
    for k in (0, 7, 19):
        changes = {name: float(column[k]) for name, column in columns.items()}
        single = simulate(system, GaussQP(), **run, parameters=changes)
        assert np.array_equal(runs["q"].values[k], single.q.array[-1])
        assert np.array_equal(runs["v"].values[k], single.v.array[-1])
        assert runs["impulse"].values[k] == pytest.approx(single.P_N.array.sum(axis=0), rel=1e-12)
        for name in metrics[1:]:
            assert float(runs[name][k]) == getattr(single.certificate, name)


def test_a_run_may_begin_with_an_impact():
    """Newton's law at the start: a body on the wall of its guide leaves it at e times the speed that it comes with."""
    model, contact = Model(name="on the wall"), Rigid(restitution=0.5, friction=0.0)
    ground = model.add(Ground())
    body = model.add(PlanarBody("body", mass=1.0, inertia=1e-3, position=(0.0, -1e-3), velocity=(0.0, -0.1)))
    model.add(PrismaticClearance("guide", ground, body, clearance=1e-3, length=0.1, contact=contact))
    system, run = model.build(), {"t_end": 1e-3, "dt": Landing(1e-6, 1e-3)}
    values = np.array([0.0, 0.5, 1.0])
    runs = simulate_batch(system, GaussQP(), {"guide.restitution": values}, **run, metrics=["impulse"])
    assert runs.attrs["repeated_runs"] == 3  # a start that is an impact is left to single runs
    # the last bits of the clearance of 1 mm, by which the body is not on the wall, over the step of 1 ms
    assert runs["v"].sel(velocity=system.v_names[1]).values == pytest.approx(0.1 * values, abs=1e-14)
    assert runs["impulse"].values.sum(axis=1) == pytest.approx(0.1 * (1 + values), rel=1e-14)


@pytest.mark.parametrize("stepper", [GaussQP(), MoreauJean()], ids=repr)
def test_each_run_has_its_own_start(stepper):
    system = slider_rod(case=2).build()
    values = {"guide.clearance": np.linspace(1e-5, 2e-5, 70)}
    states = [system.state({"slider.y": 1e-7 * k}, velocities={"slider.x": 0.01 * k}) for k in range(70)]
    runs = simulate_batch(system, stepper, values, t_end=2e-3, dt=1e-5, states=states)
    for k in (0, 1, 69):
        changes = {"guide.clearance": float(values["guide.clearance"][k])}
        single = simulate(system, stepper, t_end=2e-3, dt=1e-5, parameters=changes, state=states[k])
        assert np.array_equal(runs["q"].values[k], single.q.array[-1])
        assert np.array_equal(runs["v"].values[k], single.v.array[-1])
    assert len(np.unique(runs["q"].sel(coordinate="slider.x"))) == 70


def test_threads_and_parameters_change_nothing_and_compile_nothing():
    system = slider_crank_translational().build()
    run = {"t_end": 2e-3, "dt": 1e-5, "metrics": ["motion_residual"]}
    values = {"guide.restitution": np.linspace(0.0, 1.0, 200)}
    one = simulate_batch(system, MoreauJean(), values, **run, threads=1)
    before = compilations()
    two = simulate_batch(system, MoreauJean(), values, **run, threads=2)
    assert compilations() == before
    assert np.array_equal(one["q"].values, two["q"].values)
    assert float(two["motion_residual"].max()) < 1e-11
    assert list(two["coordinate"].values) == list(system.q_names)


def test_what_cannot_be_run_is_refused():
    system = slider_rod(case=1).build()
    run = {"t_end": 1e-3, "dt": 1e-4}
    with pytest.raises(InputError, match="MoreauJean formulates programs that IpoptMPCC.* does not solve"):
        simulate_batch(system, MoreauJean(solver=IpoptMPCC()), {"slider.mass": [1.0]}, **run)
    with pytest.raises(InputError, match="restitution"):
        simulate_batch(system, GaussQP(), {"guide.restitution": [0.0, 0.5]}, **run)
    with pytest.raises(ModelError, match="clearance must be a positive number"):
        simulate_batch(system, GaussQP(), {"guide.clearance": [1e-5, -1e-5]}, **run)
    with pytest.raises(InputError, match="Unknown parameter"):
        simulate_batch(system, GaussQP(), {"guide.clearence": [1e-5]}, **run)
    with pytest.raises(InputError, match="one length"):
        simulate_batch(system, GaussQP(), {"guide.clearance": [1e-5], "slider.mass": [1.0, 2.0]}, **run)
    with pytest.raises(InputError, match="metrics"):
        simulate_batch(system, GaussQP(), {"slider.mass": [1.0]}, **run, metrics=["beauty"])
    with pytest.raises(InputError, match='record must be "end"'):
        simulate_batch(system, GaussQP(), {"slider.mass": [1.0]}, **run, record=3)


def test_a_start_of_another_system_or_time_is_refused():
    system, other = slider_rod(case=1).build(), slider_crank_translational().build()
    run = {"t_end": 1e-3, "dt": 1e-4}
    for states, named in (
        ([system.start], "states must be a list of 2 states"),
        (system.start, "states must be a list of 2 states"),
        ([system.start, other.start], "State 1 of the batch is no state of this system"),
        ([system.start, "start"], "State 1 of the batch is no state of this system"),
        ([system.start, system.state({}, t=1e-4)], "begin at t = 0 s, got state 1 at t = 0.0001 s"),
    ):
        with pytest.raises(InputError, match=named):
            simulate_batch(system, GaussQP(), {"slider.mass": [1.0, 2.0]}, **run, states=states)
    overlapping = system.state({"slider.y": 1.0})
    with pytest.raises(ModelError, match="Run 1 of the batch.*overlaps"):
        simulate_batch(system, GaussQP(), {"slider.mass": [1.0, 2.0]}, **run, states=[system.start, overlapping])


def test_a_run_with_open_joints_is_named():
    system = slider_crank_translational().build()
    with pytest.raises(ModelError, match='Run 1 of the batch.*"ground-crank.x" is open'):
        simulate_batch(system, MoreauJean(), {"ground-crank.at_b_x": [-0.0765, -0.07]}, t_end=1e-4, dt=1e-5)
