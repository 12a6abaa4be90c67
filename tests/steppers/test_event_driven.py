"""The event-driven stepper: landings, accumulation, friction, restart, and what it refuses."""

import dataclasses

import casadi as ca
import numpy as np
import pytest
from loops import some

from nonsmooth import (
    ActiveSet,
    CirclePlane,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    Gravity,
    Ground,
    InputError,
    IpoptMPCC,
    Landing,
    Model,
    PlanarBody,
    PointForce,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Ramp,
    Revolute,
    RevoluteClearance,
    Rigid,
    SimulationFailed,
    SpatialBody,
    simulate,
)
from nonsmooth.schemes.event_driven.tolerances import ORDERS
from nonsmooth.step import runge_kutta
from nonsmooth.step.control import step_control
from nonsmooth.step.integration_fields import ALL, INNER, ORDER
from nonsmooth_problems import block_on_incline, slider_rod, stick_slip_oscillator

C, G = 1e-5, 9.81
FINE = ErrorControl(rtol=1e-10, atol=1e-12, dt_min=1e-6, dt_max=0.05)


@pytest.mark.parametrize("method", [0, 1], ids=ORDERS)
def test_tableaus_meet_their_order_conditions(method):
    """The conditions sum_i b_i c_i^(k-1) = 1/k and the sums of rows; an error estimate vanishes on constants."""
    A, C, stages = runge_kutta.A[method], runge_kutta.C[method], ALL[method]
    for k in range(1, ORDER[method] + 1):
        assert A[INNER[method]] @ C ** (k - 1) == pytest.approx(1 / k, rel=1e-14)
    assert np.allclose(A.sum(axis=1)[:stages], C[:stages], rtol=0, atol=1e-14)
    assert all(abs(A[row].sum()) <= 1e-14 for row in (runge_kutta.FIRST, runge_kutta.SECOND))


# ------------------------------------------------------------------------------------------------------------ landings


def ball(restitution, radius=0.1, height=0.9):
    body = PlanarBody("ball", mass=2.0, inertia=1e-2, position=(0.0, radius + height))
    floor = CirclePlane("floor", "ground", body, radius=radius, contact=Rigid(restitution=restitution, friction=0.0))
    return Model([Ground(), body, floor, Gravity(acceleration=(0.0, -G))]).build()


@pytest.mark.parametrize("order", ORDERS)
def test_bouncing_ball(order):
    """Impact times in closed form; the accumulation at 8.1387 s passed, then rest under the weight."""
    e, height, dt_min = 0.9, 0.9, 1e-6
    trajectory = simulate(ball(e), EventDriven(order=order), t_end=9.0, dt=ErrorControl(1e-9, 1e-11, dt_min, 0.5))
    fall = np.sqrt(2 * height / G)
    k = np.arange(len(trajectory.impacts))
    assert np.allclose(trajectory.impacts["t"], fall * (1 + 2 * e * (1 - e**k) / (1 - e)), rtol=1e-12, atol=0)
    end = fall * (1 + e) / (1 - e)
    assert 0 < end - trajectory.impacts["t"][-1] <= 2 * dt_min / (1 - e)
    assert trajectory.lam_N["floor"][-1] == pytest.approx(2.0 * G, rel=1e-14)
    assert trajectory.mode["floor"][-1] == 1 and trajectory.v["ball.y"][-1] == pytest.approx(0.0, abs=1e-15)
    c = trajectory.certificate
    assert max(c.gap_violation, c.complementarity, c.motion_residual) <= 1e-12
    assert abs(c.energy.remainder) <= 1e-11


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("e", [0.0, 0.5])
@pytest.mark.parametrize("case", some([1, 2, 3], 3))
def test_slider_rod(case, e, order):
    contact = Rigid(restitution=e, friction=0.0)
    system = slider_rod(case=case, contact=contact).build()
    control = ErrorControl(rtol=1e-11, atol=1e-16, dt_min=1e-8, dt_max=1e-3)
    trajectory = simulate(system, EventDriven(order=order), t_end=0.02, dt=control)
    exact = slider_rod.exact(case=case, contact=contact)
    sample = exact.sample(trajectory.t)
    for name, scale in (("slider.x", C), ("slider.y", C), ("slider.angle", C / 0.01)):
        assert np.max(np.abs(trajectory.q[name] - sample.q[name])) <= 1e-9 * scale, name
    for name, force in exact.rest_force.items():
        assert trajectory.lam_N[name][-1] == pytest.approx(force, abs=1e-8)
    c = trajectory.certificate
    assert c.gap_violation <= 1e-12 and c.motion_residual <= 1e-12
    assert trajectory.counts["fallbacks"] == trajectory.counts["shortened"] == 0


