"""Long mechanisms are stepped portion by portion: what a portion does has all that it needs from the ones before."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import MoreauJean, Rigid, simulate
from nonsmooth.native.portions import divide
from nonsmooth_problems import chain


@pytest.mark.parametrize("seed", range(30))
def test_portions_of_any_graph(seed):
    """Bodies of any gaps, chains among them, some of which hang on the ground."""
    rng = np.random.default_rng(seed)
    bodies, together = int(rng.integers(1, 60)), int(rng.integers(1, 9))
    nearest = int(rng.integers(1, 12))  # gaps join bodies that are near each other, or any
    low = rng.integers(0, bodies, rng.integers(0, 80))
    pairs = np.column_stack([low, np.minimum(low + rng.integers(1, nearest + 1, low.size), bodies)])
    pairs = pairs[np.argsort(low + rng.normal(0.0, rng.choice([0.0, 2.0, 50.0]), low.size), kind="stable")]
    parts = divide(bodies, pairs, together)
    assert len(parts) == -(-bodies // together)

    stood, looked = set(), []
    last_body, last_gap = bodies, len(pairs)
    for first_body, first_gap in zip(parts.first_body[::-1], parts.first_gap[::-1], strict=True):
        stood |= set(range(first_body + 1, last_body + 1))
        assert all(set(pairs[gap]) <= stood | {0} for gap in range(first_gap, last_gap))
        assert np.all(parts.of(np.arange(first_gap, last_gap)) == first_body // together)
        looked += range(first_gap, last_gap)
        last_body, last_gap = first_body, first_gap
    assert stood == set(range(1, bodies + 1)) and sorted(looked) == list(range(len(pairs)))

    fields = parts.next_gap, parts.done_body, parts.done_gap, parts.left_body
    for next_gap, done_body, done_gap, left_body in zip(*fields, strict=True):
        assert done_gap <= next_gap and left_body <= done_body
        assert np.all((pairs[next_gap:] > done_body) | (pairs[next_gap:] == 0))  # their velocities are known
        assert np.all(pairs[:done_gap] <= done_body)
        assert np.all((pairs[done_gap:] > left_body) | (pairs[done_gap:] == 0))  # nothing is to be added to them
    assert (next_gap, done_body, done_gap, left_body) == (len(pairs), bodies, len(pairs), bodies)


@pytest.mark.parametrize("restitution", [0.0, 0.3])
def test_a_chain_in_portions_and_in_one(restitution, monkeypatch):
    """All that is recorded but residuals is the same to the bit: only the order of sums over bodies differs."""
    divided, runs = [], []
    for together in (8, 50):

        def divide_so(bodies, pairs, _, together=together):
            divided.append(divide(bodies, pairs, together))
            return divided[-1]

        monkeypatch.setattr("nonsmooth.native.layout.divide", divide_so)
        system = chain(50, contact=Rigid(restitution=restitution, friction=0.0)).build()
        runs.append(simulate(system, MoreauJean(), t_end=0.02, dt=1e-4, engine="native"))
    assert [len(portions) for portions in divided] == [7, 1]
    for table in ("q", "v", "P_N", "gap", "mode"):
        one, other = (getattr(run, table).array for run in runs)
        assert np.array_equal(one, other), table
    assert runs[0].counts["solves"] == runs[1].counts["solves"] and len(runs[0].impacts) == len(runs[1].impacts)
    assert all(run.counts["python_steps"] == 0 for run in runs)


@pytest.mark.parametrize("record", [1, 3])
def test_a_portion_that_has_moved_goes_back_where_the_step_is_not_certified(record, monkeypatch):
    """Bodies move as soon as they are judged; Python makes the step anew from where they stood.

    What is asked for here is less than the round-off of most steps, and more than that of some.
    """
    system = chain(50, contact=Rigid(restitution=0.0, friction=0.0)).build()
    run = {"t_end": 0.005, "dt": 1e-4, "engine": "native", "record": record}
    native = simulate(system, MoreauJean(), **run)
    monkeypatch.setattr("nonsmooth.engine.CERTIFIED", 0.8 * native.certificate.motion_residual)
    mixed = simulate(system, MoreauJean(), **run)
    assert 0 < mixed.counts["python_steps"] < 50 and native.counts["python_steps"] == 0
    for table in ("q", "v"):
        one, other = (getattr(run, table).array for run in (native, mixed))
        assert np.allclose(one, other, rtol=0.0, atol=1e-12 * np.abs(one).max())
    assert np.allclose(native.P_N.array, mixed.P_N.array, rtol=1e-9)
