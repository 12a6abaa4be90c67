"""Passages through singular positions, where rows of joints become dependent for one instant.

The N-four-bar mechanism (a benchmark of IFToMM) has n windows, parallelograms of bars of 1 m and 1 kg, in series. At
flat positions it could branch into antiparallelograms; the motion in which all cranks turn together goes on.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    ParallelAxes,
    PlanarBody,
    PointOnLine,
    Revolute,
    SimulationFailed,
    SpatialBody,
    Spherical,
    Trajectory,
    simulate,
)
from nonsmooth.model.system import System
from nonsmooth.step.scheme import Stepper

#: time [s] of the benchmark
LAST = 10.0


def n_four_bar(n: int) -> System:
    """n windows; all cranks start upright, and turn at -1 rad/s."""
    model = Model(name=f"{n}-four-bar")
    ground = model.add(Ground("ground"))
    cranks = [
        model.add(PlanarBody(f"c{i}", mass=1.0, inertia=1 / 12, position=(float(i), 0.5), angle=math.pi / 2,
                             angular_velocity=-1.0, velocity=(0.5, 0.0)))
        for i in range(n + 1)
    ]  # fmt: skip
    couplers = [
        model.add(PlanarBody(f"h{i}", mass=1.0, inertia=1 / 12, position=(i + 0.5, 1.0), velocity=(1.0, 0.0)))
        for i in range(n)
    ]
    for i, crank in enumerate(cranks):
        model.add(Revolute(f"A{i}", ground, crank, at_a=(float(i), 0.0), at_b=(-0.5, 0.0)))
    for i, coupler in enumerate(couplers):
        model.add(Revolute(f"L{i}", cranks[i], coupler, at_a=(0.5, 0.0), at_b=(-0.5, 0.0)))
        model.add(Revolute(f"R{i}", coupler, cranks[i + 1], at_a=(0.5, 0.0), at_b=(0.5, 0.0)))
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model.build()


def crank_angle(n: int) -> float:
    """Angle [rad] of the cranks at 10 s by the equation of the branch: cranks about their ends, couplers carried along.

    ``I a'' = -G cos a`` with I = (n + 1) / 3 + n and G = 9.81 ((n + 1) / 2 + n), for bars of 1 m and 1 kg.
    """
    from scipy.integrate import solve_ivp

    inertia, moment = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    found = solve_ivp(lambda t, y: [y[1], -moment / inertia * math.cos(y[0])], (0.0, LAST), [math.pi / 2, -1.0],
                      method="DOP853", rtol=1e-13, atol=1e-13)  # fmt: skip
    return float(found.y[0, -1])


def energy_change(run: Trajectory) -> float:
    """Range of the energy over its size at the start."""
    energy = run.energy["kinetic"] + run.energy["potential"]
    return float(np.ptp(energy) / abs(energy[0]))


def flat_positions(run: Trajectory) -> int:
    """How often cranks lie flat, where the joints' rows are dependent."""
    return int(np.sum(np.diff(np.floor(run.q["c0.angle"] / math.pi)) != 0))


def spread(run: Trajectory, n: int) -> float:
    """By how much cranks differ in angle [rad]: zero on the branch of parallelograms."""
    return float(max(np.abs(run.q[f"c{i}.angle"] - run.q["c0.angle"]).max() for i in range(1, n + 1)))


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize(("order", "rtol"), [("dopri5", 1e-7), ("dop853", 1e-9), ("dop853", 1e-12)])
def test_event_driven_goes_over_flat_positions(n: int, order: str, rtol: float) -> None:
    control = ErrorControl(rtol=rtol, atol=rtol / 100, dt_min=1e-6, dt_max=1e-2)
    run = simulate(n_four_bar(n), EventDriven(order=order), t_end=LAST, dt=control)
    assert flat_positions(run) >= 9
    assert energy_change(run) < 1e-8  # measured 1e-10 to 5e-10: that of the steps over flat positions
    assert spread(run, n) < 1e-9
    # measured 2e-9 to 2e-7; an error in energy of 1e-9 moves the angle by some 1e-8
    assert run.q["c0.angle"][-1] == pytest.approx(crank_angle(n), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4])
