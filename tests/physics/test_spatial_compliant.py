"""Compliant contact in space: all normal and friction laws, against the plane, closed forms and rigid limits.

Runs are at tolerances of 1e-8 unless a comment says otherwise.
"""

from __future__ import annotations

import numpy as np
import pytest
from loops import some
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import nonsmooth.laws as laws
from nonsmooth import (
    Compliant,
    CompliantDae,
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    Model,
    PlanarBody,
    PointPlane,
    Rigid,
    SpatialBody,
    SpherePlane,
    Trajectory,
    simulate,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.laws import Dahl, Flores, FrictionLaw, Karnopp, LankaraniNikravesh, LuGre, RegularisedCoulomb
from nonsmooth.model.system import System

G = 9.81
CONTROL = ErrorControl(rtol=1e-8, atol=1e-10, dt_min=1e-6, dt_max=1e-2)
MU = {"friction": 0.2, "static_friction": 0.25}
BRISTLES = {"friction": 0.2, "bristle_stiffness": 1e4}
FRICTION: dict[str, FrictionLaw] = {
    "Ambrosio": laws.Ambrosio(friction=0.2, dead_speed=1e-4, slip_speed=2e-2),
    "Bai": laws.Bai(**MU, static_speed=2e-2, dynamic_speed=0.1),
    "BengisuAkay": laws.BengisuAkay(**MU, static_speed=2e-2, decay=30.0),
    "BrownMcPhee": laws.BrownMcPhee(**MU, static_speed=2e-2, viscous_damping=0.3),
    "Dahl": Dahl(**BRISTLES, dahl_exponent=1.5),
    "Karnopp": Karnopp(**MU, stick_speed=1e-3),
    "LuGre": LuGre(**BRISTLES, static_friction=0.25, stribeck_speed=0.05, bristle_damping=5.0, viscous_friction=0.1),
    "MostaghelDavis": laws.MostaghelDavis(function="atan", friction=0.2, slip_speed=1e-2),
    "RegularisedCoulomb": RegularisedCoulomb(friction=0.2, slip_speed=1e-2),
    "SineCosine": laws.SineCosine(**MU, static_speed=2e-2, dynamic_speed=0.1),
    "Stribeck": laws.Stribeck(**MU, stribeck_speed=0.05, slip_speed=1e-2),
    "Threlfall": laws.Threlfall(friction=0.2, slip_speed=2e-2),
}


def compliant(friction: FrictionLaw | None, stiffness: float = 1e7) -> Compliant:
    return Compliant(Flores(stiffness=stiffness, restitution=0.5), friction)


def sunk(load: float, stiffness: float = 1e7) -> float:
    """Depth at which the law of Hertz's exponent carries a load."""
    return float((load / stiffness) ** (2 / 3))


def run(system: System, t_end: float, **options: object) -> Trajectory:
    return simulate(system, CompliantDae(), t_end=t_end, dt=CONTROL, **options)  # type: ignore[arg-type]


def vectors(table: object, name: str, labels: str = "xyz") -> Array:
    return np.column_stack([table[f"{name}.{label}"] for label in labels])  # type: ignore[index]


def test_every_friction_law_has_an_example() -> None:
    assert {laws.by_name(name, "friction").__name__ for name in laws.names("friction")} == set(FRICTION)


# A block without size that slides on a plane


def sliding_block(friction: FrictionLaw, turn: Rotation, load: tuple[float, float], speed: float) -> System:
    """A mass that slides in the direction e1 of a plane with the normal e3, axes `turn`ed; `load` along e1 and e3."""
    e1, e3 = turn.apply([1.0, 0.0, 0.0]), turn.apply([0.0, 0.0, 1.0])
    model = Model([Ground(), Gravity(acceleration=tuple(load[0] * e1 + load[1] * e3))])
    model.add(SpatialBody("block", mass=1.0, inertia=(1.0, 1.0, 1.0), position=tuple(-sunk(-load[1]) * e3),
                          velocity=tuple(speed * e1)))  # fmt: skip
    model.add(PointPlane("floor", "ground", "block", normal=tuple(e3), contact=compliant(friction)))
    return model.build()


def planar_block(friction: FrictionLaw, load: tuple[float, float], speed: float) -> System:
    model = Model([Ground(), Gravity(acceleration=load)])
    model.add(PlanarBody("block", mass=1.0, inertia=1.0, position=(0.0, -sunk(-load[1])), velocity=(speed, 0.0)))
    model.add(PointPlane("floor", "ground", "block", contact=compliant(friction)))
    return model.build()


#: laws whose force jumps or has a corner where the slip reverses, or at a slip speed: a step across it is less exact
JUMPING = {"Ambrosio", "Bai", "Dahl", "Karnopp", "SineCosine", "Threlfall"}


@pytest.mark.parametrize("name", some(FRICTION, 4))
def test_straight_motion_in_space_is_that_of_the_plane(name: str) -> None:
    """A block is thrown up an incline, slides back or sticks: the same for any direction of plane and motion.

    Both runs are exact to their tolerance, 1e-8 over some hundred steps; a law that jumps adds the error of its jumps.
    The impulse of friction has the sign of its direction in both: magnitudes of rows do not add up to a number of the
    motion, as in the row in which the slip reverses both directions cancel, and rows lie elsewhere in each run.
    """
    load, speed, t_end = (-2.5, -9.5), 0.15, 0.06
    plane = run(planar_block(FRICTION[name], load, speed), t_end)
    near = 1e-6 if name in JUMPING else 1e-7
    for seed in (1, 2):
        turn = Rotation.random(random_state=seed)
        space = run(sliding_block(FRICTION[name], turn, load, speed), t_end)
        e1, e2, e3 = turn.apply(np.eye(3))
        position, velocity = vectors(space.q, "block"), vectors(space.v, "block")
        assert position[-1] @ e1 == pytest.approx(plane.q["block.x"][-1], abs=2e-7)
        assert velocity[-1] @ e1 == pytest.approx(plane.v["block.x"][-1], abs=2e-7)
        assert np.abs(position @ e2).max() <= 1e-13 and np.abs(velocity @ e2).max() <= 1e-12
        impulses = space.contact_force["floor"][1:] * np.diff(space.t)[:, None]
        friction = impulses - np.outer(impulses @ e3, e3)
        np.testing.assert_allclose(np.linalg.norm(space.P_T["floor"][1:], axis=1), np.abs(friction @ e1), atol=1e-12)
        size = np.abs(plane.P_T["floor"]).sum()
        assert np.sum(friction @ e1) == pytest.approx(plane.P_T["floor"].sum(), abs=near * size)
        lost = plane.certificate.energy.loss_friction
        assert space.certificate.energy.loss_friction == pytest.approx(lost, rel=near)
        assert abs(space.certificate.energy.remainder) <= 1e-7


@pytest.mark.parametrize("name", FRICTION)
def test_friction_opposes_the_slip_all_along_a_bent_path(name: str) -> None:
    """Across an incline of slope 0.5 the velocity turns by 60 degrees and more, and friction with it.

    A mean force lags behind a velocity at the end of a step by the turn within it; bristles lag by their deflection.
    """
    system = across(FRICTION[name], slope=0.5, speed=0.3)
    trajectory = run(system, 0.15)
    velocity = vectors(trajectory.v, "block")
    force = trajectory.contact_force["floor"].copy()
    force[:, 2] = 0.0  # the normal is z
    angle = np.arctan2(velocity[:, 1], velocity[:, 0])
    assert abs(angle[-1] - angle[0]) > 1.0
    middle = (velocity[1:] + velocity[:-1]) / 2
    cosines = np.sum(middle * force[1:], axis=1) / np.linalg.norm(middle, axis=1) / np.linalg.norm(force[1:], axis=1)
    settled = trajectory.t[1:] > 5e-3  # bristles have stretched
    assert np.max(cosines[settled]) <= (-0.99 if FRICTION[name].bristles else -0.9999)
    assert trajectory.certificate.energy.loss_friction > 0.01
    assert abs(trajectory.certificate.energy.remainder) <= 1e-7


def across(friction: FrictionLaw, slope: float, speed: float) -> System:
    """A mass on an incline that falls in the direction y, pushed along x."""
    load = G * np.cos(slope)
    model = Model([Ground(), Gravity(acceleration=(0.0, G * np.sin(slope), -load))])
    model.add(SpatialBody("block", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, -sunk(load)),
                          velocity=(speed, 0.0, 0.0)))  # fmt: skip
    model.add(PointPlane("floor", "ground", "block", normal=(0.0, 0.0, 1.0), contact=compliant(friction)))
    return model.build()


