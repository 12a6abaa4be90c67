"""What only the MPCC needs: typical sizes that a motion does not outgrow, and one root of two."""

from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import (
    GaussMPCC,
    GaussQP,
    Gravity,
    Ground,
    IpoptMPCC,
    Landing,
    Model,
    PlanarBody,
    RevoluteClearance,
    Rigid,
    SolverFailed,
    simulate,
)
from nonsmooth.solvers.polish import polished_mpcc
from nonsmooth_problems import dual_manipulator

C, STEP = 5e-4, Landing(1e-6, 5e-3)


def resting_journal():
    """At the bottom of a fixed bearing."""
    model = Model(name="journal")
    model.add(Ground())
    model.add(PlanarBody("journal", mass=1.0, inertia=1e-3, position=(0.0, -C)))
    model.add(
        RevoluteClearance(
            "pin", "ground", "journal", clearance=C, radius=0.01, contact=Rigid(restitution=0.0, friction=0.1)
        )
    )
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model.build()


def test_the_root_across_the_play_is_refused():
    """Certified as well, by an impulse that carries the journal through the bearing; the near root is taken."""
    system = resting_journal()
    formulation = GaussMPCC().formulate(system, system.parameter_vector(None), STEP, IpoptMPCC())
    starting = formulation.start(system.start)
    with pytest.raises(StopIteration) as stopped:
        next(starting)
    state = stopped.value.value[0]
    closed = state.stepper_memory["closed"] > 0
    assert closed.all()
    answers = []
    for across in (0.0, 2 * C / STEP.dt_max):
        asking = formulation.advance(state, STEP.dt_max, closed)
        program, guess = next(asking)
        x, y = guess.x.copy(), guess.y.copy()
        x[1:3], y[0] = (0.0, across), across + 9.81 * STEP.dt_max / 2
        answers.append((asking, polished_mpcc(program, replace(guess, x=x, y=y))))
        assert program.residual(answers[-1][1]) <= 1e-9
    (near, small), (far, great) = answers
    assert great.y[0] == pytest.approx(small.y[0] + 2 * C / STEP.dt_max, rel=1e-6)
    with pytest.raises(SolverFailed, match="to the opposite wall"):
        far.send(great)
    with pytest.raises(StopIteration):
        near.send(small)


def test_a_start_without_load_or_normal_does_not_scale_the_run():
    """Concentric and without load at t = 0, where nothing has a size: unknowns are scaled by what they become."""
    system = dual_manipulator(case=2, impact="stronge").build()
    pressed = simulate(system, GaussQP(), t_end=0.6, dt=STEP, engine="python").end
    assert np.max(pressed.stepper_memory["x_scale"][1:16]) < 1e-6 * np.max(np.abs(pressed.v))
    run = simulate(system, GaussMPCC(), t_end=0.75, dt=STEP, state=pressed)
    other = simulate(system, GaussQP(), t_end=0.75, dt=STEP, state=pressed)
    assert run.P_N["joint1"].sum() == pytest.approx(other.P_N["joint1"].sum(), rel=1e-9)
    assert np.max(np.abs(run.q.array[-1] - other.q.array[-1])) <= 1e-12
    assert run.counts["fallbacks"] == 0 and run.counts["iterations"] <= 20 * run.counts["steps"]
    assert "velocity exceeds 10 times" in run.manifest["rules"]["scales of the unknowns"]
    assert "increases with its impulse" in run.manifest["rules"]["root of a step"]