@pytest.mark.parametrize("dt_min", [1e-6, 1e-9])
def test_bounces_end_whatever_counts_as_one(dt_min):
    """Also where dt_min asks for rebounds lower than the round-off of positions."""
    contact = Rigid(restitution=0.5, friction=0.0)
    control = ErrorControl(rtol=1e-10, atol=1e-15, dt_min=dt_min, dt_max=1e-3)
    trajectory = simulate(slider_rod(case=2, contact=contact).build(), EventDriven(), t_end=0.02, dt=control)
    exact = slider_rod.exact(case=2, contact=contact)
    assert trajectory.impacts["t"][-1] == pytest.approx(exact.rest_time, abs=4 * dt_min + 1e-7)
    assert trajectory.counts["steps"] < 130


def test_a_start_that_strikes_begins_with_its_impact():
    system = slider_rod(case=1).build()
    start = system.state({"slider.y": -C}, velocities={"slider.y": -0.02})
    trajectory = simulate(system, EventDriven(), t_end=1e-3, dt=FINE, state=start)
    assert trajectory.left.v["slider.y"][0] == -0.02
    assert trajectory.v["slider.y"][0] == pytest.approx(0.0, abs=1e-17)
    assert trajectory.P_N["guide.left_lower"][0] == pytest.approx(5 * 0.02 / 2, rel=1e-12)


# ------------------------------------------------------------------------------------------------------------ friction


@pytest.mark.parametrize(
    "settings", [{}, {"angle": 0.5}, {"speed": 0.0}, {"speed": -1.0}, {"angle": 0.0}], ids=lambda s: str(s or "default")
)
def test_block_on_incline(settings):
    """Slides, stops, and sticks or turns; both corners stick, which leaves their shares open."""
    trajectory = simulate(block_on_incline(**settings).build(), EventDriven(), t_end=0.6, dt=FINE)
    sample = block_on_incline.exact(**settings).sample(trajectory.t)
    for name in sample.q:
        assert np.max(np.abs(trajectory.q[name] - sample.q[name])) <= 1e-14, name
    for name in sample.v:
        assert np.max(np.abs(trajectory.v[name] - sample.v[name])) <= 1e-13, name
    assert trajectory.certificate.gap_violation <= 1e-15 and trajectory.certificate.motion_residual <= 1e-12
    assert trajectory.certificate.energy.remainder == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("settings", [{}, {"stretch": 0.2}, {"belt_speed": 0.0, "stretch": 0.2}], ids=str)
@pytest.mark.parametrize("order", ORDERS)
def test_stick_slip_oscillator(order, settings):
    """Reversals, riding, breaking away of two corners that share one slip, and the touch of zero slip once a period."""
    trajectory = simulate(stick_slip_oscillator(**settings).build(), EventDriven(order=order), t_end=3.0, dt=FINE)
    sample = stick_slip_oscillator.exact(**settings).sample(trajectory.t)
    assert np.max(np.abs(trajectory.q["block.x"] - sample.q["block.x"])) <= 1e-9
    assert np.max(np.abs(trajectory.v["block.x"] - sample.v["block.x"])) <= 1e-8
    assert trajectory.certificate.joint_violation <= 1e-12
    assert abs(trajectory.certificate.energy.remainder) <= 1e-9


def test_a_jammed_slider_slides_by_coulombs_law():
    """Case 3 with mu = 0.1: v_x = (50 - 2 mu 25)/5 t, 25 N at each of two corners."""
    system = slider_rod(case=3, contact=Rigid(restitution=0.0, friction=0.1)).build()
    trajectory = simulate(system, EventDriven(), t_end=0.1, dt=ErrorControl(1e-10, 1e-14, 1e-6, 1e-2))
    names = ("guide.left_upper", "guide.right_lower")
    assert {trajectory.mode[name][-1] for name in names} == {3}
    force = trajectory.lam_N[names[0]][-1] + trajectory.lam_N[names[1]][-1]
    assert trajectory.v["slider.x"][-1] == pytest.approx(0.9, abs=2e-3)  # the angle at rest is asin(c/a)
    assert force == pytest.approx(50.0, abs=1e-2)


