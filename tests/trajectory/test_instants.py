"""Accelerations and forces at an instant against closed forms, between rows and on both sides of impacts.

States come from runs at tolerances of 1e-12 or so, and stand between rows by polynomials of order 6: where a tolerance
is not that of round-off, a comment says what limits it.
"""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from nonsmooth import (
    BoxPlane,
    CirclePlane,
    Compliant,
    CompliantDae,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Revolute,
    Rigid,
    SpatialBody,
    SpherePlane,
    Spherical,
    Trajectory,
    simulate,
)
from nonsmooth.laws import Flores, LuGre, RegularisedCoulomb
from nonsmooth_problems import block_on_incline, bouncing_ball

G = 9.81
TIGHT = ErrorControl(rtol=1e-12, atol=1e-13, dt_min=1e-6, dt_max=4e-3)
EVENTS = EventDriven("dop853")


def bar_pendulum(joints=("pin",), mass=2.0, inertia=0.07, length=1.3):
    """A bar hung at `length` from its centre, at rest along x; more pins at the same place are redundant."""
    bar = PlanarBody("bar", mass=mass, inertia=inertia, position=(length, 0.0))
    pins = [Revolute(name, "ground", "bar", at_b=(-length, 0.0)) for name in joints]
    return Model([Ground(), bar, *pins, Gravity(acceleration=(0.0, -G))]).build()


def force_at_pin(angle, mass=2.0, inertia=0.07, length=1.3):
    """Force on the bar: (J + m l^2) angle'' = -m g l cos, and angle'^2 from the energy."""
    whole = inertia + mass * length**2
    spin_rate, spin_squared = -mass * G * length * np.cos(angle) / whole, -2 * mass * G * length * np.sin(angle) / whole
    x = length * (-np.sin(angle) * spin_rate - np.cos(angle) * spin_squared)
    y = length * (np.cos(angle) * spin_rate - np.sin(angle) * spin_squared)
    return mass * x, mass * (y + G), spin_rate


@pytest.mark.slow  # compiles the text of instants
def test_a_pendulum_has_its_closed_form_reaction_at_any_time():
    run = simulate(bar_pendulum(), EVENTS, t_end=1.5, dt=TIGHT)
    found = run.instant(np.linspace(0.0, 1.5, 301))
    x, y, spin_rate = force_at_pin(found.q["bar.angle"])
    # forces reach 60 N; velocities between rows 4 ms apart are good to 3e-11 rad/s
    assert found.reaction["pin.x"] == pytest.approx(x, abs=1e-9)
    assert found.reaction["pin.y"] == pytest.approx(y, abs=1e-9)
    assert found.lam_g["pin.x"] == pytest.approx(found.reaction["pin.x"], abs=1e-12)  # on the second body, as g = b - a
    assert found.reaction["pin.torque"] == pytest.approx(0.0, abs=1e-12)
    assert found.a["bar.angle"] == pytest.approx(spin_rate, abs=1e-12)
    assert found.a.units("bar.angle") == "rad/s^2" and found.a.units("bar.x") == "m/s^2"


@pytest.mark.slow  # compiles the text of instants
def test_accelerations_at_rows_are_a_column_of_the_run():
    run = simulate(bar_pendulum(), EVENTS, t_end=0.3, dt=TIGHT)
    assert np.array_equal(run.acceleration.array, run.instant(run.t).a.array)
    assert run.acceleration["bar.angle"] == pytest.approx(force_at_pin(run.q["bar.angle"])[2], abs=1e-11)


@pytest.mark.slow  # compiles the text of instants
def test_redundant_pins_share_with_least_forces():
    one = simulate(bar_pendulum(), EVENTS, t_end=0.2, dt=TIGHT).instant(0.2)
    assert re.fullmatch(r"Instants\(1 time, 0.2 s: motion of \S+, .*; forces of joints pin\)", repr(one))
    two = simulate(bar_pendulum(("pin", "other")), EVENTS, t_end=0.2, dt=TIGHT).instant(0.2)
    for part in "xy":
        for pin in ("pin", "other"):  # two runs, each within its tolerance
            assert two.reaction[f"{pin}.{part}"] == pytest.approx(one.reaction[f"pin.{part}"] / 2, abs=1e-9)


def falling_block(restitution):
    """A block 0.2 m x 0.1 m whose lower corners stand 1 mm above the floor."""
    block = PlanarBody("block", mass=3.0, inertia=0.02, position=(0.0, 0.051))
    contact = Rigid(restitution=restitution, friction=0.3)
    corners = [PointPlane(name, "ground", "block", at_b=(x, -0.05), contact=contact)
               for name, x in (("left", -0.1), ("right", 0.1))]  # fmt: skip
    return Model([Ground(), block, *corners, Gravity(acceleration=(0.0, -G))]).build()


