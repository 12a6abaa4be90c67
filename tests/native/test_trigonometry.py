"""Sine and cosine of the compiled loops against the C library."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from nonsmooth.native.loops.trigonometry import FAR, place4, sine_cosine


@njit
def one(angle):
    return sine_cosine(angle)


@njit
def four(q, z):
    return place4(q, q + 32, q + 64, q + 96, z, z + 32, z + 64, z + 96)


@pytest.mark.parametrize("reach", [1e-3, 1.0, 30.0, 1e3, 0.99 * FAR])
def test_four_bodies_are_placed_as_one_is_to_an_error_of_round_off(reach):
    rng = np.random.default_rng(0)
    for _ in range(2000):
        q, z = np.zeros((4, 4)), np.zeros((4, 4))
        q[:, :3] = rng.uniform(-1, 1, (4, 3)) * (1.0, 1.0, reach)
        assert four(q.ctypes.data, z.ctypes.data) == 1
        placed = np.array([one(angle) for angle in q[:, 2]])
        assert np.array_equal(z[:, :2], q[:, :2])
        assert np.array_equal(z[:, 3:1:-1], placed)
        assert np.all(np.abs(placed[:, 0] - np.sin(q[:, 2])) <= 1.2e-16)
        assert np.all(np.abs(placed[:, 1] - np.cos(q[:, 2])) <= 1.2e-16)


def test_huge_angles_go_to_the_c_library():
    q, z = np.zeros((4, 4)), np.zeros((4, 4))
    q[2, 2] = 2 * FAR
    assert four(q.ctypes.data, z.ctypes.data) == 0
    assert one(2 * FAR) == (np.sin(2 * FAR), np.cos(2 * FAR))
    assert np.isnan(one(np.nan)).all() and np.isnan(one(np.inf)).all()
