"""Large and curved gaps: the true gaps must close, not their linearisation."""

import numpy as np
import pytest
from loops import some

from nonsmooth import ActiveSet, GaussMPCC, GaussQP, Landing, Rigid, simulate


@pytest.mark.parametrize("links", [1, 10])
@pytest.mark.parametrize(
    "stepper", some([GaussQP(), GaussMPCC(solver=ActiveSet()), GaussMPCC()], 3), ids=["QP", "MPCC", "IPOPT"]
)
def test_true_gaps_close_at_large_steps(stepper, links, loose_chain):
    trajectory = simulate(loose_chain(links), stepper, t_end=0.5, dt=5e-3)
    assert trajectory.counts["fallbacks"] == 0
    assert trajectory.certificate.gap_violation <= 1e-10
    assert np.min(trajectory.gap.array) < 1e-9  # the links do hang


def test_both_steppers_solve_the_same_equations(loose_chain):
    """One scheme, solved as QPs and as MPCCs: the motions agree to the solvers' round-off grown over 20 steps."""
    ends = [
        simulate(loose_chain(10), stepper, t_end=0.1, dt=5e-3).end.q
        for stepper in (GaussQP(), GaussMPCC(solver=ActiveSet()))
    ]
    assert np.max(np.abs(ends[0] - ends[1])) <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_landing_on_a_journal(restitution, loose_chain):
    """A pendulum in a loose bearing: gaps hold to round-off, energy rises only by the second-order error of a step."""
    system = loose_chain(1, clearance=1e-3, contact=Rigid(restitution=restitution, friction=0.0))
    rise = []
    for dt in (5e-4, 2.5e-4):
        trajectory = simulate(system, GaussQP(), t_end=0.5, dt=Landing(1e-6, dt))
        assert trajectory.certificate.gap_violation <= 1e-10
        total = trajectory.energy["kinetic"] + trajectory.energy["potential"]
        rise.append(np.max(total - np.minimum.accumulate(total)))
        # the drop ends where the journal meets the bearing, c below; the arc on its wall follows
        assert trajectory.impacts["t"][0] == pytest.approx(np.sqrt(2 * 1e-3 / 9.81), rel=1e-9)
        assert (len(trajectory.impacts["t"]) > 1) == (restitution > 0)
    assert rise[0] <= 1e-4 * np.ptp(trajectory.energy["kinetic"])
    assert 3.5 <= rise[0] / rise[1] <= 4.5
