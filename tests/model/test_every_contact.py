"""What holds for every contact of surfaces that slide, planar or spatial, found by itself: a new class fails here until
it has an example. Others are in test_couplings.py and test_joint_friction.py."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from nonsmooth import Model, PlanarBody, Rigid, SpatialBody
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.contacts import Contact
from nonsmooth.model.frames import SpatialPlacement
from nonsmooth.model.kinds import element_kinds

ROUGH = Rigid(restitution=0.3, friction=0.2)
AXES = {"axis_a": (1.0, 2.0, 2.0), "axis_b": (0.0, 0.6, -0.8)}
BEARING = {"clearance": 0.02, "radius": 0.3, "length": 0.5}
SPATIAL_BEARING = {**BEARING, **AXES, "axial_clearance": 0.03, "at_a": (0.3, -0.1, 0.2), "at_b": (0.2, 0.4, 0.1)}
SLEEVE = {**BEARING, **AXES, "at_a": (0.3, -0.1, 0.2), "at_b": (0.2, 0.4, 0.1)}
PLANE = {"normal": (1.0, 2.0, 3.0), "at_a": (0.3, -0.1, 0.2), "at_b": (0.2, 0.4, 0.1)}
SLIDE = {
    "length": 0.5, "height": 0.2, "width": 0.15, "clearance": 0.02, "side_clearance": 0.03, "at_guide": (0.3, 0.1, 0.2),
    "at_slider": (0.2, 0.4, 0.1), "axis_guide": (1.0, 2.0, 2.0), "across_guide": (0.0, 1.0, 0.0),
    "axis_slider": (0.0, 0.6, -0.8), "across_slider": (1.0, 0.0, 0.0),
}  # fmt: skip
#: by kind the numbers of one or several examples
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "point-plane": [{"at_a": (0.3, -0.1), "at_b": (0.2, 0.4), "direction": 0.7}, PLANE],
    "circle-plane": [{"radius": 0.25, "at_a": (0.3, -0.1), "at_b": (0.2, 0.4), "direction": 0.7}],
    "circle-circle": [{"radius_a": 0.15, "radius_b": 0.25, "at_a": (0.3, -0.1), "at_b": (0.2, 0.4)}],
    "point-box": [
        {"width": 0.3, "height": 0.2, "radius": 0.1, "at_a": (0.3, -0.1), "at_b": (0.2, 0.4)},
        {"width": 0.3, "height": 0.2, "at_a": (0.3, -0.1), "at_b": (0.2, 0.4)},
        {"width": 0.3, "height": 0.2, "depth": 0.4, "radius": 0.1, "at_a": (0.3, -0.1, 0.2), "at_b": (0.2, 0.4, 0.1)},
    ],
    "point-polygon": [{"corners": (0, 0, 0.5, 0, 0.2, 0.4), "at_b": (0.2, 0.4)}],
    "circle-polygon": [
        {"corners": (0, 0, 3, 0, 3, 1, 1, 1, 1, 2, 0, 2), "layer": 0.2, "radius": 0.1, "at_b": (0.2, 0.4)}
    ],
    "revolute-clearance": [
        {"clearance": 0.02, "radius": 0.3, "at_a": (0.3, -0.1), "at_b": (0.2, 0.4)},
        SPATIAL_BEARING,
        SPATIAL_BEARING | {"ends": "sleeve", "points": 3, "collar_radius": 0.4},
        SPATIAL_BEARING | {"parallel": True},
    ],
    "prismatic-clearance": [
        {"length": 0.2, "height": 0.06, "clearance": 0.02, "direction": 0.4, "at_guide": (0.2, 0.1)}
    ],
    "sphere-plane": [PLANE | {"radius": 0.25}],
    "sphere-sphere": [{"radius_a": 0.15, "radius_b": 0.25, "at_a": (0.3, -0.1, 0.2), "at_b": (0.2, 0.4, 0.1)}],
    "box-plane": [PLANE | {"edges": (0.2, 0.3, 0.5)}],
    "cylinder-plane": [
        PLANE | {"radius": 0.2, "length": 0.5, "axis": (1.0, 0.5, 0.0), "points": points} for points in (0, 3)
    ],
    "ellipsoid-plane": [
        PLANE | {"semi_axes": (0.2, 0.3, 0.5)},
        PLANE | {"semi_axes": (0.4, 0.03, 0.2), "quaternion": (0.1, 0.7, -0.5, 0.5)},
    ],
    "spherical-clearance": [
        {"clearance": 0.02, "radius": 0.3, "at_a": (0.3, -0.1, 0.2), "at_b": (0.2, 0.4, 0.1)},
    ],
    "cylindrical-clearance": [SLEEVE, SLEEVE | {"ends": "sleeve"}, SLEEVE | {"parallel": True}],
    "spatial-prismatic-clearance": [SLIDE, SLIDE | {"ends": "guide"}, SLIDE | {"every_wall": True}],
}  # fmt: skip
KINDS = {
    kind: cls for kind, cls in element_kinds().items()
    if issubclass(cls, Contact) and cls.slides and cls.__module__.startswith("nonsmooth.") and kind != "joint-friction"
}  # fmt: skip
CASES = [pytest.param(kind, i, id=f"{kind}-{i}") for kind, examples in EXAMPLES.items() for i in range(len(examples))]
#: those with a concentric start
ROUND = [case for case in CASES if case.values[0].startswith(("revolute", "spherical", "cylindrical"))]


def test_every_contact_has_an_example() -> None:
    assert not KINDS.keys() - EXAMPLES, f"give {', '.join(KINDS.keys() - EXAMPLES)} numbers in EXAMPLES above"
    assert not EXAMPLES.keys() - KINDS, f"there is no kind {', '.join(EXAMPLES.keys() - KINDS)}: remove its example"


@cache
def contact(kind: str, i: int) -> Contact:
    return KINDS[kind]("it", "first", "second", contact=ROUGH, **EXAMPLES[kind][i])


#: planar contacts state their slip instead of a point: see test_contacts.py
SPATIAL = [case for case in CASES if contact(*case.values).dimensions == (3,)]


@cache
def functions(kind: str, i: int) -> ElementFunctions:
    return ElementFunctions(contact(kind, i).dimensions[0])


def parameters(it: Contact) -> Array:
    return np.array(list(it.numbers().values()))


def gaps(kind: str, i: int, z_a: Array, z_b: Array) -> list[Array]:
    """g_N, true gaps, J_a, J_b, T_a, T_b."""
    it = contact(kind, i)
    found = functions(kind, i).gaps(it)(z_a, z_b, parameters(it))
    return [np.array(one).ravel() if k < 2 else np.array(one) for k, one in enumerate(found)]


def rotation(random: np.random.Generator, dimension: int) -> Array:
    Q, R = np.linalg.qr(random.normal(size=(dimension, dimension)))
    Q = Q * np.sign(np.diag(R))
    return Q if np.linalg.det(Q) > 0 else Q[:, ::-1]


def placed(position: Array, R: Array) -> Array:
    return np.concatenate([position, R[:, 0] if len(R) == 2 else R.T.ravel()])


def rigid_motion(z: Array, velocity: Array, omega: Array) -> Array:
    """Twist of a placement that moves with a frame: its origin's velocity, angular velocity of the ground frame."""
    if len(z) == 4:
        return np.array([velocity[0] - omega[0] * z[1], velocity[1] + omega[0] * z[0], omega[0]])
    R = z[3:].reshape(3, 3).T
    return np.concatenate([velocity + np.cross(omega, z[:3]), R.T @ omega])


