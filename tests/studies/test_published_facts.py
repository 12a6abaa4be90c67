"""Facts of a problem: measured first, compared with what is known, and without cases unless these are asked for."""

import json
from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import InputError, MoreauJean, cli, plots
from nonsmooth.model.registry import Fact, Facts, get_problem
from nonsmooth.studies import published
from nonsmooth.studies.published import KINDS
from nonsmooth.trajectory import Verdict

KNOWN = (Fact("length of a metre", "mm", 1000.0, 0.5, "by definition"), Fact("legs of a tripod", "-", 4, 0.0))
MEASURED = {"length of a metre": 1000.2, "legs of a tripod": 3}


@pytest.fixture
def problem(monkeypatch):
    """The dual manipulator, of which two things are known, one of them wrongly."""
    chosen = get_problem("dual-manipulator")
    data = replace(chosen.published, facts=(Facts("two numbers", lambda: MEASURED, KNOWN),))
    monkeypatch.setitem(chosen.__dict__, "published", data)
    return chosen


def test_facts_are_measured_and_cases_are_not_run(problem):
    found = published(problem)
    assert list(found.facts) == ["length of a metre", "legs of a tripod"]
    first, second = found.facts.values()
    assert (first["measured"], first["expected"], first["unit"], first["agrees"]) == (1000.2, 1000.0, "mm", True)
    assert (second["measured"], second["agrees"]) == (3.0, False)
    assert not found.table and not found.runs
    assert found.to_dataset().sizes == {"case": 0, "contact": 0, "measure": len(found.units), "fact": 2}
    assert "| length of a metre | mm | 1000 | 0.5 | 1000 |" in str(found)


def test_cases_follow_facts_where_they_are_named(problem):
    found = published(problem, ["1"], kinds={"rigid": (MoreauJean(), 5e-3)})
    assert list(found.table) == ["1"] and len(found.facts) == 2
    dataset = found.to_dataset()
    np.testing.assert_array_equal(dataset["fact_measured"], [1000.2, 3.0])
    assert dataset["measured"].sizes["case"] == 1


def test_the_command_opens_with_facts(problem, capsys):
    assert cli.main(["study", "published", "dual-manipulator", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert next(iter(report)) == "facts"
    assert report["facts"]["legs of a tripod"]["measured"] == 3.0
    assert cli.main(["study", "published", "dual-manipulator"]) == 0
    shown = capsys.readouterr().out
    assert "differs" in shown and "cases that --case runs: 1, 2, 3, 4, 5" in shown


def test_facts_alone_are_not_drawn(problem, tmp_path, capsys):
    assert cli.main(["study", "published", "dual-manipulator", "--figure", str(tmp_path / "facts.png")]) != 0
    assert "name a case by --case" in capsys.readouterr().err


def test_a_problem_without_facts_has_none():
    with pytest.raises(InputError, match="has no published figures"):
        published(get_problem("bouncing-ball"))


def test_numbers_beyond_the_horizon_are_marked(problem):
    """Peaks of a run that round-off decides from 0.1 s on used to stand beside printed ones like any others."""
    found = published(problem, ["1"], kinds={"rigid": (MoreauJean(), 5e-3)})
    run = found.runs["1", "rigid"]
    late = replace(run, verdict=Verdict("sensitive", "trust until t = 0.1 s", horizon=0.1))
    sensitive = replace(found, runs={("1", "rigid"): late})
    rows = {row[1]: row for row in sensitive.cells()}
    assert rows["horizon"] == ("1", "horizon", "s", "", "0.1")
    assert rows["angle error, arm1"][-1].endswith(" *") and "*" not in rows["first contact"][-1]
    assert "nonsmooth study statistics" in sensitive.remarks()[-1]
    assert not any("*" in cell for row in found.cells() for cell in row) and "horizon" not in str(found)


@pytest.fixture(scope="module")
def rod():
    """Case 1 of the slider on a rod, which falls freely for 1.43 ms, by few steps and by compliant contact."""
    return published(get_problem("slider-rod"), ["1"], kinds={kind: KINDS[kind] for kind in ("rigid", "compliant")})


def test_a_sentence_for_each_printed_number_and_the_cost(rod):
    """Printed numbers used to stand in a table only, and nothing told the cost, which that paper claims."""
    *numbers, cost, claim = rod.sentences()
    assert [one.partition(":")[0] for one in numbers] == [
        "Case 1, constraint violation", "Case 1, motion residual", "Case 1, longest step"
    ]  # fmt: skip
    ours = rod.table["1"]["rigid"]["longest step"]
    assert f"the source has 0.001 s, we have {ours:.4g} rigid (x {ours / 1e-3:.3g})" in numbers[-1]
    steps = {kind: rod.table["1"][kind]["steps"] for kind in rod.kinds}
    assert steps["rigid"] < 10 < 100 < steps["compliant"]
    assert f"{steps['rigid']:g} steps, " in cost and f"{steps['compliant']:g} steps, " in cost and " the time)" in cost
    assert claim.startswith("The source on its cost: ")
    assert f"{ours:.4g}\nx {ours / 1e-3:.3g}" in next(row for row in rod.cells() if row[1] == "longest step")


def test_curves_between_rows_are_those_of_the_scheme(rod):
    """Free flight of two steps used to be a triangle: 2.5 um off in a clearance of 10 um."""
    view, rows = rod.view("1", "rigid", points=100), rod.view("1", "rigid")
    flight = view.t < 1.42e-3
    assert np.sum(flight) > 20 and np.sum(rows.t < 1.42e-3) < 3
    # the exact parabola, to the tolerance of the run over the clearance
    assert view.q["slider.y"][flight] == pytest.approx(-9.81 * view.t[flight] ** 2 / 2, abs=1e-13)
    assert set(rows.t) <= set(view.t)
    for name, values in rows.q.items():  # rows themselves, and both limits of velocities
        assert np.isin(values, view.q[name]).all() and np.isin(rows.v[name], view.v[name]).all()


def test_the_figure_has_printed_numbers_and_ratios(rod, problem):
    figure = plots.published(rod)
    figure.draw_without_rendering()
    below = figure.axes[-1]
    assert below.get_title(loc="left").startswith("Ours / printed")
    assert [label.get_text() for label in below.get_yticklabels()] == [
        "constraint violation [m]", "motion residual [-]", "longest step [s]"
    ]  # fmt: skip
    assert [text.get_text() for text in below.texts] == ["1e-08", "1e-12", "0.001"]
    rigid = below.lines[1].get_xdata()[2]
    assert rigid == pytest.approx(rod.table["1"]["rigid"]["longest step"] / 1e-3)
    # kinds of runs differ by more than by colour
    looks = [(line.get_linewidth(), line.get_linestyle(), line.get_alpha()) for line in figure.legends[0].get_lines()]
    assert len(set(looks)) == len(looks) == 4
    # legends are within the page and above the curves
    assert figure.legends[0].get_window_extent().x0 > 0
    legends = {axis: axis.get_legend().get_window_extent() for axis in figure.axes if axis.get_legend()}
    assert len(legends) == 3 and all(box.y0 >= axis.bbox.y1 for axis, box in legends.items())
    chosen = ["angle error, arm1", "angle error, arm2", "angle error, arm3", "angle error, arm4"]
    axis = plots.published(published(problem, ["1"], kinds={"rigid": (MoreauJean(), 5e-3)}, measures=chosen)).axes[1]
    levels = {abs(float(line.get_ydata()[0])) for line in axis.lines if len(set(line.get_ydata())) == 1}
    assert {0.3037, 0.5459, 0.0022, 0.0028} <= levels
