"""Compliant contact in space: all normal and friction laws, against the plane, closed forms and rigid limits.

Runs are by Radau at tolerances of 1e-8 unless a comment says otherwise.
"""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import nonsmooth.laws as laws
from nonsmooth import (
    Compliant,
    CompliantDae,
    CylinderPlane,
    CylindricalClearance,
    Dop853,
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    Idas,
    InputError,
    Model,
    PlanarBody,
    PointPlane,
    Revolute,
    Rigid,
    SpatialBody,
    SpherePlane,
    SphereSphere,
    SphericalClearance,
    Trajectory,
    ValidityWarning,
    simulate,
)
from nonsmooth.evaluation import Array
from nonsmooth.laws import Dahl, Flores, FrictionLaw, Karnopp, LankaraniNikravesh, LuGre, Material, RegularisedCoulomb
from nonsmooth.model.compliance import tangent_spins
from nonsmooth.model.contacts import Touches
from nonsmooth.model.frames import SpatialPlacement
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


@pytest.mark.parametrize("name", FRICTION)
def test_straight_motion_in_space_is_that_of_the_plane(name: str) -> None:
    """A block is thrown up an incline, slides back or sticks: the same for any direction of plane and motion.

    Both runs are exact to their tolerance, 1e-8 over some hundred steps; a law that jumps adds the error of its jumps.
    """
    load, speed, t_end = (-2.5, -9.5), 0.15, 0.06
    plane = simulate(planar_block(FRICTION[name], load, speed), CompliantDae(), t_end=t_end, dt=CONTROL,
                     engine="python")  # fmt: skip
    for seed in (1, 2):
        turn = Rotation.random(random_state=seed)
        space = run(sliding_block(FRICTION[name], turn, load, speed), t_end)
        e1, e2 = turn.apply([1.0, 0.0, 0.0]), turn.apply([0.0, 1.0, 0.0])
        position, velocity = vectors(space.q, "block"), vectors(space.v, "block")
        assert position[-1] @ e1 == pytest.approx(plane.q["block.x"][-1], abs=2e-7)
        assert velocity[-1] @ e1 == pytest.approx(plane.v["block.x"][-1], abs=2e-7)
        assert np.abs(position @ e2).max() <= 1e-13 and np.abs(velocity @ e2).max() <= 1e-12
        friction = np.linalg.norm(space.P_T["floor"], axis=1).sum()
        assert friction == pytest.approx(np.abs(plane.P_T["floor"]).sum(), rel=1e-5)
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


@pytest.mark.parametrize("name", FRICTION)
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


# Every normal law


STEEL = Material(2.07e11, 0.3)
PAIR, HYSTERESIS = {"a": STEEL, "b": STEEL}, {"stiffness": 1e8, "restitution": 0.6}
NORMAL: dict[str, dict[str, object]] = {
    "AdamsImpact": {"stiffness": 1e8, "damping": 1e3, "full_depth": 1e-5},
    "Anagnostopoulos": {"stiffness": 1e7, "restitution": 0.6, "effective_mass": 0.3},
    "BaiZhao": PAIR,
    "DubowskyFreudenstein": PAIR,
    "ESDU78035": PAIR,
    "FractalStiffness": PAIR | {"yield_strength": 3e8, "fractal_dimension": 2.56, "fractal_scale": 5e-9,
                                "area_share": 0.1, "asperity_friction": 0.4},
    "Goldsmith": PAIR,
    "Hertz": {"stiffness": 1e8},
    "HertzStiffness": PAIR,
    "Johnson": PAIR,
    "KelvinVoigt": {"stiffness": 1e7, "damping": 1e2},
    "LineContact": PAIR | {"line_length": 0.06, "edge_radius": 1e-3},
    "Liu": PAIR,
    "Pereira": PAIR,
    "PlaneContact": {"young": 2e11, "area": 1e-4, "thickness": 0.02},
    "Radzimovsky": PAIR,
    "RoundedStiffness": PAIR | {"rounding": 1e-3},
    "WinklerFoundation": {"young": 1e9, "poisson": 0.3, "thickness": 1e-3},
}  # fmt: skip
#: what each contact can tell a law of itself
GEOMETRY = {"plane": {"radius", "effective_radius"}, "socket": {"radius", "effective_radius", "clearance"},
            "sleeve": {"radius", "effective_radius", "clearance", "length"}}  # fmt: skip


def normal_law(name: str) -> laws.NormalLaw:
    law: laws.NormalLaw = getattr(laws, name)(**NORMAL.get(name, HYSTERESIS))
    return law


