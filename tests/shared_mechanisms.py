"""Mechanisms that several test files run."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonsmooth import (
    Gravity,
    Ground,
    Model,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Rigid,
    simulate,
)

DOWN = Gravity(acceleration=(0.0, -9.81))


def slider_crank(*further: Any) -> Model:
    """A slider-crank of ideal joints that turns freely at 150 rad/s, with further elements; assembled by `build`."""
    elements = [
        Ground(),
        PlanarBody("crank", mass=0.038, inertia=7.4e-5, position=(0.0765, 0.0), angular_velocity=150.0),
        PlanarBody("rod", mass=0.038, inertia=5.9e-4, position=(0.306, 0.0)),
        PlanarBody("slider", mass=0.076, inertia=2.7e-6, position=(0.459, 0.0)),
        Revolute("main", "ground", "crank", at_b=(-0.0765, 0.0)),
        Revolute("big_end", "crank", "rod", at_a=(0.0765, 0.0), at_b=(-0.153, 0.0)),
        Revolute("small_end", "rod", "slider", at_a=(0.153, 0.0)),
        Prismatic("slide", "ground", "slider"),
    ]
    return Model([*elements, *further, DOWN])


def driven_hook(contact: Rigid) -> Model:
    """A crank that a motor turns, and a plate that hangs in it and drags a corner over the floor."""
    elements = [
        Ground(),
        PlanarBody("crank", mass=0.5, inertia=1e-3, position=(0.05, 0.0), velocity=(0.0, 1.0), angular_velocity=20.0),
        PlanarBody("plate", mass=0.3, inertia=5e-4, position=(0.1, -0.0495), velocity=(0.0, 2.0)),
        Revolute("bearing", "ground", "crank", at_b=(-0.05, 0.0)),
        PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: 20.0 * t),
        RevoluteClearance("hook", "crank", "plate", at_a=(0.05, 0.0), at_b=(0.0, 0.05), clearance=5e-4, radius=0.01,
                          contact=contact),
        PointPlane("floor", "ground", "plate", at_a=(0.0, -0.06), at_b=(0.03, -0.01), contact=contact, size=1e-3),
        DOWN,
    ]  # fmt: skip
    return Model(elements)


def kane_pendulum(impact: str) -> Model:
    """Kane and Levinson's double pendulum of two slender rods, 1 m and 1 kg each, over a floor."""
    contact = Rigid(restitution=0.5, friction=0.5, impact=impact)
    rods = [PlanarBody(f"rod{i}", mass=1.0, inertia=1 / 12, position=(0.0, 0.5 - i), angle=-np.pi / 2) for i in (1, 2)]
    joints = [
        Revolute("pivot", "ground", "rod1", at_b=(-0.5, 0.0)),
        Revolute("knee", "rod1", "rod2", at_a=(0.5, 0.0), at_b=(-0.5, 0.0)),
    ]
    floor = PointPlane("floor", "ground", "rod2", at_a=(0.0, -2.0), at_b=(0.5, 0.0), contact=contact)
    return Model([Ground(), *rods, *joints, floor])


#: angles from the vertical [rad], rates [rad/s], friction and restitution of Kane's example
KANE = np.radians([20.0, 30.0]), (-0.1, -0.2), 0.5, 0.7


def kane_loss(system: Any, stepper: Any, dt: Any, angles: Any, rates: Any, mu: float, e: float) -> tuple[float, float]:
    """Kinetic energy lost in the impact of the tip, and before it [J]; angles from the vertical."""
    along, across = [np.array([[np.sin(x), -np.cos(x)], [np.cos(x), np.sin(x)]]) for x in angles], np.zeros(2)
    q, v, knee, speed = {}, {}, np.zeros(2), across
    for i, (axes, angle, rate) in enumerate(zip(along, angles, rates, strict=True), start=1):
        centre, moves = knee + 0.5 * axes[0], speed + 0.5 * rate * axes[1]
        q |= {f"rod{i}.x": centre[0], f"rod{i}.y": centre[1], f"rod{i}.angle": angle - np.pi / 2}
        v |= {f"rod{i}.x": moves[0], f"rod{i}.y": moves[1], f"rod{i}.angle": rate}
        knee, speed = knee + axes[0], speed + rate * axes[1]
    parameters = {"floor.at_a_y": knee[1], "floor.friction": mu, "floor.restitution": e}
    state = system.state(q, velocities=v)
    run = simulate(system, stepper, t_end=1e-9, dt=dt, state=state, parameters=parameters)
    assert run.certificate.joint_violation <= 1e-14
    assert run.certificate.complementarity <= 1e-9
    return run.energy["loss_impacts"][0], run.certificate.energy.kinetic_start
