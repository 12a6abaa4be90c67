"""A force that does not exist is not certified."""

from dataclasses import replace

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rigid,
    SimulationFailed,
    SpatialBody,
    Torque,
    simulate,
)
from nonsmooth.trajectory.columns import Columns
from nonsmooth.trust.agreement import impulsive_force


def rod(friction):
    """A rod that slides on its tip; above a friction of about 4/3 no force keeps the tip on the ground."""
    angle = np.radians(63.0)
    return Model([
        Ground(),
        PlanarBody(
            "b", mass=1.0, inertia=1 / 3, position=(0.0, np.sin(angle)), angle=angle, velocity=(-2.0, 0.0)
        ),
        PointPlane("tip", "ground", "b", at_b=(-1.0, 0.0), contact=Rigid(restitution=0.0, friction=friction)),
        Gravity(acceleration=(0.0, -10.0)),
    ]).build()  # fmt: skip


@pytest.mark.parametrize(("stepper", "dt"), [(None, None), (GaussQP(), Landing(1e-7, 1e-5)), (MoreauJean(), 1e-5)])
def test_without_a_consistent_force(stepper, dt):
    run = simulate(rod(1.6), stepper, t_end=0.01, dt=dt, check=stepper is not None)
    assert run.verdict.kind == "not accurate"
    assert 'contact "tip" has no force near t = ' in run.verdict.text
    assert "its impulse is 0.607 N s" in run.verdict.text  # of all three, see test_physics of the jump
    assert ("EventDriven fails at t = 0 s" in run.verdict.text) == (stepper is None)


def test_a_single_run_names_it():
    run = simulate(rod(1.6), MoreauJean(), t_end=0.01, dt=1e-5)
    assert run.verdict.kind == "not checked"
    assert run.verdict.text.startswith('contact "tip" has no force near t = 1e-05 s: velocities jump without collision')


def test_with_one():
    coarse, fine = (simulate(rod(0.3), MoreauJean(), t_end=0.01, dt=dt) for dt in (1e-4, 2.5e-5))
    assert impulsive_force(coarse, fine) is None
    assert simulate(rod(0.3), t_end=0.01).verdict.kind == "accurate"


def test_jump_of_the_velocity():
    """The impulse ends the slip of the tip: its normal velocity stays zero, its tangential one vanishes."""
    run = simulate(rod(1.6), GaussQP(), t_end=0.01, dt=Landing(1e-7, 1e-5), check=True)
    found = impulsive_force(run, simulate(rod(1.6), GaussQP(), t_end=0.01, dt=Landing(2.5e-8, 2.5e-6)))
    assert found is not None
    angle = np.radians(63.0)
    # tip at -(cos, sin) of the centre; W = [n, t] by x, y, angle
    n, t = np.array([0.0, 1.0, -np.cos(angle)]), np.array([1.0, 0.0, np.sin(angle)])
    W, M = np.column_stack([n, t]), np.diag([1.0, 1.0, 1 / 3])
    P = np.linalg.solve(W.T @ np.linalg.solve(M, W), -W.T @ np.array([-2.0, 0.0, 0.0]))
    assert found.impulse == pytest.approx(P[0], rel=1e-4)


@pytest.mark.parametrize("share", [1.0, 1e-11])
def test_round_off_is_no_impulse(share):
    """An impulse of one step changes the momentum of 2 kg m/s, and a share of it by as much as a solver's round-off."""
    scaled = []
    for dt in (1e-5, 2.5e-6):
        run = simulate(rod(0.3), MoreauJean(), t_end=0.01, dt=dt)
        force = np.zeros_like(run.lam_N.array)
        force[1] = share * 0.607 / dt
        scaled.append(replace(run, lam_N=Columns("force", run.lam_N.names, force, ["N"])))
    assert (impulsive_force(*scaled) is not None) == (share == 1.0)


def test_the_driver_of_the_ground_works_in_a_jump():
    """On a platform that is lifted at 3 m/s the motion is the same; the driver bears the impulse, and the weights of
    platform and rod for the length of the step, whose part the trapezoidal rule gives one step before or after."""
    law, angle, lift, dt = Rigid(restitution=0.0, friction=1.6), np.radians(63.0), 3.0, 1e-5
    system = Model([
        Ground(),
        PlanarBody("platform", mass=1.0, inertia=1.0, velocity=(0.0, lift)),
        Prismatic("guide", "ground", "platform", direction=np.pi / 2),
        PrescribedMotion("lift", "ground", "platform", coordinate="y", motion=lambda t: lift * t),
        PlanarBody("b", mass=1.0, inertia=1 / 3, position=(0.0, np.sin(angle)), angle=angle, velocity=(-2.0, lift)),
        PointPlane("tip", "platform", "b", at_b=(-1.0, 0.0), contact=law),
        Gravity(acceleration=(0.0, -10.0)),
    ]).build()  # fmt: skip
    run, still = (simulate(one, MoreauJean(), t_end=1e-3, dt=dt) for one in (system, rod(1.6)))
    (jump,) = run.jumps
    assert jump["P_N"] == pytest.approx(still.jumps["P_N"][0], rel=1e-9)
    row = int(np.flatnonzero(run.t == jump["t"])[0])
    work = run.energy["work_drivers"][row] - run.energy["work_drivers"][row - 1]
    assert work == pytest.approx(lift * jump["P_N"], abs=lift * 20.0 * dt)
    assert run.energy["remainder"] == pytest.approx(still.energy["remainder"], abs=1e-12)


