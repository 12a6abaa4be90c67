"""What people meet at a terminal: help, widths, durations, silence, completion, progress, round-off."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
from typer.main import get_command

from nonsmooth import read_model
from nonsmooth.cli import main, stoppable
from nonsmooth.cli.app import app
from nonsmooth.cli.files import is_file, python_problem
from nonsmooth.cli.options import completed, duration
from nonsmooth.cli.report import _tidied
from nonsmooth.cli.values import distribution_of, example_values, settings_from, unit_behind
from nonsmooth.progress import Advance, stage
from nonsmooth.trajectory import Columns

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"

SHORT = ["--dt", "1e-4", "--t-end", "4ms", "--case", "2"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(group=None, prefix=()):
    for name, command in (group or get_command(app)).commands.items():
        if getattr(command, "commands", None):
            yield from commands(command, (*prefix, name))
        else:
            yield (*prefix, name), command


@pytest.mark.parametrize("words", [words for words, _ in commands()], ids=" ".join)
def test_help_shows_every_word_and_fits_80_columns(words, capsys, monkeypatch):
    """Rich takes [s] for markup: whatever an option's help says must arrive on the screen."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    assert main([*words, "--help"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    shown = " ".join(re.sub(r"[│╭╮╰╯─]", " ", out).split())
    for parameter in dict(commands())[words].params:
        for word in re.findall(r"\S+", (getattr(parameter, "help", None) or "").replace("`", "")):
            assert word in shown or "-" in word or len(word) > 20, (parameter.name, word)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0.02", 0.02),
        ("20ms", 0.02),
        ("20 ms", 0.02),
        ("10us", 1e-5),
        ("3e2ns", 3e-7),
        ("2 min", 120.0),
        ("-1ms", -1e-3),
    ],
)
def test_durations_have_units(text, seconds):
    assert duration(text) == seconds