def test_a_block_pushed_across_an_incline_follows_the_bent_path() -> None:
    """Against v' = g sin(slope) e_y - mu(|v|) g cos(slope) v/|v|, integrated in two dimensions; to the tolerances."""
    slope, law = 0.5, RegularisedCoulomb(friction=0.4, slip_speed=1e-3)

    def rates(t: float, y: Array) -> Array:
        speed = np.hypot(*y[2:])
        pull = 0.4 * np.tanh(speed / 1e-3) * G * np.cos(slope) / speed
        return np.array([y[2], y[3], -pull * y[2], G * np.sin(slope) - pull * y[3]])

    exact = solve_ivp(rates, (0.0, 0.4), [0.0, 0.0, 0.5, 0.0], rtol=1e-11, atol=1e-13).y[:, -1]
    end = run(across(law, slope, 0.5), 0.4)
    found = [end.q["block.x"][-1], end.q["block.y"][-1], end.v["block.x"][-1], end.v["block.y"][-1]]
    np.testing.assert_allclose(found, exact, atol=1e-6)
    assert exact[1] > 0.1 and exact[2] < 0.3


@pytest.mark.parametrize("feet", [1, 3])
def test_karnopp_holds_a_block_in_any_direction_on_any_number_of_feet(feet: int) -> None:
    """At a slope with tan < mu_s, twice as steep along one axis as along the other: no creep, and all of the weight."""
    pull, load = np.array([0.8, 1.6, 0.0]), 9.5
    contact = compliant(Karnopp(friction=0.2, static_friction=0.3, stick_speed=1e-3))
    model = Model([Ground(), Gravity(acceleration=(*pull[:2], -load))])
    model.add(SpatialBody("block", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, -sunk(load / feet))))
    for i in range(feet):
        angle = 2 * np.pi * i / feet
        at = (0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.0) if feet > 1 else (0.0, 0.0, 0.0)
        model.add(PointPlane(f"foot{i}", "ground", "block", at_b=at, normal=(0.0, 0.0, 1.0), contact=contact))
    trajectory = run(model.build(), 0.1)
    assert np.abs(vectors(trajectory.v, "block")[-1]).max() <= 1e-7
    total = sum(trajectory.contact_force[f"foot{i}"][-1] for i in range(feet))
    np.testing.assert_allclose(total, [*-pull[:2], load], atol=1e-5)


