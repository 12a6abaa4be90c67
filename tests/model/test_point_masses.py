"""Masses added to a body: the composite against sums over its parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nonsmooth import Ground, Model, ModelError, PlanarBody, PointMass, Revolute, SpatialBody, with_point_masses
from nonsmooth.compile.casadi_call import Array


def test_two_masses_on_a_rod_without_one() -> None:
    """A dumb-bell: J = m_1 m_2 / (m_1 + m_2) d^2 about the common centre, which divides d by the masses."""
    rod = PlanarBody("rod", mass=1e-12, inertia=1e-12)
    loaded = with_point_masses(rod, [PointMass(2.0, (0.0, 0.1)), PointMass(3.0, (0.0, 0.6))])
    assert loaded.body.mass == pytest.approx(5.0, rel=1e-11)
    assert loaded.shift == pytest.approx((0.0, (2 * 0.1 + 3 * 0.6) / 5), rel=1e-11)
    assert loaded.body.inertia == pytest.approx(6 / 5 * 0.5**2, rel=1e-11)
    assert loaded.at((0.0, 0.6)) == pytest.approx((0.0, 0.2), rel=1e-11)


def parts(dimension: int) -> tuple[Any, list[PointMass]]:
    if dimension == 2:
        body: Any = PlanarBody(
            "b", 1.5, 0.3, position=(0.3, -0.2), angle=0.8, velocity=(1.0, 2.0), angular_velocity=3.0
        )
        return body, [PointMass(0.5, (0.4, 0.1)), PointMass(0.2, (-0.3, 0.5))]
    body = SpatialBody(
        "b", 1.5, (0.3, 0.4, 0.5, 0.02, -0.03, 0.04), position=(0.3, -0.2, 0.1), quaternion=(0.48, -0.6, 0.0, 0.64),
        velocity=(1.0, 2.0, -0.5), angular_velocity=(3.0, -1.0, 2.0),
    )  # fmt: skip
    return body, [PointMass(0.5, (0.4, 0.1, 0.2)), PointMass(0.2, (-0.3, 0.5, 0.0))]


def motion(body: Any, at: Array) -> tuple[Array, Array, Array]:
    """Place and velocity of a body point, and the rotation of the body, with the plane in space."""
    if isinstance(body, PlanarBody):
        rotation = Rotation.from_rotvec([0.0, 0.0, body.angle]).as_matrix()
        position, velocity, at = (np.append(x, 0.0) for x in (body.position, body.velocity, at))
        omega = np.array([0.0, 0.0, body.angular_velocity])
    else:
        rotation = Rotation.from_quat(body.quaternion, scalar_first=True).as_matrix()
        position, velocity, omega = np.array(body.position), np.array(body.velocity), np.array(body.angular_velocity)
    return position + rotation @ at, velocity + rotation @ np.cross(omega, at), rotation @ omega


def spin(body: Any) -> Array:
    """Angular momentum about the body's own centre of mass, ground frame."""
    if isinstance(body, PlanarBody):
        return np.array([0.0, 0.0, body.inertia * body.angular_velocity])
    xx, yy, zz, xy, xz, yz = body.inertia
    rotation = Rotation.from_quat(body.quaternion, scalar_first=True).as_matrix()
    return rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ np.array(body.angular_velocity)


@pytest.mark.parametrize("dimension", [2, 3])
def test_momentum_and_energy_of_the_composite_are_sums_over_its_parts(dimension: int) -> None:
    body, masses = parts(dimension)
    loaded = with_point_masses(body, masses)
    origin = np.zeros(dimension)
    r, v, omega = motion(body, origin)
    momentum, moment = body.mass * v, body.mass * np.cross(r, v) + spin(body)
    energy = body.mass * v @ v / 2 + omega @ spin(body) / 2
    for one in masses:
        r, v, _ = motion(body, np.array(one.at))
        momentum, moment = momentum + one.mass * v, moment + one.mass * np.cross(r, v)
        energy += one.mass * v @ v / 2
        moved = motion(loaded.body, np.array(loaded.at(one.at)))
        assert moved[0] == pytest.approx(r, abs=1e-15) and moved[1] == pytest.approx(v, abs=1e-14)
    r, v, omega = motion(loaded.body, origin)
    assert loaded.body.mass * v == pytest.approx(momentum, abs=1e-14)
    assert loaded.body.mass * np.cross(r, v) + spin(loaded.body) == pytest.approx(moment, abs=1e-14)
    assert loaded.body.mass * v @ v / 2 + omega @ spin(loaded.body) / 2 == pytest.approx(energy, rel=1e-15)
    assert type(loaded.body) is type(body) and loaded.body.name == body.name


def test_a_loaded_crank_is_hung_by_its_former_points() -> None:
    crank = PlanarBody("crank", 0.2, 1e-4, position=(0.025, 0.0))
    loaded = with_point_masses(crank, [PointMass(0.1, (0.04, 0.01))])
    pin = Revolute("pin", "ground", loaded.body, at_b=loaded.at((-0.025, 0.0)))
    system = Model([Ground(), loaded.body, pin]).build()  # which refuses an open joint
    assert system.parameters["crank.mass"] == pytest.approx(0.3, rel=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PointMass(0.0, (0.0, 0.0)), r"PointMass: mass must be a positive number \[kg\], got 0.0"),
        (lambda: PointMass(1.0, (0.0,)), r"PointMass: at must be two or three finite numbers \[m\], got \(0.0,\)"),
        (
            lambda: with_point_masses(parts(2)[0], [PointMass(1.0, (0.0, 0.0, 0.0))]),
            r'PlanarBody "b": a mass at .* has 3 components, but the body has 2',
        ),
        (lambda: with_point_masses(parts(2)[0], [(1.0, (0.0, 0.0))]), "masses must be PointMass objects"),
    ],
)
def test_masses_that_make_no_sense_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()
