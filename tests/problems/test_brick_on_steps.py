"""The brick on steps: a pendulum about the first edge until it slips, and at rest in the end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from nonsmooth import Compliant, ErrorControl, EventDriven, InputError, MoreauJean, simulate
from nonsmooth.diagnostics.modes import CONTACT_MODES
from nonsmooth.laws import Flores, RegularisedCoulomb
from nonsmooth_problems import brick_on_steps
from nonsmooth_problems.brick_on_steps import GRAVITY, HEIGHT, INERTIA, MASS, OVERHANG, WIDTH

HALF = HEIGHT / 2
#: moment of inertia about the edge
ABOUT = INERTIA + MASS * (OVERHANG**2 + HALF**2)


def turning(angle):
    """Angular acceleration, and the square of the angular velocity, of a brick that tips over the edge by an angle."""
    moment = MASS * GRAVITY * (OVERHANG * np.cos(angle) + HALF * np.sin(angle))
    fallen = MASS * GRAVITY * (OVERHANG * np.sin(angle) + HALF * (1.0 - np.cos(angle)))
    return moment / ABOUT, 2.0 * fallen / ABOUT


def forces(angle):
    """Of the edge on the brick, along its face and normal to it."""
    faster, squared = turning(angle)
    along = faster * HALF - squared * OVERHANG - GRAVITY * np.sin(angle)
    normal = -faster * OVERHANG - squared * HALF + GRAVITY * np.cos(angle)
    return MASS * along, MASS * normal


def test_it_tips_over_the_edge_as_a_pendulum_until_it_slips():
    slips = brentq(lambda angle: abs(forces(angle)[0]) - 0.8 * forces(angle)[1], 0.1, 1.2)
    run = simulate(brick_on_steps().build(), EventDriven(order="dop853"), t_end=0.25, dt=ErrorControl(1e-11, 1e-13))
    angle = -run.q["brick.angle"]
    sticks = angle < slips
    t = run.t[sticks]
    assert t.size > 50 and angle.max() > slips
    exact = solve_ivp(
        lambda _, y: [y[1], turning(y[0])[0]], (0.0, t[-1]), [0.0, 0.0], "DOP853", t, rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(angle[sticks], exact.y[0], atol=1e-9)
    # forces are means of the step before a row
    along, normal = forces((angle[sticks][1:] + angle[sticks][:-1]) / 2)
    np.testing.assert_allclose(run.lam_N["edge1"][sticks][1:], normal, rtol=1e-6)
    pulled = np.abs(run.P_T["edge1"][sticks][1:]) / np.diff(t)
    np.testing.assert_allclose(pulled, abs(along), rtol=1e-6, atol=1e-6)
    modes = run.mode["edge1"]
    assert set(modes[sticks][1:]) == {CONTACT_MODES.index("stick")} and CONTACT_MODES.index("slip") in modes[~sticks]


def test_it_comes_to_rest_on_a_step():
    run = simulate(brick_on_steps().build(), t_end=1.5)
    assert run.verdict.kind == "accurate" and np.min(run.gap.array) > -1e-12
    assert np.max(np.abs(run.v.array[-1])) < 1e-9
    # on its short side, on the second step
    assert run.q["brick.angle"][-1] == pytest.approx(-np.pi / 2, abs=1e-9)
    assert run.q["brick.y"][-1] == pytest.approx(WIDTH / 2 - 0.1, abs=1e-9)
    stepped = simulate(brick_on_steps().build(), MoreauJean(), t_end=1.5, dt=1e-4)
    assert stepped.q["brick.x"][-1] == pytest.approx(run.q["brick.x"][-1], abs=1e-4)


def test_it_stays_where_its_centre_is_supported():
    run = simulate(brick_on_steps(overhang=-0.01).build(), t_end=0.5)
    np.testing.assert_allclose(run.q.array, np.broadcast_to(run.q.array[0], run.q.array.shape), atol=1e-12)
    with pytest.raises(InputError, match="overhang must lie between -0.1 and 0.1 m, got 0.2"):
        brick_on_steps(overhang=0.2)


@pytest.mark.slow
def test_compliant_contact_lets_it_tip_alike():
    """As a pendulum, before it slips, but for the 4e-6 m by which the edge yields first."""
    law = Compliant(Flores(stiffness=1e9, restitution=0.1), RegularisedCoulomb(friction=0.8, slip_speed=1e-4))
    run = simulate(brick_on_steps(contact=law).build(), t_end=0.15)
    exact = solve_ivp(lambda _, y: [y[1], turning(y[0])[0]], (0.0, 0.15), [0.0, 0.0], rtol=1e-10, atol=1e-12)
    assert run.verdict.kind == "accurate"
    assert -run.q["brick.angle"][-1] == pytest.approx(exact.y[0, -1], rel=2e-2)