@pytest.mark.slow  # compiles the text of instants
def test_a_plastic_landing_has_no_force_before_and_the_weight_after():
    run = simulate(falling_block(0.0), EVENTS, t_end=0.03, dt=TIGHT)
    t = run.impacts["t"][0]
    before, after = (run.instant(t, side=side) for side in ("left", "right"))
    assert before.a["block.y"] == pytest.approx(-G, rel=1e-14)
    assert not before.lam_N.array.any() and not before.mode.array.any()
    assert after.a["block.y"] == pytest.approx(0.0, abs=1e-12)
    # by symmetry half of the weight each
    assert after.lam_N.array == pytest.approx(np.full((1, 2), 3.0 * G / 2), rel=1e-12)
    assert after.contact_force["left"] == pytest.approx(np.array([[0.0, 3.0 * G / 2]]), abs=1e-12)
    later = run.instant(np.linspace(t, 0.03, 7))
    assert later.lam_N.array.sum(axis=1) == pytest.approx(3.0 * G, rel=1e-12)


@pytest.mark.slow  # compiles the text of instants
def test_a_rebound_has_free_flight_on_both_sides():
    run = simulate(bouncing_ball().build(), EVENTS, t_end=0.6, dt=TIGHT)
    t = run.impacts["t"][0]
    for side in ("left", "right"):
        found = run.instant(t, side=side)
        assert found.a["ball.y"] == pytest.approx(-G, rel=1e-14) and found.lam_N["floor"] == 0.0
    left, right = (run.at(t, side=side).v["ball.y"][0] for side in ("left", "right"))
    assert right == pytest.approx(-0.9 * left, rel=1e-12)


@pytest.mark.parametrize(
    ("stepper", "dt", "offset"),
    # MoreauJean's block stops within a step, at its end
    [
        pytest.param(EVENTS, TIGHT, 1e-3, marks=pytest.mark.slow),
        (GaussQP(), Landing(1e-6, 1e-3), 3e-3),
        (MoreauJean(), 1e-3, 3e-3),
    ],
    ids=["events", "landing", "moreau"],
)
def test_a_block_slips_up_an_incline_and_then_sticks(stepper, dt, offset):
    mass, angle, friction = 1.0, 0.3, 0.4
    run = simulate(block_on_incline().build(), stepper, t_end=0.4, dt=dt)
    stop = 1.0 / (G * (np.sin(angle) + friction * np.cos(angle)))  # from 1 m/s
    slips, sticks = run.instant([0.03, stop - offset]), run.instant([stop + offset, 0.3])
    down, normal = mass * G * np.sin(angle), mass * G * np.cos(angle)
    for found, force, deceleration, mode in (
        (slips, -friction * normal, G * (np.sin(angle) + friction * np.cos(angle)), 3), (sticks, down, 0.0, 2),
    ):  # fmt: skip
        # the state is brought onto the plane, so that no error of the stepper is left in these forces
        assert found.lam_N.array.sum(axis=1) == pytest.approx(normal, rel=1e-11)
        along = found.contact_force.array.sum(axis=1) @ [np.cos(angle), np.sin(angle)]
        assert along == pytest.approx(force, rel=1e-11)
        assert np.hypot(found.a["block.x"], found.a["block.y"]) == pytest.approx(deceleration, abs=1e-11)
        assert np.all(found.mode.array == mode)


@pytest.mark.slow  # compiles the text of instants
def test_friction_jumps_where_the_block_comes_to_rest():
    run = simulate(block_on_incline().build(), EVENTS, t_end=0.4, dt=TIGHT)
    row = int(np.argmax(run.mode["left"] == 2))
    before, after = (run.instant(run.t[row], side=side) for side in ("left", "right"))
    down = np.array([np.cos(0.3), np.sin(0.3)])
    forces = [found.contact_force.array[0].sum(axis=0) @ down for found in (before, after)]
    assert forces == pytest.approx([-0.4 * G * np.cos(0.3), G * np.sin(0.3)], rel=1e-11)
    assert np.all(before.mode.array == 3) and np.all(after.mode.array == 2)


