"""Runs that end early: by Ctrl-C anywhere, by a signal, by an error of a user's, by a budget. No step is lost."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    ActiveSet,
    Compliant,
    CompliantDae,
    Cvodes,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    InputError,
    Interrupted,
    Landing,
    Lsoda,
    ModeEnumeration,
    MoreauJean,
    Radau,
    SimulationFailed,
    SolverFailed,
    simulate,
)  # fmt: skip
from nonsmooth.cli import main
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.exceptions import BudgetSpent, NotWritten
from nonsmooth.laws import Flores, KelvinVoigt
from nonsmooth.run.loop import Budget
from nonsmooth.solvers.chain import Chain
from nonsmooth.trajectory import Recorder, Trajectory
from nonsmooth_problems import block_on_incline, slider_rod

JOB = ["run", "slider-rod", "--case", "2", "--stepper", "gauss-qp", "--dt", "1e-3", "--t-end", "0.01"]


@pytest.fixture(scope="module")
def system():
    return slider_rod(case=2).build()


@pytest.fixture(scope="module")
def whole(system):
    return simulate(system, GaussQP(), t_end=0.01, dt=1e-3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def failing_after(steps, error):
    def progress(t, t_end, done):
        if done >= steps:
            raise error

    return progress


@pytest.mark.parametrize("error", [ValueError("a plot of mine"), MemoryError(), ZeroDivisionError(), OSError(28, "x")])
def test_an_error_in_a_callback_hands_over_the_steps(system, whole, step_by_step, error):
    with pytest.raises(SimulationFailed, match=f"the run was ended by {type(error).__name__}") as stopped:
        simulate(system, GaussQP(), t_end=0.01, dt=1e-3, progress=failing_after(5, error))
    run = stopped.value.trajectory
    assert stopped.value.__cause__ is error and stopped.value.cause is error
    assert len(run.t) - 1 == run.counts["steps"] == 5
    assert run.status.startswith("failed: After ")
    assert np.array_equal(run.q.array, whole.q.array[:6])


@pytest.mark.parametrize(
    "stepper, dt",
    [
        (GaussQP(), Landing(1e-7, 1e-5)),
        (MoreauJean(), 1e-5),
        (EventDriven(), ErrorControl(1e-6, dt_max=1e-5)),
        (CompliantDae(solver=Dop853()), ErrorControl(1e-6, dt_max=1e-5)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_max_steps_is_exact(tmp_path, stepper, dt):
    """A run resumed from its checkpoint counts the steps before."""
    soft = Compliant(Flores(stiffness=1e7, exponent=1.5, restitution=0.6))
    system = (slider_rod(case=2, contact=soft) if isinstance(stepper, CompliantDae) else slider_rod(case=2)).build()
    for most in (10, 25):
        with pytest.raises(SimulationFailed, match=f"the budget of {most} steps is spent") as stopped:
            simulate(system, stepper, t_end=0.01, dt=dt, max_steps=most, checkpoint=tmp_path / "run.nc")
        assert len(stopped.value.trajectory.t) - 1 == stopped.value.trajectory.counts["steps"] == most


def test_lack_of_memory_within_a_step_hands_over_the_steps(system, whole, monkeypatch):
    answer, count = Chain.answer, 0

    def out_of_memory(self, program, guess=None):
        nonlocal count
        count += 1
        if count > 6:
            raise MemoryError
        return answer(self, program, guess)

    monkeypatch.setattr(Chain, "answer", out_of_memory)
    with pytest.raises(SimulationFailed, match="the run was ended by MemoryError") as stopped:
        simulate(system, GaussQP(solver=ActiveSet()), t_end=0.01, dt=1e-3)
    run = stopped.value.trajectory
    assert isinstance(stopped.value.__cause__, MemoryError)
    assert 0 < len(run.t) - 1 < 10
    np.testing.assert_allclose(run.q.array, whole.q.array[: len(run.t)], rtol=0, atol=1e-14)  # round-off of 0.1 m


def test_an_error_in_a_callback_ends_runs_of_chosen_steps_too(system):
    """Finer steps are no remedy for it, and what is complete by then is kept."""
    calls, error = [], ValueError("mine")

    def progress(t, t_end, steps):
        if t == t_end:
            calls.append(steps)
        if len(calls) == 2:
            raise error

    with pytest.raises(SimulationFailed, match="complete and kept") as stopped:
        simulate(system, t_end=0.01, progress=progress)
    assert stopped.value.__cause__ is error
    assert stopped.value.trajectory.status == "finished" and len(stopped.value.trajectory.t) == calls[0] + 1


def test_lack_of_memory_before_a_finer_run_loses_no_complete_one(system, monkeypatch):
    simulation = importlib.import_module("nonsmooth.run.simulate")
    run, calls = simulation._run, []

    def second_fails(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise MemoryError
        return run(*arguments)

    monkeypatch.setattr(simulation, "_run", second_fails)
    with pytest.raises(SimulationFailed, match="complete and kept") as stopped:
        simulate(system, GaussQP(), t_end=0.01, dt=1e-3, check=True)
    assert stopped.value.trajectory.status == "finished" and len(stopped.value.trajectory.t) == 11


@contextmanager
def pressed_at(line):
    """Ctrl-C before the so-many-th line that the files of a run execute."""
    seen = 0

    def trace(frame, event, given):
        nonlocal seen
        if os.path.basename(frame.f_code.co_filename) not in LOOP:
            return None
        if event == "line":
            seen += 1
            if seen == line:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lambda: seen
    finally:
        sys.settrace(before)


LOOP = "loop.py", "simulate.py", "recorder.py", "steps.py", "tables.py"


def stopped_at(system, whole, line, t_end=0.01):
    """What a run of ten steps, or fewer, hands over; whether it came to its end."""
    done = 0

    def progress(t, t_end, steps):
        nonlocal done
        done = steps

    try:
        with pressed_at(line):
            simulate(system, GaussQP(), t_end=t_end, dt=1e-3, progress=progress)
    except Interrupted as stopped:
        run = stopped.trajectory
        assert len(run.t) - 1 == run.counts["steps"] >= done, line
        assert np.array_equal(run.q.array, whole.q.array[: len(run.t)]), line
        assert np.array_equal(run.P_N.array, whole.P_N.array[: len(run.t)]), line
        assert run.end.t == run.t[-1] and np.array_equal(run.end.q, run.q.array[-1]), line
        assert ("before the first step" in str(stopped)) == (len(run.t) == 1), line
    except KeyboardInterrupt:
        assert done == 0, line  # nothing is lost where nothing was computed
    else:
        return True
    return False


def test_ctrl_c_loses_no_step_wherever_it_comes(system, whole, step_by_step):
    """At every 23rd line of the loop, the steps, the recorder and the tables; the slow test has all."""
    line = 1
    while not stopped_at(system, whole, line):
        line += 23
    assert line > 1000  # it did come everywhere


def test_ctrl_c_loses_no_step_that_is_taken_in_parts(system, step_by_step, monkeypatch):
    """Every second step is refused, and the parts in which it is taken then are kept together."""
    run, calls = CompiledSteps.run, 0

    def every_second(self, state, origin, most):
        nonlocal calls
        calls += 1
        return run(self, state, origin, most) if calls % 2 else (0, False)

    monkeypatch.setattr(CompiledSteps, "run", every_second)
    whole = simulate(system, GaussQP(), t_end=0.01, dt=1e-3)
    assert whole.counts["divided"] == 5 and whole.counts["steps"] == 15
    line, calls = 1, 0
    while not stopped_at(system, whole, line):
        line, calls = line + 37, 0
    assert line > 1000  # it did come everywhere


@pytest.mark.slow
def test_ctrl_c_loses_no_step_at_any_line(system, whole, step_by_step):
    """Of three steps: the first, one after another, and the last."""
    line = 1
    while not stopped_at(system, whole, line, t_end=0.003):
        line += 1
    assert line > 500


def test_ctrl_c_while_tables_are_made_keeps_the_whole_run(system, whole, monkeypatch):
    finish, calls = Recorder.finish, []

    def interrupted(self, *given):
        calls.append(given)
        if len(calls) <= 2:  # twice, as impatient people press
            raise KeyboardInterrupt
        return finish(self, *given)

    monkeypatch.setattr(Recorder, "finish", interrupted)
    with pytest.raises(Interrupted, match="after the last of 10 steps, while its tables were made") as stopped:
        simulate(system, GaussQP(), t_end=0.01, dt=1e-3)
    assert stopped.value.trajectory.status == "finished"
    assert np.array_equal(stopped.value.trajectory.q.array, whole.q.array)


def test_ctrl_c_while_runs_are_compared_keeps_a_complete_run(system, monkeypatch):
    def pressed(*given, **more):
        raise KeyboardInterrupt

    import nonsmooth.trust  # noqa: F401

    monkeypatch.setattr(sys.modules["nonsmooth.trust.agreement"], "difference", pressed)
    with pytest.raises(Interrupted, match="complete and kept, without a verdict") as stopped:
        simulate(system, t_end=0.01)
    assert stopped.value.trajectory.status == "finished" and stopped.value.trajectory.t[-1] == 0.01


def progress_that_sends(number, after=5):
    @contextmanager
    def progress(report):
        def tell(t, t_end, steps):
            if steps >= after:
                signal.raise_signal(number)

        yield tell

    return progress


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_end_a_run_of_the_command_line_like_ctrl_c(folder, step_by_step, monkeypatch, capsys, name):
    number = getattr(signal, name)
    usual = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
    before = signal.signal(number, usual)  # the tests themselves may run under nohup
    try:
        monkeypatch.setattr("nonsmooth.cli.run.progress_bar", progress_that_sends(number))
        assert main([*JOB, "--output", "run.nc"]) == 130
        assert signal.getsignal(number) is usual  # the library and other programs keep theirs
    finally:
        signal.signal(number, before)
    said = capsys.readouterr().err
    assert said.startswith("nonsmooth: Interrupted at t = 0.005 s of 0.01 s, after 5 steps.")
    assert "The trajectory so far (5 steps) is in run.nc." in said and said.count("\n") == 1
    assert Trajectory.load("run.nc").counts["steps"] == 5


def test_an_ignored_signal_stays_ignored(folder, step_by_step, monkeypatch):
    """As SIGHUP is under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        monkeypatch.setattr("nonsmooth.cli.run.progress_bar", progress_that_sends(signal.SIGHUP))
        assert main([*JOB]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_command_line_works_in_a_thread(folder):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(main([*JOB])))
    thread.start()
    thread.join()
    assert codes == [0]


