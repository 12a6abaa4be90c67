"""When a motion cannot be predicted any more, a finer run foresees."""

from __future__ import annotations

import pytest

from nonsmooth import ErrorControl, EventDriven, simulate
from nonsmooth.trust import difference, scale_of
from nonsmooth_problems import slider_crank_revolute


@pytest.mark.slow
def test_the_time_of_parting_is_foreseen():
    """At 5000 rpm and c = 0.17 mm a run at 1e-6 is lost after 18 ms; `benchmarks.horizons` has more of the kind."""
    system, small, t_end = slider_crank_revolute().build(), {"pin.clearance": 1.7e-4}, 0.02
    run = simulate(
        system, EventDriven(), t_end=t_end, dt=ErrorControl(1e-6, 1e-8, 1e-6, 1e-4), parameters=small, check=True
    )
    truth = simulate(system, EventDriven("dop853"), t_end=t_end, dt=ErrorControl(1e-10), parameters=small)
    values = system.parameter_vector(small)
    away = difference(run, truth, system.gyration(values), scale_of(system, values, truth), accuracy=1e-2)
    assert 0.0 < away.parted < t_end
    assert run.verdict.parted == pytest.approx(away.parted, rel=0.15)
    assert run.verdict.horizon < away.parted
