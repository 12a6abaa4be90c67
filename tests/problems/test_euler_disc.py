"""Euler's disc against rolling without slip, by Newton's and Euler's equations that are written here."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from loops import some
from scipy.integrate import solve_ivp

from nonsmooth import ErrorControl, EventDriven, simulate
from nonsmooth.exceptions import InputError
from nonsmooth_problems import euler_disc
from nonsmooth_problems.euler_disc import ACROSS, ALONG, GRAVITY, MASS, RADIUS, THICKNESS
from nonsmooth_problems.rotations import matrix

ACCURATE = EventDriven(order="dop853")
FINE = ErrorControl(1e-12, 1e-12, 1e-9, 0.02)


@cache
def rolling() -> ca.Function:
    """Of y = (place, quaternion, omega): y' and the contact force in the disc's axes, and the tilt.

    With the normal n, n' = n x omega, and its part e = n - n3 u across the axis u, the contact point is
    s = -h/2 u - r e/|e|. With rolling v = s x omega the balances m (v' + omega x v) = F - m g n and
    J omega' + omega x J omega = s x F are linear in omega' and F.
    """
    y = ca.SX.sym("y", 10)
    turn, omega = y[3:7] / ca.norm_2(y[3:7]), y[7:]
    w, x = turn[0], turn[1:]
    R = (w * w - ca.dot(x, x)) * ca.SX.eye(3) + 2 * (x @ x.T + w * ca.skew(x))
    n, J = R.T[:, 2], ca.diag(ca.DM([ACROSS, ACROSS, ALONG]))
    n_rate = ca.cross(n, omega)
    e, e_rate = ca.vertcat(n[:2], 0), ca.vertcat(n_rate[:2], 0)
    length = ca.norm_2(e)  # the sine of the tilt
    s = ca.vertcat(0, 0, -THICKNESS / 2) - RADIUS * e / length
    s_rate = -RADIUS * (e_rate / length - e * ca.dot(e, e_rate) / length**3)
    v = ca.cross(s, omega)
    known = ca.cross(s_rate, omega) + ca.cross(omega, v) + GRAVITY * n
    about = J + MASS * (ca.dot(s, s) * ca.SX.eye(3) - s @ s.T)
    omega_rate = ca.solve(about, MASS * ca.cross(s, known) - ca.cross(omega, J @ omega))
    force = MASS * (ca.cross(s, omega_rate) + known)
    spin = ca.vertcat(-ca.dot(x, omega), w * omega + ca.cross(x, omega)) / 2
    return ca.Function("rolling", [y], [ca.vertcat(R @ v, spin, omega_rate), force, ca.asin(length)])


#: tilts [rad], with about ten turns of the contact point
TURNS = {0.3: 1.0, 0.03: 0.4, 0.003: 0.1, 0.001: 0.06}


def rolled(tilt, t_end):
    """Rows t and y of rolling, integrated at 1e-13."""
    state = euler_disc(tilt=tilt).build().start
    path = solve_ivp(
        lambda t, y: rolling()(y)[0].full().ravel(), (0.0, t_end), np.concatenate([state.q, state.v[3:]]), "DOP853",
        rtol=1e-13, atol=1e-15, max_step=t_end / 100,
    )  # fmt: skip
    return path.t, path.y


def error(run, y):
    """Largest difference of places [m] and of angles [rad] at the end."""
    turned = np.linalg.norm(run.end.q[3:] - y[3:7] / np.linalg.norm(y[3:7]))
    return np.max(np.abs(run.end.q[:3] - y[:3])), 2.0 * turned


@pytest.mark.parametrize("tilt", some(TURNS, 3))
def test_a_fine_run_rolls_as_newton_and_euler_say(tilt):
    """Within 1e-12 of a step; the direction to the lowest point of the edge is known to 1e-16 over the tilt."""
    system = euler_disc(tilt=tilt).build()
    run = simulate(system, ACCURATE, t_end=TURNS[tilt], dt=FINE)
    place, angle = error(run, rolled(tilt, TURNS[tilt])[1][:, -1])
    assert place < 1e-11 and angle < 1e-9
    assert np.max(np.abs(run.gap["edge.back"])) < 2e-14
    energy = sum(
        system.energies(run.t, run.q.array, run.v.array, system.parameter_values)[one]
        for one in ("kinetic", "potential")
    )
    assert np.ptp(energy) < 1e-12 * MASS * GRAVITY * RADIUS


@pytest.mark.parametrize("tilt", some(TURNS, 3))
def test_the_verdict_of_the_default_call_is_right(tilt):
    """The error that it states, as a share of the contact's size of 1 cm, bounds the one against rolling."""
    run = simulate(euler_disc(tilt=tilt).build(), t_end=TURNS[tilt])
    place, angle = error(run, rolled(tilt, TURNS[tilt])[1][:, -1])
    assert run.verdict.kind == "accurate" and run.verdict.horizon == np.inf
    assert place < run.verdict.position * 0.01 and place < 1e-6


@pytest.mark.parametrize("tilt", TURNS)
def test_its_contact_point_circles_with_the_known_speed(tilt):
    """Omega^2 = 4 g / (r sin(tilt)) of a thin disc within 2 %: this one has a thickness of a third of its radius."""
    run = simulate(euler_disc(tilt=tilt).build(), ACCURATE, t_end=TURNS[tilt], dt=FINE)
    lowest = np.array([matrix(q[3:])[:2, 2] for q in run.q.array])  # opposite to the contact point
    turns = np.unwrap(np.arctan2(*lowest.T[::-1]))
    speed = abs(turns[-1] - turns[0]) / run.t[-1]
    assert speed == pytest.approx(np.sqrt(4 * GRAVITY / (RADIUS * np.sin(tilt))), rel=0.03)


def test_bad_values_are_named():
    with pytest.raises(InputError, match="tilt must lie between 0 and pi/2 rad, got 0.0"):
        euler_disc(tilt=0.0)
