"""Every command with mechanisms in space: the starting files, the examples of the documents, one ready problem."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray

from nonsmooth import Trajectory
from nonsmooth.cli import main
from nonsmooth.cli.files import TEMPLATES

FILE, TEXT = "my_mechanism.toml", (TEMPLATES / "spatial.toml").read_text(encoding="utf-8")
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
RUN = ["--stepper", "gauss-qp", "--dt-min", "1e-6", "--dt-max", "1e-3"]
ERROR_CONTROL = ["--rtol", "1e-6", "--atol", "1e-8", "--dt-min", "1e-6", "--dt-max", "1e-3"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test works in a folder of its own, with the starting file in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")  # what is described is not folded
    assert main(["new", FILE, "--space"]) == 0
    return tmp_path


def spoken(capsys, *words):
    """What a command prints, with its blanks reduced to one."""
    capsys.readouterr()
    code = main(list(words))
    out, err = capsys.readouterr()
    assert code == 0, err
    return " ".join(out.split())


def report(capsys, *words):
    return json.loads(spoken(capsys, *words, "--json"))


def test_the_starting_files_run_and_move_alike(folder, capsys):
    """The file's guess, closed, is about the start of the Python file: both fall onto the socket and are tossed on."""
    assert main(["new", "swing.py", "--space"]) == 0
    said = spoken(capsys, "run", FILE, "--t-end", "0.03", "--output", "toml.nc")
    assert "ball.friction = 0.1" in said and "rod.qw 0.9" in said
    assert re.search(
        r"rod\.wx -?[\d.]+ \[rad/s\] rod\.wy", said
    )  # velocities without a coordinate of their name stand below
    spoken(capsys, "run", "swing.py", *RUN, "--t-end", "0.03", "--output", "py.nc")
    first, second = Trajectory.load("toml.nc"), Trajectory.load("py.nc")
    for run in (first, second):
        assert run.status == "finished" and len(run.impacts) > 5
        assert run.certificate.gap_violation < 1e-15  # landing: round-off of lengths of 1e-4 m
    # the guess has round numbers: z of the rod is that of a rod which hangs at an angle of 0.51 rad in place of 0.5
    assert first.q["rod.z"][0] == pytest.approx(second.q["rod.z"][0], abs=2e-3)


def test_the_python_file_is_a_script_and_speaks_of_its_own_name(folder):
    assert main(["new", "swing.py", "--space"]) == 0
    text = (folder / "swing.py").read_text(encoding="utf-8")
    assert "nonsmooth run swing.py" in text and "my_mechanism.py" not in text
    done = subprocess.run([sys.executable, "swing.py"], capture_output=True, text=True, check=True)
    assert "impulse in the ball joint" in done.stdout and done.stderr == ""


def test_every_comment_of_the_python_file_is_right(folder, capsys):
    main(["new", "offered.py", "--space"])
    text = (folder / "offered.py").read_text(encoding="utf-8")
    joined = re.sub(r",\n    # {20,}", ", ", text)
    offers = {line.split('"')[1]: line.strip("# ") for line in joined.splitlines() if "#     model.add(" in line}
    assert list(offers) == ["ball", "hinge", "floor", "motor"]
    before, _, after = text.partition("    # With clearance the ball")
    rest = after[after.index("    # Loads;") :]
    for joints, known in ((("ball", "floor"), "Spherical, PointPlane"), (("hinge",), "Revolute")):
        own = "    contact = Rigid(restitution=0.5, friction=0.1)\n    top = (0.0, 0.0, LENGTH / 2)\n"
        made = before + own + "".join(f"    {offers[name]}\n" for name in joints) + rest
        made = made.replace("from nonsmooth import", f"from nonsmooth import {known},", 1)
        if joints == ("hinge",):
            made = made.replace("velocity=(0.0, 0.2, 0.0)", "velocity=(0.0, 0.0, 0.0)")
        else:  # the end at rest moves across: the ball joint does not let the start keep its velocity
            made = made.replace("return model\n", "return model.build(assemble=True)\n", 1).replace("-> Model", "")
        (folder / "offered.py").write_text(made, encoding="utf-8")
        assert report(capsys, "run", "offered.py", *RUN, "--t-end", "0.005")["failures"] == 0
    made = made.replace(offers["hinge"], f"{offers['hinge']}\n    {offers['motor']}")
    made = made.replace("import Revolute,", "import PrescribedMotion, Revolute,", 1)
    (folder / "offered.py").write_text(made, encoding="utf-8")
    capsys.readouterr()
    assert main(["run", "offered.py", *RUN, "--t-end", "0.005"]) == 2
    assert "moves at" in capsys.readouterr().err  # the motor turns, the rod starts at rest


