"""Hysteresis laws against the tables of delivered restitution and depth, by simulation; calibration."""

from __future__ import annotations

from decimal import Decimal, getcontext
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq

import nonsmooth.laws as laws
from nonsmooth.laws import Flores, HertzStiffness, Johnson, LankaraniNikravesh, Liu, Material
from nonsmooth.laws.normal.hysteresis import exact_chi
from nonsmooth.studies import free_impact, law_card

STEEL = Material(2.07e11, 0.3)
JOINT = {"radius": 9.5e-3, "clearance": 0.5e-3, "length": 15e-3, "effective_radius": 10e-3 * 9.5e-3 / 0.5e-3}

REQUESTED = (0.10, 0.20, 0.30, 0.40, 0.46, 0.50, 0.60, 0.70, 0.80, 0.90, 0.95, 0.99)
# What each law returns, the root of chi (1+e) = ln((1+chi)/(1-chi e)), and its penetration number at e = 0.3, 0.5, 0.7,
# 0.9, (1 - ln(1+chi)/chi)/chi.
DELIVERED = {
    "HuntCrossley": (0.5158, 0.5469, 0.5813, 0.6197, 0.6450, 0.6630, 0.7120, 0.7680, 0.8329, 0.9090, 0.9524, 0.9901),
    "HerbertMcWhannell": (
        0.4907, 0.5008, 0.5200, 0.5503, 0.5746, 0.5936, 0.6511, 0.7227, 0.8070, 0.9009, 0.9501, 0.9900
    ),
    "LeeWang": (0.6867, 0.7120, 0.7390, 0.7680, 0.7864, 0.7992, 0.8329, 0.8693, 0.9090, 0.9524, 0.9756, 0.9950),
    "LankaraniNikravesh": (
        0.6653, 0.6723, 0.6842, 0.7016, 0.7150, 0.7252, 0.7561, 0.7960, 0.8471, 0.9132, 0.9535, 0.9901
    ),
    "ZhiyingQishao": (0.2175, 0.2664, 0.3267, 0.3988, 0.4478, 0.4826, 0.5769, 0.6796, 0.7874, 0.8959, 0.9489, 0.9900),
    "Gonthier": (0.1010, 0.2046, 0.3042, 0.3978, 0.4520, 0.4877, 0.5773, 0.6696, 0.7680, 0.8764, 0.9359, 0.9868),
    "Flores": (0.0694, 0.1555, 0.2562, 0.3629, 0.4275, 0.4704, 0.5773, 0.6832, 0.7885, 0.8939, 0.9468, 0.9893),
    "HuGuo": (0.0741, 0.1656, 0.2707, 0.3796, 0.4447, 0.4877, 0.5936, 0.6973, 0.7992, 0.8999, 0.9500, 0.9900),
    "GharibHurmuzlu": (0.1000, 0.1970, 0.2819, 0.3524, 0.3887, 0.4107, 0.4595, 0.5008, 0.5362, 0.5668, 0.5807, 0.5911),
}  # fmt: skip
PENETRATION = {
    "HuntCrossley": (0.30128, 0.33846, 0.38734, 0.45502),
    "HerbertMcWhannell": (0.27377, 0.30685, 0.36610, 0.45106),
    "LeeWang": (0.37372, 0.40211, 0.43574, 0.47633),
    "LankaraniNikravesh": (0.34825, 0.36729, 0.40057, 0.45706),
    "ZhiyingQishao": (0.18815, 0.25715, 0.34610, 0.44864),
    "Gonthier": (0.17810, 0.25943, 0.34150, 0.43917),
    "Flores": (0.15632, 0.25175, 0.34777, 0.44766),
    "HuGuo": (0.16293, 0.25943, 0.35430, 0.45058),
    "GharibHurmuzlu": (0.16803, 0.22535, 0.26522, 0.29476),
}


def test_every_law_of_the_family_is_in_the_tables():
    every = (laws.by_name(name, "normal") for name in laws.names("normal"))
    family = {law.__name__ for law in every if issubclass(law, laws.HysteresisLaw)}
    assert not family - set(DELIVERED), f"give DELIVERED and PENETRATION of {', '.join(family - set(DELIVERED))} above"


@pytest.mark.parametrize("name", DELIVERED)
def test_delivered_restitution_and_depth(name):
    law = getattr(laws, name)(stiffness=3e9, restitution=0.5)
    card = law_card(law, speed=0.7, mass=2.0, requested=REQUESTED)
    assert card.delivered == pytest.approx(DELIVERED[name], abs=1e-4)
    at = [REQUESTED.index(e) for e in (0.3, 0.5, 0.7, 0.9)]
    assert card.penetration_number[at] == pytest.approx(PENETRATION[name], abs=2e-5)


def test_bouncing_sphere_of_modia3d():
    impact = free_impact(Flores(stiffness=4.6333738611e10, restitution=0.7), speed=4.42944692, mass=1e-3)
    assert impact.peak_depth == pytest.approx(1.062134e-5, rel=1e-3)
    assert impact.restitution == pytest.approx(0.683180, abs=1e-5)


