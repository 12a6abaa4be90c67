"""What only the MPCC needs: typical sizes that a motion does not outgrow, and one root of two."""

from dataclasses import dataclass, replace

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
    SimulationFailed,
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


@dataclass(frozen=True)
class Across(IpoptMPCC):
    """Answers with the root on the opposite wall, so many times."""

    def setup(self):
        return AcrossSession(super().setup())


class AcrossSession:
    """Polishes the far root, whose impulse carries the journal through its bearing."""

    def __init__(self, session):
        self.session, self.found = session, []

    def solve(self, program, guess=None):
        dt = program.upper[0]
        x, y = guess.x.copy(), guess.y.copy()
        x[0], x[1:3], y[0] = dt, (0.0, 2 * C / dt), 2 * C / dt + 9.81 * dt / 2
        far = polished_mpcc(program, replace(guess, x=x, y=y))
        assert program.residual(far) <= 1e-9  # certified as well
        return far


def test_the_root_across_the_clearance_is_rejected():
    """Its residual is as small, but the near root is the motion; without another solver the run ends."""
    system = resting_journal()
    with pytest.raises(SimulationFailed, match="opposite wall") as failed:
        simulate(system, GaussMPCC(solver=Across(), fallback=False), t_end=0.1, dt=STEP)
    assert len(failed.value.trajectory.t) == 1
    run = simulate(system, GaussMPCC(), t_end=0.1, dt=STEP)
    assert np.max(np.abs(run.q["journal.y"] + C)) <= 1e-15
    assert run.P_N["pin"].sum() == pytest.approx(9.81 * 0.1, rel=1e-9)


@pytest.mark.slow  # compiles the text of another impact law
def test_a_start_without_load_or_normal_does_not_scale_the_run():
    """Concentric and without load at t = 0, where nothing has a size: unknowns are scaled by what they become."""
    system = dual_manipulator(case=2, impact="stronge").build()
    pressed = simulate(system, GaussQP(), t_end=0.6, dt=STEP).end
    run = simulate(system, GaussMPCC(), t_end=0.75, dt=STEP, state=pressed)
    other = simulate(system, GaussQP(), t_end=0.75, dt=STEP, state=pressed)
    assert run.P_N["joint1"].sum() == pytest.approx(other.P_N["joint1"].sum(), rel=1e-9)
    assert np.max(np.abs(run.q.array[-1] - other.q.array[-1])) <= 1e-12
    assert run.counts["fallbacks"] == 0 and run.counts["iterations"] <= 20 * run.counts["steps"]
    assert "at the start of each step" in run.manifest["rules"]["scales of the unknowns"]
    assert "increases with its impulse" in run.manifest["rules"]["root of a step"]
