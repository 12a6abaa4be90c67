"""Order of the constant-step schemes through impacts, by the envelope rule.

With impacts the error of one step size scatters, since it depends on where the grid meets the impact. The envelope, the
largest error over several jittered step sizes per level, is what has an order.
"""

import numpy as np
import pytest

from nonsmooth import GaussQP, simulate
from nonsmooth_problems import slider_rod

C, A = 1e-5, 0.01
T = 0.004  # [s], past the last impact of every case
LEVELS = 2e-4 / 2.0 ** np.arange(5)
JITTER = 2.0 ** np.linspace(0.0, 0.9, 10)


def l1_error(case, dt):
    """Mean over time of the position error of the ends, in clearances."""
    trajectory = simulate(slider_rod(case=case).build(), GaussQP(), t_end=T, dt=dt)
    exact = slider_rod.exact(case=case).sample(trajectory.t)
    height = np.abs(trajectory.q["slider.y"] - exact.q["slider.y"])
    tilt = A * np.abs(trajectory.q["slider.angle"] - exact.q["slider.angle"])
    return np.trapezoid(height + tilt, trajectory.t) / T / C


@pytest.mark.slow
@pytest.mark.parametrize("case", [1, 2, 3])
def test_first_order_through_impacts(case):
    envelope = [max(l1_error(case, float(dt)) for dt in level * JITTER) for level in LEVELS]
    order = np.polyfit(np.log(LEVELS), np.log(envelope), 1)[0]
    assert 0.85 <= order <= 1.15, envelope
