"""Landing on the slider-crank with translational clearance: restitution, friction, line contacts, accumulations."""

import functools

import numpy as np
import pytest

from nonsmooth import GaussMPCC, GaussQP, Landing, simulate
from nonsmooth_problems import slider_crank_translational

#: crank angle at 0.2 s [rad]: Taylor series of order 32 in quadruple precision, corners that land together strike once
CRANK_ANGLE = 18.083678652340582


@functools.cache
def error(stepper, dt_max):
    """Of the crank's angle, and the run, which both tests need."""
    trajectory = simulate(slider_crank_translational().build(), stepper, t_end=0.2, dt=Landing(1e-6, dt_max))
    assert trajectory.certificate.gap_violation <= 1e-12
    assert trajectory.certificate.joint_violation <= 1e-12
    assert trajectory.certificate.motion_residual <= 1e-9
    return abs(trajectory.q["crank.angle"][-1] - CRANK_ANGLE), trajectory


#: the second in all cases only, since IPOPT takes half a minute
STEPPERS = [pytest.param(GaussQP(), id="QP"), pytest.param(GaussMPCC(), id="MPCC")]


@pytest.mark.slow
def test_second_order_through_impacts_and_sliding():
    errors = [error(GaussQP(), dt_max)[0] for dt_max in (4e-4, 2e-4, 1e-4)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all((orders >= 1.8) & (orders <= 2.2)), errors


@pytest.mark.slow
@pytest.mark.parametrize("stepper", STEPPERS)
def test_accuracy_for_its_steps(stepper):
    angle, trajectory = error(stepper, 1e-4)
    assert angle <= 2e-3
    assert trajectory.counts["steps"] <= 2200
    answered_by_others(trajectory)
    assert "gap < dt_min times approach velocity" in trajectory.manifest["rules"]["simultaneous impacts"]


@pytest.mark.slow
def test_the_mpcc_has_the_errors_of_the_qp():
    """Both solve the same discrete equations, so that the MPCC is of second order as well.

    200 impacts amplify residuals of 1e-9 to some 1e-4 of the error.
    """
    (ours, qp), (theirs, mpcc) = (error(stepper, 4e-4) for stepper in (GaussQP(), GaussMPCC()))
    assert theirs == pytest.approx(ours, rel=1e-3)
    assert len(mpcc.impacts) == len(qp.impacts) > 100
    answered_by_others(mpcc)


def answered_by_others(trajectory):
    """IPOPT is refused on a handful of programs; the active set or a root finder answers them."""
    assert trajectory.counts["fallbacks"] <= 5e-3 * trajectory.counts["solves"]
