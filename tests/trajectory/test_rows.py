"""Rows of a run stand in one array from the first on; what runs of one mechanism share leaves no trace in them."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import MoreauJean, simulate
from nonsmooth.engine.rows import Rows, joined
from nonsmooth.exceptions import ModelError
from nonsmooth.trajectory.store import Store
from nonsmooth_problems import bouncing_ball, slider_rod


def room(rows):
    return {"t": np.arange(float(rows)), "q": np.arange(2.0 * rows).reshape(rows, 2)}


@pytest.mark.parametrize("apart", [False, True])
def test_rows_behind_each_other_are_joined_without_a_copy(apart):
    one, start = room(9), {"t": np.array([-1.0]), "q": np.array([[-2.0, -3.0]])}
    parts = [start, Rows(one, 1, 3), Rows(one, 3, 4), Rows(one, 5 if apart else 4, 8)]
    expected = {name: np.concatenate([part[name].copy() for part in parts]) for name in one}
    found = joined(parts)
    for name, values in expected.items():
        assert found[name].tobytes() == values.tobytes() and np.shares_memory(found[name], one[name]) is not apart


def test_rows_of_others_are_joined_by_a_copy():
    """Those of a checkpoint, of which there are several, and of two rooms."""
    start, one = {"t": np.zeros(2), "q": np.zeros((2, 2))}, room(5)
    found = joined([start, Rows(one, 1, 3), Rows(room(4), 0, 2)])
    assert found["t"].tolist() == [0.0, 0.0, 1.0, 2.0, 0.0, 1.0] and one["t"][0] == 0.0
    assert not np.shares_memory(found["t"], one["t"])


def test_steps_stand_in_one_array():
    """Of the whole run, whose steps were taken in several calls."""
    run = simulate(bouncing_ball().build(), MoreauJean(), t_end=0.5, dt=1e-5)
    assert run.counts["steps"] == 50_000
    short = simulate(bouncing_ball().build(), MoreauJean(), t_end=0.05, dt=1e-5)
    assert short.q.array.base is not None and len(short.q.array.base) - len(short.q.array) < 10
    assert short.q.array.tobytes() == run.q.array[: len(short.t)].tobytes()


def test_a_store_does_not_change_the_rows_that_it_took_over():
    given = room(40_000)
    before = {name: values.copy() for name, values in given.items()}
    store = Store()
    store.put(0, given)
    assert np.shares_memory(store.columns(40_000)["q"], given["q"])
    store.put(40_000, room(40_000))
    store.put(40_000, {name: values + 1.0 for name, values in room(40_000).items()})
    assert all(given[name].tobytes() == values.tobytes() for name, values in before.items())
    assert store.columns(80_000)["t"][40_000] == 1.0
    few = {name: values[:100] for name, values in given.items()}  # which would keep all others in memory
    short = Store()
    short.put(0, few)
    assert not np.shares_memory(short.columns(100)["q"], given["q"])


def test_parameters_of_the_run_before_leave_no_trace():
    system = slider_rod(case=2).build()
    runs = [
        simulate(system, MoreauJean(), t_end=0.01, dt=1e-5, parameters=changed)
        for changed in (None, {"slider.mass": 7.0}, None, {"slider.mass": 7.0})
    ]
    first, heavy, again, fresh = (run.q.array.tobytes() for run in runs)
    assert first == again != heavy == fresh
    alone = simulate(slider_rod(case=2).build(), MoreauJean(), t_end=0.01, dt=1e-5, parameters={"slider.mass": 7.0})
    assert alone.q.array.tobytes() == heavy


def test_an_admitted_start_admits_no_other():
    """With another clearance, or from another position, contacts overlap; then the start is admitted again."""
    system = bouncing_ball().build()
    lower = system.state({"ball.y": -1.0})
    for _ in range(2):
        simulate(system, MoreauJean(), t_end=1e-3, dt=1e-4)
        with pytest.raises(ModelError, match="overlaps"):
            simulate(system, MoreauJean(), t_end=1e-3, dt=1e-4, state=lower)
