"""Runs without a step: the motion that comes back, its verdict, and what is said where it cannot be trusted."""

from __future__ import annotations

import importlib
import math
import re
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    CirclePlane,
    Compliant,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    Rigid,
    SimulationFailed,
    simulate,
)
from nonsmooth.exceptions import SolverFailed, TimeSpent
from nonsmooth.laws import Flores
from nonsmooth.solvers import Osqp
from nonsmooth.trajectory import Trajectory
from nonsmooth.trust import agreement
from nonsmooth_problems import (
    bouncing_ball,
    heavy_top,
    six_rss,
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
    socket_pendulum,
)  # fmt: skip

automatic = importlib.import_module("nonsmooth.trust.automatic")  # the module, not its function
PLASTIC = Rigid(restitution=0.0, friction=0.0)


def test_a_call_without_anything_meets_the_exact_solution():
    """Heights of the slider's ends are exact within the error that the verdict states; the manifest repeats the run."""
    system = slider_rod(case=2).build()
    run = simulate(system, t_end=0.02)
    assert run.verdict.kind == "accurate" and run.verdict.horizon == math.inf
    exact = slider_rod.exact(case=2).sample(run.t)
    off = max(float(np.max(np.abs(run.q[name] - exact.q[name]))) for name in run.q.names if name in exact.q)
    assert off <= 2 * run.verdict.position * 1e-5 + 1e-15  # the clearance, and round-off
    assert run.manifest["settings"]["stepper"].startswith("EventDriven")
    assert len(run.manifest["accuracy"]["tried"]) == 2  # of order five


def test_accuracy_asked_for_is_the_accuracy_found():
    """The classic benchmark with 5000 rpm: the crank's mean drive is prescribed, so that the pin alone tells."""
    system = slider_crank_revolute().build()
    run = simulate(system, t_end=0.006, accuracy=1e-4)
    truth = simulate(system, EventDriven("dop853"), t_end=0.006, dt=ErrorControl(1e-12, dt_max=3e-6))
    assert run.verdict.kind == "accurate" and max(run.verdict.position, run.verdict.force) <= 1e-4
    away = abs(run.q["slider.x"][-1] - truth.q["slider.x"][-1])
    assert away <= 2 * run.verdict.position * 0.5e-3


def test_a_stepper_has_its_steps_chosen():
    """First order, so several rungs; the result is within a hundredth of the clearance of the exact height."""
    system = slider_rod(case=1).build()
    run = simulate(system, MoreauJean(), t_end=0.02)
    assert run.manifest["settings"]["stepper"].startswith("MoreauJean")
    assert run.verdict.kind == "accurate"
    assert run.q["slider.y"][-1] == pytest.approx(-1e-5, abs=1e-7)


def test_compliant_contact_takes_its_own_integrators():
    contact = Compliant(Flores(stiffness=1e8, restitution=0.7))
    run = simulate(slider_rod(case=1, contact=contact).build(), t_end=0.02)
    assert run.verdict.kind == "accurate" and "CompliantDae" in run.manifest["settings"]["stepper"]


def test_a_mechanism_in_space_without_contact():
    run = simulate(heavy_top().build(), t_end=0.05)
    assert run.verdict.kind == "accurate" and run.verdict.force == 0.0


def test_steps_too_long_are_found_out():
    """The slider-crank at 5000 rpm with twenty steps a turn."""
    system = slider_crank_revolute().build()
    short = simulate(system, GaussQP(), t_end=0.006, dt=Landing(1e-7, 1e-6), check=True)
    long = simulate(system, GaussQP(), t_end=0.006, dt=Landing(1e-6, 6e-4), check=True)
    assert short.verdict.kind == "accurate"
    assert long.verdict.kind == "not accurate" and "shorten the step" in long.verdict.text
    truth = simulate(system, t_end=0.006)
    assert abs(long.q["slider.x"][-1] - truth.q["slider.x"][-1]) > abs(
        short.q["slider.x"][-1] - truth.q["slider.x"][-1]
    )


