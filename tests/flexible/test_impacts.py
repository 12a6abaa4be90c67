"""Impacts through modes: the mass that is struck, and what converges with the number of modes."""

from __future__ import annotations

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Revolute,
    Rigid,
    simulate,
)
from nonsmooth.model.flexible_bodies import PlanarFlexibleBody
from nonsmooth.model.registry import find_problems

from .beams import free_rod

LENGTH, DENSITY, AREA, MODULUS = 0.5, 7850.0, 1e-4, 2.1e11
SPEED_OF_SOUND = np.sqrt(MODULUS / DENSITY)
MASS = DENSITY * AREA * LENGTH
#: [s] of a wave to the other end and back
CONTACT = 2 * LENGTH / SPEED_OF_SOUND
#: nothing slips here
PLASTIC = Rigid(restitution=0.0, friction=0.1)


def rod_against_wall(modes: int):
    """A steel rod that flies along x against a rigid wall with 1 m/s.

    Bending, which nothing excites, makes up nine modes, for which the package has machine code.
    """
    waves = {"axial": SPEED_OF_SOUND, "axial_modes": modes, "bending": 10.0, "bending_modes": max(9 - modes, 0)}
    rod = PlanarFlexibleBody("rod", free_rod(LENGTH, MASS, **waves), velocity=(1.0, 0.0))
    wall = PointPlane(
        "wall", "ground", rod.node("right"), at_a=(LENGTH / 2 + 1e-6, 0.0), direction=np.pi / 2, contact=PLASTIC,
        size=1e-4,
    )  # fmt: skip
    return Model([Ground(), rod, wall]).build()


STEPPERS = {
    "MoreauJean": (MoreauJean(), CONTACT / 1000),
    "GaussQP": (GaussQP(), Landing(1e-10, CONTACT / 200)),
    "EventDriven": (EventDriven(), ErrorControl(1e-8, 1e-12, 1e-12, CONTACT / 50)),
}


@pytest.mark.parametrize("name", STEPPERS)
@pytest.mark.parametrize("modes", some([5, 16], 2))
def test_a_rod_strikes_a_wall_again_until_the_wave_has_come_back(name: str, modes: int) -> None:
    """The first impulse is that of the mass m / (1 + 2n), which does not converge; impulse and duration do.

    Exact are an impulse of 2 m v and a contact of 2 L / c. With n modes the rod keeps its energy but that of the first
    impact, 1 / (1 + 2n) of it, whence its momentum: the impulse falls short by 1 / (2 (1 + 2n)); that to 2e-3, as steps
    turn the fastest mode by .3 rad. The contact ends early by about 1 / (5n) (measured).
    """
    stepper, dt = STEPPERS[name]
    run = simulate(rod_against_wall(modes), stepper, t_end=1.5 * CONTACT, dt=dt)
    impulses = run.P_N["wall"]
    pressed = np.flatnonzero(impulses > 1e-9 * MASS)
    assert impulses[pressed[0]] / MASS == pytest.approx(1 / (1 + 2 * modes), rel=1e-2)
    assert impulses.sum() / (2 * MASS) == pytest.approx(1 - 0.5 / (1 + 2 * modes), abs=2e-3)
    duration = (run.t[pressed[-1]] - run.t[pressed[0]]) / CONTACT
    assert 1 - 0.25 / modes < duration < 1
    if modes == 16:
        assert duration == pytest.approx(1.0, abs=0.03)
        assert impulses.sum() == pytest.approx(2 * MASS, rel=0.03)


def test_a_mass_strikes_a_clamped_bar_of_its_own_mass() -> None:
    """Saint-Venant: contact for 3.0676676416 L / c, the mass leaves with .6876189398 of its speed; 2 % at 16 modes."""
    bar = PlanarFlexibleBody("bar", free_rod(LENGTH, MASS, axial=SPEED_OF_SOUND, axial_modes=16))
    mass = PlanarBody("mass", MASS, 1e-5, position=(LENGTH / 2 + 1e-7, 0.0), velocity=(-1.0, 0.0))
    clamp = Revolute("clamp", "ground", bar.node("left"), at_a=(-LENGTH / 2, 0.0))
    face = PointPlane("face", bar.node("right"), mass, direction=-np.pi / 2, contact=PLASTIC, size=1e-4)
    wave = LENGTH / SPEED_OF_SOUND
    run = simulate(Model([Ground(), bar, mass, clamp, face]).build(), MoreauJean(), t_end=3.5 * wave, dt=wave / 250)
    pressed = np.flatnonzero(run.P_N["face"] > 1e-9 * MASS)
    assert (run.t[pressed[-1]] - run.t[pressed[0]]) / wave == pytest.approx(3.0676676416, rel=2e-2)
    assert run.v["mass.x"][-1] == pytest.approx(0.6876189398, rel=2e-2)


def test_closings_are_located_where_modes_are_stiff() -> None:
    """To some units of round-off of half a metre; with the derivative of rigid bodies it was 1.3e-12 m."""
    system = find_problems()["flexible-slider-crank"]().build()
    run = simulate(system, GaussQP(), t_end=2e-3, dt=Landing(1e-6, 2e-4))
    assert len(run.impacts) >= 10
    assert np.max(np.abs(run.gap.array[run.P_N.array > 0.0])) <= 1e-15