def once(monkeypatch, where, name, act=None):
    """The first call of it meets Ctrl-C."""
    original, calls = getattr(where, name), []

    def interrupted(*given, **more):
        calls.append(name)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return original(*given, **more)

    monkeypatch.setattr(where, name, interrupted)


@pytest.mark.parametrize("phase", some(["tables", "write", "figure", "page", "show"], 3))
@pytest.mark.parametrize("output", [True, False])
def test_ctrl_c_in_every_phase_says_what_is_true(folder, monkeypatch, capsys, phase, output):
    import nonsmooth.cli.report
    import nonsmooth.cli.run

    words = [*JOB, "--figure", "run.png", "--report", "run.html"]
    words += ["--output", "run.nc"] * output
    if phase == "write" and not output:
        words += ["--output", "other.nc"]
    target = {
        "tables": (Recorder, "finish"), "write": (Trajectory, "save"), "figure": (nonsmooth.cli.run, "_draw"),
        "page": (Trajectory, "report"), "show": (nonsmooth.cli.report, "show"),
    }[phase]  # fmt: skip
    once(monkeypatch, *target)
    assert main(words) == 130
    said = capsys.readouterr().err
    assert said.startswith("nonsmooth: Interrupted") and said.count("\n") == 1
    assert "before the first step" not in said and "nothing" not in said
    saved = [path.name for path in folder.glob("*.nc")]
    if phase == "show" and not output:
        assert not saved  # as without Ctrl-C: no file was asked for, and figure and page are there
        return
    assert len(saved) == 1 and f"The trajectory (10 steps) is in {saved[0]}." in said
    assert len(Trajectory.load(saved[0]).t) == 11


