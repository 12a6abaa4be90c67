"""Drivers in space: residuals over many turns, displacement and distance, poses along paths, and driving forces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nonsmooth import (
    Cylindrical,
    Gravity,
    Ground,
    Model,
    ModelError,
    PrescribedMotion,
    PrescribedPose,
    Prismatic,
    Revolute,
    SpatialBody,
    Table,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.system import System

AXIS = (0.0, 3.0, 4.0)
N = np.array(AXIS) / 5


def about(angle: float, axis: Array = N) -> Array:
    """The quaternion (w, x, y, z) of a rotation."""
    turned: Array = Rotation.from_rotvec(angle * axis).as_quat(scalar_first=True)
    return turned


def body(**start: Any) -> SpatialBody:
    start = {name: tuple(np.asarray(value).tolist()) for name, value in start.items()}
    return SpatialBody("body", mass=2.0, inertia=(0.3, 0.4, 0.5), **start)


def hinged(motion: Any, **start: Any) -> System:
    """A body on a hinge along AXIS, driven by a motor."""
    wheel = body(**start)
    hinge = Revolute("hinge", "ground", wheel, axis_a=AXIS, axis_b=AXIS)
    motor = PrescribedMotion("motor", "ground", wheel, coordinate="angle", motion=motion, axis_a=AXIS)
    return Model([Ground(), wheel, hinge, motor]).build()


# Angles


@pytest.mark.parametrize("residual", [0.0, 0.1, -1.5, np.pi - 1e-3, np.pi - 1e-9, -np.pi + 1e-3, np.pi / 2])
@pytest.mark.parametrize("t", [0.0, 0.7, 40.0])
def test_the_residual_of_an_angle_is_true_after_any_number_of_turns(residual: float, t: float) -> None:
    system = hinged(lambda t: 5.0 * t, angular_velocity=5.0 * N)
    q = np.concatenate([np.zeros(3), about(5.0 * t + residual)])
    p = system.parameter_values
    # round-off of angles of the order of 200
    assert system.numeric.violation(t, q, p)[0][-1] == pytest.approx(residual, abs=1e-13)
    assert system.numeric.g(t, q, p)[0][-1] == pytest.approx(np.sin(residual), abs=1e-13)


def test_the_angle_counts_from_the_given_orientation() -> None:
    """Axes of different directions in the two bodies: at angle zero the x axis of b lies along the y axis of a."""
    reference = Rotation.from_euler("z", 90, degrees=True)
    start = Rotation.from_rotvec((0.0, 0.4, 0.0)) * reference
    wheel = body(quaternion=start.as_quat(scalar_first=True))
    hinge = Revolute("hinge", "ground", wheel, axis_a=(0, 1, 0), axis_b=(1, 0, 0))
    motor = PrescribedMotion(
        "motor", "ground", wheel, coordinate="angle", motion=0.4, axis_a=(0, 1, 0),
        quaternion=tuple(reference.as_quat(scalar_first=True)),
    )  # fmt: skip
    system = Model([Ground(), wheel, hinge, motor]).build()
    assert system.constraint_names[-1] == "motor.angle"
    turning = np.array([0, 0, 0, 1.0, 0, 0])  # about the axis of b, which is x
    assert system.numeric.W_g(0.0, system.start.q, system.parameter_values)[0][:, -1] == pytest.approx(
        turning, abs=1e-13
    )


def test_a_motor_on_a_hinge_drives_by_a_torque_about_its_axis_alone() -> None:
    system = hinged(lambda t: 5.0 * t, angular_velocity=5.0 * N)
    for angle in (0.0, 1.0, 3.0, 20.0):
        q = np.concatenate([np.zeros(3), about(angle)])
        lam = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.5])
        reaction = system.numeric.reaction(angle / 5, q, system.parameter_values, lam)[0]
        assert reaction[6:] == pytest.approx(np.concatenate([np.zeros(3), 2.5 * N]), abs=1e-13)


def test_a_motor_holds_an_eccentric_weight() -> None:
    """A horizontal hinge along x, the centre of mass 0.4 m beside it: torque m g 0.4 about x."""
    arm = body(position=(0.0, 0.4, 0.0))
    x = (1.0, 0.0, 0.0)
    hinge = Revolute("hinge", "ground", arm, at_b=(0.0, -0.4, 0.0), axis_a=x, axis_b=x)
    motor = PrescribedMotion("motor", "ground", arm, coordinate="angle", motion=0.0, axis_a=x, at_b=(0.0, -0.4, 0.0))
    system = Model([Ground(), arm, Gravity(acceleration=(0.0, 0.0, -9.81)), hinge, motor]).build()
    n, p, start = system.numeric, system.parameter_values, system.start
    lam = np.linalg.solve(n.W_g(0.0, start.q, p)[0], -n.h(0.0, start.q, start.v, p)[0])
    found = dict(zip(system.reaction_names, n.reaction(0.0, start.q, p, lam)[0].tolist(), strict=True))
    loads = {name: value for name, value in found.items() if abs(value) > 1e-13}
    assert loads == pytest.approx({"hinge.z": 19.62, "motor.torque_x": 0.4 * 19.62}, abs=1e-12)


# Displacements, distances, coordinates


def test_a_displacement_is_measured_along_the_axis_of_the_first_body() -> None:
    """The first body, and with it the axis, is turned by a right angle about z."""
    table = SpatialBody(
        "table", mass=1.0, inertia=(1.0, 1.0, 1.0), quaternion=tuple(about(np.pi / 2, np.array([0, 0, 1])))
    )
    tool = body(position=(-0.3, 0.7, 0.2))
    drive = PrescribedMotion("drive", table, tool, coordinate="displacement", motion=0.5, axis_a=(0, 1, 0))
    system = Model([table, tool, drive]).build(assemble=True)
    assert system.constraint_names == ("drive.displacement",)
    q = np.concatenate([np.zeros(3), about(np.pi / 2, np.array([0, 0, 1])), (-0.3, 0.7, 0.2), about(0.3)])
    assert system.numeric.violation(0.0, q, system.parameter_values)[0] == pytest.approx(
        0.3 - system.parameters["drive.motion"], abs=1e-14
    )


def test_a_driven_slide_moves_at_the_rate_of_its_motion() -> None:
    slider = body()
    slide = Prismatic("slide", "ground", slider, axis_a=AXIS)
    drive = PrescribedMotion(
        "drive", "ground", slider, coordinate="displacement", axis_a=AXIS, motion=lambda t: 0.2 * t
    )
    system = Model([Ground(), slider, slide, drive]).build(assemble=True)
    assert system.start.v == pytest.approx(np.concatenate([0.2 * N, np.zeros(3)]), abs=1e-13)


def test_a_slide_and_a_motor_drive_a_sleeve_independently() -> None:
    """A cylindrical joint leaves displacement and angle, and two drivers take them."""
    sleeve = body()
    joint = Cylindrical("sleeve", "ground", sleeve, axis_a=AXIS, axis_b=AXIS)
    along = PrescribedMotion(
        "along", "ground", sleeve, coordinate="displacement", motion=lambda t: 0.2 * t, axis_a=AXIS
    )
    turn = PrescribedMotion("turn", "ground", sleeve, coordinate="angle", motion=lambda t: -3.0 * t, axis_a=AXIS)
    system = Model([Ground(), sleeve, joint, along, turn]).build(assemble=True)
    assert system.ng == system.nv
    assert system.start.v == pytest.approx(np.concatenate([0.2 * N, -3.0 * N]), abs=1e-13)


def test_a_driver_of_a_distance_pushes_along_its_line() -> None:
    """Between (0, 0, 1) on the ground and a point of a body at the distance 1.5 m, which grows by 0.1 m/s."""
    ends = {"at_a": (0.0, 0.0, 1.0), "at_b": (0.0, 0.5, 0.0)}
    line = np.array([1.0, 0.5, 1.0])
    start = body(position=np.array([0.0, 0.0, 1.0]) + line - (0.0, 0.5, 0.0))
    stroke = PrescribedMotion("stroke", "ground", start, coordinate="distance", motion=lambda t: 1.5 + 0.1 * t, **ends)
    system = Model([Ground(), start, stroke]).build(assemble=True)
    n, p, q = system.numeric, system.parameter_values, system.start.q
    assert n.g_t(0.0, q, p)[0] == pytest.approx(-0.1, abs=1e-14)
    reaction = n.reaction(0.0, q, p, np.array([6.0]))[0]
    line = q[:3] + (0.0, system.parameters["stroke.at_b_y"], -system.parameters["stroke.at_a_z"])
    assert line == pytest.approx([1.0, 0.5, 1.0], rel=1e-13)
    assert reaction == pytest.approx(np.concatenate([6.0 * line / np.linalg.norm(line), np.zeros(3)]), abs=1e-13)
    assert n.violation(5.0, q, p)[0] == pytest.approx(np.linalg.norm(line) - 2.0, abs=1e-14)


@pytest.mark.parametrize(("coordinate", "value"), [("x", 0.1), ("y", -0.2), ("z", 0.3)])
def test_coordinates_are_components_in_the_frame_of_the_first_body(coordinate: str, value: float) -> None:
    tool = body(position=(0.1, -0.2, 0.3))
    drive = PrescribedMotion("axis", "ground", tool, coordinate=coordinate, motion=value, at_a=(0.0, 0.0, 0.0))
    system = Model([Ground(), tool, drive]).build()
    row = system.numeric.W_g(0.0, system.start.q, system.parameter_values)[0][:, 0]
    assert row == pytest.approx(np.eye(6)["xyz".index(coordinate)], abs=1e-14)


def test_motions_may_be_tables() -> None:
    lift = PrescribedMotion("lift", "ground", "body", coordinate="z", motion=Table((-1.0, 1.0), (-0.4, 0.4)))
    system = Model([Ground(), body(), lift]).build(assemble=True)
    assert system.start.v[2] == pytest.approx(0.4, abs=1e-14)


# Poses


def spin(t: Any) -> tuple[Any, ...]:
    """A rotation by 2 t about AXIS; not of norm 1."""
    return (3 * ca.cos(t), *(3 * ca.sin(t) * float(x) for x in N))


def test_a_pose_gives_velocity_and_angular_velocity_of_its_path() -> None:
    """On a circle of radius 0.5 m with 3 rad/s, spinning with 2 rad/s; the path is that of a point of the body."""
    at_b = np.array([0.1, 0.0, 0.0])
    path = PrescribedPose(
        "path", "ground", "body", position=lambda t: (0.5 * ca.cos(3 * t), 0.5 * ca.sin(3 * t), 0.2),
        quaternion=spin, at_b=tuple(at_b),
    )  # fmt: skip
    system = Model([Ground(), body(position=(0.4, 0.0, 0.2)), path]).build(assemble=True)
    assert system.constraint_names == tuple(f"path.{x}" for x in ("x", "y", "z", "turn_x", "turn_y", "turn_z"))
    v = system.start.v
    assert v[3:] == pytest.approx(2.0 * N, abs=1e-13)
    assert v[:3] + np.cross(2.0 * N, at_b) == pytest.approx([0.0, 1.5, 0.0], abs=1e-13)
    for t in (0.3, 2.0, 11.0):
        turn = Rotation.from_rotvec(2 * t * N)
        place = np.array([0.5 * np.cos(3 * t), 0.5 * np.sin(3 * t), 0.2]) - turn.apply(at_b)
        q = np.concatenate([place, turn.as_quat(scalar_first=True)])
        assert system.numeric.violation(t, q, system.parameter_values)[0] == pytest.approx(0.0, abs=1e-13)


def test_a_pose_is_given_in_the_frame_of_the_first_body() -> None:
    turn = Rotation.from_euler("z", 90, degrees=True)
    quaternion = tuple(turn.as_quat(scalar_first=True))
    base = SpatialBody("base", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1.0, 0.0, 0.0), quaternion=quaternion)
    tool = body(position=(1.0, 0.4, 0.0), quaternion=quaternion)
    Model([base, tool, PrescribedPose("path", base, tool, position=(0.4, 0.0, 0.0))]).build()


def test_a_fixed_pose_carries_the_body() -> None:
    """The weight and its moment about the point of the path, in the ground frame."""
    held = body(position=(0.5, 0.0, 0.0))
    path = PrescribedPose("path", "ground", held, position=(0.0, 0.0, 0.0), at_b=(-0.5, 0.0, 0.0))
    system = Model([Ground(), held, Gravity(acceleration=(0.0, 0.0, -9.81)), path]).build()
    n, p, start = system.numeric, system.parameter_values, system.start
    lam = np.linalg.solve(n.W_g(0.0, start.q, p)[0], -n.h(0.0, start.q, start.v, p)[0])
    expected = [0.0, 0.0, 19.62, 0.0, -0.5 * 19.62, 0.0]
    assert n.reaction(0.0, start.q, p, lam)[0] == pytest.approx(expected, abs=1e-13)


# What drivers refuse


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: PrescribedMotion("it", "a", "b", coordinate="displacement", motion=0.0),
            '"it": a displacement needs its axis; give axis_a',
        ),
        (
            lambda: PrescribedMotion("it", "a", "b", coordinate="x", motion=0.0, axis_a=(1, 0, 0)),
            'axis_a is for "angle" and "displacement", not for "x"; leave it out',
        ),
        (
            lambda: PrescribedMotion("it", "a", "b", coordinate="angle", motion=0.0, quaternion=(1, 0, 0, 0)),
            "quaternion is for an angle about axis_a; leave it out",
        ),
        (
            lambda: PrescribedMotion("it", "a", "b", coordinate="distance", motion=-1.0),
            r"a distance must be positive, got motion -1.0 m",
        ),
        (
            lambda: PrescribedMotion("it", "a", "b", coordinate="angle", motion=0.0, axis_a=(0, 0, 0)),
            "axis_a must be a direction, a vector that is not zero",
        ),
        (
            lambda: PrescribedPose("it", "a", "b", position=(0, 0, 0), quaternion=(1, 1, 0, 0)),
            "quaternion must have norm 1",
        ),
        (lambda: PrescribedPose("it", "a", "b", position=None), r"position must be a tuple of components.*got None"),
    ],
)
def test_drivers_that_cannot_be_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize(
    ("driver", "message"),
    [
        (PrescribedPose("it", "ground", "body", position=lambda t: (t, t)), "position must return 3 component.* got 2"),
        (
            PrescribedPose("it", "ground", "body", position=(0, 0, 0), quaternion=lambda t: (t, t, t)),
            "quaternion must return 4 component.* got 3",
        ),
        (
            PrescribedPose("it", "ground", "body", position=lambda t: (ca.sqrt(t - 1), 0, 0)),
            r"position is \(nan, 0.0, 0.0\) at t = 0 s; it must be finite there",
        ),
        (
            PrescribedMotion("it", "ground", "body", coordinate="angle", motion=lambda t: t),
            "it is planar, but the model is spatial .* in space give axis_a, or points of three components",
        ),
        (
            PrescribedMotion("it", "ground", "body", coordinate="angle", motion=lambda t: 2 * t, axis_a=(0, 0, 1)),
            r'"it.angle" moves at -2 rad/s at the start',
        ),
    ],
)
def test_motions_that_cannot_start_are_refused(driver: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Model([Ground(), body(), driver]).build()
