"""Forces of a journal in a bearing, of faces, edges and rough surfaces."""

from __future__ import annotations

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import nonsmooth.laws as laws
from nonsmooth.exceptions import InputError
from nonsmooth.laws import (
    BaiZhao,
    DubowskyFreudenstein,
    FractalStiffness,
    HertzStiffness,
    Johnson,
    LineContact,
    Liu,
    Material,
    Pereira,
    PlaneContact,
    RoundedStiffness,
    WinklerFoundation,
    fractal_surface,
)
from nonsmooth.laws.normal.cylindrical import END
from nonsmooth.laws.normal.fractal import domain_extension

STEEL = Material(2.07e11, 0.3)
MODULUS = 2.07e11 / (2 * (1 - 0.09))
LENGTH = 15e-3


def joint(bearing=10e-3, journal=9.5e-3):
    play = bearing - journal
    return {"radius": journal, "clearance": play, "length": LENGTH, "effective_radius": bearing * journal / play}


def constants(law, **geometry):
    p = SimpleNamespace(**law.numbers(), **geometry)
    return SimpleNamespace(**{name: float(value) for name, value in law.coefficients(p).items()})


def depth_of(law, force, k):
    return brentq(lambda depth: float(law.elastic(depth, k)) - force, 1e-12, 1e-2, xtol=1e-20, rtol=1e-14)


# Depths [m] at F/L = 1e4, 1e5, 1e6 N/m, R_i 10 mm, R_j 9.5 mm, L 15 mm, E 207 GPa, nu 0.3 (force_models table)
DEPTHS = {
    "Johnson": (2.848183e-7, 2.203767e-6, 1.559350e-5),
    "Radzimovsky": (3.119157e-7, 2.474740e-6, 1.830323e-5),
    "Goldsmith": (5.611962e-7, 4.967545e-6, 4.323128e-5),
    "DubowskyFreudenstein": (3.261247e-7, 2.616830e-6, 1.972413e-5),
    "ESDU78035": (3.407917e-7, 2.763500e-6, 2.119083e-5),
    "Liu": (1.464685e-6, 6.822593e-6, 3.218738e-5),
    "HertzStiffness": (1.726836e-6, 8.015264e-6, 3.720356e-5),
}
LOGARITHMIC = ("Johnson", "Radzimovsky", "Goldsmith", "DubowskyFreudenstein", "ESDU78035")


@pytest.mark.parametrize("name", DEPTHS)
def test_depths(name):
    law = getattr(laws, name)(STEEL, STEEL)
    k = constants(law, **joint())
    found = [depth_of(law, force * LENGTH, k) for force in (1e4, 1e5, 1e6)]
    assert found == pytest.approx(DEPTHS[name], rel=1e-6)


def test_hertz_stiffness_of_journals():
    journals = {9.9e-3: 1.508882e11, 9.8e-3: 1.061538e11, 9.75e-3: 9.470437e10, 9.5e-3: 6.610198e10, 9e-3: 4.549451e10}
    law = HertzStiffness(STEEL, STEEL)
    for journal, stiffness in journals.items():
        assert constants(law, **joint(journal=journal)).stiffness == pytest.approx(stiffness, rel=1e-6)


def test_hertz_stiffness_of_a_corner():
    corner = RoundedStiffness(STEEL, STEEL, rounding=2e-3)
    assert constants(corner).stiffness == pytest.approx(4 / 3 * MODULUS * np.sqrt(2e-3), rel=1e-14)


@pytest.mark.parametrize("name", LOGARITHMIC)
def test_logarithmic_laws_are_inverted_to_round_off(name):
    law = getattr(laws, name)(STEEL, STEEL)
    k = constants(law, **joint())
    for share in np.concatenate([np.logspace(-14, -1, 27), np.linspace(0.15, 1, 25)]):
        a = share * np.exp(-END) * k.scale
        depth = a * np.log(k.scale / a)
        ends = 0.5 * a, min(1.5 * a, k.scale / np.e)
        found = brentq(lambda a, d=depth: a * np.log(k.scale / a) - d, *ends, xtol=1e-300, rtol=1e-15)
        assert law.elastic(depth, k) == pytest.approx(k.line_stiffness * found, rel=1e-13, abs=0)