# ------------------------------------------------------------------------------------------------- mechanisms at large


def test_a_spatial_body_tumbles():
    body = SpatialBody("top", mass=1.0, inertia=(1e-3, 2e-3, 3e-3), angular_velocity=(0.1, 20.0, 0.1))
    system = Model([Ground(), body, Gravity(acceleration=(0.0, 0.0, -G))]).build()
    trajectory = simulate(system, EventDriven(order="dop853"), t_end=2.0, dt=ErrorControl(1e-11, 1e-12, 1e-6, 0.1))
    quaternion = np.column_stack([trajectory.q[f"top.q{x}"] for x in "wxyz"])
    assert np.allclose(np.linalg.norm(quaternion, axis=1), 1.0, rtol=0, atol=1e-15)
    assert trajectory.q["top.z"][-1] == pytest.approx(-G / 2 * 4.0, rel=1e-13)
    assert abs(trajectory.certificate.energy.remainder) <= 1e-10


def driven(friction):
    contact = Rigid(restitution=0.5, friction=friction)
    bodies = [
        PlanarBody(name, mass=1.0, inertia=1e-2, position=(x, 0.0))
        for name, x in (("crank", 0.1), ("rod", 0.35), ("slider", 0.5))
    ]
    joints = [
        Revolute("main", "ground", "crank", at_b=(-0.1, 0.0)),
        Revolute("knee", "crank", "rod", at_a=(0.1, 0.0), at_b=(-0.15, 0.0)),
        RevoluteClearance("pin", "rod", "slider", at_a=(0.15, 0.0), clearance=5e-4, radius=0.01, contact=contact),
        Prismatic("guide", "ground", "slider"),
        PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: 20.0 * t),
    ]
    return Model([Ground(), *bodies, *joints]).build(assemble=True)


@pytest.mark.parametrize("friction", [0.0, 0.1])
def test_a_driven_slider_crank_with_a_loose_pin(friction):
    """Joints, a driver, a curved gap; energy balances with the work of the driver and of friction."""
    system = driven(friction)
    trajectory = simulate(system, EventDriven(order="dop853"), t_end=0.1, dt=ErrorControl(1e-10, 1e-12, 1e-6, 5e-3))
    c = trajectory.certificate
    assert max(c.gap_violation, c.joint_violation, c.motion_residual) <= 1e-12
    assert abs(c.energy.remainder) <= 1e-8 and (c.energy.loss_friction > 0) == (friction > 0)
    assert c.energy.loss_impacts > 0 and abs(c.energy.work_drivers) > 1


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_chain_falls(loose_chain, e):
    """With a window of 1 ms a journal of the window is brought to its wall, and others may not be run into theirs."""
    system = loose_chain(3, contact=Rigid(restitution=e, friction=0.0))
    trajectory = simulate(system, EventDriven(), t_end=0.4, dt=ErrorControl(1e-8, 1e-10, 1e-3, 1e-2))
    c = trajectory.certificate
    assert c.gap_violation <= 1e-12 and c.motion_residual <= 1e-12
    assert c.energy.loss_impacts > 0


# ------------------------------------------------------------------------------------------------------------ refusals


def test_error_control_is_a_value_that_is_kept():
    assert step_control(FINE) is FINE
    assert FINE == ErrorControl(1e-10, 1e-12, 1e-6, 0.05) and hash(FINE) == hash(ErrorControl(1e-10, 1e-12, 1e-6, 0.05))
    assert FINE.next_time(0.3, 0.0, 1.0) == 0.35 and FINE.next_time(0.98, 0.0, 1.0) == 1.0


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0.0, 1e-9, 1e-6, 1e-3), "rtol must be a number from 1e-14 to below 1, got 0.0"),
        ((1e-15, 1e-9, 1e-6, 1e-3), "rtol must be a number from 1e-14"),
        (("1e-7", 1e-9, 1e-6, 1e-3), 'rtol "1e-7" is a number in quotes; write 1e-7 without them'),
        ((1e-7, -1.0, 1e-6, 1e-3), "atol must be a positive number in SI units, .* got -1.0"),
        ((1e-7, 1e-9, 0.0, 1e-3), "dt_min must be a positive number of seconds, got 0.0"),
        ((1e-7, 1e-9, 1e-3, 1e-6), "dt_min must not exceed dt_max"),
    ],
)
def test_error_control_refuses(numbers, message):
    with pytest.raises(InputError, match=f"ErrorControl: {message}"):
        ErrorControl(*numbers)


