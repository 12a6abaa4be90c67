"""Runs as a user meets them: refusals, restarts, Ctrl-C, failures, recompilation."""

from __future__ import annotations

import os
import subprocess
import sys

import casadi as ca
import numpy as np
import pytest
from loops import some

from nonsmooth import (
    CirclePlane,
    Compliant,
    CompliantDae,
    Dop853,
    ErrorControl,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    InputError,
    Interrupted,
    Landing,
    Load,
    Model,
    MoreauJean,
    PlanarBody,
    PointForce,
    PointPlane,
    Revolute,
    RevoluteClearance,
    Rigid,
    SimulationFailed,
    Trajectory,
    simulate,
)
from nonsmooth.compile.machine import compilations
from nonsmooth.compile.objects import _compiled
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.laws import Flores
from nonsmooth.schemes.compliant.steps import CompliantSteps
from nonsmooth.step.control import ConstantStep
from nonsmooth_problems import (
    four_bar,
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
)

RUN = {"t_end": 0.004, "dt": 1e-4}


def test_the_manifest_states_the_rules():
    run = simulate(slider_rod(case=2).build(), GaussQP(), **RUN)
    assert run.manifest["engine"] == "compiled"
    assert "in parts" in run.manifest["rules"]["step that is not certified"]


def poisson() -> Model:
    ball = PlanarBody("ball", mass=1.0, inertia=1.0, position=(0.0, 1.0))
    law = Rigid(restitution=0.5, friction=0.0, impact="poisson")
    return Model([Ground(), ball, CirclePlane("floor", "ground", "ball", radius=0.1, contact=law)])


@pytest.mark.parametrize(
    ("model", "stepper", "dt", "reason"),
    [
        (poisson(), GeneralizedAlpha(), 1e-4, "supports Newton's impact law only"),
        (slider_crank_translational(), GaussQP(), 1e-4, "is plastic"),
    ],
    ids=["impact law", "restitution"],
)
def test_what_a_stepper_does_not_support_is_refused_in_one_sentence(model, stepper, dt, reason):
    with pytest.raises(InputError, match=reason):
        simulate(model.build(), stepper, t_end=0.01, dt=dt)


@pytest.mark.parametrize("problem", [slider_crank_translational, slider_rod], ids=["slider-crank", "slider-rod"])
@pytest.mark.parametrize(
    "stepper",
    [GaussQP(), MoreauJean(), MoreauJean(joints="midpoint")],
    ids=repr,
)
def test_a_run_goes_on_to_the_same_bits(problem, stepper, tmp_path):
    """The slider-rod is at rest on its rod by then."""
    rigid = {} if isinstance(stepper, MoreauJean) else {"guide.restitution": 0.0}
    system, run = problem().build(), {"dt": 1e-5, "parameters": rigid}
    whole = simulate(system, stepper, t_end=0.02, **run)
    first = simulate(system, stepper, t_end=0.01, **run)
    first.save(tmp_path / "run.nc")
    second = simulate(system, stepper, t_end=0.02, **run, state=Trajectory.load(tmp_path / "run.nc").end)
    half = len(first.t) - 1
    for table in ("q", "v", "P_N", "P_T", "mode"):
        ours, theirs = getattr(second, table).array, getattr(whole, table).array
        assert np.array_equal(ours[1:], theirs[half + 1 :]), table


def boxes() -> Model:
    """Two on the ground, of which one rests and the other is pressed now and then."""
    model = Model(name="boxes")
    ground, contact = model.add(Ground()), Rigid(restitution=0.0, friction=0.3)
    for k, name in enumerate(("resting", "pressed")):
        size = 0.1 * (1 + k / 3)
        box = model.add(PlanarBody(name, mass=1.0 + k, inertia=0.01, position=(2.0 * k, size / 2)))
        for side, x in (("left", -0.4 * size), ("right", 0.31 * size)):
            model.add(PointPlane(f"{name}-{side}", ground, box, at_b=(x, -size / 2), contact=contact, size=1e-3))
    model.add(PointForce("press", box, force=lambda t: (0.0, -5.0 * ca.fmax(ca.sin(150.0 * t), 0.0))))
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model