def test_a_single_run_says_that_nobody_has_checked():
    run = simulate(bouncing_ball().build(), GaussQP(), t_end=0.1, dt=Landing(1e-6, 1e-3))
    assert run.verdict.kind == "not checked" and "check=True" in str(run.verdict)
    assert f"verdict      {run.verdict}" in repr(run)


def test_a_run_through_the_wall_is_not_finished():
    """A velocity-level scheme whose step is longer than the clearance takes: the journal leaves its bearing."""
    system = slider_rod(case=1, contact=PLASTIC).build()
    run = simulate(system, MoreauJean(), t_end=0.1, dt=0.05)
    assert run.status.startswith("untrusted: contact") and run.verdict.kind == "not accurate"
    assert "overlaps by" in run.verdict.text


@pytest.mark.parametrize(("steps", "deep"), [(1500, True), (15000, False)])
def test_overlap_beyond_a_share_of_the_clearance_is_a_sign_of_long_steps(steps, deep):
    """0.2 s of a slider-crank, whose guide MoreauJean penetrates by a step's way at an impact: the limit is 5 %."""
    system = slider_crank_translational().build()
    run = simulate(system, MoreauJean(), t_end=0.2, dt=0.2 / steps)
    overlap = -run.gap.array.min() / system.elementwise.gap_sizes(system.parameter_values)[0]
    assert (0.05 < overlap <= 1.0) == deep
    assert any("% of its clearance" in sign for sign in run.verdict.signs) == deep
    assert run.status == "finished"


def test_a_verdict_is_kept_in_files(tmp_path):
    run = simulate(slider_rod(case=1).build(), t_end=0.005)
    run.save(tmp_path / "run.nc")
    assert Trajectory.load(tmp_path / "run.nc").verdict == run.verdict


def test_a_budget_ends_a_run_with_its_steps():
    system = bouncing_ball().build()
    with pytest.raises(SimulationFailed, match="budget of 50 steps is spent") as caught:
        simulate(system, EventDriven(), t_end=2.0, dt=ErrorControl(1e-6), max_steps=50)
    assert len(caught.value.trajectory.t) == 51
    with pytest.raises(SimulationFailed, match="budget of 1e-06 s is spent") as caught:
        simulate(system, EventDriven(), t_end=2.0, dt=ErrorControl(1e-6), max_seconds=1e-6)
    assert len(caught.value.trajectory.t) == 1


def test_a_budget_that_ends_finer_runs_is_named():
    """It lets the coarsest run pass, and no other one."""
    system = slider_rod(case=1).build()
    tried = simulate(system, t_end=0.02).manifest["accuracy"]["tried"]
    steps = sorted(int(re.search(r": (\d+) steps", one)[1]) for one in tried)
    run = simulate(system, t_end=0.02, max_steps=steps[0] + 1)
    named = f"the budget of {steps[0] + 1} steps ended a finer run"
    assert run.verdict.kind == "not accurate" and named in run.verdict.text
    assert run.status == f"finished; {named}"


def test_a_budget_that_ends_runs_for_comparison_is_named():
    """20 steps are within it, 80 of the finer run are not; nor 4096 of the method that shows if forces are unique."""
    run = simulate(slider_rod(case=1).build(), GaussQP(), t_end=0.02, dt=1e-3, check=True, max_steps=30)
    assert run.verdict.kind == "not accurate" and run.verdict.text.startswith("a finer run ends at t = 0.0075 s")
    assert run.status == "finished; the budget of 30 steps ended the finer run" and len(run.t) == 21
    run = simulate(slider_crank_translational().build(), t_end=0.05, max_steps=3000)
    named = "the budget of 3000 steps ended the run of a second method"
    assert run.verdict.kind == "accurate" and run.verdict.text.endswith(named) and run.status == f"finished; {named}"


