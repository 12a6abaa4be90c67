"""Where the seconds of a run go, and what is said meanwhile."""

from __future__ import annotations

import inspect
import io
import json
import logging
import sys
import threading
import time

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from nonsmooth import GaussQP, MoreauJean, progress, simulate
from nonsmooth import progress as stages
from nonsmooth.cli import main
from nonsmooth.cli.options import line
from nonsmooth.exceptions import InputError
from nonsmooth.identification import excite, fit_motion
from nonsmooth.progress import Progress, Share, collect_timings, current, progress_line, stage, timings
from nonsmooth.solvers.kernels import TimedKernel
from nonsmooth.studies import (
    allocate,
    bifurcation,
    compare,
    grid,
    lyapunov,
    published,
    rigid_limit,
    sensitivity,
    step_size,
    sweep,
    tolerance,
)
from nonsmooth_problems import six_rss, slider_rod


def test_seconds_add_up(monkeypatch):
    """By a clock that advances by one second each time it is read: of stages within stages each second counts once."""
    clock = iter(range(100))
    monkeypatch.setattr(stages.time, "perf_counter", lambda: float(next(clock)))
    with collect_timings() as seconds, stage("outer"):  # from 0
        with stage("inner", "one"):  # 1 to 2
            assert current() == "inner one"
        with stage("inner", "two"):  # 3 to 6
            with stage("outer"):  # 4 to 5
                pass
    assert seconds == {"inner": 1.0 + 2.0, "outer": 7.0 - 4.0 + 1.0} and current() == ""


def test_seconds_of_stages_that_go_on(monkeypatch):
    """They are those spent so far; what is collected within is collected without as well."""
    clock = iter(range(100))
    monkeypatch.setattr(stages.time, "perf_counter", lambda: float(next(clock)))
    with collect_timings(), stage("outer"):  # from 0
        with collect_timings() as within, stage("inner"):  # 1 to 2
            pass
        with stage("inner"):  # from 3
            assert within == {"inner": 1.0}
            assert timings() == {"inner": 1.0 + 1.0, "outer": 2.0}  # at 4


@pytest.mark.parametrize("arguments", [{}, {"stepper": GaussQP(), "dt": 1e-4}], ids=["chosen", "given"])
def test_a_run_says_where_its_seconds_went(arguments, caplog):
    system = slider_rod(case=1).build()
    with caplog.at_level(logging.INFO, "nonsmooth"):
        run = simulate(system, t_end="2 ms", **arguments)
    assert set(run.seconds) == {"preparing", "computing", "tables", "checking"}
    said = [record.getMessage() for record in caplog.records if record.name == "nonsmooth"]
    assert said[0] == "preparing" and "tables" in said and "checking" in said
    assert any(one.startswith("computing with ") for one in said)


class Terminal(io.StringIO):
    """Notes what is written, and when it has been heard."""

    def __init__(self, awaited=""):
        super().__init__()
        self.awaited, self.heard = awaited, threading.Event()

    def write(self, text):
        if self.awaited in text:
            self.heard.set()
        return super().write(text)

    def isatty(self):
        return True

    def screen(self):
        """The lines as they are seen at the end, without spaces at their ends."""
        lines = [one.rsplit("\r", 1)[-1] for one in self.getvalue().split("\n")]
        return [one.rstrip() for one in lines]


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(progress, "UPDATE", 1e-3)


def test_words_while_something_goes_on():
    """The stage is left when they have come: of the time reached, and of the share that it is."""
    stream = Terminal("7 steps")
    with progress_line(stream) as report, stage("computing"):
        report(0.5, 2.0, 7)
        assert stream.heard.wait(60.0)
    words = stream.getvalue().split("\r")
    assert any(one.startswith("[#####...............] 25 %  0 s  t = 0.5 s, 7 steps") for one in words)
    assert words[-1].startswith("done, ") and words[-1].endswith("\n")


def test_a_share_says_how_much_is_left():
    """A quarter takes 3 s: three quarters take 9 s more."""
    clock = iter([0.0, 3.0])
    share = Share(lambda: next(clock))
    share("run 2 of 8", 0.25)
    with stage("computing"):
        assert share.said() == "run 2 of 8, computing, some 9 s left"


def test_results_stand_above_the_line(monkeypatch):
    """What is printed begins on an empty line, and the last line is empty in the end."""
    screen = Terminal("drawing run.png")
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    with line(), stage("drawing", "run.png"):
        assert screen.heard.wait(60.0)
        print("a result")
        print("another", file=sys.stderr)
    assert screen.screen() == ["a result", "another", ""]
    assert sys.stdout is screen is sys.stderr