def thrown(place: str, contact: Compliant) -> System:
    """A round body of 9.5 mm that meets a plane, its socket or its sleeve obliquely, spinning, without gravity."""
    model = Model([Ground()])
    start = (0.0, 0.0, 9.6e-3) if place == "plane" else (0.0, 0.0, -4e-4)
    model.add(SpatialBody("ball", mass=0.03, inertia=(1e-6, 1e-6, 1e-6), position=start, velocity=(0.1, 0.05, -0.3),
                          angular_velocity=(10.0, -20.0, 5.0 if place != "sleeve" else 0.0)))  # fmt: skip
    both = {"radius": 9.5e-3, "contact": contact}
    if place == "plane":
        model.add(SpherePlane("pair", "ground", "ball", normal=(0.0, 0.0, 1.0), **both))
    elif place == "socket":
        model.add(SphericalClearance("pair", "ground", "ball", clearance=5e-4, **both))
    else:
        axes = {"axis_a": (1.0, 0.0, 0.0), "axis_b": (1.0, 0.0, 0.0)}
        model.add(CylindricalClearance("pair", "ground", "ball", clearance=5e-4, length=15e-3, **axes, **both))
    return model.build()


@pytest.mark.slow
@pytest.mark.parametrize("place", GEOMETRY)
@pytest.mark.parametrize("name", laws.names("normal"))
def test_every_normal_law_runs_in_space(name: str, place: str) -> None:
    """Each with every contact that knows what it needs; the energy of 1.5 mJ closes to what the tolerances leave.

    The journal meets both ends of its sleeve.
    """
    law = normal_law(laws.by_name(name, "normal").__name__)
    if not set(law.needs()) <= GEOMETRY[place]:
        pytest.skip(f"a contact with a {place} has no {', '.join(set(law.needs()) - GEOMETRY[place])}")
    system = thrown(place, Compliant(law, RegularisedCoulomb(friction=0.2, slip_speed=1e-2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValidityWarning)
        trajectory = run(system, 4e-3)
    assert trajectory.status == "finished"
    total = sum(trajectory.P_N[gap].sum() for gap in system.contact_names)
    assert total > 0.3 * 0.03 * 0.3
    ledger = trajectory.certificate.energy
    assert ledger.loss_friction > 1e-6
    assert abs(ledger.remainder) <= 1e-8


# Bristles in the tangent plane


class Balls(SphereSphere):
    """Two spheres that touch half way between their surfaces, whichever comes first."""

    def touches(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Touches:
        line = b.position - a.position
        normal = line / ca.norm_2(line)
        return [((a.position + p.radius_a * normal + b.position - p.radius_b * normal) / 2, normal)]


@pytest.mark.slow
@pytest.mark.parametrize("law", [FRICTION["LuGre"], FRICTION["Dahl"]], ids=lambda law: type(law).__name__)
def test_bristles_do_not_tell_the_first_body_from_the_second(law: FrictionLaw) -> None:
    """Two spinning balls collide, one or the other being the first: the tangents differ, and turn, the motion does not.

    At tolerances of 1e-10, which the steps of some hundred add up.
    """
    ends = []
    for names in (("left", "right"), ("right", "left")):
        model = Model()
        model.add(SpatialBody("left", mass=1.0, inertia=(4e-3,) * 3, angular_velocity=(20.0, -30.0, 9.0)))
        model.add(SpatialBody("right", mass=2.0, inertia=(8e-3,) * 3, position=(0.12, 0.1, 0.13), velocity=(-1, -2, -1),
                              angular_velocity=(0.0, 50.0, 40.0)))  # fmt: skip
        model.add(Balls("pair", *names, radius_a=0.1, radius_b=0.1, contact=compliant(law, 1e6)))
        control = ErrorControl(1e-10, 1e-12, 1e-7, 1e-3)
        trajectory = simulate(model.build(), CompliantDae(), t_end=8e-3, dt=control)
        assert np.abs(trajectory.P_N["pair"]).sum() > 0.5
        ends.append(trajectory.end.v)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-7)


def test_tangents_do_not_turn_against_surfaces_that_move_as_one() -> None:
    """A motion of both bodies as one rigid body; and the spin of the pair against differences of the axes."""
    model = Model()
    model.add(SpatialBody("a", mass=1.0, inertia=(1.0, 1.0, 1.0), quaternion=(0.5, 0.5, -0.5, 0.5)))
    model.add(SpatialBody("b", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.1, 0.05, -0.2)))
    model.add(SphereSphere("spheres", "a", "b", radius_a=0.05, radius_b=0.05, contact=compliant(FRICTION["Dahl"])))
    model.add(SphericalClearance("socket", "a", "b", clearance=0.2, radius=0.1, contact=compliant(FRICTION["Dahl"])))
    system = model.build()
    q, p, h = system.start.q, system.parameter_values, 1e-6
    spins = tangent_spins(system.equations)
    turn = Rotation.from_quat(q[[4, 5, 6, 3]])
    omega = np.array([0.7, -0.4, 1.1])
    rigid = np.concatenate([np.zeros(3), turn.inv().apply(omega), np.cross(omega, q[7:10]), omega])
    np.testing.assert_allclose(spins(q, rigid, p).full().ravel(), 0.0, atol=1e-15)

    v = np.random.default_rng(3).normal(size=12)
    axes = [system.contact_axes(system.numeric.advance(q, v, dt)[0], p)[0] for dt in (-h, 0.0, h)]
    mean = (turn.apply(v[3:6]) + v[9:12]) / 2
    for i, spin in enumerate(spins(q, v, p).full().ravel()):
        (_, before, _), (_, t1, t2), (_, after, _) = (at[i] for at in axes)
        expected = (after - before) / (2 * h) @ t2 - mean @ np.cross(t1, t2)
        assert spin == pytest.approx(expected, rel=1e-8)  # differences of second order, and their round-off


def test_a_run_with_bristles_goes_on_where_it_stopped() -> None:
    """Two components of a bristle in the law's memory; Radau has no history."""
    system = ball(compliant(FRICTION["LuGre"]), -sunk(G), (0.3, 0.4, 0.0), (0.0, 0.0, 30.0))
    whole, half = run(system, 0.02), run(system, 0.01)
    assert system.compliance is not None and system.compliance.bristles == ("floor.deflection_1", "floor.deflection_2")
    assert np.linalg.norm(half.end.law_memory["bristles"]) == pytest.approx(0.2 / 1e4, rel=0.2)
    rest = run(system, 0.02, state=half.end)
    np.testing.assert_allclose(rest.end.v, whole.end.v, atol=1e-7)


# Joints


def parallelogram(friction: FrictionLaw, cranks: int = 2) -> System:
    """A planar parallelogram of spatial revolute joints, 3 rows too many, whose coupler falls against a tilted wall."""
    angle, axes = 1.0, {"axis_a": (0.0, 0.0, 1.0), "axis_b": (0.0, 0.0, 1.0)}
    c, s = np.cos(angle), np.sin(angle)
    model = Model([Ground(), Gravity(acceleration=(0.0, -G, 0.0))])
    model.add(SpatialBody("coupler", mass=1.0, inertia=(0.01, 0.02, 0.03), position=(0.5 + c, s, 0.0)))
    for i in range(cranks):
        name, x = f"crank{i}", i / (cranks - 1)
        model.add(SpatialBody(name, mass=1.0, inertia=(0.01, 0.02, 0.03), position=(x + c / 2, s / 2, 0.0),
                              quaternion=(np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))))  # fmt: skip
        model.add(Revolute(f"base{i}", "ground", name, at_a=(x, 0.0, 0.0), at_b=(-0.5, 0.0, 0.0), **axes))
        model.add(Revolute(f"top{i}", name, "coupler", at_a=(0.5, 0.0, 0.0), at_b=(x - 0.5, 0.0, 0.0), **axes))
    model.add(SpherePlane("wall", "ground", "coupler", radius=0.1, at_a=(1.3, 0.0, 0.0), normal=(-1.0, 0.1, 0.2),
                          contact=compliant(friction, 1e6)))  # fmt: skip
    return model.build()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stepper", "violation"),
    [
        (CompliantDae(), 1e-14),
        (CompliantDae(solver=Dop853()), 1e-14),
        (CompliantDae(solver=Idas()), 1e-14),
        (CompliantDae(baumgarte=(5.0, 5.0)), 1e-8),
    ],
    ids=("radau", "dop853", "idas", "baumgarte"),
)
def test_redundant_joints_stay_closed_and_share_the_load(stepper: CompliantDae, violation: float) -> None:
    """Rows are projected to round-off, those that hold by geometry too; IDAS closes energy to its own tolerance."""
    system = parallelogram(RegularisedCoulomb(friction=0.2, slip_speed=1e-2))
    assert len(system.redundant) == 3
    trajectory = simulate(system, stepper, t_end=0.5, dt=CONTROL)
    assert trajectory.certificate.joint_violation <= violation
    assert trajectory.certificate.motion_residual <= 1e-11
    assert abs(trajectory.certificate.energy.remainder) <= 1e-5
    assert trajectory.certificate.energy.loss_friction > 0.01
    # the parallelogram's rows out of its plane carry the weight of nothing, and of least norm is none
    free = trajectory.t < 0.05
    for joint in ("base0", "base1", "top0", "top1"):
        assert np.abs(trajectory.reaction[f"{joint}.z"][free]).max() <= 1e-9
    # the whole falls by the forces at the ground, whatever their split
    dt = np.diff(trajectory.t)[:, None]
    ground = sum(np.column_stack([trajectory.reaction[f"base{i}.{axis}"] for axis in "xyz"]) for i in (0, 1))
    impulse = np.sum((ground + trajectory.contact_force["wall"])[1:] * dt, axis=0) - [
        0.0,
        3 * G * trajectory.t[-1],
        0.0,
    ]
    momentum = sum(vectors(trajectory.v, name)[-1] for name in ("coupler", "crank0", "crank1"))
    np.testing.assert_allclose(impulse, momentum, atol=1e-5)


