"""The exact block on a belt against an integration with events."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import Rigid
from nonsmooth.exceptions import InputError
from nonsmooth_problems import stick_slip_oscillator
from nonsmooth_problems.stick_slip_oscillator import GRAVITY, MASS, STIFFNESS, StickSlip


def integrated(belt_speed, stretch, friction, t_end):
    """Phases by DOPRI8: sliding until the belt's speed is met from below or above, riding until the spring wins."""
    force, t, y, found = friction * MASS * GRAVITY, 0.0, np.array([stretch, belt_speed]), []
    while t < t_end:
        if STIFFNESS * abs(y[0]) <= force * (1 + 1e-9):
            found.append((t, 0))
            if belt_speed == 0.0:
                return found, lambda at, rest=y[0]: (rest, 0.0)
            t += (force / STIFFNESS - y[0]) / belt_speed
            y = np.array([force / STIFFNESS, belt_speed])
            found.append((t, 1))
            slip = 1
        else:
            slip = 1 if y[0] > 0 else -1
            found.append((t, slip))

        def rates(_, y, slip=slip):
            return [y[1], (slip * force - STIFFNESS * y[0]) / MASS]

        def met(_, y, slip=slip):
            return slip * (y[1] - belt_speed)

        met.terminal, met.direction = True, 1
        if len(found) > 1 and found[-2][1] == 0:  # the last swing only touches the belt's speed
            met.terminal = False
        run = solve_ivp(rates, (t, t_end), y, "DOP853", rtol=1e-12, atol=1e-14, events=met, dense_output=True)
        t, y = run.t[-1], run.y[:, -1]
        if not met.terminal:
            return found, run.sol
    return found, run.sol


@pytest.mark.parametrize(
    ("belt_speed", "stretch", "friction"),
    [(0.1, 0.0, 0.3), (0.1, 0.2, 0.3), (0.1, -0.2, 0.3), (0.0, 0.2, 0.3), (0.05, 0.3, 0.2), (0.0, -0.25, 0.1)],
)
def test_against_an_integration_with_events(belt_speed, stretch, friction):
    exact = StickSlip(belt_speed, stretch, friction)
    found, motion = integrated(belt_speed, stretch, friction, 4.5)
    assert [(phase.start, phase.slip) for phase in exact.phases] == [(pytest.approx(t, abs=1e-9), s) for t, s in found]
    sample = exact.sample(4.4)
    assert (sample.q["block.x"], sample.v["block.x"]) == (
        pytest.approx(motion(4.4)[0], abs=1e-9),
        pytest.approx(motion(4.4)[1], abs=1e-8),
    )


def test_a_swing_loses_twice_the_reach():
    exact = stick_slip_oscillator.exact(belt_speed=0.0, stretch=0.2)
    ends = [phase.x for phase in exact.phases]
    assert np.diff(np.abs(ends)) == pytest.approx([-2 * exact.reach] * (len(ends) - 1), rel=1e-14)
    assert np.diff(exact.events) == pytest.approx([exact.period / 2] * (len(ends) - 2), rel=1e-14)
    assert abs(exact.sample(100.0).q["block.x"]) <= exact.reach


def test_with_equal_coefficients_it_sticks_once_and_then_touches_the_belts_speed():
    exact = stick_slip_oscillator.exact()
    assert [phase.slip for phase in exact.phases] == [0, 1]
    assert exact.events == pytest.approx([exact.reach / 0.1])
    t = exact.events[0] + np.linspace(0.0, 3 * exact.period, 3001)
    rate = exact.sample(t).v["block.x"]
    assert np.max(rate) <= 0.1 * (1 + 1e-14)
    np.testing.assert_allclose(rate[[0, 1000, 2000, 3000]], 0.1, rtol=1e-13)


def test_bad_values_are_named():
    with pytest.raises(InputError, match="belt_speed must be a number >= 0"):
        stick_slip_oscillator(belt_speed=-0.1)
    with pytest.raises(InputError, match="stretch must be a finite number"):
        stick_slip_oscillator(stretch=float("inf"))
    with pytest.raises(InputError, match="friction must be positive and at most 2"):
        stick_slip_oscillator.exact(contact=Rigid(restitution=0.0, friction=0.0))