def test_a_run_of_milliseconds(capsys):
    assert main(["run", "slider-rod", *SHORT, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["final"]["slider.x"] == pytest.approx(8e-5, rel=0.1)


@pytest.mark.parametrize("text", ["10 furlong", "ms", "1.2.3s"])
def test_a_duration_that_is_none(text, capsys):
    assert main(["run", "slider-rod", "--dt", "1e-4", "--t-end", text]) == 2
    assert "as in 10ms" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["run", "slider-rod", *SHORT],
        ["compare", "slider-rod", "--t-end", "2ms", "--stiffness", "1e11", "--target", "0"],
        ["study", "sweep", "slider-rod", *SHORT, "--metric", "peak-impulse", "--grid", "guide.clearance=1e-5,2e-5",
         "--executor", "1"],
    ],
    ids=["run", "compare", "sweep"],
)  # fmt: skip
def test_quiet_prints_nothing_but_errors_and_json(words, capsys):
    assert main([*words, "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    assert main([*words, "-q", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_quiet_errors_are_said(capsys):
    assert main(["run", "slider-rod", "--dt", "-1", "--t-end", "1", "-q"]) == 2
    assert "positive" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "slider-rod", "--t-end", "2ms", "--target", "0"],
        ["study", "step-size", "slider-rod", "--t-end", "2ms", "--levels", "3", "--jitter", "1", "--executor", "1",
         ],
        ["run", "slider-rod", *SHORT],
    ],
    ids=["compare", "step-size", "run"],
)  # fmt: skip
def test_results_fit_80_columns(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(words) == 0
    out = capsys.readouterr().out
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80
    if words[0] == "compare":  # all five cases, the later ones in a second table
        assert all(stiffness in out for stiffness in ("K = 1e10", "K = 1e12", "K = 1e14"))
        assert sum(line.startswith("distance to the reference") for line in out.splitlines()) == 2


def test_round_off_is_not_printed_as_data(capsys):
    """After 20 ms the slider rests on both ends: what is left of its tilt and speed is round-off."""
    assert main(["run", "slider-rod", "--case", "2", "--t-end", "20ms", "--dt-min", "1us", "--dt-max", "1ms"]) == 0
    out = capsys.readouterr().out
    state = out[out.index("final state") :]
    assert re.search(r"slider.angle +0 +\[rad\] +0 +\[rad/s\]", state)
    assert re.search(r"slider.y +\S+ +\[m\] +0 +\[m/s\]", state)
    assert not re.search(r"e-(1[6-9]|[2-9]\d)\b", state)


def test_a_failed_run_says_its_time_once(capsys):
    assert main(["run", "slider-rod", "--t-end", "20ms", "--dt", "1e-5", "--max-steps", "7"]) == 1
    title = " ".join(capsys.readouterr().out.partition("stepper")[0].split())
    assert title.startswith("slider-rod: failed: After 7 steps, at t = 7e-05 s,") and title.count(" t = ") == 1, title


def test_small_numbers_that_are_no_round_off_stay():
    """A tilt of a nanoradian is small beside the crank's turns, but it is most of what the slider ever tilts by."""
    columns = Columns(
        "coordinate", ("slider.angle", "crank.angle"), np.array([[1e-9, 5.0], [2e-9, 6.0]]), ("rad", "rad")
    )
    assert _tidied({"slider.angle": 1e-9, "crank.angle": 6.0}, columns) == {"slider.angle": 1e-9, "crank.angle": 6.0}
    assert _tidied({"slider.angle": 1e-22, "crank.angle": -1e-13}, columns) == {"slider.angle": 0.0, "crank.angle": 0.0}


def test_compliant_runs_count_evaluations_and_impacts(capsys):
    words = ["--contact", "compliant", "--law", "flores", "--set", "stiffness=1e10", "--set", "restitution=0.9"]
    assert main(["run", "slider-rod", *words, "--t-end", "4ms", "--rtol", "1e-6", "--atol", "1e-9", "--dt-min", "1e-7",
                 "--dt-max", "1e-4"]) == 0  # fmt: skip
    out = capsys.readouterr().out
    assert re.search(r"evaluations +[1-9]\d+ of the equations of motion", out) and "0 solves" not in out
    assert re.search(r"guide\.left_lower .* [1-9] *\n", out), "the slider meets its rod after 1.4 ms and rebounds"


def test_the_integrator_of_stiff_phases_is_named(capsys):
    words = ["--law", "kelvin-voigt", "--set", "stiffness=1e8", "--set", "damping=1e7", "--t-end", "0.05",
             "--rtol", "1e-6", "--atol", "1e-8", "--dt-min", "1e-6", "--dt-max", "1e-2"]  # fmt: skip
    assert main(["run", "block-on-incline", *words]) == 0
    assert re.search(r"solver +dop853, radau in [1-9]\d* steps", capsys.readouterr().out)


def test_a_command_says_each_warning_once(tmp_path):
    """The study builds the model in two places."""
    text = (EXAMPLES / "slider_crank_fit.toml").read_text(encoding="utf-8")
    (tmp_path / "floating.toml").write_text(text.replace('silence = ["no-gravity"]', ""), encoding="utf-8")
    words = ["--level", "kinematic", "--pose", "crank.angle=0.785", "--metric", "deviation:slider.x", "--limit", "4e-5"]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert main(["study", "tolerance", str(tmp_path / "floating.toml"), *words, "--runs", "60"]) == 0
    assert sum("the model has no gravity" in str(one.message) for one in said) == 1


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_no_example_gives_a_warning(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_model(path).build()


def test_a_sweep_prints_its_values(capsys):
    words = ["--metric", "peak-impulse", "--grid", "guide.clearance=1e-5,2e-5", "--executor", "1"]
    assert main(["study", "sweep", "slider-rod", *SHORT, *words]) == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines() if re.match(r"[12] ", line)]
    assert [row[:2] for row in rows] == [["1", "1e-05"], ["2", "2e-05"]]
    assert float(rows[0][2]) < float(rows[1][2]), "a slider that falls farther lands harder"


def test_of_a_long_sweep_both_ends_are_printed(capsys):
    words = ["--metric", "peak-impulse", "--grid", "guide.clearance=1e-5:2e-5:45", "--executor", "1"]
    assert main(["study", "sweep", "slider-rod", *SHORT, *words]) == 0
    table = capsys.readouterr().out.partition("verdict")[2]
    rows = [line.split()[0] for line in table.splitlines() if re.match(r"(\d+|\.\.\.) ", line)]
    assert rows == [*map(str, range(1, 21)), "...", *map(str, range(26, 46))]


OWN = """
from nonsmooth import *

def build({arguments}):
    ball = PlanarBody("ball", mass=0.1, inertia=1e-5, position=(0.0, 0.01))
    floor = PointPlane("floor", "ground", ball, contact={law})
    return Model([Ground(), ball, floor, Gravity(acceleration=(0.0, -9.81))]){built}
"""


@pytest.mark.parametrize(
    ("arguments", "law", "built"),
    [
        ("", "Rigid(restitution=0.5, friction=0.0)", ""), ("contact", "contact", ""),
        ("contact", "contact", ".build()"), ("height", "Rigid(restitution=0.5, friction=0.0)", ""),
    ],
    ids=["own", "given", "built", "an argument without default"],
)  # fmt: skip
def test_compare_takes_a_python_file(arguments, law, built, folder, capsys):
    (folder / "ball.py").write_text(OWN.format(arguments=arguments, law=law, built=built), encoding="utf-8")
    words = ["--t-end", "60ms", "--restitution", "0.5", "--stiffness", "1e8", "--target", "0", "--json"]
    if arguments == "height":
        assert main(["compare", "ball.py", *words]) == main(["run", "ball.py", "--t-end", "60ms"]) == 2
        said = capsys.readouterr().err.splitlines()
        assert "ball needs height, without default: give height=... (--set height=...)." in said[0]
        assert "ball.py: build() needs height, without default: give --set height=..., or a default." in said[1]
        words += ["--set", "height=1"]
    assert main(["compare", "ball.py", *words]) == 0
    table = json.loads(capsys.readouterr().out)
    assert any("compliant" in str(key) for key in json.dumps(table).split('"'))


ARGUMENTS = """
from nonsmooth import *

def build(clearance=1e-3, length=0.3, speed=3.0, size=0.2, free=1.0, mass=2.0):
    ground, rod = Ground(), PlanarBody("rod", mass=1.0 * length, inertia=1e-3, position=(0.0, -0.1))
    drum = PlanarBody("drum", mass=size, inertia=1e-3 * mass, position=(size, 0.0), angular_velocity=speed)
    pin = RevoluteClearance("pin", ground, rod, at_b=(0.0, 0.1), clearance=clearance,
                            contact=Rigid(restitution=0.0, friction=0.0))
    motor = PrescribedMotion("motor", ground, drum, coordinate="angle", motion=Ramp(speed))
    gravity = Gravity(acceleration=(0.0, -9.81))
    return Model([ground, rod, drum, pin, motor, Revolute("hub", ground, drum, at_a=(size, 0.0)), gravity])
"""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("clearance=0.1 kg", "another dimension than m; .*: clearance becomes pin.clearance"),
        ("clearance=0.1 mm", ""),
        ("speed=2 m", "another dimension than rad/s; .*: speed becomes drum.angular_velocity, motor.motion"),
        ("speed=100 rpm", ""),
        ("size=2 s", "another dimension than kg or m; .*: size becomes drum.mass, drum.position, hub.at_a"),
        ("size=200 mm", ""),
        ("size=2 kg", ""),
        ("length=300 mm", ""),  # the mass of 1 kg/m is only equal to it
        ("mass=2 s", ""),  # computed with alone
        ("free=2 s", ""),
    ],
)
def test_an_argument_has_the_dimension_of_what_it_becomes(given, said, folder, capsys):
    (folder / "own.py").write_text(ARGUMENTS, encoding="utf-8")
    assert main(["describe", "own.py", "--set", given]) == (2 if said else 0)
    assert re.search(f"--set {given.partition('=')[0]} .*{said}" if said else "^$", capsys.readouterr().err)


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "own.py", "--restitution", "0.5", "--stiffness", "1e8", "--set", "clearance=1kg"],
        ["study", "sweep", "own.py", "--metric", "impulse", "--dt", "1e-4", "--grid", "clearance=1mm,1kg"],
        ["study", "sweep", "own.py", "--metric", "impulse", "--dt", "1e-4", "--sample", "clearance=1kg:2kg"],
        ["study", "tolerance", "own.py", "--metric", "impulse", "--limit", "1", "--sample", "clearance=1kg:2kg"],
    ],
    ids=["compare", "grid", "sample", "tolerance"],
)
def test_every_study_checks_the_dimension_of_an_argument(words, folder, capsys):
    (folder / "own.py").write_text(ARGUMENTS, encoding="utf-8")
    assert main([*words, "--t-end", "1ms"]) == 2
    assert 'clearance "1kg" is of another dimension than m' in capsys.readouterr().err
    over = ["--over", "clearance=1kg:2kg:2", "--of", "rod.x", "--period", "1ms", "--steps", "9"]
    assert main(["study", "bifurcation", "own.py", *over]) == 2
    assert 'clearance "1kg" is of another dimension than m' in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", ["--grid height=11mm,20mm", "--sample height=0.011:0.02", "--sample height=11mm:20mm"]
)
def test_what_a_study_varies_needs_no_other_value(option, folder, capsys):
    text = OWN.format(arguments="height", law="Rigid(restitution=0.0, friction=0.0)", built="")
    (folder / "ball.py").write_text(text.replace("0.01)", "height)"), encoding="utf-8")
    words = ["ball.py", "--t-end", "60ms", "--dt", "1e-3", "--executor", "1", "--json"]
    sweep = ["study", "sweep", "--metric", "fastest-approach", "--runs", "2", *option.split()]
    assert main([*sweep, *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(set(found["metrics"]["fastest-approach"])) == 2 and found["failed"] == 0
    over = ["study", "bifurcation", "ball.py", "--over", "height=11mm,20mm", "--of", "ball.y", "--period", "1ms"]
    over += ["--steps", "10", "--transient", "1", "--points", "2", "--executor", "1", "--json"]
    assert main(over) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unit"] == "m" and found["values"] == [0.011, 0.02] and found["points"][0] != found["points"][1]
    assert main([*over, "--set", "height=1"]) == 2
    assert "height is given by --over and by --set" in capsys.readouterr().err


def test_the_columns_of_a_sweep_have_units(folder, capsys):
    (folder / "own.py").write_text(ARGUMENTS, encoding="utf-8")
    varied = ["--list", "clearance=1mm,2mm", "--list", "pin.at_a_x=0,0", "--list", "free=1,2", "--list", "size=1,2"]
    words = ["study", "sweep", "own.py", "--metric", "impulse", "--t-end", "1ms", "--dt", "1e-4", *varied]
    assert main([*words, "--executor", "1"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("run ")]
    assert line.split() == ["run", "[m]", "[m]", "free", "size", "[N", "s]", "verdict"], "size is kg or m, free unknown"


def test_a_file_goes_to_a_process_that_does_not_find_it(folder):
    """As those of ``--executor``, with the names that it defines, also where another module has its name."""
    text = OWN.format(arguments="", law="Rigid(restitution=0.5, friction=0.0)", built="")
    (folder / "json.py").write_text(text, encoding="utf-8")
    (folder / "problem.pickle").write_bytes(cloudpickle.dumps(python_problem(folder / "json.py")))
    code = "import pickle, sys; print(len(pickle.load(open(sys.argv[1], 'rb'))().elements))"
    words = [sys.executable, "-c", code, str(folder / "problem.pickle")]
    (folder / "elsewhere").mkdir()
    done = subprocess.run(words, cwd=folder / "elsewhere", capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["4"], done.stderr


def test_what_is_no_mechanism_is_said(folder, capsys):
    (folder / "none.py").write_text("def build(contact):\n    return 3\n", encoding="utf-8")
    words = ["--t-end", "60ms", "--restitution", "0.5", "--stiffness", "1e8", "--stiffness", "1e9"]
    assert main(["compare", "none.py", *words]) == 2
    assert "expected a Model or a built system, got int" in " ".join(capsys.readouterr().err.split())


def test_a_file_that_fails_is_named_with_its_line(folder, capsys):
    (folder / "ball.py").write_text("def build():\n    return 1 / 0\n", encoding="utf-8")
    assert main(["compare", "ball.py", "--t-end", "1", "--restitution", "0.5", "--stiffness", "1e8"]) == 2
    assert "ball.py, line 2: ZeroDivisionError" in capsys.readouterr().err


# Completion


def test_names_are_completed(folder):
    (folder / "mine.toml").touch()
    (folder / "run.nc").touch()
    assert completed("problem")("slider-r") == ["slider-rod"] and completed("problem")("mi") == ["mine.toml"]
    assert completed("stepper")("gauss") == ["gauss-mpcc", "gauss-qp"]
    assert "osqp" in completed("solver")("") and completed("law")("flo") == ["flores"]
    assert completed("run")("") == ["run.nc"]


def test_the_shell_completes(folder):
    """As bash asks: words so far in the environment, offers on standard output."""
    asked = {"_NONSMOOTH_COMPLETE": "complete_bash", "COMP_WORDS": "nonsmooth run slider-r", "COMP_CWORD": "2"}
    code = "import sys; from nonsmooth.cli import main; sys.argv = ['nonsmooth']; sys.exit(main([]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | asked)
    assert done.stdout.split() == ["slider-rod"], done.stderr


# Progress


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_progress_says_how_long_it_takes():
    """Steps of 1 ms at 10 a second: half of 2 s is left after 100 s, and takes as long again."""
    clock = Clock()
    advance = Advance(clock)
    for step in range(1, 1001):
        clock.now = 0.1 * step
        advance.reached(1e-3 * step, 2.0, step)
    assert advance.said() == "t = 1 s, 1000 steps, 2 min left"


def test_progress_says_why_it_stalls():
    clock = Clock()
    advance = Advance(clock)
    clock.now = 6.0
    with stage("compiling", "a time loop"):
        assert advance.said() == "compiling a time loop"
    for step in range(1, 101):
        clock.now = 6.0 + 0.1 * step
        advance.reached(1e-3 * step, 1.0, step)
    for step in range(101, 201):  # a slider that chatters
        clock.now = 6.0 + 0.1 * step
        advance.reached(0.1 + 1e-7 * (step - 100), 1.0, step)
    assert "steps of 1e-07 s: impacts in quick succession" in advance.said()
    clock.now += 30.0
    with stage("computing"):
        assert "no step for 30 s" in advance.said()
    with stage("tables"):
        assert advance.said().endswith("; tables")
    advance.reached(1e-3, 1.0, 1)
    assert advance.said().startswith("run 2, with finer steps; t = 0.001 s")


# Names in Python


def test_the_package_lists_public_names_only():
    import nonsmooth

    listed = {name for name in dir(nonsmooth) if not name.startswith("__")}
    assert listed == set(nonsmooth.__all__)


def test_a_model_says_what_it_consists_of():
    from nonsmooth import Ground, Model, PlanarBody

    model = Model([Ground(), PlanarBody("ball", mass=1.0, inertia=1.0)], name="drop")
    assert repr(model) == "Model('drop': ground (Ground), ball (PlanarBody))"
    assert repr(Model()) == "Model('model': no elements)"


def test_columns_complete_their_names_and_offer_near_ones():
    columns = Columns("coordinate", ("slider.x", "slider.y"), np.zeros((1, 2)), ("m", "m"))
    assert columns._ipython_key_completions_() == ["slider.x", "slider.y"] == list(columns)
    with pytest.raises(KeyError, match=r"no coordinate 'slidr.x'. Did you mean slider.x or slider.y\?"):
        columns["slidr.x"]


def test_ctrl_c_before_a_command_begins_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("nonsmooth.cli.app.main", interrupted)
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "nonsmooth: Interrupted before the first step; nothing was written.\n"


class Destroyed:
    """An object during whose end Ctrl-C comes, which the interpreter then drops."""

    def __del__(self) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_that_the_interpreter_drops_comes_again() -> None:
    with pytest.raises(KeyboardInterrupt), stoppable():
        one = Destroyed()
        del one
        time.sleep(10.0)


def test_words_of_options_are_read():
    found = settings_from(["friction=0", "guide.clearance=2e-5", "solver.eps=1e-10"])
    assert (found.arguments, found.parameters, found.solver) == (
        {"friction": 0},
        {"guide.clearance": 2e-5},
        {"eps": 1e-10},
    )
    assert [unit_behind(text) for text in ("30um", "30", "slow")] == ["um", None, None]
    assert example_values(["mass=0kg:0.3kg:5", "speed=normal:2:0.1", "length=0.1,0.2"]) == {
        "mass": "0.3kg", "speed": "2", "length": "0.1",
    }  # fmt: skip
    assert distribution_of("--sample c", "1e-6:1e-4:log") == (1e-6, 1e-4, "log")
    assert [is_file(word) for word in ("my_mechanism.toml", "slider-rod")] == [True, False]
