"""Constraint residuals of joints in space as reported: angles in full, also at the second roots of the rows."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from loops import some
from scipy.spatial.transform import Rotation

from nonsmooth import (
    Cylindrical,
    Fixed,
    Ground,
    Model,
    ModelError,
    NoTwist,
    ParallelAxes,
    Planar,
    PrescribedMotion,
    PrescribedPose,
    Prismatic,
    Revolute,
    SpatialBody,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model import frames as primitive
from nonsmooth.model.joints import Joint
from nonsmooth.model.system import System

TURNED = (0.8, 0.0, 0.48, -0.36)  # a quaternion of norm 1


def on_ground(joint: Any) -> System:
    return Model([Ground(), SpatialBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)), joint]).build(assemble=True)


def placed_on_ground(joint: Any, quaternion: Any) -> tuple[Array, Array]:
    """g and the reported residual of a body at the origin with this orientation."""
    return placed(on_ground(joint), quaternion)


def placed(system: System, quaternion: Any) -> tuple[Array, Array]:
    q = np.concatenate([np.zeros(3), quaternion])
    p = system.parameter_values
    return system.numeric.g(0.0, q, p)[0], system.numeric.violation(0.0, q, p)[0]


def about(axis: Any, angle: float) -> Array:
    """The quaternion (w, x, y, z) of a rotation."""
    direction = np.asarray(axis) / np.linalg.norm(axis)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * direction])


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.01, 0.02, 1.0, 2.5, 3.1, np.pi - 1e-6, np.pi])
def test_the_tilt_of_axes_is_reported_in_full(angle: float) -> None:
    joint = Revolute("it", "ground", "body", axis_a=(0, 0, 2), axis_b=(0, 0, 1))
    g, closure = placed_on_ground(joint, about((1.0, 2.0, 0.0), angle))
    assert np.linalg.norm(g) == pytest.approx(np.sin(angle), abs=1e-15)
    assert np.linalg.norm(closure) == pytest.approx(angle, abs=1e-8)  # at pi the tilt is rounded to 1e-8
    if angle < 3.1:
        assert np.linalg.norm(closure) == pytest.approx(angle, rel=1e-14)


@pytest.mark.parametrize("angle", some([0.0, 1e-9, 0.019, 0.021, 1.0, 2.5, np.pi - 1e-9, np.pi], 3))
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -2, 0.5), (-1, -1, -1)])
def test_a_turn_is_reported_as_a_rotation_vector(axis: Any, angle: float) -> None:
    """The second roots of sin(phi) n are half turns about any axis."""
    system = on_ground(Fixed("it", "ground", "body", quaternion=TURNED))
    closed = [system.parameters[f"it.quaternion_{part}"] for part in "wxyz"]
    turned = (Rotation.from_quat(closed, scalar_first=True) * Rotation.from_rotvec(
        angle * np.asarray(axis) / np.linalg.norm(axis))).as_quat(scalar_first=True)  # fmt: skip
    g, closure = placed(system, turned)
    assert closed == pytest.approx(TURNED, rel=1e-14)
    expected = angle * np.asarray(axis) / np.linalg.norm(axis)
    assert g[3:] == pytest.approx(np.sin(angle) * np.asarray(axis) / np.linalg.norm(axis), abs=1e-15)
    if angle == np.pi and closure[3:] @ expected < 0:  # a half turn has two signs
        expected = -expected
    assert closure[3:] == pytest.approx(expected, abs=3e-15)


@pytest.mark.parametrize("joint", [
    Prismatic("it", "ground", "body", axis_a=(1, 0, 0)),
    ParallelAxes("it", "ground", "body", axis_a=(1, 0, 0), axis_b=(1, 0, 0)),
    NoTwist("it", "ground", "body", axis_a=(0, 1, 0)),
    Cylindrical("it", "ground", "body", axis_a=(1, 0, 0), axis_b=(1, 0, 0)),
    Planar("it", "ground", "body", normal_a=(1, 0, 0), normal_b=(1, 0, 0)),
    PrescribedPose("it", "ground", "body", position=(0, 0, 0)),
    PrescribedMotion("it", "ground", "body", coordinate="angle", motion=0.0, axis_a=(0, 1, 0)),
])  # fmt: skip
def test_a_half_turn_is_no_closed_joint(joint: Joint) -> None:
    g, closure = placed_on_ground(joint, about((0, 1, 0), np.pi))
    assert np.max(np.abs(g)) < 1e-15
    assert np.max(np.abs(closure)) == pytest.approx(np.pi, abs=1e-15)
    with pytest.raises(ModelError, match=r"is open by -?3\.14159 rad at the start"):
        body = SpatialBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), quaternion=(0.0, 0.0, 1.0, 0.0))
        Model([Ground(), body, joint]).build()


@pytest.mark.parametrize("tilt", [0.0, 0.5, 1.5, 2.5])
@pytest.mark.parametrize("psi", [0.0, 0.3, -2.0, 3.0])
def test_twist_is_that_of_a_rotation_about_the_axis_after_a_tilt(psi: float, tilt: float) -> None:
    axis, across = np.array([0.0, 0.6, 0.8]), np.array([1.0, 0.0, 0.0])
    E = Rotation.from_rotvec(tilt * across) * Rotation.from_rotvec(psi * axis)
    S, C = (float(value) for value in primitive.twist(ca.DM(E.as_matrix()), ca.DM(axis)))
    assert np.arctan2(S, C) == pytest.approx(psi, abs=1e-14)
    assert np.hypot(S, C) == pytest.approx(np.cos(tilt / 2) ** 2, abs=1e-15)
