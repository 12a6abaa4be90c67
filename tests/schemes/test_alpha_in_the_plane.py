"""Generalised alpha in the plane: its equations, its order, its memory, how seldom steps are divided."""

from __future__ import annotations

import numpy as np
import pytest
from loops import some
from reference import violations

from nonsmooth import (
    Damper,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    InputError,
    Interrupted,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointForce,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Rigid,
    Spring,
    Torque,
    Trajectory,
    simulate,
    simulate_batch,
)
from nonsmooth.compile.machine import compilations
from nonsmooth.compile.objects import _compiled
from nonsmooth_problems import (
    bouncing_ball,
    chain,
    crank_rocker,
    four_bar,
    pendulum_with_stop,
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
    stick_slip_oscillator,
)


def loop() -> Model:
    """A closed loop with a driver, a spring, a damper, loads that vary, and one loose journal that rubs."""
    contact = Rigid(restitution=0.5, friction=0.05)
    return Model(
        [
            Ground(),
            PlanarBody("crank", 0.3, 1e-4, (0.025, 0.0), velocity=(0.0, 2.5), angular_velocity=100.0),
            PlanarBody("rod", 0.21, 2.5e-4, (0.11, 0.0), velocity=(0.0, 2.5), angular_velocity=-5.0 / 0.12),
            PlanarBody("slider", 0.14, 1e-5, (0.17, 0.0)),
            Revolute("bearing", "ground", "crank", at_b=(-0.025, 0.0)),
            PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: 100.0 * t + 900.0 * t**2),
            Revolute("big-end", "crank", "rod", at_a=(0.025, 0.0), at_b=(-0.06, 0.0)),
            Prismatic("guide", "ground", "slider"),
            RevoluteClearance("pin", "rod", "slider", at_a=(0.06, 0.0), clearance=5e-4, radius=1e-2, contact=contact),
            Spring("spring", "ground", "slider", at_a=(0.3, 0.01), stiffness=2000.0, free_length=0.1),
            Damper("damper", "ground", "slider", at_a=(0.3, 0.0), damping=1.0),
            PointForce("push", "slider", force=lambda t: (3.0 + 100.0 * t, 0.0), at=(0.0, 0.001), frame="body"),
            Torque("turn", "rod", torque=1e-3),
            Gravity(acceleration=(0.0, -9.81)),
        ]
    )


def swing() -> Model:
    """Two links on ideal hinges, far from rest: smooth motion alone."""
    return Model(
        [
            Ground(),
            PlanarBody("upper", 1.0, 0.02, (0.5, 0.0)),
            PlanarBody("lower", 0.5, 0.01, (1.25, 0.0)),
            Revolute("pivot", "ground", "upper", at_b=(-0.5, 0.0)),
            Revolute("elbow", "upper", "lower", at_a=(0.5, 0.0), at_b=(-0.25, 0.0)),
            Gravity(acceleration=(0.0, -9.81)),
        ]
    )


def pressed() -> Model:
    """A slider-crank whose slider is held on a floor, where it rubs."""
    law = Rigid(restitution=0.0, friction=0.1)
    feet = [
        PointPlane(name, "ground", "slider", at_a=(0.0, -0.025), at_b=(x, -0.025), contact=law, size=1e-3)
        for name, x in (("left", -0.05), ("right", 0.05))
    ]
    return Model(
        [
            Ground(),
            PlanarBody("crank", 0.038, 7.4e-5, (0.0765, 0.0), velocity=(0.0, 1.53), angular_velocity=20.0),
            PlanarBody("rod", 0.038, 5.9e-4, (0.306, 0.0), velocity=(0.0, 1.53), angular_velocity=-10.0),
            PlanarBody("slider", 0.076, 2.7e-6, (0.459, 0.0)),
            Revolute("main", "ground", "crank", at_b=(-0.0765, 0.0)),
            Revolute("big-end", "crank", "rod", at_a=(0.0765, 0.0), at_b=(-0.153, 0.0)),
            Revolute("small-end", "rod", "slider", at_a=(0.153, 0.0)),
            *feet,
            PointForce("press", "slider", force=(0.0, -50.0)),
            Gravity(acceleration=(0.0, -9.81)),
        ]
    )


