"""What every friction law keeps: its parameters, its sign, finite derivatives, and the smoothness that it claims."""

from __future__ import annotations

import importlib
import pkgutil
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

import nonsmooth.laws.friction
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant, FrictionLaw
from nonsmooth.laws.friction.regularised import (
    Ambrosio,
    Bai,
    BengisuAkay,
    BrownMcPhee,
    MostaghelDavis,
    RegularisedCoulomb,
    SineCosine,
    SlipLaw,
    Stribeck,
    Threlfall,
)
from nonsmooth.laws.friction.sticking import BristleLaw, Dahl, Karnopp, LuGre
from nonsmooth.laws.normal.hysteresis import Flores

MU = {"friction": 0.1, "static_friction": 0.15}
STEPS = MU | {"static_speed": 0.1, "dynamic_speed": 1.0}
BRISTLES = {"friction": 0.1, "bristle_stiffness": 1e4}
#: law, slips where its formula changes, how often it is continuously differentiable there (None: it jumps)
LAWS: list[tuple[FrictionLaw, tuple[float, ...], int | None]] = [
    (RegularisedCoulomb(friction=0.1, slip_speed=1e-2), (), 1),
    (Threlfall(friction=0.1, slip_speed=1e-2), (1e-2,), None),
    (Ambrosio(friction=0.1, dead_speed=1e-3, slip_speed=1e-2), (1e-3, 1e-2), 0),
    (Ambrosio(friction=0.1, dead_speed=0.0, slip_speed=1e-2), (1e-2,), 0),
    *[(MostaghelDavis(function=name, friction=0.1, slip_speed=1e-2), (), 1) for name in ("erf", "tanh", "atan")],
    (MostaghelDavis(function="rational", friction=0.1, slip_speed=1e-2), (0.0,), 1),
    (BengisuAkay(**MU, static_speed=1e-2, decay=30.0), (1e-2,), 0),
    (Stribeck(**MU, stribeck_speed=0.05, slip_speed=1e-3, viscous_friction=0.01), (0.0,), 1),
    (Stribeck(**MU, stribeck_speed=0.05, slip_speed=1e-3, stribeck_exponent=0.6), (0.0,), 1),
    (BrownMcPhee(**MU, static_speed=1e-2, viscous_damping=0.2, viscous_load=5.0), (), 1),
    (Bai(**STEPS), (0.1, 1.0), 1),
    (SineCosine(**STEPS), (0.1, 1.0), 1),
    (Karnopp(**MU, stick_speed=1e-3), (1e-3,), None),
    (Dahl(**BRISTLES), (0.0,), 0),
    (Dahl(**BRISTLES, dahl_exponent=1.7), (0.0,), 0),
    (
        LuGre(**BRISTLES, static_friction=0.15, stribeck_speed=0.01, bristle_damping=0.5, viscous_friction=0.1),
        (0.0,),
        0,
    ),
]
SLIP_LAWS = [law for law, _, _ in LAWS if isinstance(law, SlipLaw)]
#: names that normal laws and contacts use
TAKEN = {"stiffness", "restitution", "exponent", "damping", "young_a", "poisson_a", "young_b", "poisson_b", "radius",
         "clearance", "length", "height", "size", "tangential"}  # fmt: skip


def subclasses(cls: type) -> set[type]:
    found = {sub for direct in cls.__subclasses__() for sub in subclasses(direct) | {direct}}
    return {sub for sub in found if sub.__module__.startswith("nonsmooth.")}


def law_numbers(law: FrictionLaw) -> SimpleNamespace:
    return SimpleNamespace(**law.numbers())


def at(law: FrictionLaw, slip: float, normal: float = 20.0, z: float = 3e-6, stiction: float = 0.7) -> float:
    return law.force(slip, normal, [z], stiction, SimpleNamespace(**law.coefficients(law_numbers(law))))


def compiled(law: FrictionLaw) -> tuple[ca.Function, ca.Function]:
    """The force and the bristles' rates over symbols, and all their first derivatives."""
    names = list(law.coefficients(law_numbers(law)))
    slip, normal, stiction = (ca.SX.sym(name) for name in ("slip", "normal", "stiction"))
    bristle, numbers = ca.SX.sym("z", len(law.bristles)), ca.SX.sym("k", len(names))
    k = SimpleNamespace(**dict(zip(names, ca.vertsplit(numbers), strict=True)))
    arguments = [slip, normal, bristle, stiction, numbers]
    outputs = ca.vertcat(law.force(slip, normal, bristle, stiction, k), law.bristle_rate(slip, normal, bristle, k))
    derivatives = ca.jacobian(outputs, ca.vertcat(*arguments))
    return ca.Function("f", arguments, [outputs]), ca.Function("df", arguments, [derivatives])


