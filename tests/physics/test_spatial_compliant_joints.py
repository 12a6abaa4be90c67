"""Compliant contact in space with joints, among them redundant ones, and the engine that runs it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nonsmooth import (
    Compliant,
    CompliantDae,
    Cvodes,
    CylinderPlane,
    Dop853,
    ErrorControl,
    Gravity,
    Ground,
    Model,
    PointPlane,
    Radau,
    Revolute,
    SpatialBody,
    SpherePlane,
    Trajectory,
    simulate,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.laws import Flores, FrictionLaw, Karnopp, LuGre, RegularisedCoulomb
from nonsmooth.model.system import System
from nonsmooth.schemes.compliant.steps import CompliantForces

G = 9.81
CONTROL = ErrorControl(rtol=1e-8, atol=1e-10, dt_min=1e-6, dt_max=1e-2)
LUGRE = LuGre(friction=0.2, static_friction=0.25, stribeck_speed=0.05, bristle_stiffness=1e4, bristle_damping=5.0,
              viscous_friction=0.1)  # fmt: skip
KARNOPP = Karnopp(friction=0.2, static_friction=0.25, stick_speed=1e-3)


def compliant(friction: FrictionLaw, stiffness: float = 1e7) -> Compliant:
    return Compliant(Flores(stiffness=stiffness, restitution=0.5), friction)


def sunk(load: float, stiffness: float = 1e7) -> float:
    """Depth at which the law of Hertz's exponent carries a load."""
    return float((load / stiffness) ** (2 / 3))


def run(system: System, t_end: float, **options: object) -> Trajectory:
    return simulate(system, CompliantDae(), t_end=t_end, dt=CONTROL, **options)  # type: ignore[arg-type]


def vectors(table: object, name: str, labels: str = "xyz") -> Array:
    return np.column_stack([table[f"{name}.{label}"] for label in labels])  # type: ignore[index]


# Joints


def parallelogram(friction: FrictionLaw, cranks: int = 2) -> System:
    """A planar parallelogram of spatial revolute joints, 3 rows too many, whose coupler falls against a tilted wall."""
    angle, axes = 1.0, {"axis_a": (0.0, 0.0, 1.0), "axis_b": (0.0, 0.0, 1.0)}
    c, s = np.cos(angle), np.sin(angle)
    model = Model([Ground(), Gravity(acceleration=(0.0, -G, 0.0))])
    model.add(SpatialBody("coupler", mass=1.0, inertia=(0.01, 0.02, 0.03), position=(0.5 + c, s, 0.0)))
    for i in range(cranks):
        name, x = f"crank{i}", i / (cranks - 1)
        model.add(SpatialBody(name, mass=1.0, inertia=(0.01, 0.02, 0.03), position=(x + c / 2, s / 2, 0.0),
                              quaternion=(np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))))  # fmt: skip
        model.add(Revolute(f"base{i}", "ground", name, at_a=(x, 0.0, 0.0), at_b=(-0.5, 0.0, 0.0), **axes))
        model.add(Revolute(f"top{i}", name, "coupler", at_a=(0.5, 0.0, 0.0), at_b=(x - 0.5, 0.0, 0.0), **axes))
    model.add(SpherePlane("wall", "ground", "coupler", radius=0.1, at_a=(1.3, 0.0, 0.0), normal=(-1.0, 0.1, 0.2),
                          contact=compliant(friction, 1e6)))  # fmt: skip
    return model.build()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stepper", "violation"),
    [
        (CompliantDae(solver=Radau()), 1e-14),
        (CompliantDae(), 1e-14),
        (CompliantDae(solver=Cvodes()), 1e-14),
        (CompliantDae(baumgarte=(5.0, 5.0)), 1e-8),
    ],
    ids=("radau", "default", "cvodes", "baumgarte"),
)
def test_redundant_joints_stay_closed_and_share_the_load(stepper: CompliantDae, violation: float) -> None:
    """Rows are projected to round-off, those that hold by geometry too; CVODES closes energy to its own tolerance."""
    system = parallelogram(RegularisedCoulomb(friction=0.2, slip_speed=1e-2))
    assert len(system.redundant) == 3
    trajectory = simulate(system, stepper, t_end=0.5, dt=CONTROL)
    assert trajectory.certificate.joint_violation <= violation
    assert trajectory.certificate.motion_residual <= 1e-11
    assert abs(trajectory.certificate.energy.remainder) <= 1e-5
    assert trajectory.certificate.energy.loss_friction > 0.01
    # the parallelogram's rows out of its plane carry the weight of nothing, and of least norm is none
    free = trajectory.t < 0.05
    for joint in ("base0", "base1", "top0", "top1"):
        assert np.abs(trajectory.reaction[f"{joint}.z"][free]).max() <= 1e-9
    # the whole falls by the forces at the ground, whatever their split
    dt = np.diff(trajectory.t)[:, None]
    ground = sum(np.column_stack([trajectory.reaction[f"base{i}.{axis}"] for axis in "xyz"]) for i in (0, 1))
    impulse = np.sum((ground + trajectory.contact_force["wall"])[1:] * dt, axis=0) - [
        0.0,
        3 * G * trajectory.t[-1],
        0.0,
    ]
    momentum = sum(vectors(trajectory.v, name)[-1] for name in ("coupler", "crank0", "crank1"))
    np.testing.assert_allclose(impulse, momentum, atol=1e-5)