@pytest.mark.parametrize("name", LOGARITHMIC)
def test_logarithmic_laws_go_on_along_their_tangent(name):
    law = getattr(laws, name)(STEEL, STEEL)
    p = SimpleNamespace(**law.numbers(), **joint())
    k = constants(law, **joint())
    (limit,) = law.limits(p, k)
    end = END * np.exp(-END) * k.scale
    assert limit.quantity == "force" and law.elastic(end, k) == pytest.approx(limit.high, rel=1e-12)
    depth = ca.SX.sym("depth")
    slope = ca.Function("slope", [depth], [ca.jacobian(law.elastic(depth, k), depth)])
    assert float(slope(end * (1 - 1e-9))) == pytest.approx(float(slope(end * (1 + 1e-9))), rel=1e-6)
    assert law.elastic(10 * end, k) == pytest.approx(limit.high + 9 * end * float(slope(2 * end)), rel=1e-12)


def test_johnsons_greatest_load():
    law = Johnson(STEEL, STEEL)
    p = SimpleNamespace(**law.numbers(), **joint())
    (limit,) = law.limits(p, constants(law, **joint()))
    greatest = 4 * np.pi * MODULUS * 0.5e-3 / np.e**2 * LENGTH
    assert limit.high == pytest.approx(np.exp(1 - END) * greatest) and 0.95 * greatest < limit.high < greatest


def slopes(law, depths, k):
    depth = ca.SX.sym("depth")
    slope = ca.Function("slope", [depth], [ca.jacobian(law.elastic(depth, k), depth)])
    return np.array([float(slope(each)) for each in depths])


def test_bai_and_zhao_use_the_slope_of_liu():
    law, tangent = BaiZhao(STEEL, STEEL), Liu(STEEL, STEEL)
    k, depths = constants(law, **joint()), np.logspace(-9, -2, 15)
    secant = np.array([law.elastic(depth, k) / depth for depth in depths])
    assert secant == pytest.approx(slopes(tangent, depths, k), rel=1e-13)


def test_liu_in_its_limits():
    law = Liu(STEEL, STEEL)
    k, play = constants(law, **joint()), 0.5e-3
    small, great = 1e-9, 1e3
    assert law.elastic(small, k) == pytest.approx(
        np.pi / 2 * MODULUS * LENGTH * small**1.5 / np.sqrt(2 * play), rel=1e-5
    )
    assert law.elastic(great, k) == pytest.approx(np.pi / 2 * MODULUS * LENGTH * great / np.sqrt(2), rel=1e-5)


def test_pereira():
    law = Pereira(STEEL, STEEL)
    # by hand, in mm, MPa and N, for dR = 0.5 mm and 0.1 mm, delta = 10 um
    modulus, depth = MODULUS * 1e-6, 0.01
    coarse = (0.965 * 0.5 + 0.0965) * 15 * modulus / 0.5 * depth ** ((0.0151 * 0.5 + 1.151) * 0.5**-0.005)
    fine = (0.965 * 0.1 + 0.0965) * 15 * modulus / 0.1 * depth ** (1.51 * np.log(100) ** -0.151 * 0.1**-0.005)
    assert law.elastic(1e-5, constants(law, **joint())) == pytest.approx(coarse, rel=1e-12)
    assert law.elastic(1e-5, constants(law, **joint(journal=9.9e-3))) == pytest.approx(fine, rel=1e-12)
    # It was fitted to Johnson's law.
    johnson = Johnson(STEEL, STEEL)
    for force in (1e4, 1e5, 1e6):
        expected = depth_of(johnson, force * LENGTH, constants(johnson, **joint()))
        assert depth_of(law, force * LENGTH, constants(law, **joint())) == pytest.approx(expected, rel=0.07)


def test_pereiras_range_of_clearance():
    law = Pereira(STEEL, STEEL)
    below, at_end = (constants(law, **(joint() | {"clearance": play})) for play in (1e-7, 5e-6))
    assert np.isfinite(below.exponent) and below.exponent == at_end.exponent
    fine, coarse = (constants(law, **(joint() | {"clearance": 0.34954e-3 * (1 + s)})) for s in (-1e-9, 1e-9))
    assert fine.exponent == pytest.approx(coarse.exponent, abs=2e-3)  # the two printed pieces nearly meet
    (limit,) = law.limits(SimpleNamespace(), SimpleNamespace())
    assert limit.quantity == "clearance" and limit.exceeded(4e-6) and limit.exceeded(11e-3) and not limit.exceeded(5e-4)


