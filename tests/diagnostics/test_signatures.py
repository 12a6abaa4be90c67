"""Points, lines and planes of a slide in a rectangular guide, against the faces of the polytope of its free motion."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nonsmooth import (
    GaussQP,
    Gravity,
    Ground,
    InputError,
    Model,
    Rigid,
    SpatialBody,
    SpatialPrismaticClearance,
    simulate,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import active_sets, signature, signature_timeline, signatures

RECTANGLE = {"height": 0.08, "width": 0.06, "clearance": 1e-4}
SQUARE = {"height": 0.08, "width": 0.08, "clearance": 1e-4}
# the rectangle on its side, another limit of the twist, and a rectangle whose clearances are in the ratio of the square
LYING = {"height": 0.06, "width": 0.08, "clearance": 1e-4}
UNEQUAL = {"height": 0.08, "width": 0.06, "clearance": 1e-4, "side_clearance": 3e-4}
AS_SQUARE = {"height": 0.08, "width": 0.06, "clearance": 3e-5, "side_clearance": 4e-5}
LENGTH = 0.2


def inequalities(numbers: dict[str, float]) -> tuple[Array, Array]:
    """A x <= b for x = (y, z, r_x, r_y, r_z), one row per gap: displacement of a corner towards its wall."""
    h, w, c = numbers["height"], numbers["width"], numbers["clearance"]
    rows, room = [], []
    for wall, end, side in itertools.product((-1, 1), repeat=3):  # r x (l/2 end, h/2 wall, w/2 side), along y
        rows.append([wall, 0, -wall * side * w / 2, 0, wall * end * LENGTH / 2])
        room.append(c)
    for wall, end, side in itertools.product((-1, 1), repeat=3):  # r x (l/2 end, h/2 side, w/2 wall), along z
        rows.append([0, wall, wall * side * h / 2, -wall * end * LENGTH / 2, 0])
        room.append(numbers.get("side_clearance", c))
    return np.array(rows), np.array(room)


def vertices(numbers: dict[str, float]) -> tuple[Array, Array]:
    """Vertices of the polytope, and the inequalities active in each: solutions of five rows that obey all."""
    A, b = inequalities(numbers)
    found = {}
    for rows in itertools.combinations(range(16), 5):
        if abs(np.linalg.det(A[list(rows)])) < 1e-12:  # those of independent rows are above 1e-7 here
            continue
        x = np.linalg.solve(A[list(rows)], b[list(rows)])
        slack = (b - A @ x) / b
        if slack.min() > -1e-9:
            found[tuple(slack < 1e-9)] = x
    return np.array(list(found.values())), np.array(list(found), dtype=bool)


@pytest.mark.parametrize(
    ("numbers", "sets", "kinds"),
    [(RECTANGLE, 258, 16), (LYING, 258, 16), (UNEQUAL, 258, 16), (SQUARE, 242, 14), (AS_SQUARE, 242, 14)],
)
def test_active_sets_are_the_faces_of_the_polytope(numbers: dict[str, float], sets: int, kinds: int) -> None:
    """A face's active set is the intersection of those of its vertices; 258 and 242 are the published numbers."""
    _, active = vertices(numbers)
    faces = {tuple(one) for one in active}
    while True:
        more = {tuple(np.logical_and(face, one)) for face in faces for one in active} | faces
        if more == faces:
            break
        faces = more
    faces.discard((False,) * 16)
    assert {tuple(one) for one in active_sets(**numbers)} == faces
    assert len(faces) == sets
    assert len(signatures(**numbers)) == kinds


def test_the_slide_itself_touches_with_the_corners_of_its_active_sets() -> None:
    """At the middle of each face of the polytope, with the tilts as a real rotation: closed to second order."""
    guide, slide = Ground("guide"), SpatialBody("slide", mass=1.0, inertia=(1.0, 1.0, 1.0))
    joint = SpatialPrismaticClearance(
        "joint", guide, slide, length=LENGTH, contact=Rigid(restitution=0.0, friction=0.0), **RECTANGLE
    )
    system = Model([guide, slide, joint]).build()
    corners, active = vertices(RECTANGLE)
    for face in active_sets(**RECTANGLE):
        y, z, *r = np.mean(corners[np.all(active[:, face], axis=1)], axis=0)
        q = np.array([0.0, y, z, 1.0, *(0.5 * np.array(r))])  # the quaternion is normalised where it is used
        gaps = system.numeric.g_N(q, system.parameter_values)[0]
        # tilts are at most c / 30 mm = 0.003, whose square times a half length of 0.1 m is 1e-6 m, 1 % of the clearance
        assert np.array_equal(gaps < 0.02 * RECTANGLE["clearance"], face)


@pytest.mark.parametrize(
    ("touching", "words"),
    [
        ([], "free"),
        ([0], "1 point"),
        ([0, 1], "1 line"),
        ([0, 2], "1 line"),
        ([0, 3], "2 points"),
        ([0, 1, 2], "1 plane"),
        ([0, 1, 2, 3], "1 plane"),
        ([0, 1, 6, 7], "2 lines"),
        ([0, 1, 2, 3, 8, 9, 14, 15], "1 plane + 2 lines"),
        ([0, 5, 8, 9], "1 line + 2 points"),
    ],
)
def test_corners_of_a_wall_are_points_lines_and_planes(touching: list[int], words: str) -> None:
    corners = np.zeros(16, dtype=bool)
    corners[touching] = True
    assert signature(corners) == words


def test_a_slide_that_falls_into_a_corner_of_its_guide_comes_to_rest_on_two_planes() -> None:
    """Gravity along -y and along +z; the slide starts in the middle, turning slowly."""
    guide = Ground("guide")
    slide = SpatialBody("slide", mass=10.0, inertia=(0.1, 0.1, 0.05), angular_velocity=(0.0, 0.01, 0.02))
    joint = SpatialPrismaticClearance(
        "joint", guide, slide, length=LENGTH, contact=Rigid(restitution=0.0, friction=0.0), **RECTANGLE
    )
    system = Model([guide, slide, joint, Gravity(acceleration=(0.0, -9.81, 3.0))]).build()
    run = simulate(system, GaussQP(), t_end=0.02, dt=2e-4)
    timeline = signature_timeline(run, "joint")
    assert timeline.modes[0] == "free" and timeline.mode[0] == 0
    assert timeline.modes[timeline.mode[-1]] == "2 planes"
    # the fall: c = g t^2 / 2 less what the turn has taken, at most by the rotation 0.02 rad/s times 0.1 m
    fall = np.sqrt(2 * 1e-4 / 9.81)
    assert 0.8 * fall < timeline.durations()["free"] < fall + 2e-4
    rest = run.contact_force
    weight = sum(rest[f"joint.{label}"][-1] for label in joint.gap_labels)
    assert weight == pytest.approx([0.0, 98.1, -30.0], abs=1e-9)  # the sum is known, its split among corners is not


def test_only_a_slide_in_a_rectangular_guide_has_signatures() -> None:
    ball = SpatialBody("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    run = simulate(Model([ball]).build(), GaussQP(), t_end=1e-3, dt=1e-3)
    with pytest.raises(InputError, match="There is no slide in a rectangular guide 'ball'. There are: none."):
        signature_timeline(run, "ball")


def test_lengths_are_positive() -> None:
    with pytest.raises(InputError, match="active_sets: side_clearance must be a positive length in m, got 0.0"):
        active_sets(**RECTANGLE, side_clearance=0.0)
