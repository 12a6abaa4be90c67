"""Every ready problem is built, described, run ten steps with each stepper that fits, from Python and from the command
line, and drawn with its panels; an exact solution fits it. Problems and steppers are found, not listed.
"""

from __future__ import annotations

import doctest
import functools
import inspect
import json
import sys
from itertools import product

import numpy as np
import pytest
from loops import some

from nonsmooth import Compliant, ErrorControl, Landing, MoreauJean, Rigid, Trajectory, plots, simulate, steppers
from nonsmooth.cli import main
from nonsmooth.laws import LankaraniNikravesh
from nonsmooth.model.registry import find_problems
from nonsmooth_problems.samples import Sample

PROBLEMS = find_problems()
#: robots of many bodies, of which drawings and programs take seconds
LARGE = ("polishing-robot", "six-rss")
EVERY = [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in PROBLEMS]
SOFT = Compliant(LankaraniNikravesh(stiffness=1e8, restitution=0.9))
LANDING, CONTROL = Landing(1e-6, 1e-4), ErrorControl(rtol=1e-7, atol=1e-9, dt_min=1e-6, dt_max=1e-4)
#: a step that each stepper takes; a new one needs a line here
STEPS = {
    "compliant-dae": CONTROL,
    "event-driven": CONTROL,
    "gauss-mpcc": LANDING,
    "gauss-qp": LANDING,
    "generalized-alpha": 1e-4,
    "moreau-jean": 1e-4,
}
RUNS = {
    "moreau-jean": ["--stepper", "moreau-jean", "--dt", "2e-4", "--t-end", "2e-3"],
    "gauss-qp": ["--stepper", "gauss-qp", "--dt-min", "1e-6", "--dt-max", "2e-4", "--t-end", "2e-3"],
}


def takes_contact(name):
    return "contact" in inspect.signature(PROBLEMS[name]).parameters


@functools.lru_cache(maxsize=2)
def built(name, soft):
    """Its mechanism, built once for all steppers; if `soft`, with a compliant law."""
    return PROBLEMS[name](**({"contact": SOFT} if soft else {})).build()


@pytest.mark.parametrize("name", ["four-bar", "bouncing-ball"])
def test_a_run_ends_by_itself(name, capsys, tmp_path):
    """`nonsmooth run NAME` needs no option: each problem states when what there is to see has happened."""
    assert all(one.t_end is not None and one.t_end > 0.0 for one in PROBLEMS.values())
    assert main(["describe", name]) == 0 and "unless --t-end is given" in capsys.readouterr().out
    assert main(["run", name, "--output", str(tmp_path / "run.nc"), "-q"]) == 0
    assert Trajectory.load(tmp_path / "run.nc").t[-1] == pytest.approx(PROBLEMS[name].t_end)


@pytest.mark.parametrize(
    ("name", "word"),
    some((pytest.param(*one.values, word, marks=one.marks) for one, word in product(EVERY, steppers.names())), 11),
)
def test_ten_steps_with_each_stepper_that_fits(name, word):
    """Rigid steppers with the problem's own contact, compliant ones with a law in its place, drawn with its panels."""
    one, stepper = PROBLEMS[name], steppers.by_name(word)()
    soft = stepper.contact is not Rigid
    if soft and not takes_contact(name):
        pytest.skip("its contact is its own")
    assert word in STEPS, f"{word} is a new stepper: say in STEPS above how it takes its step"
    run = simulate(built(name, soft), stepper, t_end=1e-3, dt=STEPS[word])
    assert run.status == "finished" and len(run.t) > 10
    assert run.certificate.motion_residual <= 1e-9 and run.certificate.joint_violation <= 1e-9
    if soft:  # rigid runs are drawn below
        figure = plots.motion(run, one.panels)
        assert len([axis for axis in figure.axes if axis.get_visible()]) == len(one.panels)
    else:
        assert run.certificate.complementarity <= 1e-9


@pytest.mark.parametrize("name", some(EVERY, 4))
def test_it_is_described(name, tmp_path, capsys):
    """With each of its bodies, joints and contacts, each origin, and a drawing."""
    path = tmp_path / "sketch.png"
    assert main(["describe", name, "--figure", str(path)]) == 0
    shown = capsys.readouterr().out
    system = PROBLEMS[name]().build()
    assert f"{system.nv - system.ng}" in shown
    for element in system.elements:
        assert element.name in shown, element.name
    for key in PROBLEMS[name].provenance:
        assert key in shown, key
    assert path.read_bytes().startswith(b"\x89PNG")


