"""Joints with clearance in space, against surfaces that are sampled, statics, and their ideal joints.

What holds for every clearance (rates, momentum, objectivity, concentric starts) is in test_every_contact.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nonsmooth import (
    CylindricalClearance,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Model,
    ModelError,
    PlanarBody,
    PrismaticClearance,
    RevoluteClearance,
    Rigid,
    SpatialBody,
    SpatialPrismaticClearance,
    SphericalClearance,
    simulate,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.joints import Joint
from nonsmooth.model.system import System

SMOOTH = Rigid(restitution=0.0, friction=0.0)
Z = (0.0, 0.0, 1.0)
R, C, L, S = 0.01, 1e-4, 0.04, 2e-4  # radius, radial clearance, engaged length, axial clearance [m]
AXES = {"axis_a": Z, "axis_b": Z}
BEARING = {"clearance": C, "length": L, "radius": R, "axial_clearance": S, **AXES}
SLEEVE = {"clearance": C, "length": L, "radius": R, **AXES}
SLIDE = {"length": 0.2, "height": 0.08, "width": 0.06, "clearance": 1e-3, "side_clearance": 2e-3}


def built(kind: type[Clearance], **numbers: Any) -> System:
    """The outer part is the ground, so that its axis is z (the guide's: x); the inner part starts concentric."""
    ground, inner = Ground(), SpatialBody("inner", mass=1.0, inertia=(0.1, 0.2, 0.3))
    return Model([ground, inner, kind("it", ground, inner, contact=SMOOTH, **numbers)]).build()


def gaps(system: System, position: Array, turn: Rotation) -> dict[str, float]:
    q = np.concatenate([position, turn.as_quat(scalar_first=True)])
    values = system.numeric.distance(q, system.parameter_values)[0]
    return {name.removeprefix("it").lstrip("."): float(x) for name, x in zip(system.contact_names, values, strict=True)}


def motions(seed: int, shift: Array, tilt: float, count: int = 20) -> list[tuple[Array, Rotation]]:
    """Displacements of the order of `shift` and rotations of the order of `tilt` about any axis."""
    random = np.random.default_rng(seed)
    return [
        (random.uniform(-1, 1, 3) * shift, Rotation.from_rotvec(random.uniform(-1, 1, 3) * tilt)) for _ in range(count)
    ]


# ------------------------------------------------------------------------------------------------ geometry of the gaps


def test_a_ball_in_a_socket_has_what_its_centre_leaves_of_the_clearance() -> None:
    system = built(SphericalClearance, clearance=C, at_b=(0.0, 0.0, 0.0))
    for position, turn in motions(1, np.full(3, C / 2), 3.0):
        e = float(np.linalg.norm(position))
        assert gaps(system, position, turn)[""] == pytest.approx(C - e, abs=1e-18)
        q = np.concatenate([position, turn.as_quat(scalar_first=True)])
        smooth = system.numeric.g_N(q, system.parameter_values)[0]
        assert smooth == pytest.approx([C - e - (C - e) ** 2 / (2 * C)], abs=1e-18)


def rim(radius: float, z: float, count: int = 3600) -> Array:
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(count, z)])


def test_end_circles_of_a_tilted_journal_are_off_by_no_more_than_stated() -> None:
    """Against the true distance of the sampled end circles from the sleeve's wall: too small, by r theta^2 / 2."""
    system = built(CylindricalClearance, **SLEEVE)
    stated = 2 * R * C**2 / L**2
    assert stated == pytest.approx(C / 800)  # the number of the docstring
    worst = 0.0
    for position, turn in motions(2, np.array([C, C, 0.1]), 2 * C / L, count=200):
        theta = np.arccos(turn.as_matrix()[2, 2])
        if theta > 2 * C / L:
            continue
        found = gaps(system, position, turn)
        for end, z in (("back", -L / 2), ("front", L / 2)):
            points = position + turn.apply(rim(R, z))
            true = R + C - np.max(np.hypot(points[:, 0], points[:, 1]))
            # 3600 points on the circle miss its highest by at most r (pi / 3600)^2 / 2 = 4e-9 m
            assert -4e-9 < true - found[end] < stated
            worst = max(worst, true - found[end])
    assert worst > 0.2 * stated  # so that the bound says something


