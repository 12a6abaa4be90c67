"""Generalised alpha as one text: compiled, uncompiled, in the plane and in space, beside its Python formulation."""

import numpy as np
import pytest

from nonsmooth import GeneralizedAlpha, Rigid, simulate
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.records.views import Record
from nonsmooth.schemes import generalized_alpha
from nonsmooth.solvers import ActiveSet
from nonsmooth.solvers.chain import Chain
from nonsmooth.step_control import ConstantStep
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

BOUNCING = Rigid(restitution=0.5, friction=0.1)
#: problem, options, length and number of steps
CASES = {
    "ball in a socket": (socket_pendulum, {}, 1e-4, 60),
    "heavy top": (heavy_top, {}, 1e-4, 40),
    "loop of joints": (spatial_slider_crank, {}, 1e-4, 40),
    "loop with a loose ball, from free flight": (spatial_slider_crank, {"contact": BOUNCING}, 2e-4, 60),
    "driven loop": (universal_shaft, {}, 1e-4, 30),
    "redundant loop": (bennett, {}, 1e-4, 20),
    "rolling": (turntable_ball, {}, 1e-3, 20),
    "slide at rest in its guide, sixteen gaps": (slide_in_guide, {}, 1e-4, 30),
    "twelve balls with friction and impacts": (six_rss, {}, 2e-4, 60),
    "guide with sixteen gaps, redundant joints": (polishing_robot, {}, 1e-4, 30),
}
SLOW = {"twelve balls with friction and impacts", "guide with sixteen gaps, redundant joints"}
#: without impacts and redundant contacts
SMOOTH = {heavy_top, bennett, universal_shaft, turntable_ball, socket_pendulum}
#: sizes below which a motion or an impulse is round-off of one at rest
AT_REST = 1e-6


def largest_difference(one, other):
    return float(np.max(np.abs(one - other), initial=0.0) / max(float(np.max(np.abs(other), initial=0.0)), AT_REST))


@pytest.mark.parametrize(
    ("problem", "options", "dt", "steps"),
    [pytest.param(*case, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, case in CASES.items()],
)
@pytest.mark.quick(3)
def test_compiled_steps_are_those_of_the_formulation(problem, options, dt, steps):
    system = problem(**options).build()
    compiled, python = (
        simulate(system, GeneralizedAlpha(), t_end=steps * dt, dt=dt, engine=engine) for engine in ("native", "python")
    )
    assert compiled.counts["python_steps"] == 0
    assert compiled.t.tolist() == python.t.tolist()
    assert len(compiled.impacts["t"]) == len(python.impacts["t"])
    # the passes of both end where the motion changes by 1e-13; impulses of gaps are round-off of positions over dt
    near = 1e-12 if problem in SMOOTH else 1e-9
    tolerance = {"q": 1e-12, "v": near, "energy": near, "mode": 0.0, "reaction": 1e-9, "reaction_impact": 1e-9}
    if system.redundant:
        tolerance["reaction"] = 1e-5  # the least of those that act alike, by rows whose diagonal is raised by 1e-9
    if problem is not slide_in_guide:  # whose redundant contacts share forces in more ways than one
        tolerance |= {"P_N": 1e-9, "P_T": 1e-8}
    for name, most in tolerance.items():
        found, expected = getattr(compiled, name).array, getattr(python, name).array
        assert largest_difference(found, expected) <= most, name
    assert compiled.certificate.motion_residual <= 1e-9


def steps_of(system, stepper, dt, t_end):
    """Compiled steps of a system, planar or spatial, and the state that they begin with."""
    values, control, solver = system.parameter_values, ConstantStep(dt), ActiveSet()
    start, _ = Chain(solver).run(stepper.formulate(system, values, control, solver).start(system.start))
    return CompiledSteps(system, stepper, control, values, t_end), start


def end_of(steps, start, t_end):
    """The state after compiled steps, none of which may be left to Python."""
    end = start
    while end.t < t_end:
        taken = steps.advance(end, start.t)
        assert taken.whole
        end = taken.end
    return end


#: in the plane, for which the text is compiled for these tests alone
CORNERS = slider_rod, {"case": 2, "contact": BOUNCING}
JOURNAL = double_pendulum_clearance, {"contact": BOUNCING}


@pytest.mark.parametrize(
    ("problem", "options", "dt", "count"),
    [
        pytest.param(socket_pendulum, {}, 1e-4, 4, id="ball in a socket"),
        pytest.param(turntable_ball, {}, 1e-3, 4, id="rolling"),
        pytest.param(heavy_top, {}, 1e-4, 4, id="joint"),
        pytest.param(*CORNERS, 1e-4, 8, id="plane, corners in a guide", marks=pytest.mark.slow),
        pytest.param(*JOURNAL, 1e-4, 4, id="plane, joint and loose journal", marks=pytest.mark.slow),
    ],
)
def test_the_text_runs_uncompiled(problem, options, dt, count):
    system, stepper = problem(**options).build(), GeneralizedAlpha()
    (compiled, start), (plain, _) = (steps_of(system, stepper, dt, count * dt) for _ in range(2))
    end = end_of(compiled, start, count * dt)
    plain._put(start, start.t)
    view = Record("System", plain.layout.shape, plain.memory.address("System"))
    assert generalized_alpha.run(view, count) == generalized_alpha.DONE
    for name, expected in (("q", end.q), ("v", end.v)):
        found = plain.layout.packed(plain.memory, name).ravel()
        # sums of four are taken in another order, which velocities of closed gaps see over dt
        assert largest_difference(found, expected) <= 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("radius", [0.0, 0.8, 1.0])
@pytest.mark.parametrize(
    ("problem", "options"),
    [
        pytest.param(*CORNERS, id="corners that strike and rub in a guide"),
        pytest.param(*JOURNAL, id="joint and loose journal"),
    ],
)
def test_in_the_plane_it_steps_as_the_formulation_does(problem, options, radius):
    system, stepper, dt, count = problem(**options).build(), GeneralizedAlpha(radius), 1e-4, 60
    steps, start = steps_of(system, stepper, dt, count * dt)
    end = end_of(steps, start, count * dt)
    python = simulate(system, stepper, t_end=count * dt, dt=dt, engine="python").end
    # round-off of gaps, 1e-17 m, is 1e-13 m/s over dt, which impacts hand on
    assert largest_difference(end.q, python.q) <= 1e-12
    assert largest_difference(end.v, python.v) <= 1e-9


def test_a_run_in_two_parts_is_one_run():
    """What the next step needs is in the state: accelerations, forces of joints, impulses that passes begin with."""
    system, dt = six_rss().build(), 2.0**-12  # the grid of both runs is the same to the bit
    whole = simulate(system, GeneralizedAlpha(), t_end=60 * dt, dt=dt)
    first = simulate(system, GeneralizedAlpha(), t_end=whole.t[30], dt=dt)
    second = simulate(system, GeneralizedAlpha(), t_end=60 * dt, dt=dt, state=first.end)
    assert second.q.array[-1].tolist() == whole.q.array[-1].tolist()
    assert second.v.array[-1].tolist() == whole.v.array[-1].tolist()


def test_steps_are_of_second_order():
    """Of a heavy top, halving the step quarters the error: the ratio of differences is 4 to first order in dt."""
    system = heavy_top().build()
    ends = [simulate(system, GeneralizedAlpha(), t_end=0.064, dt=dt).end.v for dt in (1e-3, 5e-4, 2.5e-4)]
    ratio = np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2])
    assert 3.8 <= ratio <= 4.2
