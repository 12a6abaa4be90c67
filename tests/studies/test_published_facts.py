"""Facts of a problem: measured first, compared with what is known, and without cases unless these are asked for."""

import json
from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import InputError, MoreauJean, cli
from nonsmooth.model.registry import Fact, Facts, get_problem
from nonsmooth.studies import published
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