# A ball that is thrown and that rolls


def ball(contact: Compliant | Rigid, height: float, velocity: tuple[float, ...], spin: tuple[float, ...],
         gravity: float = G) -> System:  # fmt: skip
    """A ball of 0.1 m and 1 kg, its lowest point at `height` above a plane."""
    model = Model([Ground(), Gravity(acceleration=(0.0, 0.0, -gravity))] if gravity else [Ground()])
    model.add(SpatialBody("ball", mass=1.0, inertia=(4e-3, 4e-3, 4e-3), position=(0.0, 0.0, 0.1 + height),
                          velocity=velocity, angular_velocity=spin))  # fmt: skip
    model.add(SpherePlane("floor", "ground", "ball", radius=0.1, normal=(0.0, 0.0, 1.0), contact=contact))
    return model.build()


@pytest.mark.parametrize("name", some(FRICTION, 4))
def test_an_oblique_bounce_with_spin_loses_the_energy_that_it_states(name: str) -> None:
    """The ledger closes to what tolerances of 1e-8 leave of 2 J; momentum is that of the impulses."""
    contact = Compliant(LankaraniNikravesh(stiffness=1e8, restitution=0.9), FRICTION[name])
    trajectory = run(ball(contact, 1e-3, (0.6, -0.8, -1.0), (3.0, -5.0, 20.0)), 5e-3)
    ledger, v = trajectory.certificate.energy, vectors(trajectory.v, "ball")
    assert v[-1, 2] > 0.5
    assert ledger.loss_friction > 1e-3 and ledger.loss_contact > 1e-3
    assert abs(ledger.remainder) <= 1e-7
    impulse = np.sum(trajectory.contact_force["floor"][1:] * np.diff(trajectory.t)[:, None], axis=0)
    np.testing.assert_allclose(impulse, v[-1] - v[0] + [0.0, 0.0, G * trajectory.t[-1]], atol=1e-7)


