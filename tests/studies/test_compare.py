"""Comparison of contact worlds: metrics, cost at equal error, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
import xarray

from nonsmooth import (
    Compliant,
    CompliantDae,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussQP,
    InputError,
    Landing,
    Rigid,
    plots,
)
from nonsmooth.laws import Flores
from nonsmooth.model.registry import find_problems
from nonsmooth.step.control import ConstantStep
from nonsmooth.studies import Case, beyond, compare, workers
from nonsmooth.studies.beyond import MEMBERS, RATE, lines_of, remarks_of
from nonsmooth.studies.cases import Motion, mean_deviation, refined, scales
from nonsmooth.studies.compare import METRICS
from nonsmooth.studies.long_run import Statistic, Statistics
from nonsmooth_problems import slider_crank_revolute, slider_rod

RIGID = Rigid(restitution=0.5, friction=0.0)
CONTROL = ErrorControl(1e-7, 1e-9, 1e-6, 1e-3)


def build(contact):
    return slider_rod(case=1, contact=contact)


def law(K: float) -> Compliant:
    return Compliant(Flores(stiffness=K, restitution=0.5, calibrated=True))


@pytest.fixture(scope="module")
def found():
    exact = slider_rod.exact(case=1, contact=RIGID)
    return compare(
        build,
        [
            Case("event-driven", RIGID, EventDriven(), CONTROL, exact=exact),
            Case("landing", RIGID, GaussQP(), Landing(1e-6, 1e-3), exact=exact),
            Case("1e12", law(1e12), CompliantDae(solver=Dop853()), CONTROL),
            Case("1e14", law(1e14), CompliantDae(solver=Dop853()), CONTROL),
        ],
        t_end=6e-3,
    )


def test_every_case_has_every_metric(found) -> None:
    assert all(tuple(found.table[label]) == tuple(METRICS) for label in found.labels)


def test_rigid_cases_are_the_reference(found) -> None:
    for label in ("event-driven", "landing"):
        numbers = found.table[label]
        assert numbers["distance"] < 1e-9 and numbers["own_error"] < 1e-8 and numbers["penetration"] < 1e-15
        assert numbers["first_impulse"] == pytest.approx(0.0525267788846794, rel=1e-12)


def test_compliant_cases_approach_it(found) -> None:
    soft, stiff = found.table["1e12"], found.table["1e14"]
    # nearly K^-0.4 of the first impulse: a factor of 10^0.73 in two decades, and of 10^0.8 in stiffer ones
    errors = [numbers["first_impulse"] / 0.0525267788846794 - 1 for numbers in (soft, stiff)]
    assert errors[0] / errors[1] == pytest.approx(10**0.732, rel=0.02)
    assert soft["distance"] > 6 * stiff["distance"] > 0
    # their own errors are far below what they differ by
    assert max(soft["own_error"], stiff["own_error"]) < 1e-6
    assert soft["agreement"] < stiff["agreement"] < 1


def test_overlap_relative_to_the_clearance(found) -> None:
    """Flores' law, e = 0.5: the deepest is that of the first impact, of 10 um of clearance on one side."""
    for label in ("1e12", "1e14"):
        numbers = found.table[label]
        assert numbers["overlap"]["guide.left_lower"] == pytest.approx(numbers["penetration"] / 1e-5, rel=1e-12)
        assert numbers["overlap"]["guide.left_upper"] == 0.0
    (row,) = [values for title, values in found.lines() if title == "  over the clearance [-]"]
    assert row == [max(found.table[label]["overlap"].values()) for label in found.labels]


def test_rows_that_differ_beyond_the_errors_of_the_runs(found) -> None:
    """All compliant cases impact at the time of free fall as the rigid ones, whose impacts have no overlap."""
    rows = found.differing()
    assert {"deepest overlap", "first impact: impulse", "energy lost, impacts"} <= set(rows)
    assert not {"first impact", "first impact: speed of approach", "own error"} & set(rows)
    assert f"beyond own errors: {'; '.join(rows)}." in str(found).splitlines()[-1]


def test_cases_of_one_law_do_not_differ_beyond_the_errors_of_their_runs() -> None:
    loose = ErrorControl(1e-5, 1e-7, 1e-6, 1e-3)
    cases = [Case("fine", law(1e12), CompliantDae(), CONTROL), Case("loose", law(1e12), CompliantDae(), loose)]
    found = compare(build, cases, t_end=6e-3, target=0.0)
    assert found.table["fine"]["first_impulse"] != found.table["loose"]["first_impulse"]
    assert found.differing() == []
    assert str(found).splitlines()[-1].endswith("beyond own errors: none.")


