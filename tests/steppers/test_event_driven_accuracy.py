"""What an event-driven run states about itself: works, forces within steps, light bodies, default tolerances."""

from math import pi

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    CircleCircle,
    CirclePlane,
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    PlanarBody,
    PointForce,
    PointPlane,
    PrescribedMotion,
    PrismaticClearance,
    Revolute,
    RevoluteClearance,
    Rigid,
    SimulationFailed,
    Spring,
    Torque,
    simulate,
)
from nonsmooth.schemes.event_driven.steps import EventSteps
from nonsmooth_problems import crank_rocker, slider_crank_revolute

G = 9.81


def bar(torque, speed=None):
    """A bar of 1 kg and 1 m on a pin, under gravity and a torque; turned by a motor where a speed is given."""
    turning = {} if speed is None else {"velocity": (0.0, 0.5 * speed), "angular_velocity": speed}
    body = PlanarBody("bar", mass=1.0, inertia=0.25, position=(0.5, 0.0), **turning)
    elements = [Ground(), body, Revolute("pin", "ground", body, at_b=(-0.5, 0.0)), Gravity(acceleration=(0.0, -G))]
    if speed is not None:
        turn = PrescribedMotion("motor", "ground", body, coordinate="angle", motion=lambda t: speed * t)
        elements.append(turn)
    return Model([*elements, Torque("drive", body, torque=torque)]).build()


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-12])
def test_the_work_of_a_constant_torque_is_as_accurate_as_the_motion(rtol):
    """Its work is torque times angle: the remainder of the ledger is of the size of the true imbalance of energy."""
    trajectory = simulate(bar(5.0), EventDriven(order="dop853"), t_end=5.0, dt=ErrorControl(rtol, rtol / 10, 1e-6, 0.1))
    energy, angle = trajectory.energy["kinetic"] + trajectory.energy["potential"], trajectory.q["bar.angle"]
    imbalance = np.max(np.abs(energy - energy[0] - 5.0 * (angle - angle[0])))
    assert abs(trajectory.certificate.energy.remainder) <= 10 * imbalance + 1e-10
    # of the size of the tolerance, of 205 J that the torque does, over some hundred steps
    assert imbalance <= 1e3 * rtol * 205
    assert trajectory.energy["work_loads"][-1] == pytest.approx(5.0 * (angle[-1] - angle[0]), rel=1e3 * rtol)


def test_works_of_drivers_and_losses_in_friction_follow_the_same_rule():
    """A motor lifts the bar evenly; its work is m g times the height, through the tolerance of positions."""
    control = ErrorControl(1e-10, 1e-12, 1e-6, 1.0)
    trajectory = simulate(bar(0.0, speed=2.0), EventDriven(), t_end=3.0, dt=control)
    lifted = G * 0.5 * np.sin(2.0 * trajectory.t)
    assert np.max(np.abs(trajectory.energy["work_drivers"] - lifted)) <= 1e-8


def test_a_body_that_turns_lightly_takes_no_more_steps():
    """A bar whose inertia about its centre is 1e-10 of m r^2 swings like a point mass, at a tolerance of 1e-13."""
    steps = []
    for inertia in (1e-2, 1e-10):
        body = PlanarBody("bob", mass=1.0, inertia=inertia, position=(1.0, 0.0))
        pin = Revolute("pin", "ground", body, at_b=(-1.0, 0.0))
        system = Model([Ground(), body, pin, Gravity(acceleration=(0.0, -G))]).build()
        control = ErrorControl(1e-13, 1e-14, 1e-6, 1e-2)
        trajectory = simulate(system, EventDriven(order="dop853"), t_end=1.0, dt=control)
        steps.append(trajectory.counts["steps"])
        # energy of m r^2 + J at the end, from a start at rest at the height of the pin: round-off of 9.81 J in each of
        # a hundred steps
        assert abs(trajectory.certificate.energy.remainder) <= 4e-13
    assert steps[1] <= steps[0] + 5


R, D, L, W = 0.05, 0.2, 0.4, 4 * pi  # crank, distance of pivots, lever [m], speed [rad/s]


