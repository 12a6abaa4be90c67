"""Implicit Euler as one text: compiled, uncompiled, in the plane and in space, beside its Python formulation."""

import numpy as np
import pytest

from nonsmooth import GaussQP, Rigid, simulate
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.records.views import Record
from nonsmooth.schemes import implicit_euler
from nonsmooth.solvers import ActiveSet
from nonsmooth.solvers.chain import Chain
from nonsmooth.step_control import ConstantStep
from nonsmooth.tolerances import DONE
from nonsmooth_problems import (
    bennett,
    double_pendulum_clearance,
    heavy_top,
    polishing_robot,
    six_rss,
    slide_in_guide,
    slider_rod,
    socket_pendulum,
    spatial_slider_crank,
    turntable_ball,
    universal_shaft,
)

RUBBING = Rigid(restitution=0.0, friction=0.1)
#: problem, options, length and number of steps
CASES = {
    "ball in a socket": (socket_pendulum, {}, 1e-4, 60),
    "ball that rubs in its socket": (socket_pendulum, {"contact": RUBBING}, 1e-4, 40),
    "heavy top": (heavy_top, {}, 1e-4, 40),
    "loop of joints": (spatial_slider_crank, {}, 1e-4, 40),
    "loop with a loose ball, from free flight": (spatial_slider_crank, {"contact": RUBBING}, 2e-4, 60),
    "driven loop": (universal_shaft, {}, 1e-4, 30),
    "redundant loop": (bennett, {}, 1e-4, 20),
    "rolling": (turntable_ball, {}, 1e-3, 20),
    "slide at rest in its guide, sixteen gaps": (slide_in_guide, {}, 1e-4, 30),
    "twelve balls with friction and impacts": (six_rss, {"restitution": 0.0}, 2e-4, 60),
    "guide with sixteen gaps, redundant joints": (polishing_robot, {"restitution": 0.0}, 1e-4, 30),
}
SLOW = {"twelve balls with friction and impacts", "guide with sixteen gaps, redundant joints"}
#: sizes below which a motion or an impulse is round-off of one at rest
AT_REST = 1e-6


def largest_difference(one, other):
    return float(np.max(np.abs(one - other), initial=0.0) / max(float(np.max(np.abs(other), initial=0.0)), AT_REST))


@pytest.mark.parametrize(
    ("problem", "options", "dt", "steps"),
    [pytest.param(*case, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, case in CASES.items()],
)
def test_compiled_steps_are_those_of_the_formulation(problem, options, dt, steps):
    system = problem(**options).build()
    compiled, python = (
        simulate(system, GaussQP(), t_end=steps * dt, dt=dt, engine=engine) for engine in ("native", "python")
    )
    assert compiled.counts["python_steps"] == 0
    assert compiled.t.tolist() == python.t.tolist()
    assert len(compiled.impacts["t"]) == len(python.impacts["t"])
    # both close gaps and joints to round-off of positions, 1e-16 m: over dt that is one of velocities, and over dt^2 of
    # forces; redundant contacts share forces in more ways than one
    tolerance = {"q": 1e-13, "v": 1e-9, "energy": 1e-10, "mode": 0.0, "reaction": 1e-6}
    if problem is not slide_in_guide:
        tolerance |= {"P_N": 1e-8, "P_T": 1e-8}
    for name, most in tolerance.items():
        found, expected = getattr(compiled, name).array, getattr(python, name).array
        assert largest_difference(found, expected) <= most, name
    # the residual is a gap over its clearance, whose round-off is 1e-16 m over 1e-4 m
    assert compiled.certificate.motion_residual <= 1e-10
    assert compiled.certificate.gap_violation <= 1e-15


def steps_of(system, dt, t_end):
    """Compiled steps of a system, planar or spatial, and the state that they begin with."""
    values, control, solver = system.parameter_values, ConstantStep(dt), ActiveSet()
    start, _ = Chain(solver).run(GaussQP().formulate(system, values, control, solver).start(system.start))
    return CompiledSteps(system, GaussQP(), control, values, t_end), start


def end_of(steps, start, t_end):
    """The state after compiled steps, none of which may be left to Python."""
    end = start
    while end.t < t_end:
        taken = steps.advance(end, start.t)
        assert taken.whole
        end = taken.end
    return end


@pytest.mark.parametrize(
    ("problem", "options", "dt", "count"),
    [
        pytest.param(socket_pendulum, {}, 1e-4, 8, id="ball in a socket"),
        pytest.param(turntable_ball, {}, 1e-3, 8, id="rolling"),
        pytest.param(heavy_top, {}, 1e-4, 8, id="joint"),
        pytest.param(
            slider_rod, {"case": 2, "contact": RUBBING}, 1e-4, 8, id="plane, corners in a guide with friction"
        ),
        pytest.param(double_pendulum_clearance, {"contact": RUBBING}, 1e-4, 8, id="plane, joint and loose journal"),
    ],
)
def test_the_text_runs_uncompiled(problem, options, dt, count):
    system = problem(**options).build()
    (compiled, start), (plain, _) = (steps_of(system, dt, count * dt) for _ in range(2))
    end = end_of(compiled, start, count * dt)
    plain._put(start, start.t)
    view = Record("System", plain.layout.shape, plain.memory.address("System"))
    assert implicit_euler.run(view, count) == DONE
    for name, expected in (("q", end.q), ("v", end.v)):
        found = plain.layout.packed(plain.memory, name).ravel()
        # sums of four are taken in another order, which velocities of closed gaps see over dt
        assert largest_difference(found, expected) <= 1e-11


@pytest.mark.parametrize(
    ("problem", "options"),
    [
        pytest.param(slider_rod, {"case": 2, "contact": RUBBING}, id="corners that strike and rub in a guide"),
        pytest.param(double_pendulum_clearance, {"contact": RUBBING}, id="joint and loose journal"),
    ],
)
def test_in_the_plane_it_steps_as_the_formulation_does(problem, options):
    system, dt, count = problem(**options).build(), 1e-4, 100
    steps, start = steps_of(system, dt, count * dt)
    end = end_of(steps, start, count * dt)
    python = simulate(system, GaussQP(), t_end=count * dt, dt=dt, engine="python").end
    # round-off of gaps, 1e-17 m, is 1e-13 m/s over dt, which impacts hand on
    assert largest_difference(end.q, python.q) <= 1e-12
    assert largest_difference(end.v, python.v) <= 1e-9


def test_a_run_in_two_parts_is_one_run():
    """What the next step needs is in the state: impulses, closed contacts, what velocities have gained."""
    system, dt = six_rss(restitution=0.0).build(), 2.0**-12  # the grid of both runs is the same to the bit
    whole = simulate(system, GaussQP(), t_end=60 * dt, dt=dt)
    first = simulate(system, GaussQP(), t_end=whole.t[30], dt=dt)
    second = simulate(system, GaussQP(), t_end=60 * dt, dt=dt, state=first.end)
    assert second.q.array[-1].tolist() == whole.q.array[-1].tolist()
    assert second.v.array[-1].tolist() == whole.v.array[-1].tolist()


def test_contacts_at_rest_keep_their_impulses():
    """Sixteen gaps under a constant load: from step to step the sum of their impulses changes by round-off only."""
    system = slide_in_guide().build()
    run = simulate(system, GaussQP(), t_end=0.02, dt=1e-4)
    assert run.counts["python_steps"] == 0
    total = run.P_N.array[20:].sum(axis=1)
    # closed gaps are known to 1e-16 m, which over dt^2 is 1e-8 m/s^2 beside that of gravity
    assert np.ptp(total) <= 1e-8 * total.max()
