"""Rows of a run stand in one array from the first on; what runs of one mechanism share leaves no trace in them."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, GaussQP, GeneralizedAlpha, Landing, MoreauJean, Rigid, simulate
from nonsmooth.engine import tables as engine_tables
from nonsmooth.engine.rows import AT_JUMPS, Rows, at_rows, cut, joined
from nonsmooth.engine.tables import Tables
from nonsmooth.exceptions import ModelError
from nonsmooth.trajectory.store import Store
from nonsmooth_problems import bouncing_ball, slider_crank_revolute, slider_rod


def room(rows):
    return {"t": np.arange(float(rows)), "q": np.arange(2.0 * rows).reshape(rows, 2)}


def jumping(*rows):
    """Tables of the rows at which velocities jump, with their numbers."""
    found = {name: np.array([[10.0 * row] for row in rows]).reshape(len(rows), 1) for name in AT_JUMPS}
    return found | {"row": np.array(rows, dtype=int)}


def a_start(rows):
    return {"t": -np.ones(rows), "q": -np.ones((rows, 2))} | jumping()


@pytest.mark.parametrize("apart", [False, True])
def test_rows_behind_each_other_are_joined_without_a_copy(apart):
    one, start = room(9), a_start(1)
    parts = [
        start,
        Rows(one, 1, 3, jumping(1)),
        Rows(one, 3, 4, jumping()),
        Rows(one, 5 if apart else 4, 8, jumping(0, 2)),
    ]
    expected = {name: np.concatenate([part[name].copy() for part in parts]) for name in one}
    found = joined(parts)
    assert found["row"].tolist() == [2, 4, 6] and found["v_left"].tolist() == [[10.0], [0.0], [20.0]]
    for name, values in expected.items():
        assert found[name].tobytes() == values.tobytes() and np.shares_memory(found[name], one[name]) is not apart


def test_rows_of_others_are_joined_by_a_copy():
    """Those of a checkpoint, of which there are several, and of two rooms."""
    start, one = a_start(2), room(5)
    found = joined([start, Rows(one, 1, 3, jumping(0)), Rows(room(4), 0, 2, jumping(1))])
    assert found["t"].tolist() == [-1.0, -1.0, 1.0, 2.0, 0.0, 1.0] and one["t"][0] == 0.0
    assert found["row"].tolist() == [2, 5]
    assert not np.shares_memory(found["t"], one["t"])


def test_a_part_of_rows_has_its_jumps():
    whole = {**room(9), **jumping(0, 3, 4, 8)}
    part = cut(whole, 3, 8)
    assert part["t"].tolist() == [3.0, 4.0, 5.0, 6.0, 7.0]
    assert part["row"].tolist() == [0, 1] and part["v_left"].tolist() == [[30.0], [40.0]]
    whole["v"] = np.arange(9.0)[:, None]
    rows = np.array([8, 2, 4])
    assert at_rows(whole, "v_left", rows).tolist() == [[80.0], [2.0], [40.0]]
    assert at_rows(whole, "reaction_impact", rows).tolist() == [[80.0], [0.0], [40.0]]


STEPPERS = {
    "Moreau-Jean": (MoreauJean(), 1e-4, "newton"), "Poisson": (MoreauJean(), 1e-5, "poisson"),
    "midpoint": (MoreauJean(joints="midpoint"), 1e-4, "newton"), "implicit Euler": (GaussQP(), 1e-4, "newton"),
    "landing": (GaussQP(), Landing(1e-6, 1e-3), "newton"), "alpha": (GeneralizedAlpha(), 1e-4, "newton"),
    "events": (EventDriven(), ErrorControl(1e-6), "newton"),
}  # fmt: skip


@pytest.mark.parametrize("name", ["landing", "alpha", "events"])
def test_every_row_with_an_impact_says_so(monkeypatch, name):
    """In tables of texts that write everything in each row: without it, what is before the impact would be lost."""
    (stepper, dt, _), usual, found = STEPPERS[name], Tables.read, [0]

    def read(tables, count):
        rows, every = usual(tables, count), {name: table[:count] for name, table in tables.of_jumps.items()}
        moved = rows["v"] != every["v_left"]
        impulses = (every[name] != 0.0 for name in ("P_N_impact", "P_T_impact", "reaction_impact"))
        jump = np.any(np.hstack([moved, *impulses]), axis=1)
        assert np.flatnonzero(jump).tolist() == rows["row"].tolist()
        found[0] += np.count_nonzero(jump)
        return rows

    monkeypatch.setattr(Tables, "read", read)
    contact = Rigid(restitution=0.5, friction=0.1)
    simulate(slider_crank_revolute(contact=contact).build(), stepper, t_end=0.02, dt=dt)
    assert found[0] > 1


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "Poisson")) for name in STEPPERS]
)
def test_what_stood_in_memory_before_a_run_leaves_no_trace(monkeypatch, name):
    """Rows of steps without an impact do not have what others have; none of it is read."""
    stepper, dt, impact = STEPPERS[name]
    contact = Rigid(restitution=0.0 if name == "implicit Euler" else 0.5, friction=0.1, impact=impact)
    system = slider_crank_revolute(contact=contact).build()

    found = []
    for before in (0x00, 0x3F, 0xFF):  # of which the last one is not a number

        def filled(shape, kind=float, before=before):
            table = np.empty(shape, kind)
            table.view(np.uint8)[...] = before
            return table

        monkeypatch.setattr(engine_tables, "empty", filled)
        run = simulate(system, stepper, t_end=0.02, dt=dt)
        tables = (run.q, run.v, run.left.v, run.left.gap_rate, run.lam_N, run.reaction, run.reaction_impact, run.energy)
        found.append([table.array.tobytes() for table in tables] + [run.impacts.tobytes()])
    assert found[0] == found[1] == found[2] and run.impacts.size > 0


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
