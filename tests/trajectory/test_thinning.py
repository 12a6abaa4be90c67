"""Runs that keep every k-th row omit the others while they go on; the bits are those of omitting them at the end."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from loops import some

from nonsmooth import GaussQP, GeneralizedAlpha, Interrupted, Landing, MoreauJean, simulate
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.step.control import step_control
from nonsmooth.trajectory import Recorder
from nonsmooth.trajectory import recorder as module
from nonsmooth_problems import bouncing_ball, slider_rod, socket_pendulum

TABLES = ("q", "v", "gap", "gap_rate", "P_N", "P_T", "lam_N", "mode", "reaction", "reaction_impact", "energy")
#: mechanism, stepper, dt, t_end [s]; two with impacts, one with a joint in space
RUNS = {
    "guide": (lambda: slider_rod(case=2), GaussQP(), Landing(1e-6, 1e-4), 0.02),
    "ball": (bouncing_ball, GeneralizedAlpha(), 2e-3, 0.6),
    "socket": (socket_pendulum, MoreauJean(), 1e-3, 0.15),
}


def same_runs(a, b):
    for name in TABLES:
        assert getattr(a, name).array.tobytes() == getattr(b, name).array.tobytes(), name
    assert a.t.tobytes() == b.t.tobytes() and a.left.v.array.tobytes() == b.left.v.array.tobytes()
    assert a.contact_force.array.tobytes() == b.contact_force.array.tobytes()
    assert a.impacts.tobytes() == b.impacts.tobytes() and a.impacts.dtype == b.impacts.dtype
    assert (a.certificate, a.verdict, a.status) == (b.certificate, b.verdict, b.status)


@pytest.mark.parametrize("record", [2, 7, 25])
@pytest.mark.parametrize("name", some(RUNS, 4))
def test_rows_omitted_during_the_run_give_the_bits_of_rows_omitted_at_its_end(monkeypatch, step_by_step, name, record):
    problem, stepper, dt, t_end = RUNS[name]
    system = problem().build()
    arguments = {"t_end": t_end, "dt": dt, "record": record}
    at_the_end = simulate(system, stepper, **arguments)  # fewer rows than `WAITING`
    monkeypatch.setattr(module, "WAITING", 10)
    monkeypatch.setattr(module, "AT_ONCE", 16)
    most, thin_out = 0, Recorder._evaluate_waiting

    def seen(self):
        nonlocal most
        thin_out(self)
        most = max(most, sum(part["t"].size for part in self._rows[1]))

    monkeypatch.setattr(Recorder, "_evaluate_waiting", seen)
    during = simulate(system, stepper, **arguments)
    same_runs(during, at_the_end)
    assert during.counts["steps"] > 10 + 2 * record  # there was something to omit
    assert most <= 10 + record


def test_rows_that_are_evaluated_are_handed_over_where_memory_lacks_at_the_end(monkeypatch, step_by_step):
    """The run ends with the last of them, and can be continued from there."""
    system, arguments = slider_rod(case=2).build(), {"t_end": 0.02, "dt": 1e-4}
    whole = simulate(system, MoreauJean(), **arguments)
    monkeypatch.setattr(module, "AT_ONCE", 16)

    def lacking(*_):
        raise MemoryError

    monkeypatch.setattr(Recorder, "_evaluate_all", lacking)
    run = simulate(system, MoreauJean(), **arguments)
    rows = len(run.t)
    assert run.status == f"failed: for lack of memory the rows after t = {run.t[-1]:.9g} s are missing."
    assert len(whole.t) > rows > len(whole.t) - 18  # at most as many wait, and the last part
    assert run.q.array.tobytes() == whole.q.array[:rows].tobytes()
    assert run.end.t == run.t[-1] and run.end.q.tobytes() == run.q.array[-1].tobytes()


@pytest.mark.parametrize("record", [1, 5])
def test_tables_made_in_portions_are_the_same(monkeypatch, record):
    system = slider_rod(case=2).build()
    arguments = {"t_end": 0.02, "dt": 1e-4, "record": record}
    at_once = simulate(system, MoreauJean(), **arguments)
    monkeypatch.setattr(module, "AT_ONCE", 16)
    same_runs(simulate(system, MoreauJean(), **arguments), at_once)


def test_the_certificate_covers_omitted_rows(monkeypatch, step_by_step):
    """The largest penetration, of the order of a step, is in none of the recorded rows."""
    system = slider_rod(case=2).build()
    arguments = {"t_end": 0.02, "dt": 1e-4}
    whole = simulate(system, MoreauJean(), **arguments)
    monkeypatch.setattr(module, "WAITING", 10)
    worst = int(np.argmin(np.min(whole.gap.array, axis=1)))
    thin = simulate(system, MoreauJean(), **arguments, record=worst - 1)
    assert whole.certificate.gap_violation > 0.0
    assert np.min(thin.gap.array) > -whole.certificate.gap_violation
    assert thin.certificate == whole.certificate and thin.impacts.tobytes() == whole.impacts.tobytes()


def test_rows_are_omitted_where_compiled_functions_evaluate_them(monkeypatch):
    """They are evaluated in a memory of their own, so that the steps go on where they stand."""
    system, dt, t_end = socket_pendulum().build(), 1e-4, 0.5
    arguments = {"t_end": t_end, "dt": dt, "record": 7}
    monkeypatch.setattr("nonsmooth.engine.steps.MOST", 64)  # rows that compiled steps hand over at once
    at_the_end = simulate(system, MoreauJean(), **arguments)
    monkeypatch.setattr(module, "WAITING", 100)
    made = []

    def recorder(system, manifest, values, *, record, expected, constant):
        control = step_control(dt, (0.0, t_end))
        own = CompiledSteps(system, MoreauJean(), control, values, t_end)
        made.append(Recorder(system, manifest, values, record=record, observe=own.observe, constant=constant))
        return made[-1]

    monkeypatch.setattr(sys.modules["nonsmooth.run.simulate"], "Recorder", recorder)
    same_runs(simulate(system, MoreauJean(), **arguments), at_the_end)
    assert made[0]._rows[0].count > 4000 and len(made[0]) == 5001


def test_ctrl_c_while_rows_are_omitted_loses_no_step(monkeypatch, step_by_step):
    """Before each call of the evaluation of rows in turn; the rows so far are those of the whole run."""
    system = slider_rod(case=2).build()
    arguments = {"t_end": 0.02, "dt": 1e-4, "record": 3}
    whole = simulate(system, MoreauJean(), **arguments)
    monkeypatch.setattr(module, "WAITING", 10)
    usual = module.Recorder._observed
    for k in range(1, 12):
        calls = 0

        def observed(self, k=k):
            nonlocal calls
            calls += 1
            if calls == k:
                raise KeyboardInterrupt
            return usual(self)

        monkeypatch.setattr(module.Recorder, "_observed", observed)
        done = []
        with pytest.raises(Interrupted) as stopped:
            simulate(system, MoreauJean(), **arguments, progress=lambda t, t_end, steps, done=done: done.append(steps))
        run = stopped.value.trajectory
        assert run.counts["steps"] >= done[-1] and run.end.t == run.t[-1]
        rows = len(run.t) - 1  # the last one ends a group only by chance
        assert rows > 1 and run.q.array[:rows].tobytes() == whole.q.array[:rows].tobytes()
        assert run.P_N.array[:rows].tobytes() == whole.P_N.array[:rows].tobytes()
