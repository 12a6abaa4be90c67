"""Ctrl-C in a batch or a study: what is finished is handed over, and the sentence says how to go on."""

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, Interrupted, MoreauJean, Rigid, simulate, simulate_batch
from nonsmooth.cli import main
from nonsmooth.cli.report import whole_or_part
from nonsmooth.engine import batch
from nonsmooth.studies import Case, beyond, bifurcation, compare, grid, sweep
from nonsmooth.studies.cases import Trial
from nonsmooth.studies.files import Result
from nonsmooth.studies.sweep import Runs
from nonsmooth_problems import slider_rod

CLEARANCES = np.linspace(1e-5, 2e-5, 8)


def pressed_after(count, function):
    """The function, in place of whose call after so many others Ctrl-C is pressed."""
    calls = []

    def called(*given, **named):
        calls.append(1)
        if len(calls) > count:
            raise KeyboardInterrupt
        return function(*given, **named)

    return called


def test_a_batch_hands_over_the_runs_that_are_finished(monkeypatch):
    system, settings = slider_rod(case=2).build(), {"t_end": 2e-3, "dt": 1e-4, "threads": 1}
    monkeypatch.setattr(batch._Steps, "end", pressed_after(3, batch._Steps.end))
    with pytest.raises(Interrupted, match="Interrupted after 3 of 8 runs; .* to go on") as stopped:
        simulate_batch(system, MoreauJean(), {"guide.clearance": CLEARANCES}, **settings)
    found = stopped.value.result
    assert found["run"].values.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(found["guide.clearance"], CLEARANCES[:3])
    changed = {"guide.clearance": float(CLEARANCES[2])}
    alone = simulate(system, MoreauJean(), t_end=2e-3, dt=1e-4, parameters=changed)
    np.testing.assert_array_equal(found["q"][2], alone.q[-1])


@pytest.mark.parametrize("kept", [False, True])
def test_a_sweep_hands_over_its_runs_and_goes_on(monkeypatch, tmp_path, kept):
    output = tmp_path / "sweep.nc" if kept else None
    design = grid({"guide.clearance": CLEARANCES})
    settings = {"t_end": 2e-3, "dt": 1e-4, "metrics": ["impacts"], "executor": 1, "piece": 2, "output": output}
    with monkeypatch.context() as patched:
        patched.setattr(Runs, "outcomes", pressed_after(2, Runs.outcomes))
        remedy = "sweep.nc.runs has them, and the same call goes on" if kept else "with output=FILE.nc .* the same call"
        with pytest.raises(Interrupted, match=f"Interrupted after 4 of 8 runs; .*{remedy}") as stopped:
            sweep(slider_rod, MoreauJean(), design, **settings)
    part = stopped.value.result
    assert part["run"].values.tolist() == [0, 1, 2, 3] and set(part["status"].values) == {"finished"}
    whole = sweep(slider_rod, MoreauJean(), design, **settings)
    np.testing.assert_array_equal(whole["impacts"][:4], part["impacts"])


def test_a_bifurcation_and_a_comparison_hand_over_what_they_have(monkeypatch):
    section = pressed_after(2, lambda value: np.array([value, 2 * value]))
    labels = {"parameter": "r", "unit": "-", "quantity": "x", "quantity_unit": "-", "executor": 1}
    with pytest.raises(Interrupted, match="after 2 of 4 values; .* give the other values") as stopped:
        bifurcation(section, [1.0, 2.0, 3.0, 4.0], **labels)
    assert stopped.value.result.values.tolist() == [1.0, 2.0]
    assert stopped.value.result.points[1].tolist() == [2.0, 4.0]

    dt = ErrorControl(1e-6, 1e-8, 1e-6, 1e-3)
    cases = [Case(one, Rigid(restitution=0.5, friction=0.0), EventDriven(), dt) for one in ("a", "b")]
    monkeypatch.setattr(Trial, "run", pressed_after(1, Trial.run))
    with pytest.raises(Interrupted, match="after 1 of 2 cases") as stopped:
        compare(lambda contact: slider_rod(case=1, contact=contact), cases, t_end=2e-3, target=0)
    assert stopped.value.result["a"].status == "finished"


def test_the_command_says_how_to_go_on(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Runs, "outcomes", pressed_after(1, Runs.outcomes))
    words = "study sweep slider-rod --case 2 --t-end 2e-3 --dt 1e-4 --stepper moreau-jean --executor 1 --metric impacts"
    assert main([*words.split(), "--grid", "guide.clearance=1e-5,2e-5,3e-5", "--output", "sweep.nc"]) == 130
    said = capsys.readouterr().err
    assert "of 3 runs; sweep.nc.runs has them, and the same call goes on from there." in said


def test_statistics_that_are_interrupted_leave_the_rest_of_a_comparison(monkeypatch):
    class Rest(Result):
        def _tables(self):
            return {}, {}, {}

    def interrupted(*_):
        yield 0, "it ends early"
        raise KeyboardInterrupt

    monkeypatch.setattr(beyond, "outcomes", interrupted)
    statistics, without = beyond.statistics_of({"a": None, "b": None}, 1.0)
    assert statistics == {}
    assert without == {"a": "has no statistics: it ends early", "b": "has no statistics: interrupted"}
    rest = Rest()
    found, said = whole_or_part(lambda: beyond.complete(rest, without))
    assert found is rest and said == ["Interrupted: statistics are missing, this has the rest."]
    assert whole_or_part(lambda: beyond.complete(rest, {})) == (rest, [])
