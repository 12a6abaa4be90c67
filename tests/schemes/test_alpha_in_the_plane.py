"""Generalized-alpha in compiled code: the Python formulation's motion, its order, its memory, how seldom it asks."""

from __future__ import annotations

import numpy as np
import pytest

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
from nonsmooth.compile.objects import entry
from nonsmooth.engine.steps import CompiledSteps, Taken
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.registry import find_problems
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

STEPS = 100
DTS = (1e-5, 2e-4)


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


OWN = {"loop": loop(), "swing": swing(), "pressed": pressed(), "rod-1": slider_rod(case=1), "rod-3": slider_rod(case=3)}
READY = {name: problem() for name, problem in find_problems().items() if "spatial" not in problem.tags}
#: rigid bodies alone are compiled
MODELS = {
    name: model for name, model in READY.items() if not any(isinstance(e, FlexibleBody) for e in model.elements)
} | OWN


def both(system, t_end, dt, stepper=GeneralizedAlpha(), **run):  # noqa: B008
    run |= {"t_end": t_end, "dt": dt}
    return tuple(simulate(system, stepper, **run, engine=engine) for engine in ("native", "python"))


def apart(native, python, floor):
    """The largest difference, relative to each column's size or to `floor`."""
    scale = np.maximum(np.max(np.abs(python), axis=0, initial=0.0), floor)
    return float(np.max(np.abs(native - python) / np.maximum(scale, 1e-300), initial=0.0))


def same_motion(native, python, tolerance, unique=True):
    """Columns of q and v agree to `tolerance` of their size, those of round-off to that of the largest of their kind.

    The Python formulation closes joints and gaps to 1e-13 of their terms, which velocities see divided by dt. Modes are
    the same where friction is unique.
    """
    for table in "qv":
        ours, theirs = (getattr(run, table).array for run in (native, python))
        assert apart(ours, theirs, 1e-2 * np.max(np.abs(theirs))) <= tolerance, table
    assert np.array_equal(native.mode.array, python.mode.array) or not unique
    assert list(native.impacts["contact"]) == list(python.impacts["contact"])