def test_every_comment_of_the_toml_file_is_right(folder, capsys):
    offered = dict(re.findall(r"#     \[elements\.(\w+)\]\n((?:#     .*\n)+)", TEXT))
    assert list(offered) == ["ball", "hinge", "motor", "floor", "push"]
    tables = {name: f"[elements.{name}]\n{lines.replace('#     ', '')}" for name, lines in offered.items()}
    ball = re.search(r"\n\[elements\.ball\]\n(.+\n)+", TEXT)[0]
    for joints in (("ball", "push"), ("hinge", "motor", "push"), ("hinge", "floor")):
        text = TEXT.replace(ball, "\n" + "\n".join(tables[name] for name in joints))
        (folder / FILE).write_text(text, encoding="utf-8")
        found = report(capsys, "run", FILE, "--t-end", "0.005")
        assert found["failures"] == 0
        if "motor" in joints:  # 0.5 rad and 120 rpm for 5 ms; quaternions have half the angle
            assert found["final"]["rod.qy"] == pytest.approx(np.sin(0.25 + np.pi * 0.01), abs=1e-12)
    law = re.search(r'#     kind = "compliant"\n#     normal = .*\n', TEXT)[0].replace("#     ", "")
    text = re.sub(r"\[contact\]\n(.+\n)+", "[contact]\n" + law, TEXT)
    (folder / FILE).write_text(text.replace('stepper = "gauss-qp"', "rtol = 1e-6\natol = 1e-8"), encoding="utf-8")
    assert report(capsys, "run", FILE, "--t-end", "0.003")["stepper"] == "compliant-dae"


def test_what_describe_says(folder, capsys):
    said = spoken(capsys, "describe", FILE, "--set", "rod.mass=0.5", "--figure", "sketch.svg")
    assert (
        "degrees of freedom 6 = 6 velocities - 0 constraints" in said and "ball SphericalClearance ground, rod" in said
    )
    assert "acceleration (0, 0, -9.81) m/s^2" in said and "quaternion [-]" in said
    assert "rod.mass 0.5 kg" in said and (folder / "sketch.svg").is_file()
    said = spoken(capsys, "describe", "bennett")
    assert "degrees of freedom 1 = 18 velocities - 17 independent of 20 constraints of joints and motors" in said
    assert len(re.findall(r'redundant "joint\d\.\w+" follows from', said)) == 3


@pytest.mark.slow
def test_a_run_is_written_drawn_animated_and_cited(folder, capsys):
    spoken(capsys, "run", FILE, "--t-end", "0.01", "--output", "run.nc", "--figure", "run.png")
    with xarray.open_dataset("run.nc") as data:
        assert data["P_T"].dims == ("time", "contact", "tangent") and data.sizes["tangent"] == 2
        assert data["contact_force"].dims == ("time", "contact", "axis")
    assert {"run.nc", "run.png"} <= {path.name for path in folder.iterdir()}
    cited = spoken(capsys, "cite", "run.nc")
    assert "@article" in cited and "nonsmooth" in cited


def test_compliant_contact_with_friction_from_the_command_line(capsys):
    """The ball meets its socket with a slip: contact and friction both take energy."""
    law = ["--contact", "compliant", "--law", "flores", "--set", "stiffness=1e8", "--set", "restitution=0.5"]
    law += ["--friction-law", "regularised-coulomb", "--set", "friction=0.1", "--set", "slip_speed=1e-3"]
    found = report(capsys, "run", FILE, *law, *ERROR_CONTROL, "--t-end", "0.012")
    assert found["stepper"] == "compliant-dae" and found["energy"]["loss_contact"] > 0
    assert found["energy"]["loss_friction"] > 0


