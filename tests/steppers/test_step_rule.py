"""The rule for the longest step, a clearance divided by the speed of its joint: errors as a share of the clearance."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, GaussQP, Landing, simulate
from nonsmooth_problems import slider_crank_translational


@pytest.mark.parametrize("kind", ["loose pin", "loose guide"])
def test_error_at_steps_of_a_clearance_divided_by_the_speed(coasting_crank, kind):
    """A few per cent of the clearance, a tenth of that at a quarter of the step, wrong at four times the step. The
    reference has errors below 1e-5 of the clearance."""
    model, clearance, speed = {
        "loose pin": (coasting_crank, 4e-4, 60.0 * 0.04),
        "loose guide": (slider_crank_translational(), 1e-3, 11.1),  # with a slider of up to 11.1 m/s
    }[kind]
    system, t = model.build(), np.linspace(0.0, 0.03, 200)
    places = [name for name in system.q_names if name.endswith((".x", ".y"))]

    def positions(stepper, dt):
        at = simulate(system, stepper, t_end=0.03, dt=dt).at(t, order=4)
        return np.array([at.q[name] for name in places])

    exact = positions(EventDriven(), ErrorControl(1e-10))

    def error(share):
        steps = Landing(1e-6, share * clearance / speed)
        return float(np.max(np.abs(positions(GaussQP(), steps) - exact))) / clearance

    long, rule, short = error(4.0), error(1.0), error(0.25)
    assert long > 0.2 and 0.005 < rule < 0.04 and short < 0.1 * rule