# Point contact, another exponent, a journal in a bearing.
ELASTIC = {
    "hertz": {"stiffness": 1e10},
    "linear": {"stiffness": 1e7, "exponent": 1.0},
    "quadratic": {"stiffness": 1e12, "exponent": 2.0},
    "johnson": {"stiffness": Johnson(STEEL, STEEL)},
}


@pytest.mark.parametrize("elastic", ELASTIC)
def test_a_calibrated_law_returns_what_it_is_asked_for(elastic):
    law = LankaraniNikravesh(**ELASTIC[elastic], restitution=0.5, calibrated=True)
    requested = (0.05, 0.2, 0.5, 0.8, 0.95, 0.99)
    card = law_card(law, speed=0.3, mass=0.5, geometry=JOINT, requested=requested)
    assert card.delivered == pytest.approx(requested, abs=1e-7)


def test_calibrated_laws_of_one_elastic_force_coincide():
    constants = [
        getattr(laws, name)(stiffness=1e9, restitution=0.37, calibrated=True).coefficients(
            SimpleNamespace(stiffness=1e9, restitution=0.37)
        )
        for name in DELIVERED
    ]
    assert all(each == constants[0] for each in constants)


def test_the_returned_restitution_does_not_depend_on_the_elastic_force():
    chi = 8 * 0.5 / (5 * 0.5)
    expected = brentq(lambda r: chi * (1 + r) - np.log((1 + chi) / (1 - chi * r)), 1e-3, 1 / chi - 1e-6)
    for elastic in (Johnson(STEEL, STEEL), Liu(STEEL, STEEL), HertzStiffness(STEEL, STEEL)):
        impact = free_impact(Flores(stiffness=elastic, restitution=0.5), speed=1.0, mass=0.2, geometry=JOINT)
        assert impact.restitution == pytest.approx(expected, abs=1e-7)


def exact(e: float) -> float:
    """chi by bisection in sixty digits, from the restitution as a function of u = chi (1 + e)."""
    getcontext().prec = 60
    target = Decimal(e)
    low, high = 2 * (1 - target), (1 - target) * (1 / target + 4)
    for _ in range(120):
        u = (low + high) / 2
        decay = (-u).exp()
        if (1 - (1 + u) * decay) / (u - 1 + decay) > target:
            low = u
        else:
            high = u
    return float(low / (1 + target))


def test_chi_of_the_calibrated_law_to_round_off():
    e = ca.SX.sym("e")
    chi = ca.Function("chi", [e], [exact_chi(e)])
    for value in (*np.linspace(0.01, 0.99, 25), 0.9, 0.999, 0.9999, 1 - 1e-6):
        assert float(chi(value)) == pytest.approx(exact(float(value)), rel=1e-13, abs=0)
        assert float(exact_chi(float(value))) == pytest.approx(float(chi(value)), rel=1e-14, abs=0)
    assert float(chi(1.0)) == 0.0


def test_chi_has_a_finite_derivative():
    e = ca.SX.sym("e")
    slope = ca.Function("slope", [e], [ca.jacobian(exact_chi(e), e)])
    assert float(slope(1.0)) == pytest.approx(-1.5, rel=1e-12)  # chi = 3/2 (1 - e) + ...
    step = 1e-6
    assert float(slope(0.5)) == pytest.approx((exact(0.5 + step) - exact(0.5 - step)) / (2 * step), rel=1e-8)


@pytest.mark.parametrize("name", DELIVERED)
def test_the_declared_range_is_where_a_law_returns_what_it_is_asked_for(name):
    law = getattr(laws, name)(stiffness=1.0, restitution=0.5)

    def delivered(u):
        return (1 - (1 + u) * np.exp(-u)) / (u - 1 + np.exp(-u))

    def error(e):
        chi = float(law.damping(e))  # which is u / (1 + delivered(u))
        u = brentq(lambda u: u / (1 + delivered(u)) - chi, 1e-3, 2 * chi + 1)
        return abs(delivered(u) - e)

    low, high = law.faithful
    assert max(error(e) for e in np.linspace(max(low, 0.02), min(high, 0.99), 60)) < 0.05
    assert low == 0 or error(low - 0.03) > 0.05
    assert high == 1 or error(high + 0.03) > 0.05


def limits(law, **geometry):
    p = SimpleNamespace(**law.numbers(), **geometry)
    k = SimpleNamespace(**{name: float(value) for name, value in law.coefficients(p).items()})
    return law.limits(p, k)


def test_limits_of_lankarani_and_nikravesh():
    (found,) = limits(LankaraniNikravesh(stiffness=1e10, restitution=0.5))
    assert found.quantity == "restitution" and found.exceeded(0.79) and not found.exceeded(0.8)
    assert limits(LankaraniNikravesh(stiffness=1e10, restitution=0.5, calibrated=True)) == ()
    dense = Material(2.07e11, 0.3, density=7800.0)
    law = LankaraniNikravesh(stiffness=HertzStiffness(dense, STEEL), restitution=0.9)
    _, speed = limits(law, effective_radius=0.19)
    assert speed.quantity == "approach"
    assert speed.high == pytest.approx(1e-5 * np.sqrt(2.07e11 / 7800))
