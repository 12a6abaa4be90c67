"""Newton's cradle: its geometry, and the two answers to the impact of several balls."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth.exceptions import InputError
from nonsmooth_problems import newtons_cradle
from nonsmooth_problems.newtons_cradle import after_simultaneous_impacts, after_successive_impacts


@pytest.mark.parametrize("lifted", [1, 2, 4])
def test_balls_hang_in_touch(lifted):
    system = newtons_cradle(lifted=lifted).build()
    gaps = system.true_gaps(system.start.q[None, :], system.parameter_values)[0]
    np.testing.assert_allclose(np.delete(gaps, lifted - 1), 0.0, atol=1e-15)  # round-off of places of 0.1 m
    assert gaps[lifted - 1] > 1e-3


@pytest.mark.parametrize("balls", [2, 3, 5, 9])
@pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
def test_both_answers_keep_momentum_and_the_law(balls, restitution):
    for speeds in (after_simultaneous_impacts(balls, restitution), after_successive_impacts(balls, restitution)):
        assert speeds.sum() == pytest.approx(1.0, rel=1e-14)
        assert (speeds**2).sum() <= 1.0 + 1e-14
    together, apart = after_simultaneous_impacts(balls, restitution), after_successive_impacts(balls, restitution)
    assert together[1] - together[0] == pytest.approx(restitution, abs=1e-15)
    if restitution == 1.0:  # both keep the energy as well: it does not choose between them
        assert (together**2).sum() == pytest.approx(1.0, rel=1e-14)
        assert apart == pytest.approx([0.0] * (balls - 1) + [1.0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"balls": 1}, "balls must be an integer >= 2, got 1"),
        ({"lifted": 5}, "lifted must be an integer from 1 to balls - 1 = 4, got 5"),
        ({"angle": 0.0}, r"angle must lie in \(0, pi/2\] rad, got 0"),
        ({"spacing": -1e-3}, "spacing must be a number of metres >= 0"),
    ],
)
def test_bad_values_are_named(changes, message):
    with pytest.raises(InputError, match=message):
        newtons_cradle(**changes)
