"""Random mechanisms, steppers and step sizes for `benchmarks.fuzz`: mostly realistic, some at the limits."""

from __future__ import annotations

import math
import random
from typing import Any

from nonsmooth import (
    BoxPlane,
    CirclePlane,
    Compliant,
    CompliantDae,
    CylindricalClearance,
    Damper,
    ErrorControl,
    EventDriven,
    Fixed,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Harmonic,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    PrismaticClearance,
    Radau,
    Revolute,
    RevoluteClearance,
    Rigid,
    SpatialBody,
    SpherePlane,
    SphereSphere,
    Spherical,
    SphericalClearance,
    Spring,
    Torque,
)
from nonsmooth.laws import Ambrosio, Dahl, Flores, HuntCrossley, KelvinVoigt, LuGre

__all__ = ["controls", "planar", "spatial", "steppers"]

Chance = random.Random


def log_uniform(chance: Chance, low: float, high: float) -> float:
    return math.exp(chance.uniform(math.log(low), math.log(high)))


def rigid(chance: Chance, *, plastic: bool = False) -> Rigid:
    impact = "poisson" if chance.random() < 0.1 else "newton"
    restitution = 0.0 if plastic else chance.choice([0.0, 0.0, 0.5, 0.9, 1.0, chance.random()])
    return Rigid(restitution=restitution, friction=chance.choice([0.0, 0.0, 0.1, 0.3, 1.0, 5.0]), impact=impact)


def compliant(chance: Chance) -> Compliant:
    stiffness = log_uniform(chance, 1e4, 1e10)
    normal = chance.choice([
        Flores(stiffness=stiffness, exponent=1.5, restitution=chance.uniform(0.1, 0.99)),
        HuntCrossley(stiffness=stiffness, exponent=chance.choice([1.0, 1.5]), restitution=chance.uniform(0.3, 1.0)),
        KelvinVoigt(stiffness=stiffness, exponent=1.0, damping=stiffness * log_uniform(chance, 1e-6, 1e-3)),
    ])  # fmt: skip
    friction = chance.choice([
        None, Ambrosio(friction=0.1, dead_speed=1e-4, slip_speed=1e-3),
        Dahl(friction=0.2, bristle_stiffness=1e5),
        LuGre(friction=0.1, static_friction=0.15, stribeck_speed=1e-2, bristle_stiffness=1e5, bristle_damping=1.0),
    ])  # fmt: skip
    return Compliant(normal, friction)


def vector(chance: Chance, size: float, count: int) -> tuple[float, ...]:
    return tuple(chance.gauss(0.0, size) for _ in range(count))


def planar(
    chance: Chance, law: Any, clearances: tuple[float, float] = (1e-6, 3e-2), torques: tuple[float, float] = (1e-3, 1e1)
) -> Model:
    """Up to six links with joints, ideal or with clearance, a floor, a guide, springs, a motor.

    Clearances as shares of the length of a link, and torques of the motor [N m], are between two bounds.
    """
    model, length = Model(name="random"), log_uniform(chance, 1e-2, 1.0)
    before: Any = model.add(Ground())
    clearance, height, count = length * log_uniform(chance, *clearances), 0.0, chance.choice([1, 1, 2, 2, 3, 4, 6])
    swinging = chance.random() < 0.75
    for i in range(count):
        mass = log_uniform(chance, 1e-3, 1e2)
        height -= length
        shift = chance.uniform(-0.9, 0.9) * clearance
        free = not swinging or (i > 0 and chance.random() < 0.1)
        link = PlanarBody(
            f"link{i}", mass=mass, inertia=mass * length**2 * log_uniform(chance, 1e-2, 1.0),
            position=(0.0, height + length / 2 + (0.0 if free else shift)), velocity=vector(chance, length, 2),
            angular_velocity=chance.gauss(0.0, 5.0),
        )  # fmt: skip
        model.add(link)
        places = {"at_a": (0.0, -length / 2 if i else 0.0), "at_b": (0.0, length / 2)}
        kind = chance.choice(["loose", "loose", "ideal", "fixed"]) if not free else "free"
        if kind == "loose":
            size = clearance * chance.choice([1.0, 1.0, 2.0])
            model.add(RevoluteClearance(f"pin{i}", before, link, **places, clearance=size, radius=length / 10,
                                        length=length / 10, contact=law))  # fmt: skip
        elif kind == "ideal":
            model.add(Revolute(f"pin{i}", before, link, **places))
        elif kind == "fixed" and i > 0:
            model.add(Fixed(f"weld{i}", before, link))
        elif chance.random() < 0.7:
            floor = height - length / 2 - chance.choice([0.0, 0.1, 0.5]) * length
            model.add(CirclePlane(f"floor{i}", "ground", link, radius=length / 2, at_a=(0.0, floor), contact=law))
        before = link
    if swinging and chance.random() < 0.25:
        guide = {"at_guide": (0.0, height), "at_slider": (0.0, -length / 2)}
        if chance.random() < 0.5:
            model.add(PrismaticClearance("guide", "ground", before, length=length / 5, height=length / 20,
                                         clearance=clearance, contact=law, **guide))  # fmt: skip
        else:
            model.add(Prismatic("guide", "ground", before, at_a=(0.0, height), at_b=(0.0, -length / 2)))
    if chance.random() < 0.3:
        model.add(
            PointPlane("tip", "ground", before, at_a=(0.0, height - clearance), at_b=(0.0, -length / 2), contact=law)
        )
    if chance.random() < 0.8:
        model.add(Gravity(acceleration=(chance.gauss(0.0, 1.0), -9.81)))
    if chance.random() < 0.3:
        model.add(Spring("spring", "ground", before, stiffness=log_uniform(chance, 1.0, 1e5), free_length=length))
    if chance.random() < 0.2:
        model.add(Damper("damper", "ground", before, damping=log_uniform(chance, 1e-3, 1e2)))
    if chance.random() < 0.2:
        model.add(Torque("motor", "link0", torque=Harmonic(log_uniform(chance, *torques), period=0.1)))
    if chance.random() < 0.15:
        speed = chance.uniform(-50.0, 50.0)
        model.add(PrescribedMotion("crank", "ground", "link0", coordinate="angle", motion=lambda t: speed * t))
    return model


