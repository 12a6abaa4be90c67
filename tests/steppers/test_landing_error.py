"""Landing steps whose length follows from their local error."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, GaussMPCC, GaussQP, InputError, Landing, simulate
from nonsmooth.trust import difference, scale_of
from nonsmooth_problems import slider_crank_translational, socket_pendulum


def error_of(system, run, truth):
    values = system.parameter_values
    return difference(run, truth, system.gyration(values), scale_of(system, values, truth), accuracy=1e-2).position


@pytest.mark.slow
def test_they_are_better_than_as_many_of_one_length():
    """27 fast impacts and six accumulations in 0.2 s; the motion between is curved, and more so at high speed."""
    system = slider_crank_translational().build()
    truth = simulate(system, EventDriven("dop853"), t_end=0.2, dt=ErrorControl(1e-11))
    controlled = [simulate(system, GaussQP(), t_end=0.2, dt=Landing(1e-6, 1e-2, error)) for error in (1e-3, 1e-5)]
    errors = [error_of(system, run, truth) for run in controlled]
    # a local error 100 times smaller: steps 100^(1/3) shorter, of second order
    assert errors[1] < errors[0] / 10
    even = simulate(system, GaussQP(), t_end=0.2, dt=Landing(1e-6, 0.2 / (len(controlled[1].t) - 1)))
    assert len(even.t) >= len(controlled[1].t)
    assert errors[1] < error_of(system, even, truth) / 2


@pytest.mark.parametrize("stepper", [GaussQP(), GaussMPCC()], ids=["gauss-qp", "gauss-mpcc"])
def test_in_space_the_error_of_the_motion_falls_with_the_local_one(stepper):
    system = socket_pendulum().build()
    truth = simulate(system, EventDriven("dop853"), t_end=0.05, dt=ErrorControl(1e-11))
    runs = [simulate(system, stepper, t_end=0.05, dt=Landing(1e-7, 1e-2, error)) for error in (1e-2, 1e-4)]
    errors = [error_of(system, run, truth) for run in runs]
    assert errors[1] < errors[0] / 5  # 100^(2/3) for a motion without impacts
    assert np.diff(runs[0].t).max() > 3 * np.diff(runs[1].t).max()  # 100^(1/3)


def test_a_run_that_goes_on_takes_the_same_steps():
    system = slider_crank_translational().build()
    control = Landing(1e-6, 1e-2, 1e-3)
    whole = simulate(system, GaussQP(), t_end=0.01, dt=control)
    half = simulate(system, GaussQP(), t_end=whole.t[len(whole.t) // 2], dt=control)
    rest = simulate(system, GaussQP(), t_end=0.01, dt=control, state=half.end)
    # the step that ended the first half was cut there: equal but for the rounding of a step more
    assert rest.q.array[-1] == pytest.approx(whole.q.array[-1], rel=1e-5)


@pytest.mark.parametrize("error", [0.0, -1.0, "small", np.nan])
def test_an_error_is_positive(error):
    with pytest.raises(InputError, match="error must be a positive share of the clearance"):
        Landing(1e-6, 1e-3, error)
