"""Loads that depend on the motion, against exact and independent solutions, and the balance of energy with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from nonsmooth import (
    Bushing,
    ErrorControl,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Load,
    Model,
    MoreauJean,
    PlanarBody,
    Prismatic,
    Revolute,
    SpatialBody,
    Spring,
    TorsionDamper,
    TorsionSpring,
    Trajectory,
    simulate,
)
from nonsmooth.model.forces import Force
from nonsmooth.quantities import Quantity

#: The runs below have local errors of 1e-11 of values of the order of 1, over some hundred steps.
CLOSE = ErrorControl(rtol=1e-11, atol=1e-13, dt_min=1e-6, dt_max=0.05)
TOLERANCE = 1e-8


def run_of(*elements: Any, t_end: float, **more: Any) -> Trajectory:
    return simulate(Model(elements).build(), EventDriven(), t_end=t_end, dt=CLOSE, **more)


def total(run: Trajectory) -> Any:
    return run.energy["kinetic"] + run.energy["potential"]


# ------------------------------------------------------------------------------------------------------------- torsion


@pytest.mark.parametrize("start", [0.3, 25.0])
def test_torsion_pendulum_in_the_plane(start: float) -> None:
    """J theta'' = -k (theta - theta_0): theta_0 + A cos(omega t), through any number of full turns."""
    J, k, free = 0.2, 5.0, -1.0
    wheel = PlanarBody("wheel", mass=1.0, inertia=J, angle=start)
    spring = TorsionSpring("spring", "ground", wheel, stiffness=k, free_angle=free)
    run = run_of(Ground(), wheel, Revolute("pin", "ground", wheel), spring, t_end=2.0)
    exact = free + (start - free) * np.cos(np.sqrt(k / J) * run.t)
    assert run.q["wheel.angle"] == pytest.approx(exact, abs=TOLERANCE * start)
    assert np.ptp(total(run)) < TOLERANCE * total(run)[0]


def test_torsion_pendulum_in_space() -> None:
    """A top-shaped bob on a hinge about an oblique axis n: the inertia is n . J n, the swing A cos(omega t)."""
    moments, k, amplitude, n = np.array([0.2, 0.3, 0.4]), 5.0, 2.5, np.array([1.0, 2.0, 2.0]) / 3
    quaternion = (np.cos(amplitude / 2), *(np.sin(amplitude / 2) * n))
    bob = SpatialBody("bob", mass=1.0, inertia=tuple(moments), quaternion=quaternion)
    hinge = Revolute("hinge", "ground", bob, at_a=(0.0,) * 3, at_b=(0.0,) * 3, axis_a=tuple(n), axis_b=tuple(n))
    spring = TorsionSpring("spring", "ground", bob, stiffness=k, axis_a=(1.0, 2.0, 2.0))
    run = run_of(Ground(), bob, hinge, spring, t_end=1.0)
    exact = amplitude * np.cos(np.sqrt(k / (n @ (moments * n))) * run.t)
    half = sum(run.q[f"bob.q{axis}"] * part for axis, part in zip("xyz", n, strict=True))
    assert 2 * np.arctan2(half, run.q["bob.qw"]) == pytest.approx(exact, abs=TOLERANCE)
    assert np.ptp(total(run)) < TOLERANCE * total(run)[0]


def test_a_spring_in_space_pulls_on_from_the_other_side_of_the_half_turn() -> None:
    """Its energy is continuous there, its torque changes sign."""
    found = []
    for angle in (np.pi - 1e-6, np.pi + 1e-6):
        body = SpatialBody("b", 1.0, (1.0, 1.0, 1.0), quaternion=(np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)))
        spring = TorsionSpring("s", "ground", body, stiffness=2.0, axis_a=(0.0, 0.0, 1.0))
        system = Model([Ground(), body, spring]).build()
        q, v, p = system.start.q, system.start.v, system.parameter_values
        found.append((system.energies(0.0, q, v, p)["potential"][0], system.numeric.h(0.0, q, v, p)[0][5]))
    assert [energy for energy, _ in found] == pytest.approx([np.pi**2] * 2, rel=1e-5)
    assert [torque for _, torque in found] == pytest.approx([-2 * np.pi, 2 * np.pi], rel=1e-5)


@pytest.mark.parametrize("dimension", [2, 3])
def test_two_discs_on_a_torsion_damper(dimension: int) -> None:
    """The relative speed decays as exp(-c (1/J_a + 1/J_b) t), the mean momentum stays."""
    c, J, speed = 0.3, (0.2, 0.5), (4.0, -1.0)
    bodies: list[Any] = []
    for name, inertia, omega in zip("ab", J, speed, strict=True):
        if dimension == 2:
            bodies.append(PlanarBody(name, 1.0, inertia, angular_velocity=omega))
        else:
            bodies.append(SpatialBody(name, 1.0, (1.0, 1.0, inertia), angular_velocity=(0.0, 0.0, omega)))
    axis = {} if dimension == 2 else {"axis_a": (0.0, 0.0, 3.0)}
    run = run_of(*bodies, TorsionDamper("oil", "a", "b", damping=c, **axis), t_end=1.0)
    label = "angle" if dimension == 2 else "wz"
    a, b = run.v[f"a.{label}"], run.v[f"b.{label}"]
    assert a - b == pytest.approx(5.0 * np.exp(-c * (1 / J[0] + 1 / J[1]) * run.t), abs=TOLERANCE)
    assert J[0] * a + J[1] * b == pytest.approx(J[0] * speed[0] + J[1] * speed[1], abs=TOLERANCE)


# ------------------------------------------------------------------------------------------------------------ bushings


def test_static_deflection_of_a_bushing_in_the_plane() -> None:
    """K s = (0, -m g, 0), which coupling makes slant; damping leads there, and takes what potential is lost."""
    K = np.array([[4e3, 1e3, 50.0], [1e3, 3e3, -40.0], [50.0, -40.0, 20.0]])
    body = PlanarBody("engine", mass=2.0, inertia=0.05)
    mount = Bushing(
        "mount", "ground", body, stiffness=(4e3, 3e3), rotational_stiffness=20.0, coupling=(1e3, 50.0, -40.0),
        damping=(100.0, 100.0), rotational_damping=1.0,
    )  # fmt: skip
    run = run_of(Ground(), body, mount, Gravity(acceleration=(0.0, -9.81)), t_end=3.0)
    s = np.linalg.solve(K, [0.0, -2.0 * 9.81, 0.0])
    # the slowest of the three modes has decayed by exp(-20)
    assert run.q.array[-1] == pytest.approx(s, abs=1e-9)
    energy = total(run)
    assert energy[-1] == pytest.approx(s @ K @ s / 2 + 2.0 * 9.81 * s[1], abs=1e-10)
    assert np.all(np.diff(energy) < 1e-12)  # it never grows but for round-off of 1 J
    # works are integrals over the rows of the run, here of about a thousandth of an oscillation each
    assert run.energy["loss_damping"][-1] == pytest.approx(energy[0] - energy[-1], rel=1e-3)


def test_static_deflection_of_a_bushing_in_space() -> None:
    """K s = (F, 0) of a force in the centre of mass, with the rotation vector of the body in s, by an own formula."""
    rng = np.random.default_rng(3)
    root = rng.normal(size=(6, 6))
    K = 20.0 * (root @ root.T + 6 * np.eye(6))
    force = np.array([1.0, -2.0, 40.0])
    body = SpatialBody("plate", mass=1.0, inertia=(0.1, 0.2, 0.25))
    mount = Bushing(
        "mount", "ground", body, stiffness=tuple(np.diag(K)[:3]), rotational_stiffness=tuple(np.diag(K)[3:]),
        coupling=tuple(K[np.triu_indices(6, 1)]), damping=(30.0,) * 3, rotational_damping=(5.0,) * 3,
    )  # fmt: skip
    run = run_of(Ground(), body, mount, Gravity(acceleration=tuple(force)), t_end=15.0)
    q = run.q.array[-1]
    turned = Rotation.from_quat(q[3:], scalar_first=True).as_rotvec()
    assert np.linalg.norm(turned) > 0.05  # the coupling turns it by more than is small
    assert np.concatenate([q[:3], turned]) == pytest.approx(np.linalg.solve(K, [*force, 0, 0, 0]), abs=1e-8)
    assert np.all(np.diff(total(run)) < 1e-11)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_bushing_without_damping_keeps_energy(dimension: int) -> None:
    """However far it is deformed: forces are the gradient of the potential, and both bodies move."""
    if dimension == 2:
        bodies: list[Any] = [PlanarBody("a", 1.0, 0.1), PlanarBody("b", 2.0, 0.2, position=(0.5, 0.2), angle=0.7)]
        mount = Bushing("it", "a", "b", at_a=(0.1, 0.0), stiffness=(20.0, 30.0), rotational_stiffness=2.0)
    else:
        bodies = [
            SpatialBody("a", 1.0, (0.1, 0.2, 0.25)),
            SpatialBody("b", 2.0, (0.2, 0.3, 0.4), position=(0.5, 0.2, 0.1), quaternion=(0.8, 0.36, 0.48, 0.0)),
        ]
        mount = Bushing(
            "it", "a", "b", at_a=(0.1, 0.0, 0.0), stiffness=(20.0, 30.0, 10.0), rotational_stiffness=(2.0, 1.0, 3.0)
        )
    run = run_of(*bodies, mount, t_end=2.0)
    assert run.energy["kinetic"].max() > 0.5 * total(run)[0]  # it swings
    assert np.ptp(total(run)) < TOLERANCE * total(run)[0]
    for axis, speed in zip("xy", (run.v["a.x"] + 2 * run.v["b.x"], run.v["a.y"] + 2 * run.v["b.y"]), strict=True):
        assert speed == pytest.approx(0.0, abs=TOLERANCE), axis


# ---------------------------------------------------------------------------------------------------- laws of one's own

STRIBECK = {"mu": 0.3, "share": 0.6, "decay": 2.0, "belt": 0.4, "soft": 0.02, "weight": 9.81}


def stribeck(t: Any, a: Any, b: Any, p: Any) -> Any:
    """Friction on a block from a belt, which falls from mu to mu (1 - share) with the speed past it."""
    past = p.belt - b.velocity[0]
    mu = p.mu * (1 - p.share * (1 - ca.exp(-p.decay * ca.fabs(past))))
    return p.weight * mu * ca.tanh(past / p.soft), 0.0


FORMULAS = ("weight * mu * (1 - share * (1 - exp(-decay * abs(belt - vx)))) * tanh((belt - vx) / soft)", "0")


@pytest.mark.parametrize("law", [stribeck, FORMULAS], ids=["function", "formula"])
def test_oscillator_on_a_belt(law: Any) -> None:
    """A block on a spring and a belt against an integration by SciPy: falling friction excites it."""
    k = 25.0
    block = PlanarBody("block", mass=1.0, inertia=0.1, position=(0.06, 0.0))
    run = run_of(
        Ground(), block, Prismatic("rail", "ground", block), Spring("spring", "ground", block, stiffness=k),
        Load("belt", "ground", block, force=law, parameters=STRIBECK), t_end=4.0,
    )  # fmt: skip

    def motion(t: float, y: Any) -> list[float]:
        past = 0.4 - y[1]
        mu = 0.3 * (0.4 + 0.6 * np.exp(-2.0 * abs(past)))
        return [y[1], -k * y[0] + 9.81 * mu * np.tanh(past / 0.02)]

    exact = solve_ivp(motion, (0.0, 4.0), [0.06, 0.0], method="DOP853", rtol=1e-12, atol=1e-14, t_eval=run.t)
    # errors of both grow with the excitation, by less than a factor of 10 in this time
    assert run.q["block.x"] == pytest.approx(exact.y[0], abs=1e-7)
    settled = run.t > 2.0
    assert np.ptp(run.q["block.x"][settled]) > 1.5 * np.ptp(run.q["block.x"][run.t < 0.5])
    # work of the belt, an integral over the rows of the run, is what the block has gained
    assert run.energy["work_loads"][-1] == pytest.approx(total(run)[-1] - total(run)[0], abs=2e-3)


MOTOR = {"stall": 2.0, "free": 300.0}


def motor(**law: Any) -> Any:
    rotor = PlanarBody("rotor", mass=1.0, inertia=0.01)
    return Model([Ground(), rotor, Load("motor", "ground", rotor, parameters=MOTOR, **law)]).build()


def exact_speed(t: Any, stall: float = 2.0) -> Any:
    return 300.0 * (1 - np.exp(-stall * t / (300.0 * 0.01)))


@pytest.mark.parametrize(
    "law", [lambda t, a, b, p: p.stall * (1 - b.angular_velocity / p.free), "stall * (1 - omega / free)"]
)
def test_motor_with_a_falling_torque_curve(law: Any) -> None:
    """J omega' = T (1 - omega/omega_0): omega_0 (1 - exp(-T t / (J omega_0))), also with a torque of another run."""
    system = motor(torque=law)
    for stall in (2.0, 7.0):
        run = simulate(system, EventDriven(), t_end=1.0, dt=CLOSE, parameters={"motor.stall": stall})
        assert run.v["rotor.angle"] == pytest.approx(exact_speed(run.t, stall), rel=TOLERANCE, abs=1e-9)


