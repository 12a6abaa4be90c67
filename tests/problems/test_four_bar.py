"""The four-bar linkage: its ideal twin in closed form, its first contacts by equations of its own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import Compliant, CompliantDae, Dop853, ErrorControl, EventDriven, InputError, simulate
from nonsmooth.laws import LankaraniNikravesh
from nonsmooth_problems import four_bar
from nonsmooth_problems.four_bar import JOINTS, loop

GROUND, CRANK, COUPLER, ROCKER = LENGTHS = (3.0, 1.0, 4.0, 2.5)
CLEARANCE, GRAVITY = 5e-3, 9.81
SOFT = Compliant(LankaraniNikravesh(stiffness=1e8, restitution=0.9))
TIGHT = ErrorControl(rtol=1e-12, atol=1e-13, dt_min=1e-7, dt_max=2e-3)
FINE = ErrorControl(rtol=1e-10, atol=1e-10, dt_min=1e-7, dt_max=2e-3)


def freudenstein(crank, rocker):
    """``K1 cos(rocker) - K2 cos(crank) + K3 = cos(crank - rocker)``, angles counted at the fixed bearings."""
    k1, k2 = GROUND / CRANK, GROUND / ROCKER
    k3 = (CRANK**2 - COUPLER**2 + ROCKER**2 + GROUND**2) / (2 * CRANK * ROCKER)
    return k1 * np.cos(rocker) - k2 * np.cos(crank) + k3 - np.cos(crank - rocker)


@pytest.mark.parametrize("crank", np.linspace(-3.0, 3.0, 13))
def test_the_loop_closes(crank):
    coupler, rocker = loop(*LENGTHS, crank)
    assert freudenstein(crank, rocker) == pytest.approx(0.0, abs=1e-14)
    pin = CRANK * np.exp(1j * crank) + COUPLER * np.exp(1j * coupler)
    assert pin == pytest.approx(GROUND + ROCKER * np.exp(1j * rocker), abs=1e-14)
    assert pin.imag > 0.0


def test_the_start_is_that_of_the_source():
    """Its journals start 40 um off the centre; angles to that much."""
    start = four_bar().build().start.q
    assert start[[2, 5, 8]] == pytest.approx([1.570823772, 0.353284202, 1.264872059], abs=5e-5)
    assert start[[3, 4, 6, 7]] == pytest.approx([1.876454585, 1.691962092, 3.376468620, 1.191962183], abs=1e-4)


@pytest.mark.parametrize("driven", [False, True])
def test_the_ideal_twin_follows_freudenstein(driven):
    system = four_bar(loose="none", driven=driven, crank_speed=2.0).build()
    assert (system.nc, system.ng) == (0, 9 if driven else 8)
    run = simulate(system, EventDriven(order="dop853"), t_end=2.0, dt=ErrorControl(1e-11, 1e-12, 1e-6, 1e-2))
    crank, coupler, rocker = (run.q[f"{bar}.angle"] for bar in ("crank", "coupler", "rocker"))
    assert np.ptp(crank) > np.pi  # over a range worth the name
    expected = np.array([loop(*LENGTHS, angle) for angle in crank]).T
    np.testing.assert_allclose([coupler, rocker], expected, rtol=0, atol=1e-12)
    rates = [run.v[f"{bar}.angle"] for bar in ("crank", "coupler", "rocker")]
    h = 1e-5
    slopes = (np.array([loop(*LENGTHS, a + h) for a in crank]) - [loop(*LENGTHS, a - h) for a in crank]).T / (2 * h)
    np.testing.assert_allclose(rates[1:], slopes * rates[0], rtol=0, atol=1e-7)
    if driven:
        np.testing.assert_allclose(crank, np.pi / 2 + 2.0 * run.t, rtol=0, atol=1e-12)
    else:
        assert run.certificate.energy.remainder == pytest.approx(0.0, abs=1e-9)


# ---- first contacts -------------------------------------------------------------------------------------------------


def contacts(run, joint):
    """Rows at which the journal meets the bearing."""
    touching = run.mode[joint] > 0
    return np.flatnonzero(touching[1:] & ~touching[:-1]) + 1


def swinging(t, y, length, pivot):
    """A bar that hangs from a pivot with the acceleration `pivot(t)`: its angle and its rate."""
    angle, rate = y
    x, z = pivot(t)
    return [rate, -1.5 / length * ((z + GRAVITY) * np.cos(angle) - x * np.sin(angle))]


def parting_at_joint3(speed):
    """First contact of joint3 under a driven crank: coupler and rocker are then two pendulums of their own.

    The coupler's pivot is the crank's pin, which turns at constant speed.
    """
    coupler, rocker = loop(*LENGTHS, np.pi / 2)
    spin = speed * CRANK / np.sin(coupler - rocker)
    rates = [spin * np.sin(rocker - np.pi / 2) / COUPLER, spin * np.sin(coupler - np.pi / 2) / ROCKER]

    def rhs(t, y):
        phi = np.pi / 2 + speed * t
        first = swinging(t, y[:2], COUPLER, lambda t: -CRANK * speed**2 * np.array([np.cos(phi), np.sin(phi)]))
        return [*first, *swinging(t, y[2:], ROCKER, lambda t: (0.0, 0.0))]

    def gap(t, y):
        end = CRANK * np.exp(1j * (np.pi / 2 + speed * t)) + COUPLER * np.exp(1j * y[0])
        return CLEARANCE - abs(GROUND + ROCKER * np.exp(1j * y[2]) - end)

    gap.terminal = True
    start = [coupler, rates[0], rocker, rates[1]]
    return float(solve_ivp(rhs, (0.0, 1.0), start, "DOP853", rtol=1e-13, atol=1e-14, events=gap).t[-1])


@pytest.mark.parametrize("speed", [0.0, 3.0, -3.0])
def test_the_first_contact_by_equations_of_its_own(speed):
    system = four_bar(loose="joint3", driven=True, crank_speed=speed).build()
    run = simulate(system, EventDriven(order="dop853"), t_end=0.06, dt=TIGHT)
    assert run.impacts["t"][0] == pytest.approx(parting_at_joint3(speed), abs=1e-12)


@pytest.mark.parametrize("loose", ["joint2,joint3,joint4", "joint1,joint2,joint3,joint4"])
def test_what_falls_freely(loose):
    """The upright crank hardly moves, so coupler and rocker fall through the clearance; with four joints all three."""
    run = simulate(four_bar(loose=loose).build(), EventDriven(order="dop853"), t_end=0.035, dt=TIGHT)
    assert run.impacts["t"][:2] == pytest.approx(np.sqrt(2 * CLEARANCE / GRAVITY), abs=1e-12)
    assert set(run.impacts["contact"][:2]) == {loose.split(",")[0], "joint4"}
    assert -run.impacts["gamma_minus"][:2] == pytest.approx(np.sqrt(2 * CLEARANCE * GRAVITY), rel=1e-12)


LOOSE = {
    **{joint: {"loose": joint} for joint in JOINTS},
    "two": {"loose": "joint2,joint3", "crank_angle": 1.0},
    "three": {},
    "four": {"loose": tuple(JOINTS), "crank_angle": 1.0},
    "driven": {"loose": "joint3", "driven": True, "crank_speed": 3.0},
}


@pytest.mark.parametrize("case", LOOSE)
def test_rigid_and_compliant_meet_at_the_same_time(case):
    rigid = simulate(four_bar(**LOOSE[case]).build(), EventDriven(order="dop853"), t_end=0.06, dt=TIGHT)
    system = four_bar(contact=SOFT, **LOOSE[case]).build()
    soft = simulate(system, CompliantDae(samples=1, solver=Dop853()), t_end=0.06, dt=FINE)
    first = min(soft.t[rows[0]] for joint in system.contact_names if len(rows := contacts(soft, joint)))
    assert rigid.impacts["t"][0] == pytest.approx(first, abs=1e-9)


def test_friction_and_plastic_impacts_take_energy():
    run = simulate(four_bar().build(), EventDriven(), t_end=0.25, dt=ErrorControl(1e-8, 1e-10, 1e-6, 2e-3))
    energy = run.certificate.energy
    assert energy.loss_impacts > 0.0 and energy.loss_friction > 0.0
    assert abs(energy.remainder) <= 1e-6 * energy.loss_impacts
    assert run.certificate.gap_violation <= 1e-12 and run.certificate.joint_violation <= 1e-12


# ---- arguments ------------------------------------------------------------------------------------------------------


def test_the_joints_with_play_are_chosen():
    assert four_bar(loose="none").build().contact_names == ()
    assert four_bar(loose=()).build().contact_names == ()
    assert four_bar(loose="joint3, joint1").build().contact_names == ("joint1", "joint3")
    system = four_bar(loose=("joint4",), clearance=1e-3).build()
    assert system.parameters["joint4.radius"] == pytest.approx(59e-3)
    assert system.provenance["joint4.clearance"]["unit"] == "m"


def test_bad_values_are_named():
    with pytest.raises(InputError, match="has the joints joint1, joint2, joint3, joint4, got 'knee'"):
        four_bar(loose="knee")
    with pytest.raises(InputError, match="clearance must lie between 0 and the bearing's 0.06 m, got 0.1"):
        four_bar(clearance=0.1)
    with pytest.raises(InputError, match="do not span"):
        loop(3.0, 1.0, 0.5, 0.5, 0.0)
