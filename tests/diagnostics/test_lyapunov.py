"""Exponents of maps and of a bouncing ball against known ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from nonsmooth.diagnostics import largest_exponent
from nonsmooth.exceptions import InputError


def neighbour(x, y, size):
    direction = np.ones_like(x) if y is None else y - x
    return x + size * direction / np.linalg.norm(direction)


def distance(x, y):
    return float(np.linalg.norm(y - x))


def exponent(flow, start, **options):
    given = {"interval": 1.0, "intervals": 8000, "size": 1e-8, "transient": 100} | options
    return largest_exponent(flow, np.asarray(start, float), neighbour, distance, **given)


def test_chaotic_maps():
    logistic = exponent(lambda x: 4 * x * (1 - x), [0.3])
    assert abs(logistic.value - np.log(2)) < 3 * logistic.error < 0.02
    # Henon's map at a = 1.4, b = 0.3: 0.41922 in many sources
    henon = exponent(lambda x: np.array([1 - 1.4 * x[0] ** 2 + x[1], 0.3 * x[0]]), [0.1, 0.1], intervals=20000)
    assert abs(henon.value - 0.41922) < 3 * henon.error < 0.03
    assert henon.converging[-1] == pytest.approx(henon.value) and henon.largest < 1e-6


def test_regular_maps_have_none():
    stable = exponent(lambda x: np.array([3.2 * x[0] * (1 - x[0])]), [0.3], intervals=2000)
    # of period two: half the logarithm of the multiplier 4 + 2 r - r^2
    assert stable.value == pytest.approx(np.log(abs(4 + 2 * 3.2 - 3.2**2)) / 2, abs=1e-4)
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    circle = exponent(lambda x: turn @ x, [1.0, 0.0], intervals=2000)
    assert abs(circle.value) < 1e-7


GRAVITY, RESTITUTION, SWING = 9.81, 0.8, 6.0


def table(t):
    """Height and velocity of the table that swings ``a sin(t)``, with an acceleration up to six times gravity."""
    return SWING * GRAVITY * np.sin(t), SWING * GRAVITY * np.cos(t)


def bounce(x):
    """From one impact of the ball, (phase, relative velocity after it), to the next, and the map's Jacobian."""
    t0, u = x
    y0, w0 = table(t0)
    v = u + w0

    def gap(t):
        return y0 + v * (t - t0) - GRAVITY * (t - t0) ** 2 / 2 - table(t)[0]

    # before it has come down to the table's highest place it cannot strike, unless it is there already
    above = v**2 + 2 * GRAVITY * (y0 - SWING * GRAVITY)
    end = max(t0 + 0.01, t0 + (v + np.sqrt(above)) / GRAVITY if above > 0 else 0.0)
    step = 0.02
    while gap(end + step) > 0:
        end += step
    t1 = brentq(gap, end, end + step, xtol=1e-14, rtol=1e-15)
    w1 = table(t1)[1]
    closing = v - GRAVITY * (t1 - t0) - w1
    a0, a1 = -table(t0)[0], -table(t1)[0]
    # 0 = gap(t1; t0, u), differentiated
    by_t0 = w0 + a0 * (t1 - t0) - v + GRAVITY * (t1 - t0)
    t1_by = np.array([-by_t0 / closing, -(t1 - t0) / closing])
    u1_by = -RESTITUTION * (np.array([a0 + GRAVITY, 1.0]) - (GRAVITY + a1) * t1_by)
    return np.array([t1, -RESTITUTION * closing]), np.array([t1_by, u1_by])


def test_a_ball_on_a_swinging_table():
    """Two trajectories against the product of Jacobians, on a chaotic motion of high bounces."""
    start = np.array([0.3, 30.0])
    for _ in range(50):
        start, _ = bounce(start)
    x, w, total, count = start, np.array([1.0, 0.0]), 0.0, 800
    for _ in range(count):
        x, J = bounce(x)
        w = J @ w
        total += np.log(np.linalg.norm(w))
        w /= np.linalg.norm(w)
    found = exponent(lambda x: bounce(x)[0], start, intervals=count, transient=0, size=1e-8)
    assert found.value == pytest.approx(total / count, abs=1e-3)
    assert found.value > 1.5 and found.error < 0.1


def test_bad_numbers_are_named():
    with pytest.raises(InputError, match="intervals must be at least 32"):
        exponent(lambda x: x, [1.0], intervals=8)
    with pytest.raises(InputError, match="interval and size must be positive"):
        exponent(lambda x: x, [1.0], size=0.0)
    with pytest.raises(InputError, match="are 0 apart after interval 1; take a larger size"):
        exponent(lambda x: 0 * x, [1.0], intervals=40)