@pytest.mark.slow  # compiles the text of instants
def test_a_box_in_space_slips_against_its_motion():
    mass, friction = 2.0, 0.25
    half, inertia = (0.2, 0.15, 0.05), (0.02, 0.03, 0.04)
    box = SpatialBody("box", mass=mass, inertia=inertia, position=(0.0, 0.0, half[2]), velocity=(0.6, -0.8, 0.0))
    edges = tuple(2 * length for length in half)
    contact = Rigid(restitution=0.0, friction=friction)
    floor = BoxPlane("floor", "ground", "box", edges=edges, normal=(0.0, 0.0, 1.0), contact=contact)
    system = Model([Ground(), box, floor, Gravity(acceleration=(0.0, 0.0, -G))]).build()
    found = simulate(system, EVENTS, t_end=0.01, dt=TIGHT).instant([0.0023, 0.0077])
    # the four corners below share in some way; their sums are Coulomb's
    total = found.contact_force.array.sum(axis=1)
    against = friction * mass * G * np.array([-0.6, 0.8, 0.0]) + [0.0, 0.0, mass * G]
    assert total == pytest.approx(np.tile(against, (2, 1)), abs=1e-8)
    assert found.lam_T.array.shape == (2, 8, 2)


@pytest.mark.slow  # compiles the text of instants
def test_a_conical_pendulum_hangs_by_a_constant_force():
    """A point mass on a circle: tan(angle) = w^2 r / g, and the ball joint pulls with m sqrt(g^2 + (w^2 r)^2)."""
    mass, length, angle = 1.5, 0.8, 0.5
    radius = length * np.sin(angle)
    w = np.sqrt(G * np.tan(angle) / radius)
    # a ball has no gyroscopic moment; it turns with the arm about the vertical
    ball = SpatialBody("ball", mass=mass, inertia=(1e-3,) * 3, position=(radius, 0.0, -length * np.cos(angle)),
                       velocity=(0.0, radius * w, 0.0), angular_velocity=(0.0, 0.0, w))  # fmt: skip
    arm = (-radius, 0.0, length * np.cos(angle))
    socket = Spherical("socket", "ground", "ball", at_b=arm)
    system = Model([Ground(), ball, socket, Gravity(acceleration=(0.0, 0.0, -G))]).build()
    run = simulate(system, EVENTS, t_end=1.0, dt=TIGHT)
    t = np.linspace(0.0, 1.0, 41)
    found = run.instant(t)
    inward = -mass * w**2 * radius
    expected = np.column_stack([inward * np.cos(w * t), inward * np.sin(w * t), np.full(t.size, mass * G)])
    # 1e-12 of the run over one second, and the order 6 of rows 4 ms apart
    assert np.column_stack([found.reaction[f"socket.{axis}"] for axis in "xyz"]) == pytest.approx(expected, abs=1e-8)
    assert np.column_stack([found.a[f"ball.w{axis}"] for axis in "xyz"]) == pytest.approx(0.0, abs=1e-8)


FLORES = Flores(stiffness=1e7, restitution=0.7)


def soft_ball():
    ball = PlanarBody("ball", mass=0.5, inertia=2.5e-3, position=(0.0, 0.101), velocity=(0.0, -1.0))
    floor = CirclePlane("floor", "ground", "ball", radius=0.1, contact=Compliant(FLORES))
    return Model([Ground(), ball, floor]).build()


def test_a_compliant_ball_has_the_force_of_its_law():
    """Flores: F = K d^1.5 (1 + 8 (1 - e)/(5 e) d'/v), with the speed v = 1 m/s at which it struck."""
    dt = ErrorControl(1e-10, 1e-12, 1e-6, 1e-2)
    run = simulate(soft_ball(), CompliantDae(solver=Dop853()), t_end=2e-3, dt=dt)
    found = run.instant(np.linspace(1.01e-3, 1.4e-3, 25))
    depth, rate = np.maximum(0.1 - found.q["ball.y"], 0.0), -found.v["ball.y"]
    force = 1e7 * depth**1.5 * (1 + 8 * (1 - 0.7) / (5 * 0.7) * rate / 1.0)
    assert force.max() > 100.0 and np.all(found.mode["floor"] == 1)
    # the latched speed is that of the row, 1 m/s to the run's tolerance
    assert found.lam_N["floor"] == pytest.approx(force, rel=1e-9)
    assert found.a["ball.y"] == pytest.approx(force / 0.5, rel=1e-9)
    before = run.instant(0.5e-3)
    assert before.lam_N["floor"] == 0.0 and before.mode["floor"] == 0


