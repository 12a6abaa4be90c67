"""Joints and drivers: misfits, false roots, and reactions against statics done by hand."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np
import pytest

from nonsmooth import Fixed, Gravity, Ground, Model, ModelError, PlanarBody, PrescribedMotion, Prismatic, Revolute
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.system import System

G = 9.81


def one_body(*joints: Any, mass: float = 2.0, **start: Any) -> System:
    """A body of 2 kg on the ground, under gravity."""
    body = PlanarBody("body", mass=mass, inertia=0.3, **start)
    return Model([Ground(), body, Gravity(acceleration=(0.0, -G)), *joints]).build()


def static_reactions(system: System) -> dict[str, float]:
    """Reactions that keep the start at rest: W_g lambda = -h."""
    n, p, start = system.numeric, system.parameter_values, system.start
    lam, *_ = np.linalg.lstsq(n.W_g(0.0, start.q, p)[0], -n.h(0.0, start.q, start.v, p)[0])
    return dict(zip(system.reaction_names, n.reaction(0.0, start.q, p, lam)[0].tolist(), strict=True))


# Misfits


def wheel(motion: Any, angle: float = 0.0, speed: float = 0.0) -> Model:
    """A wheel on an axle, driven by a motor."""
    body = PlanarBody("wheel", mass=1.0, inertia=0.1, angle=angle, angular_velocity=speed)
    motor = PrescribedMotion("motor", "ground", body, coordinate="angle", motion=motion)
    return Model([Ground(), body, Revolute("axle", "ground", body), motor])


@pytest.mark.parametrize("misfit", [0.0, 0.1, -1.5, np.pi - 1e-3, np.pi - 1e-9, -np.pi + 1e-3, np.pi / 2])
@pytest.mark.parametrize("turns", [0, 3, -20])
def test_the_reported_misfit_of_an_angle_is_true_also_near_the_false_root(misfit: float, turns: int) -> None:
    system = wheel(lambda t: 5.0 * t, speed=5.0).build()
    t = 0.7
    q = np.array([0.0, 0.0, 5.0 * t + misfit + turns * 2 * np.pi])
    row = system.constraint_names.index("motor.angle")
    closure = system.joint_violation(t, q, system.parameter_values)[0, row]
    assert closure == pytest.approx(misfit, abs=2e-14)  # round-off of angles of the order of 100
    assert system.numeric.g(t, q, system.parameter_values)[0][row] == pytest.approx(np.sin(misfit), abs=2e-14)


@pytest.mark.parametrize("joint", [Prismatic, Fixed])
def test_prismatic_and_fixed_joints_report_a_half_turn(joint: type) -> None:
    system = one_body(joint("it", "ground", "body", angle=0.2), angle=0.2)
    assert system.constraint_names[-1] == "it.angle"
    turned = np.array([0.0, 0.0, 0.2 + np.pi])
    assert abs(system.numeric.g(0.0, turned, system.parameter_values)[0][-1]) < 1e-15  # the false root of the sine
    assert abs(system.numeric.violation(0.0, turned, system.parameter_values)[0][-1]) == pytest.approx(np.pi, abs=1e-14)


def test_a_start_at_the_false_root_of_a_driver_is_refused() -> None:
    with pytest.raises(
        ModelError,
        match=r'The constraint "motor.angle" is open by -?3.14159 rad .*, where its driver prescribes 3.14159 rad;',
    ):
        wheel(lambda t: 5.0 * t + ca.pi, speed=5.0).build()


def test_whole_turns_are_no_misfit() -> None:
    assert wheel(lambda t: 5.0 * t, angle=6 * np.pi, speed=5.0).build().start.q[2] == 6 * np.pi


@pytest.mark.parametrize(("coordinate", "position"), [("x", (0.3, -0.4)), ("y", (0.3, -0.4))])
def test_a_driver_of_a_coordinate_measures_in_the_frame_of_its_first_body(
    coordinate: str, position: tuple[float, float]
) -> None:
    """b is placed at (0.3, -0.4) in the frame of a, which itself is turned and moved."""
    table = PlanarBody("table", mass=1.0, inertia=0.1)
    tool = PlanarBody("tool", mass=1.0, inertia=0.1, position=position)
    motion = {"x": 0.3, "y": -0.4}[coordinate]
    model = Model([table, tool, PrescribedMotion("axis", table, tool, coordinate=coordinate, motion=motion)])
    system = model.build()
    assert system.constraint_names == (f"axis.{coordinate}",)
    for angle in (0.0, 0.8, 3.0):
        c, s = np.cos(angle), np.sin(angle)
        x, y = 1.0 + c * position[0] - s * position[1], 2.0 + s * position[0] + c * position[1]
        misfit = system.joint_violation(0.0, np.array([1.0, 2.0, angle, x, y, 0.5]), system.parameter_values)
        assert misfit == pytest.approx(0.0, abs=1e-14)


def test_a_driver_of_a_distance_counts_elongation() -> None:
    """A piston rod between the origin and the point (0, 0.5) of a body at (1.2, 0) that is not turned, then by pi/2."""
    body = PlanarBody("body", mass=1.0, inertia=0.1, position=(1.2, 0.0), velocity=(0.1, 0.0))
    stroke = PrescribedMotion(
        "stroke", "ground", body, coordinate="distance", motion=lambda t: 1.3 + 1.2 / 1.3 * 0.1 * t, at_b=(0.0, 0.5)
    )
    system = Model([Ground(), body, stroke]).build()
    n, p = system.numeric, system.parameter_values
    q = np.array([1.2, 0.0, np.pi / 2])  # the point is at (0.7, 0)
    x = 1.2 - system.parameters["stroke.at_b_y"]
    assert x == pytest.approx(0.7, rel=1e-13)
    assert n.violation(0.0, q, p)[0] == pytest.approx(x - 1.3, abs=1e-14)
    assert n.g(0.0, q, p)[0] == pytest.approx((x**2 - 1.69) / 2.6, abs=1e-14)
    assert n.W_g(0.0, q, p)[0].ravel() == pytest.approx(np.array([x, 0.0, 0.0]) / 1.3, abs=1e-14)
    with pytest.raises(ModelError, match="a distance must be positive, got motion 0.0 m"):
        PrescribedMotion("stroke", "ground", body, coordinate="distance", motion=0.0)


# Reactions: force on the second body in the global frame, torque about the joint's point


def test_a_weld_carries_the_weight_and_its_moment_about_the_welded_point() -> None:
    """Cantilever: welded at the wall, centre of mass 0.5 m to the right."""
    reaction = static_reactions(one_body(Fixed("weld", "ground", "body", at_b=(-0.5, 0.0)), position=(0.5, 0.0)))
    assert reaction == pytest.approx({"weld.x": 0.0, "weld.y": 2 * G, "weld.torque": 2 * G * 0.5}, abs=1e-13)


def test_a_weld_turned_by_any_angle_reacts_in_the_global_frame() -> None:
    angle = 0.9
    arm = 0.5 * np.array([np.cos(angle), np.sin(angle)])
    weld = Fixed("weld", "ground", "body", at_b=(-0.5, 0.0), angle=angle)
    reaction = static_reactions(one_body(weld, position=tuple(arm), angle=angle))
    assert reaction == pytest.approx({"weld.x": 0.0, "weld.y": 2 * G, "weld.torque": 2 * G * arm[0]}, abs=1e-13)


def test_the_reaction_is_on_the_second_body() -> None:
    reaction = static_reactions(one_body(Fixed("weld", "body", "ground", at_a=(-0.5, 0.0)), position=(0.5, 0.0)))
    assert reaction == pytest.approx({"weld.x": 0.0, "weld.y": -2 * G, "weld.torque": -2 * G * 0.5}, abs=1e-13)


def test_a_hanging_pendulum_is_held_by_its_weight_without_torque() -> None:
    reaction = static_reactions(one_body(Revolute("pin", "ground", "body", at_b=(0.0, 0.4)), position=(0.0, -0.4)))
    assert reaction == pytest.approx({"pin.x": 0.0, "pin.y": 2 * G, "pin.torque": 0.0}, abs=1e-13)


def test_a_revolute_joint_never_has_a_torque() -> None:
    bodies = [PlanarBody(name, mass=1.0, inertia=0.1) for name in ("a", "b")]
    system = Model([*bodies, Revolute("pin", *bodies, at_a=(0.3, 0.1), at_b=(0.3, 0.1))]).build()
    random = np.random.default_rng(8)
    for _ in range(10):
        q, lam = random.uniform(-3, 3, 6), random.normal(size=2)
        reaction = system.numeric.reaction(0.0, q, system.parameter_values, lam)[0]
        assert reaction == pytest.approx([*lam, 0.0], abs=1e-14)


@pytest.mark.parametrize("direction", [0.0, 0.6, -2.0])
def test_a_slide_reacts_across_its_axis_with_the_moment_of_an_eccentric_weight(direction: float) -> None:
    """The centre of mass lies 0.5 m beside the point that slides; the body slides down the axis and does not turn."""
    slide = Prismatic("slide", "ground", "body", direction=direction, at_b=(-0.5, 0.0))
    system = one_body(slide, position=(0.5, 0.0))
    n, p, start = system.numeric, system.parameter_values, system.start
    c, s = np.cos(system.parameters["slide.direction"]), np.sin(system.parameters["slide.direction"])
    axis, normal = np.array([c, s]), np.array([-s, c])
    W = n.W_g(0.0, start.q, p)[0]
    lam = np.linalg.solve(W.T @ np.linalg.solve(n.M(start.q, p)[0], W), -W.T @ (0, -G, 0))
    fx, fy, torque = n.reaction(0.0, start.q, p, lam)[0]
    acceleration = np.array([0.0, -G, 0.0]) + np.linalg.solve(n.M(start.q, p)[0], W @ lam)
    assert np.dot((fx, fy), axis) == pytest.approx(0.0, abs=1e-13)
    assert np.dot((fx, fy), normal) == pytest.approx(2 * G * normal[1], abs=1e-13)
    assert acceleration[2] == pytest.approx(0.0, abs=1e-13)
    # moments about the centre of mass: torque at the point plus the force there, with the arm (-0.5, 0), balance
    assert torque - 0.5 * fy == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("turns", [0, 1])
def test_a_motor_holds_a_crank_by_the_moment_of_its_weight(turns: int) -> None:
    pin = Revolute("pin", "ground", "body", at_b=(-0.4, 0.0))
    motor = PrescribedMotion("motor", "ground", "body", coordinate="angle", motion=0.0, at_b=(-0.4, 0.0))
    reaction = static_reactions(one_body(pin, motor, position=(0.4, 0.0), angle=2 * np.pi * turns))
    expected = {"pin.x": 0, "pin.y": 2 * G, "pin.torque": 0, "motor.x": 0, "motor.y": 0, "motor.torque": 2 * G * 0.4}
    assert reaction == pytest.approx(expected, abs=1e-12)


def test_a_lift_carries_the_weight() -> None:
    lift = PrescribedMotion("lift", "ground", "body", coordinate="y", motion=0.0)
    reaction = static_reactions(one_body(lift))
    assert reaction == pytest.approx({"lift.x": 0.0, "lift.y": 2 * G, "lift.torque": 0.0}, abs=1e-13)


def test_reactions_balance_the_equation_of_motion() -> None:
    """Force and torque of a weld, carried to the centre of mass, are W_g lambda on the second body."""
    bodies = [PlanarBody(name, mass=1.0, inertia=0.1) for name in ("a", "b")]
    system = Model([*bodies, Fixed("weld", *bodies, at_a=(0.3, 0.1), at_b=(0.3, 0.1))]).build()
    random = np.random.default_rng(9)
    for _ in range(10):
        q, lam = random.uniform(-3, 3, 6), random.normal(size=3)
        fx, fy, torque = system.numeric.reaction(0.0, q, system.parameter_values, lam)[0]
        c, s = np.cos(q[5]), np.sin(q[5])
        x, y = (system.parameters[f"weld.at_b_{axis}"] for axis in "xy")
        arm: Array = np.array([c * x - s * y, s * x + c * y])
        force = system.numeric.W_g(0.0, q, system.parameter_values)[0] @ lam
        assert force[3:] == pytest.approx([fx, fy, torque + arm[0] * fy - arm[1] * fx], abs=1e-14)


# What drivers refuse


def test_a_driver_has_one_of_six_coordinates() -> None:
    with pytest.raises(ModelError, match='must be "angle", "x", "y", "z", "distance" or "displacement", got \'theta'):
        PrescribedMotion("motor", "ground", "wheel", coordinate="theta", motion=0.0)


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        (np.nan, r'PrescribedMotion "motor": motion must be a finite number \[rad\], got nan'),
        (
            None,
            r'PrescribedMotion "motor": motion must be a finite number \[rad or m\], or a function of time, got None',
        ),
        (lambda t: (t, t), r'"motor": motion must return 1 component\(s\), got 2'),
        (math.sin, r"motion is nan at t = 0 s; .* Functions of the module math are nan of symbolic time"),
        (lambda t: ca.sqrt(t - 1), r'PrescribedMotion "motor": motion is nan at t = 0 s; it must be finite there'),
        (
            lambda t: ca.sqrt(t),
            r'The rate of the constraint "motor.angle" is not finite at t = 0 s; prescribe a motion',
        ),
        (
            lambda t: 5 * t,
            r'The constraint "motor.angle" moves at -5 rad/s at the start; correct velocity and angular_velocity of '
            r'"wheel", or let build',
        ),
    ],
)
@pytest.mark.parametrize("assemble", [False, True])
def test_motions_that_cannot_start_are_refused(motion: Any, message: str, assemble: bool) -> None:
    if assemble and "moves at" in message:
        assert wheel(motion).build(assemble=True).start.v.tolist() == [0.0, 0.0, 5.0]
        return
    with pytest.raises(ModelError, match=message):
        wheel(motion).build(assemble=assemble)
