"""Studies of mechanisms in space: orders, limits and metrics that are known beforehand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
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
    Lemke,
    Model,
    MoreauJean,
    Rigid,
    SpatialBody,
    SpherePlane,
    Spring,
    simulate,
    simulate_batch,
)
from nonsmooth.laws import Flores, RegularisedCoulomb
from nonsmooth.studies import bifurcation, compare, grid, lyapunov, periodic_section, rigid_limit, step_size, sweep
from nonsmooth.studies import tolerance as tolerance_study
from nonsmooth.studies.cases import Case
from nonsmooth_problems import socket_pendulum

G, RADIUS, MASS, HEIGHT = 9.81, 0.02, 0.1, 2e-3
SMOOTH, ROUGH = Rigid(restitution=0.5, friction=0.0), Rigid(restitution=0.5, friction=0.3)
CONTROL = ErrorControl(1e-7, 1e-9, 1e-6, 1e-3)
#: from HEIGHT to the floor [s], and the normal impulse of the first impact with a restitution of 1/2 [N s]
FALL = np.sqrt(2 * HEIGHT / G)
IMPULSE = 1.5 * MASS * G * FALL


def ball(contact: Any = ROUGH, drilling: float = 2.0) -> Model:
    """A ball above a floor that moves and spins across, and about the normal."""
    model = Model([Ground()], name="ball above a floor")
    model.add(
        SpatialBody(
            "ball", mass=MASS, inertia=(1.6e-5,) * 3, position=(0.0, 0.0, RADIUS + HEIGHT), velocity=(0.3, 0.1, 0.0),
            angular_velocity=(0.0, 5.0, drilling),
        )
    )  # fmt: skip
    model.add(SpherePlane("floor", "ground", "ball", radius=RADIUS, normal=(0.0, 0.0, 1.0), contact=contact))
    model.add(Gravity(acceleration=(0.0, 0.0, -G)))
    return model


def soft(K: float, friction: bool = False) -> Compliant:
    law = RegularisedCoulomb(friction=0.3, slip_speed=1e-3) if friction else None
    return Compliant(Flores(stiffness=K, restitution=0.5, calibrated=True), law)


def test_rigid_and_compliant_contact_compared() -> None:
    """The first impact, with a slip in two directions, is that of the closed form in both worlds."""
    cases = [
        Case("events", ROUGH, EventDriven(), CONTROL),
        Case("landing", ROUGH, GaussQP(), Landing(1e-6, 1e-3)),
        Case("compliant", soft(1e9, friction=True), CompliantDae(solver=Dop853()), CONTROL),
    ]
    found = compare(ball, cases, t_end=0.03, target=0.0, repeats=1)
    for label in ("events", "landing"):
        row = found.table[label]
        assert row["first_impact"] == pytest.approx(FALL, rel=1e-9)  # located to round-off
        assert row["first_impulse"] == pytest.approx(IMPULSE, rel=1e-9)
        assert row["first_separation"] == pytest.approx(0.5 * G * FALL, rel=1e-9)
    # a contact that lasts takes a little longer; its calibrated restitution is 1/2 without gravity
    assert found.table["compliant"]["first_impulse"] == pytest.approx(IMPULSE, rel=0.02)
    assert found.table["compliant"]["loss"]["friction"] > 0.0
    # quaternions too are cubic between rows: with straight ones two schemes of 1 ms would be 1e-4 apart
    assert found.table["events"]["own_error"] < 1e-8
    assert set(found.table["events"]["deviation"]) >= {"ball.qw", "ball.qz"}
    data = found.to_dataset()
    assert data["position"].sizes["coordinate"] == 7 and str(found)


def test_orders_of_two_schemes() -> None:
    """Landing finds the impacts, which leaves the order 2 of the rotations; events are far below both."""
    cases = [
        Case("Moreau", ROUGH, MoreauJean(), 1e-3),
        Case("landing", ROUGH, GaussQP(), Landing(1e-6, 1e-3)),
    ]
    found = step_size(ball, cases, t_end=0.04, levels=4, jitter=3, repeats=1)
    assert found["landing"].orders["motion_error"] == pytest.approx(2.0, abs=0.1)
    # impacts are late by up to a step; four levels of three jittered runs tell the order to a few tenths
    assert 0.6 < found["Moreau"].orders["motion_error"] < 1.6
    assert np.all(found["landing"].measures["error"] < 1e-12)  # gaps of a free fall, in radii
    assert np.all(found["landing"].measures["violation"] < 1e-15)


@pytest.mark.slow
def test_an_exact_solution_in_space() -> None:
    """Motion and force of the ball in its socket against the reduction to minimal coordinates."""
    plastic = Rigid(restitution=0.0, friction=0.0)
    case = Case("Gauss", plastic, GaussQP(), 2e-4, exact=socket_pendulum.exact())
    found = step_size(socket_pendulum, [case], t_end=4e-3, levels=4, jitter=1, repeats=1, reference="exact")
    errors = found["Gauss"].measures["motion_error"]
    assert np.all(np.diff(errors) < 0) and found["Gauss"].orders["motion_error"] > 0.9


def test_compliant_contact_towards_the_rigid_one() -> None:
    """Hertz: penetration and duration go as K^(-2/5), and with them the distance of motions without friction."""
    case = Case("rigid", SMOOTH, EventDriven(), CONTROL)
    found = rigid_limit(ball, case, soft, [1e8, 1e9, 1e10], t_end=0.03)
    for name in ("distance", "impulse", "penetration"):
        # corrections by gravity are of the order of the penetration over the height, 3 % and less of each value
        # that of the impulse rises to it from below: gravity reduces the rebound while the contact lasts
        assert found.orders[name] == pytest.approx(0.4, abs=0.03 if name == "impulse" else 0.01), name
    assert found.rigid_impulse == pytest.approx(IMPULSE, rel=1e-9)


NAMES = [
    "peak-impulse", "impacts", "impulse", "final:ball.x", "final:ball.wy", "amplitude:ball.qy", "contact-share",
    "penetration", "loss", "gap-violation", "complementarity", "fastest-approach", "peak-force", "steps",
]  # fmt: skip


def test_a_sweep_of_every_metric() -> None:
    """Over the friction: sliding, the impulse of friction takes mu P_N off the ball's momentum, along its slip."""
    frictions = [0.02, 0.05, 10.0]
    found = sweep(
        ball, GaussQP(), grid({"floor.friction": frictions}), t_end=0.025, dt=Landing(1e-6, 1e-3), metrics=NAMES,
        executor=1, arguments={"drilling": 0.0},
    )  # fmt: skip
    assert list(found["status"].values) == ["finished"] * 3
    assert found["peak-impulse"].values == pytest.approx([IMPULSE] * 3, rel=1e-9)
    # slip at the ball's lowest point; friction turns it too: m_T = 1/(1/m + r^2/J) is 2/7 m of a homogeneous ball
    slip = np.array([0.3 - RADIUS * 5.0, 0.1])
    size, inertia = np.hypot(*slip), 1.6e-5
    stopping = size / (1 / MASS + RADIUS**2 / inertia)
    # in the body frame, which has turned about y alone
    for friction, spin in zip(frictions, found["final:ball.wy"].values, strict=True):
        along = min(friction * IMPULSE, stopping) * slip[0] / size  # impulse of friction against x
        assert spin == pytest.approx(5.0 + RADIUS * along / inertia, rel=1e-6)