def test_steps_of_implicit_euler_on_a_law() -> None:
    """Of J omega' = T (1 - omega/omega_0): omega_0 (1 - (1 + dt T/(J omega_0))^-n)."""
    system = motor(torque=lambda t, a, b, p: p.stall * (1 - b.angular_velocity / p.free))
    run = simulate(system, GaussQP(), t_end=0.2, dt=1e-3)
    exact = 300.0 * (1 - (1 + 1e-3 * 2.0 / (0.01 * 300.0)) ** -np.arange(201.0))
    assert run.v["rotor.angle"] == pytest.approx(exact, abs=1e-11)  # round-off of 200 steps to a speed of 37 rad/s


@dataclass(frozen=True, eq=False)
class Differential(Force):
    """A torsion spring between c and the mean angle of a and b, turns included, and springs to their mean point."""

    a: str
    b: str
    c: str
    stiffness: Annotated[float, Quantity("N m/rad")] = field(kw_only=True)
    drag: Annotated[float, Quantity("N s/m")] = field(default=0.0, kw_only=True)

    body_fields = ("a", "b", "c")

    def forces(self, t: Any, bodies: Any, p: Any) -> Any:
        a, b, c = bodies
        torque = p.stiffness * (c.angle - (a.angle + b.angle) / 2)
        mean = (a.position + b.position + c.position) / 3
        pulls = [x.generalized_force(p.stiffness * (mean - x.position), ca.SX.zeros(2)) for x in bodies]
        turns = [x.generalized_torque(share * torque) for x, share in zip(bodies, (0.5, 0.5, -1.0), strict=True)]
        slowed = [x.generalized_force(-p.drag * x.twist[:2], ca.SX.zeros(2)) for x in bodies]
        return tuple(sum(parts) for parts in zip(pulls, turns, slowed, strict=True))


