"""Contacts between surfaces, and the slip of every contact, against contact points that are computed another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Ground,
    Model,
    ModelError,
    PlanarBody,
    PrismaticClearance,
    RevoluteClearance,
    Rigid,
    SpatialBody,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.contacts import CircleCircle, CirclePlane, PointBox, PointPlane
from nonsmooth.model.system import System

ROUGH = Rigid(restitution=0.3, friction=0.2, tangential=0.1)


def turned(angle: float, vector: tuple[float, float] | Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]]) @ np.asarray(vector)


def material_velocity(q: Array, v: Array, body: int, point: Array) -> Array:
    """Velocity of the body's material point that is at a global point."""
    arm = point - q[3 * body : 3 * body + 2]
    omega = v[3 * body + 2]
    return v[3 * body : 3 * body + 2] + omega * np.array([-arm[1], arm[0]])


def built(kind: type, **numbers: Any) -> System:
    """A contact between bodies that start far apart."""
    first, second = (
        PlanarBody("first", mass=1.0, inertia=0.1),
        PlanarBody("second", mass=1.0, inertia=0.1, position=(0, 9)),
    )
    return Model([first, second, kind("it", first, second, contact=ROUGH, **numbers)]).build()


def random_motions(seed: int, count: int = 10) -> list[tuple[Array, Array]]:
    random = np.random.default_rng(seed)
    return [(random.uniform(-3, 3, 6), random.normal(size=6)) for _ in range(count)]


# lengths and velocities of the order of 1 to 5, a dozen operations of 1e-16 each
TOLERANCE = 2e-14


def test_point_above_a_wall() -> None:
    at_a, at_b, direction = (0.3, -0.1), (0.2, 0.4), 0.7
    system = built(PointPlane, at_a=at_a, at_b=at_b, direction=direction)
    n, p = system.numeric, system.parameter_values
    for q, v in random_motions(11):
        tangent, normal = turned(q[2] + direction, (1.0, 0.0)), turned(q[2] + direction, (0.0, 1.0))
        point = q[3:5] + turned(q[5], at_b)
        assert n.g_N(q, p)[0] == pytest.approx([normal @ (point - q[:2] - turned(q[2], at_a))], abs=TOLERANCE)
        relative = material_velocity(q, v, 1, point) - material_velocity(q, v, 0, point)
        assert n.W_N(q, p)[0].T @ v == pytest.approx([normal @ relative], abs=TOLERANCE)
        assert n.W_T(q, p)[0].T @ v == pytest.approx([tangent @ relative], abs=TOLERANCE)


def test_circle_above_a_wall() -> None:
    at_a, at_b, direction, radius = (0.3, -0.1), (0.2, 0.4), -1.1, 0.25
    system = built(CirclePlane, at_a=at_a, at_b=at_b, direction=direction, radius=radius)
    n, p = system.numeric, system.parameter_values
    for q, v in random_motions(12):
        tangent, normal = turned(q[2] + direction, (1.0, 0.0)), turned(q[2] + direction, (0.0, 1.0))
        lowest = q[3:5] + turned(q[5], at_b) - radius * normal
        assert n.g_N(q, p)[0] == pytest.approx([normal @ (lowest - q[:2] - turned(q[2], at_a))], abs=TOLERANCE)
        relative = material_velocity(q, v, 1, lowest) - material_velocity(q, v, 0, lowest)
        assert n.W_N(q, p)[0].T @ v == pytest.approx([normal @ relative], abs=TOLERANCE)
        assert n.W_T(q, p)[0].T @ v == pytest.approx([tangent @ relative], abs=TOLERANCE)


def test_a_rolling_wheel_does_not_slip() -> None:
    """Centre at 1 m/s to the right, radius 0.25 m, turning clockwise at 4 rad/s on level ground."""
    system = built(CirclePlane, radius=0.25)
    radius = system.parameters["it.radius"]
    q = np.array([0.0, 0.0, 0.0, 7.0, radius, 0.3])
    rolling = np.array([0.0, 0.0, 0.0, 1.0, 0.0, -1.0 / radius])
    assert system.numeric.g_N(q, system.parameter_values)[0] == pytest.approx([0.0], abs=1e-16)
    assert system.numeric.W_T(q, system.parameter_values)[0].T @ rolling == pytest.approx([0.0], abs=1e-15)
    sliding = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    assert system.numeric.W_T(q, system.parameter_values)[0].T @ sliding == pytest.approx([1.0], abs=1e-15)


