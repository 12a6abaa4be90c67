"""Loads, springs and dampers: forces from potentials, the balance of power, and each load by hand."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from loops import some
from scipy.spatial.transform import Rotation

import nonsmooth.model
from nonsmooth import (
    Bushing,
    Damper,
    Gravity,
    Ground,
    Load,
    Model,
    ModelError,
    PlanarBody,
    PointForce,
    SampledController,
    SpatialBody,
    Spring,
    Table,
    Torque,
    TorsionDamper,
    TorsionSpring,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.forces import Force
from nonsmooth.model.system import System

PLANE = {"at_a": (0.3, -0.2), "at_b": (-0.1, 0.4)}
SPACE = {"at_a": (0.3, -0.2, 0.1), "at_b": (-0.1, 0.4, 0.2)}
RAMP = Table((0.0, 1.0, 2.0), (0.0, 3.0, -1.0))
Case = Callable[[Any, Any], Any]
TILTED = (0.8, 0.0, 0.6, 0.0)
MOUNT = {"stiffness": (3.0, 2.0), "rotational_stiffness": 1.5}
MOUNT_3 = {"stiffness": (3.0, 2.0, 2.5), "rotational_stiffness": (1.5, 0.5, 1.0)}
LOSSY = {"damping": (0.3, 0.2), "rotational_damping": 0.5}
LOSSY_3 = {"damping": (0.3, 0.2, 0.1), "rotational_damping": (0.5, 0.2, 0.3)}
#: displacement along x with rotation about y, and along y with rotation about z
COUPLING = (0.0, 0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0, -0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def drag(t: Any, a: Any, b: Any, p: Any) -> Any:
    """Against the velocity of b past a, with a share that grows."""
    return -(1 + t) * (b.velocity - a.velocity)


def turning(t: Any, a: Any, b: Any, p: Any) -> Any:
    return ca.sin(t) - 0.2 * (b.angular_velocity - a.angular_velocity)


#: (dimension, element between two bodies, or on the second)
CASES: dict[type, list[tuple[int, Case]]] = {
    Spring: [
        (2, lambda a, b: Spring("it", a, b, stiffness=3.0, **PLANE)),
        (2, lambda a, b: Spring("it", a, b, stiffness=3.0, free_length=0.4, **PLANE)),
        (3, lambda a, b: Spring("it", a, b, stiffness=3.0, **SPACE)),
        (3, lambda a, b: Spring("it", a, b, stiffness=3.0, free_length=0.4, **SPACE)),
    ],
    Damper: [
        (2, lambda a, b: Damper("it", a, b, damping=2.0, **PLANE)),
        (3, lambda a, b: Damper("it", a, b, damping=2.0, **SPACE)),
    ],
    PointForce: [
        (2, lambda a, b: PointForce("it", b, force=(2.0, -1.0), at=(0.2, 0.5))),
        (2, lambda a, b: PointForce("it", b, force=lambda t: (ca.sin(t), RAMP(t)), at=(0.2, 0.5), frame="body")),
        (3, lambda a, b: PointForce("it", b, force=lambda t: (t, t**2, 1.0), at=(0.2, 0.5, -0.3))),
        (3, lambda a, b: PointForce("it", b, force=(2.0, -1.0, 0.5), at=(0.2, 0.5, -0.3), frame="body")),
    ],
    Torque: [
        (2, lambda a, b: Torque("it", b, torque=1.5)),
        (2, lambda a, b: Torque("it", b, torque=RAMP)),
        (3, lambda a, b: Torque("it", b, torque=(1.0, -2.0, 0.5))),
        (3, lambda a, b: Torque("it", b, torque=lambda t: (t, 0.0, -t))),
    ],
    TorsionSpring: [
        (2, lambda a, b: TorsionSpring("it", a, b, stiffness=3.0, free_angle=7.0)),
        # weak, since the twist about an axis that is tilted by nearly a half turn has steep third derivatives
        (3, lambda a, b: TorsionSpring("it", a, b, stiffness=0.3, free_angle=0.3, axis_a=(1.0, 2.0, 2.0))),
        (3, lambda a, b: TorsionSpring("it", a, b, stiffness=3.0, axis_a=(0.0, 0.0, 1.0), quaternion=TILTED)),
    ],
    TorsionDamper: [
        (2, lambda a, b: TorsionDamper("it", a, b, damping=2.0)),
        (3, lambda a, b: TorsionDamper("it", a, b, damping=2.0, axis_a=(1.0, 2.0, 2.0))),
    ],
    Bushing: [
        (2, lambda a, b: Bushing("it", a, b, **PLANE, **MOUNT)),
        (2, lambda a, b: Bushing("it", a, b, **PLANE, **MOUNT, **LOSSY, angle=0.3, coupling=(0.5, 0.2, -0.3))),
        (3, lambda a, b: Bushing("it", a, b, **SPACE, **MOUNT_3)),
        (3, lambda a, b: Bushing("it", a, b, **SPACE, **MOUNT_3, **LOSSY_3, quaternion=TILTED, coupling=COUPLING)),
    ],
    Load: [
        (
            2,
            lambda a, b: Load("it", a, b, energy=lambda a, b, p: p.k * (b.angle - a.angle) ** 4, parameters={"k": 0.1}),
        ),
        (2, lambda a, b: Load("it", a, b, force=drag, torque=turning, at_b=(0.2, 0.5))),
        (2, lambda a, b: Load("it", a, b, force=drag, energy=lambda a, b, p: ca.sumsqr(b.position), dissipative=True)),
        (3, lambda a, b: Load("it", a, b, force=drag, torque=turning, at_b=(0.2, 0.5, -0.3))),
        (3, lambda a, b: Load("it", a, b, energy=lambda a, b, p: ca.dot(a.position, b.position))),
    ],
    SampledController: [
        (2, lambda a, b: SampledController("it", a, b, torque="-angle", held=2.0, period=1e-3)),
        (
            2,
            lambda a, b: SampledController(
                "it", a, b, force=("-x", "0"), held=(2.0, 1.0), at_b=(0.2, 0.5), period=1e-3
            ),
        ),
        (3, lambda a, b: SampledController("it", a, b, torque="-angle", held=2.0, axis_a=(1.0, 2.0, 2.0), period=1e-3)),
    ],
    Gravity: [
        (2, lambda a, b: Gravity("it", acceleration=(1.0, -9.81))),
        (3, lambda a, b: Gravity("it", acceleration=(1.0, 0.5, -9.81))),
    ],
}


def kinds(base: type) -> list[type]:
    below = [kind for kind in base.__subclasses__() if kind.__module__.startswith("nonsmooth.")]
    return [leaf for kind in below for leaf in kinds(kind)] + [base] * (not below or base in CASES)


def cases(choose: Callable[[type], bool] = lambda kind: True) -> list[Any]:
    for module in pkgutil.iter_modules(nonsmooth.model.__path__):
        importlib.import_module(f"nonsmooth.model.{module.name}")
    return [
        pytest.param(dimension, case, id=f"{kind.__name__}{i}")
        for kind in sorted({*kinds(Force), Gravity}, key=lambda kind: kind.__name__)
        if choose(kind)
        for i, (dimension, case) in enumerate(CASES.get(kind, [(2, None)]))
    ]


def built(dimension: int, case: Case | None, grounded: bool = False) -> System:
    """The element between two bodies that lie apart, or between the ground and the second."""
    assert case is not None, "a new kind of force: add a case to CASES"
    if dimension == 2:
        bodies = [
            PlanarBody(name, mass=mass, inertia=0.1, position=(mass, 0.0)) for name, mass in (("a", 1.0), ("b", 2.0))
        ]
    else:
        inertia = (0.1, 0.2, 0.25, 0.01, -0.02, 0.03)
        bodies = [
            SpatialBody(name, mass=mass, inertia=inertia, position=(mass, 0.0, 0.0))
            for name, mass in (("a", 1.0), ("b", 2.0))
        ]
    ground = Ground()
    return Model([ground, *bodies, case(ground if grounded else bodies[0], bodies[1])]).build()


def random_states(system: System, count: int = 5) -> list[tuple[float, Array, Array]]:
    random = np.random.default_rng(7)
    states = []
    for _ in range(count):
        q = random.uniform(-2.0, 2.0, system.nq)
        for i in range(3, system.nq, 7) if system.dimension == 3 else ():
            q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
        states.append((random.uniform(0.1, 0.9), q, random.normal(size=system.nv)))
    return states


def energies(system: System, t: float, q: Array, v: Array) -> dict[str, float]:
    return {name: float(value[0]) for name, value in system.energies(t, q, v, system.parameter_values).items()}


WIDTH = 1e-5
#: central differences of energies of the order of 10 J: truncation 10 WIDTH^2 and round-off 1e-15/WIDTH stay below
TOLERANCE = 1e-8


@pytest.mark.parametrize("grounded", [False, True])
@pytest.mark.parametrize(("dimension", "case"), cases(lambda kind: kind in (Spring, Gravity, TorsionSpring)))
def test_a_conservative_force_is_minus_the_gradient_of_its_potential(
    dimension: int, case: Case, grounded: bool
) -> None:
    system = built(dimension, case, grounded)
    for t, q, _ in random_states(system):
        at_rest = np.zeros(system.nv)
        force = system.numeric.h(t, q, at_rest, system.parameter_values)[0]
        for i, unit in enumerate(np.eye(system.nv)):
            ahead, behind = (
                energies(system, t, system.numeric.advance(q, unit, s)[0], at_rest)["potential"]
                for s in (WIDTH, -WIDTH)
            )
            assert force[i] == pytest.approx(-(ahead - behind) / (2 * WIDTH), abs=TOLERANCE)


@pytest.mark.parametrize("grounded", [False, True])
@pytest.mark.parametrize(("dimension", "case"), some(cases(), 7))
def test_energy_changes_by_the_power_of_loads_and_damping(dimension: int, case: Case, grounded: bool) -> None:
    """d/dt (kinetic + potential) = power_loads + power_damping along the motion M v' = h, q' = B v."""
    system = built(dimension, case, grounded)
    n, p = system.numeric, system.parameter_values
    for t, q, v in random_states(system):
        acceleration = np.linalg.solve(n.M(q, p)[0], n.h(t, q, v, p)[0])
        now = energies(system, t, q, v)
        total = []
        for s in (WIDTH, -WIDTH):
            then = energies(system, t + s, n.advance(q, v, s)[0], v + s * acceleration)
            total.append(then["kinetic"] + then["potential"])
        expected = now["power_loads"] + now["power_damping"]
        assert (total[0] - total[1]) / (2 * WIDTH) == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize(("dimension", "case"), cases(lambda kind: kind is Damper))
def test_a_damper_takes_energy_at_the_rate_of_its_law(dimension: int, case: Case) -> None:
    system = built(dimension, case)
    for t, q, v in random_states(system):
        power = energies(system, t, q, v)
        assert power["power_damping"] < 0 and power["power_loads"] == 0
        lengths = []  # rate of the line's length, from positions alone
        for s in (WIDTH, -WIDTH):
            moved = system.numeric.advance(q, v, s)[0]
            ends = [point(dimension, moved, 0, (PLANE, SPACE)[dimension - 2]["at_a"])]
            ends += [point(dimension, moved, 1, (PLANE, SPACE)[dimension - 2]["at_b"])]
            lengths.append(np.linalg.norm(ends[1] - ends[0]))
        rate = (lengths[0] - lengths[1]) / (2 * WIDTH)
        assert power["power_damping"] == pytest.approx(-2.0 * rate**2, abs=TOLERANCE)


INTERNAL = (Spring, Damper, TorsionSpring, TorsionDamper, Bushing)


@pytest.mark.parametrize(("dimension", "case"), cases(lambda kind: kind in INTERNAL))
def test_internal_forces_change_neither_momentum_nor_moment_of_momentum(dimension: int, case: Case) -> None:
    system = built(dimension, case)
    for t, q, v in random_states(system):
        still = np.concatenate([v[: len(v) // 2] * turn for turn in (1, -1)])
        if dimension == 3:
            still[3:6] = still[9:12] = 0.0  # without gyroscopic torques, which are no applied forces
        h = system.numeric.h(t, q, still, system.parameter_values)[0].reshape(2, -1)
        assert h[0, :dimension] == pytest.approx(-h[1, :dimension], abs=1e-14)
        moments = [moment_about_origin(dimension, q, i, h[i]) for i in range(2)]
        assert moments[0] == pytest.approx(-np.asarray(moments[1]), abs=1e-13)  # forces and arms of the order of 10


def rotation_of(dimension: int, q: Array, body: int) -> Array:
    if dimension == 2:
        angle = q[3 * body + 2]
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return Rotation.from_quat(q[7 * body + 3 : 7 * body + 7], scalar_first=True).as_matrix()


def position_of(dimension: int, q: Array, body: int) -> Array:
    start = (3, 7)[dimension - 2] * body
    return q[start : start + dimension]


def point(dimension: int, q: Array, body: int, local: tuple[float, ...]) -> Array:
    return position_of(dimension, q, body) + rotation_of(dimension, q, body) @ np.asarray(local)


def planar_cross(a: Array, b: Array) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def moment_about_origin(dimension: int, q: Array, body: int, h: Array) -> Any:
    r = position_of(dimension, q, body)
    if dimension == 2:
        return h[2] + planar_cross(r, h[:2])
    return rotation_of(3, q, body) @ h[3:] + np.cross(r, h[:3])  # torques of h are in the body frame


# Each load by hand


@pytest.mark.parametrize("frame", ["global", "body"])
def test_point_force_in_the_plane(frame: str) -> None:
    system = built(2, lambda a, b: PointForce("it", b, force=(2.0, -1.0), at=(0.2, 0.5), frame=frame))
    for t, q, v in random_states(system):
        R = rotation_of(2, q, 1)
        force = np.array([2.0, -1.0]) if frame == "global" else R @ [2.0, -1.0]
        expected = [0, 0, 0, *force, planar_cross(R @ [0.2, 0.5], force)]
        assert system.numeric.h(t, q, v, system.parameter_values)[0] == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("frame", ["global", "body"])
def test_point_force_in_space_turns_the_body_in_its_own_frame(frame: str) -> None:
    at = np.array([0.2, 0.5, -0.3])
    system = built(3, lambda a, b: PointForce("it", b, force=(2.0, -1.0, 0.5), at=tuple(at), frame=frame))
    for t, q, _ in random_states(system):
        R = rotation_of(3, q, 1)
        force = np.array([2.0, -1.0, 0.5]) if frame == "global" else R @ [2.0, -1.0, 0.5]
        expected = [*np.zeros(6), *force, *np.cross(at, R.T @ force)]
        got = system.numeric.h(t, q, np.zeros(12), system.parameter_values)[0]
        assert got == pytest.approx(expected, abs=1e-14)


@pytest.mark.exact("compares a force to the bit")
def test_a_force_without_point_acts_at_the_centre_of_mass() -> None:
    system = built(2, lambda a, b: PointForce("it", b, force=(2.0, -1.0)))
    q = np.array([0, 0, 0, 1.0, 2.0, 0.7])
    assert system.numeric.h(0.0, q, np.zeros(6), system.parameter_values)[0].tolist() == [0, 0, 0, 2.0, -1.0, 0]


@pytest.mark.exact("compares a torque to the bit")
def test_torque_in_the_plane_and_in_space_is_global() -> None:
    planar = built(2, lambda a, b: Torque("it", b, torque=1.5))
    assert planar.numeric.h(0.0, planar.start.q, np.zeros(6), planar.parameter_values)[0][5] == 1.5
    spatial = built(3, lambda a, b: Torque("it", b, torque=(1.0, -2.0, 0.5)))
    for t, q, _ in random_states(spatial):
        h = spatial.numeric.h(t, q, np.zeros(12), spatial.parameter_values)[0]
        assert rotation_of(3, q, 1) @ h[9:] == pytest.approx([1.0, -2.0, 0.5], abs=1e-15)
        assert np.all(h[:9] == 0)


@pytest.mark.parametrize("dimension", [2, 3])
def test_gravity_pulls_each_body_by_its_weight_and_turns_none(dimension: int) -> None:
    acceleration = (1.0, -9.81, 0.3)[:dimension]
    system = built(dimension, lambda a, b: Gravity(acceleration=acceleration))
    for t, q, _ in random_states(system, 2):
        h = system.numeric.h(t, q, np.zeros(system.nv), system.parameter_values)[0].reshape(2, -1)
        gravity = [system.parameters[f"gravity.acceleration_{axis}"] for axis in "xyz"[:dimension]]
        assert gravity == pytest.approx(acceleration, rel=1e-14)
        for row, mass in zip(h, (system.parameters[f"{body}.mass"] for body in "ab"), strict=True):
            assert row[:dimension] == pytest.approx(mass * np.array(gravity), rel=1e-15)
            assert row[dimension:] == pytest.approx(0.0, abs=1e-15)


def test_spring_pulls_with_stiffness_times_elongation() -> None:
    """Ends at (1, 0) and (2, 0), free length 0.4 m, 3 N/m: 1.8 N, towards each other."""
    system = built(2, lambda a, b: Spring("it", a, b, stiffness=3.0, free_length=0.4))
    h = system.numeric.h(0.0, system.start.q, np.zeros(6), system.parameter_values)[0]
    stiffness, free = (system.parameters[f"it.{name}"] for name in ("stiffness", "free_length"))
    pull = stiffness * (1.0 - free)
    assert pull == pytest.approx(1.8, rel=1e-13)
    assert h == pytest.approx([pull, 0, 0, -pull, 0, 0], abs=1e-15)
    potential = energies(system, 0.0, system.start.q, np.zeros(6))["potential"]
    assert potential == pytest.approx(stiffness * (1.0 - free) ** 2 / 2, rel=1e-15)


def test_a_compressed_spring_pushes() -> None:
    system = built(2, lambda a, b: Spring("it", a, b, stiffness=3.0, free_length=1.5))
    h = system.numeric.h(0.0, system.start.q, np.zeros(6), system.parameter_values)[0]
    push = system.parameters["it.stiffness"] * (system.parameters["it.free_length"] - 1.0)
    assert push == pytest.approx(1.5, rel=1e-13)
    assert h == pytest.approx([-push, 0, 0, push, 0, 0], abs=1e-15)


def test_damper_resists_parting() -> None:
    """b leaves a at 0.5 m/s along the line, 2 N s/m: 1 N, towards each other; motion across the line is free."""
    system = built(2, lambda a, b: Damper("it", a, b, damping=2.0))
    h = system.numeric.h(0.0, system.start.q, [0, 0, 0, 0.5, 7.0, 0], system.parameter_values)[0]
    pull = 0.5 * system.parameters["it.damping"]
    assert pull == pytest.approx(1.0, rel=1e-14) and h == pytest.approx([pull, 0, 0, -pull, 0, 0], abs=1e-15)


@pytest.mark.parametrize(
    "load", [RAMP, lambda t: ca.if_else(t < 1, 3 * t, 3 - 4 * (t - 1)), lambda t: np.sin(t) + 3 * t]
)
def test_a_load_may_be_a_function_of_time(load: Callable[[Any], Any]) -> None:
    system = built(2, lambda a, b: Torque("it", b, torque=load))
    assert "it.torque" not in system.parameters
    for t in (0.0, 0.3, 1.7):
        h = system.numeric.h(t, system.start.q, np.zeros(6), system.parameter_values)[0]
        assert h[5] == pytest.approx(float(load(t)), abs=1e-14)


@pytest.mark.exact("compares parameters as given")
def test_components_of_a_load_are_parameters_by_axis() -> None:
    system = built(2, lambda a, b: PointForce("it", b, force=(2.0, -1.0), at=(0.2, 0.5)))
    assert [name for name in system.parameters if name.startswith("it.")] == [
        "it.force_x", "it.force_y", "it.at_x", "it.at_y",
    ]  # fmt: skip
    pushed = system.parameter_vector({"it.force_x": 7.0, "it.at_y": 0.0, "it.at_x": 0.0})
    assert system.numeric.h(0.0, system.start.q, np.zeros(6), pushed)[0].tolist() == [0, 0, 0, 7.0, -1.0, 0]


# What loads refuse


@pytest.mark.parametrize(
    ("dimension", "case", "message"),
    [
        (
            2,
            lambda a, b: PointForce("it", b, force=(1.0, np.nan)),
            r'PointForce "it": force_y must be a finite number \[N\], got nan',
        ),
        (
            2,
            lambda a, b: PointForce("it", b, force=5.0),
            r'"it": force must be a tuple of components.*or a function of time, got 5.0',
        ),
        (2, lambda a, b: PointForce("it", b, force=(1.0, 2.0, 3.0)), "force takes 2 components in a planar model, got"),
        (3, lambda a, b: PointForce("it", b, force=(1.0, 2.0)), "force takes 3 components in a spatial model, got"),
        (2, lambda a, b: PointForce("it", b, force=(1.0, 2.0), at=(0.1,)), "at takes 2 components in a planar model"),
        (
            2,
            lambda a, b: PointForce("it", b, force=lambda t: 5 * t),
            r'"it": force must return 2 component\(s\), got 1',
        ),
        (
            2,
            lambda a, b: PointForce("it", b, force=(1.0, 2.0), frame="local"),
            'frame must be "global" or "body", got \'local\'',
        ),
        (2, lambda a, b: Torque("it", b, torque=(1.0, 2.0)), r"torque takes 1 component\(s\) here, got 2"),
        (3, lambda a, b: Torque("it", b, torque=1.0), r"torque takes 3 component\(s\) here, got 1"),
        (
            2,
            lambda a, b: Torque("it", b, torque=lambda t: 1.0 if t > 1 else 0.0),
            "could not be evaluated with symbolic time.*Table",
        ),
        (
            2,
            lambda a, b: Torque("it", b, torque=lambda t: ca.SX.sym("k") * t),
            "torque depends on k; it may depend on time only",
        ),
        (
            2,
            lambda a, b: Torque("it", b, torque=lambda t: ca.SX.sym("t")),
            "torque depends on t; it may depend on time only",
        ),
        (2, lambda a, b: Gravity(acceleration=-9.81), r'Gravity "gravity": acceleration must be a tuple of components'),
        (2, lambda a, b: Gravity(acceleration=(0.0, 0.0, -9.81)), "acceleration takes 2 components in a planar model"),
        (3, lambda a, b: Gravity(acceleration=(0.0, -9.81)), "acceleration takes 3 components in a spatial model"),
        (2, lambda a, b: Spring("it", a, b, stiffness=-1.0), r"stiffness must be a number >= 0 \[N/m\], got -1.0"),
        (
            2,
            lambda a, b: Spring("it", a, b, stiffness=1.0, free_length=0.0),
            r"free_length must be a positive number \[m\], got 0.0",
        ),
        (2, lambda a, b: Damper("it", a, b, damping=np.nan), r"damping must be a number >= 0 \[N s/m\], got nan"),
        (
            2,
            lambda a, b: Spring("it", a, b, stiffness=1.0, at_a=(0.0, 0.0, 0.0)),
            "at_a takes 2 components in a planar model",
        ),
    ],
)
def test_loads_that_make_no_sense_are_refused(dimension: int, case: Case, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        built(dimension, case)


def test_a_load_that_is_no_number_at_the_start_is_named() -> None:
    with pytest.raises(ModelError, match=r'PointForce "it": force is \(nan, 0.0\) at t = 0 s; it must be finite there'):
        built(2, lambda a, b: PointForce("it", b, force=lambda t: (ca.sqrt(t - 1), 0.0)))
    with pytest.raises(ModelError, match=r'Torque "it": torque is inf at t = 0 s'):
        built(2, lambda a, b: Torque("it", b, torque=lambda t: 1 / t))


@pytest.mark.parametrize("apart", [0.0, 2e-16, -4e-15])
def test_a_damper_between_coincident_points_is_refused(apart: float) -> None:
    """Also where they differ by round-off of their distance from the origins, which is no direction."""
    with pytest.raises(ModelError, match='Damper "it": its two ends lie at the same point at the start'):
        built(2, lambda a, b: Damper("it", a, b, damping=1.0, at_a=(1.0 + apart, 0.0)))


def test_ends_that_are_a_nanometre_apart_have_a_direction() -> None:
    """And a spring without a free length needs none."""
    system = built(2, lambda a, b: Damper("it", a, b, damping=2.0, at_a=(1.0 - 1e-9, 0.0)))
    h = system.numeric.h(0.0, system.start.q, [0, 0, 0, 0.5, 0.0, 0], system.parameter_values)[0]
    assert h[3:5] == pytest.approx([-1.0, 0.0], rel=1e-6)
    built(2, lambda a, b: Spring("it", a, b, stiffness=3.0, at_a=(1.0, 0.0)))