@pytest.mark.slow
@pytest.mark.exact("compares bits of systems that other processes build")
def test_a_sweep_over_processes_gives_the_same() -> None:
    arguments: dict[str, Any] = {"t_end": 4e-3, "dt": 2e-4, "metrics": ["impulse", "final:rod.qx"]}
    design = grid({"clearance": [5e-5, 1e-4, 2e-4]})
    alone, together = (
        sweep(socket_pendulum, MoreauJean(), design, executor=workers, **arguments) for workers in (1, 2)
    )
    assert alone.identical(together)


def test_runs_of_a_batch_are_single_runs() -> None:
    """To the bit, with friction and without; its tangential impulse is a length."""
    run: dict[str, Any] = {"t_end": 0.01, "dt": 1e-3}
    rough = [0.0, 0.1, 0.3]
    batch = simulate_batch(
        ball().build(), MoreauJean(), {"floor.friction": rough}, metrics=["impulse", "friction_impulse"], **run
    )
    for k, friction in enumerate(rough):
        single = simulate(ball().build(), MoreauJean(), parameters={"floor.friction": friction}, **run)
        assert np.array_equal(batch["q"].values[k], single.q.array[-1])
        assert batch["impulse"].values[k] == pytest.approx(single.P_N.array.sum(axis=0), rel=1e-12)
        length = np.linalg.norm(single.P_T.array.sum(axis=0), axis=1)
        assert batch["friction_impulse"].values[k] == pytest.approx(length, rel=1e-12, abs=1e-15)