@pytest.mark.parametrize("kind", [CylindricalClearance, RevoluteClearance])
def test_which_part_is_the_shorter_one_does_not_matter_for_parallel_axes(kind: type[Clearance]) -> None:
    """And in first order of the tilt neither: the middle of the journal moves along its axis by at most s."""
    numbers = SLEEVE if kind is CylindricalClearance else BEARING
    journal, sleeve = built(kind, **numbers), built(kind, **numbers, ends="sleeve")

    def of_sleeve(position: Array, turn: Rotation) -> dict[str, float]:
        """A sleeve's front end meets the front collar where the journal moves back; a rim's points are opposite."""
        found = gaps(sleeve, position, turn)
        swapped = {"axial_back": "axial_front", "axial_front": "axial_back"}
        return {label: found[swapped.get(label[:-2], label[:-2]) + label[-2:]] for label in found}

    for position, turn in motions(3, np.array([C, C, S]) / 2, 0.0):
        assert of_sleeve(position, turn) == pytest.approx(gaps(journal, position, turn), abs=1e-17)
    for position, turn in motions(4, np.array([C, C, S]) / 4, C / L):
        here, there = gaps(journal, position, turn), of_sleeve(position, turn)
        for label in ("back", "front") if kind is CylindricalClearance else ("radial_back", "radial_front"):
            # theta <= sqrt(3) c/L; the offsets differ by theta s/4 and by theta^2 L
            assert there[label] == pytest.approx(here[label], abs=2 * C / L * S / 4 + 4 * C**2 / L)


def test_collars_meet_points_of_the_rims() -> None:
    """Axial gaps are the distances of four points on each rim from planes at L/2 + s."""
    system = built(RevoluteClearance, **BEARING)
    assert len(gaps(system, np.zeros(3), Rotation.identity())) == system.nc == 2 + 2 * 4
    for position, turn in motions(5, np.array([C, C, S]), 0.01):
        found = gaps(system, position, turn)
        for end, sign in (("back", -1), ("front", 1)):
            rims = sign * (position + turn.apply(rim(R, sign * L / 2)))[:, 2]
            four = [found[f"axial_{end}_{i}"] for i in (1, 2, 3, 4)]
            # the mean of opposite points is the centre, and the lowest of four is above the rim's lowest by r theta 0.3
            assert np.mean(four) == pytest.approx(L / 2 + S - np.mean(rims), abs=1e-16)
            theta = np.arccos(turn.as_matrix()[2, 2])
            low = L / 2 + S - np.max(rims)
            assert low - 1e-12 <= min(four) <= low + R * theta * (1 - np.cos(np.pi / 4)) + 1e-12


def test_with_axes_held_parallel_one_radial_and_two_axial_gaps_remain() -> None:
    system = built(RevoluteClearance, **BEARING, parallel=True)
    found = gaps(system, np.array([3e-5, 4e-5, 1e-4]), Rotation.identity())
    assert found == pytest.approx({"radial": 5e-5, "axial_back": 3e-4, "axial_front": 1e-4}, abs=1e-17)
    sleeve = built(CylindricalClearance, **SLEEVE, parallel=True)
    assert sleeve.contact_names == ("it",)
    assert gaps(sleeve, np.array([3e-5, 4e-5, 7.0]), Rotation.identity())[""] == pytest.approx(5e-5, abs=1e-17)


@pytest.mark.parametrize("every_wall", [False, True])
def test_corners_of_a_slide_are_measured_from_the_walls(every_wall: bool) -> None:
    system = built(SpatialPrismaticClearance, **SLIDE, every_wall=every_wall)
    length, height, width, above, beside = (system.parameters[f"it.{name}"] for name in SLIDE)
    for position, turn in motions(6, np.full(3, 1e-3), 0.3):
        found = gaps(system, position, turn)
        assert len(found) == (32 if every_wall else 16)
        for label, gap in found.items():
            direction, wall, end, side, *far = label.split("_")
            sigma, at_end, at_side = ({"low": -1, "back": -1}.get(word, 1) for word in (wall, end, side))
            own = -sigma if far else sigma
            y, z = (own, at_side) if direction == "height" else (at_side, own)
            corner = position + turn.apply([at_end * length / 2, y * height / 2, z * width / 2])
            room = height / 2 + above if direction == "height" else width / 2 + beside
            assert gap == pytest.approx(room - sigma * corner[1 if direction == "height" else 2], abs=1e-16)


