"""Runs that are cut short go on from their checkpoints, to the bytes of a run that never was."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    Bdf,
    Compliant,
    CompliantDae,
    Cvodes,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    InputError,
    Interrupted,
    Landing,
    Lsoda,
    MoreauJean,
    Radau,
    Rigid,
    SimulationFailed,
    simulate,
)  # fmt: skip
from nonsmooth.cli import main
from nonsmooth.files import LENGTH
from nonsmooth.laws import Ambrosio, Flores, KelvinVoigt
from nonsmooth.run.checkpoints import stored
from nonsmooth_problems import bouncing_ball, dual_manipulator, slider_rod, socket_pendulum, stick_slip_oscillator

KILLS = Path(__file__).resolve().parents[1] / "benchmarks" / "kills.py"
if not KILLS.is_file():
    pytest.skip("the benchmarks are part of the checkout", allow_module_level=True)
_found = importlib.util.spec_from_file_location("kills", KILLS)
kills = sys.modules["kills"] = importlib.util.module_from_spec(_found)
_found.loader.exec_module(kills)
same_bytes = kills.same_bytes

FRICTION = Ambrosio(friction=0.1, dead_speed=1e-4, slip_speed=1e-3)
SOFT = Compliant(Flores(stiffness=1e7, exponent=1.5, restitution=0.6), FRICTION)
CLOSE = ErrorControl(1e-6, 1e-8, 1e-9, 1e-3)
SYSTEMS = {
    "guide": lambda: slider_rod(case=2).build(),
    "ball": lambda: bouncing_ball().build(),
    "block": lambda: stick_slip_oscillator().build(),
    "soft guide": lambda: slider_rod(contact=SOFT).build(),
    "damped guide": lambda: slider_rod(case=1, contact=Compliant(KelvinVoigt(stiffness=1e8, damping=1e5))).build(),
    "robot": lambda: dual_manipulator().build(),
    "socket": lambda: socket_pendulum().build(),
}
#: mechanism, stepper, dt, t_end [s], rows kept
CASES = {
    "MoreauJean": ("guide", MoreauJean(), 1e-5, 0.02, 1),
    "MoreauJean, each third row": ("guide", MoreauJean(), 1e-5, 0.02, 3),
    "GaussQP": ("guide", GaussQP(), 1e-5, 0.02, 1),
    "landing": ("ball", GaussQP(), Landing(1e-6, 1e-3), 0.6, 1),
    "landing with joints": ("robot", GaussQP(), Landing(1e-6, 5e-4), 0.2, 1),
    "GaussMPCC": ("guide", GaussMPCC(), 1e-4, 0.004, 1),
    "GeneralizedAlpha": ("ball", GeneralizedAlpha(), 1e-4, 0.6, 5),
    "EventDriven": ("ball", EventDriven(), ErrorControl(1e-6, 1e-8, 1e-6, 1e-2), 0.6, 1),
    "EventDriven, each third row": ("guide", EventDriven(), ErrorControl(1e-6, 1e-8, 1e-6, 1e-5), 0.02, 3),
    "Dop853": ("soft guide", CompliantDae(solver=Dop853()), CLOSE, 0.05, 3),
    "Radau in stiff phases": ("damped guide", CompliantDae(), CLOSE, 0.05, 1),
    "Radau": ("soft guide", CompliantDae(solver=Radau()), CLOSE, 0.01, 1),
    "Bdf": ("soft guide", CompliantDae(solver=Bdf()), CLOSE, 0.01, 1),
    "Lsoda": ("soft guide", CompliantDae(solver=Lsoda()), CLOSE, 0.01, 1),
    "Cvodes": ("soft guide", CompliantDae(solver=Cvodes()), CLOSE, 0.01, 1),
    "MoreauJean in space": ("socket", MoreauJean(), 1e-4, 0.1, 1),
    "GaussQP in space": ("socket", GaussQP(), Landing(1e-6, 1e-3), 0.05, 1),
    "GaussQP in space, constant steps": ("socket", GaussQP(), 1e-4, 0.1, 1),
    "GeneralizedAlpha in space": ("socket", GeneralizedAlpha(), 1e-4, 0.1, 1),
    "EventDriven in space": ("socket", EventDriven(), ErrorControl(1e-6, 1e-8, 1e-6, 1e-3), 0.3, 1),
    "steps chosen": ("guide", None, None, 0.005, 1),
}  # fmt: skip


@pytest.fixture(scope="module")
def systems():
    made = {}
    return lambda name: made.setdefault(name, SYSTEMS[name]())


def dies_after(calls):
    """A process that ends without a word is imitated by an error in its progress, after so many calls of it."""
    seen = 0

    def progress(t, t_end, steps):
        nonlocal seen
        seen += 1
        if seen == calls:
            raise RuntimeError("cut")

    return progress


@pytest.mark.parametrize("case", some(CASES, 5))
def test_a_run_that_is_cut_three_times_has_the_bytes_of_one_that_is_not(systems, tmp_path, monkeypatch, case):
    name, stepper, dt, t_end, record = CASES[case]
    system, path = systems(name), tmp_path / "checkpoint.nc"
    arguments = {"t_end": t_end, "dt": dt, "record": record}
    calls = []
    whole = simulate(system, stepper, **arguments, progress=lambda t, t_end, steps: calls.append(steps))
    monkeypatch.setattr("nonsmooth.run.checkpoints.SHARE", 0)  # however long writing takes
    monkeypatch.setattr("nonsmooth.trajectory.recorder.WAITING", 10)  # rows are omitted long before the end
    cuts, chance = 0, random.Random(case)
    for _ in range(3):
        progress = dies_after(chance.randint(1, max(len(calls) // 4, 1)))
        try:
            simulate(system, stepper, **arguments, progress=progress, checkpoint=path, every=1e-2)
        except SimulationFailed as failure:
            assert "cut" in str(failure)
            cuts += 1
    resumed = simulate(system, stepper, **arguments, checkpoint=path)
    assert cuts >= (1 if len(calls) > 4 else 0)
    whole.save(tmp_path / "whole.nc")
    resumed.save(tmp_path / "resumed.nc")
    assert same_bytes(tmp_path / "whole.nc", tmp_path / "resumed.nc")
    assert resumed.end.q.tobytes() == whole.end.q.tobytes()


def test_a_complete_run_is_returned_at_once(systems, tmp_path):
    path = tmp_path / "run.nc"
    arguments = {"t_end": 0.01, "dt": 1e-4, "checkpoint": path}
    first = simulate(systems("guide"), GaussQP(), **arguments)
    steps = []
    again = simulate(systems("guide"), GaussQP(), **arguments, progress=lambda *given: steps.append(given))
    assert not steps and np.array_equal(first.q.array, again.q.array) and first.counts == again.counts


def test_ctrl_c_and_a_budget_leave_a_checkpoint_of_the_last_step(systems, step_by_step, tmp_path):
    """Without waiting for the interval."""
    system, path, arguments = systems("guide"), tmp_path / "run.nc", {"t_end": 0.01, "dt": 1e-4}

    def ctrl_c(t, t_end, steps):
        if steps == 30:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        simulate(system, GaussQP(), **arguments, progress=ctrl_c, checkpoint=path)
    assert len(stored(path)[1][0]["held"]["recorder"]["rows"]["t"]) == 31
    with pytest.raises(SimulationFailed, match="budget"):
        simulate(system, GaussQP(), **arguments, max_steps=50, checkpoint=path)
    assert len(stored(path)[1][0]["held"]["recorder"]["rows"]["t"]) == 51
    run = simulate(system, GaussQP(), **arguments, checkpoint=path)
    whole = simulate(system, GaussQP(), **arguments)
    assert np.array_equal(run.q.array, whole.q.array) and run.counts == whole.counts


def test_the_number_that_differs_is_named(tmp_path):
    path = tmp_path / "run.nc"
    one, other = (slider_rod(contact=Rigid(restitution=0.0, friction=mu)).build() for mu in (0.1, 0.2))
    simulate(one, GaussQP(), t_end=0.002, dt=1e-4, checkpoint=path)
    with pytest.raises(InputError, match=r"differ in model\.elements\.guide\.\S*friction \(0\.1 there, 0\.2 here\)"):
        simulate(other, GaussQP(), t_end=0.002, dt=1e-4, checkpoint=path)


def test_what_another_run_wrote_is_refused_and_left_alone(systems, tmp_path):
    system, path = systems("guide"), tmp_path / "run.nc"
    simulate(system, GaussQP(), t_end=0.002, dt=1e-4, checkpoint=path)
    before = path.read_bytes()
    for changed, named in (
        ({"dt": 2e-4}, "arguments differ in dt"),
        ({"t_end": 0.003}, "arguments differ in t_end"),
        ({"stepper": MoreauJean()}, "arguments differ in stepper"),
        ({"parameters": {"guide.clearance": 2e-5}}, "parameters differ in guide.clearance"),
        ({"t_start": 1e-3}, "starts differ in t"),
        ({"system": systems("ball")}, "mechanisms differ"),
    ):
        given = {"stepper": GaussQP(), "t_end": 0.002, "dt": 1e-4, "system": system} | changed
        if "ball" in system.name or changed.get("system") is not None:
            given["stepper"] = MoreauJean()
        with pytest.raises(InputError, match=f"holds another run: its .*{re.escape(named.split()[-1])}"):
            simulate(given.pop("system"), given.pop("stepper"), checkpoint=path, **given)
        assert path.read_bytes() == before


def test_files_that_are_no_checkpoints_are_refused_in_one_sentence(systems, tmp_path):
    system, path = systems("guide"), tmp_path / "run.nc"
    arguments = {"t_end": 0.002, "dt": 1e-4}
    simulate(system, GaussQP(), **arguments).save(path)
    with pytest.raises(InputError, match="is not a checkpoint"):
        simulate(system, GaussQP(), **arguments, checkpoint=path)
    path.write_bytes(b"text")
    with pytest.raises(InputError, match="not a NetCDF file"):
        simulate(system, GaussQP(), **arguments, checkpoint=path)
    with pytest.raises(InputError, match="cannot be written"):
        simulate(system, GaussQP(), **arguments, checkpoint=tmp_path / "nowhere" / "run.nc")
    for every in (0.0, -1.0, float("nan"), "60", True):
        with pytest.raises(InputError, match="every must be a positive number of seconds"):
            simulate(system, GaussQP(), **arguments, checkpoint=tmp_path / "new.nc", every=every)
    with pytest.raises(InputError, match="checkpoint must be a string or a Path"):
        simulate(system, GaussQP(), **arguments, checkpoint=3)
    assert list(tmp_path.iterdir()) == [path]


def forged(path, change):
    """A checkpoint whose text was changed by someone who can also make checksums."""
    data = path.read_bytes()[:-LENGTH]
    changed = change(data)
    digest = hashlib.sha256(changed).hexdigest()
    path.write_bytes(changed + f"\nsha256 {digest} of {len(changed):020d} bytes\n".encode())


@pytest.mark.filterwarnings("ignore")  # numbers that nobody computed overflow
@pytest.mark.parametrize("name", ["guide", "soft guide"])
def test_forged_checkpoints_of_right_checksum_are_refused_or_give_numbers(systems, tmp_path, name):
    """Bytes of numbers are turned at random: compiled code trusts places in its memory, which no file may give."""
    soft, path = name == "soft guide", tmp_path / "run.nc"
    stepper = CompliantDae(solver=Dop853()) if soft else GaussQP()
    arguments = {"t_end": 0.05, "dt": CLOSE if soft else 5e-4, "checkpoint": path}
    with pytest.raises(SimulationFailed, match="budget"):
        simulate(systems(name), stepper, **arguments, max_steps=64)
    sound, chance = path.read_bytes(), random.Random(f"{name}")
    for _ in range(25):
        path.write_bytes(sound)

        def turned(data):
            changed = bytearray(data)
            for _ in range(chance.randint(1, 30)):
                changed[chance.randrange(len(data) // 2, len(data))] = chance.randrange(256)
            return bytes(changed)

        forged(path, turned)
        try:
            run = simulate(systems(name), stepper, **arguments, max_steps=500)
        except (InputError, SimulationFailed):
            continue
        assert run.status.startswith(("finished", "untrusted"))


def test_an_interpreted_run_does_not_go_on_from_a_compiled_one(tmp_path):
    """Their rows differ by round-off, and the manifest names one way for all of them."""
    system, path = slider_rod(case=2).build(), tmp_path / "run.nc"
    simulate(system, GaussQP(), t_end=1e-3, dt=1e-4, checkpoint=path)
    with pytest.raises(InputError, match=r"arguments differ in interpreted \(False there, True here\)"):
        simulate(system, GaussQP(), t_end=1e-3, dt=1e-4, checkpoint=path, interpreted=True)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_checkpoints_of_former_versions_are_refused(tmp_path, monkeypatch, version):
    """Their records are those of other steps, their states those of other fields."""
    system, path = slider_rod(case=2).build(), tmp_path / "run.nc"
    with monkeypatch.context() as former:
        former.setattr("nonsmooth.run.checkpoints.CHECKPOINT", f"nonsmooth-checkpoint-{version}")
        simulate(system, GaussQP(), t_end=1e-3, dt=1e-4, checkpoint=path)
    with pytest.raises(InputError, match="is not a checkpoint of this package.*nonsmooth-checkpoint-5"):
        simulate(system, GaussQP(), t_end=1e-3, dt=1e-4, checkpoint=path)


def test_a_full_disk_is_told_once_and_ends_no_run(systems, tmp_path, monkeypatch):
    from nonsmooth import files

    system, path = systems("guide"), tmp_path / "run.nc"
    arguments = {"t_end": 0.01, "dt": 1e-4}
    with pytest.raises(SimulationFailed):
        simulate(system, GaussQP(), **arguments, max_steps=20, checkpoint=path)
    before, write = path.read_bytes(), os.write

    def full(handle, data):
        write(handle, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "write", full)
    monkeypatch.setattr("nonsmooth.run.checkpoints.SHARE", 0)
    with pytest.warns(UserWarning, match="No space left on device.*The run continues") as told:
        run = simulate(system, GaussQP(), **arguments, checkpoint=path, every=1e-9)
    assert len(told) == 1 and run.status == "finished" and path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["run.nc"]


# The command line

JOB = ["run", "slider-rod", "--case", "2", "--stepper", "gauss-qp", "--dt", "1e-4", "--t-end", "0.02"]


def test_the_hint_names_a_python_file_which_a_checkpoint_does_not_run_by_itself(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        "from nonsmooth import *\n"
        "model = Model([Ground(), PlanarBody('bar', mass=1.0, inertia=0.01, position=(0.1, 0.0)),"
        " Revolute('pin', 'ground', 'bar', at_b=(-0.1, 0.0)), Gravity(acceleration=(0.0, -9.81))])\n",
        encoding="utf-8",
    )
    words = ["run", "own.py", "--t-end", "0.1", "--dt", "1e-3", "--checkpoint", "c.nc", "--max-steps", "50"]
    assert main(words) == 1
    assert "Continue with `nonsmooth run own.py --resume c.nc`." in capsys.readouterr().err
    assert main(["run", "own.py", "--resume", "c.nc", "--max-steps", "1000"]) == 0


def test_resume_repeats_the_words_of_the_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*JOB, "--set", "guide.friction=0.05", "--checkpoint", "c.nc",
                 "--max-steps", "50", "--output", "run.nc"]) == 1  # fmt: skip
    said = capsys.readouterr().err
    assert "budget of 50 steps" in said and "Continue with `nonsmooth run --resume c.nc`." in said
    assert main(["run", "--resume", "c.nc", "--max-steps", "1000000"]) == 0
    assert main([*JOB, "--set", "guide.friction=0.05", "--output", "whole.nc"]) == 0
    assert same_bytes(tmp_path / "whole.nc", tmp_path / "run.nc")


def test_what_is_asked_of_resume_and_cannot_be_is_one_sentence(tmp_path, monkeypatch, capsys, systems):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below").mkdir()
    simulate(systems("guide"), GaussQP(), t_end=0.002, dt=1e-4, checkpoint="library.nc")
    script = "from nonsmooth_problems import slider_rod\nmodel = slider_rod(case=2)\n"
    (tmp_path / "mine.py").write_text(script)
    job = ["run", "mine.py", "--stepper", "gauss-qp", "--dt", "1e-4", "--t-end", "0.002"]
    assert main([*job, "--checkpoint", "script.nc"]) == 0
    assert main([*JOB, "--checkpoint", "out.nc", "--output", str(tmp_path / "out-run.nc")]) == 0
    monkeypatch.chdir(tmp_path / "below")
    capsys.readouterr()
    for words, said in (
        (["run", "--resume", "../nothere.nc"], "There is no file"),
        (["run", "--resume", "../library.nc"], "was not written by `nonsmooth run`"),
        (["run", "--resume", "../script.nc"], "which is run only where you name it"),
        (["run", "--resume", "../out.nc"], "outside of the working folder"),
        (["run", "--resume", "../out.nc", "--output", "x.nc", "--checkpoint", "c.nc"], "exclude each other"),
        (["run", "--resume", "../out.nc", "--output", "x.nc", "--dt", "2e-4"], "holds another run"),
        ([*JOB, "--every", "5"], "needs --checkpoint"),
        ([*JOB, "--checkpoint", "c.txt"], "must end in .nc"),
        ([*JOB, "--checkpoint", "c.nc", "--output", "c.nc"], "give two files"),
        ([*JOB, "--checkpoint", "c.nc", "--every", "0"], "positive number of seconds"),
        (["run"], "Name what to run"),
    ):
        assert main(words) == 2, words
        err = capsys.readouterr().err
        assert said in err and err.count("\n") == 1, (words, err)
    assert list((tmp_path / "below").iterdir()) == []
    assert main(["run", "../mine.py", "--resume", "../script.nc"]) == 0


def test_words_of_a_forged_checkpoint_are_plain(tmp_path, monkeypatch, capsys):
    from nonsmooth.run.checkpoints import Checkpoint

    monkeypatch.chdir(tmp_path)
    requests = 3, {"problem": ["x"]}, {"nonsense": "x", "settings": []}
    for words in ("", "[]", "{}", *(json.dumps({"request": request, "files": {}}) for request in requests)):
        checkpoint = Checkpoint("forged.nc", 60.0, {})
        checkpoint.request = words
        checkpoint.next_run({})
        checkpoint.save({})
        assert main(["run", "--resume", "forged.nc"]) == 2
        assert "was not written by `nonsmooth run`" in capsys.readouterr().err
        os.remove("forged.nc")


# Killed in earnest


@pytest.mark.slow
@pytest.mark.parametrize("name", ["moreau-jean", "gauss-qp landing in space", "compliant, radau"])
def test_a_run_that_is_killed_goes_on_to_the_same_bytes(tmp_path, name):
    """SIGKILL, twice, at random times; `python -m benchmarks.kills` does so for all."""
    same, _ = kills.kill(kills.RUNS[name], tmp_path, 2, 0.2, random.Random(name))
    assert same
