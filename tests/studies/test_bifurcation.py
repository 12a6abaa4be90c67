"""Bifurcation diagrams: of a map whose cascade is known, and of the slider-crank, whose motion has a known scaling."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from nonsmooth import MoreauJean, simulate
from nonsmooth.cli.sweep import _motions
from nonsmooth.diagnostics import poincare
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.studies import bifurcation, periodic_section
from nonsmooth.studies.files import EveryRunFailed
from nonsmooth_problems import slider_crank_revolute

LABELS = {"parameter": "r", "unit": "-", "quantity": "x", "quantity_unit": "-"}


def logistic_map():
    """The map as a closure, which goes to workers by value: they cannot import a test."""

    def logistic(r):
        x = [0.3]
        for _ in range(2000):
            x.append(r * x[-1] * (1 - x[-1]))
        return np.array(x[-64:])

    return logistic


def test_points_of_a_chaotic_motion_are_samples_of_its_attractor():
    """The command used to leave open whether points of a motion that round-off decides mean anything."""
    chaotic, periodic = (bifurcation(logistic_map(), [r], **LABELS, executor=1) for r in (3.7, 3.2))
    assert any(
        "shown by its attractor, of which points are samples" in str(line) for line in _motions(chaotic, "", 1e-6)
    )
    assert not any("attractor" in str(line) for line in _motions(periodic, "", 1e-6))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.slow
def test_the_cascade_of_the_logistic_map(workers, tmp_path):
    # period doubling at 3, 1 + sqrt(6) = 3.449, 3.544, 3.564; a window of period three from 1 + sqrt(8) = 3.828
    shares = []
    values = [2.9, 3.2, 3.5, 3.555, 3.7, 3.84]
    found = bifurcation(logistic_map(), values, **LABELS, executor=workers, progress=shares.append)
    assert found.periods(1e-6).tolist() == [1, 2, 4, 8, 0, 3]
    assert shares == [pytest.approx((i + 1) / 6) for i in range(6)]
    np.testing.assert_allclose(found.points[0], 1 - 1 / 2.9, atol=1e-12)
    found.save(tmp_path / "found.nc")
    with xarray.load_dataset(tmp_path / "found.nc", engine="h5netcdf") as data:
        np.testing.assert_array_equal(data["points"].values, np.array(found.points))
        assert data["value"].attrs == {"units": "-", "long_name": "r"}


def test_a_value_that_fails_leaves_the_others():
    def section(value):
        if value == 2.0:
            raise SolverFailed("no answer")
        return np.full(int(value), value)

    found = bifurcation(section, [1.0, 2.0, 3.0], **LABELS, executor=1)
    assert [len(points) for points in found.points] == [1, 0, 3]
    assert found.failures == {2.0: "no answer"} and "1 failed" in repr(found)
    table = found.to_dataset()
    np.testing.assert_array_equal(np.isnan(table["points"].values).sum(axis=1), [2, 3, 0])
    assert table["failure"].values.tolist() == ["", "no answer", ""]
    assert found.periods(1e-9, most=2).tolist() == [0, 0, 1]
    with pytest.warns(EveryRunFailed, match="all 1 runs failed, the first: no answer"):
        bifurcation(section, [2.0], **LABELS, executor=1)


def section(speed, gravity, transient=2, points=8):
    system = slider_crank_revolute(crank_speed=speed, gravity=gravity).build()
    stepper = MoreauJean(projection="combined")
    return periodic_section(
        system, stepper, period=2 * np.pi / speed, steps=500, transient=transient, points=points
    )  # fmt: skip


def test_the_section_takes_one_state_per_turn():
    found = section(10.0, 9.81)
    assert len(found) == 8
    np.testing.assert_allclose(found.t, 2 * np.pi / 10.0 * np.arange(3, 11), rtol=1e-12)
    np.testing.assert_allclose(found.q["crank.angle"], 2 * np.pi * np.arange(3, 11), rtol=1e-12)
    # the same as of a run with every row
    system = slider_crank_revolute(crank_speed=10.0, gravity=9.81).build()
    dt = 2 * np.pi / 10.0 / 500
    run = simulate(system, MoreauJean(projection="combined"), t_end=5 * 500 * dt, dt=dt)
    crossed = poincare(run, "crank.angle", 1e-9, period=2 * np.pi, after=2.5 * 500 * dt)
    np.testing.assert_allclose(crossed.q["slider.x"][:2], found.q["slider.x"][:2], atol=1e-7)


def test_without_weight_nothing_depends_on_the_speed_but_the_pace():
    # rigid contact has no scale of force or time: at w times the speed the same path is run w times as fast
    slow, fast = section(20.0, 0.0, transient=0, points=2), section(500.0, 0.0, transient=0, points=2)
    np.testing.assert_allclose(slow.v["slider.x"] / 20.0, fast.v["slider.x"] / 500.0, rtol=1e-6)
    np.testing.assert_allclose(slow.q["slider.x"], fast.q["slider.x"], rtol=1e-8)


def test_bad_arguments_are_named():
    for bad in ([], [np.nan], [[1.0]]):
        with pytest.raises(InputError, match="values must be a list of finite numbers"):
            bifurcation(logistic_map(), bad, **LABELS)
    with pytest.raises(InputError, match="section must return a list of numbers, got an array of shape"):
        bifurcation(lambda value: np.eye(2), [1.0], **LABELS, executor=1)
    with pytest.raises(InputError, match="steps must be a whole number, at least 1"):
        periodic_section(slider_crank_revolute().build(), MoreauJean(), period=1.0, steps=0, transient=1, points=1)