def test_a_bar_in_a_short_guide_has_the_gaps_of_the_guides_edges() -> None:
    """The same free motion to first order, measured from the guide's ends, wherever the bar has slid to."""
    slide, guide = built(SpatialPrismaticClearance, **SLIDE), built(SpatialPrismaticClearance, **SLIDE, ends="guide")
    for position, turn in motions(7, np.full(3, 5e-4), 5e-3):
        along = np.array([position[0] * 0.0, position[1], position[2]])
        here, there = gaps(slide, along, turn), gaps(guide, along, turn)
        # off by second order: tilts of 9e-3 times offsets of 2e-3 m, and squares of tilts times half lengths of 0.1 m
        assert there == pytest.approx(here, abs=3e-5)
        slid = along + 10.0 * turn.apply([1.0, 0.0, 0.0])
        assert gaps(guide, slid, turn) == pytest.approx(there, abs=1e-14)  # round-off of 10 m


# ------------------------------------------------------------------------------------------------------- ideal joints


@pytest.mark.parametrize(
    ("kind", "numbers", "name", "rows"),
    [
        (SphericalClearance, {"clearance": C, "at_a": (0.1, 0.2, 0.3), "at_b": (0.0, 0.1, 0.0)}, "Spherical", 3),
        (CylindricalClearance, SLEEVE, "Cylindrical", 4),
        (CylindricalClearance, SLEEVE | {"parallel": True}, "PointOnLine", 2),
        (RevoluteClearance, BEARING, "Revolute", 5),
        (RevoluteClearance, BEARING | {"parallel": True}, "Spherical", 3),
        (SpatialPrismaticClearance, SLIDE, "Prismatic", 5),
        (
            SpatialPrismaticClearance,
            SLIDE | {"axis_guide": (1, 2, 2), "across_guide": (0, 1, 0), "axis_slider": Z, "across_slider": (1, 1, 0)},
            "Prismatic",
            5,
        ),
    ],
)
def test_the_ideal_joint_closes_where_the_clearance_is_concentric(
    kind: type[Clearance], numbers: dict[str, Any], name: str, rows: int
) -> None:
    """Assembled with the ideal joint, beside parallel_axes() where axes are held so, all gaps are the clearances."""
    ground, inner = Ground(), SpatialBody("inner", mass=1.0, inertia=(0.1, 0.2, 0.3))
    loose = kind("it", ground, inner, contact=SMOOTH, **numbers)
    ideal = loose.ideal()
    assert (type(ideal).__name__, ideal.name, len(ideal.rows)) == (name, "it", rows)
    joints: list[Joint] = [ideal]
    if numbers.get("parallel"):
        assert isinstance(loose, RevoluteClearance | CylindricalClearance)
        joints.append(loose.parallel_axes())
    assembled = Model([ground, inner, *joints]).build(assemble=True)  # no redundant rows, else build() refuses
    system = Model([ground, inner, loose]).build() if name != "Prismatic" and "at_a" not in numbers else None
    if system is None:  # where the concentric position is not that of parallel frames
        q = assembled.start.q
        inner = SpatialBody("inner", mass=1.0, inertia=(0.1, 0.2, 0.3), position=tuple(q[:3]), quaternion=tuple(q[3:]))
        system = Model([ground, inner, kind("it", ground, inner, contact=SMOOTH, **numbers)]).build()
    found = system.numeric.distance(assembled.start.q, system.parameter_values)[0]
    clearances = {numbers[label] for label in ("clearance", "side_clearance", "axial_clearance") if label in numbers}
    assert {round(float(gap), 12) for gap in found} == clearances  # assembled to 1e-13


def test_ideal_joints_in_the_plane() -> None:
    ground, slider = Ground(), PlanarBody("slider", mass=1.0, inertia=0.1, position=(0.1, 0.2), angle=0.3)
    guide = PrismaticClearance(
        "guide", ground, slider, length=0.2, clearance=0.01, direction=0.3, at_guide=(0.1, 0.2), contact=SMOOTH
    )
    pin = RevoluteClearance("pin", ground, slider, clearance=0.01, at_a=(0.1, 0.2), contact=SMOOTH)
    for joint, kind in ((guide.ideal(), "Prismatic"), (pin.ideal(), "Revolute")):
        assert (type(joint).__name__, joint.dimensions) == (kind, (2,))
        assert Model([ground, slider, joint]).build().ng == 2  # closed at the start, else build() refuses


# ------------------------------------------------------------------------------------------------------------- motion


