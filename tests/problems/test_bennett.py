"""Bennett's linkage: it closes, moves with one degree of freedom, and keeps its energy."""

from __future__ import annotations

from math import asin, pi, sin

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nonsmooth import ErrorControl, EventDriven, Model, Revolute, simulate
from nonsmooth.exceptions import InputError
from nonsmooth_problems import bennett
from nonsmooth_problems.bennett import opposite, twist

ACCURATE = EventDriven(order="dop853")
FINE = ErrorControl(1e-12, 1e-12, 1e-9, 0.02)


def angles(run):
    """Of crank against ground, coupler against crank, rocker against coupler [rad], about the axes of the hinges."""
    beta = twist(0.3, 0.5, 0.6)
    frames = {"ground": Rotation.identity(len(run.t))}
    for bar in ("crank", "coupler", "rocker"):
        frames[bar] = Rotation.from_quat(np.column_stack([run.q[f"{bar}.q{k}"] for k in "wxyz"]), scalar_first=True)
    found = []
    for a, b, bent in (("ground", "crank", beta), ("crank", "coupler", 0.6), ("coupler", "rocker", beta)):
        # beyond its bar each axis is tilted by the bar's angle
        turned = (Rotation.from_euler("x", bent).inv() * frames[a].inv() * frames[b]).as_rotvec()
        assert np.max(np.abs(turned[:, :2])) < 1e-11  # about the hinge only
        found.append(np.unwrap(turned[:, 2]))
    return found


def test_the_closed_form_closes_the_linkage():
    """Assembly has nothing to move: the joints are closed to round-off by Bennett's condition."""
    for start in (0.3, 1.0, 2.5, -2.0):
        report = bennett(start=start).assemble()
        assert max(moved.displacement for moved in report.moved) < 1e-14
        assert max(moved.rotation for moved in report.moved) < 1e-13


def test_it_goes_round_and_keeps_its_energy():
    """Two turns under gravity; the energy of 1.3 J is kept to the tolerance, and the angles to the closed form."""
    system = bennett().build()
    run = simulate(system, ACCURATE, t_end=3.0, dt=FINE)
    found = system.energies(run.t, run.q.array, run.v.array, system.parameter_values)
    energy = found["kinetic"] + found["potential"]
    assert np.ptp(energy) < 1e-10 * energy[0]
    assert np.ptp(found["kinetic"]) > 0.5
    first, second, third = angles(run)
    assert first[-1] - first[0] > 4 * pi
    expected = np.array([opposite(theta, 0.6, twist(0.3, 0.5, 0.6)) for theta in first])
    np.testing.assert_allclose(np.sin(second - expected), 0.0, atol=1e-11)
    np.testing.assert_allclose(np.cos(second - expected), 1.0, atol=1e-11)
    np.testing.assert_allclose(np.sin(third + first), 0.0, atol=1e-11)
    assert np.max(np.abs(system.joint_violation(run.t, run.q.array, system.parameter_values))) < 1e-11
    # twenty rows of rank seventeen wherever it stands
    for q in run.q.array[:: len(run.t) // 10]:
        values = np.linalg.svd(system.numeric.W_g(0.0, q, system.parameter_values)[0], compute_uv=False)
        assert np.sum(values > 1e-6) == 17 and np.max(values[17:]) < 1e-12


def test_three_rows_are_redundant_and_named():
    system = bennett().build()
    assert (system.nv, system.ng, len(system.redundant)) == (18, 20, 3)
    assert all(one.name.startswith("joint4.") for one in system.redundant)


def test_without_bennetts_condition_it_is_a_structure():
    """An axis tilted by 0.05 rad against the frame of the rocker: hinges that are not Bennett's do not close."""
    elements = [one for one in bennett().elements if one.name != "joint4"]
    tilted = (0.0, -sin(0.65), np.cos(0.65))
    wrong = Revolute("joint4", "rocker", "ground", at_a=(0.15, 0.0, 0.0), axis_a=tilted, axis_b=(0.0, 0.0, 1.0))
    with pytest.raises(Exception, match='cannot be assembled from this start: "joint'):
        Model([*elements, wrong]).build(assemble=True)


def test_bad_values_are_named():
    with pytest.raises(InputError, match="length must be less than other_length = 0.5 m, got 0.6"):
        bennett(length=0.6)
    with pytest.raises(InputError, match=f"= {asin(0.6):.6g} rad, got 0.7"):
        bennett(angle=0.7)
    with pytest.raises(InputError, match="start must not be a whole turn"):
        bennett(start=2 * pi)
