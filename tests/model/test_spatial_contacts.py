"""Free contacts in space, against points of their surfaces that are computed another way, and in motion.

What holds for every contact (rates, momentum, objectivity) is in test_every_contact.py.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nonsmooth import (
    BoxPlane,
    CylinderPlane,
    EllipsoidPlane,
    GaussQP,
    Gravity,
    Ground,
    Model,
    ModelError,
    PlanarBody,
    PointPlane,
    Rigid,
    SpatialBody,
    SpherePlane,
    SphereSphere,
    simulate,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.laws import HertzStiffness, Material
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.contacts import Contact
from nonsmooth.model.system import System

ROUGH = Rigid(restitution=0.3, friction=0.2)
PLANE = {"normal": (1.0, 2.0, 2.0), "at_a": (0.3, -0.1, 0.2), "at_b": (0.2, 0.4, 0.1)}
# lengths of the order of 1 to 5, some dozens of operations of 1e-16 each
TOLERANCE = 2e-13


def built(kind: type[Contact], **numbers: Any) -> System:
    """A contact between bodies that start far apart along the normal."""
    first = SpatialBody("first", mass=1.0, inertia=(0.1, 0.2, 0.3))
    second = SpatialBody("second", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(9.0, 9.0, 9.0))
    return Model([first, second, kind("it", first, second, contact=ROUGH, **numbers)]).build()


def placements(seed: int, count: int = 10) -> list[tuple[Array, Array, Rotation, Array, Rotation]]:
    """Coordinates, and position and orientation of the two bodies."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        r_a, r_b = random.uniform(-3, 3, (2, 3))
        R_a, R_b = Rotation.random(2, rng=random)
        q = np.concatenate([r_a, R_a.as_quat(scalar_first=True), r_b, R_b.as_quat(scalar_first=True)])
        found.append((q, r_a, R_a, r_b, R_b))
    return found


def height(point: Array, r_a: Array, R_a: Rotation) -> float:
    """Of a point of the ground frame above the plane."""
    normal = R_a.apply(np.array(PLANE["normal"]) / 3.0)
    return float(normal @ (point - r_a - R_a.apply(PLANE["at_a"])))


def test_a_point_above_a_plane() -> None:
    system = built(PointPlane, **PLANE)
    assert "it.direction" not in system.parameters
    for q, r_a, R_a, r_b, R_b in placements(1):
        point = r_b + R_b.apply(PLANE["at_b"])
        gap = system.numeric.g_N(q, system.parameter_values)[0]
        assert gap == pytest.approx([height(point, r_a, R_a)], abs=TOLERANCE)


def test_the_length_of_a_normal_does_not_count() -> None:
    one, other = built(PointPlane, **PLANE), built(PointPlane, **PLANE | {"normal": (10.0, 20.0, 20.0)})
    for q, *_ in placements(2):
        there = other.numeric.g_N(q, other.parameter_values)[0]
        assert one.numeric.g_N(q, one.parameter_values)[0] == pytest.approx(there, abs=TOLERANCE)


def test_a_sphere_above_a_plane_and_a_sphere_beside_a_sphere() -> None:
    plane = built(SpherePlane, radius=0.25, **PLANE)
    pair = built(SphereSphere, radius_a=0.15, radius_b=0.25, at_a=PLANE["at_a"], at_b=PLANE["at_b"])
    for q, r_a, R_a, r_b, R_b in placements(3):
        centre = r_b + R_b.apply(PLANE["at_b"])
        assert plane.numeric.g_N(q, plane.parameter_values)[0] == pytest.approx(
            [height(centre, r_a, R_a) - 0.25], abs=TOLERANCE
        )
        distance = np.linalg.norm(centre - r_a - R_a.apply(PLANE["at_a"]))
        assert pair.numeric.g_N(q, pair.parameter_values)[0] == pytest.approx([distance - 0.4], abs=TOLERANCE)


def test_corners_of_a_box_above_a_plane_by_their_names() -> None:
    edges = np.array([0.2, 0.3, 0.5])
    system = built(BoxPlane, edges=tuple(edges), **PLANE)
    for q, r_a, R_a, r_b, R_b in placements(4):
        gaps = dict(zip(system.contact_names, system.numeric.g_N(q, system.parameter_values)[0], strict=True))
        assert len(gaps) == 8
        for sides in itertools.product(("low", "high"), repeat=3):
            signs = np.array([{"low": -0.5, "high": 0.5}[side] for side in sides])
            corner = r_b + R_b.apply(PLANE["at_b"] + signs * edges)
            assert gaps[f"it.{'_'.join(sides)}"] == pytest.approx(height(corner, r_a, R_a), abs=TOLERANCE)


