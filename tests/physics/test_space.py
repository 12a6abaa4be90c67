"""Bodies and Coulomb friction in space: tops, balls, blocks and cubes against closed forms and finer integrations."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from loops import some
from scipy.integrate import solve_ivp

from nonsmooth import (
    BoxPlane,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    MoreauJean,
    PointPlane,
    Rigid,
    SpatialBody,
    SpherePlane,
    simulate,
)

G = 9.81
ACCURATE = EventDriven(order="dop853")
TIGHT = ErrorControl(rtol=1e-12, atol=1e-12, dt_min=1e-7, dt_max=0.1)
RIGID = {
    "moreau-jean": (MoreauJean(), 1e-3),
    "generalized-alpha": (GeneralizedAlpha(), 1e-3),
    "gauss-qp": (GaussQP(), 1e-3),
    "gauss-qp, landing": (GaussQP(), Landing(1e-6, 1e-3)),
    "gauss-mpcc": (GaussMPCC(), 1e-3),
    "gauss-mpcc, landing": (GaussMPCC(), Landing(1e-6, 1e-3)),
    "event-driven": (ACCURATE, ErrorControl(1e-10, 1e-12, 1e-7, 1e-2)),
}

# ------------------------------------------------------------------------------------------------------------ free tops

INERTIA, SPIN = np.array([1e-3, 2e-3, 3e-3]), np.array([3.0, 5.0, -2.0])


def free_top(inertia=INERTIA):
    body = SpatialBody("top", mass=1.0, inertia=tuple(inertia), angular_velocity=tuple(SPIN))
    return Model([Ground(), body]).build()


def eulers_equations(t):
    """Quaternion of the asymmetric top at t, by its own equations at 1e-13."""

    def rates(_, y):
        (w, x, y_, z), omega = y[:4], y[4:]
        E = np.array([[-x, -y_, -z], [w, -z, y_], [z, w, -x], [-y_, x, w]])
        return np.concatenate([E @ omega / 2, -np.cross(omega, INERTIA * omega) / INERTIA])

    start = np.concatenate([[1.0, 0.0, 0.0, 0.0], SPIN])
    return solve_ivp(rates, (0.0, t), start, method="DOP853", rtol=3e-14, atol=1e-15).y[:4, -1]


def angular_momentum(run, inertia=INERTIA):
    """In the ground frame (n, 3)."""
    w, x, y, z = (run.q[f"top.q{axis}"] for axis in "wxyz")
    local = np.array([run.v[f"top.w{axis}"] for axis in "xyz"]) * np.array(inertia)[:, None]
    axis = np.array([x, y, z])
    twice = 2 * np.cross(axis, local, axis=0)
    return (local + w * twice + np.cross(axis, twice, axis=0)).T


@pytest.mark.parametrize(
    ("stepper", "control", "order"),
    [
        (MoreauJean(), float, 2),
        (GeneralizedAlpha(), float, 2),
        (GaussQP(), lambda dt: Landing(1e-6, dt), 2),
        (GaussMPCC(), lambda dt: Landing(1e-6, dt), 2),
        (GaussQP(), float, 1),
        (GaussMPCC(), float, 1),
    ],
)
def test_orders_on_the_asymmetric_top(stepper, control, order):
    """By halving the step; at these steps the observed order differs from the limit by 0.02 at most."""
    exact = eulers_equations(0.5)
    errors = []
    for dt in (4e-3, 2e-3):
        run = simulate(free_top(), stepper, t_end=0.5, dt=control(dt))
        errors.append(np.max(np.abs(run.q.array[-1, 3:] - exact)))
        assert np.max(np.abs(np.linalg.norm(run.q.array[:, 3:], axis=1) - 1.0)) <= 1e-12
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.03)


@pytest.mark.parametrize("inertia", [INERTIA, np.array([2e-3, 2e-3, 3e-3])], ids=["asymmetric", "symmetric"])
def test_moreau_jean_keeps_the_energy_of_free_tops(inertia):
    """100 turns: the midpoint rule keeps quadratic invariants, up to round-off of 2e4 steps; the direction of the
    angular momentum is that of the scheme, of second order."""
    run = simulate(free_top(inertia), MoreauJean(), t_end=100 * 2 * math.pi / np.linalg.norm(SPIN), dt=5e-3)
    energy = run.energy["kinetic"]
    assert np.max(np.abs(energy / energy[0] - 1.0)) <= 1e-10
    momentum = angular_momentum(run, inertia)
    size = np.linalg.norm(momentum, axis=1)
    assert np.max(np.abs(size / size[0] - 1.0)) <= 1e-3


@pytest.mark.slow
def test_event_driven_keeps_energy_and_momentum_of_a_free_top():
    run = simulate(free_top(), ACCURATE, t_end=100 * 2 * math.pi / np.linalg.norm(SPIN), dt=TIGHT)
    energy, momentum = run.energy["kinetic"], angular_momentum(run)
    assert np.max(np.abs(energy / energy[0] - 1.0)) <= 1e-9
    assert np.max(np.abs(momentum - momentum[0])) <= 1e-9 * np.linalg.norm(momentum[0])


# ---------------------------------------------------------------------------------------------------------------- balls

RADIUS = 0.01
SOLID = (0.4 * RADIUS**2,) * 3


def ball(*, height=0.0, velocity, spin=(0.0, 0.0, 0.0), friction, restitution=0.0, impact="newton", gravity=G):
    """1 kg, above a floor at z = 0."""
    law = Rigid(restitution=restitution, friction=friction, impact=impact)
    body = SpatialBody(
        "ball", mass=1.0, inertia=SOLID, position=(0.0, 0.0, RADIUS + height), velocity=velocity, angular_velocity=spin
    )
    floor = SpherePlane("floor", "ground", "ball", radius=RADIUS, normal=(0, 0, 1), size=1e-3, contact=law)
    return Model([Ground(), body, floor, Gravity(acceleration=(0.0, 0.0, -gravity))]).build()


@pytest.mark.parametrize("name", some(RIGID, 2))
def test_a_sliding_ball_begins_to_roll(name):
    """After 2 v0 / (7 mu g), at 5/7 of its speed, in the direction of its slip, which is none of the axes."""
    stepper, control = RIGID[name]
    v0, mu = np.array([1.0, 0.5, 0.0]), 0.2
    run = simulate(ball(velocity=tuple(v0), friction=mu), stepper, t_end=0.3, dt=control)
    assert run.status == "finished" and run.certificate.motion_residual <= 1e-11
    assert run.certificate.complementarity <= 1e-11 and run.certificate.gap_violation <= 1e-12
    np.testing.assert_allclose(run.v.array[-1, :3], 5 / 7 * v0, atol=1e-10)
    rolls = 2 * np.linalg.norm(v0) / (7 * mu * G)
    first = run.t[np.flatnonzero(run.mode["floor"] == 2)[0]]
    # steps of constant length see it at the end of the step in which it happens
    assert first - rolls == pytest.approx(0.0, abs=1e-9) if name == "event-driven" else 0 <= first - rolls <= 1e-3
    sliding = (run.mode["floor"] == 3) & (run.t > 0) & (run.t < rolls - 2e-3)
    force = run.contact_force["floor"][sliding]
    expected = G * np.append(-mu * v0[:2] / np.linalg.norm(v0), 1.0)
    np.testing.assert_allclose(force, np.broadcast_to(expected, force.shape), atol=1e-9)


@pytest.mark.parametrize("impact", ["newton", pytest.param("poisson", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["moreau-jean", "gauss-qp, landing", "gauss-mpcc, landing", "event-driven"])
@pytest.mark.parametrize("friction", [0.05, 0.6], ids=["slips", "sticks"])
def test_an_oblique_impact_of_a_spinning_ball(name, friction, impact):
    """Closed form: with slip s at the contact and normal impulse N = (1 + e) m |v_z| the tangential one is that of
    sticking, 2/7 m s, or mu N where this is less. By Poisson's law a ball that sticks ends as by Newton's, since
    normal and tangential directions are not coupled."""
    stepper, control = RIGID[name]
    e, speed = 0.5, 0.7
    velocity, spin = np.array([0.3, -0.4, -speed]), np.array([20.0, 10.0, 5.0])
    height = 1e-3
    motion = {"height": height, "velocity": tuple(velocity), "spin": tuple(spin)}
    system = ball(**motion, friction=friction, restitution=e, impact=impact, gravity=0.0)
    run = simulate(system, stepper, t_end=4e-3, dt=control)
    assert len(run.impacts) == 1
    at = int(np.flatnonzero(run.t == run.impacts["t"][0])[0])
    before, after = run.left.v.array[at], run.v.array[at]
    arm = np.array([0.0, 0.0, -RADIUS])
    slip = (before[:3] + np.cross(spin, arm))[:2]
    N = (1 + e) * -before[2]
    T = -slip * min(2 / 7, friction * N / np.linalg.norm(slip))
    np.testing.assert_allclose(after[:3] - before[:3], [*T, N], atol=1e-10)


def test_laws_that_follow_the_slip_are_refused_in_space():
    system = ball(velocity=(0.0, 0.0, 0.0), friction=0.1, restitution=0.5, impact="stronge")
    for stepper, control in ((EventDriven(), TIGHT), (MoreauJean(), 1e-3), (GaussQP(), Landing(1e-6, 1e-3))):
        with pytest.raises(InputError, match=r"in the plane only.*'floor' is spatial; give it impact='newton'"):
            simulate(system, stepper, t_end=1e-2, dt=control)


# --------------------------------------------------------------------------------------------------------------- blocks


def test_a_block_that_is_pushed_across_an_incline():
    """At mu = tan(30 degrees) its path bends until it slides straight down at half its speed.

    The table is that of the reference solution at 0.2 s; v and x tend to v0/2 and 2 v0^2 / (3 g sin a).
    """
    angle, v0 = math.radians(30.0), 2.0
    block = SpatialBody("block", mass=1.0, inertia=(1e-3,) * 3, velocity=(v0, 0.0, 0.0))
    law = Rigid(restitution=0.0, friction=math.tan(angle))
    plane = PointPlane("plane", "ground", "block", normal=(0, 0, 1), at_a=(0, 0, 0), at_b=(0, 0, 0), contact=law)
    pull = Gravity(acceleration=(0.0, G * math.sin(angle), -G * math.cos(angle)))
    system = Model([Ground(), block, plane, pull]).build()
    run = simulate(system, ACCURATE, t_end=0.2, dt=TIGHT)
    np.testing.assert_allclose(run.q.array[-1, :2], [0.304405016906, 0.080527617536], atol=1e-11)
    np.testing.assert_allclose(run.v.array[-1, :2], [1.071145049, 0.713162071], atol=1e-9)
    late = simulate(system, EventDriven(), t_end=8.0, dt=ErrorControl(1e-9, 1e-11, 1e-6, 0.1))
    assert late.v["block.y"][-1] == pytest.approx(v0 / 2, abs=1e-6)
    assert late.q["block.x"][-1] == pytest.approx(2 * v0**2 / (3 * G * math.sin(angle)), abs=1e-6)
    errors = [
        abs(simulate(system, MoreauJean(), t_end=0.2, dt=dt).q["block.y"][-1] - run.q["block.y"][-1])
        for dt in (4e-3, 2e-3)
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.2)


def cube(*, tumbles, friction=0.3):
    """Half edge 0.1 m, 1 kg; slides with spin, or falls tumbling from 0.4 m."""
    motion = {"position": (0.0, 0.0, 0.4), "angular_velocity": (3.0, 2.0, 1.0)}
    if not tumbles:
        motion = {"position": (0.0, 0.0, 0.1), "angular_velocity": (0.0, 0.0, 2.0)}
    body = SpatialBody("cube", mass=1.0, inertia=(0.04 / 6,) * 3, velocity=(1.0, 0.3, 0.0), **motion)
    law = Rigid(restitution=0.0, friction=friction)
    floor = BoxPlane("floor", "ground", "cube", edges=(0.2, 0.2, 0.2), normal=(0, 0, 1), contact=law)
    return Model([Ground(), body, floor, Gravity(acceleration=(0.0, 0.0, -G))]).build()


@functools.cache
def end_of_cube(tumbles):
    """Where an accurate run has it."""
    run = simulate(cube(tumbles=tumbles), ACCURATE, t_end=0.3, dt=ErrorControl(1e-9, 1e-11, 1e-7, 1e-2))
    return run.q.array[-1, :3]


@pytest.mark.parametrize("name", some([name for name in RIGID if "mpcc" not in name], 3))
@pytest.mark.parametrize("tumbles", [False, True], ids=["slides", "tumbles"])
def test_a_cube_on_its_corners(name, tumbles):
    """Four redundant corners: the sum of their forces is the weight, the motion that of all steppers to 1 %; how the
    load is shared is not unique, and not looked at."""
    on_its_corners(name, tumbles)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "tumbles"),
    [("gauss-mpcc, landing", True), ("gauss-mpcc", True), ("gauss-mpcc", False), ("gauss-mpcc, landing", False)],
)
def test_a_cube_on_its_corners_by_ipopt(name, tumbles):
    on_its_corners(name, tumbles)


def on_its_corners(name, tumbles):
    """A run by a scheme, its certificate, forces and end."""
    stepper, control = RIGID[name]
    run = simulate(cube(tumbles=tumbles), stepper, t_end=0.3, dt=control)
    assert run.status == "finished" and run.counts["shortened"] == 0
    assert run.certificate.motion_residual <= 1e-11 and run.certificate.complementarity <= 1e-11
    np.testing.assert_allclose(run.q.array[-1, :3], end_of_cube(tumbles), atol=4e-3)
    if not tumbles:
        force = np.sum(run.contact_force.array[1:], axis=1)
        np.testing.assert_allclose(force[:, 2], G, atol=1e-7)
        slides = np.linalg.norm(run.v.array[1:, :2], axis=1) > 0.1
        assert np.max(np.linalg.norm(force[slides, :2], axis=1)) <= 0.3 * G * (1 + 1e-9)
