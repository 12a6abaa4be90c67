"""Event-driven steps: the native engine against the Python one, and what a run may meet.

The length of a step follows the estimate of its error, which is a difference of nearly equal numbers: engines that
agree to round-off choose lengths that agree to a millionth or so of the tolerance. With the same events their rows are
at times that differ by as much, and states by what the tolerance of the integrator allows.
"""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    ActiveSet,
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    InputError,
    Interrupted,
    Landing,
    Lemke,
    Model,
    Osqp,
    Rigid,
    SpatialBody,
    SpherePlane,
    Trajectory,
    simulate,
)
from nonsmooth.engine.event_steps import EventSteps
from nonsmooth.records.views import Record
from nonsmooth.schemes import event_driven
from nonsmooth.tolerances import CLOSED, DONE, OPEN, SLIPPING, STICKING
from nonsmooth_problems import (
    cam_follower,
    double_pendulum_clearance,
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
    socket_pendulum,
    spatial_slider_crank,
    turntable_ball,
)

CONTROL = ErrorControl(1e-8, 1e-10, 1e-6, 1e-3)
RUBS = Rigid(restitution=0.5, friction=0.2)
SMOOTH = Rigid(restitution=0.9, friction=0.0)
SLIDES = Rigid(restitution=0.0, friction=0.1)


def thrown_ball():
    """A ball that rotates, bounces on a rough floor, slides, and rolls at last."""
    ball = SpatialBody("ball", mass=1.0, inertia=(0.004,) * 3, position=(0.0, 0.0, 0.12), velocity=(1.0, 0.3, 0.0),
                       angular_velocity=(2.0, -3.0, 1.0))  # fmt: skip
    law = Rigid(restitution=0.4, friction=0.3)
    floor = SpherePlane("floor", "ground", "ball", radius=0.1, normal=(0.0, 0.0, 1.0), contact=law)
    return Model([Ground(), ball, floor, Gravity(acceleration=(0.0, 0.0, -9.81))])


#: mechanism, end of the run [s], modes that occur
CASES = {
    "slider-rod": (slider_rod(case=2), 0.02, {OPEN, CLOSED}),
    "slider-rod with friction": (slider_rod(case=3, contact=RUBS), 0.02, {OPEN, SLIPPING}),
    "slider-crank": (slider_crank_translational(), 0.1, {OPEN, SLIPPING}),
    "slider-crank without friction": (
        slider_crank_translational(contact=SMOOTH),
        0.05,
        {OPEN, CLOSED},
    ),
    "slider-crank with a loose pin": (slider_crank_revolute(), 0.005, {OPEN, CLOSED}),
    "driven cam": (cam_follower(), 0.3, {OPEN, CLOSED}),
    "double pendulum": (double_pendulum_clearance(), 0.1, {OPEN, CLOSED}),
    "thrown ball in space": (thrown_ball(), 0.6, {OPEN, SLIPPING, STICKING}),
    "ball in a socket": (socket_pendulum(contact=SLIDES), 0.1, {SLIPPING}),
    "rolling in space": (turntable_ball(), 0.1, {STICKING}),
    "loop of joints in space": (spatial_slider_crank(), 0.02, set()),
}


#: arguments of `parametrize`
PLANE_AND_SPACE = {
    "argvalues": [slider_crank_translational, lambda: socket_pendulum(contact=SLIDES)],
    "ids": ["plane", "space"],
}


def both(system, t_end, dt=CONTROL, **run):
    return tuple(simulate(system, EventDriven(), t_end=t_end, dt=dt, engine=engine, **run)
                 for engine in ("native", "python"))  # fmt: skip


