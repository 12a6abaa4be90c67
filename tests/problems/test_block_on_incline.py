"""The exact block on an incline against the equations of motion."""

from __future__ import annotations

from math import atan, cos, sin

import numpy as np
import pytest

from nonsmooth import Rigid
from nonsmooth.exceptions import InputError
from nonsmooth_problems import block_on_incline
from nonsmooth_problems.block_on_incline import GRAVITY, HALF_HEIGHT, HALF_LENGTH, MASS, BlockOnIncline


@pytest.mark.parametrize(
    ("angle", "friction", "speed"),
    [(0.3, 0.4, 1.0), (0.3, 0.4, -1.0), (0.5, 0.4, 1.0), (0.5, 0.4, -1.0), (0.5, 0.4, 0.0), (0.3, 0.0, 1.0)],
)
def test_it_obeys_newton_and_coulomb(angle, friction, speed):
    exact = BlockOnIncline(angle, friction, speed)
    t = np.linspace(0.01, 0.6, 60)
    t = t[np.min(np.abs(t[:, None] - np.append(exact.events, 9.0)), axis=1) > 1e-3]
    h = 1e-5
    here, before, after = (exact.sample(t + shift) for shift in (0.0, -h, h))
    along = np.array([cos(angle), sin(angle)])
    rate = along[0] * here.v["block.x"] + along[1] * here.v["block.y"]
    change = sum(along[i] * (after.v[name] - before.v[name]) / (2 * h) for i, name in enumerate(("block.x", "block.y")))
    push = MASS * (change + GRAVITY * sin(angle))  # of friction, up the plane
    normal = here.lam_N["left"] + here.lam_N["right"]
    np.testing.assert_allclose(normal, MASS * GRAVITY * cos(angle), rtol=1e-14)
    # no turning: the moments of friction and of the normal forces about the centre cancel
    moment = HALF_LENGTH * (here.lam_N["right"] - here.lam_N["left"]) + HALF_HEIGHT * push
    np.testing.assert_allclose(moment, 0.0, atol=1e-8)
    sliding = np.abs(rate) > 1e-12
    np.testing.assert_allclose(push[sliding], (-friction * normal * np.sign(rate))[sliding], atol=1e-7)
    assert np.all(np.abs(push) <= friction * normal + 1e-7)
    # impulses are the integrals of the forces
    grid = np.linspace(0.0, 0.6, 60_001)
    forces = exact.sample(grid).lam_N["left"]
    total = np.sum((forces[1:] + forces[:-1]) / 2) * (grid[1] - grid[0])
    assert exact.sample(0.6).impulse["left"] == pytest.approx(total, abs=1e-4)


def test_it_stops_where_the_energy_is_used_up():
    exact = block_on_incline.exact()
    way = 0.5 / (GRAVITY * (sin(0.3) + 0.4 * cos(0.3)))
    rest = exact.sample(10.0)
    assert np.hypot(rest.q["block.x"] + 0.05 * sin(0.3), rest.q["block.y"] - 0.05 * cos(0.3)) == pytest.approx(way)
    assert (rest.v["block.x"], rest.v["block.y"]) == (0.0, 0.0)


def test_the_friction_angle_parts_stick_from_slide():
    limit = atan(0.4)
    assert BlockOnIncline(limit * (1 - 1e-12), 0.4, 0.0).sticks
    assert not BlockOnIncline(limit * (1 + 1e-12), 0.4, 0.0).sticks
    assert BlockOnIncline(limit * (1 + 1e-12), 0.4, -1.0).stop_time == np.inf


def test_bad_values_are_named():
    with pytest.raises(InputError, match=r"angle must lie in \[0, pi/2\) rad, got 2"):
        block_on_incline(angle=2.0)
    with pytest.raises(InputError, match="speed must be a finite number"):
        block_on_incline(speed=float("nan"))
    with pytest.raises(InputError, match="would tip the block over; it stands up to 2"):
        block_on_incline.exact(contact=Rigid(restitution=0.0, friction=3.0))
