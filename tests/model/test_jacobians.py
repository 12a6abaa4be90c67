"""Directions are derivatives: W_N' v = d g_N/dt and W_g' v + g_t = d g/dt along q' = B(q) v, for every kind of element.

The kinds are found by walking the subclasses, so that a new contact, clearance, joint or driver without a case fails.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np
import pytest

import nonsmooth.model
from nonsmooth import (
    Belt,
    Fixed,
    GearBacklash,
    GearPair,
    Ground,
    JointFriction,
    Limits,
    Model,
    PlanarBody,
    Play,
    PointOnLine,
    PrescribedMotion,
    Prismatic,
    PrismaticClearance,
    RackBacklash,
    RackPinion,
    Revolute,
    RevoluteClearance,
    Rigid,
    Rope,
    Table,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.contacts import CircleCircle, CirclePlane, Contact, PointBox, PointPlane
from nonsmooth.model.joints import Joint
from nonsmooth.model.polygons import CirclePolygon, PointPolygon
from nonsmooth.model.system import System

SMOOTH, ROUGH = Rigid(restitution=0.0, friction=0.0), Rigid(restitution=0.0, friction=0.1)
POINTS = {"at_a": (0.3, -0.2), "at_b": (-0.1, 0.4)}
APART = {"at_a": (0.3, -1.2), "at_b": (0.2, 0.4), "contact": ROUGH}
GEARS = {
    "at_a": (0.3, -1.2), "at_b": (0.2, 0.4), "radius_a": 0.7, "radius_b": 0.3, "angle_a": 0.2, "angle_b": -0.5,
    "direction": 1.4,
}  # fmt: skip
RACK = {**POINTS, "radius": 0.4, "direction": 0.6, "angle": 0.3}
Case = Callable[[Any, Any], Any]

CASES: dict[type, list[Case]] = {
    RevoluteClearance: [
        lambda a, b: RevoluteClearance("it", a, b, clearance=0.8, contact=SMOOTH, **POINTS),
        lambda a, b: RevoluteClearance("it", a, b, clearance=0.3, contact=ROUGH, radius=0.2),
    ],
    PrismaticClearance: [
        lambda a, b: PrismaticClearance("it", a, b, length=0.5, clearance=0.6, contact=SMOOTH),
        lambda a, b: PrismaticClearance(
            "it", a, b, length=0.5, height=0.3, clearance=0.9, contact=SMOOTH, at_guide=(0.2, 0.1),
            at_slider=(-0.1, 0.3), direction=0.4,
        ),
    ],
    PointPlane: [lambda a, b: PointPlane("it", a, b, direction=-0.5, **APART)],
    CirclePlane: [
        lambda a, b: CirclePlane("it", a, b, radius=0.3, direction=0.5, **APART),
    ],
    CircleCircle: [
        lambda a, b: CircleCircle("it", a, b, radius_a=0.2, radius_b=0.3, **APART),
    ],
    PointBox: [
        lambda a, b: PointBox("it", a, b, width=0.3, height=0.2, **APART),
        lambda a, b: PointBox("it", a, b, width=0.3, height=0.9, radius=0.1, **APART),
    ],
    PointPolygon: [
        lambda a, b: PointPolygon("it", a, b, corners=(0, 0, 0.5, 0, 0.2, 0.4), at_b=(0.2, 1.4), contact=ROUGH),
    ],
    CirclePolygon: [
        lambda a, b: CirclePolygon(
            "it", a, b, radius=0.1, corners=(0, 0, 0.3, 0, 0.3, 0.1, 0.1, 0.1, 0.1, 0.2, 0, 0.2), at_b=(0.2, 1.4),
            contact=ROUGH,
        ),
    ],
    Limits: [
        lambda a, b: Limits("it", a, b, low=-0.5, high=1.5, radius=0.6, contact=SMOOTH),
        lambda a, b: Limits(
            "it", a, b, coordinate="displacement", low=-1.5, high=0.5, direction=0.4, contact=SMOOTH, **POINTS
        ),
    ],
    JointFriction: [
        lambda a, b: JointFriction("it", a, b, torque=0.6, static=0.9, stribeck_rate=0.1),
        lambda a, b: JointFriction("it", a, b, force=0.6, direction=0.4, **POINTS),
    ],
    Play: [lambda a, b: Play("it", a, b, play=0.5, middle=0.1, radius=0.6, contact=SMOOTH)],
    GearBacklash: [
        lambda a, b: GearBacklash("it", a, b, backlash=9.0, contact=SMOOTH, **GEARS),
        lambda a, b: GearBacklash("it", a, b, backlash=9.0, contact=SMOOTH, internal=True, **GEARS),
    ],
    RackBacklash: [lambda a, b: RackBacklash("it", a, b, backlash=9.0, contact=SMOOTH, **RACK)],
    Rope: [lambda a, b: Rope("it", a, b, via_a=(0.1, 2.0), via_b=(0.7, 2.0), length=9.0, contact=SMOOTH, **POINTS)],
    GearPair: [
        lambda a, b: GearPair("it", a, b, **GEARS),
        lambda a, b: GearPair("it", a, b, internal=True, **GEARS),
    ],
    Belt: [lambda a, b: Belt("it", a, b, **GEARS), lambda a, b: Belt("it", a, b, crossed=True, **GEARS)],
    RackPinion: [lambda a, b: RackPinion("it", a, b, **RACK)],
    Revolute: [lambda a, b: Revolute("it", a, b, **POINTS)],
    Prismatic: [lambda a, b: Prismatic("it", a, b, direction=0.7, angle=-0.4, **POINTS)],
    PointOnLine: [lambda a, b: PointOnLine("it", a, b, direction=0.7, **POINTS)],
    Fixed: [lambda a, b: Fixed("it", a, b, angle=2.5, **POINTS)],
    PrescribedMotion: [
        lambda a, b: PrescribedMotion("it", a, b, coordinate="angle", motion=0.3),
        lambda a, b: PrescribedMotion("it", a, b, coordinate="angle", motion=lambda t: 5 * t + ca.sin(3 * t)),
        lambda a, b: PrescribedMotion("it", a, b, coordinate="x", motion=lambda t: t**2, **POINTS),
        lambda a, b: PrescribedMotion("it", a, b, coordinate="y", motion=Table((0.0, 1.0), (0.1, 0.4)), **POINTS),
    ],
}  # fmt: skip

#: Half width of the central differences [s]. Their truncation error is width^2/6 times a third derivative, of the order
#: of |v|^3 / clearance = 1e2; round-off is 1e-15/width: both are below 1e-8 for the velocities of order 1 used here.
WIDTH = 3e-6
TOLERANCE = 1e-8


def kinds(base: type) -> Iterator[type]:
    """All classes below `base` in the package that have no subclass in it."""
    below = [kind for kind in base.__subclasses__() if kind.__module__.startswith("nonsmooth.")]
    for kind in below:
        yield from kinds(kind)
    if not below:
        yield base


def cases(base: type) -> list[Any]:
    for module in pkgutil.iter_modules(nonsmooth.model.__path__):
        importlib.import_module(f"nonsmooth.model.{module.name}")
    return [
        pytest.param(case, id=f"{kind.__name__}{i}")
        for kind in sorted(kinds(base), key=lambda kind: kind.__name__)
        if kind.dimensions != (3,)  # those that exist in space only are tested in their own files
        for i, case in enumerate(CASES.get(kind, [None]))
    ]


def built(case: Case | None, a: str, b: str) -> System:
    assert case is not None, "a new kind of element: add a case to CASES above"
    bodies = [PlanarBody(name, mass=1.0, inertia=0.1) for name in ("first", "second")]
    return Model([Ground(), *bodies, case(a, b)]).build(assemble=True)


def random_placements(system: System, count: int = 10) -> Iterator[tuple[float, Array, Array]]:
    """Times, coordinates and velocities of the order of 1, angles all round the circle."""
    random = np.random.default_rng(1)
    size = np.tile([0.5, 0.5, 4.0], 2)
    for _ in range(count):
        yield random.uniform(0.1, 0.9), size * random.uniform(-1.0, 1.0, system.nq), random.normal(size=system.nv)


def rate(function: Callable[..., Array], system: System, t: float, q: Array, v: Array) -> Array:
    """Central difference of ``function(t, q)`` along the motion with constant v, for which q' = B(q) v."""
    ahead, behind = (function(t + s, system.numeric.advance(q, v, s)[0]) for s in (WIDTH, -WIDTH))
    return (ahead - behind) / (2 * WIDTH)