@pytest.mark.parametrize("points", [0, 64])
def test_rims_of_a_cylinder_above_a_plane(points: int) -> None:
    """The lowest of 20000 points on each rim, against the lowest point in closed form and the lowest of 64."""
    radius, length, axis = 0.2, 0.5, np.array([2.0, -1.0, 2.0]) / 3.0
    system = built(CylinderPlane, radius=radius, length=length, axis=tuple(3.0 * axis), points=points, **PLANE)
    t1 = np.cross(axis, [1.0, 0.0, 0.0]) / np.linalg.norm(np.cross(axis, [1.0, 0.0, 0.0]))
    angle = np.linspace(0, 2 * np.pi, 20000)[:, None]
    rim = radius * (np.cos(angle) * t1 + np.sin(angle) * np.cross(axis, t1))
    for q, r_a, R_a, r_b, R_b in placements(5):
        gaps = dict(zip(system.contact_names, system.numeric.g_N(q, system.parameter_values)[0], strict=True))
        for end, sign in (("back", -1), ("front", 1)):
            centre = height(r_b + R_b.apply(PLANE["at_b"] + sign * length / 2 * axis), r_a, R_a)
            lowest = centre + np.min(R_b.apply(rim) @ R_a.apply(np.array(PLANE["normal"]) / 3.0))
            found = [gap for name, gap in gaps.items() if name.startswith(f"it.{end}")]
            assert len(found) == max(points, 1)
            # between two of n points the rim is lower by at most r (1 - cos(pi / n)): 5e-9 m for 20000, 2.4e-4 m for 64
            assert -1e-8 < min(found) - lowest < (2.5e-4 if points else 1e-8)


def test_an_ellipsoid_above_a_plane() -> None:
    """The lowest of 250000 points of the surface; between them it is lower by at most h^2 / 8 of a step of 9e-3 rad."""
    semi_axes, turn = np.array([0.2, 0.03, 0.4]), np.array([0.1, 0.7, -0.5, 0.5])
    system = built(EllipsoidPlane, semi_axes=tuple(semi_axes), quaternion=tuple(turn), **PLANE)
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 701), np.linspace(0, np.pi, 351))
    sphere = np.stack([np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v)], axis=-1).reshape(-1, 3)
    surface = Rotation.from_quat(turn, scalar_first=True).apply(sphere * semi_axes)
    for q, r_a, R_a, r_b, R_b in placements(7):
        normal = R_b.inv().apply(R_a.apply(np.array(PLANE["normal"]) / 3.0))
        lowest = height(r_b + R_b.apply(PLANE["at_b"]), r_a, R_a) + np.min(surface @ normal)
        (gap,) = system.numeric.g_N(q, system.parameter_values)[0]
        assert -1e-5 * max(semi_axes) < gap - lowest < 1e-14


def test_an_ellipsoid_of_equal_semi_axes_is_a_sphere() -> None:
    """In gap and in its rates, whatever its own orientation."""
    one = built(EllipsoidPlane, semi_axes=(0.25, 0.25, 0.25), quaternion=(0.48, -0.6, 0.0, 0.64), **PLANE)
    other = built(SpherePlane, radius=0.25, **PLANE)
    for q, *_ in placements(8):
        for name in ("g_N", "W_N", "W_T"):
            found, wanted = (getattr(each.numeric, name)(q, each.parameter_values)[0] for each in (one, other))
            assert found == pytest.approx(wanted, abs=TOLERANCE)


def test_bad_numbers_of_an_ellipsoid_are_named() -> None:
    with pytest.raises(ModelError, match=r"quaternion must have norm 1 within 1e-06, got \(1.0, 1.0, 0.0, 0.0\)"):
        built(EllipsoidPlane, semi_axes=(0.2, 0.3, 0.4), quaternion=(1.0, 1.0, 0.0, 0.0), **PLANE)
    with pytest.raises(ModelError, match="semi_axes"):
        built(EllipsoidPlane, semi_axes=(0.2, 0.0, 0.4), **PLANE)
    stiff = Compliant(HertzStiffness(Material(young=2e11, poisson=0.3), Material(young=2e11, poisson=0.3)))
    with pytest.raises(ModelError, match="needs effective_radius, which this contact does not have"):
        EllipsoidPlane("it", "a", "b", semi_axes=(0.2, 0.3, 0.4), normal=(0, 0, 1), contact=stiff)


