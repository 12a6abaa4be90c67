"""Ideal joints in space: rows, ranks at random closed poses, rates, residuals at second roots, and reactions."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np
import pytest
from loops import some
from scipy.spatial.transform import Rotation

import nonsmooth.model
from nonsmooth import (
    Cylindrical,
    Distance,
    Fixed,
    Gravity,
    Ground,
    Model,
    ModelError,
    NoTwist,
    ParallelAxes,
    PerpendicularAxes,
    Planar,
    PointInPlane,
    PointOnLine,
    PrescribedMotion,
    PrescribedPose,
    Prismatic,
    Revolute,
    SameOrientation,
    Screw,
    SpatialBody,
    Spherical,
    Thread,
    Universal,
    UniversalPrismatic,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model import frames as primitive
from nonsmooth.model.closing import closed_start
from nonsmooth.model.frames import BASIS, SpatialPlacement
from nonsmooth.model.joints import Joint
from nonsmooth.model.kinds import element_kinds
from nonsmooth.model.state import State
from nonsmooth.model.system import System

POINTS = {"at_a": (0.3, -0.2, 0.1), "at_b": (-0.1, 0.4, 0.2)}
AXES = {"axis_a": (1.0, 2.0, -0.5), "axis_b": (-0.3, 0.1, 4.0)}
TURNED = (0.8, 0.0, 0.48, -0.36)  # a quaternion of norm 1
Case = Callable[[Any, Any], Any]

#: joints and drivers with the number of their independent rows
CASES: dict[str, tuple[int, Case]] = {
    "Spherical": (3, lambda a, b: Spherical("it", a, b, **POINTS)),
    "PointOnLine": (2, lambda a, b: PointOnLine("it", a, b, axis_a=(1.0, 2.0, -0.5), **POINTS)),
    "PointInPlane": (1, lambda a, b: PointInPlane("it", a, b, normal_a=(0.0, -2.0, 1.0), **POINTS)),
    "Distance": (1, lambda a, b: Distance("it", a, b, length=0.7, **POINTS)),
    "PerpendicularAxes": (1, lambda a, b: PerpendicularAxes("it", a, b, **AXES)),
    "ParallelAxes": (2, lambda a, b: ParallelAxes("it", a, b, **AXES)),
    "NoTwist": (1, lambda a, b: NoTwist("it", a, b, axis_a=(0.2, 0.0, 1.0), quaternion=TURNED)),
    "SameOrientation": (3, lambda a, b: SameOrientation("it", a, b, quaternion=TURNED)),
    "Universal": (4, lambda a, b: Universal("it", a, b, **POINTS, **AXES)),
    "Revolute": (5, lambda a, b: Revolute("it", a, b, **POINTS, **AXES)),
    "Cylindrical": (4, lambda a, b: Cylindrical("it", a, b, **POINTS, **AXES)),
    "Prismatic": (5, lambda a, b: Prismatic("it", a, b, axis_a=(0.0, 3.0, 4.0), quaternion=TURNED, **POINTS)),
    "Screw": (5, lambda a, b: Screw("it", a, b, axis_a=(0.0, 3.0, 4.0), pitch=-0.5, quaternion=TURNED, **POINTS)),
    "Thread": (1, lambda a, b: Thread("it", a, b, axis_a=(0.0, 3.0, 4.0), pitch=-0.5, quaternion=TURNED, **POINTS)),
    "Fixed": (6, lambda a, b: Fixed("it", a, b, quaternion=TURNED, **POINTS)),
    "Planar": (3, lambda a, b: Planar("it", a, b, normal_a=(1.0, 2.0, -0.5), normal_b=(0.0, 1.0, 0.0), **POINTS)),
    "UniversalPrismatic": (3, lambda a, b: UniversalPrismatic("it", a, b, slide_b=(1.0, 1.0, 0.2), **POINTS, **AXES)),
    "PrescribedMotion angle": (
        1,
        lambda a, b: PrescribedMotion(
            "it", a, b, coordinate="angle", motion=lambda t: 5 * t + ca.sin(3 * t), axis_a=(1.0, 1.0, 0.0)
        ),
    ),
    "PrescribedMotion displacement": (
        1,
        lambda a, b: PrescribedMotion(
            "it", a, b, coordinate="displacement", motion=lambda t: t**2, axis_a=(1.0, 1.0, 0.0), **POINTS
        ),
    ),
    "PrescribedMotion distance": (
        1,
        lambda a, b: PrescribedMotion("it", a, b, coordinate="distance", motion=lambda t: 1 + 0.5 * t, **POINTS),
    ),
    "PrescribedMotion z": (1, lambda a, b: PrescribedMotion("it", a, b, coordinate="z", motion=0.4)),
    "PrescribedPose": (
        6,
        lambda a, b: PrescribedPose(
            "it", a, b,
            position=lambda t: (0.3 * ca.cos(2 * t), 0.3 * ca.sin(2 * t), 0.1 * t),
            quaternion=lambda t: (ca.cos(t), 0.6 * ca.sin(t), 0.0, 0.8 * ca.sin(t)),
            **POINTS,
        ),
    ),
}  # fmt: skip
PAIRS = [("first", "second"), ("second", "first"), ("ground", "first"), ("first", "ground")]
every_case = pytest.mark.parametrize("name", CASES)

#: Half width of the central differences [s]: truncation, the square times a third derivative of the order of |v|^3 <
#: 1e2, and round-off, 1e-15/width, are below 1e-8.
WIDTH = 3e-6
TOLERANCE = 1e-8


def built(name: str, a: str = "first", b: str = "second") -> System:
    """Two bodies far from their closed poses, with the joint between them."""
    bodies = [SpatialBody(body, mass=1.0, inertia=(0.1, 0.12, 0.15)) for body in ("first", "second")]
    return Model([Ground(), *bodies, CASES[name][1](a, b)]).build(assemble=True)


def random_poses(system: System, count: int = 10, seed: int = 1) -> Iterator[tuple[float, Array, Array]]:
    """Times, coordinates and velocities of the order of 1, orientations anywhere."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        q = random.uniform(-0.5, 0.5, (2, 7))
        q[:, 3:] = random.normal(size=(2, 4))
        q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
        yield random.uniform(0.1, 0.9), q.ravel(), random.normal(size=system.nv)