def test_every_law_has_test_parameters() -> None:
    for module in pkgutil.iter_modules(nonsmooth.laws.friction.__path__):
        importlib.import_module(f"nonsmooth.laws.friction.{module.name}")
    bases = {SlipLaw, BristleLaw}
    assert subclasses(FrictionLaw) - bases == {type(law) for law, _, _ in LAWS}


@pytest.mark.parametrize("law", [law for law, _, _ in LAWS], ids=repr)
class TestEveryLaw:
    def test_its_numbers_stand_beside_those_of_a_normal_law(self, law: FrictionLaw) -> None:
        assert "friction" in law.numbers()
        assert not TAKEN & set(law.numbers())
        both = Compliant(Flores(stiffness=1e10, restitution=0.5), law)
        assert law.numbers().items() <= both.numbers().items()

    def test_its_force_is_odd(self, law: FrictionLaw) -> None:
        for slip in (1e-4, 1e-3, 7e-3, 1e-2, 0.05, 0.1, 0.5, 1.0, 30.0):
            assert at(law, -slip, z=-3e-6, stiction=-0.7) == pytest.approx(-at(law, slip), rel=1e-14)
        assert at(law, 0.0, z=0.0, stiction=0.0) == 0.0

    def test_it_vanishes_with_the_normal_force(self, law: FrictionLaw) -> None:
        for slip in (0.0, 1e-4, 1e-3, 0.1, -2.0):
            assert at(law, slip, normal=0.0) == 0.0

    def test_numbers_and_symbols_agree(self, law: FrictionLaw) -> None:
        function, _ = compiled(law)
        for slip in (-0.3, -1e-3, 0.0, 5e-4, 0.02, 1.5):
            values = function(slip, 20.0, [3e-6] * len(law.bristles), 0.7, list(law.numbers().values()))
            assert float(values[0]) == pytest.approx(at(law, slip), rel=1e-14, abs=1e-300)

    def test_derivatives_are_finite_where_formulas_change(self, law: FrictionLaw) -> None:
        _, derivatives = compiled(law)
        breaks = next(slips for other, slips, _ in LAWS if other is law)
        for slip in (0.0, *breaks, *(-slip for slip in breaks), 1e6):
            for normal in (0.0, 20.0):
                for z in (0.0, 1e-5):
                    found = derivatives(slip, normal, [z] * len(law.bristles), 0.0, list(law.numbers().values()))
                    assert np.isfinite(np.array(found)).all(), (slip, normal, z)

    def test_it_is_as_smooth_as_it_claims(self, law: FrictionLaw) -> None:
        slips, order = next((slips, order) for other, slips, order in LAWS if other is law)
        function, derivatives = compiled(law)
        rest = 20.0, [3e-6] * len(law.bristles), 0.0, list(law.numbers().values())

        def slope(slip: float) -> np.ndarray:
            return np.array(derivatives(slip, *rest))[:, 0]

        step = 1e-9
        steepest = max(
            np.abs(slope(slip)).max() for slip in (0.0, *(s + step for s in slips), *(s - step for s in slips))
        )
        for slip in (s * sign for s in slips for sign in (1, -1)):
            left, right = (np.array(function(slip + side * step, *rest)).ravel() for side in (-1, 1))
            jump = np.abs(right - left).max()
            kink = np.abs(slope(slip + step) - slope(slip - step)).max() / steepest
            if order is None:
                assert jump > 1e-4
            else:
                assert jump < 2.01 * step * steepest
                assert (kink > 1e-2) if order == 0 else (kink < 1e-5)


def in_space(law: FrictionLaw) -> ca.Function:
    """(slip (2,), normal, z, stiction (2,), k) -> force (2,), rates of the bristles, derivatives of both by all."""
    names = list(law.coefficients(law_numbers(law)))
    slip, normal, stiction = ca.SX.sym("slip", 2), ca.SX.sym("normal"), ca.SX.sym("stiction", 2)
    bristle, numbers = ca.SX.sym("z", 2 * len(law.bristles)), ca.SX.sym("k", len(names))
    k = SimpleNamespace(**dict(zip(names, ca.vertsplit(numbers), strict=True)))
    force = law.spatial_force(slip, normal, bristle, stiction, k)
    rates = law.spatial_bristle_rate(slip, normal, bristle, k)
    arguments = [slip, normal, bristle, stiction, numbers]
    derivatives = ca.jacobian(ca.vertcat(force, rates), ca.vertcat(*arguments))
    return ca.Function("f", arguments, [force, rates, derivatives])


#: any direction in the tangent plane, and the one across it
ALONG, ACROSS = np.array([0.28, -0.96]), np.array([0.96, 0.28])