def test_circle_beside_a_circle() -> None:
    at_a, at_b, radius_a, radius_b = (0.3, -0.1), (0.2, 0.4), 0.15, 0.25
    system = built(CircleCircle, at_a=at_a, at_b=at_b, radius_a=radius_a, radius_b=radius_b)
    n, p = system.numeric, system.parameter_values
    for q, v in random_motions(13):
        centre_a, centre_b = q[:2] + turned(q[2], at_a), q[3:5] + turned(q[5], at_b)
        distance = np.linalg.norm(centre_b - centre_a)
        normal = (centre_b - centre_a) / distance
        q[3:5] -= (distance - radius_a - radius_b) * normal  # let them touch: then both surfaces are at one point
        point = centre_a + radius_a * normal
        assert n.g_N(q, p)[0] == pytest.approx([0.0], abs=TOLERANCE)
        relative = material_velocity(q, v, 1, point) - material_velocity(q, v, 0, point)
        assert n.W_N(q, p)[0].T @ v == pytest.approx([normal @ relative], abs=TOLERANCE)
        assert n.W_T(q, p)[0].T @ v == pytest.approx([turned(-np.pi / 2, normal) @ relative], abs=TOLERANCE)


@pytest.mark.parametrize("depth", [None, 0.5])
def test_point_outside_a_box_by_its_nearest_point(depth) -> None:
    """And within it by its nearest side; the gap's slope is the normal."""
    sides = np.array([0.4, 0.2] if depth is None else [0.4, 0.2, depth])
    number = len(sides)
    body = PlanarBody if depth is None else SpatialBody
    inertia = 1.0 if depth is None else (1.0,) * 3
    at = (0.1,) * number
    model = Model([
        Ground(), body("b", mass=1.0, inertia=inertia, position=(9.0,) * number),
        PointBox("it", "ground", "b", width=0.4, height=0.2, depth=depth, radius=0.03, at_a=at, contact=ROUGH),
    ])  # fmt: skip
    system, random = model.build(), np.random.default_rng(1)
    q = system.start.q.copy()
    for _ in range(50):
        x = random.uniform(-0.5, 0.5, number)
        q[:number] = 0.1 + x
        away = x - np.clip(x, -sides / 2, sides / 2)
        inside = np.max(np.abs(x) - sides / 2)
        expected = np.linalg.norm(away) if inside > 0.0 else inside
        assert system.numeric.g_N(q, system.parameter_values)[0] == pytest.approx([expected - 0.03], abs=TOLERANCE)
        side = np.where(np.abs(x) - sides / 2 == inside, np.sign(x), 0.0)
        normal = away / np.linalg.norm(away) if inside > 0.0 else side
        slope = system.numeric.W_N(q, system.parameter_values)[0].ravel()[:number]
        np.testing.assert_allclose(slope, normal, atol=TOLERANCE)


def test_gears_that_roll_on_each_other_do_not_slip() -> None:
    """Surfaces of radii 1 and 2 that turn against each other at speeds 2 and -1 move alike at the contact."""
    system = built(CircleCircle, radius_a=1.0, radius_b=2.0)
    a, b = system.parameters["it.radius_a"], system.parameters["it.radius_b"]
    q = np.array([0.0, 0.0, 0.4, a + b, 0.0, -1.0])
    slip = system.numeric.W_T(q, system.parameter_values)[0].T @ [0, 0, 2.0, 0, 0, -2.0 * a / b]
    assert slip == pytest.approx([0.0], abs=1e-15)  # of speeds of 2 m/s, four roundings of 2e-16 m/s each