def closed_poses(system: System, count: int = 5) -> Iterator[tuple[float, Array, Array]]:
    """Times and coordinates at which the joint is closed, and velocities that it admits, reached from random poses."""
    found = 0
    for t, q, v in random_poses(system, count=20 * count, seed=7):
        try:
            state = closed_start(system, State(t, q, v), system.parameter_values)
        except ModelError:  # Newton's iteration from a random pose may end elsewhere
            continue
        yield t, state.q, state.v
        found += 1
        if found == count:
            return
    raise AssertionError(f"only {found} closed poses were found")


def rate(function: Callable[..., Array], system: System, t: float, q: Array, v: Array) -> Array:
    """Central difference of ``function(t, q)`` along the motion with constant v, for which q' = B(q) v."""
    ahead, behind = (function(t + s, system.numeric.advance(q, v, s)[0]) for s in (WIDTH, -WIDTH))
    return (ahead - behind) / (2 * WIDTH)


# Rows


def test_every_joint_of_space_is_tested_here() -> None:
    for module in pkgutil.iter_modules(nonsmooth.model.__path__):
        importlib.import_module(f"nonsmooth.model.{module.name}")
    package = {cls for cls in element_kinds().values() if cls.__module__.startswith("nonsmooth.")}
    joints = {cls.__name__ for cls in package if issubclass(cls, Joint) and cls.dimensions != (2,)}
    tested = {name.split()[0] for name in CASES}
    assert not joints - tested, f"add {', '.join(joints - tested)} to CASES above"
    assert not tested - joints, f"there is no joint {', '.join(tested - joints)} in space: remove its case"


@every_case
def test_rows_are_independent_at_closed_poses(name: str) -> None:
    system = built(name)
    assert system.ng == CASES[name][0]
    for t, q, _ in closed_poses(system):
        W = system.numeric.W_g(t, q, system.parameter_values)[0]
        # unit rows in the mass metric of bodies of 1 kg and 0.1 kg m^2; 1e-2 is far above round-off, and poses near
        # the singular ones of a cross, with parallel arms, do not occur where arms are perpendicular
        assert np.linalg.svd(W / np.linalg.norm(W, axis=0), compute_uv=False)[-1] > 1e-2


@every_case
@pytest.mark.parametrize(("a", "b"), some(PAIRS, 3))
def test_directions_are_gradients_of_the_constraints(name: str, a: str, b: str) -> None:
    system = built(name, a, b)
    n, p = system.numeric, system.parameter_values
    for t, q, v in random_poses(system):
        expected = rate(lambda t, q: n.g(t, q, p)[0], system, t, q, v)
        # the bodies' rates of turning reach 3 rad/s and those of the screw 2 pi/pitch as much
        assert n.W_g(t, q, p)[0].T @ v + n.g_t(t, q, p)[0] == pytest.approx(expected, abs=10 * TOLERANCE)


