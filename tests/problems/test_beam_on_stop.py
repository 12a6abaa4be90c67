"""The clamped beam: its start, its frequency, and what of its impacts converges in the number of modes."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import InputError, MoreauJean, simulate
from nonsmooth_problems import beam_on_stop
from nonsmooth_problems.beam_on_stop import VALUE

LENGTH, AREA = VALUE["length"], VALUE["thickness"] * VALUE["width"]
EI = VALUE["youngs"] * VALUE["width"] * VALUE["thickness"] ** 3 / 12


def test_it_starts_where_a_force_across_the_tip_holds_it():
    """The moment of the clamp right after is still 3 EI d / L^2, as the deflection is that of F = 3 EI d / L^3."""
    run = simulate(beam_on_stop().build(), MoreauJean(), t_end=2e-7, dt=1e-7)
    assert run.gap["stop"][0] == pytest.approx(3e-3, rel=1e-3)  # a rotation of .015 rad is no displacement to 1e-4
    assert abs(run.reaction["clamp.torque"][-1]) == pytest.approx(3 * EI * 3e-3 / LENGTH**2, rel=1e-2)


def test_free_it_swings_with_the_first_frequency_of_a_cantilever():
    """Omega = 3.51601527 sqrt(EI / rho A) / L^2; of a start by a force across the tip the first mode has 97 %."""
    system = beam_on_stop(gap=1.0).build()
    period = 2 * np.pi * LENGTH**2 / 3.51601527 * np.sqrt(VALUE["density"] * AREA / EI)
    run = simulate(system, MoreauJean(), t_end=period, dt=period / 400)
    height = run.gap["stop"] - 1.0
    assert height[-1] == pytest.approx(3e-3 * np.exp(-2 * np.pi * VALUE["damping"]), rel=0.03)
    assert np.min(height) == pytest.approx(-3e-3, rel=0.05)


def test_the_first_impulse_falls_with_the_number_of_modes_the_sum_does_not():
    """Impacts until the beam has left the stop, at 10 ms: the sum of 4 elements is that of 2 to 3 % (measured 2 %)."""
    first, total = [], []
    for elements in (2, 4):
        run = simulate(beam_on_stop(elements=elements).build(), MoreauJean(), t_end=0.01, dt=2e-5)
        impulses = run.P_N["stop"]
        first.append(impulses[impulses > 1e-6][0])
        total.append(np.sum(impulses))
    assert first[1] < 0.6 * first[0]
    assert total[1] == pytest.approx(total[0], rel=0.03)


def test_bad_values_are_named():
    with pytest.raises(InputError, match="1 to 100 elements, got 0"):
        beam_on_stop(elements=0)
    with pytest.raises(InputError, match=r"deflection \+ gap must be positive, got 0.001 m and -0.002 m"):
        beam_on_stop(deflection=1e-3, gap=-2e-3)
