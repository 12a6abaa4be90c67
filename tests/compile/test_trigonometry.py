"""Sine and cosine of compiled code, and the same uncompiled, against the C library."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit

from nonsmooth.compile.kernels import sine_cosine

#: above it the C library is asked
FAR = 1e6


@njit(error_model="numpy")
def compiled(angle):
    return sine_cosine(angle)


@pytest.mark.parametrize("reach", [1e-3, 1.0, 30.0, 1e3, 0.99 * FAR])
def test_both_are_exact_to_an_error_of_round_off(reach):
    """Half a unit in the last place of 1 is 1.1e-16, and that of the C library is as much."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(-reach, reach, 4000)
    found = np.array([compiled(angle) for angle in angles])
    assert np.all(np.abs(found[:, 0] - np.sin(angles)) <= 1.2e-16)
    assert np.all(np.abs(found[:, 1] - np.cos(angles)) <= 1.2e-16)
    # sums of products are formed in the same order in Python
    assert np.array_equal(found, [sine_cosine(float(angle)) for angle in angles])


def test_small_angles_keep_all_digits():
    """Of a sine near zero the relative error counts: x - x^3 / 6 is exact below 1e-4."""
    angles = 10.0 ** np.random.default_rng(1).uniform(-300, -4, 500)
    for angle in [*angles, *-angles, 5e-324, 0.0]:
        sine, cosine = compiled(angle)
        assert abs(sine - math.sin(angle)) <= 2.3e-16 * abs(angle)
        assert cosine == math.cos(angle)


@pytest.mark.parametrize("turns", range(-9, 10))
def test_multiples_of_a_right_angle_have_the_right_signs(turns):
    """Where quadrants change: a wrong one is an error of the order of 1, or of 1e-16 where that is all there is."""
    for angle in np.nextafter(turns * math.pi / 4, [-np.inf, turns * math.pi / 4, np.inf]):
        sine, cosine = compiled(angle)
        assert abs(sine - math.sin(angle)) <= 1.2e-16
        assert abs(cosine - math.cos(angle)) <= 1.2e-16


def test_huge_angles_go_to_the_c_library():
    assert compiled(2 * FAR) == (math.sin(2 * FAR), math.cos(2 * FAR))
    assert np.isnan(compiled(np.nan)).all() and np.isnan(compiled(np.inf)).all()
