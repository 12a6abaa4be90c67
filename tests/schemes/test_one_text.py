"""Schemes as one text: compiled, uncompiled and beside their Python formulations."""

import numpy as np
import pytest

from nonsmooth import (
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    Revolute,
    RevoluteClearance,
    Rigid,
    simulate,
)
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.records.views import Record
from nonsmooth.schemes import landing, moreau_jean
from nonsmooth.solvers import ActiveSet, SemismoothNewton
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


def table_on_three_cranks():
    """A parallelogram in the plane with a crank too many, and a bob with a loose pin."""
    disk = {"mass": 2.0, "inertia": 0.3}
    elements = [Ground(), PlanarBody("table", position=(1.0, 1.0), **disk), Gravity(acceleration=(3.0, -9.81))]
    law = Rigid(restitution=0.5, friction=0.1)
    for i, x in enumerate((0.0, 2.0, 1.0)):
        elements += [
            PlanarBody(f"crank{i}", position=(x, 0.5), angle=np.pi / 2, **disk),
            Revolute(f"head{i}", f"crank{i}", "table", at_a=(0.5, 0.0), at_b=(x - 1.0, 0.0)),
            Revolute(f"foot{i}", "ground", f"crank{i}", at_a=(x, 0.0), at_b=(-0.5, 0.0)),
        ]
    elements += [PlanarBody("bob", position=(1.0, 0.6), **disk)]
    elements += [RevoluteClearance("loose", "table", "bob", at_b=(0.0, 0.4), clearance=1e-3, radius=0.02, contact=law)]
    return Model(elements)