@pytest.mark.parametrize("law", [law for law, _, _ in LAWS], ids=repr)
class TestEveryLawInSpace:
    def test_straight_motion_has_the_force_of_the_plane(self, law: FrictionLaw) -> None:
        """Against the slip, of the same size, with bristles that follow at the same rate: all but the round-off of the
        unit vector, that of a force relative to the terms that it is the sum of."""
        function, numbers = in_space(law), list(law.numbers().values())
        plane, _ = compiled(law)
        count = len(law.bristles)
        for slip in (1e-12, 1e-5, 5e-4, 7e-3, 0.02, 0.3, 4.0):
            for z in (0.0, 3e-6, -5e-6):
                planar = np.array(plane(slip, 20.0, [z] * count, 0.7, numbers)).ravel()
                force, rates, _ = function(slip * ALONG, 20.0, np.tile(z * ALONG, count), 0.7 * ALONG, numbers)
                found = np.concatenate([np.array(force).ravel(), np.array(rates).ravel()]).reshape(-1, 2)
                assert found @ ALONG == pytest.approx(planar, rel=1e-12, abs=1e-13)
                assert found @ ACROSS == pytest.approx(np.zeros(1 + count), abs=1e-14 * (1 + np.abs(planar).max()))

    def test_its_derivatives_in_space_are_finite_where_formulas_change(self, law: FrictionLaw) -> None:
        function = in_space(law)
        breaks = next(slips for other, slips, _ in LAWS if other is law)
        for slip in (0.0, 1e-300, 1e-30, 1e-15, *breaks, 1e6):
            for normal in (0.0, 20.0):
                for z in ((0.0, 0.0), (6e-6, -8e-6)):
                    arguments = slip * ALONG, normal, [*z] * len(law.bristles), (0.0, 0.0)
                    for found in function(*arguments, list(law.numbers().values())):
                        assert np.isfinite(np.array(found)).all(), (slip, normal, z)

    def test_friction_is_isotropic(self, law: FrictionLaw) -> None:
        """Turning slip, bristles and stiction force together turns the force and the rates."""
        function, numbers = in_space(law), list(law.numbers().values())
        turn = np.column_stack([ALONG, ACROSS])
        slip, z, stiction = np.array([[4e-4, 3e-4], [2e-6, -7e-6], [0.3, 0.6]])
        results = []
        for Q in (np.eye(2), turn):
            force, rates, _ = function(Q @ slip, 20.0, np.tile(Q @ z, len(law.bristles)), Q @ stiction, numbers)
            results.append(np.concatenate([np.array(force).ravel(), np.array(rates).ravel()]).reshape(-1, 2) @ Q)
        np.testing.assert_allclose(results[1], results[0], rtol=1e-12)


@pytest.mark.parametrize("law", SLIP_LAWS, ids=repr)
def test_friction_in_space_opposes_the_slip(law: SlipLaw) -> None:
    """Whatever the direction; the slope at rest is that of the plane in every direction."""
    function, numbers = in_space(law), list(law.numbers().values())
    for angle in np.linspace(0.0, 2 * np.pi, 13):
        slip = 5e-3 * np.array([np.cos(angle), np.sin(angle)])
        force = np.array(function(slip, 20.0, [], (0.0, 0.0), numbers)[0]).ravel()
        assert force @ slip == pytest.approx(-np.linalg.norm(force) * np.linalg.norm(slip), rel=1e-14)
        assert np.linalg.norm(force) == pytest.approx(-at(law, 5e-3), rel=1e-14)
    slope = float(compiled(law)[1](0.0, 20.0, [], 0.0, numbers)[0, 0])
    derivatives = np.array(function((0.0, 0.0), 20.0, [], (0.0, 0.0), numbers)[2])[:, :2]
    np.testing.assert_allclose(derivatives, slope * np.eye(2), rtol=1e-12, atol=1e-12 * abs(slope))


@pytest.mark.parametrize("law", [law for law, _, _ in LAWS if isinstance(law, BristleLaw)], ids=repr)
def test_bristles_in_space_stretch_no_further_than_friction_carries(law: BristleLaw) -> None:
    """On the circle |z| = g/sigma_0 the deflection does not grow, whichever way the surfaces slide."""
    function, numbers = in_space(law), list(law.numbers().values())
    most = getattr(law, "static_friction", law.friction) / law.bristle_stiffness
    for angle in np.linspace(0.0, 2 * np.pi, 37):
        z = most * np.array([np.cos(angle), np.sin(angle)])
        for slip in (1e-4, 1e-2, 1.0):
            rate = np.array(function(slip * ALONG, 20.0, z, (0.0, 0.0), numbers)[1]).ravel()
            assert rate @ z <= 1e-15 * slip * most


