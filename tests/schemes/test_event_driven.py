"""Event-driven runs: compiled and uncompiled, interrupted, with other solvers, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

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
    MoreauJean,
    Osqp,
    PlanarBody,
    PointPlane,
    Rigid,
    Trajectory,
    simulate,
)
from nonsmooth.compile.records.views import Record
from nonsmooth.schemes.event_driven import text as event_driven
from nonsmooth.schemes.event_driven.steps import EventSteps
from nonsmooth.step.tolerances import DONE
from nonsmooth_problems import (
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
    socket_pendulum,
)

CONTROL = ErrorControl(1e-8, 1e-10, 1e-6, 1e-3)
RUBS = Rigid(restitution=0.5, friction=0.2)
SMOOTH = Rigid(restitution=0.9, friction=0.0)
SLIDES = Rigid(restitution=0.0, friction=0.1)


#: arguments of `parametrize`
PLANE_AND_SPACE = {
    "argvalues": [slider_crank_translational, lambda: socket_pendulum(contact=SLIDES)],
    "ids": ["plane", "space"],
}


def worst(run, other, table):
    """Largest difference of a table, relative to its largest number."""
    ours, theirs = (getattr(one, table).array for one in (run, other))
    return float(np.max(np.abs(ours - theirs), initial=0.0)) / max(float(np.max(np.abs(theirs), initial=0.0)), 1e-12)


@pytest.mark.parametrize("make", **PLANE_AND_SPACE)
def test_compiled_and_uncompiled_steps_are_the_same(make):
    """To round-off, since compiled sums are in another order; lengths of steps, and impulses in them, follow from an
    estimated error of 1e-10 of its terms, of which round-off is a millionth."""
    system = make().build()
    steps = EventSteps(system, EventDriven(), CONTROL, system.parameter_values, 1.0)
    begun = steps.start(system.start)
    steps.run(begun, 0.0)
    state = steps._state()  # in contact, after some events
    steps._begin_at(state, 0.0)
    before = steps.memory.raw.copy()
    address, shape, found = steps.memory.address("EventRun"), steps.layout.shape, []
    for run in (lambda: steps._run(address, 3), lambda: event_driven.run(Record("EventRun", shape, address), 3)):
        steps.memory.raw[:] = before
        steps._whole["steps"] = 0
        steps.tables.reach(3)
        assert run() == DONE
        found.append(steps.tables.read(3))
    for name in found[0]:
        one, other = (tables[name] for tables in found)
        known = ~np.isnan(one)
        scale = np.maximum(np.max(np.abs(other), axis=0, initial=0.0) if other.ndim > 1 else 1.0, 1e-3)
        assert np.max(np.abs(np.where(known, one - other, 0.0)) / scale, initial=0.0) <= (
            1e-7 if name[0] == "P" else 1e-9
        )


@pytest.mark.parametrize("make", **PLANE_AND_SPACE)
def test_an_interrupted_run_goes_on_to_the_same_bits(make, tmp_path):
    """Ctrl-C is noticed after the first 64 steps."""
    system, run = make().build(), {"t_end": 0.1, "dt": CONTROL}

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


def rattle(late):
    """A ball in a gap of 0.1 mm, whose motion begins at a time, and its system."""
    law = Rigid(restitution=0.9, friction=0.1)
    system = Model([
        Ground(),
        PlanarBody("ball", mass=1.0, inertia=1.0, position=(0.0, 3e-5), velocity=(0.3, 1.0)),
        PointPlane("floor", "ground", "ball", contact=law),
        PointPlane("roof", "ground", "ball", at_a=(0.0, 1e-4), direction=np.pi, contact=law),
        Gravity(acceleration=(0.0, -9.81)),
    ]).build()  # fmt: skip
    return system, simulate(system, t_end=late + 5e-3, t_start=late)


@pytest.mark.parametrize("late", [1e3, 1e4, 1e5, 1e6])
def test_a_motion_does_not_depend_on_the_time_at_which_it_begins(late):
    """The time at which a gap closes is resolved to eps t, in which the ball, at 1 m/s, moves on by more than what
    counts as closed; each of 17 impacts adds as much."""
    first, run = rattle(0.0)[1], rattle(late)[1]
    assert run.verdict.kind == "accurate" and len(run.impacts) == len(first.impacts) == 17
    assert run.q["ball.y"][-1] == pytest.approx(first.q["ball.y"][-1], abs=40 * np.finfo(float).eps * late + 1e-14)
    assert run.v["ball.y"][-1] == pytest.approx(first.v["ball.y"][-1], rel=1e-6)


def test_a_motion_does_not_depend_on_how_often_the_crank_has_turned():
    """After 100000 turns an angle is resolved to 1e-10 rad, and places to 2e-11 m, more than gaps that count as closed
    before: runs ended with "no modes of the contacts are consistent" after some 1500 turns."""
    system, length, turns = slider_crank_revolute().build(), 0.2, 100_000
    angle, rate = system.q_names.index("crank.angle"), system.v_names.index("crank.angle")
    q, late = system.start.q.copy(), turns * 2 * np.pi / system.start.v[rate]
    q[angle] += turns * 2 * np.pi
    later = replace(system.start, t=late, q=q)
    one = simulate(system, EventDriven(), t_end=length, dt=CONTROL)
    other = simulate(system, EventDriven(), t_end=late + length, dt=CONTROL, state=later)
    assert other.status == "finished"
    # the same impacts, until what the start lacks has grown to a share of the clearance
    impacts = one.impacts["t"][:10], other.impacts["t"][:10] - late
    np.testing.assert_allclose(impacts[0], impacts[1], atol=1e-6)


def test_equal_steps_that_times_do_not_resolve_are_refused():
    """Steps are counted by the times at which they end: they took none of any length."""
    with pytest.raises(InputError, match="dt = 1e-05 s is too short for a run to t = 1e\\+06 s"):
        simulate(rattle(0.0)[0], MoreauJean(), t_end=1e6 + 1e-3, t_start=1e6, dt=1e-5)


@pytest.mark.parametrize("solver", [ActiveSet(), Lemke(), Osqp()], ids=lambda one: type(one).__name__)
def test_another_solver_gives_the_same_motion(solver):
    """Impacts and modes have one solution here; OSQP solves programs to 1e-9."""
    friction = 0.0 if isinstance(solver, ActiveSet) else 0.1
    law = Rigid(restitution=0.6, friction=friction)
    system = slider_crank_translational(contact=law).build()
    own, other = (simulate(system, EventDriven(solver=one), t_end=0.02, dt=CONTROL) for one in (None, solver))
    assert other.counts[type(solver).__name__] > 0 and other.counts["fallbacks"] == 0
    assert worst(other, own, "q") <= 1e-9 and worst(other, own, "v") <= 1e-7


def test_a_step_control_without_error_is_refused_in_one_sentence():
    with pytest.raises(InputError, match="EventDriven requires dt=ErrorControl"):
        simulate(slider_rod(case=1).build(), EventDriven(), t_end=0.01, dt=Landing(1e-6, 1e-3))


def test_the_manifest_states_the_rules():
    run = simulate(slider_rod(case=1).build(), EventDriven(), t_end=1e-3, dt=CONTROL)
    rules = run.manifest["rules"]
    assert rules["method between events"] == "dopri5"
    assert "else the chain of solvers" in rules["programs"]