def test_redundant_joints_share_a_load_as_least_squares_do() -> None:
    """Against the pseudo-inverse, whose forces have the least norm in the units of the rows; to its condition."""
    system = parallelogram(KARNOPP, cranks=3)
    p, q, v, none = system.parameter_values, system.start.q, system.start.v, np.zeros(system.nc)
    found = CompliantForces(system, p).at(0.0, q, v, none, none, np.zeros(0))
    inverse, h = np.linalg.inv(np.linalg.cholesky(system.M(q, p).full())), system.numeric.h(0.0, q, v, p)[0]
    W = inverse @ system.numeric.W_g(0.0, q, p)[0]
    bias = system.numeric.bias(0.0, q, v, p)[0][: system.ng]
    lam = np.linalg.lstsq(W.T @ W, -(W.T @ inverse @ h + bias), rcond=1e-9)[0]
    np.testing.assert_allclose(found.lam_g, lam, atol=1e-9 * np.abs(lam).max())
    expected = system.numeric.reaction(0.0, q, p, lam)[0]
    np.testing.assert_allclose(found.reaction, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(found.a, inverse.T @ (inverse @ h + W @ lam), atol=1e-9)


def test_friction_where_joints_bar_the_slip() -> None:
    """A pendulum in a revolute joint meets a wall: no friction across its plane, where it cannot slip."""
    model = Model([Ground(), Gravity(acceleration=(0.0, -G, 0.0))])
    model.add(SpatialBody("rod", mass=1.0, inertia=(0.02, 0.02, 0.02), position=(0.5, 0.0, 0.0)))
    axes = {"axis_a": (0.0, 0.0, 1.0), "axis_b": (0.0, 0.0, 1.0)}
    model.add(Revolute("hinge", "ground", "rod", at_b=(-0.5, 0.0, 0.0), **axes))
    model.add(PointPlane("floor", "ground", "rod", at_a=(0.0, -1e-3, 0.0), normal=(0.0, 1.0, 0.0),
                         contact=compliant(KARNOPP, 1e6)))  # fmt: skip
    trajectory = simulate(model.build(), CompliantDae(solver=Radau()), t_end=0.05, dt=CONTROL)
    assert trajectory.P_N["floor"].sum() > 0.05
    force = trajectory.contact_force["floor"]
    # means over steps, whose quadrature a jump of the law puts out by some per cent
    assert np.all(np.hypot(force[:, 0], force[:, 2]) <= 0.25 * 1.05 * force[:, 1])
    assert np.abs(force[:, 2]).max() <= 1e-6 * force[:, 1].max()
    assert abs(trajectory.certificate.energy.remainder) <= 1e-8


ALPHA, BETA, SHORT = 0.6, 1.1, 0.3
LONG = SHORT * float(np.sin(BETA) / np.sin(ALPHA))


def bennett(theta: float, contact: Compliant) -> System:
    """Bennett's four-bar, links with twists alpha, beta and a/sin(alpha) = b/sin(beta), before a plane.

    Links have their origins on the axes of the joints before them, z along these and x along the links; the second has
    turned by 2 atan(sin((beta + alpha)/2)/sin((beta - alpha)/2)/tan(theta/2)), the third by -theta.
    """
    ratio = np.sin((BETA + ALPHA) / 2) / np.sin((BETA - ALPHA) / 2)
    second = 2 * np.arctan2(ratio * np.cos(theta / 2), np.sin(theta / 2))
    place, frame, links = np.zeros(3), Rotation.identity(), []
    for i, (angle, span, twist) in enumerate(((theta, SHORT, ALPHA), (second, LONG, BETA), (-theta, SHORT, ALPHA))):
        frame = frame * Rotation.from_rotvec((0.0, 0.0, angle))
        quaternion = tuple(frame.as_quat()[[3, 0, 1, 2]])
        links.append(SpatialBody(f"link{i + 1}", mass=1.0, inertia=(0.02, 0.03, 0.04), position=tuple(place),
                                 quaternion=quaternion))  # fmt: skip
        place = place + frame.apply((span, 0.0, 0.0))
        frame = frame * Rotation.from_rotvec((twist, 0.0, 0.0))
    after = {twist: (0.0, float(-np.sin(twist)), float(np.cos(twist))) for twist in (ALPHA, BETA, -BETA)}
    z, x, y = (0.0, 0.0, 1.0), (SHORT, 0.0, 0.0), (LONG, 0.0, 0.0)
    model = Model([Ground(), Gravity(acceleration=(0.0, -G, 0.0)), *links])
    model.add(Revolute("joint1", "ground", "link1", axis_a=z, axis_b=z))
    model.add(Revolute("joint2", "link1", "link2", at_a=x, axis_a=after[ALPHA], axis_b=z))
    model.add(Revolute("joint3", "link2", "link3", at_a=y, axis_a=after[BETA], axis_b=z))
    model.add(Revolute("joint4", "link3", "ground", at_a=x, at_b=(-LONG, 0.0, 0.0), axis_a=after[ALPHA],
                       axis_b=after[-BETA]))  # fmt: skip
    tip = Rotation.from_rotvec((0.0, 0.0, theta)).apply(x)
    model.add(PointPlane("wall", "ground", "link1", at_b=x, at_a=(0.0, float(tip[1]) - 0.05, 0.0),
                         normal=(0.1, 1.0, 0.3), contact=contact))  # fmt: skip
    return model.build()


def test_bennetts_four_bar_bounces_and_stays_closed() -> None:
    """20 rows of rank 17: closed to round-off through impacts with friction, and its energy accounted for."""
    system = bennett(0.8, compliant(LUGRE, 1e6))
    assert len(system.redundant) == 3
    trajectory = run(system, 0.5)
    assert trajectory.P_N["wall"].sum() > 0.5
    assert trajectory.certificate.joint_violation <= 1e-13
    assert trajectory.certificate.motion_residual <= 1e-10
    assert trajectory.certificate.energy.loss_friction > 1e-4
    assert abs(trajectory.certificate.energy.remainder) <= 1e-6


# Engines


def rolling_cylinder() -> System:
    """On its two rims, thrown without spin."""
    model = Model([Ground(), Gravity(acceleration=(0.0, 0.0, -G))])
    height = 0.1 - sunk(G / 2)
    model.add(SpatialBody("roll", mass=1.0, inertia=(5e-3, 6e-3, 6e-3), position=(0.0, 0.0, height),
                          velocity=(0.0, 0.5, 0.0)))  # fmt: skip
    friction = RegularisedCoulomb(friction=0.2, slip_speed=1e-3)
    model.add(CylinderPlane("floor", "ground", "roll", radius=0.1, length=0.2, axis=(1.0, 0.0, 0.0), points=0,
                            normal=(0.0, 0.0, 1.0), contact=compliant(friction)))  # fmt: skip
    return model.build()


def test_a_cylinder_comes_to_roll_on_two_rims() -> None:
    """It keeps v0/(1 + J/(m r^2)); slip has died out by 50 e-foldings of the regularised law."""
    trajectory = run(rolling_cylinder(), 0.3)
    assert trajectory.v["roll.y"][-1] == pytest.approx(0.5 / (1 + 5e-3 / 0.01), rel=1e-6)
    assert trajectory.v["roll.wx"][-1] == pytest.approx(-trajectory.v["roll.y"][-1] / 0.1, rel=1e-6)


def test_spatial_contacts_run_compiled() -> None:
    system = rolling_cylinder()
    run = simulate(system, CompliantDae(solver=Dop853()), t_end=1e-4, dt=CONTROL)
    assert run.manifest["engine"] == "compiled" and run.counts["fallbacks"] == 0