@pytest.mark.parametrize(
    ("stepper", "dt", "message"),
    [
        (EventDriven(), 1e-3, r"EventDriven requires dt=ErrorControl\(rtol, atol, dt_min, dt_max\), got ConstantStep"),
        (EventDriven(), Landing(1e-6, 1e-3), "EventDriven requires dt=ErrorControl"),
        (
            GaussMPCC(),
            FINE,
            r"GaussMPCC takes dt as a number of seconds or Landing\(dt_min, dt_max\), got ErrorControl",
        ),
        (GaussQP(), FINE, "GaussQP takes dt as a number"),
        (EventDriven(solver=IpoptMPCC()), FINE, r"programs that IpoptMPCC\(.*\) does not solve: it solves no LCP"),
    ],
)
def test_each_stepper_says_what_it_takes(stepper, dt, message):
    with pytest.raises(InputError, match=message):
        simulate(slider_rod(case=1).build(), stepper, t_end=0.01, dt=dt)


def test_settings_are_checked():
    with pytest.raises(InputError, match="order must be one of dopri5, dop853, got 'rk4'"):
        EventDriven(order="rk4")
    with pytest.raises(InputError, match="simultaneity must be a time >= 0"):
        EventDriven(simultaneity=-1.0)


def test_rules_are_in_the_manifest():
    trajectory = simulate(slider_rod(case=1).build(), EventDriven(solver=ActiveSet()), t_end=1e-3, dt=FINE)
    rules = trajectory.manifest["rules"]
    assert rules["simultaneity window [s]"] == 1e-6
    assert "flight below 1e-06 s" in rules["rebound treated as rest"]
    trajectory = simulate(slider_rod(case=1).build(), EventDriven(simultaneity=0.0), t_end=1e-3, dt=FINE)
    assert trajectory.manifest["rules"]["simultaneity window [s]"] == 0.0


def test_a_tolerance_that_no_step_meets_is_named():
    body = PlanarBody("body", mass=1.0, inertia=1.0)
    load = PointForce("load", body, force=lambda t: ca.vertcat(ca.sqrt(1e-3 - t), 0.0))
    system = Model([Ground(), body, load]).build()
    with pytest.raises(SimulationFailed, match="from t = 0.001 s, failed: the applied .* check the loads.$") as failed:
        simulate(system, EventDriven(), t_end=1.0, dt=ErrorControl(1e-8, 1e-10, 1e-6, 0.1))
    assert failed.value.trajectory.t[-1] == pytest.approx(1e-3, abs=1e-9)


def test_a_run_that_does_not_get_on_is_stopped():
    """By a load that changes sign a million times within the shortest flight."""
    body = PlanarBody("body", mass=1.0, inertia=1.0)
    load = PointForce("load", body, force=lambda t: ca.vertcat(1e6 * ca.sin(1e9 * t), 0.0))
    system = Model([Ground(), body, load]).build()
    with pytest.raises(SimulationFailed, match="no progress: 100000 steps within dt_min = 0.01 s. Larger rtol"):
        simulate(system, EventDriven(), t_end=0.1, dt=ErrorControl(1e-8, 1e-12, 1e-2, 1e-2))


@pytest.mark.parametrize("dt_max", [1e-3, 3e-4])
def test_a_release_where_every_acceleration_vanishes(dt_max):
    """A plate under a ball, without weight, driven up and slowed down again: it lets go where its motion turns, at
    cos = 0; nothing tells then what acceleration is small but the size of the contact."""
    model = Model(name="plate")
    ground = model.add(Ground("frame"))
    plate = model.add(PlanarBody("plate", mass=1.0, inertia=1e-3))
    ball = model.add(PlanarBody("ball", mass=0.5, inertia=1e-3))
    model.add(Prismatic("guide", ground, plate, direction=np.pi / 2))
    model.add(PrescribedMotion("drive", ground, plate, coordinate="y", motion=lambda t: 0.05 * (1 - ca.cos(30 * t))))
    model.add(PointPlane("top", plate, ball, contact=Rigid(restitution=0.3, friction=0.0)))
    run = simulate(model.build(), EventDriven(), t_end=0.1, dt=ErrorControl(1e-7, 1e-9, 1e-6, dt_max))
    assert run.v["ball.y"][-1] == pytest.approx(0.05 * 30, rel=1e-9)  # thrown at the plate's greatest speed
    released = run.t[1:][np.diff(run.mode["top"]) < 0]
    assert released[-1] == pytest.approx(np.pi / 60, abs=1e-6)