def test_a_compliant_ball_in_space_has_the_force_of_its_law():
    ball = SpatialBody("ball", mass=0.5, inertia=(2e-3,) * 3, position=(0.0, 0.0, 0.101), velocity=(0.3, 0.0, -1.0))
    rough = Compliant(FLORES, RegularisedCoulomb(friction=0.2, slip_speed=1e-4))
    floor = SpherePlane("floor", "ground", "ball", radius=0.1, normal=(0.0, 0.0, 1.0), contact=rough)
    system = Model([Ground(), ball, floor]).build()
    run = simulate(system, CompliantDae(solver=Dop853()), t_end=1.2e-3, dt=ErrorControl(1e-10, 1e-12, 1e-6, 1e-2))
    found = run.instant([1.05e-3, 1.15e-3])
    depth, rate = 0.1 - found.q["ball.z"], -found.v["ball.z"]
    normal = 1e7 * depth**1.5 * (1 + 8 * (1 - 0.7) / (5 * 0.7) * rate / 1.0)
    assert normal.min() > 1.0
    # the slip of 0.3 m/s is far above the speed at which friction is regularised: tanh(3000) = 1
    expected = np.column_stack([-0.2 * normal, np.zeros(2), normal])
    assert found.contact_force["floor"] == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert found.a["ball.x"] == pytest.approx(-0.2 * normal / 0.5, rel=1e-8)


@pytest.mark.parametrize("pins", [("pin",), ("pin", "other")])
def test_joints_beside_compliant_contact(pins):
    """A bar that rests on a soft stop: the pins carry what is left of the weight, redundant ones half each."""
    bar = PlanarBody("bar", mass=2.0, inertia=0.07, position=(0.5, 0.0))
    stop = PointPlane("stop", "ground", "bar", at_a=(0.0, -1e-3), at_b=(0.5, 0.0), contact=Compliant(FLORES))
    joints = [Revolute(name, "ground", "bar", at_b=(-0.5, 0.0)) for name in pins]
    system = Model([Ground(), bar, *joints, stop, Gravity(acceleration=(0.0, -G))]).build()
    run = simulate(system, CompliantDae(), t_end=0.05, dt=ErrorControl(1e-9, 1e-11, 1e-6, 1e-2))
    found = run.instant(np.linspace(0.0, 0.05, 60))
    assert found.lam_N["stop"].max() > 50.0
    total = 2.0 * np.column_stack([found.a["bar.x"], found.a["bar.y"] + G]) - found.contact_force["stop"]
    for name in pins:
        reaction = np.column_stack([found.reaction[f"{name}.{axis}"] for axis in "xy"])
        assert reaction == pytest.approx(total / len(pins), abs=1e-9 * np.abs(total).max())
        multipliers = np.column_stack([found.lam_g[f"{name}.{axis}"] for axis in "xy"])
        assert multipliers == pytest.approx(reaction, abs=1e-9 * np.abs(total).max())


def test_a_run_that_goes_on_in_contact_keeps_the_latched_speed():
    dt = ErrorControl(1e-10, 1e-12, 1e-6, 1e-2)
    stepper = CompliantDae(solver=Dop853())
    whole = simulate(soft_ball(), stepper, t_end=1.4e-3, dt=dt)
    first = simulate(soft_ball(), stepper, t_end=1.2e-3, dt=dt)
    second = simulate(soft_ball(), stepper, t_end=1.4e-3, dt=dt, state=first.end)
    # an integrator that starts anew agrees within its tolerances
    assert second.instant(1.3e-3).lam_N["floor"] == pytest.approx(whole.instant(1.3e-3).lam_N["floor"], rel=1e-6)


@pytest.mark.slow  # compiles the text of instants
def test_forces_of_a_file_need_the_mechanism(tmp_path):
    system = bar_pendulum()
    run = simulate(system, EVENTS, t_end=0.2, dt=TIGHT)
    run.save(tmp_path / "run.nc")
    bare, known = Trajectory.load(tmp_path / "run.nc"), Trajectory.load(tmp_path / "run.nc", system)
    assert known.instant(0.1).reaction["pin.y"] == run.instant(0.1).reaction["pin.y"]
    with pytest.raises(InputError, match="give it, Trajectory.load"):
        bare.instant(0.1)
    with pytest.raises(InputError, match="give the mechanism of the run"):
        Trajectory.load(tmp_path / "run.nc", bouncing_ball().build())


