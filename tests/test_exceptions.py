"""Errors travel between processes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from nonsmooth import GaussMPCC, IpoptMPCC, SimulationFailed, SolverFailed, simulate
from nonsmooth.exceptions import Interrupted
from nonsmooth_problems import slider_rod


@pytest.fixture(scope="module")
def failure():
    """A failed run whose program holds symbols of CasADi, which cannot be pickled."""
    with pytest.raises(SimulationFailed) as caught:
        simulate(slider_rod(case=1).build(), GaussMPCC(solver=IpoptMPCC("literal")), t_end=0.02, dt=1e-4)
    return caught.value


def test_a_failed_run_is_pickled_with_its_trajectory(failure):
    copy = pickle.loads(pickle.dumps(failure))
    assert type(copy) is SimulationFailed and str(copy) == str(failure)
    assert np.array_equal(copy.trajectory.q.array, failure.trajectory.q.array)
    assert type(copy.cause) is SolverFailed and str(copy.cause) == str(failure.cause)
    assert copy.cause.attempts == failure.cause.attempts and copy.cause.program is None


def test_an_interruption_is_pickled_too(failure):
    copy = pickle.loads(pickle.dumps(Interrupted("at t = 1 s", trajectory=failure.trajectory)))
    assert str(copy) == "at t = 1 s" and len(copy.trajectory.t) == len(failure.trajectory.t)