def test_the_time_of_a_budget_is_that_of_the_whole_call(monkeypatch):
    """What comes before the first step takes an hour by this clock, as does the search for contacts after the last."""
    from nonsmooth.engine.steps import CompiledSteps
    from nonsmooth.run import loop

    now = [0.0]

    class Clock:
        monotonic = staticmethod(lambda: now[0])
        perf_counter = staticmethod(lambda: now[0])

    def slow(function):
        def called(*given, **named):
            now[0] += 3600.0
            return function(*given, **named)

        return called

    monkeypatch.setattr(loop, "time", Clock)
    system, settings = bouncing_ball().build(), {"t_end": 0.1, "dt": 1e-4, "max_seconds": "2 h"}
    assert simulate(system, MoreauJean(), **settings).verdict.kind == "not checked"
    with monkeypatch.context() as patched:
        patched.setattr(CompiledSteps, "start", slow(CompiledSteps.start))
        assert simulate(system, MoreauJean(), **settings).verdict.kind == "not checked"
        with pytest.raises(SimulationFailed, match="the budget of 1800 s is spent") as stopped:
            simulate(system, MoreauJean(), **settings | {"dt": 1e-6, "max_seconds": "30 min"})
        assert len(stopped.value.trajectory.t) > 1  # those before it asked
    monkeypatch.setattr(loop.TimeLoop, "_finish", slow(loop.TimeLoop._finish))
    run = simulate(system, MoreauJean(), **settings | {"max_seconds": "30 min"})
    assert run.status == "finished" and len(run.t) == 1001
    assert "for lack of time it is not known whether contacts are missed" in run.verdict.text


def test_compiling_ends_where_the_time_is_spent(monkeypatch, tmp_path):
    """A scheme that is neither in the package nor in the cache: numba asks before each of its passes."""
    from nonsmooth.compile import objects
    from nonsmooth.run.loop import Budget

    floor = Rigid(restitution=0.5, friction=0.1, impact="poisson")
    ball = PlanarBody("ball", mass=1.0, inertia=4e-3, position=(0.0, 0.2))
    system = Model([Ground(), ball, CirclePlane("floor", "ground", ball, radius=0.1, contact=floor)]).build()
    asked = []

    def in_time(self):
        asked.append(1)
        if len(asked) > 60:
            raise TimeSpent("the budget of 1 s is spent.")

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(objects, "_compiled", objects._compiled.__wrapped__)
    monkeypatch.setattr(Budget, "in_time", in_time)
    with pytest.raises(SimulationFailed, match="After 0 steps, at t = 0 s, the budget of 1 s is spent") as stopped:
        simulate(system, MoreauJean(), t_end=0.1, dt=1e-3, max_seconds=1.0)
    assert len(asked) == 61 and len(stopped.value.trajectory.t) == 1


def test_the_time_of_a_budget_is_that_of_all_runs_that_are_compared(monkeypatch):
    """The first run takes 1.2 s by a clock that else stands still: it is returned, and no other method is tried."""
    from nonsmooth.run import loop

    now = [5.0]

    class Clock:
        monotonic = staticmethod(lambda: now[0])
        perf_counter = staticmethod(lambda: now[0])

    def slow(*given, finished=loop.TimeLoop._finish):
        now[0] += 1.2
        return finished(*given)

    monkeypatch.setattr(loop, "time", Clock)
    monkeypatch.setattr(loop.TimeLoop, "_finish", slow)
    run = simulate(slider_rod(case=1).build(), t_end=0.02, max_seconds=1.0)
    assert run.status == "finished; the budget of 1 s ended a finer run" and run.verdict.kind == "not accurate"
    assert [": failed" in one for one in run.manifest["accuracy"]["tried"]] == [False, True]
    own = simulate(slider_rod(case=1).build(), GaussQP(), t_end=0.02, dt=1e-3, check=True, max_seconds=1.0)
    assert own.status == "finished; the budget of 1 s ended the finer run" and len(own.t) == 21


