"""Places of nodes and stresses of a run."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import Ground, InputError, Model, MoreauJean, PlanarFlexibleBody, PointForce, Revolute, simulate
from nonsmooth.diagnostics import node_positions, stresses
from nonsmooth.flexible import Material, Rectangle, beam, modes

LENGTH, WIDTH, HEIGHT = 0.3, 0.01, 0.02
STEEL = Material(youngs=2.1e11, shear=8e10, density=7850.0)
MODES = modes(
    beam((0, 0, 0), (LENGTH, 0, 0), section=Rectangle(WIDTH, HEIGHT), material=STEEL, names={"left": 0, "right": 1}),
    interface=("left", "right"), keep=2, damping=0.5,
)  # fmt: skip
FORCE = 1e4


def stretched():
    """A rod that a constant axial force pulls, damped so that it comes to rest stretched."""
    rod = PlanarFlexibleBody("rod", MODES, position=(LENGTH / 2, 0.0))
    pin = Revolute("pin", "ground", rod.node("left"))
    pull = PointForce("pull", rod.node("right"), force=(FORCE, 0.0))
    return simulate(Model([Ground(), rod, pin, pull]).build(), MoreauJean(), t_end=5e-3, dt=1e-5)


def test_a_pulled_rod_is_longer_by_hookes_law_and_has_the_stress_of_it() -> None:
    """F L / (E A) and F / A; loads at the interface are exact in the modes, and 5e-3 s damp all but 1e-6."""
    run = stretched()
    area = WIDTH * HEIGHT
    assert node_positions(run, "rod.left")[-1] == pytest.approx([0.0, 0.0], abs=1e-14)
    longer = FORCE * LENGTH / (STEEL.youngs * area)
    assert node_positions(run, "rod.right")[-1] - [LENGTH, 0.0] == pytest.approx([longer, 0.0], rel=1e-5, abs=1e-12)
    axial = stresses(run, "rod")[-1][:, list(MODES.components).index("axial")]
    assert axial == pytest.approx(np.full(axial.size, FORCE / area), rel=1e-5)


def test_unknown_bodies_and_nodes_are_told() -> None:
    run = stretched()
    with pytest.raises(InputError, match='The run has no flexible body "crank"; it has rod'):
        stresses(run, "crank")
    with pytest.raises(InputError, match='The flexible body "rod" has no node "tip"; its nodes are left, '):
        node_positions(run, "rod.tip")
