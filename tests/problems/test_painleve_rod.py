"""Painlevé's rod: the closed forms of its start against the Delassus matrix of the model."""

from __future__ import annotations

from math import atan, pi

import numpy as np
import pytest

from nonsmooth.exceptions import InputError
from nonsmooth_problems import painleve_rod
from nonsmooth_problems.painleve_rod import GRAVITY, MASS, PainleveRod


def delassus(angle):
    """W' M^-1 W of (normal, tangential) at the start."""
    system = painleve_rod(angle=angle).build()
    start, p = system.start, system.parameter_values
    _, W_N, W_T, _, _ = system.numeric.configuration(start.t, start.q, p)
    W = np.hstack([W_N, W_T])
    return W.T @ np.linalg.solve(system.numeric.M(start.q, p)[0], W), W.T @ start.v


@pytest.mark.parametrize("angle", [0.4, pi / 4, atan(2.0), 1.4])
def test_closed_forms(angle):
    A, rates = delassus(angle)
    assert rates == pytest.approx([0.0, -3.0])
    exact = PainleveRod(angle, 0.8, 3.0)
    assert exact.mobility == pytest.approx(MASS * (A[0, 0] + 0.8 * A[0, 1]), rel=1e-13)
    assert exact.force * (A[0, 0] + 0.8 * A[0, 1]) == pytest.approx(GRAVITY, rel=1e-13)
    assert exact.limit == pytest.approx(-A[0, 0] / A[0, 1], rel=1e-13)
    # the jam stops slip and leaves the gap's rate at zero, up to round-off of terms that cancel
    terms = np.abs(A) @ np.abs(exact.jam)
    assert np.abs(A @ exact.jam + rates) == pytest.approx([0.0, 0.0], abs=1e-14 * terms.max())
    assert exact.jam[1] / exact.jam[0] == pytest.approx(exact.limit, rel=1e-13)


def test_the_least_limit_is_four_thirds():
    angles = np.linspace(0.05, 1.5, 2001)
    limits = [PainleveRod(angle, 0.0, 1.0).limit for angle in angles]
    assert min(limits) == pytest.approx(4 / 3, rel=1e-6)
    assert angles[np.argmin(limits)] == pytest.approx(atan(2.0), abs=1e-3)
    assert PainleveRod(pi / 4, 0.0, 1.0).limit == pytest.approx(5 / 3, rel=1e-14)


def test_bad_values_are_named():
    with pytest.raises(InputError, match=r"angle must lie in \(0, pi/2\) rad, got 0"):
        painleve_rod(angle=0.0)
    with pytest.raises(InputError, match="speed must be a positive number"):
        painleve_rod(speed=-1.0)
    with pytest.raises(InputError, match="No contact force exists at the tip for friction 1.5, above 1.33"):
        _ = PainleveRod(atan(2.0), 1.5, 1.0).force