@every_case
def test_the_acceleration_bias_is_the_rate_of_the_directions(name: str) -> None:
    """d/dt (W_g' v + g_t) at constant v."""
    system = built(name)
    n, p = system.numeric, system.parameter_values
    for t, q, v in random_poses(system):
        expected = rate(lambda t, q, v=v: n.W_g(t, q, p)[0].T @ v + n.g_t(t, q, p)[0], system, t, q, v)
        assert n.bias(t, q, v, p)[0] == pytest.approx(expected, rel=1e-7, abs=100 * TOLERANCE)


@every_case
def test_rates_of_the_reported_residual_are_finite_and_right_everywhere(name: str) -> None:
    """Assembly takes them far from the closed joint."""
    system = built(name)
    e, p = system.elementwise, system.parameter_values
    for t, q, v in random_poses(system):
        at = e.placed(q, v, p)
        rows = e.violations(t, at, p)
        found = np.sum(rows.J_a * at.velocities[rows.a] + rows.J_b * at.velocities[rows.b], axis=1)
        expected = rate(lambda s, q, t=t: system.numeric.violation(t, q, p)[0], system, t, q, v)
        # second derivatives of angles grow like one over the distance from the second root
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@every_case
def test_constraint_and_reported_residual_vanish_together_with_the_same_slope(name: str) -> None:
    system = built(name)
    n, p = system.numeric, system.parameter_values
    random = np.random.default_rng(2)
    for t, q, _ in closed_poses(system):
        assert n.g(t, q, p)[0] == pytest.approx(0.0, abs=1e-9)
        assert n.violation(t, q, p)[0] == pytest.approx(0.0, abs=1e-9)
        for _ in range(3):
            away = n.advance(q, random.normal(size=system.nv), 1e-5)[0]
            g, closure = n.g(t, away, p)[0], n.violation(t, away, p)[0]
            if name in (
                "NoTwist",
                "PrescribedMotion angle",
                "Thread",
            ):
                # the row is smaller by the squared cosine of half the tilt of the axis
                assert 0 < g[0] / closure[0] <= 1 + 1e-9
            elif "istance" in name:  # (d^2 - L^2)/(2 L) against d - L: the difference is (d - L)^2/(2 L), some 1e-9
                assert g == pytest.approx(closure, abs=1e-8)
            else:  # the sine against its angle: third powers of 1e-4
                assert g == pytest.approx(closure, abs=1e-11)


@pytest.mark.parametrize("axis", [-BASIS[:, 2], BASIS[:, 2], (1e-8, 0, 0), (0, -3e8, 0), (0, 0, 1), (1, 1, 1)])
def test_transversals_hold_parallel_axes_of_any_direction_and_length(axis: Any) -> None:
    """Also next to the pole of the transversals."""
    axis = tuple(np.asarray(axis, dtype=float))
    joint = ParallelAxes("it", "ground", "body", axis_a=axis, axis_b=axis)
    system = Model([Ground(), SpatialBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)), joint]).build()
    axis = np.array([system.parameters[f"it.axis_b_{i}"] for i in "xyz"])
    W = system.numeric.W_g(0.0, system.start.q, system.parameter_values)[0]
    assert np.linalg.svd(W, compute_uv=False) == pytest.approx([1.0, 1.0], abs=1e-15)
    assert W[3:].T @ axis == pytest.approx(0.0, abs=1e-15 * np.linalg.norm(axis))


# Screws and reactions


def test_a_screw_counts_turns_by_its_displacement() -> None:
    """Three and a quarter turns of a right-handed thread move the nut by three and a quarter pitches."""
    screw = Screw("nut", "ground", "body", axis_a=(0, 0, 5), pitch=0.01)
    start = {"position": (0.0, 0.0, 0.0325), "quaternion": (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))}
    body = SpatialBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), **start)
    system = Model([Ground(), body, screw]).build()
    W = system.numeric.W_g(0.0, system.start.q, system.parameter_values)[0]
    motion = np.array([0, 0, 0.01, 0, 0, 2 * np.pi])
    assert W.T @ motion == pytest.approx(0.0, abs=1e-15)
    left = Screw("nut", "ground", "body", axis_a=(0, 0, 5), pitch=-0.01)
    with pytest.raises(ModelError, match=r'"nut.thread" is open by -?0.005 m'):
        Model([Ground(), body, left]).build()