@pytest.mark.parametrize(
    ("stepper", "angle", "height", "work"),
    [
        (MoreauJean(), 2.2251760809216, 0.59742215230369, 163.1371984017),
        (GaussQP(), 2.2276539948284, 0.59642450049735, 162.51263320802),
        (GeneralizedAlpha(0.8), 2.2251752292934, 0.5974221543576, 163.13718780026),
        (EventDriven(), 2.2251914271214, 0.5974221321292, 163.1389421793),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_load_on_three_bodies_and_angles_beyond_a_full_turn(
    stepper: Any, angle: float, height: float, work: float
) -> None:
    """Kept numbers of another implementation, in NumPy."""
    bodies = [PlanarBody(name, 1.0 + i, 0.1, position=(0.3 * i, 0.2 * i * i), angle=9.0 * i)
              for i, name in enumerate("abc")]  # fmt: skip
    system = Model([
        Ground(), *bodies, Gravity(acceleration=(0.0, -9.8)),
        Differential("gear", "a", "b", "c", stiffness=2.0, drag=0.3),
        Differential("loose", "c", "ground", "a", stiffness=0.5),
        TorsionSpring("mainspring", "ground", "a", stiffness=0.2, free_angle=-25.0),
    ]).build()  # fmt: skip
    dt = CLOSE if isinstance(stepper, EventDriven) else 1e-3
    run = simulate(system, stepper, t_end=0.2, dt=dt)
    # rounding of sums in another order; passes end at a residual of 1e-12, and those of GeneralizedAlpha shrink it by
    # less each, so that more of it is left in 200 steps
    within = 1e-9 if isinstance(stepper, GeneralizedAlpha) else 1e-11
    assert run.q["a.angle"][-1] == pytest.approx(angle, abs=within)
    assert run.q["c.y"][-1] == pytest.approx(height, abs=within)
    assert run.energy["work_loads"][-1] == pytest.approx(work, abs=max(1e-9, 10 * within))


def test_potential_and_loss_of_a_bushing_are_booked_apart() -> None:
    """Kept numbers of another implementation, in NumPy."""
    body = PlanarBody("b", 1.0, 0.1, position=(0.05, 0.02), angle=0.4)
    mount = Bushing(
        "it", "ground", body, stiffness=(200.0, 300.0), rotational_stiffness=20.0, coupling=(10.0, 1.0, 2.0),
        damping=(2.0, 1.0), rotational_damping=0.3,
    )  # fmt: skip
    pull = Load("pull", "ground", body, energy="x**4", force=("-vx", "0"), dissipative=True)
    system = Model([Ground(), body, mount, pull]).build()
    run = simulate(system, GaussQP(), t_end=0.5, dt=1e-3)
    assert run.q.array[250] == pytest.approx([-0.030798826554108, -0.0017497129536501, -0.25747004270134], abs=1e-12)
    assert run.q.array[-1] == pytest.approx([0.0144943607263, -0.020808833113104, 0.13995173760368], abs=1e-12)
    assert run.energy["potential"][-1] == pytest.approx(0.27501265126637, abs=1e-12)
    assert run.energy["loss_damping"][-1] == pytest.approx(1.3795686971939, abs=1e-12)
    assert np.all(run.energy["work_loads"] == 0.0)


@pytest.mark.parametrize("dimension", [2, 3])
def test_two_bodies_that_attract_each_other(dimension: int) -> None:
    """Kepler: after ``T = 2 pi sqrt(a^3 / (G (m_a + m_b)))`` both are where they were, from an energy alone."""
    m_a, m_b, gravity, far = 3.0, 1.0, 0.7, 1.2
    speed = 0.8 * np.sqrt(gravity * (m_a + m_b) / far)  # relative, at the far end of the ellipse
    axis = 1 / (2 / far - speed**2 / (gravity * (m_a + m_b)))
    place, rate = (far, 0.0, 0.0)[:dimension], (0.0, speed, 0.0)[:dimension]
    bodies: list[Any] = []
    for name, mass, share in (("a", m_a, -m_b / (m_a + m_b)), ("b", m_b, m_a / (m_a + m_b))):
        start = {"position": tuple(share * x for x in place), "velocity": tuple(share * x for x in rate)}
        if dimension == 2:
            bodies.append(PlanarBody(name, mass, 0.1, **start))
        else:
            bodies.append(SpatialBody(name, mass, (0.1, 0.1, 0.1), **start))

    def energy(a: Any, b: Any, p: Any) -> Any:
        return -p.G * p.m_a * p.m_b / ca.norm_2(b.position - a.position)

    pull = Load("pull", "a", "b", energy=energy, parameters={"G": gravity, "m_a": m_a, "m_b": m_b})
    run = run_of(*bodies, pull, t_end=2 * np.pi * np.sqrt(axis**3 / (gravity * (m_a + m_b))))
    assert run.q.array[-1] == pytest.approx(run.q.array[0], abs=TOLERANCE)
    assert np.ptp(total(run)) < TOLERANCE * abs(total(run)[0])


def test_feedback_holds_an_inverted_pendulum() -> None:
    """PD torque: theta'' = (m g l sin(theta) - k theta - d theta') / J_0, against SciPy."""
    m, length, J, k, d = 0.5, 0.4, 0.02, 6.0, 0.5
    rod = PlanarBody("rod", m, J, position=(-length * np.sin(0.3), length * np.cos(0.3)), angle=0.3)
    pin = Revolute("pin", "ground", rod, at_b=(0.0, -length))
    law = Load("control", "ground", rod, torque="-k * angle - d * omega", parameters={"k": k, "d": d})
    run = run_of(Ground(), rod, pin, law, Gravity(acceleration=(0.0, -9.81)), t_end=2.0)

    def motion(t: float, y: Any) -> list[float]:
        return [y[1], (m * 9.81 * length * np.sin(y[0]) - k * y[0] - d * y[1]) / (J + m * length**2)]

    exact = solve_ivp(motion, (0.0, 2.0), [0.3, 0.0], method="DOP853", rtol=1e-12, atol=1e-14, t_eval=run.t)
    assert run.q["rod.angle"] == pytest.approx(exact.y[0], abs=TOLERANCE)