def test_a_sliding_ball_rolls_after_two_sevenths_of_its_speed() -> None:
    """Rolling begins at 2 v0/(7 mu g), late by what the slip speed of the regularisation takes, and keeps 5/7 of v0."""
    law, v0 = RegularisedCoulomb(friction=0.2, slip_speed=1e-4), np.array([0.6, 0.8])
    trajectory = run(ball(compliant(law), -sunk(G), (*v0, 0.0), (0.0, 0.0, 0.0)), 0.25)
    v, omega = vectors(trajectory.v, "ball", ("x", "y")), vectors(trajectory.v, "ball", ("wx", "wy", "wz"))
    turned = [
        Rotation.from_quat([x, y, z, w]) for w, x, y, z in vectors(trajectory.q, "ball", ("qw", "qx", "qy", "qz"))
    ]
    spin = np.array([turn.apply(w) for turn, w in zip(turned, omega, strict=True)])
    slip = v + 0.1 * np.column_stack([-spin[:, 1], spin[:, 0]])
    begin = 2 / (7 * 0.2 * G)
    sliding = trajectory.t <= begin - 1e-3
    expected = v0 * (1 - 0.2 * G * trajectory.t[sliding, None])
    np.testing.assert_allclose(v[sliding], expected, atol=1e-5)
    rolling = np.linalg.norm(slip, axis=1) < 1e-3
    assert trajectory.t[np.argmax(rolling)] == pytest.approx(begin, rel=5e-3)
    np.testing.assert_allclose(v[-1], 5 / 7 * v0, rtol=1e-6)
    assert trajectory.certificate.energy.loss_friction == pytest.approx(1 / 7, rel=1e-5)


@pytest.mark.parametrize("mu", [0.1, 0.6])
def test_stiff_contact_comes_to_the_rigid_impact(mu: float) -> None:
    """An oblique bounce that slides all through (0.1) or that ends rolling (0.6), with the restitution that the
    compliant law delivers. The ball turns against the floor while it is in contact, for a time like K^(-2/5): so falls
    the error, by 6.3 for a hundredfold stiffness."""
    velocity, spin = (0.6, -0.8, -1.0), (2.0, 1.0, 0.0)
    errors = []
    for stiffness, slip_speed in ((1e7, 1e-2), (1e9, 1e-3), (1e11, 1e-4)):
        friction = RegularisedCoulomb(friction=mu, slip_speed=slip_speed)
        contact = Compliant(Flores(stiffness=stiffness, restitution=0.6), friction)
        soft = run(ball(contact, 1e-3, velocity, spin, gravity=0.0), 1e-3 + 0.03 * (1e7 / stiffness) ** 0.4)
        delivered = float(soft.v["ball.z"][-1])
        rigid = simulate(ball(Rigid(restitution=delivered, friction=mu), 1e-3, velocity, spin, gravity=0.0),
                         EventDriven(), t_end=2e-3, dt=ErrorControl(1e-9, 1e-9, 1e-9, 1e-3))  # fmt: skip
        labels = ("x", "y", "z", "wx", "wy", "wz")
        errors.append(np.abs(vectors(soft.v, "ball", labels)[-1] - vectors(rigid.v, "ball", labels)[-1]).max())
    rates = np.array(errors[:-1]) / errors[1:]
    np.testing.assert_allclose(rates, 100**0.4, rtol=0.05)
    assert errors[2] <= 2e-4
