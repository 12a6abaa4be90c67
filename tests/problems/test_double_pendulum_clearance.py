"""The double pendulum with clearance: conserved energy and angular momentum, first contacts by other equations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import Compliant, CompliantDae, Dop853, ErrorControl, EventDriven, GaussQP, InputError, Landing, Rigid
from nonsmooth import simulate as run_it
from nonsmooth.laws import Hertz, LankaraniNikravesh
from nonsmooth_problems import double_pendulum_clearance

LENGTH, MASS, GRAVITY, CLEARANCE = 0.3, 0.5, 9.81, 1e-3
INERTIA = MASS * LENGTH**2 / 12
ELASTIC = Rigid(restitution=1.0, friction=0.0)
TIGHT = ErrorControl(rtol=1e-11, atol=1e-13, dt_min=1e-7, dt_max=1e-3)
FINE = ErrorControl(rtol=1e-9, atol=1e-9, dt_min=1e-7, dt_max=1e-3)
BOTH = ("knee", "pin,knee")


def momentum(run):
    """Angular momentum about the first bearing [N m s]."""
    return sum(
        MASS * (run.q[f"{rod}.x"] * run.v[f"{rod}.y"] - run.q[f"{rod}.y"] * run.v[f"{rod}.x"])
        + INERTIA * run.v[f"{rod}.angle"]
        for rod in ("upper", "lower")
    )


@pytest.mark.parametrize("loose", BOTH)
def test_elastic_impacts_keep_the_energy(loose):
    system = double_pendulum_clearance(loose=loose, contact=ELASTIC).build()
    run = run_it(system, EventDriven(order="dop853"), t_end=0.5, dt=TIGHT)
    energy = run.energy["kinetic"] + run.energy["potential"]
    assert len(run.impacts) > 50 and np.max(run.energy["kinetic"]) > 2.5
    assert np.ptp(energy) <= 1e-12
    assert run.certificate.energy.loss_impacts == pytest.approx(0.0, abs=1e-12)
    assert run.certificate.gap_violation <= 1e-14


@pytest.mark.parametrize("loose", BOTH)
def test_elastic_springs_keep_the_energy(loose):
    system = double_pendulum_clearance(loose=loose, contact=Compliant(Hertz(stiffness=1e8))).build()
    run = run_it(system, CompliantDae(solver=Dop853()), t_end=0.2, dt=FINE)
    energy = run.certificate.energy
    assert energy.kinetic > 1.4 and abs(energy.remainder) <= 1e-8
    assert energy.loss_contact == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("contact", ["rigid", "compliant"])
@pytest.mark.parametrize("loose", BOTH)
def test_without_gravity_the_angular_momentum_stays(loose, contact):
    """Spinning out of the middle of its bearings; the force of a frictionless bearing points through its centre."""
    law = Rigid(restitution=0.8, friction=0.0)
    if contact == "compliant":
        law = Compliant(LankaraniNikravesh(stiffness=1e8, restitution=0.9))
    system = double_pendulum_clearance(loose=loose, contact=law).build()
    stepper, control = (
        (EventDriven(order="dop853"), TIGHT) if contact == "rigid" else (CompliantDae(solver=Dop853()), FINE)
    )
    start = system.state(velocities={"lower.x": 0.1, "lower.y": -0.5, "lower.angle": 3.0})
    run = run_it(system, stepper, t_end=0.2, dt=control, state=start, parameters={"gravity.acceleration_y": 0.0})
    assert run.P_N["knee"].sum() > 0.1
    L = momentum(run)
    assert abs(L[0]) > 0.05
    assert np.ptp(L) <= 1e-10 * abs(L[0])


def test_with_gravity_the_weight_changes_it():
    """By its moment about the bearing. Steps of Landing keep this balance exactly, with the trapezoidal moment."""
    run = run_it(double_pendulum_clearance().build(), GaussQP(), t_end=0.2, dt=Landing(1e-7, 1e-3))
    moment = -MASS * GRAVITY * (run.q["upper.x"] + run.q["lower.x"])
    gained = np.sum((moment[1:] + moment[:-1]) / 2 * np.diff(run.t))
    assert len(run.impacts) > 3 and abs(gained) > 0.1
    assert momentum(run)[-1] - momentum(run)[0] == pytest.approx(gained, abs=1e-12)


def test_the_first_contact_by_equations_of_its_own():
    """The upper rod swings by itself until the falling lower rod's journal has crossed the clearance."""

    def gap(t, y):
        end, journal = LENGTH * np.array([np.sin(y[0]), -np.cos(y[0])]), np.array([LENGTH, -GRAVITY * t**2 / 2])
        return CLEARANCE - np.hypot(*(end - journal))

    gap.terminal = True
    swing = solve_ivp(
        lambda t, y: [y[1], -1.5 * GRAVITY / LENGTH * np.sin(y[0])], (0.0, 1.0), [np.pi / 2, 0.0], "DOP853",
        rtol=1e-13, atol=1e-15, max_step=1e-3, events=gap,
    )  # fmt: skip
    rigid = run_it(double_pendulum_clearance().build(), EventDriven(order="dop853"), t_end=0.03, dt=TIGHT)
    assert rigid.impacts["t"][0] == pytest.approx(swing.t[-1], abs=1e-12)
    soft = double_pendulum_clearance(contact=Compliant(LankaraniNikravesh(stiffness=1e8, restitution=0.9))).build()
    run = run_it(soft, CompliantDae(samples=1, solver=Dop853()), t_end=0.03, dt=FINE)
    assert run.t[np.flatnonzero(run.mode["knee"] > 0)[0]] == pytest.approx(swing.t[-1], abs=1e-9)


def test_the_ideal_twin_is_the_textbook_double_pendulum():
    """Lagrange's equations of two rods, in their angles from the downward vertical."""

    def rhs(t, y):
        a, b, va, vb = y
        c, s = np.cos(a - b), np.sin(a - b)
        M = MASS * LENGTH**2 * np.array([[4 / 3, c / 2], [c / 2, 1 / 3]])
        h = MASS * LENGTH * np.array(
            [-LENGTH * s * vb**2 / 2 - 1.5 * GRAVITY * np.sin(a), LENGTH * s * va**2 / 2 - GRAVITY * np.sin(b) / 2]
        )  # fmt: skip
        return [va, vb, *np.linalg.solve(M, h)]

    angles = (2.0, 0.5)
    expected = solve_ivp(rhs, (0.0, 1.0), [*angles, 0.0, 0.0], "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    system = double_pendulum_clearance(loose="none", upper_angle=angles[0], lower_angle=angles[1]).build()
    run = run_it(system, EventDriven(order="dop853"), t_end=1.0, dt=ErrorControl(1e-12, 1e-13, 1e-6, 1e-2))
    found = [run.q["upper.angle"], run.q["lower.angle"], run.v["upper.angle"], run.v["lower.angle"]]
    assert [one[-1] for one in found] == pytest.approx(expected, abs=1e-8)


def test_the_joints_with_play_are_chosen():
    assert double_pendulum_clearance().build().contact_names == ("knee",)
    assert double_pendulum_clearance(loose=("knee", "pin")).build().contact_names == ("pin", "knee")
    assert double_pendulum_clearance(loose="none").build().contact_names == ()
    with pytest.raises(InputError, match="has the joints pin and knee, got 'elbow'"):
        double_pendulum_clearance(loose="elbow")
    with pytest.raises(InputError, match="clearance must lie between 0 and the bearing's radius, 0.01 m, got 0.02"):
        double_pendulum_clearance(clearance=0.02)
