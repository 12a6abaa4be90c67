"""Polygons: distances against brute force, pieces that do not overlap in free space, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from nonsmooth import CirclePolygon, Compliant, Ground, Model, ModelError, PlanarBody, PointBox, PointPolygon, Rigid
from nonsmooth.laws import Flores
from nonsmooth.model.assembly import ElementFunctions

ROUGH = Rigid(restitution=0.3, friction=0.2)
SOFT = Compliant(Flores(stiffness=1e8, exponent=1.5, restitution=0.5))


def wheel(slots: int = 5) -> list[tuple[float, float]]:
    """A wheel with slots of the width 6 between the radii 20 and 50."""
    turns = (np.exp(2j * np.pi * k / slots) for k in range(slots))
    return [((turn * (u + 1j * v)).real, (turn * (u + 1j * v)).imag) for turn in turns
            for u, v in ((50, -3), (20, -3), (20, 3), (50, 3))]  # fmt: skip


TEETH = [(0.0, -1.0), (0, 0), (-10, 3), (-10, 0), (-20, 3), (-20, 0), (-30, 3), (-30, -1)]
#: by name corners, number of pieces, and whether all end at re-entrant corners
POLYGONS = {
    "triangle": ([(0, 0), (2, 0), (0.5, 1.5)], 1, True),
    "quadrilateral with straight corners": ([(0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1)], 1, True),
    "L": ([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)], 2, False),
    "T": ([(1, 0), (2, 0), (2, 2), (3, 2), (3, 3), (0, 3), (0, 2), (1, 2)], 2, True),
    "U": ([(0, 0), (3, 0), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)], 4, False),
    "star": ([((2 - k % 2) * np.cos(k * np.pi / 5), (2 - k % 2) * np.sin(k * np.pi / 5)) for k in range(10)], 5, True),
    "flat valley": ([(0, -1), (4, -1), (4, 0.3), (2, 0), (0, 0.2)], 3, False),
    "rack": ([(-40, -10), (10, -10), (10, -1), *TEETH, (-40, -1)], 4, True),
    "wheel": (wheel(), 10, True),
}


def distance(x: np.ndarray, corners: np.ndarray) -> float:
    """Distance from the nearest edge, negative inside."""
    nearest, inside = np.inf, False
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        share = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        nearest = min(nearest, float(np.linalg.norm(x - a - share * (b - a))))
        if (a[1] > x[1]) != (b[1] > x[1]):
            inside ^= x[0] < (b[0] - a[0]) * (x[1] - a[1]) / (b[1] - a[1]) + a[0]
    return -nearest if inside else nearest


FUNCTIONS = ElementFunctions(2)  # makes those of an element once


def gaps(it: PointPolygon, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gaps of a point in the frame of the polygon, and their derivatives by its place."""
    found = FUNCTIONS.gaps(it)([0, 0, 1, 0], [*x, 1, 0], list(it.numbers().values()))
    return np.array(found[0]).ravel(), np.array(found[3])[:, :2]


@pytest.mark.parametrize("name", POLYGONS)
def test_the_least_gap_is_the_distance(name: str) -> None:
    """Everywhere outside; just inside one piece has it, with the normal of the edge, and no other one is closed."""
    given, pieces, at_entrant = POLYGONS[name]
    corners, random = np.array(given, float), np.random.default_rng(3)
    size = np.max(np.ptp(corners, axis=0))
    it = PointPolygon("it", "a", "b", corners=corners, contact=ROUGH)
    assert len(it.gap_labels) == pieces
    low, high = np.min(corners, axis=0) - 0.3 * size, np.max(corners, axis=0) + 0.3 * size
    for x in random.uniform(low, high, (100, 2)):
        true = distance(x, corners)
        assert np.min(gaps(it, x)[0]) == pytest.approx(true, abs=1e-14 * size) if true > 0.0 else True
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = (b - a) / np.linalg.norm(b - a)
        normal = np.array([along[1], -along[0]])
        for share in (0.01, 0.4, 0.99):
            g, slope = gaps(it, a + share * (b - a) - 1e-6 * size * normal)
            assert np.sort(g)[0] == pytest.approx(-1e-6 * size, abs=1e-14 * size)
            assert len(g) == 1 or np.sort(g)[1] > 0.0
            np.testing.assert_allclose(slope[np.argmin(g)], normal, atol=1e-14)
    if at_entrant:
        PointPolygon("it", "a", "b", corners=corners, contact=SOFT)
    else:
        with pytest.raises(ModelError, match="twice the stiffness; give it a rigid law, or give several polygons"):
            PointPolygon("it", "a", "b", corners=corners, contact=SOFT)