CASES = {
    "redundant loop in the plane": (table_on_three_cranks, {}, 1e-3, 60),
    "ball in a socket": (socket_pendulum, {}, 1e-4, 60),
    "heavy top": (heavy_top, {}, 1e-4, 40),
    "loop of joints": (spatial_slider_crank, {}, 1e-4, 40),
    "driven loop": (universal_shaft, {}, 1e-4, 30),
    "redundant loop": (bennett, {}, 1e-4, 20),
    "rolling": (turntable_ball, {}, 1e-3, 20),
    "twelve balls with friction and impacts": (six_rss, {}, 2e-4, 60),
    "guide with sixteen gaps, redundant joints": (polishing_robot, {}, 1e-4, 30),
}
#: two for their sizes, one since the text is compiled for it alone
SLOW = {
    "twelve balls with friction and impacts",
    "guide with sixteen gaps, redundant joints",
    "redundant loop in the plane",
}
PARAMETERS = [pytest.param(*case, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, case in CASES.items()]


#: sizes below which a motion or an impulse is round-off of one at rest
AT_REST = 1e-6


def _largest_difference(one, other):
    return float(np.max(np.abs(one - other), initial=0.0) / max(float(np.max(np.abs(other), initial=0.0)), AT_REST))


@pytest.mark.parametrize(("problem", "options", "dt", "steps"), PARAMETERS)
@pytest.mark.parametrize("joints", ["rattle", "midpoint"])
def test_compiled_steps_are_those_of_the_formulation(problem, options, dt, steps, joints):
    system = problem(**options).build()
    if joints == "midpoint" and not system.ng:
        pytest.skip("no joints")
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
        if system.redundant and name in ("reaction", "reaction_impact"):
            tolerance = 1e-5  # the least of those that act alike, by rows whose diagonal is raised by 1e-9
        assert _largest_difference(found, expected) <= tolerance, name
    assert compiled.certificate.motion_residual <= 1e-9
    assert len(compiled.impacts["t"]) == len(python.impacts["t"])


#: steps that land: free flight into a socket, joints, drivers, redundant rows, impacts and friction of many contacts
LANDINGS = {
    "flight into a socket": (socket_pendulum, {}, 1e-3, 0.1),
    "heavy top": (heavy_top, {}, 1e-4, 0.004),
    "driven loop": (universal_shaft, {}, 1e-4, 0.004),
    "redundant loop": (bennett, {}, 1e-4, 0.002),
    "rolling": (turntable_ball, {}, 1e-3, 0.02),
    "ball that bounces in its socket": (
        spatial_slider_crank,
        {"contact": Rigid(restitution=0.5, friction=0.1)},
        5e-4,
        0.03,
    ),
    "twelve balls with friction and impacts": (six_rss, {}, 2e-4, 0.01),
    "guide with sixteen gaps and impacts": (polishing_robot, {"friction": 0.05}, 2e-4, 0.02),
}


@pytest.mark.parametrize(
    ("problem", "options", "dt_max", "t_end"),
    [pytest.param(*case, id=name, marks=[pytest.mark.slow] * ("impacts" in name)) for name, case in LANDINGS.items()],
)
def test_compiled_landing_steps_are_those_of_the_formulation(problem, options, dt_max, t_end):
    system = problem(**options).build()
    control = Landing(1e-6, dt_max)
    compiled, python = (simulate(system, GaussQP(), t_end=t_end, dt=control, engine=e) for e in ("native", "python"))
    assert compiled.counts["python_steps"] == 0
    assert len(compiled.t) == len(python.t)
    # a landing is located to 1e-13 of the clearance, by rates of millimetres per second
    assert _largest_difference(compiled.t, python.t) <= 1e-9
    assert len(compiled.impacts["t"]) == len(python.impacts["t"])
    for name in ("q", "v", "P_N", "reaction", "reaction_impact", "energy", "mode"):
        found, expected = getattr(compiled, name).array, getattr(python, name).array
        if name == "P_N" and problem is polishing_robot:
            continue  # redundant contacts share it in more ways than one
        tolerance = {"q": 1e-9, "mode": 0.0}.get(name, 1e-8)  # times of impacts differ by as much
        if system.redundant and name in ("reaction", "reaction_impact"):
            tolerance = 1e-5  # the least of those that act alike, by rows whose diagonal is raised by 1e-9
        assert _largest_difference(found, expected) <= tolerance, name
    assert compiled.certificate.motion_residual <= 1e-9
    assert compiled.certificate.gap_violation <= 1e-12


def _steps(system, stepper, control, t_end):
    """Compiled steps of a system, and the state that they begin with."""
    values, solver = system.parameter_values, SemismoothNewton() if isinstance(stepper, MoreauJean) else ActiveSet()
    start, _ = Chain(solver).run(stepper.formulate(system, values, control, solver).start(system.start))
    return CompiledSteps(system, stepper, control, values, t_end), start


@pytest.mark.parametrize(
    ("text", "stepper", "control", "problem"),
    [
        (moreau_jean, MoreauJean(), ConstantStep(1e-4), socket_pendulum),
        (moreau_jean, MoreauJean(), ConstantStep(1e-3), turntable_ball),
        (moreau_jean, MoreauJean(joints="midpoint"), ConstantStep(1e-4), heavy_top),
        (landing, GaussQP(), Landing(1e-6, 1e-3), socket_pendulum),
        (landing, GaussQP(), Landing(1e-6, 1e-4), heavy_top),
    ],
)
def test_the_text_runs_uncompiled(text, stepper, control, problem):
    system, steps = problem().build(), 8
    t_end = steps * (control.dt if isinstance(control, ConstantStep) else control.dt_max)
    (compiled, start), (plain, _) = (_steps(system, stepper, control, t_end) for _ in range(2))
    end = start
    while end.t < t_end:
        end = compiled.advance(end, start.t).end
    plain._put(start, start.t)
    view = Record("System", plain.layout.shape, plain.memory.address("System"))
    assert text.run(view, steps) == text.DONE
    for name, expected in (("q", end.q), ("v", end.v)):
        found = plain.layout.packed(plain.memory, name).ravel()
        assert _largest_difference(found, expected) <= 1e-13  # sums of four are taken in another order


@pytest.mark.parametrize("lands", [False, True])
def test_a_run_in_two_parts_is_one_run(lands):
    """What the next step needs is in the state: impulses, rates of contacts, what joints remember."""
    system, stepper = six_rss().build(), GaussQP() if lands else MoreauJean()
    dt = 2.0**-12  # the grid of both runs is the same to the bit
    control = Landing(1e-6, dt) if lands else dt
    whole = simulate(system, stepper, t_end=80 * dt, dt=control)
    half = whole.t[40]
    first = simulate(system, stepper, t_end=half, dt=control)
    second = simulate(system, stepper, t_end=80 * dt, dt=control, state=first.end)
    assert second.q.array[-1].tolist() == whole.q.array[-1].tolist()
    assert second.v.array[-1].tolist() == whole.v.array[-1].tolist()


def test_redundant_contacts_fail_no_step():
    """A slide in its guide: up to sixteen contacts with friction on one pair of bodies, which six would hold."""
    system = slide_in_guide().build()
    run = simulate(system, MoreauJean(), t_end=0.02, dt=1e-4)
    assert run.counts["python_steps"] == 0 and run.certificate.motion_residual <= 1e-9


def test_steps_that_are_not_certified_here_are_steps_of_the_python_formulation(monkeypatch):
    system = socket_pendulum().build()
    python = simulate(system, MoreauJean(), t_end=0.01, dt=1e-3, engine="python")
    monkeypatch.setattr("nonsmooth.engine.steps.CERTIFIED", 1e-30)  # less than round-off: no step is certified
    run = simulate(system, MoreauJean(), t_end=0.01, dt=1e-3)
    assert run.counts["python_steps"] == run.counts["fallbacks"] == 10
    assert run.q.array.tolist() == python.q.array.tolist()
    assert _largest_difference(run.energy.array, python.energy.array) <= 1e-13  # rows are looked at by compiled code
