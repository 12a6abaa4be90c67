"""Mechanisms with polygons against closed forms: ratchet, Geneva wheel, disc round a triangle, bodies on slopes."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    CirclePolygon,
    Compliant,
    Damper,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointBox,
    PointForce,
    PointPolygon,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rigid,
    Spring,
    Table,
    TimeVector,
    TorsionDamper,
    simulate,
)
from nonsmooth.laws import Flores

STEPPERS = {
    "moreau": (MoreauJean(), 1e-4),
    "qp": (GaussQP(), Landing(1e-6, 1e-3)),
    "mpcc": (GaussMPCC(), Landing(1e-6, 1e-3)),
    "alpha": (GeneralizedAlpha(), 1e-4),
    "events": (EventDriven(), ErrorControl(1e-8, 1e-10, 1e-6, 1e-3)),
}
EVERY = pytest.mark.parametrize(
    "stepper", [pytest.param(one, marks=pytest.mark.slow) if one in ("mpcc", "alpha") else one for one in STEPPERS]
)
SLIPPERY = Rigid(restitution=0.0, friction=0.0)


def ratchet(contact):
    """A rack with four teeth of 10 mm by 3 mm, pushed over a pawl, and back after 80 ms."""
    teeth = [(-0.01 * k, y) for k in range(1, 5) for y in (0.003, 0.0)][:-1]
    below = [(-0.04, -0.001), (-0.05, -0.001), (-0.05, -0.01), (0.01, -0.01), (0.01, -0.001), (0.0, -0.001), (0.0, 0.0)]
    rack = PlanarBody("rack", mass=0.5, inertia=1e-3)
    pawl = PlanarBody("pawl", mass=0.02, inertia=1e-6, position=(-0.002, 0.0062))
    push = Table(times=(0, 0.08, 0.0801, 1.0), values=(4, 4, -4, -4))
    return Model([
        Ground(), rack, pawl, Gravity(acceleration=(0, -9.81)), Prismatic("rail", "ground", rack),
        Prismatic("guide", "ground", pawl, direction=np.pi / 2, at_a=(-0.002, 0)),
        Spring("spring", "ground", pawl, stiffness=200.0, free_length=0.06, at_a=(-0.002, 0.056)),
        PointForce("push", rack, force=TimeVector((push, 0.0))),
        Damper("d", "ground", rack, damping=3.0, at_a=(-1.0, 0)),
        PointPolygon("teeth", rack, pawl, corners=[*below, *teeth], at_b=(0, -0.005), contact=contact),
    ]).build()  # fmt: skip


@pytest.mark.parametrize(
    "stepper", [None, "moreau", "qp", *(pytest.param(x, marks=pytest.mark.slow) for x in ("mpcc", "alpha"))]
)
def test_a_ratchet_comes_to_rest_at_a_tooth(stepper):
    """Pushed 23.4 mm it passes two teeth, and is held at 2 x 10 mm - 2 mm, in the valley of ramp and tooth."""
    settings = {} if stepper is None else dict(zip(("stepper", "dt"), STEPPERS[stepper], strict=True))
    run = simulate(ratchet(Rigid(restitution=0.0, friction=0.1)), t_end=0.2, **settings)
    assert run.q["rack.x"].max() == pytest.approx(0.0234, abs=1e-4)
    # Moreau-Jean stops at the first row after a face: within a step at about 0.1 m/s
    assert run.q["rack.x"][-1] == pytest.approx(0.018, abs=5e-5 if stepper == "moreau" else 1e-10)
    assert abs(run.v["rack.x"][-1]) < 1e-10


def test_a_ratchet_with_compliant_teeth():
    """4 N at the face press it in by (4 / 1e9)^(1/1.5) = 2.5 um, and by less than 0.3 um for the weight of its ramp."""
    run = simulate(ratchet(Compliant(Flores(stiffness=1e9, exponent=1.5, restitution=0.1))), t_end=0.2)
    assert run.q["rack.x"][-1] == pytest.approx(0.018 - (4 / 1e9) ** (2 / 3), abs=3e-7)


def geneva(clumsy):
    """A wheel with five slots, turned by a pin of a crank; clumsy with two boxes per slot."""
    arm, pin, play, bottom = 0.03, 0.003, 1e-4, 0.012
    apart, rim, half = arm / np.sin(np.pi / 5), arm / np.tan(np.pi / 5), pin + play
    wheel, crank = (
        PlanarBody("wheel", mass=0.1, inertia=1e-4),
        PlanarBody("crank", mass=0.1, inertia=1e-4, position=(apart, 0), angular_velocity=2 * np.pi),
    )
    elements = [
        Ground(), wheel, crank, Revolute("axle", "ground", wheel), Revolute("shaft", "ground", crank, at_a=(apart, 0)),
        PrescribedMotion("motor", "ground", crank, coordinate="angle", motion=lambda t: 2 * np.pi * t),
        TorsionDamper("drag", "ground", wheel, damping=0.02),
    ]  # fmt: skip
    law, corners = {"radius": pin, "at_b": (arm, 0.0), "contact": SLIPPERY}, []
    for k in range(5):
        angle = (2 * k + 1) * np.pi / 5
        R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        corners += [tuple(R @ at) for at in ((rim, -half), (bottom, -half), (bottom, half), (rim, half))]
        for side, sign in (("low", -1), ("high", 1)) if clumsy else ():
            at = tuple(R @ ((rim + bottom) / 2, sign * (half + 0.001)))
            elements.append(
                PointBox(f"{side}{k}", wheel, crank, width=rim - bottom, height=0.002, angle=angle, at_a=at, **law)
            )
    if not clumsy:
        elements.append(CirclePolygon("slots", wheel, crank, corners=corners, **law))
    return Model(elements, silence=["no-gravity"]).build()


@EVERY
def test_a_geneva_wheel_turns_as_by_boxes(stepper):
    """72 degrees per turn of the crank, from the second one on, whose first row has the play of the slot."""
    method, dt = STEPPERS[stepper]
    runs = [simulate(geneva(clumsy), method, t_end=2.0, dt=dt) for clumsy in (True, False)]
    first, second = (np.rad2deg(np.interp([1.0, 2.0], run.t, run.q["wheel.angle"])) for run in runs)
    np.testing.assert_allclose(second, first, rtol=0.0, atol=1e-7)
    assert second[1] - second[0] == pytest.approx(-72.0, abs=5e-3)
    assert second[0] == pytest.approx(-71.883, abs=1e-3)


@EVERY
def test_a_disc_rolls_round_a_triangle(stepper):
    """Drawn to the middle by a spring: it turns by the way of its centre over its radius, and keeps its energy."""
    triangle, radius, m, k = [(0.0, 0.0), (0.3, 0.0), (0.15, 0.15 * 3**0.5)], 0.1, 2.0, 4000.0
    middle = np.mean(triangle, axis=0)
    disc = PlanarBody(
        "disc", mass=m, inertia=m * radius**2 / 2, position=(0.1, -radius), velocity=(7.2, 0.0), angular_velocity=72.0
    )
    rough = Rigid(restitution=0.0, friction=2.0)
    system = Model([
        Ground(), disc, Spring("pull", "ground", disc, stiffness=k, free_length=0.01, at_a=tuple(middle)),
        CirclePolygon("track", "ground", disc, radius=radius, corners=triangle, contact=rough),
    ]).build()  # fmt: skip
    method, dt = STEPPERS[stepper]
    run = simulate(system, method, t_end=0.5, dt=dt)
    place = np.column_stack([run.q["disc.x"], run.q["disc.y"]])
    round_ = np.unwrap(np.arctan2(*(place - middle).T[::-1]))
    assert round_[-1] - round_[0] > 2 * np.pi
    way = np.sum(np.linalg.norm(np.diff(place, axis=0), axis=1))
    assert run.q["disc.angle"][-1] == pytest.approx(way / radius, rel=2e-4)  # chords of rows at the corners
    length = np.linalg.norm(place - middle, axis=1)
    energy = 0.75 * m * (run.v["disc.x"] ** 2 + run.v["disc.y"] ** 2) + k / 2 * (length - 0.01) ** 2
    # of Moreau-Jean of the order of a step at 70 rad/s, as its gaps
    assert energy[-1] == pytest.approx(energy[0], rel=2e-3 if stepper in ("moreau", "qp") else 1e-3)
    assert np.max(abs(run.gap["track"])) < (5e-5 if stepper == "moreau" else 1e-8)


@EVERY
def test_a_square_slides_down_a_slope(stepper):
    """Its corners on a polygon of the ground: g (sin - mu cos) of the slope."""
    slope, mu = 0.4, 0.2
    c, s = np.cos(slope), np.sin(slope)
    body = PlanarBody("body", mass=1.0, inertia=0.01, position=(-0.1 * s, 0.1 * c), angle=slope)
    floor = [(-4 * c, -4 * s), (-4 * c, -5.0), (c, -5.0), (c, s)]
    law = Rigid(restitution=0.0, friction=mu)
    feet = [
        PointPolygon(f"foot{i}", "ground", body, corners=floor, at_b=(x, -0.1), contact=law)
        for i, x in enumerate((-0.1, 0.1))
    ]
    method, dt = STEPPERS[stepper]
    run = simulate(Model([Ground(), body, Gravity(acceleration=(0, -9.81)), *feet]).build(), method, t_end=0.5, dt=dt)
    speed = np.hypot(run.v["body.x"][-1], run.v["body.y"][-1])
    assert speed == pytest.approx(9.81 * (s - mu * c) * 0.5, rel=1e-6)


@EVERY
def test_a_triangle_falls_on_a_pin(stepper):
    """Beside its centre: the impulse is (1 + e) v / (1/m + x^2/J), and a convex polygon has no other gap."""
    m, J, x, e, fall = 2.0, 0.03, 0.05, 0.5, 0.2
    body = PlanarBody("body", mass=m, inertia=J, position=(0.0, 0.1 + fall))
    corners = [(-0.2, -0.1), (0.2, -0.1), (0.0, 0.2)]
    pin = PointPolygon(
        "pin", body, "ground", corners=corners, at_b=(x, 0.0), contact=Rigid(restitution=e, friction=0.0)
    )
    method, dt = STEPPERS[stepper]
    run = simulate(Model([Ground(), body, Gravity(acceleration=(0, -9.81)), pin]).build(), method, t_end=0.25, dt=dt)
    speed = np.sqrt(2 * 9.81 * fall)
    # schemes of constant step have it at the end of the step in which it is
    rel = 1e-8 if stepper in ("qp", "mpcc", "events") else 1e-3
    assert run.impacts["P_N"][0] == pytest.approx((1 + e) * speed / (1 / m + x**2 / J), rel=rel)
    assert len(run.impacts["t"]) == 1