@every_case
@pytest.mark.parametrize(("a", "b"), some([("first", "second"), ("second", "first")], 2))
def test_reported_forces_and_torques_do_no_work_in_a_closed_joint(name: str, a: str, b: str) -> None:
    """Force and torque on b at its point, and their opposites on a, have no power but that of the driver.

    The velocities are those that the joint admits. What the opposite force does on a, at the same place, shows that
    directions of both bodies belong to one force and one torque.
    """
    system = built(name, a, b)
    n, p, random = system.numeric, system.parameter_values, np.random.default_rng(4)
    joint = next(element for element in system.elements if isinstance(element, Joint))
    at_b = np.array(getattr(joint, "at_b", (0.0, 0.0, 0.0)))
    order = {"first": 0, "second": 1}
    for t, q, v in closed_poses(system):
        lam = random.normal(size=system.ng)
        reaction = n.reaction(t, q, p, lam)[0]
        force, torque = reaction[:3], reaction[3:]
        frames = [Rotation.from_quat(x[3:], scalar_first=True) for x in q.reshape(2, 7)]
        places, rates = q.reshape(2, 7)[:, :3], v.reshape(2, 6)
        point = places[order[b]] + frames[order[b]].apply(at_b)
        power = 0.0
        for body, sign in ((order[a], -1.0), (order[b], 1.0)):
            omega = frames[body].apply(rates[body, 3:])
            velocity = rates[body, :3] + np.cross(omega, point - places[body])
            power += sign * (force @ velocity + torque @ omega)
        driven = -lam @ n.g_t(t, q, p)[0]
        # assembly ends at residuals below 1e-9, mostly at round-off
        assert power == pytest.approx(driven, abs=1e-8)


#: of forces of 20 N and their moments, which least squares with some condition and frames turned twice amplify
ROUND_OFF = 200 * 20.0 * 2.0**-53


def static_reactions(joint: Joint, **start: Any) -> dict[str, float]:
    """Reactions of a joint that carries a body of 2 kg at rest: W_g lambda = -h."""
    body = SpatialBody("body", mass=2.0, inertia=(0.3, 0.4, 0.5), **start)
    system = Model([Ground(), body, Gravity(acceleration=(0.0, 0.0, -9.81)), joint]).build()
    n, p, at = system.numeric, system.parameter_values, system.start
    lam, residual, *_ = np.linalg.lstsq(n.W_g(0.0, at.q, p)[0], -n.h(0.0, at.q, at.v, p)[0])
    return dict(zip(system.reaction_names, n.reaction(0.0, at.q, p, lam)[0].tolist(), strict=True))


@pytest.mark.parametrize("turned", [(1.0, 0.0, 0.0, 0.0), TURNED])
def test_a_weld_carries_the_weight_and_its_moment_in_the_ground_frame(turned: Any) -> None:
    """Cantilever along x: welded at the wall, centre of mass 0.5 m away, however the body's frame is turned."""
    at_b = Rotation.from_quat(turned, scalar_first=True).inv().apply((-0.5, 0.0, 0.0))
    weld = Fixed("weld", "ground", "body", at_b=tuple(at_b), quaternion=turned)
    found = static_reactions(weld, position=(0.5, 0.0, 0.0), quaternion=turned)
    expected = {"x": 0.0, "y": 0.0, "z": 19.62, "torque_x": 0.0, "torque_y": -9.81, "torque_z": 0.0}
    assert found == pytest.approx({f"weld.{label}": value for label, value in expected.items()}, abs=ROUND_OFF)


def test_a_hinge_across_gravity_carries_a_moment_but_none_about_its_axis() -> None:
    """A door on the axis x, hanging down, with its centre of mass 0.3 m beside the hinge along x."""
    hinge = Revolute("hinge", "ground", "body", at_b=(-0.3, 0.0, 0.5), axis_a=(1, 0, 0), axis_b=(1, 0, 0))
    found = static_reactions(hinge, position=(0.3, 0.0, -0.5))
    expected = {"x": 0.0, "y": 0.0, "z": 19.62, "torque_x": 0.0, "torque_y": -0.3 * 19.62, "torque_z": 0.0}
    assert found == pytest.approx({f"hinge.{label}": value for label, value in expected.items()}, abs=ROUND_OFF)


# Combinations