def test_moreau_jean_goes_over_flat_positions(n: int) -> None:
    coarse, fine = (simulate(n_four_bar(n), MoreauJean(), t_end=LAST, dt=dt) for dt in (1e-3, 5e-4))
    assert flat_positions(fine) >= 9
    assert energy_change(fine) < 1e-5
    assert energy_change(coarse) / energy_change(fine) == pytest.approx(4.0, rel=0.05)  # second order
    assert spread(fine, n) < 1e-9
    # few steps are not certified at once, near flat positions
    assert fine.counts["divided"] + fine.counts["chained"] < 200


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4])
def test_gauss_at_constant_step_loses_energy_at_first_order(n: int) -> None:
    runs = [simulate(n_four_bar(n), GaussQP(), t_end=2.0, dt=dt) for dt in (2e-4, 1e-4)]
    assert all(flat_positions(run) >= 2 for run in runs)
    assert all(spread(run, n) < 1e-6 for run in runs)
    assert energy_change(runs[0]) / energy_change(runs[1]) == pytest.approx(2.0, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("stepper", "dt"), [(GaussQP(), Landing(1e-6, 7e-4)), (GeneralizedAlpha(), 5e-4)])
def test_a_step_that_does_not_go_over_names_joints_time_and_rank(stepper: Stepper, dt: float | Landing) -> None:
    """Half kicks close joints by directions at the start alone, and are not solved near a flat position; the passes of
    the generalized-alpha scheme leave a residual where their accelerations are hardly determined."""
    with pytest.raises(
        SimulationFailed, match="singular position at t = .* rank of its joints falls from 14 to 1[23]"
    ) as e:
        simulate(n_four_bar(2), stepper, t_end=LAST, dt=dt)
    assert "rows of A0, A" in str(e.value)
    assert "bounce" not in str(e.value)


def parallelogram_in_space(angle: float) -> System:
    """A window in space whose coupler is kept upright by parallel axes alone, its cranks at this angle."""
    out, turn = (math.cos(angle), math.sin(angle)), (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))
    z, bar = (0.0, 0.0, 1.0), {"mass": 1.0, "inertia": (0.01, 0.1, 0.1)}
    first = SpatialBody("first", position=(out[0] / 2, out[1] / 2, 0.0), quaternion=turn, **bar)
    second = SpatialBody("second", position=(1 + out[0] / 2, out[1] / 2, 0.0), quaternion=turn, **bar)
    coupler = SpatialBody("coupler", position=(0.5 + out[0], out[1], 0.0), **bar)
    near, far = (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)
    joints = [
        Revolute("A", "ground", first, at_b=near, axis_a=z, axis_b=z),
        Revolute("B", "ground", second, at_a=(1.0, 0.0, 0.0), at_b=near, axis_a=z, axis_b=z),
        Spherical("L", first, coupler, at_a=far, at_b=near),
        ParallelAxes("upright", "ground", coupler, axis_a=z, axis_b=z),
        PointOnLine("R", second, coupler, at_a=far, at_b=far, axis_a=z),
    ]
    gravity = Gravity(acceleration=(0.0, -9.81, 0.0))
    return Model([Ground("ground"), first, second, coupler, *joints, gravity]).build()


def test_event_driven_goes_over_flat_positions_in_space() -> None:
    control = ErrorControl(rtol=1e-7, atol=1e-9, dt_min=1e-6, dt_max=1e-2)
    run = simulate(parallelogram_in_space(1.4), EventDriven(), t_end=1.5, dt=control)
    heights = run.q["first.y"]
    assert np.sum(np.diff(np.sign(heights)) != 0) >= 1
    assert np.ptp(run.energy["kinetic"] + run.energy["potential"]) < 1e-6  # J, of a motion of some 10 J at rtol = 1e-7
    assert run.q["second.y"] == pytest.approx(heights, abs=1e-9)