def quick_return(clearance=1e-4):
    """Loose slider in a rocking lever, loose crank pin, constant speed: contacts that part for a moment."""
    contact = Rigid(restitution=0.3, friction=0.1)
    wl, up = W * R / (R + D), {"angle": pi / 2}
    crank = {"position": (0, R / 2), "velocity": (-R / 2 * W, 0), "angular_velocity": W}
    lever = {"position": (0, L / 2 - D), "velocity": (-wl * L / 2, 0), "angular_velocity": wl}
    block = {"position": (0, R), "velocity": (-R * W, 0), "angular_velocity": wl}
    return Model(
        [
            Ground("frame"),
            PlanarBody("crank", mass=0.3, inertia=1e-4, **crank, **up),
            PlanarBody("lever", mass=1.0, inertia=L**2 / 12, **lever, **up),
            PlanarBody("block", mass=0.2, inertia=5e-5, **block, **up),
            Revolute("main", "frame", "crank", at_b=(-R / 2, 0)),
            Revolute("pivot", "frame", "lever", at_a=(0, -D), at_b=(-L / 2, 0)),
            PrescribedMotion("motor", "frame", "crank", coordinate="angle", motion=lambda t: pi / 2 + W * t),
            RevoluteClearance(
                "pin", "crank", "block", at_a=(R / 2, 0), clearance=clearance, radius=5e-3, contact=contact
            ),
            PrismaticClearance(
                "slot", "lever", "block", length=0.04, height=0.02, clearance=clearance, contact=contact
            ),
            Gravity(acceleration=(0, -G)),
        ]
    ).build()


@pytest.mark.slow
@pytest.mark.parametrize(("order", "rtol"), [("dopri5", 1e-7), ("dopri5", 1e-10), ("dop853", 1e-7), ("dop853", 1e-10)])
def test_no_release_is_missed_between_the_stages_of_a_step(order, rtol):
    """At 0.2558 s a corner of the block parts 0.4 ms after an event and would press again at the end of a long step."""
    control = ErrorControl(rtol, rtol / 100, 1e-6, 1e-3)
    trajectory = simulate(quick_return(), EventDriven(order=order), t_end=0.257, dt=control)
    assert trajectory.certificate.complementarity <= 1e-9
    # forces are means over steps, of about 4 N; a release is located to 1e-13 of that
    assert min(np.min(trajectory.lam_N[name]) for name in trajectory.lam_N) >= -1e-11
    assert trajectory.counts["shortened"] == 0


# ---------------------------------------------------------------------------------------------------------- piles, rest


def pile(rows, friction, radius=0.1, load=None):
    """Discs of 1 kg at rest in rows that narrow upwards, between walls: more contacts than a unique force allows."""
    contact = Rigid(restitution=0.0, friction=friction)
    places = [(row, i) for row in range(rows) for i in range(rows - row)]
    discs = {
        (row, i): PlanarBody(
            f"disc{row}{i}",
            mass=1.0,
            inertia=radius**2 / 2,
            position=(radius * (2 * i + row), radius * (1 + row * np.sqrt(3))),
        )
        for row, i in places
    }
    elements = [Ground(), *discs.values(), Gravity(acceleration=(0.0, -G))]
    elements += [CirclePlane(f"floor{i}", "ground", discs[0, i], radius=radius, contact=contact) for i in range(rows)]
    for row, i in places:
        for other in ((row, i + 1), (row + 1, i), (row + 1, i - 1)):
            if other in discs:
                name = f"{row}{i}-{other[0]}{other[1]}"
                pair = discs[row, i], discs[other]
                elements.append(CircleCircle(name, *pair, radius_a=radius, radius_b=radius, contact=contact))
    for name, i, x, side in (("left", 0, -radius, -1), ("right", rows - 1, radius * (2 * rows - 1), 1)):
        wall = {"at_a": (x, 0.0), "direction": side * pi / 2, "at_b": (side * radius, 0.0)}
        elements.append(PointPlane(name, "ground", discs[0, i], contact=contact, **wall))
    if load is not None:
        elements.append(PointForce("load", discs[rows - 1, 0], force=load))
    return Model(elements).build()