def spatial_rod(angle, friction, speed, mass, heading):
    """A body with the moments of inertia of a rod about all axes, whose point slides on a plane."""
    way = np.array([np.cos(heading), np.sin(heading)])
    tip = (*(-np.cos(angle) * way), -np.sin(angle))
    body = SpatialBody(
        "b", mass=mass, inertia=(mass / 3,) * 3, position=(0.0, 0.0, np.sin(angle)), velocity=(*(-speed * way), 0.0)
    )
    law = Rigid(restitution=0.0, friction=friction)
    contact = PointPlane("tip", "ground", "b", normal=(0.0, 0.0, 1.0), at_b=tip, contact=law)
    return Model([Ground(), body, contact, Gravity(acceleration=(0.0, 0.0, -10.0))])


def planar_rod(angle, friction, speed, mass):
    body = PlanarBody(
        "b", mass=mass, inertia=mass / 3, position=(0.0, np.sin(angle)), angle=angle, velocity=(-speed, 0.0)
    )
    law = Rigid(restitution=0.0, friction=friction)
    tip = PointPlane("tip", "ground", "b", at_b=(-1.0, 0.0), contact=law)
    return Model([Ground(), body, tip, Gravity(acceleration=(0.0, -10.0))])


def brake(lever, height, friction, speed, mass):
    """A block that slides under an arm, which turns about a pin and is pressed against it."""
    law = Rigid(restitution=0.0, friction=friction)
    return Model([
        Ground(),
        PlanarBody("block", mass=mass, inertia=1.0, velocity=(speed, 0.0)),
        PlanarBody("arm", mass=0.3, inertia=0.1, position=(0.0, height)),
        Prismatic("slide", "ground", "block"),
        Revolute("pin", "ground", "arm", at_a=(0.0, height)),
        Torque("press", "arm", torque=2.0),
        PointPlane("tip", "block", "arm", at_b=(-lever, -height), contact=law),
    ])  # fmt: skip


def drawn(number):
    """A mechanism without a consistent force, and the normal impulse of its jump; in turn one of three kinds."""
    random = np.random.default_rng([41, number])
    speed, mass, more = random.uniform(0.5, 5.0), 10.0 ** random.uniform(-1.0, 1.0), random.uniform(1.02, 3.0)
    if number % 3 == 2:
        lever, height = random.uniform(0.05, 1.0, size=2)
        return brake(lever, height, more * lever / height, speed, mass), mass * speed * height / lever
    angle = random.uniform(0.5, 1.4)
    sine, cosine = np.sin(angle), np.cos(angle)
    A = np.array([[1.0 + 3.0 * cosine**2, -3.0 * sine * cosine], [-3.0 * sine * cosine, 1.0 + 3.0 * sine**2]]) / mass
    impulse = np.linalg.solve(A, [0.0, speed])[0]
    friction = more * A[0, 0] / -A[0, 1]
    if number % 3:
        return spatial_rod(angle, friction, speed, mass, random.uniform(0.0, 6.0)), impulse
    return planar_rod(angle, friction, speed, mass), impulse


@pytest.mark.parametrize("number", some(range(50), 5))
def test_jumps_are_impacts(number):
    """By all schemes; forces were impulses over the step, without a row in the table of impacts."""
    model, impulse = drawn(number)
    system, end = model.build(), 1e-3
    for stepper, dt in ((GaussQP(), Landing(1e-8, 1e-5)), (MoreauJean(), 1e-5)):
        try:
            run = simulate(system, stepper, t_end=end, dt=dt, check=True)
        except SimulationFailed:  # the direction of friction is not found in some of them
            assert isinstance(stepper, GaussQP)
            continue
        assert run.jumps["contact"].tolist() == ["tip"]
        (found,) = run.impacts[run.impacts["t"] == run.jumps["t"][0]]
        # loads act during the step, and the mechanism turns
        assert found["P_N"] == pytest.approx(impulse, rel=5e-3)
        assert run.verdict.kind == "not accurate"
        assert 'contact "tip" has no force near t = ' in run.verdict.text
        assert run.lam_N["tip"][1] == 0.0
        assert run.certificate.energy.remainder == pytest.approx(0.0, abs=1e-3 * run.certificate.energy.kinetic_start)
        assert run.left.v.array[1] == pytest.approx(run.v.array[0], abs=1e-2 * np.max(np.abs(run.v.array[0])))


@pytest.mark.parametrize("number", range(2, 23, 3))
@pytest.mark.parametrize("end", [1e-4, 1e-2])
def test_a_brake_that_jams_is_not_called_accurate(number, end):
    """However short the run is: what counts as a fast slip follows from loads, not from steps."""
    model, impulse = drawn(number)
    run = simulate(model.build(), t_end=end)
    assert run.verdict.kind == "not accurate"
    assert 'contact "tip" has no force near t = ' in run.verdict.text
    assert np.sum(run.impacts["P_N"]) == pytest.approx(impulse, rel=0.1)


@pytest.mark.parametrize("number", range(2, 23, 3))
def test_a_brake_that_slides_has_its_force(number):
    """Moments about the pin: 2 N m = (lever - friction height) N, which slows down the block by friction N."""
    random = np.random.default_rng([42, number])
    speed, mass, share = random.uniform(0.5, 5.0), 10.0 ** random.uniform(-1.0, 1.0), random.uniform(0.1, 0.9)
    lever, height = random.uniform(0.05, 1.0, size=2)
    friction = share * lever / height
    run = simulate(brake(lever, height, friction, speed, mass).build(), t_end=1e-4)
    assert run.verdict.kind == "accurate"
    load = 2.0 / (lever - friction * height)
    assert run.lam_N["tip"][1:] == pytest.approx(load, rel=1e-6)
    assert run.v["block.x"][-1] == pytest.approx(speed - 1e-4 * friction * load / mass, rel=1e-9)