def test_impulse_balances_the_weight_in_both_worlds(found) -> None:
    for label in found.labels:
        total = sum(found.table[label]["impulse"].values())
        momentum = 5.0 * found.runs[label].v["slider.y"][-1]
        assert total == pytest.approx(5.0 * 9.81 * 6e-3 + momentum, rel=1e-6)


def test_windows_hold_the_whole_impulse(found) -> None:
    width = np.diff(found.edges)
    for k, label in enumerate(found.labels):
        assert found.forces[k].T @ width == pytest.approx(list(found.table[label]["impulse"].values()), abs=1e-12)


def test_cost_is_at_equal_error(found) -> None:
    for label in found.labels:
        cost = found.table[label]["equal_error"]
        assert cost["error"] <= found.settings["target of the own error [-]"]
        assert cost["wall"] > 0 and cost["steps"] > 0 and cost["evaluations"] > 0
        assert cost["steps"] <= found.table[label]["steps"]


def test_distances_between_cases(found) -> None:
    assert np.all(np.diag(found.between) == 0) and np.all(np.diag(found.modes) == 1)
    assert found.between == pytest.approx(found.between.T)
    assert found.between[0, 2:] == pytest.approx(
        [found.table[label]["distance"] for label in ("1e12", "1e14")], rel=1e-3
    )


def test_dataset_and_file(found, tmp_path) -> None:
    found.save(tmp_path / "comparison.nc")
    data = xarray.load_dataset(tmp_path / "comparison.nc")
    assert data["penetration"].attrs["units"] == "m"
    assert list(data["case"].values) == list(found.labels)
    assert float(data["first_impulse"].sel(case="1e14")) == found.table["1e14"]["first_impulse"]
    assert set(data["motion"].values) == {"reference", *found.labels}
    first = data.isel(touch=0)
    assert float(first["touch_start"]) == pytest.approx(0.001427843123)


def test_rows_are_plain(found) -> None:
    rows = found.rows()
    assert [row["case"] for row in rows] == list(found.labels)
    assert "impulse.guide.left_lower" in rows[0] and "loss.contact" in rows[0]
    json.dumps(rows)


def test_figure(found, tmp_path) -> None:
    figure = plots.comparison(found)
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles[0] == "slider.y" and titles[3].endswith("mean of 0.3 ms")
    assert all("[" in axis.get_ylabel() + axis.get_xlabel() for axis in figure.axes)
    figure.savefig(tmp_path / "comparison.png")


@pytest.mark.parametrize("largest", [3e-8, 1e-3])
def test_dots_are_clear_of_edges_and_of_the_words_beside_them(found, largest) -> None:
    errors = [1e-12, *np.geomspace(largest / 3, largest, len(found.labels) - 1)]
    table = {one: {**found.table[one], "own_error": e} for one, e in zip(found.labels, errors, strict=True)}
    figure = plots.comparison(dataclasses.replace(found, table=table))
    figure.draw_without_rendering()
    for axis in figure.axes[4:]:
        inside, dots = axis.get_window_extent(), [axis.transData.transform(line.get_xydata()[0]) for line in axis.lines]
        assert all(inside.x0 + 8 < x < inside.x1 - 8 for x, _ in dots)  # [pixels], of a radius of 7
        for words in (one for one in axis.texts if one.get_text()):
            beside = words.get_window_extent()
            assert all(abs(y - (beside.y0 + beside.y1) / 2) > 8 or x + 7 < beside.x0 for x, y in dots)


def test_converged_run_stands_in_for_an_exact_solution(found) -> None:
    without = compare(build, [Case("rigid", RIGID, EventDriven(), CONTROL)], t_end=6e-3, target=0)
    assert without.table["rigid"]["distance"] < 1e-12
    assert np.isnan(without.table["rigid"]["equal_error"]["wall"])


def test_coordinates_that_do_not_move_do_not_count() -> None:
    exact = slider_rod.exact(case=1, contact=RIGID)
    grid = np.linspace(0.0, 6e-3, 201)
    like = compare(build, [Case("rigid", RIGID, EventDriven(), CONTROL)], t_end=6e-3, target=0).runs["rigid"]
    scale = scales(Motion.of_exact(exact, like), grid)
    assert scale == pytest.approx([10.0 * 6e-3**2 / 2, 1e-5, np.inf])
    assert mean_deviation(Motion.of_exact(exact, like), Motion.of_run(like), grid) == pytest.approx(0, abs=1e-17)


