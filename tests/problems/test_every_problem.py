"""Every ready problem runs from the command line, is drawn with its panels, and has an exact solution that fits it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nonsmooth import MoreauJean, plots, simulate
from nonsmooth.cli import main
from nonsmooth.registry import find_problems
from nonsmooth_problems.samples import Sample

PROBLEMS = find_problems()
RUNS = {
    "moreau-jean": ["--stepper", "moreau-jean", "--dt", "2e-4", "--t-end", "2e-3"],
    "gauss-qp": ["--stepper", "gauss-qp", "--dt-min", "1e-6", "--dt-max", "2e-4", "--t-end", "2e-3"],
}


@pytest.mark.parametrize("stepper", RUNS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_it_runs_from_the_command_line(name, stepper, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = main(["run", name, *RUNS[stepper], "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    report = json.loads(out)
    assert (report["problem"], report["stepper"], report["failures"]) == (name, stepper, 0)
    assert report["certificate"]["motion_residual"] <= 1e-9
    assert report["certificate"]["complementarity"] <= 1e-9


@pytest.mark.parametrize("name", PROBLEMS)
def test_its_panels_can_be_drawn(name):
    """With the exact solution where there is one; the names and units of the panels are then known to both."""
    one = PROBLEMS[name]
    trajectory = simulate(one().build(), MoreauJean(), t_end=2e-3, dt=5e-4)
    exact = one.exact() if one.exact is not None else None
    figure = plots.motion(trajectory, one.panels, exact=exact)
    assert len([axis for axis in figure.axes if axis.get_visible()]) == len(one.panels) >= 3


@pytest.mark.parametrize("name", [name for name, one in PROBLEMS.items() if one.exact is not None])
def test_the_exact_solution_speaks_of_the_same_quantities(name):
    """Names, start, gaps that hold, and a velocity that is the rate of the coordinate."""
    system, exact = PROBLEMS[name]().build(), PROBLEMS[name].exact()
    start = exact.sample(0.0)
    assert isinstance(start, Sample)
    assert set(start.q) == set(system.q_names) and set(start.v) == set(system.v_names)
    assert set(start.gap) == set(start.lam_N) == set(start.impulse) == set(system.contact_names)
    for i, one in enumerate(system.q_names):
        assert start.q[one] == pytest.approx(system.start.q[i], abs=1e-16)
        assert start.v[one] == pytest.approx(system.start.v[i], abs=1e-16)
    end, h = 0.7 * float(exact.events[0]), 1e-6
    t = np.linspace(0.1, 0.9, 5) * end
    here, before, after = (exact.sample(t + shift * end * h) for shift in (0.0, -1.0, 1.0))
    for one in system.q_names:
        rate = (after.q[one] - before.q[one]) / (2 * h * end)
        size = max(1e-3, float(np.max(np.abs(here.q[one])) / end))
        np.testing.assert_allclose(here.v[one], rate, rtol=0, atol=1e-8 * size)
    q = np.column_stack([here.q[one] for one in system.q_names])
    gaps = system.true_gaps(q, system.parameter_values)
    np.testing.assert_allclose(gaps, np.column_stack([here.gap[one] for one in system.contact_names]), atol=1e-15)
    with pytest.raises(Exception, match="starts at t = 0"):
        exact.sample(-1.0)
    with pytest.raises(Exception, match="side must be"):
        exact.sample(0.0, "both")


def test_the_report_of_a_problem_names_its_provenance(capsys):
    assert main(["describe", "bouncing-ball"]) == 0
    out = capsys.readouterr().out
    assert "0.9" in out and "assumed" in out
