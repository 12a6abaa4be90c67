"""What derivatives of motions are used for: probabilities of failure, fits to measured motion."""

import numpy as np
import pytest
from scipy.stats import norm

from nonsmooth import ErrorControl, EventDriven, Rigid, Toleranced, simulate
from nonsmooth.derivatives import MotionOutput
from nonsmooth.exceptions import InputError
from nonsmooth.studies import failure_probability
from nonsmooth_problems import bouncing_ball, slider_crank_revolute


def test_the_probability_that_a_ball_rebounds_too_hard():
    """The largest impulse is m (1 + e) sqrt(2 g h), linear in e: exact for a normal e, in three runs."""
    pytest.importorskip("openturns")
    ball = bouncing_ball(height=1.0, contact=Rigid(restitution=0.8, friction=0.0)).build()
    impulse = MotionOutput(ball, "peak-impulse:floor", ["floor.restitution"], t_end=0.6)
    limit = ball.parameters["ball.mass"] * 1.825 * np.sqrt(2 * 9.81)
    scatter = {"floor.restitution": norm(0.8, 0.01)}
    found = failure_probability(impulse, scatter, limit, method="form")
    assert found.probability == pytest.approx(norm.sf(2.5), rel=1e-8)
    assert found.evaluations == 2 and found.derivatives == "exact at 2 products"
    plain = failure_probability(lambda x: impulse(x), scatter, limit, method="form")
    assert plain.probability == pytest.approx(found.probability, rel=1e-5) and plain.evaluations > found.evaluations
    assert plain.derivatives == "differences, since the output has no derivatives of its own"


def test_the_probability_of_a_speed_of_the_slider_crank():
    """After the first impact in a loose pin: within the bounds of 95 % of 400 draws, three deviations of the share."""
    pytest.importorskip("openturns")
    crank = slider_crank_revolute(contact=Rigid(restitution=0.6, friction=0.1)).build()
    clearance, mass = crank.parameters["pin.clearance"], crank.parameters["rod.mass"]
    scatter = {"pin.clearance": norm(clearance, 0.02 * clearance), "rod.mass": Toleranced(mass, 0.03 * mass)}
    speed = MotionOutput(crank, "v:slider.x", list(scatter), t_end=3e-4)
    value, slopes, _ = speed.gradient([clearance, mass])
    limit = value + abs(slopes[0]) * 0.02 * clearance
    found = failure_probability(speed, scatter, limit, method="form")
    assert found.evaluations <= 20 and found.derivatives.startswith("exact at")

    def plain(x):
        control = ErrorControl(1e-9, dt_max=1e-5)
        each = [dict(zip(scatter, row, strict=True)) for row in x]
        runs = [simulate(crank, EventDriven(), t_end=3e-4, dt=control, parameters=one) for one in each]
        return np.array([run.v["slider.x"][-1] for run in runs])

    drawn = failure_probability(plain, scatter, limit, runs=400, confidence=0.95)
    assert drawn.low <= found.probability <= drawn.high


def test_a_limit_at_a_kink_is_refused():
    """Where the limit state has another slope on each side of the nearest point, steps go to and fro."""
    pytest.importorskip("openturns")

    class Kinked:
        def __call__(self, x):
            return x[:, 0] - 2.0 * np.abs(x[:, 1] - 0.3)

        def gradient(self, x):
            return x[0] - 2.0 * abs(x[1] - 0.3), np.array([1.0, -2.0 * np.sign(x[1] - 0.3)]), ""

    with pytest.raises(InputError, match="does not converge in 25 steps: .* a kink or a jump"):
        failure_probability(Kinked(), {"a": norm(), "b": norm()}, 2.0, method="form")
