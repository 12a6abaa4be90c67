"""The driven slider-crank with revolute clearance, rigid, compliant and ideal, against two independent formulations.

With clearance in the pin there are two degrees of freedom besides the driven crank: the rod's angle and the slider's
place. Their Newton-Euler equations are integrated here with events. The ideal mechanism is solved in closed form. The
tables hold values computed once more, elsewhere, to the digits given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import (
    CompliantDae,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussQP,
    InputError,
    Landing,
    MoreauJean,
    Radau,
    Rigid,
    simulate,
)
from nonsmooth_problems import slider_crank_revolute
from nonsmooth_problems.slider_crank_revolute import COMPLIANT

R, L, OMEGA = 0.05, 0.12, 5000 * np.pi / 30
M_ROD, J_ROD, M_SLIDER = 0.21, 2.5e-4, 0.14
BEARING, YOUNG, POISSON, RESTITUTION = 10e-3, 2.07e11, 0.3, 0.9
END = 8e-4  # [s], after the third contact

#: clearance [m]: stiffness [N/m^1.5], first contact [s], crank angle there [deg], approach [m/s], depth [m], force [N],
#: duration [s], second and third contact [s]
TABLE = {
    0.5e-3: (6.610198e10, 2.27286e-4, 6.81858, 4.38578315, 7.7952e-5, 4.5872e4, 5.3437e-5, 6.37056e-4, 7.49700e-4),
    0.2e-3: (1.061538e11, 1.43611e-4, 4.30834, 2.78176176, 4.5901e-5, 3.3296e4, 4.9020e-5, 4.33480e-4, 5.14266e-4),
    0.1e-3: (1.508882e11, 1.01516e-4, 3.04549, 1.96887796, 3.1005e-5, 2.6283e4, 4.6213e-5, 3.20516e-4, 3.99410e-4),
}
TIGHT = ErrorControl(rtol=1e-12, atol=1e-13, dt_min=1e-7, dt_max=1e-4)
FINE = ErrorControl(rtol=1e-10, atol=1e-10, dt_min=1e-7, dt_max=1e-5)
#: so many rows that the mean force of one is the peak to 1e-4
SAMPLES = 16


# ---- rod and slider, in the rod's angle and the slider's place ------------------------------------------------------


@dataclass(frozen=True)
class Touch:
    """One contact: when, how fast, how deep, how hard, for how long, and the speed at which it parts."""

    t: float
    approach: float
    depth: float
    force: float
    duration: float
    departure: float


class RodAndSlider:
    """``J_A theta'' = -m l/2 t . a_A + l t . F``, ``m_s x'' = -F_x``, with t across the rod and A the knee."""

    def __init__(self, clearance):
        self.c = clearance
        modulus = YOUNG / (2 * (1 - POISSON**2))
        self.K = 4 / 3 * modulus * np.sqrt(BEARING * (BEARING - clearance) / clearance)
        self.chi = 0.75 * (1 - RESTITUTION**2)

    def gap(self, t, y):
        """The gap [m], its rate, and the direction from the bearing's to the journal's centre."""
        phi, (theta, x, spin, u) = OMEGA * t, y
        e = np.array([x - R * np.cos(phi) - L * np.cos(theta), -R * np.sin(phi) - L * np.sin(theta)])
        rate = np.array(
            [
                u + R * OMEGA * np.sin(phi) + L * spin * np.sin(theta),
                -R * OMEGA * np.cos(phi) - L * spin * np.cos(theta),
            ]
        )
        distance = np.hypot(*e) or 1e-300
        return self.c - distance, -float(e @ rate) / distance, e / distance

    def force(self, t, y, approach):
        gap, rate, n = self.gap(t, y)
        depth = max(-gap, 0.0)
        return self.K * depth**1.5 * (1 - self.chi * rate / approach), n

    def rates(self, t, y, approach):
        phi, theta = OMEGA * t, y[0]
        across = np.array([-np.sin(theta), np.cos(theta)])
        knee = -R * OMEGA**2 * np.array([np.cos(phi), np.sin(phi)])
        push = np.zeros(2)
        if approach:
            size, n = self.force(t, y, approach)
            push = size * n
        inertia = J_ROD + M_ROD * L**2 / 4
        return [y[2], y[3], across @ (L * push - M_ROD * L / 2 * knee) / inertia, -push[0] / M_SLIDER]

    def phase(self, t, y, approach):
        """To the moment when the surfaces meet (or, with an approach speed, part)."""

        def event(t, y):
            return self.gap(t, y)[0] / self.c

        event.terminal, event.direction = True, 1 if approach else -1
        return solve_ivp(
            lambda t, y: self.rates(t, y, approach), (t, t + 1e-3), y, "DOP853", rtol=1e-12, atol=1e-14,
            max_step=1e-6 if approach else 1e-5, events=event, dense_output=True,
        )  # fmt: skip

    def touches(self, count):
        t, y, found = 0.0, np.array([0.0, R + L, -R * OMEGA / L, 0.0]), []
        for _ in range(count):
            flight = self.phase(t, y, None)
            start = flight.t[-1]
            approach = -self.gap(start, flight.y[:, -1])[1]
            contact = self.phase(start, flight.y[:, -1], approach)
            t, y = contact.t[-1], contact.y[:, -1]
            pairs = [(at, contact.sol(at)) for at in np.linspace(start, contact.t[-1], 1001)]
            depth = -min(self.gap(*pair)[0] for pair in pairs)
            force = max(self.force(*pair, approach)[0] for pair in pairs)
            found.append(Touch(start, approach, depth, force, t - start, self.gap(t, y)[1]))
        return found


@pytest.fixture(scope="module")
def expected():
    """The first three contacts for each clearance."""
    return {c: RodAndSlider(c).touches(3) for c in TABLE}


@pytest.mark.parametrize("clearance", TABLE)
def test_both_references_agree(clearance, expected):
    """Peaks and durations were given to five digits, read off between points."""
    one, (K, t, angle, approach, depth, force, duration, *later) = expected[clearance], TABLE[clearance]
    assert RodAndSlider(clearance).K == pytest.approx(K, rel=5e-7)
    assert one[0].t == pytest.approx(t, abs=5e-10)
    assert np.rad2deg(OMEGA * one[0].t) == pytest.approx(angle, abs=5e-6)
    assert one[0].approach == pytest.approx(approach, abs=5e-9)
    assert (one[0].depth, one[0].force) == pytest.approx((depth, force), rel=1e-4)
    assert one[0].duration == pytest.approx(duration, abs=1e-9)
    assert [touch.t for touch in one[1:]] == pytest.approx(later, abs=5e-10)


# ---- rigid ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clearance", TABLE)
def test_the_first_impact(clearance, expected):
    system = slider_crank_revolute(clearance=clearance).build()
    run = simulate(system, EventDriven(order="dop853"), t_end=3e-4, dt=TIGHT)
    first = run.impacts[0]
    assert first["t"] == pytest.approx(TABLE[clearance][1], abs=5e-10)
    assert -first["gamma_minus"] == pytest.approx(TABLE[clearance][3], abs=5e-9)
    assert first["t"] == pytest.approx(expected[clearance][0].t, abs=1e-13)
    assert -first["gamma_minus"] == pytest.approx(expected[clearance][0].approach, abs=1e-9)
    assert first["gamma_plus"] == pytest.approx(-0.9 * first["gamma_minus"], rel=1e-12)
    row = int(np.searchsorted(run.t, first["t"]))
    assert run.v["crank.angle"][row] == pytest.approx(OMEGA, rel=1e-13)  # the motor lets nothing through


def test_steps_of_a_constant_length_and_landing(expected):
    """A constant step meets the bearing up to one step late. Landing is of second order."""
    system = slider_crank_revolute().build()
    first = expected[0.5e-3][0]
    run = simulate(system, MoreauJean(), t_end=2.4e-4, dt=1e-6)
    t, speed = run.impacts["t"][0], -run.impacts["gamma_minus"][0]
    assert 0.0 <= t - first.t <= 1.5e-6
    assert speed == pytest.approx(first.approach, rel=2e-2)
    errors = []
    for dt in (8e-6, 4e-6, 2e-6):
        run = simulate(system, GaussQP(), t_end=2.4e-4, dt=Landing(dt / 100, dt))
        errors.append([abs(run.impacts["t"][0] - first.t), abs(run.impacts["gamma_minus"][0] + first.approach)])
    assert np.all(np.array(errors[0]) < [1e-10, 2e-8])
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.2)


# ---- compliant ------------------------------------------------------------------------------------------------------


def contacts(run, joint="pin"):
    """Rows at which the journal meets the bearing, and at which it parts."""
    touching = run.mode[joint] > 0
    return np.flatnonzero(touching[1:] & ~touching[:-1]) + 1, np.flatnonzero(~touching[1:] & touching[:-1]) + 1


@pytest.mark.parametrize("clearance", TABLE)
def test_the_first_contacts_of_the_papers_law(clearance, expected):
    """Rows hold mean forces, so the peaks need many of them."""
    system = slider_crank_revolute(clearance=clearance, contact=COMPLIANT).build()
    run = simulate(system, CompliantDae(samples=SAMPLES, solver=Dop853()), t_end=END, dt=FINE)
    met, parted = contacts(run)
    first, (_, t, _, approach, depth, force, duration, *later) = expected[clearance][0], TABLE[clearance]
    during = slice(met[0], parted[0] + 1)
    speed, departure = -run.gap_rate["pin"][met[0]], run.gap_rate["pin"][parted[0]]
    # to the digits of the table
    assert run.t[met[0]] == pytest.approx(t, abs=5e-10)
    assert speed == pytest.approx(approach, abs=5e-9)
    assert run.t[met[1:3]] == pytest.approx(later, abs=1e-9)
    assert -run.gap["pin"][during].min() == pytest.approx(depth, rel=1e-4)
    assert run.lam_N["pin"][during].max() == pytest.approx(force, rel=2e-4)
    assert run.t[parted[0]] - run.t[met[0]] == pytest.approx(duration, rel=1e-4)
    # to the tolerance of the run
    assert run.t[met[:3]] == pytest.approx([touch.t for touch in expected[clearance]], abs=1e-11)
    assert speed == pytest.approx(first.approach, abs=1e-8)
    assert run.t[parted[0]] - run.t[met[0]] == pytest.approx(first.duration, abs=1e-11)
    assert departure == pytest.approx(first.departure, abs=1e-6)
    assert run.gap["pin"][during].min() == pytest.approx(-first.depth, rel=1e-4)
    assert run.lam_N["pin"][during].max() == pytest.approx(first.force, rel=1e-4)
    if clearance == 0.5e-3:
        assert departure / speed == pytest.approx(0.892, abs=5e-4)
    assert abs(run.certificate.energy.remainder) <= 1e-8
    assert run.certificate.joint_violation <= 1e-14


def test_the_usual_integrator_finds_the_same(expected):
    system = slider_crank_revolute(contact=COMPLIANT).build()
    control = ErrorControl(rtol=1e-8, atol=1e-8, dt_min=1e-7, dt_max=1e-5)
    run = simulate(system, CompliantDae(solver=Radau()), t_end=3e-4, dt=control)
    met, parted = contacts(run)
    assert run.t[met[0]] == pytest.approx(expected[0.5e-3][0].t, abs=1e-10)
    assert run.t[parted[0]] - run.t[met[0]] == pytest.approx(expected[0.5e-3][0].duration, abs=1e-9)


@pytest.mark.parametrize("joints", ["shaft", "knee", "pin", ("shaft", "knee", "pin")], ids=str)
def test_rigid_and_compliant_meet_at_the_same_time(joints):
    loose = (joints,) if isinstance(joints, str) else joints
    rigid = simulate(slider_crank_revolute(joints=joints).build(), EventDriven(order="dop853"), t_end=6e-4, dt=TIGHT)
    system = slider_crank_revolute(joints=joints, contact=COMPLIANT).build()
    run = simulate(system, CompliantDae(samples=1, solver=Dop853()), t_end=6e-4, dt=FINE)
    met = {joint: contacts(run, joint)[0] for joint in loose}
    joint = min((joint for joint in loose if len(met[joint])), key=lambda joint: met[joint][0])
    assert rigid.impacts["contact"][0] == joint
    assert run.t[met[joint][0]] == pytest.approx(rigid.impacts["t"][0], abs=1e-10)


def test_gravity_hardly_moves_the_first_contact(expected):
    run = simulate(slider_crank_revolute(gravity=9.81).build(), EventDriven(order="dop853"), t_end=3e-4, dt=TIGHT)
    assert 1e-11 < abs(run.impacts["t"][0] - expected[0.5e-3][0].t) < 2e-9


# ---- ideal ----------------------------------------------------------------------------------------------------------


def ideal(phi):
    """Rod angle and rate, slider place, speed and acceleration, forces on slider and rod, moment, at a crank angle.

    Newton's and Euler's equations of slider and rod, solved one after the other.
    """
    theta = -np.arcsin(R / L * np.sin(phi))
    rate = -R * OMEGA * np.cos(phi) / (L * np.cos(theta))
    spin_up = (R * OMEGA**2 * np.sin(phi) + L * rate**2 * np.sin(theta)) / (L * np.cos(theta))
    along, across = np.array([np.cos(theta), np.sin(theta)]), np.array([-np.sin(theta), np.cos(theta)])
    knee = -R * OMEGA**2 * np.array([np.cos(phi), np.sin(phi)])
    centre = knee + L / 2 * (spin_up * across - rate**2 * along)
    a = (knee + L * (spin_up * across - rate**2 * along))[0]
    fx = M_SLIDER * a
    # of the rod about the knee: J theta'' + l/2 across . m a_C = -l across . F
    fy = (-(J_ROD * spin_up + M_ROD * L / 2 * np.sum(across * centre, axis=0)) / L - across[0] * fx) / across[1]
    push = M_ROD * centre + np.array([fx, fy])
    moment = R * (np.cos(phi) * push[1] - np.sin(phi) * push[0])
    x = R * np.cos(phi) + L * np.cos(theta)
    u = -R * OMEGA * np.sin(phi) - L * rate * np.sin(theta)
    return {"theta": theta, "spin": rate, "x": x, "u": u, "a": a, "pin": np.array([fx, fy]), "knee": push, "M": moment}


def test_the_closed_form_gives_the_known_loads():
    degrees = np.deg2rad
    at = {angle: ideal(degrees(angle)) for angle in (0.0, 45.0, 90.0, 180.0)}
    assert at[0.0]["a"] == pytest.approx(-19419.360511, abs=5e-7)
    assert at[180.0]["a"] == pytest.approx(7996.207269, abs=5e-7)
    assert at[90.0]["a"] == pytest.approx(6282.952445, abs=5e-7)
    assert np.hypot(*at[0.0]["pin"]) == pytest.approx(2718.710472, abs=5e-7)
    assert np.hypot(*at[0.0]["knee"]) == pytest.approx(6197.0606, abs=5e-5)
    assert -at[45.0]["pin"] == pytest.approx([1396.77147, -1091.14442], abs=1e-5)
    assert at[45.0]["M"] == pytest.approx(124.9986063, abs=5e-8)
    assert -at[90.0]["pin"] == pytest.approx([-879.61334, 122.67891], abs=5e-6)
    assert at[90.0]["M"] == pytest.approx(-76.9661675, abs=5e-8)
    angle = np.linspace(0.0, 180.0, 180_001)
    turn = ideal(degrees(angle))
    assert (turn["a"].min(), turn["a"].max()) == pytest.approx((-19419.360511, 9695.86), abs=5e-3)
    for joint, least in (("pin", 434.399), ("knee", 948.348)):
        assert np.min(np.hypot(*turn[joint])) == pytest.approx(least, abs=1e-3)
    assert angle[np.argmin(np.hypot(*turn["pin"]))] == pytest.approx(75.01, abs=5e-3)
    assert angle[np.argmax(turn["M"])] == pytest.approx(34.974, abs=1e-3)
    assert np.max(turn["M"]) == pytest.approx(138.52167, abs=5e-6)
    back = ideal(-degrees(angle[::1000]))
    np.testing.assert_allclose(back["M"], -turn["M"][::1000], rtol=0, atol=1e-12)  # so the other peak is at 325.026
    # the moment is what changes the kinetic energy
    phi, h = degrees(angle[::1000]), 1e-5
    energy = [
        (M_SLIDER * s["u"] ** 2 + J_ROD * s["spin"] ** 2) / 2
        + M_ROD / 8 * ((s["u"] - R * OMEGA * np.sin(f)) ** 2 + (R * OMEGA * np.cos(f)) ** 2)
        for f in (phi - h, phi + h)
        for s in (ideal(f),)
    ]
    np.testing.assert_allclose((energy[1] - energy[0]) / (2 * h), turn["M"][::1000], atol=1e-5)


def test_the_ideal_twin():
    """Rows hold mean forces: the closed form is averaged over each step by Gauss' rule."""
    system = slider_crank_revolute(ideal=True).build()
    assert (system.nc, system.ng) == (0, 9)
    control = ErrorControl(rtol=1e-12, atol=1e-12, dt_min=1e-7, dt_max=5e-5)
    run = simulate(system, EventDriven(order="dop853"), t_end=2 * np.pi / OMEGA, dt=control)
    there = ideal(OMEGA * run.t)
    for columns, name, key in (
        (run.q, "rod.angle", "theta"), (run.q, "slider.x", "x"), (run.v, "rod.angle", "spin"), (run.v, "slider.x", "u")
    ):  # fmt: skip
        size = np.max(np.abs(there[key]))
        np.testing.assert_allclose(columns[name], there[key], rtol=0, atol=1e-11 * size)
    dt = np.diff(run.t)
    nodes, weights = np.polynomial.legendre.leggauss(6)
    means = [ideal(OMEGA * (run.t[:-1] + dt * (1 + node) / 2)) for node in nodes]
    mean = {key: sum(w / 2 * one[key] for w, one in zip(weights, means, strict=True)) for key in ("pin", "knee", "M")}
    for joint, exact in (("pin", mean["pin"]), ("knee", mean["knee"])):
        for i, axis in enumerate("xy"):
            size = np.max(np.abs(exact))
            np.testing.assert_allclose(run.reaction[f"{joint}.{axis}"][1:], exact[i], rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(run.reaction["motor.torque"][1:], mean["M"], rtol=0, atol=1e-9 * 138.5)
    assert abs(run.certificate.energy.remainder) <= 1e-9


def test_the_loads_of_the_ideal_twin_at_an_angle():
    """A short step around the angle, whose mean is the value to 1e-8."""
    system = slider_crank_revolute(ideal=True).build()
    control = ErrorControl(rtol=1e-12, atol=1e-12, dt_min=1e-7, dt_max=5e-5)
    for angle, pin, moment in (
        (45.0, (1396.77147, -1091.14442), 124.9986063),
        (90.0, (-879.61334, 122.67891), -76.9661675),
    ):
        t, h = np.deg2rad(angle) / OMEGA, 1e-6
        before = simulate(system, EventDriven(order="dop853"), t_end=t - h / 2, dt=control)
        step = simulate(system, EventDriven(order="dop853"), t_end=t + h / 2, dt=control, state=before.end)
        found = [-step.reaction[f"pin.{axis}"][-1] for axis in "xy"]
        assert found == pytest.approx(pin, rel=1e-6)
        assert step.reaction["motor.torque"][-1] == pytest.approx(moment, rel=1e-6)


# ---- arguments ------------------------------------------------------------------------------------------------------


def test_the_joints_with_play_are_chosen():
    assert slider_crank_revolute().build().contact_names == ("pin",)
    assert slider_crank_revolute(joints="knee, pin").build().contact_names == ("knee", "pin")
    assert slider_crank_revolute(joints=("pin", "shaft")).build().contact_names == ("shaft", "pin")
    assert slider_crank_revolute(joints=()).build().contact_names == ()
    system = slider_crank_revolute(clearance=0.2e-3, contact=Rigid(restitution=0.5, friction=0.03)).build()
    assert system.parameters["pin.radius"] == pytest.approx(9.8e-3)
    assert system.provenance["pin.clearance"]["unit"] == "m"


def test_bad_values_are_named():
    with pytest.raises(InputError, match="has the joints shaft, knee, pin, got 'wrist'"):
        slider_crank_revolute(joints="pin,wrist")
    with pytest.raises(InputError, match="clearance must lie between 0 and the bearing's radius, 0.01 m, got 0.01"):
        slider_crank_revolute(clearance=0.01)