@pytest.mark.parametrize(
    "stepper", some([GaussQP(), MoreauJean(), MoreauJean(theta=1.0), GeneralizedAlpha()], 3), ids=repr
)
def test_what_rests_goes_on_to_the_same_bits_beside_what_does_not(stepper):
    system = boxes().build()
    whole = simulate(system, stepper, t_end=0.05, dt=1e-3)
    for cut in range(1, 49, 8):
        first = simulate(system, stepper, t_end=float(whole.t[cut]), dt=1e-3)
        second = simulate(system, stepper, t_end=0.05, dt=1e-3, state=first.end)
        for name, values in whole.end.memory.items():
            assert np.array_equal(second.end.memory[name], values), (cut, name)
        assert np.array_equal(second.q.array[1:], whole.q.array[cut + 1 :])


def test_impulses_begin_a_run_with_another_law_of_friction_too():
    """Contacts without friction have one row, those with friction two: what both have is taken over."""
    system, control = boxes().build(), ConstantStep(1e-3)
    smooth = {name: 0.0 for name in system.parameters if name.endswith(".friction")}
    end = simulate(system, MoreauJean(), t_end=0.01, dt=1e-3, parameters=smooth).end
    assert end.memory["Contact.P"].shape == (4, 1) and np.all(end.memory["Contact.P"] > 0.0)
    steps = CompiledSteps(system, MoreauJean(), control, system.parameter_values, 0.02)
    steps._begin_at(end, 0.0)
    begun = steps._state()
    assert np.array_equal(begun.memory["Contact.P"], np.pad(end.memory["Contact.P"], ((0, 0), (0, 1))))
    assert np.array_equal(begun.memory["Contact.impulse_scale"], end.memory["Contact.impulse_scale"])


@pytest.mark.parametrize("problem", [slider_crank_translational, slider_rod, boxes], ids=["crank", "rod", "boxes"])
@pytest.mark.parametrize(
    ("stepper", "dt"),
    [
        (GaussQP(), 1e-4),
        (GaussQP(), Landing(1e-6, 1e-4)),
        (MoreauJean(), 1e-4),
        (MoreauJean(joints="midpoint"), 1e-4),
        (GeneralizedAlpha(), 1e-4),
    ],
    ids=["gauss", "landing", "moreau-jean", "midpoint", "generalized-alpha"],
)
def test_what_is_recorded_does_not_change_the_run(problem, stepper, dt):
    plastic = {"guide.restitution": 0.0} if problem is slider_crank_translational and dt == 1e-4 else {}
    system, run = problem().build(), {"t_end": 0.02, "dt": dt, "parameters": plastic}
    whole, thin = simulate(system, stepper, **run), simulate(system, stepper, **run, record=7)
    for table in ("q", "v"):
        assert np.array_equal(getattr(thin, table).array[1:-1], getattr(whole, table).array[7::7][: len(thin.t) - 2])
    assert thin.certificate.motion_residual == whole.certificate.motion_residual
    for name, values in whole.end.memory.items():
        assert np.array_equal(thin.end.memory[name], values), name


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_a_step_that_fails_leaves_nothing_for_the_next():
    """A force that grows by e each millimetre: no step of 10 ms has one that is finite, passes run away from it."""
    model = Model(name="stiff")
    ground = model.add(Ground())
    body = model.add(PlanarBody("body", mass=1.0, inertia=0.1, velocity=(100.0, 0.0)))
    model.add(Load("wall", ground, body, force=lambda t, a, b, p: (ca.exp(1e3 * b.point((0.0, 0.0))[0]), 0.0)))
    system = model.build()
    with pytest.raises(SimulationFailed) as failed:
        simulate(system, MoreauJean(theta=1.0), t_end=0.05, dt=1e-2)
    end = failed.value.trajectory.end
    assert end.t == 0.0 and np.all(np.isfinite(end.memory.numbers))
    on, fresh = (simulate(system, MoreauJean(theta=1.0), t_end=2e-5, dt=2e-7, state=state) for state in (end, None))
    assert np.array_equal(on.q.array, fresh.q.array) and np.array_equal(on.v.array, fresh.v.array)


