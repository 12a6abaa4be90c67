"""A block on a spring: with Coulomb friction the amplitude falls by 2 F_C/k per half swing, until the block stays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth.laws.compliant import FrictionLaw
from nonsmooth.laws.friction.regularised import Ambrosio, MostaghelDavis, RegularisedCoulomb
from nonsmooth.laws.friction.sticking import Dahl, Karnopp, LuGre

MASS, STIFFNESS, NORMAL, START = 1.0, 100.0, 10.0, 0.105
#: mu_d = 0.1: 2 F_C/k = 0.02, and the block stays where |x| <= 0.01
TURNS = np.array([-0.085, 0.065, -0.045, 0.025, -0.005])
LUGRE = {"friction": 0.1, "static_friction": 0.1, "stribeck_speed": 1e-3}
HALF_SWING = np.pi * np.sqrt(MASS / STIFFNESS)


def swing(law: FrictionLaw, t_end: float, method: str = "Radau") -> tuple[np.ndarray, np.ndarray]:
    """Positions where the block turns, and position and slip at the end."""

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        x, v, *z = y
        force = law.force(v, NORMAL, z, STIFFNESS * x, law)
        bristles = np.array(law.bristle_rate(v, NORMAL, z, law)).ravel() if z else []
        return np.array([v, (force - STIFFNESS * x) / MASS, *bristles], dtype=float)

    def turns(t: float, y: np.ndarray) -> float:
        return y[1]

    start = [START, 0.0, *[0.0 for _ in law.bristles]]
    run = solve_ivp(rates, (0, t_end), start, method=method, events=turns, rtol=1e-8, atol=1e-11)
    assert run.success
    return run.y_events[0][run.t_events[0] > 0.5 * HALF_SWING, 0], run.y[:2, -1]


@pytest.mark.parametrize(
    "law",
    [
        RegularisedCoulomb(friction=0.1, slip_speed=1e-5),
        MostaghelDavis(function="erf", friction=0.1, slip_speed=1e-5),
        Ambrosio(friction=0.1, dead_speed=0.0, slip_speed=1e-5),
        Karnopp(friction=0.1, static_friction=0.1, stick_speed=1e-5),
    ],
    ids=repr,
)
def test_amplitude_falls_by_the_same_every_half_swing(law: FrictionLaw) -> None:
    turned, _ = swing(law, 4.2 * HALF_SWING)
    assert turned == pytest.approx(TURNS[:4], abs=1e-9)


@pytest.mark.parametrize(
    "law",
    [
        Dahl(friction=0.1, bristle_stiffness=1e4),
        LuGre(**LUGRE, bristle_stiffness=1e4, bristle_damping=0.1),
    ],
    ids=repr,
)
def test_bristles_turn_the_block_over_their_deflection(law: FrictionLaw) -> None:
    """Exact to the displacement mu_d / sigma_0 = 1e-5 m, by which friction lags behind the turn."""
    turned, _ = swing(law, 4.2 * HALF_SWING, method="LSODA")
    assert turned[:4] == pytest.approx(TURNS[:4], abs=2e-5)


def test_regularised_friction_comes_to_coulombs_by_the_square_of_its_slip_speed() -> None:
    errors = []
    for slip_speed in (4e-3, 2e-3, 1e-3):
        turned, _ = swing(RegularisedCoulomb(friction=0.1, slip_speed=slip_speed), 3.2 * HALF_SWING)
        errors.append(np.abs(turned - TURNS[:3]).max())
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([2.0, 2.0], abs=0.2)


def test_karnopps_block_stays_where_it_stops() -> None:
    _, (x, slip) = swing(Karnopp(friction=0.1, static_friction=0.1, stick_speed=1e-4), 10 * HALF_SWING)
    assert x == pytest.approx(TURNS[4], abs=1e-7)
    assert abs(slip) < 1e-12


def test_regularised_friction_creeps_back() -> None:
    """Inertia is of no account: mu_d tanh(v/v_0) N = k |x|."""
    slip_speed = 1e-4
    _, (x, slip) = swing(RegularisedCoulomb(friction=0.1, slip_speed=slip_speed), 10 * HALF_SWING)
    assert x > TURNS[4] + 5e-5
    assert slip == pytest.approx(slip_speed * np.arctanh(STIFFNESS * abs(x) / (0.1 * NORMAL)), rel=1e-3)
