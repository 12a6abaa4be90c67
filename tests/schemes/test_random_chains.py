"""Chains and loops at random: no step without certificate, and few that are taken in parts or by other solvers."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    GeneralizedAlpha,
    Gravity,
    Ground,
    Model,
    MoreauJean,
    PlanarBody,
    PrismaticClearance,
    RevoluteClearance,
    Rigid,
    SimulationFailed,
    simulate,
)

LENGTH, PLAY, DT = 0.1, 5e-4, 1e-4


def mechanism(rng: np.random.Generator, loop: bool) -> Model:
    """3 to 8 links of random masses and speeds in clearance joints; a loop ends in a slider in a loose guide."""
    count, model = int(rng.integers(3, 9)), Model(name="random")
    ground = before = model.add(Ground())
    contact = Rigid(restitution=float(rng.choice([0.0, 0.5, 0.9])), friction=float(rng.choice([0.0, 0.1, 0.3, 0.8])))
    height = 0.0
    for i in range(count):
        height -= LENGTH + rng.uniform(-0.9, 0.9) * PLAY
        mass = float(rng.uniform(0.02, 1.0))
        velocity, spin = tuple(rng.normal(0.0, 0.5, 2)), float(rng.normal(0.0, 10.0))
        link = PlanarBody(f"link{i}", mass=mass, inertia=mass * LENGTH**2 / 12, position=(0.0, height + LENGTH / 2),
                          velocity=velocity, angular_velocity=spin)  # fmt: skip
        model.add(link)
        model.add(RevoluteClearance(f"joint{i}", before, link, at_a=(0.0, -LENGTH / 2 if i else 0.0),
                                    at_b=(0.0, LENGTH / 2), clearance=PLAY, radius=5e-3, contact=contact))  # fmt: skip
        before = link
    if loop:
        model.add(PrismaticClearance("guide", ground, before, length=0.02, clearance=PLAY, at_guide=(0.0, height),
                                     at_slider=(0.0, -LENGTH / 2), contact=contact))  # fmt: skip
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model


def moreau(rng: np.random.Generator) -> MoreauJean:
    return MoreauJean(theta=float(rng.choice([0.5, 0.7, 1.0])))


def alpha(rng: np.random.Generator) -> GeneralizedAlpha:
    return GeneralizedAlpha(float(rng.choice([0.0, 0.8, 1.0])))


def walk(seed: int, steps: int, each: int = 2000, stepper=moreau) -> tuple[int, int, int]:
    """Steps taken, those that were not certified at once, and runs that end at a step that none certifies, over
    mechanisms of so many steps each."""
    rng, taken, rescued, ended = np.random.default_rng(seed), 0, 0, 0
    while taken < steps:
        system = mechanism(rng, loop=bool(rng.integers(2))).build()
        try:
            run = simulate(system, stepper(rng), t_end=each * DT, dt=DT, record=100)
        except SimulationFailed as failure:
            assert "the step is not certified" in str(failure)
            taken, ended = taken + failure.trajectory.counts["steps"], ended + 1
            continue
        # a scheme that sees velocities alone may let a contact overlap by more than its clearance, and says so
        assert run.t[-1] == pytest.approx(each * DT) and run.status.partition(":")[0] in ("finished", "untrusted")
        assert run.certificate.motion_residual <= 1e-9
        # impulses of wedged contacts are large; in rates they are certified to 1e-9
        assert np.isfinite(run.certificate.complementarity)
        taken, rescued = taken + run.counts["steps"], rescued + run.counts["divided"] + run.counts["chained"]
    return taken, rescued, ended


@pytest.mark.slow
@pytest.mark.parametrize(("stepper", "lost"), [(moreau, 0), (alpha, 1)])
def test_twenty_thousand_steps_at_random(stepper, lost):
    """One step of generalised alpha is not solved: friction of .8 at a journal that turns its normal within a step."""
    taken, rescued, ended = walk(1, 20_000, stepper=stepper)
    assert rescued <= 1e-2 * taken and ended <= lost


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 5))
def test_many_steps_at_random(seed):
    """One run in a hundred may end, where friction wedges a journal: see `python -m benchmarks.random_steps`."""
    taken, rescued, ended = walk(seed, 100_000)
    assert rescued <= 1e-2 * taken and ended <= 1
