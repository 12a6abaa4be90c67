"""Long mechanisms are stepped portion by portion: what a portion does has all that it needs from the ones before."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from nonsmooth import MoreauJean, Rigid, simulate
from nonsmooth.engine import NativeRun
from nonsmooth.native.portions import divide
from nonsmooth.native.session import Session
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

    looked, last = [], 0
    for left_body, left_gap in zip(parts.left_body, parts.left_gap, strict=True):
        assert np.all(pairs[last:left_gap] <= left_body)
        assert left_gap == len(pairs) or pairs[left_gap].max() > left_body  # no later than it could be
        assert np.all(parts.of(np.arange(last, left_gap)) == len(looked))
        looked.append(left_gap - last)
        last = left_gap
    assert sum(looked) == len(pairs)

    fields = parts.next_gap, parts.done_body, parts.done_gap, parts.left_body
    for next_gap, done_body, done_gap, left_body in zip(*fields, strict=True):
        assert done_gap <= next_gap and left_body <= done_body
        assert np.all((pairs[next_gap:] > done_body) | (pairs[next_gap:] == 0))  # their velocities are known
        assert np.all(pairs[:done_gap] <= done_body)
        assert np.all((pairs[done_gap:] > left_body) | (pairs[done_gap:] == 0))  # nothing is to be added to them
    assert (next_gap, done_body, done_gap, left_body) == (len(pairs), bodies, len(pairs), bodies)


@pytest.mark.parametrize(
    ("links", "restitution", "speed"),
    [(50, 0.0, 1.0), (50, 0.3, 1.0), (200, 0.0, 0.0)],
    ids=["turns", "strikes", "rests"],
)
def test_a_chain_in_portions_and_in_one(links, restitution, speed, monkeypatch):
    """All that is recorded but residuals is the same to the bit: only the order of sums over bodies differs."""
    divided, runs = [], []
    for together in (8, links):

        def divide_so(bodies, pairs, _, together=together):
            divided.append(divide(bodies, pairs, together))
            return divided[-1]

        monkeypatch.setattr("nonsmooth.native.layout.divide", divide_so)
        system = chain(links, contact=Rigid(restitution=restitution, friction=0.0), speed=speed).build()
        runs.append(simulate(system, MoreauJean(), t_end=0.02, dt=1e-4, engine="native"))
    assert [len(portions) for portions in divided] == [-(-links // 8), 1]
    for table in ("q", "v", "P_N", "gap", "mode"):
        one, other = (getattr(run, table).array for run in runs)
        assert np.array_equal(one, other), table
    assert runs[0].counts["solves"] == runs[1].counts["solves"] and len(runs[0].impacts) == len(runs[1].impacts)
    assert all(run.counts["python_steps"] == 0 for run in runs)


@pytest.mark.parametrize("restitution", [0.0, 0.3])
def test_how_many_steps_are_run_at_once_changes_no_bit(restitution, monkeypatch):
    """A step looks at the next one as far as it may itself; the first and the last of a call may not."""
    runs, advance = [], Session.advance
    for at_once in (1, 3, 1000):

        def some(self, origin, dt, t_end, steps, at_once=at_once):
            return advance(self, origin, dt, t_end, min(steps, at_once))

        monkeypatch.setattr(Session, "advance", some)
        system = chain(50, contact=Rigid(restitution=restitution, friction=0.0)).build()
        runs.append(simulate(system, MoreauJean(), t_end=0.02, dt=1e-4, engine="native"))
    for run in runs[1:]:
        for table in ("q", "v", "P_N", "gap", "mode"):
            assert np.array_equal(getattr(runs[0], table).array, getattr(run, table).array), table
        assert run.certificate.motion_residual == runs[0].certificate.motion_residual


def test_a_portion_that_has_moved_goes_back_where_the_step_is_not_certified(monkeypatch):
    """Bodies move as soon as they are judged; Python makes the step anew from where they stood.

    What is asked for here is less than the round-off of most steps, and more than that of some. With every other row
    alone, nothing moves before the step is certified.
    """
    system = chain(50, contact=Rigid(restitution=0.0, friction=0.0)).build()
    run = {"t_end": 0.005, "dt": 1e-4, "engine": "native"}
    native = simulate(system, MoreauJean(), **run)
    monkeypatch.setattr("nonsmooth.engine.CERTIFIED", 0.8 * native.certificate.motion_residual)
    began, stepped = [], NativeRun._stepped

    def noted(self, python, state, t):
        began.append(state)
        return stepped(self, python, state, t)

    monkeypatch.setattr(NativeRun, "_stepped", noted)
    mixed, seldom = simulate(system, MoreauJean(), **run), simulate(system, MoreauJean(), **run, record=2)
    assert 0 < mixed.counts["python_steps"] < 50 and native.counts["python_steps"] == 0
    assert seldom.counts["python_steps"] == mixed.counts["python_steps"]
    for state in began[: mixed.counts["python_steps"]]:
        row = np.searchsorted(mixed.t, state.t)
        assert np.array_equal(state.q, mixed.q.array[row]) and np.array_equal(state.v, mixed.v.array[row])
        assert np.array_equal(state.stepper_memory["P_N"], mixed.P_N.array[row])
    for table in ("q", "v"):
        one, other = (getattr(run, table).array for run in (native, mixed))
        assert np.allclose(one, other, rtol=0.0, atol=1e-12 * np.abs(one).max())
    assert np.allclose(native.P_N.array, mixed.P_N.array, rtol=1e-9)


BALL_BESIDE_A_CHAIN = """
import sys
import numpy as np
from nonsmooth import CircleCircle, Ground, Model, MoreauJean, PlanarBody, Rigid, simulate
from nonsmooth.native.table import SUMMED, TOGETHER
from nonsmooth_problems import chain