def test_a_compliant_file_keeps_the_memories_of_its_start(tmp_path):
    dt, stepper = ErrorControl(1e-10, 1e-12, 1e-6, 1e-2), CompliantDae(solver=Dop853())
    first = simulate(soft_ball(), stepper, t_end=1.2e-3, dt=dt)
    second = simulate(soft_ball(), stepper, t_end=1.4e-3, dt=dt, state=first.end)
    second.save(tmp_path / "run.nc")
    loaded = Trajectory.load(tmp_path / "run.nc", soft_ball())
    assert loaded.instant(1.3e-3).lam_N["floor"] == second.instant(1.3e-3).lam_N["floor"]


@pytest.mark.slow  # compiles the text of instants
def test_a_run_goes_to_other_processes_after_it_was_asked():
    run = simulate(bar_pendulum(), EVENTS, t_end=0.1, dt=TIGHT)
    value = run.instant(0.05).reaction["pin.y"]
    assert pickle.loads(pickle.dumps(run)).instant(0.05).reaction["pin.y"] == value


def test_what_rows_do_not_know_is_refused():
    dt, stepper = ErrorControl(1e-9, 1e-11, 1e-6, 1e-2), CompliantDae(solver=Dop853())
    sparse = simulate(soft_ball(), stepper, t_end=2e-3, dt=dt, record=7)
    with pytest.raises(InputError, match="run it with record=1"):
        sparse.instant(1.2e-3)


BRUSH = LuGre(friction=0.3, static_friction=0.4, stribeck_speed=1e-2, bristle_stiffness=1e4, bristle_damping=0.1)


def test_bristles_begin_anew_with_each_contact():
    """In the second contact of a ball that gravity brings back the bristle is not yet as long as where it slides."""
    ball = PlanarBody("ball", mass=0.5, inertia=2.5e-3, position=(0.0, 0.101), velocity=(3.0, -1.0))
    floor = CirclePlane("floor", "ground", "ball", radius=0.1, contact=Compliant(FLORES, BRUSH))
    system = Model([Ground(), ball, floor, Gravity(acceleration=(0.0, -300.0))]).build()
    run = simulate(system, CompliantDae(solver=Dop853()), t_end=9e-3, dt=ErrorControl(1e-9, 1e-11, 1e-6, 1e-2))
    assert np.count_nonzero(np.diff((run.gap["floor"] < 0.0).astype(int))) == 3
    bent = run.end.memory["Overlap.bristle_row"]
    assert 1e-5 < bent[0] < 2.5e-5
    assert run._motions.law.bristles(float(run.t[-1]), len(run.t) - 1) == pytest.approx(bent, rel=1e-6)


@pytest.mark.parametrize("space", [False, True], ids=["plane", "space"])
def test_bristles_are_those_of_the_run(space):
    contact = Compliant(FLORES, BRUSH)
    ball = PlanarBody("ball", mass=0.5, inertia=2.5e-3, position=(0.0, 0.101), velocity=(0.3, -1.0))
    floor = CirclePlane("floor", "ground", "ball", radius=0.1, contact=contact)
    if space:
        ball = SpatialBody("ball", mass=0.5, inertia=(2e-3,) * 3, position=(0.0, 0.0, 0.101), velocity=(0.3, 0.1, -1.0),
                           angular_velocity=(1.0, 2.0, 3.0))  # fmt: skip
        floor = SpherePlane("floor", "ground", "ball", radius=0.1, normal=(0.0, 0.0, 1.0), contact=contact)
    system = Model([Ground(), ball, floor]).build()
    run = simulate(system, CompliantDae(solver=Dop853()), t_end=1.3e-3, dt=ErrorControl(1e-9, 1e-11, 1e-6, 1e-2))
    # the run still knows the states at its end; both integrations are good to 1e-8 or so
    depth, bent = run.gap["floor"][-1], run.end.memory["Overlap.bristle_row"]
    assert depth < -1e-5 and np.max(np.abs(bent)) > 1e-5
    law = run._motions.law
    assert law.bristles(float(run.t[-1]), len(run.t) - 1) == pytest.approx(bent, rel=1e-6)
    # friction at instants adds up to the impulses of the steps, by Simpson's rule
    dt = np.diff(run.t)
    parts = [run.instant(run.t[:-1]), run.instant(run.t[:-1] + dt / 2), run.instant(run.t[1:], side="left")]
    first, middle, last = (part.lam_T["floor"].reshape(dt.size, -1) for part in parts)
    impulse = run.P_T["floor"][1:].reshape(dt.size, -1)
    error = dt[:, None] * (first + 4 * middle + last) / 6 - impulse
    assert np.max(np.abs(error)) <= 1e-5 * np.max(np.abs(impulse))