def test_a_ball_in_a_frictionless_socket_is_a_pendulum_of_the_length_of_the_clearance() -> None:
    """Half a period of a pendulum of length 0.1 m and small swing brings the centre to the other side."""
    c, swing = 0.1, 0.05
    ground = Ground()
    start = c * np.array([0.6 * np.sin(swing), 0.8 * np.sin(swing), -np.cos(swing)])
    ball = SpatialBody("ball", mass=2.0, inertia=(0.1, 0.1, 0.1), position=tuple(start))
    socket = SphericalClearance("socket", ground, ball, clearance=c, contact=SMOOTH)
    system = Model([ground, ball, socket, Gravity(acceleration=(0, 0, -9.81))]).build()
    half = np.pi * np.sqrt(c / 9.81) * (1 + swing**2 / 16)
    run = simulate(system, GeneralizedAlpha(), t_end=half, dt=half / 200)
    end = np.array([run.q[f"ball.{i}"][-1] for i in "xyz"])
    # it turns around there, so that errors of the period count in second order; measured 2e-8 of the swing
    assert end == pytest.approx(start * [-1, -1, 1], abs=1e-6 * c * swing)
    assert run.lam_N["socket"][-1] == pytest.approx(2.0 * 9.81 * np.cos(swing), rel=1e-3)


def test_a_journal_under_an_eccentric_load_rests_on_its_two_ends_by_the_lever() -> None:
    """Weight at x from the middle of the engaged length: the ends carry m g (1/2 -+ x/L)."""
    x, mass = 0.01, 3.0
    ground = Ground()
    shaft = SpatialBody("shaft", mass=mass, inertia=(0.01, 0.01, 0.001), position=(-C, 0, x))
    sleeve = CylindricalClearance("sleeve", ground, shaft, at_b=(0, 0, -x), contact=SMOOTH, **SLEEVE)
    system = Model([ground, shaft, sleeve, Gravity(acceleration=(-9.81, 0, 0))]).build()
    run = simulate(system, GaussQP(), t_end=1e-2, dt=1e-3)
    for end, sign in (("back", -1), ("front", 1)):
        force = run.contact_force[f"sleeve.{end}"][-1]
        # round-off of the weight, magnified by the position over the clearance
        assert force == pytest.approx([mass * 9.81 * (0.5 + sign * x / L), 0.0, 0.0], abs=1e-9)


# ------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("kind", "numbers", "message"),
    [
        (RevoluteClearance, {"clearance": C, "axis_a": Z}, "axis_a is given without axis_b; give both in space"),
        (RevoluteClearance, {"clearance": C, "axial_clearance": S}, "are for space; give the axes too"),
        (RevoluteClearance, {"clearance": C, **AXES, "length": L}, "in space it needs length and axial_clearance"),
        (
            RevoluteClearance,
            {"clearance": C, **AXES, "length": L, "axial_clearance": S},
            "its rims need a radius in space: give radius or collar_radius",
        ),
        (RevoluteClearance, BEARING | {"points": 2}, "points must be a whole number >= 3"),
        (RevoluteClearance, BEARING | {"ends": "bush"}, 'ends must be "journal" or "sleeve", the shorter part, got'),
        (CylindricalClearance, SLEEVE | {"axis_b": (0, 0, 0)}, "axis_b must be a direction, a vector that is not zero"),
        (SpatialPrismaticClearance, SLIDE | {"ends": "rail"}, 'ends must be "slider" or "guide"'),
        (SpatialPrismaticClearance, SLIDE | {"across_guide": (2, 0, 0)}, "across_guide must not be along axis_guide"),
        (SpatialPrismaticClearance, SLIDE | {"every_wall": True, "ends": "guide"}, "needs corners of the slide"),
    ],
)
def test_joints_that_make_no_sense_are_refused(kind: type[Clearance], numbers: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        built(kind, **numbers)


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        (SphericalClearance, {"clearance": C}),
        (CylindricalClearance, {"clearance": C, "length": L, **AXES}),
        (RevoluteClearance, {"clearance": C, "length": L, "axial_clearance": S, "collar_radius": R, **AXES}),
    ],
)
def test_friction_of_round_parts_needs_a_radius(kind: type[Clearance], numbers: dict[str, Any]) -> None:
    ground, inner = Ground(), SpatialBody("inner", mass=1.0, inertia=(0.1, 0.2, 0.3))
    with pytest.raises(ModelError, match="friction 0.2 acts on the journal's surface, so give its radius"):
        kind("it", ground, inner, contact=Rigid(restitution=0.0, friction=0.2), **numbers)


def test_axes_of_the_plane_are_parallel_already() -> None:
    ground, body = Ground(), PlanarBody("body", mass=1.0, inertia=0.1)
    with pytest.raises(ModelError, match="parallel_axes.. is for space"):
        RevoluteClearance("pin", ground, body, clearance=C, contact=SMOOTH).parallel_axes()
