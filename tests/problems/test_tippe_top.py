"""The tippe top against the sliding of its head, by Newton's and Euler's equations that are written here."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import ErrorControl, EventDriven, Rigid, simulate
from nonsmooth.exceptions import InputError
from nonsmooth_problems import tippe_top
from nonsmooth_problems.rotations import matrix
from nonsmooth_problems.tippe_top import GRAVITY, HEAD, HEAD_AT, INERTIA, MASS, REFERENCE, STEM, STEM_AT

ACCURATE = EventDriven(order="dop853")
FINE = ErrorControl(1e-12, 1e-12, 1e-9, 0.01)


@cache
def sliding(friction: float = 0.03) -> ca.Function:
    """Of y = (place, quaternion, velocity, omega in the top's axes): y', normal force, slip (2,) and gap of the stem.

    The contact point s = a u - R n, in the ground frame with the axis u and from the centre of mass, has the height
    z + n.s = 0. Its force is N (n - mu w/|w|) with the slip w, and N follows from z'' = -n.(a u'').
    """
    y = ca.SX.sym("y", 13)
    turn, v, omega = y[3:7] / ca.norm_2(y[3:7]), y[7:10], y[10:]
    w, x = turn[0], turn[1:]
    R = (w * w - ca.dot(x, x)) * ca.SX.eye(3) + 2 * (x @ x.T + w * ca.skew(x))
    n, J, turning = ca.DM([0, 0, 1]), ca.diag(ca.DM(INERTIA)), R @ omega
    u = R[:, 2]
    s = HEAD_AT * u - HEAD * n
    slip = v + ca.cross(turning, s)
    slip = slip - ca.dot(n, slip) * n
    force = n - friction * slip / ca.norm_2(slip)  # for N = 1
    # z'' = N/m - g = -a n.(omega' x u + omega x (omega x u)), omega' linear in N
    free = R @ ca.solve(J, -ca.cross(omega, J @ omega))
    per_force = R @ ca.solve(J, R.T @ ca.cross(s, force))
    bent = ca.cross(turning, ca.cross(turning, u))
    normal = (GRAVITY - HEAD_AT * ca.dot(n, ca.cross(free, u) + bent)) / (
        1 / MASS + HEAD_AT * ca.dot(n, ca.cross(per_force, u))
    )
    omega_rate = R.T @ (free + normal * per_force)
    spin = ca.vertcat(-ca.dot(x, omega), w * omega + ca.cross(x, omega)) / 2
    rate = ca.vertcat(v, spin, normal * force / MASS - GRAVITY * n, omega_rate)
    return ca.Function("sliding", [y], [rate, normal, slip[:2], y[2] + STEM_AT * u[2] - STEM])


def start():
    state = tippe_top().build().start
    return np.concatenate([state.q, state.v])


def axis(run):
    """Cosine of the angle between the top's axis and the vertical."""
    return np.array([matrix(q[3:])[2, 2] for q in run.q.array])


@pytest.mark.slow
@pytest.mark.parametrize("t_end", [3.0, 12.0])
def test_sliding_has_the_known_motion(t_end):
    """Integrated at 1e-12. The slip comes down to 0.4 mm/s but never vanishes, and the stem stays clear."""
    path = solve_ivp(
        lambda t, y: sliding()(y)[0].full().ravel(), (0.0, t_end), start(), "DOP853", rtol=1e-12, atol=1e-14,
        max_step=0.01, dense_output=True,
    )  # fmt: skip
    _, normal, slip, stem = (one.full() for one in sliding().map(len(path.t))(path.y))
    assert np.min(np.linalg.norm(slip, axis=0)) > 3e-4 and np.min(normal) > 0.0 and np.min(stem) > 0.0
    for t, (place, omega) in REFERENCE.items():
        if t <= t_end:
            y = path.y[:, -1] if t == t_end else path.sol(t)
            assert y[:3] == pytest.approx(place, abs=5e-9)
            assert y[10:] == pytest.approx(omega, abs=1e-6)


@pytest.mark.parametrize("t_end", REFERENCE)
def test_a_fine_run_moves_as_known(t_end):
    """Spin and nutation have turned by some 1000 rad: 1e-12 of a step becomes 1e-9 m and 1e-7 rad/s."""
    end = simulate(tippe_top().build(), ACCURATE, t_end=t_end, dt=FINE).end
    place, omega = REFERENCE[t_end]
    assert end.q[:3] == pytest.approx(place, abs=2e-9)
    assert end.v[3:] == pytest.approx(omega, abs=2e-7)


@pytest.mark.parametrize("t_end", REFERENCE)
def test_the_verdict_of_the_default_call_is_right(t_end):
    """The error that it states, as a share of the contact's size of 1 cm, bounds the one against the reference."""
    run = simulate(tippe_top().build(), t_end=t_end)
    assert run.verdict.kind == "accurate" and run.verdict.horizon == np.inf
    assert np.max(np.abs(run.end.q[:3] - REFERENCE[t_end][0])) < run.verdict.position * 0.01


def test_it_turns_over_onto_its_stem():
    """The stem touches at 12.71 s, the head leaves the plane at 13.0 s, and it spins on its stem within 0.05 rad."""
    run = simulate(tippe_top().build(), t_end=16.0)
    assert run.verdict.kind == "accurate"
    touched = run.t[np.flatnonzero(run.gap["stem"] < 1e-12)[0]]
    assert touched == pytest.approx(12.7119082, abs=1e-5)  # of the sliding that is integrated above
    assert axis(run)[[0, -1]] == pytest.approx([np.cos(0.3), -1.0], abs=2e-3)
    assert run.q["top.z"][-1] == pytest.approx(STEM + STEM_AT, abs=2e-5)
    assert (
        run.gap["head"][-1] == pytest.approx(STEM + STEM_AT - HEAD_AT - HEAD, abs=2e-5) and run.lam_N["head"][-1] == 0.0
    )


def test_it_conserves_the_invariant_of_jellett():
    """Any force at the head's contact point has no moment about the line to its centre: J omega . (a u - R n) stays."""
    run = simulate(tippe_top().build(), ACCURATE, t_end=12.0, dt=FINE)
    normal = np.array([matrix(q[3:])[2] for q in run.q.array])
    arm = HEAD_AT * np.array([0.0, 0.0, 1.0]) - HEAD * normal
    invariant = np.sum(np.array(INERTIA) * run.v.array[:, 3:] * arm, axis=1)
    assert invariant == pytest.approx(np.full(len(invariant), invariant[0]), rel=1e-9)


def test_with_the_friction_of_the_paper_a_point_rolls_and_stays_upright():
    run = simulate(tippe_top(contact=Rigid(restitution=0.0, friction=0.3), tilt=0.1).build(), t_end=3.0)
    slip = [
        np.linalg.norm(sliding()(np.concatenate([q, v]))[2].full())
        for q, v in zip(run.q.array, run.v.array, strict=True)
    ]
    assert np.max(np.array(slip)[run.t > 0.1]) < 1e-10
    assert np.min(axis(run)[run.t > 0.1]) > 0.99


def test_bad_values_are_named():
    with pytest.raises(InputError, match="spin must be a finite number, got nan"):
        tippe_top(spin=float("nan"))
    with pytest.raises(InputError, match="tilt must be a finite number, got inf"):
        tippe_top(tilt=float("inf"))