@pytest.mark.parametrize("dt", DTS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.quick(4)
def test_both_engines_give_the_same_motion(name, dt):
    native, python = both(MODELS[name].build(), STEPS * dt, dt)
    assert native.manifest["engine"] == "native" and python.manifest["engine"] == "python"
    assert native.counts["python_steps"] == 0
    assert np.array_equal(native.t, python.t)
    # journals that lie in their bearings let round-off grow where a step turns their normals
    tolerance = 2e-11 if name == "slider-crank-revolute" and dt > 1e-4 else 2e-12
    # two feet of one block, which both stick, share their friction as they like
    same_motion(native, python, tolerance, unique=name != "stick-slip-oscillator")
    ours, theirs = native.certificate, python.certificate
    assert ours.gap_violation <= max(10 * theirs.gap_violation, 1e-14)
    assert ours.joint_violation <= max(10 * theirs.joint_violation, 1e-14)
    assert ours.complementarity <= 1e-11
    assert ours.motion_residual <= max(tolerance, 1e-11)
    assert ours.energy.remainder == pytest.approx(theirs.energy.remainder, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("rho", [0.0, 1.0])
@pytest.mark.parametrize("name", ["loop", "slider-crank-translational", "pressed"])
@pytest.mark.quick(3)
def test_other_spectral_radii(name, rho):
    native, python = both(MODELS[name].build(), STEPS * 2e-4, 2e-4, GeneralizedAlpha(rho))
    assert native.counts["python_steps"] == 0
    same_motion(native, python, 1e-11)


@pytest.mark.parametrize("record", [1, 3])
@pytest.mark.parametrize(
    ("model", "dt"),
    [
        (slider_crank_translational(contact=Rigid(restitution=0.4, friction=0.1)), 1e-4),
        (slider_crank_revolute(), 2e-5),
        (slider_rod(case=2), 2e-4),
        (loop(), 5e-5),
        (pendulum_with_stop(), 5e-3),
        (crank_rocker(), 1e-4),
    ],
    ids=["guide", "pin", "rod", "loop", "stop", "rocker"],
)
@pytest.mark.quick(3)
def test_all_columns_agree(model, dt, record):
    native, python = both(model.build(), 160 * dt, dt, record=record)
    assert native.counts["python_steps"] == 0
    assert len(native.impacts) > 0
    same_motion(native, python, 1e-11)
    for table in ("gap", "gap_rate", "P_N", "P_T", "lam_N", "reaction", "reaction_impact", "energy"):
        ours, theirs = (getattr(run, table).array for run in (native, python))
        assert ours.shape == theirs.shape
        scale = np.max(np.abs(python.v.array)) if table == "gap_rate" else 1e-2 * np.max(np.abs(theirs), initial=0.0)
        loose = 1e2 if table == "reaction" else 1.0  # joints know forces to round-off over dt
        assert apart(ours, theirs, scale) <= loose * 1e-10, table
    assert apart(native.left.v.array, python.left.v.array, 1e-2 * np.max(np.abs(python.v.array))) <= 1e-11
    fastest = np.max(np.abs(python.impacts["gamma_minus"]))
    for name, floor in (("t", 0.0), ("P_N", 0.0), ("P_T", 1e-9), ("gamma_minus", fastest), ("gamma_plus", fastest)):
        ours, theirs = (np.asarray(run.impacts[name], dtype=float) for run in (native, python))
        assert apart(ours, theirs, floor) <= 1e-10, name
    ours, theirs = native.certificate.energy, python.certificate.energy
    for name in ("kinetic", "loss_impacts", "loss_friction", "loss_damping", "work_drivers", "work_loads", "remainder"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-8, abs=1e-11), name


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
def test_hardly_a_step_of_a_long_run_asks_python(model, dt, steps):
    """Through thousands of impacts and all modes."""
    run = simulate(model.build(), GeneralizedAlpha(), t_end=steps * dt, dt=dt, record=50)
    assert run.counts["steps"] >= steps  # parts of steps are steps
    assert run.counts["python_steps"] == 0 and run.counts["divided"] + run.counts["chained"] <= steps / 1000
    assert run.certificate.motion_residual <= 1e-10
    assert run.certificate.complementarity <= 1e-10
    assert run.certificate.joint_violation <= 1e-12


def test_few_steps_of_a_chain_looser_than_its_step_are_taken_in_parts(loose_chain):
    """Normals turn by more than a radian in a step: passes settle along secants, or in a part of the step."""
    system = loose_chain(3, clearance=1e-4, contact=Rigid(restitution=0.3, friction=0.0))
    run = simulate(system, GeneralizedAlpha(), t_end=0.2, dt=1e-3)
    assert 0 < run.counts["divided"] <= 20 and run.counts["python_steps"] == 0
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
    assert run.counts["divided"] == 20 and run.counts["python_steps"] == run.counts["fallbacks"] == 0
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
    native, python = both(Model(elements).build(), 0.1, 1e-3)
    assert native.counts["python_steps"] == 0
    same_motion(native, python, 1e-11)


def doubting(monkeypatch):
    """Every other call for steps is refused, and the others make few."""
    advance, calls = CompiledSteps.advance, []

    def few(self, state, origin, most):
        calls.append(state.t)
        if len(calls) % 2:
            return Taken(0, {}, state, False)
        self._chunk = 7
        return advance(self, state, origin, most)

    monkeypatch.setattr(CompiledSteps, "advance", few)
    monkeypatch.setattr(CompiledSteps, "rescue", lambda *_: None)


def test_a_step_that_is_not_certified_goes_to_python(monkeypatch):
    """Accelerations and multipliers go to Python and come back; the very first step as well."""
    system, run = loop().build(), {"t_end": 0.02, "dt": 1e-4}
    certain = simulate(system, GeneralizedAlpha(), **run)
    doubting(monkeypatch)
    doubted = simulate(system, GeneralizedAlpha(), **run)
    assert doubted.counts["fallbacks"] == doubted.counts["python_steps"] > 20
    same_motion(doubted, certain, 1e-10)
    assert np.allclose(doubted.energy.array, certain.energy.array, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [slider_crank_translational(contact=Rigid(restitution=0.4, friction=0.1)), loop(), slider_crank_revolute()],
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


def test_either_engine_goes_on_where_the_other_ended():
    system, run = loop().build(), {"dt": 1e-4}
    whole = simulate(system, GeneralizedAlpha(), t_end=0.02, **run, engine="python")
    for engine, other in (("native", "python"), ("python", "native")):
        first = simulate(system, GeneralizedAlpha(), t_end=0.01, **run, engine=engine)
        assert {"acceleration", "pseudo_acceleration", "lam_g"} <= set(first.end.stepper_memory)
        second = simulate(system, GeneralizedAlpha(), t_end=0.02, **run, engine=other, state=first.end)
        assert apart(second.v.array, whole.v.array[100:], 1e-2 * np.max(np.abs(whole.v.array))) <= 1e-10


def test_other_schemes_go_on_from_it_and_it_from_them():
    system = slider_crank_translational(contact=Rigid(restitution=0.0, friction=0.1)).build()
    run = {"dt": 1e-5}
    for one, other in ((GeneralizedAlpha(), MoreauJean()), (MoreauJean(), GeneralizedAlpha()),
                       (GeneralizedAlpha(), GaussQP()), (GaussQP(), GeneralizedAlpha())):  # fmt: skip
        first = simulate(system, one, t_end=2e-3, **run)
        second = simulate(system, other, t_end=3e-3, **run, state=first.end)
        assert second.counts["python_steps"] == 0
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
    kinds, functions = compilations(), entry.cache_info().misses
    changes = {"guide.clearance": 5e-4, "slider.mass": 0.1, "guide.friction": 0.2, "guide.restitution": 0.9}
    simulate(system, GeneralizedAlpha(0.3), **run, parameters=changes)
    simulate(slider_crank_translational().build(), GeneralizedAlpha(), **run)
    assert compilations() == kinds
    assert entry.cache_info().misses == functions


def test_runs_of_a_batch_equal_single_runs_bit_for_bit():
    system = slider_crank_translational().build()
    values = {"guide.clearance": np.linspace(5e-4, 2e-3, 40), "guide.friction": np.where(np.arange(40) % 2, 0.1, 0.0)}
    runs = simulate_batch(
        system, GeneralizedAlpha(), values, t_end=0.02, dt=1e-4, metrics=["impulse", "motion_residual"]
    )
    assert runs.attrs["python_runs"] == 0
    assert float(runs["motion_residual"].max()) < 1e-10
    for k in (0, 1, 17, 39):
        changes = {name: float(column[k]) for name, column in values.items()}
        single = simulate(system, GeneralizedAlpha(), t_end=0.02, dt=1e-4, parameters=changes)
        assert np.array_equal(runs["q"].values[k], single.q.array[-1])
        assert np.array_equal(runs["v"].values[k], single.v.array[-1])
        assert runs["impulse"].values[k] == pytest.approx(single.P_N.array.sum(axis=0), rel=1e-12)


def test_what_is_not_native_is_refused_in_one_sentence():
    system = slider_rod(case=1).build()
    with pytest.raises(InputError, match="requires a constant step, got Landing"):
        simulate(system, GeneralizedAlpha(), t_end=0.01, dt=Landing(1e-6, 1e-4))
