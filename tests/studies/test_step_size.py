"""Orders, violations and cost over the step size."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray

from nonsmooth import ErrorControl, EventDriven, GaussQP, Landing, MoreauJean, Rigid, plots
from nonsmooth.cli import main
from nonsmooth.exceptions import InputError
from nonsmooth.studies import Case, step_size
from nonsmooth.studies.cases import Motion, mean_impulse_error, motion_times, order
from nonsmooth.studies.step_size import FLOOR
from nonsmooth_problems import slider_crank_revolute, slider_rod

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PLASTIC = Rigid(restitution=0.0, friction=0.0)
EXACT = slider_rod.exact(case=2)
BOUNDS = ([1e-7, 1e-6, 1e-5, 1e-4], [2.5e-4, 1e-3])


def build(contact):
    return slider_rod(case=2, contact=contact)


@pytest.fixture(scope="module")
def found():
    """Case 2 with quick steppers."""
    cases = [
        Case("implicit Euler", PLASTIC, GaussQP(), 2e-4, exact=EXACT),
        Case("projected", PLASTIC, MoreauJean(projection="combined"), 2e-4, exact=EXACT),
        Case("landing", PLASTIC, GaussQP(), Landing(1e-6, 1e-3), exact=EXACT),
        Case("events", PLASTIC, EventDriven(), ErrorControl(1e-4, 1e-6, 1e-6, 1e-3), exact=EXACT),
    ]
    return step_size(build, cases, t_end=4e-3, bounds=BOUNDS, repeats=1)


def test_orders_and_violations_of_case_2(found):
    euler, landing = found["implicit Euler"], found["landing"]
    assert 0.85 <= euler.orders["error"] <= 1.15
    assert landing.measures["error"].max() <= 1e-8  # in clearances
    assert found["events"].measures["error"].max() <= 1e-8
    for one in (euler, landing, found["projected"]):
        assert one.measures["violation"].max() <= 1e-12
        assert one.measures["complementarity"].max() <= 1e-10
    assert np.isnan(landing.orders["error"])  # round-off has no order
    assert euler.measures["impulse_error"][-1] < euler.measures["impulse_error"][0] / 4
    # impacts within 1e-6 s before the end of bouncing are one; each weighs less than 4e-6 N s
    assert landing.measures["impulse_error"].max() <= 1e-8 and found["events"].measures["impulse_error"].max() <= 4e-7
    assert [one.reference for one in found.series] == ["exact"] * 4


def test_landing_over_both_bounds(found):
    """The shortest flight that is resolved bounds the error; the longest step does not matter for parabolas."""
    error = found.bounds.error
    assert error.shape == (4, 2) and np.all(np.diff(error[1:], axis=0) > 0)
    assert error[1] == pytest.approx(found["landing"].measures["error"][[2, 0]])
    assert found.bounds.violation.max() <= 1e-12


def test_dataset_and_figure(found, tmp_path):
    found.save(tmp_path / "steps.nc")
    with xarray.open_dataset(tmp_path / "steps.nc", engine="h5netcdf") as data:
        assert data.error.dims == ("case", "level") and data.violation.units == "m"
        assert float(data.error_order[0]) == found["implicit Euler"].orders["error"]
        assert data.bounds_error.shape == (4, 2)
    figure = plots.step_size(found)
    figure.canvas.draw()
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles[:2] == ["Mean error of the gaps", "Mean error of the impulse"]
    assert titles[2:4] == ["Worst overlap over the step", "Worst overlap over the cost"]
    # events have no step, but an overlap; and 1e-12 m
    assert [len(axis.lines) for axis in figure.axes[1:4]] == [3, 5, 5]
    assert "order 0.89" in figure.legends[0].get_texts()[0].get_text()


def test_a_reference_of_its_own_shows_the_order():
    cases = [Case("implicit Euler", PLASTIC, GaussQP(), 2e-4)]
    found = step_size(build, cases, t_end=4e-3, reference="self", repeats=1)
    assert 0.8 <= found["implicit Euler"].orders["error"] <= 1.2
    assert found["implicit Euler"].reference.startswith("the same stepper, ConstantStep(dt=7.8125e-07")
    assert found.remarks()[0].startswith("Whether the motion is sensitive before the end is not known")


def test_a_sensitive_motion_is_studied_until_its_horizon():
    """Errors until 0.15 s were those of motions that have separated, 5 % of the clearance whatever the tolerance."""
    rigid = Rigid(restitution=0.9, friction=0.0)
    cases = [Case("events", rigid, EventDriven(), ErrorControl(1e-6, 1e-8, 1e-6, 1e-4))]
    found = step_size(lambda law: slider_crank_revolute(contact=law), cases, t_end=0.15, levels=3, repeats=1)
    end = found.settings["t_end [s]"]
    assert found.settings["requested t_end [s]"] == 0.15 and 0.03 < end < 0.12
    assert found.remarks() == [f"The motion is sensitive: runs are compared until its horizon, {end:.3g} s."]
    error = found["events"].measures["error"]
    assert error[-1] < 0.3 * error[0]  # two levels; each decade of the tolerance more than halves it
    assert not step_size(build, [Case("a", PLASTIC, GaussQP(), 2e-4)], t_end=4e-3, levels=2, repeats=1).remarks()


@pytest.mark.slow
@pytest.mark.exact("compares bits of systems that other processes build")
def test_processes_give_the_same():
    cases = [Case("landing", PLASTIC, GaussQP(), Landing(1e-6, 1e-3))]
    make = lambda contact: slider_rod(case=2, contact=contact)  # noqa: E731  # goes to the processes by value
    here, there = (step_size(make, cases, t_end=4e-3, levels=3, repeats=1, executor=n) for n in (1, 2))
    for a, b in zip(here.series, there.series, strict=True):
        assert all(np.array_equal(a.measures[name], b.measures[name]) for name in a.measures)
        assert a.reference == "event-driven, rtol 1e-11"


@pytest.mark.parametrize("late", [1e-15, 1e-9, 1e-3, 0.2])
def test_an_impulse_that_is_late_counts_by_its_delay(late):
    """2 N s at 0.5 s of 1 s, and a force of 3 N from then on, whatever the grid is."""

    def motion(start):
        return Motion((), (), ("floor",), np.array([0.0, start, 1.0]), lambda t: np.zeros((len(t), 0)),
                      lambda t: np.where(t < start, 0.0, 2.0 + 3.0 * (t - start))[:, None])  # fmt: skip

    runs = motion(0.5), motion(0.5 + late)
    late = runs[1].rows[1] - 0.5
    for grid in (np.linspace(0.0, 1.0, 11), np.linspace(0.0, 1.0, 1002)):
        error = mean_impulse_error(*runs, motion_times(grid, *runs))
        assert error == pytest.approx([2.0 * late + 1.5 * late**2 + 3.0 * late * (0.5 - late)], rel=1e-6)


def test_order_is_fitted_above_round_off():
    dt = np.array([1e-2, 1e-3, 1e-4, 1e-5])
    assert order(dt, np.array([1e-2, 1e-4, 1e-6, 3e-10]), least=3, above=FLOOR) == pytest.approx(2.0)
    assert np.isnan(order(dt, np.array([1e-2, 1e-4, np.nan, 1e-12]), least=3, above=FLOOR))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "truth"}, "reference must be one of best, exact"),
        ({"reference": "exact"}, 'Case "a" has no exact solution'),
        ({"levels": 1}, "levels must be a whole number, at least 2"),
        ({"bounds": BOUNDS}, "bounds need a case with Landing"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(InputError, match=message):
        step_size(build, [Case("a", PLASTIC, GaussQP(), 2e-4)], t_end=4e-3, **options)


@pytest.mark.slow
def test_command_line(tmp_path, capsys):
    options = ["--stepper", "gauss-qp", "--stepper", "gauss-qp:landing", "--executor", "1", "--json"]
    files = ["--figure", str(tmp_path / "steps.png"), "--output", str(tmp_path / "steps.nc")]
    assert main(["study", "step-size", "slider-rod", *options, *files]) == 0
    facts = json.loads(capsys.readouterr().out)
    euler, landing = facts["gauss-qp"], facts["gauss-qp, landing"]
    assert 0.85 <= euler["order"] <= 1.15 and len(euler["dt"]) == len(euler["seconds"]) == 5
    assert max(landing["error"]) <= 1e-8 and max(euler["violation"] + landing["violation"]) <= 1e-12
    assert landing["order"] is None and landing["dt_min"] == [1e-6] * 5 and len(landing["bounds"]["error"]) == 5
    assert (tmp_path / "steps.png").stat().st_size > 0 and (tmp_path / "steps.nc").is_file()


def test_command_line_refuses(capsys):
    assert main(["study", "step-size", f"{EXAMPLES}/scotch_yoke.py"]) == 2
    assert "scotch-yoke states no end of the runs: give --t-end" in capsys.readouterr().err
    assert main(["study", "step-size", "slider-rod", "--stepper", "gauss-qp:lands"]) == 2
    assert "There is no solver 'lands'" in capsys.readouterr().err


def test_steps_of_a_file_are_chosen(capsys):
    """Of schemes on positions, on velocities and with events; the pin moves by up to 0.63 m/s in a slot of 0.2 mm."""
    words = ["--t-end", "0.02", "--levels", "3", "--jitter", "1", "--executor", "1", "--json"]
    schemes = ("gauss-qp", "gauss-mpcc", "moreau-jean", "gauss-qp:landing", "event-driven")
    words += [word for scheme in schemes for word in ("--stepper", scheme)]
    assert main(["study", "step-size", f"{EXAMPLES}/scotch_yoke.toml", *words]) == 0
    facts = json.loads(capsys.readouterr().out)
    usual = facts["moreau-jean"]["dt"][0]
    assert 0.02 / 400 <= usual <= 0.02 / 40 and facts["gauss-mpcc, plastic"]["dt"][0] == 0.02 / 40
    assert facts["gauss-qp, plastic"]["dt"][0] == facts["gauss-qp, landing"]["dt"][0] == usual
    overlaps = {label: max(one["violation"]) for label, one in facts.items()}
    assert 1e-7 < overlaps.pop("moreau-jean") < 1e-3 and max(overlaps.values()) <= 1e-12


def test_compliant_contacts_of_a_file_are_rigid_here(tmp_path, capsys):
    """With their restitution and friction, as is said."""
    text = (EXAMPLES / "scotch_yoke.py").read_text(encoding="utf-8")
    law = "ns.Compliant(ns.laws.Flores(stiffness=1e9, restitution=0.3))"
    (tmp_path / "soft.py").write_text(text.replace("ns.Rigid(restitution=0.3, friction=0.0)", law), encoding="utf-8")
    words = ["--t-end", "5 ms", "--stepper", "moreau-jean", "--levels", "2", "--jitter", "1", "--executor", "1"]
    assert main(["study", "step-size", str(tmp_path / "soft.py"), *words]) == 0
    assert "Contacts are rigid here, of restitution 0.3 and friction 0, instead" in capsys.readouterr().out


@pytest.mark.slow
def test_slider_crank(capsys):
    """The study of the slider-crank, by default with five levels: first order, second order with landing."""
    words = ["study", "step-size", "slider-crank-translational", "--levels", "4", "--executor", "1", "--json"]
    assert main(words) == 0
    facts = json.loads(capsys.readouterr().out)
    for name in ("gauss-qp, plastic", "moreau-jean", "generalized-alpha"):
        assert 0.8 <= facts[name]["order"] <= 1.2, name
    assert facts["gauss-qp, landing"]["order"] == pytest.approx(2.0, abs=0.1)
    for name in ("gauss-qp, plastic", "generalized-alpha", "gauss-qp, landing", "event-driven"):
        assert max(facts[name]["violation"]) <= 1e-12