@pytest.mark.parametrize(("rows", "friction"), [(3, 0.5), (4, 0.5), (4, 0.0), (5, 0.5), (5, 0.2)])
def test_a_pile_rests_whatever_its_forces_are(rows, friction):
    """Forces are not unique, those reported balance the weight, press, and keep within their cones."""
    system, control = pile(rows, friction), ErrorControl(1e-8, 1e-10, 1e-6, 1e-2)
    trajectory = simulate(system, EventDriven(), t_end=1.0, dt=control)
    assert np.all(trajectory.q.array == trajectory.q.array[0])
    # a pile at rest is not evaluated again and again
    assert trajectory.counts["steps"] <= 101 and trajectory.counts["evaluations"] <= 10
    discs = rows * (rows + 1) // 2
    floor = sum(trajectory.contact_force[f"floor{i}"][-1, 1] for i in range(rows))
    walls = sum(trajectory.contact_force[name][-1, 1] for name in ("left", "right"))
    assert floor + walls == pytest.approx(discs * G, rel=1e-12)
    lam_N, P_N, P_T = trajectory.lam_N.array[-1], trajectory.P_N.array[-1], trajectory.P_T.array[-1]
    assert np.min(lam_N) >= -1e-12 * np.max(lam_N)
    # 1e-9 of the largest force is what a program is solved to
    assert np.all(np.abs(P_T) <= friction * P_N + 1e-9 * np.max(P_N))
    c = trajectory.certificate
    assert max(c.complementarity, c.motion_residual, c.gap_violation) <= 1e-12
    assert trajectory.counts["fallbacks"] == trajectory.counts["shortened"] == 0


@pytest.mark.exact("discs touch to the last bit")
def test_a_load_that_changes_is_followed_at_rest():
    """The upper disc of a pile is pressed by a force that grows with time; the floor carries it at each instant."""
    system = pile(3, 0.5, load=lambda t: (0.0, -1e3 * t**2))
    trajectory = simulate(system, EventDriven(), t_end=0.5, dt=ErrorControl(1e-8, 1e-10, 1e-6, 1e-2))
    floor = sum(trajectory.contact_force[f"floor{i}"][:, 1] for i in range(3))
    walls = sum(trajectory.contact_force[name][:, 1] for name in ("left", "right"))
    mean = np.diff(1e3 * trajectory.t**3 / 3) / np.diff(trajectory.t)  # forces of rows are means over their steps
    assert np.allclose((floor + walls)[1:], 6 * G + mean, rtol=1e-9, atol=0)
    # forces are solved to 1e-9 of the largest: what is left would move a disc of 1 kg by 1e-9 of its way without others
    alone = 1e3 * trajectory.t[-1] ** 4 / 12
    assert np.max(np.abs(trajectory.q.array - trajectory.q.array[0])) <= 1e-9 * alone


@pytest.mark.exact("discs touch to the last bit")
def test_shared_forces_that_change_too_much_are_named():
    """A pile that is shaken sideways goes through modes of which none lasts: the run ends and names another stepper,
    after a time between 0.2 and 3 s that depends on the last bits."""
    system = pile(3, 0.5, load=lambda t: (5.0 * ca.sin(20.0 * t), 0.0))
    with pytest.raises(SimulationFailed, match=r"contact forces are not unique.*use MoreauJean\(\)"):
        simulate(system, EventDriven(), t_end=20.0, dt=ErrorControl(1e-8, 1e-10, 1e-6, 1e-2))


@pytest.mark.slow
def test_contacts_that_strike_together_are_complementary_up_to_the_window():
    """Two loose journals of the crank-rocker strike within 1e-6 s: the gap of the second is what the rule allows."""
    system = crank_rocker(loose=("joint2", "joint3"), contact=Rigid(restitution=0.5, friction=0.0)).build()
    control = ErrorControl(1e-7, 1e-9, 1e-6, 5e-4)
    start = simulate(system, EventDriven(), t_end=0.2212, dt=control, record=10**6)
    # typical errors are 1e-11; a gap of 1.2e-8 m at an impact would count as 6e-5 of the clearance
    assert start.certificate.complementarity <= 1e-9


# ------------------------------------------------------------------------------------------------- default tolerances