@pytest.mark.parametrize(
    ("a", "b"), [("first", "second"), ("second", "first"), ("ground", "first"), ("first", "ground")]
)
@pytest.mark.parametrize("case", cases(Contact))
def test_normal_directions_are_gradients_of_the_gaps(case: Case | None, a: str, b: str) -> None:
    system = built(case, a, b)
    n, p = system.numeric, system.parameter_values
    for t, q, v in random_placements(system):
        expected = rate(lambda t, q: n.g_N(q, p)[0], system, t, q, v)
        assert n.W_N(q, p)[0].T @ v == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("a", "b"), [("first", "second"), ("second", "first"), ("ground", "first"), ("first", "ground")]
)
@pytest.mark.parametrize("case", cases(Joint))
def test_joint_directions_are_gradients_of_the_constraints(case: Case | None, a: str, b: str) -> None:
    system = built(case, a, b)
    n, p = system.numeric, system.parameter_values
    for t, q, v in random_placements(system):
        expected = rate(lambda t, q: n.g(t, q, p)[0], system, t, q, v)
        assert n.W_g(t, q, p)[0].T @ v + n.g_t(t, q, p)[0] == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("case", cases(Joint))
def test_constraint_and_reported_misfit_vanish_together_with_the_same_slope(case: Case | None) -> None:
    system = built(case, "first", "second")
    n, p, start = system.numeric, system.parameter_values, system.start
    random = np.random.default_rng(2)
    # assembly closes joints to 1e-14; a displacement of 1e-5 leaves a difference of its third power
    assert n.g(0.0, start.q, p)[0] == pytest.approx(0.0, abs=2e-14)
    assert n.violation(0.0, start.q, p)[0] == pytest.approx(0.0, abs=2e-14)
    for _ in range(5):
        q = start.q + 1e-5 * random.normal(size=system.nq)
        assert n.g(0.0, q, p)[0] == pytest.approx(n.violation(0.0, q, p)[0], abs=1e-13)


