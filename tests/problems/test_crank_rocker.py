"""The driven crank-rocker: the rocker's range and the driving moment in closed form, and the first contact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import Compliant, CompliantDae, Dop853, ErrorControl, EventDriven, InputError, simulate
from nonsmooth.laws import LankaraniNikravesh
from nonsmooth_problems import crank_rocker
from nonsmooth_problems.crank_rocker import rocker_range
from nonsmooth_problems.four_bar import loop

GROUND, CRANK, COUPLER, ROCKER = LENGTHS = (0.1, 0.04, 0.09, 0.08)
SPEED, GRAVITY, CLEARANCE = 20 * np.pi, 9.81, 0.2e-3
TURN = 2 * np.pi / SPEED
TIGHT = ErrorControl(rtol=1e-12, atol=1e-12, dt_min=1e-7, dt_max=2e-4)
SOFT = Compliant(LankaraniNikravesh(stiffness=1e9, restitution=0.9))


@pytest.fixture(scope="module")
def ideal():
    """One turn of the ideal linkage."""
    return simulate(crank_rocker(loose="none").build(), EventDriven(order="dop853"), t_end=TURN, dt=TIGHT)


def test_it_is_a_crank_rocker():
    """Grashof: shortest and longest bar are not longer than the other two, and the shortest turns."""
    assert min(LENGTHS) == CRANK
    assert min(LENGTHS) + max(LENGTHS) <= sum(LENGTHS) - min(LENGTHS) - max(LENGTHS)


def test_the_rockers_range(ideal):
    """Where crank and coupler lie on one line, stretched out or overlapping, the rocker turns back."""
    low, high = rocker_range(*LENGTHS)
    turn = np.array([loop(*LENGTHS, crank)[1] for crank in np.linspace(0.0, 2 * np.pi, 100_001)])
    assert (turn.min(), turn.max()) == pytest.approx((low, high), abs=1e-8)
    assert np.rad2deg(high - low) == pytest.approx(62.1, abs=0.05)
    angle = ideal.q["rocker.angle"]
    assert np.all((low - 1e-12 <= angle) & (angle <= high + 1e-12))
    for end, reach in ((low, COUPLER + CRANK), (high, COUPLER - CRANK)):
        tip = complex(GROUND + ROCKER * np.cos(end), ROCKER * np.sin(end))
        assert abs(tip) == pytest.approx(reach, abs=1e-15)
        crank = np.angle(tip) if reach > COUPLER else np.angle(-tip)
        run = simulate(
            crank_rocker(loose="none").build(),
            EventDriven(order="dop853"),
            t_end=float(crank % (2 * np.pi)) / SPEED,
            dt=TIGHT,
        )
        assert run.q["rocker.angle"][-1] == pytest.approx(end, abs=1e-12)
        assert run.v["rocker.angle"][-1] == pytest.approx(0.0, abs=1e-9)


def energy(crank):
    """Kinetic and potential energy of the three bars at a crank angle, by complex numbers."""
    coupler, rocker = loop(*LENGTHS, crank)
    h = 2e-3  # differences of fourth order, good to 1e-12
    near, far = (np.subtract(loop(*LENGTHS, crank + d), loop(*LENGTHS, crank - d)) / (2 * d) for d in (h, 2 * h))
    rates = SPEED * (4 * near - far) / 3
    pin, pin_rate = CRANK * np.exp(1j * crank), 1j * SPEED * CRANK * np.exp(1j * crank)
    total = 0.0
    for length, near, near_rate, angle, rate in (
        (CRANK, 0.0, 0.0, crank, SPEED),
        (COUPLER, pin, pin_rate, coupler, rates[0]),
        (ROCKER, GROUND, 0.0, rocker, rates[1]),
    ):
        mass, arm = length, length / 2 * np.exp(1j * angle)  # 1 kg/m
        total += mass * abs(near_rate + 1j * rate * arm) ** 2 / 2 + mass * length**2 / 12 * rate**2 / 2
        total += mass * GRAVITY * (near + arm).imag
    return total


def test_the_driving_moment(ideal):
    """It supplies what the energy gains. Rows hold mean moments: each times its angle is the change of the energy."""
    crank = ideal.q["crank.angle"]
    np.testing.assert_allclose(crank, SPEED * ideal.t, rtol=0, atol=1e-12)
    work = ideal.reaction["motor.torque"][1:] * np.diff(crank)
    gained = np.diff([energy(angle) for angle in crank])
    np.testing.assert_allclose(work, gained, rtol=0, atol=1e-11)
    assert work.sum() == pytest.approx(0.0, abs=1e-10)  # a turn gives back what it takes
    assert np.max(ideal.reaction["motor.torque"]) > 0.1 > -0.1 > np.min(ideal.reaction["motor.torque"][1:])


def test_the_first_contact_by_equations_of_its_own():
    """With clearance between coupler and rocker both are pendulums until then, the coupler's pivot on the crank."""
    system = crank_rocker().build()
    run = simulate(system, EventDriven(order="dop853"), t_end=0.01, dt=TIGHT)
    coupler, rocker = loop(*LENGTHS, 0.0)
    spin = SPEED * CRANK / np.sin(coupler - rocker)
    start = [coupler, spin * np.sin(rocker) / COUPLER, rocker, spin * np.sin(coupler) / ROCKER]

    def rhs(t, y):
        x, z = -CRANK * SPEED**2 * np.array([np.cos(SPEED * t), np.sin(SPEED * t)])
        return [
            y[1],
            -1.5 / COUPLER * ((z + GRAVITY) * np.cos(y[0]) - x * np.sin(y[0])),
            y[3],
            -1.5 / ROCKER * GRAVITY * np.cos(y[2]),
        ]

    def gap(t, y):
        end = CRANK * np.exp(1j * SPEED * t) + COUPLER * np.exp(1j * y[0])
        return CLEARANCE - abs(GROUND + ROCKER * np.exp(1j * y[2]) - end)

    gap.terminal = True
    expected = solve_ivp(rhs, (0.0, 0.1), start, "DOP853", rtol=1e-13, atol=1e-15, max_step=1e-4, events=gap).t[-1]
    assert run.impacts["t"][0] == pytest.approx(expected, abs=1e-12)
    soft = simulate(
        crank_rocker(contact=SOFT).build(),
        CompliantDae(samples=1, solver=Dop853()),
        t_end=1.1 * expected,
        dt=ErrorControl(1e-10, 1e-10, 1e-7, 1e-4),
    )
    met = np.flatnonzero((soft.mode["joint3"][1:] > 0) & (soft.mode["joint3"][:-1] == 0)) + 1
    assert soft.t[met[0]] == pytest.approx(expected, abs=1e-9)


