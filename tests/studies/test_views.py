"""Means over windows: accelerations from changes of velocity, forces from impulses, with rigid impacts too."""

import numpy as np
import pytest

from nonsmooth import InputError, MoreauJean, simulate
from nonsmooth.model.registry import Measure
from nonsmooth.studies.published import Twin, window_means
from nonsmooth_problems import slider_crank_revolute


@pytest.fixture(scope="module")
def run():
    return simulate(slider_crank_revolute().build(), MoreauJean(), t_end=0.01, dt=1e-5)


@pytest.fixture(scope="module")
def twin():
    system = slider_crank_revolute(ideal=True).build()
    return Twin(simulate(system, MoreauJean(), t_end=0.01, dt=1e-5), dict(system.parameters))


def test_forces_add_up_to_the_impulse_of_the_run(run, twin):
    """Whole windows of the whole run: nothing is lost at their edges, impacts included; to round-off of the sums."""
    (name,) = run.gap.names
    forces = window_means(run, twin, ("F", name.split(".")[0]), "run", 1e-3)
    assert len(forces) == 10 and len(run.impacts) > 0
    assert np.sum(forces) * 1e-3 == pytest.approx(np.sum(run.P_N[name]) - run.P_N[name][0], rel=1e-10)


def test_accelerations_add_up_to_the_change_of_velocity(run, twin):
    """Of the run exactly; and the error is run less twin."""
    ours = window_means(run, twin, ("a", "slider.x"), "run", 1e-3)
    change = run.v["slider.x"][-1] - run.v["slider.x"][0]
    assert np.sum(ours) * 1e-3 == pytest.approx(change, rel=1e-6)
    theirs, error = (window_means(run, twin, ("a", "slider.x"), of, 1e-3) for of in ("ideal", "error"))
    np.testing.assert_allclose(error, ours - theirs, rtol=0, atol=1e-9 * np.max(np.abs(ours)))


def test_what_a_window_does_not_take(run, twin):
    with pytest.raises(InputError, match="A window takes"):
        window_means(run, twin, ("q", "slider.x"), "run", 1e-3)
    with pytest.raises(InputError, match="longer than the run"):
        window_means(run, twin, ("a", "slider.x"), "run", 1.0)
    with pytest.raises(InputError, match="takes windows of equal length"):
        Measure("mean", "N", ("F", "joint"), statistic="mean")
    assert np.all(np.isnan(window_means(run, twin, ("F", "no such joint"), "run", 1e-3)))