def test_no_line_where_there_is_no_terminal(capsys):
    with line(), stage("drawing"):
        time.sleep(0.02)  # some twenty drawings
    assert capsys.readouterr() == ("", "")


def test_commands_say_what_they_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said, usual = [], stages.stage

    def noted(name, about="", **options):
        said.append(f"{name} {about}".strip())
        return usual(name, about, **options)

    for module in [one for name, one in sys.modules.items() if name.startswith("nonsmooth.")]:
        if getattr(module, "stage", None) is usual:
            monkeypatch.setattr(module, "stage", noted)
    words = ["--case", "2", "--t-end", "2 ms", "--dt", "1e-4", "--output", "run.nc", "--figure", "run.png"]
    assert main(["run", "slider-rod", *words, "--report", "run.html"]) == 0
    assert {"building slider-rod, case 2", "writing run.nc", "drawing run.png", "drawing run.html", "tables"} <= set(
        said
    )
    assert main(["plot", "run.nc", "--output", "again.png"]) == 0
    assert {"reading run.nc", "drawing again.png"} <= set(said)


def test_a_command_says_where_its_seconds_went(tmp_path, monkeypatch, capsys):
    """All of them, from the start to the printing of the result, which takes the rest."""
    monkeypatch.chdir(tmp_path)
    began = time.perf_counter()
    assert main(["run", "slider-rod", "--t-end", "20 ms", "--output", "run.nc", "--figure", "run.png", "--json"]) == 0
    whole = time.perf_counter() - began
    seconds = json.loads(capsys.readouterr().out)["seconds"]
    assert {"preparing", "building", "checking", "computing", "tables", "drawing", "writing"} <= set(seconds)
    assert sum(seconds.values()) == pytest.approx(whole, rel=0.05)


@pytest.mark.parametrize("stepper", [{}, {"stepper": GaussQP(), "dt": 1e-5}], ids=["chosen", "given"])
def test_seconds_of_a_run_are_all_of_its_time(stepper):
    system = slider_rod(case=1).build()
    began = time.perf_counter()
    run = simulate(system, t_end=0.2, **stepper)
    assert sum(run.seconds.values()) == pytest.approx(time.perf_counter() - began, rel=0.05, abs=0.01)


def test_progress_true(capsys):
    run = simulate(slider_rod(case=1).build(), GaussQP(), t_end=2e-3, dt=1e-4, progress=True)
    assert len(run.t) == 21 and "done" in capsys.readouterr().err


def test_studies_take_progress_true(capsys):
    """Whoever takes a function takes True as well."""
    options = {"t_end": 2e-3, "dt": 1e-4, "metrics": ["peak-impulse"], "executor": 1}
    sweep(slider_rod, GaussQP(), grid({"guide.clearance": [1e-5, 2e-5]}), **options, progress=True)
    assert capsys.readouterr().err.endswith("\n")
    with pytest.raises(InputError, match="progress must be True or a function, got 3"):
        sweep(slider_rod, GaussQP(), grid({"guide.clearance": [1e-5]}), **options, progress=3)


@pytest.mark.parametrize(
    "study",
    [allocate, bifurcation, compare, excite, fit_motion, lyapunov, published, rigid_limit, sensitivity, step_size,
     sweep, tolerance],
)  # fmt: skip
def test_every_study_can_say_what_it_does(study):
    assert inspect.signature(study).parameters["progress"].annotation in ("Progress", Progress)
    assert inspect.unwrap(study) is not study


def test_the_first_call_of_a_solver_is_told_as_compilation(caplog):
    """What numba compiles, once per machine; the calls that follow are not told."""

    def kernel(x):
        kernel.overloads.append("float64")
        return 2 * x

    kernel.overloads = []
    solve = TimedKernel(kernel, "SemismoothNewton")
    with caplog.at_level(logging.INFO, "nonsmooth"), collect_timings() as seconds:
        assert [solve(1), solve(2)] == [2, 4]
    said = [record.getMessage() for record in caplog.records if record.name == "nonsmooth"]
    assert said == ["compiling SemismoothNewton, some ten seconds once per machine, or loading it"]
    assert [*seconds] == ["compiling"]


def test_one_thread_of_blas_computes_the_small_matrices_of_a_run():
    """As many as before, or as the user limits them to, are left when it ends."""

    def threads(*_):
        return {one["filepath"]: one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    system, seen = six_rss().build(), []
    simulate(system, MoreauJean(), t_end=1e-4, dt=1e-4)  # loads all libraries
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        simulate(system, MoreauJean(), t_end=1e-4, dt=1e-4, progress=lambda *_: seen.append(threads()))
        assert threads() == before
    assert {count for one in seen for count in one.values()} == {1}
