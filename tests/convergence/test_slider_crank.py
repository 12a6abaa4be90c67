"""Constant steps against the truth of the slider-crank with translational clearance, by the envelope rule."""

import numpy as np
import pytest

from nonsmooth import GeneralizedAlpha, MoreauJean, simulate
from nonsmooth_problems import slider_crank_translational

#: crank angle at 0.05 s [rad]: Taylor series of order 32 in quadruple precision, all events located
CRANK_ANGLE = 4.793554299730095
LEVELS = 2e-4 / 2.0 ** np.arange(4)
JITTER = 2.0 ** np.linspace(0.0, 0.9, 8)


@pytest.mark.slow
@pytest.mark.parametrize(
    "stepper",
    [MoreauJean(), MoreauJean(projection="combined"), GeneralizedAlpha()],
    ids=["MoreauJean", "MoreauJean, combined", "GeneralizedAlpha"],
)
def test_constant_steps_tend_to_the_truth(stepper):
    """At least first order through two accumulations and two releases; the angle at one time may converge faster."""
    system = slider_crank_translational().build()

    def error(dt):
        return abs(simulate(system, stepper, t_end=0.05, dt=float(dt)).q["crank.angle"][-1] - CRANK_ANGLE)

    envelope = [max(error(level * j) for j in JITTER) for level in LEVELS]
    assert np.polyfit(np.log(LEVELS), np.log(envelope), 1)[0] >= 0.85, envelope
    assert envelope[-1] <= 3e-4