def two_placements(kind: str, i: int, seed: int) -> tuple[Array, Array]:
    """Anywhere; distances and turns of the order of 1."""
    random = np.random.default_rng(seed)
    d = contact(kind, i).dimensions[0]
    return tuple(placed(random.normal(size=d), rotation(random, d)) for _ in range(2))  # type: ignore[return-value]


def fitting(kind: str, i: int, random: np.random.Generator, tilt: float = 0.0) -> tuple[Array, Array]:
    """Placements in which the points `at` coincide and the parts are aligned up to a random turn by `tilt`."""
    it = contact(kind, i)
    d = it.dimensions[0]
    first, second = it.body_fields

    def value(name: str, default: tuple[float, ...]) -> Array:
        return np.array(getattr(it, name, None) or default, dtype=float)

    R_a = rotation(random, d)
    fit = np.eye(d)
    if d == 2:
        angle = getattr(it, "direction", 0.0) if first == "guide" else 0.0
        fit = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    elif hasattr(it, f"axis_{first}"):
        frames = []
        for body, across in ((first, (0.3, 0.5, 0.1)), (second, (0.3, -0.1, 0.7))):
            x = value(f"axis_{body}", (1.0, 0.0, 0.0))
            y = np.cross(np.cross(x, value(f"across_{body}", across)), x)
            frames.append(np.column_stack([x, y, np.cross(x, y)]) / [np.linalg.norm(c) for c in (x, y, np.cross(x, y))])
        fit = frames[0] @ frames[1].T
    if tilt:
        skew = random.normal(size=(d, d))
        fit = fit @ expm(tilt * (skew - skew.T))
    R_b = R_a @ fit
    r_a = random.normal(size=d)
    at_a, at_b = value(f"at_{first}", (0.0,) * d), value(f"at_{second}", (0.0,) * d)
    return placed(r_a, R_a), placed(r_a + R_a @ at_a - R_b @ at_b, R_b)