def test_journal_in_a_bearing_slips_at_its_surface() -> None:
    c, radius, at_a, at_b = 0.02, 0.3, (0.3, -0.1), (0.2, 0.4)
    first = PlanarBody("first", mass=1.0, inertia=0.1)
    second = PlanarBody("second", mass=1.0, inertia=0.1, position=(0.1, -0.5))
    pin = RevoluteClearance("pin", first, second, clearance=c, radius=radius, at_a=at_a, at_b=at_b, contact=ROUGH)
    system = Model([first, second, pin]).build()
    n, p = system.numeric, system.parameter_values
    for i, (q, v) in enumerate(random_motions(14)):
        outward = turned(0.6 * i, (1.0, 0.0))
        centre = q[:2] + turned(q[2], at_a)
        q[3:5] = centre + c * outward - turned(q[5], at_b)  # the journal touches in the direction `outward`
        point = centre + (c + radius) * outward
        assert n.g_N(q, p)[0] == pytest.approx([0.0], abs=TOLERANCE)
        relative = material_velocity(q, v, 1, point) - material_velocity(q, v, 0, point)
        # c = 0.02 m magnifies the round-off of positions of 3 m by 1/c in the direction of the eccentricity
        assert n.W_N(q, p)[0].T @ v == pytest.approx([-outward @ relative], abs=TOLERANCE / c)
        assert n.W_T(q, p)[0].T @ v == pytest.approx([turned(np.pi / 2, outward) @ relative], abs=TOLERANCE / c)


def test_slider_slips_along_the_guide_at_its_corners() -> None:
    half, height, direction, at_guide, at_slider = 0.1, 0.06, 0.4, (0.2, 0.1), (0.25, 0.12)
    bodies = [PlanarBody(name, mass=1.0, inertia=0.1) for name in ("guide", "slider")]
    joint = PrismaticClearance(
        "joint", *bodies, length=2 * half, height=height, direction=direction, at_guide=at_guide, at_slider=at_slider,
        clearance=0.3, contact=ROUGH,
    )  # fmt: skip
    system = Model([*bodies, joint]).build()
    for q, v in random_motions(15):
        axis = turned(q[2] + direction, (1.0, 0.0))
        expected = []
        for x, y in ((-half, -height / 2), (-half, height / 2), (half, -height / 2), (half, height / 2)):
            corner = q[3:5] + turned(q[5], np.add(at_slider, (x, y)))
            expected.append(axis @ (material_velocity(q, v, 1, corner) - material_velocity(q, v, 0, corner)))
        slip = system.numeric.W_T(q, system.parameter_values)[0].T @ v
        assert slip == pytest.approx(expected, abs=TOLERANCE)


def test_the_law_of_a_contact_and_its_size_are_read_from_the_parameters() -> None:
    system = built(PointPlane, size=0.5)
    law = [values.tolist() for values in system.numeric.contact_law(system.parameter_values)]
    given = [system.parameters[f"it.{name}"] for name in ("restitution", "friction", "tangential", "size")]
    assert law == [[value] for value in given] and given == pytest.approx([0.3, 0.2, 0.1, 0.5], rel=1e-14)
    changed = system.parameter_vector({"it.restitution": 0.9, "it.friction": 0.8, "it.tangential": 0.7, "it.size": 0.6})
    assert [values.tolist() for values in system.numeric.contact_law(changed)] == [[0.9], [0.8], [0.7], [0.6]]


@pytest.mark.parametrize("label", ["restitution", "tangential"])
def test_coefficients_of_restitution_end_at_one(label: str) -> None:
    with pytest.raises(ModelError, match=rf'PointPlane "it": {label} must be a number in \[0, 1\] \[-\], got 1.5'):
        built(PointPlane).parameter_vector({f"it.{label}": 1.5})


@pytest.mark.parametrize(
    ("kind", "numbers", "message"),
    [
        (CirclePlane, {"radius": 0.0}, r'CirclePlane "it": radius must be a positive number \[m\], got 0.0'),
        (CircleCircle, {"radius_a": 1.0, "radius_b": -1.0}, r"radius_b must be a positive number \[m\], got -1.0"),
        (PointPlane, {"size": 0.0}, r"size must be a positive number \[m\], got 0.0"),
        (PointPlane, {"direction": np.inf}, r"direction must be a finite number \[rad\], got inf"),
    ],
)
def test_surfaces_that_make_no_sense_are_refused(kind: type, numbers: dict[str, float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        built(kind, **numbers)


def test_an_overlap_of_surfaces_is_named() -> None:
    first, second = (
        PlanarBody("first", mass=1.0, inertia=0.1),
        PlanarBody("second", mass=1.0, inertia=0.1, position=(0, 1)),
    )
    wheels = CircleCircle("wheels", first, second, radius_a=0.7, radius_b=0.5, contact=ROUGH)
    with pytest.raises(ModelError, match='The contact "wheels" overlaps by 0.2 m at the start'):
        Model([first, second, wheels]).build()