def test_a_batch_says_what_runs_instead() -> None:
    with pytest.raises(InputError, match="Lemke.*solves no program with friction in space"):
        simulate_batch(ball().build(), MoreauJean(solver=Lemke()), {"floor.friction": [0.1, 0.3]}, t_end=0.01, dt=1e-3)


def test_a_tolerance_of_the_radius() -> None:
    """A bigger ball falls less far: every radius up to the stated one keeps the impulse."""
    from scipy.stats import uniform

    found = tolerance_study(
        ball, MoreauJean(), "impulse", limit=1.2 * IMPULSE, clearances={"floor.radius": uniform(0.0195, 0.0005)},
        factors=[1.0], runs=59, t_end=0.025, dt=1e-3, executor=1,
    )  # fmt: skip
    assert found.passed == 1 and found.largest == {"floor.radius": pytest.approx(0.02)}


def test_points_of_the_long_run() -> None:
    """A body on a spring, stepped at whole periods, stands still in the section; the parameter is its mass."""

    def points(mass: float) -> np.ndarray:
        model = Model([Ground(), SpatialBody("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.1, 0.1, 0.2))])
        model.add(Spring("spring", "ground", "ball", stiffness=100.0))
        period = 2 * np.pi * np.sqrt(mass / 100.0)
        section = periodic_section(
            model.build(), MoreauJean(), period=period, steps=400, transient=0, points=3, parameters={"ball.mass": mass}
        )
        return np.asarray(section.q["ball.x"])

    found = bifurcation(
        points, [1.0, 2.0], parameter="mass", unit="kg", quantity="ball.x", quantity_unit="m", executor=1
    )
    # the midpoint rule lags behind by the share (2 pi / steps)^2 / 12 of a period each; of the lag the cosine has the
    # square
    assert np.concatenate(found.points) == pytest.approx(0.1, abs=1e-6)


def test_the_exponent_of_a_free_rotation_is_zero() -> None:
    """Neighbours of a ball that spins evenly part linearly in time: their rates of growth fall as 1/t."""
    model = Model([SpatialBody("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), angular_velocity=(1.0, 2.0, 3.0))])
    system = model.build()
    found = lyapunov(system, EventDriven(), interval=0.1, intervals=32, dt=ErrorControl(1e-9, 1e-11, 1e-4, 1e-1))
    # positions, which count 2 pi / interval times as much as velocities, gain 2 pi of these in each interval: at most
    # ln(1 + 2 pi n) in n of them
    assert -1e-3 < found.value * 3.2 < np.log(1 + 2 * np.pi * 32)
    # in the n-th the growth is at most ln((n + 1)/n), over 0.1 s
    assert -1e-3 < found.rates[-1] < 10 * np.log(32 / 31)


def test_the_exponent_of_an_unstable_axis() -> None:
    """A top that spins about its middle axis leaves it at the rate of Euler's linearised equations."""
    J, spin = (1.0, 2.0, 3.0), 2.0
    rate = spin * np.sqrt((J[1] - J[0]) * (J[2] - J[1]) / (J[0] * J[2]))
    system = Model([SpatialBody("top", mass=1.0, inertia=J, angular_velocity=(0.0, spin, 0.0))]).build()
    found = lyapunov(
        system, EventDriven(), interval=0.05, intervals=32, transient=120, size=1e-9,
        dt=ErrorControl(1e-11, 1e-13, 1e-4, 5e-2),
    )  # fmt: skip
    # within the transient of 6 s the other directions have died down to exp(-2 * 6 * rate); 1e-9 leaves the axis's
    # neighbourhood linear, and round-off of 1e-16 is 1e-7 of it
    assert found.value == pytest.approx(rate, rel=1e-3)


def test_a_run_of_each_kind_is_cited(tmp_path: Any) -> None:
    from nonsmooth.report.citations import bibtex
    from nonsmooth.trajectory import Trajectory

    runs: list[tuple[Callable[[], Model], Any, Any]] = [
        (ball, GaussQP(), Landing(1e-6, 1e-3)),
        (lambda: ball(soft(1e9, friction=True)), CompliantDae(), CONTROL),
    ]
    for make, stepper, dt in runs:
        run = simulate(make().build(), stepper, t_end=0.022, dt=dt)
        run.save(tmp_path / "run.nc")
        assert "@article" in bibtex(Trajectory.load(tmp_path / "run.nc"))