#: whose examples print parameters as given
PRINTS = [name for name in PROBLEMS if ".parameters[" in (PROBLEMS[name].function.__doc__ or "")]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exact("prints parameters as given")] * (name in PRINTS))
        for name in PROBLEMS
    ],
)
def test_the_example_in_its_docstring(name):
    """Doctest's own collector finds functions and classes, not problems."""
    function = PROBLEMS[name].function
    examples = doctest.DocTestFinder().find(function, name, globs=dict(vars(sys.modules[function.__module__])))
    results = doctest.DocTestRunner().run(examples[0])
    assert results.attempted >= 1 and results.failed == 0


@pytest.mark.parametrize(
    ("name", "stepper"),
    some([(name, word) for i, name in enumerate(PROBLEMS) for word in (RUNS, reversed(RUNS))[i % 2]], 6),
)
def test_it_runs_from_the_command_line(name, stepper, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = main(["run", name, *RUNS[stepper], "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    report = json.loads(out)
    assert (report["problem"], report["stepper"], report["failures"]) == (name, stepper, 0)
    assert report["certificate"]["motion_residual"] <= 1e-9
    assert report["certificate"]["complementarity"] <= 1e-9


@pytest.mark.parametrize("name", some(PROBLEMS, 4))
def test_its_panels_can_be_drawn(name):
    """With the exact solution where there is one; the names and units of the panels are then known to both."""
    one = PROBLEMS[name]
    trajectory = simulate(built(name, False), MoreauJean(), t_end=2e-3, dt=5e-4)
    exact = one.exact() if one.exact is not None else None
    figure = plots.motion(trajectory, one.panels, exact=exact)
    assert len([axis for axis in figure.axes if axis.get_visible()]) == len(one.panels) >= 3


@pytest.mark.parametrize("name", some([name for name, one in PROBLEMS.items() if one.exact is not None], 2))
def test_the_exact_solution_speaks_of_the_same_quantities(name):
    """Names, start, gaps that hold, and a velocity that is the rate of the coordinate."""
    system, exact = PROBLEMS[name]().build(), PROBLEMS[name].exact()
    start = exact.sample(0.0)
    assert isinstance(start, Sample)
    assert set(start.q) == set(system.q_names) and set(start.v) == set(system.v_names)
    assert set(start.gap) == set(start.lam_N) == set(start.impulse) == set(system.contact_names)
    for i, one in enumerate(system.q_names):
        # cosines of different libraries differ in their last bit
        assert start.q[one] == pytest.approx(system.start.q[i], abs=1e-16, rel=2.3e-16)
    for i, one in enumerate(system.v_names):
        assert start.v[one] == pytest.approx(system.start.v[i], abs=1e-16, rel=2.3e-16)
    end, h = 0.7 * float(exact.events[0]) if len(exact.events) else 0.1, 1e-6
    t = np.linspace(0.1, 0.9, 5) * end
    here, before, after = (exact.sample(t + shift * end * h) for shift in (0.0, -1.0, 1.0))
    q, v = (np.column_stack([table[one] for one in names]) for table, names in
            ((here.q, system.q_names), (here.v, system.v_names)))  # fmt: skip
    # q' = B(q) v: in the plane q' = v, in space quaternions turn with the angular velocity in the body frame
    moved = np.array([system.numeric.B(*row)[0] @ u for row, u in zip(q[:, None], v, strict=True)])
    for i, one in enumerate(system.q_names):
        rate = (after.q[one] - before.q[one]) / (2 * h * end)
        size = max(1e-3, float(np.max(np.abs(here.q[one])) / end))
        np.testing.assert_allclose(moved[:, i], rate, rtol=0, atol=1e-8 * size)
    gaps = system.true_gaps(q, system.parameter_values)
    expected = np.array([here.gap[one] for one in system.contact_names]).reshape(-1, len(t)).T
    np.testing.assert_allclose(gaps, expected, atol=1e-15)
    with pytest.raises(Exception, match="starts at t = 0"):
        exact.sample(-1.0)
    with pytest.raises(Exception, match="side must be"):
        exact.sample(0.0, "both")


def test_the_report_of_a_problem_names_its_provenance(capsys):
    assert main(["describe", "bouncing-ball"]) == 0
    out = capsys.readouterr().out
    assert "0.9" in out and "assumed" in out
