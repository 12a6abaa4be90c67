"""Every normal law on compliant contacts in space, and bristles as vectors in the tangent plane."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import nonsmooth.laws as laws
from nonsmooth import (
    Compliant,
    CompliantDae,
    CylindricalClearance,
    ErrorControl,
    Gravity,
    Ground,
    Model,
    Rigid,
    SpatialBody,
    SpherePlane,
    SphereSphere,
    SphericalClearance,
    Trajectory,
    ValidityWarning,
    simulate,
)
from nonsmooth.laws import Dahl, Flores, FrictionLaw, LuGre, Material, RegularisedCoulomb
from nonsmooth.model.contacts import Touches
from nonsmooth.model.frames import SpatialPlacement
from nonsmooth.model.system import System

G = 9.81
CONTROL = ErrorControl(rtol=1e-8, atol=1e-10, dt_min=1e-6, dt_max=1e-2)
LUGRE = LuGre(friction=0.2, static_friction=0.25, stribeck_speed=0.05, bristle_stiffness=1e4, bristle_damping=5.0,
              viscous_friction=0.1)  # fmt: skip
DAHL = Dahl(friction=0.2, bristle_stiffness=1e4, dahl_exponent=1.5)


def compliant(friction: FrictionLaw, stiffness: float = 1e7) -> Compliant:
    return Compliant(Flores(stiffness=stiffness, restitution=0.5), friction)


def sunk(load: float, stiffness: float = 1e7) -> float:
    """Depth at which the law of Hertz's exponent carries a load."""
    return float((load / stiffness) ** (2 / 3))


def run(system: System, t_end: float, **options: object) -> Trajectory:
    return simulate(system, CompliantDae(), t_end=t_end, dt=CONTROL, **options)  # type: ignore[arg-type]


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


def ball(contact: Compliant | Rigid, height: float, velocity: tuple[float, ...], spin: tuple[float, ...],
         gravity: float = G) -> System:  # fmt: skip
    """A ball of 0.1 m and 1 kg, its lowest point at `height` above a plane."""
    model = Model([Ground(), Gravity(acceleration=(0.0, 0.0, -gravity))] if gravity else [Ground()])
    model.add(SpatialBody("ball", mass=1.0, inertia=(4e-3, 4e-3, 4e-3), position=(0.0, 0.0, 0.1 + height),
                          velocity=velocity, angular_velocity=spin))  # fmt: skip
    model.add(SpherePlane("floor", "ground", "ball", radius=0.1, normal=(0.0, 0.0, 1.0), contact=contact))
    return model.build()


class Balls(SphereSphere):
    """Two spheres that touch half way between their surfaces, whichever comes first."""

    def touches(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Touches:
        line = b.position - a.position
        normal = line / ca.norm_2(line)
        return [((a.position + p.radius_a * normal + b.position - p.radius_b * normal) / 2, normal)]


@pytest.mark.slow
@pytest.mark.parametrize("law", [LUGRE, DAHL], ids=lambda law: type(law).__name__)
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
    model.add(SphereSphere("spheres", "a", "b", radius_a=0.05, radius_b=0.05, contact=compliant(DAHL)))
    model.add(SphericalClearance("socket", "a", "b", clearance=0.2, radius=0.1, contact=compliant(DAHL)))
    system = model.build()
    q, p, h = system.start.q, system.parameter_values, 1e-6
    spins = system.equations.tangent_spins
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
    """Two components of a bristle in the law's memory. The integrator begins anew; 3e-7 is its rtol of the spin."""
    system = ball(compliant(LUGRE), -sunk(G), (0.3, 0.4, 0.0), (0.0, 0.0, 30.0))
    whole, half = run(system, 0.02), run(system, 0.01)
    assert system.compliance is not None and system.compliance.bristles == ("floor.deflection_1", "floor.deflection_2")
    assert np.linalg.norm(half.end.memory["Overlap.bristle_row"]) == pytest.approx(0.2 / 1e4, rel=0.2)
    rest = run(system, 0.02, state=half.end)
    np.testing.assert_allclose(rest.end.v, whole.end.v, atol=1e-6)