assert [str(TOGETHER), str(SUMMED)] == sys.argv[2:]
model, x, y = Model(name="ball over a hill, beside a chain"), np.sin(0.1), np.cos(0.1)
model.add(Ground())
ball = model.add(PlanarBody("ball", 0.1, 1e-4, (1.1 * x, 1.1 * y), velocity=(1.3 * y, -1.3 * x)))
contact = Rigid(restitution=0.0, friction=0.0)
model.add(CircleCircle("hill", "ground", ball, radius_a=1.0, radius_b=0.1, contact=contact))
for element in chain(40).elements:
    if not isinstance(element, Ground):
        model.add(element)
run = simulate(model.build(), MoreauJean(), t_end=0.05, dt=1e-4, engine="native")
assert run.counts["python_steps"] == 0
np.savez(sys.argv[1], **{name: getattr(run, name).array for name in ("q", "v", "P_N", "mode")})
"""


@pytest.mark.slow
def test_where_some_portions_have_moved_and_others_are_judged_with_all(tmp_path):
    """Round-off that is more than usual ends the portions' moving ahead; nothing of the step is lost.

    No mechanism of a test has so much of it, so that a process of its own, and those in which it has loops compiled,
    take less for more: Python reads `sitecustomize` as it starts. Their object code has a folder of its own.
    """
    changes = "from nonsmooth.native import table\ntable.TOGETHER, table.SUMMED = {}, {}\n"
    changed, found = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}, []
    for name, environment, constants in (("as_it_is", {}, (12, 1e-14)), ("changed", changed, (1, 1.7e-16))):
        (tmp_path / "sitecustomize.py").write_text(changes.format(*constants), encoding="utf-8")
        file = tmp_path / f"{name}.npz"
        command = [sys.executable, "-c", BALL_BESIDE_A_CHAIN, str(file), *map(str, constants)]
        subprocess.run(command, env={**os.environ, **environment}, cwd=tmp_path.parent, check=True)
        found.append(np.load(file))
    assert np.count_nonzero(found[0]["mode"][:, 0] == 0) > 20  # the ball leaves the hill time and again
    for name in found[0]:
        assert np.array_equal(found[0][name], found[1][name]), name
