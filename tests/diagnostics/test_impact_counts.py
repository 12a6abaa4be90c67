"""The number of impacts is a property of the motion: not of units, steps or schemes that resolve it."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Rigid,
    Torque,
    simulate,
)
from nonsmooth.diagnostics import impacts

UNITS = {"SI": (1.0, 1.0, 1.0), "mm, kg, ms": (1e3, 1.0, 1e3), "10 um, ug, 0.1 ms": (1e-5, 1e-9, 1e-4)}


def crank(L, M, T):
    """Slider-crank with a loose pin that bounces until it rests in its bearing, in units of so many m, kg and s."""
    w, a, b, c, V = 150.0 / T, 0.05 * L, 0.12 * L, 2e-4 * L, L / T
    law = Rigid(restitution=0.5, friction=0.1)
    back = -w * a / b
    return Model(
        [
            Ground("f"),
            PlanarBody("crank", mass=0.2 * M, inertia=1e-4 * M * L**2, position=(a / 2, 0.0), velocity=(0.0, w * a / 2),
                       angular_velocity=w),
            PlanarBody("rod", mass=0.3 * M, inertia=4e-4 * M * L**2, position=(a + b / 2, 0.0),
                       velocity=(0.0, w * a / 2), angular_velocity=back),
            PlanarBody("slider", mass=0.4 * M, inertia=1e-4 * M * L**2, position=(a + b + 0.3 * c, 0.0)),
            Revolute("main", "f", "crank", at_b=(-a / 2, 0.0)),
            Revolute("big", "crank", "rod", at_a=(a / 2, 0.0), at_b=(-b / 2, 0.0)),
            RevoluteClearance("pin", "rod", "slider", at_a=(b / 2, 0.0), clearance=c, radius=0.01 * L, contact=law),
            Prismatic("slide", "f", "slider"),
            Gravity(acceleration=(0.0, -9.81 * V / T)),
            Torque("m", "crank", torque=2.0 * M * L**2 / T**2),
        ]
    ).build()  # fmt: skip


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
def test_impacts_do_not_depend_on_units_and_step(units):
    """Event-driven at two tolerances, landing and Moreau-Jean: the 7 bounces above 1 % of the fastest approach. With
    the smallest bounces, which the window of 1e-6 time units ends, there are 9 to 20."""
    system, T = crank(*units), units[2]
    schemes = (
        (EventDriven(), ErrorControl(1e-11)), (EventDriven(), ErrorControl(1e-9)),
        (GaussQP(), Landing(1e-6 * T, 5e-5 * T)), (MoreauJean(), 2e-6 * T),
    )  # fmt: skip
    counts = [len(impacts(simulate(system, stepper, t_end=0.03 * T, dt=dt))) for stepper, dt in schemes]
    assert counts == [7, 7, 7, 7]


def test_lasting_contact_is_no_impact():
    """Moreau-Jean keeps the pin, whose normal turns, in contact by an impulse in each step: none of them is a row."""
    run = simulate(crank(*UNITS["SI"]), MoreauJean(), t_end=0.03, dt=2e-6)
    assert len(run.impacts) <= 8 and np.count_nonzero(run.P_N["pin"]) > 10_000
    assert run.impacts["t"].max() < 2e-3, "after that the pin rests in its bearing"


def test_round_off_is_no_impact():
    """A block that rests on two corners and is pushed aside: its impulses are those of its weight."""
    law = Rigid(restitution=0.5, friction=0.3)
    body = PlanarBody("block", mass=2.0, inertia=0.1, position=(0.0, 0.1))
    feet = [
        PointPlane(name, "ground", body, at_b=(x, -0.1), contact=law) for name, x in (("left", -0.2), ("right", 0.2))
    ]
    system = Model([Ground(), body, *feet, Gravity(acceleration=(1.0, -9.81))]).build()
    for stepper, dt in ((EventDriven(), ErrorControl(1e-9)), (MoreauJean(), 1e-3), (GaussQP(), Landing(1e-6, 1e-3))):
        assert len(simulate(system, stepper, t_end=0.1, dt=dt).impacts) == 0