def test_winkler_foundation():
    law = WinklerFoundation(young=1e9, poisson=0.3, thickness=1e-3)
    k, c = constants(law, **joint()), 0.5e-3
    stiffness = 0.7e9 / (1.3 * 0.4) / 1e-3 * 9.5e-3 * LENGTH
    for depth in np.logspace(-7, -2, 11):
        arc = np.arccos(c / (c + depth))
        closed = stiffness * ((c + depth) * arc - c * np.sin(arc))
        assert law.elastic(depth, k) == pytest.approx(closed, rel=1e-8)
        by_quadrature, _ = quad(lambda x, d=depth: ((c + d) * np.cos(x) - c) * np.cos(x), -arc, arc, epsrel=1e-12)
        assert law.elastic(depth, k) == pytest.approx(stiffness * by_quadrature, rel=1e-8)
    assert law.elastic(1e-15, k) == pytest.approx(2 / 3 * stiffness * c * (2e-15 / c) ** 1.5, rel=1e-9)
    assert law.elastic(1e3, k) == pytest.approx(np.pi / 2 * stiffness * 1e3, rel=1e-5)
    (limit,) = law.limits(SimpleNamespace(thickness=1e-3), k)
    assert limit.quantity == "depth" and limit.high == pytest.approx(1e-4)


def test_faces_and_edges():
    assert constants(PlaneContact(young=2e11, area=1e-4, thickness=0.02)).stiffness == pytest.approx(1e9)
    edge = LineContact(STEEL, STEEL, line_length=0.06, edge_radius=1e-3)
    k, force = constants(edge), 171.0
    depth = force / (np.pi * MODULUS * 0.06) * (1 - np.log(force * 1e-3 / (np.pi * MODULUS * 0.06**3)))
    assert edge.elastic(depth, k) == pytest.approx(force, rel=1e-12)
    # the same law as Dubowsky's and Freudenstein's for the effective radius of a joint
    geometry = joint()
    twin = LineContact(STEEL, STEEL, line_length=LENGTH, edge_radius=geometry["effective_radius"])
    other = DubowskyFreudenstein(STEEL, STEEL)
    expected = other.elastic(2e-6, constants(other, **geometry))
    assert twin.elastic(2e-6, constants(twin)) == pytest.approx(expected, rel=1e-12)


def rough(**changes):
    dimension, scale = fractal_surface(0.8e-6)
    numbers = {"yield_strength": 3.5e8, "fractal_dimension": dimension, "fractal_scale": scale, "area_share": 0.1,
               "asperity_friction": 0.1} | changes  # fmt: skip
    return FractalStiffness(STEEL, STEEL, **numbers)


def test_fractal_stiffness_is_the_slope_of_its_force():
    law = rough()
    k = constants(law, **joint())
    depths = np.logspace(-8, -4, 9)
    stiffness = np.array([float(law.stiffness(depth, k)) for depth in depths])
    for depth in depths:
        expected, _ = quad(lambda x: float(law.stiffness(x, k)), 0, depth, epsrel=1e-9, limit=200)
        assert float(law.elastic(depth, k)) == pytest.approx(expected, rel=1e-4)
    assert slopes(law, depths, k) == pytest.approx(stiffness, rel=2e-3)
    assert (stiffness > 5e8).all() and (stiffness < 1e11).all()


def test_fractal_stiffness_by_direct_integration_over_asperities():
    law = rough()
    k, p, depth = constants(law, **joint()), SimpleNamespace(**law.numbers(), **joint()), 1e-5
    d, g, radius, width = p.fractal_dimension, p.fractal_scale, p.radius, p.length
    spread = float(domain_extension(d)) ** ((3 - d) / 2)
    real = 2 * 0.1 * radius * width * np.sqrt(depth / (2 * (0.5e-3 + depth)))
    largest = (3 - d) / (d - 1) / spread * real

    def interference(a):
        return (
            2 ** ((11 - 3 * d) / 2) * g ** (d - 2) * np.sqrt(np.log(1.5)) * np.pi ** ((d - 3) / 2) * a ** ((3 - d) / 2)
        )

    yielding = (1 - 0.228 * 0.1) * 3.5e8

    def force(a):
        omega = interference(a)
        tip = a / (np.pi * omega)
        critical = (33 * np.pi * yielding / (40 * MODULUS)) ** 2 * tip
        ratio, hard = omega / critical, 3.3 / 2.06 * yielding
        if ratio < 1:
            return 4 / 3 * MODULUS * np.sqrt(tip) * omega**1.5
        return (2.06 / 3 * ratio**0.425 if ratio < 6 else 2.8 / 3 * ratio**0.263) * hard * np.pi * tip * omega

    def density(a):
        return (d - 1) / 2 * spread * largest ** ((d - 1) / 2) * a ** (-(d + 1) / 2)

    def integrand(log_a):
        a, h = np.exp(log_a), 1e-5
        stiffness = (force(a * (1 + h)) - force(a * (1 - h))) / (interference(a * (1 + h)) - interference(a * (1 - h)))
        return stiffness * density(a) * a

    ends = [np.log(k.critical_2), np.log(k.critical_1), np.log(k.critical), np.log(largest)]
    total = sum(quad(integrand, a + 1e-4, b - 1e-4)[0] for a, b in zip(ends, ends[1:], strict=False))
    assert float(law.stiffness(depth, k)) == pytest.approx(total, rel=1e-3)
    share = quad(lambda log_a: density(np.exp(log_a)) * np.exp(2 * log_a), np.log(largest) - 100, np.log(largest))[0]
    assert share == pytest.approx(real, rel=1e-6)  # the asperities' areas add up to the real area of contact


