"""What rows hold as means of steps is the integral of what is found at instants: by Simpson's rule, of short steps.

Two ways to the same forces: the stages of the stepper, and the equations at states between its rows.
"""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, simulate
from nonsmooth_problems import cam_follower, four_bar, slider_crank_translational, socket_pendulum

#: problem, duration, longest step [s], and the error of Simpson's rule over the largest mean
MECHANISMS = [
    pytest.param(four_bar, 0.3, 1e-3, 1e-6, id="journals in rough bearings"),
    pytest.param(cam_follower, 0.05, 2e-4, 1e-8, id="lift-off and return"),
    pytest.param(socket_pendulum, 0.1, 5e-4, 1e-6, id="a ball in a rough socket in space"),
    pytest.param(slider_crank_translational, 0.02, 1e-4, 1e-6, id="impacts of four corners"),
]


@pytest.mark.slow  # compiles the text of instants
@pytest.mark.parametrize(("problem", "t_end", "dt_max", "tolerance"), MECHANISMS)
def test_means_of_steps_are_integrals_of_instants(problem, t_end, dt_max, tolerance):
    run = simulate(problem().build(), EventDriven("dop853"), t_end=t_end, dt=ErrorControl(1e-11, 1e-13, 1e-6, dt_max))
    dt = np.diff(run.t)
    first, middle = run.instant(run.t[:-1]), run.instant(run.t[:-1] + dt / 2)
    last = run.instant(run.t[1:], side="left")
    means = {
        "a": (run.left.v.array[1:] - run.v.array[:-1]) / dt[:, None],
        "lam_N": run.lam_N.array[1:],
        "reaction": run.reaction.array[1:],
    }
    long = dt > 1e-6  # changes of velocity over shorter ones are round-off
    assert run.lam_N.array.max() > 0.1
    for name, mean in means.items():
        start, half, end = (getattr(found, name).array for found in (first, middle, last))
        error = np.abs((start + 4 * half + end) / 6 - mean)[long]
        assert np.max(error, initial=0.0) <= tolerance * np.max(np.abs(mean), initial=0.0), name
