"""The command line: results, exit codes, and one clear sentence for whatever cannot be used."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import tomllib
import warnings
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest
from loops import some

from nonsmooth import ModelWarning, SimulationFailed, Trajectory, simulate
from nonsmooth.cli import main
from nonsmooth.cli.doctor import EXTRAS

COMMAND = [sys.executable, "-c", "import sys; from nonsmooth.cli import main; sys.exit(main())"]
LANDING = ["--dt-min", "1e-6", "--dt-max", "1e-3", "--t-end", "0.02"]
MAIN_JOB = ["run", "slider-rod", "--case", "2", "--stepper", "gauss-mpcc", *LANDING]
KEYS = {
    "problem", "stepper", "solver", "called", "engine", "steps", "failures", "wall_seconds", "seconds", "certificate",
    "verdict", "energy", "counts", "final", "impulse",
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test works in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_model(path: Path, text: str) -> str:
    path.write_text("from nonsmooth import *\n" + text, encoding="utf-8")
    return str(path)


BALL = """
def build(mass=1.0):
    model = Model()
    ground = model.add(Ground("ground"))
    ball = model.add(PlanarBody("ball", mass=mass, inertia=1e-3))
    contact = Rigid(restitution=0.0, friction=0.0)
    model.add(RevoluteClearance("pin", ground, ball, clearance=1e-3, contact=contact))
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model
"""


def test_the_process_ends_where_the_command_does() -> None:
    """What was registered for the end is called; nothing is freed, which takes seconds after compiling."""
    script = (
        "import atexit, sys; from nonsmooth.cli import main; atexit.register(print, 'registered');"
        "sys.argv = ['nonsmooth', 'run', 'no-such-problem']; main(); print('not reached')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (2, "registered\n") and "no-such-problem" in done.stderr


# Results


def test_main_job_writes_trajectory_and_figure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MAIN_JOB, "--output", "run.nc", "--figure", "run.png"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"steps +\d+ in", out) and "guide.right_lower" in out and "gap violation" in out
    assert sorted(path.name for path in folder.iterdir()) == ["run.nc", "run.png"]
    assert Trajectory.load("run.nc").t[-1] == 0.02
    assert (folder / "run.png").read_bytes().startswith(b"\x89PNG")


def test_the_stages_of_a_command_are_printed_by_their_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    """The longest first, and together their sum, to the digits printed."""
    assert main(["run", "slider-rod", "--stepper", "moreau-jean", "--dt", "1e-4", "--t-end", "1e-3"]) == 0
    lines = re.sub(r"\s*\n {4,}", " ", capsys.readouterr().out)  # long ones are folded
    whole, stages = re.findall(r"^seconds +(\S+): (.*)$", lines, re.M)[0]
    spent = [float(stage.split()[-1]) for stage in stages.split(", ")]
    assert len(spent) >= 2 and spent == sorted(spent, reverse=True)
    assert sum(spent) == pytest.approx(float(whole), rel=0.1)


def test_json_is_the_only_object_on_standard_output() -> None:
    words = [*MAIN_JOB, "--set", "friction=0", "--json"]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    report = json.loads(done.stdout)
    assert set(report) == KEYS
    assert (report["problem"], report["stepper"], report["solver"]) == ("slider-rod", "gauss-mpcc", "ipopt-mpcc")
    assert report["steps"] <= 30 and report["failures"] == 0
    assert report["certificate"]["gap_violation"] <= 1e-12
    assert {"kinetic", "potential", "loss_impacts", "remainder"} <= set(report["energy"])
    assert report["final"]["slider.x"] == pytest.approx(0.002, abs=1e-12)
    # N_rest T of the exact solution, impacts included.
    assert report["impulse"]["guide.right_lower"] == pytest.approx(25.775 * 0.02, rel=1e-8)


@pytest.mark.parametrize("solver", ["active-set", "osqp"])
def test_fixed_step_and_solver(solver: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"run slider-rod --case 1 --stepper gauss-qp --solver {solver} --dt 1e-3 --t-end 0.01 --json"
    assert main(words.split()) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["stepper"], report["solver"], report["steps"]) == ("gauss-qp", solver, 10)
    assert report["called"] == {solver: report["counts"]["solves"]}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--stepper gauss-qp --solver osqp", r"solver +osqp \d+ calls, 0 fallbacks"),
        ("--stepper gauss-mpcc", r"solver +ipopt-mpcc 20 calls, 0 fallbacks"),
        ("--stepper gauss-qp", r"solver +newton-of-scheme \d+ calls, 0 fallbacks"),  # not a solver that is not called
    ],
)
def test_the_printed_line_names_what_was_called(words: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "slider-rod", "--case", "2", *words.split(), "--dt", "1e-4", "--t-end", "0.002"]) == 0
    assert re.search(line, capsys.readouterr().out)


def test_set_changes_a_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MAIN_JOB, "--set", "guide.clearance=2e-5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["final"]["slider.y"] == pytest.approx(-2e-5, abs=1e-12)


def test_file_with_build_function(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_model(folder / "ball.py", BALL)
    assert main(["run", path, "--dt", "1e-3", "--t-end", "0.05", "--set", "mass=2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["problem"] == "ball"
    assert report["final"]["ball.y"] == pytest.approx(-1e-3, abs=1e-9)


def test_file_with_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_model(folder / "ball.py", BALL + "\nmodel = build()\ndel build\n")
    assert main(["run", path, "--dt", "1e-3", "--t-end", "0.05", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 50


LAW = "contact = Rigid(restitution=0.0, friction=0.0)"
SOFT = ["--contact", "compliant", "--law", "flores", "--set", "stiffness=1e7 N/m^1.5", "--set", "restitution=50%"]
CONTROLLED = ["--t-end", "1ms", "--rtol", "1e-6", "--atol", "1e-9", "--dt-min", "1e-6", "--dt-max", "1e-4", "--json"]


@pytest.mark.parametrize("text", [
    BALL.replace("mass=1.0):", f"mass=1.0, {LAW}):").replace(f"    {LAW}\n", ""), BALL,
    BALL.replace("mass=1.0):", f"mass=1.0, restitution=0.2, {LAW}):").replace(f"    {LAW}\n", ""),
    BALL + "\nmodel = build(mass=2.0)\ndel build\n", BALL + "\nmodel = build(mass=2.0).build()\ndel build\n",
], ids=["build(contact)", "build", "build(restitution, contact)", "model", "system"])  # fmt: skip
def test_files_take_another_contact_law(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_model(folder / "ball.py", text)
    mass = ["--set", "mass=2"] if "del build" not in text else []
    assert main(["run", path, *SOFT, *mass, *CONTROLLED, "--output", "run.nc"]) == 0
    assert json.loads(capsys.readouterr().out)["stepper"] == "compliant-dae"
    numbers = Trajectory.load("run.nc").manifest["parameters"]
    found = [numbers[name]["value"] for name in ("pin.stiffness", "ball.mass")]
    assert found == pytest.approx([1e7, 2.0], rel=1e-14)


def test_a_file_runs_once_and_build_must_be_a_function(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_model(folder / "ball.py", "print('runs')\n" + BALL)
    assert main(["describe", path, "--set", "mass=2kg"]) == 0
    assert capsys.readouterr().out.count("runs") == 1
    assert main(["describe", write_model(folder / "none.py", "build = 3\n")]) == 2
    assert "none.py" in capsys.readouterr().err


def test_files_without_contacts_take_no_contact_law(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_model(folder / "free.py", "model = Model([PlanarBody('ball', mass=1.0, inertia=1.0)])\n")
    assert main(["run", path, *SOFT, *CONTROLLED]) == 2
    assert "free has no argument contact" in capsys.readouterr().err


def test_friction_that_a_law_leaves_out_is_said(folder: Path) -> None:
    rough = BALL.replace("friction=0.0", "friction=0.2").replace("clearance=1e-3", "clearance=1e-3, radius=5e-3")
    said = "its friction is left out; --friction-law gives compliant contact one"
    with pytest.warns(ModelWarning, match=f"ball: {said}"):
        assert main(["run", write_model(folder / "ball.py", rough), *SOFT, *CONTROLLED]) == 0
    assert main(["new", "rod.toml"]) == 0
    file, loose = folder / "rod.toml", 'clearance = "0.5 mm"\n'
    text = file.read_text(encoding="utf-8").replace("friction = 0\n", "friction = 0.2\n")
    file.write_text(text.replace(loose, f'{loose}radius = "5 mm"\n', 1), encoding="utf-8")
    with pytest.warns(ModelWarning, match=f"rod: {said}"):
        assert main(["run", "rod.toml", *SOFT, *CONTROLLED]) == 0
    numbers = [f"--set={one}" for one in ("friction=0.2", "dead_speed=1e-4", "slip_speed=1e-3")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["run", "rod.toml", *SOFT, "--friction-law", "ambrosio", *numbers, *CONTROLLED]) == 0


def test_list_describe_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert "slider-rod" in capsys.readouterr().out
    assert main(["describe", "slider-rod"]) == 0
    described = capsys.readouterr().out
    assert "case" in described and "given" in described and "kg" in described
    assert main(["doctor"]) == 0
    examined = capsys.readouterr().out
    assert "casadi" in examined and "active-set" in examined and "ccopt" in examined
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) - set(EXTRAS) == {"test", "dev", "docs", "notebooks"}
    rows = examined.partition("optional")[2]
    for package in ("anywidget", "dask", "imageio-ffmpeg", "mujoco", "openturns", "salib"):
        assert f"\n{package} " in rows


def test_help_names_every_command_and_loads_no_library_of_runs() -> None:
    script = (
        "import sys; from nonsmooth.cli import main; main(['--help']); "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert not {"scipy", "casadi", "numba", "matplotlib", "xarray"} & set(shown.splitlines()[-1].split())
    assert all(command in shown for command in ("list", "describe", "run", "doctor"))


def test_no_arguments_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "doctor" in capsys.readouterr().out


# Streams, displays and interpreters of real processes

SHORT = ["run", "slider-rod", "--case", "2", "--t-end", "1e-3", "--dt", "1e-4"]


def in_shell(words: list[str], *, python: str = "", shell: str = "", **environment: str) -> Any:
    line = " ".join([sys.executable, python, "-m", "nonsmooth", *words, shell])
    return subprocess.run(["/bin/sh", "-c", line], env=os.environ | environment, capture_output=True, text=True)


@pytest.mark.slow
def test_streams_that_are_closed_or_full(folder: Path) -> None:
    """A file is written without stderr, without both, and on a full device for the table of results."""
    for name, shell, code in (("a", "2>&-", 0), ("b", ">&- 2>&-", 0), ("c", "> /dev/full", 1)):
        done = in_shell([*SHORT, "--output", f"{name}.nc"], shell=shell)
        assert done.returncode == code, done.stderr
        assert (folder / f"{name}.nc").stat().st_size > 10_000
    assert done.stderr.count("\n") == 1 and "No space left on device" in done.stderr


@pytest.mark.slow
def test_figures_need_no_display(folder: Path) -> None:
    done = in_shell([*SHORT, "--figure", "f.png", "-q"], MPLBACKEND="nope")
    assert done.returncode == 0 and (folder / "f.png").exists(), done.stderr


@pytest.mark.slow
def test_problems_are_found_without_docstrings() -> None:
    done = in_shell(["list"], python="-OO")
    assert done.returncode == 0 and "slider-rod" in done.stdout


# Bad input: exit code 2, one sentence, nothing on standard output, nothing written

RUN = ["run", "slider-rod", "--case", "2"]
BAD = {
    "negative mass": ([*MAIN_JOB, "--set", "slider.mass=-5"], ["slider", "mass", "-5"]),
    "no clearance": ([*MAIN_JOB, "--set", "guide.clearance=0"], ["guide", "clearance", "0"]),
    "negative clearance": ([*MAIN_JOB, "--set", "guide.clearance=-1e-5"], ["guide", "clearance", "-1e-05"]),
    "accuracy and a step": ([*RUN, "--t-end", "0.02", "--dt", "1e-3", "--accuracy", ".1"], ["--accuracy", "--dt"]),
    "half a step": ([*RUN, "--t-end", "0.02", "--dt-min", "1e-6"], ["--dt-min", "--dt-max", "chosen"]),
    "zero step": ([*RUN, "--dt", "0", "--t-end", "0.02"], ["dt", "0", "positive"]),
    "negative step": ([*RUN, "--dt", "-1e-3", "--t-end", "0.02"], ["dt", "-0.001", "positive"]),
    "step that is no number": ([*RUN, "--dt", "nan", "--t-end", "0.02"], ["dt", "nan"]),
    "bounds swapped": ([*RUN, "--dt-min", "1e-3", "--dt-max", "1e-6", "--t-end", "0.02"], ["dt_min", "0.001", "1e-06"]),
    "negative bound": ([*RUN, "--dt-min", "-1", "--dt-max", "1e-3", "--t-end", "0.02"], ["dt_min", "-1"]),
    "one bound": ([*RUN, "--dt-min", "1e-6", "--t-end", "0.02"], ["--dt-min", "--dt-max"]),
    "step and bounds": ([*RUN, "--dt", "1e-3", "--dt-min", "1e-6", "--t-end", "0.02"], ["--dt", "--dt-min"]),
    "end before start": ([*RUN, "--dt", "1e-3", "--t-end", "-0.02"], ["t_end", "-0.02"]),
    "end not a number": ([*RUN, "--dt", "1e-3", "--t-end", "nan"], ["t_end", "nan"]),
    "load not a number": ([*MAIN_JOB, "--set", "push.force_x=nan"], ["push.force_x", "nan"]),
    "unknown problem": (["run", "slider-rood", *LANDING], ["slider-rood", "slider-rod"]),
    "unknown problem and nothing else": (["run", "slider-rood"], ["slider-rood", "slider-rod"]),
    "unknown problem to describe": (["describe", "slider-rood"], ["slider-rood", "slider-rod"]),
    "unknown file": (["run", "nowhere.py", *LANDING], ["nowhere.py"]),
    "unknown case": (["run", "slider-rod", "--case", "4", *LANDING], ["case", "4", "1", "2", "3"]),
    "unknown stepper": ([*RUN, *LANDING, "--stepper", "gauss-mppc"], ["gauss-mppc", "gauss-mpcc", "gauss-qp"]),
    "unknown solver": ([*MAIN_JOB, "--solver", "osqq"], ["osqq", "osqp"]),
    "solver that does not fit": ([*RUN, "--stepper", "gauss-qp", "--solver", "ipopt-mpcc", *LANDING], ["IpoptMPCC"]),
    "solver whose library is missing": ([*MAIN_JOB, "--set", "solver.plugin=ccopt"], ["ccopt"]),
    "setting that a solver has not": ([*MAIN_JOB, "--set", "solver.colour=3"], ["ipopt-mpcc", "colour", "relaxation"]),
    "unknown option": ([*MAIN_JOB, "--dt-mid", "1"], ["--dt-mid", "nonsmooth run --help"]),
    "unknown command": (["rum"], ["rum", "nonsmooth --help"]),
    "option without number": ([*RUN, "--dt", "soon", "--t-end", "0.02"], ["--dt", "soon"]),
    "unknown argument": ([*MAIN_JOB, "--set", "colour=3"], ["colour", "case"]),
    "argument given twice": ([*MAIN_JOB, "--set", "case=3"], ["--case 2 and --set case=3 exclude each other"]),
    "unknown parameter": ([*MAIN_JOB, "--set", "guide.clerance=1e-5"], ["guide.clerance", "guide.clearance"]),
    "setting without value": ([*MAIN_JOB, "--set", "friction"], ["friction", "name=value"]),
    "setting twice": ([*MAIN_JOB, "--set", "friction=0", "--set", "friction=0"], ["friction", "twice"]),
    "parameter that is a word": ([*MAIN_JOB, "--set", "slider.mass=heavy"], ["slider.mass", "heavy"]),
    "restitution out of range": ([*MAIN_JOB, "--set", "restitution=1.5"], ["restitution", "1.5"]),
    "tolerance without bounds": ([*MAIN_JOB, "--rtol", "1e-7"], ["--atol missing"]),
    "negative friction": ([*MAIN_JOB, "--set", "friction=-0.1"], ["friction", "-0.1"]),
    "output in no folder": ([*MAIN_JOB, "--output", "nowhere/run.nc"], ["nowhere/run.nc", "cannot be written"]),
    "output is a folder": ([*MAIN_JOB, "--output", "."], ["--output", "."]),
    "output below a file": ([*MAIN_JOB, "--output", "/dev/null/run.nc"], ["/dev/null/run.nc", "cannot be written"]),
    "output that no file can be": ([*MAIN_JOB, "--output", "a\0.nc"], ["--output"]),
    "output too long": ([*MAIN_JOB, "--output", "a" * 300 + ".nc"], ["--output"]),
    "output of another kind": ([*MAIN_JOB, "--output", "run.csv"], ["run.csv", ".nc"]),
    "figure in no folder": ([*MAIN_JOB, "--figure", "nowhere/run.png"], ["nowhere/run.png", "cannot be written"]),
    "figure of another kind": ([*MAIN_JOB, "--figure", "run.gif"], ["run.gif", ".png"]),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, named = BAD[case]
    assert main(words) == 2
    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err.startswith("nonsmooth: ") and seen.err.count("\n") == 1 and len(seen.err) > 20
    assert [word for word in named if word not in seen.err] == [], seen.err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("case", some(["negative mass", "unknown option", "unknown problem", "output in no folder"], 2))
def test_bad_input_of_a_real_process(case: str, folder: Path) -> None:
    done = subprocess.run([*COMMAND, *BAD[case][0]], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("x = 1\n", ["model", "build()"]),
        ("model = 1\n", ["Model", "int"]),
        ("def build():\n    return 1 / 0\n", ["line 3", "ZeroDivisionError"]),
        ("def build(:\n", ["line 2", "SyntaxError"]),
        ("model = Model([PlanarBody('ball', mass=-1.0, inertia=1.0)])\n", ["ball", "mass", "-1"]),
        ("model = Model([Ground('ground'), Ground('ground')])\n", ["ground"]),
    ],
)  # fmt: skip
def test_bad_file(text: str, named: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_model(folder / "mechanism.py", text)
    assert main(["run", path, "--dt", "1e-3", "--t-end", "0.02", "--output", "run.nc"]) == 2
    seen = capsys.readouterr()
    assert seen.out == "" and seen.err.count("\n") == 1
    assert [word for word in named if word not in seen.err] == [], seen.err
    assert not (folder / "run.nc").exists()


def test_a_file_may_postpone_its_annotations(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dataclass looks for their names in the module, also where another module has its name."""
    held = "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom typing import ClassVar\n"
    held += "from nonsmooth import *\n@dataclass\nclass Sizes:\n    kind: ClassVar[str] = 'a'\n    mass: float = 1.0\n"
    for name in ("mechanism.py", "json.py"):
        (folder / name).write_text(held + BALL.replace("mass=1.0", "mass=Sizes().mass"), encoding="utf-8")
        assert main(["run", name, "--t-end", "0.001"]) == 0, capsys.readouterr().err
    assert sys.modules["json"] is json
    found = PathFinder.find_spec("json", sys.path)  # as other processes find it
    assert found is not None and found.origin == json.__file__