@pytest.mark.parametrize("d", [fractal_surface(0.8e-6)[0], 8 / 3])  # at 8/3 the elastic work is a logarithm
@pytest.mark.parametrize("depth", [1e-8, 1e-5])
def test_loss_factor_by_direct_integration_over_asperities(d, depth):
    """Work of each asperity by quadrature over its interference, summed over areas by quadrature: 1e-10 of either."""
    law, geometry = rough(fractal_dimension=d), {name: joint()[name] for name in ("radius", "clearance", "length")}
    g, spread = law.fractal_scale, float(domain_extension(d)) ** ((3 - d) / 2)
    real = 2 * 0.1 * geometry["radius"] * LENGTH * np.sqrt(depth / (2 * (geometry["clearance"] + depth)))
    largest = (3 - d) / (d - 1) / spread * real
    weak = (1 - 0.228 * 0.1) * 3.5e8
    yielding, hard = 33 * np.pi * weak / (40 * MODULUS), 3.3 / 2.06 * weak

    def interference(a):
        return (
            2 ** ((11 - 3 * d) / 2) * g ** (d - 2) * np.sqrt(np.log(1.5)) * np.pi ** ((d - 3) / 2) * a ** ((3 - d) / 2)
        )

    def ratio(log_a):  # omega / omega_c
        omega = interference(np.exp(log_a))
        return omega / (yielding**2 * np.exp(log_a) / (np.pi * omega))

    loads = {
        "elastic": lambda omega, tip: 4 / 3 * MODULUS * np.sqrt(tip) * omega**1.5,
        "first": lambda omega, tip: 2.06 / 3 * hard * np.pi * tip * omega * (omega / (yielding**2 * tip)) ** 0.425,
        "second": lambda omega, tip: 2.8 / 3 * hard * np.pi * tip * omega * (omega / (yielding**2 * tip)) ** 0.263,
        "plastic": lambda omega, tip: 2 * np.pi * tip * omega * 2.8 * 3.5e8,
    }

    def work(load, log_a):
        a = np.exp(log_a)
        omega = interference(a)
        done = quad(lambda share: load(share * omega, a / (np.pi * omega)) * omega, 0, 1, epsabs=0, epsrel=1e-11)[0]
        return done * a ** (-(d + 1) / 2) * a

    low = np.log(largest) - 120
    area = {r: brentq(lambda x, r=r: np.log(ratio(x) / r), low, 10, xtol=1e-13) for r in (1, 6, 110)}
    stops = [low, *(min(area[r], np.log(largest)) for r in (110, 6, 1)), np.log(largest)]
    parts = dict(zip(("plastic", "second", "first", "elastic"), zip(stops, stops[1:], strict=False), strict=True))
    total = {
        name: quad(lambda x, name=name: work(loads[name], x), *ends, epsabs=0, epsrel=1e-10, limit=200)[0]
        for name, ends in parts.items()
    }
    expected = (total["second"] + total["plastic"]) / (total["elastic"] + total["first"])
    assert law.loss_factor(depth, **geometry) == pytest.approx(expected, rel=1e-8)


def test_loss_factor_falls_with_the_depth_from_infinity():
    """At a depth of 1e-14 m the largest asperity is plastic, so that nothing is stored."""
    geometry = {name: joint()[name] for name in ("radius", "clearance", "length")}
    found = [rough().loss_factor(depth, **geometry) for depth in (1e-14, 1e-8, 1e-6, 1e-4)]
    assert found[0] == np.inf and all(a > b > 0 for a, b in zip(found, found[1:], strict=False))
    with pytest.raises(InputError, match=r"depth must be positive \[m\], got 0"):
        rough().loss_factor(0.0, **geometry)


@pytest.mark.parametrize("d", [2.01, 2.3, 2.56, 2.8, 2.99])
def test_domain_extension(d):
    phi = float(domain_extension(d))
    assert phi ** ((3 - d) / 2) - (1 + phi ** (-(d - 1) / 2)) ** ((d - 3) / (d - 1)) == pytest.approx(
        (3 - d) / (d - 1), rel=1e-12
    )


def test_fractal_input_errors():
    with pytest.raises(InputError, match="between 2 and 3"):
        rough(fractal_dimension=1.5)
    with pytest.raises(InputError, match="not between 2 and 3"):
        fractal_surface(1e-10)
