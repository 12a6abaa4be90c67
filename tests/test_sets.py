"""Convex sets: a projection is the point from which the rest of the set lies behind."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs.projections import Box, Disk, HalfLine, SecondOrderCone

CONTACTS = 40


def sets(rng: np.random.Generator, dimension: int) -> list[HalfLine | Box | Disk | SecondOrderCone]:
    """Each kind, with another number for each contact; some disks are points and some cones half-lines."""
    lower = -rng.random((CONTACTS, dimension))
    radius, mu = rng.random((2, CONTACTS)) * (rng.random((2, CONTACTS)) < 0.8)
    return [HalfLine(), Box(lower, lower + rng.random(lower.shape)), Disk(radius), SecondOrderCone(mu)]


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("kind", range(4))
def test_projections_obey_their_variational_inequality(kind: int, dimension: int) -> None:
    """(x - p) . (y - p) <= 0 for p = proj(x) and every y of the set, up to the rounding of 10^2."""
    if kind == 3 and dimension == 1:
        dimension = 2  # a cone has a tangential direction
    rng = np.random.default_rng(10 * kind + dimension)
    convex = sets(rng, dimension)[kind]
    for _ in range(50):
        x, other = rng.normal(size=(2, CONTACTS, dimension)) * 3.0
        p, y = convex.project(x), convex.project(other)
        assert p.shape == x.shape
        assert convex.contains(p, 1e-14).all()
        assert (((x - p) * (y - p)).sum(axis=-1) <= 1e-13).all()
        np.testing.assert_allclose(convex.project(p), p, atol=1e-14)


@pytest.mark.parametrize(
    ("convex", "inside", "outside"),
    [
        (HalfLine(), [0.0], [-1e-9]),
        (Box(-1.0, 1.0), [1.0], [1.0 + 1e-9]),
        (Disk(1.0), [0.6, 0.8], [0.6, 0.8 + 1e-9]),
        (SecondOrderCone(0.5), [2.0, 0.0, 1.0], [2.0, 0.0, 1.0 + 1e-9]),
        (SecondOrderCone(0.5), [0.0, 0.0, 0.0], [-1e-9, 0.0, 0.0]),
    ],
)
def test_the_border_belongs_to_the_set(convex: HalfLine, inside: list[float], outside: list[float]) -> None:
    assert convex.contains(np.array(inside)).all()
    assert not convex.contains(np.array(outside)).all()
    assert convex.contains(np.array(outside), 2e-9).all()


def test_the_three_parts_of_a_cone() -> None:
    """Inside it stays; behind the dual cone it goes to the tip; between, onto the surface, at right angles to it."""
    cone = SecondOrderCone(np.array([1.0, 1.0, 1.0]))
    x: Array = np.array([[2.0, 1.0, 0.0], [-2.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    np.testing.assert_array_equal(cone.project(x), [[2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]])


def test_a_cone_without_friction_is_a_half_line() -> None:
    x = np.array([[1.0, 2.0, 3.0], [-1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(SecondOrderCone(0.0).project(x), [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
