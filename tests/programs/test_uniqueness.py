"""How many ways an answer of friction leaves open."""

import numpy as np
import pytest

from nonsmooth.programs import FrictionContact, undetermined_impulses


@pytest.mark.parametrize(("feet", "free"), [(1, 0), (2, 1), (3, 3)])
def test_feet_that_stick(feet, free):
    """A block of 3 coordinates on feet with two rows each: what exceeds them, of one foot nothing."""
    places = np.linspace(-1.0, 1.0, feet) if feet > 1 else np.zeros(1)
    W = np.array([row for x in places for row in ((0.0, 1.0, x), (1.0, 0.0, 0.5))]).T
    program = FrictionContact(W.T @ W, np.zeros(2 * feet), np.full(feet, 0.5), dimension=2)
    # all press and none is on the edge of its cone
    assert undetermined_impulses(program, np.tile([1.0, 0.1], feet)) == free


def test_a_contact_that_slides_has_one_way():
    """On the edge of the cone normal and tangential impulse change together, and they move the body."""
    floor = FrictionContact(np.eye(2), np.array([-1.0, 3.0]), np.array([0.5]), dimension=2)
    assert undetermined_impulses(floor, np.array([1.0, -0.5])) == 0