def test_redundant_joints_share_a_load_as_least_squares_do() -> None:
    """Against the pseudo-inverse of the rows' directions, each of length 1 in the mass metric; to its condition."""
    from nonsmooth.steppers.compliant_equations import CompliantEquations

    system = parallelogram(FRICTION["Karnopp"], cranks=3)
    equations, p = CompliantEquations(system), system.parameter_values
    y = np.zeros(equations.layout.size)
    y[: system.nq] = system.start.q
    d = np.concatenate([p, equations.constants(p), np.zeros(2)])
    found = equations.ode(0.0, y, d)[0][equations.layout.parts["reaction"]]
    q, v = system.start.q, system.start.v
    inverse, h = system.inverse_factor(p).full(), system.numeric.h(0.0, q, v, p)[0]
    directions = inverse @ system.numeric.W_g(0.0, q, p)[0]
    norms = np.linalg.norm(directions, axis=0)
    drift = system.numeric.drift(0.0, q, v, p)[0][: system.ng] / norms
    unit = directions / norms
    lam = np.linalg.lstsq(unit.T @ unit, -(unit.T @ inverse @ h + drift), rcond=1e-9)[0] / norms
    expected = system.numeric.reaction(0.0, q, p, lam)[0]
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_friction_where_joints_bar_the_slip() -> None:
    """A pendulum in a revolute joint meets a wall: no friction across its plane, where it cannot slip."""
    model = Model([Ground(), Gravity(acceleration=(0.0, -G, 0.0))])
    model.add(SpatialBody("rod", mass=1.0, inertia=(0.02, 0.02, 0.02), position=(0.5, 0.0, 0.0)))
    axes = {"axis_a": (0.0, 0.0, 1.0), "axis_b": (0.0, 0.0, 1.0)}
    model.add(Revolute("hinge", "ground", "rod", at_b=(-0.5, 0.0, 0.0), **axes))
    model.add(PointPlane("floor", "ground", "rod", at_a=(0.0, -1e-3, 0.0), normal=(0.0, 1.0, 0.0),
                         contact=compliant(FRICTION["Karnopp"], 1e6)))  # fmt: skip
    trajectory = run(model.build(), 0.05)
    assert trajectory.P_N["floor"].sum() > 0.05
    force = trajectory.contact_force["floor"]
    # means over steps, whose quadrature a jump of the law puts out by some per cent
    assert np.all(np.hypot(force[:, 0], force[:, 2]) <= 0.25 * 1.05 * force[:, 1])
    assert np.abs(force[:, 2]).max() <= 1e-6 * force[:, 1].max()
    assert abs(trajectory.certificate.energy.remainder) <= 1e-8


