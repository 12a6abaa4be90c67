"""Kelvin-Voigt's and Anagnostopoulos' closed forms; the bounds of the IMPACT function."""

from __future__ import annotations

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from nonsmooth.exceptions import InputError
from nonsmooth.laws import AdamsImpact, Anagnostopoulos, Compliant, KelvinVoigt
from nonsmooth.studies import free_impact


@pytest.mark.parametrize("zeta", [0.01, 0.2, 0.6, 0.9])
@pytest.mark.parametrize("tensile", [True, False])
def test_kelvin_voigt(zeta, tensile):
    stiffness, mass = 3e6, 0.4
    law = KelvinVoigt(stiffness=stiffness, damping=2 * zeta * np.sqrt(stiffness * mass), tensile=tensile)
    w = np.sqrt(1 - zeta**2)
    turn = np.pi if tensile else np.pi - np.arctan2(2 * zeta * w, 1 - 2 * zeta**2)
    impact = free_impact(law, speed=0.3, mass=mass)
    assert impact.restitution == pytest.approx(np.exp(-zeta / w * turn), rel=1e-7)
    assert (impact.force.min() < 0) == tensile
    peak = 0.3 / np.sqrt(stiffness / mass) * np.exp(-zeta / w * np.arctan2(w, zeta))
    assert impact.peak_depth == pytest.approx(peak, rel=1e-9)


def test_overdamped_kelvin_voigt_is_plastic():
    assert free_impact(KelvinVoigt(stiffness=1e6, damping=4e3), speed=1.0, mass=1.0).restitution < 1e-9


@pytest.mark.parametrize("e", [0.05, 0.5, 0.9, 1.0])
def test_anagnostopoulos_returns_what_it_is_asked_for(e):
    law = Anagnostopoulos(stiffness=3e6, restitution=e, effective_mass=0.4)
    assert free_impact(law, speed=0.3, mass=0.4).restitution == pytest.approx(e, rel=1e-7)


def test_anagnostopoulos_is_linear():
    with pytest.raises(InputError, match="the law is linear"):
        Anagnostopoulos(stiffness=3e6, restitution=0.5, effective_mass=0.4, exponent=1.5)


def test_bounds_of_the_impact_function():
    law = AdamsImpact(stiffness=1e8, damping=1e3, full_depth=1e-4)
    k = SimpleNamespace(**law.coefficients(SimpleNamespace(**law.numbers())))
    for depth in (0.0, 2e-5, 5e-5, 9e-5):
        elastic = law.elastic(depth, k)
        assert elastic <= law.force(depth, 0.5, 1.0, k) <= elastic + 500.0
    assert law.force(0.0, 0.5, 1.0, k) == 0.0
    assert law.force(5e-5, 0.5, 1.0, k) == pytest.approx(law.elastic(5e-5, k) + 250.0)
    for depth in (1e-4, 1.0):
        assert law.force(depth, 0.5, 1.0, k) == pytest.approx(law.elastic(depth, k) + 500.0)
    pulled, *_ = Compliant(law).forces(1e-4, -10.0, 1.0, 0.0, ca.SX(0, 1), 0.0, k)
    assert float(pulled) == 0.0
    impact = free_impact(law, speed=1.0, mass=1.0)
    assert 0 < impact.restitution < 1 and impact.force.min() >= 0