#: mechanism, step, number of steps, spectral radius
CASES = {
    "guide": (slider_crank_translational(contact=Rigid(restitution=0.4, friction=0.1)), 1e-4, 160, 0.8),
    "pin": (slider_crank_revolute(), 2e-5, 160, 0.8),
    "rod": (slider_rod(case=2), 2e-4, 160, 0.8),
    "loop": (loop(), 5e-5, 160, 0.8),
    "stop": (pendulum_with_stop(), 5e-3, 160, 0.8),
    "rocker": (crank_rocker(), 1e-4, 160, 0.8),
    "loop, radius 0": (loop(), 2e-4, 100, 0.0),
    "loop, radius 1": (loop(), 2e-4, 100, 1.0),
    "pressed, radius 0": (pressed(), 2e-4, 100, 0.0),
    "pressed, radius 1": (pressed(), 2e-4, 100, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_steps_satisfy_the_equations(name):
    model, dt, steps, radius = CASES[name]
    system, stepper = model.build(), GeneralizedAlpha(radius)
    run = simulate(system, stepper, t_end=steps * dt, dt=dt)
    assert len(run.t) == steps + 1 and np.any(run.P_N.array > 0.0)
    assert violations(run, system, stepper, dt) == {}


@pytest.mark.parametrize("rho", [0.0, 0.8, 1.0])
def test_smooth_motion_is_of_second_order(rho):
    """Differences of ends as the step is halved."""
    system = swing().build()
    ends = [simulate(system, GeneralizedAlpha(rho), t_end=0.5, dt=2e-3 / 2**k).q.array[-1] for k in range(5)]
    steps = [np.max(np.abs(fine - coarse)) for coarse, fine in zip(ends, ends[1:], strict=False)]
    assert np.log2(np.divide(steps[:-1], steps[1:])) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(
    ("model", "dt", "steps"),
    [
        (slider_crank_translational(), 1e-5, 20000),
        (slider_crank_revolute(), 1e-5, 20000),
        (four_bar(), 1e-4, 20000),
        (chain(), 1e-4, 5000),
        (crank_rocker(), 1e-4, 5000),
        (stick_slip_oscillator(), 1e-3, 5000),
        (loop(), 1e-4, 1500),
        (bouncing_ball(), 1e-4, 20000),
    ],
    ids=["guide", "pin", "four-bar", "chain", "rocker", "belt", "loop", "ball"],
)
def test_hardly_a_step_of_a_long_run_is_rescued(model, dt, steps):
    """Through thousands of impacts and all modes."""
    run = simulate(model.build(), GeneralizedAlpha(), t_end=steps * dt, dt=dt, record=50)
    assert run.counts["steps"] >= steps  # parts of steps are steps
    assert run.counts["divided"] + run.counts["chained"] <= steps / 1000
    assert run.certificate.motion_residual <= 1e-10
    assert run.certificate.complementarity <= 1e-10
    assert run.certificate.joint_violation <= 1e-12


def test_few_steps_of_a_chain_looser_than_its_step_are_taken_in_parts(loose_chain):
    """Normals turn by more than a radian in a step: passes settle along secants, by Newton's method, or in parts."""
    system = loose_chain(3, clearance=1e-4, contact=Rigid(restitution=0.3, friction=0.0))
    run = simulate(system, GeneralizedAlpha(), t_end=0.2, dt=1e-3)
    assert run.counts["divided"] <= 20 and run.counts["chained"] == 0
    assert run.certificate.motion_residual <= 1e-9  # what certifies a step
    assert run.certificate.gap_violation <= 1e-12


def test_steps_with_stiff_springs_are_taken_in_parts_and_say_so():
    """Accelerations that each pass multiplies, in two vibrations, settle in short steps, which return to the grid."""
    elements = [
        Ground(),
        PlanarBody("first", 1.0, 1.0, (0.11, 0.0)),
        PlanarBody("second", 2.0, 1.0, (0.3, 0.0)),
        *(Prismatic(f"rail-{name}", "ground", name) for name in ("first", "second")),
        Spring("wall", "ground", "first", stiffness=1e8, free_length=0.1),
        Spring("between", "first", "second", stiffness=3e8, free_length=0.1),
    ]
    run = simulate(Model(elements).build(), GeneralizedAlpha(), t_end=20e-3, dt=1e-3)
    assert run.counts["divided"] == 20 and run.counts["fallbacks"] == 0
    assert len(run.t) == run.counts["steps"] + 1 > 40
    assert all(np.abs(run.t - 1e-3 * k).min() <= 1e-15 for k in range(21))
    assert run.certificate.motion_residual <= 1e-9  # what certifies a step


def test_a_spring_that_swings_in_ten_steps_does_not():
    """One vibration is what secants are for."""
    elements = [
        Ground(),
        PlanarBody("mass", 1.0, 1.0, (0.11, 0.0)),
        Prismatic("rail", "ground", "mass"),
        Spring("spring", "ground", "mass", stiffness=4e5, free_length=0.1),
    ]
    run = simulate(Model(elements).build(), GeneralizedAlpha(), t_end=0.1, dt=1e-3)
    assert run.counts["divided"] == run.counts["fallbacks"] == 0
    assert run.certificate.motion_residual <= 1e-10


@pytest.mark.parametrize(
    "model",
    some(
        [slider_crank_translational(contact=Rigid(restitution=0.4, friction=0.1)), loop(), slider_crank_revolute()], 3
    ),
    ids=["guide", "loop", "pin"],
)
def test_a_run_goes_on_to_the_same_bits(model, tmp_path):
    system, run = model.build(), {"dt": 1e-4}
    whole = simulate(system, GeneralizedAlpha(), t_end=0.04, **run)
    assert len(whole.impacts) > 0
    for half in (1, 100, 200, 333):
        first = simulate(system, GeneralizedAlpha(), t_end=half * 1e-4, **run)
        first.save(tmp_path / "run.nc")
        second = simulate(system, GeneralizedAlpha(), t_end=0.04, **run, state=Trajectory.load(tmp_path / "run.nc").end)
        for table in ("q", "v", "P_N", "P_T", "mode", "reaction"):
            ours, theirs = getattr(second, table).array, getattr(whole, table).array
            assert np.array_equal(ours[1:], theirs[half + 1 :]), table


def test_other_schemes_go_on_from_it_and_it_from_them():
    system = slider_crank_translational(contact=Rigid(restitution=0.0, friction=0.1)).build()
    run = {"dt": 1e-5}
    for one, other in ((GeneralizedAlpha(), MoreauJean()), (MoreauJean(), GeneralizedAlpha()),
                       (GeneralizedAlpha(), GaussQP()), (GaussQP(), GeneralizedAlpha())):  # fmt: skip
        first = simulate(system, one, t_end=2e-3, **run)
        second = simulate(system, other, t_end=3e-3, **run, state=first.end)
        assert second.counts["steps"] == 100


def test_ctrl_c_loses_nothing():
    system = loop().build()

    def stop(t, t_end, steps):
        if steps > 100:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="after [0-9]+ steps") as stopped:
        simulate(system, GeneralizedAlpha(), t_end=1.0, dt=1e-5, progress=stop)
    run = stopped.value.trajectory
    assert run.status == "interrupted"
    assert len(run.t) - 1 == run.counts["steps"] > 100
    whole = simulate(system, GeneralizedAlpha(), t_end=float(run.t[-1]), dt=1e-5)
    assert np.array_equal(run.q.array, whole.q.array)


def test_nothing_is_compiled_for_other_numbers():
    system, run = slider_crank_translational().build(), {"dt": 1e-5, "t_end": 1e-3}
    simulate(system, GeneralizedAlpha(), **run)
    kinds, functions = compilations(), _compiled.cache_info().misses
    changes = {"guide.clearance": 5e-4, "slider.mass": 0.1, "guide.friction": 0.2, "guide.restitution": 0.9}
    simulate(system, GeneralizedAlpha(0.3), **run, parameters=changes)
    simulate(slider_crank_translational().build(), GeneralizedAlpha(), **run)
    assert compilations() == kinds
    assert _compiled.cache_info().misses == functions


def test_runs_of_a_batch_equal_single_runs_bit_for_bit():
    system = slider_crank_translational().build()
    values = {"guide.clearance": np.linspace(5e-4, 2e-3, 40), "guide.friction": np.where(np.arange(40) % 2, 0.1, 0.0)}
    runs = simulate_batch(
        system, GeneralizedAlpha(), values, t_end=0.02, dt=1e-4, metrics=["impulse", "motion_residual"]
    )
    assert runs.attrs["repeated_runs"] == 0
    assert float(runs["motion_residual"].max()) < 1e-10
    for k in (0, 1, 17, 39):
        changes = {name: float(column[k]) for name, column in values.items()}
        single = simulate(system, GeneralizedAlpha(), t_end=0.02, dt=1e-4, parameters=changes)
        assert np.array_equal(runs["q"].values[k], single.q.array[-1])
        assert np.array_equal(runs["v"].values[k], single.v.array[-1])
        assert runs["impulse"].values[k] == pytest.approx(single.P_N.array.sum(axis=0), rel=1e-12)


def test_steps_that_land_are_refused_in_one_sentence():
    system = slider_rod(case=1).build()
    with pytest.raises(InputError, match="requires a constant step, got Landing"):
        simulate(system, GeneralizedAlpha(), t_end=0.01, dt=Landing(1e-6, 1e-4))
