"""Event-driven steps: the native engine against the Python one, steps that Python takes, and what a run may meet.

The length of a step follows the estimate of its error, which is a difference of nearly equal numbers: engines that
agree to round-off choose lengths that agree to a millionth or so of the tolerance. With the same events their rows are
at times that differ by as much, and states by what the tolerance of the integrator allows.
"""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    ActiveSet,
    CirclePlane,
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    InputError,
    Interrupted,
    Landing,
    Model,
    PlanarBody,
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
    bennett,
    block_on_incline,
    cam_follower,
    double_pendulum_clearance,
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
    socket_pendulum,
    spatial_slider_crank,
    stick_slip_oscillator,
    turntable_ball,
)

CONTROL = ErrorControl(1e-8, 1e-10, 1e-6, 1e-3)
RUBS = Rigid(restitution=0.5, friction=0.2)
SMOOTH = Rigid(restitution=0.9, friction=0.0)
SLIDES = Rigid(restitution=0.0, friction=0.1)
POISSON = Rigid(restitution=0.5, friction=0.0, impact="poisson")


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


@pytest.mark.parametrize(("make", "most"), [(block_on_incline, 0.02), (stick_slip_oscillator, 0.5)])
def test_python_takes_steps_whose_forces_are_not_unique(make, most):
    """Two corners that stick share their friction. Where a joint guides the block, such steps are Python's, else
    the one in which it comes to rest. Forces are the least ones in both engines, to what a regularised matrix allows.
    """
    native, python = both(make().build(), 2.0, ErrorControl(1e-8, 1e-10, 1e-6, 0.02))
    counts = native.counts
    assert 0 < counts["python_steps"] <= most * counts["steps"]
    assert counts["fallbacks"] == 0
    assert native.t.size == python.t.size
    assert np.array_equal(native.mode.array, python.mode.array)
    assert worst(native, python, "q") <= 1e-9
    assert worst(native, python, "P_N") <= 1e-8 and worst(native, python, "P_T") <= 1e-8


def test_a_start_with_an_impact_is_pythons():
    ball = PlanarBody("ball", mass=1.0, inertia=0.004, position=(0.0, 0.1), velocity=(0.0, -1.0))
    floor = CirclePlane("floor", "ground", "ball", radius=0.1, contact=Rigid(restitution=0.5, friction=0.0))
    native, python = both(Model([Ground(), ball, floor]).build(), 0.01)
    assert native.counts["python_steps"] == 0
    assert native.P_N["floor"][0] == pytest.approx(1.5, rel=1e-12)
    assert np.array_equal(native.q.array, python.q.array)


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


@pytest.mark.parametrize(
    ("model", "stepper", "dt", "reason"),
    [
        (slider_rod(case=1), EventDriven(order="dop853"), CONTROL, 'order="dop853" has no compiled loop'),
        (slider_rod(case=1), EventDriven(simultaneity=0.0), CONTROL, "simultaneity=0 has no compiled loop"),
        (slider_rod(case=1), EventDriven(solver=ActiveSet()), CONTROL, "ActiveSet.* was requested"),
        (bennett(), EventDriven(), CONTROL, "redundant rows of joints"),
        (slider_rod(case=1, contact=POISSON), EventDriven(), CONTROL, 'law "poisson"'),
        (slider_rod(case=1), EventDriven(), Landing(1e-6, 1e-3), "with Landing"),
    ],
    ids=["order", "simultaneity", "solver", "redundant", "law", "control"],
)  # fmt: skip
def test_what_is_not_native_is_refused_in_one_sentence(model, stepper, dt, reason):
    with pytest.raises(InputError, match=f'engine="native" does not support this run.*{reason}.*engine="auto"'):
        simulate(model.build(), stepper, t_end=0.01, dt=dt, engine="native")


def test_the_manifest_states_the_rules_of_both_engines():
    native, python = both(slider_rod(case=1).build(), 1e-3)
    rules = native.manifest["rules"]
    assert python.manifest["rules"].items() <= rules.items()
    assert "Python formulation" in rules["step that is not certified"]