def test_a_stepper_says_which_contact_it_has(capsys):
    assert main(["run", FILE, "--stepper", "gauss-mpcc", "--dt", "1e-3"]) == 2
    assert "GaussMPCC with a constant step is plastic" in capsys.readouterr().err


RIGID_SOFT = ["--restitution", "0.5", "--stiffness", "1e8"]
STUDIES = {
    "compare": ["compare", FILE, "--t-end", "0.012", *RIGID_SOFT, "--target", "0", "--output", "c.nc"],
    "rigid-limit": ["study", "rigid-limit", FILE, "--t-end", "0.012", *RIGID_SOFT, "--stiffness", "1e9"],
    "step-size": [
        "study", "step-size", FILE, "--t-end", "0.01", "--dt", "1e-3", "--dt-max", "1e-3", "--stepper", "moreau-jean",
        "--levels", "4", "--jitter", "2", "--executor", "1",
    ],
    "sweep": [
        "study", "sweep", FILE, "--t-end", "0.012", "--metric", "peak-impulse", "--metric", "final:rod.wx", "--grid",
        "ball.clearance=1e-4:5e-4:2", "--executor", "1",
    ],
    "tolerance": [
        "study", "tolerance", FILE, "--t-end", "0.012", "--metric", "peak-impulse", "--limit", "1", "--clearance",
        "ball.clearance=1e-4:5e-4", "--runs", "60", "--factors", "0.5:1:2", "--executor", "1", "--stepper",
        "moreau-jean", "--dt", "1e-3",
    ],
    "bifurcation": [
        "study", "bifurcation", FILE, "--over", "ball.clearance=1e-4,2e-4", "--of", "rod.qy", "--period", "0.002",
        "--steps", "4", "--transient", "1", "--points", "3", "--executor", "1", "--stepper", "moreau-jean",
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_studies_of_a_file(study, folder, capsys):
    """With their figures; what the numbers are worth is tested with the studies themselves."""
    assert report(capsys, *STUDIES[study], "--figure", "study.png")
    assert (folder / "study.png").read_bytes().startswith(b"\x89PNG")


def test_the_examples_of_the_documents(folder, capsys):
    """One mechanism twice, by less than 80 and 40 lines: the crank drags rod and slider by a loose ball joint."""
    toml, python = EXAMPLES / "spatial_slider_crank.toml", EXAMPLES / "spatial_slider_crank.py"
    assert len(toml.read_text(encoding="utf-8").splitlines()) < 80
    assert len(python.read_text(encoding="utf-8").splitlines()) < 40
    first = report(capsys, "run", str(toml))
    second = report(capsys, "run", str(python), "--t-end", "0.05")
    assert first["failures"] == second["failures"] == 0 and first["certificate"]["joint_violation"] < 1e-12
    # neither states a step: what a reader sees first is a run that has been compared with a finer one
    assert first["verdict"]["kind"] == second["verdict"]["kind"] == "accurate"
    # without clearance the slider is where the rod reaches: x^2 = 0.3^2 - |pin|^2 with the crank turned by 0.1 pi; the
    # ball is off by no more than its clearance of 0.1 mm
    pin = np.array([0.0, 0.1 - 0.08 * np.sin(0.1 * np.pi), 0.12 + 0.08 * np.cos(0.1 * np.pi)])
    assert first["final"]["slider.x"] == pytest.approx(np.sqrt(0.09 - pin @ pin), abs=2e-4)
    # both files state the same numbers up to round-off, which two dozen impacts have amplified
    for name, value in first["final"].items():
        assert second["final"][name] == pytest.approx(value, abs=1e-9), name
    changed = report(capsys, "run", str(python), *RUN, "--t-end", "0.01", "--set", "clearance=2e-4")
    assert changed["failures"] == 0


def test_the_example_is_a_script():
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "spatial_slider_crank.py")], capture_output=True, text=True, check=True
    )
    assert "force on the rod at the end" in done.stdout and done.stderr == ""
    assert re.search(r"verdict +accurate", done.stdout)