def spatial(chance: Chance, law: Any, clearances: tuple[float, float] = (1e-5, 1e-2)) -> Model:
    """Up to three bodies: a chain of balls and hinges, or free ones above a floor; clearances as in `planar`."""
    model, length = Model(name="random"), log_uniform(chance, 2e-2, 1.0)
    before: Any = model.add(Ground())
    clearance, height, chained = length * log_uniform(chance, *clearances), 0.0, chance.random() < 0.65
    for i in range(chance.choice([1, 1, 2, 3])):
        mass = log_uniform(chance, 1e-2, 10.0)
        a, b = mass * length**2 * chance.uniform(0.05, 0.3), mass * length**2 * chance.uniform(0.05, 0.3)
        height -= length
        body = SpatialBody(
            f"body{i}", mass=mass, inertia=(a, b, chance.uniform(max(a, b) - min(a, b), a + b)),
            position=(0.0, 0.0, height + length / 2), velocity=vector(chance, length, 3),
            angular_velocity=vector(chance, 3.0, 3),
        )  # fmt: skip
        model.add(body)
        places = {"at_a": (0.0, 0.0, -length / 2 if i else 0.0), "at_b": (0.0, 0.0, length / 2)}
        kind = chance.choice(["socket", "socket", "ball", "hinge", "bush"]) if chained else "free"
        if kind == "socket":
            model.add(SphericalClearance(f"socket{i}", before, body, **places, clearance=clearance, radius=length / 10,
                                         contact=law))  # fmt: skip
        elif kind == "ball":
            model.add(Spherical(f"ball{i}", before, body, **places))
        elif kind == "hinge":
            model.add(Revolute(f"hinge{i}", before, body, **places, axis_a=(1, 0, 0), axis_b=(1, 0, 0)))
        elif kind == "bush":
            along = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1), "length": length / 4, "radius": length / 10}
            model.add(
                CylindricalClearance(f"bush{i}", before, body, **places, **along, clearance=clearance, contact=law)
            )
        else:
            level = {"normal": (0.0, 0.0, 1.0), "at_a": (0.0, 0.0, -3.6 * length)}
            if chance.random() < 0.5:
                model.add(SpherePlane(f"floor{i}", "ground", body, radius=length / 2, contact=law, **level))
            else:
                model.add(BoxPlane(f"floor{i}", "ground", body, edges=(length, length / 2, length / 3), contact=law,
                                   **level))  # fmt: skip
            if i and chance.random() < 0.5:
                model.add(SphereSphere(f"pair{i}", before, body, radius_a=length / 2, radius_b=length / 2, contact=law))
        before = body
    if chance.random() < 0.9:
        model.add(Gravity(acceleration=(0.0, 0.0, -9.81)))
    return model


def steppers(chance: Chance, law: Any, space: bool) -> Any:
    if isinstance(law, Compliant):
        return CompliantDae() if chance.random() < 0.8 else CompliantDae(solver=Radau())
    kinds = [MoreauJean(), MoreauJean(), GaussQP(), GaussQP(), GeneralizedAlpha(), EventDriven(), GaussMPCC()]
    if not space:
        kinds += [MoreauJean(theta=chance.choice([0.5, 1.0])), GeneralizedAlpha(chance.choice([0.0, 0.8, 1.0]))]
    return chance.choice(kinds)


def controls(chance: Chance, stepper: Any, t_end: float, steps: int) -> Any:
    dt = t_end / steps
    if isinstance(stepper, EventDriven | CompliantDae):
        rtol = log_uniform(chance, 1e-9, 1e-4)
        return ErrorControl(rtol, rtol * 1e-2, dt * log_uniform(chance, 1e-6, 1e-2), dt)
    if isinstance(stepper, GaussQP | GaussMPCC) and chance.random() < 0.5:
        return Landing(dt * log_uniform(chance, 1e-5, 1e-2), dt)
    return dt
