"""The exact motion of the motor and its load against event-driven steps."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, Rigid, simulate
from nonsmooth.exceptions import InputError
from nonsmooth_problems import motor_backlash_load


@pytest.mark.parametrize("e", [0.0, 0.5, 0.8])
def test_event_driven_steps_have_the_exact_motion(e):
    """Until the third impact, and once the flanks drive."""
    contact = Rigid(restitution=e, friction=0.0)
    exact = motor_backlash_load.exact(contact=contact)
    run = simulate(motor_backlash_load(contact=contact).build(), EventDriven(), t_end=0.1, dt=ErrorControl(1e-9, 1e-11))
    whole = exact.sample(run.t)
    for name in ("motor.angle", "load.angle"):
        near = (run.t < exact.events[min(2, len(exact.events) - 1)]) | (run.t > exact.events[-1] + 1e-3)
        np.testing.assert_allclose(run.q[name][near], whole.q[name][near], rtol=0, atol=1e-8)
        np.testing.assert_allclose(run.v[name][-1], whole.v[name][-1], rtol=0, atol=1e-6)
    assert run.P_N["gears.high"].sum() == pytest.approx(whole.impulse["gears.high"][-1], rel=1e-9)
    assert run.lam_N["gears.high"][-1] == pytest.approx(25.0, rel=1e-9)


def test_momentum_and_energy_of_the_exact_motion():
    """The torque has given the whole momentum; of the energy of the first approach e^2 is left after the impact."""
    exact = motor_backlash_load.exact()
    t = np.linspace(0.0, 0.1, 101)
    found = exact.sample(t)
    np.testing.assert_allclose(
        1e-3 * found.v["motor.angle"] / 0.01 - 0.1 * found.v["load.angle"] / 0.1, 50.0 * t, rtol=0, atol=1e-12
    )
    before, after = (exact.sample(exact.events[0], side) for side in ("left", "right"))
    rates = [0.01 * one.v["motor.angle"] + 0.1 * one.v["load.angle"] for one in (before, after)]
    assert rates[1] == pytest.approx(-0.5 * rates[0], rel=1e-12)
    assert exact.events[-1] == pytest.approx(3.0 * exact.events[0], rel=1e-15)


def test_bad_values_are_named():
    for name in ("torque", "backlash"):
        with pytest.raises(InputError, match=f"{name} must be a positive number"):
            motor_backlash_load(**{name: 0.0})
        with pytest.raises(InputError, match=f"{name} must be a positive number"):
            motor_backlash_load.exact(**{name: -1.0})