ALPHA, BETA, SHORT = 0.6, 1.1, 0.3
LONG = SHORT * float(np.sin(BETA) / np.sin(ALPHA))


def bennett(theta: float, contact: Compliant) -> System:
    """Bennett's four-bar, links with twists alpha, beta and a/sin(alpha) = b/sin(beta), before a plane.

    Links have their origins on the axes of the joints before them, z along these and x along the links; the second has
    turned by 2 atan(sin((beta + alpha)/2)/sin((beta - alpha)/2)/tan(theta/2)), the third by -theta.
    """
    ratio = np.sin((BETA + ALPHA) / 2) / np.sin((BETA - ALPHA) / 2)
    second = 2 * np.arctan2(ratio * np.cos(theta / 2), np.sin(theta / 2))
    place, frame, links = np.zeros(3), Rotation.identity(), []
    for i, (angle, span, twist) in enumerate(((theta, SHORT, ALPHA), (second, LONG, BETA), (-theta, SHORT, ALPHA))):
        frame = frame * Rotation.from_rotvec((0.0, 0.0, angle))
        quaternion = tuple(frame.as_quat()[[3, 0, 1, 2]])
        links.append(SpatialBody(f"link{i + 1}", mass=1.0, inertia=(0.02, 0.03, 0.04), position=tuple(place),
                                 quaternion=quaternion))  # fmt: skip
        place = place + frame.apply((span, 0.0, 0.0))
        frame = frame * Rotation.from_rotvec((twist, 0.0, 0.0))
    after = {twist: (0.0, float(-np.sin(twist)), float(np.cos(twist))) for twist in (ALPHA, BETA, -BETA)}
    z, x, y = (0.0, 0.0, 1.0), (SHORT, 0.0, 0.0), (LONG, 0.0, 0.0)
    model = Model([Ground(), Gravity(acceleration=(0.0, -G, 0.0)), *links])
    model.add(Revolute("joint1", "ground", "link1", axis_a=z, axis_b=z))
    model.add(Revolute("joint2", "link1", "link2", at_a=x, axis_a=after[ALPHA], axis_b=z))
    model.add(Revolute("joint3", "link2", "link3", at_a=y, axis_a=after[BETA], axis_b=z))
    model.add(Revolute("joint4", "link3", "ground", at_a=x, at_b=(-LONG, 0.0, 0.0), axis_a=after[ALPHA],
                       axis_b=after[-BETA]))  # fmt: skip
    tip = Rotation.from_rotvec((0.0, 0.0, theta)).apply(x)
    model.add(PointPlane("wall", "ground", "link1", at_b=x, at_a=(0.0, float(tip[1]) - 0.05, 0.0),
                         normal=(0.1, 1.0, 0.3), contact=contact))  # fmt: skip
    return model.build()


