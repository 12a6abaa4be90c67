"""Moreau and Jean's scheme as one text: compiled, uncompiled and beside the Python formulation."""

import numpy as np
import pytest

from nonsmooth import MoreauJean, simulate
from nonsmooth.records.views import Record
from nonsmooth.schemes import moreau_jean
from nonsmooth.schemes.stepping import CompiledSteps, why_not_compiled
from nonsmooth.solvers import SemismoothNewton
from nonsmooth.solvers.chain import Chain
from nonsmooth.step_control import ConstantStep
from nonsmooth_problems import (
    bennett,
    heavy_top,
    polishing_robot,
    six_rss,
    slide_in_guide,
    socket_pendulum,
    spatial_slider_crank,
    turntable_ball,
    universal_shaft,
)

CASES = {
    "ball in a socket": (socket_pendulum, {}, 1e-4, 60),
    "heavy top": (heavy_top, {}, 1e-4, 40),
    "loop of joints": (spatial_slider_crank, {}, 1e-4, 40),
    "driven loop": (universal_shaft, {}, 1e-4, 30),
    "redundant loop": (bennett, {}, 1e-4, 20),
    "rolling": (turntable_ball, {}, 1e-3, 20),
    "twelve balls with friction and impacts": (six_rss, {}, 2e-4, 60),
    "guide with sixteen gaps, redundant joints": (polishing_robot, {}, 1e-4, 30),
}
SLOW = {"twelve balls with friction and impacts", "guide with sixteen gaps, redundant joints"}
PARAMETERS = [pytest.param(*case, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, case in CASES.items()]


#: sizes below which a motion or an impulse is round-off of one at rest
AT_REST = 1e-6


def _largest_difference(one, other):
    return float(np.max(np.abs(one - other), initial=0.0) / max(float(np.max(np.abs(other), initial=0.0)), AT_REST))


@pytest.mark.parametrize(("problem", "options", "dt", "steps"), PARAMETERS)
@pytest.mark.parametrize("joints", ["rattle", "midpoint"])
def test_compiled_steps_are_those_of_the_formulation(problem, options, dt, steps, joints):
    system = problem(**options).build()
    if joints == "midpoint" and (not system.ng or system.redundant):
        pytest.skip("no joints, or redundant ones, which only RATTLE's form takes")
    stepper = MoreauJean(joints=joints)
    compiled, python = (
        simulate(system, stepper, t_end=steps * dt, dt=dt, engine=engine) for engine in ("native", "python")
    )
    assert compiled.counts["python_steps"] == 0
    assert compiled.t.tolist() == python.t.tolist()
    for name in ("q", "v", "P_N", "P_T", "reaction", "reaction_impact", "energy", "mode"):
        found, expected = getattr(compiled, name).array, getattr(python, name).array
        # both stop where passes change the velocity by 1e-14; forces of "midpoint" are round-off of positions over dt^2
        tolerance = {"q": 1e-12, "mode": 0.0}.get(name, 1e-6 if joints == "midpoint" else 1e-9)
        if system.redundant and name == "reaction":
            tolerance = 1e-5  # the least of those that act alike, by rows whose diagonal is raised by 1e-9
        assert _largest_difference(found, expected) <= tolerance, name
    assert compiled.certificate.motion_residual <= 1e-9
    assert len(compiled.impacts["t"]) == len(python.impacts["t"])


def _steps(system, stepper, dt, t_end):
    """Compiled steps of a system, and the state that they begin with."""
    values, control, solver = system.parameter_values, ConstantStep(dt), SemismoothNewton()
    start, _ = Chain(solver).run(stepper.formulate(system, values, control, solver).start(system.start))
    return CompiledSteps(system, stepper, control, values, t_end), start


@pytest.mark.parametrize(("problem", "dt"), [(socket_pendulum, 1e-4), (turntable_ball, 1e-3), (heavy_top, 1e-4)])
def test_the_text_runs_uncompiled(problem, dt):
    system, steps = problem().build(), 8
    (compiled, start), (plain, _) = (_steps(system, MoreauJean(), dt, steps * dt) for _ in range(2))
    end = start
    while end.t < start.t + steps * dt - 1e-12:
        end = compiled.advance(end, start.t).end
    plain._put(start, start.t)
    view = Record("System", plain.layout.shape, plain.memory.address("System"))
    assert moreau_jean.run(view, steps) == moreau_jean.DONE
    for name, expected in (("q", end.q), ("v", end.v)):
        found = plain.layout.packed(plain.memory, name).ravel()
        assert _largest_difference(found, expected) <= 1e-13  # sums of four are taken in another order


def test_a_run_in_two_parts_is_one_run():
    """What the next step needs is in the state: impulses, rates of contacts, what joints remember."""
    system, stepper = six_rss().build(), MoreauJean()
    dt = 2.0**-12  # the grid of both runs is the same to the bit
    whole = simulate(system, stepper, t_end=80 * dt, dt=dt)
    first = simulate(system, stepper, t_end=40 * dt, dt=dt)
    second = simulate(system, stepper, t_end=80 * dt, dt=dt, state=first.end)
    assert second.q.array[-1].tolist() == whole.q.array[-1].tolist()
    assert second.v.array[-1].tolist() == whole.v.array[-1].tolist()


def test_redundant_contacts_fail_no_step():
    """A slide in its guide: up to sixteen contacts with friction on one pair of bodies, which six would hold."""
    system = slide_in_guide().build()
    run = simulate(system, MoreauJean(), t_end=0.02, dt=1e-4)
    assert run.counts["python_steps"] == 0 and run.certificate.motion_residual <= 1e-9


def test_what_is_not_compiled_says_why():
    system = socket_pendulum().build()
    reason = why_not_compiled(system, MoreauJean(projection="combined"), ConstantStep(1e-4), system.parameter_values)
    assert reason is not None and "projection" in reason