def test_one_number_is_enough_for_a_slider_crank_to_nine_digits():
    """Contacts until 5 ms, at 5000 rpm, against a run at 1e-13; the manifest tells what was chosen."""
    system, names = slider_crank_revolute().build(), ("rod.angle", "crank.angle")
    fine = ErrorControl(rtol=1e-13, atol=1e-15, dt_min=1e-7, dt_max=1e-4)
    reference = simulate(system, EventDriven(order="dop853"), t_end=5e-3, dt=fine)
    trajectory = simulate(system, EventDriven(), t_end=5e-3, dt=ErrorControl(1e-10))
    for name in names:
        assert trajectory.q[name][-1] == pytest.approx(reference.q[name][-1], abs=1e-9)
    chosen = "ErrorControl(rtol=1e-10, atol=1e-12, dt_min=1e-07, dt_max=7.776e-07)"
    assert trajectory.manifest["settings"]["dt"] == chosen


def test_steps_need_the_length_of_the_run():
    system = slider_crank_revolute().build()
    with pytest.raises(InputError, match="depend on the length of the run"):
        EventSteps(system, EventDriven(), ErrorControl(1e-8), system.parameter_values, 1.0)


# ---------------------------------------------------------------------------------------------- rows, and no progress


@pytest.mark.parametrize(("friction", "along", "mode"), [(0.0, 1.0, 1), (0.3, 20.0, 3), (0.3, 0.1, 2)])
def test_a_row_at_an_impact_has_the_mode_of_the_impact(friction, along, mode):
    """A ball that rebounds is open before and after; the row in between says how it struck, as with other steppers."""
    body = PlanarBody("ball", mass=2.0, inertia=1e-2, position=(0.0, 1.0), velocity=(along, 0.0))
    floor = CirclePlane("floor", "ground", body, radius=0.1, contact=Rigid(restitution=0.5, friction=friction))
    system = Model([Ground(), body, floor, Gravity(acceleration=(0.0, -G))]).build()
    for stepper, dt in ((EventDriven(), ErrorControl(1e-8, dt_max=0.1)), (GaussQP(), Landing(1e-6, 0.1))):
        trajectory = simulate(system, stepper, t_end=0.6, dt=dt)
        assert [int(k) for k in trajectory.mode["floor"] if k] == [mode], stepper


def loose_bar(clearance, restitution=0.0):
    body = PlanarBody("bar", mass=1.0, inertia=1 / 12, position=(0.5, 0.0))
    contact = Rigid(restitution=restitution, friction=0.0)
    pin = RevoluteClearance("pin", "ground", body, at_b=(-0.5, 0.0), clearance=clearance, contact=contact)
    return Model([Ground(), body, pin, Gravity(acceleration=(0.0, -G))]).build()


@pytest.mark.parametrize("clearance", [1e-8, 1e-9, 1e-12])
def test_a_clearance_too_small_to_be_followed_is_named(clearance):
    """Without friction a journal swings in its bearing at sqrt(F / (m c)), 5 kHz at 1e-8 m: 1e5 steps a second."""
    with pytest.raises(SimulationFailed, match=f'contact "pin", which oscillates in its clearance of {clearance:g} m'):
        simulate(loose_bar(clearance), EventDriven(), t_end=1.0, dt=ErrorControl(1e-8, 1e-10, 1e-6, 1e-2))


@pytest.mark.parametrize("tolerance", [3e-6, 1e-5])
def test_one_step_whose_estimate_is_near_a_zero_does_not_end_a_run(tolerance):
    """Half of such a step has an error as large, as those of round-off have; the runs ended at 8 and 20 s of 50."""
    control = ErrorControl(tolerance, tolerance * 1e-2, 1e-6, 1.0)
    run = simulate(loose_bar(1e-4, restitution=0.5), EventDriven(), t_end=50.0, dt=control, record=100)
    assert run.status == "finished" and run.counts["steps"] > 20_000  # examined each 1000, being far below dt_max


def test_tolerances_below_round_off_are_named():
    """Lengths of a spring 1e9 m away are known to 1e-7 m: no step is as accurate as 1e-12."""
    body = PlanarBody("mass", mass=1.0, inertia=0.1, position=(1e9 + 1.5, 0.0))
    spring = Spring("spring", "ground", body, at_a=(1e9, 0.0), stiffness=1e4, free_length=1.0)
    system = Model([Ground(), body, spring]).build()
    with pytest.raises(SimulationFailed, match="below the round-off of this mechanism; increase them"):
        simulate(system, EventDriven(), t_end=1.0, dt=ErrorControl(1e-12, 1e-14, 1e-6, 1e-2))