def test_joints_that_no_contact_loads_take_no_iteration():
    """Iterations are those of the laws of contacts; joints alone are a linear system."""
    run = simulate(four_bar().build(), MoreauJean(), t_end=1e-3, dt=1e-5)
    assert run.counts["steps"] == run.counts["solves"] == 100 and run.counts["iterations"] == 0


@pytest.mark.parametrize("stepper", [GaussQP(), MoreauJean()], ids=repr)
@pytest.mark.parametrize("case", [1, 2, 3])
def test_what_rests_takes_an_iteration_a_step_and_does_not_shake(case, stepper):
    """Under constant loads forces are constant, though places shake by round-off, 1e-20 m, and that is 1e-8 N here.

    Programs begin with the impulses of the step before, which are their solution: at most one pass over them is needed.
    """
    run = simulate(slider_rod(case=case).build(), stepper, t_end=0.05, dt=1e-5)
    assert run.counts["iterations"] <= run.counts["steps"]
    assert run.counts["solves"] < 1.1 * run.counts["steps"]
    rest = run.lam_N.array[run.t > 0.02]
    shaken = np.abs(rest - np.median(rest, axis=0)).max(axis=1) / rest.max()
    assert shaken.max() < 1e-12  # round-off, enlarged by how much the lever of the slider amplifies it
    left_of_impacts = 2e-7 if isinstance(stepper, MoreauJean) else 0.0
    assert run.certificate.gap_violation < 1e-16 + left_of_impacts
    assert run.certificate.motion_residual < 1e-11  # the round-off of gaps, relative to the clearance


def test_ctrl_c_loses_nothing():
    system = slider_rod(case=2).build()

    def stop(t, t_end, steps):
        if steps > 1000:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="after [0-9]+ steps") as stopped:
        simulate(system, GaussQP(), t_end=1.0, dt=1e-6, progress=stop)
    run = stopped.value.trajectory
    assert run.status == "interrupted"
    assert len(run.t) - 1 == run.counts["steps"] > 1000
    whole = simulate(system, GaussQP(), t_end=float(run.t[-1]), dt=1e-6)
    assert np.array_equal(run.q.array[:-1], whole.q.array[:-1])


@pytest.mark.parametrize("contact", ["rigid", "compliant"])
def test_ctrl_c_before_the_first_step_hands_over_the_start(contact, monkeypatch):
    """While a machine that has met nothing yet compiles."""

    def stop(*_):
        raise KeyboardInterrupt

    if contact == "rigid":
        system, stepper, dt = slider_rod().build(), GaussQP(), 1e-4
        monkeypatch.setattr(CompiledSteps, "start", stop)
    else:
        law = Compliant(Flores(stiffness=1e10, restitution=0.5))
        system, stepper = slider_rod(contact=law).build(), CompliantDae(solver=Dop853())
        dt = ErrorControl(1e-6, 1e-8, 1e-6, 1e-3)
        monkeypatch.setattr(CompliantSteps, "start", stop)
    with pytest.raises(Interrupted) as interrupted:
        simulate(system, stepper, t_end=0.01, dt=dt)
    monkeypatch.undo()
    run = interrupted.value.trajectory
    assert run.status == "interrupted" and len(run.t) == 1
    assert np.array_equal(run.q.array[0], system.start.q)


def test_progress_is_told_every_few_thousand_steps():
    """Which take hundredths of a second: Ctrl-C and a progress bar wait for no more."""
    steps = [0]
    simulate(slider_rod(case=2).build(), GaussQP(), t_end=0.1, dt=1e-6, record=100,
             progress=lambda t, t_end, taken: steps.append(taken))  # fmt: skip
    assert steps[-1] == 100_000 and max(np.diff(steps)) <= 16384