def test_gaps_are_convex_along_straight_ways() -> None:
    """On which the bound of contacts missed between two rows relies, as on a distance that no motion outruns."""
    random = np.random.default_rng(4)
    for given, _, _ in POLYGONS.values():
        it = PointPolygon("it", "a", "b", corners=given, contact=ROUGH)
        size = np.max(np.ptp(np.array(given), axis=0))
        for start, end in random.uniform(-size, size, (10, 2, 2)):
            g = np.array([gaps(it, start + s * (end - start))[0] for s in (0.0, 0.5, 1.0)])
            assert np.all(g[1] <= 0.5 * (g[0] + g[2]) + 1e-14 * size)
            assert np.all(abs(g[2] - g[0]) <= np.linalg.norm(end - start) + 1e-14 * size)


def test_a_turned_box_is_a_polygon() -> None:
    corners = [
        (0.4 + np.cos(t + 0.3) * 0.5, 0.1 + np.sin(t + 0.3) * 0.5) for t in np.arctan2([-3, -3, 3, 3], [-4, 4, 4, -4])
    ]
    bodies = Ground(), PlanarBody("b", mass=1.0, inertia=1.0, position=(9.0, 0.0))
    both = [
        PointBox("box", "ground", "b", width=0.8, height=0.6, angle=0.3, radius=0.1, at_a=(0.4, 0.1), contact=ROUGH),
        CirclePolygon("polygon", "ground", "b", radius=0.1, corners=corners, contact=ROUGH),
    ]
    system, random = Model([*bodies, *both]).build(), np.random.default_rng(5)
    for _ in range(50):
        q, p = random.uniform(-1.0, 1.0, 3), system.parameter_values
        for values in (system.numeric.g_N(q, p)[0], system.numeric.W_N(q, p)[0].T, system.numeric.W_T(q, p)[0].T):
            np.testing.assert_allclose(values[0], values[1], atol=1e-14)
    with pytest.raises(ModelError, match="angle is for planar models"):
        PointBox("box", "ground", "b", width=1.0, height=1.0, depth=1.0, angle=0.3, contact=ROUGH)


@pytest.mark.parametrize(
    ("corners", "what"),
    [
        ([(0, 0), (1, 0)], "must be 3 to 100 pairs"),
        ([(0, 0), (1, 0), (1, 1, 1)], "must be pairs"),
        ((0, 0, 1, 0, 1, 1, 0), "must be 3 to 100 pairs"),
        ("square", "must be"),
        ([(0, 0), (1, 0), (1, np.nan)], "corners_y3 must be"),
        ([(0, 0), (1, 0), (1, 1), (0, 0)], "corners 1 and 4 coincide"),
        ([(0, 0), (0, 1), (1, 1)], "clockwise order; reverse the list"),
        ([(0, 0), (2, 0), (0, 1), (2, 1)], "edges 2 and 4 cross or touch"),
        ([(0, 0), (2, 0), (2, 1), (1, 0), (0, 1)], "edges 1 and 3 cross or touch"),
        ([(0, 0), (2, 0), (1, 0)], "fold back at corner"),
        ([(k, 0) for k in range(101)], "must be 3 to 100 pairs"),
    ],
)
def test_what_is_no_polygon_is_refused_in_one_sentence(corners: object, what: str) -> None:
    with warnings.catch_warnings(), pytest.raises(ModelError, match=what) as error:
        warnings.simplefilter("error")
        PointPolygon("it", "a", "b", corners=corners, contact=ROUGH)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_layers_and_other_numbers() -> None:
    """Units, a layer of one's own, and parameters of a run, which may not need other pieces."""
    hook = [("0 mm", 0), (3, 0), (3, 1), (1, 1), (1, "2 m"), (0, 2)]
    body = PlanarBody("b", mass=1.0, inertia=1.0, position=(9.0, 0.0))
    it = PointPolygon("it", "ground", body, corners=hook, layer=0.1, contact=ROUGH)
    assert it.numbers()["corners_y5"] == 2.0 and it.numbers()["layer"] == 0.1
    with pytest.raises(ModelError, match="too thin behind an edge for a layer of 5 m"):
        PointPolygon("it", "ground", body, corners=POLYGONS["U"][0], layer=5.0, contact=ROUGH)
    model = Model([Ground(), body, it])
    longer = model.build().parameter_vector({"it.corners_x2": 4.0, "it.corners_x3": 4.0})
    assert longer.size
    for changed in ({"it.corners_y4": -0.1}, {"it.corners_x4": 0.1, "it.corners_y4": 1.9}):
        with pytest.raises(ModelError, match="cross or touch|would be others; build the model|coincide"):
            model.build().parameter_vector(changed)