# Runs that end early


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is given up at half time, as by a solver without an answer."""

    def half(*arguments: object, t_end: float, **options: object) -> Trajectory:
        trajectory = simulate(*arguments, t_end=t_end / 2, **options)
        raise SimulationFailed("Step 10 at t = 0.01 s failed.", trajectory=trajectory, cause=ValueError("no answer"))

    monkeypatch.setattr("nonsmooth.cli.run.simulate", half)


def test_failed_run_saves_its_trajectory(failing: None, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MAIN_JOB, "--output", "run.nc", "--figure", "run.png"]) == 1
    message = capsys.readouterr().err
    assert "Step 10 at t = 0.01 s failed." in message and "run.nc" in message and "Traceback" not in message
    assert [path.name for path in folder.iterdir()] == ["run.nc"]
    assert Trajectory.load("run.nc").t[-1] == 0.01


def test_failed_run_without_output(failing: None, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(MAIN_JOB) == 1
    assert main([*MAIN_JOB, "--json"]) == 1
    assert "slider-rod-failed-2.nc" in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["slider-rod-failed-2.nc", "slider-rod-failed.nc"]


def test_control_c_before_the_first_step(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nonsmooth.cli.inputs.Request.mechanism", pressed)
    assert main([*MAIN_JOB, "--output", "run.nc"]) == 130
    assert "nothing was written" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals and SIGINT are POSIX")
@pytest.mark.parametrize("stepper", ["gauss-mpcc", "gauss-qp"])
def test_control_c_saves_the_trajectory(stepper: str, folder: Path) -> None:
    words = f"run slider-rod --case 2 --stepper {stepper} --dt 1e-8 --t-end 0.02 --output run.nc"
    steps, code, shown = interrupted([*COMMAND, *words.split()])
    assert code == 130, shown
    assert "run.nc" in shown and "Traceback" not in shown
    trajectory = Trajectory.load("run.nc")
    assert trajectory.status == "interrupted" and len(trajectory.t) - 1 >= steps > 0
    assert [path.name for path in folder.iterdir()] == ["run.nc"]


def interrupted(command: list[str]) -> tuple[int, int, str]:
    """Press Ctrl-C once the progress bar counts steps: the steps counted, the exit code, what the terminal showed."""
    import pty

    terminal, side = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=side, env={**os.environ, "TERM": "xterm"})
    os.close(side)
    shown, steps, deadline = "", 0, time.monotonic() + 120.0
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
            counted = re.findall(r"(\d+) steps", shown)
            if not steps and counted and int(counted[-1]) > 0:
                steps = int(counted[-1])
                process.send_signal(signal.SIGINT)
        elif process.poll() is not None:
            break
    process.kill()
    os.close(terminal)
    return steps, process.wait(), shown


@pytest.mark.slow  # compiles the text of another impact law
def test_the_impact_law_is_set_by_name(folder: Path) -> None:
    """Beside the numbers of the problem's own law."""
    job = ["run", "slider-rod", "--case", "1", "--stepper", "gauss-qp", "--dt-min", "1e-6", "--dt-max", "1e-3"]
    assert main([*job, "--t-end", "0.002", "--set", "impact=stronge", "--output", "run.nc"]) == 0
    laws = [
        element["contact"]
        for element in Trajectory.load("run.nc").manifest["model"]["elements"]
        if "contact" in element
    ]
    assert [law["impact"] for law in laws] == ["stronge"]


@pytest.mark.slow  # compiles the text of balanced moment arms
def test_an_option_of_the_stepper_is_set_by_name(folder: Path) -> None:
    job = ["run", "slider-rod", "--case", "1", "--stepper", "moreau-jean", "--dt", "1e-4", "--t-end", "0.002"]
    assert main([*job, "--set", "stepper.moment_arms=balanced", "--output", "run.nc"]) == 0
    manifest = Trajectory.load("run.nc").manifest
    assert "moment_arms='balanced'" in manifest["settings"]["stepper"] and "moment arms" in manifest["rules"]