def test_bennetts_four_bar_bounces_and_stays_closed() -> None:
    """20 rows of rank 17: closed to round-off through impacts with friction, and its energy accounted for."""
    system = bennett(0.8, compliant(FRICTION["LuGre"], 1e6))
    assert len(system.redundant) == 3
    trajectory = run(system, 0.5)
    assert trajectory.P_N["wall"].sum() > 0.5
    assert trajectory.certificate.joint_violation <= 1e-13
    assert trajectory.certificate.motion_residual <= 1e-10
    assert trajectory.certificate.energy.loss_friction > 1e-4
    assert abs(trajectory.certificate.energy.remainder) <= 1e-6


# Engines


def rolling_cylinder() -> System:
    """On its two rims, thrown without spin."""
    model = Model([Ground(), Gravity(acceleration=(0.0, 0.0, -G))])
    height = 0.1 - sunk(G / 2)
    model.add(SpatialBody("roll", mass=1.0, inertia=(5e-3, 6e-3, 6e-3), position=(0.0, 0.0, height),
                          velocity=(0.0, 0.5, 0.0)))  # fmt: skip
    friction = RegularisedCoulomb(friction=0.2, slip_speed=1e-3)
    model.add(CylinderPlane("floor", "ground", "roll", radius=0.1, length=0.2, axis=(1.0, 0.0, 0.0), points=0,
                            normal=(0.0, 0.0, 1.0), contact=compliant(friction)))  # fmt: skip
    return model.build()


def test_a_cylinder_comes_to_roll_on_two_rims() -> None:
    """It keeps v0/(1 + J/(m r^2)); slip has died out by 50 e-foldings of the regularised law."""
    trajectory = run(rolling_cylinder(), 0.3)
    assert trajectory.v["roll.y"][-1] == pytest.approx(0.5 / (1 + 5e-3 / 0.01), rel=1e-6)
    assert trajectory.v["roll.wx"][-1] == pytest.approx(-trajectory.v["roll.y"][-1] / 0.1, rel=1e-6)


def test_spatial_contacts_run_in_the_python_engine() -> None:
    """Though Dop853 has a compiled loop in the plane."""
    stepper = CompliantDae(solver=Dop853())
    assert simulate(rolling_cylinder(), stepper, t_end=1e-4, dt=CONTROL, engine="auto").manifest["engine"] == "python"
    with pytest.raises(InputError, match="planar bodies only"):
        simulate(rolling_cylinder(), stepper, t_end=1e-4, dt=CONTROL, engine="native")
