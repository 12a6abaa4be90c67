"""The length of a landing step: gaps that only seem to close within it."""

from contextlib import nullcontext

import numpy as np
import pytest

from nonsmooth import (
    GaussQP,
    Ground,
    Landing,
    Model,
    PlanarBody,
    PointPlane,
    Rigid,
    SimulationFailed,
    Spring,
    simulate,
)
from nonsmooth_problems import chain, slider_crank_translational

GAP, SPEED = 1e-4, 0.1


@pytest.mark.parametrize(("stiffness", "closes"), [(400.0, True), (2000.0, False), (4000.0, False)])
@pytest.mark.parametrize("longest", [0.02, 0.05, 0.1])
def test_a_mass_that_a_spring_pulls_back_before_or_after_it_meets_the_plane(stiffness, closes, longest):
    """The spring decelerates it by a = k 0.05 m / (1 kg), so that the gap falls to GAP - SPEED^2 / 2 a: the second and
    third mass turn above the plane. The cubic through the ends of a long step shows a closing all the same, which
    shorter steps do not confirm: the search for it ends, and no contact occurs."""
    model = Model(name="mass on a spring")
    model.add(Ground())
    mass = PlanarBody("mass", mass=1.0, inertia=1.0, position=(0.0, GAP), velocity=(0.0, -SPEED))
    model.add(mass)
    contact = Rigid(restitution=0.5, friction=0.0)
    model.add(PointPlane("tip", "ground", mass, at_a=(0.0, 0.0), at_b=(0.0, 0.0), contact=contact))
    model.add(Spring("spring", "ground", mass, at_a=(0.0, 1.05), at_b=(0.0, 0.0), stiffness=stiffness, free_length=1.0))
    assert (SPEED**2 / (2 * 0.05 * stiffness) > GAP) is closes
    run = simulate(model.build(), GaussQP(), t_end=longest, dt=Landing(1e-6, longest))
    assert run.status == "finished" and run.t[-1] == longest
    assert np.min(run.gap["tip"]) >= -1e-13 * GAP  # landings are located to 1e-13 of the gap's scale
    assert bool(run.P_N["tip"].sum() > 0.0) is closes


@pytest.mark.parametrize("dt_max", [2.5e-3, 4e-3, 1e-2])
def test_trials_of_long_steps_do_not_assemble_joints_in_another_way(dt_max):
    """The crank turns by .4 to 1.5 rad in dt_max. After a trial in which it flips to the other assembly gaps seem to
    close at any step size, so that the run would crawl in steps of femtoseconds; it takes 105 to 253."""
    run = simulate(slider_crank_translational().build(), GaussQP(), t_end=0.2, dt=Landing(1e-6, dt_max), max_steps=1000)
    assert run.t[-1] == pytest.approx(0.2, rel=1e-12)
    assert run.certificate.joint_violation <= 1e-12


def test_steps_after_one_that_was_halved_grow_slowly_also_in_a_run_that_goes_on():
    """The first link of a chain swings so fast that the longest step has no solution for a while."""
    system, settings = chain(n=8).build(), {"t_end": 0.1, "dt": Landing(1e-6, 4e-3)}
    run = simulate(system, GaussQP(), **settings)
    assert 0 < run.counts["shortened"] < run.counts["steps"] / 2  # each step three times if it began with the longest
    state = system.start
    while state.t < 0.1:
        with pytest.raises(SimulationFailed) if state.t < run.t[-2] else nullcontext() as ended:
            part = simulate(system, GaussQP(), **settings, state=state, max_steps=1)
        state = part.end if ended is None else ended.value.trajectory.end
    assert np.array_equal(state.q, run.end.q) and np.array_equal(state.v, run.end.v)