@pytest.mark.parametrize(
    ("dt", "level", "expected"),
    [
        (ConstantStep(1e-4), 2, ConstantStep(2.5e-5)),
        (Landing(1e-6, 1e-3), -1, Landing(2e-6, 2e-3)),
        (ErrorControl(1e-6, 1e-8, 1e-6, 1e-3), -3, ErrorControl(1e-3, 1e-5, 1e-6, 8e-3)),
        (ErrorControl(1e-6, 1e-8, 1e-6, 1e-3), -4, ErrorControl(1e-2, 1e-4, 1e-6, 1e-2)),
        (ErrorControl(1e-6, 1e-8, 1e-6, 1e-3), -5, None),
        (ErrorControl(1e-6, 1e-8, 1e-6, 1e-3), 6, None),
        (ConstantStep(1e-4), -12, None),
    ],
)
def test_refinement(dt, level, expected) -> None:
    assert refined(dt, level, 0.02) == expected


@pytest.mark.parametrize(
    "problem", [one for one in find_problems().values() if one.comparison], ids=lambda one: one.name
)
def test_problems_state_what_can_be_run(problem) -> None:
    stated = problem.comparison
    assert 0 < stated.restitution < 1 and stated.t_end > stated.dt_max > 0 and stated.target >= 0
    for K in stated.stiffness:
        assert problem(**stated.arguments, contact=law(K)).build().compliance is not None


def test_what_is_refused() -> None:
    one = Case("one", RIGID, EventDriven(), CONTROL)
    with pytest.raises(InputError, match="at least one Case"):
        compare(build, [], t_end=1e-3)
    with pytest.raises(InputError, match="one label"):
        compare(build, [one, one], t_end=1e-3)
    with pytest.raises(InputError, match="reference must be one of the cases, one"):
        compare(build, [one], t_end=1e-3, reference="two")
    with pytest.raises(InputError, match="windows"):
        compare(build, [one], t_end=1e-3, windows=0)
    with pytest.raises(InputError, match="contact must be"):
        Case("law", Flores(stiffness=1e10, restitution=0.5), CompliantDae(), CONTROL)
    with pytest.raises(InputError, match="CompliantDae needs compliant contact"):
        compare(build, [Case("mixed up", RIGID, CompliantDae(), CONTROL)], t_end=1e-3)
    with pytest.raises(InputError, match="sample"):
        compare(build, [Case("one", RIGID, EventDriven(), CONTROL, exact=3)], t_end=1e-3, target=0)


def test_a_sensitive_motion_is_compared_until_its_horizon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case without statistics used to be called left out, beside its own column of the table."""
    asked: list[tuple[Any, ...]] = []

    def refused(system, stepper, **options):
        asked.append((stepper, options["max_seconds"], options["members"], options["executor"]))
        raise InputError("not stationary")

    monkeypatch.setattr(beyond, "long_run", refused)
    for module in (beyond, workers):
        monkeypatch.setattr(module, "cores", lambda: 1)
    control = ErrorControl(1e-7, 1e-9, 1e-6, 1e-4)
    soft = Compliant(Flores(stiffness=6.61e10, restitution=0.9, calibrated=True))
    cases = [
        Case("rigid", Rigid(restitution=0.9, friction=0.0), EventDriven(), control),
        Case("soft", soft, CompliantDae(), control),
    ]
    found = compare(lambda contact: slider_crank_revolute(contact=contact), cases, t_end=0.1, seconds=30.0, repeats=1)
    assert [row[1:] for row in asked] == [(15.0, MEMBERS, 1)] * 2  # one after the other, in equal parts of the time
    said = found.remarks()
    assert f"The motion is sensitive: runs are compared until its horizon, {found.edges[-1]:.3g} s." in said
    assert said[-3:-1] == ["rigid has no statistics: not stationary", "soft has no statistics: not stationary"]
    assert not any("left out" in line for line in said) and 0.02 < found.edges[-1] < 0.05


def test_differences_of_statistics_are_told_in_words() -> None:
    def estimated(value: float, half: float) -> Statistics:
        rate = Statistic(RATE, "W", "", value, value - half, value + half, half, 0.0, 0.0, (0.0, 0.0), 9.0, "")
        return Statistics("", "chaotic", {RATE: rate}, "as is", 1.0, None, 8, 32, 3, (), 1.0, np.ones(1))

    known = {"rigid": estimated(40.0, 0.4), "soft": estimated(47.2, 1.6), "hard": estimated(40.4, 1.6)}
    said = remarks_of(known, {"stiff": "has no statistics: x"}, "rigid", 0.03, "rigid contact")
    # half widths of 4.2 and 4.1 % alone, of both together times t(0.9875, 6) / t(0.975, 6) = 1.213
    assert said[1:3] == [
        "soft loses 18 ± 5.1 % more energy than rigid contact.",
        "hard: no difference from rigid contact in the energy lost is seen, < 6 %.",
    ]
    assert said[-1] == "stiff has no statistics: x"
    assert lines_of(known, ["rigid", "stiff"]) == [("energy-rate [W], 95 %", ["40.00 ± 0.40", "-"])]