def test_with_play_it_stays_near_the_ideal_motion(ideal):
    """The clearance moves the rocker by no more than c over its lever arm, the bar times sin(transmission angle)."""
    run = simulate(crank_rocker().build(), EventDriven(), t_end=TURN, dt=ErrorControl(1e-8, 1e-10, 1e-7, 2e-4))
    assert len(run.impacts) >= 5
    coupler, rocker = np.array([loop(*LENGTHS, angle) for angle in run.q["crank.angle"]]).T
    error = np.abs(run.q["rocker.angle"] - rocker)
    assert np.all(error <= 1.01 * CLEARANCE / (ROCKER * np.sin(rocker - coupler)) + 1e-15)
    assert np.max(error) > 0.5 * CLEARANCE / ROCKER
    assert run.certificate.gap_violation <= 1e-12
    np.testing.assert_allclose(run.v["crank.angle"], SPEED, rtol=1e-12)  # the motor lets nothing through
    assert abs(run.certificate.energy.remainder) <= 1e-8


def test_bad_values_are_named():
    with pytest.raises(InputError, match="crank-rocker has the joints joint1, joint2, joint3, joint4, got 'pin'"):
        crank_rocker(loose=("pin",))
    with pytest.raises(InputError, match="clearance must lie between 0 and the bearing's 0.005 m, got 0.0"):
        crank_rocker(clearance=0.0)
