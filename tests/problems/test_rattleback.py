"""The rattleback against rolling without slip, integrated from Newton's and Euler's equations that are written here."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import ErrorControl, EventDriven, Rigid, simulate
from nonsmooth.exceptions import InputError
from nonsmooth_problems import rattleback
from nonsmooth_problems.rattleback import DEPTH, GRAVITY, INERTIA, MASS, REFERENCE, SEMI_AXES
from nonsmooth_problems.rotations import matrix

ACCURATE = EventDriven(order="dop853")
FINE = ErrorControl(1e-12, 1e-12, 1e-9, 0.02)
XX, YY, ZZ, XY, XZ, YZ = INERTIA
J = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])


@cache
def rolling() -> ca.Function:
    """Of y = (place, quaternion, omega): y' and the contact force, n upwards, all but the place in the stone's axes.

    With n' = n x omega, the point of contact s = d - D n/h, h^2 = n.D n, and rolling v = s x omega, the balances
    m (v' + omega x v) = F - m g n and J omega' + omega x J omega = s x F are linear in omega' and F.
    """
    y = ca.SX.sym("y", 10)
    turn, omega = y[3:7] / ca.norm_2(y[3:7]), y[7:]
    w, x = turn[0], turn[1:]
    R = (w * w - ca.dot(x, x)) * ca.SX.eye(3) + 2 * (x @ x.T + w * ca.skew(x))
    n, D = R.T[:, 2], np.square(SEMI_AXES)
    n_rate = ca.cross(n, omega)
    h = ca.sqrt(ca.dot(n, D * n))
    s = ca.vertcat(0, 0, DEPTH) - D * n / h
    s_rate = -D * n_rate / h + D * n * ca.dot(n, D * n_rate) / h**3
    v = ca.cross(s, omega)
    known = ca.cross(s_rate, omega) + ca.cross(omega, v) + GRAVITY * n
    about = J + MASS * (ca.dot(s, s) * ca.SX.eye(3) - s @ s.T)
    omega_rate = ca.solve(about, MASS * ca.cross(s, known) - ca.cross(omega, J @ omega))
    force = MASS * (ca.cross(s, omega_rate) + known)
    spin = ca.vertcat(-ca.dot(x, omega), w * omega + ca.cross(x, omega)) / 2
    return ca.Function("rolling", [y], [ca.vertcat(R @ v, spin, omega_rate), force, n])


def start():
    state = rattleback().build().start
    return np.concatenate([state.q, state.v[3:]])


def energy(system, run):
    found = system.energies(run.t, run.q.array, run.v.array, system.parameter_values)
    return found["kinetic"] + found["potential"]


def spin(run):
    """Angular velocity about the vertical."""
    return np.array([matrix(q[3:])[2] @ v[3:] for q, v in zip(run.q.array, run.v.array, strict=True)])


@pytest.mark.slow
def test_rolling_without_slip_has_the_known_motion():
    """Integrated at 1e-12; errors grow while it rocks ever more, to about 1e-8 rad/s at 5 s."""
    times = list(REFERENCE)
    path = solve_ivp(
        lambda t, y: rolling()(y)[0].full().ravel(), (0.0, times[-1]), start(), "DOP853", times, rtol=1e-12, atol=1e-14,
        max_step=0.02,
    )  # fmt: skip
    for y, (place, omega) in zip(path.y.T, REFERENCE.values(), strict=True):
        assert y[:3] == pytest.approx(place, abs=1e-10)
        assert y[7:] == pytest.approx(omega, abs=2e-7)


def test_it_starts_rolling_on_the_plane():
    system = rattleback().build()
    rates = np.hstack(
        [one(system.start.q, system.parameter_values)[0] for one in (system.numeric.W_N, system.numeric.W_T)]
    )
    # the point of contact is 0.02 m below the centre and beside it, to the last bits of the semi-axes; 5 rad/s
    assert rates.T @ system.start.v == pytest.approx(np.zeros(3), abs=1e-15)
    assert system.numeric.g_N(system.start.q, system.parameter_values)[0] == pytest.approx([0.0], abs=1e-15)


def test_a_fine_run_reverses_its_spin_as_known():
    """From -5 rad/s to 4.4 rad/s, 5 s later, with its energy and on the plane; digits of the reference."""
    system = rattleback().build()
    run = simulate(system, ACCURATE, t_end=5.0, dt=FINE)
    for t, (place, omega) in REFERENCE.items():
        end = run.end if t == 5.0 else simulate(system, ACCURATE, t_end=t, dt=FINE).end
        assert end.q[:3] == pytest.approx(place, abs=2e-11)
        assert end.v[3:] == pytest.approx(omega, abs=2e-7)
    assert spin(run)[[0, -1]] == pytest.approx([-5.0, 4.4129055], abs=1e-7)
    assert np.ptp(energy(system, run)) < 1e-10 * energy(system, run)[0]
    assert np.max(np.abs(run.gap["floor"])) < 1e-14


def test_the_contact_force_is_that_of_rolling():
    """Means over steps of at most 0.1 ms differ from forces in the middle by squares of 1e-4 s times 100 rad/s."""
    run = simulate(rattleback().build(), ACCURATE, t_end=0.1, dt=ErrorControl(1e-12, 1e-12, 1e-9, 1e-4))
    q, v = ((one[1:] + one[:-1]) / 2 for one in (run.q.array, run.v.array))
    for k in range(0, len(q), 100):
        turn = q[k, 3:] / np.linalg.norm(q[k, 3:])
        _, force, n = (one.full().ravel() for one in rolling()(np.concatenate([q[k, :3], turn, v[k, 3:]])))
        assert run.contact_force["floor"][k + 1] == pytest.approx(matrix(turn) @ force, abs=1e-4 * MASS * GRAVITY)
        assert run.lam_N["floor"][k + 1] == pytest.approx(n @ force, rel=1e-4)


@pytest.mark.parametrize("t_end", [1.0, 5.0])
def test_the_verdict_of_the_default_call_is_right(t_end):
    """During and after the reversal: the stated error bounds the one against the reference, which is below 1e-6 m."""
    run = simulate(rattleback().build(), t_end=t_end)
    error = np.max(np.abs(run.end.q[:3] - REFERENCE[t_end][0]))
    assert run.verdict.kind == "accurate" and run.verdict.horizon == np.inf
    assert error < 1e-6 and error < run.verdict.position * 0.01  # of the contact's size


@pytest.mark.slow
def test_the_horizon_of_a_long_run_is_right():
    """Sensitive after some reversals; until the horizon it is as near as stated to a run that follows rolling."""
    system = rattleback().build()
    run = simulate(system, t_end=60.0)
    assert run.verdict.kind == "sensitive" and 10.0 < run.verdict.horizon < 60.0
    k = np.flatnonzero(run.t <= run.verdict.horizon)[-1]
    fine = simulate(system, ACCURATE, t_end=run.t[k], dt=FINE)
    assert np.max(np.abs(run.q.array[k, :3] - fine.end.q[:3])) < run.verdict.position * 0.01


def test_spun_the_other_way_it_does_not_reverse():
    run = simulate(rattleback(spin=5.0).build(), t_end=5.0)
    assert run.verdict.kind == "accurate"
    assert np.min(spin(run)) > 4.3


def test_at_rest_it_stays_at_rest():
    run = simulate(rattleback(spin=0.0, tilt=0.0).build(), t_end=1.0)
    assert np.max(np.abs(run.v.array)) < 1e-15
    assert run.lam_N["floor"][1:] == pytest.approx(np.full(len(run.t) - 1, MASS * GRAVITY), rel=1e-14)


def test_with_less_friction_it_slides_while_it_rocks():
    """It takes a friction of 0.76 to roll through the reversal; with less of it energy is lost."""
    system = rattleback(contact=Rigid(restitution=0.0, friction=0.3)).build()
    run = simulate(system, t_end=3.0)
    assert energy(system, run)[-1] < 0.99 * energy(system, run)[0]


def test_bad_values_are_named():
    with pytest.raises(InputError, match="spin must be a finite number, got nan"):
        rattleback(spin=float("nan"))
    with pytest.raises(InputError, match="tilt must be a finite number, got inf"):
        rattleback(tilt=float("inf"))