def test_several_joints_between_two_bodies_make_another_one() -> None:
    """Coincident points and parallel axes are a revolute joint: the same directions of constraint forces."""
    bodies = [SpatialBody(body, mass=1.0, inertia=(0.1, 0.12, 0.15)) for body in ("first", "second")]
    parts = [Spherical("point", *bodies, **POINTS), ParallelAxes("axis", *bodies, **AXES)]
    whole = built("Revolute")
    q, p = whole.start.q, whole.parameter_values
    sum_of_parts = Model([*bodies, *parts]).build(assemble=True)
    given = {one: whole.parameters[f"it.{one.partition('.')[2]}"] for one in sum_of_parts.parameters if one[0] in "pa"}
    W = sum_of_parts.numeric.W_g(0.0, q, sum_of_parts.parameter_vector(given))[0]
    assert pytest.approx(whole.numeric.W_g(0.0, q, p)[0], abs=1e-15) == W


def test_axes_and_points_are_parameters() -> None:
    system = built("Revolute")
    assert {"it.at_b_z", "it.axis_a_x", "it.axis_b_z"} <= set(system.parameters)
    longer = {f"it.axis_a_{x}": 10 * system.parameters[f"it.axis_a_{x}"] for x in "xyz"}
    q = next(random_poses(system))[1]
    g, same = (system.numeric.g(0.0, q, system.parameter_vector(c))[0] for c in ({}, longer))
    assert same == pytest.approx(g, abs=1e-15)
    with pytest.raises(ModelError, match=r'"it": axis_a must be a direction, a vector that is not zero'):
        system.parameter_vector(dict.fromkeys(longer, 0.0))


def test_placements_give_the_primitives_as_plain_functions() -> None:
    """A point 0.2 m above the line along y, seen from a body a that is turned by a right angle about x."""
    z_a = np.concatenate([(1.0, 0.0, 0.0), Rotation.from_rotvec((np.pi / 2, 0, 0)).as_matrix().ravel(order="F")])
    z_b = np.concatenate([(1.0, 0.2, 5.0), np.eye(3).ravel()])
    a, b = (SpatialPlacement(ca.DM(z), ca.DM.zeros(6)) for z in (z_a, z_b))
    offsets = primitive.point_on_line(a, b, ca.DM.zeros(3), ca.DM.zeros(3), ca.DM([0, 1, 0]))
    assert float(ca.norm_2(offsets)) == pytest.approx(0.2, abs=2e-15)  # round-off of 5 m
    along = primitive.offset_along(a, b, ca.DM.zeros(3), ca.DM.zeros(3), ca.DM([0, 1, 0]))
    assert float(along) == pytest.approx(5.0, abs=1e-14)


# What joints refuse


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Revolute("it", "a", "b", axis_a=(0, 0, 1)), "axis_a is given without axis_b; give both in space"),
        (lambda: Revolute("it", "a", "b", axis_b=(0, 0, 1)), "axis_b is given without axis_a; give both in space"),
        (
            lambda: Universal("it", "a", "b", axis_a=(0, 0, 0), axis_b=(1, 0, 0)),
            r"axis_a must be a direction, a vector that is not zero, got \(0.0, 0.0, 0.0\)",
        ),
        (lambda: ParallelAxes("it", "a", "b", axis_a=(0, 1), axis_b=(1, 0, 0)), "axis_a takes 3 components, got 2"),
        (lambda: Planar("it", "a", "b", normal_a=(0, 0, 1), normal_b=(0, 0, np.nan)), "normal_b_z must be a finite"),
        (
            lambda: Fixed("it", "a", "b", quaternion=(1, 0, 0, 1)),
            r"quaternion must have norm 1 within 1e-06, got .* 1.41",
        ),
        (lambda: Fixed("it", "a", "b", quaternion=(1, 0, 0, 0), angle=0.1), "angle is for planar models"),
        (lambda: Prismatic("it", "a", "b", quaternion=(1, 0, 0, 0)), "quaternion is given without axis_a; give axis_a"),
        (lambda: Prismatic("it", "a", "b", axis_a=(1, 0, 0), direction=0.2), "direction and angle are for planar"),
        (lambda: Screw("it", "a", "b", axis_a=(0, 0, 1), pitch=0.0), "a screw of pitch zero is a Revolute joint"),
        (lambda: Distance("it", "a", "b", length=0.0), r"length must be a positive number \[m\], got 0.0"),
    ],
)
def test_joints_that_cannot_be_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


def test_a_planar_joint_in_space_says_what_it_lacks() -> None:
    body = SpatialBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    with pytest.raises(
        ModelError, match='"it": it is planar, but the model is spatial .* in space give axis_a and axis_b'
    ):
        Model([Ground(), body, Revolute("it", "ground", body)]).build()
    with pytest.raises(ModelError, match=r"at_a takes 3 components in a spatial model, got \(0.1, 0.2\)"):
        Model([Ground(), body, Spherical("it", "ground", body, at_a=(0.1, 0.2))]).build()