def test_a_lift_off_that_is_found_earlier_than_located_is_located():
    """A journal that is about to lift off, late in a run over 20 s, from states that differ in their last digits: the
    step that ends where its force vanishes finds the same event a little earlier, and locates it where it was. Of 400
    such states 48 failed, and were repeated with parts of their step."""
    a, b = 0.05, 0.12
    crank = PlanarBody("crank", mass=0.3, inertia=1e-4)
    rod = PlanarBody("rod", mass=0.21, inertia=2.5e-4)
    piston = PlanarBody("piston", mass=0.14, inertia=5e-5)
    contact = Rigid(restitution=0.5, friction=0.0)
    pin = RevoluteClearance("pin", crank, rod, at_a=(a / 2, 0.0), at_b=(-b / 2, 0.0), clearance=2e-4, contact=contact)
    joints = [
        Revolute("main", "ground", crank, at_b=(-a / 2, 0.0)), pin, Revolute("wrist", rod, piston, at_a=(b / 2, 0.0)),
        Prismatic("bore", "ground", piston),
        PrescribedMotion("motor", "ground", crank, coordinate="angle", motion=lambda t: 100.0 * t),
    ]  # fmt: skip
    system = Model([Ground(), crank, rod, piston, *joints, Gravity(acceleration=(0.0, -9.81))]).build(
        assemble="centred"
    )
    q = [
        0.01355683086807939, 0.021005055030022885, 1464.979832564544, 0.08349096047787331, 0.020938575283165742,
        -0.35647845685198654, 0.13971885449064247, 0.0, 0.0,
    ]  # fmt: skip
    v = [
        -2.1005055030022883, 1.3556830868079393, 100.0, -4.7489784412298945, 1.3250410245850837, -23.565546031017487,
        -5.242407400889261, 0.0, 0.0,
    ]  # fmt: skip
    for seed in range(12):
        change = 1 + 1e-15 * np.random.default_rng(seed).normal(size=9)
        state = dataclasses.replace(system.start, t=14.64979832564544, q=np.array(q), v=v * change)
        run = simulate(system, EventDriven(), t_end=14.8, dt=ErrorControl(1e-6, 1e-8, 1e-6, 0.024), state=state)
        assert run.status == "finished" and run.counts["shortened"] == 0
        assert run.certificate.gap_violation < 1e-12


@pytest.mark.parametrize(("rtol", "atol", "dt_max"), [(1e-5, 1e-7, 0.026), (1e-6, 1e-8, 0.0156)])
def test_a_force_that_vanishes_at_late_times(rtol, atol, dt_max):
    """Its normal has the round-off of positions relative to the clearance, and its time the last digit of 12 s."""
    law = Rigid(restitution=0.4, friction=0.0)
    elements = [
        Ground(),
        PlanarBody("crank", mass=0.25, inertia=9e-5, position=(0.02, 0.0)),
        PlanarBody("rod", mass=0.18, inertia=2.2e-4, position=(0.095, 0.0)),
        PlanarBody("piston", mass=0.32, inertia=6e-5, position=(0.15, 0.0)),
        Revolute("main", "ground", "crank", at_b=(-0.02, 0.0)),
        RevoluteClearance("pin", "crank", "rod", at_a=(0.02, 0.0), at_b=(-0.055, 0.0), clearance=1.5e-4, contact=law),
        Revolute("wrist", "rod", "piston", at_a=(0.055, 0.0)),
        Prismatic("bore", "ground", "piston"),
        PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=Ramp(94.25)),
        Gravity(acceleration=(0.0, -9.81)),
    ]
    control = ErrorControl(rtol, atol, 1e-6, dt_max)
    run = simulate(Model(elements).build(assemble="centred"), EventDriven(), t_end=13.0, dt=control)
    assert run.status == "finished"