def test_cylinders_with_different_numbers_of_points_stand_side_by_side() -> None:
    """Functions are shared by elements of a kind; the number of points makes another kind."""
    ground = Ground()
    bodies = [SpatialBody(f"roll{n}", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0, 0, n)) for n in (3, 5)]
    numbers = {"radius": 0.2, "length": 0.5, "axis": (1, 0, 0), "normal": (0, 0, 1), "contact": ROUGH}
    rolls = [
        CylinderPlane(f"floor{n}", ground, body, points=n, **numbers) for n, body in zip((3, 5), bodies, strict=True)
    ]
    system = Model([ground, *bodies, *rolls]).build()
    gaps = system.numeric.g_N(system.start.q, system.parameter_values)[0]
    assert len(gaps) == system.nc == 6 + 10
    assert gaps[:6].mean() == pytest.approx(3.0) and gaps[6:].mean() == pytest.approx(5.0)  # of rims about centres


def test_what_a_compliant_law_may_ask_of_spheres() -> None:
    """Hertz's contact of two spheres needs the effective radius; a point has none."""
    steel = Material(young=2e11, poisson=0.3)
    law = Compliant(HertzStiffness(steel, steel))
    first, second = (SpatialBody(name, mass=1.0, inertia=(1.0, 1.0, 1.0)) for name in ("first", "second"))
    assert SphereSphere("it", first, second, radius_a=0.1, radius_b=0.1, contact=law).contact is law
    with pytest.raises(ModelError, match="which this contact does not have"):
        PointPlane("it", first, second, normal=(0, 0, 1), contact=law)


def test_a_ball_that_slides_rolls_after_two_sevenths_of_v_over_mu_g() -> None:
    """v0 = 1 m/s, mu = 0.2: slip ends at t = 2 v0 / (7 mu g), then the ball rolls on straight with 5/7 v0."""
    mass, radius, mu, v0 = 2.0, 0.1, 0.2, 1.0
    start = v0 * np.array([0.6, 0.8, 0.0])
    ground = Ground()
    ball = SpatialBody(
        "ball", mass=mass, inertia=(0.4 * mass * radius**2,) * 3, position=(0, 0, radius), velocity=tuple(start)
    )
    floor = SpherePlane(
        "floor", ground, ball, radius=radius, normal=(0, 0, 1), contact=Rigid(restitution=0.0, friction=mu)
    )
    system = Model([ground, ball, floor, Gravity(acceleration=(0, 0, -9.81))]).build()
    sliding = 2 * v0 / (7 * mu * 9.81)
    run = simulate(system, GaussQP(), t_end=1.2 * sliding, dt=sliding / 50)
    half = np.searchsorted(run.t, sliding / 2)
    velocity = np.column_stack([run.v[f"ball.{i}"] for i in "xyz"])
    # while it slides the deceleration is constant, which a step of any length integrates exactly
    assert velocity[half] == pytest.approx(start * (1 - mu * 9.81 * run.t[half] / v0), abs=1e-9)
    assert velocity[-1] == pytest.approx(5 / 7 * start, abs=1e-9)
    spin = np.array([run.v[f"ball.w{i}"][-1] for i in "xyz"])
    R = Rotation.from_quat([run.q[f"ball.q{i}"][-1] for i in "wxyz"], scalar_first=True)
    assert velocity[-1] + np.cross(R.apply(spin), [0, 0, -radius]) == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "numbers", "message"),
    [
        (PointPlane, {"normal": (0.0, 0.0, 0.0)}, r'PointPlane "it": normal must be a direction, a vector that is not'),
        (PointPlane, {"normal": (0.0, 1.0)}, "normal takes 3 components, got 2"),
        (PointPlane, PLANE | {"direction": 1.0}, "direction is for planar models; in space give normal"),
        (PointPlane, PLANE | {"at_a": (0.0, 1.0)}, "at_a takes 3 components in a spatial model"),
        (SpherePlane, PLANE | {"radius": 0.0}, r"radius must be a positive number \[m\], got 0.0"),
        (BoxPlane, PLANE | {"edges": (1.0, 1.0, -1.0)}, r"edges_z must be a positive number \[m\], got -1.0"),
        (
            CylinderPlane,
            PLANE | {"radius": 1.0, "length": 1.0, "axis": (0, 0, 1), "points": 2},
            "points must be 0 or a whole number >= 3 and <= 1000, the points on a rim, got 2",
        ),
    ],
)
def test_surfaces_that_make_no_sense_are_refused(kind: type[Contact], numbers: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        built(kind, **numbers)


def test_a_plane_is_of_space_and_a_wall_without_normal_of_the_plane() -> None:
    first, second = (PlanarBody(name, mass=1.0, inertia=0.1) for name in ("first", "second"))
    with pytest.raises(ModelError, match="it is spatial, but the model is planar by its first body"):
        Model([first, second, PointPlane("it", first, second, normal=(0, 0, 1), contact=ROUGH)]).build()
    with pytest.raises(ModelError, match="it is planar, but the model is spatial by its first body"):
        built(PointPlane)
