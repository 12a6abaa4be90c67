"""Constant steps against the truth of the slider-crank with translational clearance, by the envelope rule.

The error of a constant step has two parts. An impact is seen up to dt late, so that across the gap, at the slider's
height, the error is of first order. Between impacts MoreauJean and GeneralizedAlpha are of second order; GaussQP,
which is implicit Euler, is of first. A late impact does little to the crank, whose angle follows the smooth part, with
slopes near 2, until that falls below the impacts' part at a dt of about 5e-5 s. So the order is measured at the height.
"""

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, GaussQP, GeneralizedAlpha, MoreauJean, Rigid, simulate
from nonsmooth_problems import slider_crank_translational

#: [s]; impacts from 2.7 ms on accumulate at 9.1 ms, then the slider slides along the wall until 15.0 ms
T = 0.012
LEVELS = 2e-4 / 2.0 ** np.arange(5)
JITTER = 2.0 ** np.linspace(0.0, 0.9, 6)
SCHEMES = {
    "MoreauJean": MoreauJean(),
    "MoreauJean, combined": MoreauJean(projection="combined"),
    "GeneralizedAlpha": GeneralizedAlpha(),
    "GaussQP": GaussQP(),
}
NAMES = ("slider.y", "crank.angle")


def true_positions(system):
    """Height of the slider [m] and crank angle [rad] as a function of time, (n,) -> (n, 2).

    Cubics between the rows of `EventDriven`, which tests/problems compares with quadruple precision; their error is
    below 1e-9.
    """
    truth = simulate(system, EventDriven(order="dop853"), t_end=T, dt=ErrorControl(1e-11, 1e-13, 1e-6, 1e-4))
    q, after, before = (np.column_stack([c[n] for n in NAMES]) for c in (truth.q, truth.v, truth.left.v))

    def at(t):
        i = np.clip(np.searchsorted(truth.t, t, side="right") - 1, 0, truth.t.size - 2)
        dt = (truth.t[i + 1] - truth.t[i])[:, None]
        s = (t - truth.t[i])[:, None] / dt
        rise, start, end = q[i + 1] - q[i], after[i] * dt, before[i + 1] * dt
        return q[i] + s * (start + s * (3 * rise - 2 * start - end + s * (start + end - 2 * rise)))

    return at


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_first_order_through_impacts_and_sliding(scheme):
    """Mean errors over time. With a constant step GaussQP is plastic, and so is then the truth."""
    contact = Rigid(restitution=0.0 if scheme == "GaussQP" else 0.4, friction=0.01)
    system = slider_crank_translational(contact=contact).build()
    truth = true_positions(system)

    def errors(dt):
        run = simulate(system, SCHEMES[scheme], t_end=T, dt=float(dt))
        error = np.abs(np.column_stack([run.q[name] for name in NAMES]) - truth(run.t))
        return np.trapezoid(error, run.t, axis=0) / T

    envelope = np.array([np.max([errors(level * j) for j in JITTER], axis=0) for level in LEVELS])
    height, angle = np.polyfit(np.log(LEVELS), np.log(envelope), 1)[0]
    assert 0.85 <= height <= 1.15, envelope
    assert angle >= 0.85, envelope
    assert envelope[-1, 0] <= 1e-5  # one hundredth of the clearance


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_without_clearance_the_order_is_that_of_the_smooth_scheme(scheme):
    ideal = slider_crank_translational(clearance=False).build()
    truth = simulate(ideal, EventDriven(order="dop853"), t_end=T, dt=ErrorControl(1e-11, 1e-13, 1e-6, 5e-3))
    errors = []
    for dt in LEVELS[1:4]:
        run = simulate(ideal, SCHEMES[scheme], t_end=T, dt=float(dt))
        errors.append(abs(run.q["crank.angle"][-1] - truth.q["crank.angle"][-1]))
    order = np.polyfit(np.log(LEVELS[1:4]), np.log(errors), 1)[0]
    assert order == pytest.approx(1.0 if scheme == "GaussQP" else 2.0, abs=0.1), errors