def worst(native, python, table):
    """Largest difference of a table, relative to its largest number."""
    ours, theirs = (getattr(run, table).array for run in (native, python))
    return float(np.max(np.abs(ours - theirs), initial=0.0)) / max(float(np.max(np.abs(theirs), initial=0.0)), 1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.quick(3)
def test_both_engines_take_the_same_steps(case):
    """The same rows, modes and impacts; states as close as the tolerances of 1e-8, impulses less so by a step's
    length."""
    model, t_end, modes = CASES[case]
    native, python = both(model.build(), t_end)
    assert native.counts["python_steps"] == 0
    assert native.t.size == python.t.size
    assert np.allclose(native.t, python.t, rtol=0.0, atol=1e-9)
    assert np.array_equal(native.mode.array, python.mode.array)
    assert modes <= set(np.unique(native.mode.array).tolist())
    for table, tolerance in (("q", 1e-9), ("v", 1e-8), ("reaction", 1e-6), ("P_N", 1e-6), ("P_T", 1e-6)):
        assert worst(native, python, table) <= tolerance, table
    ours, theirs = native.certificate, python.certificate
    # the program of the repository certifies steps to 1e-9
    assert ours.motion_residual <= 1e-12 and ours.joint_violation <= 1e-12
    assert ours.complementarity <= max(10 * theirs.complementarity, 1e-12)
    for name in ("work_loads", "work_drivers", "loss_impacts", "loss_friction", "loss_damping"):
        size = max(abs(theirs.energy.kinetic), abs(theirs.energy.potential), 1e-12)
        assert abs(getattr(ours.energy, name) - getattr(theirs.energy, name)) <= 1e-7 * size, name


@pytest.mark.parametrize("make", **PLANE_AND_SPACE)
def test_compiled_and_uncompiled_steps_are_the_same(make):
    """To round-off: compiled sums are in another order."""
    system = make().build()
    steps = EventSteps(system, EventDriven(), CONTROL, system.parameter_values, 1.0)
    begun = steps.start(system.start)
    steps.run(begun, 0.0)
    state = steps._state(begun)  # in contact, after some events
    steps._put(state, 0.0)
    before = steps.memory.raw.copy()
    address, shape, found = steps.memory.address("EventRun"), steps.layout.shape, []
    for run in (lambda: steps._run(address, 3), lambda: event_driven.run(Record("EventRun", shape, address), 3)):
        steps.memory.raw[:] = before
        steps._whole["steps"] = 0
        assert run() == DONE
        found.append(steps._tables(3))
    for name in found[0]:
        one, other = (tables[name] for tables in found)
        known = ~np.isnan(one)
        scale = np.maximum(np.max(np.abs(other), axis=0, initial=0.0) if other.ndim > 1 else 1.0, 1e-3)
        assert np.max(np.abs(np.where(known, one - other, 0.0)) / scale, initial=0.0) <= 1e-9


@pytest.mark.parametrize("make", **PLANE_AND_SPACE)
def test_an_interrupted_run_goes_on_to_the_same_bits(make, tmp_path):
    """Ctrl-C is noticed after the first 64 steps."""
    system, run = make().build(), {"t_end": 0.1, "dt": CONTROL, "engine": "native"}

    def ctrl_c(t, t_end, steps):
        raise KeyboardInterrupt

    whole = simulate(system, EventDriven(), **run)
    with pytest.raises(Interrupted) as stopped:
        simulate(system, EventDriven(), **run, progress=ctrl_c)
    first = stopped.value.trajectory
    first.save(tmp_path / "run.nc")
    k = first.t.size - 1
    assert 0 < k < whole.t.size - 1
    rest = simulate(system, EventDriven(), **run, state=Trajectory.load(tmp_path / "run.nc").end)
    assert np.array_equal(rest.q.array, whole.q.array[k:])
    assert np.array_equal(rest.P_N.array[1:], whole.P_N.array[k + 1 :])


@pytest.mark.parametrize("solver", [ActiveSet(), Lemke(), Osqp()], ids=lambda one: type(one).__name__)
def test_another_solver_gives_the_same_motion(solver):
    """Impacts and modes have one solution here; OSQP solves programs to 1e-9."""
    friction = 0.0 if isinstance(solver, ActiveSet) else 0.1
    law = Rigid(restitution=0.6, friction=friction)
    system = slider_crank_translational(contact=law).build()
    own, other = (
        simulate(system, EventDriven(solver=one), t_end=0.02, dt=CONTROL, engine="native") for one in (None, solver)
    )
    assert other.counts[type(solver).__name__] > 0 and other.counts["fallbacks"] == 0
    assert worst(other, own, "q") <= 1e-9 and worst(other, own, "v") <= 1e-7


def test_a_step_control_without_error_is_refused_in_one_sentence():
    with pytest.raises(InputError, match="EventDriven requires dt=ErrorControl"):
        simulate(slider_rod(case=1).build(), EventDriven(), t_end=0.01, dt=Landing(1e-6, 1e-3), engine="native")


def test_the_manifest_states_the_rules():
    run = simulate(slider_rod(case=1).build(), EventDriven(), t_end=1e-3, dt=CONTROL)
    rules = run.manifest["rules"]
    assert rules["method between events"] == "dopri5"
    assert "else the chain of solvers" in rules["programs"]