def test_ctrl_c_in_other_commands_is_one_sentence(monkeypatch, capsys):
    def pressed(**given):
        raise KeyboardInterrupt

    monkeypatch.setattr("nonsmooth.cli.describe.describe", pressed)
    assert main(["describe", "slider-rod"]) == 130
    assert "Interrupted; files written before are complete" in capsys.readouterr().err


def test_ctrl_c_while_options_are_read_is_one_sentence(monkeypatch, capsys):
    def pressed(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("nonsmooth.cli.app.Commands.parse_args", pressed)
    assert main(["list"]) == 130
    said = capsys.readouterr().err.strip()
    assert said == "nonsmooth: Interrupted; files written before are complete, and nothing else was written."


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_commands_are_imported_is_one_sentence(monkeypatch, capsys, number):
    class Loading:
        """The import of the commands meets the signal."""

        @staticmethod
        def find_spec(name, path, target=None):
            if name == "nonsmooth.cli.app":
                signal.raise_signal(number)

    before = signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    try:
        monkeypatch.delitem(sys.modules, "nonsmooth.cli.app", raising=False)
        monkeypatch.setattr(sys, "meta_path", [Loading, *sys.meta_path])
        assert main(["list"]) == 130
    finally:
        signal.signal(number, before)
    assert capsys.readouterr().err == "nonsmooth: Interrupted before the first step; nothing was written.\n"


def test_a_trajectory_that_cannot_be_written_is_saved_elsewhere(folder, tmp_path, monkeypatch, capsys):
    save, full = Trajectory.save, tmp_path / "full"
    full.mkdir()

    def on_a_full_disk(self, path):
        if full in path.parents:
            raise NotWritten(f"The trajectory cannot be written to {path} (No space left on device); give another.")
        save(self, path)

    monkeypatch.setattr(Trajectory, "save", on_a_full_disk)
    assert main([*JOB, "--output", str(full / "run.nc")]) == 1
    said = capsys.readouterr().err
    assert "No space left" in said and "The trajectory (10 steps) is in run-saved.nc." in said
    assert len(Trajectory.load("run-saved.nc").t) == 11


def test_a_budget_of_steps_is_an_option(folder, capsys):
    assert main([*JOB, "--max-steps", "4"]) == 1
    assert "the budget of 4 steps is spent" in capsys.readouterr().err
    assert len(Trajectory.load("slider-rod-failed.nc").t) == 5


def test_a_budget_of_time_is_an_option(folder, capsys):
    assert main([*JOB[:-3], "1e-6", "--t-end", "1", "--max-seconds", "0.05"]) == 1
    assert "the budget of 0.05 s is spent" in capsys.readouterr().err


def test_a_file_states_a_budget(folder, capsys):
    assert main(["new", "mechanism.toml"]) == 0
    path = folder / "mechanism.toml"
    path.write_text(
        path.read_text().replace("[run]\n", '[run]\nmax_steps = 3\nmax_seconds = 60\nstepper = "moreau-jean"\n')
    )
    assert main(["run", "mechanism.toml", "--dt", "1e-4"]) == 1
    assert "the budget of 3 steps is spent" in capsys.readouterr().err
    assert main(["run", "mechanism.toml", "--dt", "1e-3", "--t-end", "0.005", "--max-steps", "100"]) == 0


@pytest.mark.parametrize("words", [["--max-steps", "0"], ["--max-steps", "x"], ["--max-seconds", "-1"]])
def test_a_budget_that_is_none_is_refused(folder, capsys, words):
    assert main([*JOB, *words]) == 2
    assert list(folder.iterdir()) == []


def test_input_that_cannot_be_used_is_not_a_failed_run(system):
    with pytest.raises(InputError, match="t_end must lie after"):
        simulate(system, GaussQP(), t_end=-1.0, dt=Landing(1e-6, 1e-3))


def spent_after(questions, monkeypatch):
    """The time of each run is spent after so many questions; their number so far, in a list."""
    asked = [0]

    def in_time(self):
        asked[0] += 1
        if asked[0] > questions:
            raise BudgetSpent("the budget of 1 s is spent.")

    monkeypatch.setattr(Budget, "in_time", in_time)
    return asked


@pytest.mark.parametrize("integrator", [Radau(), Lsoda(), Cvodes()], ids=repr)
def test_the_time_of_a_run_ends_within_a_step_of_an_integrator(integrator, monkeypatch):
    """Time that stands still but for what a load takes: evaluations of the first steps, in each of which it is spent;
    the rows so far are kept, and are those of the whole run."""
    soft = Compliant(Flores(stiffness=1e7, exponent=1.5, restitution=0.6))
    system, control = slider_rod(case=2, contact=soft).build(), ErrorControl(1e-6, dt_max=1e-4)
    scheme = CompliantDae(solver=integrator)
    complete = simulate(system, scheme, t_end=0.002, dt=control)
    evaluations = complete.counts["evaluations"] // 2
    counts = spent_after(evaluations, monkeypatch)
    with pytest.raises(SimulationFailed, match="at t = .* the budget of 1 s is spent") as stopped:
        simulate(system, scheme, t_end=0.002, dt=control, max_seconds=1.0)
    run = stopped.value.trajectory
    assert counts[0] <= evaluations + 3  # which are asked by the loop
    assert 1 < len(run.t) < len(complete.t)
    assert np.array_equal(run.q.array, complete.q.array[: len(run.t)])


@pytest.mark.parametrize(
    "what, ends", [(BudgetSpent("the budget of 1 s is spent."), SimulationFailed), (KeyboardInterrupt(), Interrupted)]
)
def test_a_run_ends_within_a_stiff_phase(what, ends, monkeypatch):
    """By its time or by Ctrl-C, and does not go on explicitly, as where Radau fails."""
    soft = Compliant(KelvinVoigt(stiffness=1e8, damping=1e7))
    system, control = block_on_incline(contact=soft).build(), ErrorControl(1e-6, 1e-8, 1e-6, 1e-2)
    complete = simulate(system, CompliantDae(), t_end=0.3, dt=control)
    asked = [0]

    def in_time(self):
        asked[0] += 1
        if asked[0] > 100:
            raise what

    monkeypatch.setattr(Budget, "in_time", in_time)
    with pytest.raises(ends) as stopped:
        simulate(system, CompliantDae(), t_end=0.3, dt=control, max_seconds=1.0)
    run = stopped.value.trajectory
    assert asked[0] == 101 and run.counts["implicit"] > 0 and run.t[-1] < 0.3
    assert np.array_equal(run.q.array, complete.q.array[: len(run.t)])


def test_the_time_of_a_run_ends_between_two_programs_of_a_step(monkeypatch):
    """Where a step that fails is tried in parts and by other solvers, these tries end with the time of the run."""
    system, scheme = slider_rod(case=2).build(), GaussQP(solver=ModeEnumeration())
    complete = simulate(system, scheme, t_end=0.02, dt=1e-4)
    programs = complete.counts["solves"] // 2
    asked = spent_after(programs, monkeypatch)
    with pytest.raises(SimulationFailed, match="at t = .* the budget of 1 s is spent") as stopped:
        simulate(system, scheme, t_end=0.02, dt=1e-4, max_seconds=1.0)
    run = stopped.value.trajectory
    assert asked[0] <= programs + 3  # which are asked by the loop
    assert 1 < len(run.t) < len(complete.t)
    assert np.array_equal(run.q.array, complete.q.array[: len(run.t)])


def test_the_time_of_a_run_ends_between_two_programs_of_ipopt(monkeypatch):
    """Where one takes long, an event-locating step takes minutes by its tries: none of these begins after the time."""
    programs, answer = [], Chain.answer

    def counted(self, program, guess=None):
        programs.append(1)
        if len(programs) > 10:
            raise SolverFailed("no solution.")
        return answer(self, program, guess)

    def in_time(self):
        if len(programs) > 10:
            raise BudgetSpent("the budget of 1 s is spent.")

    monkeypatch.setattr(Chain, "answer", counted)
    monkeypatch.setattr(Budget, "in_time", in_time)
    with pytest.raises(SimulationFailed, match="at t = .* the budget of 1 s is spent") as stopped:
        simulate(slider_rod(case=2).build(), GaussMPCC(), t_end=0.02, dt=Landing(1e-6, 1e-3), max_seconds=1.0)
    assert len(stopped.value.trajectory.t) > 1
    assert len(programs) == 11


def test_libraries_of_the_output_are_loaded_before_the_first_step(folder, monkeypatch, capsys):
    """As where there is room for the run, but not for HDF5 after it."""
    import nonsmooth.cli.files
    from nonsmooth.exceptions import TOO_LITTLE

    def lacking():
        raise NotWritten(f"HDF5 cannot be loaded: {TOO_LITTLE}.")

    monkeypatch.setattr(nonsmooth.cli.files, "load_libraries", lacking)
    monkeypatch.setattr(CompiledSteps, "__init__", lambda *_, **__: pytest.fail("a run has begun"))
    assert main([*JOB, "--output", "run.nc"]) == 1
    assert capsys.readouterr().err == f"nonsmooth: HDF5 cannot be loaded: {TOO_LITTLE}.\n"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [ImportError("libhdf5.so: failed to map segment from shared object"), OSError(12, "Cannot allocate memory"),
     RuntimeError("can't start new thread"), MemoryError()],
)  # fmt: skip
def test_lack_of_memory_is_one_sentence_whichever_library_says_so(folder, monkeypatch, capsys, error):
    def lacking(*_, **__):
        raise RuntimeError("the library is missing") from error

    monkeypatch.setattr(CompiledSteps, "__init__", lacking)
    assert main(JOB) == 1
    said = capsys.readouterr().err
    assert "the memory of this process does not suffice" in said and said.count("\n") == 1
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(Trajectory, "report", lacking)
    assert main([*JOB, "--output", "run.nc", "--report", "run.html"]) == 1
    said = capsys.readouterr().err
    assert "run.html was not made: the memory of this process does not suffice" in said and "run.nc" in said
    assert len(Trajectory.load("run.nc").t) == 11


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of addresses is that of Linux")
@pytest.mark.parametrize("words", [[*JOB, "--output", "run.nc"], ["plot", "run.nc"]], ids=["run", "plot"])
def test_a_limit_below_what_libraries_take_is_refused_at_once(folder, words):
    """Some of them hang where their memory ends."""
    line = f"ulimit -v {400 << 10}; exec {sys.executable} -m nonsmooth {' '.join(words)}"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stdout == "" and list(folder.iterdir()) == []
    assert done.stderr.startswith("nonsmooth: The address space of this process is limited to 400 MB")
    assert done.stderr.count("\n") == 1