def test_karnopps_stiction_force_lies_in_the_disc() -> None:
    law = Karnopp(**MU, stick_speed=1e-3)
    function, numbers = in_space(law), list(law.numbers().values())

    def force(slip: np.ndarray, stiction: np.ndarray) -> np.ndarray:
        return np.array(function(slip, 10.0, [], stiction, numbers)[0]).ravel()

    rest = np.zeros(2)
    np.testing.assert_allclose(force(rest, 1.4 * ALONG), 1.4 * ALONG, rtol=1e-15)
    np.testing.assert_allclose(force(rest, 90.0 * ALONG), 1.5 * ALONG, rtol=1e-14)
    np.testing.assert_allclose(force(2e-3 * ACROSS, 90.0 * ALONG), -1.0 * ACROSS, rtol=1e-14, atol=1e-15)


def test_a_law_with_states_must_say_what_they_are_in_space() -> None:
    class Creeping(FrictionLaw):
        bristles = (("creep", "m"),)

    with pytest.raises(TypeError, match="Creeping has no force in space"):
        Creeping().spatial_force([0.0, 0.0], 1.0, [0.0, 0.0], [0.0, 0.0], SimpleNamespace())
    with pytest.raises(TypeError, match="Creeping has no bristle rate in space"):
        Creeping().spatial_bristle_rate([0.0, 0.0], 1.0, [0.0, 0.0], SimpleNamespace())
    assert Compliant(Flores(stiffness=1e10, restitution=0.5), Dahl(**BRISTLES)).states(2) == (
        "deflection_1",
        "deflection_2",
    )


@pytest.mark.parametrize("law", SLIP_LAWS, ids=repr)
def test_friction_as_a_function_of_slip_dissipates(law: SlipLaw) -> None:
    for slip in np.concatenate([np.geomspace(1e-8, 1e3, 200), -np.geomspace(1e-8, 1e3, 200)]):
        assert at(law, slip) * slip <= 0.0


@pytest.mark.parametrize("law", SLIP_LAWS, ids=repr)
def test_the_slope_at_zero_is_that_on_either_side(law: SlipLaw) -> None:
    _, derivatives = compiled(law)
    rest = 20.0, [], 0.0, list(law.numbers().values())
    slope = float(derivatives(0.0, *rest)[0, 0])
    for slip in (-1e-10, 1e-10):
        assert slope == pytest.approx(float(derivatives(slip, *rest)[0, 0]), rel=1e-5)


@pytest.mark.parametrize("cls", [BengisuAkay, Stribeck, BrownMcPhee, Bai, SineCosine, Karnopp, LuGre])
def test_static_friction_is_at_least_dynamic_friction(cls: type[FrictionLaw]) -> None:
    numbers = next(law for law, _, _ in LAWS if type(law) is cls).numbers()
    cls(**numbers | {"friction": 0.15})
    message = f"{cls.__name__}: friction must be at most static_friction, got 0.2 and 0.15."
    with pytest.raises(InputError, match=message):
        cls(**numbers | {"friction": 0.2})


@pytest.mark.parametrize(
    ("cls", "low", "high"),
    [
        (Ambrosio, "dead_speed", "slip_speed"),
        (Bai, "static_speed", "dynamic_speed"),
        (SineCosine, "static_speed", "dynamic_speed"),
        (Stribeck, "slip_speed", "stribeck_speed"),
    ],
)
def test_speeds_are_in_order(cls: type[FrictionLaw], low: str, high: str) -> None:
    numbers = next(law for law, _, _ in LAWS if type(law) is cls).numbers()
    for value in (numbers[high], 2 * numbers[high]):
        with pytest.raises(InputError, match=f"{cls.__name__}: {low} must be less than {high}, got "):
            cls(**numbers | {low: value})


@pytest.mark.parametrize("law", [law for law, _, _ in LAWS], ids=repr)
def test_numbers_lie_in_their_ranges(law: FrictionLaw) -> None:
    options = {"function": law.function} if isinstance(law, MostaghelDavis) else {}
    for field in law.numbers():
        for value in (-1.0, np.nan, np.inf, "0.1", None):
            with pytest.raises(
                InputError, match=rf"{type(law).__name__}: {field} (must be a (positive )?number.*, got |.0.1. )"
            ):
                type(law)(**options | law.numbers() | {field: value})


def test_a_function_that_does_not_exist_is_named() -> None:
    with pytest.raises(InputError, match='function must be one of "erf", "tanh", "atan", "rational", got "?\'arctan\''):
        MostaghelDavis(function="arctan", friction=0.1, slip_speed=1e-3)


def test_dahl_takes_no_brittle_exponent() -> None:
    with pytest.raises(InputError, match=r"Dahl: dahl_exponent must be a number >= 1 \[-\], got 0.5"):
        Dahl(friction=0.1, bristle_stiffness=1e4, dahl_exponent=0.5)