def test_the_time_of_the_run_and_of_those_compared_are_both_said():
    """Their sum is that of the computing in `seconds`, which a single run does not repeat."""
    system = slider_rod(case=1).build()
    compared, single = simulate(system, t_end=0.01), simulate(system, GaussQP(), t_end=0.01, dt=1e-3)
    said = f"{compared.wall_seconds:.3g} s of computing, {compared.seconds['computing']:.3g} s with the runs compared>"
    assert said in repr(compared) and f"{single.wall_seconds:.3g} s of computing>" in repr(single)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"dt": 1e-3}, "dt = 0.001 needs a stepper"),
        ({"accuracy": 2.0}, "accuracy must be a share of clearance and peak force from 1e-08 to 1, got 2.0"),
        ({"accuracy": "high"}, "accuracy must be"),
        ({"record": 2}, "record = 2 needs a stepper and dt"),
        ({"stepper": MoreauJean(), "dt": 1e-3, "check": 1}, "check must be True or False, got 1"),
        ({"max_steps": 0}, "max_steps must be a whole number, at least 1, got 0"),
        ({"max_seconds": -1.0}, "max_seconds must be a positive number of seconds, got -1.0"),
    ],
)
def test_what_cannot_be_used_is_said_before_the_first_step(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        simulate(slider_rod(case=1).build(), t_end=0.01, **changes)


@pytest.mark.parametrize(("restitution", "friction", "first"), [(0.5, 0.0, "EventDriven"), (0.5, 0.1, "GaussQP")])
def test_many_contacts_that_rebound_are_tried_by_events_unless_they_rub(restitution, friction, first):
    """Thirty balls that fall from heights of their own. Events of rebounds are located fast; phases of as many contacts
    with friction are not found as surely."""
    contact = Rigid(restitution=restitution, friction=friction)
    elements = [Ground(), Gravity(acceleration=(0.0, -9.81))]
    for i in range(30):
        ball = PlanarBody(f"ball {i}", mass=1.0, inertia=1e-3, position=(float(i), 0.051 + 1e-4 * i))
        elements += [ball, CirclePlane(f"floor {i}", "ground", ball, radius=0.05, contact=contact)]
    run = simulate(Model(elements).build(), t_end=0.03)
    assert run.manifest["accuracy"]["tried"][0].startswith(first)
    assert run.verdict.kind == "accurate" and len(run.impacts) > 0


def test_exponential_growth_is_told_from_powers_of_time():
    """Of 30 per second from the start, and of what else errors do: powers, also since an event at 0.5 s, and a jump."""
    t = np.linspace(0.0, 1.0, 4001)
    assert agreement._rate(t, 1e-9 * np.exp(30.0 * t), 1e-2) == pytest.approx(30.0, rel=1e-2)  # of the grid
    since = np.maximum(t - 0.5, 0.0)
    for other in (t, t**2, t**3, t**4, 1e-7 + since, 1e-7 + 10.0 * since**2, 1e-7 + 0.1 * (t > 0.5), 1e-3 * t):
        assert agreement._rate(t, other, 1e-2) == 0.0


def test_a_finer_run_that_takes_too_long_is_left_out_where_runs_separate_exponentially(monkeypatch):
    """Where the time is spent from the beginning. What agrees is accurate all the same."""
    system = six_rss().build()
    monkeypatch.setattr(automatic, "SECONDS", 0.0)
    run = simulate(system, t_end=0.1)
    horizon, tried = run.verdict.horizon, run.manifest["accuracy"]["tried"]
    assert run.verdict.kind == "sensitive" and 0.03 < horizon < 0.1 and len(tried) < automatic.RUNGS
    assert "differences grow tenfold in 0.00" in run.verdict.text and "nonsmooth study statistics" in run.verdict.text
    finer = simulate(system, GaussQP(), t_end=0.1, dt=Landing(1.6e-8, 1.25e-5))
    comparison = agreement.Agreement(system, system.parameter_values, 1e-2)
    assert comparison.difference(run, finer, horizon).position <= 2e-2  # the other half is the error of the coarser run
    assert simulate(slider_rod(case=2).build(), t_end=0.02).verdict.kind == "accurate"


def test_a_solver_that_is_called_for_each_step_is_not_waited_for(monkeypatch):
    """By OSQP 1 % of the clearance took 85 s over the slider-crank's first turn, which nobody had asked for."""
    monkeypatch.setattr(automatic, "SECONDS_CALLED", 0.0)
    run = simulate(slider_crank_revolute().build(), GaussQP(solver=Osqp()), t_end=0.002)
    assert run.verdict.kind == "not accurate" and len(run.manifest["accuracy"]["tried"]) == 2
    assert run.verdict.text.endswith("would take minutes; give its steps, or leave the solver out")


@pytest.mark.parametrize("length", [0.02, 0.3, 2.0])
def test_impacts_that_are_one_are_not_the_same_in_runs_that_are_compared(length):
    """Two impacts of the robot 0.49 us apart were one in its first four runs, which agreed on another motion."""
    least = [rung.control.dt_min for rung in automatic.rungs(GaussQP(), length)]
    assert np.allclose(np.diff(np.log(least)), np.log(0.25)) and least[0] < 0.49e-6


def test_impacts_in_space_with_friction_are_stepped_first():
    run = simulate(six_rss().build(), t_end=0.004)
    assert run.manifest["accuracy"]["tried"][0].startswith("GaussQP") and run.verdict.kind == "accurate"


def test_a_method_that_failed_in_space_is_not_tried_with_finer_steps():
    """Of a mechanism that no method steps: the modes of its contacts are not found, by the events of one tolerance."""
    system = socket_pendulum().build()
    start, tried = simulate(system, GaussQP(), t_end=1e-4, dt=1e-4), []

    def fails(rung):
        tried.append(type(rung.stepper).__name__)
        raise SimulationFailed("no modes.", trajectory=start, cause=SolverFailed("no modes."))

    values = system.parameter_values
    with pytest.raises(SimulationFailed, match="no modes"):
        automatic.automatic(fails, system, values, system.start, 0.1, accuracy=1e-2)
    assert tried == ["EventDriven", "GaussQP", "GaussQP"]


def test_time_stepping_of_whole_steps_is_the_last_resort():
    """As for an arm whose six hinges are loose, after .013 s: a run with its verdict, where the other methods fail."""
    system = socket_pendulum().build()
    start = simulate(system, GaussQP(), t_end=6e-4, dt=1e-4)

    def run(rung):
        if not isinstance(rung.stepper, MoreauJean):
            raise SimulationFailed("no modes.", trajectory=start, cause=SolverFailed("no modes."))
        return simulate(system, rung.stepper, t_end=1e-3, dt=rung.control)

    found = automatic.automatic(run, system, system.parameter_values, system.start, 1e-3, accuracy=1e-2)
    assert found.t[-1] == 1e-3 and found.verdict.kind == "accurate"
    tried = found.manifest["accuracy"]["tried"]
    assert tried[0].endswith("failed at t = 0.0006 s") and tried[-1].startswith("MoreauJean")


@pytest.mark.parametrize("case", [1, 2])
@pytest.mark.parametrize("stepper", [GaussMPCC(), GaussQP(Osqp())], ids=["mpcc", "qp"])
def test_steps_that_call_a_solver_begin_coarse(stepper: Any, case: int) -> None:
    """10, 40 and 160 steps, where 500, 2000 and 8000 took a minute, and the verdict holds against the exact motion.
    In case 2 the ends impact alternately, in ever shorter flights."""
    run = simulate(slider_rod(case=case).build(), stepper, t_end=3.5e-3)
    assert len(run.t) - 1 < 400 and run.verdict.kind == "accurate"
    q = slider_rod.exact(case=case).sample(run.t).q["slider.y"]
    assert np.max(np.abs(run.q["slider.y"] - q)) < 1e-2 * 1e-5  # 1 % of the clearance, as the verdict says
