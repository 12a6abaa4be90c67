"""The pendulum in a socket against equations of its own, and these against linear theory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from nonsmooth import ErrorControl, EventDriven, GaussQP, Landing, MoreauJean, Rigid, simulate
from nonsmooth.exceptions import InputError
from nonsmooth_problems import socket_pendulum
from nonsmooth_problems.socket_pendulum_exact import GRAVITY, INERTIA, LENGTH, MASS, SocketPendulum

ACCURATE = EventDriven(order="dop853")
FINE = ErrorControl(1e-12, 1e-12, 1e-9, 0.02)


def test_a_run_follows_the_motion_in_contact():
    """Fifteen swings of the ball in its socket. Both integrate at 1e-12 and 1e-13."""
    run = simulate(socket_pendulum().build(), ACCURATE, t_end=0.1, dt=FINE)
    exact = socket_pendulum.exact().sample(run.t)
    for name in exact.q:
        np.testing.assert_allclose(run.q[name], exact.q[name], atol=1e-11)
    for name in exact.v:
        np.testing.assert_allclose(run.v[name], exact.v[name], atol=1e-8)
    np.testing.assert_allclose(np.cumsum(run.P_N["pivot"]), exact.impulse["pivot"], atol=1e-9)
    assert np.max(np.abs(run.gap["pivot"])) < 1e-14


def test_small_swings_are_those_of_a_double_pendulum():
    """Of members c and L/2 with the rod's inertia, by its two modes; 1 mm/s swings so little that squares are 1e-6."""
    c, v, half = 1e-4, 1e-3, LENGTH / 2
    M = MASS * np.array([[c * c, c * half], [c * half, half**2 + INERTIA[0] / MASS]])
    K = MASS * GRAVITY * np.diag([c, half])
    squares, modes = eigh(K, M)
    assert np.sqrt(squares) / (2 * np.pi) == pytest.approx([1.36, 99.6], rel=0.01)
    t = np.linspace(0.0, 0.3, 400)
    start = modes.T @ M @ np.array([0.0, v / LENGTH])
    angles = modes @ (start[:, None] * np.sin(np.outer(np.sqrt(squares), t)) / np.sqrt(squares)[:, None])
    exact = SocketPendulum(c, (v, 0.0)).sample(t)
    expected = c * angles[0] + half * angles[1]
    np.testing.assert_allclose(exact.q["rod.x"], expected, atol=1e-5 * np.max(np.abs(expected)))


@pytest.mark.slow
def test_its_energy_is_kept():
    """Kinetic and potential energy of 0.12 J, by the library's own functions, at the tolerance of the integration."""
    system, t = socket_pendulum().build(), np.linspace(0.0, 0.2, 100)
    exact = socket_pendulum.exact().sample(t)
    q = np.column_stack([exact.q[name] for name in system.q_names])
    v = np.column_stack([exact.v[name] for name in system.v_names])
    found = system.energies(t, q, v, system.parameter_values)
    assert np.ptp(found["kinetic"] + found["potential"]) < 1e-10
    np.testing.assert_allclose(exact.v["rod.wz"], 0.0, atol=1e-15)  # nothing turns the rod about its axis


def test_the_ball_leaves_the_socket_when_the_rod_turns_over():
    """Both find the same instant; after it the run is in flight."""
    exact = socket_pendulum.exact(clearance=1e-3, velocity_x=0.0, velocity_y=3.4)
    with pytest.raises(InputError, match="leaves the socket at t = 0.209736"):
        exact.sample(0.25)
    system = socket_pendulum(clearance=1e-3, velocity_x=0.0, velocity_y=3.4).build()
    run = simulate(system, ACCURATE, t_end=0.211, dt=FINE)
    first = np.flatnonzero(run.gap["pivot"] > 1e-10)[0]
    assert run.t[first - 1] == pytest.approx(0.209736008, abs=1e-6)
    np.testing.assert_allclose(run.gap["pivot"][:first], 0.0, atol=1e-10)


def test_moreau_jean_penetrates_in_proportion_to_the_step():
    """Gaps are imposed on velocities: a step of the ball along the sphere leaves it by its square, once per step."""
    depths = [
        -np.min(simulate(socket_pendulum().build(), MoreauJean(), t_end=0.01, dt=dt).gap["pivot"])
        for dt in (1e-4, 2e-5)
    ]
    assert depths[0] / depths[1] == pytest.approx(5.0, rel=0.2)
    assert depths[0] < 0.1 * 1e-4


def test_friction_takes_energy():
    """Power mu N r omega: with r 10 mm, N 11.6 N, mu 0.1 and 4.2 rad/s 1 mJ in 20 ms; no step gains energy."""
    system = socket_pendulum(contact=Rigid(restitution=0.0, friction=0.1)).build()
    ends = []
    for stepper, dt in ((ACCURATE, ErrorControl(1e-9, 1e-9, 1e-9, 0.02)), (GaussQP(), Landing(1e-6, 1e-4))):
        run = simulate(system, stepper, t_end=0.02, dt=dt)
        found = system.energies(run.t, run.q.array, run.v.array, system.parameter_values)
        energy = found["kinetic"] + found["potential"]
        assert np.max(np.diff(energy)) < 0.0
        assert energy[-1] - energy[0] == pytest.approx(-9.85e-4, rel=1e-3)
        ends.append(run.end.q[:3])
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)
    with pytest.raises(InputError, match="frictionless, got friction = 0.1"):
        socket_pendulum.exact(contact=Rigid(restitution=0.0, friction=0.1))


def test_bad_values_are_named():
    with pytest.raises(InputError, match="clearance must lie between 0 and the ball's radius, 0.01 m, got 0.0"):
        socket_pendulum(clearance=0.0)
    with pytest.raises(InputError, match="velocity must be a finite number"):
        socket_pendulum(velocity_x=float("inf"))