@pytest.mark.parametrize("case", cases(Joint))
def test_forces_of_a_joint_balance(case: Case | None) -> None:
    """The forces W_g lambda on both bodies balance: moving and turning the closed joint as a whole has no power."""
    system = built(case, "first", "second")
    q, p = system.start.q, system.parameter_values
    turn_about_origin = np.concatenate([[-y, x, 1.0] for x, y, _ in q.reshape(2, 3)])
    motions = np.column_stack([np.tile([1.0, 0.0, 0.0], 2), np.tile([0.0, 1.0, 0.0], 2), turn_about_origin])
    assert system.numeric.W_g(0.0, q, p)[0].T @ motions == pytest.approx(0.0, abs=5e-14)  # closed to 1e-14


@pytest.mark.parametrize("case", cases(Contact) + cases(Joint))
def test_drift_is_what_accelerations_hold_besides_directions(case: Case | None) -> None:
    """d/dt (W_g' v + g_t, W_N' v, W_T' v) at constant v."""
    system = built(case, "first", "second")
    n, p = system.numeric, system.parameter_values

    def rates(t: float, q: Array, v: Array) -> Array:
        joints = n.W_g(t, q, p)[0].T @ v + n.g_t(t, q, p)[0]
        return np.concatenate([joints, n.W_N(q, p)[0].T @ v, n.W_T(q, p)[0].T @ v])

    for t, q, v in random_placements(system):
        expected = rate(lambda t, q, v=v: rates(t, q, v), system, t, q, v)
        # rates are larger than gaps by |v| / length, up to 10, and so is their round-off
        assert n.bias(t, q, v, p)[0] == pytest.approx(expected, abs=10 * TOLERANCE)


@pytest.mark.parametrize("case", [one for one in cases(Contact) if one.id != "Rope0"])  # whose pulleys stay
def test_moving_both_bodies_alike_neither_opens_a_contact_nor_slips(case: Case | None) -> None:
    system = built(case, "first", "second")
    n, p = system.numeric, system.parameter_values
    for _, q, _ in random_placements(system):
        translations = np.tile([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], (2, 1))
        assert n.W_N(q, p)[0].T @ translations == pytest.approx(0.0, abs=1e-14)
        assert n.W_T(q, p)[0].T @ translations == pytest.approx(0.0, abs=1e-14)
        turn_about_origin = np.concatenate([[-y, x, 1.0] for x, y, _ in q.reshape(2, 3)])
        assert n.W_N(q, p)[0].T @ turn_about_origin == pytest.approx(0.0, abs=1e-13)