def test_a_load_that_turns_nan_fails_with_its_name():
    elements = [
        Ground(),
        PlanarBody("body", mass=1.0, inertia=1.0),
        PointForce("pull", "body", force=lambda t: (ca.sqrt(0.5 - t), 0.0)),
    ]
    with pytest.raises(SimulationFailed, match=r'force along "body.x" is nan') as failed:
        simulate(Model(elements).build(), MoreauJean(), t_end=1.0, dt=0.1)
    trajectory = failed.value.trajectory
    assert len(trajectory.t) - 1 == trajectory.counts["steps"] > 0
    assert np.all(np.isfinite(trajectory.q.array))


def test_nothing_is_compiled_for_other_numbers_or_mechanisms():
    system = slider_crank_translational().build()
    simulate(system, MoreauJean(), t_end=1e-3, dt=1e-5)
    before = compilations()
    changes = {"guide.clearance": 5e-4, "slider.mass": 0.1, "guide.friction": 0.2, "guide.restitution": 0.9}
    simulate(system, MoreauJean(), t_end=1e-3, dt=1e-5, parameters=changes)
    again = slider_crank_translational().build()
    simulate(again, MoreauJean(), t_end=2e-5, dt=1e-5)
    assert compilations() == before


def test_a_new_mechanism_of_known_kinds_compiles_nothing():
    for problem in (slider_crank_translational, slider_crank_revolute, four_bar):
        simulate(problem().build(), MoreauJean(), t_end=1e-4, dt=1e-5, record=3)
    kinds, functions = compilations(), _compiled.cache_info().misses
    bodies = [PlanarBody(f"body{i}", 1.0, 0.1, (i - 0.5, 0.0)) for i in (1, 2, 3)]
    fixed = [Ground(), *bodies, Gravity(acceleration=(0.0, -9.81))]
    pins = [Revolute(f"pin{i}", a, f"body{i}", at_a=(0.5 * (i > 1), 0.0), at_b=(-0.5, 0.0))
            for i, a in ((1, "ground"), (2, "body1"))]  # fmt: skip
    loose = RevoluteClearance(
        "loose", "body2", "body3", at_a=(0.5, 0.0), at_b=(-0.5, 0.0), clearance=1e-3, radius=0.01,
        contact=Rigid(restitution=0.5, friction=0.1),
    )  # fmt: skip
    trajectory = simulate(Model([*fixed, *pins, loose]).build(), MoreauJean(), t_end=1e-2, dt=1e-4, record=3)
    assert trajectory.counts["steps"] == 100
    assert compilations() == kinds
    assert _compiled.cache_info().misses == functions


def test_a_process_with_filled_caches_does_without_numba():
    script = (
        "import sys;"
        "from nonsmooth import GaussQP, simulate;"
        "from nonsmooth_problems import slider_rod;"
        "run = simulate(slider_rod().build(), GaussQP(), t_end=1e-5, dt=1e-5);"
        "print(run.manifest['engine'], sorted({'numba', 'scipy', 'xarray'} & set(sys.modules)))"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "compiled []"


def test_object_code_is_kept_and_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    script = (
        "from nonsmooth import MoreauJean, Model, Ground, PlanarBody, Gravity, simulate;"
        "from nonsmooth.compile import machine;"
        "from nonsmooth.engine.layout import Layout;"
        "m = Model([Ground(), PlanarBody('b', mass=1.0, inertia=1.0), Gravity(acceleration=(0.0, -9.81))]).build();"
        "Layout(m, rough=False);"
        "print(machine.compilations())"
    )

    def run(folder) -> str:
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
        environment.pop("NUMBA_CACHE_DIR", None)
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    # the force and the potential of gravity
    assert run(tmp_path) == "{'compiled': 2, 'loaded': 0}"
    assert run(tmp_path) == "{'compiled': 0, 'loaded': 2}"
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    assert run(blocked) == "{'compiled': 2, 'loaded': 0}"


def test_import_loads_no_compiler():
    script = "import sys, nonsmooth, nonsmooth.run.simulate; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