def body_at(name: str, z: Array) -> PlanarBody | SpatialBody:
    if len(z) == 4:
        return PlanarBody(name, mass=1.0, inertia=0.1, position=tuple(z[:2]), angle=math.atan2(z[3], z[2]))
    quaternion = Rotation.from_matrix(z[3:].reshape(3, 3).T).as_quat(scalar_first=True)
    inertia = (0.1, 0.2, 0.3)
    return SpatialBody(name, mass=1.0, inertia=inertia, position=tuple(z[:3]), quaternion=tuple(quaternion))


def closed(kind: str, i: int, gap: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Placements at which one gap is closed, slightly tilted: b is moved by Newton steps along the normal."""
    tilt = 0.01 if "clearance" in kind else 0.5
    d = contact(kind, i).dimensions[0]
    z_a, z_b = fitting(kind, i, random, tilt)
    z_b[:d] += random.normal(size=d) * (0.01 if "clearance" in kind else 1.0)
    for _ in range(60):
        _, true, _, J_b, _, _ = gaps(kind, i, z_a, z_b)
        slope = J_b[gap, :d]
        z_b[:d] -= slope * true[gap] / (slope @ slope)
        if abs(true[gap]) < 1e-15:
            break
    return z_a, z_b


# lengths and velocities of the order of 1 to 5, some dozens of operations of 1e-16 each
TOLERANCE = 5e-14


@pytest.mark.parametrize(("kind", "i"), SPATIAL)
def test_the_rate_of_a_closed_gap_is_the_approach_of_the_points_that_touch(kind: str, i: int) -> None:
    """dg/dt = n . (v_b - v_a) at the point of contact, where both surfaces are; for true gaps as well."""
    it, random = contact(kind, i), np.random.default_rng(1)
    for gap in range(len(it.gap_labels)):
        z_a, z_b = closed(kind, i, gap, random)
        v_a, v_b = random.normal(size=6), random.normal(size=6)
        a, b = SpatialPlacement(ca.DM(z_a), ca.DM(v_a)), SpatialPlacement(ca.DM(z_b), ca.DM(v_b))
        p = it.symbols({f"it.{label}": ca.DM(value) for label, value in it.numbers().items()})
        _, _, J_a, J_b, T_a, T_b = gaps(kind, i, z_a, z_b)
        surface = [np.array(one) for one in functions(kind, i).surface(it)(z_a, z_b, parameters(it))]
        for touches, rates in ((it.touches, (J_a, J_b, T_a, T_b)), (it.true_touches, surface[1:])):
            point, normal = (np.array(one).ravel() for one in touches(a, b, p)[gap])

            def velocity(z: Array, v: Array, point: Array = point) -> Array:
                omega = z[3:].reshape(3, 3).T @ v[3:]
                return v[:3] + np.cross(omega, point - z[:3])

            relative = velocity(z_b, v_b) - velocity(z_a, v_a)
            # the clearance of 0.02 magnifies the round-off of positions in the direction of the eccentricity
            assert normal @ normal == pytest.approx(1.0, abs=TOLERANCE / 0.02)
            assert rates[0][gap] @ v_a + rates[1][gap] @ v_b == pytest.approx(normal @ relative, abs=TOLERANCE / 0.02)
            slip = (rates[2] @ v_a + rates[3] @ v_b).reshape(-1, 2)[gap]
            tangential = relative - (normal @ relative) * normal
            assert np.linalg.norm(slip) == pytest.approx(np.linalg.norm(tangential), abs=TOLERANCE / 0.02)


@pytest.mark.parametrize(("kind", "i"), CASES)
def test_rates_and_slips_of_a_rigid_motion_of_both_bodies_vanish(kind: str, i: int) -> None:
    """So they are objective, and, which is the dual, contact forces leave linear and angular momentum alone."""
    random = np.random.default_rng(2)
    for seed in range(5):
        z_a, z_b = two_placements(kind, i, seed)
        it = contact(kind, i)
        d = it.dimensions[0]
        velocity, omega = random.normal(size=d), random.normal(size=3 if d == 3 else 1)
        surface = [np.array(one) for one in functions(kind, i).surface(it)(z_a, z_b, parameters(it))][1:]
        for of_a, of_b in (gaps(kind, i, z_a, z_b)[2:4], gaps(kind, i, z_a, z_b)[4:], surface[:2], surface[2:]):
            rates = of_a @ rigid_motion(z_a, velocity, omega) + of_b @ rigid_motion(z_b, velocity, omega)
            # anywhere, directions of concentric parts are as long as distances over the clearance, here up to 5 / 0.02
            scale = max(1.0, float(np.max(np.abs(of_b))))
            assert rates == pytest.approx(np.zeros(len(rates)), abs=TOLERANCE * scale * 10)


@pytest.mark.parametrize(("kind", "i"), CASES)
def test_a_contact_force_and_its_counterpart_have_no_resultant_force_and_no_moment(kind: str, i: int) -> None:
    """The same by forces: W_N and W_T as forces and torques about the origin of the ground frame."""
    for seed in range(5):
        z_a, z_b = two_placements(kind, i, seed)
        d = contact(kind, i).dimensions[0]
        _, _, J_a, J_b, T_a, T_b = gaps(kind, i, z_a, z_b)
        for of_a, of_b in ((J_a, J_b), (T_a, T_b)):
            force, moment = of_a[:, :d] + of_b[:, :d], 0.0
            for z, J in ((z_a, of_a), (z_b, of_b)):
                if d == 2:
                    moment = moment + z[0] * J[:, 1] - z[1] * J[:, 0] + J[:, 2]
                else:
                    moment = moment + np.cross(z[:3], J[:, :3]) + J[:, 3:] @ z[3:].reshape(3, 3)
            scale = 10 * TOLERANCE * max(1.0, float(np.max(np.abs(of_b))))
            assert force == pytest.approx(np.zeros_like(force), abs=scale)
            assert moment == pytest.approx(np.zeros_like(moment), abs=scale)


@pytest.mark.parametrize(("kind", "i"), CASES)
def test_gaps_turn_with_the_mechanism(kind: str, i: int) -> None:
    """A rigid displacement of both bodies changes no gap, and no direction in the frames of the bodies."""
    random = np.random.default_rng(4)
    d = contact(kind, i).dimensions[0]
    z_a, z_b = two_placements(kind, i, 3)
    R, r = rotation(random, d), random.normal(size=d)

    def moved(z: Array) -> Array:
        if d == 2:
            return np.concatenate([r + R @ z[:2], R @ z[2:]])
        return np.concatenate([r + R @ z[:3], (R @ z[3:].reshape(3, 3).T).T.ravel()])

    here, there = gaps(kind, i, z_a, z_b), gaps(kind, i, moved(z_a), moved(z_b))
    scale = 10 * TOLERANCE * max(1.0, float(np.max(np.abs(here[3]))))
    for k in (0, 1):
        assert there[k] == pytest.approx(here[k], abs=scale)
    for k in (2, 3, 4, 5):
        turned = np.hstack([here[k][:, :d] @ R.T, here[k][:, d:]])
        assert there[k] == pytest.approx(turned, abs=scale)


@pytest.mark.parametrize(("kind", "i"), CASES)
def test_smooth_and_true_gaps_vanish_together_with_one_slope(kind: str, i: int) -> None:
    random = np.random.default_rng(5)
    it = contact(kind, i)
    for gap in range(len(it.gap_labels)):
        z_a, z_b = closed(kind, i, gap, random)
        smooth, true, J_a, J_b, _, _ = gaps(kind, i, z_a, z_b)
        surface = [np.array(one) for one in functions(kind, i).surface(it)(z_a, z_b, parameters(it))]
        assert true[gap] == pytest.approx(0.0, abs=1e-14)
        assert smooth[gap] == pytest.approx(0.0, abs=1e-14)
        assert J_a[gap] == pytest.approx(surface[1][gap], abs=TOLERANCE / 0.02)
        assert J_b[gap] == pytest.approx(surface[2][gap], abs=TOLERANCE / 0.02)


@pytest.mark.parametrize(("kind", "i"), ROUND)
def test_values_and_derivatives_are_finite_where_centres_coincide(kind: str, i: int) -> None:
    it = contact(kind, i)
    z_a, z_b = fitting(kind, i, np.random.default_rng(6))
    of = functions(kind, i).gaps(it)
    z = ca.SX.sym("z", 2 * len(z_a))
    outputs = of(z[: len(z_a)], z[len(z_a) :], parameters(it))
    everything = ca.vertcat(*(ca.vec(ca.densify(one)) for one in outputs))
    both = ca.Function("both", [z], [everything, ca.jacobian(everything, z)])
    values = [np.array(one) for one in both(np.concatenate([z_a, z_b]))]
    assert all(np.isfinite(one).all() for one in values)
    axes = np.array(functions(kind, i).contact_axes(it)(z_a, z_b, parameters(it)))
    surface = [np.array(one) for one in functions(kind, i).surface(it)(z_a, z_b, parameters(it))]
    assert np.isfinite(axes).all() and all(np.isfinite(one).all() for one in surface)
    assert surface[0].ravel()[0] == pytest.approx(0.02, abs=1e-15)  # the clearance


@pytest.mark.parametrize(("kind", "i"), CASES)
def test_drift_is_what_the_rates_change_by_at_constant_velocity(kind: str, i: int) -> None:
    """Second difference of the gaps and first difference of the slips along a motion of constant velocities."""
    it = contact(kind, i)
    z_a, z_b = fitting(kind, i, np.random.default_rng(7))
    if "clearance" not in kind:  # off the surface
        d = it.dimensions[0]
        z_b[:d] += 5.0 * (gaps(kind, i, z_a, z_b)[3][0, :d] if "plane" in kind else np.eye(d)[0])
    system = Model([body_at("first", z_a), body_at("second", z_b), it]).build()
    n, p = system.numeric, system.parameter_values
    random = np.random.default_rng(7)
    q, v, h = system.start.q, random.normal(size=system.nv), 1e-5

    def rates(dt: float) -> Array:
        there = n.advance(q, v, dt)[0]
        W = np.hstack([n.W_N(there, p)[0], n.W_T(there, p)[0]])
        return W.T @ v

    expected = (rates(h) - rates(-h)) / (2 * h)
    # round-off of rates of the order of 100 over h is 1e-9; h^2 times third derivatives, (1 m/s / 0.02 m)^3, is 1e-5
    bias = n.bias(system.start.t, q, v, p)[0][system.ng :]
    assert bias == pytest.approx(expected, rel=1e-6, abs=2e-5)
