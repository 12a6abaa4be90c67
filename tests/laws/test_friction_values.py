"""Exact values of the friction laws."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

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
from nonsmooth.laws.friction.sticking import Dahl, Karnopp, LuGre

MU = {"friction": 0.1, "static_friction": 0.15}
BAI = Bai(**MU, static_speed=0.1, dynamic_speed=1.0)


def slope(law: SlipLaw, slip: float) -> float:
    v = ca.SX.sym("v")
    return float(ca.Function("slope", [v], [ca.jacobian(law.coefficient(v, law), v)])(slip))


def test_bai_has_the_values_of_the_cubic_steps() -> None:
    values = {0.0: 0.0, 0.1: -0.15, 1.0: -0.1, 0.05: -0.6875 * 0.15, 0.55: -0.125, 5.0: -0.1}
    for slip, value in values.items():
        assert BAI.force(slip, 1.0, [], 0.0, BAI) == pytest.approx(value, abs=1e-16)
        assert BAI.force(-slip, 1.0, [], 0.0, BAI) == pytest.approx(-value, abs=1e-16)


def test_bai_is_the_published_formula() -> None:
    mu_d, mu_s, v_s, v_d = 0.1, 0.15, 0.1, 1.0
    for v in np.linspace(-1.5, 1.5, 301):
        if abs(v) < v_s:
            x = (v + v_s) / (2 * v_s)
            published = mu_s - 2 * mu_s * x**2 * (3 - 2 * x)
        elif abs(v) <= v_d:
            x = (abs(v) - v_d) / (v_s - v_d)
            published = -(mu_d + (mu_s - mu_d) * x**2 * (3 - 2 * x)) * np.sign(v)
        else:
            published = -mu_d * np.sign(v)
        assert BAI.force(v, 1.0, [], 0.0, BAI) == pytest.approx(published, abs=1e-15)


def test_the_sine_and_cosine_law_is_the_published_formula() -> None:
    law = SineCosine(**MU, static_speed=0.1, dynamic_speed=1.0)
    mu_d, mu_s, v_s, v_d = 0.1, 0.15, 0.1, 1.0
    for v in np.linspace(0.0, 1.5, 151):
        if v < v_s:
            published = mu_s * math.sin(math.pi * v / (2 * v_s))
        elif v <= v_d:
            published = (mu_s + mu_d) / 2 + (mu_s - mu_d) / 2 * math.cos(math.pi * (v - v_s) / (v_d - v_s))
        else:
            published = mu_d
        assert law.coefficient(v, law) == pytest.approx(published, abs=1e-15)


@pytest.mark.parametrize("law", [BAI, SineCosine(**MU, static_speed=0.1, dynamic_speed=1.0)])
def test_steps_are_level_at_both_speeds(law: SlipLaw) -> None:
    for slip in (0.1, 1.0):
        for side in (-1e-12, 0.0, 1e-12):
            assert slope(law, slip + side) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize(
    ("law", "creep"),
    [
        (BAI, 1.5 * 0.15 / 0.1),
        (SineCosine(**MU, static_speed=0.1, dynamic_speed=1.0), math.pi / 2 * 0.15 / 0.1),
        (BengisuAkay(**MU, static_speed=0.1, decay=10.0), 2 * 0.15 / 0.1),
        (BrownMcPhee(**MU, static_speed=0.1), (4 * 0.1 + 16 / 9 * 0.05) / 0.1),
        (Stribeck(**MU, stribeck_speed=0.5, slip_speed=0.1, viscous_friction=0.2), 0.15 / 0.1 + 0.2),
        (RegularisedCoulomb(friction=0.1, slip_speed=0.2), 0.1 / 0.2),
        (Threlfall(friction=0.1, slip_speed=0.2), 3 * 0.1 / 0.2),
        (Ambrosio(friction=0.1, dead_speed=0.05, slip_speed=0.2), 0.0),
        (Ambrosio(friction=0.1, dead_speed=0.0, slip_speed=0.2), 0.1 / 0.2),
        (MostaghelDavis(function="erf", friction=0.1, slip_speed=0.2), 2 / math.sqrt(math.pi) * 0.1 / 0.2),
        (MostaghelDavis(function="tanh", friction=0.1, slip_speed=0.2), 0.1 / 0.2),
        (MostaghelDavis(function="atan", friction=0.1, slip_speed=0.2), 2 / math.pi * 0.1 / 0.2),
        (MostaghelDavis(function="rational", friction=0.1, slip_speed=0.2), 0.1 / 0.2),
    ],
    ids=repr,
)
def test_the_slope_at_rest_is_as_documented(law: SlipLaw, creep: float) -> None:
    assert slope(law, 0.0) == pytest.approx(creep, rel=1e-12)


def test_bai_creeps_under_a_load_below_static_friction() -> None:
    """Load 1 % of what static friction holds: the cubic term is 1.5e-5 of the creep."""
    mass, normal = 2.0, 20.0
    load = 0.01 * 0.15 * normal

    def rate(t: float, v: np.ndarray) -> list[float]:
        return [(load + BAI.force(float(v[0]), normal, [], 0.0, BAI)) / mass]

    run = solve_ivp(rate, (0, 5), [0.0], method="LSODA", rtol=1e-9, atol=1e-12)
    assert run.y[0, -1] == pytest.approx(load * 0.1 / (1.5 * 0.15 * normal), rel=2e-5)


def test_brown_mcphee_peaks_close_to_its_speed() -> None:
    law = BrownMcPhee(**MU, static_speed=0.01)
    assert law.coefficient(0.01, law) == pytest.approx(0.1 * math.tanh(4) + 0.05, abs=1e-16)
    assert law.coefficient(0.01, law) == pytest.approx(0.15 - 6.7e-4 * 0.1, abs=1e-7)
    assert slope(law, 0.01) * 0.01 == pytest.approx(4 * 0.1 / math.cosh(4) ** 2, rel=1e-10)
    slips = np.linspace(0.005, 0.02, 15001)
    values = [law.coefficient(v, law) for v in slips]
    assert slips[np.argmax(values)] == pytest.approx(0.01, rel=0.01)
    assert slips[np.argmax(values)] > 0.01
    assert max(values) == pytest.approx(law.coefficient(0.01, law), rel=1e-4)
    assert law.coefficient(10.0, law) == pytest.approx(0.1, rel=1e-6)


def test_brown_mcphee_adds_viscous_friction_to_a_pressed_contact() -> None:
    law = BrownMcPhee(**MU, static_speed=0.01, viscous_damping=3.0, viscous_load=8.0)
    dry = BrownMcPhee(**MU, static_speed=0.01)
    for normal in (1.0, 100.0):
        extra = law.force(0.5, normal, [], 0.0, law) - dry.force(0.5, normal, [], 0.0, dry)
        assert extra == pytest.approx(-3.0 * 0.5 * math.tanh(4 * normal / 8.0), rel=1e-12)


def test_threlfall_jumps_down_at_its_speed() -> None:
    law = Threlfall(friction=1.0, slip_speed=0.01)
    assert law.coefficient(0.01, law) == pytest.approx(1 - math.exp(-3), abs=1e-15)
    assert round(law.coefficient(0.01, law), 6) == 0.950213
    assert law.coefficient(0.01 + 1e-15, law) == 0.95
    for v in (1e-9, 1e-4, 3e-3, 9.9e-3):
        assert law.coefficient(v, law) == pytest.approx(-math.expm1(-300 * v), rel=1e-14)


@pytest.mark.parametrize(
    ("function", "formula"),
    [
        ("erf", math.erf),
        ("tanh", math.tanh),
        ("atan", lambda x: 2 / math.pi * math.atan(x)),
        ("rational", lambda x: x / (1 + abs(x))),
    ],
)
def test_mostaghel_and_davis(function: str, formula) -> None:  # type: ignore[no-untyped-def]
    law = MostaghelDavis(function=function, friction=0.3, slip_speed=0.01)
    for v in (-0.1, -0.003, 0.0, 0.01, 0.07):
        assert law.coefficient(v, law) == pytest.approx(0.3 * formula(v / 0.01), abs=1e-16)


def test_bengisu_and_akay() -> None:
    law = BengisuAkay(**MU, static_speed=0.02, decay=50.0)
    for v in (0.0, 0.007, 0.02):
        assert law.coefficient(v, law) == pytest.approx(0.15 - 0.15 / 0.02**2 * (v - 0.02) ** 2, abs=1e-16)
    for v in (0.03, 0.5):
        assert law.coefficient(v, law) == pytest.approx(0.1 + 0.05 * math.exp(-50 * (v - 0.02)), abs=1e-16)


def test_stribeck_falls_by_its_exponent() -> None:
    for delta in (0.5, 1.0, 2.0, 3.0):
        law = Stribeck(**MU, stribeck_speed=0.1, slip_speed=1e-4, stribeck_exponent=delta, viscous_friction=0.02)
        for v in (0.05, 0.1, 0.4):
            expected = 0.1 + 0.05 * math.exp(-((v / 0.1) ** delta)) + 0.02 * v
            assert law.coefficient(v, law) == pytest.approx(expected, rel=1e-14)


def test_karnopp_holds_what_static_friction_can() -> None:
    law = Karnopp(**MU, stick_speed=1e-3)
    for stiction in (-1.4, 0.0, 0.3, 1.4):
        assert law.force(0.0, 10.0, [], stiction, law) == stiction
    for stiction in (1.6, 1e9):
        assert law.force(0.0, 10.0, [], stiction, law) == pytest.approx(1.5)
        assert law.force(0.0, 10.0, [], -stiction, law) == pytest.approx(-1.5)
        assert law.force(2e-3, 10.0, [], stiction, law) == pytest.approx(-1.0)


def lugre(**more: float) -> LuGre:
    return LuGre(**MU, stribeck_speed=0.01, bristle_stiffness=1e4, **more)


@pytest.mark.parametrize("slip", [-0.3, -0.01, 0.005, 0.02])
def test_lugre_slides_on_stribecks_curve(slip: float) -> None:
    law = lugre(bristle_damping=0.2, viscous_friction=0.05)
    t_end = 2e-4 / abs(slip)
    run = solve_ivp(lambda t, z: [law.deflection_rate(slip, z[0], law)], (0, t_end), [0.0], rtol=1e-10, atol=1e-18)
    g = 0.1 + 0.05 * math.exp(-((slip / 0.01) ** 2))
    expected = -20.0 * (g * np.sign(slip) + 0.05 * slip)
    assert law.force(slip, 20.0, run.y[:, -1], 0.0, law) == pytest.approx(expected, rel=1e-5)
    still = [g * np.sign(slip) / 1e4]
    assert law.deflection_rate(slip, still[0], law) == pytest.approx(0.0, abs=1e-15)
    assert law.force(slip, 20.0, still, 0.0, law) == pytest.approx(expected, rel=1e-13)


def test_lugre_at_rest_is_a_spring_with_a_damper() -> None:
    law = lugre(bristle_damping=0.2, viscous_friction=0.05)
    v, z = ca.SX.sym("v"), ca.SX.sym("z")
    force = law.force(v, 20.0, z, 0.0, law)
    function = ca.Function("f", [v, z], [ca.jacobian(force, z), ca.jacobian(force, v), law.deflection_rate(v, z, law)])
    stiffness, damping, _ = function(0.0, 0.0)
    assert float(stiffness) == pytest.approx(-1e4 * 20.0)
    assert float(damping) == pytest.approx(-(0.2 + 0.05) * 20.0)
    displacement = 1e-9
    run = solve_ivp(lambda t, z: [law.deflection_rate(1e-9, z[0], law)], (0, 1), [0.0], rtol=1e-10, atol=1e-24)
    assert run.y[0, -1] == pytest.approx(displacement, rel=1e-3)


def test_lugre_is_passive_up_to_the_documented_slip() -> None:
    """With sigma_0 z^2/2 as storage; beyond, the worst deflection gives energy back."""
    law = lugre(bristle_damping=0.8, viscous_friction=0.05)

    def dissipated(v: float, z: float) -> float:
        return -law.force(v, 1.0, [z], 0.0, law) * v - 1e4 * z * law.deflection_rate(v, z, law)

    limit = 4 * 0.1 * (0.8 + 0.05) / 0.8**2
    assert law.most(limit, law) == pytest.approx(0.1, rel=1e-12)
    for v in np.linspace(-limit, limit, 101):
        assert min(dissipated(v, z) for z in np.linspace(-1e-4, 1e-4, 401)) >= -1e-12
    v = 2 * limit
    assert min(dissipated(v, z) for z in np.linspace(-1e-4, 1e-4, 401)) < -0.1


@pytest.mark.parametrize(("exponent", "closed"), [(1.0, lambda s: 1 - math.exp(-s)), (2.0, lambda s: s / (1 + s))])
def test_dahl_follows_its_closed_form(exponent: float, closed) -> None:  # type: ignore[no-untyped-def]
    law = Dahl(friction=0.1, bristle_stiffness=1e4, dahl_exponent=exponent)
    speed, normal = 0.01, 20.0
    distances = np.array([1e-6, 5e-6, 1e-5, 4e-5])
    for sign in (1, -1):
        run = solve_ivp(
            lambda t, z, sign=sign: [law.deflection_rate(sign * speed, z[0], law)],
            (0, distances[-1] / speed), [0.0], t_eval=distances / speed, rtol=1e-11, atol=1e-20,
        )  # fmt: skip
        for x, z in zip(distances, run.y[0], strict=True):
            force = law.force(sign * speed, normal, [z], 0.0, law)
            assert force == pytest.approx(-sign * 0.1 * normal * closed(1e4 * x / 0.1), rel=1e-9)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 3.0])
def test_dahl_gives_back_no_more_than_its_bristles_store(exponent: float) -> None:
    law = Dahl(friction=0.1, bristle_stiffness=1e4, dahl_exponent=exponent)
    for v in (-1.0, -1e-3, 1e-3, 1.0):
        for z in np.linspace(-1.2e-5, 1.2e-5, 49):
            supplied = -law.force(v, 20.0, [z], 0.0, law) * v
            stored = 20.0 * 1e4 * z * law.deflection_rate(v, z, law)
            assert supplied - stored >= -1e-15


def test_dahl_takes_in_energy_over_a_motion_to_and_fro() -> None:
    law = Dahl(friction=0.1, bristle_stiffness=1e4)
    normal, omega, stroke = 20.0, 10.0, 3e-5

    def rates(t: float, y: np.ndarray) -> list[float]:
        v = stroke * omega * math.cos(omega * t)
        return [law.deflection_rate(v, y[0], law), -law.force(v, normal, [y[0]], 0.0, law) * v]

    run = solve_ivp(rates, (0, 4 * math.pi / omega), [0.0, 0.0], rtol=1e-9, atol=1e-16, max_step=0.01)
    z, work = run.y
    assert (work - normal * 1e4 * z**2 / 2 >= -1e-12).all()
    assert work[-1] > 0.5 * normal * 0.1 * 8 * stroke
    assert np.abs(z).max() <= 0.1 / 1e4
